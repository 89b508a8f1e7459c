"""The report of a run: its findings in their order, and what the reader needs for all of them.

The terminal, the page, tables, methods and JSON of an evaluation are renderings of it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from equipoise.aggregate import model_title
from equipoise.datasets import CATALOGUE
from equipoise.evaluation import MACRO
from equipoise.export import references
from equipoise.findings import Finding, Report
from equipoise.findings.bibliography import cite
from equipoise.findings.json import JsonValue
from equipoise.metrics import hard_labels_rule
from equipoise.notices import as_notices
from equipoise.numbers import count
from equipoise.run.findings.panels import RunView, listing
from equipoise.run.findings.predictions import prediction_findings
from equipoise.run.findings.scores import score_findings
from equipoise.run.findings.truth import truth_findings
from equipoise.run.findings.verdict import verdict_findings
from equipoise.run.folder import Run
from equipoise.run.gold import gold_findings
from equipoise.run.record import MetricRecord, RunRecord, RunSettings
from equipoise.wording import capital

LISTED = 12  # classes and the like that are shown
RESAMPLED = {
    "items": "items",
    "votes": "the votes of each item",
    "panel": "the annotators, the same draw for all items",
    "posterior": "the possible truths of the aggregation model",
    "items x votes": "items and the votes of each",
    "items x panel": "items and annotators",
    "items x posterior": "items and possible truths of the aggregation model",
}
BRACKETS = {
    "items": "items",
    "votes": "votes",
    "panel": "annotators",
    "posterior": "possible truths",
    "items x votes": "items and votes",
    "items x panel": "items and annotators",
    "items x posterior": "items and possible truths",
}
READ = {
    "positive": "positive class",
    "at_least": "positive from this class upwards",
    "kind": "kind of labels",
    "exchangeable": "annotators are exchangeable",
    "columns": "columns of the input",
    "repeats": "repeated votes",
    "on_missing": "missing answers",
    "ties": "ties of hard labels",
}


def evaluation_report(run: Run) -> Report:
    """Everything that is said of a run."""
    view = RunView(run)
    record = run.record
    sentences, keys = _methods(record)
    return Report(
        title=record.title,
        scope=view.scope,
        banner=record.simulated or "",
        models=record.models,
        task=view.front_task,
        known=_known(view),
        findings=(
            *verdict_findings(view),
            *score_findings(view),
            *prediction_findings(view),
            *gold_findings(record),
            *truth_findings(view),
        ),
        terms=_terms(view),
        settings=_settings(record),
        notices=as_notices(record.notices),
        methods=sentences,
        references=keys,
    )


def terminal_report(run: Run) -> Report:
    """What a terminal shows: every leaderboard, then the verdict on the task in front."""
    view, report = RunView(run), evaluation_report(run)
    boards, verdicts = [], []
    for finding in report.findings:
        where = ": ".join(filter(None, [finding.task, finding.metric]))
        if finding.key == "leaderboard" and finding.tables:
            metric = next(
                m for m in run.record.metrics if view.metric_names[m.name] == finding.metric
            )
            way = " (lower is better)" if metric.better == "lower" else ""
            table = finding.tables[0]
            table = replace(table, columns=[one for one in table.columns if one.brief])
            boards.append(
                Finding(
                    key="leaderboard",
                    title=f"{where}{way}",
                    sentence="",
                    tables=(table,),
                    metric=finding.metric,
                )
            )
        elif (
            finding.key == "verdict"
            and finding.sentence
            and finding.task == view.record.tasks[-1]
        ):
            said = f"{finding.metric}: {finding.sentence}"
            changes = finding.more[len(run.record.labels) :]
            verdicts.append(" ".join([said, *changes]))
    if boards:
        last = boards[-1].tables[0]
        legend = " ".join(_legend(view))
        boards[-1] = replace(boards[-1], tables=(replace(last, legend=legend),))
    answer = Finding(
        key="verdict", title="Verdict", sentence=verdicts[0], more=tuple(verdicts[1:])
    )
    return replace(report, findings=(*boards, answer, *gold_findings(run.record)))


def _legend(view: RunView) -> list[str]:
    """What the marks of the leaderboards mean."""
    how = view.record.settings
    whom = f" for {how.population}" if how.population else ""
    said = [
        f"Brackets: {view.level} interval of each score by itself{whom}; after a rank, the "
        "ranks that are possible, for all models at once."
    ]
    if len(view.models) > 1:
        what = BRACKETS.get(how.resample, how.resample)
        said.append(f"Best in: share of {count(how.replicates)} resamples of {what}.")
    if how.by_annotator:
        said.append(
            "Each annotator's own votes give a score of every model; their mean is shown, the "
            "same for hard and soft labels."
        )
    if any(math.isinf(row.value) for row in view.record.rows):
        said.append(
            "∞ The score is infinite, the worst there is: a log score is when a model gives "
            "probability 0 to what the labels say of an item."
        )
    return said


def _known(view: RunView) -> tuple[str, ...]:
    """A few numbers for the line under the title."""
    record = view.record
    readers = {row.annotator for row in record.annotators}
    if readers:
        people = count(len(readers), "annotator")
    else:
        people = "truth from a model" if view.any_model else "anonymous votes"
        people = "adjudicated gold" if view.all_gold else people
    tasks = len(record.tasks)
    how = record.settings
    return (
        count(len(record.models), "model"),
        count(tasks - 1, "task") if tasks > 1 else "",
        count(max((row.items for row in record.truth), default=0), "item"),
        people,
        f"{count(how.replicates, 'resample')} ({how.resample})",
    )


# ---- the method box ------------------------------------------------------------------------


def _terms(view: RunView) -> tuple[tuple[str, str], ...]:
    """What was resampled and why, how answers were read, and what metrics are."""
    record, how = view.record, view.record.settings
    grouped = how.group is not None and how.items_redrawn is True
    group = f" Items of the same {how.group} stay together." if grouped else ""
    why = how.resample_reason or how.resample
    return (
        ("Resampling", f"{why}{group}"),
        *((("Scope", view.scope),) if view.scope else ()),
        ("Intervals", _intervals(view)),
        ("Labels", f"Soft labels: {how.soft}. Hard labels: {how.hard}.{_hard(view)}"),
        *(((_QUESTION, _question(record)),) if record.question.told else ()),
        *(_truth_terms(record)),
        *((capital(metric.title), metric.definition) for metric in record.metrics),
        *((("Influence", _untraced(record)),) if not record.influential else ()),
        ("To cite", _citation(record)),
    )


_QUESTION = "How answers were read"


def _intervals(view: RunView) -> str:
    how = view.record.settings
    if not how.population:
        return (
            f"{count(how.replicates, 'resample')}, the same for all models, metrics and "
            f"labels; {view.level} intervals ({how.interval})."
        )
    if how.by_annotator:
        return (
            "Each annotator's votes alone give a value of every model, whose mean over "
            f"annotators is shown; {view.level} intervals by Obuchowski and Rockette with "
            f"Hillis' degrees of freedom, for {how.population}. Hard and soft are the same."
        )
    return (
        f"{view.level} two-way t intervals, for {how.population}: the variance of items (or of "
        "groups of items) plus that of annotators, the noise of votes counted once. All models "
        "are paired. Intervals are for one score or one pair by itself; which models are "
        "separated, and which ranks are possible, is said of all pairs at once (max-t). "
        f"Shares of resamples come from {count(how.replicates)} resamples and are no "
        "probabilities of the truth."
    )


def _hard(view: RunView) -> str:
    """Say what metrics of whole distributions take as the hard label of several classes."""
    whole = any(metric.labels == "distribution" for metric in view.record.metrics)
    former = any(row.ties == "negative" for row in view.record.truth)
    if not view.any_several or not whole or not former:
        return ""
    most = "mass" if view.record.truth_model else "votes"
    return f" Metrics of whole distributions take the class with most {most}, shared by ties."


def written(value: JsonValue) -> str:
    """Write a setting in words; the end of a long list is left out.

    Examples
    --------
    >>> written(["0", "1"]), written({"item": "image"}), written(False), written(None)
    ('0, 1', 'item: image', 'no', 'none')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return written([f"{name}: {written(part)}" for name, part in value.items()])
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = [written(part) for part in value]
        more = [f"… {len(parts) - LISTED} more"] if len(parts) > LISTED else []
        return ", ".join([*parts[:LISTED], *more])
    return str(value)


def _question(record: RunRecord) -> str:
    """What counts as positive, and every setting that was told."""
    asked, said = record.question, []
    if asked.at_least is not None:
        said.append(f"Positive is every class from {asked.at_least} upwards.")
    elif asked.positive is not None:
        names = [asked.positive] if isinstance(asked.positive, str) else list(asked.positive)
        said.append(f"Positive is {listing(names, LISTED)}.")
    told = [
        f"{READ.get(name, name.replace('_', ' '))}: {_short(value)}"
        for name, value in asked.items()
        if value not in (None, "", [], {})
    ]
    return " ".join([*said, f"{capital('; '.join(told))}." if told else ""]).strip()


def _short(value: JsonValue) -> str:
    """A setting; lists may come as text, with commas between the parts."""
    if isinstance(value, str) and value.count(",") > LISTED:
        return written([part.strip() for part in value.split(",")])
    return written(value)


def _truth_terms(record: RunRecord) -> list[tuple[str, str]]:
    """The model that made the truth, where it is not the votes themselves."""
    made = []
    for model in record.truth_model:
        facts: dict[str, JsonValue] = {
            "model": model.model,
            "reason": model.reason,
            "method": model.method,
            "parameters": dict(model.parameters or {}),
            "draws": model.draws,
            "seed": model.seed,
            "tasks": [f"{one.task}: {one.method}" for one in model.tasks]
            if len(model.tasks) > 1
            else [],
            "groups": dict(model.groups or {}),
        }
        told = [
            f"{name}: {written(value)}"
            for name, value in facts.items()
            if value not in (None, "", [], {})
        ]
        made.append(("How the truth was made", f"{capital('; '.join(told))}."))
    return made


def _untraced(record: RunRecord) -> str:
    see = "; see the hardest items" if record.hardest else ""
    return f"No items were traced: influence is known for metrics of ranks{see}."


def _citation(record: RunRecord) -> str:
    how = record.settings
    return (
        f"“{record.title}”. Evaluated with equipoise {record.equipoise}, resampling "
        f"{how.resample}, {count(how.replicates, 'resample')}, seed {how.seed}, plan "
        f"{how.plan}."
    )


def _settings(record: RunRecord) -> tuple[tuple[str, str], ...]:
    """Versions, seed and hashes of the inputs."""
    how = record.settings
    return (
        *((name, str(version)) for name, version in record.versions.items()),
        ("Seed", str(how.seed)),
        ("Resamples", count(how.replicates)),
        ("Plan", how.plan),
        *(
            (f"{one.role}: {one.name}", f"{count(one.bytes)} bytes, SHA-256 {one.sha256}")
            for one in record.inputs
        ),
    )


# ---- the methods of a paper ----------------------------------------------------------------


def _methods(record: RunRecord) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say in the words of a methods section how the run was made, and name the sources.

    Only what was run is said.
    """
    tasks = [one for one in record.tasks if one != MACRO]
    items = max((row.items for row in record.truth), default=0)
    votes = sum(row.votes for row in record.truth)
    readers = {row.annotator for row in record.annotators}
    how = record.settings
    names = [metric.name for metric in record.metrics]
    first = (
        f"We {_models(record.models)} on {count(items)} items"
        + (f" and {len(tasks)} tasks" if len(tasks) > 1 else "")
        + (f" with {count(votes)} votes" if votes else "")
        + (f" of {len(readers)} annotators" if readers else "")
        + f" by {metric_list(record.metrics)}."
    )
    labels, model = _labels(record)
    paired = ""
    if len(record.models) > 1 and how.resample != "influence":
        paired = (
            "Differences between models are paired: all models are scored on the same "
            "resamples."
        )
    agreement = any(row.coefficients for row in record.agreement)
    data, keys = _data(record)
    sentences = (
        first,
        data,
        labels,
        interval_words(how),
        paired,
        f"Computed with equipoise {record.equipoise} (seed {how.seed}).",
    )
    sources = (
        *references(names),
        *keys,
        *(references([model]) if model else ()),
        *_interval_sources(how),
        *(references(["agreement"]) if agreement else ()),
    )
    return tuple(filter(None, sentences)), tuple(dict.fromkeys(sources))


def metric_list(metrics: Sequence[MetricRecord]) -> str:
    """Titles of metrics, each with its sources."""
    return ", ".join(f"{one.title}{cite(*references([one.name]))}" for one in metrics)


def _models(names: Sequence[str]) -> str:
    """What was done with the models, the first eight by name."""
    if len(names) == 1:
        return f"scored one model ({names[0]})"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"compared {len(names)} models ({', '.join(names[:8])}{more})"


def _data(record: RunRecord) -> tuple[str, tuple[str, ...]]:
    """A sentence on a public data set of the catalogue, and its sources."""
    known = record.dataset
    keys = (
        CATALOGUE[known.name].references
        if known is not None and known.name in CATALOGUE
        else ()
    )
    if known is None or not keys:
        return "", ()
    title = known.title or known.name
    return f"The data are the public set {known.name} ({title}){cite(*keys)}.", keys


def _labels(record: RunRecord) -> tuple[str, str]:
    """How labels were made, and the model that made them."""
    if record.truth_model:
        made = record.truth_model[0]
        sources = cite(*references([made.model]))
        how = made.method or model_title(made.model)
        return f"The truth was inferred from the annotations by {how}{sources}.", made.model
    asked = record.settings
    classes = max((len(row.classes) or 1 for row in record.truth), default=1)
    kinds = [metric.labels for metric in record.metrics]
    ties = record.truth[0].ties if record.truth else "negative"
    hard = asked.hard if classes == 1 else hard_labels_rule(kinds, classes=classes, ties=ties)
    return f"Soft labels: {asked.soft}; hard labels: {hard}.", ""


def _interval_sources(how: RunSettings) -> list[str]:
    if how.by_annotator:
        return ["obuchowski1995", "hillis2007"]
    if how.population:
        return references(["two-way"])
    if how.resample == "influence":
        return references(["influence"])
    return references(how.resample.split(" x ")) or ["efron1993"]


def interval_words(how: RunSettings) -> str:
    """Where intervals come from, and whom they speak for."""
    level, sources = f"{100 * how.level:g} % intervals", cite(*_interval_sources(how))
    what = RESAMPLED.get(how.resample, how.resample)
    whole = f" ({how.group}, as wholes)" if how.group else ""
    if not how.population:
        return (
            f"{level} ({how.interval}) come from {count(how.replicates)} bootstrap resamples "
            f"of {what}{whole}{sources}."
        )
    if how.by_annotator:
        return (
            f"Each annotator's votes alone gave a value of every model; {level} are by "
            f"Obuchowski and Rockette with Hillis' degrees of freedom, for {how.population}"
            f"{whole}{cite('obuchowski1995', 'hillis2007')}."
        )
    return (
        f"{level} are two-way t, for {how.population}{whole}{sources}; models are called "
        "separated by step-down max-t over all pairs. Shares of resamples come from "
        f"{count(how.replicates)} resamples of {what}."
    )

r"""Truth report: what models make of the annotations of a task, and how far to trust that.

A chosen model is fitted, and others beside it: where they differ, one looks before trusting.
Several tasks have a row each, and everything about every one under its name.

On the items of a task that have gold and votes, every model is fitted once more to the votes
alone, as if there were no gold, and its plausibilities are scored like the probabilities of a
model: accuracy (the most plausible class; ties share), log score and Brier score. Majority vote
is always among them. Intervals are over items, or groups of items, against this gold; an
accuracy p of variance V has Wilson's, for :math:`\min(p (1 - p) / V, n)` trials of n items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from equipoise.inference.estimate import effective_wilson
from equipoise.read.codec import encode
from equipoise.study import Difference, Evaluation, evaluate
from equipoise.study.analyses.annotators import annotators_finding, skilled_rows
from equipoise.study.analyses.truth_items import (
    certainty_findings,
    certainty_meaning,
    consensus_finding,
)
from equipoise.study.analyses.words import ENDS, ends_of
from equipoise.truth.annotation_checks import cautions, remarks
from equipoise.truth.choosing import (
    FOLDS,
    Model,
    by_name,
    decisions,
    differ,
    fitted,
    verdict,
)
from equipoise.types import (
    SURE,
    Annotations,
    Cell,
    Column,
    Finding,
    Notice,
    Notices,
    Plausibilities,
    Predictions,
    Report,
    Table,
    as_notices,
    change,
    collect_votes,
    columns,
    count,
    estimate,
    exact_percent,
    gold_items,
    immutable,
    interval,
    notice,
    number,
    percent,
    short_repr,
    spanned,
)

KEY, TITLE = "gold", "Which model finds the known truth?"
MAJORITY = "majority_vote"
METRICS = ("accuracy", "log_score", "brier_score")
KINDS = ("binary", "nominal", "ordinal")
NOTE = (
    "The models were fitted once more without the gold, to the votes alone, and their "
    "plausibilities scored on the items that have gold. Where gold was adjudicated among these "
    "annotators it leans towards them. A log score is infinite where a model had ruled the "
    "gold class out."
)


def _gold_finding(task: str, done: Evaluation) -> Finding:
    """Aggregation models scored against gold; majority vote is the last of them."""
    items, rows = len(done.questions[0].items), _gold_rows(done)
    ends = ("accuracy", "accuracy_low", "accuracy_high")
    gain = spanned("gain", "accuracy against majority vote", "change")
    several = len(rows) > 1
    table = Table(
        name="aggregates_gold",
        caption="Aggregation models against gold",
        columns=(
            Column("model", "model"),
            *map(spanned, METRICS),
            *([gain] if several else []),
        ),
        rows=rows,
        legend=f"Brackets: {exact_percent(done.level)} interval for "
        f"{done.population.whom}; log score and Brier score: lower is better.",
        open=True,
    )
    start = f"{f'{task}: of' if task else 'Of'} {count(items, 'item')} with gold"
    right = {row["model"]: estimate(*(row[end] for end in ends)) for row in rows}
    return Finding(
        key=KEY,
        title=TITLE,
        sentence=f"{start}, {_gold_words(right, done)}.",
        tables=(table,),
        note=NOTE,
    )


def _gold_rows(done: Evaluation) -> list[dict[str, Any]]:
    """One row per aggregation model, the most accurate first: scores and gains with ends."""
    items = len(done.questions[0].items)
    rows: dict[str, dict[str, Any]] = {}
    for row in done.table():
        if row.labels != "soft":
            continue
        low, high = row.low, row.high
        if row.metric == "accuracy":
            low, high = effective_wilson(row.value, row.standard_error**2, items, done.level)
        of_model = rows.setdefault(row.model, {"model": row.model, "items": items, "gain": 0.0})
        of_model |= ends_of(row.metric, row.value, (low, high))
    for gap in _against_majority(done):
        rows[gap.a] |= ends_of("gain", gap.value, (gap.low, gap.high))
    return sorted(rows.values(), key=lambda row: -row["accuracy"])


def _against_majority(done: Evaluation) -> list[Difference]:
    """Accuracy of every other model less that of majority vote, paired."""
    return [gap for gap in done.differences("accuracy") if gap.b == MAJORITY]


def _gold_words(right: Mapping[str, str], done: Evaluation) -> str:
    """Who is right most often, and whether majority vote is surely behind."""
    best = next(iter(right))
    if len(right) == 1:
        return f"majority_vote is right in {right[best]}"
    gains = [gain for gain in _against_majority(done) if gain.value > 0]
    if not gains:
        return f"no model is right more often than majority_vote, {right[best]}"
    gain = max(gains, key=lambda gain: gain.value)
    sure = "surely more" if gain.separated else "not surely more"
    return (
        f"{gain.a} is right most often, {right[gain.a]}; that is {change(gain.value)} "
        f"{interval(gain.low, gain.high, change)} against majority_vote, {sure}"
    )


def aggregates_against_gold(
    annotations: Annotations, models: Mapping[str, Model], task: str
) -> Finding | Notice | None:
    """Score aggregation models on the items with gold; None where the task has none.

    Parameters
    ----------
    models
        Models by name, set up as they were fitted.

    Returns
    -------
    Finding | Notice | None
        A notice where there is gold, but nothing to score against it.

    Examples
    --------
    >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("0", "1"),
    ...     item=np.array([0, 0, 0, 1, 1]), label=np.array([1, 1, 1, 0, 1]),
    ...     is_gold=np.array([True, False, False, True, False]))
    >>> aggregates_against_gold(votes, {}, "").tables[0].rows[0]["accuracy"]
    0.5
    """
    here, gold = annotations.in_task(task), annotations.is_gold
    if gold is None or not (here & gold).any() or annotations.kind not in KINDS:
        return None
    gold_rows, voted = here & gold, annotations.rows(here & ~gold)
    both = np.intersect1d(annotations.item[gold_rows], voted.item)
    if not len(both):
        text = "Items with gold have no votes, so aggregation models are not scored against it."
        return notice("gold_without_votes", text)
    others = {name: fit for name, fit in models.items() if name != MAJORITY}
    all_models = others | {MAJORITY: models.get(MAJORITY) or by_name([MAJORITY])[MAJORITY]}
    fits = fitted(replace(voted, is_gold=None), all_models, task)
    gold_annotations = annotations.rows(gold_rows & np.isin(annotations.item, both))
    truth = replace(gold_annotations, annotators=None, annotator=None, notices=())
    names = {annotations.items[i] for i in both}
    predictions = []
    for name, fit in fits.items():
        on_gold = fit.subset(np.flatnonzero([item in names for item in fit.items]))
        predictions.append(
            Predictions(name, on_gold.items, on_gold.mean, classes=fit.classes, task=fit.task)
        )
    one_task = replace(truth, tasks=(task,), task=None)
    done = evaluate(predictions, one_task, metrics=METRICS, resampling="influence")
    return _gold_finding(task, done)


# ---- fitted models ------------------------------------------------------------------------

VOTES = "dirichlet"  # votes with an empirical prior, which a model of annotators must beat
SKILLS = {
    "accuracy": "probability of naming the true class, by the model; guessing evenly among "
    "{classes} classes has {chance}",
    "ability": "0 is guessing, below 0 the classes are turned around",
}


@immutable(eq=False, kw_only=True)
class FittedModels:
    """Models of one task.

    Attributes
    ----------
    name, reason
        The chosen model, and a sentence on why.
    task
        Which question.
    models
        Plausibilities by the name of their model, the chosen one among them.
    scores
        Mean log-likelihood of held-out votes; empty where they were not scored.
    compared
        Whether a comparison of all suitable models was asked for.
    gold
        The models against gold, or a notice why not; None where the task has no gold.
    """

    name: str
    reason: str
    task: str
    models: Mapping[str, Plausibilities]
    scores: Mapping[str, float]
    compared: bool = False
    gold: Finding | Notice | None = None

    __repr__ = short_repr

    @property
    def chosen(self) -> Plausibilities:
        """What the chosen model made of the annotations."""
        return self.models[self.name]

    @property
    def decided_otherwise(self) -> dict[str, int]:
        """How many items each model decides otherwise than the chosen one."""
        return {name: int(differ(fit, self.chosen).sum()) for name, fit in self.models.items()}


# ---- models beside each other --------------------------------------------------------------


def _comparison_rows(fits: FittedModels) -> list[dict[str, Cell]]:
    """A row per model."""
    rows: list[dict[str, Cell]] = []
    otherwise = fits.decided_otherwise
    for name, fit in fits.models.items():
        meaning = certainty_meaning(fit)
        rows.append(
            {
                "model": name,
                "held_out_log_likelihood": fits.scores.get(name),
                "against_votes": _against_votes(fits.scores, name),
                "other_top_class": otherwise[name],
                "mean_certainty": float(fit.certainty.mean()) if meaning.uncertain else None,
                "certainty_is": meaning.words,
            }
        )
    return rows


def _against_votes(scores: Mapping[str, float], name: str) -> float | None:
    """How much better a model foretells held-out votes than votes with an empirical prior."""
    if name not in scores or VOTES not in scores or not np.isfinite(scores[VOTES]):
        return None
    return scores[name] - scores[VOTES]


def _decision_rows(fits: FittedModels) -> list[dict[str, Cell]]:
    """A row per pair of models: how many items they decide differently."""
    return [
        {
            "models": f"{pair.first}, {pair.second}",
            "items": pair.items,
            "share": pair.share,
            "share_of_rarer_class": pair.rarer,
        }
        for pair in decisions(fits.models)
    ]


def models_finding(fits: FittedModels) -> Finding:
    """What other models make of the same annotations."""
    rows, other = _comparison_rows(fits), fits.decided_otherwise
    most = max(other, key=lambda name: other[name])
    text = "All models decide every item alike."
    if other[most]:
        superlative = ", the most of all models" if len(other) > 2 else ""
        text = (
            f"Of {count(len(fits.chosen.items), 'item')}, {most} decides {count(other[most])} "
            f"otherwise than {fits.name}{superlative}."
        )
    legend = (
        "Other top class: items whose most plausible class is another than by "
        f"{fits.name}. Certainties of different models answer different questions and are not "
        "to be compared; models that know no uncertainty have none."
    )
    if fits.scores:
        legend = (
            "Held-out log-likelihood: mean log probability of votes that the model had not "
            f"seen, in nats per vote, {FOLDS} folds; higher is better, −∞: a vote it had ruled "
            f"out. Against votes: its difference to that of {VOTES}. {legend}"
        )
    scored = (
        Column("held_out_log_likelihood", "held-out log-likelihood", "number"),
        Column("against_votes", "against votes", "change"),
    )
    models = Table(
        name="models",
        caption="Models of the same annotations",
        columns=(
            Column("model", "model"),
            *(scored if fits.scores else ()),
            *columns(other_top_class="count", mean_certainty="number"),
            Column("certainty_is", "certainty is the"),
        ),
        rows=[{**row, "mean_certainty": row["mean_certainty"] or "none"} for row in rows],
        legend=legend,
        open=True,
    )
    apart = Table(
        name="decisions",
        caption="Items decided differently",
        columns=(
            *columns(models="text", items="count", share="percent"),
            Column("share_of_rarer_class", "of the rarer class", "percent"),
        ),
        rows=[row for row in _decision_rows(fits) if row["items"]],
    )
    title = "What do other models say?"
    return Finding(key="models", title=title, sentence=text, tables=(models, apart))


# ---- everything about the truth ------------------------------------------------------------


def truth_notices(annotations: Annotations, fits: FittedModels) -> Notices:
    """What the data, the fit and the comparison say that the reader should know."""
    notices = [
        *as_notices(annotations.notices),
        *remarks(annotations, fits.chosen),
        *cautions(annotations, fits.task, fit=fits.models.get("dawid_skene")),
        *as_notices(fits.chosen.notices),
        *verdict(fits.models),
        *([fits.gold] if isinstance(fits.gold, Notice) else []),
    ]
    if fits.compared and not fits.scores:
        kinds = {"interval": "of ratings", "ranking": "of rankings"}
        text = (
            "The likelihood {what} is not held out: it needs single labels of known "
            "annotators. Compare decisions instead."
        )
        what = kinds.get(annotations.kind, "of anonymous votes")
        notices.append(notice("not_held_out", text, what=what))
    if float("-inf") in fits.scores.values():
        text = (
            "A held-out log-likelihood of −∞: a held-out vote got probability 0, because the "
            "model had ruled its class out."
        )
        notices.append(Notice("ruled_out", text))
    return tuple(notices)


def task_report(annotations: Annotations, fits: FittedModels, *, title: str) -> Report:
    """Everything about the truth of one task, under a heading."""
    chosen = fits.chosen
    sure, ambiguous = certainty_findings(annotations, chosen)
    meaning = certainty_meaning(chosen)
    how = f"The model is {chosen.method}; the certainty is the {meaning.words}."
    scored = [fits.gold] if isinstance(fits.gold, Finding) else []
    findings = [
        replace(sure, more=(how,)),
        *scored,
        ambiguous,
        _annotators(annotations, fits),
        consensus_finding(annotations, chosen),
    ]
    if len(fits.models) > 1:
        findings.append(models_finding(fits))
    what = "reading" if annotations.kind == "ranking" else "vote"
    votes = int(annotations.in_task(fits.task).sum())
    if annotations.kind != "interval":
        votes = int(collect_votes(annotations, fits.task).sizes.sum())
    people = annotations.annotators
    return Report(
        title=title,
        findings=tuple(finding.under() for finding in findings),
        scope=f"Model: {fits.reason}",
        known=(
            fits.task,
            count(len(chosen.items), "item"),
            f"{count(len(chosen.classes))} classes",
            count(votes, what),
            "anonymous votes" if people is None else count(len(people), "annotator"),
            chosen.method,
        ),
        settings=(("Method", chosen.method),),
        notices=truth_notices(annotations, fits),
        methods=(
            f"The truth of {count(len(chosen.items), 'item')} was inferred by {chosen.method}",
        ),
    )


def _annotators(annotations: Annotations, fits: FittedModels) -> Finding:
    skills, classes = fits.chosen.skills, fits.chosen.classes
    rows = skilled_rows(annotations, fits.task, skills)
    if not rows:
        text = "The votes are anonymous, so nothing can be said of single annotators."
        title = "How do annotators differ?"
        return Finding(key="annotators", title=title, sentence=text, brief=False)
    meaning = "" if skills is None else skills.meaning
    legend = []
    if annotations.kind == "interval":
        legend.append(
            "Above the item mean: how far the annotator's ratings lie above those of all on "
            "the same items, on average."
        )
    else:
        legend.append("Agreement: share of others' votes on the same items that say the same.")
    if len(classes) == 2 and annotations.kind != "interval":
        legend.append(f"Positive share: share of the votes for {classes[1]}.")
    if meaning in SKILLS:
        chance = number(1 / len(classes), 2)
        legend.append(f"Skill: {SKILLS[meaning].format(classes=len(classes), chance=chance)}.")
    return annotators_finding(rows, skill=meaning, legend=" ".join(legend))


def truth_json(annotations: Annotations, fits: FittedModels) -> dict[str, object]:
    """Everything about every item, annotator and model, for people who asked for JSON."""
    chosen = fits.chosen
    sure, meaning = chosen.certainty, certainty_meaning(chosen)
    gold = np.flatnonzero(gold_items(annotations, fits.task))
    return {
        "kind": annotations.kind,
        "classes": list(chosen.classes),
        "gold_items": [annotations.items[i] for i in gold],
        "settings": encode(chosen.parameters),
        "certainty_is": meaning.words,
        "mean_certainty": float(sure.mean()) if meaning.uncertain else None,
        "items_below_0.99": int((sure < SURE).sum()),
        "items": _items(fits),
        "skill": None if chosen.skills is None else chosen.skills.meaning,
        "annotators": skilled_rows(annotations, fits.task, chosen.skills),
        "comparison": _comparison_rows(fits),
        "against_gold": fits.gold.tables[0].rows if isinstance(fits.gold, Finding) else [],
        "unanimity": {
            name: asdict(fit.unanimity)
            for name, fit in fits.models.items()
            if fit.unanimity is not None
        },
        "decisions": _decision_rows(fits),
    }


def _items(fits: FittedModels) -> list[dict[str, object]]:
    """A row per item: the classes that have any mass of their own, and all others together."""
    chosen = fits.chosen
    sure, entropy = chosen.certainty, chosen.entropy
    mass, rest = chosen.mass.mean(axis=0), chosen.rest.mean(axis=0)
    rows: list[dict[str, object]] = []
    for i, item in enumerate(chosen.items):
        entries = range(int(chosen.start[i]), int(chosen.start[i + 1]))
        plausible = {
            chosen.classes[chosen.label[k]]: float(mass[k]) for k in entries if mass[k] > 0
        }
        rows.append(
            {
                "item": item,
                "certainty": float(sure[i]),
                "entropy": float(entropy[i]),
                "plausibility": plausible,
                "others": max(0.0, float(rest[i])),
            }
        )
    return rows


# ---- several tasks -------------------------------------------------------------------------


def _task_rows(all_fits: Sequence[FittedModels]) -> list[dict[str, Cell]]:
    """One row per task: items, certainty, where models differ, accuracy against gold."""
    rows: list[dict[str, Cell]] = []
    for fits in all_fits:
        chosen, meaning = fits.chosen, certainty_meaning(fits.chosen)
        sure = chosen.certainty
        row: dict[str, Cell] = {
            "task": fits.task,
            "items": len(chosen.items),
            "model": fits.name,
            "mean_certainty": float(sure.mean()) if meaning.uncertain else None,
            "below": int((sure < SURE).sum()),
            "share_below": float((sure < SURE).mean()),
            "decided_otherwise": max(fits.decided_otherwise.values()),
        }
        if isinstance(fits.gold, Finding):
            gold = fits.gold.tables[0].rows
            gold_row = next(row for row in gold if row["model"] == fits.name)
            row |= {f"accuracy{end}": gold_row[f"accuracy{end}"] for end in ENDS}
            row |= {"gold_items": gold_row["items"]}
        rows.append(row)
    return rows


def tasks_report(
    annotations: Annotations, all_fits: Sequence[FittedModels], *, title: str
) -> Report:
    """Everything about the truth of some tasks; of one alone it is that of `task_report`."""
    reports = [task_report(annotations, fits, title=title) for fits in all_fits]
    if len(reports) == 1:
        return reports[0]
    first = reports[0]
    findings = [
        finding.under(task=fits.task)
        for fits, report in zip(all_fits, reports, strict=True)
        for finding in report.findings
    ]
    notices = [
        notice if notice in annotations.notices else notice.of(fits.task)
        for fits, report in zip(all_fits, reports, strict=True)
        for notice in report.notices
    ]
    return replace(
        first,
        findings=(_overview(all_fits), *findings),
        known=(count(len(all_fits), "task"), *first.known[2:3], *first.known[4:5]),
        notices=tuple(dict.fromkeys(notices)),
        methods=tuple(
            dict.fromkeys(sentence for report in reports for sentence in report.methods)
        ),
        task=all_fits[0].task,
    )


def _overview(all_fits: Sequence[FittedModels]) -> Finding:
    """Which task is least certain, and all tasks in a table."""
    rows = _task_rows(all_fits)
    worst = max(all_fits, key=lambda fits: float((fits.chosen.certainty < SURE).mean()))
    below = worst.chosen.certainty < SURE
    text = (
        f"Least certain is {worst.task}: {count(int(below.sum()))} of "
        f"{count(len(below), 'item')} ({percent(float(below.mean()))}) have a certainty below "
        f"{number(SURE, 2)}."
    )
    if not below.any():
        text = f"In every task all items have a certainty of at least {number(SURE, 2)}."
    scored = any("accuracy" in row for row in rows)
    gold = (
        Column("gold_items", "items with gold", "count"),
        spanned("accuracy", "accuracy against gold"),
    )
    table = Table(
        name="tasks",
        caption="Certainty by task",
        columns=(
            *columns(task="text", items="count", model="text", mean_certainty="number"),
            Column("below", f"items below {SURE:g}", "count"),
            Column("share_below", "share", "percent"),
            Column("decided_otherwise", "decided otherwise by another model", "count"),
            *(gold if scored else ()),
        ),
        rows=[{**row, "mean_certainty": row["mean_certainty"] or "none"} for row in rows],
        open=True,
    )
    return Finding(
        key="tasks", title="How certain is each task?", sentence=text, tables=(table,)
    )

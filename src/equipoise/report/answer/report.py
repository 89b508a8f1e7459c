"""Report: what is said of a study, from the answer on top down to the evidence.

The card, the standings by task, the distance from the best, models against each annotator,
agreement and the disputed items stand open; everything else is evidence: how majority and soft
labels compare, all pairs, and the analyses that were asked for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from equipoise.inference import Reason
from equipoise.inference.ranks import average_ranks, higher_is_better
from equipoise.report.answer.card import Sample, decided_words, make_card
from equipoise.report.answer.deciders import decider_findings
from equipoise.report.answer.models import (
    Answer,
    RankedModels,
    confusions,
    distance_finding,
    metrics_finding,
    standings_finding,
)
from equipoise.report.answer.ratings import agreement_on_outputs, disputed_outputs
from equipoise.report.answer.readers import (
    agreement_finding,
    foot_rows,
    task_votes,
    worklist_finding,
)
from equipoise.study import MACRO, Evaluation
from equipoise.study.analyses.catalogue import ANALYSES, OF_JUDGES
from equipoise.study.analyses.methods import (
    Comparison,
    DataSummary,
    computed,
    interval_sources,
    intervals_sentence,
    labels_sentence,
    study_report,
)
from equipoise.study.analyses.readers import KEY as READERS
from equipoise.study.analyses.readers import readers_finding
from equipoise.study.analyses.stated_cuts import cuts_finding, groups_at_cuts
from equipoise.study.analyses.truth_items import certainty_findings
from equipoise.study.analyses.words import score_title
from equipoise.study.arguments import default_metrics
from equipoise.study.clusters import cluster_notices
from equipoise.study.competitors import ReaderTable, reader_tables
from equipoise.study.questions.alone import reversals
from equipoise.study.questions.truths import is_asked
from equipoise.study.study import Settings, Study, silent
from equipoise.study.thresholds import threshold_table
from equipoise.truth import MODELS, model_title
from equipoise.types import (
    OF_JUDGED,
    Annotations,
    Card,
    Cell,
    Column,
    Finding,
    Floats,
    InputError,
    Ints,
    Line,
    Lines,
    Names,
    Notice,
    Nouns,
    Pairs,
    Predictions,
    Progress,
    Report,
    Row,
    Table,
    capital,
    choice,
    cite,
    columns,
    count,
    counted,
    immutable,
    joined,
    left_out,
    notice,
    unknown_name,
    worded,
)

Stage = Callable[[str], Progress]  # names what is being done, and takes its progress
NAMED = 3
SUBGROUPS, TRUTHS = "subgroups", "truths"
PARTS = 100  # steps of progress per analysis
PAIR_GROUNDS = ("flips",)  # analyses that a close look at two models adds


@immutable(kw_only=True)
class AnswerContent:
    """What a report should hold beside the answer.

    Attributes
    ----------
    analyses
        Names of analyses of the catalogue, in its order.
    pair
        Two models to look at closely.
    nouns
        What items, annotators and tasks are called.
    command
        Whether advice is in the words of the command line.
    """

    analyses: Sequence[str] = ()
    pair: tuple[str, str] | None = None
    nouns: Nouns = field(default_factory=Nouns)
    command: bool = False


def analyse_study(
    study: Study, *, only: Sequence[str] = (), pair: tuple[str, str] | None = None
) -> Report:
    """The answer to a study with all of its grounds.

    Parameters
    ----------
    study
        Models and votes; how far the work is, it tells.
    only
        Names of analyses; by default every one that the data allow.
    pair
        Two models to look at closely.

    Examples
    --------
    >>> from equipoise.datasets.demo import reading_study
    >>> readings, scores = reading_study()
    >>> study = Study.of(
    ...     scores, readings, metrics=["auroc"], settings=Settings(replicates=20)
    ... )
    >>> report = analyse_study(study, only=["vote_cutoffs"])
    >>> [one.key for one in report.findings if one.evidence]
    ['labels', 'differences', 'vote_cutoffs']
    """
    for name in only:
        choice("analyses", name, tuple(ANALYSES))
    require_models(pair, study.predictions)
    wanted = AnswerContent(analyses=tuple(only) or tuple(ANALYSES), pair=pair)
    steps = len(wanted.analyses) + 2
    place = iter(range(steps))
    tell, quiet = study.tell, study.telling(silent)
    return answer_report(quiet, wanted, lambda _: _within(tell, next(place, 0), steps))


def require_models(pair: tuple[str, str] | None, predictions: Sequence[Predictions]) -> None:
    """Refuse a pair of which a model is unknown, or twice the same."""
    models = list(dict.fromkeys(prediction.model for prediction in predictions))
    for name in pair or ():
        if name not in models:
            raise unknown_name("pair, model", f"{name!r}", name, models)
    if pair is not None and pair[0] == pair[1]:
        raise InputError("pair", f"{pair[0]!r} twice", "two models", "name another one")


def _within(progress: Progress, place: int, steps: int) -> Progress:
    """Progress of one step as a part of all."""

    def tell(done: int, whole: int) -> None:
        progress(place * PARTS + PARTS * done // max(whole, 1), steps * PARTS)

    return tell


def answer_report(study: Study, wanted: AnswerContent, stage: Stage | None = None) -> Report:
    """Everything that is said of a study."""
    tell = stage or (lambda _: lambda *__: None)
    answer = Answer(study.evaluation, study.settings.labels)
    nouns = OF_JUDGED.get(study.judged, wanted.nouns)
    base, data = study_report(study), DataSummary.of(study.evaluation, study.voted)
    base = replace(
        base, notices=(*base.notices, *cluster_notices(study), *_reversed(study, answer.front))
    )
    tell("agreement")(0, 1)
    agreement, disputed = _opinions(study, answer, nouns)
    cuts, readers = _cuts_and_readers(study, answer.front, nouns, tell)
    stated = cuts is not None and bool(cuts.tables)
    front = [
        *_pair(study, wanted),
        cuts if stated else None,
        standings_finding(answer, nouns, foot_rows(agreement, answer.tasks)),
        metrics_finding(answer, asked=_asked_metrics(study)),
        distance_finding(answer),
        *_strengths(study, wanted),
        *_judges(study, wanted),
        *decider_findings(study, nouns),
        None if stated else cuts,
        readers,
        *_truths(study, tell),
        *_subgroups(study, wanted, tell, answer.front.models[0]),
        agreement and replace(agreement, tables=(*agreement.tables, *_people(study))),
        disputed,
    ]
    if study.settings.annotator_group is not None:
        wanted = replace(wanted, analyses=tuple(dict.fromkeys((*wanted.analyses, "alone"))))
    evidence = [
        *_thresholds(study.evaluation),
        *_labels(answer),
        *confusions(answer),
        *_all_pairs(answer),
        *_certainty(study),
        *_analyses(study, wanted, tell, {part.key for part in front if part is not None}),
    ]
    findings = _in_order(front, evidence)
    if study.by_standard or study.rated:
        findings = tuple(map(_by_standard, findings))
    sample, command = _sample_of(study.evaluation, study.voted), wanted.command
    card = make_card(answer, sample, nouns, base.notices, command=command)
    return replace(
        base,
        card=card,
        findings=findings,
        known=_known(study, data, nouns),
        terms=tuple(_terms(study)),
        scope=study.evaluation.population.scope,
        methods=_methods(study, data),
        references=(
            *base.references,
            *interval_sources(study.evaluation),
            *_truth_sources(study),
        ),
        task=study.evaluation.tasks[-1],
    ).with_families()


def _reversed(study: Study, front: RankedModels) -> Iterator[Notice]:
    """Groups of annotators, or annotators, who order the two leaders the other way."""
    behind = [m for m in range(1, front.known) if front.gap[m] > 0]
    if not behind or not isinstance(study.truth, Annotations):
        return
    first, second = front.models[0], front.models[behind[0]]
    separated = len(front.best_group) == 1
    try:
        others = reversals(study, first, second, separated=separated)
    except InputError:
        return
    if others:
        text = (
            "By the votes of {who}{alone} the order of the two leaders is the other way round: "
            "{second} is ahead of {first}, by {most:number} by those of {widest}."
        )
        widest = max(others, key=lambda reversal: reversal.value)
        yield notice(
            "order_reversed",
            text,
            who=joined([reversal.who for reversal in others], most=NAMED),
            alone=" alone" if len(others) == 1 else ", each alone,",
            first=first,
            second=second,
            most=widest.value,
            widest=widest.who,
        )


def _in_order(
    front: Iterable[Finding | None], evidence: Iterable[Finding]
) -> tuple[Finding, ...]:
    """What stands open, where it was possible, then what is folded away."""
    opened = (finding for finding in front if finding is not None)
    return (*opened, *(replace(finding, evidence=True) for finding in evidence))


def _by_standard(finding: Finding) -> Finding:
    """Tables without the kind of labels, which are the same by a reference standard."""

    def soft(rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if row.get("labels") != "hard"]

    def reduced(table: Table) -> Table:
        columns = [column for column in table.columns if column.key != "labels"]
        brief = None if table.brief is None else soft(table.brief)
        return replace(table, columns=columns, rows=soft(table.rows), brief=brief)

    return replace(finding, tables=tuple(map(reduced, finding.tables)))


def _scored(study: Study) -> dict[str, Ints]:
    """Places of the scored items of every task among the items of the annotations."""
    place = {name: code for code, name in enumerate(study.voted.items)}
    return {
        question.task: np.array(
            [place[name] for name in question.items if name in place], dtype=np.int64
        )
        for question in study.evaluation.questions
    }


def _known(study: Study, data: DataSummary, nouns: Nouns) -> Names:
    tasks = [task for task in study.evaluation.tasks if task != MACRO]
    people = data.annotators
    if study.opinions is not study.voted and study.opinions.annotator is not None:
        people = len(np.unique(study.opinions.annotator))
    return (
        count(len({m.model for m in study.everybody.predictions}), nouns.model),
        counted(len(tasks), nouns.task) if len(tasks) > 1 else "",
        counted(data.items, nouns.item),
        counted(people, nouns.annotator) if people else "",
    )


def _sample_of(evaluation: Evaluation, annotations: Annotations | None) -> Sample:
    """How much an evaluation rests on."""
    sizes = [
        question.votes.sizes[~question.votes.gold]
        for question in evaluation.questions
        if question.votes is not None
    ]
    votes, all_sizes = (0, 0.0, 0), np.concatenate([np.zeros(0, dtype=np.int64), *sizes])
    if len(all_sizes):
        votes = int(all_sizes.min()), float(np.median(all_sizes)), int(all_sizes.max())
    if annotations is None:
        items = {name for question in evaluation.questions for name in question.items}
        return Sample(items=len(items), votes_per_item=votes)
    data = DataSummary.of(evaluation, annotations)
    return Sample(
        items=data.items,
        groups=data.scored_groups,
        annotators=data.annotators,
        votes_per_item=votes,
    )


def evaluation_card(evaluation: Evaluation) -> Card:
    """The card of an evaluation that Python made."""
    sample = _sample_of(evaluation, evaluation.annotations)
    return make_card(Answer(evaluation, evaluation.labels), sample, Nouns(), evaluation.notices)


def evaluation_report(evaluation: Evaluation) -> Report:
    """Everything that is said of an evaluation that Python made, with the quick analyses."""
    votes = evaluation.annotations
    if votes is not None:
        whom = evaluation.population
        settings = Settings(
            items="random" if whom.items else "fixed",
            annotators="fixed" if whom.reason is Reason.FIXED else "random",
            level=evaluation.level,
            margin=evaluation.margin,
            labels=evaluation.labels,
            inference=evaluation.inference,
            on_missing="drop",  # items that are not scored were refused, or are wanted so
            circular="checked",
        )
        study = Study(
            predictions=evaluation.predictions,
            truth=votes,
            votes=votes,
            metrics=evaluation.metrics,
            settings=settings,
            resampling=evaluation.plan,
            used=evaluation.thresholds,
        ).with_evaluation(evaluation)
        quick = tuple(name for name, entry in ANALYSES.items() if entry.quick)
        return answer_report(study, AnswerContent(analyses=quick))
    answer = Answer(evaluation, evaluation.labels)
    front = (standings_finding(answer, Nouns()), distance_finding(answer))
    return Report(
        title="",
        models=evaluation.models,
        card=evaluation_card(evaluation),
        findings=_in_order(front, [*_labels(answer), *_all_pairs(answer)]),
        notices=evaluation.notices,
        scope=evaluation.population.scope,
    )


# ---- findings ------------------------------------------------------------------------------


def _asked_metrics(study: Study) -> bool:
    """Whether somebody named the metrics."""
    usual = default_metrics(study.truth, study.predictions)
    return tuple(metric.name for metric in study.metrics) != tuple(usual)


def _opinions(
    study: Study, answer: Answer, nouns: Nouns
) -> tuple[Finding | None, Finding | None]:
    """How far annotators agree, and what splits them."""
    if study.judged == "results":
        return None, None
    if study.opinions.scale is not None:
        return agreement_on_outputs(study, nouns), disputed_outputs(study, nouns)
    votes, opinions = task_votes(study, _scored(study)), study.opinions
    return (
        agreement_finding(opinions, votes, nouns, study.settings.annotators),
        worklist_finding(study.evaluation, opinions, votes, nouns, answer.front.behind),
    )


def _strengths(study: Study, wanted: AnswerContent) -> Iterator[Finding]:
    """How strong systems are, where people prefer one of two outputs."""
    if study.judged == "preferences" and "strengths" in wanted.analyses:
        yield replace(ANALYSES["strengths"].attempt(study), nav="Strengths")


def _judges(study: Study, wanted: AnswerContent) -> Iterator[Finding]:
    """Where judges of ratings agree with people, how they order systems, and what they save."""
    if not study.rated or study.judged:
        return
    if wanted.analyses:
        finding = ANALYSES["contested"].attempt(study)
        yield replace(finding, nav="Contested", evidence=False)
    for name, heading in zip(OF_JUDGES, ("Systems", "Saved"), strict=True):
        if name in wanted.analyses and ANALYSES[name].is_about(study):
            yield replace(ANALYSES[name].attempt(study), nav=heading)


def _cuts_and_readers(
    study: Study, front: RankedModels, nouns: Nouns, tell: Stage
) -> tuple[Finding | None, Finding | None]:
    """Models at their cuts and beside each annotator, or why the data do not allow it."""
    if study.judged:
        return None, None
    tell(READERS)(0, 1)
    tables: Sequence[ReaderTable] = ()
    missing = None
    try:
        tables = reader_tables(study)
    except InputError as error:
        if not isinstance(study.truth, Annotations) or study.opinions.annotators:
            missing = left_out(READERS, f"Models against each {nouns.annotator}", error)
    cuts = (
        None
        if study.rated
        else cuts_finding(study, front.models[0], nouns, tables, front.best_group)
    )
    if tables:
        missing = readers_finding(study, nouns=nouns, hollow=front.behind, tables=tables)
    return cuts, missing


def _people(study: Study) -> Iterator[Table]:
    """What is known of the annotators, in the words of their table."""
    known, votes = study.annotator_attributes, study.voted
    if known is None or votes.annotators is None or votes.annotator is None:
        return
    voted = np.unique(votes.annotator[~votes.gold])
    names = tuple(votes.annotators[code] for code in voted)
    codes = known.aligned(names, on_missing="drop")
    rows: list[dict[str, Cell]] = [
        {
            "annotator": name,
            **{
                column: levels[code] if code >= 0 else ""
                for column, levels, code in zip(known.columns, known.levels, mine, strict=True)
            },
        }
        for name, mine in zip(names, codes.T, strict=True)
    ]
    heads = (Column(column, column) for column in ("annotator", *known.columns))
    yield Table(name="people", caption="Who they are", columns=(*heads,), rows=rows, brief=())


def _truths(study: Study, tell: Stage) -> Iterator[Finding]:
    """Both truths side by side, in front where there are two, or votes were added."""
    if isinstance(study.truth, Annotations) and is_asked(study.truth):
        yield replace(ANALYSES[TRUTHS].attempt(study.telling(tell(TRUTHS))), nav="Truths")


def _subgroups(
    study: Study, wanted: AnswerContent, tell: Stage, leader: str
) -> Iterator[Finding]:
    """Whether the verdict depends on the kind of item, in front where attributes are given."""
    if study.attributes is not None and SUBGROUPS in wanted.analyses:
        step = tell(SUBGROUPS)
        finding = ANALYSES[SUBGROUPS].attempt(study.telling(step))
        tables = (*finding.tables, *groups_at_cuts(study, leader))
        yield replace(finding, nav="Subgroups", tables=tables)
        step(1, 1)


def _pair(study: Study, wanted: AnswerContent) -> Iterator[Finding]:
    """The close look at two models."""
    if wanted.pair is None:
        return
    two = study.of_models(wanted.pair)
    among = len(study.evaluation.models)
    report = Comparison(*wanted.pair, study.settings.labels, two.evaluation, among).report()
    yield replace(report, nav="Pair")


def _thresholds(evaluation: Evaluation) -> Iterator[Finding]:
    """From which score on models say yes, where scores became decisions."""
    if not evaluation.thresholds:
        return
    notes = [notice for notice in evaluation.notices if notice.code == "thresholds"]
    yield Finding(
        key="thresholds",
        title="Thresholds",
        sentence=" ".join(worded(notes)) or "Scores became decisions by these thresholds.",
        tables=(threshold_table(evaluation.thresholds),),
    )


def _labels(answer: Answer) -> Iterator[Finding]:
    """Whether majority labels give another answer than soft ones."""
    front = answer.front
    if front.labels != "soft" or front.known < 2 or answer.rated:
        return
    hard = answer.standing(front.task, front.metric, "hard")
    if hard.known < 2 or _says_nothing(front, hard):
        return
    what = score_title(answer.metric, "hard", front.task).removeprefix("hard ")
    words = f"{hard.models[0]} scores best" if not hard.decides else decided_words(answer, hard)
    by_hard, by_soft = (
        _ranks(standing.models[: standing.known], standing.values[: standing.known], answer)
        for standing in (hard, front)
    )
    ranks = {
        name: (by_hard[name], by_soft[name])
        for name in front.models
        if name in by_hard and name in by_soft
    }
    yield Finding(
        key="labels",
        title="Majority labels and soft labels",
        sentence=f"With majority labels, {words}.",
        charts=(_rank_lines(f"Ranks by {what}", ranks),),
        tables=(
            Table(
                name="label_ranks",
                caption=f"Ranks by {what}",
                columns=columns(model="model", majority_labels="rank", soft_labels="rank"),
                rows=[
                    {"model": name, "majority_labels": first, "soft_labels": last}
                    for name, (first, last) in ranks.items()
                ],
                brief=(),
            ),
        ),
        note="Soft labels are the share of votes, majority labels the class with most of them.",
        claims=(*front.claims, *hard.claims),
    )


def _rank_lines(caption: str, ranks: Mapping[str, tuple[float, float]]) -> Lines:
    """Ranks of models under majority labels and under soft ones, joined by lines."""
    return Lines(
        name="labels",
        caption=caption,
        x="",
        y="rank, 1 is best",
        lines=[Line(name, list(enumerate(both)), model=name) for name, both in ranks.items()],
        ticks=((0, "majority"), (1, "soft")),
        downward=True,
    )


def _says_nothing(front: RankedModels, hard: RankedModels) -> bool:
    """Whether both kinds of labels are the same, or all models tie under both."""
    same = front.models == hard.models and np.array_equal(front.values, hard.values)
    return bool(same or (np.nanmax(front.gap) == 0 and np.nanmax(hard.gap) == 0))


def _ranks(models: Sequence[str], values: Floats, answer: Answer) -> dict[str, float]:
    good = higher_is_better(np.asarray(values, dtype=np.float64), answer.metric.better)
    return dict(zip(models, average_ranks(good).tolist(), strict=True))


def _all_pairs(answer: Answer) -> Iterator[Finding]:
    """Every paired difference in every task, metric and kind of labels."""
    done, front = answer.evaluation, answer.front
    if front.known < 2:
        return
    rows = [
        gap._asdict()
        for task in done.tasks
        for metric in done.metrics
        for labels in ("hard", "soft")
        for gap in done.differences(metric.name, labels=labels, task=task)
    ]
    here = [
        row
        for row in rows
        if (row["task"], row["metric"], row["labels"])
        == (front.task, answer.metric.name, answer.labels)
    ]
    apart = sum(bool(row["separated"]) for row in here)
    pairs = front.known * (front.known - 1) // 2
    sentence = (
        f"{count(apart)} of {count(pairs, 'pair')} can be told apart, all pairs together."
    )
    if not front.population.decides:
        people = front.population.people
        sentence = f"No pair can be told apart: {people} are too few for a verdict."
    elif pairs == 1:
        sentence = f"The two {'can' if apart else 'cannot'} be told apart."
    titles = {metric.name: metric.title for metric in done.metrics}
    judged = [Column("judgement", "by the margin")] if done.margin is not None else []
    yield Finding(
        key="differences",
        title="Every pair of models",
        sentence=sentence,
        tables=(
            Table(
                name="differences",
                caption="The first model minus the second, paired; intervals and p of the pair "
                "alone, adjusted p and separation among all pairs",
                columns=(
                    Column("task", "task"),
                    Column("metric", "metric", words=titles),
                    Column("labels", "labels"),
                    Column("a", "first", "model"),
                    Column("b", "second", "model"),
                    Column("value", "difference", "change", ("low", "high")),
                    Column("p", "p", "p"),
                    Column("p_adjusted", "adjusted p", "p"),
                    Column("separated", "told apart"),
                    *judged,
                ),
                rows=rows,
                brief=here,
            ),
        ),
        claims=front.claims,
    )


def _certainty(study: Study) -> Iterator[Finding]:
    """How certain a model of the truth is of its items."""
    several = len(study.evaluation.questions) > 1
    for question in study.evaluation.questions:
        if question.plausible is None:
            continue
        try:
            parts = certainty_findings(study.voted, question.plausible)
        except InputError:
            continue
        for part in parts:
            yield replace(part, key=f"truth_{part.key}", task=question.task if several else "")


def _analyses(
    study: Study, wanted: AnswerContent, tell: Stage, shown: set[str]
) -> Iterator[Finding]:
    """The analyses that were asked for, each possible or with the reason why not."""
    everything = len(wanted.analyses) >= len(ANALYSES) - 1
    for name, analysis in ANALYSES.items():
        if (analysis.quick or everything) and not analysis.is_about(study):
            continue
        if name in wanted.analyses and name not in shown:
            step = tell(name)
            finding = analysis.attempt(study.telling(step))
            step(1, 1)
            yield finding
    if wanted.pair is None:
        return
    two = study.of_models(wanted.pair)
    for name in PAIR_GROUNDS:
        finding = ANALYSES[name].attempt(two.telling(tell(name)))
        title = f"{wanted.pair[0]} against {wanted.pair[1]}: {finding.title}"
        yield replace(finding, key=f"pair_{name}", title=title)


# ---- how it was done -----------------------------------------------------------------------


def _terms(study: Study) -> Pairs:
    done, plan = study.evaluation, study.evaluation.plan
    votes = _labels_sentence(study)
    return (
        ("Intervals", intervals_sentence(done, sources=False)),
        ("Scope", done.population.scope),
        ("Resampling", plan.reason),
        ("Labels", votes),
        *((capital(metric.title), metric.definition) for metric in done.metrics),
    )


def _labels_sentence(study: Study, *, sources: bool = False) -> str:
    """How labels are made of votes, or of a model of the truth."""
    fitted = [
        question.plausible
        for question in study.evaluation.questions
        if question.plausible is not None
    ]
    if study.rated:
        return f"Every item counts by the mean of its {study.judged or 'ratings'}."
    if study.by_standard:
        return "Labels: the reference standard of every item."
    if not fitted:
        return labels_sentence(study.annotations, study.evaluation.metrics, study.settings)
    keys = _truth_sources(study) if sources else ()
    return (
        f"The truth was inferred from the annotations by {model_title(fitted[0].model)}"
        f"{cite(*keys)}: {fitted[0].method}. Soft labels are its mean, hard labels the class "
        "with most of that."
    )


def _truth_sources(study: Study) -> Names:
    """Sources of the models that made the truth."""
    fitted = [
        question.plausible
        for question in study.evaluation.questions
        if question.plausible is not None
    ]
    names = dict.fromkeys(model.model for model in fitted)
    return tuple(key for name in names if name in MODELS for key in MODELS[name].references)


def _methods(study: Study, data: DataSummary) -> Names:
    done = study.evaluation
    what = f"compared {len(done.models)} models"
    if len(done.models) == 1:
        what = f"scored one model ({done.models[0]})"
    return tuple(
        filter(
            None,
            (
                data.sentence(what, done.tasks, done.metrics),
                _labels_sentence(study, sources=True),
                data.groups_sentence(),
                intervals_sentence(done),
                computed(),
            ),
        )
    )

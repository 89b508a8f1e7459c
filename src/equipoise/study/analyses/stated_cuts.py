"""Models at their stated cuts: sensitivity, specificity and predictive values, beside readers.

A row per task and model that decides, by itself or by a cut that somebody stated; a score is
never cut at .5 because nobody said anything. Values are taken against the truth of the study:
where every item has gold they are counts, 31 of 34, with the exact interval of
`equipoise.inference.proportions`; against votes an item counts on both sides by its shares, and
the interval is wide enough for other items and annotators like these.

Beside them stands the range of the readers by the same truth, each of them left out of it
unless it is gold; and what is claimed against readers: by balanced accuracy, or by the metric
that the user named, in the family of all tasks and models of the table. With a margin a model
is superior, non-inferior, or neither is shown, for one model as for many. At a stated
prevalence predictive values follow from sensitivity and specificity by Bayes' rule.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> from equipoise.study import Study
>>> from equipoise.study.thresholds import Thresholds
>>> readings, scores = reading_study()
>>> cut = Settings(thresholds=Thresholds(0.5))
>>> point, = points_at_cuts(Study.of(scores[:1], readings, settings=cut))
>>> point.cuts, point.rates["sensitivity"].trials
((0.5,), -1)
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from equipoise.inference.proportions import ratio_interval
from equipoise.study.alignment import Aligned
from equipoise.study.competitors import GOLD, ReaderTable, models_with_cut
from equipoise.study.study import Settings, Study
from equipoise.study.thresholds import THRESHOLD, with_thresholds
from equipoise.types import (
    Annotations,
    Cell,
    Claim,
    Column,
    Decision,
    Finding,
    InputError,
    Nouns,
    Table,
    chosen,
    estimate,
    exact_percent,
    hint,
    joined,
    percent,
    spanned,
)

__all__ = ["KEY", "RATES", "Point", "Settings", "cuts_finding", "points_at_cuts"]

KEY = "stated_cuts"
TITLE, NAV = "Models at their stated cuts", "At the cut"
RATES = ("sensitivity", "specificity", "ppv", "npv")
FEW = 12  # rows that stand in a terminal; of more those of one model do
MARKS = {Decision.SUPERIOR: "+", Decision.NON_INFERIOR: "=", Decision.INFERIOR: "−"}
NO_CUT = hint(
    "Nobody stated from which score on a model says yes; {} shows sensitivity, specificity and "
    "predictive values with their counts.",
    THRESHOLD,
)
CLAIMED = ("as where models are compared with them", "one family of all tasks and models")
METHODS = (
    "Sensitivity, specificity and predictive values were taken at cuts stated in advance, with "
    "Clopper-Pearson intervals on the effective number of units [@clopper1934; @korn1998]."
)


class Rate(NamedTuple):
    """A share with its interval, and by gold how many of how many; else -1."""

    value: float
    low: float
    high: float
    hits: int = -1
    trials: int = -1


class Point(NamedTuple):
    """One model at its cut in one task.

    Attributes
    ----------
    cuts
        From which scores on it says yes; empty where it decides by itself.
    rates
        By the names in `RATES`.
    readers
        Lowest and highest sensitivity and specificity among readers; empty without readers.
    claim
        Against readers; None where nothing can be claimed.
    """

    task: str
    model: str
    cuts: tuple[float, ...]
    rates: Mapping[str, Rate]
    readers: Mapping[str, tuple[float, float]]
    claim: Claim | None


def points_at_cuts(
    study: Study,
    tables: Sequence[ReaderTable] = (),
    possible: Sequence[str] = (),
) -> tuple[Point, ...]:
    """Every model with a cut in every task; none where nobody stated a cut.

    Parameters
    ----------
    study
        Models and the truth of yes/no questions.
    tables
        Models next to readers.
    possible
        Models that could be the first.
    """
    view = _at_cuts(study)
    if view is None:
        return ()
    by_gold = all(_counts(aligned) for aligned in view.aligned)
    table = next((table for table in tables if (table.truth == GOLD) == by_gold), None)
    claims = {} if table is None else table.task_claims(list(view.aligned[0].scores), possible)
    return tuple(
        point for aligned in view.aligned for point in _points(view, aligned, claims, table)
    )


def _at_cuts(study: Study) -> Study | None:
    """The models that have a cut, at it; None where nobody stated one."""
    study = study.everybody
    if any(len(aligned.question.classes) > 1 for aligned in study.aligned):
        return None
    view = with_thresholds(study.with_metrics(RATES), study.thresholds)
    models = [model for model in study.aligned[0].scores if model in models_with_cut(view)]
    if not models:
        return None
    view = view.of_models(models)
    if isinstance(view.truth, Annotations):
        view = replace(view, resampling="influence")
    return view


def groups_at_cuts(study: Study, model: str) -> Iterator[Table]:
    """One model at its cuts in every group of items; of many a matrix, and every row folded."""
    view, known = _at_cuts(study), study.attributes
    if view is None or known is None or model not in view.aligned[0].scores:
        return
    view, named = view.of_models([model]), list[Point]()
    for column, levels in zip(known.columns, known.levels, strict=True):
        for level in levels:
            try:
                part = view.of_items(known.where(column, level))
                points = [p for task in part.aligned for p in _points(part, task, {}, None)]
            except InputError:  # no item of the group is scored, or all have one answer
                continue
            named += [point._replace(model=f"{column} = {level}") for point in points]
    if not named:
        return
    rows = [{"group": point.model, **_row(point), "model": model} for point in named]
    table = _table(rows, study.settings, Nouns())
    caption = f"{model} at its cuts in every group"
    heads = [column for column in table.columns if column.key not in ("model", "cut")]
    whole = replace(
        table,
        name=f"{KEY}_groups",
        caption=caption,
        columns=(Column("group", "group"), *heads),
        legend="",
    )
    if len(rows) <= FEW:
        yield whole
        return
    yield replace(whole, open=False, brief=())
    sides = f"{caption}, sensitivity/specificity in per cent"
    matrix = _matrix(named, RATES[:2], f"{KEY}_groups_matrix", sides)
    yield replace(matrix, columns=(Column("model", "group"), *matrix.columns[1:]))


def _counts(aligned: Aligned) -> bool:
    """Whether every item has gold, so that values are counts."""
    question = aligned.question
    return question.votes is not None and bool(question.votes.gold.all())


def _points(
    study: Study,
    aligned: Aligned,
    claims: Mapping[tuple[str, str], Claim],
    table: ReaderTable | None,
) -> Iterator[Point]:
    """The models in one task."""
    task, done, labels = aligned.question.task, study.evaluation, study.settings.labels
    models = list(aligned.scores)
    ranges = {} if table is None else table.ranges(task)
    cuts: dict[str, list[float]] = {model: [] for model in models}
    for row in study.used:
        if row.task == task and row.model in cuts:
            cuts[row.model].append(row.threshold)
    for model in models:
        counted = _gold_counts(aligned, model) if _counts(aligned) else {}
        rates = {}
        for name in RATES:
            value = done.estimate(model, name, labels=labels, task=task)
            ends = value.interval(study.settings.level)
            rates[name] = Rate(value.value, *ends, *counted.get(name, (-1, -1)))
        share = prevalence_of(study.settings, task)
        rates |= {} if share is None else _at_prevalence(rates, share)
        claim = claims.get((task, model))
        yield Point(task, model, tuple(sorted(cuts[model])), rates, ranges, claim)


def _gold_counts(aligned: Aligned, model: str) -> dict[str, tuple[int, int]]:
    """How many of how many, by the names in `RATES`."""
    truth = aligned.question.shares[0] > 0.5
    called = aligned.decided.get(model, aligned.scores[model]) > 0.5
    hits, cleared = int((truth & called).sum()), int((~truth & ~called).sum())
    positive, yes = int(truth.sum()), int(called.sum())
    wholes = (positive, len(truth) - positive, yes, len(truth) - yes)
    return dict(zip(RATES, zip((hits, cleared) * 2, wholes, strict=True), strict=True))


def prevalence_of(how: Settings, task: str) -> float | None:
    """The stated share of positives in one task."""
    if isinstance(how.prevalence, Mapping):
        return how.prevalence.get(task)
    return how.prevalence


def _at_prevalence(rates: Mapping[str, Rate], share: float) -> dict[str, Rate]:
    """Predictive values by Bayes' rule, from the likelihood ratios of both answers."""
    sens, spec = (rates[name] for name in RATES[:2])
    missed, alarms = (Rate(1 - x.value, 1 - x.high, 1 - x.low) for x in (sens, spec))
    odds = share / (1 - share)
    yes, yes_low, yes_high = (
        _of_odds(odds * ratio) for ratio in ratio_interval(sens[:3], alarms[:3])
    )
    no, no_low, no_high = (
        _of_odds(odds * ratio) for ratio in ratio_interval(missed[:3], spec[:3])
    )
    return {"ppv": Rate(yes, yes_low, yes_high), "npv": Rate(1 - no, 1 - no_high, 1 - no_low)}


def _of_odds(odds: float) -> float:
    return 1.0 if math.isinf(odds) else odds / (1 + odds)


# ---- the finding -----------------------------------------------------------------------------


def cuts_finding(
    study: Study,
    leader: str,
    nouns: Nouns | None = None,
    tables: Sequence[ReaderTable] = (),
    possible: Sequence[str] = (),
) -> Finding | None:
    """A row per task and model; None where nobody stated a cut.

    Parameters
    ----------
    leader
        The model that the sentence is about, if it has a cut.
    """
    points, nouns = points_at_cuts(study, tables, possible), nouns or Nouns()
    if not points:
        yes_no = all(len(aligned.question.classes) == 1 for aligned in study.aligned)
        by_gold = yes_no and all(_counts(aligned) for aligned in study.aligned)
        return Finding(key=KEY, title=TITLE, sentence=NO_CUT, nav=NAV) if by_gold else None
    first = next((p.model for p in points if p.model == leader), points[0].model)
    mine = [point for point in points if point.model == first]
    return Finding(
        key=KEY,
        title=TITLE,
        sentence=_sentence(mine, nouns, study.evaluation.population.whose()),
        tables=tuple(_tables(points, study.settings, first, nouns)),
        methods=METHODS,
        claims=tuple(point.claim for point in points if point.claim),
        nav=NAV,
    )


def _row(point: Point) -> dict[str, Cell]:
    row: dict[str, Cell] = {
        "task": point.task,
        "model": point.model,
        "cut": joined([chosen(cut) for cut in point.cuts], most=3) or "decides",
    }
    for name, rate in point.rates.items():
        ends = {f"{name}_low": rate.low, f"{name}_high": rate.high}
        row |= {name: rate.value, **ends}
        if rate.trials >= 0:
            row[f"{name}_count"] = f"{rate.hits}/{rate.trials}"
        if name in point.readers:
            row[f"{name}_readers"] = _range(point.readers[name])
    if point.claim is not None:
        row["against_readers"] = point.claim.decision.value
    return row


def _range(ends: tuple[float, float]) -> str:
    low, high = (percent(end).removesuffix("%") for end in ends)
    return low if low == high else f"{low}–{high}"


def _tables(
    points: Sequence[Point], how: Settings, leader: str, nouns: Nouns
) -> Iterator[Table]:
    """Every row; of many those of the leader, a matrix, and every row folded away."""
    rows = [_row(point) for point in points]
    whole = _table(rows, how, nouns)
    if len(rows) <= FEW:
        yield whole
        return
    yield replace(whole, open=False, brief=(), legend="")
    mine = [row for row in rows if row["model"] == leader]
    yield replace(
        whole,
        name=f"{KEY}_leader",
        caption=f"{TITLE}, {leader}",
        columns=[column for column in whole.columns if column.key != "model"],
        rows=mine,
        brief=mine[:FEW],
        file=False,
    )
    if len(mine) < len(rows):
        claimed = {point.claim.decision for point in points if point.claim}
        words = [f"{mark} {word.value}" for word, mark in MARKS.items() if word in claimed]
        against = f"; {', '.join(words)} to {nouns.annotators}" if words else ""
        caption = f"Sensitivity/specificity of every model, in per cent{against}"
        yield _matrix(points, RATES[:2], f"{KEY}_matrix", caption)
        at = f", at {_prevalences(how)}" if how.prevalence is not None else ""
        predicted = f"PPV/NPV of every model, in per cent{at}"
        yield _matrix(points, RATES[2:], f"{KEY}_predictive", predicted)


def _matrix(points: Sequence[Point], rates: Sequence[str], name: str, caption: str) -> Table:
    """Models by tasks: two rates, and beside the first two what is claimed against readers."""
    lines: dict[str, dict[str, Cell]] = {}
    for point in points:
        sides = "/".join(_hundredths(point.rates[rate].value) for rate in rates)
        marked = point.claim if rates == RATES[:2] else None
        mark = MARKS.get(marked.decision, "") if marked else ""
        line = lines.setdefault(point.model, {"model": point.model})
        line[point.task] = f"{sides} {mark}".strip()
    tasks = dict.fromkeys(point.task for point in points)
    return Table(
        name=name,
        caption=caption,
        columns=(Column("model", "model", "model"), *(Column(task, task) for task in tasks)),
        rows=list(lines.values()),
        open=True,
    )


def _table(rows: list[dict[str, Cell]], how: Settings, nouns: Nouns) -> Table:
    by_gold = f"{RATES[0]}_count" in rows[0]
    beside = f"{RATES[0]}_readers" in rows[0]
    sides = [
        column
        for name in RATES[:2]
        for column in (
            spanned(name, f"{name[:4]}. %", "hundredths"),
            *[Column(f"{name}_count", "count", under=name)] * by_gold,
            *[Column(f"{name}_readers", "readers", under=name)] * beside,
        )
    ]
    predictive = [
        column
        for name in RATES[2:]
        for column in (
            spanned(name, f"{name.upper()} %", "hundredths"),
            *[Column(f"{name}_count", "count", under=name)] * (f"{name}_count" in rows[0]),
        )
    ]
    people = nouns.annotators
    asked = how.margin is not None
    margin = f", margin {chosen(how.margin)}" if how.margin is not None else ""
    claims = [Column("against_readers", f"vs {people}", brief=asked)]
    several = len({row["model"] for row in rows}) > 1
    used = f" PPV and NPV at {_prevalences(how)}." if how.prevalence is not None else ""
    return Table(
        name=KEY,
        caption=TITLE,
        columns=(
            Column("task", "task"),
            Column("model", "model", "model", brief=several, under="task"),
            Column("cut", "cut", brief=False),
            *sides,
            *predictive,
            *claims * any("against_readers" in row for row in rows),
        ),
        rows=rows,
        open=True,
        legend=f"In per cent, with {exact_percent(how.level)} intervals. Readers: the lowest "
        f"and the highest of the {people} by the same truth. Claims against {people}{margin}: "
        f"{CLAIMED[len({row['task'] for row in rows}) > 1]}.{used}",
    )


def _prevalences(how: Settings) -> str:
    """The stated shares of positives in words."""
    if not isinstance(how.prevalence, Mapping):
        return f"a prevalence of {percent(how.prevalence, 1)}"
    shares = [f"{percent(share, 1)} ({task})" for task, share in how.prevalence.items()]
    return f"a prevalence of {joined(shares)}, elsewhere that of these items"


def _sentence(points: Sequence[Point], nouns: Nouns, whose: str) -> str:
    """What one model finds and spares, and where the readers lie."""
    model = points[0].model
    if len(points) > 1:
        sides = " and ".join(_spread(points, name) for name in RATES[:2])
        return f"At its stated cuts {model} has {sides}, against {whose}."
    point = points[0]
    finds, clears = (_share(point.rates[name]) for name in RATES[:2])
    among = ""
    if point.readers:
        ranges = [f"{_range(point.readers[name])}%" for name in RATES[:2]]
        among = f"; {nouns.annotators} find {ranges[0]} and clear {ranges[1]}"
    return (
        f"At its cut {model} finds, in per cent, {finds} of the positives and clears {clears} "
        f"of the negatives, against {whose}{among}."
    )


def _share(rate: Rate) -> str:
    size = estimate(rate.value, rate.low, rate.high, _hundredths)
    return f"{rate.hits:,} of {rate.trials:,} ({size})" if rate.trials >= 0 else size


def _hundredths(share: float | None) -> str:
    return percent(share).removesuffix("%")


def _spread(points: Sequence[Point], name: str) -> str:
    """From the lowest to the highest task."""
    defined = [point for point in points if math.isfinite(point.rates[name].value)]
    if not defined:
        return f"no {name}"
    defined.sort(key=lambda point: point.rates[name].value)
    low, high = (percent(point.rates[name].value) for point in (defined[0], defined[-1]))
    if low == high:
        return f"{name} {low} in every task"
    return f"{name} from {low} ({defined[0].task}) to {high} ({defined[-1].task})"

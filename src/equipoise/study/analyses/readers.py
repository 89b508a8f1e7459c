"""Readers against the models: every annotator as a competitor, left out of its own truth.

Each reader is scored as if it were a model, by metrics of decisions, against the votes of the
others on the items that it read; the models are scored on the same items against the same
votes, and every difference is paired. See `equipoise.study.left_out_readers`.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> from equipoise.study import evaluate
>>> readings, scores = reading_study()
>>> found = evaluate(scores[:2], readings, metrics=["accuracy"], readers=True)
>>> finding = readers_finding(found.readers)
>>> [one.name for one in finding.tables]
['readers_and_models', 'models_minus_readers']
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.metrics import Metric, named
from equipoise.study import MACRO
from equipoise.study.left_out_readers import ReaderRow
from equipoise.study.study import Study, evaluate
from equipoise.types.arrays import InputError
from equipoise.types.findings import Cell, Column, Dot, Dots, Finding, Table, columns, spanned
from equipoise.types.numbers import change, count, estimate, exact_percent
from equipoise.types.words import capital, joined

KEY, TITLE = "readers", "Readers against the models"
OVERALL = ("cohen_kappa", "quadratic_weighted_kappa", "mcc", "f1", "accuracy")
SHOWN = 24  # readers in a chart
TOLD = (
    "thresholds", "threshold_assumed", "cross_fitted", "tuning_split", "reader_left_out",
    "readers_most",
)  # fmt: skip
NOTE = (
    "Every reader is scored as if it were a model, against the votes of the other readers on "
    "the items that it read; models are scored on the same items against the same votes, at "
    "their thresholds. A model's value beside the readers' is its mean over these. Intervals "
    "({level}) speak for this reader and these models, on other items like these and {truth}; "
    "they are not adjusted for the number of readers."
)
OTHERS = "with other readers like the others to set the truth"
ALONE = "with the one other reader as the truth"
METHODS = (
    "Each reader was scored like a model against the votes of the others on the items it read, "
    "and compared with the models on the same items and votes, with paired two-way intervals."
)


class _Front(NamedTuple):
    """What the sentence and the chart are about: the best model in one task by one metric.

    `gaps` are its rows with a difference to a reader; `sign` is 1 where higher is better.
    """

    score: str
    where: str
    sign: int
    best: str
    gaps: list[ReaderRow]

    @classmethod
    def of(cls, rows: Sequence[ReaderRow], metric: Metric, labels: str, task: str) -> "_Front":
        """The model with the best mean over the readers' truths."""
        own = [row for row in rows if row.metric == metric.name and row.task == task]
        sign, means = 1 if metric.better == "higher" else -1, _model_means(own)
        known = [name for name, value in means.items() if not math.isnan(value)]
        best = max(known or means, key=lambda name: sign * means[name], default="")
        return cls(
            metric.soft_title if labels == "soft" else f"{labels} {metric.title}",
            f" ({task})" if task else "",
            sign,
            best,
            [row for row in own if row.who == best and not math.isnan(row.difference)],
        )


def analyse(study: Study) -> Finding:
    """Readers of a study against its models."""
    made = study.evaluation
    if not made.readers:
        made = evaluate(
            study.predictions,
            study.annotations,
            metrics=study.metrics,
            resampling="influence",
            settings=replace(study.settings, thresholds=study.thresholds),
            readers=True,
        )
    finding = readers_finding(
        made.readers,
        metrics=made.metrics,
        labels=study.settings.labels,
        level=study.settings.level,
    )
    return replace(finding, notices=tuple(one for one in made.notices if one.code in TOLD))


def readers_finding(
    rows: Sequence[ReaderRow],
    *,
    metrics: Sequence[Metric] = (),
    labels: str = "soft",
    level: float = 0.95,
) -> Finding:
    """What an evaluation with readers says of them.

    Parameters
    ----------
    rows
        `Evaluation.readers`.
    metrics
        `Evaluation.metrics`: those that no name can make, such as a cost by a matrix.
    labels
        Whether others' votes count by their share (``soft``) or by majority (``hard``).
    """
    own = [row for row in rows if row.labels == labels]
    if not own:
        raise InputError(
            KEY,
            "no reader that can be left out",
            "at least two named annotators with items in common",
            "evaluate with readers=True",
        )
    tasks = list(dict.fromkeys(row.task for row in own))
    known = {one.name: one for one in metrics}
    used = [known.get(one) or named(one) for one in dict.fromkeys(row.metric for row in own)]
    main = next((m for one in OVERALL for m in used if m.name == one), used[0])
    truth = ALONE if len({row.reader for row in own}) < 3 else OTHERS
    front = _Front.of(own, main, labels, tasks[-1] if tasks[-1] == MACRO else tasks[0])
    return Finding(
        key=KEY,
        title=TITLE,
        sentence=_sentence(front),
        tables=(_table(own, used, truth), _differences(own, used)),
        charts=_charts(front),
        note=NOTE.format(level=exact_percent(level), truth=truth),
        methods=METHODS,
    )


def _model_means(rows: Sequence[ReaderRow]) -> dict[str, float]:
    """Mean value of every model over the truths without each reader."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if not row.is_reader:
            found.setdefault(row.who, []).append(row.value)
    return {name: float(np.mean(values)) for name, values in found.items()}


def _sentence(front: _Front) -> str:
    """How many readers the best model beats, and how many surely."""
    score, where, sign, best, gaps = front
    if not gaps:
        return f"No reader can be compared with the models by {score}{where}."
    ahead = [row for row in gaps if sign * row.difference > 0]
    surely = [
        row for row in gaps if min(sign * row.difference_low, sign * row.difference_high) > 0
    ]
    worse = [
        row for row in gaps if max(sign * row.difference_low, sign * row.difference_high) < 0
    ]
    low, high = (pick(gaps, key=lambda row: sign * row.difference) for pick in (min, max))
    ends = [
        f"{estimate(row.difference, row.difference_low, row.difference_high, change)} "
        f"({row.reader})"
        for row in ((low, high) if len(gaps) > 1 else (low,))
    ]
    who = f"{len(ahead)} of {count(len(gaps), 'reader')}"
    some = count(len(surely)) if surely else "none"
    told = f"surely better than {'all' if len(surely) == len(gaps) else some}"
    if worse:
        told += f" and surely worse than {joined([row.reader for row in worse], most=3)}"
    return (
        f"By {score}{where}, {best} does better than {who} against the votes of the others, "
        f"{told}; the difference is {' to '.join(ends)}."
    )


def _table(rows: Sequence[ReaderRow], metrics: Sequence[Metric], truth: str) -> Table:
    """Readers, then models, with every metric beside each other."""
    lines: list[dict[str, Cell]] = []
    for task in dict.fromkeys(row.task for row in rows):
        readers: dict[str, dict[str, Cell]] = {}
        models: dict[str, dict[str, Cell]] = {}
        here = [row for row in rows if row.task == task]
        for row in here:
            if row.is_reader:
                start: dict[str, Cell] = {"task": task, "who": row.who, "kind": "reader"}
                line = readers.setdefault(row.who, {**start, "items": row.items})
                ends = {f"{row.metric}_low": row.low, f"{row.metric}_high": row.high}
                line |= {row.metric: row.value, **ends}
        for metric in metrics:
            own = [row for row in here if row.metric == metric.name]
            most = max(row.items for row in own)
            for name, value in _model_means(own).items():
                start = {"task": task, "who": name, "kind": "model", "items": most}
                models.setdefault(name, start)[metric.name] = value
        lines += [*readers.values(), *models.values()]
    return Table(
        name="readers_and_models",
        caption="Readers, each against the others, and the models against the same votes",
        columns=(
            Column("task", "task"),
            Column("who", "reader or model", "model"),
            *columns(kind="text", items="count"),
            *(spanned(one.name, one.title) for one in metrics),
        ),
        rows=lines,
        legend=f"Brackets: interval for other items, {truth}; of a model the mean over the "
        "truths without each reader.",
    )


def _differences(rows: Sequence[ReaderRow], metrics: Sequence[Metric]) -> Table:
    """Every model minus every reader, paired."""
    return Table(
        name="models_minus_readers",
        caption="Every model minus every reader, on the same items and votes",
        columns=(
            Column("task", "task"),
            Column("metric", "metric", words={one.name: one.title for one in metrics}),
            Column("who", "model", "model"),
            Column("reader", "reader"),
            Column("value", "model's value", "number", ("low", "high")),
            spanned("difference", "minus the reader's", "change"),
            Column("p", "p", "p"),
        ),
        rows=[row._asdict() for row in rows if not row.is_reader],
        brief=(),
    )


def _charts(front: _Front) -> tuple[Dots, ...]:
    """The best model minus every reader, the reader that does best first."""
    score, where, sign, best, gaps = front
    if len(gaps) < 2:
        return ()
    gaps = sorted(gaps, key=lambda row: sign * row.difference)
    side = "right" if sign > 0 else "left"
    return (
        Dots(
            name="readers",
            caption=f"{best} minus each reader{where}; {side} of 0: the model is better",
            alternative=f"{capital(score)} of {best} minus that of each reader.",
            axis=f"difference in {score}",
            rows=[
                Dot(row.reader, row.difference, row.difference_low, row.difference_high)
                for row in gaps[:SHOWN]
            ],
            zero=True,
        ),
    )

"""Per-reader truth: every model judged by the votes of each reader alone, then averaged.

The estimand is the mean over readers of a model's value against that reader's own votes, with
Obuchowski and Rockette's variance and Hillis' degrees of freedom.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from equipoise.inference import Population, Reason, TwoWay, obuchowski_rockette, unit_design
from equipoise.inference.spread import TOO_FEW
from equipoise.metrics import Metric
from equipoise.study.blocks import every_class
from equipoise.study.uncertainty import Uncertainty, influence_of
from equipoise.types import Floats, InputError, Ints, Option, hint

FEWEST = 2
PER_READER = "per_reader_truth"
TWO_WAY = Option("inference", "two-way")


class _ReaderValues(NamedTuple):
    """Models of one task by annotator.

    Attributes
    ----------
    annotators
        Codes of those by whose votes every model has a value.
    theta
        Values, shape (models, annotators).
    sums
        Influence of every unit on them, shape (models, annotators, units).
    """

    annotators: Ints
    theta: Floats
    sums: Floats


def _refusal(got: str, expected: str, task: str = "") -> InputError:
    where = f"inference {PER_READER}" + (f", task {task!r}" if task else "")
    return InputError(where, got, expected, hint("choose {}", TWO_WAY))


def reader_cells(shared: Uncertainty, metric: Metric) -> list[TwoWay]:
    """One cell per task, and of their average when there are several."""
    if metric.influence is None or not shared.target.named:
        got = f"metric {metric.name}" if shared.target.named else "votes without annotators"
        expected = "named annotators, and a metric with derivatives (auroc, accuracy, ...)"
        raise _refusal(got, expected)
    tasks = range(len(shared.aligned))
    judged = [_reader_values(shared, t, metric) for t in tasks]
    cells = [_cell(shared, [t], [judged[t]]) for t in tasks]
    if len(judged) > 1:
        cells.append(_cell(shared, list(tasks), judged))
    return cells


def _reader_values(shared: Uncertainty, t: int, metric: Metric) -> _ReaderValues:
    aligned, ballots, unit = shared.aligned[t], shared.ballots[t], shared.unit[t]
    assert ballots is not None
    units = 1 + max(int(units_of_task.max()) for units_of_task in shared.unit)
    annotators, theta, sums = [], [], []
    for person in np.flatnonzero(np.bincount(ballots.annotator)):
        votes = np.flatnonzero(ballots.annotator == person)
        items, place = np.unique(ballots.item[votes], return_inverse=True)
        number = np.bincount(place)
        shares = [np.bincount(place, mass) / number for mass in ballots.mass[votes].T]
        whole = metric.labels == "distribution"
        labels = np.stack(every_class(shares) if whole else shares)
        values, moved = [], []
        for model in aligned.scores:
            prepared = metric.prepare(aligned.seen(model, metric)[items])
            influence = influence_of(metric, prepared, labels)
            values.append(influence.value)
            moved.append(np.bincount(unit[items], influence.items, units))
        if np.isfinite(values).all():
            annotators.append(person)
            theta.append(values)
            sums.append(moved)
    if len(annotators) < FEWEST:
        got = f"{len(annotators)} annotators by whose votes every model has a value"
        raise _refusal(got, f"at least {FEWEST}", aligned.question.task)
    return _ReaderValues(
        np.array(annotators), np.array(theta).T, np.moveaxis(np.array(sums), 0, 1)
    )


def _cell(shared: Uncertainty, tasks: Sequence[int], judged: Sequence[_ReaderValues]) -> TwoWay:
    """Mean over the tasks of what the annotators of all of them say."""
    common = judged[0].annotators
    for task in judged[1:]:
        common = np.intersect1d(common, task.annotators)
    if len(common) < FEWEST:
        got = f"{len(common)} annotators in common to all tasks"
        raise _refusal(got, f"at least {FEWEST}")
    rows = [np.searchsorted(task.annotators, common) for task in judged]
    theta = np.mean(
        [task.theta[:, row] for task, row in zip(judged, rows, strict=True)], axis=0
    )
    sums = np.mean([task.sums[:, row] for task, row in zip(judged, rows, strict=True)], axis=0)
    models, readers = theta.shape
    design = unit_design(np.concatenate([shared.unit[t] for t in tasks]))
    flat = sums.reshape(models * readers, -1)
    covariance = design.unit_factor * (flat @ flat.T)
    result = obuchowski_rockette(theta, covariance.reshape(models, readers, models, readers))
    variances = np.diag(result.variance)
    paired = (variances[:, None] + variances - result.variance) / 2
    np.fill_diagonal(paired, variances)
    zero = np.zeros((models, models))
    few = readers - 1 < TOO_FEW  # two annotators speak for themselves alone
    population = Population(
        annotators=not few,
        reason=Reason.TOO_FEW if few else Reason.NONE,
        units="items" if shared.plan.group is None else "groups of items",
        effective=float(readers),
    )
    return TwoWay(
        values=result.values,
        items=paired,
        annotators=zero,
        cells=zero,
        draws=zero,
        df_items=result.df,
        df_annotators=float(readers - 1),
        floor=0.0,
        population=population,
    )

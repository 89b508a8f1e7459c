"""What moves when the threshold moves: prevalence, values and ranks around a threshold.

At each threshold of an even grid, from `reach` below to `reach` above, items whose probability
is at least the threshold (under a strict grid: more than it) are positive, and every model is
scored against these hard labels. All thresholds share one plan of redrawn items, whole groups
of them where groups are given, so everything is paired. A strict grid around one half moves the
rule of the majority: more than half.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from equipoise.analyses._expert_sample import checked_probabilities
from equipoise.analyses._sweep_grid import Grid, called
from equipoise.analyses.sweep_words import said, undefined
from equipoise.annotations import Annotations
from equipoise.arrays import (
    Bools,
    Floats,
    InputError,
    PerItem,
    require_number,
    wrong_type,
)
from equipoise.estimate import Estimate
from equipoise.evaluation import Evaluation, Settings, evaluate
from equipoise.evaluation.given import given_predictions
from equipoise.predictions import Predictions
from equipoise.ranks import average_ranks, goodness, spearman
from equipoise.resampling import Resampling

__all__ = ["Grid", "Move", "ThresholdSweep", "called", "threshold_sweep"]


class Move(NamedTuple):
    """One model, metric and threshold.

    `rank_low` and `rank_high` hold the rank in the redraws; `change` is the change of rank from
    the centre of the grid: above 0 when the model is worse.
    """

    threshold: float
    positives: int
    prevalence: float
    metric: str
    model: str
    value: float
    low: float
    high: float
    rank: float
    rank_low: float
    rank_high: float
    change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdSweep:
    """What moves with the threshold.

    Attributes
    ----------
    centre, reach, strict
        The threshold, how far it was moved, and whether an item must exceed it.
    moves
        One line per threshold, metric and model.
    agreement
        By (threshold, metric): rank correlation (Spearman) with the order at the centre.
    notices
        What the user should know.
    groups
        How many groups of items were redrawn as wholes; 0: single items were.
    """

    centre: float
    reach: float
    moves: tuple[Move, ...]
    agreement: dict[tuple[float, str], float]
    strict: bool = False
    notices: tuple[str, ...] = ()
    groups: int = 0

    def rows(self) -> list[dict[str, Any]]:
        """One line per threshold, metric and model."""
        return [one._asdict() for one in self.moves]

    @property
    def finding(self) -> str:
        """What the sweep comes to by its first metric, as a sentence."""
        return said(self.moves, self.centre, strict=self.strict)


def threshold_sweep(
    predictions: Predictions | Iterable[Predictions],
    probabilities: Any,
    items: Sequence[str],
    threshold: float,
    grid: Grid | None = None,
) -> ThresholdSweep:
    """Move a threshold and see what changes.

    Parameters
    ----------
    predictions
        The models to score.
    probabilities, items
        The probability of each item that the threshold is for.
    threshold
        Where to start from, for example `Threshold.value`.
    grid
        How far to go, and which metrics to take.
    """
    how = Grid() if grid is None else grid
    if not isinstance(how, Grid):
        raise wrong_type("threshold sweep, grid", grid, "a Grid", "try Grid(reach=0.1)")
    values = checked_probabilities(probabilities, items)
    if how.group is not None and len(how.group) != len(items):
        raise InputError(
            "threshold sweep, group", f"{len(how.group):,} groups",
            f"one for each of the {len(items):,} items", "align them item by item",
        )  # fmt: skip
    do = "set one with expert_threshold, or choose it"
    if not 0 <= require_number("threshold sweep, threshold", threshold, do=do) <= 1:
        raise InputError(
            "threshold sweep, threshold", f"{threshold!r}", "a number in [0, 1]", do
        )
    given = given_predictions(predictions)
    tried = how.thresholds(threshold)
    done = _scored(given, (items, values), tried, how)
    ranks = {id(one): _ranks(one) for one in {id(one): one for one in done}.values()}
    middle = int(np.argmin(np.abs(np.array(tried) - threshold)))
    centre = done[middle]
    found: dict[int, list[Move]] = {}
    for t, one in zip(tried, done, strict=True):
        if id(one) not in found:
            at = (t, called(values, t, strict=how.strict))
            found[id(one)] = _moves(at, one, ranks[id(one)], ranks[id(centre)])
    moves = [
        move._replace(threshold=t)
        for t, one in zip(tried, done, strict=True)
        for move in found[id(one)]
    ]
    return ThresholdSweep(
        centre=float(threshold), reach=how.reach, strict=how.strict, moves=tuple(moves),
        agreement={
            (t, metric.name): float(spearman(centre.values[0, k, 0], one.values[0, k, 0]))
            for t, one in zip(tried, done, strict=True)
            for k, metric in enumerate(one.metrics)
        },
        notices=(*_cut(tried, how), *undefined(moves), *centre.notices),
        groups=0 if how.group is None else len(np.unique(how.group)),
    )  # fmt: skip


def _scored(
    given: list[Predictions],
    truth: tuple[Sequence[str], PerItem],
    tried: Sequence[float],
    how: Grid,
) -> list[Evaluation]:
    """Every model against the labels of each threshold; equal labels are scored once."""
    items, values = truth
    plan = Resampling(
        kind="items", items=tuple(items), replicates=how.replicates, seed=how.seed,
        group=None if how.group is None else np.asarray(how.group),
    )  # fmt: skip
    known: dict[bytes, Evaluation] = {}
    done = []
    for number, threshold in enumerate(tried, 1):
        label = called(values, threshold, strict=how.strict)
        if label.tobytes() not in known:
            labels = Annotations(
                kind="binary", items=tuple(items), classes=("negative", "positive"),
                item=np.arange(len(items)), label=label.astype(np.intp),
            )  # fmt: skip
            known[label.tobytes()] = evaluate(
                given, labels, metrics=how.metrics, resampling=plan,
                settings=Settings(how.level, on_missing=how.on_missing),
            )  # fmt: skip
        done.append(known[label.tobytes()])
        if how.progress is not None:
            how.progress(number, len(tried))
    return done


def _ranks(done: Evaluation) -> Floats:
    """Ranks by hard labels, shape (metrics, models, 1 + replicates); the first of the data."""
    every = np.concatenate([done.values[0, :, 0, :, None], done.replicates[0, :, 0]], axis=-1)
    return np.stack(
        [
            average_ranks(goodness(one, metric.better))
            for one, metric in zip(every, done.metrics, strict=True)
        ]
    )


def _moves(
    at: tuple[float, Bools], done: Evaluation, ranks: Floats, before: Floats
) -> list[Move]:
    """All models and metrics at one threshold with its labels."""
    lines = {(one.metric, one.model): one for one in done.table() if one.labels == "hard"}
    here = (at[0], int(at[1].sum()), float(at[1].mean()))
    moves = []
    for k, metric in enumerate(done.metrics):
        for m, model in enumerate(done.models):
            line, place = lines[metric.name, model], ranks[k, m]
            rank = Estimate(float(place[0]), place[1:], "rank")
            moves.append(
                Move(
                    *here, metric.name, model, line.value, line.low, line.high,
                    rank.value, *rank.interval(done.level), rank.value - float(before[k, m, 0]),
                )
            )  # fmt: skip
    return moves


def _cut(tried: Sequence[float], how: Grid) -> list[str]:
    """Say so when the grid ends before it has gone all the way."""
    if len(tried) == 2 * how.steps + 1:
        return []
    return [
        f"Thresholds are tried from {tried[0]:.3g} to {tried[-1]:.3g}: a step further lies "
        "outside of 0 to 1."
    ]

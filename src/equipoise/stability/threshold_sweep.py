"""What moves when the threshold moves: prevalence, values and ranks around a threshold.

At each threshold of an even grid, from `reach` below to `reach` above, items whose probability
is at least the threshold are positive, and every model is scored against these hard labels. All
thresholds share one plan of redrawn items, so everything is paired.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import InputError, PerItem, listed
from equipoise.evaluation import Evaluation, Settings, evaluate
from equipoise.metrics import DEFAULT
from equipoise.predictions import Predictions
from equipoise.ranks import spearman
from equipoise.resampling import Resampling
from equipoise.stability._expert_sample import checked_probabilities


@dataclass(frozen=True, slots=True)
class Grid:
    """Which thresholds are tried, and how models are scored at each.

    Attributes
    ----------
    reach, steps
        How far to go on either side, and in how many steps.
    metrics
        Names of metrics; their hard-label form is taken.
    replicates, seed, level
        Of the redrawn items.
    progress
        Called as ``progress(done, all)`` after each threshold.
    """

    reach: float = 0.15
    steps: int = 5
    metrics: Sequence[str] = DEFAULT
    replicates: int = 1000
    seed: int = 0
    level: float = 0.95
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.reach < 1 or self.steps < 1:
            raise InputError(
                "threshold sweep", f"reach {self.reach}, {self.steps} steps",
                "a reach between 0 and 1, and at least 1 step", "0.15 and 5 are usual",
            )  # fmt: skip

    def thresholds(self, centre: float) -> list[float]:
        """The grid; what lies outside of [0, 1] is left out."""
        steps = np.arange(-self.steps, self.steps + 1) * self.reach / self.steps
        return [float(centre + x) for x in steps if 0 <= centre + x <= 1]


class Move(NamedTuple):
    """One model, metric and threshold.

    `change` is the change of rank from the centre of the grid: above 0 when the model is worse.
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
    change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdSweep:
    """What moves with the threshold.

    Attributes
    ----------
    centre, reach
        The threshold, and how far it was moved.
    moves
        One line per threshold, metric and model.
    agreement
        By (threshold, metric): rank correlation (Spearman) with the order at the centre.
    notices
        What the user should know.
    """

    centre: float
    reach: float
    moves: tuple[Move, ...]
    agreement: dict[tuple[float, str], float]
    notices: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One line per threshold, metric and model."""
        return [one._asdict() for one in self.moves]

    @property
    def finding(self) -> str:
        """What the sweep comes to, as a sentence."""
        shares = [one.prevalence for one in self.moves]
        span = f"from {min(shares):.1%} to {max(shares):.1%}"
        moved = sorted({one.model for one in self.moves if abs(one.change) > 1e-9})
        ranks = f"the ranks of {listed(moved)} change" if moved else "no model changes its rank"
        return (
            f"As the threshold moves by {self.reach:g} around {self.centre:.3g}, the share of "
            f"positives goes {span}, and {ranks}."
        )


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
    how = grid or Grid()
    values = checked_probabilities(probabilities, items)
    if not 0 <= threshold <= 1:
        raise InputError(
            "threshold sweep", f"threshold {threshold}", "a number in [0, 1]",
            "set one with expert_threshold, or choose it",
        )  # fmt: skip
    given = [predictions] if isinstance(predictions, Predictions) else list(predictions)
    tried = how.thresholds(threshold)
    done = []
    for number, one in enumerate(tried, 1):
        done.append(_scored(given, items, values, one, how))
        if how.progress is not None:
            how.progress(number, len(tried))
    centre = done[int(np.argmin(np.abs(np.array(tried) - threshold)))]
    moves = [m for t, e in zip(tried, done, strict=True) for m in _moves(t, values, e, centre)]
    return ThresholdSweep(
        centre=float(threshold), reach=how.reach, moves=tuple(moves),
        agreement={
            (t, metric.name): float(spearman(centre.values[0, k, 0], e.values[0, k, 0]))
            for t, e in zip(tried, done, strict=True)
            for k, metric in enumerate(e.metrics)
        },
        notices=_undefined(moves),
    )  # fmt: skip


def _scored(
    given: list[Predictions], items: Sequence[str], values: PerItem, threshold: float, how: Grid
) -> Evaluation:
    """Every model against the labels of one threshold."""
    labels = Annotations(
        kind="binary", items=tuple(items), classes=("negative", "positive"),
        item=np.arange(len(items)), label=(values >= threshold - 1e-12).astype(np.intp),
    )  # fmt: skip
    plan = Resampling(
        kind="items", items=tuple(items), replicates=how.replicates, seed=how.seed
    )
    return evaluate(
        given, labels, metrics=how.metrics, resampling=plan, settings=Settings(how.level)
    )


def _moves(
    threshold: float, values: PerItem, done: Evaluation, centre: Evaluation
) -> list[Move]:
    positives = int((values >= threshold - 1e-12).sum())
    before = {
        (row.metric, row.model): row.rank for row in centre.table() if row.labels == "hard"
    }
    return [
        Move(
            threshold, positives, positives / len(values), row.metric, row.model, row.value,
            row.low, row.high, row.rank, row.rank - before[row.metric, row.model],
        )
        for row in done.table()
        if row.labels == "hard"
    ]  # fmt: skip


def _undefined(moves: list[Move]) -> tuple[str, ...]:
    gone = sorted({one.threshold for one in moves if math.isnan(one.value)})
    if not gone:
        return ()
    return (
        f"Metrics are undefined at thresholds {', '.join(f'{t:.3g}' for t in gone)}: all items "
        "are of one class there, or too few are left.",
    )

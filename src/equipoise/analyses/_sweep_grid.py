"""Which thresholds a sweep tries, and which items are positive at each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.arrays import (
    Bools,
    Ints,
    PerItem,
    choice,
    frozen,
    require_number,
    require_whole,
    wrong_type,
)
from equipoise.evaluation.alignment import ON_MISSING
from equipoise.evaluation.given import given_metrics
from equipoise.metrics import DEFAULT, Metric

TIE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Which thresholds are tried, and how models are scored at each.

    Attributes
    ----------
    reach, steps
        How far to go on either side, and in how many steps.
    metrics
        Metrics or their names; their hard-label form is taken.
    replicates, seed, level
        Of the redrawn items.
    progress
        Called as ``progress(done, all)`` after each threshold.
    strict
        Whether an item must exceed the threshold; else it must reach it.
    on_missing
        As in `equipoise.evaluation.Settings`.
    group
        Which group (patient, night) each item belongs to, in the order of the items; groups
        are redrawn as a whole. None: every item stands for itself.
    """

    reach: float = 0.15
    steps: int = 5
    metrics: Sequence[str | Metric] = DEFAULT
    replicates: int = 1000
    seed: int = 0
    level: float = 0.95
    progress: Callable[[int, int], None] | None = None
    strict: bool = False
    on_missing: str = "error"
    group: Sequence[str] | Ints | None = None

    def __post_init__(self) -> None:
        require_number("threshold sweep, reach", self.reach, above=0, below=1, do="try 0.15")
        require_number("threshold sweep, level", self.level, above=0, below=1, do="try 0.95")
        require_whole("threshold sweep, steps", self.steps, least=1, do="5 are usual")
        require_whole("threshold sweep, replicates", self.replicates, least=1, do="try 1000")
        require_whole("threshold sweep, seed", self.seed, do="try 0")
        given_metrics(self.metrics)
        choice("threshold sweep, on_missing", self.on_missing, ON_MISSING)
        if not isinstance(self.strict, bool):
            raise wrong_type("threshold sweep, strict", self.strict, "True or False", "say one")
        if self.progress is not None and not callable(self.progress):
            raise wrong_type("progress", self.progress, "a function, or None", "leave it out")
        if self.group is not None:
            object.__setattr__(self, "group", frozen(_codes(self.group)))

    def thresholds(self, centre: float) -> list[float]:
        """The grid; what lies outside of [0, 1] is left out."""
        steps = np.arange(-self.steps, self.steps + 1) * self.reach / self.steps
        return [float(centre + x) for x in steps if 0 <= centre + x <= 1]


def _codes(group: object) -> Ints:
    """Groups as numbers, refused unless they are a list of names or of whole numbers."""
    told = group.tolist() if isinstance(group, np.ndarray) else group
    if not isinstance(told, Sequence) or isinstance(told, str):
        told = [None]
    if not all(isinstance(one, str | int | np.integer) for one in told):
        expected, do = "the name of its group for every item", "leave it out"
        raise wrong_type("threshold sweep, group", group, expected, do)
    return np.unique(np.array(told), return_inverse=True)[1].astype(np.int64)


def called(values: PerItem, threshold: float, *, strict: bool = False) -> Bools:
    """Which items are positive; probabilities that differ by rounding alone are equal.

    Examples
    --------
    >>> called(np.array([0.4, 0.5, 0.6]), 0.5), called(np.array([0.5]), 0.5, strict=True)
    (array([False,  True,  True]), array([False]))
    """
    return np.asarray(values > threshold + TIE if strict else values >= threshold - TIE)

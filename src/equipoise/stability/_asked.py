"""What is asked of an analysis: which metric, labels and task, and how it is resampled."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict

import numpy as np

from equipoise.arrays import InputError, choice, listed, nearest
from equipoise.evaluation import LABELS
from equipoise.evaluation.alignment import ON_MISSING
from equipoise.metrics import Metric, named

Progress = Callable[[int, int], None]


class How(TypedDict, total=False):
    """Keywords of every analysis; see `Asked`."""

    metric: str | Metric
    labels: str
    task: str | None
    level: float
    replicates: int
    seed: int
    on_missing: str
    progress: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of an analysis.

    Attributes
    ----------
    metric
        A name such as ``auroc``, or a `Metric`; one that meets draws of an aggregation model
        is refused, because these analyses look at votes.
    labels
        ``soft`` (mean vote) or ``hard`` (strict majority, a tie is negative).
    task
        Which question; None is the only one, or the average over all.
    level
        Level of the intervals.
    replicates, seed
        How many resamples, and from which seed.
    on_missing
        As in `equipoise.evaluation.Settings`.
    progress
        Called as ``progress(done, all)``.
    """

    metric: str | Metric = "auroc"
    labels: str = "soft"
    task: str | None = None
    level: float = 0.95
    replicates: int = 1000
    seed: int = 0
    on_missing: str = "error"
    progress: Progress | None = None

    def __post_init__(self) -> None:
        choice("stability, labels", self.labels, LABELS)
        choice("stability, on_missing", self.on_missing, ON_MISSING)
        if not isinstance(self.level, float) or not 0 < self.level < 1:
            raise InputError(
                "stability", f"level {self.level!r}", "a number between 0 and 1", "try 0.95"
            )
        whole = isinstance(self.replicates, int | np.integer)
        if not whole or self.replicates < 2:
            raise InputError(
                "stability", f"{self.replicates!r} replicates", "at least 2", "1000 is usual"
            )
        if not isinstance(self.seed, int | np.integer):
            raise InputError("stability", f"seed {self.seed!r}", "a whole number", "try 0")
        if not isinstance(self.metric, str | Metric):
            raise InputError(
                "stability", f"metric {self.metric!r}", "the name of one metric", "try 'auroc'"
            )

    @property
    def scored(self) -> Metric:
        """The metric itself."""
        found = named(self.metric) if isinstance(self.metric, str) else self.metric
        if found.labels == "draws":
            raise InputError(
                f"metric {found.name}", "votes", "draws of an aggregation model",
                "choose a metric of labels, such as auroc or accuracy",
            )  # fmt: skip
        return found

    def tell(self, done: int, whole: int) -> None:
        """Tell progress, where anyone listens."""
        if self.progress is not None:
            self.progress(done, whole)


def asked(how: Mapping[str, Any]) -> Asked:
    """Check the keywords given by a caller.

    Examples
    --------
    >>> asked({"metric": "accuracy"}).scored.title
    'accuracy'
    """
    known = [item.name for item in fields(Asked)]
    for name in how:
        if name not in known:
            raise InputError(
                f"keyword {name!r}", "unknown", f"one of {listed(known, most=8)}",
                nearest(name, known),
            )  # fmt: skip
    return Asked(**how)

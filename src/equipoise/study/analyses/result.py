"""What all results of an analysis of a study hold: what was scored, and how rows begin."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from equipoise.metrics import titled
from equipoise.study.analyses.words import score_title
from equipoise.types.arrays import frozen
from equipoise.types.findings import Cell
from equipoise.types.notices import Notice

ENDS = ("", "_low", "_high")


@dataclass(frozen=True, eq=False, kw_only=True)
class AnalysisResult:
    """What was scored, frozen with everything that a result adds.

    Attributes
    ----------
    task, metric, labels, models
        What was scored.
    level, better
        Level of the intervals, and whether ``higher`` or ``lower`` values are better.
    notices
        What the user should know.
    """

    task: str
    metric: str
    labels: str
    models: tuple[str, ...]
    level: float
    better: str = "higher"
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def score(self) -> str:
        """What was scored, as one would say it."""
        return titled(self.metric, self.labels)

    @property
    def what(self) -> str:
        """The same, with the task."""
        return score_title(self.metric, self.labels, self.task)

    @property
    def head(self) -> str:
        """Head of a column of values, which says so where lower ones are better."""
        return f"{self.score}{' (lower is better)' * (self.better == 'lower')}"

    @property
    def sign(self) -> int:
        """1 where higher is better, else -1."""
        return 1 if self.better == "higher" else -1

    @property
    def named(self) -> dict[str, Cell]:
        """What every row begins with."""
        return {"task": self.task, "metric": self.metric, "labels": self.labels}

    def with_ends(self, name: str, key: str = "", at: Any = ...) -> dict[str, Any]:
        """A quantity and the ends of its interval as columns, under another key if given."""
        return {f"{key or name}{end}": getattr(self, f"{name}{end}")[at] for end in ENDS}


def freeze(result: Any) -> None:
    """Make every array of a frozen result read-only."""
    for field in fields(result):
        value = getattr(result, field.name)
        if isinstance(value, np.ndarray):
            object.__setattr__(result, field.name, frozen(value))


def ends_of(name: str, value: Any, ends: Iterable[Any], *, stem: str = "") -> dict[str, Any]:
    """A quantity with the ends of its interval, which may be named by a shorter stem.

    Examples
    --------
    >>> ends_of("limit", 0.5, (0.4, 0.6))
    {'limit': 0.5, 'limit_low': 0.4, 'limit_high': 0.6}
    """
    low, high = ends
    return {name: value, f"{stem or name}_low": low, f"{stem or name}_high": high}

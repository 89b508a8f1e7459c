"""Values of models before and after an audit, and what the audit changes, in a sentence."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from equipoise.metrics import named
from equipoise.ranks import average_ranks, goodness


class Revalued(NamedTuple):
    """One model in one version of the truth; `change` is from the value before."""

    version: str
    model: str
    value: float
    low: float
    high: float
    change: float
    change_low: float
    change_high: float


@dataclass(frozen=True, slots=True)
class Reevaluation:
    """Values before and after an audit.

    Attributes
    ----------
    metric, labels
        What was scored.
    lines
        One line per version and model.
    items
        Items in the benchmark, audited items, and items they stand for.
    groups
        How many groups of the benchmark's items were redrawn as wholes; 0: single items were.
    """

    metric: str
    labels: str
    lines: tuple[Revalued, ...]
    items: tuple[int, int, int]
    groups: int = 0

    def rows(self) -> list[dict[str, Any]]:
        """One line per version and model."""
        return [one._asdict() for one in self.lines]

    @property
    def finding(self) -> str:
        """What the audit changes, as a sentence."""
        last = [one for one in self.lines if one.version == "reweighed"]
        title = named(self.metric).title
        start = f"With the {self.items[1]:,} audited items standing for {self.items[2]:,}, "
        known = [one for one in last if not math.isnan(one.change)]
        if not known:
            return f"{start}the change of {title} is undefined.{self._order()}"
        most = max(known, key=lambda one: abs(one.change))
        whom = "" if len(last) == 1 else f" most for {most.model}:"
        ends = f"[{_signed(most.change_low)}, {_signed(most.change_high)}]"
        return f"{start}{title} changes{whom} by {_signed(most.change)} {ends}.{self._order()}"

    def _order(self) -> str:
        """Say whether the order of the models holds; ties are ties."""
        ranks = []
        for version in ("before", "reweighed"):
            mine = np.array([one.value for one in self.lines if one.version == version])
            ranks.append(average_ranks(goodness(mine, named(self.metric).better)))
        if len(ranks[0]) == 1:
            return ""
        if np.isnan(ranks).any():
            return " The order of models is undefined."
        same = "stays" if (ranks[0] == ranks[1]).all() else "changes"
        return f" The order of models {same}."


def _signed(value: float) -> str:
    if math.isnan(value):
        return "undefined"
    return f"{value:+.3f}" if math.isfinite(value) else "∞" if value > 0 else "−∞"

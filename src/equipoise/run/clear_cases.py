"""Clear cases in rows and in words: who leads on them, against who leads on all items.

Sentences name the cut-off of clear items, or the last below it, that keeps enough items and
leaves every model a value; they say so where there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.analyses.certainty import SURE
from equipoise.analyses.cuts import Cuts
from equipoise.analyses.scoring import StudyScorer
from equipoise.analyses.words import joined, percent
from equipoise.arrays import Ints
from equipoise.ranks import TIE, goodness

LEAST = 10  # items, below which a cut-off is in no sentence


@dataclass(frozen=True, eq=False)
class Told:
    """What the cut-offs came to, in rows and in words."""

    study: StudyScorer
    cuts: Cuts
    steps: tuple[float, ...]
    items: Ints
    below: float

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict per cut-off and model."""
        names = ("value", "low", "high", "change", "change_low", "change_high", "rank")
        cuts = self.cuts
        parts = (
            cuts.values, cuts.low, cuts.high, cuts.change, cuts.change_low, cuts.change_high,
            cuts.ranks,
        )  # fmt: skip
        return [
            {
                "task": self.study.task, "metric": self.study.metric.name,
                "labels": self.study.asked.labels, "certainty": least,
                "items": int(self.items[c]),
                "coverage": float(self.items[c] / self.items[0]),
                "status": "undefined" if np.isnan(cuts.values[c, m]) else "scored",
                "model": model,
                **{name: float(part[c, m]) for name, part in zip(names, parts, strict=True)},
                "spearman": float(cuts.spearman[c]),
            }
            for c, least in enumerate(self.steps)
            for m, model in enumerate(self.study.models)
        ]  # fmt: skip

    def finding(self) -> str:
        """What came out, in a sentence or two."""
        over = "Over all tasks " if len(self.study.subjects) > 1 else ""
        if not self.below:
            said = f"{over}every item is clear: no certainty is below {SURE:g}."
            return said[0].upper() + said[1:]
        said = f"{over}the votes leave {percent(self.below)} of the items open"
        said = f"{said[0].upper()}{said[1:]} (certainty below {SURE:g} when a vote counts once)"
        cut = self._clear()
        if cut is None and len(self.steps) == 1:
            return f"{said}. All are equally certain, so none can be left out."
        if cut is None:
            return f"{said}. The models cannot be scored on the clearer ones alone."
        where = (
            f"On the {percent(self.items[cut] / self.items[0])} with a certainty of at least "
        )
        return f"{said}. {where}{self._least(cut)} {self._outcome(cut)}."

    def notices(self) -> list[str]:
        """Say so when clear items cannot be scored by themselves."""
        clear = [c for c, least in enumerate(self.steps) if least >= SURE][:1]
        if not clear or np.isfinite(self.cuts.values[clear[0]]).all():
            return []
        where = " in every task" if len(self.study.subjects) > 1 else ""
        return [
            f"On the items with a certainty of at least {SURE:g} alone, {self._title} is not "
            f"defined for every model{where}."
        ]

    @property
    def _title(self) -> str:
        metric = self.study.metric
        return metric.soft_title if self.study.asked.labels == "soft" else metric.title

    def _least(self, cut: int) -> str:
        """A number that every item kept reaches."""
        least = self.steps[cut]
        return f"{SURE:g}" if least >= SURE else f"{int(1000 * least) / 1000:g}"

    def _clear(self) -> int | None:
        """The cut-off of clear items, or the last below it at which all models have a value."""
        clear = [c for c, least in enumerate(self.steps) if least >= SURE][:1]
        last = clear[0] if clear else len(self.steps) - 1
        fine = [bool(np.isfinite(line).all()) for line in self.cuts.values]
        usable = [c for c in range(1, last + 1) if fine[c] and self.items[c] >= LEAST]
        return usable[-1] if usable and fine[0] else None

    def _outcome(self, cut: int) -> str:
        """Who leads there, against who leads on all items."""
        values, title = self.cuts.values, self._title
        if len(self.study.models) == 1:
            return f"{title} is {values[cut, 0]:.3f}, on all {values[0, 0]:.3f}"
        now, before = (self._leaders(c) for c in (cut, 0))
        if len(now) == len(self.study.models):
            return f"all models have the same {title}" + ", as on all items" * (now == before)
        said = f"{_named(now)} {self._change(cut, now, before)}"
        rho = float(self.cuts.spearman[cut])
        if len(self.study.models) > 2 and not np.isnan(rho):
            said += f"; the order there has a rank correlation of {rho:.2f} with that on all"
        return said

    def _change(self, cut: int, now: list[str], before: list[str]) -> str:
        """How the lead changed."""
        verb = f"{'leads' if len(now) == 1 else 'lead'} by {self._title}"
        if now == before:
            return f"still {verb}"
        gone, come = ([one for one in two if one not in other]
                      for two, other in ((before, now), (now, before)))  # fmt: skip
        if not come:
            return f"{verb}, no longer level with {_named(gone)}"
        if not gone:
            return f"{verb}, {_named(come)} now level with {_named(before)}"
        return f"{verb} in place of {_named(before)}{self._gap(cut, now[0], before[0])}"

    def _gap(self, cut: int, first: str, other: str) -> str:
        """By how much one model is ahead of another, with its interval."""
        a, b = (self.study.models.index(name) for name in (first, other))
        sign = 1 if self.study.metric.better == "higher" else -1
        gap = sign * (self.cuts.values[cut, a] - self.cuts.values[cut, b])
        drawn = sign * (self.cuts.drawn[cut, a] - self.cuts.drawn[cut, b])
        ends = self.study.ends(gap, drawn, difference=True)
        gap, low, high = (float(np.round(one, TIE)) + 0.0 for one in (gap, *ends))
        if not gap > 0 or np.isnan(low) or np.isnan(high):
            return ""
        chance = "" if low > 0 else ", which may be chance"
        return f", {_figures(gap)} ahead{chance} ({_figures(low)} to {_figures(high)})"

    def _leaders(self, cut: int) -> list[str]:
        """Models that share the best value."""
        good = goodness(self.cuts.values[cut], self.study.metric.better)
        return [self.study.models[m] for m in np.flatnonzero(good == good.max())]


def _named(names: Sequence[str]) -> str:
    """Name a few models, and count the others."""
    return joined(names if len(names) < 4 else [*names[:2], f"{len(names) - 2} others"])


def _figures(value: float) -> str:
    """Two figures, never with an exponent.

    Examples
    --------
    >>> _figures(0.0000981), _figures(-0.0123)
    ('0.000098', '-0.012')
    """
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")

r"""Operating points: the threshold that a rule chooses, given scores and labels.

An item is called positive where its score is at least t. With soft labels p, the mean votes,

.. math:: \mathrm{sens}(t) = \frac{\sum_i p_i [s_i \ge t]}{\sum_i p_i}, \quad
    \mathrm{spec}(t) = \frac{\sum_i (1 - p_i) [s_i < t]}{\sum_i (1 - p_i)}

====================  ==========================================================================
youden                the largest sens + spec - 1
f1                    the largest F1, the harmonic mean of precision and sensitivity
prevalence            as large a share of items called positive as votes are
sensitivity=0.9       the largest specificity where the sensitivity is at least 0.9
specificity=0.9       the largest sensitivity where the specificity is at least 0.9
====================  ==========================================================================

Thresholds are scores of items, or infinite where nothing may be called positive; of several
that do equally well the highest is taken, so that a rising transformation of the scores
transforms the threshold and changes no decision.

References
----------
Youden (1950), *Index for rating diagnostic tests*.

Examples
--------
>>> scores, labels = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 0.5, 0.0, 1.0])
>>> [Rule.parse(one).choose(scores, labels) for one in ("youden", "sensitivity=0.9")]
[0.4, 0.2]
"""

import math
from dataclasses import dataclass

import numpy as np

from equipoise.arrays import Floats, InputError, PerItem, nearest
from equipoise.numbers import number

RULES = ("youden", "f1", "prevalence")
TARGETS = ("sensitivity", "specificity")
ROUNDING = 1e-12
_WORDS = {
    "youden": "Youden's index",
    "f1": "the largest F1",
    "prevalence": "the prevalence of the votes",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """How a threshold is chosen: a name, and for some what must be reached."""

    name: str
    target: float | None = None

    @classmethod
    def parse(cls, word: str) -> "Rule":
        """Read ``youden`` or ``sensitivity=0.9``."""
        name, _, text = word.partition("=")
        if name in RULES and not text:
            return cls(name)
        if name in TARGETS and 0 < _number(text) <= 1:
            return cls(name, float(text))
        if name in TARGETS:
            raise InputError(
                f"threshold {word!r}",
                repr(text) if text else "no number",
                "a share above 0 and up to 1",
                f"write {name}=0.9",
            )
        known = (*RULES, *(f"{one}=0.9" for one in TARGETS))
        expected = "a number or a rule"
        raise InputError("threshold", repr(word), expected, nearest(word, known))

    @property
    def word(self) -> str:
        """As `parse` reads it."""
        return self.name if self.target is None else f"{self.name}={self.target:g}"

    def __str__(self) -> str:
        if self.target is None:
            return _WORDS[self.name]
        return f"{self.name} of at least {number(self.target, 2)}"

    def choose(self, scores: PerItem, labels: PerItem) -> float:
        """The threshold for these scores, given soft labels; both (items,)."""
        yes, no = float(labels.sum()), float((1 - labels).sum())
        if min(yes, no) <= ROUNDING * max(len(labels), 1):
            raise InputError(
                f"threshold by {self}",
                f"{len(labels)} items whose votes are all {'no' if no > yes else 'yes'}",
                "both classes among the items that it is chosen on",
                "choose on more items, or give the threshold",
            )
        order = np.argsort(-scores, kind="stable")
        ranked = scores[order]
        last = np.append(ranked[1:] != ranked[:-1], True)
        called = np.append(0.0, np.flatnonzero(last) + 1)
        hits = np.append(0.0, np.cumsum(labels[order])[last])
        points = np.append(np.inf, ranked[last])
        value = self._value(hits / yes, 1 - (called - hits) / no, called, yes)
        best = np.flatnonzero(value >= value.max() - ROUNDING)[0]
        return float(points[best])

    def _value(self, sens: Floats, spec: Floats, called: Floats, yes: float) -> Floats:
        """What is as large as can be, at every threshold from the highest down."""
        if self.name == "youden":
            return sens + spec
        if self.name == "f1":
            return np.asarray(2 * sens * yes / (called + yes))
        if self.name == "prevalence":
            return np.asarray(-np.abs(called - yes))
        assert self.target is not None
        reached, other = (sens, spec) if self.name == "sensitivity" else (spec, sens)
        return np.where(reached >= self.target - ROUNDING, other, -1.0)


def _number(text: str) -> float:
    """A number, or nan."""
    try:
        return float(text)
    except ValueError:
        return math.nan

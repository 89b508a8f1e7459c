"""Thresholds that experts set: where a probability becomes a label.

A sample of items, stratified by probability, goes to experts; the majority of them labels each
item (a tie is negative). Two rules turn that into a threshold:

``rise``
    The mean probability (of all items, sampled or not) of the first bin, from below, whose
    share of positives exceeds the mean share of the bins below it by more than `margin`,
    provided that the share of every bin above exceeds the same mean by more than `margin`, too.
    The lowest bin has none below and is never chosen. This is the bin "where the distribution
    of positive labels starts to increase" of CleanPatrick (section 3.4), made exact: the rise
    must last to the top.
``isotonic``
    The smallest sampled probability at which the rising share of positives that fits best
    (isotonic regression: pool adjacent violators, items of equal probability pooled first)
    reaches `share`.

An item is positive when its probability is at least the threshold. The interval comes from
redrawing experts and items within their bins (``experts x items``). The one over experts alone
(``experts``), as published, and the one over items alone (``items``) are beside it: both leave
out a source of doubt, and hold the truth less often.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from equipoise.analyses._expert_answers import asked
from equipoise.analyses._expert_redraws import OVER, panel, redraws
from equipoise.analyses._expert_sample import ExpertSample, sampling_plan
from equipoise.analyses._threshold_rules import (
    REDRAW,
    RULES,
    SLACK,
    Rule,
    Where,
    fitted,
    thresholds,
)
from equipoise.analyses.threshold_sweep import Grid, ThresholdSweep, threshold_sweep
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, Ints, frozen, wrong_type
from equipoise.estimate import Estimate, wilson
from equipoise.evaluation.blocks import HALF
from equipoise.evaluation.given import given_annotations

__all__ = [
    "REDRAW",
    "RULES",
    "ExpertSample",
    "Grid",
    "Rule",
    "Threshold",
    "ThresholdSweep",
    "expert_threshold",
    "sampling_plan",
    "threshold_sweep",
]
ENOUGH = 10  # experts whose redraws are not called few
SELDOM = 0.5  # share of replicates that should choose the same bin


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Threshold:
    """A threshold with its doubt.

    Attributes
    ----------
    value
        The threshold, nan when there is none.
    redrawn
        The threshold in each replicate, by what was redrawn (one of `REDRAW`): all that the
        votes allow.
    rule
        How it was set.
    experts
        Experts who voted on the sample; 0 where votes have no names.
    bin_mean, bin_items, bin_positives
        Per bin: mean probability, items the experts labelled, and positives among them.
    fit_at, fit_share
        What the threshold is read from: for ``isotonic`` the fitted share at each sampled
        probability, for ``rise`` the share that each bin and all above it must exceed.
    notices
        What the user should know.
    """

    value: float
    redrawn: Mapping[str, Floats]
    rule: Rule
    experts: int
    bin_mean: Floats
    bin_items: Ints
    bin_positives: Ints
    fit_at: Floats
    fit_share: Floats
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        bins = ("bin_mean", "bin_items", "bin_positives")
        for name in (*bins, "fit_at", "fit_share"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        kept = {name: frozen(one) for name, one in self.redrawn.items()}
        object.__setattr__(self, "redrawn", MappingProxyType(kept))

    @property
    def replicates(self) -> Floats:
        """The threshold in each replicate of what the rule redraws."""
        return self.redrawn[self.rule.redraw]

    @property
    def interval(self) -> tuple[float, float]:
        """Percentile interval; an end is nan when too many replicates have no threshold."""
        return self._ends(self.rule.redraw)

    @property
    def stays(self) -> float:
        """Share of replicates with the same threshold."""
        return self._same(self.rule.redraw)

    def intervals(self) -> list[dict[str, Any]]:
        """One line per way to redraw: its interval, and how often the threshold stayed."""
        lines = []
        for name, drawn in self.redrawn.items():
            low, high = self._ends(name)
            lines.append(
                {
                    "interval": OVER[name], "low": low, "high": high,
                    "same threshold": self._same(name),
                    "no threshold": float(np.isnan(drawn).mean()),
                    "in the finding": name == self.rule.redraw,
                }
            )  # fmt: skip
        return lines

    def _ends(self, name: str) -> tuple[float, float]:
        return Estimate(self.value, self.redrawn[name], name).interval(self.rule.level)

    def _same(self, name: str) -> float:
        return float(np.isclose(self.redrawn[name], self.value, rtol=0, atol=1e-12).mean())

    def rows(self) -> list[dict[str, Any]]:
        """One line per bin, counted from 1; the interval of the share is Wilson's."""
        columns = zip(self.bin_mean, self.bin_items, self.bin_positives, strict=True)
        lines = []
        for number, (mean, items, positives) in enumerate(columns, 1):
            share, low, high = math.nan, math.nan, math.nan
            if items:
                share = positives / items
                low, high = wilson(float(positives), float(items), self.rule.level)
            lines.append(
                {
                    "bin": number,
                    "mean probability": float(mean),
                    "items": int(items),
                    "positives": int(positives),
                    "share of positives": float(share),
                    "low": low,
                    "high": high,
                }
            )
        return lines

    def chosen(self) -> list[dict[str, Any]]:
        """Every threshold that the replicates set, from below, and how often; nan is none."""
        known = np.round(self.replicates, 12)
        values, times = np.unique(known, return_counts=True)
        shares = times / len(known)
        return [
            {"threshold": float(v), "share": float(n)}
            for v, n in zip(values, shares, strict=True)
        ]

    @property
    def finding(self) -> str:
        """The threshold as a sentence."""
        if math.isnan(self.value):
            return f"The experts' labels set no threshold: {self._why()}."
        low, high = ("undefined" if math.isnan(x) else f"{x:.3f}" for x in self.interval)
        return (
            f"Experts call an item positive from a probability of {self.value:.3f} "
            f"[{low}, {high}]. {REDRAW[self.rule.redraw]}, and the threshold stayed the same "
            f"in {self.stays:.0%} of {len(self.replicates):,} replicates.{self._doubt()}"
        )

    @property
    def bin_number(self) -> int | None:
        """Which bin, counted from 1, the rule ``rise`` chose."""
        if self.rule.name != "rise" or math.isnan(self.value):
            return None
        share = self.bin_positives / np.maximum(self.bin_items, 1)
        share = np.where(self.bin_items > 0, share, np.inf)
        above = np.minimum.accumulate(share[::-1])[::-1]
        same = np.isclose(self.bin_mean, self.value, rtol=0, atol=1e-12)
        return int(np.argmax(same & (above > self.fit_share + SLACK))) + 1

    def _doubt(self) -> str:
        """Say so where redraws do not bear the threshold out."""
        low, high = self.interval
        if math.isnan(low) or math.isnan(high):
            return " It is not well determined: too many replicates set no threshold."
        seldom = self.rule.name == "rise" and self.stays < SELDOM
        side = "lower" if self.value <= low else "upper" if self.value >= high else ""
        reasons = []
        if side and low < high:
            reasons.append(f"it lies at the {side} end of its interval")
        if seldom:
            reasons.append("most replicates choose another bin")
        return f" It is not well determined: {', and '.join(reasons)}." if reasons else ""

    def _why(self) -> str:
        """Say why there is no threshold."""
        if self.rule.name == "isotonic":
            return f"the share of positives never reaches {self.rule.share:g}"
        if (self.bin_items > 0).sum() < 2:
            return "with one bin there is nothing below it to rise from"
        return f"the share of positives does not rise by {self.rule.margin:g} and stay there"


def expert_threshold(
    plan: ExpertSample, votes: Annotations, rule: Rule | None = None
) -> Threshold:
    """Set a threshold by experts' votes on a sample.

    Parameters
    ----------
    plan
        The sample, from `sampling_plan`.
    votes
        The experts' yes/no votes; votes on other items are left aside and said so.
    rule
        How the threshold is set, and what is redrawn for its interval.
    """
    how = Rule() if rule is None else rule
    if not isinstance(how, Rule):
        raise wrong_type("threshold, rule", rule, "a Rule", "try Rule('isotonic')")
    if not isinstance(plan, ExpertSample):
        raise wrong_type("experts' sample", plan, "a sample", "draw one with sampling_plan")
    question, notices = asked(plan, given_annotations(votes))
    row = {name: number for number, name in enumerate(plan.items)}
    place = np.array([row[name] for name in question.items])
    where: Where = (plan.bin[place], plan.probability[place])
    hard = (question.shares[0] > HALF).astype(np.float64)
    once = np.ones((len(hard), 1))
    value = thresholds(how.parameter, where, hard[:, None], once, plan)[0]
    experts = panel(question, votes)
    redrawn = {
        name: thresholds(how.parameter, where, labels, counts, plan)
        for name, labels, counts in redraws(question, experts, where[0], how)
    }
    fit_at, fit_share = fitted(how.parameter, where, hard, plan)
    number = len(plan.bin_mean)
    return Threshold(
        value=float(value),
        redrawn=redrawn,
        rule=how,
        experts=len(experts),
        bin_mean=plan.bin_mean,
        bin_items=np.bincount(where[0], minlength=number),
        bin_positives=np.bincount(where[0], hard, number).astype(np.int64),
        fit_at=fit_at,
        fit_share=fit_share,
        notices=(*notices, *_few(len(experts), how), *_undefined(redrawn[how.redraw])),
    )


def _few(number: int, how: Rule) -> list[str]:
    """Warn of an interval from a handful of experts."""
    if not how.redraw.startswith("experts") or number >= ENOUGH:
        return []
    return [
        f"The interval of the threshold redraws {number} experts: as a statement about other "
        "experts it is too narrow."
    ]


def _undefined(replicates: Floats) -> list[str]:
    """How often no threshold was set."""
    share = float(np.isnan(replicates).mean())
    if share == 0:
        return []
    return [
        f"In {share:.1%} of the replicates no threshold is set; they count against both ends "
        "of the interval."
    ]

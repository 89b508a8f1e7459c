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
redrawing experts (``experts``), items within their bins (``items``), or both.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints, frozen, wrong_type
from equipoise.estimate import Estimate, wilson
from equipoise.evaluation.blocks import HALF
from equipoise.evaluation.given import given_annotations
from equipoise.evaluation.questions import Question, questions
from equipoise.evaluation.redraw import PanelDraw
from equipoise.resampling import resample
from equipoise.stability._expert_sample import ExpertSample, sampling_plan
from equipoise.stability._threshold_rules import (
    REDRAW,
    RULES,
    Rule,
    Where,
    fitted,
    thresholds,
)
from equipoise.stability.threshold_sweep import Grid, ThresholdSweep, threshold_sweep

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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Threshold:
    """A threshold with its doubt.

    Attributes
    ----------
    value, replicates
        The threshold, nan when there is none, and the same in each replicate.
    rule
        How it was set.
    bin_mean, bin_items, bin_positives
        Per bin: mean probability, items the experts labelled, and positives among them.
    fit_at, fit_share
        What the threshold is read from: for ``isotonic`` the fitted share at each sampled
        probability, for ``rise`` the share that each bin and all above it must exceed.
    notices
        What the user should know.
    """

    value: float
    replicates: Floats
    rule: Rule
    bin_mean: Floats
    bin_items: Ints
    bin_positives: Ints
    fit_at: Floats
    fit_share: Floats
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        bins = ("bin_mean", "bin_items", "bin_positives")
        for name in ("replicates", *bins, "fit_at", "fit_share"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def interval(self) -> tuple[float, float]:
        """Percentile interval; an end is nan when too many replicates have no threshold."""
        return Estimate(self.value, self.replicates, "experts").interval(self.rule.level)

    @property
    def stays(self) -> float:
        """Share of replicates with the same threshold."""
        return float(np.isclose(self.replicates, self.value, rtol=0, atol=1e-12).mean())

    def rows(self) -> list[dict[str, Any]]:
        """One line per bin; the interval of the share is Wilson's."""
        columns = zip(self.bin_mean, self.bin_items, self.bin_positives, strict=True)
        lines = []
        for number, (mean, items, positives) in enumerate(columns):
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
            f"in {self.stays:.0%} of {len(self.replicates):,} replicates."
        )

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
    how = rule or Rule()
    if not isinstance(plan, ExpertSample):
        raise wrong_type("experts' sample", plan, "a sample", "draw one with sampling_plan")
    question, notices = _asked(plan, given_annotations(votes))
    row = {name: number for number, name in enumerate(plan.items)}
    place = np.array([row[name] for name in question.items])
    where: Where = (plan.bin[place], plan.probability[place])
    hard = (question.shares[0] > HALF).astype(np.float64)
    once = np.ones((len(hard), 1))
    value = thresholds(how.parameter, where, hard[:, None], once, plan)[0]
    labels, counts = _redrawn(question, votes, where[0], how)
    replicates = thresholds(how.parameter, where, labels, counts, plan)
    fit_at, fit_share = fitted(how.parameter, where, hard, plan)
    number = len(plan.bin_mean)
    return Threshold(
        value=float(value),
        replicates=replicates,
        rule=how,
        bin_mean=plan.bin_mean,
        bin_items=np.bincount(where[0], minlength=number),
        bin_positives=np.bincount(where[0], hard, number).astype(np.int64),
        fit_at=fit_at,
        fit_share=fit_share,
        notices=(*notices, *_few(votes, how), *_undefined(replicates)),
    )


def _few(votes: Annotations, how: Rule) -> list[str]:
    """Warn of an interval from a handful of experts."""
    number = len(votes.annotators or ())
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


def _asked(plan: ExpertSample, votes: Annotations) -> tuple[Question, tuple[str, ...]]:
    """The experts' question on the items of the sample."""
    question = questions(votes)[0]
    if len(votes.tasks) > 1 or len(question.classes) > 1:
        raise InputError(
            "experts' votes", f"{len(votes.tasks)} tasks, classes {votes.classes}",
            "one yes/no question",
            "ask about one class: --positive CLASS, in Python Annotations.against",
        )  # fmt: skip
    known = set(plan.items)
    keep = np.array([name in known for name in question.items])
    if not keep.any():
        raise InputError(
            "experts' votes", "no item of the sample", "votes on the items of the plan",
            "check the ids",
        )  # fmt: skip
    outside, missing = int((~keep).sum()), len(plan.items) - int(keep.sum())
    notices = []
    if outside:
        doubt = " (was it drawn with other bins, another seed?)" if missing else ""
        notices.append(f"Left aside votes on {outside:,} items outside the sample{doubt}.")
    if missing:
        notices.append(f"{missing:,} items of the sample have no expert vote yet.")
    return question.kept(keep), tuple(notices)


def _redrawn(
    question: Question, votes: Annotations, bins: Ints, how: Rule
) -> tuple[Floats, Floats]:
    """Hard labels and counts of the items in every replicate, (items, replicates) both."""
    width = how.replicates
    labels = np.repeat((question.shares[0] > HALF).astype(np.float64)[:, None], width, axis=1)
    counts = np.ones(labels.shape)
    if how.redraw.startswith("experts"):
        plan = resample(votes, "panel", replicates=width, seed=how.seed)
        assert question.votes is not None
        draw = PanelDraw.prepare(question.votes, question.masses, plan.annotators)
        shares, present = draw.shares(plan.annotator_counts(0, width))
        labels, counts = (shares[0] > HALF).astype(np.float64), present.astype(np.float64)
    if how.redraw.endswith("items"):
        random = np.random.default_rng(how.seed)
        for number in np.unique(bins):
            rows = np.flatnonzero(bins == number)
            even = np.full(len(rows), 1 / len(rows))
            counts[rows] *= random.multinomial(len(rows), even, width).T
    return labels, counts

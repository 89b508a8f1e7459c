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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints, PerItem, choice, frozen
from equipoise.estimate import Estimate
from equipoise.evaluation.blocks import HALF
from equipoise.evaluation.questions import Question, questions
from equipoise.evaluation.redraw import PanelDraw
from equipoise.resampling import resample
from equipoise.stability._expert_sample import ExpertSample, sampling_plan
from equipoise.stability.threshold_sweep import Grid, ThresholdSweep, threshold_sweep

__all__ = [
    "ExpertSample",
    "Grid",
    "Rule",
    "Threshold",
    "ThresholdSweep",
    "expert_threshold",
    "sampling_plan",
    "threshold_sweep",
]
RULES = ("rise", "isotonic")
REDRAW: Mapping[str, str] = {
    "experts": "Experts were redrawn",
    "items": "Items were redrawn within their bins",
    "experts x items": "Experts, and items within their bins, were redrawn",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """How a threshold is set, and how its doubt is measured.

    Attributes
    ----------
    name
        ``rise`` or ``isotonic``.
    margin, share
        The parameter of each; see above.
    redraw, replicates, seed, level
        What is redrawn, how often and from which seed, and the level of the interval.
    """

    name: str = "rise"
    margin: float = 0.1
    share: float = 0.5
    redraw: str = "experts"
    replicates: int = 1000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        choice("threshold, rule", self.name, RULES)
        choice("threshold, redraw", self.redraw, tuple(REDRAW))
        shares = (self.margin, self.share, self.level)
        if not (0 <= self.margin < 1 and 0 < self.share <= 1 and 0 < self.level < 1):
            raise InputError(
                "threshold, margin, share and level", f"{shares}", "numbers between 0 and 1",
                "correct them",
            )  # fmt: skip
        if self.replicates < 1 or self.seed < 0:
            raise InputError(
                "threshold", f"{self.replicates} replicates, seed {self.seed}",
                "at least 1, and a seed of at least 0", "1000 is usual",
            )  # fmt: skip


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
    notices
        What the user should know.
    """

    value: float
    replicates: Floats
    rule: Rule
    bin_mean: Floats
    bin_items: Ints
    bin_positives: Ints
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("replicates", "bin_mean", "bin_items", "bin_positives"):
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
        """One line per bin."""
        columns = zip(self.bin_mean, self.bin_items, self.bin_positives, strict=True)
        return [
            {
                "bin": number,
                "mean probability": float(mean),
                "items": int(items),
                "positives": int(positives),
                "share of positives": positives / items if items else math.nan,
            }
            for number, (mean, items, positives) in enumerate(columns)
        ]

    @property
    def finding(self) -> str:
        """The threshold as a sentence."""
        if math.isnan(self.value):
            return "The experts' labels set no threshold: " + (
                "the share of positives does not rise with the probability."
                if self.rule.name == "rise"
                else f"the share of positives never reaches {self.rule.share:g}."
            )
        low, high = ("undefined" if math.isnan(x) else f"{x:.3f}" for x in self.interval)
        return (
            f"Experts call an item positive from a probability of {self.value:.3f} "
            f"[{low}, {high}]. {REDRAW[self.rule.redraw]}, and the threshold stayed the same "
            f"in {self.stays:.0%} of {len(self.replicates):,} replicates."
        )


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
    question, notices = _asked(plan, votes)
    row = {name: number for number, name in enumerate(plan.items)}
    place = np.array([row[name] for name in question.items])
    bins, probability = plan.bin[place], plan.probability[place]
    hard = (question.shares[0] > HALF).astype(np.float64)
    once = np.ones((len(hard), 1))
    value = _thresholds((bins, probability), hard[:, None], once, plan, how)[0]
    labels, counts = _redrawn(question, votes, bins, how)
    replicates = _thresholds((bins, probability), labels, counts, plan, how)
    number = len(plan.bin_mean)
    return Threshold(
        value=float(value),
        replicates=replicates,
        rule=how,
        bin_mean=plan.bin_mean,
        bin_items=np.bincount(bins, minlength=number),
        bin_positives=np.bincount(bins, hard, number).astype(np.int64),
        notices=(*notices, *_undefined(replicates)),
    )


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
            "one yes/no question", "choose a class with against(...)",
        )  # fmt: skip
    known = set(plan.items)
    keep = np.array([name in known for name in question.items])
    if not keep.any():
        raise InputError(
            "experts' votes", "no item of the sample", "votes on the items of the plan",
            "check the ids",
        )  # fmt: skip
    notices = []
    if not keep.all():
        notices.append(f"Left aside votes on {int((~keep).sum()):,} items outside the sample.")
    missing = len(plan.items) - int(keep.sum())
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


def _thresholds(
    where: tuple[Ints, PerItem], labels: Floats, counts: Floats, plan: ExpertSample, how: Rule
) -> Floats:
    """Threshold in each replicate, shape (replicates,)."""
    bins, probability = where
    if how.name == "isotonic":
        pairs = zip(labels.T, counts.T, strict=True)
        return np.array([_crossing(probability, y, n, how.share) for y, n in pairs])
    member = (np.arange(len(plan.bin_mean))[:, None] == bins).astype(np.float64)
    number = member @ counts
    share = np.where(
        number > 0, member @ (labels * counts) / np.maximum(number, 1e-300), np.nan
    )
    return np.array([_rise(one, plan.bin_mean, how.margin) for one in share.T])


def _rise(share: Floats, mean: Floats, margin: float) -> float:
    """Mean probability of the bin where positives start to rise; bins without items pass."""
    known = np.flatnonzero(~np.isnan(share))
    seen = share[known]
    for spot in range(1, len(seen)):
        if (seen[spot:] > seen[:spot].mean() + margin + 1e-12).all():
            return float(mean[known[spot]])
    return math.nan


def _crossing(probability: PerItem, label: Floats, count: Floats, share: float) -> float:
    """Smallest probability whose isotonic share of positives is at least `share`."""
    from scipy.optimize import isotonic_regression

    kept = count > 0
    if not kept.any():
        return math.nan
    values, code = np.unique(probability[kept], return_inverse=True)
    weight = np.bincount(code, count[kept])
    mean = np.bincount(code, count[kept] * label[kept]) / weight
    fitted = isotonic_regression(mean, weights=weight).x
    above = np.flatnonzero(fitted >= share - 1e-12)
    return float(values[above[0]]) if len(above) else math.nan

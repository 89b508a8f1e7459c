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
resampling experts and items within their bins (``experts x items``). The one over experts alone
(``experts``), as published, and the one over items alone (``items``) are beside it: both leave
out a source of uncertainty, and hold the truth less often. Experts are those who voted on an
item of the sample; others are no part of the panel. Resamples of both draw the same panels as
those of experts alone.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from equipoise.analyses._expert_sample import ExpertSample, sampling_plan
from equipoise.analyses.threshold_sweep import Grid, ThresholdSweep, threshold_sweep
from equipoise.annotations import Annotations
from equipoise.arrays import (
    Floats,
    InputError,
    Ints,
    PerItem,
    choice,
    frozen,
    require_number,
    require_whole,
    wrong_type,
)
from equipoise.estimate import Estimate, wilson
from equipoise.evaluation.blocks import HALF
from equipoise.evaluation.redraw import PanelDraw
from equipoise.evaluation.truth import TaskTruth, yes_no_truth
from equipoise.findings import Band, Cell, Column, Finding, Line, Lines, Table, columns, rows_of
from equipoise.notices import Notice
from equipoise.numbers import count, exact_percent, interval, number, percent
from equipoise.resampling import Resampling
from equipoise.wording import joined

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
ENOUGH = 10  # experts whose resamples are not called few
SELDOM = 0.5  # share of replicates that should choose the same bin
SLACK = 1e-12
RULES = ("rise", "isotonic")
BOTH = "experts x items"
REDRAW: Mapping[str, str] = {
    "experts": "Experts were resampled",
    "items": "Items were resampled within their bins",
    BOTH: "Experts, and items within their bins, were resampled",
}
OVER: Mapping[str, str] = {
    "experts": "over experts (as published)",
    "items": "over items",
    BOTH: "over experts and items",
}
RULE_METHODS = {
    "rise": "the mean probability of the first bin, from below, whose share of positives and "
    "that of every bin above it exceed the mean share of the bins below by more than {}",
    "isotonic": "the smallest sampled probability at which an isotonic fit of the experts' "
    "labels reaches {}",
}
RULE_NOTES = {
    "rise": f"The threshold is {RULE_METHODS['rise']}. The lowest bin is never chosen. "
    "Thresholds are means of bins, so the interval moves in steps of one bin.",
    "isotonic": "The threshold is the smallest sampled probability at which the rising share "
    "of positives that fits best (isotonic regression) reaches {}.",
}
SAMPLE_NOTE = (
    " Items were ordered by probability and cut into bins of equal size; experts saw a random "
    "sample of each. The majority of the experts labels an item, and a tie is negative. "
    "Intervals of the shares are Wilson's. The threshold's interval resamples {}."
)
FEW_NOTE = (
    " With few experts there are few different panels, so the interval is too narrow as a "
    "statement about other experts."
)
RESAMPLED = {
    "experts": "experts alone, as published, and leaves out which items they happened to see",
    "items": "items within their bins, and leaves out who the experts are",
    BOTH: "experts, and items within their bins; the one over experts alone, as published, "
    "leaves out which items they happened to see and holds the truth less often",
}
RESAMPLED_METHODS = {
    "experts": "experts",
    "items": "items within their bins",
    BOTH: "experts and of items within their bins",
}
OFTEN = Column("share", "share of resamples", "percent")
FIT_NAMES = {"rise": "share to exceed", "isotonic": "rising share that fits best"}


@dataclass(frozen=True, slots=True)
class Rule:
    """How a threshold is set, and how its uncertainty is measured.

    Attributes
    ----------
    name
        ``rise`` or ``isotonic``.
    margin, share
        The parameter of each; see above.
    redraw, replicates, seed, level
        What is resampled for the interval of the finding, how often and from which seed, and
        the level of the interval.
    """

    name: str = "rise"
    margin: float = 0.1
    share: float = 0.5
    redraw: str = BOTH
    replicates: int = 1000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        choice("threshold, rule", self.name, RULES)
        choice("threshold, redraw", self.redraw, tuple(REDRAW))
        for name, usual in (("margin", "0.1"), ("share", "0.5")):
            where, value = f"threshold, {name}", getattr(self, name)
            if not 0 <= require_number(where, value, do=f"{usual} is usual") <= 1:
                raise InputError(
                    where, f"{value!r}", "a number between 0 and 1", f"{usual} is usual"
                )
        require_number("threshold, level", self.level, above=0, below=1, do="try 0.95")
        require_whole("threshold, replicates", self.replicates, least=1, do="1000 is usual")
        require_whole("threshold, seed", self.seed, do="try 0")

    @property
    def parameter(self) -> float:
        """The number that the rule has."""
        return self.share if self.name == "isotonic" else self.margin


class _Labelled(NamedTuple):
    """Items that experts labelled: their bins and probabilities, and the mean of every bin."""

    bins: Ints
    probability: PerItem
    bin_mean: Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Threshold:
    """A threshold with its uncertainty.

    Attributes
    ----------
    value
        The threshold, nan when there is none.
    redrawn
        The threshold in each replicate, by what was resampled (one of `REDRAW`): all that the
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
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        bins = ("bin_mean", "bin_items", "bin_positives")
        for name in (*bins, "fit_at", "fit_share"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        replicates = {name: frozen(one) for name, one in self.redrawn.items()}
        object.__setattr__(self, "redrawn", MappingProxyType(replicates))

    @property
    def replicates(self) -> Floats:
        """The threshold in each replicate of what the rule resamples."""
        return self.redrawn[self.rule.redraw]

    @property
    def interval(self) -> tuple[float, float]:
        """Percentile interval; an end is nan when too many replicates have no threshold."""
        return self._ends(self.rule.redraw)

    @property
    def stays(self) -> float:
        """Share of replicates with the same threshold."""
        return self._same(self.rule.redraw)

    def intervals(self) -> list[dict[str, Cell]]:
        """One line per way to resample: its interval, and how often the threshold stayed."""
        columns = {
            "low": [self._ends(name)[0] for name in self.redrawn],
            "high": [self._ends(name)[1] for name in self.redrawn],
            "same threshold": [self._same(name) for name in self.redrawn],
            "no threshold": [np.isnan(drawn).mean() for drawn in self.redrawn.values()],
            "in the finding": [name == self.rule.redraw for name in self.redrawn],
        }
        names = {"interval": [OVER[name] for name in self.redrawn]}
        return rows_of({}, names, {key: np.array(one) for key, one in columns.items()})

    def _ends(self, name: str) -> tuple[float, float]:
        return Estimate(self.value, self.redrawn[name], name).interval(self.rule.level)

    def _same(self, name: str) -> float:
        return float(np.isclose(self.redrawn[name], self.value, rtol=0, atol=1e-12).mean())

    def rows(self) -> list[dict[str, Cell]]:
        """One line per bin, counted from 1; the interval of the share is Wilson's."""
        shares = np.full((3, len(self.bin_mean)), math.nan)
        for place in np.flatnonzero(self.bin_items):
            yes, items = float(self.bin_positives[place]), float(self.bin_items[place])
            shares[:, place] = yes / items, *wilson(yes, items, self.rule.level)
        columns = {
            "mean probability": self.bin_mean,
            "items": self.bin_items,
            "positives": self.bin_positives,
            **dict(zip(("share of positives", "low", "high"), shares, strict=True)),
        }
        return rows_of({}, {"bin": range(1, len(self.bin_mean) + 1)}, columns)

    def chosen(self) -> list[dict[str, Cell]]:
        """Every threshold that the replicates set, from below, and how often; nan is none."""
        values, times = np.unique(np.round(self.replicates, 12), return_counts=True)
        shares = times / len(self.replicates)
        return rows_of({}, {"threshold": values.tolist()}, {"share": shares})

    @property
    def finding(self) -> str:
        """The threshold as a sentence."""
        if math.isnan(self.value):
            why = f"the share of positives does not rise by {self.rule.margin:g} and stay there"
            if self.rule.name == "isotonic":
                why = f"the share of positives never reaches {self.rule.share:g}"
            elif (self.bin_items > 0).sum() < 2:
                why = "with one bin there is nothing below it to rise from"
            return f"The experts' labels set no threshold: {why}."
        return (
            f"Experts call an item positive from a probability of {number(self.value)} "
            f"{interval(*self.interval)}. {REDRAW[self.rule.redraw]}, and the threshold stayed "
            f"the same in {percent(self.stays)} of {count(len(self.replicates))} "
            f"replicates.{self._uncertain()}"
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

    def _uncertain(self) -> str:
        """Say so where resamples do not bear the threshold out."""
        (low, high), reasons = self.interval, []
        side = "lower" if self.value <= low else "upper" if self.value >= high else ""
        if math.isnan(low) or math.isnan(high):
            reasons.append("too many replicates set no threshold")
        elif side and low < high:
            reasons.append(f"it lies at the {side} end of its interval")
        if self.rule.name == "rise" and self.stays < SELDOM and not math.isnan(low + high):
            reasons.append("most replicates choose another bin")
        return f" It is not well determined: {', and '.join(reasons)}." if reasons else ""

    def report(self) -> Finding:
        """The finding for every surface."""
        rule = self.rule
        note = RULE_NOTES[rule.name].format(f"{rule.parameter:g}")
        note += SAMPLE_NOTE.format(RESAMPLED[rule.redraw])
        names = [name for name in self.redrawn if name != rule.redraw]
        others = joined([f"{OVER[name]} {interval(*self._ends(name))}" for name in names])
        more = f"Other intervals of the threshold: {others}."
        return Finding(
            key="threshold",
            title="From where on is an item positive?",
            sentence=self.finding,
            more=(more,) if names and not math.isnan(self.value) else (),
            tables=self._tables(),
            charts=(self._chart(),),
            note=note + FEW_NOTE * ("experts" in rule.redraw),
            methods=self._methods(),
            references=("groger2025", "efron1993", "wilson1927"),
            notices=self.notices,
        )

    def _tables(self) -> tuple[Table, ...]:
        """The bins, every interval, the thresholds of the resamples, and the threshold."""
        low, high = self.interval
        stays = {"same threshold": self.stays, "bin": self.bin_number}
        seen = {"experts": self.experts, "labelled": int(self.bin_items.sum())}
        whole = {"threshold": self.value, "low": low, "high": high, **stays, **seen}
        set_by = f"Bin {self.bin_number} sets the threshold."
        return (
            Table(
                name="bins",
                caption="Bins of items, from the lowest probability",
                columns=(
                    *(*columns("count", "bin"), *columns("number", "mean probability")),
                    Column("items", "items labelled", "count"),
                    *columns("count", "positives"),
                    Column("share of positives", "share", "number", ("low", "high")),
                ),
                rows=self.rows(),
                legend="" if self.bin_number is None else set_by,
            ),
            Table(
                name="intervals",
                caption="Intervals of the threshold, by what is resampled",
                columns=(
                    *columns("text", "interval"),
                    *(Column("low", "from", "number"), Column("high", "to", "number")),
                    *columns("percent", "same threshold", "no threshold"),
                    Column("in the finding", "in the sentence above"),
                ),
                rows=self.intervals(),
            ),
            Table(
                name="thresholds",
                caption="Threshold in the resamples, and how often it was set",
                columns=(*columns("number", "threshold"), OFTEN),
                rows=self.chosen(),
            ),
            Table(
                name="threshold",
                caption="The threshold",
                columns=(
                    Column("threshold", "threshold", "number", ("low", "high")),
                    Column("same threshold", "same in the resamples", "percent"),
                    *columns("count", "experts"),
                    Column("labelled", "items labelled", "count"),
                ),
                rows=[whole],
                file=False,
            ),
        )

    def _chart(self) -> Lines:
        """Share of positives bin by bin, what the threshold is read from, and the threshold.

        Bins stand side by side, because most probabilities of a screened collection lie near 0
        and would hide each other on an axis of probability; a probability between the means of
        two bins lies between the bins.
        """
        rows = [row for row in self.rows() if row["items"]]
        bins = np.arange(1, len(self.bin_mean) + 1)

        def place(probability: float) -> float:
            return float(np.interp(probability, self.bin_mean, bins))

        keys = ("bin", "share of positives", "low", "high")
        known = [tuple(float(str(row[key])) for key in keys) for row in rows]
        fit = [
            (place(x), float(y))
            for x, y in zip(self.fit_at, self.fit_share, strict=True)
            if math.isfinite(y)
        ]
        marks = [(place(end), "") for end in self.interval if math.isfinite(end)]
        if math.isfinite(self.value):
            marks.append((place(self.value), f"threshold {number(self.value)}"))
        ends = ", and the ends of its interval" if len(marks) > 2 else ""
        step = max(1, -(-len(bins) // 6))
        return Lines(
            name="threshold-bins",
            caption="Positives by the experts' majority in each bin, with intervals; upright "
            f"line: the threshold{ends}",
            x="mean probability of the bin",
            y="share of positives",
            lines=(
                Line(
                    "share of positives",
                    [(at, share) for at, share, *_ in known],
                    band=Band([(at, low, high) for at, _, low, high in known]),
                ),
                Line(FIT_NAMES[self.rule.name], steps(fit), dots=False, dashed=True),
            ),
            ticks=[
                (float(k), number(float(self.bin_mean[k - 1]), 2)) for k in bins[::-1][::step]
            ][::-1],
            marks=marks,
            y_range=(0.0, 1.0),
        )

    def _methods(self) -> str:
        """How the threshold was set, for a paper."""
        rule, labelled = self.rule, int(self.bin_items.sum())
        who = count(self.experts, "expert") if self.experts else "Experts"
        set_by = RULE_METHODS[rule.name].format(f"{rule.parameter:g}")
        start = (
            f"{who} labelled {count(labelled)} of them, by majority, a tie being negative "
            f"[@groger2025]. The threshold is {set_by}."
        )
        if math.isnan(self.value):
            return f"{start} The experts' labels set no threshold."
        drawn = (
            f"{count(rule.replicates)} bootstrap resamples of "
            f"{RESAMPLED_METHODS[rule.redraw]} (seed {rule.seed}) [@efron1993]"
        )
        low, high = self.interval
        rest = f"; too many of {drawn} set none for an interval."
        if not math.isnan(low + high):
            ends = f"{number(low)} to {number(high)}"
            level = exact_percent(rule.level)
            rest = f" ({level} percentile interval {ends}, from {drawn})."
        return f"{start} It was {number(self.value)}{rest}"


def steps(
    points: Sequence[tuple[float, float]], *, before: bool = False
) -> list[tuple[float, float]]:
    """Points of a line that holds its value up to the next place, or from the one before.

    Examples
    --------
    >>> steps([(1, 0), (2, 5)]), steps([(1, 0), (2, 5)], before=True)
    ([(1, 0), (2, 0), (2, 5)], [(1, 0), (1, 5), (2, 5)])
    """
    made = list(points[:1])
    for (x, y), (later, other) in pairwise(points):
        made += [(x, other) if before else (later, y), (later, other)]
    return made


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
        How the threshold is set, and what is resampled for its interval.
    """
    how = Rule() if rule is None else rule
    if not isinstance(how, Rule):
        raise wrong_type("threshold, rule", rule, "a Rule", "try Rule('isotonic')")
    if not isinstance(plan, ExpertSample):
        raise wrong_type("experts' sample", plan, "a sample", "draw one with sampling_plan")
    question, notices = _answers(plan, votes)
    row = {name: place for place, name in enumerate(plan.items)}
    rows = np.array([row[name] for name in question.items])
    where = _Labelled(plan.bin[rows], plan.probability[rows], plan.bin_mean)
    hard = (question.shares[0] > HALF).astype(np.float64)
    value = _thresholds(how, where, hard[:, None], np.ones((len(hard), 1)))[0]
    experts = np.empty(0, dtype=np.int64)  # none where votes are anonymous
    if question.votes is not None and votes.annotators is not None:
        experts = np.unique(question.votes.annotator)
        experts = experts[experts >= 0]
    redrawn = {
        name: _thresholds(how, where, labels, counts)
        for name, labels, counts in _resamples(question, experts, where.bins, how)
    }
    fit_at, fit_share = _fitted(how, where, hard)
    bins = len(plan.bin_mean)
    return Threshold(
        value=float(value),
        redrawn=redrawn,
        rule=how,
        experts=len(experts),
        bin_mean=plan.bin_mean,
        bin_items=np.bincount(where.bins, minlength=bins),
        bin_positives=np.bincount(where.bins, hard, bins).astype(np.int64),
        fit_at=fit_at,
        fit_share=fit_share,
        notices=(*notices, *_doubts(len(experts), how.redraw, redrawn[how.redraw])),
    )


def _doubts(experts: int, redraw: str, replicates: Floats) -> Iterator[Notice]:
    """Warn of an interval from a handful of experts, and of resamples without a threshold."""
    share = float(np.isnan(replicates).mean())
    if redraw != "items" and experts < ENOUGH:
        yield Notice(
            "few_experts",
            "The interval of the threshold resamples {experts:count} experts: as a statement "
            "about other experts it is too narrow.",
            values={"experts": experts},
        )
    if share > 0:
        yield Notice(
            "no_threshold",
            "In {share:percent} of the replicates no threshold is set; they count against both "
            "ends of the interval.",
            values={"share": share},
        )


def _answers(plan: ExpertSample, votes: Annotations) -> tuple[TaskTruth, list[Notice]]:
    """The experts' question on the items of the sample."""
    question, known = yes_no_truth(votes, "experts' votes"), set(plan.items)
    inside = np.array([name in known for name in question.items])
    if not inside.any():
        expected = "votes on the items of the plan"
        raise InputError("experts' votes", "no item of the sample", expected, "check the ids")
    outside, missing = int((~inside).sum()), len(plan.items) - int(inside.sum())
    notices = []
    if outside:
        why = " (was it drawn with other bins, another seed?)" if missing else ""
        text = f"Left aside votes on {{items:count}} items outside the sample{why}."
        notices.append(Notice("outside_sample", text, values={"items": outside}))
    if missing:
        text = "{items:count} items of the sample have no expert vote yet."
        notices.append(Notice("no_answer_yet", text, values={"items": missing}))
    return question.kept(inside), notices


def _resamples(
    question: TaskTruth, experts: Ints, bins: Ints, how: Rule
) -> Iterator[tuple[str, Floats, Floats]]:
    """Every possible way to resample: its name, labels and counts, (items, replicates) both.

    Counts say how often an item stands in a replicate: not at all where none of its experts
    was drawn.
    """
    if len(experts) < 2 and how.redraw != "items":
        got = f"{len(experts)} expert with votes on the sample" if len(experts) else "no names"
        where, expected = f"threshold, redraw {how.redraw}", "at least two annotators with ids"
        raise InputError(where, got, expected, "add experts, or redraw items alone")
    hard = (question.shares[0] > HALF).astype(np.float64)
    fixed = np.repeat(hard[:, None], how.replicates, axis=1)
    random, times = np.random.default_rng(how.seed), np.ones((len(bins), how.replicates))
    for each in np.unique(bins):
        rows = np.flatnonzero(bins == each)
        even = np.full(len(rows), 1 / len(rows))
        times[rows] = random.multinomial(len(rows), even, how.replicates).T
    if len(experts) > 1:
        labels, present = _panel_labels(question, experts, how)
        yield "experts", labels, present
    yield "items", fixed, times
    if len(experts) > 1:
        yield BOTH, labels, present * times


def _panel_labels(question: TaskTruth, experts: Ints, how: Rule) -> tuple[Floats, Floats]:
    """Majorities of resampled panels, and whether an item has an expert in them."""
    assert question.votes is not None
    plan = Resampling(
        kind="panel",
        items=question.items,
        replicates=how.replicates,
        seed=how.seed,
        annotators=len(experts),
    )
    counts = np.zeros((int(experts.max()) + 1, how.replicates), dtype=np.uint8)
    counts[experts] = plan.annotator_counts(0, how.replicates)
    draw = PanelDraw.prepare(question.votes, question.masses, len(counts))
    shares, present = draw.shares(counts)
    return (shares[0] > HALF).astype(np.float64), present.astype(np.float64)


def _thresholds(how: Rule, where: _Labelled, labels: Floats, counts: Floats) -> Floats:
    """Threshold in each replicate, shape (replicates,).

    Parameters
    ----------
    labels, counts
        Hard labels, and how often each item counts, shape (items, replicates) both.
    """
    if how.name == "isotonic":
        pairs = zip(labels.T, counts.T, strict=True)
        return np.array([crossing(where.probability, y, n, how.share) for y, n in pairs])
    return rises(_bin_shares(where, labels, counts), where.bin_mean, how.margin)


def _fitted(how: Rule, where: _Labelled, label: Floats) -> tuple[Floats, Floats]:
    """What the threshold is read from: probabilities and shares, rising in probability.

    For ``isotonic`` the fitted share at each sampled probability; for ``rise`` the share that
    each bin and all above it must exceed, nan for the lowest bin.
    """
    once = np.ones(len(label))
    if how.name == "isotonic":
        return isotonic(where.probability, label, once)
    share = _bin_shares(where, label[:, None], once[:, None])[:, 0]
    known = ~np.isnan(share)
    below = np.full(len(share), np.nan)
    seen = share[known]
    if len(seen):
        means = np.cumsum(seen)[:-1] / np.arange(1, len(seen))
        below[np.flatnonzero(known)[1:]] = means + how.margin
    return where.bin_mean, below


def _bin_shares(where: _Labelled, labels: Floats, counts: Floats) -> Floats:
    """Share of positives, shape (bins, replicates); nan in a bin without items."""
    member = (np.arange(len(where.bin_mean))[:, None] == where.bins).astype(np.float64)
    size = member @ counts
    return np.where(size > 0, member @ (labels * counts) / np.maximum(size, 1e-300), np.nan)


def rises(shares: Floats, mean: Floats, margin: float) -> Floats:
    """Mean probability of the bin where positives start to rise, in each replicate.

    `shares` has the shape (bins, replicates); bins without items (nan) are passed over.

    Examples
    --------
    >>> rises(np.array([[0.0], [0.05], [0.4], [0.9]]), np.array([0.1, 0.3, 0.5, 0.7]), 0.1)
    array([0.5])
    """
    known = ~np.isnan(shares)
    number = np.cumsum(known, axis=0) - known
    whole = np.where(known, shares, 0.0)
    below = (np.cumsum(whole, axis=0) - whole) / np.maximum(number, 1)
    above = np.minimum.accumulate(np.where(known, shares, np.inf)[::-1], axis=0)[::-1]
    risen = known & (number > 0) & (above > below + margin + SLACK)
    return np.where(risen.any(axis=0), mean[np.argmax(risen, axis=0)], np.nan)


def isotonic(probability: PerItem, label: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Distinct probabilities, and the rising share of positives that fits best at each.

    Examples
    --------
    >>> isotonic(np.array([0.1, 0.2, 0.3]), np.array([1.0, 0, 1]), np.ones(3))[1]
    array([0.5, 0.5, 1. ])
    """
    from scipy.optimize import isotonic_regression

    present = times > 0
    if not present.any():
        return np.empty(0), np.empty(0)
    values, code = np.unique(probability[present], return_inverse=True)
    weight = np.bincount(code, times[present])
    mean = np.bincount(code, times[present] * label[present]) / weight
    return values, np.asarray(isotonic_regression(mean, weights=weight).x)


def crossing(probability: PerItem, label: Floats, times: Floats, share: float) -> float:
    """Smallest probability whose isotonic share of positives is at least `share`."""
    values, found = isotonic(probability, label, times)
    above = np.flatnonzero(found >= share - SLACK)
    return float(values[above[0]]) if len(above) else math.nan

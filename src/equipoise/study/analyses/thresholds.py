"""Thresholds that experts set: where a probability becomes a label.

A sample of items, stratified by probability, goes to experts; the majority of them labels each
item (a tie counts as half). Two rules turn that into a threshold:

``isotonic``, the default
    The smallest sampled probability at which the rising share of positives that fits best
    (isotonic regression: pool adjacent violators, items of equal probability pooled first)
    reaches `share`.
``rise``, when asked for by name
    The mean probability (of all items, sampled or not) of the first bin, from below, whose
    share of positives exceeds the mean share of the bins below it by more than `margin`,
    provided that the share of every bin above exceeds the same mean by more than `margin`, too.
    The lowest bin has none below and is never chosen. This is the bin "where the distribution
    of positive labels starts to increase" of CleanPatrick (section 3.4), made exact: the rise
    must last to the top. Its interval holds the truth in 72 to 87 % of simulated studies where
    95 % are promised (isotonic: 91 to 98 %), and few experts set it too low.

An item is positive when its probability is at least the threshold. The interval resamples
experts, and items within their bins; where votes have no names, or those of one expert, items
alone. Experts are those who voted on an item of the sample; others are no part of the panel.

*The sample.* Items are ordered by probability and cut into bins of as equal size as possible
(quantiles); from every bin the same number is drawn without replacement, or all items of a bin
that has fewer. Items of equal probability are ordered by a hash of the seed and their names: at
random, but the same whatever the order of the rows.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from equipoise.inference.estimate import Estimate, wilson
from equipoise.inference.resampling import Resampling
from equipoise.study.analyses.scoring import freeze
from equipoise.study.blocks import HALF
from equipoise.study.truth import PanelDraw, TaskTruth, yes_no_truth
from equipoise.types import (
    Annotations,
    Cell,
    Column,
    Finding,
    Floats,
    InputError,
    Ints,
    Line,
    Lines,
    Names,
    Notice,
    Notices,
    PerItem,
    Table,
    choice,
    columns,
    count,
    csv_text,
    estimate,
    exact_percent,
    frozen,
    immutable,
    number,
    positions,
    ratio,
    require_drawn,
    require_finite,
    require_number,
    require_unique,
    require_whole,
    rows_of,
    short_repr,
    wrong_type,
)

ANSWER = "label"  # the column that experts fill in
TIE = 1e-12
TIED = 0.5  # label of an item that as many experts call positive as not


@immutable(eq=False)
class ExpertSample:
    """Items for experts, bin by bin.

    Attributes
    ----------
    items, bin, probability
        Names, bins counted from 0 (lowest probabilities) and probabilities of the sample.
    bin_mean, bin_size
        Mean probability and number of all items of each bin, sampled or not.
    notices
        What the user should know: bins that are short, and ties across their ends.
    seed
        Where the sample was drawn from.
    """

    items: Names
    bin: Ints
    probability: PerItem
    bin_mean: Floats
    bin_size: Ints
    notices: Notices = field(default=(), kw_only=True)
    seed: int = field(default=0, kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ("bin", "probability", "bin_mean", "bin_size"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def rows(self) -> list[dict[str, Cell]]:
        """One line per item, in the order of the bins; bins are counted from 1 here."""
        columns_of = {"bin": self.bin + 1, "probability": self.probability}
        return rows_of({}, {"item": self.items}, columns_of)

    def bin_rows(self) -> list[dict[str, Cell]]:
        """One line per bin, counted from 1: its items, and those in the sample."""
        bins = range(1, len(self.bin_size) + 1)
        drawn = np.bincount(self.bin, minlength=len(bins))
        columns_of = {
            "mean probability": self.bin_mean,
            "items": self.bin_size,
            "sampled": drawn,
        }
        return rows_of({}, {"bin": bins}, columns_of)

    @property
    def finding(self) -> str:
        """What the sample is, as a sentence."""
        bins = len(self.bin_size)
        items = f"{count(len(self.items))} of {count(int(self.bin_size.sum()))} items"
        if bins == 1:
            return f"{items} go to the experts, drawn from all at random."
        return (
            f"{items} go to the experts, from {bins} bins of probability between "
            f"{number(float(self.bin_mean[0]))} and {number(float(self.bin_mean[-1]))} on "
            "average."
        )

    def report(self) -> Finding:
        """The finding for every surface."""
        return Finding(
            key="sample",
            title="Which items should experts see?",
            sentence=self.finding,
            tables=(
                Table(
                    name="sample_bins",
                    caption="Bins of items, from the lowest probability",
                    columns=(
                        *(*columns("count", "bin"), *columns("number", "mean probability")),
                        *columns("count", "items"),
                        Column("sampled", "in the sample", "count"),
                    ),
                    rows=self.bin_rows(),
                    brief=self.bin_rows(),
                ),
                Table(
                    name="sample_items",
                    caption="Items of the sample",
                    columns=(
                        *(*columns("text", "item"), *columns("count", "bin")),
                        *columns("number", "probability"),
                    ),
                    rows=self.rows(),
                    brief=(),
                ),
            ),
            methods=f"We ordered {count(int(self.bin_size.sum()), 'item')} by probability, cut "
            f"them into {count(len(self.bin_size), 'bin')} of equal size and drew items from "
            f"each at random (seed {self.seed})",
            references=("groger2025",),
            notices=self.notices,
        )

    def text(self, *, task: str | None = None) -> str:
        """Items as comma-separated text, with an empty column for the answer.

        They are shuffled, so that nothing tells experts what is expected of them.

        Parameters
        ----------
        task
            Name of the question, as a column of its own; none without it.
        """
        order = np.random.default_rng([self.seed, 1]).permutation(len(self.items))
        question = {"task": task} if task else {}
        cells = ([self.items[k], *question.values(), ""] for k in order)
        return csv_text(["item", *question, ANSWER], cells)


def sampling_plan(
    probabilities: Any, items: Sequence[str], bins: int = 20, per_bin: int = 20, seed: int = 0
) -> ExpertSample:
    """Draw a quantile-stratified sample of items for experts.

    Examples
    --------
    >>> plan = sampling_plan(np.linspace(0, 1, 12), [f"i{k}" for k in range(12)], 3, 2)
    >>> plan.bin
    array([0, 0, 1, 1, 2, 2])
    >>> plan.bin_mean
    array([0.136, 0.5  , 0.864])
    """
    values = checked_probabilities(probabilities, items)
    require_drawn("sampling plan, bins", bins, least=1, do="20 are usual")
    require_whole("sampling plan, per_bin", per_bin, least=1, do="20 are usual")
    require_whole("sampling plan, seed", seed, do="try 0")
    if bins > len(values):
        got = f"{bins} bins for {len(values)} items"
        raise InputError("sampling plan", got, "no more bins than items", "choose fewer bins")
    random = np.random.default_rng(seed)
    parts = np.array_split(np.lexsort((_lots(items, seed), values)), bins)
    drawn = [np.sort(random.permutation(len(part))[:per_bin]) for part in parts]
    chosen = np.concatenate([part[rows] for part, rows in zip(parts, drawn, strict=True)])
    return ExpertSample(
        tuple(items[i] for i in chosen),
        np.repeat(np.arange(bins), [len(rows) for rows in drawn]),
        values[chosen],
        np.array([values[part].mean() for part in parts]),
        np.array([len(part) for part in parts]),
        notices=tuple(_notices([values[part] for part in parts], per_bin)),
        seed=seed,
    )


def _lots(items: Sequence[str], seed: int) -> Ints:
    """A number for every item that depends on its name and the seed alone."""
    digests = (
        hashlib.sha256(f"{seed}/{name}".encode("utf-8", "surrogatepass")).digest()[:8]
        for name in items
    )
    return np.frombuffer(b"".join(digests), dtype="<u8")


def _notices(parts: list[PerItem], per_bin: int) -> Iterator[Notice]:
    """Say which bins are short, and where a cut goes through equal probabilities."""
    short = [len(part) for part in parts if len(part) < per_bin]
    if short:
        which = "The bin has" if len(parts) == 1 else "{short:count} of {bins:count} bins have"
        yield Notice(
            "short_bins",
            f"{which} fewer than {{least:count}} items; all of theirs are in the sample.",
            values={"short": len(short), "bins": len(parts), "least": per_bin},
        )
    pairs = list(pairwise(parts))
    tied = sum(bool(above[0] - below[-1] <= TIE) for below, above in pairs)
    if tied:
        yield Notice(
            "tied_bins",
            "{tied:count} of {cuts:count} cuts between bins go through items of equal "
            "probability; a random draw decides which of them lie on which side, and bins of "
            "one probability cannot be told apart by it.",
            values={"tied": tied, "cuts": len(pairs)},
        )


def checked_probabilities(probabilities: Any, items: Sequence[str]) -> PerItem:
    """One probability per item, refused unless they are that."""
    if not isinstance(items, Sequence) or not all(isinstance(item, str) for item in items):
        raise wrong_type("probabilities, items", items, "a list of names", "give their names")
    try:
        values = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "probabilities", "values that are not numbers", "numbers in [0, 1]", "correct them"
        ) from None
    if values.shape != (len(items),) or not len(items):
        got = f"shape {values.shape} for {len(items)} items"
        raise InputError("probabilities", got, "one probability per item", "align them")
    require_unique(items, where="probabilities, items")
    require_finite(values, where="probabilities", names=items)
    outside = np.flatnonzero((values < 0) | (values > 1))
    if len(outside):
        where, got = f"probabilities, item {items[outside[0]]!r}", f"{values[outside[0]]:g}"
        do = "give the probability of the positive class"
        raise InputError(where, got, "a number in [0, 1]", do)
    return values


ENOUGH = 10  # experts whose resamples are not called few
SLACK = 1e-12


class _Words(NamedTuple):
    """How a rule is called: in methods and notes, and where it sets nothing."""

    set_by: str
    nothing: str


RULES = {
    "isotonic": _Words(
        "the smallest sampled probability at which the rising share of positives that fits the "
        "experts' labels best (isotonic regression) reaches {}",
        "the share of positives never reaches {}",
    ),
    "rise": _Words(
        "the mean probability of the first bin, from below, whose share of positives and that "
        "of every bin above it exceed the mean share of the bins below by more than {}",
        "the share of positives does not rise by {} and stay there",
    ),
}
NOTE = (
    "The threshold is {}. Items were ordered by probability and cut into bins of equal size; "
    "experts saw a random sample of each. The majority of the experts labels an item, and a "
    "tie counts as half a positive. Intervals of the shares are Wilson's. The threshold's "
    "interval resamples {}."
)
BOTH, ITEMS = "experts, and items within their bins", "items within their bins"
WEAK = (
    "By the rule rise an interval of 95% holds the truth in 72% to 87% of simulated studies "
    "(isotonic: 91% to 98%), and few experts set the threshold too low."
)
FEW = (
    "The interval of the threshold resamples {experts:count} experts: as a statement about "
    "other experts it is too narrow."
)
ALONE = (
    "The votes are those of one expert, or have no names: the interval of the threshold "
    "resamples items alone, and leaves out that experts differ."
)
SPLIT = "{items:count} of the items have as many votes for as against: half a positive each."
NONE = (
    "In {share:percent} of the replicates no threshold is set; they count against both ends of "
    "the interval."
)


@immutable
class Rule:
    """How a threshold is set, and how its uncertainty is measured.

    Attributes
    ----------
    name
        ``isotonic`` or ``rise``.
    share, margin
        The parameter of each; see above.
    replicates, seed, level
        How often the interval resamples and from which seed, and its level.
    """

    name: str = "isotonic"
    share: float = 0.5
    margin: float = 0.1
    replicates: int = 1000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        choice("threshold, rule", self.name, tuple(RULES))
        for name, usual in (("margin", "0.1"), ("share", "0.5")):
            where, value = f"threshold, {name}", getattr(self, name)
            if not 0 <= require_number(where, value, do=f"{usual} is usual") <= 1:
                raise InputError(
                    where, f"{value!r}", "a number between 0 and 1", f"{usual} is usual"
                )
        require_number("threshold, level", self.level, above=0, below=1, do="try 0.95")
        require_drawn("threshold, replicates", self.replicates, least=1, do="1000 is usual")
        require_whole("threshold, seed", self.seed, do="try 0")

    @property
    def words(self) -> _Words:
        """What is said of it, with the number that it has."""
        parameter = self.share if self.name == "isotonic" else self.margin
        return _Words(*(text.format(f"{parameter:g}") for text in RULES[self.name]))


class _Labelled(NamedTuple):
    """Items that experts labelled: their bins and probabilities, and the mean of every bin."""

    bins: Ints
    probability: PerItem
    bin_mean: Floats


@immutable(eq=False, kw_only=True)
class Threshold:
    """A threshold with its uncertainty.

    Attributes
    ----------
    value, replicates
        The threshold, and in each replicate; nan when there is none.
    rule
        How it was set.
    experts
        Experts who voted on the sample; 0 where votes have no names.
    bin_mean, bin_items, bin_positives
        Per bin: mean probability, items the experts labelled, and positives among them, a
        tie as half of one.
    notices
        What the user should know.
    """

    value: float
    replicates: Floats
    rule: Rule
    experts: int
    bin_mean: Floats
    bin_items: Ints
    bin_positives: Floats
    notices: Notices = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def interval(self) -> tuple[float, float]:
        """Percentile interval; an end is nan when too many replicates have no threshold."""
        return Estimate(self.value, self.replicates, "").interval(self.rule.level)

    def rows(self) -> list[dict[str, Cell]]:
        """One line per bin, counted from 1; the interval of the share is Wilson's."""
        columns = {
            "mean probability": self.bin_mean,
            "items": self.bin_items,
            "positives": self.bin_positives,
            **dict(zip(("share of positives", "low", "high"), self._shares, strict=True)),
        }
        return rows_of({}, {"bin": range(1, len(self.bin_mean) + 1)}, columns)

    @property
    def _shares(self) -> Floats:
        """Share of positives of every bin and its interval, (3, bins); nan without items."""
        shares = np.full((3, len(self.bin_mean)), math.nan)
        for place in np.flatnonzero(self.bin_items):
            yes, items = float(self.bin_positives[place]), float(self.bin_items[place])
            shares[:, place] = yes / items, *wilson(yes, items, self.rule.level)
        return shares

    @property
    def finding(self) -> str:
        """The threshold as a sentence."""
        if math.isnan(self.value):
            why = self.rule.words.nothing
            if self.rule.name == "rise" and (self.bin_items > 0).sum() < 2:
                why = "with one bin there is nothing below it to rise from"
            return f"The experts' labels set no threshold: {why}."
        low, high = self.interval
        unsure = ""
        if math.isnan(low) or math.isnan(high):
            unsure = "; too many replicates set none for an interval"
        elif low < high and not low < self.value < high:
            side = "lower" if self.value <= low else "upper"
            unsure = f"; it lies at the {side} end of its interval and is not well determined"
        written = estimate(self.value, low, high)
        return f"Experts call an item positive from a probability of {written}{unsure}."

    def report(self) -> Finding:
        """The finding for every surface."""
        return Finding(
            key="threshold",
            title="From where on is an item positive?",
            sentence=self.finding,
            tables=self._tables(),
            charts=(self._chart(),),
            note=NOTE.format(self.rule.words.set_by, self._resampled),
            methods=self._methods(),
            references=("groger2025", "efron1993", "wilson1927"),
            notices=self.notices,
        )

    @property
    def _resampled(self) -> str:
        return BOTH if self.experts > 1 else ITEMS

    def _tables(self) -> tuple[Table, ...]:
        """The bins, and the threshold."""
        low, high = self.interval
        seen = {"experts": self.experts, "labelled": int(self.bin_items.sum())}
        whole = {"threshold": self.value, "low": low, "high": high, **seen}
        return (
            Table(
                name="bins",
                caption="Bins of items, from the lowest probability",
                columns=(
                    Column("bin", "bin", "count"),
                    Column("mean probability", "mean probability", "number"),
                    Column("items", "items labelled", "count"),
                    Column("positives", "positives", "count"),
                    Column("share of positives", "share", "number", ("low", "high")),
                ),
                rows=self.rows(),
            ),
            Table(
                name="threshold",
                caption="The threshold",
                columns=(
                    Column("threshold", "threshold", "number", ("low", "high")),
                    Column("experts", "experts", "count"),
                    Column("labelled", "items labelled", "count"),
                ),
                rows=[whole],
            ),
        )

    def _chart(self) -> Lines:
        """Share of positives bin by bin, and the threshold.

        Bins stand side by side, because most probabilities of a screened collection lie near 0
        and would hide each other on an axis of probability; a probability between the means of
        two bins lies between the bins.
        """
        bins = np.arange(1, len(self.bin_mean) + 1)

        def place(probability: float) -> float:
            return float(np.interp(probability, self.bin_mean, bins))

        labelled = np.vstack([bins, self._shares])[:, self.bin_items > 0].T.tolist()
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
                    [(at, share) for at, share, *_ in labelled],
                    band=[(at, low, high) for at, _, low, high in labelled],
                ),
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
        start = (
            f"{who} labelled {count(labelled)} of them, by majority, a tie being half of one "
            f"[@groger2025]. The threshold is {rule.words.set_by}."
        )
        if math.isnan(self.value):
            return f"{start} The experts' labels set no threshold."
        drawn = (
            f"{count(rule.replicates)} bootstrap resamples of "
            f"{self._resampled} (seed {rule.seed}) [@efron1993]"
        )
        low, high = self.interval
        rest = f"; too many of {drawn} set none for an interval."
        if not math.isnan(low + high):
            ends = f"{number(low)} to {number(high)}"
            level = exact_percent(rule.level)
            rest = f" ({level} percentile interval {ends}, from {drawn})."
        return f"{start} It was {number(self.value)}{rest}"


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
        How the threshold is set.
    """
    how = Rule() if rule is None else rule
    if not isinstance(how, Rule):
        raise wrong_type("threshold, rule", rule, "a Rule", "try Rule('isotonic')")
    if not isinstance(plan, ExpertSample):
        raise wrong_type("experts' sample", plan, "a sample", "draw one with sampling_plan")
    question, notices = _answers(plan, votes)
    rows = positions(question.items, plan.items, where="experts' votes")
    where = _Labelled(plan.bin[rows], plan.probability[rows], plan.bin_mean)
    hard = _majority(question.shares[0])
    value = _thresholds(how, where, hard[:, None], np.ones((len(hard), 1)))[0]
    experts = np.empty(0, dtype=np.int64)  # none where votes are anonymous
    if question.votes is not None and votes.annotators is not None:
        experts = np.unique(question.votes.annotator)
        experts = experts[experts >= 0]
    replicates = _thresholds(how, where, *_resampled(question, experts, where.bins, how))
    bins = len(plan.bin_mean)
    return Threshold(
        value=float(value),
        replicates=replicates,
        rule=how,
        experts=len(experts),
        bin_mean=plan.bin_mean,
        bin_items=np.bincount(where.bins, minlength=bins),
        bin_positives=np.bincount(where.bins, hard, bins) * 1.0,
        notices=(
            *notices,
            *_cautions(how, len(experts), replicates, int((hard == TIED).sum())),
        ),
    )


def _majority(shares: Floats) -> Floats:
    """1 where most votes are positive, 0 where few are, `TIED` where as many are.

    Examples
    --------
    >>> _majority(np.array([0.75, 0.5, 0.25])).tolist()
    [1.0, 0.5, 0.0]
    """
    return (shares > HALF) / 2 + (shares >= 1 - HALF) / 2


def _cautions(how: Rule, experts: int, replicates: Floats, tied: int) -> Iterator[Notice]:
    """What was tied; a weak rule, few experts, and resamples without a threshold."""
    if tied:
        yield Notice("tied_experts", SPLIT, values={"items": tied})
    if how.name == "rise":
        yield Notice("rise_rule", WEAK)
    if experts < 2:
        yield Notice("experts_alone", ALONE)
    elif experts < ENOUGH:
        yield Notice("few_experts", FEW, values={"experts": experts})
    share = float(np.isnan(replicates).mean())
    if share > 0:
        yield Notice("no_threshold", NONE, values={"share": share})


def _answers(plan: ExpertSample, votes: Annotations) -> tuple[TaskTruth, list[Notice]]:
    """The experts' question on the items of the sample."""
    question, sampled = yes_no_truth(votes, "experts' votes"), set(plan.items)
    inside = np.array([name in sampled for name in question.items])
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
    return question.subset(inside), notices


def _resampled(
    question: TaskTruth, experts: Ints, bins: Ints, how: Rule
) -> tuple[Floats, Floats]:
    """Labels and counts of the replicates, (items, replicates) both.

    Counts say how often an item stands in a replicate: not at all where none of its experts
    was drawn.
    """
    random, times = np.random.default_rng(how.seed), np.ones((len(bins), how.replicates))
    for bin_code in np.unique(bins):
        rows = np.flatnonzero(bins == bin_code)
        even = np.full(len(rows), 1 / len(rows))
        times[rows] = random.multinomial(len(rows), even, how.replicates).T
    if len(experts) < 2:
        hard = _majority(question.shares[0])
        return np.repeat(hard[:, None], how.replicates, axis=1), times
    labels, present = _panel_labels(question, experts, how)
    return labels, present * times


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
    return _majority(shares[0]), present.astype(np.float64)


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


def _bin_shares(where: _Labelled, labels: Floats, counts: Floats) -> Floats:
    """Share of positives, shape (bins, replicates); nan in a bin without items."""
    member = (np.arange(len(where.bin_mean))[:, None] == where.bins).astype(np.float64)
    size = member @ counts
    return ratio(member @ (labels * counts), size)


def rises(shares: Floats, mean: Floats, margin: float) -> Floats:
    """Mean probability of the bin where positives start to rise, in each replicate.

    `shares` has the shape (bins, replicates); bins without items (nan) are passed over.

    Examples
    --------
    >>> rises(np.array([[0.0], [0.05], [0.4], [0.9]]), np.array([0.1, 0.3, 0.5, 0.7]), 0.1)
    array([0.5])
    """
    labelled = ~np.isnan(shares)
    number = np.cumsum(labelled, axis=0) - labelled
    whole = np.where(labelled, shares, 0.0)
    below = (np.cumsum(whole, axis=0) - whole) / np.maximum(number, 1)
    above = np.minimum.accumulate(np.where(labelled, shares, np.inf)[::-1], axis=0)[::-1]
    risen = labelled & (number > 0) & (above > below + margin + SLACK)
    return np.where(risen.any(axis=0), mean[np.argmax(risen, axis=0)], np.nan)


def _isotonic(probability: PerItem, label: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Distinct probabilities, and the rising share of positives that fits best at each.

    Examples
    --------
    >>> _isotonic(np.array([0.1, 0.2, 0.3]), np.array([1.0, 0, 1]), np.ones(3))[1]
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
    values, fit = _isotonic(probability, label, times)
    above = np.flatnonzero(fit >= share - SLACK)
    return float(values[above[0]]) if len(above) else math.nan

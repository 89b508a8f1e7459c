"""Audits of candidate retrieval: how many positives lie where nobody looked.

A benchmark whose candidates were retrieved by some method may miss positives that this method
does not see. An audit draws n of the N items that were not retrieved (a pool, for example the
top of another method's ranking), without replacement, and labels them; k are positive.

share
    k/n with Wilson's interval. Because the pool is finite, n counts as n (N - 1)/(N - n) trials
    of the same share (finite-population correction): an audit of the whole pool leaves no
    uncertainty. ``finite=False`` leaves the correction out.
missed
    N k/n, between N times the ends of the share, but at least the k that were found and at most
    all that were not found negative. Pools are disjoint; their totals add, and the distances to
    the ends add in squares. Where few positives were found the lower end is too high too often;
    a notice says so.
recall
    found / (found + missed), at the ends of missed.

*Models again, with the audited items.* Three versions of the truth: ``before`` (the items of
the benchmark), ``added`` (audited items count like any other) and ``reweighed`` (each audited
item counts by the inverse of its sampling probability N/n, as an importance weight in the
metric, so that the items stand for the whole pools). Intervals resample the items of the
benchmark and those of every pool separately, or whole groups of items where the annotations
have groups; all versions and models share the draws, so that changes are paired. An item that
is drawn twice is two items, each of its weight.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from equipoise import metrics as catalogue
from equipoise.inference.estimate import Estimate, wilson
from equipoise.inference.ranks import average_ranks, higher_is_better
from equipoise.metrics import named, parsed
from equipoise.study.arguments import as_predictions
from equipoise.study.blocks import majority
from equipoise.study.truth import TaskTruth, yes_no_truth
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    PerItem,
    choice,
    listed,
    require_drawn,
    require_number,
    require_unique,
    require_whole,
    short_repr,
    wrong_type,
)
from equipoise.types.findings import (
    Cell,
    Column,
    Dot,
    Dots,
    Finding,
    Table,
    columns,
    rows_of,
    spanned,
)
from equipoise.types.notices import Notice
from equipoise.types.numbers import change, count, estimate, exact_percent, percent
from equipoise.types.predictions import Predictions
from equipoise.types.words import Option, hint, joined

FEW = 5  # positives below which Wilson's lower end is in doubt
NOTE = (
    "An audit labels some of the items that were not retrieved, drawn at random from a pool. "
    "The share of positives among them has Wilson's interval{}; times the size of the pool it "
    "is the number that was missed there. Pools have no items in common; their numbers add, "
    "and the distances to the ends add in squares. What lies outside of the pools is not "
    "counted. An item is positive when more than half of its votes say so; a tie is negative."
)
FINITE_NOTE = (
    ", narrowed because the pool is finite (an audit of all of it leaves no uncertainty)"
)
TERMS = (
    ("Pool", "Items that were not retrieved and from which the audit was drawn."),
    ("Missed", "Positives in the pools that the retrieval did not find."),
    ("Recall of the retrieval", "Found over found and missed, inside of what was looked at."),
)


class Pool(NamedTuple):
    """A pool of items that were not retrieved, and what an audit of some of them found.

    `ties` are audited items without a strict majority, which count as negative.
    """

    name: str
    audited: int
    positives: int
    size: int
    ties: int = 0


class Missed(NamedTuple):
    """Share and number of positives of a pool, with intervals."""

    pool: str
    audited: int
    positives: int
    size: int
    share: float
    share_low: float
    share_high: float
    missed: float
    missed_low: float
    missed_high: float
    ties: int = 0


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit says about a retrieval.

    Attributes
    ----------
    pools
        One line per pool.
    found
        Positives that the retrieval found.
    missed, recall
        Value, lower and upper end, over all pools.
    level, finite
        Level of the intervals, and whether pools count as finite.
    notices
        What the user should know: pools with few positives, and ties.
    """

    pools: tuple[Missed, ...]
    found: int
    missed: tuple[float, float, float]
    recall: tuple[float, float, float]
    level: float = 0.95
    finite: bool = True
    notices: tuple[Notice, ...] = ()

    __repr__ = short_repr

    def rows(self) -> list[dict[str, Cell]]:
        """One line per pool."""
        return [dict(pool._asdict()) for pool in self.pools]

    @property
    def finding(self) -> str:
        """What the audit says, as a sentence."""
        value, low, high = self.missed
        pools, sure = len(self.pools), f"at {exact_percent(self.level)}"
        where = "the audited pool" if pools == 1 else f"{pools} audited pools"
        audited, positives = _total(self.pools, "audited"), _total(self.pools, "positives")
        if value == 0:
            start = f"None of {count(audited)} audited items is positive; "
            most = f"at most {_tally(high)} of {where} may be (upper end {sure})"
            start += most if high else "none was missed"
        else:
            start = (
                f"About {_tally(value)} positives were missed in {where} ({_tally(low)} to "
                f"{_tally(high)} {sure}), which rests on {count(positives, 'positive')} among "
                f"{count(audited)} audited items"
            )
        if not self.found:
            return f"{start}, and the retrieval found none."
        share, least, most = (percent(share_of_all, 1) for share_of_all in self.recall)
        could = "of those there are"
        if self.recall[1] != self.recall[2]:
            could = f"of those it could have found there ({least} to {most})"
        return f"{start}: the retrieval found {share} {could}."

    def totals(self) -> list[dict[str, Cell]]:
        """What was missed in all, and the recall of the retrieval, with their intervals."""
        ends = np.array([self.missed, self.recall]).T
        numbers = dict(zip(("value", "low", "high"), ends, strict=True))
        return rows_of({}, {"quantity": ["missed", "recall"]}, numbers)

    def report(self) -> Finding:
        """The finding for every surface."""
        sure = exact_percent(self.level)
        recall = estimate(*self.recall, lambda share: percent(share, 1))
        return Finding(
            key="audit",
            title="How many positives lie outside?",
            sentence=self.finding,
            more=(f"Found: {count(self.found)}. Recall of the retrieval: {recall}.",),
            tables=(
                Table(
                    name="pools",
                    caption="Pools, and what was missed in each",
                    columns=(
                        Column("pool", "pool"),
                        Column("size", "items", "count"),
                        Column("audited", "audited", "count"),
                        Column("positives", "positive", "count"),
                        spanned("share"),
                        spanned("missed", kind="count"),
                    ),
                    rows=self.rows(),
                    open=True,
                ),
                Table(
                    name="retrieval",
                    caption="All pools: what was missed, and the recall of the retrieval",
                    columns=(
                        Column("quantity", "quantity"),
                        Column("value", "value", "number", ("low", "high")),
                    ),
                    rows=self.totals(),
                ),
            ),
            charts=(
                Dots(
                    name="audit-pools",
                    caption=f"Share of positives among audited items, with its {sure} interval",
                    axis="share of positives",
                    rows=[
                        Dot(
                            pool.pool,
                            pool.share,
                            pool.share_low,
                            pool.share_high,
                            remark=f"{count(pool.positives)} of {count(pool.audited)}",
                        )
                        for pool in self.pools
                    ],
                    zero=True,
                ),
            ),
            note=NOTE.format(FINITE_NOTE if self.finite else ""),
            methods=self._methods(),
            references=("groger2025", "wilson1927"),
            notices=self.notices,
        )

    def _methods(self) -> str:
        """How the audit was made, for a paper."""
        names = ("audited", "positives", "size", "ties")
        audited, positives, size, ties = (_total(self.pools, name) for name in names)
        finite = " with a finite-population correction" if self.finite else ""
        sentences = [
            f"The retrieval found {count(self.found, 'positive')}. To estimate what it missed, "
            f"{count(audited)} of {count(size)} items that it left out were drawn at random "
            f"from {count(len(self.pools), 'pool')} and labelled [@groger2025]. Shares of "
            f"positives have {exact_percent(self.level)} Wilson intervals{finite} "
            "[@wilson1927].",
            f"{count(positives)} of {count(audited)} audited items were positive.",
        ]
        rare = joined([pool.pool for pool in self.pools if _is_rare(pool)])
        few = f"Where so few are ({rare}), the lower end of the interval is too high too often."
        tied = f"{count(ties)} had no strict majority of votes and count as negative."
        return " ".join([*sentences, *([few] if rare else []), *([tied] if ties else [])])


def _total(pools: "Sequence[Pool | Missed]", name: str) -> int:
    return sum(getattr(pool, name) for pool in pools)


def _tally(items: float) -> str:
    """A number of items that need not be whole.

    Examples
    --------
    >>> _tally(9.58), _tally(3.0), _tally(1234.5)
    ('9.6', '3', '1,234')
    """
    return count(round(items) if items >= 10 else items)


def audit(
    pools: Sequence[Pool], found: int, *, level: float = 0.95, finite: bool = True
) -> Audit:
    """Estimate what a retrieval missed from audited samples of what it left out.

    Parameters
    ----------
    pools
        Disjoint pools with the numbers audited and found positive.
    found
        Positives among what was retrieved.
    level, finite
        Level of the intervals; whether to correct for pools being finite.

    Examples
    --------
    >>> done = audit([Pool("ViT", 150, 26, 5000)], found=4000, finite=False)
    >>> [100 * x for x in done.pools[0][4:7]]
    [17.3, 12.1, 24.2]
    """
    several = isinstance(pools, Sequence) and not isinstance(pools, Pool)
    if not several or not pools or not all(isinstance(pool, Pool) for pool in pools):
        do = "give [Pool(name, audited, positives, size)]"
        raise wrong_type("audit, pools", pools, "a list of at least one Pool", do)
    require_whole("audit, found", found, do="count the positives that were retrieved")
    require_number("audit, level", level, above=0, below=1, do="try 0.95")
    if not isinstance(finite, bool):
        raise wrong_type("audit, finite", finite, "True or False", "say one")
    for pool in pools:
        if not isinstance(pool.name, str):
            raise wrong_type("audit, name of a pool", pool.name, "a name", "give a text")
    require_unique([pool.name for pool in pools], where="audit, pools")
    lines = tuple(_missed(pool, level, finite=finite) for pool in pools)
    total = sum(line.missed for line in lines)
    low = total - math.hypot(*(line.missed - line.missed_low for line in lines))
    high = total + math.hypot(*(line.missed_high - line.missed for line in lines))
    low = max(low, float(sum(pool.positives for pool in pools)))

    def recall(missed: float) -> float:
        return found / (found + missed) if found + missed > 0 else math.nan

    ends = (recall(total), recall(high), recall(low))
    missed = (total, low, high)
    return Audit(lines, found, missed, ends, level, finite, tuple(_notices(pools)))


def _is_rare(pool: "Pool | Missed") -> bool:
    """Whether few positives were found in a part of a pool."""
    return 0 < pool.positives < FEW and pool.audited < pool.size


def _notices(pools: Sequence[Pool]) -> Iterator[Notice]:
    """Warn of the lower end where few positives were found in a part of a pool, and of ties."""
    rare = [pool for pool in pools if _is_rare(pool)]
    if rare:
        seen = [f"{pool.positives} of {count(pool.audited)} in {pool.name!r}" for pool in rare]
        yield Notice(
            "few_positives",
            "Few audited items are positive ({seen}): Wilson's lower end is then too high too "
            "often. Where 5 of 5,000 items are positive and 150 are audited, its 95% interval "
            "holds the truth in 86% of audits; audit more items.",
            values={"seen": joined(seen, most=3)},
        )
    if ties := _total(pools, "ties"):
        yield Notice(
            "tied_audits",
            "{ties:count} of {audited:count} audited items have no strict majority of votes: "
            "they count as negative.",
            values={"ties": ties, "audited": _total(pools, "audited")},
        )


def _missed(pool: Pool, level: float, *, finite: bool) -> Missed:
    name, audited, positives, size, ties = pool
    for what in ("audited", "positives", "size", "ties"):
        where = f"audit, pool {name!r}, {what}"
        require_whole(where, getattr(pool, what), do="count the items")
    where, got = f"audit, pool {name!r}", f"{positives} of {audited} audited, of {size}"
    if not 0 <= positives <= audited <= size or audited < 1:
        expected = "positives <= audited <= size, and at least 1 audited"
        raise InputError(where, got, expected, "correct the numbers")
    if positives + ties > audited:
        got = f"{positives} positives and {ties} ties of {audited}"
        expected = "no more of both than audited items"
        raise InputError(where, got, expected, "correct the numbers")
    share = positives / audited
    low, high = share, share
    if audited < size or not finite:
        trials = audited * (size - 1) / (size - audited) if finite else float(audited)
        low, high = wilson(share * trials, trials, level)
    missed = size * positives / audited
    least, most = float(positives), float(size - audited + positives)
    ends = (min(max(size * low, least), missed), max(min(size * high, most), missed))
    return Missed(name, audited, positives, size, share, low, high, missed, *ends, ties)


def audited_pools(
    votes: Annotations, sizes: dict[str, int]
) -> tuple[list[Pool], dict[str, str]]:
    """Pools as an audit of items found them, and the pool of each item.

    An item is positive if more than half of its votes say so. The group of an item is its pool;
    without groups there is one pool, called ``pool``.

    Parameters
    ----------
    sizes
        How many items each pool has, audited or not.
    """
    question = yes_no_truth(votes, "audited items")
    names = ["pool"] * len(votes.items)
    if votes.group is not None and votes.groups is not None:
        names = [str(votes.groups[code]) for code in votes.group]
    where = dict(zip(votes.items, names, strict=True))
    pool = {item: where[item] for item in question.items}
    names_of_pools = list(dict.fromkeys(pool.values()))
    lost = [name for name in names_of_pools if name not in sizes]
    if lost:
        option = Option("size", f"{lost[0]}=NUMBER", python=f"sizes[{lost[0]!r}]")
        expected = "how many items each pool has, audited or not"
        got = f"none for {listed(lost)}"
        raise InputError("audit, sizes", got, expected, hint("add {}", option))
    spare = [name for name in sizes if name not in names_of_pools]
    if spare:
        got = f"{listed(spare)}, of which nothing was audited"
        expected = f"pools of the audited items ({listed(names_of_pools)})"
        raise InputError("audit, sizes", got, expected, "correct the name")
    tied, positive = question.tied, majority(question.shares)[0] > 0
    pools = []
    for name in names_of_pools:
        in_pool = np.array([pool[item] == name for item in question.items])
        numbers = (int(part.sum()) for part in (in_pool, positive & in_pool, tied & in_pool))
        audited, positives, ties = numbers
        pools.append(Pool(name, audited, positives, sizes[name], ties))
    return pools, pool


ITEMS = ("before", "audited", "stand_for")
VERSIONS = ("before", "added", "reweighed")
LEGEND = (
    "Before: the benchmark alone. Added: audited items count like any other. Reweighed: each "
    "audited item counts for as many items of its pool as it stands for. Change: from the "
    "value before. Brackets: intervals."
)
REEVALUATION_NOTE = (
    "Before: the items of the benchmark. Added: audited items count like any other. Reweighed: "
    "each audited item counts for as many as it stands for, the size of its pool over the "
    "number audited. {} of the benchmark and items of every pool are resampled separately, the "
    "same for all versions and models, so that changes are paired."
)


@dataclass(frozen=True, slots=True)
class Audited:
    """Labels of audited items, and how the metric is taken.

    Attributes
    ----------
    votes
        Votes on the audited items, none of them in the benchmark. Where they have groups
        (patients, nights), these are resampled as a whole, pool by pool.
    pool
        Which pool each audited item is from.
    sizes
        How many items each pool has.
    labels
        ``hard`` (strict majority) or ``soft`` (mean vote).
    replicates, seed, level
        Of the resampled items.
    progress
        Called as ``progress(done, all)``.
    """

    votes: Annotations
    pool: Mapping[str, str]
    sizes: Mapping[str, int]
    labels: str = "hard"
    replicates: int = 500
    seed: int = 0
    level: float = 0.95
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.votes, Annotations):
            do = "read them with read_annotations"
            raise wrong_type("audit, votes", self.votes, "annotations with their votes", do)
        self._check_pools()
        choice("audit, labels", self.labels, ("hard", "soft"))
        require_drawn("audit, replicates", self.replicates, least=1, do="500 are usual")
        require_whole("audit, seed", self.seed, do="try 0")
        require_number("audit, level", self.level, above=0, below=1, do="try 0.95")
        if self.progress is not None and not callable(self.progress):
            raise wrong_type("progress", self.progress, "a function, or None", "leave it out")

    def _check_pools(self) -> None:
        """Refuse pools and sizes that are not named by words."""
        item, size = "the name of its pool for every audited item", "the size of every pool"
        for where, names, expected, do in (
            ("audit, pool", self.pool, item, "give {item: pool}"),
            ("audit, sizes", self.sizes, size, "give {pool: number of items}"),
        ):
            if not isinstance(names, Mapping) or not all(isinstance(x, str) for x in names):
                raise wrong_type(where, names, expected, do)
        for name, pool in self.pool.items():
            if not isinstance(pool, str):
                raise wrong_type(f"audit, pool of {name!r}", pool, "a name", "give a text")
        for name, number in self.sizes.items():
            require_whole(
                f"audit, size of pool {name!r}", number, least=1, do="count its items"
            )


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
        How many groups of the benchmark's items were resampled as wholes; 0: single items were.
    replicates, seed, level
        Of the resampled items, and of the intervals.
    """

    metric: str
    labels: str
    lines: tuple[Revalued, ...]
    items: tuple[int, int, int]
    groups: int = 0

    replicates: int = 0
    seed: int = 0
    level: float = 0.95

    __repr__ = short_repr

    def rows(self) -> list[dict[str, Cell]]:
        """One line per version and model."""
        return [dict(one._asdict()) for one in self.lines]

    @property
    def finding(self) -> str:
        """What the audit changes, as a sentence."""
        last, title = self._of("reweighed"), named(self.metric).title
        _, audited, whole = map(count, self.items)
        start = f"With the {audited} audited items standing for {whole}, "
        known = [one for one in last if not math.isnan(one.change)]
        if not known:
            return f"{start}the change of {title} is undefined.{self._order()}"
        most = max(known, key=lambda one: abs(one.change))
        whom = "" if len(last) == 1 else f" most for {most.model}:"
        shift = estimate(most.change, most.change_low, most.change_high, change)
        return f"{start}{title} changes{whom} by {shift}.{self._order()}"

    def _of(self, version: str) -> list[Revalued]:
        return [one for one in self.lines if one.version == version]

    def report(self) -> Finding:
        """The finding for every surface; its figure and rows are those of one metric."""
        known = named(self.metric)
        title = f"{known.title}{', lower is better' if known.better == 'lower' else ''}"
        rows = [{"metric": self.metric, "labels": self.labels, **row} for row in self.rows()]
        unit = f"{count(self.groups)} whole groups of items" if self.groups else "Items"
        dots = [
            Dot(one.model, *one[5:], one.model, remark=change(one.change))
            for one in self._of("reweighed")
        ]
        return Finding(
            key="reevaluation",
            metric=self.metric,
            title="Does that change the models?",
            sentence=self.finding,
            tables=(
                Table(
                    name="reevaluation",
                    caption=f"{title} before and after the audit",
                    columns=(
                        *(*columns("model", "model"), *columns("text", "version")),
                        Column("value", title, "number", ("low", "high")),
                        Column("change", "change", "change", ("change_low", "change_high")),
                    ),
                    rows=rows,
                    legend=LEGEND,
                ),
                Table(
                    name="items",
                    caption="Items that models are scored on",
                    columns=(
                        Column("before", "in the benchmark", "count"),
                        Column("audited", "audited", "count"),
                        Column("stand_for", "which stand for", "count"),
                        Column("groups", "groups resampled as wholes", "count"),
                    ),
                    rows=[{**dict(zip(ITEMS, self.items, strict=True)), "groups": self.groups}],
                    file=False,
                ),
            ),
            charts=(
                Dots(
                    name="audit",
                    caption=f"Change of {title} with the audited items reweighed, and its "
                    f"{exact_percent(self.level)} interval",
                    axis=f"change of {title}",
                    rows=dots,
                    zero=True,
                ),
            ),
            note=REEVALUATION_NOTE.format(unit),
            methods=self._methods(),
            references=(*known.references, "efron1993"),
        )

    def _methods(self) -> str:
        """How models were scored again, for a paper."""
        models = len({one.model for one in self.lines})
        verb = "was" if models == 1 else "were"
        unit = "groups of items" if self.groups else "items"
        return (
            f"{count(models, 'model')} {verb} scored again by {named(self.metric).title} "
            f"({self.labels} labels) with the audited items added, as they are and weighed by "
            f"the inverse of their probability to be audited; {exact_percent(self.level)} "
            f"percentile intervals come from {count(self.replicates)} bootstrap resamples of "
            f"the {unit} of the benchmark and of the items of each pool, paired between "
            f"versions and models (seed {self.seed}) [@efron1993]."
        )

    def _order(self) -> str:
        """Say whether the order of the models holds; ties are ties."""
        ranks, better = [], named(self.metric).better
        for version in ("before", "reweighed"):
            values = np.array([one.value for one in self._of(version)])
            ranks.append(average_ranks(higher_is_better(values, better)))
        if len(ranks[0]) == 1:
            return ""
        if np.isnan(ranks).any():
            return " The order of models is undefined."
        same = "stays" if (ranks[0] == ranks[1]).all() else "changes"
        return f" The order of models {same}."


@dataclass(frozen=True, slots=True, eq=False)
class _Stratum:
    """What is resampled on its own: the benchmark, or a pool.

    Attributes
    ----------
    name
        What it is called in messages.
    rows
        Its items among all.
    unit
        Which unit each of them is resampled with: its group, or itself.
    size
        How many items it stands for; None for the benchmark, which stands for itself.
    """

    name: str
    rows: Ints
    unit: Ints
    size: int | None

    def __post_init__(self) -> None:
        if self.units == 1 and len(self.rows) > 1:
            got = f"all {len(self.rows)} items in one group"
            do = "leave the groups out, also where they are the pools"
            raise InputError(f"audit, groups of {self.name}", got, "at least two groups", do)

    @property
    def units(self) -> int:
        """How many units there are to draw from."""
        return int(self.unit.max()) + 1

    def resampled(self, random: np.random.Generator) -> Ints:
        """How often each item stands in a replicate."""
        even = np.full(self.units, 1 / self.units)
        return np.asarray(random.multinomial(self.units, even)[self.unit])


def reevaluate(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    audited: Audited,
    *,
    metric: str = "auroc",
) -> Reevaluation:
    """Score models before and after audited items are added.

    Parameters
    ----------
    predictions
        Models that scored the items of the benchmark and the audited ones.
    annotations
        The benchmark: a yes/no question.
    audited
        What the audit found, and which pools its items stand for.
    metric
        Any metric of scores that takes weights.
    """
    if not isinstance(audited, Audited):
        raise wrong_type("audit", audited, "an Audited", "give Audited(votes, pool, sizes)")
    if not isinstance(metric, str):
        raise wrong_type("metric", metric, "the name of one metric", "try 'auroc'")
    old, new = yes_no_truth(annotations, "annotations"), yes_no_truth(audited.votes, "audit")
    _check(old, new, audited)
    models = as_predictions(predictions)
    if not models:
        raise InputError("predictions", "none", "at least one model", "give its scores")
    where = "predictions, models"
    require_unique([one.model for one in models], where=where, do="keep one of each name")
    items = (*old.items, *new.items)
    hard = audited.labels == "hard"
    labels = [majority(one.shares)[0] if hard else one.shares[0] for one in (old, new)]
    strata = _strata((old, new), annotations, audited)
    score = _metric(metric)
    values = [
        one.aligned(items, old.classes)[:, 0] if one.classes else one.aligned(items)
        for one in models
    ]
    found = _values(score, np.concatenate(labels), values, strata, audited)
    return Reevaluation(
        metric,
        audited.labels,
        tuple(_lines(found, [one.model for one in models], audited, metric)),
        (len(old.items), len(new.items), sum(one.size or 0 for one in strata)),
        groups=0 if annotations.group is None else strata[0].units,
        replicates=audited.replicates,
        seed=audited.seed,
        level=audited.level,
    )


Score = Callable[[PerItem, PerItem, PerItem], float]


def _metric(text: str) -> Score:
    """The plain function of a metric, with its parameters and weights."""
    made = named(text)
    name, given = parsed(text)
    plain = getattr(catalogue, name, None)
    if made.labels == "draws" or plain is None:
        do = "choose auroc, average_precision or another such metric"
        expected = "a metric of scores that takes weights"
        raise InputError(f"metric {text}", "a metric of draws", expected, do)
    if "weights" not in inspect.signature(plain).parameters:
        expected = "one that does: audited items count by how many they stand for"
        do = "choose auroc, average_precision, brier_score or another such metric"
        raise InputError(f"metric {text}", "a metric that takes no weights", expected, do)

    def score(label: PerItem, value: PerItem, weight: PerItem) -> float:
        if made.labels == "distribution":
            whole = [np.stack([1 - one, one], 1) for one in (label, value)]
            return float(plain(*whole, weights=weight, **given))
        return float(plain(label, value, weights=weight, **given))

    return score


def _strata(
    questions: tuple[TaskTruth, TaskTruth], annotations: Annotations, audited: Audited
) -> list[_Stratum]:
    """The benchmark and every pool, each with its items and groups."""
    old, new = questions
    names = np.array([audited.pool[name] for name in new.items])
    whole = np.arange(len(old.items))
    made = [_Stratum("the benchmark", whole, _groups(annotations, old, whole), None)]
    for name in map(str, np.unique(names)):
        rows = np.flatnonzero(names == name)
        groups = _groups(audited.votes, new, rows)
        made.append(_Stratum(f"pool {name!r}", len(whole) + rows, groups, audited.sizes[name]))
    return made


def _groups(annotations: Annotations, question: TaskTruth, rows: Ints) -> Ints:
    """Which unit each of these items is resampled with: its group, or itself."""
    if annotations.group is None:
        return np.arange(len(rows))
    codes = annotations.group[question.place[rows]]
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _values(
    score: Score,
    label: PerItem,
    models: Sequence[PerItem],
    strata: Sequence[_Stratum],
    audited: Audited,
) -> Floats:
    """Values of shape (versions, models, 1 + replicates); the first is the data as they are.

    An item that was drawn c times stands there c times: copies are items, not weights.
    """
    random = np.random.default_rng(audited.seed)
    out = np.empty((len(VERSIONS), len(models), audited.replicates + 1))
    counts, worth = np.ones(len(label), dtype=np.int64), np.ones(len(label))
    for number in range(audited.replicates + 1):
        for one in strata:
            if number:
                counts[one.rows] = one.resampled(random)
            if one.size is not None:  # a pool: each drawn item stands for several
                worth[one.rows] = one.size / int(counts[one.rows].sum())
        drawn = np.repeat(np.arange(len(label)), counts)
        old, alike = drawn[drawn < len(strata[0].rows)], np.ones(len(drawn))
        versions = ((old, alike[: len(old)]), (drawn, alike), (drawn, worth[drawn]))
        for version, (rows, weight) in enumerate(versions):
            out[version, :, number] = [score(label[rows], one[rows], weight) for one in models]
        if audited.progress is not None:
            audited.progress(number + 1, audited.replicates + 1)
    return out


def _lines(
    found: Floats, models: Sequence[str], audited: Audited, metric: str
) -> list[Revalued]:
    bounds = named(metric).bounds
    lines = []
    for version, name in enumerate(VERSIONS):
        for m, model in enumerate(models):
            now, before = (
                Estimate(float(found[v, m, 0]), found[v, m, 1:], "audit", bounds)
                for v in (version, 0)
            )
            change = now - before
            ends = (*now.interval(audited.level), change.value, *change.interval(audited.level))
            lines.append(Revalued(name, model, now.value, *ends))
    return lines


def _check(old: TaskTruth, new: TaskTruth, audited: Audited) -> None:
    """Refuse audits that overlap the benchmark, or whose pools are not known."""
    if old.classes != new.classes:
        got, expected = f"positive class {new.classes[0]!r}", f"{old.classes[0]!r}, as before"
        raise InputError("audit", got, expected, "use the same words for both")
    both = sorted(set(old.items) & set(new.items))
    if both:
        got = f"{len(both)} items of the benchmark ({listed(both)})"
        do = "leave them out of the audit"
        raise InputError("audit", got, "items that were not retrieved", do)
    lost = [name for name in new.items if name not in audited.pool]
    if lost:
        expected, do = "a pool for every audited item", "say which pool each is from"
        raise InputError("audit, pool", f"no pool for {listed(lost)}", expected, do)
    used = [audited.pool[name] for name in new.items]
    small = sorted({one for one in used if audited.sizes.get(one, 0) < used.count(one)})
    if small:
        got = f"no size, or less than was audited, for {listed(small)}"
        expected = "the number of items in each pool"
        raise InputError("audit, sizes", got, expected, "correct the sizes")

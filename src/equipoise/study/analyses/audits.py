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
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from equipoise.inference.estimate import wilson
from equipoise.study.blocks import majority
from equipoise.study.truth import yes_no_truth
from equipoise.types import (
    Annotations,
    Cell,
    Column,
    Dot,
    Dots,
    Finding,
    InputError,
    Notice,
    Notices,
    Option,
    Table,
    count,
    estimate,
    exact_percent,
    hint,
    immutable,
    joined,
    listed,
    percent,
    require_number,
    require_unique,
    require_whole,
    rows_of,
    short_repr,
    spanned,
    wrong_type,
)

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


MOST = 10**15  # items: more are no count, and no figure shows them


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


@immutable
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
    notices: Notices = ()

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
    do = "count the positives that were retrieved"
    require_whole("audit, found", found, most=MOST, do=do)
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
        require_whole(where, getattr(pool, what), most=MOST, do="count the items")
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


def audited_pools(votes: Annotations, sizes: dict[str, int]) -> list[Pool]:
    """Pools as an audit of items found them.

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
    return pools

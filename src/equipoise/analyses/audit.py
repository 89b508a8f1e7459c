"""Audits of candidate retrieval: how many positives lie where nobody looked.

A benchmark whose candidates were retrieved by some method may miss positives that this method
does not see. An audit draws n of the N items that were not retrieved (a pool, for example the
top of another method's ranking), without replacement, and labels them; k are positive.

share
    k/n with Wilson's interval. Because the pool is finite, n counts as n (N - 1)/(N - n) trials
    of the same share (finite-population correction): an audit of the whole pool leaves no
    doubt. ``finite=False`` leaves the correction out.
missed
    N k/n, between N times the ends of the share, but at least the k that were found and at most
    all that were not found negative. Pools are disjoint; their totals add, and the distances to
    the ends add in squares. Where few positives were found the lower end is too high too often;
    a notice says so.
recall
    found / (found + missed), at the ends of missed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from equipoise.analyses._audited import Audited
from equipoise.analyses._revalued import Reevaluation, Revalued
from equipoise.analyses._reweighing import reevaluate
from equipoise.arrays import (
    InputError,
    require_number,
    require_unique,
    require_whole,
    wrong_type,
)
from equipoise.estimate import wilson

__all__ = ["Audit", "Audited", "Pool", "Reevaluation", "Revalued", "audit", "reevaluate"]
FEW = 5  # positives below which Wilson's lower end is in doubt


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
    notices: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One line per pool."""
        return [one._asdict() for one in self.pools]

    @property
    def finding(self) -> str:
        """What the audit says, as a sentence."""
        value, low, high = self.missed
        audited = sum(one.audited for one in self.pools)
        where = (
            "the audited pool" if len(self.pools) == 1 else f"{len(self.pools)} audited pools"
        )
        sure = f"at {100 * self.level:g}%"
        if value == 0:
            start = f"None of {audited:,} audited items is positive; "
            most = f"at most {tally(high)} of {where} may be (upper end {sure})"
            start += most if high else "none was missed"
        else:
            ends = f"{tally(low)} to {tally(high)} {sure}"
            seen = sum(one.positives for one in self.pools)
            start = (
                f"About {tally(value)} positives were missed in {where} ({ends}), which rests "
                f"on {seen:,} positive{'s' * (seen > 1)} among {audited:,} audited items"
            )
        return f"{start}{self._found()}."

    def _found(self) -> str:
        """Say which share of the positives was found."""
        value, low, high = self.recall
        if not self.found:
            return ", and the retrieval found none"
        if value == low == high:
            return f": the retrieval found {value:.1%} of those there are"
        return (
            f": the retrieval found {value:.1%} of those it could have found there "
            f"({low:.1%} to {high:.1%})"
        )


def tally(number: float) -> str:
    """A number of items that need not be whole.

    Examples
    --------
    >>> tally(9.58), tally(3.0), tally(1234.5)
    ('9.6', '3', '1,234')
    """
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"


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
    if not several or not pools or not all(isinstance(one, Pool) for one in pools):
        do = "give [Pool(name, audited, positives, size)]"
        raise wrong_type("audit, pools", pools, "a list of at least one Pool", do)
    require_whole("audit, found", found, do="count the positives that were retrieved")
    require_number("audit, level", level, above=0, below=1, do="try 0.95")
    if not isinstance(finite, bool):
        raise wrong_type("audit, finite", finite, "True or False", "say one")
    for one in pools:
        if not isinstance(one.name, str):
            raise wrong_type("audit, name of a pool", one.name, "a name", "give a text")
    require_unique([one.name for one in pools], where="audit, pools")
    lines = tuple(_missed(one, level, finite=finite) for one in pools)
    total = sum(one.missed for one in lines)
    low = total - math.hypot(*(one.missed - one.missed_low for one in lines))
    high = total + math.hypot(*(one.missed_high - one.missed for one in lines))
    low = max(low, float(sum(one.positives for one in pools)))
    recall = [
        found / (found + one) if found + one > 0 else math.nan for one in (total, high, low)
    ]
    return Audit(
        lines, found, (total, low, high), (recall[0], recall[1], recall[2]), level, finite,
        (*_few(pools), *_tied(pools)),
    )  # fmt: skip


def _few(pools: Sequence[Pool]) -> tuple[str, ...]:
    """Warn of the lower end where few positives were found in a part of a pool."""
    rare = [one for one in pools if 0 < one.positives < FEW and one.audited < one.size]
    if not rare:
        return ()
    seen = ", ".join(f"{one.positives} of {one.audited:,} in {one.name!r}" for one in rare[:3])
    more = f" and {len(rare) - 3} more pools" if len(rare) > 3 else ""
    return (
        f"Few audited items are positive ({seen}{more}): Wilson's lower end is then too high "
        "too often. Where 5 of 5,000 items are positive and 150 are audited, its 95% interval "
        "holds the truth in 86% of audits; audit more items.",
    )


def _tied(pools: Sequence[Pool]) -> list[str]:
    """Say how many audited items have no strict majority."""
    ties, audited = (sum(getattr(one, name) for one in pools) for name in ("ties", "audited"))
    if not ties:
        return []
    return [
        f"{ties:,} of {audited:,} audited items have no strict majority of votes: they count "
        "as negative."
    ]


def _missed(pool: Pool, level: float, *, finite: bool) -> Missed:
    name, audited, positives, size, ties = pool
    for what in ("audited", "positives", "size", "ties"):
        where = f"audit, pool {name!r}, {what}"
        require_whole(where, getattr(pool, what), do="count the items")
    if not 0 <= positives <= audited <= size or audited < 1:
        raise InputError(
            f"audit, pool {name!r}", f"{positives} of {audited} audited, of {size}",
            "positives <= audited <= size, and at least 1 audited", "correct the numbers",
        )  # fmt: skip
    if positives + ties > audited:
        raise InputError(
            f"audit, pool {name!r}", f"{positives} positives and {ties} ties of {audited}",
            "no more of both than audited items", "correct the numbers",
        )  # fmt: skip
    share = positives / audited
    low, high = share, share
    if audited < size or not finite:
        trials = audited * (size - 1) / (size - audited) if finite else float(audited)
        low, high = wilson(share * trials, trials, level)
    missed = size * positives / audited
    least, most = float(positives), float(size - audited + positives)
    return Missed(
        name, audited, positives, size, share, low, high, missed,
        min(max(size * low, least), missed), max(min(size * high, most), missed), ties,
    )  # fmt: skip

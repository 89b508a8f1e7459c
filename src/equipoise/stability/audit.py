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
    the ends add in squares.
recall
    found / (found + missed), at the ends of missed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from equipoise.arrays import (
    InputError,
    require_number,
    require_unique,
    require_whole,
    wrong_type,
)
from equipoise.estimate import wilson
from equipoise.stability._revalued import Reevaluation, Revalued
from equipoise.stability._reweighing import Audited, reevaluate

__all__ = ["Audit", "Audited", "Pool", "Reevaluation", "Revalued", "audit", "reevaluate"]


class Pool(NamedTuple):
    """A pool of items that were not retrieved, and what an audit of some of them found."""

    name: str
    audited: int
    positives: int
    size: int


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
    """

    pools: tuple[Missed, ...]
    found: int
    missed: tuple[float, float, float]
    recall: tuple[float, float, float]
    level: float = 0.95
    finite: bool = True

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
        ends = f"{_count(low)} to {_count(high)} at {self.level:.0%}"
        if value == 0:
            start = f"None of {audited:,} audited items is positive; "
            start += f"at most {_count(high)} of {where} may be" if high else "none was missed"
        else:
            start = f"About {_count(value)} positives were missed in {where} ({ends})"
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


def _count(number: float) -> str:
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
        lines, found, (total, low, high), (recall[0], recall[1], recall[2]), level, finite
    )


def _missed(pool: Pool, level: float, *, finite: bool) -> Missed:
    name, audited, positives, size = pool
    for what in ("audited", "positives", "size"):
        where = f"audit, pool {name!r}, {what}"
        require_whole(where, getattr(pool, what), do="count the items")
    if not 0 <= positives <= audited <= size or audited < 1:
        raise InputError(
            f"audit, pool {name!r}", f"{positives} of {audited} audited, of {size}",
            "positives <= audited <= size, and at least 1 audited", "correct the numbers",
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
        min(max(size * low, least), missed), max(min(size * high, most), missed),
    )  # fmt: skip

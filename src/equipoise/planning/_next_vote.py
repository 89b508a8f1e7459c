r"""What one more vote on an item brings, and the items for which it brings most.

The formulas of :math:`V_i`, an item's part in the variance of a difference, and of the part
that one more vote is expected to take away, stand in `equipoise.planning.next_items`.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.arrays import (
    InputError,
    Ints,
    PerItem,
    frozen,
    listed,
    require_whole,
    wrong_type,
)
from equipoise.planning._law import law_of
from equipoise.planning._outlook import Outlook
from equipoise.planning._pilot import Pilot, Progress
from equipoise.planning._question import require_finite
from equipoise.read.files import replaced

TIE = 1e-12  # difference up to which models are level
NOISE = 1e-20  # variance below which a difference does not move with the votes
RISE = 5e-4  # of a chance, which shows in the digits that are told
DIGITS = 9  # to which gains must differ to stand in order


def check_choice(where: str, number: int, how: Mapping[str, Any], known: Sequence[str]) -> None:
    """Check how many items are asked for, and the further keywords."""
    require_whole(f"{where}, number", number, least=1)
    unknown = sorted(set(how) - set(known))
    if unknown:
        expected = f"{', '.join(known[:-1])} or {known[-1]}"
        raise InputError(where, f"{listed(unknown)}", expected, "correct it")
    require_whole(f"{where}, seed", how.get("seed", 0), do="try 0")
    progress = how.get("progress")
    if progress is not None and not callable(progress):
        raise wrong_type(f"{where}, progress", progress, "a function", "leave it out")


class Vote(NamedTuple):
    """What one more vote on each item does to the difference of two models.

    Attributes
    ----------
    expected
        The difference expected among all possible voters, given the votes so far.
    part, gain
        Part of each item in its variance, and what one more vote is expected to take away.
    shift
        By how much that vote is expected to move the difference by mean votes.
    stretch
        How much further it moves that than the expected difference.
    imagined
        Votes that are imagined on every item besides its own.
    """

    expected: float
    part: PerItem
    gain: PerItem
    shift: PerItem
    stretch: PerItem
    imagined: float


def one_more_vote(two: Pilot, progress: Progress | None) -> Vote:
    """Look one vote ahead on every item."""
    whole, (mean, number, imagined) = two.distributions(), law_of(two)
    total = number + imagined
    with np.errstate(invalid="ignore"):
        there = two.with_labels(mean)
    worse = {math.inf: [two.b], -math.inf: [two.a]}.get(there.difference, [two.a, two.b])
    require_finite(two.metric, worse if not math.isfinite(there.difference) else ())
    slope = there.effects(np.ones(whole.shape, dtype=bool), progress)
    centre = (mean * slope).sum(axis=0)
    part = (mean * (slope - centre) ** 2).sum(axis=0) / (total + 1)
    part = np.where(two.gold | (part.sum() <= NOISE), 0.0, part)
    shift = ((mean - whole) * slope).sum(axis=0) / (number + 1)
    return Vote(
        expected=there.difference if abs(there.difference) > TIE else 0.0,
        part=part, gain=part / (total + 1), shift=np.where(part > 0, shift, 0.0),
        stretch=(total + 1) / (number + 1), imagined=imagined,
    )  # fmt: skip


def outlook(pairs: Sequence[Pilot], votes: Sequence[Vote], chosen: Ints) -> Outlook:
    """Differences of pairs of models now, and after one more vote on each chosen item."""
    found = np.array([two.difference if two.difference > TIE else 0.0 for two in pairs])
    gain, shift = (
        np.stack([one[chosen] for one in several])
        for several in ([vote.gain for vote in votes], [vote.shift for vote in votes])
    )
    stretch = votes[0].stretch[chosen]
    known = (
        found, np.array([one.expected for one in votes]),
        np.array([one.part.sum() for one in votes]),
        found + shift.sum(axis=1), gain @ stretch**2, gain @ stretch,
    )  # fmt: skip
    return Outlook(*(frozen(one) for one in known))


def turned_round(names: Sequence[tuple[str, str]], seen: Outlook) -> list[str]:
    """Pairs whose order in the pilot is more likely wrong than right."""
    turned = (seen.found > 0) & (seen.expected < 0)
    said = [f"{a} ahead of {b}" for (a, b), odd in zip(names, turned, strict=True) if odd]
    if not said:
        return []
    return [
        f"The votes of the pilot put {'; '.join(said)}. But few votes on an item say little, "
        "and with the imagined votes on each item the order turns round: it is more likely "
        "wrong than right."
    ]


def largest(gain: PerItem, number: int, seed: int) -> Ints:
    """Items of largest gain, best first; those of equal gain in random order, of none not.

    Examples
    --------
    >>> largest(np.array([0.1, 0.4, 0.0, 0.3]), number=4, seed=0)
    array([1, 3, 0])
    """
    shuffle = np.random.default_rng(seed).permutation(len(gain))
    size = np.round(gain[shuffle] / max(gain.max(), 1e-300), DIGITS)
    order = np.argsort(-size, kind="stable")[:number]
    return np.asarray(shuffle[order[size[order] > 0]])


def batch(number: int, asked: int, pilot_items: int) -> str:
    """Name the items of a list, and say why they may be fewer than asked for.

    Examples
    --------
    >>> batch(3, 3, 40), batch(3, 50, 3)
    ('each of these 3 items', 'each of the 3 items of the pilot')
    >>> batch(1, 50, 3)
    'this item (a vote on any other tells nothing, though 50 were asked for)'
    """
    if 1 < number == pilot_items:
        return f"each of the {number:,} items of the pilot"
    items = f"each of these {number:,} items" if number > 1 else "this item"
    few = f" (a vote on any other tells nothing, though {asked:,} were asked for)"
    return items + (few if number < asked else "")


def risen(now: float, then: float) -> str:
    """Why new votes may leave an order less sure than it is."""
    if then <= now + RISE:
        return ""
    return " It rises because single votes may turn the order of close models round by chance."


def soft_labels(two: Pilot) -> PerItem:
    """Soft label of each item: of the positive class, or the largest."""
    return np.asarray(two.shares[0] if len(two.shares) == 1 else two.shares.max(axis=0))


def write_items(
    where: str, path: str | Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> None:
    """Write the items as a CSV to fill in, in one step; cells that rows lack stay empty."""
    if not isinstance(path, str | Path):
        raise wrong_type(where, path, "the name of a file", "try 'next.csv'")
    text = io.StringIO()
    lines = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    lines.writeheader()
    lines.writerows(rows)
    with replaced(path) as file:
        file.write(text.getvalue().encode())


def sheet(columns: Sequence[str], task: str) -> list[str]:
    """Columns of a table to fill in, which can be read as votes when it is.

    The rank is left to the order of the lines: a column of that name would be read as ranks.

    Examples
    --------
    >>> sheet(("item", "votes so far", "rank"), "edema")
    ['item', 'task', 'annotator', 'label', 'votes so far']
    """
    more = [name for name in columns if name not in ("item", "rank")]
    return ["item", *(["task"] if task else []), "annotator", "label", *more]

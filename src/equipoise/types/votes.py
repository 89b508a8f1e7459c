"""Votes: the votes of one task, item by item, ready to be counted or resampled.

A vote is one person's answer about one item: a label, a rating, or the first choices of a
ranking (t tied first choices share one vote). Gold rows are not opinions: an item that has any
is settled by them, with an annotator code of -1 that no resampling touches.
"""

import numpy as np

from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, InputError, Ints, PerItem, listed
from equipoise.types.notices import Notice, notice
from equipoise.types.records import immutable
from equipoise.types.words import AT_LEAST, Option, hint

ENOUGH = 0.05  # share of items with so many votes, to be compared with those that have more
MOST_APART = 100_000_000  # votes that are held one by one, a few gigabytes
UNLIKELY = 0.001  # p below which the number of votes depends on the votes


@immutable(eq=False)
class Votes:
    """Votes of one task by item, annotator and what they say; the order of rows is gone.

    Attributes
    ----------
    items
        Which items have votes, as positions in ``annotations.items``, rising.
    start
        The votes of the i-th of them are ``start[i]:start[i + 1]``.
    annotator
        Who voted, shape (votes,); -1 for gold, 0 for all when votes are anonymous.
    weight
        What a vote counts, shape (votes,).
    row
        The row of the annotations that says it, or the first of several, shape (votes,).
    vote, label, share
        Entries: vote number, class code and share of the vote; one entry per vote except
        for tied first choices. Ratings have label 1 and their value as share.
    """

    items: Ints
    start: Ints
    annotator: Ints
    weight: Floats
    row: Ints
    vote: Ints
    label: Ints
    share: Floats

    @property
    def gold(self) -> Bools:
        """Which items gold settles, shape (items,)."""
        return self.annotator[self.start[:-1]] < 0

    def mass(self, label: int) -> Floats:
        """How much of each vote goes to a class, shape (votes,)."""
        chosen = self.label == label
        mass = np.bincount(self.vote[chosen], self.share[chosen], len(self.weight))
        return mass.astype(np.float64)

    def shares(self, label: int) -> PerItem:
        """Mean vote for a class, shape (items,)."""
        total = np.add.reduceat(self.weight, self.start[:-1])
        return np.add.reduceat(self.weight * self.mass(label), self.start[:-1]) / total

    def subset(self, rows: Ints) -> "Votes":
        """Only the votes of some items, given as positions in `items`."""
        keep = np.zeros(len(self.items), dtype=bool)
        keep[rows] = True
        return self.of(np.repeat(keep, self.sizes))

    def of(self, vote: Bools) -> "Votes":
        """Only some votes, shape (votes,), and the items that still have any."""
        sizes = np.add.reduceat(vote, self.start[:-1], dtype=np.intp)
        entry = vote[self.vote]
        place = np.cumsum(vote) - 1
        return Votes(
            items=self.items[sizes > 0],
            start=np.concatenate(([0], np.cumsum(sizes[sizes > 0]))),
            annotator=self.annotator[vote],
            weight=self.weight[vote],
            row=self.row[vote],
            vote=place[self.vote[entry]],
            label=self.label[entry],
            share=self.share[entry],
        )

    @property
    def sizes(self) -> Ints:
        """Number of votes per item, shape (items,)."""
        return np.diff(self.start)


def collect_votes(annotations: Annotations, task: str = "", *, apart: bool = True) -> Votes:
    """Collect the votes of one task.

    Parameters
    ----------
    apart
        Whether a row that stands for several votes becomes as many votes, or one vote that
        weighs as much: enough for sums, and no larger than the table.

    Examples
    --------
    >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("0", "1"),
    ...     item=np.array([0, 0, 1]), label=np.array([1, 0, 1]))
    >>> collect_votes(votes).shares(1)
    array([0.5, 1. ])
    """
    rows = np.flatnonzero(_opinions(annotations, task))
    if not len(rows):
        raise InputError(f"annotations, task {task!r}", "no votes", "at least one", "check it")
    vote: Ints = np.arange(len(rows))
    first = vote
    if annotations.reading is not None:  # rows of one reading are one vote
        reading = annotations.reading[rows]
        _, first, vote = np.unique(reading, return_index=True, return_inverse=True)
    label, share = _choices(annotations, rows, vote)
    _even_weights(annotations, rows, vote)
    item = annotations.item[rows[first]]
    times = None if annotations.count is None else annotations.count[rows[first]]
    if times is not None and len(rows) != len(first):
        raise InputError(
            "annotations",
            "counts of tied rankings",
            "counts of single labels",
            "give every ranking its own rows",
        )
    if times is not None and apart:
        _refuse_too_many(times)
        first, item = np.repeat(first, times), np.repeat(item, times)
        label, share = np.repeat(label, times), np.repeat(share, times)
        vote = np.arange(len(item))
    who = _who(annotations, rows[first])
    weight = row_weights(annotations, rows[first], apart=apart)
    order = _vote_order(item, who, (vote, label, share), weight)
    sizes = np.bincount(item)
    items = np.flatnonzero(sizes)
    vote = _inverse(order)[vote]
    entry = _inverse(vote) if len(vote) == len(order) else np.lexsort((label, vote))
    return Votes(
        items=items,
        start=np.concatenate(([0], np.cumsum(sizes[items]))),
        annotator=who[order],
        weight=weight[order],
        row=rows[first[order]],
        vote=vote[entry],
        label=label[entry],
        share=share[entry],
    )


def _vote_order(
    item: Ints, who: Ints, entries: tuple[Ints, Ints, Floats], weight: Floats
) -> Ints:
    """Votes by item, then annotator, then what they say; what is left are equals."""
    key = item.astype(np.int64) * (int(who.max(initial=0)) + 2) + who + 1
    if (key[1:] > key[:-1]).all():
        return np.arange(len(key))
    vote, label, share = entries
    if len(vote) > len(item):  # tied first choices: numbered by the sets that occur
        rising = np.lexsort((label, vote))
        ends = np.flatnonzero(np.diff(vote[rising])) + 1
        choices = [tuple(part_of_vote) for part_of_vote in np.split(label[rising], ends)]
        number = {choice: code for code, choice in enumerate(sorted(set(choices)))}
        spoken, part = np.array([number[choice] for choice in choices]), weight
    else:
        spoken, part = np.empty_like(label), np.empty_like(share)
        spoken[vote], part[vote] = label, share
    key = key * (int(spoken.max(initial=0)) + 1) + spoken
    if np.ptp(part) or np.ptp(weight):
        return np.lexsort((weight, part, key))
    return np.argsort(key, kind="stable")


def _inverse(order: Ints) -> Ints:
    """Where each place went that is put in an order."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


def _refuse_too_many(times: Ints) -> None:
    """Refuse counts that stand for more single votes than fit into memory."""
    number = times.sum(dtype=float)  # which counts of 1e15 cannot overflow
    if number > MOST_APART:
        raise InputError(
            "annotations, counts",
            f"{number:,.0f} votes",
            f"at most {MOST_APART:,}, because each is looked at",
            "divide the counts by a constant, or leave items out",
        )


def distinct(codes: Ints) -> tuple[Ints, Ints]:
    """Distinct codes, rising, and how often each occurs; by a sort, which beats hashing.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3]))
    (array([1, 3]), array([1, 2]))
    """
    ranked = codes if (codes[1:] >= codes[:-1]).all() else np.sort(codes)
    first = np.flatnonzero(np.concatenate(([len(ranked) > 0], ranked[1:] != ranked[:-1])))
    return ranked[first], np.diff(np.append(first, len(ranked)))


def is_panel(item: Ints, annotator: Ints, items: int) -> bool:
    """Whether at least half of the votes come from people who rated more than one item."""
    if not len(item) or annotator.max() < 1:
        return False
    votes = np.bincount(annotator)
    many = votes[votes > np.bincount(item).max()]  # too many to be about one item
    if len(many) > 1 and 2 * many.sum() >= len(item):
        return True
    pairs, _ = distinct(annotator.astype(np.int64) * items + item)
    load = np.bincount(pairs // items)
    return bool((load > 0).sum() > 1 and load[load > 1].sum() >= 0.5 * load.sum())


def added_votes(annotations: Annotations) -> list[Notice]:
    """Warn where the number of votes depends on the votes: more where the first ones differ.

    For every number k of at least two votes that at least one item in twenty has, items with
    more are compared with those that have exactly k: are their first k votes more often
    divided? Fisher's exact test, one-sided, with Bonferroni's correction over k; said below
    0.001. The first votes are those with the earliest timestamps, or else the first rows.
    """
    if annotations.label is None or annotations.rank is not None:
        return []
    if annotations.count is not None:
        return []
    place, notices = annotations.vote_places, []
    for task in annotations.tasks:
        rows = annotations.opinions(task)
        if rows.any():
            of_task = annotations.item[rows], annotations.label[rows], place[rows]
            timed = annotations.timestamp is not None
            notices += [note.of(task) for note in _signs_of_added_votes(*of_task, timed=timed)]
    return notices


def _signs_of_added_votes(item: Ints, label: Ints, place: Ints, *, timed: bool) -> list[Notice]:
    """The strongest sign in one task that votes were added after disagreement."""
    sizes = np.bincount(item)
    votes_per_item = sizes[sizes > 0]
    numbers = [
        int(k)
        for k in np.flatnonzero(np.bincount(votes_per_item))
        if k >= 2 and (votes_per_item == k).mean() >= ENOUGH
    ]
    numbers = [k for k in numbers if (votes_per_item > k).any()]
    signs = []
    for k in numbers:
        early = place < k
        some = np.bincount(item[early], label[early], len(sizes))
        square = np.bincount(item[early], label[early].astype(float) ** 2, len(sizes))
        divided, more, whole = k * square - some**2 > 0.5, sizes > k, sizes >= k
        cells = (more & divided, more & ~divided, ~more & divided, ~more & ~divided)
        table = [int((whole & cell).sum()) for cell in cells]
        signs.append((_fisher(*table) * len(numbers), k, table))
    if not signs or min(signs)[0] >= UNLIKELY:
        return []
    _, k, table = min(signs)
    text = (
        "The number of votes seems to depend on the votes: of the items with more than "
        "{k:count}, {more:percent} were divided after {k:count}, of those with {k:count} "
        "{others:percent} (p < 0.001; by {order}). Votes added after disagreement bias scores: "
        "use the planned first votes alone, {advice}."
    )
    note = notice(
        "added_votes",
        text,
        k=k,
        more=table[0] / (table[0] + table[1]),
        others=table[2] / (table[2] + table[3]),
        order="timestamps" if timed else "the order of the rows",
        advice=Option("first_votes", k, python=f"annotations.first_votes({k})"),
    )
    return [note]


def _fisher(a: int, b: int, c: int, d: int) -> float:
    """One-sided p of a table with a at least so large, rows (a, b) and (c, d)."""
    from scipy.special import gammaln

    x = np.arange(a, min(a + b, a + c) + 1)
    parts = (x, a + b - x, a + c - x, d - a + x)
    whole = gammaln(np.array([a + b, c + d, a + c, b + d]) + 1.0).sum() - gammaln(
        a + b + c + d + 1.0
    )
    log = whole - np.sum([gammaln(part + 1.0) for part in parts], axis=0)
    return float(min(1.0, np.exp(log).sum()))


def row_weights(annotations: Annotations, rows: Ints, *, apart: bool = False) -> Floats:
    """What each row counts; one that stands for several votes counts as often, unless apart."""
    weight = np.ones(len(rows)) if annotations.weight is None else annotations.weight[rows]
    if annotations.count is None or apart:
        return weight
    return weight * annotations.count[rows]


def vote_counts(annotations: Annotations, rows: Ints | Bools | slice = slice(None)) -> Floats:
    """How many votes each row stands for."""
    if annotations.count is None:
        return np.ones(len(annotations.item[rows]))
    return annotations.count[rows].astype(np.float64)


def dense_blocks(annotations: Annotations, rows: np.ndarray) -> np.ndarray:
    """Number the blocks of each reading 0, 1, 2, ... whatever the ranks were."""
    assert annotations.rank is not None and annotations.reading is not None
    return dense_ranks(annotations.reading[rows], annotations.rank[rows])


def dense_ranks(reading: Ints, rank: Ints | Floats) -> Ints:
    """Count the distinct ranks before each one within its reading.

    Examples
    --------
    >>> dense_ranks(np.array([0, 0, 0, 1]), np.array([2., 5., 2., 9.]))
    array([0, 1, 0, 0])
    """
    order = np.lexsort((rank, reading))
    new = np.diff(reading[order], prepend=-1) != 0
    step = ~new
    step[1:] &= rank[order][1:] != rank[order][:-1]
    number = np.cumsum(step)
    first = np.maximum.accumulate(np.where(new, number, 0))
    block = np.empty(len(rank), dtype=np.int64)
    block[order] = number - first
    return block


def _opinions(annotations: Annotations, task: str) -> Bools:
    """Rows that count: first choices, and for items with gold rows only those."""
    rows = annotations.in_task(task)
    if annotations.rank is not None:
        rows &= annotations.rank == 0
    gold = rows & annotations.gold
    if not gold.any():
        return rows
    _agree(annotations, gold)
    return rows & (gold | ~gold_items(annotations, task)[annotations.item])


def gold_items(annotations: Annotations, task: str = "") -> Bools:
    """Which items of one task gold settles, shape (items,)."""
    by_gold = np.zeros(len(annotations.items), dtype=bool)
    by_gold[annotations.item[annotations.in_task(task) & annotations.gold]] = True
    return by_gold


def counted_votes(annotations: Annotations) -> Bools:
    """Which rows are votes that count: not gold, nor on an item that gold settles.

    Examples
    --------
    >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("0", "1"),
    ...     item=np.array([0, 0, 1]), label=np.array([1, 0, 1]),
    ...     is_gold=np.array([True, False, False]))
    >>> counted_votes(votes)
    array([False, False,  True])
    """
    keep = np.zeros(len(annotations), dtype=bool)
    for task in annotations.tasks:
        keep |= annotations.in_task(task) & ~gold_items(annotations, task)[annotations.item]
    return keep


def check_gold(annotations: Annotations, task: str = "") -> None:
    """Refuse gold rows of one task that contradict each other."""
    _agree(annotations, annotations.in_task(task) & annotations.gold)


def _agree(annotations: Annotations, gold: Bools) -> None:
    """Gold rows of one item must say the same."""
    if annotations.label is None:
        return
    pairs = np.unique(np.stack([annotations.item[gold], annotations.label[gold]]), axis=1)
    item, times = np.unique(pairs[0], return_counts=True)
    if (times > 1).any() and annotations.kind != "ranking":
        names = [annotations.items[i] for i in item[times > 1]]
        raise InputError(
            f"annotations, items {listed(names)}",
            "gold rows that contradict each other",
            "one known truth per item",
            "correct them or clear is_gold",
        )


def _even_weights(annotations: Annotations, rows: Ints, vote: Ints) -> None:
    """Tied first choices are one vote, so they must weigh the same."""
    if annotations.weight is None or annotations.reading is None:
        return
    weight = annotations.weight[rows]
    first = np.unique(vote, return_index=True)[1]
    uneven = np.flatnonzero(weight != weight[first][vote])
    if len(uneven):
        row = rows[uneven[0]]
        raise InputError(
            f"annotations, item {annotations.items[annotations.item[row]]!r}",
            "different weights in one tied block",
            "one weight per reading",
            "give all rows of a reading the same weight",
        )


def _choices(annotations: Annotations, rows: Ints, vote: Ints) -> tuple[Ints, Floats]:
    """Class and share of each entry."""
    if annotations.value is not None:
        values = annotations.value[rows]
        if annotations.scale is not None:
            low, high = annotations.scale
            values = (values - low) / (high - low)
        outside = (values < 0) | (values > 1)
        if outside.any():
            row = rows[np.flatnonzero(outside)[0]]
            raise InputError(
                f"annotations, item {annotations.items[annotations.item[row]]!r}",
                f"rating {annotations.value[row]:g}",
                "a number in [0, 1] as a soft label",
                hint("turn ratings into a yes/no question with {}, or rescale them", AT_LEAST),
            )
        return np.ones(len(rows), dtype=np.intp), np.asarray(values, dtype=np.float64)
    assert annotations.label is not None
    tied = np.bincount(vote)[vote]
    return annotations.label[rows], 1.0 / tied


def _who(annotations: Annotations, rows: Ints) -> Ints:
    """Annotator of each vote, -1 for gold."""
    who = np.zeros(len(rows), dtype=np.intp)
    if annotations.annotator is not None:
        who = annotations.annotator[rows].astype(np.intp)
    return np.where(annotations.gold[rows], -1, who)

"""Entries: votes or readings summed by item and class, and plausibilities made of them.

The sums are in the sparse form that plausibilities have. Every mention of a class in a ranking
is weighed by its place.
"""

from typing import Any, NamedTuple

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats, InputError, Ints, listed
from equipoise.notices import Notice
from equipoise.plausibilities import Plausibilities
from equipoise.posteriors import Dirichlet, Posterior
from equipoise.votes import Votes, collect_votes
from equipoise.wording import Option, hint

_DENSE = 8  # pairs of item and class for each vote up to which all pairs are counted


class Entries(NamedTuple):
    """Summed votes of one task.

    Attributes
    ----------
    items, classes
        Names of the items that have votes, and of all classes.
    start, label
        The voted classes of item i are ``label[start[i]:start[i + 1]]``.
    votes
        Weight of the votes for each of them, shape (entries,).
    total
        Weight of all votes of an item, shape (items,).
    ordered
        Whether the classes are grades.
    """

    items: tuple[str, ...]
    classes: tuple[str, ...]
    start: Ints
    label: Ints
    votes: Floats
    total: Floats
    ordered: bool = False


def entries(annotations: Annotations, task: str = "") -> Entries:
    """Sum the votes of one task.

    Examples
    --------
    >>> votes = Annotations(kind="nominal", items=("a",), classes=("x", "y", "z"),
    ...     item=np.array([0, 0, 0]), label=np.array([2, 0, 2]))
    >>> entries(votes).votes
    array([1., 2.])
    """
    if annotations.kind == "interval":
        raise InputError(
            "annotations of kind interval",
            "ratings",
            "classes",
            hint(
                "choose {}, or turn ratings into a yes/no question with {}",
                Option("model", "normal", python="the model 'normal'"),
                Option("at_least", python="at_least"),
            ),
        )
    votes = collect_votes(annotations, task, apart=False)
    names = tuple(annotations.items[i] for i in votes.items)
    item, label, mass = _summed(votes, len(annotations.classes))
    start = np.searchsorted(item, np.arange(len(names) + 1))
    total = np.bincount(item, mass, len(names)).astype(np.float64)
    graded = annotations.kind == "ordinal"
    return Entries(names, annotations.classes, start, label, mass, total, graded)


def _summed(votes: Votes, classes: int) -> tuple[Ints, Ints, Floats]:
    """Item, class and weight of every pair that has votes, in order."""
    item_of_vote = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
    key = item_of_vote[votes.vote] * classes + votes.label
    mass = votes.share * votes.weight[votes.vote]
    if len(votes.sizes) * classes <= _DENSE * len(key):
        pair = np.flatnonzero(np.bincount(key))
        weight = np.bincount(key, mass)[pair]
    else:
        pair, code = np.unique(key, return_inverse=True)
        weight = np.bincount(code, mass)
    return pair // classes, pair % classes, weight.astype(np.float64)


def rank_entries(annotations: Annotations, task: str, *, share_ties: bool) -> Entries:
    """Sum 1 / block number over readings, the block's share split over it or not."""
    if annotations.rank is None or annotations.reading is None or annotations.label is None:
        return entries(annotations, task)
    rows = np.flatnonzero(annotations.in_task(task))
    if annotations.is_gold is not None and annotations.is_gold[rows].any():
        raise InputError(
            "inverse rank",
            "gold rows among rankings",
            "readings only: a known truth has no ranks",
            "leave gold rows out, or choose dirichlet or mean_vote, which take first choices",
        )
    if not len(rows):
        raise InputError(
            f"annotations, task {task!r}", "no readings", "at least one", "check it"
        )
    block = dense_blocks(annotations, rows)
    tied = np.ones(len(rows))
    if share_ties:
        key = annotations.reading[rows].astype(np.int64) * (int(block.max()) + 1) + block
        code = np.unique(key, return_inverse=True)[1]
        tied = np.bincount(code)[code].astype(np.float64)
    weight = np.ones(len(rows)) if annotations.weight is None else annotations.weight[rows]
    if annotations.count is not None:
        weight = weight * annotations.count[rows]
    value = weight / ((block + 1) * tied)
    classes = len(annotations.classes)
    pair = annotations.item[rows].astype(np.int64) * classes + annotations.label[rows]
    known, code = np.unique(pair, return_inverse=True)
    votes = np.bincount(code, value).astype(np.float64)
    item, place = np.unique(known // classes, return_inverse=True)
    start = np.searchsorted(place, np.arange(len(item) + 1))
    return Entries(
        items=tuple(annotations.items[i] for i in item),
        classes=annotations.classes,
        start=start,
        label=known % classes,
        votes=votes,
        total=np.bincount(place, votes).astype(np.float64),
    )


def dense_blocks(annotations: Annotations, rows: np.ndarray) -> np.ndarray:
    """Number the blocks of each reading 0, 1, 2, ... whatever the ranks were."""
    assert annotations.rank is not None and annotations.reading is not None
    rank, reading = annotations.rank[rows], annotations.reading[rows]
    order = np.lexsort((rank, reading))
    new = np.diff(reading[order], prepend=-1) != 0
    step = (np.diff(rank[order], prepend=-1) != 0) & ~new
    number = np.cumsum(step)
    first = np.maximum.accumulate(np.where(new, number, 0))
    block = np.empty(len(rows), dtype=np.int64)
    block[order] = number - first
    return block


def from_posterior(
    votes: Entries, posterior: Posterior, *, method: str, task: str, **facts: Any
) -> Plausibilities:
    """Plausibilities of the voted classes with this posterior; its mean as their one draw."""
    mass, rest = posterior.mean(votes.start)
    return Plausibilities(
        items=votes.items,
        classes=votes.classes,
        start=votes.start,
        label=votes.label,
        mass=mass[None],
        rest=rest[None],
        method=method,
        task=task,
        law=posterior,
        ordered=votes.ordered,
        **facts,
    )


def dirichlet_posterior(
    weight: Floats, prior: float, votes: Entries, known: Bools
) -> Dirichlet:
    """Dirichlet of votes plus a prior for every class; known items have one class alone."""
    each, voted = np.where(known, 0.0, prior), np.diff(votes.start)
    own = np.where(np.repeat(known, voted), 1.0, weight + np.repeat(each, voted))
    return Dirichlet(own, each * (len(votes.classes) - voted))


def settled(annotations: Annotations, votes: Entries, task: str) -> Bools:
    """Which items gold rows settle, shape (items,); they must name one class."""
    if annotations.is_gold is None:
        return np.zeros(len(votes.items), dtype=bool)
    rows = annotations.in_task(task) & annotations.is_gold
    names = {annotations.items[i] for i in np.unique(annotations.item[rows])}
    known = np.array([item in names for item in votes.items], dtype=bool)
    several = known & (np.diff(votes.start) > 1)
    if several.any():
        raise InputError(
            f"annotations, items {listed([votes.items[i] for i in np.flatnonzero(several)])}",
            "gold rows that name several classes",
            "one known truth per item",
            "correct them or clear is_gold",
        )
    return known


def unused_confidence(annotations: Annotations, model: str) -> tuple[Notice, ...]:
    """Say that a model does not look at confidences, if there are any."""
    if annotations.confidence is None:
        return ()
    text = "Confidences are not used by {model}; turn them into weights to use them."
    return (Notice("unused_confidences", text, (), {"model": model}),)

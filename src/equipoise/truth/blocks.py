"""Blocks of votes: who answered what, laid out so that a model of annotators reads it once.

A block holds the votes on some items in compressed rows. Votes in memory are one block
(`AnnotatorVotes`), a folder of partitions is many (`equipoise.scale.disk`). A model is written
once, as a function of a range of blocks whose results are added up in their order: it is mapped
over all ranges on the engine in use, so results depend neither on the engine nor on how many
blocks are read at a time.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from equipoise.types import (
    ONE_CLASS,
    Annotations,
    Bools,
    Categorical,
    Floats,
    InputError,
    Ints,
    Names,
    Notices,
    Plausibilities,
    check_gold,
    hint,
    immutable,
    notice,
    refusing_wrong_types,
    row_weights,
)

Result = TypeVar("Result")
ROOM = 2 * 2**30  # bytes that one table may take
MUCH = 0.05  # of the items of the rarer class, decided otherwise, from which it is said
RARE = 10  # items that a class of several must have
_GRID = 2.0**40  # steps per unit of what is summed, so that sums are exact in any order


class Block(NamedTuple):
    """Votes on some items in compressed rows.

    Attributes
    ----------
    start, code
        The votes on item i are ``code[start[i]:start[i + 1]]``, each annotator * classes +
        answer.
    weight
        How often each vote counts, shape (votes,), or (0,) where all count once.
    gold
        Class of items whose truth is known, -1 for others, shape (items,), or (0,) where none
        is known.
    """

    start: Ints
    code: Any
    weight: Floats
    gold: Ints

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.start) - 1

    @property
    def votes_of_items(self) -> Any:
        """Weight of the votes on each item, shape (items,)."""
        if not len(self.weight):
            return np.diff(self.start)
        return np.diff(np.concatenate(([0.0], np.cumsum(self.weight)))[self.start])

    def shares(self, classes: int) -> Floats:
        """Share of votes per class, (items, classes); the known class of gold items."""
        from equipoise.kernels.blocks import vote_shares

        out = np.empty((self.items, classes))
        vote_shares(self[:3], self.gold, 0, out)
        return out

    def posteriors(self, log: Floats, prior: Floats) -> Floats:
        """Class posteriors (items, classes), given log chances of codes and of classes."""
        from equipoise.kernels.blocks import class_posteriors

        out = np.empty((self.items, len(prior)))
        class_posteriors(self[:3], self.gold, log, prior, 0, out)
        return out


class BlockReader(Protocol):
    """Opens blocks by their number; small enough to be sent to workers."""

    def block(self, number: int) -> Block:
        """Open one block."""
        ...


class VoteBlocks(Protocol):
    """Votes of identified annotators on one question, in blocks of items."""

    @property
    def annotators(self) -> Names:
        """Names of the annotators."""
        ...

    @property
    def classes(self) -> Names:
        """Names of the classes."""
        ...

    @property
    def number_of_items(self) -> int:
        """How many items all blocks have."""
        ...

    @property
    def reader(self) -> BlockReader:
        """What workers need to open blocks."""
        ...

    def map_groups(
        self, function: Callable[[range], Result], numbers: int, *folders: Path
    ) -> list[Result]:
        """Apply a function to ranges of blocks, to be summed apart; it uses these folders.

        Ranges follow from the data and from how many numbers a sum has.
        """
        ...


@immutable(eq=False)
class AnnotatorVotes:
    """Votes of identified annotators on one task in memory: one block.

    Attributes
    ----------
    items, classes, annotators, task
        Names.
    ordered
        Whether the classes are grades.
    answers
        Weight of the votes, sparse (items, annotators * classes), answers of an annotator
        side by side; gold rows are not among them.
    gold
        Class of gold items, -1 for others, shape (items,).
    """

    items: Names
    classes: Names
    annotators: Names
    task: str
    answers: Any
    gold: Ints
    ordered: bool = False

    @property
    def number_of_items(self) -> int:
        """How many items have votes or a known class."""
        return len(self.items)

    @property
    def reader(self) -> "AnnotatorVotes":
        """Its one block is here."""
        return self

    @cached_property
    def whole(self) -> Block:
        """All votes."""
        table = self.answers
        code, start = table.indices.astype(np.uint32), table.indptr.astype(np.int64)
        once = bool((table.data == 1).all())
        gold = self.gold if self.is_gold.any() else np.zeros(0, dtype=np.int64)
        return Block(start, code, np.zeros(0) if once else table.data, gold)

    def block(self, number: int) -> Block:
        """Return the one block."""
        del number
        return self.whole

    def map_groups(
        self, function: Callable[[range], Result], numbers: int, *folders: Path
    ) -> list[Result]:
        """Apply a function to the one block."""
        del numbers, folders
        return [function(range(1))]

    @property
    def is_gold(self) -> Bools:
        """Which items are gold, shape (items,)."""
        return self.gold >= 0

    @cached_property
    def shares(self) -> Floats:
        """Share of votes per class (items, classes); the known class of gold items."""
        return self.whole.shares(len(self.classes))


def added(parts: Sequence[Result]) -> Result:
    """Add up records of sums, field by field, in the order of the parts."""
    records: Any = parts
    total: Result = type(records[0])(
        *(reduce(add, values) for values in zip(*records, strict=True))
    )
    return total


def annotator_votes(annotations: Annotations, task: str, *, model: str) -> AnnotatorVotes:
    """Collect the votes of one task, or say why this model cannot take them.

    Items without votes are left out; annotators without votes stay, known by the prior alone.
    """
    from scipy.sparse import csr_matrix

    if annotations.annotators is None or annotations.annotator is None:
        raise InputError(
            model,
            "anonymous votes or exchangeable slots",
            "annotators with ids",
            "a model of annotators needs to know who voted; choose dirichlet or mean_vote",
        )
    if annotations.kind in ("ranking", "interval") or annotations.label is None:
        raise InputError(
            model,
            f"annotations of kind {annotations.kind}",
            "single labels",
            hint("ask about one class with {}, or choose a model for this kind", ONE_CLASS),
        )
    _require_room(annotations, model)
    rows = np.flatnonzero(annotations.in_task(task))
    if not len(rows):
        raise InputError(f"annotations, task {task!r}", "no votes", "at least one", "check it")
    gold = annotations.gold[rows]
    if gold.any():
        check_gold(annotations, task)
    seen = np.bincount(annotations.item[rows]) > 0
    items, place = np.flatnonzero(seen), (np.cumsum(seen) - 1)[annotations.item[rows]]
    size = len(annotations.classes)
    weight = row_weights(annotations, rows)
    label = annotations.label[rows].astype(np.int64)
    gold_class = np.full(len(items), -1, dtype=np.int64)
    gold_class[place[gold]] = label[gold]
    column = annotations.annotator[rows].astype(np.int64) * size + label
    shape = (len(items), len(annotations.annotators) * size)
    voted = ~gold
    return AnnotatorVotes(
        items=tuple(map(annotations.items.__getitem__, items.tolist())),
        classes=annotations.classes,
        annotators=annotations.annotators,
        task=task,
        answers=csr_matrix((weight[voted], (place[voted], column[voted])), shape=shape),
        gold=gold_class,
        ordered=annotations.kind == "ordinal",
    )


def _require_room(annotations: Annotations, model: str) -> None:
    """Refuse classes so many that the tables of items or annotators would not fit."""
    size, people = len(annotations.classes), len(annotations.annotators or ())
    wanted = max(people * size, len(annotations.items)) * size * 8
    if wanted > ROOM:
        raise InputError(
            f"{model}, {size:,} classes and {people:,} annotators",
            f"tables of {wanted / 2**30:.1f} GiB",
            f"at most {ROOM / 2**30:g} GiB",
            hint(
                "declare only the classes that occur, ask about one with {}, or choose "
                "dirichlet",
                ONE_CLASS,
            ),
        )


def exact(numbers: Floats) -> Floats:
    """Round to a grid on which sums of some thousand numbers are exact, whatever their order.

    An iteration whose sums are rounded leaves an exactly symmetric place by rounding alone, to
    a side that follows from the order of classes, annotators or items. On the grid classes
    that nothing tells apart stay alike.

    Examples
    --------
    >>> bool(np.sum([0.1, 0.2, 0.3]) == np.sum([0.3, 0.2, 0.1]))
    False
    >>> bool(exact(np.array([0.1, 0.2, 0.3])).sum() == exact(np.array([0.3, 0.2, 0.1])).sum())
    True
    """
    return np.asarray(np.rint(numbers * _GRID) / _GRID)


def decided_otherwise(who: AnnotatorVotes, posterior: Floats, model: str) -> Notices:
    """Say how many items of the rarer class a model decides otherwise than the votes.

    Of more than two classes the rarer ones are those with at least ten items, and the one
    that is decided otherwise most often is told. Ties of the votes are nobody's.
    """
    open_ = ~who.is_gold
    return decisions_notice(decisions(who.shares[open_], posterior[open_]), who.classes, model)


@refusing_wrong_types
def decisions(shares: Floats, posterior: Floats) -> Ints:
    """Items of each class by clear majority, lost by it and gained: shape (3, classes)."""
    by_model = posterior.argmax(axis=1)
    clear = (shares >= shares.max(axis=1, keepdims=True) - 1e-12).sum(axis=1) == 1
    by_vote, by_model = shares.argmax(axis=1)[clear], by_model[clear]
    size, other = shares.shape[1], by_vote != by_model
    parts = (by_vote, by_vote[other], by_model[other])
    return np.stack([np.bincount(part, minlength=size) for part in parts])


def decisions_notice(decided: Ints, classes: Sequence[str], model: str) -> Notices:
    """Say it, given what `decisions` counted."""
    (many, lost, gained), size = decided, len(classes)
    rare = many > 0 if size == 2 else many >= RARE
    if size == 2 and rare.all():
        rare = np.arange(2) == (0 if many[0] < many[1] else 1)
    if not rare.any():
        return ()
    share = np.where(rare, (lost + gained) / np.maximum(many + gained, 1), -1.0)
    worst = int(share.argmax())
    if share[worst] <= MUCH:
        return ()
    text = (
        "{model} decides {lost:count} of the {many:count} items that the votes call {name} "
        "otherwise, and calls {gained:count} more so: they differ on {share:percent} of what "
        "either calls so. With few annotators and few such items its errors can look certain; "
        "compare with the votes."
    )
    values = {"lost": int(lost[worst]), "many": int(many[worst]), "gained": int(gained[worst])}
    caution = notice(
        "decided_otherwise",
        text,
        model=model,
        name=classes[worst],
        share=float(share[worst]),
        **values,
    )
    return (caution,)


def from_class_posterior(
    who: AnnotatorVotes, posterior: Floats, *, method: str, **facts: Any
) -> Plausibilities:
    """Plausibilities of items whose class is known but for these probabilities."""
    items, size = posterior.shape
    chance, none = posterior.ravel(), np.zeros(items)
    return Plausibilities(
        items=who.items,
        classes=who.classes,
        start=np.arange(0, items * size + 1, size),
        label=np.tile(np.arange(size), items),
        mass=chance[None],
        rest=none[None],
        method=method,
        task=who.task,
        law=Categorical(chance, none),
        ordered=who.ordered,
        **facts,
    )

"""Annotator votes: who answered what, for models of annotators."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, InputError, Ints
from equipoise.types.notices import Notice, notice
from equipoise.types.plausibilities import Categorical, Plausibilities
from equipoise.types.votes import check_gold, gold_rows, row_weights
from equipoise.types.words import ONE_CLASS, hint

ROOM = 2 * 2**30  # bytes that one table may take
MUCH = 0.05  # of the items of the rarer class, decided otherwise, from which it is said
RARE = 10  # items that a class of several must have
_GRID = 2.0**40  # steps per unit of what is summed, so that sums are exact in any order


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorVotes:
    """Votes of identified annotators on one task.

    Attributes
    ----------
    items, classes, annotators, task
        Names.
    ordered
        Whether the classes are grades.
    answers
        Weight of the votes, sparse (items, annotators * classes), answers of an annotator
        side by side; gold rows are not among them.
    shares
        Share of votes per class (items, classes); the known class of gold items.
    settled
        Which items are gold, shape (items,).
    """

    items: tuple[str, ...]
    classes: tuple[str, ...]
    annotators: tuple[str, ...]
    task: str
    answers: Any
    shares: Floats
    settled: Bools
    ordered: bool = False


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
    gold = gold_rows(annotations)[rows]
    if gold.any():
        check_gold(annotations, task)
    seen = np.bincount(annotations.item[rows]) > 0
    items, place = np.flatnonzero(seen), (np.cumsum(seen) - 1)[annotations.item[rows]]
    size = len(annotations.classes)
    weight = row_weights(annotations, rows)
    label = annotations.label[rows].astype(np.int64)
    settled = np.bincount(place[gold], minlength=len(items)) > 0
    column = annotations.annotator[rows].astype(np.int64) * size + label
    shape = (len(items), len(annotations.annotators) * size)
    own = ~gold
    return AnnotatorVotes(
        items=tuple(map(annotations.items.__getitem__, items.tolist())),
        classes=annotations.classes,
        annotators=annotations.annotators,
        task=task,
        answers=csr_matrix((weight[own], (place[own], column[own])), shape=shape),
        shares=_shares(place * size + label, np.where(settled[place] & own, 0, weight), size),
        settled=settled,
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


def _shares(cell: Ints, weight: Floats, size: int) -> Floats:
    """Share of the weight per class, (items, classes); cells are item * classes + class."""
    cells = (int(cell.max()) // size + 1) * size
    table = np.bincount(cell, weight, cells).reshape(-1, size)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


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


def class_posteriors(who: AnnotatorVotes, log: Floats, classes: Floats) -> tuple[Floats, float]:
    """Class posteriors of every item, and the log-likelihood; gold items stay settled.

    ``log`` holds the log chance of each answer given each true class, (annotators, true,
    answer); ``classes`` the class prior, which counts once per item.
    """
    size = len(classes)
    joint = who.answers @ exact(log).transpose(0, 2, 1).reshape(-1, size)
    prior = exact(np.log(np.maximum(classes, 1e-300)))
    joint = np.ascontiguousarray(joint.T) + prior[:, None]
    top = joint.max(axis=0)  # classes first: sums over few classes are then sums of rows
    weight = np.exp(joint - top)
    total = exact(weight).sum(axis=0)
    each = top + np.log(total)
    posterior = np.ascontiguousarray((weight / total).T)
    if who.settled.any():
        posterior = np.where(who.settled[:, None], who.shares, posterior)
        each = np.where(who.settled, (who.shares * joint.T).sum(axis=1), each)
    return posterior, float(each.sum())


def decided_otherwise(who: AnnotatorVotes, posterior: Floats, model: str) -> tuple[Notice, ...]:
    """Say how many items of the rarer class a model decides otherwise than the votes.

    Of more than two classes the rarer ones are those with at least ten items, and the one
    that is decided otherwise most often is told. Ties of the votes are nobody's.
    """
    own = ~who.settled
    return decisions_notice(decisions(who.shares[own], posterior[own]), who.classes, model)


def decisions(shares: Floats, posterior: Floats) -> Ints:
    """Items of each class by clear majority, lost by it and gained: shape (3, classes)."""
    found = posterior.argmax(axis=1)
    clear = (shares >= shares.max(axis=1, keepdims=True) - 1e-12).sum(axis=1) == 1
    by_vote, found = shares.argmax(axis=1)[clear], found[clear]
    size, other = shares.shape[1], by_vote != found
    parts = (by_vote, by_vote[other], found[other])
    return np.stack([np.bincount(part, minlength=size) for part in parts])


def decisions_notice(decided: Ints, classes: Sequence[str], model: str) -> tuple[Notice, ...]:
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
    said = notice(
        "decided_otherwise",
        text,
        model=model,
        name=classes[worst],
        share=float(share[worst]),
        **values,
    )
    return (said,)


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

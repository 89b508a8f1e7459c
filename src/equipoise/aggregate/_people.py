"""People: who answered what, for models of annotators."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats, InputError
from equipoise.ballots import ballots
from equipoise.laws import Labels
from equipoise.plausibilities import Plausibilities


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Votes of identified annotators on one task.

    Attributes
    ----------
    items, classes, annotators, task
        Names.
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


def people(annotations: Annotations, task: str, *, model: str) -> People:
    """Collect the votes of one task, or say why this model cannot take them."""
    from scipy.sparse import csr_matrix

    if annotations.annotators is None or annotations.annotator is None:
        raise InputError(
            model, "anonymous votes or exchangeable slots", "annotators with ids",
            "a model of annotators needs to know who voted; choose dirichlet or mean_vote",
        )  # fmt: skip
    if annotations.kind in ("ranking", "interval") or annotations.label is None:
        raise InputError(
            model, f"annotations of kind {annotations.kind}", "single labels",
            "ask about one class with against(), or choose a model for this kind",
        )  # fmt: skip
    votes = ballots(annotations, task)
    size = len(annotations.classes)
    rows = np.flatnonzero(annotations.in_task(task))
    if annotations.is_gold is not None:
        rows = rows[~annotations.is_gold[rows]]
    place = np.full(len(annotations.items), -1)
    place[votes.items] = np.arange(len(votes.items))
    weight = np.ones(len(rows)) if annotations.weight is None else annotations.weight[rows]
    if annotations.count is not None:
        weight = weight * annotations.count[rows]
    column = annotations.annotator[rows].astype(np.int64) * size + annotations.label[rows]
    shape = (len(votes.items), len(annotations.annotators) * size)
    return People(
        items=tuple(annotations.items[i] for i in votes.items),
        classes=annotations.classes,
        annotators=annotations.annotators,
        task=task,
        answers=csr_matrix((weight, (place[annotations.item[rows]], column)), shape=shape),
        shares=np.stack([votes.shares(code) for code in range(size)], axis=1),
        settled=votes.annotator[votes.start[:-1]] < 0,
    )


def class_posteriors(who: People, log: Floats, classes: Floats) -> tuple[Floats, float]:
    """Class posteriors of every item, and the log-likelihood; gold items stay settled.

    ``log`` holds the log chance of each answer given each true class, (annotators, true,
    answer); ``classes`` the class prior, which counts once per item.
    """
    size = len(classes)
    joint = who.answers @ log.transpose(0, 2, 1).reshape(-1, size)
    joint = joint + np.log(np.maximum(classes, 1e-300))
    top = joint.max(axis=1, keepdims=True)
    weight = np.exp(joint - top)
    total = weight.sum(axis=1, keepdims=True)
    posterior = np.where(who.settled[:, None], who.shares, weight / total)
    settled = (who.shares * joint).sum(axis=1)
    each = np.where(who.settled, settled, (top + np.log(total))[:, 0])
    return posterior, float(each.sum())


def labelled(who: People, posterior: Floats, *, method: str, **facts: Any) -> Plausibilities:
    """Plausibilities of items whose class is known but for these chances."""
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
        law=Labels(chance, none),
        **facts,
    )

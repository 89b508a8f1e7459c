"""Circularity: a model that helped to make the truth that it is scored against.

It is one where

- the model has the name of an annotator (upper or lower case alike), or
- the votes of an annotator are what the model says, on all the items that both have: its
  classes, or its scores cut at some threshold. There must be at least thirty items on which
  others vote otherwise, ten of each of two classes among them: a good model is right where all
  agree, and a crowd has many members on few items, one of whom it follows by chance, or
- nobody votes otherwise anywhere, and all votes are the model's scores cut at a threshold that
  goes through the thick of them: of at least fifty items, ten of each class, the gap between
  the scores on both sides of the cut is an ordinary one. A model that tells two classes apart
  without a fault leaves a wide gap between them.

Scores of such a model say how well it agrees with itself. It is refused; or the annotator is
left out of the truth, or it is scored all the same, where the user says so.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, InputError, Ints, choice, listed
from equipoise.types.notices import notice
from equipoise.types.numbers import number
from equipoise.types.predictions import Predictions
from equipoise.types.words import Option, hint

CIRCULAR = ("error", "drop", "keep")
CHECKED = "checked"  # by somebody else
DROP, KEEP = Option("circular", "drop"), Option("circular", "keep")
DISPUTED, OF_EACH = 30, 10  # disputed items, and those of each of two classes
ALONE, OF_EACH_ALONE = 50, 10  # the same where nobody disputes anything
ORDINARY = 0.9  # quantile of the gaps between scores up to which one is ordinary


def independent(
    annotations: Annotations, predictions: Iterable[Predictions], circular: str = "error"
) -> Annotations:
    """The same annotations, where no model made them; else a refusal, or without those.

    Parameters
    ----------
    circular
        ``error`` refuses; ``drop`` leaves the annotators out, ``keep`` leaves all as it is,
        and a notice says so.
    """
    choice("circular", circular, CIRCULAR)
    models = list(predictions)
    _refuse_own_truth(annotations, models, circular)
    names = annotations.annotators
    if names is None or annotations.annotator is None:
        return annotations
    named = {one.model.casefold(): one.model for one in models}
    found = {code: named[name.casefold()] for code, name in enumerate(names)
             if name.casefold() in named}  # fmt: skip
    for one in models:
        found |= {int(code): one.model for code in np.flatnonzero(_copied(annotations, one))}
    if not found:
        return annotations
    pairs = listed([f"{names[code]} ({model})" for code, model in found.items()])
    if circular == "error":
        raise InputError(
            "annotations and predictions",
            f"annotators who are models: {pairs}",
            "models that did not help to make the truth",
            hint("rename the model if it is another, or leave its votes out: {}", DROP),
        )
    if circular == "keep":
        text = "Annotators are models, which are scored against themselves: {pairs}."
        told = (*annotations.notices, notice("circular", text, pairs=pairs))
        return replace(annotations, notices=told)
    return _without(annotations, sorted(found), pairs)


class _Shared(NamedTuple):
    """Votes on the items that a model knows too, in rows: who, which item, what was said.

    `said` is the score of the item, or the class that the model names.
    """

    who: Ints
    item: Ints
    label: Ints
    said: Floats
    scored: bool


def _shared(annotations: Annotations, one: Predictions) -> _Shared | None:
    """Votes next to what a model says; None where they cannot be compared."""
    if annotations.rank is not None or annotations.label is None:
        return None
    values = np.asarray(one.values)
    if one.task not in annotations.tasks:
        return None
    if values.ndim == 1:
        said = values if len(annotations.classes) == 2 else None
    else:
        said = _named_classes(annotations, one)
    if said is None:
        return None
    if one.items == annotations.items:
        known = np.array(said, dtype=np.float64)
    else:
        place = {name: code for code, name in enumerate(annotations.items)}
        known = np.full(len(annotations.items), np.nan)
        rows = np.array([place.get(name, -1) for name in one.items])
        known[rows[rows >= 0]] = said[rows >= 0]
    use = annotations.in_task(one.task) & ~np.isnan(known[annotations.item])
    if annotations.is_gold is not None and annotations.annotator is not None:
        use &= ~annotations.is_gold
    who = np.zeros(len(annotations)) if annotations.annotator is None else annotations.annotator
    item = annotations.item[use]
    if not len(item):
        return None
    return _Shared(
        who[use].astype(np.int64), item, annotations.label[use], known[item], values.ndim == 1
    )


def _named_classes(annotations: Annotations, one: Predictions) -> Floats | None:
    """The most probable class of every item as a code of the annotations; nan for ties."""
    code = {name: place for place, name in enumerate(annotations.classes)}
    if not set(one.classes) <= set(code):
        return None
    values = np.asarray(one.values)
    codes = np.array([code[name] for name in one.classes], dtype=np.float64)
    single = (values == values.max(axis=1, keepdims=True)).sum(axis=1) == 1
    return np.where(single, codes[values.argmax(axis=1)], np.nan)


def _copied(annotations: Annotations, one: Predictions) -> Bools:
    """Annotators whose votes are what a model says, shape (annotators,)."""
    people = len(annotations.annotators or ())
    votes = _shared(annotations, one)
    if votes is None:
        return np.zeros(people, dtype=bool)
    if votes.scored:
        least, most = np.full(people, np.inf), np.full(people, -np.inf)
        yes = votes.label == 1
        np.minimum.at(least, votes.who[yes], votes.said[yes])
        np.maximum.at(most, votes.who[~yes], votes.said[~yes])
        same = least > most
    else:
        same = np.bincount(votes.who, votes.label != votes.said, people) == 0
    disputed = _disputed(votes)[votes.item]
    each = np.zeros((people, len(annotations.classes)), dtype=np.int64)
    np.add.at(each, (votes.who[disputed], votes.label[disputed]), 1)
    varied = (each >= OF_EACH).sum(axis=1) >= 2
    return np.asarray(varied & (each.sum(axis=1) >= DISPUTED) & same)


def _disputed(votes: _Shared) -> Bools:
    """Items with several different answers, shape (items,)."""
    size = int(votes.item.max()) + 1
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
    np.minimum.at(low, votes.item, votes.label)
    np.maximum.at(high, votes.item, votes.label)
    return np.asarray(high > low)


def _refuse_own_truth(
    annotations: Annotations, models: Iterable[Predictions], circular: str
) -> None:
    """Raise where all votes are a model's own scores, cut somewhere."""
    for one in models:
        cut = _own_cut(annotations, one) if circular != "keep" else None
        if cut is not None:
            raise InputError(
                "annotations and predictions",
                f"votes that are exactly the scores of {one.model!r}"
                + (f" for {one.task!r}" if one.task else "")
                + f", cut at {number(cut)}",
                "a truth that was not made from a model",
                hint(
                    "give the votes of experts, leave the model out, or, if the model is that "
                    "good, say {}",
                    KEEP,
                ),
            )


def _own_cut(annotations: Annotations, one: Predictions) -> float | None:
    """Where a model's scores make all votes, through the thick of them; None elsewhere."""
    votes = _shared(annotations, one)
    if votes is None or not votes.scored or len(votes.item) < ALONE or _disputed(votes).any():
        return None
    item, first = np.unique(votes.item, return_index=True)
    yes, said = votes.label[first] == 1, votes.said[first]
    if len(item) < ALONE or min(yes.sum(), (~yes).sum()) < OF_EACH_ALONE:
        return None
    gap, scores = said[yes].min() - said[~yes].max(), np.unique(said)
    if gap <= 0 or len(scores) < ALONE // 2:
        return None
    ordinary = gap <= np.quantile(np.diff(scores), ORDINARY)
    return float(said[yes].min()) if ordinary else None


def _without(annotations: Annotations, codes: list[int], pairs: str) -> Annotations:
    """Leave annotators out, and say so."""
    assert annotations.annotator is not None and annotations.annotators is not None
    keep = ~np.isin(annotations.annotator, codes)
    if not keep.any():
        raise InputError(
            "annotations",
            f"votes of {pairs} alone",
            "votes of somebody who is no model",
            "give the votes of experts",
        )
    left = [code for code in range(len(annotations.annotators)) if code not in codes]
    part = annotations.rows(keep)
    assert part.annotator is not None
    text = "Votes of annotators who are models are left out: {pairs}."
    return replace(
        part,
        annotators=tuple(annotations.annotators[code] for code in left),
        annotator=np.searchsorted(left, part.annotator),
        notices=(*part.notices, notice("circular", text, pairs=pairs)),
    )

"""Circularity: a model that helped to make the truth that it is scored against.

It is one where the model has the name of an annotator (upper or lower case alike), or where its
predictions are the votes of an annotator on all the items that both have: at least twenty, with
five of two classes each, and five on which others vote otherwise (a model that is right where
all agree is no annotator). Scores of such a model say how well it agrees with itself. It is
refused, or the annotator is left out of the truth where the user says so.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Bools, InputError, Ints, choice, listed
from equipoise.notices import notice
from equipoise.predictions import Predictions
from equipoise.wording import Option, hint

CIRCULAR = ("error", "drop")
DROP = Option("circular", "drop")
LEAST, OF_EACH = 20, 5  # shared items; of each of two classes, and disputed ones


def independent(
    annotations: Annotations, predictions: Iterable[Predictions], circular: str = "error"
) -> Annotations:
    """The same annotations, where no model is an annotator; else a refusal, or without those.

    Parameters
    ----------
    circular
        ``error`` refuses; ``drop`` leaves the annotators out, and a notice says so.
    """
    choice("circular", circular, CIRCULAR)
    names = annotations.annotators
    if names is None or annotations.annotator is None:
        return annotations
    models = list(predictions)
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
    return _without(annotations, sorted(found), pairs)


def _copied(annotations: Annotations, one: Predictions) -> Bools:
    """Annotators whose votes are the predictions of a model, shape (annotators,)."""
    people = len(annotations.annotators or ())
    none = np.zeros(people, dtype=bool)
    said = _labels(annotations, one)
    if said is None or annotations.label is None or one.task not in annotations.tasks:
        return none
    assert annotations.annotator is not None
    place = {name: code for code, name in enumerate(annotations.items)}
    known = np.full(len(annotations.items), -1)
    rows = np.array([place.get(name, -1) for name in one.items])
    known[rows[rows >= 0]] = said[rows >= 0]
    use = annotations.in_task(one.task) & (known[annotations.item] >= 0)
    if annotations.is_gold is not None:
        use &= ~annotations.is_gold
    who, label = annotations.annotator[use], annotations.label[use]
    wrong = np.bincount(who, label != known[annotations.item[use]], people) > 0
    each = np.zeros((people, len(annotations.classes)), dtype=np.int64)
    np.add.at(each, (who, label), 1)
    varied = ((each >= OF_EACH).sum(axis=1) >= 2) & (each.sum(axis=1) >= LEAST)
    item = annotations.item[use]
    votes, same = (
        np.bincount(item, weight, len(known)) for weight in (None, label == known[item])
    )
    disputed = np.bincount(who, (votes > same)[item], people) >= OF_EACH
    return np.asarray(varied & disputed & ~wrong)


def _labels(annotations: Annotations, one: Predictions) -> Ints | None:
    """Predictions as class codes of the annotations; None where they are not plain answers."""
    values = np.asarray(one.values)
    if annotations.rank is not None or not ((values == 0) | (values == 1)).all():
        return None
    if values.ndim == 1:
        return values.astype(np.intp) if len(annotations.classes) == 2 else None
    code = {name: place for place, name in enumerate(annotations.classes)}
    if not set(one.classes) <= set(code) or (values.sum(axis=1) != 1).any():
        return None
    codes = np.array([code[name] for name in one.classes])
    return np.asarray(codes[values.argmax(axis=1)])


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

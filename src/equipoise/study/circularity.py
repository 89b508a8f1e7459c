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

from equipoise.read.options import SHARED
from equipoise.types import (
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Option,
    Predictions,
    choice,
    hint,
    listed,
    notice,
    number,
)

CIRCULAR = SHARED["circular"].choices
CHECKED = "checked"  # by somebody else
DROP, KEEP = Option("circular", "drop"), Option("circular", "keep")
DISPUTED, OF_EACH = 30, 10  # disputed items, and those of each of two classes
ALONE, OF_EACH_ALONE = 50, 10  # the same where nobody disputes anything
SCREENED = 50_000  # votes that are looked at first
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
    copies = _copies(annotations, models, circular)
    names = annotations.annotators
    if names is None or annotations.annotator is None:
        return annotations
    by_name = dict[str, str]()
    for model in models:
        by_name[model.model.casefold()] = model.model
    circular_models = dict[int, str]()
    for code, name in enumerate(names):
        if name.casefold() in by_name:
            circular_models[code] = by_name[name.casefold()]
    circular_models |= copies
    if not circular_models:
        return annotations
    pairs = listed([f"{names[code]} ({model})" for code, model in circular_models.items()])
    if circular == "error":
        raise InputError(
            "annotations and predictions",
            f"annotators who are models: {pairs}",
            "models that did not help to make the truth",
            hint("rename the model if it is another, or leave its votes out: {}", DROP),
        )
    if circular == "keep":
        text = "Annotators are models, which are scored against themselves: {pairs}."
        notices = (*annotations.notices, notice("circular", text, pairs=pairs))
        return replace(annotations, notices=notices)
    return _without_annotators(annotations, sorted(circular_models), pairs)


def _copies(
    annotations: Annotations, models: Iterable[Predictions], circular: str
) -> dict[int, str]:
    """Models by the codes of annotators who vote as they do; refuses a truth made of one."""
    answers: dict[str, Ints] = {}
    disputed: dict[str, Bools] = {}
    copies: dict[int, str] = {}
    for model in models:
        answer, task = _answers_of_model(annotations, model), model.task
        if answer is None:
            continue
        if task not in answers:
            use = annotations.in_task(task)
            if annotations.is_gold is not None and annotations.annotator is not None:
                use &= ~annotations.is_gold
            answers[task] = np.flatnonzero(use)
            disputed[task] = _disputed_items(annotations, answers[task])
        rows = answers[task]
        some = _shared_votes(annotations, model, answer, rows[:: 1 + len(rows) // SCREENED])
        people = max(1, len(annotations.annotators or ()))
        if disputed[task][some.item].any() and not some.agreeing_annotators(people).any():
            continue  # nobody copied the model, nor did it make them all
        votes = _shared_votes(annotations, model, answer, rows)
        where = disputed[task][votes.item]
        if circular != "keep":
            _refuse_own_truth(model, votes, where)
        copying = np.flatnonzero(_copying_annotators(annotations, votes, where))
        copies |= {int(code): model.model for code in copying}
    return copies


class _SharedVotes(NamedTuple):
    """Votes on the items that a model knows too, in rows: who, which item, what was said.

    `answer` is the score of the item, or the class that the model names.
    """

    who: Ints
    item: Ints
    label: Ints
    answer: Floats
    scored: bool

    def agreeing_annotators(self, people: int) -> Bools:
        """Annotators none of whose votes is against what the model says, (annotators,)."""
        if not self.scored:
            against = np.bincount(self.who, self.label != self.answer, people)
            return np.asarray(against == 0)
        least, most = np.full(people, np.inf), np.full(people, -np.inf)
        yes = self.label == 1
        np.minimum.at(least, self.who[yes], self.answer[yes])
        np.maximum.at(most, self.who[~yes], self.answer[~yes])
        return least > most


def _answers_of_model(annotations: Annotations, model: Predictions) -> Floats | None:
    """What a model says of every item, nan for the unknown; None where it cannot be compared.

    That is its score, or the code of the class that it names.
    """
    if annotations.rank is not None or annotations.label is None:
        return None
    if model.task not in annotations.tasks:
        return None
    values = np.asarray(model.values)
    if values.ndim == 1:
        answer = values if len(annotations.classes) == 2 else None
    else:
        answer = _named_classes(annotations, model)
    if answer is None or model.items == annotations.items:
        return answer
    place = {name: code for code, name in enumerate(annotations.items)}
    of_items = np.full(len(annotations.items), np.nan)
    rows = np.array([place.get(name, -1) for name in model.items])
    of_items[rows[rows >= 0]] = answer[rows >= 0]
    return of_items


def _shared_votes(
    annotations: Annotations, model: Predictions, answer: Floats, rows: Ints
) -> _SharedVotes:
    """Votes of some rows next to what a model says of their items, where it says anything."""
    assert annotations.label is not None
    rows = rows[~np.isnan(answer[annotations.item[rows]])]
    who = annotations.annotator
    people = np.zeros(len(rows)) if who is None else who[rows]
    item = annotations.item[rows]
    scored = np.asarray(model.values).ndim == 1
    return _SharedVotes(
        people.astype(np.int64), item, annotations.label[rows], answer[item], scored
    )


def _named_classes(annotations: Annotations, model: Predictions) -> Floats | None:
    """The most probable class of every item as a code of the annotations; nan for ties."""
    code = {name: place for place, name in enumerate(annotations.classes)}
    if not set(model.classes) <= set(code):
        return None
    values = np.asarray(model.values)
    codes = np.array([code[name] for name in model.classes], dtype=np.float64)
    single = (values == values.max(axis=1, keepdims=True)).sum(axis=1) == 1
    return np.where(single, codes[values.argmax(axis=1)], np.nan)


def _copying_annotators(
    annotations: Annotations, votes: _SharedVotes, disputed: Bools
) -> Bools:
    """Annotators whose votes are what a model says, shape (annotators,).

    Parameters
    ----------
    disputed
        Which of these votes are on an item with different answers, shape (votes,).
    """
    people = len(annotations.annotators or ())
    if not people:
        return np.zeros(0, dtype=bool)
    answers = np.zeros((people, len(annotations.classes)), dtype=np.int64)
    np.add.at(answers, (votes.who[disputed], votes.label[disputed]), 1)
    varied = (answers >= OF_EACH).sum(axis=1) >= 2
    enough = np.asarray(varied & (answers.sum(axis=1) >= DISPUTED))
    if not enough.any():
        return enough
    return enough & votes.agreeing_annotators(people)


def _disputed_items(annotations: Annotations, rows: Ints) -> Bools:
    """Items with several different answers in some rows, shape (items,)."""
    assert annotations.label is not None
    item, label = annotations.item[rows], annotations.label[rows]
    low = np.full(len(annotations.items), np.iinfo(np.int64).max)
    high = np.full(len(annotations.items), -1)
    np.minimum.at(low, item, label)
    np.maximum.at(high, item, label)
    return high > low


def _refuse_own_truth(model: Predictions, votes: _SharedVotes, disputed: Bools) -> None:
    """Raise where all votes are a model's own scores, cut somewhere."""
    cut = _cut_of_votes(votes, disputed)
    if cut is not None:
        raise InputError(
            "annotations and predictions",
            f"votes that are exactly the scores of {model.model!r}"
            + (f" for {model.task!r}" if model.task else "")
            + f", cut at {number(cut)}",
            "a truth that was not made from a model",
            hint(
                "give the votes of experts, leave the model out, or, if the model is that "
                "good, say {}",
                KEEP,
            ),
        )


def _cut_of_votes(votes: _SharedVotes, disputed: Bools) -> float | None:
    """Where a model's scores make all votes, through the thick of them; None elsewhere."""
    if not votes.scored or len(votes.item) < ALONE or disputed.any():
        return None
    item, first = np.unique(votes.item, return_index=True)
    yes, scores_of_items = votes.label[first] == 1, votes.answer[first]
    if len(item) < ALONE or min(yes.sum(), (~yes).sum()) < OF_EACH_ALONE:
        return None
    gap, scores = (
        scores_of_items[yes].min() - scores_of_items[~yes].max(),
        np.unique(scores_of_items),
    )
    if gap <= 0 or len(scores) < ALONE // 2:
        return None
    ordinary = gap <= np.quantile(np.diff(scores), ORDINARY)
    return float(scores_of_items[yes].min()) if ordinary else None


def _without_annotators(annotations: Annotations, codes: list[int], pairs: str) -> Annotations:
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

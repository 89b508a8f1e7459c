"""Readers left out: each annotator as if it were a model, against a truth without its votes.

For every annotator the truth is that of the others, on the items that this annotator read and
somebody else did too (or gold settles); the annotator's own answers, and the decisions of every
model, are scored against that same truth on those same items. Where an annotator answered an
item several times, its answer is their mean.

An interval speaks for this annotator and these models as they are, on other items like these
and, where there are enough of them, with other annotators like the others to set the truth.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from equipoise.study.blocks import LABELS
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, InputError, Ints
from equipoise.types.notices import Notice, notice
from equipoise.types.predictions import Predictions
from equipoise.types.votes import gold_rows, row_weights

if TYPE_CHECKING:
    from equipoise.study.result import Evaluation
    from equipoise.study.study import Study

MOST = 100  # annotators that are compared with the models
KINDS = ("binary", "nominal", "ordinal")


class ReaderRow(NamedTuple):
    """A reader, or a model, against the truth of all others but that reader.

    Attributes
    ----------
    reader
        Who was left out of the truth.
    who, is_reader
        Whose score it is: the reader's own, or a model's on the same items and truth.
    items
        On how many items.
    value, low, high
        The score and its interval.
    difference, difference_low, difference_high, p
        Of a model: its score minus the reader's, paired, with interval and p-value of this
        difference alone.
    """

    task: str
    reader: str
    who: str
    is_reader: bool
    metric: str
    labels: str
    items: int
    value: float
    low: float
    high: float
    difference: float = math.nan
    difference_low: float = math.nan
    difference_high: float = math.nan
    p: float = math.nan


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """One reader, and the truth without it.

    Attributes
    ----------
    name
        Of the reader.
    truth
        What all others say of the items that it read.
    answers
        What it says itself, one object per task.
    """

    name: str
    truth: Annotations
    answers: tuple[Predictions, ...]

    def models(self, predictions: Iterable[Predictions]) -> list[Predictions]:
        """What models say of the same tasks and items."""
        items = {one.task: one.items for one in self.answers}
        asked = ((one, set(one.items)) for one in predictions if one.task in items)
        return [one.of_items([x for x in items[one.task] if x in has]) for one, has in asked]


def readers_left_out(annotations: Annotations) -> list[LeftOut]:
    """Every annotator that read what others did, most votes first, then by name.

    Examples
    --------
    >>> from equipoise.datasets.demo import reading_study
    >>> one = readers_left_out(reading_study()[0])[0]
    >>> one.name, one.truth
    ('Dr Abel', Annotations(binary, 569 items, 7 annotators, 3983 rows))
    """
    _refuse(annotations)
    assert annotations.annotators is not None and annotations.annotator is not None
    votes = np.bincount(
        annotations.annotator[~gold_rows(annotations)], minlength=len(annotations.annotators)
    )
    names = annotations.annotators
    order = sorted(range(len(names)), key=lambda who: (-votes[who], names[who]))[:MOST]
    made = (_left_out(annotations, who) for who in order if votes[who])
    return [one for one in made if one is not None]


def score_readers(study: "Study") -> tuple[tuple[ReaderRow, ...], tuple[Notice, ...]]:
    """Every annotator next to all models, by the metrics of the study, and what to know."""
    rows: list[ReaderRow] = []
    notices: list[Notice] = []
    annotations, study = study.annotations, study.telling(lambda *_: None)
    for reader in readers_left_out(annotations):
        view = study.with_truth(reader.truth, "influence").with_competitors(
            [*reader.models(study.predictions), *reader.answers]
        )
        try:
            rows += _rows(reader, view.evaluation)
        except InputError as error:
            text = "left out of the comparison with the models: {why}."
            notices.append(Notice("reader_left_out", text, (reader.name,), {"why": error.got}))
    voters = len(annotations.annotators or ())
    if voters > MOST:
        text = "Of {people:count} annotators the {most:count} with most votes are compared."
        notices.append(notice("readers_most", text, people=voters, most=MOST))
    return tuple(rows), tuple(notices)


def _rows(one: LeftOut, made: "Evaluation") -> Iterator[ReaderRow]:
    """The reader first, then the models, for every task, metric and kind of label."""
    read = {question.task: set(question.items) for question in made.questions}
    every = len(set().union(*read.values()))
    models = [name for name in made.models if name != one.name]
    for task, metric, labels in product(made.tasks, made.metrics, LABELS):
        own = made.estimate(one.name, metric.name, labels=labels, task=task)
        low, high = own.interval(made.level)
        mine = ReaderRow(
            task=task,
            reader=one.name,
            who=one.name,
            is_reader=True,
            metric=metric.name,
            labels=labels,
            items=len(read[task]) if task in read else every,
            value=own.value,
            low=low,
            high=high,
        )
        yield mine
        for name in models:
            each = made.estimate(name, metric.name, labels=labels, task=task)
            gap = each - own
            low, high = each.interval(made.level)
            apart = mine._replace(
                who=name, is_reader=False, value=each.value, low=low, high=high
            )
            low, high = gap.interval(made.level)
            yield apart._replace(
                difference=gap.value,
                difference_low=low,
                difference_high=high,
                p=math.nan if gap.spread is None else gap.spread.p_value(gap.value),
            )


def _refuse(annotations: Annotations) -> None:
    """Raise unless at least two people gave labels under their names."""
    names = annotations.annotators
    if names is None or len(names) < 2 or annotations.kind not in KINDS:
        got = "anonymous votes" if names is None else f"{len(names)} annotator"
        if names is not None and len(names) > 1:
            got = f"annotations of kind {annotations.kind}"
        raise InputError(
            "readers",
            got,
            "labels of at least two annotators with ids",
            "leave readers out, or name who voted",
        )


def _left_out(annotations: Annotations, who: int) -> LeftOut | None:
    assert annotations.annotator is not None and annotations.annotators is not None
    code: Ints = annotations.item.astype(np.int64)
    if annotations.task is not None:
        code = annotations.task.astype(np.int64) * len(annotations.items) + code
    own = (annotations.annotator == who) & ~gold_rows(annotations)
    others = np.isin(code, code[own]) & ~own
    own &= np.isin(code, code[others])
    if not own.any():
        return None
    return LeftOut(
        annotations.annotators[who],
        _without(annotations, others, who),
        tuple(_answers(annotations, own, annotations.annotators[who])),
    )


def _without(annotations: Annotations, rows: Bools, who: int) -> Annotations:
    """Some rows, with the names that they use, and without one annotator."""
    names = annotations.annotators
    assert names is not None
    part = annotations.rows(rows)
    present = np.zeros(len(part.items), dtype=bool)
    present[part.item] = True
    part = part.of_items(present)
    if part.task is not None:
        codes, task = np.unique(part.task, return_inverse=True)
        part = replace(part, task=task, tasks=tuple(part.tasks[code] for code in codes))
    code = np.asarray(part.annotator)
    if (code == who).any():  # gold rows may stand under anybody's name
        return replace(part, notices=())
    return replace(
        part,
        annotators=tuple(name for other, name in enumerate(names) if other != who),
        annotator=code - (code > who),
        notices=(),
    )


def _answers(annotations: Annotations, own: Bools, name: str) -> Iterator[Predictions]:
    """What one annotator says, task by task; repeated answers are averaged."""
    assert annotations.label is not None
    several = annotations.kind != "binary"
    for task in annotations.tasks:
        rows = np.flatnonzero(own & annotations.in_task(task))
        if not len(rows):
            continue
        item, inverse = np.unique(annotations.item[rows], return_inverse=True)
        said = np.zeros((len(item), len(annotations.classes)))
        np.add.at(said, (inverse, annotations.label[rows]), row_weights(annotations, rows))
        said /= said.sum(axis=1, keepdims=True)
        yield Predictions(
            name,
            tuple(annotations.items[i] for i in item),
            said if several else said[:, 1],
            annotations.classes if several else (),
            task,
        )

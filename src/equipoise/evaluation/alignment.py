"""Alignment: bring every model's predictions to the items and classes of each question.

All models of a task are scored on the same items, so that every comparison is paired. What does
not match is refused with counts and names, or dropped and reported when the user says so.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from equipoise.arrays import Floats, InputError, choice, listed
from equipoise.evaluation.questions import Question
from equipoise.predictions import Predictions

ON_MISSING = ("error", "drop")
LEFT_OUT = 1e-3  # of a probability, up to which it is rounding


@dataclass(frozen=True, eq=False)
class Aligned:
    """One question with the scores of every model, item by item.

    Attributes
    ----------
    question
        The truth of the task, restricted to the items that every model scored.
    scores
        By model: shape (items,) for a yes/no question, else (items, classes).
    """

    question: Question
    scores: Mapping[str, Floats]

    def distributions(self, model: str) -> Floats:
        """One model's probabilities of all classes, shape (items, classes).

        For a yes/no question scores are the probability of the positive class; numbers
        outside of [0, 1] are refused, and so are classes that the truth does not have.
        """
        scores = self.scores[model]
        if scores.ndim == 2:
            total = scores.sum(axis=1)
            short = np.flatnonzero(np.abs(total - 1) > LEFT_OUT)
            if len(short):
                raise InputError(
                    self._where(model, short[0]),
                    f"probability {1 - total[short[0]]:.3g} on classes that the truth lacks",
                    f"probabilities of {listed(self.question.classes)}",
                    "name all classes when reading the annotations (classes=..., --classes)",
                )  # fmt: skip
            return scores
        outside = np.flatnonzero((scores < 0) | (scores > 1))
        if len(outside):
            raise InputError(
                self._where(model, outside[0]), f"score {scores[outside[0]]:g}",
                "a probability in [0, 1]",
                "give probabilities, or choose metrics of order such as auroc",
            )  # fmt: skip
        return np.stack([1 - scores, scores], axis=1)

    def _where(self, model: str, item: int) -> str:
        task = f" for {self.question.task!r}" if self.question.task else ""
        return f"predictions of {model!r}{task}, item {self.question.items[item]!r}"


def align(
    predictions: Iterable[Predictions], asked: list[Question], *, on_missing: str = "error"
) -> tuple[list[Aligned], tuple[str, ...]]:
    """Match predictions with questions; return them and what was dropped, in sentences."""
    choice("on_missing", on_missing, ON_MISSING)
    given = _by_task(predictions)
    notices = _unmatched_tasks(given, asked, on_missing)
    aligned = []
    for question in asked:
        if question.task in given:
            one, dropped = _align_task(question, given[question.task], on_missing)
            aligned.append(one)
            notices += dropped
    return aligned, tuple(notices)


def _by_task(predictions: Iterable[Predictions]) -> dict[str, dict[str, Predictions]]:
    """Sort predictions by task and model; every model must answer every task it is asked."""
    given: dict[str, dict[str, Predictions]] = {}
    for one in predictions:
        if one.model in given.setdefault(one.task, {}):
            raise InputError(
                one.where, "given twice", "one set of predictions per model and task",
                "rename one of the models",
            )  # fmt: skip
        given[one.task][one.model] = one
    if not given:
        raise InputError("predictions", "none", "at least one model", "check the input")
    models = list(dict.fromkeys(model for task in given.values() for model in task))
    for task, answers in given.items():
        missing = [model for model in models if model not in answers]
        if missing:
            raise InputError(
                f"predictions for task {task!r}", f"nothing from {listed(missing)}",
                "an answer of every model to every task", "add them or leave the model out",
            )  # fmt: skip
    return {
        task: {model: answers[model] for model in models} for task, answers in given.items()
    }


def _unmatched_tasks(
    given: Mapping[str, object], asked: list[Question], on_missing: str
) -> list[str]:
    """Tasks without predictions and predictions without tasks."""
    names = [question.task for question in asked]
    without = [name for name in names if name not in given]
    extra = [name for name in given if name not in names]
    if not without and not extra:
        return []
    parts = []
    if without:
        parts.append(f"{len(without)} annotated tasks without predictions ({listed(without)})")
    if extra:
        parts.append(f"{len(extra)} predicted tasks without annotations ({listed(extra)})")
    if on_missing == "error" or len(without) == len(names):
        raise InputError(
            "tasks", " and ".join(parts), "the same tasks in both",
            "correct the task column, or drop what does not match: on_missing='drop' "
            "(--on-missing drop)",
        )  # fmt: skip
    return [f"Dropped {' and '.join(parts)}."]


def _align_task(
    question: Question, answers: Mapping[str, Predictions], on_missing: str
) -> tuple[Aligned, list[str]]:
    if all(one.items == question.items for one in answers.values()):
        return Aligned(question, {m: _scores(question, one) for m, one in answers.items()}), []
    common = set(question.items).intersection(*(one.items for one in answers.values()))
    notices = []
    for one in answers.values():
        gaps = _gaps(question, one)
        if gaps and (on_missing == "error" or not common):
            raise InputError(
                one.where, gaps, "the same items in annotations and predictions",
                _remedy(question, one),
            )  # fmt: skip
    if len(common) < len(question.items):
        gone = [item for item in question.items if item not in common]
        task = f" of task {question.task!r}" if question.task else ""
        notices.append(
            f"Dropped {len(gone):,} annotated items{task} that not every model scored "
            f"({listed(gone)}); {len(common):,} are left."
        )
        question = question.kept(np.array([item in common for item in question.items]))
    extra = {item for one in answers.values() for item in one.items} - set(question.items)
    if extra:
        names = listed(sorted(extra))
        notices.append(f"Ignored predictions for {len(extra):,} items not annotated ({names}).")
    scores = {model: _scores(question, one) for model, one in answers.items()}
    return Aligned(question, scores), notices


def _gaps(question: Question, one: Predictions) -> str:
    """Items on one side only, counted and named."""
    have, need = set(one.items), set(question.items)
    parts = []
    without = [item for item in question.items if item not in have]
    if without:
        parts.append(
            f"{len(without):,} annotated items without predictions ({listed(without)})"
        )
    extra = [item for item in one.items if item not in need]
    if extra:
        parts.append(f"{len(extra):,} predictions for unknown items ({listed(extra)})")
    return " and ".join(parts)


def _remedy(question: Question, one: Predictions) -> str:
    """Say what probably happened when the ids would match if spelt alike."""
    left = {_plain(item) for item in set(question.items) - set(one.items)}
    right = {_plain(item) for item in set(one.items) - set(question.items)}
    if not left & right:
        return "correct the ids, or drop the rest: on_missing='drop' (--on-missing drop)"
    return "the ids differ only in spelling (case, leading zeros, '.0'): write them alike"


def _plain(item: str) -> str:
    """An id without what two exports of the same id tend to differ in."""
    text = item.strip().lower()
    text = text[:-2] if text.endswith(".0") else text
    return text.lstrip("0") or "0"


def _scores(question: Question, one: Predictions) -> Floats:
    """One model's scores for the items and classes of a question."""
    if len(question.classes) > 1:
        if not one.classes:
            raise InputError(
                one.where, "one score per item",
                f"probabilities of {len(question.classes)} classes "
                f"({listed(question.classes)})",
                "give class probabilities, or ask about one class with positive=",
            )  # fmt: skip
        return one.aligned(question.items, question.classes)
    if not one.classes:
        return one.aligned(question.items)
    return one.aligned(question.items, question.classes)[:, 0]

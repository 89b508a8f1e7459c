"""Alignment: bring every model's predictions to the items and classes of each question.

All models of a task are scored on the same items, so that every comparison is paired. What does
not match is refused with counts and names, or dropped and reported when the user says so.

One number per item answers yes or no, so that the votes must be yes or no too. Where they hold
a class more, the refusal says which, and whether it looks like a slip: a class with few votes
next to the others.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace

import numpy as np

from equipoise.metrics import Metric, parsed
from equipoise.read.options import SHARED
from equipoise.study.truth import TaskTruth
from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Notice,
    Notices,
    Option,
    Predictions,
    choice,
    count,
    counted,
    hint,
    immutable,
    listed,
    notice,
    positions,
    vote_counts,
)

ON_MISSING = SHARED["on_missing"].choices
DROP = Option("on_missing", "drop")
POSITIVE = hint("give class probabilities, or ask about one class with {}", Option("positive"))
LEFT_OUT = 1e-3  # of a probability, up to which it is rounding
SHOWN = 5  # classes that are named
FEW = 0.05  # of the votes for the next class, up to which a class may be a slip


def takes_threshold(metric: Metric) -> bool:
    """Whether it looks at decisions that a threshold makes, not at those of least cost."""
    return metric.decides and parsed(metric.name)[1].get("decision") != "least_cost"


@immutable(eq=False)
class Aligned:
    """One question with the scores of every model, item by item.

    Attributes
    ----------
    question
        The truth of the task, restricted to the items that every model scored.
    scores
        By model: shape (items,) for a yes/no question, else (items, classes).
    decided
        By model, where it has a threshold: 1 for items that score at least that, else 0,
        shape (items,).
    """

    question: TaskTruth
    scores: Mapping[str, Floats]
    decided: Mapping[str, Floats] = field(default_factory=dict)

    def seen(self, model: str, metric: Metric) -> Floats:
        """What a metric looks at: scores, distributions, or decisions by a threshold."""
        whole = metric.labels == "distribution"
        if takes_threshold(metric) and model in self.decided:
            yes = self.decided[model]
            return np.stack([1 - yes, yes], axis=1) if whole else yes
        return self.distributions(model) if whole else self.scores[model]

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
                    hint(
                        "name all classes when reading the annotations: {}", Option("classes")
                    ),
                )
            return scores
        outside = np.flatnonzero((scores < 0) | (scores > 1))
        if len(outside):
            raise InputError(
                self._where(model, outside[0]),
                f"score {scores[outside[0]]:g}",
                "a probability in [0, 1]",
                "give probabilities, or choose metrics of order such as auroc",
            )
        return np.stack([1 - scores, scores], axis=1)

    def of_models(self, names: Iterable[str]) -> "Aligned":
        """Some of the models."""
        scores = {name: self.scores[name] for name in names}
        decided = {name: self.decided[name] for name in scores if name in self.decided}
        return replace(self, scores=scores, decided=decided)

    def _where(self, model: str, item: int) -> str:
        task = f" for {self.question.task!r}" if self.question.task else ""
        return f"predictions of {model!r}{task}, item {self.question.items[item]!r}"


def align(
    predictions: Iterable[Predictions], questions: list[TaskTruth], *, on_missing: str = "error"
) -> tuple[list[Aligned], Notices]:
    """Match predictions with questions; return them and what was dropped."""
    choice("on_missing", on_missing, ON_MISSING)
    by_task = _by_task(predictions)
    notices = _unmatched_tasks(by_task, questions, on_missing)
    aligned = []
    for question in questions:
        if question.task in by_task:
            task, dropped = _align_task(question, by_task[question.task], on_missing)
            aligned.append(task)
            notices += dropped
    return aligned, tuple(notices)


def _by_task(predictions: Iterable[Predictions]) -> dict[str, dict[str, Predictions]]:
    """Sort predictions by task and model; every model must answer every task it is asked."""
    by_task: dict[str, dict[str, Predictions]] = {}
    for answer in predictions:
        if answer.model in by_task.setdefault(answer.task, {}):
            raise InputError(
                answer.where,
                "given twice",
                "one set of predictions per model and task",
                "rename one of the models",
            )
        by_task[answer.task][answer.model] = answer
    if not by_task:
        raise InputError("predictions", "none", "at least one model", "check the input")
    models = list(dict.fromkeys(model for task in by_task.values() for model in task))
    for task, answers in by_task.items():
        missing = [model for model in models if model not in answers]
        if missing:
            raise InputError(
                f"predictions for task {task!r}",
                f"nothing from {listed(missing)}",
                "an answer of every model to every task",
                "add them or leave the model out",
            )
    return {
        task: {model: answers[model] for model in models} for task, answers in by_task.items()
    }


def _unmatched_tasks(
    by_task: Mapping[str, object], questions: list[TaskTruth], on_missing: str
) -> list[Notice]:
    """Tasks without predictions and predictions without tasks."""
    names = [question.task for question in questions]
    without = [name for name in names if name not in by_task]
    extra = [name for name in by_task if name not in names]
    if not without and not extra:
        return []
    parts = []
    if without:
        parts.append(f"{len(without)} annotated tasks without predictions ({listed(without)})")
    if extra:
        parts.append(f"{len(extra)} predicted tasks without annotations ({listed(extra)})")
    if on_missing == "error" or len(without) == len(names):
        raise InputError(
            "tasks",
            " and ".join(parts),
            "the same tasks in both",
            hint("correct the task column, or drop what does not match: {}", DROP),
        )
    text = "Dropped {tasks}."
    return [notice("dropped_tasks", text, tasks=" and ".join(parts))]


def _align_task(
    question: TaskTruth, answers: Mapping[str, Predictions], on_missing: str
) -> tuple[Aligned, list[Notice]]:
    if all(model.items == question.items for model in answers.values()):
        return _task_with_decisions(question, answers), []
    common = set(question.items).intersection(*(model.items for model in answers.values()))
    notices = []
    for model in answers.values():
        gaps = _gaps(question, model)
        if gaps and (on_missing == "error" or not common):
            raise InputError(
                model.where,
                gaps,
                "the same items in annotations and predictions",
                _remedy(question, model),
            )
    if len(common) < len(question.items):
        gone = [item for item in question.items if item not in common]
        text = (
            "Dropped {gone:count} annotated items that not every model scored ({names}); "
            "{left:count} are left."
        )
        names, left = listed(gone), len(common)
        message = notice("dropped_items", text, gone=len(gone), names=names, left=left)
        notices.append(message.of(question.task))
        question = question.subset(np.array([item in common for item in question.items]))
    extra = {item for model in answers.values() for item in model.items} - set(question.items)
    if extra:
        text = "Ignored predictions for {items:count} items not annotated ({names})."
        names = listed(sorted(extra))
        message = notice("ignored_predictions", text, items=len(extra), names=names)
        notices.append(message.of(question.task))
    return _task_with_decisions(question, answers), notices


def _task_with_decisions(question: TaskTruth, answers: Mapping[str, Predictions]) -> Aligned:
    """Scores, and decisions of those that have a threshold."""
    scores = {model: _scores(question, answer) for model, answer in answers.items()}
    return Aligned(question, scores, _decisions(question, scores, answers))


def decided_anew(
    tasks: Iterable[Aligned], predictions: Iterable[Predictions]
) -> Iterator[Aligned]:
    """The same scores with decisions by the thresholds that the models have now."""
    by_task = _by_task(predictions)
    for task in tasks:
        decided = _decisions(task.question, task.scores, by_task[task.question.task])
        yield replace(task, decided=decided)


def _decisions(
    question: TaskTruth, scores: Mapping[str, Floats], answers: Mapping[str, Predictions]
) -> dict[str, Floats]:
    """Decisions of the models that have a threshold."""
    decided = dict[str, Floats]()
    for model, answer in answers.items():
        if answer.threshold is None:
            continue
        require_yes_no(answer, question)
        rows = positions(question.items, answer.items, where=f"{answer.where}, items")
        decided[model] = (scores[model] >= answer.threshold[rows]).astype(np.float64)
    return decided


def require_yes_no(model: Predictions, question: TaskTruth) -> None:
    """Refuse a threshold where there are several classes."""
    if len(question.classes) > 1:
        raise InputError(
            f"{model.where}, threshold",
            f"{len(question.classes)} classes ({listed(question.classes)})",
            "a yes/no question",
            "leave it out: the class of the largest probability is decided for",
        )


def _gaps(question: TaskTruth, model: Predictions) -> str:
    """Items on one side only, counted and named."""
    have, need = set(model.items), set(question.items)
    parts = []
    without = [item for item in question.items if item not in have]
    if without:
        missing = counted(len(without), "annotated item")
        parts.append(f"{missing} without predictions ({listed(without)})")
    extra = [item for item in model.items if item not in need]
    if extra:
        parts.append(f"{count(len(extra), 'prediction')} for unknown items ({listed(extra)})")
    return " and ".join(parts)


def _remedy(question: TaskTruth, model: Predictions) -> str:
    """Say what probably happened when the ids would match if spelt alike."""
    left = {_plain_id(item) for item in set(question.items) - set(model.items)}
    right = {_plain_id(item) for item in set(model.items) - set(question.items)}
    if not left & right:
        return hint("correct the ids, or drop the rest: {}", DROP)
    return "the ids differ only in spelling (case, leading zeros, '.0'): write them alike"


def _plain_id(item: str) -> str:
    """An id without what two exports of the same id tend to differ in."""
    text = item.strip().lower()
    text = text[:-2] if text.endswith(".0") else text
    return text.lstrip("0") or "0"


def _scores(question: TaskTruth, model: Predictions) -> Floats:
    """One model's scores for the items and classes of a question."""
    if len(question.classes) > 1:
        if not model.classes:
            raise InputError(
                model.where,
                "one score per item",
                f"probabilities of {len(question.classes)} classes "
                f"({listed(question.classes)})",
                POSITIVE,
            )
        return model.aligned(question.items, question.classes)
    if not model.classes:
        return model.aligned(question.items)
    return model.aligned(question.items, question.classes)[:, 0]


def refuse_plain_scores(
    annotations: Annotations, predictions: Iterable[Predictions], where: str = "annotations"
) -> None:
    """Raise where a model gave one score per item and the votes have more than two classes.

    Parameters
    ----------
    where
        What the annotations are called: the name of their file.
    """
    plain = next((model for model in predictions if not model.classes), None)
    label = annotations.label
    if plain is None or label is None or annotations.kind == "binary":
        return
    counts = np.bincount(label, vote_counts(annotations), len(annotations.classes))
    held = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
    if len(held) < 3:
        return
    rare, votes = held[-1], [float(total) for total in counts]
    item = annotations.items[int(annotations.item[np.flatnonzero(label == rare)[0]])]
    slip = votes[rare] <= max(1, FEW * votes[held[-2]])
    name = annotations.classes[rare]
    counted = _class_counts(annotations, held, votes)
    do = POSITIVE
    if annotations.kind == "ordinal":
        do = hint("{}; or compare numbers with ratings: {}", do, Option("kind", "interval"))
    typo = hint("if {} is a typo, correct it; else {}", repr(name), do)
    raise InputError(
        where,
        f"{len(held)} classes ({counted}; the rarest, {name!r}, first for item {item!r})",
        f"two, because the predictions of {plain.model!r} are one score per item",
        typo if slip else do,
    )


def _class_counts(annotations: Annotations, held: list[int], votes: list[float]) -> str:
    """Classes with their votes, the most frequent first and the rarest last."""
    named = held if len(held) <= SHOWN else [*held[: SHOWN - 1], held[-1]]
    counts = [f"{annotations.classes[code]!r} {count(votes[code], 'vote')}" for code in named]
    gap = len(held) - len(named)
    return ", ".join([*counts[:-1], *([f"{gap} more"] if gap else []), counts[-1]])

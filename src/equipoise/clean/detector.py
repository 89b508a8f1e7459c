"""Detector: what every method that looks for problems in data has in common.

A detector is a frozen dataclass whose fields are its hyper-parameters; `score` returns
`Predictions`, so that the metrics, intervals and verdicts for models are those for detectors.
Higher is more suspicious. A detector of pairs scores the pairs of the collection, or proposes
its own where there are none. A detector of the user's own is called by `scores_of` behind the
boundary of `equipoise.read.user_code`.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from importlib.util import find_spec
from typing import Literal

import numpy as np

from equipoise.clean.collection import MISSING, TASKS, Collection, Task, split_pair
from equipoise.read.user_code import (
    call_user_code,
    load_user_object,
    new_user_object,
    path_and_name,
)
from equipoise.types.arrays import Floats, InputError, Ints, nearest
from equipoise.types.predictions import Predictions

Need = Literal["embeddings", "images", "labels", "known"]
Progress = Callable[[int, int], None]
SEEDS = 2**32  # that older generators of random numbers take
NEEDED = {
    "embeddings": ("embeddings", "name an encoder, or give an array of embeddings"),
    "images": ("images", "give a folder of images"),
    "labels": ("labels", "give a file of labels"),
    "known": ("labels that are known to be right", "mark some labels as known"),
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A task, or a detector of it, without a result, and why."""

    task: Task
    reason: str
    detector: str = ""


class Detector(ABC):
    """A method that says how suspicious every item, or every pair of items, is.

    Attributes
    ----------
    name, title, task
        What it is called, and what it looks for.
    needs
        What a collection must have.
    packages
        Modules that must be installed, beyond those of the package itself.
    seeded
        Whether chance has a part in its scores.
    bounded
        Whether scores lie in [0, 1], so that the automatic cut can be asked for.
    references
        Keys of its sources in the bibliography.
    """

    name: str
    title: str
    task: Task
    needs: tuple[Need, ...]
    packages: tuple[str, ...] = ()
    seeded: bool = False
    bounded: bool = False
    references: tuple[str, ...] = ()

    @abstractmethod
    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """How suspicious every item is, or every pair of items; higher is more suspicious."""

    def missing(self, data: Collection) -> tuple[Need, ...]:
        """What a collection lacks for this detector."""
        return tuple(need for need in self.needs if getattr(data, need) is None)

    def check(self, data: Collection) -> None:
        """Refuse a collection that lacks something, and a machine that lacks a package."""
        require_packages(f"detector {self.name}", self.packages)
        for need in self.missing(data):
            what, do = NEEDED[need]
            raise InputError(f"detector {self.name}", f"no {what}", what, do)

    @property
    def settings(self) -> dict[str, object]:
        """Hyper-parameters by name, without fields that change no score (``compare=False``)."""
        if not is_dataclass(self):
            return {}
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.compare and field.name not in Detector.__annotations__
        }

    def of_items(self, items: Sequence[str], values: Floats) -> Predictions:
        """Scores of some items, as `Predictions` of this detector."""
        return Predictions(self.name, tuple(items), np.asarray(values, float), task=self.task)


def scores_of(
    detector: Detector, data: Collection, seed: int = 0, progress: Progress | None = None
) -> Predictions:
    """Scores of a detector, of the package or of the user's own, which is then checked."""
    if type(detector).__module__.startswith("equipoise."):
        return detector.score(data, seed=seed, progress=progress)
    where = f"detector {detector.name} of {_file_of(detector)}"
    scores = call_user_code(
        detector.score,
        data,
        seed=seed,
        progress=progress,
        where=where,
        expected="a score for every item, or pair",
    )
    if not isinstance(scores, Predictions) or scores.classes:
        got = "class probabilities" if isinstance(scores, Predictions) else type(scores)
        do = "return self.of_items(items, values)"
        raise InputError(where, f"{got}", "Predictions, one score per item or pair", do)
    there, pairs = set(data.items), detector.task == "near_duplicates"
    for name in scores.items:
        if not there.issuperset(split_pair(name) if pairs else (name,)):
            what = "pairs of items" if pairs else "items"
            do = f"score {'data.pairs.names(data.items)' if pairs else 'data.items'}"
            raise InputError(where, f"a score of {name!r}", f"{what} of the collection", do)
    if detector.bounded and not ((scores.values >= 0) & (scores.values <= 1)).all():
        do = "scale them, or leave out bounded = True"
        raise InputError(where, "scores beyond 0 and 1", "scores in [0, 1]", do)
    return scores


def _file_of(detector: Detector) -> str:
    try:
        return inspect.getfile(type(detector))
    except (OSError, TypeError):
        return "a class in no file"


def labelled_items(data: Collection) -> Collection:
    """The items that have a label; refused where none has."""
    assert data.labels is not None
    rows = np.flatnonzero(data.labels != MISSING)
    if not len(rows):
        raise InputError("labels", "none", "a label for some items", "give a file of labels")
    return data if len(rows) == len(data) else data.subset(rows)


class LabelDetector(Detector):
    """A detector of label errors, of the items that have a label, in the order of names."""

    task = "label_errors"
    needs = ("embeddings", "labels")

    @abstractmethod
    def suspicion(
        self, rows: Floats, labels: Ints, *, seed: int = 0, progress: Progress | None = None
    ) -> Floats:
        """Scores of labelled items that stand in the order of their names, shape (items,)."""

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """How suspicious the label of every item is that has one."""
        self.check(data)
        seen = labelled_items(data)
        assert seen.embeddings is not None and seen.labels is not None
        order = name_order(seen.items)
        rows, labels = seen.embeddings[order], seen.labels[order]
        values = self.suspicion(rows, labels, seed=seed, progress=progress)
        return self.of_items(seen.items, back_in_place(values, order))


def require_packages(where: str, names: Sequence[str], install: str = "") -> None:
    """Refuse a machine that lacks a package, with the command that installs it.

    Parameters
    ----------
    install
        What pip is to install; the extra that has the package where nothing is said.
    """
    lacking = [name for name in names if find_spec(name) is None]
    if lacking:
        extra = "torch" if lacking[0] == "torch" else "clean"
        raise InputError(
            where,
            f"the package {lacking[0]} is not installed",
            "it to be there",
            "pip install " + (install or f'"equipoise[{extra}]"'),
        )


def tell(progress: Progress | None, done: int, total: int) -> None:
    """Say how far something is, where somebody listens."""
    if progress is not None:
        progress(done, total)


def name_order(items: Sequence[str]) -> Ints:
    """Places of the items, sorted by name: scores do not depend on how the items stand.

    Examples
    --------
    >>> name_order(("b", "c", "a")).tolist()
    [2, 0, 1]
    """
    return np.array(sorted(range(len(items)), key=items.__getitem__), dtype=np.int64)


def back_in_place(values: Floats, order: Ints) -> Floats:
    """Values in the order of names, in the order that the items have.

    Examples
    --------
    >>> back_in_place(np.array([1.0, 2.0, 3.0]), name_order(("b", "c", "a"))).tolist()
    [2.0, 3.0, 1.0]
    """
    placed = np.empty_like(values)
    placed[order] = values
    return placed


def choose(names: Sequence[str], catalogue: Sequence[Detector]) -> tuple[Detector, ...]:
    """Detectors by name, with their usual hyper-parameters, or by file, see `load_detector`."""
    by_name = {detector.name: detector for detector in catalogue}
    chosen = []
    for name in names:
        if path_and_name(name) is not None:
            chosen.append(load_detector(name))
        elif name in by_name:
            chosen.append(by_name[name])
        else:
            raise InputError(
                "detectors",
                f"{name!r}",
                f"one of {', '.join(by_name)}, or a file of your own such as mine.py:Mine",
                nearest(name, by_name) or "choose from these",
            )
    return tuple(chosen)


def load_detector(spec: str) -> Detector:
    """A detector of your own from a file of Python.

    Parameters
    ----------
    spec
        ``path.py:Name`` of a class, which is made without arguments, or of one that is made;
        or ``path.py`` where the file has one detector.
    """
    where = f"detector {spec}"
    detector: Detector = new_user_object(
        load_user_object(spec, Detector, "detector"), where, ("name", "title", "task", "needs")
    )
    if detector.task not in TASKS:
        raise InputError(
            where, f"task {detector.task!r}", f"one of {', '.join(TASKS)}", "choose"
        )
    return detector

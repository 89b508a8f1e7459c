"""Detector: what every method that looks for problems in data has in common.

A detector is a frozen dataclass whose fields are its hyper-parameters; `score` returns
`Predictions`, so that the metrics, intervals and verdicts for models are those for detectors.
Higher is more suspicious. A detector of pairs scores the pairs of the collection, or proposes
its own where there are none.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import ClassVar, Literal, get_args

import numpy as np

from equipoise.arrays import Floats, InputError, nearest
from equipoise.clean.collection import MISSING, Collection
from equipoise.predictions import Predictions

Task = Literal["off_topic", "near_duplicates", "label_errors"]
Need = Literal["embeddings", "images", "labels", "known"]
Progress = Callable[[int, int], None]
TASKS: tuple[Task, ...] = get_args(Task)
TITLES = {
    "off_topic": "Off-topic images",
    "near_duplicates": "Near duplicates",
    "label_errors": "Label errors",
}
NEEDED = {
    "embeddings": ("embeddings", "name an encoder, or give an array of embeddings"),
    "images": ("images", "give a folder of images"),
    "labels": ("labels", "give a file of labels"),
    "known": ("labels that are known to be right", "mark some labels as known"),
}


@dataclass(frozen=True)
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

    name: ClassVar[str]
    title: ClassVar[str]
    task: ClassVar[Task]
    needs: ClassVar[tuple[Need, ...]]
    packages: ClassVar[tuple[str, ...]] = ()
    seeded: ClassVar[bool] = False
    bounded: ClassVar[bool] = False
    references: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """How suspicious every item is, or every pair of items; higher is more suspicious."""

    def missing(self, data: Collection) -> tuple[Need, ...]:
        """What a collection lacks for this detector."""
        return tuple(one for one in self.needs if getattr(data, one) is None)

    def check(self, data: Collection) -> None:
        """Refuse a collection that lacks something, and a machine that lacks a package."""
        require_packages(f"detector {self.name}", self.packages)
        for one in self.missing(data):
            what, do = NEEDED[one]
            raise InputError(f"detector {self.name}", f"no {what}", what, do)

    @property
    def settings(self) -> dict[str, object]:
        """Hyper-parameters by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def of_items(self, items: Sequence[str], values: Floats) -> Predictions:
        """Scores of some items, as `Predictions` of this detector."""
        return Predictions(self.name, tuple(items), np.asarray(values, float), task=self.task)


def labelled(data: Collection) -> Collection:
    """The items that have a label; refused where none has."""
    assert data.labels is not None
    rows = np.flatnonzero(data.labels != MISSING)
    if not len(rows):
        raise InputError("labels", "none", "a label for some items", "give a file of labels")
    return data if len(rows) == len(data) else data.subset(rows)


def require_packages(where: str, names: Sequence[str]) -> None:
    """Refuse a machine that lacks a package, with the command that installs it."""
    lacking = [name for name in names if find_spec(name) is None]
    if lacking:
        extra = "torch" if lacking[0] == "torch" else "clean"
        raise InputError(
            where,
            f"the package {lacking[0]} is not installed",
            "it to be there",
            f'pip install "equipoise[{extra}]"',
        )


def choose(names: Sequence[str], catalogue: Sequence[Detector]) -> tuple[Detector, ...]:
    """Detectors by name, with their usual hyper-parameters."""
    known = {one.name: one for one in catalogue}
    for name in names:
        if name not in known:
            raise InputError(
                "detectors",
                f"{name!r}",
                f"one of {', '.join(known)}",
                nearest(name, known) or "choose from these",
            )
    return tuple(known[name] for name in names)

"""Detector: what every method that looks for problems in data has in common.

A detector is a frozen dataclass whose fields are its hyper-parameters; `score` returns
`Predictions`, so that the metrics, intervals and verdicts for models are those for detectors.
Higher is more suspicious. A detector of pairs scores the pairs of the collection, or proposes
its own where there are none.
"""

import hashlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import isabstract
from pathlib import Path
from types import ModuleType
from typing import ClassVar, Literal

import numpy as np

from equipoise.clean.collection import MISSING, TASKS, Collection, Task
from equipoise.scale.engine import send_by_code
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
        return {
            field.name: getattr(self, field.name) for field in fields(self) if field.compare
        }

    def of_items(self, items: Sequence[str], values: Floats) -> Predictions:
        """Scores of some items, as `Predictions` of this detector."""
        return Predictions(self.name, tuple(items), np.asarray(values, float), task=self.task)


def labelled_items(data: Collection) -> Collection:
    """The items that have a label; refused where none has."""
    assert data.labels is not None
    rows = np.flatnonzero(data.labels != MISSING)
    if not len(rows):
        raise InputError("labels", "none", "a label for some items", "give a file of labels")
    return data if len(rows) == len(data) else data.subset(rows)


@dataclass(frozen=True)
class LabelDetector(Detector):
    """A detector of label errors that chance has no part in."""

    task = "label_errors"
    needs = ("embeddings", "labels")

    @abstractmethod
    def suspicion(self, rows: Floats, labels: Ints, progress: Progress | None) -> Floats:
        """Scores of items that have a label and stand in the order of their names, (items,)."""

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """How suspicious the label of every item is that has one."""
        del seed
        self.check(data)
        seen = labelled_items(data)
        assert seen.embeddings is not None and seen.labels is not None
        order = name_order(seen.items)
        values = self.suspicion(seen.embeddings[order], seen.labels[order], progress)
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
        if _path_and_name(name) is not None:
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
    place = _path_and_name(spec)
    where = f"detector {spec}"
    if place is None:
        raise InputError(where, "no file of Python", "path.py:Name or path.py", "check it")
    path, name = place
    if not path.is_file():
        raise InputError(where, f"no file {path}", "a file of Python", "check the path")
    detectors = _detectors_in(_run_as_module(path, where))
    if name is None and len(detectors) == 1:
        (name,) = detectors
    if name not in detectors:
        raise InputError(
            where,
            f"no detector {name}" if name else f"{len(detectors) or 'no'} detectors",
            f"one of {', '.join(detectors)}" if detectors else "a class that extends Detector",
            f"write {path}:{nearest(name or '', detectors) or next(iter(detectors))}"
            if detectors
            else "see equipoise.clean.Detector",
        )
    return _checked_detector(detectors[name], where)


def _path_and_name(spec: str) -> tuple[Path, str | None] | None:
    """The file and the name in it; None where no file is named."""
    path, colon, name = spec.rpartition(":")
    if colon and path.endswith(".py") and name.isidentifier():
        return Path(path), name
    return (Path(spec), None) if spec.endswith(".py") else None


def _run_as_module(path: Path, where: str) -> ModuleType:
    """Run a file as a module of its own; it stays known, as dataclasses ask."""
    called = f"_own_{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    spec = spec_from_file_location(called, path.resolve())
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[called] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[called]
        raise InputError(
            where,
            f"{type(error).__name__}: {error}",
            "a file that runs",
            f"try python {path}",
        ) from error
    send_by_code(module)
    return module


def _detectors_in(module: ModuleType) -> dict[str, "Detector | type[Detector]"]:
    """Detectors that a module itself defines, by name."""
    detectors: dict[str, Detector | type[Detector]] = {}
    for name, value in vars(module).items():
        is_class = (
            isinstance(value, type) and issubclass(value, Detector) and not isabstract(value)
        )
        if isinstance(value, Detector) or (is_class and value.__module__ == module.__name__):
            detectors[name] = value
    return detectors


def _checked_detector(detector: "Detector | type[Detector]", where: str) -> Detector:
    """A detector that is whole."""
    for need in ("name", "title", "task", "needs"):
        if not hasattr(detector, need):
            do = f"write {need}: ClassVar = ... in the class"
            raise InputError(where, f"no {need}", "name, title, task and needs", do)
    if detector.task not in TASKS:
        raise InputError(
            where, f"task {detector.task!r}", f"one of {', '.join(TASKS)}", "choose"
        )
    if isinstance(detector, Detector):
        return detector
    try:
        return detector()
    except TypeError as error:
        raise InputError(
            where,
            str(error),
            "a class that can be made without arguments",
            "give every hyper-parameter a usual value",
        ) from error

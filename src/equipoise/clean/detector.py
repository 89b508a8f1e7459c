"""Detector: what every method that looks for problems in data has in common.

`score` returns `Predictions`, so that the metrics, intervals and verdicts for models are those
for detectors. Higher is more suspicious. A detector of pairs scores the pairs of the
collection, or proposes its own where there are none. Those of the package are rows of one
catalogue (`CatalogueDetector`). One of the user's own is a frozen dataclass whose fields are
its hyper-parameters; `scores_of` calls it behind the boundary of `equipoise.read.user_code`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace
from functools import wraps
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from equipoise.clean.collection import TASKS, Collection, Task, split_pair
from equipoise.read.user_code import (
    call_user_code,
    load_user_object,
    new_user_object,
    path_and_name,
    user_file,
)
from equipoise.types import (
    Floats,
    InputError,
    Ints,
    Names,
    Predictions,
    Progress,
    choice,
    immutable,
    nearest,
    require_number,
    require_whole,
)

Need = Literal["embeddings", "images", "labels", "known"]


def silent(done: int, total: int) -> None:
    """Tell nobody how far something is."""
    del done, total


Hyper = Mapping[str, Any]  # hyper-parameters by name
LEAST = {"folds": 2, "size": 2, "window": 3}  # of whole numbers; of others 1
WORDS = {
    "classifier": ("logistic_regression", "adaboost"),
    "method": ("largest", "mean", "median"),
}
SEEDS = 2**32  # that older generators of random numbers take
NEEDED = {
    "embeddings": ("embeddings", "name an encoder, or give an array of embeddings"),
    "images": ("images", "give a folder of images"),
    "labels": ("labels", "give a file of labels"),
    "known": ("labels that are known to be right", "mark some labels as known"),
}
FACTS = {
    "name": str, "title": str, "task": str, "needs": tuple, "packages": tuple,
    "seeded": bool, "bounded": bool, "settings": dict,
}  # fmt: skip


@immutable
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
    packages: Names = ()
    seeded: bool = False
    bounded: bool = False
    references: Names = ()

    @abstractmethod
    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress = silent
    ) -> Predictions:
        """How suspicious every item is, or every pair of items; higher is more suspicious."""

    def missing(self, data: Collection) -> tuple[Need, ...]:
        """What a collection lacks for this detector."""
        return tuple(need for need in self.needs if getattr(data, need) is None)

    def check(self, data: Collection) -> None:
        """Refuse a collection that lacks something, and a machine that lacks a package."""
        require_packages(f"detector {self.name}", self.packages)
        where, expected = f"detector {self.name}", f"some of {', '.join(NEEDED)}"
        for need in call_user_code(self.missing, data, where=where, expected=expected):
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
    detector: Detector, data: Collection, seed: int = 0, progress: Progress = silent
) -> Predictions:
    """Scores of a detector, of the package or of the user's own, which is then checked."""
    file = user_file(detector)
    if not file:
        return detector.score(data, seed=seed, progress=progress)
    where = f"detector {detector.name} of {file}"
    scores = call_user_code(
        detector.score,
        data,
        seed=seed,
        progress=progress,
        where=where,
        expected="a score for every item, or pair",
    )
    if not isinstance(scores, Predictions) or scores.classes:
        got = (
            "class probabilities" if isinstance(scores, Predictions) else type(scores).__name__
        )
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


@immutable(kw_only=True)
class CatalogueDetector(Detector):
    """A row of the catalogue: the facts of a detector, and the function that computes it.

    Attributes
    ----------
    compute
        Takes the row, a collection in the order of names, a seed, and what is told of the
        progress. Gives a score per item (of label errors nan where there is no label), or
        pairs and their scores, which is of a collection as it stands.
    hyper
        Hyper-parameters by name, see `with_settings`.
    background
        Scores of pairs drawn from all pairs of a collection by a seed, for the cut.
    """

    name: str
    title: str
    task: Task
    needs: tuple[Need, ...] = ("embeddings",)
    compute: Callable[..., Any]
    hyper: Hyper = field(default_factory=dict, hash=False)
    packages: Names = ()
    seeded: bool = False
    bounded: bool = False
    references: Names
    background: Callable[[Collection, int], Floats] | None = None

    @property
    def settings(self) -> dict[str, object]:
        """Hyper-parameters by name."""
        return dict(self.hyper)

    def with_settings(self, **changes: object) -> "CatalogueDetector":
        """The same detector with other hyper-parameters."""
        for name, value in changes.items():
            choice(f"detector {self.name}, hyper-parameter", name, tuple(self.hyper))
            _check_hyper(f"detector {self.name}, {name}", value, self.hyper[name])
        return replace(self, hyper={**self.hyper, **changes})

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress = silent
    ) -> Predictions:
        """How suspicious every item is, or every pair of items."""
        self.check(data)
        if self.task == "near_duplicates":
            pairs, scores = self.compute(self, data, seed, progress)
            return self.of_items(pairs.names(data.items), scores)
        rows = data.labelled if self.task == "label_errors" else np.arange(len(data))
        if not len(rows) and len(data):
            do = "give a file of labels"
            raise InputError("labels", "none", "a label for some items", do)
        order = name_order(data.items)
        values = back_in_place(self.compute(self, data.subset(order), seed, progress), order)
        return self.of_items([data.items[row] for row in rows], values[rows])


def _check_hyper(where: str, value: Any, usual: object) -> None:
    """Refuse a hyper-parameter that is not of the kind of the usual one."""
    name, do = where.rpartition(" ")[2], f"try {usual}"
    if name in WORDS:
        choice(where, value, WORDS[name])
    elif isinstance(usual, int):
        require_whole(where, value, least=LEAST.get(name, 1), do=do)
    elif isinstance(usual, float):
        require_number(where, value, above=0, do=do)


def of_labels(suspicion: Callable[..., Floats]) -> Callable[..., Floats]:
    """What computes scores of label errors, from a function of the items that have a label.

    The function takes the row of the catalogue, embeddings, labels, the seed, and what is told
    of the progress.
    """

    @wraps(suspicion)
    def compute(
        row: CatalogueDetector, data: Collection, seed: int, progress: Progress
    ) -> Floats:
        assert data.embeddings is not None and data.labels is not None
        places = data.labelled
        values = np.full(len(data), np.nan)
        seen, labels = data.embeddings[places], data.labels[places]
        values[places] = suspicion(row, seen, labels, seed, progress)
        return values

    return compute


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
    value = load_user_object(spec, Detector, "detector")
    detector: Detector = new_user_object(value, where, FACTS)
    choice(f"{where}, task", detector.task, TASKS)
    for need in detector.needs:
        choice(f"{where}, needs", need, tuple(NEEDED))
    return detector

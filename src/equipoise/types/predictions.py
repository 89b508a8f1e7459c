"""Predictions: what one model says about each item, as scores or class probabilities.

A classifier, a detector of data problems and an uncertainty score are the same thing to a
metric: a number (or a distribution over classes) per item, higher meaning more so.

Duplicates: models whose predictions are the same on every item of a task.

Such models tie there whatever is resampled. It matters where a small difference, a probability
to be best or an average rank rests on copies of one model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    Names,
    frozen,
    positions,
    require_finite,
    require_simplex,
    require_unique,
)
from equipoise.types.notices import Notices, notice
from equipoise.types.records import immutable
from equipoise.types.words import joined

if TYPE_CHECKING:
    from equipoise.types.groupings import Grouping


FIRST = 100  # values that are looked at before all of them


@immutable(eq=False)
class Predictions:
    """One model's answer to one task.

    Attributes
    ----------
    model
        The model's name.
    items
        Names of the items, unique.
    values
        Scores, shape (items,), or class probabilities, shape (items, classes).
    classes
        Names of the classes for probabilities; empty for scores.
    task
        Which question these predictions answer; empty when there is only one.
    threshold
        Score from which an item is called positive, one or one per item, shape (items,); None
        where nobody said. Only metrics of decisions look at it.

    Examples
    --------
    >>> resnet = Predictions("resnet", ("a", "b"), np.array([0.2, 0.9]))
    >>> resnet.aligned(["b", "a"])
    array([0.9, 0.2])
    """

    model: str
    items: Names
    values: Floats
    classes: Names = ()
    task: str = ""
    threshold: Floats | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        expected = (len(self.items), len(self.classes)) if self.classes else (len(self.items),)
        if values.shape != expected:
            raise InputError(
                self.where,
                f"values of shape {values.shape}",
                f"{expected}",
                "give one score per item, or one row of class probabilities with class names",
            )
        if not self.items:
            raise InputError(self.where, "no items", "at least one", "check the file")
        one_row = "keep one row per item, task and model"
        require_unique(self.items, where=f"{self.where}, items", do=one_row)
        require_unique(self.classes, where=f"{self.where}, classes")
        if self.classes:
            require_simplex(values, where=self.where, names=self.items)
        else:
            require_finite(values, where=self.where, names=self.items)
        object.__setattr__(self, "values", frozen(values))
        if self.threshold is not None:
            object.__setattr__(self, "threshold", self._checked_threshold())

    def _checked_threshold(self) -> Floats:
        """One threshold per item, refused unless they are numbers."""
        limits = np.asarray(self.threshold, dtype=np.float64)
        if limits.shape not in ((), (len(self.items),)) or np.isnan(limits).any():
            raise InputError(
                f"{self.where}, threshold",
                f"{self.threshold!r}",
                "a number, or one per item",
                "correct it, or leave it out",
            )
        return frozen(np.broadcast_to(limits, len(self.items)).copy())

    @property
    def decides(self) -> bool:
        """Whether these are plain answers, 0 or 1 for every item and class, not scores.

        Examples
        --------
        >>> Predictions("reader", ("a", "b"), np.array([0.0, 1.0])).decides
        True
        """
        for values in (self.values[:FIRST], self.values):  # a score shows itself soon
            if not ((values == 0) | (values == 1)).all():
                return False
        return True

    @classmethod
    def from_dataframe(cls, frame: Any, **keywords: Any) -> "Models":
        """Read a dataframe of any layout, one `Predictions` per model and task.

        The keywords are those of `equipoise.read.options.ScoreFormat`.

        Examples
        --------
        >>> import pyarrow
        >>> frame = pyarrow.table({"item": [1, 2], "cnn": [0.2, 0.9], "vit": [0.1, 0.8]})
        >>> [each.model for each in Predictions.from_dataframe(frame)]
        ['cnn', 'vit']
        """
        from equipoise.read.options import ScoreFormat
        from equipoise.read.predictions import table_predictions
        from equipoise.read.tables import from_frame

        options = ScoreFormat.of(keywords)
        return table_predictions(from_frame(frame), options).predictions

    def __repr__(self) -> str:
        what = f"{len(self.classes)} classes" if self.classes else "scores"
        task = f", task {self.task!r}" if self.task else ""
        return f"Predictions({self.model!r}, {len(self.items)} items, {what}{task})"

    @property
    def where(self) -> str:
        """How messages call these predictions."""
        task = f" for {self.task!r}" if self.task else ""
        return f"predictions of {self.model!r}{task}"

    def aligned(self, items: Sequence[str], classes: Sequence[str] = ()) -> Floats:
        """Return the values in the given item (and class) order.

        A model that names one class per item gives a class that it never names probability 0.
        """
        rows: Ints = np.arange(len(self.items))
        if tuple(items) != self.items:
            rows = positions(items, self.items, where=f"{self.where}, items")
        if not classes:
            return self.values[rows]
        if self.classes and self.decides and not set(classes) <= set(self.classes):
            place = {name: code for code, name in enumerate(self.classes)}
            there = [code for code, name in enumerate(classes) if name in place]
            values = np.zeros((len(rows), len(classes)))
            places = [place[classes[code]] for code in there]
            values[:, there] = self.values[rows][:, places]
            return values
        columns: Ints = positions(classes, self.classes, where=f"{self.where}, classes")
        return self.values[rows][:, columns]

    def of_items(self, items: Sequence[str]) -> "Predictions":
        """The same for some items, in their order.

        Examples
        --------
        >>> Predictions("resnet", ("a", "b"), np.array([0.2, 0.9])).of_items(["b"]).values
        array([0.9])
        """
        rows = positions(items, self.items, where=f"{self.where}, items")
        cut = None if self.threshold is None else self.threshold[rows]
        return replace(self, items=tuple(items), values=self.values[rows], threshold=cut)

    def coarsened(self, grouping: "Grouping") -> "Predictions":
        """Probabilities of groups: the sum over the classes of each.

        Examples
        --------
        >>> from equipoise.types.groupings import Grouping
        >>> risk = Grouping.of({"naevus": "low", "melanoma": "high", "wart": "low"})
        >>> resnet = Predictions("resnet", ("a",), np.array([[0.5, 0.3, 0.2]]),
        ...     classes=("naevus", "melanoma", "wart"))
        >>> resnet.coarsened(risk).values
        array([[0.7, 0.3]])
        """
        if not self.classes:
            raise InputError(
                self.where,
                "one score per item",
                "probabilities of all classes",
                "a score has no classes to put into groups: give class probabilities",
            )
        member = np.eye(len(grouping.groups))[grouping.codes(self.classes)]
        return replace(self, values=self.values @ member, classes=grouping.groups)


Models = tuple[Predictions, ...]
_TEXT = (
    "Identical predictions on every item: {groups}. Such models tie{there} whatever is "
    "resampled, and probabilities to be best, average ranks and small leads between them say "
    "little: they may be copies of one model."
)


@immutable
class Duplicates:
    """Models with identical predictions, and the tasks in which they are, perhaps all."""

    models: Names
    tasks: Names
    everywhere: bool

    def __str__(self) -> str:
        names = joined(self.models)
        if not self.everywhere:
            return f"{names} for {joined(self.tasks)}"
        return f"{names} for all tasks" if len(self.tasks) > 1 else names


def duplicate_models(
    scores: Iterable[tuple[str, Mapping[str, Floats]]],
) -> tuple[Duplicates, ...]:
    """Groups of models with identical predictions, in the order of the tasks.

    Parameters
    ----------
    scores
        Each task with the values of every model, all on the same items in the same order.

    Examples
    --------
    >>> same = {"a": np.array([0.0, 1.0]), "b": np.array([-0.0, 1.0])}
    >>> duplicate_models([("lung", same), ("heart", {"a": np.ones(2), "b": np.zeros(2)})])
    (Duplicates(models=('a', 'b'), tasks=('lung',), everywhere=False),)
    """
    tasks: dict[Names, list[str]] = {}
    number_of_tasks = 0
    for task, models in scores:
        number_of_tasks += 1
        same: dict[bytes, list[str]] = {}
        for model, values in models.items():
            key = np.ascontiguousarray(values + 0.0).tobytes()  # 0 and -0 are the same
            same.setdefault(key, []).append(model)
        for names in same.values():
            if len(names) > 1:
                tasks.setdefault(tuple(sorted(names)), []).append(task)
    return tuple(
        Duplicates(models, tuple(where), len(where) == number_of_tasks)
        for models, where in tasks.items()
    )


def duplicate_notices(duplicates: Sequence[Duplicates]) -> Notices:
    """One notice about all of them; none where no two models are the same.

    Examples
    --------
    >>> (notice,) = duplicate_notices([Duplicates(("a", "b"), ("lung", "heart"), False)])
    >>> str(notice).split(". ")[0]
    'Identical predictions on every item: a and b for lung and heart'
    """
    if not duplicates:
        return ()
    whole = all(group.everywhere for group in duplicates)
    groups = "; ".join(map(str, duplicates))
    there = "" if whole else " there"
    return (notice("duplicate_models", _TEXT, groups=groups, there=there),)

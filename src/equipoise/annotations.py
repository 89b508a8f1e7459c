"""Annotations: who said what about which item.

One long table of integer codes. A plain label is a ranking of length one and equal ranks
are ties, so votes, grades and differential diagnoses are the same table; a count matrix is
the same table without annotators, each row standing for several votes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack, get_args

import numpy as np

from equipoise.annotation_rules import (
    COLUMNS,
    a_number,
    check_codes,
    check_numbers,
    check_readings,
    checked_column,
)
from equipoise.arrays import Bools, Floats, InputError, Ints, choice, listed, meant, nearest
from equipoise.coding.options import AnnotationHow, annotation_options
from equipoise.wording import AT_LEAST, ONE_CLASS, hint

Kind = Literal["binary", "nominal", "ordinal", "interval", "ranking"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Annotations:
    """An immutable table of annotations, coded and checked once when made.

    Attributes
    ----------
    kind
        ``binary`` (two classes, the second is positive), ``nominal``, ``ordinal`` (the
        order of `classes` is the scale), ``interval`` (numbers in `value`), ``ranking``
        (several rows form one reading, `rank` 0 is the first choice, equal ranks tie).
    items, annotators, classes, tasks, groups
        The names behind the codes. `annotators` is None when votes are exchangeable
        (anonymous counts, arbitrary reader slots); `tasks` is ``("",)`` for one question.
    item, annotator, label, task
        Codes, shape (rows,). `annotator` and `label` are None where they do not exist;
        `task` None means that all rows belong to the one task.
    value
        Ratings of kind ``interval``, shape (rows,).
    rank, reading
        For kind ``ranking``: the place of the class in its reading, from 0, and which
        reading (one person's statement about one item) the row belongs to.
    count
        How many identical votes a row stands for; None means one.
    weight, confidence, timestamp, duration_ms, is_gold
        Optional columns, shape (rows,). `weight` multiplies the vote; a gold row is the
        known truth of its item rather than an opinion.
    group
        Which group (patient, night, site) each item belongs to, shape (items,).
    notices
        What the reader should tell the user about these data, one sentence each.
    """

    kind: Kind
    items: tuple[str, ...]
    item: Ints
    classes: tuple[str, ...] = ()
    annotators: tuple[str, ...] | None = None
    tasks: tuple[str, ...] = ("",)
    groups: tuple[str, ...] | None = None
    label: Ints | None = None
    value: Floats | None = None
    annotator: Ints | None = None
    task: Ints | None = None
    rank: Ints | None = None
    reading: Ints | None = None
    count: Ints | None = None
    weight: Floats | None = None
    confidence: Floats | None = None
    timestamp: Ints | None = None
    duration_ms: Floats | None = None
    is_gold: Bools | None = None
    group: Ints | None = None
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        choice("annotations, kind", self.kind, KINDS)
        if not len(self.item):
            raise InputError(
                "annotations", "no rows", "at least one annotation", "check the file"
            )
        for name in COLUMNS:
            column = getattr(self, name)
            if column is not None:
                object.__setattr__(self, name, checked_column(name, column, self))
        check_codes(self)
        check_numbers(self)
        if self.kind == "ranking":
            check_readings(self)

    @classmethod
    def from_dataframe(cls, frame: Any, **how: Unpack[AnnotationHow]) -> "Annotations":
        """Read a dataframe of pandas, polars, pyarrow or another kind that narwhals knows.

        The keywords are those of `equipoise.coding.options.AnnotationOptions`.

        Examples
        --------
        >>> import pyarrow
        >>> votes = pyarrow.table({"item": [1, 1], "annotator": ["ana", "bo"],
        ...     "label": ["no", "yes"]})
        >>> Annotations.from_dataframe(votes)
        Annotations(binary, 1 items, 2 annotators, 2 rows)
        """
        from equipoise.coding.layouts import frame_columns

        return cls(**frame_columns(frame, annotation_options(how)))

    @classmethod
    def from_wide(cls, frame: Any, **how: Unpack[AnnotationHow]) -> "Annotations":
        """Read a dataframe with a row per item and a column per annotator; blank is missing."""
        from equipoise.coding.layouts import frame_columns

        return cls(**frame_columns(frame, annotation_options({"layout": "wide", **how})))

    @classmethod
    def from_counts(
        cls, matrix: Any, *, items: Sequence[str] | None = None,
        classes: Sequence[str] | None = None,
    ) -> "Annotations":  # fmt: skip
        """Read numbers of exchangeable votes, an array (items, classes) or a dataframe.

        Examples
        --------
        >>> Annotations.from_counts(np.array([[3, 0, 2], [0, 5, 0]]))
        Annotations(nominal, 2 items, anonymous, 3 rows)
        """
        from equipoise.coding.counts import matrix_columns

        options = annotation_options({"layout": "counts", "classes": classes})
        return cls(**matrix_columns(matrix, options, items=items, name="counts"))

    @classmethod
    def from_rankings(
        cls, cases: Sequence[Any] | Mapping[str, Any], *, classes: Sequence[str] | None = None,
        items: Sequence[str] | None = None,
    ) -> "Annotations":  # fmt: skip
        """Read nested rankings: case > reading > block of tied classes, best first > class.

        Examples
        --------
        >>> Annotations.from_rankings([[[[3], [1, 4]], [[1]]]])
        Annotations(ranking, 1 items, anonymous, 4 rows)
        """
        from equipoise.coding.rankings import ranking_columns

        options = annotation_options({"classes": classes})
        return cls(**ranking_columns(cases, options, items=items, name="rankings"))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.item)

    def __repr__(self) -> str:
        who = "anonymous" if self.annotators is None else f"{len(self.annotators)} annotators"
        tasks = "" if len(self.tasks) == 1 else f", {len(self.tasks)} tasks"
        return (
            f"Annotations({self.kind}, {len(self.items)} items, {who}, {len(self)} rows{tasks})"
        )

    def in_task(self, task: str) -> Bools:
        """Which rows belong to a task, shape (rows,)."""
        if task not in self.tasks:
            known = nearest(task, self.tasks)
            raise InputError(
                "annotations, task", f"{task!r}", f"one of {listed(self.tasks)}", known
            )
        if self.task is None:
            return np.ones(len(self), dtype=bool)
        return np.asarray(self.task == self.tasks.index(task))

    def anonymous(self) -> "Annotations":
        """Forget who voted: the votes of an item become exchangeable.

        Examples
        --------
        >>> votes = Annotations(kind="binary", items=("scan",), classes=("0", "1"),
        ...     annotators=("ana", "bo"), item=np.array([0, 0]), label=np.array([0, 1]),
        ...     annotator=np.array([0, 1]))
        >>> votes.anonymous().annotators is None
        True
        """
        return replace(self, annotators=None, annotator=None)

    def against(self, positive: str) -> "Annotations":
        """Turn classes into a yes/no question: is it `positive`?

        Examples
        --------
        >>> votes = Annotations(kind="nominal", items=("scan",), classes=("a", "b", "c"),
        ...     item=np.array([0, 0]), label=np.array([2, 0]))
        >>> votes.against("c").label
        array([1, 0])
        """
        if not self.classes:
            raise InputError(
                "annotations, positive class", "ratings", "classes",
                hint("turn ratings into a yes/no question with {}", AT_LEAST),
            )  # fmt: skip
        if positive not in self.classes:
            raise InputError(
                "annotations, positive class",
                f"{positive!r}",
                f"one of {listed(self.classes, most=8)}",
                meant(positive, self.classes),
            )
        if self.kind == "ranking":
            return self._first_choices(positive)
        label = np.asarray(self.label == self.classes.index(positive), dtype=np.intp)
        return self._as_binary(label, (f"not {positive}", positive))

    def at_least(self, threshold: str | float) -> "Annotations":
        """Turn grades or ratings into a yes/no question: is it at least `threshold`?

        Examples
        --------
        >>> grades = Annotations(kind="ordinal", items=("scan",), classes=("0", "1", "2"),
        ...     item=np.array([0, 0]), label=np.array([2, 0]))
        >>> grades.at_least("1").label
        array([1, 0])
        """
        if self.kind == "interval" and self.value is not None:
            yes = self.value >= a_number(threshold)
        elif self.kind == "ordinal" and self.label is not None:
            known = nearest(str(threshold), self.classes)
            if str(threshold) not in self.classes:
                raise InputError(
                    "annotations, threshold", f"{threshold!r}", "a grade of the scale", known
                )
            yes = self.label >= self.classes.index(str(threshold))
        else:
            raise InputError(
                "annotations, threshold",
                f"{self.kind} labels",
                "ordinal grades or interval ratings",
                hint("choose one class with {} instead", ONE_CLASS),
            )
        return self._as_binary(
            yes.astype(np.intp), (f"below {threshold}", f"at least {threshold}")
        )

    def rows(self, keep: Bools) -> "Annotations":
        """Only some rows, with all names as they were."""
        columns = {
            name: getattr(self, name)[keep]
            for name in COLUMNS
            if name != "group" and getattr(self, name) is not None
        }
        return replace(self, **columns)

    def _as_binary(self, label: Ints, classes: tuple[str, str]) -> "Annotations":
        return replace(
            self,
            kind="binary",
            classes=classes,
            label=label,
            value=None,
            rank=None,
            reading=None,
        )

    def _first_choices(self, positive: str) -> "Annotations":
        """One vote per reading: yes when `positive` is among its first choices.

        A tie of t first choices that holds the class counts 1/t, as everywhere, so it
        becomes an interval rating of 1/t.
        """
        assert self.reading is not None and self.rank is not None and self.label is not None
        first = self.rank == 0
        size = np.bincount(self.reading[first], minlength=int(self.reading.max()) + 1)
        hit = first & (self.label == self.classes.index(positive))
        mass = np.bincount(self.reading[hit], minlength=len(size)) / np.maximum(size, 1)
        row = np.flatnonzero(first)[np.unique(self.reading[first], return_index=True)[1]]
        kept = {
            name: getattr(self, name)[row]
            for name in COLUMNS
            if name not in ("group", "label", "rank", "reading", "value")
            and getattr(self, name) is not None
        }
        value = mass[self.reading[row]]
        return replace(
            self, kind="interval", classes=(f"not {positive}", positive), value=value,
            label=None, rank=None, reading=None, **kept,
        )  # fmt: skip

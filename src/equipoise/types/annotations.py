"""Annotations: who said what about which item.

One long table of integer codes. A plain label is a ranking of length one and equal ranks
are ties, so votes, grades and differential diagnoses are the same table; a count matrix is
the same table without annotators, each row standing for several votes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from equipoise.types.arrays import (
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    choice,
    frozen,
    name_order,
    nearest,
    ratio,
    require_unique,
    unknown_name,
)
from equipoise.types.notices import Notice, Notices, as_notice, notice
from equipoise.types.records import immutable
from equipoise.types.words import AT_LEAST, ONE_CLASS, Option, hint

Kind = Literal["binary", "nominal", "ordinal", "interval", "ranking"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_VOTES = 10**15  # that one row may stand for: sums of them are still exact
GOLD = ("truth", "ignore", "only")  # what gold rows are for
PERSONS = ("dr", "mr", "ms", "prof")  # names with these are no standard
STANDARDS = (
    "gold",
    "consensus",
    "reference",
    "adjudicated",
    "adjudication",
    "truth",
    "groundtruth",
)
COLUMNS = (
    "item",
    "label",
    "value",
    "annotator",
    "task",
    "rank",
    "reading",
    "count",
    "weight",
    "confidence",
    "timestamp",
    "duration_ms",
    "is_gold",
    "arm",
    "group",
)
_WHOLE = (
    *("item", "label", "annotator", "task", "rank", "reading", "count", "arm", "group"),
    "annotator_group",
    "system",
)
RANGES = {  # lowest, highest, and how to say it
    "value": (-np.inf, np.inf, "a finite number"),
    "weight": (1e-100, 1e100, "a positive number, neither tiny nor huge"),
    "count": (1, MOST_VOTES, f"a whole number from 1 to {MOST_VOTES:,}"),
    "confidence": (0, 1, "a number between 0 and 1"),
    "duration_ms": (0, np.inf, "a non-negative number"),
    "rank": (0, np.inf, "a whole number from 0"),
}
MAY_BE_BLANK = ("confidence", "duration_ms")  # nan: not known for this row


@immutable(eq=False, kw_only=True)
class Annotations:
    """An immutable table of annotations, coded and checked once when made.

    Attributes
    ----------
    kind
        ``binary`` (two classes, the second is positive), ``nominal``, ``ordinal`` (the
        order of `classes` is the scale), ``interval`` (numbers in `value`), ``ranking``
        (several rows form one reading, `rank` 0 is the first choice, equal ranks tie).
    items, annotators, classes, tasks, groups, arms
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
    arm
        In which arm of a reader study (aided, unaided) a vote was cast; of gold rows it means
        nothing.
    group
        Which group (patient, night, site) each item belongs to, shape (items,).
    annotator_groups, annotator_group
        Names of groups of annotators (schools, hospitals), and which of them each annotator
        belongs to, shape (annotators,); None where annotators stand for themselves.
    scale
        Of ratings: the lowest and the highest there are; they count from 0 to 1 between.
    judged
        Where items are outputs of systems: whether people rated them or preferred one of two,
        or whether they are results, which nobody judged.
    systems, system
        Names of systems, and which of them produced each item, shape (items,).
    adjudication
        Votes that were cast to settle others and do not count, as a table of their own.
    notices
        What the reader should tell the user about these data; plain text becomes a notice.
    """

    kind: Kind
    items: Names
    item: Ints
    classes: Names = ()
    annotators: Names | None = None
    tasks: Names = ("",)
    groups: Names | None = None
    arms: Names | None = None
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
    arm: Ints | None = None
    group: Ints | None = None
    annotator_groups: Names | None = None
    annotator_group: Ints | None = None
    scale: tuple[float, float] | None = None
    judged: Literal["", "ratings", "preferences", "results"] = ""
    systems: Names | None = None
    system: Ints | None = None
    adjudication: "Annotations | None" = None
    notices: Notices = ()

    def __post_init__(self) -> None:
        choice("annotations, kind", self.kind, KINDS)
        if not len(self.item):
            raise InputError(
                "annotations", "no rows", "at least one annotation", "check the file"
            )
        for name in (*COLUMNS, "annotator_group", "system"):
            column = getattr(self, name)
            if column is not None:
                object.__setattr__(self, name, _checked_column(name, column, self))
        object.__setattr__(self, "notices", tuple(map(as_notice, self.notices)))
        _check_codes(self)
        _check_numbers(self)
        if self.kind == "ranking":
            _check_readings(self)

    @classmethod
    def from_dataframe(cls, frame: Any, **keywords: Any) -> "Annotations":
        """Read a dataframe of pandas, polars, pyarrow or another kind that narwhals knows.

        The keywords are those of `equipoise.read.options.VoteFormat`. Items come in the
        order of their names, whatever the order of rows: arrays of your own go with ``.items``.

        Examples
        --------
        >>> import pyarrow
        >>> votes = pyarrow.table({"item": [1, 1], "annotator": ["ana", "bo"],
        ...     "label": ["no", "yes"]})
        >>> Annotations.from_dataframe(votes)
        Annotations(binary, 1 items, 2 annotators, 2 rows)
        """
        from equipoise.read.annotations import annotations_of_tables
        from equipoise.read.options import VoteFormat
        from equipoise.read.tables import from_frame

        options = VoteFormat.of(keywords)
        return annotations_of_tables([from_frame(frame)], options)

    @classmethod
    def from_counts(
        cls,
        matrix: Any,
        *,
        items: Sequence[str] | None = None,
        classes: Sequence[str] | None = None,
    ) -> "Annotations":
        """Read numbers of exchangeable votes, an array (items, classes) or a dataframe.

        Items come in the order of their names, not in that of the rows; see ``.items``.

        Examples
        --------
        >>> Annotations.from_counts(np.array([[3, 0, 2], [0, 5, 0]]))
        Annotations(nominal, 2 items, anonymous, 3 rows)
        """
        from equipoise.read.annotations import count_annotations
        from equipoise.read.options import VoteFormat

        options = VoteFormat.of({"layout": "counts", "classes": classes})
        return count_annotations(matrix, options, items=items, name="counts")

    @classmethod
    def from_rankings(
        cls,
        cases: Sequence[Any] | Mapping[str, Any],
        *,
        classes: Sequence[str] | None = None,
        items: Sequence[str] | None = None,
    ) -> "Annotations":
        """Read nested rankings: case > reading > block of tied classes, best first > class.

        Items come in the order of their names, not in that of the cases; see ``.items``.

        Examples
        --------
        >>> Annotations.from_rankings([[[[3], [1, 4]], [[1]]]])
        Annotations(ranking, 1 items, anonymous, 4 rows)
        """
        from equipoise.read.options import VoteFormat
        from equipoise.read.rankings import ranking_annotations

        options = VoteFormat.of({"classes": classes})
        return ranking_annotations(cases, options, items=items, name="rankings")

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
            raise unknown_name("annotations, task", f"{task!r}", task, self.tasks, most=3)
        if self.task is None:
            return np.ones(len(self), dtype=bool)
        return np.asarray(self.task == self.tasks.index(task))

    @property
    def gold(self) -> Bools:
        """Which rows are gold and so nobody's opinion, shape (rows,)."""
        return np.zeros(len(self.item), dtype=bool) if self.is_gold is None else self.is_gold

    def opinions(self, task: str) -> Bools:
        """Which rows are somebody's opinion in a task, shape (rows,)."""
        return self.in_task(task) & ~self.gold

    @property
    def cells(self) -> Ints:
        """Item and task of every row as one number, shape (rows,)."""
        item = self.item.astype(np.int64)
        return item if self.task is None else item + self.task * np.int64(len(self.items))

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
        return replace(self, annotators=None, annotator=None, annotator_group=None)

    def against(self, positive: str) -> "Annotations":
        """Turn classes into a yes/no question: is it `positive`?

        Examples
        --------
        >>> votes = Annotations(kind="nominal", items=("scan",), classes=("a", "b", "c"),
        ...     item=np.array([0, 0]), label=np.array([2, 0]))
        >>> votes.against("c").label
        array([1, 0])
        """
        late = self.adjudication
        if late is not None:
            late = late.against(positive) if positive in late.classes else None
            return replace(
                replace(self, adjudication=None).against(positive), adjudication=late
            )
        if not self.classes:
            raise InputError(
                "annotations, positive class",
                "ratings",
                "classes",
                hint("turn ratings into a yes/no question with {}", AT_LEAST),
            )
        if positive not in self.classes:
            where = "annotations, positive class"
            raise unknown_name(where, f"{positive!r}", positive, self.classes)
        if self.kind == "ranking":
            return self._first_choices(positive)
        label = np.asarray(self.label == self.classes.index(positive), dtype=np.intp)
        yes_no = self._as_binary(label, (f"not {positive}", positive))
        others_named = np.asarray(self.label)[label == 0]
        others = tuple(map(self.classes.__getitem__, np.unique(others_named)))
        if len(others) < 2:
            return yes_no
        text = "Votes for {others:listed} count as not {positive}."
        note = notice("other_classes", text, others=others, positive=positive)
        return yes_no.noting(note)

    def at_least(self, threshold: str | float) -> "Annotations":
        """Turn grades or ratings into a yes/no question: is it at least `threshold`?

        Examples
        --------
        >>> grades = Annotations(kind="ordinal", items=("scan",), classes=("0", "1", "2"),
        ...     item=np.array([0, 0]), label=np.array([2, 0]))
        >>> grades.at_least("1").label
        array([1, 0])
        """
        late = self.adjudication
        if late is not None:
            yes_no = replace(self, adjudication=None).at_least(threshold)
            return replace(yes_no, adjudication=late.at_least(threshold))
        if self.kind == "interval" and self.value is not None:
            yes = self.value >= _as_number(threshold)
        elif self.kind == "ordinal" and self.label is not None:
            advice = nearest(str(threshold), self.classes)
            if str(threshold) not in self.classes:
                raise InputError(
                    "annotations, threshold", f"{threshold!r}", "a grade of the scale", advice
                )
            yes = self.label >= self.classes.index(str(threshold))
        else:
            do = hint("choose one class with {} instead", ONE_CLASS)
            if self.kind == "nominal" and are_steps(self.classes):
                grades = Option("kind", "ordinal"), Option("classes", self.classes)
                do = hint("if these are grades, say {} with {}", *grades)
            raise InputError(
                "annotations, threshold",
                f"{self.kind} labels",
                "ordinal grades or interval ratings",
                do,
            )
        return self._as_binary(
            yes.astype(np.intp), (f"below {threshold}", f"at least {threshold}")
        )

    def normalised(self, how: str, by: str = "annotator") -> "Annotations":
        """Ratings of every annotator (or group of them) in each task on a scale of their own.

        Parameters
        ----------
        how
            ``z``: less their mean, over their standard deviation; ``rank``: the place among
            all that they rated, between 0 and 1, ties sharing theirs.
        by
            ``annotator``, or ``annotator_group``.

        Examples
        --------
        >>> votes = Annotations(kind="interval", items=("a", "b"), annotators=("ana", "bo"),
        ...     item=np.array([0, 1, 0, 1]), annotator=np.array([0, 0, 1, 1]),
        ...     value=np.array([1.0, 2.0, 10.0, 30.0]))
        >>> votes.normalised("z").value
        array([-1.,  1., -1.,  1.])
        """
        choice("annotations, normalise", how, ("z", "rank"))
        choice("annotations, normalise by", by, ("annotator", "annotator_group"))
        who = self.annotator
        if who is not None and by == "annotator_group":
            who = None if self.annotator_group is None else self.annotator_group[who]
        if self.value is None or who is None or self.judged == "preferences":
            got = f"{self.kind} labels" if self.value is None else f"no {by} of votes"
            got = self.judged if self.judged == "preferences" else got
            wanted = "ratings by annotators with names"
            do = hint("leave it out, or read ratings: {}", Option("kind", "interval"))
            raise InputError("annotations, normalise", got, wanted, do)
        task = np.zeros(len(self), dtype=np.int64) if self.task is None else self.task
        code = np.unique(task * (int(who.max()) + 1) + who, return_inverse=True)[1]
        value = (_standardised if how == "z" else _ranked)(self.value, code)
        low, high = float(value.min()), float(value.max())
        scale = (0.0, 1.0) if how == "rank" else (low, high if high > low else low + 1)
        text = "Ratings count by {how} of every {by} in each task."
        words = {"z": "their distance from the mean, in standard deviations", "rank": "rank"}
        note = notice("normalised", text, how=words[how], by=by.replace("_", " "))
        return replace(self, value=value, scale=scale).noting(note)

    def with_gold(self, use: str = "truth") -> "Annotations":
        """Say what gold rows are for.

        Parameters
        ----------
        use
            ``truth`` leaves the annotations as they are: gold settles its items. ``ignore``
            leaves gold rows out, so that the votes count; ``only`` leaves out items without
            gold. Tasks of which nothing is left go, too. The name of an annotator makes all
            that it says gold.

        Examples
        --------
        >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("0", "1"),
        ...     item=np.array([0, 0, 1]), label=np.array([1, 0, 1]),
        ...     is_gold=np.array([True, False, False]))
        >>> len(votes.with_gold("ignore")), len(votes.with_gold("only"))
        (2, 2)
        """
        if use not in GOLD and use in (self.annotators or ()):
            return self._with_reference(use)
        choice("annotations, gold", use, (*GOLD, *(self.annotators or ())))
        gold, cells = self.gold, self.cells
        if use == "truth" or (use == "ignore" and not gold.any()):
            return self
        keep = ~gold if use == "ignore" else np.isin(cells, cells[gold])
        if not keep.any():
            got = "nothing but gold rows" if use == "ignore" else "no gold rows"
            expected = "votes beside gold" if use == "ignore" else "items with gold"
            do = hint(
                "let gold be the truth: {}", Option("gold", "truth", "with_gold('truth')")
            )
            raise InputError(f"annotations, gold {use}", got, expected, do)
        left = self.rows(keep).with_used_tasks()
        return replace(left, is_gold=None) if use == "ignore" else left

    def _with_reference(self, name: str) -> "Annotations":
        """What one annotator says is gold."""
        assert self.annotators is not None and self.annotator is not None
        gold = self.annotator == self.annotators.index(name)
        if gold.all():
            raise InputError(
                f"annotations, gold {name}",
                "votes of nobody else",
                "readers beside the reference standard, or predictions alone with it",
                hint(
                    "mark its rows with a column is_gold of ones, or leave out {}",
                    Option("gold"),
                ),
            )
        gold, arm, arms = gold | self.gold, self.arm, self.arms
        if arm is not None and arms is not None:  # of the readers alone
            used = np.unique(arm[~gold])
            arm = np.minimum(np.searchsorted(used, arm), len(used) - 1)
            arms = tuple(arms[code] for code in used)
        return replace(self, is_gold=gold, arm=arm, arms=arms)

    @property
    def like_standards(self) -> Names:
        """Annotators who are called as a reference standard is, and have votes that are none.

        Examples
        --------
        >>> votes = Annotations(kind="binary", items=("a",), classes=("0", "1"),
        ...     item=np.array([0, 0]), label=np.array([1, 0]),
        ...     annotators=("Dr. Gold", "ground_truth"), annotator=np.array([0, 1]))
        >>> votes.like_standards
        ('ground_truth',)
        """
        if self.annotators is None or self.annotator is None:
            return ()
        reading = np.bincount(self.annotator[~self.gold], minlength=len(self.annotators)) > 0
        names = []
        for name, reads in zip(self.annotators, reading, strict=True):
            words = set(re.findall(r"[^\W\d_]+", name.casefold()))
            if reads and words & {*STANDARDS} and words.isdisjoint(PERSONS):
                names.append(name)
        return tuple(names)

    @property
    def vote_places(self) -> Ints:
        """Which vote of its item and task a row belongs to, from 0, shape (rows,).

        By timestamp where rows have one, else in the order of the rows; rows of one reading
        are one vote. A row of several identical votes is one place.
        """
        item = self.cells
        time = np.zeros(len(self)) if self.timestamp is None else self.timestamp
        reading = np.arange(len(self)) if self.reading is None else self.reading
        first = np.unique(reading, return_index=True)[1]
        order = first[np.lexsort((first, time[first], item[first]))]
        new = np.diff(item[order], prepend=-1) != 0
        began = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
        place = np.empty(int(reading.max()) + 1, dtype=np.intp)
        place[reading[order]] = np.arange(len(order)) - began
        return place[reading]

    def first_votes(self, number: int) -> "Annotations":
        """Only the first votes on each item of each task; known truths stay.

        Votes that were added after the first ones disagreed make hard items look harder and
        bias scores; the planned first votes do not. What comes first is told by timestamps, or
        else by the order of the rows, and a notice says which.

        Examples
        --------
        >>> votes = Annotations(kind="binary", items=("scan",), classes=("0", "1"),
        ...     item=np.array([0, 0, 0]), label=np.array([0, 1, 1]))
        >>> votes.first_votes(2).label
        array([0, 1])
        """
        if self.count is not None or number < 1:
            raise InputError(
                "annotations, first votes",
                f"{number}" if number < 1 else "counts of votes, which have no order",
                "a whole number of at least 1, and a row for every vote",
                "give single votes in the order in which they were made",
            )
        keep = (self.vote_places < number) | self.gold
        text = (
            "Only the first {votes:count} votes on an item are used, by {order}: {left:count} "
            "rows are left out."
        )
        order = "the order of the rows" if self.timestamp is None else "their timestamps"
        left = int((~keep).sum())
        part = self.rows(keep)
        note = notice("first_votes", text, votes=number, order=order, left=left)
        return part.noting(note)

    def rows(self, keep: Bools | Ints) -> "Annotations":
        """Only some rows, marked or by position, with all names as they were."""
        columns = {
            name: getattr(self, name)[keep]
            for name in COLUMNS
            if name != "group" and getattr(self, name) is not None
        }
        return replace(self, **columns)

    def noting(self, *notices: Notice) -> "Annotations":
        """The same with more notices."""
        return replace(self, notices=(*self.notices, *notices))

    def with_used_tasks(self) -> "Annotations":
        """The same without tasks about which nothing is said."""
        if self.task is None:
            return self
        codes, task = np.unique(self.task, return_inverse=True)
        return replace(self, task=task, tasks=tuple(self.tasks[code] for code in codes))

    def of_items(self, keep: Bools) -> "Annotations":
        """Only the items that are marked, shape (items,), and what was said of them.

        Examples
        --------
        >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("0", "1"),
        ...     item=np.array([0, 1, 1]), label=np.array([1, 0, 1]))
        >>> votes.of_items(np.array([False, True])).items
        ('b',)
        """
        part = self.rows(keep[self.item])
        return replace(
            part,
            items=tuple(name for name, use in zip(self.items, keep, strict=True) if use),
            item=(np.cumsum(keep) - 1)[part.item],
            group=None if self.group is None else self.group[keep],
            system=None if self.system is None else self.system[keep],
        )

    def by_name(self) -> "Annotations":
        """The same with items, annotators, groups and arms in the order of their names.

        What tables and streams hold is read so: nothing then depends on the order of a file,
        ties and lists among it. Rows stay as they are, because votes without timestamps came
        in their order (`first_votes`).

        Examples
        --------
        >>> votes = Annotations(kind="binary", items=("b", "a"), classes=("0", "1"),
        ...     item=np.array([0, 1, 1]), label=np.array([1, 0, 1]))
        >>> votes.by_name().items, votes.by_name().item
        (('a', 'b'), array([1, 0, 0]))
        """
        orders = {
            "item": name_order(self.items),
            "annotator": name_order(self.annotators or ()),
            "group": name_order(self.groups or ()),
            "arm": name_order(self.arms or ()),
        }
        changed: dict[str, Any] = {}
        for column, order in orders.items():
            if order is not None:
                names = getattr(self, f"{column}s")
                changed[f"{column}s"] = tuple(map(names.__getitem__, order.tolist()))
                codes = getattr(self, column)
                rank = np.empty(len(order), dtype=np.intp)
                rank[order] = np.arange(len(order))
                changed[column] = None if codes is None else rank[codes]
        if orders["item"] is not None and self.group is not None:
            changed["group"] = changed.get("group", self.group)[orders["item"]]
        if orders["item"] is not None and self.system is not None:
            changed["system"] = self.system[orders["item"]]
        if orders["annotator"] is not None and self.annotator_group is not None:
            changed["annotator_group"] = self.annotator_group[orders["annotator"]]
        return replace(self, **changed) if changed else self

    @property
    def adjudicated(self) -> "Annotations":
        """All votes with those of adjudication, of nobody in particular.

        Votes of adjudication on items, tasks and classes that have no others are left out.
        """
        late = self.adjudication
        if late is None or late.label is None or self.label is None:
            return self
        codes = []
        for ours, theirs, code in (
            (self.items, late.items, late.item),
            (self.classes, late.classes, late.label),
            (self.tasks, late.tasks, late.cells // len(late.items)),
        ):
            place = {name: number for number, name in enumerate(ours)}
            codes.append(np.array([place.get(name, -1) for name in theirs])[code])
        item, label, task = np.stack(codes)[:, np.min(codes, axis=0) >= 0]
        weight = None if self.weight is None else np.append(self.weight, np.ones(len(item)))
        return Annotations(
            **{name: getattr(self, name) for name in ("kind", "items", "classes", "tasks")},
            item=np.append(self.item, item),
            label=np.append(self.label, label),
            task=np.append(self.cells // len(self.items), task),
            is_gold=np.append(self.gold, np.zeros(len(item), dtype=bool)),
            weight=weight,
        )

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
        return replace(
            self.rows(row),
            kind="interval",
            classes=(f"not {positive}", positive),
            value=mass[self.reading[row]],
            label=None,
            rank=None,
            reading=None,
        )


def _standardised(value: Floats, code: Ints) -> Floats:
    """Less the mean of equal codes, over their standard deviation; 0 where they are alike."""
    size = np.bincount(code)
    mean = np.bincount(code, value) / size
    away = value - mean[code]
    deviation = np.sqrt(np.bincount(code, away**2) / size)[code]
    return ratio(away, deviation, 0.0)


def _ranked(value: Floats, code: Ints) -> Floats:
    """Mean rank among equal codes, less a half, over how many there are."""
    order = np.lexsort((value, code))
    placed, who = value[order], code[order]
    first = np.flatnonzero(np.append(True, (np.diff(placed) != 0) | (np.diff(who) != 0)))
    sizes = np.diff(np.append(first, len(order)))
    start = np.flatnonzero(np.append(True, np.diff(who) != 0))
    number = np.bincount(code)
    middle = first + (sizes - 1) / 2 + 0.5
    rank = np.empty(len(order))
    rank[order] = np.repeat(middle, sizes) - np.repeat(start, number[who[start]])
    return np.asarray(rank / number[code])


def _checked_column(name: str, column: Any, table: Annotations) -> Any:
    """Freeze one column after checking its length."""
    of_items = dict.fromkeys(("group", "system"), table.items)
    sizes = {**of_items, "annotator_group": table.annotators or ()}
    expected = len(sizes.get(name, table.item))
    array = np.asarray(column)
    if array.shape != (expected,):
        raise InputError(
            f"annotations, column {name}",
            f"shape {array.shape}",
            f"({expected},)",
            "give one value per row (group: one per item, annotator_group: one per annotator)",
        )
    if name in _WHOLE and not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"annotations, column {name}",
            f"numbers of type {array.dtype}",
            "whole numbers",
            "give integer codes, counts or ranks",
        )
    if name == "is_gold" and np.isin(array, (0, 1)).all():
        array = array.astype(bool)
    if name == "is_gold" and array.dtype != np.bool_:
        raise InputError(
            "annotations, column is_gold",
            f"values of type {array.dtype}",
            "true or false",
            "compare with what marks a gold row in your data",
        )
    return frozen(array)


def _check_codes(table: Annotations) -> None:
    """Every code must point into its vocabulary, and names must be unique."""
    pairs: list[tuple[str, Ints | None, Sequence[str] | None]] = [
        ("item", table.item, table.items),
        ("annotator", table.annotator, table.annotators),
        ("label", table.label, table.classes),
        ("task", table.task, table.tasks),
        ("group", table.group, table.groups),
        ("annotator_group", table.annotator_group, table.annotator_groups),
        ("arm", table.arm, table.arms),
        ("system", table.system, table.systems),
    ]
    for name, codes, names in pairs:
        if names is not None:
            require_unique(names, where=f"annotations, names of {name}")
        if codes is None:
            continue
        if names is None or codes.min() < 0 or codes.max() >= len(names):
            raise InputError(
                f"annotations, column {name}",
                f"codes {codes.min()} to {codes.max()}",
                f"0 to {len(names or ()) - 1}",
                f"name every {name} that the codes use",
            )
    if (table.annotators is None) != (table.annotator is None):
        raise InputError(
            "annotations, annotators",
            "names without codes or codes without names",
            "both or neither",
            "give both, or neither for anonymous votes",
        )


def _check_numbers(table: Annotations) -> None:
    """Labels or values must be there, and the optional numbers must make sense."""
    missing = table.value is None if table.kind == "interval" else table.label is None
    if missing:
        what = "value" if table.kind == "interval" else "label"
        raise InputError(
            f"annotations of kind {table.kind}",
            f"no {what} column",
            f"a {what} per row",
            "give it, or choose another kind",
        )
    if table.kind == "binary" and len(table.classes) != 2:
        raise InputError(
            "annotations of kind binary",
            f"{len(table.classes)} classes",
            "two",
            "name both classes, the positive one last, or choose kind nominal",
        )
    for name, (low, high, expected) in RANGES.items():
        column = getattr(table, name)
        if column is None:
            continue
        bad = ~np.isfinite(column) | (column < low) | (column > high)
        if name in MAY_BE_BLANK:
            bad &= ~np.isnan(column)
        if bad.any():
            raise InputError(
                f"annotations, column {name}, row {int(np.flatnonzero(bad)[0])}",
                f"{column[bad][0]}",
                expected,
                "correct or leave out the row",
            )


def _check_readings(table: Annotations) -> None:
    """A ranking names no class twice."""
    if table.rank is None or table.reading is None or table.label is None:
        raise InputError(
            "annotations of kind ranking",
            "no rank or reading column",
            "both",
            "give the rank of each class and the reading each row belongs to",
        )
    key = table.reading.astype(np.int64) * len(table.classes) + table.label
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(np.diff(key[order]) == 0)
    if len(twice):
        row = order[twice[0] + 1]
        raise InputError(
            f"annotations, item {table.items[table.item[row]]!r}",
            f"class {table.classes[table.label[row]]!r} twice in one ranking",
            "each class at most once",
            "remove the later mention",
        )


def are_steps(classes: Sequence[str]) -> bool:
    """Whether classes are consecutive whole numbers, three or more, as grades are.

    Examples
    --------
    >>> are_steps(("0", "1", "2")), are_steps(("0", "10", "20")), are_steps(("0", "1"))
    (True, False, False)
    """
    if len(classes) < 3 or not all(name.lstrip("-").isdecimal() for name in classes):
        return False
    whole = [int(name) for name in classes]
    return whole == list(range(whole[0], whole[0] + len(whole)))


def _as_number(threshold: str | float) -> float:
    """Read a threshold on a scale of ratings."""
    try:
        value = float(threshold)
    except ValueError:
        value = float("nan")
    if value != value:
        raise InputError(
            "annotations, threshold", f"{threshold!r}", "a number", "give one on the scale"
        )
    return value

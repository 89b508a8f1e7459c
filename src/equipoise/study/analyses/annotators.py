r"""Annotators: how often each says yes, how far each agrees with the others, and their skill.

Agreement is the share of the other votes on the same items that say the same. With a model of
annotators, skill stands beside it: who agrees little with the others may still be right. A
choice among several classes has no base rate. Up to forty annotators are drawn one by one, more
as a cloud.

On the map those who judge alike stand close together: classical scaling of the distances
:math:`d_{ab} = 1 - \kappa_{ab}`: the two leading eigenvectors of :math:`-\frac12 J D^{\circ 2}
J`, J taking out the mean. A pair without a kappa gets the mean distance. The part of the
distances that two dimensions hold is said.

References
----------
Cohen, *A coefficient of agreement for nominal scales*, 1960.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> readings, _ = reading_study()
>>> annotator_map(readings).finding
'Dr Abel and ... agree most (kappa 0...); Dr ... agree least (kappa 0...).'
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from equipoise.study.analyses.confusion_matrices import (
    confusion_charts,
    confusion_tables,
    confusion_words,
    confusions,
    shared_errors,
)
from equipoise.study.analyses.scoring import freeze
from equipoise.study.study import Study
from equipoise.study.truth import TaskTruth, task_truths
from equipoise.truth.agreement import agreement_table
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, short_repr
from equipoise.types.findings import (
    Cell,
    Chart,
    Column,
    Dot,
    Dots,
    Finding,
    Lines,
    Point,
    Row,
    Table,
    columns,
    rows_of,
)
from equipoise.types.numbers import change, count, number, percent
from equipoise.types.plausibilities import Skills
from equipoise.types.votes import Votes
from equipoise.types.words import capital

LISTED = 40  # annotators that are drawn one by one
FEW = 10  # votes below which no sentence is made of an annotator
TITLE = "How do annotators differ?"
NOTE = (
    "Agreement is with the mean of the others on the same items; the positive share is over "
    "the votes each annotator gave."
)
METHODS = (
    "Confusion matrices of annotators are against the votes of the others, against gold where "
    "there is any, and as fitted by the model of Dawid and Skene [@dawid1979]."
)
AXES = {
    "skill": "skill",
    "base_rate": "share of positive votes",
    "agreement": "agreement with the others",
}
HEADS = {"base_rate": "positive share", "agreement": "agreement"}


def annotator_rows(
    questions: Sequence[TaskTruth], names: Sequence[str]
) -> list[dict[str, Cell]]:
    """Votes, base rate and agreement with the others, by task and annotator.

    Where durations are known, also the median one.
    """
    rows: list[dict[str, Cell]] = []
    for question in questions:
        if question.votes is None or not names:
            continue
        votes = question.votes
        counted = votes.annotator >= 0
        total = np.bincount(votes.annotator[counted], minlength=len(names))
        yes = (
            question.masses[0] if len(question.classes) == 1 else np.full(len(counted), np.nan)
        )
        rate = _mean_by(votes, yes, len(names))
        agreement = _mean_by(votes, _agreement_with_others(question), len(names))
        columns_of = {"votes": total, "base_rate": rate, "agreement": agreement}
        if question.times is not None:
            medians = question.times.medians()
            columns_of["median_ms"] = np.array([medians.get(a) for a in range(len(names))])
        question_rows = rows_of({"task": question.task}, {"annotator": names}, columns_of)
        rows += [row for row in question_rows if row["votes"]]
    return rows


def _agreement_with_others(question: TaskTruth) -> Floats:
    """Share of the item's other votes that say the same, shape (votes,); nan for lone votes.

    For a yes/no question with vote y and mean o of the others: y o + (1 - y)(1 - o).
    """
    votes = question.votes
    assert votes is not None
    size = np.repeat(votes.sizes, votes.sizes)
    item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
    others = np.maximum(size - 1, 1)
    if len(question.classes) == 1:
        yes = question.masses[0]
        rest = (np.bincount(item, yes)[item] - yes) / others
        same = yes * rest + (1 - yes) * (1 - rest)
    else:
        key = item[votes.vote] * len(question.classes) + votes.label
        code = np.unique(key, return_inverse=True)[1]
        entry = votes.share * (np.bincount(code, votes.share)[code] - votes.share)
        same = np.bincount(votes.vote, entry, len(size)) / others
    return np.where(size > 1, same, np.nan)


def _mean_by(votes: Votes, values: Floats, annotators: int) -> Floats:
    """Mean over each annotator's votes, without undefined ones."""
    use = ~np.isnan(values) & (votes.annotator >= 0)
    size = np.bincount(votes.annotator[use], minlength=annotators)
    total = np.bincount(votes.annotator[use], values[use], annotators)
    return np.where(size > 0, total / np.maximum(size, 1), np.nan)


def skilled_rows(
    annotations: Annotations, task: str, skills: Skills | None
) -> list[dict[str, Cell]]:
    """What is known of the annotators of a task, with the skill that a model found.

    Raters, who give numbers, have their mean rating and how far it lies above that of all on
    the same items.
    """
    if annotations.annotators is None:
        return []
    if annotations.kind == "interval":
        return _raters(annotations, task)
    questions = [question for question in task_truths(annotations) if question.task == task]
    rows = annotator_rows(questions, annotations.annotators)
    if skills is None:
        return rows
    place = {name: code for code, name in enumerate(skills.annotators)}
    columns = {"skill": skills.value, "low": skills.low, "high": skills.high}
    for row in rows:
        code = place[str(row["annotator"])]
        row |= {name: float(v[code]) for name, v in columns.items() if v is not None}
    return rows


def _raters(annotations: Annotations, task: str) -> list[dict[str, Cell]]:
    gold = False if annotations.is_gold is None else annotations.is_gold
    rows = np.flatnonzero(annotations.in_task(task) & ~np.asarray(gold))
    assert annotations.annotator is not None and annotations.value is not None
    who, item = annotations.annotator[rows], annotations.item[rows]
    value = annotations.value[rows]
    level = np.bincount(item, value) / np.maximum(np.bincount(item), 1)
    names = annotations.annotators or ()
    size = np.bincount(who, minlength=len(names))
    mean, lean = (
        np.bincount(who, numbers, len(names)) / np.maximum(size, 1)
        for numbers in (value, value - level[item])
    )
    columns_of = {"votes": size, "mean_rating": mean, "above_the_item_mean": lean}
    return [row for row in rows_of({}, {"annotator": names}, columns_of) if row["votes"]]


def analyse(study: Study) -> Finding:
    """How the annotators of a study differ: what they say, and what they confuse."""
    table = study.voted
    matrices = confusions(table)
    front = matrices[0].task if matrices else ""
    rows = annotator_rows(study.evaluation.questions, table.annotators or ())
    for row in rows:
        row["all_votes"] = _panel_rate(
            [other for other in rows if other["task"] == row["task"]]
        )
    finding = annotators_finding([row for row in rows if row["task"] == front])
    words = confusion_words([matrix for matrix in matrices if matrix.task == front])
    sentence, *more = (*words, finding.sentence)
    first = replace(
        finding.tables[0],
        columns=(Column("task", "task"), *finding.tables[0].columns),
        rows=rows,
    )
    return replace(
        finding,
        sentence=f"{front}: {sentence}" if len(table.tasks) > 1 else sentence,
        more=tuple(more),
        tables=(*confusion_tables(matrices), first),
        charts=(*finding.charts, *confusion_charts(matrices, front)),
        methods=METHODS,
        references=("dawid1979",),
        notices=tuple(shared_errors(matrices)),
    )


def annotators_finding(rows: Sequence[Row], *, skill: str = "", legend: str = "") -> Finding:
    """How the annotators of one task differ.

    Parameters
    ----------
    rows
        What `annotator_rows` or `skilled_rows` says of each.
    skill
        What the skill in the rows is, such as ``accuracy``; empty without any.
    legend
        What the columns mean.
    """
    columns_with_numbers = [key for key in ("base_rate", "agreement") if _by(rows, key)]
    skilled = bool(skill) and bool(_by(rows, "skill"))
    ends = ("low", "high") if _by(rows, "low") else None
    further = (
        *columns(mean_rating="number", above_the_item_mean="change"),
        Column("median_ms", "median time", "duration"),
    )
    shown = [
        *columns(annotator="text", votes="count"),
        *(Column(key, HEADS[key], "number") for key in columns_with_numbers),
        *([Column("skill", f"skill ({skill})", "number", ends)] if skilled else []),
        *(column for column in further if _by(rows, column.key)),
    ]
    most = sorted(rows, key=lambda row: -_real(row, "votes"))
    keys = (["skill"] if skilled else []) + columns_with_numbers
    note = f"{NOTE} Skill is the {skill} that the model finds for each annotator." * skilled
    table = Table(
        name="annotators",
        caption="Annotators, most votes first",
        columns=shown,
        rows=most,
        legend=legend,
    )
    return Finding(
        key="annotators",
        title=TITLE,
        sentence=_sentence(rows, skill if skilled else ""),
        tables=(table,),
        charts=_charts(rows, keys, skill) if keys else (),
        note=note or NOTE,
    )


def _real(row: Row, key: str) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) else math.nan


def _by(rows: Sequence[Row], key: str) -> list[Row]:
    """Annotators of whom a number is known, from the lowest to the highest."""
    defined = [row for row in rows if not math.isnan(_real(row, key))]
    return sorted(defined, key=lambda row: _real(row, key))


def _panel_rate(rows: Sequence[Row]) -> float:
    """Base rate of all votes together.

    Examples
    --------
    >>> _panel_rate([{"votes": 1, "base_rate": 1.0}, {"votes": 3, "base_rate": 0.0}])
    0.25
    """
    defined = [row for row in rows if not math.isnan(_real(row, "base_rate"))]
    votes = sum(_real(row, "votes") for row in defined)
    yes = sum(_real(row, "votes") * _real(row, "base_rate") for row in defined)
    return yes / votes if votes else math.nan


def _charts(rows: Sequence[Row], keys: Sequence[str], skill: str) -> tuple[Chart, ...]:
    """A column of dots for each number, or of many annotators a cloud of the first two."""
    titles = {**AXES, "skill": f"skill ({skill})"}
    first = keys[0]
    if len(rows) > LISTED and len(keys) > 1:
        second = "agreement" if first == "skill" else keys[1]
        points = [
            Point(str(row["annotator"]), _real(row, first), _real(row, second), labelled=False)
            for row in rows
        ]
        chart = Lines(
            name="annotators",
            caption="One dot per annotator",
            alternative=f"{capital(titles[first])} against {titles[second]} of "
            f"{count(len(rows), 'annotator')}.",
            x=titles[first],
            y=titles[second],
            points=points,
        )
        return (chart,)
    undefined = [row for row in rows if math.isnan(_real(row, first))]
    order = [*_by(rows, first), *undefined][:LISTED]
    span = "; line: its interval" if first == "skill" and _by(rows, "low") else ""
    some = f", the {LISTED} lowest" if len(rows) > LISTED else ""
    return tuple(
        Dots(
            name=f"annotators-{key.replace('_', '-')}",
            caption=f"Annotators from the lowest to the highest {titles[first]}{some}{span}",
            alternative=f"Dot plot: {titles[key]}, {count(len(order), 'annotator')}.",
            axis=titles[key],
            rows=[
                Dot(
                    str(row["annotator"]),
                    _real(row, key),
                    *((_real(row, "low"), _real(row, "high")) if key == "skill" else ()),
                )
                for row in order
            ],
            reference=_panel_rate(rows) if key == "base_rate" else None,
        )
        for key in keys
    )


def _sentence(rows: Sequence[Row], skill: str) -> str:
    """How far apart annotators are; those with few votes only if all have few."""
    many = [row for row in rows if _real(row, "votes") >= FEW] or list(rows)

    def ends(key: str, rows: Sequence[Row], write: Callable[[float], str]) -> list[str]:
        ordered = _by(rows, key)
        return [f"{write(_real(ordered[i], key))} ({ordered[i]['annotator']})" for i in (0, -1)]

    if any("mean_rating" in row for row in rows):
        span = " to ".join(ends("above_the_item_mean", rows, change))
        return f"Ratings differ from those of all on the same items by {span}."
    parts = []
    if _by(many, "base_rate"):
        span = " to ".join(ends("base_rate", many, percent))
        parts.append(
            f"Positive votes run from {span}, {percent(_panel_rate(many))} over all votes"
        )
    if len(ordered := _by(many, "agreement")) > 1:
        value = number(_real(ordered[0], "agreement"))
        parts.append(f"{ordered[0]['annotator']} agrees least with the others ({value})")
    if not parts:
        parts = ["Neither base rate nor agreement of any annotator is defined"]
    text = f"{'; '.join(parts)}."
    if len(many) < len(rows):
        text += f" Annotators with fewer than {FEW} votes are not compared."
    if not skill or len(_by(many, "skill")) < 2:
        return text
    span = " to ".join(ends("skill", many, number))
    return f"By the model, skill ({skill}) runs from {span}. {text}"


MAP_KEY, MAP_TITLE = "pairs", "Who judges alike?"
MOST_ON_MAP = 60  # annotators on the map, those with most votes
ENDS_OF_PAIRS = 20  # pairs in the table at each end
MAP_NOTE = (
    "Distances are 1 minus Cohen's kappa of two annotators on the items that both rated; the "
    "map shows them as well as two dimensions can. Directions have no meaning, only distances."
)
PAIR_COLUMNS = (
    Column("first", "annotator"),
    Column("second", "and"),
    Column("kappa", "kappa", "number"),
    Column("items", "items of both", "count"),
)


class _Plane(NamedTuple):
    """Places, shape (annotators, 2), and the share of the distances that they hold."""

    places: Floats
    held: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AnnotatorMap:
    """Annotators by how alike they judge.

    Attributes
    ----------
    task, annotators
        The question, and who is on the map.
    kappa, items
        Cohen's kappa of every pair, nan where undefined, and how many items both rated, shape
        (annotators, annotators).
    places, held
        Places on the plane, (annotators, 2), and the share of the distances that it holds.
    """

    task: str
    annotators: tuple[str, ...]
    kappa: Floats
    items: Floats
    places: Floats
    held: float

    __repr__ = short_repr

    def __post_init__(self) -> None:
        freeze(self)

    def rows(self) -> list[dict[str, Cell]]:
        """One row per pair with a kappa, the closest first."""
        second, first = np.tril_indices(len(self.annotators), -1)
        kappa = self.kappa[second, first]
        order = np.argsort(-kappa, kind="stable")[: int(np.isfinite(kappa).sum())]
        return [
            {
                "task": self.task,
                "first": self.annotators[first[k]],
                "second": self.annotators[second[k]],
                "kappa": float(kappa[k]),
                "items": int(self.items[second[k], first[k]]),
            }
            for k in order
        ]

    @property
    def finding(self) -> str:
        """The pair that agrees most and the one that agrees least."""
        rows = self.rows()
        if not rows:
            return "No two annotators share enough items to be compared."
        clauses = [
            f"{row['first']} and {row['second']} agree {way} (kappa {number(kappa, 2)})"
            for row, way in ((rows[0], "most"), (rows[-1], "least"))
            if isinstance(kappa := row["kappa"], float)
        ]
        return f"{'; '.join(clauses[: len(rows)])}."

    def report(self) -> Finding:
        """The finding for every surface."""
        people, rows = count(len(self.annotators), "annotator"), self.rows()
        few = (
            f", the {ENDS_OF_PAIRS} closest and the {ENDS_OF_PAIRS} furthest"
            if len(rows) > 2 * ENDS_OF_PAIRS
            else ""
        )
        return Finding(
            key=MAP_KEY,
            title=MAP_TITLE,
            sentence=self.finding,
            tables=(
                Table(
                    name="annotator_pairs",
                    caption=f"Cohen's kappa of pairs of annotators{few}",
                    columns=PAIR_COLUMNS,
                    rows=[*rows[:ENDS_OF_PAIRS], *rows[-ENDS_OF_PAIRS:]] if few else rows,
                    file=False,
                ),
            ),
            charts=(
                Lines(
                    name="annotator-map",
                    caption=f"{people}; the plane holds {percent(self.held)} of the distances",
                    alternative=f"Map of {people}: close points agree.",
                    x="",
                    y="",
                    points=[
                        Point(name, float(x), float(y))
                        for name, (x, y) in zip(self.annotators, self.places, strict=True)
                    ],
                    square=True,
                ),
            ),
            note=MAP_NOTE,
            methods="Pairs of annotators were compared by Cohen's kappa [@cohen1960].",
            references=("cohen1960",),
            brief=False,
        )


def annotator_map(annotations: Annotations, *, task: str | None = None) -> AnnotatorMap:
    """Place annotators on a plane by Cohen's kappa of every pair.

    Parameters
    ----------
    annotations
        What annotators with ids say.
    task
        Which question; None is the first.
    """
    asked_task = annotations.tasks[0] if task is None else task
    pairs = agreement_table(annotations, task=asked_task, replicates=2).pairs
    if pairs is None:
        raise InputError(
            "pairs", "votes without pairs", "at least two annotators with ids", "give their ids"
        )
    mean = np.nan_to_num(pairs.mean_of_each[:MOST_ON_MAP], nan=-2.0)
    order = np.argsort(-mean, kind="stable")
    grid = np.ix_(order, order)
    plane = place_on_plane(pairs.kappa[grid])
    return AnnotatorMap(
        task=asked_task,
        annotators=tuple(pairs.annotators[a] for a in order),
        kappa=pairs.kappa[grid],
        items=pairs.items[grid],
        places=plane.places,
        held=plane.held,
    )


def analyse_pairs(study: Study) -> Finding:
    """The map of the annotators of a study."""
    return annotator_map(study.voted).report()


def place_on_plane(kappa: Floats) -> _Plane:
    """Classical scaling of the distances 1 - kappa to two dimensions.

    Examples
    --------
    >>> plane = place_on_plane(np.array([[np.nan, 0.5], [0.5, np.nan]]))
    >>> float(abs(plane.places[0, 0] - plane.places[1, 0])), plane.held
    (0.5, 1.0)
    """
    far = 1 - np.asarray(kappa, dtype=np.float64)
    np.fill_diagonal(far, np.nan)
    defined = np.isfinite(far)
    mean = float(far[defined].mean()) if defined.any() else 0.0
    far = np.where(defined, far, mean)
    np.fill_diagonal(far, 0.0)
    centre = np.eye(len(far)) - 1 / len(far)
    sizes, axes = np.linalg.eigh(-0.5 * centre @ far**2 @ centre)
    order = np.argsort(-sizes, kind="stable")[:2]
    lengths = np.maximum(sizes[order], 0.0)
    plane = axes[:, order] * np.sqrt(lengths)
    turn = np.sign(plane[np.argmax(np.abs(plane), axis=0), np.arange(len(order))])
    plane = plane * np.where(turn == 0, 1.0, turn)
    plane = np.hstack([plane, np.zeros((len(far), 2 - plane.shape[1]))])
    total = float(np.maximum(sizes, 0.0).sum())
    return _Plane(plane, float(lengths.sum() / total) if total > 0 else 1.0)

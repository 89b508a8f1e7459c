r"""Map of annotators: those who judge alike stand close together.

Classical scaling of the distances :math:`d_{ab} = 1 - \kappa_{ab}`: the two leading
eigenvectors of :math:`-\frac12 J D^{\circ 2} J`, J taking out the mean. A pair without a kappa
gets the mean distance. The part of the distances that two dimensions hold is said.

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

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from equipoise.study.analyses.scoring import freeze
from equipoise.study.analyses.study import Study
from equipoise.truth.agreement import agreement_table
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, short_repr
from equipoise.types.findings import Cell, Column, Finding, Point, Scatter, Table
from equipoise.types.numbers import count, number, percent

__all__ = ["AnnotatorMap", "analyse", "annotator_map", "place_on_plane"]

KEY, TITLE = "pairs", "Who judges alike?"
MOST = 60  # annotators on the map, those with most votes
ENDS = 20  # pairs in the table at each end
NOTE = (
    "Distances are 1 minus Cohen's kappa of two annotators on the items that both rated; the "
    "map shows them as well as two dimensions can. Directions have no meaning, only distances."
)
COLUMNS = (
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
        few = f", the {ENDS} closest and the {ENDS} furthest" if len(rows) > 2 * ENDS else ""
        return Finding(
            key=KEY,
            title=TITLE,
            sentence=self.finding,
            tables=(
                Table(
                    name="annotator_pairs",
                    caption=f"Cohen's kappa of pairs of annotators{few}",
                    columns=COLUMNS,
                    rows=[*rows[:ENDS], *rows[-ENDS:]] if few else rows,
                    file=False,
                ),
            ),
            charts=(
                Scatter(
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
            note=NOTE,
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
    asked = annotations.tasks[0] if task is None else task
    pairs = agreement_table(annotations, task=asked, replicates=2).pairs
    if pairs is None:
        raise InputError(
            "pairs", "votes without pairs", "at least two annotators with ids", "give their ids"
        )
    mean = np.nan_to_num(pairs.mean_of_each[:MOST], nan=-2.0)
    order = np.argsort(-mean, kind="stable")
    grid = np.ix_(order, order)
    plane = place_on_plane(pairs.kappa[grid])
    return AnnotatorMap(
        task=asked,
        annotators=tuple(pairs.annotators[a] for a in order),
        kappa=pairs.kappa[grid],
        items=pairs.items[grid],
        places=plane.places,
        held=plane.held,
    )


def analyse(study: Study) -> Finding:
    """The map of the annotators of a study."""
    return annotator_map(study.annotations).report()


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
    known = np.isfinite(far)
    mean = float(far[known].mean()) if known.any() else 0.0
    far = np.where(known, far, mean)
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

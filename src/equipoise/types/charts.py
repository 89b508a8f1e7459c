"""Charts: what is drawn, as small records; `report.page.charts` draws each kind, once.

Every chart has a name (of its file), a caption and a text alternative; without one the caption
serves. A mark that belongs to a model says so, and has the model's colour and marker wherever
it stands. Numbers that are nan are not drawn, and a chart with nothing to draw is left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.types.arrays import Names
from equipoise.types.records import immutable

Matrix2D = NDArray[np.float64]
MAYBE = {"maybe": True}  # of a field that files leave out where it has its default


@immutable(kw_only=True)
class _Named:
    """What every chart has."""

    TAGGED: ClassVar[bool] = True  # a chart in a file says which it is

    name: str
    caption: str
    alternative: str = ""


@immutable
class Dot:
    """A row of a dot plot: a value, its interval and a remark.

    Attributes
    ----------
    label
        What the row is called; rows of one label share a line.
    model
        The model that colours it; empty for none.
    series
        Which of several values of one label it is, such as ``hard`` and ``soft``.
    remark
        A few words at the end of the row.
    hollow, strong
        Whether the dot is hollow (a model below the best group), and the remark bold (a bound
        inside the margin).
    """

    label: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    model: str = ""
    series: str = ""
    remark: str = ""
    hollow: bool = False
    strong: bool = False


@immutable(kw_only=True)
class Dots(_Named):
    """Dot rows with intervals: forest plots, shifts, gaps, counts of people.

    `zero` draws a line at zero, `zero_title` is what it means; `margin` draws another that far
    below (or above) it and tints what lies between; `reference` is a line at another value;
    `logarithmic` is the kind of axis.
    """

    axis: str
    rows: Sequence[Dot]
    zero: bool = False
    zero_title: str = ""
    margin: float | None = None
    reference: float | None = None
    logarithmic: bool = False


@immutable
class Line:
    """A line of a line chart.

    `band` is where it may lie: x, low and high of its points. `dots` marks its points, `dashed`
    sets it apart, `beyond` goes on from it past the data, dashed.
    """

    name: str
    points: Sequence[tuple[float, float]]
    model: str = ""
    band: Sequence[tuple[float, float, float]] = ()
    dots: bool = True
    dashed: bool = False
    beyond: Sequence[tuple[float, float]] = ()


def distinct_lines(curves: Iterable[tuple[str, Sequence[tuple[float, float]]]]) -> list[Line]:
    """Lines of models, by name and points; those that lie on each other are one.

    Examples
    --------
    >>> up, down = [(0.0, 0.0), (1.0, 1.0)], [(0.0, 1.0), (1.0, 0.0)]
    >>> [one.name for one in distinct_lines([("a", up), ("b", down), ("c", up)])]
    ['a +1', 'b']
    """
    same: dict[bytes, tuple[Sequence[tuple[float, float]], list[str]]] = {}
    for name, points in curves:
        key = (np.array(points) + 0.0).tobytes()
        same.setdefault(key, (points, []))[1].append(name)
    return [
        Line(first if not more else f"{first} +{len(more)}", points, model=first, dots=False)
        for points, (first, *more) in same.values()
    ]


@immutable
class Point:
    """A single mark on a plane; one that is not `labelled` has its name in its title alone."""

    name: str
    x: float
    y: float
    model: str = ""
    labelled: bool = True


@immutable(kw_only=True)
class Lines(_Named):
    """A plane: lines over steps or numbers, and single points.

    Attributes
    ----------
    x, y
        Titles of the axes.
    ticks
        Words at places of the x axis; empty writes numbers.
    bars
        Numbers under the axis, one for each tick; `bar_title` is what they are.
    marks
        Vertical lines with words, such as a threshold.
    diagonal
        Whether to draw the line of equality.
    x_range, y_range
        What the axes show at least.
    logarithmic
        Whether the x axis is logarithmic.
    downward
        Whether small values stand at the top, as ranks do.
    points
        Single marks beside the lines, such as readers beside curves, or without any; those
        with room have their names beside them, the others in their titles.
    square
        Whether both axes have one scale and no numbers, as a map of points needs.
    front
        Names of the best line and the worst: these alone stand out and are named, and the x
        axis is all of `x_range`.
    """

    x: str
    y: str
    lines: Sequence[Line] = ()
    ticks: Sequence[tuple[float, str]] = ()
    bars: Sequence[float] = ()
    bar_title: str = ""
    marks: Sequence[tuple[float, str]] = ()
    diagonal: bool = False
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    logarithmic: bool = False
    downward: bool = False
    points: Sequence[Point] = ()
    square: bool = field(default=False, metadata=MAYBE)
    front: Names = field(default=(), metadata=MAYBE)


@immutable(kw_only=True)
class Heat(_Named):
    """Cells of rows and columns, coloured by a share from 0 to 1, or by a signed number.

    Attributes
    ----------
    values
        Shape (rows, columns); nan is an empty cell.
    scale
        ``share`` from 0 to 1, ``signed`` around 0 up to the largest size.
    row_models
        Whether the rows are models.
    texts
        Words in the cells; empty writes the values where there is room.
    strong
        Which cells stand out, shape (rows, columns), and what that means.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Matrix2D
    scale: Literal["share", "signed"] = "share"
    row_models: bool = False
    x: str = ""
    y: str = ""
    texts: Sequence[Sequence[str]] = ()
    strong: NDArray[np.bool_] | None = None
    strong_title: str = field(default="", metadata=MAYBE)


@immutable
class Standing:
    """One model in one column of `Standings`.

    Attributes
    ----------
    value
        Its score; nan is undefined.
    inside
        Whether it is in the best group: not surely below any other model.
    best
        Whether no model scores higher.
    same
        Whether another model gives the same scores, item by item.
    judged
        Whether a verdict was possible; without one nothing is marked.
    """

    value: float
    inside: bool = True
    best: bool = False
    same: bool = False
    judged: bool = True


@immutable(kw_only=True)
class Standings(_Named):
    """The decision: models by tasks, coloured by best group.

    Attributes
    ----------
    metric
        What the numbers are.
    columns
        Heads: the mean over tasks first where there are several, then the tasks.
    models
        Names of the rows, best first.
    cells
        By model, then by column.
    intervals
        Ends of the interval of the first column, by model.
    known_to
        Half the length of a typical interval of each column.
    foot
        Further rows below: a title and a text for every column.
    bold
        What is bold in a column: the highest number, or the best where columns differ in that.
    """

    metric: str
    columns: Sequence[str]
    models: Sequence[str]
    cells: Sequence[Sequence[Standing]]
    intervals: Sequence[tuple[float, float]]
    known_to: Sequence[float]
    foot: Sequence[tuple[str, Sequence[str]]] = ()
    bold: str = field(default="highest", metadata=MAYBE)


@immutable
class Strip:
    """How the votes on the items of one task split, how far annotators agree, and their rates.

    Attributes
    ----------
    task
        Its name; empty where there is one.
    shares
        Items from one end to the other: the share of items, how split they are from 0 (all
        agree) to 1, and whether they count as split.
    left, right, split
        Words at the ends, and over the items that are split.
    alpha
        Agreement with the ends of its interval.
    rates, named
        How often each annotator says yes, or names the commonest class, which is that.
    """

    task: str
    shares: Sequence[tuple[float, float, bool]]
    left: str
    right: str
    split: str
    alpha: tuple[float, float, float]
    rates: Sequence[tuple[str, float]] = ()
    named: str = ""


@immutable(kw_only=True)
class Strips(_Named):
    """Agreement per task; titles of the three columns."""

    votes_title: str
    alpha_title: str
    rates_title: str
    rows: Sequence[Strip]


@immutable
class Pattern:
    """Items with the same votes.

    Attributes
    ----------
    votes
        What each annotator said, in the order of the worklist: the place of the class, or None
        where the annotator did not vote. Of anonymous votes: sorted.
    number
        How many items have it.
    items
        Some of them: name, and for each model how many of the items it scores lower, from 0 to
        1 (nan where it has no single score).
    """

    votes: Sequence[int | None]
    number: int
    items: Sequence[tuple[str, Sequence[float]]]


@immutable
class Dispute:
    """Disputed items of one task: how many, who votes how, and their commonest patterns.

    `rates` is how often each annotator says yes among them; `remark` a few words.
    """

    task: str
    number: int
    rates: Sequence[float]
    remark: str
    patterns: Sequence[Pattern]


@immutable(kw_only=True)
class Worklist(_Named):
    """Disputed items by task and pattern of votes.

    `annotators` are the names in the order of the squares, empty for anonymous votes; `classes`
    the names behind the places (two of a yes/no question: no, yes); `ordered` whether they have
    an order; `hollow` the models that are below the best group.
    """

    annotators: Sequence[str]
    classes: Sequence[str]
    models: Sequence[str]
    disputes: Sequence[Dispute]
    ordered: bool = False
    hollow: Sequence[str] = ()


@immutable
class Picture:
    """A small picture of an item.

    `source` is the picture itself as a ``data:`` address, or the way from the page to its file;
    empty where the item cannot be seen. `remark` is a few words under it.
    """

    name: str
    source: str = ""
    remark: str = ""


@immutable
class Suspect:
    """An item, or a pair of items, that a person should look at.

    Attributes
    ----------
    name
        What votes on it call it.
    rank, score
        Its place in the list (those that tie share it) and how suspicious it is.
    pictures
        One, or the two of a pair.
    remark
        A few words, such as the label that it has and the one that it should have.
    flagged
        Whether it lies beyond the automatic cut; None where nobody asked for one.
    """

    name: str
    rank: float
    score: float
    pictures: Sequence[Picture]
    remark: str = ""
    flagged: bool | None = None


@immutable(kw_only=True)
class Gallery(_Named):
    """Suspects with pictures, for a person to say of each whether it is a problem.

    `task` is what votes say they are about, `question` what is asked of each, `yes` and `no`
    are the answers in a word or two; `run` is the key under which a browser keeps the marks.
    """

    task: str
    question: str
    yes: str
    no: str
    run: str
    rows: Sequence[Suspect]


Chart = Dots | Lines | Heat | Standings | Strips | Worklist | Gallery

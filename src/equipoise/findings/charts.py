"""Charts: what is drawn, as small records; `equipoise.page.charts` draws each kind, once.

Every chart has a name (of its file), a caption and a text alternative; without one the caption
serves. A mark that belongs to a model says so, and has the model's colour and marker wherever
it stands. Numbers that are nan are not drawn, and a chart with nothing to draw is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Matrix2D = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What every chart has."""

    name: str
    caption: str
    alternative: str = ""


@dataclass(frozen=True, slots=True)
class Dot:
    """A row of a dot plot: a value, its interval, perhaps a narrower range, and a remark.

    Attributes
    ----------
    label
        What the row is called; rows of one label share a line.
    model
        The model that colours it; empty for none.
    series
        Which of several values of one label it is, such as ``hard`` and ``soft``.
    inner
        Ends of a narrower range, such as the middle half of the resamples.
    remark
        A few words at the end of the row.
    """

    label: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    model: str = ""
    series: str = ""
    inner: tuple[float, float] | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots(_Named):
    """Dot rows with intervals: forest plots, shifts, gaps, counts of people.

    `zero` draws a line at zero; `reference` one at another value; `band` shades a range;
    `logarithmic` is the kind of axis.
    """

    axis: str
    rows: Sequence[Dot]
    zero: bool = False
    reference: float | None = None
    band: tuple[float, float] | None = None
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """Where a line may lie: x, low and high of its points."""

    points: Sequence[tuple[float, float, float]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a line chart.

    `dots` marks its points, `dashed` sets it apart, `beyond` goes on from it past the data,
    dashed.
    """

    name: str
    points: Sequence[tuple[float, float]]
    model: str = ""
    band: Band | None = None
    dots: bool = True
    dashed: bool = False
    beyond: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its words under the axis, its length, and the model that colours it.

    A bar over a range has its ends in place of words.
    """

    label: str
    value: float
    model: str = ""
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines(_Named):
    """Lines over steps or numbers.

    Attributes
    ----------
    x, y
        Titles of the axes.
    ticks
        Words at places of the x axis; empty writes numbers.
    bars
        Bars under the lines, at the places of their order, with what they show.
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
        Single marks beside the lines, such as readers beside curves; their names are titles.
    """

    x: str
    y: str
    lines: Sequence[Line]
    ticks: Sequence[tuple[float, str]] = ()
    bars: Sequence[Bar] = ()
    bar_title: str = ""
    marks: Sequence[tuple[float, str]] = ()
    diagonal: bool = False
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    logarithmic: bool = False
    downward: bool = False
    points: "Sequence[Point]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
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
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Matrix2D
    scale: Literal["share", "signed"] = "share"
    row_models: bool = False
    x: str = ""
    y: str = ""
    texts: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix(_Named):
    """Every pair of models: by how much the row leads the column, and whether that is shown.

    `leads` is positive where the row is better; `low` and `high` are the ends of its interval,
    `separated` marks pairs that are surely apart; all have shape (models, models).
    """

    models: Sequence[str]
    leads: Matrix2D
    low: Matrix2D
    high: Matrix2D
    separated: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(_Named):
    """Bars side by side; bars with ends stand over a numeric axis."""

    x: str
    y: str
    bars: Sequence[Bar]
    marks: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a scatter plot."""

    name: str
    x: float
    y: float
    model: str = ""
    labelled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter(_Named):
    """Points on a plane; `square` keeps both axes on one scale, as a map needs."""

    x: str
    y: str
    points: Sequence[Point]
    square: bool = False
    diagonal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Slopes(_Named):
    """Ranks of models on the left and on the right, joined by lines: (model, left, right)."""

    left: str
    right: str
    rows: Sequence[tuple[str, float, float]]


@dataclass(frozen=True, slots=True)
class Case:
    """One item close up.

    Attributes
    ----------
    name
        The item.
    shares
        What the annotators say: a share for each class.
    marks
        What models say: model and its share or position, from 0 to 1.
    remark
        A few words at the end of the row.
    """

    name: str
    shares: Sequence[float] = ()
    marks: Sequence[tuple[str, float]] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases(_Named):
    """Items close up, one row each: a bar of votes by class and the marks of the models."""

    classes: Sequence[str]
    rows: Sequence[Case]
    axis: str = ""
    ordered: bool = False


Chart = Dots | Lines | Heat | Matrix | Histogram | Scatter | Slopes | Cases

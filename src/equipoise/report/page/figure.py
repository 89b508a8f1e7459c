"""Figure: a drawing as rows of words and plots, or as a grid of cells, and both as markup.

Charts make figures, the page lays them out with the browser's own grid, so that names take the
width of the longest and wrap, and `report.page.files` puts the same parts into one SVG.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from equipoise.report.page.palette import LONGEST, MOST
from equipoise.report.page.svg import (
    LETTER,
    Html,
    Label,
    Scale,
    breakable,
    element,
    join,
    shorten,
    tick_texts,
    width,
)
from equipoise.types.charts import Chart, Histogram, Lines

NOTHING = Html("")
HEADS = ((4, 66), (8, 36), (10**6, 20))  # columns, and letters of heads that run upwards


@dataclass(frozen=True, slots=True)
class Words:
    """Words beside a plot, which wrap where they must; `axis` is drawn under them."""

    text: str
    class_: str = "name"
    strong: bool = False
    axis: "Plot | None" = None

    def html(self) -> Html:
        """The words as markup."""
        content: str = breakable(self.text) if self.class_ == "name" else self.text
        content = element("strong", content) if self.strong else content
        if self.class_ == "what":
            head, comma, rest = self.text.partition(",")
            content = join([element("strong", head), comma, rest])
        under = element("span", self.axis.html(), class_="plot") if self.axis else NOTHING
        return element("span", content, under, class_=self.class_)


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing whose x is in per cent.

    Attributes
    ----------
    high
        Pixels; a row that is higher stretches it.
    label
        Text alternative; without one it is hidden from those who cannot see it.
    wide
        Pixels, where it does not take the room that is left.
    """

    body: Html
    high: float
    labels: tuple[Label, ...] = ()
    label: str = ""
    wide: float | None = None

    def html(self) -> Html:
        """The drawing as markup; labels wait for the width that they need."""
        return element(
            "svg", self.body, *(label.html() for label in self.labels), height=float(self.high),
            width=self.wide, role="img" if self.label else None,
            aria_label=self.label or None, aria_hidden=None if self.label else "true",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One row of a figure; `m` is the model that it belongs to."""

    cells: tuple[Words | Plot, ...]
    class_: str = ""
    m: int | None = None

    def html(self) -> Html:
        """The row as markup; a plot that stretches has a frame whose width its words know."""
        cells = [
            element("div", cell.html(), class_="plot")
            if isinstance(cell, Plot) and cell.wide is None
            else cell.html()
            for cell in self.cells
        ]
        return element("div", *cells, class_=f"row {self.class_}".strip(), data_m=self.m)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of words and plots.

    Attributes
    ----------
    kind
        How the columns share the width: a class of the style.
    alternative
        What it shows, in words.
    axes
        Titles of the axes, above it.
    key
        What marks mean, below it: class and words; an empty class is words alone.
    """

    kind: str
    rows: tuple[FigureRow, ...]
    alternative: str
    axes: str = ""
    key: tuple[tuple[str, str], ...] = ()

    def html(self) -> Html:
        """The figure as markup."""
        inner = element("div", *(row.html() for row in self.rows), class_=f"rows {self.kind}")
        return join([_axes(self.axes), inner, key_html(self.key)])


@dataclass(frozen=True, slots=True)
class Square:
    """A cell of a grid: its words, colour and whether they are strong; signs beside them."""

    text: str = ""
    class_: str = ""
    strong: bool = False
    title: str = ""
    down: bool = False
    same: bool = False
    plot: Plot | None = None

    def html(self) -> Html:
        """The cell as markup; telephones leave a leading zero out."""
        value: Html | str = self.text
        if self.text.startswith("0."):
            value = join([element("span", "0", class_="zero"), self.text[1:]])
        value = element("strong", value) if self.strong else value
        parts = [
            element("i", "▾", class_="down") if self.down else NOTHING,
            value,
            element("i", "=", class_="same") if self.same else NOTHING,
        ]
        if self.plot:
            value = element("span", *parts, class_="value")
            parts = [value, self.plot.html()] if self.class_ else [self.plot.html(), value]
        return element("td", *parts, class_=self.class_ or None, title=self.title or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellGrid:
    """Cells in rows and columns.

    Attributes
    ----------
    kind
        ``standings`` or ``heat``: a class of the style.
    heads, upright
        Heads of the columns, and whether they run upwards on any width.
    rows
        Name, cells and model of each row.
    foot
        Rows below, of names and cells.
    head_plot
        The axis of the plots in the first column.
    """

    kind: str
    corner: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Square, ...], int | None], ...]
    alternative: str
    foot: tuple[tuple[str, tuple[Square, ...]], ...] = ()
    head_plot: Plot | None = None
    upright: bool = False
    axes: str = ""
    key: tuple[tuple[str, str], ...] = ()

    def html(self) -> Html:
        """The figure as markup."""
        room = next(size for most, size in HEADS if len(self.heads) <= most)
        heads = [
            element(
                "th",
                element("span", shorten(head, room) if self.upright else head),
                element("span", self.head_plot.html(), class_="plot")
                if self.head_plot and not place else NOTHING,
                scope="col", title=head if self.upright and width(head) > room else None,
            )
            for place, head in enumerate(self.heads)
        ]  # fmt: skip
        rows = [
            element("tr", element("th", breakable(name), scope="row"),
                    *(cell.html() for cell in cells), data_m=m)
            for name, cells, m in self.rows
        ]  # fmt: skip
        foot = [
            element("tr", element("th", name, scope="row"), *(cell.html() for cell in cells))
            for name, cells in self.foot
        ]
        longest = max(len(name) for name, *_ in self.rows)
        count = len(self.heads)
        size = "few" if count <= 2 else "some" if count <= 8 else "many"
        size += " three" if size == "some" and count <= 4 else ""
        upright = " upright" if self.upright else ""
        texts = [cell.text for _, cells, _ in self.rows for cell in cells]
        least = max(16, 4 + 6 * max(map(width, texts))) if self.kind == "heat" else 0
        side = 8 + 7 * min(longest, 13)
        wide = min(MOST, -(-(side + count * (least + 1)) // 50) * 50)
        table = element(
            "table",
            element("thead", element("tr", element("th", self.corner, scope="col"), *heads)),
            element("tbody", *rows),
            element("tfoot", *foot) if foot else NOTHING,
            class_=f"{self.kind} {size}{upright} n{min(longest, LONGEST)} m{wide}",
            aria_label=self.alternative,
        )
        frame = element("div", table, class_="scroll", tabindex=0, role="group",
                        aria_label="Table")  # fmt: skip
        return join([_axes(self.axes), frame, key_html(self.key)])


Figure = Rows | CellGrid


def _axes(words: str) -> Html:
    return element("p", words, class_="axes") if words else NOTHING


def key_html(key: Iterable[tuple[str, str]]) -> Html:
    """What marks mean."""
    parts = [
        element("span", element("i", class_=f"sw {class_}"), words)
        if class_ else element("span", words)
        for class_, words in key
    ]  # fmt: skip
    return element("p", *parts, class_="key") if parts else NOTHING


def described(chart: Chart) -> str:
    """The text alternative of a chart; without one the caption serves."""
    return chart.alternative or f"{chart.caption}."


def axis_numbers(
    ticks: Sequence[float], up: Scale, high: float, texts: Sequence[str] | None = None
) -> Plot:
    """Numbers beside a plot, as wide as the longest."""
    words = list(texts) if texts is not None else tick_texts(ticks)
    labels = tuple(
        Label(word, 100, up(tick) + 4, "end") for word, tick in zip(words, ticks, strict=True)
    )
    return Plot(NOTHING, high, labels, wide=round(LETTER * max(map(width, words)) + 2))


def plane(chart: Lines | Histogram, cells: tuple[Plot, ...]) -> Rows:
    """A plot with its numbers and names beside it, and the titles of its axes above."""
    axes = " ".join(
        f"{way} {title}" for way, title in (("↑", chart.y), ("→", chart.x)) if title
    )
    kind = "plane" if len(cells) > 1 else "map"
    return Rows(kind=kind, rows=(FigureRow(cells),), alternative=described(chart), axes=axes)

"""Figure: a drawing as rows of words and plots, or as a grid of cells, and both as markup.

Charts make figures, the page lays them out with the browser's own grid, so that names take the
width of the longest and wrap, and `report.page.files` puts the same parts into one SVG.

Palette: every colour of the page, for paper and for the dark, and who gets which.

Blue is the best group, grey are readers and models below it, amber is dispute and caution; no
model has a colour of its own. Where a chart compares two models, the first is blue and filled,
the second amber and hollow. Classes without an order have eight colours that stay apart under
the common kinds of colour blindness (least distance in OKLab over four kinds of sight: 0.12);
classes with one run from pale to dark.
"""

from collections.abc import Iterable, Mapping, Sequence

from equipoise.report.page.svg import (
    FROM,
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
from equipoise.types import Chart, Lines, Names, Pairs, Report, immutable

NOTHING = Html("")
CLASSES, STEPS, LEVELS = 8, 7, 4
MOST = 1500  # pixels that a grid takes at least, where it has many columns
LONGEST = 40  # letters of a name beside a grid that are counted
HEADS = ((4, 66), (8, 36), (10**6, 20))  # columns, and letters of heads that run upwards


@immutable
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


@immutable
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


@immutable
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


@immutable(kw_only=True)
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
    key: Pairs = ()

    def html(self) -> Html:
        """The figure as markup."""
        inner = element("div", *(row.html() for row in self.rows), class_=f"rows {self.kind}")
        return join([_axes(self.axes), inner, key_html(self.key)])


@immutable
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
        sign, zero, digits = self.text.partition("0.")
        if zero and sign in ("", "±"):
            value = join([sign, element("span", "0", class_="zero"), f".{digits}"])
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


@immutable(kw_only=True)
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
    heads: Names
    rows: tuple[tuple[str, tuple[Square, ...], int | None], ...]
    alternative: str
    foot: tuple[tuple[str, tuple[Square, ...]], ...] = ()
    head_plot: Plot | None = None
    upright: bool = False
    axes: str = ""
    key: Pairs = ()

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


def axis_numbers(ticks: Sequence[float], up: Scale, high: float) -> Plot:
    """Numbers beside a plot, as wide as the longest."""
    words = tick_texts(ticks)
    labels = tuple(
        Label(word, 100, up(tick) + 4, "end") for word, tick in zip(words, ticks, strict=True)
    )
    return Plot(NOTHING, high, labels, wide=round(LETTER * max(map(width, words)) + 2))


def plane(chart: Lines, cells: tuple[Plot, ...]) -> Rows:
    """A plot with its numbers and names beside it, and the titles of its axes above."""
    axes = " ".join(
        f"{way} {title}" for way, title in (("↑", chart.y), ("→", chart.x)) if title
    )
    kind = "plane" if len(cells) > 1 else "map"
    return Rows(kind=kind, rows=(FigureRow(cells),), alternative=described(chart), axes=axes)


# ---- colours -------------------------------------------------------------------------------

LIGHT: Mapping[str, str] = {
    "page": "#fbfbf9", "card": "#ffffff", "ink": "#16191d", "soft": "#565e67",
    "line": "#dfe2e5", "blue": "#0a5ba8", "tint": "#d8e7f6", "zone": "#eef4fa",
    "grey": "#767e87", "pale": "#b9bfc6", "amber": "#8a5200", "warm": "#fbf0dc",
}  # fmt: skip
DARK: Mapping[str, str] = {
    "page": "#121517", "card": "#1a1e22", "ink": "#e9ecef", "soft": "#a9b1b9",
    "line": "#30363c", "blue": "#82baf5", "tint": "#14314b", "zone": "#172430",
    "grey": "#97a0a9", "pale": "#565e66", "amber": "#e9b35f", "warm": "#2e2614",
}  # fmt: skip
ROWS: Mapping[str, tuple[Names, Names]] = {
    "v": (("#eceae5", "#f3dfb9", "#eac27c", "#d99a34", "#b86e06"),
          ("#2a2e32", "#4a3c22", "#7b5b24", "#b58029", "#eba93f")),
    "h": (("#fbfbf9", "#d8e7f6", "#a9cbea", "#5e9bd1", "#0a5ba8"),
          ("#121517", "#17324d", "#1f4d79", "#3476b0", "#82baf5")),
    "a": (("#eef4fa", "#cfe1f2", "#9cc2df", "#6ba3cd"),
          ("#18242e", "#1d3a52", "#245274", "#2c6998")),
    "b": (("#faf3e6", "#f5e0b8", "#eac27c", "#dda14a"),
          ("#29241a", "#453819", "#63491a", "#845c18")),
    "c": (("#341fd8", "#ecb029", "#1e95a9", "#7e0167",
           "#cc5a00", "#3ac3fa", "#3d3309", "#a564fd"),
          ("#63afff", "#ffd682", "#38858c", "#a132ef",
           "#e8240d", "#e6ffe9", "#b4b01e", "#b2d3f8")),
    "o": (("#e9f0f6", "#d3e2ef", "#b4cfe5", "#8fb9db", "#5e98c8", "#24619a", "#133f6b"),
          ("#1d2b35", "#213a4b", "#274c65", "#2f5f80", "#3f7aa5", "#8bbce0", "#c3dff4")),
}  # fmt: skip
ON = {"h3": ("#0b1620", "#ffffff"), "h4": ("#ffffff", "#0b1620")}  # words on dark cells


@immutable
class ModelStyles:
    """The models of a page: who leads, and who is below the best group."""

    models: Names
    leader: str = ""
    below: frozenset[str] = frozenset()

    @classmethod
    def of(cls, report: Report) -> "ModelStyles":
        """What a report says about its models."""
        standing = report.card.standing if report.card else ()
        below = frozenset(name for name, inside in standing if not inside)
        return cls(report.models, standing[0][0] if standing else "", below)

    def number(self, model: str) -> int | None:
        """The place of a model, by which marks of one model know each other."""
        return self.models.index(model) if model in self.models else None

    def pair(self, models: Iterable[str]) -> Names:
        """The two models that a chart compares; empty where it shows another number."""
        names = tuple(dict.fromkeys(name for name in models if name))
        return names if len(names) == 2 else ()

    def tone(self, model: str, pair: Names = ()) -> str:
        """The class of a mark: blue is plain, ``out`` below, ``b`` the second of a pair."""
        if model in pair:
            return "b" if model == pair[1] else ""
        if model in self.below:
            return "out"
        return "" if model else "reader"


def theme(*, dark: bool) -> dict[str, str]:
    """All colours of one theme by name.

    Examples
    --------
    >>> theme(dark=False)["page"], theme(dark=True)["c0"]
    ('#fbfbf9', '#63afff')
    """
    rows = {
        f"{name}{step}": colour
        for name, both in ROWS.items()
        for step, colour in enumerate(both[dark])
    }
    return {
        **(DARK if dark else LIGHT), **rows, **{f"on{k}": v[dark] for k, v in ON.items()}
    }  # fmt: skip


def class_tone(place: int, total: int, *, ordered: bool) -> str:
    """The colour of one of several classes; no and yes are pale and dark.

    Examples
    --------
    >>> [class_tone(i, 3, ordered=True) for i in range(3)], class_tone(9, 12, ordered=False)
    (['o1', 'o3', 'o5'], 'c1')
    """
    if not ordered and total > 2:
        return f"c{place % CLASSES}"
    first, last = (1, 5) if total < 6 else (0, STEPS - 1)
    return f"o{round(first + (last - first) * place / max(total - 1, 1))}"


def css() -> str:
    """Make the colour rules: paper is always light, the reader's choice goes first."""
    dark = _variables(dark=True)
    named = theme(dark=False)
    marks = [name for name in named if name[0] in ROWS and name[1:].isdigit()]
    return "\n".join(
        [
            f":root{{{_variables(dark=False)}}}",
            f"@media screen and (prefers-color-scheme:dark){{"
            f":root:not([data-theme=light]){{{dark}}}}}",
            f"@media screen{{:root[data-theme=dark]{{{dark}}}}}",
            *(f".{name}{{fill:var(--{name});background:var(--{name})}}" for name in marks),
            *(f".{name}{{color:var(--on{name})}}" for name in ON),
            *(
                f".k{step}{{stroke:var(--c{step})}}.d.k{step}{{fill:var(--c{step})}}"
                for step in range(CLASSES)
            ),
            *(
                f"@container (max-width:{size - 1}px){{.ge{size}{{display:none}}}}"
                for size in FROM
            ),
            *(f".m{size}{{min-width:{size}px}}" for size in range(50, MOST + 1, 50)),
            *(f".n{size}{{--n:{size}}}" for size in range(1, LONGEST + 1)),
        ]
    )


def _variables(*, dark: bool) -> str:
    """Write one theme as custom properties."""
    colours = ";".join(f"--{name}:{colour}" for name, colour in theme(dark=dark).items())
    return f"color-scheme:{'dark' if dark else 'light'};{colours}"

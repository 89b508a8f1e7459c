"""SVG: a drawing, its parts, and scales that put numbers on it.

Coordinates have one decimal and parts are placed with groups, to keep the page small. A dot
is a line of length zero with a round cap; a row of cells is one thick dashed line; so a mark
costs a dozen characters. Every drawing is an image with a text alternative.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from equipoise.findings.charts import Chart
from equipoise.page.lettering import shorten, unique_short_names, width
from equipoise.page.markup import Html, coordinate, element, join
from equipoise.page.palette import MARKERS, model_class

LETTER = 7.5  # width of a letter on an axis
MOST = 58  # letters as wide as a drawing
NARROW = 440.0  # drawings of this width stand side by side, and fit a telephone
HEAD = 52  # letters of the head of a drawing


@dataclass(frozen=True, slots=True)
class ModelStyles:
    """The models of a page, in the order of their colours."""

    models: tuple[str, ...]

    def short(self, model: str, room: int) -> str:
        """Shorten a name; no two models are shown alike."""
        return unique_short_names(self.models, room).get(model) or shorten(model, room)

    def class_(self, model: str, other: str = "tinted") -> str:
        """Classes of everything that belongs to a model; `other` for what belongs to none."""
        return model_class(self.models.index(model)) if model in self.models else other

    def hollow(self, model: str) -> bool:
        """Whether the marker of a model is a ring."""
        return model in self.models and self.models.index(model) // 10 % MARKERS >= 2


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear, or logarithmic, map from numbers to places on the drawing."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Place a number, keeping it on the drawing.

        Examples
        --------
        >>> Scale(0, 10, 100, 200)(5), Scale(0, 10, 100, 200)(99)
        (150.0, 200)
        >>> Scale(1, 100, 0, 10, logarithmic=True)(10)
        5.0
        """
        if self.high == self.low:
            return (self.start + self.end) / 2
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = (math.log10(max(x, 1e-300)) for x in (value, low, high))
        share = (value - low) / (high - low)
        return self.start + min(1, max(0, share)) * (self.end - self.start)

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers inside the scale, as many as fit.

        Examples
        --------
        >>> Scale(0.81, 0.905, 0, 1).ticks(4)
        [0.82, 0.84, 0.86, 0.88, 0.9]
        """
        span = self.high - self.low
        if not span > 0:
            return [self.low]
        if self.logarithmic:
            powers = range(
                math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1
            )
            every = [step * 10.0**power for power in powers for step in (1, 2, 5)]
            fits = [tick for tick in every if self.low <= tick <= self.high]
            tens = [10.0**power for power in powers if self.low <= 10.0**power <= self.high]
            return fits if len(fits) <= most else tens or fits[:1]
        power = 10.0 ** math.floor(math.log10(span / most))
        step = next(f * power for f in (1, 2, 5, 10) if span / (f * power) <= most + 0.9)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(step * i, 12) for i in range(first, last + 1)]


def described(chart: Chart) -> str:
    """The text alternative of a chart; without one the caption serves."""
    return chart.alternative or f"{chart.caption}."


def tick_text(tick: float) -> str:
    """Write a number under an axis."""
    return f"{tick:.6g}".replace("-", "−")


def inside(middle: float, words: str) -> float:
    """Middle of words that stay on a drawing.

    Examples
    --------
    >>> inside(200.0, "rank"), inside(4.0, "−0.01"), inside(438.0, "100")
    (200.0, 18.75, 428.75)
    """
    half = LETTER * width(words) / 2
    return max(half, min(middle, NARROW - half))


def at(x: float, y: float) -> str:
    """Write a place, as a path or a translation has it."""
    return f"{coordinate(x)},{coordinate(y)}"


def text(x: float, y: float, words: str, class_: str = "") -> Html:
    """Put words on the drawing."""
    return element("text", words, x=float(x), y=float(y), class_=class_ or None)


def titled(name: str, shown: str, **attributes: float | str | None) -> Html:
    """Put a short form of a name on the drawing, with the whole in its title."""
    title = element("title", name) if shown != name else Html("")
    return element("text", title, shown, **attributes)


def headed(words: str) -> Html:
    """Head a drawing; long words are shortened, the whole in the title."""
    return titled(words, shorten(words, HEAD), x=2.0, y=12.0, class_="hd")


def group(parts: Iterable[Html], *, x: float = 0.0, y: float = 0.0, class_: str = "") -> Html:
    """Move parts together."""
    move = f"translate({at(x, y)})" if x or y else None
    return element("g", *parts, class_=class_ or None, transform=move)


def across(x: float, y: float, length: float = 0.0) -> str:
    """Path of a horizontal line; of length zero, a dot."""
    return f"M{at(x, y)}h{coordinate(length)}"


def down(x: float, y: float, length: float) -> str:
    """Path of a vertical line."""
    return f"M{at(x, y)}v{coordinate(length)}"


def through(places: Sequence[tuple[float, float]]) -> str:
    """Path of straight lines through places."""
    return "M" + "L".join(at(*place) for place in places)


def path(class_: str, *steps: str) -> Html:
    """Draw lines and dots at once."""
    return element("path", class_=class_ or None, d="".join(steps))


def cells(corners: Sequence[tuple[float, float]], wide: float, class_: str) -> Html:
    """Draw equal cells at once, by their left middle; a run of neighbours is one line.

    The dashes of the class `cells` cut the line into cells again.

    Examples
    --------
    >>> cells([(0.0, 5.0), (10.0, 5.0), (30.0, 5.0)], 10.0, "q1")
    '<path class=q1 d=M0,5h19M30,5h9 />'
    """
    runs: list[tuple[float, float, int]] = []
    for x, y in sorted(corners, key=lambda corner: (corner[1], corner[0])):
        if runs and runs[-1][1] == y and abs(runs[-1][0] + runs[-1][2] * wide - x) < 1e-6:
            runs[-1] = (runs[-1][0], y, runs[-1][2] + 1)
        else:
            runs.append((x, y, 1))
    return path(class_, *(across(x, y, n * wide - 1) for x, y, n in runs))


def lattice(parts: Iterable[Html], wide: float, high: float) -> Html:
    """Hold cells of one size, with a little room between them."""
    return element(
        "g", *parts, stroke_width=high - 1, stroke_dasharray=f"{coordinate(wide - 1)},1"
    )


def marker(place: tuple[float, float], *, hollow: bool = False) -> Html:
    """Draw the mark of a model; later cycles of ten have another shape."""
    dot = across(*place)
    return join([path("d", dot), path("h", dot) if hollow else Html("")])


@dataclass(frozen=True, slots=True)
class Axis:
    """A horizontal axis under a plot."""

    scale: Scale
    top: float
    bottom: float
    title: str = ""

    def draw(self, most: int = 5) -> Html:
        """Draw grid lines, their numbers and the title."""
        ticks = spaced_ticks(self.scale, most, tick_text)
        places = [self.scale(tick) for tick in ticks]
        grid = path("g", *(down(x, self.top, self.bottom - self.top) for x in places))
        words = [
            element("text", shown, x=inside(x, shown))
            for x, shown in zip(places, map(tick_text, ticks), strict=True)
        ]
        if self.title:
            short = shorten(self.title, MOST)
            middle = inside((self.scale.start + self.scale.end) / 2, short)
            words.append(titled(self.title, short, x=middle, y=17.0))
        return join([grid, group(words, y=self.bottom + 15, class_="c a")])


def spaced_ticks(scale: Scale, most: int, written: Callable[[float], str]) -> list[float]:
    """Ticks whose numbers leave room between each other, as many as can be."""
    for wanted in range(most, 1, -1):
        ticks = scale.ticks(wanted)
        places = [inside(scale(tick), written(tick)) for tick in ticks]
        broad = max((width(written(tick)) for tick in ticks), default=0)
        gaps = [b - a for a, b in pairwise(places)]
        if min(gaps, default=math.inf) > LETTER * broad + 3:
            return ticks
    return scale.ticks(1)[:1] if scale.logarithmic else scale.ticks(1)


def drawing(
    size: tuple[float, float], alternative: str, *parts: Html, class_: str = ""
) -> Html:
    """Wrap the parts as an image with a text alternative."""
    wide, high = (coordinate(length) for length in size)
    natural = wide if "big" in class_ else None
    return element(
        "svg",
        join(parts),
        viewBox=f"0 0 {wide} {high}",
        width=natural,
        role="img",
        aria_label=alternative,
        class_=class_ or None,
    )

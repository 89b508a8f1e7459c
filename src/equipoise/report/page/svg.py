"""SVG: x in per cent of the width, y in pixels, so that no text ever scales.

A drawing is as wide as its place without any script. Words that would lie over each other in
a narrow place have the width from which they are shown (`fitted`); the style hides them below.

Markup: HTML and SVG in which text cannot become a tag by accident.

A piece of finished markup is an `Html`; everything else is text and is escaped when it is
put into an element. There is no other way into the page, so a model called ``<script>`` is
shown as the eight characters it is.

Lettering: how much room words take, and names that fit into it and stay different.

Room is counted in columns of an average letter of a wide font (0.62 of its size). Letters that
are broader than that count for more, so that words given some columns stay inside them; narrow
ones never count for less.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from html import escape as escape_html

from equipoise.types import immutable

Attribute = str | int | float | bool | None

VOID = frozenset({"br", "img", "input", "link", "meta"})
SHAPES = frozenset({"rect", "circle", "line", "polyline", "polygon"})
PROSE = frozenset({"p", "dd", "dt", "li", "h1", "h2", "h3", "span", "td", "code"})
END_IMPLIED = frozenset({"td", "th", "tr", "tbody", "thead", "li", "dt", "dd"})
BARE = re.compile(r"[\w.,:;#%()+-]+", re.ASCII)  # values that HTML takes without quotes
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")  # a word that no line may break
BREAK = re.compile(r"(?<=[_/])(?=\w)|(?<=-)(?=\d)")  # where browsers do not break by themselves
LONG_WORD = re.compile(r"\w{20}(?=\w)")
UNPRINTABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escape(text: str) -> Html:
    """Turn text into markup that shows it.

    Control characters, changes of writing direction and lone surrogates become a visible
    replacement character.

    Examples
    --------
    >>> escape('<b>x</b>&"')
    '&lt;b&gt;x&lt;/b&gt;&amp;&quot;'
    """
    if isinstance(text, Html):
        return text
    return Html(escape_html(UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text), quote=True))


def breakable(name: str) -> Html:
    """A name that breaks behind hyphens, underscores and slashes, and inside endless words.

    Examples
    --------
    >>> breakable("resnet_50"), breakable("resnet 50")
    ('resnet_<wbr>50', 'resnet 50')
    """
    parts = BREAK.split(LONG_WORD.sub(r"\g<0>\0", name))
    return join((join(part.split("\0"), Html("<wbr>")) for part in parts), Html("<wbr>"))


def _prose(text: str) -> Html:
    """Text in which options of a command stay whole.

    Examples
    --------
    >>> _prose("what matters (--margin)")
    'what matters (<span class=whole>--margin</span>)'
    """
    if isinstance(text, Html):
        return text
    return Html(OPTION.sub(r"<span class=whole>\g<0></span>", escape(text)))


def coordinate(number: float) -> str:
    """Write a number with at most one decimal.

    Examples
    --------
    >>> coordinate(12.04), coordinate(-0.01), coordinate(3.15)
    ('12', '0', '3.1')
    """
    text = f"{number:.1f}"
    text = text[:-2] if text.endswith(".0") else text
    return "0" if text == "-0" else text


def _attribute(name: str, value: Attribute) -> str:
    """Write one attribute; a trailing underscore frees names that Python keeps."""
    plain = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {plain}"
    text = coordinate(value) if isinstance(value, float) else str(value)
    return f" {plain}={text}" if BARE.fullmatch(text) else f' {plain}="{escape(text)}"'


def element(name: str, /, *children: str, **attributes: Attribute) -> Html:
    """Make one element; plain strings among the children are escaped.

    Examples
    --------
    >>> element("td", "a < b", class_="wide")
    '<td class=wide>a &lt; b'
    >>> element("rect", width="50%", class_="d out")
    '<rect width=50% class="d out" />'
    """
    written = "".join(
        _attribute(key, value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in SHAPES and not children:
        return Html(f"<{name}{written} />")
    write = _prose if name in PROSE else escape
    inside = "".join(write(child) for child in children)
    end = "" if name in VOID or name in END_IMPLIED else f"</{name}>"
    return Html(f"<{name}{written}>{inside}{end}")


def join(parts: Iterable[str], between: str = "") -> Html:
    """Put pieces one after another, escaping those that are text."""
    return Html(escape(between).join(escape(part) for part in parts))


BROAD, BROADER = "mwMW@%", 0.6
SIGNS, LARGER = "~&#", 0.2  # as capitals are
MATHS, WIDER = "<>=+−±≤≥×", 0.4  # in fonts that make all signs of arithmetic alike


@lru_cache(4096)
def width(text: str) -> int:
    """Count columns: two for wide characters, none for combining ones.

    Examples
    --------
    >>> width("resnet"), width("mmmmm"), width("ABCDE"), width("日本"), width("−10")
    (6, 8, 6, 4, 4)
    """
    return math.ceil(sum(_columns(letter) for letter in text) - 1e-9)


def shorten(name: str, room: int) -> str:
    """Shorten a name in the middle, because names often differ at their end.

    Examples
    --------
    >>> shorten("resnet", 12), shorten("resnet50-augmented-v2", 12)
    ('resnet', 'resnet5…d-v2')
    """
    if width(name) <= room:
        return name
    head, tail = "", ""
    for character in name:
        if width(head + character) > round(room * 0.6):
            break
        head += character
    for character in reversed(name):
        if width(head + "…" + character + tail) > room:
            break
        tail = character + tail
    return f"{head}…{tail}"


def lines_of(name: str, room: int, most: int = 3) -> list[str]:
    """Break a name into lines, best after a separator; only what is longer still is shortened.

    Examples
    --------
    >>> lines_of("resnet50-augmented-v2", 13), lines_of("abcdefghijkl", 5)
    (['resnet50-', 'augmented-v2'], ['abcde', 'fghij', 'kl'])
    """
    name = shorten(name, most * room - room // 3)
    lines = [""]
    for part in re.findall(r"[^\s\-_/.,]+[\s\-_/.,]*|[\s\-_/.,]+", name):
        if lines[-1] and width((lines[-1] + part).rstrip()) > room:
            lines.append("")
        for letter in part:
            if width((lines[-1] + letter).rstrip()) > room:
                lines.append("")
            lines[-1] += letter
    filled = [line.strip() for line in lines if line.strip()]
    return (
        filled
        if len(filled) <= most
        else [*filled[: most - 1], shorten("".join(filled[most - 1 :]), room)]
    )


def distinct(names: Sequence[str], room: int) -> list[str]:
    """Shorten names together, leaving out what they all begin or end with.

    Examples
    --------
    >>> distinct(["test/patient641/study1", "test/patient652/study1"], 14)
    ['…patient641…', '…patient652…']
    >>> distinct(["a/1", "a/2"], 14)
    ['a/1', 'a/2']
    """
    if len(set(names)) < 2 or all(width(name) <= room for name in names):
        return [shorten(name, room) for name in names]
    start = _shared(names)
    end = _shared([name[start:][::-1] for name in names])
    shown = []
    for name in names:
        core = shorten(name[start : len(name) - end], room - bool(start) - bool(end))
        shown.append(f"{'…' if start else ''}{core}{'…' if end else ''}")
    return shown


@lru_cache(4096)
def _columns(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2.0
    if letter in BROAD:
        return 1.0 + BROADER
    if letter in MATHS:
        return 1.0 + WIDER
    return 1.0 + LARGER * (letter.isupper() or letter in SIGNS)


def _shared(names: Sequence[str]) -> int:
    """Length of the beginning that all names share, up to a separator."""
    low, high = min(names), max(names)
    pairs = enumerate(zip(low, high, strict=False))
    common = low[: next((place for place, (a, b) in pairs if a != b), len(low))]
    return max(common.rfind(mark) + 1 for mark in "/\\_-. :")


LETTER = 7.0  # pixels of a column of small letters
HIGH = 13.0  # pixels of a line of small letters
FROM = (80, 100, 120, 150, 180, 220, 260, 320, 400, 500, 640, 800)  # widths words wait for
TRIED = (60, *FROM, 960, 1120)


@immutable
class Scale:
    """A linear, or logarithmic, map from numbers to per cents or pixels."""

    low: float
    high: float
    start: float = 0.0
    end: float = 100.0
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Place a number, keeping it on the drawing.

        Examples
        --------
        >>> Scale(0, 10)(5), Scale(0, 10)(99), Scale(1, 100, logarithmic=True)(10)
        (50.0, 100.0, 50.0)
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
        >>> Scale(0.81, 0.905).ticks(4)
        [0.82, 0.84, 0.86, 0.88, 0.9]
        """
        span = self.high - self.low
        if not span > 0:
            return [self.low]
        if self.logarithmic:
            return self._powers(most)
        power = 10.0 ** math.floor(math.log10(span / most))
        step = next(f * power for f in (1, 2, 5, 10) if span / (f * power) <= most + 0.9)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(step * i, 12) for i in range(first, last + 1)]

    def _powers(self, most: int) -> list[float]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps = [step * 10.0**power for power in powers for step in (1, 2, 5)]
        fits = [tick for tick in steps if self.low <= tick <= self.high]
        tens = [10.0**power for power in powers if self.low <= 10.0**power <= self.high]
        return fits if len(fits) <= most else tens or fits[:1]


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Write the numbers of an axis with as many decimals as the finest of them needs.

    Examples
    --------
    >>> tick_texts([-0.01, -0.005, 0.0]), tick_texts([0.5, 10.0, 2000.0])
    (['−0.010', '−0.005', '0'], ['0.5', '10', '2,000'])
    """
    if len({math.floor(math.log10(abs(tick))) for tick in ticks if tick}) > 2:
        return [f"{tick:,.6g}".replace("-", "−") for tick in ticks]
    most = max((len(f"{tick:.6g}".partition(".")[2]) for tick in ticks), default=0)
    return [f"{tick:,.{most}f}".replace("-", "−") if tick else "0" for tick in ticks]


def pc(share: float) -> str:
    """Write a per cent.

    Examples
    --------
    >>> pc(50.0), pc(33.3333), pc(-0.001)
    ('50%', '33.33%', '0%')
    """
    text = f"{share:.2f}".rstrip("0").rstrip(".")
    return f"{'0' if text == '-0' else text}%"


# ---- words that fit ------------------------------------------------------------------------


@immutable
class Label:
    """Words on a drawing.

    Attributes
    ----------
    x, y, shift
        Per cent across, pixels of the base line, and pixels to the right of `x`.
    anchor
        Which part of the words stands there.
    upright
        Whether they run upwards from their place.
    least
        The width of the drawing from which they are shown.
    """

    words: str
    x: float
    y: float
    anchor: str = "middle"
    shift: float = 0.0
    class_: str = "tick"
    upright: bool = False
    least: int = 0

    @cached_property
    def reach(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom from its place across, in pixels."""
        long = LETTER * width(self.words)
        if self.upright:
            return self.shift - HIGH / 2, self.y, self.shift + HIGH / 2, self.y + long
        left = self.shift - {"start": 0.0, "middle": long / 2, "end": long}[self.anchor]
        return left, self.y - HIGH + 2, left + long, self.y + 3

    def html(self) -> Html:
        """The words as markup."""
        classes = f"{self.class_} ge{self.least}" if self.least else self.class_
        if self.upright:
            text = element("text", self.words, transform="rotate(-90)", class_=self.class_,
                          text_anchor="end", y=4.0)  # fmt: skip
            return element("svg", text, x=pc(self.x), y=self.y,
                           class_=f"ge{self.least}" if self.least else None)  # fmt: skip
        return element(
            "text", self.words, x=pc(self.x), y=self.y, class_=classes,
            text_anchor=None if self.anchor == "start" else self.anchor,
            dx=self.shift or None,
        )  # fmt: skip


_Boxed = tuple[Label, tuple[float, float, float, float]]  # with its reach


def fitted(
    labels: Iterable[Label], *, over: float = 8.0, taken: Sequence[Label] = ()
) -> tuple[Label, ...]:
    """Let labels wait for a width at which they touch none before them, or leave them out.

    `over` is how far they may reach beyond the sides.

    Examples
    --------
    >>> ends = Label("low", 0, 10, "start"), Label("high", 100, 10, "end")
    >>> [one.least for one in fitted([*ends, Label("between", 50, 10)])]
    [0, 0, 120]
    """
    boxes = [(label, label.reach) for label in taken]
    shown: list[Label] = []
    for label in labels:
        least, reach = None, label.reach
        rows = [row for row in boxes if reach[1] < row[1][3] and row[1][1] < reach[3]]
        for wide in reversed(TRIED):
            if not _free(label, rows, wide, over):
                break
            least = wide
        if least is not None and least <= FROM[-1]:
            shown.append(replace(label, least=0 if least == TRIED[0] else least))
            boxes.append((shown[-1], reach))
    return tuple(shown)


def _free(label: Label, rows: Sequence[_Boxed], wide: float, over: float) -> bool:
    """Whether labels on the same height leave room for one more."""
    at = label.x / 100 * wide
    left, _, right, _ = label.reach
    left, right = at + left, at + right
    if left < -over or right > wide + over:
        return False
    for other, (start, _, end, _) in rows:
        if other.least <= wide:
            place = other.x / 100 * wide
            if left < place + end + 4 and place + start < right + 4:
                return False
    return True


def spread_order(total: int) -> list[int]:
    """Places from the ends inwards, halving gaps, so that what is kept stays even.

    Examples
    --------
    >>> spread_order(5)
    [0, 4, 2, 1, 3]
    """
    order = [0, total - 1] if total > 1 else [0] * total
    step = total - 1
    while step > 1 and len(order) < total:
        step = (step + 1) // 2
        order += [at for at in range(0, total, step) if at not in order]
    return order + [at for at in range(total) if at not in order]


def tick_labels(scale: Scale, ticks: Sequence[float], y: float) -> list[Label]:
    """Numbers over or under an axis, the ends first."""
    texts = tick_texts(ticks)
    return [Label(texts[at], scale(ticks[at]), y) for at in spread_order(len(ticks))]


# ---- shapes --------------------------------------------------------------------------------


def stroke(start: tuple[float, float], end: tuple[float, float], class_: str) -> Html:
    """Draw a straight line between places of (per cent, pixels)."""
    return element("line", x1=pc(start[0]), y1=float(start[1]), x2=pc(end[0]),
                   y2=float(end[1]), class_=class_)  # fmt: skip


def upright(x: float, class_: str = "grid") -> Html:
    """Draw a line from the top of the drawing to its bottom."""
    return element("line", x1=pc(x), x2=pc(x), y1=0, y2="100%", class_=class_)


def box(left: float, right: float, y: float, high: float, class_: str) -> Html:
    """Draw a box between two per cents; one of height 0 fills the drawing."""
    return element("rect", x=pc(left), width=pc(max(0.0, right - left)), y=float(y),
                   height=float(high) if high else "100%", class_=class_)  # fmt: skip


def dot(
    x: float,
    y: float,
    tone: str = "",
    *,
    size: float = 4.5,
    title: str = "",
    m: int | None = None,
) -> Html:
    """Draw a dot; `m` is the model that it belongs to."""
    tip = [element("title", title)] if title else []
    return element("circle", *tip, cx=pc(x), cy=float(y), r=float(size),
                   class_=f"d {tone}".strip(), data_m=m)  # fmt: skip


def interval(ends: tuple[float, float], y: float, tone: str = "", *, caps: bool = True) -> Html:
    """Draw an interval with its caps."""
    class_ = f"ci {tone}".strip()
    marks = [stroke((ends[0], y), (ends[1], y), class_)]
    marks += [stroke((at, y - 4.5), (at, y + 4.5), class_) for at in ends if caps]
    return join(marks)


def middle(*parts: Html) -> Html:
    """Move parts so that their y counts from the middle of a drawing of any height."""
    return element("svg", *parts, y="50%", class_="mid")


def stretched(high: float, *parts: Html) -> Html:
    """Hold paths with x from 0 to 100 that stretch to the width; their strokes do not."""
    return element("svg", *parts, viewBox=f"0 0 100 {high:g}", preserveAspectRatio="none",
                   width="100%", height=float(high))  # fmt: skip


def curve(places: Sequence[tuple[float, float]], class_: str) -> Html:
    """Draw lines through places, inside `stretched`."""
    return element("polyline", points=" ".join(f"{x:.2f},{y:.1f}" for x, y in places),
                   class_=class_)  # fmt: skip


def area(places: Sequence[tuple[float, float]], class_: str) -> Html:
    """Fill what lies between places, inside `stretched`."""
    return element("polygon", points=" ".join(f"{x:.2f},{y:.1f}" for x, y in places),
                   class_=class_)  # fmt: skip

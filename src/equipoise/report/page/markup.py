"""Markup: HTML and SVG in which text cannot become a tag by accident.

A piece of finished markup is an `Html`; everything else is text and is escaped when it is
put into an element. There is no other way into the page, so a model called ``<script>`` is
shown as the eight characters it is.
"""

import re
from collections.abc import Iterable
from html import escape as escape_html

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

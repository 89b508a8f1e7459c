"""Numerals: how the page writes numbers, and how it writes the lack of one.

A value that is None or nan is the word *undefined*, an infinite one the sign ∞. A minus is
a minus sign, not a hyphen. A difference that is not zero is never rounded to zero: it gets as
many decimals as it needs.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from equipoise.digits import fixed
from equipoise.report.lettering import width

UNDEFINED = "undefined"
UNMOVED = "not redrawn"
EXACT = 1e-12  # below this a difference of two scores is rounding, not a difference


def defined(value: float | None) -> bool:
    """Whether there is a number at all; it may be infinite."""
    return value is not None and not math.isnan(value)


def finite(value: float | None) -> bool:
    """Whether there is a number that can be drawn."""
    return value is not None and math.isfinite(value)


def numeral(value: float | str | None) -> float | None:
    """Read a number of a run: undefined is null, infinite are the words inf and -inf.

    Examples
    --------
    >>> numeral(0.5), numeral("-inf"), numeral(None), numeral(math.nan)
    (0.5, -inf, None, None)
    """
    read = math.nan if value is None else float(value)
    return None if math.isnan(read) else read


def _endless(value: float) -> str:
    """Write an infinite number."""
    return "∞" if value > 0 else "−∞"


def number(value: float | None, digits: int = 3) -> str:
    """Write a number with a fixed count of decimals.

    Examples
    --------
    >>> number(0.8943), number(-0.0001), number(None), number(math.nan), number(-math.inf)
    ('0.894', '0.000', 'undefined', 'undefined', '−∞')
    """
    if value is None or math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return _endless(value)
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def signed(value: float | None, digits: int = 3) -> str:
    """Write a difference with its sign; exact zero is a bare 0.

    Examples
    --------
    >>> signed(0.01234), signed(-0.00021), signed(0.0), signed(None), signed(math.inf)
    ('+0.012', '−0.00021', '0', 'undefined', '+∞')
    """
    if value is None or math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "+∞" if value > 0 else "−∞"
    if abs(value) < EXACT:
        return "0"
    return f"{'+' * (value > 0)}{fixed(value, digits)}".replace("-", "−")


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Write an interval in brackets.

    Examples
    --------
    >>> interval(0.8, 0.9), interval(None, None)
    ('[0.800, 0.900]', '[undefined]')
    """
    if not defined(low) or not defined(high):
        return f"[{UNDEFINED}]"
    return f"[{number(low, digits)}, {number(high, digits)}]"


def signed_interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Write the interval of a difference, both ends with their sign."""
    if not defined(low) or not defined(high):
        return f"[{UNDEFINED}]"
    return f"[{signed(low, digits)}, {signed(high, digits)}]"


def percent(share: float | None, digits: int = 0) -> str:
    """Write a share; only exact 0 and 1 are 0% and 100%.

    Examples
    --------
    >>> [percent(share) for share in (0.0, 0.002, 0.517, 0.9995, 1.0, None)]
    ['0%', '<1%', '52%', '>99%', '100%', 'undefined']
    >>> percent(0.049, 1), percent(0.0002, 1), percent(0.9999, 1)
    ('4.9%', '<0.1%', '>99.9%')
    """
    if share is None or not math.isfinite(share):
        return UNDEFINED
    text, step = f"{100 * share:.{digits}f}", 10.0**-digits
    if share > 0 and float(text) == 0:
        return f"<{step:g}%"
    if share < 1 and float(text) == 100:
        return f">{100 - step:g}%"
    return f"{text}%"


def chance(share: float | None, digits: int = 2) -> str:
    """Write a chance as a number; only exact 0 and 1 are 0 and 1.

    Examples
    --------
    >>> chance(0.517), chance(0.9995), chance(0.001), chance(1.0)
    ('0.52', '>0.99', '<0.01', '1.00')
    """
    if share is None or not math.isfinite(share):
        return UNDEFINED
    text, step = f"{share:.{digits}f}", 10.0**-digits
    if share < 1 and float(text) == 1:
        return f">{1 - step:.{digits}f}"
    return f"<{step:.{digits}f}" if share > 0 and float(text) == 0 else text


def rank(place: float | None) -> str:
    """Write a rank; shared ranks keep their half.

    Examples
    --------
    >>> rank(1.0), rank(2.5), rank(None)
    ('1', '2.5', 'undefined')
    """
    if place is None or not math.isfinite(place):
        return UNDEFINED
    return f"{place:.1f}".removesuffix(".0")


def count(total: float | None, noun: str = "") -> str:
    """Write a count, with its noun in the right number.

    Examples
    --------
    >>> count(2000), count(1, "model"), count(3, "model")
    ('2,000', '1 model', '3 models')
    """
    if total is None or not math.isfinite(total):
        return f"{UNDEFINED} {noun}".rstrip()
    text = f"{total:,.1f}".removesuffix(".0")
    return text if not noun else f"{text} {noun}{'' if total == 1 else 's'}"


def duration(milliseconds: float | None) -> str:
    """Write how long an answer took.

    Examples
    --------
    >>> duration(14.0), duration(850.0), duration(14200.0), duration(200000.0), duration(None)
    ('14 ms', '0.85 s', '14 s', '3.3 min', 'undefined')
    """
    if milliseconds is None or not defined(milliseconds):
        return UNDEFINED
    if milliseconds < 100:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds >= 120:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.0f} s"


def listing(names: Sequence[str], most: int = 6) -> str:
    """List names as one would say them; long names are shortened.

    Examples
    --------
    >>> listing(["a"]), listing(["a", "b", "c"]), listing(list("abcdefgh"), most=3)
    ('a', 'a, b and c', 'a, b, c and 5 others')
    """
    shown = [shorten(name, 40) for name in names]
    if len(shown) > most + 1:
        return f"{', '.join(shown[:most])} and {len(shown) - most} others"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def shorten(name: str, room: int) -> str:
    """Shorten a name in the middle, because names often differ at their end.

    Letters that are broader than most count for more.

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


@lru_cache(maxsize=256)
def apart(names: tuple[str, ...], room: int) -> Mapping[str, str]:
    """Shorten names so that different names stay different; as a last resort by a number.

    Examples
    --------
    >>> list(apart(("net-aaaa-one-zzzz", "net-aaaa-two-zzzz"), 10).values())
    ['…one…', '…two…']
    >>> list(apart(("aaaaaaaaaaaabaaaaaaaa", "aaaaaaaaaaaacaaaaaaaa"), 10).values())
    ['aaaaa…aa·1', 'aaaaa…aa·2']
    """
    shown = {name: shorten(name, room) for name in names}
    for attempt in (_told, _numbered):
        alike = [n for n, short in shown.items() if list(shown.values()).count(short) > 1]
        shown |= attempt(alike, room)
    return shown


def _told(names: Sequence[str], room: int) -> dict[str, str]:
    """Shorten names by what tells them apart."""
    return dict(zip(names, distinct(names, room), strict=True))


def _numbered(names: Sequence[str], room: int) -> dict[str, str]:
    """Shorten names and number them."""
    marks = {name: f"·{place}" for place, name in enumerate(names, start=1)}
    return {name: shorten(name, room - len(mark)) + mark for name, mark in marks.items()}


def _shared(names: Sequence[str]) -> int:
    """Length of the beginning that all names share, up to a separator."""
    low, high = min(names), max(names)
    pairs = enumerate(zip(low, high, strict=False))
    common = low[: next((place for place, (a, b) in pairs if a != b), len(low))]
    return max(common.rfind(mark) + 1 for mark in "/\\_-. :")


def decimals(widths: Sequence[float]) -> int:
    """How many decimals suit intervals of these widths: two figures of the middle one.

    Examples
    --------
    >>> decimals([0.03, 0.04, 0.02]), decimals([0.3]), decimals([])
    (3, 2, 3)
    """
    positive = sorted(width for width in widths if width > EXACT and math.isfinite(width))
    if not positive:
        return 3
    return min(5, max(0, 1 - math.floor(math.log10(positive[len(positive) // 2]))))

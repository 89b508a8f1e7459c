"""Numbers: how a number is written wherever people read it, the same on every surface.

- A **number** has three decimals; one that these would make zero has two significant digits,
  unless it is so small that rounding alone may have made it.
- A **change** is a number with its sign; exact zero is a bare 0.
- A **share** is a whole percentage; only exact 0 and 1 are 0% and 100%. A **share of
  resamples** is never either: other resamples might have gone the other way.
- A **count** has commas, a **rank** keeps its half, a **p-value** is never 0.
- What is undefined is the word *undefined*, never blank; infinite is ∞; a minus sign is −.

Files for machines (CSV, JSON, Parquet) hold all digits instead and never come here.
"""

import math
from collections.abc import Callable

UNDEFINED = "undefined"
EXACT = 1e-12  # below this a difference of two scores is rounding, not a difference
NOISE = 1e-15  # below this a number is rounding: machines differ in it
DIGITS = 12  # significant ones in which they agree
LEAST = 1e-6  # below that, zeros are harder to count than an exponent is to read


def number(value: float | None, digits: int = 3) -> str:
    """Write a number, and never make one zero that is not.

    Examples
    --------
    >>> number(0.8943), number(-0.0001), number(0.0000534), number(3.2e-9), number(0.0)
    ('0.894', '−0.00010', '0.000053', '3.2e−09', '0.000')
    >>> number(None), number(math.nan), number(-math.inf)
    ('undefined', 'undefined', '−∞')
    """
    if value is None or math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return _plain(value, digits).replace("-", "−")


def change(value: float | None, digits: int = 3) -> str:
    """Write a difference with its sign; exact zero is a bare 0.

    Examples
    --------
    >>> change(0.01234), change(-0.00021), change(0.0), change(None), change(math.inf)
    ('+0.012', '−0.00021', '0', 'undefined', '+∞')
    """
    if value is not None and abs(value) < EXACT:
        return "0"
    sign = "+" if value is not None and value > 0 else ""
    return f"{sign}{number(value, digits)}"


def thousandths(value: float) -> str:
    """Write a difference in thousandths, where there is room for no more.

    Examples
    --------
    >>> [thousandths(lead) for lead in (0.0123, -0.0002, 0.00001, 0.0, math.inf)]
    ['12', '−0.2', '≈0', '0', '∞']
    """
    units = value * 1000
    if not math.isfinite(value) or abs(value) <= EXACT:
        return number(value, 0)
    return "≈0" if abs(units) < 0.05 else number(units, int(abs(units) < 0.95))


def bound(value: float | None, digits: int = 3) -> str:
    """Write an upper bound, rounded outward, in the digits of a score.

    Examples
    --------
    >>> bound(0.0132), bound(0.01), bound(0.0), bound(0.0000354), bound(None)
    ('0.014', '0.010', '0.000', '0.001', 'undefined')
    """
    if value is None or not math.isfinite(value):
        return number(value)
    step = 10.0**digits
    return number(math.ceil(value * step - 1e-9) / step, digits)


def distance(value: float | None, digits: int = 3) -> str:
    """Write the size of a difference; one too small for the digits is said to be.

    Examples
    --------
    >>> distance(0.0123), distance(-0.0123), distance(0.000035), distance(0.0)
    ('0.012', '0.012', 'less than 0.001', '0')
    """
    if value is None or not math.isfinite(value):
        return number(value)
    if abs(value) < EXACT:
        return "0"
    least = 10.0**-digits
    return (
        f"less than {number(least, digits)}"
        if abs(value) < least / 2
        else number(abs(value), digits)
    )


def percent(share: float | None, digits: int = 0) -> str:
    """Write a share; only exact 0 and 1 are 0% and 100%.

    Examples
    --------
    >>> [percent(share) for share in (0.0, 0.002, 0.517, 0.996, 1.0, None)]
    ['0%', '<1%', '52%', '>99%', '100%', 'undefined']
    >>> percent(0.049, 1), percent(0.0002, 1), percent(0.9999, 1)
    ('4.9%', '<0.1%', '>99.9%')
    """
    if share is None or not math.isfinite(share):
        return UNDEFINED
    text, step = f"{_without_rounding(100 * share):.{digits}f}", 10.0**-digits
    if share > 0 and float(text) == 0:
        return f"<{step:g}%"
    if share < 1 and float(text) == 100:
        return f">{100 - step:g}%"
    return f"{text}%".replace("-", "−")


def resample_share(share: float | None) -> str:
    """Write a share of resamples: it is never quite 0 or 1, whatever the resamples say.

    Examples
    --------
    >>> resample_share(0.0), resample_share(0.42), resample_share(1.0), resample_share(None)
    ('<1%', '42%', '>99%', 'undefined')
    """
    if share is None or not math.isfinite(share):
        return UNDEFINED
    if share < 0.01:
        return "<1%"
    return ">99%" if share > 0.99 else percent(share)


def exact_percent(share: float) -> str:
    """Write a share that somebody chose, such as the level of intervals, with all its digits.

    Examples
    --------
    >>> exact_percent(0.8), exact_percent(0.975), exact_percent(0.999)
    ('80%', '97.5%', '99.9%')
    """
    return f"{100 * share:g}%"


def chosen(value: float) -> str:
    """Write a number that somebody chose, such as a margin, with all its digits.

    Examples
    --------
    >>> chosen(0.01), chosen(0.5), chosen(3.0)
    ('0.01', '0.5', '3')
    """
    return f"{value:.10g}".replace("-", "−")


def p_value(value: float | None) -> str:
    """Write a p-value, which is never zero.

    Examples
    --------
    >>> p_value(0.8312), p_value(0.0213), p_value(0.0002), p_value(None)
    ('0.83', '0.021', '<0.001', 'undefined')
    """
    if value is None or math.isnan(value):
        return UNDEFINED
    if value < 0.001:
        return "<0.001"
    return f"{value:.2f}" if value >= 0.095 else f"{value:.3f}"


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
    """Write a count, with its noun in the right number; words after *per* stay as they are.

    Examples
    --------
    >>> count(2000), count(1, "model"), count(3, "vote per item"), count(None), count(math.inf)
    ('2,000', '1 model', '3 votes per item', 'undefined', '∞')
    """
    total_known = total is not None and math.isfinite(total)
    text = f"{total:,.1f}".removesuffix(".0") if total_known else number(total)
    if not noun:
        return text
    head, *rest = noun.split(" ")
    return " ".join([text, head + "s" * (total != 1), *rest])


def significant(value: float | None) -> str:
    """Write two significant digits, without an exponent down to a millionth.

    Examples
    --------
    >>> significant(0.0000991), significant(0.0053), significant(12.3), significant(0.0)
    ('0.000099', '0.0053', '12', '0')
    """
    if value is None or not math.isfinite(value):
        return number(value)
    text = f"{value:.{_decimals(value)}f}" if LEAST <= abs(value) < 1 else f"{value:.2g}"
    return text.replace("-", "−")


def duration(milliseconds: float | None) -> str:
    """Write how long something took.

    Examples
    --------
    >>> duration(14.0), duration(850.0), duration(14200.0), duration(200000.0), duration(None)
    ('14 ms', '0.85 s', '14 s', '3.3 min', 'undefined')
    """
    if milliseconds is None or not math.isfinite(milliseconds):
        return UNDEFINED
    if milliseconds < 100:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds >= 120:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.0f} s"


def interval(
    low: float | None, high: float | None, write: Callable[[float | None], str] = number
) -> str:
    """Write an interval in brackets.

    Examples
    --------
    >>> interval(0.8, 0.9), interval(-0.1, 0.2, change), interval(None, math.nan)
    ('[0.800, 0.900]', '[−0.100, +0.200]', '[undefined]')
    """
    ends = [write(low), write(high)]
    return f"[{UNDEFINED}]" if UNDEFINED in ends else f"[{', '.join(ends)}]"


def estimate(
    value: float | None,
    low: float | None,
    high: float | None,
    write: Callable[[float | None], str] = number,
) -> str:
    """Write a value with its interval; without ends that are known, the value alone.

    Examples
    --------
    >>> estimate(0.861, 0.845, 0.88), estimate(0.5, None, None), estimate(None, 0.1, 0.2)
    ('0.861 [0.845, 0.880]', '0.500', 'undefined')
    """
    text, ends = write(value), interval(low, high, write)
    return text if UNDEFINED in (text, ends[1:-1]) else f"{text} {ends}"


def _without_rounding(value: float) -> float:
    """A number without the digits in which machines differ, so that halves round alike.

    Examples
    --------
    >>> number(0.0025), number(0.0025 - 4e-18), number(-0.0025 + 4e-18)
    ('0.003', '0.003', '−0.003')
    """
    return 0.0 if abs(value) < NOISE else float(f"{value:.{DIGITS}g}")


def _plain(value: float, digits: int) -> str:
    """Fixed decimals, or two significant digits where these would all be zero."""
    value = _without_rounding(value)
    if not 0 < abs(value) < 0.5 * 10**-digits:
        return f"{value:.{digits}f}"
    if abs(value) < LEAST:
        return f"{value:.1e}"
    return f"{value:.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    """How many decimals show two significant digits of a number below one."""
    return -int(f"{value:.1e}".split("e")[1]) + 1 if value else 0

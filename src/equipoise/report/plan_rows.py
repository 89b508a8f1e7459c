"""Rows of a plan: how its numbers are written, and the words that all sections share."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.numerals import UNDEFINED, apart, count, finite, percent
from equipoise.report.stability_rows import Entry, value

Facts = Mapping[str, Any]
NAME = 18  # letters of a name beside a row


def votes_each(number: float) -> str:
    """Write a number of votes on each item; none where all truths are known.

    Examples
    --------
    >>> votes_each(1), votes_each(3), votes_each(0)
    ('1 vote', '3 votes', 'a known truth')
    """
    return count(number, "vote") if number > 0 else "a known truth"


def about(items: float, error: float) -> str:
    """Write a number of items with its standard error.

    Examples
    --------
    >>> about(1200, 85.2), about(1200, float("nan")), about(float("nan"), 1.0)
    ('1,200 ± 85', '1,200', 'undefined')
    """
    if not finite(items):
        return UNDEFINED
    return f"{items:,.0f} ± {error:,.0f}" if finite(error) else f"{items:,.0f}"


def money(cost: float) -> str:
    """Write a price with as many decimals as it deserves.

    Examples
    --------
    >>> money(141582.4), money(12.5), money(float("nan"))
    ('141,582', '12.50', 'undefined')
    """
    if not finite(cost):
        return UNDEFINED
    return f"{cost:,.0f}" if cost >= 100 else f"{cost:.2f}"


def simulated(row: Entry) -> str:
    """Write the share of simulated studies that resolve the difference."""
    share, error = value(row, "simulated"), value(row, "monte_carlo_error")
    return f"{percent(share)} ± {percent(error)}" if finite(share) else "not simulated"


def scaled(values: Sequence[float]) -> tuple[float, str]:
    """Units in which large numbers fit beside an axis, with their name.

    Examples
    --------
    >>> scaled([300.0, 20_000.0]), scaled([3e5]), scaled([2e9])
    ((1.0, ''), (1000.0, ', in thousands'), (1000000.0, ', in millions'))
    """
    most = max((one for one in values if finite(one)), default=0.0)
    if most >= 1e8:
        return 1e6, ", in millions"
    return (1e3, ", in thousands") if most >= 1e5 else (1.0, "")


def paired(rows: Sequence[Entry], room: int = NAME) -> list[str]:
    """Short names of pairs; both models keep their part of the room, and stay apart.

    Examples
    --------
    >>> paired([{"a": "vit", "b": "net"}, {"a": "net", "b": "a-very-long-name-1"}])
    ['vit / net', 'net / a-ve…1']
    """
    models = dict.fromkeys(str(row[key]) for row in rows for key in ("a", "b"))
    short = apart(tuple(models), (room - 6) // 2)
    return [
        whole
        if len(whole := pair_name(row)) <= room
        else f"{short[str(row['a'])]} / {short[str(row['b'])]}"
        for row in rows
    ]


def pair_name(row: Entry) -> str:
    """Both models of a pair, the better one first.

    Examples
    --------
    >>> pair_name({"a": "vit", "b": "resnet"})
    'vit / resnet'
    """
    return f"{row['a']} / {row['b']}"


def chance_of(facts: Facts) -> str:
    """What the chance of a study is a chance of; for several pairs it is the least."""
    if facts["goal"] == "ranking":
        return "least chance of finding the order of all neighbours"
    return "chance of resolving the difference"


def error(deviation: float) -> str:
    """Write a standard error or a gain with two figures.

    Examples
    --------
    >>> error(0.0037), error(1.1e-05), error(0.0)
    ('0.0037', '1.1e−05', '0')
    """
    return f"{deviation:.2g}".replace("-", "−")


def compact(number: float) -> str:
    """Write a round number in little room.

    Examples
    --------
    >>> compact(500), compact(2000), compact(50_000), compact(2_000_000)
    ('500', '2,000', '50k', '2M')
    """
    if number >= 1e6:
        return f"{number / 1e6:g}M"
    return f"{number / 1e3:g}k" if number >= 1e4 else f"{number:,g}"


def gap(difference: float) -> str:
    """Write a difference with its sign and three figures.

    Examples
    --------
    >>> gap(0.01234), gap(-5.26e-05), gap(0.0), gap(float("nan"))
    ('+0.0123', '−5.26e−05', '0', 'undefined')
    """
    if not finite(difference):
        return UNDEFINED
    return f"{difference:+.3g}".replace("-", "−") if difference else "0"


def written(row: Entry, key: str) -> str:
    """Write a difference with its interval.

    Examples
    --------
    >>> written({"value": 0.02, "low": -0.011, "high": 0.051}, "value")
    '+0.02 [−0.011, +0.051]'
    """
    low, high = gap(value(row, "low")), gap(value(row, "high"))
    return f"{gap(value(row, key))} [{low}, {high}]"


def needs_most(facts: Facts) -> str:
    """Why it is this pair of a ranking that is shown."""
    if facts["goal"] == "pair":
        return ""
    return (
        " (the pair that is hardest to tell apart)"
        if facts["recommended"]
        else " (no plan for any pair)"
    )

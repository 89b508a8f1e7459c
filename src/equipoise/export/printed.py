"""Printed tables: the columns of a table that fit a page, the rest told in words.

A value and the ends of its interval, which stand next to each other, become one cell such as
``0.861 [0.850, 0.871]``. Where more columns are left than fit, quiet ones that are the same in
every row go first (metric, labels), then those that matter least to a reader, then others that
are the same in every row, then the last ones. What was left out is said; files with all columns
are the CSV ones.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Rows = Sequence[Mapping[str, Any]]
MOST = 9  # columns
RANKS = ("rank", "full_rank")
LESSER = (
    "status", "undefined", "not_searched", "none_of_size_up_to", "scored_anew",
    "searched_up_to", "idle", "cleared", "verified", "tried_up_to", "freedom", "pairs",
    "items_lost", "spearman_low", "subsets", "spread", "fitted", "separate", "place",
    "its_rank_before", "ahead_after", "of", "lead_after", "number", "kendall_tau_b",
    "full_rank", "p_runner_up", "runner_up", "soft_gain",
    "worth_range", "worth", "variance", "positives", "items", "choices_separated",
)  # fmt: skip

QUIET = ("task", "metric", "labels", *LESSER)  # missed least where all rows are alike


class Printed(NamedTuple):
    """Rows that fit a page, columns that are the same in every row, and those left out."""

    rows: list[dict[str, Any]]
    same: dict[str, Any]
    left_out: list[str]


def printed(rows: Rows, written: Callable[[Any], str], most: int = MOST) -> Printed:
    """Fold intervals and choose columns.

    Parameters
    ----------
    rows
        Plain rows.
    written
        How a number is written in a cell.
    most
        How many columns fit.

    Examples
    --------
    >>> row = {"model": "vit", "value": 0.5, "low": 0.4, "high": 0.6}
    >>> printed([row], "{:.2f}".format).rows
    [{'model': 'vit', 'value': '0.50 [0.40, 0.60]'}]
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    spans = intervals(rows, names)
    ends = {end for pair in spans.values() for end in pair}
    kept = [name for name in names if name not in ends]
    plain = [name for name in kept if name not in spans]
    same = _same(rows, [name for name in plain if name in QUIET], len(kept) - most)
    kept = [name for name in kept if name not in same]
    least = _least(kept, len(kept) - most)
    kept = [name for name in kept if name not in least]
    same |= _same(rows, [name for name in plain if name in kept], len(kept) - most)
    kept = [name for name in kept if name not in same]
    out = least + _lesser(kept, len(kept) - most)
    kept = [name for name in kept if name not in out]
    made = [
        {
            _head(name): _cell(row, name, spans.get(name), written)
            for name in kept
            if name in row
        }
        for row in rows
    ]
    heads = [_head(one.rsplit("_", 1)[0] if _of_list(one) else one) for one in out]
    return Printed(made, {_head(n): v for n, v in same.items()}, list(dict.fromkeys(heads)))


def intervals(rows: Rows, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Columns of numbers with the columns of their ends, which follow them.

    Examples
    --------
    >>> intervals([{"rank": 1.0, "rank_low": 1.0, "rank_high": 2.0}], ["rank", "rank_low",
    ...     "rank_high"])
    {'rank': ('rank_low', 'rank_high')}
    """
    found = {}
    for name, low, high in zip(names, names[1:], names[2:], strict=False):
        ends = low.removesuffix("low"), high.removesuffix("high")
        paired = low.endswith("low") and high.endswith("high") and ends[0] == ends[1]
        if paired and all(_numeric(row.get(name)) for row in rows):
            found[name] = (low, high)
    return found


def _same(rows: Rows, names: Sequence[str], many: int) -> dict[str, Any]:
    """Columns that hold one thing, as many as are too many; of one row none does."""
    if len(rows) < 2 or many <= 0:
        return {}
    found: dict[str, Any] = {}
    for name in names:
        known = [row.get(name) for row in rows]
        if all(one == known[0] for one in known) and len(found) < many:
            found[name] = known[0]
    return found


def _least(names: Sequence[str], many: int) -> list[str]:
    """Columns that matter least, as many as are too many."""
    return [name for name in LESSER if name in names][: max(many, 0)]


def _lesser(names: Sequence[str], many: int) -> list[str]:
    """Columns to leave out: the least important first, then those of a list, then the last."""
    listed = [name for name in names if _of_list(name)]
    order = [name for name in LESSER if name in names] + listed
    order += [name for name in reversed(names) if name not in order]
    out = set(order[: max(many, 0)])
    out |= set(listed) if out & set(listed) else set()
    return [name for name in names if name in out]


def _of_list(name: str) -> bool:
    """Whether a column is one number of a list."""
    return name.rsplit("_", 1)[-1].isdigit()


def _cell(
    row: Mapping[str, Any], name: str, ends: tuple[str, str] | None,
    written: Callable[[Any], str],
) -> Any:  # fmt: skip
    """A value, with its interval where it has one."""
    value = row[name]
    if _undefined(value):
        return value if ends is None and name not in RANKS else "undefined"
    if name in RANKS:
        value, written = _rank(value), _rank
    if ends is None:
        return value
    low, high = (row.get(end) for end in ends)
    if _undefined(low) or _undefined(high):
        return written(value)
    return f"{written(value)} [{written(low)}, {written(high)}]"


def _rank(value: Any) -> str:
    """A rank: whole, or half where ranks are shared."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _undefined(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _numeric(value: Any) -> bool:
    """Whether a cell is a number, a gap, or the word for an infinite one."""
    return isinstance(value, int | float | None) or value in ("inf", "-inf")


def _head(name: str) -> str:
    """A name of a column as words.

    Examples
    --------
    >>> _head("p_best"), _head("kendall_tau_b"), _head("average_rank")
    ('P(best)', "Kendall's tau-b", 'average rank')
    """
    known = {
        "p_best": "P(best)", "p_runner_up": "P(runner-up)", "kendall_tau_b": "Kendall's tau-b",
        "spearman": "Spearman", "p_holm": "p (Holm)", "p_better": "P(better)",
    }  # fmt: skip
    return known.get(name, name.replace("_", " "))

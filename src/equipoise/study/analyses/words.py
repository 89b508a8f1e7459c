"""Words that findings share: what was scored and resampled, columns."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from equipoise.metrics import Metric, titled
from equipoise.types import Column, Notice, Notices, as_notice

RESAMPLED = {
    "items": "items",
    "votes": "votes",
    "panel": "annotators",
    "posterior": "possible truths",
    "items x votes": "items and votes",
    "items x panel": "items and annotators",
    "items x posterior": "items and possible truths",
    "influence": "items and annotators (normal approximation)",
}
ORDER = "rank correlation with the original order (1: the same, 0: no relation, −1: reversed)"

ENDS = ("", "_low", "_high")
QUESTION = tuple(Column(name, name) for name in ("task", "metric", "labels"))
NAMED = 3  # names in a clause
IN_FILES = tuple(replace(column, brief=False) for column in QUESTION)  # not on a terminal

RowUnderWay = dict[str, Any]  # of a table, before its numbers are final


def score_title(metric: Metric, labels: str, task: str = "") -> str:
    """What was scored, as one would say it.

    Examples
    --------
    >>> from equipoise.metrics import named
    >>> score_title(named("auroc"), "soft", "heart")
    'soft AUROC (heart)'
    """
    return metric.called(labels) + (f" ({task})" if task else "")


def with_titles(columns: Iterable[Column], metrics: Iterable[str]) -> tuple[Column, ...]:
    """Columns whose metrics people read by their titles."""
    titles = {name: titled(name, "hard").removeprefix("hard ") for name in metrics}
    return tuple(
        replace(column, words=titles) if column.key == "metric" else column
        for column in columns
    )


def as_notices(*groups: Iterable[Notice | str]) -> Notices:
    """Notices of several places, each once; a plain sentence becomes a notice of its own.

    Examples
    --------
    >>> [str(notice) for notice in as_notices(["Odd."], [], ["Odd.", "Even."])]
    ['Odd.', 'Even.']
    """
    notices = (as_notice(notice) for group in groups for notice in group)
    return tuple({str(notice): notice for notice in notices}.values())


def ends_of(
    name: str, value: float, ends: Iterable[float], *, stem: str = ""
) -> dict[str, float]:
    """A quantity with the ends of its interval, which may be named by a shorter stem.

    Examples
    --------
    >>> ends_of("limit", 0.5, (0.4, 0.6))
    {'limit': 0.5, 'limit_low': 0.4, 'limit_high': 0.6}
    """
    low, high = ends
    return {name: value, f"{stem or name}_low": low, f"{stem or name}_high": high}

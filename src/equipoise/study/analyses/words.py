"""Words that findings share: what was scored and resampled, columns, shifts that are odd."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from equipoise.metrics import named, titled
from equipoise.types.arrays import Floats, InputError
from equipoise.types.findings import Column
from equipoise.types.notices import Notice, as_notice
from equipoise.types.words import joined

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
IN_FULL = {
    "items": "items",
    "votes": "the votes of each item",
    "panel": "the annotators, the same draw for all items",
    "posterior": "the possible truths of the aggregation model",
    "items x votes": "items and the votes of each",
    "items x panel": "items and annotators",
    "items x posterior": "items and possible truths of the aggregation model",
    "influence": "items and annotators, normal with the two-way covariance",
}
ORDER = "rank correlation with the original order (1: the same, 0: no relation, −1: reversed)"
BRACKETS = "Brackets: interval when items are resampled."
TIES_SHARE = "models that tie share the mean of their ranks"

QUESTION = tuple(Column(name, name) for name in ("task", "metric", "labels"))
NAMED = 3  # names in a clause
IN_FILES = tuple(replace(column, brief=False) for column in QUESTION)  # not on a terminal


def score_title(metric: str, labels: str, task: str = "") -> str:
    """What was scored, as one would say it.

    Examples
    --------
    >>> score_title("auroc", "soft", "heart")
    'soft AUROC (heart)'
    """
    return titled(metric, labels) + (f" ({task})" if task else "")


def score_head(metric: str, labels: str) -> str:
    """Head of a column of values: the metric, and which way is better where less is.

    Examples
    --------
    >>> score_head("brier_score", "hard")
    'hard Brier score (lower is better)'
    """
    try:
        lower = named(metric).better == "lower"
    except InputError:  # a metric of the caller's own
        lower = False
    return f"{titled(metric, labels)}{' (lower is better)' * lower}"


def with_titles(columns: Iterable[Column], metrics: Iterable[str]) -> tuple[Column, ...]:
    """Columns whose metrics people read by their titles."""
    titles = {name: titled(name, "hard").removeprefix("hard ") for name in metrics}
    return tuple(
        replace(column, words=titles) if column.key == "metric" else column
        for column in columns
    )


def lowest_by(rows: Iterable[dict[str, Any]], by: str, key: str) -> list[dict[str, Any]]:
    """The row with the smallest number of each group: the first where they tie.

    Examples
    --------
    >>> rows = [{"cut": 1, "rank": 2.0}, {"cut": 1, "rank": 1.0}, {"cut": 2, "rank": 3.0}]
    >>> lowest_by(rows, "cut", "rank")
    [{'cut': 1, 'rank': 1.0}, {'cut': 2, 'rank': 3.0}]
    """
    best: dict[Any, dict[str, Any]] = {}
    for row in rows:
        if row[by] not in best or row[key] < best[row[by]][key]:
            best[row[by]] = row
    return list(best.values())


def scored_again(models: Sequence[str]) -> str:
    """Begin a sentence of the methods."""
    single = "The model was scored again"
    return single if len(models) == 1 else "All models were scored again"


def as_notices(*groups: Iterable[Notice | str]) -> tuple[Notice, ...]:
    """Notices of several places, each once; a plain sentence becomes a notice of its own.

    Examples
    --------
    >>> [str(notice) for notice in as_notices(["Odd."], [], ["Odd.", "Even."])]
    ['Odd.', 'Even.']
    """
    notices = (as_notice(notice) for group in groups for notice in group)
    return tuple({str(notice): notice for notice in notices}.values())


def not_finite(
    full: Floats, values: Floats, models: Sequence[str], where: tuple[str, str]
) -> list[str]:
    """What is infinite or undefined, in clauses; none when all is finite.

    Parameters
    ----------
    full, values
        Value of each model on everything, (models,), and on each part, (parts, models).
    where
        What everything is, such as ``with all annotators``, and its parts, ``without some``.

    Examples
    --------
    >>> full, values = np.array([0.5, np.inf]), np.array([[0.4, np.inf]])
    >>> not_finite(full, values, ["a", "b"], ("in all", "in some"))
    ['that of b is infinite in all and stays so']
    """
    clauses = []
    whole, part = where
    with np.errstate(invalid="ignore"):
        never, ever = np.isinf(values).all(axis=0), np.isinf(values).any(axis=0)
    infinite = np.isinf(full)
    cases = (
        (infinite & never, f"infinite {whole} and stays so"),
        (infinite & ~never, f"infinite {whole} but finite {part}"),
        (~infinite & ever, f"finite {whole} but infinite {part}"),
        (np.isnan(full), f"undefined {whole}"),
        (~np.isnan(full) & np.isnan(values).any(axis=0), f"undefined {part}"),
    )
    for which, words in cases:
        names = [name for name, here in zip(models, which, strict=True) if here]
        if names:
            clauses.append(f"that of {joined(names, most=NAMED)} is {words}")
    return clauses

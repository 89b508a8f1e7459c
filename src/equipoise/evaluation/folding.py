"""Folding: notices that say the same of several models become one that names them all.

A score is infinite for each model by itself, so that a run of many models would otherwise
repeat one sentence for every model and kind of label.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

NAME = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""  # as repr writes it
INFINITE = re.compile(
    rf"(?P<metric>\S+) of (?P<model>{NAME}) with (?P<labels>hard|soft) labels"
    rf"(?: of task (?P<task>{NAME}))? is infinite: it gives probability 0 to a class that "
    r"(?P<some>[\d,]+) of (?P<all>[\d,]+) items have \(.*\)\.",
    re.DOTALL,
)
MOST = 12  # models that are named


class Told(NamedTuple):
    """What one notice says of one model."""

    metric: str
    model: str
    labels: str
    task: str
    some: int


def folded(notices: Iterable[str]) -> tuple[str, ...]:
    """Fold what is said of several models, where the first of it stood.

    Examples
    --------
    >>> form = ("log_score of {!r} with hard labels is infinite: it gives probability 0 to "
    ...         "a class that {} of 9 items have ('x').")
    >>> (said,) = folded([form.format("a", 1), form.format("b", 3)])
    >>> said[:41], said[-23:]
    ("log_score of 'a' and 'b' with hard labels", 'that 1 to 3 items have.')
    """
    given = list(notices)
    found = {notice: told for notice in given if (told := _told(notice))}
    by_metric: dict[str, list[Told]] = {}
    for told in found.values():
        by_metric.setdefault(told.metric, []).append(told)
    said: list[str] = []
    for notice in given:
        same = by_metric.get(found[notice].metric, []) if notice in found else []
        if len({told.model for told in same}) < 2:
            said.append(notice)
        elif same[0] == found[notice]:
            said += _sentences(same)
    return tuple(said)


def _told(notice: str) -> Told | None:
    """Read a notice; None if it is of another sort."""
    match = INFINITE.fullmatch(notice)
    if match is None:
        return None
    some = int(match["some"].replace(",", ""))
    return Told(match["metric"], match["model"], match["labels"], match["task"] or "", some)


def _sentences(every: list[Told]) -> list[str]:
    """Say it once for all labels and tasks that have the same models."""
    models: dict[tuple[str, str], list[str]] = {}
    for told in every:
        models.setdefault((told.labels, told.task), []).append(told.model)
    cells: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for cell, names in models.items():
        cells.setdefault(tuple(names), []).append(cell)
    return [_sentence(every, names, where) for names, where in cells.items()]


def _sentence(every: list[Told], names: tuple[str, ...], where: list[tuple[str, str]]) -> str:
    """Name the models, and among how many items each finds one that it rules out."""
    counts = [told.some for told in every if (told.labels, told.task) in where]
    low, high = min(counts), max(counts)
    some = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    cells = [f"{labels} labels{f' of task {task}' if task else ''}" for labels, task in where]
    ways = _listed(cells)
    if len({task for _, task in where}) == 1:
        ways = f"{' and '.join(labels for labels, _ in where)} {cells[0].split(' ', 1)[1]}"
    items = "item has" if high == 1 else "items have"
    each = "it gives" if len(names) == 1 else "each gives"
    return (
        f"{every[0].metric} of {_listed(names)} with {ways} is infinite: {each} probability 0 "
        f"to a class that {some} {items}."
    )


def _listed(names: Iterable[str]) -> str:
    """List names as one would say them."""
    shown = list(names)
    if len(shown) > MOST + 1:
        shown = [*shown[:MOST], f"{len(shown) - MOST} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))

"""Models beside each other: how well they predict votes, and where they decide otherwise.

A row per model: mean log-likelihood of held-out votes, what its certainty means, and the items
whose most plausible class is another than by the model of the page.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count, listing, number, percent
from equipoise.report.tables import name_cell, table

Row = Mapping[str, Any]


def scored(rows: Sequence[Row]) -> bool:
    """Whether held-out votes were scored."""
    return any(one.get("held_out_log_likelihood") is not None for one in rows)


def _score(one: Row) -> str:
    """A log-likelihood; minus infinity as such."""
    value = one.get("held_out_log_likelihood")
    return "−∞" if value == "-inf" else number(value)


def numbers(rows: Sequence[Row], items: int) -> Html:
    """List the models."""
    heads = ["Model", *(["held-out log-likelihood"] if scored(rows) else [])]
    heads += ["certainty is the", "other top class", "share of items"]
    lines = []
    for one in rows:
        cells = [_score(one)] if scored(rows) else []
        other = int(one["other_top_class"])
        cells += [str(one["certainty_is"]), count(other), percent(other / (items or 1), 1)]
        name = name_cell(str(one["model"]))
        lines.append(element("tr", name, join(element("td", cell) for cell in cells)))
    return table("Models of the same annotations", heads, lines, "plain")


def finding(rows: Sequence[Row], items: int) -> str:
    """Name the model that decides most items otherwise.

    Examples
    --------
    >>> finding([{"model": "a", "other_top_class": 0}, {"model": "b", "other_top_class": 3}], 9)
    'Of 9 items, b decides 3 otherwise than a.'
    """
    first, most = rows[0], max(rows, key=lambda one: int(one["other_top_class"]))
    if not most["other_top_class"]:
        return "All models decide every item alike."
    name, own = (listing([str(one["model"])]) for one in (most, first))
    said = f"Of {count(items, 'item')}, {name} decides {count(most['other_top_class'])}"
    more = ", the most of all models" if len(rows) > 2 else ""
    return f"{said} otherwise than {own}{more}."


def note(rows: Sequence[Row]) -> str:
    """Say what the columns are."""
    said = (
        "Other top class: items whose most plausible class is another than by the model of "
        "this page. Certainties of different models answer different questions and are not to "
        "be compared."
    )
    if not scored(rows):
        return said
    return (
        "Held-out log-likelihood: mean log chance of votes that the model had not seen, in "
        f"nats per vote, five folds; higher is better. {said}"
    )

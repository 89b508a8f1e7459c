"""Rows of an analysis: which of them a figure shows, and how the page calls its models.

Analyses give one row per case, with nothing for a number that is undefined. A figure shows one
question: the last task (the average, where there are several), the first metric, soft labels.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import apart, decimals, interval, number, numeral
from equipoise.report.palette import model_class

SHARED = "models that tie share the mean of their ranks"
Entry = Mapping[str, Any]
NOTHING = Html("")
ROOM = 28  # letters of a name in a table


@dataclass(frozen=True, slots=True)
class Part:
    """One section of the page.

    Attributes
    ----------
    finding, note
        What came out, and how it was worked out.
    caption, drawings
        The figure: drawings by the name of their file.
    first, others
        How many drawings stand open, and what the others are folded away under; without such
        words all are open.
    numbers
        Tables, folded under the figure; `shown` says that they stand open.
    empty
        Whether there is nothing to show, and the finding says why.
    """

    finding: str
    caption: str = ""
    drawings: Mapping[str, Html] = field(default_factory=dict)
    numbers: Html = NOTHING
    note: str = ""
    shown: bool = False
    empty: bool = False
    first: int = 0
    others: str = ""


@dataclass(frozen=True, slots=True)
class Cast:
    """The models of a page, in the order of their colours, and its metrics by name."""

    models: tuple[str, ...]
    metrics: Mapping[str, Entry]

    def short(self, model: str, room: int) -> str:
        """Shorten a name; no two models are shown alike."""
        return apart(self.models, room)[model]

    def class_(self, model: str) -> str:
        """Name the classes of everything that belongs to a model."""
        return model_class(self.models.index(model))

    def title(self, rows: Sequence[Entry]) -> str:
        """Name the metric of some rows as one would say it, with the task it is of."""
        if not rows:
            return "value"
        name, task = str(rows[0].get("metric", "value")), str(rows[0].get("task") or "")
        known = self.metrics.get(name, {"title": name, "soft_title": f"soft {name}"})
        said = known["soft_title" if rows[0].get("labels") == "soft" else "title"]
        return f"{said}, {task}" if task else str(said)

    def sign(self, rows: Sequence[Entry]) -> int:
        """1 where more is better, by the metric of some rows, else -1."""
        known = self.metrics.get(str(rows[0].get("metric"))) if rows else None
        return -1 if known is not None and known["better"] == "lower" else 1

    def row(self, model: str, cells: Iterable[str]) -> Html:
        """Make a row of a table that belongs to a model."""
        shown = self.short(model, ROOM)
        return element(
            "tr",
            element("th", shown, title=model if shown != model else None),
            join(element("td", cell) for cell in cells),
            class_=self.class_(model),
        )


def cast_of(facts: Mapping[str, Any]) -> Cast:
    """Models and metrics of the facts."""
    metrics = {str(one["name"]): one for one in facts["metrics"]}
    return Cast(tuple(map(str, facts["models"])), metrics)


def value(row: Entry, key: str) -> float:
    """Read a number of a row; what is missing is nan.

    Examples
    --------
    >>> value({"low": 0.5}, "low"), value({"low": None}, "low"), value({"w": "inf"}, "w")
    (0.5, nan, inf)
    """
    read = numeral(row.get(key))
    return math.nan if read is None else read


def chosen(rows: Sequence[Entry]) -> list[Entry]:
    """Rows of the last task, the first metric and soft labels.

    Examples
    --------
    >>> chosen([{"task": "a", "labels": "soft"}, {"task": "b", "labels": "hard"},
    ...         {"task": "b", "labels": "soft"}])
    [{'task': 'b', 'labels': 'soft'}]
    """
    wanted = {}
    for key, place in (("task", -1), ("metric", 0)):
        known = list(dict.fromkeys(row[key] for row in rows if key in row))
        if known:
            wanted[key] = known[place]
    if any(row.get("labels") == "soft" for row in rows):
        wanted["labels"] = "soft"
    return [row for row in rows if all(row.get(key) == one for key, one in wanted.items())]


def several(rows: Sequence[Entry], key: str) -> list[Any]:
    """Different values of a column, in the order in which they come."""
    return list(dict.fromkeys(row[key] for row in rows))


def by(rows: Sequence[Entry], key: str) -> dict[Any, list[Entry]]:
    """Rows by the value of a column."""
    return {one: [row for row in rows if row[key] == one] for one in several(rows, key)}


def digits_of(rows: Iterable[Entry], low: str = "low", high: str = "high") -> int:
    """How many decimals suit the intervals of some rows."""
    return decimals([value(row, high) - value(row, low) for row in rows])


def written(row: Entry, names: tuple[str, str, str], digits: int) -> str:
    """Write a value with its interval."""
    middle, low, high = (value(row, name) for name in names)
    return f"{number(middle, digits)} {interval(low, high, digits)}"


def capital(words: str) -> str:
    """Begin with a capital letter.

    Examples
    --------
    >>> capital("soft AUROC")
    'Soft AUROC'
    """
    return words[:1].upper() + words[1:]


def redrawn(kind: object) -> str:
    """Name what a kind of redrawing draws anew, as one would say it.

    Examples
    --------
    >>> redrawn("items x panel"), redrawn("panel"), redrawn("posterior")
    ('items and annotators', 'annotators', 'possible truths')
    """
    words = str(kind).replace("panel", "annotators").replace("posterior", "possible truths")
    return words.replace(" x ", " and ")

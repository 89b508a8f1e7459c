"""Question: what the annotators were asked and how their answers were read, as the run says.

Two runs on the same files that read the answers differently differ here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.markup import Html
from equipoise.report.numerals import listing
from equipoise.report.tables import row, table
from equipoise.report.view import View

LISTED = 30  # classes and the like
NAMES = {
    "positive": "positive class",
    "at_least": "positive from this class upwards",
    "kind": "kind of labels",
    "exchangeable": "annotators are exchangeable",
    "columns": "columns of the input",
    "repeats": "repeated votes",
    "on_missing": "missing answers",
}


def written(value: Any) -> str:
    """Write a setting in words.

    Examples
    --------
    >>> written(["0", "1"]), written({"item": "image"}), written(False), written(None)
    ('0, 1', 'item: image', 'no', 'none')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return written([f"{name}: {written(part)}" for name, part in value.items()])
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = [written(part) for part in value]
        more = [f"and {len(parts) - LISTED} others"] if len(parts) > LISTED else []
        return ", ".join([*parts[:LISTED], *more])
    return str(value)


def sentence(view: View) -> str:
    """Say what counts as positive, where the question is a yes/no one."""
    asked = view.header.get("question") or {}
    if asked.get("at_least") is not None:
        return f"Positive is every class from {written(asked['at_least'])} upwards."
    if asked.get("positive") is not None:
        given = asked["positive"]
        names = given if isinstance(given, list | tuple) else [given]
        return f"Positive is {listing([written(name) for name in names], LISTED)}."
    return ""


def draw(view: View) -> Html:
    """List the question; old runs have none."""
    asked: Mapping[str, Any] = view.header.get("question") or {}
    rows = [
        row(NAMES.get(name, name.replace("_", " ")), [written(value)], room=LISTED * 2)
        for name, value in asked.items()
        if value not in (None, "", [], {})
    ]
    return table("How answers were read", ["Setting", "value"], rows, "plain")

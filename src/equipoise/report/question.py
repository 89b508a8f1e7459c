"""Question: what the annotators were asked and how their answers were read, as the run says.

Two runs on the same files that read the answers differently differ here.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.markup import Html, escape, join
from equipoise.report.numerals import listing
from equipoise.report.tables import folded, row, table
from equipoise.report.view import View

LISTED = 12  # classes and the like that are shown at once
ROOM = 60  # letters of the name of a setting
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
        more = [f"… {len(parts) - LISTED} more"] if len(parts) > LISTED else []
        return ", ".join([*parts[:LISTED], *more])
    return str(value)


def cell(value: Any) -> Html:
    """Write a setting for the table; the end of a long list is folded away.

    Lists may come as text, with commas between the parts.

    Examples
    --------
    >>> cell(["a", "b"])
    'a, b'
    >>> cell(",".join("abcdefghijklmn"))[-60:]
    'i, j, k, l<details><summary>… 2 more</summary>m, n</details>'
    """
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    parts = [written(part) for part in value] if listed else re.split(r",\s*", written(value))
    if isinstance(value, Mapping) or len(parts) <= LISTED + 1:
        return escape(written(value))
    rest = folded(f"… {len(parts) - LISTED} more", escape(", ".join(parts[LISTED:])))
    return join([escape(", ".join(parts[:LISTED])), rest])


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
        row(NAMES.get(name, name.replace("_", " ")), [cell(value)], room=ROOM)
        for name, value in asked.items()
        if value not in (None, "", [], {})
    ]
    return table("How answers were read", ["Setting", "value"], rows, "plain")

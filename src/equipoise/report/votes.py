"""Votes: what kind of question was asked, and whether anyone disagreed about the answer.

A yes/no question scores one class; a choice among several scores each class against the
rest, and its figures speak of the largest share, not of a positive one.
"""

from collections.abc import Mapping
from typing import Any

from equipoise.report.numerals import count
from equipoise.report.view import Panel, View

Entry = Mapping[str, Any]


def several(entry: Entry) -> bool:
    """Whether the question has several classes.

    Examples
    --------
    >>> several({"classes": ["cat", "dog", "owl"]}), several({"classes": ["ill"]}), several({})
    (True, False, False)
    """
    return len(entry.get("classes") or ()) > 1


def any_several(view: View) -> bool:
    """Whether any task of the run has several classes."""
    return any(several(entry) for entry in view.header["truth"])


def of_panel(panel: Panel) -> list[Entry]:
    """Truth of the panel's task; for an average over tasks, of all tasks."""
    return panel.view.of_task("truth", panel.task) or list(panel.view.header["truth"])


def whole(metric: Entry) -> bool:
    """Whether a metric compares whole distributions over the classes."""
    return metric.get("labels") == "distribution"


def by_most_votes(panel: Panel) -> bool:
    """Whether the hard label is the class with most votes, not only with more than half."""
    return whole(panel.facts) and any(several(entry) for entry in of_panel(panel))


def axis(entry: Entry) -> str:
    """Name what the figures of the votes show."""
    return "share of the most voted class" if several(entry) else "soft label"


def settled_words(panel: Panel) -> str:
    """Say that there is no disagreement, where the labels of every item are certain."""
    entries = of_panel(panel)
    if not entries or any(entry["unanimous"] != entry["items"] for entry in entries):
        return ""
    if all(entry["votes_per_item"][-1] == 1 for entry in entries):
        return "There is no disagreement to count: every item has a single vote."
    return (
        "There is no disagreement to count: the votes are unanimous on every item, "
        "so hard and soft labels are the same."
    )


def open_words(entry: Entry) -> str:
    """Count the items without a strict majority, and those with one vote."""
    said = ""
    undecided, single = entry.get("no_majority") or 0, entry.get("single_vote") or 0
    if undecided:
        have = "has" if undecided == 1 else "have"
        counts = "counts" if undecided == 1 else "count"
        side = "" if several(entry) else f" and {counts} as negative"
        said += f" {count(undecided, 'item')} {have} no strict majority{side}."
    if single:
        said += f" {count(single, 'item')} {'has' if single == 1 else 'have'} a single vote."
    return said

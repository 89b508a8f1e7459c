"""Votes: what kind of question was asked, and whether anyone disagreed about the answer.

A truth that comes from a model has no votes; its figures speak of plausibilities, which are
means over its draws.

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


def from_model(entry: Entry) -> bool:
    """Whether the truth of a task comes from a model; old runs tell by having no votes.

    Examples
    --------
    >>> from_model({"from_votes": False}), from_model({"votes": 0}), from_model({"votes": 9})
    (True, True, False)
    """
    return not entry.get("from_votes", entry.get("votes") != 0)


def any_model(view: View) -> bool:
    """Whether the truth of any task comes from a model."""
    return any(from_model(entry) for entry in view.header["truth"] if entry["items"])


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
    """Name what the figures of the truth show."""
    if from_model(entry):
        return f"plausibility of the {'leading' if several(entry) else 'positive'} class"
    return "share of the most voted class" if several(entry) else "soft label"


def settled_words(panel: Panel) -> str:
    """Say that there is no disagreement, where the labels of every item are certain."""
    entries = of_panel(panel)
    if not entries or any(entry["unanimous"] != entry["items"] for entry in entries):
        return ""
    if all(map(from_model, entries)):
        return "There is no disagreement to count: the truth of every item is certain."
    if all(entry["votes_per_item"][-1] == 1 for entry in entries):
        return "There is no disagreement to count: every item has a single vote."
    return (
        "There is no disagreement to count: the votes are unanimous on every item, "
        "so hard and soft labels are the same."
    )


def open_words(entry: Entry) -> str:
    """Count the items without a strict majority, and those with one vote."""
    if from_model(entry):
        return _plausible_words(entry)
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


def _plausible_words(entry: Entry) -> str:
    """Count the items on which no side is more plausible than all others together."""
    undecided = entry.get("no_majority") or 0
    if not undecided:
        return ""
    if several(entry):
        return (
            f" On {count(undecided, 'item')} no class has more than half of the plausibility."
        )
    return f" On {count(undecided, 'item')} both sides are equally plausible."


def disputed(entry: Entry) -> str:
    """Say which items the figures count as disputed."""
    if not several(entry):
        what = "plausibility of the positive class" if from_model(entry) else "soft label"
        return f"the {what} is above 0.25 and at most 0.75"
    of = "plausibility" if from_model(entry) else "votes"
    return f"the leading class has at most three quarters of the {of}"

"""Certainty of the truth on the page of an evaluation, task by task.

The run has it from the votes (a Dirichlet distribution per item); runs of earlier versions do
not have it, and their pages lack both sections.
"""

from equipoise.report import truth_certainty, truth_items
from equipoise.report.histogram import small
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import chance, count, listing, number, percent
from equipoise.report.tables import figure, finding, folded, row, table
from equipoise.report.truth_certainty import share_below
from equipoise.report.view import View
from equipoise.report.votes import Entry


def certainty(view: View, task: int) -> Html:
    """Show the certainties of a task, or small histograms of all tasks."""
    entries = view.of_task("certainty", task)
    if entries:
        return certainty_parts(entries[0])
    every: list[Entry] = list(view.header["certainty"])
    drawn = [small(entry, entry["task"], "certainty") for entry in every]
    return join(
        [
            finding(_open_words(every)),
            element("div", join(drawn), class_="many"),
            folded("Numbers: certainty by task", _by_task(every)),
        ]
    )


def certainty_parts(entry: Entry) -> Html:
    """Show the certainties of one task."""
    drawings = [*truth_certainty.draw(entry), truth_certainty.summary(entry)]
    return join(
        [
            finding(truth_certainty.finding(entry)),
            figure("Items by certainty", *drawings),
            folded("Numbers: certainty", truth_certainty.numbers(entry)),
        ]
    )


def ambiguous(view: View, task: int) -> Html:
    """Show the least certain items of a task, or the least certain one of every task."""
    entries = view.of_task("certainty", task)
    if entries:
        return ambiguous_parts(entries[0])
    firsts = [
        row(
            entry["task"],
            [
                listing([str(one["item"])]),
                chance(one["certainty"], 3),
                truth_items.plausible_words(one),
            ],
        )
        for entry in view.header["certainty"]
        for one in entry["ambiguous"][:1]
    ]
    heads = ["Task", "item", "certainty", "plausible classes"]
    said = "The least certain item of every task; choose a task for more."
    return join([finding(said), table("Least certain items", heads, firsts, "plain")])


def ambiguous_parts(entry: Entry) -> Html:
    """Show the least certain items of one task."""
    items = entry["ambiguous"]
    drawn = truth_items.draw(items)
    caption = f"The {count(len(items), 'item')} with the smallest certainty"
    caption = caption.replace("The 1 item ", "The item ")
    return join(
        [
            finding(truth_items.finding(items)),
            figure(caption, *drawn) if drawn else Html(""),
            folded("Numbers: ambiguous items", truth_items.numbers(items)),
        ]
    )


def _open_words(entries: list[Entry]) -> str:
    """Name the task whose truth is least settled."""
    most = max(entries, key=share_below)
    if not most["below"]:
        return "The votes settle every item of every task."
    return (
        f"{listing([most['task']])} is the least settled task: {percent(share_below(most))} of "
        f"its items have a certainty below {most['threshold']:g}."
    )


def _by_task(entries: list[Entry]) -> Html:
    """List the certainties of every task."""
    rows = [
        row(
            entry["task"],
            [
                count(entry["items"]),
                number(entry["mean"]),
                count(entry["below"]),
                percent(share_below(entry), 1),
            ],
        )
        for entry in entries
    ]
    heads = ["Task", "items", "mean certainty", "below 0.99", "share"]
    return table("Certainty by task", heads, rows)

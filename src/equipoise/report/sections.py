"""Sections: each a heading, a finding in words, a figure and its numbers.

What depends on task and metric is written once per panel and marked with both, so that the
page can show one at a time; what does not is written once.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from equipoise.report import (
    agreement_tasks,
    annotators,
    bump,
    dots,
    forest,
    hardest,
    heatmap,
    histogram,
    influence,
    leaderboard,
    matrix,
    method,
    moves,
    overview,
    reliability,
    retained,
    truth_run,
    votes,
    words,
)
from equipoise.report.gaps import endless, gaps
from equipoise.report.markup import Html, element, join
from equipoise.report.scope import scope_words
from equipoise.report.tables import figure, finding, folded
from equipoise.report.view import Panel, View


@dataclass(frozen=True, slots=True)
class Section:
    """One section: where it is, what it is called and what it shows.

    A section that `needs` a part of the run is left out of pages of runs without it.
    """

    anchor: str
    title: str
    body: Callable[[View], Html]
    needs: str = ""


def per_panel(make: Callable[[Panel], Html]) -> Callable[[View], Html]:
    """Write something once for every task and metric."""

    def body(view: View) -> Html:
        return join(
            element(
                "article",
                heading(panel.view.task_title(panel.task), panel.facts["title"]),
                make(panel),
                data_t=panel.task,
                data_k=panel.metric,
            )
            for panel in view.panels()
        )

    return body


def per_task(make: Callable[[View, int], Html]) -> Callable[[View], Html]:
    """Write something once for every task."""

    def body(view: View) -> Html:
        return join(
            element("article", heading(view.task_title(task)), make(view, task), data_t=task)
            for task in range(len(view.header["tasks"]))
        )

    return body


def heading(*names: str) -> Html:
    """Head a panel with its task and metric; a single task may have no name."""
    title = " · ".join(filter(None, names))
    return element("h3", title) if title else Html("")


def _verdict(panel: Panel) -> Html:
    """Say the outcome and draw the lead of the best."""
    found = words.verdicts(panel)
    drawn = dots.draw(found)
    standings = [element("p", words.standing(each)) for each in found]
    change, scope = words.change(panel), scope_words(panel.view)
    caption = "Lead of the best model over the runner-up: 50 dots stand for the resamples"
    return join(
        [
            element("p", words.headline(panel), class_="headline"),
            element("p", scope, class_="scope") if scope else Html(""),
            element("div", *standings, class_="columns"),
            element("p", change, class_="change") if change else Html(""),
            figure(f"{caption}; ▲ the lead in the data", *drawn) if drawn else Html(""),
        ]
    )


def _leaderboard(panel: Panel) -> Html:
    """Show the leaderboard."""
    told = [*endless(panel), *gaps(panel)]
    notes = join(element("p", said, class_="note") for said in told)
    return join([finding(moves.moved_words(panel)), leaderboard.draw(panel), notes])


def _forest(panel: Panel) -> Html:
    """Show the forest plot."""
    drawn = forest.draw(panel)
    caption = f"Score, {panel.view.level} interval and middle half of the resamples"
    return join(
        [
            finding(forest.finding(panel)),
            figure(caption, *drawn) if drawn else Html(""),
            folded("Numbers: scores, intervals, shifts", forest.numbers(panel)),
        ]
    )


def _bump(panel: Panel) -> Html:
    """Show the change of ranks."""
    drawn = bump.draw(panel)
    if drawn is None:
        blank = moves.unranked_words(panel) or "There are no two rankings to compare."
        steady = bump.stability(panel) if bump.steady(panel) else Html("")
        return join([finding(blank), steady])
    return join(
        [
            finding(moves.steady_words(panel)),
            figure("Rank with hard labels, and with soft labels", drawn, bump.stability(panel)),
            folded("Numbers: ranks", bump.numbers(panel)),
        ]
    )


def _heatmap(panel: Panel) -> Html:
    """Show the rank probabilities."""
    drawn = heatmap.draw(panel)
    if not drawn:
        return finding(heatmap.finding(panel))
    return join(
        [
            finding(heatmap.finding(panel)),
            figure("Share of resamples in which a model comes in at a rank", *drawn),
            folded("Numbers: rank probabilities", *heatmap.numbers(panel)),
        ]
    )


def _matrix(panel: Panel) -> Html:
    """Show the paired differences."""
    drawn = matrix.draw(panel)
    if not drawn:
        return finding(matrix.finding(panel))
    return join(
        [
            finding(matrix.finding(panel)),
            figure(matrix.caption(panel), *drawn),
            folded("Numbers: paired leads", matrix.numbers(panel)),
        ]
    )


def _annotators(view: View, task: int) -> Html:
    """Show the annotators of a task, or strips of all tasks."""
    if not view.header["annotators"] and votes.any_model(view):
        said = (
            "The truth comes from a model of the votes, so no single annotator is told of here."
        )
        below = " How far they agree is told below." if view.header.get("agreement") else ""
        return finding(f"{said}{below}")
    if not view.header["annotators"]:
        return finding("The votes are anonymous, so nothing can be said of single annotators.")
    entries = view.of_task("annotators", task)
    if entries:
        return join(
            [
                finding(annotators.finding(entries)),
                figure(annotators.caption(entries), *annotators.draw(entries)),
                folded("Numbers: annotators", annotators.numbers(entries)),
            ]
        )
    return join(
        [
            finding(annotators.strips_finding(view)),
            figure(annotators.strips_caption(view), *annotators.strips(view)),
            folded("Numbers: annotators", annotators.strips_numbers(view)),
        ]
    )


def _histogram(view: View, task: int) -> Html:
    """Show the soft labels of a task, or small histograms of all tasks."""
    entries = view.of_task("truth", task)
    if entries:
        what = votes.axis(entries[0])
        title = "Items by soft label" if what == "soft label" else what.capitalize()
        return join(
            [
                finding(histogram.finding(entries[0])),
                figure(title, histogram.draw(entries[0]),
                       histogram.summary(entries[0])),
                folded(f"Numbers: {what}", histogram.numbers(entries[0])),
            ]
        )  # fmt: skip
    small = [histogram.small(entry, entry["task"]) for entry in view.header["truth"]]
    return join(
        [
            finding(overview.disputed_words(view)),
            element("div", join(small), class_="many"),
            folded("Numbers: items and votes", overview.truth_numbers(view)),
        ]
    )


def _influence(panel: Panel) -> Html:
    """Show the items that matter most for a comparison."""
    entry = panel.entry("influential")
    if entry is None:
        return influence.overview(panel)
    drawn = influence.draw(panel, entry)
    who = "truth" if votes.any_model(panel.view) else "votes"
    caption = f"Influence on the difference, and where the models and the {who} put the item"
    return join(
        [
            finding(influence.finding(panel, entry)),
            figure(caption, *drawn) if drawn else Html(""),
            folded("Numbers: influential items", influence.numbers(panel, entry)),
        ]
    )


SECTIONS = (
    Section("verdict", "Verdict", per_panel(_verdict)),
    Section("leaderboard", "Leaderboard", per_panel(_leaderboard)),
    Section("forest", "Scores and their intervals", per_panel(_forest)),
    Section("ranks", "From hard to soft", per_panel(_bump)),
    Section("probabilities", "How sure is each rank", per_panel(_heatmap)),
    Section("differences", "Every pair of models", per_panel(_matrix)),
    Section(
        "reliability",
        "Do probabilities mean what they say",
        per_task(reliability.body),
        "reliability",
    ),
    Section("retained", "Without the worst items", per_task(retained.body), "retained"),
    Section("hardest", "Hardest items", per_task(hardest.body), "hardest"),
    Section("annotators", "Annotators", per_task(_annotators)),
    Section(
        "agreement", "How far annotators agree", per_task(agreement_tasks.body), "agreement"
    ),
    Section("labels", "What the votes leave open", per_task(_histogram)),
    Section(
        "certainty", "How certain is the truth", per_task(truth_run.certainty), "certainty"
    ),
    Section("ambiguous", "Most ambiguous items", per_task(truth_run.ambiguous), "certainty"),
    Section("items", "Items that matter most", per_panel(_influence), "influential"),
    Section("method", "Method", method.draw),
)


MODELLED = {"labels": "What the model leaves open"}


def sections(view: View) -> list[Section]:
    """The sections that a run has something for."""
    found = [part for part in SECTIONS if not part.needs or view.header.get(part.needs)]
    if not votes.any_model(view):
        return found
    return [replace(part, title=MODELLED.get(part.anchor, part.title)) for part in found]

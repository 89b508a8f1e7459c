"""Sections: each a heading, a finding in words, a figure, its numbers and a note on method.

What depends on task and metric is written once per panel and marked with both, so that the
page can show one at a time; what does not is written once.
"""

from collections.abc import Callable
from dataclasses import dataclass

from equipoise.report import (
    annotators,
    bump,
    dots,
    forest,
    heatmap,
    histogram,
    influence,
    leaderboard,
    matrix,
    method,
    overview,
    words,
)
from equipoise.report.markup import Html, element, join
from equipoise.report.tables import figure, folded
from equipoise.report.view import Panel, View


@dataclass(frozen=True, slots=True)
class Section:
    """One section: where it is, what it is called, what it shows and how it was made."""

    anchor: str
    title: str
    note: str
    body: Callable[[View], Html]


def finding(sentence: str) -> Html:
    """Set the finding of a section."""
    return element("p", sentence, class_="finding") if sentence else Html("")


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
    drawn = [picture for each in found if (picture := dots.draw(each)) is not None]
    standings = [element("p", words.standing(each)) for each in found]
    change = words.change(panel)
    caption = "Lead of the best model over the runner-up: each dot is 1 of 50 equally likely"
    return join(
        [
            element("p", words.headline(panel), class_="headline"),
            element("div", *standings, class_="columns"),
            element("p", change, class_="change") if change else Html(""),
            figure(f"{caption} outcomes; ▲ the lead in the data", *drawn)
            if drawn
            else Html(""),
        ]
    )


def _leaderboard(panel: Panel) -> Html:
    """Show the leaderboard."""
    return join([finding(words.moved_words(panel)), leaderboard.draw(panel)])


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
        return finding("There are no two rankings to compare.")
    return join(
        [
            finding(words.steady_words(panel)),
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
    if not view.header["annotators"]:
        return finding("The votes are anonymous, so nothing can be said of single annotators.")
    entries = view.of_task("annotators", task)
    if entries:
        return join(
            [
                finding(annotators.finding(entries)),
                figure("Annotators from the lowest to the highest base rate",
                       *annotators.draw(entries)),
                folded("Numbers: annotators", annotators.numbers(entries)),
            ]
        )  # fmt: skip
    return join(
        [
            finding("How often annotators say yes, task by task; choose a task for names."),
            figure("One dot per annotator; line: all votes", *annotators.strips(view)),
            folded("Numbers: base rates", annotators.strips_numbers(view)),
        ]
    )


def _histogram(view: View, task: int) -> Html:
    """Show the soft labels of a task, or small histograms of all tasks."""
    entries = view.of_task("truth", task)
    if entries:
        return join(
            [
                finding(histogram.finding(entries[0])),
                figure("Items by soft label", histogram.draw(entries[0]),
                       histogram.summary(entries[0])),
                folded("Numbers: soft labels", histogram.numbers(entries[0])),
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
    caption = "Influence on the difference, and where the models and the votes put the item"
    return join(
        [
            finding(influence.finding(panel, entry)),
            figure(caption, *drawn) if drawn else Html(""),
            folded("Numbers: influential items", influence.numbers(panel, entry)),
        ]
    )


SECTIONS = (
    Section(
        "verdict", "Verdict",
        "A lead is the paired difference in favour of the first model (the sign is turned "
        "where lower is better), taken over the same resamples. If its interval includes "
        "0, the data do not separate the two models. † marks a score outside its own interval.",
        per_panel(_verdict),
    ),
    Section(
        "leaderboard", "Leaderboard",
        "Models stand in the order of their soft rank, here and in every figure. Ties share "
        "the mean of their ranks. ▲ means a better rank with soft labels. † marks a score "
        "outside its own interval, explained under the forest plot.",
        per_panel(_leaderboard),
    ),
    Section(
        "forest", "Scores and their intervals",
        "Equal lengths are equal differences in both drawings. Mark: the score. Thin line: the "
        "interval; thick line: the middle half of the resamples; tick: their mean. The shift "
        "is that mean minus the score. Resampling votes or readers makes majorities less clear "
        "than they were, so hard scores tend to shift (mostly for the worse) and an interval "
        "can leave its own score out (†, dashed line). Read such an interval as how steady the "
        "score is, not as where the truth lies. Soft labels move smoothly with the votes, so "
        "their scores usually shift little.",
        per_panel(_forest),
    ),
    Section(
        "ranks", "From hard to soft",
        "Thick lines change rank. Steadiness is the mean Spearman correlation of the resampled "
        "order with the original one: 1 is an order that never changes.",
        per_panel(_bump),
    ),
    Section(
        "probabilities", "How sure is each rank",
        "Each row adds up to 100%. A steady ranking is a dark diagonal; a wide row is a model "
        "whose place the data leave open.",
        per_panel(_heatmap),
    ),
    Section(
        "differences", "Every pair of models",
        "Follow a cell’s column up to one model and its row right to the other: the cell is "
        "the lead of the first. Orange means the order is the other way round. Intervals are "
        "not adjusted for the number of pairs, so among many equal models a few dots are "
        "expected.",
        per_panel(_matrix),
    ),
    Section(
        "annotators", "Annotators",
        "The positive share is over the votes each annotator gave. Agreement is with the mean "
        "of the others on the same items.",
        per_task(_annotators),
    ),
    Section(
        "labels", "What the votes leave open",
        "The soft label of an item is the share of positive votes it received, or what the "
        "chosen aggregation made of them. Hard labels keep only the side of the majority.",
        per_task(_histogram),
    ),
    Section(
        "items", "Items that matter most",
        "The influence of an item is the change of the difference if that item were left out. "
        "A position is the share of items that the model scores lower. Look here first for "
        "wrong votes and for cases worth a second reading.",
        per_panel(_influence),
    ),
    Section("method", "Method", "", method.draw),
)  # fmt: skip

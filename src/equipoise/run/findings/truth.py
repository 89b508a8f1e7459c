"""The truth: what votes leave open, how certain it is, and the items that matter most.

What belongs to one task is shown with it; for the average over tasks there is one row per task.
"""

import math
from collections.abc import Sequence

from equipoise.findings import (
    Bar,
    Case,
    Cases,
    Chart,
    Column,
    Finding,
    Histogram,
    Line,
    Lines,
    Row,
    Table,
)
from equipoise.numbers import count, number, percent
from equipoise.run.findings.annotators import agreement_findings, annotator_findings
from equipoise.run.findings.influence import influence_findings
from equipoise.run.findings.panels import RunView, listing, noted_once
from equipoise.run.findings.predictions import vote_words
from equipoise.run.record import (
    AmbiguousItem,
    Bins,
    CertaintyRow,
    TruthRow,
)
from equipoise.wording import capital

RARE = 0.25  # with fewer uncertain items, these are drawn once more by themselves
NEAR = 0.8  # a second class with this part of the first is nearly as plausible
LABELS_NOTE = (
    "The soft label of an item is the share of positive votes it received, or what the chosen "
    "aggregation made of them. Hard labels keep only the side of the majority."
)
CLASSES_NOTE = (
    "The soft label of an item gives each class the share of votes it received, or what the "
    "chosen aggregation made of them; the figure shows the largest share. Hard labels keep "
    "only the class with "
)
MODELLED_NOTE = (
    "The soft label of an item is the mean of the draws of the model: how plausible each class "
    "is. Hard labels keep only the class with more than half of that mean, or, for metrics of "
    "whole distributions, with most of it."
)
CERTAINTY_NOTE = (
    "The certainty of an item is the probability that the class that leads it really is the "
    "most plausible one. Here it comes from the votes alone: every item has a Dirichlet "
    "distribution over the classes, which counts each vote once and believes without votes "
    "what the votes of all items say, and the probability is exact. Annotators count alike."
)
AMBIGUOUS_NOTE = (
    "Bars show the mean share of each class under the same distribution, the leading class "
    "first; the last piece is all classes not named. Entropy is that of the mean shares, in "
    "nats."
)


def truth_findings(view: RunView) -> list[Finding]:
    """All that is said of annotators, votes and items, section by section."""
    makers = (
        annotator_findings,
        agreement_findings,
        _label_findings,
        _certainty_findings,
        _ambiguous_findings,
        influence_findings,
    )
    return [finding for make in makers for finding in noted_once(make(view))]


# ---- what the votes leave open -------------------------------------------------------------


def _label_findings(view: RunView) -> list[Finding]:
    title = "What the model leaves open" if view.any_model else "What the votes leave open"
    note = _labels_note(view)
    made = [
        Finding(
            key="labels",
            title=title,
            sentence=label_words(row),
            tables=(_truth_table([row]), _bins_table(row)),
            charts=(_truth_chart(row),),
            note=note,
            task=row.task,
            brief=False,
        )
        for row in view.record.truth
    ]
    if len(view.record.truth) < 2:
        return made
    small = [_truth_chart(row, named=True) for row in view.record.truth]
    every = Finding(
        key="labels",
        title=title,
        sentence=_disputed_words(view.record.truth),
        tables=(_truth_table(view.record.truth, file=False),),
        charts=tuple(small),
        note=note,
        brief=False,
    )
    return [*made, view.overview(every)]


def _labels_note(view: RunView) -> str:
    if view.any_model:
        return MODELLED_NOTE
    if not view.any_several:
        return LABELS_NOTE
    names = [one.title for one in view.record.metrics if one.labels == "distribution"]
    if len(names) == len(view.record.metrics):
        return f"{CLASSES_NOTE}most votes, shared by tied classes."
    if not names:
        return f"{CLASSES_NOTE}more than half."
    tied = f"for {listing(names)} that with most, shared by tied classes."
    return f"{CLASSES_NOTE}more than half; {tied}"


def truth_axis(row: TruthRow) -> str:
    """Name what the figures of the truth show."""
    if row.from_model:
        return f"plausibility of the {'leading' if row.several else 'positive'} class"
    return "share of the most voted class" if row.several else "soft label"


def _disputed(row: TruthRow) -> str:
    """Say which items are counted as disputed."""
    if not row.several:
        what = "plausibility of the positive class" if row.from_model else "soft label"
        return f"the {what} is above 0.25 and at most 0.75"
    of = "plausibility" if row.from_model else "votes"
    return f"the leading class has at most three quarters of the {of}"


def contested(row: TruthRow) -> int:
    """Count items whose soft label is above a quarter and at most three quarters.

    With several classes, those whose leading class has at most three quarters.
    """
    start = 0.0 if row.several else 0.25
    return sum(
        total
        for low, high, total in _ranges(row.histogram)
        if low >= start - 1e-9 and high <= 0.75 + 1e-9
    )


def _ranges(bins: Bins) -> list[tuple[float, float, int]]:
    return list(zip(bins.edges, bins.edges[1:], bins.counts, strict=False))


def label_words(row: TruthRow) -> str:
    """Say how many items the annotators agree on, and how many they dispute."""
    if not row.items:
        return "There are no items with votes."
    middle = contested(row)
    if row.from_model:
        return (
            f"The truth comes from a model: by the mean of its draws, on {count(middle)} of "
            f"{count(row.items, 'item')} ({percent(middle / row.items)}) {_disputed(row)}."
            f"{_open_words(row)}"
        )
    if row.gold == row.items:
        return f"Adjudicated gold settles all {count(row.items, 'item')}."
    return (
        f"The votes are unanimous on {count(row.unanimous)} of {count(row.items, 'item')} "
        f"({percent(row.unanimous / row.items)}); on {count(middle)} "
        f"({percent(middle / row.items)}) {_disputed(row)}.{_open_words(row)}"
    )


def _open_words(row: TruthRow) -> str:
    """Count the items that are tied, and those with one vote."""
    items = count(row.no_majority, "item")
    if row.from_model:
        if not row.no_majority:
            return ""
        if row.several:
            return f" On {items} several classes are most plausible."
        return f" On {items} both sides are equally plausible."
    said = ""
    if row.no_majority:
        said += f" {items} {_tied_words(row)}."
    if row.single_vote:
        have = "has" if row.single_vote == 1 else "have"
        said += f" {count(row.single_vote, 'item')} {have} a single vote."
    return said


def _tied_words(row: TruthRow) -> str:
    """What is true of tied items, and what hard labels make of them."""
    have, counts = ("has", "counts") if row.no_majority == 1 else ("have", "count")
    if row.ties == "negative":
        return f"{have} no strict majority{'' if row.several else f' and {counts} as negative'}"
    what = "several classes with most votes" if row.several else "a tied vote"
    how = "left out" if row.ties == "drop" else "shared" if row.several else "counted 1/2"
    return f"{have} {what}, {how} for hard labels"


def _disputed_words(rows: Sequence[TruthRow]) -> str:
    """Name the task on which the annotators disagree most."""
    shares = {row.task: contested(row) / row.items for row in rows if row.items}
    if not shares:
        return "No votes were described."
    most = max(shares, key=lambda task: shares[task])
    if not shares[most]:
        return "No task has items that are disputed."
    how = _disputed(next(row for row in rows if row.task == most))
    return f"{most} is the most disputed task: on {percent(shares[most])} of its items {how}."


def _truth_table(rows: Sequence[TruthRow], *, file: bool = True) -> Table:
    """Items and votes of some tasks; a truth from a model has no votes."""
    modelled = any(row.from_model for row in rows)
    several = any(row.several for row in rows)
    if modelled:
        first = "items with a class above one half" if several else "positive above one half"
        mean = f"mean plausibility of the {'leading' if several else 'positive'} class"
    else:
        first = "items with a majority class" if several else "positive by majority"
        mean = "mean share of the leading class" if several else "mean soft label"
    votes = [Column("votes", "votes", "count"), Column("per_item", "votes per item")]
    return Table(
        name="truth",
        caption="Items and plausibilities" if modelled else "Items and votes",
        columns=(
            *([Column("task", "task")] if rows[0].task else []),
            Column("items", "items", "count"),
            *([] if modelled else votes),
            Column("positives_hard", first, "count"),
            Column("mean_soft", mean, "number"),
            Column("unanimous", "certain" if modelled else "unanimous", "count"),
            Column("disputed", "disputed", "count"),
        ),
        rows=[
            {
                "task": row.task,
                "items": row.items,
                "votes": row.votes,
                "per_item": _per_item(row),
                "positives_hard": row.positives_hard,
                "mean_soft": row.mean_soft,
                "unanimous": row.unanimous,
                "disputed": contested(row),
            }
            for row in rows
        ],
        open=True,
        file=file,
    )


def _per_item(row: TruthRow) -> str:
    low, middle, high = row.votes_per_item
    return count(middle) if low == high else f"{count(middle)} ({count(low)} to {count(high)})"


def _truth_chart(row: TruthRow, *, named: bool = False) -> Chart:
    axis = truth_axis(row)
    return Histogram(
        name="soft-labels" if not named else f"soft-labels-{row.task}",
        caption=row.task if named else capital(axis),
        alternative=f"Histogram of the {axis} of {count(row.items, 'item')}.",
        x=axis,
        y="items",
        bars=_bars(row.histogram),
        marks=((0.5, "one half" if row.from_model else "majority"),),
    )


def _bars(bins: Bins) -> list[Bar]:
    return [
        Bar(label=number(low, 2), value=float(total), ends=(low, high))
        for low, high, total in _ranges(bins)
    ]


def _bins_table(row: TruthRow | CertaintyRow) -> Table:
    """The bars that are not empty."""
    title = "certainty" if isinstance(row, CertaintyRow) else truth_axis(row)
    return Table(
        name="certainty_bins" if isinstance(row, CertaintyRow) else "truth_bins",
        caption=f"{capital(title)} (empty ranges left out)",
        columns=(
            Column("range", title),
            Column("items", "items", "count"),
            Column("share", "share", "percent"),
        ),
        rows=[
            {
                "task": row.task,
                "range": f"{'from' if low == 0 else 'above'} {number(low, 2)} to "
                f"{number(high, 2)}",
                "items": total,
                "share": total / (row.items or 1),
            }
            for low, high, total in _ranges(row.histogram)
            if total
        ],
        file=False,
    )


# ---- certainty -----------------------------------------------------------------------------


def _share_below(row: CertaintyRow) -> float:
    return row.below / row.items if row.items else 0.0


def _certainty_findings(view: RunView) -> list[Finding]:
    rows = view.record.certainty
    key, title = "certainty", "How certain is the truth"
    made = [
        Finding(
            key=key,
            title=title,
            sentence=certainty_words(row),
            tables=(_certainty_table([row]), _bins_table(row)),
            charts=tuple(_certainty_charts(row)),
            note=f"{CERTAINTY_NOTE} {row.method}.",
            task=row.task,
            brief=False,
        )
        for row in rows
    ]
    if len(rows) < 2:
        return made
    most = max(rows, key=_share_below)
    said = "The votes settle every item of every task."
    if most.below:
        said = (
            f"{most.task} is the least settled task: {percent(_share_below(most))} of its "
            f"items have a certainty below {most.threshold:g}."
        )
    every = Finding(
        key=key,
        title=title,
        sentence=said,
        tables=(_certainty_table(rows, file=False),),
        charts=tuple(_certainty_bars(row, row.task) for row in rows),
        note=CERTAINTY_NOTE,
        brief=False,
    )
    return [*made, view.overview(every)]


def certainty_words(row: CertaintyRow) -> str:
    """Say for how many items the truth is open."""
    if not row.items:
        return "There are no items with votes."
    mean = number(row.mean)
    if not row.below:
        return (
            f"The annotations settle every item: no certainty is below {row.threshold:g}, the "
            f"mean is {mean}."
        )
    return (
        f"For {count(row.below)} of {count(row.items, 'item')} ({percent(_share_below(row))}) "
        f"the annotations leave open which class is right (certainty below {row.threshold:g}); "
        f"the mean certainty is {mean}."
    )


def _certainty_bars(row: CertaintyRow, caption: str) -> Chart:
    return Histogram(
        name="certainty" if caption != row.task else f"certainty-{row.task}",
        caption=caption,
        alternative=f"Histogram of the certainty of {count(row.items, 'item')}.",
        x="certainty of an item",
        y="items",
        bars=_bars(row.histogram),
        marks=((row.threshold, f"{row.threshold:g}"),),
    )


def _certainty_charts(row: CertaintyRow) -> list[Chart]:
    charts = [_certainty_bars(row, "Items by certainty")]
    if row.curve:
        below = _share_below(row)
        words = f"{percent(below)} below {row.threshold:g}"
        charts.append(
            Lines(
                name="certainty-sorted",
                caption="Items from the least to the most certain",
                alternative=f"Certainty of {count(row.items, 'item')}, sorted: {words}.",
                x="share of items, from the least certain",
                y="certainty",
                lines=[
                    Line(
                        name="certainty",
                        points=[(float(x), float(y)) for x, y in row.curve],
                        dots=False,
                    )
                ],
                marks=((below, words),),
                x_range=(0.0, 1.0),
                y_range=(0.9, 1.0),
            )
        )
    if row.histogram.below and 0 < _share_below(row) < RARE:
        few = Bins(edges=row.histogram.edges, counts=row.histogram.below)
        charts.append(
            Histogram(
                name="certainty-below",
                caption=f"Only items below {row.threshold:g}",
                x="certainty of an item",
                y="items",
                bars=_bars(few),
            )
        )
    return charts


def _certainty_table(rows: Sequence[CertaintyRow], *, file: bool = True) -> Table:
    return Table(
        name="certainty",
        caption="Certainty of the items",
        columns=(
            *([Column("task", "task")] if rows[0].task else []),
            Column("items", "items", "count"),
            Column("classes", "classes", "count"),
            Column("mean", "mean certainty", "number"),
            Column("least", "smallest certainty", "number"),
            Column("below", f"below {rows[0].threshold:g}", "count"),
            Column("share", "share", "percent"),
        ),
        rows=[
            {
                "task": row.task,
                "items": row.items,
                "classes": row.classes,
                "mean": row.mean,
                "least": row.ambiguous[0].certainty if row.ambiguous else math.nan,
                "below": row.below,
                "share": _share_below(row),
            }
            for row in rows
        ],
        open=True,
        file=file,
    )


def _ambiguous_findings(view: RunView) -> list[Finding]:
    rows = view.record.certainty
    made = [_ambiguous(view, row) for row in rows]
    if len(rows) < 2:
        return made
    firsts = [_item_row(row.task, one) for row in rows for one in row.ambiguous[:1]]
    every = Finding(
        key="ambiguous",
        title="Most ambiguous items",
        sentence="The least certain item of every task; choose a task for more.",
        tables=(_ambiguous_table(firsts, "Least certain items", by_task=True, file=False),),
        note=AMBIGUOUS_NOTE,
        brief=False,
    )
    return [*made, view.overview(every)]


def _ambiguous(view: RunView, row: CertaintyRow) -> Finding:
    items = row.ambiguous
    many = f"The {count(len(items), 'item')}" if len(items) != 1 else "The item"
    chart = Cases(
        name="ambiguous",
        caption=f"{many} with the smallest certainty",
        alternative=f"How plausible the classes of {count(len(items), 'ambiguous item')} are.",
        classes=(),
        rows=[
            Case(
                name=one.item,
                shares=[*(part.mass for part in one.plausible), one.others],
                remark=f"certainty {number(one.certainty, 2)}",
            )
            for one in items
        ],
    )
    rows = [_item_row(row.task, one) for one in items]
    return Finding(
        key="ambiguous",
        title="Most ambiguous items",
        sentence=ambiguous_words(items),
        tables=(
            _ambiguous_table(rows, "The least certain items", by_task=bool(view.task_columns)),
        )
        if items
        else (),
        charts=(chart,) if items else (),
        note=AMBIGUOUS_NOTE,
        task=row.task,
        brief=False,
    )


def _item_row(task: str, one: AmbiguousItem) -> Row:
    parts = [f"{part.class_}: {percent(part.mass)}" for part in one.plausible]
    parts += [f"others: {percent(one.others)}"] if one.others > 5e-4 else []
    return {
        "task": task,
        "item": one.item,
        "certainty": one.certainty,
        "entropy": one.entropy,
        "plausible": ", ".join(parts),
        "votes": vote_words(one.counts) or count(one.votes),
    }


def _ambiguous_table(
    rows: Sequence[Row], caption: str, *, by_task: bool, file: bool = True
) -> Table:
    return Table(
        name="ambiguous_items",
        caption=caption,
        columns=(
            *([Column("task", "task")] if by_task else []),
            Column("item", "item"),
            Column("certainty", "certainty", "number"),
            Column("entropy", "entropy", "number"),
            Column("plausible", "plausible classes"),
            Column("votes", "votes, first choices"),
        ),
        rows=rows,
        open=not file,
        file=file,
    )


def ambiguous_words(items: Sequence[AmbiguousItem]) -> str:
    """Name the least certain item and what it could be."""
    if not items:
        return "There are no items with votes."
    one = items[0]
    parts, certain = one.plausible, number(one.certainty, 2)
    if len(parts) < 2:
        leads = f"class {parts[0].class_} leads" if parts else "no class leads"
        return f"Item {one.item} is the least certain: {leads}, with a certainty of {certain}."
    first, second = (f"{part.class_} ({percent(part.mass)})" for part in parts[:2])
    near = parts[1].mass >= NEAR * parts[0].mass
    how = (
        f"classes {first} and {second} are nearly equally plausible"
        if near
        else f"class {first} leads before {second}"
    )
    return f"Item {one.item} is the least certain: {how}, and its certainty is {certain}."

"""Items that matter most: those whose presence decides between the two best models."""

import math
from dataclasses import asdict

from equipoise.findings import Case, Cases, Column, Dot, Dots, Finding, Row, Table
from equipoise.numbers import change, count
from equipoise.run.findings.panels import Panel, RunView
from equipoise.run.record import InfluentialItem, InfluentialRow

ITEMS_NOTE = (
    "The influence of an item is, to first order, the change of the difference if that item "
    "were left out. A position is the share of items that the model scores lower. Look here "
    "first for wrong votes and for cases worth a second reading."
)


def influence_findings(view: RunView) -> list[Finding]:
    """The items of every task on which the comparison of its two best models hangs."""
    if not view.record.influential:
        return []
    found = {(row.task, row.metric): row for row in view.record.influential}
    made = []
    for panel in view.panels():
        row = found.get((panel.task, panel.metric.name))
        made.append(
            panel.under(_influence_overview(panel) if row is None else _influence(panel, row))
        )
    return made


def _traced(row: InfluentialRow) -> list[InfluentialItem]:
    return [item for item in row.items if not math.isnan(item.influence)]


def _influence(panel: Panel, row: InfluentialRow) -> Finding:
    """The items on which the comparison of two models hangs."""
    items, pair = _traced(row), f"{row.a} − {row.b}"
    who = "truth" if panel.view.any_model else "votes"
    share = _share_title(panel)
    bars = Dots(
        name="influence",
        caption=f"Approximate change of {pair} without an item",
        alternative=f"Influence of {count(len(items), 'item')} on the difference {pair}.",
        axis=f"change of {pair}",
        rows=[Dot(item.item, item.influence, remark=change(item.influence)) for item in items],
        zero=True,
    )
    places = Cases(
        name="positions",
        caption=f"Where the models and the {who} put the item (bar: {share})",
        alternative=f"Where both models and the {who} put {count(len(items), 'item')}.",
        classes=(),
        rows=[
            Case(
                name=item.item,
                shares=(item.soft_label,),
                marks=((row.a, item.position_a), (row.b, item.position_b)),
                remark=change(item.influence),
            )
            for item in items
        ],
        axis="position (0 lowest, 1 highest)",
    )
    votes = [] if panel.view.any_model else [Column("votes", "votes", "count")]
    table = Table(
        name="influential_items",
        caption="Most influential items",
        columns=(
            Column("item", "item"),
            *panel.view.panel_columns,
            Column("influence", "influence", "change"),
            Column("soft_label", share, "number"),
            *votes,
            Column("position_a", f"scored lower by {row.a}", "percent"),
            Column("position_b", f"scored lower by {row.b}", "percent"),
        ),
        rows=[
            {"task": row.task, "metric": row.metric, "a": row.a, "b": row.b, **asdict(item)}
            for item in row.items
        ],
    )
    return Finding(
        key="items",
        title="Items that matter most",
        sentence=influence_words(panel, row),
        tables=(table,),
        charts=(bars, places) if items else (),
        note=ITEMS_NOTE,
        brief=False,
    )


def _share_title(panel: Panel) -> str:
    if panel.view.any_model:
        return "plausibility"
    return "largest share" if any(row.several for row in panel.truths) else "soft label"


def influence_words(panel: Panel, row: InfluentialRow) -> str:
    """Say whether one item could turn the comparison."""
    items, pair = _traced(row), f"{row.a} − {row.b}"
    if not items:
        return f"No item has a defined influence on {pair}."
    top = max(items, key=lambda item: abs(item.influence))
    said = f"Leaving out {top.item} alone would change {pair} by about {change(top.influence)}"
    gap = panel.lead(row.labels, row.a, row.b).value * panel.sign
    if math.isnan(gap):
        return f"{said}."
    turning = [item for item in items if gap * (gap + item.influence) < 0]
    now = f"which is {change(gap)} now"
    if turning:
        return f"{said}, {now}: {count(len(turning), 'item')} could each reverse the order."
    return f"{said}, {now}: no single item would reverse the order."


def _influence_overview(panel: Panel) -> Finding:
    """The most influential item of every task, for the average over tasks."""
    rows: list[Row] = []
    for row in panel.view.record.influential:
        items = _traced(row)
        if row.metric == panel.metric.name and items:
            top = max(items, key=lambda item: abs(item.influence))
            pair = f"{row.a} − {row.b}"
            rows.append(
                {"task": row.task, "item": top.item, "pair": pair, "influence": top.influence}
            )
    said = "Items have influence within a task; choose a task for its figure."
    if not rows:
        said = "No items were traced for this comparison."
        if panel.metric.labels == "distribution" and panel.view.record.hardest:
            said += " Influence is known for metrics of ranks; see the hardest items above."
    table = Table(
        name="influence_by_task",
        caption="The most influential item of every task",
        columns=(
            Column("task", "task"),
            Column("item", "most influential item"),
            Column("pair", "difference"),
            Column("influence", "influence", "change"),
        ),
        rows=rows,
        open=True,
        file=False,
    )
    return Finding(
        key="items",
        title="Items that matter most",
        sentence=said,
        tables=(table,) if rows else (),
        note=ITEMS_NOTE,
        brief=False,
    )

"""Annotators of a run: how often each says yes, how far each agrees, and all with all.

What is said of one task is what `equipoise.analyses.annotators` and `equipoise.agreement` say;
over all tasks there is one row per task.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace

from equipoise.agreement import AgreementSummary, agreement_overview
from equipoise.analyses.annotators import annotators_finding, panel_rate
from equipoise.findings import Column, Dot, Dots, Finding, Row, Table
from equipoise.run.findings.panels import RunView
from equipoise.run.record import AnnotatorRow, encoded

TITLES = {"base_rate": "share of positive votes", "agreement": "agreement with the others"}
YES_NOTE = (
    "The positive share is over the votes each annotator gave. Agreement is with the mean of "
    "the others on the same items."
)
SEVERAL_NOTE = (
    "Agreement is the share of the other votes on the same items that say the same. With "
    "several classes there is no single share of yes."
)
AGREEMENT = "How far annotators agree"
AGREEMENT_NOTE = (
    "Krippendorff's alpha and the kappas take off what chance would give: 0 is chance, 1 is "
    "perfect. Words for kappa are those of Landis and Koch; below 0.667 Krippendorff would not "
    "treat one label as the truth. Intervals resample items, annotators held fixed. Alpha "
    "without an annotator is that of all others."
)


def annotator_findings(view: RunView) -> list[Finding]:
    """Annotators of every task, and one row per task for the average over tasks."""
    rows = view.record.annotators
    key, title = "annotators", "Annotators"
    if not rows:
        text = "The votes are anonymous, so nothing can be said of single annotators."
        if view.any_model:
            text = (
                "The truth comes from a model of the votes, so no single annotator is told of "
                "here." + " How far they agree is told below." * bool(view.record.agreement)
            )
        if view.all_gold:
            text = "Adjudicated gold settles every item, so that no annotator's vote counts."
        return [Finding(key=key, title=title, sentence=text, brief=False)]
    note = SEVERAL_NOTE if view.any_several else YES_NOTE
    tasks = list(dict.fromkeys(row.task for row in rows))
    made = []
    for task in tasks:
        own = [_plain(row) for row in rows if row.task == task]
        finding = annotators_finding(own, task=task)
        (table,) = finding.tables
        columns = (table.columns[0], *view.task_columns, *table.columns[1:])
        tables = (replace(table, columns=columns),)
        made.append(replace(finding, title=title, note=note, tables=tables, brief=False))
    if len(tasks) < 2:
        return made
    return [*made, view.overview(_strips(rows, tasks, note))]


def _plain(row: AnnotatorRow) -> Row:
    return {key: value for key, value in asdict(row).items() if value is not None}


def _known_parts(rows: Sequence[AnnotatorRow]) -> list[str]:
    """Which of base rate and agreement any annotator has."""
    return [part for part in TITLES if any(not math.isnan(getattr(row, part)) for row in rows)]


def _strips(rows: Sequence[AnnotatorRow], tasks: Sequence[str], note: str) -> Finding:
    """The lowest, middle and highest number of every task."""
    parts = _known_parts(rows) or ["base_rate"]
    part, made = parts[0], []
    for task in tasks:
        own = [row for row in rows if row.task == task and not math.isnan(getattr(row, part))]
        if own:
            values = sorted(float(getattr(row, part)) for row in own)
            middle = (
                panel_rate([_plain(row) for row in own])
                if part == "base_rate"
                else sum(values) / len(values)
            )
            made.append((task, len(own), values[0], middle, values[-1]))
    rate = part == "base_rate"
    middle_head = "all votes" if rate else "mean"
    keys = ("task", "annotators", "lowest", "middle", "highest")
    table = Table(
        name="annotators_by_task",
        caption="Base rates by task" if rate else "Agreement by task",
        columns=(
            Column("task", "task"),
            Column("annotators", "annotators", "count"),
            Column("lowest", "lowest", "number"),
            Column("middle", middle_head, "number"),
            Column("highest", "highest", "number"),
        ),
        rows=[dict(zip(keys, row, strict=True)) for row in made],
        file=False,
    )
    chart = Dots(
        name="annotators-by-task",
        caption=f"Line: from the lowest to the highest annotator; mark: {middle_head}",
        axis=TITLES[part],
        rows=[Dot(task, middle, low, high) for task, _, low, middle, high in made],
    )
    how = "How often annotators say yes" if rate else "How far annotators agree"
    return Finding(
        key="annotators",
        title="Annotators",
        sentence=f"{how}, task by task; choose a task for names.",
        tables=(table,),
        charts=(chart,),
        note=note,
        brief=False,
    )


def agreement_findings(view: RunView) -> list[Finding]:
    """How far annotators agree on every task; nothing for runs that do not say."""
    rows = view.record.agreement
    summaries = [AgreementSummary.from_json(encoded(row)) for row in rows]
    made = [_of_run(one.report()) for one in summaries]
    if len(made) < 2:
        return made
    return [*made, view.overview(_of_run(agreement_overview(summaries)))]


def _of_run(finding: Finding) -> Finding:
    """As part of a longer page: what to keep in mind stands with it."""
    cautions = tuple(str(one) for one in finding.notices) if finding.task else ()
    return replace(
        finding,
        title=AGREEMENT,
        more=(*finding.more, *cautions),
        note=AGREEMENT_NOTE,
        notices=(),
        brief=False,
    )

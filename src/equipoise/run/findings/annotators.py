"""Annotators: how often each says yes, how far each agrees with the others, and all with all.

Up to forty annotators are drawn by name; more as a cloud of base rate against agreement. A
choice among several classes has no base rate, so agreement stands alone.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from equipoise.findings import (
    Cell,
    Chart,
    Column,
    Dot,
    Dots,
    Finding,
    Heat,
    Point,
    Row,
    Scatter,
    Table,
)
from equipoise.numbers import count, estimate, number, percent
from equipoise.run.findings.panels import RunView
from equipoise.run.record import (
    AgreementAnnotator,
    AgreementPair,
    AgreementPairs,
    AgreementRow,
    AnnotatorRow,
)
from equipoise.wording import capital

LISTED = 40  # annotators that are drawn by name
SHOWN = 200  # rows of the table of annotators
THRESHOLD = 0.667  # Krippendorff's least alpha for tentative conclusions
TITLES = {"base_rate": "share of positive votes", "agreement": "agreement with the others"}
YES_NOTE = (
    "The positive share is over the votes each annotator gave. Agreement is with the mean of "
    "the others on the same items."
)
SEVERAL_NOTE = (
    "Agreement is the share of the other votes on the same items that say the same. With "
    "several classes there is no single share of yes."
)
AGREEMENT_NOTE = (
    "Krippendorff's alpha and the kappas take off what chance would give: 0 is chance, 1 is "
    "perfect. Words for kappa are those of Landis and Koch; below 0.667 Krippendorff would not "
    "treat one label as the truth. Intervals resample items, annotators held fixed. Alpha "
    "without an annotator is that of all others."
)


# ---- annotators ----------------------------------------------------------------------------


def annotator_findings(view: RunView) -> list[Finding]:
    """Annotators of every task, and one row per task for the average over tasks."""
    rows = view.record.annotators
    key, title = "annotators", "Annotators"
    if not rows:
        said = "The votes are anonymous, so nothing can be said of single annotators."
        if view.any_model:
            said = (
                "The truth comes from a model of the votes, so no single annotator is told of "
                "here." + " How far they agree is told below." * bool(view.record.agreement)
            )
        return [Finding(key=key, title=title, sentence=said, brief=False)]
    note = SEVERAL_NOTE if view.any_several else YES_NOTE
    tasks = list(dict.fromkeys(row.task for row in rows))
    made = [
        Finding(
            key=key,
            title=title,
            sentence=annotator_words(own),
            tables=(_annotator_table(view, own),),
            charts=tuple(_annotator_charts(own)),
            note=note,
            task=task,
            brief=False,
        )
        for task in tasks
        for own in [[row for row in rows if row.task == task]]
    ]
    if len(tasks) < 2:
        return made
    return [*made, view.overview(_strips(rows, tasks, note))]


def _known_parts(rows: Sequence[AnnotatorRow]) -> list[str]:
    """Which of base rate and agreement any annotator has."""
    return [part for part in TITLES if any(not math.isnan(getattr(row, part)) for row in rows)]


def _by(part: str, rows: Sequence[AnnotatorRow]) -> list[AnnotatorRow]:
    """Annotators from the lowest to the highest, undefined last."""
    return sorted(rows, key=lambda row: (math.isnan(getattr(row, part)), getattr(row, part)))


def panel_rate(rows: Sequence[AnnotatorRow]) -> float:
    """Base rate of all votes together.

    Examples
    --------
    >>> panel_rate([AnnotatorRow(task="", annotator="a", votes=1, base_rate=1.0),
    ...             AnnotatorRow(task="", annotator="b", votes=3, base_rate=0.0)])
    0.25
    """
    known = [row for row in rows if not math.isnan(row.base_rate)]
    votes = sum(row.votes for row in known)
    return sum(row.votes * row.base_rate for row in known) / votes if votes else math.nan


def _annotator_charts(rows: Sequence[AnnotatorRow]) -> list[Chart]:
    parts = _known_parts(rows)
    if len(rows) > LISTED and len(parts) == 2:
        return [
            Scatter(
                name="annotators",
                caption="Positive share against agreement, one dot per annotator",
                x=TITLES["base_rate"],
                y=TITLES["agreement"],
                points=[
                    Point(row.annotator, row.base_rate, row.agreement, labelled=False)
                    for row in rows
                ],
            )
        ]
    return [
        Dots(
            name=f"annotators-{part.replace('_', '-')}",
            caption=f"Annotators from the lowest to the highest {parts[0].replace('_', ' ')}",
            alternative=f"{capital(TITLES[part])} of {count(len(rows), 'annotator')}.",
            axis=TITLES[part],
            rows=[
                Dot(row.annotator, getattr(row, part)) for row in _by(parts[0], rows)[:LISTED]
            ],
            reference=panel_rate(rows) if part == "base_rate" else None,
        )
        for part in parts
    ]


def _annotator_table(view: RunView, rows: Sequence[AnnotatorRow]) -> Table:
    """The annotators; of very many, people read those who agree least."""
    parts, shown, caption = _known_parts(rows), list(rows), "Annotators"
    if len(rows) > LISTED:
        shown = _by("agreement", rows)
        caption = f"The {count(len(rows))} annotators, those who agree least first"
    heads = {"base_rate": "positive share", "agreement": "agreement"}
    timed = any(row.median_ms is not None for row in rows)
    return Table(
        name="annotators",
        caption=caption,
        columns=(
            Column("annotator", "annotator"),
            *view.task_columns,
            Column("votes", "votes", "count"),
            *(Column(part, heads[part], "number") for part in parts),
            *([Column("median_ms", "median time", "duration")] if timed else []),
        ),
        rows=[
            {key: value for key, value in asdict(row).items() if value is not None}
            for row in shown
        ],
    )


def annotator_words(rows: Sequence[AnnotatorRow]) -> str:
    """Say how far apart the annotators are."""
    said = []
    known = [row for row in _by("base_rate", rows) if not math.isnan(row.base_rate)]
    if known:
        low, high = known[0], known[-1]
        said.append(
            f"Positive votes run from {percent(low.base_rate)} ({low.annotator}) to "
            f"{percent(high.base_rate)} ({high.annotator}), {percent(panel_rate(rows))} over "
            "all votes"
        )
    agreeing = [row for row in _by("agreement", rows) if not math.isnan(row.agreement)]
    if len(agreeing) > 1:
        least = agreeing[0]
        said.append(
            f"{least.annotator} agrees least with the others ({number(least.agreement, 2)})"
        )
    if not said:
        return "Neither base rate nor agreement of any annotator is defined."
    return f"{'; '.join(said)}."


def _strips(rows: Sequence[AnnotatorRow], tasks: Sequence[str], note: str) -> Finding:
    """The lowest, middle and highest number of every task."""
    parts = _known_parts(rows) or ["base_rate"]
    part, made = parts[0], []
    for task in tasks:
        own = [row for row in rows if row.task == task and not math.isnan(getattr(row, part))]
        if own:
            values = sorted(float(getattr(row, part)) for row in own)
            middle = panel_rate(own) if part == "base_rate" else sum(values) / len(values)
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


# ---- agreement -----------------------------------------------------------------------------


def agreement_findings(view: RunView) -> list[Finding]:
    """How far annotators agree on every task; nothing for runs that do not say."""
    rows = view.record.agreement
    if not rows:
        return []
    made = [_agreement(view, row) for row in rows]
    return [*made, view.overview(_agreement_by_task(rows))] if len(rows) > 1 else made


def _agreement(view: RunView, row: AgreementRow) -> Finding:
    """Coefficients with their intervals, annotators, and pairs."""
    votes = "readings" if row.kind == "ranking" else "votes"
    alpha = any(one.name.startswith("Krippendorff") for one in row.coefficients)
    caption = "Coefficients and their 95% intervals over items"
    if alpha:
        caption += "; dashed: 0.667, Krippendorff's least alpha for tentative conclusions"
    tables = [
        Table(
            name="agreement",
            caption="Coefficients of agreement",
            columns=(
                Column("name", "coefficient"),
                *view.task_columns,
                Column("value", "value", "number", ("low", "high")),
                Column("items", "items", "count"),
                Column("votes", votes, "count"),
                Column("words", "in words"),
            ),
            rows=[{"task": row.task, **asdict(one)} for one in row.coefficients],
            open=True,
        )
    ]
    charts: list[Chart] = [
        Dots(
            name="agreement",
            caption=caption,
            axis="agreement",
            rows=[Dot(one.name, one.value, one.low, one.high) for one in row.coefficients],
            reference=THRESHOLD if alpha else None,
        )
    ]
    more = list(row.cautions)
    if row.annotators:
        tables.append(_agreement_people(row))
        more += [_spread_words(row.annotators)]
    if row.pairs is not None and bool((row.pairs.kappa == row.pairs.kappa).any()):
        charts.append(_pair_heat(row, row.pairs))
        more.append(_pair_words(row.pairs))
    return Finding(
        key="agreement",
        title="How far annotators agree",
        sentence=agreement_words(row),
        more=tuple(filter(None, more)),
        tables=tuple(tables),
        charts=tuple(charts),
        note=AGREEMENT_NOTE,
        task=row.task,
        brief=False,
    )


def agreement_words(row: AgreementRow) -> str:
    """Say the agreement in one sentence or two."""
    if not row.coefficients or math.isnan(row.coefficients[0].value):
        name = row.coefficients[0].name if row.coefficients else "Agreement"
        return f"{name} is undefined here."
    first = row.coefficients[0]
    told = f"{first.name} is {estimate(first.value, first.low, first.high)}"
    told += f", {first.words}." if first.words else "."
    same = [one for one in row.coefficients if one.name == "Percent agreement"]
    if same and not math.isnan(same[0].value):
        share = percent(same[0].value)
        told += f" Two votes on the same item agree {share} of the time, chance included."
    return told


def _agreement_people(row: AgreementRow) -> Table:
    people = row.annotators
    left = f", the {SHOWN} with most votes of {len(people):,}" if len(people) > SHOWN else ""
    heads: dict[str, tuple[str, str]] = {
        "kappa": ("mean kappa with others", "number"),
        "agreement": ("same as others", "percent"),
        "alpha_without": ("alpha without", "number"),
    }
    columns = [
        Column("annotator", "annotator"),
        Column("votes", "votes", "count"),
        Column("items", "items shared", "count"),
    ]
    for part, (head, kind) in heads.items():
        if any(not math.isnan(getattr(one, part)) for one in people):
            columns.append(Column(part, head, "percent" if kind == "percent" else "number"))
    return Table(
        name="agreement_annotators",
        caption=f"Annotators{left}",
        columns=columns,
        rows=[{"task": row.task, **asdict(one)} for one in people[:SHOWN]],
    )


def _spread_words(rows: Sequence[AgreementAnnotator]) -> str:
    """Say who agrees most and least with the others, and whose absence would change most."""
    known = sorted((r for r in rows if not math.isnan(r.kappa)), key=lambda row: row.kappa)
    if len(known) < 2:
        return ""
    ends = [
        f"{number(row.kappa, 2)} ({row.annotator}, {count(row.votes, 'vote')})"
        for row in (known[0], known[-1])
    ]
    told = f"The mean kappa with the others runs from {ends[0]} to {ends[1]}."
    left = [row for row in rows if not math.isnan(row.alpha_without)]
    if len(left) < 3:
        return told
    most = max(left, key=lambda row: row.alpha_without)
    alpha = number(most.alpha_without, 2)
    return f"{told} Alpha is highest without {most.annotator}: {alpha}."


def _pair_heat(row: AgreementRow, pairs: AgreementPairs) -> Chart:
    shown, total = len(pairs.annotators), pairs.people
    some = f", the {shown} annotators with most votes of {total:,}" if shown < total else ""
    how = "" if row.weights == "none" else f" with {row.weights} weights"
    return Heat(
        name="agreement-pairs",
        caption=(
            f"Cohen's kappa{how} of every pair{some}; highest mean kappa first; empty: no item "
            "shared"
        ),
        rows=pairs.annotators,
        columns=[str(place) for place in range(1, shown + 1)],
        values=pairs.kappa.astype(np.float64),
        scale="signed",
    )


def _pair_words(pairs: AgreementPairs) -> str:
    """Name the closest and the furthest pair."""

    def told(one: AgreementPair) -> str:
        return f"{number(one.kappa, 2)}, {one.words}, on {count(one.items, 'shared item')}"

    if not pairs.closest:
        return ""
    high = pairs.closest[0]
    said = f"{high.first} and {high.second} agree most ({told(high)})"
    if not pairs.furthest:
        return f"{said}."
    low = pairs.furthest[0]
    return f"{said}, {low.first} and {low.second} least ({told(low)})."


def _agreement_by_task(rows: Sequence[AgreementRow]) -> Finding:
    """All tasks, those with the highest agreement first."""

    def value(row: AgreementRow) -> float:
        own = row.coefficients[0].value if row.coefficients else math.nan
        return -math.inf if math.isnan(own) else own

    order = sorted(rows, key=lambda row: -value(row))
    names = list(dict.fromkeys(one.name for row in rows for one in row.coefficients))
    made: list[Row] = []
    for row in order:
        own: dict[str, Cell] = {"task": row.task, "items": row.items}
        own |= {one.name: estimate(one.value, one.low, one.high) for one in row.coefficients}
        made.append(own)
    known = [row for row in order if value(row) > -math.inf]
    said = "Agreement is undefined for every task."
    if known:
        high, low = known[0], known[-1]
        said = (
            f"{high.coefficients[0].name} runs from {number(value(low), 2)} ({low.task}) to "
            f"{number(value(high), 2)} ({high.task})."
        )
    table = Table(
        name="agreement_by_task",
        caption="Tasks",
        columns=(
            Column("task", "task"),
            Column("items", "items", "count"),
            *(Column(name, name) for name in names),
        ),
        rows=made,
        open=True,
        file=False,
    )
    return Finding(
        key="agreement",
        title="How far annotators agree",
        sentence=said,
        tables=(table,),
        note=AGREEMENT_NOTE,
        brief=False,
    )

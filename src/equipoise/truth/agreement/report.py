"""What is said of agreement: findings of one task, and an overview of several."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from equipoise.truth.agreement.coefficients import TENTATIVE, Pairs
from equipoise.truth.agreement.table import (
    AgreementTable,
    closest_and_furthest,
    pair_rows,
    shown_pairs,
)
from equipoise.types import (
    Cell,
    Column,
    Dot,
    Dots,
    Finding,
    Heat,
    Names,
    Table,
    columns,
    count,
    estimate,
    number,
    percent,
)

BRIEF = 20  # annotators in a terminal
NUMBERED = 20  # annotators beyond which cells of the matrix hold no numbers
TITLE = "How far do annotators agree?"
SHORT = {
    "alpha": "Krippendorff’s alpha",
    "fleiss": "Fleiss’ kappa",
    "cohen": "Cohen’s kappa, mean",
    "percent": "percent agreement",
    "others": "others’ first choice",
    "readings": "reading agreement",
}
REFERENCES = ("krippendorff2004", "cohen1960")
METHODS = (
    "Agreement of the annotators was measured by coefficients [@krippendorff2004; @cohen1960]"
)
TERMS = tuple(
    {
        "Krippendorff’s alpha": "One minus observed over expected disagreement of all pairs of "
        "votes on the same item. Any number of annotators, missing votes and counts; the level "
        "says how far apart two labels are. At least 0.8 is reliable, 0.667 enough for "
        "tentative conclusions.",
        "Fleiss’ kappa": "Share of agreeing pairs of votes, beyond what the shares of classes "
        "would give by chance. Annotators are interchangeable, items count alike.",
        "Cohen’s kappa": "The same for two annotators on the items both rated, with the habits "
        "of each. The mean weighs pairs by the items they share. Words are those of Landis and "
        "Koch, a convention: slight to 0.2, fair to 0.4, moderate to 0.6, substantial to 0.8.",
        "Percent agreement": "How often two votes on the same item are the same; chance is not "
        "taken off, so a common class makes it large.",
        "Others’ first choice, reading agreement": "How often a vote or reading names what the "
        "others on the same item put first.",
        "Alpha without": "Krippendorff’s alpha of all other annotators: higher than alpha "
        "means that this annotator pulls it down.",
        "Interval": "Two-way over items (or whole groups of items) and annotators, by the "
        "influence of each vote; of kappas of pairs, anonymous votes and where annotators are "
        "the standard, the middle 95% over resamples of items alone.",
    }.items()
)
NO_KAPPA = {
    "interval": "Ratings are numbers, so pairs have no kappa.",
    "ranking": "Rankings are not single labels, so pairs have no kappa.",
}


def known(table: AgreementTable) -> Names:
    """How much there is: items, votes and annotators."""
    who = len(table.annotators)
    return (
        count(table.items, "item"),
        count(table.votes, "reading" if table.kind == "ranking" else "vote"),
        count(who, "annotator") if who else "anonymous votes",
    )


def findings(table: AgreementTable) -> tuple[Finding, ...]:
    """Coefficients, annotators and pairs, each by itself."""
    parts = [_coefficients(table), _people(table)]
    if table.annotators or table.pairs is not None:
        parts.append(_pairs(table))
    return tuple(finding.under(task=table.task) for finding in parts)


def joined(table: AgreementTable) -> Finding:
    """Coefficients, annotators and pairs as one finding."""
    first, *others = parts = findings(table)
    sentences = (
        text for finding in others for text in (finding.sentence, *finding.more) if text
    )
    return replace(
        first,
        more=(*first.more, *sentences),
        tables=tuple(part for finding in parts for part in finding.tables),
        charts=tuple(chart for finding in parts for chart in finding.charts),
    )


def _coefficients(table: AgreementTable) -> Finding:
    rows, first = table.coefficients, table.coefficients[0]
    sentence = f"{first.name} is undefined here."
    if not np.isnan(first.value):
        words = "" if first.measure == "readings" else f", {first.words}"
        sentence = f"{first.name} is {estimate(first.value, first.low, first.high)}{words}."
    alpha = any(coefficient.measure == "alpha" for coefficient in rows)
    dashed = "; dashed: 0.667, Krippendorff’s least alpha for tentative conclusions" * alpha
    return Finding(
        key="agreement",
        title=f"{TITLE[:-1]} on {table.task}?" if table.task else TITLE,
        sentence=sentence,
        more=(
            f"{', '.join(known(table))}.",
            *(
                f"Two votes on the same item agree {percent(coefficient.value)} of the time, "
                "chance included."
                for coefficient in rows
                if coefficient.measure == "percent" and not np.isnan(coefficient.value)
            ),
        ),
        tables=(
            Table(
                name="agreement",
                caption="Coefficients of agreement",
                columns=[
                    Column("name", "coefficient"),
                    Column("value", "value, 95% interval", "number", ("low", "high")),
                    Column("words", "in words"),
                    Column("whom", "random"),
                    Column("items", "items", "count"),
                    Column(
                        "votes", "readings" if table.kind == "ranking" else "votes", "count"
                    ),
                ],
                rows=[{"task": table.task, **coefficient.row()} for coefficient in rows],
                legend="1 is perfect, 0 what chance gives where the coefficient corrects for "
                f"it. {table.scope}",
                open=True,
            ),
        ),
        charts=(
            Dots(
                name="agreement",
                caption=f"Coefficients and their 95% intervals{dashed}",
                axis="agreement",
                rows=[
                    Dot(SHORT.get(c.measure, c.name), *c[1:4], remark=number(c.value, 2))
                    for c in rows
                ],
                zero=True,
                reference=TENTATIVE if alpha else None,
            ),
        ),
        note=table.scope,
        methods=METHODS,
        references=REFERENCES,
        notices=tuple(caution.of(table.task) for caution in table.cautions),
    )


def _people(table: AgreementTable) -> Finding:
    key, title = "agreement_annotators", "Who agrees with the others?"
    if not table.annotators:
        text = "The votes are anonymous, so nothing can be said of single annotators."
        return Finding(key=key, title=title, sentence=text, brief=False)
    parts = (
        Column("kappa", "mean kappa with others", "number"),
        Column("agreement", "same as others", "percent"),
        Column("alpha_without", "alpha without", "number"),
    )
    rows = [person._asdict() for person in table.annotators]
    some = f"the {BRIEF} with most votes" if len(rows) > BRIEF else "most votes first"
    people = Table(
        name=key,
        caption=f"Annotators, {some}",
        columns=[
            *columns(annotator="text", votes="count"),
            Column("items", "items shared", "count"),
            *(c for c in parts if any(row[c.key] == row[c.key] for row in rows)),
        ],
        rows=rows,
        brief=rows[:BRIEF],
        open=len(rows) <= 15,
    )
    return Finding(key=key, title=title, sentence=_spread(table), tables=(people,))


def _spread(table: AgreementTable) -> str:
    """Who agrees most and least with the others, and whose absence would change most."""
    kappas = sorted((p for p in table.annotators if p.kappa == p.kappa), key=lambda p: p.kappa)
    if len(kappas) < 2:
        return ""
    low, high = (
        f"{number(person.kappa)} ({person.annotator}, {count(person.votes, 'vote')})"
        for person in (kappas[0], kappas[-1])
    )
    text = f"The mean kappa with the others runs from {low} to {high}."
    left = [
        person for person in table.annotators if person.alpha_without == person.alpha_without
    ]
    if len(left) < 3:
        return text
    most = max(left, key=lambda person: person.alpha_without)
    return f"{text} Alpha is highest without {most.annotator}: {number(most.alpha_without)}."


def _pairs(table: AgreementTable) -> Finding:
    key, title, pairs = "agreement_pairs", "Which annotators agree with whom?", table.pairs
    if pairs is None or np.isnan(shown_pairs(pairs).kappa).all():
        why = NO_KAPPA.get(table.kind, "No pair of annotators has a kappa.")
        return Finding(key=key, title=title, sentence=why, brief=False)
    closest, furthest = closest_and_furthest(pairs)
    rows, ends = pair_rows(pairs), [*closest, *furthest]
    caption = "Cohen's kappa of all pairs"
    if rows == ends:
        caption = "Pairs that agree most, then those that agree least"
    sentence = ", ".join(
        f"{pair['first']} and {pair['second']}{how} ({number(pair['kappa'])}, {pair['words']}, "
        f"sharing {count(pair['items'], 'item')})"
        for how, end in ((" agree most", closest), (" least", furthest))
        for pair in end[:1]
    )
    listed = Table(
        name=key,
        caption=caption,
        columns=[
            *columns("text", "first", "second"),
            Column("kappa", "kappa", "number"),
            Column("words", "in words"),
            Column("items", "items shared", "count"),
        ],
        rows=rows,
        brief=ends,
    )
    heat = _heat(pairs, "" if table.weights == "none" else f" with {table.weights} weights")
    return Finding(
        key=key, title=title, sentence=f"{sentence}.", tables=(listed,), charts=(heat,)
    )


def _heat(pairs: Pairs, weighted: str) -> Heat:
    (names, kappa, _), total = shown_pairs(pairs), len(pairs.annotators)
    shown = len(names)
    some = f", the {shown} annotators with most votes of {total:,}" if shown < total else ""
    texts = [["" if v != v else number(v, 2) for v in line] for line in kappa.tolist()]
    return Heat(
        name="agreement-pairs",
        caption=f"Cohen’s kappa{weighted} of every pair{some}; highest mean kappa first, "
        "columns numbered as the rows; empty: no item shared",
        alternative=f"Heatmap of Cohen's kappa between {shown} annotators; "
        f"{int(np.isfinite(kappa).sum()) // 2} of {shown * (shown - 1) // 2} pairs are "
        "defined.",
        rows=[f"{name} {place}" for place, name in enumerate(names, start=1)],
        columns=[str(place) for place in range(1, shown + 1)],
        values=kappa.astype(np.float64),
        scale="signed",
        texts=texts if shown <= NUMBERED else (),
    )


def agreement_findings(tables: Sequence[AgreementTable]) -> tuple[Finding, ...]:
    """Findings of one task, or an overview of several and those of each under its name."""
    by_task = tuple(finding for table in tables for finding in findings(table))
    if len(tables) < 2:
        return by_task
    return (agreement_overview(tables), *(replace(finding, brief=False) for finding in by_task))


def agreement_overview(tables: Sequence[AgreementTable]) -> Finding:
    """All tasks, those with the highest agreement first."""
    order = sorted(tables, key=lambda t: -np.nan_to_num(t.coefficients[0].value, nan=-9.0))
    names = dict.fromkeys(c.name for table in tables for c in table.coefficients)
    rows: list[dict[str, Cell]] = []
    for table in order:
        row: dict[str, Cell] = {"task": table.task, "items": table.items}
        row |= {
            key: cell
            for name in names
            for key, cell in zip(_keys(name), ("", None, None), strict=True)
        }
        for c in table.coefficients:
            row |= dict(zip(_keys(c.name), c[1:4], strict=True))
        rows.append(row | {"words": table.coefficients[0].words})
    defined = [table for table in order if not np.isnan(table.coefficients[0].value)]
    text = "Agreement is undefined for every task."
    if defined:
        most, least = (
            f"{number(table.coefficients[0].value)} ({table.task})"
            for table in (defined[0], defined[-1])
        )
        text = f"{defined[0].coefficients[0].name} runs from {least} to {most}."
    first, *others = names
    overview = Table(
        name="agreement_tasks",
        caption="Agreement by task; 1 is perfect, 0 what chance gives where corrected for it",
        columns=[
            *columns(task="text", items="count"),
            Column(first, first, "number", _keys(first)[1:]),
            *(Column(name, name, "number") for name in others),
            Column("words", "in words"),
        ],
        rows=rows,
        open=True,
        legend=tables[0].scope,
    )
    return Finding(
        key="agreement",
        title=TITLE,
        sentence=text,
        tables=(overview,),
        methods=METHODS,
        references=REFERENCES,
        notices=tuple(n.of(table.task) for table in tables for n in table.cautions),
    )


def _keys(name: str) -> tuple[str, str, str]:
    return name, f"{name}, low", f"{name}, high"

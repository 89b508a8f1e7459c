r"""Annotators: how often each says yes, how far each agrees with the others, and their skill.

Agreement is the share of the other votes on the same items that say the same. With a model of
annotators, skill stands beside it: who agrees little with the others may still be right. A
choice among several classes has no base rate. Up to forty annotators are drawn.

*Confusions.* Row k of an annotator's matrix is how its votes spread over the answers where the
truth is class k. An item counts for class k by the share of the other annotators' votes for it:
the annotator is no part of its own truth, but errors of the others count against it. With a
yes/no question the diagonal is specificity and sensitivity. By gold, where there is some,
annotators are compared in `equipoise.study.analyses.readers`.

Who judges alike is told by Cohen's kappa of every pair, as `equipoise.truth.agreement` has it.

References
----------
Cohen, *A coefficient of agreement for nominal scales*, 1960.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> confusions(reading_study()[0])[""][0].round(2)
array([[0.87, 0.13],
       [0.29, 0.71]])
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from equipoise.study.study import Study
from equipoise.study.truth import TaskTruth, task_truths
from equipoise.truth.agreement import agreement_findings, agreement_table
from equipoise.types import (
    Annotations,
    Cell,
    Chart,
    Column,
    Dot,
    Dots,
    Finding,
    Floats,
    InputError,
    Row,
    Skills,
    Table,
    Votes,
    capital,
    change,
    collect_votes,
    columns,
    count,
    joined,
    number,
    percent,
    ratio,
    rows_of,
)

KINDS = ("binary", "nominal", "ordinal")
LISTED = 40  # annotators that are drawn one by one
MANY, RARE = 50, 0.01  # classes from which on rare answers are not listed; what is rare
FEW = 10  # votes below which no sentence is made of an annotator
TITLE = "How do annotators differ?"
NOTE = (
    "Agreement is with the mean of the others on the same items; the positive share is over "
    "the votes each annotator gave."
)
METHODS = (
    "Annotators are compared with the votes of the others on the same items, each left out of "
    "its own truth."
)
AXES = {
    "skill": "skill",
    "base_rate": "share of positive votes",
    "agreement": "agreement with the others",
}
HEADS = {
    "base_rate": "positive share",
    "agreement": "agreement",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
}


def annotator_rows(
    questions: Sequence[TaskTruth], names: Sequence[str]
) -> list[dict[str, Cell]]:
    """Votes, base rate and agreement with the others, by task and annotator.

    Where durations are known, also the median one.
    """
    rows: list[dict[str, Cell]] = []
    for question in questions:
        if question.votes is None or not names:
            continue
        votes = question.votes
        counted = votes.annotator >= 0
        total = np.bincount(votes.annotator[counted], minlength=len(names))
        yes = (
            question.masses[0] if len(question.classes) == 1 else np.full(len(counted), np.nan)
        )
        rate = _mean_by(votes, yes, len(names))
        agreement = _mean_by(votes, _agreement_with_others(question), len(names))
        columns_of = {"votes": total, "base_rate": rate, "agreement": agreement}
        if question.times is not None:
            medians = question.times.medians()
            columns_of["median_ms"] = np.array([medians.get(a) for a in range(len(names))])
        question_rows = rows_of({"task": question.task}, {"annotator": names}, columns_of)
        rows += [row for row in question_rows if row["votes"]]
    return rows


def _agreement_with_others(question: TaskTruth) -> Floats:
    """Share of the item's other votes that say the same, shape (votes,); nan for lone votes.

    For a yes/no question with vote y and mean o of the others: y o + (1 - y)(1 - o).
    """
    votes = question.votes
    assert votes is not None
    size = np.repeat(votes.sizes, votes.sizes)
    item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
    others = np.maximum(size - 1, 1)
    if len(question.classes) == 1:
        yes = question.masses[0]
        rest = (np.bincount(item, yes)[item] - yes) / others
        same = yes * rest + (1 - yes) * (1 - rest)
    else:
        key = item[votes.vote] * len(question.classes) + votes.label
        code = np.unique(key, return_inverse=True)[1]
        entry = votes.share * (np.bincount(code, votes.share)[code] - votes.share)
        same = np.bincount(votes.vote, entry, len(size)) / others
    return np.where(size > 1, same, np.nan)


def _mean_by(votes: Votes, values: Floats, annotators: int) -> Floats:
    """Mean over each annotator's votes, without undefined ones."""
    use = ~np.isnan(values) & (votes.annotator >= 0)
    size = np.bincount(votes.annotator[use], minlength=annotators)
    total = np.bincount(votes.annotator[use], values[use], annotators)
    return ratio(total, size)


def skilled_rows(
    annotations: Annotations, task: str, skills: Skills | None
) -> list[dict[str, Cell]]:
    """What is known of the annotators of a task, with the skill that a model found.

    Raters, who give numbers, have their mean rating and how far it lies above that of all on
    the same items.
    """
    if annotations.annotators is None:
        return []
    if annotations.kind == "interval":
        return _raters(annotations, task)
    questions = [question for question in task_truths(annotations) if question.task == task]
    rows = annotator_rows(questions, annotations.annotators)
    if skills is None:
        return rows
    place = {name: code for code, name in enumerate(skills.annotators)}
    columns = {"skill": skills.value, "low": skills.low, "high": skills.high}
    for row in rows:
        code = place[str(row["annotator"])]
        row |= {name: float(v[code]) for name, v in columns.items() if v is not None}
    return rows


def _raters(annotations: Annotations, task: str) -> list[dict[str, Cell]]:
    rows = np.flatnonzero(annotations.opinions(task))
    assert annotations.annotator is not None and annotations.value is not None
    who, item = annotations.annotator[rows], annotations.item[rows]
    value = annotations.value[rows]
    level = np.bincount(item, value) / np.maximum(np.bincount(item), 1)
    names = annotations.annotators or ()
    size = np.bincount(who, minlength=len(names))
    mean, lean = (
        np.bincount(who, numbers, len(names)) / np.maximum(size, 1)
        for numbers in (value, value - level[item])
    )
    columns_of = {"votes": size, "mean_rating": mean, "above_the_item_mean": lean}
    return [row for row in rows_of({}, {"annotator": names}, columns_of) if row["votes"]]


def analyse(study: Study) -> Finding:
    """How the annotators of a study differ: what they say, and what they confuse."""
    table = study.opinions if study.by_standard else study.voted
    names, matrices = table.annotators or (), confusions(table)
    questions = task_truths(table) if study.by_standard else study.evaluation.questions
    rows = annotator_rows(questions, names)
    yes_no = len(table.classes) == 2
    for row in rows:
        of_task = [other for other in rows if other["task"] == row["task"]]
        row["all_votes"] = _panel_rate(of_task)
        if yes_no:
            own = matrices[str(row["task"])][names.index(str(row["annotator"]))]
            row |= {"specificity": float(own[0, 0]), "sensitivity": float(own[1, 1])}
    front = next(iter(matrices))
    finding = annotators_finding([row for row in rows if row["task"] == front])
    first = replace(
        finding.tables[0],
        columns=(Column("task", "task"), *finding.tables[0].columns),
        rows=rows,
    )
    answers = Table(
        name="annotator_confusions",
        caption="What every annotator answers, given the truth"
        + (f"; shares from {percent(RARE)} on" if len(table.classes) > MANY else ""),
        columns=(
            *columns(task="text", annotator="text"),
            *columns(true_class="text", answer="text"),
            Column("share", "share of answers", "number"),
        ),
        rows=[
            row
            for task, of_task in matrices.items()
            for row in _answer_rows({"task": task}, names, table, of_task)
        ],
        brief=(),
        page=False,
    )
    return replace(
        finding,
        sentence=f"{front}: {finding.sentence}" if len(table.tasks) > 1 else finding.sentence,
        tables=(first, answers),
        methods=METHODS,
    )


def _answer_rows(
    fixed: Row, names: Sequence[str], table: Annotations, shares: Floats
) -> list[dict[str, Cell]]:
    """A row for each answer to each class; of many classes only answers that are not rare."""
    classes = table.classes
    if len(classes) <= MANY:
        axes = {"annotator": names, "true_class": classes, "answer": classes}
        return rows_of(fixed, axes, {"share": shares})
    return [
        {**fixed, "annotator": names[who], "true_class": classes[truth],
         "answer": classes[answer], "share": float(shares[who, truth, answer])}
        for who, truth, answer in np.argwhere(shares >= RARE)
    ]  # fmt: skip


def confusions(annotations: Annotations) -> dict[str, Floats]:
    """Answers given the others' votes, by task: shares (annotators, true, answered).

    A row is nan where the class is never the truth of an item of the annotator's.
    """
    if annotations.annotators is None or annotations.kind not in KINDS:
        raise InputError(
            "annotators",
            "anonymous votes"
            if annotations.annotators is None
            else f"annotations of kind {annotations.kind}",
            "labels of annotators with ids",
            "look at agreement instead: krippendorff_alpha does not ask who voted",
        )
    opinions = annotations.rows(~annotations.gold)
    tasks = [task for task in annotations.tasks if opinions.in_task(task).any()]
    return {task: _confusions_with_others(opinions, task) for task in tasks}


def _confusions_with_others(table: Annotations, task: str) -> Floats:
    votes, size = collect_votes(table, task), len(table.classes)
    item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
    mass = np.stack([votes.mass(code) for code in range(size)], axis=1) * votes.weight[:, None]
    pair, place = np.unique(
        votes.annotator.astype(np.int64) * len(votes.sizes) + item, return_inverse=True
    )
    who, where = np.divmod(pair, len(votes.sizes))
    cast, whole = np.zeros((len(pair), size)), np.zeros((len(votes.sizes), size))
    np.add.at(cast, place, mass)
    np.add.at(whole, item, mass)
    others = whole[where] - cast
    total = others.sum(axis=1)
    use = total > 1e-9
    counts = np.zeros((len(table.annotators or ()), size, size))
    shares, who, cast = others[use] / total[use, None], who[use], cast[use]
    for annotator in np.unique(who):  # rows lie by annotator
        rows = slice(*np.searchsorted(who, [annotator, annotator + 1]))
        counts[annotator] = shares[rows].T @ cast[rows]
    answered = counts.sum(axis=2, keepdims=True)
    return ratio(counts, answered)


def annotators_finding(rows: Sequence[Row], *, skill: str = "", legend: str = "") -> Finding:
    """How the annotators of one task differ.

    Parameters
    ----------
    rows
        What `annotator_rows` or `skilled_rows` says of each.
    skill
        What the skill in the rows is, such as ``accuracy``; empty without any.
    legend
        What the columns mean.
    """
    columns_with_numbers = [key for key in HEADS if _by(rows, key)]
    skilled = bool(skill) and bool(_by(rows, "skill"))
    ends = ("low", "high") if _by(rows, "low") else None
    further = (
        *columns(mean_rating="number", above_the_item_mean="change"),
        Column("median_ms", "median time", "duration"),
    )
    shown = [
        *columns(annotator="text", votes="count"),
        *(Column(key, HEADS[key], "number") for key in columns_with_numbers),
        *([Column("skill", f"skill ({skill})", "number", ends)] if skilled else []),
        *(column for column in further if _by(rows, column.key)),
    ]
    most = sorted(rows, key=lambda row: -_real(row, "votes"))
    keys = [key for key in AXES if key in columns_with_numbers or (key == "skill" and skilled)]
    note = f"{NOTE} Skill is the {skill} that the model finds for each annotator." * skilled
    table = Table(
        name="annotators",
        caption="Annotators, most votes first",
        columns=shown,
        rows=most,
        legend=legend,
    )
    return Finding(
        key="annotators",
        title=TITLE,
        sentence=_sentence(rows, skill if skilled else ""),
        tables=(table,),
        charts=_charts(rows, keys, skill) if keys else (),
        note=note or NOTE,
    )


def _real(row: Row, key: str) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) else math.nan


def _by(rows: Sequence[Row], key: str) -> list[Row]:
    """Annotators of whom a number is known, from the lowest to the highest."""
    defined = [row for row in rows if not math.isnan(_real(row, key))]
    return sorted(defined, key=lambda row: _real(row, key))


def _panel_rate(rows: Sequence[Row]) -> float:
    """Base rate of all votes together.

    Examples
    --------
    >>> _panel_rate([{"votes": 1, "base_rate": 1.0}, {"votes": 3, "base_rate": 0.0}])
    0.25
    """
    defined = [row for row in rows if not math.isnan(_real(row, "base_rate"))]
    votes = sum(_real(row, "votes") for row in defined)
    yes = sum(_real(row, "votes") * _real(row, "base_rate") for row in defined)
    return yes / votes if votes else math.nan


def _charts(rows: Sequence[Row], keys: Sequence[str], skill: str) -> tuple[Chart, ...]:
    """A column of dots for each number."""
    titles = {**AXES, "skill": f"skill ({skill})"}
    first = keys[0]
    undefined = [row for row in rows if math.isnan(_real(row, first))]
    order = [*_by(rows, first), *undefined][:LISTED]
    span = "; line: its interval" if first == "skill" and _by(rows, "low") else ""
    some = f", the {LISTED} lowest" if len(rows) > LISTED else ""
    return tuple(
        Dots(
            name=f"annotators-{key.replace('_', '-')}",
            caption=f"Annotators from the lowest to the highest {titles[first]}{some}{span}",
            alternative=f"Dot plot: {titles[key]}, {count(len(order), 'annotator')}.",
            axis=titles[key],
            rows=[
                Dot(
                    str(row["annotator"]),
                    _real(row, key),
                    *((_real(row, "low"), _real(row, "high")) if key == "skill" else ()),
                )
                for row in order
            ],
            reference=_panel_rate(rows) if key == "base_rate" else None,
        )
        for key in keys
    )


def _sentence(rows: Sequence[Row], skill: str) -> str:
    """How far apart annotators are; those with few votes only if all have few."""
    many = [row for row in rows if _real(row, "votes") >= FEW] or list(rows)

    def span(key: str, rows: Sequence[Row], write: Callable[[float], str] = number) -> str:
        ends = [_by(rows, key)[place] for place in (0, -1)]
        return " to ".join(f"{write(_real(end, key))} ({end['annotator']})" for end in ends)

    if any("mean_rating" in row for row in rows):
        apart = span("above_the_item_mean", rows, change)
        return f"Ratings differ from those of all on the same items by {apart}."
    rates = [
        f"{rate} from {span(rate, many)}"
        for rate in ("sensitivity", "specificity")
        if _by(many, rate)
    ]
    parts = [f"by the others' votes they differ in {joined(rates)}"] if rates else []
    if _by(many, "base_rate"):
        shares, whole = span("base_rate", many, percent), percent(_panel_rate(many))
        parts.append(f"positive votes run from {shares}, {whole} over all votes")
    if len(ordered := _by(many, "agreement")) > 1:
        least = f"{ordered[0]['annotator']} ({number(_real(ordered[0], 'agreement'))})"
        parts.append(f"agreement with the others is least for {least}")
    if skill and len(_by(many, "skill")) > 1:
        parts.insert(0, f"by the model, skill ({skill}) runs from {span('skill', many)}")
    none = "neither base rate nor agreement of any annotator is defined"
    text = capital(f"{'; '.join(parts) or none}.")
    few = f" Annotators with fewer than {FEW} votes are not compared."
    return text + few * (len(many) < len(rows))


MAP_TITLE = "Who judges alike?"


def analyse_pairs(study: Study) -> Finding:
    """Cohen's kappa of every pair of annotators of a study, by its first task."""
    votes = study.voted
    table = agreement_table(votes, task=votes.tasks[0], replicates=2)
    if table.pairs is None:
        raise InputError(
            "pairs", "votes without pairs", "at least two annotators with ids", "give their ids"
        )
    return replace(
        agreement_findings([table])[-1],
        key="pairs",
        title=MAP_TITLE,
        methods="Pairs of annotators were compared by Cohen's kappa [@cohen1960].",
        references=("cohen1960",),
        brief=False,
        task="",
    )

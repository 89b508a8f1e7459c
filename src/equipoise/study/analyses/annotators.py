r"""Annotators: how often each says yes, how far each agrees with the others, and their skill.

Agreement is the share of the other votes on the same items that say the same. With a model of
annotators, skill stands beside it: who agrees little with the others may still be right. A
choice among several classes has no base rate. Up to forty annotators are drawn.

*Confusions.* Row k of an annotator's matrix is how its votes spread over the answers where the
truth is class k. With a yes/no question the diagonal is specificity and sensitivity. There are
two truths, and neither is everything; `gold_standard` scores annotators against what is known:

- the **others**: an item counts for class k by the share of the other annotators' votes for it,
  so that the annotator is no part of its own truth;
- **fitted**: the model of Dawid and Skene, whose truth is what makes all matrices likely
  together. Where errors are shared it believes the majority.

Who judges alike is told by Cohen's kappa of every pair, as `equipoise.truth.agreement` has it.

References
----------
Cohen, *A coefficient of agreement for nominal scales*, 1960.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> found = confusions(reading_study()[0])
>>> [(one.truth, one.matrix.round(2).tolist()) for one in found if one.annotator == "Dr Abel"]
[('others', [[0.87, 0.13], [0.29, 0.71]]), ('fitted', [[0.94, 0.06], [0.07, 0.93]])]
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.study.study import Study
from equipoise.study.truth import TaskTruth, task_truths
from equipoise.truth import dawid_skene
from equipoise.truth.agreement import agreement_findings, agreement_table
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, Ints
from equipoise.types.findings import (
    Cell,
    Chart,
    Column,
    Dot,
    Dots,
    Finding,
    Heat,
    Row,
    Table,
    columns,
    rows_of,
)
from equipoise.types.notices import Notice, notice
from equipoise.types.numbers import change, count, number, percent
from equipoise.types.plausibilities import Skills
from equipoise.types.votes import Votes, collect_votes

LISTED = 40  # annotators that are drawn one by one
FEW = 10  # votes below which no sentence is made of an annotator
TITLE = "How do annotators differ?"
NOTE = (
    "Agreement is with the mean of the others on the same items; the positive share is over "
    "the votes each annotator gave."
)
METHODS = (
    "Confusion matrices of annotators are against the votes of the others, "
    "and as fitted by the model of Dawid and Skene [@dawid1979]."
)
AXES = {
    "skill": "skill",
    "base_rate": "share of positive votes",
    "agreement": "agreement with the others",
}
HEADS = {"base_rate": "positive share", "agreement": "agreement"}


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
    return np.where(size > 0, total / np.maximum(size, 1), np.nan)


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
    gold = False if annotations.is_gold is None else annotations.is_gold
    rows = np.flatnonzero(annotations.in_task(task) & ~np.asarray(gold))
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
    table = study.voted
    matrices = confusions(table)
    front = matrices[0].task if matrices else ""
    rows = annotator_rows(study.evaluation.questions, table.annotators or ())
    for row in rows:
        row["all_votes"] = _panel_rate(
            [other for other in rows if other["task"] == row["task"]]
        )
    finding = annotators_finding([row for row in rows if row["task"] == front])
    words = confusion_words([matrix for matrix in matrices if matrix.task == front])
    sentence, *more = (*words, finding.sentence)
    first = replace(
        finding.tables[0],
        columns=(Column("task", "task"), *finding.tables[0].columns),
        rows=rows,
    )
    return replace(
        finding,
        sentence=f"{front}: {sentence}" if len(table.tasks) > 1 else sentence,
        more=tuple(more),
        tables=(*confusion_tables(matrices), first),
        charts=(*finding.charts, *confusion_charts(matrices, front)),
        methods=METHODS,
        references=("dawid1979",),
        notices=tuple(shared_errors(matrices)),
    )


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
    columns_with_numbers = [key for key in ("base_rate", "agreement") if _by(rows, key)]
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
    keys = (["skill"] if skilled else []) + columns_with_numbers
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

    def ends(key: str, rows: Sequence[Row], write: Callable[[float], str]) -> list[str]:
        ordered = _by(rows, key)
        return [f"{write(_real(ordered[i], key))} ({ordered[i]['annotator']})" for i in (0, -1)]

    if any("mean_rating" in row for row in rows):
        span = " to ".join(ends("above_the_item_mean", rows, change))
        return f"Ratings differ from those of all on the same items by {span}."
    parts = []
    if _by(many, "base_rate"):
        span = " to ".join(ends("base_rate", many, percent))
        parts.append(
            f"Positive votes run from {span}, {percent(_panel_rate(many))} over all votes"
        )
    if len(ordered := _by(many, "agreement")) > 1:
        value = number(_real(ordered[0], "agreement"))
        parts.append(f"{ordered[0]['annotator']} agrees least with the others ({value})")
    if not parts:
        parts = ["Neither base rate nor agreement of any annotator is defined"]
    text = f"{'; '.join(parts)}."
    if len(many) < len(rows):
        text += f" Annotators with fewer than {FEW} votes are not compared."
    if not skill or len(_by(many, "skill")) < 2:
        return text
    span = " to ".join(ends("skill", many, number))
    return f"By the model, skill ({skill}) runs from {span}. {text}"


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


# ---- confusions -----------------------------------------------------------------------------

TRUTHS = ("others", "fitted")
KINDS = ("binary", "nominal", "ordinal")
SHOWN = 24  # annotators in a chart
WORDS = {"others": "the others' votes", "fitted": "Dawid and Skene's truth"}


class Confusion(NamedTuple):
    """One annotator's answers in one task, given one truth.

    Attributes
    ----------
    truth
        ``others`` or ``fitted``.
    votes
        How many votes it rests on.
    classes, matrix
        Shares of the answers given each true class, (true, answered); nan for a class that
        never is the truth.
    """

    task: str
    annotator: str
    truth: str
    votes: int
    classes: tuple[str, ...]
    matrix: Floats

    @property
    def yes_no(self) -> bool:
        """Whether the second class is the positive one."""
        return len(self.classes) == 2

    @property
    def named(self) -> dict[str, Cell]:
        """What every row begins with."""
        begin = ("task", "annotator", "truth", "votes")
        return {key: getattr(self, key) for key in begin}


def confusions(annotations: Annotations, task: str | None = None) -> list[Confusion]:
    """Every annotator's matrices, by task and truth.

    Parameters
    ----------
    task
        Which question; None is all.
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
    matrices: list[Confusion] = []
    for name in annotations.tasks if task is None else (task,):
        matrices += _against_others(annotations, name)
        matrices += _fitted(annotations, name)
    return matrices


def _opinions(annotations: Annotations, task: str) -> Annotations | None:
    """The votes of a task without gold; None where there are none."""
    keep = annotations.in_task(task)
    if annotations.is_gold is not None:
        keep = keep & ~annotations.is_gold
    return annotations.rows(keep) if keep.any() else None


def _against_others(annotations: Annotations, task: str) -> Iterator[Confusion]:
    table = _opinions(annotations, task)
    if table is None:
        return
    votes, classes = collect_votes(table, task), table.classes
    size, people = len(classes), len(table.annotators or ())
    item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
    mass = np.stack([votes.mass(code) for code in range(size)], axis=1) * votes.weight[:, None]
    pair, inverse = np.unique(
        votes.annotator.astype(np.int64) * len(votes.sizes) + item, return_inverse=True
    )
    who, where = np.divmod(pair, len(votes.sizes))
    pair_mass = np.stack(
        [np.bincount(inverse, votes_for_class, len(pair)) for votes_for_class in mass.T], axis=1
    )
    item_mass = np.stack(
        [np.bincount(item, votes_for_class, len(votes.sizes)) for votes_for_class in mass.T],
        axis=1,
    )
    others = item_mass[where] - pair_mass
    whole = others.sum(axis=1)
    use = whole > 1e-9
    others[use] /= whole[use, None]
    counts = np.zeros((people, size, size))
    np.add.at(counts, who[use], others[use, :, None] * pair_mass[use, None, :])
    number_of = np.bincount(votes.annotator[use[inverse]], minlength=people)
    yield from _made(table, task, "others", counts, number_of)


def _fitted(annotations: Annotations, task: str) -> Iterator[Confusion]:
    table = _opinions(annotations, task)
    if table is None:
        return
    try:
        skills = dawid_skene(table, task=task).skills
    except InputError:  # such as a single annotator
        return
    if skills is None or skills.confusion is None:
        return
    rows = table.annotator
    assert rows is not None
    load = np.bincount(rows, minlength=len(table.annotators or ()))
    votes = dict(zip(table.annotators or (), load, strict=True))
    for name, matrix in zip(skills.annotators, skills.confusion, strict=True):
        if votes[name]:
            votes_of = int(votes[name])
            yield Confusion(task, name, "fitted", votes_of, table.classes, np.asarray(matrix))


def _made(
    table: Annotations, task: str, truth: str, counts: Floats, votes: Ints
) -> Iterator[Confusion]:
    """Counts (annotators, true, answered) as shares of each true class."""
    for who, name in enumerate(table.annotators or ()):
        if not votes[who]:
            continue
        whole = counts[who].sum(axis=1, keepdims=True)
        matrix = np.where(whole > 0, counts[who] / np.where(whole > 0, whole, 1.0), np.nan)
        yield Confusion(task, name, truth, int(votes[who]), table.classes, matrix)


def confusion_tables(matrices: Sequence[Confusion]) -> tuple[Table, ...]:
    """Sensitivity and specificity of every annotator by truth, and all table."""
    if not matrices:
        return ()
    table = Table(
        name="annotator_confusions",
        caption="What every annotator answers, given the truth",
        columns=(
            *columns(task="text", annotator="text"),
            Column("truth", "truth", words=WORDS),
            *columns(true_class="text", answer="text"),
            Column("share", "share of answers", "number"),
            Column("votes", "votes", "count"),
        ),
        rows=[
            row
            for matrix in matrices
            for row in rows_of(
                matrix.named,
                {"true_class": matrix.classes, "answer": matrix.classes},
                {"share": matrix.matrix},
            )
        ],
        brief=(),
        page=False,
    )
    return (_rates(matrices), table)


def _rates(matrices: Sequence[Confusion]) -> Table:
    """The diagonals: of a yes/no question sensitivity and specificity, else every class."""
    classes = matrices[0].classes
    keys = [f"right_{place}" for place in range(len(classes))]
    rates = [
        Column(key, f"right on {name}", "number")
        for key, name in zip(keys, classes, strict=True)
    ]
    if matrices[0].yes_no:
        keys = ["specificity", "sensitivity"]
        rates = [*columns(sensitivity="number", specificity="number")]
    return Table(
        name="annotator_rates",
        caption="How often every annotator is right, given the truth",
        columns=(
            *columns(task="text", annotator="text"),
            Column("truth", "truth", words=WORDS),
            Column("votes", "votes", "count"),
            *rates,
        ),
        rows=[
            {**matrix.named, **dict(zip(keys, np.diag(matrix.matrix).tolist(), strict=True))}
            for matrix in matrices
        ],
        legend="Truth: the votes of the others on the same items, or the truth that the "
        "model of Dawid and Skene fits to all votes.",
    )


def confusion_charts(matrices: Sequence[Confusion], task: str) -> tuple[Chart, ...]:
    """How often annotators are right, by truth."""
    of_task = [matrix for matrix in matrices if matrix.task == task]
    if not of_task:
        return ()
    people = list(dict.fromkeys(matrix.annotator for matrix in of_task))[:SHOWN]
    truths = [truth for truth in TRUTHS if any(matrix.truth == truth for matrix in of_task)]
    by = {(matrix.annotator, matrix.truth): matrix.matrix for matrix in of_task}
    classes, where = of_task[0].classes, f" ({task})" if task else ""
    yes_no, size = of_task[0].yes_no, len(classes)
    order = [1, 0] if yes_no else list(range(size))
    heads = ["spec.", "sens."] if yes_no else list(classes)
    none = np.full((size, size), np.nan)
    values = np.array(
        [[np.diag(by.get((name, t), none))[order] for t in truths] for name in people]
    ).reshape(len(people), -1)
    columns = [f"{heads[place]} ({truth})" for truth in truths for place in order]
    heat = Heat(
        name="annotator-rates",
        caption=f"How often annotators are right{where}",
        rows=people,
        columns=columns,
        values=np.asarray(values, dtype=np.float64),
        texts=[
            ["" if np.isnan(share) else number(share, 2) for share in line]
            for line in values.tolist()
        ],
    )
    return (heat,)


def confusion_words(matrices: Sequence[Confusion]) -> tuple[str, ...]:
    """How far annotators are apart, truth by truth, for one yes/no question."""
    sentences = []
    for truth in TRUTHS:
        of_truth = [matrix for matrix in matrices if matrix.truth == truth and matrix.yes_no]
        if len(of_truth) < 2:
            continue
        ends = []
        for place, what in ((1, "sensitivity"), (0, "specificity")):
            rates = [
                (float(matrix.matrix[place, place]), matrix.annotator)
                for matrix in of_truth
                if not np.isnan(matrix.matrix[place, place])
            ]
            if rates:
                (low, first), (high, last) = min(rates), max(rates)
                ends.append(f"{what} {number(low)} ({first}) to {number(high)} ({last})")
        if ends:
            sentences.append(f"Against {WORDS[truth]}: {', '.join(ends)}.")
    return tuple(sentences)


def shared_errors(matrices: Sequence[Confusion]) -> list[Notice]:
    """Say that fitted matrices look better than those against the others."""
    if not any(matrix.truth == "fitted" for matrix in matrices):
        return []
    text = (
        "Fitted matrices take the errors that annotators share for the truth; those against "
        "the others' votes count others' errors against an annotator."
    )
    return [notice("fitted_confusions", text)]

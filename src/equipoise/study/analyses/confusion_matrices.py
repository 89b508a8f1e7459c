r"""Confusions: what every annotator answers where the truth is each class.

Row k of an annotator's matrix is how its votes spread over the answers where the truth is class
k. With a yes/no question the diagonal is specificity and sensitivity. There are three truths,
and none of them is everything:

- the **others**: an item counts for class k by the share of the other annotators' votes for it,
  so that the annotator is no part of its own truth;
- **gold**, on the items that have some;
- **fitted**: the model of Dawid and Skene, whose truth is what makes all matrices likely
  together. Where errors are shared it believes the majority.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> found = confusions(reading_study()[0])
>>> [(one.truth, one.matrix.round(2).tolist()) for one in found if one.annotator == "Dr Abel"]
[('others', [[0.87, 0.13], [0.29, 0.71]]), ('fitted', [[0.94, 0.06], [0.07, 0.93]])]
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from equipoise.truth import dawid_skene
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, Ints
from equipoise.types.findings import Cell, Chart, Column, Heat, Table, columns, rows_of
from equipoise.types.notices import Notice, notice
from equipoise.types.numbers import number
from equipoise.types.votes import collect_votes

TRUTHS = ("others", "gold", "fitted")
KINDS = ("binary", "nominal", "ordinal")
ONE_BY_ONE = 8  # annotators, and classes, whose matrices are drawn one by one
SHOWN = 24  # annotators in a chart
WORDS = {"others": "the others' votes", "gold": "gold", "fitted": "Dawid and Skene's truth"}


class Confusion(NamedTuple):
    """One annotator's answers in one task, given one truth.

    Attributes
    ----------
    truth
        ``others``, ``gold`` or ``fitted``.
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
        matrices += _against_gold(annotations, name)
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


def _against_gold(annotations: Annotations, task: str) -> Iterator[Confusion]:
    gold, label = annotations.is_gold, annotations.label
    if gold is None or label is None or annotations.annotator is None:
        return
    here, size = annotations.in_task(task), len(annotations.classes)
    truth = np.zeros((len(annotations.items), size))
    np.add.at(truth, (annotations.item[here & gold], label[here & gold]), 1.0)
    total = truth.sum(axis=1)
    rows = np.flatnonzero(here & ~gold & (total[annotations.item] > 0))
    if not len(rows):
        return
    people = len(annotations.annotators or ())
    weight = np.ones(len(rows)) if annotations.count is None else annotations.count[rows]
    item, who = annotations.item[rows], annotations.annotator[rows]
    counts = np.zeros((people, size, size))
    share = truth[item] / total[item, None] * np.asarray(weight)[:, None]
    for true in range(size):
        np.add.at(counts[:, true], (who, label[rows]), share[:, true])
    number_of = np.bincount(who, weight, people).astype(np.int64)
    yield from _made(annotations, task, "gold", counts, number_of)


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
        legend="Truth: the votes of the others on the same items, gold, or the truth that the "
        "model of Dawid and Skene fits to all votes.",
    )


def confusion_charts(matrices: Sequence[Confusion], task: str) -> tuple[Chart, ...]:
    """How often annotators are right by truth; matrices of a few annotators one by one."""
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
    charts: list[Chart] = [
        _heat(
            "annotator-rates", f"How often annotators are right{where}", people, columns, values
        )
    ]
    if not yes_no and size <= ONE_BY_ONE and len(people) <= ONE_BY_ONE:
        charts += [
            _heat(
                f"confusion-{place}",
                f"{confusion.annotator}{where}: answers (columns) given {WORDS['others']} "
                "(rows)",
                classes,
                classes,
                confusion.matrix,
            )
            for place, confusion in enumerate(
                matrix for matrix in of_task if matrix.truth == "others"
            )
        ]
    return tuple(charts)


def _heat(
    name: str, caption: str, rows: Sequence[str], columns: Sequence[str], values: Floats
) -> Heat:
    return Heat(
        name=name,
        caption=caption,
        rows=list(rows),
        columns=list(columns),
        values=np.asarray(values, dtype=np.float64),
        texts=[
            ["" if np.isnan(share) else number(share, 2) for share in line]
            for line in values.tolist()
        ],
    )


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

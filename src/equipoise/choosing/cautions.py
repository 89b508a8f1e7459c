"""Cautions: what makes annotations hard to aggregate, in sentences.

Symmetric data (annotators who agree no more than by chance), disconnected data (groups that
share no item), degenerate data (one annotator, all unanimous, no item with two votes), and odd
annotators (always the same answer, guessing, turning the classes around).
"""

import numpy as np

from equipoise.aggregate import dawid_skene
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, Ints, listed
from equipoise.ballots import Ballots, ballots
from equipoise.choosing.models import confusion_bytes
from equipoise.plausibilities import Plausibilities

FEW = 10  # votes below which an annotator is not judged
CHANCE = 0.05  # kappa below which the classes cannot be told apart by agreement
ROOM = 64_000_000  # bytes of confusion matrices that are worth a look at odd annotators


def cautions(
    annotations: Annotations, task: str = "", *, fit: Plausibilities | None = None
) -> list[str]:
    """What the user should know before trusting any model of these annotations.

    Parameters
    ----------
    fit
        Plausibilities by `dawid_skene` of the same task, if there are any yet.
    """
    if annotations.kind == "interval":
        return _of_ratings(annotations, task)
    opinions = _opinions(annotations, task)
    if opinions is None:
        return ["Every item is gold: there is nothing to infer."]
    votes = ballots(opinions, task, apart=False)
    said = []
    top = np.max([votes.shares(code) for code in range(len(annotations.classes))], axis=0)
    lone = bool((_voices(opinions, votes) <= 1).all())
    if lone:
        said.append("No item has two votes: disagreement cannot be seen.")
    elif (top >= 1 - 1e-12).all():
        said.append("Every item is unanimous: models cannot differ, and skills mean nothing.")
    if annotations.annotators is None or annotations.rank is not None:
        return said
    if len(np.unique(votes.annotator)) == 1:
        return [*said, "There is only one annotator: disagreement cannot be seen."]
    item = np.repeat(np.arange(len(top)), votes.sizes)
    said += _thin(len(top), len(annotations.classes))
    said += _connected(votes.annotator, item)
    said += [] if lone else _symmetric(votes, item, len(annotations.classes), opinions)
    return said + _odd_people(annotations, task, fit)


def _opinions(annotations: Annotations, task: str) -> Annotations | None:
    """The rows of a task that are not gold; None without any."""
    keep = annotations.in_task(task)
    if annotations.is_gold is not None:
        keep = keep & ~annotations.is_gold
    return annotations.rows(keep) if keep.any() else None


def _times(annotations: Annotations) -> Floats:
    """How many votes each row stands for."""
    if annotations.count is None:
        return np.ones(len(annotations))
    return annotations.count.astype(np.float64)


def _voices(annotations: Annotations, votes: Ballots) -> Floats:
    """Votes per item, a row counting as often as it stands for."""
    if annotations.rank is not None:
        return votes.sizes.astype(np.float64)
    number = np.bincount(annotations.item, _times(annotations)).astype(np.float64)
    return np.asarray(number[votes.items])


def _of_ratings(annotations: Annotations, task: str) -> list[str]:
    """Degenerate ratings."""
    rows = annotations.in_task(task)
    item, value = annotations.item[rows], annotations.value
    assert value is not None
    said = []
    if (np.bincount(item, _times(annotations)[rows]) <= 1).all():
        said.append("No item has two ratings: their scatter cannot be seen.")
    elif len(np.unique(np.stack([item, value[rows]]), axis=1).T) == len(np.unique(item)):
        said.append("Every item is unanimous: its ratings do not scatter.")
    if annotations.annotator is not None and len(np.unique(annotations.annotator[rows])) == 1:
        said.append("There is only one annotator: disagreement cannot be seen.")
    return said


def _thin(items: int, classes: int) -> list[str]:
    """Warn when there are too few items to learn how often classes occur."""
    if items >= FEW * (classes - 1):
        return []
    return [
        f"Items are few for {classes} classes ({items}): models of annotators know next "
        "to nothing about how often a class occurs, and may be far too sure."
    ]


def _connected(annotator: Ints, item: Ints) -> list[str]:
    """Warn when the graph of who rated what falls apart."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    known = annotator >= 0
    people, who = np.unique(annotator[known], return_inverse=True)
    things, what = np.unique(item[known], return_inverse=True)
    size = len(people) + len(things)
    edges = (np.ones(len(who)), (who, len(people) + what))
    groups, part = connected_components(coo_matrix(edges, shape=(size, size)), directed=False)
    if groups < 2:
        return []
    alone = int((np.bincount(part[: len(people)], minlength=groups) == 1).sum())
    return [
        f"Annotators fall into {groups} groups that share no item: skills of different groups "
        "cannot be compared."
        + (f" {alone} groups have a single annotator, who is never contradicted."
           if alone else "")
    ]  # fmt: skip


def _symmetric(votes: Ballots, item: Ints, classes: int, annotations: Annotations) -> list[str]:
    """Warn when agreement is at chance, so that no model can tell a class from its opposite."""
    label = np.zeros(len(item), dtype=np.int64)
    label[votes.vote] = votes.label
    order = np.argsort(annotations.item, kind="stable")
    cell, code = np.unique(item * classes + label, return_inverse=True)
    times = np.bincount(code, _times(annotations)[order])
    size = np.bincount(cell // classes, times)
    pairs = float((size * (size - 1)).sum())
    share = np.bincount(cell % classes, times, classes) / times.sum()
    expected = float((share**2).sum())
    if not pairs or expected >= 1:
        return []
    kappa = (float((times * (times - 1)).sum()) / pairs - expected) / (1 - expected)
    if kappa >= CHANCE:
        return []
    return [
        f"Annotators agree hardly more than by chance (kappa {kappa:.2f}): only the assumption "
        "that they are right on average tells a class from its opposite, and skills, as well "
        "as the truth of dawid_skene and glad, may come out inverted."
    ]


def _odd_people(annotations: Annotations, task: str, fit: Plausibilities | None) -> list[str]:
    """Annotators who always say the same, guess, or turn the classes around."""
    if fit is None and confusion_bytes(annotations) > ROOM:
        return [
            "Odd annotators are not looked for: there are too many annotators and classes for "
            f"confusion matrices ({confusion_bytes(annotations) / 1e6:,.0f} MB)."
        ]
    fit = dawid_skene(annotations, task=task) if fit is None else fit
    assert fit.skills is not None and fit.skills.confusion is not None
    table = vote_table(annotations, task)
    names, classes = annotations.annotators or (), len(annotations.classes)
    many = table.sum(axis=1) >= FEW
    constant = many & ((table > 0).sum(axis=1) == 1) & ((table.sum(axis=0) > 0).sum() > 1)
    right = np.einsum("akk->a", fit.skills.confusion) / classes
    better = (right - 1 / classes) / (1 - 1 / classes)
    kinds = {
        ("always gives", "always give", "the same answer"): constant,
        ("hardly tells", "hardly tell", "the classes apart"):
            many & ~constant & (np.abs(better) < 0.1),
        ("tends", "tend", "to turn the classes around"): many & ~constant & (better <= -0.1),
    }  # fmt: skip
    said = []
    for (single, plural, what), who in kinds.items():
        number, people = int(who.sum()), listed([names[a] for a in np.flatnonzero(who)])
        if number:
            verb = f"annotator {single}" if number == 1 else f"annotators {plural}"
            said.append(f"{number} {verb} {what}: {people}.")
    return said


def vote_table(annotations: Annotations, task: str) -> Ints:
    """How often each annotator gave each answer, gold rows apart, (annotators, classes)."""
    assert annotations.annotator is not None and annotations.label is not None
    rows = annotations.in_task(task)
    if annotations.is_gold is not None:
        rows = rows & ~annotations.is_gold
    table = np.zeros((len(annotations.annotators or ()), len(annotations.classes)), np.int64)
    times = 1 if annotations.count is None else annotations.count[rows]
    np.add.at(table, (annotations.annotator[rows], annotations.label[rows]), times)
    return table

"""Choosing: which aggregation models fit the annotations, and which predicts votes best.

Held-out log-likelihood: (item, annotator) pairs are split into folds; a model fitted to the
others gives the votes of each fold a chance: the sum over classes k of P(item is k) times
P(annotator says l | k) where the model knows annotators, else the item's share of l. A chance
of zero is minus infinity, never clipped.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from equipoise.aggregate import CATALOGUE, dawid_skene
from equipoise.annotation_rules import COLUMNS
from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats, InputError, Ints, listed
from equipoise.ballots import ballots
from equipoise.plausibilities import Plausibilities

FEW = 10  # votes below which an annotator is not judged


def suitable(annotations: Annotations) -> tuple[str, ...]:
    """Names of the models that can take these annotations.

    Examples
    --------
    >>> votes = Annotations(kind="binary", items=("a",), classes=("no", "yes"),
    ...     item=np.array([0, 0]), label=np.array([1, 0]))
    >>> suitable(votes)
    ('dirichlet', 'mean_vote', 'majority_vote')
    """
    if annotations.kind == "interval":
        return ()
    names = ["dirichlet", "mean_vote", "majority_vote"]
    if annotations.kind == "ranking":
        ranked = ["plackett_luce", "plackett_luce_ml", "probabilistic_inverse_rank"]
        names = [*ranked, "inverse_rank", *names]
    elif annotations.annotators is not None and len(annotations.annotators) > 1:
        names.insert(0, "dawid_skene")
        also = {"ordinal": "dawid_skene_ordinal", "binary": "glad"}.get(annotations.kind)
        names[1:1] = [also] if also else []
    return tuple(names)


def recommended(annotations: Annotations) -> tuple[str, str]:
    """The model to start with, and why."""
    names = suitable(annotations)
    if not names:
        raise InputError(
            "annotations of kind interval", "ratings", "classes or rankings",
            "turn ratings into a yes/no question with at_least",
        )  # fmt: skip
    why = {
        "plackett_luce": "because the annotations are rankings",
        "dawid_skene": "because annotators are known and differ in how they err",
        "dirichlet": "because annotators are not known, or there is only one",
    }
    return names[0], f"{names[0]}, {why[names[0]]}."


def fitted(
    annotations: Annotations, names: Iterable[str], task: str
) -> dict[str, Plausibilities]:
    """Fit several models to one task."""
    return {name: CATALOGUE[name](annotations, task=task) for name in names}


def held_out(
    annotations: Annotations,
    names: Iterable[str],
    *,
    folds: int = 5,
    seed: int = 0,
    task: str = "",
) -> dict[str, float]:
    """Mean log-likelihood of held-out votes, per vote, for each model.

    Votes on items that have none left to fit are passed over; nan when that leaves nothing.
    """
    if (
        annotations.label is None
        or annotations.annotator is None
        or annotations.rank is not None
    ):
        raise InputError(
            "held-out votes", f"{annotations.kind} annotations", "labels of known annotators",
            "compare the models by their certainties instead",
        )  # fmt: skip
    rows = annotations.in_task(task)
    pair = annotations.annotator.astype(np.int64) * len(annotations.items) + annotations.item
    every, code = np.unique(pair, return_inverse=True)
    fold = np.random.default_rng(seed).permutation(len(every))[code] % folds
    found: dict[str, list[Floats]] = {name: [] for name in names}
    for number in range(folds):
        test = np.flatnonzero(rows & (fold == number))
        train = rows & (fold != number)
        if not len(test) or not train.any():
            continue
        part = _kept(annotations, train)
        for name, scores in found.items():
            scores.append(_log_chance(CATALOGUE[name](part, task=task), annotations, test))
    return {
        name: float(np.concatenate(scores).mean()) if sum(map(len, scores)) else float("nan")
        for name, scores in found.items()
    }


def _kept(annotations: Annotations, keep: Bools) -> Annotations:
    """Some rows, with all names as they were."""
    columns = {
        name: getattr(annotations, name)[keep]
        for name in COLUMNS
        if name != "group" and getattr(annotations, name) is not None
    }
    return replace(annotations, **columns)


def _log_chance(made: Plausibilities, annotations: Annotations, rows: Ints) -> Floats:
    """Log chance of each held-out vote whose item was fitted."""
    assert annotations.label is not None and annotations.annotator is not None
    place = {name: number for number, name in enumerate(made.items)}
    number = np.array([place.get(annotations.items[i], -1) for i in annotations.item[rows]])
    rows, number = rows[number >= 0], number[number >= 0]
    chance, said = made.mean[number], annotations.label[rows]
    if made.skills is not None and made.skills.confusion is not None:
        answer = made.skills.confusion[annotations.annotator[rows], :, said]
        value = (chance * answer).sum(axis=1)
    else:
        value = chance[np.arange(len(rows)), said]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(value))


def disagreement(fits: Mapping[str, Plausibilities]) -> Floats:
    """Largest total variation between any two models' means, shape (items,)."""
    means = [one.mean for one in fits.values()]
    gaps = [np.abs(a - b).sum(axis=1) / 2 for a in means for b in means]
    return np.asarray(np.max(gaps, axis=0))


def cautions(annotations: Annotations, task: str = "") -> list[str]:
    """What makes these annotations hard to aggregate, in sentences."""
    votes = ballots(annotations, task)
    said = []
    top = np.max([votes.shares(code) for code in range(len(annotations.classes))], axis=0)
    if (top == 1).all():
        said.append("Every item is unanimous: models cannot differ, and skills mean nothing.")
    if annotations.annotators is None or annotations.rank is not None:
        return said
    if len(annotations.annotators) == 1:
        return [*said, "There is only one annotator: disagreement cannot be seen."]
    groups = _components(votes.annotator, np.repeat(np.arange(len(top)), votes.sizes))
    if groups > 1:
        said.append(
            f"Annotators fall into {groups} groups that share no item: skills of different "
            "groups cannot be compared."
        )
    return said + _odd_people(annotations, task)


def _components(annotator: Ints, item: Ints) -> int:
    """Number of connected parts of the graph of who rated what."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    known = annotator >= 0
    people, who = np.unique(annotator[known], return_inverse=True)
    things, what = np.unique(item[known], return_inverse=True)
    size = len(people) + len(things)
    edges = (np.ones(len(who)), (who, len(people) + what))
    return int(connected_components(coo_matrix(edges, shape=(size, size)), directed=False)[0])


def _odd_people(annotations: Annotations, task: str) -> list[str]:
    """Annotators who always say the same, guess, or turn the classes around."""
    fit = dawid_skene(annotations, task=task)
    assert fit.skills is not None and fit.skills.confusion is not None
    assert annotations.annotator is not None and annotations.label is not None
    rows = annotations.in_task(task)
    names, classes = annotations.annotators or (), len(annotations.classes)
    table = np.zeros((len(names), classes))
    np.add.at(table, (annotations.annotator[rows], annotations.label[rows]), 1.0)
    many = table.sum(axis=1) >= FEW
    constant = many & ((table > 0).sum(axis=1) == 1) & ((table.sum(axis=0) > 0).sum() > 1)
    right = np.einsum("akk->a", fit.skills.confusion) / classes
    better = (right - 1 / classes) / (1 - 1 / classes)
    kinds = {
        "always give the same answer": constant,
        "hardly tell the classes apart": many & ~constant & (np.abs(better) < 0.1),
        "tend to turn the classes around": many & ~constant & (better <= -0.1),
    }
    return [
        f"{int(who.sum())} annotators {what}: "
        f"{listed([names[a] for a in np.flatnonzero(who)])}."
        for what, who in kinds.items()
        if who.any()
    ]

"""Cautions and remarks: what makes annotations hard to aggregate, and what choices do to them.

Cautions are about symmetric data (annotators who agree no more than by chance), disconnected
data (groups that share no item), degenerate data (one annotator, all unanimous, no item with
two votes), and odd annotators (always the same answer, guessing, turning the classes around).
Remarks are about labels that look like ratings but are read as classes, a prior that outweighs
the votes, and a threshold that no rating straddles.
"""

import numpy as np

from equipoise.truth.agreement.coefficients import TaskVotes, collect
from equipoise.truth.choosing import confusion_bytes
from equipoise.truth.confusion import dawid_skene
from equipoise.types import (
    Annotations,
    InputError,
    Names,
    Notice,
    Option,
    Plausibilities,
    added_votes,
    collect_votes,
    hint,
    listed,
    notice,
    refusing_wrong_types,
    vote_counts,
)

FEW = 10  # votes below which an annotator is not judged
CHANCE = 0.05  # kappa below which the classes cannot be told apart by agreement
MANY_NUMBERS = 20  # distinct numbers above which classes look like ratings
MOST_CLASSES = 1000  # distinct labels above which they can hardly be classes
ONE_ANNOTATOR = Notice(
    "one_annotator", "There is only one annotator: disagreement cannot be seen."
)
ROOM = 64_000_000  # bytes of confusion matrices that are worth a look at odd annotators


@refusing_wrong_types
def cautions(
    annotations: Annotations, task: str = "", *, fit: Plausibilities | None = None
) -> list[Notice]:
    """What the user should know before trusting any model of these annotations.

    Parameters
    ----------
    fit
        Plausibilities by `dawid_skene` of the same task, if there are any yet.
    """
    if annotations.kind == "interval":
        return _of_ratings(annotations, task)
    rows = annotations.opinions(task)
    classes = len(annotations.classes)
    if not rows.any():
        return [Notice("all_gold", "Every item is gold: there is nothing to infer.")]
    opinions = annotations.rows(rows)
    votes = collect_votes(opinions, task, apart=False)
    notices = []
    top = np.max([votes.shares(code) for code in range(classes)], axis=0)
    times = np.bincount(opinions.item, vote_counts(opinions))[votes.items]
    lone = bool(((times if annotations.rank is None else votes.sizes) <= 1).all())
    if lone:
        text = "No item has two votes: disagreement cannot be seen."
        notices.append(Notice("lone_votes", text))
    elif (top >= 1 - 1e-12).all():
        text = "Every item is unanimous: models cannot differ, and skills mean nothing."
        notices.append(Notice("unanimous", text))
    if annotations.annotators is None or annotations.rank is not None:
        return notices
    if len(np.unique(votes.annotator)) == 1:
        return [*notices, ONE_ANNOTATOR]
    if len(top) < FEW * (classes - 1):  # to learn how often classes occur
        text = (
            "Items are few for {classes:count} classes ({items:count}): models of annotators "
            "know next to nothing about how often a class occurs, and may be far too sure."
        )
        notices.append(notice("few_items", text, classes=classes, items=len(top)))
    of_task = collect(annotations, task)
    notices += _connected(of_task)
    notices += [] if lone else _symmetric(of_task)
    return notices + added_votes(opinions) + _odd_people(annotations, task, fit)


def _of_ratings(annotations: Annotations, task: str) -> list[Notice]:
    """Degenerate ratings."""
    rows = annotations.in_task(task)
    item, value = annotations.item[rows], annotations.value
    assert value is not None
    notices = []
    if (np.bincount(item, vote_counts(annotations, rows)) <= 1).all():
        text = "No item has two ratings: their scatter cannot be seen."
        notices.append(Notice("lone_ratings", text))
    elif len(np.unique(np.stack([item, value[rows]]), axis=1).T) == len(np.unique(item)):
        text = "Every item is unanimous: its ratings do not scatter."
        notices.append(Notice("unanimous_ratings", text))
    if annotations.annotator is not None and len(np.unique(annotations.annotator[rows])) == 1:
        notices.append(ONE_ANNOTATOR)
    return notices


def _connected(votes: TaskVotes) -> list[Notice]:
    """Warn when the graph of who rated what falls apart."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    assert votes.who is not None
    people, who = np.unique(votes.who, return_inverse=True)
    things, what = np.unique(votes.item, return_inverse=True)
    size = len(people) + len(things)
    edges = (np.ones(len(who)), (who, len(people) + what))
    groups, part = connected_components(coo_matrix(edges, shape=(size, size)), directed=False)
    if groups < 2:
        return []
    alone = int((np.bincount(part[: len(people)], minlength=groups) == 1).sum())
    text = (
        "Annotators fall into {groups:count} groups that share no item: skills of different "
        "groups cannot be compared."
    )
    if alone:
        text += " {alone:count} groups have a single annotator, who is never contradicted."
    return [notice("disconnected", text, groups=groups, alone=alone)]


def _symmetric(votes: TaskVotes) -> list[Notice]:
    """Warn when agreement is at chance, so that no model can tell a class from its opposite."""
    count = votes.counts()
    size, share = (np.asarray(count.sum(axis=axis)).ravel() for axis in (1, 0))
    pairs, total = float((size * (size - 1)).sum()), float(size.sum())
    expected = float(((share / total) ** 2).sum())
    if not pairs or expected >= 1:
        return []
    same = (float(count.multiply(count).sum()) - total) / pairs
    kappa = (same - expected) / (1 - expected)
    if kappa >= CHANCE:
        return []
    text = (
        "Annotators agree hardly more than by chance (kappa {kappa:number}, where 0 is that of "
        "guesses and 1 is complete): only the assumption that they are right on average tells "
        "a class from its opposite, and skills, as well as the truth of dawid_skene and glad, "
        "may come out inverted."
    )
    return [notice("symmetric", text, kappa=kappa)]


def _odd_people(
    annotations: Annotations, task: str, fit: Plausibilities | None
) -> list[Notice]:
    """Annotators who always say the same, guess, or turn the classes around."""
    if fit is None and confusion_bytes(annotations) > ROOM:
        text = (
            "Odd annotators are not looked for: there are too many annotators and classes for "
            "confusion matrices ({megabytes:count} MB)."
        )
        size = round(confusion_bytes(annotations) / 1e6)
        return [notice("not_looked_for", text, megabytes=size)]
    fit = dawid_skene(annotations, task=task) if fit is None else fit
    assert fit.skills is not None and fit.skills.confusion is not None
    names, classes = annotations.annotators or (), len(annotations.classes)
    votes, table = collect(annotations, task), np.zeros((len(names), classes))
    assert votes.who is not None
    np.add.at(table, (votes.who, votes.code), votes.times)
    many = table.sum(axis=1) >= FEW
    constant = many & ((table > 0).sum(axis=1) == 1) & ((table.sum(axis=0) > 0).sum() > 1)
    right = np.einsum("akk->a", fit.skills.confusion) / classes
    better = (right - 1 / classes) / (1 - 1 / classes)
    guessing = many & ~constant & (np.abs(better) < 0.1)
    inverted = many & ~constant & (better <= -0.1)
    sides = {
        "constant": (constant, "always gives", "always give", "the same answer"),
        "guessing": (guessing, "hardly tells", "hardly tell", "the classes apart"),
        "inverted": (inverted, "tends", "tend", "to turn the classes around"),
    }
    notices = []
    for kind, (people, single, plural, what) in sides.items():
        who = tuple(names[a] for a in np.flatnonzero(people))
        verb = f"annotator {single}" if len(who) == 1 else f"annotators {plural}"
        if who:
            text = f"{{number:count}} {verb} {what}: {{names:names}}."
            notices.append(notice(f"{kind}_annotators", text, number=len(who), names=who))
    return notices


@refusing_wrong_types
def remarks(annotations: Annotations, truth: Plausibilities) -> list[Notice]:
    """What the user should know about how the annotations were read and the model was set.

    Examples
    --------
    >>> from equipoise.truth import dirichlet
    >>> votes = Annotations.from_counts(np.array([[1, 0, 0], [1, 1, 0]]))
    >>> str(remarks(votes, dirichlet(votes, prior="uniform"))[0])[:64]
    'The prior outweighs the votes: it counts as 3 votes per item, 1 '
    """
    return [
        *_like_ratings(annotations),
        *_outweighed(annotations, truth),
        *_outside(annotations, truth),
    ]


def refuse_too_many_classes(annotations: Annotations) -> None:
    """Refuse labels that are nearly all different, which no model of classes can use."""
    classes = annotations.classes
    if not _plain_names(annotations, more_than=MOST_CLASSES):
        return
    layouts = (Option("layout", "tidy"), Option("layout", "wide"))
    do = hint("check which column holds the label and the layout ({}, {})", *layouts)
    if _as_numbers(classes):
        do = hint("read numbers as ratings with {}", Option("kind", "interval"))
    raise InputError(
        "annotations, labels",
        f"{len(classes):,} distinct ones ({listed(classes)})",
        f"at most {MOST_CLASSES:,} classes",
        hint("{}, or name the classes with {}", do, Option("classes")),
    )


def _plain_names(annotations: Annotations, more_than: int) -> bool:
    """Whether labels were read as more than so many classes without order, one by one."""
    single = annotations.kind == "nominal" and annotations.count is None
    return single and len(annotations.classes) > more_than


def _as_numbers(names: Names) -> list[float]:
    """Classes as numbers; empty where they are not."""
    try:
        return [float(name) for name in names]
    except ValueError:
        return []


def _like_ratings(annotations: Annotations) -> list[Notice]:
    """Say when classes are so many numbers that they are probably ratings."""
    values = _as_numbers(annotations.classes)
    if not values or not _plain_names(annotations, more_than=MANY_NUMBERS):
        return []
    text = (
        "The labels look like ratings ({numbers:count} distinct numbers from {low} to {high}) "
        "but are read as classes without order: {advice}."
    )
    ends = {"low": f"{min(values):g}", "high": f"{max(values):g}"}
    advice = Option("kind", "interval")
    return [notice("like_ratings", text, numbers=len(values), **ends, advice=advice)]


def _outweighed(annotations: Annotations, truth: Plausibilities) -> list[Notice]:
    """Say when the prior of a Dirichlet counts more than the votes of most items."""
    if truth.model != "dirichlet":
        return []
    worth, classes = float(truth.parameters["reliability"]), len(truth.classes)
    estimated = "concentration" in truth.parameters
    prior = 1.0 if truth.parameters["prior"] == "uniform" else truth.parameters["prior"]
    total = float(truth.parameters["concentration"] if estimated else prior * classes)
    votes = collect_votes(annotations, truth.task)
    opinion = votes.annotator[votes.start[:-1]] >= 0
    size = np.add.reduceat(votes.weight, votes.start[:-1])[opinion]
    if not len(size) or total <= worth * np.median(size):
        return []
    if estimated:
        text = (
            "The items hardly differ in how they are voted on: the base rate counts as "
            "{total:count} votes per item, and half of the items have at most {most:count}."
        )
        most = float(worth * np.median(size))
        return [notice("base_rate_outweighs", text, total=round(total), most=most)]
    text = (
        "The prior outweighs the votes: it counts as {total:count} votes per item, {prior} for "
        "each of {classes:count} classes, and half of the items have at most {most:count}. "
        "Certainties come out low for that reason; a prior of 1 over all classes together is "
        "{advice}."
    )
    caution = notice(
        "prior_outweighs",
        text,
        total=total,
        prior=f"{prior:g}",
        classes=classes,
        most=float(worth * np.median(size)),
        advice=Option("prior", float(f"{1 / classes:.2g}")),
    )
    return [caution]


def _outside(annotations: Annotations, truth: Plausibilities) -> list[Notice]:
    """Say when no rating lies on one side of the threshold."""
    if annotations.value is None or "threshold" not in truth.parameters:
        return []
    value = annotations.value[annotations.in_task(truth.task)]
    threshold, low, high = float(truth.parameters["threshold"]), value.min(), value.max()
    if low < threshold <= high:
        return []
    text = (
        "The threshold {threshold} does not divide the ratings, which run from {low} to "
        "{high}: all are {side} it, and what lies beyond is extrapolated."
    )
    side = "below" if threshold > high else "at least"
    ends = {"threshold": f"{threshold:g}", "low": f"{low:g}", "high": f"{high:g}"}
    return [notice("threshold_outside", text, **ends, side=side)]

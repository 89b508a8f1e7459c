"""Remarks: what a choice of kind, prior or threshold does to these annotations, in sentences.

Labels that look like ratings but are read as classes, a prior that outweighs the votes, a
threshold that no rating straddles.
"""

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import InputError, listed
from equipoise.ballots import ballots
from equipoise.plausibilities import Plausibilities
from equipoise.wording import Option, hint

MANY_NUMBERS = 20  # distinct numbers above which classes look like ratings
MOST_CLASSES = 1000  # distinct labels above which they can hardly be classes


def remarks(annotations: Annotations, made: Plausibilities) -> list[str]:
    """What the user should know about how the annotations were read and the model was set.

    Examples
    --------
    >>> from equipoise.aggregate import dirichlet
    >>> votes = Annotations.from_counts(np.array([[1, 0, 0], [1, 1, 0]]))
    >>> remarks(votes, dirichlet(votes))[0][:62]
    'The prior outweighs the votes: it is worth 3 votes per item, 1'
    """
    return [
        *_like_ratings(annotations),
        *_outweighed(annotations, made),
        *_outside(annotations, made),
    ]


def refuse_too_many_classes(annotations: Annotations) -> None:
    """Refuse labels that are nearly all different, which no model of classes can use."""
    if annotations.kind != "nominal" or annotations.count is not None:
        return
    if len(annotations.classes) <= MOST_CLASSES:
        return
    numbers = _all_numbers(annotations.classes)
    do = (
        hint("read numbers as ratings with {}", Option("kind", "interval"))
        if numbers
        else hint(
            "check which column holds the label and the layout ({}, {})",
            Option("layout", "tidy"),
            Option("layout", "wide"),
        )
    )
    raise InputError(
        "annotations, labels",
        f"{len(annotations.classes):,} distinct ones ({listed(annotations.classes)})",
        f"at most {MOST_CLASSES:,} classes",
        hint("{}, or name the classes with {}", do, Option("classes")),
    )


def _all_numbers(names: tuple[str, ...]) -> bool:
    """Whether every class is a number."""
    try:
        [float(name) for name in names]
    except ValueError:
        return False
    return True


def _like_ratings(annotations: Annotations) -> list[str]:
    """Say when classes are so many numbers that they are probably ratings."""
    classes = annotations.classes
    counted = annotations.count is not None
    if annotations.kind != "nominal" or counted or len(classes) <= MANY_NUMBERS:
        return []
    if not _all_numbers(classes):
        return []
    values = [float(name) for name in classes]
    return [
        f"The labels look like ratings ({len(classes)} distinct numbers from {min(values):g} "
        f"to {max(values):g}) but are read as classes without order: --kind interval."
    ]


def _outweighed(annotations: Annotations, made: Plausibilities) -> list[str]:
    """Say when the prior of a Dirichlet is worth more than the votes of most items."""
    if not made.method.startswith("Dirichlet"):
        return []
    prior, worth = (float(made.parameters[name]) for name in ("prior", "reliability"))
    votes = ballots(annotations, made.task)
    opinion = votes.annotator[votes.start[:-1]] >= 0
    size = np.add.reduceat(votes.weight, votes.start[:-1])[opinion]
    total = prior * len(made.classes)
    if not len(size) or total <= worth * np.median(size):
        return []
    return [
        f"The prior outweighs the votes: it is worth {total:g} votes per item, {prior:g} for "
        f"each of {len(made.classes)} classes, and half of the items have at most "
        f"{worth * np.median(size):g}. Certainties come out low for that reason; a prior of "
        f"1 over all classes together is --prior {1 / len(made.classes):.2g}."
    ]


def _outside(annotations: Annotations, made: Plausibilities) -> list[str]:
    """Say when no rating lies on one side of the threshold."""
    if annotations.value is None or "threshold" not in made.parameters:
        return []
    value = annotations.value[annotations.in_task(made.task)]
    threshold, low, high = float(made.parameters["threshold"]), value.min(), value.max()
    if low < threshold <= high:
        return []
    side = "below" if threshold > high else "at least"
    return [
        f"The threshold {threshold:g} does not divide the ratings, which run from {low:g} to "
        f"{high:g}: all are {side} it, and what lies beyond is extrapolated."
    ]

"""Meaning: which question the certainty of a model answers.

Certainties of different models answer different questions and are not to be compared: the
chance that a class has the largest share among all annotators there could be, the chance that
it is the one true class, the share of redrawn panels that name it, or nothing but a point.
"""

from typing import NamedTuple

from equipoise.plausibilities import Plausibilities

FEW_DRAWS = 100  # below, the steps of a share of draws are said


class Meaning(NamedTuple):
    """What a certainty is: in a few words, in a sentence, and whether it tells any doubt."""

    words: str
    sentence: str
    doubt: bool = True


BY_LAW = {
    "labels": Meaning(
        "chance of the class",
        "In this model exactly one class of an item is right, and the certainty is the chance "
        "that the leading class is that one.",
    ),
    "dirichlet": Meaning(
        "chance of the largest share",
        "The certainty of an item is the chance that the class that leads it really has the "
        "largest share, given how few and how divided the annotations are.",
    ),
    "normal": Meaning(
        "chance of the side",
        "The certainty of an item is the chance that most ratings, if there were many, would "
        "lie on this side of the threshold.",
    ),
}
DRAWN = Meaning(
    "share of draws",
    "The certainty of an item is the share of draws in which the class that leads it has the "
    "largest share.",
)
VOTES = Meaning(
    "point: share of the votes",
    "This model knows no doubt: the certainty is the share of the votes for the leading class.",
    doubt=False,
)
POINT = Meaning(
    "point: 0 or 1",
    "This model gives one distribution over classes per item and no doubt about it, so the "
    "certainty only tells ties from clear cases.",
    doubt=False,
)


def meaning(made: Plausibilities) -> Meaning:
    """Say what the certainty of these plausibilities is.

    Examples
    --------
    >>> from equipoise.aggregate import dirichlet, mean_vote
    >>> from equipoise.annotations import Annotations
    >>> votes = Annotations.from_counts(np.array([[3, 2], [9, 0]]))
    >>> meaning(dirichlet(votes)).words, meaning(mean_vote(votes)).doubt
    ('chance of the largest share', False)
    """
    if made.model == "annotator_bootstrap":
        return _panels(made.draws)
    if made.model == "mean_vote":
        return VOTES
    if made.model == "majority_vote" or (made.law is None and made.draws == 1):
        return POINT
    if made.law is not None and made.law.name in BY_LAW:
        return BY_LAW[made.law.name]
    return DRAWN._replace(sentence=DRAWN.sentence + _steps(made.draws))


def _panels(draws: int) -> Meaning:
    """What redrawn panels say."""
    return Meaning(
        "share of redrawn panels",
        "The certainty of an item is the share of redrawn panels that name the same class."
        + _steps(draws),
    )


def _steps(draws: int) -> str:
    """The steps in which shares of few draws come."""
    if draws >= FEW_DRAWS:
        return ""
    return f" There are {draws} draws, so it comes in steps of {1 / draws:.2g}."

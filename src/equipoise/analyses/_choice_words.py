"""Choices of aggregation in words: verdicts on comparisons, and how many of them survive."""

from collections.abc import Sequence

import numpy as np

from equipoise.arrays import Floats

HOLDS, LEANS, DEPENDS = "holds under all", "same order, not separated", "depends on the choice"
LEVEL, UNDEFINED = "level", "undefined"
SINGLE = {
    HOLDS: "holds under all of them",
    LEANS: "keeps its direction under all of them, but is not always separated",
    DEPENDS: "depends on the choice",
    LEVEL: "is level under all of them",
    UNDEFINED: "is undefined under some of them",
}
FIXED = (
    "Each aggregation model is fitted once, to all items; redrawing items does not fit it "
    "again, so intervals leave out how uncertain the fit is."
)


def verdict(gap: Floats, low: Floats, high: Floats) -> str:
    """What becomes of a comparison under all choices: its differences, with their intervals.

    Examples
    --------
    >>> verdict(np.array([0.1, 0.2]), np.array([0.05, -0.1]), np.array([0.2, 0.3]))
    'same order, not separated'
    """
    if np.isnan(gap).any():
        return UNDEFINED
    if not gap.any():
        return LEVEL
    if not ((gap > 0).all() or (gap < 0).all()):
        return DEPENDS
    return HOLDS if (low > 0).all() or (high < 0).all() else LEANS


def under(choices: int) -> str:
    """Begin a sentence with how many choices there are.

    Examples
    --------
    >>> under(8), under(1)
    ('Under 8 choices of aggregation', 'Under one aggregation')
    """
    return f"Under {choices} choices of aggregation" if choices > 1 else "Under one aggregation"


def verdicts_said(verdicts: Sequence[str]) -> str:
    """How many comparisons of two models hold, and how many turn on the choice.

    Examples
    --------
    >>> verdicts_said([HOLDS, HOLDS, DEPENDS])
    'of 3 comparisons of two models 2 hold under all of them, and 1 depends on the choice'
    >>> verdicts_said([LEVEL])
    'the comparison of the two models is level under all of them'
    """
    if len(verdicts) == 1:
        return f"the comparison of the two models {SINGLE[verdicts[0]]}"
    holds, turns = verdicts.count(HOLDS), verdicts.count(DEPENDS)
    return (
        f"of {len(verdicts)} comparisons of two models {holds} hold{'s' * (holds == 1)} under "
        f"all of them, and {turns} depend{'s' * (turns == 1)} on the choice"
    )

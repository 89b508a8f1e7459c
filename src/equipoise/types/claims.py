"""Claims: what a sentence asserts, of whom, and with what error.

A claim is the only source of a sentence that asserts something: an estimand (which metric,
against whose truth, of which competitors), a population, a family declared before looking in
which error is controlled, a value with its interval, and the decision that follows from both.
Sentences about one estimand come from one claim, so that they cannot contradict each other.

The interval decides: above 0, or below 0; with a margin, non-inferior where it lies above minus
the margin. At a level of 95 % that is one-sided 2.5 %.

Examples
--------
>>> estimand = Estimand("sensitivity", "positives by the standard", "net", "readers")
>>> family = ClaimFamily("models that could be first", ("net", "tree"))
>>> claim = Claim(estimand, Whom.LIKE_THESE, family, -0.04, -0.07, -0.01)
>>> claim.decision, claim.direction
(<Decision.INFERIOR: 'inferior'>, -1)
>>> Claim(estimand, Whom.LIKE_THESE, family, -0.04, -0.07, -0.01, margin=0.1).decision
<Decision.NON_INFERIOR: 'non-inferior'>
"""

import math
from enum import Enum
from typing import NamedTuple

from equipoise.types.arrays import Names
from equipoise.types.records import immutable


class Whom(Enum):
    """Whom a claim speaks for."""

    LIKE_THESE = "items and readers like these"
    THESE_READERS = "items like these and these readers"
    THESE_ITEMS = "these items and readers like these"


class Decision(Enum):
    """What an interval says of 0, or of a margin."""

    SUPERIOR = "superior"
    NON_INFERIOR = "non-inferior"
    INFERIOR = "inferior"
    NOT_SHOWN = "not shown"


def decide(low: float, high: float, margin: float | None = None) -> Decision:
    """What an interval says, positive is better."""
    if low > 0:
        return Decision.SUPERIOR
    if margin is not None and low > -margin:
        return Decision.NON_INFERIOR
    return Decision.INFERIOR if high < 0 else Decision.NOT_SHOWN


class Estimand(NamedTuple):
    """What is estimated: a metric, whose truth it is taken by, and who is compared."""

    metric: str
    truth: str
    competitor: str
    against: str


class ClaimFamily(NamedTuple):
    """Claims of which, in all studies but a share, none is false."""

    name: str
    members: Names


@immutable
class Claim:
    """One assertion.

    Attributes
    ----------
    estimand, population, family
        Of what, for whom, and among which claims.
    value, low, high
        The estimate, positive is better, and the ends of its interval in the family.
    level
        At which all intervals of the family hold together.
    margin
        How much worse counts as no worse; None where nobody said.
    """

    estimand: Estimand
    population: Whom
    family: ClaimFamily
    value: float
    low: float
    high: float
    level: float = 0.95
    margin: float | None = None

    @property
    def direction(self) -> int:
        """1 where the estimate is above 0, -1 below, 0 where it is 0 or undefined."""
        return 0 if math.isnan(self.value) else (self.value > 0) - (self.value < 0)

    @property
    def decision(self) -> Decision:
        """What the interval says."""
        return decide(self.low, self.high, self.margin)

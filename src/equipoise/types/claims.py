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
>>> family = ClaimFamily("models that could be first", 2)
>>> claim = Claim(estimand, Whom.LIKE_THESE, family, -0.04, -0.07, -0.01)
>>> claim.decision
<Decision.INFERIOR: 'inferior'>
>>> Claim(estimand, Whom.LIKE_THESE, family, -0.04, -0.07, -0.01, margin=0.1).decision
<Decision.NON_INFERIOR: 'non-inferior'>
"""

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from equipoise.types.numbers import change, chosen
from equipoise.types.records import immutable
from equipoise.types.words import joined


class Whom(StrEnum):
    """Whom a claim speaks for."""

    LIKE_THESE = "items and readers like these"
    THESE_READERS = "items like these and these readers"
    THESE_ITEMS = "these items and readers like these"


class Decision(StrEnum):
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


JUDGED = {Decision.SUPERIOR: "superior", Decision.NON_INFERIOR: "non-inferior"}


class Estimand(NamedTuple):
    """What is estimated: a metric, whose truth it is taken by, and who is compared."""

    metric: str
    truth: str
    competitor: str
    against: str


class ClaimFamily(NamedTuple):
    """So many claims of which, in all studies but a share, none is false."""

    name: str
    size: int


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
    population: str
    family: ClaimFamily
    value: float
    low: float
    high: float
    level: float = 0.95
    margin: float | None = None

    def about(self, what: str) -> "Claim":
        """The same, where the page has several studies: of this one."""
        metric = f"{self.estimand.metric}, {what}"
        return replace(self, estimand=self.estimand._replace(metric=metric))

    @property
    def held(self) -> str:
        """In which family it holds, and how surely."""
        return f"{self.family.name} ({self.family.size} at {100 * self.level:g} %)"

    @property
    def decision(self) -> Decision:
        """What the interval says."""
        return decide(self.low, self.high, self.margin)


def claims_in_words(claims: Iterable[tuple[str, Claim | None]], who: str = "it") -> str:
    """What is claimed for every population, the widest first, as a sentence.

    Examples
    --------
    >>> estimand = Estimand("sensitivity", "the standard", "net", "readers")
    >>> claim = Claim(estimand, "readers", ClaimFamily("models", 1), 0.1, -0.1, 0.3)
    >>> claims_in_words([("these readers", claim)])
    'A difference is not shown for these readers (+0.100 [−0.100, +0.300]).'
    """
    stated = [(whom, claim) for whom, claim in claims if claim is not None]
    if not stated:
        return "Nothing is claimed."
    ends = [f"{whom} ({_with_ends(claim)})" for whom, claim in stated]
    margin = stated[0][1].margin
    if margin is not None:
        parts = [
            f"{JUDGED.get(claim.decision, 'not shown to be non-inferior')} for {end}"
            for end, (_, claim) in zip(ends, stated, strict=True)
        ]
        metric = stated[0][1].estimand.metric
        return f"With a margin of {chosen(margin)} in {metric} {who} is {joined(parts)}."
    shown = [
        end
        for end, (_, claim) in zip(ends, stated, strict=True)
        if claim.decision is not Decision.NOT_SHOWN
    ]
    if not shown:
        return f"A difference is not shown for {joined(ends, 'or for')}."
    if ends[0] in shown:
        return f"That holds for {ends[0]}."
    return f"That holds for {shown[0]}; for {ends[0]} it is not shown."


def _with_ends(claim: Claim) -> str:
    return f"{change(claim.value)} [{change(claim.low)}, {change(claim.high)}]"

"""Margins: whether one model is no worse than another, by a margin stated beforehand.

A lead is how much better the first model is. It is superior when the interval of the lead lies
above 0, non-inferior when it lies above minus the margin, and equivalent when the narrower
interval of two one-sided tests (90 % at a level of 95 %) lies within the margin on both sides.
"""

from enum import Enum

from equipoise.arrays import InputError
from equipoise.inference.spread import Spread


class Judgement(Enum):
    """What the data say about a lead, given a margin."""

    SUPERIOR = "superior"
    EQUIVALENT = "equivalent"
    NON_INFERIOR = "non-inferior"
    INFERIOR = "inferior"
    UNDECIDED = "undecided"


def judge(lead: float, spread: Spread, margin: float, level: float = 0.95) -> Judgement:
    """Judge the lead of one model over another.

    Examples
    --------
    >>> judge(0.001, Spread(0.0001**2, df_items=99), margin=0.02)
    <Judgement.SUPERIOR: 'superior'>
    >>> judge(-0.004, Spread(0.005**2, df_items=99), margin=0.02)
    <Judgement.EQUIVALENT: 'equivalent'>
    >>> judge(-0.012, Spread(0.005**2, df_items=99), margin=0.02)
    <Judgement.UNDECIDED: 'undecided'>
    """
    if not spread.population.decides:
        return Judgement.UNDECIDED
    low, high = spread.interval(lead, level)
    if low > 0:
        return Judgement.SUPERIOR
    within = spread.interval(lead, 2 * level - 1) if level > 0.5 else (low, high)
    if within[0] > -margin and within[1] < margin:
        return Judgement.EQUIVALENT
    if low > -margin:
        return Judgement.NON_INFERIOR
    return Judgement.INFERIOR if high < -margin else Judgement.UNDECIDED


def check_margin(where: str, value: float | None) -> None:
    """Refuse a margin that is not a positive number."""
    if value is not None and not 0 < value < float("inf"):
        raise InputError(
            where, f"{value:g}", "a number above 0", "leave it out, or say how much counts"
        )

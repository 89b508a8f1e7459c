"""The sign test that Lionetti et al. apply to bootstrap replicates, for their p-values alone.

It takes replicates, which a computer makes, for data: its p-value shrinks with their number and
says nothing about the models. No analysis uses it.
"""

from math import comb


def sign_test(wins: int, losses: int) -> float:
    """One-sided binomial sign test, ties left out: P(at least this many wins | fair coin).

    Examples
    --------
    >>> sign_test(540, 460)
    0.00622
    """
    number = wins + losses
    return float(sum(comb(number, k) for k in range(wins, number + 1)) / 2**number)

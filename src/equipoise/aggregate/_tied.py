r"""Tied: chances and exposures of blocks whose inner order nobody stated.

Classes arrive at exponential times. Of a block B with rates :math:`\lambda` and a rate Z of all
that comes later, every subset A has the chance to arrive before the rest of the race

.. math:: Q(A) = \sum_{a \in A} \frac{\lambda_a}{Z + \sum_A \lambda} Q(A \setminus a)

which is the recursion of `equipoise.kernels.plackett_luce` times the rates: every number lies
in [0, 1], so nothing overflows. The same recursion run backwards gives the chance that exactly
A is still to come at some point of the hidden order, and with it expected exposures. All blocks
of one size are done at once.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from equipoise.arrays import Floats, Ints

LARGEST = 8  # a block of n classes has 2^n subsets


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """Subsets of one size: their codes, their members, and the codes without each of them."""

    subset: Ints
    member: Ints
    without: Ints


@cache
def _layers(size: int) -> tuple[_Layer, ...]:
    """Group the subsets of a block by their size, from one class to all."""
    codes = np.arange(1 << size)
    inside = (codes[:, None] >> np.arange(size)) & 1
    layers = []
    for number in range(1, size + 1):
        subset = codes[inside.sum(axis=1) == number]
        member = np.stack([np.flatnonzero(inside[code]) for code in subset])
        layers.append(_Layer(subset, member, subset[:, None] ^ (1 << member)))
    return tuple(layers)


def exposures(rates: Floats, later: Floats) -> tuple[Floats, Floats, Floats]:
    """Log chance of blocks of one size, and expected exposures given that they happened.

    Parameters
    ----------
    rates
        Of the classes of each block, shape (blocks, size).
    later
        Rate of all that comes after a block, shape (blocks,).

    Returns
    -------
    log_chance, inside, whole
        Log chance that a block comes first, (blocks,); expected time that each of its classes
        was awaited, (blocks, size); expected time until the last of them, (blocks,).

    Examples
    --------
    >>> exposures(np.array([[2.0]]), np.array([2.0]))
    (array([-0.693]), array([[0.25]]), array([0.25]))
    """
    size = rates.shape[1]
    layers = _layers(size)
    pace = np.zeros((len(rates), 1 << size))
    chance = np.zeros((len(rates), 1 << size))
    chance[:, 0] = 1.0
    for layer in layers:
        own = rates[:, layer.member]
        pace[:, layer.subset] = later[:, None] + own.sum(axis=2)
        step = own / pace[:, layer.subset, None]
        chance[:, layer.subset] = (step * chance[:, layer.without]).sum(axis=2)
    reach = np.zeros((len(rates), 1 << size))
    reach[:, -1] = 1.0
    inside = np.zeros(rates.shape)
    whole = np.zeros(len(rates))
    for layer in reversed(layers):
        visit = reach[:, layer.subset] * chance[:, layer.subset] / chance[:, -1:]
        wait = visit / pace[:, layer.subset]
        whole += wait.sum(axis=1)
        flow = rates[:, layer.member] / pace[:, layer.subset, None]
        flow = flow * reach[:, layer.subset, None]
        for row in range(len(layer.subset)):
            inside[:, layer.member[row]] += wait[:, row, None]
            reach[:, layer.without[row]] += flow[:, row]
    return np.log(chance[:, -1]), inside, whole

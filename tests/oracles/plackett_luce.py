"""Exposures of tied blocks in Plackett-Luce, over all subsets of blocks of one size."""

from functools import cache

import numpy as np


@cache
def _layers(size):
    """Subsets of a block by their size, from one class to all.

    Of each size their codes, their members, and the codes without each member.
    """
    codes = np.arange(1 << size)
    inside = (codes[:, None] >> np.arange(size)) & 1
    layers = []
    for number in range(1, size + 1):
        subset = codes[inside.sum(axis=1) == number]
        member = np.stack([np.flatnonzero(inside[code]) for code in subset])
        layers.append((subset, member, subset[:, None] ^ (1 << member)))
    return tuple(layers)


def exposures(rates, later):
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

    """
    size = rates.shape[1]
    pace = np.zeros((len(rates), 1 << size))
    chance = np.zeros((len(rates), 1 << size))
    chance[:, 0] = 1.0
    for subset, member, without in _layers(size):
        member_rates = rates[:, member]
        pace[:, subset] = later[:, None] + member_rates.sum(axis=2)
        step = member_rates / pace[:, subset, None]
        chance[:, subset] = (step * chance[:, without]).sum(axis=2)
    reach = np.zeros((len(rates), 1 << size))
    reach[:, -1] = 1.0
    inside = np.zeros(rates.shape)
    whole = np.zeros(len(rates))
    for subset, member, without in reversed(_layers(size)):
        visit = reach[:, subset] * chance[:, subset] / chance[:, -1:]
        wait = visit / pace[:, subset]
        whole += wait.sum(axis=1)
        flow = rates[:, member] / pace[:, subset, None]
        flow = flow * reach[:, subset, None]
        for row in range(len(subset)):
            inside[:, member[row]] += wait[:, row, None]
            reach[:, without[row]] += flow[:, row]
    return np.log(chance[:, -1]), inside, whole

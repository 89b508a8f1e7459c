r"""The scale of each part of the votes, a step that coordinate ascent alone takes slowly.

Votes depend on products c b, so multiplying the items of a part by s and dividing its
annotators by s changes only the divergence from the prior, which is up to a constant

.. math:: g(s) = \tfrac12 \tau_b s^2 \sum E[b^2] + \tfrac12 \tau_c s^{-2} \sum E[c^2]
    - \tau_c \mu_c s^{-1} \sum E[c] + (n_c - n_b) \log s

with precisions tau, n_b items and n_c annotators. The least of it is the exact best step along
this line (parameter expansion, Qi and Jaakkola 2007): the bound cannot fall, and where a climb
stands still s is 1, so it ends in the same place.
"""

import numpy as np

from equipoise.aggregate._glad_votes import Votes
from equipoise.arrays import Floats

STEPS, LONGEST = 30, 1.0  # of Newton's method, in the logarithm of the scale


def best_scales(
    votes: Votes,
    square: Floats,
    annotators: tuple[Floats, Floats],
    priors: tuple[tuple[float, float], tuple[float, float]],
) -> Floats:
    """Scale of each part that brings it nearest to the prior, shape (parts,).

    ``square`` is the second moment of items, ``annotators`` both moments of theirs.
    """
    size = len(votes.anchored)
    (_, of_items), (mean, of_people) = priors
    item, who = votes.item_part >= 0, votes.annotator_part >= 0
    items, people = votes.item_part[item], votes.annotator_part[who]
    rise = 0.5 * of_items * np.bincount(items, square[item], size)
    fall = 0.5 * of_people * np.bincount(people, annotators[1][who], size)
    tilt = of_people * mean * np.bincount(people, annotators[0][who], size)
    slope = (np.bincount(people, minlength=size) - np.bincount(items, minlength=size)) * 1.0
    log = _least(rise, fall, tilt, slope)
    gain = _height(np.zeros(size), rise, fall, tilt) - _height(log, rise, fall, tilt)
    return np.where(gain - slope * log > 0, np.exp(log), 1.0)


def _height(log: Floats, rise: Floats, fall: Floats, tilt: Floats) -> Floats:
    """The function to be made least, but for its linear term."""
    return np.asarray(rise * np.exp(2 * log) + fall * np.exp(-2 * log) - tilt * np.exp(-log))


def _least(rise: Floats, fall: Floats, tilt: Floats, slope: Floats) -> Floats:
    """Newton's method for all parts at once, with steps that are never long or uphill."""
    log = np.zeros(len(rise))
    for _ in range(STEPS):
        up, down, lean = rise * np.exp(2 * log), fall * np.exp(-2 * log), tilt * np.exp(-log)
        first, second = 2 * (up - down) + lean + slope, 4 * (up + down) - lean
        step = -first / np.maximum(np.abs(second), 1e-300)
        log += np.clip(step, -LONGEST, LONGEST)
        if np.abs(step).max(initial=0) < 1e-9:
            break
    return log

r"""Unanimity: does a fitted model of annotators expect the agreement that is seen?

A posterior predictive check. The same annotators vote on the same items once more, as the fit
says; the share of items on which all of them agree is compared with the share observed. An item
is unanimous with probability

.. math:: \sum_k P(\text{item is } k) \sum_l \prod_{v \in i} \theta_{a(v),\,k,\,l}
    \quad\text{or, for GLAD,}\quad
    \mathrm{E}_{b_i} \Big[\prod_v \mathrm{sigmoid}(c_{a(v)} b_i)
    + \prod_v \mathrm{sigmoid}(-c_{a(v)} b_i)\Big]

and items are independent of each other, so that the number of unanimous ones is a sum of
binomials. Items with fewer than
two votes and those of known truth do not count. Annotators who copy each other, or who find the
same items hard, agree more often than a model expects that lets them err independently.
"""

from typing import Any

import numpy as np

from equipoise.truth.blocks import AnnotatorVotes
from equipoise.types import Bools, Floats, Ints, Notices, Unanimity, notice, percent

_MOST = 400_000_000  # sums over pairs of classes, beyond which nothing is checked
_LOT = 4_000_000  # of them at a time
_NODES, _ENDS = 21, (0.025, 0.975)
_FAR, _FAINT = 9, 40  # what of a sum of binomials is left out is below exp(-40)
_BINS = 200  # of probabilities: the variance within one is below 1e-5 of a yes or no


def confusion_unanimity(
    who: AnnotatorVotes, posterior: Floats, confusion: Floats
) -> Unanimity | None:
    """Check a fit with confusion matrices (annotators, true, answer)."""
    size = posterior.shape[1]
    several = _several(who)
    if not several.any() or len(posterior) * size**2 > _MOST:
        return None
    design, rows = _design(who), np.flatnonzero(several)
    log = np.log(np.maximum(confusion, 1e-300)).reshape(len(confusion), -1)
    chance = np.empty(len(rows))
    for first in range(0, len(rows), max(1, _LOT // size**2)):
        some = rows[first : first + max(1, _LOT // size**2)]
        same = np.exp(design[some] @ log).reshape(len(some), size, size).sum(axis=2)
        chance[first : first + len(some)] = (posterior[some] * same).sum(axis=1)
    return _checked(who, several, chance)


def ability_unanimity(
    who: AnnotatorVotes, ability: Floats, item: Floats, chance: Floats
) -> Unanimity | None:
    """Check a fit of GLAD, the items normal with this mean and chance of being positive."""
    from scipy.special import ndtri

    several = _several(who)
    if not several.any():
        return None
    design, rows = _design(who)[several], np.flatnonzero(several)
    standard = np.abs(ndtri(np.clip(chance[rows], 1e-9, 1 - 1e-9)))
    mean = item[rows]
    spread = np.abs(mean) / np.maximum(standard, 1e-3)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    size, first = np.diff(design.indptr), design.indptr[:-1]
    skill, number = ability[design.indices], design.data
    unanimous = np.zeros(len(rows))
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        margin = skill * np.repeat(mean + node * spread, size)
        no = np.minimum(-margin, 0.0) - np.log(1.0 + np.exp(-np.abs(margin)))  # log sigmoid
        for log in (no, no + margin):
            unanimous += weight * np.exp(np.add.reduceat(number * log, first))
    return _checked(who, several, unanimous)


def unanimity_notice(model: str, checked: Unanimity | None) -> Notices:
    """Say that a model expects another agreement than is seen."""
    if checked is None or checked.low <= checked.observed <= checked.high:
        return ()
    text = (
        "{model} does not describe how these annotators agree: it expects {expected} of the "
        "items to be unanimous ({low} to {high} in 95% of such data), observed "
        "{observed}. Its probabilities rest on annotators who err independently of each other."
    )
    names = ("expected", "low", "high", "observed")
    shares = {name: percent(getattr(checked, name), 1) for name in names}
    return (notice("unanimity", text, model=model, **shares),)


def _design(who: AnnotatorVotes) -> Any:
    """Votes of each annotator on each item, sparse (items, annotators)."""
    from scipy.sparse import csr_matrix

    votes, size = who.answers, len(who.classes)
    shape = (votes.shape[0], votes.shape[1] // size)
    return csr_matrix((votes.data, votes.indices // size, votes.indptr), shape=shape)


def _several(who: AnnotatorVotes) -> Bools:
    """Items with at least two votes and no known truth; none where votes are not whole."""
    votes, weight = np.asarray(who.answers.sum(axis=1)).ravel(), who.answers.data
    return np.asarray((votes >= 2) & ~who.is_gold & ~(weight % 1).any())


def _checked(who: AnnotatorVotes, several: Bools, chance: Floats) -> Unanimity:
    """Where the number of unanimous items lies, those of like probability taken together."""
    items = len(chance)
    code = np.minimum((chance * _BINS).astype(np.intp), _BINS - 1)
    number = np.bincount(code, minlength=_BINS)
    share = np.bincount(code, chance, _BINS) / np.maximum(number, 1)
    low, high = _central(number, np.clip(share, 0.0, 1.0)) / items
    same = who.shares[several].max(axis=1) >= 1 - 1e-12
    return Unanimity(float(chance.mean()), float(low), float(high), float(same.mean()), items)


def _central(number: Ints, share: Floats) -> Ints:
    """Where 95% of a sum of binomials lie, by the discrete Fourier transform of its chances.

    Exact but for what lies more than `_FAR` standard deviations away, and for frequencies whose
    amplitude is below exp(-`_FAINT`): that is at most exp(-variance (1 - cos(angle))).

    Examples
    --------
    >>> _central(np.array([60, 40]), np.array([0.5, 0.5]))
    array([40, 60])
    """
    mean, variance = number @ share, number @ (share * (1 - share))
    reach = int(np.ceil(_FAR * (np.sqrt(variance) + 1)))
    least, size = max(0, int(mean) - reach), 2 * reach + 2
    angle = 2 * np.pi * np.arange(size // 2 + 1) / size
    angle = angle[variance * (1 - np.cos(angle)) <= _FAINT]
    turned = np.exp(1j * angle)[:, None]
    with np.errstate(divide="ignore"):  # a sure item at the last angle
        log = np.log(1 - share + share * turned) @ number - 1j * least * angle
    below = np.cumsum(np.fft.irfft(np.conj(np.exp(log)), size))
    return least + np.searchsorted(below, _ENDS)

r"""Scores: how well every class conforms with a prediction, and how many classes that leaves.

A prediction set holds the classes whose score is at least a threshold, :math:`C(x) = \{k :
s_k(x) \ge \tau\}`. Of probabilities :math:`\hat p_k` there are three scores,

.. math:: \text{probability: } \hat p_k, \qquad
    \text{aps: } 1 - \sum_{j : \hat p_j \ge \hat p_k} \hat p_j, \qquad
    \text{raps: the same} - 0.01 \max(r_k - 5, 0)

where :math:`r_k` is the number of classes with at least the probability of k. ``probability``
gives the smallest sets on average, ``aps`` (adaptive prediction sets, Romano and others 2020)
spends them where the model is unsure, ``raps`` (Angelopoulos and others 2021) cuts their long
tails. Classes of equal probability have equal scores, whatever their order.

The threshold is an order statistic of the scores of what was said. With :math:`w_{ik}` the
share of the votes on item i for class k, W their sum and b the largest that one unit (an item,
or a whole group of items) can add to it, it is the largest with

.. math:: \sum_{i, k} w_{ik} 1[s_{ik} < \tau] \le \alpha (W + b) - b

so that a new vote on a new item is missed with a probability of at most alpha on average
(conformal risk control, Angelopoulos and others 2024). With one label per item this is split
conformal prediction, the k-th smallest score with :math:`k = \lfloor \alpha (n+1) \rfloor`;
with m labels drawn per item, each of weight 1/m, it is Monte Carlo conformal prediction (Stutz
and others 2023), of which the shares of votes are the limit.

Examples
--------
>>> chance = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
>>> conformity(chance, "aps")
array([[0.5, 0.2, 0. ],
       [0. , 0. , 0.2]])
>>> smallest_sets(chance, 0.8)
array([[ True,  True, False],
       [False, False,  True]])
"""

import numpy as np

from equipoise.read.options import SHARED
from equipoise.types import Bools, Floats, InputError, choice, require_number

SCORES = SHARED["score"].choices
PENALTY, FREE = 0.01, 5  # of every class of a set beyond so many
_ROUNDING = 1e-9  # of the weight, up to which two sums are the same


def conformity(probabilities: Floats, score: str = "probability") -> Floats:
    """Score of every class, higher where it fits better, shape (items, classes).

    Parameters
    ----------
    probabilities
        Shape (items, classes).
    score
        ``probability``, ``aps`` or ``raps``.
    """
    choice("prediction sets, score", score, SCORES)
    chance = np.asarray(probabilities, dtype=np.float64)
    if score == "probability":
        return chance
    mass, rank = _at_least_as_probable(chance)
    penalty = PENALTY * np.maximum(rank - FREE, 0) if score == "raps" else 0.0
    return np.asarray(1.0 - mass - penalty)


def smallest_sets(mass: Floats, level: float) -> Bools:
    """Smallest sets of classes with at least so much of the mass, shape (items, classes).

    Classes of equal mass are in the set together, or not at all.

    Parameters
    ----------
    mass
        What is plausible of every class, shape (items, classes).
    level
        How much of it a set holds at least.
    """
    require_number("plausibility sets, level", level, above=0, below=1, do="try 0.9")
    mass = np.asarray(mass, dtype=np.float64)
    ranked = -np.sort(-mass, axis=1)
    ahead = np.cumsum(ranked, axis=1) - ranked
    inside = ahead < level * ranked.sum(axis=1, keepdims=True) - _ROUNDING
    least = np.take_along_axis(ranked, inside.sum(axis=1, keepdims=True) - 1, axis=1)
    return np.asarray(mass >= least)


def expected_conformity(scores: Floats, plausibilities: Floats) -> Floats:
    """Mean score over the plausible classes of every item, shape (items,).

    Its split conformal threshold gives regions of plausible truths: those whose mean score is
    at least that (Stutz and others 2023, section 3.3).

    Examples
    --------
    >>> expected_conformity(np.array([[0.6, 0.3, 0.1]]), np.array([[0.5, 0.5, 0.0]]))
    array([0.45])
    """
    scores, plausibilities = np.asarray(scores, float), np.asarray(plausibilities, float)
    return np.asarray((scores * plausibilities).sum(axis=1))


def conformal_threshold(
    scores: Floats,
    weights: Floats | None = None,
    *,
    alpha: float,
    block: float = 1.0,
    step: float = 1.0,
    midpoint: bool = False,
) -> float:
    """The largest threshold that misses at most alpha of what is new, on average.

    Parameters
    ----------
    scores
        Scores of what was said, of any shape.
    weights
        What each of them counts, of the same shape; by default 1.
    alpha
        Probability to miss.
    block
        The largest weight that one unit can have: 1 of an item.
    step
        Weight of a single label: 1, or one over the number of labels drawn per item.
    midpoint
        Whether to take the mean of this score and of the next, as some programs do; it no
        longer holds what it promises.

    Returns
    -------
    float
        Minus infinity where too little was said.

    Examples
    --------
    >>> conformal_threshold(np.linspace(0.1, 1.0, 10), alpha=0.3)
    0.3
    >>> conformal_threshold(np.linspace(0.1, 1.0, 10), alpha=0.3, midpoint=True)
    0.35
    >>> conformal_threshold(np.linspace(0.1, 1.0, 10), alpha=0.05)
    -inf
    """
    require_alpha(alpha)
    ranked, mass = ranked_scores(scores, weights)
    most = alpha * ((mass[-1] if len(mass) else 0.0) + block) - block
    if most < -_ROUNDING:
        return -np.inf
    threshold = missed_up_to(ranked, mass, most)
    return (threshold + missed_up_to(ranked, mass, most + step)) / 2 if midpoint else threshold


def ranked_scores(scores: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Scores that count, rising, and the sum of the weights up to each."""
    flat = np.asarray(scores, dtype=np.float64).ravel()
    weight = np.ones(len(flat)) if weights is None else np.asarray(weights, float).ravel()
    flat, weight = flat[weight > 0], weight[weight > 0]
    order = np.argsort(flat, kind="stable")
    return flat[order], np.cumsum(weight[order])


def missed_up_to(ranked: Floats, mass: Floats, most: float) -> float:
    """The largest threshold below which at most so much lies."""
    place = int(np.searchsorted(mass, most + _ROUNDING, side="right"))
    return float(ranked[min(place, len(ranked) - 1)])


def require_alpha(alpha: float) -> None:
    """Refuse a share of misses that is none."""
    if not (isinstance(alpha, int | float) and 0 < alpha < 1):
        got, do = f"alpha {alpha!r}", "try 0.1, for sets that hold 90 % of answers"
        raise InputError("prediction sets", got, "a number between 0 and 1", do)


def _at_least_as_probable(chance: Floats) -> tuple[Floats, Floats]:
    """Mass and number of the classes with at least the mass of each, (items, classes)."""
    order = np.argsort(-chance, axis=1, kind="stable")
    ranked = np.take_along_axis(chance, order, axis=1)
    last = _last_alike(ranked)
    total = np.take_along_axis(np.cumsum(ranked, axis=1), last, axis=1)
    mass, number = np.empty_like(chance), np.empty_like(chance)
    np.put_along_axis(mass, order, total, axis=1)
    np.put_along_axis(number, order, last + 1.0, axis=1)
    return mass, number


def _last_alike(ranked: Floats) -> np.ndarray:
    """Place of the last value in a row that equals each, equal ones beside each other."""
    classes = ranked.shape[1]
    ends = np.ones(ranked.shape, dtype=bool)
    ends[:, :-1] = ranked[:, :-1] != ranked[:, 1:]
    place = np.where(ends, np.arange(classes), classes - 1)
    return np.asarray(np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1])

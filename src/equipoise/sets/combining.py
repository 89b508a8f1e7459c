r"""P-values: the same sets by tests, one for every class, combined over draws of labels.

The class k of a new item has the p-value

.. math:: p = \frac{1 + \sum_i w_i 1[s_i \le s_k]}{1 + \sum_i w_i}

among the scores of what was said of other items; the set holds the classes with a p above
alpha. With one label per item that is split conformal prediction. With m labels drawn per item
there are m p-values, which are strongly dependent. Their mean is no p-value (it keeps
1 - 2 alpha). ``ecdf`` makes it one by its own distribution on the other half of the items:
that holds whatever the dependence. ``bonferroni`` does, too, and is wide; ``fisher``,
``stouffer``, ``inverse_fisher`` and ``tippett`` take the draws for independent, which they are
not (Stutz and others 2023).

Examples
--------
>>> combine_p_values(np.array([[0.01], [0.2], [0.5]]), "bonferroni")
array([0.03])
"""

from collections.abc import Callable, Mapping

import numpy as np

from equipoise.sets.scores import ranked_scores
from equipoise.types import Floats, Ints, choice, name_order

SUPPORTED = ("ecdf", "mean", "fisher", "stouffer", "inverse_fisher", "bonferroni", "tippett")


def p_values(
    scores: Floats, new: Floats, weights: Floats | None = None, *, plus_one: bool = True
) -> Floats:
    """P-value of every new score among those of what was said, of the shape of the new ones.

    Parameters
    ----------
    scores, weights
        What was said of the items of calibration, and what it counts.
    new
        Scores of any shape.
    plus_one
        Whether the new item counts as one of all, which makes it a p-value; without, it is the
        share of scores that are no larger, the empirical distribution function.
    """
    return ranked_p_values(*ranked_scores(scores, weights), new, plus_one=plus_one)


def ranked_p_values(
    ranked: Floats, mass: Floats, new: Floats, *, plus_one: bool = True
) -> Floats:
    """The same of scores that rise, and the sum of the weights up to each."""
    below = np.concatenate(([0.0], mass))[np.searchsorted(ranked, new, side="right")]
    return np.asarray((below + plus_one) / (mass[-1] + plus_one))


def _fisher(p: Floats) -> Floats:
    from scipy.special import chdtrc

    return np.asarray(chdtrc(2 * len(p), -2 * np.log(p).sum(axis=0)))


def _stouffer(p: Floats) -> Floats:
    from scipy.special import ndtr, ndtri

    return np.asarray(ndtr(ndtri(p).sum(axis=0) / np.sqrt(len(p))))


def _inverse_fisher(p: Floats) -> Floats:
    from scipy.special import chdtrc, chdtri

    return np.asarray(chdtrc(len(p), chdtri(1, p).sum(axis=0)))


COMBINE: Mapping[str, Callable[[Floats], Floats]] = {
    "mean": lambda p: np.asarray(p.mean(axis=0)),
    "fisher": _fisher,
    "stouffer": _stouffer,
    "inverse_fisher": _inverse_fisher,
    "bonferroni": lambda p: np.minimum(1.0, len(p) * p.min(axis=0)),
    "tippett": lambda p: np.asarray(1 - (1 - p.min(axis=0)) ** len(p)),
}


def combine_p_values(p: Floats, method: str, axis: int = 0) -> Floats:
    """One p-value of several, taken along an axis.

    Parameters
    ----------
    p
        P-values of any shape.
    method
        ``mean``, ``fisher``, ``stouffer``, ``inverse_fisher``, ``bonferroni`` or ``tippett``.
    axis
        On which the p-values of one hypothesis stand.
    """
    choice("p-values, method", method, tuple(COMBINE))
    return COMBINE[method](np.moveaxis(np.asarray(p, dtype=np.float64), axis, 0))


def drawn_labels(
    shares: Floats, draws: int, seed: int, names: tuple[tuple[str, ...], tuple[str, ...]]
) -> Ints:
    """Codes of labels drawn for every item by its shares, shape (draws, items).

    Parameters
    ----------
    shares
        Shape (items, classes).
    names
        Of items and classes: draws belong to them, whatever their order.
    """
    rows, columns = (
        np.arange(len(part)) if (order := name_order(part)) is None else order for part in names
    )
    cumulative = np.cumsum(shares[np.ix_(rows, columns)], axis=1)
    lots = np.random.default_rng([seed, 17]).random((draws, len(rows)))
    lots = lots * cumulative[:, -1]
    labels = np.empty((draws, len(rows)), dtype=np.int64)
    for place, row in enumerate(rows):
        chosen = np.searchsorted(cumulative[place], lots[:, place], side="right")
        labels[:, row] = columns[np.minimum(chosen, len(columns) - 1)]
    return labels

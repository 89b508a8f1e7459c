r"""Confusion matrix, balanced accuracy, MCC and Cohen's kappa, labels hard or soft.

Decisions are those of `equipoise.metrics.decisions`: the largest probability, classes tied for
it sharing the item, a score of exactly 1/2 half a yes. :math:`O_{kd}` is the share of items
with true class k that are decided for d; with label distributions an item adds its share of
votes to each true class, which gives expected counts.

`confusion_matrix`: the counts :math:`n\,O_{kd}` themselves, true classes in rows.

`balanced_accuracy`: the mean over classes of the share that is decided right, which does not
depend on how frequent they are; of a yes/no question the mean of sensitivity and specificity.
Undefined (nan) when a class has no label mass,

.. math:: \mathrm{BA} = \frac1K \sum_k O_{kk} / O_{k\cdot}

`mcc`: Matthews' correlation of labels and decisions, for several classes after Gorodkin. 1 for
perfect decisions, 0 at chance. Undefined when all labels, or all decisions, are one class,

.. math:: \mathrm{MCC} = \frac{\sum_k (O_{kk} - O_{k\cdot} O_{\cdot k})}
    {\sqrt{(1 - \sum_k O_{k\cdot}^2)(1 - \sum_k O_{\cdot k}^2)}}

`cohen_kappa`: agreement with the consensus beyond what the marginals alone would give, all
errors alike; for grades see `quadratic_weighted_kappa`, for agreement among annotators
`equipoise.truth.agreement`. Undefined when labels and decisions are all one class,

.. math:: \kappa = \frac{\sum_k (O_{kk} - O_{k\cdot} O_{\cdot k})}
    {1 - \sum_k O_{k\cdot} O_{\cdot k}}

All take class codes or label distributions (items, classes) and predicted distributions, class
codes, or one probability or decision per item of a yes/no question. `weights` are importance
weights (items,), or `Copies` of counts.

References
----------
Brodersen et al. (2010), *The balanced accuracy and its posterior distribution*. Matthews
(1975). Gorodkin (2004), *Comparing two K-category assignments by a K-category correlation
coefficient*. Cohen (1960), *A coefficient of agreement for nominal scales*.

Examples
--------
>>> confusion_matrix([0, 1, 1, 2], [0, 1, 2, 2])
array([[1., 0., 0.],
       [0., 1., 1.],
       [0., 0., 1.]])
>>> confusion_matrix([1, 0.75, 0.25], [0.9, 0.8, 0.1])
array([[0.75, 0.25],
       [0.25, 1.75]])
>>> balanced_accuracy([1, 1, 0, 0], [1, 0, 0, 0]), mcc([1, 1, 0, 0], [1, 0, 0, 0])
(0.75, 0.577)
>>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0])
0.5
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from equipoise.metrics._metric import Metric
from equipoise.metrics.decisions import (
    by_cost,
    cost_matrix,
    from_table,
    kappa,
    kappa_gradient,
    plain_table,
)
from equipoise.types.arrays import Floats, PerReplicate

_NOTHING = 1e-12  # a share of items below which a class is not there


def confusion_matrix(y_true: Any, y_pred: Any, *, weights: Any = None) -> Floats:
    """Expected counts of true and decided classes, shape (true, decided)."""
    return np.asarray(plain_table(y_true, y_pred, weights)[..., 0])


def balanced_accuracy(y_true: Any, y_pred: Any, *, weights: Any = None) -> float:
    """Mean over classes of the share decided right; nan when a class has no label mass."""
    return float(_balanced(plain_table(y_true, y_pred, weights))[0])


def balanced_accuracy_metric() -> Metric:
    """Balanced accuracy for the engine."""
    text = "Mean over classes of the share of their votes that is decided right."
    made = from_table(
        "balanced_accuracy", "balanced accuracy", text, _balanced, _balanced_gradient
    )
    return replace(made, of_class=True, references=("brodersen2010",))


def _balanced(table: Floats) -> PerReplicate:
    true = table.sum(axis=1)
    known = true > _NOTHING * true.sum(axis=0)
    right = np.einsum("kk...->k...", table) / np.where(known, true, 1.0)
    return np.asarray(np.where(known, right, np.nan).mean(axis=0))


def _balanced_gradient(table: Floats) -> Floats:
    true = table.sum(axis=1)
    right = np.diag(table) / true
    return np.asarray((np.eye(len(table)) - right[:, None]) / true[:, None] / len(table))


def mcc(y_true: Any, y_pred: Any, *, weights: Any = None) -> float:
    """Correlation of labels and decisions; nan when either is all one class."""
    return float(_correlation(plain_table(y_true, y_pred, weights))[0])


def mcc_metric() -> Metric:
    """Matthews' correlation coefficient for the engine."""
    text = (
        "Matthews' correlation of votes and decisions: 1 for perfect decisions, 0 at chance; "
        "several classes after Gorodkin."
    )
    made = from_table("mcc", "MCC", text, _correlation, _correlation_gradient)
    references = ("matthews1975", "gorodkin2004")
    return replace(made, bounds=(-1.0, 1.0), references=references)


def _correlation(table: Floats) -> PerReplicate:
    total = table.sum(axis=(0, 1))
    shares = table / np.where(total > 0, total, 1.0)
    true, decided = shares.sum(axis=1), shares.sum(axis=0)
    across = np.einsum("kk...->...", shares) - (true * decided).sum(axis=0)
    spread = [1 - (one**2).sum(axis=0) for one in (true, decided)]
    known = (total > 0) & (spread[0] > _NOTHING) & (spread[1] > _NOTHING)
    below = np.sqrt(np.where(known, spread[0] * spread[1], 1.0))
    return np.where(known, np.clip(across / below, -1.0, 1.0), np.nan)


def _correlation_gradient(table: Floats) -> Floats:
    true, decided = table.sum(axis=1), table.sum(axis=0)
    spread_true, spread_decided = 1 - true @ true, 1 - decided @ decided
    below = np.sqrt(spread_true * spread_decided)
    value = (np.trace(table) - true @ decided) / below
    across = np.eye(len(table)) - decided[:, None] - true[None, :]
    widths = true[:, None] / spread_true + decided[None, :] / spread_decided
    return np.asarray(across / below + value * widths)


def cohen_kappa(y_true: Any, y_pred: Any, *, weights: Any = None) -> float:
    """Agreement with the consensus beyond chance; nan when everything is one class."""
    return float(_cohen(plain_table(y_true, y_pred, weights))[0])


def cohen_kappa_metric() -> Metric:
    """Cohen's kappa to the consensus for the engine."""
    text = "Agreement of vote and decision beyond chance, all errors alike."
    made = from_table("cohen_kappa", "Cohen's kappa", text, _cohen, _cohen_gradient)
    return replace(made, bounds=(-1.0, 1.0), references=("cohen1960",))


_cohen = by_cost(kappa, partial(cost_matrix, "zero_one"))
_cohen_gradient = by_cost(kappa_gradient, partial(cost_matrix, "zero_one"))

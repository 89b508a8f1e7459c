r"""Soft agreement: how well decisions agree with the consensus of several scorers.

`soft_agreement`: with :math:`\pi_i` the shares of votes of item i and :math:`d_i` the decision
(the largest probability; tied classes share), after Guillot,

.. math:: \mathrm{SA} = \frac1n \sum_i \frac{\pi_{i,\,d_i}}{\max_k \pi_{ik}}

1 for an item whose decision is what most scorers said, or as many as any other class; less, by
the votes that it has, for a minority's class; 0 for what nobody said. Unlike `accuracy`, which
is the share of votes, it is 1 for whoever follows the majority throughout. A scorer is judged
by the votes of the others alone: leave their own out of the labels. With hard labels it is the
accuracy, except that a tied item agrees with each of its classes in full.

It takes class codes or label distributions (items, classes) and predicted distributions, class
codes, or one probability or decision per item of a yes/no question. `weights` are importance
weights (items,), or `Copies` of counts. Undefined (nan) without items.

By a vote for class k an item moves by :math:`([k = d_i] - s_i\,[k = m_i]) / \pi_{i m_i}`, where
:math:`s_i` is its agreement and :math:`m_i` the class with most votes (tied ones share). Labels
that are all settled on one class, or evenly on several, move as a whole: by [k = d].

References
----------
Guillot et al. (2020), *Dreem Open Datasets: Multi-Scored Sleep Datasets to Compare Human and
Automated Sleep Staging*.

Examples
--------
>>> soft_agreement([[0.6, 0.4, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], [1, 1, 2])
0.556
"""

from dataclasses import replace
from typing import Any

import numpy as np

from equipoise.metrics._arguments import checked_weights
from equipoise.metrics._metric import Influence, Metric, Topic
from equipoise.metrics.decisions import checked_decisions, decide
from equipoise.metrics.distributions import mean_of_items, over_classes
from equipoise.types.arrays import Floats, PerItem

_TIE = 1e-12  # a share of votes up to which classes are tied


def soft_agreement(y_true: Any, y_pred: Any, *, weights: Any = None) -> float:
    """Mean votes of the decision relative to those of the class with most; higher is better."""
    values = soft_agreement_per_item(y_true, y_pred)
    each = checked_weights(weights, len(values)).each
    return float(values @ each / each.sum()) if each.sum() > 0 else float("nan")


def soft_agreement_per_item(y_true: Any, y_pred: Any) -> PerItem:
    """Soft agreement of every item, shape (items,).

    Examples
    --------
    >>> soft_agreement_per_item([[0.6, 0.4, 0.0], [0.5, 0.5, 0.0]], [1, 1])
    array([0.667, 1.   ])
    """
    labels, predicted = checked_decisions(y_true, y_pred)
    return _agreement(labels.T, decide(predicted))


def soft_agreement_metric() -> Metric:
    """Guillot's soft agreement for the engine."""
    text = (
        "Votes for the decided class relative to those of the class with most: 1 for whoever "
        "follows the majority."
    )
    made = mean_of_items("soft_agreement", "soft agreement", text, decide, _agreement)
    return replace(
        made,
        better="higher",
        influence=_influence,
        per_item=soft_agreement_per_item,
        topic=Topic.DECISIONS,
        decides=True,
        references=("guillot2020",),
    )


def _influence(decided: Floats, labels: Floats) -> Influence:
    """Value and derivatives; where classes are tied for most votes, the mean of both sides."""
    number, top = len(labels), labels.max(axis=1, keepdims=True)
    values = _agreement(labels.T, decided)
    leading = labels >= top - _TIE
    slope = decided
    if (labels[~leading] > _TIE).any():
        share = leading / leading.sum(axis=1, keepdims=True)
        slope = (decided - values[:, None] * share) / top
    value = float(values.mean())
    return Influence(value, np.asarray((values - value) / number), slope / number)


def _agreement(labels: Floats, decided: Floats) -> Floats:
    """Of labels (classes, items, ...) and decisions (items, classes)."""
    votes = (over_classes(decided, labels) * labels).sum(axis=0)
    return np.asarray(votes / labels.max(axis=0))

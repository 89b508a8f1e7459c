r"""Net benefit: what acting on a model's probabilities is worth, labels hard or soft.

`net_benefit`: whoever acts when the probability is at least t, and holds a needless action
t/(1-t) times as bad as a missed one, gains

.. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}}{n} - \frac{\mathrm{FP}}{n}\,\frac{t}{1-t}

in units of true positives per item. With label distributions TP and FP are expected counts: a
vote drawn at random is positive. A probability of exactly t (to 1e-12) means to act. Several
classes: each against the rest, the mean over classes. It needs probabilities that mean what
they say; scores of another scale are refused. Undefined (nan) without items.

`decision_curve`: the net benefit over a range of thresholds, beside those of acting on
everybody and on nobody. A model is useful at t when it is worth more than both,

.. math:: \mathrm{NB}_\mathrm{all}(t) = \bar p - (1 - \bar p)\,\frac{t}{1-t}, \quad
    \mathrm{NB}_\mathrm{none} = 0

References
----------
Vickers and Elkin (2006), *Decision curve analysis: a novel method for evaluating prediction
models*.

Examples
--------
>>> net_benefit([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.05], threshold=0.2)
0.438
>>> curve = decision_curve([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.05], thresholds=[0.2, 0.5])
>>> curve.model, curve.treat_all
(array([0.438, 0.25 ]), array([0.375, 0.   ]))
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from equipoise.metrics._metric import Metric, Topic, parameters
from equipoise.metrics.distributions import (
    checked_distributions,
    expected_loss,
    mean_of_items,
    of_probabilities,
)
from equipoise.types import Floats, InputError, Names, exact_percent, number, require_number

_TIE = 1e-12
_THRESHOLDS = np.arange(1, 100) / 100


class DecisionCurve(NamedTuple):
    """Net benefit at each threshold, all of shape (thresholds,)."""

    threshold: Floats
    model: Floats
    treat_all: Floats
    treat_none: Floats


@of_probabilities(weights=True)
def net_benefit(*, threshold: float = 0.1) -> Metric:
    """True positives per item, less false ones at the odds of the threshold."""
    at = _checked(threshold)
    word = exact_percent(at)
    text = (
        f"True positives per item less false ones times {number(at / (1 - at))}, acting at a "
        f"probability of at least {word}."
    )

    def made(classes: Names | None) -> Metric:
        # a yes/no question has two columns, of which the second counts; so has a table of two
        alone = None if classes is None else len(classes) == 1
        metric = mean_of_items(
            "net_benefit",
            f"net benefit at {word}",
            text,
            _acting(at, alone=alone),
            expected_loss,
        )
        return replace(
            metric,
            name=parameters("net_benefit", {"threshold": 0.1}, {"threshold": at}),
            soft_title=f"soft {metric.title}",
            family=f"net benefit at {at!r}",
            better="higher",
            bounds=(-at / (1 - at), 1.0),
            topic=Topic.POINTS,
            bind=made,
            column=1 if alone else None,
            references=("vickers2006",),
        )

    return made(None)


@cache
def _acting(threshold: float, *, alone: bool | None) -> Callable[[Floats], Floats]:
    """One function per threshold, so that a bound metric prepares what others prepared."""

    def prepare(predicted: Floats) -> Floats:
        yes_no = predicted.shape[1] == 2 if alone is None else alone
        return _gains(predicted, threshold, yes_no=yes_no)

    return prepare


def _gains(predicted: Floats, threshold: float, *, yes_no: bool) -> Floats:
    """What acting as the probabilities say is worth if the truth is each class.

    Shape (items, classes): of a yes/no question the second column is the class that is acted
    on, else each of them in turn, and their mean counts.
    """
    odds = threshold / (1 - threshold)
    acted = (predicted >= threshold - _TIE).astype(np.float64)
    if yes_no:
        acted[:, 0] = 0.0
    share = 1.0 if yes_no else 1 / predicted.shape[1]
    return np.asarray(share * ((1 + odds) * acted - odds * acted.sum(axis=1, keepdims=True)))


def decision_curve(
    y_true: Any, probabilities: Any, *, thresholds: Any = None, weights: Any = None
) -> DecisionCurve:
    """Net benefit of a model, of acting on everybody and of acting on nobody.

    Parameters
    ----------
    y_true, probabilities
        Labels in [0, 1] and probabilities of a yes/no question, shape (items,).
    thresholds
        Probabilities between 0 and 1, by default 0.01, 0.02, ..., 0.99.
    weights
        Importance weights (items,), or `Copies` of counts.
    """
    labels, predicted = checked_distributions(y_true, probabilities)
    if labels.shape[1] != 2:
        got, expected = f"{labels.shape[1]} classes", "one probability per item"
        raise InputError("probabilities", got, expected, "draw one curve per class")
    wanted = _THRESHOLDS if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    at = np.array([_checked(float(threshold)) for threshold in np.atleast_1d(wanted)])
    values, treat_all = (
        [net_benefit(labels, p, threshold=t, weights=weights) for t in at]
        for p in (predicted, np.tile([0.0, 1.0], (len(labels), 1)))
    )
    return DecisionCurve(at, np.array(values), np.array(treat_all), np.zeros(len(at)))


def _checked(threshold: float) -> float:
    """A probability that can be acted on."""
    where = "net benefit, threshold"
    require_number(where, threshold, above=0, below=1, do="try 0.1")
    return float(threshold)

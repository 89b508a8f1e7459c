r"""Distributions: metrics of class probabilities, compared with the label distribution.

:math:`p` is the model's distribution over the K classes of an item, :math:`y` a vote,
:math:`\pi` the label distribution of the item. Proper scores say what a prediction loses by a
vote, averaged over items; lower is better, and nobody does better than by saying what they
believe. Label distributions: every vote is scored and the scores are averaged
(``soft="expected"``); ``soft="plug_in"`` scores the distribution itself, which is smaller by
the votes' own spread and, with few votes, too large by their noise.

`brier_score`: squared distance to what the annotators said; ``plug_in`` is
:math:`\sum_k (p_k - \pi_k)^2`,

.. math:: \mathrm{BS}(p, y) = \sum_k (p_k - [y = k])^2 \in [0, 2]

`log_score`: how surprised the model is by what the annotators said, in nats. It is infinite
when the model gives no probability to a class that somebody chose; it is never clipped, so one
such item makes the mean infinite. ``expected`` is the cross entropy; ``plug_in`` leaves out the
votes' own entropy, :math:`\sum_k \pi_k \log(\pi_k / p_k)`, the Kullback-Leibler divergence,

.. math:: \mathrm{LS}(p, y) = -\log p_y \in [0, \infty]

`ranked_probability_score`: squared distance of cumulative probabilities, for grades. The grades
are the columns, lowest first; their order is given, never inferred. :math:`P_i` is the
predicted probability of grade i or lower, so a wrong grade costs more the further it is from
the truth. For two classes it is half of the Brier score. Other packages leave out
:math:`1/(K-1)`. ``plug_in`` puts the cumulative label distribution in place of
:math:`[y \le i]`,

.. math:: \mathrm{RPS}(p, y) = \frac{1}{K - 1} \sum_{i<K} (P_i - [y \le i])^2 \in [0, 1]

`squared_absolute_rps`: the squared mean distance of cumulative probabilities, for grades. For
one vote it is the square of the expected distance :math:`E_p|X - y| / (K - 1)`. **Not proper**:
a model that says what it believes can be beaten by one that does not. With the truth
(.2, .6, .2) the expected score is .124 for saying the truth and .100 for saying (0, 1, 0). Rank
models by the ranked probability score unless this one must be reproduced. The normalisation
:math:`1/(K-1)` stands inside the square, so that the score varies in [0, 1]; printed outside of
it, the score would reach K - 1,

.. math::
    \mathrm{saRPS}(p, y) = \Bigl(\frac{1}{K - 1} \sum_{i<K} |P_i - [y \le i]|\Bigr)^2 \in [0, 1]

`total_variation`: how much probability would have to move to match the annotators. A few votes
scatter around what many would say, so even a perfect model is not at 0,

.. math:: \mathrm{TV}(p, \pi) = \tfrac12 \sum_k |p_k - \pi_k|

`jensen_shannon`: the divergence between both in bits, so between 0 and 1; finite also where one
of the two gives a class no probability at all,

.. math:: \mathrm{JS}(p, \pi) = H\!\left(\tfrac{p + \pi}{2}\right) - \tfrac{H(p) + H(\pi)}{2}

`entropy_correlation`: is the model unsure where the annotators disagree? Pearson's correlation
over items between the entropy of the predicted distribution and that of the label
distribution. The entropy of a few votes is far from that of many, so even a perfect model
reaches 1 only with many votes per item (with five it is around 0.5). Undefined (nan) when
either does not vary: with hard labels always, unless some are tied,

.. math:: \mathrm{corr}_i\bigl(H(p_i),\, H(\pi_i)\bigr), \quad
    H(p) = -\sum_k p_k \log p_k

All take class codes or label distributions (items, classes), for two classes also one number in
[0, 1] per item, and predicted distributions (items, classes), or of the second of two classes
(items,). `weights` are importance weights (items,), or `Copies` of counts. The block of such a
metric holds one truth per class, all classes, each fixed (items,) or different in every
replicate (items, replicates).

References
----------
Brier (1950), *Verification of forecasts expressed in terms of probability*.
Good (1952), *Rational decisions*.
Epstein (1969), *A scoring system for probability forecasts of ranked categories*.
Galdran (2023), *Performance metrics for probabilistic ordinal classifiers*.
Lin (1991), *Divergence measures based on the Shannon entropy*.

Examples
--------
>>> even = [[0.5, 0.5]]
>>> brier_score(even, even), brier_score(even, even, soft="plug_in")
(0.5, 0.0)
>>> log_score(even, even), log_score(even, [[1.0, 0.0]])
(0.693, inf)
>>> ranked_probability_score([0], [[0.25, 0.75, 0.0]])
0.281
>>> ranked_probability_score([0], [[0.25, 0.0, 0.75]])
0.5625
>>> squared_absolute_rps([[0.2, 0.6, 0.2]], [[0.2, 0.6, 0.2]])
0.124
>>> squared_absolute_rps([[0.2, 0.6, 0.2]], [[0, 1, 0]])
0.100
>>> total_variation([[0.5, 0.5], [1, 0]], [[0.8, 0.2], [1, 0]])
0.15
>>> jensen_shannon([[1, 0]], [[0, 1]])
1.0
>>> entropy_correlation([[1, 0], [0.5, 0.5], [0.8, 0.2]], [[1, 0], [0.5, 0.5], [0.8, 0.2]])
1.0
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.metrics._metric import (
    Block,
    Influence,
    Metric,
    Prepared,
    Topic,
    checked_labels,
    parameters,
    plain,
    plain_value,
)
from equipoise.types import (
    Floats,
    InputError,
    PerItem,
    PerReplicate,
    choice,
    ratio,
    require_simplex,
)

_SOFT = ("expected", "plug_in")
_STEP = 1e-6  # of a derivative
_LEAST = 1e-9  # of the squares of entropies, relative: below, they do not vary

_PerItemScore = Callable[[Floats, Prepared], Floats]
_Ways = tuple[Callable[[Floats], Floats], _PerItemScore]


def plain_score(metric: Metric, y_true: Any, probabilities: Any, weights: Any = None) -> float:
    """Value of a plain call of a metric of distributions."""
    return plain_value(metric, checked_distributions(y_true, probabilities), weights)


def checked_distributions(y_true: Any, probabilities: Any) -> tuple[Floats, Floats]:
    """Return label and predicted distributions, both (items, classes).

    One number per item is the probability (or the soft label) of the second of two classes;
    one whole number per item with class probabilities is a class code.
    """
    labels, predicted = checked_labels(y_true, probabilities)
    if predicted.ndim == 1:
        outside = (predicted < 0) | (predicted > 1)
        if outside.any():
            spot = int(np.flatnonzero(outside)[0])
            raise InputError(
                f"probabilities, item {spot}",
                f"{predicted[spot]:g}",
                "a number in [0, 1]",
                "give probabilities, not scores",
            )
        return np.stack([1 - labels, labels], 1), np.stack([1 - predicted, predicted], 1)
    if predicted.shape[1] < 2:
        raise InputError(
            "probabilities",
            "a single class",
            "at least two classes",
            "give one column per class, or one probability per item",
        )
    require_simplex(predicted, where="probabilities")
    return labels, predicted


of_probabilities = partial(plain, plain_score, "y_true", "probabilities")


@of_probabilities(weights=True)
def brier_score(*, soft: str = "expected") -> Metric:
    """Mean squared distance between predicted and observed classes; lower is better."""
    text = (
        "Squared distance between predicted probabilities and the class, summed over classes."
    )
    ways = (_brier_losses, _brier_distance)
    metric = _of_votes("brier_score", "Brier score", text, ways, soft)
    return replace(metric, bounds=(0.0, 2.0), references=("brier1950",))


def _brier_losses(predicted: Floats) -> Floats:
    square = (predicted**2).sum(axis=1, keepdims=True)
    return np.asarray(np.maximum(square - 2 * predicted + 1, 0.0))


def _brier_distance(labels: Floats, predicted: Floats) -> Floats:
    return np.asarray(((over_classes(predicted, labels) - labels) ** 2).sum(axis=0))


@of_probabilities(weights=True)
def log_score(*, soft: str = "expected") -> Metric:
    """Mean negative log probability of what was observed; lower is better."""
    text = (
        "Negative logarithm of the probability given to the class, in nats; infinite where a "
        "class that was chosen has no probability."
    )
    metric = _of_votes("log_score", "log score", text, (_log_losses, _log_distance), soft)
    infinite = "probability 0 to what the labels say of at least one item"
    return replace(metric, bounds=(0.0, math.inf), infinite=infinite)


def _log_losses(predicted: Floats) -> Floats:
    possible = predicted > 0
    return np.where(possible, 0.0 - np.log(np.where(possible, predicted, 1.0)), np.inf)


def _log_distance(labels: Floats, predicted: Floats) -> Floats:
    return np.maximum(expected_loss(labels, _log_losses(predicted)) - entropy(labels), 0.0)


@of_probabilities(weights=True)
def ranked_probability_score(*, soft: str = "expected") -> Metric:
    """Mean squared distance between cumulative distributions; lower is better."""
    name, title = "ranked_probability_score", "ranked probability score"
    text = (
        "Squared distance between the predicted chance of at most each grade and what the "
        "grade says, averaged over the cuts between grades."
    )
    metric = _of_votes(name, title, text, (_ranked_losses, _ranked_distance), soft)
    return replace(metric, ordered=True, topic=Topic.GRADES, references=("galdran2023",))


def _ranked_losses(predicted: Floats) -> Floats:
    return np.stack([(gap**2).mean(axis=1) for gap in _cut_gaps(predicted)], axis=1)


def _ranked_distance(labels: Floats, predicted: Floats) -> Floats:
    gap = np.cumsum(over_classes(predicted, labels) - labels, axis=0)[:-1]
    return np.asarray((gap**2).mean(axis=0))


@of_probabilities(weights=True)
def squared_absolute_rps(*, soft: str = "expected") -> Metric:
    """Mean squared absolute RPS; lower is better, but it is not proper."""
    name, title = "squared_absolute_rps", "squared absolute RPS"
    text = (
        "Squared mean distance between the predicted chance of at most each grade and what the "
        "grade says. Not proper: with the truth (.2, .6, .2) it is .124 for saying the truth "
        "and .100 for saying (0, 1, 0)."
    )
    metric = _of_votes(name, title, text, (_squared_losses, _squared_distance), soft)
    metric = replace(metric, ordered=True, topic=Topic.GRADES, references=("galdran2023",))
    return replace(metric, proper=False)


def _squared_losses(predicted: Floats) -> Floats:
    return np.stack([np.abs(gap).mean(axis=1) ** 2 for gap in _cut_gaps(predicted)], axis=1)


def _squared_distance(labels: Floats, predicted: Floats) -> Floats:
    gap = np.cumsum(over_classes(predicted, labels) - labels, axis=0)[:-1]
    return np.asarray(np.abs(gap).mean(axis=0) ** 2)


def _cut_gaps(predicted: Floats) -> list[Floats]:
    """Distance at each cut (items, cuts) between cumulative probabilities and each class."""
    classes = predicted.shape[1]
    below = np.cumsum(predicted, axis=1)[:, :-1]
    reached = np.tril(np.ones((classes, classes)))[:-1]  # (cut, class): class <= cut
    return [below - column for column in reached.T]


@of_probabilities(weights=True)
def total_variation() -> Metric:
    """Mean total variation distance to the label distributions; lower is better."""
    text = "Half the summed distance between predicted and label distribution."
    return mean_of_items("total_variation", "total variation", text, itself, _variation)


def _variation(labels: Floats, predicted: Floats) -> Floats:
    return np.asarray(np.abs(over_classes(predicted, labels) - labels).sum(axis=0) / 2)


@of_probabilities(weights=True)
def jensen_shannon() -> Metric:
    """Mean Jensen-Shannon divergence in bits; lower is better."""
    text = "Divergence between predicted and label distribution in bits, 0 to 1."
    title = "Jensen-Shannon divergence"
    return mean_of_items("jensen_shannon", title, text, itself, _divergence)


def _divergence(labels: Floats, predicted: Floats) -> Floats:
    wide = over_classes(predicted, labels)
    nats = entropy((wide + labels) / 2) - (entropy(wide) + entropy(labels)) / 2
    return np.asarray(np.clip(nats / np.log(2), 0.0, 1.0))


@of_probabilities()
def entropy_correlation() -> Metric:
    """Correlation of the model's entropy with the annotators'; higher is better."""
    return Metric(
        name="entropy_correlation",
        title="entropy correlation",
        soft_title="entropy correlation",
        definition="Correlation over items of the entropies of predicted and label "
        "distribution.",
        family="entropy correlation",
        prepare=lambda predicted: entropy(predicted.T),
        reduce=_entropy_sums,
        finish=_correlation,
        bounds=(-1.0, 1.0),
        needs="probabilities",
        labels="distribution",
        topic=Topic.DISTANCE,
    )


def _entropy_sums(prepared: Prepared, block: Block) -> Floats:
    """Number, sums, squares and products of the two entropies, (6, replicates)."""
    theirs = entropy(np.stack([truth.positive for truth in block.classes]))
    theirs = theirs[:, None] if theirs.ndim == 1 else theirs
    ours = prepared[:, None]
    counts = block.counts.astype(np.float64)
    parts = (np.ones_like(ours), ours, theirs, ours**2, theirs**2, ours * theirs)
    return np.stack([_total(part, counts) for part in parts])


def _correlation(sums: Floats) -> PerReplicate:
    number, x, y, xx, yy, xy = sums
    safe = np.where(number > 0, number, 1.0)
    across = xy - x * y / safe
    spread = np.maximum(xx - x**2 / safe, 0.0), np.maximum(yy - y**2 / safe, 0.0)
    defined = (spread[0] > _LEAST * np.maximum(xx, _LEAST)) & (
        spread[1] > _LEAST * np.maximum(yy, _LEAST)
    )
    below = np.sqrt(np.where(defined, spread[0] * spread[1], 1.0))
    return np.where(defined, np.clip(across / below, -1.0, 1.0), np.nan)


def _of_votes(name: str, title: str, definition: str, ways: _Ways, soft: str) -> Metric:
    """A proper score of votes, averaged over them or of their distribution as it is.

    Parameters
    ----------
    ways
        ``losses(predicted)`` takes (items, classes) and returns, in the same shape, the score
        if the truth were each class; ``distance(labels, predicted)`` scores a label
        distribution as it is: labels are (classes, items, ...), the result (items, ...).
    soft
        ``expected`` or ``plug_in``.
    """
    prepare: Callable[[Floats], Prepared] = ways[0]
    score: _PerItemScore = expected_loss
    how = "averaged over votes"
    if choice(f"{name}, soft", soft, _SOFT) == "plug_in":
        how, prepare, score = "taken to the shares of votes", itself, ways[1]
    text = f"{definition} With several votes it is {how}."
    return replace(
        mean_of_items(name, title, text, prepare, score),
        name=parameters(name, {"soft": "expected"}, {"soft": soft}),
        family=f"{name} {soft}",
        topic=Topic.PROPER,
        proper=True,
    )


RULES: Mapping[str, Callable[..., Metric]] = {
    "ranked_probability_score": ranked_probability_score.metric,
    "squared_absolute_rps": squared_absolute_rps.metric,
    "brier_score": brier_score.metric,
    "log_score": log_score.metric,
}


def mean_of_items(
    name: str,
    title: str,
    definition: str,
    prepare: Callable[[Floats], Prepared],
    score: _PerItemScore,
) -> Metric:
    """A metric that is the mean over items of a score, the lower the better.

    ``score(labels, prepared)`` takes labels (classes, items, ...) and returns (items, ...).
    """
    return Metric(
        name=name,
        title=title,
        soft_title=title,
        definition=definition,
        family=name.replace("_", " "),
        prepare=prepare,
        reduce=mean_sums(score),
        finish=mean_finish,
        better="lower",
        needs="probabilities",
        labels="distribution",
        influence=mean_influence(score),
        per_item=partial(_scores, prepare, score),
        topic=Topic.DISTANCE,
    )


def _scores(
    prepare: Callable[[Floats], Prepared],
    score: _PerItemScore,
    y_true: Any,
    probabilities: Any,
) -> PerItem:
    """Score of every item of a plain call, shape (items,)."""
    labels, predicted = checked_distributions(y_true, probabilities)
    return score(labels.T, prepare(predicted))


def mean_sums(score: _PerItemScore) -> Callable[[Prepared, Block], Floats]:
    """Sum a score over items, for metrics that are means of one number per item.

    The sums are: finite scores, number of infinite ones, number of items; items whose score is
    undefined (nan) are left out of all three.
    """

    def reduce(prepared: Prepared, block: Block) -> Floats:
        labels = np.stack([truth.positive for truth in block.classes])
        values = score(labels, prepared)
        values = values[:, None] if values.ndim == 1 else values
        defined, endless = ~np.isnan(values), np.isposinf(values)
        plain = np.where(defined & ~endless, values, 0.0)
        counts = block.counts.astype(np.float64)
        return np.stack([_total(part, counts) for part in (plain, endless, defined)])

    return reduce


def _total(values: NDArray[Any], counts: Floats) -> Floats:
    """Sum over items of values (items, 1 or replicates) times counts (items, replicates)."""
    if values.shape[1] == 1:
        return np.asarray(np.einsum("i,ir->r", values[:, 0].astype(np.float64), counts))
    return np.asarray(np.einsum("ir,ir->r", values.astype(np.float64), counts))


def mean_finish(sums: Floats) -> PerReplicate:
    """Mean of the scores that are defined; infinite if one is, nan without items."""
    plain, endless, number = sums
    return ratio(np.where(endless > 0, np.inf, plain), number)


def mean_influence(score: _PerItemScore) -> Callable[[Prepared, Floats], Influence]:
    """Value and derivatives of a mean over items; labels come as (items, classes).

    They are undefined where the mean is, or is infinite. The derivative by a share is taken
    towards the class, from the label as it is: what one more vote for the class would do.
    """

    def influence(prepared: Prepared, labels: Floats) -> Influence:
        def toward(k: int) -> Floats:
            moved = labels * (1 - _STEP)
            moved[:, k] += _STEP
            return (score(moved.T, prepared) - values) / _STEP

        values = score(labels.T, prepared)
        value = float(values.mean())
        if not np.isfinite(value):
            nothing = np.full(len(values), np.nan)
            return Influence(value, nothing, np.full(labels.shape, np.nan))
        number = len(values)
        if score is expected_loss:
            slope = prepared
        else:
            slope = np.stack([toward(k) for k in range(labels.shape[1])], axis=1)
        shares = np.where(np.isfinite(slope), slope, 0.0) / number
        return Influence(value, np.asarray((values - value) / number), shares)

    return influence


def expected_loss(labels: Floats, losses: Floats) -> Floats:
    """Mean loss over the label distribution of each item: the expected score of a vote.

    ``labels`` is (classes, items, ...), ``losses`` (items, classes): what the prediction
    loses if the truth is that class. A class without mass costs nothing, however large its
    loss.

    Examples
    --------
    >>> expected_loss(np.array([[1.0, 0.5], [0.0, 0.5]]), np.array([[0.0, np.inf], [1.0, 2.0]]))
    array([0. , 1.5])
    """
    value = np.zeros(labels.shape[1:])
    for mass, loss in zip(labels, losses.T, strict=True):
        wide = loss.reshape(-1, *[1] * (mass.ndim - 1))
        if np.isfinite(loss).all():
            value += mass * wide
        else:
            value += np.where(mass > 0, np.where(mass > 0, mass, 1.0) * wide, 0.0)
    return value


def itself(predicted: Floats) -> Floats:
    """Prepare nothing: the score needs the predicted distributions as they are."""
    return predicted


def over_classes(predicted: Floats, labels: Floats) -> Floats:
    """Predicted distributions (items, classes) in the shape of labels (classes, items, ...)."""
    return predicted.T.reshape(*predicted.T.shape, *[1] * (labels.ndim - 2))


def entropy(distributions: Floats) -> Floats:
    """Entropy in nats over the first axis, the classes."""
    safe = np.where(distributions > 0, distributions, 1.0)
    return np.asarray(-(distributions * np.log(safe)).sum(axis=0))

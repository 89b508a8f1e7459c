r"""Gains: by how much models do better than one expert, and what every item adds to that.

*Yes or no.* On the items that the expert read, with p the mean vote of the other experts and a
the expert's own answer, sensitivity and specificity weigh every item by its mass,

.. math:: \mathrm{sens} = \frac{\sum p_i a_i}{\sum p_i}, \qquad
          \mathrm{spec} = \frac{\sum (1 - p_i)(1 - a_i)}{\sum (1 - p_i)}

A model calls an item positive with d, 0 or 1 by a threshold that gives exactly the expert's
specificity; the items tied at the threshold share what is left. The gain is

.. math:: \mathrm{gain} = \sum p_i (d_i - a_i) / \sum p_i

*Several classes.* The truth is what the left-out expert said; the gain is the agreement of the
model's decisions with it minus that of the other experts, who are pooled: accuracy, or
quadratic weighted kappa for grades.

*Influences.* An item moves the gain of a yes/no question by

.. math:: g_i = p_i (D_i - \mathrm{gain}) / P - \lambda (1 - p_i) D_i / Q

with D = d - a, P and Q the sums of p and 1 - p, and :math:`\lambda` the slope of the ROC curve
where the specificities meet (a secant whose width falls with the fifth root of Q); p moves it
by :math:`h_i = (D_i - \mathrm{gain}) / P + \lambda D_i / Q`.
"""

from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats

NARROW = 0.1  # least spread of a share that the width of a secant is taken from
ROUNDING = 1e-9


class Gains(NamedTuple):
    """One expert next to all models, on the items that the expert read.

    Attributes
    ----------
    expert, specificity
        Sensitivity and specificity of the expert; for several classes the agreement of the
        other experts with this one, and nan.
    models, gain
        The same of every model at that specificity, and how much more it is, (models,).
    influence
        What each item adds to the gain, summing to 0, (models, items).
    mass
        How much of the gain rests on each item, summing to 1, (items,).
    by_share
        Derivative of the gain by the mean vote of the others, (models or 1, items, classes).
    prevalence
        Mean vote of the others on these items; nan for several classes.
    """

    expert: float
    specificity: float
    models: Floats
    gain: Floats
    influence: Floats
    mass: Floats
    by_share: Floats
    prevalence: float = np.nan


def at_specificity(own: Floats, others: Floats, scores: Floats) -> Gains | None:
    """Models at the expert's own specificity; None where a class is empty.

    Parameters
    ----------
    own, others
        The expert's answers and the mean votes of the others, (items,).
    scores
        Of every model, (models, items).

    Examples
    --------
    >>> own, others = np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 0, 0])
    >>> better = np.array([[4.0, 3, 2, 1]])
    >>> made = at_specificity(own, others, better)
    >>> made.expert, made.specificity, made.models, made.gain
    (0.5, 0.5, array([1.]), array([0.5]))
    """
    yes, no = float(others.sum()), float((1 - others).sum())
    if min(yes, no) <= ROUNDING:
        return None
    sensitivity = float(others @ own) / yes
    wrong = float((1 - others) @ own)
    values, called, slope = [], [], []
    for score in scores:
        decided, steep = _called(score, others, wrong)
        values.append(float(others @ decided) / yes)
        called.append(decided - own)
        slope.append(steep)
    gain, ahead = np.array(values) - sensitivity, np.array(called)
    first, second = (ahead - gain[:, None]) / yes, np.array(slope)[:, None] * ahead / no
    return Gains(
        sensitivity,
        1 - wrong / no,
        np.array(values),
        gain,
        others * first - (1 - others) * second,
        others / yes,
        (first + second)[:, :, None],
        yes / (yes + no),
    )


def _called(score: Floats, truth: Floats, wrong: float) -> tuple[Floats, float]:
    """Which items are called positive when so much negative mass is, and the slope there."""
    order = np.argsort(-score, kind="stable")
    ranked = score[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    yes = np.append(0.0, np.cumsum(truth[order])[ends])
    no = np.append(0.0, np.cumsum(1 - truth[order])[ends])
    place = int(np.searchsorted(no, wrong + ROUNDING * no[-1], side="right")) - 1
    decided = np.zeros(len(score))
    if place:
        decided[score >= ranked[ends[place - 1]]] = 1.0
    if place < len(ends):
        part = max(wrong - no[place], 0.0) / (no[place + 1] - no[place])
        decided[score == ranked[ends[place]]] = part
    share = wrong / no[-1]
    width = max(np.sqrt(max(share * (1 - share), 0.0)), NARROW) * no[-1] ** -0.2
    low, high = np.clip([share - width, share + width], 0, 1) * no[-1]
    rise = np.interp([low, high], no, yes)
    return decided, float((rise[1] - rise[0]) / yes[-1] / ((high - low) / no[-1]))


def agreement_gains(own: Floats, others: Floats, decided: Floats, *, grades: bool) -> Gains:
    """Agreement with the expert: of the models' decisions, and of the other experts.

    Parameters
    ----------
    own, others
        The expert's answers and the mean votes of the others, (items, classes).
    decided
        The class that each model decides for, tied ones sharing, (models, items, classes).
    grades
        Whether classes have an order: quadratic weighted kappa instead of accuracy.

    Examples
    --------
    >>> own, others = np.eye(3)[[0, 1, 2]], np.eye(3)[[0, 2, 2]]
    >>> agreement_gains(own, others, own[None], grades=False).gain
    array([0.333])
    """
    items, classes = own.shape
    far = 1.0 - np.eye(classes)
    if grades:
        grade = np.arange(classes)
        far = np.subtract.outer(grade, grade).astype(np.float64) ** 2
    theirs, their_influence, by_share = _agreement(own, others, far, chance=grades)
    ours = [_agreement(own, one, far, chance=grades) for one in decided]
    values = np.array([value for value, _, _ in ours])
    return Gains(
        theirs,
        np.nan,
        values,
        values - theirs,
        np.stack([moved - their_influence for _, moved, _ in ours]),
        np.full(items, 1 / items),
        -by_share[None],
    )


def _agreement(
    one: Floats, two: Floats, far: Floats, *, chance: bool
) -> tuple[float, Floats, Floats]:
    """Agreement of two answers (items, classes), its influences, its derivative by the second.

    Corrected for chance it is 1 minus the mean distance over that of independent answers.
    """
    spent, items = ((one @ far) * two).sum(axis=1), len(one)
    if not chance:
        return 1 - float(spent.mean()), (spent.mean() - spent) / items, -(one @ far) / items
    first, second = one.mean(axis=0), two.mean(axis=0)
    expected = float(first @ far @ second)
    if expected <= 0:
        return np.nan, np.full(items, np.nan), np.full(one.shape, np.nan)
    ratio = float(spent.mean()) / expected
    moved = one @ (far @ second) + two @ (first @ far) - 2 * expected
    influence = (ratio * moved - (spent - spent.mean())) / expected / items
    return 1 - ratio, influence, (ratio * (first @ far) - one @ far) / expected / items

r"""Ratings: metrics of what people say of systems' outputs, which are means.

A system has marks: 1 for each output of its own, -1 where it is the second of two outputs that
were compared, 0 for what others produced (`equipoise.read.judged`). :math:`r_o` is the mean
vote on an output, from 0 to 1, and :math:`n` how many outputs the system has.

`mean_rating`: on a scale from l to h, the plain mean of all ratings where every output has as
many; else an output counts once, however many people rated it. `mean_score` is its like for
what a test made of outputs,

.. math:: \mathrm{mean} = l + (h - l) \, \frac1n \sum_{m_o = 1} r_o

`win_rate`: the share of comparisons with others that a system wins; a tie is half a win,

.. math:: \mathrm{wins} = \frac1n \Bigl(\sum_{m_o = 1} r_o + \sum_{m_o = -1} (1 - r_o)\Bigr)

Examples
--------
>>> mean_rating([5, 3, 1], [1, 1, 0])
4.0
>>> mean_score([0.5, 0.75, 0.1], [1, 1, 0])
0.625
>>> win_rate([1, 0.5, 0], [1, 0, -1])
1.0
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from equipoise.metrics._metric import (
    Block,
    Influence,
    Metric,
    Prepared,
    Topic,
    checked_weights,
)
from equipoise.types import Floats, InputError, Names, PerReplicate, ratio

TO = " to "  # between the ends of a scale


def mean_rating(y_true: Any, marks: Any, weights: Any = None) -> float:
    """Mean rating of a system's outputs.

    Parameters
    ----------
    y_true
        Mean rating of every output, shape (outputs,).
    marks
        1 for the outputs of the system, else 0, shape (outputs,).
    weights
        Importance weights (outputs,), or `Copies` of counts.
    """
    return _plain_value(y_true, marks, weights)


def mean_score(y_true: Any, marks: Any, weights: Any = None) -> float:
    """Mean of what a test made of a system's outputs; parameters as in `mean_rating`."""
    return _plain_value(y_true, marks, weights)


def win_rate(y_true: Any, marks: Any, weights: Any = None) -> float:
    """Share of comparisons that a system wins; a tie is half a win.

    Parameters
    ----------
    y_true
        Share of votes for the first of the two outputs of every comparison.
    marks
        1 where the system is the first, -1 where it is the second, else 0.
    weights
        Importance weights (comparisons,), or `Copies` of counts.
    """
    return _plain_value(y_true, marks, weights)


def _plain_value(y_true: Any, marks: Any, weights: Any) -> float:
    truth, sides = (np.asarray(values, dtype=np.float64) for values in (y_true, marks))
    if truth.shape != sides.shape or truth.ndim != 1 or not sides.any():
        raise InputError(
            "y_true and marks",
            f"shapes {truth.shape} and {sides.shape}",
            "one number and one mark per output, some not 0",
            "align them output by output",
        )
    weight = checked_weights(weights, len(truth)).weight * np.abs(sides)
    return float(np.average(np.where(sides < 0, 1 - truth, truth), weights=weight))


def mean_rating_metric() -> Metric:
    """The mean rating; on its scale as soon as that is known."""
    definition = (
        "Mean rating of the outputs of a system; an output counts once, however many people "
        "rated it."
    )
    return _on_any_scale("mean_rating", "mean rating", definition)


def mean_score_metric() -> Metric:
    """The mean of what a test made of every output, on its scale."""
    return _on_any_scale("mean_score", "mean score", "Mean score of the outputs of a system.")


def _on_any_scale(name: str, title: str, definition: str) -> Metric:
    """A mean from 0 to 1, which binds itself to the scale that a question has for its class."""

    def bound(classes: Names) -> Metric:
        ends = ends_of_scale(classes) or (0.0, 1.0)
        return replace(_mean_of_marks(name, title, ends), definition=definition, bind=bound)

    return bound(())


def scale_in_words(low: float, high: float) -> str:
    """What the only class of a question of ratings is called.

    Examples
    --------
    >>> scale_in_words(1.0, 5.0), ends_of_scale(("1 to 5",)), ends_of_scale(("yes",))
    ('1 to 5', (1.0, 5.0), None)
    """
    return TO.join(repr(end).removesuffix(".0") for end in (low, high))


def ends_of_scale(classes: Names) -> tuple[float, float] | None:
    """The ends of a scale by that name; None of any other classes."""
    low, to, high = classes[0].partition(TO) if len(classes) == 1 else ("", "", "")
    try:
        return (float(low), float(high)) if to else None
    except ValueError:
        return None


def win_rate_metric() -> Metric:
    """The share of comparisons that a system wins."""
    metric = _mean_of_marks("win_rate", "win rate", (0.0, 1.0))
    return replace(
        metric,
        definition="Share of the comparisons with other systems that a system wins; a tie is "
        "half a win.",
    )


def _mean_of_marks(name: str, title: str, ends: tuple[float, float]) -> Metric:
    """A mean over the outputs with a mark, on a scale."""
    finish: Callable[[Floats], PerReplicate] = partial(_finish, ends)
    influence: Callable[[Prepared, Floats], Influence] = partial(_influence, ends)
    return Metric(
        name=name,
        title=title,
        soft_title=title,
        definition="",
        family="marks",
        prepare=prepare_marks,
        reduce=_reduce,
        finish=finish,
        influence=influence,
        bounds=ends,
        topic=Topic.JUDGED,
    )


def prepare_marks(scores: Floats) -> tuple[Floats, ...]:
    """The marks of every class that is scored; of ratings there is one."""
    columns = scores[:, None] if scores.ndim == 1 else scores
    return tuple(np.ascontiguousarray(column) for column in columns.T)


def _reduce(prepared: tuple[Floats, ...], block: Block) -> Floats:
    """Votes for a system, and its outputs, in every replicate, shape (2, replicates)."""
    (marks,), (truth,) = prepared, block.classes
    rows = np.flatnonzero(marks)
    share, counts = truth.positive[rows], block.counts[rows].astype(np.float64)
    wide = share[:, None] if share.ndim == 1 else share
    won = np.where(marks[rows, None] < 0, 1 - wide, wide)
    return np.stack([(counts * won).sum(axis=0), counts.sum(axis=0)])


def _finish(ends: tuple[float, float], sums: Floats) -> PerReplicate:
    low, high = ends
    return np.asarray(low + (high - low) * ratio(sums[0], sums[1]))


def _influence(ends: tuple[float, float], marks: Prepared, positive: Floats) -> Influence:
    """A mean moves with every output by what that differs, and with its vote by 1/n."""
    low, high = ends
    mine = np.abs(marks)
    number = mine.sum()
    won = np.where(marks < 0, 1 - positive, positive)
    share = float(mine @ won / number)
    items = (high - low) * mine * (won - share) / number
    return Influence(low + (high - low) * share, items, (high - low) * marks / number)

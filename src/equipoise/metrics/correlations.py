r"""Correlations and errors: metrics of numbers, such as ratings, against the mean of them.

:math:`s_i` is what a model says of item i and :math:`y_i` the mean rating of the item on its
scale. All but those of ranks are functions of means and so have exact derivatives; the ranks
have none, so that items and annotators are left out in turn.

`pearson`: linear correlation,

.. math:: r = \mathrm{cov}(s, y) / \sqrt{\mathrm{var}\,s \; \mathrm{var}\,y}

`concordance`: Lin's coefficient, which also asks for the same mean and spread,

.. math:: \frac{2\,\mathrm{cov}(s, y)}{\mathrm{var}\,s + \mathrm{var}\,y + (\bar s - \bar y)^2}

`rmse` and `absolute_error`: how far predictions are off,

.. math:: \sqrt{\tfrac1n \textstyle\sum (s_i - y_i)^2}, \qquad
    \tfrac1n \textstyle\sum |s_i - y_i|

`r_squared`: the share of the variance of ratings that is explained, below 0 where a constant
does better,

.. math:: 1 - \tfrac1n \textstyle\sum (s_i - y_i)^2 / \mathrm{var}\,y

`spearman`: Pearson's correlation of average ranks R,

.. math:: \rho = r(R(s), R(y))

`kendall_tau_b`: pairs in the same order (C) less those in the other (D), among
:math:`n_0` pairs of which t are tied,

.. math:: \tau_b = (C - D) / \sqrt{(n_0 - t_s)(n_0 - t_y)}

`pairwise_accuracy`: share of pairs that are ordered as the ratings order them, where tied
ratings ask for tied predictions. Numbers are hardly ever tied, so that predictions closer than
a threshold :math:`\epsilon` count as ties, the one that makes the share largest; of more than
2,000 items only equal predictions are tied,

.. math:: \max_\epsilon \, \frac1{n_0} \sum_{i<j}
    [\mathrm{sign}_\epsilon(s_i - s_j) = \mathrm{sign}(y_i - y_j)]

References
----------
Lin (1989), *A concordance correlation coefficient to evaluate reproducibility*. Deutsch, Foster
and Freitag (2023), *Ties matter: meta-evaluating modern metrics with pairwise accuracy and tie
calibration*.

Examples
--------
>>> ratings, said = [1, 2, 4, 5], [2, 4, 8, 10]
>>> pearson(ratings, said)
1.0
>>> spearman(ratings, said)
1.0
>>> concordance(ratings, said)
0.465
>>> rmse(ratings, said)
3.391
>>> absolute_error(ratings, said)
3.0
>>> r_squared(ratings, said)
-3.6
>>> kendall_tau_b([1, 2, 2, 3], [1, 2, 3, 4])
0.913
>>> pairwise_accuracy([1, 2, 2, 3], [1, 2, 2.1, 4])
1.0
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from equipoise.metrics._metric import (
    Block,
    Influence,
    Metric,
    PlainMetric,
    Prepared,
    Topic,
    checked_weights,
    plain,
)
from equipoise.metrics.ratings import ends_of_scale
from equipoise.types import Floats, InputError, Names, PerReplicate, require_finite

_Ends = tuple[float, float]
_LEAST = 1e-12  # of a variance, relative to the square of the numbers: below, nothing varies


class _Means(NamedTuple):
    """Means of s, y, their squares and their product, each (replicates,) or a number."""

    s: Any
    y: Any
    ss: Any
    yy: Any
    sy: Any

    @property
    def variances(self) -> tuple[Any, Any, Any]:
        """Of s and of y, 0 where nothing varies, and their covariance."""
        s, y = self.ss - self.s**2, self.yy - self.y**2
        return (
            np.where(s <= _LEAST * np.maximum(self.ss, 1e-300), 0.0, s),
            np.where(y <= _LEAST * np.maximum(self.yy, 1e-300), 0.0, y),
            self.sy - self.s * self.y,
        )


def _plain_value(metric: Metric, y_true: Any, y_score: Any, weights: Any = None) -> float:
    """Value of a plain call; ratings are on any scale."""
    truth, said = (np.asarray(values, dtype=np.float64) for values in (y_true, y_score))
    if truth.ndim != 1 or truth.shape != said.shape or not len(truth):
        raise InputError(
            "y_true and y_score",
            f"shapes {truth.shape} and {said.shape}",
            "one rating and one number per item",
            "align them item by item",
        )
    require_finite(truth, where="y_true")
    require_finite(said, where="y_score")
    low, high = float(truth.min()), float(truth.max())
    ends = (low, high if high > low else low + 1.0)
    assert metric.bind is not None
    on_scale = metric.bind((f"{ends[0]!r} to {ends[1]!r}",))
    share = (truth - ends[0]) / (ends[1] - ends[0])
    weight: Any = checked_weights(weights, len(truth)).weight[:, None]
    return float(on_scale.score(share, on_scale.prepare(said), weight)[0])


def _of_ratings(make: Callable[[], Metric]) -> PlainMetric:
    """Turn what makes a metric of ratings into a plain function; see `plain`."""
    return plain(_plain_value, "y_true", "y_score", weights=True)(make)


@_of_ratings
def pearson() -> Metric:
    """Linear correlation with the mean rating."""
    text = "Pearson's correlation of predictions and mean ratings over items."
    return _of_means("pearson", "Pearson correlation", text, _pearson, _pearson_slopes)


@_of_ratings
def concordance() -> Metric:
    """Lin's concordance: correlation, lessened by another mean or spread."""
    text = "Lin's concordance: correlation that also asks for the same mean and spread."
    metric = _of_means("concordance", "concordance", text, _concordance, _concordance_slopes)
    return replace(metric, references=("lin1989",))


@_of_ratings
def rmse() -> Metric:
    """Root mean squared error; lower is better."""
    text = "Square root of the mean squared distance of predictions and mean ratings."
    metric = _of_means("rmse", "root mean squared error", text, _rmse, _rmse_slopes)
    return _as_error(metric)


@_of_ratings
def r_squared() -> Metric:
    """Share of the variance of ratings that is explained; below 0 for worse than none."""
    text = "1 less the mean squared error over the variance of the mean ratings."
    metric = _of_means("r_squared", "R squared", text, _r_squared, _r_squared_slopes)
    return replace(metric, bounds=(-math.inf, 1.0), infinite="ratings do not vary")


@_of_ratings
def absolute_error() -> Metric:
    """Mean absolute error; lower is better."""
    text = "Mean distance of predictions and mean ratings."
    return _as_error(_bound("absolute_error", "mean absolute error", text, _distances))


@_of_ratings
def spearman() -> Metric:
    """Correlation of ranks with the mean rating."""
    text = "Correlation of the ranks of predictions and mean ratings over items."
    return _by_items("spearman", "Spearman correlation", text, _spearman)


@_of_ratings
def kendall_tau_b() -> Metric:
    """Kendall's tau b: pairs in the same order less those in the other, ties taken off."""
    text = "Kendall's tau b: pairs of items in the same order less pairs in the other."
    return _by_items("kendall_tau_b", "Kendall's tau b", text, _tau_b)


@_of_ratings
def pairwise_accuracy() -> Metric:
    """Share of pairs ordered as the ratings order them, with ties."""
    text = (
        "Share of pairs of items ordered as their mean ratings are; predictions closer than "
        "the threshold that suits them best are tied."
    )
    metric = _by_items("pairwise_accuracy", "pairwise accuracy", text, _pairs_in_order)
    return replace(metric, bounds=(0.0, 1.0), references=("deutsch2023",))


# ---- functions of means ----------------------------------------------------------------------


def _bound(
    name: str, title: str, text: str, functions: "Callable[[_Ends], _Functions]"
) -> Metric:
    """A metric on the scale from 0 to 1, which binds itself to that of a question."""

    def bound(classes: Names) -> Metric:
        parts = functions(ends_of_scale(classes) or (0.0, 1.0))
        return Metric(
            name=name,
            title=title,
            soft_title=title,
            definition=text,
            family=parts.family,
            prepare=prepare_numbers,
            reduce=parts.reduce,
            finish=parts.finish,
            influence=parts.influence,
            bounds=(-1.0, 1.0),
            min_items=2,
            topic=Topic.RATINGS,
            bind=bound if name not in _ERRORS else lambda classes: _as_error(bound(classes)),
        )

    return bound(())


class _Functions(NamedTuple):
    """What a metric computes with on a scale."""

    family: str
    reduce: Callable[[Prepared, Block], Floats]
    finish: Callable[[Floats], PerReplicate]
    influence: Callable[[Prepared, Floats], Influence] | None


_ERRORS = ("rmse", "absolute_error")


def _as_error(metric: Metric) -> Metric:
    return replace(metric, better="lower", bounds=(0.0, math.inf))


def prepare_numbers(scores: Floats) -> tuple[Floats, ...]:
    """What a model says of every item."""
    columns = scores[:, None] if scores.ndim == 1 else scores
    return tuple(np.ascontiguousarray(column) for column in columns.T)


_Value = Callable[[_Means], Any]
_Slopes = Callable[[_Means], _Means]


def _of_means(name: str, title: str, text: str, value: _Value, slopes: _Slopes) -> Metric:
    """A metric that is a function of means."""

    def functions(ends: _Ends) -> _Functions:
        return _Functions(
            "means of numbers",
            _mean_sums,
            partial(_finish_means, ends, value),
            partial(_means_influence, ends, value, slopes),
        )

    return _bound(name, title, text, functions)


def _mean_sums(prepared: tuple[Floats, ...], block: Block) -> Floats:
    """Sums of 1, s, p, s^2, p^2 and sp in every replicate, p from 0 to 1, (6, replicates)."""
    (s,), (truth,) = prepared, block.classes
    counts = block.counts.astype(np.float64)
    p = truth.positive
    wide = p[:, None] if p.ndim == 1 else p
    weighed = counts * wide
    return np.stack([
        counts.sum(axis=0), s @ counts, weighed.sum(axis=0), (s * s) @ counts,
        (weighed * wide).sum(axis=0), s @ weighed,
    ])  # fmt: skip


def _finish_means(ends: _Ends, value: _Value, sums: Floats) -> PerReplicate:
    low, width = ends[0], ends[1] - ends[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        s, p, ss, pp, sp = sums[1:] / sums[0]
        means = _Means(s, low + width * p, ss, low**2 + 2 * low * width * p + width**2 * pp,
                       low * s + width * sp)  # fmt: skip
        return np.asarray(value(means), dtype=np.float64)


def _means_influence(
    ends: _Ends, value: _Value, slopes: _Slopes, s: Prepared, p: Floats
) -> Influence:
    low, width = ends[0], ends[1] - ends[0]
    y, number = low + width * p, len(p)
    columns = _Means(s, y, s * s, y * y, s * y)
    means = _Means(*(float(column.mean()) for column in columns))
    with np.errstate(divide="ignore", invalid="ignore"):
        at, by = float(value(means)), slopes(means)
        moved = sum(
            slope * (column - mean)
            for slope, column, mean in zip(by, columns, means, strict=True)
        )
    shares = width * (by.y + 2 * y * by.yy + s * by.sy) / number
    return Influence(at, np.asarray(moved) / number, np.asarray(shares))


def _pearson(means: _Means) -> Any:
    s, y, both = means.variances
    return np.clip(np.where(s * y > 0, both / np.sqrt(s * y), np.nan), -1.0, 1.0)


def _pearson_slopes(means: _Means) -> _Means:
    s, y, both = means.variances
    root = np.sqrt(s * y)
    r = both / root
    return _Means(
        -means.y / root + r * means.s / s,
        -means.s / root + r * means.y / y,
        -r / (2 * s),
        -r / (2 * y),
        1 / root,
    )


def _concordance(means: _Means) -> Any:
    s, y, both = means.variances
    below = s + y + (means.s - means.y) ** 2
    return np.where(below > 0, 2 * both / below, np.nan)


def _concordance_slopes(means: _Means) -> _Means:
    s, y, both = means.variances
    gap = means.s - means.y
    below = s + y + gap**2
    c = 2 * both / below
    return _Means(
        (-2 * means.y - c * (-2 * means.s + 2 * gap)) / below,
        (-2 * means.s - c * (-2 * means.y - 2 * gap)) / below,
        -c / below,
        -c / below,
        2 / below,
    )


def _squared(means: _Means) -> Any:
    return np.maximum(means.ss - 2 * means.sy + means.yy, 0.0)


def _rmse(means: _Means) -> Any:
    return np.sqrt(_squared(means))


def _rmse_slopes(means: _Means) -> _Means:
    half = 0.5 / np.sqrt(_squared(means)) if _squared(means) > 0 else 0.0
    return _Means(0.0, 0.0, half, half, -2 * half)


def _r_squared(means: _Means) -> Any:
    _, y, _ = means.variances
    return np.where(y > 0, 1 - _squared(means) / y, np.nan)


def _r_squared_slopes(means: _Means) -> _Means:
    _, y, _ = means.variances
    ratio = _squared(means) / y
    return _Means(0.0, -2 * means.y * ratio / y, -1 / y, (ratio - 1) / y, 2 / y)


def _distances(ends: _Ends) -> _Functions:
    """The mean absolute error on a scale."""
    low, width = ends[0], ends[1] - ends[0]

    def reduce(prepared: tuple[Floats, ...], block: Block) -> Floats:
        (s,), (truth,) = prepared, block.classes
        p = truth.positive
        wide = p[:, None] if p.ndim == 1 else p
        counts = block.counts.astype(np.float64)
        away = counts * np.abs(s[:, None] - low - width * wide)
        return np.stack([counts.sum(axis=0), away.sum(axis=0)])

    def influence(s: Prepared, p: Floats) -> Influence:
        gap = low + width * p - s
        away, number = np.abs(gap), len(p)
        mean = float(away.mean())
        return Influence(mean, (away - mean) / number, width * np.sign(gap) / number)

    return _Functions(f"distances {low:g} {width:g}", reduce, _mean_of_sums, influence)


def _mean_of_sums(sums: Floats) -> PerReplicate:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[1] / sums[0])


# ---- functions of ranks ----------------------------------------------------------------------

_OfItems = Callable[[Floats, Floats, Floats], float]


def _by_items(name: str, title: str, text: str, value: _OfItems) -> Metric:
    """A metric without derivatives: ``value(s, y, counts)`` of the items that are there."""

    def reduce(prepared: tuple[Floats, ...], block: Block) -> Floats:
        (s,), (truth,) = prepared, block.classes
        p, counts = truth.positive, block.counts
        out = np.empty((1, counts.shape[1]))
        for r in range(counts.shape[1]):
            there = np.flatnonzero(counts[:, r])
            mine = p if p.ndim == 1 else p[:, r]
            out[0, r] = value(s[there], mine[there], counts[there, r].astype(np.float64))
        return out

    def functions(_: _Ends) -> _Functions:
        return _Functions(name, reduce, lambda sums: sums[0], None)

    return _bound(name, title, text, functions)


def _weighted_ranks(values: Floats, counts: Floats) -> Floats:
    """Average ranks where every value stands as often as its count."""
    order = np.argsort(values, kind="stable")
    ranked, many = values[order], counts[order]
    start = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    sizes = np.add.reduceat(many, start)
    middle = np.cumsum(sizes) - (sizes - 1) / 2
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(middle, np.diff(np.append(start, len(values))))
    return ranks


def _spearman(s: Floats, y: Floats, counts: Floats) -> float:
    a, b = _weighted_ranks(s, counts), _weighted_ranks(np.round(y, 12), counts)
    whole = counts.sum()
    a, b = a - counts @ a / whole, b - counts @ b / whole
    below = math.sqrt(float(counts @ a**2) * float(counts @ b**2))
    return float(counts @ (a * b)) / below if below > 0 else math.nan


class _PairCounts(NamedTuple):
    """Pairs of items: all, in the same order, tied in s, in y, and in both."""

    all: float
    same: float
    tied_s: float
    tied_y: float
    tied_both: float

    @property
    def opposite(self) -> float:
        """Those in the other order."""
        return self.all - self.same - self.tied_s - self.tied_y + self.tied_both


def _tied_pairs(codes: Any, counts: Floats) -> float:
    sizes = np.bincount(codes, counts)
    return float((sizes * (sizes - 1)).sum() / 2)


def _pair_counts(s: Floats, y: Floats, counts: Floats) -> _PairCounts:
    """Pairs by one sort and a count of inversions."""
    a = np.unique(s, return_inverse=True)[1]
    b = np.unique(np.round(y, 12), return_inverse=True)[1]
    both = np.unique(a * (int(b.max()) + 1) + b, return_inverse=True)[1]
    whole = counts.sum()
    return _PairCounts(
        float(whole * (whole - 1) / 2),
        _concordant(a, b, counts),
        _tied_pairs(a, counts),
        _tied_pairs(b, counts),
        _tied_pairs(both, counts),
    )


def _concordant(a: Any, b: Any, counts: Floats) -> float:
    """Pairs that both order alike: a merge sort that counts what stands below."""
    order = np.lexsort((-b, a))  # of equal a the higher b first, so that no tie counts
    value, weight, total = b[order], counts[order], 0.0
    size = len(value)
    width = 1
    while width < size:
        merged, moved = np.empty_like(value), np.empty_like(weight)
        block = np.arange(size) // (2 * width)
        rank = np.lexsort((value, block))
        merged, moved = value[rank], weight[rank]
        left = (rank // width) % 2 == 0
        before = np.cumsum(np.where(left, moved, 0.0))
        starts = np.flatnonzero(np.append(True, np.diff(block) > 0))
        offset = np.append(0.0, before)[starts]
        key = np.flatnonzero(np.append(True, (np.diff(merged) > 0) | (np.diff(block) > 0)))
        lower = np.append(0.0, before)[key]  # weight of the left halves below a value
        run = np.cumsum(np.isin(np.arange(size), key)) - 1
        below = lower[run] - offset[block]
        total += float((moved * np.where(left, 0.0, below)).sum())
        value, weight = merged, moved
        width *= 2
    return total


def _tau_b(s: Floats, y: Floats, counts: Floats) -> float:
    pairs = _pair_counts(s, y, counts)
    below = (pairs.all - pairs.tied_s) * (pairs.all - pairs.tied_y)
    return (pairs.same - pairs.opposite) / math.sqrt(below) if below > 0 else math.nan


MOST_PAIRS = 4_000_000  # of items, of which each is looked at for the threshold of ties


def _pairs_in_order(s: Floats, y: Floats, counts: Floats) -> float:
    """Pairs in the order of the ratings, at the threshold of ties that suits best."""
    rated = np.round(y, 12)
    size = len(s)
    if size * size > MOST_PAIRS:
        pairs = _pair_counts(s, y, counts)
        return (pairs.same + pairs.tied_both) / pairs.all if pairs.all else math.nan
    i, j = np.triu_indices(size, 1)
    weight = counts[i] * counts[j]
    gap, wanted = s[i] - s[j], np.sign(rated[i] - rated[j])
    alone = float((counts * (counts - 1)).sum() / 2)  # copies of an item are tied in both
    away = np.abs(gap)
    right = weight * (wanted != 0) * (np.sign(gap) == wanted)
    tied = weight * (wanted == 0)
    order = np.argsort(away, kind="stable")
    placed = away[order]
    gained = np.cumsum((tied - right)[order])
    ends = np.flatnonzero(np.append(placed[1:] != placed[:-1], True))
    best = float(np.maximum(gained[ends].max(initial=0.0), 0.0)) if len(placed) else 0.0
    whole = float(counts.sum() * (counts.sum() - 1) / 2)
    return (float(right.sum()) + best + alone) / whole if whole else math.nan

r"""Krippendorff's alpha: observed disagreement against what chance would make.

.. math:: \alpha = 1 - (n - 1)\,
    \frac{\sum_u \frac{1}{m_u - 1} \sum_{c, k} n_{uc}\, n_{uk}\, \delta^2_{ck}}
         {\sum_{c, k} n_c\, n_k\, \delta^2_{ck}}

with :math:`n_{uc}` votes for value c on item u of :math:`m_u \ge 2` votes. The distance
:math:`\delta^2` is [c ≠ k] (``nominal``), (c - k)² (``interval``), ((c - k)/(c + k))²
(``ratio``), or, for ``ordinal``, the squared distance of the values' mean ranks, which is the
usual sum over the values between them. Any number of annotators, any pattern of missing votes;
who voted plays no part, so votes that one annotator repeats on an item all count. Undefined
(nan) when all votes are the same value. All four distances are squares of lengths, so alpha
is never below -1, and reaches about -1 when two votes on every item are as far apart as can be.

Every item is one number (its disagreement) and the chance needs totals by value, so that a
million votes and a thousand resamples cost a few sparse products.

Interval alpha needs only number, mean and squares of each item's ratings. With :math:`S_u` the
squares around the mean :math:`\bar y_u` of item u's :math:`m_u` ratings, pairs of ratings of
one item differ by :math:`2 m_u S_u` in squares altogether, and all pairs by :math:`2 n \sum_u
(S_u + m_u (\bar y_u - \bar y)^2)`: nothing cancels, whatever the size of the ratings. So the
alpha of the sums that `equipoise.stream_ratings` makes of a file larger than memory is that
of the whole file. Streamed votes are annotations with counts: `krippendorff_alpha` takes them
as they are.

Krippendorff asks for alpha of at least 0.8, and 0.667 where tentative conclusions are still
acceptable.

References
----------
Krippendorff (2004), *Content analysis*, chapter 11.
Krippendorff (2011), *Computing Krippendorff's alpha-reliability*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     item=np.array([0, 0, 1, 1, 2, 2]), label=np.array([1, 1, 0, 0, 1, 0]))
>>> krippendorff_alpha(votes).value
0.444
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from equipoise.inference.estimate import Estimate
from equipoise.inference.resampling import Resampling
from equipoise.truth.agreement._votes import (
    Compute,
    Units,
    Values,
    class_numbers,
    estimated,
    plan_for,
    summed,
    undefined,
    units,
)
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, choice
from equipoise.types.numbers import UNDEFINED

if TYPE_CHECKING:
    from equipoise.truth.normal import Moments

ENOUGH, TENTATIVE = 0.8, 0.667
LEVELS = ("nominal", "ordinal", "interval", "ratio")
EXACT = 64 * np.finfo(float).eps  # ratings that differ by less, relative to them, are equal
MOST_VALUES = 2000  # for ratios, which compare every pair of values
BLOCK = 2**22  # numbers of units and values compared at a time


def krippendorff_alpha(
    annotations: Annotations,
    *,
    level: str | None = None,
    task: str = "",
    plan: Resampling | None = None,
) -> Estimate:
    """Krippendorff's alpha with replicates over items.

    Parameters
    ----------
    level
        ``nominal``, ``ordinal``, ``interval`` or ``ratio``; by default what the kind of the
        annotations says.
    plan
        Which items each replicate takes; by default 1,000 resamples, of whole groups where
        items have groups.
    """
    kind = choice("krippendorff_alpha, level", level or default_level(annotations.kind), LEVELS)
    found = units(annotations, task)
    _check_level(found, kind)
    width = 1 if kind == "interval" else len(found.value)
    drawn = plan_for(annotations, plan)
    return estimated(found.item, drawn, alpha_of(found, kind), width=width)


def krippendorff_words(value: float) -> str:
    """What Krippendorff would conclude from an alpha.

    Examples
    --------
    >>> krippendorff_words(0.7)
    'enough for tentative conclusions (0.667 to 0.8)'
    """
    if value != value:
        return UNDEFINED
    if value >= ENOUGH:
        return "reliable (at least 0.8)"
    if value >= TENTATIVE:
        return "enough for tentative conclusions (0.667 to 0.8)"
    return "below 0.667: too low to treat one label as the truth"


def default_level(kind: str) -> str:
    """Level of measurement that the kind of annotations says."""
    return kind if kind in LEVELS else "nominal"


def _check_level(found: Values, level: str) -> None:
    """Refuse a level that the values cannot be measured at."""
    where = f"krippendorff_alpha, level {level}"
    if level == "ordinal" and not found.ordered:
        got, do = (
            "classes that are names without an order",
            "declare the kind ordinal and the classes lowest first",
        )
        raise InputError(where, got, "grades or numbers", do)
    if level in ("interval", "ratio") and not found.numeric and len(found.value) > 2:
        raise InputError(where, "values that are names", "numbers", "choose nominal or ordinal")
    if level == "ratio" and (not found.numeric or (found.value < 0).any()):
        got, expected = (
            "values that are names or negative numbers",
            "numbers of at least 0 with a true zero",
        )
        raise InputError(where, got, expected, "choose ordinal or interval")
    if level == "ratio" and len(found.value) > MOST_VALUES:
        got, most = f"{len(found.value):,} different values", f"at most {MOST_VALUES:,}"
        raise InputError(where, got, most, "choose interval, or round the ratings")


def alpha_of(found: Units, level: str) -> Compute:
    """Return the function from counts of units to alpha."""
    if not len(found.item):
        return undefined
    make = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval, "ratio": _ratio}
    return make[level](found)


def class_values(classes: Sequence[str], kind: str, level: str | None) -> tuple[str, Floats]:
    """Level at which classes are measured, checked, and the classes as numbers."""
    chosen = choice("krippendorff_alpha, level", level or default_level(kind), LEVELS)
    value = class_numbers(classes)
    rising = kind != "ordinal" or bool((np.diff(value) > 0).all())  # grades are as declared
    numeric = rising and bool(np.isfinite(value).all())
    value = value if numeric else np.arange(len(classes), dtype=np.float64)
    ordered = numeric or kind == "ordinal" or len(classes) <= 2
    _check_level(Values(value=value, numeric=numeric, ordered=ordered), chosen)
    return chosen, value


def alpha_of_coincidences(pairs: Floats, level: str, value: Floats) -> Floats:
    """Alpha of tables of coincidences (..., values, values), shape (...).

    Entry (c, k) is the number of pairs of votes c and k on one item, each 1 / (votes - 1).

    Examples
    --------
    >>> alpha_of_coincidences(np.array([[2.0, 1.0], [1.0, 2.0]]), "nominal", np.arange(2.0))
    array(0.444)
    """
    rising = np.argsort(value, kind="stable")
    pairs, value = pairs[..., rising, :][..., rising], value[rising]
    total = pairs.sum(axis=-1)
    number = total.sum(axis=-1)
    place = np.broadcast_to(value, total.shape)
    if level == "ordinal":
        place = np.cumsum(total, axis=-1) - total / 2 - number[..., None] / 2
    one, two = place[..., :, None], place[..., None, :]
    distance: Floats = (one - two) ** 2
    if level == "nominal":
        distance = 1 - np.eye(len(value))
    elif level == "ratio":
        distance = _ratio_distance(one, two)
    observed = (pairs * distance).sum(axis=(-2, -1))
    expected = (total[..., :, None] * total[..., None, :] * distance).sum(axis=(-2, -1))
    return _alpha(observed, expected, number)


def _alpha(observed: Floats, expected: Floats, votes: Floats) -> Floats:
    safe = np.where(expected > 0, expected, 1.0)
    return np.where(expected > 0, 1 - (votes - 1) * observed / safe, np.nan)


def _nominal(found: Units) -> Compute:
    votes = found.votes
    square = np.asarray(found.count.multiply(found.count).sum(axis=1)).ravel()
    observed = summed((votes**2 - square) / (votes - 1))
    across = found.count.T.tocsr()

    def compute(counts: Floats) -> Floats:
        total = across @ counts
        number = total.sum(axis=0)
        return _alpha(observed(counts)[0], number**2 - (total**2).sum(axis=0), number)

    return compute


def _ordinal(found: Units) -> Compute:
    """Distances of mean ranks, which are those of the votes drawn, around their middle."""
    votes, across = found.votes, found.count.T.tocsr()
    share = 2 / (votes - 1)

    def compute(counts: Floats) -> Floats:
        total = across @ counts
        number = total.sum(axis=0)
        place = np.cumsum(total, axis=0) - total / 2 - number / 2
        one, two = found.count @ place, found.count @ place**2
        apart = np.maximum(votes[:, None] * two - one**2, 0.0) * share[:, None]
        expected = 2 * number * (total * place**2).sum(axis=0)
        return _alpha((apart * counts).sum(axis=0), expected, number)

    return compute


def _interval(found: Units) -> Compute:
    votes = found.votes
    value = found.value - found.value[len(found.value) // 2]  # keeps large ratings exact
    middle = np.asarray(found.count @ value).ravel() / votes
    row = np.repeat(np.arange(len(votes)), np.diff(found.count.indptr))
    away = value[found.count.indices] - middle[row]
    squares = np.bincount(row, found.count.data * away**2, len(votes))
    return _of_moments(votes, middle, squares.astype(np.float64, copy=False))


def _ratio(found: Units) -> Compute:
    value, votes = found.value, found.votes
    distance = _ratio_distance(value[:, None], value[None, :])
    step = max(1, BLOCK // len(value))
    apart = np.concatenate(
        [
            np.asarray(part.multiply(part @ distance).sum(axis=1)).ravel()
            for part in (found.count[at : at + step] for at in range(0, len(votes), step))
        ]
    )
    observed, across = summed(apart / (votes - 1)), found.count.T.tocsr()

    def compute(counts: Floats) -> Floats:
        total = across @ counts
        expected = (total * (distance @ total)).sum(axis=0)
        return _alpha(observed(counts)[0], expected, total.sum(axis=0))

    return compute


def _ratio_distance(one: Floats, two: Floats) -> Floats:
    gap, both = one - two, one + two
    return np.asarray(np.divide(gap, both, out=np.zeros_like(gap), where=both > 0) ** 2)


def _of_moments(number: Floats, mean: Floats, squares: Floats) -> Compute:
    """Return the function from counts of items to alpha.

    Parameters
    ----------
    number, mean, squares
        Ratings of items that have at least two, shape (items,).
    """
    apart = 2 * number * squares / (number - 1)
    lean = mean - (number @ mean) / number.sum()
    sums = summed(number, number * lean, squares + number * lean**2, apart)
    least = (EXACT * np.abs(mean).max()) ** 2

    def compute(counts: Floats) -> Floats:
        total, shift, whole, observed = sums(counts)
        spread = whole - shift**2 / np.maximum(total, 1.0)
        defined = spread > np.maximum(1e-12 * whole, least * total)
        safe = np.where(defined, 2 * total * spread, 1.0)
        return np.where(defined, 1 - (total - 1) * observed / safe, np.nan)

    return compute


def krippendorff_alpha_of_moments(
    moments: "Moments", *, replicates: int = 1000, seed: int = 0
) -> Estimate:
    """Interval alpha of summed ratings, with replicates over items.

    Parameters
    ----------
    moments
        What `equipoise.read.stream_ratings` returns. Weights would be parts of ratings there,
        and are refused.
    replicates, seed
        How many resamples of items, and from which seed.

    Examples
    --------
    >>> from types import SimpleNamespace as Sums
    >>> each = Sums(number=np.array([2.0, 2.0]), mean=np.array([1.0, 4.0]),
    ...     squares=np.array([0.5, 0.0]))
    >>> krippendorff_alpha_of_moments(Sums(items=("a", "b"), ratings=each)).value
    0.921
    """
    own = moments.ratings
    odd = np.flatnonzero(np.abs(own.number - np.round(own.number)) > 1e-9)
    if len(odd):
        where = f"krippendorff_alpha_of_moments, item {moments.items[odd[0]]!r}"
        do = "leave the column of weights out: a rating is an opinion or it is not"
        raise InputError(where, f"{own.number[odd[0]]:g} ratings", "whole ratings", do)
    plan = Resampling(kind="items", items=moments.items, replicates=replicates, seed=seed)
    item = np.flatnonzero(own.number >= 2)
    if not len(item):
        return estimated(item, plan, undefined)
    compute = _of_moments(own.number[item], own.mean[item], own.squares[item])
    return estimated(item, plan, compute)

r"""Normal: ratings scatter around an item's level; is it above a threshold?

.. math:: y \sim N(\mu_i, \sigma_i^2), \quad \mu_i \sim N(m, \sigma_i^2 / k), \quad
    \sigma_i^2 \sim \mathrm{InvGamma}(a, b)

The posterior of an item is of the same family. The plausibility of "at least t" is the share
:math:`\Phi((\mu - t)/\sigma)` of all ratings that would reach t; its mean is the tail of a
Student-t distribution, and so is the probability :math:`P(\mu > t)` that most ratings would
reach it. Both are exact; draws are made on demand. Weights and counts repeat a rating. Who gave
a rating plays no part.

The prior (m, k, a, b) is shared by all items and found by empirical Bayes: it maximises the
product over items of the marginal likelihood, a Student-t density. Then an item with a single
rating borrows its scatter from the others. Real ratings are rounded, and items whose ratings
are all equal would let the scatter of the prior vanish; it is kept at that of rounding to the
smallest difference between two ratings, and the prior is worth 1 to 10,000 ratings. The
marginal likelihood of the n ratings of an item, with mean :math:`\bar y` and sum of squares S
around it, is

.. math:: \frac{\Gamma(a_n)}{\Gamma(a)} \frac{b^a}{b_n^{a_n}} \sqrt{\frac{k}{k_n}}
    (2\pi)^{-n/2}, \quad a_n = a + \frac n2, \quad k_n = k + n, \quad
    b_n = b + \frac S2 + \frac{k n (\bar y - m)^2}{2 k_n}

References
----------
Gelman et al. (2013), *Bayesian data analysis*, section 3.3.

Examples
--------
>>> ratings = Annotations(kind="interval", items=("a", "b"), item=np.array([0, 0, 1]),
...     value=np.array([3.0, 5.0, 1.0]))
>>> made = normal(ratings, threshold=2.0, prior=NormalPrior(mean=3.0))
>>> made.classes
('below 2', 'at least 2')
>>> made.mean.round(2)
array([[0.13, 0.87],
       [0.5 , 0.5 ]])
"""

from dataclasses import replace

import numpy as np

from equipoise.truth.model import AggregationModel, unused_confidence
from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Names,
    NormalPosterior,
    Notices,
    Option,
    Plausibilities,
    hint,
    immutable,
    notice,
    refusing_wrong_types,
    require_unique,
    row_weights,
)

_MISFIT = 0.15  # mean distance of observed and modelled shares that the user is told of
_SMALL, _LARGE = 0.5, 5000.0  # bounds of a and k/2: a prior worth 1 to 10,000 ratings
_THIN = 1e-4  # smallest k: the level of an item may be this vague


@immutable
class NormalPrior:
    """Level and scatter of an item before any rating.

    Attributes
    ----------
    mean, worth
        The level is expected at `mean`, as if known from `worth` ratings (m and k).
    shape, scale
        The scatter squared is inverse-gamma (a and b): about b / a, known as from 2a ratings.
    """

    mean: float = 0.0
    worth: float = 1.0
    shape: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        numbers = (self.mean, self.worth, self.shape, self.scale)
        if not np.isfinite(numbers).all() or min(numbers[1:]) <= 0:
            raise InputError(
                "normal prior",
                f"mean, worth, shape, scale {numbers}",
                "finite numbers, all but the mean positive",
                "correct them",
            )


@immutable(eq=False)
class Moments:
    """Ratings of named items, summed up: all that the normal model needs of them.

    Attributes
    ----------
    items
        Names of the items.
    number, mean, squares
        Number and mean of the ratings of each, and sum of squares around it, shape (items,).
    step
        The smallest difference between two unequal ratings, 0 when all are equal.
    task
        Which question was asked; empty when there is only one.
    notices
        What the user should be told about the data, one sentence each.
    """

    items: Names
    number: Floats
    mean: Floats
    squares: Floats
    step: float
    task: str = ""
    notices: Notices = ()

    def __post_init__(self) -> None:
        require_unique(self.items, where="moments, items")
        size, parts = (len(self.items),), (self.number, self.mean, self.squares)
        fits = bool(self.items) and all(part.shape == size for part in parts)
        if not fits or not np.isfinite(parts).all() or self.number.min() <= 0:
            raise InputError(
                "moments",
                f"{len(self.items)} items, {[part.shape for part in parts]} numbers",
                "a positive number, a mean and squares for every item, all finite",
                "leave out items without ratings",
            )


@refusing_wrong_types
def normal(
    annotations: Annotations,
    *,
    threshold: float,
    prior: NormalPrior | None = None,
    task: str = "",
) -> Plausibilities:
    """Plausibility that each item reaches a threshold; the mean as one draw.

    Parameters
    ----------
    threshold
        Where the classes "below" and "at least" meet.
    prior
        Level and scatter of items before any rating; None finds it by empirical Bayes.
    """
    _check_threshold(threshold)
    moments = moments_of(annotations, task)
    truth = normal_of_moments(moments, threshold=threshold, prior=prior)
    notices = (
        *truth.notices,
        *_misfit(annotations, truth, threshold, task),
        *unused_confidence(annotations, "normal ratings"),
    )
    return truth.noted(task=task, notices=notices)


@refusing_wrong_types
def normal_of_moments(
    moments: Moments, *, threshold: float, prior: NormalPrior | None = None
) -> Plausibilities:
    """Do the same from the number, mean and squares of each item's ratings.

    These come from `equipoise.scale.disk.rating_moments` where ratings do not fit in memory.

    Examples
    --------
    >>> two = Moments(("a", "b"), np.array([2.0, 1.0]), np.array([4.0, 1.0]),
    ...     np.array([2.0, 0.0]), 2.0)
    >>> normal_of_moments(two, threshold=2.0, prior=NormalPrior(mean=3.0)).mean.round(2)
    array([[0.13, 0.87],
           [0.5 , 0.5 ]])
    """
    _check_threshold(threshold)
    items, chosen = moments.items, prior
    notices: Notices = ()
    if chosen is None:
        chosen, notices = empirical_prior(moments)
    law = _posterior(moments, chosen, float(threshold))
    start = np.arange(0, 2 * len(items) + 1, 2)
    mass, rest = law.mean(start)
    return Plausibilities(
        items=items,
        classes=(f"below {threshold:g}", f"at least {threshold:g}"),
        start=start,
        label=np.tile([0, 1], len(items)),
        mass=mass[None],
        rest=rest[None],
        model="normal",
        method=f"Normal ratings ({'empirical Bayes' if prior is None else 'given prior'})",
        task=moments.task,
        parameters={"threshold": float(threshold), "prior": chosen},
        diagnostics={"prior": chosen, "level": law.level, "scatter": law.scale / law.shape},
        law=law,
        notices=notices,
    )


def _misfit(
    annotations: Annotations, truth: Plausibilities, threshold: float, task: str
) -> Notices:
    """Say when the share of ratings beyond the threshold is not what the model makes of it."""
    assert annotations.value is not None
    rows = np.flatnonzero(annotations.in_task(task))
    item = np.unique(annotations.item[rows], return_inverse=True)[1]
    weight = row_weights(annotations, rows)
    reach = np.bincount(item, weight * (annotations.value[rows] >= threshold))
    seen = reach / np.bincount(item, weight)
    gap = float(np.abs(seen - truth.mean[:, 1]).mean())
    if gap <= _MISFIT:
        return ()
    text = (
        "The model's share of ratings of at least {threshold} is {gap:number} away from the "
        "observed share on average: ratings pile up at the threshold or at the end of the "
        "scale, which a normal law cannot. Turn them into a yes/no question instead."
    )
    return (notice("normal_misfit", text, threshold=f"{threshold:g}", gap=gap),)


def _check_threshold(threshold: float) -> None:
    if not np.isfinite(threshold):
        raise InputError(
            "normal, threshold", f"{threshold}", "a finite number", "choose one on the scale"
        )


def moments_of(annotations: Annotations, task: str) -> Moments:
    """Number, mean and squares of the ratings of each item that has any."""
    if annotations.kind != "interval" or annotations.value is None:
        raise InputError(
            "normal",
            f"annotations of kind {annotations.kind}",
            "ratings of kind interval",
            hint(
                "read the file with {}, or choose a model for classes",
                Option("kind", "interval"),
            ),
        )
    rows = np.flatnonzero(annotations.in_task(task))
    if annotations.gold[rows].any():
        raise InputError(
            "normal", "gold rows", "ratings only", "leave gold rows out: they settle an item"
        )
    if not len(rows):
        raise InputError(f"normal, task {task!r}", "no ratings", "at least one", "check it")
    weight = row_weights(annotations, rows)
    order = np.lexsort((weight, annotations.value[rows], annotations.item[rows]))
    rows, weight = rows[order], weight[order]  # sums that the order of rows cannot turn
    rated = np.flatnonzero(np.bincount(annotations.item[rows]))
    place = np.zeros(len(annotations.items), dtype=np.intp)
    place[rated] = np.arange(len(rated))
    item = place[annotations.item[rows]]
    value = annotations.value[rows].astype(np.float64)
    number = np.bincount(item, weight).astype(np.float64)
    mean = np.bincount(item, weight * value) / number
    squares = np.bincount(item, weight * (value - mean[item]) ** 2).astype(np.float64)
    ordered = np.sort(value)
    gaps = np.diff(ordered)[ordered[1:] > ordered[:-1]]
    names = tuple(annotations.items[i] for i in rated)
    step = float(gaps.min()) if len(gaps) else 0.0
    return Moments(names, number, mean, squares, step, task)


def _posterior(data: Moments, prior: NormalPrior, threshold: float) -> NormalPosterior:
    """Conjugate update of every item."""
    worth = prior.worth + data.number
    apart = prior.worth * data.number / worth * (data.mean - prior.mean) ** 2
    return NormalPosterior(
        level=(prior.worth * prior.mean + data.number * data.mean) / worth,
        worth=worth,
        shape=prior.shape + data.number / 2,
        scale=prior.scale + (data.squares + apart) / 2,
        threshold=threshold,
    )


def _loss(point: Floats, data: Moments) -> tuple[float, Floats]:
    """Negative log marginal and its slope in (m, log k, log a, log(b / a))."""
    from scipy.special import digamma, gammaln

    mean, (worth, shape) = point[0], np.exp(point[1:3])
    scale, n = shape * np.exp(point[3]), data.number
    after, shapes = worth + n, shape + n / 2
    off = data.mean - mean
    scales = scale + data.squares / 2 + worth * n / after * off**2 / 2
    losses = (
        gammaln(shapes)
        - gammaln(shape)
        + shape * np.log(scale)
        - shapes * np.log(scales)
        + 0.5 * np.log(worth / after)
        - n / 2 * np.log(2 * np.pi)
    )
    pull = shapes / scales
    by_mean = pull * worth * n / after * off
    by_worth = 0.5 * n / after - pull * worth * (n / after) ** 2 * off**2 / 2
    by_scale = shape - pull * scale
    by_shape = (
        shape * (digamma(shapes) - digamma(shape) + np.log(scale) - np.log(scales)) + by_scale
    )
    slope = [part.sum() for part in (by_mean, by_worth, by_shape, by_scale)]
    return -float(losses.sum()), -np.array(slope)


def empirical_prior(data: Moments) -> tuple[NormalPrior, Notices]:
    """Find the prior that makes all ratings likeliest, and what to tell the user of it."""
    from scipy.optimize import minimize

    several = int(((data.number > 1) | (data.squares > 0)).sum())
    if several < 2 or data.step <= 0:
        raise InputError(
            "normal, prior by empirical Bayes",
            f"{several} items with several ratings" if data.step else "all ratings equal",
            "at least two items with several ratings that differ",
            "give a prior with prior=NormalPrior(...)",
        )
    centre = float(np.average(data.mean, weights=data.number))
    between = float(np.average((data.mean - centre) ** 2, weights=data.number))
    within = float(data.squares.sum() / data.number.sum())
    unit = np.sqrt(between + within)
    if not 1e-100 < unit < 1e100:
        raise InputError(
            "normal, prior by empirical Bayes",
            f"ratings that scatter by {unit:.2g}",
            "a scatter between 1e-100 and 1e100",
            "rescale the ratings",
        )
    scaled = replace(
        data,
        mean=(data.mean - centre) / unit,
        squares=data.squares / unit**2,
        step=data.step / unit,
    )
    least = np.log(scaled.step**2 / 12)
    start = np.array([0.0, 0.0, np.log(2.0), max(np.log(within / unit**2 + 1e-12), least)])
    low = np.array([-10.0, np.log(_THIN), np.log(_SMALL), least])
    high = np.array([10.0, np.log(2 * _LARGE), np.log(_LARGE), max(5.0, least + 1)])
    best = minimize(
        _loss,
        start,
        args=(scaled,),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)),
        options={"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-8},
    )
    worth, shape, scatter = np.exp(best.x[1:])
    prior = NormalPrior(
        mean=float(centre + unit * best.x[0]),
        worth=float(worth),
        shape=float(shape),
        scale=float(shape * scatter * unit**2),
    )
    return prior, _at_edges(best.x[1:], low[1:], high[1:])


def _at_edges(point: Floats, low: Floats, high: Floats) -> Notices:
    """Say which numbers of the prior stand at the edge of what is allowed."""
    text = (
        "The prior found for the {name} of items stands at the {edge} {what} allowed: the "
        "ratings do not suit or determine it. Look at them, or give a prior."
    )
    notices = []
    names = ("level", "scatter", "typical scatter")
    for name, value, least, most in zip(names, point, low, high, strict=True):
        if min(value - least, most - value) < 1e-6:
            edge = "lowest" if value - least < 1e-6 else "highest"
            what = "value" if name == "typical scatter" else "certainty"
            notices.append(notice("prior_at_edge", text, name=name, edge=edge, what=what))
    return tuple(notices)


MODEL = AggregationModel(
    name="normal",
    title="normal",
    description="ratings around a level of every item, for a threshold",
    fit=normal,
    kinds=("interval",),
    suits=("interval",),
    rank=0,
    because="the annotations are ratings",
    threshold=True,
)

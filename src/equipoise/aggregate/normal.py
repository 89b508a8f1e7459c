r"""Normal: ratings scatter around an item's level; is it above a threshold?

.. math:: y \sim N(\mu_i, \sigma_i^2), \quad \mu_i \sim N(m, \sigma_i^2 / k), \quad
    \sigma_i^2 \sim \mathrm{InvGamma}(a, b)

The posterior of an item is of the same family. The plausibility of "at least t" is the share
:math:`\Phi((\mu - t)/\sigma)` of all ratings that would reach t; its mean is the tail of a
Student-t distribution, and so is the chance :math:`P(\mu > t)` that most ratings would reach
it. Both are exact; draws are made on demand. Weights and counts repeat a rating. Who gave a
rating plays no part.

The prior (m, k, a, b) is shared by all items and found by empirical Bayes: it maximises the
product over items of the marginal likelihood, a Student-t density. Then an item with a single
rating borrows its scatter from the others. Real ratings are rounded, and items whose ratings
are all equal would let the scatter of the prior vanish; it is kept at that of rounding to the
smallest difference between two ratings, and the prior is worth 1 to 10,000 ratings.

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

import numpy as np

from equipoise.aggregate._normal_prior import Moments, NormalPrior, Ratings, empirical_prior
from equipoise.aggregate._people import unused_confidence
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.laws import NormalLaw
from equipoise.plausibilities import Plausibilities
from equipoise.wording import Option, hint

MISFIT = 0.15  # mean distance of observed and modelled shares that the user is told of
__all__ = ["Moments", "NormalLaw", "NormalPrior", "normal", "normal_of_moments"]


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
    moments = _moments(annotations, task)
    made = normal_of_moments(moments, threshold=threshold, prior=prior)
    said = (
        *_misfit(annotations, made, threshold, task),
        *unused_confidence(annotations, "normal ratings"),
    )
    return made.noted(task=task, notices=(*made.notices, *said))


def normal_of_moments(
    moments: Moments, *, threshold: float, prior: NormalPrior | None = None
) -> Plausibilities:
    """Do the same from the number, mean and squares of each item's ratings.

    These come from `equipoise.stream_ratings` when a file is too large for memory.

    Examples
    --------
    >>> two = Moments(("a", "b"), Ratings(np.array([2.0, 1.0]), np.array([4.0, 1.0]),
    ...     np.array([2.0, 0.0]), 2.0))
    >>> normal_of_moments(two, threshold=2.0, prior=NormalPrior(mean=3.0)).mean.round(2)
    array([[0.13, 0.87],
           [0.5 , 0.5 ]])
    """
    _check_threshold(threshold)
    items, data = moments.items, moments.ratings
    said: tuple[str, ...] = ()
    given = prior
    if given is None:
        given, said = empirical_prior(data)
    law = _posterior(data, given, float(threshold))
    start = np.arange(0, 2 * len(items) + 1, 2)
    mass, rest = law.mean(start)
    return Plausibilities(
        items=items,
        classes=(f"below {threshold:g}", f"at least {threshold:g}"),
        start=start,
        label=np.tile([0, 1], len(items)),
        mass=mass[None],
        rest=rest[None],
        method=f"Normal ratings ({'empirical Bayes' if prior is None else 'given prior'})",
        task=moments.task,
        parameters={"threshold": float(threshold), "prior": given},
        diagnostics={"prior": given, "level": law.level, "scatter": law.scale / law.shape},
        law=law,
        notices=said,
    )


def _misfit(
    annotations: Annotations, made: Plausibilities, threshold: float, task: str
) -> tuple[str, ...]:
    """Say when the share of ratings beyond the threshold is not what the model makes of it."""
    assert annotations.value is not None
    rows = np.flatnonzero(annotations.in_task(task))
    item = np.unique(annotations.item[rows], return_inverse=True)[1]
    weight = np.ones(len(rows)) if annotations.weight is None else annotations.weight[rows]
    if annotations.count is not None:
        weight = weight * annotations.count[rows]
    reach = np.bincount(item, weight * (annotations.value[rows] >= threshold))
    seen = reach / np.bincount(item, weight)
    gap = float(np.abs(seen - made.mean[:, 1]).mean())
    if gap <= MISFIT:
        return ()
    return (
        f"The model's share of ratings of at least {threshold:g} is {gap:.2f} away from the "
        "observed share on average: ratings pile up at the threshold or at the end of the "
        "scale, which a normal law cannot. Turn them into a yes/no question instead.",
    )


def _check_threshold(threshold: float) -> None:
    if not np.isfinite(threshold):
        raise InputError(
            "normal, threshold", f"{threshold}", "a finite number", "choose one on the scale"
        )


def _moments(annotations: Annotations, task: str) -> Moments:
    """Number, mean and squares of the ratings of each item that has any."""
    if annotations.kind != "interval" or annotations.value is None:
        raise InputError(
            "normal", f"annotations of kind {annotations.kind}", "ratings of kind interval",
            hint(
                "read the file with {}, or choose a model for classes",
                Option("kind", "interval"),
            ),
        )  # fmt: skip
    rows = np.flatnonzero(annotations.in_task(task))
    if annotations.is_gold is not None and annotations.is_gold[rows].any():
        raise InputError(
            "normal", "gold rows", "ratings only", "leave gold rows out: they settle an item"
        )
    if not len(rows):
        raise InputError(f"normal, task {task!r}", "no ratings", "at least one", "check it")
    weight = np.ones(len(rows)) if annotations.weight is None else annotations.weight[rows]
    if annotations.count is not None:
        weight = weight * annotations.count[rows]
    known = np.flatnonzero(np.bincount(annotations.item[rows]))
    place = np.zeros(len(annotations.items), dtype=np.intp)
    place[known] = np.arange(len(known))
    item = place[annotations.item[rows]]
    value = annotations.value[rows].astype(np.float64)
    number = np.bincount(item, weight).astype(np.float64)
    mean = np.bincount(item, weight * value) / number
    squares = np.bincount(item, weight * (value - mean[item]) ** 2).astype(np.float64)
    ordered = np.sort(value)
    gaps = np.diff(ordered)[ordered[1:] > ordered[:-1]]
    names = tuple(annotations.items[i] for i in known)
    step = float(gaps.min()) if len(gaps) else 0.0
    return Moments(names, Ratings(number, mean, squares, step), task)


def _posterior(data: Ratings, prior: NormalPrior, threshold: float) -> NormalLaw:
    """Conjugate update of every item."""
    worth = prior.worth + data.number
    apart = prior.worth * data.number / worth * (data.mean - prior.mean) ** 2
    return NormalLaw(
        level=(prior.worth * prior.mean + data.number * data.mean) / worth,
        worth=worth,
        shape=prior.shape + data.number / 2,
        scale=prior.scale + (data.squares + apart) / 2,
        threshold=threshold,
    )

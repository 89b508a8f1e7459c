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

from dataclasses import dataclass

import numpy as np

from equipoise.aggregate._normal_prior import NormalPrior, Ratings, empirical_prior
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.plausibilities import Plausibilities

__all__ = ["NormalLaw", "NormalPrior", "normal"]


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
    if not np.isfinite(threshold):
        raise InputError(
            "normal, threshold", f"{threshold}", "a finite number", "choose one on the scale"
        )
    items, data = _ratings(annotations, task)
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
        task=task,
        parameters={"threshold": float(threshold), "prior": str(given)},
        diagnostics={"prior": given, "level": law.level, "scatter": law.scale / law.shape},
        law=law,
        notices=said,
    )


def _ratings(annotations: Annotations, task: str) -> tuple[tuple[str, ...], Ratings]:
    """Number, mean and squares of the ratings of each item that has any."""
    if annotations.kind != "interval" or annotations.value is None:
        raise InputError(
            "normal", f"annotations of kind {annotations.kind}", "ratings of kind interval",
            "read the file with kind='interval', or choose a model for classes",
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
    known, item = np.unique(annotations.item[rows], return_inverse=True)
    value = annotations.value[rows].astype(np.float64)
    number = np.bincount(item, weight).astype(np.float64)
    mean = np.bincount(item, weight * value) / number
    squares = np.bincount(item, weight * (value - mean[item]) ** 2).astype(np.float64)
    gaps = np.diff(np.unique(value))
    names = tuple(annotations.items[i] for i in known)
    return names, Ratings(number, mean, squares, float(gaps.min()) if len(gaps) else 0.0)


def _posterior(data: Ratings, prior: NormalPrior, threshold: float) -> "NormalLaw":
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


@dataclass(frozen=True, slots=True, eq=False)
class NormalLaw:
    """Normal-inverse-gamma distributions of level and scatter, asked about a threshold.

    Attributes
    ----------
    level, worth, shape, scale
        The four numbers m, k, a and b of each item, shape (items,).
    threshold
        Classes are below it, and at least it, in this order.
    """

    level: Floats
    worth: Floats
    shape: Floats
    scale: Floats
    threshold: float
    name: str = "normal"

    def mean(self, start: Ints) -> tuple[Floats, Floats]:
        """Exact: tails of the Student-t distribution of the next rating."""
        del start
        return self._tails(1 + 1 / self.worth)

    def draw(self, start: Ints, draws: int, seed: int) -> tuple[Floats, Floats]:
        """Draw scatter, then level, then the share of ratings on either side."""
        from scipy.special import ndtr

        del start
        random = np.random.default_rng(seed)
        shape = (draws, len(self.level))
        scatter = np.sqrt(self.scale / random.standard_gamma(self.shape, shape))
        offset = (self.level - self.threshold) / scatter
        offset = offset + random.standard_normal(shape) / np.sqrt(self.worth)
        mass = np.stack([ndtr(-offset), ndtr(offset)], axis=2).reshape(draws, -1)
        return mass, np.zeros(shape)

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """Exact: the chance that the level lies on either side of the threshold."""
        del start, others
        return self._tails(1 / self.worth)

    def _tails(self, variance: Floats) -> tuple[Floats, Floats]:
        """Student-t chances of both classes; `variance` in units of the scatter squared."""
        from scipy.special import stdtr

        spread = np.sqrt(variance * self.scale / self.shape)
        offset = (self.level - self.threshold) / spread
        both = np.stack([stdtr(2 * self.shape, -offset), stdtr(2 * self.shape, offset)], axis=1)
        return both.ravel(), np.zeros(len(self.level))

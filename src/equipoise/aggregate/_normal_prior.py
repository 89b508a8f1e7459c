r"""Normal prior: level and scatter of items before any rating, given or found from all items.

The marginal likelihood of the n ratings of an item, with mean :math:`\bar y` and sum of squares
S around it, is

.. math:: \frac{\Gamma(a_n)}{\Gamma(a)} \frac{b^a}{b_n^{a_n}} \sqrt{\frac{k}{k_n}}
    (2\pi)^{-n/2}, \quad a_n = a + \frac n2, \quad k_n = k + n, \quad
    b_n = b + \frac S2 + \frac{k n (\bar y - m)^2}{2 k_n}
"""

from dataclasses import dataclass

import numpy as np

from equipoise.arrays import Floats, InputError, require_unique

SMALL, LARGE = 0.5, 5000.0  # bounds of a and k/2: a prior worth 1 to 10,000 ratings
THIN = 1e-4  # smallest k: the level of an item may be this vague


@dataclass(frozen=True, slots=True)
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
                "normal prior", f"mean, worth, shape, scale {numbers}",
                "finite numbers, all but the mean positive", "correct them",
            )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Number, mean and sum of squares around it of each item's ratings, shape (items,).

    `step` is the smallest difference between two unequal ratings, 0 when all are equal.
    """

    number: Floats
    mean: Floats
    squares: Floats
    step: float


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Ratings of named items, summed up: all that the normal model needs of them.

    Attributes
    ----------
    items
        Names of the items.
    ratings
        Number, mean and squares of their ratings.
    task
        Which question was asked; empty when there is only one.
    notices
        What the user should be told about the data, one sentence each.
    """

    items: tuple[str, ...]
    ratings: Ratings
    task: str = ""
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_unique(self.items, where="moments, items")
        size, own = (len(self.items),), self.ratings
        each = (own.number, own.mean, own.squares)
        fits = bool(self.items) and all(part.shape == size for part in each)
        if not fits or not np.isfinite(each).all() or own.number.min() <= 0:
            raise InputError(
                "moments", f"{len(self.items)} items, {[part.shape for part in each]} numbers",
                "a positive number, a mean and squares for every item, all finite",
                "leave out items without ratings",
            )  # fmt: skip


def log_marginal(data: Ratings, prior: NormalPrior) -> float:
    """Log density of all ratings, levels and scatters integrated out.

    Examples
    --------
    >>> one = Ratings(np.ones(1), np.zeros(1), np.zeros(1), 1.0)
    >>> log_marginal(one, NormalPrior())  # Student-t with 2 degrees of freedom, scale sqrt(2)
    -1.386
    """
    logs = np.log([prior.worth, prior.shape, prior.scale / prior.shape])
    return -_loss(np.array([prior.mean, *logs]), data)[0]


def _loss(point: Floats, data: Ratings) -> tuple[float, Floats]:
    """Negative log marginal and its slope in (m, log k, log a, log(b / a))."""
    from scipy.special import digamma, gammaln

    mean, (worth, shape) = point[0], np.exp(point[1:3])
    scale, n = shape * np.exp(point[3]), data.number
    after, shapes = worth + n, shape + n / 2
    off = data.mean - mean
    scales = scale + data.squares / 2 + worth * n / after * off**2 / 2
    each = (
        gammaln(shapes) - gammaln(shape) + shape * np.log(scale) - shapes * np.log(scales)
        + 0.5 * np.log(worth / after) - n / 2 * np.log(2 * np.pi)
    )  # fmt: skip
    pull = shapes / scales
    by_mean = pull * worth * n / after * off
    by_worth = 0.5 * n / after - pull * worth * (n / after) ** 2 * off**2 / 2
    by_scale = shape - pull * scale
    by_shape = shape * (
        digamma(shapes) - digamma(shape) + np.log(scale) - np.log(scales)
    ) + by_scale  # fmt: skip
    slope = [part.sum() for part in (by_mean, by_worth, by_shape, by_scale)]
    return -float(each.sum()), -np.array(slope)


def empirical_prior(data: Ratings) -> tuple[NormalPrior, tuple[str, ...]]:
    """Find the prior that makes all ratings likeliest, and what to tell the user of it."""
    from scipy.optimize import minimize

    several = int(((data.number > 1) | (data.squares > 0)).sum())
    if several < 2 or data.step <= 0:
        raise InputError(
            "normal, prior by empirical Bayes",
            f"{several} items with several ratings" if data.step else "all ratings equal",
            "at least two items with several ratings that differ",
            "give a prior with prior=NormalPrior(...)",
        )  # fmt: skip
    centre = float(np.average(data.mean, weights=data.number))
    between = float(np.average((data.mean - centre) ** 2, weights=data.number))
    within = float(data.squares.sum() / data.number.sum())
    unit = np.sqrt(between + within)
    if not 1e-100 < unit < 1e100:
        raise InputError(
            "normal, prior by empirical Bayes", f"ratings that scatter by {unit:.2g}",
            "a scatter between 1e-100 and 1e100", "rescale the ratings",
        )  # fmt: skip
    scaled = Ratings(
        data.number, (data.mean - centre) / unit, data.squares / unit**2, data.step / unit
    )
    least = np.log(scaled.step**2 / 12)
    start = np.array([0.0, 0.0, np.log(2.0), max(np.log(within / unit**2 + 1e-12), least)])
    low = np.array([-10.0, np.log(THIN), np.log(SMALL), least])
    high = np.array([10.0, np.log(2 * LARGE), np.log(LARGE), max(5.0, least + 1)])
    best = minimize(
        _loss, start, args=(scaled,), jac=True, method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)),
        options={"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-8},
    )  # fmt: skip
    worth, shape, scatter = np.exp(best.x[1:])
    prior = NormalPrior(
        mean=float(centre + unit * best.x[0]),
        worth=float(worth),
        shape=float(shape),
        scale=float(shape * scatter * unit**2),
    )
    return prior, _told(best.x[1:], low[1:], high[1:])


def _told(point: Floats, low: Floats, high: Floats) -> tuple[str, ...]:
    """Say which numbers of the prior stand at the edge of what is allowed."""
    names = ("level", "scatter", "typical scatter")
    said = []
    for name, value, least, most in zip(names, point, low, high, strict=True):
        if min(value - least, most - value) < 1e-6:
            edge = "lowest" if value - least < 1e-6 else "highest"
            what = "value" if name == "typical scatter" else "certainty"
            said.append(
                f"The prior found for the {name} of items stands at the {edge} {what} allowed: "
                "the ratings do not suit or determine it. Look at them, or give a prior."
            )
    return tuple(said)

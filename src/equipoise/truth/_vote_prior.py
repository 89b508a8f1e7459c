r"""Prior of votes: what a Dirichlet believes of an item before its votes.

``"empirical"``, the default, takes both the base rate :math:`\pi` of the classes and the
concentration s, how many votes the base rate counts as, from the votes of all items: they
maximise the Dirichlet-multinomial likelihood

.. math:: \prod_i \frac{\Gamma(s)}{\Gamma(s + n_i)}
    \prod_k \frac{\Gamma(s \pi_k + c_{ik})}{\Gamma(s \pi_k)}

with votes :math:`c_{ik}` and their sum :math:`n_i`, times a weak log-normal prior of s (median
1, log deviation 1). That decides where votes cannot: with one vote per item s is 1, and a
handful of items cannot make it huge. The base rate is then smoothed by one vote, spread evenly,
so that no class is impossible. The likelihood needs only how often each number of votes occurs
for each class, so that a step costs the same for a thousand items and for a million. Items of
known truth are left out.

With more than 32 classes, or very many items and classes, the base rate is even over the
classes and s alone is estimated.

``"uniform"`` is 1 for every class, and a number is that for every class.
"""

from dataclasses import dataclass, replace

import numpy as np

from equipoise.types.arrays import Floats, InputError, Ints
from equipoise.types.numbers import number

PRIORS = ("empirical", "uniform")
MOST_CLASSES = 32  # with a base rate of their own
MOST_CELLS = 20_000_000  # pairs of item and class that may all be stored
_STEPS = 200
_HALVES = 40


@dataclass(frozen=True, slots=True, eq=False)
class VotePrior:
    """A prior of votes.

    Attributes
    ----------
    shapes
        What each class has without votes, shape (classes,).
    words
        Its name where it is shown.
    empirical
        Whether it was estimated.
    """

    shapes: Floats
    words: str
    empirical: bool = False

    @property
    def even(self) -> bool:
        """Whether all classes have the same."""
        return bool((self.shapes == self.shapes[0]).all())

    @property
    def concentration(self) -> float:
        """What all classes have together."""
        return float(self.shapes.sum())

    @property
    def base_rate(self) -> Floats:
        """Share of each class, shape (classes,)."""
        return np.asarray(self.shapes / (self.concentration or 1.0))


def given_prior(prior: str | float, classes: int) -> VotePrior | None:
    """A prior that was given as a number or as uniform; None where it is to be estimated."""
    if isinstance(prior, str) and prior not in PRIORS:
        expected = f"{', '.join(PRIORS)} or a number of at least 0"
        raise InputError("dirichlet, prior", f"{prior!r}", expected, "empirical is the default")
    if prior == "empirical":
        return None
    each = 1.0 if isinstance(prior, str) else float(prior)
    return VotePrior(np.full(classes, each), f"prior {each:g}")


def estimated_prior(label: Ints, votes: Floats, total: Floats, classes: int) -> VotePrior:
    """Base rate and concentration of the votes of all items.

    Parameters
    ----------
    label, votes
        Class and weight of every pair of item and class that has votes, shape (pairs,).
    total
        Weight of all votes of each item, shape (items,).

    Examples
    --------
    >>> made = estimated_prior(np.array([0, 1]), np.ones(2), np.ones(2), 2)
    >>> made.words
    'empirical prior: base rate 0.50, concentration 1.0, one vote per item'
    """
    if not len(votes):  # every item is known
        return VotePrior(
            np.full(classes, 1 / classes), "empirical prior: no votes", empirical=True
        )
    even = classes > MOST_CLASSES or len(total) * classes > MOST_CELLS
    own = np.zeros_like(label) if even else label
    return prior_of_tally(VoteTally.of(own, votes, total, classes))


def prior_of_tally(tally: "VoteTally") -> VotePrior:
    """Base rate and concentration, given how often each number of votes occurs."""
    classes, every = tally.classes, float(tally.votes @ tally.times)
    items = float(tally.items.sum())
    even = classes > MOST_CLASSES or items * classes > MOST_CELLS
    if even:
        own = np.zeros_like(tally.label)
        strength = _even_strength(replace(tally, label=own), classes)
        rate = np.full(classes, 1 / classes)
    else:
        shapes = _fitted(tally)
        strength = float(shapes.sum())
        rate = (every * shapes / strength + 1 / classes) / (every + 1)
    alone = float(tally.times.sum()) == items and bool((tally.total <= 1).all())
    words = _words(rate, strength, even=even) + (", one vote per item" if alone else "")
    return VotePrior(strength * rate, words, empirical=True)


def _words(rate: Floats, strength: float, *, even: bool) -> str:
    many = number(strength, 1 if strength >= 0.1 else 2)
    if even:
        return f"empirical prior: concentration {many}, even over {len(rate)} classes"
    if len(rate) == 2:
        return f"empirical prior: base rate {number(rate[1], 2)}, concentration {many}"
    ends = f"{number(rate.min(), 2)} to {number(rate.max(), 2)}"
    return f"empirical prior: base rates {ends}, concentration {many}"


@dataclass(frozen=True, slots=True, eq=False)
class VoteTally:
    """How often each number of votes occurs: of all classes together, and of each class.

    Attributes
    ----------
    total, items
        Numbers of votes that items have, and how many items have each.
    label, votes, times
        Class, number of its votes on an item, and how many items have that.
    classes
        How many classes there are.
    """

    total: Floats
    items: Floats
    label: Ints
    votes: Floats
    times: Floats
    classes: int

    @classmethod
    def of(cls, label: Ints, votes: Floats, total: Floats, classes: int) -> "VoteTally":
        """Count distinct numbers, so that sums run over few of them."""
        sizes, items = np.unique(total, return_counts=True)
        values, code = np.unique(votes, return_inverse=True)
        pair, times = np.unique(label * len(values) + code, return_counts=True)
        own, code = pair // len(values), pair % len(values)
        return cls(sizes, items.astype(float), own, values[code], times.astype(float), classes)

    def likelihood(self, shapes: Floats) -> float:
        """Log-likelihood of a shape per class, but for a constant."""
        from scipy.special import gammaln

        whole, own = shapes.sum(), shapes[self.label]
        below = self.items @ (gammaln(whole) - gammaln(whole + self.total))
        return float(below + self.times @ (gammaln(own + self.votes) - gammaln(own)))

    def slopes(self, shapes: Floats) -> tuple[Floats, Floats, float]:
        """First derivatives, second ones of each class apart, and the part that all share."""
        from scipy.special import digamma, polygamma

        whole, own = shapes.sum(), shapes[self.label]
        shared = self.items @ (digamma(whole) - digamma(whole + self.total))
        first = self.times * (digamma(own + self.votes) - digamma(own))
        second = self.times * (polygamma(1, own + self.votes) - polygamma(1, own))
        bend = self.items @ (polygamma(1, whole) - polygamma(1, whole + self.total))
        size = len(shapes)
        return (
            shared + np.bincount(self.label, first, size),
            np.asarray(np.bincount(self.label, second, size), dtype=np.float64),
            float(bend),
        )


def _fitted(tally: VoteTally) -> Floats:
    """Shapes of the classes, 0 for those without votes; Newton's method in their logarithms."""
    votes = np.bincount(tally.label, tally.votes * tally.times, tally.classes)
    voted = np.flatnonzero(votes)
    place = np.zeros(tally.classes, dtype=np.intp)
    place[voted] = np.arange(len(voted))
    own = VoteTally(
        tally.total, tally.items, place[tally.label], tally.votes, tally.times, len(voted)
    )
    log = np.log(votes[voted] / votes.sum())
    height = _height(own, log)
    for _ in range(_STEPS):
        step = _newton(own, log)
        for _ in range(_HALVES):
            reached = _height(own, log + step)
            if reached >= height:
                break
            step = step / 2
        else:
            break
        log, height = log + step, reached
        if np.abs(step).max() < 1e-11:
            break
    shapes = np.zeros(tally.classes)
    shapes[voted] = np.exp(log)
    return shapes


def _height(tally: VoteTally, log: Floats) -> float:
    """Log-likelihood plus the log prior of the concentration."""
    shapes = np.exp(log)
    return float(tally.likelihood(shapes) - 0.5 * np.log(shapes.sum()) ** 2)


def _newton(tally: VoteTally, log: Floats) -> Floats:
    """A step uphill: Newton's where the function bends down, else along the slope."""
    shapes = np.exp(log)
    slope, apart, shared = tally.slopes(shapes)
    part, far = shapes / shapes.sum(), np.log(shapes.sum())
    first = shapes * slope - far * part
    bend = shared * np.outer(shapes, shapes) - (1 - far) * np.outer(part, part)
    bend += np.diag(shapes**2 * apart + first)
    values, axes = np.linalg.eigh(-bend)
    safe = np.maximum(np.abs(values), 1e-9 * max(1.0, float(np.abs(values).max())))
    step = axes @ ((axes.T @ first) / safe)
    return np.asarray(step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300)))


def _even_strength(tally: VoteTally, classes: int) -> float:
    """Concentration where all classes have the same base rate."""
    from scipy.optimize import minimize_scalar

    one = np.array([1 / classes])

    def depth(log: float) -> float:
        from scipy.special import gammaln

        whole = np.exp(log)
        own = whole * one[tally.label]
        below = tally.items @ (gammaln(whole) - gammaln(whole + tally.total))
        inside = tally.times @ (gammaln(own + tally.votes) - gammaln(own))
        return float(0.5 * log**2 - below - inside)

    found = minimize_scalar(depth, bounds=(-12, 12), method="bounded", options={"xatol": 1e-10})
    return float(np.exp(found.x))

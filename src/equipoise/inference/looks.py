r"""Looks: a study that is evaluated while it grows, its error spent over the planned looks.

At look k of K the share :math:`t_k = k/K` of the information is in, and of the error
:math:`\alpha` the share of O'Brien and Fleming's spending function is spent (Lan and DeMets),

.. math:: \alpha(t) = 4 - 4 \Phi\big( z_{1 - \alpha/4} / \sqrt t \big)

The bound :math:`c_k` makes the probability of a first crossing at look k
:math:`\alpha(t_k) - \alpha(t_{k-1})`, by integration over a Brownian motion; intervals and
verdicts of the look then have the level :math:`2 \Phi(c_k) - 1`. An earlier look that is known
counts with its own items, :math:`t_j = t_k n_j / n_k`, and the level it had; of others it is
assumed that they were made as planned.

References
----------
O'Brien and Fleming, Biometrics 1979. Lan and DeMets, Biometrika 1983. Armitage, McPherson and
Rowe, JRSS A 1969. Jennison and Turnbull, *Group Sequential Methods*, CRC Press 1999.

Examples
--------
>>> [round(1 - look_level(0.95, Look(k, 4)), 4) for k in (1, 2, 3, 4)]
[0.0, 0.0031, 0.0183, 0.044]
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from equipoise.types import Floats, InputError, Notice, Option, exact_percent, notice

POINTS = 801  # of the distribution between two bounds
FARTHEST = 8.0  # bound
SUREST = 1 - 1e-12  # level of a look at which next to nothing is spent

REPEATED = notice(
    "repeated_look",
    "This study was evaluated before when it was smaller, so that this is a repeated look: its "
    "verdict errs more often than intervals say. {look} spends the error over looks.",
    look=Option("look", "2/4"),
)


class Look(NamedTuple):
    """A look at a growing study.

    Attributes
    ----------
    number, planned
        Which look, of how many.
    items
        How many items there were; 0 where nobody knows.
    level
        That intervals had.
    """

    number: int
    planned: int
    items: int = 0
    level: float = math.nan

    @classmethod
    def parse(cls, text: str, items: int = 0) -> "Look":
        """From words such as ``2/4``."""
        parts = text.split("/")
        if len(parts) == 2 and all(part.strip().isdecimal() for part in parts):
            number, planned = (int(part) for part in parts)
            if 1 <= number <= planned <= 100:
                return cls(number, planned, items)
        raise InputError(
            "look", repr(text), "which look of how many planned, such as 2/4", "try 2/4"
        )


def look_at(
    text: str, items: int, level: float, earlier: Sequence[Look] = ()
) -> tuple[Look, Notice]:
    """The look at a study of so many items, with its level, and what to say of it.

    A look that was made is refused, unless it is made again at the same items.
    """
    look = Look.parse(text, items)
    for before in earlier:
        again = before.number == look.number and before.items == items
        if before.number >= look.number and not again:
            got = f"look {before.number} of {before.items:,} items was made"
            do = "name the next look; the same items again are the same look"
            raise InputError(f"look {text}", got, "a look that was not made yet", do)
        if before.number < look.number and before.items >= items:
            got = f"{items:,} items, and {before.items:,} at look {before.number}"
            raise InputError(f"look {text}", got, "more items", "look when there are more")
    look = look._replace(level=look_level(level, look, earlier))
    told = notice(
        "look",
        "Look {number:count} of {planned:count}: intervals and verdicts have the level {now}, "
        "so that all looks together have {whole} (O'Brien-Fleming spending, Lan and DeMets).",
        number=look.number,
        planned=look.planned,
        now=exact_percent(look.level),
        whole=exact_percent(level),
    )
    return look, told


def look_level(level: float, look: Look, earlier: Sequence[Look] = ()) -> float:
    """The level of intervals at a look.

    Parameters
    ----------
    level
        Of all looks together.
    earlier
        Looks that were made before, in their order.
    """
    from scipy.special import ndtr, ndtri

    z = float(ndtri(0.75 + level / 4))  # half of the error on either side

    def spent(time: float) -> float:
        return float(4 * ndtr(-z / math.sqrt(time)))

    made = {before.number: before for before in earlier if before.number < look.number}
    now, so_far, paths = 0.0, 0.0, _Paths.begun()
    for number in range(1, look.number + 1):
        before = made.get(number, Look(number, look.planned))
        time = number / look.planned
        if before.items and look.items:
            time = look.number / look.planned * before.items / look.items
        if time <= now:
            continue
        paths, now = paths.until(now, time), time
        bound = paths.bound(max(spent(time) - so_far, 0.0))
        if not math.isnan(before.level):
            bound = float(ndtri(0.5 + before.level / 2))
        so_far += paths.beyond(bound)
        paths = paths.within(bound)
    return min(float(2 * ndtr(bound) - 1), SUREST)


class _Paths(NamedTuple):
    """Where studies stand that have crossed no bound: density at points, and the time."""

    points: Floats
    mass: Floats
    step: float
    time: float

    @classmethod
    def begun(cls) -> "_Paths":
        """All at 0."""
        return cls(np.zeros(1), np.ones(1), 0.0, 0.0)

    def until(self, before: float, time: float) -> "_Paths":
        """The same at a later time, before anybody looks."""
        return self._replace(step=math.sqrt(time - before), time=time)

    def beyond(self, bound: float) -> float:
        """Probability to be beyond a bound of the standardised statistic."""
        from scipy.special import ndtr

        edge = bound * math.sqrt(self.time)
        tails = ndtr((self.points - edge) / self.step) + ndtr(-(self.points + edge) / self.step)
        return float(self.mass @ tails)

    def bound(self, error: float) -> float:
        """Beyond which that much is."""
        from scipy.optimize import brentq

        if self.beyond(FARTHEST) >= error:
            return FARTHEST
        return float(brentq(lambda c: self.beyond(c) - error, 0.0, FARTHEST))

    def within(self, bound: float) -> "_Paths":
        """Those that are not beyond, (points,)."""
        edge = bound * math.sqrt(self.time)
        points = np.linspace(-edge, edge, POINTS)
        away = (points[:, None] - self.points) / self.step
        density = np.exp(-(away**2) / 2) @ self.mass / (self.step * math.sqrt(2 * math.pi))
        weight = np.full(POINTS, 2.0)  # Simpson's
        weight[1::2] = 4.0
        weight[[0, -1]] = 1.0
        return self._replace(points=points, mass=density * weight * (points[1] - points[0]) / 3)

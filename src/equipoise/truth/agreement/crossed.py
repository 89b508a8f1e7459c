r"""Agreement for items and annotators like these: alpha, Fleiss' kappa and percent agreement.

All three are :math:`1 - D / E`. With :math:`p_i` the shares of the m votes on item i,
:math:`a_i` its weight (m for alpha, 1 for the others, scaled to a sum of 1) and
:math:`\delta` how far two labels are apart,

.. math:: D = \sum_i a_i d_i, \quad d_i = \tfrac{m}{m - 1} p_i' \delta p_i, \qquad
    E = c \, q' \delta q, \quad q = \sum_i b_i p_i

with b = m of n votes in all, c = n/(n - 1) for alpha and 1 for kappa, and E = 1 for percent
agreement. The weight of an item and a vote for label y move the coefficient by

.. math:: g_i = - a_i \frac{d_i - D}{E} + 2 c \frac{D}{E^2} b_i (p_i' \delta q - q' \delta q),
    \qquad h_i(y) = - \tfrac{2 m}{m - 1} \frac{a_i (\delta p_i)_y}{E}
    + 2 c \frac{D}{E^2} b_i (\delta q)_y

from which the two-way variance follows as for metrics (`equipoise.inference`). The distances
of ordinal alpha, which hang on ranks, are taken as they are.

Examples
--------
>>> from equipoise.truth.agreement.coefficients import collect
>>> from equipoise.inference.resampling import resample
>>> from equipoise.types import Annotations
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     annotators=("ana", "bo", "cy"), item=np.repeat([0, 1, 2], 3),
...     annotator=np.tile([0, 1, 2], 3), label=np.array([1, 1, 0, 0, 0, 0, 1, 1, 1]))
>>> cell = crossed_coefficient(collect(votes), "alpha", "nominal", resample(votes, "items"))
>>> cell.values.round(3)
array([0.6])
"""

from typing import Any

import numpy as np

from equipoise.inference.ballots import Ballots, Layout
from equipoise.inference.intervals import TwoWay, population_of, two_way
from equipoise.inference.resampling import Resampling
from equipoise.truth.agreement.coefficients import TaskVotes, relative
from equipoise.types import Floats, Ints


def crossed_coefficient(
    votes: TaskVotes,
    coefficient: str,
    level: str,
    plan: Resampling,
) -> TwoWay:
    """A coefficient with what its uncertainty is made of.

    Parameters
    ----------
    votes
        Of one task.
    coefficient
        ``alpha``, ``fleiss`` or ``percent``.
    level
        Level of measurement; kappa and percent agreement are nominal.
    plan
        In which groups items and annotators come.
    """
    unit = np.arange(votes.items) if plan.group is None else plan.group
    count = votes.counts()
    number = np.asarray(count.sum(axis=1)).ravel()
    items = np.flatnonzero(number >= 2)
    place = np.full(votes.items, -1)
    place[items] = np.arange(len(items))
    size = number[items]
    shares = count[items].multiply(1 / size[:, None]).tocsr()
    left, right = _distances(votes, count[items], level)
    weight = size / size.sum() if coefficient == "alpha" else np.full(len(size), 1 / len(size))
    chance = size / size.sum()
    seen, rare = _ends(coefficient, size)
    met = shares @ right  # what a label meets on its item, and among all
    common = chance @ met
    apart = size / (size - 1) * np.asarray(shares.multiply(met @ left.T).sum(axis=1)).ravel()
    far = np.asarray(shares @ (left @ common)).ravel()
    observed, expected = float(weight @ apart), seen + rare * float(chance @ far)
    slope = rare * observed / expected**2
    influence = -weight * (apart - observed) / expected
    influence += 2 * slope * chance * (far - chance @ far)
    keep = place[votes.item] >= 0
    item, code = place[votes.item[keep]], votes.code[keep]
    by_vote = -(2 * weight * size / (size - 1))[item] * (left[code] * met[item]).sum(axis=1)
    by_vote = by_vote / expected + 2 * slope * chance[item] * (left[code] @ common)
    ballots = _ballots(votes, keep, item, by_vote, unit[items]).of_groups(plan.annotator_group)
    covariances = Layout([ballots]).annotator_and_cell_covariances(
        [np.ones((1, len(items), 1))], "soft"
    )
    named = votes.who is not None
    population = population_of(
        ballots.design, named=named, units="items" if plan.group is None else "groups of items"
    )
    return two_way(
        np.array([1 - observed / expected]), influence[None], ballots.unit,
        design=ballots.design, population=population, votes=covariances,
    )  # fmt: skip


def _ends(coefficient: str, size: Floats) -> tuple[float, float]:
    """What is expected without chance, and how much chance counts."""
    if coefficient == "percent":
        return 1.0, 0.0
    whole = float(size.sum())
    return 0.0, whole / (whole - 1) if coefficient == "alpha" else 1.0


def _distances(votes: TaskVotes, count: Any, level: str) -> tuple[Floats, Floats]:
    """How far any two values are apart, as a product of two tables (values, parts)."""
    value = votes.value
    if level == "interval":
        value = value - value[len(value) // 2]
        unity = np.ones(len(value))
        return np.stack([value**2, -2 * value, unity], 1), np.stack([unity, value, value**2], 1)
    same = np.eye(len(value))
    if level == "nominal":
        return 1 - same, same
    if level == "ratio":
        return relative(value[:, None], value[None, :]), same
    total = np.asarray(count.sum(axis=0)).ravel()
    rank = np.cumsum(total) - total / 2
    return (rank[:, None] - rank) ** 2, same


def _ballots(votes: TaskVotes, keep: Any, item: Ints, by_vote: Floats, unit: Ints) -> Ballots:
    """Votes whose deviation is what each moves the coefficient by."""
    order = np.argsort(unit[item], kind="stable")
    item, by_vote, times = item[order], by_vote[order], votes.times[keep][order]
    total = np.bincount(item, times)
    mean = np.bincount(item, times * by_vote) / total
    who = np.zeros(len(item), dtype=np.int64) if votes.who is None else votes.who[keep][order]
    return Ballots(
        unit=np.unique(unit, return_inverse=True)[1],
        item=item,
        annotator=who,
        share=times / total[item],
        mass=by_vote[:, None],
        labels=mean[:, None],
        harden=lambda labels: labels,
        named=votes.who is not None,
    )

r"""Plackett-Luce by maximum likelihood: the one set of rates that explains the readings best.

The model of `plackett_luce` without the chain: for every case the rates on the simplex maximise

.. math:: \sum_r \log P(\text{reading}_r \mid \lambda) + a \sum_k \log \lambda_k

by Hunter's minorise-maximise steps: rate = (mentions + a) / exposure, where exposure is the
expected time that the class was awaited. Readings are censored after the last class named, and
tied blocks (up to 8 classes) are averaged over their hidden orders, so the exact objective
never falls. Classes that nobody of a case mentions stand as one rate. Weights and counts
multiply a reading, by any number; items without readings are left out.

``prior`` is the pseudo-count a of every class, the mode under :math:`\mathrm{Gamma}(1 + a)`
rates. With a = 0 the maximum may not exist: a class that is never beaten takes everything, and
classes that nobody mentions get exactly nothing. With a > 0 it always exists. The default, a =
1/K for K classes, adds one vote in all, however long the list of classes is.

Of a tied block B with rates :math:`\lambda` and a rate Z of all that comes later, every subset
A has the probability to arrive before the rest of the race

.. math:: Q(A) = \sum_{a \in A} \frac{\lambda_a}{Z + \sum_A \lambda} Q(A \setminus a)

which is the recursion of `equipoise.kernels.plackett_luce` times the rates: every number lies
in [0, 1], so nothing overflows. The same recursion run backwards gives the probability that
exactly A is still to come at some point of the hidden order, and with it expected exposures.
All blocks of one size are done at once.

The result is a point estimate: one draw. See `plackett_luce` for how sure it is.

References
----------
Hunter (2004), *MM algorithms for generalized Bradley-Terry models*.

Examples
--------
>>> readings = Annotations.from_rankings([[[["x"], ["y"]], [["y"]]]], classes=["x", "y", "z"])
>>> plackett_luce_ml(readings).mean.round(2)
array([[0.44, 0.49, 0.07]])
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from equipoise.truth.confusion import Fit
from equipoise.truth.model import CLASSES, AggregationModel, unused_confidence
from equipoise.truth.rankings import Readings, collect_readings
from equipoise.types import Annotations, Floats, InputError, Ints, Plausibilities, notice

_LARGEST = 8  # a block of n classes has 2^n subsets


def plackett_luce_ml(
    annotations: Annotations,
    *,
    prior: float | None = None,
    fit: Fit | None = None,
    task: str = "",
) -> Plausibilities:
    """Normalised rates of the highest likelihood, or posterior, of every case.

    Parameters
    ----------
    prior
        Pseudo-count of every class, 0 for plain maximum likelihood; None is 1 / classes.
    fit
        Stop when no rate moves by more than the tolerance, or after so many steps.
    """
    stop, count = fit or Fit(), 1.0 / len(annotations.classes or (1,))
    count = count if prior is None else float(prior)
    if not (0 <= count < np.inf and stop.tolerance >= 0 and stop.most >= 1):
        raise InputError(
            "plackett_luce_ml",
            f"prior {count:g}, {stop}",
            "a pseudo-count and a tolerance of at least 0, at least one step",
            "leave them at their defaults",
        )
    readings = collect_readings(annotations, task, model="plackett_luce_ml")
    rates, steps = _fit_mm(_stages(readings), readings, count, stop)
    notices = unused_confidence(annotations, "Plackett-Luce")
    if not steps["converged"]:
        text = "Plackett-Luce did not converge in {steps:count} steps: raise them" + (
            "." if count else ", or give a prior above 0; without one it need not."
        )
        notices = (*notices, notice("not_converged", text, steps=steps["iterations"]))
    entries = len(readings.label)
    return readings.plausibilities(
        rates[None, :entries],
        rates[None, entries:],
        model="plackett_luce_ml",
        method=f"Plackett-Luce by maximum likelihood (prior {count:g})",
        parameters={"prior": count},
        diagnostics=steps,
        notices=notices,
    )


@dataclass(frozen=True, eq=False)
class _Stages:
    """Every block of every reading. Rates are those of all entries, then of each case's rest.

    Attributes
    ----------
    later
        Sparse (blocks, rates): which rates come after a block.
    groups
        Of each block size: numbers of the blocks, and their classes (blocks, size) as rates.
    copies
        How often a block occurs, shape (blocks,).
    owner
        The case of each rate, shape (rates,).
    """

    later: Any
    groups: tuple[tuple[Ints, Ints], ...]
    copies: Floats
    owner: Ints


def _stages(readings: Readings) -> _Stages:
    """Lay out the blocks, and refuse those that tie too many classes."""
    from scipy.sparse import csr_matrix

    size = np.diff(readings.elements)
    reading = np.repeat(np.arange(len(readings.copies)), np.diff(readings.blocks))
    case = np.repeat(np.arange(len(readings.items)), np.diff(readings.readings))[reading]
    if (size > _LARGEST).any():
        raise InputError(
            f"plackett_luce_ml, item {readings.items[case[size.argmax()]]!r}",
            f"{size.max()} tied classes",
            f"blocks of at most {_LARGEST}",
            "choose plackett_luce, which takes blocks of any size",
        )
    entry = readings.element + readings.start[np.repeat(case, size)]
    rows, columns = [], []
    for b in range(len(size)):
        first = readings.elements[readings.blocks[reading[b]]]
        places = np.arange(readings.start[case[b]], readings.start[case[b] + 1])
        after = np.setdiff1d(places, entry[first : readings.elements[b + 1]])
        after = np.append(after, len(readings.label) + case[b])
        rows.append(np.full(len(after), b))
        columns.append(after)
    owner = np.repeat(np.arange(len(readings.items)), np.diff(readings.start))
    owner = np.concatenate([owner, np.arange(len(readings.items))])
    place = (np.concatenate(rows), np.concatenate(columns))
    groups = []
    for s in np.unique(size):
        block = np.flatnonzero(size == s)
        groups.append((block, entry[readings.elements[block][:, None] + np.arange(s)]))
    return _Stages(
        later=csr_matrix((np.ones(len(place[0])), place), shape=(len(size), len(owner))),
        groups=tuple(groups),
        copies=readings.copies[reading],
        owner=owner,
    )


def _fit_mm(
    stages: _Stages, readings: Readings, prior: float, stop: Fit
) -> tuple[Floats, dict[str, Any]]:
    """Rates after minorise-maximise steps of all cases at once, and how the steps went.

    The start is from the pseudo-counts and mentions.
    """
    cases, classes = len(readings.items), len(readings.classes)
    extra = np.full(len(stages.owner), prior)
    extra[len(readings.label) :] *= classes - np.diff(readings.start)
    shape = extra + np.concatenate([readings.mentions, np.zeros(cases)])
    rates = shape / np.bincount(stages.owner, shape, cases)[stages.owner]
    trace = []
    for _ in range(stop.most):
        likelihood, exposure = _expect(stages, rates)
        trace.append(likelihood + _log_prior(extra, rates))
        new = shape / (exposure + prior * classes)
        new /= np.bincount(stages.owner, new, cases)[stages.owner]
        change = np.abs(new - rates)
        rates = new
        if change.max() <= stop.tolerance:
            break
    moved = np.zeros(cases)
    np.maximum.at(moved, stages.owner, change)
    trace.append(_expect(stages, rates)[0] + _log_prior(extra, rates))
    return rates, {
        "converged": bool(change.max() <= stop.tolerance),
        "iterations": len(trace) - 1,
        "trace": tuple(trace),
        "last_change": moved,
    }


def _log_prior(extra: Floats, rates: Floats) -> float:
    """Log prior of normalised rates, but for a constant."""
    return float((extra * np.log(np.where(extra > 0, rates, 1.0))).sum())


def _expect(stages: _Stages, rates: Floats) -> tuple[float, Floats]:
    """Exact log-likelihood, and the expected exposure of every rate."""
    later = stages.later @ rates
    total, whole = 0.0, np.zeros(len(later))
    exposure = np.zeros(len(rates))
    for block, entry in stages.groups:
        log_chance, inside, wait = exposures(rates[entry], later[block])
        copies = stages.copies[block]
        total += float(copies @ log_chance)
        whole[block] = copies * wait
        mass = (copies[:, None] * inside).ravel()
        exposure += np.bincount(entry.ravel(), mass, len(rates))
    return total, exposure + stages.later.T @ whole


@cache
def _layers(size: int) -> tuple[tuple[Ints, Ints, Ints], ...]:
    """Subsets of a block by their size, from one class to all.

    Of each size their codes, their members, and the codes without each member.
    """
    codes = np.arange(1 << size)
    inside = (codes[:, None] >> np.arange(size)) & 1
    layers = []
    for number in range(1, size + 1):
        subset = codes[inside.sum(axis=1) == number]
        member = np.stack([np.flatnonzero(inside[code]) for code in subset])
        layers.append((subset, member, subset[:, None] ^ (1 << member)))
    return tuple(layers)


def exposures(rates: Floats, later: Floats) -> tuple[Floats, Floats, Floats]:
    """Log chance of blocks of one size, and expected exposures given that they happened.

    Parameters
    ----------
    rates
        Of the classes of each block, shape (blocks, size).
    later
        Rate of all that comes after a block, shape (blocks,).

    Returns
    -------
    log_chance, inside, whole
        Log chance that a block comes first, (blocks,); expected time that each of its classes
        was awaited, (blocks, size); expected time until the last of them, (blocks,).

    Examples
    --------
    >>> exposures(np.array([[2.0]]), np.array([2.0]))
    (array([-0.693]), array([[0.25]]), array([0.25]))
    """
    size = rates.shape[1]
    pace = np.zeros((len(rates), 1 << size))
    chance = np.zeros((len(rates), 1 << size))
    chance[:, 0] = 1.0
    for subset, member, without in _layers(size):
        member_rates = rates[:, member]
        pace[:, subset] = later[:, None] + member_rates.sum(axis=2)
        step = member_rates / pace[:, subset, None]
        chance[:, subset] = (step * chance[:, without]).sum(axis=2)
    reach = np.zeros((len(rates), 1 << size))
    reach[:, -1] = 1.0
    inside = np.zeros(rates.shape)
    whole = np.zeros(len(rates))
    for subset, member, without in reversed(_layers(size)):
        visit = reach[:, subset] * chance[:, subset] / chance[:, -1:]
        wait = visit / pace[:, subset]
        whole += wait.sum(axis=1)
        flow = rates[:, member] / pace[:, subset, None]
        flow = flow * reach[:, subset, None]
        for row in range(len(subset)):
            inside[:, member[row]] += wait[:, row, None]
            reach[:, without[row]] += flow[:, row]
    return np.log(chance[:, -1]), inside, whole


MODEL = AggregationModel(
    name="plackett_luce_ml",
    title="Plackett-Luce (maximum likelihood)",
    description="rankings as races, the one set of rates that explains them best",
    fit=plackett_luce_ml,
    kinds=CLASSES,
    suits=("ranking",),
    rank=11,
    gold=False,
    weights=False,
    references=("caron2012",),
)

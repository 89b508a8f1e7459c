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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.aggregate._people import unused_confidence
from equipoise.aggregate._races import Races, races
from equipoise.aggregate._tied import LARGEST, exposures
from equipoise.aggregate.dawid_skene import Fit
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.plausibilities import Plausibilities

Reading = Sequence[Sequence[int]]


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
            "plackett_luce_ml", f"prior {count:g}, {stop}",
            "a pseudo-count and a tolerance of at least 0, at least one step",
            "leave them at their defaults",
        )  # fmt: skip
    found = races(annotations, task)
    if not found.items:
        raise InputError(
            f"plackett_luce_ml, task {task!r}", "no readings", "at least one", "check it"
        )
    said = unused_confidence(annotations, "Plackett-Luce")
    return _made(found, _climb(_stages(found), found, count, stop), count, said)


def log_likelihood(rates: Floats, readings: Sequence[Reading]) -> float:
    """Exact log chance of readings, each a list of tied blocks, best first.

    Examples
    --------
    >>> log_likelihood(np.array([2.0, 1.0, 1.0]), [[[0], [1]]])
    -1.386
    """
    values = np.asarray(rates, dtype=np.float64)
    if values.ndim != 1 or not (np.isfinite(values) & (values > 0)).all():
        raise InputError(
            "log_likelihood, rates", f"{np.array2string(values, threshold=5)}",
            "one positive number per class", "give unnormalised or normalised rates",
        )  # fmt: skip
    total = 0.0
    for number, reading in enumerate(readings):
        _check_reading(reading, len(values), number)
        last = np.concatenate([np.asarray(block, dtype=np.int64) for block in reading])
        later = np.delete(values, last).sum()
        for block in reversed(reading):
            own = values[np.asarray(block, dtype=np.int64)]
            total += float(exposures(own[None], np.array([later]))[0][0])
            later += own.sum()
    return total


def _check_reading(reading: Reading, classes: int, number: int) -> None:
    named = [k for block in reading for k in block]
    known = all(0 <= k < classes for k in named) and len(set(named)) == len(named)
    if not known or not all(0 < len(block) <= LARGEST for block in reading) or not named:
        raise InputError(
            f"log_likelihood, reading {number}", f"{reading}",
            f"blocks of 1 to {LARGEST} classes from 0 to {classes - 1}, each class once",
            "correct the reading",
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
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


def _stages(found: Races) -> _Stages:
    """Lay out the blocks, and refuse those that tie too many classes."""
    from scipy.sparse import csr_matrix

    size = np.diff(found.elements)
    reading = np.repeat(np.arange(len(found.copies)), np.diff(found.blocks))
    case = np.repeat(np.arange(len(found.items)), np.diff(found.readings))[reading]
    if (size > LARGEST).any():
        raise InputError(
            f"plackett_luce_ml, item {found.items[case[size.argmax()]]!r}",
            f"{size.max()} tied classes", f"blocks of at most {LARGEST}",
            "choose plackett_luce, which takes blocks of any size",
        )  # fmt: skip
    entry = found.element + found.start[np.repeat(case, size)]
    rows, columns = [], []
    for b in range(len(size)):
        first = found.elements[found.blocks[reading[b]]]
        own = np.arange(found.start[case[b]], found.start[case[b] + 1])
        after = np.setdiff1d(own, entry[first : found.elements[b + 1]])
        after = np.append(after, len(found.label) + case[b])
        rows.append(np.full(len(after), b))
        columns.append(after)
    owner = np.repeat(np.arange(len(found.items)), np.diff(found.start))
    owner = np.concatenate([owner, np.arange(len(found.items))])
    place = (np.concatenate(rows), np.concatenate(columns))
    groups = []
    for s in np.unique(size):
        block = np.flatnonzero(size == s)
        groups.append((block, entry[found.elements[block][:, None] + np.arange(s)]))
    return _Stages(
        later=csr_matrix((np.ones(len(place[0])), place), shape=(len(size), len(owner))),
        groups=tuple(groups),
        copies=found.copies[reading],
        owner=owner,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Rates after the last step, and how the steps went."""

    rates: Floats
    trace: tuple[float, ...]
    moved: Floats
    converged: bool


def _climb(stages: _Stages, found: Races, prior: float, stop: Fit) -> _State:
    """Minorise-maximise steps of all cases at once, from the pseudo-counts and mentions."""
    cases, classes = len(found.items), len(found.classes)
    extra = np.full(len(stages.owner), prior)
    extra[len(found.label) :] *= classes - np.diff(found.start)
    shape = extra + np.concatenate([found.mentions, np.zeros(cases)])
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
    return _State(rates, tuple(trace), moved, bool(change.max() <= stop.tolerance))


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
        own = (copies[:, None] * inside).ravel()
        exposure += np.bincount(entry.ravel(), own, len(rates))
    return total, exposure + stages.later.T @ whole


def _made(found: Races, state: _State, prior: float, said: tuple[str, ...]) -> Plausibilities:
    entries = len(found.label)
    if not state.converged:
        said = (
            *said,
            f"Plackett-Luce did not converge in {len(state.trace) - 1} steps: raise them"
            + ("." if prior else ", or give a prior above 0; without one it need not."),
        )
    return Plausibilities(
        items=found.items,
        classes=found.classes,
        start=found.start,
        label=found.label,
        mass=state.rates[None, :entries],
        rest=state.rates[None, entries:],
        method=f"Plackett-Luce by maximum likelihood (prior {prior:g})",
        task=found.task,
        parameters={"prior": prior},
        diagnostics={
            "converged": state.converged,
            "iterations": len(state.trace) - 1,
            "trace": state.trace,
            "last_change": state.moved,
        },
        ordered=found.ordered,
        notices=said,
    )

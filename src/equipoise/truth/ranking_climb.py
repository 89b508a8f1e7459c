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

where every number lies in [0, 1], so that nothing overflows. The same recursion run backwards
gives the probability that exactly A is still to come at some point of the hidden order, and
with it expected exposures (`equipoise.kernels.plackett_luce`).

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

from typing import Any

import numpy as np

from equipoise.truth.confusion import Fit
from equipoise.truth.model import CLASSES, AggregationModel, unused_confidence
from equipoise.truth.rankings import Readings, collect_readings
from equipoise.types import Annotations, Floats, InputError, Plausibilities, notice


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
    _refuse_wide_ties(readings)
    rates, steps = _fit_mm(readings, count, stop)
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


def _refuse_wide_ties(readings: Readings) -> None:
    """Refuse blocks that tie too many classes."""
    from equipoise.kernels.plackett_luce import EXACT

    size = np.diff(readings.elements)
    if size.max() > EXACT:
        reading = np.searchsorted(readings.blocks, size.argmax(), side="right") - 1
        case = np.searchsorted(readings.readings, reading, side="right") - 1
        raise InputError(
            f"plackett_luce_ml, item {readings.items[case]!r}",
            f"{size.max()} tied classes",
            f"blocks of at most {EXACT}",
            "choose plackett_luce, which takes blocks of any size",
        )


def _fit_mm(readings: Readings, prior: float, stop: Fit) -> tuple[Floats, dict[str, Any]]:
    """Rates after minorise-maximise steps of all cases at once, and how the steps went.

    Rates are those of all entries, then of the rest of each case; the start is from the
    pseudo-counts and mentions.
    """
    cases, classes = len(readings.items), len(readings.classes)
    owner = np.repeat(np.arange(cases), np.diff(readings.start))
    owner = np.concatenate([owner, np.arange(cases)])
    extra = np.full(len(owner), prior)
    extra[len(readings.label) :] *= classes - np.diff(readings.start)
    shape = extra + np.concatenate([readings.mentions, np.zeros(cases)])
    rates = shape / np.bincount(owner, shape, cases)[owner]
    trace = []
    for _ in range(stop.most):
        likelihood, exposure = _expect(readings, rates)
        trace.append(likelihood + _log_prior(extra, rates))
        new = shape / (exposure + prior * classes)
        new /= np.bincount(owner, new, cases)[owner]
        change = np.abs(new - rates)
        rates = new
        if change.max() <= stop.tolerance:
            break
    moved = np.zeros(cases)
    np.maximum.at(moved, owner, change)
    trace.append(_expect(readings, rates)[0] + _log_prior(extra, rates))
    return rates, {
        "converged": bool(change.max() <= stop.tolerance),
        "iterations": len(trace) - 1,
        "trace": tuple(trace),
        "last_change": moved,
    }


def _log_prior(extra: Floats, rates: Floats) -> float:
    """Log prior of normalised rates, but for a constant."""
    return float((extra * np.log(np.where(extra > 0, rates, 1.0))).sum())


def _expect(readings: Readings, rates: Floats) -> tuple[float, Floats]:
    """Exact log-likelihood, and the expected exposure of every rate."""
    from equipoise.kernels.plackett_luce import expected_exposures

    names = ("start", "readings", "blocks", "elements", "element", "copies")
    exposure = np.zeros(len(rates))
    cases = tuple(getattr(readings, name) for name in names)
    return expected_exposures(cases, rates, exposure), exposure


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

r"""Plackett-Luce: a differential diagnosis is a race that stops at the last class named.

Class k has rate :math:`\lambda_k \sim \mathrm{Gamma}(\alpha, 1)`; the chance of a reading
:math:`b_1 > b_2 > \dots > b_L` of tied blocks is that of exponential arrivals in that order,

.. math:: P(b \mid \lambda) = \prod_i P(\text{block } b_i \text{ before all later classes})

and the plausibilities are the normalised rates. Exact Gibbs sampling with arrivals censored at
the last ranked class and common scales of rates drawn together
(`equipoise.kernels.plackett_luce`); classes that nobody mentions are collapsed into one rate,
so time and memory do not depend on how many there are. Blocks may tie any number of classes.

``reliability`` repeats every reading that many times (published 1, 2, 3, 5, 10; medium is 3);
weights and counts do the same for single readings. Together they must be whole for readings
with ties. Items without readings are left out. Prior presets: ``iid`` (shape
:math:`\alpha = 1/K` for each of K classes) and ``notebook`` (shape 1 for each mentioned class
and 1 for all others together, as the published figures; not the collapse of any iid prior).

The random numbers of a case follow from the seed and its name alone: other cases, their order,
the order of readings and the number of threads change nothing. A self-check is in the
diagnostics: the likelihood does not see the sum of the rates, so its posterior mean
(``rate_sum``) must be that of the prior (``rate_sum_prior``).

Plackett-Luce by maximum likelihood: the one set of rates that explains the readings best.

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
Caron and Doucet (2012), *Efficient Bayesian inference for generalized Bradley-Terry models*.
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.
Hunter (2004), *MM algorithms for generalized Bradley-Terry models*.

Examples
--------
>>> readings = Annotations(kind="ranking", items=("case",), classes=("x", "y", "z"),
...     item=np.zeros(3, int), label=np.array([0, 1, 0]), rank=np.array([0, 1, 0]),
...     reading=np.array([0, 0, 1]))
>>> int(plackett_luce(readings).mean.argmax())
0
>>> readings = Annotations.from_rankings([[[["x"], ["y"]], [["y"]]]], classes=["x", "y", "z"])
>>> plackett_luce_ml(readings).mean.round(2)
array([[0.44, 0.49, 0.07]])
"""

from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Any, TypedDict, Unpack

import numpy as np

from equipoise.scale.engine import current
from equipoise.truth.confusion import Fit
from equipoise.truth.model import (
    CLASSES,
    AggregationModel,
    Prior,
    Reliability,
    unused_confidence,
)
from equipoise.truth.rankings import Readings, collect_readings, stages
from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Ints,
    Names,
    Notice,
    Notices,
    Option,
    Plausibilities,
    Value,
    choice,
    effective_size,
    immutable,
    notice,
    ratio,
    refusing_wrong_types,
    require_drawn,
    require_keywords,
    require_whole,
)

_PRIORS = ("iid", "notebook")
_LIGHTEST = 0.05  # sum of the shapes of a case: below, all its rates may underflow
_LEAST = 1e-6  # shape of a prior: below, gamma variables vanish
_CHUNK = 64  # cases that a thread takes at a time
_UNMIXED = 1.1  # R-hat above which the user is told
_SLOWER = 2.0  # times the error of as many independent draws: below, draws are just few
_HALVES = 400  # draws below which halves of chains differ by chance
_ROUGH = 0.03  # Monte Carlo error of a plausibility above which the user is told
_LONGER: dict[str, Value] = {
    "more": Option("draws"),
    "burn_in": Option("burn_in"),
}
_ROUGH_TEXT = (
    "The chains mix slowly: the largest Monte Carlo error of a likeliest class is "
    "{error:number} (item {item}: {draws:count} draws are worth {size:count} independent "
    "ones). Raise {more}."
)
_UNMIXED_TEXT = (
    "The two halves of a chain differ (largest R-hat {r_hat:number}): raise {burn_in} and "
    "{more}."
)


@immutable
class Chain:
    """How long each case's chain runs, from which seed, and on how many threads.

    ``workers`` is the number of threads where the engine in use is local, and 0 as many as
    there are cores; it never changes a result.
    """

    draws: int = 1000
    burn_in: int = 500
    thin: int = 1
    seed: int = 0
    workers: int = 0


class ChainLength(TypedDict, total=False):
    """What may be said of a `Chain` without making one."""

    draws: int
    burn_in: int
    thin: int
    seed: int


@refusing_wrong_types
def plackett_luce(
    annotations: Annotations,
    *,
    reliability: float = 1.0,
    prior: str | float = "iid",
    chain: Chain | None = None,
    task: str = "",
    **length: Unpack[ChainLength],
) -> Plausibilities:
    """Draws of plausibilities from partial rankings with ties.

    Parameters
    ----------
    reliability
        How often each reading counts.
    prior
        ``iid``, ``notebook``, or the shape alpha of every class.
    chain
        Draws kept, burn-in, thinning, seed and threads.
    **length
        ``draws``, ``burn_in``, ``thin`` and ``seed`` in place of those of the chain.
    """
    require_keywords(length, tuple(ChainLength.__annotations__))
    how = replace(chain or Chain(), **length)
    _check(reliability, how)
    readings = collect_readings(annotations, task, model="plackett_luce")
    shapes = _prior(readings, prior)
    mass, rest, rate_sum = _run(readings, (*shapes, reliability), how)
    facts = {
        "reliability": reliability,
        "prior": prior,
        "seed": how.seed,
        "draws": how.draws,
        "burn_in": how.burn_in,
        "thin": how.thin,
    }
    diagnostics, notices = _health(readings, mass)
    diagnostics |= {
        "rate_sum": rate_sum,
        "rate_sum_prior": shapes[0] * np.diff(readings.start) + shapes[1],
    }
    return readings.plausibilities(
        mass,
        rest,
        model="plackett_luce",
        method=f"Plackett-Luce (reliability {reliability:g}, prior {prior})",
        parameters=facts,
        diagnostics=diagnostics,
        rest_shape=None if prior == "notebook" else _alpha(prior, len(readings.classes)),
        notices=(*unused_confidence(annotations, "Plackett-Luce"), *notices),
    )


def _check(reliability: float, how: Chain) -> None:
    for name in ("draws", "thin"):
        require_drawn(f"plackett_luce, {name}", getattr(how, name), least=1)
    for name in ("burn_in", "seed", "workers"):
        require_whole(f"plackett_luce, {name}", getattr(how, name))
    if not 0 < reliability < np.inf:
        raise InputError(
            "plackett_luce", f"reliability {reliability:g}", "a positive number", "1 is usual"
        )


def _alpha(prior: str | float, classes: int) -> float:
    """Shape of the prior of a mentioned class."""
    if isinstance(prior, str):
        choice("plackett_luce, prior", prior, _PRIORS)
        return 1.0 if prior == "notebook" else 1.0 / classes
    if not isinstance(prior, int | float) or not _LEAST <= float(prior) < np.inf:
        raise InputError(
            "plackett_luce, prior",
            f"{prior!r}",
            f"iid, notebook or a shape of at least {_LEAST:g}",
            "try 'iid'",
        )
    return float(prior)


def _prior(readings: Readings, prior: str | float) -> tuple[float, Floats]:
    """Prior shape of a mentioned class, and of all others of each case together."""
    alpha = _alpha(prior, len(readings.classes))
    others = len(readings.classes) - np.diff(readings.start)
    rest = np.where(others > 0, 1.0, 0.0) if prior == "notebook" else others * alpha
    return alpha, np.asarray(rest, dtype=np.float64)


def _run(
    readings: Readings, model: tuple[float, Floats, float], how: Chain
) -> tuple[Floats, Floats, Floats]:
    """Run all chains, a chunk of cases at a time, on the engine in use.

    Returns masses (draws, entries), rest (draws, cases), and mean sums of rates (cases,).
    """
    alpha, rest, reliability = model
    taken = stages(readings, reliability)
    number = len(readings.items)
    shape = np.insert(alpha + reliability * readings.mentions, readings.start[1:], rest)
    start = readings.start + np.arange(number + 1)
    _require_weight(np.add.reduceat(shape, start[:-1]), readings.items)
    cases = (start, shape, _streams(readings, how.seed), taken.case_wait, taken.case_tie)
    starts = range(0, number, _CHUNK)
    work = partial(_run_chunk, cases, taken.waits, taken.ties, how)
    parts = current(how.workers).map(work, starts)
    mass, other = np.empty((how.draws, len(readings.label))), np.empty((how.draws, number))
    rate_sum = np.empty(number)
    for first in reversed(starts):
        part, sums = parts.pop()  # and let go of it: all draws are held once
        stop = first + len(sums)
        rate_sum[first:stop] = sums
        last = start[first + 1 : stop + 1] - start[first] - 1
        other[:, first:stop] = part[:, last]
        mass[:, readings.start[first] : readings.start[stop]] = np.delete(part, last, axis=1)
    mass.flags.writeable = other.flags.writeable = False
    return mass, other, rate_sum


def _run_chunk(
    cases: tuple[Ints, Floats, Ints, Any, Any], waits: Any, ties: Any, how: Chain, first: int
) -> tuple[Floats, Floats]:
    """Masses and rest (draws, entries) of some cases, and mean sums of their rates."""
    from equipoise.kernels.plackett_luce import chains

    start = cases[0]
    stop = min(first + _CHUNK, len(start) - 1)
    part = np.empty((how.draws, start[stop] - start[first]))
    sums = np.empty(len(start) - 1)
    chains((first, stop, how.burn_in, how.thin), cases, waits, ties, (part, sums))
    return part, sums[first:stop].copy()


def _require_weight(total: Floats, items: Names) -> None:
    """Refuse readings and a prior that weigh so little that all rates would vanish."""
    light = np.flatnonzero(total < _LIGHTEST)
    if len(light):
        raise InputError(
            f"plackett_luce, item {items[light[0]]!r}",
            f"prior and readings that weigh {total[light[0]]:.2g} together",
            f"at least {_LIGHTEST:g}",
            "raise the reliability, the weights or the prior",
        )


def _streams(readings: Readings, seed: int) -> Ints:
    """Where the random numbers of each case start: a hash of seed, task and name."""
    key = np.random.SeedSequence(seed).generate_state(2, np.uint64).tobytes()
    key += blake2b(readings.task.encode(errors="surrogatepass"), digest_size=16).digest()
    digest = b"".join(
        blake2b(name.encode(errors="surrogatepass"), digest_size=8, key=key).digest()
        for name in readings.items
    )
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)


def _leading(readings: Readings, mass: Floats) -> Ints:
    """The entry with the largest mean of every case."""
    order = np.lexsort(
        (-mass.mean(axis=0), np.repeat(np.arange(len(readings.items)), np.diff(readings.start)))
    )
    return order[readings.start[:-1]]


def _health(readings: Readings, mass: Floats) -> tuple[dict[str, Any], Notices]:
    """What the chains say about themselves, and what of it the user should know."""
    draws, leading = len(mass), mass[:, _leading(readings, mass)]
    size, r_hat = effective_size(leading), split_r_hat(leading)
    alone = leading.std(axis=0) / np.sqrt(draws)
    error = leading.std(axis=0) / np.sqrt(size)
    notices: Notices = ()
    slow = np.flatnonzero((error > _ROUGH) & (error > _SLOWER * alone))
    if len(slow):
        worst = slow[error[slow].argmax()]
        values = {"error": float(error[worst]), "item": readings.items[worst], "draws": draws}
        values |= {"size": max(round(float(size[worst])), 1), **_LONGER}
        notices = (Notice("chains_mix_slowly", _ROUGH_TEXT, (), values),)
    if draws >= _HALVES and np.nanmax(r_hat, initial=1.0) > _UNMIXED:
        values = {"r_hat": float(np.nanmax(r_hat)), **_LONGER}
        notices += (Notice("chains_not_mixed", _UNMIXED_TEXT, (), values),)
    return {"effective_size": size, "r_hat": r_hat, "draws": draws}, notices


def split_r_hat(draws: Floats) -> Floats:
    """Gelman and Rubin's R-hat of the two halves of each chain, per column; 1 is converged."""
    half = len(draws) // 2
    if half < 2:
        return np.full(draws.shape[1], np.nan)
    parts = np.stack([draws[:half], draws[half : 2 * half]])
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = half * parts.mean(axis=1).var(axis=0, ddof=1)
    total = (half - 1) / half * within + between / half
    return np.sqrt(ratio(total, within, 1.0))


@refusing_wrong_types
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


MODELS = (
    AggregationModel(
        name="plackett_luce",
        title="Plackett-Luce",
        description="rankings as races, with draws of what is plausible",
        fit=plackett_luce,
        kinds=CLASSES,
        suits=("ranking",),
        rank=10,
        because="the annotations are rankings",
        gold=False,
        weights=False,
        companions=("inverse_rank",),
        reliability=Reliability(1.0, (1.0, 2.0, 3.0, 5.0, 10.0)),
        prior=Prior(
            expected="iid, notebook, or a positive number",
            help="`iid` (default), `notebook` or a number",
            words=_PRIORS,
        ),
        limit="plackett_luce_ml",
        chains=True,
        references=("caron2012", "stutz2025"),
    ),
    AggregationModel(
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
    ),
)

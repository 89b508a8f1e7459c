r"""Plackett-Luce: a differential diagnosis is a race that stops at the last class named.

Class k has rate :math:`\lambda_k \sim \mathrm{Gamma}(\alpha, 1)`; the chance of a reading
:math:`b_1 > b_2 > \dots > b_L` of tied blocks is that of exponential arrivals in that order,

.. math:: P(b \mid \lambda) = \prod_i P(\text{block } b_i \text{ before all later classes})

and the plausibilities are the normalised rates. Exact Gibbs sampling with arrivals censored at
the last ranked class; classes that nobody mentions are collapsed into one rate, so time and
memory do not depend on how many there are. Blocks may tie any number of classes.

``reliability`` repeats every reading that many times (published 1, 2, 3, 5, 10; medium is 3);
weights and counts do the same for single readings. Together they must be whole for readings
with ties. Items without readings are left out. Prior presets: ``iid`` (shape
:math:`\alpha = 1/K` for each of K classes) and ``notebook`` (shape 1 for each mentioned class
and 1 for all others together, as the published figures; not the collapse of any iid prior).

The random numbers of a case follow from the seed and its name alone: other cases, their order,
the order of readings and the number of threads change nothing. A self-check is in the
diagnostics: the likelihood does not see the sum of the rates, so its posterior mean
(``rate_sum``) must be that of the prior (``rate_sum_prior``).

References
----------
Caron and Doucet (2012), *Efficient Bayesian inference for generalized Bradley-Terry models*.
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> readings = Annotations(kind="ranking", items=("case",), classes=("x", "y", "z"),
...     item=np.zeros(3, int), label=np.array([0, 1, 0]), rank=np.array([0, 1, 0]),
...     reading=np.array([0, 0, 1]))
>>> int(plackett_luce(readings).mean.argmax())
0
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from equipoise.aggregate._chains import effective_size, split_r_hat
from equipoise.aggregate._people import unused_confidence
from equipoise.aggregate._races import Races, races, stages
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints, choice, require_whole
from equipoise.plausibilities import Plausibilities

PRIORS = ("iid", "notebook")
LIGHTEST = 0.05  # sum of the shapes of a case: below, all its rates may underflow
LEAST = 1e-6  # shape of a prior: below, gamma variables vanish
CHUNK = 64  # cases that a thread takes at a time
FEWEST = 50  # independent draws below which the user is told, unless fewer were asked for
UNMIXED = 1.1  # R-hat above which the user is told
SLOW = 0.05  # share of independent draws below which the user is told


@dataclass(frozen=True, slots=True)
class Chain:
    """How long each case's chain runs, from which seed, and on how many threads.

    ``workers`` 0 means as many threads as there are cores; it never changes a result.
    """

    draws: int = 1000
    burn_in: int = 500
    thin: int = 1
    seed: int = 0
    workers: int = 0


def plackett_luce(
    annotations: Annotations,
    *,
    reliability: float = 1.0,
    prior: str | float = "iid",
    chain: Chain | None = None,
    task: str = "",
) -> Plausibilities:
    """Draws of plausibilities from partial rankings with ties.

    Parameters
    ----------
    reliability
        How often each reading counts.
    prior
        ``iid``, ``notebook``, or the shape alpha of every class.
    chain
        Draws kept, burn-in, thinning and seed.
    """
    how = chain or Chain()
    _check(reliability, how)
    found = races(annotations, task)
    if not found.items:
        raise InputError(
            f"plackett_luce, task {task!r}", "no readings", "at least one", "check it"
        )
    shapes = _prior(found, prior)
    drawn = _run(found, (*shapes, reliability), how)
    facts = {
        "reliability": reliability, "prior": prior, "seed": how.seed, "draws": how.draws,
        "burn_in": how.burn_in, "thin": how.thin,
    }  # fmt: skip
    diagnostics, said = _health(found, drawn, shapes)
    said = (*unused_confidence(annotations, "Plackett-Luce"), *said)
    return Plausibilities(
        items=found.items,
        classes=found.classes,
        start=found.start,
        label=found.label,
        mass=drawn.mass,
        rest=drawn.rest,
        method=f"Plackett-Luce (reliability {reliability:g}, prior {prior})",
        task=found.task,
        parameters=facts,
        diagnostics=diagnostics,
        rest_shape=None if prior == "notebook" else _alpha(prior, len(found.classes)),
        ordered=found.ordered,
        notices=said,
    )


def _check(reliability: float, how: Chain) -> None:
    for name in ("draws", "thin"):
        require_whole(f"plackett_luce, {name}", getattr(how, name), least=1)
    for name in ("burn_in", "seed", "workers"):
        require_whole(f"plackett_luce, {name}", getattr(how, name))
    if not 0 < reliability < np.inf:
        raise InputError(
            "plackett_luce", f"reliability {reliability:g}", "a positive number", "1 is usual"
        )  # fmt: skip


def _alpha(prior: str | float, classes: int) -> float:
    """Shape of the prior of a mentioned class."""
    if isinstance(prior, str):
        choice("plackett_luce, prior", prior, PRIORS)
        return 1.0 if prior == "notebook" else 1.0 / classes
    if not isinstance(prior, int | float) or not LEAST <= float(prior) < np.inf:
        raise InputError(
            "plackett_luce, prior", f"{prior!r}",
            f"iid, notebook or a shape of at least {LEAST:g}", "try 'iid'",
        )  # fmt: skip
    return float(prior)


def _prior(found: Races, prior: str | float) -> tuple[float, Floats]:
    """Prior shape of a mentioned class, and of all others of each case together."""
    alpha = _alpha(prior, len(found.classes))
    others = len(found.classes) - np.diff(found.start)
    rest = np.where(others > 0, 1.0, 0.0) if prior == "notebook" else others * alpha
    return alpha, np.asarray(rest, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Masses (draws, entries), rest (draws, cases), and mean sum of rates (cases,)."""

    mass: Floats
    rest: Floats
    rate_sum: Floats


def _run(found: Races, model: tuple[float, Floats, float], how: Chain) -> _Drawn:
    """Run all chains, a chunk of cases at a time, on threads."""
    from equipoise.kernels.plackett_luce import chains

    alpha, rest, reliability = model
    taken = stages(found, reliability)
    number = len(found.items)
    shape = np.insert(alpha + reliability * found.mentions, found.start[1:], rest)
    start = found.start + np.arange(number + 1)
    _require_weight(np.add.reduceat(shape, start[:-1]), found.items)
    cases = (start, shape, _streams(found, how.seed), taken.case_wait, taken.case_tie)
    made = _Drawn(
        np.empty((how.draws, len(found.label))), np.empty((how.draws, number)), np.empty(number)
    )

    def run(first: int) -> None:
        stop = min(first + CHUNK, number)
        part = np.empty((how.draws, start[stop] - start[first]))
        steps = (first, stop, how.burn_in, how.thin)
        chains(steps, cases, taken.waits, taken.ties, (part, made.rate_sum))
        last = start[first + 1 : stop + 1] - start[first] - 1
        made.rest[:, first:stop] = part[:, last]
        made.mass[:, found.start[first] : found.start[stop]] = np.delete(part, last, axis=1)

    with ThreadPoolExecutor(how.workers or os.cpu_count() or 1) as pool:
        list(pool.map(run, range(0, number, CHUNK)))
    made.mass.flags.writeable = made.rest.flags.writeable = False
    return made


def _require_weight(total: Floats, items: tuple[str, ...]) -> None:
    """Refuse readings and a prior that weigh so little that all rates would vanish."""
    light = np.flatnonzero(total < LIGHTEST)
    if len(light):
        raise InputError(
            f"plackett_luce, item {items[light[0]]!r}",
            f"prior and readings that weigh {total[light[0]]:.2g} together",
            f"at least {LIGHTEST:g}", "raise the reliability, the weights or the prior",
        )  # fmt: skip


def _streams(found: Races, seed: int) -> Ints:
    """Where the random numbers of each case start: a hash of seed, task and name."""
    key = np.random.SeedSequence(seed).generate_state(2, np.uint64).tobytes()
    key += blake2b(found.task.encode(errors="surrogatepass"), digest_size=16).digest()
    digest = b"".join(
        blake2b(name.encode(errors="surrogatepass"), digest_size=8, key=key).digest()
        for name in found.items
    )
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)


def _leading(found: Races, mass: Floats) -> Ints:
    """The entry with the largest mean of every case."""
    order = np.lexsort(
        (-mass.mean(axis=0), np.repeat(np.arange(len(found.items)), np.diff(found.start)))
    )
    return np.asarray(order[found.start[:-1]])


def _health(
    found: Races, drawn: _Drawn, prior: tuple[float, Floats]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What the chains say about themselves, and what of it the user should know."""
    draws = len(drawn.mass)
    leading = drawn.mass[:, _leading(found, drawn.mass)]
    size = effective_size(leading)
    said: tuple[str, ...] = ()
    r_hat = split_r_hat(leading)
    if size.min() < max(SLOW * draws, min(draws, FEWEST)) and draws > 1:
        said = (
            f"The chains mix slowly: the smallest effective sample size is "
            f"{size.min():.0f} of {draws} draws. Keep more, or thin them.",
        )
    if draws >= 4 and np.nanmax(r_hat, initial=1.0) > UNMIXED:
        said += (
            f"The two halves of a chain differ (largest R-hat {np.nanmax(r_hat):.2f}): "
            "lengthen burn-in and chain.",
        )
    return {
        "effective_size": size,
        "r_hat": r_hat,
        "draws": draws,
        "rate_sum": drawn.rate_sum,
        "rate_sum_prior": prior[0] * np.diff(found.start) + prior[1],
    }, said

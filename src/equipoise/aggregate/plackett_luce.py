r"""Plackett-Luce: a differential diagnosis is a race that stops at the last class named.

Class k has rate :math:`\lambda_k \sim \mathrm{Gamma}(\alpha, 1)`; the chance of a reading
:math:`b_1 > b_2 > \dots > b_L` of tied blocks is that of exponential arrivals in that order,

.. math:: P(b \mid \lambda) = \prod_i P(\text{block } b_i \text{ before all later classes})

and the plausibilities are the normalised rates. Exact Gibbs sampling with arrivals censored at
the last ranked class; classes that nobody mentions are collapsed into one rate, so time and
memory do not depend on how many there are. Blocks may tie any number of classes.

``reliability`` repeats every reading that many times (published 1, 2, 3, 5, 10; medium is 3);
between whole numbers only when no reading has ties. Prior presets: ``iid`` (shape
:math:`\alpha = 1/K` for each of K classes) and ``notebook`` (shape 1 for each mentioned class
and 1 for all others together, as the published figures; not the collapse of any iid prior).

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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.aggregate._chains import effective_size, split_r_hat
from equipoise.aggregate._races import Races, races
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, choice
from equipoise.plausibilities import Plausibilities

PRIORS = ("iid", "notebook")


@dataclass(frozen=True, slots=True)
class Chain:
    """How long each case's chain runs, and from which seed."""

    draws: int = 1000
    burn_in: int = 500
    thin: int = 1
    seed: int = 0


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
    whole = float(reliability).is_integer()
    if not whole and found.tied.any():
        raise InputError(
            "plackett_luce", f"reliability {reliability:g} with tied readings",
            "a whole number", "round it: tied readings can only be repeated whole",
        )  # fmt: skip
    shape, rest = _shapes(found, reliability, prior)
    mass, spare = _run(found, (shape, rest, reliability), how)
    facts = {"reliability": reliability, "prior": prior, "seed": how.seed}
    return _made(found, mass, spare, facts)


def _check(reliability: float, how: Chain) -> None:
    if not reliability > 0 or min(how.draws, how.thin) < 1 or how.burn_in < 0:
        raise InputError(
            "plackett_luce", f"reliability {reliability:g}, {how}",
            "a positive reliability, at least one draw", "leave them at their defaults",
        )  # fmt: skip


def _shapes(
    found: Races, reliability: float, prior: str | float
) -> tuple[np.ndarray, np.ndarray]:
    """Posterior shape of each mentioned class, and of all others of a case together."""
    classes, mentioned = len(found.classes), np.diff(found.start)
    if isinstance(prior, str):
        choice("plackett_luce, prior", prior, PRIORS)
        alpha = 1.0 if prior == "notebook" else 1.0 / classes
    else:
        alpha = float(prior)
    if not alpha > 0:
        raise InputError("plackett_luce", f"prior {alpha:g}", "a positive shape", "try 'iid'")
    rest = (classes - mentioned) * alpha
    if prior == "notebook":
        rest = np.where(classes > mentioned, 1.0, 0.0)
    return alpha + reliability * found.mentions, rest.astype(np.float64)


def _run(
    found: Races, prior: tuple[np.ndarray, np.ndarray, float], how: Chain
) -> tuple[np.ndarray, np.ndarray]:
    from equipoise.kernels.plackett_luce import chains

    shape, rest, reliability = prior
    mass = np.empty((how.draws, len(found.label)))
    spare = np.empty((how.draws, len(found.items)))
    readings = (
        found.blocks,
        found.elements,
        found.element,
        found.copies * reliability,
        found.tied,
    )
    cases = (found.readings, found.start, shape, rest)
    key = np.uint64(np.random.SeedSequence(how.seed).generate_state(1, np.uint64)[0])
    chains(cases, readings, (how.burn_in, how.thin), key, (mass, spare))
    return mass, spare


def _leading(found: Races, mass: np.ndarray) -> np.ndarray:
    """The entry with the largest mean of every case."""
    order = np.lexsort(
        (-mass.mean(axis=0), np.repeat(np.arange(len(found.items)), np.diff(found.start)))
    )
    return np.asarray(order[found.start[:-1]])


def _made(
    found: Races, mass: np.ndarray, spare: np.ndarray, parameters: Mapping[str, Any]
) -> Plausibilities:
    leading = mass[:, _leading(found, mass)]
    size, r_hat = effective_size(leading), split_r_hat(leading)
    said = []
    if len(mass) >= 100 and size.min() < 0.05 * len(mass):
        said.append(
            f"The chains mix slowly: the smallest effective sample size is {size.min():.0f} of "
            f"{len(mass)} draws. Keep more, or thin them."
        )
    classes = len(found.classes)
    shape = None
    if parameters["prior"] == "iid":
        shape = 1.0 / classes
    elif not isinstance(parameters["prior"], str):
        shape = float(str(parameters["prior"]))
    return Plausibilities(
        items=found.items,
        classes=found.classes,
        start=found.start,
        label=found.label,
        mass=mass,
        rest=spare,
        method=f"Plackett-Luce (reliability {parameters['reliability']:g}, "
        f"prior {parameters['prior']})",
        task=found.task,
        parameters=parameters,
        diagnostics={"effective_size": size, "r_hat": r_hat, "draws": len(mass)},
        rest_shape=shape,
        notices=tuple(said),
    )

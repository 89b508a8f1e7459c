r"""GLAD: annotators of some ability, items of some sign and ease; yes/no votes.

.. math:: P(y_{ai} = 1) = \mathrm{sigmoid}(c_a b_i), \quad
    c_a \sim N(\mu_c, \sigma_c^2), \quad b_i \sim N(0, \sigma_b^2), \quad p_i = P(b_i > 0)

``inference="cavi"`` is mean-field coordinate ascent with Polya-Gamma variables, every step in
closed form, with :math:`w = \tanh(\xi/2) / 2\xi` and :math:`\xi^2 = E[c^2] E[b^2]`

.. math:: \lambda_i = \sigma_b^{-2} + \sum_a w E[c_a^2], \quad
    \mu_i = \lambda_i^{-1} \sum_a (y_{ai} - \tfrac12) E[c_a], \quad
    p_i = \Phi(\mu_i \sqrt{\lambda_i})

and the same for abilities, each sweep followed by the best scale of items against annotators
(which the votes cannot tell); the bound in ``diagnostics["trace"]`` never falls. Its posteriors
of abilities are far too narrow, so `Skills` has no interval, and with three to five annotators
the chances of items are off by up to 0.22: a notice says so.
``inference="gibbs"`` draws from the exact posterior and has intervals (95 %); it suits up to
about 50,000 votes. With three to five annotators it needs well over 1,000 draws (off by up to
0.07).
``inference="svi"`` is for reproduction: stochastic gradients of the same bound without
Polya-Gamma variables (CleanPatrick with ``prior="paper"``: Adam at 0.1, 10,000 steps,
:math:`p_i` the share of 1,000 draws of :math:`b_i` above zero); it refuses gold. The result is
the chance of each class, not a distribution over plausibilities (see `annotator_bootstrap`).
Confidences are not used.

The votes alone cannot tell (c, b) from (-c, -b), so under the prior ``"paper"`` the sign is not
identified: started at zero, as published, SVI ends upside down for many seeds. Here abilities
start positive, and every connected part of the graph of annotators and items is turned so that
its vote-weighted mean ability is positive; under ``gibbs`` a prior with positive mean does it
alone. Gold items settle it for their part: their b is cut off at zero, which is exact in both
fits, and their chance is 1. The chain starts from the abilities that coordinate ascent finds.
Weights multiply a vote's term and repeated votes count. The prior ``"paper"`` (sigma_b = 1000,
mu_c = 0, sigma_c = 1) is for reproduction: it is not vague, one vote can give 0.999.

`difficulty` is the chance that an annotator of the vote-weighted mean absolute ability errs,
:math:`\mathrm{sigmoid}(-\overline{|c|}\,|E b_i|)`: 0.5 for an item on which the votes cancel,
near 0 for an easy one. There is no annotator bias in this model: where annotators lean to one
answer, `dawid_skene` does better.

References
----------
Whitehill, Ruvolo, Wu, Bergsma and Movellan (2009), *Whose vote should count more*. Groeger et
al. (2025), *CleanPatrick: a benchmark for image data cleaning*. Polson, Scott and Windle
(2013), *Bayesian inference for logistic models using Polya-Gamma variables*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b"), classes=("no", "yes"),
...     annotators=("x", "y", "z"), item=np.array([0, 0, 0, 1, 1, 1]),
...     annotator=np.array([0, 1, 2, 0, 1, 2]), label=np.array([1, 1, 0, 0, 0, 0]))
>>> made = glad(votes)
>>> made.mean.round(2)
array([[0.23, 0.77],
       [0.94, 0.06]])
>>> made.skills.value.round(1)
array([1., 1., 0.6])
"""

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from equipoise.truth._annotator_votes import (
    AnnotatorVotes,
    annotator_votes,
    decided_otherwise,
    from_class_posterior,
)
from equipoise.truth._model import AggregationModel, unused_confidence
from equipoise.truth._unanimity import ability_unanimity, unanimity_notice
from equipoise.truth.glad.fits import fit_cavi, fit_gibbs
from equipoise.truth.glad.svi import fit_svi
from equipoise.truth.glad.votes import (
    GladFit,
    GladPosterior,
    GladPrior,
    GladSvi,
    VoteGraph,
    graph_of,
)
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, choice
from equipoise.types.notices import Notice, notice
from equipoise.types.plausibilities import Plausibilities, Skills
from equipoise.types.words import ONE_CLASS, hint

__all__ = ["GladFit", "GladPrior", "GladSvi", "glad"]

_INFERENCES = {"cavi": "CAVI", "gibbs": "Gibbs", "svi": "SVI"}
_PRIORS = {"default": GladPrior(), "paper": GladPrior(sigma_b=1000.0, mu_c=0.0, sigma_c=1.0)}
SMALL = 5  # votes on an item, up to which coordinate ascent is far off
ENOUGH = 1000  # draws, up to which a chain is
_OF_CHAINS = ("draws", "burn_in", "seed")
_LEAST = {
    "tolerance": 0,
    "most": 1,
    "inner": 1,
    "draws": 4,
    "burn_in": 0,
    "seed": 0,
    "steps": 1,
    "learning_rate": 1e-9,
}


def glad(
    annotations: Annotations,
    *,
    inference: str = "cavi",
    prior: str | GladPrior | None = None,
    fit: GladFit | GladSvi | None = None,
    task: str = "",
) -> Plausibilities:
    """Chance of yes for every item, ability of every annotator.

    Parameters
    ----------
    inference
        ``"cavi"`` (fast, abilities without intervals), ``"gibbs"`` (exact, slower), or
        ``"svi"`` (for reproduction; needs ``pip install "equipoise[torch]"``).
    prior
        ``"default"``, ``"paper"``, or a `GladPrior`.
    fit
        When to stop, and the draws of the chain; a `GladSvi` for ``"svi"``.
    """
    choice("glad, inference", inference, tuple(_INFERENCES))
    known, how = checked_prior(prior), checked_fit(fit, inference)
    if annotations.kind != "binary":
        raise InputError(
            "glad",
            f"annotations of kind {annotations.kind}",
            "yes/no votes (kind binary)",
            hint("ask about one class with {}, or choose dawid_skene", ONE_CLASS),
        )
    who = annotator_votes(annotations, task, model="glad")
    votes = graph_of(who)
    if isinstance(how, GladSvi):
        posterior = fit_svi(votes, known, how)
    else:
        posterior = (fit_cavi if inference == "cavi" else fit_gibbs)(votes, known, how)
    parameters = {"inference": inference, "prior": asdict(known), "fit": asdict(how)}
    made = _plausibilities(who, votes, posterior, parameters)
    return replace(made, notices=(*unused_confidence(annotations, "GLAD"), *made.notices))


def checked_prior(prior: str | GladPrior | None) -> GladPrior:
    """The prior meant, if it makes sense."""
    if prior is None or isinstance(prior, str):
        return _PRIORS[choice("glad, prior", prior or "default", tuple(_PRIORS))]
    if not isinstance(prior, GladPrior):
        raise InputError(
            "glad, prior", f"{prior!r}", "'default', 'paper' or a GladPrior", "leave it out"
        )
    finite = all(math.isfinite(value) for value in asdict(prior).values())
    if not finite or not all(1e-6 <= s <= 1e6 for s in (prior.sigma_b, prior.sigma_c)):
        raise InputError(
            "glad, prior", f"{prior}", "deviations between 1e-6 and 1e6", "try prior='default'"
        )
    if prior.mu_c < 0:
        raise InputError(
            "glad, prior",
            f"mu_c = {prior.mu_c:g}",
            "a mean ability of at least 0",
            "exchange the classes if every vote means its opposite",
        )
    return prior


def checked_fit(fit: GladFit | GladSvi | None, inference: str) -> GladFit | GladSvi:
    """The steps and the stop rule meant, if they make sense and are all used."""
    kind = GladSvi if inference == "svi" else GladFit
    how = kind() if fit is None else fit
    if not isinstance(how, kind):
        raise InputError(
            "glad, fit",
            f"{how!r}",
            f"a {kind.__name__} with inference {inference!r}",
            "leave it out",
        )
    for name, value in asdict(how).items():
        _check(name, value)
        if inference == "cavi" and name in _OF_CHAINS and value != getattr(GladFit(), name):
            raise InputError(
                f"glad, fit, {name}",
                f"{value} with inference 'cavi', which draws nothing",
                "its default",
                "choose inference='gibbs' or leave it out",
            )
    return how


def _check(name: str, value: Any) -> None:
    """Raise unless a field of a fit makes sense."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if name == "rescale":
        right, kind = isinstance(value, bool), "True or False"
    elif name in ("tolerance", "learning_rate"):
        right = (whole or isinstance(value, (float, np.floating))) and value >= _LEAST[name]
        right, kind = right and value < math.inf, f"a number of at least {_LEAST[name]}"
    else:
        right, kind = whole and _LEAST[name] <= value < 2**63, "a whole number of at least "
        kind += f"{_LEAST[name]}"
    if not right:
        raise InputError(f"glad, fit, {name}", f"{value}", kind, "leave it at its default")


def _plausibilities(
    who: AnnotatorVotes, votes: VoteGraph, posterior: GladPosterior, parameters: dict[str, Any]
) -> Plausibilities:
    positive = np.where(who.settled, who.shares[:, 1], posterior.chance)
    both = np.stack([1 - positive, positive], axis=1)
    parts = len(votes.anchored)
    checked = ability_unanimity(who, posterior.ability, posterior.item, posterior.chance)
    more = (
        *small_panel(
            _votes_of_items(votes), parameters["inference"], parameters["fit"].get("draws", 0)
        ),
        *decided_otherwise(who, both, "GLAD"),
        *unanimity_notice("GLAD", checked),
    )
    return from_class_posterior(
        who,
        both,
        model="glad",
        method=f"GLAD ({_INFERENCES[parameters['inference']]})",
        parameters=parameters,
        diagnostics={**posterior.diagnostics, "components": parts},
        skills=Skills(
            who.annotators, "ability", posterior.ability, posterior.low, posterior.high
        ),
        difficulty=_difficulty(votes, posterior),
        unanimity=checked,
        notices=(*separate_groups(parts, int(votes.anchored.sum())), *posterior.notices, *more),
    )


def _votes_of_items(votes: VoteGraph) -> float:
    """Median weight of the votes of an item; infinite without any."""
    load = np.diff(np.concatenate(([0.0], np.cumsum(votes.by_item[2])))[votes.by_item[0]])
    load = load[load > 0]
    return float(np.median(load)) if len(load) else math.inf


def small_panel(votes: float, inference: str, draws: int) -> tuple[Notice, ...]:
    """What to say where items have so few votes (their median) that the fits are off."""
    if votes > SMALL:
        return ()
    if inference == "cavi":
        text = (
            "Probabilities of GLAD by coordinate ascent are off by up to 0.22 with three to "
            "five annotators; {advice}."
        )
        advice = "inference='gibbs' with well over 1,000 draws is exact"
        return (notice("cavi_off", text, advice=advice),)
    few = inference == "gibbs" and draws <= ENOUGH
    text = (
        "{draws:count} draws leave probabilities of GLAD off by up to 0.07 with three to five "
        "annotators: ask for well over 1,000 (fit=GladFit(draws=10000))."
    )
    return (notice("few_draws", text, draws=draws),) if few else ()


def _difficulty(votes: VoteGraph, posterior: GladPosterior) -> Floats:
    """Chance that an annotator of mean absolute ability errs on each item."""
    load = votes.load
    mean = float((load * np.abs(posterior.ability)).sum() / max(load.sum(), 1e-300))
    return np.asarray(np.exp(-np.logaddexp(0.0, mean * np.abs(posterior.item))))


def separate_groups(parts: int, anchored: int) -> tuple[Notice, ...]:
    """What to say when votes fall into groups that nothing connects."""
    if parts < 2:
        return ()
    gold = ", {anchored:count} of them with gold" if anchored else ""
    text = (
        "The votes fall into {parts:count} groups that share no annotator and no item"
        f"{gold}: the sign of each without gold rests on its annotators being right on average."
    )
    values = {"parts": parts, **({"anchored": anchored} if anchored else {})}
    return (Notice("separate_groups", text, (), values),)


MODEL = AggregationModel(
    name="glad",
    title="GLAD",
    description="an ability of every annotator, and how easy every yes/no item is",
    fit=glad,
    kinds=("binary",),
    suits=("binary",),
    rank=22,
    annotators=True,
    least_annotators=6,
    references=("whitehill2009", "groger2025"),
)

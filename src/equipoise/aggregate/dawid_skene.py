r"""Dawid-Skene: every annotator has a confusion matrix, every item one true class.

.. math:: P(\text{votes of } i \mid \text{class } k) = \prod_{v \in i} \theta_{a(v),\,k,\,l(v)}

EM in log space on sparse counts. Confusion rows have a Dirichlet prior (`smoothing`: 0.5 for
every answer and 1 more for the right one), so the bound that EM climbs is the log-likelihood
plus the log prior; it counts the class prior once per item and never falls. ``one_coin`` gives
each annotator one accuracy, errors spread evenly. Repeated votes are real data and count;
weights and counts multiply a vote; gold items are settled; items without votes are left out.
The result is the posterior of each item's
class: it is a chance, not a distribution over plausibilities (see `annotator_bootstrap` for
that).

References
----------
Dawid and Skene (1979), *Maximum likelihood estimation of observer error-rates using the EM
algorithm*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b"), classes=("no", "yes"),
...     annotators=("x", "y", "z"), item=np.array([0, 0, 0, 1, 1, 1]),
...     annotator=np.array([0, 1, 2, 0, 1, 2]), label=np.array([1, 1, 0, 0, 0, 0]))
>>> dawid_skene(votes).mean.round(2)
array([[0.1 , 0.9 ],
       [0.98, 0.02]])
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.aggregate._annotator_votes import (
    AnnotatorVotes,
    annotator_votes,
    class_posteriors,
    from_class_posterior,
)
from equipoise.aggregate._entries import unused_confidence
from equipoise.aggregate._model import LABELS, AggregationModel
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, choice, require_whole
from equipoise.notices import Notice
from equipoise.plausibilities import Plausibilities, Skills

_FLOOR = 1e-10  # smallest probability in a logarithm, for fits without smoothing
_VARIANTS = ("full", "one_coin")


@dataclass(frozen=True, slots=True)
class Smoothing:
    """Pseudo-counts of a confusion row: for every answer, and more for the right one."""

    every: float = 0.5
    right: float = 1.0


@dataclass(frozen=True, slots=True)
class Fit:
    """When EM stops."""

    tolerance: float = 1e-9
    most: int = 2000


def dawid_skene(
    annotations: Annotations,
    *,
    variant: str = "full",
    smoothing: Smoothing | None = None,
    fit: Fit | None = None,
    task: str = "",
) -> Plausibilities:
    """Posterior class of every item, and what it says about the annotators."""
    choice("dawid_skene, variant", variant, _VARIANTS)
    prior, stop = smoothing or Smoothing(), fit or Fit()
    require_whole("dawid_skene, most", stop.most, least=1)
    fine = 0 <= prior.every < np.inf and 0 <= prior.right < np.inf
    if not (fine and stop.tolerance >= 0):
        raise InputError(
            "dawid_skene",
            f"{prior}, {stop}",
            "pseudo-counts of at least 0, a tolerance of at least 0, at least one step",
            "leave them at their defaults",
        )
    who = annotator_votes(annotations, task, model="dawid_skene")
    posterior, state = _fit_em(who, variant, prior, stop)
    facts = {"variant": variant, "smoothing": prior}
    return _plausibilities(
        who, posterior, state, facts, unused_confidence(annotations, "Dawid-Skene")
    )


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Parameters after a step: confusion (annotators, true, answer), class prior, trace."""

    confusion: Floats
    classes: Floats
    trace: tuple[float, ...]
    converged: bool


def _fit_em(
    who: AnnotatorVotes, variant: str, prior: Smoothing, stop: Fit
) -> tuple[Floats, _State]:
    """EM from the vote shares, M-step first, until the bound stands still."""
    posterior = who.shares.copy()
    trace: list[float] = []
    for _ in range(stop.most):
        confusion, penalty = _maximise(who, posterior, variant, prior)
        classes = posterior.mean(axis=0)
        log = np.log(np.maximum(confusion, _FLOOR))
        posterior, likelihood = class_posteriors(who, log, classes)
        trace.append(likelihood + penalty)
        still = len(trace) > 1 and abs(trace[-1] - trace[-2]) <= stop.tolerance * abs(trace[-1])
        if still:
            break
    return posterior, _State(confusion, classes, tuple(trace), still)


def _maximise(
    who: AnnotatorVotes, posterior: Floats, variant: str, prior: Smoothing
) -> tuple[Floats, float]:
    """Confusion matrices given class posteriors, and their log prior."""
    size = posterior.shape[1]
    counts = (who.answers.T @ posterior).reshape(-1, size, size).transpose(0, 2, 1)
    extra = prior.every + prior.right * np.eye(size)
    if variant == "one_coin" and size > 1:
        right = np.einsum("akk->a", counts) + prior.every + prior.right
        wrong = (counts * (1 - np.eye(size))).sum(axis=(1, 2)) + prior.every
        share = _divided(right, right + wrong, 1 / size)
        confusion = np.repeat(((1 - share) / (size - 1))[:, None], size * size, axis=1)
        confusion = confusion.reshape(-1, size, size)
        confusion[:, np.arange(size), np.arange(size)] = share[:, None]
        log = np.log(np.maximum([share, (1 - share) / (size - 1)], _FLOOR))
        return confusion, float(
            ((prior.every + prior.right) * log[0] + prior.every * log[1]).sum()
        )
    total = counts + extra
    confusion = _divided(total, total.sum(axis=2, keepdims=True), 1 / size)
    return confusion, float((extra * np.log(np.maximum(confusion, _FLOOR))).sum())


def _divided(part: Floats, whole: Floats, empty: float) -> Floats:
    """Divide, with a value for what was never seen."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), empty)


def _plausibilities(
    who: AnnotatorVotes,
    posterior: Floats,
    state: _State,
    parameters: dict[str, Any],
    notices: tuple[Notice, ...],
) -> Plausibilities:
    accuracy = np.einsum("k,akk->a", state.classes, state.confusion)
    if not state.converged:
        text = "Dawid-Skene did not converge: raise the iterations."
        notices = (*notices, Notice("not_converged", text))
    return from_class_posterior(
        who,
        posterior,
        model="dawid_skene",
        method=f"Dawid-Skene ({parameters['variant'].replace('_', '-')})",
        parameters=parameters,
        diagnostics={
            "converged": state.converged,
            "iterations": len(state.trace),
            "trace": state.trace,
            "class_prior": state.classes,
        },
        skills=Skills(who.annotators, "accuracy", accuracy, confusion=state.confusion),
        notices=notices,
    )


MODEL = AggregationModel(
    name="dawid_skene",
    title="Dawid-Skene",
    description="a confusion matrix of every annotator, and the class of every item",
    fit=dawid_skene,
    kinds=LABELS,
    suits=LABELS,
    rank=20,
    because="annotators are known and differ in how they err",
    annotators=True,
    companions=("glad", "dawid_skene_ordinal", "mean_vote"),
    references=("dawid1979",),
)

r"""Ordinal Dawid-Skene: annotators read a grade with a lean and a blur of their own.

With grades 0, 1, ..., K - 1 at equal distances and cuts half-way between them, annotator a
answers at most l about an item of true grade k with chance

.. math:: P(\text{answer} \le l \mid k, a) = \Phi\!\left(
    \frac{l + \tfrac12 - k - \beta_a}{\sigma_a}\right)

The bias :math:`\beta_a` is in grades, above 0 for those who grade high; the scale
:math:`\sigma_a` is how far answers scatter. Two numbers per annotator instead of K (K - 1):
near grades are confused more often than far ones, a higher true grade never makes a lower
answer likelier, and rare grades borrow from common ones. Priors keep both finite: bias
N(0, 1) and log scale N(log 0.6, 1).

Generalised EM: exact class posteriors, then Fisher scoring steps in (bias, log scale) of every
annotator, halved until its expected log posterior does not fall. So the bound, log-likelihood
plus log prior, never falls. Weights and counts multiply a vote; gold items are settled; items
without votes are left out. The result is the posterior of each item's grade, as in
`dawid_skene`.

References
----------
Dawid and Skene (1979), *Maximum likelihood estimation of observer error-rates using the EM
algorithm*. McCullagh (1980), *Regression models for ordinal data*.

Examples
--------
>>> votes = Annotations(kind="ordinal", items=("a", "b", "c"), classes=("0", "1", "2"),
...     annotators=("x", "y", "z"), item=np.repeat([0, 1, 2], 3),
...     annotator=np.tile([0, 1, 2], 3), label=np.array([0, 0, 1, 1, 1, 2, 2, 2, 2]))
>>> made = dawid_skene_ordinal(votes)
>>> made.mean.argmax(axis=1)
array([0, 1, 2])
>>> int(made.diagnostics["bias"].argmax())  # z grades high
2
"""

from dataclasses import dataclass

import numpy as np

from equipoise.aggregate._people import (
    People,
    class_posteriors,
    labelled,
    people,
    unused_confidence,
)
from equipoise.aggregate._probit import Probit, improved, log_confusion
from equipoise.aggregate.dawid_skene import Fit
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError
from equipoise.plausibilities import Plausibilities, Skills
from equipoise.wording import Option, hint


def dawid_skene_ordinal(
    annotations: Annotations, *, fit: Fit | None = None, task: str = ""
) -> Plausibilities:
    """Posterior grade of every item, and the bias and scale of every annotator."""
    stop = fit or Fit()
    if not (stop.tolerance >= 0 and stop.most >= 1):
        raise InputError(
            "dawid_skene_ordinal", f"{stop}", "a tolerance of at least 0, at least one step",
            "leave them at their defaults",
        )  # fmt: skip
    if annotations.kind != "ordinal" or len(annotations.classes) < 2:
        raise InputError(
            "dawid_skene_ordinal",
            f"annotations of kind {annotations.kind} with {len(annotations.classes)} classes",
            "at least two grades of kind ordinal",
            hint(
                "read the file with {} and the grades in order, or use dawid_skene",
                Option("kind", "ordinal"),
            ),
        )  # fmt: skip
    who = people(annotations, task, model="dawid_skene_ordinal")
    said = unused_confidence(annotations, "ordinal Dawid-Skene")
    return _made(who, _climb(who, stop), said)


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Where the climb ended: grade posteriors (items, grades), annotators, grade prior."""

    posterior: Floats
    probit: Probit
    classes: Floats
    trace: tuple[float, ...]
    converged: bool


def _climb(who: People, stop: Fit) -> _State:
    """Generalised EM from the vote shares, until the bound stands still."""
    size = len(who.classes)
    posterior, probit = who.shares.copy(), Probit.start(len(who.annotators))
    trace: list[float] = []
    still = False
    for _ in range(stop.most):
        counts = (who.answers.T @ posterior).reshape(-1, size, size).transpose(0, 2, 1)
        probit = improved(probit, counts)
        classes = posterior.mean(axis=0)
        posterior, likelihood = class_posteriors(who, log_confusion(probit, size), classes)
        trace.append(likelihood + float(probit.log_prior().sum()))
        still = len(trace) > 1 and abs(trace[-1] - trace[-2]) <= stop.tolerance * abs(trace[-1])
        if still:
            break
    return _State(posterior, probit, classes, tuple(trace), still)


def _made(who: People, state: _State, said: tuple[str, ...]) -> Plausibilities:
    confusion = np.exp(log_confusion(state.probit, len(state.classes)))
    accuracy = np.einsum("k,akk->a", state.classes, confusion)
    if not state.converged:
        said = (*said, "Ordinal Dawid-Skene did not converge: raise the iterations.")
    return labelled(
        who,
        state.posterior,
        method="Dawid-Skene (ordinal)",
        diagnostics={
            "converged": state.converged,
            "iterations": len(state.trace),
            "trace": state.trace,
            "class_prior": state.classes,
            "bias": state.probit.bias,
            "scale": np.exp(state.probit.log_scale),
        },
        skills=Skills(who.annotators, "accuracy", accuracy, confusion=confusion),
        notices=said,
    )

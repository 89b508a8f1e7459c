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

from equipoise.aggregate._annotator_votes import (
    AnnotatorVotes,
    annotator_votes,
    class_posteriors,
    from_class_posterior,
)
from equipoise.aggregate._entries import unused_confidence
from equipoise.aggregate._model import AggregationModel
from equipoise.aggregate.dawid_skene import Fit
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError
from equipoise.notices import Notice
from equipoise.plausibilities import Plausibilities, Skills
from equipoise.wording import Option, hint

_USUAL = np.log(0.6)  # a blur with which six in ten middle grades are read right
_STEPS, _HALVES = 3, 12


@dataclass(frozen=True, slots=True, eq=False)
class Probit:
    """Bias in grades and log scale of each annotator, shape (annotators,)."""

    bias: Floats
    log_scale: Floats

    @classmethod
    def start(cls, annotators: int) -> "Probit":
        """No bias and the usual scale."""
        return cls(np.zeros(annotators), np.full(annotators, _USUAL))

    def log_prior(self) -> Floats:
        """Standard normal in the bias and around the usual log scale, but for a constant."""
        return np.asarray(-0.5 * (self.bias**2 + (self.log_scale - _USUAL) ** 2))


def dawid_skene_ordinal(
    annotations: Annotations, *, fit: Fit | None = None, task: str = ""
) -> Plausibilities:
    """Posterior grade of every item, and the bias and scale of every annotator."""
    stop = fit or Fit()
    if not (stop.tolerance >= 0 and stop.most >= 1):
        raise InputError(
            "dawid_skene_ordinal",
            f"{stop}",
            "a tolerance of at least 0, at least one step",
            "leave them at their defaults",
        )
    if annotations.kind != "ordinal" or len(annotations.classes) < 2:
        raise InputError(
            "dawid_skene_ordinal",
            f"annotations of kind {annotations.kind} with {len(annotations.classes)} classes",
            "at least two grades of kind ordinal",
            hint(
                "read the file with {} and the grades in order, or use dawid_skene",
                Option("kind", "ordinal"),
            ),
        )
    who = annotator_votes(annotations, task, model="dawid_skene_ordinal")
    notices = unused_confidence(annotations, "ordinal Dawid-Skene")
    return _plausibilities(who, _fit_em(who, stop), notices)


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Where the climb ended: grade posteriors (items, grades), annotators, grade prior."""

    posterior: Floats
    probit: Probit
    classes: Floats
    trace: tuple[float, ...]
    converged: bool


def _fit_em(who: AnnotatorVotes, stop: Fit) -> _State:
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


def _plausibilities(
    who: AnnotatorVotes, state: _State, notices: tuple[Notice, ...]
) -> Plausibilities:
    confusion = np.exp(log_confusion(state.probit, len(state.classes)))
    accuracy = np.einsum("k,akk->a", state.classes, confusion)
    if not state.converged:
        text = "Ordinal Dawid-Skene did not converge: raise the iterations."
        notices = (*notices, Notice("not_converged", text))
    return from_class_posterior(
        who,
        state.posterior,
        model="dawid_skene_ordinal",
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
        notices=notices,
    )


def _cuts(probit: Probit, size: int) -> Floats:
    """All cuts in units of the scale, outer ones infinite: (annotators, true, size + 1)."""
    cut = np.concatenate([[-np.inf], np.arange(size - 1) + 0.5, [np.inf]])
    centre = probit.bias[:, None, None] + np.arange(size)[:, None]
    return np.asarray((cut - centre) * np.exp(-probit.log_scale)[:, None, None])


def log_confusion(probit: Probit, size: int) -> Floats:
    """Log chance of each answer given each true grade, (annotators, true, answer).

    Examples
    --------
    >>> np.exp(log_confusion(Probit(np.zeros(1), np.zeros(1)), 3))[0]
    array([[0.691, 0.242, 0.067],
           [0.309, 0.383, 0.309],
           [0.067, 0.242, 0.691]])
    """
    from scipy.special import log_ndtr

    cuts = _cuts(probit, size)
    low, high = cuts[..., :-1], cuts[..., 1:]
    flip = low > 0  # in the upper tail, count from above
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    above = log_ndtr(high)
    with np.errstate(divide="ignore"):  # minus infinity where a grade is too narrow to be seen
        return np.asarray(above + np.log1p(-np.exp(log_ndtr(low) - above)))


def _value(probit: Probit, counts: Floats) -> Floats:
    """Expected log posterior of each annotator, shape (annotators,)."""
    log = log_confusion(probit, counts.shape[1])
    with np.errstate(invalid="ignore"):  # then the value is no number, and no step goes there
        return np.asarray((counts * log).sum(axis=(1, 2)) + probit.log_prior())


def _scores(probit: Probit, size: int) -> tuple[Floats, Floats, Floats]:
    """Chances, and slopes of their logarithms in bias and in log scale."""
    log = log_confusion(probit, size)
    cuts = _cuts(probit, size)
    finite = np.where(np.isfinite(cuts), cuts, 0.0)
    log_density = np.where(
        np.isfinite(cuts), -0.5 * finite**2 - 0.5 * np.log(2 * np.pi), -np.inf
    )
    upper, lower = np.exp(log_density[..., 1:] - log), np.exp(log_density[..., :-1] - log)
    bias = (lower - upper) * np.exp(-probit.log_scale)[:, None, None]
    return np.exp(log), bias, finite[..., :-1] * lower - finite[..., 1:] * upper


def improved(probit: Probit, counts: Floats) -> Probit:
    """Take a few Fisher scoring steps; none lowers any annotator's expected log posterior.

    ``counts`` are expected votes, (annotators, true, answer).
    """
    value = _value(probit, counts)
    for _ in range(_STEPS):
        chance, by_bias, by_scale = _scores(probit, counts.shape[1])
        slope = np.stack(
            [
                (counts * by_bias).sum(axis=(1, 2)) - probit.bias,
                (counts * by_scale).sum(axis=(1, 2)) - (probit.log_scale - _USUAL),
            ]
        )
        mass = counts.sum(axis=2, keepdims=True) * chance
        first = (mass * by_bias**2).sum(axis=(1, 2)) + 1.0
        cross = (mass * by_bias * by_scale).sum(axis=(1, 2))
        second = (mass * by_scale**2).sum(axis=(1, 2)) + 1.0
        whole = first * second - cross**2
        move = np.stack(
            [
                (second * slope[0] - cross * slope[1]) / whole,
                (first * slope[1] - cross * slope[0]) / whole,
            ]
        )
        probit, value = _guarded(probit, value, move, counts)
    return probit


def _guarded(
    probit: Probit, value: Floats, move: Floats, counts: Floats
) -> tuple[Probit, Floats]:
    """Halve each annotator's step until it does not lower the value; else stay."""
    move = move * np.minimum(1.0, 2.0 / np.maximum(np.abs(move).max(axis=0), 1e-300))
    step = np.ones(len(value))
    for _ in range(_HALVES):
        new = Probit(probit.bias + step * move[0], probit.log_scale + step * move[1])
        reached = _value(new, counts)
        worse = ~(reached >= value)
        if not worse.any():
            break
        step = np.where(worse, step / 2, step)
    bias = np.where(worse, probit.bias, new.bias)
    log_scale = np.where(worse, probit.log_scale, new.log_scale)
    return Probit(bias, log_scale), np.where(worse, value, reached)


MODEL = AggregationModel(
    name="dawid_skene_ordinal",
    title="ordinal Dawid-Skene",
    description="a lean and a blur of every annotator, and the grade of every item",
    fit=dawid_skene_ordinal,
    kinds=("ordinal",),
    suits=("ordinal",),
    rank=21,
    annotators=True,
    references=("dawid1979",),
)

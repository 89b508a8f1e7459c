r"""Dawid-Skene: every annotator has a confusion matrix, every item one true class.

.. math:: P(\text{votes of } i \mid \text{class } k) = \prod_{v \in i} \theta_{a(v),\,k,\,l(v)}

EM in log space. A pass over blocks of votes (`blocks`) takes the class posterior of every item
and adds it at once to the expected votes (annotators x classes x classes), so that nothing is
held per item, and votes in memory, on disk and on a cluster have one fit. The bound that it
climbs is the log-likelihood plus the log prior; it counts the class prior once per item and
never falls. Repeated votes are real data and
count; weights and counts multiply a vote; gold items are settled; items without votes are left
out. Sums are taken on a grid where their order does not matter: classes that nothing tells
apart stay alike, and no result depends on the order of classes, annotators or items. The result
is the posterior of each item's class: it is a chance, not a distribution over plausibilities
(see `annotator_bootstrap` for that). With few annotators and a rare class its errors look
certain (5 annotators, 18 positives among 827 items: 5 wrong at 0.97 to 0.997, where the
majority has 1), so it is never chosen by itself, and a notice says what share of the rarer
class it decides otherwise than the votes. Whether it expects the unanimity that is seen is
checked by simulation, see `unanimity`.

`dawid_skene`: confusion rows have a Dirichlet prior (`smoothing`: 0.5 for every answer and 1
more for the right one). ``one_coin`` gives each annotator one accuracy, errors spread evenly.

`dawid_skene_ordinal`: annotators read a grade with a lean and a blur of their own. With grades
0, 1, ..., K - 1 at equal distances and cuts half-way between them, annotator a answers at most
l about an item of true grade k with chance

.. math:: P(\text{answer} \le l \mid k, a) = \Phi\!\left(
    \frac{l + \tfrac12 - k - \beta_a}{\sigma_a}\right)

The bias :math:`\beta_a` is in grades, above 0 for those who grade high; the scale
:math:`\sigma_a` is how far answers scatter. Two numbers per annotator instead of K (K - 1):
near grades are confused more often than far ones, a higher true grade never makes a lower
answer likelier, and rare grades borrow from common ones. Priors keep both finite: bias
N(0, 1) and log scale N(log 0.6, 1). EM is generalised: exact class posteriors, then Fisher
scoring steps in (bias, log scale) of every annotator, halved until its expected log posterior
does not fall.

References
----------
Dawid and Skene (1979), *Maximum likelihood estimation of observer error-rates using the EM
algorithm*. McCullagh (1980), *Regression models for ordinal data*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b"), classes=("no", "yes"),
...     annotators=("x", "y", "z"), item=np.array([0, 0, 0, 1, 1, 1]),
...     annotator=np.array([0, 1, 2, 0, 1, 2]), label=np.array([1, 1, 0, 0, 0, 0]))
>>> dawid_skene(votes).mean.round(2)
array([[0.1 , 0.9 ],
       [0.98, 0.02]])
>>> grades = Annotations(kind="ordinal", items=("a", "b", "c"), classes=("0", "1", "2"),
...     annotators=("x", "y", "z"), item=np.repeat([0, 1, 2], 3),
...     annotator=np.tile([0, 1, 2], 3), label=np.array([0, 0, 1, 1, 1, 2, 2, 2, 2]))
>>> made = dawid_skene_ordinal(grades)
>>> made.mean.argmax(axis=1)
array([0, 1, 2])
>>> int(made.diagnostics["bias"].argmax())  # z grades high
2
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from equipoise.truth.blocks import (
    AnnotatorVotes,
    BlockReader,
    VoteBlocks,
    added,
    annotator_votes,
    decided_otherwise,
    exact,
    from_class_posterior,
)
from equipoise.truth.model import LABELS, AggregationModel, unused_confidence
from equipoise.truth.unanimity import confusion_unanimity, unanimity_notice
from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Notice,
    Notices,
    Option,
    Plausibilities,
    Skills,
    choice,
    hint,
    immutable,
    ratio,
    refusing_wrong_types,
    require_whole,
)

FLOOR = 1e-10  # smallest probability in a logarithm, for fits without smoothing
_VARIANTS = ("full", "one_coin")
_USUAL = np.log(0.6)  # a blur with which six in ten middle grades are read right
_STEPS, _HALVES = 3, 12


@immutable
class Smoothing:
    """Pseudo-counts of a confusion row: for every answer, and more for the right one."""

    every: float = 0.5
    right: float = 1.0


@immutable
class Fit:
    """When EM stops."""

    tolerance: float = 1e-9
    most: int = 2000


@refusing_wrong_types
def dawid_skene(
    annotations: Annotations,
    *,
    variant: str = "full",
    smoothing: Smoothing | None = None,
    fit: Fit | None = None,
    task: str = "",
) -> Plausibilities:
    """Posterior class of every item, and what it says about the annotators."""
    prior, stop = checked_fit(variant, smoothing, fit)
    who = annotator_votes(annotations, task, model="dawid_skene")
    climb = climb_votes(who, stop, partial(log_confusions, variant=variant, prior=prior))
    confusion, _ = confusions(climb.expected_votes, variant, prior)
    return _plausibilities(
        who,
        climb,
        confusion,
        unused_confidence(annotations, "Dawid-Skene"),
        model="dawid_skene",
        method=f"Dawid-Skene ({variant.replace('_', '-')})",
        parameters={"variant": variant, "smoothing": prior},
    )


def checked_fit(
    variant: str, smoothing: Smoothing | None, fit: Fit | None
) -> tuple[Smoothing, Fit]:
    """The smoothing and the stop rule meant, if they and the variant make sense."""
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
    return prior, stop


class Expected(NamedTuple):
    """What a pass over all votes adds up.

    Attributes
    ----------
    votes
        Expected votes by annotator and answer, and by true class, (codes, classes).
    classes
        Expected number of items of each class, shape (classes,).
    likelihood
        Log-likelihood of the votes.
    """

    votes: Floats
    classes: Floats
    likelihood: float


class Climb(NamedTuple):
    """Where EM ended.

    Attributes
    ----------
    expected_votes
        Votes by annotator, true class and answer that the last M-step took.
    log, prior
        Log chances of codes (codes, classes), and of classes (classes,), rounded by `exact`.
    classes
        Share of each class.
    trace, converged
        The bound after every step, and whether it stood still.
    """

    expected_votes: Floats
    log: Floats
    prior: Floats
    classes: Floats
    trace: tuple[float, ...]
    converged: bool


def climb_votes(
    blocks: VoteBlocks,
    stop: Fit,
    maximise: Callable[[Floats], tuple[Floats, float]],
    begin: tuple[Expected, list[float]] | None = None,
    step: Callable[[Expected, list[float]], None] | None = None,
) -> Climb:
    """EM from the vote shares, M-step first, until the bound stands still.

    Parameters
    ----------
    maximise
        Of expected votes (annotators, true, answer) returns the log confusion, alike, and the
        log prior of what it found.
    begin
        Sums and trace to go on from.
    step
        Told the sums and the trace after every step but the last.
    """
    size = len(blocks.classes)
    expected, trace = begin or (expected_votes(blocks, None), [])
    while True:
        counts = expected.votes.reshape(-1, size, size).transpose(0, 2, 1)
        log_confusion, penalty = maximise(counts)
        log = np.ascontiguousarray(exact(log_confusion).transpose(0, 2, 1).reshape(-1, size))
        classes = expected.classes / blocks.number_of_items
        prior = exact(np.log(np.maximum(classes, 1e-300)))
        expected = expected_votes(blocks, (log, prior))
        trace.append(expected.likelihood + penalty)
        still = len(trace) > 1 and abs(trace[-1] - trace[-2]) <= stop.tolerance * abs(trace[-1])
        if still or len(trace) >= stop.most:
            return Climb(counts, log, prior, classes, tuple(trace), still)
        if step is not None:
            step(expected, trace)


def expected_votes(blocks: VoteBlocks, chances: tuple[Floats, Floats] | None) -> Expected:
    """Read all votes once: the E-step, or shares of votes in the place of posteriors."""
    size, codes = len(blocks.classes), len(blocks.annotators) * len(blocks.classes)
    log, prior = chances or (np.zeros((0, size)), np.zeros(size))
    add_up = partial(_add_up, blocks.reader, codes, log, prior)
    return added(blocks.map_groups(add_up, codes * size))


def _add_up(
    reader: BlockReader, codes: int, log: Floats, prior: Floats, group: range
) -> Expected:
    """Read the votes of a range of blocks once."""
    from equipoise.kernels.blocks import dawid_skene_pass

    votes, classes, likelihood = np.zeros((codes, len(prior))), np.zeros(len(prior)), 0.0
    for number in group:
        block = reader.block(number)
        likelihood += dawid_skene_pass(block[:3], block.gold, log, prior, votes, classes)
    return Expected(votes, classes, float(likelihood))


def log_confusions(counts: Floats, variant: str, prior: Smoothing) -> tuple[Floats, float]:
    """Log confusion matrices of expected votes, and their log prior."""
    confusion, penalty = confusions(counts, variant, prior)
    return np.log(np.maximum(confusion, FLOOR)), penalty


def confusions(counts: Floats, variant: str, prior: Smoothing) -> tuple[Floats, float]:
    """Confusion matrices and their log prior of expected votes (annotators, true, answer)."""
    size = counts.shape[1]
    extra = prior.every + prior.right * np.eye(size)
    if variant == "one_coin" and size > 1:
        right = np.einsum("akk->a", counts) + prior.every + prior.right
        wrong = (counts * (1 - np.eye(size))).sum(axis=(1, 2)) + prior.every
        share = ratio(right, right + wrong, 1 / size)
        confusion = np.repeat(((1 - share) / (size - 1))[:, None], size * size, axis=1)
        confusion = confusion.reshape(-1, size, size)
        confusion[:, np.arange(size), np.arange(size)] = share[:, None]
        log = np.log(np.maximum([share, (1 - share) / (size - 1)], FLOOR))
        return confusion, float(
            ((prior.every + prior.right) * log[0] + prior.every * log[1]).sum()
        )
    whole = counts.sum(axis=2, keepdims=True) + (size * prior.every + prior.right)
    confusion = ratio(counts + extra, whole, 1 / size)
    return confusion, float((extra * np.log(np.maximum(confusion, FLOOR))).sum())


def _plausibilities(
    who: AnnotatorVotes,
    climb: Climb,
    confusion: Floats,
    notices: Notices,
    *,
    diagnostics: Mapping[str, Floats] = MappingProxyType({}),
    **facts: Any,
) -> Plausibilities:
    """Plausibilities of where EM ended, with more diagnostics where the model has some."""
    accuracy = np.einsum("k,akk->a", climb.classes, confusion)
    name = "Ordinal Dawid-Skene" if diagnostics else "Dawid-Skene"
    posterior = who.whole.posteriors(climb.log, climb.prior)
    checked = confusion_unanimity(who, posterior, confusion)
    notices = (
        *notices,
        *decided_otherwise(who, posterior, name),
        *unanimity_notice(name, checked),
    )
    if not climb.converged:
        text = f"{name} did not converge: raise the iterations."
        notices = (*notices, Notice("not_converged", text))
    return from_class_posterior(
        who,
        posterior,
        diagnostics={
            "converged": climb.converged,
            "iterations": len(climb.trace),
            "trace": climb.trace,
            "class_prior": climb.classes,
            **diagnostics,
        },
        skills=Skills(who.annotators, "accuracy", accuracy, confusion=confusion),
        unanimity=checked,
        notices=notices,
        **facts,
    )


@immutable(eq=False)
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


@refusing_wrong_types
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
    size, probit = len(who.classes), Probit.start(len(who.annotators))

    def maximise(counts: Floats) -> tuple[Floats, float]:
        nonlocal probit
        probit = improved(probit, counts)
        return log_confusion(probit, size), float(probit.log_prior().sum())

    climb = climb_votes(who, stop, maximise)
    return _plausibilities(
        who,
        climb,
        np.exp(log_confusion(probit, size)),
        unused_confidence(annotations, "ordinal Dawid-Skene"),
        model="dawid_skene_ordinal",
        method="Dawid-Skene (ordinal)",
        diagnostics={"bias": probit.bias, "scale": np.exp(probit.log_scale)},
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


MODELS = (
    AggregationModel(
        name="dawid_skene",
        title="Dawid-Skene",
        description="a confusion matrix of every annotator, and the class of every item",
        fit=dawid_skene,
        kinds=LABELS,
        suits=LABELS,
        rank=20,
        annotators=True,
        references=("dawid1979",),
    ),
    AggregationModel(
        name="dawid_skene_ordinal",
        title="ordinal Dawid-Skene",
        description="a lean and a blur of every annotator, and the grade of every item",
        fit=dawid_skene_ordinal,
        kinds=("ordinal",),
        suits=("ordinal",),
        rank=21,
        annotators=True,
        references=("dawid1979",),
    ),
)

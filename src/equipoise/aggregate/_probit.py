r"""Probit: how annotators with a bias and a scale answer on a scale of grades.

Grade k is read as a normal variable around k + bias; answers are cut half-way between grades.

.. math:: P(l \mid k) = \Phi(u_{l+1}) - \Phi(u_l), \quad u_l = (l - \tfrac12 - k - \beta)/\sigma

with the outer cuts at infinity.
"""

from dataclasses import dataclass

import numpy as np

from equipoise.arrays import Floats

USUAL = np.log(0.6)  # a blur with which six in ten middle grades are read right
STEPS, HALVES = 3, 12


@dataclass(frozen=True, slots=True, eq=False)
class Probit:
    """Bias in grades and log scale of each annotator, shape (annotators,)."""

    bias: Floats
    log_scale: Floats

    @classmethod
    def start(cls, annotators: int) -> "Probit":
        """No bias and the usual scale."""
        return cls(np.zeros(annotators), np.full(annotators, USUAL))

    def log_prior(self) -> Floats:
        """Standard normal in the bias and around the usual log scale, but for a constant."""
        return np.asarray(-0.5 * (self.bias**2 + (self.log_scale - USUAL) ** 2))


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
    for _ in range(STEPS):
        chance, by_bias, by_scale = _scores(probit, counts.shape[1])
        slope = np.stack([
            (counts * by_bias).sum(axis=(1, 2)) - probit.bias,
            (counts * by_scale).sum(axis=(1, 2)) - (probit.log_scale - USUAL),
        ])  # fmt: skip
        mass = counts.sum(axis=2, keepdims=True) * chance
        first = (mass * by_bias**2).sum(axis=(1, 2)) + 1.0
        cross = (mass * by_bias * by_scale).sum(axis=(1, 2))
        second = (mass * by_scale**2).sum(axis=(1, 2)) + 1.0
        whole = first * second - cross**2
        move = np.stack([
            (second * slope[0] - cross * slope[1]) / whole,
            (first * slope[1] - cross * slope[0]) / whole,
        ])  # fmt: skip
        probit, value = _guarded(probit, value, move, counts)
    return probit


def _guarded(
    probit: Probit, value: Floats, move: Floats, counts: Floats
) -> tuple[Probit, Floats]:
    """Halve each annotator's step until it does not lower the value; else stay."""
    move = move * np.minimum(1.0, 2.0 / np.maximum(np.abs(move).max(axis=0), 1e-300))
    step = np.ones(len(value))
    for _ in range(HALVES):
        new = Probit(probit.bias + step * move[0], probit.log_scale + step * move[1])
        reached = _value(new, counts)
        worse = ~(reached >= value)
        if not worse.any():
            break
        step = np.where(worse, step / 2, step)
    bias = np.where(worse, probit.bias, new.bias)
    log_scale = np.where(worse, probit.log_scale, new.log_scale)
    return Probit(bias, log_scale), np.where(worse, value, reached)

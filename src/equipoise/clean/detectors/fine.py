r"""FINE: how badly an item lines up with the main direction of its class.

With z the embedding at unit length and :math:`u_c` the first eigenvector of the Gram matrix
:math:`\sum_{i : y_i = c} z_i z_i^\top` of a class, the alignment of an item is

.. math:: f_i = \langle u_{y_i}, z_i \rangle^2

Within each class the alignments are a mixture of two normal distributions, the clean items and
the noisy ones, whose mean is lower; the score is the log-odds of being noisy,

.. math:: s_i = \log \frac{\pi_0 \, \phi(f_i; \mu_0, \sigma)}
                         {\pi_1 \, \phi(f_i; \mu_1, \sigma)}

Our reading where the paper is silent: embeddings have unit length; both components share one
variance, so that the odds never rise with alignment; the fit starts with the means at the
lowest and the highest alignment; a class with fewer than 4 members, or whose members all line
up alike, says nothing (log-odds 0).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.clean.detector import LabelDetector, Progress, tell
from equipoise.types.arrays import Floats, Ints

ALIKE = 1e-12  # variance of alignments below which all are the same


@dataclass(frozen=True)
class Fine(LabelDetector):
    """Log-odds that an item is out of line with its class.

    Attributes
    ----------
    steps, tolerance
        Of the fit of the mixture: steps at most, and the change of the mean log-likelihood
        below which it has converged.
    min_members
        Classes with fewer say nothing.
    """

    name: ClassVar[str] = "fine"
    title: ClassVar[str] = "FINE"
    packages: ClassVar[tuple[str, ...]] = ("threadpoolctl",)
    references: ClassVar[tuple[str, ...]] = ("kim2021",)
    steps: int = 500
    tolerance: float = 1e-9
    min_members: int = 4

    def suspicion(self, rows: Floats, labels: Ints, progress: Progress | None) -> Floats:
        """The log-odds."""
        from threadpoolctl import threadpool_limits

        rows = rows.astype(np.float64)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(length > 0, length, 1)
        values, codes = np.zeros(len(rows)), np.unique(labels)
        with threadpool_limits(limits=1):
            for done, code in enumerate(codes):
                members = np.flatnonzero(labels == code)
                if len(members) >= self.min_members:
                    values[members] = self._noisy(_alignments(rows[members]))
                tell(progress, done + 1, len(codes))
        return values

    def _noisy(self, aligned: Floats) -> Floats:
        """Log-odds of the lower of two components, fitted by expectation-maximisation."""
        variance = aligned.var()
        if variance < ALIKE:
            return np.zeros(len(aligned))
        low, high = float(aligned.min()), float(aligned.max())
        share, before = 0.5, -np.inf
        for _ in range(self.steps):
            odds = _log_odds(aligned, (low, high), variance, share)
            noisy = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
            likely = _log_likelihood(aligned, (low, high), variance, share)
            if likely - before < self.tolerance:
                break
            before = likely
            share = float(np.clip(noisy.mean(), 1e-6, 1 - 1e-6))
            low = float(noisy @ aligned / max(noisy.sum(), ALIKE))
            high = float((1 - noisy) @ aligned / max((1 - noisy).sum(), ALIKE))
            spread = noisy * (aligned - low) ** 2 + (1 - noisy) * (aligned - high) ** 2
            variance = max(float(spread.mean()), ALIKE)
        return odds


def _alignments(rows: Floats) -> Floats:
    """Squared cosines with the first eigenvector of a class's Gram matrix."""
    few = len(rows) < rows.shape[1]
    vectors = np.linalg.eigh(rows @ rows.T if few else rows.T @ rows)[1][:, -1]
    main = rows.T @ vectors if few else vectors
    return np.asarray((rows @ (main / np.linalg.norm(main))) ** 2)


def _log_odds(
    aligned: Floats, means: tuple[float, float], variance: float, share: float
) -> Floats:
    low, high = means
    apart = ((aligned - high) ** 2 - (aligned - low) ** 2) / (2 * variance)
    return np.asarray(np.log(share / (1 - share)) + apart)


def _log_likelihood(
    aligned: Floats, means: tuple[float, float], variance: float, share: float
) -> float:
    """Mean over items, up to a constant."""
    parts = [
        np.log(weight) - (aligned - mean) ** 2 / (2 * variance)
        for weight, mean in zip((share, 1 - share), means, strict=True)
    ]
    return float(np.logaddexp(*parts).mean() - np.log(variance) / 2)

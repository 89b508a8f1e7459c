r"""Label errors by where items lie: FINE, kNN disagreement and NoiseRank.

**FINE**: how badly an item lines up with the main direction of its class. With z the embedding
at unit length and :math:`u_c` the first eigenvector of the Gram matrix :math:`\sum_{i : y_i =
c} z_i z_i^\top` of a class, the alignment of an item is

.. math:: f_i = \langle u_{y_i}, z_i \rangle^2

Within each class the alignments are a mixture of two normal distributions, the clean items and
the noisy ones, whose mean is lower; the score is the log-odds of being noisy,

.. math:: s_i = \log \frac{\pi_0 \, \phi(f_i; \mu_0, \sigma)}
                         {\pi_1 \, \phi(f_i; \mu_1, \sigma)}

Our reading where the paper is silent: embeddings have unit length; both components share one
variance, so that the odds never rise with alignment; the fit starts with the means at the
lowest and the highest alignment; a class with fewer than 4 members, or whose members all line
up alike, says nothing (log-odds 0).

**kNN disagreement**: the share of an item's nearest neighbours that carry another label,

.. math:: s_i = \frac1k \sum_{j \in N_k(i)} 1[y_j \ne y_i]

over the k = 20 nearest other items that have a label, by cosine. There are k + 1 values, so
that items tie; metrics count ties as what they are.

**NoiseRank**: how much the other items, as a random field, speak against a label. Every pair of
items is a clique of a Markov random field: similar items that agree on the label support each
other, and similar items that disagree speak against each other. With :math:`z_i = 1` for a
wrong label and everything else given, the posterior log-odds are

.. math:: s_i = \log \frac{P(z_i = 1 \mid D)}{P(z_i = 0 \mid D)}
          = \sum_{j \ne i} K(x_i, x_j) \, (1[y_j \ne y_i] - 1[y_j = y_i]), \qquad
          K(x, x') = \exp(-\lVert u - u' \rVert^2 / h)

with u the embedding at unit length and h = 1. Items are ranked by the log-odds; the
probabilities themselves would round to 1 and tie.

This is our reading of the paper's dependence model: pairs only, both kinds of pair with equal
weight, all pairs rather than near ones, and labels of others as given. What stands in for the
paper's potentials matters: with other kernels and other ways to weigh the two kinds of pair,
the AUROC on wrong labels of CIFAR-10N lies between 48 and 87 % (60.7 % as it is here). Sums
over all items favour dense regions and large classes, so that it is no strong method;
CleanPatrick says the same. Time grows with the square of the number of items, memory does
not.
"""

from dataclasses import dataclass

import numpy as np

from equipoise.clean.detector import LabelDetector, Progress, tell
from equipoise.clean.similarity import neighbours
from equipoise.types.arrays import Floats, InputError, Ints, require_whole

ALIKE = 1e-12  # variance of alignments below which all are the same
CELLS = 2**23  # of the kernel at a time


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

    name = "fine"
    title = "FINE"
    packages = ("threadpoolctl",)
    references = ("kim2021",)
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


@dataclass(frozen=True)
class KnnDisagreement(LabelDetector):
    """Share of neighbours with another label.

    Attributes
    ----------
    k
        How many neighbours; all others where there are fewer.
    """

    name = "knn_disagreement"
    title = "kNN disagreement"
    bounded = True
    references = ("wilson1972",)
    k: int = 20

    def __post_init__(self) -> None:
        require_whole(f"detector {self.name}, k", self.k, least=1, do="try 20")

    def suspicion(self, rows: Floats, labels: Ints, progress: Progress | None) -> Floats:
        """The share."""
        if len(rows) < 2:
            raise InputError(
                f"detector {self.name}", "one labelled item", "two or more", "label more items"
            )
        _, places = neighbours(rows, self.k, progress=progress)
        return np.asarray(np.mean(labels[places] != labels[:, None], axis=1))


@dataclass(frozen=True)
class NoiseRank(LabelDetector):
    """Posterior log-odds of a wrong label in a random field of all pairs.

    Attributes
    ----------
    bandwidth
        The squared distance, at unit length, at which similarity has fallen to 1/e.
    """

    name = "noise_rank"
    title = "NoiseRank"
    packages = ("threadpoolctl",)
    references = ("sharma2020",)
    bandwidth: float = 1.0

    def __post_init__(self) -> None:
        if not self.bandwidth > 0:
            raise InputError(
                f"detector {self.name}, bandwidth", f"{self.bandwidth}", "above 0", "try 1"
            )

    def suspicion(self, rows: Floats, labels: Ints, progress: Progress | None) -> Floats:
        """The log-odds: sums of the kernel by label, some rows at a time."""
        from threadpoolctl import threadpool_limits

        length = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
        unit = (rows / np.where(length > 0, length, 1)).astype(np.float32)
        grouped = np.argsort(labels, kind="stable")
        codes, starts = np.unique(labels[grouped], return_index=True)
        others, step = unit[grouped].T.copy(), max(1, CELLS // len(unit))
        label_places = np.searchsorted(codes, labels)
        log_odds = np.empty(len(unit))
        with threadpool_limits(limits=1):
            for start in range(0, len(unit), step):
                part = slice(start, start + step)
                kernel = np.exp((unit[part] @ others - 1) * np.float32(2 / self.bandwidth))
                sums = np.add.reduceat(kernel, starts, axis=1, dtype=np.float64)
                itself = np.exp((np.einsum("if,if->i", unit[part], unit[part]) - 1.0)
                                * (2 / self.bandwidth))  # fmt: skip
                agree = (
                    np.take_along_axis(sums, label_places[part, None], axis=1)[:, 0] - itself
                )
                log_odds[part] = sums.sum(axis=1) - itself - 2 * agree
                tell(progress, min(start + step, len(unit)), len(unit))
        return log_odds

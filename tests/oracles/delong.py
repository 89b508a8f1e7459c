"""DeLong, DeLong and Clarke-Pearson (1988): covariance of the AUROCs of several models."""

import numpy as np

from tests.oracles.ranking import beats


def components(label, scores):
    """Structural components: V10 (models, positives) and V01 (models, negatives)."""
    positive, negative = np.flatnonzero(label == 1), np.flatnonzero(label == 0)
    wins = np.array([[[beats(s[i], s[j]) for j in negative] for i in positive] for s in scores])
    return wins.mean(axis=2), wins.mean(axis=1)


def covariance(label, scores, *, unbiased=True):
    """S10/m + S01/n; with population instead of sample covariances when not unbiased."""
    parts = [
        np.atleast_2d(np.cov(part, ddof=int(unbiased))) / part.shape[1]
        for part in components(label, scores)
    ]
    return parts[0] + parts[1]

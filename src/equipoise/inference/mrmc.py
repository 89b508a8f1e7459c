r"""MRMC: Obuchowski and Rockette's analysis of readers and cases, as regulators know it.

Every reader (annotator) gives a value of every model, :math:`\theta_{kr}`: that of model k
judged by the votes of reader r alone. The value of a model is the mean over readers; it is
another estimand than the value against soft labels, but differences agree. With
:math:`\mathrm{Cov}_2` the covariance of two readers with one model and :math:`\mathrm{Cov}_3`
that of two readers with two models, averaged,

.. math:: \mathrm{Var}(\hat\theta_{k\cdot} - \hat\theta_{l\cdot}) = \frac{2}{m} \big[
    MS_{TR} + m \max(\mathrm{Cov}_2 - \mathrm{Cov}_3, 0) \big]

with Hillis' (2007) degrees of freedom, :math:`[\cdot]^2 (m - 1) / MS_{TR}^2`; of a single model
:math:`[MS_R + m \max(\mathrm{Cov}_2, 0)] / m`, likewise.
"""

from typing import NamedTuple

import numpy as np

from equipoise.types.arrays import Bools, Floats


class _ReaderAnalysis(NamedTuple):
    """Means over readers, and what they vary by.

    Attributes
    ----------
    values
        Mean of every model over readers, shape (models,).
    variance
        Of every value on the diagonal, of every difference elsewhere, (models, models).
    df
        Hillis' degrees of freedom of the same.
    """

    values: Floats
    variance: Floats
    df: Floats


def obuchowski_rockette(theta: Floats, covariance: Floats) -> _ReaderAnalysis:
    """Analyse values by model and reader.

    Parameters
    ----------
    theta
        Value of every model by every reader, shape (models, readers).
    covariance
        Covariance of these values over items, shape (models, readers, models, readers).
    """
    models, readers = theta.shape
    apart = ~np.eye(readers, dtype=bool)
    variance, df = np.empty((models, models)), np.empty((models, models))
    for k in range(models):
        own = float(theta[k].var(ddof=1))
        shared = readers * max(_mean(covariance, k, k, apart), 0.0)
        variance[k, k], df[k, k] = _hillis(own, shared, readers)
        for other in range(k):
            gap = float((theta[k] - theta[other]).var(ddof=1)) / 2
            same = (_mean(covariance, k, k, apart) + _mean(covariance, other, other, apart)) / 2
            crossed = _mean(covariance, k, other, apart)
            found, freedom = _hillis(gap, readers * max(same - crossed, 0.0), readers)
            variance[k, other] = variance[other, k] = 2 * found
            df[k, other] = df[other, k] = freedom
    return _ReaderAnalysis(theta.mean(axis=1), variance, df)


def _mean(covariance: Floats, a: int, b: int, apart: Bools) -> float:
    """Mean covariance of two different readers."""
    return float(covariance[a, :, b, :][apart].mean())


def _hillis(mean_square: float, shared: float, readers: int) -> tuple[float, float]:
    """Variance of a mean over readers, and its degrees of freedom."""
    total = mean_square + shared
    freedom = total**2 * (readers - 1) / mean_square**2 if mean_square > 0 else np.inf
    return total / readers, freedom

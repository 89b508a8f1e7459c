r"""Reader studies: readers and cases are random, as regulators know them.

Every reader j has a value :math:`\theta_{kj}` of every competitor k, with the influence of
every case on it. The model is Obuchowski and Rockette's, the degrees of freedom are Hillis'.
With :math:`d_j` the differences of two competitors by reader (or the values of a single one), C
the mean covariance over cases of those of two readers, and r readers,

.. math:: \mathrm{Var}(\bar d) = \frac{1}{r} \big[ S^2_d + r \max(C, 0) \big], \qquad
    \nu = (r - 1) \frac{[S^2_d + r \max(C, 0)]^2}{S_d^4}

Who the competitors are makes the study. *Models judged by the votes of each reader alone*:
:math:`\theta_{kr}` is that of model k, another estimand than the value against soft labels, but
differences agree; C is :math:`2 (\mathrm{Cov}_2 - \mathrm{Cov}_3)`. *Paired arms*, aided and
unaided: the readers who read in both, against a reference standard. *A standalone model* is
read by nobody: :math:`d_j = \theta_j - \theta_0`, and the same formula is the analysis of one
treatment (Hillis, Berbaum and Metz 2008; Chakraborty 2017).

*Split plot*: every reader reads in one arm. With :math:`S_i^2` the variance of the
:math:`r_i` readers of arm i and :math:`C_{ik}` the mean covariance of two readers of arms i
and k (Hillis 2014),

.. math:: \mathrm{Var}(\bar\theta_1 - \bar\theta_2) = \sum_i \frac{S_i^2}{r_i}
    + \max(C_{11} + C_{22} - 2 C_{12}, 0), \qquad
    \nu = \frac{\mathrm{Var}^2}{\sum_i (S_i^2 / r_i)^2 / (r_i - 1)}

Cases that were read in one arm alone add nothing to :math:`C_{12}`: designs that nest cases in
arms need nothing more.

References
----------
Obuchowski and Rockette, Communications in Statistics 1995. Hillis, Statistics in Medicine 2007
and 2014. Hillis, Berbaum and Metz, Academic Radiology 2008. Chakraborty, *Observer Performance
Methods for Diagnostic Imaging*, CRC Press 2017.

Examples
--------
>>> values = np.array([[0.92, 0.86, 0.90, 0.97, 0.83]])
>>> influences = np.random.default_rng(0).normal(0, 0.002, (1, 5, 114))
>>> between_readers(0.95 - values[0], influences[0]).readers
5
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from equipoise.inference.intervals import TwoWay
from equipoise.inference.spread import Population, Spread
from equipoise.types import Floats, InputError

FEWEST = 2


class ReaderContrast(NamedTuple):
    """A difference for readers and cases like these.

    Attributes
    ----------
    value, spread
        The difference and its uncertainty.
    readers
        How many readers it rests on.
    paired
        Whether the same readers are on both sides.
    """

    value: float
    spread: Spread
    readers: int
    paired: bool


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
    shared = covariance.transpose(0, 2, 1, 3)[:, :, apart].mean(axis=2)
    variance, df = np.empty((2, models, models))
    for k, other in np.ndindex(models, models):
        gaps, common = theta[k], shared[k, k]
        if k != other:
            gaps = gaps - theta[other]
            common = common + shared[other, other] - shared[k, other] - shared[other, k]
        spread = float(gaps.var(ddof=1))
        total = spread + readers * max(float(common), 0.0)
        variance[k, other] = total / readers
        df[k, other] = total**2 * (readers - 1) / spread**2 if spread > 0 else np.inf
    return _ReaderAnalysis(theta.mean(axis=1), variance, df)


def between_readers(gaps: Floats, influences: Floats) -> ReaderContrast:
    """Mean of differences that readers have with themselves, or with a model.

    Parameters
    ----------
    gaps
        The competitor less each reader, (readers,).
    influences
        Of every unit on them, (readers, units).
    """
    _refuse_too_few(len(gaps))
    covariance = _covariance(influences)[None, :, None, :]
    done = obuchowski_rockette(gaps[None], covariance)
    return ReaderContrast(
        float(done.values[0]),
        _spread(done.variance[0, 0], done.df[0, 0]),
        len(gaps),
        paired=True,
    )


def between_arms(values: Floats, influences: Floats) -> ReaderContrast:
    """The first arm minus the second.

    Parameters
    ----------
    values
        By arm and reader, (2, readers); nan where a reader did not read in an arm. Where some
        readers read in both arms, those count; else those who read in one arm.
    influences
        Of every unit on them, (2, readers, units).
    """
    read = np.isfinite(values)
    both = read.all(axis=0)
    if both.sum() >= FEWEST:
        gaps, moved = values[0] - values[1], influences[0] - influences[1]
        return between_readers(gaps[both], moved[both])
    alone = read & ~both
    for few in (*read, *alone):
        _refuse_too_few(int(few.sum()))
    sides = [side[here] for side, here in zip(values, alone, strict=True)]
    parts = [float(side.var(ddof=1)) / len(side) for side in sides]
    number = len(sides[0])
    covariance = _covariance(influences[alone])
    np.fill_diagonal(covariance, np.nan)
    first, second = np.split(covariance, [number])
    shared = np.nanmean(first[:, :number]) + np.nanmean(second[:, number:])
    whole = sum(parts) + max(float(shared - 2 * first[:, number:].mean()), 0.0)
    below = sum(part**2 / (len(side) - 1) for part, side in zip(parts, sides, strict=True))
    spread = _spread(whole, whole**2 / below if below > 0 else math.inf)
    gap = float(sides[0].mean() - sides[1].mean())
    return ReaderContrast(gap, spread, len(covariance), paired=False)


def of_readers(contrasts: Sequence[ReaderContrast]) -> TwoWay:
    """The same as values side by side, each with an uncertainty of its own."""
    variance, df = (
        np.diag([getattr(contrast.spread, name) for contrast in contrasts])
        for name in ("items", "df_items")
    )
    zero = np.zeros_like(variance)
    values = np.array([contrast.value for contrast in contrasts])
    return TwoWay(values, variance, zero, zero, zero, df, 0.0, 0.0, Population())


def _spread(variance: float, df: float) -> Spread:
    return Spread(float(variance), df_items=float(df))


def _refuse_too_few(readers: int) -> None:
    """Raise where readers like these cannot be told from these."""
    if readers < FEWEST:
        raise InputError(
            "reader study",
            f"{readers} {'reader' if readers == 1 else 'readers'} with a value on one side",
            f"at least {FEWEST}",
            "add votes of more readers on items with and without the finding",
        )


def _covariance(influences: Floats) -> Floats:
    """Covariance over units of the values of readers, (readers, readers)."""
    units = influences.shape[1]
    factor = units / (units - 1)
    return np.asarray(factor * influences @ influences.T)

r"""Reader studies against a reference standard, as regulators know them.

Readers and cases are random, the truth is a reference standard. Every reader j has a value
:math:`\theta_{ij}` in every arm i that the reader took part in (aided, unaided), with the
influence of every case on it. The model is Obuchowski and Rockette's, the degrees of freedom
are Hillis'.

*Paired readers* read in both arms. With :math:`d_j = \theta_{1j} - \theta_{2j}` and C the mean
covariance over cases of the differences of two readers (which is :math:`2 (\mathrm{Cov}_2 -
\mathrm{Cov}_3)`),

.. math:: \mathrm{Var}(\bar d) = \frac{1}{r} \big[ S^2_d + r \max(C, 0) \big], \qquad
    \nu = (r - 1) \frac{[S^2_d + r \max(C, 0)]^2}{S_d^4}

*A standalone model* is read by nobody: :math:`d_j = \theta_j - \theta_0`, and the same formula
is the analysis of one treatment (Hillis, Berbaum and Metz 2008; Chakraborty 2017).

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
>>> against_readers(0.95, influences[0, 0], values[0], influences[0]).readers
5
"""

import math
from typing import NamedTuple

import numpy as np

from equipoise.types import Floats, InputError

FEWEST = 2


class ReaderContrast(NamedTuple):
    """A difference for readers and cases like these.

    Attributes
    ----------
    value, standard_error, df
        The difference, its standard error and degrees of freedom.
    readers
        How many readers it rests on.
    paired
        Whether the same readers are on both sides.
    """

    value: float
    standard_error: float
    df: float
    readers: int
    paired: bool

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper end."""
        from scipy.special import stdtrit

        if not self.standard_error > 0:
            return self.value, self.value
        half = float(stdtrit(self.df, 0.5 + level / 2)) * self.standard_error
        return self.value - half, self.value + half

    @property
    def p(self) -> float:
        """Two-sided probability of a difference as large under equality."""
        from scipy.special import stdtr

        if not self.standard_error > 0:
            return 1.0 if self.value == 0 else 0.0
        return float(2 * stdtr(self.df, -abs(self.value) / self.standard_error))


def against_readers(
    model: float, model_influence: Floats, values: Floats, influences: Floats
) -> ReaderContrast:
    """A standalone model minus the mean reader.

    Parameters
    ----------
    model, model_influence
        Value of the model, and the influence of every unit on it, (units,).
    values, influences
        The same of every reader, (readers,) and (readers, units).
    """
    _refuse_too_few(len(values))
    return _paired(model - values, model_influence - influences)


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
        return _paired(
            values[0, both] - values[1, both], influences[0, both] - influences[1, both]
        )
    sides = []
    for arm in range(2):
        alone = read[arm] & ~both
        for few in (read[arm], alone):
            _refuse_too_few(int(few.sum()))
        sides.append((values[arm, alone], influences[arm, alone]))
    return _split(sides)


def _refuse_too_few(readers: int) -> None:
    """Raise where readers like these cannot be told from these."""
    if readers < FEWEST:
        raise InputError(
            "reader study",
            f"{readers} {'reader' if readers == 1 else 'readers'} with a value on one side",
            f"at least {FEWEST}",
            "add votes of more readers on items with and without the finding",
        )


def _paired(gaps: Floats, influences: Floats) -> ReaderContrast:
    """Mean of differences that readers have in common with themselves."""
    readers = len(gaps)
    spread = float(gaps.var(ddof=1))
    shared = readers * max(_mean_covariance(influences, influences, apart=True), 0.0)
    whole = spread + shared
    df = (readers - 1) * whole**2 / spread**2 if spread > 0 else math.inf
    return ReaderContrast(
        float(gaps.mean()), math.sqrt(whole / readers), df, readers, paired=True
    )


def _split(sides: list[tuple[Floats, Floats]]) -> ReaderContrast:
    """Difference of the means of two sets of readers."""
    parts = [float(values.var(ddof=1)) / len(values) for values, _ in sides]
    (first, moved), (second, other) = sides
    shared = (
        _mean_covariance(moved, moved, apart=True)
        + _mean_covariance(other, other, apart=True)
        - 2 * _mean_covariance(moved, other, apart=False)
    )
    whole = sum(parts) + max(shared, 0.0)
    below = sum(
        part**2 / (len(values) - 1) for part, (values, _) in zip(parts, sides, strict=True)
    )
    df = whole**2 / below if below > 0 else math.inf
    gap = float(first.mean() - second.mean())
    return ReaderContrast(gap, math.sqrt(whole), df, len(first) + len(second), paired=False)


def _mean_covariance(first: Floats, second: Floats, *, apart: bool) -> float:
    """Mean over pairs of readers; `apart` leaves out a reader with itself."""
    units = first.shape[1]
    factor = units / (units - 1)
    covariance = factor * float(first.sum(axis=0) @ second.sum(axis=0))
    if not apart:
        return float(covariance / (len(first) * len(second)))
    same = factor * float((first * second).sum())
    return float((covariance - same) / (len(first) * (len(first) - 1)))

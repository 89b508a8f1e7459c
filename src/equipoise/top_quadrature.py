r"""Top quadrature: the exact chance that a component of a Dirichlet is the largest.

With independent gamma variables of shapes :math:`\alpha_j`

.. math:: P(\text{top} = k) = \int_0^\infty f_{\alpha_k}(x) \prod_{j \ne k} F_{\alpha_j}(x)\,dx

taken by the trapezoidal rule in log x, which converges exponentially for these integrands.
Items with the same shapes have the same answer, so each pattern of shapes is taken once, and
the distribution functions of a few hundred shapes are in memory at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from equipoise.arrays import Floats, Ints

TAIL = 40.0  # e^-40 is what the integrals leave out at either end
PATTERNS = 256  # taken at a time, so that memory does not grow with the number of shapes


def dirichlet_top(
    concentration: Floats, rest: Floats, start: Ints, others: Ints
) -> tuple[Floats, Floats]:
    """Chance of each entry, and of any of an item's other classes, to be the largest.

    Parameters
    ----------
    concentration, start
        Shapes of the mentioned classes of item i: ``concentration[start[i]:start[i + 1]]``.
    rest, others
        Concentration of all other classes of an item together, and how many they are.
    """
    each = np.divide(rest, others, out=np.zeros(len(rest)), where=others > 0)
    chance, spare = np.zeros(len(concentration)), np.zeros(len(rest))
    sizes = np.diff(start)
    for size in np.unique(sizes):
        items = np.flatnonzero(sizes == size)
        entry = start[items][:, None] + np.arange(size)
        shape = concentration[entry]
        order = np.argsort(shape, axis=1)
        sorted_ = np.take_along_axis(shape, order, axis=1)
        pattern = np.column_stack([sorted_, each[items], others[items]])
        kinds, kind = np.unique(pattern, axis=0, return_inverse=True)
        values, left = _of_patterns(kinds)
        kind = kind.ravel()
        chance[np.take_along_axis(entry, order, axis=1)] = values[kind]
        spare[items] = left[kind]
    return chance, spare


def _of_patterns(kinds: Floats) -> tuple[Floats, Floats]:
    """Chances for patterns (patterns, mentioned + 2): shapes, shape of others, their number."""
    parts = [_some(kinds[first : first + PATTERNS]) for first in range(0, len(kinds), PATTERNS)]
    return np.concatenate([v for v, _ in parts]), np.concatenate([s for _, s in parts])


def _some(kinds: Floats) -> tuple[Floats, Floats]:
    shapes, code = np.unique(kinds[:, :-1], return_inverse=True)
    code = code.reshape(len(kinds), -1)
    least = float((kinds[:, :-2].sum(axis=1) + kinds[:, -2] * kinds[:, -1]).min())
    table = _Table.of(shapes, least)
    values = np.zeros((len(kinds), kinds.shape[1] - 2))
    spare = np.zeros(len(kinds))
    for number, (own, other, many) in enumerate(_rows(kinds, code)):
        log_all = table.log_cdf[own].sum(axis=0)
        if many and shapes[other] > 0:
            log_all = log_all + many * table.log_cdf[other]
            spare[number] = many * table.integrals(np.array([other]), log_all)[0]
        values[number] = table.integrals(own, log_all)
    return values, spare


def _rows(kinds: Floats, code: Ints) -> Iterator[tuple[Ints, int, int]]:
    """Codes of the mentioned shapes, of the others' shape, and how many others there are."""
    for row, many in zip(code, kinds[:, -1], strict=True):
        yield row[:-1], int(row[-1]), int(many)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Gamma distribution functions of some shapes on one grid of log x."""

    log_cdf: Floats
    log_density: Floats
    step: float

    @classmethod
    def of(cls, shapes: Floats, least: float) -> "_Table":
        """Lay out the grid; `least` is the smallest sum of shapes of any item."""
        from scipy.special import gammainc, gammaln, xlogy

        largest = max(float(shapes.max()), 1.0)
        step = min(0.05, 0.25 / np.sqrt(largest))
        top = np.log(largest + 12 * np.sqrt(largest) + TAIL)
        t = np.arange(-TAIL / max(least, 1e-3), top, step)
        x, shape = np.exp(t), np.maximum(shapes, 1e-300)[:, None]
        cdf = gammainc(shape, x)
        tiny = xlogy(shape, x) - gammaln(shape + 1)  # what the logarithm tends to at 0
        log_cdf = np.where(cdf > 1e-250, np.log(np.maximum(cdf, 1e-300)), tiny)
        log_cdf[shapes <= 0] = 0.0
        log_density = xlogy(shape, x) - x - gammaln(shape)
        return cls(log_cdf, log_density, step)

    def integrals(self, shapes: Ints, log_all: Floats) -> Floats:
        """Integral of the density of each shape times the other distribution functions."""
        integrand = np.exp(self.log_density[shapes] - self.log_cdf[shapes] + log_all)
        return np.asarray(integrand.sum(axis=1) * self.step)

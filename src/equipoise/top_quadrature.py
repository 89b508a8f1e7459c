r"""Top quadrature: the exact chance that a component of a Dirichlet is the largest.

With independent gamma variables of shapes :math:`\alpha_j`

.. math:: P(\text{top} = k) = \int_0^\infty f_{\alpha_k}(x) \prod_{j \ne k} F_{\alpha_j}(x)\,dx

taken by the trapezoidal rule in t = log x, which converges exponentially for these integrands.
The grid spans where the variable of the largest shape can be; where that reaches down to
:math:`t_0 = -40` every F is :math:`x^\alpha / \Gamma(\alpha + 1)` and the rest of the integral
is known in closed form, so shapes may be as small as 1e-9 and as large as 1e9. Items with the
same shapes have the same answer: each pattern of shapes is taken once, patterns of like size
together, with the distribution functions of a few hundred shapes in memory at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from equipoise.arrays import Floats, Ints

LOW = -40.0  # of log x: below, distribution functions are powers
REACH = 9.5  # standard deviations that the grid spans to either side
PATTERNS = 256  # taken at a time, so that memory does not grow with the number of shapes
ALIKE = 1.2  # ratio of the largest shapes of patterns taken together


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
    values, spare = np.zeros((len(kinds), kinds.shape[1] - 2)), np.zeros(len(kinds))
    largest = kinds[:, :-1].max(axis=1)
    for rows in _alike(largest):
        values[rows], spare[rows] = _some(kinds[rows], largest[rows])
    total = values.sum(axis=1) + spare  # 1 but for rounding: 1e-11, or 2e-7 at shapes of 1e8
    return values / total[:, None], spare / total


def _alike(largest: Floats) -> Iterator[Ints]:
    """Rows whose largest shapes are alike, some hundreds at a time."""
    order = np.argsort(largest, kind="stable")
    first = 0
    while first < len(order):
        limit = max(ALIKE * largest[order[first]], largest[order[first]] + 10)
        stop = int(np.searchsorted(largest[order], limit, side="right"))
        stop = min(max(stop, first + 1), first + PATTERNS)
        yield order[first:stop]
        first = stop


def _some(kinds: Floats, largest: Floats) -> tuple[Floats, Floats]:
    shapes, code = np.unique(kinds[:, :-1], return_inverse=True)
    code = code.reshape(len(kinds), -1)
    table = _Table.of(shapes, float(largest.min()), float(largest.max()))
    values, spare = np.zeros((len(kinds), kinds.shape[1] - 2)), np.zeros(len(kinds))
    for number, (row, many) in enumerate(zip(code, kinds[:, -1].astype(int), strict=True)):
        own, other = row[:-1], row[-1]
        log_all = table.log_cdf[own].sum(axis=0)
        total = float(shapes[own].sum())
        if many and shapes[other] > 0:
            log_all = log_all + many * table.log_cdf[other]
            total += many * float(shapes[other])
            spare[number] = many * table.integrals(np.array([other]), log_all, total)[0]
        values[number] = table.integrals(own, log_all, total)
    return values, spare


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Gamma distribution functions of some shapes on one grid of t = log x."""

    log_cdf: Floats
    log_density: Floats
    step: float
    whole: bool

    @classmethod
    def of(cls, shapes: Floats, least: float, most: float) -> "_Table":
        """Lay out the grid for patterns whose largest shapes lie between least and most."""
        from scipy.special import gammainc, gammaln

        step = min(0.05, 0.25 / np.sqrt(max(most, 1.0)))
        root = 1 - 1 / (9 * least) - REACH / (3 * np.sqrt(least))
        low = np.log(least * root**3) if root > 0.05 else LOW
        low = max(LOW, float(low))
        top = np.log(most + 1.5 * REACH * np.sqrt(max(most, 1.0)) - LOW)
        t = low + step * np.arange(int(np.ceil((top - low) / step)) + 1)
        x, shape = np.exp(t), np.maximum(shapes, 1e-300)[:, None]
        cdf = gammainc(shape, x)
        # where the distribution function underflows: its series, summed as if geometric
        ratio = np.minimum(x / (shape + 1), 1 - 1e-9)
        tiny = shape * t - x - gammaln(shape + 1) - np.log1p(-ratio)
        log_cdf = np.where(cdf > 1e-250, np.log(np.maximum(cdf, 1e-300)), tiny)
        log_cdf[shapes <= 0] = 0.0
        return cls(log_cdf, shape * t - x - gammaln(shape), step, low <= LOW)

    def integrals(self, shapes: Ints, log_all: Floats, total: float) -> Floats:
        """Integral of the density of each shape times the other distribution functions.

        ``total`` is the sum of all shapes of the item: below the grid the integrand is
        exp(total t) times a constant, if the grid begins at `LOW`.
        """
        integrand = np.exp(self.log_density[shapes] - self.log_cdf[shapes] + log_all)
        first = integrand[:, 0]
        found = (integrand.sum(axis=1) - first / 2) * self.step
        if self.whole:
            found += first / total + first * total * self.step**2 / 12
        return np.asarray(found)

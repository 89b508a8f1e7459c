"""Sums: sparse contributions of units, annotators and cells to many numbers at once."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from equipoise.inference import Design, Population, TwoWay, two_way
from equipoise.types import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Sums(NamedTuple):
    """Sparse sums of influence on many numbers, and what their design allows.

    Attributes
    ----------
    units
        By unit, shape (numbers, units).
    people, cells
        By annotator, and by cell of annotator and unit; None where numbers do not speak for
        other annotators.
    design, population
        How much the design tells, and whom the numbers speak for.
    """

    units: "csr_matrix"
    people: "csr_matrix | None"
    cells: "csr_matrix | None"
    design: Design
    population: Population

    @property
    def variance(self) -> Floats:
        """Unbiased variance of every number, shape (numbers,)."""
        items = self.design.unit_factor * _squares(self.units)
        if self.people is None or self.cells is None:
            return items
        factor = self.design.annotator_factor
        return items + factor * (_squares(self.people) - _squares(self.cells))

    @property
    def df_annotators(self) -> float:
        """Degrees of freedom of annotators; 0 where numbers do not speak for others."""
        return self.design.df_annotators if self.population.annotators else 0.0

    def covariances(self, values: Floats, rows: slice = slice(None)) -> TwoWay:
        """Everything about some of the numbers, with all their covariances."""
        votes = None
        if self.people is not None and self.cells is not None:
            people, cells = self.people[rows], self.cells[rows]
            votes = (people @ people.T).toarray(), (cells @ cells.T).toarray()
        return two_way(
            values,
            self.units[rows].toarray(),
            None,
            design=self.design,
            population=self.population,
            votes=votes,
        )

    def spectrum(self, root: Floats, direction: Floats) -> tuple[Floats, Floats, Floats]:
        """Covariance of the numbers times `root`, positive part, on its principal axes.

        Returns the variances along these axes, the shares of `direction` that they scatter, and
        the variance that items and annotators cause together, shape (2,). The smaller of the
        covariance of numbers and of that of units and annotators is taken apart.
        """
        from scipy.sparse import csr_matrix, diags, hstack

        scaled = diags(root) @ self.units * np.sqrt(self.design.unit_factor)
        causes = [float(scaled.multiply(scaled).sum()), 0.0]
        if self.people is not None and self.cells is not None:
            people = _positive(diags(root) @ self.people, diags(root) @ self.cells)
            people *= np.sqrt(self.design.annotator_factor)
            causes[1] = float((people**2).sum())
            scaled = hstack([scaled, csr_matrix(people)]).tocsr()
        if scaled.shape[0] <= scaled.shape[1]:
            size, axes = np.linalg.eigh((scaled @ scaled.T).toarray())
            along = np.sqrt(np.maximum(size, 0.0)) * (direction @ axes)
        else:
            size, axes = np.linalg.eigh((scaled.T @ scaled).toarray())
            along = (scaled.T @ direction) @ axes
        return np.maximum(size, 0.0), along, np.array(causes)


def _positive(people: "csr_matrix", cells: "csr_matrix") -> Floats:
    """B of which B B' is the positive part of what annotators cause beyond their cells."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    number = people.shape[0]

    def covariance(x: Floats) -> Floats:
        return np.asarray(people @ (people.T @ x) - cells @ (cells.T @ x))

    operator = LinearOperator((number, number), matvec=covariance, dtype=np.float64)
    most = min(people.shape[1], number - 1)  # no more directions are positive
    size, direction = eigsh(operator, k=most, which="LA", v0=np.ones(number))
    return np.asarray(direction * np.sqrt(np.maximum(size, 0.0)))


def _squares(rows: "csr_matrix") -> Floats:
    return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()


def indicator(code: Ints) -> "csr_matrix":
    """Which group everything is in, shape (things, groups)."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(code))
    return csr_matrix((ones, code, np.arange(len(code) + 1)), (len(code), 1 + code.max()))

"""Interval alpha of ratings that were streamed: number, mean and squares per item suffice.

`equipoise.io.stream_ratings` sums a file larger than memory in one pass; the alpha of its sums
is that of the whole file. Streamed votes are annotations with counts: `krippendorff_alpha`
takes them as they are.

Examples
--------
>>> from types import SimpleNamespace as Sums
>>> each = Sums(number=np.array([2.0, 2.0]), mean=np.array([1.0, 4.0]),
...     squares=np.array([0.5, 0.0]))
>>> krippendorff_alpha_of_moments(Sums(items=("a", "b"), ratings=each)).value
0.921
"""

from typing import Protocol

import numpy as np

from equipoise.agreement._alpha_of_moments import of_moments
from equipoise.agreement._units import estimated
from equipoise.arrays import Floats, InputError
from equipoise.estimate import Estimate
from equipoise.resampling import Resampling


class Sums(Protocol):
    """Number, mean and squares around it of each item's ratings, shape (items,)."""

    @property
    def number(self) -> Floats:
        """How many."""

    @property
    def mean(self) -> Floats:
        """Their mean."""

    @property
    def squares(self) -> Floats:
        """Sum of squares around it."""


class NamedSums(Protocol):
    """What `equipoise.io.stream_ratings` returns."""

    @property
    def items(self) -> tuple[str, ...]:
        """Names."""

    @property
    def ratings(self) -> Sums:
        """Their sums."""


def krippendorff_alpha_of_moments(
    moments: NamedSums, *, replicates: int = 1000, seed: int = 0
) -> Estimate:
    """Interval alpha of summed ratings, with replicates over items.

    Parameters
    ----------
    moments
        What `equipoise.io.stream_ratings` returns. Weights would be parts of ratings there,
        and are refused.
    replicates, seed
        How many resamples of items, and from which seed.
    """
    own = moments.ratings
    odd = np.flatnonzero(np.abs(own.number - np.round(own.number)) > 1e-9)
    if len(odd):
        raise InputError(
            f"krippendorff_alpha_of_moments, item {moments.items[odd[0]]!r}",
            f"{own.number[odd[0]]:g} ratings", "whole ratings",
            "leave the column of weights out: a rating is an opinion or it is not",
        )  # fmt: skip
    plan = Resampling(kind="items", items=moments.items, replicates=replicates, seed=seed)
    item = np.flatnonzero(own.number >= 2)
    if not len(item):
        undefined = np.full(replicates, np.nan)
        return Estimate(float("nan"), undefined, plan.fingerprint, (-1.0, 1.0))
    compute = of_moments(own.number[item], own.mean[item], own.squares[item])
    return estimated(item, plan, compute)

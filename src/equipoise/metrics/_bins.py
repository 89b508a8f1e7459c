"""Bins: predicted probabilities sorted into bins, and what was said of the items in each.

What is binned depends on `which`: for ``top`` the largest probability of each item, against the
label mass of that class; for ``classwise`` every class in turn. Two classes have one thing to
bin, the probability of the second. Bins are equally wide on [0, 1], or hold equally many items
(``mass``; equal probabilities stay together, so there may be fewer). They are made once, from
the predictions alone, and stay as they are in every replicate.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats, InputError, Ints, PerReplicate, choice
from equipoise.metrics._decisions import decide
from equipoise.metrics._metric import Block, Prepared, parameters

WHICH = ("top", "classwise")
BINNING = ("width", "mass")
MOST_BINS = 10_000
DEFAULTS = {"bins": 15, "binning": "width", "which": "top"}


class Binned(NamedTuple):
    """Predictions in bins; all arrays (items, columns), a column per thing binned.

    Attributes
    ----------
    code
        Which bin.
    probability
        What was predicted.
    label
        The class it was predicted for.
    bins
        Number of bins.
    """

    code: Ints
    probability: Floats
    label: Ints
    bins: int


class Binning(NamedTuple):
    """How probabilities are binned."""

    bins: int
    binning: str
    which: str

    def checked(self, name: str) -> "Binning":
        """Refuse what cannot be."""
        choice(f"{name}, binning", self.binning, BINNING)
        choice(f"{name}, which", self.which, WHICH)
        whole = isinstance(self.bins, int) and not isinstance(self.bins, bool)
        if not (whole and 1 <= self.bins <= MOST_BINS):
            raise InputError(
                f"{name}, bins",
                f"{self.bins}",
                f"a whole number from 1 to {MOST_BINS:,}",
                "15 is usual",
            )
        return self

    def named(self, name: str) -> str:
        """Name of a metric with this binning."""
        return parameters(name, DEFAULTS, self._asdict())

    @property
    def words(self) -> str:
        """How the bins are made, as words for the page."""
        kind = "equally wide" if self.binning == "width" else "equally full"
        what = "the largest probability" if self.which == "top" else "each class in turn"
        return f"{self.bins} {kind} bins; with more than two classes, {what}"

    def prepare(self) -> Callable[[Floats], Binned]:
        """Return the `prepare` of a metric."""
        return partial(binned, how=self)


def binned(probabilities: Floats, how: Binning) -> Binned:
    """Bin predicted distributions (items, classes)."""
    items, classes = probabilities.shape
    label: Ints
    if classes == 2:
        label = np.ones((items, 1), dtype=np.intp)
    elif how.which == "top":
        label = decide(probabilities)[:, None]
    else:
        label = np.tile(np.arange(classes), (items, 1))
    value = np.take_along_axis(probabilities, label, axis=1)
    code = np.stack([_codes(column, how) for column in value.T], axis=1)
    return Binned(code, value, label, how.bins)


def _codes(value: Floats, how: Binning) -> Ints:
    """Bin of each probability; a bin is open on the left, as (0.2, 0.4], the first closed."""
    if how.binning == "width":
        code = np.ceil(value * how.bins - 1e-9).astype(np.intp) - 1
        return np.asarray(np.clip(code, 0, how.bins - 1))
    order = np.sort(value)
    last = np.ceil(np.arange(1, how.bins) * len(value) / how.bins).astype(np.intp) - 1
    return np.asarray(np.searchsorted(np.unique(order[last]), value, side="left"))


def bin_sums(prepared: Prepared, block: Block) -> Floats:
    """Items, probability and label mass of each bin: (columns, 3, bins, replicates)."""
    from scipy.sparse import csr_matrix

    found: Binned = prepared
    counts = block.counts.astype(np.float64)
    labels = np.stack([truth.positive for truth in block.classes])
    rows = np.arange(len(counts))
    out = np.empty((found.code.shape[1], 3, found.bins, counts.shape[1]))
    for column, sums in enumerate(out):
        shape = (found.bins, len(counts))
        member = csr_matrix((np.ones(len(rows)), (found.code[:, column], rows)), shape)
        mass = labels[found.label[:, column], rows]
        mass = mass[:, None] if mass.ndim == 1 else mass
        sums[0] = member @ counts
        sums[1] = member @ (found.probability[:, column, None] * counts)
        sums[2] = member @ (mass * counts)
    return out


def gap_finish(reduce_bins: Callable[[Floats, Floats], Floats]) -> Callable[..., PerReplicate]:
    """Turn sums into values: ``reduce_bins(gap, number)`` over bins, then mean over columns.

    ``gap`` is label mass less probability, ``number`` the items, both (columns, bins,
    replicates).
    """

    def finish(sums: Floats) -> PerReplicate:
        number = sums[:, 0]
        values = reduce_bins(np.abs(sums[:, 2] - sums[:, 1]), number).mean(axis=0)
        return np.where(number.sum(axis=(0, 1)) > 0, values, np.nan)

    return finish

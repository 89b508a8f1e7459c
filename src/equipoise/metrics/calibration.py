r"""Calibration: predicted probabilities in bins, and what was said of the items in each.

In each bin b the mean prediction :math:`\overline{p}_b` is compared with the mean label
:math:`\overline{\pi}_b`: the share of positives with hard labels, the mean vote with soft ones.

`expected_calibration_error`: how far predicted probabilities are from what was said. It is
above 0 even for a calibrated model, because bins are off by chance; `equipoise.study.analyses.
calibration` takes that off, with an interval that can hold 0,

.. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n} \,\bigl|\,\overline{\pi}_b - \overline{p}_b\bigr|

`maximum_calibration_error`: the bin in which predictions are furthest from what was said, over
bins that hold an item. One item alone in a bin decides it: look at the reliability diagram
beside it, take bins that are equally full, or leave out bins of fewer than ``min_items`` items;
where none is left it is undefined,

.. math:: \mathrm{MCE} = \max_b \,\bigl|\,\overline{\pi}_b - \overline{p}_b\bigr|

`reliability_curve`: what was predicted against what was said, bin by bin. A calibrated model
lies on the diagonal: of the items given 0.7, seven votes in ten are for the class,

.. math:: \Bigl(\overline{p}_b,\ \overline{\pi}_b\Bigr) \text{ for every bin } b
    \text{ that holds items}

What is binned depends on ``which``: for ``top`` the largest probability of each item, against
the label mass of that class, or the mean of those that are tied for it; for ``classwise`` every
class in turn (errors are averaged over classes, the curve pools them). Two classes have one
thing to bin, the probability of the second; where bins of the first would put other items
together (a probability on an edge of two bins, or equally full bins), errors are the mean of
both, so that it does not matter which class is the second. There are ``bins`` of them, equally
wide on [0, 1] (``binning="width"``) or holding equally many items (``mass``; equal
probabilities stay together, so there may be fewer). They are made once, from the predictions
alone, and stay as they are in every replicate.

All take class codes or label distributions (items, classes), for two classes also one number in
[0, 1] per item, and predicted distributions (items, classes), or of the second of two classes
(items,).

References
----------
Naeini, Cooper and Hauskrecht (2015), *Obtaining well calibrated probabilities using Bayesian
binning*. Guo et al. (2017), *On calibration of modern neural networks*.

Examples
--------
>>> labels, model = [1, 0, 0.5, 1], [0.9, 0.1, 0.5, 0.5]
>>> expected_calibration_error(labels, model, bins=10)
0.175
>>> maximum_calibration_error(labels, model, bins=10)
0.25
>>> reliability_curve(labels, model, bins=2)
Reliability(predicted=array([0.367, 0.9  ]), observed=array([0.5, 1. ]), items=array([3., 1.]))
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from equipoise.metrics._metric import Block, Metric, Prepared, Topic, fixed_block, parameters
from equipoise.metrics.decisions import decide
from equipoise.metrics.distributions import (
    checked_distributions,
    expected_loss,
    of_probabilities,
)
from equipoise.types import Bools, Floats, Ints, PerReplicate, choice, ratio, require_whole

_WHICH = ("top", "classwise")
_BINNING = ("width", "mass")
_MOST_BINS = 10_000
_DEFAULTS = {"bins": 15, "binning": "width", "which": "top", "min_items": 1}


@of_probabilities()
def expected_calibration_error(
    *, bins: int = 15, binning: str = "width", which: str = "top"
) -> Metric:
    """Mean gap between predictions and labels over bins; lower is better."""
    how = Binning(bins, binning, which)
    text = f"Mean distance between predicted probability and label over {how.words}."
    return _gap_metric("expected_calibration_error", "ECE", text, how, _mean_gap)


def _mean_gap(gap: Floats, number: Floats) -> Floats:
    return ratio(gap.sum(axis=1), number.sum(axis=1), 0.0)


@of_probabilities()
def maximum_calibration_error(
    *, bins: int = 15, binning: str = "width", which: str = "top", min_items: int = 1
) -> Metric:
    """Largest gap between predictions and labels over bins; lower is better."""
    how = Binning(bins, binning, which, min_items)
    few = f", of bins with at least {min_items} items" if min_items > 1 else ""
    text = f"Largest distance between predicted probability and label in {how.words}{few}."
    return _gap_metric("maximum_calibration_error", "MCE", text, how, _largest_gap)


def _largest_gap(gap: Floats, number: Floats) -> Floats:
    return np.asarray(ratio(gap, number, 0.0).max(axis=1))


class Reliability(NamedTuple):
    """Bins that hold items: mean prediction, mean label and number of items, (bins,) each."""

    predicted: Floats
    observed: Floats
    items: Floats


def reliability_curve(
    y_true: Any,
    probabilities: Any,
    *,
    bins: int = 15,
    binning: str = "width",
    which: str = "top",
) -> Reliability:
    """Mean prediction and mean label of every bin that holds items."""
    how = Binning(bins, binning, which).checked("reliability_curve")
    labels, predicted = checked_distributions(y_true, probabilities)
    sums = _bin_sums(_binned(predicted, how), fixed_block(labels))
    number, chance, mass = (sums[-1] if labels.shape[1] == 2 else sums.sum(axis=0))[..., 0]
    full = number > 0
    return Reliability(chance[full] / number[full], mass[full] / number[full], number[full])


def _gap_metric(
    name: str,
    title: str,
    definition: str,
    how: "Binning",
    reduce_bins: Callable[[Floats, Floats], Floats],
) -> Metric:
    """A metric of gaps: ``reduce_bins(gap, number)`` over bins, then the mean over columns.

    ``gap`` is label mass less probability, ``number`` the items, both (columns, bins,
    replicates).
    """
    how.checked(name)

    def finish(sums: Floats) -> PerReplicate:
        number = sums[:, 0]
        values = reduce_bins(np.abs(sums[:, 2] - sums[:, 1]), number).mean(axis=0)
        return np.where(number.sum(axis=(0, 1)) > 0, values, np.nan)

    return Metric(
        name=parameters(name, _DEFAULTS, how._asdict()),
        title=title,
        soft_title=f"soft {title}",
        definition=definition,
        family=f"bins {how}",
        prepare=partial(_binned, how=how),
        reduce=_bin_sums,
        finish=finish,
        better="lower",
        needs="probabilities",
        labels="distribution",
        topic=Topic.CALIBRATION,
        references=("guo2017",),
    )


class _Binned(NamedTuple):
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
    shares
        For the largest probability, how tied classes share the item, (items, classes).
    counted
        Whether the bin of each holds items enough to count; None where all do.
    """

    code: Ints
    probability: Floats
    label: Ints
    bins: int
    shares: Floats | None = None
    counted: Bools | None = None

    def mass(self, labels: Floats, column: int) -> Floats:
        """Label mass of what was predicted, (items, ...), of labels (classes, items, ...)."""
        mass = labels[self.label[:, column], np.arange(len(self.label))]
        if self.shares is not None:
            rows = np.flatnonzero(self.shares.max(axis=1) < 1)
            mass[rows] = expected_loss(labels[:, rows], self.shares[rows])
        return mass


class Binning(NamedTuple):
    """How probabilities are binned."""

    bins: int
    binning: str
    which: str
    min_items: int = 1

    def checked(self, name: str) -> "Binning":
        """Refuse what cannot be."""
        require_whole(f"{name}, min_items", self.min_items, least=1, do="10 is usual")
        choice(f"{name}, binning", self.binning, _BINNING)
        choice(f"{name}, which", self.which, _WHICH)
        require_whole(f"{name}, bins", self.bins, least=1, most=_MOST_BINS, do="15 is usual")
        return self

    @property
    def words(self) -> str:
        """How the bins are made, as words for the page."""
        kind = "equally wide" if self.binning == "width" else "equally full"
        what = "the largest probability" if self.which == "top" else "each class in turn"
        return f"{self.bins} {kind} bins; with more than two classes, {what}"


def _binned(probabilities: Floats, how: Binning) -> _Binned:
    """Bin predicted distributions (items, classes)."""
    items, classes = probabilities.shape
    label: Ints = np.tile(np.arange(classes), (items, 1))
    shares = None
    if classes > 2 and how.which == "top":
        shares = decide(probabilities)
        label = shares.argmax(axis=1)[:, None]
    value = np.take_along_axis(probabilities, label, axis=1)
    code = np.stack([_codes(column, how) for column in value.T], axis=1)
    if classes == 2 and _mirrored(*code.T):
        code, value, label = code[:, 1:], value[:, 1:], label[:, 1:]
    counted = None
    if how.min_items > 1:
        sizes = np.stack(
            [np.bincount(codes, minlength=how.bins)[codes] for codes in code.T], axis=1
        )
        counted = sizes >= how.min_items
    return _Binned(code, value, label, how.bins, shares, counted)


def _mirrored(first: Ints, second: Ints) -> bool:
    """Whether two ways to bin the same items put the same items together."""
    pairs = np.unique(np.stack([first, second]), axis=1)
    return all(len(np.unique(side)) == pairs.shape[1] for side in pairs)


def _codes(value: Floats, how: Binning) -> Ints:
    """Bin of each probability; a bin is open on the left, as (0.2, 0.4], the first closed."""
    if how.binning == "width":
        code = np.ceil(value * how.bins - 1e-9).astype(np.intp) - 1
        return np.asarray(np.clip(code, 0, how.bins - 1))
    order = np.sort(value)
    last = np.ceil(np.arange(1, how.bins) * len(value) / how.bins).astype(np.intp) - 1
    return np.searchsorted(np.unique(order[last]), value, side="left")


def _bin_sums(prepared: Prepared, block: Block) -> Floats:
    """Items, probability and label mass of each bin: (columns, 3, bins, replicates)."""
    from scipy.sparse import csr_matrix

    binned: _Binned = prepared
    counts = block.counts.astype(np.float64)
    labels = np.stack([truth.positive for truth in block.classes])
    rows = np.arange(len(counts))
    out = np.empty((binned.code.shape[1], 3, binned.bins, counts.shape[1]))
    for column, sums in enumerate(out):
        shape = (binned.bins, len(counts))
        use = np.ones(len(rows)) if binned.counted is None else binned.counted[:, column] * 1.0
        member = csr_matrix((use, (binned.code[:, column], rows)), shape)
        mass = binned.mass(labels, column)
        mass = mass[:, None] if mass.ndim == 1 else mass
        sums[0] = member @ counts
        sums[1] = member @ (binned.probability[:, column, None] * counts)
        sums[2] = member @ (mass * counts)
    return out

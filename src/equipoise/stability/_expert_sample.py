"""Which items to send to experts: the same number from every stratum of probability.

Items are ordered by probability, items of equal probability at random, and cut into bins of as
equal size as possible (quantiles); from every bin the same number is drawn without replacement,
or all items of a bin that has fewer.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.arrays import (
    Floats,
    InputError,
    Ints,
    PerItem,
    frozen,
    require_finite,
    require_unique,
)

COLUMNS = ("item", "bin", "probability")


@dataclass(frozen=True, slots=True, eq=False)
class ExpertSample:
    """Items for experts, bin by bin.

    Attributes
    ----------
    items, bin, probability
        Names, bins counted from 0 (lowest probabilities) and probabilities of the sample.
    bin_mean, bin_size
        Mean probability and number of all items of each bin, sampled or not.
    """

    items: tuple[str, ...]
    bin: Ints
    probability: PerItem
    bin_mean: Floats
    bin_size: Ints

    def __post_init__(self) -> None:
        for name in ("bin", "probability", "bin_mean", "bin_size"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def rows(self) -> list[dict[str, Any]]:
        """One line per item."""
        columns = zip(self.items, self.bin, self.probability, strict=True)
        return [dict(zip(COLUMNS, (i, int(b), float(p)), strict=True)) for i, b, p in columns]

    @property
    def finding(self) -> str:
        """What the sample is, as a sentence."""
        return (
            f"{len(self.items):,} of {int(self.bin_size.sum()):,} items go to the experts, "
            f"from {len(self.bin_size)} bins of probability between {self.bin_mean[0]:.3g} and "
            f"{self.bin_mean[-1]:.3g} on average."
        )

    def write(self, path: Path) -> None:
        """Write the items as a CSV to annotate."""
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            lines.writeheader()
            lines.writerows(self.rows())


def sampling_plan(
    probabilities: Any, items: Sequence[str], bins: int = 20, per_bin: int = 20, seed: int = 0
) -> ExpertSample:
    """Draw a quantile-stratified sample of items for experts.

    Examples
    --------
    >>> plan = sampling_plan(np.linspace(0, 1, 12), [f"i{k}" for k in range(12)], 3, 2)
    >>> plan.bin
    array([0, 0, 1, 1, 2, 2])
    >>> plan.bin_mean
    array([0.136, 0.5  , 0.864])
    """
    values = checked_probabilities(probabilities, items)
    if per_bin < 1 or not 1 <= bins <= len(values):
        raise InputError(
            "sampling plan", f"{bins} bins of {per_bin}, {len(values)} items",
            "at least 1 item per bin, and no more bins than items", "choose fewer bins",
        )  # fmt: skip
    random = np.random.default_rng(seed)
    shuffle = random.permutation(len(values))
    parts = np.array_split(shuffle[np.argsort(values[shuffle], kind="stable")], bins)
    drawn = [np.sort(random.permutation(len(one))[:per_bin]) for one in parts]
    chosen = np.concatenate([one[rows] for one, rows in zip(parts, drawn, strict=True)])
    return ExpertSample(
        tuple(items[i] for i in chosen),
        np.repeat(np.arange(bins), [len(one) for one in drawn]),
        values[chosen],
        np.array([values[one].mean() for one in parts]),
        np.array([len(one) for one in parts]),
    )


def checked_probabilities(probabilities: Any, items: Sequence[str]) -> PerItem:
    """One probability per item, refused unless they are that."""
    try:
        values = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "probabilities", "values that are not numbers", "numbers in [0, 1]", "correct them"
        ) from None
    if values.shape != (len(items),) or not len(items):
        raise InputError(
            "probabilities", f"shape {values.shape} for {len(items)} items",
            "one probability per item", "align them",
        )  # fmt: skip
    require_unique(items, where="probabilities, items")
    require_finite(values, where="probabilities", names=items)
    outside = np.flatnonzero((values < 0) | (values > 1))
    if len(outside):
        raise InputError(
            f"probabilities, item {items[outside[0]]!r}", f"{values[outside[0]]:g}",
            "a number in [0, 1]", "give the probability of the positive class",
        )  # fmt: skip
    return values

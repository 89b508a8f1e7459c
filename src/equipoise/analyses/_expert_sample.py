"""Which items to send to experts: the same number from every stratum of probability.

Items are ordered by probability and cut into bins of as equal size as possible (quantiles);
from every bin the same number is drawn without replacement, or all items of a bin that has
fewer. Items of equal probability are ordered by a hash of the seed and their names: at random,
but the same whatever the order of the rows.
"""

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import pairwise
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
    require_whole,
    wrong_type,
)

COLUMNS = ("item", "bin", "probability")
ANSWER = "label"  # the column that experts fill in
TIE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class ExpertSample:
    """Items for experts, bin by bin.

    Attributes
    ----------
    items, bin, probability
        Names, bins counted from 0 (lowest probabilities) and probabilities of the sample.
    bin_mean, bin_size
        Mean probability and number of all items of each bin, sampled or not.
    notices
        What the user should know: bins that are short, and ties across their ends.
    seed
        Where the sample was drawn from.
    """

    items: tuple[str, ...]
    bin: Ints
    probability: PerItem
    bin_mean: Floats
    bin_size: Ints
    notices: tuple[str, ...] = field(default=(), kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("bin", "probability", "bin_mean", "bin_size"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def rows(self) -> list[dict[str, Any]]:
        """One line per item, in the order of the bins; bins are counted from 1 here."""
        columns = zip(self.items, self.bin + 1, self.probability, strict=True)
        return [dict(zip(COLUMNS, (i, int(b), float(p)), strict=True)) for i, b, p in columns]

    def bin_rows(self) -> list[dict[str, Any]]:
        """One line per bin, counted from 1: its items, and those in the sample."""
        drawn = np.bincount(self.bin, minlength=len(self.bin_size))
        columns = zip(self.bin_mean, self.bin_size, drawn, strict=True)
        return [
            {"bin": k, "mean probability": float(m), "items": int(n), "sampled": int(d)}
            for k, (m, n, d) in enumerate(columns, 1)
        ]

    @property
    def finding(self) -> str:
        """What the sample is, as a sentence."""
        bins = len(self.bin_size)
        number = f"{len(self.items):,} of {int(self.bin_size.sum()):,} items go to the experts"
        if bins == 1:
            return f"{number}, drawn from all at random."
        return (
            f"{number}, from {bins} bins of probability between {self.bin_mean[0]:.3g} and "
            f"{self.bin_mean[-1]:.3g} on average."
        )

    def text(self, *, blind: bool = True, task: str | None = None) -> str:
        """Items as comma-separated text, with an empty column for the answer.

        Parameters
        ----------
        blind
            Shuffle the items, so that nothing tells experts what is expected of them; else bin
            and probability of every item are shown, in the order of the bins.
        task
            Name of the question, as a column of its own; none without it.
        """
        rows, names = self.rows(), ("item",) if blind else COLUMNS
        if blind:
            order = np.random.default_rng([self.seed, 1]).permutation(len(rows))
            rows = [rows[k] for k in order]
        asked = {"task": task} if task else {}
        made = StringIO()
        lines = csv.writer(made, lineterminator="\n")
        lines.writerow([*names, *asked, ANSWER])
        lines.writerows([*(row[name] for name in names), *asked.values(), ""] for row in rows)
        return made.getvalue()

    def write(self, path: Path, *, blind: bool = True, overwrite: bool = False) -> None:
        """Write the items as a CSV to annotate, in one step; see `text`."""
        from equipoise.read.files import replaced

        target = Path(path)
        if target.exists() and not overwrite:
            raise InputError(
                f"{target}", "is there already", "a new file",
                "name another file, or allow overwriting (--overwrite)",
            )  # fmt: skip
        with replaced(target) as file:
            file.write(self.text(blind=blind).encode("utf-8"))


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
    require_whole("sampling plan, bins", bins, least=1, do="20 are usual")
    require_whole("sampling plan, per_bin", per_bin, least=1, do="20 are usual")
    require_whole("sampling plan, seed", seed, do="try 0")
    if bins > len(values):
        raise InputError(
            "sampling plan", f"{bins} bins for {len(values)} items",
            "no more bins than items", "choose fewer bins",
        )  # fmt: skip
    random = np.random.default_rng(seed)
    parts = np.array_split(np.lexsort((_lots(items, seed), values)), bins)
    drawn = [np.sort(random.permutation(len(one))[:per_bin]) for one in parts]
    chosen = np.concatenate([one[rows] for one, rows in zip(parts, drawn, strict=True)])
    return ExpertSample(
        tuple(items[i] for i in chosen),
        np.repeat(np.arange(bins), [len(one) for one in drawn]),
        values[chosen],
        np.array([values[one].mean() for one in parts]),
        np.array([len(one) for one in parts]),
        notices=_notices([values[one] for one in parts], per_bin),
        seed=seed,
    )


def _lots(items: Sequence[str], seed: int) -> Ints:
    """A number for every item that depends on its name and the seed alone."""
    digests = (
        hashlib.sha256(f"{seed}/{name}".encode("utf-8", "surrogatepass")).digest()[:8]
        for name in items
    )
    return np.frombuffer(b"".join(digests), dtype="<u8")


def _notices(parts: list[PerItem], per_bin: int) -> tuple[str, ...]:
    """Say which bins are short, and where a cut goes through equal probabilities."""
    said = []
    short = [len(one) for one in parts if len(one) < per_bin]
    if short:
        which = "The bin has" if len(parts) == 1 else f"{len(short)} of {len(parts)} bins have"
        said.append(f"{which} fewer than {per_bin} items; all of theirs are in the sample.")
    pairs = list(pairwise(parts))
    tied = sum(bool(above[0] - below[-1] <= TIE) for below, above in pairs)
    if tied:
        said.append(
            f"{tied} of {len(pairs)} cuts between bins go through items of equal probability; "
            "chance decides which of them lie on which side, and bins of one probability "
            "cannot be told apart by it."
        )
    return tuple(said)


def checked_probabilities(probabilities: Any, items: Sequence[str]) -> PerItem:
    """One probability per item, refused unless they are that."""
    if not isinstance(items, Sequence) or not all(isinstance(one, str) for one in items):
        raise wrong_type("probabilities, items", items, "a list of names", "give their names")
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

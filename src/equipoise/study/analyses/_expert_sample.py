"""Which items to send to experts: the same number from every stratum of probability.

Items are ordered by probability and cut into bins of as equal size as possible (quantiles);
from every bin the same number is drawn without replacement, or all items of a bin that has
fewer. Items of equal probability are ordered by a hash of the seed and their names: at random,
but the same whatever the order of the rows.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    PerItem,
    frozen,
    require_drawn,
    require_finite,
    require_unique,
    require_whole,
    short_repr,
    wrong_type,
)
from equipoise.types.findings import Cell, Column, Finding, Table, columns, rows_of
from equipoise.types.notices import Notice
from equipoise.types.numbers import count, number
from equipoise.types.words import Option, csv_text, hint

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
    notices: tuple[Notice, ...] = field(default=(), kw_only=True)
    seed: int = field(default=0, kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ("bin", "probability", "bin_mean", "bin_size"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def rows(self) -> list[dict[str, Cell]]:
        """One line per item, in the order of the bins; bins are counted from 1 here."""
        known = {"bin": self.bin + 1, "probability": self.probability}
        return rows_of({}, {"item": self.items}, known)

    def bin_rows(self) -> list[dict[str, Cell]]:
        """One line per bin, counted from 1: its items, and those in the sample."""
        bins = range(1, len(self.bin_size) + 1)
        drawn = np.bincount(self.bin, minlength=len(bins))
        known = {"mean probability": self.bin_mean, "items": self.bin_size, "sampled": drawn}
        return rows_of({}, {"bin": bins}, known)

    @property
    def finding(self) -> str:
        """What the sample is, as a sentence."""
        bins = len(self.bin_size)
        items = f"{count(len(self.items))} of {count(int(self.bin_size.sum()))} items"
        if bins == 1:
            return f"{items} go to the experts, drawn from all at random."
        return (
            f"{items} go to the experts, from {bins} bins of probability between "
            f"{number(float(self.bin_mean[0]))} and {number(float(self.bin_mean[-1]))} on "
            "average."
        )

    def report(self) -> Finding:
        """The finding for every surface."""
        return Finding(
            key="sample",
            title="Which items should experts see?",
            sentence=self.finding,
            tables=(
                Table(
                    name="sample_bins",
                    caption="Bins of items, from the lowest probability",
                    columns=(
                        *(*columns("count", "bin"), *columns("number", "mean probability")),
                        *columns("count", "items"),
                        Column("sampled", "in the sample", "count"),
                    ),
                    rows=self.bin_rows(),
                    brief=self.bin_rows(),
                ),
                Table(
                    name="sample_items",
                    caption="Items of the sample",
                    columns=(
                        *(*columns("text", "item"), *columns("count", "bin")),
                        *columns("number", "probability"),
                    ),
                    rows=self.rows(),
                    brief=(),
                ),
            ),
            methods=f"We ordered {count(int(self.bin_size.sum()), 'item')} by probability, cut "
            f"them into {count(len(self.bin_size), 'bin')} of equal size and drew items from "
            f"each at random (seed {self.seed})",
            references=("groger2025",),
            notices=self.notices,
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
        question = {"task": task} if task else {}
        cells = ([*(row[name] for name in names), *question.values(), ""] for row in rows)
        return csv_text([*names, *question, ANSWER], cells)

    def write(self, path: Path, *, blind: bool = True, overwrite: bool = False) -> None:
        """Write the items as a CSV to annotate, in one step; see `text`."""
        from equipoise.read.writing import replaced

        target = Path(path)
        if target.exists() and not overwrite:
            option = Option("overwrite", value=True)
            do = hint("name another file, or allow overwriting ({})", option)
            raise InputError(f"{target}", "is there already", "a new file", do)
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
    require_drawn("sampling plan, bins", bins, least=1, do="20 are usual")
    require_whole("sampling plan, per_bin", per_bin, least=1, do="20 are usual")
    require_whole("sampling plan, seed", seed, do="try 0")
    if bins > len(values):
        got = f"{bins} bins for {len(values)} items"
        raise InputError("sampling plan", got, "no more bins than items", "choose fewer bins")
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
        notices=tuple(_notices([values[one] for one in parts], per_bin)),
        seed=seed,
    )


def _lots(items: Sequence[str], seed: int) -> Ints:
    """A number for every item that depends on its name and the seed alone."""
    digests = (
        hashlib.sha256(f"{seed}/{name}".encode("utf-8", "surrogatepass")).digest()[:8]
        for name in items
    )
    return np.frombuffer(b"".join(digests), dtype="<u8")


def _notices(parts: list[PerItem], per_bin: int) -> Iterator[Notice]:
    """Say which bins are short, and where a cut goes through equal probabilities."""
    short = [len(one) for one in parts if len(one) < per_bin]
    if short:
        which = "The bin has" if len(parts) == 1 else "{short:count} of {bins:count} bins have"
        yield Notice(
            "short_bins",
            f"{which} fewer than {{least:count}} items; all of theirs are in the sample.",
            values={"short": len(short), "bins": len(parts), "least": per_bin},
        )
    pairs = list(pairwise(parts))
    tied = sum(bool(above[0] - below[-1] <= TIE) for below, above in pairs)
    if tied:
        yield Notice(
            "tied_bins",
            "{tied:count} of {cuts:count} cuts between bins go through items of equal "
            "probability; a random draw decides which of them lie on which side, and bins of "
            "one probability cannot be told apart by it.",
            values={"tied": tied, "cuts": len(pairs)},
        )


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
        got = f"shape {values.shape} for {len(items)} items"
        raise InputError("probabilities", got, "one probability per item", "align them")
    require_unique(items, where="probabilities, items")
    require_finite(values, where="probabilities", names=items)
    outside = np.flatnonzero((values < 0) | (values > 1))
    if len(outside):
        where, got = f"probabilities, item {items[outside[0]]!r}", f"{values[outside[0]]:g}"
        do = "give the probability of the positive class"
        raise InputError(where, got, "a number in [0, 1]", do)
    return values

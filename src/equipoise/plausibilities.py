"""Plausibilities: what the annotations leave possible about the truth.

Draws of a distribution over classes for every item. Storage is sparse: per item the classes
that anybody mentioned, and the mass left over for all the others together. With 419 classes
of which four are mentioned, a thousand draws of two thousand items cost tens of megabytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equipoise.arrays import (
    Floats,
    InputError,
    Ints,
    ItemsByClasses,
    frozen,
    require_simplex,
    require_unique,
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plausibilities:
    """Possible truths of one task, each a distribution over classes per item.

    Attributes
    ----------
    items, classes
        Names along the item and class axes.
    start, label
        The mentioned classes of item i are ``label[start[i]:start[i + 1]]``.
    mass
        Shape (draws, entries): mass of each mentioned class, in the order of `label`.
    rest
        Shape (draws, items): mass of all unmentioned classes of an item together.
    method
        How these were made, as one line for the report.
    task
        Which question they answer; empty when there is only one.
    diagnostics
        What the fit says about itself.

    Examples
    --------
    >>> two = Plausibilities.dense(np.array([[[0.9, 0.1]], [[0.4, 0.6]]]),
    ...     items=("scan-1",), classes=("naevus", "melanoma"), method="by hand")
    >>> two.draw(1)
    array([[0.4, 0.6]])
    >>> two.mean
    array([[0.65, 0.35]])
    """

    items: tuple[str, ...]
    classes: tuple[str, ...]
    start: Ints
    label: Ints
    mass: Floats
    rest: Floats
    method: str
    task: str = ""
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_unique(self.items, where="plausibilities, items")
        require_unique(self.classes, where="plausibilities, classes")
        self._check_shapes()
        item = np.repeat(np.arange(len(self.items)), np.diff(self.start))
        for number in range(self.draws):
            total = np.bincount(item, self.mass[number], len(self.items)) + self.rest[number]
            bad = np.flatnonzero(~(np.abs(total - 1) <= 1e-3) | (self.rest[number] < -1e-9))
            if len(bad) or (self.mass[number] < 0).any():
                where = self.items[bad[0]] if len(bad) else "with a negative mass"
                raise InputError(
                    f"plausibilities, draw {number}, item {where!r}",
                    f"masses sum to {total[bad[0]] if len(bad) else np.nan:.6g}",
                    "non-negative masses that sum to 1", "divide each item by its sum",
                )  # fmt: skip
        for name in ("start", "label", "mass", "rest"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def _check_shapes(self) -> None:
        entries = len(self.label)
        fits = (
            self.start.shape == (len(self.items) + 1,)
            and int(self.start[-1]) == entries
            and self.mass.shape == (len(self.mass), entries)
            and self.rest.shape == (len(self.mass), len(self.items))
            and len(self.mass) > 0
            and int(self.start[0]) == 0
            and bool((np.diff(self.start) >= 0).all())
            and (not entries or 0 <= self.label.min() <= self.label.max() < len(self.classes))
            and len(np.unique(self._keys())) == entries
        )
        if not fits:
            raise InputError(
                "plausibilities",
                f"start {self.start.shape}, label {self.label.shape}, mass {self.mass.shape}, "
                f"rest {self.rest.shape}",
                f"{len(self.items) + 1} starts, one label per entry, masses (draws, entries) "
                f"and rest (draws, {len(self.items)})",
                "name each mentioned class once; or make them with Plausibilities.dense",
            )

    @classmethod
    def dense(
        cls, values: Floats, *, items: tuple[str, ...], classes: tuple[str, ...], method: str
    ) -> "Plausibilities":
        """Take full arrays, shape (draws, items, classes) or (items, classes) for one draw."""
        block = np.asarray(values, dtype=np.float64)
        block = block[None] if block.ndim == 2 else block
        if block.ndim != 3 or block.shape[1:] != (len(items), len(classes)):
            raise InputError(
                "plausibilities", f"values of shape {np.shape(values)}",
                f"(draws, {len(items)}, {len(classes)})", "name every item and class",
            )  # fmt: skip
        require_simplex(block, where="plausibilities", names=items)
        entries = len(items) * len(classes)
        return cls(
            items=items,
            classes=classes,
            start=np.arange(0, entries + 1, len(classes)),
            label=np.tile(np.arange(len(classes)), len(items)),
            mass=block.reshape(len(block), entries),
            rest=np.zeros((len(block), len(items))),
            method=method,
        )

    def _keys(self) -> Ints:
        """One number per item and mentioned class."""
        item = np.repeat(np.arange(len(self.items)), np.diff(self.start))
        return item * len(self.classes) + self.label

    @property
    def draws(self) -> int:
        """Number of possible truths."""
        return len(self.mass)

    def draw(self, number: int) -> ItemsByClasses:
        """Return one possible truth, shape (items, classes). Metrics see nothing else."""
        return self._full(self.mass[number], self.rest[number])

    @property
    def mean(self) -> ItemsByClasses:
        """The average over draws, shape (items, classes)."""
        return self._full(self.mass.mean(axis=0), self.rest.mean(axis=0))

    def class_draws(self, label: str) -> Floats:
        """Mass of one class in every draw, shape (items, draws), without making them full."""
        code = self.classes.index(label)
        entry = np.flatnonzero(self.label == code)
        item = np.repeat(np.arange(len(self.items)), np.diff(self.start))[entry]
        others = len(self.classes) - np.diff(self.start)
        share = self.rest.T / np.maximum(others, 1)[:, None]
        share[item] = self.mass.T[entry]
        return np.ascontiguousarray(share)

    def _full(self, mass: Floats, rest: Floats) -> ItemsByClasses:
        """Spread the rest evenly over the classes that nobody mentioned."""
        mentioned = np.diff(self.start)
        others = len(self.classes) - mentioned
        share = np.divide(rest, others, out=np.zeros(len(self.items)), where=others > 0)
        full = np.repeat(share[:, None], len(self.classes), axis=1)
        full[np.repeat(np.arange(len(self.items)), mentioned), self.label] = mass
        return full

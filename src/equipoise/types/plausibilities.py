"""Plausibilities: what the annotations leave possible about the truth.

Draws of a distribution over classes for every item. Storage is sparse: per item the classes
that anybody mentioned, and the mass left over for all the others together. With 419 classes
of which four are mentioned, a thousand draws of two thousand items cost tens of megabytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    ItemsByClasses,
    frozen,
    nearest,
    require_drawn,
    require_simplex,
    require_unique,
    require_whole,
    short_repr,
)
from equipoise.types.notices import Notice
from equipoise.types.posteriors import Dirichlet, Posterior, packed, top_share

STORED = 2**28  # bytes of draws up to which they are kept
MOST_BYTES = 4 * 2**30  # of draws that are all needed at once
TIED = 1e-9  # difference of plausibilities up to which classes are tied


@dataclass(frozen=True, slots=True, eq=False)
class Skills:
    """What a model found out about annotators.

    Attributes
    ----------
    annotators
        Their names.
    meaning
        What `value` is, as words: accuracy, ability, and so on.
    value, low, high
        Shape (annotators,); `low` and `high` are None when the model has no honest interval.
    confusion
        Chance of each answer given each true class, (annotators, classes, classes), or None.
    """

    annotators: tuple[str, ...]
    meaning: str
    value: Floats
    low: Floats | None = None
    high: Floats | None = None
    confusion: Floats | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True)
class Unanimity:
    """Share of items on which all annotators agree: expected by a fitted model, and seen.

    Attributes
    ----------
    expected, low, high
        What the model expects, and where 95 % of data simulated from it lie.
    observed, items
        What is seen, and among how many items with at least two votes.
    """

    expected: float
    low: float
    high: float
    observed: float
    items: int


class Consensus(NamedTuple):
    """The most plausible class of one item.

    Attributes
    ----------
    label, probability
        The class with the largest mean plausibility, and that; no class where all that were
        mentioned are less plausible than any of the others.
    tied_with
        Other classes of the same plausibility, joined by a bar.
    certainty, entropy
        Probability that the likeliest class is the most plausible one, and entropy of the mean
        in nats.
    """

    task: str
    item: str
    label: str
    probability: float
    tied_with: str
    certainty: float
    entropy: float


@dataclass(frozen=True, eq=False, kw_only=True)
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
    on_demand
        How many draws there are where too many are asked for to be stored: `mass` and `rest`
        are then the mean alone, and `draw` makes any of them. 0 where all are stored.
    method
        How these were made, as one line for the report.
    task
        Which question they answer; empty when there is only one.
    parameters
        What the model was told, for the record.
    diagnostics
        What the fit says about itself: converged, iterations, trace, and so on.
    law
        The distribution the draws come from, when more of them can be made.
    rest_shape, split_seed
        Concentration of each unmentioned class, and the seed with which a draw splits the rest
        over them; None splits it evenly.
    skills, difficulty
        What the model found out about annotators and about items, shape (items,).
    unanimity
        Whether a model of annotators expects the agreement that is seen.
    ordered
        Whether the order of the classes means something (grades).
    notices
        What the user should know.
    model
        Name of the aggregation model that made them; empty for any other source.

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
    parameters: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    law: Posterior | None = None
    rest_shape: float | None = None
    split_seed: int = 0
    skills: Skills | None = None
    difficulty: Floats | None = None
    unanimity: Unanimity | None = None
    ordered: bool = False
    notices: tuple[Notice, ...] = ()
    model: str = ""
    on_demand: int = 0

    def __post_init__(self) -> None:
        require_unique(self.items, where="plausibilities, items")
        require_unique(self.classes, where="plausibilities, classes")
        self._check_shapes()
        item = self.entry_items
        for number in range(len(self.mass)):
            total = np.bincount(item, self.mass[number], len(self.items)) + self.rest[number]
            bad = np.flatnonzero(~(np.abs(total - 1) <= 1e-3) | (self.rest[number] < -1e-9))
            if len(bad) or (self.mass[number] < 0).any():
                where = self.items[bad[0]] if len(bad) else "with a negative mass"
                raise InputError(
                    f"plausibilities, draw {number}, item {where!r}",
                    f"masses sum to {total[bad[0]] if len(bad) else np.nan:.6g}",
                    "non-negative masses that sum to 1",
                    "divide each item by its sum",
                )
        for name in ("start", "label", "mass", "rest"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __repr__(self) -> str:
        task = f", task {self.task!r}" if self.task else ""
        return (
            f"Plausibilities({self.method}: {len(self.items):,} items, "
            f"{len(self.classes):,} classes, {self.draws:,} draws{task})"
        )

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
            and self._each_once()
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

    def _each_once(self) -> bool:
        """Whether no class is mentioned twice for an item; sorting only if it must."""
        keys = self.entry_items * len(self.classes) + self.label
        return bool((np.diff(keys) > 0).all()) or len(np.unique(keys)) == len(keys)

    @classmethod
    def dense(
        cls, values: Floats, *, items: tuple[str, ...], classes: tuple[str, ...], method: str
    ) -> "Plausibilities":
        """Take full arrays, shape (draws, items, classes) or (items, classes) for one draw."""
        block = np.asarray(values, dtype=np.float64)
        block = block[None] if block.ndim == 2 else block
        if block.ndim != 3 or block.shape[1:] != (len(items), len(classes)):
            raise InputError(
                "plausibilities",
                f"values of shape {np.shape(values)}",
                f"(draws, {len(items)}, {len(classes)})",
                "name every item and class",
            )
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

    def drawn(self, draws: int, *, seed: int) -> "Plausibilities":
        """Return the same plausibilities with this many draws, always the same for a seed."""
        if self.law is None:
            raise InputError(
                f"plausibilities by {self.method}",
                "no law to draw from",
                "a model with draws",
                "choose another aggregation model, or use the draws it has",
            )
        require_drawn("plausibilities, draws", draws, least=1)
        require_whole("plausibilities, seed", seed)
        made = replace(self, on_demand=draws, split_seed=seed, **_mean_of(self.law, self.start))
        return made if made._bytes > STORED else made.stored()

    def stored(self) -> "Plausibilities":
        """Return the same with every draw in memory, or say that they are too many."""
        if not self.on_demand:
            return self
        if self._bytes > MOST_BYTES:
            raise InputError(
                "draws of possible truths",
                f"{self.draws:,} draws of {len(self.items):,} items "
                f"({round(self._bytes / 2**30):,} GB)",
                f"at most {MOST_BYTES / 2**30:g} GB for what needs all of them at once",
                f"ask for at most {MOST_BYTES * self.draws // self._bytes:,}",
            )
        mass = np.empty((self.draws, len(self.label)))
        rest = np.empty((self.draws, len(self.items)))
        for number in range(self.draws):
            mass[number], rest[number] = self._one(number)
        mass.flags.writeable = rest.flags.writeable = False
        return replace(self, mass=mass, rest=rest, on_demand=0)

    def centred(self) -> "Plausibilities":
        """Return what models are scored against: means at the votes, see `Dirichlet.centred`.

        Draws are made anew around them; without an estimated prior it is the same.
        """
        if not isinstance(self.law, Dirichlet) or self.law.prior is None:
            return self
        law = self.law.centred(self.start)
        made = replace(self, law=law, on_demand=0, **_mean_of(law, self.start))
        return made if self.draws == 1 else made.drawn(self.draws, seed=self.split_seed)

    @property
    def soft(self) -> ItemsByClasses:
        """Soft labels that models are scored against, shape (items, classes)."""
        if not isinstance(self.law, Dirichlet) or self.law.prior is None:
            return self.mean
        return self._full(*self.law.centred(self.start).mean(self.start))

    @property
    def _bytes(self) -> int:
        """Memory of all draws."""
        return self.draws * (len(self.label) + len(self.items)) * 8

    def _one(self, number: int) -> tuple[Floats, Floats]:
        """Masses and rest of one draw."""
        if not self.on_demand:
            return self.mass[number], self.rest[number]
        assert self.law is not None
        return self.law.draw(self.start, (self.split_seed, number))

    def averaged(self) -> "Plausibilities":
        """Return their mean as the one possible truth."""
        mass, rest = self.mass.mean(axis=0), self.rest.mean(axis=0)
        settled: dict[str, Any] = {"law": None, "rest_shape": None, "on_demand": 0}
        return replace(self, mass=mass[None], rest=rest[None], **settled)

    def noted(self, *, task: str, notices: tuple[Notice, ...] = ()) -> "Plausibilities":
        """Return the same with a task and sentences for the user."""
        return replace(self, task=task, notices=notices)

    def subset(self, rows: Ints) -> "Plausibilities":
        """Only some items, given by position; a random split of the rest is drawn anew."""
        sizes = np.diff(self.start)[rows]
        first = np.repeat(self.start[rows] - np.cumsum(sizes) + sizes, sizes)
        entry = first + np.arange(sizes.sum())
        return replace(
            self,
            items=tuple(self.items[i] for i in rows),
            start=np.concatenate(([0], np.cumsum(sizes))),
            label=self.label[entry],
            mass=self.mass[:, entry],
            rest=self.rest[:, rows],
            law=None if self.law is None else self.law.subset(entry, rows),
            difficulty=None if self.difficulty is None else self.difficulty[rows],
        )

    def top(self) -> tuple[Floats, Floats]:
        """Chance of being the most plausible class: of each entry, and of any other class.

        Exact where the law allows it; else the share of draws, ties split evenly.
        """
        if self.law is not None:
            return self.law.top(self.start, self.others)
        split = (self.rest_shape, self.split_seed)
        return top_share(self.mass, self.rest, self.start, self.others, split)

    @cached_property
    def certainty(self) -> Floats:
        """Chance of the likeliest most plausible class, shape (items,)."""
        entry, rest = self.top()
        others = np.maximum(self.others, 1)
        mentioned = np.zeros(len(self.items))
        np.maximum.at(mentioned, self.entry_items, entry)
        return frozen(np.maximum(mentioned, rest / others))

    def consensus(self) -> list[Consensus]:
        """The most plausible class of every item, and how sure that is.

        Examples
        --------
        >>> votes = Plausibilities.dense(np.array([[0.9, 0.1], [0.5, 0.5]]),
        ...     items=("scan-1", "scan-2"), classes=("naevus", "melanoma"), method="by hand")
        >>> [(one.label, one.tied_with) for one in votes.consensus()]
        [('naevus', ''), ('naevus', 'melanoma')]
        """
        mass, rest = self.mass.mean(axis=0), self.rest.mean(axis=0)
        share = rest / np.maximum(self.others, 1)
        sure, entropy, rows = self.certainty, self.entropy, []
        for i, item in enumerate(self.items):
            own = slice(int(self.start[i]), int(self.start[i + 1]))
            top = float(mass[own].max(initial=0.0))
            tied = np.sort(self.label[own][mass[own] >= top - TIED])
            names = [self.classes[code] for code in tied if top > share[i] - TIED]
            label, *others = names or [""]
            facts = float(sure[i]), float(entropy[i])
            most = max(top, float(share[i]))
            rows.append(Consensus(self.task, item, label, most, " | ".join(others), *facts))
        return rows

    def to_dataframe(self, *, backend: str = "") -> Any:
        """The consensus of every item as a dataframe: pyarrow, or the kind that is named."""
        from equipoise.read.frames import rows_to_frame

        return rows_to_frame(self.consensus(), Consensus._fields, backend)

    @cached_property
    def entropy(self) -> Floats:
        """Entropy of the mean distribution in nats, shape (items,)."""
        others = np.maximum(self.others, 1)
        mass, rest = self.mass.mean(axis=0), self.rest.mean(axis=0)
        inside = -mass * np.log(np.where(mass > 0, mass, 1.0))
        outside = -rest * np.log(np.where(rest > 0, rest / others, 1.0))
        return frozen(np.bincount(self.entry_items, inside, len(self.items)) + outside)

    @property
    def entry_items(self) -> Ints:
        """Item of each entry, shape (entries,)."""
        return np.repeat(np.arange(len(self.items)), np.diff(self.start))

    @property
    def others(self) -> Ints:
        """Number of classes of each item that nobody mentioned, shape (items,)."""
        return np.asarray(len(self.classes) - np.diff(self.start))

    @property
    def packed(self) -> Any:
        """All draws, as the kernels of `equipoise.kernels.tops` want them."""
        split, made = (self.rest_shape, self.split_seed), self.stored()
        return packed(made.mass, made.rest, self.start, self.others, split)

    @property
    def draws(self) -> int:
        """Number of possible truths."""
        return self.on_demand or len(self.mass)

    def draw(self, number: int) -> ItemsByClasses:
        """Return one possible truth, shape (items, classes). Metrics see nothing else."""
        mass, rest = self._one(number)
        full = self._full(mass, rest)
        if not self.rest_shape or not rest.any():
            return full
        random = np.random.default_rng([self.split_seed, number])
        noise = random.standard_gamma(self.rest_shape, full.shape)
        noise[self.entry_items, self.label] = 0.0
        total = noise.sum(axis=1, keepdims=True)
        free = np.ones(full.shape, dtype=bool)
        free[self.entry_items, self.label] = False
        split = rest[:, None] * noise / np.where(total > 0, total, 1.0)
        return np.where(free & (total > 0), split, full)

    @property
    def mean(self) -> ItemsByClasses:
        """The average over draws, shape (items, classes)."""
        return self._full(self.mass.mean(axis=0), self.rest.mean(axis=0))

    def class_draws(self, label: str) -> Floats:
        """Mass of one class in every draw, shape (items, draws), without making them full."""
        if label not in self.classes:
            raise InputError(
                "plausibilities",
                f"class {label!r}",
                "a known one",
                nearest(label, self.classes),
            )
        code = self.classes.index(label)
        if self.rest_shape or self.on_demand:
            drawn = [self.draw(number)[:, code] for number in range(self.draws)]
            return np.ascontiguousarray(np.stack(drawn, axis=1))
        entry = np.flatnonzero(self.label == code)
        item = self.entry_items[entry]
        share = self.rest.T / np.maximum(self.others, 1)[:, None]
        share[item] = self.mass.T[entry]
        return np.ascontiguousarray(share)

    def _full(self, mass: Floats, rest: Floats) -> ItemsByClasses:
        """Spread the rest evenly over the classes that nobody mentioned."""
        others = self.others
        share = np.divide(rest, others, out=np.zeros(len(self.items)), where=others > 0)
        full = np.repeat(share[:, None], len(self.classes), axis=1)
        full[self.entry_items, self.label] = mass
        return full


def _mean_of(law: Posterior, start: Ints) -> dict[str, Any]:
    """The mean of a law as the one draw."""
    mass, rest = law.mean(start)
    return {"mass": mass[None], "rest": rest[None]}

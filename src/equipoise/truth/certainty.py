r"""Certainty: how sure the annotations leave us of the most plausible classes.

With plausibilities :math:`\lambda` and :math:`Y_j(\lambda)` the set of the j largest classes,

.. math:: \text{certainty}_j = \max_C P(Y_j(\lambda) = C), \quad |C| = j

Classes that tie inside a draw (the same number, not merely close) share it: the expectation
over uniform breaks of the tie. For j = 1 with a law the chance is exact; else it is a share of
draws, whose standard error is that of the means of consecutive batches, which holds for
independent draws and for chains alike.

Classes that nobody mentioned are alike, so a set that needs any of them is no likelier than
another that takes others: with fewer than j mentioned classes the question is ill-posed, the
certainty says more about the number of classes than about the annotations, and `well_posed`
is False.

A group of classes, such as a level of risk, has two certainties: `group_certainty` asks for
the group of the most plausible class (as the public code), `mass_certainty` for the group with
the largest mass. They differ where many small classes of a group outweigh the largest class.

A set is told by its mentioned classes and by the number t of unmentioned ones. In a draw the
classes above the j-th largest value are in it for sure; r seats are left for the n classes that
tie at that value, and each choice of r of them has the probability 1 / C(n, r). Draws with the
same pattern are done once.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> values = np.array([[[0.45, 0.3, 0.25]], [[0.6, 0.1, 0.3]], [[0.3, 0.5, 0.2]]])
>>> three = Plausibilities.dense(values, items=("case",), classes=("x", "y", "z"),
...     method="by hand")
>>> one, two = annotation_certainty(three), annotation_certainty(three, j=2)
>>> one.sets, one.value, two.sets, two.value
((('x',),), array([0.667]), (('x', 'y'),), array([0.667]))
>>> risk = Grouping.of({"x": "low", "y": "high", "z": "high"})
>>> group_certainty(three, risk).sets, mass_certainty(three, risk).sets
((('low',),), (('high',),))
"""

from collections import defaultdict
from itertools import combinations, pairwise
from math import comb, isqrt

import numpy as np

from equipoise.types import (
    Bools,
    Floats,
    Grouping,
    InputError,
    Ints,
    Names,
    PerItem,
    Plausibilities,
    coarsened,
    frozen,
    immutable,
    refusing_wrong_types,
    top_share,
    unmentioned,
)

_TIE = 1e-12  # masses that differ by less, relatively, are tied
_MOST = 20_000  # choices among ties that one draw may leave
_Kind = tuple[tuple[int, ...], int]  # places of mentioned classes, number of unmentioned ones


@immutable(eq=False)
class Certainty:
    """The likeliest top set of every item, and how likely it is.

    Attributes
    ----------
    items
        Names.
    sets
        Per item the classes (or the group) of the likeliest set, in the order of the classes;
        of equally likely sets the first.
    value
        Chance of that set, shape (items,). As a maximum over shares of draws it leans upwards
        where sets are about equally likely.
    error
        Monte Carlo standard error of `value`, shape (items,): 0 where exact, undefined (nan)
        for a single draw.
    well_posed
        Whether the item has as many mentioned classes as the set, shape (items,).
    """

    items: Names
    sets: tuple[Names, ...]
    value: PerItem
    error: PerItem
    well_posed: Bools

    def __post_init__(self) -> None:
        for name in ("value", "error", "well_posed"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def mean(self) -> float:
        """Average over all items."""
        return float(self.value.mean())

    @property
    def well_posed_mean(self) -> float:
        """Average over the items for which the question is well-posed; nan without any."""
        return float(self.value[self.well_posed].mean()) if self.well_posed.any() else np.nan


@refusing_wrong_types
def annotation_certainty(plausibilities: Plausibilities, j: int = 1) -> Certainty:
    """Chance of the likeliest set of the j most plausible classes, item by item.

    Parameters
    ----------
    j
        Size of the set, up to the number of classes.
    """
    _require_items(plausibilities)
    if not isinstance(j, int | np.integer) or not 1 <= j <= len(plausibilities.classes):
        raise InputError(
            "annotation_certainty",
            f"j = {j}",
            f"a whole number from 1 to {len(plausibilities.classes)}, the number of classes",
            "1 is the default",
        )
    well_posed = np.diff(plausibilities.start) >= j
    if j == 1:
        columns = _Columns.of_classes(plausibilities)
        place, value, error = _likeliest(plausibilities, columns)
        names = _named(plausibilities, place)
        return Certainty(plausibilities.items, names, value, error, well_posed)
    if plausibilities.law is not None and plausibilities.draws == 1:
        raise InputError(
            f"annotation_certainty, j = {j}",
            f"{plausibilities.method} with its mean alone",
            "draws, because sets of several classes have no exact chance",
            "draw from the law first: plausibilities.drawn(1000, seed=0)",
        )
    plausibilities = plausibilities.stored()
    likeliest = [_likeliest_set(plausibilities, item, j) for item in range(len(well_posed))]
    sets = tuple(tuple(plausibilities.classes[k] for k in chosen) for chosen, _ in likeliest)
    shares = np.stack([share for _, share in likeliest], axis=1)
    batches = [shares[rows].mean(axis=0) for rows in _batches(plausibilities.draws)]
    error = _spread(np.array(batches))
    return Certainty(plausibilities.items, sets, shares.mean(axis=0), error, well_posed)


@refusing_wrong_types
def group_certainty(plausibilities: Plausibilities, grouping: Grouping) -> Certainty:
    """Chance of the likeliest group of the most plausible class."""
    _require_items(plausibilities)
    group = grouping.codes(plausibilities.classes)
    columns = _Columns.of_groups(plausibilities, group, len(grouping.groups))
    place, value, error = _likeliest(plausibilities, columns)
    names = tuple((grouping.groups[k],) for k in place)
    posed = np.diff(plausibilities.start) > 0
    return Certainty(plausibilities.items, names, value, error, posed)


@refusing_wrong_types
def mass_certainty(plausibilities: Plausibilities, grouping: Grouping) -> Certainty:
    """Chance of the likeliest group with the largest mass."""
    return annotation_certainty(coarsened(plausibilities, grouping))


@immutable(eq=False)
class _Columns:
    """Where chances of classes are summed: a table (items, columns) for all to compare in.

    Attributes
    ----------
    cell
        Cell of each entry, row by row.
    left
        What part of the chance of all unmentioned classes goes to each cell.
    """

    cell: Ints
    left: Floats

    @classmethod
    def of_classes(cls, plausibilities: Plausibilities) -> "_Columns":
        """A column per mentioned class, in order, and a last one for any single other class."""
        mentioned, item = np.diff(plausibilities.start), plausibilities.entry_items
        items, width = len(mentioned), int(mentioned.max(initial=0)) + 1
        place = np.arange(len(item)) - plausibilities.start[:-1][item]
        left = np.zeros((items, width))
        left[:, -1] = 1.0 / np.maximum(plausibilities.others, 1)
        return cls(item * width + place, left)

    @classmethod
    def of_groups(cls, plausibilities: Plausibilities, group: Ints, groups: int) -> "_Columns":
        """A column per group."""
        others = np.maximum(plausibilities.others, 1)[:, None]
        cell = plausibilities.entry_items * groups + group[plausibilities.label]
        return cls(cell, unmentioned(plausibilities, group, groups) / others)

    def table(self, entry: Floats, rest: Floats) -> Floats:
        """Chances by item and column."""
        named = np.bincount(self.cell, entry, self.left.size).reshape(self.left.shape)
        return named + rest[:, None] * self.left


def _likeliest(
    plausibilities: Plausibilities, columns: _Columns
) -> tuple[Ints, Floats, Floats]:
    """The likeliest column of each item, its chance, and the Monte Carlo error of that."""
    table = columns.table(*plausibilities.top())
    place = table.argmax(axis=1)
    value = np.take_along_axis(table, place[:, None], axis=1)[:, 0]
    if plausibilities.law is not None:
        return place, value, np.zeros(len(value))
    shares = []
    for number, rows in enumerate(_batches(plausibilities.draws)):
        parts = plausibilities.mass[rows], plausibilities.rest[rows], plausibilities.start
        split = (plausibilities.rest_shape, plausibilities.split_seed + number)
        share = columns.table(*top_share(*parts, plausibilities.others, split))
        shares.append(np.take_along_axis(share, place[:, None], axis=1)[:, 0])
    return place, value, _spread(np.array(shares))


def _named(plausibilities: Plausibilities, place: Ints) -> tuple[Names, ...]:
    """The class in a column of each item; of unmentioned ones the first."""
    start, label, classes = plausibilities.start, plausibilities.label, plausibilities.classes
    open_ = place >= np.diff(start)
    code = np.append(label, 0)[np.where(open_, 0, start[:-1] + place)]
    for item in np.flatnonzero(open_):
        mentioned = label[start[item] : start[item + 1]]
        code[item] = np.setdiff1d(np.arange(len(classes)), mentioned)[0]
    single = [(name,) for name in classes]
    return tuple(map(single.__getitem__, code.tolist()))


def _batches(draws: int) -> list[slice]:
    """Consecutive batches of draws, about as many as each is long, at most thirty."""
    number = max(min(isqrt(draws), 30), min(draws, 2))
    edges = np.linspace(0, draws, number + 1).astype(int)
    return [slice(low, high) for low, high in pairwise(edges)]


def _spread(means: Floats) -> Floats:
    """Standard error of the mean of batch means; undefined for one."""
    if len(means) < 2:
        return np.full(means.shape[1], np.nan)
    return np.asarray(means.std(axis=0, ddof=1) / np.sqrt(len(means)))


def _require_items(plausibilities: Plausibilities) -> None:
    if not plausibilities.items:
        raise InputError("certainty", "no items", "at least one", "check what was aggregated")


def _likeliest_set(
    plausibilities: Plausibilities, item: int, j: int
) -> tuple[tuple[int, ...], Floats]:
    """The likeliest top set of an item as class codes, and its chance in every draw.

    Where unmentioned classes belong to it, the first of them stand for any.
    """
    inside = slice(*plausibilities.start[item : item + 2])
    labels = plausibilities.label[inside]
    others = len(plausibilities.classes) - len(labels)
    patterns, inverse = _patterns(plausibilities, item, j)
    number = np.bincount(inverse)
    chances: defaultdict[_Kind, dict[int, float]] = defaultdict(dict)
    for row, pattern in enumerate(patterns):
        for kind, chance in _choices(pattern, j, plausibilities.items[item]):
            chances[kind][row] = chance / comb(others, kind[1])
    total = {
        kind: sum(number[row] * chance for row, chance in by_row.items())
        for kind, by_row in chances.items()
    }
    best = min(total, key=lambda kind: (-round(total[kind], 9), kind[1], kind[0]))
    by_pattern = np.zeros(len(patterns))
    by_pattern[list(chances[best])] = list(chances[best].values())
    free = np.setdiff1d(np.arange(len(plausibilities.classes)), labels)[: best[1]]
    codes = sorted([int(labels[place]) for place in best[0]] + [int(code) for code in free])
    return tuple(codes), by_pattern[inverse]


def _patterns(plausibilities: Plausibilities, item: int, j: int) -> tuple[Ints, Ints]:
    """Distinct patterns of draws, and which one each draw has.

    A pattern has 2 for every mentioned class that is in the set for sure, 1 for one that ties
    for the last seats, else 0; then how many unmentioned classes are in, and how many tie.
    """
    inside = slice(*plausibilities.start[item : item + 2])
    mass = plausibilities.mass[:, inside]
    free = _largest_free(plausibilities, item, j)
    last = np.sort(np.concatenate([mass, free], axis=1), axis=1)[:, -j][:, None]
    others = len(plausibilities.classes) - mass.shape[1]
    high, low = last * (1 + _TIE), last * (1 - _TIE)
    above = (free > high).sum(axis=1)
    level = ((free >= low) & (free <= high)).sum(axis=1)
    if not plausibilities.rest_shape:  # split evenly, so all others do what the first ones do
        above, level = np.where(above > 0, others, 0), np.where(level > 0, others, 0)
    pattern = np.empty((len(mass), mass.shape[1] + 2), dtype=np.int32)
    pattern[:, :-2] = (mass >= low).astype(np.int32) + (mass > high)
    pattern[:, -2], pattern[:, -1] = above, level
    rows = pattern.view(f"S{pattern.shape[1] * pattern.itemsize}").ravel()
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    return pattern[first], inverse


def _largest_free(plausibilities: Plausibilities, item: int, j: int) -> Floats:
    """The j largest masses of unmentioned classes, (draws, at most j)."""
    inside = slice(*plausibilities.start[item : item + 2])
    mass, rest = plausibilities.mass[:, inside], plausibilities.rest[:, item]
    others = len(plausibilities.classes) - mass.shape[1]
    width = min(others, j)
    even = np.repeat(rest[:, None] / max(others, 1), width, axis=1)
    shape = plausibilities.rest_shape
    if not shape or not width:
        return even
    least = np.sort(mass, axis=1)[:, -j] if mass.shape[1] >= j else np.full(len(mass), -1.0)
    open_ = np.flatnonzero(rest > least)  # else no single class of them can be in the set
    random = np.random.default_rng([plausibilities.split_seed, item, 3])
    noise = random.standard_gamma(shape, (len(open_), others))
    total = noise.sum(axis=1, keepdims=True)
    largest = np.partition(noise, -width, axis=1)[:, -width:] / np.where(total > 0, total, 1.0)
    even[open_] = np.where(total > 0, rest[open_][:, None] * largest, even[open_])
    return even


def _choices(pattern: Ints, j: int, item: str) -> list[tuple[_Kind, float]]:
    """Kinds of sets a pattern allows, and the chance of each."""
    sure = tuple(np.flatnonzero(pattern[:-2] == 2).tolist())
    tied = np.flatnonzero(pattern[:-2] == 1).tolist()
    taken, open_ = int(pattern[-2]), int(pattern[-1])
    seats = j - len(sure) - taken
    possible = comb(len(tied) + open_, seats)
    choices: list[tuple[_Kind, float]] = []
    for free in range(max(0, seats - len(tied)), min(open_, seats) + 1):
        if len(choices) + comb(len(tied), seats - free) > _MOST:
            raise InputError(
                f"annotation_certainty, item {item!r}",
                f"{len(tied)} classes that tie for {seats} seats in one draw",
                f"at most {_MOST} ways to break a tie",
                "ask for smaller sets",
            )
        chance = comb(open_, free) / possible
        choices += [
            ((tuple(sorted(sure + some)), taken + free), chance)
            for some in combinations(tied, seats - free)
        ]
    return choices

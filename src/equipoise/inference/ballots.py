r"""Ballots: the votes of a task as two-way inference wants them, and what their design allows.

A metric T of soft labels :math:`p_{ik}` (the share of the votes on item i for class k) moves
with a vote v of annotator r on item i by

.. math:: \psi_v = \frac{w_v}{W_i} \sum_k h_{ik} (y_{vk} - p_{ik}), \qquad
    h_{ik} = \partial T / \partial p_{ik}

so that everything but :math:`h` can be laid out once for all models and metrics. With hard
labels, the class with most votes (tied ones share), the deviation of a vote is that of the
majority without it, :math:`\frac{m-1}{m} (\overline{L_i(-s)} - L_i(-r))`.

Centring takes more from items with few votes, so that where their numbers differ every item is
scaled by :math:`s_i = 1/(1 - \sum_v w_v^2/W_i^2)`, which is :math:`m_i/(m_i - 1)`. An item with
one vote has nothing left: its vote is compared with the share that the scores of all models
predict from the votes of all other items (`expected_shares`), and all such items together are
one more item of the design.

Items of one group (patient, night) are one unit; a cell is what one annotator said of one unit.

Annotators of one group (school) are one annotator, whose vote on an item is the mean of theirs
with all their weight, so that :math:`\psi` is summed over the group before it is squared and
the degrees of freedom are those of groups.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from equipoise.types import Bools, Floats, Ints, Votes, distinct, immutable

BLOCK = 2**16  # votes that are looked at together
DENSE = 2000  # annotators up to which their design is a full matrix
NOTHING = 1e-12  # of an item, up to which no other vote is left
CROWD = 20_000_000  # pairs of annotators from which the effective number is approximated

FEW_UNITS = 20  # from which on a unit, or an item of a class, is one of many
RARE = 0.15  # of the votes, below which a class is rare
ALL_BUT = 0.05  # of a metric's mass that is not in a unit, at least

Harden = Callable[[Floats], Floats]


@immutable
class Design:
    """What centring takes away, and how much the design can tell.

    Attributes
    ----------
    units, annotators
        Groups of items (or items), and annotators with votes.
    unit_factor, annotator_factor
        What undoes the centring of units at their mean, and of votes at their item's.
    df_units, df_annotators
        Degrees of freedom; 0 where no item has votes of two annotators.
    leverage
        Share of the metric's mass in each of few units, shape (units,); None of many.
    """

    units: int
    annotators: int
    unit_factor: float
    annotator_factor: float
    df_units: float
    df_annotators: float
    leverage: Floats | None = field(default=None, compare=False)

    @property
    def effective(self) -> float:
        """Effective number of annotators."""
        return self.df_annotators + 1 if self.df_annotators > 0 else 0.0


def joint_design(designs: Sequence[Design], whole: Design) -> Design:
    """The design of an average over tasks whose cells span the tasks."""
    if len(designs) == 1:
        return designs[0]
    return replace(
        whole,
        annotators=max(design.annotators for design in designs),
        annotator_factor=float(np.mean([design.annotator_factor for design in designs])),
        df_annotators=min(design.df_annotators for design in designs),
    )


def unit_design(unit: Ints) -> Design:
    """The design of units alone, by how many items each has."""
    return _design_of_sizes(np.bincount(unit))


def _design_of_sizes(size: Ints | Floats) -> Design:
    size = size[size > 0]
    w = size / size.sum()
    return _design_of_powers(len(size), [float((w**k).sum()) for k in (2, 3, 4, 5)])


def ranking_design(design: Design, load: Floats, called: Floats, share: float) -> Design:
    r"""The same for a metric that ranks items, where few votes are for a class.

    It is nearly the mean over annotators of what each of them alone would make it, weighed by
    :math:`w_r`, how often they call the rare class: what undoes the centring at that mean, and
    the degrees of freedom, are those of the :math:`w_r` in place of annotators' loads.

    Parameters
    ----------
    load, called
        Weight of every annotator's votes, and of those for the class, (annotators,).
    share
        Share of all votes that are for the class.

    Examples
    --------
    >>> alike = Design(500, 3, 1.0, 1.5, 499.0, 2.0)
    >>> ranking_design(alike, np.ones(3), np.array([0.06, 0.02, 0.02]), 0.1 / 3).df_annotators
    1.564
    """
    if min(share, 1 - share) >= RARE or not design.df_annotators > 0:
        return design
    called = called if share < RARE else load - called
    if (called > 0).sum() < 2:
        return replace(design, df_annotators=NOTHING)
    rare, every = _design_of_sizes(called), _design_of_sizes(load)
    return replace(
        design,
        annotator_factor=design.annotator_factor * rare.unit_factor / every.unit_factor,
        df_annotators=design.df_annotators * rare.df_units / every.df_units,
    )


def single_design(items: int) -> Design:
    """The same where every item is a unit of its own."""
    return _design_of_powers(items, [float(items) ** (1 - k) for k in (2, 3, 4, 5)])


def _design_of_powers(units: int, sums: Sequence[float]) -> Design:
    """The design of units, given the sums of powers 2 to 5 of their shares of items."""
    if units < 2:
        return Design(units, 0, np.nan, 0.0, 0.0, 0.0)
    u, c3, c4, c5 = sums
    trace = u - 2 * c3 + u * u
    square = c4 + u**4 + 4 * u * c4 - 4 * u * u * c3 + 2 * c3 * c3 - 4 * c5
    return Design(units, 0, u / trace, 0.0, trace * trace / square, 0.0)


def few_units(leverage: Floats) -> tuple[Floats, float]:
    r"""What sums over few units are multiplied by, and their degrees of freedom.

    With :math:`b_g` the share of a metric's mass in unit g (of sensitivity: of the positives),
    a sum is divided by :math:`\sqrt{1 - b_g}` (CR2). Bell and McCaffrey's degrees of freedom
    are :math:`\mathrm{tr}(B'B)^2 / \mathrm{tr}((B'B)^2)`, where
    :math:`B = \mathrm{diag}(b / \sqrt{1 - b}) (I - 1 b')`: of equal units one less than units.

    Examples
    --------
    >>> few_units(np.full(4, 0.25))[1]
    3.0
    """
    factor = 1 / np.sqrt(np.maximum(1 - leverage, ALL_BUT))
    b, d = leverage, (leverage * factor) ** 2
    whole, across, apart, heavy = d.sum(), d @ b, b @ b, d @ d  # traces without a matrix
    trace = whole - 2 * across + whole * apart
    square = heavy + 2 * (whole * (d @ b**2) - 2 * (d**2) @ b) + 2 * across**2
    square += 2 * apart * heavy - 4 * whole * across * apart + (whole * apart) ** 2
    return factor, float(trace**2 / square) if square > 0 else 0.0


class Crossing(NamedTuple):
    """Annotators across items, as far as the design goes.

    Attributes
    ----------
    weight
        Shares of items' votes that each annotator has, summed, shape (annotators,).
    trace, square
        Of L'L and of its square, L the annotators' scaled weights centred at their items.
    cells, within
        Sums over cells of annotator and unit: of squared shares, and of the same, scaled, less
        what repeated votes hide.
    """

    weight: Floats
    trace: float
    square: float
    cells: float
    within: float


def crossed_design(units: Design, crossing: Crossing, share: float) -> Design:
    """The design of units and annotators; `share` is the sum of squared shares of units."""
    weight, trace, square, cells, within = crossing
    empty = replace(units, annotators=len(weight))
    total = float((weight**2).sum())
    if len(weight) < 2 or units.units < 2 or trace <= 1e-12 * total:
        return empty
    if abs(trace - within) <= 1e-12 * trace:  # people are compared in one unit only
        return empty
    factor = (total - cells) / (trace - within) / (1 - share)
    return replace(empty, annotator_factor=max(factor, 0.0), df_annotators=trace**2 / square)


RIDGE = 1e-6  # of the variance of scores, so that models that say the same have a regression


def item_scale(rest: Floats) -> Floats:
    """What undoes the centring of votes at their items.

    Parameters
    ----------
    rest
        1 less the sum of squared shares of an item's votes: 0 where a vote is alone.

    Examples
    --------
    >>> item_scale(np.array([0.8, 0.5, 0.0]))
    array([1.25, 2.  , 1.  ])
    """
    return 1 / np.where(rest <= NOTHING, 1.0, rest)


def expected_shares(shares: Floats, scores: Floats) -> Floats:
    """Share of every item that models' scores predict from the labels of all other items.

    A linear regression, the item left out by its leverage; between 0 and 1.

    Parameters
    ----------
    shares
        Share of the votes on a class, shape (items,).
    scores
        Of all models for that class, shape (models, items).
    """
    moments = regression_moments(shares, scores)
    return predicted_shares(moments, shares, scores)


def regression_moments(shares: Floats, scores: Floats) -> Floats:
    """Products of 1, scores and shares, summed over items; they add up over parts."""
    columns = np.vstack([np.ones(len(shares)), *scores, shares])
    return np.asarray(columns @ columns.T)


def predicted_shares(moments: Floats, shares: Floats, scores: Floats) -> Floats:
    """The same for some of the items, given the sums over all of them."""
    number, sums = moments[0, 0], moments[0, 1:-1]
    mean = sums / number
    centred = moments[1:-1, 1:-1] - np.outer(sums, mean)
    whole = np.diag(moments)[1:-1]  # scores that are all alike predict nothing
    size = np.sqrt(np.maximum(np.diag(centred), NOTHING * whole + 1e-300))
    inverse = np.linalg.inv(centred / np.outer(size, size) + RIDGE * np.eye(len(size)))
    z = (scores - mean[:, None]) / size[:, None]
    usual = moments[0, -1] / number
    slope = inverse @ ((moments[1:-1, -1] - sums * usual) / size)
    leverage = 1 / number + np.einsum("mi,mn,ni->i", z, inverse, z)
    left_out = (shares - usual - slope @ z) / np.maximum(1 - leverage, RIDGE)
    return np.asarray(np.clip(shares - left_out, 0.0, 1.0))


@immutable(eq=False)
class Ballots:
    """Votes of one task by people with names, sorted by unit.

    Attributes
    ----------
    unit
        Unit of every item, shape (items,); codes are shared by all tasks of a study.
    item, annotator
        Position of the item in the task, and code of the annotator, shape (votes,).
    share
        Weight of the vote among those of its item, shape (votes,).
    mass
        How much of the vote goes to each scored class, shape (votes, classes).
    labels
        Soft labels, shape (items, classes).
    harden
        Makes hard labels of shares (rows, classes).
    named
        Whether annotators are people who rated many items; else only items can be told apart.
    outputs
        Whether items are outputs of the systems that compete: then single votes on all of them
        still tell annotators apart, because each judged several systems.
    expected
        What is expected of a vote that is alone on its item, shape (items, classes); None
        where all items count as if they had as many votes.
    """

    unit: Ints
    item: Ints
    annotator: Ints
    share: Floats
    mass: Floats
    labels: Floats
    harden: Harden
    named: bool
    outputs: bool = False
    expected: Floats | None = None

    @classmethod
    def of(
        cls,
        votes: Votes,
        masses: Sequence[Floats],
        unit: Ints,
        *,
        labels: Floats,
        harden: Harden,
        named: bool,
    ) -> "Ballots":
        """Lay out votes; those of gold are nobody's and left out."""
        item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
        total = np.add.reduceat(votes.weight, votes.start[:-1])
        mass = np.stack(masses, axis=1)
        share = votes.weight / total[item]
        keep = np.flatnonzero(votes.annotator >= 0)
        rising = bool((np.diff(unit) >= 0).all())
        if not rising:
            keep = keep[np.argsort(unit[item[keep]], kind="stable")]
        all_rising = rising and len(keep) == len(item)
        chosen: Any = slice(None) if all_rising else keep
        who = votes.annotator
        if not named:  # strangers: the first, second, ... of each item
            who = np.where(who < 0, who, np.arange(len(item)) - votes.start[item])
        return cls(
            unit,
            item[chosen],
            who[chosen],
            share[chosen],
            mass[chosen],
            labels,
            harden,
            named,
        )

    def of_groups(self, group: Ints | None) -> "Ballots":
        """One vote by each group of annotators on each item: the mean of theirs.

        Parameters
        ----------
        group
            Group of every annotator; None where they do not come in groups.
        """
        if group is None or not self.named:
            return self
        who = group[self.annotator]
        number = 1 + int(who.max(initial=0))
        place = np.unique(self.item, return_index=True)[1]
        rank = np.empty(len(self.labels), dtype=np.int64)  # items stay in the order of units
        rank[self.item[np.sort(place)]] = np.arange(len(place))
        first, vote = np.unique(
            rank[self.item] * number + who, return_index=True, return_inverse=True
        )[1:]
        share: Floats = np.bincount(vote, self.share, len(first)).astype(np.float64)
        mass = [np.bincount(vote, self.share * column, len(first)) for column in self.mass.T]
        return replace(
            self,
            item=self.item[first],
            annotator=who[first],
            share=share,
            mass=np.stack(mass, axis=1) / share[:, None],
        )

    def of_outputs(self, *, judged: bool) -> "Ballots":
        """The same, where items are outputs of the systems that compete."""
        return replace(self, outputs=judged) if judged else self

    def with_scores(self, scores: Sequence[Floats]) -> "Ballots":
        """What votes alone on their items are compared with follows from models' scores.

        Parameters
        ----------
        scores
            Of every model, shape (items,) or (items, classes).
        """
        expected, alone = self.labels, self._rest == 0
        if self.named and alone.any() and (self.outputs or not alone.all()):
            wide = np.stack([score.reshape(len(alone), -1) for score in scores])
            columns = [expected_shares(p, wide[:, :, k]) for k, p in enumerate(expected.T)]
            expected = np.stack(columns, axis=1)
        return replace(self, expected=expected)

    @cached_property
    def vote_unit(self) -> Ints:
        """Unit of every vote, rising."""
        return self.unit[self.item]

    @cached_property
    def soft(self) -> Floats:
        """Deviation of every vote from the soft label of its item, (votes, classes)."""
        moved = self.mass - self.labels[self.item]
        alone = self.alone
        moved[alone] = self._against_expected(alone)
        return moved * (self.share * self._scale)[:, None]

    @cached_property
    def alone(self) -> Bools:
        """Votes that are compared with what is expected, shape (votes,)."""
        nobody = not self.named or self.expected is None
        nobody |= not (self.outputs or self._rest.any())
        return np.zeros(len(self.item), bool) if nobody else self._rest[self.item] == 0

    def _against_expected(self, alone: Bools) -> Floats:
        if self.expected is None:
            return self.mass[alone]
        return self.mass[alone] - self.expected[self.item[alone]]

    def relative_slopes(self, slopes: Floats) -> Floats:
        """Derivatives by the shares of whole distributions, less those of what is expected.

        They are known up to the same number for all classes of an item, which must not count
        although what is expected of the classes, each by itself, may not add up to 1.

        Parameters
        ----------
        slopes
            Shape (models, items, classes).
        """
        if self.expected is None or slopes.shape[2] < 2 or not self.alone.any():
            return slopes
        total = self.expected.sum(axis=1)
        usual = np.einsum("mik,ik->mi", slopes, self.expected) / np.where(total > 0, total, 1.0)
        return np.asarray(slopes - usual[:, :, None])

    @cached_property
    def _rest(self) -> Floats:
        """1 less the sum of squared shares of every item's votes."""
        square = np.bincount(self.item, self.share**2, len(self.labels))
        rest = 1 - np.where(square > 0, square, 1.0)
        return np.where(rest > NOTHING, rest, 0.0)

    @cached_property
    def hard(self) -> Floats:
        """Deviation by the majorities without each vote, shape (votes, classes)."""
        mass, share = self.mass, self.share
        rest = 1 - share
        alone = rest <= 1e-12
        others = self.labels[self.item] - share[:, None] * mass
        others = np.clip(others / np.where(alone, 1.0, rest)[:, None], 0.0, 1.0)
        left = self.harden(others)
        left[alone] = 0.0
        number = np.bincount(self.item, minlength=len(self.labels))
        safe = np.maximum(number, 1)
        mean = np.stack(
            [
                np.bincount(self.item, labels_of_class, len(number)) / safe
                for labels_of_class in left.T
            ],
            axis=1,
        )
        factor = ((number - 1) / safe)[self.item] * self._scale
        moved = factor[:, None] * (mean[self.item] - left)
        lonely = self.alone
        moved[lonely] = self._against_expected(lonely) * self._scale[lonely, None]
        return moved

    @cached_property
    def _scale(self) -> Floats:
        """What undoes the centring of every vote at its item, as far as the design does not."""
        if self.named:
            uneven = self.expected is not None and self._rest.any()
            return item_scale(self._rest)[self.item] if uneven else np.ones(len(self.item))
        number = np.bincount(self.item, minlength=len(self.labels)).astype(np.float64)
        widened = np.sqrt(number / np.maximum(number - 1, 1))
        return widened[self.item]

    def deviations(self, labels: str) -> Floats:
        """How labels deviate with every vote, ``hard`` or ``soft``, (votes, classes)."""
        return self.soft if labels == "soft" else self.hard

    @cached_property
    def design(self) -> Design:
        """What the design of units and annotators allows."""
        units = unit_design(self.unit)
        people = np.flatnonzero(np.bincount(self.annotator))
        if not self.named or len(people) < 2 or units.units < 2:
            return replace(units, annotators=len(people))
        who = np.searchsorted(people, self.annotator)
        weight: Floats = np.bincount(who, self.share, len(people)).astype(np.float64)
        scaled = self.share * self._scale
        trace, square = _traces(self, who, len(people))
        code = self.vote_unit.astype(np.int64) * len(people) + who
        order = np.argsort(code, kind="stable")
        number = distinct(code[order])[1]
        first = np.cumsum(number) - number
        cells = float((np.add.reduceat(self.share[order], first) ** 2).sum())
        centred = np.add.reduceat(np.where(self.alone, 0.0, self.share)[order], first)
        cell_share = np.add.reduceat(scaled[order], first)
        within = float((cell_share**2 * (1 - centred / number)).sum())
        size = np.bincount(self.unit)
        u = float(((size / size.sum()) ** 2).sum())
        return crossed_design(units, Crossing(weight, trace, square, cells, within), u)

    @cached_property
    def ranking_design(self) -> Design:
        """The same for metrics that rank items of a class, which may be rare."""
        if self.labels.shape[1] > 1 or not self.design.df_annotators > 0:
            return self.design
        load, called = (
            np.bincount(self.annotator, weight).astype(np.float64)
            for weight in (self.share, self.share * self.mass[:, 0])
        )
        return ranking_design(self.design, load, called, float(self.labels.mean()))


def _traces(ballots: Ballots, who: Ints, people: int) -> tuple[float, float]:
    """Traces of L'L and of its square, L the annotators' weights centred at their items."""
    from scipy.sparse import csr_matrix, diags

    item, scaled = ballots.item, ballots.share * ballots._scale
    shape, alone = (len(ballots.labels), people), ballots.alone
    root = np.where(alone, 0.0, np.sqrt(ballots.share * scaled))
    rated = csr_matrix((root, (item, who)), shape=shape)
    together = (rated.T @ rated).tocsr()
    weight = np.bincount(who, scaled, people)
    if people <= DENSE:
        single = np.bincount(who[alone], scaled[alone], people).astype(np.float64)
        left = np.diag(weight) - together.toarray() - centred_alone(single)
        return dense_traces(left)
    left = (diags(weight) - together).tocsr()
    trace = float(left.multiply(left).sum())
    if left.nnz > CROWD // 100:
        return trace, crowd_square(left.diagonal(), trace)
    square = left @ left
    return trace, float(square.multiply(square).sum())


def centred_alone(weight: Floats) -> Floats:
    """What centring takes from votes that are alone on their items, as if these were one item.

    Of a crowd that is next to nothing.
    """
    return np.outer(weight, weight) / max(float(weight.sum()), NOTHING)


def dense_traces(left: Floats) -> tuple[float, float]:
    """The same, given the symmetric matrix whose square is meant."""
    square = left @ left
    return float(np.trace(square)), float((square * square).sum())


def crowd_square(diagonal: Floats, trace: float) -> float:
    """The second trace of annotators so many that each alone matters little."""
    return max(float((diagonal**4).sum()), trace**2 / max(len(diagonal) - 1, 1))


class _Block(NamedTuple):
    """A run of units: which votes of each task, and the cell of each of them."""

    votes: tuple[slice, ...]
    cells: tuple[Ints, ...] | None
    number: int


class Layout:
    """Votes of one or several tasks on the same units, in blocks of whole units."""

    def __init__(self, ballots: Sequence[Ballots]) -> None:
        self.ballots = tuple(ballots)
        self.units = 1 + max(int(task.unit.max()) for task in ballots)
        self.people = 1 + max(
            (int(task.annotator.max()) for task in ballots if len(task.item)), default=0
        )

    @cached_property
    def blocks(self) -> list[_Block]:
        """Blocks of about equally many votes."""
        number = np.zeros(self.units + 1, dtype=np.int64)
        for task in self.ballots:
            number[1:] += np.bincount(task.vote_unit, minlength=self.units)
        before = np.cumsum(number)
        first, blocks = 0, []
        while first < self.units:
            last = int(np.searchsorted(before, before[first] + BLOCK, side="right")) - 1
            last = min(max(last, first + 1), self.units)
            blocks.append(self._block(first, last))
            first = last
        return blocks

    def _block(self, first: int, last: int) -> _Block:
        votes, codes = [], []
        for task in self.ballots:
            start, stop = np.searchsorted(task.vote_unit, (first, last))
            votes.append(slice(int(start), int(stop)))
            code = (task.vote_unit[start:stop] - first).astype(np.int64) * self.people
            codes.append(code + task.annotator[start:stop])
        all_codes = np.concatenate(codes)
        nobody = not all(task.named for task in self.ballots)  # then every vote is by itself
        if nobody or len(distinct(all_codes)[0]) == len(all_codes):
            return _Block(tuple(votes), None, len(all_codes))
        cells, inverse = np.unique(all_codes, return_inverse=True)
        ends = np.cumsum([len(code) for code in codes])[:-1]
        return _Block(tuple(votes), tuple(np.split(inverse, ends)), len(cells))

    def annotator_and_cell_covariances(
        self, slopes: Sequence[Floats], labels: str
    ) -> tuple[Floats, Floats]:
        """Covariances over annotators and over cells, uncorrected, both (models, models).

        Parameters
        ----------
        slopes
            By task, derivatives of every model's value by the shares of classes, shape
            (models, items, classes), weighed as the task is in the average.
        """
        models = len(slopes[0])
        people, cells = np.zeros((models, self.people)), np.zeros((models, models))
        for block in self.blocks:
            parts, who = [], []
            for task, slope, votes in zip(self.ballots, slopes, block.votes, strict=True):
                parts.append(moved_values(slope, task, votes, labels))
                who.append(task.annotator[votes])
            psi, person = np.concatenate(parts, axis=1), np.concatenate(who)
            for m in range(models):
                people[m] += np.bincount(person, psi[m], self.people)
            if block.cells is not None:
                cell = np.concatenate(block.cells)
                psi = np.stack([np.bincount(cell, moves, block.number) for moves in psi])
            cells += psi @ psi.T
        return people @ people.T, cells


def moved_values(slope: Floats, ballots: Ballots, votes: slice, labels: str) -> Floats:
    """How every vote moves every model's value, shape (models, votes)."""
    item, deviation = ballots.item[votes], ballots.deviations(labels)[votes]
    psi = slope[:, item, 0] * deviation[:, 0]
    for k in range(1, deviation.shape[1]):
        psi += slope[:, item, k] * deviation[:, k]
    return psi

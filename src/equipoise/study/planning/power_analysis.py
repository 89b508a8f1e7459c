r"""Power of a study of any size: what it is to achieve, by a formula, and by simulated studies.

The variance of a paired difference with G groups of k items, A annotators and m votes on each
item (every item its own group: k = 1, and groups and cells are 0) is

.. math:: \frac{s_{groups}^2}{G} + \frac{s_{items}^2}{G k} + \frac{s_{annotators}^2}{A}
    + \frac{s_{cells}^2}{G m} + \frac{s_{votes}^2}{G k m}

with the components of the pilot's two-way parts (`equipoise.inference`), cells what an
annotator makes of one group beyond the items in it. The power is the probability that the
product's own interval lies above 0: the difference is normal, the mean squares of units and of
annotators are chi-square with their degrees of freedom (A - 1 for annotators), and the half
width is what `equipoise.inference.Spread` makes of them. Without annotators this is noncentral
t.

A simulated study draws the effects of its units (with the tails of the pilot's items), of its
annotators and of their votes from the components. Sums over units, annotators and cells are
then tested by `equipoise.inference.intervals` like any other study.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.inference import (
    Ballots,
    Design,
    Population,
    Reason,
    Spread,
    two_way,
    unit_design,
)
from equipoise.inference.spread import FEW
from equipoise.study.thresholds import Thresholds
from equipoise.types import (
    Floats,
    InputError,
    Ints,
    Progress,
    immutable,
    require_drawn,
    require_keywords,
    require_number,
    require_whole,
    wrong_type,
)

PEOPLE = (3, 5, 8, 12, 20)  # annotators that are looked at
VOTES = (1, 2, 3, 5, 8)  # votes per item, where nobody knows who votes
LEAST = 3  # annotators, below which nothing can be said about others like them


@immutable
class PowerTarget:
    """What a plan is to achieve.

    Attributes
    ----------
    power, level
        How often the interval of this level must lie above 0.
    annotators
        Numbers of annotators to look at.
    votes
        Votes per item to look at; without any all annotators vote on every item.
    items_per_group
        Where items have groups, items in each to look at; without any, as in the pilot, and a
        tenth of that.
    difference
        The difference to resolve; without one, that of the pilot if it has found one.
    margin
        How much worse the first model may be: then the interval must lie above minus the
        margin, and without a difference models are taken as equal.
    readers
        Whether the model is compared with the mean annotator instead of another model; takes a
        difference or a margin.
    width
        How far the interval of the value of one model may reach to either side, on average
        of its sides.
    thresholds
        From which score on models say yes.
    price_item, price_vote, price_annotator
        What an item and a vote cost, both or none; and one more annotator.
    simulations, seed
        How many studies are simulated to check each design (0: none), and from which seed.
    task
        Which question, when there are several.
    progress
        Called as ``progress(done, all)``.
    """

    power: float = 0.8
    level: float = 0.95
    annotators: tuple[int, ...] = PEOPLE
    votes: tuple[int, ...] = ()
    items_per_group: tuple[int, ...] = ()
    difference: float | None = None
    margin: float | None = None
    readers: bool = False
    width: float | None = None
    thresholds: Thresholds | None = None
    price_item: float | None = None
    price_vote: float | None = None
    price_annotator: float = 0.0
    simulations: int = 400
    seed: int = 0
    task: str | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        require_number("plan, power", self.power, above=0, below=1, do="try 0.8")
        require_number("plan, level", self.level, above=0, below=1, do="try 0.95")
        by_luck = (1 - self.level) / 2
        if self.power <= by_luck:
            raise InputError(
                "plan, power",
                f"{self.power} with intervals of level {self.level}",
                f"more than {by_luck:g}, the probability of a study without any difference",
                "try a power of 0.8 and a level of 0.95",
            )
        for name in ("annotators", "votes", "items_per_group"):
            where, numbers, do = f"plan, {name}", getattr(self, name), "try (3, 5, 8)"
            if isinstance(numbers, str) or not isinstance(numbers, Sequence):
                raise wrong_type(where, numbers, "a list of whole numbers", do)
            least = LEAST if name == "annotators" else 1
            whole = {require_whole(where, number, least=least, do=do) for number in numbers}
            object.__setattr__(self, name, tuple(sorted(whole)))
        if not self.annotators:
            raise InputError("plan, annotators", "none", "at least one number", "try 3, 5, 8")
        require_drawn(
            "plan, simulations", self.simulations, least=0, do="400 is usual, 0 for none"
        )
        require_whole("plan, seed", self.seed, do="try 0")
        if self.progress is not None and not callable(self.progress):
            raise wrong_type("plan, progress", self.progress, "a function", "leave it out")
        self._check_goal()
        self._check_prices()

    def _check_goal(self) -> None:
        goals = {
            "difference": "say how much better a model must be to matter",
            "margin": "say how much worse the first model may be",
            "width": "say how far the interval may reach to either side",
        }
        for name, do in goals.items():
            if getattr(self, name) is not None:
                require_number(f"plan, {name}", getattr(self, name), above=0, do=do)
        against = self.margin is not None or self.difference is not None
        if self.width is not None and (against or self.readers):
            expected = "an interval of one model, or a comparison"
            raise InputError("plan", "a width and a comparison", expected, "leave one out")
        if self.readers and not against:
            do = "say by how much a model may be worse than annotators, or must be better"
            raise InputError("plan, readers", "no margin", "a margin or a difference", do)

    @property
    def alone(self) -> bool:
        """Whether the plan is about one model."""
        return self.readers or self.width is not None

    def _check_prices(self) -> None:
        prices = (self.price_item, self.price_vote)
        named = {"plan, price of an item": prices[0], "plan, price of a vote": prices[1]}
        prices_given = [
            require_number(n, price) for n, price in named.items() if price is not None
        ]
        if len(prices_given) == 1 or any(price < 0 for price in prices_given):
            got = f"item {prices[0]}, vote {prices[1]}"
            do = "say what one more item and one more vote cost"
            raise InputError("plan, prices", got, "two numbers of at least 0, or none", do)
        if require_number("plan, price of an annotator", self.price_annotator) < 0:
            got = f"{self.price_annotator}"
            raise InputError("plan, prices", got, "at least 0", "leave it out")
        if prices_given and not sum(prices_given) > 0:
            raise InputError("plan, prices", "both 0", "a price above 0", "leave prices out")

    def cost(self, items: int, votes: int, annotators: int) -> float:
        """What a design costs, votes all together; nan without prices."""
        if self.price_item is None or self.price_vote is None:
            return math.nan
        total = items * self.price_item + votes * self.price_vote
        return total + annotators * self.price_annotator


def power_target(how: Mapping[str, Any]) -> PowerTarget:
    """Check the keywords given by a caller.

    Examples
    --------
    >>> power_target({"simulation": 10})
    Traceback (most recent call last):
    ...
    equipoise.InputError: keyword 'simulation': unknown, expected one of ...
    """
    require_keywords(how, [option.name for option in fields(PowerTarget)])
    return PowerTarget(**how)


POINTS = 16  # of the mean square of annotators
FINE = 100  # of it, where the width itself is looked at
UNITS = 3  # of that of units
SURE = 60  # degrees of freedom from which a mean square is taken as known
STEPS = 22
PIVOT = 64  # of few annotators' mean square, `Spread` has 200


class Shape(NamedTuple):
    """A study but for its number of units.

    Attributes
    ----------
    annotators
        How many there are; 0 where nobody knows who votes.
    votes
        Votes on each item, by different annotators.
    per_unit
        Items of a group; 1 without groups.
    """

    annotators: int
    votes: int
    per_unit: int = 1


@immutable
class DifferenceVariances:
    """Variances of one difference, each for one of its kind.

    Attributes
    ----------
    groups, items, annotators, cells, votes
        As above.
    tails
        Degrees of freedom of units over their number less one; below 1 with heavy tails.
    """

    items: float
    annotators: float = 0.0
    votes: float = 0.0
    groups: float = 0.0
    cells: float = 0.0
    tails: float = 1.0

    def times(self, factor: float) -> "DifferenceVariances":
        """All of them so many times as large."""
        parts = ("items", "annotators", "votes", "groups", "cells")
        return replace(self, **{part: factor * getattr(self, part) for part in parts})

    def spread(self, units: float, shape: Shape) -> Spread:
        """What to expect of a study with so many units."""
        people, votes, per_unit = shape
        noise = (self.cells + self.votes / per_unit) / (units * max(votes, 1))
        between = (self.groups + self.items / per_unit) / units
        df = max(self.tails * (units - 1), 1.0)
        if not people:
            alone = Population(annotators=False, reason=Reason.ANONYMOUS)
            return Spread(between + noise, df_items=df, population=alone)
        habits = self.annotators / people
        cells = noise + habits / units  # a cell holds the habit, too
        return Spread(
            between + noise,
            habits + cells,
            cells,
            df_items=df,
            df_annotators=people - 1.0,
            population=Population(effective=float(people)),
        )


def power(expected: Spread, effect: float, level: float) -> float:
    """Probability that the interval of a study lies above 0.

    Examples
    --------
    >>> power(Spread(1.0, df_items=40), 2.88, 0.95)
    0.8
    """
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    if not expected.variance > 0:
        return float(effect > 0)
    error, df = expected.standard_error, expected.df_items
    if not expected.annotators > 0:
        quantile = 0.5 + level / 2
        critical = float(stdtrit(df, quantile) if df < 1e6 else ndtri(quantile))
        far = effect / error
        if df >= 1e6 or far > 30:
            return float(ndtr(far - critical))
        return float(1 - nctdtr(df, far, critical))
    unit_squares = np.ones(1) if df > SURE else _mean_squares(df, UNITS)
    units = expected.items * (unit_squares / unit_squares.mean())[:, None]
    people = expected.annotators * _mean_squares(expected.df_annotators, POINTS)[None, :]
    half = half_widths(expected, units, people, level)
    return float(ndtr((effect - half) / error).mean())


def narrow(expected: Spread, width: float, level: float) -> float:
    """Probability that the half width of a study is at most that.

    Examples
    --------
    >>> narrow(Spread(1.0, df_items=40), 2.02, 0.95)
    0.528
    """
    from scipy.special import chdtr, stdtrit

    if not expected.variance > 0:
        return 1.0
    df = min(expected.df_items, 1e6)
    if not expected.annotators > 0:
        plain = float(stdtrit(df, 0.5 + level / 2)) * expected.standard_error
        return float(chdtr(df, df * (width / plain) ** 2))
    units = expected.items * (_mean_squares(df, UNITS) if df <= SURE else np.ones(1))[:, None]
    people = expected.annotators * _mean_squares(expected.df_annotators, FINE)[None, :]
    half = np.sort(half_widths(expected, units, people, level).ravel())
    shares = (np.arange(half.size) + 0.5) / half.size
    return float(np.interp(width, half, shares, 0.0, 1.0))


def half_widths(expected: Spread, units: Floats, people: Floats, level: float) -> Floats:
    """Half widths of intervals with these parts of units and annotators, as of `Spread`."""
    from scipy.special import stdtrit

    df_units, df_people = expected.df_items, expected.df_annotators
    cells = expected.cells
    variance = units + np.maximum(people - cells, 0.0)
    if df_people >= FEW:
        below = units**2 / df_units + people**2 / df_people
        df = np.maximum(variance**2 / np.maximum(below, 1e-300), 1.0)
        return np.asarray(stdtrit(df, 0.5 + level / 2) * np.sqrt(variance))
    factor = 1 / _mean_squares(df_people, PIVOT)
    deviations = np.sqrt(units[..., None] + np.maximum(people[..., None] * factor - cells, 0.0))
    deviations = np.maximum(deviations, 1e-300)
    low, high = np.zeros(variance.shape), 40 * deviations.max(axis=-1)
    for _ in range(STEPS):
        middle = (low + high) / 2
        outside = 2 * _tail(middle[..., None] / deviations, df_units).mean(axis=-1) > 1 - level
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return np.asarray(high)


def _tail(reach: Floats, df: float) -> Floats:
    """Probability beyond, of Student t; by Wallace's normal approximation from 20 df on."""
    from scipy.special import ndtr, stdtr

    if df < 20:
        return np.asarray(stdtr(df, -reach))
    if df < 1e6:
        reach = (8 * df + 1) / (8 * df + 3) * np.sqrt(df * np.log1p(reach * reach / df))
    return np.asarray(ndtr(-reach))


def _mean_squares(df: float, number: int) -> Floats:
    """Chi-square over its degrees of freedom, at equally probable points."""
    from scipy.special import chdtri

    return np.asarray(chdtri(df, (np.arange(number) + 0.5) / number) / df)


DRAWN = 200_000_000  # votes of all simulated studies of a design
BATCH = 2_000_000  # votes that are drawn at once
NORMAL = 3.05  # kurtosis up to which effects are normal


def can_simulate(units: int, shape: Shape, studies: int) -> bool:
    """Whether so many studies of this size can be drawn in reasonable time."""
    return units * max(shape.votes, 1) * studies <= DRAWN


def simulated_power(
    parts: DifferenceVariances, units: int, shape: Shape, effect: float, aim: PowerTarget
) -> tuple[float, float]:
    """Share of studies whose interval lies above 0, and the Monte Carlo error of that share.

    Where a width is the aim, `effect` is the half width that is narrow enough.
    """
    studies = aim.simulations
    random = np.random.default_rng([aim.seed, units, *shape])
    readers = _readers(units, shape, random)
    design, resolved, left = _design(readers, units), 0, studies
    while left:
        number = min(left, max(1, BATCH // readers.size))
        resolved += _resolved(parts, readers, design, (number, shape, effect, aim), random)
        left -= number
    share = resolved / studies
    return share, math.sqrt(max(share * (1 - share), 1 / (4 * studies)) / studies)


def _readers(units: int, shape: Shape, random: np.random.Generator) -> Ints:
    """Who reads each unit, shape (units, votes): all, or a random choice of them."""
    if shape.votes >= shape.annotators or not shape.annotators:
        return np.tile(np.arange(max(shape.votes, 1)), (units, 1))
    order = random.random((units, shape.annotators)).argsort(axis=1)
    return np.sort(order[:, : shape.votes], axis=1)


def _design(readers: Ints, units: int) -> Design:
    """What the design of such a study allows."""
    votes = readers.shape[1]
    if votes < 2:
        return unit_design(np.arange(units))
    nothing = np.zeros((units, 1))
    return Ballots(
        unit=np.arange(units),
        item=np.repeat(np.arange(units), votes),
        annotator=readers.ravel(),
        share=np.full(readers.size, 1 / votes),
        mass=np.zeros((readers.size, 1)),
        labels=nothing,
        harden=lambda shares: shares,
        named=True,
    ).design


def _resolved(
    parts: DifferenceVariances,
    readers: Ints,
    design: Design,
    question: tuple[int, Shape, float, PowerTarget],
    random: np.random.Generator,
) -> int:
    """How many of some studies find the difference, or have a narrow interval."""
    number, shape, effect, aim = question
    units, votes = readers.shape
    unit_deviation = math.sqrt(parts.groups + parts.items / shape.per_unit)
    noise = math.sqrt(parts.cells + parts.votes / shape.per_unit)
    between = unit_deviation * _effects(parts.tails, (number, units), random)
    cast = between[:, :, None] + noise * random.standard_normal((number, units, votes))
    people = max(shape.annotators, votes)
    if shape.annotators:
        habits = math.sqrt(parts.annotators) * random.standard_normal((number, people))
        cast += habits[:, readers]
    mean = cast.mean(axis=2)
    value = mean.mean(axis=1)
    influence = (mean - value[:, None]) / units
    moved = (cast - mean[:, :, None]) / (votes * units)
    population = parts.spread(units, shape).population
    resolved = 0
    for study in range(number):
        sums = None
        if shape.annotators:
            by = np.bincount(readers.ravel(), moved[study].ravel(), people)
            sums = np.array([[by @ by]]), np.array([[float((moved[study] ** 2).sum())]])
        cell = two_way(
            value[study : study + 1],
            influence[study : study + 1],
            np.arange(units),
            design=design,
            population=population,
            votes=sums,
        )
        gap, spread = float(value[study]) + effect, cell.of(0)
        if aim.width is not None:
            resolved += spread.half_width(aim.level) <= effect
        else:
            resolved += gap > 0 and spread.p_value(gap) < 1 - aim.level
    return resolved


def _effects(tails: float, size: tuple[int, int], random: np.random.Generator) -> Floats:
    """Effects of units, of variance 1: normal, or 0 for so many that tails are as heavy."""
    kurtosis = 1 + 2 / max(tails, 1e-3)
    effects = random.standard_normal(size)
    if kurtosis > NORMAL:
        some = 3 / kurtosis
        effects *= (random.random(size) < some) / math.sqrt(some)
    return effects

"""Simulated studies: effects of units, annotators and votes, judged by the product's own test.

A study draws the effects of its units (with the tails of the pilot's items), of its annotators
and of their votes from the components. Sums over units, annotators and cells are then tested by
`equipoise.inference.intervals` like any other study.
"""

import math

import numpy as np

from equipoise.inference import Ballots, Design, two_way, unit_design
from equipoise.study.planning._power import DifferenceVariances, Shape
from equipoise.study.planning.target import PowerTarget
from equipoise.types.arrays import Floats, Ints

DRAWN = 200_000_000  # votes of all simulated studies of a design
BATCH = 2_000_000  # votes that are drawn at once
NORMAL = 3.05  # kurtosis up to which effects are normal


def can_simulate(units: int, shape: Shape, studies: int) -> bool:
    """Whether so many studies of this size can be drawn in reasonable time."""
    return units * max(shape.votes, 1) * studies <= DRAWN


def simulated_power(
    parts: DifferenceVariances, units: int, shape: Shape, effect: float, aim: PowerTarget
) -> tuple[float, float]:
    """Share of studies whose interval lies above 0, and the Monte Carlo error of that share."""
    studies = aim.simulations
    random = np.random.default_rng([aim.seed, units, *shape])
    readers = _readers(units, shape, random)
    design, found, left = _design(readers, units), 0, studies
    while left:
        number = min(left, max(1, BATCH // readers.size))
        found += _resolved(parts, readers, design, (number, shape, effect, aim.level), random)
        left -= number
    share = found / studies
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
    asked: tuple[int, Shape, float, float],
    random: np.random.Generator,
) -> int:
    """How many of some studies find the difference."""
    number, shape, effect, level = asked
    units, votes = readers.shape
    own = math.sqrt(parts.groups + parts.items / shape.per_unit)
    noise = math.sqrt(parts.cells + parts.votes / shape.per_unit)
    between = own * _effects(parts.tails, (number, units), random)
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
    found = 0
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
        gap = float(value[study]) + effect
        found += gap > 0 and cell.of(0).p_value(gap) < 1 - level
    return found


def _effects(tails: float, size: tuple[int, int], random: np.random.Generator) -> Floats:
    """Effects of units, of variance 1: normal, or 0 for so many that tails are as heavy."""
    kurtosis = 1 + 2 / max(tails, 1e-3)
    found = random.standard_normal(size)
    if kurtosis > NORMAL:
        some = 3 / kurtosis
        found *= (random.random(size) < some) / math.sqrt(some)
    return found

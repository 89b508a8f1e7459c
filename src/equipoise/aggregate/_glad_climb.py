"""Coordinate ascent on ability and sign, with the bound after each sweep."""

from copy import deepcopy

import numpy as np

from equipoise.aggregate._glad_fit import (
    START_ABILITY,
    START_SPREAD,
    Found,
    GladFit,
    GladPrior,
)
from equipoise.aggregate._glad_scale import best_scales
from equipoise.aggregate._glad_votes import Votes
from equipoise.arrays import Bools, Floats, Ints, require_finite

Normals = tuple[Floats, Floats, Floats, Floats, Ints]


def climb(votes: Votes, prior: GladPrior, fit: GladFit) -> Found:
    """Coordinate ascent; parts that come out upside down are turned.

    By symmetry nothing else changes, unless the prior or gold knows the sign: then the climb
    goes on from the turned state, and the trace is that of the last climb. A part with gold is
    turned where the votes on its gold items contradict them and the bound comes out higher.
    """
    state = _State(votes, prior)
    climbs = [state.ascend(fit)]
    down = (votes.lean(state.annotators[2]) < 0) & ~votes.anchored
    state.turn(down)
    if down.any() and prior.mu_c > 0:
        climbs.append(state.ascend(fit))
    contrary = state.contrary()
    if contrary.any():
        before, height = deepcopy(state), climbs[-1][0][-1]
        state.turn(contrary)
        climbs.append(state.ascend(fit))
        if climbs[-1][0][-1] <= height:
            state, contrary = before, np.zeros_like(contrary)
            climbs.insert(0, climbs.pop())
    trace, converged = climbs[-1]
    sweeps = sum(len(each) for each, _ in climbs)
    require_finite(np.array(trace), where="glad, bound after each sweep")
    turned = int((down | contrary).sum())
    return Found(
        chance=state.chance(),
        item=state.items[2],
        ability=state.annotators[2],
        low=None,
        high=None,
        diagnostics={
            "converged": converged,
            "iterations": sweeps,
            "trace": tuple(trace),
            "turned": turned,
        },
        notices=_said(turned, len(votes.anchored), converged=converged),
    )


def _said(turned: int, parts: int, *, converged: bool) -> tuple[str, ...]:
    """What the user should know of a climb."""
    sign = (
        f"Mean ability came out negative, or against gold, in {turned} of {parts} groups of "
        "annotators and items: their sign was turned."
    )
    stuck = "GLAD did not converge: raise the sweeps (most)."
    return (*([sign] if turned else []), *([] if converged else [stuck]))


class _State:
    """Normal distributions of items and abilities: mean, variance, two moments, known side."""

    __slots__ = ("annotators", "items", "priors", "votes")

    def __init__(self, votes: Votes, prior: GladPrior) -> None:
        items, people = len(votes.side), len(votes.annotator_part)
        ability, spread = np.full(people, START_ABILITY), np.full(people, START_SPREAD)
        square = ability**2 + spread
        self.votes = votes
        self.items = (np.zeros(items), *np.ones((3, items)), votes.side)
        none = np.zeros(people, dtype=votes.side.dtype)
        self.annotators = (ability, spread, ability.copy(), square, none)
        self.priors = ((0.0, prior.sigma_b**-2), (float(prior.mu_c), prior.sigma_c**-2))

    def chance(self) -> Floats:
        """Chance that an item is positive, for known ones as if they were not."""
        from scipy.special import ndtr

        return np.asarray(ndtr(self._standard()))

    def _standard(self) -> Floats:
        """Means of the items in standard units."""
        return np.asarray(self.items[0] / np.sqrt(self.items[1]))

    def ascend(self, fit: GladFit) -> tuple[list[float], bool]:
        """Sweep until the chances stand still; the bound after each sweep."""
        heights, before = list[float](), self._standard()
        for number in range(fit.most):
            heights.append(self._sweep(fit.inner))
            if fit.rescale:
                self.scale(
                    best_scales(self.votes, self.items[3], self.annotators[2:4], self.priors)
                )
            now = self._standard()
            if number and _still(now, before, fit.tolerance):  # the first saw old abilities
                break
            before = now
        else:
            return [*heights[1:], self.bound()], False
        return [*heights[1:], self.bound()], True

    def _sweep(self, inner: int) -> float:
        """Update items, then annotators; the bound before."""
        from equipoise.kernels.glad import half_sweep

        votes, (of_items, of_people), people = self.votes, self.priors, self.annotators
        away = self._divergence()
        fit = half_sweep(votes.by_item, people[2:4], self.items, of_items, (inner, True))
        half_sweep(votes.by_annotator, self.items[2:4], people, of_people, (inner, False))
        return float(fit) - away

    def bound(self) -> float:
        """Lower bound of the log evidence."""
        from equipoise.kernels.glad import half_sweep

        items = tuple(x.copy() for x in self.items)  # updated, and thrown away
        people = self.annotators[2:4]
        fit = half_sweep(self.votes.by_item, people, items, self.priors[0], (1, True))
        return float(fit) - self._divergence()

    def _divergence(self) -> float:
        """Kullback-Leibler divergence from the prior."""
        return _divergence(self.items, self.priors[0]) + _divergence(
            self.annotators, self.priors[1]
        )

    def contrary(self) -> Bools:
        """Which parts have gold items whose votes, on the whole, contradict them."""
        part, side = self.votes.item_part, self.votes.side
        gold = (part >= 0) & (side != 0)
        pull = side[gold] * self.items[0][gold] / np.sqrt(self.items[1][gold])
        return np.asarray(np.bincount(part[gold], pull, len(self.votes.anchored)) < 0)

    def turn(self, parts: Bools) -> None:
        """Change the sign of some parts."""
        self.scale(np.where(parts, -1.0, 1.0))

    def scale(self, factor: Floats) -> None:
        """Multiply the items of each part by a factor and divide its annotators by it."""
        padded = np.append(factor, 1.0)  # the last stands for -1, those without votes
        for side, times in (
            (self.items, padded[self.votes.item_part]),
            (self.annotators, 1 / padded[self.votes.annotator_part]),
        ):
            for moment, power in zip(side[:4], (1, 2, 1, 2), strict=True):
                moment *= times**power


def _still(now: Floats, before: Floats, tolerance: float) -> bool:
    """Whether no chance has moved by the tolerance, given means in standard units."""
    from scipy.special import ndtr

    moved = np.abs(now - before)
    most = int(np.argmax(moved))
    if abs(ndtr(now[most]) - ndtr(before[most])) >= tolerance:  # most often settles it
        return False
    far = 0.4 * moved >= tolerance  # a chance moves by less than 0.4 times that
    return bool((np.abs(ndtr(now[far]) - ndtr(before[far])) < tolerance).all())


def _divergence(own: Normals, prior: tuple[float, float]) -> float:
    """Kullback-Leibler divergence of one side from its prior, cut off where its side is known.

    A normal cut off at zero has the mean and the log chance of the part that is left.
    """
    from scipy.special import log_ndtr

    mean, variance, first, second, side = own
    away = prior[1] * (second - 2 * prior[0] * first + prior[0] ** 2)
    total = 0.5 * float((away - 1 - np.log(variance * prior[1])).sum())
    cut = np.flatnonzero(side)
    x = (side * mean / np.sqrt(variance))[cut]
    positive = (side * first / np.sqrt(variance))[cut]
    return total + float((0.5 * x * (positive - x) - log_ndtr(x) - np.log(2)).sum())

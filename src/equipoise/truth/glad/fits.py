r"""Coordinate ascent on ability and sign, and a Gibbs chain that starts where it ends.

The bound is known after each sweep. The scale of each part of the votes is a step that
coordinate ascent alone takes slowly: votes depend on products c b, so multiplying the items of
a part by s and dividing its annotators by s changes only the divergence from the prior, which
is up to a constant

.. math:: g(s) = \tfrac12 \tau_b s^2 \sum E[b^2] + \tfrac12 \tau_c s^{-2} \sum E[c^2]
    - \tau_c \mu_c s^{-1} \sum E[c] + (n_c - n_b) \log s

with precisions tau, n_b items and n_c annotators. The least of it is the exact best step along
this line (parameter expansion, Qi and Jaakkola 2007): the bound cannot fall, and where a climb
stands still s is 1, so it ends in the same place.
"""

from copy import deepcopy

import numpy as np

from equipoise.truth.glad.votes import (
    START_ABILITY,
    START_SPREAD,
    GladFit,
    GladPosterior,
    GladPrior,
    VoteGraph,
)
from equipoise.types.arrays import Bools, Floats, InputError, Ints, require_finite
from equipoise.types.notices import Notice

_Normals = tuple[Floats, Floats, Floats, Floats, Ints]
_STEPS, _LONGEST = 30, 1.0  # of Newton's method, in the logarithm of the scale
_HEAVIEST = 10_000  # votes of one annotator on one item that a chain draws one by one


def fit_cavi(votes: VoteGraph, prior: GladPrior, fit: GladFit) -> GladPosterior:
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
    return GladPosterior(
        chance=state.chance(),
        item=state.items[2],
        ability=state.annotators[2],
        diagnostics={
            "converged": converged,
            "iterations": sweeps,
            "trace": tuple(trace),
            "turned": turned,
        },
        notices=climb_notices(turned, len(votes.anchored), converged=converged),
    )


def climb_notices(turned: int, parts: int, *, converged: bool) -> tuple[Notice, ...]:
    """What the user should know of a climb."""
    notices = []
    if turned:
        text = (
            "Mean ability came out negative, or against gold, in {turned:count} of "
            "{parts:count} groups of annotators and items: their sign was turned."
        )
        notices.append(Notice("sign_turned", text, (), {"turned": turned, "parts": parts}))
    if not converged:
        notices.append(
            Notice("not_converged", "GLAD did not converge: raise the sweeps (most).")
        )
    return tuple(notices)


class _State:
    """Normal distributions of items and abilities: mean, variance, two moments, known side."""

    __slots__ = ("annotators", "items", "priors", "votes")

    def __init__(self, votes: VoteGraph, prior: GladPrior) -> None:
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
        return divergence(self.items, self.priors[0]) + divergence(
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


def divergence(own: _Normals, prior: tuple[float, float]) -> float:
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


def best_scales(
    votes: VoteGraph,
    square: Floats,
    annotators: tuple[Floats, Floats],
    priors: tuple[tuple[float, float], tuple[float, float]],
) -> Floats:
    """Scale of each part that brings it nearest to the prior, shape (parts,).

    ``square`` is the second moment of items, ``annotators`` both moments of theirs.
    """
    size = len(votes.anchored)
    item = votes.item_part >= 0
    items = votes.item_part[item]
    squares = np.bincount(items, square[item], size).astype(np.float64)
    number = np.bincount(items, minlength=size).astype(np.float64)
    return scales_of_sums((squares, number), votes.annotator_part, annotators, priors)


def scales_of_sums(
    items: tuple[Floats, Floats],
    part: Ints,
    annotators: tuple[Floats, Floats],
    priors: tuple[tuple[float, float], tuple[float, float]],
) -> Floats:
    """The same, given the second moments of each part's items summed, and their number."""
    squares, number = items
    size, who = len(number), part >= 0
    (_, of_items), (mean, of_people) = priors
    people = part[who]
    rise = 0.5 * of_items * squares
    fall = 0.5 * of_people * np.bincount(people, annotators[1][who], size)
    tilt = of_people * mean * np.bincount(people, annotators[0][who], size)
    slope = np.bincount(people, minlength=size) - number
    log = _least(rise, fall, tilt, slope)
    gain = _height(np.zeros(size), rise, fall, tilt) - _height(log, rise, fall, tilt)
    return np.where(gain - slope * log > 0, np.exp(log), 1.0)


def _height(log: Floats, rise: Floats, fall: Floats, tilt: Floats) -> Floats:
    """The function to be made least, but for its linear term."""
    return np.asarray(rise * np.exp(2 * log) + fall * np.exp(-2 * log) - tilt * np.exp(-log))


def _least(rise: Floats, fall: Floats, tilt: Floats, slope: Floats) -> Floats:
    """Newton's method for all parts at once, with steps that are never long or uphill."""
    log = np.zeros(len(rise))
    for _ in range(_STEPS):
        up, down, lean = rise * np.exp(2 * log), fall * np.exp(-2 * log), tilt * np.exp(-log)
        first, second = 2 * (up - down) + lean + slope, 4 * (up + down) - lean
        step = -first / np.maximum(np.abs(second), 1e-300)
        log += np.clip(step, -_LONGEST, _LONGEST)
        if np.abs(step).max(initial=0) < 1e-9:
            break
    return log


def fit_gibbs(votes: VoteGraph, prior: GladPrior, fit: GladFit) -> GladPosterior:
    """Draw from the posterior by a Gibbs chain that starts where coordinate ascent ends."""
    from equipoise.kernels.glad import chain
    from equipoise.truth._chains import effective_size, split_r_hat

    weight = votes.by_item[2]
    if (weight != np.round(weight)).any() or weight.max(initial=0) > _HEAVIEST:
        raise InputError(
            "glad, inference 'gibbs'",
            f"weights up to {weight.max():g}, some not whole",
            f"whole numbers of votes, at most {_HEAVIEST:,}",
            "choose inference='cavi'",
        )
    items, people = len(votes.side), len(votes.annotator_part)
    chance, item, ability = np.zeros(items), np.zeros(items), np.empty((fit.draws, people))
    codes = (votes.item_part, votes.annotator_part)
    numbered = tuple(np.where(code < 0, len(votes.anchored), code) for code in codes)
    parts = (*numbered, votes.anchored, votes.load)
    precisions = (prior.sigma_b**-2, float(prior.mu_c), prior.sigma_c**-2)
    ability[0] = fit_cavi(votes, prior, fit).ability
    steps = (fit.burn_in, np.uint64(fit.seed))
    chain((*votes.by_item, votes.side), parts, precisions, steps, (chance, item, ability))
    r_hat, size = split_r_hat(ability), effective_size(ability)
    low, high = np.quantile(ability, [0.025, 0.975], axis=0)
    mixed = bool(r_hat.max() < 1.1)
    text = (
        "The Gibbs chain has not mixed (R-hat of abilities above 1.1): raise burn_in and draws."
    )
    return GladPosterior(
        chance=chance,
        item=item,
        ability=ability.mean(axis=0),
        low=low,
        high=high,
        diagnostics={
            "converged": mixed,
            "iterations": fit.burn_in + fit.draws,
            "r_hat": r_hat,
            "effective_size": size,
        },
        notices=() if mixed else (Notice("chains_not_mixed", text),),
    )

"""Fits of ability and sign: coordinate ascent, and a Gibbs chain."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.aggregate._glad_votes import Votes
from equipoise.arrays import Bools, Floats, InputError, require_finite

START_ABILITY, START_SPREAD = 1.0, 0.1  # positive: votes are meant to be right
HEAVIEST = 10_000  # votes of one annotator on one item that a chain draws one by one


@dataclass(frozen=True, slots=True)
class GladPrior:
    """Items b ~ N(0, sigma_b^2), abilities c ~ N(mu_c, sigma_c^2)."""

    sigma_b: float = 3.0
    mu_c: float = 1.0
    sigma_c: float = 1.0


@dataclass(frozen=True, slots=True)
class GladFit:
    """How long a fit goes on.

    Attributes
    ----------
    tolerance, most, inner
        A climb stops when no chance moves by more than `tolerance`, or after `most` sweeps; a
        sweep updates each row `inner` times.
    draws, burn_in, seed
        Of the Gibbs chain.
    """

    tolerance: float = 1e-4
    most: int = 2000
    draws: int = 1000
    burn_in: int = 1000
    seed: int = 0
    inner: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a fit found: chance and mean of items, abilities, and what it says about itself."""

    chance: Floats
    item: Floats
    ability: Floats
    low: Floats | None
    high: Floats | None
    diagnostics: dict[str, Any]
    notices: tuple[str, ...]


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

        return np.asarray(ndtr(self.items[0] / np.sqrt(self.items[1])))

    def ascend(self, fit: GladFit) -> tuple[list[float], bool]:
        """Sweep until the chances stand still; the bound after each sweep."""
        from equipoise.kernels.glad import bound, half_sweep

        votes, trace, before = self.votes, list[float](), self.chance()
        for _ in range(fit.most):
            half_sweep(
                votes.by_item, self.annotators[2:4], self.items, self.priors[0], fit.inner
            )
            half_sweep(
                votes.by_annotator, self.items[2:4], self.annotators, self.priors[1], fit.inner
            )
            trace.append(bound(votes.by_item, self.items, self.annotators, self.priors))
            now = self.chance()
            still = np.abs(now - before).max() < fit.tolerance
            if still and len(trace) > 1:  # the first saw old abilities
                return trace, True
            before = now
        return trace, False

    def contrary(self) -> Bools:
        """Which parts have gold items whose votes, on the whole, contradict them."""
        part, side = self.votes.item_part, self.votes.side
        gold = (part >= 0) & (side != 0)
        pull = side[gold] * self.items[0][gold] / np.sqrt(self.items[1][gold])
        return np.asarray(np.bincount(part[gold], pull, len(self.votes.anchored)) < 0)

    def turn(self, parts: Bools) -> None:
        """Change the sign of some parts."""
        padded = np.append(parts, False)  # the last stands for -1, those without votes
        for side, part in (
            (self.items, self.votes.item_part),
            (self.annotators, self.votes.annotator_part),
        ):
            sign = np.where(padded[part], -1.0, 1.0)
            side[0][:] *= sign
            side[2][:] *= sign


def sample(votes: Votes, prior: GladPrior, fit: GladFit) -> Found:
    """Draw from the posterior by a Gibbs chain that starts where coordinate ascent ends."""
    from equipoise.aggregate._chains import effective_size, split_r_hat
    from equipoise.kernels.glad import chain

    weight = votes.by_item[2]
    if (weight != np.round(weight)).any() or weight.max(initial=0) > HEAVIEST:
        raise InputError(
            "glad, inference 'gibbs'", f"weights up to {weight.max():g}, some not whole",
            f"whole numbers of votes, at most {HEAVIEST:,}", "choose inference='cavi'",
        )  # fmt: skip
    items, people = len(votes.side), len(votes.annotator_part)
    chance, item, ability = np.zeros(items), np.zeros(items), np.empty((fit.draws, people))
    codes = (votes.item_part, votes.annotator_part)
    numbered = tuple(np.where(code < 0, len(votes.anchored), code) for code in codes)
    parts = (*numbered, votes.anchored, votes.load)
    precisions = (prior.sigma_b**-2, float(prior.mu_c), prior.sigma_c**-2)
    ability[0] = climb(votes, prior, fit).ability
    steps = (fit.burn_in, np.uint64(fit.seed))
    chain((*votes.by_item, votes.side), parts, precisions, steps, (chance, item, ability))
    r_hat, size = split_r_hat(ability), effective_size(ability)
    low, high = np.quantile(ability, [0.025, 0.975], axis=0)
    mixed = bool(r_hat.max() < 1.1)
    said = (
        "The Gibbs chain has not mixed (R-hat of abilities above 1.1): raise burn_in and draws."
    )
    return Found(
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
        notices=() if mixed else (said,),
    )

r"""GLAD: annotators of some ability, items of some sign and ease; yes/no votes.

.. math:: P(y_{ai} = 1) = \mathrm{sigmoid}(c_a b_i), \quad
    c_a \sim N(\mu_c, \sigma_c^2), \quad b_i \sim N(0, \sigma_b^2), \quad p_i = P(b_i > 0)

``inference="cavi"`` is mean-field coordinate ascent with Polya-Gamma variables, every step in
closed form, with :math:`w = \tanh(\xi/2) / 2\xi` and :math:`\xi^2 = E[c^2] E[b^2]`

.. math:: \lambda_i = \sigma_b^{-2} + \sum_a w E[c_a^2], \quad
    \mu_i = \lambda_i^{-1} \sum_a (y_{ai} - \tfrac12) E[c_a], \quad
    p_i = \Phi(\mu_i \sqrt{\lambda_i})

and the same for abilities, each sweep followed by the best scale of items against annotators
(which the votes cannot tell); the bound in ``diagnostics["trace"]`` never falls. Its posteriors
of abilities are far too narrow, so `Skills` has no interval, and with three to five annotators
the chances of items are off by up to 0.22: a notice says so.
``inference="gibbs"`` draws from the exact posterior and has intervals (95 %); it suits up to
about 50,000 votes. With three to five annotators it needs well over 1,000 draws (off by up to
0.07).
The result is the chance of each class, not a distribution over plausibilities (see
`annotator_bootstrap`). Confidences are not used.

Ascent is written over blocks of votes (`blocks`): a pass updates the items of a block given the
annotators, and adds at once what annotators need of them, so that votes in memory, on disk and
on a cluster have one fit. The scale of each part of the votes is a step that coordinate ascent
alone takes slowly: votes depend on products c b, so multiplying the items of a part by s and
dividing its annotators by s changes only the divergence from the prior, up to a constant

.. math:: g(s) = \tfrac12 \tau_b s^2 \sum E[b^2] + \tfrac12 \tau_c s^{-2} \sum E[c^2]
    - \tau_c \mu_c s^{-1} \sum E[c] + (n_c - n_b) \log s

with precisions tau, n_b items and n_c annotators. The least of it is the exact best step along
this line (parameter expansion, Qi and Jaakkola 2007): the bound cannot fall, and where a climb
stands still s is 1, so it ends in the same place.

The votes alone cannot tell (c, b) from (-c, -b), so under the prior ``"paper"`` the sign is not
identified: a fit that starts at zero, as published, ends upside down for many seeds. Here
abilities start positive, and every connected part of the graph of annotators and items is
turned so that its vote-weighted mean ability is positive; under ``gibbs`` a prior with positive
mean does it alone. Gold items settle it for their part: their b is cut off at zero, which is
exact in both fits, and their chance is 1. The chain starts from the abilities that coordinate
ascent finds. Weights multiply a vote's term and repeated votes count. The prior ``"paper"``
(sigma_b = 1000, mu_c = 0, sigma_c = 1) is for reproduction: it is not vague, one vote can give
0.999.

`difficulty` is the chance that an annotator of the vote-weighted mean absolute ability errs,
:math:`\mathrm{sigmoid}(-\overline{|c|}\,|E b_i|)`: 0.5 for an item on which the votes cancel,
near 0 for an easy one. There is no annotator bias in this model: where annotators lean to one
answer, `dawid_skene` does better.

References
----------
Whitehill, Ruvolo, Wu, Bergsma and Movellan (2009), *Whose vote should count more*. Groeger et
al. (2025), *CleanPatrick: a benchmark for image data cleaning*. Polson, Scott and Windle
(2013), *Bayesian inference for logistic models using Polya-Gamma variables*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b"), classes=("no", "yes"),
...     annotators=("x", "y", "z"), item=np.array([0, 0, 0, 1, 1, 1]),
...     annotator=np.array([0, 1, 2, 0, 1, 2]), label=np.array([1, 1, 0, 0, 0, 0]))
>>> made = glad(votes)
>>> made.mean.round(2)
array([[0.23, 0.77],
       [0.94, 0.06]])
>>> made.skills.value.round(1)
array([1., 1., 0.6])
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.truth.blocks import (
    AnnotatorVotes,
    Block,
    BlockReader,
    VoteBlocks,
    added,
    annotator_votes,
    decided_otherwise,
    from_class_posterior,
)
from equipoise.truth.model import AggregationModel, unused_confidence
from equipoise.truth.unanimity import ability_unanimity, unanimity_notice
from equipoise.types import (
    ONE_CLASS,
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Notice,
    Notices,
    Plausibilities,
    Skills,
    choice,
    effective_size,
    hint,
    immutable,
    notice,
    refusing_wrong_types,
    require_finite,
)

START_ABILITY, START_SPREAD = 1.0, 0.1  # positive: votes are meant to be right
SMALL = 5  # votes on an item, up to which coordinate ascent is far off
ENOUGH = 1000  # draws, up to which a chain is
_INFERENCES = {"cavi": "CAVI", "gibbs": "Gibbs"}
_OF_CHAINS = ("draws", "burn_in", "seed")
_LEAST = {"tolerance": 0, "most": 1, "draws": 4, "burn_in": 0, "seed": 0}
_STEPS, _LONGEST = 30, 1.0  # of Newton's method, in the logarithm of the scale
_HEAVIEST = 10_000  # votes of one annotator on one item that a chain draws one by one
_Normals = tuple[Floats, Floats, Floats, Floats, Ints]  # mean, variance, two moments, side
_Moment = tuple[float, float]  # mean and precision of a prior


@immutable
class GladPrior:
    """Items b ~ N(0, sigma_b^2), abilities c ~ N(mu_c, sigma_c^2)."""

    sigma_b: float = 3.0
    mu_c: float = 1.0
    sigma_c: float = 1.0


@immutable
class GladFit:
    """How long a fit goes on.

    Attributes
    ----------
    tolerance, most
        A climb stops when no probability moves by more than `tolerance`, or after `most`
        sweeps.
    rescale
        Whether a sweep ends with the best scale of items against annotators. It ends in the
        same place sooner; without it sweeps are plain coordinate ascent.
    draws, burn_in, seed
        Of the Gibbs chain.
    """

    tolerance: float = 1e-4
    most: int = 2000
    draws: int = 1000
    burn_in: int = 1000
    seed: int = 0
    rescale: bool = True


_PRIORS = {"default": GladPrior(), "paper": GladPrior(sigma_b=1000.0, mu_c=0.0, sigma_c=1.0)}


@refusing_wrong_types
def glad(
    annotations: Annotations,
    *,
    inference: str = "cavi",
    prior: str | GladPrior | None = None,
    fit: GladFit | None = None,
    task: str = "",
) -> Plausibilities:
    """Chance of yes for every item, ability of every annotator.

    Parameters
    ----------
    inference
        ``"cavi"`` (fast, abilities without intervals) or ``"gibbs"`` (exact, slower).
    prior
        ``"default"``, ``"paper"``, or a `GladPrior`.
    fit
        When to stop, and the draws of the chain.
    """
    choice("glad, inference", inference, tuple(_INFERENCES))
    chosen, how = checked_prior(prior), checked_glad_fit(fit, inference)
    if annotations.kind != "binary":
        raise InputError(
            "glad",
            f"annotations of kind {annotations.kind}",
            "yes/no votes (kind binary)",
            hint("ask about one class with {}, or choose dawid_skene", ONE_CLASS),
        )
    votes = annotator_votes(annotations, task, model="glad")
    climb = GladClimb(votes, chosen, how)
    climb.run()
    posterior = _climbed(climb) if inference == "cavi" else _drawn(votes, climb, chosen, how)
    parameters = {"inference": inference, "prior": asdict(chosen), "fit": asdict(how)}
    truth = _plausibilities(votes, climb.graph, posterior, parameters)
    return replace(truth, notices=(*unused_confidence(annotations, "GLAD"), *truth.notices))


def checked_prior(prior: str | GladPrior | None) -> GladPrior:
    """The prior meant, if it makes sense."""
    if prior is None or isinstance(prior, str):
        return _PRIORS[choice("glad, prior", prior or "default", tuple(_PRIORS))]
    if not isinstance(prior, GladPrior):
        raise InputError(
            "glad, prior", f"{prior!r}", "'default', 'paper' or a GladPrior", "leave it out"
        )
    finite = all(math.isfinite(value) for value in asdict(prior).values())
    if not finite or not all(1e-6 <= s <= 1e6 for s in (prior.sigma_b, prior.sigma_c)):
        raise InputError(
            "glad, prior", f"{prior}", "deviations between 1e-6 and 1e6", "try prior='default'"
        )
    if prior.mu_c < 0:
        raise InputError(
            "glad, prior",
            f"mu_c = {prior.mu_c:g}",
            "a mean ability of at least 0",
            "exchange the classes if every vote means its opposite",
        )
    return prior


def checked_glad_fit(fit: GladFit | None, inference: str) -> GladFit:
    """The draws and the stop rule meant, if they make sense and are all used."""
    how = GladFit() if fit is None else fit
    if not isinstance(how, GladFit):
        raise InputError("glad, fit", f"{how!r}", "a GladFit", "leave it out")
    for name, value in asdict(how).items():
        _check(name, value)
        if inference == "cavi" and name in _OF_CHAINS and value != getattr(GladFit(), name):
            raise InputError(
                f"glad, fit, {name}",
                f"{value} with inference 'cavi', which draws nothing",
                "its default",
                "choose inference='gibbs' or leave it out",
            )
    return how


def _check(name: str, value: Any) -> None:
    """Raise unless a field of a fit makes sense."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if name == "rescale":
        right, kind = isinstance(value, bool), "True or False"
    elif name == "tolerance":
        right = (whole or isinstance(value, (float, np.floating))) and value >= _LEAST[name]
        right, kind = right and value < math.inf, f"a number of at least {_LEAST[name]}"
    else:
        right, kind = whole and _LEAST[name] <= value < 2**63, "a whole number of at least "
        kind += f"{_LEAST[name]}"
    if not right:
        raise InputError(f"glad, fit, {name}", f"{value}", kind, "leave it at its default")


# ---- who is connected with whom ------------------------------------------------------------


class VoteGraph(NamedTuple):
    """Parts of the votes that share neither item nor annotator.

    Attributes
    ----------
    part
        Part of each annotator, -1 without votes.
    load
        Weight of the votes of each annotator.
    anchored
        Which parts hold an item of known class, which fixes their sign.
    median
        Median weight of the votes on an item; infinite without any.
    """

    part: Ints
    load: Floats
    anchored: Bools
    median: float

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self.anchored)

    def lean(self, ability: Floats) -> Floats:
        """Vote-weighted mean ability of each part."""
        voted = self.part >= 0
        part, load = self.part[voted], self.load[voted]
        whole = np.bincount(part, load * ability[voted], self.parts)
        return whole / np.bincount(part, load, self.parts)


class _Linked(NamedTuple):
    """A forest of annotators who share items, votes and gold of each, and items by votes."""

    root: Ints
    load: Floats
    gold: Floats
    sizes: Counter[float]


def graph_of(blocks: VoteBlocks) -> VoteGraph:
    """Find the parts of the votes that share neither item nor annotator."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    people = len(blocks.annotators)
    links = blocks.map_groups(partial(_link, blocks.reader, people), 2 * people)
    _, load, gold, sizes = added(links)
    ends = np.tile(np.arange(people), len(links)), np.concatenate([x.root for x in links])
    table = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(people, people))
    tree = connected_components(table, directed=False)[1]
    part = np.full(people, -1, dtype=np.int64)
    part[load > 0] = np.unique(tree[load > 0], return_inverse=True)[1]
    anchored = np.zeros(int(part.max(initial=-1)) + 1, dtype=bool)
    anchored[part[(gold > 0) & (load > 0)]] = True
    return VoteGraph(part, load, anchored, _median(sizes))


def _link(reader: BlockReader, people: int, group: range) -> _Linked:
    """Find who shares items in a range of blocks."""
    from equipoise.kernels.blocks import join_annotators

    root, (load, gold) = np.arange(people, dtype=np.int64), np.zeros((2, people))
    sizes = Counter[float]()
    for number in group:
        block = reader.block(number)
        join_annotators(block[:3], 2, root)
        load += np.bincount(
            block.code >> 1, block.weight if len(block.weight) else None, people
        )
        voters = _first_voters(block)
        if len(block.gold):
            voted = (block.gold >= 0) & (voters >= 0)
            gold += np.bincount(voters[voted], minlength=people)
        size, times = np.unique(block.votes_of_items, return_counts=True)
        sizes.update(dict(zip(map(float, size), times.tolist(), strict=True)))
    del sizes[0.0]
    return _Linked(root, load, gold, sizes)


def _first_voters(block: Block) -> Ints:
    """Annotator of the first vote on each item, -1 without votes."""
    voted = np.flatnonzero(np.diff(block.start))
    voters = np.full(block.items, -1, dtype=np.int64)
    voters[voted] = block.code[block.start[voted]] >> 1
    return voters


def _median(sizes: Mapping[float, int]) -> float:
    """Median of numbers that are told by how often each occurs."""
    if not sizes:
        return math.inf
    values = np.array(sorted(sizes))
    below = np.cumsum([sizes[value] for value in values.tolist()])
    ends = ((below[-1] - 1) // 2, below[-1] // 2)
    return float(values[np.searchsorted(below, ends, side="right")].mean())


# ---- coordinate ascent ---------------------------------------------------------------------


class ItemStates:
    """Mean and variance of the items of every block, which start at 0 and 1; here in memory."""

    def __init__(self) -> None:
        self._blocks: dict[int, Floats] = {}

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where they lie, for workers to see."""
        return ()

    def read(self, number: int, items: int) -> Floats:
        """Those of one block, (2, items), a copy."""
        state = self._blocks.get(number)
        return np.stack([np.zeros(items), np.ones(items)]) if state is None else state.copy()

    def write(self, number: int, state: Floats) -> None:
        """Keep those of one block."""
        self._blocks[number] = state


class _Sums(NamedTuple):
    """What a pass adds up.

    Sums of annotators (`shift`, `load`) and of the items of parts (`squares`, `number`), what
    items and votes give to the bound, and how far the chance of an item moved.
    """

    shift: Floats
    load: Floats
    squares: Floats
    number: Floats
    bound: float
    moved: float


@immutable(eq=False)
class _Sweep:
    """Updates the items of a range of blocks; keeps them where there is a `target`."""

    reader: BlockReader
    source: ItemStates
    target: ItemStates | None
    people: tuple[Floats, Floats]
    parts: tuple[Ints, Floats]
    precision: float

    def __call__(self, group: range) -> _Sums:
        from equipoise.kernels.glad import glad_pass

        (people, parts), (part, factor) = map(len, (self.people[0], self.parts[1])), self.parts
        shift, load = np.zeros((2, people))
        squares, number = np.zeros((2, parts))
        bound, moved = 0.0, 0.0
        for place in group:
            block = self.reader.block(place)
            state, item_part = self.source.read(place, block.items), item_parts(block, part)
            items = scaled_items(block, state, item_part, factor)
            bound -= divergence(items, (0.0, self.precision))
            gain, far = glad_pass(block[:3], items, self.people, self.precision, (shift, load))
            bound, moved = bound + gain, max(moved, far)
            voted = item_part >= 0
            squares += np.bincount(item_part[voted], items[3][voted], parts)
            number += np.bincount(item_part[voted], minlength=parts)
            if self.target is not None:
                self.target.write(place, np.stack(items[:2]))
        return _Sums(shift, load, squares, number, bound, moved)


def item_parts(block: Block, part: Ints) -> Ints:
    """Part of each item, given those of annotators; -1 without votes."""
    voters = _first_voters(block)
    return np.where(voters >= 0, part[voters], -1)


def scaled_items(block: Block, state: Floats, item_part: Ints, factor: Floats) -> _Normals:
    """Normals of the items of a block, multiplied by the factors of their parts."""
    from equipoise.kernels.glad import moments

    scale = np.append(factor, 1.0)[item_part]  # the last stands for -1, those without votes
    mean, variance = state[0] * scale, state[1] * scale**2
    side = np.where(block.gold < 0, 0, 2 * block.gold - 1)
    return (mean, variance, *moments(mean, variance, side), side)


class GladClimb:
    """Coordinate ascent: annotators here, items in the states of their blocks.

    Parameters
    ----------
    states
        Where the items after a sweep of this number are kept; in memory by default.
    step
        Called with the climb after every sweep that is not the last.
    """

    def __init__(
        self,
        blocks: VoteBlocks,
        prior: GladPrior,
        fit: GladFit,
        states: Callable[[int], ItemStates] | None = None,
        step: "Callable[[GladClimb], None] | None" = None,
    ) -> None:
        people = len(blocks.annotators)
        self.blocks, self.graph, self.fit = blocks, graph_of(blocks), fit
        self.priors = ((0.0, prior.sigma_b**-2), (float(prior.mu_c), prior.sigma_c**-2))
        self.mean = np.full(people, START_ABILITY)
        self.variance = np.full(people, START_SPREAD)
        self.items = ItemStates()
        self.factor = np.ones(self.graph.parts)  # of items, not yet in their states
        self.heights = list[float]()  # bounds before the sweeps of this climb
        self.sweeps, self.round = 0, 0  # of all climbs, and which climb
        self.turned = np.zeros(self.graph.parts, dtype=bool)
        self.trace, self.converged = list[float](), False
        self._states, self._step = states, step

    def run(self) -> None:
        """Climb; parts that come out upside down are turned.

        By symmetry nothing else changes, unless the prior or gold knows the sign: then the
        climb goes on from the turned state, and the trace is that of the last climb. A part
        with gold is turned where the votes on its gold items contradict them and the bound
        comes out higher.
        """
        self._ascend()
        if self.round == 0:
            down = (self.graph.lean(self.mean) < 0) & ~self.graph.anchored
            self._turn(down)
            if down.any() and self.priors[1][0] > 0:
                self.round, self.heights = 1, []
                self._ascend()
        if self.graph.anchored.any() and (contrary := self._contrary()).any():
            names = ("items", "mean", "variance", "factor", "turned", "trace", "converged")
            before, self.heights = {name: getattr(self, name) for name in names}, []
            self._turn(contrary)
            self._ascend()
            if self.trace[-1] <= before["trace"][-1]:
                for name, value in before.items():
                    setattr(self, name, value)
        require_finite(np.array(self.trace), where="glad, bound after each sweep")

    def _ascend(self) -> None:
        """Sweep until probabilities stand still."""
        self.converged = False
        while len(self.heights) < self.fit.most and not self.converged:
            moved = self.sweep()
            if self.fit.rescale:
                self.scale(self.best_scales())
            # the first sweep saw old abilities
            self.converged = len(self.heights) > 1 and moved < self.fit.tolerance
            if self._step is not None:
                self._step(self)
        self.trace = [*self.heights[1:], self.bound()]

    def sweep(self) -> float:
        """Update items, then annotators; how far the chance of an item moved."""
        target = ItemStates() if self._states is None else self._states(self.sweeps)
        sums, away = self._pass(target), self._divergence()
        mean, precision = self.priors[1]
        self.variance = 1.0 / (precision + 0.5 * sums.load / (self.mean**2 + self.variance))
        self.mean = (mean * precision + sums.shift) * self.variance
        self.items, self.factor = target, np.ones(self.graph.parts)
        self._item_sums = (sums.squares, sums.number)
        self.sweeps += 1
        self.heights.append(sums.bound - away)
        return sums.moved

    def bound(self) -> float:
        """Lower bound of the log evidence."""
        return self._pass(None).bound - self._divergence()

    def _divergence(self) -> float:
        """That of annotators; items have theirs in the pass."""
        second, side = self.mean**2 + self.variance, np.zeros(len(self.mean), dtype=np.int64)
        return divergence((self.mean, self.variance, self.mean, second, side), self.priors[1])

    def _pass(self, target: ItemStates | None) -> _Sums:
        """Read all votes once, and keep updated items where there is a target."""
        sweep = _Sweep(
            reader=self.blocks.reader,
            source=self.items,
            target=target,
            people=(self.mean, np.sqrt(self.mean**2 + self.variance)),
            parts=(self.graph.part, self.factor),
            precision=self.priors[0][1],
        )
        folders = (*self.items.folders, *(() if target is None else target.folders))
        numbers = 2 * len(self.mean) + 2 * self.graph.parts
        parts = self.blocks.map_groups(sweep, numbers, *folders)
        return added(parts)._replace(moved=max(part.moved for part in parts))

    def best_scales(self) -> Floats:
        """Scale of each part that brings it nearest to the prior, shape (parts,)."""
        (squares, number), size = self._item_sums, self.graph.parts
        voted, ((_, of_items), (mean, of_people)) = self.graph.part >= 0, self.priors
        people = self.graph.part[voted]
        rise = 0.5 * of_items * squares
        second = (self.mean**2 + self.variance)[voted]
        fall = 0.5 * of_people * np.bincount(people, second, size)
        tilt = of_people * mean * np.bincount(people, self.mean[voted], size)
        slope = np.bincount(people, minlength=size) - number
        log = _least(rise, fall, tilt, slope)
        gain = _height(np.zeros(size), rise, fall, tilt) - _height(log, rise, fall, tilt)
        return np.where(gain - slope * log > 0, np.exp(log), 1.0)

    def scale(self, factor: Floats) -> None:
        """Multiply the items of each part by a factor and divide its annotators by it."""
        padded = np.append(factor, 1.0)[self.graph.part]
        self.factor = self.factor * factor
        self.mean, self.variance = self.mean / padded, self.variance / padded**2

    def _turn(self, parts: Bools) -> None:
        """Change the sign of some parts."""
        self.turned = self.turned | parts
        self.scale(np.where(parts, -1.0, 1.0))

    def _contrary(self) -> Bools:
        """Which parts have gold items whose votes, on the whole, contradict them."""
        pull = partial(_pull_of_gold, self.blocks.reader, self.items, self.graph.part)
        pulls = self.blocks.map_groups(pull, self.graph.parts, *self.items.folders)
        return np.asarray(np.sum(pulls, axis=0) * self.factor < 0)


def _pull_of_gold(reader: BlockReader, states: ItemStates, part: Ints, group: range) -> Floats:
    """Mean of gold items towards their side in standard units, summed by part."""
    size = int(part.max(initial=-1)) + 1
    total = np.zeros(size)
    for number in group:
        block = reader.block(number)
        mean, variance = states.read(number, block.items)
        item_part = item_parts(block, part)
        gold = (item_part >= 0) & (block.gold >= 0)
        pull = (2 * block.gold[gold] - 1) * mean[gold] / np.sqrt(variance[gold])
        total += np.bincount(item_part[gold], pull, size)
    return total


def divergence(normals: _Normals, prior: _Moment) -> float:
    """Kullback-Leibler divergence of one side from its prior, cut off where its side is known.

    A normal cut off at zero has the mean and the log chance of the part that is left.
    """
    from scipy.special import log_ndtr

    mean, variance, first, second, side = normals
    away = prior[1] * (second - 2 * prior[0] * first + prior[0] ** 2)
    total = 0.5 * float((away - 1 - np.log(variance * prior[1])).sum())
    if not side.any():
        return total
    cut = np.flatnonzero(side)
    x = (side * mean / np.sqrt(variance))[cut]
    positive = (side * first / np.sqrt(variance))[cut]
    return total + float((0.5 * x * (positive - x) - log_ndtr(x) - np.log(2)).sum())


def _height(log: Floats, rise: Floats, fall: Floats, tilt: Floats) -> Floats:
    """The function to be made least, but for its linear term."""
    return rise * np.exp(2 * log) + fall * np.exp(-2 * log) - tilt * np.exp(-log)


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


# ---- results -------------------------------------------------------------------------------


class _Posterior(NamedTuple):
    """Chances and means of items, abilities, and what a fit says about itself."""

    chance: Floats
    item: Floats
    ability: Floats
    diagnostics: dict[str, Any]
    notices: Notices
    low: Floats | None = None
    high: Floats | None = None


def _climbed(climb: GladClimb) -> _Posterior:
    """Where coordinate ascent on votes in memory ended."""
    from scipy.special import ndtr

    block = climb.blocks.reader.block(0)
    state = climb.items.read(0, block.items)
    items = scaled_items(block, state, item_parts(block, climb.graph.part), climb.factor)
    turned = int(climb.turned.sum())
    return _Posterior(
        chance=ndtr(items[0] / np.sqrt(items[1])),
        item=items[2],
        ability=climb.mean,
        diagnostics={
            "converged": climb.converged,
            "iterations": climb.sweeps,
            "trace": tuple(climb.trace),
            "turned": turned,
        },
        notices=climb_notices(turned, climb.graph.parts, converged=climb.converged),
    )


def climb_notices(turned: int, parts: int, *, converged: bool) -> Notices:
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


def _drawn(
    votes: AnnotatorVotes, climb: GladClimb, prior: GladPrior, fit: GladFit
) -> _Posterior:
    """Draws from the posterior by a Gibbs chain that starts where coordinate ascent ended."""
    from equipoise.kernels.glad import chain
    from equipoise.truth.ranking_chains import split_r_hat

    block, graph, weight = votes.whole, climb.graph, votes.answers.data
    if (weight != np.round(weight)).any() or weight.max(initial=0) > _HEAVIEST:
        raise InputError(
            "glad, inference 'gibbs'",
            f"weights up to {weight.max():g}, some not whole",
            f"whole numbers of votes, at most {_HEAVIEST:,}",
            "choose inference='cavi'",
        )
    items, people = block.items, len(votes.annotators)
    chance, item, ability = np.zeros(items), np.zeros(items), np.empty((fit.draws, people))
    item_part = item_parts(block, graph.part)
    order = np.full(graph.parts + 1, graph.parts)  # parts by their first item, then the rest
    first = np.unique(item_part[item_part >= 0], return_index=True)[1]
    order[np.argsort(first)] = np.arange(graph.parts)
    anchored = graph.anchored[np.argsort(first)]
    parts = (order[item_part], order[graph.part], anchored, graph.load)
    rows = (
        block.start,
        (block.code >> 1).astype(np.int64),
        weight,
        weight * ((block.code & 1) - 0.5),
        np.where(votes.gold < 0, 0, 2 * votes.gold - 1),
    )
    precisions = (prior.sigma_b**-2, float(prior.mu_c), prior.sigma_c**-2)
    ability[0] = climb.mean
    chain(rows, parts, precisions, (fit.burn_in, np.uint64(fit.seed)), (chance, item, ability))
    r_hat, size = split_r_hat(ability), effective_size(ability)
    low, high = np.quantile(ability, [0.025, 0.975], axis=0)
    mixed = bool(r_hat.max() < 1.1)
    text = (
        "The Gibbs chain has not mixed (R-hat of abilities above 1.1): raise burn_in and draws."
    )
    return _Posterior(
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


def _plausibilities(
    votes: AnnotatorVotes, graph: VoteGraph, posterior: _Posterior, parameters: dict[str, Any]
) -> Plausibilities:
    positive = np.where(votes.is_gold, votes.gold, posterior.chance)
    both = np.stack([1 - positive, positive], axis=1)
    checked = ability_unanimity(votes, posterior.ability, posterior.item, posterior.chance)
    inference, draws = parameters["inference"], parameters["fit"]["draws"]
    return from_class_posterior(
        votes,
        both,
        model="glad",
        method=f"GLAD ({_INFERENCES[inference]})",
        parameters=parameters,
        diagnostics={**posterior.diagnostics, "components": graph.parts},
        skills=Skills(
            votes.annotators, "ability", posterior.ability, posterior.low, posterior.high
        ),
        difficulty=difficulty(graph, posterior.ability, posterior.item),
        unanimity=checked,
        notices=(
            *separate_groups(graph.parts, int(graph.anchored.sum())),
            *posterior.notices,
            *small_panel(graph.median, inference, draws),
            *decided_otherwise(votes, both, "GLAD"),
            *unanimity_notice("GLAD", checked),
        ),
    )


def difficulty(graph: VoteGraph, ability: Floats, item: Floats) -> Floats:
    """Chance that an annotator of mean absolute ability errs on each item."""
    mean = float((graph.load * np.abs(ability)).sum() / max(graph.load.sum(), 1e-300))
    return np.exp(-np.logaddexp(0.0, mean * np.abs(item)))


def small_panel(votes: float, inference: str, draws: int) -> Notices:
    """What to say where items have so few votes (their median) that the fits are off."""
    if votes > SMALL:
        return ()
    if inference == "cavi":
        text = (
            "Probabilities of GLAD by coordinate ascent are off by up to 0.22 with three to "
            "five annotators; {advice}."
        )
        advice = "inference='gibbs' with well over 1,000 draws is exact"
        return (notice("cavi_off", text, advice=advice),)
    few = inference == "gibbs" and draws <= ENOUGH
    text = (
        "{draws:count} draws leave probabilities of GLAD off by up to 0.07 with three to five "
        "annotators: ask for well over 1,000 (fit=GladFit(draws=10000))."
    )
    return (notice("few_draws", text, draws=draws),) if few else ()


def separate_groups(parts: int, anchored: int) -> Notices:
    """What to say when votes fall into groups that nothing connects."""
    if parts < 2:
        return ()
    gold = ", {anchored:count} of them with gold" if anchored else ""
    text = (
        "The votes fall into {parts:count} groups that share no annotator and no item"
        f"{gold}: the sign of each without gold rests on its annotators being right on average."
    )
    values = {"parts": parts, **({"anchored": anchored} if anchored else {})}
    return (Notice("separate_groups", text, (), values),)


MODEL = AggregationModel(
    name="glad",
    title="GLAD",
    description="an ability of every annotator, and how easy every yes/no item is",
    fit=glad,
    kinds=("binary",),
    suits=("binary",),
    rank=22,
    annotators=True,
    least_annotators=6,
    references=("whitehill2009", "groger2025"),
)

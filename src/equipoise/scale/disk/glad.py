"""GLAD on votes that stay on disk: coordinate ascent, one pass over the votes per sweep.

The same model, start, prior and stop rule as `equipoise.truth.glad` with
``inference="cavi"``: a pass updates the items of a partition given the annotators, and adds at
once what annotators need of them. Items have two numbers each, mean and variance, in files
beside the coded votes; a sweep reads one set of them and writes another, so that what a killed
worker had begun can be done again. A checkpoint is a set that no later sweep touches, and the
annotators that belong to it. Not said on disk: whether the fit expects the unanimity that is
seen.
"""

import math
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.read.files import AnyPath
from equipoise.read.writing import whole_file
from equipoise.scale.disk.coded import Checkpoint, CodedVotes, Codes, code_votes, working_folder
from equipoise.scale.disk.dawid_skene import FitOnDisk, OnDisk, votes_of_items, write_fit
from equipoise.scale.disk.soft_labels import part_path, write_items
from equipoise.scale.disk.votes import VotesOnDisk
from equipoise.truth._annotator_votes import decisions
from equipoise.truth.glad import (
    GladFit,
    GladPrior,
    checked_fit,
    checked_prior,
    separate_groups,
    small_panel,
)
from equipoise.truth.glad.fits import climb_notices, divergence, scales_of_sums
from equipoise.truth.glad.votes import START_ABILITY, START_SPREAD
from equipoise.types.arrays import Floats, InputError, Ints, require_finite, require_whole
from equipoise.types.words import ONE_CLASS, hint

_NOW = ("glad-even", "glad-odd")  # items after the last sweep, and after the one before


class _Graph(NamedTuple):
    """Part of each annotator (-1 without votes), votes of each, and median votes of items."""

    part: Ints
    load: Floats
    median: float

    @property
    def parts(self) -> int:
        """How many parts share neither item nor annotator."""
        return int(self.part.max(initial=-1)) + 1


def glad(
    votes: VotesOnDisk,
    out: AnyPath,
    *,
    prior: str | GladPrior | None = None,
    fit: GladFit | None = None,
    disk: OnDisk | None = None,
) -> FitOnDisk:
    """Write the chance of yes and the difficulty of every item, and abilities of annotators.

    Parameters
    ----------
    out
        A new folder, which appears once it is whole.
    prior, fit
        As for `equipoise.truth.glad`; sweeps update each row once (``inner=1``).
    disk
        Where coded votes and checkpoints go, and how often; a killed fit goes on from there.
    """
    known, how, used = checked_prior(prior), checked_fit(fit, "cavi"), disk or OnDisk()
    assert isinstance(how, GladFit)
    require_whole("glad, every", used.every, least=1)
    if how.inner != 1:
        raise InputError("glad, fit, inner", f"{how.inner}", "1 on disk", "leave it out")
    if votes.scale.kind != "binary":
        do = hint("choose dawid_skene, or declare yes/no votes with {}", ONE_CLASS)
        got = f"votes of kind {votes.scale.kind}"
        raise InputError("glad", got, "yes/no votes (kind binary)", do)
    target = Path(out)
    work = working_folder(target, used.work)
    coded = code_votes(votes, work)
    climb = _Climb(coded, _graph(coded), known, how, used)
    climb.run()
    made = _written(climb, target)
    if not used.keep:
        shutil.rmtree(work)
    return made


def _graph(coded: CodedVotes) -> _Graph:
    """Find the parts of the votes that share neither item nor annotator."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    people = len(coded.annotators)
    load, sizes = np.zeros(people), Counter[float]()
    found = coded.map_groups(partial(_link, coded.codes, people), 2 * people)
    for one in found:
        load += one.load
        sizes.update(one.sizes)
    ends = np.tile(np.arange(people), len(found)), np.concatenate([one.root for one in found])
    links = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(people, people))
    tree = connected_components(links, directed=False)[1]
    part = np.full(people, -1, dtype=np.int64)
    part[load > 0] = np.unique(tree[load > 0], return_inverse=True)[1]
    return _Graph(part, load, _median(sizes))


class _Linked(NamedTuple):
    """A forest of annotators who share items, votes of each, and items by votes."""

    root: Ints
    load: Floats
    sizes: Counter[float]


def _link(codes: Codes, people: int, group: range) -> _Linked:
    """Find who shares items in a run of partitions."""
    from equipoise.kernels.disk import join_annotators

    root, load = np.arange(people, dtype=np.int64), np.zeros(people)
    sizes = Counter[float]()
    for number in group:
        rows = codes.rows(number)
        join_annotators(rows, 2, root)
        load += np.bincount(rows[1] >> 1, rows[2] if len(rows[2]) else None, people)
        size, times = np.unique(votes_of_items(rows), return_counts=True)
        sizes.update(dict(zip(map(float, size), times.tolist(), strict=True)))
    return _Linked(root, load, sizes)


def _median(sizes: Mapping[float, int]) -> float:
    """Median of numbers that are told by how often each occurs."""
    if not sizes:
        return math.inf
    values = np.array(sorted(sizes))
    below = np.cumsum([sizes[value] for value in values.tolist()])
    ends = ((below[-1] - 1) // 2, below[-1] // 2)
    return float(values[np.searchsorted(below, ends, side="right")].mean())


class _Climb:
    """Coordinate ascent: annotators in memory, items in files."""

    def __init__(
        self, coded: CodedVotes, graph: _Graph, prior: GladPrior, fit: GladFit, used: OnDisk
    ) -> None:
        people = len(coded.annotators)
        self.coded, self.graph, self.fit, self.used = coded, graph, fit, used
        self.priors = ((0.0, prior.sigma_b**-2), (float(prior.mu_c), prior.sigma_c**-2))
        self.mean = np.full(people, START_ABILITY)
        self.variance = np.full(people, START_SPREAD)
        self.factor = np.ones(graph.parts)  # of items, not yet in their files
        self.heights = list[float]()  # bounds before the sweeps of this climb
        self.sweeps = 0  # of all climbs
        self.turned = np.zeros(graph.parts, dtype=bool)
        self.round = 0
        self.source: Path | None = None  # of items; None at the start
        settings = {"model": "glad", "prior": asdict(prior), "rescale": fit.rescale}
        self.checkpoint = Checkpoint(coded.folder, "glad", settings)

    def run(self) -> None:
        """Climb, turn what came out upside down, and climb again where that matters."""
        self._resume()
        self.trace, self.converged = self._ascend()
        if self.round == 0:
            down = self._lean() < 0
            if down.any():
                self.turned = down
                self._scale(np.where(down, -1.0, 1.0))
            if down.any() and self.priors[1][0] > 0:
                self.round, self.heights = 1, []
                self.trace, self.converged = self._ascend()
        require_finite(np.array(self.trace), where="glad, bound after each sweep")

    def _ascend(self) -> tuple[list[float], bool]:
        """Sweep until probabilities stand still; the bound after each sweep."""
        converged = False
        while len(self.heights) < self.fit.most and not converged:
            height, moved = self._sweep()
            self.heights.append(height)
            if self.fit.rescale:
                second = self.mean**2 + self.variance
                self._scale(
                    scales_of_sums(
                        self.items, self.graph.part, (self.mean, second), self.priors
                    )
                )
            self.sweeps += 1
            if self.used.progress is not None:
                self.used.progress(len(self.heights), self.fit.most)
            converged = len(self.heights) > 1 and moved < self.fit.tolerance
            if self.sweeps % self.used.every == 0 and not converged:
                self._save()
        bound = self._pass(write=False, flush=False)[4] - self._divergence()
        return [*self.heights[1:], float(bound)], converged

    def _sweep(self) -> tuple[float, float]:
        """Update items, then annotators; the bound before, and how far a chance moved."""
        away = self._divergence()
        keep = (self.sweeps + 1) % self.used.every == 0
        shift, load, squares, number, bound, moved = self._pass(write=True, flush=keep)
        (_, _), (mean, precision) = self.priors
        second = self.mean**2 + self.variance
        self.variance = 1.0 / (precision + 0.5 * load / second)
        self.mean = (mean * precision + shift) * self.variance
        self.items = (squares, number)
        self.factor = np.ones(self.graph.parts)
        self.source = self._now
        return bound - away, moved

    @property
    def _now(self) -> Path:
        """Where the next sweep writes items: never where it reads them."""
        return self.coded.folder / _NOW[self.sweeps % 2]

    def _divergence(self) -> float:
        """That of annotators; items have theirs in the pass."""
        second, none = self.mean**2 + self.variance, np.zeros(len(self.mean), dtype=np.int64)
        return divergence((self.mean, self.variance, self.mean, second, none), self.priors[1])

    def _pass(self, *, write: bool, flush: bool) -> Any:
        """Read all votes once: sums of annotators and of parts, bound and largest move."""
        if write:
            self._now.mkdir(exist_ok=True)
        one = _Sweep(
            state=self.state,
            annotators=(self.mean, np.sqrt(self.mean**2 + self.variance)),
            parts=(self.graph.part, self.factor),
            precision=self.priors[0][1],
            write=self._now if write else None,
            flush=flush,
        )
        folders = [] if self.source is None else [self.source]
        size = 2 * len(self.mean) + 2 * self.graph.parts
        found = self.coded.map_groups(one, size, *folders, *([self._now] if write else []))
        added = [sum(part[k] for part in found) for k in range(5)]
        return (*added, max(part[5] for part in found))

    @property
    def state(self) -> "_State":
        """Where the items are now."""
        return _State(self.coded.codes, self.source)

    def _lean(self) -> Floats:
        """Vote-weighted mean ability of each part."""
        voted = self.graph.part >= 0
        part, load, size = self.graph.part[voted], self.graph.load[voted], self.graph.parts
        return np.asarray(
            np.bincount(part, load * self.mean[voted], size) / np.bincount(part, load, size)
        )

    def _scale(self, factor: Floats) -> None:
        """Multiply the items of each part by a factor and divide its annotators by it."""
        padded = np.append(factor, 1.0)[self.graph.part]
        self.factor = self.factor * factor
        self.mean, self.variance = self.mean / padded, self.variance / padded**2

    def _save(self) -> None:
        """Put the files of items aside, then say that they are the state to go on from."""
        kept = self.coded.folder / f"glad-{self.sweeps}"
        shutil.rmtree(kept, ignore_errors=True)
        assert self.source is not None
        self.source.rename(kept)
        self.source = kept
        self.checkpoint.save(
            mean=self.mean,
            variance=self.variance,
            factor=self.factor,
            heights=np.array(self.heights),
            turned=self.turned,
            numbers=np.array([self.sweeps, self.sweeps - len(self.heights), self.round]),
        )
        for other in self.coded.folder.glob("glad-*"):
            if other.is_dir() and other != kept:
                shutil.rmtree(other)

    def _resume(self) -> None:
        """Go on from the last checkpoint, if there is one."""
        held = self.checkpoint.load()
        if held is None:
            return
        self.mean, self.variance, self.factor = held["mean"], held["variance"], held["factor"]
        self.heights, self.turned = held["heights"].tolist(), held["turned"]
        self.sweeps, _, self.round = map(int, held["numbers"])
        self.source = self.coded.folder / f"glad-{self.sweeps}"


@dataclass(frozen=True, slots=True)
class _State:
    """Where items are: in files of a folder, or at the start where there is none."""

    codes: Codes
    folder: Path | None

    def read(self, number: int) -> Floats:
        """Mean and variance of the items of one partition, (2, items), before the factor."""
        if self.folder is not None:
            return np.asarray(np.load(_state_path(self.folder, number), allow_pickle=False))
        items = len(self.codes.rows(number)[0]) - 1
        return np.stack([np.zeros(items), np.ones(items)])


def _state_path(folder: Path, number: int) -> Path:
    return folder / f"state-{number:05d}.npy"


@dataclass(frozen=True, slots=True, eq=False)
class _Sweep:
    """Updates the items of a run of partitions; sums of annotators and parts.

    With `flush`, items that it writes have reached the disk.
    """

    state: _State
    annotators: tuple[Floats, Floats]
    parts: tuple[Ints, Floats]
    precision: float
    write: Path | None
    flush: bool

    def __call__(self, group: range) -> tuple[Any, ...]:
        from equipoise.kernels.disk import glad_pass

        people, parts = len(self.annotators[0]), len(self.parts[1])
        sums = (np.zeros(people), np.zeros(people), np.zeros(parts), np.zeros(parts))
        bound, moved = 0.0, 0.0
        for number in group:
            rows, state = self.state.codes.rows(number), self.state.read(number)
            own = (state[0], state[1])
            gain, far = glad_pass(rows, own, self.annotators, self.parts, self.precision, sums)
            bound, moved = bound + gain, max(moved, far)
            if self.write is not None:
                with whole_file(_state_path(self.write, number), flush=self.flush) as file:
                    np.save(file, state)
        return (*sums, bound, moved)


def _write_chances(
    items: _State,
    parts: tuple[Ints, Floats],
    typical: float,
    names: tuple[str, ...],
    place: Path,
    number: int,
) -> Any:
    """Write chance and difficulty of one partition's items; how decisions moved."""
    from scipy.special import ndtr

    codes, (part, factor) = items.codes, parts
    rows, state = codes.rows(number), items.read(number)
    own = factor[part[rows[1][rows[0][:-1]] >> 1]]
    mean, variance = state[0] * own, state[1] * own**2
    chance = ndtr(mean / np.sqrt(variance))
    both = np.stack([1 - chance, chance], axis=1)
    columns = {"votes": votes_of_items(rows)}
    columns |= {f"p_{name}": both[:, k] for k, name in enumerate(names)}
    columns["difficulty"] = np.exp(-np.logaddexp(0.0, typical * np.abs(mean)))
    write_items(part_path(place, number), codes.item_names(number), columns)
    yes = np.bincount(
        np.repeat(np.arange(len(mean)), np.diff(rows[0])),
        (rows[1] & 1) * (rows[2] if len(rows[2]) else 1.0),
        len(mean),
    )
    share = yes / columns["votes"]
    return decisions(np.stack([1 - share, share], axis=1), both)


def _written(climb: _Climb, target: Path) -> FitOnDisk:
    """Write chances and difficulties of items, abilities and facts."""
    coded, graph, names = climb.coded, climb.graph, climb.coded.votes.classes
    typical = float((graph.load * np.abs(climb.mean)).sum() / max(graph.load.sum(), 1e-300))
    made = FitOnDisk(
        folder=target,
        model="glad",
        method="GLAD (CAVI)",
        classes=names,
        annotators=coded.annotators,
        skill=climb.mean,
        items=coded.items,
        trace=tuple(climb.trace),
        converged=climb.converged,
        notices=(
            *coded.votes.notices,
            *separate_groups(graph.parts, 0),
            *climb_notices(int(climb.turned.sum()), graph.parts, converged=climb.converged),
            *small_panel(graph.median, "cavi", 0),
        ),
    )
    scales = (graph.part, climb.factor)
    one = partial(_write_chances, climb.state, scales, typical, names)
    return write_fit(coded, made, one, {"ability": climb.mean, "votes": graph.load}, "GLAD")

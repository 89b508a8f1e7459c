"""GLAD on votes that stay on disk: coordinate ascent, one pass over the votes per sweep.

The same model, start, prior and stop rule as `equipoise.aggregate.glad` with
``inference="cavi"``: a pass updates the items of a partition given the annotators, and adds at
once what annotators need of them. Items have two numbers each, mean and variance, in files
beside the coded votes. A checkpoint is a set of such files that no later sweep touches, and the
annotators that belong to them. Not said on disk: whether the fit expects the unanimity that is
seen.
"""

import math
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.aggregate._annotator_votes import decisions, decisions_notice
from equipoise.aggregate.glad import (
    GladFit,
    GladPrior,
    checked_fit,
    checked_prior,
    separate_groups,
    small_panel,
)
from equipoise.aggregate.glad.fits import climb_notices, divergence, scales_of_sums
from equipoise.aggregate.glad.votes import START_ABILITY, START_SPREAD
from equipoise.arrays import Floats, InputError, Ints, require_finite, require_whole
from equipoise.disk.coded import Checkpoint, CodedVotes, code_votes, working_folder
from equipoise.disk.dawid_skene import FitOnDisk, OnDisk, votes_of_items, write_fit
from equipoise.disk.soft_labels import part_path, write_items
from equipoise.disk.votes import VotesOnDisk
from equipoise.read.files import AnyPath
from equipoise.read.whole import whole_file, whole_folder
from equipoise.wording import ONE_CLASS, hint

_NOW = "glad-now"  # items of sweeps since the last checkpoint


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
        As for `equipoise.aggregate.glad`; sweeps update each row once (``inner=1``).
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
    from equipoise.kernels.disk import join_annotators

    people = len(coded.annotators)
    root, load = np.arange(people, dtype=np.int64), np.zeros(people)
    sizes: dict[float, int] = {}
    for number in range(coded.partitions):
        rows = coded.rows(number)
        join_annotators(rows, 2, root)
        own = rows[2] if len(rows[2]) else None
        load += np.bincount(rows[1] >> 1, own, people)
        for size, times in zip(
            *np.unique(votes_of_items(rows), return_counts=True), strict=True
        ):
            sizes[float(size)] = sizes.get(float(size), 0) + int(times)
    for a in range(people):  # a root is never after its branches
        root[a] = root[root[a]]
    part = np.full(people, -1, dtype=np.int64)
    part[load > 0] = np.unique(root[load > 0], return_inverse=True)[1]
    return _Graph(part, load, _median(sizes))


def _median(sizes: dict[float, int]) -> float:
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
        self.before = 0  # sweeps when this climb began
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
                self.round, self.before, self.heights = 1, self.sweeps, []
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
        return [*self.heights[1:], self._bound()], converged

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
        self.source = self.coded.folder / _NOW
        return bound - away, moved

    def _bound(self) -> float:
        """Lower bound of the log evidence."""
        return float(self._pass(write=False, flush=False)[4] - self._divergence())

    def _divergence(self) -> float:
        """That of annotators; items have theirs in the pass."""
        second, none = self.mean**2 + self.variance, np.zeros(len(self.mean), dtype=np.int64)
        return divergence((self.mean, self.variance, self.mean, second, none), self.priors[1])

    def _pass(self, *, write: bool, flush: bool) -> Any:
        """Read all votes once: sums of annotators and of parts, bound and largest move."""
        from equipoise.kernels.disk import glad_pass

        people, parts = len(self.mean), self.graph.parts
        root = np.sqrt(self.mean**2 + self.variance)
        now = self.coded.folder / _NOW
        if write:
            now.mkdir(exist_ok=True)

        def one(group: range) -> Any:
            sums = (np.zeros(people), np.zeros(people), np.zeros(parts), np.zeros(parts))
            bound, moved = 0.0, 0.0
            for number in group:
                state = self.state(number)
                gain, far = glad_pass(
                    self.coded.rows(number),
                    (state[0], state[1]),
                    (self.mean, root),
                    (self.graph.part, self.factor),
                    self.priors[0][1],
                    sums,
                )
                bound, moved = bound + gain, max(moved, far)
                if write:
                    _store(now / f"state-{number:05d}.npy", state, flush=flush)
            return (*sums, bound, moved)

        found = self.coded.map_groups(one, 2 * people + 2 * parts)
        added = [sum(part[k] for part in found) for k in range(5)]
        return (*added, max(part[5] for part in found))

    def state(self, number: int) -> Floats:
        """Mean and variance of the items of one partition, (2, items), before the factor."""
        if self.source is not None:
            return np.asarray(np.load(self.source / f"state-{number:05d}.npy"))
        items = len(self.coded.rows(number)[0]) - 1
        return np.stack([np.zeros(items), np.ones(items)])

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
        (self.coded.folder / _NOW).rename(kept)
        self.source = kept
        self.checkpoint.save(
            mean=self.mean,
            variance=self.variance,
            factor=self.factor,
            heights=np.array(self.heights),
            turned=self.turned,
            numbers=np.array([self.sweeps, self.before, self.round]),
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
        self.sweeps, self.before, self.round = map(int, held["numbers"])
        self.source = self.coded.folder / f"glad-{self.sweeps}"


def _store(path: Path, state: Floats, *, flush: bool) -> None:
    """Write the items of a partition; those of a checkpoint reach the disk at once."""
    if not flush:
        np.save(path, state)
        return
    with whole_file(path) as file:
        np.save(file, state)


def _written(climb: _Climb, target: Path) -> FitOnDisk:
    """Write chances and difficulties of items, abilities and facts."""
    from scipy.special import ndtr

    coded, graph, names = climb.coded, climb.graph, climb.coded.votes.classes
    typical = float((graph.load * np.abs(climb.mean)).sum() / max(graph.load.sum(), 1e-300))

    def one(place: Path, number: int) -> Any:
        rows, state = coded.rows(number), climb.state(number)
        own = climb.factor[graph.part[rows[1][rows[0][:-1]] >> 1]]
        mean, variance = state[0] * own, state[1] * own**2
        chance = ndtr(mean / np.sqrt(variance))
        both = np.stack([1 - chance, chance], axis=1)
        columns = {"votes": votes_of_items(rows)}
        columns |= {f"p_{name}": both[:, k] for k, name in enumerate(names)}
        columns["difficulty"] = np.exp(-np.logaddexp(0.0, typical * np.abs(mean)))
        write_items(part_path(place, number), coded.item_names(number), columns)
        yes = np.bincount(
            np.repeat(np.arange(len(mean)), np.diff(rows[0])),
            (rows[1] & 1) * (rows[2] if len(rows[2]) else 1.0),
            len(mean),
        )
        share = yes / columns["votes"]
        return decisions(np.stack([1 - share, share], axis=1), both)

    with whole_folder(target) as scratch:
        place = scratch / "items"
        place.mkdir()
        decided = np.sum(coded.votes.map(lambda number: one(place, number)), axis=0)
        turned, parts = int(climb.turned.sum()), graph.parts
        notices = (
            *coded.votes.notices,
            *separate_groups(parts, 0),
            *climb_notices(turned, parts, converged=climb.converged),
            *small_panel(graph.median, "cavi", 0),
            *decisions_notice(decided, names, "GLAD"),
        )
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
            notices=notices,
        )
        write_fit(scratch, coded, made, {"ability": climb.mean, "votes": graph.load})
    return made

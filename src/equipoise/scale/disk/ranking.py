r"""Items of all partitions in the order of scores, which memory need not hold.

Soft AUROC and average precision are those of `equipoise.metrics.ranking`, whose formulas take
of every item what lies above and below it:

.. math:: w_i = \sum_{j \ne i} q_j [s_i > s_j], \quad l_i = \sum_{j \ne i} p_j [s_j > s_i]

with :math:`p_i` the share of votes for the class, :math:`q_i = 1 - p_i`, ties counting half;
and for average precision, of the runs b of equal scores from that of the item on,
:math:`R_b / N_b + \sum r_b / N_b` and :math:`\sum (r_b R_b + d_b) / N_b^2`.

Every partition is sorted and written as a run. Values that cut all items into ranges of a few
million are found from samples of the runs. Each range is gathered from all runs, merged, and
written to a file of its own, given the mass of all ranges above; sums over the ranges below are
added when it is read. A value that more items share than fit is a range of its own, which needs
no sorting. No file is written by two tasks.

Metrics that are means over items of a score are linear in the share of votes for the class.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.metrics import Metric, named
from equipoise.scale.disk.coded import Codes, mapped
from equipoise.scale.disk.scores import ScoredVotes
from equipoise.scale.disk.votes import map_partitions
from equipoise.types.arrays import Floats, InputError, Ints

MEANS = ("accuracy", "brier_score", "log_score")
RANKED = ("auroc", "average_precision")
RANGE = 1 << 22  # items merged at a time
_SAMPLED = 512  # scores of a run that are looked at to cut ranges


class Moved(NamedTuple):
    """How models' values move with the items of a partition.

    By the weight of items and by their shares, both (models, items).
    """

    items: Floats
    slopes: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """Mean metrics of the models of a study."""

    study: ScoredVotes
    metrics: tuple[str, ...]

    def of(self, number: int, scores: Floats, share: Floats) -> dict[str, Moved]:
        """Score of every item of a partition and its slope by the share, not yet divided.

        Parameters
        ----------
        number
            Of the partition.
        scores
            Of every model, shape (models, items).
        share
            Of the votes of each item for the class, shape (items,).
        """
        if self.metrics:
            self._check(number, scores)
        return {name: _linear(named(name), scores, share) for name in self.metrics}

    def _check(self, number: int, scores: Floats) -> None:
        odd = np.argwhere((scores < 0) | (scores > 1))
        if not len(odd):
            return
        model, item = odd[0].tolist()
        name = self.study.votes.reader.item_names(number)[item].as_py()
        raise InputError(
            f"{self.study.scores.folder.name}, item {name!r}",
            f"a score of {scores[model, item]:g} by {self.study.scores.models[model]}",
            f"a probability in [0, 1] for {', '.join(self.metrics)}",
            "give probabilities, or choose auroc or average_precision",
        )


def _linear(metric: Metric, scores: Floats, share: Floats) -> Moved:
    """Scores and slopes; an infinite loss counts only where somebody voted so."""
    assert metric.per_item is not None
    mixed_scores, slopes = np.empty_like(scores), np.empty_like(scores)
    for m, score in enumerate(scores):
        predicted = np.stack([1 - score, score], axis=1)
        no, yes = (
            metric.per_item(np.broadcast_to(row, predicted.shape), predicted)
            for row in np.eye(2)
        )
        with np.errstate(invalid="ignore"):
            slope, mixed = yes - no, (1 - share) * no + share * yes
        slopes[m] = np.where(np.isfinite(slope), slope, 0.0)
        mixed_scores[m] = np.where(share == 0, no, np.where(share == 1, yes, mixed))
    return Moved(mixed_scores, slopes)


def shares_of(codes: Codes, number: int, yes: int) -> Floats:
    """Share of the votes of each item of one partition for one class."""
    start, code, weight = codes.rows(number)
    item = np.repeat(np.arange(len(start) - 1), np.diff(start))
    mass = np.asarray(weight) if len(weight) else np.ones(len(code))
    total = np.bincount(item, mass, len(start) - 1)
    chosen = mass * (code % codes.size == yes)
    return np.asarray(np.bincount(item, chosen, len(start) - 1) / total)


class Masses(NamedTuple):
    """Sums over items.

    Attributes
    ----------
    up, down, own
        Of p, q and p q.
    items, unused
        Their number, and scored items without votes.
    scores
        Of mean metrics, shape (metrics, models).
    """

    up: float
    down: float
    own: float
    items: int
    unused: int
    scores: Floats

    @property
    def pairs(self) -> float:
        """Mass of pairs of different items, one of each side; 0 where there are none."""
        whole = self.up * self.down
        return whole - self.own if whole - self.own > 1e-12 * whole else 0.0


@dataclass(frozen=True, slots=True)
class _Files:
    """Where runs and merged ranges lie."""

    folder: Path

    def run(self, name: str, number: int, model: int) -> Path:
        """An array of a run: score, up or order."""
        return self.folder / f"{name}-{model}-{number:05d}.npy"

    def merged(self, model: int, place: int) -> Path:
        """What was found of the items of a range, run by run, (rows, items)."""
        return self.folder / f"range-{model}-{place:05d}.npy"


def _write_run(
    means: Means, files: _Files, yes: int, number: int, *, sort: bool
) -> tuple[Masses, list[Floats]]:
    """Sort the items of a partition by every model, unless only sums are wanted.

    Returns the sums, and some scores of every model.
    """
    study = means.study
    share = shares_of(study.votes.reader, number, yes)
    scores, unused = study.matched(number)
    samples = []
    for m, score in enumerate(scores if sort else ()):
        order = np.argsort(-score, kind="stable").astype(np.uint32)
        ranked = score[order]
        for name, array in (("score", ranked), ("up", share[order]), ("order", order)):
            np.save(files.run(name, number, m), array)
        samples.append(ranked[:: max(1, len(ranked) // _SAMPLED)])
    other = 1 - share
    up, down, both = (float(mass.sum()) for mass in (share, other, share * other))
    moves = means.of(number, scores, share).values()
    whole = np.array([moved.items.sum(axis=1) for moved in moves])
    return Masses(up, down, both, len(share), unused, whole), samples


def rank_items(
    means: Means, folder: Path, yes: int, metrics: tuple[str, ...]
) -> tuple[Masses, "Ranking | None"]:
    """Add up all items, and rank them by every model where there are metrics of `RANKED`."""
    study, files = means.study, _Files(folder)
    used = (study.votes.folder, study.scores.folder, folder)
    numbers, workers = range(study.votes.partitions), study.votes.votes.workers
    write = partial(_write_run, means, files, yes, sort=bool(metrics))
    written = map_partitions(write, numbers, workers, used)
    parts = [part for part, _ in written]
    masses = Masses(
        up=math.fsum(part.up for part in parts),
        down=math.fsum(part.down for part in parts),
        own=math.fsum(part.own for part in parts),
        items=sum(part.items for part in parts),
        unused=sum(part.unused for part in parts),
        scores=np.sum([part.scores for part in parts], axis=0),
    )
    if not metrics:
        return masses, None
    models = range(len(study.scores.models))
    edges = [_edges([samples[m] for _, samples in written], masses.items) for m in models]
    cut = map_partitions(partial(_cut, files, edges), numbers, workers, (folder,))
    cuts = [np.stack([part[m][0] for part in cut]) for m in models]
    mass = [np.sum([part[m][1] for part in cut], axis=0) for m in models]
    tasks = [
        _Range(m, r, *mass[m][:r].sum(axis=0).tolist())
        for m in models
        for r in range(len(mass[m]))
    ]
    merge = _Merge(files, cuts, masses.down, "average_precision" in metrics)
    merged = map_partitions(merge, tasks, workers, (folder,))
    by_model = [[s for t, s in zip(tasks, merged, strict=True) if t.model == m] for m in models]
    return masses, Ranking(files, metrics, cuts, masses, by_model)


def _edges(samples: list[Floats], items: int) -> Floats:
    """Scores, falling, that cut all items into ranges; one that very many share is alone."""
    ordered = np.sort(np.concatenate(samples))[::-1]
    ranges = max(1, -(-items // RANGE))
    chosen = ordered[np.linspace(0, len(ordered) - 1, ranges + 1).astype(np.int64)[1:-1]]
    heavy = np.unique(chosen[1:][chosen[1:] == chosen[:-1]])
    return np.unique(np.concatenate((chosen, heavy, np.nextafter(heavy, np.inf))))[::-1]


def _cut(files: _Files, edges: list[Floats], number: int) -> list[tuple[Ints, Floats]]:
    """Find where ranges begin in one run of every model, and their masses (ranges, 2)."""
    cuts: list[tuple[Ints, Floats]] = []
    for model, model_edges in enumerate(edges):
        score, up = (mapped(files.run(name, number, model)) for name in ("score", "up"))
        inside = np.searchsorted(-score, -model_edges, side="right")
        ends = np.concatenate(([0], inside, [len(score)])).astype(np.int64)
        parts = [up[a:b] for a, b in pairwise(ends)]
        masses = np.array([(part.sum(), (1 - part).sum()) for part in parts])
        cuts.append((ends, masses))
    return cuts


class _Range(NamedTuple):
    """A range of a model, and what lies above it."""

    model: int
    place: int
    above: float
    below: float


class _RangeSums(NamedTuple):
    """Sums over a range.

    Of positive mass times wins; and, for average precision, over its runs of equal scores, of
    r/N, of terms/N, of terms and of d/N.
    """

    won: float = 0.0
    later: float = 0.0
    later_term: float = 0.0
    terms: float = 0.0
    extra: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Merge:
    """Merges one range of all runs and writes what is found of its items.

    Rows are wins and losses; with `precise` also gain, later terms and 1/N, within the range.
    """

    files: _Files
    cuts: list[Ints]
    down: float
    precise: bool

    def __call__(self, task: _Range) -> _RangeSums:
        cuts = self.cuts[task.model][:, task.place : task.place + 2]
        slices = [(n, int(a), int(b)) for n, (a, b) in enumerate(cuts) if b > a]
        if not slices:
            return _RangeSums()
        scores = [self._piece("score", task.model, piece) for piece in slices]
        if min(part[-1] for part in scores) == max(part[0] for part in scores):
            return self._level(task, slices)
        return self._sorted(task, np.concatenate(scores), slices)

    def _piece(self, name: str, model: int, piece: tuple[int, int, int]) -> Any:
        number, begin, end = piece
        return mapped(self.files.run(name, number, model))[begin:end]

    def _sorted(
        self, task: _Range, score: Floats, slices: list[tuple[int, int, int]]
    ) -> _RangeSums:
        from equipoise.kernels.blocks import precision_terms, tied_sums

        up = np.concatenate([self._piece("up", task.model, piece) for piece in slices])
        order = np.argsort(-score, kind="stable")
        score, up = score[order], up[order]
        rows = np.empty((5 if self.precise else 2, len(score)))
        begin = (task.above, task.below, self.down)
        won = tied_sums(score, up, begin, rows[0], rows[1])
        sums: tuple[float, ...] = ()
        if self.precise:
            sums = precision_terms(score, up, begin, (rows[2], rows[3], rows[4]))
        back = np.empty_like(rows)
        back[:, order] = rows
        np.save(self.files.merged(task.model, task.place), back)
        return _RangeSums(float(won), *map(float, sums))

    def _level(self, task: _Range, slices: list[tuple[int, int, int]]) -> _RangeSums:
        """The same of a range whose items are all tied, a run at a time."""
        parts = [self._piece("up", task.model, piece) for piece in slices]
        up = math.fsum(float(part.sum()) for part in parts)
        down = math.fsum(float((1 - part).sum()) for part in parts)
        both = math.fsum(float((part * (1 - part)).sum()) for part in parts)
        size = sum(len(part) for part in parts)
        seen, above = task.above + task.below + up + down, task.above + up
        term, shape = (up * above + both) / seen, (5 if self.precise else 2, size)
        path, won, done = self.files.merged(task.model, task.place), 0.0, 0
        out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
        for part in parts:
            part_rows = out[:, done : done + len(part)]
            part_rows[0] = self.down - task.below - 0.5 * down - 0.5 * (1 - part)
            part_rows[1] = task.above + 0.5 * up - 0.5 * part
            won += float((part * part_rows[0]).sum())
            if self.precise:
                part_rows[2:] = np.array([above + up, term, 1.0])[:, None] / seen
            done += len(part)
        out.flush()
        sums = (up / seen, term / seen, term, both / seen) if self.precise else ()
        return _RangeSums(won, *sums)


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Items of all partitions, merged; small enough to be sent to workers."""

    files: _Files
    metrics: tuple[str, ...]
    cuts: list[Ints]
    masses: Masses
    sums: list[list[_RangeSums]]

    def values(self, metric: str) -> Floats:
        """One per model."""
        up, pairs = self.masses.up, self.masses.pairs
        if metric == "auroc":
            won = [math.fsum(part.won for part in ranges) for ranges in self.sums]
            return np.array([mass / pairs if pairs > 0 else math.nan for mass in won])
        terms = [math.fsum(part.terms for part in ranges) for ranges in self.sums]
        return np.array([mass / up if up > 0 else math.nan for mass in terms])

    def moved(self, number: int, share: Floats) -> dict[str, Moved]:
        """Derivatives of every metric by the items of one partition, given their shares."""
        models = range(len(self.cuts))
        moves = {name: Moved(*np.empty((2, len(models), len(share)))) for name in self.metrics}
        values = {name: self.values(name) for name in self.metrics}
        for m in models:
            rows = self._gathered(number, m)
            for name, moved in moves.items():
                function = self._auroc if name == "auroc" else self._precision
                moved.items[m], moved.slopes[m] = function(m, share, rows, values[name][m])
        return moves

    def _gathered(self, number: int, model: int) -> Floats:
        """What was found of the items of one partition, in their order, (rows, items)."""
        cuts, sums = self.cuts[model], self.sums[model]
        order = mapped(self.files.run("order", number, model))
        rows = 5 if "average_precision" in self.metrics else 2
        out = np.empty((rows, len(order)))
        for place in range(cuts.shape[1] - 1):
            a, b = cuts[number, place : place + 2]
            if a == b:
                continue
            first = int((cuts[:number, place + 1] - cuts[:number, place]).sum())
            merged = mapped(self.files.merged(model, place))[:, first : first + b - a]
            out[:, order[a:b]] = merged
            if rows > 2:  # sums over the ranges below
                out[2, order[a:b]] += math.fsum(part.later for part in sums[place + 1 :])
                out[3, order[a:b]] += math.fsum(part.later_term for part in sums[place + 1 :])
        return out

    def _auroc(
        self, model: int, p: Floats, rows: Floats, value: float
    ) -> tuple[Floats, Floats]:
        del model
        q, (wins, losses) = 1 - p, rows[:2]
        up_pairs, down_pairs = self.masses.down - q, self.masses.up - p
        items = p * wins + q * losses - value * (p * up_pairs + q * down_pairs)
        slopes = wins - losses - value * (up_pairs - down_pairs)
        pairs = self.masses.pairs or math.nan
        return items / pairs, slopes / pairs

    def _precision(
        self, model: int, p: Floats, rows: Floats, value: float
    ) -> tuple[Floats, Floats]:
        """Centred: of the sum, all but the terms d/N is homogeneous of degree 1 in weights."""
        gain, later, inverse = rows[2:]
        extra = math.fsum(part.extra for part in self.sums[model])
        items = p * (gain + (1 - p) * inverse - value) - later + extra / self.masses.items
        slopes = gain + (1 - 2 * p) * inverse - value
        up = self.masses.up or math.nan
        return items / up, slopes / up

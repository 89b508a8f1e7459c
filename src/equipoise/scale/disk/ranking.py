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
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.scale.disk.coded import Codes, mapped
from equipoise.scale.disk.means import Means, Moved
from equipoise.scale.disk.votes import map_partitions
from equipoise.types.arrays import Floats, Ints

RANKED = ("auroc", "average_precision")
RANGE = 1 << 22  # items merged at a time
_SAMPLED = 512  # scores of a run that are looked at to cut ranges


def shares_of(codes: Codes, number: int, yes: int) -> Floats:
    """Share of the votes of each item of one partition for one class."""
    start, code, weight = codes.rows(number)
    item = np.repeat(np.arange(len(start) - 1), np.diff(start))
    mass = np.asarray(weight) if len(weight) else np.ones(len(code))
    total = np.bincount(item, mass, len(start) - 1)
    said = mass * (code % codes.size == yes)
    return np.asarray(np.bincount(item, said, len(start) - 1) / total)


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
    up, down, own = (float(one.sum()) for one in (share, other, share * other))
    found = means.of(number, scores, share).values()
    whole = np.array([one.items.sum(axis=1) for one in found])
    return Masses(up, down, own, len(share), unused, whole), samples


def rank_items(
    means: Means, folder: Path, yes: int, metrics: tuple[str, ...]
) -> tuple[Masses, "Ranking | None"]:
    """Add up all items, and rank them by every model where there are metrics of `RANKED`."""
    study, files = means.study, _Files(folder)
    used = (study.votes.folder, study.scores.folder, folder)
    numbers, workers = range(study.votes.partitions), study.votes.votes.workers
    write = partial(_write_run, means, files, yes, sort=bool(metrics))
    found = map_partitions(write, numbers, workers, used)
    parts = [part for part, _ in found]
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
    edges = [_edges([samples[m] for _, samples in found], masses.items) for m in models]
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
    every = np.sort(np.concatenate(samples))[::-1]
    ranges = max(1, -(-items // RANGE))
    chosen = every[np.linspace(0, len(every) - 1, ranges + 1).astype(np.int64)[1:-1]]
    heavy = np.unique(chosen[1:][chosen[1:] == chosen[:-1]])
    return np.unique(np.concatenate((chosen, heavy, np.nextafter(heavy, np.inf))))[::-1]


def _cut(files: _Files, edges: list[Floats], number: int) -> list[tuple[Ints, Floats]]:
    """Find where ranges begin in one run of every model, and their masses (ranges, 2)."""
    found: list[tuple[Ints, Floats]] = []
    for model, own in enumerate(edges):
        score, up = (mapped(files.run(name, number, model)) for name in ("score", "up"))
        inside = np.searchsorted(-score, -own, side="right")
        ends = np.concatenate(([0], inside, [len(score)])).astype(np.int64)
        parts = [up[a:b] for a, b in pairwise(ends)]
        masses = np.array([(part.sum(), (1 - part).sum()) for part in parts])
        found.append((ends, masses))
    return found


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
        scores = [self._piece("score", task.model, one) for one in slices]
        if min(one[-1] for one in scores) == max(one[0] for one in scores):
            return self._level(task, slices)
        return self._sorted(task, np.concatenate(scores), slices)

    def _piece(self, name: str, model: int, piece: tuple[int, int, int]) -> Any:
        number, begin, end = piece
        return mapped(self.files.run(name, number, model))[begin:end]

    def _sorted(
        self, task: _Range, score: Floats, slices: list[tuple[int, int, int]]
    ) -> _RangeSums:
        from equipoise.kernels.blocks import precision_terms, tied_sums

        up = np.concatenate([self._piece("up", task.model, one) for one in slices])
        order = np.argsort(-score, kind="stable")
        score, up = score[order], up[order]
        found = np.empty((5 if self.precise else 2, len(score)))
        begin = (task.above, task.below, self.down)
        won = tied_sums(score, up, begin, found[0], found[1])
        sums: tuple[float, ...] = ()
        if self.precise:
            sums = precision_terms(score, up, begin, (found[2], found[3], found[4]))
        back = np.empty_like(found)
        back[:, order] = found
        np.save(self.files.merged(task.model, task.place), back)
        return _RangeSums(float(won), *map(float, sums))

    def _level(self, task: _Range, slices: list[tuple[int, int, int]]) -> _RangeSums:
        """The same of a range whose items are all tied, a run at a time."""
        parts = [self._piece("up", task.model, one) for one in slices]
        up = math.fsum(float(part.sum()) for part in parts)
        down = math.fsum(float((1 - part).sum()) for part in parts)
        own = math.fsum(float((part * (1 - part)).sum()) for part in parts)
        size = sum(len(part) for part in parts)
        seen, above = task.above + task.below + up + down, task.above + up
        term, shape = (up * above + own) / seen, (5 if self.precise else 2, size)
        path, won, done = self.files.merged(task.model, task.place), 0.0, 0
        out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
        for part in parts:
            own_rows = out[:, done : done + len(part)]
            own_rows[0] = self.down - task.below - 0.5 * down - 0.5 * (1 - part)
            own_rows[1] = task.above + 0.5 * up - 0.5 * part
            won += float((part * own_rows[0]).sum())
            if self.precise:
                own_rows[2:] = np.array([above + up, term, 1.0])[:, None] / seen
            done += len(part)
        out.flush()
        sums = (up / seen, term / seen, term, own / seen) if self.precise else ()
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
            won = [math.fsum(part.won for part in one) for one in self.sums]
            return np.array([one / pairs if pairs > 0 else math.nan for one in won])
        terms = [math.fsum(part.terms for part in one) for one in self.sums]
        return np.array([one / up if up > 0 else math.nan for one in terms])

    def moved(self, number: int, share: Floats) -> dict[str, Moved]:
        """Derivatives of every metric by the items of one partition, given their shares."""
        models = range(len(self.cuts))
        made = {name: Moved(*np.empty((2, len(models), len(share)))) for name in self.metrics}
        values = {name: self.values(name) for name in self.metrics}
        for m in models:
            found = self._gathered(number, m)
            for name, one in made.items():
                function = self._auroc if name == "auroc" else self._precision
                one.items[m], one.slopes[m] = function(m, share, found, values[name][m])
        return made

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
            found = mapped(self.files.merged(model, place))[:, first : first + b - a]
            out[:, order[a:b]] = found
            if rows > 2:  # sums over the ranges below
                out[2, order[a:b]] += math.fsum(one.later for one in sums[place + 1 :])
                out[3, order[a:b]] += math.fsum(one.later_term for one in sums[place + 1 :])
        return out

    def _auroc(
        self, model: int, p: Floats, found: Floats, value: float
    ) -> tuple[Floats, Floats]:
        del model
        q, (wins, losses) = 1 - p, found[:2]
        up_pairs, down_pairs = self.masses.down - q, self.masses.up - p
        items = p * wins + q * losses - value * (p * up_pairs + q * down_pairs)
        slopes = wins - losses - value * (up_pairs - down_pairs)
        pairs = self.masses.pairs or math.nan
        return items / pairs, slopes / pairs

    def _precision(
        self, model: int, p: Floats, found: Floats, value: float
    ) -> tuple[Floats, Floats]:
        """Centred: of the sum, all but the terms d/N is homogeneous of degree 1 in weights."""
        gain, later, inverse = found[2:]
        extra = math.fsum(one.extra for one in self.sums[model])
        items = p * (gain + (1 - p) * inverse - value) - later + extra / self.masses.items
        slopes = gain + (1 - 2 * p) * inverse - value
        up = self.masses.up or math.nan
        return items / up, slopes / up

r"""Soft AUROC of scores on disk, with its interval for items and annotators like these.

The same numbers as `equipoise.evaluate` gives for ``auroc`` against soft labels: with
:math:`p_i` the share of votes for the class, :math:`q_i = 1 - p_i` and ties counting half,

.. math:: T = \frac{\sum_i p_i w_i}{P Q - \sum_i p_i q_i}, \quad
    w_i = \sum_{j \ne i} q_j [s_i > s_j], \quad l_i = \sum_{j \ne i} p_j [s_j > s_i]

and influences of items and of votes from :math:`w_i` and :math:`l_i` (`equipoise.inference`).
They take an order of all items, which memory need not hold: every partition is sorted and
written as a run; values that cut all items into ranges of a few million are found from samples
of the runs; each range is gathered from all runs, merged, and its wins and losses are written
back to the runs, given the mass of all ranges above. A value that more items share than fit is
a range of its own, which needs no sorting. A last pass over partitions adds up the squares of
influences by item, annotator and cell.
"""

import math
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from equipoise.arrays import Floats, InputError, Ints, choice, require_number
from equipoise.disk.coded import CodedVotes
from equipoise.disk.scores import ScoresOnDisk, Study, join
from equipoise.disk.votes import VotesOnDisk, map_partitions
from equipoise.inference import (
    CROWD,
    DENSE,
    Crossing,
    Design,
    Family,
    Population,
    Reason,
    TwoWay,
    crossed_design,
    crowd_square,
    dense_traces,
    family,
    floor_of,
    gap_sums,
    item_degrees,
    population_of,
    single_design,
)
from equipoise.notices import Notice
from equipoise.wording import ONE_CLASS, hint

RANGE = 1 << 22  # items merged at a time
_SAMPLED = 512  # scores of a run that are looked at to cut ranges
_STRIPE = 32_000_000  # numbers of a stripe of annotators by annotators


class ScoredModel(NamedTuple):
    """Soft AUROC of one model, its interval and standard error, and ranks it may have."""

    model: str
    value: float
    low: float
    high: float
    standard_error: float
    best_rank: int
    worst_rank: int


class ModelGap(NamedTuple):
    """Model a minus model b with its interval; `p` is that among all pairs of models."""

    a: str
    b: str
    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True, eq=False)
class EvaluationOnDisk:
    """Models against votes on disk.

    Attributes
    ----------
    positive
        The class whose share of votes is the soft label.
    models, gaps
        Every model, and every pair of them.
    population
        Whom the intervals speak for.
    items
        How many were scored.
    cell
        Values and covariances, for further inference.
    """

    positive: str
    models: tuple[ScoredModel, ...]
    gaps: tuple[ModelGap, ...]
    population: Population
    items: int
    cell: TwoWay
    notices: tuple[Notice, ...] = ()


def evaluate(
    votes: VotesOnDisk,
    scores: ScoresOnDisk,
    *,
    positive: str | None = None,
    level: float = 0.95,
    work: Path | None = None,
) -> EvaluationOnDisk:
    """Soft AUROC of every model, two-way intervals, and all pairs of models at once.

    Parameters
    ----------
    positive
        The class that scores are for; by default the second of two.
    work
        A folder for runs and coded votes, emptied in the end; by default a temporary one.
        It takes about 60 bytes per item and model, and 4 per vote.
    """
    require_number("evaluate, level", level, above=0, below=1, do="try 0.95")
    yes = _positive(votes, positive)
    if "group" in votes.columns:
        do = "leave the column out, or evaluate items that fit in memory"
        got = f"a column of groups {votes.columns['group']!r}"
        raise InputError(str(votes.folder), got, "items that stand for themselves", do)
    if work is not None:
        work.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="equipoise-", dir=work))
    try:
        study = join(votes, scores, folder)
        runs = _Runs(study, folder, yes)
        runs.write()
        values = runs.merge()
        return _evaluated(runs, values, level)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _positive(votes: VotesOnDisk, positive: str | None) -> int:
    """Code of the class that scores are for."""
    if positive is not None:
        return votes.classes.index(choice("positive", positive, votes.classes))
    if len(votes.classes) != 2:
        raise InputError(
            str(votes.folder),
            f"{len(votes.classes)} classes",
            "two, or the one that scores are for",
            hint("ask about one class with {}", ONE_CLASS),
        )
    return 1


class _Runs:
    """Sorted runs of all models and partitions, in files of a folder."""

    def __init__(self, study: Study, folder: Path, yes: int) -> None:
        self.study, self.folder, self.yes = study, folder, yes
        self.votes: CodedVotes = study.votes
        self.models = study.scores.models
        self.number = study.votes.partitions
        self.workers = study.votes.votes.workers
        self.up = self.down = self.own = 0.0
        self.unused = 0

    def _place(self, name: str, number: int, model: int | None = None) -> Path:
        own = "" if model is None else f"-{model}"
        return self.folder / f"{name}{own}-{number:05d}.npy"

    def read(
        self, name: str, number: int, model: int | None = None, mode: Literal["r", "r+"] = "r"
    ) -> Any:
        """An array of a run, mapped."""
        return np.load(self._place(name, number, model), mmap_mode=mode)

    def write(self) -> None:
        """Sort the items of every partition by every model."""
        found = map_partitions(self._write, range(self.number), self.workers)
        self.up, self.down, self.own = (math.fsum(one[k] for one in found) for k in range(3))
        self.unused = sum(one[3] for one in found)

    def _write(self, number: int) -> tuple[float, float, float, int]:
        rows = self.votes.rows(number)
        share = _shares(rows, self.votes.size, self.yes)
        scores, unused = self.study.matched(number)
        np.save(self._place("share", number), share)
        for m, score in enumerate(scores):
            order = np.argsort(-score, kind="stable").astype(np.uint32)
            np.save(self._place("score", number, m), score[order])
            np.save(self._place("up", number, m), share[order])
            np.save(self._place("order", number, m), order)
            for name in ("wins", "losses"):
                np.save(self._place(name, number, m), np.zeros(len(score)))
        other = 1 - share
        return float(share.sum()), float(other.sum()), float((share * other).sum()), unused

    @property
    def items(self) -> int:
        """Items of all partitions."""
        return self.votes.items

    @property
    def pairs(self) -> float:
        """Mass of pairs of different items, one of each side."""
        return self.up * self.down - self.own

    def merge(self) -> Floats:
        """Fill in wins and losses, range by range; AUROC of every model."""
        defined = self.pairs > 1e-12 * self.up * self.down and self.up * self.down > 0
        found = [
            self._merge(m) / self.pairs if defined else math.nan
            for m in range(len(self.models))
        ]
        return np.array(found)

    def _merge(self, model: int) -> float:
        cuts, mass = self._ranges(model)
        above = np.concatenate(([0.0], np.cumsum(mass[:, 0])))
        below = np.concatenate(([0.0], np.cumsum(mass[:, 1])))

        def one(place: int) -> float:
            begin = (float(above[place]), float(below[place]), self.down)
            return self._merge_range(model, cuts[:, place : place + 2], begin)

        return math.fsum(map_partitions(one, range(cuts.shape[1] - 1), self.workers))

    def _ranges(self, model: int) -> tuple[Ints, Floats]:
        """Where ranges begin in every run (runs, ranges + 1), and masses (ranges, 2)."""
        samples = []
        for number in range(self.number):
            score = self.read("score", number, model)
            samples.append(np.asarray(score[:: max(1, len(score) // _SAMPLED)]))
        every = np.sort(np.concatenate(samples))[::-1]
        ranges = max(1, -(-self.items // RANGE))
        chosen = every[np.linspace(0, len(every) - 1, ranges + 1).astype(np.int64)[1:-1]]
        heavy = np.unique(chosen[1:][chosen[1:] == chosen[:-1]])
        edges = np.unique(np.concatenate((chosen, heavy, np.nextafter(heavy, np.inf))))[::-1]

        def cut(number: int) -> tuple[Ints, Floats]:
            score, up = self.read("score", number, model), self.read("up", number, model)
            inside = np.searchsorted(-np.asarray(score), -edges, side="right")
            ends = np.concatenate(([0], inside, [len(score)])).astype(np.int64)
            mass = np.array(
                [
                    (part.sum(), (1 - part).sum())
                    for part in (np.asarray(up[a:b]) for a, b in pairwise(ends))
                ]
            )
            return ends, mass

        found = map_partitions(cut, range(self.number), self.workers)
        return np.stack([ends for ends, _ in found]), np.sum(
            [mass for _, mass in found], axis=0
        )

    def _merge_range(self, model: int, cuts: Ints, begin: tuple[float, float, float]) -> float:
        """Merge one range of all runs; the sum of positive mass times wins."""
        from equipoise.kernels.disk import tied_sums

        slices = [(n, int(a), int(b)) for n, (a, b) in enumerate(cuts) if b > a]
        if not slices:
            return 0.0
        ends = [
            (self.read("score", n, model)[a], self.read("score", n, model)[b - 1])
            for n, a, b in slices
        ]
        if min(low for _, low in ends) == max(high for high, _ in ends):
            return self._level_range(model, slices, begin)
        score = np.concatenate([self.read("score", n, model)[a:b] for n, a, b in slices])
        up = np.concatenate([self.read("up", n, model)[a:b] for n, a, b in slices])
        order = np.argsort(-score, kind="stable")
        wins, losses = np.empty(len(score)), np.empty(len(score))
        value = tied_sums(score[order], up[order], begin, wins, losses)
        for name, sorted_values in (("wins", wins), ("losses", losses)):
            back = np.empty(len(score))
            back[order] = sorted_values
            self._put(name, model, slices, back)
        return float(value)

    def _put(
        self, name: str, model: int, slices: list[tuple[int, int, int]], values: Floats
    ) -> None:
        done = 0
        for number, a, b in slices:
            self.read(name, number, model, "r+")[a:b] = values[done : done + b - a]
            done += b - a

    def _level_range(
        self, model: int, slices: list[tuple[int, int, int]], begin: tuple[float, float, float]
    ) -> float:
        """The same of a range whose items are all tied, a run at a time."""
        above, below, total = begin
        parts = [np.asarray(self.read("up", n, model)[a:b]) for n, a, b in slices]
        up = math.fsum(float(part.sum()) for part in parts)
        down = math.fsum(float((1 - part).sum()) for part in parts)
        value = 0.0
        for part, own in zip(parts, slices, strict=True):
            wins = total - below - 0.5 * down - 0.5 * (1 - part)
            self._put("wins", model, [own], wins)
            self._put("losses", model, [own], above + 0.5 * up - 0.5 * part)
            value += float((part * wins).sum())
        return value

    def influences(self, number: int, values: Floats) -> tuple[Floats, Floats, Floats]:
        """Shares of one partition's items (items,), and derivatives of every model's value.

        By the weight of items and by their shares, both (models, items).
        """
        p = np.asarray(self.read("share", number))
        q = 1 - p
        up_pairs, down_pairs = self.down - q, self.up - p
        items, slopes = np.empty((2, len(values), len(p)))
        for m, value in enumerate(values):
            order = np.asarray(self.read("order", number, m))
            wins, losses = np.empty(len(p)), np.empty(len(p))
            wins[order] = self.read("wins", number, m)
            losses[order] = self.read("losses", number, m)
            items[m] = p * wins + q * losses - value * (p * up_pairs + q * down_pairs)
            slopes[m] = wins - losses - value * (up_pairs - down_pairs)
        items /= self.pairs
        slopes /= self.pairs
        return p, items, slopes


def _shares(rows: tuple[Any, Any, Any], size: int, yes: int) -> Floats:
    """Share of the votes of each item for one class."""
    start, code, weight = rows
    item = np.repeat(np.arange(len(start) - 1), np.diff(start))
    mass = np.asarray(weight) if len(weight) else np.ones(len(code))
    total = np.bincount(item, mass, len(start) - 1)
    return np.asarray(np.bincount(item, mass * (code % size == yes), len(start) - 1) / total)


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Sums over items and votes of some partitions, all models at once."""

    influence: Floats
    total: Floats
    fourth: Floats
    people: Floats
    cells: Floats
    design: Floats
    weight: Floats
    number: Floats

    @classmethod
    def empty(cls, models: int, people: int) -> "_Sums":
        """All zero."""
        return cls(
            influence=np.zeros((models, models)),
            total=np.zeros((models, models)),
            fourth=np.zeros((models, models)),
            people=np.zeros((models, people)),
            cells=np.zeros((models, models)),
            design=np.zeros(2),
            weight=np.zeros(people),
            number=np.zeros(people),
        )

    def add(self, other: "_Sums") -> None:
        """Add those of later partitions."""
        for name in self.__slots__:
            getattr(self, name).__iadd__(getattr(other, name))


def _summed(runs: _Runs, values: Floats) -> _Sums:
    """Pass over all partitions once more."""
    from equipoise.kernels.disk import vote_moves

    models, people = len(values), len(runs.votes.annotators)

    def one(group: range) -> _Sums:
        sums = _Sums.empty(models, people)
        for number in group:
            share, items, slopes = runs.influences(number, values)
            sums.influence.__iadd__(items @ items.T)
            for a in range(models):
                total, fourth = gap_sums(items, a)
                sums.total[a, a:] += total
                sums.fourth[a, a:] += fourth
            parts = (sums.people, sums.cells, sums.design, sums.weight, sums.number)
            kind = (runs.votes.size, runs.yes)
            vote_moves(runs.votes.rows(number), share, kind, slopes, parts)
        return sums

    first, *others = runs.votes.map_groups(one, (models + 2) * people)
    for sums in others:
        first.add(sums)
    return first


def _evaluated(runs: _Runs, values: Floats, level: float) -> EvaluationOnDisk:
    """Intervals of all models and pairs."""
    sums, units = _summed(runs, values), single_design(runs.items)
    known = "annotator" in runs.votes.votes.columns
    named = known and _is_panel(sums.number)
    design = _design(runs, sums, units) if named else units
    reason = Reason.ALONE if known and len(runs.votes.annotators) == 1 else Reason.NONE
    population = population_of(design, named=named, reason=reason)
    factor = design.annotator_factor if named else 1.0
    rare = max(min(runs.up, runs.items - runs.up), 1.0)
    cell = TwoWay(
        values=values,
        items=design.unit_factor * sums.influence,
        annotators=factor * (sums.people @ sums.people.T),
        cells=factor * sums.cells,
        draws=np.zeros((len(values), len(values))),
        df_items=item_degrees(sums.total, sums.fourth, runs.items, design, values),
        df_annotators=design.df_annotators,
        floor=floor_of(min(float(runs.items), rare), 1.0),
        population=population,
    )
    together = family(cell, level=level)
    notices = runs.study.notices
    if runs.unused:
        text = "{items:count} items have scores but no votes, and are not used"
        notices = (*notices, Notice("items_without_votes", text, (), {"items": runs.unused}))
    return EvaluationOnDisk(
        positive=runs.votes.votes.classes[runs.yes],
        models=tuple(_models(runs.models, cell, together, level)),
        gaps=tuple(_gaps(runs.models, cell, together, level)),
        population=population,
        items=runs.items,
        cell=cell,
        notices=notices,
    )


def _models(
    names: tuple[str, ...], cell: TwoWay, together: Family, level: float
) -> Iterator[ScoredModel]:
    for m, name in enumerate(names):
        spread, value = cell.of(m), float(cell.values[m])
        low, high = spread.interval(value, level, (0.0, 1.0))
        ranks = (int(one) for one in together.ranks[m])
        yield ScoredModel(name, value, low, high, spread.standard_error, *ranks)


def _gaps(
    names: tuple[str, ...], cell: TwoWay, together: Family, level: float
) -> Iterator[ModelGap]:
    for a, name in enumerate(names):
        for b in range(a + 1, len(names)):
            value = float(cell.values[a] - cell.values[b])
            low, high = cell.between(a, b).interval(value, level, (-1.0, 1.0))
            yield ModelGap(name, names[b], value, low, high, float(together.p[a, b]))


def _is_panel(load: Floats) -> bool:
    """Whether people rated more than one item, given the items of each annotator."""
    return bool((load > 0).sum() > 1 and load[load > 1].sum() >= 0.5 * load.sum())


def _design(runs: _Runs, sums: _Sums, units: Design) -> Design:
    """What the design of items and annotators allows."""
    people = np.flatnonzero(sums.weight)
    trace, square = _traces(runs, sums.weight)
    cells, within = sums.design.tolist()
    crossing = Crossing(sums.weight[people], trace, square, cells, within)
    return crossed_design(units, crossing, 1 / runs.items)


def _traces(runs: _Runs, weight: Floats) -> tuple[float, float]:
    """Traces of the annotators' weights centred at items, in stripes of annotators."""
    from scipy.sparse import csr_matrix, vstack

    from equipoise.kernels.disk import rated_together

    people, few = len(weight), len(weight) <= DENSE
    height = people if few else max(1, _STRIPE // people)

    def stripe(low: int) -> tuple[Any, float, int, Floats]:
        left = np.zeros((min(height, people - low), people))
        for number in range(runs.number):
            rated_together(runs.votes.rows(number), runs.votes.size, low, left)
        np.negative(left, out=left)
        own = np.arange(len(left))
        left[own, low + own] += weight[low : low + len(left)]
        diagonal, trace = left[own, low + own].copy(), float(np.vdot(left, left))
        entries = int(np.count_nonzero(left))
        kept = left if few else csr_matrix(left) if entries <= CROWD // 100 else None
        return kept, trace, entries, diagonal

    found = map_partitions(stripe, range(0, people, height), runs.workers)
    if few:
        return dense_traces(found[0][0])
    trace = math.fsum(one[1] for one in found)
    if sum(one[2] for one in found) > CROWD // 100:
        return trace, crowd_square(np.concatenate([one[3] for one in found]), trace)
    whole = vstack([one[0] for one in found]).tocsr()
    square = whole @ whole
    return trace, float(square.multiply(square).sum())

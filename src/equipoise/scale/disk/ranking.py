r"""Items of all partitions in the order of scores, which memory need not hold.

Soft AUROC and average precision are those of `equipoise.metrics.ranking`, by the sums over
ranges of sorted items of `equipoise.kernels.influence`: memory is one range, a folder has many.

Every partition is sorted and written as a run. Values that cut all items into ranges of a few
million are found from samples of the runs. Each range is gathered from all runs, merged, and
written to a file of its own, given the mass of all ranges above; sums over the ranges below are
added when it is read. A value that more items share than fit is a range of its own, which needs
no sorting. No file is written by two tasks.

Metrics that are means over items of a score are linear in the share of votes for the class.

Scores on disk: a folder of Parquet partitions with an item and a column per model.

The scores of an item lie in the partition of the same number as its votes: where they do not,
both folders are cut anew by the hash of the item, once, in the working folder.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.inference.ballots import regression_moments
from equipoise.metrics import Metric, named
from equipoise.metrics._metric import sort_items
from equipoise.read.files import AnyPath
from equipoise.scale.disk.coded import CodedVotes, Codes, code_votes, mapped, repartition
from equipoise.scale.disk.votes import (
    Partition,
    VotesOnDisk,
    coded,
    map_partitions,
    open_votes,
    parquet_partitions,
)
from equipoise.truth.blocks import added
from equipoise.types import Floats, InputError, Ints, Names, immutable, listed, meant

MEANS = ("accuracy", "brier_score", "log_score")
RANKED = ("auroc", "average_precision")
RANGE = 1 << 22  # items merged at a time
_SAMPLED = 512  # scores of a run that are looked at to cut ranges


@immutable(eq=False)
class ScoresOnDisk:
    """Scores of one or several models that stay on disk; see `open_scores`.

    Attributes
    ----------
    folder, partitions
        Where they lie.
    item
        Their column of items.
    models
        Their columns of scores, which name the models.
    """

    folder: Path
    partitions: tuple[Partition, ...]
    item: str
    models: Names

    def read(self, number: int) -> tuple[Any, Floats]:
        """Items of one partition, an arrow array, and their scores (models, items)."""
        import pyarrow as pa

        part = self.partitions[number]
        with part.opened() as opened:
            table = opened.read([self.item, *self.models], use_threads=False)
        column = table.column(self.item).combine_chunks()
        codes, items = coded(column, f"{part.path.name}, column {self.item}")
        if len(items) < len(codes):
            twice = items[int(np.argmax(np.bincount(codes) > 1))].as_py()
            do = "keep one row per item"
            raise InputError(f"{part.path.name}, item {twice!r}", "several rows", "one", do)
        scores = np.empty((len(self.models), len(items)))
        for m, name in enumerate(self.models):
            column = table.column(name).combine_chunks()
            scores[m] = column.cast(pa.float64()).fill_null(np.nan)
            odd = np.flatnonzero(~np.isfinite(scores[m]))
            if len(odd):
                where = f"{part.path.name}, item {items[int(odd[0])].as_py()!r}"
                got, do = f"a score of {scores[m, odd[0]]} by {name}", "fill it in"
                raise InputError(where, got, "a finite number", do)
        return items, scores


def open_scores(
    path: AnyPath, *, item: str = "item", models: Sequence[str] | None = None
) -> ScoresOnDisk:
    """Open a folder of Parquet partitions as scores that stay on disk.

    Parameters
    ----------
    path
        The folder.
    item
        Name of the column of items.
    models
        Columns of scores; by default all columns of numbers but that of items.
    """
    import pyarrow as pa

    partitions, schema = parquet_partitions(Path(path))
    where = Path(path).name
    types = {column.name: column.type for column in schema}
    if item not in types:
        do = meant(item, list(types))
        raise InputError(where, f"columns {listed(list(types))}", f"a column {item!r}", do)
    numbers = [
        name
        for name, kind in types.items()
        if name != item and (pa.types.is_floating(kind) or pa.types.is_integer(kind))
    ]
    chosen = tuple(numbers if models is None else models)
    missing = [name for name in chosen if name not in numbers]
    if missing or not chosen:
        got = f"no column of numbers {missing[0]!r}" if missing else "no column of scores"
        do = "give a column of scores per model"
        raise InputError(where, got, f"columns of numbers ({listed(numbers)})", do)
    for part in partitions:
        with part.opened() as opened:
            names = opened.schema_arrow.names
        lost = [name for name in (item, *chosen) if name not in names]
        if lost:
            got, do = f"columns {listed(names)}", "write all partitions alike"
            raise InputError(part.path.name, got, f"a column {lost[0]!r}", do)
    return ScoresOnDisk(Path(path), partitions, item, chosen)


@immutable(eq=False)
class ScoredVotes:
    """Votes and scores whose partitions have the same items."""

    votes: CodedVotes
    scores: ScoresOnDisk

    def matched(self, number: int) -> tuple[Floats, int]:
        """Scores of the items of a partition of votes (models, items), and unused ones."""
        values, unused = _matched(self.votes.reader, self.scores, number)
        if values is None:
            names = self.votes.reader.item_names(number)
            raise _unscored(self.scores, names, number)
        return values, unused


def join(votes: VotesOnDisk, scores: ScoresOnDisk, work: Path) -> ScoredVotes:
    """Bring votes and scores together, cutting both anew where their partitions differ."""
    coded_votes = code_votes(votes, work / "votes", anonymous=True)
    number = len(votes.partitions)
    if len(scores.partitions) == number and _fit(coded_votes, scores):
        return ScoredVotes(coded_votes, scores)
    again = [work / "cut-votes", work / "cut-scores"]
    theirs = votes.columns["item"]
    for folder, target, item in (
        (votes.folder, again[0], theirs),
        (scores.folder, again[1], scores.item),
    ):
        if not target.exists():
            repartition(folder, target, number, item=item)
    cut = open_votes(
        again[0],
        classes=votes.classes,
        columns=dict(votes.columns),
        kind=votes.scale.kind,
        task=votes.task or None,
        workers=votes.workers,
    )
    cut = replace(cut, notices=votes.notices)
    cut_scores = open_scores(again[1], item=scores.item, models=scores.models)
    order = {part.path.name: part for part in cut_scores.partitions}
    names = [part.path.name for part in cut.partitions]
    if any(name not in order for name in names):
        raise _unscored(scores, None, 0)
    cut_scores = replace(cut_scores, partitions=tuple(order[name] for name in names))
    return ScoredVotes(code_votes(cut, work / "votes-cut", anonymous=True), cut_scores)


def _fit(coded_votes: CodedVotes, scores: ScoresOnDisk) -> bool:
    """Whether the first and the last partition of votes have all their scores."""
    ends = {0, coded_votes.partitions - 1}
    return all(_matched(coded_votes.reader, scores, number)[0] is not None for number in ends)


def _matched(reader: Codes, scores: ScoresOnDisk, number: int) -> tuple[Floats | None, int]:
    import pyarrow.compute as pc

    voted = reader.item_names(number)
    items, values = scores.read(number)
    if voted.equals(items):
        return values, 0
    if voted.type != items.type:
        where, got = f"{scores.folder.name}, column {scores.item}", str(items.type)
        do = "write items of votes and scores alike"
        raise InputError(where, got, f"{voted.type}, as in the votes", do)
    place = pc.index_in(voted, value_set=items)
    if place.null_count:
        return None, 0
    return values[:, np.asarray(place)], len(items) - len(voted)


def _unscored(scores: ScoresOnDisk, voted: Any, number: int) -> InputError:
    """The error for items with votes alone; `voted` are those of one partition, if known."""
    import pyarrow.compute as pc

    example = ""
    if voted is not None:
        there = pc.is_in(voted, value_set=scores.read(number)[0])
        example = f", such as {voted.filter(pc.invert(there))[0].as_py()!r}"
    return InputError(
        f"{scores.folder.name}",
        f"items with votes but without scores{example}",
        "scores of every item that has votes",
        "score them, or leave their votes out",
    )


# ---- in the order of scores -----------------------------------------------------------------


class Moved(NamedTuple):
    """How models' values move with the items of a partition.

    By the weight of items and by their shares, both (models, items).
    """

    items: Floats
    slopes: Floats


@immutable(eq=False)
class Means:
    """Mean metrics of the models of a study."""

    study: ScoredVotes
    metrics: Names

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
    moments
        What shares are predicted from: products of 1, scores and shares.
    single
        Items with one vote.
    """

    up: float
    down: float
    own: float
    items: int
    unused: int
    scores: Floats
    moments: Floats
    single: int

    @property
    def pairs(self) -> float:
        """Mass of pairs of different items, one of each side; 0 where there are none."""
        whole = self.up * self.down
        return whole - self.own if whole - self.own > 1e-12 * whole else 0.0


@immutable
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
    share = study.votes.reader.shares(number, yes)
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
    moments = regression_moments(share, scores)
    single = int((np.diff(study.votes.reader.rows(number)[0]) == 1).sum())
    return Masses(up, down, both, len(share), unused, whole, moments, single), samples


def rank_items(
    means: Means, folder: Path, yes: int, metrics: Names
) -> tuple[Masses, "Ranking | None"]:
    """Add up all items, and rank them by every model where there are metrics of `RANKED`."""
    study, files = means.study, _Files(folder)
    used = (study.votes.folder, study.scores.folder, folder)
    numbers, workers = range(study.votes.partitions), study.votes.votes.workers
    write = partial(_write_run, means, files, yes, sort=bool(metrics))
    written = map_partitions(write, numbers, workers, used)
    masses = added([part for part, _ in written])
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
    merge = _Merge(files, cuts, masses.down, metrics)
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


class _Sums(NamedTuple):
    """Sums over a range of one metric, as `equipoise.kernels.influence` returns them."""

    value: float = 0.0
    extra: float = 0.0
    later: float = 0.0
    later_term: float = 0.0


@immutable(eq=False)
class _Merge:
    """Merges one range of all runs and writes what is found of its items.

    Rows are, metric by metric, what derivatives by items and by their shares are made of.
    """

    files: _Files
    cuts: list[Ints]
    down: float
    metrics: Names

    def __call__(self, task: _Range) -> list[_Sums]:
        cuts = self.cuts[task.model][:, task.place : task.place + 2]
        slices = [(n, int(a), int(b)) for n, (a, b) in enumerate(cuts) if b > a]
        if not slices:
            return [_Sums() for _ in self.metrics]
        scores = [self._piece("score", task.model, piece) for piece in slices]
        if min(part[-1] for part in scores) == max(part[0] for part in scores):
            return self._level(task, slices)
        return self._sorted(task, np.concatenate(scores), slices)

    def _piece(self, name: str, model: int, piece: tuple[int, int, int]) -> Any:
        number, begin, end = piece
        return mapped(self.files.run(name, number, model))[begin:end]

    def _sorted(
        self, task: _Range, score: Floats, slices: list[tuple[int, int, int]]
    ) -> list[_Sums]:
        from equipoise.kernels import influence

        up = np.concatenate([self._piece("up", task.model, piece) for piece in slices])
        order, rows = sort_items(score), np.empty((len(self.metrics), 2, len(score)))
        before = (task.above, task.above + task.below, self.down)
        kernels = {"auroc": influence.auroc_sums, "average_precision": influence.precision_sums}
        sums = [
            _Sums(*map(float, kernels[name](*order, up, before, *moves)))
            for name, moves in zip(self.metrics, rows, strict=True)
        ]
        np.save(self.files.merged(task.model, task.place), rows)
        return sums

    def _level(self, task: _Range, slices: list[tuple[int, int, int]]) -> list[_Sums]:
        """The same of a range whose items are all tied, a run at a time."""
        parts = [self._piece("up", task.model, piece) for piece in slices]
        up = math.fsum(float(part.sum()) for part in parts)
        size = sum(len(part) for part in parts)
        path, done = self.files.merged(task.model, task.place), 0
        shape = (len(self.metrics), 2, size)
        out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
        itself = math.fsum(float((part * (1 - part)).sum()) for part in parts)
        seen, above = task.above + task.below + size, task.above + up
        term = (up * above + itself) / seen
        won = self.down - task.below - 0.5 * (size - up)
        for part in parts:
            for name, moves in zip(
                self.metrics, out[..., done : done + len(part)], strict=True
            ):
                if name == "auroc":
                    wins, losses = won - 0.5 * (1 - part), task.above + 0.5 * up - 0.5 * part
                    moves[:] = part * wins + (1 - part) * losses, wins - losses
                else:
                    gain = (above + up) / seen
                    moves[0] = part * (gain + (1 - part) / seen) - term / seen
                    moves[1] = gain + (1 - 2 * part) / seen
            done += len(part)
        out.flush()
        sums = {
            "auroc": _Sums(up * won - 0.5 * itself),
            "average_precision": _Sums(term, itself / seen, up / seen, term / seen),
        }
        return [sums[name] for name in self.metrics]


@immutable(eq=False)
class Ranking:
    """Items of all partitions, merged; small enough to be sent to workers."""

    files: _Files
    metrics: Names
    cuts: list[Ints]
    masses: Masses
    sums: list[list[list[_Sums]]]

    def values(self, metric: str) -> Floats:
        """One per model."""
        whole = self.masses.pairs if metric == "auroc" else self.masses.up
        sums = [self._total("value", model, metric) for model in self.sums]
        return np.array([mass / whole if whole > 0 else math.nan for mass in sums])

    def _total(self, name: str, ranges: list[list[_Sums]], metric: str) -> float:
        """Sum over ranges of a model."""
        place = self.metrics.index(metric)
        return math.fsum(getattr(part[place], name) for part in ranges)

    def moved(self, number: int, share: Floats) -> dict[str, Moved]:
        """Derivatives of every metric by the items of one partition, given their shares."""
        rows = np.stack([self._gathered(number, m, share) for m in range(len(self.cuts))])
        return {name: Moved(*rows[:, k].swapaxes(0, 1)) for k, name in enumerate(self.metrics)}

    def _gathered(self, number: int, model: int, share: Floats) -> Floats:
        """The same of one model, (metrics, 2, items)."""
        from equipoise.kernels.influence import auroc_moves, precision_moves

        cuts, sums, masses = self.cuts[model], self.sums[model], self.masses
        order = mapped(self.files.run("order", number, model))
        out = np.empty((len(self.metrics), 2, len(order)))
        for place in range(cuts.shape[1] - 1):
            a, b = cuts[number, place : place + 2]
            if a == b:
                continue
            first, items = int(np.diff(cuts[:number, place : place + 2]).sum()), order[a:b]
            out[..., items] = mapped(self.files.merged(model, place))[
                ..., first : first + b - a
            ]
            for moves, name in zip(out, self.metrics, strict=True):  # sums over ranges below
                below = self._total("later", sums[place + 1 :], name)
                term = self._total("later_term", sums[place + 1 :], name)
                moves[0, items] += share[items] * below - term
                moves[1, items] += below
        for moves, name in zip(out, self.metrics, strict=True):
            value = float(self.values(name)[model])
            if name == "auroc":
                whole = (masses.up, masses.down, masses.pairs or math.nan)
                auroc_moves(share, whole, value, *moves)
            else:
                extra = self._total("extra", sums, name)
                whole = (masses.up or math.nan, float(masses.items), extra)
                precision_moves(share, whole, value, *moves)
        return out

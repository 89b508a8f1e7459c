"""Scores on disk: a folder of Parquet partitions with an item and a column per model.

The scores of an item lie in the partition of the same number as its votes: where they do not,
both folders are cut anew by the hash of the item, once, in the working folder.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.read.files import AnyPath
from equipoise.scale.disk.coded import CodedVotes, Codes, code_votes, repartition
from equipoise.scale.disk.votes import (
    Partition,
    VotesOnDisk,
    coded,
    open_votes,
    parquet_partitions,
)
from equipoise.types import Floats, InputError, Names, listed, meant


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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

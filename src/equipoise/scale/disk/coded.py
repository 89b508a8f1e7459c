"""Coded votes: the votes of a question in few bytes, for models that read them many times.

One reading of the partitions writes, per partition, where the votes of each item start, a code
of four bytes per vote (annotator * classes + answer), how often votes count where they do not
all count once, and the items. Later passes map these files into memory, so that a pass runs at
the speed of memory where the votes fit in it, and of the disk where they do not.

They lie in a working folder, with the checkpoints of a fit, which a killed fit goes on from. A
partition counts as coded once its items, written last, are there whole; a working folder of
other votes is emptied.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from equipoise.read.writing import whole_file
from equipoise.scale.disk.partitions import ItemCheck
from equipoise.scale.disk.soft_labels import write_items
from equipoise.scale.disk.votes import VotesOnDisk, map_partitions
from equipoise.truth.blocks import Block
from equipoise.types.arrays import InputError

Result = TypeVar("Result")
MARK = "votes.json"
_FORMAT = 1
_ROOM = 512 * 2**20  # bytes that the sums of all groups may take
_GROUPS = 64  # of partitions, whose sums are added up apart


@dataclass(frozen=True, slots=True)
class Codes:
    """Where coded votes lie, and how many classes there are: what workers need of them."""

    folder: Path
    size: int

    def rows(self, number: int) -> tuple[Any, Any, Any]:
        """Start, code and weight of one partition's votes, mapped."""
        start, code, weight = (
            mapped(self.folder / f"{name}-{number:05d}.npy")
            for name in ("start", "code", "weight")
        )
        return start, code, weight

    def block(self, number: int) -> Block:
        """Votes of one partition; none of its items is gold."""
        return Block(*self.rows(number), np.zeros(0, dtype=np.int64))

    def item_names(self, number: int) -> Any:
        """Items of one partition, an arrow array."""
        from pyarrow import parquet

        path = self.folder / f"items-{number:05d}.parquet"
        return parquet.read_table(path, use_threads=False)["item"].combine_chunks()


def mapped(path: Path) -> Any:
    """An array in a file, mapped into memory."""
    empty = path.stat().st_size < 4096  # what is empty cannot be mapped
    return np.asarray(np.load(path, mmap_mode=None if empty else "r", allow_pickle=False))


@dataclass(frozen=True, eq=False)
class CodedVotes:
    """Votes of one question in compressed rows on disk; see the module."""

    votes: VotesOnDisk
    folder: Path

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.votes.classes

    @property
    def reader(self) -> Codes:
        """What workers need of them."""
        return Codes(self.folder, len(self.classes))

    @cached_property
    def annotators(self) -> tuple[str, ...]:
        """Names of the annotators; one without a name where votes are anonymous."""
        if "annotator" not in self.votes.columns:
            return ("",)
        return tuple(map(str, self.votes.annotators.to_pylist()))

    @cached_property
    def number_of_items(self) -> int:
        """How many items all partitions have."""
        reader = self.reader
        return sum(len(reader.rows(n)[0]) - 1 for n in range(self.partitions))

    @property
    def partitions(self) -> int:
        """How many."""
        return len(self.votes.partitions)

    def map_groups(
        self, function: Callable[[range], Result], numbers: int, *folders: Path
    ) -> list[Result]:
        """Apply a function to runs of partitions, to be summed apart; it uses these folders.

        Runs follow from the data and from how many numbers a sum has, so that results do not
        depend on the workers.
        """
        most = max(1, min(_GROUPS, self.partitions, _ROOM // (8 * max(numbers, 1))))
        ends = [self.partitions * place // most for place in range(most + 1)]
        groups = [range(a, b) for a, b in pairwise(ends)]
        return map_partitions(function, groups, self.votes.workers, (self.folder, *folders))


def code_votes(votes: VotesOnDisk, work: Path, *, anonymous: bool = False) -> CodedVotes:
    """Code the votes in a working folder, or go on with one where that was begun.

    With `anonymous`, votes without a column of annotators are all somebody's, number 0.
    """
    named = not anonymous or "annotator" in votes.columns
    people, size = len(votes.annotators) if named else 1, len(votes.classes)
    if people * size >= 2**32:
        raise InputError(
            str(votes.folder),
            f"{people:,} annotators and {size} classes",
            "fewer than 2^32 answers of annotators",
            "choose dirichlet or mean_vote",
        )
    work = work.absolute()
    _prepare(votes, work)
    check = ItemCheck(votes, work)
    votes.map(partial(_code, votes, work, check, named=named), work)
    check.finish()
    made = CodedVotes(votes, work)
    if not made.number_of_items:
        where = f"{votes.folder.name}, task {votes.task!r}"
        raise InputError(where, "no votes", "at least one", "check it")
    return made


def _code(
    votes: VotesOnDisk, work: Path, check: ItemCheck, number: int, *, named: bool
) -> None:
    """Code one partition, unless that was done."""
    from equipoise.kernels.blocks import rows_by_item

    last = work / f"items-{number:05d}.parquet"
    if last.exists():
        return
    rows = votes.read(number, annotators=named)
    check.add(number, rows.hashes())
    who = rows.annotator if named else np.zeros(len(rows.label), dtype=np.int64)
    code = (who * len(votes.classes) + rows.label).astype(np.uint32)
    made = rows_by_item(rows.item, code, rows.times, len(rows.items))
    for name, array in zip(("start", "code", "weight"), made, strict=True):
        with whole_file(work / f"{name}-{number:05d}.npy") as file:
            np.save(file, array)
    with whole_file(last) as file:
        write_items(file, rows.items, {})


def _prepare(votes: VotesOnDisk, work: Path) -> None:
    """Make a working folder, or empty one that was for other votes."""
    facts = _fingerprint(votes)
    mark = work / MARK
    if work.exists() and (not work.is_dir() or (any(work.iterdir()) and not mark.exists())):
        do = "name a new folder, or remove this one"
        raise InputError(
            f"working folder {work}", "something else", "a folder of coded votes", do
        )
    if mark.exists() and mark.read_text(encoding="utf-8") != facts:
        shutil.rmtree(work)
    work.mkdir(parents=True, exist_ok=True)
    if not mark.exists():
        with whole_file(mark) as file:
            file.write(facts.encode())


def _fingerprint(votes: VotesOnDisk) -> str:
    """What the codes rest on: files by name, size and time, columns, classes and task."""
    files, folder = [], votes.folder.absolute()
    for part in votes.partitions:
        about = part.path.stat()
        name = part.path.relative_to(folder).as_posix()
        files.append([name, about.st_size, about.st_mtime_ns, part.rows])
    facts = {
        "format": _FORMAT,
        "folder": str(votes.folder.resolve()),
        "files": files,
        "columns": dict(votes.columns),
        "classes": votes.classes,
        "task": votes.task,
    }
    return json.dumps(facts)


class Checkpoint:
    """Arrays of a fit that were whole at some iteration, for one setting of the fit."""

    def __init__(self, folder: Path, name: str, settings: dict[str, Any]) -> None:
        self._path = folder / f"{name}.npz"
        self._settings = json.dumps(settings, sort_keys=True)

    def load(self) -> dict[str, Any] | None:
        """The arrays of the last one; None where there is none of these settings."""
        if not self._path.exists():
            return None
        with np.load(self._path, allow_pickle=False) as held:
            if str(held["settings"]) != self._settings:
                return None
            return {name: held[name] for name in held.files if name != "settings"}

    def save(self, **arrays: Any) -> None:
        """Put a new one in the place of the last."""
        with whole_file(self._path) as file:
            np.savez(file, settings=np.array(self._settings), **arrays)


def working_folder(out: Path, work: Path | None) -> Path:
    """Where coded votes and checkpoints of a fit lie: beside the result by default."""
    return out.with_name(f"{out.name}.work") if work is None else work

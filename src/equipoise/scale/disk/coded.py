"""Coded votes: the votes of a question in few bytes, for models that read them many times.

One reading of the partitions writes, per partition, where the votes of each item start, a code
of four bytes per vote (annotator * classes + answer), how often votes count where they do not
all count once, and the items. Later passes map these files into memory, so that a pass runs at
the speed of memory where the votes fit in it, and of the disk where they do not.

They lie in a working folder, with the checkpoints of a fit, which a killed fit goes on from. A
partition counts as coded once its seal, written last, is there; what a later fit finds is held
against it, and refused where a bit changed. A working folder of other votes, by their content,
is emptied.

No item may lie in two partitions. Where the footers tell that partitions span different items
nothing is read. Otherwise hashes of the items of each partition are kept on disk, sorted, and
compared range by range, so that memory stays bounded; only items whose hashes meet are compared
by name.

`repartition` reads a file or a folder once, batch by batch, and writes every row to the
partition that the hash of its item says. Two folders cut into the same number of partitions
then have the votes and the scores of an item in partitions of the same number.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from equipoise.read import codec
from equipoise.read.delimited import ENDINGS as TEXTS
from equipoise.read.delimited import text_batches
from equipoise.read.files import AnyPath, Content, content, file_sha256, require_file
from equipoise.read.writing import check_ground, whole_file, whole_folder
from equipoise.scale.cells import resumable
from equipoise.scale.disk.votes import (
    Partition,
    VotesOnDisk,
    coded,
    hash_items,
    map_partitions,
    parquet_partitions,
)
from equipoise.truth.blocks import Block
from equipoise.types import Floats, InputError, Names, immutable, require_whole

Result = TypeVar("Result")
MARK = "votes.json"
AGAIN = "remove the working folder: the fit then begins anew"
_FORMAT = 3
_ROOM = 512 * 2**20  # bytes that the sums of all groups may take
_HASHES = 1 << 24  # hashes that are compared at a time
_BATCH = 1 << 18  # rows read at a time
_HELD = 1 << 22  # rows that wait to be written
MOST = 4096  # partitions
_GROUPS = 64  # of partitions, whose sums are added up apart


@immutable
class Codes:
    """Where coded votes lie, how many classes there are, and the seal of the votes."""

    folder: Path
    size: int
    source: str

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

    def shares(self, number: int, label: int) -> Floats:
        """Share of the votes of each item of one partition for one class."""
        return np.ascontiguousarray(self.block(number).shares(self.size)[:, label])

    def seal(self, number: int) -> Path:
        """The file with the hashes of all others of one partition."""
        return self.folder / f"sealed-{number:05d}.json"

    def check(self, number: int, codes: int) -> None:
        """Refuse what changed since it was coded; answers are below a number of codes."""
        codec.check_files(self.seal(number), AGAIN, self.source)
        start, code, weight = self.rows(number)
        rising = not start[0] and start[-1] == len(code) and bool((np.diff(start) >= 0).all())
        if not rising or code.max(initial=0) >= codes or len(weight) not in (0, len(code)):
            expected = "codes of these votes"
            raise InputError(str(self.seal(number)), "codes of other votes", expected, AGAIN)

    def item_names(self, number: int) -> Any:
        """Items of one partition, an arrow array."""
        from pyarrow import parquet

        path = self.folder / f"items-{number:05d}.parquet"
        return parquet.read_table(path, use_threads=False)["item"].combine_chunks()


def mapped(path: Path) -> Any:
    """An array in a file, mapped into memory."""
    empty = path.stat().st_size < 4096  # what is empty cannot be mapped
    return np.asarray(np.load(path, mmap_mode=None if empty else "r", allow_pickle=False))


@immutable(eq=False)
class CodedVotes:
    """Votes of one question in compressed rows on disk; see the module."""

    votes: VotesOnDisk
    reader: Codes

    @property
    def classes(self) -> Names:
        """Names of the classes."""
        return self.votes.classes

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self.reader.folder

    @cached_property
    def annotators(self) -> Names:
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
    codes = Codes(work, size, _prepare(votes, work))
    check = ItemCheck(votes, work)
    votes.map(partial(_code, votes, codes, check, named=named), work)
    check.finish()
    coded = CodedVotes(votes, codes)
    if not coded.number_of_items:
        where = f"{votes.folder.name}, task {votes.task!r}"
        raise InputError(where, "no votes", "at least one", "check it")
    return coded


def _code(
    votes: VotesOnDisk, codes: Codes, check: "ItemCheck", number: int, *, named: bool
) -> None:
    """Code one partition, unless that was done."""
    from equipoise.kernels.blocks import rows_by_item

    people = len(votes.annotators) if named else 1
    if codes.seal(number).exists():
        codes.check(number, people * codes.size)
        return
    rows = votes.read(number, annotators=named)
    files = check.add(number, rows.hashes())
    who = rows.annotator if named else np.zeros(len(rows.label), dtype=np.int64)
    code = (who * len(votes.classes) + rows.label).astype(np.uint32)
    rows_of_items = rows_by_item(rows.item, code, rows.times, len(rows.items))
    for name, array in zip(("start", "code", "weight"), rows_of_items, strict=True):
        files.append(codes.folder / f"{name}-{number:05d}.npy")
        with whole_file(files[-1]) as file:
            np.save(file, array)
    files.append(codes.folder / f"items-{number:05d}.parquet")
    with whole_file(files[-1]) as file:
        write_items(file, rows.items, {})
    codec.seal_files(codes.seal(number), files, codes.source)


def _prepare(votes: VotesOnDisk, work: Path) -> str:
    """Make a working folder, or empty one that was for other votes; the seal of the votes."""
    facts = _fingerprint(votes)
    mark, seal, where = work / MARK, str(codec.sealed(facts)["seal"]), f"working folder {work}"
    check_ground(work, where)
    if work.exists() and any(work.iterdir()) and not mark.exists():
        do = "name a new folder, or remove this one"
        raise InputError(where, "something else", "a folder of coded votes", do)
    if mark.exists() and codec.read_facts(mark, AGAIN)["seal"] != seal:
        shutil.rmtree(work)
    work.mkdir(parents=True, exist_ok=True)
    if not mark.exists():
        codec.write_facts(mark, facts)
    return seal


def _fingerprint(votes: VotesOnDisk) -> dict[str, Any]:
    """What the codes rest on: files by name and content, columns, classes and task."""
    folder = votes.folder.absolute()
    names = [part.path.relative_to(folder).as_posix() for part in votes.partitions]
    return {
        "format": _FORMAT,
        "files": dict(zip(names, votes.map(partial(_sha256, votes)), strict=True)),
        "columns": dict(votes.columns),
        "classes": list(votes.classes),
        "task": votes.task,
    }


def _sha256(votes: VotesOnDisk, number: int) -> str:
    return file_sha256(votes.partitions[number].path)


class Checkpoint:
    """Arrays of a fit that were whole at some iteration, for one setting and these votes."""

    def __init__(self, folder: Path, name: str, settings: dict[str, Any]) -> None:
        self._path = folder / f"{name}.npz"
        self.settings = json.dumps(settings, sort_keys=True)

    def load(self) -> dict[str, Any] | None:
        """The arrays of the last one; None where there is none of these settings."""
        if not self._path.exists():
            return None
        facts, arrays = codec.read_sealed(content(self._path), AGAIN)
        return arrays if facts["source"] == self.settings else None

    def save(self, **arrays: Any) -> None:
        """Put a new one in the place of the last."""
        codec.write_sealed(self._path, {"source": self.settings}, arrays, packed=False)


@contextmanager
def working_folder(out: Path, work: Path | None, *, keep: bool) -> Iterator[Path]:
    """Where coded votes and checkpoints of a fit lie: beside the result by default.

    It is removed in the end, unless it is to stay or the fit did not come to its end.
    """
    folder = out.with_name(f"{out.name}.work") if work is None else work
    with resumable(folder, MARK):
        yield folder
    if not keep:
        shutil.rmtree(folder)


# ---- files ---------------------------------------------------------------------------------


def part_path(folder: Path, number: int) -> Path:
    """File of one partition's items."""
    return folder / f"part-{number:05d}.parquet"


def write_items(path: Path | IO[bytes], items: Any, columns: dict[str, Any]) -> None:
    """Write items and columns of numbers as one Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    arrays = {name: pa.array(np.ascontiguousarray(column)) for name, column in columns.items()}
    parquet.write_table(
        pa.table({"item": items, **arrays}),
        path,
        use_dictionary=False,
        write_page_checksum=True,
    )


def write_facts(path: Path, facts: dict[str, Any]) -> None:
    """Write what is known of a result as JSON; undefined is null."""
    import json

    from equipoise.types import plain

    path.write_text(json.dumps(plain(facts), indent=1) + "\n", encoding="utf-8")


# ---- partitions ----------------------------------------------------------------------------


class ItemCheck:
    """Finds items that lie in two partitions; `scratch` is a folder for their hashes."""

    def __init__(self, votes: VotesOnDisk, scratch: Path) -> None:
        self._votes, self._scratch, self._apart = votes, scratch, votes.apart()

    def add(self, number: int, hashes: Any) -> list[Path]:
        """Take in the hashes of one partition's items; the files that hold them."""
        if self._apart:
            return []
        np.save(self._place(number), np.sort(hashes))
        return [self._place(number)]

    def finish(self) -> None:
        """Raise if an item lies in two partitions."""
        if self._apart:
            return
        number = len(self._votes.partitions)
        hashes = [
            np.load(self._place(place), mmap_mode="r", allow_pickle=False)
            for place in range(number)
        ]
        total = sum(len(part) for part in hashes)
        edges = np.linspace(0, 2.0**64, total // _HASHES + 2)[1:-1].astype(np.uint64)
        cuts = [
            np.concatenate(([0], np.searchsorted(part, edges), [len(part)])) for part in hashes
        ]
        for r in range(len(edges) + 1):
            some = [part[cut[r] : cut[r + 1]] for part, cut in zip(hashes, cuts, strict=True)]
            keys = np.sort(np.concatenate(some))
            twice = keys[1:][keys[1:] == keys[:-1]]
            if len(twice):
                self._compare(hashes, np.unique(twice))

    def _place(self, number: int) -> Path:
        return self._scratch / f"hashes-{number:05d}.npy"

    def _compare(self, all_hashes: Sequence[Any], twice: Any) -> None:
        """Raise if items of the same hash have the same name."""
        seen: dict[object, int] = {}
        for number, hashes in enumerate(all_hashes):
            if not np.isin(twice, hashes, assume_unique=True).any():
                continue
            rows = self._votes.read(number)
            places = np.flatnonzero(np.isin(rows.hashes(), twice))
            for item in rows.items.take(places).to_pylist():
                if item in seen:
                    raise self._error(item, seen[item], number)
                seen[item] = number

    def _error(self, item: object, first: int, second: int) -> InputError:
        names = [self._votes.partitions[place].path.name for place in (first, second)]
        return InputError(
            f"{self._votes.folder.name}, item {item!r}",
            f"votes in {names[0]} and in {names[1]}",
            "all votes on an item in one partition",
            "cut the votes by item with equipoise.scale.disk.repartition(folder, out, number)",
        )


def repartition(source: AnyPath, out: AnyPath, number: int, *, item: str = "item") -> Path:
    """Write votes or scores anew, all rows of an item in one of `number` partitions.

    Parameters
    ----------
    source, out
        Where the rows lie, and a new folder. Rows lie in delimited text (``.csv``, ``.tsv``,
        ``.txt``, also with ``.gz``), in a Parquet file or in a folder of such; text of any
        size is read in batches.
    number
        How many partitions; rows of each should fit in memory several times.
    item
        Name of the column of items; all columns are kept.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> place = Path(tempfile.mkdtemp())
    >>> (place / "a").mkdir()
    >>> for n in range(2):
    ...     pq.write_table(pa.table({"item": [1, 2], "label": [n, n]}), place / "a" / f"{n}.pq")
    >>> made = repartition(place / "a", place / "b", 2)
    >>> sorted(pq.read_table(one).num_rows for one in made.glob("*.parquet"))
    [2, 2]
    """
    number = require_whole("repartition, number", number, least=1)
    if number > MOST:
        raise InputError("repartition, number", f"{number}", f"at most {MOST}", "ask for fewer")
    path = Path(source)
    with whole_folder(Path(out)) as scratch, _Writers(scratch, number) as writers:
        for batch in _all_batches(path):
            for place, rows in _cut(batch, item, number, path.name):
                writers.add(place, rows)
    return Path(out)


def _all_batches(path: Path) -> Iterator[Any]:
    """Rows of a text, of a Parquet file or of a folder of such files."""
    if not path.is_dir():
        require_file(path)
        file = Content.of(path)
        if file.suffix in TEXTS:
            yield from text_batches(file, path)
            return
    for part in parquet_partitions(path, most=None)[0]:
        yield from arrow_batches(part)


class _Writers:
    """Files of partitions, to which rows are added; a few million rows wait in memory."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._held = folder, 0
        self._files: dict[int, Any] = {}
        self._waiting: list[list[Any]] = [[] for _ in range(number)]

    def __enter__(self) -> "_Writers":
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            for file in self._files.values():
                file.close()

    def add(self, place: int, rows: Any) -> None:
        """Add rows to a partition."""
        self._waiting[place].append(rows)
        self._held += len(rows)
        if self._held >= _HELD:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        for place, batches in enumerate(self._waiting):
            if not batches:
                continue
            table = pa.Table.from_batches(batches)
            if place not in self._files:
                path = self._folder / f"part-{place:05d}.parquet"
                self._files[place] = parquet.ParquetWriter(
                    path, table.schema, write_page_checksum=True
                )
            self._files[place].write_table(table)
            batches.clear()
        self._held = 0


def arrow_batches(part: Partition) -> Iterator[Any]:
    """Rows of a partition, with the columns that its folders fix."""
    import pyarrow as pa

    with part.opened() as opened:
        for batch in opened.iter_batches(batch_size=_BATCH):
            for name, value in part.fixed.items():
                if name not in batch.schema.names:
                    batch = batch.append_column(name, pa.repeat(value, len(batch)))
            yield batch


def _cut(batch: Any, item: str, number: int, name: str) -> Any:
    """Rows of a batch by partition."""
    if item not in batch.schema.names:
        got = f"columns {', '.join(batch.schema.names)}"
        do = "name the column of items with item="
        raise InputError(name, got, f"a column {item!r}", do)
    codes, items = coded(batch.column(batch.schema.get_field_index(item)), f"{name}, {item}")
    place = (hash_items(items) % np.uint64(number)).astype(np.int64)[codes]
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(number + 1))
    for part in np.flatnonzero(np.diff(ends)):
        yield int(part), batch.take(order[ends[part] : ends[part + 1]])

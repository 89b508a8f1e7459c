"""Partitions: that no item lies in two of them, and making such a folder of any other.

Where the footers tell that partitions span different items nothing is read. Otherwise hashes
of the items of each partition are kept on disk, sorted, and compared range by range, so that
memory stays bounded; only items whose hashes meet are compared by name.

`repartition` reads a folder once, batch by batch, and writes every row to the partition that
the hash of its item says. Two folders cut into the same number of partitions then have the
votes and the scores of an item in partitions of the same number.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.read.files import AnyPath
from equipoise.read.writing import whole_folder
from equipoise.scale.disk.votes import VotesOnDisk, coded, hash_items, parquet_partitions
from equipoise.types.arrays import InputError, require_whole

_ROOM = 1 << 24  # hashes that are compared at a time
_BATCH = 1 << 18  # rows read at a time
_HELD = 1 << 22  # rows that wait to be written
MOST = 4096  # partitions


class ItemCheck:
    """Finds items that lie in two partitions; `scratch` is a folder for their hashes."""

    def __init__(self, votes: VotesOnDisk, scratch: Path) -> None:
        self._votes, self._scratch, self._apart = votes, scratch, votes.apart()

    def add(self, number: int, hashes: Any) -> None:
        """Take in the hashes of one partition's items."""
        if not self._apart:
            np.save(self._place(number), np.sort(hashes))

    def finish(self) -> None:
        """Raise if an item lies in two partitions."""
        if self._apart:
            return
        number = len(self._votes.partitions)
        every = [
            np.load(self._place(one), mmap_mode="r", allow_pickle=False)
            for one in range(number)
        ]
        total = sum(len(one) for one in every)
        edges = np.linspace(0, 2.0**64, total // _ROOM + 2)[1:-1].astype(np.uint64)
        cuts = [np.concatenate(([0], np.searchsorted(one, edges), [len(one)])) for one in every]
        for r in range(len(edges) + 1):
            some = [one[cut[r] : cut[r + 1]] for one, cut in zip(every, cuts, strict=True)]
            keys = np.sort(np.concatenate(some))
            twice = keys[1:][keys[1:] == keys[:-1]]
            if len(twice):
                self._compare(every, np.unique(twice))

    def _place(self, number: int) -> Path:
        return self._scratch / f"hashes-{number:05d}.npy"

    def _compare(self, every: Sequence[Any], twice: Any) -> None:
        """Raise if items of the same hash have the same name."""
        seen: dict[object, int] = {}
        for number, hashes in enumerate(every):
            if not np.isin(twice, hashes, assume_unique=True).any():
                continue
            rows = self._votes.read(number)
            places = np.flatnonzero(np.isin(rows.hashes(), twice))
            for item in rows.items.take(places).to_pylist():
                if item in seen:
                    raise self._error(item, seen[item], number)
                seen[item] = number

    def _error(self, item: object, one: int, other: int) -> InputError:
        names = [self._votes.partitions[place].path.name for place in (one, other)]
        return InputError(
            f"{self._votes.folder.name}, item {item!r}",
            f"votes in {names[0]} and in {names[1]}",
            "all votes on an item in one partition",
            "cut the votes by item with equipoise.scale.disk.repartition(folder, out, number)",
        )


def repartition(folder: AnyPath, out: AnyPath, number: int, *, item: str = "item") -> Path:
    """Write a folder of Parquet files anew, all rows of an item in one of `number` partitions.

    Parameters
    ----------
    folder, out
        Where the rows lie, and a new folder.
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
    source = parquet_partitions(Path(folder))[0]
    with whole_folder(Path(out)) as scratch, _Writers(scratch, number) as writers:
        for part in source:
            for batch in _batches(part):
                for place, rows in _cut(batch, item, number, part.path.name):
                    writers.add(place, rows)
    return Path(out)


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


def _batches(part: Any) -> Any:
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
    for one in np.flatnonzero(np.diff(ends)):
        yield int(one), batch.take(order[ends[one] : ends[one + 1]])

"""Votes on disk: a folder of Parquet partitions, opened without reading the votes.

A partition is one Parquet file, also in folders ``key=value`` whose key then is a column. Its
columns are those of a tidy table: item, label, and annotator, count and task where there are
any. Items and annotators are whole numbers or text, taken as they are, but for white space
around text. All votes on an item lie in one partition: a partition is all that one core holds
at a time, so a million to some ten million rows are right. `scale.disk.repartition` makes
such a folder of any other.

Opening reads the footers and the column of labels, whose words say which classes there are by
the same rules as `equipoise.read_annotations`. Annotators are read when a model asks for them.
"""

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from equipoise.read.files import AnyPath, Content, refuse_special_files
from equipoise.read.headers import annotation_headers
from equipoise.read.options import VoteFormat
from equipoise.read.parquet import ENDINGS, damaged_parquet, open_parquet, require_room
from equipoise.read.tables import Table, code_names, is_missing
from equipoise.read.tidy import name_columns, no_labels
from equipoise.read.values import ClassScale, scale_of
from equipoise.scale.engine import EngineError, current
from equipoise.types import (
    MOST_VOTES,
    InputError,
    Ints,
    Names,
    Notices,
    Progress,
    immutable,
    listed,
    meant,
    require_whole,
)
from equipoise.types.annotations import Kind

ROWS = 64_000_000  # of a partition, which one core holds at a time
CLASSES = 256  # of a question
_TABLE = 1 << 16  # numbers between the least and the greatest label, up to which all are listed
_REFUSED = {
    "rank": "rankings",
    "weight": "weights of votes",
    "is_gold": "gold rows",
    "reading": "rankings",
    "phase": "phases of votes",
}
_ADVICE = "leave the column out, or read votes that fit in memory with read_annotations"
Task = TypeVar("Task")
Result = TypeVar("Result")


def map_partitions(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    workers: int,
    folders: Sequence[Path],
    progress: Progress | None = None,
) -> list[Result]:
    """Apply a function to tasks on the engine in use; results come in the order of the tasks.

    Parameters
    ----------
    function
        Of paths, numbers and parameters, which opens its files itself: workers may be
        other processes, and may do a task again that a killed one had begun.
    folders
        Where it reads and writes, which every worker must see.
    """
    seen = tuple(folder.absolute() for folder in folders)
    return current(workers).map(partial(_seeing, function, seen), tasks, progress=progress)


def _seeing(
    function: Callable[[Task], Result], folders: tuple[Path, ...], task: Task
) -> Result:
    """Do a task where its folders are there."""
    for folder in folders:
        if not folder.is_dir():
            raise EngineError(
                f"engine, worker on {platform.node()}",
                f"no folder {folder}",
                "folders of votes and results on a disk that all workers see",
                "put votes, results and temporary files (TMPDIR) on a shared disk, or "
                "choose the engine local or processes",
            )
    return function(task)


@immutable
class Partition:
    """One Parquet file: its place, rows, and the columns that its folders' names fix."""

    path: Path
    rows: int
    fixed: Mapping[str, str]

    @contextmanager
    def opened(self, texts: list[str] | None = None) -> Iterator[Any]:
        """The open file, these columns of text as codes; what cannot be read is damaged."""
        import pyarrow as pa

        source = Content(self.path.name, self.path.stem, self.path.suffix.lower(), b"")
        with open_parquet(source, self.path, texts) as file:
            try:
                yield file
            except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
                raise damaged_parquet(source, error) from error


@immutable(eq=False)
class VoteRows:
    """Votes of one partition.

    Attributes
    ----------
    items
        The items, an arrow array of distinct numbers or texts, in order of appearance.
    item, label
        Position of the item, and class, shape (rows,).
    times
        How many votes a row stands for, shape (rows,), or (0,) where each is one.
    annotator
        Code of the annotator, shape (rows,); (0,) where they were not asked for.
    """

    items: Any
    item: Ints
    label: Ints
    times: Ints
    annotator: Ints

    def hashes(self) -> Any:
        """A 64-bit hash of every item, that of its name alone."""
        return hash_items(self.items)


@immutable(eq=False)
class VotesOnDisk:
    """Votes of one question that stay on disk; see `open_votes`.

    Attributes
    ----------
    folder, partitions
        Where they lie.
    columns
        Our column -> theirs.
    scale, words
        Kind and classes, and the distinct labels of the files as an arrow array.
    task
        The question, where there are several.
    workers
        Partitions that are read at a time by threads of this process, 0 for as many as the
        engine in use says; never changes a result.
    """

    folder: Path
    partitions: tuple[Partition, ...]
    columns: Mapping[str, str]
    scale: ClassScale
    words: Any
    task: str
    notices: Notices
    workers: int

    @property
    def classes(self) -> Names:
        """Names of the classes."""
        return self.scale.classes

    @property
    def rows(self) -> int:
        """Rows of all partitions, whatever the task."""
        return sum(part.rows for part in self.partitions)

    @cached_property
    def annotators(self) -> Any:
        """All annotators, an arrow array, sorted: the same however the votes are cut."""
        import pyarrow as pa

        if "annotator" not in self.columns:
            raise InputError(
                str(self.folder),
                "votes without a column of annotators",
                "annotators with ids",
                "a model of annotators needs to know who voted; choose dirichlet or mean_vote",
            )
        names = self.map(partial(self._distinct, "annotator"))
        return pa.chunked_array(names).unique().sort()

    def map(
        self,
        function: Callable[[int], Result],
        *folders: Path,
        progress: Progress | None = None,
    ) -> list[Result]:
        """Apply a function to the number of every partition; it uses these folders, too."""
        numbers = range(len(self.partitions))
        used = (self.folder, *folders)
        return map_partitions(function, numbers, self.workers, used, progress)

    def read(self, number: int, *, annotators: bool = False) -> VoteRows:
        """Read one partition; rows without a label and of other tasks are left out."""
        part = self.partitions[number]
        wanted = ["item", "label", "count", *(["annotator"] if annotators else [])]
        columns = self._columns(part, [name for name in wanted if name in self.columns])
        label = self._class_codes(columns["label"])
        keep = np.flatnonzero(label >= 0)
        if len(keep) < len(label):
            label = label[keep]
            columns = {name: column.take(keep) for name, column in columns.items()}
        item, items = coded(columns["item"], f"{part.path.name}, column item")
        times: Ints = np.zeros(0, dtype=np.int64)
        if "count" in columns:
            times = _counts(columns["count"], part.path.name)
        who: Ints = np.zeros(0, dtype=np.int64)
        if annotators:
            local, names = coded(columns["annotator"], f"{part.path.name}, column annotator")
            who = _places(names, self.annotators)[local]
        return VoteRows(items, item, label, times, who)

    def _class_codes(self, column: Any) -> Ints:
        """Class of every row, -1 without a label."""
        import pyarrow as pa

        if pa.types.is_integer(column.type) and not column.null_count:
            whole, low = np.asarray(self.words), int(self.words[0].as_py())
            if int(whole[-1]) - low < _TABLE:
                table = np.full(int(whole[-1]) - low + 1, -1, dtype=np.int32)
                table[whole - low] = self.scale.label
                return np.asarray(table[np.subtract(column, low, dtype=np.intp)])
        encoded = _dictionary(column)
        places = _places(_plain(encoded.dictionary), self.words)
        codes = np.append(np.append(self.scale.label, -1)[places], -1)
        index = encoded.indices
        if index.null_count:
            index = index.cast(pa.int64()).fill_null(len(places))
        return np.asarray(codes.astype(np.int32)[np.asarray(index)])

    def _columns(self, part: Partition, names: Sequence[str]) -> dict[str, Any]:
        """Columns of a partition in one piece each, rows of other tasks left out."""
        import pyarrow as pa

        chosen = [*names, *(["task"] if "task" in self.columns else [])]
        inside = [name for name in chosen if self.columns[name] not in part.fixed]
        theirs = [self.columns[name] for name in inside]
        with part.opened(theirs) as opened:
            table = opened.read(theirs, use_threads=False).unify_dictionaries()
        rows = table.num_rows
        columns = {
            name: table.column(self.columns[name]).combine_chunks()
            if name in inside
            else pa.repeat(part.fixed[self.columns[name]], rows)
            for name in chosen
        }
        if "task" not in columns:
            return columns
        task = columns.pop("task")
        tasks = code_names(Table(name=part.path.name, columns={"task": task}), "task")
        place = tasks.names.index(self.task) if self.task in tasks.names else -2
        rows_of_task = np.flatnonzero(tasks.codes == place)
        if len(rows_of_task) == len(tasks.codes):
            return columns
        return {name: column.take(rows_of_task) for name, column in columns.items()}

    def _distinct(self, name: str, number: int) -> Any:
        """Distinct values of one column of a partition, nulls left out."""
        import pyarrow as pa

        part = self.partitions[number]
        column = self._columns(part, [name])[name]
        if pa.types.is_dictionary(column.type):
            used = column.dictionary.take(column.indices.unique().drop_null())
        else:
            used = column.unique().drop_null()
        if name == "annotator" and column.null_count:
            raise _blank(f"{part.path.name}, column annotator")
        return _plain(used)

    def apart(self) -> bool:
        """Whether the footers alone prove that no item lies in two partitions."""
        ends = [_ends(part, self.columns["item"]) for part in self.partitions if part.rows]
        if any(end is None for end in ends):
            return False
        ranges = sorted(end for end in ends if end is not None)
        return all(a[1] < b[0] for a, b in pairwise(ranges))


def open_votes(
    path: AnyPath,
    *,
    classes: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    kind: Kind | None = None,
    task: str | None = None,
    workers: int = 0,
) -> VotesOnDisk:
    """Open a folder of Parquet partitions as votes that stay on disk.

    Parameters
    ----------
    path
        The folder; files in folders within it count, too.
    classes, columns, kind
        As for `equipoise.read_annotations`.
    task
        Which question, where there is a column of tasks with several.
    workers
        Threads of this process, each with one partition; 0 is what the engine in use says
        (`equipoise.scale.engine`), one per core by default. Results never depend on it.
    """
    require_whole("open_votes, workers", workers, do="0 is one per core")
    folder = Path(path)
    partitions, schema = parquet_partitions(folder)
    chosen = {"classes": classes, "columns": columns or {}, "kind": kind}
    options = VoteFormat.of(chosen)
    header = _header(folder, partitions, schema, options)
    for name, what in _REFUSED.items():
        if name in header.columns:
            where = f"{folder.name}, column {header.columns[name]!r}"
            raise InputError(where, what, "plain votes for votes on disk", _ADVICE)
    if options.kind in ("interval", "ranking"):
        where = f"{folder.name}, kind {options.kind!r}"
        raise InputError(where, "ratings or rankings", "one class per vote", _ADVICE)
    used = ("item", "annotator", "label", "count", "task", "group")
    theirs = {ours: name for ours, name in header.columns.items() if ours in used}
    votes = VotesOnDisk(
        folder=folder,
        partitions=partitions,
        columns=MappingProxyType(theirs),
        scale=ClassScale("nominal", (), np.zeros(0, dtype=np.int64)),
        words=None,
        task="",
        notices=header.notices,
        workers=workers,
    )
    _check_types(votes)
    votes = replace(votes, task=_task(votes, task))
    return _with_scale(votes, header, replace(options, columns={}))


def parquet_partitions(
    folder: Path, *, most: int | None = ROWS
) -> tuple[tuple[Partition, ...], Any]:
    """All Parquet files of a folder in the order of their names, and the first one's schema.

    Parameters
    ----------
    most
        Rows that a partition may have; without it, a single file will do, too.
    """
    if not folder.is_dir() and (most is not None or folder.suffix.lower() not in ENDINGS):
        got = "a file" if folder.exists() else "nothing there"
        do = "give the folder that holds the partitions, or cut a file with disk.repartition"
        raise InputError(str(folder), got, "a folder of Parquet files", do)
    whole = folder.absolute()  # as workers may be elsewhere
    files = [
        path
        for path in (sorted(whole.rglob("*")) if folder.is_dir() else [whole])
        if path.suffix.lower() in ENDINGS
        and not path.is_dir()
        and not any(part.startswith((".", "_")) for part in path.relative_to(whole).parts)
    ]
    refuse_special_files(files)
    if not files:
        do = "write the votes as Parquet files of item, annotator and label"
        raise InputError(str(folder), "no Parquet file", "one or more partitions", do)
    parts, schema = [], None
    for path in files:
        part = Partition(path, 0, _fixed(path.relative_to(whole).parent))
        with part.opened() as opened:
            facts = opened.metadata
            part = replace(part, rows=facts.num_rows)
            schema = schema or opened.schema_arrow
        if most is not None and part.rows > most:
            got, expected = f"{part.rows:,} rows", f"at most {most:,} in one partition"
            raise InputError(path.name, got, expected, "cut the votes with disk.repartition")
        if most is not None:
            require_room(path.name, facts)
        parts.append(part)
    return tuple(parts), schema


def _fixed(folders: Path) -> Mapping[str, str]:
    """Columns that folders named ``key=value`` fix."""
    from urllib.parse import unquote

    pairs = [part.split("=", 1) for part in folders.parts if "=" in part]
    return MappingProxyType({unquote(key): unquote(value) for key, value in pairs})


def _header(folder: Path, partitions: Sequence[Partition], schema: Any, options: Any) -> Table:
    """Find the columns: ours -> theirs, as `read_annotations` does."""
    names = dict.fromkeys([*(name.strip() for name in schema.names), *partitions[0].fixed])
    table = Table(name=folder.name, columns={name: name for name in names})
    headers = annotation_headers(table, options)
    return name_columns(
        table.noting(*headers.notices), replace(options, columns=headers.columns)
    )


def _check_types(votes: VotesOnDisk) -> None:
    """Refuse a partition that lacks a column, or has one of another type than the first."""
    import pyarrow as pa

    kinds: dict[str, str] = {}
    for part in votes.partitions:
        with part.opened() as opened:
            schema = opened.schema_arrow
        types = {field.name: field.type for field in schema}
        for ours, theirs in votes.columns.items():
            where = f"{part.path.name}, column {theirs!r}"
            if theirs not in types and theirs not in part.fixed:
                got, do = f"columns {listed(list(types))}", "write all partitions alike"
                raise InputError(part.path.name, got, f"a column {theirs!r}", do)
            kind = _kind(types.get(theirs, pa.string()))
            if ours in ("item", "annotator") and kind not in ("whole numbers", "text"):
                raise InputError(where, kind, "whole numbers or text", "convert the column")
            if ours in ("item", "annotator", "label") and kinds.setdefault(ours, kind) != kind:
                expected = f"{kinds[ours]}, as in {votes.partitions[0].path.name}"
                raise InputError(where, kind, expected, "write all partitions alike")


def _kind(of: Any) -> str:
    import pyarrow as pa

    if pa.types.is_dictionary(of):
        of = of.value_type
    if pa.types.is_integer(of):
        return "whole numbers"
    return "text" if pa.types.is_string(of) or pa.types.is_large_string(of) else str(of)


def _task(votes: VotesOnDisk, wanted: str | None) -> str:
    """The question meant, which must be said where there are several."""
    if "task" not in votes.columns:
        tasks: list[str] = [""]
    else:
        plain = replace(
            votes, columns={"name": votes.columns["task"]}
        )  # one column, not used as a filter
        words = votes.map(partial(plain._distinct, "name"))
        tasks = sorted({str(word) for part in words for word in part.to_pylist()})
    if wanted is None and len(tasks) == 1:
        return tasks[0]
    if wanted not in tasks:
        got = f"{wanted!r}" if wanted is not None else f"{len(tasks)} tasks"
        expected = f"one of {listed(tasks)}"
        raise InputError(
            f"{votes.folder.name}, task", got, expected, meant(wanted or "", tasks) or "choose"
        )
    return wanted


def _with_scale(votes: VotesOnDisk, header: Table, options: Any) -> VotesOnDisk:
    """Look at all labels, and choose the classes."""
    import pyarrow as pa

    words_of_parts = votes.map(partial(votes._distinct, "label"))
    all_words = (
        pa.chunked_array(words_of_parts).unique().sort()
    )  # whatever comes first in the files
    words = code_names(Table(name=votes.folder.name, columns={"label": all_words}), "label")
    missing = is_missing(words.names)
    names = [name for name, gone in zip(words.names, missing, strict=True) if not gone]
    if not names:
        raise no_labels(header)
    if len(names) > CLASSES:
        got, most = f"{len(names):,} different labels", f"at most {CLASSES} on disk"
        raise InputError(f"{votes.folder.name}, column label", got, most, _ADVICE)
    scale = scale_of(names, options, name=votes.folder.name)
    if (scale.label < 0).any():
        odd = [name for name, code in zip(names, scale.label, strict=True) if code < 0]
        expected = f"one of {listed(scale.classes, most=8)}"
        do = meant(odd[0], scale.classes)
        raise InputError(f"{votes.folder.name}, column label", f"{odd[0]!r}", expected, do)
    place = np.full(len(words.names) + 1, -1, dtype=np.int64)
    place[: len(missing)][~missing] = scale.label
    scale_of_words = replace(scale, label=place[words.codes])
    notices = (*votes.notices, *scale.notices)
    return replace(votes, scale=scale_of_words, words=all_words, notices=notices)


# ---- columns -------------------------------------------------------------------------------


def coded(column: Any, where: str) -> tuple[Ints, Any]:
    """Codes of every row by first appearance, and the distinct values, an arrow array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from equipoise.kernels.blocks import code_numbers

    if column.null_count:
        raise _blank(where)
    if _kind(column.type) == "whole numbers":
        values = np.asarray(_plain(column))
        if not len(values):
            return np.zeros(0, dtype=np.int32), pa.array(values)
        low, high = int(values.min()), int(values.max())
        span = high - low + 1
        codes, first = code_numbers(values, low, span if span <= 4 * len(values) else 0)
        return codes, pa.array(values[first])
    encoded = _dictionary(column)
    words = encoded.dictionary.cast(pa.large_string())
    trimmed = pc.utf8_trim_whitespace(words)
    joined = trimmed.dictionary_encode()
    place = np.asarray(joined.indices)[np.asarray(encoded.indices)]
    codes, first = code_numbers(place.astype(np.int64), 0, max(len(words), 1))
    names = joined.dictionary.take(pa.array(place[first]))
    if pc.any(pc.equal(names, "")).as_py():
        raise _blank(where)
    return codes, names


def _blank(where: str) -> InputError:
    return InputError(where, "rows without one", "one in every row", "fill it in or remove it")


def _plain(column: Any) -> Any:
    """Whole numbers of 64 bits, or text, whatever stood for them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_integer(column.type):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid as error:
            far, do = "whole numbers up to 9,223,372,036,854,775,807", "write them as text"
            raise InputError("votes on disk", f"larger {column.type}", far, do) from error
    if _kind(column.type) != "text":
        return column
    return pc.utf8_trim_whitespace(column.cast(pa.large_string()))


def _dictionary(column: Any) -> Any:
    import pyarrow as pa

    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _places(values: Any, all_values: Any) -> Ints:
    """Position of values in a list of them all; -1 where they are not in it."""
    import pyarrow.compute as pc

    kind = all_values.type
    index = pc.index_in(
        values if values.type == kind else values.cast(kind), value_set=all_values
    )
    return np.asarray(index.fill_null(-1), dtype=np.int64)


def _counts(column: Any, name: str) -> Ints:
    """How many votes every row stands for."""
    import pyarrow as pa

    try:
        times = np.asarray(column.cast(pa.int64()).fill_null(0))
    except pa.ArrowException as error:
        got = str(column.type)
        raise InputError(
            f"{name}, column count", got, "whole numbers", "convert the column"
        ) from error
    odd = times[(times < 1) | (times > MOST_VOTES)]
    if len(odd):
        expected = f"a whole number from 1 to {MOST_VOTES:,}"
        raise InputError(f"{name}, column count", f"{odd[0]}", expected, "correct such rows")
    return times


def _ends(part: Partition, column: str) -> tuple[Any, Any] | None:
    """Least and greatest value of a column by the footer, None where it does not say."""
    with part.opened() as opened:
        facts, names = opened.metadata, [field.name for field in opened.schema]
        if column not in names:
            return None
        place, ends = names.index(column), []
        for group in range(facts.num_row_groups):
            statistics = facts.row_group(group).column(place).statistics
            if (
                statistics is None
                or not statistics.has_min_max
                or not isinstance(statistics.min, int)
            ):
                return None  # of texts it tells the ends before spaces are taken off
            ends.append((statistics.min, statistics.max))
    return min(low for low, _ in ends), max(high for _, high in ends)


def hash_items(items: Any) -> Any:
    """A 64-bit hash of every item of an arrow array of distinct numbers or texts."""
    import pyarrow as pa

    from equipoise.kernels.blocks import hash_numbers, hash_texts

    if pa.types.is_integer(items.type):
        return hash_numbers(np.asarray(items))
    whole = pa.concat_arrays([items.cast(pa.large_string())])  # starts at the first byte
    _, offsets, data = whole.buffers()
    start = np.frombuffer(offsets, np.int64)[whole.offset : whole.offset + len(whole) + 1]
    letters = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return hash_texts(start, letters)

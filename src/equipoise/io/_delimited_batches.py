"""Delimited text in batches: tens of megabytes at a time.

The file is passed over once before it is parsed, to settle how it is encoded, whether there are
quotes in it and how many lines it has; the rules are those of `equipoise.io.delimited`.
"""

import codecs
import csv
import gzip
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

from equipoise.arrays import InputError
from equipoise.coding.tables import Table, unique_names
from equipoise.io._batches import Source
from equipoise.io.delimited import (
    BLOCK_OF_HEADER,
    CONTROL,
    MARK,
    Text,
    headed,
    ragged,
)
from equipoise.io.files import Content

BLOCK = 1 << 23  # bytes parsed at a time: larger blocks are faster and take more memory
PIECE = 1 << 24  # bytes looked at at a time


class _Survey(NamedTuple):
    """What one pass over the bytes tells."""

    start: bytes
    lines: int
    quotes: int
    encoding: str
    ended: bool


@dataclass(frozen=True, slots=True)
class _Lines(Text):
    """The text of a file, read again each time it is asked for."""

    path: Path
    encoding: str

    def records(self, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Every record that is not an empty line, with the line it starts on."""
        with _bytes(self.path) as file:
            text = TextIOWrapper(file, encoding=self.encoding, errors="ignore", newline="")
            reader = csv.reader(text, delimiter=self.delimiter, strict=strict)
            start = 1
            try:
                for record in reader:
                    if record:
                        yield start, record
                    start = reader.line_num + 1
            except csv.Error as error:
                raise InputError(
                    f"{self.name}, row {start}",
                    f"fields that cannot be told apart ({error})",
                    "every quote closed", "close or double the quotes of this line",
                ) from error  # fmt: skip


def delimited_source(file: Content, path: Path) -> Source:
    """Look over the text and find its columns."""
    survey = _survey(file, path)
    found = headed(file, survey.start)
    text = _Lines(file.name, b"", found.delimiter, found.header, path, survey.encoding)
    unique_names([name.strip() for name in text.header], where=file.name)
    names = {name.strip(): name for name in text.header}
    windows = f"{file.name} is not UTF-8 and was read as Windows-1252"
    notices = (windows,) if survey.encoding == "cp1252" else ()
    header = Table(name=file.name, columns=names, place=text.place, notices=notices)
    return Source(
        header=header,
        rows=max(survey.lines - (1 if survey.ended else 0), 0),
        batches=partial(_batches, text, survey),
        coded=frozenset(names),
    )


def _bytes(path: Path) -> Any:
    """Open a file after its mark, unpacking ``.gz``."""
    packed = path.suffix.lower() == ".gz"
    file: Any = gzip.GzipFile(path) if packed else path.open("rb")
    if file.read(len(MARK)) != MARK:
        file.seek(0)
    return file


def _batches(text: _Lines, survey: _Survey, names: list[str]) -> Iterator[Mapping[str, Any]]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    words = pa.dictionary(pa.int32(), pa.string())
    rows = 0
    with _bytes(text.path) as file:
        try:
            reader = arrow_csv.open_csv(
                file,
                read_options=arrow_csv.ReadOptions(block_size=BLOCK, encoding=survey.encoding),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=text.delimiter, newlines_in_values=survey.quotes > 0
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(text.header, words),
                    strings_can_be_null=False,
                    include_columns=names,
                ),
            )
            for batch in reader:
                rows += batch.num_rows
                yield dict(zip(batch.schema.names, batch.columns, strict=True))
        except pa.ArrowException as error:
            raise ragged(text, error) from error
    if survey.quotes % 2 or (survey.quotes and rows < survey.lines - 1):
        for _ in text.records(strict=True):
            pass


def _survey(file: Content, path: Path) -> _Survey:
    """Pass over the bytes once, twice if they are not UTF-8."""
    try:
        return _passed(file, path, "utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return _passed(file, path, "cp1252")
    except UnicodeDecodeError as error:
        raise InputError(
            file.name, f"byte {error.start} is no text", "UTF-8 or Windows-1252",
            "save the table as UTF-8",
        ) from error  # fmt: skip


def _passed(file: Content, path: Path, encoding: str) -> _Survey:
    decoder = codecs.getincrementaldecoder(encoding)()
    start, last = b"", b""
    lines = returns = quotes = done = 0
    for piece in _pieces(file, path):
        start = start if len(start) >= BLOCK_OF_HEADER else start + piece
        if b"\0" in piece or (done < 1 << 16 and CONTROL.search(start[: 1 << 16])):
            raise InputError(
                file.name, "binary data", "text, UTF-8 or Windows-1252", "save the table as CSV"
            )
        try:
            decoder.decode(piece)
        except UnicodeDecodeError as error:
            error.start += done
            raise
        lines, returns = lines + piece.count(b"\n"), returns + piece.count(b"\r")
        quotes, done, last = quotes + piece.count(b'"'), done + len(piece), piece[-1:]
    decoder.decode(b"", final=True)
    return _Survey(start, lines or returns, quotes, encoding, last in (b"\n", b"\r"))


def _pieces(file: Content, path: Path) -> Iterator[bytes]:
    try:
        with _bytes(path) as opened:
            while piece := opened.read(PIECE):
                yield piece
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            file.name, f"cannot be unpacked ({error})", "a whole gzip file",
            "fetch the file again",
        ) from error  # fmt: skip

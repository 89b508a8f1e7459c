"""Delimited text: CSV with commas, semicolons or tabs, read whole or in batches.

UTF-8 with or without a byte order mark, else Windows-1252; any line ending. Every column
is read as text, so ids keep their leading zeros; what is a number is settled later.
Messages count lines from 1, the header being line 1.

The apostrophe before what a spreadsheet would compute (see `csv_text`) is taken away.

Lines that begin with ``#`` before the header are comments. So are later ones that have another
number of fields than the header; with as many, ``#12`` is the name of an item.

A file that is read in batches of tens of megabytes is passed over once before it is parsed, to
settle how it is encoded, whether there are quotes in it and how many lines it has.
"""

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from equipoise.read.files import Content, cut_gzip
from equipoise.read.tables import Table, no_rows, unique_names
from equipoise.types import (
    InputError,
    Names,
    Notices,
    immutable,
    notice,
    unguarded,
    unguarded_all,
)

ENDINGS = (".csv", ".tsv", ".txt")
_MARK = b"\xef\xbb\xbf"
_COMMENTS = re.compile(rb"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))+")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_BLOCK = 1 << 24  # bytes parsed at a time
BATCH = 1 << 23  # bytes of a batch: larger ones are faster and take more memory
PIECE = 1 << 24  # bytes looked at at a time
_BLOCK_OF_HEADER = 1 << 20  # bytes among which the header must be


@immutable
class _Text:
    """Delimited text that can be opened again and again, and its header."""

    name: str
    delimiter: str
    header: Names
    open: Callable[[], TextIO]

    def records(self, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Every record that is not an empty line, with the line it starts on."""
        with self.open() as text:
            reader = csv.reader(_uncommented(text), delimiter=self.delimiter, strict=strict)
            start = 1
            try:
                for record in reader:
                    if record and not self.is_comment(record[0], len(record)):
                        yield start, record
                    start = reader.line_num + 1
            except csv.Error as error:
                long = "limit" in str(error)
                raise InputError(
                    f"{self.name}, row {start}",
                    f"a field of more than {csv.field_size_limit():,} letters"
                    if long
                    else f"fields that cannot be told apart ({error})",
                    "shorter fields" if long else "every quote closed",
                    "close or double the quotes of this line",
                ) from error

    def is_comment(self, text: str, fields: int) -> bool:
        """Whether a line after the header is a comment, by its beginning and its fields."""
        return text.startswith("#") and bool(self.header) and fields != len(self.header)

    def skip_comment(self, row: Any) -> str:
        """Tell arrow what to do with a line that does not fit the header."""
        return "skip" if self.is_comment(row.text or "", row.actual_columns) else "error"

    def place(self, row: int) -> str:
        """Name the line on which a row starts."""
        for number, (line, _) in enumerate(self.records()):
            if number == row + 1:
                return f"row {line}"
        return f"row {row + 2}"

    def check_quotes(self) -> None:
        """Look closely at text that may have a quote left open, which swallows lines."""
        for _ in self.records(strict=True):
            pass

    def ragged(self, error: Exception) -> InputError:
        """Name the first line that does not fit the header."""
        width = len(self.header)
        for line, record in self.records():
            if len(record) != width:
                return InputError(
                    f"{self.name}, row {line}",
                    f"{len(record)} fields",
                    f"{width} as in the header",
                    "correct the line, or quote fields that hold the delimiter",
                )
        return InputError(self.name, f"cannot be parsed ({error})", "a table", "check the file")

    def arrow_options(self, *, quotes: bool) -> dict[str, Any]:
        """How arrow parses it: every column as words, nothing as null."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        words = pa.dictionary(pa.int32(), pa.string())
        return {
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=quotes,
                invalid_row_handler=self.skip_comment,
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(self.header, words),
                strings_can_be_null=False,
            ),
        }


def read_delimited(file: Content) -> Table:
    """Read delimited text into a table of text columns."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    data, notices = _utf8(file)
    text = _with_header(file, data, lambda: StringIO(data.decode(errors="ignore"), newline=""))
    ended = data if data.endswith((b"\n", b"\r")) else data + b"\n"
    quotes = data.count(b'"')
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(ended),
            read_options=arrow_csv.ReadOptions(block_size=_BLOCK),
            **text.arrow_options(quotes=quotes > 0),
        )
    except pa.ArrowException as error:
        raise text.ragged(error) from error
    if quotes:
        lines = data.count(b"\n") or data.count(b"\r")
        if quotes % 2 or table.num_rows < lines - 1:
            text.check_quotes()
    names, columns = map(str.strip, text.header), table.columns
    if b"'" in data:
        names, columns = map(unguarded, names), list(map(unguarded_column, columns))
    if not table.num_rows:
        raise no_rows(file.name)
    columns = dict(zip(names, columns, strict=True))
    return Table(name=file.name, columns=columns, place=text.place, notices=notices)


def unguarded_column(column: Any) -> Any:
    """A column of words without the apostrophes that keep spreadsheets from computing them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([unguarded_column(one) for one in column.chunks], column.type)
    coded = pa.types.is_dictionary(column.type)
    if not pc.any(pc.starts_with(column.dictionary if coded else column, "'")).as_py():
        return column
    words = pa.array(unguarded_all(column.cast(pa.string()).to_pylist()), pa.string())
    return words.dictionary_encode() if coded else words


def _comments(data: bytes) -> tuple[int, int]:
    """How many lines before the header are comments or among them, and where they end."""
    ahead = _COMMENTS.match(data)
    if ahead is None or b"#" not in ahead.group():
        return 0, 0
    return len(re.findall(rb"\r\n|\r|\n", ahead.group())), ahead.end()


def _uncommented(text: Iterable[str]) -> Iterator[str]:
    """The same for lines of text that are not held in memory."""
    before = True
    for line in text:
        before = before and line.lstrip()[:1] in ("", "#")
        yield "\n" if before else line


def _utf8(file: Content) -> tuple[bytes, Notices]:
    """The text as UTF-8 without a mark, and what to say about it.

    Lines before the header are left blank, so that all keep their numbers.
    """
    data = file.data.removeprefix(_MARK)
    notices: Notices = ()
    if b"\0" in data or _CONTROL.search(data[: 1 << 16]):
        raise _binary(file)
    try:
        data.decode()
    except UnicodeDecodeError:
        try:
            data = data.decode("cp1252").encode()
            text = "{file} is not UTF-8 and was read as Windows-1252"
            notices = (notice("windows_1252", text, file=file.name),)
        except UnicodeDecodeError as error:
            raise _no_text(file, error) from error
    if b"#" in data[:_BLOCK_OF_HEADER]:
        lines, end = _comments(data)
        data = b"\n" * lines + data[end:]
    return data, notices


def _binary(file: Content) -> InputError:
    return InputError(
        file.name, "binary data", "text, UTF-8 or Windows-1252", "save the table as CSV"
    )


def _no_text(file: Content, error: UnicodeDecodeError) -> InputError:
    return InputError(
        file.name,
        f"byte {error.start} is no text",
        "UTF-8 or Windows-1252",
        "save the table as UTF-8",
    )


def _with_header(file: Content, start: bytes, opener: Callable[[], TextIO]) -> _Text:
    """Find the delimiter and the names of the columns in the first bytes."""
    head = start[:_BLOCK_OF_HEADER].lstrip(b"\r\n")
    line = re.split(rb"[\r\n]", head, maxsplit=1)[0].decode(errors="ignore")
    bare = re.sub(r'"[^"]*"', "", line)
    most = max((",", ";", "\t"), key=bare.count)
    if not bare.count(most):
        most = "\t" if file.suffix == ".tsv" else ","
    odd = line.count('"') % 2 or len(line) > csv.field_size_limit()
    header = [] if odd else next(csv.reader([line], delimiter=most), [])
    if not header:  # a name may hold the end of a line
        text = head.decode(errors="ignore")
        lines = _Text(file.name, most, (), lambda: StringIO(text, newline=""))
        _, header = next(lines.records(), (1, []))
    if not header:
        raise InputError(
            file.name,
            "nothing but blank lines and comments, as far as a header is looked for",
            "a header and rows",
            "check the file",
        )
    names = list(map(str.strip, header))
    if "'" in "".join(names):
        names = list(map(unguarded, names))
    if len(set(names)) != len(names):
        unique_names(names, where=file.name)
    return _Text(file.name, most, tuple(header), opener)


class _Survey(NamedTuple):
    """What one pass over the bytes tells; `comments` are the lines before the header."""

    start: bytes
    comments: int
    lines: int
    quotes: int
    encoding: str


def text_batches(file: Content, path: Path) -> Iterator[Any]:
    """Rows of delimited text as arrow batches of words; the bytes are not in `file`."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    try:
        survey = _survey(file, path, "utf-8")
    except UnicodeDecodeError:
        try:
            survey = _survey(file, path, "cp1252")
        except UnicodeDecodeError as error:
            raise _no_text(file, error) from error

    def opener() -> TextIO:
        encoding = survey.encoding
        return TextIOWrapper(_unpacked(path), encoding=encoding, errors="ignore", newline="")

    lines, end = _comments(survey.start)
    text = _with_header(file, b"\n" * lines + survey.start[end:], opener)
    names, rows = [unguarded(name.strip()) for name in text.header], 0
    with _unpacked(path) as opened:
        try:
            reader = arrow_csv.open_csv(
                opened,
                read_options=arrow_csv.ReadOptions(
                    block_size=BATCH, encoding=survey.encoding, skip_rows=survey.comments
                ),
                **text.arrow_options(quotes=survey.quotes > 0),
            )
            for batch in reader:
                rows += batch.num_rows
                columns = [unguarded_column(column) for column in batch.columns]
                yield pa.RecordBatch.from_arrays(columns, names)
        except pa.ArrowException as error:
            raise text.ragged(error) from error
    if survey.quotes % 2 or (survey.quotes and rows < survey.lines - 1):
        text.check_quotes()
    if not rows:
        raise no_rows(file.name)


def _unpacked(path: Path) -> Any:
    """Open a file after its mark, unpacking ``.gz``."""
    file: Any = gzip.GzipFile(path) if path.suffix.lower() == ".gz" else path.open("rb")
    if file.read(len(_MARK)) != _MARK:
        file.seek(0)
    return file


def _survey(file: Content, path: Path, encoding: str) -> _Survey:
    """Pass over the bytes once, and raise if they have another encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    start = b""
    lines = returns = quotes = done = 0
    for piece in _pieces(file, path):
        start = start if len(start) >= _BLOCK_OF_HEADER else start + piece
        if b"\0" in piece or (done < 1 << 16 and _CONTROL.search(start[: 1 << 16])):
            raise _binary(file)
        try:
            decoder.decode(piece)
        except UnicodeDecodeError as error:
            error.start += done
            raise
        lines, returns = lines + piece.count(b"\n"), returns + piece.count(b"\r")
        quotes, done = quotes + piece.count(b'"'), done + len(piece)
    decoder.decode(b"", final=True)
    return _Survey(start, _comments(start)[0], lines or returns, quotes, encoding)


def _pieces(file: Content, path: Path) -> Iterator[bytes]:
    try:
        with _unpacked(path) as opened:
            while piece := opened.read(PIECE):
                yield piece
    except (OSError, EOFError, zlib.error) as error:
        raise cut_gzip(file.name, error) from error

"""Delimited text: CSV with commas, semicolons or tabs.

UTF-8 with or without a byte order mark, else Windows-1252; any line ending. Every column
is read as text, so ids keep their leading zeros; what is a number is settled later.
Messages count lines from 1, the header being line 1.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

from equipoise.arrays import InputError
from equipoise.coding.tables import Table, unique_names
from equipoise.io.files import Content

ENDINGS = (".csv", ".tsv", ".txt")
MARK = b"\xef\xbb\xbf"
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
BLOCK = 1 << 24  # bytes parsed at a time
BLOCK_OF_HEADER = 1 << 20  # bytes among which the header must be


@dataclass(frozen=True, slots=True)
class Text:
    """UTF-8 bytes, the delimiter in them, and their header."""

    name: str
    data: bytes
    delimiter: str
    header: tuple[str, ...]

    def records(self, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Every record that is not an empty line, with the line it starts on."""
        reader = csv.reader(
            StringIO(self.data.decode(errors="ignore"), newline=""),
            delimiter=self.delimiter,
            strict=strict,
        )
        start = 1
        try:
            for record in reader:
                if record:
                    yield start, record
                start = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                f"{self.name}, row {start}", f"fields that cannot be told apart ({error})",
                "every quote closed", "close or double the quotes of this line",
            ) from error  # fmt: skip

    def place(self, row: int) -> str:
        """Name the line on which a row starts."""
        for number, (line, _) in enumerate(self.records()):
            if number == row + 1:
                return f"row {line}"
        return f"row {row + 2}"


def read_delimited(file: Content) -> Table:
    """Read delimited text into a table of text columns."""
    import pyarrow as pa

    data, notices = _utf8(file)
    text = headed(file, data)
    unique_names([name.strip() for name in text.header], where=file.name)
    try:
        table = _parsed(text)
    except pa.ArrowException as error:
        raise ragged(text, error) from error
    if b'"' in data:
        _check_quotes(text, table.num_rows)
    columns = {
        name.strip(): column for name, column in zip(text.header, table.columns, strict=True)
    }
    return Table(name=file.name, columns=columns, place=text.place, notices=notices).nonempty()


def _parsed(text: Text) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    words = pa.dictionary(pa.int32(), pa.string())
    ended = text.data if text.data.endswith((b"\n", b"\r")) else text.data + b"\n"
    return arrow_csv.read_csv(
        pa.BufferReader(ended),
        read_options=arrow_csv.ReadOptions(block_size=BLOCK),
        parse_options=arrow_csv.ParseOptions(
            delimiter=text.delimiter, newlines_in_values=b'"' in text.data
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(text.header, words), strings_can_be_null=False
        ),
    )


def _utf8(file: Content) -> tuple[bytes, tuple[str, ...]]:
    """Return the text as UTF-8 without a mark, and what to say about it."""
    data = file.data.removeprefix(MARK)
    if b"\0" in data or CONTROL.search(data[: 1 << 16]):
        raise InputError(
            file.name, "binary data", "text, UTF-8 or Windows-1252", "save the table as CSV"
        )
    try:
        data.decode()
    except UnicodeDecodeError:
        try:
            return data.decode("cp1252").encode(), (
                f"{file.name} is not UTF-8 and was read as Windows-1252",
            )
        except UnicodeDecodeError as error:
            raise InputError(
                file.name, f"byte {error.start} is no text", "UTF-8 or Windows-1252",
                "save the table as UTF-8",
            ) from error  # fmt: skip
    return data, ()


def headed(file: Content, data: bytes) -> Text:
    """Find the delimiter and the names of the columns."""
    start = data[:BLOCK_OF_HEADER].lstrip(b"\r\n")
    line = re.split(rb"[\r\n]", start, maxsplit=1)[0].decode(errors="ignore")
    bare = re.sub(r'"[^"]*"', "", line)
    most = max((",", ";", "\t"), key=bare.count)
    if not bare.count(most):
        most = "\t" if file.suffix == ".tsv" else ","
    _, header = next(Text(file.name, start, most, ()).records())
    return Text(file.name, data, most, tuple(header))


def ragged(text: Text, error: Exception) -> InputError:
    """Name the first line that does not fit the header."""
    width = len(text.header)
    for line, record in text.records():
        if len(record) != width:
            return InputError(
                f"{text.name}, row {line}", f"{len(record)} fields",
                f"{width} as in the header",
                "correct the line, or quote fields that hold the delimiter",
            )  # fmt: skip
    return InputError(text.name, f"cannot be parsed ({error})", "a table", "check the file")


def _check_quotes(text: Text, rows: int) -> None:
    """A quote left open swallows lines; look closely when some lines are missing."""
    lines = text.data.count(b"\n") or text.data.count(b"\r")
    if text.data.count(b'"') % 2 == 0 and rows >= lines - 1:
        return
    for _ in text.records(strict=True):
        pass

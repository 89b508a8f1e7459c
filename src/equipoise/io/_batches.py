"""Files that are read batch by batch: what a source of rows is, and which kind a path has."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from equipoise.arrays import InputError
from equipoise.coding.tables import Table
from equipoise.io import delimited, parquet
from equipoise.io.files import AnyPath, Content, content, unknown_ending

SMALL = 1 << 16  # bytes up to which a file is looked at whole before it is opened


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Source:
    """Rows of a file, a batch at a time.

    Attributes
    ----------
    header
        Name, notices and places of the rows; its columns map names to names in the file.
    rows
        Number of rows; for text with line breaks inside fields, no more than this.
    batches
        Called with names in the file, gives the batches: arrow columns by these names.
    coded
        Names of the columns that the file, read whole, holds as codes.
    facts
        What the file itself says about its kind and classes.
    """

    header: Table
    rows: int
    batches: Callable[[list[str]], Iterator[Mapping[str, Any]]]
    coded: frozenset[str]
    facts: Mapping[str, Any] = field(default_factory=dict)


class Opener(Protocol):
    """What a format offers."""

    def __call__(self, file: Content, path: Path) -> Source:
        """Look at the header of a file, whose bytes are not in `file`."""
        ...


def opened(path: AnyPath) -> Source:
    """Open a Parquet file or delimited text, also with ``.gz``, without reading it whole."""
    from equipoise.io._delimited_batches import delimited_source
    from equipoise.io._parquet_batches import parquet_source

    file, place = _known(path)
    formats: dict[str, Opener] = dict.fromkeys(delimited.ENDINGS, delimited_source)
    formats |= dict.fromkeys(parquet.ENDINGS, parquet_source)
    if file.suffix not in formats:
        raise unknown_ending(file, tuple(formats))
    return formats[file.suffix](file, place)


def _known(path: AnyPath) -> tuple[Content, Path]:
    """Check that there is a file with something in it, and name it without its bytes."""
    try:
        place = Path(path)
        with place.open("rb"):
            small = place.stat().st_size < SMALL
    except (OSError, TypeError, ValueError) as error:
        content(path)
        raise InputError(
            str(path), f"cannot be opened ({error})", "a readable file", "check the path"
        ) from error
    if small:
        content(place)
    inner = place.with_suffix("") if place.suffix.lower() == ".gz" else place
    return Content(place.name, inner.stem, inner.suffix.lower(), b""), place

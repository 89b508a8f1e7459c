"""Bytes from a path or to it, and every way in which that can fail, as one kind of error.

JSON text and NumPy arrays, which libraries parse whole, are read here too. A JSON object that
names a key twice is refused, because the first value would be lost; so are pickled objects.
"""

import gzip
import hashlib
import json
import lzma
import math
import os
import re
import tokenize
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from equipoise.types import (
    InputError,
    Names,
    Option,
    hint,
    immutable,
    listed,
    quoted,
    require_memory,
)

AnyPath = str | os.PathLike[str]
JSON = (".json",)
NUMPY = (".npy",)
TABLES = (".csv", ".tsv", ".parquet", ".pq", ".npy")  # what a folder is looked through for
LEAST_UNPACKED, TIMES_PACKED = 2**28, 100  # bytes, and times its size, of a packed file
SMALLER = "give less of it, or votes as a folder of Parquet files, which stays on disk"
DAMAGE = (
    ValueError, OverflowError, EOFError, KeyError, SyntaxError, TypeError, MemoryError,
    RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
    tokenize.TokenError, Warning,
)  # fmt: skip
_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
_LONGEST_BLANK = 4096  # bytes of white space up to which a file counts as empty


@immutable
class Content:
    """What stands in a file.

    Attributes
    ----------
    name
        The file's name, as messages call it.
    stem
        The name without its endings.
    suffix
        The ending in lower case, that of the packed file for ``.gz``.
    data
        The bytes, unpacked.
    """

    name: str
    stem: str
    suffix: str
    data: bytes

    @classmethod
    def of(cls, place: Path, data: bytes = b"") -> "Content":
        """The content of a file at some place; without data, for messages."""
        inner = place.with_suffix("") if place.suffix.lower() == ".gz" else place
        return cls(place.name, inner.stem, inner.suffix.lower(), data)


def content(path: AnyPath) -> Content:
    """Read a file, unpacking ``.gz``."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(
            "path", f"a {type(path).__name__}", "text or a pathlib.Path", "give the file's path"
        )
    place = Path(path)
    require_file(place)
    if place.is_file():
        require_memory(place.name, place.stat().st_size, SMALLER)
    try:
        data = place.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if place.suffix.lower() == ".gz":
        data = _unpacked(place.name, data)
    if len(data) < _LONGEST_BLANK and not data.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InputError(place.name, "an empty file", "a file with data", "check the path")
    return Content.of(place, data)


def require_file(place: Path) -> None:
    """Refuse what is there and is no file: a device or a pipe may never end."""
    try:
        odd = place.exists() and not (place.is_file() or place.is_dir())
    except (OSError, ValueError) as error:
        raise unreadable(place, error) from error
    if odd:
        raise InputError(
            str(place), "a device or a pipe", "a file", "write what it gives into a file first"
        )


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    require_file(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def listed_paths(paths: AnyPath | Sequence[AnyPath]) -> list[AnyPath]:
    """One path or several as a list, with the tables of a folder, by name, in its place."""
    if not isinstance(paths, list | tuple):
        paths = cast(list[AnyPath], [paths])
    listed: list[AnyPath] = []
    for path in paths:
        if not isinstance(path, str | os.PathLike) or not Path(path).is_dir():
            listed.append(path)
            continue
        inside = sorted(
            path_inside
            for path_inside in Path(path).iterdir()
            if Content.of(path_inside).suffix in TABLES and not path_inside.name.startswith(".")
        )
        if not inside:
            raise InputError(
                f"{path}",
                "a folder without tables",
                f"files ending in {', '.join(TABLES)}",
                "name a file, or a folder with one file per annotator or model",
            )
        refuse_special_files(inside)
        listed += inside
    if not listed:
        raise InputError("paths", "an empty list", "at least one file", "name a file")
    return listed


def refuse_special_files(paths: Sequence[Path]) -> None:
    """Refuse what lies in a folder of tables and is no file: a pipe would be waited for."""
    for path in paths:
        if not path.is_file():
            got = "a folder" if path.is_dir() else "neither a file nor a link to one"
            raise InputError(f"{path}", got, "a file", "take it out of the folder")


def unreadable(path: AnyPath, error: OSError | ValueError) -> InputError:
    """Say why a file cannot be read."""
    if isinstance(error, FileNotFoundError):
        do = _similar(Path(path)) or "check the path"
        return InputError(str(path), "no such file", "a file", do)
    if isinstance(error, IsADirectoryError):
        return InputError(str(path), "a folder", "a file", "give the path of each file in it")
    return InputError(
        str(path), f"cannot be read ({error})", "a readable file", "check the path"
    )


def read_json(file: Content) -> Any:
    """Parse JSON."""
    try:
        parsed = json.loads(
            file.data.decode("utf-8-sig"), object_pairs_hook=partial(_unique_keys, file.name)
        )
        if _HALF_CHARACTER.search(file.data):
            json.dumps(parsed, ensure_ascii=False).encode()
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise _no_json(file.name, error) from error
    return parsed


def _unique_keys(name: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) != len(pairs):
        names = Counter(key for key, _ in pairs)
        twice = next(key for key, times in names.items() if times > 1)
        raise InputError(
            name,
            f"key {quoted(twice)} twice in one object",
            "each key once",
            "merge or rename the two",
        )
    return keys


def _no_json(name: str, error: ValueError | RecursionError) -> InputError:
    """Say why text is no JSON that can be read."""
    got, expected = "a whole number of thousands of digits", "numbers, or names in quotes"
    do = "write long ids in quotes"  # Python reads whole numbers of at most 4,300 digits
    if isinstance(error, UnicodeEncodeError):
        got, expected = f"half a character ({error.object[error.start]!r})", "whole characters"
        do = "correct the text: it was cut inside a character"
    elif isinstance(error, UnicodeDecodeError):
        got, expected = f"byte {error.start} is no text", "UTF-8"
        do = "save the file as UTF-8"
    elif isinstance(error, json.JSONDecodeError):
        name, got = f"{name}, row {error.lineno}", f"no JSON ({error.msg})"
        expected, do = "whole JSON text", "export the file again"
    elif isinstance(error, RecursionError):
        got, expected = "lists nested too deeply", "case > reading > block > class"
        do = "check the nesting"
    return InputError(name, got, expected, do)


def read_array(file: Content) -> Any:
    """Read one array saved by NumPy."""
    try:
        stream = BytesIO(file.data)
        _check_claim(file.name, stream, len(file.data))
        return np.lib.format.read_array(BytesIO(file.data), allow_pickle=False)
    except DAMAGE as error:
        raise InputError(
            file.name,
            f"no readable array ({_first_line(error)})",
            "an array of numbers saved with numpy.save",
            "save the array again",
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:80] if str(error) else "cut"


def read_arrays(path: AnyPath | Content) -> dict[str, NDArray[Any]]:
    """Read the arrays of an ``.npz`` file, or of its content, by name.

    What their headers claim is held against what the file has before memory is taken for it.
    """
    if isinstance(path, Content):
        name, where, source = path.name, path.name, cast(Any, BytesIO(path.data))
    else:
        name, where, source = Path(path).name, str(path), Path(path)
        require_file(source)
    try:
        with zipfile.ZipFile(source) as packed:
            _check_claims(name, packed)
            return {
                name.removesuffix(".npy"): _member(packed, name) for name in packed.namelist()
            }
    except OSError as error:
        raise unreadable(where, error) from error
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError(
            where,
            f"damaged or something else ({_first_line(error)})",
            "arrays of numbers saved with numpy.savez",
            "write the file again",
        ) from error


def _member(packed: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with packed.open(name) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array


def _check_claims(name: str, packed: zipfile.ZipFile) -> None:
    """Refuse arrays that are larger, or smaller, than the file says they are."""
    size = sum(member.file_size for member in packed.infolist())
    require_memory(f"{name}, unpacked", size, "write arrays that fit into memory")
    for member in packed.infolist():
        with packed.open(member) as file:
            _check_claim(member.filename, file, member.file_size)


def _check_claim(name: str, file: IO[bytes], size: int) -> None:
    """Refuse an array whose header claims more, or less, than there is behind it."""
    version = np.lib.format.read_magic(file)
    old = version == (1, 0)
    head = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of headers that Python 2 wrote, or that look like it
        shape, _, kind = head(file)
    if kind.hasobject:
        raise ValueError(f"{name} holds Python objects")
    if math.prod(shape) * kind.itemsize != size - file.tell():
        raise ValueError(f"the header of {name} does not fit what it holds")


def unknown_ending(file: Content, endings: Names) -> InputError:
    """Say which endings are known."""
    do: str = "rename or convert the file"
    if file.suffix == ".npz":
        beside = "a truth that aggregate wrote is given beside the votes: {}"
        do = hint(beside, Option("truth", file.name))
    return InputError(file.name, f"ending {file.suffix!r}", f"one of {', '.join(endings)}", do)


def _similar(place: Path) -> str:
    """Name files of the same folder that may have been meant."""
    from difflib import get_close_matches

    if not place.parent.is_dir():
        return f"the folder {str(place.parent)!r} does not exist"
    try:
        beside = [neighbour.name for neighbour in place.parent.iterdir()]
    except OSError:  # a folder that may not be listed
        return ""
    near = get_close_matches(place.name, beside)
    return f"did you mean {listed(near)}?" if near else ""


def cut_gzip(name: str, error: Exception) -> InputError:
    """Say that a packed file cannot be unpacked."""
    return InputError(
        name, f"cannot be unpacked ({error})", "a whole gzip file", "fetch the file again"
    )


def _unpacked(name: str, data: bytes) -> bytes:
    most = max(LEAST_UNPACKED, TIMES_PACKED * len(data))
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            whole = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise cut_gzip(name, error) from error
    if len(whole) > most:
        raise InputError(
            name,
            f"more than {TIMES_PACKED} times its size when unpacked",
            "a table, which packs less well",
            "unpack the file yourself if it is what you think",
        )
    return whole

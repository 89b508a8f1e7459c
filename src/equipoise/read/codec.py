"""Codec: records as JSON and back, by their types, naming what is not as it should be.

Undefined numbers are nan in a record and null in the file, infinite ones the words "inf" and
"-inf" (in cells of tables, which may hold words, ``{"number": "inf"}``). A record of a union of
several carries its ``kind``; advice that names options keeps its parts. A class with
``to_json`` and ``from_json`` does both itself.

What is written and opened again is sealed: a hash of everything in it stands beside it, so that
an edit or a flipped bit is noticed; of JSON by `sealed`, of arrays by `write_sealed`, of files
that are too large to be read at once by `seal_files`.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray

from equipoise.read.files import Content, content, file_sha256, read_arrays, read_json
from equipoise.read.writing import replaced, write_text
from equipoise.types import Hint, InputError, Notice
from equipoise.types.notices import from_json as notice_from_json
from equipoise.types.notices import to_json as notice_to_json
from equipoise.types.notices import value_from_json, value_to_json

Read = TypeVar("Read")
AGAIN = "write the run again"
_LINE = json.JSONEncoder(allow_nan=False)


def encode(value: Any) -> Any:
    """A record as plain JSON; fields that have their default and say so are left out.

    Examples
    --------
    >>> encode((1.0, math.nan, math.inf, np.array([True, False])))
    [1.0, None, 'inf', [True, False]]
    """
    kind = type(value)
    if value is None or kind in {str, int, bool} or (kind is float and math.isfinite(value)):
        return value
    if kind in {list, tuple}:
        return [encode(part) for part in value]
    if isinstance(value, Notice):
        return notice_to_json(value)
    if is_dataclass(value):
        plain_fields = {part.name.rstrip("_"): _field(value, part) for part in written(value)}
        tagged = getattr(type(value), "TAGGED", False)
        return {"kind": type(value).__name__, **plain_fields} if tagged else plain_fields
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(name): encode(part) for name, part in value.items()}
    return encode(value.tolist()) if isinstance(value, np.ndarray) else _plain_value(value)


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, Hint):
        advises = any(not isinstance(part, str) for part in value.parts)
        return value_to_json(value) if advises else str(value)
    return str(value) if isinstance(value, str) else value


def _field(value: Any, part: Field[Any]) -> Any:
    """What a field holds; cells of rows may be words or numbers."""
    held = getattr(value, part.name)
    if held is None or not part.metadata.get("cells"):
        return encode(held)
    return [{name: _cell(cell) for name, cell in row.items()} for row in held]


def _cell(cell: Any) -> Any:
    plain = encode(cell)
    if isinstance(plain, str) and not isinstance(cell, str):
        return {"number": plain}
    return plain


def written(record: Any) -> list[Field[Any]]:
    """Fields that are part of the file."""
    return [
        part
        for part in fields(record)
        if not part.metadata.get("maybe") or getattr(record, part.name) != part.default
    ]


def read(kind: type[Read], value: object, where: str = "run.json") -> Read:
    """Read a record of some kind from plain JSON."""
    try:
        record: Read = _record(kind, value, where)
    except RecursionError as error:
        raise InputError(where, "nested too deeply", "a record of ours", AGAIN) from error
    return record


def _record(kind: Any, value: object, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise wrong(where, value, "an object with keys")
    arguments = {}
    for name, part in _parts(kind).items():
        key = name.rstrip("_")
        if key not in value:
            if part.needed:
                raise InputError(f"{where}, key {key!r}", "absent", "present", AGAIN)
        elif part.cells:
            arguments[name] = _read_rows(value[key], f"{where}, {key}", maybe=part.maybe)
        else:
            arguments[name] = read_value(part.hint, value[key], f"{where}, {key}")
    return kind(**arguments)


class _Part(NamedTuple):
    """A part of a record: its type, whether it must be there, whether it is rows of cells."""

    hint: Any
    needed: bool
    cells: bool = False
    maybe: bool = False


@cache
def _parts(kind: Any) -> dict[str, _Part]:
    """Parts of a record by name; those that earlier versions did not write have a default."""
    hints = get_type_hints(kind)
    if hasattr(kind, "_fields"):
        return {name: _Part(hints[name], name not in kind._field_defaults) for name in hints}
    return {
        part.name: _Part(
            hints[part.name],
            part.default is MISSING and part.default_factory is MISSING,
            bool(part.metadata.get("cells")),
            part.default is None,
        )
        for part in fields(kind)
    }


def _read_rows(rows: Any, where: str, *, maybe: bool) -> Any:
    if rows is None and maybe:
        return None
    if not isinstance(rows, list):
        raise wrong(where, rows, "a list of rows")
    return [_read_row(row, f"{where}[{i}]") for i, row in enumerate(rows)]


def _read_row(row: Any, where: str) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise wrong(where, row, "an object with keys")
    return {name: _read_cell(cell, f"{where}, {name}") for name, cell in row.items()}


def _read_cell(cell: Any, where: str) -> Any:
    if isinstance(cell, Mapping):
        return _number(cell.get("number"), where)
    if isinstance(cell, list):
        return tuple(_read_cell(part, where) for part in cell)
    return cell


def read_value(hint: Any, value: Any, where: str) -> Any:
    """Read one value as its type says."""
    if hint is Notice:
        return _notice(value, where)
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return _record(hint, value, where)
    if get_origin(hint) is not None:
        return _generic(hint, value, where)
    return _plain(hint, value, where)


def _generic(hint: Any, value: Any, where: str) -> Any:
    """Read a value of a type with parameters: unions, arrays, mappings and lists."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        if value not in inner:
            raise wrong(where, value, f"one of {', '.join(map(str, inner))}")
        return value
    if origin in (Union, UnionType):
        return _union(inner, value, where)
    if origin is np.ndarray:
        return _array(hint, value, where)
    if origin is not tuple and issubclass(origin, Mapping):
        return _mapping(inner, value, where)
    return _list(inner, value, where)


def _notice(value: Any, where: str) -> Notice:
    try:
        return notice_from_json(value)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise wrong(where, value, "a notice") from error


def _mapping(inner: Sequence[Any], value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise wrong(where, value, "an object with keys")
    hint = inner[1] if len(inner) == 2 else Any
    if hint not in (str, int, float, bool):
        return dict(value)
    return {name: read_value(hint, part, f"{where}, {name}") for name, part in value.items()}


def _array(hint: Any, value: Any, where: str) -> Any:
    """An array of numbers, or of yes and no."""
    try:
        if "bool" in str(hint):
            return np.array(value, dtype=bool)
        return np.array(_nested(value, where), dtype=np.float64)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise wrong(where, value, "an array of numbers") from error


def _nested(value: Any, where: str) -> Any:
    if isinstance(value, list):
        return [_nested(part, where) for part in value]
    return _number(value, where)


def _list(inner: Sequence[Any], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise wrong(where, value, "a list")
    several = len(inner) > 1 and inner[1] is not Ellipsis
    if several and len(inner) != len(value):
        raise wrong(where, value, f"a list of {len(inner)}")
    hints = inner if several else [inner[0]] * len(value)
    return tuple(
        read_value(hint, part, f"{where}[{i}]")
        for i, (hint, part) in enumerate(zip(hints, value, strict=True))
    )


def _union(kinds: Sequence[Any], value: Any, where: str) -> Any:
    if value is None:
        return math.nan if float in kinds and type(None) not in kinds else None
    tagged = {option.__name__: option for option in kinds if getattr(option, "TAGGED", False)}
    if tagged:
        name = value.get("kind") if isinstance(value, Mapping) else None
        if not isinstance(name, str) or name not in tagged:
            raise wrong(f"{where}, kind", name, f"one of {', '.join(tagged)}")
        return _record(tagged[name], value, where)
    refused = wrong(where, value, "something else")
    for kind in kinds:
        if kind is not type(None):
            try:
                return read_value(kind, value, where)
            except InputError as error:
                refused = error
    raise refused


def _plain(hint: Any, value: Any, where: str) -> Any:
    if hint is float:
        return _number(value, where)
    if hint is int:
        if isinstance(value, bool) or not isinstance(value, int):
            if value is None:
                return 0
            if not (isinstance(value, float) and value.is_integer()):
                raise wrong(where, value, "a whole number")
        return int(value)
    if hint is bool and not isinstance(value, bool):
        raise wrong(where, value, "true or false")
    if hint is str and not isinstance(value, str):
        return _advice(value, where)
    return value


def _advice(value: Any, where: str) -> str:
    """Advice that names options, see `equipoise.types.words.Hint`."""
    try:
        advice = value_from_json(value) if "hint" in value else None
    except (KeyError, TypeError, AttributeError):
        advice = None
    if not isinstance(advice, Hint):
        raise wrong(where, value, "text")
    return advice


def _number(value: Any, where: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not (
        isinstance(value, int | float) or value in ("inf", "-inf")
    ):
        raise wrong(where, value, "a number, null, or the word inf")
    try:
        return float(value)
    except OverflowError as error:
        raise wrong(where, value, "a number below 1e308") from error


def wrong(where: str, value: object, expected: str) -> InputError:
    """What a file holds in place of what it should."""
    return InputError(where, f"{value!r:.40} ({type(value).__name__})", expected, AGAIN)


def json_lines(value: Any, edge: str = "\n") -> str:
    """JSON that people can read: what holds no further object or list is a line.

    Examples
    --------
    >>> print(json_lines({"schema": 1, "rows": [{"model": "vit", "value": 0.9}]}))
    {
     "schema": 1,
     "rows": [
      {"model": "vit", "value": 0.9}
     ]
    }
    """
    named = isinstance(value, dict)
    parts = value.values() if named else value if isinstance(value, list) else ()
    if not any(isinstance(part, dict | list) for part in parts):
        return _LINE.encode(value)
    deeper = f"{edge} "
    lines = [json_lines(part, deeper) for part in parts]
    if named:
        lines = [f"{json.dumps(key)}: {line}" for key, line in zip(value, lines, strict=True)]
        return f"{{{deeper}{f',{deeper}'.join(lines)}{edge}}}"
    return f"[{deeper}{f',{deeper}'.join(lines)}{edge}]"


def sealed(header: Mapping[str, Any]) -> dict[str, Any]:
    """A header with a hash of everything in it, so that an edit is noticed."""
    return {**header, "seal": _seal(header)}


def _seal(header: Mapping[str, Any]) -> str:
    held = {name: value for name, value in header.items() if name != "seal"}
    text = json.dumps(held, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Sealed(NamedTuple):
    """Arrays of a file, and what it says of them."""

    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write_sealed(
    path: Path,
    facts: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    packed: bool,
    flush: bool = True,
) -> None:
    """Write arrays and facts, whole, with a hash of both, as an ``.npz`` with ``meta``."""
    meta = np.array(json.dumps(sealed({**facts, "content": _content_hash(arrays)})))
    save = np.savez_compressed if packed else np.savez
    with replaced(path, flush=flush) as out:
        save(out, allow_pickle=False, meta=meta, **arrays)


def read_sealed(file: Content, do: str, source: str | None = None) -> Sealed:
    """Read what `write_sealed` wrote; refused where anything changed since.

    Parameters
    ----------
    source
        What it must have been made from, as it says itself.
    """
    with _advising(do):
        arrays = read_arrays(file)
        facts = read_json(replace(file, data=str(arrays.pop("meta", "{}")).encode()))
    check_sealed(facts, arrays, file.name, do)
    _check_source(facts, file.name, do, source)
    return Sealed(facts, arrays)


def check_sealed(
    facts: object, arrays: Mapping[str, NDArray[Any]] | None, where: str, do: str
) -> None:
    """Refuse what is not as it was sealed, or was not: facts, and arrays where it has some."""
    if not isinstance(facts, Mapping) or "seal" not in facts:
        raise InputError(where, "no seal", "a file with a hash of its content", do)
    changed = facts["seal"] != _seal(facts)
    if changed or (arrays is not None and facts.get("content") != _content_hash(arrays)):
        raise InputError(where, "changed since it was written", "the file as it was", do)


def write_facts(path: Path, facts: Mapping[str, Any]) -> None:
    """Write facts as sealed JSON."""
    write_text(path, json.dumps(sealed(facts), indent=1, ensure_ascii=False) + "\n")


def read_facts(path: Path, do: str, source: str | None = None) -> dict[str, Any]:
    """Read what `write_facts` wrote; refused where anything changed since."""
    with _advising(do):
        facts: dict[str, Any] = read_json(content(path))
    check_sealed(facts, None, str(path), do)
    _check_source(facts, str(path), do, source)
    return facts


def _check_source(facts: Mapping[str, Any], where: str, do: str, source: str | None) -> None:
    """Refuse what is whole, and was made from something else."""
    if source is not None and facts.get("source") != source:
        raise InputError(where, "made from something else", "what the same input gave", do)


@contextmanager
def _advising(do: str) -> Iterator[None]:
    """What cannot be read is of ours: the advice is how to write it again."""
    try:
        yield
    except InputError as error:
        raise InputError(error.where, error.got, error.expected, do) from error


def seal_files(path: Path, files: Sequence[Path], source: str) -> None:
    """Write what files hold, and were made from, into one that lies beside them."""
    hashes = {file.name: file_sha256(file) for file in files}
    write_facts(path, {"source": source, "files": hashes})


def check_files(path: Path, do: str, source: str) -> None:
    """Refuse files that changed since `seal_files` saw them, or are of something else."""
    for name, digest in read_facts(path, do, source)["files"].items():
        file = path.parent / name
        if not file.is_file() or file_sha256(file) != digest:
            got = "changed since it was written" if file.exists() else "not there"
            raise InputError(str(file), got, "the file as it was", do)


def _content_hash(arrays: Mapping[str, NDArray[Any]]) -> str:
    whole = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        whole.update(f"{name} {array.dtype.str} {np.shape(arrays[name])}\n".encode())
        whole.update(array.tobytes())
    return whole.hexdigest()

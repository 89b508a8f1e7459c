"""Plausibilities on disk: one npz file, arrays as they are and a header that names them.

The header is JSON inside the same file, with a schema number, read by the types of its fields.
Both are sealed (`equipoise.read.codec`): what was changed since it was written is refused. The
same plausibilities give the same bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.read import codec
from equipoise.read.files import content
from equipoise.types import (
    POSTERIORS,
    InputError,
    JsonValue,
    Names,
    Notices,
    Plausibilities,
    Posterior,
    Skills,
    immutable,
)
from equipoise.types.notices import to_json

SCHEMA = 4
AGAIN = "aggregate the votes again; files of earlier versions have to be, too"
PLAIN = ("items", "classes", "method", "task", "parameters", "rest_shape", "split_seed")


def write_plausibilities(plausibilities: Plausibilities, path: str | Path) -> None:
    """Write plausibilities to a file that `read_plausibilities` gives back."""
    arrays: dict[str, Any] = {
        name: getattr(plausibilities, name) for name in ("start", "label", "mass", "rest")
    }
    if plausibilities.difficulty is not None:
        arrays["difficulty"] = plausibilities.difficulty
    header: dict[str, Any] = {"schema": SCHEMA}
    header |= {name: getattr(plausibilities, name) for name in PLAIN}
    header["notices"] = [to_json(notice) for notice in plausibilities.notices]
    header["diagnostics"] = dict(plausibilities.diagnostics)
    header |= {"ordered": True} if plausibilities.ordered else {}
    header |= {"model": plausibilities.model} if plausibilities.model else {}
    law = plausibilities.law
    if law is not None and law.name in POSTERIORS:
        header["law"], numbers = law.name, _parts(law, float)
        header |= {"law_numbers": numbers} if numbers else {}
        arrays |= {f"law_{name}": array for name, array in _parts(law, np.ndarray).items()}
    if plausibilities.skills is not None:
        header["skills"] = {
            "annotators": plausibilities.skills.annotators,
            "meaning": plausibilities.skills.meaning,
        }
        arrays |= {
            f"skills_{key}": array
            for key, array in _parts(plausibilities.skills, np.ndarray).items()
        }
    facts = json.loads(json.dumps(header, default=_plain))
    codec.write_sealed(Path(path), facts, arrays, packed=True)


@immutable(kw_only=True)
class _SkillsHeader:
    """Whose skills there are, and what they mean."""

    annotators: Names
    meaning: str


@immutable(kw_only=True)
class _Header:
    """Everything in the file that is no array."""

    schema: int
    items: Names
    classes: Names
    method: str
    task: str
    parameters: Mapping[str, JsonValue]
    rest_shape: float | None
    split_seed: int
    notices: Notices
    diagnostics: Mapping[str, JsonValue]
    ordered: bool = False
    model: str = ""
    law: str = ""
    law_numbers: Mapping[str, float] = field(default_factory=dict)
    skills: _SkillsHeader | None = None


def read_plausibilities(path: str | Path) -> Plausibilities:
    """Read plausibilities written by `write_plausibilities`."""
    where = str(path)
    plain, arrays = codec.read_sealed(content(path), AGAIN)
    header = _read_header(where, plain)
    _check_arrays(where, header, arrays)
    law: dict[str, Any] = {**_group(arrays, "law_"), **header.law_numbers}
    skills = _group(arrays, "skills_")
    facts: dict[str, Any] = {name: getattr(header, name) for name in PLAIN} | arrays
    try:
        return Plausibilities(
            **facts,
            notices=header.notices,
            diagnostics=header.diagnostics,
            ordered=header.ordered,
            model=header.model,
            law=POSTERIORS[header.law](**law) if header.law else None,
            skills=Skills(header.skills.annotators, header.skills.meaning, **skills)
            if header.skills
            else None,
        )
    except InputError:
        raise
    except (TypeError, ValueError, IndexError) as error:
        reason = str(error).splitlines()[0][:80] if str(error) else "cut"
        got, expected = (
            f"damaged or something else ({reason})",
            "what write_plausibilities wrote",
        )
        raise InputError(where, got, expected, "write it again") from error


def _read_header(where: str, plain: Mapping[str, Any]) -> _Header:
    """Read the facts by the types of their fields."""
    schema = plain.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        do = "read it with the version of equipoise that wrote it, or aggregate again"
        raise InputError(where, f"schema {schema!r:.20}", f"schema {SCHEMA}", do)
    header = codec.read(_Header, plain, where)
    if header.law and header.law not in POSTERIORS:
        raise InputError(
            f"{where}, law", f"{header.law!r:.40}", f"one of {', '.join(POSTERIORS)}",
            "write it again",
        )  # fmt: skip
    return header


def _check_arrays(where: str, header: _Header, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays that are missing, unknown, or hold something else than numbers."""
    expected = {"start": True, "label": True, "mass": True, "rest": True, "difficulty": False}
    if header.law:
        expected |= _array_fields(POSTERIORS[header.law], "law_", set(header.law_numbers))
    if header.skills:
        expected |= _array_fields(Skills, "skills_", {"annotators", "meaning"})
    absent = [name for name, needed in expected.items() if needed and name not in arrays]
    other = [name for name in arrays if name not in expected]
    if absent or other:
        what = f"no array {absent[0]!r}" if absent else f"an array {other[0]!r:.40}"
        raise InputError(where, what, f"the arrays {', '.join(expected)}", "write it again")
    for name, array in arrays.items():
        kinds = "iu" if name in ("start", "label") else "iuf"
        if array.dtype.kind not in kinds or not array.ndim:
            raise InputError(
                f"{where}, array {name!r}",
                f"{array.dtype} of shape {array.shape}",
                "whole numbers" if kinds == "iu" else "numbers",
                "write it again",
            )


def _array_fields(kind: type[Any], prefix: str, but: set[str]) -> dict[str, bool]:
    """Names of the arrays that a record has, and whether each must be there."""
    return {
        f"{prefix}{field.name}": field.default is MISSING
        for field in fields(kind)
        if field.name not in but and field.init
    }


def _parts(thing: Posterior | Skills, kind: type) -> dict[str, Any]:
    """The arrays, or the plain numbers, that a law or skills consist of."""
    names = [field.name for field in fields(thing)] if is_dataclass(thing) else []
    parts = {name: getattr(thing, name) for name in names}
    return {name: part for name, part in parts.items() if isinstance(part, kind)}


def _group(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Take the arrays of one part out of all."""
    names = [name for name in arrays if name.startswith(prefix)]
    return {name.removeprefix(prefix): arrays.pop(name) for name in names}


def _plain(value: Any) -> Any:
    """Arrays and numpy numbers as JSON."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)

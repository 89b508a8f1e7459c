"""Plausibilities on disk: one npz file, arrays as they are and a header that names them.

The header is JSON inside the same file, with a schema number; every array of a zip carries a
checksum, so a damaged file is noticed. The same plausibilities give the same bytes.

Schema 1 knew the laws ``dirichlet`` and ``labels`` only; schema 2 adds ``normal``, whose
threshold is a plain number. A file has the lowest schema that can hold it, so older versions
read what they understand and refuse the rest. Whether the classes are grades is said only where
they are.
"""

import json
import zipfile
import zlib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.aggregate import MODELS
from equipoise.arrays import InputError
from equipoise.notices import from_json, to_json
from equipoise.plausibilities import Plausibilities, Skills
from equipoise.posteriors import POSTERIORS, Posterior
from equipoise.read.files import replaced, unreadable

SCHEMAS = (1, 2)
PLAIN = ("items", "classes", "method", "task", "parameters", "rest_shape", "split_seed")


def write_plausibilities(plausibilities: Plausibilities, path: str | Path) -> None:
    """Write plausibilities to a file that `read_plausibilities` gives back."""
    arrays: dict[str, Any] = {
        name: getattr(plausibilities, name) for name in ("start", "label", "mass", "rest")
    }
    if plausibilities.difficulty is not None:
        arrays["difficulty"] = plausibilities.difficulty
    law = plausibilities.law
    numbers = {} if law is None or law.name not in POSTERIORS else _parts(law, float)
    header: dict[str, Any] = {"schema": 2 if numbers else 1}
    header |= {name: getattr(plausibilities, name) for name in PLAIN}
    header["notices"] = [to_json(notice) for notice in plausibilities.notices]
    header["diagnostics"] = dict(plausibilities.diagnostics)
    header |= {"ordered": True} if plausibilities.ordered else {}
    header |= {"model": plausibilities.model} if plausibilities.model else {}
    if law is not None and law.name in POSTERIORS:
        header["law"] = law.name
        header |= {"law_numbers": numbers} if numbers else {}
        arrays |= {f"law_{name}": array for name, array in _parts(law, np.ndarray).items()}
    if plausibilities.skills is not None:
        header["skills"] = {
            "annotators": plausibilities.skills.annotators,
            "meaning": plausibilities.skills.meaning,
        }
        arrays |= {
            f"skills_{key}": one
            for key, one in _parts(plausibilities.skills, np.ndarray).items()
        }
    text = json.dumps(header, default=_plain)
    arrays["header"] = np.frombuffer(text.encode(), dtype=np.uint8)
    with replaced(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_plausibilities(path: str | Path) -> Plausibilities:
    """Read plausibilities written by `write_plausibilities`."""
    target = Path(path)
    try:
        with target.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = json.loads(arrays.pop("header").tobytes())
    except OSError as error:
        raise unreadable(path, error) from error
    except (EOFError, KeyError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(
            f"{target}",
            "damaged or something else",
            "a file written by write_plausibilities",
            "write it again",
        ) from error
    if header.get("schema") not in SCHEMAS:
        raise InputError(
            f"{target}",
            f"schema {header.get('schema')}",
            f"schema 1 to {SCHEMAS[-1]}",
            "read it with the version of equipoise that wrote it",
        )
    facts = {name: header[name] for name in PLAIN}
    facts |= {name: tuple(header[name]) for name in ("items", "classes")}
    facts["notices"] = tuple(map(from_json, header["notices"]))
    law, skills = _group(arrays, "law_"), _group(arrays, "skills_")
    about = header.get("skills")
    return Plausibilities(
        **facts,
        **arrays,
        diagnostics=header["diagnostics"],
        ordered=header.get("ordered", False),
        model=header.get("model") or _model(header["method"]),
        law=POSTERIORS[header["law"]](**law, **header.get("law_numbers", {}))
        if "law" in header
        else None,
        skills=Skills(tuple(about["annotators"]), about["meaning"], **skills)
        if about
        else None,
    )


def _model(method: str) -> str:
    """The model of a file of an older version, which does not name it; empty if unknown."""
    if method.startswith("annotator bootstrap of "):
        return "annotator_bootstrap"
    titles = {model.title: name for name, model in MODELS.items()}
    return titles.get(method.partition(" (")[0], "")


def _parts(thing: Posterior | Skills, kind: type) -> dict[str, Any]:
    """The arrays, or the plain numbers, that a law or skills consist of."""
    names = [each.name for each in fields(thing)] if is_dataclass(thing) else []
    parts = {name: getattr(thing, name) for name in names}
    return {name: part for name, part in parts.items() if isinstance(part, kind)}


def _group(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Take the arrays of one part out of all."""
    names = [name for name in arrays if name.startswith(prefix)]
    return {name.removeprefix(prefix): arrays.pop(name) for name in names}


def _plain(value: Any) -> Any:
    """Arrays and numpy numbers as JSON."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)

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
from equipoise.io.files import replaced, unreadable
from equipoise.notices import Notice
from equipoise.plausibilities import Plausibilities, Skills
from equipoise.posteriors import POSTERIORS, Posterior

SCHEMAS = (1, 2)
PLAIN = (
    "items",
    "classes",
    "method",
    "task",
    "parameters",
    "rest_shape",
    "split_seed",
    "notices",
)


def write_plausibilities(plausibilities: Plausibilities, path: str | Path) -> None:
    """Write plausibilities to a file that `read_plausibilities` gives back."""
    arrays: dict[str, Any] = {
        name: getattr(plausibilities, name) for name in ("start", "label", "mass", "rest")
    }
    if plausibilities.difficulty is not None:
        arrays["difficulty"] = plausibilities.difficulty
    law = plausibilities.law
    numbers = {} if law is None or law.name not in POSTERIORS else _numbers(law)
    header: dict[str, Any] = {"schema": 2 if numbers else 1}
    header |= {name: getattr(plausibilities, name) for name in PLAIN}
    header["diagnostics"] = dict(plausibilities.diagnostics)
    header |= {"ordered": True} if plausibilities.ordered else {}
    header |= {"model": plausibilities.model} if plausibilities.model else {}
    if law is not None and law.name in POSTERIORS:
        header["law"] = law.name
        header |= {"law_numbers": numbers} if numbers else {}
        arrays |= {f"law_{name}": array for name, array in _arrays(law).items()}
    if plausibilities.skills is not None:
        header["skills"] = {
            "annotators": plausibilities.skills.annotators,
            "meaning": plausibilities.skills.meaning,
        }
        arrays |= {f"skills_{key}": one for key, one in _arrays(plausibilities.skills).items()}
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
            f"{target}", "damaged or something else",
            "a file written by write_plausibilities", "write it again",
        ) from error  # fmt: skip
    if header.get("schema") not in SCHEMAS:
        raise InputError(
            f"{target}", f"schema {header.get('schema')}", f"schema 1 to {SCHEMAS[-1]}",
            "read it with the version of equipoise that wrote it",
        )  # fmt: skip
    facts = {name: header[name] for name in PLAIN}
    facts |= {name: tuple(header[name]) for name in ("items", "classes")}
    facts["notices"] = tuple(
        Notice("stored", "{text}", (), {"text": one}) for one in header["notices"]
    )
    law, skills = _group(arrays, "law_"), _group(arrays, "skills_")
    return Plausibilities(
        **facts,
        **arrays,
        diagnostics=header["diagnostics"],
        ordered=header.get("ordered", False),
        model=header.get("model") or _model(header["method"]),
        law=POSTERIORS[header["law"]](**law, **header.get("law_numbers", {}))
        if "law" in header
        else None,
        skills=_skills(header["skills"], skills) if "skills" in header else None,
    )


def _model(method: str) -> str:
    """The model of a file of an older version, which does not name it; empty if unknown."""
    if method.startswith("annotator bootstrap of "):
        return "annotator_bootstrap"
    titles = {model.title: name for name, model in MODELS.items()}
    return titles.get(method.partition(" (")[0], "")


def _arrays(thing: Posterior | Skills) -> dict[str, Any]:
    """The arrays that a law or skills consist of."""
    found = _parts(thing)
    return {name: one for name, one in found.items() if isinstance(one, np.ndarray)}


def _parts(thing: Posterior | Skills) -> dict[str, Any]:
    """Everything that a law or skills consist of."""
    names = [one.name for one in fields(thing)] if is_dataclass(thing) else []
    return {name: getattr(thing, name) for name in names}


def _numbers(law: Posterior) -> dict[str, float]:
    """The plain numbers that a law holds beside its arrays."""
    found = _parts(law)
    return {name: one for name, one in found.items() if isinstance(one, float)}


def _skills(facts: dict[str, Any], arrays: dict[str, Any]) -> Skills:
    return Skills(tuple(facts["annotators"]), facts["meaning"], **arrays)


def _group(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Take the arrays of one part out of all."""
    names = [name for name in arrays if name.startswith(prefix)]
    return {name.removeprefix(prefix): arrays.pop(name) for name in names}


def _plain(value: Any) -> Any:
    """Arrays and numpy numbers as JSON."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)

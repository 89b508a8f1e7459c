"""The study behind the folder of an evaluation: its files are found and checked again.

A file is looked for where it lay as seen from the folder, then beside the folder, in it and
here; it counts only if its hash is the one that was recorded.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from equipoise.arrays import InputError, listed
from equipoise.cli._options import USUAL

ASKED = (
    "positive", "at_least", "kind", "classes", "exchangeable", "layout", "prediction_layout",
    "repeats", "on_missing",
)  # fmt: skip
COLUMNS = ("columns", "prediction_columns")
ROLES = ("annotations", "predictions")


def reopened(
    run: Path, options: dict[str, Any]
) -> tuple[dict[str, Any], Mapping[str, Any], tuple[str, ...]]:
    """Options with the files and the reading of a run filled in, its record, and notices."""
    from equipoise.run import Run

    folder = run if run.is_dir() else run.parent
    header = Run.load(run).header
    question = header.get("question", {})
    told = dict(options)
    for name in ASKED:
        if told.get(name) in USUAL and question.get(name) is not None:
            told[name] = question[name]
    for name in COLUMNS:
        if told[name] is None and question.get(name):
            told[name] = ",".join(f"{ours}={theirs}" for ours, theirs in question[name].items())
    said = _cautions(header)
    if told["annotations"] is None:
        told["dataset"] = header.get("dataset", {}).get("name")
    for role in ROLES:
        rows = [one for one in header.get("inputs", ()) if one["role"] == role]
        if not told[role]:
            found = [_found(folder, one) for one in rows]
            told[role] = found if role == "predictions" else found[0] if found else None
        else:
            said += _changed(told[role] if role == "predictions" else [told[role]], rows)
    return told, header, said


def _cautions(header: Mapping[str, Any]) -> tuple[str, ...]:
    """What of the run does not carry over."""
    question = header.get("question", {})
    if question.get("by_group") or question.get("within"):
        raise InputError(
            "run.json", "an evaluation by groups of classes", "one of the classes themselves",
            "give -a and -p in place of the folder",
        )  # fmt: skip
    if header.get("truth_model"):
        return (
            "The evaluation inferred the truth by a model; here the votes themselves are the "
            "truth. `stability` repeats it under every model that suits, as choices.",
        )
    return ()


def _found(folder: Path, wanted: Mapping[str, Any]) -> Path:
    """The file that a run read, by its place, name and hash."""
    there = [path for path in _places(folder, wanted) if path.is_file()]
    for path in there:
        if _hash(path) == wanted["sha256"]:
            return path
    name, flag = str(wanted["name"]), "-a" if wanted["role"] == "annotations" else "-p"
    where = f"{folder / 'run.json'}, {wanted['role']}"
    if there:
        raise InputError(
            where, f"{there[0]} was found but is changed since (SHA-256 "
            f"{_hash(there[0])[:12]}..., not {wanted['sha256'][:12]}...)",
            "the file that was evaluated",
            f"bring it back, or take the changed file: {flag} {there[0]}",
        )  # fmt: skip
    lay = f" where it lay ({wanted['path']} from the run)," if wanted.get("path") else ""
    raise InputError(
        where, f"{name!r} is neither{lay} beside the run, in it nor in this folder",
        "the file that was evaluated", f"give its place: {flag} {name}",
    )  # fmt: skip


def _places(folder: Path, wanted: Mapping[str, Any]) -> list[Path]:
    """Where a file may lie, the most likely place first; links are followed either way."""
    name, real = str(wanted["name"]), folder.resolve()
    places = []
    if wanted.get("path"):
        places += [Path(os.path.normpath(folder / wanted["path"])), real / wanted["path"]]
    beside = Path(os.path.normpath(folder / ".." / name))
    return list(dict.fromkeys([*places, beside, real.parent / name, folder / name, Path(name)]))


def _changed(paths: list[Path], rows: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Say so when files given are not those of the run."""
    hashes = {one["sha256"] for one in rows}
    other = [path.name for path in paths if path.is_file() and _hash(path) not in hashes]
    if not other:
        return ()
    return (f"{listed(other)}: not the file that was evaluated; what is given counts.",)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

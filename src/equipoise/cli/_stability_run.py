"""The study behind the folder of an evaluation: its files are found and checked again."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from equipoise.arrays import InputError, listed

ASKED = ("positive", "at_least", "kind", "exchangeable", "layout", "repeats", "on_missing")
COLUMNS = ("columns", "prediction_columns")
USUAL = (None, False, "auto", "keep", "error")


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
        if told[name] in USUAL and question.get(name) is not None:
            told[name] = question[name]
    for name in COLUMNS:
        if told[name] is None and question.get(name):
            told[name] = ",".join(f"{ours}={theirs}" for ours, theirs in question[name].items())
    said = _cautions(header)
    inputs = header.get("inputs", ())
    for role in ("annotations", "predictions"):
        rows = [one for one in inputs if one["role"] == role]
        if not told[role]:
            found = [_found(folder, one) for one in rows]
            told[role] = found if role == "predictions" else found[0] if found else None
        elif role == "annotations":
            said += _changed([told[role]], rows)
        else:
            said += _changed(told[role], rows)
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
            "The evaluation inferred the truth by a model; stability is looked at with the "
            "votes themselves, and with every model under choices.",
        )
    return ()


def _found(folder: Path, wanted: Mapping[str, Any]) -> Path:
    """The file that a run read, by its name and hash."""
    name = str(wanted["name"])
    home = folder.resolve()
    places = dict.fromkeys(one / name for one in (home.parent, home, Path.cwd()))
    there = [path for path in places if path.is_file()]
    for path in there:
        if _hash(path) == wanted["sha256"]:
            return path
    flag = "-a" if wanted["role"] == "annotations" else "-p"
    got = f"{name!r} is " + (
        "changed since" if there else "neither beside the run, nor in it, nor in this folder"
    )
    raise InputError(
        f"{folder / 'run.json'}, {wanted['role']}", got,
        "the file that was evaluated, beside the folder, in it or here",
        f"give its place: {flag} {name}",
    )  # fmt: skip


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

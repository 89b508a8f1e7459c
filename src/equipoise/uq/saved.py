"""Saved predictions: one file per method, architecture and seed, and one of labels.

A file of a run is an ``.npz`` with ``meta``, a text in JSON (`SCHEMA`, the keys of `_Meta`),
and for each part of ``val``, ``test``, ``ood`` and ``val_ood`` either ``{part}_logits`` or
``{part}_probs`` (members, items, classes), or ``{part}_alpha`` and ``{part}_beta`` (items,
classes); and perhaps ``{part}_score`` (items, classes), the method's own uncertainty, which is
its epistemic part where ``score_is`` of ``meta`` says ``EU``. The file of labels has
``classes``, and for each part ``{part}_items``, ``{part}_labels`` and ``{part}_groups``.

Files from elsewhere may be plainer: ``probs`` (or ``logits``) is what is said of the test
images, ``labels`` their labels, ``items`` and ``groups`` their names and patients; an ``.npy``
file holds that one array. The name of the file is then the method; ``method.arch.seed.npz``
names all three.

Images of ``ood`` are the test images transformed, where they have the same names, or as many
and no names: clean and transformed then count as one image when images are resampled.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from equipoise.read.files import content, read_array, read_arrays, read_json
from equipoise.types.arrays import InputError, listed
from equipoise.uq.decomposition import Beta
from equipoise.uq.study import (
    PARTS,
    Corruption,
    Cost,
    Outputs,
    PartLabels,
    Prediction,
    Run,
    UncertaintyStudy,
    other_images,
    part_labels,
)

SCHEMA = 1
LABELS = "labels.npz"
CORRUPTIONS = "corruptions.json"
COSTS = (
    "train_seconds",
    "predict_seconds",
    "peak_bytes",
    "epochs",
    "seconds_per_epoch",
    "workers",
)
GOAL, NEAR = 0.2, 0.01  # the fall aimed at where files do not say, and how near is there
EPISTEMIC = {"ddu": "EU"}  # whose own score is the epistemic part, in files that do not say
SUFFIXES = (".npz", ".npy")


@dataclass(frozen=True, slots=True)
class _Meta:
    """What a file says of its run: names, and what it took."""

    method: str
    architecture: str = ""
    seed: str = ""
    cost: Cost = field(default_factory=Cost)
    score_is: str = "own"


class Files(NamedTuple):
    """Files of predictions, the file of labels, and files of other images by method."""

    runs: Sequence[Path]
    labels: Path
    ood: Sequence[Path] = ()


def find_files(folder: Path) -> Files:
    """Files of a folder: its labels, and every other ``.npz``."""
    labels = folder / LABELS
    if not labels.is_file():
        do = "name the folder that a benchmark wrote, or the files one by one"
        raise InputError(str(folder), f"no {LABELS}", "a file of labels beside runs", do)
    runs = sorted(one for one in folder.glob("*.npz") if one.name != LABELS)
    return Files(runs, labels)


def read_study(
    files: Files, *, decomposition: str = "information", image: str = "mean"
) -> UncertaintyStudy:
    """Read labels and runs; what does not fit is refused with the name of its file."""
    classes, labels = _read_labels(files.labels)
    other = {path.stem: path for path in files.ood}
    runs = [read_run(path, decomposition, other.get(path.stem)) for path in files.runs]
    if not runs:
        do = "give a file per method, and the labels last"
        raise InputError(f"{files.labels.name}", "no predictions beside it", "some", do)
    unknown = sorted(set(other) - {path.stem for path in files.runs})
    if unknown:
        do = "name the files of other images as those of the predictions"
        raise InputError("ood", listed(unknown), "names of files of predictions", do)
    shared = [part for part in PARTS if all(part in run.parts for run in runs)]
    lacking = {
        part: tuple(p.name for p, run in zip(files.runs, runs, strict=True)
                    if part not in run.parts)
        for part in PARTS
        if part not in shared and any(part in run.parts for run in runs)
    }  # fmt: skip
    number = runs[0].parts["test"].mean.shape[1] if "test" in runs[0].parts else len(classes)
    names = classes or tuple(f"label {k + 1}" for k in range(number))
    known = {part: labels[part] for part in shared if part in labels}
    for part in ("ood", "val_ood"):
        if part in shared and part not in known:
            test = known.get("test") if part == "ood" else None
            known[part] = other_images(len(runs[0].parts[part].mean), test, part)
    known = {"test": labels["test"], **known}
    made_by = _corruptions(files) if "ood" in known else ()
    return UncertaintyStudy(names, known, tuple(runs), image, lacking, made_by).by_name()


def _corruptions(files: Files) -> tuple[Corruption, ...]:
    """What the runs, or a file beside the labels, say about how other images were made."""
    told = _told(_arrays(files.runs[0], "probs")).get("ood") or {}
    beside = files.labels.with_name(CORRUPTIONS)
    rows, where = told.get("corruptions"), f"{files.runs[0].name}, meta"
    try:
        if not rows and beside.is_file():
            where = beside.name
            rows = read_json(content(beside))
        return tuple(_corruption(one, float(told.get("drop", GOAL))) for one in rows or ())
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
        do = "leave the file out, or run the benchmark again"
        raise InputError(where, "no corruptions that can be read", "JSON", do) from None


def _corruption(said: Mapping[str, Any], goal: float) -> Corruption:
    auroc, clean = float(said["auroc"]), float(said["clean"])
    fall = float(said.get("fall", 1 - auroc / clean))
    reached = bool(said.get("reached", fall >= goal - NEAR))
    severity = float(said["severity"])
    return Corruption(str(said["corruption"]), severity, auroc, clean, fall, reached, goal)


def read_run(path: Path, decomposition: str = "information", ood: Path | None = None) -> Run:
    """One method, architecture and seed, decomposed."""
    arrays = _arrays(path, "probs")
    meta = _meta(path, arrays)
    said = {part: _said(arrays, part, meta.score_is) for part in PARTS}
    plain = _said(arrays, "", meta.score_is)
    if plain is not None:
        said["test"] = plain
    if ood is not None:
        other = _arrays(ood, "probs")
        found = (_said(other, part, meta.score_is) for part in ("ood", "test", ""))
        said["ood"] = next((one for one in found if one is not None), None)
    if said["test"] is None:
        got = f"arrays {listed(arrays)}" if arrays else "no arrays"
        do = "save test_logits (members, items, classes), or probs"
        raise InputError(path.name, got, "predictions of the test images", do)
    parts = {
        part: Outputs.of(one, decomposition, f"{path.name}, part {part}")
        for part, one in said.items()
        if one is not None
    }
    return Run(meta.method, meta.architecture, meta.seed, parts, meta.cost)


def _read_labels(path: Path) -> tuple[tuple[str, ...], dict[str, PartLabels]]:
    """Names of the classes (empty where there are none), and the labels of every part."""
    arrays = _arrays(path, "labels")
    if "labels" in arrays:
        for name in ("labels", "items", "groups"):
            if name in arrays:
                arrays[f"test_{name}"] = arrays.pop(name)
    parts: dict[str, PartLabels] = {}
    for part in PARTS:
        items, groups = (_names(path, arrays, f"{part}_{name}") for name in ("items", "groups"))
        if f"{part}_labels" in arrays:
            parts[part] = part_labels(arrays[f"{part}_labels"], items, groups)
        elif items is not None:
            parts[part] = PartLabels(items, None, groups)
    if "test" not in parts:
        do = "save test_labels (items, classes), or labels; the file of labels comes last"
        raise InputError(path.name, f"arrays {listed(arrays)}", "labels of the test images", do)
    return _names(path, arrays, "classes") or (), parts


def _names(path: Path, arrays: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    """Names in a list; None where there is none."""
    names = arrays.get(key)
    if names is None or names.ndim == 1:
        return None if names is None else tuple(map(str, names))
    got = f"{key} of shape {names.shape}"
    raise InputError(path.name, got, "one name for each", "save a list of names")


def _said(arrays: Mapping[str, Any], part: str, score_is: str) -> Prediction | None:
    """What a file says of a part."""
    lead = f"{part}_" if part else ""
    score = arrays.get(f"{lead}score")
    if f"{lead}alpha" in arrays and f"{lead}beta" in arrays:
        made = Beta(arrays[f"{lead}alpha"], arrays[f"{lead}beta"])
        return Prediction(made, score, score_is=score_is)
    if f"{lead}logits" in arrays:
        return Prediction(arrays[f"{lead}logits"], score, logits=True, score_is=score_is)
    if f"{lead}probs" in arrays:
        return Prediction(arrays[f"{lead}probs"], score, score_is=score_is)
    return None


def _arrays(path: Path, alone: str) -> dict[str, Any]:
    """Arrays of a file by name; nothing in it is run."""
    if path.suffix.lower() not in SUFFIXES:
        do = "save arrays with numpy.savez"
        raise InputError(path.name, f"a file {path.suffix or 'without ending'}", ".npz", do)
    try:
        file = content(path)
        return {alone: read_array(file)} if path.suffix.lower() == ".npy" else read_arrays(file)
    except InputError as error:
        do = "save it anew; objects in it (pickles) are refused"
        raise InputError(path.name, "no arrays that can be read", "an .npz file", do) from error


def _meta(path: Path, arrays: Mapping[str, Any]) -> _Meta:
    """What a file says of its run, or what its name says."""
    if "meta" not in arrays:
        method, *rest = path.stem.split(".")
        made = _Meta(method, rest[0], rest[1]) if len(rest) == 2 else _Meta(path.stem)
        return replace(made, score_is=EPISTEMIC.get(made.method, "own"))
    said = _told(arrays)
    schema = said.get("schema")
    if schema is None:
        do = "save it anew with this version"
        raise InputError(f"{path.name}, meta", "no schema", "a text in JSON", do)
    if schema != SCHEMA:
        do = "evaluate it with the version that wrote it, or save it anew"
        raise InputError(f"{path.name}, meta", f"schema {schema}", f"schema {SCHEMA}", do)
    if not said.get("method"):
        raise InputError(f"{path.name}, meta", "no method", "its name", "save it anew")
    cost = Cost(*(_number(said, key) for key in COSTS))
    if cost.epochs == 0:  # earlier files, of methods that stand on others
        cost = replace(cost, epochs=math.nan)
    method = str(said["method"])
    names = (method, str(said.get("architecture", "")), str(said.get("seed", "")))
    return _Meta(*names, cost, str(said.get("score_is", EPISTEMIC.get(method, "own"))))


def _told(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the text ``meta`` says; nothing where it is none."""
    try:
        said = json.loads(str(arrays["meta"]))
    except (ValueError, KeyError, RecursionError):
        return {}
    return said if isinstance(said, Mapping) else {}


def _number(said: Mapping[str, Any], key: str) -> float:
    value = said.get(key)
    return float(value) if isinstance(value, int | float) else math.nan

"""Predictions: what methods say of images, beside the labels of these images, and its files.

Parts are ``test``, on which methods are judged; ``val``, on which scores are chosen; ``ood``,
the out-of-distribution images of the test, and ``val_ood``, those of the validation. Labels are
1, 0, -1 where the reader was uncertain, and nan where nothing was said.

There is one file per method, architecture and seed, and one of labels. A file of a run is an
``.npz`` with ``meta``, a text in JSON (`SCHEMA`, ``method``, ``architecture``, ``seed``,
``score_is`` and what it took), and for each part of ``val``, ``test``, ``ood`` and ``val_ood``
either ``{part}_logits`` or ``{part}_probs`` (members, items, classes), or ``{part}_alpha`` and
``{part}_beta`` (items, classes); and perhaps ``{part}_score`` (items, classes), the method's
own uncertainty, which is its epistemic part where ``score_is`` of ``meta`` says ``EU``. The
file of labels has ``classes``, and for each part ``{part}_items``, ``{part}_labels`` and
``{part}_groups``.

Files from elsewhere may be plainer: ``probs`` (or ``logits``) is what is said of the test
images, ``labels`` their labels, ``items`` and ``groups`` their names and patients; an ``.npy``
file holds that one array. The name of the file is then the method; ``method.arch.seed.npz``
names all three.

Images of ``ood`` are the test images transformed, where they have the same names, or as many
and no names: clean and transformed then count as one image when images are resampled.

Examples
--------
>>> outputs = Outputs.of(Prediction(np.array([[[0.2, 0.9]], [[0.4, 0.9]]])))
>>> outputs.mean, sorted(outputs.scores), outputs.members
(array([[0.3, 0.9]]), ['AU', 'EU', 'PU'], 2)
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.read import codec
from equipoise.read.files import content, read_array, read_arrays
from equipoise.types import (
    Floats,
    InputError,
    Ints,
    Names,
    choice,
    frozen,
    immutable,
    listed,
    name_order,
    require_memory,
    require_unique,
    short_repr,
)
from equipoise.uq.decomposition import (
    Beta,
    as_members,
    decompose,
    mean_probabilities,
)
from equipoise.uq.training.corruptions import Severity, severities_in
from equipoise.uq.training.data import Part, check_label_values

PARTS = ("test", "val", "ood", "val_ood")
SCORES = ("PU", "AU", "EU", "own")


@immutable(eq=False)
class Prediction:
    """What one run says of the images of a part.

    Attributes
    ----------
    members
        Probabilities (members, items, classes), (items, classes) of a single member, or `Beta`.
    score
        The method's own score of uncertainty, (items, classes), higher meaning less sure.
    logits
        Whether members are logits in place of probabilities.
    score_is
        ``own``, or ``EU`` where the score is the epistemic part (as the density of DDU), and
        the entropy of the prediction both the total and the aleatoric one.
    """

    members: Any
    score: Any = None
    logits: bool = False
    score_is: str = "own"

    def __post_init__(self) -> None:
        choice("score_is", self.score_is, ("own", "EU"))


@immutable(eq=False)
class Outputs:
    """The prediction and every score of uncertainty, all (items, classes).

    `members` is how many there were; 0 of a distribution in closed form. `own_epistemic` says
    that EU is a score of the method's own, and no part of PU.
    """

    mean: Floats
    scores: Mapping[str, Floats]
    members: int
    own_epistemic: bool = False

    __repr__ = short_repr

    @classmethod
    def of(
        cls, prediction: Prediction, decomposition: str = "information", where: str = "probs"
    ) -> "Outputs":
        """Decompose what a run says; one member has nothing but its total uncertainty."""
        if isinstance(prediction.members, Beta):
            mean, number = prediction.members.mean, 0
            parts = decompose(prediction.members, decomposition=decomposition)
        else:
            members = as_members(prediction.members, logits=prediction.logits, where=where)
            number = len(members)
            mean = mean_probabilities(members, logits=prediction.logits)
            parts = decompose(members, decomposition=decomposition, logits=prediction.logits)
        by_name = parts._asdict() if number != 1 else {"PU": parts.PU}
        score = (
            None
            if prediction.score is None
            else _checked_score(prediction.score, mean.shape, where)
        )
        epistemic = score is not None and prediction.score_is == "EU"
        if score is not None and epistemic:
            entropy = parts.AU if decomposition == "reverse_mi" else parts.PU
            by_name = {"PU": entropy, "AU": entropy, "EU": score}
        elif score is not None:
            by_name["own"] = score
        scores = {name: frozen(values) for name, values in by_name.items()}
        return cls(frozen(mean), scores, number, epistemic)

    def in_order(self, order: Ints) -> "Outputs":
        """The same of items in another order."""
        scores = {name: frozen(values[order]) for name, values in self.scores.items()}
        return replace(self, mean=frozen(self.mean[order]), scores=scores)


def _checked_score(score: Any, shape: tuple[int, ...], where: str) -> Floats:
    array = np.asarray(score, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        got = f"shape {array.shape}" if array.shape != shape else "numbers that are not finite"
        do = "give a number for every item and class, or leave the score out"
        raise InputError(f"{where}, own score", got, f"finite numbers, shape {shape}", do)
    return array


@immutable(eq=False)
class Run:
    """One method, architecture and seed: what it says of every part.

    `cost` is what it took, as far as that is known: seconds of `training` (with what the method
    stands on, such as the members of an ensemble) and of `prediction`, `epochs`, `memory` in
    bytes at most, and how many `workers` shared the device.
    """

    method: str
    architecture: str
    seed: str
    parts: Mapping[str, Outputs]
    cost: Mapping[str, float] = field(default_factory=dict)

    __repr__ = short_repr

    @property
    def where(self) -> str:
        """How messages call it."""
        named = [self.method, self.architecture, f"seed {self.seed}" if self.seed else ""]
        return f"predictions of {', '.join(filter(None, named))}"


@immutable(eq=False)
class MethodRuns:
    """Runs and labels that fit each other.

    Attributes
    ----------
    classes
        Names of the labels.
    labels
        By part; ``test`` is always there.
    runs
        Every method, architecture and seed, each once.
    image
        How one score per image is made of those of its labels: mean, max or sum.
    lacking
        Parts that some have and others do not, which are left out for all: by part, who lacks
        them.
    corruptions
        What other images were made by, where that is known.
    """

    classes: Names
    labels: Mapping[str, Part]
    runs: tuple[Run, ...]
    image: str = "mean"
    lacking: Mapping[str, Names] = field(default_factory=dict)
    corruptions: tuple[Severity, ...] = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        require_unique(self.classes, where="classes")
        if "test" not in self.labels or self.labels["test"].labels is None:
            do = "give the labels of the test images"
            raise InputError("labels", f"parts {listed(self.labels)}", "the part test", do)
        for part, images in self.labels.items():
            _check_labels(part, images, len(self.classes))
        if not self.runs:
            raise InputError("methods", "none", "at least one", "give a file per method")
        names = [" ".join((run.method, run.architecture, run.seed)) for run in self.runs]
        require_unique(names, where="methods", do="name every run once, or give it its seed")
        for run in self.runs:
            self._check_run(run)

    def by_name(self) -> "MethodRuns":
        """The same with the images of every part in the order of their names."""
        orders = {part: name_order(images.items) for part, images in self.labels.items()}
        moved = {part: order for part, order in orders.items() if order is not None}
        if not moved:
            return self
        labels = {part: self.labels[part].in_order(order) for part, order in moved.items()}
        runs = []
        for run in self.runs:
            parts = {part: run.parts[part].in_order(order) for part, order in moved.items()}
            runs.append(replace(run, parts={**run.parts, **parts}))
        return replace(self, labels={**self.labels, **labels}, runs=tuple(runs))

    def _check_run(self, run: Run) -> None:
        """Refuse a run of another shape, or without a part that others have."""
        missing = [part for part in self.labels if part not in run.parts]
        if missing:
            got = f"nothing for {listed(missing)}"
            do = "predict these images too, or leave the part out of the labels"
            raise InputError(run.where, got, "predictions of every part", do)
        for part, images in self.labels.items():
            shape, wanted = run.parts[part].mean.shape, (len(images.items), len(self.classes))
            if shape != wanted:
                got = f"{shape[0]:,} items and {shape[1]:,} classes"
                do = "use the file of labels that the predictions were made with"
                expected = f"{wanted[0]:,} and {wanted[1]:,}, as the labels"
                raise InputError(f"{run.where}, part {part}", got, expected, do)

    @property
    def architectures(self) -> Names:
        """In the order in which they come."""
        return tuple(dict.fromkeys(run.architecture for run in self.runs))

    def methods(self, architecture: str) -> dict[str, list[Run]]:
        """Runs of every method of an architecture, by their seeds."""
        by_method: dict[str, list[Run]] = {}
        for run in self.runs:
            if run.architecture == architecture:
                by_method.setdefault(run.method, []).append(run)
        return {
            name: sorted(runs, key=lambda run: run.seed) for name, runs in by_method.items()
        }

    def competitors(self) -> list[tuple[str, str, list[Run]]]:
        """Every architecture and method, with its runs."""
        return [
            (architecture, name, runs)
            for architecture in self.architectures
            for name, runs in self.methods(architecture).items()
        ]


def _check_labels(part: str, images: Part, classes: int) -> None:
    where = f"labels, part {part}"
    require_unique(images.items, where=f"{where}, items")
    if images.groups is not None and len(images.groups) != len(images.items):
        got = f"{len(images.groups):,} groups of {len(images.items):,} items"
        raise InputError(where, got, "the group of every item", "align them")
    if images.labels is None:
        return
    if images.labels.shape != (len(images.items), classes):
        got = f"shape {images.labels.shape}"
        expected = f"({len(images.items)}, {classes}): items and classes"
        raise InputError(where, got, expected, "align labels, items and classes")
    check_label_values(images.labels, images.items, where)


def part_labels(
    labels: Any, items: Sequence[str] | None = None, groups: Sequence[Any] | None = None
) -> Part:
    """Labels (items, classes) as a part, with numbers for names where there are none."""
    try:
        if np.iscomplexobj(labels):
            raise TypeError
        array = np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError):
        got, do = "values that are not numbers", "recode the labels"
        raise InputError("labels", got, "1, 0, -1 or nan", do) from None
    if array.ndim != 2 or 0 in array.shape:
        got, do = f"shape {array.shape}", "add a last axis where there is one label"
        raise InputError("labels", got, "(items, classes)", do)
    names = tuple(map(str, range(len(array)) if items is None else items))
    people = None if groups is None else tuple(map(str, groups))
    return Part(names, frozen(array), people)


def other_images(number: int, test: Part | None, name: str) -> Part:
    """Images without names: those of the test transformed, where they are as many."""
    if test is not None and number == len(test.items):
        return Part(test.items, None, test.groups)
    return Part(tuple(f"{name} {k}" for k in range(number)))


SCHEMA = 1
LABELS = "labels.npz"
SUFFIXES = (".npz", ".npy")
JUDGING = 2  # times the memory of all scores, to judge them


def find_files(folder: Path) -> list[Path]:
    """Files of a folder: every ``.npz``, its labels last."""
    labels = folder / LABELS
    if not labels.is_file():
        do = "name the folder that a benchmark wrote, or the files one by one"
        raise InputError(str(folder), f"no {LABELS}", "a file of labels beside runs", do)
    return [*sorted(path for path in folder.glob("*.npz") if path.name != LABELS), labels]


def read_study(
    files: Sequence[Path],
    ood: Sequence[Path] = (),
    *,
    decomposition: str = "information",
    image: str = "mean",
) -> MethodRuns:
    """Read runs and labels; what does not fit is refused with the name of its file.

    Parameters
    ----------
    files
        Predictions, and the labels last.
    ood
        What methods say of other images, each named as the file of its predictions.
    """
    *paths, labels_path = files
    classes, labels = _read_labels(labels_path)
    other = {path.stem: path for path in ood}
    runs: dict[str, Run] = {}
    for path in paths:
        runs[path.name] = read_run(path, decomposition, other.pop(path.stem, None))
        if len(runs) == 1:
            _ask_for_memory(runs[path.name], len(paths))
    if not runs:
        do = "give a file per method, and the labels last"
        raise InputError(f"{labels_path.name}", "no predictions beside it", "some", do)
    if other:
        do = "name the files of other images as those of the predictions"
        raise InputError("ood", listed(sorted(other)), "names of files of predictions", do)
    lacking = {
        part: tuple(name for name, run in runs.items() if part not in run.parts)
        for part in PARTS
    }
    shared = [part for part, names in lacking.items() if not names]
    first = next(iter(runs.values()))
    number = first.parts["test"].mean.shape[1]
    names = classes or tuple(f"label {k + 1}" for k in range(number))
    images = {"test": labels["test"], **{p: labels[p] for p in shared if p in labels}}
    for part in ("ood", "val_ood"):
        if part in shared and part not in images:
            test = images["test"] if part == "ood" else None
            images[part] = other_images(len(first.parts[part].mean), test, part)
    return MethodRuns(
        classes=names,
        labels=images,
        runs=tuple(runs.values()),
        image=image,
        lacking={part: names for part, names in lacking.items() if 0 < len(names) < len(runs)},
        corruptions=_corruptions(paths[0]) if "ood" in images else (),
    ).by_name()


def _ask_for_memory(run: Run, files: int) -> None:
    """Refuse files of which so many as this would not fit, with what judging them takes."""
    outputs = run.parts.values()
    size = sum(output.mean.nbytes * (1 + len(output.scores)) for output in outputs)
    where = f"{files:,} files of predictions like {run.where.removeprefix('predictions of ')}"
    do = "judge fewer methods or seeds at a time, or on a machine with more memory"
    require_memory(where, JUDGING * size * (files - 1), do)


def _corruptions(run: Path) -> tuple[Severity, ...]:
    """What a run says about how other images were made."""
    facts = _facts_in(_arrays(run, "probs")).get("ood")
    rows = facts.get("corruptions", []) if isinstance(facts, Mapping) else []
    return severities_in(rows, f"{run.name}, meta")


def read_run(path: Path, decomposition: str = "information", ood: Path | None = None) -> Run:
    """One method, architecture and seed, decomposed."""
    arrays = _arrays(path, "probs")
    run = _run_of(path, arrays)
    score_is = str(_facts_in(arrays).get("score_is", "own"))
    by_part = {part: _part_prediction(arrays, part, score_is) for part in PARTS}
    plain = _part_prediction(arrays, "", score_is)
    if plain is not None:
        by_part["test"] = plain
    if ood is not None:
        other = _arrays(ood, "probs")
        candidates = (_part_prediction(other, part, score_is) for part in ("ood", "test", ""))
        by_part["ood"] = next(
            (prediction for prediction in candidates if prediction is not None), None
        )
    if by_part["test"] is None:
        got = f"arrays {listed(arrays)}" if arrays else "no arrays"
        do = "save test_logits (members, items, classes), or probs"
        raise InputError(path.name, got, "predictions of the test images", do)
    parts = {
        part: Outputs.of(prediction, decomposition, f"{path.name}, part {part}")
        for part, prediction in by_part.items()
        if prediction is not None
    }
    return replace(run, parts=parts)


def _read_labels(path: Path) -> tuple[Names, dict[str, Part]]:
    """Names of the classes (empty where there are none), and the labels of every part."""
    arrays = _arrays(path, "labels")
    if "labels" in arrays:
        for name in ("labels", "items", "groups"):
            if name in arrays:
                arrays[f"test_{name}"] = arrays.pop(name)
    parts: dict[str, Part] = {}
    for part in PARTS:
        items, groups = (_names(path, arrays, f"{part}_{name}") for name in ("items", "groups"))
        if f"{part}_labels" in arrays:
            parts[part] = part_labels(arrays[f"{part}_labels"], items, groups)
        elif items is not None:
            parts[part] = Part(items, None, groups)
    if "test" not in parts:
        do = "save test_labels (items, classes), or labels; the file of labels comes last"
        raise InputError(path.name, f"arrays {listed(arrays)}", "labels of the test images", do)
    return _names(path, arrays, "classes") or (), parts


def _names(path: Path, arrays: Mapping[str, Any], key: str) -> Names | None:
    """Names in a list; None where there is none."""
    names = arrays.get(key)
    if names is None or names.ndim == 1:
        return None if names is None else tuple(map(str, names))
    got = f"{key} of shape {names.shape}"
    raise InputError(path.name, got, "one name for each", "save a list of names")


def _part_prediction(arrays: Mapping[str, Any], part: str, score_is: str) -> Prediction | None:
    """What a file says of a part."""
    lead = f"{part}_" if part else ""
    score = arrays.get(f"{lead}score")
    if f"{lead}alpha" in arrays and f"{lead}beta" in arrays:
        distribution = Beta(arrays[f"{lead}alpha"], arrays[f"{lead}beta"])
        return Prediction(distribution, score, score_is=score_is)
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
        if path.suffix.lower() == ".npy":
            return {alone: read_array(file)}
        arrays = read_arrays(file)
    except InputError as error:
        do = "save it anew; objects in it (pickles) are refused"
        raise InputError(path.name, "no arrays that can be read", "an .npz file", do) from error
    facts = _facts_in(arrays)
    if "seal" in facts:  # as those of a benchmark
        others = {name: array for name, array in arrays.items() if name != "meta"}
        do = "remove it and run the benchmark again, which makes it anew"
        codec.check_sealed(facts, others, path.name, do)
    return arrays


def _run_of(path: Path, arrays: Mapping[str, Any]) -> Run:
    """Whose file it is and what that took, as it says or as its name says; without parts."""
    if "meta" not in arrays:
        names = path.stem.split(".") if path.stem.count(".") == 2 else (path.stem, "", "")
        return Run(names[0], names[1], names[2], {})
    facts = _facts_in(arrays)
    schema = facts.get("schema")
    if schema is None:
        do = "save it anew with this version"
        raise InputError(f"{path.name}, meta", "no schema", "a text in JSON", do)
    if schema != SCHEMA:
        do = "evaluate it with the version that wrote it, or save it anew"
        raise InputError(f"{path.name}, meta", f"schema {schema}", f"schema {SCHEMA}", do)
    if not facts.get("method"):
        raise InputError(f"{path.name}, meta", "no method", "its name", "save it anew")
    cost = facts.get("cost")
    cost = cost if isinstance(cost, Mapping) else {}
    cost = {name: float(part) for name, part in cost.items() if isinstance(part, int | float)}
    architecture, seed = str(facts.get("architecture", "")), str(facts.get("seed", ""))
    return Run(str(facts["method"]), architecture, seed, {}, cost)


def _facts_in(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the text ``meta`` says; nothing where it is none."""
    try:
        facts = json.loads(str(arrays["meta"]))
    except (ValueError, KeyError, RecursionError):
        return {}
    return facts if isinstance(facts, Mapping) else {}

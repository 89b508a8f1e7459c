"""Images with several labels each: 0 absent, 1 present, -1 uncertain, nan blank.

`read_images` takes

- ``"demo"``: a synthetic problem made by code (`demo_images`), 24 px, five labels;
- ``"nih"``: the NIH subset, ``cxr/nih_64.npz`` in the folder that EQUIPOISE_DATA names;
- a ``.npz`` with ``images`` (items, height, width[, channels]) uint8, ``labels_u`` or
  ``labels`` (items, labels), and perhaps ``classes``, ``split`` (train, val, test), ``patient``
  or ``patient_id``, ``name``; ``labels_u``, which holds -1, goes before ``labels``;
- a folder with images and a label file (needs pillow), brought to one size.

Without a split, patients are put into train, val and test (70, 10, 20 %) by a hash of their
name, so that nobody is on two sides and new images do not move old ones.

A label enters a loss only where it is 0 or 1. `Recipe` says what an uncertain (-1) or
blank label is in *training*: ``"ignore"`` (default, masked), ``"zeros"`` or, for uncertain
ones, ``"ones"``. Validation, tests and early stopping always leave both out.

Folders are of three kinds:

- MIMIC-CXR-JPG: ``mimic-cxr-2.0.0-chexpert.csv`` with ``mimic-cxr-2.0.0-split.csv`` (each may
  be ``.gz``); images at ``files/p10/p10000032/s50414267/NAME.jpg``; its own split is kept.
- CheXpert: ``train.csv`` with a column ``Path``; patients are split by a hash, because the
  published validation set has no uncertain labels.
- Any other: one CSV with a column ``path``, ``image``, ``file`` or ``name``, perhaps
  ``patient`` (or ``patient_id``, ``subject_id``) and ``split``; every other column whose values
  are all 0, 1, -1 or blank is a label.

Images become grey, are cut to the middle square and averaged down to the size asked for.
"""

import hashlib
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.read.files import content, read_arrays, require_file
from equipoise.read.writing import whole_file
from equipoise.types import (
    Floats,
    InputError,
    Ints,
    Names,
    choice,
    frozen,
    immutable,
    listed,
    require_drawn,
    require_memory,
    require_number,
    require_whole,
    short_repr,
)

Images = NDArray[np.uint8]  # (items, height, width, channels)
Words = NDArray[np.str_]
PARTS = ("train", "val", "test")
_WORDS = {"valid": "val", "validate": "val", "validation": "val"}
_NIH = Path("cxr") / "nih_64.npz"
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")  # that start no program
MOST_PIXELS = 50_000_000
WORKING = 6  # bytes per pixel: the images, and a part of them as floating numbers


@immutable(kw_only=True)
class Recipe:
    """How every network is trained, and what uncertain and blank labels are in training."""

    lr: float = 1e-4
    weight_decay: float = 0.1
    epochs: int = 50
    patience: int = 5
    batch: int = 128
    clip: float = 1.0
    shift: int = 4
    flip: bool = True
    uncertain: str = "ignore"
    blank: str = "ignore"

    def __post_init__(self) -> None:
        """Refuse values that cannot train, and unknown words."""
        for name in ("epochs", "patience", "batch"):
            require_drawn(name, getattr(self, name), least=1)
        require_whole("shift", self.shift)
        for name in ("lr", "clip"):
            require_number(name, getattr(self, name), above=0)
        require_number("weight_decay", self.weight_decay, above=-1e-300)
        choice("uncertain", self.uncertain, ("ignore", "zeros", "ones"))
        choice("blank", self.blank, ("ignore", "zeros"))

    def targets(self, labels: Floats) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Labels in {0, 1}, and 1 where a label is one, 0 where it is masked.

        Examples
        --------
        >>> y, known = Recipe(uncertain="ones").targets(np.array([[0, 1, -1, np.nan]]))
        >>> y.tolist(), known.tolist()
        ([[0.0, 1.0, 1.0, 0.0]], [[1.0, 1.0, 1.0, 0.0]])
        """
        y = np.array(labels, dtype=np.float32)
        if self.uncertain != "ignore":
            y[labels == -1] = float(self.uncertain == "ones")
        if self.blank == "zeros":
            y[np.isnan(labels)] = 0.0
        known = (y == 0) | (y == 1)
        return np.where(known, y, 0).astype(np.float32), known.astype(np.float32)


class ImageShape(NamedTuple):
    """Size of an image."""

    channels: int
    height: int
    width: int


@immutable(eq=False)
class Part:
    """Items of a part: names, labels (items, classes), the patient of each, and images.

    What is None is not there: nothing looks at the labels of images out of distribution.
    Images are (items, height, width, channels).
    """

    items: Names
    labels: Any = None
    groups: Names | None = None
    images: Any = None

    __repr__ = short_repr

    def in_order(self, order: Ints) -> "Part":
        """The same items in another order."""
        places, people = order.tolist(), self.groups
        return Part(
            tuple(self.items[k] for k in places),
            None if self.labels is None else frozen(self.labels[order]),
            None if people is None else tuple(people[k] for k in places),
            None if self.images is None else frozen(self.images[order]),
        )


@immutable(kw_only=True)
class ImageData:
    """Images, labels, and which of them train, validate and test."""

    name: str
    images: Images
    labels: NDArray[np.float32]
    classes: Names
    items: Names
    patients: Names
    split: Words

    def __post_init__(self) -> None:
        """Check everything a training would otherwise stumble over."""
        _check_arrays(self)
        _check_split(self)
        _check_labels(self)

    @property
    def shape(self) -> ImageShape:
        """Size of each image."""
        height, width, channels = self.images.shape[1:]
        return ImageShape(channels, height, width)

    def part(self, name: str) -> Part:
        """The images of ``"train"``, ``"val"`` or ``"test"``."""
        rows = np.flatnonzero(self.split == name)
        return Part(
            tuple(self.items[row] for row in rows),
            self.labels[rows],
            tuple(self.patients[row] for row in rows),
            self.images[rows],
        )

    def fingerprint(self) -> str:
        """Sixteen digits that change with any pixel, label, name or side of the split."""
        digest = hashlib.sha256()
        for array in (self.images, self.labels, self.split):
            digest.update(str((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update("\0".join((*self.classes, *self.items, *self.patients)).encode())
        return digest.hexdigest()[:16]

    def save(self, path: Path) -> None:
        """Write as ``.npz``, whole or not at all, for `read_images` to read."""
        with whole_file(path) as out:
            np.savez(
                out, images=self.images, labels=self.labels, split=self.split,
                classes=np.array(self.classes), name=np.array(self.items),
                patient=np.array(self.patients), title=np.array(self.name),
            )  # fmt: skip


def _check_arrays(data: ImageData) -> None:
    images, labels = data.images, data.labels
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] not in (1, 3):
        raise InputError(
            f"images of {data.name}", f"{images.dtype} of shape {images.shape}",
            "uint8 of shape (items, height, width, 1 or 3)",
            "scale the grey values to 0..255 and put the channels last",
        )  # fmt: skip
    counts = {
        "images": len(images), "labels": len(labels), "names": len(data.items),
        "patients": len(data.patients), "split": len(data.split),
    }  # fmt: skip
    if len(set(counts.values())) > 1:
        got = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise InputError(f"{data.name}", got, "one of each per image", "check the file")
    if labels.ndim != 2 or labels.shape[1] != len(data.classes):
        raise InputError(
            f"labels of {data.name}", f"shape {labels.shape}",
            f"(items, {len(data.classes)}) for as many names of labels", "check 'classes'",
        )  # fmt: skip


def _check_split(data: ImageData) -> None:
    unknown = sorted(set(data.split.tolist()) - set(PARTS))
    if unknown:
        raise InputError(
            f"split of {data.name}", listed(unknown), "train, val or test", "rename the parts"
        )
    for part in PARTS:
        if not np.any(data.split == part):
            raise InputError(
                f"split of {data.name}", f"no image in {part}", "images in train, val and test",
                "add some, or leave the split out: patients are then split by a hash",
            )  # fmt: skip
    sides: dict[str, str] = {}
    for patient, side in zip(data.patients, data.split.tolist(), strict=True):
        if sides.setdefault(patient, side) != side:
            raise InputError(
                f"split of {data.name}, patient {patient!r}", f"images in {sides[patient]} and "
                f"{side}", "all images of a patient on one side", "split by patient",
            )  # fmt: skip


def _check_labels(data: ImageData) -> None:
    labels = data.labels
    check_label_values(labels, data.items, f"labels of {data.name}")
    for part, why in (("train", "to learn it"), ("val", "to stop at the best epoch")):
        judged = np.isin(labels[data.split == part], (0, 1))
        empty = [data.classes[i] for i in np.flatnonzero(~judged.any(0))]
        if empty and (part == "train" or len(empty) == len(data.classes)):
            raise InputError(
                f"labels of {data.name}, {part}", f"{listed(empty)} without any 0 or 1",
                f"some {why}", "leave the label out",
            )  # fmt: skip
    val = labels[data.split == "val"]
    if not np.any((val == 1).any(0) & (val == 0).any(0)):
        raise InputError(
            f"labels of {data.name}, val", "no label with both a 0 and a 1",
            "one at least: training stops by the AUROC there", "give more validation images",
        )  # fmt: skip


def check_label_values(labels: Floats, items: Names, where: str) -> None:
    """Refuse what is no label, by its item and the place of its class."""
    odd = ~(np.isin(labels, (-1, 0, 1)) | np.isnan(labels))
    if odd.any():
        item, label = np.argwhere(odd)[0].tolist()
        spot, got = f"{where}, item {items[item]!r}, class {label}", f"{labels[item, label]:g}"
        raise InputError(spot, got, "1, 0, -1 (uncertain) or nan (blank)", "recode the labels")


def patient_split(patients: Sequence[str], stated: Sequence[str] | None = None) -> Words:
    """Train, val or test for every image, as stated, or by a hash of its patient (70, 10, 20).

    Words of common files for the parts will do.
    """
    if stated is not None:
        words = [str(word).lower() for word in stated]
        return np.array([_WORDS.get(word, word) for word in words])
    sides = {}
    for patient in set(patients):
        draw = int(hashlib.sha256(patient.encode()).hexdigest()[:8], 16) / 16**8
        sides[patient] = "train" if draw < 0.7 else "val" if draw < 0.8 else "test"
    return np.array([sides[patient] for patient in patients])


def read_images(source: str | Path, *, size: int = 64) -> ImageData:
    """Read images and labels.

    Parameters
    ----------
    source
        ``"demo"``, ``"nih"``, a ``.npz`` file, or a folder with images and a label file.
    size
        Height and width to which images of a folder are brought; files of arrays keep theirs.
    """
    if str(source) == "demo":
        return demo_images()
    path = _nih() if str(source) == "nih" else Path(source)
    if path.is_dir():
        return read_folder(path, size=size)
    return _read_npz(path)


def _nih() -> Path:
    path = Path(os.environ.get("EQUIPOISE_DATA", ".")) / _NIH
    if not path.exists():
        raise InputError(
            "data nih", f"{path} is not there", "the NIH subset as an npz file",
            "set EQUIPOISE_DATA to the folder that holds cxr/nih_64.npz",
        )  # fmt: skip
    return path


def _read_npz(path: Path) -> ImageData:
    try:
        arrays = read_arrays(path)
    except InputError as error:
        raise InputError(
            f"{path}", f"cannot be read ({error.got})",
            "an npz file with images and labels, a folder, 'demo' or 'nih'", "check the path",
        ) from error  # fmt: skip
    key = "labels_u" if "labels_u" in arrays else "labels"
    for name in ("images", key):
        if name not in arrays:
            raise InputError(
                f"{path}", f"holds {listed(arrays, most=8)}", f"an array {name!r}",
                "save the file with numpy.savez(path, images=..., labels=...)",
            )  # fmt: skip
    images, labels = arrays["images"], _numbers(arrays[key], f"{path}, {key}")
    if images.ndim < 3:
        raise InputError(
            f"{path}, images", f"{images.dtype} of shape {images.shape}",
            "shape (items, height, width) or (items, height, width, channels)",
            "save the images again",
        )  # fmt: skip
    many = len(images)
    numbers = np.array([f"{i:06d}" for i in range(many)])
    items = _texts(arrays, ("name", "items"), numbers)
    patients = _texts(arrays, ("patient", "patient_id", "groups"), np.array(items))
    split = arrays.get("split")
    names = arrays.get("classes", np.array([f"label {i + 1}" for i in range(labels.shape[-1])]))
    return ImageData(
        name=str(arrays.get("title", path.stem)),
        images=images[..., None] if images.ndim == 3 else images,
        labels=labels,
        classes=tuple(names.ravel().astype(str).tolist()),
        items=items,
        patients=patients,
        split=patient_split(patients, None if split is None else split.ravel().tolist()),
    )


def _numbers(labels: NDArray[np.generic], where: str) -> NDArray[np.float32]:
    """Labels as float32."""
    if labels.dtype.kind not in "biuf" or labels.ndim != 2:
        raise InputError(
            where, f"{labels.dtype} of shape {labels.shape}",
            "numbers of shape (items, labels)", "save the labels again",
        )  # fmt: skip
    with np.errstate(over="ignore"):  # what is too large is infinite, and refused
        return labels.astype(np.float32)


def _texts(
    arrays: dict[str, NDArray[np.generic]], names: Sequence[str], default: Words
) -> Names:
    """The first of some arrays that is there, as text."""
    column = next((arrays[name] for name in names if name in arrays), default)
    return tuple(column.ravel().astype(str).tolist())


def demo_images(items: int = 900, *, size: int = 24, seed: int = 0) -> ImageData:
    """A synthetic problem: shapes of five kinds on noise, some too faint to be sure of.

    Each label is a shape whose contrast is drawn at random; where it is faint the label is -1
    half of the time. *haze* is noisy (a tenth of its labels are wrong), *dot* is rare, and one
    label in twenty is blank. Three images belong to a patient.
    """
    random = np.random.default_rng([seed, 20_26])
    classes = ("disc", "bar", "ring", "haze", "dot")
    share = np.array([0.4, 0.3, 0.3, 0.35, 0.08])
    present = random.random((items, 5)) < share
    contrast = np.where(present, random.uniform(0.25, 1.0, (items, 5)), 0.0)
    images = 0.35 + 0.08 * random.standard_normal((items, size, size))
    y, x = np.mgrid[:size, :size]
    centre = random.uniform(0.35, 0.65, (items, 2)) * size
    far = np.hypot(y - centre[:, :1, None], x - centre[:, 1:, None])
    shapes = (
        far < size * 0.14,
        np.abs(y - random.uniform(0.1, 0.9, (items, 1, 1)) * size) < size * 0.06,
        np.abs(far - size * 0.32) < size * 0.05,
        np.broadcast_to(((x + y) % 4 < 2) - 0.5, images.shape),
        np.broadcast_to((y < size * 0.2) & (x < size * 0.2), images.shape),
    )
    for label, shape in enumerate(shapes):
        images = images + 0.45 * contrast[:, label, None, None] * shape
    labels = present.astype(np.float32)
    wrong = random.random(items) < 0.1
    labels[wrong, 3] = 1 - labels[wrong, 3]
    faint = present & (contrast < 0.45) & (random.random((items, 5)) < 0.5)
    labels[faint] = -1
    labels[random.random((items, 5)) < 0.05] = np.nan
    patients = tuple(f"patient {i // 3:03d}" for i in range(items))
    return ImageData(
        name="demo",
        images=(np.clip(images, 0, 1) * 255).astype(np.uint8)[..., None],
        labels=labels,
        classes=classes,
        items=tuple(f"image {i:04d}" for i in range(items)),
        patients=patients,
        split=patient_split(patients),
    )


_MIMIC = "mimic-cxr-2.0.0-{}.csv"
_PATHS = ("path", "image", "file", "name", "filename")
_PATIENTS = ("patient", "patient_id", "subject_id")
_NOT_LABELS = {"study_id", "age", "sex", "frontal/lateral", "ap/pa", "split"}
_VALUES = {"": np.nan, "0": 0.0, "1": 1.0, "-1": -1.0, "nan": np.nan}
_VALUES |= {f"{number}.0": float(number) for number in (-1, 0, 1)}

Row = Mapping[str, str]


def read_folder(folder: Path, *, size: int) -> ImageData:
    """Read the images and labels of a folder."""
    if find_spec("PIL") is None:
        raise InputError(
            f"{folder}", "pillow is not installed", "pillow, to open images",
            'run pip install pillow, or pip install "equipoise[clean]"',
        )  # fmt: skip
    studies = _table(folder, _MIMIC.format("chexpert"))
    if studies:
        labels = [name for name in studies[0] if name not in ("subject_id", "study_id")]
        return _listed_images(folder, _mimic_rows(folder, studies), size, labels)
    rows = _table(folder, "train.csv")
    if not rows:
        names = sorted(path.name for path in folder.glob("*.csv*"))
        if len(names) != 1:
            raise InputError(
                f"{folder}", f"{len(names)} CSV files ({listed(names)})",
                "train.csv (CheXpert), the files of MIMIC-CXR-JPG, or one CSV file",
                "keep one label file beside the images",
            )  # fmt: skip
        rows = _table(folder, names[0])
    return _listed_images(folder, rows, size)


def _table(folder: Path, name: str) -> list[Row]:
    """The rows of a CSV file, packed or not; none if it is not there."""
    from equipoise.read.sources import table_of
    from equipoise.read.tables import code_names

    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            table = table_of(content(path))
            columns = {head: code_names(table, head).by_row for head in table.columns}
            rows = zip(*columns.values(), strict=True)
            return [dict(zip(columns, row, strict=True)) for row in rows]
    return []


def _mimic_rows(folder: Path, studies: Sequence[Row]) -> list[Row]:
    """The images of MIMIC-CXR-JPG that are there, each with the labels of its study."""
    split = _table(folder, _MIMIC.format("split"))
    if not split:
        raise InputError(
            f"{folder}", f"no {_MIMIC.format('split')}", "the split file beside the label file",
            "copy it from MIMIC-CXR-JPG",
        )  # fmt: skip
    by_study = {row["study_id"]: row for row in studies}
    rows: list[Row] = []
    for row in split:
        who, study = row["subject_id"], row["study_id"]
        path = f"files/p{who[:2]}/p{who}/s{study}/{row['dicom_id']}.jpg"
        if study in by_study and (folder / path).exists():
            rows.append({**by_study[study], "path": path, "split": row["split"]})
    if not rows:
        raise InputError(
            f"{folder}", "no image of its studies", "images under files/",
            "copy the images of MIMIC-CXR-JPG beside the label file",
        )  # fmt: skip
    return rows


def _listed_images(
    folder: Path, rows: Sequence[Row], size: int, labels: Sequence[str] = ()
) -> ImageData:
    """The images of a label file, with its labels: some columns, or all that could be."""
    columns = {name.lower(): name for name in (rows[0] if rows else {})}
    path = next((columns[name] for name in _PATHS if name in columns), None)
    if path is None:
        raise InputError(
            f"{folder}, label file", f"columns {listed(columns.values(), most=8)}",
            f"a column {' or '.join(_PATHS)}", "name the column of the image files",
        )  # fmt: skip
    who = next((columns[name] for name in _PATIENTS if name in columns), None)
    side = columns.get("split")
    other = {path, who, side} | {columns[name] for name in _NOT_LABELS & set(columns)}
    classes = labels or [
        name
        for name in rows[0]
        if name not in other and all(row[name] in _VALUES for row in rows)
    ]
    if not classes:
        raise InputError(
            f"{folder}, label file", "no column of labels", "columns of 0, 1, -1 or blank",
            "add one column per label",
        )  # fmt: skip
    items = tuple(row[path] for row in rows)
    patients = tuple(row[who] if who else _chexpert_patient(row[path]) for row in rows)
    values = [[_value(row, name, folder) for name in classes] for row in rows]
    return ImageData(
        name=folder.name,
        images=_open_images([_image_path(folder, item) for item in items], size),
        labels=np.array(values, np.float32),
        classes=tuple(classes),
        items=items,
        patients=patients,
        split=patient_split(patients, [row[side] for row in rows] if side else None),
    )


def _chexpert_patient(path: str) -> str:
    """The folder ``patient00001`` in the path of an image, else the path itself."""
    return next((word for word in Path(path).parts if word.startswith("patient")), path)


def _value(row: Row, name: str, folder: Path) -> float:
    text = row[name]
    if text not in _VALUES:
        raise InputError(
            f"{folder}, label {name!r}", repr(text), "0, 1, -1 or blank", "correct the file"
        )
    return _VALUES[text]


def _image_path(folder: Path, path: str) -> Path:
    """An image by its path, from the folder, from the one above, or without its first part."""
    places = [folder / path, folder.parent / path, folder / Path(*Path(path).parts[1:])]
    located = next((place for place in places if place.is_file()), None)
    if located is None:
        raise InputError(
            f"{folder}", f"no image {path!r}", "every image of the label file",
            "check the folder, or take its row out",
        )  # fmt: skip
    return located


def _open_images(paths: Sequence[Path], size: int) -> Images:
    """The images, grey, the middle square, averaged down to the size."""
    pillow = import_module("PIL.Image")
    where, do = f"{len(paths):,} images of {size} x {size} pixels", "name a smaller size"
    require_whole("size", size, least=1, most=4096, do="64 is usual")
    require_memory(where, WORKING * len(paths) * size**2, do)
    images = np.empty((len(paths), size, size, 1), np.uint8)
    pillow.init()
    formats = [name for name in FORMATS if name in pillow.OPEN]
    for i, path in enumerate(paths):
        require_file(path)
        try:
            with pillow.open(path, formats=formats) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise ValueError
                grey = image.convert("L")
        except (OSError, ValueError, SyntaxError, LookupError, TypeError, OverflowError,
                EOFError, MemoryError, struct.error, zlib.error,
                pillow.DecompressionBombError, Warning) as error:  # fmt: skip
            raise InputError(
                f"{path}",
                "cannot be opened",
                "an image of at most 50 megapixels",
                "replace the file or take it out",
            ) from error
        side = min(grey.size)
        left, top = (grey.width - side) // 2, (grey.height - side) // 2
        square = grey.crop((left, top, left + side, top + side))
        images[i, ..., 0] = np.asarray(square.resize((size, size), pillow.Resampling.BOX))
    return images

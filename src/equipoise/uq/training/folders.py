"""A folder of images with a label file, brought to one size (needs pillow).

- MIMIC-CXR-JPG: ``mimic-cxr-2.0.0-chexpert.csv`` with ``mimic-cxr-2.0.0-split.csv`` (each may
  be ``.gz``); images at ``files/p10/p10000032/s50414267/NAME.jpg``; its own split is kept.
- CheXpert: ``train.csv`` with a column ``Path``; patients are split by a hash, because the
  published validation set has no uncertain labels.
- Any other: one CSV with a column ``path``, ``image``, ``file`` or ``name``, perhaps
  ``patient`` (or ``patient_id``, ``subject_id``) and ``split``; every other column whose values
  are all 0, 1, -1 or blank is a label.

Images become grey, are cut to the middle square and averaged down to the size asked for.
"""

import csv
import io
import struct
import zlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.read.files import content, require_file
from equipoise.types.arrays import InputError, listed
from equipoise.uq.training.data import ImageData, known_parts, patient_split

_MIMIC = "mimic-cxr-2.0.0-{}.csv"
_PATHS = ("path", "image", "file", "name", "filename")
_PATIENTS = ("patient", "patient_id", "subject_id")
_NOT_LABELS = {"study_id", "age", "sex", "frontal/lateral", "ap/pa", "split"}
_VALUES = {"": np.nan, "0": 0.0, "1": 1.0, "-1": -1.0, "nan": np.nan}
_VALUES |= {f"{number}.0": float(number) for number in (-1, 0, 1)}

Row = Mapping[str, str]


class _Listed(NamedTuple):
    """What a label file says."""

    paths: Sequence[str]
    patients: Sequence[str]
    split: Sequence[str]
    rows: Sequence[Row]
    classes: Sequence[str]


def read_folder(folder: Path, *, size: int) -> ImageData:
    """Read the images and labels of a folder."""
    if find_spec("PIL") is None:
        raise InputError(
            f"{folder}", "pillow is not installed", "pillow, to open images",
            'run pip install pillow, or pip install "equipoise[clean]"',
        )  # fmt: skip
    told = _listed(folder)
    labels = np.array(
        [[_value(row, name, folder) for name in told.classes] for row in told.rows], np.float32
    )
    return ImageData(
        name=folder.name,
        images=_opened([_located(folder, path) for path in told.paths], size),
        labels=labels,
        classes=tuple(told.classes),
        items=tuple(told.paths),
        patients=tuple(told.patients),
        split=known_parts(told.split) if told.split else patient_split(told.patients),
    )


def _listed(folder: Path) -> _Listed:
    mimic = _table(folder, _MIMIC.format("chexpert"))
    if mimic:
        return _mimic(folder, mimic)
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
    return _plain(folder, rows)


def _table(folder: Path, name: str) -> list[dict[str, str]]:
    """The rows of a CSV file, packed or not; none if it is not there."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return _rows(path)
    return []


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table, each with every column."""
    try:
        text = content(path).data.decode("utf-8-sig")
        head, *rows = list(csv.reader(io.StringIO(text), strict=True))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}", f"byte {error.start} is no text", "UTF-8", "save the file as UTF-8"
        ) from error
    except csv.Error as error:
        raise InputError(
            f"{path}", f"no table ({error})", "comma-separated text", "export the file again"
        ) from error
    if len(set(head)) != len(head):
        raise InputError(
            f"{path}", f"columns {listed(head)}", "each column once", "rename one of them"
        )
    for number, row in enumerate(rows, 2):
        if row and len(row) != len(head):
            raise InputError(
                f"{path}, row {number}", f"{len(row)} cells", f"{len(head)}, as the first row",
                "correct the row",
            )  # fmt: skip
    return [dict(zip(head, row, strict=True)) for row in rows if row]


def _mimic(folder: Path, studies: Sequence[Row]) -> _Listed:
    split = _table(folder, _MIMIC.format("split"))
    if not split:
        raise InputError(
            f"{folder}", f"no {_MIMIC.format('split')}", "the split file beside the label file",
            "copy it from MIMIC-CXR-JPG",
        )  # fmt: skip
    by_study = {row["study_id"]: row for row in studies}
    images = [row for row in split if row["study_id"] in by_study]
    paths = [
        f"files/p{row['subject_id'][:2]}/p{row['subject_id']}/s{row['study_id']}/"
        f"{row['dicom_id']}.jpg"
        for row in images
    ]
    there = [i for i, path in enumerate(paths) if (folder / path).exists()]
    classes = [name for name in studies[0] if name not in ("subject_id", "study_id")]
    return _Listed(
        [paths[i] for i in there],
        [images[i]["subject_id"] for i in there],
        [images[i]["split"] for i in there],
        [by_study[images[i]["study_id"]] for i in there],
        classes,
    )


def _plain(folder: Path, rows: Sequence[Row]) -> _Listed:
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
    classes = [
        name
        for name in rows[0]
        if name not in other and all((row[name] or "").strip() in _VALUES for row in rows)
    ]
    if not classes:
        raise InputError(
            f"{folder}, label file", "no column of labels", "columns of 0, 1, -1 or blank",
            "add one column per label",
        )  # fmt: skip
    paths = [row[path] for row in rows]
    patients = [row[who] for row in rows] if who else [_chexpert_patient(one) for one in paths]
    return _Listed(paths, patients, [row[side] for row in rows] if side else [], rows, classes)


def _chexpert_patient(path: str) -> str:
    """The folder ``patient00001`` in the path of an image, else the path itself."""
    return next((word for word in Path(path).parts if word.startswith("patient")), path)


def _value(row: Row, name: str, folder: Path) -> float:
    text = (row[name] or "").strip()
    if text not in _VALUES:
        raise InputError(
            f"{folder}, label {name!r}", repr(text), "0, 1, -1 or blank", "correct the file"
        )
    return _VALUES[text]


def _located(folder: Path, path: str) -> Path:
    """An image by its path, from the folder, from the one above, or without its first part."""
    places = [folder / path, folder.parent / path, folder / Path(*Path(path).parts[1:])]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise InputError(
            f"{folder}", f"no image {path!r}", "every image of the label file",
            "check the folder, or take its row out",
        )  # fmt: skip
    return found


def _opened(paths: Sequence[Path], size: int) -> NDArray[np.uint8]:
    """The images, grey, the middle square, averaged down to the size."""
    pillow = import_module("PIL.Image")
    images = np.empty((len(paths), size, size, 1), np.uint8)
    for i, path in enumerate(paths):
        require_file(path)
        try:
            with pillow.open(path) as image:
                grey = image.convert("L")
        except (OSError, ValueError, SyntaxError, LookupError, TypeError, OverflowError,
                EOFError, MemoryError, struct.error, zlib.error,
                pillow.DecompressionBombError, Warning) as error:  # fmt: skip
            raise InputError(
                f"{path}", "cannot be opened", "an image", "replace the file or take it out"
            ) from error
        side = min(grey.size)
        left, top = (grey.width - side) // 2, (grey.height - side) // 2
        square = grey.crop((left, top, left + side, top + side))
        images[i, ..., 0] = np.asarray(square.resize((size, size), pillow.Resampling.BOX))
    return images

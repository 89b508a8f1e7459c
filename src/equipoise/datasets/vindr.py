"""VinDr-CXR: three radiologists per chest X-ray, findings yes or no, where you have the files.

PhysioNet gives the files to people who signed its terms, so that nothing is downloaded and no
hash is pinned: `image_labels_train.csv` with image_id, rad_id and a column of 0 and 1 for
every finding. Each image was read by three of seventeen radiologists.
"""

import csv

import numpy as np

from equipoise.datasets._store import Dataset, File, Source, fetched
from equipoise.types import Annotations, InputError, Nouns, listed

_FILE = "image_labels_train.csv"
_KEYS = ("image_id", "rad_id")


def load_vindr() -> Dataset:
    """Load the readings, a finding a task."""
    path = fetched(SOURCE) / _FILE
    with path.open(newline="", encoding="utf-8") as file:
        heads, *rows = csv.reader(file)
    missing = [name for name in _KEYS if name not in heads]
    findings = [name for name in heads if name not in _KEYS]
    if missing or not findings or not rows:
        expected = "columns image_id and rad_id, and findings with 0 and 1"
        raise InputError(
            str(path), f"columns {listed(heads)}", expected, "take it from PhysioNet"
        )
    images, people = ([row[heads.index(name)] for row in rows] for name in _KEYS)
    items, item = np.unique(images, return_inverse=True)
    readers, reader = np.unique(people, return_inverse=True)
    answers = [[row[heads.index(name)] for name in findings] for row in rows]
    strange = sorted({x for row in answers for x in row} - {"0", "1", "0.0", "1.0"})
    if strange:
        raise InputError(str(path), f"{listed(strange)}", "0 or 1", "take it from PhysioNet")
    votes = np.array(answers, dtype=np.float64).astype(np.intp)
    annotations = Annotations(
        kind="binary",
        items=tuple(items.tolist()),
        classes=("absent", "present"),
        annotators=tuple(readers.tolist()),
        tasks=tuple(findings),
        item=np.repeat(item, len(findings)),
        annotator=np.repeat(reader, len(findings)),
        task=np.tile(np.arange(len(findings)), len(rows)),
        label=votes.ravel(),
    )
    return Dataset(annotations, (), SOURCE)


SOURCE = Source(
    name="vindr",
    title="15,000 chest X-rays, three of 17 radiologists each, findings yes or no",
    files={_FILE: File("", "")},
    licence="PhysioNet Credentialed Health Data License 1.5.0",
    citation="Nguyen et al. (2022), VinDr-CXR: An open dataset of chest X-rays with "
    "radiologist's annotations",
    load=load_vindr,
    references=("nguyen2022",),
    nouns=Nouns("image", "radiologist", "finding"),
)

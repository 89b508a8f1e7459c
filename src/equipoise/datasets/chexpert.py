"""CheXpert test set: 500 chest X-ray studies, 8 radiologists, 10 models, 5 findings.

The readings of all eight radiologists and the scores of ten leaderboard models, as published
with the test set labels. The order of the columns differs between files; they are read by name.
"""

import csv
from pathlib import Path

import numpy as np

from equipoise.datasets._store import Dataset, File, Source, fetched, pinned
from equipoise.types import Annotations, Nouns, Predictions

FINDINGS = ("Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Pleural Effusion")

_REPOSITORY = (
    "https://raw.githubusercontent.com/rajpurkarlab/cheXpert-test-set-labels/"
    "a930205df292983a4bc9362ea80847e3e41f6857/"
)
_HASHES = pinned("chexpert.sha256")


def _published(path: str) -> str:
    """Where the repository keeps a file."""
    folder, name = path.split("/")
    if folder == "radiologists":
        panel = "groundtruth" if "_gt" in name else "benchmark_radiologists"
        return f"radiologists/{panel}/{name}"
    first = name.startswith(("desmond", "jfaboy"))
    return f"{'' if first else 'example_models/'}predictions/standard/{name}"


def load_chexpert() -> Dataset:
    """Load the readings and the models' scores."""
    folder = fetched(SOURCE)
    return Dataset(_readings(folder), _scores(folder), SOURCE)


def _rows(path: Path) -> dict[str, dict[str, str]]:
    """Rows of one file by study."""
    with path.open(newline="", encoding="utf-8") as file:
        return {row["Study"]: row for row in csv.DictReader(file)}


def _names(folder: Path, kind: str) -> list[tuple[str, Path]]:
    """Readers or models with their files, in order."""
    files = sorted(folder / path for path in SOURCE.files if path.startswith(kind))
    return [(path.stem.split("_")[0], path) for path in files]


def _readings(folder: Path) -> Annotations:
    readers = [(name, _rows(path)) for name, path in _names(folder, "radiologists")]
    studies = tuple(readers[0][1])
    votes = np.array(
        [
            [[float(rows[study][finding]) for study in studies] for finding in FINDINGS]
            for _, rows in readers
        ]
    )
    annotator, task, item = (axis.ravel() for axis in np.indices(votes.shape))
    return Annotations(
        kind="binary",
        items=studies,
        classes=("absent", "present"),
        annotators=tuple(name for name, _ in readers),
        tasks=FINDINGS,
        item=item,
        annotator=annotator,
        task=task,
        label=votes.ravel().astype(np.intp),
    )


def _scores(folder: Path) -> tuple[Predictions, ...]:
    models = [(name, _rows(path)) for name, path in _names(folder, "predictions")]
    return tuple(
        Predictions(
            model=name,
            items=tuple(rows),
            values=np.array([float(row[finding]) for row in rows.values()]),
            task=finding,
        )
        for finding in FINDINGS
        for name, rows in models
    )


SOURCE = Source(
    name="chexpert",
    title="500 chest X-ray studies, 8 radiologists, 10 leaderboard models, 5 findings",
    files={path: File(_REPOSITORY + _published(path), sha) for path, sha in _HASHES.items()},
    licence="none stated by the source",
    citation="Rajpurkar et al. (2021), CheXternal; Irvin et al. (2019), CheXpert",
    load=load_chexpert,
    references=("irvin2019", "rajpurkar2021"),
    nouns=Nouns("study", "radiologist", "finding"),
)

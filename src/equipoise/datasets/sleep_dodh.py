"""Sleep staging (DOD-H): 25 nights of healthy sleepers, five scorers, six published models.

An item is half a minute; its number is night * 10,000 + half-minute. Half-minutes of a night
resemble each other, so nights are the groups, which are redrawn as wholes. The models name one
stage each, which is a certain prediction. They leave out some half-minutes that were scored.
"""

import csv
from pathlib import Path

import numpy as np

from equipoise.datasets._store import Dataset, File, Source, fetched
from equipoise.types import Annotations, Nouns, Predictions

STAGES = ("Wake", "N1", "N2", "N3", "REM")
NIGHT = 10_000  # numbers of items per night


def load_sleep_dodh() -> Dataset:
    """Load the stages that scorers and models name; nights are groups."""
    folder = fetched(SOURCE)
    return Dataset(_scorers(folder), _models(folder), SOURCE)


def _scorers(folder: Path) -> Annotations:
    rows = np.loadtxt(folder / "sleep_dodh.csv", dtype=np.int64, delimiter=",", skiprows=1)
    numbers, item = np.unique(rows[:, 0], return_inverse=True)
    people, annotator = np.unique(rows[:, 1], return_inverse=True)
    nights, group = np.unique(numbers // NIGHT, return_inverse=True)
    return Annotations(
        kind="nominal",
        items=tuple(map(str, numbers)),
        classes=STAGES,
        annotators=tuple(f"scorer {number}" for number in people),
        groups=tuple(f"night {number}" for number in nights),
        item=item,
        annotator=annotator,
        label=rows[:, 2],
        group=group,
    )


def _models(folder: Path) -> tuple[Predictions, ...]:
    with (folder / "sleep_dodh_models.csv").open(newline="", encoding="ascii") as file:
        heads, *rows = csv.reader(file)
    table = np.array(rows, dtype=np.int64)
    items = tuple(map(str, table[:, 0]))
    return tuple(
        Predictions(
            name.replace("_et_Al", " et al.").replace("_", " "),
            items,
            np.eye(len(STAGES))[table[:, number]],
            classes=STAGES,
        )
        for number, name in enumerate(heads[1:], 1)
    )


SOURCE = Source(
    name="sleep_dodh",
    title="25,440 half-minutes of 25 nights, 5 scorers, 6 published models, 5 stages of sleep",
    files={
        "sleep_dodh.csv": File(
            "", "1a156634819fa8506149c2bba9f4a80660fa2ae0c0db880016e2f85b254a7a91"
        ),
        "sleep_dodh_models.csv": File(
            "", "7b2b3a0ab3c645eb60ce38bb6f0e3041eb104a872b10cbea26096c347d36d5d1"
        ),
    },
    licence="MIT",
    citation="Guillot et al. (2020), Dreem open datasets: multi-scored sleep datasets to "
    "compare human and automated sleep staging",
    folder="votes",
    load=load_sleep_dodh,
    references=("guillot2020",),
    nouns=Nouns("epoch", "scorer", group="night"),
    on_missing="drop",
)

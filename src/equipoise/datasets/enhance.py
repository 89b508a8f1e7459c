"""ENHANCE: skin lesions rated for asymmetry, border and color, on scales of their groups.

Students of 2017 to 2019 and crowd workers rated images of ISIC. Every group of students chose
its own scale, from 0 to 2 up to 0 to 100, so ratings cannot be averaged as they are: each is
put on 0 to 1 between the least and the largest rating that its group gave to the attribute.
`load_enhance(raw=True)` leaves them as they are.
"""

import csv
from pathlib import Path

import numpy as np

from equipoise.datasets._store import Dataset, File, Source, fetched
from equipoise.types import Annotations, Floats, Ints, Nouns, ratio

_CROWD = "mturk"


def load_enhance(*, raw: bool = False) -> Dataset:
    """Load the ratings, an attribute a task.

    Parameters
    ----------
    raw
        Whether ratings stay on the scale of their group.
    """
    attributes, images, people, values = _columns(fetched(SOURCE))
    tasks, task = np.unique(attributes, return_inverse=True)
    items, item = np.unique(images, return_inverse=True)
    names, annotator = np.unique(people, return_inverse=True)
    group = np.array([group_of(name) for name in names])
    ratings = np.array(values)
    if not raw:
        ratings = normalised(ratings, task, np.unique(group, return_inverse=True)[1][annotator])
    annotations = Annotations(
        kind="interval",
        items=tuple(items.tolist()),
        annotators=tuple(names.tolist()),
        tasks=tuple(tasks.tolist()),
        item=item,
        annotator=annotator,
        task=task,
        value=ratings,
    )
    return Dataset(annotations, (), SOURCE)


def group_of(annotator: str) -> str:
    """The group of an annotator: 2017g01 of 2017g01s1, and all of the crowd together.

    Examples
    --------
    >>> group_of("2017g01s1"), group_of("mturk_slot_ii")
    ('2017g01', 'mturk')
    """
    return _CROWD if annotator.startswith(_CROWD) else annotator.rpartition("s")[0]


def normalised(ratings: Floats, task: Ints, group: Ints) -> Floats:
    """Ratings between the least (0) and the largest (1) of their group and task.

    Examples
    --------
    >>> normalised(np.array([0.0, 2, 1, 50, 100]), np.zeros(5, int), np.array([0, 0, 0, 1, 1]))
    array([0. , 1. , 0.5, 0. , 1. ])
    """
    cell = np.unique(np.stack([task, group]), axis=1, return_inverse=True)[1].ravel()
    low, high = np.full(cell.max() + 1, np.inf), np.full(cell.max() + 1, -np.inf)
    np.minimum.at(low, cell, ratings)
    np.maximum.at(high, cell, ratings)
    return ratio(ratings - low[cell], (high - low)[cell], 0.0)


def _columns(folder: Path) -> tuple[list[str], list[str], list[str], list[float]]:
    """Attribute, image, annotator and rating of every row."""
    with (folder / "enhance.csv").open(newline="", encoding="ascii") as file:
        rows = [
            (*row["item"].split("/"), row["annotator"], row["label"])
            for row in csv.DictReader(file)
        ]
    attributes, images, people, values = map(list, zip(*rows, strict=True))
    return attributes, images, people, [float(value) for value in values]


SOURCE = Source(
    name="enhance",
    title="1,836 skin lesions rated for asymmetry, border and color, groups with own scales",
    files={
        "enhance.csv": File(
            "", "4a36831bace5a4bbe5db6f713c19e098ee1d93e5378218fb286d72b7574fd5ec"
        )
    },
    licence="none stated by the source",
    citation="Raumanns et al. (2021), ENHANCE: A case study for skin lesion classification",
    load=load_enhance,
    references=("raumanns2021",),
    folder="votes",
    nouns=Nouns("lesion", "rater", "attribute"),
)

r"""kNN disagreement: the share of an item's nearest neighbours that carry another label.

.. math:: s_i = \frac1k \sum_{j \in N_k(i)} 1[y_j \ne y_i]

over the k = 20 nearest other items that have a label, by cosine. There are k + 1 values, so
that items tie; metrics count ties as what they are.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.arrays import InputError, require_whole
from equipoise.clean.collection import Collection
from equipoise.clean.detector import (
    Detector,
    Need,
    Progress,
    Task,
    back_in_place,
    labelled,
    name_order,
)
from equipoise.clean.neighbours import neighbours
from equipoise.predictions import Predictions


@dataclass(frozen=True)
class KnnDisagreement(Detector):
    """Share of neighbours with another label.

    Attributes
    ----------
    k
        How many neighbours; all others where there are fewer.
    """

    name: ClassVar[str] = "knn_disagreement"
    title: ClassVar[str] = "kNN disagreement"
    task: ClassVar[Task] = "label_errors"
    needs: ClassVar[tuple[Need, ...]] = ("embeddings", "labels")
    bounded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("wilson1972",)
    k: int = 20

    def __post_init__(self) -> None:
        require_whole(f"detector {self.name}, k", self.k, least=1, do="try 20")

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """The share, for every item that has a label."""
        del seed
        self.check(data)
        seen = labelled(data)
        assert seen.embeddings is not None and seen.labels is not None
        if len(seen) < 2:
            raise InputError(
                f"detector {self.name}", "one labelled item", "two or more", "label more items"
            )
        order = name_order(seen.items)
        labels = seen.labels[order]
        _, places = neighbours(seen.embeddings[order], self.k, progress=progress)
        shares = np.mean(labels[places] != labels[:, None], axis=1)
        return self.of_items(seen.items, back_in_place(shares, order))

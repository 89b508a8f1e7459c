r"""kNN disagreement: the share of an item's nearest neighbours that carry another label.

.. math:: s_i = \frac1k \sum_{j \in N_k(i)} 1[y_j \ne y_i]

over the k = 20 nearest other items that have a label, by cosine. There are k + 1 values, so
that items tie; metrics count ties as what they are.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.clean.detector import LabelDetector, Progress
from equipoise.clean.neighbours import neighbours
from equipoise.types.arrays import Floats, InputError, Ints, require_whole


@dataclass(frozen=True)
class KnnDisagreement(LabelDetector):
    """Share of neighbours with another label.

    Attributes
    ----------
    k
        How many neighbours; all others where there are fewer.
    """

    name: ClassVar[str] = "knn_disagreement"
    title: ClassVar[str] = "kNN disagreement"
    bounded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("wilson1972",)
    k: int = 20

    def __post_init__(self) -> None:
        require_whole(f"detector {self.name}, k", self.k, least=1, do="try 20")

    def suspicion(self, rows: Floats, labels: Ints, progress: Progress | None) -> Floats:
        """The share."""
        if len(rows) < 2:
            raise InputError(
                f"detector {self.name}", "one labelled item", "two or more", "label more items"
            )
        _, places = neighbours(rows, self.k, progress=progress)
        return np.asarray(np.mean(labels[places] != labels[:, None], axis=1))

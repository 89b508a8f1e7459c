r"""kNN distance: how far the k-th nearest other item is.

.. math:: s_i = \lVert x_i - x_{(k)} \rVert

with :math:`x_{(k)}` the k-th nearest of the other embeddings, Euclidean (k = 5, the largest of
the k distances). With no more than k items, k is one less than their number.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from equipoise.arrays import Floats
from equipoise.clean.detectors._outliers import OutlierDetector, PyodModel


@dataclass(frozen=True)
class KnnDistance(OutlierDetector):
    """Distance to the k-th nearest item.

    Attributes
    ----------
    k
        How many neighbours.
    method
        Which of the k distances: the largest, their mean or their median.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.clean import Collection
    >>> rows = np.array([[0.0], [0.1], [0.2], [9.0]])
    >>> data = Collection(items=tuple("abcd"), embeddings=rows)
    >>> KnnDistance(k=1).score(data).values.round(1).tolist()
    [0.1, 0.1, 0.1, 8.8]
    """

    name: ClassVar[str] = "knn_distance"
    title: ClassVar[str] = "kNN distance"
    references: ClassVar[tuple[str, ...]] = ("ramaswamy2000", "zhao2019")
    k: int = 5
    method: Literal["largest", "mean", "median"] = "largest"

    def model(self, rows: Floats, seed: int) -> PyodModel:
        """Exact neighbours."""
        from pyod.models.knn import KNN

        del seed
        made: PyodModel = KNN(n_neighbors=min(self.k, len(rows) - 1), method=self.method)
        return made

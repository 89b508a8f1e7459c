r"""SelfClean, off-topic images: what joins the rest of the collection late and alone.

.. math:: \text{score}_i = 1 - A_i

with :math:`A_i` the area of the single-linkage tree covered before item i is met, depth first
and the smaller child first (`equipoise.clean.linkage`) [@groger2024]. Exact up to 50,000 items;
above from the neighbour graph.
"""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.arrays import InputError
from equipoise.clean.collection import Collection
from equipoise.clean.detector import Detector, Need, Progress, Task
from equipoise.clean.directions import Directions
from equipoise.clean.linkage import off_topic_areas, single_linkage
from equipoise.predictions import Predictions


@dataclass(frozen=True)
class SelfCleanOffTopic(Detector):
    """Depth-first area of the single-linkage tree.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.clean import Collection
    >>> rows = np.array([[1, 0], [1, 0.1], [1, 0.2], [-1, 1]])
    >>> data = Collection(items=tuple("abcd"), embeddings=rows)
    >>> int(SelfCleanOffTopic().score(data).values.argmax())
    3
    """

    name: ClassVar[str] = "selfclean_off_topic"
    title: ClassVar[str] = "SelfClean"
    task: ClassVar[Task] = "off_topic"
    needs: ClassVar[tuple[Need, ...]] = ("embeddings",)
    bounded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("groger2024",)

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """One minus the area covered before each item is met."""
        del seed
        self.check(data)
        assert data.embeddings is not None
        if len(data) < 2:
            raise InputError(
                f"detector {self.name}",
                f"{len(data)} items",
                "two or more",
                "add images: off topic is a matter of comparison",
            )
        points = Directions.of(data.embeddings)
        tree = single_linkage(points, progress=progress)
        return self.of_items(data.items, 1 - off_topic_areas(tree, points))

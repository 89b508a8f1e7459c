r"""Embedding distance: pairs of items whose embeddings point the same way.

.. math:: \text{score}_{ij} = 1 - d(x_i, x_j)

with the distance of `equipoise.clean.directions`; this is how SelfClean ranks near duplicates
[@groger2024]. The pairs of the collection are scored; without any, every item proposes its k
nearest, in the order of names, so that ties fall the same way whatever the order of the items.
A group of more than k copies is then connected, though not every pair of it is named.

With ``transforms`` a pair is as close as its closest view: each image is embedded in the eight
symmetries of the square (turned by quarters, and mirrored), and the distance is the smallest
between a view of one image and the other image as it is. That needs the images and an encoder,
whose embeddings then take the place of those of the collection. `EmbeddingDistance.background`
has the scores of pairs drawn from all, as close as their closest views too, which is what the
cut is fitted to.
"""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from equipoise.clean.collection import Collection, ImageSource, Pixels
from equipoise.clean.detector import Detector, Need, Progress, Task, name_order
from equipoise.clean.detectors._pairs import pairs_to_score
from equipoise.clean.directions import Directions
from equipoise.clean.neighbours import EXACT_UP_TO, Search, neighbours
from equipoise.types.arrays import Floats, InputError, Ints, require_whole
from equipoise.types.predictions import Predictions

VIEWS = tuple((turns, mirrored) for mirrored in (False, True) for turns in range(4))
DRAWN, DRAWN_TURNED = 100_000, 20_000  # pairs of a background, upright and in eight views


@dataclass(frozen=True)
class EmbeddingDistance(Detector):
    """One minus the distance of two embeddings.

    Attributes
    ----------
    k
        How many neighbours each item proposes where no pairs are given.
    transforms
        Whether turned and mirrored copies count too.
    encoder
        What embeds the views of images, as `equipoise.clean.encoders.choose_encoder` names it.
    cache
        Folder that keeps the embeddings of views; the scores are the same without.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.clean import Collection
    >>> rows = np.array([[1, 0], [0, 1], [2, 0]])
    >>> made = EmbeddingDistance(k=1).score(Collection(items=tuple("abc"), embeddings=rows))
    >>> dict(zip(made.items, made.values.tolist()))
    {'a | b': 0.5, 'a | c': 1.0}
    """

    name: ClassVar[str] = "embedding_distance"
    title: ClassVar[str] = "Embedding distance"
    task: ClassVar[Task] = "near_duplicates"
    needs: ClassVar[tuple[Need, ...]] = ("embeddings",)
    bounded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("groger2024",)
    k: int = 5
    transforms: bool = False
    encoder: str = "default"
    cache: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        require_whole(f"detector {self.name}, k", self.k, least=1, do="try 5")

    def missing(self, data: Collection) -> tuple[Need, ...]:
        """What a collection lacks: embeddings, or images where these are turned."""
        if self.transforms:
            return ("images",) if data.images is None else ()
        return super().missing(data)

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """One minus the distance, for the pairs given or for those proposed."""
        del seed
        self.check(data)

        @cache
        def views() -> tuple[Floats, ...]:
            return self._views(data, progress)

        def nearest(order: Ints) -> Ints:
            return self._proposed(tuple(one[order] for one in views()), progress)

        pairs = pairs_to_score(data, nearest, f"detector {self.name}")
        distances = _closest(views(), pairs.first, pairs.second)
        return self.of_items(pairs.names(data.items), 1 - distances)

    def background(self, data: Collection, *, size: int | None = None, seed: int = 0) -> Floats:
        """Scores of pairs drawn from all pairs of a collection, for the cut as published."""
        self.check(data)
        drawn = size or (DRAWN_TURNED if self.transforms else DRAWN)
        random = np.random.default_rng(seed)
        one = random.integers(0, len(data), drawn)
        other = (one + random.integers(1, len(data), drawn)) % len(data)
        order = name_order(data.items)
        return 1 - _closest(self._views(data, None), order[one], order[other])

    def _views(self, data: Collection, progress: Progress | None) -> tuple[Floats, ...]:
        """Embeddings of every view of the items, those of the items as they are first."""
        if not self.transforms:
            assert data.embeddings is not None
            return (data.embeddings,)
        from equipoise.clean.encoders import GivenEmbeddings, choose_encoder, embed

        assert data.images is not None
        encoder = choose_encoder(self.encoder)
        if isinstance(encoder, GivenEmbeddings):
            raise InputError(
                f"detector {self.name}, encoder",
                f"{self.encoder!r}, embeddings of images as they are",
                "an encoder that can embed turned images",
                "name one, such as 'default' or a file that ends in .onnx",
            )
        return tuple(
            embed(
                _View(data.images, turns, mirrored),
                encoder,
                cache=self.cache,
                progress=progress,
            )
            for turns, mirrored in VIEWS
        )

    def _proposed(self, views: tuple[Floats, ...], progress: Progress | None) -> Ints:
        """The k nearest of every item, of every view, side by side."""
        upright, items = views[0], len(views[0])
        places = [neighbours(upright, self.k, progress=progress)[1]]
        own = np.arange(items)
        for turned in views[1:]:
            points = Directions.of(np.concatenate((turned, upright)))
            k = min(self.k + 1, items)  # an image may be the nearest to its own view
            near = Search(points, np.arange(2 * items), exact=items <= EXACT_UP_TO).nearest_of(
                own + items, own, k
            )
            places.append(near[1] - items)
        return np.concatenate(places, axis=1)


def _closest(views: tuple[Floats, ...], first: Ints, second: Ints) -> Floats:
    """Smallest distance of each pair between a view of one and the other as it is."""
    items = len(views[0])
    best = Directions.of(views[0]).distance(first, second)
    for turned in views[1:]:
        points = Directions.of(np.concatenate((turned, views[0])))
        for one, other in ((first, second), (second, first)):
            np.minimum(best, points.distance(one, other + items), out=best)
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Images, each turned by quarters and mirrored."""

    whole: ImageSource
    turns: int
    mirrored: bool

    def __len__(self) -> int:
        return len(self.whole)

    def rgb(self, place: int) -> Pixels:
        """An image, turned, then mirrored."""
        turned = np.rot90(self.whole.rgb(place), self.turns)
        return np.ascontiguousarray(turned[:, ::-1] if self.mirrored else turned)

    def digest(self, place: int) -> str:
        """Hash of the image and of how it is turned; that of the image as it is for itself."""
        same = self.turns == 0 and not self.mirrored
        digest = self.whole.digest(place)
        return digest if same else f"{digest}-{self.turns}{'m' if self.mirrored else ''}"

"""pHash: how many bits of two images' perceptual hashes agree.

The hash has 64 bits: which of the 8 x 8 lowest frequencies of the cosine transform of the
image, in grey at 32 x 32, lie above their median (imagehash). With H the Hamming distance,

.. math:: s_{ij} = 1 - H(h_i, h_j) / 64

The pairs of the collection are scored; without any, every image proposes the ``k`` whose hashes
are nearest, of equals those whose names come first. Hashes are compared some rows at a time:
memory grows with the number of images, not with its square.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.clean.collection import Collection, ImageSource
from equipoise.clean.detector import Detector, Need, Progress, Task, tell
from equipoise.clean.detectors._pairs import pairs_to_score
from equipoise.types.arrays import Ints, require_whole
from equipoise.types.predictions import Predictions

CELLS = 2**24  # of the distances at a time
Hashes = NDArray[np.uint8]  # (items, bytes)


@dataclass(frozen=True)
class PHash(Detector):
    """Agreement of perceptual hashes.

    Attributes
    ----------
    size
        The hash has size x size bits.
    k
        How many images each image proposes where no pairs are given.
    """

    name: ClassVar[str] = "phash"
    title: ClassVar[str] = "pHash"
    task: ClassVar[Task] = "near_duplicates"
    needs: ClassVar[tuple[Need, ...]] = ("images",)
    packages: ClassVar[tuple[str, ...]] = ("imagehash", "PIL")
    bounded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("venkatesan2000",)
    size: int = 8
    k: int = 5

    def __post_init__(self) -> None:
        require_whole(f"detector {self.name}, size", self.size, least=2, do="try 8")
        require_whole(f"detector {self.name}, k", self.k, least=1, do="try 5")

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """The share of bits that agree, for the pairs given or for those proposed."""
        del seed
        self.check(data)
        assert data.images is not None
        hashes = self._hashes(data.images, _wanted(data), progress)
        pairs = pairs_to_score(
            data, lambda order: _nearest(hashes[order], self.k), f"detector {self.name}"
        )
        apart = np.bitwise_count(hashes[pairs.first] ^ hashes[pairs.second])
        distance = apart.sum(axis=1, dtype=np.int64)
        return self.of_items(pairs.names(data.items), 1 - distance / self.size**2)

    def _hashes(self, images: ImageSource, wanted: Ints, progress: Progress | None) -> Hashes:
        """Hashes of the images that are wanted, in bytes; zeros elsewhere."""
        import imagehash
        from PIL import Image

        made = np.zeros((len(images), -(-(self.size**2) // 8)), dtype=np.uint8)
        for done, place in enumerate(wanted.tolist()):
            picture = Image.fromarray(images.rgb(place))
            made[place] = np.packbits(imagehash.phash(picture, hash_size=self.size).hash)
            tell(progress, done + 1, len(wanted))
        return made


def _wanted(data: Collection) -> Ints:
    """Places of the images of the pairs, or of all."""
    if data.pairs is None:
        return np.arange(len(data))
    return np.unique(np.concatenate([data.pairs.first, data.pairs.second]))


def _nearest(hashes: Hashes, k: int) -> Ints:
    """Places of the k nearest others by Hamming distance, ties by place, shape (items, k)."""
    items, k = len(hashes), min(k, len(hashes) - 1)
    step = max(1, CELLS // (items * hashes.shape[1]))
    found = np.empty((items, k), dtype=np.int64)
    for start in range(0, items, step):
        part = hashes[start : start + step]
        apart = np.zeros((len(part), items), dtype=np.uint16)
        for byte in range(hashes.shape[1]):
            apart += np.bitwise_count(part[:, byte, None] ^ hashes[:, byte])
        apart[np.arange(len(part)), start + np.arange(len(part))] = np.iinfo(np.uint16).max
        least = np.partition(apart, k - 1, axis=1)[:, k - 1]
        for row, (distances, limit) in enumerate(zip(apart, least, strict=True)):
            near = np.flatnonzero(distances <= limit)
            order = np.argsort(distances[near], kind="stable")[:k]
            found[start + row] = near[order]
    return found

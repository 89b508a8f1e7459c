"""The image itself as its embedding: small, grey, without its mean.

The picture is squeezed into a square of `size` pixels, made grey by the mean of its channels,
and its mean is taken away, so that the cosine of two embeddings is the correlation of the two
pictures. A blank picture has no contrast and is the zero vector plus a tiny constant.
It needs nothing but Pillow: for demonstrations, and for finding the nearest pictures of a
collection that has no embeddings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.clean.collection import ImageSource
from equipoise.clean.encoders.encoder import Encoder, as_rows, fingerprint_of, squeezed
from equipoise.types.arrays import Floats

_FLOOR = 1e-4  # keeps a blank picture from being the zero vector


@dataclass(frozen=True)
class GreyPixels(Encoder):
    """Small grey pictures, `size` x `size` features.

    Examples
    --------
    >>> from equipoise.clean.images import ArrayImages
    >>> GreyPixels(4).encode(ArrayImages(np.zeros((3, 8, 8), np.uint8)), [0, 1]).shape
    (2, 16)
    """

    name: ClassVar[str] = "pixels"
    size: int = 16

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and of Pillow's release."""
        import PIL

        return fingerprint_of(name=self.name, size=self.size, pillow=PIL.__version__)

    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """Embed some images."""
        return as_rows([self._vector(images, int(place)) for place in places])

    def _vector(self, images: ImageSource, place: int) -> Floats:
        grey = squeezed(images.rgb(place), self.size).mean(axis=2).ravel()
        return np.asarray(grey - grey.mean() + np.float32(_FLOOR))

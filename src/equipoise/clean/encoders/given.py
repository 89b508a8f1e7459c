"""Embeddings that a user already has, as an encoder: row i is that of image i."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.clean.collection import ImageSource
from equipoise.clean.encoders.encoder import Encoder, fingerprint_of
from equipoise.types.arrays import Floats, InputError, short_repr


@dataclass(frozen=True, eq=False)
class GivenEmbeddings(Encoder):
    """An array of embeddings, shape (images, features).

    Attributes
    ----------
    array
        One row per image.
    items
        Ids of the rows, by which they are put to their images; empty: in the order of the
        images.

    Examples
    --------
    >>> from equipoise.clean.images import ArrayImages
    >>> images = ArrayImages(np.zeros((3, 4, 4), np.uint8))
    >>> GivenEmbeddings(np.eye(3)).encode(images, [2])
    array([[0., 0., 1.]], dtype=float32)
    """

    name: ClassVar[str] = "given"
    array: Floats
    items: tuple[str, ...] = ()

    __repr__ = short_repr

    @property
    def fingerprint(self) -> str:
        """A hash of the array."""
        values = np.ascontiguousarray(self.array, dtype=np.float32)
        digest = hashlib.sha256(values.tobytes()).hexdigest()
        return fingerprint_of(name=self.name, shape=values.shape, values=digest)

    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """The rows of some images."""
        if np.ndim(self.array) != 2 or len(self.array) != len(images):
            raise InputError(
                "embeddings",
                f"shape {np.shape(self.array)}",
                f"({len(images)}, features)",
                "give one row per image",
            )
        return np.asarray(self.array, dtype=np.float32)[np.asarray(places, dtype=np.intp)]

"""Encoder: what turns images into embeddings.

Every image is encoded by itself, on one thread, from the whole picture squeezed into a square:
its embedding depends on the image and on the encoder, and on nothing that happens to be
encoded beside it. (Batches change the last digits of a sum, and are no faster on a processor.)
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.clean.collection import ImageSource, Pixels
from equipoise.types.arrays import Floats

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_SD = (0.229, 0.224, 0.225)
_ROOMY = 4  # images larger than this many times the input are first shrunk by whole numbers


@dataclass(frozen=True)
class Encoder(ABC):
    """A frozen dataclass whose fields are its settings.

    Attributes
    ----------
    name
        What it is called.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of everything that an embedding depends on, beside the image."""

    @abstractmethod
    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """Embeddings of some images, float32 of shape (places, features)."""


def fingerprint_of(**parts: object) -> str:
    """One hash of named parts."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def squeezed(pixels: Pixels, size: int) -> Floats:
    """A picture squeezed into a square, values in [0, 1], shape (size, size, 3).

    Bicubic with antialiasing, by Pillow.
    """
    from PIL import Image

    image = Image.fromarray(roughly_shrunk(pixels, size))
    small = image.resize((size, size), Image.Resampling.BICUBIC)
    return np.asarray(small, dtype=np.float32) / np.float32(255)


def roughly_shrunk(pixels: Pixels, size: int) -> Pixels:
    """A large picture averaged over whole blocks, still at least four times `size`."""
    from PIL import Image

    times = min(pixels.shape[:2]) // (_ROOMY * size)
    return pixels if times < 2 else np.asarray(Image.fromarray(pixels).reduce(times))


@contextmanager
def single_torch_thread() -> Iterator[None]:
    """One thread of torch inside, as many as before outside."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def as_rows(vectors: Sequence[Floats]) -> Floats:
    """Vectors of one length as the rows of a float32 array."""
    rows = [np.asarray(one, dtype=np.float32).ravel() for one in vectors]
    return np.stack(rows) if rows else np.empty((0, 0), dtype=np.float32)

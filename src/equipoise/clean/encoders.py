"""Encoders: what turns images into embeddings, and embedding a whole collection.

Every image is encoded by itself, on one thread, from the whole picture squeezed into a square:
its embedding depends on the image and on the encoder, and on nothing that happens to be
encoded beside it. (Batches change the last digits of a sum, and are no faster on a processor.)

`GivenEmbeddings`: those that a user already has; row i is that of image i.

`GreyPixels`: the image itself as its embedding: small, grey, without its mean. The picture is
squeezed into a square of `size` pixels, made grey by the mean of its channels, and its mean is
taken away, so that the cosine of two embeddings is the correlation of the two pictures. A blank
picture has no contrast and is the zero vector plus a tiny constant. It needs nothing but
Pillow: for demonstrations, and for finding the nearest pictures of a collection that has no
embeddings.

`embed`: one image after another, with a cache that survives being killed. The cache has a
folder per fingerprint of an encoder, of sealed shards (`equipoise.read.codec`) that are written
whole and never changed: one that was cut off, damaged or is of another encoder is noticed,
removed and made again. An embedding is kept by the content of its image: the same image in
another folder is not encoded again, nor one that is there twice.

`choose_encoder` takes the words of the command line; networks are `equipoise.clean.networks`.
An encoder of the user's own extends `Encoder`; `encoded` calls it behind the boundary of
`equipoise.read.user_code` and checks what it gives.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from equipoise.clean.collection import ImageSource, Pixels
from equipoise.clean.detector import Progress, tell
from equipoise.read import codec
from equipoise.read.files import AnyPath, content
from equipoise.read.user_code import (
    call_user_code,
    load_user_object,
    new_user_object,
    path_and_name,
    user_file,
)
from equipoise.types import Floats, InputError, Names, Notices, notice, short_repr

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_SD = (0.229, 0.224, 0.225)
_ROOMY = 4  # images larger than this many times the input are first shrunk by whole numbers
_FLOOR = 1e-4  # keeps a blank picture from being the zero vector
_BATCH = 64  # images per shard
_KEY = 32  # bytes of a key
_ENDING = ".embeddings"
_SCHEMA = 2  # of a shard


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


def encoded(encoder: Encoder, images: ImageSource, places: Sequence[int]) -> Floats:
    """Embeddings of some images, float32 of shape (places, features), and finite."""
    file = user_file(encoder)
    if not file:
        return np.asarray(encoder.encode(images, places), dtype=np.float32)
    where = f"encoder {getattr(encoder, 'name', type(encoder).__name__)} of {file}"
    values: Floats = call_user_code(
        lambda: np.asarray(encoder.encode(images, places)),
        where=where,
        expected="an array of embeddings",
    )
    shape = (len(places), values.shape[-1] if values.ndim == 2 else 0)
    if values.dtype.kind not in "fiu" or values.shape != shape or not shape[1]:
        got, do = f"{values.dtype} of shape {values.shape}", "return a row per image"
        raise InputError(where, got, f"numbers of shape ({len(places)}, features)", do)
    if not np.isfinite(values).all():
        got, do = "embeddings that are not finite", "correct the file"
        raise InputError(where, got, "finite numbers", do)
    return values.astype(np.float32)


def _fingerprint(encoder: Encoder) -> str:
    """What names the folder of an encoder's embeddings."""
    file = user_file(encoder)
    if not file:
        return encoder.fingerprint
    where, expected = f"fingerprint of {file}", "a hash in letters and digits"
    name = call_user_code(lambda: encoder.fingerprint, where=where, expected=expected)
    if not (isinstance(name, str) and name.isalnum() and len(name) <= 128):
        raise InputError(where, f"{name!r:.40}", expected, "return fingerprint_of(...)")
    return name


def fingerprint_of(**parts: object) -> str:
    """One hash of named parts."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def squeeze(pixels: Pixels, size: int) -> Floats:
    """A picture squeezed into a square, values in [0, 1], shape (size, size, 3).

    Bicubic with antialiasing, by Pillow.
    """
    from PIL import Image

    image = Image.fromarray(shrink_roughly(pixels, size))
    small = image.resize((size, size), Image.Resampling.BICUBIC)
    return np.asarray(small, dtype=np.float32) / np.float32(255)


def shrink_roughly(pixels: Pixels, size: int) -> Pixels:
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
    rows = [np.asarray(vector, dtype=np.float32).ravel() for vector in vectors]
    return np.stack(rows) if rows else np.empty((0, 0), dtype=np.float32)


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

    name = "given"
    array: Floats
    items: Names = ()

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


@dataclass(frozen=True)
class GreyPixels(Encoder):
    """Small grey pictures, `size` x `size` features.

    Examples
    --------
    >>> from equipoise.clean.images import ArrayImages
    >>> GreyPixels(4).encode(ArrayImages(np.zeros((3, 8, 8), np.uint8)), [0, 1]).shape
    (2, 16)
    """

    name = "pixels"
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
        grey = squeeze(images.rgb(place), self.size).mean(axis=2).ravel()
        return np.asarray(grey - grey.mean() + np.float32(_FLOOR))


@dataclass(frozen=True, eq=False)
class Embedded:
    """Embeddings of a collection.

    Attributes
    ----------
    values
        Shape (images, features), float32.
    encoded
        How many images were encoded now; the others were in the cache, or are there twice.
    notices
        What a reader should know.
    """

    values: Floats
    encoded: int
    notices: Notices = ()

    __repr__ = short_repr


def embed(
    images: ImageSource,
    encoder: Encoder,
    *,
    cache: AnyPath | None = None,
    progress: Progress | None = None,
) -> Embedded:
    """Encode every image, or take its embedding from the cache.

    Parameters
    ----------
    cache
        A folder; None keeps nothing.
    progress
        Told how many images are done, of how many.
    """
    if not len(images):
        raise InputError("images", "none", "at least one image", "give a folder with images")
    folder = None if cache is None else _cache_folder(Path(cache), _fingerprint(encoder))
    digests = (images.digest(place) for place in range(len(images)))
    keys = [hashlib.sha256(digest.encode()).digest() for digest in digests]
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    rows, damaged = ({}, 0) if folder is None else _load_shards(folder, set(first))
    todo = sorted(place for key, place in first.items() if key not in rows)
    done = len(images) - len(todo)
    tell(progress, done, len(images))
    for batch in _batches(todo):
        values = encoded(encoder, images, batch)
        batch_keys = [keys[place] for place in batch]
        if folder is not None:
            _write_shard(folder, batch_keys, values)
        rows.update(zip(batch_keys, values, strict=True))
        done += len(batch)
        tell(progress, done, len(images))
    text = "{shards:count} files of the cache of embeddings were damaged and made again."
    notices = (notice("cache_damaged", text, shards=damaged),) if damaged else ()
    widths = {len(row) for row in rows.values()}
    if len(widths) > 1:
        do = "give every image as many, and use another cache"
        raise InputError(
            f"encoder {encoder.name}", f"{min(widths)} and {max(widths)} features",
            "as many features for every image", do,
        )  # fmt: skip
    return Embedded(np.stack([rows[key] for key in keys]), len(todo), notices)


def _batches(places: Sequence[int]) -> Iterator[Sequence[int]]:
    return (places[start : start + _BATCH] for start in range(0, len(places), _BATCH))


def _cache_folder(cache: Path, fingerprint: str) -> Path:
    """The folder of an encoder's shards in a cache."""
    folder = cache / fingerprint
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cache {cache}",
            f"cannot be written ({error.strerror})",
            "a folder to write into",
            "name another folder",
        ) from error
    return folder


def _load_shards(folder: Path, wanted: set[bytes]) -> tuple[dict[bytes, Floats], int]:
    """Embeddings that are there, by key; and how many shards were damaged and are removed."""
    rows: dict[bytes, Floats] = {}
    damaged = 0
    for path in sorted(folder.glob(f"*{_ENDING}")):
        shard = _read_shard(path)
        if shard is None:
            damaged += 1
            with suppress(OSError):
                path.unlink()
            continue
        keys = (bytes(key) for key in shard[0])
        rows.update(
            (key, row) for key, row in zip(keys, shard[1], strict=True) if key in wanted
        )
    return rows, damaged


def _write_shard(folder: Path, keys: Sequence[bytes], values: Floats) -> None:
    """Add a shard, in one step."""
    held = b"".join(keys)
    arrays = {"keys": np.frombuffer(held, np.uint8).reshape(-1, _KEY), "values": values}
    path = folder / f"{hashlib.sha256(held).hexdigest()}{_ENDING}"
    codec.write_sealed(path, {"schema": _SCHEMA, "encoder": folder.name}, arrays, packed=False)


def _read_shard(path: Path) -> tuple[Any, Floats] | None:
    """Keys and embeddings of a shard; None where it is not as it was written."""
    try:
        facts, arrays = codec.read_sealed(content(path), "remove it: it is made again")
    except InputError:
        return None
    same = (facts.get("schema"), facts.get("encoder")) == (_SCHEMA, path.parent.name)
    return (arrays["keys"], arrays["values"]) if same else None


def choose_encoder(name: str) -> Encoder:
    """An encoder by its words.

    ``default`` is ``lite0``; ``lite0`` and ``lite2`` are EfficientNet-Lite at 128 pixels,
    ``lite0:224`` at 224; a path that ends in ``.onnx`` is that file; ``timm:NAME`` a model of
    timm; ``pixels`` the image itself, small and grey; ``mine.py:Mine`` one of your own. A file
    of embeddings (``.npz``, ``.npy``, ``.csv``, ``.parquet``) is put to the images by its ids.

    Examples
    --------
    >>> choose_encoder("lite2:224")
    EfficientNetLite(version='lite2', size=224)
    """
    from equipoise.clean.networks import VERSIONS, EfficientNetLite, OnnxFile, TimmModel
    from equipoise.clean.reading import ENDINGS, read_features

    word, _, rest = name.partition(":")
    if path_and_name(name) is not None:
        user_object = load_user_object(name, Encoder, "encoder")
        encoder: Encoder = new_user_object(user_object, f"encoder {name}", {"name": str})
        return encoder
    if name.lower().endswith(".onnx"):
        return OnnxFile(Path(name))
    if word == "timm" and rest:
        return TimmModel(rest)
    if Path(name).suffix.lower() in ENDINGS:
        data = read_features(name)
        assert data.embeddings is not None
        return GivenEmbeddings(data.embeddings, data.items)
    if name == "pixels":
        return GreyPixels()
    version = "lite0" if word == "default" else word
    if version in VERSIONS and (not rest or rest.isdecimal()):
        return EfficientNetLite(version, int(rest)) if rest else EfficientNetLite(version)
    raise InputError(
        "encoder",
        f"{name!r}",
        "default, lite0, lite2, lite0:224, FILE.onnx, timm:NAME, pixels, FILE.npz or "
        "mine.py:Mine",
        "choose one of these",
    )

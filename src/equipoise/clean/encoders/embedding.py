"""Embedding a collection: one image after another, with a cache that survives being killed.

The cache has a folder per fingerprint of an encoder, of shards that are written whole and never
changed. A shard is named by the hash of what it holds, so that one that was cut off or damaged
is noticed, removed and made again. An embedding is kept by the content of its image: the same
image in another folder is not encoded again, nor one that is there twice.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.clean.collection import ImageSource
from equipoise.clean.detector import Progress, tell
from equipoise.clean.encoders.encoder import Encoder
from equipoise.read.files import DAMAGE, AnyPath, content, replaced
from equipoise.types.arrays import Floats, InputError, short_repr
from equipoise.types.notices import Notice, notice

_BATCH = 64  # images per shard
_KEY = 32  # bytes of a key
_ENDING = ".embeddings"


@dataclass(frozen=True, slots=True, eq=False)
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
    notices: tuple[Notice, ...] = ()

    __repr__ = short_repr


def embed(
    images: ImageSource,
    encoder: Encoder,
    *,
    cache: AnyPath | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Embeddings of every image, float32 of shape (images, features); see `embedded`."""
    return embedded(images, encoder, cache=cache, progress=progress).values


def embedded(
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
    if cache is None:
        return _without_cache(images, encoder, progress)
    kept = _Shards(Path(cache), encoder.fingerprint)
    digests = (images.digest(place) for place in range(len(images)))
    keys = [hashlib.sha256(digest.encode()).digest() for digest in digests]
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    have = kept.load(set(first))
    todo = sorted(place for key, place in first.items() if key not in have)
    done = len(images) - len(todo)
    tell(progress, done, len(images))
    for batch in _batches(todo):
        values = np.asarray(encoder.encode(images, batch), dtype=np.float32)
        kept.write([keys[place] for place in batch], values)
        have.update(zip((keys[place] for place in batch), values, strict=True))
        done += len(batch)
        tell(progress, done, len(images))
    return Embedded(np.stack([have[key] for key in keys]), len(todo), kept.notices())


def _without_cache(
    images: ImageSource, encoder: Encoder, progress: Progress | None
) -> Embedded:
    parts = []
    for batch in _batches(range(len(images))):
        parts.append(np.asarray(encoder.encode(images, batch), dtype=np.float32))
        tell(progress, batch[-1] + 1, len(images))
    return Embedded(np.concatenate(parts), len(images))


def _batches(places: Sequence[int]) -> Iterator[Sequence[int]]:
    return (places[start : start + _BATCH] for start in range(0, len(places), _BATCH))


class _Shards:
    """The shards of one encoder in a cache."""

    def __init__(self, cache: Path, fingerprint: str) -> None:
        self.folder = cache / fingerprint
        self.damaged = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cache {cache}",
                f"cannot be written ({error.strerror})",
                "a folder to write into",
                "name another folder",
            ) from error

    def load(self, wanted: set[bytes]) -> dict[bytes, Floats]:
        """Embeddings that are there, by key."""
        found: dict[bytes, Floats] = {}
        for path in sorted(self.folder.glob(f"*{_ENDING}")):
            held = _read(path)
            if held is None:
                self.damaged += 1
                with suppress(OSError):
                    path.unlink()
                continue
            keys = (bytes(one) for one in held[0])
            found.update(
                (key, row) for key, row in zip(keys, held[1], strict=True) if key in wanted
            )
        return found

    def write(self, keys: Sequence[bytes], values: Floats) -> None:
        """Add a shard, in one step."""
        out = BytesIO()
        np.save(out, np.frombuffer(b"".join(keys), np.uint8).reshape(-1, _KEY))
        np.save(out, values)
        data = out.getvalue()
        name = f"{hashlib.sha256(data).hexdigest()}{_ENDING}"
        with replaced(self.folder / name) as file:
            file.write(data)

    def notices(self) -> tuple[Notice, ...]:
        """Say that shards were damaged."""
        if not self.damaged:
            return ()
        text = "{shards:count} files of the cache of embeddings were damaged and made again."
        return (notice("cache_damaged", text, shards=self.damaged),)


def _read(path: Path) -> tuple[Any, Floats] | None:
    """Keys and embeddings of a shard; None where it is not as it was written."""
    try:
        data = content(path).data
        if hashlib.sha256(data).hexdigest() != path.name.removesuffix(_ENDING):
            return None
        file = BytesIO(data)
        keys, values = (np.load(file, allow_pickle=False) for _ in range(2))
    except DAMAGE:
        return None
    fits = keys.ndim == 2 and keys.dtype == np.uint8 and values.ndim == 2
    return (keys, values) if fits and len(keys) == len(values) else None

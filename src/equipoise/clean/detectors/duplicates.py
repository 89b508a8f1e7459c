r"""Near duplicates: pairs of items whose embeddings, hashes or windows of pixels agree.

The pairs of the collection are scored; without any, every item proposes its k nearest, in the
order of names, so that ties fall the same way whatever the order of the items.

**Embedding distance**: pairs of items whose embeddings point the same way,

.. math:: \text{score}_{ij} = 1 - d(x_i, x_j)

with the distance of `equipoise.clean.similarity`; this is how SelfClean ranks near duplicates
[@groger2024]. A group of more than k copies is then connected, though not every pair of it is
named.

`drawn_distances` has the scores of pairs drawn from all, which is what the cut is fitted to.

**pHash**: how many bits of two images' perceptual hashes agree. The hash has 64 bits: which of
the 8 x 8 lowest frequencies of the cosine transform of the image, in grey at 32 x 32, lie above
their median (imagehash). With H the Hamming distance,

.. math:: s_{ij} = 1 - H(h_i, h_j) / 64

Proposed are the ``k`` whose hashes are nearest, of equals those whose names come first.

**SSIM**: how alike two images are in brightness, contrast and structure, window by window. The
mean over all windows of 7 x 7 pixels (scikit-image takes odd windows; CleanPatrick says 8 x 8)
of

.. math:: \frac{(2 \mu_a \mu_b + C_1)(2 \sigma_{ab} + C_2)}
          {(\mu_a^2 + \mu_b^2 + C_1)(\sigma_a^2 + \sigma_b^2 + C_2)}

from -1 to 1. Images are compared in grey as squares of ``size`` pixels, or of the shorter side
of the smaller image where that is less: nothing is enlarged, except to the width of a window.

Proposed are the ``k`` whose thumbnails of 8 x 8 pixels, less their mean brightness, are nearest
by cosine; a copy that was turned or mirrored is not proposed.

Hyper-parameters: `k` others that each item proposes where no pairs are given; `size`, of a hash
size x size bits, of SSIM the side of the squares that are compared, at most, in pixels; and
`window`, the side of a window, odd.

>>> rows = np.array([[1, 0], [0, 1], [2, 0]])
>>> near = DUPLICATES[2].with_settings(k=1)
>>> scores = near.score(Collection(items=tuple("abc"), embeddings=rows))
>>> dict(zip(scores.items, scores.values.tolist()))
{'a | b': 0.5, 'a | c': 1.0}
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from equipoise.clean.collection import Collection, ImageSource, Pairs, Pixels
from equipoise.clean.detector import CatalogueDetector, name_order
from equipoise.clean.similarity import Directions, neighbours
from equipoise.types import Floats, InputError, Ints, Progress

Nearest = Callable[[Ints], Ints]  # places in some order to (items, k) places in that order
DRAWN = 100_000  # pairs of a background
Hashes = NDArray[np.uint8]  # (items, bytes)
REMEMBERED = 4096  # images at most that are kept in memory
THUMBNAIL = 8
Grey = NDArray[np.uint8]  # (side, side)


def pairs_to_score(data: Collection, nearest: Nearest) -> Pairs:
    """The pairs of the collection, or every item with its nearest, each pair once.

    Proposals are made in the order of names, so that ties fall the same way whatever the order
    of the items; that an item is near to itself says nothing.
    """
    if data.pairs is not None:
        return data.pairs
    order = name_order(data.items)
    near = nearest(order)
    items = np.repeat(np.arange(len(order)), near.shape[1])
    low, high = np.minimum(items, near.ravel()), np.maximum(items, near.ravel())
    keys = np.unique((low * len(order) + high)[low != high])
    return Pairs(order[keys // len(order)], order[keys % len(order)])


def _distances(
    row: CatalogueDetector, data: Collection, seed: int, progress: Progress
) -> tuple[Pairs, Floats]:
    """One minus the distance, for the pairs given or for those proposed."""
    del seed
    assert data.embeddings is not None
    rows = data.embeddings

    def nearest(order: Ints) -> Ints:
        return neighbours(rows[order], row.hyper["k"], progress=progress)[1]

    pairs = pairs_to_score(data, nearest)
    return pairs, 1 - Directions.of(rows).distance(pairs.first, pairs.second)


def drawn_distances(data: Collection, seed: int, *, size: int = DRAWN) -> Floats:
    """Scores of pairs drawn from all pairs of a collection, for the cut as published."""
    assert data.embeddings is not None
    random = np.random.default_rng(seed)
    first = random.integers(0, len(data), size)
    other = (first + random.integers(1, len(data), size)) % len(data)
    order = name_order(data.items)
    return 1 - Directions.of(data.embeddings).distance(order[first], order[other])


def _hash_agreement(
    row: CatalogueDetector, data: Collection, seed: int, progress: Progress
) -> tuple[Pairs, Floats]:
    """The share of bits that agree, for the pairs given or for those proposed."""
    del seed
    assert data.images is not None
    size = row.hyper["size"]
    hashes = _hashes(data.images, size, _wanted(data), progress)
    pairs = pairs_to_score(data, lambda order: nearest_hashes(hashes[order], row.hyper["k"]))
    apart = np.bitwise_count(hashes[pairs.first] ^ hashes[pairs.second])
    return pairs, 1 - apart.sum(axis=1, dtype=np.int64) / size**2


def _hashes(images: ImageSource, size: int, wanted: Ints, progress: Progress) -> Hashes:
    """Hashes of the images that are wanted, in bytes; zeros elsewhere."""
    import imagehash
    from PIL import Image

    hashes = np.zeros((len(images), -(-(size**2) // 8)), dtype=np.uint8)
    for done, place in enumerate(wanted.tolist()):
        picture = Image.fromarray(images.rgb(place))
        hashes[place] = np.packbits(imagehash.phash(picture, hash_size=size).hash)
        progress(done + 1, len(wanted))
    return hashes


def _wanted(data: Collection) -> Ints:
    """Places of the images of the pairs, or of all."""
    if data.pairs is None:
        return np.arange(len(data))
    return np.unique(np.concatenate([data.pairs.first, data.pairs.second]))


def nearest_hashes(hashes: Hashes, k: int) -> Ints:
    """Places of the k nearest others by Hamming distance, ties by place, shape (items, k).

    Bits are signs: the distance of two such embeddings is the share of bits that differ.
    """
    signs = 2.0 * np.unpackbits(hashes, axis=1) - 1
    return neighbours(signs, k)[1]


def _window_similarity(
    row: CatalogueDetector, data: Collection, seed: int, progress: Progress
) -> tuple[Pairs, Floats]:
    """The mean over windows, for the pairs given or for those proposed."""
    del seed
    size, window = row.hyper["size"], row.hyper["window"]
    if window % 2 == 0 or size < window:
        raise InputError(
            f"detector {row.name}, window",
            f"{window} pixels of {size}",
            "an odd number, at most the size",
            "try a window of 7 and a size of 128",
        )
    assert data.images is not None
    images = data.images

    def nearest(order: Ints) -> Ints:
        return neighbours(_thumbnails(images, order, progress), row.hyper["k"])[1]

    pairs = pairs_to_score(data, nearest)
    return pairs, _similarities(images, pairs, size, window, progress)


def _similarities(
    images: ImageSource, pairs: Pairs, size: int, window: int, progress: Progress
) -> Floats:
    """Of every pair, worked on by first image so that few images are read twice."""
    from skimage.metrics import structural_similarity

    compare: Callable[..., float] = structural_similarity

    @lru_cache(maxsize=REMEMBERED)
    def grey(place: int) -> Grey:
        pixels = images.rgb(place)
        return _grey(pixels, max(min(size, *pixels.shape[:2]), window))

    similarities = np.empty(len(pairs))
    for done, pair in enumerate(np.lexsort((pairs.second, pairs.first)).tolist()):
        first, second = grey(int(pairs.first[pair])), grey(int(pairs.second[pair]))
        side = min(len(first), len(second))
        similarities[pair] = compare(
            _grey(first, side), _grey(second, side), win_size=window, data_range=255
        )
        progress(done + 1, len(pairs))
    return similarities


def _grey(pixels: Pixels | Grey, side: int) -> Grey:
    """An image in grey, as a square of so many pixels."""
    from PIL import Image

    if pixels.shape == (side, side):
        return pixels
    picture = Image.fromarray(pixels).convert("L")
    return np.asarray(picture.resize((side, side), Image.Resampling.BOX), dtype=np.uint8)


def _thumbnails(images: ImageSource, order: Ints, progress: Progress) -> Floats:
    """Small images without their mean brightness; one feature more, so that none is zero."""
    rows = np.ones((len(order), THUMBNAIL**2 + 1))
    for done, place in enumerate(order.tolist()):
        small = _grey(images.rgb(place), THUMBNAIL).ravel().astype(np.float64)
        rows[done, 1:] = small - small.mean()
        progress(done + 1, len(order))
    return rows


DUPLICATES = (
    CatalogueDetector(
        name="phash",
        title="pHash",
        task="near_duplicates",
        needs=("images",),
        compute=_hash_agreement,
        hyper={"size": 8, "k": 5},
        packages=("imagehash", "PIL"),
        bounded=True,
        references=("venkatesan2000",),
    ),
    CatalogueDetector(
        name="ssim",
        title="SSIM",
        task="near_duplicates",
        needs=("images",),
        compute=_window_similarity,
        hyper={"size": 128, "window": 7, "k": 5},
        packages=("skimage", "PIL"),
        references=("wang2004",),
    ),
    CatalogueDetector(
        name="embedding_distance",
        title="Embedding distance",
        task="near_duplicates",
        compute=_distances,
        hyper={"k": 5},
        bounded=True,
        references=("groger2024",),
        background=drawn_distances,
    ),
)

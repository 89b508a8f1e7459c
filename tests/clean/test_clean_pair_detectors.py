"""Detectors of near duplicates on altered copies: aligned by item, whatever the order."""

from dataclasses import replace

import numpy as np
import pytest

from equipoise import InputError
from equipoise.clean import Collection, Pairs, similarity
from equipoise.clean.detectors.duplicates import nearest_hashes
from equipoise.clean.images import ArrayImages
from equipoise.metrics import auroc
from tests.clean_sample import catalogued

COUNT = 40
both = pytest.mark.parametrize(
    "detector", [catalogued("phash"), catalogued("ssim")], ids=lambda one: one.name
)


def study(seed=0):
    """Originals and altered copies, and pairs of which half are an image and its copy."""
    chance = np.random.default_rng(seed)
    blocks = chance.integers(0, 256, (COUNT, 6, 6, 3))
    originals = np.repeat(np.repeat(blocks, 8, axis=1), 8, axis=2)
    noise = chance.normal(scale=10, size=originals.shape)
    copies = np.clip(0.9 * originals + 10 + noise, 0, 255)
    images = np.concatenate([originals, copies]).astype(np.uint8)
    place = np.arange(COUNT)
    pairs = Pairs(
        np.concatenate([place, place]),
        np.concatenate([COUNT + place, COUNT + np.roll(place, 7)]),
    )
    items = tuple(f"image-{number}" for number in range(2 * COUNT))
    data = Collection(items=items, images=ArrayImages(images), pairs=pairs)
    return data, np.repeat([1, 0], COUNT)


@both
def test_altered_copies_are_found_when_aligned_and_by_chance_when_not(detector):
    data, truth = study()
    made = detector.score(data)
    assert auroc(truth, made.aligned(data.pairs.names(data.items))) > 0.95
    wrong = [
        auroc(truth, np.random.default_rng(seed).permutation(made.values))
        for seed in range(200)
    ]
    assert np.mean(wrong) == pytest.approx(0.5, abs=0.03)


@both
def test_shuffled_images_or_pairs_leave_every_pair_its_score(detector):
    data, _ = study()
    chance = np.random.default_rng(3)
    order, mixed = chance.permutation(len(data)), chance.permutation(len(data.pairs))
    shuffled = data.subset(order)
    names = np.array(data.pairs.names(data.items))[mixed]
    again = detector.score(replace(shuffled, pairs=Pairs.from_names(names, shuffled.items)))
    assert again.items == tuple(names)
    assert again.values.tolist() == detector.score(data).values[mixed].tolist()


@both
def test_proposals_hold_the_copies_and_stay_few(detector):
    data, _ = study()
    made = detector.score(replace(data, pairs=None))
    place = np.arange(COUNT)
    copies = Pairs(place, COUNT + place).names(data.items)
    assert set(copies) <= set(made.items)
    assert len(made.items) <= detector.hyper["k"] * len(data)
    top = np.array(made.items)[np.argsort(-made.values)[:COUNT]]
    assert len(set(top) & set(copies)) >= 0.9 * COUNT


@both
def test_one_image_has_no_pairs(detector):
    one = Collection(items=("a",), images=ArrayImages(np.zeros((1, 9, 9), np.uint8)))
    with pytest.raises(InputError, match="two or more"):
        detector.score(one)


@both
def test_identical_images_are_all_proposed_within_their_number(detector):
    same = ArrayImages(np.full((30, 12, 12), 90, np.uint8))
    made = detector.score(Collection(items=tuple(map(str, range(30))), images=same))
    assert (made.values == 1).all() and len(made.items) <= 30 * detector.hyper["k"]


def test_nearest_hashes_are_those_of_a_full_search(monkeypatch):
    hashes = np.random.default_rng(1).integers(0, 4, (50, 8)).astype(np.uint8)
    bits = np.unpackbits(hashes, axis=1).astype(int)
    apart = (bits[:, None] != bits[None]).sum(axis=2)
    np.fill_diagonal(apart, 999)
    slowly = [sorted(range(50), key=lambda j: (apart[i, j], j))[:4] for i in range(50)]
    assert nearest_hashes(hashes, 4).tolist() == slowly
    monkeypatch.setattr(similarity, "CELLS", 1000)
    assert nearest_hashes(hashes, 4).tolist() == slowly


def test_images_of_unlike_sizes_are_compared_at_the_smaller():
    big = np.repeat(np.repeat(study()[0].images.array[:1], 2, axis=1), 2, axis=2)[0]

    class Two:
        def __len__(self):
            return 2

        def rgb(self, place):
            return big if place else big[::2, ::2]

        def digest(self, place):
            return str(place)

    data = Collection(items=("a", "b"), images=Two())
    assert catalogued("ssim").score(data).values == pytest.approx([1], abs=0.01)
    assert catalogued("phash").score(data).values > 0.85

"""Neighbours, linkage and the SelfClean detectors against their slow twins, and their laws."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.clean import DETECTORS, Collection, Pairs
from equipoise.clean import similarity as search
from equipoise.clean.detectors import selfclean as linkage
from equipoise.clean.detectors.duplicates import drawn_distances
from equipoise.clean.detectors.selfclean import (
    _nearest_by_label,
    off_topic_areas,
    single_linkage,
)
from equipoise.clean.similarity import Directions, neighbours
from equipoise.types import InputError
from tests.clean_sample import catalogued
from tests.oracles import cleaning

DATA = Path(os.environ.get("EQUIPOISE_DATA", "no-data")) / "cifar10n"
OFF_TOPIC, DISTANCE, LABEL_ERRORS = map(
    catalogued, ("selfclean_off_topic", "embedding_distance", "selfclean_label_errors")
)
GRID = st.integers(-2, 2).map(float)


@st.composite
def embeddings(draw, least=2, most=14):
    """Few items on a coarse grid: copies, parallels, zeros and ties."""
    items, features = draw(st.integers(least, most)), draw(st.integers(1, 4))
    cells = draw(st.lists(GRID, min_size=items * features, max_size=items * features))
    return np.array(cells).reshape(items, features)


def scattered(items=120, features=6, seed=0, spread=0.3):
    """Clusters, a few copies, a zero vector."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(5, features))[random.integers(0, 5, items)]
    rows = rows + spread * random.normal(size=rows.shape)
    rows[6:10] = rows[3]
    rows[5] = 0
    return rows


def all_distances(rows):
    """The distances of the package, all pairs."""
    points, every = Directions.of(rows), np.arange(len(rows))
    return np.array([points.distance(np.full(len(rows), i), every) for i in every])


def data(rows, labels=None, **more):
    classes = () if labels is None else tuple(map(str, range(max(labels) + 1)))
    labels = None if labels is None else np.asarray(labels)
    names = tuple(f"i{n}" for n in range(len(rows)))
    return Collection(items=names, embeddings=rows, labels=labels, classes=classes, **more)


@given(embeddings())
def test_distances_are_half_of_one_minus_the_cosine(rows):
    apart = all_distances(rows)
    assert_allclose(apart, cleaning.matrix(rows), atol=1e-15)
    assert_array_equal(apart, apart.T)


def test_copies_are_exactly_zero_apart_and_tiny_differences_are_seen():
    rows = np.random.default_rng(0).normal(size=(4, 300)).astype(np.float32)
    rows[1], rows[2] = rows[0], rows[0] * 4
    rows[3] = rows[0]
    rows[3, 0] = np.nextafter(rows[0, 0], np.float32(9))
    first = Directions.of(rows).distance(np.zeros(3, int), np.arange(1, 4))
    assert_array_equal(first[:2], 0)
    assert 0 < first[2] < 1e-15


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_embeddings_of_any_size_have_directions(size):
    rows = scattered(12)
    assert_allclose(all_distances(rows * size), all_distances(rows), atol=1e-15)


@given(embeddings(), st.integers(1, 9))
def test_neighbours_are_those_of_the_matrix(rows, k):
    apart = all_distances(rows)
    k = min(k, len(rows) - 1)
    distances, places = neighbours(rows, k)
    assert_array_equal(places, cleaning.neighbours(apart, k))
    assert_array_equal(distances, np.take_along_axis(apart, places, axis=1))


@pytest.mark.parametrize("run", [1, 2, 7])
def test_runs_change_nothing(monkeypatch, run):
    rows = scattered()
    whole = neighbours(rows, 4)
    monkeypatch.setattr(search, "RUN", run)
    for one, other in zip(whole, neighbours(rows, 4), strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("cells", [1, 500, 10**6])
def test_blocks_and_queries_change_nothing(monkeypatch, cells):
    rows = scattered()
    whole = neighbours(rows, 4)
    monkeypatch.setattr(search, "CELLS", cells)
    asked = np.array([50, 3, 3, 0])
    for one, other in zip(whole, neighbours(rows, 4, queries=asked), strict=True):
        assert_array_equal(one[asked], other)


def test_single_precision_never_decides():
    """Distances below the resolution of single precision are told apart."""
    angle = np.array([0, 3e-9, 1e-9, 2e-9, 5e-9])
    rows = np.column_stack((np.cos(angle), np.sin(angle)))
    assert_array_equal(neighbours(rows, 4)[1][0], [2, 3, 1, 4])


def test_many_neighbours_come_from_an_index_that_is_always_the_same(monkeypatch):
    rows = scattered(3_000, 24)
    rows[100:200] = rows[0]  # copies that would crowd an index
    exact, index = (neighbours(rows, 20, exact=each) for each in (True, False))
    found = (index[0] <= exact[0][:, -1:]).mean()
    assert found > 0.97
    assert_array_equal(index[0][100], 0)
    again = neighbours(rows, 20, exact=False)
    for one, other in zip(index, again, strict=True):
        assert_array_equal(one, other)
    monkeypatch.setattr(search, "EXACT_UP_TO", 1_000)
    assert_array_equal(neighbours(rows, 20)[1], index[1])


@pytest.mark.parametrize("classes", [2, 5, 40])
def test_labels_are_compared_by_indices_above_the_limit(monkeypatch, classes):
    rows = scattered(2_000, 12)
    labels = np.random.default_rng(1).integers(0, classes, len(rows))
    labels[:700] = 0
    points = Directions.of(rows)
    exact = _nearest_by_label(points, labels)
    monkeypatch.setattr(search, "EXACT_UP_TO", 300)
    for one, other in zip(exact, _nearest_by_label(points, labels), strict=True):
        assert (one == other).mean() > 0.98
        assert (other >= one).all()


@given(embeddings(), st.data())
def test_label_errors_follow_the_definition(rows, more):
    labels = more.draw(
        st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)).filter(
            lambda one: len(set(one)) > 1
        )
    )
    made = LABEL_ERRORS.score(data(rows, labels)).values
    assert_allclose(made, cleaning.label_errors(all_distances(rows), labels), atol=1e-12)


def test_a_copy_under_both_labels_is_undecided_and_one_under_another_label_is_sure():
    rows = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 1], [1, 1]])
    made = LABEL_ERRORS.score(data(rows, [0, 0, 1, 0, 1, 1])).values
    assert_array_equal(made[:2], 0.5)
    assert_array_equal(made[2:5], 1.0)


def test_labels_that_cannot_be_compared_are_refused_and_missing_ones_left_out():
    rows = scattered(10)
    with pytest.raises(InputError, match="one class"):
        LABEL_ERRORS.score(data(rows, [0] * 10))
    with pytest.raises(InputError, match="one class"):
        LABEL_ERRORS.score(data(rows, [0] + [-1] * 9))
    made = LABEL_ERRORS.score(data(rows, [0, 1, 0, 1, -1, -1, 0, 1, -1, -1]))
    assert made.items == ("i0", "i1", "i2", "i3", "i6", "i7")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("listed", [1, 10])
def test_the_tree_is_that_of_scipy(monkeypatch, seed, listed):
    monkeypatch.setattr(linkage, "LISTED", listed)
    rows = scattered(90, 5, seed, spread=0.05)
    apart = all_distances(rows)
    tree = single_linkage(Directions.of(rows))
    heights = np.unique(cleaning.joining(apart)[np.triu_indices(len(rows), 1)])
    assert_array_equal(np.unique(tree.height[len(rows) :]), heights)
    assert tree.size[-1] == len(rows)


@given(embeddings(), st.sampled_from([1, 3, 10]))
def test_off_topic_areas_follow_the_definition(rows, listed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linkage, "LISTED", listed)
        points = Directions.of(rows)
        made = off_topic_areas(single_linkage(points), points)
    order = np.lexsort((points.rank_of_items(), points.centrality()))
    rank = np.argsort(order)
    assert_allclose(made, cleaning.off_topic(all_distances(rows), rank), atol=1e-14)


@settings(max_examples=60)
@given(embeddings(), st.randoms(use_true_random=False))
def test_the_order_of_the_items_leaves_no_trace(rows, random):
    order = list(range(len(rows)))
    random.shuffle(order)
    labels = np.arange(len(rows)) % 2
    for detector in (OFF_TOPIC, LABEL_ERRORS):
        one = detector.score(data(rows, labels)).values
        other = detector.score(data(rows[order], labels[order])).values
        assert_array_equal(one[order], other)


def test_a_tree_of_many_items_comes_from_the_graph_and_is_whole():
    rows = scattered(400, 4, spread=0.01)
    rows[-1] = [0, 0, 9, -9]
    points = Directions.of(rows)
    exact, graph = (single_linkage(points, exact=each) for each in (True, False))
    assert graph.size[-1] == len(rows)
    assert (graph.height >= exact.height - 1e-15).all()
    assert_allclose(graph.height, exact.height, atol=1e-3)


def test_what_joins_late_and_alone_is_met_first():
    rows = np.random.default_rng(0).normal(5, 1, (200, 16))
    rows[17] *= -1
    made = OFF_TOPIC.score(data(rows)).values
    assert made.argmax() == 17
    assert made.min() >= 0
    assert made.max() <= 1


def test_identical_images_are_all_as_little_off_topic():
    assert_array_equal(OFF_TOPIC.score(data(np.ones((5, 3)))).values, 1.0)


@pytest.mark.parametrize("detector", [OFF_TOPIC, DISTANCE])
def test_one_item_is_refused_and_two_are_enough(detector):
    with pytest.raises(InputError, match="1 items"):
        detector.score(data(np.ones((1, 3))))
    made = detector.score(data(np.eye(2))).values
    assert set(made) <= {0.5, 0.75}


def test_pairs_that_are_given_are_scored_and_others_proposed():
    rows = scattered(40)
    pairs = Pairs(np.array([3, 0]), np.array([9, 39]))
    made = DISTANCE.score(data(rows, pairs=pairs))
    assert made.items == pairs.names(data(rows).items)
    assert_array_equal(made.values, 1 - all_distances(rows)[[3, 0], [9, 39]])
    proposed = DISTANCE.with_settings(k=2).score(data(rows))
    near = cleaning.neighbours(all_distances(rows), 2)
    assert len(proposed.items) == len({frozenset((i, j)) for i in range(40) for j in near[i]})
    assert proposed.values.max() == 1
    background = drawn_distances(data(rows), 1, size=3_000)
    upper = all_distances(rows)[np.triu_indices(40, 1)]
    assert abs(background.mean() - (1 - upper.mean())) < 0.02


def test_the_order_of_items_changes_neither_the_proposed_pairs_nor_the_background():
    rows = np.repeat(np.random.default_rng(0).normal(size=(5, 4)), 12, axis=0)
    whole = data(rows)
    shuffled = whole.subset(np.random.default_rng(1).permutation(60))
    one, other = (
        DISTANCE.score(whole),
        DISTANCE.score(shuffled),
    )
    assert one.items == other.items
    assert_array_equal(one.values, other.values)
    drawn = [drawn_distances(each, 0, size=50) for each in (whole, shuffled)]
    assert_array_equal(*drawn)


def test_the_detectors_are_in_the_catalogue_and_bounded():
    names = {"selfclean_off_topic", "selfclean_label_errors", "embedding_distance"}
    assert {one.name for one in DETECTORS if one.bounded} >= names
    with pytest.raises(InputError, match="two or more"):
        neighbours(np.ones((1, 2)), 1)
    with pytest.raises(InputError, match="at least 1"):
        neighbours(np.ones((3, 2)), 0)


def test_progress_is_told_to_the_end():
    told = []
    neighbours(scattered(), 3, progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] > 0


@pytest.mark.skipif(not DATA.is_dir(), reason="CIFAR-10N is not in EQUIPOISE_DATA")
@pytest.mark.parametrize(
    ("given_labels", "auroc", "precision"),
    [("aggre_label", 84.4, 41.4), ("clean_label", 65.4, 15.0)],
    ids=["wrong labels", "disagreement"],
)
def test_label_errors_of_cifar_are_found_as_well_as_stated(given_labels, auroc, precision):
    from equipoise.metrics import auroc as area
    from equipoise.metrics import average_precision

    images = np.load(DATA / "images_10k.npz")
    rows = np.load(DATA / "features_10k.npz")["features"].astype(np.float32)
    wrong = (images["aggre_label"] != images["clean_label"]).astype(float)
    labels = images[given_labels].astype(int)
    scores = LABEL_ERRORS.score(data(rows, labels)).values
    assert 100 * area(wrong, scores) == pytest.approx(auroc, abs=0.15)
    assert 100 * average_precision(wrong, scores) == pytest.approx(precision, abs=0.15)


def test_items_that_lie_close_together_are_told_apart_without_comparing_all(monkeypatch):
    """A large mean leaves nothing of single precision: blocks are then computed anew."""
    from equipoise.clean.similarity import Directions

    random = np.random.default_rng(0)
    tight = 1 + 3e-4 * random.standard_normal((400, 64))
    compared = []
    real = Directions.distance

    def counted(self, one, other):
        compared.append(len(one))
        return real(self, one, other)

    monkeypatch.setattr(Directions, "distance", counted)
    distances, places = neighbours(tight, 5)
    assert sum(compared) < 10 * 5 * 400  # of 160,000
    units = tight / np.linalg.norm(tight, axis=1, keepdims=True)
    apart = ((units[:, None] - units[None]) ** 2).sum(axis=2) / 4
    np.fill_diagonal(apart, 9)
    assert (np.argsort(apart, axis=1, kind="stable")[:, :5] == places).all()
    np.testing.assert_allclose(np.sort(apart, axis=1)[:, :5], distances, rtol=1e-9)

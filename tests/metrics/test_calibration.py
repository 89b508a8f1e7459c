"""Calibration and distances between distributions, against slow twins and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.spatial.distance import jensenshannon
from sklearn.calibration import calibration_curve

from equipoise import InputError, metrics
from tests.strategies import classified


def slow_gaps(labels, predicted, bins):
    """Gap and size of every bin (low, high], one after another."""
    found = []
    for b in range(bins):
        low, high = b / bins, (b + 1) / bins
        inside = [
            i
            for i, p in enumerate(predicted)
            if (low < p <= high) or (b == 0 and p == 0) or (abs(p - high) < 1e-12)
        ]
        inside = [i for i in inside if not abs(predicted[i] - low) < 1e-12 or b == 0]
        if inside:
            gap = abs(np.mean([labels[i] for i in inside]) - np.mean(predicted[inside]))
            found.append((gap, len(inside)))
    return found


@pytest.mark.parametrize("bins", [1, 4, 15])
def test_soft_binary_calibration_equals_a_loop_over_bins(bins):
    random = np.random.default_rng(bins)
    labels, predicted = random.integers(0, 6, 80) / 5, random.integers(0, 21, 80) / 20
    sides = [slow_gaps(labels, predicted, bins), slow_gaps(1 - labels, 1 - predicted, bins)]
    expected = np.mean([sum(gap * size for gap, size in gaps) / 80 for gaps in sides])
    found = metrics.expected_calibration_error(labels, predicted, bins=bins)
    assert found == pytest.approx(expected, abs=1e-12)
    largest = metrics.maximum_calibration_error(labels, predicted, bins=bins)
    expected = np.mean([max(gap for gap, _ in gaps) for gaps in sides])
    assert largest == pytest.approx(expected, abs=1e-12)


def test_reliability_equals_scikit_learn_on_hard_labels():
    random = np.random.default_rng(3)
    predicted = random.random(500)
    labels = (random.random(500) < predicted**2).astype(float)
    for binning, strategy in (("width", "uniform"), ("mass", "quantile")):
        share, mean = calibration_curve(labels, predicted, n_bins=10, strategy=strategy)
        found = metrics.reliability_curve(labels, predicted, bins=10, binning=binning)
        assert found.items.sum() == 500
        if binning == "width":
            np.testing.assert_allclose(found.observed, share, atol=1e-12)
            np.testing.assert_allclose(found.predicted, mean, atol=1e-12)
        else:
            assert found.items.tolist() == [50.0] * 10


@pytest.mark.parametrize("bins", [5, 10, 20])
def test_a_probability_on_an_edge_is_in_one_bin_however_it_was_added_up(bins):
    edges = np.arange(1, bins) / bins
    added = np.cumsum(np.full(bins - 1, 1 / bins))  # 0.1 + 0.2 is not 0.3
    assert bins == 5 or (edges != added).any()
    both = np.concatenate([edges, added, np.nextafter(edges, 1), np.nextafter(edges, 0)])
    found = metrics.reliability_curve(np.zeros(len(both)), both, bins=bins)
    assert found.items.tolist() == [4.0] * (bins - 1)
    np.testing.assert_allclose(found.predicted, edges, atol=1e-12)


def test_top_label_judges_the_class_that_was_chosen():
    truth = np.array([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
    predicted = np.array([[0.1, 0.6, 0.3], [0.7, 0.2, 0.1]])
    gaps = [abs(0.5 - 0.6), abs(0.0 - 0.7)]
    value = metrics.expected_calibration_error(truth, predicted, bins=10)
    assert value == pytest.approx(np.mean(gaps))
    assert metrics.maximum_calibration_error(truth, predicted, bins=10) == pytest.approx(0.7)


def test_classwise_is_the_mean_over_classes():
    random = np.random.default_rng(5)
    truth = random.dirichlet(np.ones(3), 60)
    predicted = random.dirichlet(np.ones(3), 60)
    each = [
        metrics.expected_calibration_error(truth[:, k], predicted[:, k], bins=7)
        for k in range(3)
    ]
    value = metrics.expected_calibration_error(truth, predicted, bins=7, which="classwise")
    assert value == pytest.approx(np.mean(each), abs=1e-12)


def test_equal_probabilities_stay_in_one_bin():
    found = metrics.reliability_curve(
        [0, 1, 0, 1, 1], [0.3, 0.3, 0.3, 0.3, 0.9], bins=4, binning="mass"
    )
    assert found.items.tolist() == [4.0, 1.0]


@given(data=classified())
@settings(max_examples=30)
def test_distances_equal_their_definitions(data):
    truth, predicted, _ = data
    apart = np.abs(truth - predicted).sum(axis=1) / 2
    assert metrics.total_variation(truth, predicted) == pytest.approx(apart.mean())
    square = [jensenshannon(a, b, base=2) ** 2 for a, b in zip(truth, predicted, strict=True)]
    found = metrics.item_scores("jensen_shannon", truth, predicted)
    np.testing.assert_allclose(found, square, atol=1e-7)


def test_entropy_correlation_is_pearsons():
    random = np.random.default_rng(1)
    truth, predicted = random.dirichlet(np.ones(4), 50), random.dirichlet(np.ones(4), 50)
    both = [-(one * np.log(one)).sum(axis=1) for one in (truth, predicted)]
    expected = np.corrcoef(*both)[0, 1]
    assert metrics.entropy_correlation(truth, predicted) == pytest.approx(expected)
    assert np.isnan(metrics.entropy_correlation(np.eye(4), predicted[:4]))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"bins": 0}, "bins"),
        ({"binning": "weight"}, "binning"),
        ({"which": "all"}, "which"),
    ],
)
def test_wrong_words_are_refused(how, words):
    with pytest.raises(InputError, match=words):
        metrics.expected_calibration_error([1, 0], [0.2, 0.3], **how)


def test_scores_that_are_no_probabilities_are_refused():
    with pytest.raises(InputError, match="in \\[0, 1\\]"):
        metrics.expected_calibration_error([1, 0], [1.2, 0.3])
    with pytest.raises(InputError, match="sum"):
        metrics.total_variation([0, 1], [[0.5, 0.6], [0.5, 0.5]])
    with pytest.raises(InputError, match="two classes"):
        metrics.total_variation([[1.0]], [[1.0]])

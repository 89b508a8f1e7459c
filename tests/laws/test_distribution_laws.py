"""Laws that every metric of whole distributions obeys, whatever its parameters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.metrics import CATALOGUE, Block, Truth, named
from tests.strategies import SHUFFLES, classified, law_of_all, names

NAMES = [
    "accuracy",
    "balanced_accuracy",
    "cohen_kappa",
    "mcc",
    "soft_agreement",
    "sensitivity",
    "specificity",
    "ppv",
    "npv",
    "f1",
    *(f"f1:{rest}" for rest in ("average=macro", "average=weighted", "positive=class-1")),
    "specificity:average=weighted",
    "net_benefit",
    "net_benefit:threshold=0.5",
    "brier_score",
    "brier_score:soft=plug_in",
    "ranked_probability_score",
    "ranked_probability_score:soft=plug_in",
    "squared_absolute_rps",
    "squared_absolute_rps:soft=plug_in",
    "log_score",
    "log_score:soft=plug_in",
    "quadratic_weighted_kappa",
    "quadratic_weighted_kappa:cost=linear",
    "expected_cost",
    "expected_cost:cost=linear:decision=least_cost",
    "expected_cost:cost=quadratic",
    "normalised_expected_cost",
    "normalised_expected_cost:cost=quadratic:decision=least_cost",
    "mean_absolute_error",
    "retained_samples_area",
    "retained_samples_area:score=log_score:metric=expected_cost:max_removed=0.5:points=5",
    "retained_samples_area:score=brier_score:metric=accuracy:max_removed=0.9:points=7",
    "retained_samples_area:metric=expected_cost:scale=paper",
    "error_detection_auroc",
    "accuracy_coverage_area",
    "accuracy_coverage_area:steps=20",
    "accuracy_coverage_area:steps=1",
    "risk_coverage_area",
    "excess_risk_coverage_area",
    "expected_calibration_error",
    "expected_calibration_error:bins=3:binning=mass",
    "expected_calibration_error:bins=4:which=classwise",
    "maximum_calibration_error",
    "maximum_calibration_error:bins=4:min_items=3",
    "maximum_calibration_error:bins=3:binning=mass:which=classwise",
    "total_variation",
    "jensen_shannon",
    "entropy_correlation",
]
PROPER = [  # the truth, told as it is, has the best expected score
    "brier_score",
    "ranked_probability_score",
    "log_score",
]
METRICS = [named(name) for name in NAMES]
every = pytest.mark.parametrize("metric", METRICS, ids=NAMES)
of_all = law_of_all(METRICS)
CLOSE = {"rtol": 0, "atol": 1e-10}
few = settings(max_examples=40)


def test_every_metric_of_distributions_is_under_these_laws():
    whole = {name for name, make in CATALOGUE.items() if make().labels == "distribution"}
    assert {name.split(":")[0] for name in NAMES} == whole


def asked(metric, truth):
    """The metric of a question with as many classes."""
    return metric.among(names(truth.shape[1], "class"))


def columns(metric, truth, predicted, counts):
    metric = asked(metric, truth)
    return metric.score(truth, metric.prepare(predicted), counts)


@few
@given(data=classified())
@of_all
def test_stays_within_its_bounds(metric, data):
    value = asked(metric, data[0])(*data[:2])
    low, high = metric.bounds
    assert np.isnan(value) or low - 1e-12 <= value <= high + 1e-12


@few
@given(data=classified(), order=SHUFFLES)
@of_all
def test_ignores_the_order_of_items(metric, data, order):
    rows = order.permutation(len(data[0]))
    moved = columns(metric, *(part[rows] for part in data))
    assert_allclose(moved, columns(metric, *data), **CLOSE)


@few
@given(data=classified())
@of_all
def test_counts_equal_expanded_arrays(metric, data):
    truth, predicted, counts = data
    metric = asked(metric, truth)
    prepared = metric.prepare(predicted)
    for r, value in enumerate(metric.score(truth, prepared, counts)):
        times = counts[:, r].astype(int)
        if not times.any():
            assert np.isnan(value)
            continue
        rows = np.repeat(np.arange(len(truth)), times)
        once = np.ones((len(rows), 1), dtype=np.uint8)
        again = taken(prepared, rows)
        assert_allclose(value, metric.score(truth[rows], again, once)[0], **CLOSE)


def taken(prepared, rows):
    """What `prepare` made of the whole prediction, for some of its items."""
    if isinstance(prepared, tuple):
        parts = [taken(part, rows) for part in prepared]
        return type(prepared)(*parts) if hasattr(prepared, "_fields") else tuple(parts)
    if isinstance(prepared, dict):  # what was kept of the whole
        return {}
    return prepared[rows] if isinstance(prepared, np.ndarray) and prepared.ndim else prepared


@few
@given(data=classified())
@of_all
def test_a_truth_that_varies_without_varying_changes_nothing(metric, data):
    truth, predicted, counts = data
    metric = asked(metric, truth)
    prepared = metric.prepare(predicted)
    wide = [np.repeat(column[:, None], counts.shape[1], axis=1) for column in truth.T]
    block = Block(tuple(Truth(np.ascontiguousarray(one)) for one in wide), counts)
    varying = metric.finish(metric.reduce(prepared, block))
    assert_allclose(varying, metric.score(truth, prepared, counts), **CLOSE)


@few
@given(data=classified())
@of_all
def test_leaves_its_inputs_alone(metric, data):
    before = [part.copy() for part in data]
    columns(metric, *data)
    for part, copy in zip(data, before, strict=True):
        assert_array_equal(part, copy)


@few
@given(data=classified(), order=SHUFFLES)
@of_all
def test_the_order_of_classes_matters_only_where_it_is_said_to(metric, data, order):
    truth, predicted, _ = data
    places, known = order.permutation(truth.shape[1]), names(truth.shape[1], "class")
    if not metric.ordered:
        other = metric.among([known[k] for k in places])
        moved = other(truth[:, places], predicted[:, places])
        assert_allclose(moved, metric.among(known)(truth, predicted), **CLOSE)


@few
@given(data=classified(st.integers(2, 5)))
@of_all
def test_influence_adds_up_to_nothing_and_predicts_removal(metric, data):
    truth, predicted, _ = data
    if metric.influence is None:
        return
    metric = asked(metric, truth)
    value, slope = metric.influence(metric.prepare(predicted), truth)[:2]
    if np.isfinite(value):
        assert_allclose(value, metric(truth, predicted), **CLOSE)
        assert_allclose(slope.sum(), 0, **CLOSE)


@pytest.mark.parametrize("name", PROPER)
@few
@given(data=classified())
def test_proper_scores_reward_the_truth(name, data):
    truth, predicted, _ = data
    metric = named(name)
    best, other = metric(truth, truth), metric(truth, predicted)
    assert best <= other + 1e-10 if metric.better == "lower" else best >= other - 1e-10


@every
def test_facts_are_told(metric):
    assert named(metric.name).name == metric.name
    assert metric.definition and metric.title and metric.soft_title
    assert metric.needs == "probabilities" and metric.bounds[0] < metric.bounds[1]

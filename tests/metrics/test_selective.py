"""Selective prediction: golden values, slow twins, derivatives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from equipoise.metrics import (
    accuracy_coverage_area,
    accuracy_coverage_curve,
    auroc,
    error_detection_auroc,
    excess_risk_coverage_area,
    maximum_calibration_error,
    named,
    risk_coverage_area,
)
from equipoise.metrics._metric import Runs
from equipoise.metrics.selective import _cut_tables, _Line
from equipoise.types import InputError
from tests.oracles import selective as slow

NAMES = [
    "error_detection_auroc",
    "accuracy_coverage_area",
    "risk_coverage_area",
    "excess_risk_coverage_area",
    "accuracy_coverage_area:steps=20",
]
small = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0.05, 0.2, 0.45, 0.6, 0.8, 0.95])),
    min_size=1,
    max_size=6,
)


def right_and_wrong(right, wrong, order):
    """A model that is right on some items, with confidence in the given order of them."""
    truth = np.ones(right + wrong)
    sure = 0.5 + 0.5 * (np.argsort(np.argsort(order)) + 1) / (len(order) + 1)
    return truth, np.where(np.arange(right + wrong) < right, sure, 1 - sure)


def test_golden_areas_of_a_thousand_items():
    """G6: 800 of 1,000 right."""
    falling = np.arange(1000)[::-1]
    perfect = right_and_wrong(800, 200, falling)
    assert accuracy_coverage_area(*perfect) == pytest.approx(0.978415, abs=5e-7)
    harmonic = np.cumsum(1 / np.arange(1, 1001))
    exact = 0.8 + 0.8 * (harmonic[-1] - harmonic[799])
    assert accuracy_coverage_area(*perfect) == pytest.approx(exact, abs=1e-12)
    assert accuracy_coverage_area(*perfect, steps=20) == pytest.approx(0.977483, abs=5e-7)
    assert excess_risk_coverage_area(*perfect) == pytest.approx(0, abs=1e-12)
    worst = right_and_wrong(800, 200, np.arange(1000))
    assert accuracy_coverage_area(*worst) == pytest.approx(0.4785, abs=5e-5)
    same = right_and_wrong(800, 200, np.zeros(1000))
    same = same[0], np.where(same[1] > 0.5, 0.7, 0.3)
    assert accuracy_coverage_area(*same) == pytest.approx(0.8, abs=1e-12)
    assert error_detection_auroc(*same) == 0.5


@settings(max_examples=60, deadline=None)
@given(rows=small)
def test_areas_are_means_over_every_order_of_tied_items(rows):
    truth, model = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    errors = ((model > 0.5) != (truth == 1)).astype(float)
    confidence = np.round(np.maximum(model, 1 - model), 12)
    found = risk_coverage_area(truth, model)
    assert found == pytest.approx(slow.area(confidence, errors), abs=1e-12)
    excess = excess_risk_coverage_area(truth, model)
    assert excess == pytest.approx(found - slow.best_area(errors), abs=1e-12)
    assert accuracy_coverage_area(truth, model) == pytest.approx(1 - found, abs=1e-12)
    assert_allclose(
        error_detection_auroc(truth, model), slow.error_auroc(confidence, errors), atol=1e-12
    )


def test_a_curve_keeps_shares_of_items():
    truth, model = right_and_wrong(3, 2, [4, 3, 1, 2, 0])
    kept, height = accuracy_coverage_curve(truth, model, steps=10)
    assert_allclose(kept[-1], 1)
    # right, right, wrong, right, wrong, by falling confidence
    at = {0.5: 2 / 2.5, 0.6: 2 / 3, 0.7: 2.5 / 3.5, 1.0: 3 / 5}
    for coverage, accuracy in at.items():
        assert height[round(coverage * 10) - 1] == pytest.approx(accuracy)


def test_errors_are_the_positive_class():
    """G15: the other way round a good score would be near 0."""
    rng = np.random.default_rng(0)
    truth, model = rng.integers(0, 2, 300), rng.random(300)
    wrong = (model > 0.5) != (truth == 1)
    unsure = 1 - np.maximum(model, 1 - model)
    assert error_detection_auroc(truth, model) == pytest.approx(auroc(wrong, unsure))
    assert error_detection_auroc(truth, model) == pytest.approx(auroc(~wrong, -unsure))
    assert np.isnan(error_detection_auroc([1, 1], [0.9, 0.8]))


@pytest.mark.parametrize("name", NAMES)
def test_influence_is_that_of_leaving_items_out(name):
    rng = np.random.default_rng(1)
    truth = (rng.random(400) < 0.3).astype(float)
    model = np.round(np.clip(0.3 * truth + 0.7 * rng.random(400), 0.01, 0.99), 2)
    labels, said = np.stack([1 - truth, truth], 1), np.stack([1 - model, model], 1)
    metric = named(name)
    value, items, _ = metric.influence(metric.prepare(said), labels)
    counts = 1 - np.eye(400, dtype=np.uint8)
    without = metric.score(labels, metric.prepare(said), counts)
    jackknife = 399 / 400 * np.sqrt(((without - without.mean()) ** 2).sum() * 400 / 399)
    assert value == pytest.approx(metric(labels, said), abs=1e-12)
    assert np.sqrt((items**2).sum()) == pytest.approx(jackknife, rel=0.1)
    if "steps" not in name:
        assert_allclose(items, 399 / 400 * (without.mean() - without), atol=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_shares_are_the_derivative_by_labels(name):
    rng = np.random.default_rng(2)
    labels = rng.dirichlet([1, 1, 1], 30)
    said = rng.dirichlet([1, 1, 1], 30)
    metric = named(name)
    shares = metric.influence(metric.prepare(said), labels).shares
    for i, k in [(0, 0), (7, 1), (29, 2)]:
        step = np.zeros(labels.shape)
        step[i] = 1e-6 * (np.eye(3)[k] - labels[i])
        ends = [metric(labels + sign * step, said) for sign in (1, -1)]
        slope = shares[i, k] - shares[i] @ labels[i]
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)


def test_bins_of_few_items_are_left_out():
    truth = np.array([1.0] * 12 + [0.0] * 3)
    model = np.array([0.9] * 12 + [0.95] * 3)
    assert maximum_calibration_error(truth, model, bins=20) == pytest.approx(0.95)
    for least in (10, 12):
        found = maximum_calibration_error(truth, model, bins=20, min_items=least)
        assert found == pytest.approx(0.1)
    assert np.isnan(maximum_calibration_error(truth, model, bins=20, min_items=13))
    with pytest.raises(InputError, match="min_items"):
        maximum_calibration_error(truth, model, min_items=0)


@pytest.mark.parametrize("steps", [-1, 2.5, True])
def test_steps_are_checked(steps):
    with pytest.raises(InputError, match="steps"):
        accuracy_coverage_area([0, 1], [0.2, 0.7], steps=steps)


@pytest.mark.parametrize("ties", [1, 3, 50])
def test_tables_of_cuts_equal_the_slow_twin(ties):
    """Runs, soft labels, shared decisions, items that count 0: equipoise.kernels.retained."""
    random = np.random.default_rng(ties)
    labels = random.dirichlet([0.3, 0.3, 0.3], 40).round(1)
    decided = np.eye(3)[random.integers(0, 3, 40)]
    decided[:4] = [0.5, 0.5, 0.0]
    scores = random.integers(0, 40 // ties + 1, 40) / 7
    counts = random.integers(0, 3, (40, 5)).astype(np.uint8)
    counts[:, 3] = 0
    removed = np.linspace(0, 0.9, 13)
    runs = Runs.of(-scores)
    line = _Line(runs.order, np.append(runs.start, 40), labels[runs.order], decided[runs.order])
    found = _cut_tables(line, counts, removed)
    for r in range(5):
        expected = slow.cut_tables(scores, labels, decided, counts[:, r], removed)
        assert_allclose(found[..., r], expected, atol=1e-12)


def test_short_names_and_parameters_in_a_name():
    long = named("retained_samples_area:score=brier_score:metric=expected_cost:max_removed=0.3")
    short = named("retained_samples_area:score=brier:metric=cost:max_removed=.3")
    assert long.name == short.name
    assert long.title == "retained-samples expected cost by Brier score"
    assert named("retained_samples_area:score=rps").name == "retained_samples_area"
    assert named("retained_samples_area").family != short.family


def test_a_line_belongs_to_its_truth():
    area = named("retained_samples_area:max_removed=0.5")
    random = np.random.default_rng(2)
    predicted = random.dirichlet([1, 1, 1], 30)
    once, both = np.ones((30, 1), np.uint8), [random.dirichlet([1, 1, 1], 30) for _ in "ab"]
    shared = area.prepare(predicted)
    for truth in both:
        assert area.score(truth, shared, once) == area.score(
            truth, area.prepare(predicted), once
        )

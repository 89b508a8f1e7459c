"""Decisions: what tied classes share, and derivatives by items and labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import metrics
from equipoise.metrics import named
from equipoise.metrics._metric import Influence

COST = [[0, 1, 4, 2], [1, 0.5, 1, 3], [9, 2, 0, 1], [3, 3, 1, 0]]
METRICS = [
    "accuracy",
    "mean_absolute_error",
    "expected_cost",
    "expected_cost:cost=quadratic:decision=least_cost",
    "normalised_expected_cost",
    "normalised_expected_cost:cost=linear:decision=least_cost",
    "quadratic_weighted_kappa",
    "quadratic_weighted_kappa:cost=linear",
    "balanced_accuracy",
    "cohen_kappa",
    "mcc",
    *("sensitivity", "specificity", "ppv", "npv", "f1"),
    *(f"{name}:average=weighted" for name in ("sensitivity", "specificity", "ppv", "f1")),
    *(f"{name}:positive=2" for name in ("sensitivity", "specificity", "ppv", "npv", "f1")),
]
GIVEN = [
    metrics.decisions.expected_cost.metric(cost=COST),
    metrics.decisions.normalised_expected_cost.metric(cost=COST, decision="least_cost"),
]
every = pytest.mark.parametrize(
    "metric", [*map(named, METRICS), *GIVEN], ids=[*METRICS, "given", "given least"]
)


def world(seed=0, items=13, classes=4):
    random = np.random.default_rng(seed)
    labels = random.multinomial(5, random.dirichlet(np.ones(classes)), items) / 5
    labels[:classes] = np.eye(classes)  # every class is somebody's
    predicted = random.integers(1, 4, (items, classes)).astype(float)  # with ties
    return labels, predicted / predicted.sum(axis=1, keepdims=True)


def weighed(metric, labels, prepared, weights):
    """The metric with weights of any size, by its own sums: a table is linear in them."""
    total = weights.sum()
    table = (labels * weights[:, None]).T @ prepared / total
    return float(metric.finish(table[..., None])[0])


@every
def test_items_are_the_derivative_by_weights(metric):
    labels, predicted = world()
    prepared = metric.prepare(predicted)
    found = metric.influence(prepared, labels)
    assert isinstance(found, Influence)
    assert_allclose(found.value, metric(labels, predicted), atol=1e-12)
    assert_allclose(found.items.sum(), 0, atol=1e-12)
    for i in range(len(labels)):
        up, down = np.ones((2, len(labels)))
        up[i] += 1e-5
        down[i] -= 1e-5
        ends = [weighed(metric, labels, prepared, one) for one in (up, down)]
        assert_allclose(found.items[i], (ends[0] - ends[1]) / 2e-5, atol=1e-8)


@every
def test_shares_are_the_derivative_by_labels(metric):
    """Towards every class, as votes move them: what does not change the sum of an item."""
    labels, predicted = world(1)
    prepared, once = metric.prepare(predicted), np.ones(len(labels))
    found = metric.influence(prepared, labels).shares
    assert found.shape == labels.shape
    for i, k in np.ndindex(labels.shape):
        step = np.zeros(labels.shape)
        step[i] = 1e-5 * (np.eye(labels.shape[1])[k] - labels[i])
        ends = [weighed(metric, labels + s * step, prepared, once) for s in (1, -1)]
        slope = found[i, k] - found[i] @ labels[i]
        assert_allclose(slope, (ends[0] - ends[1]) / 2e-5, atol=1e-8)


def test_mean_costs_have_their_costs_as_derivative():
    labels, predicted = world(2)
    metric = GIVEN[0]
    prepared = metric.prepare(predicted)
    expected = prepared @ np.array(COST).T / len(labels)
    assert_allclose(metric.influence(prepared, labels).shares, expected, atol=1e-15)


@pytest.mark.parametrize(
    "name",
    ["normalised_expected_cost", "quadratic_weighted_kappa", "cohen_kappa", "mcc", "ppv", "f1",
     "balanced_accuracy", "sensitivity", "f1:average=weighted"],
)  # fmt: skip
def test_undefined_values_have_undefined_derivatives(name):
    same, metric = np.eye(3)[[1, 1, 1]], named(name)
    found = metric.influence(metric.prepare(same), same)
    assert np.isnan(found.value) and np.isnan(found.items).all()
    assert np.isnan(found.shares).all() and found.shares.shape == same.shape


@every
def test_ties_are_the_mean_over_all_ways_to_break_them(metric):
    """Linear in decisions: breaking every tie towards each class in turn, by rotations."""
    labels, predicted = world(3)
    prepared = metric.prepare(predicted)
    assert (prepared.max(axis=1) < 1).any() or "least_cost" in metric.name
    ways, total = int(np.lcm.reduce(range(1, 5))), 0.0
    for turn in range(ways):
        broken = np.zeros_like(prepared)
        for i, row in enumerate(prepared):
            tied = np.flatnonzero(row)
            broken[i, tied[turn % len(tied)]] = 1.0
        total = total + labels.T @ broken
    table = (total / ways / len(labels))[..., None]
    assert_allclose(metric.finish(table)[0], metric(labels, predicted), atol=1e-12)


def test_costs_tie_relative_to_their_size():
    third = np.full((1, 3), 1 / 3)
    for size in (1e-9, 1.0, 1e9):
        cost = size * (1 - np.eye(3))
        spent = [
            metrics.expected_cost([k], third, cost=cost, decision="least_cost")
            for k in range(3)
        ]
        assert_allclose(spent, size * 2 / 3, rtol=1e-12)

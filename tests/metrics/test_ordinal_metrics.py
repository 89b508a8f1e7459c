"""Ordinal and proper scores: oracles from the definitions, identities, and the engine."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from sklearn.metrics import accuracy_score, cohen_kappa_score, log_loss

from equipoise import metrics
from equipoise.metrics import Copies, item_scores, named
from equipoise.types import InputError
from tests.strategies import classified

CLOSE = {"rtol": 0, "atol": 1e-12}
few = settings(max_examples=30)
RULES = ["ranked_probability_score", "squared_absolute_rps", "brier_score", "log_score"]
RANDOM = np.random.default_rng(5)
TRUTH = RANDOM.integers(0, 4, 60)
MODEL = RANDOM.dirichlet(np.ones(4), 60)


def one_vote(name, p, y):
    """A score of one prediction against one vote, from its definition."""
    if name == "log_score":
        return -math.log(p[y]) if p[y] > 0 else math.inf
    if name == "brier_score":
        return sum((p[k] - (k == y)) ** 2 for k in range(len(p)))
    gaps = [sum(p[: i + 1]) - (y <= i) for i in range(len(p) - 1)]
    if name == "ranked_probability_score":
        return sum(gap**2 for gap in gaps) / len(gaps)
    return (sum(abs(gap) for gap in gaps) / len(gaps)) ** 2


@pytest.mark.parametrize("name", RULES)
@few
@given(data=classified())
def test_expected_score_is_the_mean_over_single_votes(name, data):
    truth, model, _ = data
    expected = [
        sum(w * one_vote(name, p, y) for y, w in enumerate(row) if w > 0)
        for row, p in zip(truth, model, strict=True)
    ]
    assert_allclose(item_scores(name, truth, model), expected, **CLOSE)
    assert_allclose(getattr(metrics, name)(truth, model), np.mean(expected), **CLOSE)


@few
@given(data=classified())
def test_plug_in_leaves_out_what_the_votes_themselves_spread(data):
    truth, model, _ = data
    for name in ("ranked_probability_score", "brier_score", "log_score"):
        best = item_scores(name, truth, truth)
        gap = item_scores(name, truth, model) - best
        plug_in = item_scores(f"{name}:soft=plug_in", truth, model)
        assert_allclose(plug_in, gap, rtol=0, atol=1e-9)


def test_with_two_classes_the_ranked_score_is_half_of_brier():
    truth, model = RANDOM.random(20), RANDOM.random(20)
    for soft in ("expected", "plug_in"):
        ranked = metrics.ranked_probability_score(truth, model, soft=soft)
        assert_allclose(ranked, metrics.brier_score(truth, model, soft=soft) / 2, **CLOSE)


def test_squared_absolute_rps_is_not_proper_and_says_so():
    truth = [[0.2, 0.6, 0.2]]
    honest = metrics.squared_absolute_rps(truth, truth)
    bold = metrics.squared_absolute_rps(truth, [[0, 1, 0]])
    assert_allclose([honest, bold], [0.124, 0.1], **CLOSE)
    for text in (
        named("squared_absolute_rps").definition,
        metrics.squared_absolute_rps.__doc__,
    ):
        assert "ot proper" in text
    assert ".124" in named("squared_absolute_rps").definition
    assert ".100" in named("squared_absolute_rps").definition


def test_hard_labels_equal_scikit_learn():
    decided = MODEL.argmax(axis=1)
    for cost in ("quadratic", "linear"):
        mine = metrics.quadratic_weighted_kappa(TRUTH, MODEL, cost=cost)
        assert_allclose(mine, cohen_kappa_score(TRUTH, decided, weights=cost), **CLOSE)
    assert_allclose(metrics.accuracy(TRUTH, MODEL), accuracy_score(TRUTH, decided), **CLOSE)
    assert_allclose(metrics.log_score(TRUTH, MODEL), log_loss(TRUTH, MODEL), **CLOSE)
    hot = np.eye(4)[TRUTH]
    brier = metrics.brier_score(TRUTH, MODEL)
    assert_allclose(brier, ((MODEL - hot) ** 2).sum(axis=1).mean(), **CLOSE)
    error = np.abs(TRUTH - decided).mean()
    assert_allclose(metrics.mean_absolute_error(TRUTH, MODEL), error, **CLOSE)


def test_costs_follow_their_definitions():
    given = RANDOM.random((4, 4))
    soft = RANDOM.dirichlet(np.ones(4), 60)
    for cost, matrix in {
        "zero_one": 1 - np.eye(4),
        "linear": np.abs(np.subtract.outer(range(4), range(4))) / 3,
        "quadratic": (np.subtract.outer(range(4), range(4)) / 3) ** 2,
        "given": given,
    }.items():
        asked = given if cost == "given" else cost
        for how in ("largest", "least_cost"):
            price = [[p @ matrix[:, d] for d in range(4)] for p in MODEL]
            chosen = MODEL.argmax(1) if how == "largest" else np.argmin(price, axis=1)
            each = [row @ matrix[:, d] for row, d in zip(soft, chosen, strict=True)]
            made = metrics.CATALOGUE["expected_cost"](cost=asked, decision=how)
            assert_allclose(made(soft, MODEL), np.mean(each), **CLOSE)
            assert_allclose(made.per_item(soft, MODEL), each, **CLOSE)
            constant = min((soft @ matrix)[:, d].mean() for d in range(4))
            relative = metrics.normalised_expected_cost(soft, MODEL, cost=asked, decision=how)
            assert_allclose(relative, np.mean(each) / constant, **CLOSE)


def test_nobody_decides_at_less_cost_than_bayes_when_the_model_is_right():
    for cost in ("zero_one", "linear", "quadratic"):
        spent = [
            metrics.expected_cost(MODEL, MODEL, cost=cost, decision=how)
            for how in ("largest", "least_cost")
        ]
        assert spent[1] <= spent[0] + 1e-12
    assert spent[1] < spent[0]


def heights(truth, model, score, metric, removed):
    """Retained-samples curve by taking weight away from the worst, piece by piece."""
    each = item_scores(score, truth, model)
    out = []
    for fraction in removed:
        weight = np.ones(len(truth))
        left = fraction * len(truth)
        for value in sorted(set(each.round(12)), reverse=True):
            tied = each.round(12) == value
            taken = min(left, tied.sum())
            weight[tied] -= taken / tied.sum()
            left -= taken
        out.append(metric(truth, model, weights=np.maximum(weight, 0)))
    return out


@few
@given(data=classified())
def test_retained_samples_equal_taking_weight_away(data):
    truth, model, _ = data
    for score in ("ranked_probability_score", "brier_score"):
        removed, height = metrics.retained_samples_curve(
            truth, model, score=score, metric="accuracy", max_removed=0.6, points=5
        )
        expected = heights(truth, model, score, metrics.accuracy, removed)
        assert_allclose(height, expected, rtol=0, atol=1e-9)


def test_retained_samples_of_copies_equal_the_expanded_array():
    counts = RANDOM.integers(0, 4, 60)
    rows = np.repeat(np.arange(60), counts)
    for metric in ("quadratic_weighted_kappa", "expected_cost"):
        copied = metrics.retained_samples_area(
            TRUTH, MODEL, metric=metric, weights=Copies(counts)
        )
        expanded = metrics.retained_samples_area(TRUTH[rows], MODEL[rows], metric=metric)
        assert_allclose(copied, expanded, **CLOSE)


def test_the_published_scale_is_twenty_times_the_mean_height():
    mean = metrics.retained_samples_area(TRUTH, MODEL)
    assert_allclose(metrics.retained_samples_area(TRUTH, MODEL, scale="paper"), 20 * mean)
    cost = {"metric": "expected_cost"}
    mean = metrics.retained_samples_area(TRUTH, MODEL, **cost)
    paper = metrics.retained_samples_area(TRUTH, MODEL, scale="paper", **cost)
    assert_allclose(paper, 20 * 3 * mean)


def test_item_scores_average_to_the_metric():
    for name in [*RULES, "mean_absolute_error", "expected_cost:cost=quadratic", "accuracy"]:
        each = item_scores(name, TRUTH, MODEL)
        assert each.shape == (60,)
        assert_allclose(each.mean(), named(name)(np.eye(4)[TRUTH], MODEL), **CLOSE)


SQUARE = [[0, 1], [1, 0]]
BAD = [
    (lambda: metrics.log_score([0], [[0.5, 0.2]]), "probabilities, item 0: .* sum to 0.7"),
    (lambda: metrics.log_score([0], [[1.0]]), "a single class, expected at least two"),
    (lambda: metrics.log_score([0], [1.5]), "1.5, expected a number in"),
    (lambda: metrics.log_score([0], SQUARE[:1], soft="votes"), "log_score, soft: 'votes'"),
    (lambda: metrics.expected_cost([0], SQUARE[:1], cost="square"), "cost: 'square'"),
    (lambda: metrics.expected_cost([0], SQUARE[:1], cost=[1, 2]), r"cost: shape \(2,\)"),
    (lambda: metrics.expected_cost([0], SQUARE[:1], cost=[["a"]]), "cost: values that are not"),
    (lambda: metrics.expected_cost([0], SQUARE[:1], cost=np.eye(3)), r"shape \(3, 3\)"),
    (lambda: metrics.expected_cost([0], SQUARE[:1], cost=[[0, -1], [1, 0]]), "column 1: -1"),
    (lambda: metrics.expected_cost([0], SQUARE[:1], decision="bayes"), "decision: 'bayes'"),
    (lambda: metrics.quadratic_weighted_kappa([0], SQUARE[:1], cost="zero_one"), "zero_one"),
    (lambda: metrics.retained_samples_curve([0], SQUARE[:1], score="auroc"), "score: 'auroc'"),
    (
        lambda: metrics.retained_samples_curve([0], SQUARE[:1], metric="auroc"),
        "metric: 'auroc'",
    ),
    (lambda: metrics.retained_samples_area([0], SQUARE[:1], scale="big"), "scale: 'big'"),
    (lambda: metrics.retained_samples_area([0], SQUARE[:1], max_removed=1), "max_removed: 1"),
    (lambda: metrics.retained_samples_area([0], SQUARE[:1], max_removed="a"), "'a'"),
    (lambda: metrics.retained_samples_area([0], SQUARE[:1], points=1), "points: 1"),
    (lambda: named("expected_cost:cost=given"), "cost: 'given', expected one of zero_one"),
    (lambda: named("expected_cost:costs=linear"), "parameters costs"),
    (lambda: item_scores("quadratic_weighted_kappa", [0], SQUARE[:1]), "mean over items"),
    (lambda: item_scores("log_score:hard=1", [0], SQUARE[:1]), "parameters hard"),
]


@pytest.mark.parametrize(("call", "said"), BAD, ids=[said for _, said in BAD])
def test_bad_input_is_refused_in_four_parts(call, said):
    with pytest.raises(InputError, match=said) as caught:
        call()
    error = caught.value
    assert all((error.where, error.got, error.expected, error.do))


def test_a_cost_on_the_diagonal_is_allowed():
    treated = [[0, 1], [5, 0.5]]
    assert metrics.expected_cost([1], [[0, 1]], cost=treated) == 0.5
    metric = metrics.CATALOGUE["expected_cost"](cost=treated)
    assert metric.name == "expected_cost:cost=given"
    assert metric.bounds == (0.0, 5.0)
    assert metric(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0]])) == 0.5


def test_influence_of_kappa_is_the_derivative_by_weight():
    metric = named("quadratic_weighted_kappa")
    soft = np.random.default_rng(2).dirichlet(np.ones(4), 60)
    value, slope = metric.influence(metric.prepare(MODEL), soft)[:2]
    assert_allclose(value, metrics.quadratic_weighted_kappa(soft, MODEL), **CLOSE)
    for i in (0, 7, 31):
        weight = np.ones(60)
        weight[i] += 1e-6
        moved = metrics.quadratic_weighted_kappa(soft, MODEL, weights=weight)
        assert_allclose((moved - value) / 1e-6, slope[i], rtol=0, atol=1e-7)

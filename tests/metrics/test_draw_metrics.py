"""Metrics of possible truths against published figures, brute force, and bad input.

The kernels behind them are equipoise.kernels.tops, equipoise.kernels.tops and
equipoise.kernels.tops; their slow twin is tests/oracles/draws.py.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import lfilter
from scipy.stats import kendalltau

from equipoise import metrics
from equipoise.metrics import named
from equipoise.metrics.draws import _DrawScores, draw_error
from equipoise.truth import dirichlet
from equipoise.types import InputError
from tests.oracles import draws as oracle
from tests.oracles.draws import dense, sparse, votes

CLOSE = {"rtol": 0, "atol": 1e-12}
OF_SETS = ("topk_accuracy", "set_accuracy", "overlap", "average_overlap")

# shared golden figures, metrics.json, uncertainty_adjusted
TIED = [[0.5, 0.3, 0.2, 0], [0.4, 0.4, 0.2, 0], [0.2, 0.3, 0.5, 0], [0.25, 0.25, 0.25, 0.25]]
TIED_MODEL = [[0.1, 0.5, 0.3, 0.1]]
TIED_FIGURES = [
    ("topk_accuracy", 1, 0.1875),
    ("topk_accuracy", 2, 0.5),
    ("topk_accuracy", 3, 0.9375),
    ("set_accuracy", 2, 0.2916666666666667),
    ("set_accuracy", 3, 0.8125),
    ("average_overlap", 3, 0.5833333333333333),
]
# shared golden figures, plausibilities.json, ua_metrics (cases, draws, classes)
PLAIN = [
    [[0.5, 0.3, 0.15, 0.05], [0.3, 0.45, 0.2, 0.05], [0.4, 0.35, 0.05, 0.2],
     [0.25, 0.2, 0.45, 0.1], [0.6, 0.05, 0.25, 0.1]],
    [[0.1, 0.2, 0.3, 0.4], [0.05, 0.15, 0.45, 0.35], [0.1, 0.3, 0.25, 0.35],
     [0.4, 0.1, 0.2, 0.3], [0.12, 0.18, 0.33, 0.37]],
    [[0.7, 0.1, 0.15, 0.05], [0.65, 0.2, 0.1, 0.05], [0.8, 0.05, 0.1, 0.05],
     [0.75, 0.1, 0.05, 0.1001], [0.9, 0.02, 0.03, 0.05]],
]  # fmt: skip
PLAIN_MODEL = [[0.45, 0.25, 0.2, 0.1], [0.3, 0.05, 0.4, 0.25], [0.05, 0.6, 0.2, 0.15]]
PLAIN_FIGURES = [
    ("topk_accuracy", 1, [0.6, 0.2, 0.0]),
    ("topk_accuracy", 2, [0.8, 0.4, 0.0]),
    ("topk_accuracy", 3, [1.0, 1.0, 0.0]),
    ("set_accuracy", 1, [0.6, 0.2, 0.0]),
    ("set_accuracy", 2, [0.6, 0.0, 0.0]),
    ("set_accuracy", 3, [0.6, 0.2, 0.0]),
    ("overlap", 1, [0.6, 0.2, 0.0]),
    ("overlap", 2, [0.8, 0.4, 0.3]),
    ("overlap", 3, [0.8666666666666666, 0.7333333333333333, 0.6666666666666666]),
    ("average_overlap", 1, [0.6, 0.2, 0.0]),
    ("average_overlap", 2, [0.7, 0.3, 0.15]),
    ("average_overlap", 3, [0.7555555555555555, 0.4444444444444445, 0.32222222222222224]),
]


@pytest.mark.parametrize(("name", "k", "value"), TIED_FIGURES)
def test_published_figures_with_ties(name, k, value):
    truth = dense(np.array(TIED)[:, None])
    broken = np.array(TIED_MODEL) - 1e-9 * np.arange(4)  # there the lowest index wins
    assert_allclose(getattr(metrics, name)(truth, broken, k), value, **CLOSE)


def test_a_certain_truth_is_ordinary_top_k():
    truth = dense([[[0, 0, 1, 0]]])
    assert metrics.topk_accuracy(truth, TIED_MODEL, 2) == 1.0


@pytest.mark.parametrize(("name", "k", "values"), PLAIN_FIGURES)
def test_published_figures_by_case(name, k, values):
    truth = dense(np.swapaxes(PLAIN, 0, 1))
    each = metrics.item_scores(f"{name}:k={k}", truth, PLAIN_MODEL)
    assert_allclose(each, values, **CLOSE)
    assert_allclose(getattr(metrics, name)(truth, PLAIN_MODEL, k), np.mean(values), **CLOSE)


def test_equal_scores_share_the_last_place():
    # shared golden figures, plausibilities.json, tie_rules: there the lowest index wins
    logits = np.array([[5, 3, 4, 4, 2], [-4, -0.5, 3, -1, -0.5]])
    truth = dense([[[0.5, 0, 0.5, 0, 0], [0, 0.5, 0.5, 0, 0]]])
    broken = logits - 1e-9 * np.arange(5)
    assert_allclose(metrics.item_scores("set_accuracy:k=2", truth, broken), 1.0)
    assert_allclose(metrics.item_scores("set_accuracy:k=2", truth, logits), 0.5)


rows = st.lists(st.sampled_from([0, 0, 1, 1, 2, 3]), min_size=5, max_size=5).filter(any)


@settings(max_examples=60)
@given(draws=st.lists(rows, min_size=1, max_size=20), scores=rows, k=st.integers(1, 5))
def test_equals_all_tie_breaks(draws, scores, k):
    values = np.array(draws, float) / np.sum(draws, axis=1, keepdims=True)
    truth = dense(values[:, None])
    for name in OF_SETS:
        wanted = np.mean([getattr(oracle, name)(row, scores, k) for row in draws])
        assert_allclose(getattr(metrics, name)(truth, [scores], k), wanted, **CLOSE)


@settings(max_examples=60)
@given(draws=st.lists(rows, min_size=1, max_size=20), scores=rows, k=st.integers(1, 5),
       mentioned=st.sets(st.integers(0, 4), max_size=4))  # fmt: skip
def test_evenly_split_rest_equals_full_draws(draws, scores, k, mentioned):
    values = np.array(draws, float) / np.sum(draws, axis=1, keepdims=True)
    labels = sorted(mentioned)
    thin = sparse(values[:, labels], labels, 5)
    full = dense(np.stack([thin.draw(d) for d in range(thin.draws)]))
    for name in OF_SETS:
        both = [getattr(metrics, name)(one, [scores], k) for one in (thin, full)]
        assert_allclose(*both, **CLOSE)
    assert_allclose(thin.certainty, full.certainty, **CLOSE)


@settings(max_examples=40)
@given(row=rows, scores=rows)
def test_order_metrics_equal_their_definitions(row, scores):
    truth = dense([[np.array(row) / sum(row)]])
    tau = metrics.kendall_tau(truth, [scores])
    if len(set(row)) > 1 and len(set(scores)) > 1:
        assert_allclose(tau, kendalltau(row, scores).statistic, **CLOSE)
    else:
        assert np.isnan(tau)
    found = metrics.spearman_footrule(truth, [scores])
    assert_allclose(found, oracle.spearman_footrule(row, scores), **CLOSE)


def test_order_metrics_look_at_mentioned_classes_alone():
    truth = sparse([[0.5, 0.3]], [3, 1], 5)
    model = [[0.9, 0.2, 0.8, 0.1, 0.7]]
    assert metrics.kendall_tau(truth, model) == -1.0
    assert metrics.spearman_footrule(truth, model) == 0.0
    alone = sparse([[0.7]], [2], 5)
    assert np.isnan(metrics.kendall_tau(alone, model))
    assert np.isnan(metrics.item_scores("spearman_footrule", alone, model)).all()


@pytest.mark.parametrize("shape", [0.05, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("name", OF_SETS)
def test_randomly_split_rest_agrees_with_full_dirichlet_draws(name, shape):
    random = np.random.default_rng(5)
    number, labels, classes = 20_000, [4, 1], 7
    mass = random.dirichlet([2.0, 0.7, 5 * shape], number)
    thin = sparse(mass[:, :2], labels, classes, rest_shape=shape, split_seed=9)
    scores = np.array([0.25, 0.2, 0.1, 0.1, 0.3, 0.05, 0.0])
    full = np.zeros((number, 1, classes))
    full[:, 0, labels] = mass[:, :2]
    free = [c for c in range(classes) if c not in labels]
    full[:, 0, free] = mass[:, 2:] * random.dirichlet(np.full(5, shape), number)
    for k in (1, 2, 3):
        metric = named(f"{name}:k={k}")
        met = [
            metric.score_draws(metric.prepare(scores[None]), one).value
            for one in (thin, dense(full))
        ]
        both = [float(one.mean()) for one in met]
        chance = np.mean(both)
        error = np.sqrt(2 * chance * (1 - chance) / number)
        assert abs(both[0] - both[1]) < 4.5 * error


def test_a_random_split_of_what_underflows_still_makes_sense():
    truth = sparse([[1.0, 0.0], [1.0 - 1e-320, 0.0]], [0, 1], 6, rest_shape=1e-3)
    for name in OF_SETS:
        for k in range(1, 7):
            value = getattr(metrics, name)(truth, [[0.9, 0.1, 0, 0, 0, 0]], k)
            assert 0 <= value <= 1
    assert metrics.topk_accuracy(truth, [[0.9, 0.1, 0, 0, 0, 0]]) == 1.0


def test_top_k_accuracy_is_exact_where_the_law_is_known():
    truth = dirichlet(votes()).drawn(4000, seed=1)
    scores = np.random.default_rng(3).dirichlet(np.ones(4), 6)
    metric = named("topk_accuracy:k=2")
    met = metric.score_draws(metric.prepare(scores), truth)
    assert_allclose(met.mean, met.value.mean(axis=1), atol=0.04)
    assert_allclose(metrics.topk_accuracy(truth, scores, 2), met.mean.mean(), **CLOSE)
    other = metric.score_draws(metric.prepare(scores), truth.drawn(50, seed=8))
    assert_array_equal(met.mean, other.mean)


def test_top_k_accuracy_adds_up_the_chances_of_being_top():
    truth = replace(dirichlet(votes()).drawn(100, seed=1), law=None)
    scores = np.random.default_rng(3).dirichlet(np.ones(4), 6)
    entry, rest = truth.top()
    total = np.bincount(np.repeat(np.arange(6), np.diff(truth.start)), entry) + rest
    assert_allclose(total, 1.0)
    assert_allclose(metrics.item_scores("topk_accuracy:k=4", truth, scores), total)
    chance = np.repeat((rest / np.maximum(4 - np.diff(truth.start), 1))[:, None], 4, axis=1)
    chance[np.repeat(np.arange(6), np.diff(truth.start)), truth.label] = entry
    wanted = chance[np.arange(6), scores.argmax(axis=1)]
    assert_allclose(metrics.item_scores("topk_accuracy", truth, scores), wanted)


@pytest.mark.parametrize("name", [*OF_SETS, "kendall_tau", "spearman_footrule"])
def test_threads_and_other_draws_change_nothing(name):
    truth = replace(dirichlet(votes()).drawn(50, seed=1), law=None)
    scores = np.random.default_rng(3).dirichlet(np.ones(4), 6)
    metric = named(name)
    with ThreadPoolExecutor(4) as pool:
        many = list(
            pool.map(lambda _: metric.score_draws(metric.prepare(scores), truth), range(8))
        )
    for one in many[1:]:
        assert_array_equal(one.value, many[0].value)
    fewer = replace(truth, mass=truth.mass[:21], rest=truth.rest[:21])
    assert_array_equal(
        metric.score_draws(metric.prepare(scores), fewer).value, many[0].value[:, :21]
    )


def test_bad_input_is_refused_in_four_parts():
    truth = dense(np.array(TIED)[:, None])
    with pytest.raises(InputError, match="k: 5, expected at most the 4 classes"):
        metrics.set_accuracy(truth, TIED_MODEL, 5)
    with pytest.raises(InputError, match="k: 0, expected a whole number of at least 1"):
        metrics.overlap(truth, TIED_MODEL, 0)
    with pytest.raises(InputError, match="expected Plausibilities"):
        metrics.topk_accuracy(np.array(TIED), TIED_MODEL)
    for wrong in ([[0.5, 0.5]], TIED_MODEL * 2, [0.5, 0.5], [[]], [["a", "b", "c", "d"]],
                  [[0.5, np.nan, 0.5, 0]]):  # fmt: skip
        for name in ("topk_accuracy", "kendall_tau"):
            with pytest.raises(InputError, match="probabilities"):
                getattr(metrics, name)(truth, wrong)


def test_many_first_classes_are_as_few_are():
    random = np.random.default_rng(0)
    scores = random.random((3, 90))
    truth = dense(random.dirichlet(np.ones(90), (2, 3)))
    for k in (64, 65, 90):
        wanted = [
            np.mean([oracle.overlap(truth.draw(d)[i], scores[i], k) for d in range(2)])
            for i in range(3)
        ]
        assert_allclose(metrics.item_scores(f"overlap:k={k}", truth, scores), wanted, **CLOSE)


def test_sets_of_thousands_of_classes_have_a_chance():
    truth = sparse([[0.0]], [0], 2000, rest_shape=None)
    scores = np.zeros((1, 2000))
    scores[0, 1] = 1
    assert_allclose(metrics.set_accuracy(truth, scores, 1), 1 / 1999, rtol=1e-9)
    assert metrics.set_accuracy(truth, np.eye(2000)[:1], 1000) == 0.0


def test_the_error_over_a_slow_chain_is_larger():
    """An autoregressive series: its mean is (1 + r) / (1 - r) times as variable as if white."""
    random = np.random.default_rng(0)
    noise = random.standard_normal((40_000, 3))
    series = np.array(lfilter([1.0], [1.0, -0.8], noise, axis=0)).T
    met = _DrawScores(series)
    white, chained = draw_error(met), draw_error(met, chained=True)
    assert white == pytest.approx(series.mean(axis=0).std(ddof=1) / 200)
    assert chained / white == pytest.approx(3.0, rel=0.1)
    shuffled = _DrawScores(random.permuted(series.mean(axis=0))[None])
    assert draw_error(shuffled, chained=True) == pytest.approx(draw_error(shuffled), rel=0.03)

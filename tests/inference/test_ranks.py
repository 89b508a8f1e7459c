"""Ranks and rank correlations, against scipy and by counting."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest, kendalltau, rankdata, spearmanr

from equipoise.datasets.reproduce import sign_test
from equipoise.inference.ranks import (
    average_ranks,
    beats,
    higher_is_better,
    kendall_tau_b,
    rank_probabilities,
    spearman,
)
from tests.strategies import SCORE, arrays

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "metrics.json").read_text("utf-8"))
TABLES = st.integers(1, 5).flatmap(
    lambda m: arrays(SCORE, 6 * m).map(lambda x: x.reshape(m, 6))
)


@pytest.mark.parametrize("case", GOLDEN["rank_correlation"])
def test_golden_correlations(case):
    a, b = np.array(case["a"], float), np.array(case["b"], float)
    for ours, key in ((spearman, "spearman"), (kendall_tau_b, "kendall_tau_b")):
        expected = np.nan if case[key] is None else case[key]
        assert_allclose(ours(a, b), expected, atol=1e-12)


@pytest.mark.parametrize("case", GOLDEN["sign_test_one_sided_greater"])
def test_golden_sign_tests(case):
    assert sign_test(case["wins"], case["losses"]) == pytest.approx(case["p"], rel=1e-12)


@given(wins=st.integers(0, 60), losses=st.integers(1, 60))
def test_sign_test_is_scipys(wins, losses):
    expected = binomtest(wins, wins + losses, alternative="greater").pvalue
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9)


@given(data=st.integers(2, 8).flatmap(lambda n: st.tuples(arrays(SCORE, n), arrays(SCORE, n))))
def test_correlations_are_scipys(data):
    a, b = data
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert np.isnan(spearman(a, b)) and np.isnan(kendall_tau_b(a, b))
    else:
        assert_allclose(spearman(a, b), spearmanr(a, b).statistic, atol=1e-12)
        assert_allclose(kendall_tau_b(a, b), kendalltau(a, b).statistic, atol=1e-12)


@given(table=TABLES)
def test_correlations_work_by_column(table):
    first = np.broadcast_to(table[:, :1], table.shape)
    for function in (spearman, kendall_tau_b):
        each = [function(table[:, 0], table[:, r]) for r in range(table.shape[1])]
        assert_allclose(function(first, table), each, atol=1e-12)


@given(table=TABLES)
def test_average_ranks_are_scipys(table):
    assert_allclose(average_ranks(table), rankdata(-table, axis=0))


@given(table=TABLES)
def test_rank_probabilities_are_doubly_stochastic(table):
    chances = rank_probabilities(table)
    assert_allclose(chances.sum(axis=0), 1)
    assert_allclose(chances.sum(axis=1), 1)
    assert (chances >= 0).all()
    ranks = np.arange(1, len(table) + 1)
    assert_allclose(chances @ ranks, average_ranks(table).mean(axis=1), atol=1e-12)


@given(table=TABLES)
def test_the_chance_to_be_best_is_shared_by_the_best(table):
    best = table == table.max(axis=0)
    expected = (best / best.sum(axis=0)).mean(axis=1)
    assert_allclose(rank_probabilities(table)[:, 0], expected, atol=1e-12)


@given(table=TABLES)
def test_wins_of_both_sides_add_up(table):
    wins = beats(table)
    assert_allclose(wins + wins.T, 1)
    for a in range(len(table)):
        for b in range(len(table)):
            expected = np.mean(
                [np.sign(x - y) / 2 + 0.5 for x, y in zip(table[a], table[b], strict=True)]
            )
            assert_allclose(wins[a, b], expected, atol=1e-12)


def test_identical_models_share_everything():
    same = np.repeat(np.random.default_rng(1).random((1, 50)), 3, axis=0)
    assert_allclose(rank_probabilities(same), 1 / 3)
    assert_allclose(beats(same), 0.5)
    assert_allclose(average_ranks(same), 2)


def test_rounding_errors_do_not_break_ties():
    good = higher_is_better(np.array([0.1 + 0.2, 0.3, 0.3 + 1e-9]), "higher")
    assert_array_equal(average_ranks(good), [2.5, 2.5, 1])
    assert_array_equal(average_ranks(higher_is_better(np.array([1.0, 2.0]), "lower")), [1, 2])


def test_values_closer_than_1e_12_are_tied_and_others_are_not():
    near = np.array([0.7, 0.7 + 4e-15, 0.7 + 2e-13, 0.9])
    assert_array_equal(average_ranks(higher_is_better(near, "higher")), [3, 3, 3, 1])
    assert_array_equal(average_ranks(higher_is_better(near, "lower")), [2, 2, 2, 4])
    far = higher_is_better(np.array([0.7, 0.7 + 1e-11]), "higher")
    assert_array_equal(average_ranks(far), [2, 1])
    assert np.isnan(spearman(near[:3], np.arange(3.0)))  # one of them does not vary


def test_undefined_replicates_are_left_out():
    table = np.array([[0.9, np.nan, 0.1], [0.5, 0.5, 0.5]])
    assert_allclose(rank_probabilities(table), 0.5)
    assert_allclose(beats(table)[0, 1], 0.5)
    assert np.isnan(average_ranks(table)[:, 1]).all()
    nothing = np.full((2, 3), np.nan)
    assert np.isnan(rank_probabilities(nothing)).all() and np.isnan(beats(nothing)).all()
    assert np.isnan(spearman(table, table)[1]) and np.isnan(kendall_tau_b(table, table)[1])

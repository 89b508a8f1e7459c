"""Metrics of numbers against mean ratings: equal to scipy, to loops, and to differences."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from equipoise import InputError
from equipoise.metrics import Copies, correlations, named
from equipoise.study.uncertainty import influence_of

NAMES = (
    *("pearson", "concordance", "rmse", "r_squared", "absolute_error"),
    *("spearman", "kendall_tau_b", "pairwise_accuracy"),
)
SMOOTH = NAMES[:4]


def sample(size: int, seed: int, *, ties: bool) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    rating = random.integers(1, 6, size) + (0 if ties else random.random(size))
    said = rating + random.normal(0, 1, size)
    return rating.astype(float), np.round(said) if ties else said


def lin(y: np.ndarray, s: np.ndarray) -> float:
    both = np.mean((y - y.mean()) * (s - s.mean()))
    return float(2 * both / (y.var() + s.var() + (y.mean() - s.mean()) ** 2))


def pairs_alike(y: np.ndarray, s: np.ndarray) -> float:
    """The best share over all thresholds, pair by pair."""
    pairs = [(s[i] - s[j], np.sign(y[i] - y[j])) for i, j in combinations(range(len(y)), 2)]
    thresholds = [-1.0, *{abs(gap) for gap, _ in pairs}]
    return max(
        np.mean([wanted == (0 if abs(gap) <= t else np.sign(gap)) for gap, wanted in pairs])
        for t in thresholds
    )


ORACLES = {
    "pearson": lambda y, s: stats.pearsonr(y, s)[0],
    "spearman": lambda y, s: stats.spearmanr(y, s)[0],
    "kendall_tau_b": lambda y, s: stats.kendalltau(y, s)[0],
    "concordance": lin,
    "rmse": lambda y, s: np.sqrt(np.mean((y - s) ** 2)),
    "absolute_error": lambda y, s: np.mean(np.abs(y - s)),
    "r_squared": lambda y, s: 1 - np.mean((y - s) ** 2) / y.var(),
    "pairwise_accuracy": pairs_alike,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_others(name: str, seed: int) -> None:
    y, s = sample(5 + 35 * (seed % 2), seed, ties=seed > 1)
    assert getattr(correlations, name)(y, s) == pytest.approx(ORACLES[name](y, s), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_copies_are_the_same_as_the_items_repeated(name: str) -> None:
    y, s = sample(30, 7, ties=True)
    times = np.random.default_rng(1).integers(0, 4, 30)
    metric = getattr(correlations, name)
    repeated = metric(np.repeat(y, times), np.repeat(s, times))
    assert metric(y, s, weights=Copies(times)) == pytest.approx(repeated, abs=1e-12)


@pytest.mark.parametrize("name", [*SMOOTH, "absolute_error"])
def test_derivatives_are_those_of_small_steps(name: str) -> None:
    y, s = sample(25, 3, ties=False)
    metric = named(name).among(("1 to 6",))
    share, step = (y - 1) / 5, 1e-6
    found = influence_of(metric, metric.prepare(s), share[None])
    assert found.value == pytest.approx(getattr(correlations, name)(y, s))
    for i in range(0, 25, 6):
        moved = [share.copy(), share.copy()]
        moved[0][i] += step
        moved[1][i] -= step
        up, down = (metric(part, s) for part in moved)
        assert found.shares[i] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-8)
        weights = np.ones((25, 1))
        weights[i] += step
        more = float(metric.score(share, metric.prepare(s), weights)[0])
        assert found.items[i] == pytest.approx((more - found.value) / step, rel=1e-3, abs=1e-7)
    assert found.items.sum() == pytest.approx(0.0, abs=1e-12)


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_laws_of_order_and_scale(seed: int) -> None:
    y, s = sample(12, seed, ties=seed % 2 == 0)
    order = np.random.default_rng(seed).permutation(12)
    for name in NAMES:
        metric = getattr(correlations, name)
        here = metric(y, s)
        assert metric(y[order], s[order]) == pytest.approx(here, abs=1e-12, nan_ok=True)
    for name in ("pearson", "spearman", "kendall_tau_b", "pairwise_accuracy"):
        metric = getattr(correlations, name)
        assert metric(y, 3 * s + 7) == pytest.approx(metric(y, s), abs=1e-9, nan_ok=True)
    for name in ("spearman", "kendall_tau_b"):
        metric = getattr(correlations, name)
        assert metric(y, -s) == pytest.approx(-metric(y, s), abs=1e-12, nan_ok=True)


def test_what_does_not_vary_is_undefined() -> None:
    flat = np.ones(5)
    for name in ("pearson", "spearman", "kendall_tau_b", "r_squared"):
        assert np.isnan(getattr(correlations, name)(flat, np.arange(5.0))), name
    assert correlations.concordance(flat, flat + 1) == 0.0


def test_bad_input_is_refused() -> None:
    for y, s in (([1, 2], [1, 2, 3]), ([], []), ([[1, 2]], [[1, 2]]), ([1, np.nan], [1, 2])):
        with pytest.raises(InputError):
            correlations.pearson(y, s)

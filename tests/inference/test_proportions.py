"""Proportions: exact for independent units, valid in clusters, monotone in successes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binomtest, norm

from equipoise.inference.proportions import (
    Trials,
    clopper_pearson,
    paired_difference,
    proportion,
    tango,
)
from equipoise.inference.spread import Spread


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("hits", "number"), [(34, 34), (33, 34), (15, 16), (0, 7), (3, 400)])
def test_independent_units_have_the_interval_of_clopper_and_pearson(hits, number, level):
    expected = binomtest(hits, number).proportion_ci(level, "exact")
    outcome = np.repeat([1.0, 0.0], [hits, number - hits])
    interval = proportion(outcome, level=level)
    assert_allclose(interval[1:3], expected, atol=1e-12)
    assert interval.effective == interval.trials == number
    alone = proportion(outcome, cluster=np.arange(number), level=level)
    assert_allclose(alone[:3], interval[:3], atol=1e-12)


def slow_tango(ahead, behind, number, level):
    """Where the score of the constrained maximum of the likelihood is critical."""
    critical, both = norm.ppf(0.5 + level / 2), number - ahead - behind

    def score(gap):
        def loss(share):  # of units that succeed in the second alone
            cells = np.array([share + gap, share, 1 - 2 * share - gap])
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.array([ahead, behind, both]) * np.log(cells)
            return -np.nansum(logs) if (cells >= 0).all() else np.inf

        bounds = (max(0.0, -gap), (1 - gap) / 2)
        share = minimize_scalar(
            loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}
        ).x
        return (ahead - behind - number * gap) / np.sqrt(number * (2 * share + gap - gap**2))

    value = (ahead - behind) / number
    return (
        brentq(lambda gap: score(gap) - critical, -1 + 1e-9, value),
        brentq(lambda gap: score(gap) + critical, value, 1 - 1e-9),
    )


@pytest.mark.parametrize("counts", [(9, 2, 61), (2, 9, 61), (1, 5, 40), (10, 10, 200)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_a_paired_difference_has_tangos_interval(counts, level):
    assert_allclose(tango(*counts, level), slow_tango(*counts, level), atol=1e-6)
    ahead, behind, number = counts
    cells = [ahead, behind, number - ahead - behind]
    outcomes = np.repeat([[1, 0, 1], [0, 1, 1]], cells, axis=1)
    assert_allclose(paired_difference(outcomes, level=level)[1:3], tango(*counts, level))


def test_a_difference_read_from_the_other_side_changes_its_sign():
    low, high = tango(1, 0, 44)
    assert_allclose(tango(0, 1, 44), (-high, -low), atol=1e-12)
    assert low < 0 < 1 / 44 < high


@given(st.integers(1, 11), st.sampled_from([1, 2, 3, 5]), st.integers(0, 2**32 - 1))
def test_one_more_success_raises_both_ends(half, size, seed):
    random = np.random.default_rng(seed)
    number = 3 * half + 9
    outcome = (random.random(number) < 0.7).astype(float)
    cluster = np.arange(number) // size
    fails = np.flatnonzero(outcome == 0)
    if not len(fails):
        return
    better = outcome.copy()
    better[random.choice(fails)] = 1
    before = proportion(outcome, cluster=cluster, pooled=0.3)
    after = proportion(better, cluster=cluster, pooled=0.3)
    if size == 1:
        assert after.low >= before.low and after.high >= before.high
    assert after.value > before.value
    assert 0 <= after.low <= after.value <= after.high <= 1


def slow_effective(outcome, weights, cluster, annotators, pooled, level):
    """The definition, in loops."""
    from scipy.stats import t

    total = sum(weights)
    value = sum(w * x for w, x in zip(weights, outcome, strict=True)) / total
    number = total**2 / sum(w * w for w in weights)
    influence = [w * (x - value) / total for w, x in zip(weights, outcome, strict=True)]
    loads, sums = {}, {}
    for code, weight, moved in zip(cluster, weights, influence, strict=True):
        loads[code] = loads.get(code, 0) + weight
        sums[code] = sums.get(code, 0) + moved
    clusters = total**2 / sum(load**2 for load in loads.values())
    size, spread = number / clusters, sum(moved**2 for moved in influence)
    if not spread:  # one more success and one more failure
        share = (value * number + 1) / (number + 2)
        unit = share * (1 - share)
        likeness = pooled
    else:
        unit, likeness = spread * number, None
        excess = (sum(s**2 for s in sums.values()) / spread - 1) / (size - 1)
        excess += (1 + (size - 1) * max(excess, 0)) / number
    hits = sum(w for w, x in zip(weights, outcome, strict=True) if x == 1)
    events = number * min(hits, total - hits) / total
    if likeness is None:
        likeness = (events * min(max(excess, 0), 1) + 5 * pooled) / (events + 5)
    design = 1 + (size - 1) * likeness + annotators * number / unit
    df = design**2 / (1 / (number - 1) + (design - 1) ** 2 / (clusters - 1))
    shrunk = (t.ppf(0.5 + level / 2, number - 1) / t.ppf(0.5 + level / 2, df)) ** 2
    return min(number / design * shrunk, number)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("annotators", [0.0, 0.003])
@pytest.mark.parametrize("pooled", [0.0, 0.2])
@pytest.mark.parametrize("alike", [None, 0.0, 1.0])
def test_effective_units_are_those_of_the_definition(level, annotators, pooled, alike):
    random = np.random.default_rng(3)
    cluster = random.integers(0, 20, 70)
    leaning = random.standard_normal(20)[cluster]
    outcome = (leaning + random.standard_normal(70) > -0.5).astype(float)
    outcome = outcome if alike is None else np.full(70, alike)
    weights = random.choice([0.25, 0.5, 0.75, 1.0], 70)
    effective = Trials.of(outcome, weights, cluster, annotators).effective(level, pooled)
    expected = slow_effective(outcome, weights, cluster, annotators, pooled, level)
    assert effective == pytest.approx(expected, rel=1e-10)
    assert effective < 70


def test_nothing_that_varied_takes_the_correlation_of_the_study():
    cluster = np.arange(30) // 3
    unknown, low = proportion(np.ones(30), cluster=cluster), clopper_pearson(1.0, 30)[0]
    assert unknown.low < proportion(np.ones(30), cluster=cluster, pooled=0.0).low == low
    assert unknown.high == 1.0


def test_too_few_clusters_withhold_the_interval():
    outcome, cluster = np.repeat([1.0, 0.0], 15), np.arange(30) % 3
    assert np.isnan(proportion(outcome, cluster=cluster)[1:3]).all()
    assert np.isfinite(proportion(outcome, cluster=cluster, pooled=0.1)[1:3]).all()
    assert np.isnan(paired_difference([outcome, outcome], cluster=cluster)[1:3]).all()
    assert np.isnan(proportion(np.zeros(0))[:3]).all()


@pytest.mark.parametrize("size", [1, 3, 10])
def test_coverage_in_clusters(size):
    random, hits, share = np.random.default_rng(size), [], 0.9
    for _ in range(300):
        groups = -(-100 // size)
        centre = random.beta(share * 4, (1 - share) * 4, groups) if size > 1 else share
        chance = np.repeat(centre, size)[:100] if size > 1 else share
        outcome = (random.random(100) < chance).astype(float)
        interval = proportion(outcome, cluster=np.arange(100) // size)
        hits.append(interval.low <= share <= interval.high)
    assert 0.93 <= np.mean(hits) <= 1.0


def test_a_plain_interval_of_clustered_units_would_fail():
    random, hits, share = np.random.default_rng(1), [], 0.9
    for _ in range(300):
        chance = np.repeat(random.beta(share * 4, (1 - share) * 4, 10), 10)
        outcome = (random.random(100) < chance).astype(float)
        interval = proportion(outcome)
        hits.append(interval.low <= share <= interval.high)
    assert np.mean(hits) < 0.9


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_a_spread_counts_clustered_units_at_its_own_level(level):
    outcome = (np.random.default_rng(2).random(60) < 0.7) * 1.0
    trials = Trials.of(outcome, cluster=np.arange(60) // 4)
    spread = Spread(trials.by_cluster, df_items=14.0, trials=trials)
    effective = trials.effective(level) * trials.precision
    assert effective != pytest.approx(trials.effective() * trials.precision, rel=1e-3)
    ends = clopper_pearson(trials.value, effective, level)
    assert spread.interval(trials.value, level) == pytest.approx(ends)

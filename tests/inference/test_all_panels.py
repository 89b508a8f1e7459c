"""Panels that are listed: every distinct resample with its probability, against brute force."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.inference.estimate import Estimate
from equipoise.inference.ranks import beats, rank_probabilities
from equipoise.inference.resampling import Resampling, distinct_panels, resample
from equipoise.study import evaluate
from equipoise.types import Predictions
from tests.oracles import bootstrap
from tests.strategies import names


def study(readers, items=24, seed=4):
    """Votes with gaps, and three models."""
    random = np.random.default_rng(seed)
    quality = random.random(items)
    votes = (random.random((items, readers)) < quality[:, None]).astype(float)
    votes[random.random(votes.shape) < 0.1] = np.nan
    votes[np.isnan(votes).all(axis=1), 0] = 1.0
    scores = [quality + random.normal(0, spread, items) for spread in (0.2, 0.4, 0.5)]
    given = [Predictions(f"m{k}", names(items), one) for k, one in enumerate(scores)]
    return votes, bootstrap.annotations(votes), given


def every_draw(votes, given):
    """Soft AUROC of each model under all A^A ordered draws, shape (models, draws)."""
    readers, found = votes.shape[1], []
    for drawn in product(range(readers), repeat=readers):
        weight = np.where(np.isnan(votes), 0, np.bincount(drawn, minlength=readers))
        total = weight.sum(axis=1)
        left = total > 0
        mean = (weight * np.nan_to_num(votes)).sum(axis=1)[left] / total[left]
        metric = bootstrap.METRICS["auroc"]
        found.append([metric(mean, one.values[left]) for one in given])
    return np.array(found).T


@pytest.mark.parametrize("size", [2, 3, 5, 7])
def test_the_listed_panels_are_the_multinomial_distribution(size):
    counts, weights = distinct_panels(size)
    assert len({tuple(one) for one in counts.T}) == counts.shape[1] == len(weights)
    assert_array_equal(counts.sum(axis=0), size)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    times = counts.astype(float)
    assert_allclose(times @ weights, 1)
    centred = times - 1
    assert_allclose((centred * weights) @ centred.T, np.eye(size) - 1 / size, atol=1e-12)


@pytest.mark.parametrize("readers", [3, 4])
def test_listed_panels_equal_all_draws_with_replacement(readers):
    votes, truth, given = study(readers)
    done = evaluate(given, truth, metrics=["auroc"], resampling=resample(truth, "panel"))
    whole = every_draw(votes, given)
    wide, weights = whole, done.plan.weights
    for m, model in enumerate(done.models):
        drawn = done.estimate(model, "auroc").replicates
        one = Estimate(float(done.values[0, 0, 1, m]), drawn, "", weights=weights)
        assert one.standard_error == pytest.approx(wide[m].std(), rel=1e-9)
        assert one.shift == pytest.approx(wide[m].mean() - one.value, rel=1e-9)
        for level in (0.5, 0.9, 0.95):
            tail = (1 - level) / 2
            low = np.quantile(wide[m], tail, method="inverted_cdf")
            high = -np.quantile(-wide[m], tail, method="inverted_cdf")
            assert one.interval(level) == pytest.approx((low, high), abs=1e-12)
    raw = np.round(whole, 12)
    assert_allclose(done.rank_probabilities("auroc"), rank_probabilities(raw), atol=1e-9)
    best = [row.p_best for row in done.table() if row.labels == "soft"]
    assert_allclose(best, rank_probabilities(raw)[:, 0], atol=1e-9)
    wins = {(one.a, one.b): one.p_better for one in done.differences("auroc")}
    for (a, b), share in wins.items():
        places = done.models.index(a), done.models.index(b)
        assert share == pytest.approx(beats(raw)[places], abs=1e-9)
    assert len(weights) == done.replicates.shape[-1] < whole.shape[1]


def test_undefined_replicates_count_by_their_weight_against_both_ends():
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    one = Estimate(2.0, np.array([np.nan, 1.0, 2.0, 3.0]), "plan", weights=weights)
    assert one.undefined == pytest.approx(0.1)
    assert one.interval(0.5) == (1.0, 3.0)
    low, high = one.interval(0.85)
    assert np.isnan(low) and np.isnan(high)
    ahead = one - Estimate(0.0, np.array([0.0, 0.0, 2.0, 0.0]), "plan", weights=weights)
    assert_array_equal(ahead.weights, weights)


@pytest.mark.parametrize(("readers", "panels"), [(3, 10), (5, 126), (6, 462), (7, 1716)])
def test_a_panel_is_listed_where_the_replicates_suffice(readers, panels):
    _, truth, _ = study(readers)
    listed, few = resample(truth, "panel"), resample(truth, "panel", replicates=panels - 1)
    assert listed.replicates == panels == len(listed.weights)
    assert few.weights is None and few.replicates == panels - 1
    exactly = resample(truth, "panel", replicates=panels)
    assert exactly.weights is not None and exactly.replicates == panels
    assert listed.fingerprint != few.fingerprint
    chunks = [listed.annotator_counts(0, 4), listed.annotator_counts(4, panels)]
    assert_array_equal(np.concatenate(chunks, axis=1), distinct_panels(readers)[0])


def test_a_large_panel_is_drawn():
    _, truth, _ = study(8)
    assert resample(truth, "panel").weights is None


@pytest.mark.parametrize("seed", range(3))
def test_joint_resamples_take_each_panel_as_often_as_it_should_occur(seed):
    plan = Resampling(
        kind="items x panel", items=names(9), annotators=5, replicates=2000, seed=seed
    )
    counts, weights = distinct_panels(5)
    place = {tuple(one): k for k, one in enumerate(counts.T)}
    taken = [place[tuple(one)] for one in plan.annotator_counts(0, 2000).T]
    times = np.bincount(taken, minlength=len(weights))
    assert np.abs(times - 2000 * weights).max() < 3
    again = plan.annotator_counts(0, 2000)
    assert again.tobytes() == plan.annotator_counts(0, 2000).tobytes()
    assert_array_equal(plan.annotator_counts(700, 764), again[:, 700:764])


def test_the_seed_decides_which_panel_meets_which_items():
    first, second = (
        Resampling(kind="items x panel", items=names(9), annotators=4, seed=seed)
        for seed in (0, 1)
    )
    assert (first.annotator_counts(0, 64) != second.annotator_counts(0, 64)).any()

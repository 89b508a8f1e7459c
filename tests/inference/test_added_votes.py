"""Items may differ in how many votes they have: a plan that adds votes makes results surer.

The full study is ``python -m benchmarks inference --added``. Seeds are fixed.
"""

import numpy as np
import pytest
from benchmarks._added_votes import study_rows
from numpy.testing import assert_allclose

from equipoise.inference.ballots import expected_shares, predicted_shares, regression_moments
from tests.oracles.two_way import expected_share


def shares_and_scores(items=60, models=3, seed=0):
    random = np.random.default_rng(seed)
    scores = random.normal(size=(models, items)) + 5.0
    return random.random(items).round(1), scores


def test_shares_are_expected_from_all_other_items():
    shares, scores = shares_and_scores()
    assert_allclose(expected_shares(shares, scores), expected_share(shares, scores), atol=1e-12)


def test_models_that_say_the_same_or_nothing_predict_as_one_of_them():
    shares, scores = shares_and_scores(models=1)
    twice = np.vstack([scores, scores, np.full_like(scores, 1e6)])
    assert_allclose(expected_shares(shares, twice), expected_shares(shares, scores), atol=1e-5)


def test_expected_shares_follow_from_sums_over_parts():
    shares, scores = shares_and_scores()
    parts = [slice(0, 25), slice(25, 60)]
    sums = sum(regression_moments(shares[part], scores[:, part]) for part in parts)
    joined = [predicted_shares(sums, shares[part], scores[:, part]) for part in parts]
    assert_allclose(np.concatenate(joined), expected_shares(shares, scores), atol=1e-12)


@pytest.mark.parametrize("per_item", [1.5, 2.0])
def test_planned_votes_make_results_surer_than_as_many_spread_evenly(per_item):
    even, planned = (study_rows(40, per_item, policy) for policy in ("balanced", "planned"))
    assert planned[:, 1].mean() <= even[:, 1].mean()
    assert min(planned[:, 0].mean(), even[:, 0].mean()) >= 0.9  # 0.95, less 1.5 errors of 40
    assert planned[:, 1].mean() < 3.3 * planned[:, 2].std()  # a lost factor makes it 8

"""Flips with infinite scores: no warning, and the sets are those of brute force."""

from itertools import combinations

import numpy as np
import pytest

from equipoise.analyses.flips import flips
from equipoise.analyses.flips.search import _cost, _gained
from equipoise.predictions import Predictions
from tests.oracles import bootstrap
from tests.strategies import names

ITEMS = 10
RANDOM = np.random.default_rng(5)
VOTES = np.repeat((np.arange(ITEMS) % 2)[:, None], 3, axis=1) * 1.0
VOTES[0] = [1, 1, 0]
SURE = np.clip(VOTES[:, 1], 0.02, 0.98)
SURE[0] = 1.0  # one vote against it makes the score infinite
MILD = [np.clip(VOTES.mean(axis=1) + RANDOM.normal(0, 0.1, ITEMS), 0.1, 0.9) for _ in range(2)]


def models(scores, task=""):
    return [Predictions(f"m{k}", names(ITEMS), s, task=task) for k, s in enumerate(scores)]


def score(votes, scores, keep):
    share, keep = votes.mean(axis=1), list(keep)
    with np.errstate(divide="ignore"):
        right = np.where(share > 0, share * -np.log(scores), 0)
        wrong = np.where(share < 1, (1 - share) * -np.log1p(-scores), 0)
    return float((right + wrong)[keep].mean())


def test_a_rival_with_an_infinite_score_overtakes_without_that_item():
    scores = [*MILD, SURE]
    done = flips(models(scores), bootstrap.annotations(VOTES), metric="log_score")
    assert np.isinf(score(VOTES, SURE, range(ITEMS)))
    least = next(
        size for size in range(1, ITEMS)
        for gone in combinations(range(ITEMS), size)
        if np.argmin([score(VOTES, s, set(range(ITEMS)) - set(gone)) for s in scores])
        != np.argmin([score(VOTES, s, range(ITEMS)) for s in scores])
    )  # fmt: skip
    assert least == 1
    assert "leaving out 1 of 10 items" in done.finding


@pytest.mark.parametrize("unit", ["items", "votes", "changed votes"])
def test_no_search_with_infinite_scores_warns(unit):
    truth, how = bootstrap.annotations(VOTES), {"metric": "log_score", "unit": unit}
    wrong = 1 - np.round(VOTES[:, 1])
    for scores in ([*MILD, SURE], [*MILD, wrong], [SURE, wrong, MILD[0]], [wrong, wrong]):
        done = flips(models(scores), truth, **how)
        assert "nan" not in done.finding and "inf" not in done.finding
    level = flips(models([wrong, wrong, wrong]), truth, **how)
    assert "tied at the top" in level.finding


def test_what_an_infinite_lead_loses():
    lead, gaps = np.inf, np.array([np.inf, 0.5])
    assert _gained(lead, gaps).tolist() == [0, np.inf]
    assert _gained(1.0, np.array([np.inf, 0.25])).tolist() == [-np.inf, 0.75]
    assert _cost(np.inf, np.array([1.0, np.inf])) == 1
    assert _cost(np.inf, np.array([1.0, 2.0])) == np.inf
    assert _cost(1.0, np.array([0.5, 1.5])) == 1

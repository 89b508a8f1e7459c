"""Bounds of flips: never above what exhaustive search reaches, and exact where said to be."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.analyses.flips import flips
from equipoise.analyses.flips.bounds import Auroc, excluded, lowest_leads
from equipoise.analyses.flips.moves import UNITS, RemovalScorer, possible_moves
from equipoise.analyses.flips.search import LeaderSearch
from equipoise.analyses.options import AnalysisOptions
from equipoise.analyses.scoring import study
from tests.oracles import flips as oracle
from tests.test_stability_flips_oracle import as_given, drawn

DEEP = 3


def fields(votes, scores, metric, unit, labels="soft"):
    found = study(*as_given(votes, scores), AnalysisOptions(metric=metric, labels=labels))
    return [RemovalScorer(one, possible_moves(one, unit)) for one in found.subjects]


def lowest(votes, scores, metric, unit, labels="soft"):
    """Lowest lead of model 0 over model 1 after at most 0, 1, ... moves, by trying all."""
    every = oracle.every_move(votes, unit)
    found = []
    for size in range(DEEP + 1):
        gaps = [
            -np.diff(
                oracle.goodness(oracle.moved(votes, one, unit), scores, metric, labels)[:2]
            )
            for one in combinations(every, size)
        ]
        found.append(np.nanmin([np.inf, *np.concatenate(gaps)]))
    return np.minimum.accumulate(found)


def small(seed, unit, panel, **more):
    return drawn(seed, items=6 if unit == "items" else 4, panel=panel, models=2, **more)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("panel", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_no_set_leaves_less_than_the_bound(seed, panel, unit):
    votes, scores = small(seed, unit, panel)
    (field,) = fields(votes, scores, "auroc", unit)
    bound = lowest_leads(field, [0, 1], [1, 0], DEEP)
    assert np.isfinite(bound[:, 0]).all() and (bound[:, 1:] <= bound[:, :-1]).all()
    for row, order in zip(bound, ([0, 1], [1, 0]), strict=True):
        true = lowest(votes, [one[order] for one in scores], "auroc", unit)
        assert (row <= true + 1e-9).all()
        assert_allclose(row[0], true[0], atol=1e-9)
        if unit == "changed votes":
            assert_allclose(np.sign(row.round(9)), np.sign(true.round(9)))


def numerator(votes, scores):
    """Sum over pairs of items of what model 0 wins more than model 1."""
    kept = ~np.isnan(votes).all(axis=1)
    p = np.nanmean(votes[kept], axis=1)
    wins = [
        (one[kept][:, None] > one[kept]) + (one[kept][:, None] == one[kept]) / 2
        for one in scores
    ]
    each = p[:, None] * (1 - p) * (wins[0] - wins[1])
    return each.sum() - np.trace(each)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("panel", [1, 2])
def test_no_set_takes_more_of_the_numerator_than_the_bound(panel, unit):
    tight = 0
    for seed in range(60):
        votes, scores = drawn(seed + 200, items=5, panel=panel, models=2)
        (field,) = fields(votes, scores, "auroc", unit)
        bound = Auroc.of(field, [0], [1]).bound(field, DEEP)
        assert_allclose(bound.lead[0], numerator(votes[0], scores[0]), atol=1e-9)
        every = oracle.every_move(votes, unit)
        most = 0.0
        for size in range(1, DEEP + 1):
            for one in combinations(every, size):
                (after,) = oracle.moved(votes, one, unit)
                if not np.isnan(after).all():
                    most = max(most, bound.lead[0] - numerator(after, scores[0]))
            assert most <= bound.fall[0, size] + 1e-9
            tight += most > bound.fall[0, size] - 1e-9
    assert tight > 40  # of 180


def test_two_items_can_take_more_together_than_each_alone():
    votes = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    scores = np.array([[1, 3, 2, 0], [1, 0, 2, 3]], dtype=float)
    (field,) = fields([votes], [scores], "auroc", "items")
    bound = Auroc.of(field, [0], [1]).bound(field, 2)
    alone = [-numerator(np.delete(votes, i, 0), np.delete(scores, i, 1)) for i in range(4)]
    taken = max(
        -numerator(np.delete(votes, both, 0), np.delete(scores, both, 1))
        for both in combinations(range(4), 2)
    )
    assert taken == pytest.approx(1 / 3) and max(alone) < 1e-9
    assert bound.fall[0, 2] >= taken - 1e-9


@pytest.mark.parametrize("labels", ["soft", "hard"])
@pytest.mark.parametrize("seed", range(6))
def test_differences_of_items_add_up_exactly_for_means(seed, labels):
    votes, scores = small(seed, "items", 3)
    (field,) = fields(votes, scores, "brier_score", "items", labels)
    (bound,) = lowest_leads(field, [0], [1], DEEP)
    true = lowest(votes, scores, "brier_score", "items", labels)
    assert (bound <= true + 1e-9).all()
    assert_allclose(np.sign(bound.round(9)), np.sign(true.round(9)))
    assert_allclose(bound[:2][true[:2] < 0], true[:2][true[:2] < 0], atol=1e-9)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_tasks_are_shared_out_over_the_average(seed, unit):
    votes, scores = drawn(seed + 9, tasks=2, items=4, panel=1 + seed % 2, models=2)
    two = fields(votes, scores, "auroc", unit)
    contest = LeaderSearch("macro average", tuple(two))
    if not contest.rivals:
        pytest.skip("level")
    order = [contest.leaders[0], contest.rivals[0]]
    (bound,) = contest.lowest(DEEP).values()
    true = lowest(votes, [one[order] for one in scores], "auroc", unit)
    assert (bound <= true + 1e-9).all()
    assert_allclose(bound[0], true[0], atol=1e-9)


def test_nothing_is_proved_where_no_bound_is_known():
    votes, scores = small(1, "items", 3)
    for metric, unit in (("average_precision", "items"), ("brier_score", "votes")):
        (field,) = fields(votes, scores, metric, unit)
        bound = lowest_leads(field, [0], [1], DEEP)
        assert np.isfinite(bound[:, 0]).all() and np.isneginf(bound[:, 1:]).all()


def test_what_is_excluded_does_not_exist():
    proofs = 0
    for seed in range(60):
        votes, scores = drawn(seed + 300, items=7, panel=3, models=3)
        best = np.nanmean(votes[0], axis=1)
        scores[0][0] = best + (seed % 3) * (scores[0][0] - best) / 3
        contest = LeaderSearch("", tuple(fields(votes, scores, "auroc", "items")))
        for rival in contest.rivals:
            pair = [one[[*contest.leaders, rival]] for one in scores]
            true = oracle.smallest(votes, pair, "auroc", unit="items", deep=2)
            sure = [excluded(contest.scorers, contest.leaders, rival, size) for size in (1, 2)]
            assert not (sure[0] and true == 1) and not (sure[1] and true <= 2)
            proofs += sure[1]
    assert proofs > 20


def test_two_items_are_not_excluded_by_what_each_takes_alone():
    said = np.array([2, 3, 1, 0, 2])
    votes = (np.arange(3) < said[:, None]).astype(float)
    scores = np.array([[4, 3, 0, 1, 2], [1, 3, 4, 2, 0]], dtype=float)
    contest = LeaderSearch("", tuple(fields([votes], [scores], "auroc", "items")))
    assert contest.leaders == [0] and not excluded(contest.scorers, contest.leaders, 1, 2)
    assert oracle.smallest([votes], [scores], "auroc", unit="items") == 2


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("metric", ["auroc", "average_precision"])
def test_no_rival_alone_needs_less(metric, unit):
    later = 0
    for seed in range(4):
        votes, scores = drawn(seed + 70, items=30, panel=4, models=5)
        scores[0][0] = 0.5 * scores[0][0] + 0.5 * np.nanmean(votes[0], axis=1)
        predictions, truth = as_given(votes, scores)
        (flip,) = flips(predictions, truth, metric=metric, unit=unit).tasks
        later += len(flip.members) > 2
        for rival in predictions:
            if rival.model in flip.leaders or len(flip.members) < 2:
                continue
            kept = [one for one in predictions if one.model in {*flip.leaders, rival.model}]
            less = len(flip.members) - 1
            (alone,) = flips(kept, truth, metric=metric, unit=unit, most=less).tasks
            assert not alone.members
    assert later

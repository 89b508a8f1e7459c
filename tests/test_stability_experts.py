"""Experts as competitors: hand-made panels, loops written by hand, experts of known skill."""

import os
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.analyses.experts import experts, held_out
from equipoise.analyses.experts.equivalents import (
    equivalent_ends,
    equivalent_experts,
    share_ends,
)
from equipoise.analyses.experts.held_out import drawn_sizes, groups_against
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.metrics import accuracy, auroc, brier_score
from equipoise.predictions import Predictions
from equipoise.resampling import resample
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(21)
ITEMS = 300
TRUTH = RANDOM.random(ITEMS) < 0.5


def noisy(right, size=ITEMS):
    return np.where(RANDOM.random(size) < right, TRUTH[:size], ~TRUTH[:size]).astype(float)


VOTES = np.stack([noisy(r) for r in (0.95, 0.8, 0.8, 0.75, 0.7)], axis=1)
GAPS = np.where(RANDOM.random(VOTES.shape) < 0.3, np.nan, VOTES)
GAPS[np.isnan(GAPS).sum(axis=1) > 3] = VOTES[np.isnan(GAPS).sum(axis=1) > 3]


def model(values, name="model", items=ITEMS):
    return Predictions(name, names(items), np.asarray(values, dtype=float))


@pytest.mark.parametrize("votes", [VOTES, GAPS], ids=["complete", "with gaps"])
@pytest.mark.parametrize("metric", ["accuracy", "auroc", "brier_score"])
def test_experts_and_models_equal_a_loop(votes, metric):
    plain = {"accuracy": accuracy, "auroc": auroc, "brier_score": brier_score}[metric]
    scores = np.clip(TRUTH * 0.4 + 0.3 + RANDOM.normal(0, 0.2, ITEMS), 0, 1)
    done = experts(model(scores), bootstrap.annotations(votes), metric=metric, replicates=4)
    superior = []
    for e in range(5):
        others = np.delete(votes, e, axis=1)
        here = ~np.isnan(votes[:, e]) & ~np.isnan(others).all(axis=1)
        labels = _labels(np.nanmean(others[here], axis=1), metric)
        assert done.items[e] == here.sum()
        own = plain(labels, _answer(votes[here, e], metric))
        rival = plain(labels, _answer(scores[here], metric))
        assert_allclose(done.values[e], own, atol=1e-12)
        assert_allclose(done.model_values[e, 0], rival, atol=1e-12)
        assert_allclose(done.gap[e, 0], rival - own, atol=1e-12)
    for e, f in permutations(range(5), 2):
        here = ~np.isnan(votes[:, e]) & ~np.isnan(votes[:, f])
        labels = _labels(votes[here, e], metric)
        gap = plain(labels, _answer(scores[here], metric)) - plain(
            labels, _answer(votes[here, f], metric)
        )
        superior.append((gap < 0 if metric == "brier_score" else gap > 0) + (gap == 0) / 2)
    assert_allclose(done.superior[0], np.mean(superior), atol=1e-12)


def _labels(share, metric):
    return share if metric == "auroc" else np.stack([1 - share, share], axis=1)


_answer = _labels


def test_a_perfect_expert_stands_above():
    done = experts(
        [model(TRUTH, "perfect"), model(noisy(0.5), "guess")],
        bootstrap.annotations(VOTES),
        metric="accuracy",
        replicates=200,
    )
    assert done.experts[int(np.argmax(done.values))] == "reader-0"
    assert done.low[0] > done.high[4]
    assert done.mean_gap_low[0] > 0 > done.mean_gap_high[1]
    assert done.superior[0] > 0.9
    assert done.superior[1] < 0.1
    assert done.superior_high[1] < 0.5
    assert done.worth[0] > 2.5
    assert done.worth[1] == 0
    assert "perfect" in done.finding
    assert [row["kind"] for row in done.rows()] == ["expert"] * 5 + ["model"] * 2
    assert done.rows()[-1]["worth_words"] == "fewer than one expert"


def test_the_mean_of_two_experts_is_worth_two_experts():
    """A model that is the mean vote of two fresh experts, among experts of equal skill."""
    random = np.random.default_rng(2)
    truth = random.random(2000) < 0.5
    votes = np.where(random.random((2000, 8)) < 0.8, truth[:, None], ~truth[:, None]) * 1.0
    done = experts(
        model(votes[:, 6:].mean(axis=1), items=2000),
        bootstrap.annotations(votes[:, :6]),
        metric="auroc",
        replicates=60,
    )
    assert done.worth[0] == pytest.approx(2, abs=0.2)
    assert done.worth_low[0] < 2 < done.worth_high[0]
    assert (np.diff(done.crowd) > 0).all()
    assert "the mean of" in done.worth_words(0)
    assert f"worth {done.worth_words(0)} ({done.worth_range(0)})" in done.finding
    assert "But AUROC flatters the models: experts answer yes or no" in done.finding


def test_worth_in_words_and_in_numbers():
    lead = np.array([[-0.2, 0.1, -0.3, 0.0], [0.2, 0.2, -0.2, 0.1]])
    assert_array_equal(equivalent_experts(np.array([1, 2]), lead), [1.5, 0, np.inf, 1])
    assert np.isnan(equivalent_experts(np.array([1, 2]), np.array([[np.nan], [1.0]])))[0]


def test_a_model_beyond_all_experts_is_worth_more_than_there_are():
    random = np.random.default_rng(4)
    chance = random.random(500)
    votes = (random.random((500, 4)) < chance[:, None]) * 1.0
    done = experts(
        model(chance, items=500), bootstrap.annotations(votes), metric="auroc", replicates=20
    )
    assert done.worth[0] == np.inf
    assert done.worth_words(0) == "more than 3 experts"


def test_the_crowd_and_the_worth_equal_a_loop_over_all_groups():
    """Every group of k of five experts, with gaps, by hand; no seed can move it."""
    scores = np.clip(TRUTH * 0.3 + 0.35 + RANDOM.normal(0, 0.25, ITEMS), 0, 1)
    truth = bootstrap.annotations(GAPS)
    done = experts(model(scores), truth, metric="accuracy", replicates=3)
    lead = []
    for k in range(1, 5):
        crowd, ours = [], []
        for e in range(5):
            for group in combinations([f for f in range(5) if f != e], k):
                votes = GAPS[:, group]
                here = ~np.isnan(GAPS[:, e]) & ~np.isnan(votes).all(axis=1)
                labels = _labels(GAPS[here, e], "accuracy")
                crowd.append(accuracy(labels, _labels(np.nanmean(votes[here], axis=1), "")))
                ours.append(accuracy(labels, _labels(scores[here], "")))
        assert_allclose(done.crowd[k - 1], np.mean(crowd), atol=1e-12)
        lead.append([np.mean(crowd) - np.mean(ours)])
    assert_allclose(done.worth, equivalent_experts(np.arange(1, 5), np.array(lead)), atol=1e-9)
    again = experts(model(scores), truth, metric="accuracy", replicates=3, seed=8)
    assert_array_equal(done.worth, again.worth)
    assert_array_equal(done.crowd, again.crowd)
    assert done.every_group
    assert "flatters" not in done.finding


@pytest.mark.parametrize("metric", ["auroc", "average_precision", "accuracy", "brier_score",
                                    "quadratic_weighted_kappa", "precision_at_k:k=20",
                                    "average_precision:ties=random",
                                    "expected_calibration_error:binning=mass",
                                    "retained_samples_area"])  # fmt: skip
@pytest.mark.parametrize("labels", ["soft", "hard"])
def test_merging_items_changes_nothing(monkeypatch, metric, labels):
    rough = np.round(np.clip(TRUTH * 0.4 + 0.3 + RANDOM.normal(0, 0.2, ITEMS), 0, 1), 1)
    given, how = [model(rough), model(noisy(0.8), "sure")], {"metric": metric, "labels": labels}
    votes = bootstrap.annotations(GAPS[:, :4])
    one = experts(given, votes, replicates=12, **how)
    monkeypatch.setattr(held_out, "FEWER", np.inf)  # nothing is merged
    two = experts(given, votes, replicates=12, **how)
    for name in ("superior", "superior_low", "worth", "worth_low", "crowd", "crowd_high"):
        assert_allclose(getattr(one, name), getattr(two, name), atol=1e-9, err_msg=name)


def test_up_to_nine_experts_all_groups_are_taken_else_different_ones():
    plan = resample(bootstrap.annotations(VOTES), "items", replicates=40, seed=1)
    assert drawn_sizes(8) == []
    assert drawn_sizes(9) == []
    every = groups_against(3, 8, plan)
    assert every.members.shape == (8, 2**7 - 1)
    assert not every.members[3].any()
    assert len(np.unique(every.members, axis=1).T) == 2**7 - 1
    assert (every.weight == 1).all()
    some = groups_against(0, 16, plan)
    for place in np.unique(some.size):
        here = some.size == place
        assert len(np.unique(some.members[:, here], axis=1).T) == here.sum()
    drawn = some.weight[some.size == 3]
    assert (drawn[:, 0] == 1).all()
    assert (drawn.sum(axis=0) == len(drawn)).all()
    assert drawn[:, 1:].std() > 0.5


def test_which_groups_were_drawn_is_part_of_the_interval():
    """Sixteen experts of very different skill on two patients with the same items."""
    random = np.random.default_rng(3)
    truth = np.tile(random.random(30) < 0.5, 2)
    right = np.tile(random.random((30, 16)) < np.linspace(0.5, 1, 16), (2, 1))
    votes = np.where(right, truth[:, None], ~truth[:, None]) * 1.0
    given = replace(
        bootstrap.annotations(votes), groups=("a", "b"), group=np.repeat([0, 1], 30)
    )
    done = experts(model(truth, items=60), given, metric="accuracy", replicates=50)
    width = done.crowd_high - done.crowd_low
    assert width[0] < 1e-12  # all pairs are taken, and the items are always the same
    assert (width[1:-2] > 1e-3).all()  # groups of 2 to 11 are drawn


def test_a_share_of_all_pairs_is_not_certain():
    done = experts(
        [model(TRUTH, "perfect"), model(1 - TRUTH, "wrong")], bootstrap.annotations(VOTES),
        metric="accuracy", replicates=50,
    )  # fmt: skip
    assert_array_equal(done.pairs, [20, 20])
    low, high = done.superior_low, done.superior_high
    assert low[0] < done.superior[0] <= high[0] <= 1
    assert (low[1], done.superior[1]) == (0, 0)
    assert 0.2 < high[1] < 0.6
    assert "in none of 20 pairs (0% to" in done.superior_words(1)
    assert "in all 20 pairs (57% to 100%)" in done.finding


def test_the_share_of_pairs_is_covered_by_its_interval():
    """Experts drawn from a crowd: the model beats a colleague when it suits better."""
    random = np.random.default_rng(0)
    for lift in (0.0, 1.5, 2.5):
        crowd = random.normal(0, 1, (2, 4000))
        known = float((crowd[0] + lift > crowd[1]).mean())
        hits = []
        for _ in range(300):
            taste, skill = random.normal(0, 1, (2, 6))
            held, rival = np.array(list(permutations(range(6), 2))).T
            wins = (taste[held] + lift > skill[rival])[:, None, None] * np.ones((1, 1, 3))
            low, high = share_ends(wins, 6, 0.95)[:, 0]
            hits.append(low <= known <= high)
        assert np.mean(hits) >= 0.92


def test_ends_of_the_worth_are_replicates_and_may_be_endless():
    value = np.full((3, 101), 2.0)
    value[0, 1:] = np.arange(100)
    value[1, 50:] = np.inf
    value[2, 90:] = np.nan
    assert_array_equal(equivalent_ends(value, 0.9)[:, :2], [[4, 2], [95, np.inf]])
    assert np.isnan(equivalent_ends(value, 0.9)[:, 2]).all()


def test_several_classes_by_accuracy():
    random = np.random.default_rng(9)
    truth = random.integers(0, 3, 200)
    right = np.array([0.9, 0.6, 0.6, 0.6])
    label = np.where(random.random((200, 4)) < right, truth[:, None],
                     random.integers(0, 3, (200, 4)))  # fmt: skip
    item, annotator = (axis.ravel() for axis in np.indices((200, 4)))
    votes = Annotations(
        kind="nominal", items=names(200), classes=("a", "b", "c"), annotators=names(4, "p"),
        item=item, annotator=annotator, label=label.ravel(),
    )  # fmt: skip
    sure = Predictions("sure", names(200), np.eye(3)[truth], ("a", "b", "c"))
    done = experts(sure, votes, metric="accuracy", replicates=20)
    others = np.eye(3)[label[:, 1:]].mean(axis=1)
    assert_allclose(done.values[0], accuracy(others, np.eye(3)[label[:, 0]]), atol=1e-12)
    assert_allclose(done.model_values[0, 0], accuracy(others, np.eye(3)[truth]), atol=1e-12)
    assert np.argmax(done.values) == 0
    with pytest.raises(InputError, match="choose accuracy, or ask about one class"):
        experts(sure, votes, metric="auroc")


def test_known_truths_are_nobodys_opinion():
    gold = np.zeros(VOTES.size, dtype=bool)
    gold[:5] = True
    votes = VOTES.copy()
    votes[0] = 1
    truth = bootstrap.annotations(votes, is_gold=gold)
    done = experts(model(TRUTH), truth, metric="accuracy", replicates=3)
    assert (done.items == ITEMS - 1).all()


@pytest.mark.parametrize("metric", ["auroc", "accuracy", "brier_score", "log_score"])
def test_labels_that_are_all_the_same_give_no_warning(metric):
    done = experts(model(TRUTH), bootstrap.annotations(VOTES * 0 + 1), metric=metric,
                   replicates=9)  # fmt: skip
    if metric == "auroc":
        assert done.finding == "Soft AUROC of models and experts is undefined."
        assert np.isnan([done.superior, done.superior_low, done.superior_high]).all()


def test_many_experts_are_said_to_be_too_many():
    random = np.random.default_rng(6)
    votes = (random.random((30, 18)) < 0.5) * 1.0
    done = experts(
        model(random.random(30), items=30), bootstrap.annotations(votes), replicates=2
    )
    assert len(done.experts) == 18
    assert done.sizes[-1] == 15
    assert any("the 16 with most votes are compared" in str(said) for said in done.notices)
    assert any("2, 3, 5, 6, 8 or 11 experts" in str(said) for said in done.notices)
    assert not done.every_group


def test_same_seed_same_bytes_and_progress_is_told():
    told = []
    results = [
        experts(model(TRUTH), bootstrap.annotations(GAPS), metric="accuracy", replicates=9,
                seed=5, progress=lambda done, whole: told.append((done, whole)))
        for _ in range(2)
    ]  # fmt: skip
    assert str(results[0].rows()) == str(results[1].rows())
    assert (5, 5) in told


def test_infinite_scores_stay_without_a_traceback():
    done = experts(model(noisy(0.7)), bootstrap.annotations(VOTES), metric="log_score",
                   replicates=5)  # fmt: skip
    assert np.isinf(done.values).all()
    assert done.rows()
    assert done.finding


def test_bad_input_says_what_to_do():
    truth = bootstrap.annotations(VOTES)
    with pytest.raises(InputError, match="anonymous votes, expected at least three"):
        experts(model(TRUTH), truth.anonymous())
    with pytest.raises(InputError, match="2 annotators"):
        experts(model(TRUTH), bootstrap.annotations(VOTES[:, :2]))
    with pytest.raises(InputError, match="2 annotators with votes"):
        alone = VOTES.copy()
        alone[:, 2:] = np.nan
        experts(model(TRUTH), bootstrap.annotations(alone))
    ratings = Annotations(
        kind="interval", items=names(3), annotators=names(3, "p"), item=np.arange(3),
        annotator=np.arange(3), value=np.array([0.1, 0.5, 0.9]),
    )  # fmt: skip
    with pytest.raises(InputError, match="turn them into a yes/no question"):
        experts(model([0, 1, 0], items=3), ratings)


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="needs EQUIPOISE_DATA")
def test_chexpert_models_stand_within_or_above_the_human_range():
    from equipoise.datasets import chexpert

    study = chexpert()
    given = [one for one in study.predictions if one.model != "desmond"]
    done = experts(given, study.annotations, metric="accuracy", task="Edema", replicates=60)
    assert done.experts == ("bc1", "bc2", "bc3", "bc4", "bc5", "bc6", "bc7", "bc8")
    assert ((done.values > 0.7) & (done.values < 0.9)).all()
    assert (done.low < done.values).all()
    assert (done.values < done.high).all()
    assert (np.diff(done.crowd) > -1e-12).all()  # two who differ tie: no better than one
    assert ((done.superior >= 0) & (done.superior <= 1)).all()

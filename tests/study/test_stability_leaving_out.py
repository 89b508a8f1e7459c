"""Leaving annotators and thinly rated items out: infinite scores, level models, wrong types."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from equipoise.study.analyses.leave_one_out import leave_one_out
from equipoise.study.analyses.vote_cutoffs import vote_cutoffs
from equipoise.study.analyses.words import not_finite
from equipoise.types.annotations import Annotations
from equipoise.types.predictions import Predictions
from tests.oracles.bootstrap import annotations
from tests.strategies import names

ITEMS = 12
VOTES = np.array([[1.0, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]] * 3)
MEAN = VOTES.mean(axis=1)
SURE = np.round(MEAN)
NEVER = np.zeros(ITEMS)  # gives probability 0 to a class that votes name
FEW = {"replicates": 30, "metric": "log_score"}


def models(**scores):
    return [Predictions(name, names(ITEMS), one) for name, one in scores.items()]


def test_an_infinite_score_is_called_infinite():
    done = leave_one_out(models(soft=MEAN * 0.8 + 0.1, sure=NEVER), annotations(VOTES), **FEW)
    assert np.isinf(done.full[1]) and np.isfinite(done.full[0])
    assert "undefined" not in done.finding
    assert "(soft, without reader-" in done.finding
    assert "that of sure is infinite with all annotators and stays so" in done.finding
    alone = leave_one_out(models(sure=NEVER), annotations(VOTES), **FEW)
    assert alone.largest is None
    assert alone.finding == (
        "Leaving one annotator out gives no finite shift of log score; that of sure is "
        "infinite with all annotators and stays so."
    )


def test_a_score_that_one_annotator_makes_infinite_is_said_to_turn():
    votes = np.array([[1.0, 1, 1], [1, 1, 0], [0, 0, 0], [0, 0, 0]])
    given = [Predictions("sure", names(4), votes[:, 0])]
    done = leave_one_out(given, annotations(votes), **FEW)
    assert np.isinf(done.full).all() and np.isfinite(done.values[2]).all()
    assert "infinite with all annotators but finite without some" in done.finding


def test_votes_that_change_nothing_and_level_models_are_said_so():
    same = annotations(np.repeat(SURE[:, None], 3, axis=1))
    done = leave_one_out(models(a=MEAN, b=1 - MEAN), same, replicates=30)
    assert done.finding == (
        "Leaving one annotator out does not move soft AUROC of any model; a keeps rank 1 in 3 "
        "of 3 folds."
    )
    twins = leave_one_out(models(a=MEAN, b=MEAN), same, replicates=30)
    assert twins.finding.endswith("; all models are tied.")
    three = leave_one_out(models(a=MEAN, b=MEAN, c=1 - MEAN), same, replicates=30)
    assert "a and b keep sharing rank 1 in 3 of 3 folds" in three.finding


def test_shifts_of_rounding_are_no_shifts_and_folds_without_an_order_are_not_counted():
    votes = np.zeros((30, 3))
    votes[0, 0] = 1
    random = np.random.default_rng(0)
    given = [Predictions(name, names(30), random.random(30)) for name in "ab"]
    done = leave_one_out(given, annotations(votes), replicates=30)
    assert done.finding == (
        "Leaving one annotator out does not move soft AUROC of any model; that of a and b is "
        "undefined without some; b keeps rank 1 in 2 of 2 folds with an order."
    )
    each = np.full((30, 2), np.nan)
    each[:15, 0], each[15:, 1] = 1, 0
    done = leave_one_out(given, annotations(each), replicates=5)
    assert "no fold has an order of the models" in done.finding


def test_known_truths_stay_at_every_cutoff():
    """Ten items of gold alone, ten with votes and gold, ten with five votes, five with two."""
    item = [*range(20), *np.repeat(range(10, 30), 5), *np.repeat(range(30, 35), 2)]
    gold = np.arange(len(item)) < 20
    truth = Annotations(
        kind="binary", items=names(35), classes=("no", "yes"), item=np.array(item),
        label=np.array(item) % 2, is_gold=gold,
    )  # fmt: skip
    given = [Predictions("a", names(35), np.random.default_rng(0).random(35))]
    done = vote_cutoffs(given, truth, cutoffs=(1, 3, 6), replicates=5)
    assert done.items.tolist() == [35, 30, 20]
    assert done.known == 20
    assert done.finding.startswith("With at least 6 votes per item or a known truth (57% of")
    voted = replace(truth, is_gold=None)
    done = vote_cutoffs(given, voted, cutoffs=(1, 3, 6), replicates=5)
    assert (done.known, done.items.tolist()) == (0, [35, 20, 10])
    assert "known truth" not in done.finding


def test_cutoffs_with_an_infinite_score_still_tell_the_others():
    thin = VOTES.copy()
    thin[:3, 1:] = np.nan
    done = vote_cutoffs(
        models(soft=MEAN * 0.8 + 0.1, sure=NEVER), annotations(thin), cutoffs=(1, 3), **FEW
    )
    assert np.isinf(done.full[1])
    assert "(75% of the items) log score changes by at most" in done.finding
    assert "(soft); that of sure is infinite on all items and stays so" in done.finding
    assert "of 1 models' changes" in done.finding
    single = vote_cutoffs(models(soft=MEAN), annotations(thin), cutoffs=(3,), replicates=30)
    assert "With at least 3 votes" in single.finding


def test_nearly_all_items_are_not_all():
    items = 500
    votes = np.tile([[1.0, 1, 0], [0, 0, 1]], (items // 2, 1))
    votes[0, 2] = np.nan
    given = [Predictions("a", names(items), votes[:, 0])]
    done = vote_cutoffs(given, annotations(votes), cutoffs=(1, 3), replicates=20)
    assert "(>99% of the items)" in done.finding


def test_shifts_are_told_by_what_they_are():
    full, values = np.array([np.nan, 1.0, 2.0]), np.array([[1.0, np.inf, np.nan], [1, 1, 1]])
    assert not_finite(full, values, ["a", "b", "c"], ("in all", "in some")) == [
        "that of b is finite in all but infinite in some",
        "that of a is undefined in all",
        "that of c is undefined in some",
    ]


def test_shifts_are_paired_resample_by_resample():
    """Where an annotator changes no label of a model, every resample says 0 as well."""
    votes = np.column_stack([VOTES[:, 0], VOTES[:, 0], VOTES[:, 1]])
    votes[:, 2] = np.where(np.arange(ITEMS) == 1, 1 - votes[:, 0], votes[:, 0])
    random = np.random.default_rng(1)
    noisy = models(a=random.random(ITEMS), b=random.random(ITEMS))
    done = leave_one_out(noisy, annotations(votes), replicates=200, metric="brier_score")
    whole = leave_one_out(
        noisy, annotations(votes[:, :2]), replicates=200, metric="brier_score"
    )
    assert np.abs(whole.shifts).max() < 1e-12  # both say the same
    assert np.abs([whole.low, whole.high]).max() < 1e-12
    # one item of twelve moves: the shift of a resample is how often it holds that item
    wide = done.high - done.low
    moved = np.abs(done.shifts)
    assert (moved[2] > 1e-3).all() and (wide[2] < 6 * moved[2]).all()


def test_kappa_leaves_items_out_that_lost_all_votes():
    votes = VOTES.copy()
    votes[:4, 1:] = np.nan  # only the first annotator read these
    done = leave_one_out(
        models(a=MEAN, b=1 - MEAN), annotations(votes), replicates=5, metric="brier_score"
    )
    rest = votes[4:]
    whole = [np.sign(row.mean() - 0.5) for row in rest]
    left = [np.sign(row[1:].mean() - 0.5) for row in rest]
    assert done.lost[0] == 4
    assert done.kappa[0] == pytest.approx(cohen_kappa_score(whole, left))

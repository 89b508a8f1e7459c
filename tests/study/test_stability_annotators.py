"""Leaving annotators and votes out: golden folds, loops written by hand, known truths."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.inference.resampling import resample
from equipoise.metrics import Copies, auroc
from equipoise.study import evaluate
from equipoise.study.analyses import scoring
from equipoise.study.analyses.leave_one_out import leave_one_out
from equipoise.study.analyses.panels import panel_size
from equipoise.study.analyses.vote_cutoffs import vote_cutoffs
from equipoise.truth.agreement import cohen_kappa
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError
from equipoise.types.predictions import Predictions
from tests.oracles import bootstrap
from tests.strategies import names

# From the golden agreement figures, experts_loo: three experts on ten items.
EXPERTS = np.array(
    [[1, 1, 0], [0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0],
     [0, 0, 1], [1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=float,
)  # fmt: skip
WITHOUT = {
    0: [0, 0, 0, 1, 0, 0, 0, 0, 1, 1],
    1: [0, 0, 0, 1, 0, 0, 1, 0, 0, 1],
    2: [1, 0, 0, 1, 0, 0, 0, 0, 0, 1],
}
KAPPA = [0.6, 0.6, 0.6]

RANDOM = np.random.default_rng(3)
ITEMS = 40
TRUTH = RANDOM.random(ITEMS) < 0.4
VOTES = np.where(RANDOM.random((ITEMS, 5)) < 0.8, TRUTH[:, None], ~TRUTH[:, None]).astype(float)
GAPS = np.where(RANDOM.random(VOTES.shape) < 0.5, np.nan, VOTES)
GAPS[np.isnan(GAPS).all(axis=1), 0] = 1
SCORES = [TRUTH + RANDOM.normal(0, s, ITEMS) for s in (0.5, 0.8, 1.5)]


def models(scores=SCORES, items=ITEMS):
    return [Predictions(f"model-{m}", names(items), s) for m, s in enumerate(scores)]


def test_golden_folds_of_three_experts():
    votes = bootstrap.annotations(EXPERTS)
    score = Predictions("one", names(10), np.arange(10) / 10)
    done = leave_one_out(score, votes, labels="hard", replicates=20, ties="negative")
    assert_allclose(done.kappa, KAPPA, atol=1e-12)
    for fold, labels in WITHOUT.items():
        assert_allclose(done.values[fold, 0], auroc(labels, np.arange(10) / 10), atol=1e-12)


def test_kappa_is_that_of_the_agreement_module():
    votes = bootstrap.annotations(GAPS)
    done = leave_one_out(models(), votes, replicates=5, ties="negative")
    for fold in range(5):
        left = np.delete(GAPS, fold, axis=1)
        here = ~np.isnan(left).all(axis=1)
        both = np.stack([np.nanmean(one[here], axis=1) > 0.5 for one in (left, GAPS)], axis=1)
        two = bootstrap.annotations(both.astype(float))
        expected = cohen_kappa(two, ("reader-0", "reader-1")).value
        assert_allclose(done.kappa[fold], expected, atol=1e-12)
        assert done.lost[fold] == (~here).sum()
    assert done.lost.sum() > 0


def test_folds_equal_an_evaluation_without_the_annotator():
    done = leave_one_out(models(), bootstrap.annotations(VOTES), replicates=20)
    for fold in range(5):
        others = bootstrap.annotations(np.delete(VOTES, fold, axis=1))
        again = evaluate(models(), others, metrics=["auroc"])
        assert_allclose(done.values[fold], again.values[0, 0, 1], atol=1e-12)
        assert_array_equal(
            done.ranks[fold], [row.rank for row in again.table() if row.labels == "soft"]
        )
    full = evaluate(models(), bootstrap.annotations(VOTES), metrics=["auroc"])
    assert_allclose(done.full, full.values[0, 0, 1], atol=1e-12)


def test_intervals_of_shifts_equal_a_loop_over_resamples():
    truth = bootstrap.annotations(GAPS)
    done = leave_one_out(models(), truth, replicates=40, seed=2)
    drawn = resample(truth, "items", replicates=40, seed=2).item_counts(0, 40).T
    whole = np.nanmean(GAPS, axis=1)
    for fold in range(5):
        left = np.delete(GAPS, fold, axis=1)
        here = np.flatnonzero(~np.isnan(left).all(axis=1))
        soft = np.nanmean(left[here], axis=1)
        shifts = [
            auroc(soft, SCORES[1][here], weights=Copies(counts[here]))
            - auroc(whole, SCORES[1], weights=Copies(counts))
            for counts in drawn
        ]
        assert_allclose(done.low[fold, 1], np.quantile(shifts, 0.025), atol=1e-12)
        assert_allclose(done.high[fold, 1], np.quantile(shifts, 0.975), atol=1e-12)


def test_the_odd_one_out_is_found():
    odd = VOTES.copy()
    odd[:, 3] = 1 - TRUTH
    done = leave_one_out(models(), bootstrap.annotations(odd), replicates=200)
    assert done.largest.annotator == "reader-3"
    assert done.largest.low > 0
    assert "reader-3" in done.finding
    assert len(done.rows()) == 15
    assert done.rows()[0]["shift"] == done.values[0, 0] - done.full[0]


def test_only_the_busiest_annotators_are_left_out(monkeypatch):
    monkeypatch.setattr(sys.modules[leave_one_out.__module__], "MOST", 2)
    thin = VOTES.copy()
    thin[5:, [0, 2, 4]] = np.nan
    done = leave_one_out(models(), bootstrap.annotations(thin), replicates=5)
    assert done.annotators == ("reader-1", "reader-3")
    assert "Of 5 annotators only the 2 with most votes" in str(done.notices[-1])


def test_an_annotator_who_rated_alone_leaves_nothing():
    votes = np.array([[1, np.nan], [0, np.nan], [np.nan, 1], [np.nan, 1]])
    done = leave_one_out(
        models([np.arange(4.0)], 4), bootstrap.annotations(votes), replicates=9
    )
    assert_array_equal(done.lost, [2, 2])
    assert np.isnan(done.values[0, 0])
    assert np.isnan(done.low[0, 0])
    assert done.values[1, 0] == 0


def test_every_analysis_is_deterministic_and_seeded():
    votes = bootstrap.annotations(GAPS)
    for analysis in (leave_one_out, vote_cutoffs, panel_size):
        one, two = (analysis(models(), votes, replicates=6, seed=4) for _ in range(2))
        assert str(one.rows()) == str(two.rows())
    a, b = (vote_cutoffs(models(), votes, replicates=20, seed=s).low for s in (0, 1))
    assert not np.array_equal(a, b, equal_nan=True)


def test_cutoffs_equal_metrics_on_the_items_that_are_left():
    done = vote_cutoffs(models(), bootstrap.annotations(GAPS), replicates=300)
    number = (~np.isnan(GAPS)).sum(axis=1)
    soft = np.nanmean(GAPS, axis=1)
    for c, k in enumerate((1, 3)):
        keep = number >= k
        assert done.items[c] == keep.sum()
        for m, score in enumerate(SCORES):
            assert_allclose(done.values[c, m], auroc(soft[keep], score[keep]), atol=1e-12)
    assert_allclose(done.coverage, [(number >= k).mean() for k in done.cutoffs])
    assert (done.change[0] == 0).all()
    assert (done.low[:2] <= done.values[:2]).all()
    assert (done.values[:2] <= done.high[:2]).all()
    last = done.rows()[-1]
    assert (last["votes"], last["items"], last["status"]) == (15, 0, "no items")
    assert "at least 3 votes" in done.finding or "at least 5 votes" in done.finding


def test_cutoffs_count_every_vote_of_a_count_matrix():
    counts = np.array([[9, 1], [1, 11], [0, 2], [1, 0]])
    votes = Annotations.from_counts(counts, items=names(4), classes=["no", "yes"])
    done = vote_cutoffs(models([np.arange(4.0)], 4), votes.against("yes"), replicates=9)
    assert_array_equal(done.items, [4, 2, 2, 2, 2, 0])


def test_cutoffs_that_make_no_sense():
    with pytest.raises(InputError, match=r"cutoffs: .+, expected rising whole numbers"):
        vote_cutoffs(models(), bootstrap.annotations(VOTES), cutoffs=(3, 1))


def test_panel_means_equal_a_loop_over_all_subsets():
    done = panel_size(models(), bootstrap.annotations(VOTES), replicates=50)
    from itertools import combinations

    assert_array_equal(done.sizes, [2, 3, 4, 5])
    assert_array_equal(done.subsets, [10, 10, 5, 1])
    for s, size in enumerate(done.sizes):
        every = [
            [auroc(VOTES[:, list(who)].mean(axis=1), score) for score in SCORES]
            for who in combinations(range(5), size)
        ]
        assert_allclose(done.mean[s], np.mean(every, axis=0), atol=1e-12)
        assert_allclose(done.spread[s], np.std(every, axis=0), atol=1e-12)


def test_mean_of_panels_has_the_variance_of_sampling_without_replacement():
    """Soft accuracy is linear in the votes: b is 0 and the variance exactly s^2."""
    sure = Predictions("sure", names(ITEMS), np.ones(ITEMS))
    done = panel_size(sure, bootstrap.annotations(VOTES), metric="accuracy", replicates=50)
    each = VOTES.mean(axis=0)
    assert_allclose(done.variance, each.var(ddof=1), rtol=1e-9)
    assert_allclose(done.slope, 0, atol=1e-12)
    assert_allclose(done.limit, each.mean(), atol=1e-12)
    half = 2.776445 * np.sqrt(each.var(ddof=1) / 5)  # t with 4 degrees of freedom
    assert_allclose(done.half_width[-1], half, rtol=1e-6)
    assert_allclose(done.limit_high - done.limit, half, rtol=1e-6)
    needed = done.enough_for_width(0.02)
    assert (
        done.predicted_half_width(needed).max()
        <= 0.02
        < (done.predicted_half_width(needed - 1).max())
    )
    assert done.enough_for_order() is None


def test_more_votes_show_the_limit_of_an_endless_crowd():
    random = np.random.default_rng(5)
    chance = random.beta(0.5, 0.5, 400)
    votes = (random.random((400, 12)) < chance[:, None]).astype(float)
    score = [chance + random.normal(0, 0.3, 400)]
    truth = bootstrap.annotations(votes)
    known = auroc(chance, score[0], form="strict")
    for who in (truth, truth.anonymous()):
        done = panel_size(models(score, 400), who, metric="auroc:form=strict", replicates=60)
        assert done.limit_low[0] < known < done.limit_high[0]
        assert done.sizes[-1] == 12
        assert done.spread[0, 0] > done.spread[4, 0] > 0
        assert len(done.rows()) == 11
    assert done.unit == "votes per item"


def test_anonymous_votes_of_all_sizes_agree_with_all_votes_at_the_end():
    truth = bootstrap.annotations(VOTES).anonymous()
    done = panel_size(models(), truth, replicates=30)
    full = evaluate(models(), bootstrap.annotations(VOTES), metrics=["auroc"]).values[0, 0, 1]
    assert_allclose(done.mean[-1], full, atol=1e-12)
    assert_allclose(done.spread[-1], 0, atol=1e-12)


def test_three_annotators_are_too_few_for_an_interval_of_the_limit():
    truth = bootstrap.annotations(VOTES[:, :3])
    for replicates in (2, 50):
        done = panel_size(models(), truth, replicates=replicates)
        assert np.isnan(done.limit_low).all()
        assert not np.isnan(done.limit).any()
    thin = np.where(np.arange(ITEMS)[:, None] < 19, [[1, 0, np.nan]], VOTES[:, :3])
    done = panel_size(models(), bootstrap.annotations(thin).anonymous(), replicates=5)
    assert_array_equal(done.sizes, [2, 3])
    assert done.finding


def test_panels_that_leave_items_without_votes_are_named():
    done = panel_size(models(), bootstrap.annotations(GAPS), replicates=20)
    assert done.coverage[0] < 0.9 < done.coverage[-1] == 1
    assert "Panels of 2 reach" in str(done.notices[-1])


def test_bad_input_says_what_to_do():
    truth = bootstrap.annotations(VOTES)
    with pytest.raises(InputError, match="at least two annotators with ids"):
        leave_one_out(models(), truth.anonymous())
    with pytest.raises(InputError, match="at least three annotators"):
        panel_size(models(), bootstrap.annotations(VOTES[:, :2]))
    with pytest.raises(InputError, match="at least three annotators, or three votes"):
        panel_size(models(), bootstrap.annotations(VOTES[:, :2]).anonymous())
    with pytest.raises(InputError, match="did you mean 'metric'"):
        leave_one_out(models(), truth, metrics="auroc")
    with pytest.raises(InputError, match="choose a metric of labels"):
        vote_cutoffs(models(), truth, metric="topk_accuracy")
    with pytest.raises(InputError, match="unknown items"):
        leave_one_out(models(items=ITEMS, scores=SCORES), bootstrap.annotations(VOTES[:30]))
    done = panel_size(models(), truth, replicates=5)
    for call in (done.predicted, done.enough_for_width, done.enough_for_order):
        with pytest.raises(InputError):
            call(-2)


def test_infinite_scores_stay_without_a_traceback():
    certain = [(score > 0.5).astype(float) for score in SCORES]
    for analysis in (leave_one_out, vote_cutoffs, panel_size):
        done = analysis(
            models(certain), bootstrap.annotations(VOTES), metric="log_score", replicates=8
        )
        assert done.finding
        assert done.rows()


def test_several_classes_and_an_average_over_tasks():
    random = np.random.default_rng(8)
    label = random.integers(0, 3, (30, 4))
    annotator, item = (axis.ravel() for axis in np.indices((4, 30)))
    votes = Annotations(
        kind="nominal", items=names(30), classes=("a", "b", "c"), annotators=names(4, "p"),
        item=item, annotator=annotator, label=label.T.ravel(),
    )  # fmt: skip
    model = Predictions("m", names(30), random.dirichlet([1, 1, 1], 30), ("a", "b", "c"))
    done = leave_one_out(model, votes, metric="brier_score", replicates=5)
    assert done.values.shape == (4, 1)
    both = replace(
        bootstrap.annotations(VOTES), tasks=("x", "y"),
        task=(np.arange(VOTES.size) % 5 > 2).astype(int),
    )  # fmt: skip
    given = [replace(one, task=task) for task in ("x", "y") for one in models()]
    macro = leave_one_out(given, both, replicates=5)
    alone = [leave_one_out(given, both, task=task, replicates=5) for task in ("x", "y")]
    assert macro.task == "macro average"
    assert_allclose(macro.full, np.mean([one.full for one in alone], axis=0), atol=1e-12)


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="needs EQUIPOISE_DATA")
def test_chexpert_hangs_on_no_single_radiologist():
    from equipoise.datasets import chexpert

    study = chexpert()
    done = leave_one_out(study.predictions, study.annotations, task="Edema", replicates=50)
    assert done.values.shape == (8, 10)
    assert (done.spearman > 0.8).all()
    assert np.abs(done.shifts).max() < 0.02
    assert ((done.kappa > 0.7) & (done.kappa < 1)).all()
    assert (done.lost == 0).all()
    curve = panel_size(study.predictions, study.annotations, task="Edema", replicates=80)
    assert curve.separate[0] < curve.separate[2] and np.isnan(curve.separate[3:]).all()
    assert curve.enough_for_order() <= 8
    cut = vote_cutoffs(study.predictions, study.annotations, task="Edema", replicates=20)
    assert_array_equal(cut.items, [500, 500, 500, 500, 0, 0])


@pytest.mark.parametrize("analysis", [leave_one_out, vote_cutoffs])
def test_with_many_items_fewer_resamples_are_drawn_and_that_is_said(monkeypatch, analysis):
    votes = bootstrap.annotations(GAPS)
    asked = analysis(models(), votes, replicates=60)
    assert not any("instead of" in str(one) for one in asked.notices)
    monkeypatch.setattr(scoring, "BUDGET", 1)
    monkeypatch.setattr(scoring, "FEWEST", 20)
    few = analysis(models(), votes, replicates=60)
    assert "20 resamples are drawn instead of 60" in " ".join(map(str, few.notices))
    assert_allclose(few.values, asked.values)
    twenty = analysis(models(), votes, replicates=20)
    assert_allclose(few.low, twenty.low)

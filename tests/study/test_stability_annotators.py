"""Leaving annotators and votes out: golden folds, loops written by hand, known truths."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.metrics import auroc
from equipoise.study import Settings
from equipoise.study.questions import ask
from equipoise.types import InputError, Predictions
from tests.analysed import panel_size
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(3)
ITEMS = 40
TRUTH = RANDOM.random(ITEMS) < 0.4
VOTES = np.where(RANDOM.random((ITEMS, 5)) < 0.8, TRUTH[:, None], ~TRUTH[:, None]).astype(float)
GAPS = np.where(RANDOM.random(VOTES.shape) < 0.5, np.nan, VOTES)
GAPS[np.isnan(GAPS).all(axis=1), 0] = 1
SCORES = [TRUTH + RANDOM.normal(0, s, ITEMS) for s in (0.5, 0.8, 1.5)]


def models(scores=SCORES, items=ITEMS):
    return [Predictions(f"model-{m}", names(items), s) for m, s in enumerate(scores)]


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


def test_mean_of_panels_has_the_variance_of_sampling_without_replacement():
    """Soft accuracy is linear in the votes: b is 0 and the variance exactly s^2."""
    sure = Predictions("sure", names(ITEMS), np.ones(ITEMS))
    done = panel_size(sure, bootstrap.annotations(VOTES), metric="accuracy", replicates=50)
    each = VOTES.mean(axis=0)
    assert_allclose(done.limit[0], each.mean(), atol=1e-12)
    half = 2.776445 * np.sqrt(each.var(ddof=1) / 5)  # t with 4 degrees of freedom
    assert_allclose(done.limit[2] - done.limit[0], half, rtol=1e-6)


def test_more_votes_show_the_limit_of_an_endless_crowd():
    random = np.random.default_rng(5)
    chance = random.beta(0.5, 0.5, 400)
    votes = (random.random((400, 12)) < chance[:, None]).astype(float)
    score = [chance + random.normal(0, 0.3, 400)]
    truth = bootstrap.annotations(votes)
    known = auroc(chance, score[0], form="strict")
    done = panel_size(models(score, 400), truth, metric="auroc:form=strict", replicates=60)
    assert done.limit[1, 0] < known < done.limit[2, 0]
    assert done.sizes[-1] == 12
    assert len(done.rows()) == 11


def test_three_annotators_are_too_few_for_an_interval_of_the_limit():
    truth = bootstrap.annotations(VOTES[:, :3])
    for replicates in (2, 50):
        done = panel_size(models(), truth, replicates=replicates)
        assert np.isnan(done.limit[1]).all()
        assert not np.isnan(done.limit[0]).any()


def test_panels_that_leave_items_without_votes_are_named():
    done = panel_size(models(), bootstrap.annotations(GAPS), replicates=20)
    assert done.coverage[0] < 0.9 < done.coverage[-1] == 1
    assert "Panels of 2 reach" in str(done.report().notices[-1])


def test_bad_input_says_what_to_do():
    truth = bootstrap.annotations(VOTES)
    with pytest.raises(InputError, match="at least three annotators"):
        panel_size(models(), bootstrap.annotations(VOTES[:, :2]))
    with pytest.raises(InputError, match="anonymous votes, expected at least three annotators"):
        panel_size(models(), bootstrap.annotations(VOTES[:, :2]).anonymous())
    with pytest.raises(InputError, match="expected a list of names of metrics"):
        panel_size(models(), truth, metrics="auroc")
    with pytest.raises(InputError, match="choose a metric of labels"):
        panel_size(models(), truth, metric="topk_accuracy")
    with pytest.raises(InputError, match="unknown items"):
        panel_size(models(items=ITEMS, scores=SCORES), bootstrap.annotations(VOTES[:30]))


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="needs EQUIPOISE_DATA")
def test_chexpert_hangs_on_no_single_radiologist():
    from equipoise.datasets import load_chexpert

    study = load_chexpert()
    edema = [one for one in study.predictions if one.task == "Edema"]
    how = Settings(on_missing="drop")
    found = ask("leave_one_out", edema, study.annotations, metrics=["auroc"], settings=how)
    assert len(found.lines) == 8 * 10 and found.verdict.startswith("No")
    assert min(line.spearman for line in found.lines) > 0.8
    assert max(abs(line.change) for line in found.lines) < 0.02
    kappa = [outcome.facts["kappa"] for outcome in found.outcomes]
    assert min(kappa) > 0.7 and max(kappa) < 1
    curve = panel_size(study.predictions, study.annotations, task="Edema", replicates=80)
    assert curve.separate[0] < curve.separate[2] and np.isnan(curve.separate[3:]).all()

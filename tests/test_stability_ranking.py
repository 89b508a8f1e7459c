"""Rank stability: against scipy replicate by replicate, with ties, every kind, real data."""

import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau, spearmanr

from equipoise.aggregate import dirichlet
from equipoise.analyses.ranking import rank_stability
from equipoise.analyses.resampling import as_drawn
from equipoise.arrays import InputError
from equipoise.evaluation import Settings, evaluate
from equipoise.predictions import Predictions
from equipoise.resampling import resample
from tests.oracles.bootstrap import annotations
from tests.strategies import names

ITEMS = 40
RANDOM = np.random.default_rng(3)
TRUTH = RANDOM.random(ITEMS)
VOTES = (RANDOM.random((ITEMS, 5)) < TRUTH[:, None]).astype(float)
SCORES = [np.clip(TRUTH + RANDOM.normal(0, s, ITEMS), 0, 1) for s in (0.2, 0.3, 0.4, 0.8)]
FEW = {"replicates": 60, "seed": 4, "settings": Settings(workers=1)}
ALL_KINDS = ("items", "votes", "panel", "items x votes", "items x panel")
real = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ, reason="needs the CheXpert files (EQUIPOISE_DATA)"
)


def models(scores):
    return [Predictions(f"model-{m}", names(ITEMS), s) for m, s in enumerate(scores)]


def stability(scores=SCORES, truth=None, **more):
    given = annotations(VOTES) if truth is None else truth
    return rank_stability(models(scores), given, **{**FEW, **more})


def test_every_kind_that_the_data_allow_is_taken_and_the_rest_explained():
    done = stability()
    assert done.kinds == ALL_KINDS
    anonymous = stability(truth=annotations(VOTES).anonymous())
    assert anonymous.kinds == ("items", "votes", "items x votes")
    assert "Not resampled by panel: anonymous votes." in map(str, anonymous.notices)


@pytest.mark.parametrize("kind", ["items", "votes", "items x panel"])
def test_correlations_equal_scipy_replicate_by_replicate(kind):
    done = stability(kinds=[kind])
    truth = annotations(VOTES)
    plan = resample(truth, kind, replicates=60, seed=4)
    drawn = as_drawn(evaluate(models(SCORES), truth, resampling=plan))
    for k, label, r in ((0, 0, 0), (0, 1, 7), (1, 0, 33), (1, 1, 59)):
        value = done.values[0, 0, k, label]
        each = np.round(drawn[0, k, label][:, r], 12)
        assert_allclose(done.spearman[0, 0, k, label, r], spearmanr(value, each)[0])
        assert_allclose(done.kendall[0, 0, k, label, r], kendalltau(value, each)[0])


def test_rank_probabilities_are_those_of_the_evaluation():
    done = stability(kinds=["panel"])
    truth = annotations(VOTES)
    plan = resample(truth, "panel", replicates=60, seed=4)
    evaluation = evaluate(models(SCORES), truth, resampling=plan)
    for row in done.model_rows():
        expected = evaluation.rank_probabilities(row["metric"], labels=row["labels"])
        m = done.models.index(row["model"])
        assert_allclose(row["rank_probabilities"], expected[m])
        assert row["p_best_low"] <= row["p_best"] <= row["p_best_high"]


def test_intervals_hold_the_middle_of_the_replicates():
    done = stability(kinds=["items"])
    row = done.rows()[1]
    assert (row["metric"], row["labels"]) == ("auroc", "soft")
    expected = np.quantile(done.spearman[0, 0, 0, 1], [0.025, 0.975])
    assert_allclose([row["spearman_low"], row["spearman_high"]], expected)
    assert_allclose(row["spearman"], done.spearman[0, 0, 0, 1].mean())


def test_identical_models_share_ranks_and_wins():
    done = stability([SCORES[0], SCORES[0], SCORES[3]])
    assert_allclose(done.beats[..., 0, 1], 0.5)
    assert_array_equal(done.ranks[..., 0, :], done.ranks[..., 1, :])
    assert_allclose(done.ranks.sum(axis=-1), 1)
    assert (done.ranks[..., 0, 0] >= done.ranks[..., 2, 0] - 1e-12)[..., 0].all()


def test_an_order_of_identical_models_is_undefined_and_says_so():
    done = stability([SCORES[0], SCORES[0]])
    assert np.isnan(done.spearman).all()
    assert done.finding == "The 2 models are tied by soft AUROC: there is no order."
    row = done.rows()[0]
    assert np.isnan(row["spearman_low"]) and row["undefined"] == 1 and row["p_best"] == 0.5


def test_the_best_by_a_lower_is_better_metric_has_the_smallest_value():
    done = stability(metrics=["brier_score"], kinds=["items"])
    best = int(np.argmax(done.ranks[0, 0, 0, 1, :, 0]))
    assert best == int(np.argmin(done.values[0, 0, 0, 1])) == 0
    assert done.beats[0, 0, 0, 1, 0, 3] > 0.9


def test_plausibilities_add_the_kinds_with_posterior():
    truth = annotations(VOTES)
    possible = [dirichlet(truth).drawn(30, seed=1)]
    done = stability(truth=truth, plausibilities=possible)
    assert done.kinds == (*ALL_KINDS[:3], "posterior", *ALL_KINDS[3:], "items x posterior")
    assert not np.isnan(done.spearman).any()
    alone = stability(truth=possible)
    assert alone.kinds == ("items", "posterior", "items x posterior")
    assert_array_equal(alone.spearman[1], done.spearman[done.kinds.index("posterior")])


def test_the_seed_decides_everything():
    assert_array_equal(stability().spearman, stability().spearman)
    assert (stability().spearman != stability(seed=5).spearman).any()
    told = []
    stability(kinds=["items", "panel"], progress=lambda done, every: told.append((done, every)))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"replicats": 10}, "did you mean 'replicates'"),
        ({"kinds": ["annotators"]}, "one of items"),
        ({"kinds": []}, "leave kinds out"),
        ({"kinds": ["posterior"]}, "aggregate the annotations first"),
        ({"scores": SCORES[:1]}, "at least two"),
        ({"replicates": 0}, "at least 1"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(change, message):
    with pytest.raises(InputError, match=message):
        stability(**change)


@real
def test_the_leaderboard_moves_more_with_all_that_is_uncertain():
    from equipoise.datasets.chexpert import chexpert

    study = chexpert()
    done = rank_stability(study.predictions, study.annotations, replicates=200, seed=1)
    assert done.kinds == ALL_KINDS and len(done.tasks) == 6
    mean = done.spearman.mean(axis=-1)
    assert not np.isnan(mean).any()
    both, items = (done.kinds.index(kind) for kind in ("items x panel", "items"))
    assert mean[both].mean() < mean[items].mean()
    assert "When items and annotators are resampled (which errs on the wide" in done.finding
    twins = done.beats[..., done.models.index("ngango2"), done.models.index("ngango3")]
    assert twins.shape == done.spearman.shape[:-1]


def test_in_front_stands_what_counts_the_noise_of_votes_once_or_is_said_to_be_wide():
    named, anonymous = stability(), stability(truth=annotations(VOTES).anonymous())
    assert named.finding.startswith("When items and annotators are resampled (which errs on ")
    assert anonymous.finding.startswith("When items are resampled, the order")
    rows = {
        row["kind"]: row for row in anonymous.rows()
        if (row["metric"], row["labels"]) == ("auroc", "soft")
    }  # fmt: skip
    assert f"{rows['items']['spearman']:.2f} on average" in anonymous.finding
    for done in (named, anonymous):
        assert any("err on the wide side" in str(note) for note in done.notices)
    alone = stability(kinds=["votes"])
    assert alone.finding.startswith("When votes are resampled, the order")
    assert not any("err on the wide side" in str(note) for note in alone.notices)


def test_people_without_votes_are_not_drawn():
    truth = annotations(VOTES)
    idle = replace(truth, annotators=(*truth.annotators, *names(9, "idle")))
    done = stability(truth=idle, kinds=["panel", "items x panel"])
    assert_array_equal(done.spearman, stability(kinds=["panel", "items x panel"]).spearman)
    assert any("9 of 14 annotators without a vote" in str(note) for note in done.notices)


def test_the_finding_names_the_runner_up_and_its_share():
    done = stability(SCORES[1:], kinds=["items x panel"], metrics=["auroc"])
    row = next(one for one in done.rows() if one["labels"] == "soft")
    shares = sorted(done.ranks[0, 0, 0, 1, :, 0], reverse=True)
    assert [row["p_best"], row["p_runner_up"]] == shares[:2]
    assert row["runner_up"] in done.finding and row["runner_up"] != row["most_often_best"]
    assert f"followed by {row['runner_up']} with" in done.finding
    assert any("share that resample evenly" in str(note) for note in done.notices)
    twins = stability([SCORES[0], SCORES[0], SCORES[3]], kinds=["panel"], metrics=["auroc"])
    assert "model-0 and model-1 are best equally often" in twins.finding


def test_redraws_without_an_order_are_told():
    few = np.array([[1.0, 1], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]])
    given = [Predictions(f"m{k}", names(6), RANDOM.random(6)) for k in range(3)]
    done = rank_stability(given, annotations(few), kinds=["items"], metrics=["auroc"], **FEW)
    (row,) = [one for one in done.rows() if one["labels"] == "soft"]
    assert row["undefined"] > 0.2
    assert "of the resamples there is no order" in done.finding and "nan" not in done.finding


def test_a_model_that_always_leads_is_best_in_nearly_all_resamples():
    done = stability([VOTES.mean(axis=1), 1 - VOTES.mean(axis=1)], kinds=["items"])
    assert (
        "model-0 is best in >99% of the resamples, followed by model-1 with <1%" in done.finding
    )

"""Rank stability: against scipy replicate by replicate, with ties, real data."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau, spearmanr

from equipoise.inference.resampling import resample
from equipoise.study import Settings, evaluate
from equipoise.truth import dirichlet
from equipoise.types import InputError, Predictions
from tests.analysed import rank_stability
from tests.oracles.bootstrap import annotations
from tests.strategies import names

ITEMS = 40
RANDOM = np.random.default_rng(3)
TRUTH = RANDOM.random(ITEMS)
VOTES = (RANDOM.random((ITEMS, 5)) < TRUTH[:, None]).astype(float)
SCORES = [np.clip(TRUTH + RANDOM.normal(0, s, ITEMS), 0, 1) for s in (0.2, 0.3, 0.4, 0.8)]
FEW = {"replicates": 60, "seed": 4, "settings": Settings(workers=1)}
real = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ, reason="needs the CheXpert files (EQUIPOISE_DATA)"
)


def models(scores):
    return [Predictions(f"model-{m}", names(ITEMS), s) for m, s in enumerate(scores)]


def stability(scores=SCORES, truth=None, **more):
    given = annotations(VOTES) if truth is None else truth
    return rank_stability(models(scores), given, **{**FEW, **more})


def test_items_and_annotators_are_resampled_and_items_alone_where_votes_are_anonymous():
    assert stability().evaluation.plan.kind == "items x panel"
    assert stability(truth=annotations(VOTES).anonymous()).evaluation.plan.kind == "items"


@pytest.mark.parametrize("kind", ["items", "votes", "items x panel"])
def test_correlations_equal_scipy_replicate_by_replicate(kind):
    done = stability(kind=kind)
    truth = annotations(VOTES)
    plan = resample(truth, kind, replicates=60, seed=4)
    drawn = evaluate(models(SCORES), truth, resampling=plan).replicates
    for k, label, r in ((0, 0, 0), (0, 1, 7), (1, 0, 33), (1, 1, 59)):
        value = done.evaluation.values[0, k, label]
        each = np.round(drawn[0, k, label][:, r], 12)
        assert_allclose(done.spearman[0, k, label, r], spearmanr(value, each)[0])
        assert_allclose(done.kendall[0, k, label, r], kendalltau(value, each)[0])


def test_shares_and_possible_ranks_are_those_of_the_evaluation():
    done = stability()
    evaluation = done.evaluation
    table = {(row.metric, row.labels, row.model): row for row in evaluation.table()}
    for k, metric in enumerate(evaluation.metrics):
        for label, labels in enumerate(("hard", "soft")):
            expected = evaluation.rank_probabilities(metric.name, labels=labels)
            assert_allclose(done.ranks[0, k, label], expected)
    for row in done.rows():
        rows = [table[row["metric"], row["labels"], model] for model in evaluation.models]
        first = tuple(one.model for one in rows if one.rank_low == 1)
        assert row["possibly_best"] == first
        assert row["p_best"] == max(one.p_best for one in rows)


def test_intervals_hold_the_middle_of_the_replicates():
    done = stability(kind="items")
    row = done.rows()[1]
    assert (row["metric"], row["labels"]) == ("auroc", "soft")
    expected = np.quantile(done.spearman[0, 0, 1], [0.025, 0.975])
    assert_allclose([row["spearman_low"], row["spearman_high"]], expected)
    assert_allclose(row["spearman"], done.spearman[0, 0, 1].mean())


def test_identical_models_share_ranks_and_wins():
    done = stability([SCORES[0], SCORES[0], SCORES[3]])
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
    done = stability(metrics=["brier_score"], kind="items")
    best = int(np.argmax(done.ranks[0, 0, 1, :, 0]))
    assert best == int(np.argmin(done.evaluation.values[0, 0, 1])) == 0
    assert done.rows()[1]["possibly_best"][0] == "model-0"


def test_possible_truths_are_resampled_with_their_items():
    done = stability(truth=[dirichlet(annotations(VOTES)).drawn(30, seed=1)])
    assert (
        done.evaluation.plan.kind == "items x posterior" and not np.isnan(done.spearman).any()
    )


def test_the_seed_decides_everything():
    assert_array_equal(stability().spearman, stability().spearman)
    assert (stability().spearman != stability(seed=5).spearman).any()
    told = []
    stability(progress=lambda done, every: told.append((done, every)))
    assert told == [(1, 1)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "annotators"}, "one of items"),
        ({"kind": "posterior"}, "aggregate the annotations first"),
        ({"scores": SCORES[:1]}, "at least two"),
        ({"replicates": 0}, "at least 1"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(change, message):
    with pytest.raises(InputError, match=message):
        stability(**change)


@real
def test_the_leaderboard_moves_more_with_all_that_is_uncertain():
    from equipoise.datasets.chexpert import load_chexpert

    study = load_chexpert()
    both, items = (
        rank_stability(study.predictions, study.annotations, kind=kind, replicates=200, seed=1)
        for kind in (None, "items")
    )
    assert both.evaluation.plan.kind == "items x panel" and len(both.evaluation.tasks) == 6
    assert not np.isnan(both.spearman).any()
    assert both.spearman.mean() < items.spearman.mean()
    possible = [[row["possibly_best"] for row in one.rows()] for one in (both, items)]
    assert possible[0] == possible[1]
    assert both.finding.startswith("When items and annotators are resampled, the order")


def test_the_finding_names_the_runner_up_and_its_share():
    done = stability(SCORES[1:], metrics=["auroc"])
    row = next(one for one in done.rows() if one["labels"] == "soft")
    shares = sorted(done.ranks[0, 0, 1, :, 0], reverse=True)
    assert [row["p_best"], row["p_runner_up"]] == shares[:2]
    assert row["runner_up"] in done.finding and row["runner_up"] != row["most_often_best"]
    assert f"followed by {row['runner_up']} with" in done.finding
    assert any("share that resample evenly" in str(note) for note in done.notices)
    twins = stability([SCORES[0], SCORES[0], SCORES[3]], kind="panel", metrics=["auroc"])
    assert "model-0 and model-1 are best equally often" in twins.finding


def test_redraws_without_an_order_are_told():
    few = np.array([[1.0, 1], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]])
    given = [Predictions(f"m{k}", names(6), RANDOM.random(6)) for k in range(3)]
    done = rank_stability(given, annotations(few), kind="items", metrics=["auroc"], **FEW)
    (row,) = [one for one in done.rows() if one["labels"] == "soft"]
    assert row["undefined"] > 0.2
    assert "of the resamples there is no order" in done.finding and "nan" not in done.finding


def test_a_model_that_always_leads_is_never_said_to_be_certain():
    done = stability([VOTES.mean(axis=1), 1 - VOTES.mean(axis=1)], kind="items")
    assert "model-0 is best in >99% of the resamples, followed by model-1 with <1%" in (
        done.finding
    )
    assert done.finding.endswith("For items and annotators like these, model-0 is the best.")
    two = stability(truth=annotations(VOTES[:, :2]))
    assert two.finding.endswith(
        "Annotators are too few to say who may be best for annotators like these."
    )

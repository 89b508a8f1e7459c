"""Intervals mean what they say: influence against bootstrap, DeLong, coverage."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.inference.resampling import resample
from equipoise.metrics import auroc
from equipoise.study import Settings, evaluate
from equipoise.types import Plausibilities, Predictions
from tests.oracles import bootstrap, delong
from tests.strategies import names

ITEMS, METRICS = 360, ["auroc", "average_precision"]
RANDOM = np.random.default_rng(21)
GROUP = np.repeat(np.arange(ITEMS // 4), 4)
TRUE = np.repeat(RANDOM.beta(0.7, 1.1, ITEMS // 4), 4)
VOTES = (RANDOM.random((ITEMS, 5)) < TRUE[:, None]).astype(float)
SHARED = TRUE + np.repeat(RANDOM.normal(0, 0.25, ITEMS // 4), 4)
SCORES = [
    (SHARED + RANDOM.normal(0, 0.1, ITEMS)).round(2),
    SHARED + RANDOM.normal(0, 0.2, ITEMS),
]
FIXED = Settings(annotators="fixed")  # items alone, as the bootstrap and DeLong have it
MODELS = [Predictions(f"m{k}", names(ITEMS), s) for k, s in enumerate(SCORES)]


def spread(kind, replicates=4000, **groups):
    """Covariance of the two models, (metrics, labels, 2, 2), and the evaluation."""
    truth = bootstrap.annotations(VOTES, **groups)
    plan = resample(truth, kind, replicates=replicates)
    done = evaluate(MODELS, truth, metrics=METRICS, resampling=plan, settings=FIXED)
    cells = done.replicates[0]
    return np.array([[np.cov(cell, ddof=0) for cell in metric] for metric in cells]), done


@pytest.mark.parametrize("grouped", [False, True])
def test_influence_agrees_with_a_large_bootstrap(grouped):
    groups = {"group": GROUP, "groups": names(ITEMS // 4, "g")} if grouped else {}
    quick, done = spread("influence", 500, **groups)
    slow, _ = spread("items", **groups)
    errors = [np.sqrt(x.diagonal(axis1=2, axis2=3)) for x in (quick, slow)]
    assert_allclose(errors[0], errors[1], rtol=0.08)
    paired = [x[..., 0, 0] + x[..., 1, 1] - 2 * x[..., 0, 1] for x in (quick, slow)]
    assert_allclose(np.sqrt(paired[0]), np.sqrt(paired[1]), rtol=0.08)
    assert_allclose(done.replicates.mean(axis=-1), done.values, atol=1e-12)


def test_groups_make_the_interval_wider():
    grouped, _ = spread("influence", 500, group=GROUP, groups=names(ITEMS // 4, "g"))
    alone, _ = spread("influence", 500)
    assert (grouped[0, :, 0, 0] > 1.5 * alone[0, :, 0, 0]).all()


def test_on_hard_labels_influence_is_delong():
    quick, _ = spread("influence", 500)
    label = (VOTES.mean(axis=1) > 0.5).astype(float)
    expected = delong.covariance(label, SCORES)
    assert_allclose(quick[0, 0], expected, rtol=2 / min(label.sum(), ITEMS - label.sum()))


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_influence_replicates_are_centred_on_the_value_of_their_metric(average):
    random = np.random.default_rng(2)
    truth = random.dirichlet([4, 1, 0.5], 80)
    model = Predictions("m", names(80), 0.5 * truth + 0.5 / 3, classes=("x", "y", "z"))
    mixed = Predictions(
        "n", names(80), random.dirichlet([1, 1, 1], 80), classes=("x", "y", "z")
    )
    plausible = Plausibilities.dense(
        truth, items=names(80), classes=("x", "y", "z"), method="x"
    )
    metrics = [f"{name}:average={average}" for name in METRICS]
    done = evaluate([model, mixed], plausible, metrics=metrics, resampling="influence")
    centre = done.replicates.mean(axis=-1)
    assert_allclose(centre[0, :, 1], done.values[0, :, 1], atol=1e-9)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_several_classes_agree_with_a_large_bootstrap(average):
    random = np.random.default_rng(3)
    truth = random.dirichlet([3, 1, 0.5], 300)
    scores = 0.3 * truth + 0.7 * random.dirichlet([1, 1, 1], 300)
    model = Predictions("m", names(300), scores, classes=("x", "y", "z"))
    plausible = Plausibilities.dense(
        truth, items=names(300), classes=("x", "y", "z"), method="x"
    )
    metrics = [f"{name}:average={average}" for name in METRICS]
    errors = [
        evaluate(model, plausible, metrics=metrics, resampling=kind)
        .replicates[0, :, 1, 0]
        .std(axis=-1)
        for kind in ("influence", "items")
    ]
    assert_allclose(errors[0], errors[1], rtol=0.08)


def population(items, random):
    """Chance of a yes, and the score of a model, for new items."""
    chance = random.beta(0.6, 1.2, items)
    return chance, chance + random.normal(0, 0.35, items)


def test_ninety_five_percent_intervals_over_items_cover_about_ninety_five_percent():
    random = np.random.default_rng(77)
    target = auroc(*population(200_000, random))
    cover = []
    for seed in range(200):
        chance, scores = population(120, random)
        votes = (random.random((120, 5)) < chance[:, None]).astype(float)
        truth = bootstrap.annotations(votes)
        plan = resample(truth, "items", replicates=300, seed=seed)
        done = evaluate(
            Predictions("m", truth.items, scores), truth, metrics=["auroc"], resampling=plan
        )
        low, high = done.estimate("m", "auroc").interval()
        cover.append(low <= target <= high)
    assert 0.90 <= np.mean(cover) <= 0.99


def test_drawing_both_items_and_panel_is_wider_than_either():
    truth = bootstrap.annotations(VOTES)
    errors = {
        kind: evaluate(MODELS, truth, metrics=["auroc"], resampling=kind)
        .replicates[0, 0, 1]
        .std(axis=-1)
        for kind in ("items", "panel", "items x panel")
    }
    assert (errors["items x panel"] > 0.97 * np.maximum(errors["items"], errors["panel"])).all()
    total = np.hypot(errors["items"], errors["panel"])
    assert_allclose(errors["items x panel"], total, rtol=0.15)

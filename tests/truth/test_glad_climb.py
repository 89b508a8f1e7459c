"""GLAD: the scale step of coordinate ascent, where it stops, and what goes into it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from equipoise import Annotations, InputError
from equipoise.truth.ability import (
    GladClimb,
    GladFit,
    GladPrior,
    divergence,
    glad,
    item_parts,
    scaled_items,
)
from equipoise.truth.blocks import annotator_votes
from tests.oracles.glad import crowd, table, with_gold

TIGHT = GladFit(1e-10, 20_000)
UNUSED = "Confidences are not used by GLAD; turn them into weights to use them."


def world(seed, items=1500, annotators=40, votes=12_000):
    random = np.random.default_rng(seed)
    b, c = random.normal(0, 3, items), random.normal(1, 0.7, annotators)
    item, who = random.integers(0, items, votes), random.integers(0, annotators, votes)
    yes = random.random(votes) < 1 / (1 + np.exp(-b[item] * c[who]))
    return np.stack([item, who, yes.astype(int)], axis=1)


def items_of(climb):
    block = climb.blocks.block(0)
    state = climb.items.read(0, block.items)
    return scaled_items(block, state, item_parts(block, climb.graph.part), climb.factor)


def chances(climb):
    mean, variance, *_ = items_of(climb)
    return norm.cdf(mean / np.sqrt(variance))


def whole_divergence(climb):
    """Of items and annotators."""
    return divergence(items_of(climb), climb.priors[0]) + climb._divergence()


@pytest.mark.parametrize("prior", ["default", "paper"])
def test_the_stop_is_near_the_end_and_both_ways_end_there(prior):
    votes = table(world(0))
    end = glad(votes, prior=prior, fit=TIGHT)
    plain = glad(votes, prior=prior, fit=replace(TIGHT, rescale=False))
    assert_allclose(end.mean, plain.mean, atol=1e-7)
    assert_allclose(end.skills.value, plain.skills.value, atol=1e-6)
    stopped = glad(votes, prior=prior)
    slow = glad(votes, prior=prior, fit=GladFit(rescale=False))
    assert np.abs(stopped.mean - end.mean).max() < 10 * GladFit().tolerance
    assert np.abs(stopped.mean - end.mean).max() < np.abs(slow.mean - end.mean).max()
    assert stopped.diagnostics["iterations"] < 0.7 * slow.diagnostics["iterations"]
    assert (np.diff(stopped.diagnostics["trace"]) >= -1e-8).all()


@pytest.mark.parametrize("mean", [0.0, 1.0])
@pytest.mark.parametrize("known", [False, True])
def test_the_scale_is_the_best_and_only_the_divergence_notices(mean, known):
    first = crowd(1, items=20)
    votes = np.vstack([first, crowd(2, items=15) + np.array([20, 6, 0])])
    full = with_gold(votes, 0, 1) if known else table(votes)
    who = annotator_votes(full, "", model="glad")
    climb = GladClimb(who, GladPrior(3, mean, 1), GladFit())
    climb.sweep()
    before, away = climb.bound(), whole_divergence(climb)
    scale = climb.best_scales()

    def height(log):
        factor = np.array([np.exp(log), scale[1]])
        climb.scale(factor)
        value = climb.bound()
        climb.scale(1 / factor)
        return -value

    found = minimize_scalar(height, bracket=(-0.1, 0.1), tol=1e-10)
    assert np.log(scale[0]) == pytest.approx(found.x, abs=1e-5)
    climb.scale(scale)
    assert climb.bound() > before + 0.01
    assert climb.bound() - before == pytest.approx(away - whole_divergence(climb), abs=1e-9)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([0.001, 1.0, 1000.0]))
def test_no_scale_step_lowers_the_bound(seed, sigma):
    random = np.random.default_rng(seed)
    votes = crowd(seed % 100, items=12)
    votes[:, 2] = random.integers(0, 2, len(votes))
    who = annotator_votes(table(votes), "", model="glad")
    climb = GladClimb(who, GladPrior(sigma, 2, 0.5), GladFit())
    for _ in range(3):
        climb.sweep()
        before = climb.bound()
        climb.scale(climb.best_scales())
        assert climb.bound() >= before - 1e-9 * abs(before)


def test_the_bound_of_a_sweep_is_that_of_the_state_before(monkeypatch):
    votes, heights = table(crowd(4)), []
    sweep = GladClimb.sweep

    def watched(self):
        heights.append(self.bound())
        return sweep(self)

    monkeypatch.setattr(GladClimb, "sweep", watched)
    trace = glad(votes, fit=GladFit(0, 8)).diagnostics["trace"]
    assert_allclose(trace[:-1], heights[1:], rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_standing_still_is_about_chances(seed):
    climb = GladClimb(
        annotator_votes(table(crowd(seed)), "", model="glad"), GladPrior(), GladFit()
    )
    for _ in range(4):
        before = chances(climb)
        moved = climb.sweep()
        assert moved == pytest.approx(np.abs(chances(climb) - before).max(), abs=1e-14)


def test_confidences_are_not_used_and_that_is_said():
    votes = crowd(0)
    sure = table(votes, confidence=np.random.default_rng(0).uniform(0.1, 1, len(votes)))
    for inference in ("cavi", "gibbs"):
        made, plain = (glad(x, inference=inference) for x in (sure, table(votes)))
        assert [str(one) for one in made.notices] == [UNUSED, *map(str, plain.notices)]
        assert (made.mean == plain.mean).all()


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_weights_that_are_no_weights_are_refused(weight):
    votes = crowd(0)
    heavy = np.ones(len(votes))
    heavy[3] = weight
    with pytest.raises(InputError, match="weight"):
        glad(table(votes, weight=heavy))


@pytest.mark.parametrize("inference", ["cavi", "gibbs"])
@pytest.mark.parametrize("kind", ["nominal", "ordinal", "interval", "ranking"])
def test_other_kinds_of_answers_are_refused(kind, inference):
    how = {"label": np.array([0, 1, 2]), "classes": ("a", "b", "c")}
    if kind == "interval":
        how = {"value": np.array([0.0, 1.0, 2.0])}
    if kind == "ranking":
        how |= {"rank": np.zeros(3, dtype=int), "reading": np.arange(3)}
    votes = Annotations(
        kind=kind, items=("i",), annotators=("x", "y", "z"), item=np.zeros(3, dtype=int),
        annotator=np.arange(3), **how,
    )  # fmt: skip
    said = (
        rf"glad: annotations of kind {kind}, expected yes/no votes \(kind binary\); ask about"
    )
    with pytest.raises(InputError, match=said):
        glad(votes, inference=inference)


@pytest.mark.parametrize("inference", ["cavi", "gibbs"])
def test_one_annotator_or_one_item_is_enough(inference):
    fit = GladFit(draws=4000) if inference == "gibbs" else None
    single = glad(table([[0, 0, 1]]), inference=inference, fit=fit)
    assert 0.6 < single.mean[0, 1] < 0.95
    alone = glad(table([[0, 0, 1], [1, 0, 0], [2, 0, 1]]), inference=inference, fit=fit)
    assert_allclose(alone.mean[:, 1] > 0.5, [True, False, True])
    item = glad(table([[0, 0, 1], [0, 1, 1], [0, 2, 0]]), inference=inference, fit=fit)
    assert 0.5 < item.mean[0, 1] < 0.95
    for made in (single, alone, item):
        assert np.isfinite(made.skills.value).all()

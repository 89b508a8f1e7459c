"""GLAD: the scale step of coordinate ascent, where it stops, and what goes into it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from equipoise import Annotations, InputError
from equipoise.truth._annotator_votes import annotator_votes
from equipoise.truth.glad import GladFit, GladPrior, glad
from equipoise.truth.glad import fits as glad_fits
from equipoise.truth.glad.fits import _State, _still, best_scales
from equipoise.truth.glad.votes import graph_of
from tests.oracles.glad import crowd, table, with_gold

TIGHT = GladFit(1e-10, 20_000)
UNUSED = "Confidences are not used by GLAD; turn them into weights to use them."


def world(seed, items=1500, annotators=40, votes=12_000):
    random = np.random.default_rng(seed)
    b, c = random.normal(0, 3, items), random.normal(1, 0.7, annotators)
    item, who = random.integers(0, items, votes), random.integers(0, annotators, votes)
    yes = random.random(votes) < 1 / (1 + np.exp(-b[item] * c[who]))
    return np.stack([item, who, yes.astype(int)], axis=1)


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
    graph = graph_of(annotator_votes(full, "", model="glad"))
    state = _State(graph, GladPrior(3, mean, 1))
    state._sweep(1)
    before, away = state.bound(), state._divergence()
    scale = best_scales(graph, state.items[3], state.annotators[2:4], state.priors)

    def height(log):
        factor = np.array([np.exp(log), scale[1]])
        state.scale(factor)
        value = state.bound()
        state.scale(1 / factor)
        return -value

    found = minimize_scalar(height, bracket=(-0.1, 0.1), tol=1e-10)
    assert np.log(scale[0]) == pytest.approx(found.x, abs=1e-5)
    state.scale(scale)
    assert state.bound() > before + 0.01
    assert state.bound() - before == pytest.approx(away - state._divergence(), abs=1e-9)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([0.001, 1.0, 1000.0]))
def test_no_scale_step_lowers_the_bound(seed, sigma):
    random = np.random.default_rng(seed)
    votes = crowd(seed % 100, items=12)
    votes[:, 2] = random.integers(0, 2, len(votes))
    graph = graph_of(annotator_votes(table(votes), "", model="glad"))
    state = _State(graph, GladPrior(sigma, 2, 0.5))
    for _ in range(3):
        state._sweep(1)
        before = state.bound()
        sides = (state.items[3], state.annotators[2:4], state.priors)
        state.scale(best_scales(state.votes, *sides))
        assert state.bound() >= before - 1e-9 * abs(before)


def test_the_bound_of_a_sweep_is_that_of_the_state_before(monkeypatch):
    votes, heights = table(crowd(4)), []
    sweep = _State._sweep

    def watched(self, inner):
        heights.append(self.bound())
        return sweep(self, inner)

    monkeypatch.setattr(glad_fits._State, "_sweep", watched)
    trace = glad(votes, fit=GladFit(0, 8, inner=2)).diagnostics["trace"]
    assert_allclose(trace[:-1], heights[1:], rtol=1e-12)


def test_standing_still_is_about_chances():
    now, before = np.array([0.0, 9.0, -3.0]), np.array([0.0002, 8.0, -3.0])
    assert _still(now, before, 1e-4)
    assert not _still(now, before, 7e-5)
    assert not _still(now, now, 0.0)
    assert not _still(np.array([0.0, 0.5]), np.array([0.01, 0.5]), 1e-4)


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


@pytest.mark.parametrize("inference", ["cavi", "gibbs", "svi"])
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

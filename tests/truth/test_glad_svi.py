"""GLAD by stochastic gradients: agrees with coordinate ascent, oriented, follows its seed."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import InputError
from equipoise.truth import GladSvi
from equipoise.truth.glad import GladFit, GladPrior, glad
from equipoise.truth.glad import svi as glad_svi
from tests.oracles.glad import crowd, table, with_gold

SHORT = GladSvi(steps=60, draws=50)


def needs_torch():
    torch = pytest.importorskip("torch", reason='needs pip install "equipoise[torch]"')
    torch.set_num_threads(1)  # threads cost more than such small sums
    return torch


def test_it_agrees_with_coordinate_ascent():
    needs_torch()
    votes = table(crowd(0, items=120, annotators=10))
    drawn = glad(votes, inference="svi", fit=GladSvi(steps=2500, learning_rate=0.03))
    climbed = glad(votes)
    assert np.abs(drawn.mean - climbed.mean).mean() < 0.03
    assert ((drawn.mean[:, 1] > 0.5) == (climbed.mean[:, 1] > 0.5)).mean() > 0.97
    assert np.corrcoef(drawn.skills.value, climbed.skills.value)[0, 1] > 0.95
    assert drawn.skills.value[0] < -0.3  # the adversary
    assert drawn.skills.low is None
    trace = np.array(drawn.diagnostics["trace"])
    assert len(trace) == drawn.diagnostics["steps"] == 2500
    late = trace[-500:].mean()  # a tighter bound than that with Polya-Gamma variables
    assert trace[:50].mean() < climbed.diagnostics["trace"][-1] < late + 5


@pytest.mark.parametrize("start", [1.0, 0.0, -1.0])
@pytest.mark.parametrize("seed", range(2))
def test_every_part_is_oriented_under_the_paper_prior(seed, start, monkeypatch):
    needs_torch()
    monkeypatch.setattr(glad_svi, "START_ABILITY", start)  # published: 0
    votes = crowd(6, items=60)
    two = np.vstack([votes, votes + np.array([60, 6, 0])])
    made = glad(table(two), prior="paper", inference="svi", fit=GladSvi(300, seed=seed))
    load = np.bincount(two[:, 1], minlength=12) * made.skills.value
    assert load[:6].sum() > 0
    assert load[6:].sum() > 0
    assert made.diagnostics["turned"] == {1.0: 0, -1.0: 2}.get(
        start, made.diagnostics["turned"]
    )
    assert made.diagnostics["iterations"] == 300
    assert any("not identified" in str(one) for one in made.notices)
    assert any("share no annotator" in str(one) for one in made.notices)
    assert made.method == "GLAD (SVI)"


def test_where_the_prior_knows_the_sign_the_steps_go_on_from_the_turned_state(monkeypatch):
    needs_torch()
    votes, fit = table(crowd(6, items=60)), GladSvi(300)
    plain = glad(votes, inference="svi", fit=fit)
    monkeypatch.setattr(glad_svi, "START_ABILITY", -1.0)
    made = glad(votes, prior=GladPrior(3, 1, 5), inference="svi", fit=fit)
    assert made.diagnostics["turned"] == 1
    assert made.diagnostics["iterations"] == 600
    assert len(made.diagnostics["trace"]) == 300
    assert made.skills.value.mean() > 0
    assert ((made.mean[:, 1] > 0.5) == (plain.mean[:, 1] > 0.5)).mean() > 0.9


def test_it_follows_the_seed_and_leaves_the_global_one_alone():
    torch = needs_torch()
    votes, before = table(crowd(1)), torch.get_rng_state()
    one, again = (glad(votes, inference="svi", fit=SHORT) for _ in range(2))
    other = glad(votes, inference="svi", fit=replace(SHORT, seed=1))
    assert (one.mean == again.mean).all()
    assert (one.skills.value == again.skills.value).all()
    assert (one.skills.value != other.skills.value).any()
    assert torch.equal(before, torch.get_rng_state())


def test_chances_are_shares_of_draws():
    needs_torch()
    made = glad(table(crowd(2)), inference="svi", fit=SHORT)
    assert_allclose(made.mean * 50, np.round(made.mean * 50), atol=1e-9)
    assert made.parameters["fit"] == {
        "steps": 60, "learning_rate": 0.1, "draws": 50, "seed": 0
    }  # fmt: skip


def test_weights_and_repetitions_are_the_same():
    needs_torch()
    votes = crowd(3)
    heavy = table(votes, weight=np.full(len(votes), 2.0))
    one = glad(table(np.repeat(votes, 2, axis=0)), inference="svi", fit=SHORT)
    two = glad(heavy, inference="svi", fit=SHORT)
    assert_allclose(one.skills.value, two.skills.value, atol=1e-9)


def test_without_torch_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    said = (
        r'torch is not installed, expected torch 2.6 or later; pip install "equipoise\[torch\]"'
    )
    with pytest.raises(InputError, match=said):
        glad(table(crowd(0)), inference="svi")


def test_what_it_does_not_use_is_refused():
    votes = table(crowd(0))
    for how, said in (
        ({"fit": GladFit()}, "a GladSvi with inference 'svi'"),
        ({"fit": GladSvi(steps=0)}, "whole number of at least 1"),
        ({"fit": GladSvi(learning_rate=0)}, "number of at least 1e-09"),
        ({"fit": GladSvi(seed=-1)}, "whole number of at least 0"),
    ):
        with pytest.raises(InputError, match=said):
            glad(votes, inference="svi", **how)
    with pytest.raises(InputError, match="a GladFit with inference 'cavi'"):
        glad(votes, fit=GladSvi())


def test_gold_is_refused():
    needs_torch()
    with pytest.raises(InputError, match=r"1 gold items, expected votes only.*; choose infer"):
        glad(with_gold(crowd(0), 0, 1), inference="svi", fit=SHORT)

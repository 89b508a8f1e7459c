"""GLAD: golden sweeps, exact posteriors, its bound, its sign, and what must not matter."""

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from equipoise import InputError, read_annotations
from equipoise.truth import annotator_bootstrap
from equipoise.truth.ability import GladFit, GladPrior, glad, graph_of
from equipoise.truth.blocks import annotator_votes
from tests.oracles.glad import crowd, exact_with_gold, table, with_gold

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/glad.json").read_text())
EXACT = GOLDEN["glad_exact_3annotators"]
PRIORS = {
    "sigma_b3_mu_c1_sigma_c1": "default",
    "paper_sigma_b1000_mu_c0": "paper",
    "sigma_b3_mu_c0": GladPrior(3, 0, 1),
    "sigma_b2_mu_c1_sigma_c0.5": GladPrior(2, 1, 0.5),
}
SIGNLESS = GladPrior(3, 0, 1)
LONG = GladFit(draws=40_000, burn_in=500)
TIGHT = GladFit(tolerance=1e-11, most=20_000)


@pytest.mark.parametrize("sweeps", [1, 2, 10])
@pytest.mark.parametrize("key", list(PRIORS)[:3])
def test_sweep_by_sweep(key, sweeps):
    golden = GOLDEN["glad_cavi"][key][f"after_{sweeps}_sweeps"]
    votes = table(GOLDEN["glad_cavi"]["votes_item_annotator_y"])
    made = glad(votes, prior=PRIORS[key], fit=GladFit(0, sweeps, rescale=False))
    assert_allclose(made.mean[:, 1], golden["p"], atol=1e-8)
    assert_allclose(made.skills.value, golden["mu_c"], atol=1e-8)
    assert made.diagnostics["trace"][-1] == pytest.approx(golden["elbo"], abs=1e-7)
    assert made.diagnostics["iterations"] == sweeps
    assert any("did not converge" in str(one) for one in made.notices)


@pytest.mark.parametrize("rescale", [False, True])
@pytest.mark.parametrize("key", list(PRIORS)[:3])
def test_the_end_of_the_climb(key, rescale):
    golden = GOLDEN["glad_cavi"][key]["converged"]
    votes = table(GOLDEN["glad_cavi"]["votes_item_annotator_y"])
    made = glad(votes, prior=PRIORS[key], fit=replace(TIGHT, rescale=rescale))
    assert_allclose(made.mean[:, 1], golden["p"], atol=2e-6)
    assert_allclose(made.skills.value, golden["mu_c"], atol=2e-6)
    assert made.diagnostics["trace"][-1] == pytest.approx(golden["elbo"], abs=2e-6)
    assert made.diagnostics["converged"]
    assert "not_converged" not in {one.code for one in made.notices}


@pytest.mark.parametrize("key", ["sigma_b2_mu_c1_sigma_c0.5", "sigma_b3_mu_c1_sigma_c1"])
def test_against_the_exact_posterior(key):
    golden, votes = EXACT[key], table(EXACT["votes_item_annotator_y"])
    climbed = glad(votes, prior=PRIORS[key], fit=TIGHT)
    assert_allclose(climbed.mean[:, 1], golden["cavi_p"], atol=1e-6)
    assert_allclose(climbed.skills.value, golden["cavi_mu_c"], atol=1e-6)
    assert climbed.diagnostics["trace"][-1] < golden["exact_log_evidence"]
    drawn = glad(votes, prior=PRIORS[key], inference="gibbs", fit=LONG)
    assert_allclose(drawn.mean[:, 1], golden["exact_p"], atol=0.008)
    assert_allclose(drawn.skills.value, golden["exact_mean_c"], atol=0.04)
    assert drawn.diagnostics["converged"]


def test_gold_cuts_an_item_off_at_zero():
    votes = np.array(
        [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0], [2, 0, 0], [2, 1, 0], [3, 1, 1]]
    )
    chance, ability, evidence = exact_with_gold(votes, 0, 1)
    drawn = glad(with_gold(votes, 0, 1), inference="gibbs", fit=LONG)
    assert_allclose(drawn.mean[1:, 1], chance[1:], atol=0.008)
    assert_allclose(drawn.skills.value, ability, atol=0.04)
    climbed = glad(with_gold(votes, 0, 1), fit=TIGHT)
    trace = np.array(climbed.diagnostics["trace"])
    assert (np.diff(trace) >= -1e-9).all()
    assert trace[-1] < evidence
    assert evidence - trace[-1] < 3
    assert_allclose(climbed.mean[1:, 1], chance[1:], atol=0.08)
    for made in (drawn, climbed):
        assert_allclose(made.mean[0], [0, 1])


def test_gold_fixes_the_sign_even_against_the_panel():
    votes = crowd(1)
    votes = votes[votes[:, 1] > 0] - [0, 1, 0]  # no adversary
    turned = votes.copy()
    turned[:, 2] = 1 - turned[:, 2]
    plain = glad(table(votes), prior=SIGNLESS)
    sure = int(np.argmax(plain.mean[:, 1]))
    known = glad(with_gold(turned, sure, 1), prior=SIGNLESS)
    assert known.skills.value.mean() < 0
    assert known.diagnostics["turned"] == 1
    drawn = glad(with_gold(turned, sure, 1), prior=SIGNLESS, inference="gibbs")
    assert drawn.skills.value.mean() < 0
    rest = np.arange(len(plain.items)) != sure
    agree = (known.mean[rest, 1] > 0.5) == (plain.mean[rest, 1] > 0.5)
    assert agree.mean() > 0.9


@pytest.mark.parametrize("prior", ["default", "paper", SIGNLESS], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_never_falls(prior, seed):
    random, votes = np.random.default_rng(seed), crowd(seed)
    votes[:, 2] = random.integers(0, 2, len(votes))
    made = glad(
        table(votes, weight=random.uniform(0.2, 3, len(votes))),
        prior=prior, fit=GladFit(1e-6, 500),
    )  # fmt: skip
    assert (np.diff(made.diagnostics["trace"]) >= -1e-8).all()


@given(st.integers(0, 10_000))
def test_every_part_has_positive_mean_ability(seed):
    random = np.random.default_rng(seed)
    blocks = []
    for part in range(3):
        item, who = np.nonzero(random.random((6, 4)) < 0.7)
        y = random.integers(0, 2, len(item))
        blocks.append(np.stack([item + 6 * part, who + 4 * part, y], axis=1))
    votes = table(np.vstack(blocks))
    made = glad(votes, prior=SIGNLESS)
    graph = graph_of(annotator_votes(votes, "", model="glad"))
    assert made.diagnostics["components"] == len(graph.anchored) >= 3
    assert (graph.lean(made.skills.value) >= -1e-12).all()
    assert any("groups that share no annotator" in str(one) for one in made.notices)
    turned = [one for one in made.notices if "sign was turned" in str(one)]
    assert len(turned) == (made.diagnostics["turned"] > 0)


def test_a_part_that_comes_out_upside_down_is_turned_and_said_so():
    found = [
        made
        for seed in range(200)
        if (made := glad(_noise(seed), prior=SIGNLESS)).diagnostics["turned"]
    ]
    assert found
    for made in found:
        assert any("sign was turned" in str(one) for one in made.notices)
        assert len(made.diagnostics["trace"]) == made.diagnostics["iterations"]
    knows = [glad(_noise(seed), prior=GladPrior(3, 1, 4)) for seed in (98, 368)]
    for made in knows:  # the prior knows the sign, so the climb goes on
        assert made.diagnostics["turned"] == 1
        assert 1 < len(made.diagnostics["trace"]) < made.diagnostics["iterations"]
        assert (np.diff(made.diagnostics["trace"]) >= -1e-9).all()


def _noise(seed):
    random = np.random.default_rng(seed)
    items, annotators = random.integers(3, 9), random.integers(2, 6)
    item, who = np.nonzero(random.random((items, annotators)) < 0.7)
    y = random.integers(0, 2, len(item))
    return table(np.stack([item, who, y], axis=1))


def test_an_adversary_has_negative_ability():
    votes = crowd(5, items=200)
    for inference in ("cavi", "gibbs"):
        made = glad(table(votes), inference=inference)
        assert made.skills.value[0] < -0.3
        assert (made.skills.value[1:] > 0.3).all()
    assert (made.skills.low < made.skills.value).all()
    assert (made.skills.value < made.skills.high).all()
    assert made.skills.high[0] < 0


def test_coordinate_ascent_has_no_intervals_and_says_what_it_did():
    made = glad(table(crowd(2)))
    assert made.skills.meaning == "ability"
    assert made.skills.low is None
    assert made.skills.high is None
    assert made.law.name == "labels"
    assert made.diagnostics["converged"]
    assert made.parameters["prior"] == {"sigma_b": 3.0, "mu_c": 1.0, "sigma_c": 1.0}
    assert ((made.difficulty > 0) & (made.difficulty <= 0.5)).all()
    certain = np.abs(made.mean[:, 1] - 0.5)
    assert np.corrcoef(certain, made.difficulty)[0, 1] < -0.8


@pytest.mark.parametrize("prior", ["default", "paper"])
def test_order_and_names_do_not_matter(prior):
    votes, random = crowd(3, share=0.8), np.random.default_rng(0)
    fit = GladFit(0, 60)
    assert len(np.unique(votes[:, 0])) == 40
    plain = glad(table(votes), prior=prior, fit=fit)
    items, annotators = random.permutation(40), random.permutation(6)
    moved = np.stack([items[votes[:, 0]], annotators[votes[:, 1]], votes[:, 2]], axis=1)
    made = glad(table(random.permutation(moved)), prior=prior, fit=fit)
    assert_allclose(made.mean[items], plain.mean, atol=1e-9)
    assert_allclose(made.skills.value[annotators], plain.skills.value, atol=1e-9)
    votes[:, 2] = 1 - votes[:, 2]
    turned = glad(table(votes), prior=prior, fit=fit)
    assert_allclose(turned.mean, plain.mean[:, ::-1], atol=1e-9)
    assert_allclose(turned.skills.value, plain.skills.value, atol=1e-9)


def test_weights_counts_and_repetitions_are_the_same():
    votes = crowd(4)
    times = np.random.default_rng(0).integers(1, 4, len(votes))
    repeated = table(np.repeat(votes, times, axis=0))
    heavy = table(votes, weight=times.astype(float))
    for inference in ("cavi", "gibbs"):
        one, two = (glad(x, inference=inference) for x in (repeated, heavy))
        assert_allclose(one.mean, two.mean, atol=1e-9)
        assert_allclose(one.skills.value, two.skills.value, atol=1e-9)
    assert_allclose(glad(table(votes, count=times)).mean, glad(heavy).mean, atol=1e-9)
    assert np.abs(glad(heavy).mean - glad(table(votes)).mean).max() > 0.01


def test_chains_follow_the_seed():
    votes, fit = table(crowd(0)), GladFit(draws=50, burn_in=10)
    one, again = (glad(votes, inference="gibbs", fit=fit) for _ in range(2))
    other = glad(votes, inference="gibbs", fit=replace(fit, seed=1))
    assert (one.mean == again.mean).all()
    assert (one.mean != other.mean).any()


def test_a_chain_under_a_prior_without_sign_is_oriented():
    votes = crowd(6, items=80)
    two = np.vstack([votes, votes + np.array([80, 6, 0])])
    made = glad(table(two), prior=SIGNLESS, inference="gibbs")
    assert (made.skills.value[[0, 6]] < 0).all()
    assert (np.delete(made.skills.value, [0, 6]) > 0).all()


def test_textual_entailment():
    """Log-loss against the truth .190, vote share .353 (Snow et al. 2008)."""
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds votes/")
    path = Path(os.environ["EQUIPOISE_DATA"]) / "votes/snow_rte.csv"
    votes = read_annotations(path)
    with path.open() as file:
        known = {row["item"]: int(row["truth"]) for row in csv.DictReader(file)}
    truth = np.array([known[item] for item in votes.items])
    chance = glad(votes).mean[:, 1]
    loss = -np.log(np.where(truth, chance, 1 - chance)).mean()
    assert loss == pytest.approx(0.190, abs=0.002)


def test_it_can_be_bootstrapped():
    votes = table(crowd(7, items=15))
    many = annotator_bootstrap(glad, votes, draws=5, seed=0)
    assert many.draws == 5
    assert np.abs(many.mass - many.mass[0]).max() > 0.01


@pytest.mark.parametrize("inference", ["cavi", "gibbs"])
def test_extreme_weights_and_items_known_without_votes(inference):
    votes = crowd(8, items=10)
    gold = np.zeros(len(votes) + 1, dtype=bool)
    gold[-1] = True
    weight = np.ones(len(gold))
    weight[0] = 9_000 if inference == "gibbs" else 1e90
    full = table(np.vstack([votes, [10, 5, 1]]), is_gold=gold, weight=weight)
    fit = GladFit(draws=20, burn_in=5) if inference == "gibbs" else None
    made = glad(full, inference=inference, fit=fit)
    assert np.isfinite(made.mean).all()
    assert np.isfinite(made.skills.value).all()
    assert_allclose(made.mean[-1], [0, 1])
    only = table([[0, 0, 1], [1, 1, 0]], is_gold=np.array([True, True]))
    assert_allclose(glad(only, inference=inference).mean, [[0, 1], [1, 0]])


def test_what_it_cannot_take_is_refused_with_a_reason():
    votes = table(crowd(0))
    with pytest.raises(InputError, match=r"anonymous votes .*, expected annotators with ids; "):
        glad(votes.anonymous())
    nominal = replace(votes, kind="nominal", classes=("a", "b", "c"))
    with pytest.raises(InputError, match=r"kind nominal, expected yes/no votes .*; ask about"):
        glad(nominal)
    for how, said in (
        ({"inference": "cavy"}, "did you mean 'cavi'"),
        ({"prior": "papre"}, "did you mean 'paper'"),
        ({"prior": 2.0}, "a GladPrior"),
        ({"prior": GladPrior(sigma_b=0)}, "deviations between"),
        ({"prior": GladPrior(sigma_c=np.nan)}, "deviations between"),
        ({"prior": GladPrior(mu_c=-1)}, "a mean ability of at least 0"),
        ({"fit": 3}, "a GladFit"),
        ({"inference": "svi"}, "expected one of cavi, gibbs"),
        ({"fit": GladFit(tolerance=-1)}, "number of at least 0"),
        ({"fit": GladFit(most=0)}, "whole number of at least 1"),
        ({"fit": GladFit(draws=2.5)}, "whole number of at least 4"),
        ({"fit": GladFit(seed=-1)}, "whole number of at least 0"),
        ({"fit": GladFit(tolerance="no")}, "number of at least 0"),
        ({"fit": GladFit(most=True)}, "whole number of at least 1"),
        ({"fit": GladFit(rescale=1)}, "True or False"),
        ({"fit": GladFit(draws=20)}, "which draws nothing.*; choose inference='gibbs'"),
        ({"fit": GladFit(burn_in=20)}, "which draws nothing"),
        ({"fit": GladFit(seed=1)}, "which draws nothing"),
        ({"task": "other"}, "expected one of"),
    ):
        with pytest.raises(InputError, match=said):
            glad(votes, **how)
    half = replace(votes, weight=np.full(len(votes), 0.5))
    with pytest.raises(InputError, match=r"whole numbers of votes.*; choose inference='cavi'"):
        glad(half, inference="gibbs")

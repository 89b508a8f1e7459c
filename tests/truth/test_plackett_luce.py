"""Plackett-Luce: golden posteriors, simulation-based calibration, and what must not matter."""

import json
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from equipoise import Annotations, InputError
from equipoise.kernels.plackett_luce import EXACT
from equipoise.truth import Chain, dirichlet, plackett_luce

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/plausibilities.json").read_text())
POSTERIOR = GOLDEN["pl_posterior"]
LONG = Chain(draws=15_000, burn_in=200)


def cases(selectors, classes):
    return Annotations.from_rankings(selectors, classes=[str(k) for k in range(classes)])


def close(draws, expected):
    """Means within five standard errors, with half of the draws counted as independent."""
    error = draws.std(axis=0) / np.sqrt(len(draws) / 2)
    assert (np.abs(draws.mean(axis=0) - expected) <= 5 * error + 1e-9).all()


@pytest.mark.parametrize("case", POSTERIOR["quadrature"], ids=lambda c: str(c["selectors"]))
def test_posterior_by_quadrature(case):
    made = plackett_luce(
        cases([case["selectors"]], case["num_classes"]), prior=case["alpha"], chain=LONG
    )
    full = np.stack([made.draw(number)[0] for number in range(made.draws)])
    close(full, case["posterior_mean"])
    top = (full.argmax(axis=1)[:, None] == np.arange(full.shape[1])).astype(float)
    close(top, case["top1_certainty"])


@pytest.mark.parametrize("case", POSTERIOR["closed_form_top1_only"], ids=lambda c: c["alpha"])
def test_single_answers_are_a_dirichlet(case):
    votes = cases([case["selectors"]], case["num_classes"])
    made = plackett_luce(votes, prior=case["alpha"], chain=LONG)
    close(made.mass, case["posterior_mean_ranked"])
    close(made.rest, case["unranked_mass"])
    exact = dirichlet(votes, prior=case["alpha"]).certainty
    assert_allclose(exact[0], made.certainty[0], atol=0.015)


@pytest.mark.parametrize("key", POSTERIOR["importance_sampling_K12"]["values"])
def test_collapsed_classes_against_importance_sampling(key):
    golden = POSTERIOR["importance_sampling_K12"]
    value = golden["values"][key]
    made = plackett_luce(cases([golden["selectors"]], 12), prior=value["alpha"], chain=LONG)
    close(np.hstack([made.mass, made.rest]), value["mean"][:6])


def test_a_large_tied_block_against_rejection_sampling():
    size = EXACT + 1
    random = np.random.default_rng(0)
    rates = random.gamma(0.7, size=(400_000, size + 1))
    arrival = random.exponential(size=rates.shape) / rates
    last = arrival.argmax(axis=1) == size  # all of the block before the one that is not named
    share = (rates / rates.sum(axis=1, keepdims=True))[last]
    reading = [[list(range(size))]]
    made = plackett_luce(cases([reading], size + 1), prior=0.7, chain=Chain(40_000, 500))
    assert made.rest.mean() == pytest.approx(share[:, -1].mean(), abs=0.001)
    assert_allclose(made.mass.mean(axis=0), share[:, :-1].mean(axis=0), atol=0.004)
    assert made.mass.var() == pytest.approx(share[:, :-1].var(), rel=0.05)


@pytest.mark.parametrize("blocks", [[[0], [1]], [[0, 1], [2]], [[2, 0, 1]]])
def test_simulation_based_calibration(blocks):
    """Ranks of the true rate among posterior draws are uniform (Talts et al. 2018)."""
    random = np.random.default_rng(len(blocks))
    runs, draws, classes = 400, 19, 4
    shape = [len(block) for block in blocks]
    truth, readings = np.empty(runs), []
    for run in range(runs):
        rates = random.gamma(0.8, size=classes)
        truth[run] = (rates / rates.sum())[0]
        order = (random.exponential(size=(2, classes)) / rates).argsort(axis=1)
        pairs = list(pairwise(np.cumsum([0, *shape])))
        readings.append([[row[a:b].tolist() for a, b in pairs] for row in order])
    made = plackett_luce(cases(readings, classes), prior=0.8, chain=Chain(draws, 60, 8))
    place = made.classes.index("0")
    first = np.stack([made.draw(number)[:runs, place] for number in range(draws)], axis=1)
    ranks = (first < truth[:, None]).sum(axis=1)
    assert chisquare(np.bincount(ranks, minlength=draws + 1)).pvalue > 0.001


def test_classes_that_nobody_mentions_cost_nothing_and_change_nothing():
    selectors = [[[[0], [1, 2]], [[1], [0]]]]
    few, many = (
        plackett_luce(cases(selectors, k), prior=1.0 / k, chain=Chain(50)) for k in (5, 5_000)
    )
    assert few.mass.shape == many.mass.shape == (50, 3)
    assert few.rest.shape == many.rest.shape == (50, 1)


def test_chains_do_not_depend_on_their_neighbours_and_follow_the_seed():
    one, two = [[[0], [1]], [[1]]], [[[2, 3], [0]]]
    both = plackett_luce(cases([one, two], 4), chain=Chain(40))
    alone = plackett_luce(cases([one], 4), chain=Chain(40))
    assert (both.mass[:, :2] == alone.mass).all()
    again = plackett_luce(cases([one, two], 4), chain=Chain(40))
    assert (both.mass == again.mass).all()
    other = plackett_luce(cases([one, two], 4), chain=Chain(40, seed=1))
    assert (both.mass != other.mass).any()


def test_repeated_readings_are_reliability():
    reading = [[0], [1]]
    thrice = plackett_luce(cases([[reading] * 3], 3), prior=1.0, chain=LONG)
    reliable = plackett_luce(cases([[reading]], 3), prior=1.0, reliability=3, chain=LONG)
    assert_allclose(thrice.mean, reliable.mean, atol=0.01)
    half = plackett_luce(cases([[reading]], 3), prior=1.0, reliability=1.5, chain=LONG)
    assert thrice.mean[0, 0] > half.mean[0, 0] > 1 / 3


def test_diagnostics_and_refusals():
    votes = cases([[[[0], [1]]]], 3)
    made = plackett_luce(votes)
    assert made.diagnostics["r_hat"][0] == pytest.approx(1, abs=0.05)
    assert made.diagnostics["effective_size"][0] > 200
    assert made.notices == ()
    for how in (
        {"reliability": 0},
        {"prior": 0.0},
        {"prior": "idd"},
        {"chain": Chain(draws=0)},
    ):
        with pytest.raises(InputError, match=r", expected .*; "):
            plackett_luce(votes, **how)
    with pytest.raises(InputError, match="tied readings"):
        plackett_luce(cases([[[[0, 1]]]], 3), reliability=1.5)


def test_dermatology_certainties():
    """Stutz et al.: 59 % of cases below 0.99; mean certainties recomputed .712 and .841."""
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds dermatology_ddx/")
    path = Path(os.environ["EQUIPOISE_DATA"]) / "dermatology_ddx/dermatology_selectors.json"
    votes = cases(json.loads(path.read_text()), 419)
    for reliability, mean in ((1, 0.712), (3, 0.841)):
        made = plackett_luce(votes, reliability=reliability, prior="notebook")
        assert made.certainty.mean() == pytest.approx(mean, abs=0.003)
    assert (made.certainty < 0.99).mean() == pytest.approx(0.593, abs=0.008)

"""GLAD: calibration of the chain by simulation, and what must not matter to any fit.

A truth drawn from the prior and draws from the posterior given votes of that truth are
exchangeable, so the rank of the truth among (almost independent) draws is uniform (Talts et al.
2018).
"""

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from equipoise.kernels import glad as kernel
from equipoise.truth.ability import GladFit, GladPrior, glad
from tests.oracles.glad import crowd, simulated_world, table

ITEMS, ANNOTATORS, DRAWS, THIN = 8, 4, 19, 20
PRIOR = GladPrior(1.5, 1.0, 0.7)


def watched(b, c, rows):
    """Items, abilities, the mean size of an item, and the log-likelihood of the votes."""
    fit = -np.logaddexp(0, -2 * rows[3] * np.outer(b, c).ravel()).sum()
    return np.concatenate([b, c, [np.abs(b).mean(), fit]])


def ranks(chain, simulations, *, known):
    """Ranks of what is watched among thinned draws, (simulations, quantities)."""
    random, found = np.random.default_rng(20), []
    for number in range(simulations):
        b, c, rows = simulated_world(random, PRIOR, (ITEMS, ANNOTATORS))
        side = np.zeros(ITEMS, dtype=np.int64)
        side[0] = np.sign(b[0]) if known else 0
        parts = (
            np.zeros(ITEMS, dtype=int), np.zeros(ANNOTATORS, dtype=int),
            np.array([known]), np.full(ANNOTATORS, float(ITEMS)),
        )  # fmt: skip
        precisions = (PRIOR.sigma_b**-2, PRIOR.mu_c, PRIOR.sigma_c**-2)
        truth, ability = watched(b, c, rows), np.ones((1, ANNOTATORS))
        below = np.zeros(len(truth))
        for draw in range(DRAWS):
            out = (np.zeros(ITEMS), np.zeros(ITEMS), ability)  # the mean of one draw is it
            steps = (THIN if draw else 4 * THIN, np.uint64(1000 * number + draw))
            chain((*rows, side), parts, precisions, steps, out)
            below += watched(out[1], ability[0], rows) < truth
        found.append(below)
    return np.array(found, dtype=int)


@pytest.mark.parametrize("known", [False, True])
def test_ranks_of_the_truth_among_draws_are_uniform(known):
    found = ranks(kernel.chain, 500, known=known)
    for quantity in found.T:
        counts = np.bincount(quantity, minlength=DRAWS + 1)
        assert chisquare(counts.reshape(10, 2).sum(axis=1)).pvalue > 1e-3
    assert found.mean() == pytest.approx(DRAWS / 2, abs=0.4)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_coordinate_ascent_follows_names_and_classes(seed):
    random, votes = np.random.default_rng(seed), crowd(seed % 50, items=20, share=0.8)
    random.shuffle(votes)
    items, people = votes[:, 0].max() + 1, votes[:, 1].max() + 1
    place, who = random.permutation(items), random.permutation(people)
    weight, fit = random.uniform(0.5, 2, len(votes)), GladFit(1e-8, 400)
    plain = glad(table(votes, weight=weight), fit=fit)
    moved = np.stack([place[votes[:, 0]], who[votes[:, 1]], 1 - votes[:, 2]], axis=1)
    made = glad(table(moved, weight=weight), fit=fit)
    names = [int(name[1:]) for name in plain.items]
    code = {name: number for number, name in enumerate(made.items)}
    rows = [code[f"i{place[number]}"] for number in names]
    assert_allclose(made.mean[rows][:, ::-1], plain.mean, atol=1e-6)
    assert_allclose(made.skills.value[who], plain.skills.value, atol=1e-6)
    assert_allclose(made.difficulty[rows], plain.difficulty, atol=1e-6)


def test_a_chain_follows_the_names_of_classes_in_distribution():
    votes, fit = crowd(9, items=12), GladFit(draws=20_000)
    turned = votes * [1, 1, -1] + [0, 0, 1]
    one, two = (glad(table(x), inference="gibbs", fit=fit) for x in (votes, turned))
    assert_allclose(one.mean, two.mean[:, ::-1], atol=0.02)
    assert_allclose(one.skills.value, two.skills.value, atol=0.1)


@pytest.mark.parametrize("inference", ["cavi", "gibbs"])
def test_threads_do_not_change_a_byte(inference):
    votes = table(crowd(3, items=300))
    fit = GladFit(draws=20, burn_in=10) if inference == "gibbs" else None
    before, found = numba.get_num_threads(), []
    for number in {1, before}:
        numba.set_num_threads(number)
        found.append(glad(votes, inference=inference, fit=fit))
    numba.set_num_threads(before)
    with ThreadPoolExecutor(4) as pool:
        found += pool.map(lambda _: glad(votes, inference=inference, fit=fit), range(4))
    for made in found:
        assert made.mean.tobytes() == found[0].mean.tobytes()
        assert made.skills.value.tobytes() == found[0].skills.value.tobytes()

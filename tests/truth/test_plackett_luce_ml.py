"""Plackett-Luce by maximum likelihood: golden likelihoods, optima by search, and what holds."""

import json
import os
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from equipoise import Annotations, InputError
from equipoise.kernels.plackett_luce import expected_exposures
from equipoise.truth import plackett_luce_ml
from equipoise.truth.confusion import Fit
from equipoise.truth.rankings import collect_readings
from tests.oracles.plackett_luce import exposures

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/plausibilities.json").read_text())
LIKELIHOOD = GOLDEN["pl_loglik"]
NAMED = [LIKELIHOOD[name] for name in ("second", "block7_dp_only", "extreme")]
PLAIN = [{"lam": LIKELIHOOD["lam"], **case} for case in LIKELIHOOD["cases"]]
EXACT = Fit(1e-13, 100_000)


def cases(selectors, classes):
    return Annotations.from_rankings(selectors, classes=[str(k) for k in range(classes)])


def log_likelihood(rates, readings):
    """Exact log chance of readings, each a list of tied blocks, best first."""
    total = 0.0
    for reading in readings:
        later = np.delete(rates, np.concatenate(reading)).sum()
        for block in reversed(reading):
            total += exposures(rates[block][None], np.array([later]))[0][0]
            later += rates[block].sum()
    return total


def objective(theta, readings, prior):
    """The definition, for one case and all its classes."""
    return log_likelihood(theta, readings) + prior * np.log(theta / theta.sum()).sum()


@st.composite
def readings(draw, classes=5):
    made = []
    for _ in range(draw(st.integers(1, 4))):
        order = draw(st.permutations(range(classes)))
        named = order[: draw(st.integers(1, classes))]
        cuts = sorted(draw(st.sets(st.integers(1, len(named)))) - {len(named)})
        made.append(
            [list(named[a:b]) for a, b in zip([0, *cuts], [*cuts, len(named)], strict=True)]
        )
    return made


@pytest.mark.parametrize("case", [*PLAIN, *NAMED], ids=lambda c: str(c["selectors"]))
def test_golden_likelihood(case):
    rates = np.array(case["lam"])
    assert log_likelihood(rates, case["selectors"]) == pytest.approx(case["loglik"], abs=1e-8)
    assert log_likelihood(rates * 1e9, case["selectors"]) == pytest.approx(
        case["loglik"], abs=1e-8
    )


def test_chances_of_all_orders_sum_to_one():
    rates = np.array([0.3, 2.0, 1.0, 0.01])
    every = [[[k] for k in order] for order in permutations(range(4))]
    total = sum(np.exp(log_likelihood(rates, [one])) for one in every)
    assert total == pytest.approx(1, abs=1e-12)


def test_exposures_are_averages_over_hidden_orders():
    rates, later = np.array([0.5, 2.0, 1.0]), 0.7
    chance, inside, whole = 0.0, np.zeros(3), 0.0
    for order in permutations(range(3)):
        left = [later + rates[list(order[place:])].sum() for place in range(3)]
        weight = np.prod(rates / np.array(left)[np.argsort(order)])
        chance += weight
        whole += weight * np.sum(1 / np.array(left))
        for place, k in enumerate(order):
            inside[k] += weight * np.sum(1 / np.array(left[: place + 1]))
    found = exposures(rates[None], np.array([later]))
    assert_allclose(found[0], np.log(chance), atol=1e-12)
    assert_allclose(found[1][0], inside / chance, atol=1e-12)
    assert_allclose(found[2], whole / chance, atol=1e-12)


@settings(max_examples=60)
@given(first=readings(), second=readings(), seed=st.integers(0, 2**32 - 1))
def test_exposures_of_cases_are_those_of_their_blocks(first, second, seed):
    taken = collect_readings(cases([first, second], 7), "")
    random, entries = np.random.default_rng(seed), len(taken.label)
    rates, found = random.exponential(size=entries + 2), np.zeros(entries + 2)
    names = ("start", "readings", "blocks", "elements", "element", "copies")
    value = expected_exposures(tuple(getattr(taken, name) for name in names), rates, found)
    expected, total = np.zeros(entries + 2), 0.0
    for number, case in enumerate((first, second)):
        own = slice(taken.start[number], taken.start[number + 1])
        place = {k: taken.start[number] + i for i, k in enumerate(taken.label[own].tolist())}
        for reading in case:
            left = {*place.values(), entries + number}
            for block in reading:
                named = [place[k] for k in block]
                left -= set(named)
                later = sorted(left)
                log, inside, whole = exposures(
                    rates[named][None], np.array([rates[later].sum()])
                )
                total += log[0]
                expected[named] += inside[0]
                expected[later] += whole[0]
    assert_allclose(found, expected, rtol=1e-10)
    assert value == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("prior", [0.05, 0.5])
@pytest.mark.parametrize(
    "case", GOLDEN["pl_posterior"]["quadrature"], ids=lambda c: str(c["selectors"])
)
def test_no_search_finds_a_better_point(case, prior):
    made = plackett_luce_ml(
        cases([case["selectors"]], case["num_classes"]), prior=prior, fit=EXACT
    )
    found = objective(made.mean[0], case["selectors"], prior)
    search = minimize(
        lambda x: -objective(np.exp(x - x.max()), case["selectors"], prior),
        np.zeros(case["num_classes"]), method="BFGS", options={"gtol": 1e-7},
    )  # fmt: skip
    assert found == pytest.approx(-search.fun, abs=1e-8)
    best = np.exp(search.x - search.x.max())
    assert_allclose(made.mean[0], best / best.sum(), atol=1e-5)


@settings(max_examples=60)
@given(case=readings(), prior=st.sampled_from([0.0, 0.01, 0.3]))
def test_the_exact_objective_never_falls(case, prior):
    made = plackett_luce_ml(cases([case], 7), prior=prior, fit=Fit(1e-9, 100))
    trace = np.array(made.diagnostics["trace"])
    assert (np.diff(trace) >= -1e-10).all()
    if prior:
        unmentioned = 7 - np.diff(made.start)[0]
        spread = prior * unmentioned * np.log(max(unmentioned, 1))
        assert trace[-1] == pytest.approx(objective(made.mean[0], case, prior) + spread)


@settings(max_examples=30)
@given(case=readings(), order=st.permutations(range(5)))
def test_names_order_and_company_do_not_matter(case, order):
    alone = plackett_luce_ml(cases([case], 5), fit=EXACT).mean[0]
    renamed = [[[order[k] for k in block] for block in reading] for reading in case[::-1]]
    both = plackett_luce_ml(cases([[[[0]]], renamed], 5), fit=EXACT).mean[1]
    assert_allclose(both[order], alone, atol=1e-7)


def test_single_answers_are_shares_of_votes():
    votes = cases([[[[0]], [[0]], [[1]]]], 4)
    assert_allclose(plackett_luce_ml(votes, prior=0.0).mean[0], [2 / 3, 1 / 3, 0, 0])
    assert_allclose(plackett_luce_ml(votes, prior=0.5).mean[0], [0.5, 0.3, 0.1, 0.1])
    assert_allclose(plackett_luce_ml(votes).rest, 0.5 / 4)


def test_the_default_prior_hardly_depends_on_the_list_of_classes():
    case = [[[0], [1]], [[1], [2]], [[0, 2]]]
    few, many = (plackett_luce_ml(cases([case], size)).mass[0] for size in (40, 4000))
    assert_allclose(few, many, atol=0.01)


def test_a_class_that_is_never_beaten_takes_everything_and_the_user_is_told():
    votes = cases([[[[0], [1]], [[0], [2]]]], 3)
    made = plackett_luce_ml(votes, prior=0.0)
    assert made.mean[0, 0] > 0.999
    assert not made.diagnostics["converged"]
    assert "give a prior" in str(made.notices[0])
    assert plackett_luce_ml(votes, prior=0.01).diagnostics["converged"]


def test_rates_are_recovered_from_many_censored_and_tied_readings():
    random = np.random.default_rng(0)
    truth = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    made = []
    for _ in range(3000):
        order = np.argsort(random.exponential(size=5) / truth)
        made.append([[int(order[0]), int(order[1])], [int(order[2])]])
    found = plackett_luce_ml(cases([made], 5), prior=0.0).mean[0]
    assert_allclose(found, truth, atol=0.02)


def test_all_real_readings():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds dermatology_ddx/")
    path = Path(os.environ["EQUIPOISE_DATA"]) / "dermatology_ddx/dermatology_selectors.json"
    selectors = json.loads(path.read_text())
    made = plackett_luce_ml(Annotations.from_rankings(selectors))
    assert made.diagnostics["converged"]
    trace = np.array(made.diagnostics["trace"])
    assert (np.diff(trace) >= -1e-12 * abs(trace[-1])).all()
    assert 0.05 < made.rest.mean() < 0.2


def test_what_it_cannot_take_is_refused_with_a_reason():
    wide = cases([[[[0]], [list(range(9))]]], 10)
    with pytest.raises(
        InputError, match="9 tied classes, expected blocks of at most 8; choose"
    ):
        plackett_luce_ml(wide)
    votes = cases([[[[0]]]], 2)
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="expected a pseudo-count and a tolerance of at"):
            plackett_luce_ml(votes, prior=wrong)
    with pytest.raises(InputError, match="at least one step"):
        plackett_luce_ml(votes, fit=Fit(1e-9, 0))
    elsewhere = replace(votes, tasks=("a", "b"), task=np.zeros(1, int))
    assert plackett_luce_ml(elsewhere, task="a").task == "a"
    with pytest.raises(InputError, match="task 'b': no readings, expected at least one"):
        plackett_luce_ml(elsewhere, task="b")
    ratings = Annotations(
        kind="interval", items=("a",), item=np.zeros(1, int), value=np.array([0.5])
    )
    with pytest.raises(InputError, match="expected labels or rankings"):
        plackett_luce_ml(ratings)

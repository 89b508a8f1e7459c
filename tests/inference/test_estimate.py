"""Estimates: quantiles of replicates, undefined ones, and only paired differences."""

import json
import math
import operator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student

from equipoise.inference import Spread
from equipoise.inference.estimate import Estimate, wilson
from equipoise.types import InputError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "metrics.json").read_text("utf-8"))
REPLICATES = np.random.default_rng(3).normal(0.7, 0.05, 999)


@pytest.mark.parametrize("case", GOLDEN["wilson_95"], ids=lambda c: f"{c['x']}/{c['n']}")
def test_wilson_golden(case):
    assert wilson(case["x"], case["n"]) == pytest.approx(case["ci"], abs=1e-12)


@given(yes=st.integers(0, 50), level=st.sampled_from([0.5, 0.9, 0.99]))
def test_wilson_ends_solve_the_score_equation(yes, level):
    z = norm.ppf(0.5 + level / 2)
    low, high = wilson(yes, 50, level)
    assert 0 <= low <= yes / 50 <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            wide = z * math.sqrt(end * (1 - end) / 50)
            assert abs(yes / 50 - end) == pytest.approx(wide, abs=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_without_a_spread_the_interval_is_quantiles_of_replicates(level):
    tails = np.quantile(REPLICATES, [(1 - level) / 2, (1 + level) / 2])
    found = Estimate(0.68, REPLICATES, "p").interval(level)
    assert found == pytest.approx(tuple(tails), abs=1e-12)


def test_intervals_are_cut_at_the_bounds():
    spread = np.linspace(-1, 3, 101)
    assert Estimate(0.9, spread, "p", (0, 1)).interval() == (0, 1)
    wide = Spread(0.25, df_items=9.0)
    assert Estimate(0.9, spread, "p", (0.0, 2.0), wide).interval() == (0, pytest.approx(2.0))


def test_a_spread_decides_the_interval_and_replicates_stay_beside_it():
    known = Estimate(0.68, REPLICATES, "p", (-1.0, 1.0), Spread(0.01, df_items=9.0))
    half = student.ppf(0.975, 9) * 0.1
    assert known.interval() == pytest.approx((0.68 - half, min(0.68 + half, 1.0)))
    assert known.resampled() == Estimate(0.68, REPLICATES, "p").interval()
    assert known.standard_error == pytest.approx(0.1)


def test_undefined_replicates_count_against_both_ends():
    some = REPLICATES.copy()
    some[:10] = np.nan
    low, high = Estimate(0.7, some, "p").interval()
    assert low == pytest.approx(np.quantile(np.where(np.isnan(some), -9, some), 0.025))
    assert high == pytest.approx(np.quantile(np.where(np.isnan(some), 9, some), 0.975))
    assert Estimate(0.7, some, "p").undefined == pytest.approx(10 / 999)
    some[:60] = np.nan
    assert np.isnan(Estimate(0.7, some, "p").interval()).all()


def test_an_end_that_falls_on_a_defined_replicate_is_defined():
    some = np.append(np.arange(4) / 4, np.nan)
    low, high = Estimate(0.5, some, "p").interval(0.5)
    assert (low, high) == pytest.approx((0.0, 0.75))


def test_an_undefined_value_has_no_interval():
    nothing = Estimate(math.nan, np.full(5, np.nan), "p")
    assert np.isnan(nothing.interval()).all() and str(nothing) == "undefined"


def test_facts_of_the_replicates():
    estimate = Estimate(0.68, REPLICATES, "p")
    assert estimate.shift == pytest.approx(REPLICATES.mean() - 0.68)
    assert estimate.standard_error == pytest.approx(REPLICATES.std())
    assert estimate.undefined == 0
    assert not estimate.replicates.flags.writeable
    assert str(estimate).startswith("0.680 [")


def test_a_difference_is_paired():
    a = Estimate(0.8, REPLICATES, "plan", (0, 1))
    b = Estimate(0.7, REPLICATES - 0.1, "plan", (0, 1))
    gap = a - b
    assert gap.value == pytest.approx(0.1)
    assert gap.interval() == pytest.approx((0.1, 0.1))
    assert gap.bounds == (-1, 1) and gap.plan == "plan"
    assert (a - a).interval() == (0, 0)


def test_estimates_of_different_plans_do_not_mix():
    with pytest.raises(InputError, match="one plan"):
        Estimate(0.8, REPLICATES, "one") - Estimate(0.7, REPLICATES, "two")


def test_estimates_have_no_order():
    a, b = Estimate(0.8, REPLICATES, "p"), Estimate(0.7, REPLICATES, "p")
    with pytest.raises(TypeError):
        operator.lt(a, b)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Estimate(0.5, REPLICATES, "p").interval(0),
        lambda: Estimate(0.5, REPLICATES, "p").interval(95),
        lambda: Estimate(0.5, REPLICATES, "p", spread=Spread(0.1)).interval(95),
    ],
)
def test_bad_estimates_are_refused_in_four_parts(call):
    with pytest.raises(InputError) as caught:
        call()
    assert all((caught.value.where, caught.value.got, caught.value.expected, caught.value.do))

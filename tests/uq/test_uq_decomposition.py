"""Decomposition of uncertainty: golden checks, quadrature, laws, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import beta as beta_law

from equipoise import uq
from equipoise.types import InputError
from equipoise.uq import Beta, decompose
from equipoise.uq.decomposition import image_level, mean_probabilities

PAIRS = [(1, 1), (0.5, 0.5), (2, 1), (3, 7), (20, 1.5), (200, 300)]
members = arrays(
    np.float64,
    array_shapes(min_dims=3, max_dims=3, max_side=5),
    elements=st.floats(0, 1, allow_nan=False),
)


def entropy(p):
    return float(sum(-x * np.log(x) for x in (p, 1 - p) if x > 0))


@settings(max_examples=60, deadline=None)
@given(probs=members)
def test_parts_add_up_and_stay_in_bounds(probs):
    """G1, and the definition item by item."""
    PU, AU, EU = decompose(probs)
    assert_allclose(PU, AU + EU, atol=1e-12)
    assert (EU >= 0).all() and (EU <= PU + 1e-12).all() and (np.log(2) + 1e-12 >= PU).all()
    for spot in np.ndindex(PU.shape):
        each = [entropy(p) for p in probs[(slice(None), *spot)]]
        assert PU[spot] == pytest.approx(entropy(probs[(slice(None), *spot)].mean()), abs=1e-9)
        assert AU[spot] == pytest.approx(np.mean(each), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(probs=members)
def test_reverse_parts_add_up(probs):
    PU, AU, EU = decompose(probs, decomposition="reverse_mi")
    assert_allclose(PU, AU + EU, atol=1e-9)
    assert (EU >= 0).all()
    assert_allclose(AU, decompose(probs).PU)


@settings(max_examples=30, deadline=None)
@given(probs=members, order=st.randoms(use_true_random=False))
def test_members_have_no_order(probs, order):
    rows = list(range(len(probs)))
    order.shuffle(rows)
    assert_allclose(decompose(probs[rows]), decompose(probs), atol=1e-12)


def test_one_member_and_identical_members():
    """G2."""
    probs = np.random.default_rng(0).random((1, 50, 3))
    for how in ("information", "reverse_mi"):
        PU, AU, EU = decompose(probs, decomposition=how)
        assert (EU == 0).all() and (PU == AU).all()
    assert np.abs(decompose(np.repeat(probs, 7, axis=0)).EU).max() < 1e-12
    assert_allclose(decompose(probs[0]), decompose(probs))


def test_members_that_contradict_each_other():
    """G2b."""
    PU, AU, EU = decompose(np.array([[[0.0]], [[1.0]]]))
    assert PU[0, 0] == pytest.approx(np.log(2)) and AU[0, 0] == 0
    assert EU[0, 0] == pytest.approx(np.log(2))


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_beta_forms_agree_with_quadrature(a, b):
    """G3, G3b and G3c."""
    law = beta_law(a, b)
    said = Beta(a, b)
    found = decompose(said)
    inside = quad(lambda p: entropy(p) * law.pdf(p), 0, 1, limit=200)[0]
    assert pytest.approx(inside, abs=1e-7) == found.AU
    mean = a / (a + b)
    cross = quad(
        lambda p: -(mean * np.log(p) + (1 - mean) * np.log1p(-p)) * law.pdf(p), 0, 1, limit=200
    )[0]
    printed = decompose(said, decomposition="reverse_mi")
    assert pytest.approx(cross, abs=1e-6) == printed.PU
    assert pytest.approx(1 / (a + b), abs=1e-12) == found.EU + printed.EU


def test_the_flat_beta():
    said = Beta(1.0, 1.0)
    found = decompose(said)
    assert pytest.approx((0.693147, 0.5, 0.193147), abs=1e-6) == (found.PU, found.AU, found.EU)
    assert pytest.approx(1.0) == decompose(said, decomposition="reverse_mi").PU


def test_few_members_see_too_little():
    """G21: about (1 - 1/M) of the disagreement."""
    rng = np.random.default_rng(0)
    logits = 0.3 * rng.normal(size=(1000, 5, 400)) - 1
    many = 0.3 * rng.normal(size=(20_000, 1, 1)) - 1
    whole = decompose(many, logits=True).EU[0, 0]
    five = decompose(np.moveaxis(logits, 1, 0), logits=True).EU.mean()
    assert five / whole == pytest.approx(0.803, abs=0.01)


def test_logits_and_small_floats_are_taken_in_full_precision():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4, 30, 2)).astype(np.float16)
    probs = 1 / (1 + np.exp(-logits.astype(np.float64)))
    assert_allclose(decompose(logits, logits=True), decompose(probs), atol=1e-12)
    assert_allclose(mean_probabilities(logits, logits=True), probs.mean(axis=0))
    assert decompose(logits, logits=True).PU.dtype == np.float64


def test_chunks_change_nothing(monkeypatch):
    probs = np.random.default_rng(0).random((3, 100, 2))
    whole = decompose(probs)
    monkeypatch.setattr("equipoise.uq.decomposition._CHUNK", 20)
    assert all((a == b).all() for a, b in zip(whole, decompose(probs), strict=True))


@pytest.mark.parametrize(
    ("probs", "said"),
    [
        ([[[0.2]], [[1.2]]], "member 1, item 0, class 0: 1.2, expected probabilities in"),
        ([[[0.2]], [[float("nan")]]], "leave out items without an answer"),
        ([[[-3.0, 2.0]]], "these look like logits"),
        ([0.2, 0.3], r"shape \(2,\)"),
        (np.zeros((2, 0, 3)), "expected"),
        ([[["a"]]], "give numbers"),
    ],
)
def test_what_is_no_probability_is_refused(probs, said):
    with pytest.raises(InputError, match=said):
        decompose(probs)


def test_other_refusals():
    with pytest.raises(InputError, match="reverse"):
        decompose([[0.5]], decomposition="reverse")
    with pytest.raises(InputError, match="above 0"):
        Beta([[1.0]], [[0.0]])
    with pytest.raises(InputError, match="one shape"):
        Beta([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="median"):
        image_level(np.ones((2, 2)), "median")
    with pytest.raises(AttributeError):
        uq.nothing  # noqa: B018

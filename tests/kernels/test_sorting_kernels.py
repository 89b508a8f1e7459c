"""The radix sort and the derivatives down the sorted items agree with their slow twins."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.kernels.influence import auroc_influence, precision_influence
from equipoise.kernels.ranking import falling
from equipoise.metrics._metric import _MANY, sort_items
from tests.oracles import influence
from tests.strategies import SOFT, arrays

ANY = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 0.5, 1.0, 5e-324, -5e-324])
KERNELS = {"auroc": auroc_influence, "average_precision": precision_influence}


@given(scores=st.lists(ANY, min_size=1, max_size=40).map(np.array))
def test_sort_of_any_numbers_is_the_stable_one(scores):
    for found, expected in zip(falling(scores), influence.falling(scores), strict=True):
        assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("seed", range(3))
def test_neighbouring_doubles_are_no_ties(seed):
    random = np.random.default_rng(seed)
    steps = random.integers(0, 300, 5000)
    scores = (np.float64(0.7).view(np.int64) + steps).view(np.float64)  # the last bits alone
    mixed = np.concatenate([scores, -scores, random.normal(size=5000), random.random(5000)])
    single = random.random(5000).astype(np.float32).astype(np.float64)
    for given_ in (scores, mixed, single, np.zeros(10)):
        for found, expected in zip(falling(given_), influence.falling(given_), strict=True):
            assert_array_equal(found, expected)


def test_what_is_no_number_comes_last_and_is_tied_with_nothing():
    items, last = falling(np.array([np.nan, 1.0, -np.nan, -np.inf, 1.0, np.inf]))
    assert_array_equal(items, [5, 1, 4, 3, 0, 2])
    assert_array_equal(last, [1, 0, 2, 1, 1, 1])


def test_few_and_many_items_are_sorted_alike():
    scores = np.round(np.random.default_rng(5).random(_MANY), 3)
    for number in (_MANY - 1, _MANY):
        order = sort_items(scores[:number])
        expected = influence.falling(scores[:number])
        for found, known in zip(order, expected, strict=True):
            assert_array_equal(found, known)


def derivatives(name, scores, positive):
    """Kernel and twin."""
    order = influence.falling(scores)
    items, shares = np.empty(len(scores)), np.empty(len(scores))
    value = KERNELS[name](*order, positive, items, shares)
    return (value, items, shares), getattr(influence, name)(*order, positive)


@pytest.mark.parametrize("name", KERNELS)
@given(data=st.data(), items=st.integers(2, 12))
def test_derivatives_agree_with_their_twin(name, data, items):
    scores = data.draw(arrays(st.integers(0, 5).map(float), items))
    positive = data.draw(arrays(SOFT, items))
    total = positive.sum()
    assume(total * (items - total) - (positive * (1 - positive)).sum() > 0.05)
    for found, expected in zip(*derivatives(name, scores, positive), strict=True):
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("ties", [False, True])
def test_derivatives_of_many_items(name, ties):
    random = np.random.default_rng(7)
    positive = random.binomial(10, 0.1, 200_000) / 10
    scores = 0.5 * positive + random.random(len(positive))
    found, expected = derivatives(name, scores.round(3) if ties else scores, positive)
    assert_allclose(found[0], expected[0], rtol=1e-14)
    for one, other in zip(found[1:], expected[1:], strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-13 * np.abs(other).max())
        assert np.abs(other).max() > 0


@pytest.mark.parametrize("name", KERNELS)
def test_compensated_sums_reach_the_exact_value(name):
    """A million labels of 0.1 in one run of ties: the value is known in closed form."""
    number = 1_000_000
    positive, order = np.full(number, 0.1), np.arange(number, dtype=np.int32)
    last = np.zeros(number, dtype=np.uint8)
    last[-1] = 2
    items, shares = np.empty(number), np.empty(number)
    value = KERNELS[name](order, last, positive, items, shares)
    exact = 0.5 if name == "auroc" else 0.1 + 0.9 / number
    assert value == pytest.approx(exact, rel=2e-15)
    assert np.abs(items).max() < 1e-12 / number * 1e3

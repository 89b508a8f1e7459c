"""Agreement of readings: one left out at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from equipoise import Annotations, InputError
from equipoise.truth import inverse_rank
from equipoise.truth.agreement import reading_agreement

# uncertain_ground_truth at 98349d8, mean over the readers there are
AGREEING = [
    [[[0], [1]], [[0]], [[1], [0]], [[2]]],
    [[[0, 1]], [[1], [2]], [[3]]],
    [[[4]], [[4]]],
    [[[1]]],
]


def test_golden_agreement():
    found = reading_agreement(Annotations.from_rankings(AGREEING))
    assert_allclose(found.value, [0.75, 2 / 3, 1.0, np.nan])
    assert found.readings.tolist() == [4, 3, 2, 1]
    assert found.mean == pytest.approx((0.75 + 2 / 3 + 1.0) / 3)


def agreement_by_hand(readings, ties):
    """Appendix E with the public model of inverse ranks, one reading at a time."""
    hits = []
    for left, reading in enumerate(readings):
        rest = [other for number, other in enumerate(readings) if number != left]
        table = Annotations.from_rankings([rest], classes=list("uvwxyz"))
        share = inverse_rank(table, ties=ties).mean[0]
        first = np.flatnonzero(share > share.max() - 1e-9)
        hits.append(bool(set(first) & {k for block in reading for k in block}))
    return np.mean(hits)


@given(seed=st.integers(0, 2**32 - 1), ties=st.sampled_from(["full", "split"]))
def test_agreement_is_leaving_one_reading_out(seed, ties):
    random = np.random.default_rng(seed)
    cases = []
    for _ in range(3):
        readings = []
        for _ in range(random.integers(2, 6)):
            order = random.permutation(6)[: random.integers(1, 6)]
            cuts = np.flatnonzero(random.random(len(order) - 1) < 0.6) + 1
            readings.append([block.tolist() for block in np.split(order, cuts)])
        cases.append(readings)
    found = reading_agreement(
        Annotations.from_rankings(cases, classes=list("uvwxyz")), ties=ties
    )
    assert_allclose(found.value, [agreement_by_hand(case, ties) for case in cases])


def test_agreement_of_counts_is_that_of_single_votes():
    counts = np.array([[3, 1, 0], [2, 1, 1], [1, 0, 0]])
    item, label = np.nonzero(counts)
    times = counts[item, label]
    single = Annotations(
        kind="nominal", items=("0", "1", "2"), classes=("a", "b", "c"),
        item=np.repeat(item, times), label=np.repeat(label, times),
    )  # fmt: skip
    found = reading_agreement(Annotations.from_counts(counts))
    assert_allclose(found.value, reading_agreement(single).value)
    assert_allclose(found.value, [0.75, 0.5, np.nan])


def test_agreement_refuses_what_has_no_classes_or_is_known():
    ratings = Annotations(
        kind="interval", items=("a",), item=np.array([0, 0]), value=np.array([0.1, 0.2])
    )
    with pytest.raises(InputError, match="at_least"):
        reading_agreement(ratings)
    gold = Annotations(
        kind="binary", items=("a",), classes=("0", "1"), item=np.array([0, 0]),
        label=np.array([0, 1]), is_gold=np.array([True, False]),
    )  # fmt: skip
    with pytest.raises(InputError, match="leave gold rows out"):
        reading_agreement(gold)
    with pytest.raises(InputError, match="did you mean 'full'"):
        reading_agreement(Annotations.from_rankings(AGREEING), ties="ful")

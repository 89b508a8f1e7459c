"""Audits of retrieval: published numbers, hand-computed pools, weights as copies."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from equipoise.inference.estimate import wilson
from equipoise.study.analyses.audits import Pool, audit
from equipoise.types import InputError


@pytest.mark.parametrize(
    ("positives", "low", "high"), [(0, 0.0, 2.5), (24, 11.0, 22.7), (26, 12.1, 24.2)]
)
def test_intervals_of_the_published_audit(positives, low, high):
    """CleanPatrick, table 3: 150 audited of each pool of 5,000."""
    line = audit([Pool("pool", 150, positives, 5000)], 4000, finite=False).pools[0]
    assert round(100 * line.share_low, 1) == low
    assert round(100 * line.share_high, 1) == high


def test_a_pool_by_hand():
    done = audit([Pool("pool", 100, 10, 1000)], found=200)
    line = done.pools[0]
    trials = 100 * 999 / 900
    low, high = wilson(0.1 * trials, trials)
    assert (line.share_low, line.share_high) == (low, high)
    assert done.missed == pytest.approx((100, 1000 * low, 1000 * high))
    assert done.recall[0] == pytest.approx(2 / 3)
    assert done.recall[1:] == pytest.approx(
        (200 / (200 + 1000 * high), 200 / (200 + 1000 * low))
    )
    assert "About 100 positives were missed" in done.finding and "66.7%" in done.finding
    assert done.rows()[0]["pool"] == "pool"


def test_a_whole_pool_leaves_no_doubt_and_finite_pools_leave_less():
    whole = audit([Pool("pool", 50, 7, 50)], found=3)
    assert whole.missed == (7, 7, 7)
    assert whole.recall == pytest.approx((0.3, 0.3, 0.3))
    finite, endless = (
        audit([Pool("pool", 50, 7, 60)], 3, finite=one).missed for one in (True, False)
    )
    assert finite[2] - finite[1] < endless[2] - endless[1]


def test_pools_add_up_with_distances_in_squares():
    pools = [Pool("x", 50, 5, 500), Pool("y", 80, 4, 800)]
    both = audit(pools, 100)
    alone = [audit([one], 100) for one in pools]
    assert both.missed[0] == pytest.approx(sum(one.missed[0] for one in alone))
    up = math.hypot(*(one.missed[2] - one.missed[0] for one in alone))
    assert both.missed[2] == pytest.approx(both.missed[0] + up)


def test_the_interval_of_a_finite_pool_covers():
    random = np.random.default_rng(1)
    inside = 0
    for _ in range(1000):
        found = random.hypergeometric(60, 340, 120)
        _, low, high = audit([Pool("pool", 120, int(found), 400)], 10).missed
        inside += low <= 60 <= high
    assert 0.93 <= inside / 1000 <= 0.98


@given(st.integers(1, 40), st.data())
def test_ends_hold_the_value_and_what_is_certain(size, data):
    audited = data.draw(st.integers(1, size))
    positives = data.draw(st.integers(0, audited))
    done = audit([Pool("pool", audited, positives, size)], data.draw(st.integers(0, 5)))
    value, low, high = done.missed
    assert positives - 1e-9 <= low <= value + 1e-9 <= high + 2e-9
    assert high <= size - audited + positives + 1e-9


@pytest.mark.parametrize(
    ("pools", "found", "words"),
    [
        ([], 3, "a list of at least one Pool"),
        ([Pool("p", 10, 11, 20)], 3, "pool 'p': 11 of 10 audited, of 20"),
        ([Pool("p", 10, 1, 9)], 3, "positives <= audited <= size"),
        ([Pool("p", 0, 0, 9)], 3, "at least 1 audited"),
        ([Pool("p", 1, 0, 9), Pool("p", 1, 0, 9)], 3, "more than once"),
        ([Pool("p", 1, 0, 9)], -1, "audit, found: -1"),
        ([Pool("p", 1, 0, 9)], math.nan, "audit, found: nan"),
        ([Pool("p", 150.5, 0, 900)], 3, "pool 'p', audited: 150.5"),
        ([Pool("p", 150, positives=True, size=900)], 3, "pool 'p', positives: True"),
        (Pool("p", 1, 0, 9), 3, "a list of at least one Pool"),
        ([("p", 1, 0, 9)], 3, "a list of at least one Pool"),
    ],
)
def test_bad_audits_are_refused(pools, found, words):
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+") as refused:
        audit(pools, found)
    assert words in str(refused.value)


def test_the_sum_of_pools_covers():
    """Distances that add in squares: three pools of different shares, 2,000 audits."""
    random = np.random.default_rng(4)
    shape = [(40, 1960, 150), (300, 700, 100), (5, 1995, 200)]
    truth, inside = 345, 0
    for _ in range(2000):
        pools = [
            Pool(str(k), n, int(random.hypergeometric(yes, no, n)), yes + no)
            for k, (yes, no, n) in enumerate(shape)
        ]
        _, low, high = audit(pools, 10).missed
        inside += low <= truth <= high
    assert 0.93 <= inside / 2000 <= 0.98


def test_sentences_of_audits_at_the_edges():
    none = audit([Pool("p", 150, 0, 5000)], 120)
    assert none.finding.startswith("None of 150 audited items is positive; ")
    assert "at most 121 of the audited pool may be" in none.finding
    whole = audit([Pool("p", 50, 0, 50)], 3)
    assert "none was missed: the retrieval found 100.0% of those there are" in whole.finding
    nothing = audit([Pool("p", 50, 0, 50)], 0)
    assert "none was missed, and the retrieval found none" in nothing.finding
    lost = audit([Pool("p", 50, 5, 500)], 0)
    assert "and the retrieval found none" in lost.finding
    for one in (none, whole, nothing, lost):
        assert "nan" not in one.finding
    with pytest.raises(InputError, match="audit, level: 'a'"):
        audit([Pool("p", 1, 0, 9)], 3, level="a")


def test_few_positives_are_a_notice_and_none_names_the_level():
    rare = audit([Pool("a", 150, 1, 5000), Pool("b", 150, 30, 5000)], 120)
    (note,) = map(str, rare.notices)
    assert "1 of 150 in 'a'" in note and "'b'" not in note and "86%" in note
    assert audit([Pool("a", 150, 1, 150)], 120).notices == ()
    assert audit([Pool("a", 150, 0, 5000)], 120).notices == ()
    none = audit([Pool("a", 150, 0, 5000)], 120, level=0.975)
    assert "may be (upper end at 97.5%)" in none.finding
    assert "at 97.5%" in audit([Pool("a", 150, 9, 5000)], 120, level=0.975).finding
    ends = [audit([Pool("a", 150, k, 5000)], 9).missed for k in range(6)]
    chance = hypergeom(5000, 5, 150).pmf(range(6))
    covered = sum(p for (_, low, high), p in zip(ends, chance, strict=True) if low <= 5 <= high)
    assert covered == pytest.approx(0.859, abs=0.001)

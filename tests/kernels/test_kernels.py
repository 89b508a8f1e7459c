"""Every compiled loop agrees with its slow twin."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal, assert_equal

from equipoise.kernels.ranking import (
    TILE,
    class_pairs,
    counter,
    random_ties,
    ranking_sums,
    top_mass,
)
from equipoise.kernels.resampling import (
    ROWS,
    WORDS,
    add_counts,
    binomial_shares,
    draw_counts,
    vote_shares,
)
from equipoise.metrics import Block, Truth
from equipoise.metrics._metric import prepare, reduce
from equipoise.study.truth import MOST, PanelDraw, VoteDraw
from tests.oracles import kernels, ranking
from tests.strategies import SCORE, SOFT, arrays

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
KEYS = st.integers(0, 2**64 - 1).map(np.uint64)
WIDTH = 3


@st.composite
def passes(draw):
    """Order, run ends, two truths per replicate, and counts."""
    items = draw(st.integers(1, 8))
    scores = draw(arrays(SCORE, items))
    order = np.argsort(-scores, kind="stable").astype(np.int32)
    ranked = scores[order]
    tied_up = np.append(False, ranked[1:] == ranked[:-1])
    tied_down = np.append(ranked[1:] == ranked[:-1], False)
    last = np.where(tied_down, 0, np.where(tied_up, 2, 1)).astype(np.uint8)
    truths = [draw(arrays(SOFT, items * WIDTH)).reshape(items, WIDTH) for _ in range(2)]
    counts = draw(arrays(st.integers(0, 4), items * WIDTH)).reshape(items, WIDTH)
    return order, last, truths, counts.astype(np.uint8)


def by_replicate(twin, order, last, truths, counts):
    """Values of a twin in every replicate, (sums, replicates)."""
    blocks = kernels.runs(order, last)
    columns = [
        twin(blocks, *(truth[:, r] for truth in truths), counts[:, r].astype(float))
        for r in range(WIDTH)
    ]
    return np.array(columns).T


NO_PATTERN = np.empty(0, np.int32)


def unsure(rows):
    """Of every row of every truth, that nothing is promised."""
    return np.full(rows.shape[:2], 2, np.uint8)


@given(data=passes())
def test_ranking_sums_with_fixed_truth(data):
    order, last, truths, counts = data
    both = np.stack([truth[:, :1] for truth in truths], axis=1)
    for zero in (np.int32(0), np.int64(0)):
        found = ranking_sums(order, last, (NO_PATTERN, both, unsure(both)), counts, zero)
        for truth, sums in zip(both.swapaxes(0, 1), found, strict=True):
            same = np.repeat(truth, WIDTH, axis=1)
            expected = by_replicate(kernels.ranking_sums, order, last, [same], counts)
            assert_allclose(sums, expected, **CLOSE)
            single = (NO_PATTERN, truth[:, None].copy(), unsure(both[:, :1]))
            assert_array_equal(sums, ranking_sums(order, last, single, counts, zero)[0])
            wide = (NO_PATTERN, same[:, None].copy(), unsure(both[:, :1]))
            assert_array_equal(sums, ranking_sums(order, last, wide, counts, zero)[0])


def test_counts_of_many_items_do_not_overflow():
    assert counter(16_577).dtype == np.int32
    assert counter((2**31 - 1) // 255).dtype == np.int32
    assert counter((2**31 - 1) // 255 + 1).dtype == np.int64


def test_replicates_do_not_depend_on_the_tile_they_are_in():
    random, items = np.random.default_rng(3), 40
    order = prepare(random.integers(0, 25, items) / 25)
    counts = random.poisson(1, (items, 2 * TILE + 5)).astype(np.uint8)
    soft = random.integers(0, 9, items) / 8
    for truth in (Truth(soft), Truth(random.integers(0, 9, counts.shape) / 8)):
        whole = reduce(order, Block((truth,), counts))
        for r in (0, TILE - 1, TILE, 2 * TILE + 4):
            own = truth.positive if truth.positive.ndim == 1 else truth.positive[:, [r]].copy()
            one = reduce(order, Block((Truth(own),), counts[:, [r]].copy()))
            assert_array_equal(whole[..., r], one[..., 0])


@given(data=passes(), told=st.booleans())
def test_ranking_sums_with_varying_truth(data, told):
    order, last, (truth, _), counts = data
    truth[::2] = truth[::2, :1]
    sure = np.full(len(order), 2, dtype=np.uint8)
    if told:
        sure[(truth == 0).all(axis=1)] = 0
        sure[(truth == 1).all(axis=1)] = 1
    expected = by_replicate(kernels.ranking_sums, order, last, [truth], counts)
    rows = (NO_PATTERN, truth[:, None].copy(), sure[:, None])
    found = ranking_sums(order, last, rows, counts, np.int32(0))[0]
    assert_allclose(found, expected, **CLOSE)


@given(data=passes(), pattern=st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_items_with_the_same_votes_share_a_row(data, pattern):
    order, last, truths, counts = data
    rows = np.resize(np.stack(truths), (3, 2, WIDTH))
    shared = np.array(pattern[: len(order)], dtype=np.int32)
    apart = np.ascontiguousarray(rows[shared])
    found = ranking_sums(order, last, (shared, rows, unsure(rows)), counts, np.int32(0))
    plain = ranking_sums(order, last, (NO_PATTERN, apart, unsure(apart)), counts, np.int32(0))
    assert_array_equal(found, plain)
    sums = np.zeros((3, WIDTH))
    share = np.linspace(0.5, 1, len(order))
    add_counts((np.arange(len(order)), shared, share), counts, sums)
    for row in range(3):
        expected = ((shared == row) * share) @ counts.astype(float)
        assert_allclose(sums[row], expected, **CLOSE)


@given(data=passes())
def test_class_pairs(data):
    order, last, truths, counts = data
    expected = by_replicate(kernels.class_pairs, order, last, truths, counts)
    assert_allclose(class_pairs(order, last, *truths, counts), expected, **CLOSE)


@given(data=passes(), k=st.integers(1, 9))
def test_top_mass(data, k):
    order, last, (truth, _), counts = data
    taken, mass = top_mass(order, last, truth, counts, k)
    for r in range(WIDTH):
        p, s = kernels.expanded(kernels.runs(order, last), truth[:, r], counts[:, r])
        assert taken[r] == min(k, len(p))
        expected = ranking.top(p, s, k) if len(p) >= k else p.sum()
        assert_allclose(mass[r], expected, **CLOSE)


@settings(max_examples=40)
@given(data=passes())
def test_random_ties(data):
    order, last, (truth, _), counts = data
    counts = np.minimum(counts, 1 if len(order) > 4 else 2)
    harmonic = np.cumsum(np.append(0, 1 / np.arange(1, 20)))
    out = random_ties(order, last, truth, counts, harmonic)
    for r in range(WIDTH):
        p, s = kernels.expanded(kernels.runs(order, last), truth[:, r], counts[:, r])
        assert_allclose(out[0, r], p.sum(), **CLOSE)
        if p.sum() and len(p) <= 6:
            forms = [ranking.random_ties(p, s, form) for form in ("conditional", "printed")]
            assert_allclose(out[1:, r] / p.sum(), forms, **CLOSE)


@given(key=KEYS, first=st.integers(0, 10**6), units=st.integers(1, 9))
def test_draws_of_units_come_from_the_stream(key, first, units):
    counts = np.full((units, WIDTH), 77, dtype=np.uint8)
    draw_counts(key, first, counts)
    assert_array_equal(counts, kernels.draw_counts(key, first, units, WIDTH))
    assert_array_equal(counts.sum(axis=0), units)


def test_many_draws_come_from_the_stream():
    """More words than are made at once, more replicates than are tallied together."""
    units, width = 2 * WORDS + 3, ROWS + 2
    counts = np.empty((units, width), dtype=np.uint8)
    draw_counts(np.uint64(11), 4, counts)
    assert_array_equal(counts, kernels.draw_counts(11, 4, units, width))


@st.composite
def ballots(draw, annotators: int = 3):
    """Per item a few votes: (annotator, mass, weight); annotator -1 is the last row."""
    vote = st.tuples(
        st.integers(-1, annotators - 2), SOFT, st.integers(1, 5).map(lambda k: k / 4)
    )
    return draw(st.lists(st.lists(vote, min_size=1, max_size=5), min_size=1, max_size=5))


def flat(votes):
    """Columns start, annotator, mass, weight."""
    start = np.append(0, np.cumsum([len(item) for item in votes]))
    rows = [vote for item in votes for vote in item]
    who, mass, weight = zip(*rows, strict=True)
    return start, np.array(who), np.array(mass, float), np.array(weight, float)


class Panel:
    """What PanelDraw needs of ballots."""

    def __init__(self, votes):
        self.start, self.annotator, self.mass, self.weight = flat(votes)
        self.sizes = np.diff(self.start)


@given(votes=ballots(), counts=arrays(st.integers(0, 3), 2 * WIDTH))
def test_shares_of_a_redrawn_panel(votes, counts):
    drawn, gold = counts.reshape(2, WIDTH).astype(np.uint8), np.ones((1, WIDTH), np.uint8)
    panel = Panel(votes)
    masses = [panel.mass, 1 - panel.mass]
    shares, present = PanelDraw.prepare(panel, masses, 2).shares(drawn)
    for number, share in enumerate(shares):
        turned = [[(a, abs(number - m), w) for a, m, w in item] for item in votes]
        expected = kernels.panel_shares(turned, np.vstack([drawn, gold]))
        assert_allclose(share, expected[0], **CLOSE)
        assert_array_equal(present, expected[1])


def test_items_share_a_pattern_when_the_same_people_voted_the_same():
    yes_by = [(0, 1), (0, 1), (1, 1), (0, 1), (0, 0)]  # who voted, and what
    panel = Panel([[(who, mass, 1.0)] for who, mass in yes_by])
    draw = PanelDraw.prepare(panel, [panel.mass], 2)
    assert draw.pattern.tolist() == [0, 0, 1, 0, 2]
    shares, present = draw.shares(np.array([[2, 0], [0, 2]], np.uint8))
    assert_array_equal(present[:, 0], [1, 1, 0, 1, 1])
    assert_array_equal(shares[0][:, 0], [1, 1, 0, 1, 0])


@given(votes=ballots(), key=KEYS, first=st.integers(0, 10**6))
def test_shares_of_redrawn_votes_come_from_the_stream(votes, key, first):
    start, _, mass, weight = flat(votes)
    share = np.zeros((len(votes), WIDTH))
    vote_shares((start, mass, weight), key, first, share)
    pairs = [[(m, w) for _, m, w in item] for item in votes]
    assert_array_equal(share, kernels.vote_shares(pairs, key, first, WIDTH))


class Votes:
    """What VoteDraw needs of ballots: yes/no votes that count alike."""

    def __init__(self, counts):
        self.sizes = np.array([votes for votes, _ in counts])
        self.start = np.append(0, np.cumsum(self.sizes))
        self.weight = np.ones(self.start[-1])
        self.mass = np.concatenate([np.arange(votes) < yes for votes, yes in counts]) * 1.0


YES_NO = st.integers(1, MOST).flatmap(lambda m: st.tuples(st.just(m), st.integers(0, m)))


@given(counts=st.lists(YES_NO, min_size=1, max_size=5), key=KEYS, first=st.integers(0, 10**6))
def test_binomial_shares_come_from_the_stream(counts, key, first):
    votes = Votes(counts)
    draw = VoteDraw.binomial(votes, votes.mass)
    expected = kernels.binomial_shares(counts, key, first, WIDTH)
    assert_array_equal(draw.shares(key, first, first + WIDTH), expected)


def test_binomial_kernel_reads_its_tables():
    half = np.uint64(2**31)
    threshold = np.array([[half, 2**32, 2**32]], dtype=np.uint64)
    guide = np.zeros((1, 256), dtype=np.uint8)
    share = np.full((2, 6), 0.25)
    tables = (np.array([-1, 0]), np.array([4, 2]), threshold, guide)
    binomial_shares(tables, np.uint64(5), 10, share)
    words = [kernels.word(5, 10 + j, 0) >> 32 for j in range(6)]
    assert_array_equal(share[0], 0.25)
    assert_array_equal(share[1], [0.0 if word < half else 0.5 for word in words])


@pytest.mark.parametrize("kernel", [ranking_sums, class_pairs, top_mass, random_ties])
def test_kernels_return_doubles_and_leave_inputs_alone(kernel):
    order, last = np.array([1, 0], dtype=np.int32), np.array([0, 2], dtype=np.uint8)
    truth, counts = np.array([[0.5], [1.0]]), np.array([[2], [1]], dtype=np.uint8)
    truths = (NO_PATTERN, truth[:, None], unsure(truth[:, None]))
    arguments = {
        "ranking_sums": (truths, counts, np.int32(0)),
        "class_pairs": (truth, 1 - truth, counts),
        "top_mass": (truth, counts, 2),
        "random_ties": (truth, counts, np.array([0, 1, 1.5, 11 / 6])),
    }[kernel.py_func.__name__]
    before = deepcopy(arguments)
    assert kernel(order, last, *arguments).dtype == np.float64
    assert_equal(arguments, before)

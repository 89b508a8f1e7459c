"""Plackett-Luce draws: what must not change them, what they must satisfy, what is refused.

The pieces of equipoise.kernels.plackett_luce are compared with known distributions.
"""

import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import gamma, kstest, norm

from equipoise import Annotations, InputError
from equipoise.kernels.plackett_luce import (
    EXACT,
    TAIL,
    _draw_scale,
    _gamma,
    _log_scaled,
    _normal,
)
from equipoise.truth import Chain, plackett_luce, plackett_luce_ml
from equipoise.truth.ranking_chains import _CHUNK as CHUNK
from equipoise.truth.ranking_chains import split_r_hat
from equipoise.truth.rankings import collect_readings, stages
from equipoise.types import effective_size, worded

LONG = Chain(draws=20_000, burn_in=200)


def cases(selectors, classes, items=None):
    names = [str(k) for k in range(classes)]
    return Annotations.from_rankings(selectors, classes=names, items=items)


def some(number, classes=6, seed=0):
    """Readings of all shapes: strict, tied, repeated, short and long."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        case = []
        for _ in range(random.integers(1, 5)):
            order = random.permutation(classes)[: random.integers(1, classes)]
            cuts = np.flatnonzero(random.random(len(order) - 1) < 0.6) + 1
            case.append([part.tolist() for part in np.split(order, cuts)])
        made.append([*case, case[0]])
    return made


def drawn(sampler, number, *arguments):
    stream = np.array([12345], dtype=np.uint64)
    return np.array([sampler(stream, *arguments) for _ in range(number)])


def same(one, other):
    return (one.mass == other.mass).all() and (one.rest == other.rest).all()


def test_normal_variables():
    values = drawn(_normal, 100_000)
    assert kstest(values, "norm").pvalue > 0.001


@pytest.mark.parametrize("shape", [0.05, 0.9, 1.0, 1.5, 3.0, 40.0])
def test_gamma_variables(shape):
    values = drawn(_gamma, 50_000, shape)
    assert kstest(values, gamma(shape).cdf).pvalue > 0.001


def test_the_tail_of_the_normal_is_reached_and_right():
    values = np.abs(drawn(_normal, 3_000_000))
    beyond, chance = values[values > TAIL], 2 * norm.sf(TAIL)
    assert len(beyond) == pytest.approx(3e6 * chance, abs=5 * np.sqrt(3e6 * chance))
    assert beyond.mean() == pytest.approx(2 * norm.pdf(TAIL) / chance, abs=0.04)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_threads_change_nothing(workers):
    votes = cases(some(2 * CHUNK + 7), 6)
    one = plackett_luce(votes, chain=Chain(12, 3, workers=1))
    assert same(one, plackett_luce(votes, chain=Chain(12, 3, workers=workers)))


def test_chunks_change_nothing(monkeypatch):
    votes = cases(some(40), 6)
    one = plackett_luce(votes, chain=Chain(12, 3))
    monkeypatch.setattr(sys.modules[Chain.__module__], "_CHUNK", 3)
    assert same(one, plackett_luce(votes, chain=Chain(12, 3)))


def test_fewer_draws_are_the_first_of_more():
    votes = cases(some(10), 6)
    few, many = (plackett_luce(votes, chain=Chain(draws, 5)) for draws in (7, 30))
    assert (few.mass == many.mass[:7]).all()
    thin = plackett_luce(votes, chain=Chain(10, 5, thin=3))
    assert (thin.mass == many.mass[2::3]).all()


def test_other_cases_and_their_order_change_no_draw():
    selectors, names = some(30), [f"case {n}" for n in range(30)]
    whole = plackett_luce(cases(selectors, 6, names), chain=Chain(20, 5))
    order = np.random.default_rng(1).permutation(30)[:17]
    part = plackett_luce(
        cases([selectors[i] for i in order], 6, [names[i] for i in order]), chain=Chain(20, 5)
    )
    for item in part.items:
        i, j = whole.items.index(item), part.items.index(item)
        own, other = (
            one.mass[:, one.start[n] : one.start[n + 1]] for one, n in ((whole, i), (part, j))
        )
        assert (own == other).all()
        assert (whole.rest[:, i] == part.rest[:, j]).all()


def test_the_order_of_readings_and_who_gave_them_change_no_draw():
    selectors = some(20)
    one = plackett_luce(cases(selectors, 6), chain=Chain(20, 5))
    turned = plackett_luce(cases([case[::-1] for case in selectors], 6), chain=Chain(20, 5))
    assert same(one, turned)
    votes = cases(selectors, 6)
    named = replace(votes, annotators=("a", "b"), annotator=votes.reading % 2)
    swapped = replace(votes, annotators=("b", "a"), annotator=1 - votes.reading % 2)
    assert same(one, plackett_luce(named, chain=Chain(20, 5)))
    assert same(one, plackett_luce(swapped, chain=Chain(20, 5)))


def test_same_names_in_another_task_or_with_another_seed_have_other_draws():
    votes = cases([[[[0], [1]]], [[[0], [1]]]], 3)
    made = plackett_luce(votes, chain=Chain(20))
    assert (made.mass[:, :2] != made.mass[:, 2:]).any()  # equal readings, another name
    task = replace(votes, tasks=("t",), task=np.zeros(len(votes), int))
    assert not same(made, plackett_luce(task, chain=Chain(20), task="t"))
    assert not same(made, plackett_luce(votes, chain=Chain(20, seed=1)))
    assert made.parameters["seed"] == 0


def test_renamed_classes_have_the_same_posterior():
    case = [[[0], [1, 2]], [[1], [3]], [[0, 1]]]
    order = np.array([3, 0, 4, 2, 1])
    renamed = [[[int(order[k]) for k in block] for block in reading] for reading in case]
    one, other = (plackett_luce(cases([c], 5), prior=0.6, chain=LONG) for c in (case, renamed))
    assert_allclose(other.mean[0][order], one.mean[0], atol=0.01)
    exact = [plackett_luce_ml(cases([c], 5)).mean[0] for c in (case, renamed)]
    assert_allclose(exact[1][order], exact[0], atol=1e-12)


def test_declared_classes_change_neither_draws_nor_work():
    selectors = some(25)
    few, many = (
        plackett_luce(cases(selectors, k), prior="notebook", chain=Chain(30))
        for k in (419, 41_900)
    )
    assert same(few, many)
    parts = [stages(collect_readings(cases(selectors, k), ""), 1) for k in (419, 41_900)]
    sizes = [[part.size for part in (*one.waits, *one.ties)] for one in parts]
    assert sizes[0] == sizes[1]


def test_waits_for_the_same_classes_are_drawn_as_one():
    case = [[[0], [1]], [[1], [0], [2]], [[0, 1]], [[0], [1]]]
    found = collect_readings(cases([case], 4), "")
    parts = stages(found, 2)
    start, awaited, copies = parts.waits
    waits = [awaited[a:b].tolist() for a, b in pairwise(start)]
    assert dict(zip(map(tuple, waits), copies.tolist(), strict=True)) == {
        (0, 1, 2, 3): 8.0,  # every reading starts by awaiting all
        (1, 2, 3): 4.0,
        (0, 2, 3): 2.0,
        (2, 3): 2.0,
    }
    assert [part.tolist() for part in parts.ties] == [[0, 4], [0, 1, 2, 3], [2], [2]]


@pytest.mark.parametrize("prior", ["iid", "notebook", 0.7])
def test_the_sum_of_rates_keeps_its_prior_mean(prior):
    votes = cases(some(300), 8)
    said = plackett_luce(votes, prior=prior, chain=Chain(1000, 100)).diagnostics
    error = (said["rate_sum"] - said["rate_sum_prior"]).mean()
    spread = np.sqrt(said["rate_sum_prior"].mean() / 300 / 100)  # ten sweeps are one draw
    assert abs(error) < 5 * spread
    mentioned = len(collect_readings(votes, "").label) / 300
    whole = {"iid": 1.0, "notebook": mentioned + 1, 0.7: 5.6}[prior]
    assert said["rate_sum_prior"].mean() == pytest.approx(whole)


def test_everything_tied_says_nothing_and_large_blocks_may_leave_nothing_over():
    for size in (4, EXACT, EXACT + 2):
        made = plackett_luce(cases([[[list(range(size))]]], size), prior=1.0, chain=LONG)
        assert_allclose(made.mean, 1 / size, atol=0.01)
        assert not made.rest.any()


def test_a_long_chain_agrees_with_the_sum_over_hidden_orders():
    """Two classes tied before a third: the posterior mean by quadrature on the simplex."""
    side = (np.arange(400) + 0.5) / 400
    a, b = np.meshgrid(side, side, indexing="ij")
    a, b = a[a + b < 1], b[a + b < 1]
    c = 1 - a - b
    chance = (a * b / (b + c) + a * b / (a + c)) ** 3  # three copies of {0, 1} > 2, flat prior
    exact = [(x * chance).sum() / chance.sum() for x in (a, b, c)]
    made = plackett_luce(cases([[[[0, 1], [2]]]], 3), reliability=3, prior=1.0, chain=LONG)
    assert_allclose(made.mean[0], exact, atol=0.008)


def test_weights_and_counts_are_repetitions():
    once = cases([[[[0], [1, 2]], [[1]]]], 4)
    weight = np.where(once.reading == once.reading[0], 2.0, 1.0)
    heavy = replace(once, weight=weight)
    counted = replace(once, count=weight.astype(int))
    twice = cases([[[[0], [1, 2]], [[0], [1, 2]], [[1]]]], 4)
    expected = plackett_luce(twice, chain=Chain(30))
    for votes in (heavy, counted):
        assert same(expected, plackett_luce(votes, chain=Chain(30)))
        assert_allclose(plackett_luce_ml(votes).mean, plackett_luce_ml(twice).mean, atol=1e-12)
    counts = Annotations.from_counts(np.array([[2, 1, 0]]), classes=["0", "1", "2"])
    whole = plackett_luce_ml(cases([[[[0]], [[0]], [[1]]]], 3)).mean
    assert_allclose(plackett_luce_ml(counts).mean, whole, atol=1e-12)
    made = plackett_luce(counts, prior=1.0, chain=LONG)
    assert_allclose(made.mean[0], [3 / 6, 2 / 6, 1 / 6], atol=0.01)


def test_halves_count_where_there_are_no_ties():
    strict = cases([[[[0], [1]]]], 3)
    halves = replace(strict, weight=np.full(2, 0.5))
    whole = plackett_luce(strict, reliability=2, chain=Chain(30))
    assert same(whole, plackett_luce(halves, reliability=4, chain=Chain(30)))
    tied = cases([[[[0, 1]], [[0, 1]]]], 3)
    rows = np.full(4, 0.5)
    halved = plackett_luce(replace(tied, weight=rows), chain=Chain(30))  # together one
    assert same(halved, plackett_luce(cases([[[[0, 1]]]], 3), chain=Chain(30)))
    for wrong in (0.7, 1e90):
        with pytest.raises(
            InputError, match=r"item '0': tied readings .*, expected a whole number .*; round"
        ):
            plackett_luce(replace(tied, weight=rows * wrong))
    assert plackett_luce_ml(replace(tied, weight=rows * 0.7)).mean[0, 0] > 0.4


def test_what_it_cannot_take_is_refused_with_a_reason():
    votes = cases([[[[0], [1]]]], 3)
    with pytest.raises(InputError, match=r"different weights .*, expected one .*; give every"):
        plackett_luce(replace(votes, weight=np.array([1.0, 2.0])))
    gold = replace(votes, is_gold=np.array([True, True]))
    ratings = Annotations(
        kind="interval", items=("a",), item=np.zeros(1, int), value=np.array([0.5])
    )
    for model in (plackett_luce, plackett_luce_ml):
        with pytest.raises(InputError, match=r"gold rows, expected .*; leave gold rows out"):
            model(gold)
        with pytest.raises(InputError, match=r"kind interval, expected labels or rankings"):
            model(ratings)
        elsewhere = replace(votes, tasks=("a", "b"), task=np.zeros(2, int))
        with pytest.raises(InputError, match="task 'b': no readings, expected at least one"):
            model(elsewhere, task="b")
    with pytest.raises(InputError, match=r"twice in one ranking, expected .*; remove"):
        cases([[[[0, 1], [1]]]], 3)
    for how in (
        {"reliability": np.nan}, {"reliability": np.inf}, {"prior": np.nan},
        {"prior": np.inf}, {"chain": Chain(workers=-1)}, {"chain": Chain(seed=-1)},
        {"chain": Chain(thin=0)}, {"chain": Chain(burn_in=-1)},
    ):  # fmt: skip
        with pytest.raises(InputError, match=r", expected .*; "):
            plackett_luce(votes, **how)


def test_items_without_readings_are_left_out():
    votes = cases([[[[0], [1]]], [[[2]]]], 3, ["a", "b"])
    more = replace(votes, items=("a", "nobody", "b"), item=2 * votes.item)
    made = plackett_luce(more, chain=Chain(20))
    assert made.items == ("a", "b")
    assert same(made, plackett_luce(votes, chain=Chain(20)))
    assert plackett_luce_ml(more).items == ("a", "b")


def test_confidences_are_not_used_and_the_user_is_told():
    votes = cases([[[[0], [1]]]], 3)
    sure = replace(votes, confidence=np.array([0.2, 0.9]))
    said = "Confidences are not used by Plackett-Luce; turn them into weights to use them."
    for model in (plackett_luce, plackett_luce_ml):
        assert said in map(str, model(sure).notices)
        assert said not in map(str, model(votes).notices)
        assert (model(sure).mass == model(votes).mass).all()


def test_tiny_data():
    one = Annotations(
        kind="nominal", items=("a",), classes=("x",), item=np.zeros(1, int),
        label=np.zeros(1, int),
    )  # fmt: skip
    for model in (plackett_luce, plackett_luce_ml):
        assert_allclose(model(one).mean, [[1.0]])
    single = plackett_luce(cases([[[[0]]]], 2), chain=Chain(1, 0))
    assert single.draws == 1
    assert np.isnan(single.diagnostics["r_hat"]).all()


def test_slow_chains_are_noticed():
    random = np.random.default_rng(0)
    walk = random.standard_normal((2000, 1)).cumsum(axis=0)
    white = random.standard_normal((2000, 1))
    assert effective_size(walk)[0] < 100 < 1500 < effective_size(white)[0]
    assert split_r_hat(walk)[0] > 1.05 > 1.01 > split_r_hat(white)[0]
    hidden = [[[[0, 1, 2], [3]]]]  # 300 hidden orders hold on to the rates that drew them
    slow = plackett_luce(cases(hidden, 4), reliability=300, prior=0.01, chain=Chain(1000, 0))
    said = slow.diagnostics
    assert said["effective_size"].shape == said["r_hat"].shape == (1,)
    assert said["effective_size"][0] < 50
    assert [one.code for one in slow.notices][:1] == ["chains_mix_slowly"]
    assert slow.notices[0].values["error"] > 0.03
    text = worded(slow.notices[:1], command=False)[0]
    assert text.endswith("Raise draws=....")
    few = plackett_luce(cases(hidden, 4), prior=1.0, chain=Chain(20))
    assert few.notices == ()  # rough because draws are few, not because the chain is slow


def test_rates_known_together_but_not_against_each_other_mix():
    """One class ahead of all others of nine readings: their common scale moved slowly."""
    reading = [[[0], [1]]] * 4 + [[[0]]] * 3 + [[[0], [1, 2]]] + [[[0], [3]]]
    for reliability in (3, 10):
        made = plackett_luce(cases([reading], 419), reliability=reliability)
        assert made.diagnostics["effective_size"][0] > 300
        assert made.diagnostics["r_hat"][0] < 1.03


def test_a_drawn_scale_keeps_its_density():
    """Scales drawn from the exact density, by a grid, are still from it after one step more."""
    copies = np.array([3.0, 2.0, 4.0])
    fixed, scaled = np.array([2.0, 0.0, 0.5]), np.array([0.3, 0.3, 0.0])
    shape, mass = 3.4, 0.4
    grid = np.linspace(-14, 6, 40_001)
    density = (shape, mass, copies, fixed, scaled)
    log = np.array([_log_scaled(x, density) for x in grid])
    other = shape * grid - mass * np.exp(grid)  # the slow twin
    for n, stays, moves in zip(copies, fixed, scaled, strict=True):
        if moves:
            other -= n * np.log(stays + np.exp(grid) * moves)
    assert_allclose(log, other, atol=1e-9)
    chance = np.cumsum(np.exp(log - log.max()))
    random = np.random.default_rng(3)
    start = np.interp(random.random(20_000), chance / chance[-1], grid)
    stream = np.array([7], dtype=np.uint64)
    moved = np.empty(len(start))
    for place, x in enumerate(start):
        here = (shape, mass * np.exp(x), copies, fixed, scaled * np.exp(x))
        moved[place] = x + _draw_scale(1.3, here, stream)
    assert kstest(moved, lambda x: np.interp(x, grid, chance / chance[-1])).pvalue > 0.001
    assert np.corrcoef(start, moved)[0, 1] < 0.5


def test_the_same_case_of_two_tasks_draws_numbers_of_its_own():
    one = cases(some(3), 6)
    rows = len(one)
    both = replace(
        one, tasks=("x", "y"), task=np.repeat([0, 1], rows), item=np.tile(one.item, 2),
        label=np.tile(one.label, 2), rank=np.tile(one.rank, 2),
        reading=np.concatenate([one.reading, one.reading.max() + 1 + one.reading]),
    )  # fmt: skip
    first, second = (plackett_luce(both, task=task, chain=Chain(draws=400)) for task in "xy")
    assert not np.isclose(first.mass, second.mass).any()
    assert_allclose(first.mean, second.mean, atol=0.12)

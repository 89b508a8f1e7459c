"""The compiled loops of equipoise.kernels.glad against slow twins and known distributions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ks_2samp, kstest, norm, truncnorm

from equipoise.kernels import glad as kernel
from equipoise.truth.ability import divergence
from tests.oracles import glad as slow

PRIORS = ((0.0, 0.2), (1.0, 0.7))


def block(votes, size):
    """Compressed rows of votes (item, annotator, weight, y) by item."""
    mine = votes[np.argsort(votes[:, 0], kind="stable")]
    start = np.concatenate(
        ([0], np.cumsum(np.bincount(mine[:, 0].astype(int), minlength=size)))
    )
    code = (2 * mine[:, 1] + mine[:, 3]).astype(np.uint32)
    return start, code, mine[:, 2].copy()


def one_pass(votes, items, people, precision):
    """Update items; what votes gave to the bound, the move, and sums of annotators."""
    sums = tuple(np.zeros((2, len(people[0]))))
    roots = (people[0], np.sqrt(people[1]))
    return *kernel.glad_pass(block(votes, len(items[0])), items, roots, precision, sums), sums


def problem(seed, known):
    random = np.random.default_rng(seed)
    item, who = np.nonzero(random.random((7, 4)) < 0.7)
    y = random.integers(0, 2, len(item))
    votes = np.stack([item, who, random.uniform(0.3, 2, len(item)), y], axis=1)
    side = random.integers(-1, 2, 7) if known else np.zeros(7, dtype=int)
    items = (random.normal(0, 1, 7), *random.uniform(1, 2, (3, 7)), side)
    ability = random.normal(1, 1, 4)
    spread = random.uniform(0.1, 1, 4)
    moments = (ability.copy(), ability**2 + spread)
    return votes, items, (ability, spread, *moments, np.zeros(4, dtype=int))


def fit_of(votes, items, people):
    """What the votes add to the bound, by the slow twin."""
    sides = (np.transpose(items[:4]), np.transpose(people[:4]))
    return slow.bound(votes, *sides, PRIORS) - slow.bound([], *sides, PRIORS)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_pass_and_what_votes_add_to_the_bound(seed, known):
    votes, items, people = problem(seed, known)
    tuples = [(int(i), int(a), w, y) for i, a, w, y in votes]
    fit, before = fit_of(tuples, items, people), items[0] / np.sqrt(items[1])
    first = slow.half_sweep(
        tuples, list(zip(*people[2:4], strict=True)), list(zip(*items, strict=True)), PRIORS[0]
    )
    got, moved, (shift, load) = one_pass(votes, items, people[2:4], PRIORS[0][1])
    assert_allclose(np.transpose(items[:4]), first, rtol=1e-10 if not known else 1e-7)
    chances = norm.cdf(items[0] / np.sqrt(items[1])), norm.cdf(before)
    assert moved == pytest.approx(np.abs(chances[0] - chances[1]).max(), abs=1e-14)
    turned = [(a, i, w, y) for i, a, w, y in tuples]
    second = slow.half_sweep(
        turned, list(zip(*items[2:4], strict=True)), list(zip(*people, strict=True)), PRIORS[1]
    )
    (mean, precision), (_, _, _, square, _) = PRIORS[1], people
    variance = 1 / (precision + 0.5 * load / square)
    assert_allclose(variance, [row[1] for row in second], rtol=1e-10)
    ability = (mean * precision + shift) * variance
    assert_allclose(ability, [row[0] for row in second], rtol=1e-10)
    assert got == pytest.approx(fit, rel=1e-12)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_divergences(seed, known):
    _, items, people = problem(seed, known)
    plain = -slow.bound([], *(np.transpose(x[:4]) for x in (items, people)), PRIORS)
    if known:
        for r in range(7):
            items[2][r], items[3][r] = kernel._moments(*(items[k][r] for k in (0, 1, 4)))
        plain -= cut_difference(items, 0.2)
    else:
        items[2][:], items[3][:] = items[0], items[0] ** 2 + items[1]
    got = divergence(items, PRIORS[0]) + divergence(people, PRIORS[1])
    assert got == pytest.approx(plain, abs=1e-7)


def test_long_rows_empty_rows_and_many_blocks():
    random = np.random.default_rng(0)
    item = np.concatenate([np.full(3000, 5), random.integers(8, 2000, 9000)])
    who, y = random.integers(0, 40, len(item)), random.integers(0, 2, len(item))
    votes = np.stack([item, who, random.uniform(0.3, 2, len(item)), y], axis=1)
    items = (np.zeros(2001), *random.uniform(1, 2, (3, 2001)), np.zeros(2001, dtype=int))
    people = random.normal(1, 1, 40), random.uniform(2, 3, 40)
    xi = np.sqrt(items[3][item] * people[1][who])
    load = votes[:, 2] * np.tanh(xi / 2) / (2 * xi) * people[1][who]
    shift = votes[:, 2] * (y - 0.5) * people[0][who]
    precision = 0.2 + np.bincount(item, load, 2001)
    one_pass(votes, items, people, 0.2)
    assert_allclose(items[1], 1 / precision, rtol=1e-11)
    assert_allclose(
        items[0], np.bincount(item, shift, 2001) / precision, rtol=1e-10, atol=1e-14
    )


def test_exponentials_in_plain_arithmetic():
    x = np.concatenate([[0.0], np.logspace(-12, 0, 500), np.linspace(0, 700, 5_001)])
    got = np.array([kernel._exp_less_one(one) for one in x])
    assert_allclose(got, np.expm1(-x), rtol=2e-15, atol=0)
    assert kernel._exp_less_one(1e9) == -1
    for one in x:
        cost = kernel._weigh_and_cost(np.array([one]), np.array([2.0]))
        assert cost == pytest.approx(2 * np.logaddexp(one / 2, -one / 2), rel=2e-15)


def cut_difference(items, precision):
    """What the divergences of cut-off rows are less than those of whole ones, by quadrature."""
    total = 0.0
    grid = np.linspace(0, 40, 400_001)[1:] - 5e-5
    for mean, variance, _, _, side in zip(*items, strict=True):
        if side:
            log_q = norm.logpdf(side * grid, mean, np.sqrt(variance))
            log_q -= norm.logcdf(side * mean / np.sqrt(variance))
            log_prior = norm.logpdf(grid, 0, precision**-0.5) + np.log(2)
            own = (np.exp(log_q) * (log_q - log_prior)).sum() * 1e-4
            away = precision * (variance + mean**2)
            total += 0.5 * (away - 1 - np.log(variance * precision)) - own
    return total


@pytest.mark.parametrize("x", [-300.0, -40.0, -5.1, -5.0, -4.9, -1.0, 0.0, 3.0, 30.0])
def test_the_positive_part_of_a_normal(x):
    mean = kernel._positive_part(x)
    expected = x + np.exp(norm.logpdf(x) - norm.logcdf(x))
    assert mean == pytest.approx(expected, rel=1e-6)
    assert kernel._moments(x, 1.0, 1)[1] > 0


@pytest.mark.parametrize("z", [0.0, 1e-9, 0.3, 2.0, 3.2, -5.0, 20.0])
def test_polya_gamma_against_its_twin(z):
    fast, plain = np.array([12345], dtype=np.uint64), slow.Stream(12345)
    got = [kernel.polya_gamma(z, fast) for _ in range(300)]
    assert_allclose(got, [slow.polya_gamma(z, plain) for _ in range(300)], rtol=1e-9)


@pytest.mark.parametrize("z", [0.0, 0.7, 3.0, 12.0])
def test_polya_gamma_against_its_definition(z):
    """PG(1, z) is a sum of exponentials over 2 pi^2 (k - 1/2)^2 + z^2 / 2."""
    stream = np.array([7], dtype=np.uint64)
    got = np.array([kernel.polya_gamma(z, stream) for _ in range(20_000)])
    mean = 0.25 if z == 0 else np.tanh(z / 2) / (2 * z)
    assert got.mean() == pytest.approx(mean, abs=5 * got.std() / np.sqrt(len(got)))
    random = np.random.default_rng(0)
    k = np.arange(1, 401)
    rate = 2 * np.pi**2 * (k - 0.5) ** 2 + z * z / 2
    sums = (random.standard_exponential((20_000, 400)) / rate).sum(axis=1)
    sums += (1 / (2 * np.pi**2)) / 400  # the mean of what is left out
    assert ks_2samp(got, sums).pvalue > 1e-3


@pytest.mark.parametrize("z", [100.0, 1e4, 1e8])
def test_polya_gamma_far_out(z):
    stream = np.array([3], dtype=np.uint64)
    got = np.array([kernel.polya_gamma(z, stream) for _ in range(2_000)])
    assert (got > 0).all()
    assert got.mean() == pytest.approx(1 / (2 * z), rel=5 / np.sqrt(z * 500) + 1e-6)


@pytest.mark.parametrize("least", [-2.0, 0.0, 0.5, 6.0])
def test_a_normal_above_a_bound(least):
    stream = np.array([11], dtype=np.uint64)
    got = np.array([kernel._normal_above(least, stream) for _ in range(5_000)])
    assert (got >= least).all()
    assert kstest(got, truncnorm(least, np.inf).cdf).pvalue > 1e-3


def moves(total, anchored, mean):
    """Factors of many moves of one part with a given sum of abilities."""
    stream, sums = np.array([5], dtype=np.uint64), np.array([20.0, 2.0, total, total, 5.0, 2.0])
    prior = (0.1, mean, 1.0)
    return np.array([kernel._part_move(sums, anchored, prior, stream) for _ in range(5_000)])


def test_signs_of_parts_turn_with_the_chance_of_the_prior():
    got = moves(0.5, anchored=False, mean=1.0)
    chance = np.exp(-2 * 0.5 / np.abs(got))
    assert (got < 0).mean() == pytest.approx(chance.mean(), abs=0.03)
    assert (moves(-0.5, anchored=False, mean=1.0) < 0).all()
    assert (moves(-0.5, anchored=False, mean=0.0) < 0).all()
    assert (moves(0.5, anchored=False, mean=0.0) > 0).all()
    assert (moves(-0.5, anchored=True, mean=1.0) > 0).all()

"""Normal ratings: exact tails against quadrature and draws, a prior found from the items."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from scipy.stats import invgamma, multivariate_t, norm

from equipoise import Annotations, InputError, evaluate, read_annotations
from equipoise.truth.ratings import (
    Moments,
    NormalPrior,
    _loss,
    empirical_prior,
    normal,
    normal_of_moments,
)
from equipoise.types import Predictions

PRIOR = NormalPrior(mean=1.0, worth=0.5, shape=2.0, scale=3.0)


def table(values, **more):
    """Ratings of items, one list each."""
    item = np.repeat(np.arange(len(values)), [len(own) for own in values])
    return Annotations(
        kind="interval", items=tuple(f"i{k}" for k in range(len(values))), item=item,
        value=np.concatenate([np.asarray(own, float) for own in values]), **more,
    )  # fmt: skip


def simulated(items=400, most=6, seed=0):
    """Ratings from the model itself with mean 5, worth 0.4, shape 4, scale 6."""
    random = np.random.default_rng(seed)
    scatter = np.sqrt(6 / random.standard_gamma(4, items))
    level = 5 + scatter * random.standard_normal(items) / np.sqrt(0.4)
    number = random.integers(1, most + 1, items)
    drawn = [level[i] + scatter[i] * random.standard_normal(number[i]) for i in range(items)]
    return drawn, level, scatter


def summary(values):
    step = np.diff(np.unique(np.concatenate(values))).min(initial=1.0)
    each = [(len(own), np.mean(own), np.var(own) * len(own)) for own in values]
    names = tuple(f"i{k}" for k in range(len(values)))
    return Moments(names, *np.array(each).T, step)


@pytest.mark.parametrize("own, threshold", [([2.0, 3.5], 2.0), ([0.0], 1.5)])
def test_mean_and_top_against_quadrature(own, threshold):
    log, offset = np.linspace(-4, 14, 1201), np.linspace(-14, 14, 1601)
    variance = np.exp(log)[:, None]
    level = np.mean(own) + offset * np.sqrt(variance)
    weight = invgamma.pdf(variance, PRIOR.shape, scale=PRIOR.scale) * variance**1.5
    weight = weight * norm.pdf(level, PRIOR.mean, np.sqrt(variance / PRIOR.worth))
    for rating in own:
        weight = weight * norm.pdf(rating, level, np.sqrt(variance))
    whole = weight.sum()
    share = (weight * norm.cdf((level - threshold) / np.sqrt(variance))).sum() / whole
    made = normal(table([own]), threshold=threshold, prior=PRIOR)
    assert made.mean[0, 1] == pytest.approx(share, abs=1e-7)
    above = weight[level > threshold].sum() / whole
    assert made.top()[0][1] == pytest.approx(above, abs=5e-3)  # a step in the integrand
    density = whole * (log[1] - log[0]) * (offset[1] - offset[0])
    assert log_marginal(summary([own]), PRIOR) == pytest.approx(np.log(density), abs=1e-7)


def log_marginal(data, prior):
    """Log density of all ratings, levels and scatters integrated out."""
    logs = np.log([prior.worth, prior.shape, prior.scale / prior.shape])
    return -_loss(np.array([prior.mean, *logs]), data)[0]


def test_marginal_is_a_student_t_density():
    values = [[2.0, 3.5, 1.0], [0.3], [4.0, 4.5]]
    total = 0.0
    for own in values:
        n = len(own)
        shape = PRIOR.scale / PRIOR.shape * (np.eye(n) + np.ones((n, n)) / PRIOR.worth)
        total += multivariate_t.logpdf(own, np.full(n, PRIOR.mean), shape, 2 * PRIOR.shape)
    assert log_marginal(summary(values), PRIOR) == pytest.approx(total, abs=1e-10)


def test_draws_agree_with_the_exact_law():
    made = normal(table([[2.0, 3.5], [0.0], [9.0, 8.0, 7.0]]), threshold=2.5, prior=PRIOR)
    many = made.drawn(40_000, seed=1)
    assert_allclose(many.mean, made.mean, atol=0.006)
    assert_allclose((many.mass > 0.5).mean(axis=0), made.top()[0], atol=0.012)
    assert_allclose(many.mass.reshape(-1, 3, 2).sum(axis=2), 1)
    assert (made.drawn(5, seed=1).mass == made.drawn(5, seed=1).mass).all()
    assert (made.drawn(5, seed=1).mass != made.drawn(5, seed=2).mass).any()
    assert_allclose(made.top()[0].reshape(-1, 2).sum(axis=1), 1)


def test_slope_of_the_marginal():
    data = summary(simulated(30)[0])
    for point in ([4.0, 0.3, 0.5, 1.0], [6.0, -2.0, 3.0, -1.0]):
        numeric = approx_fprime(np.array(point), lambda x: _loss(x, data)[0], 1e-7)
        assert_allclose(_loss(np.array(point), data)[1], numeric, rtol=1e-4, atol=1e-3)


def test_no_search_finds_a_better_prior():
    data = summary(simulated(60)[0])
    found, said = empirical_prior(data)
    assert said == ()

    def loss(x):
        return -log_marginal(data, NormalPrior(x[0], *np.exp(x[1:])))

    starts = ([5, 0, 0, 0], [3, -2, 1, 2], [6, 1, 2, 1])
    options = {"maxiter": 4000, "maxfev": 4000, "xatol": 1e-7, "fatol": 1e-9}
    best = min(minimize(loss, s, method="Nelder-Mead", options=options).fun for s in starts)
    assert -log_marginal(data, found) == pytest.approx(best, abs=1e-5)


def test_the_prior_is_recovered_and_the_chances_are_calibrated():
    values, level, scatter = simulated(3000, seed=3)
    made = normal(table(values), threshold=6.0)
    found = made.diagnostics["prior"]
    assert found.mean == pytest.approx(5, abs=0.2)
    assert found.worth == pytest.approx(0.4, rel=0.15)
    assert found.shape == pytest.approx(4, rel=0.3)
    assert found.scale / found.shape == pytest.approx(1.5, rel=0.1)
    above, chance = level > 6, made.top()[0][1::2]
    for low in (0.0, 0.25, 0.5, 0.75):
        near = (chance >= low) & (chance < low + 0.25)
        error = np.sqrt((chance[near] * (1 - chance[near])).sum()) / near.sum()
        assert abs(above[near].mean() - chance[near].mean()) < 4 * error
    share = norm.cdf((level - 6) / scatter)
    assert made.mean[:, 1].mean() == pytest.approx(share.mean(), abs=0.02)


@settings(max_examples=12)
@given(shift=st.floats(-50, 50), scale=st.floats(0.01, 100))
def test_units_do_not_matter(shift, scale):
    values = simulated(40)[0]
    one = normal(table(values), threshold=5.0).mean
    moved = [shift + scale * own for own in values]
    other = normal(table(moved), threshold=shift + scale * 5.0).mean
    assert_allclose(other, one, atol=1e-4)


def test_mirrored_ratings_swap_the_classes():
    values = simulated(40)[0]
    one = normal(table(values), threshold=5.0).mean
    other = normal(table([-own for own in values]), threshold=-5.0).mean
    assert_allclose(other[:, ::-1], one, atol=1e-4)


def test_counts_and_weights_are_repetitions():
    twice = table([[1.0, 1.0, 4.0, 4.0], [2.0, 2.0]])
    single = table([[1.0, 4.0], [2.0]])
    expected = normal(twice, threshold=2.0, prior=PRIOR).mean
    for more in ({"count": np.full(3, 2)}, {"weight": np.full(3, 2.0)}):
        made = normal(replace(single, **more), threshold=2.0, prior=PRIOR)
        assert_allclose(made.mean, expected, atol=1e-12)


def test_one_rating_borrows_its_scatter_from_the_others():
    calm = [[k + 0.1, k - 0.1, k + 0.05] for k in range(6)]
    wild = [[k + 4.0, k - 4.0, k + 2.0] for k in range(6)]
    sure, unsure = (
        normal(table([[3.0], *others]), threshold=2.0).mean[0, 1] for others in (calm, wild)
    )
    assert sure > 0.95
    assert unsure < 0.75


def test_real_ratings():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds votes/")
    path = Path(os.environ["EQUIPOISE_DATA"]) / "votes/emotion_scores.csv"
    ratings = read_annotations(path, kind="interval")
    made = normal(ratings, threshold=30)
    assert len(made.items) == 700
    assert made.classes == ("below 30", "at least 30")
    assert made.mean[:, 1].mean() == pytest.approx((ratings.value >= 30).mean(), abs=0.02)
    assert any("lowest value allowed" in str(said) for said in made.notices)
    scores = Predictions("m", made.items, np.arange(700.0))
    done = evaluate(scores, made.drawn(50, seed=0), metrics=["auroc"])
    assert done.plan.kind == "items x posterior"


def test_moments_are_all_it_needs():
    values = simulated(40)[0]
    made = replace(summary(values), task="size")
    for prior in (PRIOR, None):
        whole = normal(table(values), threshold=5.0, prior=prior)
        other = normal_of_moments(made, threshold=5.0, prior=prior)
        assert_allclose(other.mean, whole.mean, atol=1e-12 if prior else 1e-6)
        assert (other.items, other.classes, other.method) == (
            whole.items, whole.classes, whole.method,
        )  # fmt: skip
    assert other.task == "size"
    with pytest.raises(InputError, match="threshold: nan, expected a finite number"):
        normal_of_moments(made, threshold=np.nan)
    with pytest.raises(InputError, match="moments, items: 'a' more than once"):
        replace(summary(values[:2]), items=("a", "a"))
    with pytest.raises(InputError, match="expected a positive number, a mean and squares"):
        replace(summary(values[:2]), items=("a",))


def test_what_it_cannot_take_is_refused_with_a_reason():
    votes = Annotations(
        kind="binary", items=("a",), classes=("0", "1"), item=np.zeros(1, int),
        label=np.zeros(1, int),
    )  # fmt: skip
    with pytest.raises(
        InputError, match="kind binary, expected ratings of kind interval; read"
    ):
        normal(votes, threshold=0)
    with pytest.raises(InputError, match="threshold: nan, expected a finite number"):
        normal(table([[1.0]]), threshold=np.nan, prior=PRIOR)
    with pytest.raises(InputError, match="0 items with several ratings, expected at least two"):
        normal(table([[1.0], [2.0]]), threshold=1)
    with pytest.raises(InputError, match="all ratings equal, expected"):
        normal(table([[1.0, 1.0], [1.0, 1.0]]), threshold=1)
    with pytest.raises(InputError, match="gold rows, expected ratings only"):
        normal(table([[1.0]], is_gold=np.array([True])), threshold=1, prior=PRIOR)
    for wrong in ({"worth": 0.0}, {"shape": -1.0}, {"scale": np.nan}, {"mean": np.inf}):
        with pytest.raises(InputError, match="expected finite numbers, all but the mean"):
            NormalPrior(**wrong)

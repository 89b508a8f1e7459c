"""Influence functions: the derivative by item weights, DeLong on hard labels."""

import numpy as np
import pytest
from hypothesis import assume, given
from numpy.testing import assert_allclose

from equipoise.metrics import named
from tests.oracles import delong, ranking
from tests.strategies import HARD, scored


def influence(name, p, s):
    """Value and influence by the package."""
    metric = named(name)
    return metric.influence(metric.prepare(s)[0], p)


@given(data=scored(least=2))
def test_auroc_influence_is_the_derivative_by_weights(data):
    p, s = data
    assume(p.sum() * (1 - p).sum() - (p * (1 - p)).sum() > 0.05)
    value, slope, _ = influence("auroc", p, s)
    expected = ranking.derivative(lambda w: ranking.auroc(p, s, "pairs", w), len(p))
    assert_allclose(value, ranking.auroc(p, s), atol=1e-12)
    assert_allclose(slope, expected, atol=1e-7)
    assert_allclose(slope.sum(), 0, atol=1e-12)


@given(data=scored(least=2))
def test_auroc_influence_is_the_printed_formula(data):
    p, s = data
    q = 1 - p
    below = p.sum() * q.sum() - (p * q).sum()
    assume(below > 0.05)
    value, slope, _ = influence("auroc", p, s)
    for i in range(len(p)):
        others = [j for j in range(len(p)) if j != i]
        wins = sum(q[j] * ranking.beats(s[i], s[j]) for j in others)
        losses = sum(p[j] * ranking.beats(s[j], s[i]) for j in others)
        centre = value * (p[i] * (q.sum() - q[i]) + q[i] * (p.sum() - p[i]))
        assert_allclose(slope[i], (p[i] * wins + q[i] * losses - centre) / below, atol=1e-12)


@given(data=scored())
def test_average_precision_influence_is_the_centred_derivative_by_counts(data):
    p, s = data
    assume(p.sum() > 0.1)
    value, slope, _ = influence("average_precision", p, s)
    raw = ranking.derivative(lambda c: ranking.counted_average_precision(p, s, c), len(p))
    assert_allclose(value, ranking.average_precision(p, s), atol=1e-12)
    assert_allclose(slope, raw - raw.mean(), atol=1e-7)


@pytest.mark.parametrize("name", ["auroc", "average_precision"])
@given(data=scored(least=3))
def test_slopes_are_the_derivative_by_soft_labels(name, data):
    p, s = data
    p = 0.1 + 0.8 * p  # away from the ends, where only one side exists
    metric, step = named(name), 1e-6
    found = influence(name, p, s)
    for i in range(len(p)):
        moved = [p + step * sign * (np.arange(len(p)) == i) for sign in (1, -1)]
        up, down = (metric(one, s) for one in moved)
        assert_allclose(found.shares[i], (up - down) / (2 * step), atol=1e-6)


@given(data=scored(HARD, least=4))
def test_on_hard_labels_it_is_delong(data):
    p, s = data
    assume(0 < p.sum() < len(p))
    other = np.roll(s, 1)
    slopes = np.stack([influence("auroc", p, x)[1] for x in (s, other)])
    expected = delong.covariance(p, [s, other], unbiased=False)
    assert_allclose(slopes @ slopes.T, expected, atol=1e-12)


def test_delong_with_sample_covariances_is_near_in_large_samples():
    random = np.random.default_rng(4)
    label = random.integers(0, 2, 400).astype(float)
    scores = [label + 2 * random.random(400), (label + random.normal(size=400)).round(1)]
    slopes = np.stack([influence("auroc", label, s)[1] for s in scores])
    assert_allclose(slopes @ slopes.T, delong.covariance(label, scores), rtol=2 / 150)


@pytest.mark.parametrize("name", ["auroc", "average_precision"])
def test_undefined_has_no_influence(name):
    value, slope, _ = influence(name, np.zeros(3), np.arange(3.0))
    assert np.isnan(value) and np.isnan(slope).all()


@pytest.mark.parametrize(
    "name",
    ["auroc:form=strict", "auroc:form=expected", "auroc:multiclass=ovo",
     "average_precision:form=printed", "average_precision:ties=random", "precision_at_2"],
)  # fmt: skip
def test_other_forms_offer_no_influence(name):
    assert named(name).influence is None

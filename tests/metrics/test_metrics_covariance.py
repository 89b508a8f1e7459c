"""Instant covariances of several models against the bootstrap and against groups by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import Annotations, Predictions, evaluate, resample
from equipoise.metrics import named


def influence_covariance(share, scores, *, metric, group=None):
    """Values and covariance of a metric from its derivatives by items or their groups."""
    code = np.arange(len(share)) if group is None else group
    values, slopes = [], []
    for score in scores:
        value, by_item, _ = metric.influence(metric.prepare(score)[0], share)
        values.append(value)
        slopes.append([by_item[code == unit].sum() for unit in np.unique(code)])
    units = len(slopes[0])
    return np.array(values), np.array(slopes) @ np.array(slopes).T * (units / (units - 1))


@pytest.fixture(scope="module")
def models():
    random = np.random.default_rng(4)
    share = random.binomial(5, random.beta(0.6, 0.9, 400)) / 5
    return share, share + random.normal(0, 0.5, (3, 400))


@pytest.mark.parametrize("name", ["auroc", "average_precision"])
def test_it_is_what_evaluate_uses(models, name):
    share, scores = models
    values, covariance = influence_covariance(share, scores, metric=named(name))
    items = tuple(map(str, range(400)))
    truth = Annotations(
        kind="interval", items=items, item=np.arange(400), value=share, classes=("no", "yes")
    )
    given = [Predictions(f"m{m}", items, one) for m, one in enumerate(scores)]
    done = evaluate(given, truth, metrics=[name], resampling="influence")
    assert_allclose(values, done.values[0, 0, 1], atol=1e-12)
    assert_allclose(np.cov(done.replicates[0, 0, 1], bias=True), covariance, rtol=1e-8)


@pytest.mark.parametrize("name", ["auroc", "average_precision"])
def test_groups_are_summed_before_they_are_squared(models, name):
    share, scores = models
    group = np.arange(400) // 4
    _, covariance = influence_covariance(share, scores, metric=named(name), group=group)
    metric = named(name)
    slopes = [metric.influence(metric.prepare(one)[0], share)[1] for one in scores]
    summed = np.array([[g[group == k].sum() for k in range(100)] for g in slopes])
    assert_allclose(covariance, summed @ summed.T * 100 / 99, rtol=1e-10)


def test_grouped_items_agree_with_a_grouped_bootstrap(models):
    share, scores = models
    group = np.arange(400) // 4
    items = tuple(map(str, range(400)))
    truth = Annotations(
        kind="interval", items=items, item=np.arange(400), value=share, classes=("no", "yes"),
        group=group, groups=tuple(f"g{k}" for k in range(100)),
    )  # fmt: skip
    given = [Predictions(f"m{m}", items, one) for m, one in enumerate(scores)]
    plan = resample(truth, "items", replicates=4000)
    done = evaluate(given, truth, metrics=["auroc"], resampling=plan)
    _, covariance = influence_covariance(share, scores, metric=named("auroc"), group=group)
    assert_allclose(np.cov(done.replicates[0, 0, 1]), covariance, rtol=0.15, atol=2e-6)

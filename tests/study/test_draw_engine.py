"""Metrics of possible truths through `evaluate`: every plan, hard labels, what is undefined."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise import metrics
from equipoise.inference.resampling import resample
from equipoise.metrics import named
from equipoise.study import Settings, evaluate
from equipoise.truth import dirichlet
from equipoise.types import InputError, Predictions
from tests.oracles.draws import dense, sparse, votes

CLOSE = {"rtol": 0, "atol": 1e-12}
OF_SETS = ("topk_accuracy", "set_accuracy", "overlap", "average_overlap")


def by_hand(name, truth, scores, plan):
    """Replicates of a plan, one by one, from the table of items and draws."""
    metric = named(name)
    table = metric.score_draws(metric.prepare(scores), truth)
    counts = plan.item_counts(0, plan.replicates)
    numbers = plan.draw_numbers(0, plan.replicates, truth.draws)
    out = []
    for r in range(plan.replicates):
        rows = np.repeat(np.arange(len(counts)), counts[:, r])
        if plan.truth == "posterior":
            out.append(np.nanmean(table.value[rows, numbers[r]]))
        else:
            out.append(
                np.nanmean(table.value[rows] if table.mean is None else table.mean[rows])
            )
    return out


@pytest.mark.parametrize("plan", ["items", "posterior", "items x posterior"])
def test_evaluates_end_to_end(plan):
    truth = dirichlet(votes(items=12)).drawn(40, seed=1)
    random = np.random.default_rng(4)
    scores = {name: random.dirichlet(np.ones(4), 12) for name in ("one", "two")}
    models = [Predictions(m, truth.items, s, classes=truth.classes) for m, s in scores.items()]
    wanted = [*OF_SETS, "kendall_tau", "spearman_footrule"]
    how = replace(resample(truth, plan), replicates=60)
    result = evaluate(models, truth, metrics=wanted, resampling=how)
    for name in wanted:
        for model, each in scores.items():
            found = result.estimate(model, name)
            assert_allclose(found.value, getattr(metrics, name)(truth, each), **CLOSE)
            assert_allclose(found.replicates, by_hand(name, truth, each, how), **CLOSE)
    again = evaluate(
        models, truth, metrics=wanted, resampling=how, settings=Settings(workers=1)
    )
    assert_array_equal(result.replicates, again.replicates)


def test_hard_labels_take_the_mean_of_the_draws():
    truth = dirichlet(votes(items=12)).drawn(40, seed=1)
    scores = np.random.default_rng(4).dirichlet(np.ones(4), 12)
    how = replace(resample(truth, "items"), replicates=20)
    model = Predictions("one", truth.items, scores, classes=truth.classes)
    result = evaluate(model, truth, metrics=OF_SETS, resampling=how)
    for name in OF_SETS:
        wanted = getattr(metrics, name)(dense(truth.mean[None]), scores)
        assert_allclose(result.estimate("one", name, labels="hard").value, wanted, **CLOSE)


def test_two_classes_come_as_one_score():
    ballots = replace(votes(items=8, classes=2), kind="binary")
    truth = dirichlet(ballots).drawn(40, seed=1)
    score = np.linspace(0.05, 0.95, 8)
    how = replace(resample(truth, "items"), replicates=20)
    model = Predictions("one", truth.items, score)
    result = evaluate(model, truth, metrics=["topk_accuracy"], resampling=how)
    wanted = metrics.topk_accuracy(truth, np.stack([1 - score, score], 1))
    assert_allclose(result.estimate("one", "topk_accuracy").value, wanted, **CLOSE)


def test_more_classes_than_there_are_is_refused():
    truth = dirichlet(votes()).drawn(10, seed=1)
    model = Predictions("one", truth.items, np.full((6, 4), 0.25), classes=truth.classes)
    with pytest.raises(InputError, match="k: 5, expected at most the 4 classes"):
        evaluate(model, truth, metrics=["overlap:k=5"])


def test_what_no_item_defines_is_said():
    truth = sparse([[0.7], [0.6]], [2], 5)
    model = Predictions("one", truth.items, np.full((1, 5), 0.2), classes=truth.classes)
    result = evaluate(model, truth, metrics=["kendall_tau"])
    assert np.isnan(result.estimate("one", "kendall_tau").value)
    assert any("is undefined" in str(one) for one in result.notices)


def test_instant_replicates_have_the_value_and_the_standard_error():
    truth = dirichlet(votes(items=12)).drawn(40, seed=1)
    scores = np.random.default_rng(4).dirichlet(np.ones(4), 12)
    model = Predictions("one", truth.items, scores, classes=truth.classes)
    done = evaluate(model, truth, metrics=["topk_accuracy"], resampling="influence")
    one = done.estimate("one", "topk_accuracy")
    assert one.standard_error > 0
    assert_allclose(one.replicates.mean(), one.value)
    assert_allclose(one.replicates.std(), one.standard_error)

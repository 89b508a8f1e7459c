"""Ordinal and proper scores on the engine: real votes, infinite scores, unordered classes."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import metrics
from equipoise.inference.estimate import Estimate
from equipoise.inference.resampling import resample
from equipoise.study import evaluate
from equipoise.types import Annotations, InputError, Predictions
from tests.strategies import names

RANDOM = np.random.default_rng(6)


def ordinal(votes, classes="1234"):
    """Annotations of a matrix of grades (items, annotators), nan for no vote."""
    item, annotator = np.nonzero(~np.isnan(votes))
    return Annotations(
        kind="ordinal", items=names(len(votes)), classes=tuple(classes),
        annotators=names(votes.shape[1], "reader"), item=item, annotator=annotator,
        label=votes[item, annotator].astype(int),
    )  # fmt: skip


ENGINE = {
    "ranked_probability_score": metrics.ranked_probability_score,
    "log_score": metrics.log_score,
    "quadratic_weighted_kappa": metrics.quadratic_weighted_kappa,
    "expected_cost:cost=linear:decision=least_cost": lambda y, p: metrics.expected_cost(
        y, p, cost="linear", decision="least_cost"
    ),
    "retained_samples_area": metrics.retained_samples_area,
    "retained_samples_area:metric=expected_cost:scale=paper": lambda y, p: (
        metrics.retained_samples_area(y, p, metric="expected_cost", scale="paper")
    ),
}


def plural(shares):
    """The class with most votes; classes with equally many share it."""
    top = np.abs(shares - shares.max(axis=1, keepdims=True)) < 1e-9
    return top / top.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["items", "panel", "items x panel"])
def test_replicates_on_real_votes_equal_a_loop(kind):
    folder = os.environ.get("EQUIPOISE_DATA")
    if folder is None:
        pytest.skip("EQUIPOISE_DATA is not set: the votes of Dawid and Skene are not here")
    from equipoise.read.annotations import read_annotations

    truth = read_annotations(
        Path(folder) / "votes" / "anesthesia.csv", kind="ordinal", classes=list("1234")
    )
    random = np.random.default_rng(3)
    cast = np.zeros((len(truth.items), len(truth.annotators), 4))
    np.add.at(cast, (truth.item, truth.annotator, truth.label), 1)
    said = cast.sum(axis=1) / cast.sum(axis=(1, 2))[:, None]
    models = [0.5 * said + 0.5 * random.dirichlet(np.ones(4), len(said)) for _ in range(2)]
    given = [Predictions(f"m{m}", truth.items, p, truth.classes) for m, p in enumerate(models)]
    plan = resample(truth, kind, replicates=12, seed=4)
    done = evaluate(given, truth, metrics=list(ENGINE), resampling=plan)
    drawn = done.replicates[0]
    for r in range(12):
        times = np.ones(len(truth.annotators))
        if plan.truth == "panel":
            times = plan.annotator_counts(r, r + 1)[:, 0].astype(float)
        mass = np.einsum("iak,a->ik", cast, times)
        present = mass.sum(axis=1) > 0
        rows = np.repeat(np.arange(len(said)), plan.item_counts(r, r + 1)[:, 0] * present)
        soft = mass[rows] / mass[rows].sum(axis=1, keepdims=True)
        for k, metric in enumerate(ENGINE.values()):
            for m, model in enumerate(models):
                assert_allclose(drawn[k, 0, m, r], metric(plural(soft), model[rows]), atol=1e-9)
                assert_allclose(drawn[k, 1, m, r], metric(soft, model[rows]), atol=1e-9)


@pytest.mark.parametrize("kind", ["items", "panel", "votes", "influence"])
def test_an_infinite_score_stays_infinite_and_breaks_nothing(kind):
    random = np.random.default_rng(1)
    votes = random.integers(0, 3, (10, 5)).astype(float)
    sure = random.dirichlet(np.ones(3), 10)
    sure[0] = [1, 0, 0]
    votes[0, :4] = 2
    plain = random.dirichlet(np.ones(3), 10)
    models = [
        Predictions(name, names(10), p, tuple("abc"))
        for name, p in (("plain", plain), ("sure", sure), ("again", sure))
    ]
    truth = ordinal(votes, "abc")
    plan = resample(truth, kind, replicates=60)
    done = evaluate(models, truth, metrics=["log_score"], resampling=plan)
    assert done.estimate("sure", "log_score").value == math.inf
    assert math.isfinite(done.estimate("plain", "log_score").value)
    rows = {(row.model, row.labels): row for row in done.table()}
    assert rows["plain", "soft"].rank == 1
    assert rows["sure", "soft"].rank == rows["again", "soft"].rank == 2.5
    if kind == "items":
        low, high = done.estimate("sure", "log_score").resampled()
        assert 0 < low < high == math.inf
    gap = {(one.a, one.b): one for one in done.differences("log_score")}
    assert gap["plain", "sure"].value == -math.inf
    assert math.isnan(gap["sure", "again"].value)
    assert str(done.estimate("sure", "log_score")).startswith("∞")


def test_grades_need_an_order_and_classes_alone_do_not():
    votes = ordinal(RANDOM.integers(0, 3, (8, 3)).astype(float), "abc")
    nominal = Annotations(
        kind="nominal", items=votes.items, classes=votes.classes, annotators=votes.annotators,
        item=votes.item, annotator=votes.annotator, label=votes.label,
    )  # fmt: skip
    model = Predictions("m", votes.items, RANDOM.dirichlet(np.ones(3), 8), votes.classes)
    for name in metrics.CATALOGUE:
        metric = metrics.CATALOGUE[name]()
        if metric.labels == "distribution" and metric.ordered:
            evaluate(model, votes, metrics=[name])
            with pytest.raises(
                InputError, match="grades in a known order; read the annotations"
            ):
                evaluate(model, nominal, metrics=[name])
    evaluate(model, nominal, metrics=["expected_cost", "log_score"])
    with pytest.raises(InputError, match="known order"):
        evaluate(model, nominal, metrics=["expected_cost:cost=linear"])


def test_a_cost_for_other_classes_is_refused_by_the_engine():
    votes = ordinal(RANDOM.integers(0, 3, (8, 3)).astype(float), "abc")
    model = Predictions("m", votes.items, RANDOM.dirichlet(np.ones(3), 8), votes.classes)
    for decision in ("largest", "least_cost"):
        metric = metrics.CATALOGUE["expected_cost"](cost=np.eye(4), decision=decision)
        with pytest.raises(InputError, match=r"cost: shape \(4, 4\), expected \(3, 3\)"):
            evaluate(model, votes, metrics=[metric])


def test_infinite_and_undefined_replicates_are_told_apart():
    finite = list(range(1, 9))
    endless = Estimate(5.0, np.array([*finite, math.inf, math.inf]), "plan")
    assert endless.interval(0.8) == (pytest.approx(1.9), math.inf)
    assert endless.standard_error == math.inf
    unknown = Estimate(5.0, np.array([*finite, math.nan, math.inf]), "plan")
    low, high = unknown.interval(0.8)
    assert math.isnan(low) and math.isnan(high)
    gap = endless - endless
    assert gap.value == 0 and gap.undefined == 0.2

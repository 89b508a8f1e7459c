"""Metrics of decisions in an evaluation: which class, whose decision, how sure."""

import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import (
    InputError,
    Plausibilities,
    Predictions,
    Settings,
    evaluate,
    metrics,
    resample,
)
from equipoise.datasets.sleep_dodh import load_sleep_dodh
from equipoise.metrics import Block, Truth, decisions, named
from equipoise.study.questions import ask
from tests.laws.test_order_laws import World
from tests.oracles import bootstrap
from tests.oracles import decisions as oracle
from tests.strategies import names

RANDOM = np.random.default_rng(3)
CHANCE = np.repeat([0.05, 0.95], [90, 30])
VOTES = (RANDOM.random((120, 5)) < CHANCE[:, None]).astype(float)
TRUTH = bootstrap.annotations(VOTES)
SCORES = np.clip(0.7 * CHANCE + 0.3 * RANDOM.random(120), 0, 1)
KINDS = {"hard": (VOTES.mean(axis=1) > 0.5).astype(float), "soft": VOTES.mean(axis=1)}
ONE = (
    "sensitivity",
    "specificity",
    "ppv",
    "npv",
    "f1",
    "balanced_accuracy",
    "mcc",
    "cohen_kappa",
)


def model(scores, name="net"):
    return Predictions(name, names(len(scores)), np.asarray(scores, float))


@pytest.mark.parametrize("labels", KINDS)
def test_decisions_and_the_scores_they_were_made_of_are_scored_alike(labels):
    models = [model(SCORES), model(SCORES > 0.5, "decided")]
    done = evaluate(models, TRUTH, metrics=[*ONE, "soft_agreement"])
    for name in ONE:
        expected = getattr(metrics, name)(KINDS[labels], SCORES)
        for one in ("net", "decided"):
            estimate = done.estimate(one, name, labels=labels)
            assert_allclose(estimate.value, expected, atol=1e-12)
            low, high = estimate.interval()
            assert low <= estimate.value <= high and high - low > 0.01


def test_one_class_of_several_is_asked_for_by_its_name():
    world = World(1)
    asked = [f"f1:positive={name}" for name in world.classes]
    done = evaluate(world.predictions, world.annotations, metrics=[*asked, "f1"])
    votes = np.stack([(world.votes == k).mean(axis=1) for k in range(3)], axis=1)
    for scores, model_name in zip(world.scores, world.models, strict=True):
        each = [done.estimate(model_name, name).value for name in asked]
        plain = [metrics.f1(votes, scores, positive=k) for k in range(3)]
        assert_allclose(each, plain, atol=1e-12)
        assert_allclose(done.estimate(model_name, "f1").value, np.mean(plain), atol=1e-12)
    with pytest.raises(InputError, match="a scored class"):
        evaluate(world.predictions, world.annotations, metrics=["f1:positive=class-9"])


def test_an_analysis_takes_one_class_too():
    world, name = World(2), "sensitivity:positive=class-2"
    found = ask("leave_one_out", world.predictions, world.annotations, metrics=[name])
    done = evaluate(world.predictions, world.annotations, metrics=[name])
    full = [done.estimate(one, name).value for one in found.whole.competitors]
    assert_allclose(found.whole.table.values, full, atol=1e-12)


def test_tasks_must_agree_which_column_a_class_is():
    classes, labels = ("a", "b", "c"), RANDOM.dirichlet(np.ones(3), 9)
    items = names(9)
    models = [Predictions("net", items, labels, classes=classes, task=t) for t in "xy"]
    tables = (labels, classes, "x"), (labels[:, ::-1], classes[::-1], "y")
    truths = [
        replace(Plausibilities.dense(one, items=items, classes=own, method="x"), task=task)
        for one, own, task in tables
    ]
    evaluate(models, truths, metrics=["f1", "f1:positive=b"])
    with pytest.raises(InputError, match="same classes in the same order"):
        evaluate(models, truths, metrics=["f1:positive=a"])


def test_what_never_varied_rests_on_the_rarer_class():
    votes = np.zeros((200, 3))
    votes[:5] = 1
    said = votes[:, 0].copy()
    done = evaluate(
        model(said), bootstrap.annotations(votes), metrics=["sensitivity", "accuracy"]
    )
    few, many = (
        done.estimate("net", name).interval()[0] for name in ("sensitivity", "accuracy")
    )
    assert few < 0.75 < 0.98 < many


def test_a_model_that_never_says_yes_has_no_predictive_value_and_is_named():
    models = [model(SCORES), model(np.zeros(120), "never")]
    done = evaluate(models, TRUTH, metrics=["ppv", "f1"])
    assert np.isnan(done.estimate("never", "ppv").value)
    assert done.estimate("never", "f1").value == 0
    assert np.isfinite(done.estimate("net", "ppv").interval()).all()
    told = [one for one in done.notices if one.code == "undefined_decisions"]
    assert [one.values["models"] for one in told] == ["'never'"]


def test_scores_of_another_scale_are_never_cut_where_nobody_said():
    with pytest.raises(InputError, match="nobody said from which on they say yes"):
        evaluate(model(SCORES + 3), TRUTH, metrics=["sensitivity"])
    free = evaluate(model(SCORES + 3), TRUTH, metrics=["sensitivity_at_specificity"])
    assert "threshold_assumed" not in [one.code for one in free.notices]


def test_names_and_titles():
    assert named("f1:positive=N3").title == "F1 of N3"
    assert named("f1:average=weighted").soft_title == "soft weighted F1"
    assert named("net_benefit:threshold=0.25").title == "net benefit at 25%"
    title = named("sensitivity_at_specificity:specificity=0.95").title
    assert title == "sensitivity at 95% specificity"


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="needs EQUIPOISE_DATA")
def test_sleep_stages_of_real_nights():
    """Votes and stages counted by hand, epoch by epoch, beside what an evaluation says."""
    study = load_sleep_dodh()
    one, votes = study.predictions[0], study.annotations
    done = evaluate(
        one,
        votes,
        metrics=["soft_agreement", "f1:positive=N1"],
        resampling=resample(votes, "influence", replicates=2),
        settings=Settings(on_missing="drop"),
    )
    counts = np.zeros((len(votes.items), len(votes.classes)), dtype=int)
    np.add.at(counts, (votes.item, votes.label), 1)
    place = {name: row for row, name in enumerate(votes.items)}
    rows = [place[item] for item in one.items]
    columns = [votes.classes.index(name) for name in one.classes]
    said = [columns[k] for k in one.values.argmax(axis=1)]
    expected = oracle.soft_agreement(counts[rows].tolist(), said)
    assert_allclose(done.estimate(one.model, "soft_agreement").value, expected, atol=1e-12)
    shares = counts[rows] / counts[rows].sum(axis=1, keepdims=True)
    stage = np.equal(said, 1)
    found = 2 * shares[stage, 1].sum() / (shares[:, 1].sum() + stage.sum())
    assert_allclose(done.estimate(one.model, "f1:positive=N1").value, found, atol=1e-12)


def test_a_metric_by_a_reference_standard_stays_one_where_it_meets_its_classes():
    whole = named("specificity").by_standard()
    assert whole.soft_title == "specificity"
    assert whole.among(("no", "yes")).soft_title == "specificity"
    assert named("specificity").among(("no", "yes")).soft_title == "soft specificity"


@pytest.mark.parametrize("patterns", [False, True])
def test_confusions_of_many_classes_are_those_of_few(patterns, monkeypatch):
    random = np.random.default_rng(5)
    items, classes, replicates = 60, 23, 8
    rows = random.random((20 if patterns else items, classes, replicates))
    rows *= random.random((len(rows), classes, 1)) < 0.2
    pattern = random.integers(0, 20, items).astype(np.int32) if patterns else None
    sure = [
        np.where(rows[:, k].max(axis=1) == 0, 0, 2).astype(np.uint8) for k in range(classes)
    ]
    truth = tuple(Truth(rows[:, k].copy(), sure[k], pattern) for k in range(classes))
    counts = random.integers(0, 4, (items, replicates)).astype(np.uint8)
    decided = decisions.decide(random.integers(0, 3, (items, classes)) / 3)
    block = Block(truth, counts)
    sparse = decisions._confusion_sums(decided, block)
    monkeypatch.setattr(decisions, "_FEW", classes)
    assert_allclose(sparse, decisions._confusion_sums(decided, block), rtol=0, atol=1e-12)
    fixed = Block(tuple(Truth(rows[:, k, 0].copy()) for k in range(classes)), counts)
    if not patterns:
        few = decisions._confusion_sums(decided, fixed)
        monkeypatch.setattr(decisions, "_FEW", 2)
        again = decisions._confusion_sums(decided, fixed)
        assert_allclose(again, few, rtol=0, atol=1e-12)

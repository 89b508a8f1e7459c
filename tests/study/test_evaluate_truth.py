"""Evaluating against a model of the truth: what is said, refused, remembered and named."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from equipoise import Annotations, metrics
from equipoise.inference.resampling import resample
from equipoise.study import Settings, evaluate
from equipoise.study.truth import task_truths
from equipoise.truth import dirichlet, mean_vote
from equipoise.types import Dirichlet, InputError, Notice, Predictions, worded
from tests.oracles.draws import sparse, votes
from tests.strategies import names

CLASSES = ("low", "medium", "high")


def labelled(rows, kind="nominal"):
    """Two votes on every item, given as pairs of classes."""
    label = np.array(rows)
    return Annotations(
        kind=kind, items=names(len(rows)), classes=CLASSES, annotators=("ana", "bo"),
        item=np.repeat(np.arange(len(rows)), 2), annotator=np.tile([0, 1], len(rows)),
        label=label.ravel(),
    )  # fmt: skip


def model(items, rows, name="one"):
    return Predictions(name, tuple(items), np.array(rows, float), classes=CLASSES)


def said(result, words):
    return [one for one in worded(result.notices) if words in one]


def test_metrics_of_draws_need_a_model_and_say_which():
    table = votes()
    one = Predictions("one", table.items, np.full((6, 4), 0.25), classes=table.classes)
    with pytest.raises(InputError, match=r"plackett_luce\(annotations\)"):
        evaluate(one, table, metrics=["auroc", "topk_accuracy"])
    with pytest.raises(InputError, match=r"drawn\(1000, seed=0\)"):
        evaluate(one, dirichlet(table), metrics=["topk_accuracy"])


def test_top_chances_are_worked_out_once(monkeypatch):
    truth = dirichlet(votes(items=8)).drawn(20, seed=0)
    seen = Counter()
    plain = Dirichlet.top

    def counted(law, start, others):
        seen["top"] += 1
        return plain(law, start, others)

    monkeypatch.setattr(Dirichlet, "top", counted)
    random = np.random.default_rng(0)
    models = [
        Predictions(name, truth.items, random.dirichlet(np.ones(4), 8), classes=truth.classes)
        for name in ("one", "two", "three")
    ]
    wanted = ["topk_accuracy", "topk_accuracy:k=2", "topk_accuracy:k=3"]
    plan = replace(resample(truth, "items"), replicates=10)
    result = evaluate(models, truth, metrics=wanted, resampling=plan)
    assert seen["top"] == 1
    for one in models:
        value = metrics.topk_accuracy(truth, one.values, 2)
        assert result.estimate(one.model, "topk_accuracy:k=2").value == pytest.approx(value)


def test_ties_are_told_as_each_metric_takes_them():
    table = labelled([(0, 1), (0, 0), (1, 2), (2, 2)])
    one = model(table.items, np.full((4, 3), 1 / 3))
    plan = replace(resample(table, "items"), replicates=200)
    ranked = evaluate(one, table, metrics=["auroc"], resampling=plan)
    tied = "2 of 4 items have several classes with most votes"
    assert said(ranked, f"{tied}: these classes share them for hard labels")
    strict = Settings(ties="negative")
    both = ["auroc", "brier_score"]
    former = evaluate(one, table, metrics=both, resampling=plan, settings=strict)
    assert said(former, f"{tied}: these classes share them")
    assert said(former, "for hard labels of 'auroc' they belong to none")
    dropped = Settings(ties="drop")
    left = evaluate(one, table, metrics=["brier_score"], resampling=plan, settings=dropped)
    assert said(left, f"{tied}: they are left out for hard labels")


def test_a_truth_by_a_model_is_not_called_votes():
    truth = mean_vote(labelled([(0, 1), (0, 0), (1, 2), (2, 2)])).averaged()
    one = model(truth.items, np.full((4, 3), 1 / 3))
    result = evaluate(one, truth, metrics=["auroc", "brier_score"])
    assert said(result, "2 of 4 items have several classes with most mass")


def test_undefined_values_are_explained_by_what_they_need():
    same = labelled([(1, 1)] * 4, kind="ordinal")
    one = model(same.items, [[0, 1, 0]] * 4)
    plan = replace(resample(same, "items"), replicates=200)
    result = evaluate(one, same, metrics=["quadratic_weighted_kappa", "auroc"], resampling=plan)
    kappa = said(result, "quadratic weighted kappa")
    assert kappa and all("all items have the same label" in one for one in kappa)
    assert said(result, "AUROC") and all("class" in one for one in said(result, "AUROC"))


def test_undefined_orders_are_explained():
    truth = sparse([[0.7], [0.6]], [2], 5)
    one = Predictions("one", truth.items, np.full((1, 5), 0.2), classes=truth.classes)
    result = evaluate(one, truth, metrics=["kendall_tau"])
    found = said(result, "is undefined")
    assert len(found) == 2
    assert all("two mentioned classes" in one and "class ''" not in one for one in found)


def test_an_infinite_score_names_the_items_that_make_it_so():
    table = labelled([(0, 1), (0, 0), (1, 2), (2, 2)])
    rows = [[0.5, 0.5, 0], [1, 0, 0], [0.2, 0.8, 0], [0.3, 0.7, 0]]
    sane = model(table.items, [[0.3, 0.3, 0.4]] * 4, "sane")
    plan = replace(resample(table, "items"), replicates=200)
    result = evaluate(
        [model(table.items, rows), sane], table, metrics=["log_score"], resampling=plan
    )
    found = said(result, "is infinite")
    (both,) = found
    assert both.startswith("one: log_score with hard and soft labels is infinite")
    assert f"2 of 4 items have ({table.items[2]!r}, {table.items[3]!r})" in both


def test_classes_that_the_truth_lacks_are_not_dropped_in_silence():
    table = replace(labelled([(0, 1), (0, 0), (1, 0), (1, 1)]), classes=CLASSES[:2])
    table = replace(table, kind="nominal")
    one = model(table.items, [[0.5, 0.3, 0.2]] * 4)
    plan = replace(resample(table, "items"), replicates=200)
    assert evaluate(one, table, metrics=["auroc"], resampling=plan).values.shape
    with pytest.raises(InputError, match=r"0\.2 on classes that the truth lacks.*classes="):
        evaluate(one, table, metrics=["brier_score"], resampling=plan)


def test_what_the_fit_says_is_passed_on_once():
    truth = dirichlet(votes(items=8)).drawn(20, seed=0)
    gap = Notice("gap", "Mind the gap.")
    parts = [truth.noted(task=task, notices=(gap,)) for task in ("a", "b")]
    models = [
        Predictions("one", truth.items, np.full((8, 4), 0.25), truth.classes, task)
        for task in ("a", "b")
    ]
    result = evaluate(models, parts, metrics=["topk_accuracy"])
    assert worded(result.notices).count("Mind the gap (a and b).") == 1
    assert result.tasks == ("a", "b", "macro average")


def test_draws_of_all_classes_are_each_made_once():
    truth = dirichlet(votes(items=5, classes=6), prior="uniform").drawn(7, seed=0)
    found = task_truths(truth)[0].draws
    assert_array_equal(found, np.stack([truth.draw(number).T for number in range(7)], axis=2))

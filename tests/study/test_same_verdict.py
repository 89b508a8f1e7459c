"""One study, one answer: card, analyses and close look give the same interval and verdict."""

import os

import numpy as np
import pytest

from equipoise import evaluate, resample
from equipoise.types import Predictions
from tests.analysed import analysed
from tests.oracles.bootstrap import annotations
from tests.report_stability_sample import found as finding
from tests.report_stability_sample import rows
from tests.strategies import names

real = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ, reason="needs the CheXpert files (EQUIPOISE_DATA)"
)
SAME = ("value", "low", "high", "p", "p_adjusted", "separated", "p_better")


def answers(given, truth, pair, task=""):
    """Of a pair, by soft AUROC: its difference on each way, and the report that says so."""
    options = {"metrics": ["auroc"], "replicates": 50, "most": 1, "only": ("ranking",)}
    plan = resample(truth, replicates=50)
    done = evaluate(given, truth, metrics=["auroc"], resampling=plan)
    gaps = done.differences("auroc", task=task)
    first = next(gap._asdict() for gap in gaps if {gap.a, gap.b} == set(pair))
    report = analysed(given, truth, **options, pair=pair)
    second = next(
        row
        for row in rows(report, "comparison", "pair")
        if (row["task"], row["labels"]) == (task, "soft")
    )
    third = next(
        row
        for row in rows(report, "differences")
        if (row["task"], row["labels"], {row["a"], row["b"]}) == (task, "soft", set(pair))
    )
    return [{key: one[key] for key in SAME} for one in (first, second, third)], report


def world(people, items=150, gap=1.0):
    random = np.random.default_rng(people)
    hidden = random.normal(size=items)
    votes = (random.random((items, people)) < 1 / (1 + np.exp(-2 * hidden[:, None]))).astype(
        float
    )
    given = [
        Predictions(name, names(items), hidden + noise * random.normal(size=items))
        for name, noise in (("close", 0.5), ("far", 0.5 + gap))
    ]
    return given, annotations(votes)


@pytest.mark.parametrize("gap", [0.05, 2.5])
def test_two_models_have_one_difference_and_one_verdict(gap):
    given, truth = world(6, gap=gap)
    every, report = answers(given, truth, ("close", "far"))
    assert every == [every[0]] * 3
    assert every[0]["separated"] == (gap > 1)
    sentence = finding(report, "comparison").sentence
    assert ("is better than" in sentence) == (gap > 1)
    assert ("not separated" in sentence) == (gap < 1)
    assert "for items and annotators like these" in sentence
    assert report.card.answer.endswith(", close is better than far.") == (gap > 1)
    assert ("cannot be told apart" in report.card.answer) == (gap < 1)
    assert report.card.holds_for.startswith("Items and annotators like these.")


def test_two_annotators_give_no_verdict_anywhere():
    given, truth = world(2, gap=2.5)
    every, report = answers(given, truth, ("close", "far"))
    assert every[0]["low"] > 0 and not every[0]["separated"]
    assert len({repr(one) for one in every}) == 1  # the adjusted p is undefined
    sentence = finding(report, "comparison").sentence
    assert "is better" not in sentence and "for these annotators" in sentence
    assert sentence.endswith("too few for a verdict on annotators like these.")
    assert "too few" in report.scope and "too few" in report.card.answer


@real
def test_edema_drnet_against_uestc():
    from equipoise.datasets.chexpert import load_chexpert

    study = load_chexpert()
    pair = ("drnet", "uestc")
    found, report = answers(study.predictions, study.annotations, pair, "Edema")
    alone = [one for one in study.predictions if one.model in pair]
    found += answers(alone, study.annotations, pair, "Edema")[0]
    for key in ("value", "low", "high", "p", "separated"):
        assert [one[key] for one in found] == pytest.approx([found[0][key]] * 6, rel=1e-9), key
    assert found[0]["low"] < 0 < found[0]["value"] and not found[0]["separated"]
    assert "as a single pair" in finding(report, "comparison").sentence

"""Retained samples: which scoring rule finds the errors that matter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import Annotations, InputError, Predictions, metrics
from equipoise.study.analyses.retained import analyse
from equipoise.study.study import Study

GRADES = tuple("01234")


def grades(items=300, classes=GRADES, kind="ordinal"):
    """One true grade an item, and a model that is often off by one and now and then by four."""
    random = np.random.default_rng(1)
    codes = np.arange(len(classes))
    label = random.choice(codes, items, p=np.full(len(codes), 1 / len(codes)))
    names = tuple(f"i{i}" for i in range(items))
    truth = Annotations(
        kind=kind, items=names, classes=classes, item=np.arange(items), label=label
    )
    score = -1.3 * np.abs(codes - label[:, None]) + random.normal(size=(items, len(codes)))
    far = random.random(items) < 0.05
    score[far] = -1.3 * np.abs(codes - (codes[-1] - label[far])[:, None])
    chance = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    return [Predictions("model", names, chance, classes=classes)], truth, label, chance


def test_areas_are_those_of_the_metric_and_rules_that_know_the_order_win():
    models, truth, label, chance = grades()
    finding = analyse(Study.of(models, truth, metrics=["quadratic_weighted_kappa"]))
    areas, worst = finding.tables
    by_rule = {row["rule"]: row for row in areas.rows}
    for rule, title in (("rps", "RPS"), ("brier", "Brier score")):
        row = by_rule[title]
        mean = metrics.retained_samples_area(label, chance, score=rule)
        assert row["kappa"] == pytest.approx(mean, abs=1e-12)
        assert row["kappa_area"] == pytest.approx(
            metrics.retained_samples_area(label, chance, score=rule, scale="paper"), abs=1e-12
        )
        how = {"score": rule, "metric": "cost", "scale": "paper"}
        paper = metrics.retained_samples_area(label, chance, **how)
        assert row["cost_area"] == pytest.approx(paper, abs=1e-12)
    ordered = by_rule["RPS"]
    assert ordered["kappa"] > by_rule["Brier score"]["kappa"]
    assert ordered["kappa_gain_low"] > 0 > ordered["cost_gain_low"]
    assert by_rule["Brier score"]["kappa_gain"] == "reference"
    first = [row for row in worst.rows if row["rule"] == "RPS"]
    scores = metrics.item_scores("ranked_probability_score", label, chance)
    assert_allclose([row["score"] for row in first], -np.sort(-scores)[:5])
    assert first[0]["grades_off"] == 4
    kappa, cost = finding.charts
    assert [len(chart.lines) for chart in (kappa, cost)] == [4, 4]
    start = metrics.quadratic_weighted_kappa(label, chance)
    assert_allclose([line.points[0][1] for line in kappa.lines], start)


def test_errors_are_those_of_resampled_items():
    models, truth, label, chance = grades()
    study = Study.of(models, truth, metrics=["quadratic_weighted_kappa"])
    row = analyse(study).tables[0].rows[0]
    random = np.random.default_rng(0)
    drawn = [
        metrics.retained_samples_area(label[rows], chance[rows])
        for rows in random.integers(0, 300, (200, 300))
    ]
    assert row["kappa_error"] == pytest.approx(np.std(drawn, ddof=1), rel=0.25)
    again = analyse(study).tables[0].rows[0]
    assert again["kappa_error"] == row["kappa_error"]


def test_grades_in_an_order_are_needed():
    for models, truth, *_ in (
        grades(kind="nominal", classes=("a", "b", "c")),
        grades(kind="ordinal", classes=("lo", "hi")),
    ):
        with pytest.raises(InputError, match="expected at least three grades in order; say"):
            analyse(Study.of(models, truth, metrics=["accuracy"]))

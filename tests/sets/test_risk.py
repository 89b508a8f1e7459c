"""Risk: expected levels by mass and by the top class, accuracy by level, what models miss."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from equipoise.sets.risk import risk_finding
from equipoise.study.study import Study
from equipoise.types import Grouping, Plausibilities, Predictions
from tests.cli_sample import caller
from tests.sets.worlds import CLASSES, World

LEVELS = ["low", "low", "medium", "medium", "high", "high"]
RISK = Grouping.of(
    dict(zip(CLASSES, LEVELS, strict=True)), groups=("low", "medium", "high"), name="risk"
)
VALUES = {"low": 0, "medium": 1, "high": 2}


def draws_of(items=30, number=40, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(6, 0.7), size=(number, items))


def study_of(draws, *chances):
    items = tuple(f"i{k}" for k in range(draws.shape[1]))
    truth = Plausibilities.dense(draws, items=items, classes=CLASSES, method="by hand")
    models = [Predictions(f"m{k}", items, chance, CLASSES) for k, chance in enumerate(chances)]
    return Study.of(models, truth, metrics=["brier_score"])


def found(draws, *chances, values=VALUES):
    (finding,) = risk_finding(study_of(draws, *chances), RISK, values)
    return finding, {table.name: table.rows for table in finding.tables}


def test_expected_risk_by_mass_and_by_the_top_class_are_both_named():
    draws = draws_of()
    finding, tables = found(draws, draws.mean(axis=0))
    worth = np.array([0, 0, 1, 1, 2, 2])
    by_mass, by_top = draws @ worth, worth[draws.argmax(axis=2)]
    assert f"{by_mass.mean():.3f} where every class counts" in finding.sentence
    assert f"{by_top.mean():.3f} where the most plausible" in finding.sentence
    cases = tables["risk_by_case"]
    assert [row["expected_mass"] for row in cases] == pytest.approx(by_mass.mean(axis=0))
    assert [row["expected_top_high"] for row in cases] == by_top.max(axis=0).tolist()
    level = np.array([0, 0, 1, 1, 2, 2])[draws.argmax(axis=2)]
    sure = [max(np.bincount(column) / len(column)) for column in level.T]
    assert [row["level_certainty"] for row in cases] == pytest.approx(sure)
    assert all(row["level_certainty"] >= row["class_certainty"] - 1e-9 for row in cases)


def test_accuracy_by_level_is_by_mass():
    draws = draws_of()
    chance = draws_of(number=1, seed=1)[0]
    _, tables = found(draws, chance)
    mass, first = draws.mean(axis=0), chance.argmax(axis=1)
    for place, row in enumerate(tables["levels"]):
        inside = np.array(LEVELS) == ("low", "medium", "high")[place]
        weight = mass[:, inside].sum()
        hits = mass[np.arange(30), first][inside[first]].sum()
        assert row["class_right"] == pytest.approx(hits / weight)
        right = mass[inside[first]][:, inside].sum()
        assert row["level_right"] == pytest.approx(right / weight)
        assert row["mass"] == pytest.approx(weight / 30)
        assert row["level_right_low"] <= row["level_right"] <= row["level_right_high"]
    assert sum(row["mass"] for row in tables["levels"]) == pytest.approx(1)


def test_missed_cases_are_the_likeliest_first():
    draws = draws_of()
    good, bad = draws.mean(axis=0), np.tile([0.5, 0.5, 0, 0, 0, 0], (30, 1))
    _, tables = found(draws, good, bad)
    mass = draws.mean(axis=0)[:, 4:].sum(axis=1)
    missed = [row for row in tables["missed"] if row["model"] == "m1"]
    assert len(missed) == (mass >= 0.1).sum()
    assert [row["mass"] for row in missed] == sorted(mass[mass >= 0.1].tolist(), reverse=True)
    assert {row["says"] for row in missed} == {"a"} and {row["chance"] for row in missed} == {0}
    assert len([row for row in tables["missed"] if row["model"] == "m0"]) < len(missed)


def test_levels_without_numbers_have_no_expected_risk():
    draws = draws_of()
    finding, tables = found(draws, draws.mean(axis=0), values={})
    assert "Expected" not in finding.sentence and "less certain than" in finding.sentence
    assert "expected_mass" not in tables["risk_by_case"][0]


def test_risk_is_on_the_page_of_evaluate(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    votes, model = World(6).study(0, 40)
    rows = zip(votes.item, votes.annotator, votes.label, strict=True)
    lines = [f"{votes.items[i]},{votes.annotators[a]},{CLASSES[k]}" for i, a, k in rows]
    Path("votes.csv").write_text("\n".join(["item,annotator,label", *lines]) + "\n")
    pairs = zip(model.items, model.values, strict=True)
    lines = [",".join([item, *map(repr, map(float, p))]) for item, p in pairs]
    Path("net.csv").write_text("\n".join(["item," + ",".join(CLASSES), *lines]) + "\n")
    table = zip(CLASSES, LEVELS, strict=True)
    lines = [f"{name},{level},{VALUES[level]}" for name, level in table]
    Path("risk.csv").write_text("\n".join(["class,group,value", *lines]) + "\n")
    words = ("-a", "votes.csv", "-p", "net.csv", "--truth", "dirichlet", "--draws", "30")
    call = caller(monkeypatch, capsys)
    code, _, said = call("evaluate", *words, "--groups", "risk.csv", "--out", "run")
    assert code == 0, said
    page = " ".join(
        re.sub(r"<[^>]+>|\s+", " ", Path("run/report.html").read_text("utf-8")).split()
    )
    assert "Expected risk is" in page and "Models by risk" in page
    _, out, _ = call("evaluate", *words, "--groups", "risk.csv", "--json")
    (part,) = (one for one in json.loads(out)["findings"] if one["key"] == "risk")
    assert [row["level"] for row in part["rows"]] == ["low", "medium", "high"]

"""Aggregation models against gold: scores from their definitions, and no gold in the fits."""

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from equipoise import Annotations, read_annotations
from equipoise.study.analyses.truth_items import consensus_rows
from equipoise.study.analyses.truth_report import (
    MAJORITY,
    aggregates_against_gold,
)
from equipoise.truth import MODELS
from equipoise.types import Notice

NAMES = ("dirichlet", "dawid_skene", "mean_vote")


def fits(*names):
    return {name: MODELS[name].fit for name in names}


def study(items=40, gold=25, classes=3, seed=0, skill=0.65):
    """Votes of five annotators, and gold for the first items; more votes on some."""
    random = np.random.default_rng(seed)
    truth = random.integers(classes, size=items)
    rows = []
    for item in range(items):
        for annotator in range(5):
            if random.random() < 0.9:
                right = random.random() < skill
                vote = truth[item] if right else random.integers(classes)
                rows.append((item, annotator, vote, False))
        if item < gold:
            rows.append((item, 5, truth[item], True))
    item, annotator, label, known = (np.array(one) for one in zip(*rows, strict=True))
    table = Annotations(
        kind="nominal" if classes > 2 else "binary",
        items=tuple(f"i{i}" for i in range(items)),
        classes=tuple("abc"[:classes]),
        annotators=("a", "b", "c", "d", "e", "board"),
        item=item,
        annotator=annotator,
        label=label,
        is_gold=known,
    )
    return truth, table


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_those_of_the_definition(classes):
    truth, table = study(classes=classes)
    found = aggregates_against_gold(table, fits(*NAMES), "")
    assert found.tables[0].rows[0]["items"] == 25
    votes = table.with_gold("ignore")
    rows = {row["model"]: row for row in found.tables[0].rows}
    assert set(rows) == {*NAMES, MAJORITY}
    for name, row in rows.items():
        mean = MODELS[name].fit(votes).mean[:25]
        top = mean >= mean.max(axis=1, keepdims=True) - 1e-9
        right = (top / top.sum(axis=1, keepdims=True))[np.arange(25), truth[:25]]
        target = np.eye(classes)[truth[:25]]
        with np.errstate(divide="ignore"):
            log = -np.log(mean[np.arange(25), truth[:25]]).mean()
        assert row["accuracy"] == pytest.approx(right.mean())
        assert row["log_score"] == pytest.approx(log)
        assert row["brier_score"] == pytest.approx(((mean - target) ** 2).sum(axis=1).mean())
        assert row["accuracy_low"] < row["accuracy"] < row["accuracy_high"]


def test_gold_is_not_in_the_fits_that_it_scores():
    truth, table = study(skill=0.4)
    found = aggregates_against_gold(table, fits("dirichlet"), "")
    settled = MODELS["dirichlet"].fit(table).mean[:25].argmax(axis=1)
    assert (settled == truth[:25]).all()  # with gold the model cannot be wrong
    assert all(row["accuracy"] < 1 for row in found.tables[0].rows)


def test_the_sentence_says_who_gains_on_majority_vote():
    _, table = study(items=60, gold=60)
    found = aggregates_against_gold(table, fits(*NAMES), "")
    rows = {row["model"]: row for row in found.tables[0].rows}
    assert set(rows) == {*NAMES, MAJORITY}
    for row in rows.values():
        assert row["gain"] == pytest.approx(row["accuracy"] - rows[MAJORITY]["accuracy"])
        if row["model"] != MAJORITY:
            assert row["gain_low"] <= row["gain"] <= row["gain_high"]
    assert found.sentence.startswith("Of 60 items with gold, ")
    alone = aggregates_against_gold(table, {}, "")
    assert "majority_vote is right in" in alone.sentence


def test_without_gold_or_votes_nothing_is_scored():
    _, table = study(gold=0)
    assert aggregates_against_gold(table, fits("dirichlet"), "") is None
    _, table = study()
    apart = table.rows(~table.is_gold | (table.item < 5))
    apart = apart.rows(apart.is_gold | (apart.item >= 5))
    assert isinstance(aggregates_against_gold(apart, fits("dirichlet"), ""), Notice)


def test_groups_widen_the_intervals():
    truth, table = study(items=60, gold=60)
    right = MODELS[MAJORITY].fit(table.with_gold("ignore")).mean[np.arange(60), truth]
    group = np.empty(60, dtype=np.intp)
    group[np.argsort(right, kind="stable")] = np.repeat(np.arange(6), 10)
    grouped = replace(table, group=group, groups=tuple("uvwxyz"))
    alone = aggregates_against_gold(table, {}, "").tables[0].rows[0]
    whole = aggregates_against_gold(grouped, {}, "").tables[0].rows[0]
    assert whole["accuracy"] == alone["accuracy"]
    assert whole["accuracy_low"] < alone["accuracy_low"] - 0.05


def test_consensus_rows_count_votes_and_name_gold():
    truth, table = study()
    made = MODELS["dirichlet"].fit(table)
    for row in consensus_rows(table, made):
        item = int(row["item"][1:])
        own = (table.item == item) & ~table.is_gold
        assert row["votes"] == own.sum()
        code = table.classes.index(row["consensus"])
        assert row["votes_for_it"] == (table.label[own] == code).sum()
        assert row["gold"] == (table.classes[truth[item]] if item < 25 else "")
        assert math.isclose(sum(row[f"plausibility of {one}"] for one in "abc"), 1)


def test_counts_and_rankings_have_votes_too():
    counts = Annotations.from_counts(np.array([[3, 0, 2], [0, 5, 0]]))
    rows = consensus_rows(counts, MODELS["dirichlet"].fit(counts))
    assert [(row["votes"], row["votes_for_it"]) for row in rows] == [(5, 3), (5, 5)]
    ranked = Annotations.from_rankings([[[[3], [1, 4]], [[1]]], [[[2]]]])
    rows = consensus_rows(ranked, MODELS["inverse_rank"].fit(ranked))
    assert [(row["votes"], row["votes_for_it"]) for row in rows] == [(2, None), (1, None)]


def test_on_bluebirds_dawid_skene_finds_more_than_the_majority():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds votes/")
    path = Path(os.environ["EQUIPOISE_DATA"]) / "votes" / "bluebirds.csv"
    table = read_annotations(path)
    lines = [line.split(",") for line in path.read_text().splitlines()[1:]]
    known = {item: truth for item, _, _, truth in lines}
    item = np.array([table.items.index(one) for one in known])
    label = np.array([table.classes.index(one) for one in known.values()])
    both = replace(
        table,
        item=np.concatenate([table.item, item]),
        label=np.concatenate([table.label, label]),
        annotator=np.concatenate([table.annotator, np.zeros(len(item), dtype=np.intp)]),
        is_gold=np.arange(len(table) + len(item)) >= len(table),
    )
    rows = {
        r["model"]: r for r in aggregates_against_gold(both, fits(*NAMES), "").tables[0].rows
    }
    assert rows["dawid_skene"]["accuracy"] == pytest.approx(97 / 108)
    assert rows[MAJORITY]["accuracy"] == pytest.approx(82 / 108)
    assert rows["dawid_skene"]["gain_low"] > 0

"""What is said of agreement: findings that bear out their numbers, and survive a run."""

import json
from dataclasses import replace

import numpy as np
import pytest

from equipoise import Annotations
from equipoise.truth.agreement import (
    agreement_findings,
    agreement_summaries,
    agreement_table,
)
from equipoise.types import Dots, Heat, cell, worded
from tests.report_truth_sample import rankings, votes
from tests.truth.test_agreement import table


def summary(annotations, task="", **how):
    return agreement_table(annotations, task=task, replicates=50, **how)


def two_tasks():
    panel = votes(people=5, items=30)
    both = replace(panel, tasks=("one", "two"), task=(panel.item >= 15).astype(int))
    return [summary(both, task) for task in both.tasks]


SUMMARIES = {
    "few": lambda: summary(votes(people=8, items=60)),
    "many": lambda: summary(votes(people=75, items=30)),
    "anonymous": lambda: summary(votes(people=3).anonymous()),
    "ratings": lambda: summary(table([[1, 2.5, 3], [1, 2, 3.5]], "interval")),
    "rankings": lambda: summary(rankings()),
    "weighted": lambda: summary(votes(people=4, items=20), weights="linear"),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_summary_is_plain_json_with_all_its_numbers(name):
    first = SUMMARIES[name]()
    stored = json.loads(json.dumps(first.as_json(), allow_nan=False))
    assert stored == first.as_json()
    for rows, written in (
        (first.coefficients, stored["coefficients"]), (first.annotators, stored["annotators"]),
    ):  # fmt: skip
        for row, numbers in zip(rows, written, strict=True):
            for field, value in numbers.items():
                held = getattr(row, field)
                assert value == held if value is not None else np.isnan(held)
    assert [str(caution) for caution in first.cautions] == stored["cautions"]
    assert (stored["pairs"] is None) is (first.pairs is None)


def test_the_words_bear_out_the_numbers():
    found = summary(votes(people=8, items=60))
    whole = found.report()
    first, low = found.coefficients[0], found.as_json()["pairs"]["furthest"][0]
    assert f"{first.value:.3f}" in whole.sentence and first.words in whole.sentence
    said = " ".join(whole.more)
    least = f"{low['first']} and {low['second']} least ({low['kappa']:.3f}"
    assert least in said.replace("−", "-")
    assert f"sharing {low['items']} items)" in said
    assert f"{found.annotators[0].votes} votes)" in said
    assert [one.name for one in whole.tables] == [
        "agreement", "agreement_annotators", "agreement_pairs",
    ]  # fmt: skip
    assert list(whole.tables[0].rows[0]) == [
        "task", "name", "value", "low", "high", "words", "items", "votes", "whom",
    ]  # fmt: skip
    assert whole.references == ("krippendorff2004", "cohen1960")


def test_cells_hold_numbers_when_they_are_few():
    (few,) = (
        c for c in summary(votes(people=8, items=60)).report().charts if isinstance(c, Heat)
    )
    assert len(few.texts) == 8 and few.values.shape == (8, 8)
    (many,) = (
        c for c in summary(votes(people=75, items=30)).report().charts if isinstance(c, Heat)
    )
    assert many.texts == ()
    assert "the 60 annotators with most votes of 75" in many.caption


def test_the_threshold_belongs_to_alpha():
    for make, expected in (("few", 0.667), ("rankings", None)):
        (forest,) = (c for c in SUMMARIES[make]().findings()[0].charts if isinstance(c, Dots))
        assert forest.reference == expected
        assert ("dashed" in forest.caption) is (expected is not None)


def test_what_cannot_be_said_is_said():
    anonymous = SUMMARIES["anonymous"]().findings()
    assert "anonymous" in anonymous[1].sentence and not anonymous[1].brief
    assert "Ratings are numbers" in SUMMARIES["ratings"]().findings()[2].sentence


def test_several_tasks_have_an_overview_and_say_things_once():
    both = two_tasks()
    overview, *rest = agreement_findings(both)
    assert {one.task for one in rest} == {"one", "two"} and overview.task == ""
    assert not any(one.brief for one in rest)
    rows = overview.tables[0].rows
    assert [row["task"] for row in rows] == sorted(
        ("one", "two"), key=lambda task: -both[task == "two"].coefficients[0].value
    )
    assert (
        worded(overview.notices).count(
            "Only 15 items have two votes: intervals are rough, often too narrow (one and two)."
        )
        == 1
    )


def test_a_run_has_the_agreement_that_can_be_measured():
    panel = votes(people=4, items=20)
    (one,) = agreement_summaries(panel)
    assert one.as_json() == agreement_table(panel).as_json()
    assert agreement_summaries(panel.anonymous()) == ()
    lone = replace(panel, group=np.zeros(20, int), groups=("a",))
    assert agreement_summaries(lone) == ()
    known = Annotations.from_rankings([[[[0], [1]]]], classes=["a", "b", "c"])
    assert agreement_summaries(replace(known, is_gold=np.ones(2, bool))) == ()


def test_a_task_with_a_single_annotator_keeps_the_columns_of_the_others():
    both = Annotations(
        kind="binary",
        items=("a", "b"),
        classes=("no", "yes"),
        annotators=("x", "y"),
        tasks=("one", "two"),
        item=np.array([0, 0, 1, 1, 0, 1]),
        annotator=np.array([0, 1, 0, 1, 0, 0]),
        task=np.array([0, 0, 0, 0, 1, 1]),
        label=np.array([1, 0, 1, 1, 1, 0]),
    )
    overview, *_ = agreement_findings([summary(both, task) for task in both.tasks])
    (table,) = overview.tables
    cells = {row["task"]: [cell(row, column) for column in table.columns] for row in table.rows}
    assert len(cells["one"]) == len(cells["two"]) == 8
    assert cells["two"][2] == "undefined" and cells["two"][4] == ""

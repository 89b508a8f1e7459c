"""Exports of Label Studio, written here as the tool writes them."""

import json

import numpy as np
import pytest

from equipoise.read.annotations import read_annotations
from equipoise.types import InputError


def result(control, kind, value):
    return {
        "id": "Dx_aB91ISN", "from_name": control, "to_name": "img", "type": kind,
        "origin": "manual", "value": {kind: value},
    }  # fmt: skip


def said(who, *results, **more):
    return {
        "id": 1001, "completed_by": who, "result": list(results), "was_cancelled": False,
        "ground_truth": False, "created_at": "2021-03-09T22:16:08.728353Z",
        "updated_at": "2021-03-09T22:16:08.728378Z", "lead_time": 4.288, "result_count": 1,
    } | more  # fmt: skip


def task(number, *annotations, **data):
    return {
        "id": number, "annotations": list(annotations), "predictions": [], "drafts": [],
        "data": {"image": f"https://example.com/{number}.jpg", **data}, "project": 83,
    }  # fmt: skip


@pytest.fixture
def read(tmp_path):
    def export(*tasks, **how):
        path = tmp_path / "export.json"
        path.write_text(json.dumps(list(tasks)))
        return read_annotations(path, **how)

    return export


def labels(table):
    return [
        (table.items[i], table.annotators[a], table.classes[c])
        for i, a, c in zip(table.item, table.annotator, table.label, strict=True)
    ]


def one(kind, value, control="c"):
    return result(control, kind, value)


def test_choices_become_labels(read):
    table = read(
        task(1, said(10, one("choices", ["cat"])), said(11, one("choices", ["dog"]))),
        task(2, said({"id": 12, "email": "a@b.org"}, one("choices", ["bird"]), lead_time=None)),
        task(3, said(10, one("choices", ["cat"]), was_cancelled=True)),
        task(4, said(10)),
    )
    assert table.kind == "nominal"
    assert labels(table) == [("1", "10", "cat"), ("1", "11", "dog"), ("2", "a@b.org", "bird")]
    assert table.tasks == ("",)
    np.testing.assert_array_equal(table.duration_ms, [4288, 4288, np.nan])
    assert table.timestamp.tolist() == [1615328168728] * 3
    assert table.is_gold is None
    assert tuple(map(str, table.notices)) == (
        "1 cancelled annotations are left out",
        "1 tasks have no annotations and are left out",
        "1 blank label is left out, and with them 1 item without any other",
    )


def test_items_and_groups_may_come_from_the_data_and_gold_is_kept(read):
    table = read(
        task(1, said(10, one("choices", ["yes"]), ground_truth=True), patient="p1", name="x"),
        task(2, said(10, one("choices", ["no"])), patient="p1", name="y"),
        columns={"item": "data.name", "group": "data.patient"},
    )
    assert (table.kind, table.items, table.groups) == ("binary", ("x", "y"), ("p1",))
    assert table.is_gold.tolist() == [True, False]


def test_several_controls_are_tasks(read):
    table = read(
        task(1, said(10, one("choices", ["a"], "side"), one("choices", ["b"], "view"),
                     one("textarea", ["a remark"], "note"))),
    )  # fmt: skip
    assert table.tasks == ("side", "view")
    assert tuple(map(str, table.notices)) == ("control 'note (textarea)' is not used",)


def test_several_ticks_are_yes_no_tasks(read):
    table = read(
        task(1, said(10, one("choices", ["edema", "fracture"])), said(11)),
        task(2, said(10, one("choices", ["edema"]))),
    )
    assert (table.kind, table.classes) == ("binary", ("no", "yes"))
    assert table.tasks == ("edema", "fracture")
    assert table.label.tolist() == [1, 1, 0, 0, 1, 0]
    assert tuple(map(str, table.notices)) == (
        "1 annotations tick nothing and are read as no to every choice",
    )
    declared = read(task(1, said(10, one("choices", []))), classes=["edema", "mass"])
    assert (declared.tasks, declared.label.tolist()) == (("edema", "mass"), [0, 0])


def test_ratings_and_numbers(read):
    rated = read(task(1, said(10, one("rating", 2)), said(11, one("rating", 4))))
    assert (rated.kind, rated.classes) == ("ordinal", ("1", "2", "3", "4"))
    assert "grades 1 to 4" in str(rated.notices[0])
    told = read(task(1, said(1, one("rating", 2))), classes=[1, 2, 3])
    assert told.classes == ("1", "2", "3")
    assert read(task(1, said(10, one("number", 2.5)))).value.tolist() == [2.5]


def test_exports_without_names_are_anonymous(read):
    assert read(task(1, said(None, one("choices", ["a"])))).annotators is None


@pytest.mark.parametrize(
    ("tasks", "how", "message"),
    [
        ([{"id": 1, "image": "x", "label": "cat"}], {}, "not 'JSON-MIN'"),
        ([task(1)], {}, "1 tasks without annotations"),
        ([task(1, said(1, one("rectanglelabels", ["x"])))], {}, "type 'rectanglelabels'"),
        ([task(1, said(1, one("ranker", ["a", "b"])))], {}, "controls of type 'ranker'"),
        ([task(1, said(1, one("choices", [["a", "b"]])))], {}, "a flat list"),
        ([task(1, said(1, one("number", "two")))], {}, "'two', expected a finite number"),
        (
            [task(1, said(1, one("choices", ["a"], "side"), one("rating", 1, "stars")))],
            {},
            r"'side' \(choice\), 'stars' \(rating\).*columns={'label': 'side'}",
        ),
        (
            [task(7, said(1, one("choices", ["a"]), one("choices", ["b"])))],
            {},
            "task 7, control 'c': several results",
        ),
        (
            [task(1, said(1, one("choices", ["a"])))],
            {"columns": {"label": "d"}},
            "control 'd': not in the export",
        ),
        ([task(1, said(1, one("choices", ["a"])))], {"columns": {"weight": "w"}}, "'weight'"),
        (
            [task(1, said(1, one("choices", ["a"])))],
            {"columns": {"item": "data.name"}},
            "task 1: nothing to name it by at 'data.name'",
        ),
        ([task(7, said(1, one("choices", ["a"])))], {"classes": ["b"]}, "task 7: label 'a'"),
        ([task(7, said(1, one("choices", ["a", "b"])))], {"classes": ["b"]}, "choice 'a'"),
        (
            [task(7, said(1, one("choices", ["a"])), said(None, one("choices", ["a"])))],
            {},
            "task 7: a blank annotator",
        ),
        ([task(7, {"completed_by": 1, "result": "x"})], {}, "task 7: no list of result"),
    ],
)
def test_what_is_refused(read, tasks, how, message):
    with pytest.raises(InputError, match=message):
        read(*tasks, **how)


def test_one_of_several_controls_can_be_chosen(read):
    both = said(1, one("choices", ["a"], "side"), one("rating", 1, "stars"))
    table = read(task(1, both), columns={"label": "stars"})
    assert (table.kind, table.classes) == ("ordinal", ("1",))

"""Nested rankings, from Python and from JSON."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.read.annotations import read_annotations
from equipoise.types import Annotations, InputError

reading = st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True).flatmap(
    lambda ids: st.lists(st.booleans(), min_size=len(ids), max_size=len(ids)).map(
        lambda cuts: [
            list(block) for block in np.split(np.array(ids), np.flatnonzero(cuts[1:]) + 1)
        ]
    )
)


@given(st.lists(st.lists(reading, min_size=1, max_size=3), min_size=1, max_size=4))
def test_rankings_come_back_as_they_went_in(cases):
    cases = [[[[int(c) for c in block] for block in r] for r in case] for case in cases]
    table = Annotations.from_rankings(cases)
    assert table.annotators is None
    seen = {}
    for item, code, rank, label in zip(
        table.item, table.reading, table.rank, table.label, strict=True
    ):
        blocks = seen.setdefault(int(item), {}).setdefault(int(code), {})
        blocks.setdefault(int(rank), []).append(int(table.classes[label]))
    back = [[list(blocks.values()) for blocks in case.values()] for case in seen.values()]
    assert back == cases
    assert table.classes == tuple(str(n) for n in range(len(table.classes)))


def test_names_of_cases_annotators_and_classes(tmp_path):
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"k1": {"ana": [["b"], ["a", "c"]]}, "k2": {"bo": [["c"]]}}))
    table = read_annotations(path)
    assert (table.items, table.annotators) == (("k1", "k2"), ("ana", "bo"))
    assert (table.classes, table.rank.tolist()) == (("a", "b", "c"), [0, 1, 1, 0])
    assert read_annotations(path, exchangeable=True).annotators is None
    assert read_annotations(path, classes=["c", "b", "a"]).label.tolist() == [1, 2, 0, 0]


def test_classes_may_name_numbers_and_items_cases():
    table = Annotations.from_rankings([[[[1]]], [[[0]]]], classes=["x", "y", "z"], items="ab")
    assert (table.classes, table.items, table.label.tolist()) == (
        ("x", "y", "z"), ("a", "b"), [1, 0],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([[[[0]]], []], "case '1': no readings"),
        ([[[[0]]], [[]]], "case '1': an empty ranking"),
        ([[[[0]]], [[[]]]], "case '1': an empty block"),
        ([[[[0]]], [[[1], [1]]]], "case '1': class '1' twice"),
        ([[[[0]]], [[[-1]]]], "case '1': class -1"),
        ([[[[0]]], [[[10**9]]]], "case '1': class 1000000000"),
        ([[[[0]]], [[["a"]]]], "case '1': not blocks"),
        ([[[[0]]], [[[0.5]]]], "case '1': not blocks"),
        ([[[[0]]], [[[None]]]], "case '1': not blocks"),
        ([[[[0]]], [[0]]], "case '1': not blocks"),
        ([[[0, 1]]], "case '0': not blocks"),
        ([[["ab"]]], "case '0': not blocks"),
        ([[[[""]]]], "case '0': a class without a name"),
        ([], "or nothing"),
        ("text", "str"),
        ({"a": {"x": [[0]]}, "b": [[[0]]]}, "case 'b': readings without annotators"),
        ({"a": {}}, "case 'a': no readings"),
        ({"a": [[[0]]], " a": [[[0]]]}, "1 distinct names for 2 cases"),
    ],
)
def test_what_is_refused(cases, message):
    with pytest.raises(InputError, match=message):
        Annotations.from_rankings(cases)


def test_classes_that_do_not_reach_are_refused():
    with pytest.raises(InputError, match="case '0': class 2, expected a number from 0 to 1"):
        Annotations.from_rankings([[[[2]]]], classes=["x", "y"])
    with pytest.raises(InputError, match=r"case '0': label 'ab'.*did you mean 'abc'\?"):
        Annotations.from_rankings([[[["ab"]]]], classes=["abc"])


@pytest.mark.parametrize(
    ("text", "how", "message"),
    [
        ("[[[[0]]]", {}, "x.json, row 1: no JSON"),
        ('{"a": [[[0]]], "a": [[[1]]]}', {}, "key 'a' twice"),
        (b"\xff", {}, "byte 0 is no text"),
        ("[" * 100_000, {}, "x.json"),
        ("[[[[0]]]]", {"kind": "nominal"}, "kind 'nominal'"),
        ("[[[[0]]]]", {"layout": "tidy"}, "layout: 'tidy'"),
        ("[[[[0]]]]", {"columns": {"item": "x"}}, "leave out columns"),
        ("[[[[0]]]]", {"layout": "label-studio"}, "export in the format 'JSON'"),
    ],
)
def test_files_that_are_refused(tmp_path, text, how, message):
    path = tmp_path / "x.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message):
        read_annotations(path, **how)

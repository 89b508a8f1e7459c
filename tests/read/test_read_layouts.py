"""Annotations laid out otherwise than tidy, and all that is refused in any layout."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from equipoise.types import Annotations, InputError
from tests.read.test_read_dataframes import NAN, read, same


def test_wide_tables():
    frame = pd.DataFrame({"id": [1, 2], "ana": [1.0, NAN], "bo": [2, 3]})
    table = Annotations.from_dataframe(frame, layout="wide", columns={"item": "id"})
    assert (table.items, table.annotators) == (("1", "2"), ("ana", "bo"))
    assert table.item.tolist() == [0, 0, 1]
    assert [table.classes[code] for code in table.label] == ["1", "2", "3"]
    assert str(table.notices[0]) == "1 blank label is left out"
    guessed = Annotations.from_dataframe(frame)
    assert guessed.items == table.items
    assert "read as a wide table, items in column 'id'" in str(guessed.notices[0])


def test_wide_tables_have_tasks_and_groups_and_name_rows():
    columns = {"item": ["a", "a"], "task": ["s", "t"], "group": ["g", "g"], "ana": ["x", "y"]}
    table = read(columns)
    assert (table.tasks, table.groups, table.annotators) == (("s", "t"), ("g",), ("ana",))
    with pytest.raises(InputError, match="table, row 1: label 'y'"):
        read(columns | {"bo": ["x", "x"]}, classes=["x"])


@pytest.mark.parametrize(
    ("columns", "refused"),
    [
        ({"item": ["a", "b"], "p": [2, 1], "q": [1, 2]}, True),
        ({"item": ["a", "b"], "p": [2, 12], "q": [1, 2]}, True),
        ({"item": ["a", "b"], "p": ["2", "1"], "q": ["1", "2"]}, True),
        ({"item": ["a", "b"], "p": [2, None], "q": [1, 2]}, False),
        ({"item": ["a", "b"], "p": [1, 0], "q": [0, 1]}, False),
        ({"item": ["a", "b"], "p": [1, 2], "q": [1, 2]}, False),
    ],
)
def test_counts_and_labels_are_not_guessed(columns, refused):
    if refused:
        with pytest.raises(InputError, match="layout='counts'"):
            read(columns)
    else:
        assert read(columns).annotators == ("p", "q")


def test_counts_from_arrays_and_dataframes():
    matrix = np.array([[2, 0, 1], [0, 3, 0]])
    table = Annotations.from_counts(matrix, items=["a", "b"], classes=["z", "y", "x"])
    assert (table.kind, table.classes, table.annotators) == ("nominal", ("z", "y", "x"), None)
    assert table.count.tolist() == [2, 1, 3]
    frame = {"item": ["a", "b"], "z": [2, 0], "y": [0, 3], "x": [1.0, 0.0]}
    assert same(table, read(frame, layout="counts"))
    assert same(table, Annotations.from_counts(pd.DataFrame(frame)))
    assert same(table, Annotations.from_counts(pd.DataFrame(frame).drop(columns="item"),
                                               items=["a", "b"]))  # fmt: skip


def test_counts_of_a_known_pair_are_binary_and_never_voted_classes_stay():
    table = read({"item": ["a"], "yes": [2], "no": [0]}, layout="counts")
    assert (table.kind, table.classes, table.label.tolist()) == ("binary", ("no", "yes"), [1])
    assert Annotations.from_counts(np.array([[3, 0, 0]])).classes == ("0", "1", "2")
    graded = read({"item": ["a"], "1": [2], "2": [0]}, layout="counts", kind="ordinal",
                  classes=[1, 2, 3])  # fmt: skip
    assert graded.classes == ("1", "2", "3")


@pytest.mark.parametrize(
    ("matrix", "names", "message"),
    [
        (np.array([[1, -1]]), {}, "row 0, class '1': count -1"),
        (np.array([[1, 0.5]]), {}, "count 0.5"),
        (np.array([[1, np.nan]]), {}, "a blank count"),
        (np.array([[1, 1], [0, 0]]), {}, "no votes for items '1'"),
        (np.array([1, 2]), {}, "shape"),
        (np.array([["a"]]), {}, "type"),
        (np.array([[1, 2]]), {"items": ["a", "b"]}, r"\(2, 2\)"),
        (np.array([[1, 2]]), {"classes": ["a"]}, r"\(1, 1\)"),
        (
            pd.DataFrame({"item": ["a"], "x": [1]}),
            {"classes": ["y"]},
            "'x': not a class",
        ),
        (pd.DataFrame({"item": ["a"], "": [1]}), {}, "name of every class"),
        (pd.DataFrame({"item": ["a"], "x": [1]}), {"items": ["b"]}, "name the items once"),
    ],
)
def test_counts_that_are_refused(matrix, names, message):
    with pytest.raises(InputError, match=message):
        Annotations.from_counts(matrix, **names)


def test_ranks_become_dense_and_keep_ties():
    table = read(
        {
            "item": ["a"] * 4 + ["b"],
            "annotator": ["x", "x", "x", "y", "x"],
            "label": ["p", "q", "r", "p", "q"],
            "rank": ["5", "2", "5", "9", "1"],
        }
    )
    assert table.kind == "ranking"
    assert table.rank.tolist() == [1, 0, 1, 0, 0]
    assert table.reading.tolist() == [0, 0, 0, 1, 2]


def test_exchangeable_rankings_keep_their_readings():
    columns = {"item": [1, 1], "annotator": ["x", "y"], "label": ["p", "p"], "rank": [1, 1]}
    table = read(columns, exchangeable=True)
    assert table.annotators is None
    assert table.reading.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("columns", "how", "message"),
    [
        ({"item": [1, 2], "label": [0.5, 1]}, {}, r"fractions such as '0.5'.*kind='interval'"),
        ({"item": [1], "label": ["a"]}, {"kind": "ordinal"}, r"without an order.*classes=\["),
        ({"item": [1], "label": ["sick"]}, {"kind": "binary"}, r"labels 'sick'.*no/yes"),
        (
            {"item": [1, 2], "label": ["low", "hihg"]},
            {"kind": "ordinal", "classes": ["low", "high"]},
            r"table, row 1: grade 'hihg' outside the scale.*did you mean 'high'\?",
        ),
        (
            {"item": [1, 2], "label": ["a", "b"]},
            {"classes": ["a", "c"]},
            r"table, row 1: label 'b', expected one of 'a', 'c'",
        ),
        ({"item": [1], "label": ["a"]}, {"kind": "binary", "classes": ["a"]}, "1 classes"),
        ({"item": [1, 2], "label": ["1", "x"]}, {"kind": "interval"}, "row 1: label 'x'"),
        ({"item": [1, 2], "label": ["1", "inf"]}, {"kind": "interval"}, "row 1: label inf"),
        ({"item": [1], "label": [1]}, {"kind": "interval", "classes": [1]}, "no classes"),
        ({"item": [1], "label": [1]}, {"kind": "ranking"}, "column 'rank': missing"),
        ({"item": [1], "label": [1]}, {"kin": "binary"}, r"keyword 'kin'.*mean 'kind'"),
        ({"item": [1], "label": [1]}, {"kind": "ordnal"}, "did you mean 'ordinal'"),
        ({"item": [1], "label": [1]}, {"layout": "tdy"}, "did you mean 'tidy'"),
        ({"item": [1], "label": [1]}, {"layout": "rankings"}, "layout: 'rankings'"),
        ({"item": [1], "label": [1]}, {"repeats": "first"}, "repeats: 'first'"),
        ({"item": [1], "label": [1]}, {"classes": "ab"}, "classes: 'ab'"),
        ({"item": [1], "label": [1]}, {"classes": []}, "an empty list"),
        ({"item": [1], "label": [1]}, {"classes": [1, 1]}, "'1' twice"),
        ({"item": [1], "label": [1]}, {"columns": {"itm": "x"}}, "did you mean 'item'"),
        ({"item": [1], "label": [1]}, {"columns": {"item": "itm"}}, "did you mean 'item'"),
        ({"item": [1], "label": [1]}, {"columns": "item"}, "a mapping"),
        ({"item": [1], "label": [1]}, {"repeats": "last"}, "votes without annotators"),
        ({"item": ["a"], "lable": ["x"]}, {}, r"'lable': unknown.*mean 'label'\?"),
        ({"item": ["a"], "annotator": ["x"]}, {}, "column 'label': missing"),
        ({"itm": ["a"], "label": ["x"]}, {}, r"column 'itm': unknown.*did you mean 'item'\?"),
        ({"item": ["a", " "], "label": ["x", "y"]}, {}, "table, row 1: a blank item"),
        (
            {"item": ["a", "b"], "annotator": [None, "x"], "label": ["x", "y"]},
            {},
            "row 0: a blank annotator",
        ),
        ({"item": [1, 1], "label": [0, 1], "group": ["x", "y"]}, {}, "in groups 'x', 'y'"),
        ({"item": [1, 1], "label": [0, 1], "group": ["x", None]}, {}, "without a group"),
        ({"item": [1], "label": [1], "weight": [0]}, {}, "row 0: weight 0"),
        ({"item": [1], "label": [1], "weight": [None]}, {}, "a blank weight"),
        ({"item": [1], "label": [1], "confidence": [80]}, {}, "row 0: confidence 80"),
        ({"item": [1], "label": [1], "duration_ms": [-1]}, {}, "duration_ms -1"),
        ({"item": [1], "label": [1], "count": [1.5]}, {}, "count 1.5"),
        ({"item": [1], "label": [1], "is_gold": ["maybe"]}, {}, "is_gold 'maybe'"),
        ({"item": [1], "label": [1], "timestamp": ["noon"]}, {}, "row 0: timestamp 'noon'"),
        ({"item": [1], "label": [1], "rank": [1]}, {}, "beside a column of ranks"),
        (
            {"item": [1], "annotator": [1], "label": [1], "rank": [1]},
            {"kind": "nominal"},
            "ranks, but kind 'nominal'",
        ),
        (
            {"item": [1, 1], "annotator": [1, 1], "label": ["a", "a"], "rank": [1, 2]},
            {},
            "row 1: class 'a' twice in one ranking",
        ),
        ({"item": [1], "annotator": [1], "label": [1], "rank": [None]}, {}, "row 0: rank nan"),
        ({"item": [1], "label": [None]}, {}, "no label in any row"),
        ({"item": [1], "label": [[1]]}, {}, "values of type list"),
        ({"item": ["a"]}, {}, "only the columns 'item'"),
        ({"item": pa.array([], "str"), "label": pa.array([], "str")}, {}, "no rows"),
    ],
)  # fmt: skip
def test_what_is_refused(columns, how, message):
    with pytest.raises(InputError, match=message):
        read(columns, **how)

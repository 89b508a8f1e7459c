"""Names into codes, labels into classes, whatever dataframe they come from."""

import dataclasses
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.read.tables import Table, code_names, numbers
from equipoise.read.values import times
from equipoise.types import Annotations, InputError, Predictions

NAN = float("nan")


def same(one, two):
    """Whether two tables of annotations are equal in every field and type."""
    for field in dataclasses.fields(Annotations):
        a, b = getattr(one, field.name), getattr(two, field.name)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            assert a.dtype == b.dtype, field.name
            np.testing.assert_array_equal(a, b, err_msg=field.name)
        else:
            assert a == b, field.name
    return True


def said(table):
    """The sentences of its notices."""
    return tuple(map(str, table.notices))


def votes(**columns):
    return read(columns)


def read(table, /, **how):
    return Annotations.from_dataframe(pa.table(table), **how)


def column(values):
    return Table(name="table", columns={"x": pa.array(values)})


def test_importing_the_types_loads_neither_pyarrow_nor_narwhals():
    code = "import sys, equipoise; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pyarrow", "narwhals"} & set(loaded)


@pytest.mark.parametrize(
    ("values", "names", "codes"),
    [
        ([1, 2, 1], ("1", "2"), [0, 1, 0]),
        ([1.0, NAN, 2.0], ("1", "2"), [0, -1, 1]),
        (["1", " 1 ", "1.0"], ("1",), [0, 0, 0]),
        (["1.0", "x"], ("1.0", "x"), [0, 1]),
        (["007", "7"], ("007", "7"), [0, 1]),
        (["1.10", "1.1"], ("1.10", "1.1"), [0, 1]),
        ([1.5, 1.0], ("1.5", "1"), [0, 1]),
        (["b", None, "", "a", "b"], ("b", "a"), [0, -1, -1, 1, 0]),
        ([True, False], ("true", "false"), [0, 1]),
        ([2**60], ("1152921504606846976",), [0]),
        ([1e16], ("10000000000000000",), [0]),
        ([-0.0, 0.0], ("0",), [0, 0]),
        ([None, None], (), [-1, -1]),
    ],
)
def test_ids_are_text(values, names, codes):
    ids = code_names(column(values), "x")
    assert ids.names == names
    assert ids.codes.tolist() == codes


def test_a_categorical_is_numbered_by_name_without_what_is_not_there():
    frame = pd.DataFrame({"item": pd.Categorical(["b", "a", "b"], categories=["a", "b", "c"])})
    frame["label"] = ["x", "y", "x"]
    assert Annotations.from_dataframe(frame).items == ("a", "b")


@pytest.mark.parametrize(
    "values", [[1, 2.5, NAN], ["1", "+2.5", " "], ["1e0", "2.50", None], ["1", "2.5", "null"]]
)
def test_numbers_from_text_or_numbers(values):
    np.testing.assert_array_equal(numbers(column(values), "x"), [1, 2.5, NAN])


@pytest.mark.parametrize(
    "values",
    [
        ["1970-01-01T00:00:01.500Z"],
        ["1970-01-01 00:00:01.5"],
        ["1970-01-01T02:00:01.5+02:00"],
        [1500],
        ["1500"],
        pd.to_datetime(["1970-01-01T00:00:01.500"]),
    ],
)
def test_times_are_milliseconds(values):
    moment, _, there = times(column(values), "x")
    assert moment.tolist() == [1500]
    assert there.all()


@pytest.mark.parametrize(
    ("labels", "kind", "classes"),
    [
        ([0, 1], "binary", ("0", "1")),
        ([1.0, NAN], "binary", ("0", "1")),
        (["1.0", "0"], "binary", ("0", "1")),
        (["YES"], "binary", ("NO", "YES")),
        (["Yes", "No"], "binary", ("No", "Yes")),
        (["n"], "binary", ("n", "y")),
        ([True, False], "binary", ("false", "true")),
        (["Positive"], "binary", ("Negative", "Positive")),
        (["pos", "neg"], "binary", ("neg", "pos")),
        (["yes", "1"], "nominal", ("1", "yes")),
        ([10, 9, 2], "nominal", ("2", "9", "10")),
        ([-1, -10], "nominal", ("-10", "-1")),
        (["10", "9", "x"], "nominal", ("10", "9", "x")),
    ],
)
def test_the_kind_is_inferred(labels, kind, classes):
    table = votes(item=[str(n) for n in range(len(labels))], label=pa.array(labels))
    assert (table.kind, table.classes) == (kind, classes)


def test_the_positive_class_is_the_second():
    assert votes(item=["a", "b"], label=["yes", "no"]).label.tolist() == [1, 0]


@pytest.mark.parametrize(
    "frame", [{"item": [1]}, [1, 2], "votes.csv", pd.DataFrame([[1, 1]], columns=["a", "a"])]
)
def test_what_is_no_dataframe_is_refused(frame):
    with pytest.raises(InputError, match=r"dataframe|more than once"):
        Annotations.from_dataframe(frame)


@pytest.mark.parametrize("keys", ["item", ["item", "annotator"]])
def test_data_in_a_pandas_index_is_not_lost_silently(keys):
    frame = pd.DataFrame({"item": ["a"], "annotator": ["x"], "label": ["p"]}).set_index(keys)
    with pytest.raises(InputError, match="reset_index"):
        Annotations.from_dataframe(frame)


def test_an_index_that_only_numbers_rows_is_ignored():
    frame = pd.DataFrame({"item": ["a"], "label": ["p"]}, index=["first"])
    assert Annotations.from_dataframe(frame).items == ("a",)
    with pytest.raises(InputError, match="reset_index"):
        Annotations.from_dataframe(pd.DataFrame({"ana": ["p"]}, index=["scan"]), layout="wide")


def test_given_classes_set_order_and_match_whole_numbers():
    table = read({"item": [1, 2], "label": ["2.0", "1.0"]}, kind="ordinal", classes=[3, 2, 1])
    assert table.classes == ("3", "2", "1")
    assert table.label.tolist() == [1, 2]


def test_missing_labels_are_dropped_and_counted():
    table = votes(item=["a", "b", "b", "c"], label=["x", None, " ", "nan"])
    assert table.items == ("a",)
    assert said(table) == (
        "3 blank labels are left out, and with them 2 items without any other",
    )


def test_names_are_numbered_by_the_rows_that_stay():
    table = votes(item=["a", "b", "c"], label=[None, "y", "x"])
    assert table.items == ("b", "c") and table.item.tolist() == [0, 1]


def test_optional_columns():
    table = read(
        {
            "item": ["a", "b"],
            "label": ["x", "y"],
            "task": ["t", "u"],
            "weight": ["2", "0.5"],
            "confidence": [None, 0.5],
            "duration_ms": ["", "12"],
            "is_gold": ["TRUE", ""],
            "timestamp": ["2024-05-01", "2024-05-02"],
            "group": [7.0, 7.0],
            "truth": ["x", "x"],
        }
    )
    assert (table.tasks, table.groups) == (("t", "u"), ("7",))
    assert table.weight.tolist() == [2, 0.5]
    np.testing.assert_array_equal(table.confidence, [NAN, 0.5])
    np.testing.assert_array_equal(table.duration_ms, [NAN, 12])
    assert table.is_gold.tolist() == [True, False]
    assert np.diff(table.timestamp).tolist() == [24 * 3600 * 1000]
    assert said(table) == (
        "column 'truth' is not used",
        "confidence is kept, but mean votes do not use it",
    )


def test_incomplete_times_are_left_out_with_a_notice():
    table = votes(item=["a", "b"], label=["x", "y"], timestamp=["2024-05-01", ""])
    assert table.timestamp is None
    assert said(table) == ("timestamp is left out: 1 rows have none",)


REPEATED = {"item": [1, 1, 1], "annotator": ["a", "a", "b"], "label": ["x", "y", "x"]}


@pytest.mark.parametrize(
    ("extra", "how", "labels", "notice"),
    [
        ({}, {}, ["x", "y", "x"], "1 vote repeats an (item, annotator, task) seen before; all"),
        ({}, {"repeats": "last"}, ["y", "x"], "only the last of each is kept"),
        ({"timestamp": [2, 1, 1]}, {"repeats": "last"}, ["x", "x"], "only the last"),
        ({"task": ["s", "t", "s"]}, {"repeats": "error"}, ["x", "y", "x"], ""),
        ({}, {"exchangeable": True}, ["x", "y", "x"], "all count"),
    ],
)
def test_repeats(extra, how, labels, notice):
    table = read(REPEATED | extra, **how)
    assert [table.classes[code] for code in table.label] == labels
    assert notice in " ".join(said(table))
    assert (table.annotators is None) == how.get("exchangeable", False)


def test_repeats_can_be_an_error():
    with pytest.raises(InputError, match=r"table: row 1 repeats"):
        read(REPEATED, repeats="error")
    with pytest.raises(InputError, match="row 0: a blank timestamp"):
        read(REPEATED | {"timestamp": [None, 1, 2]}, repeats="last")


def test_crowd_kit_columns_are_recognised():
    table = votes(task=["a"], worker=["w"], label=["x"])
    assert (table.items, table.annotators, table.tasks) == (("a",), ("w",), ("",))
    assert "crowd-kit" in said(table)[0]


def test_other_names_are_mapped():
    table = read({"Case ID": [1], "who": ["w"], "label": ["a"], "dx": ["b"]},
                 columns={"item": "Case ID", "annotator": "who", "label": "dx"})  # fmt: skip
    assert (table.items, table.annotators, table.classes) == (("1",), ("w",), ("b",))
    assert said(table) == ("column 'label' is not used",)


FRAMES = [pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).lazy(), pa.table]


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from(["ana", "bo"]), st.integers(0, 3)),
        min_size=1,
    )
)
def test_every_dataframe_gives_the_same_annotations(rows):
    item, annotator, label = (list(column) for column in zip(*rows, strict=True))
    columns = {"item": item, "annotator": annotator, "label": label}
    text = {name: [str(value) for value in values] for name, values in columns.items()}
    tables = [Annotations.from_dataframe(frame(columns)) for frame in FRAMES]
    tables += [Annotations.from_dataframe(frame(text)) for frame in FRAMES]
    assert all(same(tables[0], table) for table in tables[1:])
    assert [tables[0].items[code] for code in tables[0].item] == text["item"]
    assert [tables[0].classes[code] for code in tables[0].label] == text["label"]


def test_integers_and_text_mixed_in_one_column_are_the_same_item():
    frame = pd.DataFrame({"item": [1, "1", 1.0], "label": ["x", "y", "x"]})
    assert Annotations.from_dataframe(frame).items == ("1",)


def test_inputs_are_not_changed():
    frame = pd.DataFrame({"item": [1, 2], "label": ["x", None]})
    copy = frame.copy(deep=True)
    Annotations.from_dataframe(frame)
    pd.testing.assert_frame_equal(frame, copy)


@pytest.mark.parametrize("frame", FRAMES)
def test_predictions_from_dataframes(frame):
    one, two = Predictions.from_dataframe(frame({"item": [1, 2], "m": [0.1, 0.2], "n": [3, 4]}))
    assert (one.model, one.items, two.values.tolist()) == ("m", ("1", "2"), [3, 4])

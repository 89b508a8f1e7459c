"""Predictions from files, in every layout."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from equipoise.read.options import ScoreFormat
from equipoise.read.predictions import predictions_of, read_predictions
from equipoise.read.sources import sources_of
from equipoise.types import InputError, Predictions


@pytest.fixture
def file(tmp_path):
    def write(text, name="cnn.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def found(predictions):
    return [(p.model, p.task, p.classes, p.items, p.values.tolist()) for p in predictions]


AB = ("a", "b")


@pytest.mark.parametrize(
    ("text", "how", "expected"),
    [
        ("item,score\na,1\nb,2\n", {}, [("cnn", "", (), AB, [1, 2])]),
        ("item,score\na,1\nb,2\n", {"model": "x", "task": "t"}, [("x", "t", (), AB, [1, 2])]),
        (
            "item,task,model,score\na,t,m,1\na,t,n,2\nb,t,m,3\na,u,m,4\n",
            {},
            [
                ("m", "t", (), AB, [1, 3]),
                ("n", "t", (), ("a",), [2]),
                ("m", "u", (), ("a",), [4]),
            ],
        ),
        (
            "item,m,n\na,1,2\nb,3,4\n",
            {},
            [("m", "", (), AB, [1, 3]), ("n", "", (), AB, [2, 4])],
        ),
        ("item,m\na,1\nb,3\n", {"model": "x"}, [("x", "", (), AB, [1, 3])]),
        (
            "item,task,m\na,t,1\na,u,2\n",
            {},
            [("m", "t", (), ("a",), [1]), ("m", "u", (), ("a",), [2])],
        ),
        (
            "item,p_x,p_y\na,0.25,0.75\nb,1,0\n",
            {},
            [("cnn", "", ("x", "y"), AB, [[0.25, 0.75], [1, 0]])],
        ),
        (
            "item,prob_x,prob_y,fold\na,0.25,0.75,7\n",
            {"classes": ["y", "x"]},
            [("cnn", "", ("y", "x"), ("a",), [[0.75, 0.25]])],
        ),
        (
            "item,model,x,y\na,m,0.25,0.75\na,n,1,0\n",
            {},
            [
                ("m", "", ("x", "y"), ("a",), [[0.25, 0.75]]),
                ("n", "", ("x", "y"), ("a",), [[1, 0]]),
            ],
        ),
        (
            "Study,t,u\na,0.25,0.75\n",
            {"layout": "tasks", "columns": {"item": "Study"}},
            [("cnn", "t", (), ("a",), [0.25]), ("cnn", "u", (), ("a",), [0.75])],
        ),
        ("item,logit\na,1\n", {"columns": {"score": "logit"}}, [("cnn", "", (), ("a",), [1])]),
        ("item;m\n007; 0.5 \n7;1e-3\n", {}, [("m", "", (), ("007", "7"), [0.5, 0.001])]),
    ],
)
def test_layouts(file, text, how, expected):
    assert found(read_predictions(file(text), **how)) == expected


def test_parquet_and_arrays(tmp_path):
    parquet.write_table(pa.table({"item": [1.0, 2.0], "m": [3, 4]}), tmp_path / "x.parquet")
    assert found(read_predictions(tmp_path / "x.parquet")) == [
        ("m", "", (), ("1", "2"), [3, 4])
    ]
    np.save(tmp_path / "one.npy", np.array([1.0, 2.0]))
    np.save(tmp_path / "two.npy", np.array([[0.25, 0.75]]))
    one, two = read_predictions([tmp_path / "one.npy", str(tmp_path / "two.npy")])
    assert found([one]) == [("one", "", (), ("0", "1"), [1, 2])]
    assert found([two]) == [("two", "", ("0", "1"), ("0",), [[0.25, 0.75]])]
    (named,) = read_predictions(tmp_path / "two.npy", classes=["x", "y"], model="m")
    assert (named.model, named.classes) == ("m", ("x", "y"))


def test_several_files_are_named_by_stem(file):
    text = "item,score\na,1\n"
    models = read_predictions([file(text, "one.csv"), file(text, "two.tsv")])
    assert [each.model for each in models] == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "how", "message"),
    [
        (
            "item,score\na,1\nb,\n",
            {},
            r"cnn.csv, row 3, predictions of 'cnn', item 'b'",
        ),
        ("item,m\na,1\nb,nan\n", {}, r"row 3, predictions of 'm', item 'b': m is blank or nan"),
        ("item,m\na,inf\n", {}, r"row 2, predictions of 'm', item 'a': m is inf"),
        ("item,model,score\na,m,x\n", {}, r"row 2, predictions of 'm', item 'a': score 'x'"),
        ("item;m\na;0,5\n", {}, "write a decimal point"),
        ("item,m\na,1\na,2\n", {}, r"row 3, predictions of 'm', item 'a': predicted before"),
        ("item,model,score\na,m,1\na,n,1\na,m,1\n", {}, "row 4, predictions of 'm'"),
        ("item,x,y\na,0.5,0.6\n", {"layout": "classes"}, "probabilities sum to 1.1"),
        ("item,x,y\na,0.5,0.5\n", {"layout": "classes", "classes": ["x", "z"]}, "for 'z'"),
        ("item,scor\na,1\n", {}, r"column 'scor': unknown.*did you mean 'score'\?"),
        ("itm,m\na,1\n", {}, r"column 'itm': unknown.*did you mean 'item'\?"),
        ("item,m\n,1\n", {}, "row 2: a blank item"),
        ("item,model,u\na,m,1\n", {}, "layout='tasks'"),
        ("item,m,n\na,1,2\n", {"model": "x"}, "names its own models"),
        ("item,task,score\na,t,1\n", {"task": "x"}, "names its own tasks"),
        ("item,task,m\na,t,1\n", {"layout": "tasks"}, "a column 'task'"),
        ("item,model,m\na,t,1\n", {"layout": "wide"}, "a column 'model'"),
        ("item,m\na,1\n", {"layout": "long"}, "column 'score': missing"),
        ("item\na\n", {}, "no column of predictions"),
        ("item,m\na,1\n", {"modle": "x"}, "did you mean 'model'"),
        ("item,m\na,1\n", {"layout": "tidy"}, "layout: 'tidy'"),
    ],
)
def test_what_is_refused(file, text, how, message):
    with pytest.raises(InputError, match=message):
        read_predictions(file(text), **how)


def test_two_files_with_one_model_are_refused(file):
    text = "item,m\na,1\n"
    with pytest.raises(InputError, match=r"predictions of 'm': already given by .*one.csv"):
        read_predictions([file(text, "one.csv"), file(text, "two.csv")])
    three = [file(text, "one.csv"), file("item,n\na,1\n", "two.csv"), file(text, "three.csv")]
    with pytest.raises(InputError, match=r"already given by .*one.csv"):
        read_predictions(three)
    with pytest.raises(InputError, match="named by its stem"):
        read_predictions([file(text, "one.csv"), file(text, "two.csv")], model="x")
    with pytest.raises(InputError, match="an empty list"):
        read_predictions([])
    with pytest.raises(InputError, match=r"ending '\.json'"):
        read_predictions(file("{}", "x.json"))
    with pytest.raises(InputError, match=r"is given beside the votes: truth='truth\.npz'"):
        read_predictions(file("{}", "truth.npz"))


@pytest.mark.parametrize(
    ("array", "how", "message"),
    [
        (np.zeros((1, 2, 3)), {}, "shape"),
        (np.array(["a"]), {}, "type"),
        (np.array([1.0, np.nan]), {}, "item '1': value is nan"),
        (np.array([[0.5, 0.6]]), {}, "sum to 1.1"),
        (np.array([1.0]), {"layout": "wide"}, "layout 'wide'"),
    ],
)
def test_arrays_that_are_refused(tmp_path, array, how, message):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(InputError, match=message):
        read_predictions(tmp_path / "x.npy", **how)


def test_a_dataframe_of_one_unnamed_model():
    (only,) = Predictions.from_dataframe(pa.table({"item": ["a"], "score": [1]}))
    assert only.model == "model"
    with pytest.raises(InputError, match="table, row 0"):
        Predictions.from_dataframe(pa.table({"item": ["a"], "score": [None]}))


def test_columns_of_predictions_that_nothing_is_read_from_are_named(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("item,model,score,threshold,run\na,net,0.2,0.5,1\nb,net,0.9,0.5,1\n")
    (note,) = predictions_of(sources_of([path]), ScoreFormat()).notices
    assert str(note) == (
        "columns 'threshold' and 'run' are not used; cuts are stated with threshold=..."
    )

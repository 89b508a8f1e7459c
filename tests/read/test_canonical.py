"""A study in one file comes back exactly as it was written, whatever is in it."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equipoise.read.annotations import read_annotations
from equipoise.read.canonical import read_study, write_study
from equipoise.read.predictions import read_predictions
from equipoise.read.sources import STUDY, TABLE, Source
from equipoise.types import KINDS, Annotations, InputError, Notice, Predictions
from tests.read.test_read_dataframes import same

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5)
NUMBER = st.floats(-1e6, 1e6, allow_nan=False)


def some_names(most):
    return st.lists(TEXT, min_size=1, max_size=most, unique=True).map(tuple)


@st.composite
def optional(draw, values, size):
    """A column of values, or none."""
    if not draw(st.booleans()):
        return None
    return np.array(draw(st.lists(values, min_size=size, max_size=size)))


@st.composite
def codes(draw, number, size):
    each = st.lists(st.integers(0, number - 1), min_size=size, max_size=size)
    return np.array(draw(each), dtype=np.int64)


@st.composite
def annotations(draw):
    kind = draw(st.sampled_from(KINDS))
    size = draw(st.integers(1, 8))
    items, tasks = draw(some_names(4)), draw(some_names(3))
    classes = draw(
        st.lists(TEXT, min_size=2, max_size=2 if kind == "binary" else 4, unique=True)
    )
    label = draw(codes(len(classes), size))
    fields = {"kind": kind, "items": items, "item": draw(codes(len(items), size)),
              "classes": tuple(classes), "label": label}  # fmt: skip
    if kind == "interval":
        fields["value"] = np.array(draw(st.lists(NUMBER, min_size=size, max_size=size)))
        if draw(st.booleans()):
            fields |= {"label": None, "classes": ()}
    if kind == "ranking":
        fields |= {"rank": draw(codes(3, size)), "reading": np.arange(size)}
    if draw(st.booleans()):
        fields |= {"tasks": tasks, "task": draw(codes(len(tasks), size))}
    if draw(st.booleans()):
        people = draw(some_names(3))
        fields |= {"annotators": people, "annotator": draw(codes(len(people), size))}
    if draw(st.booleans()):
        groups = draw(some_names(3))
        fields |= {"groups": groups, "group": draw(codes(len(groups), len(items)))}
    unit, positive = st.floats(0, 1) | st.just(float("nan")), st.floats(0.001, 1e3)
    fields |= {
        "count": draw(optional(st.integers(1, 9), size)),
        "weight": draw(optional(positive, size)),
        "confidence": draw(optional(unit, size)),
        "duration_ms": draw(optional(positive | st.just(float("nan")), size)),
        "timestamp": draw(optional(st.integers(0, 2**50), size)),
        "is_gold": draw(optional(st.booleans(), size)),
        "notices": (Notice("odd", "{items:count} items", ("x",), {"items": 3}),),
    }
    return Annotations(**fields)


@st.composite
def predictions(draw):
    every = []
    for model in draw(some_names(3)):
        items, task = draw(some_names(4)), draw(st.just("") | TEXT)
        if draw(st.booleans()):
            values = np.array(draw(st.lists(NUMBER, min_size=len(items), max_size=len(items))))
            every.append(Predictions(model, items, values, (), task))
            continue
        classes = draw(some_names(4))
        parts = st.lists(st.integers(0, 3), min_size=len(classes), max_size=len(classes))
        rows = np.array([draw(parts.filter(any)) for _ in items], dtype=float)
        values = rows / rows.sum(axis=1, keepdims=True)
        every.append(Predictions(model, items, values, classes, task))
    return tuple(every)


def equal(one, two):
    for field in dataclasses.fields(Predictions):
        a, b = getattr(one, field.name), getattr(two, field.name)
        assert np.array_equal(a, b) if field.name == "values" else a == b, field.name
    return True


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@given(table=annotations(), models=st.just(()) | predictions())
@settings(max_examples=150, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
def test_a_study_comes_back_as_it_was(tmp_path, ending, table, models):
    path = tmp_path / f"study.{ending}"
    write_study(path, table, models)
    assert Source(path).form == STUDY
    again, others = read_study(path)
    assert same(table, again)
    assert len(others) == len(models)
    assert all(equal(one, two) for one, two in zip(models, others, strict=True))
    assert same(table, read_annotations(path))
    if models:
        assert all(map(equal, models, read_predictions(path)))


def small():
    table = Annotations(
        kind="ordinal", items=("a", "b"), classes=("low", "high"), item=np.array([0, 1, 1]),
        label=np.array([0, 1, 0]), annotators=("ana", "bo"), annotator=np.array([0, 0, 1]),
    )  # fmt: skip
    return table, (Predictions("cnn", ("a", "b"), np.array([0.25, 0.5])),)


def test_the_text_is_a_tidy_table_under_two_comments(tmp_path):
    write_study(tmp_path / "study.csv", *small())
    lines = (tmp_path / "study.csv").read_text().splitlines()
    assert [line[:19] for line in lines[:2]] == ["# equipoise study 3", '# {"format": 3, "ro']
    assert lines[2:] == [
        "role,task,item,annotator,model,label,score",
        "annotation,,a,ana,,low,",
        "annotation,,b,ana,,high,",
        "annotation,,b,bo,,low,",
        "prediction,,a,,cnn,,0.25",
        "prediction,,b,,cnn,,0.5",
    ]


def test_nothing_is_left_behind_and_other_endings_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"one of \.csv, \.parquet"):
        write_study(tmp_path / "study.xlsx", *small())
    with pytest.raises(InputError, match="half a character"):
        write_study(tmp_path / "study.csv", *map(_with_surrogate, small()))
    assert list(tmp_path.iterdir()) == []


def _with_surrogate(part):
    return dataclasses.replace(part, items=("\ud800", "b")) if hasattr(part, "items") else part


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.rsplit("\n", 2)[0] + "\n",
        lambda text: text.replace("annotation,,b,ana", "annotation,,zz,ana,x"),
        lambda text: text.replace('"kind": "ordinal"', '"kind": "odd"'),
        lambda text: text.replace('"format": 3, "rows"', '"format": 9, "rows"'),
        lambda text: text.replace('"rows"', '"lines"'),
        lambda text: text.replace("0.25", "a lot"),
        lambda text: text.replace("0.25", "0.75"),
        lambda text: text.replace("ana,,high", "ana,,low"),
        lambda text: "\n".join(text.split("\n")[:1]),
        lambda text: text.replace('# {"format"', '# ["format"'),
    ],
)
def test_damage_is_named(tmp_path, damage):
    write_study(tmp_path / "study.csv", *small())
    text = (tmp_path / "study.csv").read_text()
    (tmp_path / "study.csv").write_text(damage(text))
    for reader in (read_study, read_annotations):
        with pytest.raises(InputError, match="a study that is damaged or was changed"):
            reader(tmp_path / "study.csv")


def test_other_tables_are_no_studies_and_options_mean_nothing_for_one(tmp_path):
    (tmp_path / "votes.csv").write_text("item,label\na,x\n")
    assert Source(tmp_path / "votes.csv").form == TABLE
    with pytest.raises(InputError, match="another table"):
        read_study(tmp_path / "votes.csv")
    write_study(tmp_path / "study.parquet", *small())
    with pytest.raises(InputError, match="keyword 'kind'"):
        read_annotations(tmp_path / "study.parquet", kind="nominal")
    assert read_annotations(tmp_path / "study.parquet", exchangeable=True).annotators is None

"""Parquet: exact round trips, files of other programs, and damage."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from equipoise.read.annotations import read_annotations
from equipoise.read.canonical import write_study
from equipoise.types import Annotations, InputError, Notice, Option, as_notice, hint, worded
from tests.read.test_read_dataframes import same

SAID = (
    as_notice("a notice"),
    Notice(
        "odd",
        "{items:count} of {names:names} are {share:percent} odd; say {kind}, or {advice}",
        ("Edema",),
        {
            "items": 3,
            "share": 0.25,
            "names": ("a", "b"),
            "kind": Option("kind", "ordinal"),
            "advice": hint(
                "{} with {}", Option("classes", ("x", "y")), Option("flag", value=True)
            ),
        },
    ),
)
names = st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True).map(tuple)


@st.composite
def annotations(draw):
    """Any table of annotations, with names in any order and some without rows."""
    rows = draw(st.integers(1, 12))
    items, annotators, tasks, groups = (draw(names) for _ in range(4))
    kind = draw(st.sampled_from(["binary", "nominal", "ordinal", "interval", "ranking"]))
    classes = ("no", "yes") if kind == "binary" else draw(names)
    random = np.random.default_rng(draw(st.integers(0, 1000)))

    def codes(some):
        return random.integers(0, len(some), rows)

    columns = {"item": codes(items).astype(draw(st.sampled_from([np.int64, np.int32])))}
    if kind == "interval":
        columns["value"] = random.normal(size=rows)
    else:
        columns["label"] = codes(classes)
    if kind == "ranking":
        columns |= {"rank": np.zeros(rows, int), "reading": np.arange(rows)}
    optional = {
        "annotator": codes(annotators),
        "task": codes(tasks),
        "count": random.integers(1, 9, rows),
        "weight": random.random(rows) + 0.1,
        "confidence": np.where(random.random(rows) < 0.5, np.nan, 0.5),
        "timestamp": random.integers(0, 2**40, rows),
        "duration_ms": random.random(rows).astype(np.float32),
        "is_gold": random.random(rows) < 0.5,
        "group": random.integers(0, len(groups), len(items)),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(optional))))
    columns |= {name: column for name, column in optional.items() if name in chosen}
    return Annotations(
        kind=kind, items=items, classes=classes, tasks=tasks if "task" in chosen else ("",),
        annotators=annotators if "annotator" in chosen else None,
        groups=groups if "group" in chosen else None, notices=SAID, **columns,
    )  # fmt: skip


@given(table=annotations())
def test_round_trips_are_exact(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("trip") / "votes.parquet"
    write_study(path, table)
    again = read_annotations(path)
    assert same(again, table)
    assert worded(again.notices, command=True) == worded(SAID, command=True)


@pytest.fixture
def ranked():
    return Annotations(
        kind="ranking", items=("b", "a"), classes=("x", "y", "z"), annotators=("ana", "bo"),
        groups=("g",), item=np.array([1, 1, 0]), label=np.array([2, 0, 1]),
        annotator=np.array([1, 1, 0]), rank=np.array([0, 1, 0]), reading=np.array([0, 0, 1]),
        group=np.array([0, 0]), confidence=np.array([0.5, np.nan, 1.0]), notices=SAID,
    )  # fmt: skip


def test_the_file_is_tidy_for_others(ranked, tmp_path):
    path = tmp_path / "votes.parquet"
    write_study(path, ranked)
    assert [each.name for each in tmp_path.iterdir()] == ["votes.parquet"]
    assert parquet.read_table(path).select(
        ["item", "annotator", "label", "rank"]
    ).to_pydict() == {
        "item": ["a", "a", "b"],
        "annotator": ["bo", "bo", "ana"],
        "label": ["z", "x", "y"],
        "rank": [0, 1, 0],
    }
    with pytest.raises(InputError, match="keyword 'classes'"):
        read_annotations(path, classes=["x", "y", "z"])
    assert same(read_annotations(path, exchangeable=True), ranked.anonymous())


def test_interval_ratings_are_numbers_in_the_column_value(tmp_path):
    table = Annotations(
        kind="interval", items=("a",), item=np.array([0, 0]), value=np.array([1.5, 2])
    )
    write_study(tmp_path / "x.parquet", table)
    assert parquet.read_table(tmp_path / "x.parquet")["value"].to_pylist() == [1.5, 2]


def test_files_of_other_programs(tmp_path):
    columns = {"item": [1, 2], "annotator": ["ana", "bo"], "label": [0.0, None]}
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    table = read_annotations(tmp_path / "x.parquet")
    assert (table.kind, table.items) == ("binary", ("1",))
    with pytest.raises(InputError, match=r"x.parquet, row 0: label '0'"):
        read_annotations(tmp_path / "x.parquet", classes=["a"])


def outcome(path):
    try:
        return read_annotations(path)
    except InputError as error:
        assert "votes.parquet" in str(error)
        return None


def test_no_flipped_byte_goes_unnoticed(ranked, tmp_path):
    path = tmp_path / "votes.parquet"
    write_study(path, ranked)
    data = path.read_bytes()
    noticed, whole = 0, range(len(data))
    ends = {*whole[:40], *whole[-40:]}  # marks, the first header, lengths
    spots = sorted({*whole[::5], *ends})  # any header or page has five bytes
    for spot in spots:
        path.write_bytes(data[:spot] + bytes([data[spot] ^ 0x10]) + data[spot + 1 :])
        table = outcome(path)
        noticed += table is None
        assert table is None or same(table, ranked)
    assert noticed > len(spots) / 2


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.99])
def test_truncated_files_are_refused(ranked, tmp_path, part):
    path = tmp_path / "votes.parquet"
    write_study(path, ranked)
    path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])
    with pytest.raises(
        InputError, match=r"votes.parquet: (a damaged or truncated|an empty) file"
    ):
        read_annotations(path)


def test_a_flipped_byte_in_a_page_of_another_program_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    columns = {"item": [f"scan-{n}" for n in range(100)], "label": ["some-label"] * 100}
    parquet.write_table(pa.table(columns), path, write_page_checksum=True, compression="none")
    data = path.read_bytes()
    spot = data.index(b"some-label")
    path.write_bytes(data[:spot] + b"S" + data[spot + 1 :])
    with pytest.raises(InputError, match="damaged"):
        read_annotations(path)


def test_writing_is_whole_or_not_at_all(ranked, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_study(tmp_path / "nowhere" / "x.parquet", ranked)
    (tmp_path / "x.parquet").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_study(tmp_path / "x.parquet", ranked)
    assert [each.name for each in tmp_path.iterdir()] == ["x.parquet"]


def test_a_later_file_replaces_an_earlier_one(ranked, tmp_path):
    write_study(tmp_path / "x.parquet", ranked)
    other = dataclasses.replace(ranked, notices=("new",))
    write_study(tmp_path / "x.parquet", other)
    assert read_annotations(tmp_path / "x.parquet").notices == (as_notice("new"),)

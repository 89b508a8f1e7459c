"""Votes carry a phase, and those of training, adjudication or a second reading do not count."""

import pytest

from equipoise import read_annotations
from equipoise.types import InputError, collect_votes

ROWS = (
    ("a", "r1", "yes", "core"), ("a", "r2", "no", "extra"), ("a", "r3", "no", "training"),
    ("b", "r1", "no", ""), ("b", "r2", "no", "Core"), ("b", "r2", "yes", "repeat"),
    ("b", "r3", "yes", "adjudication"), ("c", "r1", "yes", "gold"),
)  # fmt: skip


def read(tmp_path, rows=ROWS, head="item,annotator,label,phase", **how):
    path = tmp_path / "votes.csv"
    path.write_text("\n".join([head, *map(",".join, rows)]) + "\n")
    return read_annotations(path, **how)


def test_only_core_and_extra_votes_count_and_the_others_are_named(tmp_path):
    votes = read(tmp_path)
    assert votes.items == ("a", "b") and collect_votes(votes).sizes.tolist() == [2, 2]
    (notice,) = [notice for notice in votes.notices if notice.code == "phases_left_out"]
    text = str(notice)
    assert text.startswith("4 votes of other phases do not count")
    assert "adjudication" in text and "training" in text and "repeat" in text and "gold" in text


def test_other_phases_count_when_they_are_named(tmp_path):
    votes = read(tmp_path, phases="core, extra, repeat")
    assert collect_votes(votes).sizes.tolist() == [2, 3]
    assert len(read(tmp_path, phases="training")) == 1


def test_rows_of_gold_stay_whatever_their_phase(tmp_path):
    head = "item,annotator,label,phase,is_gold"
    rows = [(*row, "true" if row[3] == "gold" else "") for row in ROWS]
    votes = read(tmp_path, rows, head)
    assert votes.items == ("a", "b", "c") and votes.is_gold.sum() == 1


def test_a_table_of_counted_phases_is_that_without_the_column(tmp_path):
    rows = [row for row in ROWS if row[3] in ("core", "extra")]
    votes = read(tmp_path, rows)
    (tmp_path / "plain").mkdir()
    plain = read(tmp_path / "plain", [row[:3] for row in rows], "item,annotator,label")
    assert votes.label.tolist() == plain.label.tolist() and votes.notices == plain.notices


@pytest.mark.parametrize(
    ("rows", "how", "words"),
    [
        ([("a", "r1", "yes", "arterial")], {}, ["row 2", "'arterial'", "'core'", "rename"]),
        (ROWS, {"phases": "cor"}, ["phases", "'cor'", "core"]),
        ([("a", "r1", "yes", "gold")], {}, ["column phase", "no vote", "gold"]),
    ],
)
def test_phases_that_are_none_are_refused(tmp_path, rows, how, words):
    with pytest.raises(InputError) as refused:
        read(tmp_path, rows, **how)
    assert all(word in str(refused.value) for word in words)


def test_readings_again_say_how_often_they_are_the_same(tmp_path):
    rows = [
        ("a", "r1", "yes", "core"), ("a", "r1", "yes", "repeat"), ("b", "r1", "no", "core"),
        ("b", "r1", "yes", "repeat"), ("c", "r1", "no", "core"), ("c", "r1", "no", "training"),
        ("a", "r2", "no", "core"),
    ]  # fmt: skip
    votes = read(tmp_path, rows)
    (note,) = [notice for notice in votes.notices if notice.code == "within_readers"]
    assert (note.values["same"], note.values["pairs"]) == (1, 2)
    assert not [n for n in read(tmp_path, rows[2:3] + rows[-1:]).notices if "within" in n.code]


def test_adjudication_stands_beside_the_votes_unless_it_counts(tmp_path):
    votes = read(tmp_path)
    late = votes.adjudication
    assert (late.items, late.annotators, late.classes) == (("b",), ("r3",), ("no", "yes"))
    assert votes.adjudicated.label.tolist() == [*votes.label.tolist(), 1]
    counted = read(tmp_path, phases="core,extra,adjudication")
    assert counted.adjudication is None and counted.adjudicated is counted


def test_ratings_and_answers_that_nobody_else_gave_have_no_adjudication(tmp_path):
    ratings = [("a", "r1", "1.5", ""), ("a", "r2", "2.5", ""), ("a", "r3", "2", "adjudication")]
    assert read(tmp_path, ratings, kind="interval").adjudication is None
    new = [("a", "r1", "cat", ""), ("b", "r2", "dog", ""), ("a", "r3", "cow", "adjudication")]
    votes = read(tmp_path, new)
    assert votes.classes == ("cat", "dog") and votes.adjudication is None

"""Strange but real input: a stated rule, or an error in four parts that names the place."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from equipoise import Annotations, InputError, read_annotations, read_predictions
from equipoise.cli.screen import make_writable
from equipoise.inference.resampling import Resampling
from equipoise.metrics import named, require_known
from equipoise.types import MOST_DRAWN, collect_votes, require_drawn
from equipoise.types.votes import MOST_APART
from tests.cli_sample import caller, write_study


@pytest.fixture
def votes(tmp_path):
    def read(text, name="votes.csv", **how):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_annotations(path, **how)

    return read


def said(table):
    return [str(one) for one in table.notices]


# ---- times ---------------------------------------------------------------------------------


def revised(first, second):
    return (
        f"item,annotator,label,timestamp\na,x,yes,{first}\na,x,no,{second}\nb,x,no,{second}\n"
    )


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("1700000000.2", "1700000000.7"),
        ("1700000000.0000001", "1700000000.0000002"),
        ("1.7000000002e9", "1.7000000007e9"),
        ("1700000000123456788", "1700000000123456789"),
        ("2024-05-01T12:30:00.000000001Z", "2024-05-01T12:30:00.000000002Z"),
        ("1900-05-01T12:30:00.25", "1900-05-01T12:30:00.5"),
        ("0999-05-01", "0999-05-02"),
        ("-5", "3"),
    ],
)
def test_the_later_vote_wins_however_small_the_difference(votes, earlier, later):
    for first, second, kept in ((earlier, later, "no"), (later, earlier, "yes")):
        table = votes(revised(first, second), repeats="last")
        assert [table.classes[code] for code in table.label] == [kept, "no"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("1700000000.5", "1700000000.50"), ("1.7e9", "1700000000.0"), ("0.25", "2.5e-1")],
)
def test_of_simultaneous_votes_the_last_in_the_file_wins(votes, one, other):
    for first, second in ((one, other), (other, one)):
        rows = revised(first, second).splitlines()
        for text in ([*rows[:1], rows[3], *rows[1:3]], rows):  # which spelling comes first
            table = votes("\n".join(text) + "\n", repeats="last")
            assert [table.classes[code] for code in table.label] == ["no", "no"]


def test_nanoseconds_of_a_dataframe_count():
    moments = pd.to_datetime(["2024-05-01T00:00:00.000000002"] * 2) + pd.to_timedelta([0, -1])
    frame = pd.DataFrame(
        {"item": "a", "annotator": "x", "label": ["p", "q"], "timestamp": moments}
    )
    assert Annotations.from_dataframe(frame, repeats="last").classes == ("p", "q")
    kept = Annotations.from_dataframe(frame, repeats="last")
    assert kept.classes[kept.label[0]] == "p"


def test_seconds_with_fractions_are_seconds_and_whole_numbers_milliseconds(votes):
    assert votes(revised("1700000000.25", "1700000001")).timestamp.tolist() == [
        1700000000250, 1700000001000, 1700000001000,
    ]  # fmt: skip
    assert votes(revised("1700000000250.5", "3")).timestamp.tolist() == [1700000000250, 3, 3]
    assert votes(revised("1700000000250", "3")).timestamp.tolist() == [1700000000250, 3, 3]


@pytest.mark.parametrize(
    ("first", "second", "row"),
    [
        ("2024-05-01", "noon", 3),
        ("noon", "2024-05-01", 2),
        ("2024-05-01T12:00:00Z", "2024-05-01T12:00:00", 3),
        ("12", "2024-05-01", 3),
        ("1e30", "5", 2),
        ("5", "9" * 30, 3),
        ("inf", "5", 2),
        ("5", "1e99999999999999999999", 3),
    ],
)
def test_a_bad_time_is_named_with_its_row(votes, first, second, row):
    with pytest.raises(InputError, match=rf"^votes.csv, row {row}: timestamp '"):
        votes(revised(first, second))


def test_what_is_a_time_of_day_is_no_moment():
    array = pa.array([1, 2], pa.time32("s"))
    with pytest.raises(InputError, match="that are no moments"):
        Annotations.from_dataframe(
            pa.table({"item": ["a", "b"], "label": ["p", "q"], "timestamp": array})
        )


# ---- Label Studio --------------------------------------------------------------------------


def export(kind="rating", value=3, **more):
    result = [{"from_name": "c", "type": kind, "value": {kind: value}}]
    fine = {"completed_by": 1, "result": result, "created_at": "2024-05-01T12:30:00Z"}
    return json.dumps([{"id": 1, "annotations": [fine | more]}])


@pytest.mark.parametrize(
    ("text", "got"),
    [
        (export(value=True), "True, expected a finite number"),
        (export(value=float("nan")), "nan, expected a finite number"),
        (export().replace(": 3}", ": 1e400}"), "inf, expected a finite number"),
        (export(value=10**400), "expected a finite number"),
        (export(value=1e8), r"rating 1e\+08, expected a rating of at most 1,000"),
        (export("number", value=True), "True, expected a finite number"),
        (export("choices", [True]), r"choices \[True\], expected a flat list"),
        (export("choices", ["\ud800"]), "half a character"),
        (export(completed_by=[1]), r"completed_by \[1\], expected an address"),
        (export(completed_by=True), "completed_by True, expected an address"),
        (export(created_at=True), "created_at True, expected a time"),
        (export(created_at="noon"), "timestamp 'noon'"),
        (export(lead_time="5"), "lead_time '5', expected a finite number of seconds"),
        (export(lead_time=-1), "duration_ms -1000"),
        (export(ground_truth="no"), "ground_truth 'no', expected true or false"),
        (export(was_cancelled=[]), r"was_cancelled \[\], expected true or false"),
        (export(result=[{"from_name": "c", "type": []}]), r"type \[\], expected text"),
        (export(result=[{"from_name": 1, "type": "c", "value": {}}]), "from_name 1"),
        (export(result=[{"from_name": "c", "type": "rating", "value": 3}]), "value 3, "),
        ("[" + "9" * 5000 + "]", "a whole number of thousands of digits"),
        (f"{export()[:-1]}, {export('hoices', 1)[1:]}", "type 'hoices', and 'rating' before"),
    ],
)  # fmt: skip
def test_odd_fields_of_an_export_are_named(votes, text, got):
    with pytest.raises(InputError, match=got):
        votes(text, "export.json")


def test_numeric_times_of_an_export_are_times(votes):
    table = votes(export(created_at=1700000000250), "export.json")
    assert table.timestamp.tolist() == [1700000000250]
    assert votes(export(created_at=1700000000.25), "export.json").timestamp[0] == 1700000000250


# ---- tables --------------------------------------------------------------------------------


def test_a_group_of_classes_without_a_number_is_refused(tmp_path, monkeypatch, capsys):
    write_study(tmp_path)
    (tmp_path / "risk.csv").write_text("class,group,value\n0,low,\n1,high,2\n")
    monkeypatch.chdir(tmp_path)
    words = ("-a", "votes.csv", "-p", "scores.csv", "--groups", "risk.csv", "--by-group")
    code, _, error = caller(monkeypatch, capsys)("evaluate", *words)
    assert code == 1 and "risk.csv, group 'low': a blank value, expected one finite" in error


@pytest.mark.parametrize("read", [read_annotations, read_predictions])
def test_nothing_but_blank_lines_is_refused(tmp_path, read):
    path = tmp_path / "votes.csv"
    path.write_text("\n" * 5000)
    with pytest.raises(InputError, match="nothing but blank lines"):
        read(path)


def test_blank_lines_between_are_passed_over(votes):
    for gap in ("\n" * 5000, "\r\n" * 5000):
        for text in (
            "{}item,label\na,p\nb,q\n",
            "item,label\n{}a,p\nb,q\n",
            "item,label\na,p\nb,q\n{}",
        ):
            assert votes(text.format(gap)).items == ("a", "b")


def test_large_counts_are_votes_until_each_must_be_looked_at(votes):
    table = votes("item,label,count\na,yes,1000000000000\na,no,3\n")
    assert table.count.tolist() == [10**12, 3]
    with pytest.raises(
        InputError, match=rf"1,000,000,000,003 votes, expected at most {MOST_APART:,}"
    ):
        collect_votes(table)
    for text in ("item,label,count\na,yes,1e30\n", "item,yes,no\na,1e30,2\nb,1,1\n"):
        with pytest.raises(InputError, match=r"row 2.* count 1e\+30, expected a whole number"):
            votes(text, layout="counts" if "count" not in text else "auto")


def test_integers_of_thousands_of_digits_are_names_or_refused(votes, tmp_path):
    long = "9" * 5000
    assert votes(f"item,label\n{long},yes\nb,no\n").items == (long, "b")
    for text in (f"item,label\na,{long}\n",):
        with pytest.raises(InputError, match="row 2: label inf, expected a finite number"):
            votes(text, kind="interval")
    path = tmp_path / "scores.csv"
    path.write_text(f"item,cnn\na,{long}\n")
    with pytest.raises(InputError, match="cnn is inf, expected a finite number"):
        read_predictions(path)


def test_a_zip_named_npy_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", np.arange(3))
    path = (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    with pytest.raises(InputError, match=r"no readable array \("):
        read_predictions(path)


# ---- names that look alike -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ana", "ana"), ("ana", "an\u200ba"), ("caf\u00e9", "cafe\u0301"), ("A B", "a\u00a0 b")],
)
def test_names_that_look_alike_are_told(votes, tmp_path, one, other):
    notice = f"{one!r} and {other!r} are read as different annotators, though they look alike"
    rows = f"item,annotator,label\na,{one},yes\na,{other},no\nb,ben,no\n"
    assert notice in said(votes(rows))
    assert notice in said(votes(f"item,{one},{other}\na,yes,no\nb,no,no\n"))
    path = tmp_path / "scores.csv"
    path.write_text(f"item,{one},{other}\na,0.5,0.25\n")
    from equipoise.read.options import ScoreFormat
    from equipoise.read.predictions import predictions_of
    from equipoise.read.sources import sources_of

    notices = predictions_of(sources_of(path), ScoreFormat()).notices
    assert any("different models" in str(each) for each in notices)


def test_names_that_do_not_are_not(votes):
    table = votes("item,annotator,label\na,ana,yes\na,anna,no\nb,ben,no\n")
    assert not any("alike" in each for each in said(table))


# ---- metrics -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["recall_at_5:k=3", "recall_at_k:k=3:k=4", "auroc:form=strict:form=strict"]
)
def test_a_parameter_twice_is_refused(text):
    for make in (named, require_known):
        with pytest.raises(InputError, match=r"twice, .* expected each parameter once"):
            make(text)


@pytest.mark.parametrize("text", ["recall_at_" + "9" * 5000, "recall_at_k:k=" + "9" * 5000])
def test_a_parameter_of_thousands_of_digits_is_refused_shortly(text):
    with pytest.raises(InputError) as caught:
        named(text)
    assert len(str(caught.value)) <= 600


# ---- how often -----------------------------------------------------------------------------


def test_drawing_has_an_end():
    for number in (10**9, 10**400, -1, 0, 1.5, True, "3"):
        with pytest.raises(InputError, match="expected a whole number from 1 to 100,000"):
            require_drawn("draws", number)
    assert require_drawn("draws", MOST_DRAWN) == MOST_DRAWN
    with pytest.raises(InputError, match="resampling, replicates"):
        Resampling(kind="items", items=("a", "b"), replicates=10**9)


@pytest.mark.parametrize(
    "words",
    [
        ("agreement", "votes.csv", "--replicates"),
        ("evaluate", "-a", "votes.csv", "-p", "scores.csv", "--replicates"),
        ("evaluate", "-a", "votes.csv", "-p", "scores.csv", "--truth", "dirichlet", "--draws"),
        ("plan", "-a", "votes.csv", "-p", "scores.csv", "--simulations"),
        ("aggregate", "votes.csv", "--bootstrap"),
        ("threshold", "set", "votes.csv", "--experts", "votes.csv", "--replicates"),
        ("clean", "benchmark", "x", "--seeds"),
        ("uq", "benchmark", "--data", "x", "--seeds"),
        ("evaluate", "-a", "votes.csv", "-p", "scores.csv", "--most"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_no_verb_begins_what_never_ends(words, tmp_path, monkeypatch, capsys):
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    last = f"{words[-1]}1000000000" if words[-1].endswith("=") else words[-1]
    more = () if words[-1].endswith("=") else ("1000000000",)
    code, _, error = caller(monkeypatch, capsys)(*words[:-1], last, *more)
    said = " ".join(error.split())
    assert code == 2 and (
        "expected at most 100,000" in said or "less than or equal to 1000" in said
    )


def test_counts_of_what_there_is_may_be_large(tmp_path, monkeypatch, capsys):
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ("plan", "-a", "votes.csv", "-p", "scores.csv", "--next", "150000")
    _, _, error = caller(monkeypatch, capsys)(*words)
    assert "expected at most 100,000" not in " ".join(error.split())


VERBS = """
import sys
import equipoise.cli as cli
asked = ["agreement", "votes.csv", "--replicates", "20"]
for verb in (asked, [*asked, "--json"], ["check", "no.csv"]):
    sys.argv = ["equipoise", *verb]
    print("code", cli.run())
"""


# ---- places --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [("--out", ""), ("--out=",), ("--positive", "1", "--out", "")]
)
def test_a_place_without_a_name_is_not_the_folder_one_is_in(
    words, tmp_path, monkeypatch, capsys
):
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    code, out, error = caller(monkeypatch, capsys)("aggregate", "votes.csv", *words)
    assert (code, out) == (2, "") and "--out: an empty path" in error
    assert sorted(tmp_path.rglob("*")) == before


# ---- streams -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("ascii", r"-0.5 <= x, caf\xe9 \u8bfb"),
        ("latin-1", r"-0.5 <= x, café \u8bfb"),
        ("cp437", r"-0.5 ≤ x, café \u8bfb"),
        ("utf-8", "−0.5 ≤ x, café 读"),
    ],
)
def test_letters_that_a_stream_lacks_are_written_plainly(monkeypatch, encoding, written):
    held = io.BytesIO()
    stream = io.TextIOWrapper(held, encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    make_writable()
    stream.write("−0.5 ≤ x, café 读")
    stream.flush()
    assert held.getvalue().decode(encoding) == written


def test_verbs_run_where_streams_are_not_utf8(tmp_path):
    encoding = "ascii"
    rows = "".join(
        f"{i},读者{r},{'是' if (i * r) % 3 else '否'}\n" for i in range(9) for r in range(3)
    )
    (tmp_path / "votes.csv").write_text("item,annotator,label\n" + rows, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", VERBS],
        cwd=tmp_path, capture_output=True, check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"},
    )  # fmt: skip
    out = done.stdout.decode(encoding)
    assert done.returncode == 0, done.stderr.decode(encoding)[-2000:]
    assert out.count("code 0") == 2 and "code 1" in out
    start = out.index("\n{" if "\n{" in out else "\n[")
    parsed, _ = json.JSONDecoder().raw_decode(out[start:].strip())
    assert "读者1" in json.dumps(parsed, ensure_ascii=False)
    assert r"\u8bfb\u80051" in out

"""Annotations from text files and arrays: encodings, delimiters, and faults named by line."""

import gzip

import numpy as np
import pyarrow
import pytest

from equipoise.read.annotations import read_annotations
from equipoise.types import Annotations, InputError
from tests.read.test_read_dataframes import same

PLAIN = "item,annotator,label\n1,ana,café\n2,bo,thé\n"


@pytest.fixture
def file(tmp_path):
    def write(content, name="votes.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (PLAIN.encode("utf-8-sig"), "votes.csv"),
        (PLAIN.replace("\n", "\r\n"), "votes.csv"),
        (PLAIN.replace("\n", "\r"), "votes.csv"),
        (PLAIN.replace(",", ";"), "votes.csv"),
        (PLAIN.replace(",", "\t"), "votes.tsv"),
        (PLAIN.replace(",", "\t"), "votes.txt"),
        (PLAIN.replace("\n", "\n\n").rstrip(), "votes.csv"),
        (PLAIN.replace("item,annotator", ' item ,"annotator"'), "votes.csv"),
        (PLAIN.replace("1,ana", ' 1 ,"ana"'), "votes.csv"),
        (gzip.compress(PLAIN.encode(), mtime=0), "votes.csv.gz"),
    ],
)
def test_every_dialect_gives_the_same_annotations(file, content, name):
    expected = read_annotations(file(PLAIN, "plain.csv"))
    assert expected.classes == ("café", "thé")
    assert same(read_annotations(file(content, name)), expected)


def test_windows_text_is_read_with_a_notice(file):
    table = read_annotations(file(PLAIN.encode("cp1252")))
    assert table.classes == ("café", "thé")
    assert tuple(map(str, table.notices)) == (
        "votes.csv is not UTF-8 and was read as Windows-1252",
    )


def test_ids_in_text_keep_leading_zeros_and_quoted_text_its_commas(file):
    table = read_annotations(file('item,label\n007,"a, b"\n7,"c\nd"\n'))
    assert table.items == ("7", "007") and table.item.tolist() == [1, 0]
    assert table.classes == ("a, b", "c\nd")


@pytest.mark.parametrize(
    ("content", "how", "message"),
    [
        ("", {}, "votes.csv: an empty file"),
        (b"\xef\xbb\xbf\r\n", {}, "votes.csv: an empty file"),
        ("item,label\n", {}, "votes.csv: a header but no rows"),
        ("item,label", {}, "votes.csv: a header but no rows"),
        (b"PK\x03\x04\x00\x00item,label", {}, "votes.csv: binary data"),
        ("item,label\n".encode("utf-16"), {}, "votes.csv: binary data"),
        (b"item,label\n\x81,x\xff\n", {}, "votes.csv: byte 11 is no text"),
        ("item,label\na,x\nb,y,z\n", {}, "votes.csv, row 3: 3 fields, expected 2"),
        ("item,label\na,x\n\nb\n", {}, "votes.csv, row 4: 1 fields, expected 2"),
        ("item,label,label\na,x,y\n", {}, "votes.csv: columns 'label' more than once"),
        ('item,label\na,"x\nb,y\nc,z\n', {}, "votes.csv, row 2: fields that cannot be told"),
        ('item,label\na,"x\nb,y"\nc,"z\n', {}, "votes.csv, row 4: fields that cannot be told"),
        ("item,lable\na,x\n", {}, r"votes.csv, column 'lable': unknown.*mean 'label'\?"),
        ("item,label\na,x\n,y\n", {}, "votes.csv, row 3: a blank item"),
        ("item,label\na,x\n\n\nb,y\n", {"classes": ["x"]}, "votes.csv, row 5: label 'y'"),
        ('item,label\n"a\nb",x\nb,y\n', {"classes": ["x"]}, "votes.csv, row 4: label 'y'"),
        ("item,label\na,x\nb,\nb,y\n", {"classes": ["x"]}, "votes.csv, row 4: label 'y'"),
        ("item,ana,bo\na,x,x\nb,x,y\n", {"classes": ["x"]}, "votes.csv, row 3: label 'y'"),
        ("item,p,q\na,1,2\nb,0,0\n", {"layout": "counts"}, "row 3: no votes for items 'b'"),
        ("item,p,q\na,1,2\nb,,1\n", {"layout": "counts"}, "row 3, class 'p': a blank count"),
        ("item,p,q\na,1,2\nb,x,1\n", {"layout": "counts"}, "row 3: p 'x'"),
        ("item,p,q\na,11,2\n", {}, "layout='counts' for numbers of votes"),
        (
            "item,annotator,label\na,x,p\na,x,p\na,x,q\n",
            {"repeats": "error"},
            "votes.csv: rows 3, 4 repeat",
        ),
        ("item,label\na,x\n", {"layout": "label-studio"}, "layout: 'label-studio'"),
    ],
)
def test_faults_name_the_file_and_the_line(file, content, how, message):
    with pytest.raises(InputError, match=message):
        read_annotations(file(content), **how)


def test_counts_with_varying_totals_are_never_taken_for_labels(file):
    random = np.random.default_rng(6)
    chance, size = random.beta(0.6, 1, 200), random.integers(4, 9, 200)
    yes = random.binomial(size, chance)
    rows = [
        f"i{n},{all_ - own},{own}" for n, (all_, own) in enumerate(zip(size, yes, strict=True))
    ]
    for header in ("item,no,yes", "item,benign,malignant"):
        path = file("\n".join([header, *rows]) + "\n")
        with pytest.raises(InputError, match="layout='counts' for numbers of votes"):
            read_annotations(path)
        assert read_annotations(path, layout="counts").count.sum() == size.sum()


def test_grades_of_people_who_agree_are_not_taken_for_counts(file):
    random = np.random.default_rng(6)
    truth = random.standard_normal(60)
    grades = [np.clip(np.round(1 + truth + random.standard_normal(60)), 0, 4) for _ in range(2)]
    rows = [f"i{n},{int(a)},{int(b)}" for n, (a, b) in enumerate(zip(*grades, strict=True))]
    table = read_annotations(file("\n".join(["item,ana,bo", *rows]) + "\n"))
    assert table.annotators == ("ana", "bo")


def test_paths_that_are_no_files(file, tmp_path):
    path = file(PLAIN)
    with pytest.raises(InputError, match=r"no such file.*did you mean 'votes.csv'\?"):
        read_annotations(tmp_path / "vots.csv")
    with pytest.raises(InputError, match="does not exist"):
        read_annotations(tmp_path / "nowhere" / "votes.csv")
    with pytest.raises(InputError, match="path: a NoneType"):
        read_annotations(None)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="a folder without tables"):
        read_annotations(tmp_path / "empty")
    with pytest.raises(InputError, match=r"ending '\.xlsx'"):
        read_annotations(file(PLAIN, "votes.xlsx"))
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_annotations(file(gzip.compress(PLAIN.encode(), mtime=0)[:20], "votes.csv.gz"))
    with pytest.raises(InputError, match="unknown"):
        read_annotations(path, kinds="binary")


def test_count_matrices(tmp_path):
    np.save(tmp_path / "counts.npy", np.array([[2, 0, 1], [0, 1, 0]], dtype=np.uint8))
    table = read_annotations(tmp_path / "counts.npy")
    assert (table.items, table.classes) == (("0", "1"), ("0", "1", "2"))
    assert table.count.tolist() == [2, 1, 1]
    graded = read_annotations(tmp_path / "counts.npy", kind="ordinal", classes=["a", "b", "c"])
    assert (graded.kind, graded.classes) == ("ordinal", ("a", "b", "c"))


@pytest.mark.parametrize(
    ("content", "how", "message"),
    [
        (b"not an array", {}, "no readable array"),
        (np.array([object()]), {}, "no readable array"),
        (np.array([[-1, 2]]), {}, "count -1"),
        (np.array([[1, 2]]), {"layout": "wide"}, "layout: 'wide'"),
        (np.array([[1, 2]]), {"columns": {"item": "x"}}, "leave out columns"),
    ],
)
def test_arrays_that_are_refused(tmp_path, content, how, message):
    path = tmp_path / "x.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content, allow_pickle=True)
    with pytest.raises(InputError, match=message):
        read_annotations(path, **how)


@pytest.mark.parametrize(
    ("times", "kept"), [(("3", "1", "2"), "x"), (("1", "3", "2"), "y"), (None, "z")]
)
def test_of_repeated_votes_the_latest_is_kept_or_the_last_in_the_file(file, times, kept):
    rows = [["a", "ana", label] for label in "xyz"] + [["a", "bo", "y"], ["b", "ana", "x"]]
    head = ["item", "annotator", "label"]
    if times:
        head, moments = [*head, "timestamp"], [*times, "9", "9"]
        rows = [[*row, moment] for row, moment in zip(rows, moments, strict=True)]
    path = file("\n".join(",".join(row) for row in [head, *rows]) + "\n")
    votes = read_annotations(path, repeats="last", kind="nominal", classes=["x", "y", "z"])
    said = [
        (votes.items[i], votes.annotators[a], votes.classes[k])
        for i, a, k in zip(votes.item, votes.annotator, votes.label, strict=True)
    ]
    assert sorted(said) == [("a", "ana", kept), ("a", "bo", "y"), ("b", "ana", "x")]
    assert len(read_annotations(path)) == 5


def test_an_arm_is_read_and_does_not_make_a_repeat():
    table = pyarrow.table(
        {
            "item": ["a", "a", "a", "b"],
            "annotator": ["ana", "ana", "path", "path"],
            "arm": ["unaided", "aided", "", ""],
            "label": ["no", "yes", "yes", "no"],
            "is_gold": [0, 0, 1, 1],
        }
    )
    votes = Annotations.from_dataframe(table, repeats="error")
    assert votes.arms == ("aided", "unaided")
    assert [votes.arms[code] for code in votes.arm[:2]] == ["unaided", "aided"]
    assert votes.rows(votes.is_gold).label.tolist() == [1, 0]


def test_a_vote_without_an_arm_is_refused_with_its_row():
    columns = {"item": ["a", "b"], "annotator": ["ana", "bo"], "label": ["no", "yes"]}
    with pytest.raises(InputError, match=r"row 1.*: a blank arm, expected the arm of every"):
        Annotations.from_dataframe(pyarrow.table({**columns, "arm": ["aided", ""]}))

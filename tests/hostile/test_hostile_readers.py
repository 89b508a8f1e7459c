"""Every reader, given what nobody would write on purpose."""

import gzip
import io
import itertools
import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise import Annotations, Predictions, read_annotations, read_predictions
from equipoise.clean.rounds import read_pair_votes
from equipoise.cli.options import class_names
from equipoise.cli.truth import read_groups
from equipoise.read.attributes import read_attributes
from equipoise.read.canonical import read_study, write_study
from equipoise.read.files import read_arrays
from equipoise.read.plausibilities import read_plausibilities, write_plausibilities
from equipoise.scale import disk
from equipoise.truth import dirichlet
from equipoise.types import csv_text
from tests.hostile.generators import (
    CASES,
    ODD_NAMES,
    ODD_SCALARS,
    bounded,
    cases,
    confined,
    mutated,
    names,
    scalars,
    swapped,
    swaps,
)

TIDY = b"""item,annotator,label,timestamp,weight,is_gold,group
a,ana,yes,2024-05-01T12:30:00Z,1.5,,p
b,ana,no,2024-05-02T12:30:00Z,1,false,q
a,"ben, md",no,2024-05-03T12:30:00Z,2,,p
b,"ben, md",no,2024-05-03T12:31:00Z,0.5,true,q
"""
WIDE = b"item,ana,ben,cid\na,yes,no,\nb,no,no,yes\nc,yes,yes,no\n"
COUNTS = b"item,benign,malignant\na,3,1\nb,0,2\nc,5,0\n"
RANKED = b"item,annotator,label,rank\na,x,cat,1\na,x,dog,2\na,y,dog,1\nb,x,cat,1\n"
RATED = b"item,annotator,label\na,x,1.5\na,y,2\nb,x,-3e2\nb,y,0.25\n"
PAIRS = b"first,second,label,annotator\na,b,yes,x\nb,c,no,y\n"
LONG = b"item,model,score\na,cnn,0.25\nb,cnn,0.75\na,vit,1e-3\nb,vit,1\n"
SCORES = b"item,cnn,vit\na,0.25,0.5\nb,0.75,1e-3\n"
CHANCES = b"item,prob_cat,prob_dog\na,0.25,0.75\nb,1,0\n"
GROUPS = b"class,group,value\nwart,low,0\nnaevus,low,0\nmelanoma,high,2\n"
ATTRIBUTES = b"item,sex,age\na,f,61\nb,m,\nc,f,34\n"
CLASSES = b"low\nmedium\nhigh\n"
RANKINGS = {"case 1": {"ana": [["flu"], ["cold", "covid"]], "ben": [["cold"]]}}
NUMBERED = [[[[0], [1, 2]], [[2]]], [[[1]]]]


def export(kind, value):
    """A small export of Label Studio."""
    answers = [
        {"id": "x", "from_name": "c", "to_name": "img", "type": kind, "value": {kind: value}}
    ]
    said = {
        "id": 7, "completed_by": {"id": 3, "email": "ana@x.org"}, "result": answers,
        "was_cancelled": False, "ground_truth": False, "lead_time": 4.5,
        "created_at": "2021-03-09T22:16:08.728353Z",
    }  # fmt: skip
    other = {**said, "completed_by": 4, "created_at": "2021-03-10T22:16:08Z"}
    return [
        {"id": 1, "annotations": [said, other], "data": {"image": "a.jpg"}},
        {"id": 2, "annotations": [said], "data": {"image": "b.jpg"}},
    ]


EXPORTS = {
    "choices": export("choices", ["cat"]),
    "ticks": export("choices", ["cat", "dog"]),
    "rating": export("rating", 3),
    "number": export("number", 2.5),
}


def packed(array):
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def as_parquet(text, folder):
    path = folder / "whole.parquet"
    rows = [line.split(",") for line in text.decode().strip().split("\n")]
    pq.write_table(pa.table(dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))), path)
    return path.read_bytes()


def votes():
    table = {
        "item": list("aabb"),
        "annotator": list("xyxy"),
        "label": ["no", "yes", "no", "no"],
    }
    return Annotations.from_dataframe(pa.table(table))


def stored(folder, ending, write, *things):
    path = folder / f"whole{ending}"
    write(path, *things)
    return path.read_bytes()


def sealed_truth(folder):
    truth = dirichlet(votes())
    path = folder / "truth.npz"
    write_plausibilities(truth, path)
    return path.read_bytes()


def read_classes(path):
    return class_names(str(path))


def as_frame(kind):
    """A CSV read by pandas or polars, and given as a dataframe."""

    def read(path):
        module = pytest.importorskip(kind)
        try:
            frame = module.read_csv(path)
        except Exception:  # noqa: BLE001  what another library cannot read is not ours
            return None
        return Annotations.from_dataframe(frame)

    return read


def repartitioned(path):
    """Whether a file can be cut into partitions; they do not stay."""
    with TemporaryDirectory() as folder:
        return disk.repartition(path, Path(folder) / "partitions", 2)


def summed(path):
    with TemporaryDirectory() as folder:
        cut = disk.repartition(path, Path(folder) / "partitions", 2)
        return disk.rating_moments(cut)


def model():
    return Predictions("cnn", ("a", "b"), np.array([0.25, 0.75]))


READERS = {
    "tidy.csv": (TIDY, read_annotations),
    "tidy.csv.gz": (gzip.compress(TIDY, mtime=0), read_annotations),
    "tidy.tsv": (TIDY.replace(b", ", b" ").replace(b",", b"\t"), read_annotations),
    "wide.csv": (WIDE, read_annotations),
    "counts.csv": (COUNTS, lambda path: read_annotations(path, layout="counts")),
    "ranked.csv": (RANKED, read_annotations),
    "rated.csv": (RATED, lambda path: read_annotations(path, kind="interval")),
    "last.csv": (TIDY, lambda path: read_annotations(path, repeats="last")),
    "cut.csv": (TIDY, repartitioned),
    "ratings.csv": (RATED, summed),
    "tidy.parquet": (lambda tmp: as_parquet(WIDE, tmp), read_annotations),
    "cut.parquet": (lambda tmp: as_parquet(RATED, tmp), repartitioned),
    "study.csv": (lambda tmp: stored(tmp, ".csv", write_study, votes(), [model()]), read_study),
    "study.parquet": (
        lambda tmp: stored(tmp, ".parquet", write_study, votes(), [model()]), read_study,
    ),
    "counts.npy": (packed(np.array([[3, 1], [0, 2]])), read_annotations),
    "rankings.json": (json.dumps(RANKINGS).encode(), read_annotations),
    "numbered.json": (json.dumps(NUMBERED).encode(), read_annotations),
    "export.json": (json.dumps(EXPORTS["choices"]).encode(), read_annotations),
    "long.csv": (LONG, read_predictions),
    "scores.csv": (SCORES, read_predictions),
    "chances.csv": (CHANCES, read_predictions),
    "scores.parquet": (lambda tmp: as_parquet(SCORES, tmp), read_predictions),
    "scores.npy": (packed(np.array([0.25, 0.75])), read_predictions),
    "chances.npy": (packed(np.array([[0.25, 0.75], [1, 0]])), read_predictions),
    "truth.npz": (sealed_truth, read_plausibilities),
    "arrays.npz": (sealed_truth, read_arrays),
    "risk.csv": (GROUPS, read_groups),
    "attributes.csv": (ATTRIBUTES, read_attributes),
    "pairs.csv": (PAIRS, read_pair_votes),
    "classes.txt": (CLASSES, read_classes),
    "pandas.csv": (TIDY, as_frame("pandas")),
    "polars.csv": (TIDY, as_frame("polars")),
}  # fmt: skip
every_reader = pytest.mark.parametrize("name", READERS)


def sample(name, folder):
    whole, read = READERS[name]
    return (whole(folder) if callable(whole) else whole), read


@every_reader
def test_whole_files_are_read(name, tmp_path):
    whole, read = sample(name, tmp_path)
    path = tmp_path / name
    path.write_bytes(whole)
    outcome = confined(lambda: read(path), size=len(whole), folder=tmp_path)
    assert outcome.error is None and outcome.value is not None


@every_reader
def test_damaged_files_end_typed(name, tmp_path):
    """Whatever bytes change: an InputError in four parts, or a value; quick, small, tidy."""
    whole, read = sample(name, tmp_path)
    path = tmp_path / name
    path.write_bytes(whole)

    @cases(0.5)
    @given(data=mutated(whole))
    def holds(data):
        path.write_bytes(data)
        confined(lambda: read(path), size=len(data), folder=tmp_path)

    holds()


@pytest.mark.parametrize("name", EXPORTS)
def test_fields_of_other_types_end_typed(name, tmp_path):
    """Every field of an export replaced by something else."""
    path = tmp_path / "export.json"

    def read(document):
        path.write_text(json.dumps(document), "utf-8")
        confined(lambda: read_annotations(path), size=path.stat().st_size, folder=tmp_path)

    path.write_text("")
    step = max(1, round(24 * 11 / CASES))  # all of them when there is time
    for document in itertools.islice(swaps(EXPORTS[name]), len(name), None, step):
        read(document)

    @cases()
    @given(swapped(EXPORTS[name]))
    def holds(document):
        read(document)

    holds()


@pytest.mark.parametrize("document", [RANKINGS, NUMBERED], ids=["named", "numbered"])
def test_odd_rankings_end_typed(document, tmp_path):
    path = tmp_path / "rankings.json"
    path.write_text("")

    @cases(2)
    @given(swapped(document))
    def holds(changed):
        path.write_text(json.dumps(changed), "utf-8")
        confined(lambda: read_annotations(path), size=100, folder=tmp_path)

    holds()


def spelt(name):
    """What a reader makes of a cell: blanks around it go."""
    return pa.compute.utf8_trim_whitespace(pa.array([name]))[0].as_py()


@cases(4)
@given(st.lists(names(), min_size=1, max_size=4), st.lists(names(), min_size=1, max_size=3))
def test_odd_names_come_back_as_they_were_written(tmp_path_factory, items, people):
    """What our own writer writes, our own reader reads: the same names, or a typed error."""
    items, people = (list(dict.fromkeys(map(spelt, each))) for each in (items, people))
    items, people = ([one for one in each if one] for each in (items, people))
    rows = [(item, who, "yes") for item in items for who in people]
    path = tmp_path_factory.getbasetemp() / "names.csv"
    text = csv_text(("item", "annotator", "label"), rows)
    path.write_text(text, "utf-8", newline="")
    how = {"columns": {"item": "item", "annotator": "annotator", "label": "label"}}
    outcome = confined(lambda: read_annotations(path, **how), size=len(text))
    if outcome.error is None:
        found = outcome.value
        wanted = [sorted(items), sorted(people)]
        for each, names_ in zip(wanted, (found.items, found.annotators), strict=True):
            whole = all(one.replace(".", "").isdecimal() for one in each)  # "0." is read as 0
            assert whole or sorted(names_) == each
    else:
        control = any(ord(letter) < 32 and letter not in "\t\n\r\x1b" for letter in text)
        assert control or not rows or any("\n" in one or "\r" in one for one in items + people)


@cases(2)
@given(st.lists(st.tuples(scalars(), scalars(), scalars()), min_size=1, max_size=4))
def test_odd_cells_of_a_dataframe_end_typed(rows):
    columns = dict(zip(("item", "annotator", "label"), zip(*rows, strict=True), strict=True))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {name: list(cells) for name, cells in columns.items()}, dtype=object
    )
    confined(lambda: Annotations.from_dataframe(frame), size=1000)


@cases(2)
@given(st.lists(st.tuples(names(), scalars()), min_size=1, max_size=4))
def test_odd_scores_are_read_exactly_or_refused(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "scores.csv"
    cells = [(item, value) for item, value in rows if not isinstance(value, list | dict)]
    text = csv_text(("item", "cnn"), cells).encode("utf-8", "surrogatepass")
    path.write_bytes(text)
    outcome = confined(lambda: read_predictions(path), size=len(text))
    if outcome.error is None and all(isinstance(value, int | float) for _, value in cells):
        (found,) = outcome.value
        if not found.classes:
            assert [math.isfinite(value) for value in found.values]
            assert found.values.tolist() == [float(value) for _, value in cells]


@pytest.mark.parametrize("value", [one for one in ODD_SCALARS if isinstance(one, int | float)])
@pytest.mark.parametrize("field", ["weight", "count", "confidence", "duration_ms", "timestamp"])
def test_odd_numbers_beside_a_vote_are_exact_or_refused(tmp_path, field, value):
    path = tmp_path / "votes.csv"
    path.write_text(csv_text(("item", "label", field), [("a", "yes", value), ("b", "no", 1)]))
    outcome = confined(lambda: read_annotations(path), size=path.stat().st_size)
    if outcome.error is None:
        column = getattr(outcome.value, field)
        seconds = field == "timestamp" and value % 1 > 0  # numbers with fractions are seconds
        wanted = round(1000 * value) if seconds else value
        assert column is None or math.isnan(column[0]) or column[0] == wanted


@pytest.mark.parametrize("name", ODD_NAMES, ids=lambda name: ascii(name[:12]))
def test_odd_names_are_said_shortly(tmp_path, name):
    """A name of any kind in an error, a thousand times as long as it should be."""
    path = tmp_path / "votes.csv"
    long = (name or "x") * (200_000 // max(len(name), 1))
    path.write_text(csv_text(("item", "label", "weight"), [("a", "yes", long)]), newline="")
    confined(lambda: read_annotations(path), size=path.stat().st_size)


def test_a_large_file_takes_four_times_its_size_at_most(tmp_path):
    path = tmp_path / "votes.csv"
    rows = "".join(f"item {n // 5},reader {n % 5},{n % 3 > 1:d}\n" for n in range(300_000))
    path.write_text("item,annotator,label\n" + rows)
    with bounded(path.stat().st_size):
        assert len(read_annotations(path)) == 300_000

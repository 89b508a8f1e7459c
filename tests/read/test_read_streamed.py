"""Streamed files give what reading them whole gives, summed, whatever the size of a batch."""

import csv
import gzip
import os
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet

from equipoise import (
    Annotations,
    InputError,
    read_annotations,
    stream_ratings,
    stream_votes,
    write_annotations,
)
from equipoise.read import delimited, streaming
from equipoise.read import parquet as our_parquet
from equipoise.read.streaming import WHOLE
from equipoise.truth import dirichlet, majority_vote, mean_vote
from equipoise.truth.counts import entries
from equipoise.truth.ratings import NormalPrior, normal, normal_of_moments

VOTES = ["adult2", "anesthesia", "bluebirds", "dogs", "hitspam_cf", "lidc", "weather_cf"]
NAMES = st.sampled_from(["a", "b ", "b", "7", "07", "ü", 'q"t', "x,y", "1.0", "1"])
WORDS = st.sampled_from(["yes", "no", "Yes", " no", "", "maybe", "nan"])
PLAIN = st.sampled_from(["yes", "no", "Yes", ""])
NUMBERS = st.sampled_from(["1", "2", "2.0", "3", "", "10"])
PRIOR = NormalPrior(mean=1.0)


def batches(size):
    """Read this many rows of Parquet, or about as many of text, at a time."""
    return (
        patch.object(our_parquet, "ROWS", size),
        patch.object(delimited, "BATCH", 96 * size),
        patch.object(delimited, "PIECE", 7 * size),
    )


def streamed(function, path, size, **how):
    one, two, three = batches(size)
    with one, two, three:
        return function(path, **how)


def answer(function, *given, **how):
    """The result, or the text of the error."""
    try:
        return function(*given, **how)
    except InputError as error:
        return str(error)


def cells(table):
    """How many votes of which weight, by what they say."""
    number, weight = Counter(), Counter()
    parts = (table.task, table.label, table.is_gold)
    for row in range(len(table)):
        key = (table.item[row], *(None if one is None else one[row] for one in parts))
        times = 1 if table.count is None else int(table.count[row])
        number[key] += times
        weight[key] += times * (1.0 if table.weight is None else table.weight[row])
    return number, weight


def assert_summed(made, whole):
    """`made` is `whole` with equal votes summed, and nothing else."""
    for name in ("kind", "items", "classes", "tasks", "groups"):
        assert getattr(made, name) == getattr(whole, name)
    number, weight = cells(made)
    expected, mass = cells(whole)
    assert number == expected
    assert list(number) == list(expected)  # in order of first appearance
    assert len(made) == len(number)
    assert_allclose([weight[key] for key in mass], list(mass.values()), rtol=1e-12)
    assert (made.weight is None) == (whole.weight is None)
    assert made.annotators is None
    assert (made.group is None) == (whole.group is None)
    if whole.group is not None:
        assert_array_equal(made.group, whole.group)
    of_people = ("repeats_kept", "unused_confidence", "many_annotators")
    said = [one for one in whole.notices if one.code not in of_people]
    assert [one for one in made.notices if one in said] == said
    assert made.notices[-1].code == "votes_counted"


def write(path, columns):
    """Write text columns as CSV or Parquet by the path's ending."""
    if path.suffix == ".parquet":
        table = {name: [one or None for one in column] for name, column in columns.items()}
        types = {name: pa.array(column, pa.string()) for name, column in table.items()}
        parquet.write_table(pa.table(types), path, row_group_size=7)
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@st.composite
def tables(draw):
    """Tidy tables without faults."""
    rows = draw(st.integers(1, 40))

    def column(values):
        return draw(st.lists(values, min_size=rows, max_size=rows))

    labels = draw(st.sampled_from([WORDS, PLAIN, NUMBERS]))
    columns = {"item": column(NAMES), "label": column(labels)}
    more = {
        "annotator": st.sampled_from(["ana", "bo", "7"]),
        "task": st.sampled_from(["colour", "size"]),
        "count": st.sampled_from(["1", "3", "12"]),
        "weight": st.sampled_from(["0.5", "1", "0.1"]),
        "is_gold": st.sampled_from(["true", "false", "", "1"]),
        "confidence": st.just("0.5"),
    }
    for name in draw(st.lists(st.sampled_from(sorted(more)), unique=True)):
        columns[name] = column(more[name])
    if draw(st.booleans()):
        columns["group"] = [f"g{one.strip()[:1]}" for one in columns["item"]]
    return columns


FAULTS = {
    "item": ["", " "],
    "annotator": ["", "  "],
    "task": [""],
    "label": ["infinite"],
    "weight": ["0", "-1", "", "much", "inf"],
    "count": ["0", "1.5", "", "x"],
    "is_gold": ["perhaps"],
    "group": ["elsewhere", ""],
}
ENDINGS = st.sampled_from([".csv", ".parquet"])
SIZES = st.integers(1, 50)


@given(columns=tables(), ending=ENDINGS, size=SIZES)
def test_streaming_is_reading_and_summing(columns, ending, size):
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"votes{ending}"
        write(path, columns)
        whole = answer(read_annotations, path)
        made = answer(streamed, stream_votes, path, size)
    if isinstance(whole, str):
        assert made == whole
    else:
        assert_summed(made, whole)


@given(columns=tables(), ending=ENDINGS, size=SIZES, data=st.data())
def test_one_fault_gives_the_same_message(columns, ending, size, data):
    name = data.draw(st.sampled_from(sorted(columns.keys() & FAULTS.keys())))
    row = data.draw(st.integers(0, len(columns["item"]) - 1))
    columns["label"][row] = "yes"
    columns[name][row] = data.draw(st.sampled_from(FAULTS[name]))
    how = {"classes": ["no", "yes", "maybe"]} if name == "label" else {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"votes{ending}"
        write(path, columns)
        whole = answer(read_annotations, path, **how)
        made = answer(streamed, stream_votes, path, size, **how)
    if isinstance(whole, str):
        assert made == whole
    else:
        assert_summed(made, whole)


@given(
    values=st.lists(
        st.tuples(
            st.sampled_from("abc"), st.floats(-1e3, 1e3).map(lambda x: round(x, 3)),
            st.sampled_from(["1", "2", "0.5"]), st.sampled_from(["p", "q"]), st.booleans(),
        ),
        min_size=1, max_size=60,
    ),
    ending=ENDINGS, size=SIZES,
)  # fmt: skip
def test_streamed_ratings_are_those_of_the_whole_file(values, ending, size):
    item, label, weight, task, there = zip(*values, strict=True)
    label = [str(one) if has else "" for one, has in zip(label, there, strict=True)]
    columns = {"item": item, "label": label, "weight": weight, "task": task}
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"ratings{ending}"
        write(path, columns)
        whole = answer(read_annotations, path, kind="interval")
        made = answer(streamed, stream_ratings, path, size, task="p")
    if isinstance(whole, str):
        assert made == whole
        return
    expected = answer(normal, whole, threshold=1.0, prior=PRIOR, task="p")
    if isinstance(expected, str):
        assert made == expected
        return
    found = normal_of_moments(made, threshold=1.0, prior=PRIOR)
    assert found.items == expected.items
    assert_allclose(found.mean, expected.mean, rtol=1e-12, atol=1e-14)
    rated = np.unique(whole.value[whole.in_task("p")])
    step = np.diff(rated).min(initial=np.inf)
    assert made.step == (step if len(rated) > 1 else 0.0)
    assert made.notices == tuple(one for one in whole.notices if one.code != "repeats_kept")


@pytest.fixture
def real():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds votes/")
    return Path(os.environ["EQUIPOISE_DATA"]) / "votes"


@pytest.mark.parametrize("name", VOTES)
def test_real_votes(real, name):
    path = real / f"{name}.csv"
    whole = read_annotations(path)
    assert_summed(stream_votes(path), whole)
    assert_summed(streamed(stream_votes, path, 500), whole)


def test_real_ratings(real):
    path = real / "emotion_scores.csv"
    whole = read_annotations(path, kind="interval")
    given, found = (normal(whole, threshold=30, prior=one) for one in (PRIOR, None))
    for size in (30, 10**6):
        made = streamed(stream_ratings, path, size)
        assert made.items == whole.items
        same = normal_of_moments(made, threshold=30, prior=PRIOR)
        assert_allclose(same.mean, given.mean, rtol=1e-12, atol=1e-12)
        near = normal_of_moments(made, threshold=30)  # the search magnifies rounding
        assert_allclose(near.mean, found.mean, atol=1e-6)
        assert near.notices == found.notices
    with pytest.raises(
        InputError, match=r"enhance\.csv, column 'label': numbers with fractions"
    ):
        stream_votes(real / "enhance.csv")


@pytest.fixture
def many(tmp_path):
    """Integers as items and classes, in groups of rows that are not batches."""
    random = np.random.default_rng(0)
    columns = {"item": random.integers(0, 200, 5000), "label": random.integers(0, 6, 5000)}
    columns["annotator"] = random.integers(0, 20, 5000)
    path = tmp_path / "votes.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=700)
    return path


def test_models_of_counts_see_the_same_votes(many):
    whole, made = read_annotations(many), streamed(stream_votes, many, 900)
    assert len(made) < len(whole)
    for model in (mean_vote, majority_vote, dirichlet):
        assert_allclose(model(made).mean, model(whole).mean, rtol=1e-14)
    assert_array_equal(entries(made).votes, entries(whole).votes)
    assert_array_equal(dirichlet(made).certainty, dirichlet(whole).certainty)


def test_counts_are_not_made_votes_again():
    huge = Annotations(
        kind="binary", items=("a", "b"), classes=("0", "1"), item=np.array([0, 0, 1]),
        label=np.array([0, 1, 1]), count=np.array([10**12, 3 * 10**12, 5]),
    )  # fmt: skip
    assert_allclose(mean_vote(huge).mean, [[0.25, 0.75], [0, 1]])


def test_progress_counts_rows(many, tmp_path):
    told = []
    streamed(stream_votes, many, 2000, progress=lambda *now: told.append(now))
    assert told[-1] == (5000, 5000)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert len(told) == 3
    text = tmp_path / "votes.csv"
    text.write_text("item,label\na,1\nb,0")
    stream_votes(text, progress=lambda *now: told.append(now))
    assert told[-1] == (2, 2)


def test_text_of_every_kind(tmp_path):
    rows = 'item;label;note\r\nKöln;"ja\r\n""so"" ";x\r\n\r\nBonn;nein;y\r\n'
    for name, data in {
        "utf8.csv": rows.encode(),
        "mark.csv": b"\xef\xbb\xbf" + rows.encode(),
        "windows.csv": rows.encode("cp1252"),
        "packed.csv.gz": gzip.compress(rows.encode()),
        "unended.csv": rows.strip().encode(),
    }.items():
        (tmp_path / name).write_bytes(data)
        made = stream_votes(tmp_path / name)
        assert_summed(made, read_annotations(tmp_path / name))
        assert made.items == ("Bonn", "Köln")


@pytest.mark.parametrize(
    "text",
    [
        "", "\n\n", "item,label\n", "item,label\na\n", "item,label\na,1\nb,1,2\n", "item\na\n",
        'item,label\na,"1\nb,2\n', "item,label,label\na,1,2\n", "item,lable\na,1\n", "a\0b",
        "item,label\n\n,yes\n", "itm,label\n1,2\n", "item,label,anotator\na,1,x\n",
        "item,label\na,\nb,nan\n", "item,label\n\n\na,1\n\n  ,1\n",
    ],
)  # fmt: skip
def test_broken_text_gives_the_message_of_the_whole_reader(tmp_path, text):
    path = tmp_path / "votes.csv"
    path.write_text(text)
    whole = answer(read_annotations, path, layout="tidy")
    made = answer(streamed, stream_votes, path, 1000)
    assert isinstance(made, str)
    assert made.removesuffix(f"; for other layouts {WHOLE}") == whole


def test_broken_files(tmp_path, many):
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(many.read_bytes()[:5000])
    with pytest.raises(InputError, match="damaged or truncated"):
        stream_votes(cut)
    packed = tmp_path / "votes.csv.gz"
    packed.write_bytes(gzip.compress(b"item,label\na,1\n" * 9)[:-9])
    with pytest.raises(InputError, match="cannot be unpacked"):
        stream_votes(packed)
    with pytest.raises(InputError, match="a folder, expected a file"):
        stream_votes(tmp_path)
    for wrong in (tmp_path / "nothing.csv", tmp_path / "votes.json", 7):
        assert answer(stream_votes, wrong) == answer(read_annotations, wrong)
    (tmp_path / "votes.json").write_text("[]")
    with pytest.raises(InputError, match=r"ending '\.json', expected one of"):
        stream_votes(tmp_path / "votes.json")


def test_a_changed_page_is_noticed(tmp_path):
    path = tmp_path / "votes.parquet"
    table = pa.table({"item": np.arange(2000), "label": np.arange(2000) % 5})
    parquet.write_table(
        table, path, write_page_checksum=True, use_dictionary=False, compression="none"
    )
    data = bytearray(path.read_bytes())
    data[data.index((777).to_bytes(8, "little"))] += 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged or truncated"):
        stream_votes(path)


def test_what_cannot_be_streamed_says_what_can(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item,annotator,label,rank\na,x,1,1\n")
    with pytest.raises(InputError, match="rankings, expected one label per row; read the file"):
        stream_votes(path)
    with pytest.raises(InputError, match="rankings, expected one label per row; read the file"):
        stream_votes(path, kind="ranking")
    with pytest.raises(InputError, match="ratings, expected votes for classes; use stream_rat"):
        stream_votes(path, kind="interval")
    path.write_text("item,label,is_gold\na,1,yes\na,2,no\n")
    with pytest.raises(InputError, match="gold rows, expected ratings only"):
        stream_ratings(path)
    path.write_text("item,label,task\na,1,size\n")
    with pytest.raises(InputError, match="task: 'sise', expected one of 'size'; did you mean"):
        stream_ratings(path, task="sise")
    for label in ("inf", "x"):
        path.write_text(f"item,label\na,1\n\na,{label}\n")
        assert answer(stream_ratings, path) == answer(read_annotations, path, kind="interval")


def test_what_is_not_kept_is_said(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item,annotator,label,timestamp,duration_ms\na,x,no,1,1\na,y,yes,2,2\n")
    made = stream_votes(path)
    told = list(map(str, made.notices))
    assert "columns 'timestamp' and 'duration_ms' are not kept when streamed" in told
    assert told[-1] == "2 votes are counted by item and class; who gave them is not kept"


def test_a_file_of_ours_keeps_its_scale(tmp_path):
    grades = Annotations(
        kind="ordinal", items=("a", "b"), classes=("low", "middle", "high"),
        annotators=("x", "y"), item=np.array([0, 0, 1, 1]), label=np.array([2, 0, 0, 0]),
        annotator=np.array([0, 1, 0, 1]), notices=("Said before.",),
    )  # fmt: skip
    path = tmp_path / "grades.parquet"
    write_annotations(grades, path)
    made = stream_votes(path)
    assert_summed(made, grades)
    assert (made.kind, made.classes) == ("ordinal", grades.classes)
    assert list(made.count) == [1, 1, 2]


def test_the_smallest_difference_stays_when_ratings_are_forgotten(tmp_path):
    path = tmp_path / "ratings.csv"
    values = [0.0, 0.25, *range(10, 60)]
    path.write_text("item,label\n" + "".join(f"a,{one}\n" for one in values))
    with patch.object(streaming, "DISTINCT", 8):
        made = streamed(stream_ratings, path, 2)
    assert made.step == 0.25
    assert made.number == [52]
    assert_allclose(made.mean, np.mean(values), rtol=1e-14)
    assert_allclose(made.squares, np.var(values) * 52, rtol=1e-13)


@example(offset=1e9)
@given(offset=st.floats(-1e9, 1e9))
def test_squares_do_not_cancel(offset):
    random = np.random.default_rng(0)
    sums, every = streaming.RatingSums(), []
    for _ in range(20):
        values = offset + random.integers(0, 4, 5)
        every.append(values)
        sums.add(np.zeros(5, dtype=int), values, np.ones(5), 1)
    values = np.concatenate(every)
    expected = ((values - values.mean()) ** 2).sum()
    assert_allclose(sums.squares[0], expected, rtol=1e-6)

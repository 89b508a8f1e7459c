"""What would take the machine down is refused before it does."""

import gzip
import io
import os
import resource

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equipoise import InputError, read_annotations, read_predictions
from equipoise.read.files import content, read_array, read_arrays
from equipoise.scale import disk
from tests.cli_sample import caller, write_study


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "votes.csv"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("read", [read_annotations, read_predictions, content])
def test_a_pipe_or_a_device_is_refused(pipe, read):
    for path in (pipe, "/dev/zero"):
        with pytest.raises(InputError, match="a device or a pipe, expected a file; write what"):
            read(path)


def test_verbs_refuse_a_pipe(pipe, monkeypatch, capsys):
    call = caller(monkeypatch, capsys)
    for verb in (["check"], ["evaluate", "-p", pipe, "-a"], ["agreement"], ["aggregate"]):
        code, _, said = call(*verb, pipe)
        assert code == 1 and "a device or a pipe" in said


def test_a_file_that_unpacks_to_a_thousand_times_its_size_is_refused(tmp_path):
    path = tmp_path / "votes.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(320):
            file.write(b"\0" * 2**20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match="more than 100 times its size when unpacked"):
        content(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 900_000


def stored(array):
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def test_damaged_arrays_are_refused_and_nothing_else(tmp_path):
    """Every header with one byte changed is refused, or read as what it says."""
    path, whole = tmp_path / "counts.npy", stored(np.arange(6).reshape(2, 3))
    for place in range(128):
        for byte in (0, 10, 32, 39, 48, 57, 65, 123, 255):
            path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
            try:
                made = read_array(content(path))
            except InputError as error:
                assert len(str(error)) < 300
            else:
                assert made.nbytes == 48


@pytest.mark.parametrize("kind", ["zip", "objects", "claims", "cut"])
def test_what_is_no_array_is_refused(tmp_path, kind):
    path = tmp_path / "counts.npy"
    if kind == "zip":
        np.savez(tmp_path / "a.npz", np.arange(3))
        (tmp_path / "a.npz").rename(path)
    elif kind == "objects":
        np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    elif kind == "claims":
        path.write_bytes(stored(np.zeros(9)).replace(b"(9,)", b"(9000000000,)"))
    else:
        path.write_bytes(stored(np.zeros(9))[:-8])
    with pytest.raises(InputError, match=r"no readable array \("):
        read_array(content(path))


# ---- memory is asked for before it is taken ------------------------------------------------


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr("equipoise.types.arrays._memory_left", lambda: 2.0**20)


def packed_rows(path, rows):
    """Votes in a small file: one word, very often."""
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["a"]))
    pq.write_table(pa.table(dict.fromkeys(("item", "annotator", "label"), word)), path)
    assert path.stat().st_size < 20_000
    return path


@pytest.mark.usefixtures("little_memory")
def test_rows_that_a_footer_claims_are_refused_before_they_are_unpacked(tmp_path):
    path = packed_rows(tmp_path / "votes.parquet", 200_000)
    said = "votes.parquet, 200,000 rows: 0.0 GiB of memory, expected at most"
    for read in (read_annotations, read_predictions, lambda _: disk.open_votes(tmp_path)):
        with pytest.raises(InputError, match=said):
            read(path)


@pytest.mark.usefixtures("little_memory")
def test_arrays_and_files_that_do_not_fit_are_refused_before_they_are_read(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", probs=np.zeros(200_000))
    with pytest.raises(InputError, match=r"a\.npz, unpacked: 0.0 GiB of memory"):
        read_arrays(tmp_path / "a.npz")
    (tmp_path / "votes.csv").write_text("item,annotator,label\n" + "i,a,yes\n" * 200_000)
    with pytest.raises(InputError, match=r"votes.csv: 0.0 GiB .*Parquet files, which stays on"):
        read_annotations(tmp_path / "votes.csv")


def test_memory_that_nobody_could_foresee_ends_in_a_sentence(tmp_path, monkeypatch, capsys):
    def takes_all(*_, **__):
        np.zeros(2**59)

    monkeypatch.setattr("equipoise.cli.evaluate.run_evaluation", takes_all)
    monkeypatch.chdir(write_study(tmp_path))
    code, out, said = caller(monkeypatch, capsys)("evaluate", "votes.csv", "scores.csv")
    assert code == 1 and out == "" and "Traceback" not in said
    assert "evaluate: more memory than there is (Unable to allocate 4.00 EiB" in said
    assert "ask about fewer classes, items, models or analyses" in said

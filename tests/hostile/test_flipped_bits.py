"""What is written and opened again is as it was, or refused: single bits flipped everywhere."""

import json
import os
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equipoise import read_annotations
from equipoise.cli.threshold import read_key
from equipoise.read.canonical import read_study
from equipoise.read.canonical import write_study as put_study
from equipoise.read.plausibilities import read_plausibilities
from equipoise.report.run import Run
from equipoise.scale import disk
from equipoise.scale.cells import Cell, run_cells
from equipoise.types import InputError
from tests.cli_sample import equipoise, write_study
from tests.scale.test_disk import contents, cut, study

PLACES = np.linspace(0, 1, 12)  # of a file, one bit each


def flips(folder):
    """Every file of a folder with one bit flipped at a time: (name of the file, byte, undo)."""
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        whole = path.read_bytes()
        for number, place in enumerate(np.unique((PLACES * (len(whole) - 1)).astype(int))):
            changed = bytearray(whole)
            changed[place] ^= 1 << number % 8
            path.write_bytes(changed)
            yield f"{path.relative_to(folder)}, byte {place}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(whole)


def refused(error):
    return all((error.where, error.got, error.expected, error.do))


@pytest.mark.parametrize("model", ["dawid_skene", "glad"])
def test_a_flipped_bit_in_a_working_folder_is_refused_or_changes_nothing(tmp_path, model):
    fit, table = getattr(disk, model), study(2, votes=200)
    votes = disk.open_votes(cut(table, tmp_path / "votes", 2), workers=1)
    work, whole = tmp_path / "work", tmp_path / "whole"
    how = disk.OnDisk(work=work, every=3, keep=True)
    fit(votes, tmp_path / "out", disk=how)
    shutil.copytree(work, whole)
    seen = {True: 0, False: 0}
    for what in flips(whole):
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(whole, work)
        try:
            fit(votes, tmp_path / "again", disk=how)
        except InputError as error:
            assert refused(error) and "remove the working folder" in error.do, what
            seen[True] += 1
        else:
            assert contents(tmp_path / "again") == contents(tmp_path / "out"), what
            seen[False] += 1
    assert seen[True] > 100


@pytest.mark.parametrize("model", ["dawid_skene", "glad"])
def test_votes_corrected_in_place_of_the_same_size_and_time_are_read_again(tmp_path, model):
    (tmp_path / "votes").mkdir()
    path, how = tmp_path / "votes" / "0.parquet", disk.OnDisk(tmp_path / "work", keep=True)
    table, plain = study(2), {"compression": "none", "use_dictionary": False}
    pq.write_table(table, path, **plain)
    fit = getattr(disk, model)
    fit(disk.open_votes(path.parent), tmp_path / "before", disk=how)
    about, turned = path.stat(), table["label"].to_pylist()[::-1]
    pq.write_table(table.set_column(2, "label", pa.array(turned)), path, **plain)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (about.st_size, about.st_mtime_ns)
    fit(disk.open_votes(path.parent), tmp_path / "after", disk=how)
    fit(disk.open_votes(path.parent), tmp_path / "alone")
    assert contents(tmp_path / "after") == contents(tmp_path / "alone")
    assert contents(tmp_path / "after") != contents(tmp_path / "before")


def test_codes_that_no_kernel_may_see_are_refused(tmp_path):
    """Also where whoever wrote them sealed them."""
    from equipoise.read import codec
    from equipoise.scale.disk.coded import Codes

    votes = disk.open_votes(cut(study(2), tmp_path / "votes", 1))
    how = disk.OnDisk(work=tmp_path / "work", keep=True)
    disk.dawid_skene(votes, tmp_path / "out", disk=how)
    seal = Codes(tmp_path / "work", 2, "").seal(0)
    facts = json.loads(seal.read_text())
    source, names = facts["source"], list(facts["files"])
    start, code = (tmp_path / "work" / f"{name}-00000.npy" for name in ("start", "code"))
    whole = {path: np.load(path) for path in (start, code)}
    odd = [
        (start, np.where(np.arange(len(whole[start])) == 3, 10**9, whole[start])),
        (start, whole[start] + 1),
        (start, whole[start] - 1),
        (code, whole[code] + 12),
    ]
    for path, array in odd:
        np.save(path, array.astype(whole[path].dtype))
        codec.seal_files(seal, [tmp_path / "work" / name for name in names], source)
        with pytest.raises(InputError, match="codes of other votes, expected codes of these"):
            disk.dawid_skene(votes, tmp_path / "again", disk=how)
        np.save(path, whole[path])
    codec.seal_files(seal, [tmp_path / "work" / name for name in names], source)
    disk.dawid_skene(votes, tmp_path / "again", disk=how)


@pytest.mark.parametrize(("model", "mixed"), [
    *(("dawid_skene", name) for name in ("*-00000.*", "*.npz")),
    *(("glad", name) for name in ("*-00000.*", "*.npz", "glad-*/state-00000.npz")),
])  # fmt: skip
def test_a_whole_file_of_other_votes_is_refused_or_changes_nothing(tmp_path, model, mixed):
    """Sealed, of the same names and sizes, and made from something else."""
    fit, votes = getattr(disk, model), {}
    for seed in (2, 3):
        folder = cut(study(seed, votes=200), tmp_path / f"votes{seed}", 2)
        votes[seed] = disk.open_votes(folder, workers=1)
        how = disk.OnDisk(work=tmp_path / f"work{seed}", every=3, keep=True)
        fit(votes[seed], tmp_path / f"out{seed}", disk=how)
    work, other = tmp_path / "work2", tmp_path / "work3"
    for path in sorted(other.glob(mixed)):
        into = work / path.relative_to(other)
        into = into if into.parent.is_dir() else next(work.glob("glad-[0-9]*")) / path.name
        shutil.copy(path, into)
    again = disk.OnDisk(work=work, every=3)
    if mixed == "*.npz":
        fit(votes[2], tmp_path / "again", disk=again)
        assert contents(tmp_path / "again") == contents(tmp_path / "out2")
        return
    with pytest.raises(InputError, match="made from something else") as error:
        fit(votes[2], tmp_path / "again", disk=again)
    assert "remove the working folder" in error.value.do


def test_items_of_another_partition_or_other_settings_are_refused(tmp_path):
    """As a fit leaves them that is killed after it put its items in the place of others."""
    votes = disk.open_votes(cut(study(2, votes=200), tmp_path / "votes", 2), workers=1)
    works = {prior: tmp_path / prior for prior in ("default", "paper")}
    how = {name: disk.OnDisk(work=work, every=3, keep=True) for name, work in works.items()}
    for prior in works:
        disk.glad(votes, tmp_path / "out", prior=prior, disk=how[prior])
    first, other = (
        next(work.glob("glad-[0-9]*")) / "state-00000.npz" for work in works.values()
    )
    for path in (first.with_name("state-00001.npz"), other):
        shutil.copy(path, first)
        with pytest.raises(InputError, match="made from something else"):
            disk.glad(votes, tmp_path / "again", disk=how["default"])


# ---- what else is written and opened again ---------------------------------------------------


def opened_run(folder):
    run = Run.load(folder)
    return json.dumps(run.header), run.replicates.tobytes()


def opened_truth(folder):
    truth = read_plausibilities(folder / "truth.npz")
    return truth.items, truth.classes, truth.mean.tobytes(), str(truth.parameters)


def opened_key(folder):
    key = read_key(folder / "plan.csv")
    return key.options, key.size, key.items


def opened_study(folder):
    path = next(folder.iterdir())
    votes, models = read_study(path)
    parts = [votes.item, votes.label, *(model.values for model in models)]
    names = (votes.items, votes.annotators, votes.classes, [model.model for model in models])
    return names, [part.tobytes() for part in parts]


def opened_votes(folder):
    votes = read_annotations(folder / "votes.parquet")
    return (
        repr(votes),
        votes.items,
        votes.annotators,
        votes.item.tobytes(),
        votes.label.tobytes(),
    )


def opened_cells(folder):
    (outcome,) = run_cells([CELL], folder)
    return outcome.arrays["a"].tobytes()


CELL = Cell("cell", {"seed": 3}, lambda _: {"a": np.arange(40.0)})
FILES = ("votes.csv", "scores.csv")
STORES = {
    "run": (("evaluate", *FILES, "--replicates", "20", "--out", "store"), opened_run),
    "truth": (
        ("aggregate", FILES[0], "--model", "glad", "--out", "store/truth.npz"),
        opened_truth,
    ),
    "key": (
        *(("threshold", "plan", FILES[0], "--truth", "votes", "--out", "store/plan.csv"),),
        opened_key,
    ),
    "study": (("check", *FILES, "--out", "store/study.csv"), opened_study),
    "parquet": (("check", *FILES, "--out", "store/study.parquet"), opened_study),
    "votes": (None, opened_votes),
    "cells": (None, opened_cells),
}


@pytest.mark.parametrize("name", STORES)
def test_a_flipped_bit_in_what_is_opened_again_is_refused_or_changes_nothing(name, tmp_path):
    write_study(tmp_path)
    store, (words, opened) = tmp_path / "store", STORES[name]
    store.mkdir(exist_ok=True)
    if name == "votes":
        put_study(store / "votes.parquet", read_annotations(tmp_path / "votes.csv"))
    elif name == "cells":
        run_cells([CELL], store)
    else:
        done = equipoise(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    for path in store.glob("*.html"):
        path.unlink()  # nobody opens it again
    whole, refusals = opened(store), 0
    for what in flips(store):
        try:
            now = opened(store)
        except InputError as error:
            assert refused(error), what
            refusals += 1
        else:
            assert now == whole, what
    assert refusals >= 5 or name == "cells"

"""Work that stops leaves nothing, or says where it lies; no result goes through dead links."""

import errno
import os
import shutil
import subprocess

import pytest

from equipoise.read import writing
from equipoise.scale import disk
from equipoise.scale.cells import Cell, run_cells
from equipoise.types import InputError
from tests.cli_sample import equipoise, write_study
from tests.hostile.verbs import BASES, WRITES, every_verb, make_home
from tests.scale.test_disk import cut, study

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def everything(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


class Stopping:
    """Lets so many calls through, then the disk is full."""

    def __init__(self, function, calls):
        self.function, self.calls = function, calls

    def __call__(self, *parts, **keywords):
        reads = getattr(self.function, "__name__", "") == "open" and not parts[1] & os.O_CREAT
        self.calls -= not reads
        if self.calls < 0 and not reads:
            raise FULL
        return self.function(*parts, **keywords)


PLAN = ("threshold", "plan", "votes.csv", "--truth", "votes", "--out", "plan.csv")
DEMO = ("demo", "--out", "a/b/demo")
STEPS = [
    *((PLAN, os, step) for step in ("fsync", "open")),
    (PLAN, writing.Path, "replace"),
    (DEMO, os, "fsync"),
    *((DEMO, writing.Path, step) for step in ("mkdir", "rename")),
]


@pytest.mark.parametrize(("words", "owner", "step"), STEPS)
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, words, owner, step):
    write_study(tmp_path)
    before, stops = everything(tmp_path), 0
    for calls in range(4):
        stopping = Stopping(getattr(owner, step), calls)
        with monkeypatch.context() as patched:
            patched.setattr(owner, step, lambda *a, _s=stopping, **k: _s(*a, **k))
            done = equipoise(*words, cwd=tmp_path)
        if done.returncode == 0:
            break
        assert everything(tmp_path) == before, (step, calls)
        assert "No space left" in done.stderr
        stops += 1
    assert stops


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    home = tmp_path_factory.mktemp("files")
    make_home(home)
    cut(study(2, votes=200), home / "partitions", 2)
    return home


@pytest.fixture
def small(tmp_path):
    """A disk of two pages."""
    folder = tmp_path / "small"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


ON_DISK = ("aggregate", "partitions", "--on-disk", "--model")
OTHERS = {
    ("uq", "benchmark"): ("--data", "demo", "--epochs", "1", "--archs", "resnet_demo"),
    ("clean", "rounds", "start"): ("features.npz",),
    ("clean", "rounds", "show"): ("rounds",),
    ("demo",): (),
}
WRITTEN = {
    (*verb.words, *OTHERS.get(verb.words, BASES.get(verb.words, ()))): option.opts[0]
    for verb in every_verb()
    for option in verb.params
    if option.name in WRITES and option.name not in ("cache", "shown")
}
RESULTS = sorted(WRITTEN) + [(*ON_DISK, model) for model in ("dirichlet", "glad")]


@pytest.mark.parametrize("words", RESULTS, ids=lambda words: " ".join(words[:4]))
def test_a_disk_that_is_really_full_holds_nothing_or_work_that_is_told(files, small, words):
    option, met = WRITTEN.get(words, "--out"), set()
    for name in ("far/new", "new.csv", "new.npz", "new.html"):
        done = equipoise(*words, option, small / name, cwd=files)
        met.add(done.returncode)
        said = " ".join(done.stderr.split())
        assert "Traceback" not in said
        if done.returncode == 1:
            told = "Work that is done lies in" in said
            assert told is bool(everything(small)), (name, said, everything(small))
        for path in small.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert 1 in met or met == {0, 2}


@pytest.mark.parametrize("words", RESULTS, ids=lambda words: " ".join(words[:4]))
def test_a_link_to_nothing_is_no_place_for_a_result(files, words):
    """Whatever the result is called, and as a folder on the way to it, too."""
    option = WRITTEN.get(words, "--out")
    link, before, refusals = files / "link", everything(files), 0
    for ending in ("", ".csv", ".npz", ".html", ".parquet"):
        for place in (link.with_suffix(ending), link / f"x{ending}"):
            way = link if place.parent == link else place
            way.symlink_to(files / "elsewhere" / "deep")
            done = equipoise(*words, option, place.relative_to(files), cwd=files)
            said = " ".join(done.stderr.split())
            assert done.returncode and "Traceback" not in said, (place, done)
            refusals += "a link to nothing" in said or "no folder 'link'" in said
            assert way.is_symlink() and not way.exists()
            way.unlink()
            assert everything(files) == before
    assert refusals


def test_a_working_folder_is_no_link_to_nothing(tmp_path):
    votes = disk.open_votes(cut(study(2), tmp_path / "votes", 1))
    (tmp_path / "out.work").symlink_to(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"working folder .*is a link to nothing"):
        disk.dawid_skene(votes, tmp_path / "out")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("write", [writing.whole_file, writing.whole_folder])
def test_nothing_is_written_through_a_link_to_nothing(tmp_path, write):
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    expected = r"not an ordinary file|a link to nothing"
    with pytest.raises(OSError, match=expected), write(tmp_path / "link"):
        pass
    assert everything(tmp_path) == {"link"}


# ---- unfinished work that is kept ------------------------------------------------------------


def stopped_after(most):
    def progress(done, _):
        if done >= most:
            raise FULL

    return progress


def test_a_fit_that_stops_says_where_its_work_lies_and_how_to_go_on(tmp_path):
    votes = disk.open_votes(cut(study(2, votes=200), tmp_path / "votes", 2), workers=1)
    out, work = tmp_path / "out", tmp_path / "out.work"
    with pytest.raises(OSError, match="No space") as stop:
        disk.dawid_skene(votes, out, disk=disk.OnDisk(every=2, progress=stopped_after(5)))
    (note,) = stop.value.__notes__
    assert note == (
        f"Work that is done lies in {work}, for the same command to go on with; "
        "remove that folder to begin anew."
    )
    assert work.is_dir() and not out.exists()
    disk.dawid_skene(votes, out)
    assert not work.exists()


def test_the_command_line_says_it_too(tmp_path, monkeypatch):
    cut(study(2, votes=200), tmp_path / "votes", 2)
    words = ("aggregate", "votes", "--on-disk", "--model", "dawid_skene", "--out", "out")
    with monkeypatch.context() as patched:
        patched.setattr(disk.coded.Checkpoint, "save", Stopping(None, 0))
        done = equipoise(*words, cwd=tmp_path)
    assert done.returncode == 1 and "No space left" in done.stderr
    assert "Work that is done lies in out.work, for the same command to go on" in done.stderr
    done = equipoise(*words, cwd=tmp_path)
    assert done.returncode == 0 and not (tmp_path / "out.work").exists()


def test_a_folder_of_somebody_else_is_not_called_unfinished_work(tmp_path):
    votes = disk.open_votes(cut(study(2), tmp_path / "votes", 1))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="something else") as refused:
        disk.dawid_skene(votes, tmp_path / "out", disk=disk.OnDisk(work=tmp_path / "mine"))
    assert not hasattr(refused.value, "__notes__")


def test_cells_that_stop_say_where_the_finished_ones_lie(tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    cells = [Cell("a", {"n": 0}, lambda _: {}), Cell("b", {"n": 1}, interrupt)]
    with pytest.raises(KeyboardInterrupt) as stop:
        run_cells(cells[1:], tmp_path / "none")
    assert not hasattr(stop.value, "__notes__")
    with pytest.raises(KeyboardInterrupt) as stop:
        run_cells(cells, tmp_path / "cells")
    assert f"Work that is done lies in {tmp_path / 'cells'}" in stop.value.__notes__[0]

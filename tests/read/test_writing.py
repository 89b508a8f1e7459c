"""Files and folders appear whole or not at all, whatever stops the writing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.read.writing import replaced, whole_file, whole_folder, write_folder
from equipoise.types import InputError

OLD = {"run.json": '{"files": ["tables/a.csv"]}', "report.html": "old", "tables/a.csv": "1"}
NEW = {"run.json": '{"files": ["tables/b.csv"]}', "report.html": "new", "tables/b.csv": "2"}


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def debris(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir() if one.name.endswith(".part")]


def test_a_file_takes_the_place_of_another(tmp_path):
    target = tmp_path / "a.csv"
    target.write_text("old")
    target.chmod(0o640)
    with whole_file(target) as file:
        file.write(b"new")
        assert target.read_text() == "old"
    assert target.read_text() == "new" and target.stat().st_mode & 0o777 == 0o640
    assert not debris(tmp_path)


def test_an_error_leaves_the_old_file(tmp_path):
    target = tmp_path / "a.csv"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(target) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert target.read_text() == "old" and not debris(tmp_path)


def test_a_link_laid_in_the_way_is_not_followed(tmp_path):
    """Scratch names cannot be guessed, so nothing can be laid where they will be."""
    victim, target = tmp_path / "victim", tmp_path / "truth.npz"
    victim.write_text("precious")
    (tmp_path / ".truth.npz.part").symlink_to(victim)
    with replaced(target) as file:
        file.write(b"truth")
    assert victim.read_text() == "precious" and target.read_bytes() == b"truth"


def test_a_folder_of_the_user_with_a_name_like_ours_stays(tmp_path):
    (tmp_path / ".run.part").mkdir()
    (tmp_path / ".run.part" / "mine.txt").write_text("mine")
    write_folder(tmp_path / "run", NEW, mark="run.json")
    assert (tmp_path / ".run.part" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_not_replaced(tmp_path, kind):
    target = tmp_path / "pipe"
    if kind == "pipe":
        os.mkfifo(target)
    else:
        target = Path(os.devnull)
    with pytest.raises(InputError, match="not an ordinary file"), replaced(target) as file:
        file.write(b"x")
    assert not target.is_file()


def test_a_folder_is_exchanged_and_what_others_laid_there_stays(tmp_path):
    folder = tmp_path / "run"
    write_folder(folder, OLD, mark="run.json")
    (folder / "notes").mkdir()
    (folder / "notes" / "mine.txt").write_text("mine")
    (folder / "tables" / "own.csv").write_text("own")
    write_folder(folder, NEW, mark="run.json")
    assert contents(folder) == {**NEW, "notes/mine.txt": "mine", "tables/own.csv": "own"}
    assert not debris(tmp_path)


def test_a_linked_folder_stays_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    for texts in (OLD, NEW):
        write_folder(tmp_path / "run", texts, mark="run.json")
    assert (tmp_path / "run").is_symlink() and contents(tmp_path / "disk") == NEW


def test_the_folder_in_which_a_program_runs_keeps_its_place(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    write_folder(folder, OLD, mark="run.json")
    monkeypatch.chdir(folder)
    write_folder(Path(), NEW, mark="run.json")
    assert contents(Path()) == NEW


def test_two_that_write_one_new_folder_do_not_both_succeed(tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(FileExistsError), whole_folder(folder) as scratch:
        (scratch / "a").write_text("first")
        write_folder(folder, NEW, mark="run.json")
    assert contents(folder) == NEW and not debris(tmp_path)


def test_what_came_meanwhile_is_not_overwritten(tmp_path, monkeypatch):
    from equipoise.read import writing

    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    carry = writing.carry_over

    def late(*parts, **keywords):
        (folder / "run.json").write_text("other")
        carry(*parts, **keywords)

    monkeypatch.setattr(writing, "carry_over", late)
    with pytest.raises(InputError, match="meanwhile"):
        write_folder(folder, NEW, mark="run.json")
    assert contents(folder) == {"mine.txt": "mine", "run.json": "other"}


KILLER = """
import os, signal, sys
from pathlib import Path
from equipoise.read import writing
from tests.read.test_writing import NEW
place, stop = [0], [0]
def watched(module, name):
    real = getattr(module, name)
    def one(*parts, **keywords):
        place[0] += 1
        if place[0] == stop[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*parts, **keywords)
    setattr(module, name, one)
for name in ("fsync", "link", "open"):
    watched(os, name)
for name in ("_exchange", "_put", "_flush_folder"):
    watched(writing, name)
watched(writing.shutil, "rmtree")
for number, folder in enumerate(sys.argv[1:]):
    child = os.fork()  # this program has one thread
    if not child:
        stop[0] = number + 1
        writing.write_folder(Path(folder), NEW, mark="run.json")
        os._exit(7)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize("there", [True, False])
def test_killed_anywhere_the_old_result_is_there_or_the_new_one(tmp_path, there):
    """A real kill at every step; the rerun is not blocked and leaves nothing lying about."""
    homes = [tmp_path / str(number) for number in range(60)]
    for home in homes:
        home.mkdir()
        if there:
            write_folder(home / "run", OLD, mark="run.json")
            (home / "run" / "mine.txt").write_text("mine")
    told = subprocess.run(
        [sys.executable, "-c", KILLER, *(str(home / "run") for home in homes)],
        check=True,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    ).stdout.split()
    steps = told.index("7")  # from here on it came to its end: every step was tried
    assert steps > 8 and told[:steps] == [str(-signal.SIGKILL)] * steps
    kept = {"mine.txt": "mine"} if there else {}
    after = {**NEW, **kept}
    for place, home in enumerate(homes):
        folder = home / "run"
        found = contents(folder) if folder.exists() else None
        allowed = [{**OLD, **kept} if there else None, after]
        assert found in allowed if place < steps else found == after
        write_folder(folder, NEW, mark="run.json")
        assert contents(folder) == after and not debris(home)


def test_a_full_disk_leaves_the_old_result(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    write_folder(folder, OLD, mark="run.json")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_folder(folder, NEW, mark="run.json")
    assert contents(folder) == OLD and not debris(tmp_path)

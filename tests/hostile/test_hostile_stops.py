"""Killed, or short of disk, at any step of a verb: the old result or the new one, whole."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_sample import equipoise
from tests.hostile.formats import fill_in, write_inputs
from tests.hostile.generators import CASES

pytest.importorskip("torch", reason="one of the verbs trains")
ROOT = Path(__file__).parents[2]
KEPT = ("cells", "embeddings", "data", "weights", "checkpoints")  # work that is done
TIMED = ("uncertainty.json",)  # hold how long something took, or hashes of that
GRID = (
    *("uq", "benchmark", "--data", "images.npz", "--methods", "baseline", "--seeds", "1"),
    *("--archs", "resnet_demo", "--epochs", "1", "--device", "cpu", "--overwrite"),
)
VERBS = {
    "scan": ("clean", "scan", "features.npz", "--no-check", "--overwrite"),
    "benchmark": (
        *("clean", "benchmark", "features.npz", "--votes", "off_topic=problems.csv"),
        *("--detectors", "ecod,hbos", "--replicates", "20", "--analyses", "none"),
    ),
    "uq evaluate": ("uq", "evaluate", "one.npz", "two.npz", "labels.npz", "--overwrite"),
    "uq benchmark": GRID,
    "rounds": ("clean", "rounds", "next", "result", "--answers", "filled.csv"),
}
OTHER = {"scan": ("--most", "3"), "benchmark": ("--seed", "3"), "uq benchmark": ("--seed", "3")}

DRIVER = """
import errno, io, json, os, shutil, signal, sys, traceback
from contextlib import chdir, redirect_stderr, redirect_stdout
sys.path.insert(0, sys.argv[1])
from equipoise import cli
from equipoise.read import writing

asked = json.load(sys.stdin)
how, stop, place, commits = [None], [0], [0], []

def watched(module, name, counts, commit=False):
    real = getattr(module, name)
    def one(*parts, **keywords):
        if not counts(*parts):
            return real(*parts, **keywords)
        place[0] += 1
        if commit:
            commits.append(place[0])
        if place[0] == stop[0] and how[0] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if place[0] == stop[0] and how[0] == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*parts, **keywords)
    setattr(module, name, one)

def here(path, *_):
    named = isinstance(path, (str, os.PathLike))
    return named and os.path.abspath(path).startswith(os.getcwd())

watched(os, "fsync", lambda *_: True)
watched(os, "open", lambda path, flags=0, *_: here(path) and flags & os.O_CREAT)
watched(os, "mkdir", here)
watched(os, "replace", here, commit=True)
watched(os, "rename", here, commit=True)
watched(writing, "_exchange", here, commit=True)
watched(writing, "_put", here, commit=True)

def run(home, words):
    out, said = io.StringIO(), io.StringIO()
    sys.argv = ["equipoise", *words]
    with chdir(home), redirect_stdout(out), redirect_stderr(said):
        try:
            code = cli.run()
        except Exception:
            return 99, traceback.format_exc()
    return code, said.getvalue()

def forked(home, mode, at):
    child = os.fork()  # this program has one thread of its own
    if not child:
        how[0], stop[0], place[0] = mode, at, 0
        code, said = run(home, asked["words"])
        with open(os.path.join(home, "said.txt"), "w") as out:
            out.write(said)
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

home = asked["homes"].pop(0)
place[0], commits[:] = 0, []
code, said = run(home, asked["words"])
assert code == 0, said
steps = place[0]
near = {one for each in commits for one in (each, each + 1) if one <= steps}
every = sorted({1, steps // 3, steps, *near} - {0})
most = asked["most"]
stops = sorted({every[(k + 1) * len(every) // (most + 1)] for k in range(most)})
told = []
for number, (mode, at) in enumerate((mode, at) for mode in ("kill", "full") for at in stops):
    home = asked["homes"][number]
    ended = forked(home, mode, at)
    shutil.copytree(home, f"{home}-again")
    again = forked(f"{home}-again", None, 0) if mode == "kill" else None
    told.append({"mode": mode, "step": at, "home": home, "ended": ended, "again": again})
print(json.dumps({"steps": steps, "told": told}))
"""
MOST = 2 if CASES < 1000 else 8  # steps at which each verb is stopped, in either way
FILE_BY_FILE = 8  # steps where what is there may be of both


def contents(folder):
    """What lies in a result, without work that is kept and what differs every time."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name not in TIMED
        and path.suffix not in (".npz", ".part")
        and path.relative_to(folder).parts[0] not in KEPT
    }


def debris(home):
    return [one.name for one in Path(home).rglob("*.part")]


def prepare(home, verb):
    """Files of a verb, and an old result."""
    from equipoise.uq.training.data import demo_images

    write_inputs(home)
    words = (*VERBS[verb], *OTHER.get(verb, ("--level", "0.5")), "--out", "result")
    if verb == "rounds":
        words = ("clean", "rounds", "start", "features.npz", "--out", "rounds")
    if verb == "uq benchmark":
        demo_images(120, size=16).save(home / "images.npz")
    done = equipoise(*words, cwd=home)
    assert done.returncode == 0, done.stderr
    if verb == "rounds":
        fill_in(home, every=True)
        (home / "rounds").rename(home / "result")


def stopped(old, verb, words):
    """Stop a verb in copies of a folder; what became of it, and the result of it whole."""
    most = FILE_BY_FILE if verb == "rounds" else MOST
    homes = [old.parent / str(number) for number in range(2 * most + 1)]
    for home in homes:
        shutil.copytree(old, home)
    asked = {"homes": [str(home) for home in homes], "words": words, "most": most}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DRIVER, str(ROOT)],
        input=json.dumps(asked),
        env={**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (verb, done.stderr)
    return json.loads(done.stdout), contents(homes[0] / "result")


@pytest.mark.parametrize("verb", VERBS)
def test_the_old_result_or_the_new_one(verb, tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    prepare(old, verb)
    words = VERBS[verb] if verb == "rounds" else (*VERBS[verb], "--out", "result")
    told, after = stopped(old, verb, words)
    before = contents(old / "result")
    assert before != after and told["steps"] > 3 and told["told"]
    assert {one["ended"] for one in told["told"]} >= {-signal.SIGKILL, 1}
    for one in told["told"]:
        found = contents(Path(one["home"]) / "result")
        where = f"{one['mode']} at {one['step']} of {told['steps']}"
        if verb == "rounds":  # file by file, from which the rounds go on
            assert all(text in (before.get(n), after.get(n)) for n, text in found.items())
        else:
            assert found in (before, after), where
        if one["mode"] == "full":
            said = (Path(one["home"]) / "said.txt").read_text()
            assert one["ended"] in (0, 1) and "Traceback" not in said, said
            assert one["ended"] == 0 or "No space" in said or "cannot be written" in said, said
            assert not debris(one["home"]), where
            continue
        again = Path(f"{one['home']}-again")
        assert one["again"] == 0, (again / "said.txt").read_text()
        assert contents(again / "result") == after and not debris(again), where

"""Cells: kept whole, noticed when damaged, never made twice, whatever kills the work."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from equipoise import InputError
from equipoise.scale.cells import Cell, digest, run_cells

ROOT = Path(__file__).parents[2]
KILLED = """
import json, os, random, signal, sys
from pathlib import Path
from equipoise.scale.cells import run_cells
from tests.scale.test_cells import held, numbered

folder, log = Path(sys.argv[1]), Path(sys.argv[2])
left = [-1]

def deadly(name, counts=lambda *_: True):
    real = getattr(os, name)
    def one(*parts, **keywords):
        left[0] -= counts(*parts)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*parts, **keywords)
    setattr(os, name, one)

deadly("open", lambda path, flags, *_: bool(flags & os.O_CREAT))
deadly("fsync")
deadly("replace")
points, told = random.Random(5), []
for _ in range(20):
    point = points.randrange(1, 15)  # of about four a cell
    child = os.fork()  # this program has one thread
    if not child:
        left[0] = point
        run_cells(numbered(log), folder)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    told.append([log.read_text().split() if log.exists() else [], held(folder)])
run_cells(numbered(log), folder)
print(json.dumps([*told, [log.read_text().split(), held(folder)]]))
"""


def numbered(log):
    """Sixty cells that tell when they begin."""

    def cell(number):
        def run(_):
            with log.open("a") as out:
                out.write(f"{number}\n")
            random = np.random.default_rng(number)
            return {"values": random.standard_normal(50), "items": np.array(["a", "bb"])}

        return Cell(f"cell {number}", {"number": number}, run)

    return [cell(number) for number in range(60)]


def held(folder):
    return {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in folder.glob("*.cell")
    }


def test_killed_at_any_step_the_work_goes_on_and_makes_nothing_twice(tmp_path):
    work = numbered(tmp_path / "plain")
    run_cells(work, tmp_path / "whole")
    whole = held(tmp_path / "whole")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "cells"), str(tmp_path / "log")],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, cwd=ROOT, check=True, timeout=300,
        capture_output=True, text=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    before, kept = [], {}
    for begun, now in told:
        assert kept.items() <= now.items() <= whole.items()
        fresh = begun[len(before) :]
        assert not {f"{work[int(number)].key}.cell" for number in fresh} & kept.keys()
        assert len(fresh) <= len(now) - len(kept) + 1  # one may have been under way
        before, kept = begun, now
    assert len({len(now) for _, now in told}) > 10 and kept == whole


def cells(made, number=3):
    def one(n):
        def run(tell):
            made.append(n)
            tell(1, 2)
            return {"values": np.full(4, n)}

        return Cell(f"cell {n}", {"n": n}, run)

    return [one(n) for n in range(number)]


def test_a_second_run_reads_and_tells_how_far_it_is(tmp_path):
    made, told = [], []
    run_cells(cells(made), tmp_path, lambda *both: told.append(both))
    again = run_cells(cells(made), tmp_path)
    assert made == [0, 1, 2]
    assert [one.arrays["values"][0] for one in again] == [0, 1, 2]
    assert told[0] == (0, 3000) and (500, 3000) in told and told[-1] == (3000, 3000)
    assert [one for one, _ in told] == sorted(one for one, _ in told)


@pytest.mark.parametrize("harm", ["cut", "edited", "empty", "header", "renamed"])
def test_a_damaged_file_is_noticed_and_made_again(tmp_path, harm):
    made = []
    work = cells(made)
    run_cells(work, tmp_path)
    path = tmp_path / f"{work[1].key}.cell"
    good = path.read_bytes()
    bad = {
        "cut": good[:-20],
        "edited": good[:-20] + bytes([good[-20] ^ 1]) + good[-19:],
        "empty": b"",
        "header": b"0" + good[1:],
        "renamed": work[0].path(tmp_path).read_bytes(),
    }[harm]
    assert bad != good
    path.write_bytes(bad)
    found = run_cells(work, tmp_path)
    assert made == [0, 1, 2, 1]
    assert found[1].arrays["values"][0] == 1 and path.read_bytes() == good


@pytest.mark.parametrize(
    "error", [InputError("x", "no trees", "trees", "plant"), ValueError("odd"), MemoryError()]
)
def test_a_cell_that_fails_stops_no_other_and_is_tried_again(tmp_path, error):
    tried = []

    def fail(_):
        tried.append(1)
        raise error

    made = []
    work = [Cell("bad", {"bad": 1}, fail), *cells(made)]
    for _ in range(2):
        found = run_cells(work, tmp_path)
        assert found[0].arrays is None and found[0].reason
        assert all(one.arrays is not None for one in found[1:])
    assert len(tried) == 2 and made == [0, 1, 2]


def test_nothing_is_kept_without_a_folder(tmp_path):
    made = []
    run_cells(cells(made), None)
    run_cells(cells(made), None)
    assert made == [0, 1, 2] * 2 and not list(tmp_path.iterdir())


def test_facts_decide_the_key():
    one = Cell("a", {"x": 1, "y": [1, 2]}, lambda _: {})
    assert one.key == Cell("b", {"y": [1, 2], "x": 1}, lambda _: {}).key
    assert one.key != Cell("a", {"x": 2, "y": [1, 2]}, lambda _: {}).key
    assert json.dumps(one.facts)
    assert digest([np.arange(4)]) != digest([np.arange(4).reshape(2, 2)])
    assert digest([np.arange(4)]) != digest([np.arange(4.0)])
    assert digest([None]) != digest([()])

"""Cells: kept whole, noticed when damaged, never made twice, whatever kills the work."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from equipoise import InputError
from equipoise.cells import Cell, digest, run_cells

ROOT = Path(__file__).parents[1]
DRIVER = """
import os, sys, time
import numpy as np
from pathlib import Path
from equipoise.cells import Cell, run_cells

folder, log, pause = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])

def cell(number):
    def run(tell):
        with log.open("a") as out:
            out.write(f"start {number}\\n")
        time.sleep(pause)
        random = np.random.default_rng(number)
        return {"values": random.standard_normal(20000), "items": np.array(["a", "bb"])}
    return Cell(f"cell {number}", {"number": number}, run)

def told(done, every):
    with log.open("a") as out:
        out.write(f"told {done}\\n")

run_cells([cell(n) for n in range(6)], folder, told)
"""


def driver(folder, log, pause):
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(folder), str(log), str(pause)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


def held(folder):
    return {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in folder.glob("*.cell")
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    home = tmp_path_factory.mktemp("whole")
    assert driver(home / "cells", home / "log", 0).wait(60) == 0
    return held(home / "cells")


def test_killed_work_goes_on_and_makes_nothing_twice(whole, tmp_path):
    folder, log = tmp_path / "cells", tmp_path / "log"
    log.write_text("")

    def started():
        return [line for line in log.read_text().splitlines() if "start" in line]

    kept = {}
    for stop, delay in ((1, 0.0), (3, 0.04), (5, 0.11)):  # in the midst of, or after, a cell
        work = driver(folder, log, 0.1)
        while work.poll() is None and len(started()) < stop:
            time.sleep(0.002)
        time.sleep(delay)
        os.kill(work.pid, signal.SIGKILL)
        work.wait(60)
        now = held(folder) if folder.exists() else {}
        assert kept.items() <= now.items() and now.items() <= whole.items()
        kept, before = now, len(started())
        assert before <= len(kept) + 3
    assert driver(folder, log, 0).wait(60) == 0
    assert held(folder) == whole
    assert len(started()) == before + len(whole) - len(kept)  # those that were kept stayed
    assert not {n for n in started() if started().count(n) > 3}


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
    first = run_cells(cells(made), tmp_path, lambda *both: told.append(both))
    again = run_cells(cells(made), tmp_path)
    assert made == [0, 1, 2]
    assert [one.arrays["values"][0] for one in again] == [0, 1, 2]
    assert [one.seconds for one in first] == [one.seconds for one in again]
    assert told[0] == (0, 3000) and (500, 3000) in told and told[-1] == (3000, 3000)
    assert [one for one, _ in told] == sorted(one for one, _ in told)


@pytest.mark.parametrize("harm", ["cut", "edited", "empty", "header"])
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

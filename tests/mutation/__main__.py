"""Plant bugs and see whether tests go red: ``python -m tests.mutation [--only NAME ...]``.

A bug is *killed* when a test fails that passes without it, *survived* when all concerned tests
pass, *late* when they took too long to tell, *broken* when the failing test fails without the
bug, too, and *stale* when its text is no longer there. The status is 1 unless all are killed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.mutation.catalogue import ROOT, Bug, StaleBug, catalogue

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".hypothesis", ".*_cache", ".import_linter_cache", "*.egg-info",
    "demo-report", "dist", "build",
)  # fmt: skip
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Verdict(NamedTuple):
    """What became of a bug, and the test that told."""

    bug: Bug
    word: str
    by: str
    seconds: float


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen bugs and print what became of each."""
    asked = _parser().parse_args(arguments)
    bugs = [
        bug
        for bug in catalogue()
        if (not asked.only or bug.name in asked.only)
        and (not asked.file or asked.file in f"{bug.part} {bug.file}")
    ]
    if asked.list:
        for bug in bugs:
            print(f"{bug.name}: {bug.breaks} ({bug.file})")
        return 0
    if not bugs:
        print("no such bug; --list names them")
        return 2
    found = []
    with tempfile.TemporaryDirectory(prefix="equipoise-mutants-") as scratch:
        clean = Path(scratch) / "clean"
        shutil.copytree(ROOT, clean, ignore=LEFT_OUT)
        with ThreadPoolExecutor(asked.jobs) as pool:
            for one in pool.map(lambda bug: judged(bug, clean, asked.seconds), bugs):
                found.append(one)
                print(f"{one.word:8} {one.bug.name:44} {one.seconds:5.0f} s  {one.by}", flush=True)
    killed = sum(one.word == "killed" for one in found)
    print(f"\n{killed} of {len(found)} killed ({100 * killed / len(found):.1f}%)")
    for one in found:
        if one.word != "killed":
            print(f"{one.word}: {one.bug.name} ({one.bug.file}): {one.bug.breaks}")
    return int(killed < len(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="bugs of these names")
    parser.add_argument("--file", metavar="PART", help="bugs whose file or part holds this text")
    parser.add_argument("--list", action="store_true", help="name them and stop")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (1)")
    parser.add_argument("--seconds", type=float, default=600, help="for the tests of a bug (600)")
    return parser


def judged(bug: Bug, clean: Path, seconds: float) -> Verdict:
    """Plant one bug in a copy of its own, and run the tests it concerns."""
    start = time.monotonic()
    try:
        text = bug.planted(clean)
    except StaleBug as error:
        return Verdict(bug, "stale", str(error), 0.0)
    runs = bug.concerned(clean)
    if not runs:
        return Verdict(bug, "survived", "no test is concerned", 0.0)
    with tempfile.TemporaryDirectory(prefix=f"{bug.name}-", dir=clean.parent) as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(clean, tree)
        (tree / bug.path).write_text(text, encoding="utf-8")
        if bug.path.parent.name == "kernels":  # kernels that call it are compiled anew
            for stored in (tree / bug.path).parent.rglob("*.nb[ic]"):
                stored.unlink()
        word, by = _red(tree, clean, runs, seconds)
    return Verdict(bug, word, by, time.monotonic() - start)


def _red(tree: Path, clean: Path, runs: list[list[str]], seconds: float) -> tuple[str, str]:
    for tests in runs:
        status, said = _tested(tree, tests, seconds)
        if status is None:
            return "late", f"no answer after {seconds:g} s"
        if status == 0:
            continue
        named = FAILED.search(said)
        if named is None:
            return "broken", said.strip().splitlines()[-1] if said.strip() else "no output"
        status, _ = _tested(clean, [named[1]], seconds)
        return ("killed" if status == 0 else "broken"), named[1]
    return "survived", f"{sum(len(one) for one in runs)} files pass"


def _tested(tree: Path, tests: list[str], seconds: float) -> tuple[int | None, str]:
    """Status of pytest in a tree, and what it printed; None where it took too long."""
    command = [
        sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider",
        "-p", "no:randomly", "--hypothesis-seed=0", *tests,
    ]  # fmt: skip
    surroundings = {**os.environ, "PYTHONPATH": str(tree / "src"), "COLUMNS": "400"}
    shared = ROOT.parent / "shared" / "datasets"
    if shared.is_dir():
        surroundings.setdefault("EQUIPOISE_DATA", str(shared))
    try:
        done = subprocess.run(
            command, cwd=tree, env=surroundings, capture_output=True, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())

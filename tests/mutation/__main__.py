"""Plant bugs and see whether tests go red: ``python -m tests.mutation [--only NAME ...]``.

A bug is *killed* when a test fails that passes without it, *survived* when all concerned tests
pass, *late* when they took too long to tell, *broken* when the failing test fails without the
bug, too, and *stale* when its text is no longer there. The status is 1 unless all are killed.
"""

import argparse
import multiprocessing
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.mutation.catalogue import ROOT, Bug, StaleBug, catalogue
from tests.mutation.child import run_tests

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".hypothesis", ".*_cache", ".import_linter_cache", "*.egg-info",
    "demo-report", "dist", "build",
)  # fmt: skip
PRELOADED = [  # by others, so that every run of tests need not load them anew
    "numpy", "numba", "scipy.sparse", "scipy.special", "scipy.stats", "sklearn.metrics",
    "pyarrow.csv", "typer.testing", "rich.console", "pytest",
]  # fmt: skip
SERVER = multiprocessing.get_context("forkserver")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Verdict(NamedTuple):
    """What became of a bug, and the test that told."""

    bug: Bug
    word: str
    by: str


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen bugs and print what became of each."""
    asked = _parser().parse_args(arguments)
    SERVER.set_forkserver_preload(PRELOADED)
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
    with tempfile.TemporaryDirectory(prefix="equipoise-mutants-") as scratch:
        clean = Path(scratch) / "clean"
        shutil.copytree(ROOT, clean, ignore=LEFT_OUT)
        with ThreadPoolExecutor(asked.jobs) as pool:
            found = list(pool.map(lambda bug: judged(bug, clean, asked.seconds), bugs))
        found = confirmed(found, clean, asked.seconds)
    killed = sum(one.word == "killed" for one in found)
    print(f"\n{killed} of {len(found)} killed ({100 * killed / len(found):.1f}%)")
    for one in found:
        if one.word != "killed":
            print(f"{one.word}: {one.bug.name} ({one.bug.file}): {one.bug.breaks}; {one.by}")
    return int(killed < len(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="bugs of these names")
    parser.add_argument(
        "--file", metavar="PART", help="bugs whose file or part holds this text"
    )
    parser.add_argument("--list", action="store_true", help="name them and stop")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (1)")
    parser.add_argument(
        "--seconds", type=float, default=600, help="for the tests of a bug (600)"
    )
    return parser


def judged(bug: Bug, clean: Path, seconds: float) -> Verdict:
    """Plant one bug in a copy of its own, and run the tests it concerns."""
    start = time.monotonic()
    try:
        text = bug.planted(clean)
    except StaleBug as error:
        return Verdict(bug, "stale", str(error))
    runs = bug.concerned(clean)
    if not runs:
        return Verdict(bug, "survived", "no test is concerned")
    with tempfile.TemporaryDirectory(prefix=f"{bug.name}-", dir=clean.parent) as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(clean, tree)
        (tree / bug.path).write_text(text, encoding="utf-8")
        if bug.path.parent.name == "kernels":
            _forget_compiled(tree / bug.path)
        word, by = _red(tree, runs, seconds)
    spent = time.monotonic() - start
    print(f"{word:8} {bug.name:44} {spent:5.0f} s  {by}", flush=True)
    return Verdict(bug, word, by)


def _forget_compiled(source: Path) -> None:
    """Remove what is stored of a module of kernels, and of all whose calls end there."""
    told = {source.stem}
    texts = {one.stem: one.read_text(encoding="utf-8") for one in source.parent.glob("*.py")}
    for _ in texts:
        names = "|".join(map(re.escape, sorted(told)))
        calls = re.compile(rf"^from equipoise\.kernels\.({names}) import ", re.MULTILINE)
        told |= {stem for stem, text in texts.items() if calls.search(text)}
    for stored in source.parent.rglob("*.nb[ic]"):
        if stored.name.partition(".")[0] in told:
            stored.unlink()


def _red(tree: Path, runs: list[list[str]], seconds: float) -> tuple[str, str]:
    for tests in runs:
        status, said = _tested(tree, ["-x", *tests], seconds)
        if status is None:
            return "late", f"no answer after {seconds:g} s"
        if status == 0:
            continue
        named = FAILED.search(said)
        if named is None:
            return "broken", said.strip().splitlines()[-1] if said.strip() else "no output"
        return "killed", named[1]
    return "survived", f"{sum(len(one) for one in runs)} files pass"


def confirmed(found: list[Verdict], clean: Path, seconds: float) -> list[Verdict]:
    """Run the tests that told once more, all without any bug: what fails then told nothing.

    Tests run with all their parameters, whose names may hold anything.
    """
    told = {_whole(one.by) for one in found if one.word == "killed"}
    wrong: set[str] = set()
    for examples in (True, False):
        some = sorted(one for one in told if one.startswith("src/") is examples)
        if not some:
            continue
        status, said = _tested(clean, some, seconds * len(some))
        if status not in (0, 1):
            raise RuntimeError(f"the tests that told do not run without a bug: {said[-500:]}")
        wrong |= {_whole(one) for one in FAILED.findall(said)}
    return [one._replace(word="broken") if _whole(one.by) in wrong else one for one in found]


def _whole(test: str) -> str:
    return test.partition("[")[0]


def _tested(tree: Path, tests: list[str], seconds: float) -> tuple[int | None, str]:
    """Status of pytest in a tree, and what it printed; None where it took too long."""
    said = tree.parent / f"{tree.name}.said"
    child = SERVER.Process(target=run_tests, args=(str(tree), tests, str(said)))
    child.start()
    child.join(seconds)
    if child.is_alive():
        child.terminate()
        child.join()
        return None, ""
    text = said.read_text(encoding="utf-8", errors="replace") if said.exists() else ""
    return child.exitcode, text


if __name__ == "__main__":
    sys.exit(main())

"""Planted bugs still apply: a bug that fits nowhere would be killed by nothing, unseen."""

import ast
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutation.__main__ import main
from tests.mutation.catalogue import ROOT, Bug, StaleBug, catalogue

BUGS = catalogue()


def test_every_bug_applies_exactly_once_is_code_and_names_tests_that_exist():
    assert len(BUGS) >= 136
    assert not [name for name, times in Counter(bug.name for bug in BUGS).items() if times > 1]
    for bug in BUGS:
        ast.parse(bug.planted())
        for test in bug.tests:
            path, _, name = test.partition("::")
            assert (ROOT / "tests" / path).exists(), (bug.name, path)
            whole = "" if not name else (ROOT / "tests" / path).read_text(encoding="utf-8")
            assert not name or f"def {name.partition('[')[0]}(" in whole, (bug.name, test)


def test_a_bug_that_no_longer_applies_is_said_to_be_stale(tmp_path):
    bug = Bug("odd", "part", "inference/ranks.py", "x = 1", "x = 2", "nothing")
    source = tmp_path / bug.path
    source.parent.mkdir(parents=True)
    for text in ("", "x = 1\nx = 1\n"):
        source.write_text(text, encoding="utf-8")
        with pytest.raises(StaleBug, match="odd: its old text stands"):
            bug.planted(tmp_path)
    source.write_text("x = 1\n", encoding="utf-8")
    assert bug.planted(tmp_path) == "x = 2\n"


def test_concerned_tests_are_those_named_or_those_that_import_the_module():
    ranks = "src/equipoise/inference/ranks.py"
    bug = Bug("odd", "part", "inference/ranks.py", "TIE = 12", "TIE = 3", "ties")
    tests, examples = bug.concerned()
    assert "tests/inference/test_ranks.py" in tests and examples == [ranks]
    assert all(Path(ROOT, one).is_file() for one in tests)
    named = replace(bug, tests=("report/test_page.py",))
    assert named.concerned() == [["tests/report/test_page.py"], [ranks]]


def test_the_runner_lists_bugs_and_knows_no_others(capsys):
    assert main(["--list", "--only", BUGS[0].name]) == 0
    assert BUGS[0].breaks in capsys.readouterr().out
    assert main(["--only", "no such bug"]) == 2

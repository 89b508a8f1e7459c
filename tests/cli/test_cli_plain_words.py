"""What a terminal and printed tables say is for people: no names of code, no doubled words."""

import errno
import json
import os
import re
from pathlib import Path

import pytest

from equipoise.read import writing
from equipoise.types import InputError
from tests.cli_sample import FILES, QUICK, flat


def refused(*_, **__):
    raise OSError(errno.EROFS, "Read-only file system", "/x/.out.part")


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(
    "verb", [("evaluate", "--full"), ("evaluate", "--pair", "good", "fair")]
)
def test_a_folder_that_cannot_be_written_is_refused_before_the_analysis(
    verb, equipoise, monkeypatch
):
    def run(*_, **__):
        raise AssertionError

    monkeypatch.setattr(writing, "mkdtemp", refused)
    monkeypatch.setattr("equipoise.cli.evaluate.read_study", run)
    code, _, said = equipoise(*verb, *FILES, *QUICK, "--out", "out")
    assert code == 1 and "out: cannot be written" in said
    assert not Path("out").exists()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="there is no /proc")
def test_a_place_that_takes_no_folder_is_found_by_trying():
    with pytest.raises(InputError, match=r"^/proc/nope: cannot be written \(/proc cannot"):
        writing.check_folder(Path("/proc/nope"), ())


def test_trying_leaves_nothing_behind(tmp_path):
    writing.check_folder(tmp_path / "new", ())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", [True, False])
def test_a_failure_while_writing_names_the_folder_that_was_given(tmp_path, monkeypatch, there):
    folder = tmp_path / "out"
    if there:
        folder.mkdir()
    monkeypatch.setattr(os, "fsync", refused)
    with pytest.raises(InputError) as error:
        writing.write_folder(folder, {"a.txt": "a"})
    assert str(error.value).startswith(f"{folder}: cannot be written (Read-only file system)")
    assert ".part" not in str(error.value)


@pytest.mark.usefixtures("study")
def test_an_option_is_named_once(equipoise):
    code, _, said = equipoise("evaluate", *FILES, "--only", "rankin")
    assert code == 2 and flat(said).count("--analyses:") == 1
    assert "did you mean 'ranking'?" in flat(said)


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("verb", [("evaluate",), ("evaluate", "--pair", "good", "fair")])
def test_a_slip_among_the_labels_is_found_in_its_file(verb, equipoise):
    path = Path("votes.csv")
    path.write_text(re.sub(r"(?m)^7,r1,.$", "7,r1,maybe", path.read_text()))
    code, _, said = equipoise(*verb, *FILES)
    told = flat(said)
    assert code == 1, said
    assert "votes.csv: 3 classes (" in told
    assert "'maybe' 1 vote; the rarest, 'maybe', first for item '7')" in told
    assert "if 'maybe' is a typo, correct it" in told and "--positive CLASS" in told


@pytest.mark.usefixtures("study")
def test_three_classes_in_earnest_are_no_slip(equipoise):
    lines = Path("votes.csv").read_text().splitlines()
    more = [f"{line[:-1]}2" if k % 3 == 0 else line for k, line in enumerate(lines[1:])]
    Path("votes.csv").write_text("\n".join([lines[0], *more]) + "\n")
    code, _, said = equipoise("evaluate", *FILES)
    assert code == 1 and "typo" not in said and "3 classes" in said


@pytest.mark.usefixtures("study")
def test_one_model_is_told_once_that_nobody_can_overtake_it(equipoise):
    rows = [line.split(",")[:2] for line in Path("scores.csv").read_text().splitlines()]
    Path("one.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    files = ("-a", "votes.csv", "-p", "one.csv")
    asked = ("--analyses", "flips,ranking,subgroups")
    code, out, said = equipoise("evaluate", *files, *QUICK, *asked, "--out", "out")
    assert code == 0, said
    assert out.count("nobody can overtake it") == 1
    assert "No attributes of items; it takes a table" in flat(out)
    every = json.loads(Path("out/run.json").read_text())["report"]["findings"]
    found = {one["key"]: one["sentence"] for one in every}
    assert found["flips"] == "There is only one model: nobody can overtake it."
    page = Path("out/report.html").read_text()
    assert "subgroups: no attributes" not in page and "No attributes of items; it takes" in page


@pytest.mark.usefixtures("study")
def test_printed_tables_have_words_for_flags_names_and_letters(equipoise):
    asked = ("--only", "flips,choices,ranking,readers")
    code, _, said = equipoise("evaluate", *FILES, *QUICK, "--out", "run", *asked)
    assert code == 0, said
    assert equipoise("report", "run", "--export", "out")[0] == 0
    code, out, _ = equipoise("evaluate", *FILES, *QUICK, "--only", "choices,flips")
    assert code == 0
    printed = "".join(path.read_text() for path in Path("out/tables").glob("*.md"))
    printed += "".join(path.read_text() for path in Path("out/tables").glob("*.tex"))
    for word in ("True", "False", "auroc", "majority_", " | a | b ", "idle", "cleared"):
        assert word not in printed, word
    for word in ("majority vote", "AUROC"):
        assert word in printed, word
    raw = Path("out/tables/flips.csv").read_text()
    assert ",a,b," in raw and ",idle" in raw and "auroc" in raw
    assert "majority vote" in out and "majority_vote" not in out
    assert "Brackets: 95% intervals." in flat(out)


@pytest.mark.usefixtures("study")
def test_a_run_says_what_was_redrawn(equipoise):
    for how, what in (((), "items and annotators"), (("--resample", "items"), "items")):
        words = ("--replicates", 20, *how, "--out", "run", "--overwrite")
        assert equipoise("evaluate", *FILES, *words)[0] == 0
        report = json.loads(Path("run/run.json").read_text())["report"]
        said = dict(report["terms"])["Intervals"]
        assert f"Shares of resamples are from 20 resamples of {what} (seed 0)." in said

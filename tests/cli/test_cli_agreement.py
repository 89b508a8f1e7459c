"""`equipoise agreement` as a user meets it: tables, words, JSON, page, and refused input."""

import json
import os
from pathlib import Path

import pytest

from tests.cli_sample import equipoise
from tests.truth.test_choosing import crowd


def run(*words, cwd):
    return equipoise("agreement", *words, cwd=cwd)


@pytest.fixture
def folder(tmp_path):
    _, votes = crowd([0.9, 0.8, 0.6], items=30)
    rows = list(zip(votes.item, votes.annotator, votes.label, strict=True))
    lines = ["item,annotator,label", *(f"i{i},r{a},{k}" for i, a, k in rows)]
    (tmp_path / "votes.csv").write_text("\n".join(lines) + "\n")
    tasked = ["item,annotator,task,label"]
    tasked += [f"i{i},r{a},{'odd' if i % 2 else 'even'},{k}" for i, a, k in rows]
    (tmp_path / "tasks.csv").write_text("\n".join(tasked) + "\n")
    return tmp_path


def test_a_stranger_sees_numbers_words_people_and_pairs(folder):
    done = run("votes.csv", "--replicates", "200", cwd=folder)
    assert done.returncode == 0, done.stderr
    for words in (
        "Krippendorff's alpha (nominal)",
        "Fleiss' kappa",
        "Cohen's kappa",
        "95% interval",
        "alpha without",
        "not corrected for chance",
        "agree most",
        "least (",
        "like these.",
    ):
        assert words in " ".join(done.stdout.split()), words


def test_json_has_everything_and_repeats_itself(folder):
    words = ("votes.csv", "--json", "--seed", "3", "--replicates", "50", "--weights", "linear")
    done = run(*words, cwd=folder)
    facts = json.loads(done.stdout)
    assert facts["seed"] == 3
    (task,) = facts["tasks"]
    assert len(task["annotators"]) == 3 and len(task["pairs"]["kappa"]) == 3
    assert task["weights"] == "linear"
    assert run(*words, cwd=folder).stdout == done.stdout


def test_several_tasks_share_a_table_and_a_page(folder):
    done = run("tasks.csv", "--page", "a.html", "--replicates", "50", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "odd" in done.stdout and "even" in done.stdout and "--task" in done.stdout
    page = (folder / "a.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 4
    one = run("tasks.csv", "--task", "odd", "--replicates", "50", cwd=folder)
    assert one.stdout.startswith("How far do annotators agree on odd?")
    assert "15 items, 45 votes, 3 annotators." in one.stdout


def test_exchangeable_slots_have_no_annotators(folder):
    done = run("votes.csv", "--exchangeable", "--replicates", "20", cwd=folder)
    assert "anonymous votes" in done.stdout and "mean kappa" not in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("absent.csv",), 1, "absent.csv"),
        (("tasks.csv", "--task", "od"), 1, "did you mean 'odd'?"),
        (("votes.csv", "--level", "rank"), 2, "--level"),
        (("votes.csv", "--weights", "line"), 2, "linear"),
        (("votes.csv", "--page", "a.txt"), 2, ".html"),
        (("votes.csv", "--page", "no/a.html"), 1, "make the folder"),
        (("names.csv", "--level", "ordinal"), 1, "names without an order"),
        (("names.csv", "--level", "interval"), 1, "choose nominal or ordinal"),
        (("group.csv",), 1, "a single group"),
        (("empty.csv",), 1, "empty.csv"),
    ],
)
def test_bad_input_is_one_line_and_an_exit_code(folder, words, code, said):
    (folder / "names.csv").write_text("item,annotator,label\na,x,red\na,y,blue\nb,x,green\n")
    (folder / "group.csv").write_text("item,annotator,label,group\na,x,1,p\na,y,0,p\nb,x,1,p\n")
    (folder / "empty.csv").write_text("item,annotator,label\n")
    done = run(*words, cwd=folder)
    assert done.returncode == code, done.stderr
    assert said in " ".join(done.stderr.replace("│", " ").split())
    if code == 1:
        assert len([line for line in done.stderr.splitlines() if "Note:" not in line]) == 1


def test_thin_data_say_undefined_rather_than_a_number(folder):
    (folder / "thin.csv").write_text("item,annotator,label\na,x,1\nb,y,0\nc,x,1\n")
    done = run("thin.csv", cwd=folder)
    assert done.returncode == 0
    assert "undefined" in done.stdout
    assert "No item has two votes" in done.stderr
    (folder / "one.csv").write_text("item,annotator,label\na,x,1\nb,x,0\n")
    one = run("one.csv", cwd=folder)
    assert "only one annotator" in one.stderr
    assert "2 items, 2 votes, 1 annotator." in one.stdout


def test_ratings_and_help_are_understood(folder):
    (folder / "rated.csv").write_text(
        "item,annotator,label\na,x,1.5\na,y,1.25\nb,x,3\nb,y,3.5\nc,x,9\nc,y,8\n"
    )
    done = run("rated.csv", "--kind", "interval", cwd=folder)
    assert "Krippendorff's alpha (interval)" in done.stdout
    shown = run("--help", cwd=folder).stdout
    for words in ("0.667", "Landis and Koch", "quadratic", "Example:"):
        assert words in shown


def test_a_task_with_a_single_annotator_is_told(folder):
    rows = ["a,x,one,1", "a,y,one,0", "b,x,one,1", "b,y,one,1", "a,x,two,1", "b,x,two,0"]
    (folder / "few.csv").write_text("item,annotator,task,label\n" + "\n".join(rows) + "\n")
    done = run("few.csv", "--replicates", "20", "--page", "few.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "two: There is only one annotator." in done.stderr


def test_an_evaluation_tells_the_agreement_of_known_annotators(folder):
    items = [f"i{i},m,{i / 30}" for i in range(30)]
    (folder / "scores.csv").write_text("item,model,score\n" + "\n".join(items) + "\n")
    for extra, there in (((), True), (("--exchangeable",), False)):
        words = ("evaluate", "-a", "votes.csv", "-p", "scores.csv", "--replicates", "20")
        done = equipoise(*words, "--out", "run", "--overwrite", *extra, cwd=folder)
        assert done.returncode == 0, done.stderr
        header = json.loads((folder / "run" / "run.json").read_text(encoding="utf-8"))
        page = (folder / "run" / "report.html").read_text(encoding="utf-8")
        (found,) = (one for one in header["report"]["findings"] if one["key"] == "agreement")
        (row,) = found["tables"][0]["rows"]
        assert "id=agreement" in page
        assert (row["alpha"] is not None) is there
        if there:
            direct = json.loads(run("votes.csv", "--json", cwd=folder).stdout)["tasks"][0]
            first = direct["coefficients"][0]
            for ours, theirs in (("alpha", "value"), ("low", "low"), ("high", "high")):
                assert row[ours] == pytest.approx(first[theirs], abs=1e-12)


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="set EQUIPOISE_DATA to votes/")
@pytest.mark.parametrize(
    ("file", "words", "said"),
    [
        ("votes/bluebirds.csv", (), "39 annotators"),
        ("votes/emotion_scores.csv", ("--kind", "interval"), "alpha (interval)"),
        ("votes/dogs.csv", ("--json",), '"tasks"'),
        ("dermatology_ddx/dermatology_selectors.json", (), "Reading agreement"),
    ],
)
def test_real_files_are_understood(tmp_path, file, words, said):
    path = Path(os.environ["EQUIPOISE_DATA"]) / file
    done = run(str(path), *words, "--replicates", "20", "--page", "a.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert ("dashed: 0.667" in page) is file.startswith("votes/")

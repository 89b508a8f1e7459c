"""`equipoise evaluate --full` as a user meets it."""

import csv
import json
import os
import re
from io import StringIO
from pathlib import Path

import pytest

from equipoise.study.analyses.catalogue import ANALYSES, OF_JUDGES
from tests.cli_sample import FILES, QUICK, flat


def table(path):
    return list(csv.DictReader(StringIO(path.read_text())))


def evaluated(equipoise, *words):
    code, _, said = equipoise("evaluate", *FILES, "--replicates", 20, "--out", "run", *words)
    assert code == 0, said


def test_findings_are_printed_with_tables_and_what_is_left_out(study, equipoise):
    code, out, said = equipoise("evaluate", "--full", *FILES, *QUICK)
    assert code == 0, said
    for name in ("ranking", "flips"):
        assert ANALYSES[name].title in out, name
    for words in ("Does the verdict depend on …?", "… one annotator? ", "… how votes are"):
        assert words in out, words
    assert ANALYSES["subgroups"].title not in out  # nothing is known of the items
    for words in ("When items and annotators are resampled", "[weak]"):
        assert words in flat(out), words
    assert sorted(study.iterdir()) == [
        study / f"{one}.csv" for one in ("items", "scores", "votes")
    ]


@pytest.mark.usefixtures("study")
def test_json_is_all_there_is_on_standard_output(equipoise):
    words = ("evaluate", *FILES, *QUICK, "--only", "ranking,flips", "--json")
    code, out, _ = equipoise(*words)
    facts = json.loads(out)
    assert code == 0 and facts["models"] == ["good", "fair", "[weak]"]
    keys = [one["key"] for one in facts["findings"]]
    assert {"ranking", "flips"} <= set(keys) and "curves" not in keys
    assert equipoise(*words)[1] == out


def test_the_folder_holds_everything_and_is_not_overwritten_unasked(study, equipoise):
    words = ("evaluate", "--full", *FILES, *QUICK, "--out", "s")
    code, out, said = equipoise(*words, "--attributes", "items.csv")
    assert code == 0 and "Page s/report.html" in out, said
    record = json.loads((study / "s" / "run.json").read_text())
    there = {str(p.relative_to(study / "s")) for p in (study / "s").rglob("*") if p.is_file()}
    assert there == {"run.json", "replicates.npy", "report.html", "disputed.csv"}
    assert {(one["role"], one["path"]) for one in record["inputs"]} == {
        ("annotations", "../votes.csv"), ("predictions", "../scores.csv"),
        ("attributes", "../items.csv"),
    }  # fmt: skip
    keys = [one["key"] for one in record["report"]["findings"]]
    front = ["readers", "subgroups"]
    of_votes = [key for key, one in ANALYSES.items() if one.of_predictions]
    rest = [name for name in of_votes if name not in (*front, *OF_JUDGES)]
    assert [key for key in keys if key in ANALYSES] == [*front, *rest]
    assert record["title"] == "votes.csv"
    assert equipoise("report", "s", "--export", "paper")[0] == 0
    rows = table(study / "paper/tables/leave_one_out.csv")
    found = next(one for one in record["report"]["findings"] if one["key"] == "leave_one_out")
    assert float(rows[0]["change"]) == found["tables"][0]["rows"][0]["change"]
    assert (study / "paper/tables/subgroups.tex").exists()
    code, _, said = equipoise(*words)
    assert code == 1 and "already holds a run (run.json, report.html)" in said
    assert equipoise(*words, "--overwrite", "--only", "flips")[0] == 0
    assert equipoise("report", "s", "--export", "paper", "--overwrite")[0] == 0
    assert not (study / "paper/tables/subgroups.tex").exists()
    assert (study / "paper/tables/flips.tex").exists()


def test_an_interrupt_leaves_nothing_half_written(study, equipoise, monkeypatch):
    whole, number = os.fsync, iter(range(2))

    def stopping(handle):
        if next(number, None) is None:
            raise KeyboardInterrupt
        whole(handle)

    words = ("evaluate", *FILES, *QUICK, "--only", "flips", "--out", "s")
    monkeypatch.setattr(os, "fsync", stopping)
    assert equipoise(*words)[0] == 130
    assert sorted(one.name for one in study.iterdir()) == [
        "items.csv",
        "scores.csv",
        "votes.csv",
    ]
    monkeypatch.setattr(os, "fsync", whole)
    assert equipoise(*words)[0] == 0


@pytest.mark.usefixtures("study")
def test_a_run_is_enough(equipoise):
    evaluated(equipoise, "--metrics", "average_precision")
    code, out, said = equipoise("evaluate", "run", *QUICK, "--only", "flips", "--json")
    assert code == 0, said
    assert json.loads(out)["metrics"] == ["average_precision"]
    code, _, said = equipoise("evaluate", "--full", "run", *QUICK, "--out", "run")
    assert code == 1 and "already holds a run (run.json, report.html)" in said


@pytest.mark.parametrize(
    ("words", "told", "exit_code"),
    [
        (("evaluate", "--full"), "nothing to read", 1),
        (("evaluate", *FILES, "--only", ""), "expected analyses, for example", 2),
        (("evaluate", *FILES, "--only", " , "), "expected analyses, for example", 2),
        (("evaluate", *FILES, "--only", "flip"), "did you mean 'flips'", 2),
        (("evaluate", "--full", *FILES, "--metric", "aurok"), "did you mean 'auroc'", 2),
        (("evaluate", "--full", *FILES, "--labels", "sofd"), "did you mean 'soft'", 2),
        (("evaluate", *FILES, "--attributes", "items.csv", "--only", "flips"),
         "--analyses leaves out", 2),
        (("evaluate", "--full", "nowhere"), "no run.json", 1),
        (("evaluate", "-a", "votse.csv", "-p", "scores.csv"), "did you mean 'votes.csv'", 1),
    ],
)  # fmt: skip
def test_bad_input_is_met_with_a_sentence(study, equipoise, words, told, exit_code):
    before = sorted(study.iterdir())
    code, out, said = equipoise(*words, "--replicates", "20")
    assert code == exit_code, said
    assert told in flat(said) and not out
    assert sorted(study.iterdir()) == before


@pytest.mark.usefixtures("study")
def test_refusals_speak_of_options(equipoise):
    text = Path("votes.csv").read_text()
    Path("votes.csv").write_text(text.replace(",1\n", ",sick\n").replace(",0\n", ",well\n"))
    for verb in (("evaluate", "--full"), ("evaluate", "--pair", "good", "fair")):
        code, _, said = equipoise(*verb, *FILES, *QUICK)
        assert code == 1 and "ask about one class with --positive CLASS" in said
    assert (
        equipoise("evaluate", "--pair", "good", "fair", *FILES, *QUICK, "--positive", "sick")[0]
        == 0
    )


@pytest.mark.usefixtures("study")
def test_the_answer_comes_first_and_words_are_explained(equipoise):
    code, out, said = equipoise("evaluate", *FILES, *QUICK, "--only", "ranking,leave_one_out")
    assert code == 0, said
    first, _, rest = flat(out).partition(ANALYSES["ranking"].title)
    assert first.startswith(
        "equipoise · votes.csv · 3 models, 40 items, 4 annotators For items and annotators "
        "like these, by soft AUROC"
    )
    assert first.index("cannot be told apart") < first.index("Holds for")
    assert ANALYSES["leave_one_out"].title in rest
    for word in ("Spearman, Kendall's tau-b: mean rank correlation",
                 "Cohen's kappa of the majority's labels"):  # fmt: skip
        assert flat(out).count(word) == 1, word


@pytest.mark.usefixtures("study")
def test_an_analysis_that_was_asked_but_is_impossible_is_named(equipoise):
    asked = "ranking,subgroups"
    for only in (asked, "subgroups"):
        code, out, said = equipoise("evaluate", *FILES, *QUICK, "--only", only)
        assert code == 0, said
        why = flat(out).partition("Not looked at, and why")[2]
        assert ANALYSES["subgroups"].title in why and "--attributes FILE" in why


@pytest.mark.usefixtures("study")
def test_long_tables_say_how_much_more_there_is(equipoise):
    from equipoise.report.terminal import MOST

    text = Path("votes.csv").read_text()
    more = [text.replace(",r", f",more{k}_").split("\n", 1)[1] for k in range(3)]
    Path("votes.csv").write_text(text + "".join(more))
    words = ("evaluate", *FILES, "--replicates", "20", "--only", "leave_one_out")
    code, out, said = equipoise(*words)
    assert code == 0, said
    assert f"... and {16 - MOST} more rows" in out


def test_a_title_is_taken_over(study, equipoise):
    words = ("evaluate", *FILES, *QUICK, "--only", "flips", "--out", "s")
    assert equipoise(*words, "--title", "Four readers")[0] == 0
    assert "<title>Four readers</title>" in (study / "s/report.html").read_text("utf-8")
    evaluated(equipoise)
    words = ("evaluate", "run", *QUICK, "--only", "flips", "--overwrite", "--out", "s")
    assert equipoise(*words)[0] == 0
    assert json.loads((study / "s/run.json").read_text())["title"] == "votes.csv"


@pytest.mark.usefixtures("study")
def test_nothing_in_the_output_is_spelt_in_python(equipoise):
    text = Path("votes.csv").read_text()
    Path("votes.csv").write_text(text.replace(",1\n", ",sick\n").replace(",0\n", ",well\n"))
    words = ("evaluate", "--full", *FILES, *QUICK, "--positive", "sick", "--labels", "hard")
    for form in ((), ("--json",)):
        code, out, said = equipoise(*words, *form)
        assert code == 0, said
        assert not re.findall(
            r"\b(?:labels|unit|repeats|kind|on_missing)='|against\(", out + said
        )


@pytest.mark.usefixtures("study")
def test_without_a_terminal_stages_are_told_in_lines(equipoise, monkeypatch):
    from equipoise.cli import screen

    monkeypatch.setattr(screen, "PATIENCE", 0.0)
    code, _, said = equipoise(
        "evaluate", *FILES, *QUICK, "--out", "s", "--only", "flips,ranking"
    )
    assert code == 0
    stages = [line for line in said.splitlines() if line.endswith(" ...")]
    assert stages == list(dict.fromkeys(stages)) and "evaluating ..." in stages
    rest = [line for line in said.splitlines() if line not in stages]
    assert all(line.startswith("Note: ") or "more notice" in line for line in rest[1:]), rest
    assert "\x1b" not in said and "\r" not in said


def test_a_bar_tells_the_time_left():
    from time import sleep

    from rich.console import Console

    from equipoise.cli.screen import bar

    screen = StringIO()
    with bar(Console(file=screen, force_terminal=True, width=100)) as drawn:
        task = drawn.add_task("analyses", total=None)
        drawn.refresh()
        assert "left" not in screen.getvalue()
        for done in range(1, 6):
            drawn.update(task, completed=done, total=10)
            sleep(0.01)
        drawn.refresh()
    shown = re.sub(r"\x1b\[[\d;?]*\w", "", screen.getvalue())
    assert re.search(r"analyses \S+ 0:00:0\d 0:00:0\d left", shown), shown

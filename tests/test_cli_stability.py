"""`equipoise stability`, `compare` and `report --export` as a user meets them."""

import csv
import json
import shutil
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from equipoise import cli

QUICK = ("--replicates", "20", "--most", "5")
FILES = ("-a", "votes.csv", "-p", "scores.csv")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small study with attributes, and its evaluation."""
    folder = tmp_path_factory.mktemp("study")
    random = np.random.default_rng(1)
    evidence = random.standard_normal(40)
    lines = ["item,annotator,label"]
    for reader in range(4):
        said = evidence + random.standard_normal(40) > 0
        lines += [f"{i},r{reader},{int(vote)}" for i, vote in enumerate(said)]
    (folder / "votes.csv").write_text("\n".join(lines) + "\n")
    noisy = [evidence + noise * random.standard_normal(40) for noise in (0.3, 0.5, 2.0)]
    lines = ["item,good,fair,[weak]"]
    lines += [
        ",".join([str(i), *map(repr, map(float, x))]) for i, x in enumerate(np.transpose(noisy))
    ]
    (folder / "scores.csv").write_text("\n".join(lines) + "\n")
    lines = ["item,site", *(f"{i},{'north' if i % 2 else 'south'}" for i in range(40))]
    (folder / "items.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def study(made, tmp_path, monkeypatch):
    for path in made.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def equipoise(monkeypatch, capsys):
    """Run one verb in this process; returns exit code, output and messages."""
    monkeypatch.setenv("COLUMNS", "140")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["equipoise", *map(str, words)])
        code = cli.run()
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def table(path):
    return list(csv.DictReader(StringIO(path.read_text())))


def evaluated(equipoise, *words):
    code, _, said = equipoise("evaluate", *FILES, "--replicates", 20, "--out", "run", *words)
    assert code == 0, said


def test_findings_are_printed_with_tables_and_what_is_left_out(study, equipoise):
    code, out, said = equipoise("stability", *FILES, *QUICK, "--sign-test")
    assert code == 0, said
    for words in ("Data drawn anew", "items x panel", "What the lead hangs on", "fewest items",
                  "Without one annotator", "Models among the experts", "[weak]",
                  "Other aggregation models", "This p-value is no evidence", "Left out: ranks",
                  "Left out: groups of items"):  # fmt: skip
        assert words in out, words
    assert sorted(study.iterdir()) == [
        study / f"{one}.csv" for one in ("items", "scores", "votes")
    ]


@pytest.mark.usefixtures("study")
def test_json_is_all_there_is_on_standard_output(equipoise):
    words = ("stability", *FILES, *QUICK, "--only", "ranking,flips", "--json")
    code, out, _ = equipoise(*words)
    facts = json.loads(out)
    assert code == 0 and facts["models"] == ["good", "fair", "[weak]"]
    assert {"ranking", "flips"} <= set(facts) and "experts" not in facts
    assert equipoise(*words)[1] == out


def test_the_folder_holds_everything_and_is_not_overwritten_unasked(study, equipoise):
    words = ("stability", *FILES, *QUICK, "--out", "s")
    code, _, said = equipoise(*words, "--attributes", "items.csv")
    assert code == 0 and "Wrote s" in said
    record = json.loads((study / "s" / "stability.json").read_text())
    there = {str(p.relative_to(study / "s")) for p in (study / "s").rglob("*") if p.is_file()}
    assert there == set(record["files"])
    assert {"report.html", "methods.md", "references.bib", "tables/subgroups.tex"} <= there
    assert any(name.startswith("figures/") and name.endswith(".svg") for name in there)
    rows = table(study / "s/tables/leave_one_out.csv")
    assert float(rows[0]["shift"]) == record["leave_one_out"]["rows"][0]["shift"]
    assert {one["name"] for one in record["inputs"]} == {"votes.csv", "scores.csv"}
    code, _, said = equipoise(*words)
    assert code == 1 and "already holds stability.json, report.html" in said
    assert equipoise(*words, "--overwrite", "--only", "flips")[0] == 0
    assert not (study / "s/tables/subgroups.tex").exists()
    assert (study / "s/tables/flips.tex").exists()


def test_an_interrupt_leaves_nothing_half_written(study, equipoise, monkeypatch):
    from equipoise.run import text_folder

    whole, number = text_folder.write_text, iter(range(5))

    def stopping(path, text):
        if next(number, None) is None:
            raise KeyboardInterrupt
        whole(path, text)

    words = ("stability", *FILES, *QUICK, "--only", "flips", "--out", "s")
    monkeypatch.setattr(text_folder, "write_text", stopping)
    assert equipoise(*words)[0] == 130
    assert sorted(one.name for one in study.iterdir()) == [
        "items.csv",
        "scores.csv",
        "votes.csv",
    ]
    monkeypatch.setattr(text_folder, "write_text", whole)
    assert equipoise(*words)[0] == 0


@pytest.mark.usefixtures("study")
def test_a_run_is_enough(equipoise):
    evaluated(equipoise, "--metrics", "average_precision")
    code, out, said = equipoise("stability", "run", *QUICK, "--only", "flips", "--json")
    assert code == 0, said
    assert json.loads(out)["metrics"][0]["name"] == "average_precision"
    code, _, said = equipoise("stability", "run", *QUICK, "--out", "run")
    assert code == 1 and "holds an evaluation (run.json)" in said and "run-stability" in said


def test_a_run_without_its_files_says_what_to_give(study, equipoise):
    evaluated(equipoise)
    (study / "deep").mkdir()
    (study / "votes.csv").rename(study / "deep" / "votes.csv")
    words = ("stability", "run", *QUICK, "--only", "flips", "--json")
    code, _, said = equipoise(*words)
    assert code == 1
    assert "neither beside the run" in said and "give its place: -a votes.csv" in said
    assert equipoise(*words, "-a", "deep/votes.csv")[0] == 0
    (study / "votes.csv").write_text((study / "deep/votes.csv").read_text() + "0,r9,1\n")
    code, _, said = equipoise(*words)
    assert code == 1 and "'votes.csv' is changed since" in said
    code, _, said = equipoise(*words, "-a", "votes.csv")
    assert code == 0 and "not the file that was evaluated" in said


def test_the_reading_of_a_run_carries_over(study, equipoise):
    text = (study / "votes.csv").read_text()
    (study / "votes.csv").write_text(text.replace("item,", "Study,"))
    evaluated(equipoise, "--columns", "item=Study")
    code, out, said = equipoise("stability", "run", *QUICK, "--only", "flips", "--json")
    assert code == 0, said
    assert json.loads(out)["data"]["items"] == 40


@pytest.mark.parametrize(
    ("words", "told", "exit_code"),
    [
        (("stability",), "nothing to read", 1),
        (("stability", *FILES, "--only", "flip"), "did you mean 'flips'", 2),
        (("stability", *FILES, "--metric", "aurok"), "did you mean 'auroc'", 2),
        (("stability", *FILES, "--labels", "sofd"), "did you mean 'soft'", 2),
        (("stability", *FILES, "--sign-test", "--only", "flips"), "--only leaves out", 2),
        (("stability", *FILES, "--only", "subgroups"), "no attributes of items", 1),
        (("stability", "nowhere"), "no run.json", 1),
        (("stability", "-a", "votse.csv", "-p", "scores.csv"), "did you mean 'votes.csv'", 1),
        (("compare", "good", *FILES), "expected two models", 2),
        (("compare", "good", "wek", *FILES), "expected one of", 1),
        (("report", "nowhere", "--export", "x"), "no run.json", 1),
    ],
)  # fmt: skip
def test_bad_input_is_met_with_a_sentence(study, equipoise, words, told, exit_code):
    before = sorted(study.iterdir())
    quick = () if words[0] == "report" else ("--replicates", "20")
    code, out, said = equipoise(*words, *quick)
    assert code == exit_code, said
    assert told in " ".join(said.replace("│", " ").split()) and not out
    assert sorted(study.iterdir()) == before


@pytest.mark.usefixtures("study")
def test_refusals_speak_of_options(equipoise):
    text = Path("votes.csv").read_text()
    Path("votes.csv").write_text(text.replace(",1\n", ",sick\n").replace(",0\n", ",well\n"))
    for verb in (("stability",), ("compare", "good", "fair")):
        code, _, said = equipoise(*verb, *FILES, *QUICK)
        assert code == 1 and "ask about one class with --positive CLASS" in said
    assert equipoise("compare", "good", "fair", *FILES, *QUICK, "--positive", "sick")[0] == 0


@pytest.mark.usefixtures("study")
def test_two_models_fit_on_one_screen(equipoise):
    code, out, said = equipoise("compare", "good", "[weak]", *FILES, *QUICK)
    assert code == 0, said
    for words in ("By soft auroc good is better than [weak] by", "good minus [weak]",
                  "P(good better)", "changed votes", "The experts' view", "worth"):  # fmt: skip
        assert words in out, words
    assert len(out.splitlines()) < 40
    assert "Resampling: panel" in said
    evaluated(equipoise)
    code, out, _ = equipoise("compare", "run", "good", "[weak]", *QUICK, "--json")
    facts = json.loads(out)
    assert code == 0 and len(facts["differences"]) == 4
    assert facts["differences"][0]["a"] == "good"


def test_a_run_is_exported_for_a_paper(study, equipoise):
    evaluated(equipoise)
    code, _, said = equipoise("report", "run", "--export", "paper")
    assert code == 0 and "methods.md" in said
    header = json.loads((study / "run/run.json").read_text())
    rows = table(study / "paper/tables/values.csv")
    assert [float(row["value"]) for row in rows] == [row["value"] for row in header["rows"]]
    methods = (study / "paper/methods.md").read_text()
    assert "3 models" in methods and f"equipoise {header['equipoise']} (seed 0)" in methods
    assert "efron" in (study / "paper/references.bib").read_text()
    assert r"\toprule" in (study / "paper/tables/agreement.tex").read_text()
    code, _, said = equipoise("report", "run", "--export", "paper")
    assert code == 1 and "there already" in said

"""`equipoise evaluate --pair` and `report --export` as a user meets them."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from equipoise.study.analyses.catalogue import ANALYSES
from tests.cli_sample import FILES, QUICK, flat


def evaluated(equipoise, out="run", *words):
    asked = words or FILES
    code, _, said = equipoise("evaluate", *asked, "--replicates", 20, "--json", "--out", out)
    assert code == 0, said


def table(path):
    return list(csv.DictReader(StringIO(path.read_text())))


def differences(facts):
    """Rows of the close look at two models."""
    return next(one["rows"] for one in facts["findings"] if one["key"] == "comparison")


@pytest.mark.usefixtures("study")
def test_two_models_fit_on_one_screen(equipoise):
    code, out, said = equipoise("evaluate", "--pair", "good", "[weak]", *FILES, *QUICK)
    assert code == 0, said
    for words in ("By soft AUROC good is better than [weak] by",
                  "for items and annotators like these, as a single pair."):  # fmt: skip
        assert words in flat(out), words
    assert len(out.splitlines()) <= 40, out
    code, out, _ = equipoise(
        "evaluate", "--pair", "good", "[weak]", *FILES, *QUICK, "--verbose"
    )
    legend = "Share: of the resamples of items and annotators in which good is"
    for words in ("good against [weak]", ANALYSES["flips"].title, legend):
        assert words in flat(out), words
    evaluated(equipoise)
    code, out, said = equipoise("evaluate", "run", "--pair", "good", "[weak]", *QUICK, "--json")
    facts = json.loads(out)
    assert code == 0 and len(differences(facts)) == 4
    assert differences(facts)[0]["a"] == "good"
    told = next(one for one in facts["findings"] if one["key"] == "pair_flips")
    assert told["title"].startswith("good against [weak]: ")


@pytest.mark.usefixtures("study")
def test_lower_is_better_is_marked(equipoise):
    text = Path("scores.csv").read_text().splitlines()
    rows = [line.split(",") for line in text]
    squashed = [
        [row[0], *(f"{min(max(float(x) / 8 + 0.5, 0), 1)}" for x in row[1:])]
        for row in rows[1:]
    ]
    lines = [",".join(row) for row in (rows[0], *squashed)]
    Path("scores.csv").write_text("\n".join(lines) + "\n")
    words = (
        "evaluate",
        "--pair",
        "good",
        "[weak]",
        *FILES,
        *QUICK,
        "--metric",
        "brier_score,auroc",
    )
    code, out, said = equipoise(*words, "--verbose")
    assert code == 0, said
    assert "a difference below 0 speaks for the first" in flat(out)
    better = "By Brier score good is better than [weak]" in flat(out)
    code, out, _ = equipoise(*words, "--json")
    value = next(
        one["value"] for one in differences(json.loads(out))
        if (one["metric"], one["labels"]) == ("brier_score", "soft")
    )  # fmt: skip
    assert better == (value < 0)


def test_tables_for_a_paper(study, equipoise):
    words = ("evaluate", "--pair", "good", "fair", *FILES, *QUICK, "--out", "c")
    code, out, _ = equipoise(*words)
    assert code == 0 and "c/report.html" in out
    code, out, _ = equipoise("report", "c", "--json")
    record = json.loads(out)
    assert equipoise("report", "c", "--export", "paper")[0] == 0
    rows = table(study / "paper/tables/pair.csv")
    assert [float(row["value"]) for row in rows] == [
        one["value"] for one in differences(record)
    ]
    assert "3 models" in (study / "paper/methods.md").read_text()
    code, _, said = equipoise(*words)
    assert code == 1 and "already holds a run (run.json, report.html)" in said
    assert equipoise(*words, "--overwrite")[0] == 0


@pytest.mark.parametrize(
    ("words", "told", "exit_code"),
    [
        (("evaluate", *FILES, "--pair", "good"), "requires 2 arguments", 2),
        (("evaluate", "--pair", "good", "fair"), "nothing to read", 1),
        (
            ("evaluate", "--pair", "good", "fair", *FILES, "--resample", "item"),
            "did you mean 'items'",
            2,
        ),
        (("evaluate", "--pair", "good", "wek", *FILES), "expected one of", 1),
        (("evaluate", "--pair", "good", "good", *FILES), "twice", 1),
        (("evaluate", "nowhere", "--pair", "good", "fair"), "no run.json", 1),
        (("report", "nowhere", "--export", "x"), "no run.json", 1),
    ],
)
def test_bad_input_is_met_with_a_sentence(study, equipoise, words, told, exit_code):
    before = sorted(study.iterdir())
    code, out, said = equipoise(*words)
    assert code == exit_code and told in flat(said) and not out
    assert sorted(study.iterdir()) == before


def test_a_run_is_exported_for_a_paper(study, equipoise):
    evaluated(equipoise)
    code, _, said = equipoise("report", "run", "--export", "paper")
    there = {one.stem for one in (study / "paper/tables").iterdir()}
    figures = len(list((study / "paper/figures").iterdir()))
    told = f"{len(there)} tables (CSV, Markdown, LaTeX), {figures} figures, methods.md"
    assert code == 0 and told in said
    assert {"values", "differences", "distance", "agreement", "disputed"} <= there
    header = json.loads((study / "run/run.json").read_text())
    rows = table(study / "paper/tables/values.csv")
    assert [float(row["value"]) for row in rows] == [row["value"] for row in header["rows"]]
    methods = (study / "paper/methods.md").read_text()
    assert "3 models" in methods and f"equipoise {header['equipoise']}" in methods
    assert "(seed 0)" in methods
    assert "owen2007" in (study / "paper/references.bib").read_text()
    assert r"\toprule" in (study / "paper/tables/agreement.tex").read_text()


def test_an_export_is_only_replaced_if_asked(study, equipoise):
    evaluated(equipoise)
    assert equipoise("report", "run", "--export", "paper")[0] == 0
    (study / "paper/methods.md").write_text("old")
    for mine in ("mine.txt", "stability.json"):
        (study / "paper" / mine).write_text("mine")
    code, _, said = equipoise("report", "run", "--export", "paper")
    assert code == 1 and "there already" in said and "--overwrite" in said
    assert (study / "paper/methods.md").read_text() == "old"
    text = Path("votes.csv").read_text()
    lines = [line for line in text.splitlines() if ",r0," in line or line.startswith("item")]
    Path("votes.csv").write_text("\n".join(lines) + "\n")
    evaluated(equipoise, "alone")
    assert equipoise("report", "alone", "--export", "paper", "--overwrite")[0] == 0
    assert "We" in (study / "paper/methods.md").read_text()
    record = json.loads((study / "alone/run.json").read_text())
    keys = [one["key"] for one in record["report"]["findings"]]
    assert ("agreement" in keys) == (study / "paper/tables/agreement.csv").exists()
    for mine in ("mine.txt", "stability.json"):
        assert (study / "paper" / mine).read_text() == "mine"
    code, _, said = equipoise("report", "run", "--overwrite")
    assert code == 2 and "belongs to --export" in said

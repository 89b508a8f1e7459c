"""Systems whose outputs people judge, on the command line: one file, every verb, the folder."""

import csv
import json

import pytest

from equipoise.cli import run as command_line
from tests.study.test_judged import preferences, ratings


def call(monkeypatch, capsys, *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["equipoise", *words])
    code = command_line()
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, table in (("ratings", ratings(20, 4, 5)[0]), ("pairs", preferences()[0])):
        rows = table.to_pylist()
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_file_of_ratings_gives_the_answer_the_page_and_the_folder(
    folder, monkeypatch, capsys
):
    code, out, _ = call(monkeypatch, capsys, "evaluate", "ratings.csv", "--out", "run")
    assert code == 0
    assert "4 systems, 80 outputs, 5 annotators" in out
    assert "by mean rating," in out
    words = "80 outputs of 20 items, each rated by the same five annotators"
    assert words in " ".join(out.split())
    assert "hard labels" not in out
    record = json.loads((folder / "run" / "run.json").read_text())
    assert [metric["name"] for metric in record["metrics"]] == ["mean_rating"]
    assert "models" not in out.split("Page")[0].replace("by mean rating", "")
    code, again, _ = call(monkeypatch, capsys, "evaluate", "run", "--margin", "0.5")
    assert code == 0
    assert "Within the margin" in again or "within the margin" in again


@pytest.mark.usefixtures("folder")
def test_preferences_have_win_rates_and_strengths(monkeypatch, capsys):
    code, out, _ = call(monkeypatch, capsys, "evaluate", "pairs.csv")
    assert code == 0
    assert "by win rate," in out
    assert "Strengths" in out


@pytest.mark.usefixtures("folder")
def test_a_check_says_what_was_judged_and_writes_one_file(monkeypatch, capsys):
    code, out, _ = call(monkeypatch, capsys, "check", "ratings.csv", "--out", "study.csv")
    assert code == 0
    assert "What was judged?" in out
    assert "its columns name systems" in " ".join(out.split())
    first = call(monkeypatch, capsys, "evaluate", "ratings.csv", "--json")[1]
    second = call(monkeypatch, capsys, "evaluate", "study.csv", "--json")[1]
    both = [json.loads(text)["answer"]["answer"] for text in (first, second)]
    assert both[0] == both[1]


def test_other_names_of_columns_may_be_said(folder, monkeypatch, capsys):
    text = (folder / "ratings.csv").read_text().replace("rating", "points", 1)
    (folder / "other.csv").write_text(text.replace("system", "contestant", 1))
    code, out, _ = call(
        monkeypatch, capsys, "evaluate", "other.csv",
        "--columns", "system=contestant,rating=points",
    )  # fmt: skip
    assert code == 0
    assert "by mean rating," in out


@pytest.mark.usefixtures("folder")
def test_ratings_may_be_normalised_by_annotator(monkeypatch, capsys):
    code, out, err = call(monkeypatch, capsys, "evaluate", "ratings.csv", "--normalise", "z")
    assert code == 0
    assert "standard deviations of every annotator" in " ".join((out + err).split())
    code, out, err = call(monkeypatch, capsys, "evaluate", "pairs.csv", "--normalise", "z")
    assert code == 1
    assert "normalise: preferences" in " ".join(err.split())


def test_a_lone_table_of_results_is_said_to_be_read_as_such(folder, monkeypatch, capsys):
    lines = ["item,x,y", *(f"q{k},{k % 3},{k % 5}" for k in range(30))]
    (folder / "results.csv").write_text("\n".join(lines) + "\n")
    code, out, err = call(monkeypatch, capsys, "evaluate", "results.csv")
    assert code == 0
    assert "by mean score," in out
    assert "if these are predictions of labels, give the votes too" in " ".join(err.split())

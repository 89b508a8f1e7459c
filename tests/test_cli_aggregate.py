"""`equipoise aggregate` as a user meets it: tables, warnings, JSON, and refused input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise import read_plausibilities
from tests.test_choosing import crowd


def run(*words, cwd):
    done = subprocess.run(
        [sys.executable, "-m", "equipoise", "aggregate", *words],
        cwd=cwd, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "COLUMNS": "120"},
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture
def folder(tmp_path):
    _, votes = crowd([0.9, 0.8, 0.6], items=30)
    rows = zip(votes.item, votes.annotator, votes.label, strict=True)
    lines = ["item,annotator,label", *(f"i{i},r{a},{k}" for i, a, k in rows)]
    (tmp_path / "votes.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_command_line_shows_items_annotators_and_models(folder):
    done = run("votes.csv", "--compare", "--out", "truth.npz", cwd=folder)
    assert done.returncode == 0, done.stderr
    for words in (
        "Most ambiguous items",
        "Annotators",
        "held out log likelihood",
        "dawid_skene",
    ):
        assert words in done.stdout
    assert "because annotators are known" in done.stderr
    assert read_plausibilities(folder / "truth.npz").method == "Dawid-Skene (full)"
    assert {path.name for path in folder.iterdir()} == {"votes.csv", "truth.npz"}


def test_json_is_all_there_is_on_standard_output(folder):
    done = run("votes.csv", "--model", "dirichlet", "--json", cwd=folder)
    facts = json.loads(done.stdout)
    assert facts["model"] == "dirichlet"
    assert len(facts["items"]) == 30
    assert sum(facts["items"][0]["plausibility"].values()) == pytest.approx(1)
    assert {row["annotator"] for row in facts["annotators"]} == {"r0", "r1", "r2"}


def test_wrong_words_and_refused_input(folder):
    wrong = run("votes.csv", "--model", "dawid_skeen", cwd=folder)
    assert wrong.returncode == 2
    assert "did you mean 'dawid_skene'?" in " ".join(wrong.stderr.replace("│", " ").split())
    refused = run("votes.csv", "--model", "dawid_skene", "--exchangeable", cwd=folder)
    assert refused.returncode == 1
    assert "expected annotators with ids" in refused.stderr
    (folder / "tasks.csv").write_text("item,annotator,label,task\na,x,1,t\na,x,0,u\n")
    several = run("tasks.csv", cwd=folder)
    assert several.returncode == 1
    assert "choose one with --task" in several.stderr
    assert run("tasks.csv", "--task", "t", cwd=folder).returncode == 0


def test_rankings_are_aggregated_too(tmp_path):
    (tmp_path / "ddx.json").write_text("[[[[0], [1, 2]], [[0]]], [[[3]], [[1], [3]]]]")
    done = run("ddx.json", "--compare", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["model"] == "plackett_luce"
    assert {row["model"] for row in facts["comparison"]} >= {"plackett_luce", "inverse_rank"}
    assert Path(tmp_path / "ddx.json").exists()


def real(name):
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds votes/")
    return str(Path(os.environ["EQUIPOISE_DATA"]) / "votes" / name)


def test_auto_warns_where_annotators_lean(tmp_path):
    done = run(real("bluebirds.csv"), "--json", cwd=tmp_path)
    facts = json.loads(done.stdout)
    assert [row["model"] for row in facts["comparison"]] == ["dawid_skene", "glad", "mean_vote"]
    pairs = {row["models"]: row for row in facts["decisions"]}
    assert pairs["dawid_skene, glad"]["share"] > 0.1
    warned = [one for one in facts["notices"] if one.startswith("The models disagree")]
    assert len(warned) == 1
    assert "dawid_skene and glad decide" in warned[0]
    assert "dawid_skene does better" in warned[0]
    assert warned[0] in done.stderr


def test_compare_shows_how_models_rank_annotators(tmp_path):
    done = run(real("bluebirds.csv"), "--compare", cwd=tmp_path)
    assert "How models rank annotators" in done.stdout
    assert "Items decided differently" in done.stdout
    assert "-inf" in done.stdout
    assert done.stderr.count("a held-out vote got chance 0") == 1
    facts = json.loads(run(real("bluebirds.csv"), "--compare", "--json", cwd=tmp_path).stdout)
    (ranks,) = facts["skill_ranks"]
    assert ranks["models"] == "dawid_skene, glad"
    assert -1 <= ranks["rank_correlation"] < 1
    assert len(ranks["move_most"]) == 3
    assert {row["held_out_log_likelihood"] for row in facts["comparison"]} >= {"-inf"}


def test_ratings_on_the_command_line(tmp_path):
    words = (real("emotion_scores.csv"), "--kind", "interval")
    refused = run(*words, cwd=tmp_path)
    assert refused.returncode == 1
    assert "here -100 to 100; say where ratings become 'at least': --threshold 0 is midway" in (
        refused.stderr
    )
    done = run(*words, "--threshold", "0", "--compare", "--json", cwd=tmp_path)
    facts = json.loads(done.stdout)
    assert facts["model"] == "normal"
    assert facts["parameters"]["threshold"] == 0
    assert any("likelihood of ratings is not held out" in one for one in facts["notices"])
    assert {"mean_rating", "above_the_item_mean"} <= set(facts["annotators"][0])


def test_the_bootstrap_on_the_command_line(folder):
    done = run("votes.csv", "--bootstrap", "6", "--out", "truth.npz", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "annotator bootstrap of Dawid-Skene (full) (6 draws)" in done.stdout
    assert read_plausibilities(folder / "truth.npz").draws == 6


def test_models_that_agree_are_said_to_agree(tmp_path):
    lines = [f"i{i},r{a},{i % 2}" for i in range(12) for a in range(4)]
    (tmp_path / "votes.csv").write_text("\n".join(["item,annotator,label", *lines]) + "\n")
    done = run("votes.csv", cwd=tmp_path)
    assert "All models decide every item alike." in done.stdout
    assert "Every item is unanimous" in done.stderr
    assert "disagree:" not in done.stderr

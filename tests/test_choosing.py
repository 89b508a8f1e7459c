"""Choosing a model: what fits, held-out votes, where models differ, and what to beware of."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from equipoise import Annotations, InputError, read_plausibilities
from equipoise.choosing import cautions, disagreement, fitted, held_out, recommended, suitable


def crowd(skills, items=120, seed=0, **more):
    """Yes/no votes of annotators with the given chances of being right."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, items)
    right = random.random((len(skills), items)) < np.array(skills)[:, None]
    annotator, item = (axis.ravel() for axis in np.indices(right.shape))
    return truth, Annotations(
        kind="binary", items=tuple(f"i{i}" for i in range(items)), classes=("no", "yes"),
        annotators=tuple(f"r{a}" for a in range(len(skills))), item=item, annotator=annotator,
        label=np.where(right, truth, 1 - truth).ravel(), **more,
    )  # fmt: skip


def test_models_are_offered_by_kind():
    _, votes = crowd([0.8, 0.7, 0.9])
    assert recommended(votes)[0] == "dawid_skene"
    assert recommended(votes.anonymous())[0] == "dirichlet"
    assert "dawid_skene" not in suitable(votes.anonymous())
    readings = Annotations.from_rankings([[[[0], [1]]]], classes=["a", "b", "c"])
    assert recommended(readings)[0] == "plackett_luce"
    ratings = Annotations(kind="interval", items=("a",), item=np.array([0]), value=np.ones(1))
    with pytest.raises(InputError, match="expected classes or rankings"):
        recommended(ratings)


def test_held_out_votes_prefer_the_model_that_made_them():
    _, skilled = crowd([0.95, 0.9, 0.6, 0.55, 0.5, 0.1])
    scores = held_out(skilled, ["dawid_skene", "dirichlet", "majority_vote"])
    assert scores["dawid_skene"] > scores["dirichlet"] > scores["majority_vote"]
    assert scores["majority_vote"] == -np.inf
    assert held_out(skilled, ["dirichlet"]) == held_out(skilled, ["dirichlet"])
    assert held_out(skilled, ["dirichlet"], seed=1) != held_out(skilled, ["dirichlet"])


def test_a_held_out_vote_by_hand():
    votes = Annotations(
        kind="binary", items=("a",), classes=("no", "yes"), annotators=("x", "y"),
        item=np.array([0, 0]), annotator=np.array([0, 1]), label=np.array([1, 1]),
    )  # fmt: skip
    expected = np.log(2 / 3)  # one yes is left: Dirichlet(1, 2)
    assert held_out(votes, ["dirichlet"], folds=2)["dirichlet"] == pytest.approx(expected)


def test_disagreement_is_the_largest_total_variation():
    _, votes = crowd([0.9, 0.6, 0.6])
    fits = fitted(votes, ["mean_vote", "majority_vote"], "")
    gap = np.abs(fits["mean_vote"].mean - fits["majority_vote"].mean).sum(axis=1) / 2
    assert np.allclose(disagreement(fits), gap)


def test_odd_annotators_are_named():
    _, votes = crowd([0.9, 0.9, 0.85, 0.5, 0.05], items=600)
    label = votes.label.copy()
    label[votes.annotator == 2] = 1
    from dataclasses import replace

    said = " ".join(cautions(replace(votes, label=label)))
    assert "always give the same answer: 'r2'" in said
    assert "hardly tell the classes apart: 'r3'" in said
    assert "turn the classes around: 'r4'" in said


def test_degenerate_data_are_cautioned():
    truth, votes = crowd([0.8, 0.9, 0.7])
    assert not [one for one in cautions(votes) if "groups" in one or "unanimous" in one]
    from dataclasses import replace

    same = replace(votes, label=truth[votes.item])
    assert any("unanimous" in one for one in cautions(same))
    keep = (votes.annotator == 0) == (votes.item < 60)
    apart = replace(
        votes, item=votes.item[keep], annotator=votes.annotator[keep], label=votes.label[keep]
    )
    assert any("2 groups that share no item" in one for one in cautions(apart))
    one = Annotations(
        kind="binary", items=("a", "b"), classes=("no", "yes"), annotators=("x",),
        item=np.array([0, 1]), annotator=np.zeros(2, int), label=np.array([0, 1]),
    )  # fmt: skip
    assert any("only one annotator" in said for said in cautions(one))


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

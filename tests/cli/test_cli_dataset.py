"""`--dataset`: a public data set in place of files."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from tests.cli_sample import caller, flat, write_study

needs_data = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ, reason="set EQUIPOISE_DATA to a folder with data sets"
)


@pytest.fixture
def equipoise(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


@needs_data
def test_a_run_names_its_data_set_and_is_reopened(equipoise):
    words = ("evaluate", "--dataset", "chexpert", "--metrics", "auroc", "--replicates", 10)
    code, _, said = equipoise(*words, "--out", "deep/run", "--json")
    assert code == 0, said
    text = Path("deep/run/run.json").read_text()
    header = json.loads(text)
    assert header["dataset"]["name"] == "chexpert" and header["dataset"]["citation"]
    assert header["title"] == "chexpert"
    assert len(header["inputs"]) == 18 and {one["role"] for one in header["inputs"]} == {
        "data set"
    }
    assert all(one["bytes"] > 0 and len(one["sha256"]) == 64 for one in header["inputs"])
    assert os.environ["EQUIPOISE_DATA"] not in text
    code, out, said = equipoise("evaluate", "deep/run", "--pair", "ihil", "drnet",
                                "--replicates", 10, "--most", 2, "--json")  # fmt: skip
    assert code == 0, said
    facts = json.loads(out)
    values = {
        (row["task"], row["model"], row["labels"]): row["value"] for row in header["rows"]
    }
    close = next(one for one in facts["findings"] if one["key"] == "comparison")
    for row in close["rows"]:
        two = [values[row["task"], model, row["labels"]] for model in (row["a"], row["b"])]
        assert row["value"] == pytest.approx(two[0] - two[1], abs=1e-12)
    code, _, said = equipoise("evaluate", "--full", "deep/run", "--dataset", "chexpert")
    assert code == 2 and "which has its own data" in flat(said)


@needs_data
def test_own_predictions_meet_published_votes(equipoise):
    from equipoise.datasets import load_cifar10h

    votes = load_cifar10h().annotations
    code, _, said = equipoise("evaluate", "--dataset", "cifar10h", "--metrics", "accuracy")
    assert code == 1 and "no predictions are published with it" in flat(said)
    sure = np.eye(10, dtype=int)[np.random.default_rng(0).integers(0, 10, len(votes.items))]
    lines = [
        f"{item},mine,{','.join(map(str, row))}"
        for item, row in zip(votes.items, sure, strict=True)
    ]
    head = f"item,model,{','.join(votes.classes)}"
    Path("mine.csv").write_text("\n".join([head, *lines]) + "\n")
    words = ("--dataset", "cifar10h", "-p", "mine.csv", "--metrics", "accuracy")
    code, out, said = equipoise("evaluate", *words, "--replicates", 5, "--json")
    assert code == 0, said
    assert json.loads(out)["rows"][0]["value"] == pytest.approx(0.1, abs=0.02)


@needs_data
def test_truth_alone_and_agreement(equipoise):
    words = ("--dataset", "chexpert", "--task", "Edema", "--json")
    code, out, said = equipoise("aggregate", *words)
    assert code == 0, said
    told = json.loads(out)
    assert told["dataset"]["name"] == "chexpert" and len(told["inputs"]) == 18
    code, out, _ = equipoise("agreement", *words, "--replicates", 5)
    assert code == 0 and json.loads(out)["tasks"][0]["task"] == "Edema"


@pytest.mark.parametrize(
    ("words", "told", "exit_code"),
    [
        (("evaluate", "--dataset", "chexpart"), "did you mean 'chexpert'", 2),
        (("evaluate", "--json"), "nothing to read", 1),
        (("evaluate", "-a", "votes.csv"), "-p", 1),
        (("evaluate", "-a", "votes.csv", "--dataset", "chexpert"), "one of the two", 2),
        (("aggregate", "--compare"), "give ANNOTATIONS, or --dataset NAME", 2),
        (("aggregate", "votes.csv", "--dataset", "chexpert"), "one of the two", 2),
        (("evaluate", "--dataset", "chexpert", "--layout", "wide"), "read as it is", 2),
        (("plan", "--dataset", "chexpert", "--kind", "binary"), "read as it is", 2),
        (("evaluate", "--dataset", "chexpert", "--prediction-layout", "wide"),
         "read as it is", 2),
    ],
)  # fmt: skip
def test_wrong_usage_is_met_with_a_sentence(tmp_path, equipoise, words, told, exit_code):
    write_study(tmp_path)
    code, out, said = equipoise(*words)
    assert code == exit_code and told in flat(said + out)

"""Bad input to aggregation models, in Python and on the command line: four parts each."""

import json
from dataclasses import replace

import numpy as np
import pytest

from equipoise import Annotations, InputError
from equipoise.truth import CATALOGUE, dawid_skene
from tests.cli_sample import equipoise
from tests.truth.test_aggregate_honours import MODELS, crowd, readings, table_for

VOTES = "item,annotator,label\n" + "".join(
    f"i{i},r{a},{(i + a * i) % 2}\n" for i in range(6) for a in range(3)
)
BAD = {
    "anonymous": ("item,label\na,1\na,0\n", ("--model", "dawid_skene"), "annotators with ids"),
    "slots": (VOTES, ("--model", "glad", "--exchangeable"), "annotators with ids"),
    "bootstrap of slots": (VOTES, ("--bootstrap", "5", "--exchangeable"), "with names"),
    "gold outside the classes": (
        "item,annotator,label,is_gold\na,x,0,0\na,y,1,0\nb,x,2,1\n",
        ("--classes", "0,1"), "'2'",
    ),
    "weight zero": (
        "item,annotator,label,weight\na,x,0,1\na,y,1,0\n", (), "a positive number"
    ),
    "weight negative": ("item,annotator,label,weight\na,x,0,1\na,y,1,-2\n", (), "positive"),
    "three classes of a yes/no question": (
        VOTES, ("--kind", "binary", "--classes", "0,1,2"), "two",
    ),
    "no threshold": (VOTES, ("--kind", "interval"), "--threshold 0.5 is midway"),
    "a threshold for classes": (VOTES, ("--threshold", "0.5"), "takes classes, not ratings"),
    "no such setting": (
        VOTES, ("--model", "dawid_skene", "--reliability", "2"), "it has no such setting",
    ),
    "a reliability of zero": (
        VOTES, ("--model", "dirichlet", "--reliability", "0"), "a reliability above 0",
    ),
    "ordinal model on classes": (VOTES, ("--model", "dawid_skene_ordinal"), "ordinal"),
    "normal on classes": (VOTES, ("--model", "normal", "--threshold", "1"), "interval"),
    "unknown task": (VOTES, ("--task", "t"), "there is only one"),
}  # fmt: skip
BAD_RANKINGS = {
    "a case without readings": ("[[[[0], [1]]], []]", (), "reading"),
    "a reading without classes": ("[[[[0], [1]]], [[]]]", (), ""),
    "overlapping blocks": ("[[[[0, 1], [1]]]]", (), "twice"),
    "a ranking on a yes/no model": ("[[[[0], [1]]]]", ("--model", "glad"), "one label"),
    "a ranking on a model of annotators": (
        "[[[[0], [1]]]]", ("--model", "dawid_skene"), "one label per vote",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", [*BAD, *BAD_RANKINGS])
def test_bad_input_is_one_line_of_four_parts(case, tmp_path):
    text, words, expected = {**BAD, **BAD_RANKINGS}[case]
    name = "votes.csv" if case in BAD else "rankings.json"
    (tmp_path / name).write_text(text)
    done = equipoise("aggregate", name, *words, cwd=tmp_path)
    assert done.returncode == 1, done.stderr + done.stdout
    assert not done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("equipoise: ")
    assert ", expected " in line and "; " in line and ": " in line
    assert expected in line


def test_bad_input_in_python():
    votes = crowd()
    for name in ("dawid_skene", "glad", "dawid_skene_ordinal"):
        with pytest.raises(InputError):
            CATALOGUE[name](readings())
        with pytest.raises(InputError):
            MODELS[name](table_for(name).anonymous())
    with pytest.raises(InputError, match="annotators with ids"):
        dawid_skene(Annotations.from_counts(np.array([[3, 1], [0, 2]])))
    with pytest.raises(InputError, match="column label: codes 0 to 2, expected 0 to 1"):
        replace(
            votes, label=np.where(np.arange(len(votes)) == 0, 2, votes.label),
            is_gold=np.arange(len(votes)) == 0,
        )  # fmt: skip
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="column weight"):
            replace(votes, weight=np.full(len(votes), wrong))
    with pytest.raises(InputError, match="twice in one ranking"):
        Annotations.from_rankings([[[[0, 1], [1]]]], classes=["p", "q"])
    with pytest.raises(InputError, match="3 classes, expected two"):
        replace(votes, classes=("no", "yes", "maybe"))
    for bad in (0, -1, np.inf, np.nan):
        for name in ("dirichlet", "probabilistic_inverse_rank"):
            with pytest.raises(InputError, match="reliability"):
                CATALOGUE[name](votes, reliability=bad)


def test_a_seed_not_given_is_a_default_that_is_recorded(tmp_path):
    (tmp_path / "votes.csv").write_text(VOTES)
    words = ("aggregate", "votes.csv", "--bootstrap", "4", "--json")
    done = equipoise(*words, cwd=tmp_path)
    facts = json.loads(done.stdout)
    assert facts["seed"] == 0
    assert facts["settings"]["seed"] == 0
    again = equipoise(*words, "--seed", "0", cwd=tmp_path)
    other = equipoise(*words, "--seed", "9", cwd=tmp_path)
    assert again.stdout == done.stdout != other.stdout
    assert json.loads(other.stdout)["settings"]["seed"] == 9

"""Notices: named by what they are about, said once, in the words of the terminal."""

import numpy as np

from equipoise import Annotations, InputError, Predictions, evaluate
from equipoise.truth import majority_vote
from equipoise.types import ONE_CLASS, Option, hint, worded
from tests.cli_sample import flat

TASKS = ("heart", "lung")


def fits(ties):
    """Majorities of two tasks, in each of which so many of six items tie."""
    rows = [
        (item, task, vote)
        for task, number in enumerate(ties)
        for item in range(6)
        for vote in ((0, 1) if item < number else (item % 2, item % 2))
    ]
    item, task, label = np.array(rows).T
    votes = Annotations(
        kind="binary", items=tuple("abcdef"), classes=("no", "yes"), tasks=TASKS,
        item=item, task=task, label=label,
    )  # fmt: skip
    return [majority_vote(votes, task=name) for name in TASKS]


def scored(ties):
    models = [
        Predictions("net", tuple("abcdef"), np.linspace(0, 1, 6), task=name) for name in TASKS
    ]
    return evaluate(models, fits(ties), metrics=["auroc"]).notices


def majorities(ties):
    """Sentences on ties of the fits, each thing said once."""
    return [one for one in worded(scored(ties)) if "with most votes" in one]


def test_a_notice_of_one_fit_names_its_task():
    assert any("(heart 2, lung 3)" in one for one in majorities((2, 3)))
    said = "heart: 2 items have several classes with most votes, which share them."
    assert said in majorities((2, 0))


def test_what_holds_for_every_fit_is_said_once():
    (said,) = (one for one in majorities((2, 2)) if one.startswith("2 items have"))
    told = "2 items have several classes with most votes, which share them (heart and lung)."
    assert said == told


def test_a_verb_names_the_options_that_it_has(equipoise, tmp_path):
    (tmp_path / "odd.csv").write_text("item,annotator,label\na,x,1.5\nb,x,2.5\na,y,1.5\n")
    code, _, said = equipoise("agreement", tmp_path / "odd.csv")
    assert code == 1
    assert "say --kind interval, or --kind ordinal with --classes lowest,...,highest" in said
    ranked = tmp_path / "ranked.csv"
    ranked.write_text("item,annotator,label,rank\na,x,u,1\na,x,v,2\na,y,u,1\nb,y,v,1\n")
    code, _, said = equipoise("aggregate", ranked, "--model", "dawid_skene")
    assert code == 1 and "ask about one class with --positive CLASS" in said


def test_a_file_of_predictions_has_options_of_its_own(equipoise, tmp_path):
    (tmp_path / "votes.csv").write_text("item,annotator,label\na,x,no\nb,x,yes\n")
    (tmp_path / "scores.csv").write_text("item,scor\na,1\nb,2\n")
    files = ("-a", tmp_path / "votes.csv", "-p", tmp_path / "scores.csv")
    for verb in ("evaluate",):
        code, _, said = equipoise(verb, *files)
        assert code == 1 and "if not, say --prediction-layout NAME" in said


def test_names_of_the_user_are_left_alone(equipoise, tmp_path):
    names = ("at_least", "positive=", "kind='x'")
    votes = [f"{i},{who},{(i + n) % 2}" for i in range(6) for n, who in enumerate("xyz")]
    (tmp_path / "votes.csv").write_text("\n".join(["item,annotator,label", *votes]))
    rows = [",".join([str(i), str(i), str(-i), str(i % 3)]) for i in range(5)]
    (tmp_path / "scores.csv").write_text("\n".join([",".join(["item", *names]), *rows]))
    files = ("-a", tmp_path / "votes.csv", "-p", tmp_path / "scores.csv", "--replicates", 20)
    code, _, said = equipoise("evaluate", *files)
    assert code == 1 and said.startswith("equipoise: predictions of 'at_least'")
    assert "--on-missing drop" in said
    code, out, said = equipoise("evaluate", *files, "--on-missing", "drop")
    assert code == 0, said
    for name in names:
        assert name in out
    assert "--at-least" not in out + said and "--positive" not in out + said


def test_numbers_read_as_classes_are_noted_in_options(equipoise, tmp_path):
    rows = [f"{i},{who},{(i + n) % 3}" for i in range(6) for n, who in enumerate("xy")]
    (tmp_path / "votes.csv").write_text("\n".join(["item,annotator,label", *rows]))
    code, _, said = equipoise("aggregate", tmp_path / "votes.csv")
    assert code == 0
    assert "say --kind ordinal with --classes 0,1,2 for grades, or --kind interval" in flat(
        said
    )


def test_options_that_a_verb_lacks_are_said_in_python():
    advice = hint("ask with {}, or read with {}", ONE_CLASS, Option("kind", "interval"))
    refused = InputError("x", "y", "z", advice)
    kind, asking = (refused.in_command({name}) for name in ("kind", "positive"))
    assert kind.endswith("ask with against(), or read with --kind interval")
    assert asking.endswith("ask with --positive CLASS, or read with kind='interval'")

"""Notices: named by what they are about, said once, in the words of the terminal."""

import numpy as np

from equipoise import Annotations, InputError, Predictions, evaluate
from equipoise.aggregate import majority_vote
from equipoise.cli._hints import ASKING, in_options, spoken
from equipoise.cli._notices import merged, told_in_options

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


def test_a_notice_of_one_fit_names_its_task():
    said = [one for one in scored((2, 3)) if "no strict majority." in one]
    assert said == [
        "heart: 2 items have no strict majority.", "lung: 3 items have no strict majority.",
    ]  # fmt: skip
    assert merged(said, TASKS) == ["2 to 3 items have no strict majority (heart 2, lung 3)."]
    assert [one for one in scored((2, 0)) if "no strict majority." in one] == [
        "heart: 2 items have no strict majority."
    ]


def test_what_holds_for_every_fit_is_said_once():
    said = [one for one in scored((2, 2)) if "no strict majority." in one]
    assert said == ["2 items have no strict majority."]


def test_python_is_spelt_as_options():
    assert in_options("choose labels='soft', or unit='items'") == "choose --labels soft"
    assert in_options("keep one with repeats='last'") == "keep one with --repeats last"
    assert in_options("give attributes such as sex") == (
        "give --attributes FILE with columns such as sex"
    )
    error = InputError("x", "y", "z", "ask about one class with against()")
    assert spoken(error, ASKING).do == "ask about one class with --positive CLASS"


def test_every_sentence_of_facts_is_translated():
    told = {
        "tasks": ["a"], "notices": ["Try labels='soft'.", "Try labels='soft'."],
        "flips": {
            "finding": "Try kind='ordinal'.", "findings": ["Try on_missing='drop'."],
            "notices": ["a: Try repeats='last'."], "rows": [{"item": "kind='x'"}],
        },
        "experts": {"left_out": "ask about one class with against()."},
    }  # fmt: skip
    found = told_in_options(told)
    assert found["notices"] == ["Try --labels soft."]
    assert found["flips"] == {
        "finding": "Try --kind ordinal.", "findings": ["Try --on-missing drop."],
        "notices": ["a: Try --repeats last."], "rows": [{"item": "kind='x'"}],
    }  # fmt: skip
    assert found["experts"]["left_out"] == "ask about one class with --positive CLASS."
    assert told["notices"][0] == "Try labels='soft'."

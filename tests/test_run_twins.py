"""Models with the same predictions are named, task by task, in one sentence."""

import numpy as np

from equipoise import Annotations, Predictions, evaluate, resample
from equipoise.run.compare import compare_facts
from equipoise.run.stability import StabilityHow, stability_facts
from equipoise.run.twins import identical, twin_facts, twin_notices
from tests.strategies import names

ITEMS = 30
RANDOM = np.random.default_rng(3)
SAYS = RANDOM.integers(0, 2, (ITEMS, 3))
SCORES = RANDOM.random((3, ITEMS))
TASKS = ("lung", "heart")


def votes():
    item, annotator = (axis.ravel() for axis in np.indices(SAYS.shape))
    return Annotations(
        kind="binary", items=names(ITEMS), classes=("no", "yes"), item=np.tile(item, 2),
        annotator=np.tile(annotator, 2), annotators=names(3, "reader"),
        label=np.tile(SAYS.ravel(), 2), tasks=TASKS, task=np.repeat([0, 1], SAYS.size),
    )  # fmt: skip


def models():
    """The second is a copy of the first for one task, the third of nobody."""
    given = []
    for number, name in enumerate(("first", "copy", "other")):
        for task in TASKS:
            source = 0 if name == "copy" and task == "lung" else number
            given.append(Predictions(name, names(ITEMS), SCORES[source] + 0.0, task=task))
    return given


def test_twins_are_found_by_task():
    done = evaluate(models(), votes(), resampling=resample(votes(), "items", replicates=2))
    found = twin_facts(done)
    assert found == [{"models": ["first", "copy"], "tasks": ["lung"], "whole": False}]
    assert identical(found, ("copy", "first"), "lung")
    assert not identical(found, ("copy", "first"), "heart")
    assert not identical(found, ("copy", "other"), "lung")


def test_a_score_that_differs_on_one_item_makes_no_twin():
    near = [
        Predictions("first", names(ITEMS), SCORES[0], task="lung"),
        Predictions("near", names(ITEMS), SCORES[0] + 1e-12 * np.eye(ITEMS)[4], task="lung"),
    ]
    how = StabilityHow(metrics=["auroc"], replicates=5, only=["flips"], on_missing="drop")
    assert stability_facts(near, votes(), how)["twins"] == []


def test_stability_and_compare_say_so_once():
    how = StabilityHow(metrics=["auroc"], replicates=5, most=2, only=["flips"])
    for facts in (
        stability_facts(models(), votes(), how),
        compare_facts(("first", "copy"), models(), votes(), how),
    ):
        said = [one for one in facts["notices"] if "Identical predictions" in one]
        assert len(said) == 1 and "first and copy for lung." in said[0]
        assert facts["twins"][0]["models"] == ["first", "copy"]


def test_where_they_are_the_same_everywhere_no_task_is_listed():
    every = {"models": ["a", "b"], "tasks": ["x", "y"], "whole": True}
    assert "a and b for all tasks. Such models tie whatever" in twin_notices([every])[0]
    single = {"models": ["a", "b"], "tasks": [""], "whole": True}
    assert "every item: a and b. Such models tie whatever" in twin_notices([single])[0]

"""Models with the same predictions are named, task by task, in one sentence."""

import numpy as np

from equipoise import Annotations, Predictions, evaluate, resample
from equipoise.types import Duplicates, duplicate_models, duplicate_notices
from tests.analysed import analysed
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


def test_duplicates_are_found_by_task():
    done = evaluate(models(), votes(), resampling=resample(votes(), "items", replicates=2))
    pairs = zip(TASKS, done.scores, strict=True)
    assert duplicate_models(pairs) == (
        Duplicates(("copy", "first"), ("lung",), everywhere=False),
    )
    (notice,) = [one for one in done.notices if one.code == "duplicate_models"]
    assert "copy and first for lung." in str(notice)


def test_a_score_that_differs_on_one_item_makes_no_duplicate():
    near = [
        Predictions("first", names(ITEMS), SCORES[0], task="lung"),
        Predictions("near", names(ITEMS), SCORES[0] + 1e-12 * np.eye(ITEMS)[4], task="lung"),
    ]
    options = {"metrics": ["auroc"], "replicates": 5, "only": ["flips"], "on_missing": "drop"}
    notices = analysed(near, votes(), **options).notices
    assert "duplicate_models" not in [notice.code for notice in notices]


def test_a_report_and_a_close_look_say_so_once():
    options = {"metrics": ["auroc"], "replicates": 5, "most": 2, "only": ["flips"]}
    for pair in (None, ("first", "copy")):
        report = analysed(models(), votes(), **options, pair=pair)
        (notice,) = [one for one in report.notices if one.code == "duplicate_models"]
        assert "copy and first for lung." in str(notice)


def test_where_they_are_the_same_everywhere_no_task_is_listed():
    (every,) = duplicate_notices([Duplicates(("a", "b"), ("x", "y"), everywhere=True)])
    assert "a and b for all tasks. Such models tie whatever" in str(every)
    (single,) = duplicate_notices([Duplicates(("a", "b"), ("",), everywhere=True)])
    assert "every item: a and b. Such models tie whatever" in str(single)
    assert duplicate_notices([]) == ()

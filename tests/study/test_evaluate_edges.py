"""Edges of evaluation with several kinds of metric: ties, undefined tasks, odd truths."""

import numpy as np
import pytest

from equipoise import Annotations, InputError, Predictions, evaluate, resample
from equipoise.study.result import MACRO
from equipoise.truth import dirichlet
from equipoise.truth.agreement import cohen_kappa, cohen_kappa_pairs


def votes(label, people=3, kind="binary", classes=("no", "yes"), **more):
    """Votes of a full panel; labels item by item."""
    label = np.asarray(label)
    items = len(label) // people
    return Annotations(
        kind=kind, classes=classes, items=tuple(f"i{i}" for i in range(items)),
        annotators=tuple(f"a{a}" for a in range(people)), label=label,
        item=np.repeat(np.arange(items), people), annotator=np.tile(np.arange(people), items),
        **more,
    )  # fmt: skip


def model(name, values, truth, task="", classes=()):
    return Predictions(name, truth.items, np.asarray(values, float), classes, task)


def test_calibration_stands_beside_ranking():
    truth = votes([0, 0, 1, 1, 1, 1])
    found = evaluate(
        model("m", [0.2, 0.9], truth), truth,
        metrics=["average_precision", "expected_calibration_error", "auroc"],
    )  # fmt: skip
    assert found.values.shape == (1, 3, 2, 1)


def test_the_macro_average_is_over_the_same_tasks_for_all_models():
    grades = ("0", "1", "2")
    label = np.concatenate([np.zeros(12, int), np.tile([0, 1, 2, 2], 3)])
    truth = Annotations(
        kind="ordinal", classes=grades, items=tuple("abcd"), annotators=("x", "y", "z"),
        item=np.tile(np.arange(4), 6), annotator=np.tile(np.repeat([0, 1, 2], 4), 2),
        label=label, tasks=("t1", "t2"), task=np.repeat([0, 1], 12),
    )  # fmt: skip
    same = np.eye(3)[[0, 0, 0, 0]]
    other = np.eye(3)[[0, 0, 0, 1]]
    right, near = np.eye(3)[[0, 1, 2, 2]], np.eye(3)[[0, 1, 2, 1]]
    given = [
        Predictions("A", truth.items, same, grades, "t1"),
        Predictions("B", truth.items, other, grades, "t1"),
        Predictions("A", truth.items, near, grades, "t2"),
        Predictions("B", truth.items, right, grades, "t2"),
    ]
    found = evaluate(given, truth, metrics=["quadratic_weighted_kappa"], resampling="items")
    rows = {(row.task, row.model, row.labels): row for row in found.table()}
    assert np.isnan(rows["t1", "A", "soft"].value)
    for name in "AB":
        macro, second = rows[MACRO, name, "soft"], rows["t2", name, "soft"]
        assert macro.value == pytest.approx(second.value)
    assert rows[MACRO, "B", "soft"].rank < rows[MACRO, "A", "soft"].rank


def test_a_list_of_annotations_is_refused():
    truth = votes([0, 0, 1, 1, 1, 1])
    with pytest.raises(InputError, match="Annotations in a list"):
        evaluate(model("m", [0.2, 0.9], truth), [truth, truth])
    with pytest.raises(InputError, match=r"truth\.csv: no such file"):
        evaluate(model("m", [0.2, 0.9], truth), "truth.csv")


def test_a_single_class_is_refused():
    truth = votes([0, 0, 0, 0, 0, 0], kind="ordinal", classes=("g",))
    with pytest.raises(InputError, match="a single class"):
        evaluate(model("m", [0.2, 0.9], truth), truth)


def test_noise_of_few_votes_is_told():
    truth = votes([0, 0, 1, 1, 1, 1])
    found = evaluate(
        model("m", [0.2, 0.9], truth), truth, metrics=["total_variation"], resampling="panel"
    )
    assert any("too pessimistic" in str(one) for one in found.notices)


def test_one_item_has_no_interval_worth_the_name():
    truth = votes([0, 1, 1])
    found = evaluate(
        model("m", [0.4], truth), truth, metrics=["brier_score"], resampling="items"
    )
    assert any(one.code == "single_item" for one in found.notices)


def test_groups_of_plausible_items_can_be_given():
    random = np.random.default_rng(0)
    level = np.repeat(np.arange(10) % 2, 10) * 0.9 + 0.05
    label = (random.random((100, 3)) < level[:, None]).astype(int).ravel()
    truth = dirichlet(votes(label)).drawn(50, seed=0)
    scores = model("m", np.full(100, 0.9), truth)
    spread = []
    for group in (None, np.repeat(np.arange(10), 10)):
        plan = resample(truth, "items", replicates=400, group=group)
        found = evaluate(scores, truth, metrics=["brier_score"], resampling=plan)
        spread.append(found.estimate("m", "brier_score").standard_error)
    assert spread[1] > 1.5 * spread[0]
    with pytest.raises(InputError, match="one for each of the 100 items"):
        resample(truth, "items", group=[1, 2])


def test_distances_between_names_are_refused():
    truth = votes([0, 1, 2, 2, 1, 0], kind="nominal", classes=("cat", "dog", "emu"))
    for ask in (
        lambda: cohen_kappa(truth, ("a0", "a1"), weights="quadratic"),
        lambda: cohen_kappa_pairs(truth, weights="linear"),
        lambda: cohen_kappa(truth, ("a0",)),
    ):
        with pytest.raises(InputError):
            ask()


def test_people_who_are_compared_on_one_item_only():
    votes = Annotations(
        kind="binary", items=("x", "y", "z"), classes=("no", "yes"), annotators=("p", "q"),
        item=np.array([0, 0, 1, 2]), annotator=np.array([0, 1, 1, 1]),
        label=np.array([1, 1, 0, 0]),
    )  # fmt: skip
    scores = Predictions("m", votes.items, np.array([0.9, 0.4, 0.1]))
    assert evaluate(scores, votes, metrics=["auroc"]).estimate("m", "auroc").value == 1

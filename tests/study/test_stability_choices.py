"""Choices of aggregation side by side."""

import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr

from equipoise.inference.resampling import resample
from equipoise.study import Settings, evaluate
from equipoise.study.analyses.choices import DEPENDS, HOLDS, LEANS, TIED, aggregation_choices
from equipoise.truth import dirichlet, mean_vote
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError
from equipoise.types.notices import worded
from equipoise.types.predictions import Predictions
from tests.strategies import names

ITEMS, PANEL = 40, 4
FEW = {"replicates": 80, "seed": 2, "settings": Settings(workers=1)}
real = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ, reason="needs the CheXpert files (EQUIPOISE_DATA)"
)


def votes(label, tasks=("",), items=ITEMS):
    """Annotations of an array (tasks, items, annotators) of 0 and 1."""
    task, item, annotator = (axis.ravel() for axis in np.indices(label.shape))
    return Annotations(
        kind="binary", items=names(items), classes=("no", "yes"), tasks=tasks,
        annotators=names(label.shape[2], "reader"), item=item, annotator=annotator,
        task=task, label=label.ravel().astype(int),
    )  # fmt: skip


def world(seed=0, tasks=4, models=4, *, sure=False):
    random = np.random.default_rng(seed)
    truth = random.random((tasks, ITEMS))
    chance = np.round(truth) if sure else truth
    label = random.random((tasks, ITEMS, PANEL)) < chance[..., None]
    which = tuple(f"task-{t}" for t in range(tasks)) if tasks > 1 else ("",)
    given = [
        Predictions(
            f"model-{m}", names(ITEMS),
            np.clip(truth[t] + random.normal(0, 0.2 + 0.2 * m, ITEMS), 0, 1), task=task,
        )
        for t, task in enumerate(which)
        for m in range(models)
    ]  # fmt: skip
    return votes(label, which), given


def test_choices_equal_single_evaluations_on_the_same_redrawn_items():
    truth, given = world(3, tasks=1)
    found = aggregation_choices(given, truth, models=["mean_vote", "dirichlet"], **FEW)
    assert found.choices == ("mean_vote", "dirichlet")
    fits = [mean_vote(truth), dirichlet(truth)]
    for c, fit in enumerate(fits):
        plan = resample(fit, "items", replicates=80, seed=2)
        done = evaluate(given, fit, resampling=plan)
        assert_array_equal(found.values[c], done.values)
        mine = [r for r in found.rows() if r["aggregation"] == found.choices[c]]
        for row, other in zip(mine, done.table(), strict=True):
            assert_allclose(
                [row[x] for x in ("value", "low", "high", "rank", "p_best")],
                [getattr(other, x) for x in ("value", "low", "high", "rank", "p_best")],
            )
    assert all(row["spearman"] == 1 for row in found.rank_changes()[:4])


def test_conclusions_say_what_holds_under_all_choices():
    truth, given = world(3, tasks=1, models=2)
    perfect = [replace(given[0], values=mean_vote(truth).mean[:, 1]), given[1]]
    worst = replace(given[0], model="worst", values=1 - perfect[0].values)
    twin = replace(perfect[0], model="twin")
    found = aggregation_choices([*perfect, worst, twin], truth, metrics=["auroc"], **FEW)
    told = {
        frozenset((r["above"], r["below"])): r
        for r in found.conclusions()
        if r["labels"] == "soft"
    }
    clear = told[frozenset(("model-0", "worst"))]
    assert (clear["verdict"], clear["above"]) == (HOLDS, "model-0")
    assert clear["choices_with_this_order"] == clear["choices_separated"] == 3
    assert told[frozenset(("model-0", "twin"))]["verdict"] == TIED
    assert {r["verdict"] for r in told.values()} <= {HOLDS, LEANS, DEPENDS, TIED}
    assert "3 choices of aggregation" in found.finding


def test_lower_is_better_conclusions_name_the_smaller_value_first():
    truth, given = world(3, tasks=1, models=2)
    found = aggregation_choices(given, truth, metrics=["brier_score"], models=["mean_vote"],
                                **FEW)  # fmt: skip
    (hard, soft) = found.conclusions()
    for x, row in enumerate((hard, soft)):
        best = found.models[int(np.argmin(found.values[0, 0, 0, x]))]
        assert row["above"] == best and row["choices_with_this_order"] == 1


def test_groups_are_drawn_as_wholes_in_choices_too():
    truth, given = world(3, tasks=1, models=2)
    grouped = replace(truth, group=np.arange(ITEMS) // 8, groups=names(5, "patient"))
    one, other = (
        aggregation_choices(given, t, models=["mean_vote"], **FEW) for t in (truth, grouped)
    )
    assert_array_equal(one.values, other.values)
    assert (one.low != other.low).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": ["dawid"]}, "did you mean 'dawid_skene'"),
        ({"models": []}, "at least one"),
        ({"treshold": 1}, "did you mean 'threshold'"),
    ],
)
def test_bad_choices_are_refused_with_a_remedy(change, message):
    truth, given = world(3, tasks=1, models=2)
    with pytest.raises(InputError, match=message):
        aggregation_choices(given, truth, **{**FEW, **change})


def test_orders_are_compared_with_the_mean_vote_wherever_it_stands():
    truth, given = world(3, tasks=1)
    found = aggregation_choices(given, truth, models=["majority_vote", "mean_vote"], **FEW)
    assert found.reference == "mean vote"
    rows = {(r["aggregation"], r["metric"], r["labels"]): r for r in found.rank_changes()}
    assert {row["reference"] for row in rows.values()} == {"mean vote"}
    assert rows["mean_vote", "auroc", "soft"]["spearman"] == 1
    first, second = found.values[:, 0, 0, 1]
    assert_allclose(rows["majority_vote", "auroc", "soft"]["spearman"],
                    spearmanr(first, second)[0])  # fmt: skip
    other = aggregation_choices(given, truth, models=["dirichlet"], **FEW)
    assert other.reference == "Dirichlet"


def test_models_of_annotators_take_part_from_six_annotators_or_when_asked():
    truth, given = world(3, tasks=1, models=2)
    assert PANEL < 6
    usual = aggregation_choices(given, truth, **FEW)
    assert set(usual.choices) == {"mean_vote", "majority_vote", "dirichlet"}
    told = " ".join(worded(usual.notices))
    assert "Dawid-Skene and GLAD) are left out: 4 annotators are too few" in told
    named = aggregation_choices(given, truth, models=["glad", "mean_vote"], **FEW)
    assert named.choices == ("glad", "mean_vote")
    random = np.random.default_rng(1)
    many = votes(random.random((1, ITEMS, 6)) < 0.5)
    enough = aggregation_choices(given, many, **FEW)
    assert {"dawid_skene", "glad"} <= set(enough.choices)
    assert "left out" not in " ".join(worded(enough.notices))


def test_what_fits_say_names_task_and_aggregation_in_one_sentence():
    truth, given = world(3, tasks=3)
    found = aggregation_choices(given, truth, models=["majority_vote", "mean_vote"], **FEW)
    notes = " ".join(worded(found.notices))
    for task in truth.tasks:
        ties = (truth.label.reshape(3, ITEMS, PANEL)[int(task[-1])].sum(axis=1) == 2).sum()
        assert f"majority vote of {task} {ties}" in notes


def test_one_model_and_one_comparison_are_told_as_such():
    truth, given = world(3, tasks=1, models=1)
    alone = aggregation_choices(given, truth, **FEW)
    assert "soft AUROC of model-0 lies between" in alone.finding
    assert alone.conclusions() == []
    twin = [*given, replace(given[0], model="twin")]
    level = aggregation_choices(twin, truth, models=["mean_vote"], **FEW)
    assert level.finding == (
        "Under one aggregation, the best is model-0 or twin by soft AUROC; the comparison of "
        "the two models is tied under all of them."
    )


@real
def test_the_leaderboard_under_every_choice():
    from equipoise.datasets.chexpert import chexpert

    study = chexpert()
    found = aggregation_choices(study.predictions, study.annotations, metrics=["auroc"],
                                replicates=100)  # fmt: skip
    assert len(found.choices) == 5 and not np.isnan(found.values).any()
    verdicts = [row["verdict"] for row in found.conclusions()]
    assert {HOLDS, LEANS, DEPENDS, TIED} == set(verdicts)

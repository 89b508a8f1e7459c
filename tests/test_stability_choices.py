"""Choices side by side, components with known answers."""

import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, spearmanr

from equipoise.aggregate import dirichlet, mean_vote
from equipoise.analyses.choices import DEPENDS, HOLDS, LEANS, TIED, aggregation_choices
from equipoise.analyses.components import variance_components
from equipoise.analyses.components.variances import Variance, chi_square, less, split
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.evaluation import MACRO, Settings, evaluate
from equipoise.notices import worded
from equipoise.predictions import Predictions
from equipoise.resampling import resample
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


def by_source(found, result, task=""):
    return {p.source: p for p in found.parts if (p.task, p.result) == (task, result)}


def test_only_item_noise_leaves_nothing_to_annotators_and_votes():
    truth, given = world(5, tasks=1, sure=True)
    found = variance_components(given, truth, **FEW)
    for result in ("model-0", "model-2", found.parts[-1].result):
        parts = by_source(found, result)
        assert parts["items"].variance > 1e-6
        for source in ("annotators", "votes"):
            assert abs(parts[source].variance) < 1e-20
        assert_allclose(parts["total"].variance, parts["items"].variance, rtol=1e-9)
    assert found.finding.startswith("Items move the difference ")
    assert "against annotators 0 and votes 0." in found.finding


def test_components_are_the_variances_of_the_replicates_less_that_of_votes():
    truth, given = world(6, tasks=2)
    found = variance_components(given, truth, **FEW)
    spread = {}
    for kind in ("items", "panel", "votes"):
        done = evaluate(given, truth, metrics=["auroc"],
                        resampling=resample(truth, kind, replicates=80, seed=2))  # fmt: skip
        drawn, weights = done.replicates[:, 0, 1], done.plan.weights
        if weights is None:
            spread[kind] = drawn.var(axis=-1, ddof=1)
        else:
            centre = np.average(drawn, axis=-1, weights=weights)[..., None]
            spread[kind] = np.average((drawn - centre) ** 2, axis=-1, weights=weights)
    items, panel = (np.maximum(spread[k] - spread["votes"], 0) for k in ("items", "panel"))
    for cell in np.ndindex(items.shape):
        parts = by_source(found, done.models[cell[1]], done.tasks[cell[0]])
        assert_allclose(parts["items"].variance, items[cell])
        assert_allclose(parts["annotators"].variance, panel[cell])
        assert_allclose(parts["votes"].variance, spread["votes"][cell])
        shares = [parts[source].share for source in ("items", "annotators", "votes")]
        assert_allclose([sum(shares), parts["total"].share], 1)
    assert any(
        "annotators and votes add up to the total" in str(note) for note in found.notices
    )
    assert found.total == "items, annotators and votes"


def test_eight_annotators_give_a_wide_interval_however_many_replicates():
    truth, given = world(6, tasks=1)
    few = {**FEW, "replicates": 3000}
    found = by_source(variance_components(given, truth, **few), "model-1")
    annotators, total, votes_ = found["annotators"], found["total"], found["votes"]
    assert annotators.low == 0 and annotators.high > 5 * votes_.variance
    assert PANEL - 1 < total.freedom < votes_.freedom < ITEMS


def test_intervals_of_variances_equal_scipy_and_combine():
    found = chi_square(2.0, 12.5, 0.9)
    expected = [2 * 12.5 / chi2.ppf(0.95, 12.5), 2 * 12.5 / chi2.ppf(0.05, 12.5)]
    assert_allclose([found.low, found.high], expected)
    whole, part = Variance(5.0, 4.0, 7.0, 9.0, 5.0), Variance(1.0, 0.5, 3.0, 9.0, 1.0)
    left = less(whole, part)
    assert_allclose(left[:3], [4, 4 - np.sqrt(1 + 4), 4 + np.sqrt(4 + 0.25)])
    none = split({kind: chi_square(0.0, 9.0, 0.9) for kind in ("items", "votes")}, 0.9)
    assert none["total"].value == none["items"].high == 0
    three = {"items": whole, "panel": Variance(2.0, 1.0, 9.0, 4.0, 2.0), "votes": part}
    total = split(three, 0.9)["total"]
    assert_allclose([total.value, total.freedom], [6, 36 / (25 / 9 + 4 / 4 + 1 / 9)])


def test_anonymous_votes_take_their_total_from_votes():
    truth, given = world(6, tasks=1)
    found = variance_components(given, truth.anonymous(), labels="hard", **FEW)
    assert found.total == "items and votes"
    assert set(by_source(found, "model-0")) == {"items", "votes", "total"}
    with pytest.raises(InputError, match="at least 2"):
        variance_components(given, truth, replicates=1)
    with pytest.raises(InputError, match="hard, soft"):
        variance_components(given, truth, labels="all")


@real
def test_the_leaderboard_under_every_choice_and_source():
    from equipoise.datasets.chexpert import chexpert

    study = chexpert()
    found = aggregation_choices(study.predictions, study.annotations, metrics=["auroc"],
                                replicates=100)  # fmt: skip
    assert len(found.choices) == 5 and not np.isnan(found.values).any()
    verdicts = [row["verdict"] for row in found.conclusions()]
    assert {HOLDS, LEANS, DEPENDS, TIED} == set(verdicts)
    parts = variance_components(study.predictions, study.annotations, replicates=100)
    total = by_source(parts, "hieupham", MACRO)
    assert total["items"].variance < total["total"].variance
    assert 0 < total["annotators"].low < total["annotators"].variance

"""Critical difference against scipy, choices side by side, components with known answers."""

import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, friedmanchisquare, spearmanr, studentized_range

from equipoise.aggregate import dirichlet, mean_vote
from equipoise.analyses.choices import DEPENDS, HOLDS, LEANS, TIED, aggregation_choices
from equipoise.analyses.components import variance_components
from equipoise.analyses.components.variances import Variance, chi_square, less, split
from equipoise.analyses.critical_difference import critical_difference, friedman, nemenyi
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


def evaluated(truth, given, **more):
    plan = resample(truth, "items", replicates=50)
    return evaluate(given, truth, resampling=plan, **more)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("metrics", [["auroc"], ["precision_at_5"], ["brier_score"]])
def test_friedman_equals_scipy_with_and_without_ties(seed, metrics):
    truth, given = world(seed, tasks=5)
    done = evaluated(truth, given, metrics=metrics)
    for x, labels in enumerate(("hard", "soft")):
        found = critical_difference(done, metrics[0], labels=labels)
        values = done.values[:-1, 0, x]
        expected = friedmanchisquare(*np.round(values, 12).T)
        assert_allclose([found.statistic, found.p_value], expected)


def test_nemenyi_is_the_studentised_range_and_cliques_follow_it():
    quantile = studentized_range.ppf(0.9, 4, 1e6) / np.sqrt(2)
    assert_allclose(nemenyi(4, 6, 0.1), quantile * np.sqrt(20 / 36), rtol=1e-5)
    truth, given = world(1, tasks=6)
    found = critical_difference(evaluated(truth, given), "auroc", alpha=0.1)
    average = dict(zip(found.models, found.average, strict=True))
    for a in found.models:
        for b in found.models:
            near = abs(average[a] - average[b]) <= found.difference
            together = any({a, b} <= set(clique) for clique in found.cliques)
            assert near == (together or a == b)
    assert [row["average_rank"] for row in found.rows()] == sorted(average.values())
    assert (found.low <= found.high).all()
    assert any("not independent" in str(note) for note in found.notices)
    assert "share items" in found.finding


def test_identical_models_are_level_and_never_apart():
    truth, given = world(1, tasks=3, models=1)
    twins = given + [replace(one, model="twin") for one in given]
    found = critical_difference(evaluated(truth, twins), "auroc")
    assert_array_equal(found.average, [1.5, 1.5])
    assert np.isnan(found.p_value) and found.cliques == (("model-0", "twin"),)
    assert found.finding == (
        "All 2 models are tied by soft AUROC in each of the 3 tasks: their ranks tell nothing "
        "apart."
    )


@pytest.mark.parametrize("change", [
    {"evaluation": None}, {"evaluation": "run"}, {"metric": None}, {"labels": 1},
    {"alpha": "a"}, {"alpha": float("nan")}, {"alpha": True}, {"alpha": 0},
])  # fmt: skip
def test_a_critical_difference_of_something_else_is_refused_in_four_parts(change):
    given = {"evaluation": evaluated(*world(1, tasks=3)), "metric": "auroc", **change}
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
        critical_difference(**given)


def test_fewer_than_three_tasks_leave_it_undefined():
    for tasks in (1, 2):
        truth, given = world(1, tasks=tasks)
        found = critical_difference(evaluated(truth, given), "auroc")
        assert np.isnan(found.difference) and found.cliques == ()
        assert "undefined" in found.finding and "at least 3 tasks" in found.finding
    with pytest.raises(InputError, match="did you mean 'auroc'"):
        critical_difference(evaluated(truth, given), "auoc")
    with pytest.raises(InputError, match=r"try 0\.05"):
        critical_difference(evaluated(truth, given), "auroc", alpha=2)


def test_tasks_without_a_value_are_left_out():
    truth, given = world(1, tasks=4)
    label = truth.label.reshape(4, ITEMS, PANEL).copy()
    label[2] = 0
    empty = replace(truth, label=label.ravel())
    found = critical_difference(evaluated(empty, given), "auroc")
    assert found.tasks == ("task-0", "task-1", "task-3")
    assert any("'task-2'" in str(note) for note in found.notices)
    assert friedman(found.ranks)[0] == found.statistic


def test_choices_equal_single_evaluations_on_the_same_redrawn_items():
    truth, given = world(3, tasks=1)
    found = aggregation_choices(
        given, truth, models=["mean_vote", "dirichlet"], reliabilities=(1.0, 3.0), **FEW
    )
    assert found.choices == (("mean_vote", None), ("dirichlet", 1.0), ("dirichlet", 3.0))
    fits = [mean_vote(truth), dirichlet(truth), dirichlet(truth, reliability=3.0)]
    for c, fit in enumerate(fits):
        plan = resample(fit, "items", replicates=80, seed=2)
        done = evaluate(given, fit, resampling=plan)
        assert_array_equal(found.values[c], done.values)
        mine = [r for r in found.rows() if (r["aggregation"], r["reliability"])
                == found.choices[c]]  # fmt: skip
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
    assert clear["choices_with_this_order"] == clear["choices_separated"] == 8
    assert told[frozenset(("model-0", "twin"))]["verdict"] == TIED
    assert {r["verdict"] for r in told.values()} <= {HOLDS, LEANS, DEPENDS, TIED}
    assert "8 choices of aggregation" in found.finding


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
        ({"reliabilty": [1]}, "did you mean 'reliabilities'"),
        ({"reliabilities": [-1.0]}, "expected a number above 0; 1 is usual"),
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
    other = aggregation_choices(given, truth, models=["dirichlet"], reliabilities=[2], **FEW)
    assert other.reference == "Dirichlet 2"


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


def test_only_item_noise_leaves_nothing_to_annotators_votes_and_models():
    truth, given = world(5, tasks=1, sure=True)
    found = variance_components(given, truth, models=["mean_vote", "majority_vote"], **FEW)
    for result in ("model-0", "model-2", found.parts[-1].result):
        parts = by_source(found, result)
        assert parts["items"].variance > 1e-6
        for source in ("annotators", "votes", "model choice"):
            assert abs(parts[source].variance) < 1e-20
        assert_allclose(parts["total"].variance, parts["items"].variance, rtol=1e-9)
    assert found.finding.startswith("Items move the difference ")
    assert "against annotators 0, votes 0 and model choice 0." in found.finding


def test_components_are_the_variances_of_the_replicates_less_that_of_votes():
    truth, given = world(6, tasks=2)
    found = variance_components(given, truth, models=["mean_vote", "majority_vote"], **FEW)
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
    best = found.parts[-1].result.split(" - ")
    values = [
        evaluate(given, [fit(truth, task=t) for t in truth.tasks], metrics=["auroc"])
        for fit in (mean_vote, lambda a, task: _majority(a, task))
    ]
    gaps = [
        v.estimate(best[0], "auroc").value - v.estimate(best[1], "auroc").value for v in values
    ]
    choice = by_source(found, found.parts[-1].result, MACRO)["model choice"]
    assert_allclose(choice.variance, np.var(gaps, ddof=1), atol=1e-15)
    assert any(
        "annotators and votes add up to the total" in str(note) for note in found.notices
    )
    assert found.total == "items, annotators and votes"


def _majority(truth, task):
    from equipoise.aggregate import majority_vote

    return majority_vote(truth, task=task)


def test_eight_annotators_give_a_wide_interval_however_many_replicates():
    truth, given = world(6, tasks=1)
    few = {**FEW, "replicates": 3000}
    found = by_source(variance_components(given, truth, models=["mean_vote"], **few), "model-1")
    annotators, total, votes_ = found["annotators"], found["total"], found["votes"]
    assert annotators.low == 0 and annotators.high > 5 * votes_.variance
    assert PANEL - 1 < total.freedom < votes_.freedom < ITEMS
    assert np.isnan(found["model choice"].variance)


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
    assert set(by_source(found, "model-0")) == {"items", "votes", "total", "model choice"}
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
    assert len(found.choices) == 8 and not np.isnan(found.values).any()
    verdicts = [row["verdict"] for row in found.conclusions()]
    assert {HOLDS, LEANS, DEPENDS, TIED} == set(verdicts)
    parts = variance_components(study.predictions, study.annotations, replicates=100)
    total = by_source(parts, "hieupham", MACRO)
    assert total["items"].variance < total["total"].variance
    assert 0 < total["annotators"].low < total["annotators"].variance
    done = critical_difference(evaluate(study.predictions, study.annotations), "auroc")
    assert len(done.tasks) == 5 and done.p_value > 0.05 and len(done.cliques) == 1

"""Sweeps of a threshold: plain metrics at every step, and sentences that hold at the edges."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import metrics
from equipoise.inference.resampling import Resampling
from equipoise.study import evaluate
from equipoise.study.analyses import scoring
from equipoise.study.analyses.moving_thresholds import (
    Grid,
    Move,
    ThresholdSweep,
    _finding,
    analyse,
    threshold_sweep,
)
from equipoise.types.annotations import Annotations
from equipoise.types.predictions import Predictions
from tests.analysed import study_of
from tests.strategies import names


def swept(models, votes, **asked):
    """The finding over all tasks of a study."""
    return analyse(study_of(models, votes, resampling="items", **asked))


def test_a_sweep_scores_every_threshold_as_plain_metrics_do():
    random = np.random.default_rng(7)
    p = random.random(80).round(2)
    scores = [p + random.normal(0, s, 80) for s in (0.2, 0.5)]
    models = [Predictions(n, names(80), s) for n, s in zip("ab", scores, strict=True)]
    grid = Grid(steps=3, metrics=("auroc",), replicates=50)
    done = threshold_sweep(models, p, names(80), 0.6, grid)
    tried = sorted({one.threshold for one in done.moves})
    assert_allclose(tried, [0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75])
    for one in done.moves:
        label = p >= one.threshold - 1e-12
        assert one.positives == label.sum() and one.prevalence == label.mean()
        assert one.value == pytest.approx(metrics.auroc(label, scores["ab".index(one.model)]))
        assert one.low <= one.value <= one.high
    assert all(one.change == 0 for one in done.moves if abs(one.threshold - 0.6) < 1e-9)
    assert done.agreement[0.6, "auroc"] == 1
    assert "no model changes its rank" in done.finding
    assert done.rows() == threshold_sweep(models, p, names(80), 0.6, grid).rows()


def test_a_sweep_sees_ranks_change_and_says_where_nothing_is_defined():
    p = np.linspace(0, 0.99, 100)
    low, high = np.minimum(p, 0.5), np.maximum(p, 0.5)
    models = [Predictions("low", names(100), low), Predictions("high", names(100), high)]
    seen = []
    grid = Grid(0.3, 2, ("auroc",), 20, progress=lambda *at: seen.append(at))
    done = threshold_sweep(models, p, names(100), 0.4, grid)
    by = {(round(one.threshold, 2), one.model): one for one in done.moves}
    assert by[0.4, "low"].rank == 1 and by[0.7, "low"].rank == 2
    assert by[0.7, "low"].change == 1 and by[0.7, "high"].change == -1
    assert "low and high change their ranks by AUROC; who is best changes" in done.finding
    assert "from 0.1 to 0.7" in done.finding and "from 90.0% to 30.0%" in done.finding
    assert seen[-1] == (5, 5)
    edge = threshold_sweep(models, p, names(100), 0.9, Grid(0.1, 1, ("auroc",), 20))
    assert any("undefined at threshold 1:" in str(one) for one in edge.notices)
    assert "where it is defined (2 of 3 thresholds)" in edge.finding


def test_a_grid_that_is_cut_says_how_far_it_went():
    p = np.linspace(0, 1, 40)
    model = Predictions("m", names(40), p)
    done = threshold_sweep(model, p, names(40), 0.9, Grid(0.3, 3, ("auroc",), 5))
    assert sorted({round(one.threshold, 9) for one in done.moves}) == [0.6, 0.7, 0.8, 0.9, 1.0]
    assert any("from 0.600 to 1.000:" in str(one) for one in done.notices)
    assert "from 0.6 to 1, " in done.finding and "0.300" not in done.finding
    assert "with one model there is no order to change" in done.finding
    whole = threshold_sweep(model, p, names(40), 0.5, Grid(0.3, 3, ("auroc",), 5))
    assert not any("tried" in str(one) for one in whole.notices)


def test_an_order_that_is_undefined_is_not_called_stable():
    p = np.full(10, 0.5)
    models = [Predictions(n, names(10), np.arange(10.0)) for n in "ab"]
    grid = Grid(0.1, 1, ("auroc",), 5)
    never = threshold_sweep(models, p, names(10), 0.5, grid)
    assert "the order by AUROC is undefined" in never.finding
    p = np.repeat([0.55, 0.95], 5)
    centre = threshold_sweep(models, p, names(10), 0.5, grid)
    assert "the order by AUROC is undefined at the threshold itself" in centre.finding
    assert not any(one in centre.finding for one in ("no model changes", "nan"))


def test_more_than_half_is_a_rule_and_a_tie_is_negative():
    p = np.repeat([0.25, 0.5, 0.75], 10)
    model = Predictions("m", names(30), p)
    how = {"metrics": ("auroc",), "replicates": 5}
    strict = threshold_sweep(model, p, names(30), 0.5, Grid(strict=True, **how))
    loose = threshold_sweep(model, p, names(30), 0.5, Grid(**how))
    at = [[m.positives for m in one.moves if m.threshold == 0.5] for one in (strict, loose)]
    assert at == [[10], [20]]
    assert "Around a threshold of more than 0.5, from 0.35" in strict.finding
    assert "Around a threshold of 0.5," in loose.finding


def test_ranks_have_the_interval_of_the_redraws():
    random = np.random.default_rng(2)
    p = random.random(60)
    models = [Predictions(n, names(60), p + random.normal(0, 1, 60)) for n in "abc"]
    grid = Grid(0.1, 1, ("brier_score", "auroc"), 40)
    scaled = [Predictions(m.model, m.items, 1 / (1 + np.exp(-m.values))) for m in models]
    done = threshold_sweep(scaled, p, names(60), 0.5, grid)
    label = Annotations(kind="binary", items=names(60), classes=("negative", "positive"),
                        item=np.arange(60), label=(p >= 0.5).astype(int))  # fmt: skip
    plan = Resampling(kind="items", items=names(60), replicates=40, seed=0)
    whole = evaluate(scaled, label, metrics=grid.metrics, resampling=plan)
    for k, sign in ((0, 1), (1, -1)):
        drawn = sign * whole.replicates[0, k, 0]
        ranks = 1 + (drawn[None] < drawn[:, None]).sum(axis=1)  # no ties
        here = [m for m in done.moves if m.threshold == 0.5 and m.metric == grid.metrics[k]]
        for m, own in zip(here, ranks, strict=True):
            assert (m.rank_low, m.rank_high) == tuple(np.quantile(own, [0.025, 0.975]))


def test_groups_of_items_are_redrawn_as_wholes():
    """Copies of an item in one group: the redraws are those of the items without copies."""
    random = np.random.default_rng(4)
    p, score = random.random(30), random.random((2, 30))
    patient = np.repeat(np.arange(30), 3)
    models = [
        Predictions(n, names(90), one[patient]) for n, one in zip("ab", score, strict=True)
    ]
    how = {"reach": 0.1, "steps": 1, "metrics": ("auroc",), "replicates": 100}
    groups = [f"g{k:02d}" for k in patient]
    done = threshold_sweep(models, p[patient], names(90), 0.5, Grid(group=groups, **how))
    single = threshold_sweep(models, p[patient], names(90), 0.5, Grid(**how))
    small = [Predictions(n, names(30), one) for n, one in zip("ab", score, strict=True)]
    thin = threshold_sweep(small, p, names(30), 0.5, Grid(**how))
    assert (done.groups, single.groups) == (30, 0)
    for one, other, alone in zip(done.moves, thin.moves, single.moves, strict=True):
        assert one.value == pytest.approx(other.value) == pytest.approx(alone.value)
        assert (one.low, one.high) == pytest.approx((other.low, other.high))
        assert (one.rank_low, one.rank_high) == (other.rank_low, other.rank_high)
        assert one.high - one.low > 1.3 * (alone.high - alone.low)


def test_stability_hands_the_groups_of_items_to_the_sweep():
    random = np.random.default_rng(5)
    patient = np.repeat(np.arange(20), 4)
    chance = np.repeat(random.random(20), 4)
    score = chance + np.repeat(random.normal(0, 0.4, 20), 4)
    cast = random.random((80, 5)) < chance[:, None]
    drop = Predictions("a", names(80)[:-2], score[:-2])

    def of(**more):
        votes = Annotations(
            kind="binary", items=names(80), classes=("no", "yes"),
            item=np.repeat(np.arange(80), 5), label=cast.ravel().astype(int), **more,
        )  # fmt: skip
        return swept([drop], votes, replicates=200, on_missing="drop")

    with_groups = of(group=patient, groups=tuple(f"p{k}" for k in range(20)))
    without = of()
    assert "groups of items" in with_groups.note and "groups of items" not in without.note
    wide, narrow = (
        [row["high"] - row["low"] for row in one.tables[1].rows]
        for one in (with_groups, without)
    )
    assert np.mean(wide) > 1.2 * np.mean(narrow)


def test_several_tasks_are_summed_up_by_their_first_metric():
    p = np.linspace(0, 0.99, 100)
    low, high = np.minimum(p, 0.5), np.maximum(p, 0.5)
    models = [Predictions("low", names(100), low), Predictions("high", names(100), high)]
    grid = Grid(0.3, 2, ("auroc",), 5)
    moving = threshold_sweep(models, p, names(100), 0.4, grid)
    fixed = threshold_sweep(models, p, names(100), 0.2, Grid(0.1, 1, ("auroc",), 5))
    never = threshold_sweep(models, p * 0, names(100), 0.4, grid)
    finding = _finding({"a": moving, "b": fixed, "c": never})
    assert "changes in 1 of 3 tasks, and who is best changes in 1 (a)" in finding.sentence
    assert "undefined in c" in finding.sentence
    assert [one.split(":")[0] for one in finding.more] == ["a", "b", "c"]
    both = _finding({"a": fixed, "b": fixed})
    assert "stays the same in every task" in both.sentence
    assert "undefined in every task" in _finding({"a": never, "b": never}).sentence
    alone = replace(fixed, moves=tuple(one for one in fixed.moves if one.model == "low"))
    assert "one model in every task" in _finding({"a": alone, "b": alone}).sentence


def two_tasks(patients):
    """A sweep of the tasks a and b; the items of b are of these patients."""
    random = np.random.default_rng(2)
    label = random.random((20, 5)) < random.random(20)[:, None]
    items = np.concatenate([np.arange(20), np.arange(20, 40)])
    group = np.concatenate([np.arange(20) // 4, np.full(20, 5) if patients == 1 else
                            5 + np.arange(20) // (20 // patients)])  # fmt: skip
    votes = Annotations(
        kind="binary", items=names(40), classes=("no", "yes"), tasks=("a", "b"),
        item=np.repeat(items, 5), task=np.repeat([0, 1], 100),
        label=np.concatenate([label, label]).ravel().astype(int),
        group=group, groups=tuple(f"p{k}" for k in range(group.max() + 1)),
    )  # fmt: skip
    scores = label.mean(axis=1) + random.normal(0, 0.2, 20)
    models = [
        Predictions("m", names(40)[:20], scores, task="a"),
        Predictions("m", names(40)[20:], scores, task="b"),
    ]
    return swept(models, votes, replicates=20)


def test_a_task_of_one_group_is_left_out_alone():
    whole, less = (two_tasks(number) for number in (5, 1))
    every, rows = whole.tables[1].rows, less.tables[1].rows
    assert {row["task"] for row in every} == {"a", "b"}
    assert {row["task"] for row in rows} == {"a"}
    own = [row for row in every if row["task"] == "a"]
    kept = [(row["threshold"], row["value"]) for row in rows]
    assert kept == [(row["threshold"], row["value"]) for row in own]
    assert str(less.notices[0]).startswith("b: left out") and "one group" in str(
        less.notices[0]
    )
    assert not any("left out" in str(one) for one in whole.notices)


def test_the_brief_table_shows_which_thresholds_each_line_stands_for():
    brief = two_tasks(5).tables[0]
    assert brief.columns[1].head == "share of yes above" and not brief.file
    for task in ("a", "b"):
        spans = [row["span"] for row in brief.rows if row["task"] == task]
        assert spans == ["0.35 to 0.59", "0.62 to 0.65"]  # no item has 2 of 5


def test_a_single_sweep_has_charts_of_every_metric_and_shares_lines():
    p = np.linspace(0.01, 0.99, 50)
    twins = [Predictions(n, names(50), p) for n in ("a", "b")]
    grid = Grid(0.2, 4, ("auroc", "accuracy"), 5, strict=True)
    finding = threshold_sweep(twins, p, names(50), 0.5, grid).report()
    assert [chart.name for chart in finding.charts] == [
        "threshold-value",
        "threshold-rank",
        "threshold-value-2",
        "threshold-rank-2",
    ]
    value, rank = finding.charts[:2]
    assert [line.name for line in value.lines] == ["a +1"] and rank.downward
    assert [bar.value for bar in value.bars] == sorted(b.value for b in value.bars)[::-1]
    assert "task" not in finding.tables[1].rows[0] and "[@groger2025]" in finding.methods


def test_models_that_stay_best_or_move_are_named_plainly():
    places = {"a": (1.5, 1.5), "b": (1.5, 1.5), "c": (3.0, 4.0), "d": (4.0, 3.0)}
    moves = [
        Move(step, 3, 0.3, "auroc", model, 0.5, 0.4, 0.6, ranks[n], 1, 4, ranks[n] - ranks[0])
        for n, step in enumerate((0.5, 0.6))
        for model, ranks in places.items()
    ]  # fmt: skip
    sweep = ThresholdSweep(centre=0.5, reach=0.1, moves=tuple(moves), agreement={}, strict=True)
    assert "c and d change their ranks by AUROC; a and b stay best." in sweep.finding


def test_with_many_items_fewer_resamples_are_drawn_and_that_is_said(monkeypatch):
    random = np.random.default_rng(1)
    share = random.random(60)
    given = [Predictions("m", names(60), share + random.normal(0, 0.3, 60))]
    asked = threshold_sweep(given, share, names(60), 0.5, Grid(replicates=30))
    monkeypatch.setattr(scoring, "BUDGET", 1)
    monkeypatch.setattr(scoring, "FEWEST", 10)
    few = threshold_sweep(given, share, names(60), 0.5, Grid(replicates=30))
    assert "10 resamples are drawn instead of 30" in str(few.notices[0])
    assert [one.value for one in few.moves] == [one.value for one in asked.moves]

"""Level, direction and scale beyond `evaluate`: on disk, in plans, cuts, orders and times."""

import math
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit, logit
from scipy.stats import beta, nct, norm
from scipy.stats import t as student

from equipoise import Predictions, evaluate, resample
from equipoise.clean.cut import automatic_cut
from equipoise.inference.estimate import Estimate, wilson
from equipoise.inference.ranks import beats
from equipoise.inference.spread import Reason, Spread, judge
from equipoise.read.tables import Table
from equipoise.read.values import times
from equipoise.scale import disk
from equipoise.scale.disk import coded
from equipoise.study.analyses.calibration_curves import _equal_bins
from equipoise.study.analyses.ranking import rank_stability
from equipoise.study.planning.power_analysis import (
    DifferenceVariances,
    PowerTarget,
    Shape,
    power,
    simulated_power,
)
from equipoise.study.study import Settings
from tests.laws.test_combinations import GRID, LEVELS, TRUTHS, done, inputs, yes_no
from tests.oracles import combinations as oracle
from tests.scale.test_disk import cut

ON_DISK = ("auroc", "brier_score", "accuracy")


# ---- on disk -------------------------------------------------------------------------------
def on_disk(folder, votes, models, level):
    """The evaluation of the same votes and scores in three partitions."""
    names = np.array(votes.items)
    columns = {"item": names[votes.item], "label": np.array(["no", "yes"])[votes.label]}
    if votes.annotators is not None:
        columns["annotator"] = np.array(votes.annotators)[votes.annotator]
    scores = pa.table({"item": names} | {m.model: m.aligned(votes.items) for m in models})
    opened = disk.open_votes(cut(pa.table(columns), folder / "votes", 3), workers=1)
    ranked = disk.open_scores(cut(scores, folder / "scores", 3))
    return disk.evaluate(opened, ranked, metrics=ON_DISK, level=level)


@pytest.mark.parametrize(("truth", "level"), list(product(TRUTHS[:3], LEVELS)))
def test_numbers_on_disk_are_those_in_memory(tmp_path, monkeypatch, truth, level):
    monkeypatch.setattr(coded, "_GROUPS", 2)  # sums of several partitions in one go
    models, votes, plan = inputs(truth, 1, grouped=False)
    moved = np.where(np.arange(len(votes.items)) < 2, 0.5, models[0].values)
    models = [
        *models,
        replace(models[0], model="nearly ash", values=moved),
    ]  # a gap of two items
    known = evaluate(
        models, votes, metrics=ON_DISK, resampling=plan, settings=Settings(level=level)
    )
    made = on_disk(tmp_path, votes, models, level)
    rows = {(r.metric, r.model): r for r in known.table() if r.labels == "soft"}
    for one in made.models:
        row = rows[one.metric, one.model]
        ends = (row.value, row.low, row.high, row.standard_error, row.rank_low, row.rank_high)
        np.testing.assert_allclose(one[2:], ends, rtol=0, atol=1e-9)
    gaps = {(g.metric, g.a, g.b): g for name in ON_DISK for g in known.differences(name)}
    for one in made.gaps:
        gap = gaps[one.metric, one.a, one.b]
        ends = gap.value, gap.low, gap.high
        np.testing.assert_allclose(one[3:6], ends, rtol=0, atol=1e-9)
        # rounding can turn the draws of few annotators: two degrees of freedom are exponential
        assert one.p == pytest.approx(gap.p_adjusted, abs=0.015 if truth == "few" else 1e-9)


@pytest.mark.parametrize("positives", [4, 16])
def test_a_perfect_value_on_disk_rests_on_the_rarer_class(tmp_path, positives):
    votes = yes_no((np.arange(20) < positives).astype(int))
    models = [
        Predictions(name, votes.items, (np.arange(20) < positives) * 0.5 + step * np.arange(20))
        for name, step in (("one", 0.01), ("two", 0.001))
    ]
    made = on_disk(tmp_path, votes, models, 0.95)
    assert made.cells["auroc"].floor == pytest.approx(1 / 5)
    models = [replace(model, task="a") for model in models]
    known = evaluate(models, votes, metrics=ON_DISK, resampling="influence")
    for name in ON_DISK:  # a Brier score is between 0 and 2
        assert made.cells[name].floor == pytest.approx(known.two_way(name).floor)


# ---- resamples and orders --------------------------------------------------------------------
@pytest.mark.parametrize("level", LEVELS)
def test_quantiles_and_shares_of_resamples_are_of_their_level(level):
    drawn = np.random.default_rng(0).normal(size=801)
    found = Estimate(0.0, drawn, "plan").interval(level)
    np.testing.assert_allclose(found, np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    z = norm.ppf((1 + level) / 2)
    for end in wilson(30, 100, level):  # where the score test of a share is just not refused
        assert abs(0.3 - end) / math.sqrt(end * (1 - end) / 100) == pytest.approx(z)
    assert beats(np.array([[1.0, 1.0], [1.0, 0.5]]))[0].tolist() == [0.5, 0.75]


@pytest.mark.parametrize("level", LEVELS)
def test_each_end_of_listed_panels_has_its_tail(level):
    random, tail = np.random.default_rng(4), (1 - level) / 2
    drawn, weights = random.normal(size=60), random.dirichlet(np.ones(60))
    low, high = Estimate(0.0, drawn, "plan", weights=weights).interval(level)
    assert low == min(x for x in drawn if weights[drawn <= x].sum() >= tail)
    assert high == max(x for x in drawn if weights[drawn >= x].sum() >= tail)


@pytest.mark.parametrize("level", LEVELS)
def test_shares_have_the_exact_interval_of_their_level(level):
    label, right = np.arange(40) % 2, np.arange(40) % 5 > 0
    votes = yes_no(label)
    score = np.where(right, label, 1 - label).astype(float)
    models = [Predictions("model", votes.items, score, task="a")]
    how = Settings(level=level)
    study = evaluate(models, votes, metrics=["accuracy"], resampling="influence", settings=how)
    for row in study.table():
        ends = beta.ppf([(1 - level) / 2, (1 + level) / 2], [32, 33], [9, 8])
        np.testing.assert_allclose((row.low, row.high), ends, atol=1e-9)


def test_shares_are_less_sure_for_other_annotators():
    models, votes, plan = inputs("many", 1, grouped=False)
    wide = [
        evaluate(
            models, votes, metrics=["accuracy"], resampling=plan,
            settings=Settings(annotators=annotators),
        ).table()
        for annotators in ("random", "fixed")
    ]  # fmt: skip
    moved = [
        (random.high - random.low) / (fixed.high - fixed.low)
        for random, fixed in zip(*wide, strict=True)
        if random.standard_error > 1.05 * fixed.standard_error
    ]
    assert moved and min(moved) > 1.03


@pytest.mark.parametrize("level", LEVELS)
def test_how_stable_an_order_is_has_the_level_of_the_study(level):
    stable = rank_stability(done("many", 1, grouped=False, level=level))
    for row, cell in zip(stable.rows(), np.ndindex(stable.spearman.shape[:3]), strict=True):
        drawn = stable.spearman[cell]
        ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
        np.testing.assert_allclose((row["spearman_low"], row["spearman_high"]), ends)


def test_equal_bins_are_equally_full():
    chance = np.random.default_rng(1).permutation(40) / 40
    assert np.bincount(_equal_bins(chance, 10)).tolist() == [4] * 10
    assert (np.diff(_equal_bins(np.sort(chance), 10)) >= 0).all()


@pytest.mark.parametrize("level", LEVELS)
def test_verdicts_on_a_margin_are_one_sided_tests_of_the_level(level):
    seen = set()
    for lead, error in product(
        np.linspace(-0.08, 0.08, 33), (0.004, 0.009, 0.0105, 0.014, 0.03)
    ):
        p = student.sf((lead + np.array([0.03, -0.03, 0.0])) / error, 20)
        alpha = 1 - level
        expected = "inferior" if 1 - p[0] < alpha / 2 else "undecided"
        if p[0] < alpha and 1 - p[1] < alpha:
            expected = "equivalent by two one-sided tests"
        if p[0] < alpha / 2:
            expected = "equivalent" if 1 - p[1] < alpha / 2 else "non-inferior"
        if p[2] < alpha / 2:
            expected = "superior"
        assert judge(lead, Spread(error**2, df_items=20), 0.03, level).value == expected
        seen.add(expected)
    assert len(seen) == 6


# ---- plans -----------------------------------------------------------------------------------
PARTS = DifferenceVariances(items=0.5, annotators=0.03, votes=0.8, groups=0.2, cells=0.1)


@pytest.mark.parametrize("shape", [Shape(5, 5, 1), Shape(8, 3, 4), Shape(0, 3, 2), Shape(0, 0)])
def test_variances_of_a_plan_follow_the_formula(shape):
    units, (people, votes, k) = 50, shape
    expected = 0.2 / units + 0.5 / (units * k) + 0.03 / people if people else 0.7 / units
    if not people:
        expected = 0.2 / units + 0.5 / (units * k)
    m = max(votes, 1)
    expected += 0.1 / (units * m) + 0.8 / (units * k * m)
    assert PARTS.spread(units, shape).variance == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_power_of_plans_is_of_their_level(level):
    alone = DifferenceVariances(items=0.5, votes=0.8).spread(25, Shape(0, 2))
    error, critical = alone.standard_error, student.ppf((1 + level) / 2, 24)
    found = power(alone, 0.5, level)
    assert found == pytest.approx(nct.sf(critical, 24, 0.5 / error), abs=1e-6)
    random = np.random.default_rng(3)
    for people in (3, 8):
        spread = PARTS.spread(80, Shape(people, people))
        df, effect = people - 1, 4 * spread.standard_error
        parts = spread.items, spread.annotators, spread.cells
        widths = []
        for _ in range(400):
            square = random.chisquare(79) / 79, random.chisquare(df) / df
            of = (parts[0] * square[0], parts[1] * square[1], parts[2], 79)
            widths.append(oracle.half_width(of, df, level))
        reached = norm.cdf((effect - np.array(widths)) / spread.standard_error)
        error = reached.std() / 20
        assert power(spread, effect, level) == pytest.approx(
            reached.mean(), abs=4 * error + 0.01
        )


# ---- cuts ------------------------------------------------------------------------------------
@pytest.mark.parametrize("listed", [False, True])
def test_the_cut_knows_how_many_scores_there_are(listed):
    random = np.random.default_rng(6)
    whole, items, alpha, q = expit(random.logistic(-2, 0.5, 780)), 40, 0.05, 0.1
    scores = np.sort(whole)[-120:] if listed else whole
    found = automatic_cut(
        scores, items=items, alpha=alpha, q=q, background=whole if listed else None
    )
    clean, far = logit(1 - whole), math.sqrt(alpha / 2)
    low, high = np.quantile(clean, [alpha, far])
    scale = (high - low) / (logit(far) - logit(alpha))
    p = q * alpha * items / (40 * 39 / 2)
    reach = low + scale * (logit(p) - logit(alpha))
    assert found.threshold == pytest.approx(1 - expit(reach), rel=1e-12)
    assert found.flagged == (scores >= found.threshold).sum()


# ---- times -----------------------------------------------------------------------------------
def moments(values):
    found = times(Table(name="table", columns={"timestamp": pa.array(values)}), "timestamp")
    return found.milliseconds.tolist()


def test_seconds_and_milliseconds_are_told_apart():
    assert moments(["1700000000.7", "1700000001"]) == [1700000000700, 1700000001000]
    assert moments(["1700000000000.5", "1700000000003"]) == [1700000000000, 1700000000003]
    assert moments(["1000.5", "1700000000003"]) == [1000, 1700000000003]
    assert moments(["200000000000.25"]) == [200000000000]
    assert moments(["1700000000", "1700000001"]) == [1700000000, 1700000001]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_of_known_units_are_milliseconds(unit):
    scale = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    stamps = pa.array([1_700_000_000 * scale], pa.int64()).cast(pa.timestamp(unit, "UTC"))
    assert moments(stamps) == [1_700_000_000_000]


def test_the_grid_is_every_combination():
    assert len(set(GRID)) == len(LEVELS) * len(TRUTHS) * 2 * 2


# ---- what survived once ----------------------------------------------------------------------
def test_annotators_of_one_item_each_are_no_panel_on_disk(tmp_path):
    models, votes, _ = inputs("many", 1, grouped=False)
    who = np.arange(len(votes.item))
    votes = replace(votes, annotator=who, annotators=tuple(f"r{r:04d}" for r in who))
    plan = resample(votes, "influence", replicates=400)
    known = evaluate(models, votes, metrics=["auroc"], resampling=plan)
    made = on_disk(tmp_path, votes, models, 0.95)
    assert made.population == known.two_way("auroc").population
    assert made.population.reason is Reason.ANONYMOUS


def test_two_annotators_are_people_on_disk(tmp_path):
    models, votes, plan = inputs("many", 1, grouped=False)
    two = votes.rows(votes.annotator < 2)
    votes = replace(two, annotators=votes.annotators[:2])
    kept = np.unique(votes.item)
    names = tuple(votes.items[i] for i in kept)
    votes = replace(votes, items=names, item=np.searchsorted(kept, votes.item))
    models = [replace(m, items=names, values=m.aligned(names)) for m in models]
    plan = resample(votes, "influence", replicates=400)
    known = evaluate(models, votes, metrics=["auroc"], resampling=plan)
    made = on_disk(tmp_path, votes, models, 0.95)
    assert made.population == known.two_way("auroc").population
    assert made.population.reason is Reason.TOO_FEW


def test_models_are_resampled_together_or_not_at_all():
    """A model that calls nobody positive has no precision, and nobody is best of resamples."""
    label = np.arange(40) % 2
    votes = yes_no(label)
    models = [
        Predictions(name, votes.items, score, task="a")
        for name, score in (("all", np.ones(40)), ("none", np.zeros(40)))
    ]
    study = evaluate(models, votes, metrics=["ppv"], resampling="items")
    assert np.isnan(study.values[0, 0, 1]).tolist() == [False, True]
    assert np.isnan(study.drawn(0, 0, 1)).all()


def test_a_task_in_which_a_model_has_no_value_is_not_averaged():
    label = np.arange(40) % 2
    votes = yes_no(label, tasks=2)
    calls = np.where(np.arange(40) % 5 < 3, label, 1 - label) * 1.0
    some = {("x", "a"): calls, ("y", "a"): np.ones(40), ("x", "b"): calls}
    models = [
        Predictions(name, votes.items, score, task=task)
        for (name, task), score in (some | {("y", "b"): np.zeros(40)}).items()
    ]
    study = evaluate(models, votes, metrics=["ppv"], resampling="influence")
    assert np.isnan(study.values[1, 0, 1]).tolist() == [False, True]
    alone, average = study.two_way("ppv", task="a"), study.two_way("ppv")
    np.testing.assert_allclose(average.items, alone.items)
    assert np.diag(average.items)[0] > 0


def test_few_units_that_carry_a_difference_plan_with_few_degrees_of_freedom():
    heavy = DifferenceVariances(items=0.5, tails=0.5)
    assert heavy.spread(41, Shape(0, 0)).df_items == 20
    assert heavy.spread(41, Shape(3, 2)).df_items == 20


@pytest.mark.parametrize("level", LEVELS)
def test_simulated_studies_are_tested_at_their_level(level):
    alone, aim = DifferenceVariances(items=0.5, votes=0.8), PowerTarget(level=level)
    share, error = simulated_power(alone, 60, Shape(0, 2), 0.25, aim)
    expected = power(alone.spread(60, Shape(0, 2)), 0.25, level)
    assert share == pytest.approx(expected, abs=4 * error)


def test_the_score_of_the_cut_is_called_a_problem():
    whole = expit(np.random.default_rng(6).logistic(-2, 0.5, 780))
    cut_of = partial(automatic_cut, items=40, alpha=0.05, q=0.1, background=whole)
    threshold = cut_of(whole[:20]).threshold
    assert cut_of(np.array([threshold, threshold - 1e-9, 0.1])).flagged == 1


def test_moments_in_text_are_milliseconds_also_far_from_today():
    assert moments(["2023-11-14T22:13:20Z", "2023-11-14T22:13:20.0000005Z"]) == [
        1_700_000_000_000,
        1_700_000_000_000,
    ]
    assert moments(["2500-01-01T00:00:00.001Z"]) == [16_725_225_600_001]

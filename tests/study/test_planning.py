"""Plans from a pilot: components by analysis of variance, power by noncentral t, next votes."""

import csv
import json
import math
import os
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import typer
from benchmarks.planning import decider, goal_powers
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, nct, t
from typer.testing import CliRunner

from equipoise import metrics
from equipoise.cli.plan import plan as plan_verb
from equipoise.datasets import load_chexpert
from equipoise.inference import Population, Spread
from equipoise.read.annotations import read_annotations
from equipoise.study import Settings, Study, evaluate
from equipoise.study.competitors import reader_tables
from equipoise.study.planning import next_items, plan_report, plan_size
from equipoise.study.planning.pilot import pilots, usable_metric
from equipoise.study.planning.power_analysis import (
    DifferenceVariances,
    PowerTarget,
    Shape,
    _effects,
    half_widths,
    narrow,
    power,
    simulated_power,
)
from equipoise.types import Annotations, InputError, Predictions
from tests.oracles import bootstrap
from tests.strategies import names


def logistic(x):
    return 1 / (1 + np.exp(-x))


def world(random, items, votes, noise=(0.8, 1.1)):
    """Soft truths, a matrix of votes, and the scores of two models."""
    latent = random.normal(size=items)
    truth = logistic(1.5 * latent)
    cast = (random.random((items, votes)) < truth[:, None]).astype(float)
    scores = [logistic(latent + random.normal(size=items) * s) for s in noise]
    return truth, cast, scores


def annotated(cast, **more):
    """Anonymous votes of a matrix (items, votes); nan for none."""
    return bootstrap.annotations(cast, **more).anonymous()


def models(scores):
    return [
        Predictions(name, names(len(one)), one)
        for name, one in zip("abcdefg", scores, strict=False)
    ]


def small(seed=3, items=40, votes=4):
    _, cast, scores = world(np.random.default_rng(seed), items, votes)
    return annotated(cast), models(scores), cast, scores


def gap(p, scores, metric=metrics.auroc):
    return metric(p, scores[0]) - metric(p, scores[1])


def panel(seed=3, items=120, people=6, habit=0.0, group=None):
    """Votes of annotators with names; they lean towards what only one model sees by habit."""
    random = np.random.default_rng(seed)
    latent, side = random.normal(size=(2, items))
    lean = habit * random.normal(size=people)
    chance = logistic(1.5 * latent[:, None] + side[:, None] * lean)
    cast = (random.random((items, people)) < chance).astype(float)
    scores = [
        logistic(latent + sign * 0.5 * side + noise * random.normal(size=items))
        for sign, noise in ((1, 0.5), (-1, 1.0))
    ]
    more = {} if group is None else {"group": group, "groups": names(group.max() + 1, "night")}
    return bootstrap.annotations(cast, **more), models(scores), cast, scores


def vote_differences(cast, scores):
    """By how much the first model's Brier score of every vote is better."""
    by_label = [
        metrics.item_scores("brier_score", np.full(len(cast), k), scores[1])
        - metrics.item_scores("brier_score", np.full(len(cast), k), scores[0])
        for k in (0, 1)
    ]
    return np.where(cast == 1, by_label[1][:, None], by_label[0][:, None])


def test_components_are_those_of_the_analysis_of_variance():
    votes, both, cast, scores = panel(habit=1.0)
    found = pilots(both, votes, "brier_score", ("a", "b"))[0].components
    each = vote_differences(cast, scores)
    items, people = each.shape
    rows, columns = each.mean(axis=1), each.mean(axis=0)
    rest = each - rows[:, None] - columns + each.mean()
    noise = (rest**2).sum() / ((items - 1) * (people - 1))
    assert found.annotators == pytest.approx(columns.var(ddof=1) - noise / items, rel=1e-6)
    assert found.votes == pytest.approx(noise, rel=1e-6)
    assert found.items == pytest.approx(rows.var(ddof=1) - noise / people, rel=1e-6)
    assert found.annotators > 0 and found.groups == found.cells == 0


def test_what_annotators_of_unequal_loads_differ_by_comes_out_on_average():
    """A mean over votes: half are one reader's, the others share the rest in turn."""
    random, found, lean = np.random.default_rng(5), [], 0.25
    both = models([np.full(200, 0.9), np.full(200, 0.3)])
    for _ in range(60):
        chance = 0.5 + lean * random.choice([-1.0, 1.0], 11)
        read = np.zeros((200, 11), dtype=bool)
        read[:, 0] = read[np.arange(200), 1 + np.arange(200) % 10] = True
        cast = np.where(read, random.random((200, 11)) < chance, np.nan)
        votes = bootstrap.annotations(cast)
        found.append(pilots(both, votes, "accuracy", ("a", "b"))[0].components.annotators)
    # accuracy of always yes less always no is 2 y - 1: 4 times the variance of chances
    assert np.mean(found) == pytest.approx(4 * lean**2, rel=0.2)


def nights(random, number, items, people):
    """Probabilities of yes by night, item and annotator, (nights, items, annotators)."""
    own = 0.8 * random.normal(size=(number, 1, 1)) + 0.4 * random.normal(
        size=(number, items, 1)
    )
    return logistic(own + 0.9 * random.normal(size=(number, 1, people)))


def test_groups_and_what_annotators_make_of_them_are_told_apart():
    """A mean over items: what is put in comes out, on average over pilots."""
    random = np.random.default_rng(2)
    found, night = [], np.repeat(np.arange(60), 8)
    both = models([np.full(480, 0.9), np.full(480, 0.3)])
    for _ in range(16):
        chance = nights(random, 60, 8, 6).reshape(480, 6)
        cast = (random.random((480, 6)) < chance).astype(float)
        votes = bootstrap.annotations(cast, group=night, groups=names(60, "night"))
        found.append(pilots(both, votes, "accuracy", ("a", "b"))[0].components)
    # accuracy of always yes less always no is 2 y - 1: 4 times covariances of y
    many = nights(random, 200_000, 2, 2)

    def shared(item, person):
        return 4 * np.cov(many[:, 0, 0], many[:, item, person])[0, 1]

    groups = shared(1, 1)
    cells, items = shared(1, 0) - groups, shared(0, 1) - groups
    mean = {
        name: np.mean([getattr(one, name) for one in found])
        for name in ("groups", "cells", "items", "votes", "annotators")
    }
    assert mean["groups"] == pytest.approx(groups, rel=0.2)
    assert mean["cells"] == pytest.approx(cells, rel=0.2)
    assert mean["items"] == pytest.approx(items, abs=0.03)
    assert mean["votes"] == pytest.approx(1 - groups - cells - items, rel=0.05)
    assert mean["annotators"] < 0.01


def test_the_variance_of_a_design_is_the_formula():
    parts = DifferenceVariances(items=3.0, annotators=0.4, votes=5.0, groups=2.0, cells=0.7)
    made = parts.spread(40, Shape(9, 4, 6))
    noise = 0.7 / (40 * 4) + 5 / (40 * 6 * 4)
    assert made.variance == pytest.approx(2 / 40 + 3 / 240 + 0.4 / 9 + noise)
    assert made.df_annotators == 8 and made.df_items == 39
    everybody = parts.spread(40, Shape(9, 9, 6))  # a cell holds its annotator's habit, too
    assert everybody.cells == pytest.approx((0.4 + 0.7 + 5 / 6) / (40 * 9))
    assert everybody.annotators == pytest.approx(0.4 / 9 + everybody.cells)
    strangers = parts.spread(40, Shape(0, 4, 6))
    assert strangers.variance == pytest.approx(2 / 40 + 3 / 240 + noise)


@pytest.mark.parametrize(("df", "far"), [(5, 3.0), (19, 2.0), (300, 2.8)])
def test_power_over_units_is_noncentral_t(df, far):
    wanted = 1 - nct.cdf(t.ppf(0.975, df), df, far)
    assert power(Spread(1.0, df_items=df), far, 0.95) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("people", [3, 5, 8, 30])
def test_power_over_annotators_is_noncentral_t(people):
    """Where annotators are all the uncertainty, few of them have the heavy tails of t."""
    df = people - 1
    whole = Spread(0.0, 4.0, 0.0, df_annotators=df, population=Population())
    for far in (2.0, 4.0, 9.0):
        wanted = 1 - nct.cdf(t.ppf(0.975, df), df, far)
        assert power(whole, 2 * far, 0.95) == pytest.approx(wanted, abs=0.015)


@pytest.mark.parametrize("people", [3, 4, 5, 6, 12])
def test_half_widths_are_those_of_an_evaluation(people):
    for units, annotators, cells in ((1.0, 1.0, 0.3), (0.2, 0.3, 0.25), (1.0, 0.1, 0.4)):
        one = Spread(
            units, annotators, cells, df_items=60, df_annotators=people - 1,
            population=Population(),
        )  # fmt: skip
        found = half_widths(one, np.array([units]), np.array([annotators]), 0.95)
        assert found[0] == pytest.approx(one.half_width(), rel=0.01)


@pytest.mark.parametrize("shape", [Shape(3, 3), Shape(5, 5), Shape(12, 12), Shape(12, 4),
                                   Shape(8, 8, 10), Shape(0, 3)])  # fmt: skip
def test_simulated_studies_tested_like_any_other_have_the_power_promised(shape):
    parts = DifferenceVariances(items=1.0, annotators=0.05, votes=2.0, groups=0.5, cells=0.4)
    effect = 2.9 * parts.spread(80, shape).standard_error
    promised = power(parts.spread(80, shape), effect, 0.95)
    target = PowerTarget(simulations=600, seed=4)
    share, error = simulated_power(parts, 80, shape, effect, target)
    assert share == pytest.approx(promised, abs=4 * error)
    nothing = simulated_power(parts, 80, shape, 0.0, target)[0]
    assert nothing < 0.05  # one side of 5 %


def test_studies_that_cannot_fail_never_do_and_the_share_stays_uncertain():
    parts, shape = DifferenceVariances(items=1.0, annotators=0.05, votes=2.0), Shape(6, 6)
    for studies in (40, 50, 147):
        target = PowerTarget(simulations=studies, seed=1)
        share, error = simulated_power(parts, 60, shape, 100.0, target)
        assert share == 1.0 and error == pytest.approx(1 / (2 * studies))
        assert simulated_power(parts, 60, shape, -100.0, target)[0] == 0.0


@pytest.mark.parametrize("tails", [1.0, 0.6, 0.25])
def test_effects_of_simulated_units_have_variance_one_and_the_tails_of_the_pilot(tails):
    drawn = _effects(tails, (2000, 1000), np.random.default_rng(3))
    kurtosis = 1 + 2 / tails
    assert drawn.var() == pytest.approx(1, abs=5 * math.sqrt((kurtosis - 1) / drawn.size))
    assert (drawn**4).mean() == pytest.approx(kurtosis, rel=0.05)


def test_the_numbers_needed_are_the_smallest_and_fall_with_annotators():
    votes, both, *_ = panel(items=300, people=8, habit=0.3)
    done = plan_size(both, votes, difference=0.05, simulations=0)
    for one in done.designs:
        assert done.power(one.groups, one.shape) == one.power >= 0.8
        assert one.groups == 30 or done.power(one.groups - 1, one.shape) < 0.8
        assert one.votes == one.items * one.annotators
    items = [one.items for one in done.designs]
    assert items == sorted(items, reverse=True) and len(set(items)) > 1
    few = plan_size(both, votes, difference=0.05, simulations=0, votes=(3,))
    assert [one.votes_per_item for one in few.designs] == [3] * len(few.designs)
    for one, all_ in zip(few.designs[-2:], done.designs[-2:], strict=True):
        assert one.items > all_.items and one.votes < all_.votes


def test_below_some_number_of_annotators_no_number_of_items_is_enough():
    votes, both, *_ = panel(seed=5, items=400, people=10, habit=2.0)
    done = plan_size(both, votes, difference=0.06, simulations=0)
    least = done.pairs[0].least_annotators()
    assert least > 5
    assert done.pairs[0].power(math.inf, Shape(least, least)) >= 0.8
    assert done.pairs[0].power(math.inf, Shape(least - 1, least - 1)) < 0.8
    assert all(one.annotators >= least for one in done.designs)
    assert f"ith fewer than {least} annotators no number of items reaches it." in done.finding
    none = plan_size(both, votes, difference=0.06, simulations=0, annotators=(3, 4))
    assert none.designs == () and none.pairs[0].state == "out of reach"
    assert f"80%: with fewer than {least} annotators no number" in none.finding


def test_a_pilot_that_found_nothing_is_not_planned_from_its_own_difference():
    votes, both, *_ = panel(seed=8, items=60)
    alike = [both[0], replace(both[0], model="b", values=np.round(both[0].values, 1))]
    found = evaluate(alike, votes, metrics=["auroc"]).to_best("auroc")[0]
    assert found.low < 0 < found.high
    done = plan_size(alike, votes, models=("a", "b"))
    assert (
        done.pairs[0].state == "not plannable"
        and done.designs == ()
        and not done.pairs[0].decided
    )
    assert done.finding.startswith("Not plannable from this pilot: ")
    assert "Give the smallest one that matters (difference=...)." in done.finding
    assert (done.pairs[0].low, done.pairs[0].high) == pytest.approx((found.low, found.high))
    given = plan_size(alike, votes, difference=0.05, simulations=0)
    assert given.pairs[0].state == "planned" and given.pairs[0].resolved == 0.05
    apart = plan_size(both, votes, simulations=0)
    assert apart.pairs[0].decided == (apart.pairs[0].low > 0)


def test_two_best_of_many_must_be_apart_among_all_of_them():
    """By itself the interval of the two best may leave out 0, and yet not among all models."""
    said = []
    for seed in (3, 12):
        votes, _, cast, _ = panel(seed=seed, items=80)
        random, share = np.random.default_rng(seed), cast.mean(axis=1)
        noise = (0.42, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
        many = models([share + random.normal(0, one, 80) for one in noise])
        done = plan_size(many, votes, simulations=0, annotators=(8,))
        how = {"metrics": ["auroc"], "resampling": "influence"}
        known = [one.model for one in many]
        family = evaluate(many, votes, **how).family("auroc")
        assert (
            done.pairs[0].decided
            == family.better[known.index(done.pairs[0].a), known.index(done.pairs[0].b)]
        )
        if done.pairs[0].low > 0:
            said.append(done.pairs[0].decided)
            assert done.pairs[0].decided or "among all models of the pilot" in done.finding
    assert set(said) == {True, False}


def test_evaluate_and_plan_say_the_same_of_real_models():
    if not (Path(os.environ.get("EQUIPOISE_DATA", "missing")) / "chexpert").exists():
        pytest.skip("the CheXpert files are not in EQUIPOISE_DATA")
    study = load_chexpert()
    two = [
        one for one in study.predictions
        if one.task == "Edema" and one.model in ("drnet", "uestc")
    ]  # fmt: skip
    how = {"metrics": ["auroc"], "settings": Settings(on_missing="drop")}
    said = evaluate(two, study.annotations, **how).differences("auroc", task="Edema")[0]
    plan = plan_size(study.predictions, study.annotations, models=("drnet", "uestc"),
                     task="Edema", simulations=0)  # fmt: skip
    assert (plan.pairs[0].difference, plan.pairs[0].low, plan.pairs[0].high) == pytest.approx(
        (said.value, said.low, said.high)
    )
    assert not said.separated and said.low < 0
    assert plan.pairs[0].state == "not plannable" and plan.designs == ()
    again = plan_size(study.predictions, study.annotations, models=("drnet", "uestc"),
                      task="Edema", difference=0.003, simulations=0)  # fmt: skip
    assert [one.annotators for one in again.designs] == [3, 5, 8, 12, 20]
    now = again.pairs[0].components.spread(500, Shape(8, 8))
    parts = evaluate(two, study.annotations, **how).two_way("auroc", task="Edema").between(0, 1)
    assert now.variance == pytest.approx(parts.variance, rel=1e-6)


def readers(random, items, people, taste):
    """Readers with leanings and tastes of their own, and models that cater for either taste."""
    z, w = random.standard_normal((2, items))
    b, g = 0.5 * random.standard_normal(people), taste * random.standard_normal(people)
    noise = 0.8 * random.standard_normal((items, people))
    cast = (z[:, None] + w[:, None] * g + b + noise > 0.55).astype(float)
    eta = np.sqrt(0.5) * (random.standard_normal(items) + random.standard_normal((2, items)))
    scores = [z + 0.5 * w + 0.6 * eta[0], z - 0.5 * w + 1.1 * eta[1]]
    return cast, scores


def test_a_plan_of_80_percent_has_that_power_when_readers_have_tastes():
    """Plans from several pilots; studies of the planned size are drawn anew and evaluated."""
    random = np.random.default_rng(6)
    large = (readers(random, 3000, 30, 0.2) for _ in range(60))
    true = np.mean([gap(cast.mean(axis=1), scores) for cast, scores in large])
    resolved = []
    for _ in range(4):
        cast, scores = readers(random, 1000, 24, 0.2)
        done = plan_size(
            models(scores), bootstrap.annotations(cast), models=("a", "b"), difference=true,
            annotators=(12, 20), simulations=0,
        )  # fmt: skip
        for one in done.designs:
            for _ in range(40):
                cast, scores = readers(random, one.items, one.annotators, 0.2)
                told = evaluate(
                    models(scores), bootstrap.annotations(cast), metrics=["auroc"],
                    resampling="influence",
                ).differences("auroc")[0]  # fmt: skip
                resolved.append(told.low > 0)
    assert len(resolved) >= 240
    assert 0.73 < np.mean(resolved) < 0.88  # Monte Carlo error 0.024; pilots add theirs


def test_a_margin_plans_for_not_being_worse():
    votes, both, *_ = panel(items=300)
    done = plan_size(both, votes, models=("b", "a"), margin=0.04, simulations=0)
    assert (
        (done.pairs[0].a, done.pairs[0].b) == ("b", "a")
        and done.pairs[0].resolved == 0
        and done.pairs[0].effect == 0.04
    )
    same = plan_size(both, votes, difference=0.04, simulations=0)
    assert [one.items for one in done.designs] == [one.items for one in same.designs]
    assert "b is not worse than a by 0.040 or more in soft AUROC if the two are" in done.finding
    less = plan_size(both, votes, margin=0.03, difference=0.01, simulations=0)
    assert less.pairs[0].effect == pytest.approx(0.04)
    assert [one.items for one in less.designs] == [one.items for one in same.designs]


def test_the_cheapest_design_depends_on_prices():
    votes, both, *_ = panel(items=300, people=8, habit=0.3)
    how = {"difference": 0.05, "simulations": 0}
    dear_items = plan_size(both, votes, price_item=50, price_vote=0.1, **how)
    dear_votes = plan_size(both, votes, price_item=0, price_vote=1, **how)
    dear_people = plan_size(both, votes, price_item=1, price_vote=0, price_annotator=1e6, **how)
    assert dear_items.recommended.annotators == 20
    assert dear_votes.recommended.votes == min(one.votes for one in dear_votes.designs)
    assert dear_people.recommended.annotators == dear_people.designs[0].annotators
    best = dear_items.recommended
    assert best.cost == pytest.approx(best.items * (50 + 0.1 * best.votes_per_item))
    assert "cheapest" in dear_items.finding
    assert math.isnan(plan_size(both, votes, **how).recommended.cost)


def test_what_cannot_be_resolved_is_said():
    votes, _, _, scores = panel()
    same = plan_size(models([scores[0], scores[0]]), votes)
    assert same.designs == () and same.rows() == []
    assert "difference in the pilot is 0" in same.finding
    wished = plan_size(models([scores[0], scores[0]]), votes, difference=0.1)
    assert wished.designs == () and "difference in the pilot is 0" in wished.finding
    flat = models([np.full(40, 0.9), np.zeros(40)])
    level = plan_size(flat, annotated(np.ones((40, 2))), metric="brier_score")
    assert level.pairs[0].difference == pytest.approx(1.98) and level.designs == ()
    assert "no size can be planned" in level.finding
    three = plan_size(models([scores[0], scores[0], scores[1]]), votes, simulations=0)
    assert (three.pairs[0].a, three.pairs[0].b) == ("a", "c")
    assert str(three.notices[0]) == "Passed over, with exactly the value of 'a': 'b'."


def test_strangers_are_planned_by_votes_and_said_to_be_strangers():
    votes, both, *_ = small(items=300)
    done = plan_size(both, votes, difference=0.05, simulations=0)
    assert [one.votes_per_item for one in done.designs] == [1, 2, 3, 5, 8]
    assert {one.annotators for one in done.designs} == {0} and done.pairs[
        0
    ].components.annotators == 0
    assert any(one.code == "annotators_unknown" for one in done.notices)
    assert done.pairs[0].components.votes > 0 and done.designs[0].items > done.designs[-1].items
    one = plan_size(both, annotated(np.round(both[0].values)[:, None]), difference=0.1,
                    simulations=0)  # fmt: skip
    assert [each.votes_per_item for each in one.designs] == [1]
    assert any(each.code == "single_votes" for each in one.notices)


def test_the_spread_of_strangers_is_textbook():
    votes, both, cast, scores = small(items=30, votes=3)
    found = pilots(both, votes, "brier_score", ("a", "b"))[0].components
    each = vote_differences(cast, scores)
    within = each.var(axis=1, ddof=1).mean()
    between = each.mean(axis=1).var(ddof=1) - within / 3
    assert found.votes == pytest.approx(within, rel=1e-6)
    assert found.items == pytest.approx(max(between, 0), rel=1e-6, abs=1e-9)


def test_two_annotators_cannot_stand_for_others():
    votes, both, *_ = panel(items=300, people=2)
    done = plan_size(both, votes)
    assert (
        done.pairs[0].state == "not plannable"
        and "2 annotators cannot stand for" in done.finding
    )
    given = plan_size(both, votes, difference=0.08, simulations=0)
    assert given.pairs[0].state == "planned" and any(
        n.code == "few_annotators" for n in given.notices
    )


def test_designs_with_groups_are_groups_by_items():
    night = np.repeat(np.arange(40), 10)
    votes, both, *_ = panel(items=400, group=night)
    done = plan_size(both, votes, difference=0.06, simulations=0)
    assert done.pairs[0].group_size == 10 and done.pairs[0].pilot_units == 40
    assert {one.shape.per_unit for one in done.designs} == {1, 10}
    for one in done.designs:
        assert one.items == one.groups * one.shape.per_unit
    asked = plan_size(both, votes, difference=0.06, simulations=0, items_per_group=(4,))
    assert {one.shape.per_unit for one in asked.designs} == {4}
    assert "groups of 4 items read by" in asked.finding
    now = done.pairs[0].components.spread(40, Shape(6, 6, 10))
    parts = evaluate(both, votes, metrics=["auroc"]).two_way("auroc").between(0, 1)
    assert now.variance == pytest.approx(parts.variance, rel=0.1)  # parts below 0 are cut


def test_plans_are_deterministic_and_change_nothing():
    votes, both, *_ = panel()
    before = votes.label.copy()
    how = {"difference": 0.1, "simulations": 30}
    first, again = (plan_size(both, votes, seed=5, **how) for _ in range(2))
    assert first.rows() == again.rows()
    other = plan_size(both, votes, seed=6, **how)
    assert [one.simulated for one in other.designs] != [one.simulated for one in first.designs]
    assert_array_equal(votes.label, before)
    assert next_items(both, votes).rows() == next_items(both, votes).rows()
    seen = []
    plan_size(both, votes, progress=lambda *at: seen.append(at), **how)
    assert seen[-1] == (5, 5)


@pytest.mark.parametrize("metric", ["auroc", "brier_score", "auroc:form=strict"])
def test_effects_are_what_moving_a_label_does(metric):
    votes, both, cast, _ = small()
    two = pilots(both, votes, metric, ("a", "b"))[0]
    whole = np.stack([1 - cast.mean(axis=1), cast.mean(axis=1)])
    effects, here = two.effects(whole), two.difference_with(whole)
    assert here == pytest.approx(two.difference)
    for i in (0, 7, 21):
        for code in (0, 1):
            moved = whole.copy()
            moved[:, i] += 1e-6 * ((np.arange(2) == code) - whole[:, i])
            slope = (two.difference_with(moved) - here) / 1e-6
            assert effects[code, i] == pytest.approx(slope, rel=1e-2, abs=1e-6)
    assert_allclose((whole * effects).sum(axis=0), 0, atol=1e-6)


def test_the_standard_error_after_the_votes_is_what_the_gains_leave():
    votes, both, *_ = panel()
    found = next_items(both, votes, number=20)
    now, then = found.standard_error()
    parts = evaluate(both, votes, metrics=["auroc"]).two_way("auroc").between(0, 1)
    assert now == pytest.approx(parts.standard_error)
    assert then**2 == pytest.approx(now**2 - found.gain.sum())
    assert 0 < then < now


def test_classes_grades_and_the_whole_order_can_be_planned():
    random = np.random.default_rng(8)
    share = random.dirichlet([1, 1, 1], 120)
    counts = np.stack([random.multinomial(5, one) for one in share])
    votes = Annotations.from_counts(counts, classes=["x", "y", "z"])
    three = []
    for name, noise in (("a", 0.2), ("b", 0.6), ("c", 3.0)):
        mixed = share + noise * random.dirichlet([1, 1, 1], 120)
        values = mixed / mixed.sum(axis=1, keepdims=True)
        three.append(Predictions(name, votes.items, values, ("x", "y", "z")))
    order = plan_size(
        three, votes, metric="log_score", simulations=0, difference=0.1, ranking=True
    )
    assert [(one.a, one.b) for one in order.pairs] == [("a", "b"), ("b", "c")]
    assert order.models == ("a", "b", "c") and order.rows()[0]["votes_per_item"] == 1
    assert {one.aim.power for one in order.pairs} == {order.aim.power} == {0.8}
    single = plan_size(three, votes, metric="auroc", models=("c", "a"), simulations=20)
    assert (single.pairs[0].a, single.pairs[0].b) == ("a", "c")
    assert next_items(three, votes, "log_score", 5).gain.min() > 0


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"power": 1.2}, "plan, power: 1.2, expected a number between 0 and 1"),
        ({"votes": (0,)}, "a whole number of at least 1"),
        ({"annotators": ()}, "plan, annotators: none"),
        ({"annotators": (2,)}, "a whole number of at least 3"),
        ({"margin": -0.1}, "plan, margin: -0.1"),
        ({"price_annotator": -1.0}, "at least 0"),
        ({"price_item": 1.0}, "two numbers of at least 0, or none"),
        ({"price_item": 0.0, "price_vote": 0.0}, "both 0"),
        ({"difference": -0.1}, "plan, difference: -0.1"),
        ({"simulations": -1}, "plan, simulations: -1"),
        ({"metric": "precision_at_10"}, "a metric of a fixed number k"),
        ({"metric": "topk_accuracy"}, "a metric of draws of possible truths"),
        ({"metric": "aurroc"}, "did you mean 'auroc'?"),
        ({"models": ("a", "bb")}, "models: 'bb'"),
        ({"models": ("a", "a")}, "expected two to compare"),
        ({"task": "x"}, "task: 'x'"),
        ({"width": -1}, "plan, width: -1"),
        ({"width": 0.6}, "at most 0.5"),
        ({"width": 0.1, "margin": 0.1}, "a width and a comparison"),
        ({"width": 0.1, "ranking": True}, "leave ranking out"),
        ({"width": 0.1, "models": ("a", "b")}, "the name of one model"),
        ({"readers": True}, "a margin or a difference"),
        ({"readers": True, "margin": 0.1}, "anonymous votes"),
    ],
)
def test_bad_plans_are_refused(how, words):
    votes, both, *_ = small()
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+") as refused:
        plan_size(both, votes, **how)
    assert words in str(refused.value)


@pytest.mark.parametrize("how", [
    {"simulation": 10}, {"votes": 3}, {"votes": "3"}, {"votes": (2.5,)}, {"votes": (True,)},
    {"annotators": 5}, {"margin": "a"}, {"power": "0.8"}, {"power": True}, {"level": "0.9"},
    {"level": float("nan")}, {"simulations": 2.5}, {"simulations": "a"}, {"seed": 1.5},
    {"seed": "a"}, {"seed": -1}, {"difference": "a"}, {"difference": float("inf")},
    {"price_item": "a", "price_vote": 1}, {"price_item": 1, "price_vote": -1},
    {"models": "ab"}, {"models": 3}, {"models": ("a",)}, {"models": ("a", 3)}, {"task": 3},
    {"metric": 3}, {"metric": None}, {"progress": 3}, {"predictions": "x"},
    {"predictions": [3]}, {"annotations": "x"},
])  # fmt: skip
def test_arguments_of_a_wrong_type_are_refused_in_four_parts(how):
    votes, both, *_ = small()
    given = {"predictions": both, "annotations": votes, **how}
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
        plan_size(given.pop("predictions"), given.pop("annotations"), **given)


@pytest.mark.parametrize("how", [
    {"number": 2.5}, {"number": "3"}, {"seed": "a"}, {"models": "ab"}, {"metric": 3},
    {"task": 3}, {"progress": 3}, {"simulations": 3},
])  # fmt: skip
def test_next_items_of_a_wrong_type_are_refused_in_four_parts(how):
    votes, both, *_ = small()
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
        next_items(both, votes, **how)
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
        next_items(both, votes, number=3).write(3)
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
        plan_size("x", votes, ranking=True)


def test_a_chance_that_no_difference_reaches_too_is_refused():
    votes, both, *_ = small()
    with pytest.raises(
        InputError, match=r"more than 0\.45, the probability of a study without"
    ):
        plan_size(both, votes, power=0.02, level=0.1)
    with pytest.raises(InputError, match="plan, power"):
        plan_size(both, votes, power=0.025)
    sizes = [
        plan_size(both, votes, power=one, difference=0.05, simulations=0).designs[0].items
        for one in (0.1, 0.5, 0.8)
    ]
    assert sizes == sorted(sizes) and sizes[0] < sizes[2]


def test_bad_pilots_are_refused():
    votes, both, cast, scores = small()
    with pytest.raises(InputError, match="two to compare"):
        plan_size(both[0], votes)
    with pytest.raises(InputError, match="at least 3"):
        plan_size(models([s[:2] for s in scores]), votes)
    with pytest.raises(InputError, match="votes for every class"):
        plan_size(both, annotated(np.ones_like(cast)))
    with pytest.raises(InputError, match="at least 1"):
        next_items(both, votes, number=0)
    partial = plan_size(models([np.append(s, 0.5) for s in scores]), votes, simulations=0)
    assert any("not annotated" in str(one) for one in partial.notices)


def test_the_expected_gain_is_slope_squared_times_what_a_vote_takes_away():
    votes, both, cast, scores = small(votes=4)
    found = next_items(both, votes, number=40)
    p, place = cast.mean(axis=1), {name: i for i, name in enumerate(names(40))}
    usual = (p.sum() + 0.5) / 41
    believed = (4 * p + found.imagined * usual) / (4 + found.imagined)
    for row in (found.rows()[k] for k in (0, 11, 39)):
        i = place[row["item"]]
        moved = believed.copy()
        moved[i] += 1e-6
        slope = (gap(moved, scores) - gap(believed, scores)) / 1e-6
        mean = believed[i]
        assert row["expected gain"] == pytest.approx(
            slope**2 * mean * (1 - mean) / (5 + found.imagined) ** 2, rel=0.02, abs=1e-12
        )
        assert row["soft label"] == p[i] and row["votes so far"] == 4
    assert (np.diff(found.gain) <= 1e-9 * found.gain[0]).all()


def test_votes_on_the_named_items_make_the_difference_surer_than_random_ones():
    """Mean squared error of the difference, against that with all possible votes."""
    random = np.random.default_rng(9)
    errors = {"before": [], "named": [], "random": []}
    for _ in range(80):
        truth, cast, scores = world(random, 120, 3)
        both, true = models(scores), gap(truth, scores)
        yes, size = cast.sum(axis=1), np.full(120, 3.0)
        errors["before"].append(gap(yes / size, scores) - true)
        chosen = next_items(both, annotated(cast), number=30, models=("a", "b")).items
        rows = {
            "named": np.array([int(name.split("-")[1]) for name in chosen]),
            "random": random.choice(120, 30, replace=False),
        }
        for kind, own in rows.items():
            more, number = yes.copy(), size.copy()
            more[own] += random.binomial(3, truth[own])
            number[own] += 3
            errors[kind].append(gap(more / number, scores) - true)
    squared = {kind: np.mean(np.square(one)) for kind, one in errors.items()}
    assert squared["named"] < 0.85 * squared["random"] < 0.95 * squared["before"]


def test_gold_is_never_sent_for_votes_and_certain_pilots_say_so():
    votes, both, cast, _ = small(votes=1)
    item = np.arange(40)
    gold = Annotations(
        kind="binary", items=votes.items, classes=("no", "yes"), item=item,
        label=cast[:, 0].astype(int), is_gold=np.ones(40, dtype=bool),
    )  # fmt: skip
    found = next_items(both, gold)
    assert found.items == () and "No vote on any item" in found.finding
    assert pilots(both, gold, "auroc")[0].components.votes == 0


def partly_known(settled=10, items=40, votes=5):
    """Votes of which the first items have a known truth in place, besides their votes."""
    _, cast, scores = world(np.random.default_rng(3), items, votes)
    item, person = np.nonzero(cast >= 0)
    gold = (item < settled) & (person == 0)
    table = Annotations(
        kind="binary", items=names(items), classes=("no", "yes"), item=item,
        label=cast[item, person].astype(int), is_gold=gold,
    )  # fmt: skip
    return table, models(scores)


def test_known_truths_are_no_votes():
    table, both = partly_known()
    plan = plan_size(both, table, simulations=30, votes=(3, 5), difference=0.1)
    assert plan.pairs[0].pilot_votes == 5
    assert any("The truth of 10 of the 40 items" in str(one) for one in plan.notices)
    assert not any(math.isnan(one.simulated) for one in plan.designs)
    found = next_items(both, table, number=40)
    assert not set(found.items) & set(names(10)) and len(found.items) <= 30
    assert (found.gain > 0).all() and "though 40 were asked for" in found.finding
    known = plan_size(both, partly_known(settled=40)[0], simulations=0, difference=0.1)
    assert known.pairs[0].pilot_votes == 0 and "items with a known truth each." in known.finding
    assert any("The truth of all of the 40 items" in str(one) for one in known.notices)
    assert not any(
        "The truth of" in str(one)
        for one in plan_size(both, partly_known(0)[0], difference=0.1, simulations=0).notices
    )


def test_a_list_of_no_items_is_a_file_with_a_head(tmp_path):
    table, both = partly_known(settled=40)
    next_items(both, table).write(tmp_path / "next.csv")
    assert (tmp_path / "next.csv").read_text().startswith("item,annotator,label,votes")


def test_infinite_scores_are_refused_by_the_name_of_the_model():
    votes, both, cast, scores = small()
    sure = scores[0].copy()
    sure[:2] = 1 - (cast[:2].mean(axis=1) >= 0.5)
    wrong = [Predictions("sure", names(40), sure), both[1]]
    for ask, ranking in product((plan_size, next_items), (False, True)):
        with pytest.raises(InputError, match=r"infinite for .sure., expected finite"):
            ask(wrong, votes, metric="log_score", ranking=ranking)
    third = plan_size([*both, replace(wrong[0])], votes, metric="log_score", simulations=0)
    assert {third.pairs[0].a, third.pairs[0].b} == {"a", "b"}
    agreed = np.where(np.arange(40)[:, None] < 2, 1.0, cast)
    near = scores[0].copy()
    near[:2] = 1
    given = [Predictions("near", names(40), near), both[1]]
    assert plan_size(
        given, annotated(agreed), metric="log_score", simulations=0, difference=0.3
    ).designs
    with pytest.raises(InputError, match=r"infinite for .near."):
        next_items(given, annotated(agreed), metric="log_score")


def test_a_difference_that_no_models_can_have_is_refused():
    votes, both, *_ = small()
    with pytest.raises(InputError, match="5, expected at most 1, because AUROC lies between"):
        plan_size(both, votes, difference=5)
    with pytest.raises(InputError, match="expected at most 2"):
        plan_size(both, votes, metric="brier_score", difference=2.5, ranking=True)
    assert plan_size(both, votes, metric="log_score", difference=5, simulations=0).designs


def distributions(items=150, votes=4, seed=2):
    """Votes of three classes, and two models of different skill."""
    random = np.random.default_rng(seed)
    share = random.dirichlet(np.full(3, 0.6), items)
    counts = np.stack([random.multinomial(votes, one) for one in share])
    table = Annotations.from_counts(counts, classes=["x", "y", "z"])
    given = []
    for name, shape in (("a", 3.0), ("b", 1.2)):
        mixed = share**0.7 * random.gamma(shape, 1, share.shape) + 0.01
        values = mixed / mixed.sum(axis=1, keepdims=True)
        given.append(Predictions(name, table.items, values, ("x", "y", "z")))
    return given, table, counts


@pytest.mark.parametrize("name", ["auroc", "average_precision", "brier_score", "accuracy",
                                  "log_score", "expected_cost"])  # fmt: skip
def test_means_over_votes_are_the_same_with_any_number_of_them(name):
    given, table, _ = distributions()
    plan = plan_size(given, table, metric=name, simulations=0)
    assert not any(one.code == "depends_on_votes" for one in plan.notices)


def test_a_difference_that_depends_on_the_votes_per_item_is_said():
    given, table, counts = distributions(items=500)
    plan = plan_size(given, table, metric="total_variation", simulations=0)
    said = [one for one in plan.notices if one.code == "depends_on_votes"]
    random = np.random.default_rng(1)
    single = [
        np.stack([random.multinomial(1, row / 4) for row in counts]).astype(float)
        for _ in range(200)
    ]
    scores = [one.values for one in given]
    usual = np.mean([
        metrics.total_variation(one, scores[1]) - metrics.total_variation(one, scores[0])
        for one in single
    ])  # fmt: skip
    sign = 1 if plan.pairs[0].a == "a" else -1
    assert len(said) == 1 and usual * sign < 0.6 * plan.pairs[0].difference
    entropy = plan_size(given, table, metric="entropy_correlation", simulations=0)
    assert any(one.code == "depends_on_votes" for one in entropy.notices)
    asked = plan_size(given, table, metric="total_variation", simulations=0, difference=0.1)
    assert not any("depends on the votes" in str(one) for one in asked.notices)


@cache
def graded_studies():
    """Labels and scores (items, classes) of sixty studies."""
    random, made = np.random.default_rng(6), []
    for _ in range(60):
        share = random.dirichlet(np.full(4, 0.6), 400)
        labels = np.stack([random.multinomial(3, one) for one in share]) / 3
        noisy = share**0.7 * random.gamma(3, 1, (400, 4)) + 0.01
        made.append((labels, noisy / noisy.sum(axis=1, keepdims=True)))
    return made


OF_MARKS = ("mean_rating", "mean_score", "win_rate")


@pytest.mark.parametrize("name", [n for n in metrics.CATALOGUE if n not in OF_MARKS])
def test_metrics_whose_value_depends_on_the_number_of_items_are_refused(name):
    """The mean over eighths of a study is far from the whole for those that are refused."""
    metric = metrics.named(name)
    if metric.labels == "draws" or metric.min_items > 1:
        with pytest.raises(InputError, match="means the same for any number of items"):
            usable_metric(metric)
        return
    moved, spread_of = [], []
    for labels, scores in graded_studies():
        whole = metric(labels, scores)
        parts = [metric(labels[k::8], scores[k::8]) for k in range(8)]
        moved.append(np.mean(parts) - whole)
        spread_of.append(np.std(parts))
    depends = abs(np.mean(moved)) > np.mean(spread_of)
    refused = "bins" in metric.family
    assert depends == refused
    if refused:
        with pytest.raises(InputError, match="depends on the number of items"):
            plan_size(small()[1], small()[0], metric=name)
    else:
        assert usable_metric(metric) is metric


def test_named_items_are_written_as_csv(tmp_path):
    votes, both, *_ = small()
    found = next_items(both, votes, number=3)
    found.write(tmp_path / "next.csv")
    with (tmp_path / "next.csv").open() as file:
        rows = list(csv.DictReader(file))
    empty = ["annotator", "label"]
    assert list(rows[0]) == ["item", *empty, "votes so far", "soft label", "expected gain"]
    assert [row["item"] for row in rows] == list(found.items)
    assert {row[name] for row in rows for name in empty} == {""}


@pytest.mark.parametrize("ranking", [False, True])
def test_named_items_are_read_as_votes_when_filled_in(tmp_path, ranking):
    votes, both, *_ = small()
    file = tmp_path / "next.csv"
    next_items(both, votes, number=4, ranking=ranking).write(file)
    with file.open() as given:
        rows = list(csv.DictReader(given))
    for row, said in zip(rows[:3], "101", strict=True):
        row |= {"annotator": "ana", "label": said}
    with file.open("w", newline="") as made:
        lines = csv.DictWriter(made, list(rows[0]))
        lines.writeheader()
        lines.writerows(rows)
    again = read_annotations(file)
    assert again.kind == "binary" and again.annotators == ("ana",)
    said = dict(zip([again.items[n] for n in again.item], again.label.tolist(), strict=True))
    assert said == {row["item"]: int(row["label"]) for row in rows[:3]}


def test_the_task_is_named_in_a_table_to_fill_in(tmp_path):
    votes, both, *_ = small()
    named = replace(votes, tasks=("edema",))
    given = [replace(one, task="edema") for one in both]
    for ranking in (False, True):
        found = next_items(given, named, number=2, task="edema", ranking=ranking)
        found.write(tmp_path / "next.csv")
        with (tmp_path / "next.csv").open() as file:
            assert [row["task"] for row in csv.DictReader(file)] == ["edema"] * 2


@pytest.fixture
def command(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    votes, both, *_ = small(items=60)
    rows = [f"{votes.items[i]},{k}" for i, k in zip(votes.item, votes.label, strict=True)]
    (tmp_path / "votes.csv").write_text("item,label\n" + "\n".join(rows) + "\n")
    lines = [f"{i},{m.model},{x}" for m in both for i, x in zip(m.items, m.values, strict=True)]
    (tmp_path / "scores.csv").write_text("item,model,score\n" + "\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    app.command()(plan_verb)
    files = ["-a", "votes.csv", "-p", "scores.csv", "--simulations", "10"]
    return lambda *words: CliRunner().invoke(app, [*files, *words])


def test_the_command_line_plans_and_names_items(command, tmp_path):
    done = command(
        "--price-item", "1", "--price-vote", "0.2", "--next", "5", "--out", "next.csv",
        "--difference", "0.1",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    for words in ("Pilot:", "items needed", "cost", "simulated", "collect"):
        assert words in done.stdout
    assert "Wrote next.csv" in done.stderr
    assert len((tmp_path / "next.csv").read_text().splitlines()) == 6


def test_the_command_line_speaks_json(command):
    asked = ["--models", "b,a", "--votes-per-item", "2,4", "--next", "2"]
    done = command("--json", "--difference", "0.1", *asked)
    told = json.loads(done.stdout)
    assert [one["votes_per_item"] for one in told["designs"]["rows"]] == [2, 4]
    assert set(told["models"]) == {"a", "b"} and len(told["next"]["rows"]) == 2
    assert told["verdict"]["rows"][0]["votes_per_item"] == 4
    assert done.stdout == command("--json", "--difference", "0.1", *asked).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metric", "aurroc"], "did you mean 'auroc'?"),
        (["--models", "a"], "expected two models"),
        (["--models", "a,b", "--half-width", "0.1"], "expected one model"),
        (["--next", "3", "--half-width", "0.1"], "is about two models"),
        (["--votes-per-item", "1,none"], "expected whole numbers"),
        (["--annotators", "2,5"], "expected whole numbers of at least 3"),
        (["--out", "next.txt", "--next", "3"], "expected a folder, or a file ending in .csv"),
        (["--out", "next.csv"], "a .csv is for the items of --next"),
        (["--kind", "binry"], "did you mean 'binary'?"),
    ],
)
def test_wrong_words_are_wrong_usage(command, words, said):
    done = command(*words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_refused_input_reaches_the_command_line_as_such(command):
    done = command("--metric", "precision_at_5")
    assert isinstance(done.exception, InputError)


def test_the_command_line_plans_for_a_width_at_a_threshold(command):
    how = (
        "--metric",
        "sensitivity",
        "--threshold",
        "0.6",
        "--half-width",
        "0.06",
        "--models",
        "b",
    )
    done = command(*how)
    words = " ".join(done.stdout.split())
    assert "interval of soft sensitivity of b of at most ±0.060" in words
    assert "0.600 for all" in " ".join(done.stderr.split())


# ---- a margin to annotators, and the width of an interval ------------------------------------


@pytest.mark.parametrize("df", [6.0, 40.0, 500.0])
def test_the_chance_of_a_narrow_interval_is_chi_square(df):
    wanted = chi2.cdf(df * (2.1 / t.ppf(0.975, df)) ** 2, df)
    alone = Spread(1.0, df_items=df, population=Population(annotators=False))
    assert narrow(alone, 2.1, 0.95) == pytest.approx(wanted, abs=1e-9)
    people = Spread(0.0, 1.0, 0.0, df_annotators=df, population=Population())
    assert narrow(people, 2.1, 0.95) == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize(("metric", "wrong"), [("auroc", 0.0), ("accuracy", 0.005),
                                               ("sensitivity", 0.02)])  # fmt: skip
def test_a_width_is_that_of_the_interval_of_an_evaluation(metric, wrong):
    """Planned at the size of the pilot, the plain width is the one that the pilot has."""
    _, votes = decider(np.random.default_rng(0), 80, 10)
    yes = np.bincount(votes.item, votes.label) / 10
    score = yes if metric == "auroc" else (yes > 0.5) * 1.0
    score = np.abs(score - (np.arange(80) % 25 == 0))
    how = PowerTarget(width=0.1)
    (pilot,) = pilots([Predictions("a", votes.items, score)], votes, metric, aim=how)
    low, high = pilot.spread.interval(pilot.difference, 0.95, (0.0, 1.0))
    found, half = pilot.plain_width((high - low) / 2), pilot.spread.half_width()
    assert found == pytest.approx(half, rel=1e-6 if wrong else 0.03)
    assert abs((high - low) / 2 / half - 1) > wrong


def test_annotators_move_the_truth_of_the_others_in_plans_too():
    model = decider(np.random.default_rng(5), 200, 10)
    aim = PowerTarget(readers=True, margin=0.1)
    (pilot,) = pilots(*model, "balanced_accuracy", aim=aim)
    study = Study.of(*model, metrics=["balanced_accuracy"])
    like_these = reader_tables(study)[-1].contrasts.like_these.of(0)
    assert like_these.draws > 0.05 * like_these.variance
    same = pilot.components.spread(200, Shape(10, 10))
    assert same.variance == pytest.approx(like_these.variance, rel=1e-3)


@pytest.mark.parametrize(("people", "goal"), [(12, {"margin": 0.06}), (25, {"width": 0.06})])
def test_studies_planned_for_annotators_or_a_width_reach_it(people, goal):
    beyond = list(goal_powers(8, people, 24, **goal))
    assert len(beyond) == 8
    assert 0.72 < np.median([np.mean(found > 0) for found in beyond]) < 0.9
    if "width" in goal:  # and are not narrower than they need be
        assert 0 < np.median(beyond) < 0.1 * goal["width"]


def test_a_plan_against_annotators_says_by_what_and_expects_both_classes():
    pilot = decider(np.random.default_rng(0), 200, 10)
    done = plan_size(*pilot, readers=True, margin=0.06, simulations=200)
    assert done.models == ("a",) and done.pairs[0].b == "the mean annotator"
    assert "a is not worse than the mean annotator by 0.060 or more in balanced accuracy" in (
        done.finding
    )
    for design in done.designs:
        assert design.events >= 10
        assert design.simulated == pytest.approx(design.power, abs=4 * design.monte_carlo_error)
    better = plan_size(*pilot, readers=True, difference=0.06, simulations=0)
    assert [d.items for d in better.designs] == [d.items for d in done.designs]
    report = plan_report(done)
    assert "the mean annotator" in report.findings[0].more[0] and report.models == ("a",)


def test_two_annotators_cannot_be_readers_like_others():
    votes, both, *_ = panel(people=2)
    with pytest.raises(InputError, match="effective annotators, expected at least 3"):
        plan_size(both, votes, readers=True, margin=0.1, simulations=0)


# ---- what the pilot leaves open, rare classes, and designs like the pilot's ------------------


def sparse_pilot(votes_each=3, positive=0.5, seed=0):
    """Readers of which each item has some, models of which two are near copies, rare yes."""
    random = np.random.default_rng(seed)
    z = random.standard_normal(200)
    cut = np.quantile(z, 1 - positive)
    seen = z[:, None] + 0.4 * random.standard_normal(9) + 0.7 * random.standard_normal((200, 9))
    order = random.random((200, 9)).argsort(axis=1)
    item, who = np.nonzero(order < votes_each)
    names = tuple(map(str, range(200)))
    table = Annotations(
        kind="binary", items=names, classes=("no", "yes"), item=item, annotator=who,
        annotators=tuple("rstuvwxyz"), label=(seen > cut)[item, who] * 1,
    )  # fmt: skip
    score = z + 0.8 * random.standard_normal(200)
    scores = (
        score,
        score + 0.02 * random.standard_normal(200),
        z + 2 * random.standard_normal(200),
    )
    chances = [1 / (1 + np.exp(-x)) for x in scores]
    return [Predictions(n, names, p) for n, p in zip("abc", chances, strict=True)], table


def planned(pilot, **how):
    return plan_size(*pilot, difference=how.pop("difference", 0.05), simulations=0, **how)


def test_designs_follow_the_pilot():
    for votes_each, votes in ((3, [3, 3]), (9, [5, 8])):
        plan = planned(sparse_pilot(votes_each), annotators=(5, 8), difference=0.2)
        assert [design.votes_per_item for design in plan.designs] == votes


def test_near_copies_are_planned_with_the_variance_of_the_median_pair():
    pilot = sparse_pilot(9)
    near = planned(pilot, annotators=(8,)).pairs[0]
    assert {near.a, near.b} == {"a", "b"}
    evaluation = evaluate(*pilot, metrics=["auroc"])
    cell = evaluation.two_way("auroc")
    variances = sorted(cell.between(a, b).variance for a, b in ((0, 1), (0, 2), (1, 2)))
    assert variances[0] < 0.2 * variances[1]
    seen = near.standard_error(200, near.pilot_shape) ** 2
    assert 0.7 * variances[1] < seen < 1.4 * variances[1]


def test_rare_classes_are_planned_by_their_items():
    plan = planned(sparse_pilot(9, positive=0.03), annotators=(8,))
    (design,), pair = plan.designs, plan.pairs[0]
    assert design.events >= 10 and design.events == pytest.approx(design.items * pair.rare)
    alone = replace(pair, rare=math.nan)
    few = pair.power(20, design.shape) / alone.power(20, design.shape)
    assert few == pytest.approx(1 - (1 - pair.rare) ** 20)
    assert math.isnan(planned(sparse_pilot(9), metric="brier_score").pairs[0].rare)


def test_power_has_the_range_that_the_pilot_leaves_open():
    plan = planned(sparse_pilot(9), annotators=(8,))
    (design,), pair = plan.designs, plan.pairs[0]
    assert design.power_low < design.power < design.power_high
    low, high = chi2.ppf((0.1, 0.9), pair.df) / pair.df
    twice = replace(pair, components=pair.components.times(1 / low))
    assert design.power_low == pytest.approx(twice.power(design.groups, design.shape))
    half = replace(pair, components=pair.components.times(1 / high))
    assert design.power_high == pytest.approx(half.power(design.groups, design.shape))

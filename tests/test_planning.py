"""Plans from a pilot: derivatives by hand, power on simulated populations, the next votes."""

import csv
import json
import math
import os
from dataclasses import replace

import numpy as np
import pytest
import typer
from numpy.testing import assert_allclose, assert_array_equal
from typer.testing import CliRunner

from equipoise import metrics
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.cli.plan import plan as plan_verb
from equipoise.datasets import chexpert
from equipoise.evaluation import evaluate
from equipoise.io import read_annotations
from equipoise.planning import next_for_ranking, next_items, plan_ranking, plan_size
from equipoise.planning._pilot import pilot, usable_metric, with_single_votes
from equipoise.planning._precision import spread
from equipoise.predictions import Predictions
from equipoise.resampling import resample
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


def test_influence_and_effects_are_what_leaving_out_and_moving_a_label_do():
    votes, both, cast, scores = small()
    two = pilot(both, votes, "auroc", ("a", "b"))
    p = cast.mean(axis=1)
    sign = 1 if two.a == "a" else -1
    assert two.difference == pytest.approx(sign * gap(p, scores))
    without = [gap(np.delete(p, i), [np.delete(s, i) for s in scores]) for i in range(len(p))]
    assert_allclose(two.influence(), 39 * (two.difference - sign * np.array(without)))
    effects = two.effects(np.ones((2, len(p)), dtype=bool))
    for i in (0, 7, 21):
        for code in (0, 1):
            moved = p.copy()
            moved[i] += 1e-6 * (code - p[i])
            slope = sign * (gap(moved, scores) - gap(p, scores)) / 1e-6
            assert effects[code, i] == pytest.approx(slope, rel=1e-2, abs=1e-7)
    shares = np.stack([1 - p, p])
    assert_allclose((shares * effects).sum(axis=0), 0, atol=1e-6)


def test_the_spread_of_a_mean_score_is_textbook():
    votes, both, cast, scores = small(items=30, votes=3)
    found = spread(pilot(both, votes, "brier_score", ("a", "b")))
    by_label = [
        metrics.brier_score_per_item(np.full(30, k), scores[0])
        - metrics.brier_score_per_item(np.full(30, k), scores[1])
        for k in (0, 1)
    ]
    each = np.where(cast == 1, by_label[1][:, None], by_label[0][:, None])
    within = each.var(axis=1, ddof=1).mean()
    between = each.mean(axis=1).var(ddof=1) - within / 3
    assert found.votes == pytest.approx(math.sqrt(within), rel=1e-6)
    assert found.items == pytest.approx(math.sqrt(max(between, 0)), rel=1e-6, abs=1e-9)
    assert found.pilot == pytest.approx(each.mean(axis=1).std(ddof=1) / math.sqrt(30), rel=1e-6)


def bootstrapped(two, votes, kind):
    """Standard error of the difference of the two models by the engine."""
    done = evaluate(two, votes, metrics=["auroc"], resampling=resample(votes, kind))
    a, b = (done.estimate(one.model, "auroc") for one in two)
    return (a - b).standard_error


def agrees_with_the_bootstrap(two, votes):
    found = plan_size(two, votes, simulations=0).spread
    single = found.votes / math.sqrt(len(votes))
    assert found.pilot == pytest.approx(bootstrapped(two, votes, "items"), rel=0.06)
    assert single == pytest.approx(bootstrapped(two, votes, "votes"), rel=0.06)
    return single, found.panel, bootstrapped(two, votes, "panel")


def test_spreads_agree_with_the_bootstrap_of_items_votes_and_panel():
    random = np.random.default_rng(4)
    latent, side = random.normal(size=(2, 300))
    leaning = random.normal(size=10)
    chance = logistic(latent[:, None] + leaning * side[:, None])
    votes = bootstrap.annotations((random.random((300, 10)) < chance).astype(float))
    two = models([latent + 0.5 * side, latent - 0.6 * side])
    single, panel, whole = agrees_with_the_bootstrap(two, votes)
    assert panel > single
    assert math.hypot(single, panel) == pytest.approx(whole, rel=0.1)


def test_spreads_agree_with_the_bootstrap_on_real_readings():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("needs the CheXpert readings: set EQUIPOISE_DATA")
    study = chexpert()
    rows = study.annotations.in_task("Atelectasis")
    kept = {
        name: getattr(study.annotations, name)[rows] for name in ("item", "annotator", "label")
    }
    votes = replace(study.annotations, tasks=("",), task=None, **kept)
    two = [
        Predictions(one.model, one.items, one.values)
        for one in study.predictions
        if one.task == "Atelectasis" and one.model in ("ngango3", "uestc")
    ]
    agrees_with_the_bootstrap(two, votes)


@pytest.mark.parametrize("metric", ["auroc", "brier_score"])
def test_the_planned_study_has_the_power_that_was_asked_for(metric):
    random = np.random.default_rng(11)
    truth, _, scores = world(random, 50_000, 1)
    plain = getattr(metrics, metric)
    sign = 1 if metric == "auroc" else -1
    true = sign * gap(truth, scores, plain)
    _, cast, scores = world(random, 1500, 4)
    done = plan_size(
        models(scores), annotated(cast), metric=metric, models=("a", "b"), difference=true,
        votes=(1, 4), simulations=0,
    )  # fmt: skip
    for design in done.designs:
        found = []
        for _ in range(300):
            _, cast, scores = world(random, design.items, design.votes_per_item)
            found.append(sign * gap(cast.mean(axis=1), scores, plain))
        planned = done.standard_error(design.items, design.votes_per_item)
        assert np.std(found) == pytest.approx(planned, rel=0.15)
        resolved = np.mean(np.array(found) > 1.96 * planned)
        assert resolved == pytest.approx(
            0.8, abs=0.08
        )  # 0.023 Monte Carlo error, and the pilot's


def test_independent_studies_of_the_planned_size_resolve_it_as_often_as_promised():
    """Each study is drawn anew from the population, and judged by its own interval."""
    random = np.random.default_rng(5)
    truth, _, scores = world(random, 100_000, 1)
    true = gap(truth, scores)
    _, cast, scores = world(random, 2000, 5)
    done = plan_size(
        models(scores), annotated(cast), models=("a", "b"), difference=true, votes=(3,),
        simulations=0,
    )  # fmt: skip
    (design,) = done.designs
    resolved, studies = 0, 600
    for _ in range(studies):
        _, cast, scores = world(random, design.items, 3)
        values, covariance = metrics.influence_covariance(
            cast.mean(axis=1), np.stack(scores), metric=metrics.named("auroc")
        )
        (a, ab), (_, b) = covariance
        resolved += values[0] - values[1] > 1.96 * math.sqrt(a + b - 2 * ab)
    monte_carlo = math.sqrt(0.8 * 0.2 / studies)
    assert resolved / studies == pytest.approx(0.8, abs=3 * monte_carlo)


@pytest.mark.parametrize("metric", ["brier_score", "accuracy", "ranked_probability_score"])
def test_means_over_items_need_no_leaving_out(metric):
    votes, both, *_ = small(items=90, votes=3)
    if metric == "ranked_probability_score":
        votes = replace(votes, kind="ordinal")
    two = pilot(both, votes, metric, ("a", "b"))
    assert two._each() is not None
    wanted = np.ones((2, 90), dtype=bool)
    quick = two.influence(), two.effects(wanted)
    slow = replace(two, metric=replace(two.metric, influence=None))
    assert slow._each() is None
    assert_allclose(quick[0], slow.influence(), atol=1e-9)
    assert_allclose(quick[1], slow.effects(wanted), atol=1e-9)
    kappa = pilot(both, replace(votes, kind="ordinal"), "quadratic_weighted_kappa", ("a", "b"))
    assert kappa.metric.influence is None or kappa._each() is None


def test_simulated_studies_bear_out_the_formula():
    _, cast, scores = world(np.random.default_rng(2), 600, 3)
    done = plan_size(models(scores), annotated(cast), votes=(1, 3, 5), simulations=200)
    for design in done.designs[:2]:
        assert design.simulated == pytest.approx(design.power, abs=4 * design.monte_carlo_error)
        assert 0.02 < design.monte_carlo_error < 0.04
    assert math.isnan(done.designs[2].simulated)
    assert any("more votes per item than the pilot" in str(one) for one in done.notices)


def test_the_numbers_needed_are_the_smallest():
    votes, both, *_ = small(items=300)
    done = plan_size(both, votes, simulations=0, votes=(1, 2, 5), items=(50, 5000))
    for design in done.designs:
        assert done.power(design.items, design.votes_per_item) >= 0.8
        assert done.power(design.items - 1, design.votes_per_item) < 0.8
    many = done.designs[1].items + 7
    needed = int(done.votes_needed(many))
    assert done.power(many, needed) >= 0.8
    assert needed == 1 or done.power(many, needed - 1) < 0.8
    assert [row["items"] for row in done.grid()] == [50, 5000]
    assert done.votes_needed(3) == math.inf
    assert done.standard_error(9, 2) == pytest.approx(
        math.sqrt((done.spread.items**2 + done.spread.votes**2 / 2) / 9)
    )


def test_the_doubt_about_the_number_of_items_is_that_of_other_pilots():
    random = np.random.default_rng(21)
    found = []
    for _ in range(60):
        _, cast, scores = world(random, 200, 4)
        done = plan_size(
            models(scores), annotated(cast), metric="brier_score", models=("a", "b"),
            difference=0.03, votes=(2,), simulations=0,
        )  # fmt: skip
        found.append(done.designs[0][1:3])
    items, error = np.transpose(found)
    assert error.mean() == pytest.approx(items.std(), rel=0.3)


def test_the_cheapest_design_depends_on_prices():
    votes, both, *_ = small(items=80)
    dear_items = plan_size(both, votes, price_item=10, price_vote=0.1, simulations=0)
    dear_votes = plan_size(both, votes, price_item=0, price_vote=1, simulations=0)
    assert dear_items.cheapest.votes_per_item == 10
    assert dear_votes.cheapest.votes_per_item == 1
    best = dear_items.cheapest
    assert best.cost == pytest.approx(best.items * (10 + best.votes_per_item * 0.1))
    assert "cheapest" in dear_items.finding
    assert plan_size(both, votes, simulations=0).cheapest is None


def test_what_cannot_be_resolved_is_said():
    votes, both, _, scores = small()
    same = plan_size(models([scores[0], scores[0]]), votes)
    assert same.designs == () and same.rows() == []
    assert "difference in the pilot is 0" in same.finding
    wished = plan_size(models([scores[0], scores[0]]), votes, difference=0.1)
    assert wished.designs == () and "difference in the pilot is 0" in wished.finding
    flat = models([np.full(40, 0.9), np.zeros(40)])
    level = plan_size(flat, annotated(np.ones((40, 2))), metric="brier_score")
    assert level.difference == pytest.approx(1.98) and level.designs == ()
    assert "no size can be planned" in level.finding
    three = plan_size(models([scores[0], scores[0], scores[1]]), votes, simulations=0)
    assert (three.a, three.b) == ("a", "c")
    assert str(three.notices[0]) == "Passed over, with exactly the value of 'a': 'b'."
    close = plan_size(models([scores[0], np.round(scores[0], 2)]), votes, simulations=0)
    said = " ".join(map(str, close.notices))
    assert "The pilot itself leaves open" in said and "Votes alone cannot resolve it" in said
    one = plan_size(both, annotated(np.round(scores[0])[:, None]), simulations=0)
    assert [d.votes_per_item for d in one.designs] == [1]
    assert any("has two votes" in str(sentence) for sentence in one.notices)
    assert math.isnan(one.power(100, 2)) and math.isnan(one.votes_needed(100))


def test_a_pilot_whose_votes_explain_everything_says_so():
    votes, both, *_ = small(items=80)
    done = plan_size(both, votes, simulations=0)
    assert done.spread.items == 0
    assert any("too optimistic" in str(one) for one in done.notices)


def test_people_who_lean_one_way_leave_an_error_that_items_do_not_lessen():
    random = np.random.default_rng(4)
    latent = random.normal(size=400)
    side = random.normal(size=400)
    leaning = np.array([-3.0, -2.0, 2.0, 3.0])
    cast = random.random((400, 4)) < logistic(latent[:, None] + leaning * side[:, None])
    votes = bootstrap.annotations(cast.astype(float))
    both = models([latent + side, latent - 0.9 * side])
    done = plan_size(both, votes, simulations=0)
    assert done.spread.panel > 3 * done.spread.votes / math.sqrt(1600)
    assert any("4 annotators lean" in str(one) for one in done.notices)
    assert any("ask others, too" in str(one) for one in done.notices)
    assert plan_size(both, votes.anonymous(), simulations=0).spread.panel == 0


def test_items_of_one_group_count_together():
    _, cast, scores = world(np.random.default_rng(6), 100, 3)
    twice = [np.repeat(one, 2, axis=0) for one in (cast, *scores)]
    group = {"group": np.repeat(np.arange(100), 2), "groups": names(100, "patient")}
    both = models(twice[1:])
    alone = plan_size(both, annotated(twice[0]), simulations=0, metric="brier_score")
    grouped = plan_size(
        both, annotated(twice[0], **group), simulations=150, votes=(3,), metric="brier_score"
    )
    assert grouped.spread.pilot / alone.spread.pilot == pytest.approx(math.sqrt(2), rel=0.01)
    (design,) = grouped.designs
    assert design.simulated == pytest.approx(design.power, abs=0.15)


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
    order = plan_ranking(three, votes, metric="log_score", simulations=0)
    assert [(one.a, one.b) for one in order.pairs] == [("a", "b"), ("b", "c")]
    assert order.models == ("a", "b", "c") and order.rows()[0]["votes_per_item"] == 1
    assert {one.aim.power for one in order.pairs} == {order.aim.power} == {0.8}
    single = plan_size(three, votes, metric="auroc", models=("c", "a"), simulations=20)
    assert (single.a, single.b) == ("a", "c")
    assert next_items(three, votes, "log_score", 5).gain.min() > 0


def test_plans_are_deterministic_and_change_nothing():
    votes, both, *_ = small()
    before = votes.label.copy()
    first, again = (plan_size(both, votes, simulations=30, seed=5) for _ in range(2))
    assert first.rows() == again.rows()
    other = plan_size(both, votes, simulations=30, seed=6)
    assert [one.simulated for one in other.designs] != [one.simulated for one in first.designs]
    assert_array_equal(votes.label, before)
    assert next_items(both, votes).rows() == next_items(both, votes).rows()
    seen = []
    plan_size(both, votes, simulations=0, progress=lambda *at: seen.append(at))
    assert seen[-1] == (40, 40)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"power": 1.2}, "plan, power: 1.2, expected a number between 0 and 1"),
        ({"votes": (0,)}, "a whole number of at least 1"),
        ({"votes": ()}, "plan, votes: none"),
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
    ],
)
def test_bad_plans_are_refused(how, words):
    votes, both, *_ = small()
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+") as refused:
        plan_size(both, votes, **how)
    assert words in str(refused.value)


@pytest.mark.parametrize("how", [
    {"simulation": 10}, {"votes": 3}, {"votes": "3"}, {"votes": (2.5,)}, {"votes": (True,)},
    {"items": 50}, {"items": ("a",)}, {"power": "0.8"}, {"power": True}, {"level": "0.9"},
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
        plan_ranking("x", votes)


def test_a_chance_that_no_difference_reaches_too_is_refused():
    votes, both, *_ = small()
    with pytest.raises(
        InputError, match=r"more than 0\.45, the probability of a study without"
    ):
        plan_size(both, votes, power=0.02, level=0.1)
    with pytest.raises(InputError, match="plan, power"):
        plan_size(both, votes, power=0.025)
    sizes = [
        plan_size(both, votes, power=power, simulations=0).designs[0].items
        for power in (0.1, 0.5, 0.8)
    ]
    assert sizes == sorted(sizes) and sizes[0] < sizes[2]


def test_without_prices_the_plan_says_why_it_names_this_design():
    votes, both, *_ = small(items=120)
    done = plan_size(both, votes, simulations=0, votes=(1, 4))
    one, four = done.designs
    assert done.finding.endswith(
        f"collect {four.items:,} items with 4 votes each (as many votes per item as in the "
        f"pilot; fewest votes in all: {one.items:,} items with 1 vote each; the prices of an "
        "item and of a vote would decide)."
    )
    near = plan_size(both, votes, simulations=0, votes=(1, 3)).finding
    assert "of these designs the nearest to the 4 of the pilot" in near
    single = plan_size(both, votes, simulations=0, votes=(3,)).finding
    assert single.endswith("items with 3 votes each.")


def test_the_chance_of_a_wrong_order_is_that_after_simulated_votes():
    """Draw what all voters would say, and the new votes; score both by the metric itself."""
    votes, both, cast, scores = small(items=60, votes=3)
    found = next_items(both, votes, number=30)
    now, then = found.wrong_order()
    random = np.random.default_rng(1)
    usual = found.imagined * (cast.mean(axis=1).sum() + 0.5) / 61
    yes, size = cast.sum(axis=1), np.full(60, 3.0)
    rows = [int(name.split("-")[1]) for name in found.items]
    size[rows] += 1
    sign = 1 if found.a == "a" else -1
    wrong = []
    for _ in range(1500):
        share = random.beta(yes + usual, 3 - yes + found.imagined - usual)
        after = yes.copy()
        after[rows] += random.binomial(1, share[rows])
        true, shown = gap(share, scores), gap(after / size, scores)
        wrong.append((sign * true < 0, true * shown < 0))
    assert [now, then] == pytest.approx(np.mean(wrong, axis=0), abs=0.035)
    assert f"on the {len(votes.items)} items of the pilot" in found.finding


def test_bad_pilots_are_refused():
    votes, both, cast, scores = small()
    with pytest.raises(InputError, match="two to compare"):
        plan_size(both[0], votes)
    with pytest.raises(InputError, match="at least 3"):
        plan_size(models([s[:2] for s in scores]), votes)
    with pytest.raises(InputError, match="votes for every class"):
        plan_size(both, annotated(np.ones_like(cast)))
    with pytest.raises(InputError, match="at least two items of every class"):
        alone = np.zeros_like(cast)
        alone[0] = 1
        plan_size(both, annotated(alone))
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
    two = pilot(both, votes, "auroc")
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
    assert two.a == found.a
    now, then = found.wrong_order()
    assert 0 <= then <= now <= 0.5
    assert found.expected == pytest.approx(abs(gap(believed, scores)), rel=1e-9)


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
    assert spread(pilot(both, gold, "auroc")).votes == 0


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
    plan = plan_size(both, table, simulations=30, votes=(3, 5))
    assert plan.pilot_votes == 5
    assert "as many votes per item as in the pilot" in plan.finding
    assert any("The truth of 10 of the 40 items" in str(one) for one in plan.notices)
    assert not any(math.isnan(one.simulated) for one in plan.designs)
    found = next_items(both, table, number=40)
    assert not set(found.items) & set(names(10)) and len(found.items) <= 30
    assert (found.gain > 0).all() and "though 40 were asked for" in found.finding
    known = plan_size(both, partly_known(settled=40)[0], simulations=0)
    assert known.pilot_votes == 0 and "every truth of the pilot is known" in known.finding
    assert any("The truth of all of the 40 items" in str(one) for one in known.notices)
    assert not any(
        "The truth of" in str(one) for one in plan_size(both, partly_known(0)[0]).notices
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
    for ask in (plan_size, plan_ranking, next_items, next_for_ranking):
        with pytest.raises(InputError, match=r"infinite for .sure., expected finite"):
            ask(wrong, votes, metric="log_score")
    third = plan_size([*both, replace(wrong[0])], votes, metric="log_score", simulations=0)
    assert {third.a, third.b} == {"a", "b"}
    agreed = np.where(np.arange(40)[:, None] < 2, 1.0, cast)
    near = scores[0].copy()
    near[:2] = 1
    given = [Predictions("near", names(40), near), both[1]]
    assert plan_size(given, annotated(agreed), metric="log_score", simulations=0).designs
    with pytest.raises(InputError, match=r"infinite for .near."):
        next_items(given, annotated(agreed), metric="log_score")


def test_a_difference_that_no_models_can_have_is_refused():
    votes, both, *_ = small()
    with pytest.raises(InputError, match="5, expected at most 1, because AUROC lies between"):
        plan_size(both, votes, difference=5)
    with pytest.raises(InputError, match="expected at most 2"):
        plan_ranking(both, votes, metric="brier_score", difference=2.5)
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
    assert with_single_votes(pilot(given, table, name)) is None


def test_a_difference_that_depends_on_the_votes_per_item_is_said():
    given, table, counts = distributions()
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
    sign = 1 if plan.a == "a" else -1
    assert with_single_votes(pilot(given, table, "total_variation")) == pytest.approx(
        sign * usual, abs=0.005
    )
    assert len(said) == 1 and usual * sign < 0.6 * plan.difference
    entropy = plan_size(given, table, metric="entropy_correlation", simulations=0)
    assert any("it is undefined and not" in str(one) for one in entropy.notices)
    asked = plan_size(given, table, metric="total_variation", simulations=0, difference=0.1)
    assert not any("depends on the votes" in str(one) for one in asked.notices)


@pytest.mark.parametrize("name", list(metrics.CATALOGUE))
def test_metrics_whose_value_depends_on_the_number_of_items_are_refused(name):
    """The mean over eighths of a study is far from the whole for those that are refused."""
    metric = metrics.named(name)
    if metric.labels == "draws" or metric.min_items > 1:
        with pytest.raises(InputError, match="means the same for any number of items"):
            usable_metric(metric)
        return
    random, moved, spread_of = np.random.default_rng(6), [], []
    for _ in range(60):
        share = random.dirichlet(np.full(4, 0.6), 400)
        labels = np.stack([random.multinomial(3, one) for one in share]) / 3
        noisy = share**0.7 * random.gamma(3, 1, (400, 4)) + 0.01
        scores = noisy / noisy.sum(axis=1, keepdims=True)
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


@pytest.mark.parametrize("ask", [next_items, next_for_ranking])
def test_named_items_are_read_as_votes_when_filled_in(tmp_path, ask):
    votes, both, *_ = small()
    file = tmp_path / "next.csv"
    ask(both, votes, number=4).write(file)
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
    assert again.items == tuple(row["item"] for row in rows[:3])
    assert again.label.tolist() == [1, 0, 1]


def test_the_task_is_named_in_a_table_to_fill_in(tmp_path):
    votes, both, *_ = small()
    named = replace(votes, tasks=("edema",))
    given = [replace(one, task="edema") for one in both]
    for ask in (next_items, next_for_ranking):
        ask(given, named, number=2, task="edema").write(tmp_path / "next.csv")
        with (tmp_path / "next.csv").open() as file:
            assert [row["task"] for row in csv.DictReader(file)] == ["edema"] * 2


@pytest.fixture
def command(tmp_path, monkeypatch):
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
        "--price-item", "1", "--price-vote", "0.2", "--next", "5", "--out", "next.csv"
    )
    assert done.exit_code == 0, done.output
    for words in ("Pilot:", "items needed", "cost", "votes needed", "collect"):
        assert words in done.stdout
    assert "Wrote next.csv" in done.stderr
    assert len((tmp_path / "next.csv").read_text().splitlines()) == 6


def test_the_command_line_speaks_json(command):
    done = command("--json", "--models", "b,a", "--votes-per-item", "2,4", "--next", "2")
    told = json.loads(done.stdout)
    assert [one["votes_per_item"] for one in told["designs"]["rows"]] == [2, 4]
    assert set(told["models"]) == {"a", "b"} and len(told["next"]["rows"]) == 2
    assert told["verdict"]["rows"][0]["votes_per_item"] == 4
    assert done.stdout == command(
        "--json", "--models", "b,a", "--votes-per-item", "2,4", "--next", "2"
    ).stdout  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metric", "aurroc"], "did you mean 'auroc'?"),
        (["--models", "a"], "expected two models"),
        (["--votes-per-item", "1,none"], "expected whole numbers"),
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

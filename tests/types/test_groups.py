"""Groups of classes: coarser truths and predictions, cases of one group, expected values."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from equipoise import Annotations, read_plausibilities, write_plausibilities
from equipoise.inference.resampling import resample
from equipoise.metrics import conditioned, named, ranked_probability_score
from equipoise.metrics.draws import plain_draws
from equipoise.study import evaluate
from equipoise.truth import CATALOGUE, Chain, annotator_bootstrap, dirichlet, plackett_luce
from equipoise.types import (
    Grouping,
    InputError,
    Plausibilities,
    Predictions,
    coarsened,
    expected_group_value,
    group_chance,
)
from equipoise.types.groupings import expected_mass_value
from tests.oracles import draws as oracle
from tests.strategies import names

CLOSE = {"rtol": 0, "atol": 1e-12}
# shared golden figures, plausibilities.json, ua_metrics (cases, draws, classes)
GOLDEN = np.array([
    [[.5, .3, .15, .05], [.3, .45, .2, .05], [.4, .35, .05, .2], [.25, .2, .45, .1],
     [.6, .05, .25, .1]],
    [[.1, .2, .3, .4], [.05, .15, .45, .35], [.1, .3, .25, .35], [.4, .1, .2, .3],
     [.12, .18, .33, .37]],
    [[.7, .1, .15, .05], [.65, .2, .1, .05], [.8, .05, .1, .05], [.75, .1, .05, .1001],
     [.9, .02, .03, .05]],
])  # fmt: skip
SCORES = [[0.45, 0.25, 0.2, 0.1], [0.3, 0.05, 0.4, 0.25], [0.05, 0.6, 0.2, 0.15]]
LEVELS = ("low", "medium", "high")
RISKS = (0, 2, 1, 2)  # risk_groups
CERTAINTIES = [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6], [1, 0, 0]]  # risk_certainties_rank1
HITS = {  # ua_topk_accuracy, per_case_sample
    1: [[1, 0, 1, 0, 1], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0]],
    2: [[1, 1, 1, 0, 1], [0, 1, 0, 1, 0], [0, 0, 0, 0, 0]],
    3: [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]],
}
EXPECTED = [  # expected_risk_per_sample
    [0.85, 1.2, 1.15, 1.05, 0.55],
    [1.5, 1.45, 1.55, 1.0, 1.43],
    [0.45, 0.6, 0.3, 0.4502, 0.17],
]


def risk(classes, levels=RISKS, groups=LEVELS):
    pairs = zip(classes, levels, strict=True)
    return Grouping.of({name: LEVELS[k] for name, k in pairs}, groups=groups, name="risk")


@pytest.fixture
def truth():
    return oracle.dense(GOLDEN.transpose(1, 0, 2))


def test_chances_of_groups_are_the_published_certainties(truth):
    for group, level in enumerate(LEVELS):
        found = group_chance(truth, risk(truth.classes), level).mean(axis=1)
        assert_allclose(found, np.array(CERTAINTIES)[:, group], **CLOSE)


@pytest.mark.parametrize("k", HITS)
@pytest.mark.parametrize("level", range(3))
def test_accuracy_within_a_group_weighs_published_hits_by_draws_in_it(truth, k, level):
    inside = np.array(RISKS)[GOLDEN.argmax(axis=2)] == level
    wanted = np.array(HITS[k])[inside].mean()
    one = conditioned(named(f"topk_accuracy:k={k}"), risk(truth.classes), LEVELS[level])
    assert_allclose(plain_draws(one, truth, SCORES), wanted, **CLOSE)


def test_expected_risk_by_mass_is_the_published_one(truth):
    values = dict(zip(LEVELS, (0, 1, 2), strict=True))
    found = expected_mass_value(truth, values, risk(truth.classes))
    assert_allclose(found.mean, np.mean(EXPECTED, axis=1), **CLOSE)
    assert_allclose(found.least, np.min(EXPECTED, axis=1), **CLOSE)
    assert_allclose(found.most, np.max(EXPECTED, axis=1), **CLOSE)
    assert_allclose(found.low, np.quantile(EXPECTED, 0.05, axis=1), **CLOSE)
    assert_allclose(found.high, np.quantile(EXPECTED, 0.95, axis=1), **CLOSE)


def test_expected_risk_of_the_top_class_follows_its_certainties(truth):
    values = {"low": 0, "medium": 1, "high": 5}
    found = expected_group_value(truth, values, risk(truth.classes))
    assert_allclose(found.mean, np.array(CERTAINTIES) @ [0, 1, 5], **CLOSE)
    assert_array_equal(found.most, [5, 5, 0])
    assert found.items == truth.items
    with pytest.raises(InputError, match="one for each of 'low', 'medium', 'high'"):
        expected_group_value(truth, {"low": 0}, risk(truth.classes))
    with pytest.raises(InputError, match="finite numbers"):
        expected_mass_value(truth, dict.fromkeys(LEVELS, np.nan), risk(truth.classes))
    with pytest.raises(InputError, match="drawn"):
        made = dirichlet(oracle.votes())
        expected_group_value(made, values, risk(made.classes))


MASSES = st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any)


@given(st.data(), st.sampled_from(["topk_accuracy", "overlap", "set_accuracy"]))
def test_within_a_group_equals_brute_force(data, name):
    """Ties everywhere: both chances of a draw come from all ways to break them."""
    items, draws, k = 3, 4, data.draw(st.integers(1, 3))
    flat = [data.draw(MASSES) for _ in range(items * draws)]
    values = np.array(flat, float).reshape(draws, items, 4)
    values /= values.sum(axis=2, keepdims=True)
    scores = np.array([data.draw(MASSES) for _ in range(items)], float)
    levels = data.draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))
    total = weight = 0.0
    for d in range(draws):
        for i in range(items):
            tops = [one.pop() for one in oracle.tied_sets(values[d, i], 1)]
            chance = np.mean([levels[c] == 2 for c in tops])
            total += chance * getattr(oracle, name)(values[d, i], scores[i], k)
            weight += chance
    truth = oracle.dense(values)
    one = conditioned(named(f"{name}:k={k}"), risk(truth.classes, levels), "high")
    found = plain_draws(one, truth, scores)
    assert_allclose(found, total / weight if weight else np.nan, **CLOSE)


@pytest.mark.parametrize("shape", [None, 0.7])
def test_unmentioned_classes_are_in_a_group_by_chance(shape):
    """One class of mass 0.1 is mentioned; one of the three others has the largest mass."""
    truth = oracle.sparse(np.full((3, 1), 0.1), [0], 4, rest_shape=shape)
    found = group_chance(truth, risk(truth.classes, (0, 2, 2, 1)), "high")
    assert_allclose(found, np.full((1, 3), 2 / 3), **CLOSE)


@pytest.mark.parametrize("kind", ["items", "posterior", "items x posterior"])
def test_the_engine_weighs_cases_in_every_replicate(kind):
    truth = dirichlet(oracle.votes(items=12)).drawn(40, seed=1)
    scores = np.random.default_rng(4).dirichlet(np.ones(4), 12)
    grouping = risk(truth.classes)
    plain, one = named("topk_accuracy"), conditioned(named("topk_accuracy"), grouping, "high")
    plan = replace(resample(truth, kind), replicates=30)
    model = Predictions("one", truth.items, scores, classes=truth.classes)
    result = evaluate(model, truth, metrics=[plain, one], resampling=plan)
    value = plain.score_draws(plain.prepare(scores), truth).value
    weight = group_chance(truth, grouping, "high")
    found = result.estimate("one", "topk_accuracy|risk=high")
    assert_allclose(found.value, (value * weight).sum() / weight.sum(), **CLOSE)
    counts, numbers = plan.item_counts(0, 30), plan.draw_numbers(0, 30, 40)
    for r in range(30):
        rows = np.repeat(np.arange(12), counts[:, r])
        draw = numbers[r] if plan.truth else slice(None)
        top, low = (value * weight)[rows, draw].sum(), weight[rows, draw].sum()
        assert_allclose(found.replicates[r], top / low if low else np.nan, **CLOSE)


def test_only_metrics_of_draws_and_known_groups(truth):
    with pytest.raises(InputError, match="a metric of possible truths"):
        conditioned(named("accuracy"), risk(truth.classes), "high")
    with pytest.raises(InputError, match="did you mean 'high'"):
        conditioned(named("topk_accuracy"), risk(truth.classes), "hihg")


def test_a_group_that_no_case_has_is_undefined_and_said(truth):
    empty = risk(truth.classes, (0, 0, 0, 0))
    model = Predictions("one", truth.items, np.array(SCORES), classes=truth.classes)
    one = conditioned(named("topk_accuracy"), empty, "high")
    result = evaluate(model, truth, metrics=[one])
    assert np.isnan(result.estimate("one", one.name).value)
    assert any("most plausible class where risk=high" in str(said) for said in result.notices)


def test_truth_and_predictions_of_groups_are_scored_as_grades(truth):
    grouping = risk(truth.classes)
    model = Predictions("one", truth.items, np.array(SCORES), classes=truth.classes)
    coarse = coarsened(truth, grouping)
    assert coarse.ordered and coarse.classes == LEVELS
    sums = np.eye(3)[list(RISKS)]
    assert_allclose(model.coarsened(grouping).values, np.array(SCORES) @ sums, **CLOSE)
    result = evaluate(
        model.coarsened(grouping), coarse, metrics=["ranked_probability_score", "auroc"]
    )
    wanted = ranked_probability_score(truth.mean @ sums, np.array(SCORES) @ sums)
    assert_allclose(result.estimate("one", "ranked_probability_score").value, wanted, **CLOSE)


def test_groups_without_an_order_are_no_grades(truth):
    loose = Grouping.of({name: LEVELS[k] for name, k in zip(truth.classes, RISKS, strict=True)})
    model = Predictions("one", truth.items, np.array(SCORES), classes=truth.classes)
    with pytest.raises(InputError, match="classes without an order"):
        evaluate(
            model.coarsened(loose), coarsened(truth, loose), metrics=["squared_absolute_rps"]
        )
    graded = replace(truth, ordered=True)
    assert not coarsened(graded, loose).ordered
    runs = Grouping.of(dict(zip(truth.classes, ("a", "a", "b", "b"), strict=True)))
    assert coarsened(graded, runs).ordered


def test_scores_and_unknown_classes_cannot_be_grouped(truth):
    grouping = risk(truth.classes)
    with pytest.raises(InputError, match="probabilities of all classes"):
        Predictions("one", ("a",), np.array([0.3])).coarsened(grouping)
    other = Predictions("one", ("a",), np.array([[0.3, 0.7]]), classes=("x", "y"))
    with pytest.raises(InputError, match="no group for"):
        other.coarsened(grouping)


def grades(kind="ordinal"):
    random = np.random.default_rng(0)
    return Annotations(
        kind=kind, items=names(6), classes=("0", "1", "2"), annotators=names(4, "reader"),
        item=np.repeat(np.arange(6), 4), annotator=np.tile(np.arange(4), 6),
        label=random.integers(0, 3, 24),
    )  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(CATALOGUE) - {"glad"}))
def test_every_model_knows_grades_from_classes(name):
    how = {"chain": Chain(20)} if name == "plackett_luce" else {}
    assert CATALOGUE[name](grades(), **how).ordered
    if name != "dawid_skene_ordinal":
        assert not CATALOGUE[name](grades("nominal"), **how).ordered


def test_grades_stay_grades(tmp_path):
    made = dirichlet(grades())
    for one in (made.drawn(5, seed=0), made.averaged(), made.subset(np.array([2, 0]))):
        assert one.ordered
    assert annotator_bootstrap(dirichlet, grades(), draws=3).ordered
    for one in (made, dirichlet(grades("nominal"))):
        write_plausibilities(one, tmp_path / "p.npz")
        assert read_plausibilities(tmp_path / "p.npz").ordered == one.ordered


def test_rankings_of_many_classes_within_a_group():
    """Sparse draws give what the same draws made full do, but for names left to chance."""
    readings = Annotations.from_rankings(
        [[[[0], [1, 2]], [[0]]], [[[3]], [[1], [3]]]], classes=list(names(6, "class"))
    )
    truth = plackett_luce(readings, chain=Chain(200))
    full = Plausibilities.dense(
        np.stack([truth.draw(d) for d in range(200)]), items=truth.items,
        classes=truth.classes, method="full",
    )  # fmt: skip
    grouping = risk(truth.classes, (0, 2, 1, 2, 0, 1))
    for level in LEVELS:
        sparse, dense = (group_chance(one, grouping, level) for one in (truth, full))
        assert_allclose(sparse.mean(), dense.mean(), atol=0.05)

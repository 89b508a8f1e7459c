"""What a vote is, and what happens to it when votes or voters are drawn again."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, chi2

from equipoise.inference.resampling import resample
from equipoise.metrics import named
from equipoise.study import evaluate
from equipoise.study.truth import task_truths
from equipoise.types import Annotations, InputError, Predictions
from tests.oracles import bootstrap, kernels
from tests.strategies import names

PATH = Path(__file__).parents[1] / "golden" / "metrics.json"
GOLDEN = json.loads(PATH.read_text("utf-8"))["annotation_bootstrap_exact_mean"]
METRICS = {
    "auroc": "sauroc_pairs",
    "average_precision": "sap_conditional",
    "average_precision:form=printed": "sap_printed",
}


def table(rows, items, **more):
    """Yes/no votes given as (item, annotator, label)."""
    item, annotator, label = (np.array(column) for column in zip(*rows, strict=True))
    return Annotations(
        kind="binary", items=names(items), classes=("no", "yes"), item=item, label=label,
        annotator=annotator, annotators=names(int(annotator.max()) + 1, "reader"), **more,
    )  # fmt: skip


def drawn(truth, kind, replicates=64, seed=0):
    """Soft labels of the first class (items, replicates) and counts under a plan."""
    plan = resample(truth, kind, replicates=replicates, seed=seed)
    block = task_truths(truth)[0].blocks(plan, 0, replicates)["classes"][1]
    return block.classes[0].positive, block.counts, plan


def soft(truth):
    return task_truths(truth)[0].shares[0]


def test_golden_mean_of_the_annotation_bootstrap_by_enumeration():
    scores = np.array(GOLDEN["scores"])
    for name, key in METRICS.items():
        metric = named(name)
        means = [np.array([1, a, b, 0]) for a, b in product((0, 0.5, 1), repeat=2)]
        chance = np.array([x * y for x, y in product((0.25, 0.5, 0.25), repeat=2)])
        values = np.array([metric(p, scores) for p in means])
        assert values @ chance == pytest.approx(GOLDEN[f"mean_{key}"], abs=1e-12)


def test_golden_mean_of_the_annotation_bootstrap_by_evaluate():
    truth = bootstrap.annotations(np.array(GOLDEN["votes"], float))
    model = Predictions("m", truth.items, np.array(GOLDEN["scores"]))
    plan = resample(truth, "votes", replicates=20_000)
    done = evaluate(model, truth, metrics=list(METRICS), resampling=plan)
    for name, key in METRICS.items():
        estimate = done.estimate("m", name)
        assert estimate.value == pytest.approx(GOLDEN["point"][key], abs=1e-12)
        error = estimate.standard_error / 20_000**0.5
        assert estimate.replicates.mean() == pytest.approx(GOLDEN[f"mean_{key}"], abs=4 * error)


@pytest.mark.parametrize("kind", ["items x votes", "items x panel", "items", "votes"])
def test_replicates_are_kept_as_drawn(kind):
    votes = (np.random.default_rng(1).random((20, 3)) < 0.5).astype(float)
    truth = bootstrap.annotations(votes)
    model = Predictions("m", truth.items, np.arange(20.0))
    plan = resample(truth, kind, replicates=64)
    done = evaluate(model, truth, metrics=["auroc"], resampling=plan)
    raw = bootstrap.replicates(votes, [model.values], plan)[0]
    assert_allclose(done.replicates[0, 0], raw, atol=1e-10)


@pytest.mark.parametrize(("size", "yes"), [(5, 2), (8, 7), (64, 20), (70, 30)])
def test_redrawn_votes_are_binomial(size, yes):
    truth = bootstrap.annotations(
        (np.arange(size) < yes)[None, :].astype(float).repeat(2, axis=0)
    )
    number = 20_000
    share, _, _ = drawn(truth, "votes", number)
    seen = np.bincount(np.round(share[0] * size).astype(int), minlength=size + 1)
    expected = number * binom.pmf(np.arange(size + 1), size, yes / size)
    kept = expected > 5
    statistic = ((seen - expected)[kept] ** 2 / expected[kept]).sum()
    assert statistic < chi2.ppf(1 - 1e-4, kept.sum() - 1)
    correlation = np.corrcoef(share)[0, 1]
    assert abs(correlation) < 4 / number**0.5


def test_weighted_votes_are_redrawn_with_their_weights():
    rows = [(0, a, label) for a, label in enumerate([1, 0, 1])] + [(1, 0, 1), (1, 1, 0)]
    weight = np.array([2.0, 1, 1, 3, 1])
    truth = table(rows, 2, weight=weight)
    assert_allclose(soft(truth), [3 / 4, 3 / 4])
    share, _, plan = drawn(truth, "votes")
    votes = [[(1.0, 2.0), (0.0, 1.0), (1.0, 1.0)], [(1.0, 3.0), (0.0, 1.0)]]
    assert_array_equal(share, kernels.vote_shares(votes, plan.key("votes/"), 0, 64))


@pytest.mark.parametrize("kind", ["votes", "panel"])
@pytest.mark.parametrize("tied", [False, True])
def test_redrawn_classes_always_sum_to_one(kind, tied):
    random = np.random.default_rng(6)
    if tied:
        blocks = [[[0, 1], [2]], [[2], [0]], [[0, 1, 2]], [[1]]]
        item = np.repeat(np.arange(5), 4)
        rows = [
            (i, reading, k, rank)
            for reading, i in enumerate(item)
            for rank, block in enumerate(blocks[(reading + i) % 4])
            for k in block
        ]
        item, reading, label, rank = (np.array(column) for column in zip(*rows, strict=True))
        more = {"kind": "ranking", "reading": reading, "rank": rank, "annotator": reading % 4}
    else:
        item, label = np.repeat(np.arange(5), 4), random.integers(0, 3, 20)
        more = {"kind": "nominal", "annotator": np.tile(np.arange(4), 5)}
    truth = Annotations(
        items=names(5), classes=("x", "y", "z"), item=item, label=label,
        annotators=names(4, "reader"), **more,
    )  # fmt: skip
    plan = resample(truth, kind, replicates=64)
    block = task_truths(truth)[0].blocks(plan, 0, 64)["classes"][1]
    assert_allclose(sum(one.positive for one in block.classes), 1, atol=1e-12)


def tied_ranking():
    """Two readings of one item: x and y tied above z, then z above x."""
    return Annotations(
        kind="ranking", items=("a",), classes=("x", "y", "z"), item=np.zeros(5, int),
        label=np.array([0, 1, 2, 2, 0]), rank=np.array([0, 0, 1, 0, 1]),
        reading=np.array([0, 0, 0, 1, 1]),
    )  # fmt: skip


def test_tied_first_choices_share_one_vote():
    assert_allclose(task_truths(tied_ranking())[0].shares[:, 0], [0.25, 0.25, 0.5])


@pytest.mark.parametrize(("positive", "share"), [("x", 0.25), ("y", 0.25), ("z", 0.5)])
def test_a_ranking_asked_about_one_class_is_about_that_class(positive, share):
    question = task_truths(tied_ranking().against(positive))[0]
    assert_allclose(question.shares, [[share]])
    assert question.classes == (positive,)


def test_a_panel_draw_is_the_same_for_all_items():
    rows = [(i, a, int(a == 0)) for i in range(5) for a in range(3)]
    share, counts, plan = drawn(table(rows, 5), "panel")
    assert (share == share[0]).all() and (counts == 1).all()
    assert_allclose(share[0], plan.annotator_counts(0, 64)[0] / 3)


def test_an_item_without_voters_drops_out_of_the_replicate():
    rows = [(0, 0, 1), (0, 1, 0), (1, 0, 1), (2, 1, 0)]
    share, counts, plan = drawn(table(rows, 3), "panel")
    panel = plan.annotator_counts(0, 64)
    assert_array_equal(counts[1], panel[0] > 0)
    assert_array_equal(counts[2], panel[1] > 0)
    assert_allclose(share[0], panel[0] / 2)
    assert {0, 1} == set(counts[1])


def test_repeated_votes_of_one_person_all_count_and_move_together():
    truth = table([(0, 0, 1), (0, 0, 1), (0, 1, 0), (1, 1, 0)], 2)
    assert_allclose(soft(truth), [2 / 3, 0])
    share, _, plan = drawn(truth, "panel")
    panel = plan.annotator_counts(0, 64).astype(float)
    assert_allclose(share[0], 2 * panel[0] / (2 * panel[0] + panel[1]))


def test_counts_stand_for_votes():
    truth = Annotations(
        kind="binary", items=("a", "b"), classes=("no", "yes"), item=np.array([0, 0, 1]),
        label=np.array([1, 0, 1]), count=np.array([3, 1, 2]),
    )  # fmt: skip
    assert_allclose(soft(truth), [0.75, 1])
    share, _, plan = drawn(truth, "votes")
    expected = kernels.binomial_shares([(4, 3), (2, 2)], plan.key("votes/"), 0, 64)
    assert_array_equal(share, expected)


@pytest.mark.parametrize("kind", ["votes", "panel"])
def test_gold_settles_an_item_and_is_never_redrawn(kind):
    rows = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 1), (1, 1, 0), (1, 2, 0)]
    gold = np.array([False, False, True, False, False, False])
    truth = table(rows, 2, is_gold=gold)
    assert_allclose(soft(truth), [1, 1 / 3])
    share, counts, _ = drawn(truth, kind)
    assert (share[0] == 1).all() and (counts[0] == 1).all()
    assert len(set(share[1])) > 1


def test_gold_as_zeros_and_ones_means_what_it_says():
    rows = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    truths = [
        table(rows, 2, is_gold=np.array([0, 1, 0, 0], dtype=kind)) for kind in (bool, int)
    ]
    assert_allclose(soft(truths[0]), [1, 0.5])
    assert_array_equal(soft(truths[1]), soft(truths[0]))


def test_gold_that_contradicts_itself_is_refused():
    truth = table([(0, 0, 0), (0, 1, 1)], 1, is_gold=np.array([True, True]))
    with pytest.raises(InputError, match="contradict"):
        task_truths(truth)


def test_hard_labels_are_majorities_and_ties_follow_the_rule():
    rows = [(i, a, int(a < i)) for i in range(5) for a in range(4)]
    question = task_truths(table(rows, 5))[0]
    assert_allclose(question.shares[0], [0, 0.25, 0.5, 0.75, 1])
    assert_array_equal(question.hard[0], [0, 0, 0.5, 1, 1])
    assert_array_equal(replace(question, ties="negative").hard[0], [0, 0, 0, 1, 1])


def test_ratings_are_soft_votes_in_the_unit_interval():
    item, value = np.array([0, 0, 1]), np.array([0.2, 0.6, 1.0])
    truth = Annotations(kind="interval", items=("a", "b"), item=item, value=value)
    assert_allclose(soft(truth), [0.4, 1])
    with pytest.raises(InputError, match="rating"):
        task_truths(Annotations(kind="interval", items=("a", "b"), item=item, value=3 * value))

"""Flips: planted items are found, brute force agrees, and every set holds when recomputed."""

import os
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.inference.resampling import resample
from equipoise.study import Settings, evaluate
from equipoise.types import Annotations, InputError, Predictions
from tests.analysed import flips
from tests.oracles.bootstrap import annotations
from tests.oracles.flips import smallest
from tests.strategies import names

real = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ, reason="needs the CheXpert files (EQUIPOISE_DATA)"
)
COLUMNS = ("item", "annotator", "label", "task")


def tiny(seed, items=9, panel=3):
    random = np.random.default_rng(seed)
    truth = random.random(items)
    votes = (random.random((items, panel)) < truth[:, None]).astype(float)
    votes[0], votes[1] = 1, 0
    scores = [truth + random.normal(0, 0.35, items) for _ in range(2)]
    return votes, scores


def models(scores, items=None, **more):
    return [
        Predictions(f"model-{m}", items or names(len(s)), s, **more)
        for m, s in enumerate(scores)
    ]


def lead(flip, predictions, truth, metric, labels="soft"):
    """Value of a minus value of b, from the public evaluation, higher meaning better."""
    few = resample(truth, "items", replicates=1)
    drop = Settings(on_missing="drop")
    done = evaluate(predictions, truth, metrics=[metric], resampling=few, settings=drop)
    a, b = (
        done.estimate(m, metric, labels=labels, task=flip.task).value for m in (flip.a, flip.b)
    )
    return (a - b) if done.metrics[0].better == "higher" else b - a


def rows_kept(truth, keep):
    codes = {n: getattr(truth, n)[keep] for n in COLUMNS if getattr(truth, n) is not None}
    return replace(truth, **codes)


def without_items(truth, predictions, gone):
    left = tuple(item for item in truth.items if item not in gone)
    code = {item: place for place, item in enumerate(left)}
    keep = np.array([truth.items[i] in code for i in truth.item])
    moved = np.array([code[truth.items[i]] for i in truth.item[keep]])
    kept = replace(rows_kept(truth, keep), items=left, item=moved)
    values = [
        Predictions(p.model, left, p.aligned(left, p.classes), p.classes, p.task)
        for p in predictions
    ]
    return kept, values


def voted(truth, flip):
    """The annotations with the votes of a set taken away or changed."""
    label, keep = truth.label.copy(), np.ones(len(truth), dtype=bool)
    for member in flip.members:
        row = np.flatnonzero(
            (truth.item == truth.items.index(member.item))
            & (truth.annotator == truth.annotators.index(member.annotator))
            & truth.in_task(flip.task)
        )
        assert len(row) == 1 and truth.classes[label[row[0]]] == member.said
        keep[row] = member.instead is not None
        if member.instead is not None:
            label[row] = truth.classes.index(member.instead)
    return rows_kept(replace(truth, label=label), keep)


def brute_items(truth, predictions, flip, metric):
    """Smallest number of items whose absence puts b ahead, up to two; else 3."""
    for size in (1, 2):
        for gone in combinations(truth.items, size):
            if lead(flip, *reversed(without_items(truth, predictions, gone)), metric) < -1e-12:
                return size
    return 3


@pytest.mark.parametrize("metric", ["auroc", "average_precision", "brier_score"])
def test_a_planted_item_is_found_and_proved_to_be_enough(metric):
    random = np.random.default_rng(5)
    votes = np.repeat((np.arange(60) % 2)[:, None], 3, axis=1).astype(float)
    first = np.where(votes[:, 0] == 1, 0.8, 0.2) + random.uniform(-0.1, 0.1, 60)
    second = first.copy()
    first[4] = 0.75  # a negative among the positives: a small mistake of the first
    second[17] = 0.01  # a positive below all: the only, and larger, mistake of the second
    truth = annotations(votes)
    done = flips(models([first, second]), truth, metric=metric)
    (flip,) = done.tasks
    assert (flip.a, flip.b) == ("model-0", "model-1") and flip.lead > 0
    assert [member.item for member in flip.members] == [truth.items[17]]
    assert flip.verified and flip.exact and flip.share == 1 / 60
    assert "leaving out 1 of 60 items" in done.finding


@pytest.mark.parametrize("metric", ["auroc", "average_precision", "accuracy"])
@pytest.mark.parametrize("seed", range(4))
def test_items_agree_with_brute_force(seed, metric):
    votes, scores = tiny(seed)
    if metric == "accuracy":  # which takes probabilities
        scores = [np.clip(score, 0, 1) for score in scores]
    truth, predictions = annotations(votes), models(scores)
    done = flips(predictions, truth, metric=metric)
    for flip in done.tasks:
        if flip.idle:
            assert flip.idle == "all level"
            continue
        size = brute_items(truth, predictions, flip, metric)
        assert size <= min(len(flip.members) or 3, 3)
        assert not flip.exact or size == min(len(flip.members) or 3, 3)
        if flip.members:
            gone = {member.item for member in flip.members}
            after = lead(flip, *reversed(without_items(truth, predictions, gone)), metric)
            assert flip.verified and after < 0
            assert_allclose(after, flip.lead_after, atol=1e-12)
        assert_allclose(lead(flip, predictions, truth, metric), flip.lead, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_votes_agree_with_brute_force(seed, unit="changed votes"):
    votes, scores = tiny(seed, items=7)
    truth, predictions = annotations(votes), models(scores)
    (flip,) = flips(predictions, truth, unit=unit).tasks
    size = smallest([votes], [np.stack(scores)], "auroc", unit=unit, deep=2)
    assert size <= min(len(flip.members) or 3, 3)
    assert flip.number == truth.label.size
    if flip.members:
        after = lead(flip, predictions, voted(truth, flip), "auroc")
        assert flip.verified
        assert_allclose(after, flip.lead_after, atol=1e-12)


def test_a_metric_without_influence_is_refused():
    votes, scores = tiny(8, items=60)
    with pytest.raises(InputError, match="no influence function, expected a metric that has"):
        flips(models(scores), annotations(votes), metric="precision_at_20")


@pytest.mark.parametrize("metric", ["brier_score", "accuracy", "auroc"])
@pytest.mark.parametrize("seed", range(4))
def test_groups_of_items_are_left_out_as_wholes(seed, metric):
    votes, scores = tiny(seed + 30, items=24)
    scores = [np.clip(one, 0, 1) for one in scores]
    group = np.random.default_rng(seed).integers(0, 7, 24)
    codes, group = np.unique(group, return_inverse=True)
    nights = names(len(codes), "night")
    truth = replace(annotations(votes), group=group, groups=nights)
    predictions = models(scores)
    done = flips(predictions, truth, metric=metric)
    (flip,) = done.tasks
    assert done.unit == "groups" and flip.number == len(codes)
    plain = replace(truth, group=None, groups=None)
    least = None
    for size in range(1, len(codes)):
        for some in combinations(range(len(codes)), size):
            gone = {item for item, g in zip(truth.items, group, strict=True) if g in some}
            after = lead(flip, *reversed(without_items(plain, predictions, gone)), metric)
            if after < -1e-12:
                least = size
                break
        if least:
            break
    if flip.exact:
        assert (len(flip.members) or None) == least
    assert flip.exact or metric == "auroc"
    if flip.members:
        assert {member.item for member in flip.members} <= set(nights)
        gone = {
            item for item, g in zip(truth.items, group, strict=True)
            if nights[g] in {member.item for member in flip.members}
        }  # fmt: skip
        after = lead(flip, *reversed(without_items(plain, predictions, gone)), metric)
        assert_allclose(after, flip.lead_after, atol=1e-12)
        assert f"{len(flip.members)} of {len(codes)} groups of items" in done.finding


def test_many_items_are_searched_by_sorting():
    random = np.random.default_rng(2)
    truth = random.random(5000)
    votes = (random.random((5000, 3)) < truth[:, None]).astype(float)
    near = np.clip(truth + random.normal(0, 0.3, 5000), 0, 1)
    scores = [near, np.clip(near + random.normal(0, 0.02, 5000), 0, 1)]
    predictions, truth = models(scores), annotations(votes)
    for metric in ("brier_score", "auroc"):
        for unit in ("items", "changed votes"):
            (flip,) = flips(predictions, truth, metric=metric, unit=unit, most=400).tasks
            assert flip.verified and flip.lead_after < 0
            assert flip.exact == (metric == "brier_score")


def test_hard_labels_flip_by_items_and_refuse_single_votes():
    votes, scores = tiny(2, items=30)
    truth, predictions = annotations(votes), models(scores)
    (flip,) = flips(predictions, truth, labels="hard").tasks
    gone = {member.item for member in flip.members}
    assert flip.verified
    kept = reversed(without_items(truth, predictions, gone))
    assert_allclose(lead(flip, *kept, "auroc", "hard"), flip.lead_after, atol=1e-12)
    with pytest.raises(InputError, match="labels='soft'"):
        flips(predictions, truth, labels="hard", unit="changed votes")


def test_classes_without_order_flip_by_changed_votes():
    random = np.random.default_rng(1)
    shares = random.dirichlet([0.6] * 3, 25)
    label = np.array([random.choice(3, p=p) for p in np.repeat(shares, 4, axis=0)])
    truth = Annotations(
        kind="nominal", items=names(25), classes=("a", "b", "c"),
        annotators=names(4, "reader"), item=np.repeat(np.arange(25), 4),
        annotator=np.tile(np.arange(4), 25), label=label,
    )  # fmt: skip
    noisy = [shares + random.random((25, 3)) * s for s in (0.5, 0.6)]
    scores = [one / one.sum(axis=1, keepdims=True) for one in noisy]
    predictions = models(scores, classes=("a", "b", "c"))
    for metric in ("auroc", "brier_score"):
        (flip,) = flips(predictions, truth, metric=metric, unit="changed votes").tasks
        assert flip.verified and len({m[:2] for m in flip.members}) == len(flip.members)
        after = lead(flip, predictions, voted(truth, flip), metric)
        assert_allclose(after, flip.lead_after, atol=1e-12)


def test_identical_models_have_nothing_to_flip_and_ties_are_passed_over():
    votes, scores = tiny(3)
    done = flips(models([scores[0], scores[0]]), annotations(votes))
    assert "model-0 and model-1 are tied at the top already" in done.finding
    assert "nothing was searched" in done.finding and done.rows()[0]["idle"] == "all level"
    done = flips(models([scores[0], scores[0], -scores[0]]), annotations(votes), most=1)
    (flip,) = done.tasks
    assert flip.b == "model-2" and flip.leaders == ("model-0", "model-1")
    assert "model-0 and model-1 are tied at the top" in str(done.notices[-1])


def test_none_within_the_limit_is_said():
    votes, _ = tiny(3, items=30)
    share = votes.mean(axis=1)
    done = flips(models([share, -share]), annotations(votes), most=2)
    assert done.rows()[0]["size"] is None and not done.tasks[0].verified
    assert "no set of up to 2 items was found" in done.finding
    assert "larger ones were not searched" in done.finding


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": "votes"}, "expected one of items"),
        ({"unit": 3}, "flips, unit: 3, expected one of items"),
        ({"most": 0}, "at least 1"),
        ({"most": "3"}, "most: '3', expected a whole number"),
        ({"most": 2.5}, "most: 2.5, expected a whole number"),
        ({"most": True}, "most: True, expected a whole number"),
        ({"most": float("nan")}, "most: nan, expected a whole number"),
        ({"labels": 1}, "labels: 1, expected one of hard, soft"),
        ({"task": 7}, "task: 7"),
        ({"labels": "medium"}, "hard, soft"),
        ({"metric": "topk_accuracy"}, "metric of labels"),
        ({"task": "other"}, "other"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(change, message):
    votes, scores = tiny(3)
    with pytest.raises(InputError, match=message):
        flips(models(scores), annotations(votes), **change)


@real
@pytest.mark.parametrize("unit", ["items", "changed votes"])
def test_the_leaderboard_hangs_on_very_little(unit):
    from equipoise.datasets.chexpert import load_chexpert

    study = load_chexpert()
    done = flips(study.predictions, study.annotations, unit=unit, task="Atelectasis")
    (flip,) = done.tasks
    assert (flip.a, flip.b) == ("ngango3", "jfaboy")
    assert len(flip.members) == 1 and flip.verified and flip.exact
    assert flip.number == (500 if unit == "items" else 4000)
    mine = [one for one in study.predictions if one.task == "Atelectasis"]
    one = study.annotations.in_task("Atelectasis")
    alone = replace(rows_kept(study.annotations, one), tasks=("Atelectasis",), task=None)
    if unit == "items":
        after = without_items(alone, mine, {flip.members[0].item})
    else:
        after = voted(alone, flip), mine
    assert_allclose(lead(flip, *reversed(after), "auroc"), flip.lead_after, atol=1e-10)

"""Votes for the whole order: what one is expected to bring, by enumerating what it could be."""

import csv
import math
import os
from dataclasses import replace
from itertools import combinations, pairwise
from statistics import NormalDist

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.metrics import auroc, brier_score
from equipoise.study import evaluate
from equipoise.study.planning.next_votes import next_items
from equipoise.types import Annotations, InputError, Predictions

PHI = NormalDist().cdf


def study(items=12, votes=3, noise=(0.3, 0.5, 0.55), seed=1):
    """Yes votes out of so many on each item, and scores of models of falling skill."""
    random = np.random.default_rng(seed)
    share = random.random(items)
    yes = random.binomial(votes, share)
    counts = np.stack([votes - yes, yes], axis=1)
    table = Annotations.from_counts(counts).against("1")
    scores = [np.clip(share + random.normal(0, one, items), 0.01, 0.99) for one in noise]
    given = [
        Predictions(name, table.items, one) for name, one in zip("abcdef", scores, strict=False)
    ]
    return given, table, counts, scores


def value(metric, labels, score):
    return metric(labels, score) if metric is auroc else -metric(labels, score)


def slopes(metric, labels, pair, item):
    """How the difference moves as the label of one item moves towards no and towards yes."""
    a, b = pair
    here = value(metric, labels, a) - value(metric, labels, b)
    found = []
    for target in (0, 1):
        moved = labels.copy()
        moved[item] += 1e-5 * (target - moved[item])
        there = value(metric, moved, a) - value(metric, moved, b)
        found.append((there - here) / 1e-5)
    return np.array(found)


def variance(alpha, slope):
    """Of the sum of slopes times shares that follow a Dirichlet law, by its covariance."""
    total = alpha.sum()
    mean = alpha / total
    covariance = (np.diag(mean) - np.outer(mean, mean)) / (total + 1)
    return slope @ covariance @ slope


def law_of(counts):
    """Votes, and imagined ones shared out as the mean labels are, by comparing all pairs."""
    labels = counts / counts.sum(axis=1, keepdims=True)
    usual = (labels.sum(axis=0) + 1 / counts.shape[1]) / (len(counts) + 1)
    chance = sum(usual[j] * usual[k] for j in range(len(usual)) for k in range(j)) * 2
    unlike_votes = []
    for row in counts:
        votes = np.repeat(np.arange(len(row)), row)
        if len(votes) > 1:
            unlike_votes.append(np.mean([a != b for a, b in combinations(votes, 2)]))
    share = (sum(unlike_votes) / chance + 2 / 3) / (len(unlike_votes) + 1)
    return counts + share / (1 - share) * usual


def by_hand(metric, counts, scores, order):
    """Expected differences, slopes (pairs, items, 2), parts of the variances (pairs, items)."""
    alpha = law_of(counts)
    labels = alpha[:, 1] / alpha.sum(axis=1)
    pairs = [(scores[a], scores[b]) for a, b in pairwise(order)]
    gap = [value(metric, labels, a) - value(metric, labels, b) for a, b in pairs]
    slope = [[slopes(metric, labels, both, i) for i in range(len(labels))] for both in pairs]
    part = [[variance(alpha[i], row[i]) for i in range(len(labels))] for row in slope]
    return np.array(gap), np.array(slope), np.array(part)


def uncertainty(gap, total):
    return sum(
        2 * PHI(d / math.sqrt(v)) * PHI(-d / math.sqrt(v))
        for d, v in zip(gap, total, strict=True)
    )


def order_of(found):
    return ["abcdef".index(name) for name in found.models]


@pytest.mark.parametrize("metric", [auroc, brier_score])
def test_a_vote_lowers_the_variances_by_what_enumeration_expects(metric):
    given, table, counts, scores = study()
    found = next_items(given, table, metric.__name__, number=12, ranking=True)
    _, slope, part = by_hand(metric, counts, scores, order_of(found))
    raw = counts[:, 1] / counts.sum(axis=1)
    pairs = [(scores[a], scores[b]) for a, b in pairwise(order_of(found))]
    votes = [value(metric, raw, a) - value(metric, raw, b) for a, b in pairs]
    assert_allclose(found.difference, votes, rtol=1e-9)
    assert_allclose(found.part, part.sum(axis=1), rtol=1e-3)
    done = evaluate(given, table, metrics=[metric.__name__], resampling="influence")
    cell, known = done.two_way(metric.__name__), order_of(found)
    two_way = [cell.between(a, b).variance for a, b in pairwise(known)]
    assert_allclose(found.variance, two_way)
    for place, name in enumerate(found.items):
        i = table.items.index(name)
        alpha = law_of(counts)[i]
        law = alpha / alpha.sum()
        for j in range(2):
            after = [variance(alpha + np.eye(2)[k], slope[j, i]) for k in range(2)]
            moved = [
                slope[j, i] @ ((alpha + np.eye(2)[k]) / (alpha.sum() + 1) - law)
                for k in range(2)
            ]
            fall = part[j, i] - law @ np.array(after)
            assert found.lowered[j, place] == pytest.approx(fall, rel=1e-3, abs=1e-15)
            assert law @ np.array(moved) == pytest.approx(0, abs=1e-12)
            assert law @ np.array(moved) ** 2 == pytest.approx(fall, rel=1e-6, abs=1e-15)


def test_the_gain_is_the_expected_fall_of_the_uncertainty():
    """The next vote moves the difference, and lowers its two-way variance, as enumerated."""
    given, table, counts, scores = study(items=150, votes=4, noise=(0.5,) * 4, seed=3)
    found = next_items(given, table, "brier_score", number=150, ranking=True)
    _, slope, part = by_hand(brier_score, counts, scores, order_of(found))
    gap, whole = found.difference, found.variance
    now = uncertainty(gap, whole)
    assert found.uncertainty() == pytest.approx(now) and now > 0.2
    expected = []
    for name in found.items[:60]:
        i = table.items.index(name)
        alpha = law_of(counts)[i]
        law, then = alpha / alpha.sum(), 0.0
        for vote in range(2):
            after = alpha + np.eye(2)[vote]
            step = slope[:, i] @ (after / after.sum() - law)
            left = whole - part[:, i] + [variance(after, one) for one in slope[:, i]]
            then += law[vote] * uncertainty(gap + step, left)
        expected.append(now - then)
    assert_allclose(found.gain[:60], expected, rtol=0.25)
    assert np.sum(found.gain[:60]) == pytest.approx(np.sum(expected), rel=0.05)
    places = np.argsort(np.argsort(-np.array(expected)))
    assert np.corrcoef(places, np.arange(60))[0, 1] > 0.98


def test_two_models_are_ranked_as_by_their_variance():
    given, table, *_ = study(items=40, noise=(0.4, 0.6))
    ranking = next_items(given, table, number=15, ranking=True)
    pair = next_items(given, table, number=15)
    assert ranking.items == pair.items
    assert_allclose(ranking.gain / ranking.gain[0], pair.gain / pair.gain[0])
    assert_allclose(ranking.lowered[0], pair.gain)


def test_the_closest_pair_decides_what_is_asked():
    random = np.random.default_rng(5)
    yes = random.random(80) < 0.5
    counts = np.where(yes[:, None], [1, 2], [2, 1])
    table = Annotations.from_counts(counts).against("1")
    right = np.where(yes, 0.6, 0.4)
    early, late = np.arange(80) < 40, np.arange(80) >= 40
    close = np.where(early, 0.5 + random.normal(0, 0.02, 80), right)
    far = np.where(late, 1 - right, close) + np.where(late, random.normal(0, 0.02, 80), 0)
    given = [
        Predictions(name, table.items, one)
        for name, one in (("best", right), ("next", close), ("last", 1 - far))
    ]
    found = next_items(given, table, "brier_score", number=80, ranking=True)
    z = found.difference / np.sqrt(found.variance)
    closest = int(np.argmin(z))
    assert z.max() > 2 * z.min()
    pairs = [f"{a} / {b}" for a, b in pairwise(found.models)]
    assert {row["tells most about"] for row in found.rows()[:10]} == {pairs[closest]}


def test_models_that_score_alike_are_said_and_left_aside():
    given, table, _, scores = study(noise=(0.1, 0.8))
    twin = Predictions("c", table.items, scores[0])
    found = next_items([*given, twin], table, number=3, ranking=True)
    assert found.models == ("a", "c", "b")
    assert " of 1 pair of neighbours in another order" in found.finding
    alone = next_items(given, table, number=3, ranking=True)
    assert found.uncertainty() == pytest.approx(alone.uncertainty())
    same = next_items([given[0], twin], table, number=3, ranking=True)
    assert same.items == () and same.rows() == [] and same.uncertainty() == 0
    assert "No vote on any item" in same.finding


def test_rounding_is_no_difference():
    given, table, _, scores = study(noise=(0.1, 0.8))
    nearly = Predictions("c", table.items, np.nextafter(scores[0], 1))
    alone = next_items(given, table, "brier_score", number=12, ranking=True)
    found = next_items([*given, nearly], table, "brier_score", number=12, ranking=True)
    assert found.items == alone.items
    assert_allclose(found.gain, alone.gain, rtol=1e-6)


@pytest.mark.parametrize("total", [0.3, 1.0, 4.0])
def test_imagined_votes_are_as_many_as_the_votes_are_apart(total):
    random = np.random.default_rng(7)
    share = random.beta(0.3 * total, 0.7 * total, 800)
    yes = random.binomial(3, share)
    table = Annotations.from_counts(np.stack([3 - yes, yes], axis=1)).against("1")
    given = [Predictions(name, table.items, random.random(800)) for name in "ab"]
    found = next_items(given, table, "brier_score")
    assert found.imagined == pytest.approx(total, rel=0.2)
    assert next_items(given, table, "brier_score", ranking=True).imagined == found.imagined
    single = Annotations.from_counts(np.eye(2, dtype=int)[(yes > 1).astype(int)]).against("1")
    assert next_items(given, single, "brier_score").imagined == pytest.approx(2)


def test_a_panel_that_always_agrees_is_believed():
    """One imagined vote per class would put the bold model behind."""
    yes = np.arange(12) % 2
    table = Annotations.from_counts(4 * np.eye(2, dtype=int)[yes]).against("1")
    given = [
        Predictions(name, table.items, np.where(yes, high, 1 - high))
        for name, high in (("bold", 0.9), ("shy", 0.8))
    ]
    found = next_items(given, table, "brier_score")
    assert found.models[0] == "bold" and found.imagined < 0.1
    assert not found.notices


def test_the_list_is_written_whole_or_not_at_all(tmp_path):
    given, table, *_ = study()
    found = next_items(given, table, number=4, ranking=True)
    path = tmp_path / "next.csv"
    found.write(path)
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "item",
        "annotator",
        "label",
        "votes so far",
        "soft label",
        "expected gain",
        "tells most about",
    ]
    assert [row["item"] for row in rows] == list(found.items)
    assert [float(row["expected gain"]) for row in rows] == found.gain.tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["next.csv"]
    with pytest.raises(InputError, match="the name of a file"):
        found.write(7)
    with pytest.raises(InputError, match="cannot be written"):
        found.write(tmp_path / "missing" / "next.csv")


def test_the_list_is_deterministic_and_gains_fall():
    given, table, *_ = study(items=30)
    before = table.label.copy()
    seen = []
    one, two = (
        next_items(
            given, table, number=30, seed=4, progress=lambda *k: seen.append(k), ranking=True
        )
        for _ in range(2)
    )
    assert one.items == two.items and seen == [(1, 2), (2, 2)] * 2
    assert (np.diff(one.gain) <= 1e-9 * one.gain[0]).all()
    assert (table.label == before).all()
    with pytest.raises(ValueError, match="read-only"):
        one.gain[0] = 1.0


@pytest.mark.parametrize("wrong", [{"number": 0}, {"number": 2.5}, {"number": "3"},
                                   {"number": True}, {"seed": -1}, {"seed": 1.5},
                                   {"progress": 3}, {"models": ("a", "b")}])  # fmt: skip
def test_wrong_arguments_are_refused(wrong):
    given, table, *_ = study()
    with pytest.raises(InputError):
        next_items(given, table, **wrong, ranking=True)


def test_items_of_several_classes_and_known_truths():
    random = np.random.default_rng(8)
    share = random.dirichlet([1, 1, 1], 40)
    counts = np.stack([random.multinomial(4, one) for one in share])
    table = Annotations.from_counts(counts, classes=["x", "y", "z"])
    given = []
    for name, noise in (("a", 0.3), ("b", 0.5), ("c", 0.9)):
        mixed = share + noise * random.dirichlet([1, 1, 1], 40)
        values = mixed / mixed.sum(axis=1, keepdims=True)
        given.append(Predictions(name, table.items, values, ("x", "y", "z")))
    found = next_items(given, table, "log_score", number=40, ranking=True)
    assert found.gain[0] > 0 and (found.soft_label >= 1 / 3).all()
    settled = np.zeros(40, dtype=bool)
    settled[[table.items.index(found.items[0])]] = True
    sure = replace(table, is_gold=settled[table.item] & _unanimous(table))
    again = next_items(given, sure, "log_score", number=40, ranking=True)
    assert found.items[0] not in again.items and len(again.items) == 39
    assert "each of these 39 items (a vote on any other tells nothing" in again.finding
    assert len(found.items) == 40 and "each of the 40 items of the pilot" in found.finding


def _unanimous(table):
    """The first row of every item, which alone may be the known truth."""
    first = np.zeros(len(table.item), dtype=bool)
    first[np.unique(table.item, return_index=True)[1]] = True
    return first


def test_a_single_model_has_no_order():
    given, table, *_ = study()
    for one in (given[0], given[:1]):
        with pytest.raises(InputError, match="a single one"):
            next_items(one, table, ranking=True)


def test_real_readings_of_ten_models():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("needs the CheXpert readings: set EQUIPOISE_DATA")
    from equipoise.datasets import load_chexpert

    data = load_chexpert()
    found = next_items(
        data.predictions, data.annotations, number=20, task="Atelectasis", ranking=True
    )
    assert len(found.models) == 10 and found.lowered.shape == (9, 20)
    assert 0 < found.uncertainty() < 9
    assert found.gain.min() > 0

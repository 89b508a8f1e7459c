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

from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.metrics import auroc, brier_score
from equipoise.planning.next_votes import (
    MisorderingRisk,
    next_for_ranking,
    next_items,
    opposite_signs,
)
from equipoise.predictions import Predictions

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


def doubt(gap, total):
    return sum(
        2 * PHI(d / math.sqrt(v)) * PHI(-d / math.sqrt(v))
        for d, v in zip(gap, total, strict=True)
    )


def expected_fall(counts, gap, slope, part, item):
    """Enumerate the next vote of an item by its predictive law, and look again."""
    alpha = law_of(counts)[item]
    law = alpha / alpha.sum()
    now, then = doubt(gap, part.sum(axis=1)), 0.0
    for vote in range(2):
        after = alpha + np.eye(2)[vote]
        step = slope[:, item] @ (after / after.sum() - law)
        changed = part.copy()
        changed[:, item] = [variance(after, one) for one in slope[:, item]]
        then += law[vote] * doubt(gap + step, changed.sum(axis=1))
    return now - then


def order_of(found):
    return ["abcdef".index(name) for name in found.models]


@pytest.mark.parametrize("metric", [auroc, brier_score])
def test_a_vote_lowers_the_variances_by_what_enumeration_expects(metric):
    given, table, counts, scores = study()
    found = next_for_ranking(given, table, metric.__name__, number=12)
    gap, slope, part = by_hand(metric, counts, scores, order_of(found))
    raw = counts[:, 1] / counts.sum(axis=1)
    pairs = [(scores[a], scores[b]) for a, b in pairwise(order_of(found))]
    votes = [value(metric, raw, a) - value(metric, raw, b) for a, b in pairs]
    assert_allclose(found.difference, votes, rtol=1e-9)
    assert_allclose(found.expected, gap, rtol=1e-9)
    assert_allclose(found.variance, part.sum(axis=1), rtol=1e-3)
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


def test_the_gain_is_the_expected_fall_of_the_doubt():
    given, table, counts, scores = study(items=150, votes=4, noise=(0.5,) * 4, seed=3)
    found = next_for_ranking(given, table, "brier_score", number=150)
    gap, slope, part = by_hand(brier_score, counts, scores, order_of(found))
    assert found.doubt() == pytest.approx(doubt(gap, part.sum(axis=1)), rel=1e-3)
    assert found.doubt() > 0.2
    expected = [
        expected_fall(counts, gap, slope, part, table.items.index(name))
        for name in found.items[:60]
    ]
    assert_allclose(found.gain[:60], expected, rtol=0.25)
    assert np.sum(found.gain[:60]) == pytest.approx(np.sum(expected), rel=0.05)
    places = np.argsort(np.argsort(-np.array(expected)))
    assert np.corrcoef(places, np.arange(60))[0, 1] > 0.98


def test_the_chance_of_a_wrong_order_does_not_fall_by_a_single_vote():
    given, table, counts, scores = study(items=150, votes=4, noise=(0.5,) * 2, seed=3)
    found = next_for_ranking(given, table, "brier_score", number=1)
    gap, slope, part = by_hand(brier_score, counts, scores, order_of(found))
    i = table.items.index(found.items[0])
    alpha = law_of(counts)[i]
    law, total = alpha / alpha.sum(), part[0].sum()
    then = 0.0
    for vote in range(2):
        after = alpha + np.eye(2)[vote]
        left = total - part[0, i] + variance(after, slope[0, i])
        step = slope[0, i] @ (after / after.sum() - law)
        then += law[vote] * PHI(-abs(gap[0] + step) / math.sqrt(left))
    now = PHI(-gap[0] / math.sqrt(total))
    assert abs(now - then) < 0.1 * found.gain[0]


def test_pairs_in_the_wrong_order_after_the_batch_are_those_of_simulated_votes():
    given, table, counts, scores = study(items=80, votes=2, noise=(0.5,) * 3, seed=7)
    found = next_for_ranking(given, table, "brier_score", number=80)
    now, then = found.wrong_pairs()
    random, alpha = np.random.default_rng(3), law_of(counts)
    loss = np.array([scores[i] for i in order_of(found)])
    slope = -np.diff(4 * loss, axis=0) / 80  # of minus the Brier score, which is linear
    level = np.diff(2 * loss**2, axis=0).mean(axis=1)
    wrong = np.zeros(2)
    for _ in range(4000):
        share = random.beta(alpha[:, 1], alpha[:, 0])
        vote = random.random(80) < share
        true = slope @ share + level
        seen = slope @ ((counts[:, 1] + vote) / 3) + level
        wrong += (true < 0).sum(), (true * seen < 0).sum()
    assert_allclose(slope @ (counts[:, 1] / 2) + level, found.difference, rtol=1e-9)
    vote = alpha[:, 1] / alpha.sum(axis=1)
    after = slope @ ((counts[:, 1] + vote) / 3) + level
    assert_allclose(found.outlook.seen, after, rtol=1e-6)
    spread = (slope**2 * vote * (1 - vote)).sum(axis=1) / 9
    assert_allclose(found.outlook.moved, spread, rtol=1e-6)
    assert [now, then] == pytest.approx(wrong / 4000, abs=0.03)
    assert then < now - 0.05


def test_two_models_are_ranked_as_by_their_variance():
    given, table, *_ = study(items=40, noise=(0.4, 0.6))
    ranking = next_for_ranking(given, table, number=15)
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
    found = next_for_ranking(given, table, "brier_score", number=80)
    z = found.difference / np.sqrt(found.variance)
    closest = int(np.argmin(z))
    assert z.max() > 2 * z.min()
    pairs = [f"{a} / {b}" for a, b in pairwise(found.models)]
    assert {row["tells most about"] for row in found.rows()[:10]} == {pairs[closest]}


def test_models_that_score_alike_are_said_and_left_aside():
    given, table, _, scores = study(noise=(0.1, 0.8))
    twin = Predictions("c", table.items, scores[0])
    found = next_for_ranking([*given, twin], table, number=3)
    assert found.models == ("a", "c", "b")
    assert any("a and c" in str(one) for one in found.notices)
    assert " of 1 pair of neighbours would change places" in found.finding
    alone = next_for_ranking(given, table, number=3)
    assert found.wrong_pairs() == pytest.approx(alone.wrong_pairs())
    assert found.doubt() == pytest.approx(alone.doubt())
    same = next_for_ranking([given[0], twin], table, number=3)
    assert same.items == () and same.rows() == [] and same.doubt() == 0
    assert "No vote on any item" in same.finding


def test_rounding_is_no_difference():
    given, table, _, scores = study(noise=(0.1, 0.8))
    nearly = Predictions("c", table.items, np.nextafter(scores[0], 1))
    alone = next_for_ranking(given, table, "brier_score", number=12)
    found = next_for_ranking([*given, nearly], table, "brier_score", number=12)
    assert found.items == alone.items
    assert_allclose(found.gain, alone.gain, rtol=1e-6)
    assert any("Tied" in str(one) for one in found.notices)


def seen(found, expected, variance, after):
    """One pair: the difference by mean votes and among all voters, and by votes to come."""
    return MisorderingRisk(*(np.array([one]) for one in (found, expected, variance, *after)))


def test_an_order_that_votes_cannot_touch_is_certain():
    sure = seen(0.1, 0.1, 0.0, (0.1, 0.0, 0.0))
    assert sure.wrong_now() == 0 and sure.wrong_then() == 0
    level = seen(0.0, 0.0, 0.0, (0.0, 0.0, 0.0))
    assert level.wrong_now() == 0.5 and level.wrong_then() == 0.5


def test_votes_that_tell_everything_leave_no_doubt():
    known = seen(0.0, 0.0, 0.01, (0.0, 0.01, 0.01 - 1e-15))
    assert known.wrong_now() == 0.5 and known.wrong_then() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("means", [(0.0, 0.0), (0.4, 0.0), (0.0, -0.4), (0.7, 0.3),
                                   (-0.2, 1.1), (-1.0, -0.5), (9.0, -0.2)])  # fmt: skip
@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.95])
def test_signs_differ_as_often_as_drawn(means, correlation):
    shared, own = np.random.default_rng(4).normal(size=(2, 100_000))
    first = means[0] + shared
    second = means[1] + correlation * shared + math.sqrt(1 - correlation**2) * own
    found = opposite_signs(*(np.array([one]) for one in (*means, correlation)))
    assert found[0] == pytest.approx(np.mean((first > 0) != (second > 0)), abs=0.006)


def redrawn(random, models, votes, items=30):
    """Shares by the law of the page, votes from them, and scores that know nothing of them."""
    share = random.random(items)
    yes, more = random.binomial(votes, share), random.binomial(1, share)
    table = Annotations.from_counts(np.stack([votes - yes, yes], axis=1)).against("1")
    scores = random.random((models, items))
    given = [
        Predictions(name, table.items, one) for name, one in zip("abcd", scores, strict=False)
    ]
    labels = {"truth": share, "now": yes / votes, "then": (yes + more) / (votes + 1)}
    return given, table, scores, labels


def test_the_chance_of_a_wrong_order_is_as_often_true_as_it_is_stated():
    """Many pilots with one or two votes per item; mean statement against the share of them."""
    random = np.random.default_rng(12)
    stated, true = [], []
    for study_number in range(240):
        models = 2 if study_number % 2 else 4
        given, table, scores, labels = redrawn(random, models, votes=1 + study_number % 3 // 2)
        if models == 2:
            found = next_items(given, table, "brier_score", 30)
            order, told = (found.a, found.b), found.wrong_order()
        else:
            found = next_for_ranking(given, table, "brier_score", 30)
            order, told = found.models, found.wrong_pairs()
        rows = scores[["abcd".index(name) for name in order]]
        gap = {
            name: np.diff([brier_score(one, row) for row in rows])
            for name, one in labels.items()
        }
        wrong = [(gap["truth"] * gap[name] < 0).sum() for name in ("now", "then")]
        stated.append(np.array(told) / (models - 1))
        true.append(np.array(wrong) / (models - 1))
    error = np.std(true, axis=0) / math.sqrt(240)
    off = np.mean(stated, axis=0) - np.mean(true, axis=0)
    assert (np.abs(off) < 2.5 * error).all() and (error < 0.03).all()
    assert np.mean(true, axis=0)[0] > 0.22


@pytest.mark.parametrize("total", [0.3, 1.0, 4.0])
def test_imagined_votes_are_as_many_as_the_votes_are_apart(total):
    random = np.random.default_rng(7)
    share = random.beta(0.3 * total, 0.7 * total, 800)
    yes = random.binomial(3, share)
    table = Annotations.from_counts(np.stack([3 - yes, yes], axis=1)).against("1")
    given = [Predictions(name, table.items, random.random(800)) for name in "ab"]
    found = next_items(given, table, "brier_score")
    assert found.imagined == pytest.approx(total, rel=0.2)
    assert next_for_ranking(given, table, "brier_score").imagined == found.imagined
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
    assert found.a == "bold" and found.imagined < 0.1
    assert found.wrong_order()[0] < 0.01 and not found.notices


def test_many_classes_do_not_drown_the_votes():
    """One imagined vote for each of 30 classes would outweigh the three that were cast."""
    random = np.random.default_rng(5)
    usual = 1 / np.arange(1, 31)
    stated, true = [], []
    for _ in range(100):
        share = random.dirichlet(2 * usual / usual.sum(), 30)
        counts = np.stack([random.multinomial(3, one) for one in share])
        table = Annotations.from_counts(counts)
        scores = random.gamma(2, 1, (2, 30, 30)) * usual
        scores /= scores.sum(axis=2, keepdims=True)
        given = [
            Predictions(name, table.items, one, table.classes)
            for name, one in zip("ab", scores, strict=True)
        ]
        found = next_items(given, table, "brier_score", 30)
        first, second = scores["ab".index(found.a)], scores["ab".index(found.b)]
        stated.append(found.wrong_order()[0])
        true.append(brier_score(share, first) > brier_score(share, second))
    assert np.mean(stated) == pytest.approx(np.mean(true), abs=0.08)


def test_an_order_that_is_more_likely_wrong_is_said():
    """One vote per item, and a model that is far too sure of it."""
    random = np.random.default_rng(2)
    yes = random.random(40) < 0.5
    table = Annotations.from_counts(np.stack([~yes, yes], axis=1).astype(int)).against("1")
    bold = np.where(yes, 0.99, 0.01)
    bold[:8] = 1 - bold[:8]
    shy = np.where(yes, 0.55, 0.45)
    given = [Predictions("bold", table.items, bold), Predictions("shy", table.items, shy)]
    found = next_items(given, table, "brier_score")
    order = (found.a, found.b)
    assert order == ("bold", "shy")
    assert found.difference > 0 > found.expected
    assert found.wrong_order()[0] > 0.5
    said = [str(one) for one in found.notices if "more likely wrong than right" in str(one)]
    assert len(said) == 1 and f"{order[0]} ahead of {order[1]}" in said[0]
    whole = next_for_ranking(given, table, "brier_score")
    assert whole.models == order and said[0] in map(str, whole.notices)


def test_the_list_is_written_whole_or_not_at_all(tmp_path):
    given, table, *_ = study()
    found = next_for_ranking(given, table, number=4)
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
        next_for_ranking(given, table, number=30, seed=4, progress=lambda *k: seen.append(k))
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
        next_for_ranking(given, table, **wrong)


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
    found = next_for_ranking(given, table, "log_score", number=40)
    assert found.gain[0] > 0 and (found.soft_label >= 1 / 3).all()
    now, then = found.wrong_pairs()
    assert 0 <= then <= now
    settled = np.zeros(40, dtype=bool)
    settled[[table.items.index(found.items[0])]] = True
    sure = replace(table, is_gold=settled[table.item] & _unanimous(table))
    again = next_for_ranking(given, sure, "log_score", number=40)
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
            next_for_ranking(one, table)


def test_real_readings_of_ten_models():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("needs the CheXpert readings: set EQUIPOISE_DATA")
    from equipoise.datasets import chexpert

    data = chexpert()
    found = next_for_ranking(data.predictions, data.annotations, number=20, task="Atelectasis")
    assert len(found.models) == 10 and found.lowered.shape == (9, 20)
    now, then = found.wrong_pairs()
    assert 0 < then < now < 9
    assert found.gain.min() > 0

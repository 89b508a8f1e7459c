"""Shuffled labels: p-values by hand, small groups that are alike, and patients as wholes."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import t as student

from equipoise.analyses.subgroups import Attributes, subgroups
from equipoise.analyses.subgroups.groups import bootstrap_by_chance, p_value, shuffles, sides
from equipoise.metrics import auroc, average_precision
from equipoise.predictions import Predictions
from equipoise.resampling import Resampling, resample
from tests.oracles import bootstrap
from tests.strategies import names


def cell(done, level, quantity):
    return next(one for one in done.cells if (one.level, one.quantity) == (level, quantity))


def test_chances_by_hand_and_without_spread():
    assert p_value(0.0, np.zeros(9), 7) == p_value(1e-17, np.full(9, 1e-17), 7) == 1
    assert np.isnan(p_value(1.0, np.zeros(9), 7))
    assert np.isnan(p_value(np.nan, np.arange(9.0), 7))
    assert np.isnan(p_value(1.0, np.array([1.0, np.nan]), 7))
    assert np.isnan(p_value(1.0, np.arange(9.0), 0))
    assert_allclose(p_value(2.0, np.array([1.0, -1.0]), 10), 2 * student.sf(2, 10))
    assert p_value(5.0, np.array([5.0] * 3 + [0.0] * 7), 10) == 0.3


def test_small_groups_that_are_alike_are_rarely_called_different():
    """Eight groups of twelve: the normal law with a group's own spread is wrong in 20 %."""
    place = Attributes(items=names(96), columns=("site",), levels=(tuple("abcdefgh"),),
                       codes=np.repeat(np.arange(8), 12)[None])  # fmt: skip
    found = {}
    for seed in range(60):
        random = np.random.default_rng(seed)
        case = random.normal(size=96)
        votes = (random.random((96, 4)) < 1 / (1 + np.exp(-1.5 * case[:, None]))) * 1.0
        score = 1 / (1 + np.exp(-case - random.normal(0, 0.8, 96)))
        done = subgroups([Predictions("model", names(96), score)], bootstrap.annotations(votes),
                         place, metric="accuracy", replicates=100, seed=seed)  # fmt: skip
        for quantity in ("accuracy", "certainty", "entropy", "agreement"):
            least = min(one.p_holm for one in done.cells if one.quantity == quantity)
            found.setdefault(quantity, []).append(least < 0.05)
    assert max(np.mean(one) for one in found.values()) <= 0.1
    assert np.mean(list(found.values())) <= 0.06


def test_patients_are_shuffled_as_wholes():
    patient = np.repeat(np.arange(20), 3)
    plan = Resampling(kind="items", items=names(60), replicates=30, group=patient)
    group = patient < 6
    both = sides(group, patient >= 12, plan)
    assert both.numbers in ((6, 8), (8, 6)) and not both.mixed
    for drawn, number in zip(shuffles(both, plan), both.numbers, strict=True):
        members = drawn.members.reshape(20, 3, 30)
        assert (members == members[:, :1]).all()
        assert (members[:, 0].sum(axis=0) == number).all()
        assert not members[6:12].any()
    one, two = shuffles(both, plan)
    assert_array_equal((one.members + two.members).any(axis=1), group | (patient >= 12))
    assert len(np.unique(one.members, axis=1).T) > 20
    many = Resampling(kind="items", items=names(60), replicates=2000, group=patient)
    assert shuffles(both, many)[0].members.shape == (60, 500)
    halves = sides(np.arange(60) % 3 == 0, np.arange(60) % 3 == 1, plan)
    assert halves.mixed and halves.numbers == (20, 20)
    by_chance, degrees = bootstrap_by_chance(np.array([1.0, 2.0, 0.0]), halves)
    assert_allclose(by_chance, np.array([1, -1]) * np.sqrt(20 / 19))
    assert degrees == 19


def test_copies_of_an_item_under_one_patient_add_no_evidence():
    random = np.random.default_rng(3)
    votes, score = (random.random((40, 5)) < 0.6) * 1.0, random.random(40)
    side = (random.random(40) < 0.5).astype(int)
    found = []
    for times in (1, 4):
        truth = bootstrap.annotations(np.repeat(votes, times, axis=0))
        truth = replace(truth, groups=tuple(f"p{k}" for k in range(40)),
                        group=np.repeat(np.arange(40), times))  # fmt: skip
        known = Attributes(items=names(40 * times), columns=("side",), levels=(("a", "b"),),
                           codes=np.repeat(side, times)[None])  # fmt: skip
        given = [Predictions("model", names(40 * times), np.repeat(score, times))]
        done = subgroups(given, truth, known, metric="accuracy", replicates=200)
        found.append([cell(done, "a", name).p for name in ("certainty", "entropy")])
    assert_allclose(found[0], found[1], atol=1e-9)
    mixed = Attributes(items=names(160), columns=("side",), levels=(("a", "b"),),
                       codes=(np.arange(160) % 2)[None])  # fmt: skip
    apart = subgroups(given, truth, mixed, metric="accuracy", replicates=50)
    assert cell(apart, "a", "entropy").p == 1
    assert 0 < cell(done, "a", "agreement").p <= 1


@pytest.mark.parametrize("metric", ["auroc", "average_precision"])
def test_shuffles_scored_at_once_equal_one_by_one(metric):
    random = np.random.default_rng(8)
    votes, score = (random.random((60, 3)) < 0.5) * 1.0, random.random(60).round(1)
    side = (random.random(60) < 0.4).astype(int)
    known = Attributes(items=names(60), columns=("side",), levels=(("a", "b"),),
                       codes=side[None])  # fmt: skip
    truth, given = bootstrap.annotations(votes), Predictions("model", names(60), score)
    done = subgroups([given], truth, known, metric=metric, replicates=40, seed=2)
    plan = resample(truth, "items", replicates=40, seed=2)
    both, share = sides(side == 0, side == 1, plan), votes.mean(axis=1)
    plain = {"auroc": auroc, "average_precision": average_precision}[metric]
    p = np.stack([1 - share, share])
    entropy = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=0)
    slow = {metric: lambda here: plain(share[here], score[here]),
            "entropy": lambda here: entropy[here].mean()}  # fmt: skip
    one, two = (plan.members.astype(bool).T for plan in shuffles(both, plan))
    for name, value in slow.items():
        gap = value(side == 0) - value(side == 1)
        by_chance = np.array([value(a) - value(b) for a, b in zip(one, two, strict=True)])
        assert_allclose(cell(done, "a", name).p, p_value(gap, by_chance, 58), atol=1e-9)

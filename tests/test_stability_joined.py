"""Influences of single items against closed forms; items and annotators joined once."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kurtosis

from equipoise.analyses.components.influences import Influences, steadiness
from equipoise.analyses.options import ResamplingOptions
from equipoise.analyses.resampling import WIDE
from equipoise.analyses.verdict import two_way_bootstrap
from equipoise.arrays import InputError
from equipoise.evaluation import Settings, evaluate
from equipoise.predictions import Predictions
from equipoise.resampling import resample
from tests.oracles.bootstrap import annotations
from tests.strategies import names
from tests.test_stability_components import study

TOLD = ResamplingOptions(replicates=300, seed=3, settings=Settings(workers=1))


def evaluated(given, truth, kind="items", metric="brier_score"):
    plan = replace(resample(truth, kind, seed=3), weights=None, replicates=300)
    return evaluate(given, truth, metrics=[metric], resampling=plan)


def test_degrees_of_freedom_follow_the_kurtosis_of_influences():
    votes, given = study(0)
    truth, mean = annotations(votes), votes.mean(axis=1)
    found = Influences(evaluated(given, truth), 1)
    a, b = (one.values for one in given)
    gap = 2 * (mean * (1 - a) ** 2 + (1 - mean) * a**2) - 2 * (
        mean * (1 - b) ** 2 + (1 - mean) * b**2
    )
    expected = 2 * 60 / (kurtosis(gap, fisher=False) - 1)
    assert_allclose(found.items([0], (0, 1)), min(expected, 59), rtol=1e-9)
    by_votes = (4 * (a - b)) ** 2 * mean * (1 - mean) / 2
    assert_allclose(found.votes([0], (0, 1)), steadiness(by_votes, 60), rtol=1e-3)
    assert found.votes([0], (0, 1)) < 59


def test_groups_are_units_and_hard_labels_have_effects_too():
    votes, given = study(1)
    truth = annotations(votes)
    grouped = replace(truth, groups=names(20, "p"), group=np.arange(60) // 3)
    found = Influences(evaluated(given, grouped), 1)
    assert 1 <= found.items([0], (0,)) <= 19
    hard = Influences(evaluated(given, truth, metric="auroc"), 0)
    assert 1 <= hard.votes([0], (0, 1)) <= 59
    unanimous = annotations(np.repeat(votes[:, :1], 3, axis=1))
    assert Influences(evaluated(given, unanimous), 1).votes([0], (0, 1)) == 59


@pytest.mark.parametrize("label", [0, 1])
def test_two_scored_classes_weigh_as_one(label):
    votes, given = study(3)
    binary = annotations(votes)
    nominal = replace(binary, kind="nominal")
    both = [
        replace(
            one, values=np.stack([1 - one.values, one.values], axis=1), classes=("no", "yes")
        )
        for one in given
    ]
    one, two = (
        Influences(evaluated(models, truth), label)
        for models, truth in ((given, binary), (both, nominal))
    )
    assert_allclose(two.items([0], (0, 1)), one.items([0], (0, 1)))
    assert_allclose(two.votes([0], (0, 1)), one.votes([0], (0, 1)), rtol=1e-3)


def test_many_items_are_looked_at_by_an_even_sample():
    votes, given = study(2, items=1200)
    found = Influences(evaluated(given, annotations(votes)), 1)
    gap = given[0].values - given[1].values
    mean = votes.mean(axis=1)
    each = gap**2 * mean * (1 - mean)
    assert found.votes([0], (0, 1)) == pytest.approx(steadiness(each, 1200), rel=0.3)


def parts_of(given, truth):
    """Variance of the difference of the two models, by what is drawn anew."""
    return {
        kind: np.var(np.subtract(*evaluated(given, truth, kind).replicates[0, 0, 1]), ddof=1)
        for kind in ("items", "panel", "votes")
    }


def test_joined_replicates_have_the_variance_of_the_parts():
    votes, given = study(5, people=5, lean=1.0)
    truth = annotations(votes)
    done, wide, notices = two_way_bootstrap(given, truth, ["brier_score"], TOLD)
    assert done.plan.kind == "items x panel" and not wide and WIDE not in notices
    part = parts_of(given, truth)
    noise = part["votes"]
    expected = max(part["items"], noise) + max(part["panel"], noise) - noise
    drawn = np.subtract(*done.replicates[0, 0, 1])
    assert_allclose(np.var(drawn, ddof=1), expected, rtol=1e-9)
    joint = evaluated(given, truth, "items x panel")
    assert np.var(drawn) < np.var(np.subtract(*joint.replicates[0, 0, 1]))
    assert_allclose(done.replicates.mean(axis=-1), joint.replicates.mean(axis=-1))


def test_twins_stay_twins_and_everything_is_the_same_again():
    votes, given = study(6, people=4, lean=0.5)
    three = [*given, replace(given[0], model="twin")]
    one, two = (
        two_way_bootstrap(three, annotations(votes), ["auroc"], TOLD).evaluation
        for _ in range(2)
    )
    assert_array_equal(one.replicates[..., 0, :], one.replicates[..., 2, :])
    assert_array_equal(one.replicates, two.replicates)
    best = {row.model: row.p_best for row in one.table() if row.labels == "soft"}
    assert best["m0"] == best["twin"]


def test_anonymous_votes_come_with_their_items():
    votes, given = study(7)
    truth = annotations(votes).anonymous()
    done = two_way_bootstrap(given, truth, ["brier_score"], TOLD).evaluation
    assert done.plan.kind == "items"
    assert_array_equal(done.replicates, evaluated(given, truth).replicates)


def test_single_votes_leave_the_joint_redraw_as_it_is_and_say_so():
    votes, given = study(8)
    votes[np.arange(60)[:, None] % 3 != np.arange(3)] = np.nan
    truth = annotations(votes)
    done, wide, notices = two_way_bootstrap(given, truth, ["brier_score"], TOLD)
    assert wide and WIDE in notices
    assert_array_equal(done.replicates, evaluated(given, truth, "items x panel").replicates)


def test_infinite_models_stay_infinite_and_leave_the_others_alone():
    votes, given = study(9, people=4)
    never = Predictions("never", names(60), np.zeros(60))
    with_it, without = (
        two_way_bootstrap(models, annotations(votes), ["log_score"], TOLD).evaluation
        for models in ([*given, never], given)
    )
    assert_allclose(with_it.replicates[:, :, 1, :2], without.replicates[:, :, 1])
    assert np.isinf(with_it.replicates[:, :, 1, 2]).all()


def test_a_single_group_can_not_be_drawn():
    votes, given = study(1)
    alone = replace(annotations(votes), groups=("p",), group=np.zeros(60, dtype=int))
    with pytest.raises(InputError, match="items that cannot be resampled"):
        two_way_bootstrap(given, alone, ["auroc"], TOLD)

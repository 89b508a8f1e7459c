"""The six tasks: truths, golden checks, and agreement of plain values with the engine."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from scipy.stats import spearmanr

from equipoise.metrics import auroc, expected_calibration_error, maximum_calibration_error
from equipoise.uq import disentanglement
from equipoise.uq.disentanglement import constant_noise, rank_correlation
from equipoise.uq.predictions import (
    MethodRuns,
    Outputs,
    Prediction,
    Run,
    part_labels,
)
from equipoise.uq.tasks import ask, confident, label_values, six_tasks
from equipoise.uq.training.corruptions import macro
from equipoise.uq.training.data import Part

NAN = np.nan


def study(probs, labels, *, ood=None, image="mean", own=None):
    """One run on test images, and on others where there are some."""
    test = part_labels(labels)
    parts, known = {"test": Outputs.of(Prediction(probs, own))}, {"test": test}
    if ood is not None:
        parts["ood"] = Outputs.of(Prediction(ood))
        known["ood"] = Part(test.items)
    names = tuple("abcdefgh"[: np.shape(labels)[1]])
    return MethodRuns(names, known, (Run("m", "", "", parts),), image)


def world(items=200, classes=3, members=4, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(items, classes)) * 2 - 1
    labels = (rng.random((items, classes)) < expit(logits)).astype(float)
    return expit(logits + 0.5 * rng.normal(size=(members, items, classes))), labels


def test_images_are_told_from_others_by_one_score_each():
    probs, labels = world()
    other = expit(logit(probs) / 2)
    for how, pool in (("mean", np.mean), ("max", np.max), ("sum", np.sum)):
        made = study(probs, labels, ood=other, image=how)
        question = ask("images", made)
        said = made.runs[0].parts
        found = label_values(question, said, "PU", "auroc")[0]
        both = np.concatenate([pool(said[p].scores["PU"], axis=1) for p in ("test", "ood")])
        assert found == pytest.approx(auroc(np.repeat([0, 1], 200), both))
        assert question.groups[:200] == question.groups[200:]  # the same image twice


def test_uncertain_labels_are_asked_of_rows_with_one():
    probs, labels = world(items=6, classes=2)
    labels[:] = [[0, -1], [1, 0], [-1, NAN], [1, 1], [0, -1], [-1, 0]]
    question = ask("uncertain", study(probs, labels))
    first, second = question.labels
    assert first.rows.tolist() == [0, 2, 4, 5] and first.truth.tolist() == [0, 1, 0, 1]
    assert second.rows.tolist() == [0, 4, 5] and second.truth.tolist() == [1, 1, 0]


def test_correctness_is_asked_of_labels_that_are_known():
    probs, labels = world(items=5, classes=2)
    labels[:] = [[0, NAN], [1, NAN], [-1, NAN], [NAN, NAN], [0, NAN]]
    question = ask("correctness", study(probs, labels))
    assert [one.label for one in question.labels] == ["a"] and question.blank == ("b",)
    assert question.labels[0].rows.tolist() == [0, 1, 4]
    nothing = ask("uncertain", study(probs, np.zeros((5, 2))))
    assert not nothing.labels and "no uncertain label" in nothing.reason
    assert ask("images", study(probs, labels)).reason


def test_a_score_becomes_a_confidence_in_the_decision():
    rng = np.random.default_rng(0)
    p, u = rng.random(100), np.round(rng.normal(size=100), 1)
    p[0] = 0.5
    made = confident(p, u)
    assert ((made > 0.5) == (p > 0.5)).all() and ((made > 0) & (made < 1)).all()
    sure = np.round(np.maximum(made, 1 - made), 12)
    order = np.sign(sure[:, None] - sure)
    assert (order == -np.sign(u[:, None] - u)).all()


def test_errors_are_found_as_by_their_definition():
    """Task 3: AUROC of the score against being wrong at .5, label by label."""
    probs, labels = world(seed=3)
    made = study(probs, labels)
    said = made.runs[0].parts
    for score in ("PU", "AU", "EU"):
        found = label_values(ask("correctness", made), said, score, "error_detection_auroc")
        wrong = (said["test"].mean > 0.5) != (labels == 1)
        expected = [auroc(wrong[:, k], said["test"].scores[score][:, k]) for k in range(3)]
        assert_allclose(found, expected, atol=1e-12)


def test_without_positive_decisions_errors_are_the_class():
    """G19."""
    probs, labels = world(seed=4)
    low = probs * 0.49
    made = study(low, labels)
    said = made.runs[0].parts
    found = label_values(ask("correctness", made), said, "PU", "error_detection_auroc")
    assert_allclose(found, [auroc(labels[:, k], low.mean(axis=0)[:, k]) for k in range(3)])


def test_temperature_changes_no_order_of_entropies():
    """G18."""
    probs, labels = world(members=1)
    hot = expit(logit(probs) / 2.5)
    values = [
        label_values(ask("correctness", one), one.runs[0].parts, "PU", "error_detection_auroc")
        for one in (study(probs, labels), study(hot, labels))
    ]
    assert_allclose(*values, atol=1e-12)


def test_calibration_is_that_of_the_probability_of_yes():
    """G7, and bins open on the left as (lo, hi]."""
    truth, said = np.array([0.0, 1, 1, 1]), np.array([0.05, 0.05, 0.95, 0.95])
    assert expected_calibration_error(truth, said, bins=10) == pytest.approx(0.25)
    assert maximum_calibration_error(truth, said, bins=10) == pytest.approx(0.45)
    assert expected_calibration_error(truth, np.full(4, 0.75)) == pytest.approx(0)
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(float)
    bins = np.ceil(p * 15).astype(int)
    gaps = [abs(y[bins == b].sum() - p[bins == b].sum()) for b in range(1, 16)]
    assert expected_calibration_error(y, p) == pytest.approx(sum(gaps) / 500)
    made = study(p[:, None], y[:, None])
    question = ask("calibration", made)
    error, brier, _ = (
        label_values(question, made.runs[0].parts, "", metric)
        for metric in six_tasks()[4].metrics
    )
    assert error[0] == pytest.approx(sum(gaps) / 500)
    assert brier[0] == pytest.approx(2 * np.mean((p - y) ** 2))  # over both classes


def test_calibrated_losses_are_entropies():
    """G22: E[BCE | p] = h(p)."""
    rng = np.random.default_rng(0)
    p = np.full(200_000, 0.2)
    y = (rng.random(200_000) < 0.2).astype(float)
    made = study(p[:, None], y[:, None])
    found = label_values(ask("calibration", made), made.runs[0].parts, "", "log_score")[0]
    assert found == pytest.approx(made.runs[0].parts["test"].scores["PU"][0, 0], abs=0.005)


def test_undefined_labels_are_left_out_of_the_mean():
    assert macro(np.array([0.5, NAN, 0.7])) == 0.6 and np.isnan(macro(np.array([NAN])))


@pytest.mark.parametrize("digits", [1, 8])
def test_rank_correlation_takes_mid_ranks(digits):
    """G14."""
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=150), digits)
    y = np.round(x + rng.normal(size=150), digits)
    found = rank_correlation(x, y)
    assert found.value == pytest.approx(spearmanr(x, y)[0])
    assert found.influence.sum() == pytest.approx(0, abs=1e-12)
    without = [spearmanr(np.delete(x, k), np.delete(y, k))[0] for k in range(150)]
    left = 149 / 150 * (np.mean(without) - without)
    assert_allclose(found.influence, left, atol=2e-4)
    assert np.isnan(rank_correlation(x, np.zeros(150)).value)


def test_constant_noise_correlates_by_itself():
    """The null has the method's mean EU, and a correlation far from 0."""
    rng = np.random.default_rng(0)
    mean = expit(rng.normal(size=(1500, 4)) * 2 - 1)
    goal = np.full((1500, 4), 0.02)
    made = constant_noise(mean, goal, members=5, seed=1)
    assert made.EU.mean() == pytest.approx(0.02, rel=0.1)
    assert rank_correlation(made.AU[:, 0], made.EU[:, 0]).value > 0.4
    again = constant_noise(mean, goal, members=5, seed=1)
    assert (again.EU == made.EU).all()


def test_every_chunk_of_the_null_draws_numbers_of_its_own(monkeypatch):
    monkeypatch.setattr(disentanglement, "_CHUNK", 40)
    mean, goal = np.full((120, 2), 0.3), np.full((120, 2), 0.05)
    first, second, third = np.split(constant_noise(mean, goal, members=4, seed=2).EU, 3)
    assert not np.isclose(first, second).any() and not np.isclose(second, third).any()


def test_the_null_of_few_members_is_that_of_few_members():
    """Two members tell the noise apart badly: their null correlates less than that of many."""
    mean = expit(np.random.default_rng(1).normal(size=(1500, 1)) * 2)
    goal = np.full(mean.shape, 0.03)
    few, many = (
        rank_correlation(made.AU[:, 0], made.EU[:, 0]).value
        for made in (constant_noise(mean, goal, members=m, seed=3) for m in (2, 30))
    )
    assert few < many - 0.2

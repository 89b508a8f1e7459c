"""Ordinal Dawid-Skene: its bound, optima by search, graders with known lean, and symmetries."""

import csv
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from scipy.stats import norm

from equipoise import Annotations, InputError, read_annotations
from equipoise.truth import Fit, annotator_bootstrap, dawid_skene
from equipoise.truth.confusion import (
    Probit,
    _scores,
    _value,
    dawid_skene_ordinal,
    improved,
    log_confusion,
)

BIAS, SCALE = np.array([0.0, 0.8, -0.5, 0.0, 0.1]), np.array([0.4, 0.5, 0.4, 1.5, 0.7])


def simulated(items=600, grades=5, seed=0):
    """Every annotator grades every item, from the model itself."""
    random = np.random.default_rng(seed)
    share = np.array([0.1, 0.4, 0.25, 0.15, 0.1])[:grades]
    truth = random.choice(grades, items, p=share / share.sum())
    read = truth[:, None] + BIAS + SCALE * random.standard_normal((items, 5))
    label = np.clip(np.rint(read), 0, grades - 1).astype(int)
    votes = Annotations(
        kind="ordinal", items=tuple(map(str, range(items))), annotators=tuple("vwxyz"),
        classes=tuple(map(str, range(grades))), item=np.repeat(np.arange(items), 5),
        annotator=np.tile(np.arange(5), items), label=label.ravel(),
    )  # fmt: skip
    return votes, truth


def real(name, **how):
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds votes/")
    path = Path(os.environ["EQUIPOISE_DATA"]) / "votes" / name
    return path, read_annotations(path, kind="ordinal", **how)


def test_confusion_is_the_definition_and_stays_finite_far_out():
    probit = Probit(np.array([0.3, 0.0, -4.0]), np.log([0.7, 0.02, 0.05]))
    log = log_confusion(probit, 6)
    cut, grade = np.arange(5) + 0.5, np.arange(6)
    below = norm.cdf((cut - grade[:, None] - 0.3) / 0.7)
    assert_allclose(np.exp(log[0]), np.diff(below, axis=1, prepend=0, append=1), atol=1e-12)
    assert_allclose(np.exp(log).sum(axis=2), 1)
    assert np.isfinite(log).all()
    assert all(np.isfinite(part).all() for part in _scores(probit, 6))
    later = np.cumsum(np.exp(log), axis=2)
    assert (np.diff(later, axis=1) <= 1e-12).all()  # a higher grade, no lower answer


def test_slopes_against_differences():
    counts = np.random.default_rng(0).random((1, 4, 4))
    for point in (np.array([0.2, -0.4]), np.array([-1.5, 0.6])):
        _, bias, scale = _scores(Probit(point[:1], point[1:]), 4)
        numeric = approx_fprime(
            point, lambda x: (counts * log_confusion(Probit(x[:1], x[1:]), 4)).sum(), 1e-7
        )
        assert_allclose([(counts * bias).sum(), (counts * scale).sum()], numeric, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_steps_never_fall_and_reach_what_a_search_finds(seed):
    random = np.random.default_rng(seed)
    counts = random.gamma(0.3, 5, (3, 4, 4))
    probit, values = Probit(random.normal(0, 2, 3), random.normal(0, 1, 3)), []
    for _ in range(60):
        values.append(_value(probit, counts))
        probit = improved(probit, counts)
    assert (np.diff(values, axis=0) >= 0).all()
    for a in range(3):
        own = counts[a : a + 1]
        best = minimize(
            lambda x, own=own: -_value(Probit(x[:1], x[1:]), own)[0], [0.0, 0.0],
            method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 2000},
        )  # fmt: skip
        assert_allclose([probit.bias[a], probit.log_scale[a]], best.x, atol=1e-4)


def test_steps_stay_finite_when_answers_know_only_the_ends():
    counts = np.zeros((1, 5, 5))
    counts[0, :, [0, 4]] = 1e12
    probit = Probit.start(1)
    for _ in range(40):
        probit = improved(probit, counts)
    assert np.isfinite([probit.bias, probit.log_scale]).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("grades", [2, 3, 5])
def test_the_bound_never_falls(seed, grades):
    random = np.random.default_rng(seed)
    votes = Annotations(
        kind="ordinal", items=tuple(map(str, range(40))), annotators=tuple("vwxyz"),
        classes=tuple(map(str, range(grades))), item=np.arange(160) % 40,
        annotator=random.integers(0, 5, 160), label=random.integers(0, grades, 160),
        weight=random.random(160) + 0.5,
    )  # fmt: skip
    made = dawid_skene_ordinal(votes)
    assert made.diagnostics["converged"]
    assert (np.diff(made.diagnostics["trace"]) >= -1e-9).all()


def test_no_search_finds_a_better_fit():
    votes, _ = simulated(40, grades=3, seed=5)
    made = dawid_skene_ordinal(votes, fit=Fit(1e-14, 20_000))
    label = votes.label.reshape(40, 5)

    def loss(x):
        probit = Probit(x[:5], x[5:10])
        log = log_confusion(probit, 3)
        prior = np.exp(x[10:]) / np.exp(x[10:]).sum()
        joint = sum(log[a][:, label[:, a]] for a in range(5)).T + np.log(prior)
        return -np.logaddexp.reduce(joint, axis=1).sum() - probit.log_prior().sum()

    said = made.diagnostics
    here = np.concatenate([said["bias"], np.log(said["scale"]), np.log(said["class_prior"])])
    assert -loss(here) == pytest.approx(said["trace"][-1], abs=1e-6)
    far = np.concatenate([np.zeros(5), np.full(5, -0.5), np.zeros(3)])
    for start in (here, far):
        best = minimize(loss, start, method="L-BFGS-B", options={"ftol": 1e-14})
        assert -best.fun == pytest.approx(said["trace"][-1], abs=1e-4)


def test_lean_and_blur_are_recovered_and_grades_read_well():
    votes, truth = simulated(3000)
    made = dawid_skene_ordinal(votes)
    assert_allclose(made.diagnostics["bias"], BIAS, atol=0.06)
    assert_allclose(made.diagnostics["scale"], SCALE, rtol=0.1)
    assert_allclose(made.diagnostics["class_prior"], [0.1, 0.4, 0.25, 0.15, 0.1], atol=0.03)
    assert made.skills.value.argmin() == 3
    assert (made.mean.argmax(axis=1) == truth).mean() > 0.9


def test_with_few_items_two_numbers_do_better_than_a_matrix():
    def loss(model, seed):
        votes, truth = simulated(30, seed=seed)
        chance = model(votes).mean[np.arange(30), truth]
        return -np.log(np.maximum(chance, 1e-9)).mean()

    plain, ordinal = (
        np.mean([loss(model, seed) for seed in range(10)])
        for model in (dawid_skene, dawid_skene_ordinal)
    )
    assert ordinal < 0.8 * plain


def test_turning_the_scale_round_turns_everything_round():
    votes, _ = simulated(80)
    turned = replace(votes, label=4 - votes.label)
    one, other = dawid_skene_ordinal(votes), dawid_skene_ordinal(turned)
    assert_allclose(other.mean[:, ::-1], one.mean, atol=1e-7)
    assert_allclose(other.diagnostics["bias"], -one.diagnostics["bias"], atol=1e-7)
    assert_allclose(other.diagnostics["scale"], one.diagnostics["scale"], atol=1e-7)


def test_order_of_rows_and_repetitions():
    votes, _ = simulated(50)
    rows = np.random.default_rng(0).permutation(len(votes))
    mixed = replace(
        votes, item=votes.item[rows], annotator=votes.annotator[rows], label=votes.label[rows]
    )
    assert_allclose(dawid_skene_ordinal(mixed).mean, dawid_skene_ordinal(votes).mean, atol=1e-9)
    twice = replace(
        votes, item=np.tile(votes.item, 2), annotator=np.tile(votes.annotator, 2),
        label=np.tile(votes.label, 2),
    )  # fmt: skip
    heavy = replace(votes, weight=np.full(len(votes), 2.0))
    assert_allclose(dawid_skene_ordinal(twice).mean, dawid_skene_ordinal(heavy).mean, atol=1e-9)


def test_gold_settles_its_item_and_the_bound_still_rises():
    votes, _ = simulated(30)
    known = replace(
        votes, item=np.append(votes.item, 3), annotator=np.append(votes.annotator, 0),
        label=np.append(votes.label, 4), is_gold=np.append(np.zeros(150, bool), True),
    )  # fmt: skip
    made = dawid_skene_ordinal(known)
    assert_allclose(made.mean[3], [0, 0, 0, 0, 1])
    assert (np.diff(made.diagnostics["trace"]) >= -1e-9).all()
    assert (made.diagnostics["bias"] != dawid_skene_ordinal(votes).diagnostics["bias"]).any()


def test_real_grades():
    _, votes = real("anesthesia.csv", classes=["1", "2", "3", "4"])
    made = dawid_skene_ordinal(votes)
    assert (np.diff(made.diagnostics["trace"]) >= -1e-9).all()
    assert made.diagnostics["bias"].argmax() == votes.annotators.index("2")
    same = made.mean.argmax(axis=1) == dawid_skene(votes).mean.argmax(axis=1)
    assert same.mean() > 0.9
    assert annotator_bootstrap(dawid_skene_ordinal, votes, draws=4, seed=0).draws == 4


def test_many_real_graders():
    path, votes = real("adult2.csv", classes=["G", "P", "R", "X"])
    with path.open() as file:
        known = {row["item"]: row["truth"] for row in csv.DictReader(file) if row["truth"]}
    made, plain = dawid_skene_ordinal(votes), dawid_skene(votes)
    assert (np.diff(made.diagnostics["trace"]) >= -1e-8).all()
    row = [made.items.index(item) for item in known]
    truth = np.array([votes.classes.index(grade) for grade in known.values()])
    off, plain_off = (
        np.abs(one.mean[row].argmax(axis=1) - truth).mean() for one in (made, plain)
    )
    assert off == pytest.approx(plain_off, abs=0.03)  # 333 items cannot tell the two apart


def test_what_it_cannot_take_is_refused_with_a_reason():
    votes, _ = simulated(10)
    with pytest.raises(
        InputError, match=r"kind nominal .*, expected at least two grades of kind"
    ):
        dawid_skene_ordinal(replace(votes, kind="nominal"))
    with pytest.raises(InputError, match="expected annotators with ids"):
        dawid_skene_ordinal(votes.anonymous())
    with pytest.raises(InputError, match="at least one step; leave them"):
        dawid_skene_ordinal(votes, fit=Fit(1e-9, 0))
    early = dawid_skene_ordinal(votes, fit=Fit(0, 2))
    assert "did not converge" in str(early.notices[0])

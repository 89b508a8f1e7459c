"""On hard labels every soft form is the ordinary metric, as scikit-learn computes it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.metrics import precision_recall_curve as sklearn_precision_recall
from sklearn.metrics import roc_curve as sklearn_roc

from equipoise.metrics import (
    Copies,
    auroc,
    auroc_one_vs_one,
    auroc_per_class,
    average_precision,
    named,
    precision_recall_curve,
    roc_curve,
)
from tests.strategies import HARD, scored, weighted

CLOSE = {"rtol": 0, "atol": 1e-12}
AUROC = ["pairs", "trapezoid", "strict", "inclusive", "expected"]
POSITIVE = st.integers(1, 12).map(lambda k: k / 8)


def both_classes(p):
    assume(0 < p.sum() < len(p))


@pytest.mark.parametrize("form", AUROC)
@given(data=scored(HARD, least=2))
def test_every_form_of_auroc_is_scikit_learns(form, data):
    both_classes(data[0])
    assert_allclose(auroc(*data, form=form), roc_auc_score(*data), **CLOSE)


@pytest.mark.parametrize("form", AUROC[:-1])
@given(data=weighted(HARD, POSITIVE, least=2))
def test_weights_are_scikit_learns(form, data):
    p, s, w = data
    both_classes(p)
    expected = roc_auc_score(p, s, sample_weight=w)
    assert_allclose(auroc(p, s, form=form, weights=w), expected, **CLOSE)


@pytest.mark.parametrize("form", ["conditional", "printed"])
@given(data=weighted(HARD, POSITIVE))
def test_average_precision_is_scikit_learns(form, data):
    p, s, w = data
    assume(p.any())
    assert_allclose(average_precision(p, s, form=form), average_precision_score(p, s), **CLOSE)
    expected = average_precision_score(p, s, sample_weight=w)
    assert_allclose(average_precision(p, s, form=form, weights=w), expected, **CLOSE)


@pytest.mark.parametrize("function", [auroc, average_precision])
@given(data=weighted(HARD, st.integers(1, 4)))
def test_copies_are_weights_on_hard_labels(function, data):
    p, s, w = data
    assert_allclose(function(p, s, weights=Copies(w)), function(p, s, weights=w), **CLOSE)


@given(data=weighted(HARD, POSITIVE, least=2))
def test_curves_are_scikit_learns(data):
    p, s, w = data
    both_classes(p)
    theirs = sklearn_roc(p, s, sample_weight=w, drop_intermediate=False)
    for a, b in zip(roc_curve(p, s, weights=w), theirs, strict=True):
        assert_allclose(a, b, **CLOSE)
    ours = precision_recall_curve(p, s, weights=w)
    for a, b in zip(ours, sklearn_precision_recall(p, s, sample_weight=w), strict=True):
        assert_allclose(a, b, **CLOSE)


@settings(max_examples=25)
@given(seed=st.integers(0, 999), classes=st.integers(3, 5))
def test_several_classes_are_scikit_learns(seed, classes):
    random = np.random.default_rng(seed)
    label = np.append(np.arange(classes), random.integers(0, classes, 9))
    scores = random.integers(1, 5, (len(label), classes)).astype(float)
    scores /= scores.sum(axis=1, keepdims=True)
    truth = np.eye(classes)[label]
    one = roc_auc_score(label, scores, multi_class="ovo")
    assert_allclose(auroc_one_vs_one(label, scores), one, **CLOSE)
    assert_allclose(named("auroc:multiclass=ovo")(truth, scores), one, **CLOSE)
    rest = roc_auc_score(truth, scores, average=None)
    assert_allclose(auroc_per_class(label, scores), rest, **CLOSE)
    assert_allclose(auroc(label, scores), rest.mean(), **CLOSE)
    weighted_mean = roc_auc_score(label, scores, multi_class="ovr", average="weighted")
    assert_allclose(named("auroc:average=weighted")(truth, scores), weighted_mean, **CLOSE)
    for average in ("macro", "weighted"):
        expected = average_precision_score(truth, scores, average=average)
        ours = named(f"average_precision:average={average}")(truth, scores)
        assert_allclose(ours, expected, **CLOSE)


def test_a_large_sample_with_ties_and_weights():
    random = np.random.default_rng(1)
    p, s, w = random.integers(0, 2, 3000), random.random(3000).round(2), random.random(3000)
    how = {"sample_weight": w}
    assert_allclose(auroc(p, s, weights=w), roc_auc_score(p, s, **how), **CLOSE)
    expected = average_precision_score(p, s, **how)
    assert_allclose(average_precision(p, s, weights=w), expected, **CLOSE)

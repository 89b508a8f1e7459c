"""Soft labels: plain calls, the engine and the definitions say the same, weights included."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from equipoise.metrics import (
    Copies,
    auroc,
    average_precision,
    named,
    precision_at_k,
    precision_recall_curve,
    recall_at_k,
    roc_curve,
)
from tests.oracles import ranking
from tests.strategies import classified, law_of_all, scored, weighted

CLOSE = {"rtol": 0, "atol": 1e-12}
AUROC = ["pairs", "trapezoid", "strict", "inclusive"]
COUNT = st.integers(0, 3)
every_form = law_of_all(AUROC, str)
both_forms = law_of_all(["conditional", "printed"], str)
PLAIN = {
    "auroc": auroc,
    **{f"auroc:form={f}": lambda p, s, f=f, **w: auroc(p, s, form=f, **w) for f in AUROC},
    "average_precision": average_precision,
    "average_precision:form=printed": lambda p, s, **w: average_precision(
        p, s, form="printed", **w
    ),
    "average_precision:ties=random": lambda p, s, **w: average_precision(
        p, s, ties="random", **w
    ),
    "auroc:form=expected": lambda p, s, **w: auroc(p, s, form="expected", **w),
    "average_precision:form=expected": lambda p, s, **w: average_precision(
        p, s, form="expected", **w
    ),
}
of_all_plain_calls = law_of_all(PLAIN, str)


@given(data=weighted())
@every_form
def test_auroc_is_its_definition(form, data):
    p, s, w = data
    assert_allclose(auroc(p, s, form=form), ranking.auroc(p, s, form), **CLOSE)
    ours = auroc(p, s, form=form, weights=w)
    assert_allclose(ours, ranking.auroc(p, s, form, w), **CLOSE)


@given(data=weighted())
@both_forms
def test_average_precision_is_its_definition(form, data):
    p, s, w = data
    ours = average_precision(p, s, form=form)
    assert_allclose(ours, ranking.average_precision(p, s, form), **CLOSE)
    ours = average_precision(p, s, form=form, weights=w)
    assert_allclose(ours, ranking.average_precision(p, s, form, w), **CLOSE)


@given(data=scored(most=6))
@both_forms
def test_random_ties_are_the_mean_over_orders(form, data):
    ours = average_precision(*data, form=form, ties="random")
    assert_allclose(ours, ranking.random_ties(*data, form), **CLOSE)


@given(data=scored(most=8))
def test_expected_forms_are_the_mean_over_labels(data):
    p, s = data
    expected = ranking.expectation(p, s, ranking.auroc)
    assert_allclose(auroc(p, s, form="expected"), expected, **CLOSE)
    expected = ranking.expectation(p, s, ranking.average_precision)
    assert_allclose(average_precision(p, s, form="expected"), expected, **CLOSE)


@pytest.mark.parametrize("k", [1, 2, 4])
@given(data=weighted(weight=COUNT))
def test_top_k_is_its_definition(k, data):
    p, s, counts = data
    p_all, s_all = np.repeat(p, counts.astype(int)), np.repeat(s, counts.astype(int))
    assume(len(p_all) >= k)
    mass, total = ranking.top(p_all, s_all, k), p_all.sum()
    copies = Copies(counts)
    assert_allclose(precision_at_k(p, s, k, weights=copies), mass / k, **CLOSE)
    expected = mass / total if total else np.nan
    assert_allclose(recall_at_k(p, s, k, weights=copies), expected, **CLOSE)


@settings(max_examples=25)
@given(data=weighted(weight=COUNT))
@of_all_plain_calls
def test_a_plain_call_equals_the_engine(name, data):
    p, s, counts = data
    metric, plain = named(name), PLAIN[name]
    assert_allclose(plain(p, s), metric(p, s), **CLOSE)
    engine = metric.score(p, metric.prepare(s), counts[:, None].astype(np.uint8))[0]
    assert_allclose(plain(p, s, weights=Copies(counts)), engine, **CLOSE)


@settings(max_examples=25)
@given(data=classified())
@of_all_plain_calls
def test_a_plain_call_with_classes_equals_the_engine(name, data):
    truth, scores, counts = data
    metric, plain = named(name), PLAIN[name]
    assert_allclose(plain(truth, scores), metric(truth, scores), **CLOSE)
    engine = metric.score(truth, metric.prepare(scores), counts[:, :1].copy())[0]
    assert_allclose(plain(truth, scores, weights=Copies(counts[:, 0])), engine, **CLOSE)


@given(data=weighted(), factor=st.sampled_from([0.25, 3.0, 1000.0]))
@every_form
def test_only_relative_importance_matters(form, data, factor):
    p, s, w = data
    once, scaled = (auroc(p, s, form=form, weights=x) for x in (w, factor * w))
    assert_allclose(scaled, once, **CLOSE)
    once, scaled = (average_precision(p, s, weights=x) for x in (w, factor * w))
    assert_allclose(scaled, once, **CLOSE)


@given(data=scored())
@law_of_all([*AUROC, "expected"], str)
def test_turning_labels_and_scores_over_changes_nothing(form, data):
    p, s = data
    assert_allclose(auroc(1 - p, -s, form=form), auroc(p, s, form=form), **CLOSE)


@given(data=scored())
def test_turning_scores_over_mirrors_the_pairs(data):
    p, s = data
    assert_allclose(auroc(p, -s), 1 - auroc(p, s), **CLOSE)


@given(data=scored(least=2))
def test_chance_level_of_each_form(data):
    p, _ = data
    own, product = (p * (1 - p)).sum(), p.sum() * (1 - p).sum()
    assume(product > own + 1e-9)
    tied = np.zeros(len(p))
    half = own / (2 * product)
    expected = {"pairs": 0.5, "trapezoid": 0.5, "strict": 0.5 - half, "inclusive": 0.5 + half}
    for form, value in expected.items():
        assert_allclose(auroc(p, tied, form=form), value, **CLOSE)


@given(data=weighted())
def test_the_area_under_the_soft_curves(data):
    p, s, w = data
    assume(0 < (w * p).sum() < w.sum() - 1e-9)
    false, true, threshold = roc_curve(p, s, weights=w)
    area = np.trapezoid(true, false)
    assert_allclose(area, auroc(p, s, form="trapezoid", weights=w), **CLOSE)
    assert_allclose(area, ranking.auroc(p, s, "trapezoid", w), **CLOSE)
    assert (threshold[0], false[0], true[0], false[-1]) == (np.inf, 0, 0, pytest.approx(1))
    precision, recall, _ = precision_recall_curve(p, s, weights=w)
    steps = -(np.diff(recall) * precision[:-1]).sum()
    assert_allclose(steps, average_precision(p, s, form="printed", weights=w), **CLOSE)


@pytest.mark.parametrize("form", ["conditional", "printed"])
def test_copies_and_importance_differ_on_soft_labels(form):
    p, s, w = np.array([0.5, 0.25, 1.0]), np.array([3.0, 2.0, 1.0]), np.array([2, 1, 3])
    apart = abs(auroc(p, s, weights=Copies(w)) - auroc(p, s, weights=w))
    assert apart > 0.01
    values = [average_precision(p, s, form=form, weights=x) for x in (Copies(w), w)]
    assert (abs(values[0] - values[1]) > 0.01) == (form == "conditional")


@given(data=classified(st.integers(2, 3)))
def test_one_vs_one_is_its_definition(data):
    truth, scores, _ = data
    ours = named("auroc:multiclass=ovo")(truth, scores)
    assert_allclose(ours, ranking.one_vs_one(truth, scores), **CLOSE)


@given(data=scored(least=2))
def test_two_classes_one_vs_one_average_both_sides(data):
    p, s = data
    truth, scores = np.stack([1 - p, p], axis=1), np.stack([-s, s], axis=1)
    assert_allclose(named("auroc:multiclass=ovo")(truth, scores), auroc(p, s), **CLOSE)

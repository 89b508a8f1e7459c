"""Decisions: scikit-learn on hard labels, the definitions on soft ones, calls and engine."""

import math

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from equipoise import InputError, metrics
from equipoise.metrics import Copies, named
from tests.oracles import decisions as oracle
from tests.strategies import HARD, arrays, classified, names, scored, weighted

CLOSE = {"rtol": 0, "atol": 1e-12}
RATIOS = ("sensitivity", "specificity", "ppv", "npv", "f1")
TABLES = {
    "balanced_accuracy": oracle.balanced_accuracy,
    "cohen_kappa": oracle.kappa,
    "mcc": oracle.correlation,
}
CHANCE = st.integers(0, 8).map(lambda k: k / 8)
few = settings(max_examples=40)
ratio = pytest.mark.parametrize("name", RATIOS)


@st.composite
def decided(draw, classes=4):
    """Class codes, decisions and weights; every class is true, and decided for, once."""
    more = draw(st.lists(st.tuples(*[st.integers(0, classes - 1)] * 2), max_size=12))
    pairs = [*((k, (k + draw(st.integers(0, 1))) % classes) for k in range(classes)), *more]
    pairs += [(k, k) for k in range(classes)]
    true, said = np.array(pairs).T
    return true, said, draw(arrays(st.integers(1, 12).map(lambda k: k / 8), len(true)))


@few
@given(data=decided(2))
def test_yes_and_no_are_scikit_learns(data):
    true, said, w = data
    how = {"sample_weight": w}
    expected = {
        "sensitivity": sk.recall_score(true, said, **how),
        "specificity": sk.recall_score(true, said, pos_label=0, **how),
        "ppv": sk.precision_score(true, said, **how),
        "npv": sk.precision_score(true, said, pos_label=0, **how),
        "f1": sk.f1_score(true, said, **how),
    }
    for name, value in expected.items():
        plain = getattr(metrics, name)
        assert_allclose(plain(true, said, weights=w), value, **CLOSE)
        assert_allclose(plain(true, np.eye(2)[said], weights=w), value, **CLOSE)
    for average in ("macro", "weighted"):
        value = sk.f1_score(true, said, average=average, **how)
        assert_allclose(metrics.f1(true, said, average=average, weights=w), value, **CLOSE)


@few
@given(data=decided())
def test_several_classes_are_scikit_learns(data):
    true, said, w = data
    how = {"sample_weight": w}
    theirs = {"sensitivity": sk.recall_score, "ppv": sk.precision_score, "f1": sk.f1_score}
    for name, score in theirs.items():
        plain = getattr(metrics, name)
        for average in ("macro", "weighted"):
            value = score(true, said, average=average, **how)
            assert_allclose(plain(true, said, average=average, weights=w), value, **CLOSE)
        each = [plain(true, said, positive=k, weights=w) for k in range(4)]
        assert_allclose(each, score(true, said, average=None, **how), **CLOSE)
    value = sk.balanced_accuracy_score(true, said, **how)
    assert_allclose(metrics.balanced_accuracy(true, said, weights=w), value, **CLOSE)
    value = sk.matthews_corrcoef(true, said, **how)
    assert_allclose(metrics.mcc(true, said, weights=w), value, **CLOSE)
    value = sk.cohen_kappa_score(true, said, **how)
    assert_allclose(metrics.cohen_kappa(true, said, weights=w), value, **CLOSE)
    value = sk.confusion_matrix(true, said, **how)
    assert_allclose(metrics.confusion_matrix(true, said, weights=w), value, **CLOSE)
    assert_allclose(metrics.accuracy(true, said, weights=w), (true == said) @ w / w.sum())


@ratio
@few
@given(data=classified())
def test_one_class_against_the_rest_is_its_definition(name, data):
    truth, predicted, _ = data
    plain, size = getattr(metrics, name), truth.shape[1]
    for k in range(size):
        expected = oracle.one_vs_rest(name, truth, predicted, k)
        assert_allclose(plain(truth, predicted, positive=k), expected, **CLOSE)
        assert_allclose(named(f"{name}:positive={k}")(truth, predicted), expected, **CLOSE)
        bound = named(f"{name}:positive=c-{k}").among(names(size, "c"))
        assert_allclose(bound(truth, predicted), expected, **CLOSE)
    for average in ("macro", "weighted"):
        expected = oracle.averaged(name, truth, predicted, average)
        metric = named(f"{name}:average={average}")
        assert_allclose(metric(truth, predicted), expected, **CLOSE)
        assert_allclose(plain(truth, predicted, average=average), expected, **CLOSE)


@ratio
@few
@given(data=scored(least=2))
def test_one_score_per_item_is_about_the_positive_class(name, data):
    p, s = data[0], np.abs(data[1])
    two = np.stack([1 - p, p], 1), np.stack([1 - s, s], 1)
    expected = oracle.one_vs_rest(name, *two, 1)
    assert_allclose(getattr(metrics, name)(p, s), expected, **CLOSE)
    assert_allclose(named(name)(*two), expected, **CLOSE)
    assert_allclose(named(name).among(["yes"])(*two), expected, **CLOSE)
    both = oracle.averaged(name, *two, "macro")
    assert_allclose(named(name).among(["no", "yes"])(*two), both, **CLOSE)
    assert_allclose(named(f"{name}:average=macro").among(["yes"])(*two), both, **CLOSE)


@pytest.mark.parametrize("name", TABLES)
@few
@given(data=classified())
def test_functions_of_the_whole_table_are_their_definitions(name, data):
    truth, predicted, counts = data
    expected = TABLES[name](truth, predicted)
    assert_allclose(getattr(metrics, name)(truth, predicted), expected, **CLOSE)
    assert_allclose(named(name)(truth, predicted), expected, **CLOSE)
    engine = named(name).score(truth, named(name).prepare(predicted), counts)[0]
    plain = getattr(metrics, name)(truth, predicted, weights=Copies(counts[:, 0]))
    assert_allclose(plain, engine, **CLOSE)


@few
@given(data=classified())
def test_the_confusion_matrix_holds_expected_counts(data):
    truth, predicted, counts = data
    found = metrics.confusion_matrix(truth, predicted)
    assert_allclose(found, oracle.table(truth, predicted), **CLOSE)
    assert_allclose(found.sum(axis=1), truth.sum(axis=0), **CLOSE)
    weights = counts[:, 0].astype(float)
    found = metrics.confusion_matrix(truth, predicted, weights=weights)
    assert_allclose(found, oracle.table(truth, predicted, weights), **CLOSE)


@ratio
@few
@given(data=scored(CHANCE, least=2), seed=st.integers(0, 99))
def test_soft_counts_are_the_mean_over_drawn_labels(name, data, seed):
    """A ratio of expectations: over all labels drawn from the votes, numerator and below."""
    p, s = data[0], np.abs(data[1])
    draws = (np.random.default_rng(seed).random((64, len(p))) < p).astype(float)
    tables = [metrics.confusion_matrix(one, s) for one in draws]
    mean = metrics.confusion_matrix(draws.mean(axis=0), s)
    assert_allclose(np.mean(tables, axis=0), mean, **CLOSE)
    value = getattr(metrics, name)(draws.mean(axis=0), s)
    assert_allclose(named(name).finish(mean[..., None])[0], value, **CLOSE)


def test_undefined_is_nan():
    nobody, everybody, both = [0, 0, 0], [1, 1, 1], [0, 1, 1]
    assert math.isnan(metrics.sensitivity(nobody, both))
    assert math.isnan(metrics.specificity(everybody, both))
    assert math.isnan(metrics.ppv(both, nobody)) and math.isnan(metrics.npv(both, everybody))
    assert math.isnan(metrics.f1(nobody, nobody)) and metrics.f1(both, nobody) == 0
    assert math.isnan(metrics.mcc(both, nobody)) and math.isnan(metrics.mcc(nobody, both))
    assert math.isnan(metrics.cohen_kappa(nobody, nobody))
    assert metrics.cohen_kappa(both, nobody) == 0
    assert math.isnan(metrics.balanced_accuracy(nobody, both))


def test_a_score_of_one_half_is_half_a_yes():
    assert metrics.sensitivity([1, 1], [0.5, 1.0]) == 0.75
    assert metrics.ppv([1, 0], [0.5, 1.0]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: metrics.f1([0, 1], [0, 1], average="micro"), "macro"),
        (lambda: metrics.f1([0, 1], [0, 1], average="macro", positive=1), "leave one"),
        (lambda: metrics.f1([0, 1], [0, 1], positive=2), "0 to 1"),
        (lambda: metrics.f1([0, 1], [0, 1], positive="yes"), "count from 0"),
        (lambda: metrics.f1([0, 1], [3.0, 40.0]), "not scores"),
        (lambda: named("f1:positive=N3").among(["W", "N2"]), "known are 'W'"),
        (lambda: named("f1:positive=N3")(np.eye(2), np.eye(2)), "evaluate"),
        (lambda: metrics.net_benefit([0, 1], [0, 1], threshold=1.0), "between 0 and 1"),
        (lambda: metrics.decision_curve([0, 1, 2], np.eye(3)), "one curve per class"),
        (lambda: named("sensitivity_at_specificity:specificity=90"), "between 0 and 1"),
    ],
)
def test_nonsense_is_refused(call, told):
    with pytest.raises(InputError, match=told):
        call()


@st.composite
def votes(draw):
    """Votes by class of a few items, and one decision each."""
    items, size = draw(st.integers(1, 6)), draw(st.integers(2, 4))
    row = st.lists(st.integers(0, 4), min_size=size, max_size=size).filter(any)
    return [draw(row) for _ in range(items)], [
        draw(st.integers(0, size - 1)) for _ in range(items)
    ]


@few
@given(data=votes())
def test_soft_agreement_is_guillots(data):
    counts, said = data
    labels = np.array([np.array(row) / sum(row) for row in counts])
    expected = oracle.soft_agreement(counts, said)
    assert_allclose(metrics.soft_agreement(labels, said), expected, **CLOSE)
    one_hot = np.eye(labels.shape[1])[said]
    assert_allclose(named("soft_agreement")(labels, one_hot), expected, **CLOSE)
    accurate = (labels * one_hot).sum(axis=1).mean()
    assert accurate - 1e-12 <= expected <= 1


@few
@given(data=classified(), seed=st.integers(0, 99))
def test_soft_agreement_has_the_derivatives_that_are_printed(data, seed):
    truth, predicted, _ = data
    random = np.random.default_rng(seed)
    labels = 0.8 * truth + 0.2 * random.dirichlet(np.ones(truth.shape[1]), len(truth))
    ranked = np.sort(labels, axis=1)
    assume((ranked[:, -1] - ranked[:, -2] > 1e-3).all())  # away from ties
    metric = named("soft_agreement")
    found = metric.influence(metric.prepare(predicted), labels)
    for i, k in np.ndindex(labels.shape):
        step = np.zeros(labels.shape)
        step[i] = 1e-6 * (np.eye(labels.shape[1])[k] - labels[i])
        up, down = (metric(labels + s * step, predicted) for s in (1, -1))
        slope = found.shares[i, k] - found.shares[i] @ labels[i]
        assert_allclose(slope, (up - down) / 2e-6, atol=1e-6)


def test_settled_labels_move_soft_agreement_as_they_move_accuracy():
    labels, predicted = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1.0]]), np.eye(3)[[0, 1, 1]]
    one, other = (
        named(name).influence(named(name).prepare(predicted), labels)
        for name in ("soft_agreement", "accuracy")
    )
    assert_allclose(one.shares, other.shares, atol=1e-15)


@few
@given(data=weighted(), rate=st.sampled_from([0.1, 0.25, 0.5, 0.8, 0.9]))
def test_operating_points_are_their_definition(data, rate):
    p, s, w = data
    expected = oracle.sensitivity_at(p, s, rate, w)
    found = metrics.sensitivity_at_specificity(p, s, specificity=rate, weights=w)
    assert_allclose(found, expected, **CLOSE)
    found = metrics.specificity_at_sensitivity(p, s, sensitivity=rate, weights=w)
    assert_allclose(found, oracle.sensitivity_at(1 - p, -s, rate, w), **CLOSE)
    metric = named(f"sensitivity_at_specificity:specificity={rate}")
    assert_allclose(metric(p, s), oracle.sensitivity_at(p, s, rate), **CLOSE)


@few
@given(data=scored(HARD, least=4), rate=st.sampled_from([0.3, 0.6, 0.9]))
def test_operating_points_of_hard_labels_without_ties_are_the_best_threshold(data, rate):
    p, s = data[0], data[1] + 1e-3 * np.arange(len(data[1]))
    assume(0 < p.sum() < len(p))
    false, true, _ = sk.roc_curve(p, s, drop_intermediate=False)
    found = metrics.sensitivity_at_specificity(p, s, specificity=rate)
    assert_allclose(found, true[false <= 1 - rate + 1e-12].max(), **CLOSE)
    found = metrics.specificity_at_sensitivity(p, s, sensitivity=rate)
    assert_allclose(found, 1 - false[true >= rate - 1e-12].min(), **CLOSE)


@few
@given(data=scored(CHANCE), t=st.sampled_from([0.1, 0.25, 0.5, 0.75]))
def test_net_benefit_is_its_definition(data, t):
    p, s = data[0], np.abs(data[1])  # quarters: some lie on the threshold
    expected = oracle.net_benefit(p, s, t)
    assert_allclose(metrics.net_benefit(p, s, threshold=t), expected, **CLOSE)
    two = np.stack([1 - p, p], 1), np.stack([1 - s, s], 1)
    assert_allclose(named(f"net_benefit:threshold={t}").among(["yes"])(*two), expected, **CLOSE)
    both = (expected + oracle.net_benefit(1 - p, 1 - s, t)) / 2
    assert_allclose(named(f"net_benefit:threshold={t}").among(["a", "b"])(*two), both, **CLOSE)
    curve = metrics.decision_curve(p, s, thresholds=[t])
    assert_allclose(curve.model, expected, **CLOSE)
    assert_allclose(curve.treat_all, oracle.net_benefit(p, np.ones(len(p)), t), **CLOSE)
    assert_allclose(curve.treat_none, oracle.net_benefit(p, np.zeros(len(p)), t), **CLOSE)


@pytest.mark.parametrize("name", ["sensitivity_at_specificity", "specificity_at_sensitivity"])
def test_the_error_of_an_operating_point_is_that_of_a_bootstrap(name):
    random = np.random.default_rng(8)
    p = random.beta(0.6, 1.0, 400)
    s, metric = p + random.normal(0, 0.3, 400), named(name)
    found = metric.influence(metric.prepare(s)[0], p)
    assert_allclose(found.value, metric(p, s), **CLOSE)
    assert_allclose(found.items.sum(), 0, atol=1e-12)
    counts = random.multinomial(400, np.full(400, 1 / 400), 1500).T.astype(np.uint8)
    drawn = metric.score(p, metric.prepare(s), counts)
    assert_allclose(np.sqrt((found.items**2).sum()), drawn.std(), rtol=0.12)


@pytest.mark.parametrize("name", ["sensitivity_at_specificity", "specificity_at_sensitivity"])
def test_votes_move_an_operating_point_of_many_items_as_its_derivative_says(name):
    random = np.random.default_rng(9)
    p = random.beta(0.6, 1.0, 40_000)
    s, metric = p + random.normal(0, 0.3, len(p)), named(name)
    found = metric.influence(metric.prepare(s)[0], p).shares
    for direction in (p * (1 - p) * (s > 0.4), p * (1 - p) * (s < 0.9)):
        moved = [metric(p + step * direction, s) for step in (0.2, -0.2)]
        assert_allclose(found @ direction, (moved[0] - moved[1]) / 0.4, rtol=0.1)

"""Laws that every metric of the catalogue obeys, whatever its parameters."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.metrics import CATALOGUE, named
from equipoise.metrics._metric import Topic
from tests.strategies import SHUFFLES, classified, law_of_all, replicated, scored

BINARY = [
    *(
        f"auroc:form={form}"
        for form in ("pairs", "trapezoid", "strict", "inclusive", "expected")
    ),
    "average_precision",
    "average_precision:form=printed",
    "average_precision:form=expected",
    "average_precision:ties=random",
    "average_precision:form=printed:ties=random",
    "precision_at_1",
    "precision_at_3",
    "recall_at_1",
    "recall_at_3",
    "sensitivity_at_specificity",
    "sensitivity_at_specificity:specificity=0.4",
    "specificity_at_sensitivity",
    "specificity_at_sensitivity:sensitivity=0.25",
]
MULTICLASS = [
    "auroc",
    "auroc:form=strict",
    "auroc:form=expected",
    "auroc:average=weighted",
    "auroc:multiclass=ovo",
    "average_precision",
    "average_precision:average=weighted",
    "average_precision:form=printed:ties=random",
    "average_precision:form=expected:average=weighted",
    "sensitivity_at_specificity:specificity=0.5",
    "specificity_at_sensitivity",
]
OF_TWO, OF_SEVERAL = ([named(name) for name in some] for some in (BINARY, MULTICLASS))
every = pytest.mark.parametrize("metric", OF_TWO, ids=BINARY)
each = pytest.mark.parametrize("metric", OF_SEVERAL, ids=MULTICLASS)
of_all = law_of_all(OF_TWO)
of_several = law_of_all(OF_SEVERAL)
CLOSE = {"rtol": 0, "atol": 1e-12}
few = settings(max_examples=25)


def test_every_entry_of_the_catalogue_is_under_these_laws():
    made = {name: make() for name, make in CATALOGUE.items()}
    alien = (Topic.JUDGED, Topic.RATINGS)  # of no labels, under laws of their own
    ranking = {
        name for name, m in made.items() if m.labels == "classes" and m.topic not in alien
    }
    assert {re.sub(r"_\d+$", "_k", name.split(":")[0]) for name in BINARY} == ranking


def inside(metric, value):
    low, high = metric.bounds
    return np.isnan(value) or low - 1e-12 <= value <= high + 1e-12


def columns(metric, truth, scores, counts):
    """Values of all replicates at once."""
    return metric.score(truth, metric.prepare(scores), counts)


def copies(metric, truth, scores, counts):
    """Values on the expanded arrays, one replicate after another; nan without items."""
    times = counts.T.astype(int)
    return [
        metric(np.repeat(truth, t, axis=0), np.repeat(scores, t, axis=0)) if t.any() else np.nan
        for t in times
    ]


@few
@given(data=scored())
@of_all
def test_stays_within_its_bounds(metric, data):
    assert inside(metric, metric(*data))


@few
@given(data=classified())
@of_several
def test_stays_within_its_bounds_with_several_classes(metric, data):
    assert inside(metric, metric(*data[:2]))


@few
@given(data=replicated(), order=SHUFFLES)
@of_all
def test_ignores_the_order_of_items(metric, data, order):
    shuffled = order.permutation(len(data[0]))
    moved = columns(metric, *(part[shuffled] for part in data))
    assert_allclose(moved, columns(metric, *data), **CLOSE)


@few
@given(data=classified(), order=SHUFFLES)
@of_several
def test_ignores_the_order_of_items_and_classes(metric, data, order):
    truth, scores, _ = data
    rows, names = (order.permutation(size) for size in truth.shape)
    moved = metric(truth[rows][:, names], scores[rows][:, names])
    assert_allclose(moved, metric(truth, scores), **CLOSE)


@few
@given(data=scored())
@of_all
def test_only_the_order_of_scores_matters(metric, data):
    p, s = data
    rank = np.unique(s, return_inverse=True)[1]
    for other in (7.0 * rank - 11, np.exp(3.0 * rank), rank**3 * 1e-9):
        assert_allclose(metric(p, other), metric(p, s), **CLOSE)


@few
@given(data=replicated())
@of_all
def test_counts_equal_expanded_arrays(metric, data):
    assert_allclose(columns(metric, *data), copies(metric, *data), **CLOSE)


@few
@given(data=classified())
@of_several
def test_counts_equal_expanded_arrays_with_several_classes(metric, data):
    assert_allclose(columns(metric, *data), copies(metric, *data), **CLOSE)


@few
@given(data=replicated(width=5))
@of_all
def test_many_replicates_equal_one_at_a_time(metric, data):
    p, s, counts = data
    alone = [columns(metric, p, s, counts[:, r : r + 1].copy())[0] for r in range(5)]
    assert_allclose(columns(metric, p, s, counts), alone, **CLOSE)


@few
@given(data=replicated())
@of_all
def test_leaves_its_inputs_alone(metric, data):
    before = [part.copy() for part in data]
    columns(metric, *data)
    for part, copy in zip(data, before, strict=True):
        assert_array_equal(part, copy)


@few
@given(data=scored(st.sampled_from([0.0, 1.0]), least=4))
@of_all
def test_no_order_beats_the_true_one(metric, data):
    p, s = data
    best, other = metric(p, p), metric(p, s)
    assert (np.isnan(best) and np.isnan(other)) or best >= other - 1e-12


@every
@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_class_only_is_undefined_never_a_number(metric, label):
    value = metric(np.full(4, label), np.array([0.4, 0.3, 0.3, 0.1]))
    needs_both = ("auroc", "sensitivity_at", "specificity_at")
    without_negatives = label == 1 and not metric.name.startswith(needs_both)
    if without_negatives or metric.name.startswith("precision_at"):
        assert inside(metric, value) and not np.isnan(value)
    else:
        assert np.isnan(value)


@every
def test_a_replicate_without_items_is_undefined(metric):
    counts = np.zeros((4, 2), dtype=np.uint8)
    counts[:, 1] = 1
    value = columns(metric, np.array([1.0, 0.5, 0, 0.25]), np.arange(4.0), counts)
    assert np.isnan(value[0]) and not np.isnan(value[1])


@each
def test_a_class_that_nobody_names_makes_the_mean_undefined(metric):
    truth = np.array([[1.0, 0, 0], [0, 1, 0], [0.5, 0.5, 0]])
    assert np.isnan(metric(truth, np.full((3, 3), 1 / 3)))


@every
def test_facts_are_told(metric):
    assert metric.better == "higher" and metric.bounds == (0.0, 1.0)
    assert named(metric.name).name == metric.name
    assert metric.definition and metric.title and metric.soft_title != metric.title

"""Plain calls: what they refuse, in four parts, and the corners of their definitions."""

import math

import numpy as np
import pytest

from equipoise import metrics
from equipoise.metrics import (
    CATALOGUE,
    Copies,
    auroc,
    auroc_one_vs_one,
    auroc_per_class,
    average_precision,
    named,
    precision_at_k,
    precision_recall_curve,
    recall_at_k,
    require_known,
    roc_curve,
    tied_share,
)
from equipoise.types import InputError
from tests.oracles import ranking

TWO = np.full((3, 2), 0.5)


def refused(call):
    """The error has four parts that say something."""
    with pytest.raises(InputError) as caught:
        call()
    error = caught.value
    parts = (error.where, error.got, error.expected, error.do)
    assert all(isinstance(part, str) and part.strip() for part in parts)
    return error


PLAIN = {
    "lengths differ": lambda: auroc([1, 0], [0.1, 0.2, 0.3]),
    "empty": lambda: auroc([], []),
    "label above one": lambda: auroc([1, 2], [0.1, 0.2]),
    "label below zero": lambda: average_precision([1, -0.5], [0.1, 0.2]),
    "label nan": lambda: auroc([1, np.nan], [0.1, 0.2]),
    "score nan": lambda: auroc([1, 0], [0.1, np.nan]),
    "score infinite": lambda: average_precision([1, 0], [0.1, np.inf]),
    "words": lambda: auroc(["yes", "no"], [0.1, 0.2]),
    "scalar": lambda: auroc(1, 0.5),
    "three axes": lambda: auroc(np.zeros((2, 2, 2)), np.zeros((2, 2, 2))),
    "distribution for one score": lambda: auroc(TWO, [0.1, 0.2, 0.3]),
    "rows do not sum to one": lambda: auroc(2 * TWO, TWO),
    "classes differ": lambda: auroc(TWO, np.full((3, 3), 1 / 3)),
    "class code too large": lambda: auroc([0, 1, 2], TWO),
    "class code with a fraction": lambda: auroc_per_class([0, 0.5, 1], TWO),
    "one vs one without classes": lambda: auroc_one_vs_one([0, 1, 1], [0.1, 0.2, 0.3]),
    "weight shape": lambda: auroc([1, 0], [0.1, 0.2], weights=[1]),
    "weight negative": lambda: auroc([1, 0], [0.1, 0.2], weights=[1, -1]),
    "weight nan": lambda: roc_curve([1, 0], [0.1, 0.2], weights=[1, np.nan]),
    "copies with a fraction": lambda: auroc([1, 0], [0.1, 0.2], weights=Copies([1, 1.5])),
    "unknown form": lambda: auroc([1, 0], [0.1, 0.2], form="pair"),
    "unknown ties": lambda: average_precision([1, 0], [0.1, 0.2], ties="blocks"),
    "expected with weights": lambda: auroc([1, 0], [1, 2], form="expected", weights=[1, 2]),
    "random with weights": lambda: average_precision(
        [1, 0], [1, 2], ties="random", weights=[1, 2]
    ),
    "expected at random": lambda: average_precision(
        [1, 0], [1, 2], form="expected", ties="random"
    ),
    "k too large": lambda: precision_at_k([1, 0], [0.1, 0.2], 3),
    "k zero": lambda: recall_at_k([1, 0], [0.1, 0.2], 0),
    "k not whole": lambda: precision_at_k([1, 0], [0.1, 0.2], 1.5),
    "k true": lambda: precision_at_k([1, 0], [0.1, 0.2], k=True),
    "k with classes": lambda: precision_at_k(TWO, TWO, 1),
    "curve with classes": lambda: precision_recall_curve(TWO, TWO),
    "unknown metric": lambda: named("aurok"),
    "unknown parameter": lambda: named("auroc:shape=pairs"),
    "bad parameter": lambda: named("auroc:form=best"),
    "k not a number": lambda: named("precision_at_k:k=ten"),
    "no such k": lambda: named("precision_at_0"),
    "one vs one strict": lambda: named("auroc:multiclass=ovo:form=strict"),
}


@pytest.mark.parametrize("call", PLAIN.values(), ids=PLAIN)
def test_bad_input_is_refused_in_four_parts(call):
    refused(call)


def test_the_error_names_what_was_meant():
    assert "'auroc'" in refused(PLAIN["unknown metric"]).do
    assert "item 1" in refused(PLAIN["label above one"]).where


@pytest.mark.parametrize("form", ["pairs", "trapezoid", "strict", "inclusive", "expected"])
def test_without_weight_auroc_is_undefined(form):
    assert math.isnan(auroc([1, 0.5, 0], [3, 2, 1], form=form, weights=Copies([0, 0, 0])))
    assert math.isnan(auroc([1, 0.5, 0], [3, 2, 1], form=form, weights=Copies([2, 0, 0])))


@pytest.mark.parametrize("ties", ["block", "random"])
def test_without_weight_average_precision_is_undefined(ties):
    for copies in ([0, 0, 0], [0, 0, 2]):
        value = average_precision([1, 0.5, 0], [3, 2, 1], ties=ties, weights=Copies(copies))
        assert math.isnan(value)


def test_a_rate_without_its_class_is_undefined():
    false, true, _ = roc_curve([1, 1], [0.1, 0.2])
    assert np.isnan(false).all() and true[-1] == 1
    _, recall, _ = precision_recall_curve([0, 0], [0.1, 0.2])
    assert np.isnan(recall[:-1]).all()


def test_expected_auroc_stays_exact_when_positives_are_rare():
    p, s = np.array([1e-10, 0.0, 1e-11]), np.array([3.0, 2.0, 1.0])
    expected = 1e-10 / 1.1e-10  # one positive: the first beats all, the last nobody
    assert auroc(p, s, form="expected") == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("items", [60, 400, 3000])
def test_expected_auroc_of_many_items_agrees_with_simulated_labels(items):
    random = np.random.default_rng(items)
    p, s = random.beta(0.3, 0.9, items), random.random(items).round(2)
    s += p
    labels = random.random((400, items)) < p
    metric = named("auroc")
    prepared = metric.prepare(s)
    values = [
        metric.score(y.astype(float), prepared, np.ones((items, 1), np.uint8))[0]
        for y in labels
    ]
    error = np.std(values) / 20
    assert auroc(p, s, form="expected") == pytest.approx(np.mean(values), abs=4 * error)
    first = ranking.auroc(p[:60], s[:60])
    assert auroc(p[:60], s[:60]) == pytest.approx(first, abs=1e-12)


def test_share_of_tied_scores():
    metric = named("auroc")
    assert tied_share(metric.prepare(np.array([1.0, 2.0, 2.0, 3.0]))[0]) == 0.5
    assert tied_share(metric.prepare(np.array([1.0, 2.0]))[0]) == 0.0


def test_public_names_are_listed_and_nothing_else_shows():
    assert sorted(metrics.__all__) == dir(metrics)
    assert all(hasattr(metrics, name) for name in metrics.__all__)
    assert set(CATALOGUE) <= set(metrics.__all__)


def test_every_parameter_of_a_metric_can_be_named():
    require_known("retained_samples_area:points=21")
    assert named("retained_samples_area:points=21").name == "retained_samples_area:points=21"
    with pytest.raises(InputError, match="expected 'score', 'metric'"):
        require_known("retained_samples_area:how=21")

"""The frozen types: checked once when made, read-only inside, errors in four parts."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.inference.estimate import Estimate
from equipoise.types import Annotations, InputError, Plausibilities, Predictions
from tests.strategies import distributions, names


def table(**changes):
    """Two annotators, two items, yes or no."""
    columns = {
        "kind": "binary", "items": ("a", "b"), "classes": ("no", "yes"),
        "annotators": ("ana", "bo"), "item": np.array([0, 0, 1, 1]),
        "annotator": np.array([0, 1, 0, 1]), "label": np.array([1, 0, 1, 1]),
    }  # fmt: skip
    return Annotations(**{**columns, **changes})


def sparse(**changes):
    """One item with one mentioned class of three."""
    columns = {
        "items": ("a",), "classes": ("x", "y", "z"), "start": np.array([0, 1]),
        "label": np.array([1]), "mass": np.array([[0.6], [0.2]]),
        "rest": np.array([[0.4], [0.8]]), "method": "by hand",
    }  # fmt: skip
    return Plausibilities(**{**columns, **changes})


def dense(values, items=("a", "b"), classes=("x", "y")):
    return Plausibilities.dense(np.asarray(values), items=items, classes=classes, method="x")


def model(values=(0.1, 0.2), items=("a", "b"), **more):
    return Predictions("net", items, np.asarray(values, float), **more)


EVEN = np.full((2, 2), 0.5)
REFUSED = {
    "kind": lambda: table(kind="binery"),
    "no rows": lambda: table(
        item=np.array([], int), label=np.array([], int), annotator=np.array([], int)
    ),
    "column length": lambda: table(label=np.array([1, 0])),
    "item code": lambda: table(item=np.array([0, 0, 1, 2])),
    "negative code": lambda: table(label=np.array([1, 0, -1, 1])),
    "label code": lambda: table(label=np.array([1, 0, 2, 1])),
    "same item twice": lambda: table(items=("a", "a")),
    "annotators without names": lambda: table(annotators=None),
    "annotators without codes": lambda: table(annotator=None),
    "no labels": lambda: table(label=None),
    "no values": lambda: table(kind="interval", label=None),
    "three classes": lambda: table(classes=("a", "b", "c")),
    "weight zero": lambda: table(weight=np.array([1.0, 0, 1, 1])),
    "weight infinite": lambda: table(weight=np.array([1.0, np.inf, 1, 1])),
    "confidence": lambda: table(confidence=np.array([1.0, 2, 1, 1])),
    "count zero": lambda: table(count=np.array([1, 0, 1, 1])),
    "group length": lambda: table(group=np.array([0]), groups=("g",)),
    "group code": lambda: table(group=np.array([0, 1]), groups=("g",)),
    "value infinite": lambda: table(
        kind="interval", label=None, value=np.array([1.0, np.inf, 1, 1])
    ),
    "ranking without ranks": lambda: table(kind="ranking"),
    "class twice in a ranking": lambda: table(
        kind="ranking", rank=np.array([0, 1, 0, 1]), reading=np.array([0, 0, 1, 1])
    ),
    "unknown class": lambda: table().against("maybe"),
    "threshold of labels": lambda: table().at_least("yes"),
    "unknown task": lambda: table().in_task("b"),
    "plausibility shape": lambda: dense(np.full((2, 3), 1 / 3)),
    "plausibility sum": lambda: dense([[0.5, 0.6], [0.5, 0.5]]),
    "plausibility negative": lambda: dense([[-0.5, 1.5], [0.5, 0.5]]),
    "plausibility nan": lambda: dense([[np.nan, 0.5], [0.5, 0.5]]),
    "sparse sum": lambda: sparse(rest=np.array([[0.4], [0.9]])),
    "sparse negative": lambda: sparse(
        mass=np.array([[-0.6], [0.2]]), rest=np.array([[1.6], [0.8]])
    ),
    "sparse starts": lambda: sparse(start=np.array([0, 2])),
    "sparse label": lambda: sparse(label=np.array([3])),
    "sparse rest": lambda: sparse(rest=np.array([[0.4]])),
    "no draws": lambda: sparse(mass=np.zeros((0, 1)), rest=np.zeros((0, 1))),
    "prediction shape": lambda: model((0.1, 0.2, 0.3)),
    "prediction nan": lambda: model((0.1, np.nan)),
    "prediction without items": lambda: model((), ()),
    "prediction twice": lambda: model(items=("a", "a")),
    "prediction classes": lambda: model(EVEN, classes=("x", "y", "z")),
    "prediction sum": lambda: model(2 * EVEN, classes=("x", "y")),
    "prediction logits": lambda: model([[-1, 2], [0, 1]], classes=("x", "y")),
    "unknown item": lambda: model().aligned(["c"]),
    "unknown class of a model": lambda: model(EVEN, classes=("x", "y")).aligned(["a"], ["q"]),
}
# What a careless caller can hand over: each of these would be a wrong number later on.
CARELESS = {
    "label not a number": lambda: table(label=np.array([1, 0, np.nan, 1])),
    "label with a fraction": lambda: table(label=np.array([1, 0, 0.5, 1])),
    "item as a float": lambda: table(item=np.array([0.0, 0, 1, 1.5])),
    "count with a fraction": lambda: table(count=np.array([1, 1.5, 1, 1])),
    "gold as whole numbers": lambda: table(is_gold=np.array([0, 2, 0, 0])),
    "sparse class twice": lambda: sparse(
        start=np.array([0, 2]), label=np.array([1, 1]), mass=np.array([[0.3, 0.3], [0.1, 0.1]])
    ),
    "sparse negative label": lambda: sparse(label=np.array([-1])),
    "sparse first start": lambda: sparse(
        start=np.array([1, 2]),
        label=np.array([1, 2]),
        mass=np.full((2, 2), 0.5),
        rest=np.zeros((2, 1)),
    ),
    "sparse falling starts": lambda: sparse(
        items=("a", "b"), start=np.array([0, 2, 1]), rest=np.array([[0.4, 1], [0.8, 1]])
    ),
    "plausibility item twice": lambda: dense(EVEN, items=("a", "a")),
    "plausibility class twice": lambda: dense(EVEN, classes=("x", "x")),
    "prediction class twice": lambda: model(EVEN, classes=("x", "x")),
}


def four_parts(call):
    with pytest.raises(InputError) as caught:
        call()
    error = caught.value
    assert all((error.where, error.got, error.expected, error.do))
    assert str(error) == f"{error.where}: {error.got}, expected {error.expected}; {error.do}"


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_bad_data_are_refused_in_four_parts(call):
    four_parts(call)


@pytest.mark.parametrize("call", CARELESS.values(), ids=CARELESS)
def test_careless_data_are_refused_before_they_become_a_wrong_number(call):
    four_parts(call)


@pytest.mark.parametrize(
    "thing",
    [
        table(weight=np.ones(4), group=np.array([0, 0]), groups=("g",)),
        dense(EVEN),
        sparse(),
        model(),
        Estimate(0.5, np.array([0.4, 0.6]), "plan"),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_types_are_frozen_and_their_arrays_read_only(thing):
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(thing, field.name, value)


def test_types_keep_a_copy_of_what_they_were_given():
    values, label = np.array([0.1, 0.2]), np.array([1, 0, 1, 1])
    mass, rest = np.array([[0.6]]), np.array([[0.4]])
    kept = (
        Predictions("net", ("a", "b"), values),
        table(label=label),
        sparse(mass=mass, rest=rest),
    )
    for given_array in (values, label, mass, rest):
        given_array[...] = 0
    assert_array_equal(kept[0].values, [0.1, 0.2])
    assert_array_equal(kept[1].label, [1, 0, 1, 1])
    assert_array_equal(kept[2].mass, [[0.6]])


@given(data=st.data(), items=st.integers(1, 4), classes=st.integers(2, 5))
def test_sparse_plausibilities_equal_dense_ones(data, items, classes):
    draws = np.stack([data.draw(distributions(items, classes)) for _ in range(3)])
    mentioned = [
        sorted(data.draw(st.sets(st.integers(0, classes - 1), min_size=1)))
        for _ in range(items)
    ]
    full = np.empty_like(draws)
    for i, known in enumerate(mentioned):
        others = [k for k in range(classes) if k not in known]
        full[:, i] = draws[:, i]
        if others:
            full[:, i, others] = draws[:, i, others].mean(axis=1, keepdims=True)
    label = np.concatenate([np.array(known) for known in mentioned])
    item = np.repeat(np.arange(items), [len(known) for known in mentioned])
    mass = full[:, item, label]
    rest = np.stack([1 - np.bincount(item, row, items) for row in mass]).clip(0)
    thin = Plausibilities(
        items=names(items), classes=names(classes, "class"), method="thin", label=label,
        start=np.append(0, np.cumsum([len(known) for known in mentioned])), mass=mass,
        rest=rest,
    )  # fmt: skip
    thick = dense(full, names(items), names(classes, "class"))
    assert_allclose(thin.mean, thick.mean, atol=1e-12)
    for number in range(3):
        assert_allclose(thin.draw(number), full[number], atol=1e-12)


def test_predictions_are_aligned_by_name():
    probabilities = model([[0.2, 0.8], [0.7, 0.3]], classes=("x", "y"))
    assert_array_equal(probabilities.aligned(["b", "a"], ["y", "x"]), [[0.3, 0.7], [0.8, 0.2]])
    assert_array_equal(model().aligned(["b", "b"]), [0.2, 0.2])


def test_questions_made_of_annotations():
    grades = Annotations(
        kind="ordinal", items=("a",), classes=("0", "1", "2"), item=np.zeros(3, int),
        label=np.array([0, 1, 2]), annotators=("u", "v", "w"), annotator=np.arange(3),
    )  # fmt: skip
    assert_array_equal(grades.at_least("1").label, [0, 1, 1])
    assert_array_equal(grades.against("1").label, [0, 1, 0])
    assert grades.against("1").kind == "binary" and grades.anonymous().annotator is None

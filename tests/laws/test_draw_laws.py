"""Laws that every metric of possible truths obeys, whatever its parameters."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.metrics import (
    CATALOGUE,
    Block,
    item_scores,
    named,
)
from equipoise.types import Plausibilities
from tests.strategies import SHUFFLES, law_of_all, names

NAMES = [
    "topk_accuracy",
    "topk_accuracy:k=2",
    "set_accuracy:k=2",
    "overlap:k=2",
    "overlap",
    "average_overlap",
    "kendall_tau",
    "spearman_footrule",
]
METRICS = [named(name) for name in NAMES]
every = pytest.mark.parametrize("metric", METRICS, ids=NAMES)
of_all = law_of_all(METRICS)
CLOSE = {"rtol": 0, "atol": 1e-10}
few = settings(max_examples=40)


@st.composite
def worlds(draw, *, ties=True):
    """Sparse plausibilities with ties, empty masses and both kinds of split; a prediction."""
    items, classes = draw(st.integers(1, 4)), draw(st.integers(3, 6))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = random.integers(1, classes + 1, items)
    start = np.concatenate(([0], np.cumsum(sizes)))
    draws = draw(st.integers(1, 18))
    if ties:
        mass = random.integers(0, 4, (draws, start[-1])).astype(float)
        rest = random.integers(0, 4, (draws, items)).astype(float)
        scores = random.integers(0, 4, (items, classes)) + 0.25
    else:
        mass = random.standard_gamma(1.0, (draws, start[-1]))
        rest = random.standard_gamma(1.0, (draws, items))
        scores = random.standard_gamma(1.0, (items, classes))
    rest[:, sizes == classes] = 0
    total = np.add.reduceat(mass, start[:-1], axis=1) + rest
    mass += np.repeat(total == 0, sizes, axis=1)
    total = np.add.reduceat(mass, start[:-1], axis=1) + rest
    truth = Plausibilities(
        items=names(items), classes=names(classes, "class"), start=start,
        label=np.concatenate([random.permutation(classes)[:size] for size in sizes]),
        mass=mass / np.repeat(total, sizes, axis=1), rest=rest / total, method="x",
        rest_shape=draw(st.sampled_from([None, 0.1, 2.0])), split_seed=draw(st.integers(0, 99)),
    )  # fmt: skip
    return truth, scores / scores.sum(axis=1, keepdims=True)


def met(metric, truth, scores):
    return metric.score_draws(metric.prepare(scores), truth)


def test_every_metric_of_draws_is_under_these_laws():
    known = {name for name, make in CATALOGUE.items() if make().labels == "draws"}
    assert known <= {name.split(":")[0] for name in NAMES}


@few
@given(world=worlds())
@of_all
def test_stays_within_its_bounds(metric, world):
    value = met(metric, *world).value
    low, high = metric.bounds
    assert value.shape == (len(world[0].items), world[0].draws)
    assert (np.isnan(value) | ((value >= low - 1e-12) & (value <= high + 1e-12))).all()


@few
@given(world=worlds())
@of_all
def test_leaves_its_inputs_alone(metric, world):
    truth, scores = world
    before = scores.copy(), truth.mass.copy(), truth.rest.copy()
    met(metric, truth, scores)
    for part, copy in zip((scores, truth.mass, truth.rest), before, strict=True):
        assert_array_equal(part, copy)


@few
@given(world=worlds(), order=SHUFFLES)
@of_all
def test_the_order_of_classes_does_not_matter(metric, world, order):
    truth, scores = world
    moved = order.permutation(len(truth.classes))
    back = np.argsort(moved)
    other = replace(
        truth, classes=tuple(truth.classes[c] for c in moved), label=back[truth.label]
    )
    assert_allclose(met(metric, other, scores[:, moved]).value,
                    met(metric, truth, scores).value, **CLOSE)  # fmt: skip


@few
@given(world=worlds(), order=SHUFFLES)
@of_all
def test_ignores_the_order_of_items_where_the_split_is_even(metric, world, order):
    truth, scores = replace(world[0], rest_shape=None), world[1]
    rows = order.permutation(len(truth.items))
    moved = met(metric, truth.subset(rows), scores[rows]).value
    assert_allclose(moved, met(metric, truth, scores).value[rows], **CLOSE)


@few
@given(world=worlds(), seed=st.integers(0, 999))
@of_all
def test_counts_equal_expanded_tables(metric, world, seed):
    random = np.random.default_rng(seed)
    table = met(metric, *world)
    items, draws = table.value.shape
    counts = random.integers(0, 3, (items, 5)).astype(np.uint8)
    numbers = random.integers(0, draws, 5)
    for chosen in (None, numbers):
        found = metric.finish(metric.reduce(table, Block((), counts, chosen)))
        for r in range(5):
            rows = np.repeat(np.arange(items), counts[:, r])
            some = table.value[rows] if chosen is None else table.value[rows][:, [numbers[r]]]
            wanted = np.nan if np.isnan(some).all() else np.nanmean(some)
            assert_allclose(found[r], wanted, **CLOSE)


@few
@given(world=worlds())
def test_top_k_accuracy_rises_to_one(world):
    truth, scores = world
    values = [
        item_scores(f"topk_accuracy:k={k + 1}", truth, scores)
        for k in range(len(truth.classes))
    ]
    assert (np.diff(values, axis=0) >= -1e-12).all()
    assert_allclose(values[-1], 1.0, **CLOSE)


@few
@given(world=worlds())
def test_sets_of_one_and_of_all(world):
    truth, scores = world
    first = item_scores("topk_accuracy:k=1", truth, scores)
    assert_allclose(item_scores("overlap:k=1", truth, scores), first, **CLOSE)
    assert_allclose(item_scores("set_accuracy:k=1", truth, scores), first, **CLOSE)
    every_class = len(truth.classes)
    assert_allclose(item_scores(f"overlap:k={every_class}", truth, scores), 1.0, **CLOSE)
    assert_allclose(item_scores(f"set_accuracy:k={every_class}", truth, scores), 1.0, **CLOSE)


@few
@given(world=worlds())
def test_equal_sets_are_rarer_than_overlap(world):
    truth, scores = world
    for k in range(1, len(truth.classes) + 1):
        same = item_scores(f"set_accuracy:k={k}", truth, scores)
        assert (same <= item_scores(f"overlap:k={k}", truth, scores) + 1e-12).all()


@few
@given(world=worlds())
def test_the_chances_of_all_sets_add_up_to_one(world):
    from itertools import combinations

    truth = world[0]
    classes = len(truth.classes)
    total = 0
    for chosen in combinations(range(classes), 2):
        scores = np.zeros((len(truth.items), classes))
        scores[:, chosen] = 1
        total = total + item_scores("set_accuracy:k=2", truth, scores)
    assert_allclose(total, 1.0, **CLOSE)


@every
def test_facts_are_told(metric):
    assert named(metric.name).name == metric.name
    assert metric.definition and metric.title and metric.soft_title
    assert metric.needs == "probabilities" and metric.bounds[0] < metric.bounds[1]

"""Resampled experts and items of a threshold, and samples that do not depend on rows."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from equipoise.study.analyses.thresholds import (
    Rule,
    crossing,
    expert_threshold,
    rises,
    sampling_plan,
)
from equipoise.types import Annotations
from tests.strategies import names
from tests.study.test_stability_thresholds import experts, sample


@pytest.mark.parametrize("rule", ["rise", "isotonic"])
def test_resampled_experts_equal_a_loop(rule):
    """One item in every bin: only experts can be resampled."""
    random = np.random.default_rng(3)
    plan = sample(random.random(40), 40)
    cast = random.random((40, 3)) < plan.probability[:, None] ** 2
    done = expert_threshold(plan, experts(plan, cast), Rule(rule, replicates=400))
    possible = set()
    for panel in product(range(3), repeat=3):
        hard = (cast[:, list(panel)].mean(axis=1) > 0.5) * 1.0
        found = crossing(plan.probability, hard, np.ones(40), 0.5)
        if rule == "rise":
            found = rises(hard[np.argsort(plan.bin), None], plan.bin_mean, 0.1)[0]
        possible.add(str(round(float(found), 9)))
    assert {str(one) for one in np.round(done.replicates, 9)} == possible
    again = expert_threshold(plan, experts(plan, cast), Rule(rule, replicates=400))
    assert_array_equal(again.replicates, done.replicates)


def test_experts_and_items_are_resampled_and_items_alone_without_names():
    random = np.random.default_rng(3)
    plan = sample(random.random(200), 10)
    cast = random.random((200, 3)) < plan.probability[:, None] ** 2
    done = expert_threshold(plan, experts(plan, cast), Rule(replicates=200))
    nobody = expert_threshold(plan, experts(plan, cast).anonymous(), Rule(replicates=200))
    assert np.ptp(done.interval) > np.ptp(nobody.interval) > 0
    assert nobody.experts == 0 and done.experts == 3
    assert done.value == nobody.value
    assert done.report().note.endswith("resamples experts, and items within their bins.")


def test_people_who_saw_nothing_of_the_sample_are_no_part_of_the_panel():
    """Nine voters outside of the sample change neither interval nor notice."""
    random = np.random.default_rng(1)
    p = random.random(400)
    plan = sampling_plan(p, names(400), 10, 10)
    inside = [names(400).index(name) for name in plan.items]
    outside = [k for k in range(400) if k not in set(inside)][:45]
    cast = p[inside][:, None] + random.normal(0, 0.1, (100, 3)) > random.normal(0.6, 0.1, 3)

    def told(more):
        extra = outside if more else []
        return Annotations(
            kind="binary", items=names(400), classes=("no", "yes"),
            annotators=tuple(f"e{k}" for k in range(12)),
            item=np.r_[np.repeat(inside, 3), extra].astype(int),
            annotator=np.r_[np.tile([0, 1, 2], 100), 3 + np.arange(len(extra)) % 9].astype(int),
            label=np.r_[cast.ravel(), np.ones(len(extra))].astype(int),
        )  # fmt: skip

    only, more = (expert_threshold(plan, told(x), Rule(replicates=200)) for x in (False, True))
    assert only.interval == more.interval
    assert only.experts == more.experts == 3
    assert any("resamples 3 experts" in str(one) for one in more.notices)
    assert any("Left aside votes on 45 items" in str(one) for one in more.notices)
    assert_array_equal(only.replicates, more.replicates)
    assert not np.isnan(only.replicates).any()


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=6, max_size=60),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
def test_a_sample_does_not_depend_on_the_order_of_rows(values, bins, random):
    items = names(len(values))
    order = list(range(len(values)))
    random.shuffle(order)
    first = sampling_plan(values, items, bins, 2, 1)
    again = sampling_plan([values[k] for k in order], [items[k] for k in order], bins, 2, 1)
    assert first.items == again.items
    assert first.text() == again.text()
    assert_array_equal(first.bin_mean, again.bin_mean)


def test_ties_are_broken_by_chance():
    """Names that are drawn from a tie change with the seed, evenly over the names."""
    times = np.zeros(40)
    for seed in range(200):
        chosen = sampling_plan(np.full(40, 0.5), names(40), 4, 2, seed)
        times[[names(40).index(name) for name in chosen.items]] += 1
    assert times.sum() == 1600 and times.min() > 20 and times.max() < 60

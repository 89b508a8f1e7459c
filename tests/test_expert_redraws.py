"""Redrawn experts and items of a threshold, and samples that do not depend on rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from equipoise.analyses.thresholds import Rule, expert_threshold, rises, sampling_plan
from equipoise.annotations import Annotations
from tests.strategies import names
from tests.test_stability_thresholds import experts, sample


def test_redrawn_experts_equal_a_loop():
    random = np.random.default_rng(3)
    p = random.random(200)
    plan = sample(p, 10)
    cast = random.random((200, 3)) < plan.probability[:, None] ** 2
    votes = experts(plan, cast)
    alone = Rule(redraw="experts", replicates=400)
    done = expert_threshold(plan, votes, alone)
    possible = set()
    for a in range(3):
        for b in range(3):
            for c in range(3):
                hard = cast[:, [a, b, c]].mean(axis=1) > 0.5
                share = np.array([hard[plan.bin == k].mean() for k in range(10)])
                possible.add(round(rises(share[:, None], plan.bin_mean, 0.1)[0], 9))
    assert set(np.round(done.replicates, 9)) == possible
    low, high = done.interval
    assert low <= done.value <= high and 0 < done.stays < 1
    again = expert_threshold(plan, votes, alone)
    assert_array_equal(again.replicates, done.replicates)


def test_every_way_to_redraw_is_in_the_table_and_both_is_in_the_finding():
    random = np.random.default_rng(3)
    plan = sample(random.random(200), 10)
    cast = random.random((200, 3)) < plan.probability[:, None] ** 2
    done = expert_threshold(plan, experts(plan, cast), Rule(replicates=200))
    rows = done.intervals()
    assert [row["interval"] for row in rows] == [
        "over experts (as published)", "over items", "over experts and items",
    ]  # fmt: skip
    assert [row["in the finding"] for row in rows] == [False, False, True]
    assert done.interval == (rows[2]["low"], rows[2]["high"])
    assert done.finding.count("Experts, and items within their bins, were resampled") == 1
    for row, redraw in zip(rows, ("experts", "items", "experts x items"), strict=True):
        own = expert_threshold(plan, experts(plan, cast), Rule(redraw=redraw, replicates=200))
        assert (row["low"], row["high"]) == own.interval
        assert row["same threshold"] == own.stays
    wide = [row["high"] - row["low"] for row in rows]
    assert wide[2] > max(wide[0], wide[1])
    nobody = experts(plan, cast).anonymous()
    items = expert_threshold(plan, nobody, Rule(redraw="items", replicates=200))
    assert [row["interval"] for row in items.intervals()] == ["over items"]
    assert items.experts == 0 and done.experts == 3


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
    named = expert_threshold(plan, experts(plan, cast), Rule(replicates=200))
    assert only.interval == more.interval == named.interval
    assert only.experts == more.experts == 3
    assert any("resamples 3 experts" in str(one) for one in more.notices)
    assert any("Left aside votes on 45 items" in str(one) for one in more.notices)
    first = only.redrawn["experts"]
    assert_array_equal(first, more.redrawn["experts"])
    assert not np.isnan(first).any()


def test_experts_who_agree_leave_no_doubt_and_items_leave_some():
    random = np.random.default_rng(5)
    plan = sample(random.random(200), 10)
    one = random.random(200) < np.where(plan.probability > 0.6, 0.5, 0.03)
    votes = experts(plan, np.repeat(one[:, None], 3, axis=1))
    sure = expert_threshold(plan, votes, Rule(redraw="experts", replicates=100))
    assert sure.stays == 1 and sure.interval == (sure.value, sure.value)
    doubt = expert_threshold(plan, votes, Rule(redraw="experts x items", replicates=300))
    assert doubt.stays < 1 and doubt.value == sure.value
    assert "Experts, and items within their bins" in doubt.finding
    few = "resamples 3 experts: as a statement about other experts it is too narrow"
    assert any(few in str(one) for one in sure.notices)
    alone = expert_threshold(plan, votes, Rule(redraw="items", replicates=5))
    assert not any("too narrow" in str(one) for one in alone.notices)


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
    assert first.text(blind=True) == again.text(blind=True)
    assert_array_equal(first.bin_mean, again.bin_mean)


def test_ties_are_broken_by_chance():
    """Names that are drawn from a tie change with the seed, evenly over the names."""
    times = np.zeros(40)
    for seed in range(200):
        chosen = sampling_plan(np.full(40, 0.5), names(40), 4, 2, seed)
        times[[names(40).index(name) for name in chosen.items]] += 1
    assert times.sum() == 1600 and times.min() > 20 and times.max() < 60

"""Expert thresholds: the rule by hand, isotonic regression by hand, bad input."""

import csv
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from equipoise.inference.estimate import wilson
from equipoise.study.analyses.thresholds import (
    ExpertSample,
    Rule,
    crossing,
    expert_threshold,
    rises,
    sampling_plan,
)
from equipoise.types import InputError
from tests.oracles import bootstrap
from tests.strategies import names


def sample(probability, bins):
    """A sample that is all there is: as many items in every bin."""
    return sampling_plan(probability, names(len(probability)), bins, 10**6)


def experts(plan, matrix):
    """Votes (items, experts) on the items of a plan, in the order of the plan."""
    made = bootstrap.annotations(np.asarray(matrix, float))
    return type(made)(
        kind="binary", items=plan.items, classes=("no", "yes"), annotators=made.annotators,
        item=made.item, annotator=made.annotator, label=made.label,
    )  # fmt: skip


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=4, max_size=40),
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(0, 3),
)
def test_a_sample_is_stratified_by_quantiles(values, bins, per_bin, seed):
    items = names(len(values))
    plan = sampling_plan(values, items, bins, per_bin, seed)
    assert len(set(plan.items)) == len(plan.items)
    assert plan.bin_size.sum() == len(values)
    assert plan.bin_size.max() - plan.bin_size.min() <= 1
    assert_array_equal(
        np.bincount(plan.bin, minlength=bins), np.minimum(per_bin, plan.bin_size)
    )
    assert (np.diff(plan.bin_mean) >= -1e-12).all()
    for name, p in zip(plan.items, plan.probability, strict=True):
        assert values[items.index(name)] == p
    for low, high in zip(range(bins - 1), range(1, bins), strict=True):
        assert (
            plan.probability[plan.bin == low].max() <= plan.probability[plan.bin == high].min()
        )
    assert plan.items == sampling_plan(values, items, bins, per_bin, seed).items


def test_the_sample_of_the_paper_has_400_items_and_is_written_as_csv(tmp_path):
    values = np.random.default_rng(0).beta(0.3, 0.6, 5000)
    plan = sampling_plan(values, names(5000))
    assert len(plan.items) == 400 and len(plan.bin_mean) == 20
    assert "400 of 5,000 items" in plan.finding
    (tmp_path / "plan.csv").write_text(plan.text())
    with (tmp_path / "plan.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["item", "label"] and len(rows) == 400
    assert all(row["label"] == "" for row in rows)
    assert plan.items != sampling_plan(values, names(5000), seed=1).items


@pytest.mark.parametrize(
    ("shares", "margin", "bin_number"),
    [
        ([0, 0, 0, 0.2, 0.5, 1], 0.1, 3),
        ([0, 0.2, 0, 0.2, 0.5, 1], 0.1, 3),  # the rise at bin 1 does not last
        ([0, 0, 0, 0.1, 0.5, 1], 0.1, 4),  # must exceed by more than the margin
        ([0, 0, 0, 0.1, 0.5, 1], 0.0, 3),
        ([0.3, 0.3, 0.3, 0.3], 0.1, None),
        ([1, 1, 1], 0.1, None),
        ([0, 0, 0, 0.5, 0.05, 1], 0.1, 5),
        ([0, math.nan, 0.5, 1], 0.1, 2),  # a bin without labels is passed over
    ],
)
def test_the_rise_is_the_first_bin_that_exceeds_those_below_and_lasts(
    shares, margin, bin_number
):
    mean = np.arange(len(shares)) / 10
    found = rises(np.array(shares, float)[:, None], mean, margin)[0]
    assert math.isnan(found) if bin_number is None else found == mean[bin_number]


def test_isotonic_regression_by_hand():
    p = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    y = np.array([0.0, 1, 0, 1, 1, 1])  # pooled: 0, 1/2, 1/2, 1, 1, 1
    ones = np.ones(6)
    assert crossing(p, y, ones, 0.5) == 0.2
    assert crossing(p, y, ones, 0.6) == 0.4
    heavy = np.array([1.0, 1, 3, 1, 1, 1])  # pooled: 0, 1/4, 1/4, 1, 1, 1
    assert crossing(p, y, heavy, 0.5) == 0.4
    assert crossing(np.full(4, 0.3), np.array([1.0, 0, 1, 0]), np.ones(4), 0.5) == 0.3
    assert math.isnan(crossing(p, np.zeros(6), ones, 0.5))
    assert math.isnan(crossing(p, y, np.zeros(6), 0.5))


def test_experts_set_the_threshold_where_positives_start():
    plan = sample(np.linspace(0, 1, 100), 10)
    yes = plan.bin >= 7
    votes = experts(plan, np.stack([yes, yes, np.zeros(100)], axis=1))
    done = expert_threshold(plan, votes)
    assert done.rule.name == "isotonic" and done.value == plan.probability[yes].min()
    assert [row["positives"] for row in done.rows()] == [0] * 7 + [10] * 3
    low, high = done.interval
    assert math.isnan(low) and math.isnan(high)  # a panel with the third twice sets none
    assert any("no threshold is set" in str(one) for one in done.notices)
    assert "Experts call an item positive from a probability of 0.7" in done.finding
    assert "too many replicates set none for an interval" in done.finding
    assert not any("By the rule rise" in str(one) for one in done.notices)
    rise = expert_threshold(plan, votes, Rule("rise"))
    assert rise.value == pytest.approx(plan.bin_mean[7])
    assert any("By the rule rise" in str(one) for one in rise.notices)


def test_two_of_three_experts_decide_and_a_tie_counts_as_half():
    plan = sample(np.array([0.1, 0.2, 0.8, 0.9]), 4)
    nan = math.nan
    votes = experts(plan, [[0, 0, 0], [1, 0, nan], [1, 1, 0], [1, 1, 1]])
    done = expert_threshold(plan, votes, Rule(replicates=5))
    assert_array_equal(done.bin_positives, [0, 0.5, 1, 1])
    assert done.value == 0.2  # where half of the items are positive
    assert expert_threshold(plan, votes, Rule(share=0.6, replicates=5)).value == 0.8
    (tied,) = [str(one) for one in done.notices if one.code == "tied_experts"]
    assert tied.startswith("1 of the items have as many votes for as against")


def test_what_experts_cannot_say():
    plan = sample(np.linspace(0, 1, 20), 4)
    none = expert_threshold(plan, experts(plan, np.zeros((20, 3))), Rule("rise"))
    assert math.isnan(none.value) and "set no threshold" in none.finding
    never = expert_threshold(plan, experts(plan, np.zeros((20, 3))))
    assert "never reaches 0.5" in never.finding
    half = ExpertSample(plan.items[:10], plan.bin[:10], plan.probability[:10], plan.bin_mean,
                        plan.bin_size)  # fmt: skip
    some = expert_threshold(half, experts(plan, np.ones((20, 3))))
    assert any("outside the sample" in str(one) for one in some.notices)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sampling_plan([0.1, 1.2], ["a", "b"], 1), "item 'b': 1.2"),
        (lambda: sampling_plan([0.1, math.nan], ["a", "b"], 1), "finite number"),
        (lambda: sampling_plan([0.1], ["a", "b"], 1), "one probability per item"),
        (lambda: sampling_plan(["x"], ["a"], 1), "not numbers"),
        (lambda: sampling_plan([0.1, 0.2], ["a", "a"], 1), "more than once"),
        (lambda: sampling_plan([0.1, 0.2], ["a", "b"]), "no more bins than items"),
        (lambda: Rule("rises"), "did you mean 'rise'?"),
        (lambda: sampling_plan([0.1, 0.2], ["a", "b"], 3.5), "bins: 3.5"),
        (lambda: sampling_plan([0.1, 0.2], ["a", "b"], bins=True), "bins: True"),
        (lambda: sampling_plan([0.1, 0.2], ["a", "b"], 1, 2.5), "per_bin: 2.5"),
        (lambda: sampling_plan([0.1, 0.2], ["a", "b"], 1, 1, -1), "seed: -1"),
        (lambda: Rule(margin=2), "margin: 2, expected a number between 0 and 1"),
        (lambda: Rule(margin="a"), "margin: 'a'"),
        (lambda: Rule(share=math.nan), "share: nan"),
        (lambda: Rule(level=1), "level: 1"),
        (lambda: Rule(seed=-1), "seed: -1"),
        (lambda: Rule(replicates=0), "replicates: 0"),
        (lambda: Rule(replicates=10.5), "replicates: 10.5"),
        (lambda: sampling_plan([0.1], 3, 1), "items: 3 (int)"),
        (lambda: sampling_plan([0.1], [1], 1), "items: [1] (list)"),
        (lambda: expert_threshold(3, None), "sample: 3 (int)"),
        (lambda: expert_threshold(sampling_plan([0.1], ["a"], 1), "v.csv"), "'v.csv' (str)"),
        (
            lambda: expert_threshold(sampling_plan([0.1], ["a"], 1), None, "rise"),
            "rule: 'rise'",
        ),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+") as refused:
        call()
    assert words in str(refused.value)


def test_bad_votes_are_refused():
    plan = sample(np.linspace(0, 1, 20), 4)
    votes = experts(plan, np.ones((20, 3)))
    other = sampling_plan([0.1], ["other"], 1)
    with pytest.raises(InputError, match="no item of the sample"):
        expert_threshold(other, votes)
    for alone in (votes.anonymous(), experts(plan, np.ones((20, 1)))):
        done = expert_threshold(plan, alone, Rule(replicates=20))
        assert any("resamples items alone" in str(one) for one in done.notices)
        assert done.report().note.endswith("interval resamples items within their bins.")


def test_a_sample_says_what_is_short_and_what_is_tied():
    plan = sampling_plan([0.1, 0.2, 0.2, 0.2, 0.3, 0.9], names(6), 3, 2)
    assert [str(one) for one in plan.notices] == [
        "1 of 2 cuts between bins go through items of equal probability; a random draw decides "
        "which of them lie on which side, and bins of one probability cannot be told apart by "
        "it."
    ]
    short = sampling_plan(np.arange(5) / 10, names(5), 2, 3)
    assert "1 of 2 bins have fewer than 3 items; all of theirs" in str(short.notices[0])
    assert [row["sampled"] for row in short.bin_rows()] == [3, 2]
    assert sampling_plan(np.arange(6) / 10, names(6), 2, 3).notices == ()
    lines = short.text().splitlines()
    assert lines[0] == "item,label"
    assert sorted(lines[1:]) == sorted(f"{name}," for name in short.items)


def test_shares_of_bins_have_wilson_intervals():
    plan = sample(np.linspace(0, 1, 40), 4)
    yes = (plan.bin >= 2) | (np.arange(40) == 12)
    votes = experts(plan, np.stack([yes, yes, yes], axis=1))
    rising = expert_threshold(plan, votes, Rule("rise", replicates=3))
    row = rising.rows()[1]
    assert (row["low"], row["high"]) == wilson(1, 10)


def test_a_threshold_that_resamples_do_not_bear_out_is_called_so():
    plan = sample(np.linspace(0, 1, 100), 10)
    clear = np.stack([plan.bin >= 5] * 3, axis=1)
    sure = expert_threshold(plan, experts(plan, clear), Rule(replicates=200))
    assert sure.interval[0] <= sure.value <= sure.interval[1]
    assert "no threshold" not in " ".join(map(str, sure.notices))
    fixed = replace(sure, replicates=sure.replicates * 0 + sure.value)
    assert fixed.finding.endswith("].")
    edge = replace(sure, replicates=sure.value + np.linspace(0.01, 0.1, 50))
    assert edge.finding.endswith("at the lower end of its interval and is not well determined.")

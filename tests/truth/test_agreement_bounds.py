"""Limits of agreement: ranges, large ratings, streams, levels that values do not have."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise import Annotations, InputError, read_annotations, resample
from equipoise.scale import disk
from equipoise.truth.agreement import (
    cohen_kappa,
    cohen_kappa_pairs,
    fleiss_kappa,
    krippendorff_alpha,
    krippendorff_alpha_of_moments,
    percent_agreement,
)
from equipoise.truth.agreement.coefficients import mean_kappa, shares
from equipoise.truth.ratings import moments_of
from tests.truth.test_agreement import LEVELS, ratings, table


@pytest.mark.parametrize("level", LEVELS)
@given(data=ratings())
@settings(max_examples=60, deadline=None)
def test_alpha_and_kappa_stay_between_minus_one_and_one(level, data):
    if not (~np.isnan(data)).any():
        return
    votes = table(data, classes=[1.0, 2.0, 3.0, 4.0])
    plan = resample(votes, "items", replicates=20)
    found = krippendorff_alpha(votes, level=level, plan=plan)
    for weights in ("none", "linear", "quadratic"):
        kappa = cohen_kappa_pairs(votes, weights=weights).kappa
        assert not (np.abs(kappa) > 1 + 1e-9).any()
    every = np.append(found.replicates, found.value)
    assert not (np.abs(every) > 1 + 1e-9).any()


def test_alpha_comes_near_minus_one_and_not_below():
    votes = table([[1] * 200, [2] * 200])
    assert krippendorff_alpha(votes, level="nominal").value == pytest.approx(-1 + 1 / 200)


def test_fleiss_with_unequal_votes_has_no_lower_end_and_its_interval_is_not_cut():
    counts = np.array([[1000, 0]] + [[1, 1]] * 10)
    item, label = np.nonzero(counts)
    votes = Annotations(
        kind="binary",
        items=tuple(map(str, range(11))),
        classes=("x", "y"),
        item=item,
        label=label,
        count=counts[item, label],
    )
    found = fleiss_kappa(votes)
    share = np.array([1010, 10]) / 1020
    chance = (share**2).sum()
    assert found.value == pytest.approx((1 / 11 - chance) / (1 - chance))
    assert found.value < -40
    assert found.interval()[0] < -1


def test_ratings_around_a_million_lose_nothing():
    data = np.array([[1, 2, 3, 3, 2], [1, 2, 3, 1, 2], [2, 2, 3, 3, 1]], float)
    small = krippendorff_alpha(table(data, "interval"))
    large = krippendorff_alpha(table(1e6 + data / 1000, "interval"))
    assert large.value == pytest.approx(small.value, abs=1e-5)
    scaled = krippendorff_alpha(table(1e9 + data, "interval"))
    assert scaled.value == pytest.approx(small.value, abs=1e-12)
    same = krippendorff_alpha(table(np.full((3, 4), 1e6 + 0.1), "interval"))
    assert np.isnan(same.value) and np.isnan(same.replicates).all()


def test_ratings_on_disk_have_the_alpha_of_the_whole(tmp_path):
    random = np.random.default_rng(0)
    lines = ["item,annotator,label"]
    for i in range(60):
        grade = np.clip(i % 5 + random.integers(-1, 2, random.integers(1, 5)), 0, 4)
        lines += [f"i{i},a{a},{one}" for a, one in enumerate(grade)]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(lines) + "\n")
    whole = read_annotations(path)
    moments = disk.rating_moments(disk.repartition(path, tmp_path / "cut", 3))
    expected = krippendorff_alpha(whole, level="interval", plan=resample(whole, "items"))
    found = krippendorff_alpha_of_moments(moments, replicates=2000)
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    assert found.replicates == pytest.approx(expected.replicates, abs=1e-9)


def moments(path):
    return moments_of(read_annotations(path, kind="interval"), "")


def test_moments_refuse_weights_and_are_undefined_for_single_ratings(tmp_path):
    path = tmp_path / "rated.csv"
    path.write_text("item,annotator,label,weight\na,x,1,0.5\na,y,2,1\nb,x,1,1\nb,y,3,1\n")
    with pytest.raises(InputError, match=r"item 'a'.*whole ratings"):
        krippendorff_alpha_of_moments(moments(path))
    path.write_text("item,annotator,label\na,x,1\nb,x,1\n")
    assert np.isnan(krippendorff_alpha_of_moments(moments(path)).value)


def named(names, labels, kind="nominal"):
    data = np.array(labels)
    who, item = (grid.ravel() for grid in np.indices(data.shape))
    return Annotations(
        kind=kind, classes=names, items=tuple(f"i{i}" for i in range(data.shape[1])),
        annotators=tuple(f"a{a}" for a in range(len(data))),
        item=item, annotator=who, label=data.ravel(),
    )  # fmt: skip


def test_names_without_an_order_have_no_ordinal_alpha():
    labels = [[0, 1, 2, 2], [0, 2, 2, 1]]
    votes = named(("mild", "none", "severe"), labels)
    for level in ("ordinal", "interval", "ratio"):
        with pytest.raises(InputError, match=f"level {level}.*names"):
            krippendorff_alpha(votes, level=level)
    graded = named(("none", "mild", "severe"), labels, "ordinal")
    assert np.isfinite(krippendorff_alpha(graded).value)
    with pytest.raises(InputError, match="choose nominal or ordinal"):
        krippendorff_alpha(graded, level="interval")


def test_numbers_are_ordered_by_size_however_they_are_listed():
    labels = [[0, 1, 2, 2, 1], [0, 2, 2, 1, 1]]
    listed, sorted_ = named(("3", "1", "2"), labels), named(("1", "2", "3"), [
        [2, 0, 1, 1, 0], [2, 1, 1, 0, 0]])  # fmt: skip
    for level in LEVELS:
        found = [krippendorff_alpha(one, level=level).value for one in (listed, sorted_)]
        assert found[0] == pytest.approx(found[1], abs=1e-12)


@given(data=ratings(), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_names_of_items_annotators_and_classes_do_not_matter(data, seed):
    if not (~np.isnan(data)).any():
        return
    random = np.random.default_rng(seed)
    turned = random.permutation(4)
    shuffled = data[random.permutation(len(data))][:, random.permutation(data.shape[1])]
    renamed = np.where(
        np.isnan(shuffled), np.nan, 1.0 + turned[np.nan_to_num(shuffled, nan=1).astype(int) - 1]
    )
    grades = [1.0, 2.0, 3.0, 4.0]
    one, two, three = (table(d, classes=grades) for d in (data, shuffled, renamed))
    same = {"nan_ok": True, "abs": 1e-9}
    for level in LEVELS:
        value = krippendorff_alpha(one, level=level).value
        assert krippendorff_alpha(two, level=level).value == pytest.approx(value, **same)
    nominal = krippendorff_alpha(one, level="nominal").value
    assert krippendorff_alpha(three, level="nominal").value == pytest.approx(nominal, **same)
    for measure in (fleiss_kappa, percent_agreement):
        value = measure(one).value
        assert measure(two).value == pytest.approx(value, **same)
        assert measure(three).value == pytest.approx(value, **same)


def test_a_single_item_or_group_has_no_interval():
    one = table([[1, 2], [2, np.nan]])
    found = krippendorff_alpha(one, level="nominal")
    assert found.value == pytest.approx(0.0)
    assert np.isnan(found.interval()).all()


def test_groups_are_redrawn_as_wholes():
    votes = table([[1, 1, 2, 2, 1, 2], [1, 2, 2, 2, 1, 1]])
    pairs = replace(votes, groups=("p", "q", "r"), group=np.array([0, 0, 1, 1, 2, 2]))
    plan = resample(pairs, "items", replicates=15, seed=1)
    found = krippendorff_alpha(pairs, level="nominal", plan=plan)
    for r in range(15):
        times = plan.item_counts(r, r + 1)[:, 0]
        assert (times[::2] == times[1::2]).all()
        drawn = np.repeat(np.arange(6), times.astype(int))
        data = np.array([[1, 1, 2, 2, 1, 2], [1, 2, 2, 2, 1, 1]], float)[:, drawn]
        expected = krippendorff_alpha(table(data), level="nominal").value
        assert found.replicates[r] == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_gold_rows_and_weights_play_no_part():
    votes = table([[1, 1, 2, 2], [1, 2, 2, 2], [2, 2, 1, 1]])
    gold = replace(votes, is_gold=votes.annotator == 2, weight=np.linspace(0.1, 2, len(votes)))
    two = table([[1, 1, 2, 2], [1, 2, 2, 2]])
    assert krippendorff_alpha(gold).value == pytest.approx(krippendorff_alpha(two).value)
    assert cohen_kappa_pairs(gold).kappa[0, 1] == cohen_kappa_pairs(two).kappa[0, 1]
    with pytest.raises(InputError, match="no votes besides gold rows"):
        krippendorff_alpha(replace(votes, is_gold=np.ones(len(votes), dtype=bool)))


def test_repeated_votes_count_in_alpha_and_share_in_kappa():
    votes = Annotations(
        kind="binary", items=("a", "b"), classes=("no", "yes"), annotators=("x", "y"),
        item=np.array([0, 0, 0, 1, 1]), annotator=np.array([0, 0, 1, 0, 1]),
        label=np.array([0, 1, 1, 0, 0]),
    )  # fmt: skip
    counted = Annotations.from_counts(np.array([[1, 2], [2, 0]]))
    assert krippendorff_alpha(votes).value == pytest.approx(krippendorff_alpha(counted).value)
    seen, chance = 0.25, (0.75 * 0.5 + 0.25 * 0.5)
    assert cohen_kappa(votes, ("x", "y")).value == pytest.approx(1 - seen / chance)
    with pytest.raises(InputError, match="two annotators"):
        cohen_kappa(votes, ("x", "x"))


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
@given(data=ratings())
@settings(max_examples=25, deadline=None)
def test_the_mean_kappa_redraws_every_pair(weights, data):
    if not (~np.isnan(data)).any():
        return
    votes = table(data, classes=[1.0, 2.0, 3.0, 4.0])
    plan = resample(votes, "items", replicates=3, seed=5)
    found = mean_kappa(shares(votes), plan, weights)
    whole = cohen_kappa_pairs(votes, weights=weights)
    assert found.value == pytest.approx(whole.mean, nan_ok=True, abs=1e-9)
    for r in range(3):
        drawn = np.repeat(
            np.arange(data.shape[1]), plan.item_counts(r, r + 1)[:, 0].astype(int)
        )
        if np.isnan(data[:, drawn]).all() or np.isnan(found.replicates).all():
            continue
        again = table(data[:, drawn], classes=[1.0, 2.0, 3.0, 4.0])
        expected = cohen_kappa_pairs(again, weights=weights).mean
        assert found.replicates[r] == pytest.approx(expected, nan_ok=True, abs=1e-9)

"""Agreement coefficients against golden values, peers and slow twins."""

import json
import os
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import cohen_kappa_score

from equipoise import Annotations, InputError, read_annotations, resample
from equipoise.truth.agreement import (
    cohen_kappa,
    cohen_kappa_pairs,
    fleiss_kappa,
    krippendorff_alpha,
    krippendorff_words,
    landis_koch,
    percent_agreement,
)
from equipoise.truth.agreement.coefficients import mean_kappa, shares

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/agreement.json").read_text())
ALPHA = [(n, d) for n, d in GOLDEN["krippendorff_alpha"].items() if "layout" in d]
LEVELS = ("nominal", "ordinal", "interval", "ratio")


def table(data, kind="ordinal", classes=None):
    """Annotations from raters x units with gaps."""
    data = np.array(data, float)
    who, item = np.nonzero(~np.isnan(data))
    value = data[who, item]
    names = sorted(set(value)) if classes is None else classes
    common = {
        "items": tuple(f"i{i}" for i in range(data.shape[1])),
        "annotators": tuple(f"a{a}" for a in range(len(data))),
        "item": item,
        "annotator": who,
    }
    if kind == "interval":
        return Annotations(kind=kind, value=value, **common)
    code = np.array([names.index(v) for v in value])
    return Annotations(kind=kind, classes=tuple(f"{v:g}" for v in names), label=code, **common)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("data", [d for _, d in ALPHA], ids=[name for name, _ in ALPHA])
def test_alpha_equals_the_golden_values(data, level):
    for kind in ("ordinal", "interval"):
        found = krippendorff_alpha(table(data["data"], kind), level=level)
        assert found.value == pytest.approx(data[level], abs=1e-9)


def test_an_unused_grade_changes_nothing_in_ordinal_alpha():
    data = GOLDEN["krippendorff_alpha"]["grades_0_3_gap"]
    votes = table(data["data"], classes=[0.0, 1.0, 2.0, 3.0])
    assert krippendorff_alpha(votes).value == pytest.approx(data["ordinal"], abs=1e-9)


def test_alpha_without_variation_is_undefined():
    assert np.isnan(krippendorff_alpha(table([[1, 1, 1], [1, 1, 1]], "interval")).value)
    assert np.isnan(krippendorff_alpha(table([[1, 1, 1], [1, 1, 1]])).value)


@st.composite
def ratings(draw):
    raters, units = draw(st.integers(2, 4)), draw(st.integers(2, 7))
    cell = st.one_of(st.none(), st.integers(1, 4))
    flat = draw(st.lists(cell, min_size=raters * units, max_size=raters * units))
    return np.array([np.nan if v is None else v for v in flat], float).reshape(raters, units)


@pytest.mark.parametrize("level", LEVELS)
@given(data=ratings())
@settings(max_examples=40, deadline=None)
def test_alpha_equals_the_krippendorff_package(level, data):
    pairable = data[:, (~np.isnan(data)).sum(axis=0) > 1]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        return
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement=level)
    found = krippendorff_alpha(table(data), level=level).value
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_a_replicate_equals_alpha_of_the_items_drawn(level):
    data = np.array(GOLDEN["krippendorff_alpha"]["wiki_3x15"]["data"], float)
    votes = table(data)
    plan = resample(votes, "items", replicates=12, seed=3)
    found = krippendorff_alpha(votes, level=level, plan=plan)
    for r in range(12):
        columns = np.repeat(np.arange(15), plan.item_counts(r, r + 1)[:, 0].astype(int))
        expected = krippendorff.alpha(
            reliability_data=data[:, columns], level_of_measurement=level
        )
        assert found.replicates[r] == pytest.approx(expected, abs=1e-9)


def test_cohen_equals_golden_and_scikit_learn():
    golden = GOLDEN["cohen_kappa"]["ordinal_20x4"]
    pair = [golden["rater1"], golden["rater2"]]
    votes = table(pair)
    for ours, theirs in (("none", "None"), ("linear", "linear"), ("quadratic", "quadratic")):
        found = cohen_kappa(votes, ("a0", "a1"), weights=ours)
        assert found.value == pytest.approx(golden[theirs]["kappa"], abs=1e-9)
        matrix = cohen_kappa_pairs(votes, weights=ours)
        assert matrix.kappa[0, 1] == pytest.approx(golden[theirs]["kappa"], abs=1e-9)
    low, high = cohen_kappa(votes, ("a0", "a1")).interval()
    assert low < golden["None"]["kappa"] < high
    trap = GOLDEN["cohen_kappa"]["unused_level"]
    given_order = table([trap["rater1"], trap["rater2"]], classes=[0, 1, 2, 3])
    found = cohen_kappa(given_order, ("a0", "a1"), weights="quadratic").value
    assert found == pytest.approx(trap["quadratic_with_labels"], abs=1e-9)


def test_the_mean_kappa_weighs_pairs_by_the_items_they_share():
    random = np.random.default_rng(2)
    said = random.integers(1, 4, (4, 60)).astype(float)
    said[1] = np.where(random.random(60) < 0.8, said[0], said[1])  # one pair agrees, on many
    said[2, 12:], said[3, 30:] = np.nan, np.nan
    votes = table(said)
    kappa, size = [], []
    for a in range(4):
        for b in range(a):
            both = ~np.isnan(said[a]) & ~np.isnan(said[b])
            kappa.append(cohen_kappa_score(said[a][both], said[b][both]))
            size.append(both.sum())
    wanted = np.average(kappa, weights=size)
    assert wanted != pytest.approx(np.mean(kappa), abs=0.02)
    assert cohen_kappa_pairs(votes).mean == pytest.approx(wanted)
    plan = resample(votes, "items", replicates=10)
    assert mean_kappa(shares(votes), plan, "none").value == pytest.approx(wanted)


def test_a_pair_is_compared_on_the_items_that_both_rated():
    one, two = [1, 2, 2, 1, np.nan, 2, 1, 2], [1, 2, 1, 1, 2, np.nan, np.nan, 2]
    votes = table(np.array([one, two, [1.0] * 8]))
    both = ~np.isnan(one) & ~np.isnan(two)
    wanted = cohen_kappa_score(np.array(one)[both], np.array(two)[both])
    found = cohen_kappa(votes, ("a0", "a1"), plan=resample(votes, "items", replicates=20))
    assert found.value == pytest.approx(wanted)
    assert cohen_kappa_pairs(votes).kappa[0, 1] == pytest.approx(wanted)


@given(data=ratings())
@settings(max_examples=40, deadline=None)
def test_all_pairs_equal_scikit_learn_one_by_one(data):
    votes = table(data, classes=[1.0, 2.0, 3.0, 4.0]) if (~np.isnan(data)).any() else None
    if votes is None:
        return
    found = cohen_kappa_pairs(votes, weights="linear")
    for a in range(len(data)):
        for b in range(a):
            both = ~np.isnan(data[a]) & ~np.isnan(data[b])
            assert found.items[a, b] == both.sum()
            one, two = data[a][both], data[b][both]
            if len(set(one) | set(two)) < 2:
                assert np.isnan(found.kappa[a, b])
                continue
            expected = cohen_kappa_score(one, two, weights="linear", labels=[1, 2, 3, 4])
            assert found.kappa[a, b] == pytest.approx(expected, abs=1e-9)
            assert found.kappa[b, a] == found.kappa[a, b]


@pytest.mark.parametrize(
    ("name", "key"),
    [("wiki_10x5", "fleiss"), ("unequal_raters", "fleiss_1971_with_per_item_n")],
)
def test_fleiss_equals_the_golden_values(name, key):
    golden = GOLDEN["fleiss_kappa"][name]
    counts = np.array(golden["table"])
    item, label = np.nonzero(counts)
    votes = Annotations(
        kind="nominal",
        items=tuple(f"i{i}" for i in range(len(counts))),
        classes=tuple("abcde"[: counts.shape[1]]),
        item=item,
        label=label,
        count=counts[item, label],
    )
    assert fleiss_kappa(votes).value == pytest.approx(golden[key], abs=1e-9)


def test_experts_of_the_golden_study():
    golden = GOLDEN["experts_loo"]
    votes = table(np.array(golden["experts_items_x_3"]).T, "nominal")
    alpha = krippendorff_alpha(votes).value
    assert alpha == pytest.approx(golden["krippendorff_nominal"], abs=1e-9)
    assert fleiss_kappa(votes).value == pytest.approx(golden["fleiss"], abs=1e-9)
    pairs = cohen_kappa_pairs(votes).kappa
    assert_allclose([pairs[0, 1], pairs[0, 2], pairs[1, 2]], 0.2, atol=1e-9)


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="needs EQUIPOISE_DATA")
@pytest.mark.parametrize(
    ("file", "level"),
    [
        ("snow_rte", "nominal"),
        ("bluebirds", "nominal"),
        ("sleep_dodh", "nominal"),
        ("lidc", "nominal"),
        ("lidc", "ordinal"),
        ("lidc", "interval"),
    ],
)
def test_alpha_of_real_files(file, level):
    expected = GOLDEN["real_alpha"][
        f"lidc malignancy {level}" if file == "lidc" else f"{file} {level}"
    ]
    path = Path(os.environ["EQUIPOISE_DATA"]) / "votes" / f"{file}.csv"
    found = krippendorff_alpha(read_annotations(path), level=level)
    assert found.value == pytest.approx(expected, abs=1e-7)
    low, high = found.interval()
    assert low < found.value < high


def test_percent_agreement_is_the_mean_over_items():
    votes = table([[1, 1, 2], [1, 2, 2], [1, 2, np.nan]])
    assert percent_agreement(votes).value == pytest.approx((1 + 1 / 3 + 1) / 3)


def test_single_votes_agree_with_nobody():
    votes = table([[1, 2, np.nan], [np.nan, np.nan, 1]])
    for found in (krippendorff_alpha(votes), fleiss_kappa(votes), percent_agreement(votes)):
        assert np.isnan(found.value)


def test_what_cannot_be_asked_is_refused():
    anonymous = table([[1, 2], [1, 1]]).anonymous()
    with pytest.raises(InputError, match="annotators with ids"):
        cohen_kappa_pairs(anonymous)
    with pytest.raises(InputError, match="did you mean"):
        cohen_kappa(table([[1, 2], [1, 1]]), ("a0", "a11"))
    with pytest.raises(InputError, match="level"):
        krippendorff_alpha(anonymous, level="ordered")
    with pytest.raises(InputError, match="true zero"):
        krippendorff_alpha(table([[-1, 2], [-1, 1]], "interval"), level="ratio")
    with pytest.raises(InputError, match="plan of items"):
        krippendorff_alpha(anonymous, plan=resample(anonymous, "votes"))


def test_words_stand_next_to_the_number():
    assert [landis_koch(v) for v in (-0.2, 0.0, 0.3, 0.5, 0.7, 0.9)] == [
        "poor", "slight", "fair", "moderate", "substantial", "almost perfect",
    ]  # fmt: skip
    assert "too low" in krippendorff_words(0.5) and "reliable" in krippendorff_words(0.8)

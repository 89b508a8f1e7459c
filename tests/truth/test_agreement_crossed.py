"""Agreement for annotators like these: values, derivatives, coverage, and what is fixed."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.inference.resampling import resample
from equipoise.truth.agreement import agreement_table
from equipoise.truth.agreement.coefficients import (
    collect,
    crossed_coefficient,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from equipoise.types import Annotations

SLOW = {"alpha": krippendorff_alpha, "fleiss": fleiss_kappa, "percent": percent_agreement}
ALPHA, PERCENT = 0.318, 0.691  # of annotators like those drawn here, from 20,000 items by 400


def drawn(seed, items, annotators, votes=None, cuts=(0.55,)):
    """Annotators with leanings and tastes of their own."""
    random = np.random.default_rng(seed)
    z, w = random.standard_normal((2, items))
    lean, taste = (
        0.5 * random.standard_normal(annotators),
        0.4 * random.standard_normal(annotators),
    )
    seen = z[:, None] + w[:, None] * taste + lean
    seen += 0.8 * random.standard_normal((items, annotators))
    order = random.random((items, annotators)).argsort(axis=1)
    item, who = np.nonzero(order < (votes or annotators))
    return Annotations(
        kind="binary" if len(cuts) == 1 else "ordinal",
        items=tuple(f"i{i:04}" for i in range(items)),
        classes=tuple("abcdef"[: len(cuts) + 1]),
        annotators=tuple(f"r{r}" for r in range(annotators)),
        item=item,
        annotator=who,
        label=np.searchsorted(cuts, seen[item, who]),
    )


def cell_of(annotations, measure, level="nominal"):
    return crossed_coefficient(
        collect(annotations), measure, level, resample(annotations, "items")
    )


@pytest.mark.parametrize("measure", SLOW)
def test_values_are_those_of_the_coefficients(measure):
    votes = drawn(0, 60, 7, 3)
    assert cell_of(votes, measure).values[0] == pytest.approx(SLOW[measure](votes).value)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_every_level(level):
    votes = drawn(1, 60, 5, 4, cuts=(-0.7, 0.3, 1.2))
    votes = replace(votes, classes=("1", "2", "3", "4"))
    value = krippendorff_alpha(votes, level=level).value
    assert cell_of(votes, "alpha", level).values[0] == pytest.approx(value)


@pytest.mark.parametrize("measure", SLOW)
def test_items_vary_it_as_resamples_say(measure):
    votes = drawn(2, 300, 6, 4, cuts=(1.5,))
    plan = resample(votes, "items", replicates=3000)
    error = SLOW[measure](votes, plan=plan).standard_error
    assert np.sqrt(cell_of(votes, measure).items[0, 0]) == pytest.approx(error, rel=0.08)


@pytest.mark.parametrize("measure", SLOW)
def test_annotators_vary_it_as_leaving_each_out_says(measure):
    """Bias and variance of the jackknife over annotators, whose noise holds the cells."""
    votes = drawn(3, 400, 12)
    values = [
        SLOW[measure](votes.rows(votes.annotator != r), plan=resample(votes, "items")).value
        for r in range(12)
    ]
    jackknife = 11 / 12 * np.sum((values - np.mean(values)) ** 2)
    assert_allclose(cell_of(votes, measure).annotators[0, 0], jackknife, rtol=0.25)


@pytest.mark.parametrize(("items", "annotators", "votes"), [(150, 5, None), (200, 12, 3)])
def test_alpha_is_covered_for_annotators_like_these(items, annotators, votes):
    covered, alone = [], []
    for seed in range(150):
        panel = drawn(100 + seed, items, annotators, votes)
        cell = cell_of(panel, "alpha")
        low, high = cell.of(0).interval(cell.values[0], 0.95, (-1.0, 1.0))
        covered.append(low <= ALPHA <= high)
        alone.append(abs(cell.values[0] - ALPHA) < 1.96 * cell.items[0, 0] ** 0.5)
    assert np.mean(covered) >= 0.91
    assert np.mean(covered) > np.mean(alone)


def test_items_alone_only_where_somebody_asks():
    panel = drawn(8, 150, 6)
    table = agreement_table(panel, replicates=200)
    alpha, fixed = table.coefficients[0], table.for_these_annotators().coefficients[0]
    assert alpha.whom == "items and annotators"
    assert fixed.whom == "items"
    assert alpha.high - alpha.low > 1.2 * (fixed.high - fixed.low)
    cohen = next(row for row in table.coefficients if row.measure == "cohen")
    assert cohen.whom == "items"


def test_two_annotators_stand_for_themselves():
    table = agreement_table(drawn(6, 100, 2), replicates=100)
    alpha = table.coefficients[0]
    assert alpha.whom == "items"
    assert (alpha.low, alpha.high) == alpha.alone


def test_groups_of_items_are_the_units():
    panel = drawn(7, 120, 6)
    groups = tuple(f"g{i}" for i in range(12))
    grouped = replace(panel, groups=groups, group=np.arange(120) % 12)
    assert (
        agreement_table(grouped, replicates=50).coefficients[0].whom == "groups and annotators"
    )

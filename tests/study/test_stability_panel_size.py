"""Panel size: coverage of the limit, separate panels by hand, and how many are enough."""

from dataclasses import replace
from itertools import combinations
from math import ceil

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2
from scipy.stats import t as student

from equipoise.inference.ranks import spearman
from equipoise.metrics import auroc
from equipoise.study.analyses import panels
from equipoise.study.analyses.panels import (
    correlation_ends,
    prophecy,
)
from equipoise.types.predictions import Predictions
from tests.analysed import panel_size
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(11)
ITEMS = 40
TRUTH = RANDOM.random(ITEMS) < 0.4
VOTES = np.where(RANDOM.random((ITEMS, 7)) < 0.75, TRUTH[:, None], ~TRUTH[:, None]).astype(
    float
)
SCORES = [TRUTH + RANDOM.normal(0, s, ITEMS) for s in (0.8, 0.9, 1.0, 1.1, 1.4)]


def models(scores=SCORES, items=ITEMS):
    return [Predictions(f"model-{m}", names(items), s) for m, s in enumerate(scores)]


def test_the_limit_of_endless_annotators_is_covered_as_often_as_said():
    """Four annotators of a large crowd: with a normal quantile only 85 % would be covered."""
    hits = []
    for seed in range(250):
        random = np.random.default_rng(seed)
        case = random.normal(0, 1, 60)
        skill, lean = np.exp(random.normal(0.5, 0.5, 1004)), random.normal(0, 0.5, 1004)
        chance = 1 / (1 + np.exp(-(skill * case[:, None] + lean)))
        votes = (random.random(chance.shape) < chance) * 1.0
        score = case + random.normal(0, 1, 60)
        known = auroc(votes[:, 4:].mean(axis=1), score)
        truth = bootstrap.annotations(votes[:, :4])
        done = panel_size(models([score], 60), truth, replicates=10)
        hits.append(done.limit_low[0] <= known <= done.limit_high[0])
    assert 0.92 <= np.mean(hits) <= 0.98


def test_endless_annotators_are_where_the_line_over_one_by_the_size_begins():
    """Least squares on 1/m of the means over all panels of m, by hand."""
    chance = [1 / (1 + np.exp(-score)) for score in SCORES]
    done = panel_size(
        models(chance), bootstrap.annotations(VOTES), metric="total_variation", replicates=100
    )
    by_size = []
    for size in range(2, 8):
        panels = combinations(range(7), size)
        shares = [VOTES[:, who].mean(axis=1) for who in panels]
        by_size.append([np.mean([np.abs(p - c).mean() for p in shares]) for c in chance])
    assert_allclose(done.mean, by_size, atol=1e-12)
    slope, limit = np.polyfit(1 / np.arange(2, 8), np.array(by_size), 1)
    assert_allclose(done.limit, limit, atol=1e-12)
    assert_allclose(done.slope, slope, atol=1e-12)
    assert (slope > 0.2).all()  # or no line could be told from another


def test_separate_panels_equal_a_loop_over_all_of_them():
    done = panel_size(models(), bootstrap.annotations(VOTES), replicates=100)
    for size, found in ((2, done.separate[0]), (3, done.separate[1])):
        every = {
            who: np.array([auroc(VOTES[:, who].mean(axis=1), score) for score in SCORES])
            for who in combinations(range(7), size)
        }
        near = [
            spearman(every[one], every[two])
            for one, two in combinations(every, 2)
            if not set(one) & set(two)
        ]
        assert_allclose(found, np.mean(near), atol=1e-12)
    assert np.isnan(done.separate[2:]).all()
    assert next(row["separate"] for row in done.rows()) == done.separate[0]


def test_drawn_panels_come_as_separate_ones():
    random = np.random.default_rng(0)
    votes = (random.random((30, 14)) < 0.5) * 1.0
    done = panel_size(models([*random.random((3, 30))], 30), bootstrap.annotations(votes),
                      replicates=21)  # fmt: skip
    assert_array_equal(done.subsets[:-1], np.minimum(21, done.subsets[:-1]))
    assert_array_equal(np.isnan(done.separate), done.sizes > 7)


def test_how_many_are_enough_is_answered_with_its_criterion():
    done = panel_size(models(), bootstrap.annotations(VOTES), replicates=100)
    assert done.enough_for_order == prophecy(3, float(done.separate[1]), 0.95)
    assert "Two separate panels of 3 annotators order the 5 models" in done.finding
    assert "if that is to be at least 0.95, about" in done.finding
    doubt = done.range_for_order
    assert doubt[0] < done.enough_for_order < doubt[1]
    assert (
        f"annotators ({doubt[0]} to {doubt[1]}) would be enough (extrapolated)." in done.finding
    )
    assert "order of all" not in done.finding
    one = panel_size(models()[:1], bootstrap.annotations(VOTES), replicates=100)
    assert np.isnan(one.separate).all()
    most = one.enough_for_width
    low, high = (ceil(most * 6 / chi2.ppf(tail, 6)) for tail in (0.975, 0.025))
    assert f"about {most} annotators ({low} to {high}) would be enough" in one.finding
    assert one.range_for_order is None
    assert "For a half-width of 0.02" in one.finding
    few = panel_size(models(), bootstrap.annotations(VOTES[:, :3]), replicates=100)
    assert "How many are enough cannot be told" in few.finding
    alike = panel_size(models([SCORES[0], SCORES[0]]), bootstrap.annotations(VOTES))
    assert alike.enough_for_order is None
    assert "How many are enough cannot be told" in alike.finding


def test_enough_in_numbers_and_words(monkeypatch):
    two = panel_size(models()[:2], bootstrap.annotations(VOTES[:, :4]), replicates=3)

    def seen(*separate, ends=(np.nan, np.nan), **more):
        ends = dict(zip(("separate_low", "separate_high"), ends, strict=True))
        return replace(two, separate=np.array([*separate, np.nan]), **ends, **more)

    assert_array_equal(two.sizes, [2, 3, 4])
    with monkeypatch.context() as patch:
        patch.setattr(panels, "CLOSE", 0.75)
        assert seen(0.7, 0.8).enough_for_order == 3
        patch.setattr(panels, "CLOSE", 0.9)
        assert seen(0.7, 0.8).enough_for_order == 7
    assert seen(0.96, 0.99).enough_for_order == 2
    assert seen(-0.2, -0.1).enough_for_order is None
    assert prophecy(4, 0.5, 0.95) == 76
    known = seen(0.96, 0.99).finding
    assert known.endswith("0.96; so many are enough, if that is to be at least 0.95.")
    near = seen(0.9, 0.9499).finding
    assert "0.94; if that is to be at least 0.95, about 4 annotators would" in near
    none = seen(-0.2, -0.1).finding
    assert none.endswith("of −0.10: how many are enough cannot be told.")
    wide = seen(0.7, 0.8, ends=(0.5, 0.9))
    assert wide.range_for_order == (7, 57)
    assert "about 15 annotators (7 to 57) would be enough (extrapolated)" in wide.finding
    assert seen(0.7, 0.8, ends=(-0.1, 0.9)).range_for_order == (7, None)
    open_end = seen(0.7, 0.8, ends=(-0.1, 0.999)).finding
    assert "about 15 annotators (2 or more) would be enough (extrapolated)" in open_end


def test_enough_for_the_width_of_one_model_in_words():
    one = panel_size(models()[:1], bootstrap.annotations(VOTES[:, :4]), replicates=3)

    def needs(number, degrees):
        times = student.ppf(0.975, degrees)
        variance = np.array([(number - 0.5) * (0.02 / times) ** 2])
        return replace(one, degrees=degrees, variance=variance).finding

    assert "3 annotators are enough" in needs(3, 7)
    assert "about 20 annotators (9 to 83) would be enough (extrapolated)" in needs(20, 7)
    low = f"{ceil(5000 * 7 / chi2.ppf(0.975, 7)):,}"
    assert f"more than 1,000 annotators ({low} or more) would be" in needs(5000, 7)


def test_the_range_of_how_many_are_enough_holds_the_truth(monkeypatch):
    """Panels of eight from one crowd: what two panels of m of it need is known by drawing."""
    random = np.random.default_rng(4)
    case = random.normal(0, 1, 60)
    given = [case + random.normal(0, noise, 60) for noise in (0.5, 0.8, 1.1, 1.5, 2.0)]

    def panel(size):
        lean = random.normal(0, 0.7, size)
        return (random.random((60, size)) < 1 / (1 + np.exp(-1.5 * case[:, None] - lean))) * 1.0

    def order(size):
        return np.array([auroc(panel(size).mean(axis=1), score) for score in given])

    near = {
        m: np.mean([spearman(order(m), order(m)) for _ in range(60)]) for m in (8, 12, 16, 24)
    }
    enough = next(m for m, rho in near.items() if rho >= 0.9)
    monkeypatch.setattr(panels, "CLOSE", 0.9)
    held, ends = [], []
    for seed in range(30):
        votes = bootstrap.annotations(panel(8))
        done = panel_size(models(given, 60), votes, replicates=20, seed=seed)
        doubt = done.range_for_order
        if doubt is None:
            continue
        low, high = doubt
        assert low <= done.enough_for_order
        held.append(low <= enough <= (high or np.inf))
        ends.append(high)
    assert len(held) > 5
    assert np.mean(held) >= 0.85
    assert any(high is not None for high in ends)


def test_ends_of_a_correlation_by_its_folds():
    folds = np.array([0.7, 0.8, 0.75])
    larger = 2 * folds / (1 + folds)
    spread = np.sqrt(2 / 3 * ((np.arctanh(larger) - np.arctanh(larger).mean()) ** 2).sum())
    expected = np.tanh(np.arctanh(0.85) + np.array([-2, 2]) * spread)
    assert_allclose(correlation_ends(0.85, folds, 2.0, 2.0), expected, atol=1e-12)
    assert correlation_ends(1.0, np.ones(4), 1.0, 2.0)[1] == 1
    for bad in (np.array([0.5]), np.array([0.5, np.nan])):
        assert np.isnan(correlation_ends(0.5, bad, 1.0, 2.0)).all()
    assert np.isnan(correlation_ends(np.nan, folds, 1.0, 2.0)).all()


def test_an_infinite_score_is_called_infinite_and_the_order_is_still_told():
    truth = bootstrap.annotations(VOTES)
    share = VOTES.mean(axis=1)
    given = models([share * 0.8 + 0.1, np.round(share), np.full(ITEMS, 0.5)])
    done = panel_size(given, truth, metric="log_score", replicates=20)
    assert np.isinf(done.mean[:, 1]).any()
    start = "Log score is infinite for model-1 with some of the panels: its half-width cannot"
    assert done.finding.startswith(f"{start} be told. Two separate panels of 2 ")
    assert "undefined" not in done.finding


def test_the_finding_has_sizes_charts_and_methods():
    done = panel_size(models(), bootstrap.annotations(VOTES), replicates=100)
    finding = done.report()
    (table,) = finding.tables
    assert finding.sentence == done.finding and str(table.rows) == str(done.rows())
    assert [row["size"] for row in table.brief] == done.sizes.tolist()
    assert_allclose([row["half_width"] for row in table.brief], done.half_width.max(axis=1))
    value, width = finding.charts
    assert [len(line.band) > 0 for line in value.lines] == [True, *[False] * 4]
    best = done.models.index(value.lines[0].model)
    assert done.mean[-1, best] == done.mean[-1].max()
    for size, height in value.lines[0].beyond:
        assert_allclose(height, (done.limit + done.slope / size)[best])
    for size, height in width.lines[0].beyond:
        assert_allclose(height, done.half_width[-1, best] * (7 / size) ** 0.5)
    assert "Spearman-Brown formula [@spearman1910; @brown1910]" in finding.methods
    assert finding.references == ("spearman1910", "brown1910", "efron1993")
    one = panel_size(models()[:1], bootstrap.annotations(VOTES), replicates=20).report()
    assert "Spearman" not in one.methods and one.references == ("efron1993",)
    assert "separate" not in {c.key for c in one.tables[0].columns}


def test_with_many_items_fewer_panels_are_drawn_and_that_is_said(monkeypatch):
    random = np.random.default_rng(2)
    truth = bootstrap.annotations((random.random((30, 12)) < 0.5) * 1.0)
    given = models([*random.random((2, 30))], 30)
    asked = panel_size(given, truth, replicates=40)
    assert asked.subsets.max() == 40 and not asked.notices
    monkeypatch.setattr(panels, "BUDGET", 1)
    few = panel_size(given, truth, replicates=40)
    assert few.subsets.max() == panels.FEWEST
    assert "12 panels of a size are drawn instead of 40" in str(few.notices[-1])
    assert_allclose(few.mean, asked.mean, atol=0.1)

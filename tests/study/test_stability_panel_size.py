"""Panel size: coverage of the limit, separate panels by hand, and how many are enough."""

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.inference.ranks import spearman
from equipoise.metrics import auroc
from equipoise.study.analyses import panels
from equipoise.types import Predictions
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
        hits.append(done.limit[1, 0] <= known <= done.limit[2, 0])
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
    assert_allclose(done.limit[0], limit, atol=1e-12)
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

    assert "Two separate panels of 3 annotators order the 5 models" in done.finding
    assert done.finding.endswith("; more are needed, if that is to be at least 0.95.")
    alone = panel_size(models()[:1], bootstrap.annotations(VOTES), replicates=100)
    assert np.isnan(alone.separate).all() and "panels" not in alone.finding
    few = panel_size(models(), bootstrap.annotations(VOTES[:, :3]), replicates=100)
    assert "How many are enough cannot be told" in few.finding
    alike = panel_size(models([SCORES[0], SCORES[0]]), bootstrap.annotations(VOTES))

    assert "How many are enough cannot be told" in alike.finding


def test_enough_in_numbers_and_words():
    two = panel_size(models()[:2], bootstrap.annotations(VOTES[:, :4]), replicates=3)
    assert_array_equal(two.sizes, [2, 3, 4])

    def seen(*separate):
        return replace(two, separate=np.array([*separate, np.nan]))

    assert "panels of 3 annotators" in seen(0.7, 0.95).finding
    assert seen(0.96, 0.99).finding.endswith(
        "panels of 2 annotators order the 2 models with a mean rank correlation of 0.96; so "
        "many are enough, if that is to be at least 0.95."
    )
    assert "of 0.94; more are needed, if that" in seen(0.9, 0.9499).finding
    assert "of −0.10; more are needed, if that" in seen(-0.2, -0.1).finding


def test_an_infinite_score_is_called_infinite_and_the_order_is_still_told():
    truth = bootstrap.annotations(VOTES)
    share = VOTES.mean(axis=1)
    given = models([share * 0.8 + 0.1, np.round(share), np.full(ITEMS, 0.5)])
    done = panel_size(given, truth, metric="log_score", replicates=20)
    assert np.isinf(done.mean[:, 1]).any()
    start = (
        "Log score is infinite for model-1 with some of the panels. Two separate panels of 2 "
    )
    assert done.finding.startswith(start)
    assert "undefined" not in done.finding


def test_the_finding_has_sizes_charts_and_methods():
    done = panel_size(models(), bootstrap.annotations(VOTES), replicates=100)
    finding = done.report()
    (table,) = finding.tables
    assert finding.sentence == done.finding and str(table.rows) == str(done.rows())
    assert [row["size"] for row in table.brief] == done.sizes.tolist()
    (value,) = finding.charts
    best = done.models.index(value.lines[0].model)
    assert done.mean[-1, best] == done.mean[-1].max()
    assert f"of {done.models[best]} is " in finding.sentence
    assert "by separate panels" in finding.methods and finding.references == ("efron1993",)
    one = panel_size(models()[:1], bootstrap.annotations(VOTES), replicates=20).report()
    assert "separate" not in one.methods and one.references == ("efron1993",)
    assert "separate" not in {c.key for c in one.tables[0].columns}


def test_with_many_items_fewer_panels_are_drawn_and_that_is_said(monkeypatch):
    random = np.random.default_rng(2)
    truth = bootstrap.annotations((random.random((30, 12)) < 0.5) * 1.0)
    given = models([*random.random((2, 30))], 30)
    asked = panel_size(given, truth, replicates=40)
    assert asked.subsets.max() == 40 and not asked.report().notices
    monkeypatch.setattr(panels, "BUDGET", 1)
    few = panel_size(given, truth, replicates=40)
    assert few.subsets.max() == panels.FEWEST
    assert "12 panels of a size are drawn instead of 40" in str(few.report().notices[-1])
    assert_allclose(few.mean, asked.mean, atol=0.1)

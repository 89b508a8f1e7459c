"""Panel size: coverage of the limit, separate panels by hand, and how many are enough."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.arrays import InputError
from equipoise.metrics import auroc
from equipoise.predictions import Predictions
from equipoise.ranks import spearman
from equipoise.stability._enough import fewest, order_words, prophecy, width_words
from equipoise.stability.panel_size import panel_size
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
    assert (done.separate[:2] < done.spearman[:2]).all()
    assert next(row["separate"] for row in done.rows()) == done.separate[0]


def test_drawn_panels_come_as_separate_ones():
    random = np.random.default_rng(0)
    votes = (random.random((30, 14)) < 0.5) * 1.0
    done = panel_size(models([*random.random((3, 30))], 30), bootstrap.annotations(votes),
                      replicates=21)  # fmt: skip
    assert_array_equal(done.subsets[:-1], np.minimum(21, done.subsets[:-1]))
    assert_array_equal(np.isnan(done.separate), done.sizes > 7)


def test_separate_panels_of_anonymous_votes():
    """Where everybody agrees so do all panels; else they agree as separate people do."""
    same = np.repeat(VOTES[:, :1], 6, axis=1)
    done = panel_size(models(), bootstrap.annotations(same).anonymous(), replicates=6)
    assert_array_equal(done.sizes, [2, 3, 4, 5, 6])
    assert_allclose(done.separate, [1, 1, np.nan, np.nan, np.nan], atol=1e-12)
    assert "of 2 votes per item" in done.finding
    truth = bootstrap.annotations(VOTES)
    named = panel_size(models(), truth, replicates=200)
    loose = panel_size(models(), truth.anonymous(), replicates=200)
    assert_allclose(loose.separate[:2], named.separate[:2], atol=0.12)
    thin = VOTES.copy()
    thin[:5, 1:] = np.nan
    done = panel_size(models(), bootstrap.annotations(thin).anonymous(), replicates=5)
    assert not np.isnan(done.separate[0])


def test_how_many_are_enough_is_answered_with_its_criterion():
    done = panel_size(models(), bootstrap.annotations(VOTES), replicates=100)
    assert done.enough_for_order() == prophecy(3, float(done.separate[1]), 0.95)
    assert "Two separate panels of 3 annotators order the 5 models" in done.finding
    assert "if that is to be at least 0.95, about" in done.finding
    assert "would be enough (extrapolated)." in done.finding
    assert "order of all" not in done.finding
    one = panel_size(models()[:1], bootstrap.annotations(VOTES), replicates=100)
    assert np.isnan(one.separate).all()
    assert f"about {one.enough_for_width(0.02)} annotators" in one.finding
    assert "For a half-width of 0.02" in one.finding
    few = panel_size(models(), bootstrap.annotations(VOTES[:, :3]), replicates=100)
    assert "How many are enough cannot be told" in few.finding
    alike = panel_size(models([SCORES[0], SCORES[0]]), bootstrap.annotations(VOTES))
    assert alike.enough_for_order() is None
    assert "How many are enough cannot be told" in alike.finding


def test_enough_in_numbers_and_words():
    sizes = np.array([2, 3, 4])
    assert fewest(sizes, np.array([0.96, 0.99, np.nan]), 0.95) == 2
    assert fewest(sizes, np.array([-0.2, -0.1, np.nan]), 0.95) is None
    assert prophecy(4, 0.5, 0.95) == 76
    seen = order_words(sizes, np.array([0.96, 0.99, np.nan]), 2, "annotators")
    assert seen.endswith("0.96; so many are enough, if that is to be at least 0.95.")
    near = order_words(sizes, np.array([0.9, 0.9499, np.nan]), 2, "annotators")
    assert "0.94; if that is to be at least 0.95, about 4 annotators would" in near
    none = order_words(sizes, np.array([-0.2, -0.1, np.nan]), 2, "votes per item")
    assert none.endswith("of -0.10: how many are enough cannot be told.")
    assert "more than 1,000 annotators would be enough" in width_words(5000, 4, "annotators")
    assert "3 annotators are enough" in width_words(3, 4, "annotators")


@pytest.mark.parametrize("wrong", ["2", 2.5, True, None, -1, 0, float("nan")])
def test_sizes_of_a_wrong_type_are_refused(wrong):
    done = panel_size(models(), bootstrap.annotations(VOTES[:, :4]), replicates=3)
    for call in (done.predicted, done.predicted_half_width):
        with pytest.raises(InputError, match=r"panel size: .*, expected a whole number"):
            call(wrong)


@pytest.mark.parametrize("wrong", ["x", None, True, float("nan"), 1.5, -2])
def test_correlations_of_a_wrong_type_are_refused(wrong):
    done = panel_size(models(), bootstrap.annotations(VOTES[:, :4]), replicates=3)
    with pytest.raises(
        InputError, match=r"correlation: .*, expected a number between -1 and 1"
    ):
        done.enough_for_order(wrong)
    if wrong != 1.5:
        with pytest.raises(InputError, match=r"half_width: .*, expected a number above 0"):
            done.enough_for_width(wrong)

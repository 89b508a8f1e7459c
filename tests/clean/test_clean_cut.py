"""The automatic cut, groups of duplicates and leakage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.stats import poisson

from equipoise.clean.collection import duplicate_groups, leakage
from equipoise.clean.cut import Cut, automatic_cut
from equipoise.types import InputError
from tests.oracles import cleaning


def planted(items, share, *, seed, family="logistic"):
    """Scores of clean items whose logits follow a law, and of problems far below."""
    random = np.random.default_rng(seed)
    problems = round(items * share)
    clean = {
        "logistic": lambda: random.logistic(1, 0.7, items - problems),
        "normal": lambda: random.normal(1, 1.2, items - problems),
        "log-gamma": lambda: 1 + np.log(random.gamma(2, 1, items - problems)),
    }[family]()
    logits = np.concatenate((random.normal(-6, 0.8, problems), clean))
    return 1 - 1 / (1 + np.exp(-logits))


@pytest.mark.parametrize(("alpha", "q"), [(0.01, 0.05), (0.1, 0.2)])
@pytest.mark.parametrize("seed", range(3))
def test_the_cut_follows_its_formula(alpha, q, seed):
    scores = planted(3_000, 0.002, seed=seed)
    cut = automatic_cut(scores, items=1_500, alpha=alpha, q=q)
    assert cut.threshold == pytest.approx(cleaning.cut(scores, 1_500, alpha, q), abs=1e-12)
    assert cut.flagged == (scores >= cut.threshold).sum() > 0


def test_the_law_goes_through_both_quantiles():
    scores = planted(5_000, 0, seed=0)
    cut = automatic_cut(scores, items=5_000)
    logits = np.log((1 - scores) / scores)
    for share in (0.01, math.sqrt(0.005)):
        expected = cut.location + cut.scale * math.log(share / (1 - share))
        assert np.quantile(logits, share) == pytest.approx(expected)


@given(st.integers(0, 400), st.integers(0, 400))
def test_exact_zeros_are_called_and_exact_ones_never_however_many(zeros, ones):
    """The surest cases keep their place, and do not move the cut of the others."""
    scores = planted(1_000, 0, seed=1)
    whole = np.concatenate((np.ones(zeros), scores, np.zeros(ones)))
    cut = automatic_cut(whole, items=len(whole))
    alone = automatic_cut(scores, items=len(scores))
    assert cut.threshold == alone.threshold < 1
    assert cut.flagged == alone.flagged + zeros


@pytest.mark.parametrize("scores", [[], [1.0], [1.0] * 30, [0.5] * 30, [0, 1, 0.3]])
def test_without_a_law_only_exact_zeros_are_called(scores):
    cut = automatic_cut(np.array(scores, float), items=max(1, len(scores)))
    assert (cut.threshold, cut.flagged) == (1.0, scores.count(1))
    assert math.isnan(cut.scale)


def test_candidate_pairs_are_cut_against_all_pairs():
    random = np.random.default_rng(0)
    background = 1 - 1 / (1 + np.exp(-random.logistic(0, 0.3, 20_000)))
    pairs = np.append(np.sort(background)[-500:], [1, 0.999])
    cut = automatic_cut(pairs, items=400, background=background)
    assert cut.flagged == 2
    rarer = 0.05 * 0.01 * 400 / (400 * 399 / 2)
    logit = cut.location + cut.scale * math.log(rarer / (1 - rarer))
    assert 1 - cut.threshold == pytest.approx(1 / (1 + math.exp(-logit)))


@pytest.mark.parametrize("scores", [[1.2, 0.1], [-0.1], [math.nan], [[0.1]]])
def test_scores_without_bounds_are_refused(scores):
    with pytest.raises(InputError, match=r"\[0, 1\]"):
        automatic_cut(np.array(scores), items=2)


@pytest.mark.parametrize(("name", "value"), [("alpha", 0), ("q", 1.5), ("items", 0)])
def test_settings_of_the_cut_are_checked(name, value):
    with pytest.raises(InputError, match=name):
        automatic_cut(np.array([0.1]), **{"items": 1, name: value})


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_groups_are_the_transitive_closure(pairs):
    names = [f"n{k}" for k in range(10)]
    pairs = [(names[a], names[b]) for a, b in pairs if a != b]
    reach = np.eye(10, dtype=int)
    for a, b in pairs:
        reach[int(a[1]), int(b[1])] = reach[int(b[1]), int(a[1])] = 1
    closure = np.linalg.matrix_power(reach, 10) > 0
    expected = {tuple(names[j] for j in np.flatnonzero(row)) for row in closure}
    groups = duplicate_groups(pairs, names)
    assert set(groups) == {one for one in expected if len(one) > 1}
    assert list(groups) == sorted(groups)
    assert groups == duplicate_groups([(b, a) for a, b in reversed(pairs)], names)


def test_leakage_goes_through_other_duplicates_and_parts():
    split = {"a": "train", "b": "train", "c": "test", "d": "valid", "e": "test", "f": "train"}
    leaks = leakage([("a", "b"), ("b", "c"), ("d", "e"), ("c", "e")], split)
    assert [one.parts for one in leaks] == [
        ("test", "train"),
        ("test", "valid"),
        ("train", "valid"),
    ]
    assert [one.counts for one in leaks] == [(2, 2), (2, 1), (2, 1)]
    assert_array_equal([len(one.groups) for one in leaks], 1)
    assert leakage([("a", "b")], split) == ()
    with pytest.raises(InputError, match="'z' unknown"):
        leakage([("a", "z")], split)


def test_items_of_no_part_leak_nowhere():
    split = {"a": "", "b": "train", "c": "test", "d": ""}
    assert leakage([("a", "b"), ("d", "c")], split) == ()
    (through,) = leakage([("a", "b"), ("a", "c")], split)  # a connects them, and is in neither
    assert through.parts == ("test", "train") and through.counts == (1, 1)


@pytest.mark.parametrize("mistakes", [0.0, 0.25, 3.0])
def test_mistakes_of_clean_data_are_poisson(mistakes):
    for level in (0.8, 0.95, 0.99):
        most = Cut(0.9, 5, 2.0, 0.5, mistakes).most_mistakes(level)
        assert most == (poisson.ppf(level, mistakes) if mistakes else 0)
    values = 1 - 1 / (1 + np.exp(-np.random.default_rng(0).logistic(2, 0.5, 400)))
    assert automatic_cut(values, items=400).mistakes == pytest.approx(0.05 * 0.01 * 400)

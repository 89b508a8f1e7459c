"""Certainty of top sets and of groups, and groupings of classes."""

import json
import os
from itertools import combinations
from math import comb, isnan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from equipoise import Annotations, InputError, Plausibilities
from equipoise.truth import (
    Chain,
    dirichlet,
    inverse_rank,
    plackett_luce,
    probabilistic_inverse_rank,
)
from equipoise.truth.certainty import annotation_certainty, group_certainty, mass_certainty
from equipoise.types import Categorical, Grouping, coarsened

# uncertain_ground_truth at 98349d8, and the definitions of the paper composed from it
DRAWS = [
    [[0.5, 0.3, 0.15, 0.05], [0.3, 0.45, 0.2, 0.05], [0.4, 0.35, 0.05, 0.2],
     [0.25, 0.2, 0.45, 0.1], [0.6, 0.05, 0.25, 0.1]],
    [[0.1, 0.2, 0.3, 0.4], [0.05, 0.15, 0.45, 0.35], [0.1, 0.3, 0.25, 0.35],
     [0.4, 0.1, 0.2, 0.3], [0.12, 0.18, 0.33, 0.37]],
    [[0.7, 0.1, 0.15, 0.05], [0.65, 0.2, 0.1, 0.05], [0.8, 0.05, 0.1, 0.05],
     [0.75, 0.1, 0.05, 0.1001], [0.9, 0.02, 0.03, 0.05]],
]  # fmt: skip
# The last is 0.6 there: a tie for the third place goes to the lower index; here it is shared.
TOP_SETS = {1: [0.6, 0.6, 1.0], 2: [0.6, 0.6, 0.4], 3: [0.6, 0.8, 0.5]}
RISK = Grouping.of({"a": "low", "b": "high", "c": "medium", "d": "high"},
                   groups=("low", "medium", "high"))  # fmt: skip
BITS = st.integers(0, 2**32 - 1)


@pytest.fixture
def published():
    values = np.array(DRAWS).transpose(1, 0, 2)
    return Plausibilities.dense(
        values, items=("0", "1", "2"), classes=tuple("abcd"), method="paper"
    )


def sparse(seed, *, classes=6, draws=4, grain=3, rest_shape=None):
    """Random sparse plausibilities; a small grain makes ties the rule."""
    random = np.random.default_rng(seed)
    mentioned = random.integers(0, classes + 1, 3)
    start = np.concatenate(([0], np.cumsum(mentioned)))
    label = np.concatenate([random.permutation(classes)[:m] for m in mentioned])
    mass, rest = np.zeros((draws, len(label))), np.zeros((draws, 3))
    for draw in range(draws):
        for i, m in enumerate(mentioned):
            parts = random.integers(0, grain, m + 1).astype(float)
            parts[m] = parts[m] * (m < classes)
            parts[0] += parts.sum() == 0
            parts /= parts.sum()
            mass[draw, start[i] : start[i + 1]], rest[draw, i] = parts[:m], parts[m]
    return Plausibilities(
        items=("i", "j", "k"), classes=tuple("uvwxyz"[:classes]), start=start, label=label,
        mass=mass, rest=rest, method="random", rest_shape=rest_shape,
    )  # fmt: skip


def set_chance(values, chosen):
    """Chance that `chosen` is the top set of one draw, over uniform breaks of ties."""
    last = np.sort(values)[-len(chosen)]
    sure = set(np.flatnonzero(values > last))
    tied = set(np.flatnonzero(values == last))
    if not sure <= set(chosen) or not set(chosen) <= sure | tied:
        return 0.0
    return 1 / comb(len(tied), len(chosen) - len(sure))


def by_force(plausibilities, j):
    """Certainty from the definition: every set of every draw in full."""
    full = [plausibilities.draw(number) for number in range(plausibilities.draws)]
    sets = list(combinations(range(len(plausibilities.classes)), j))
    return np.array(
        [
            max(np.mean([set_chance(draw[i], chosen) for draw in full]) for chosen in sets)
            for i in range(len(plausibilities.items))
        ]
    )


@pytest.mark.parametrize("j", TOP_SETS)
def test_golden_top_sets(published, j):
    found = annotation_certainty(published, j)
    assert_allclose(found.value, TOP_SETS[j], atol=1e-12)
    assert found.well_posed.all()
    assert found.mean == pytest.approx(np.mean(TOP_SETS[j]))


def test_golden_risk(published):
    found = group_certainty(published, RISK)
    assert_allclose(found.value, [0.6, 0.6, 1.0], atol=1e-12)
    assert found.sets == (("low",), ("high",), ("low",))


@given(seed=BITS, j=st.integers(1, 6), grain=st.sampled_from([2, 3, 1000]))
def test_equals_brute_force_over_draws(seed, j, grain):
    made = sparse(seed, grain=grain)
    found = annotation_certainty(made, j)
    assert_allclose(found.value, by_force(made, j), atol=1e-9)
    assert (found.value >= 1 / comb(6, j) - 1e-9).all()
    assert (found.value <= 1 + 1e-9).all()
    assert found.well_posed.tolist() == (np.diff(made.start) >= j).tolist()
    for i, chosen in enumerate(found.sets):
        codes = [made.classes.index(name) for name in chosen]
        assert codes == sorted(set(codes))
        chances = [set_chance(made.draw(n)[i], codes) for n in range(made.draws)]
        assert np.mean(chances) == pytest.approx(found.value[i])


@given(seed=BITS)
def test_one_class_is_the_certainty_of_the_plausibilities(seed):
    for made in (sparse(seed), sparse(seed, grain=1000, rest_shape=0.7)):
        assert_allclose(annotation_certainty(made).value, made.certainty, atol=1e-12)


def test_all_classes_are_certain(published):
    assert_allclose(annotation_certainty(published, 4).value, 1.0)


def test_exact_chances_have_no_error_and_draws_come_near():
    votes = Annotations.from_counts(np.array([[3, 1, 0, 0], [5, 5, 1, 0], [1, 0, 0, 0]]))
    law = dirichlet(votes)
    exact = annotation_certainty(law)
    assert (exact.error == 0).all()
    drawn = law.drawn(4000, seed=1)
    counted = annotation_certainty(Plausibilities.dense(
        np.stack([drawn.draw(n) for n in range(4000)]), items=law.items, classes=law.classes,
        method="draws",
    ))  # fmt: skip
    assert (counted.error > 0).all()
    assert (np.abs(counted.value - exact.value) < 4 * counted.error).all()
    binomial = np.sqrt(exact.value * (1 - exact.value) / 4000)
    assert (np.abs(np.log(counted.error / binomial)) < 0.6).all()


def test_the_rest_is_split_by_its_law_for_sets_too():
    votes = Annotations.from_counts(np.array([[3, 1, 0, 0, 0], [2, 0, 0, 0, 0]]))
    drawn = dirichlet(votes, prior=0.6).drawn(4000, seed=3)
    found = annotation_certainty(drawn, 2)
    full = np.stack([drawn.draw(n) for n in range(4000)])
    top = np.sort(np.argsort(full, axis=2)[..., -2:], axis=2)
    first = (top[:, 0] == [0, 1]).all(axis=1).mean()
    assert found.value[0] == pytest.approx(first, abs=0.035)
    alike = np.mean([(top[:, 1] == [0, k]).all(axis=1).mean() for k in range(1, 5)])
    assert found.value[1] == pytest.approx(alike, abs=0.01)
    assert found.well_posed.tolist() == [True, False]
    assert found.well_posed_mean == found.value[0]
    assert found.sets[1] == ("0", "1")


def test_chains_have_larger_errors_than_independent_draws():
    random = np.random.default_rng(0)
    state = np.cumsum(random.random(4000) < 0.01) % 2  # changes every hundred draws
    mass = np.stack([0.2 + 0.6 * state, 0.8 - 0.6 * state], axis=1)[:, None]
    sticky = Plausibilities.dense(mass, items=("i",), classes=("a", "b"), method="chain")
    (error,) = annotation_certainty(sticky).error
    assert error > 3 * np.sqrt(0.25 / 4000)


def test_one_draw_has_no_standard_error():
    one = inverse_rank(Annotations.from_counts(np.array([[2, 2, 0]])))
    found = annotation_certainty(one)
    assert found.value.tolist() == [0.5]
    assert isnan(found.error[0])
    assert isnan(annotation_certainty(one, 3).well_posed_mean)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: annotation_certainty(p, 0), r"j = 0, expected .* to 4"),
        (lambda p: annotation_certainty(p, 5), r"j = 5, expected .* to 4"),
        (lambda p: annotation_certainty(p, 1.5), r"j = 1.5, expected a whole number"),
        (lambda p: group_certainty(p, Grouping.of({"a": "x"})), r"no group for 'b', 'c', 'd'"),
        (
            lambda p: coarsened(p, Grouping.of(dict.fromkeys("abcde", "x"))),
            r"groups for 'e', which are no classes, expected .*; leave 1 out",
        ),
        (lambda _: Grouping.of({"a": "lwo"}, groups=("low", "high")), r"did you mean 'low'\?"),
        (lambda _: Grouping.of({}), r"0 codes for 0 classes"),
        (lambda _: Grouping.of({"a": "x"}, groups=("x", "x")), r"'x' more than once"),
    ],
)
def test_bad_input_is_refused_in_four_parts(published, call, message):
    with pytest.raises(InputError, match=message):
        call(published)


def test_a_law_without_draws_has_no_sets_of_two():
    law = dirichlet(Annotations.from_counts(np.array([[3, 1, 0]])))
    with pytest.raises(InputError, match=r"its mean alone, expected draws.*drawn\(1000"):
        annotation_certainty(law, 2)
    assert annotation_certainty(law.drawn(200, seed=0), 2).value[0] > 0.4


def test_too_many_ties_are_refused_rather_than_listed():
    flat = Plausibilities.dense(
        np.full((1, 30), 1 / 30), items=("i",), classes=tuple(map(str, range(30))), method="m"
    )
    with pytest.raises(InputError, match="30 classes that tie for 12 seats"):
        annotation_certainty(flat, 12)


SIX = Grouping.of(dict(zip("uvwxyz", "LLMHHH", strict=True)), groups=("L", "M", "H", "none"))


@given(seed=BITS, grain=st.sampled_from([2, 3, 1000]))
def test_groups_sum_their_classes(seed, grain):
    made = sparse(seed, grain=grain)
    found = coarsened(made, SIX)
    assert found.classes == SIX.groups
    for number in range(made.draws):
        full = made.draw(number)
        summed = [full[:, np.flatnonzero(SIX.group == g)].sum(axis=1) for g in range(4)]
        assert_allclose(found.draw(number), np.transpose(summed), atol=1e-9)
    assert_allclose(
        mass_certainty(made, SIX).value, annotation_certainty(found).value, atol=1e-12
    )
    top = group_certainty(made, SIX)
    assert (top.value >= annotation_certainty(made).value - 1e-9).all()
    expected = np.zeros((3, 4))
    for number in range(made.draws):
        for i, row in enumerate(made.draw(number)):
            best = row == row.max()
            np.add.at(expected[i], SIX.group, best / best.sum() / made.draws)
    assert_allclose(top.value, expected.max(axis=1), atol=1e-9)


def test_a_dirichlet_stays_one_and_its_groups_are_exact():
    votes = Annotations.from_counts(
        np.array([[4, 1, 0, 0], [0, 2, 2, 0]]), classes=list("abcd")
    )
    law = dirichlet(votes, prior=0.5)
    mean = coarsened(law, RISK)
    both = law.mean[:, [1, 3]].sum(axis=1)
    assert_allclose(mean.mean, np.stack([law.mean[:, 0], law.mean[:, 2], both], axis=1))
    exact = mass_certainty(law, RISK)
    assert (exact.error == 0).all()
    drawn = coarsened(law.drawn(6000, seed=2), RISK)
    assert_allclose(drawn.mass.mean(axis=0), mean.mass[0], atol=0.01)
    assert_allclose(
        drawn.mass.var(axis=0), mean.drawn(6000, seed=5).mass.var(axis=0), atol=5e-3
    )
    top = drawn.mass.reshape(6000, 2, 3).argmax(axis=2)
    share = [np.bincount(top[:, i], minlength=3).max() / 6000 for i in range(2)]
    assert_allclose(exact.value, share, atol=0.03)


def test_the_group_of_the_top_class_is_exact_with_a_law():
    votes = Annotations.from_counts(np.array([[4, 1, 0, 0]]), classes=list("abcd"))
    law = dirichlet(votes)
    entry, rest = law.top()
    found = group_certainty(law, RISK)
    assert found.value[0] == pytest.approx(max(entry[0], entry[1] + rest[0] / 2, rest[0] / 2))
    assert found.error.tolist() == [0.0]


def test_labels_stay_labels_when_groups_are_made():
    made = Plausibilities(
        items=("i",), classes=tuple("abcd"), start=np.array([0, 2]), label=np.array([0, 1]),
        mass=np.array([[0.5, 0.3]]), rest=np.array([[0.2]]), method="labels",
        law=Categorical(np.array([0.5, 0.3]), np.array([0.2])),
    )  # fmt: skip
    found = coarsened(made, RISK)
    assert_allclose(found.mean, [[0.5, 0.1, 0.4]])
    assert found.drawn(50, seed=0).mass.max(axis=1).min() == pytest.approx(1.0)
    assert mass_certainty(made, RISK).value[0] == pytest.approx(0.5)


def test_cases_with_too_few_conditions_for_sets_of_two_and_three():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds dermatology_ddx/")
    path = Path(os.environ["EQUIPOISE_DATA"]) / "dermatology_ddx/dermatology_selectors.json"
    cases = Annotations.from_rankings(
        json.loads(path.read_text()), classes=map(str, range(419))
    )
    chain = Chain(draws=100, burn_in=100)
    made = plackett_luce(cases, reliability=3, prior="notebook", chain=chain)
    for j, ill_posed, expected in ((2, 131, 0.683), (3, 455, 0.596)):  # at 1,000 draws
        found = annotation_certainty(made, j)
        assert int((~found.well_posed).sum()) == ill_posed
        assert found.well_posed_mean == pytest.approx(expected, abs=0.015)
    ranks = probabilistic_inverse_rank(cases, reliability=20, prior="notebook")
    assert annotation_certainty(ranks).mean == pytest.approx(0.818, abs=0.0005)

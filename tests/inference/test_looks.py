"""Looks at a growing study: error is spent as it was planned, whatever was seen before."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri

from equipoise import Annotations, InputError, Predictions, Settings, evaluate
from equipoise.inference import Population, TwoWay, family
from equipoise.inference.intervals import simultaneous_widths
from equipoise.inference.looks import Look, look_at, look_level

# Lan and DeMets' bounds of O'Brien-Fleming type, two-sided 5 %, equally spaced looks
PUBLISHED = {
    2: (2.963, 1.969),
    4: (4.333, 2.963, 2.359, 2.014),
    5: (4.877, 3.357, 2.680, 2.290, 2.031),
}


def bound(level):
    return float(ndtri(0.5 + level / 2))


@pytest.mark.parametrize("planned", PUBLISHED)
def test_bounds_are_the_published_ones(planned):
    bounds = [bound(look_level(0.95, Look(k + 1, planned))) for k in range(planned)]
    np.testing.assert_allclose(bounds, PUBLISHED[planned], atol=6e-4)


def looks_at(items, planned=4, level=0.95):
    """Looks one after another, each knowing those before."""
    made = []
    for number, size in enumerate(items, 1):
        made.append(look_at(f"{number}/{planned}", size, level, made)[0])
    return made


def test_whatever_the_sizes_all_looks_together_have_the_level():
    items = np.array([100, 250, 300, 400])
    bounds = [bound(look.level) for look in looks_at(items.tolist())]
    steps = np.sqrt(np.diff(np.append(0, items)))
    paths = np.cumsum(
        np.random.default_rng(0).standard_normal((100_000, 4)) * steps, axis=1
    ) / np.sqrt(items)
    crossed = (np.abs(paths) > bounds).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=0.003)
    assert abs(bounds[2] - bound(look_level(0.95, Look(3, 4)))) > 0.01  # not equal steps


def test_a_single_look_has_the_whole_level_and_early_ones_next_to_none():
    assert look_level(0.9, Look(1, 1)) == pytest.approx(0.9, abs=1e-6)
    assert look_level(0.95, Look(1, 50)) > 1 - 1e-9


def test_a_look_that_was_made_is_refused_unless_nothing_changed():
    first, second = looks_at([100, 200])
    with pytest.raises(InputError, match="look 2 of 200 items was made"):
        look_at("2/4", 300, 0.95, [first, second])
    with pytest.raises(InputError, match="150 items, and 200 at look 2"):
        look_at("3/4", 150, 0.95, [first, second])
    with pytest.raises(InputError, match="200 items, and 200 at look 2"):
        look_at("3/4", 200, 0.95, [first, second])
    assert look_at("2/4", 200, 0.95, [first, second])[0] == second


@pytest.mark.parametrize("text", ["2", "0/4", "5/4", "a/b", "1/1000", "-1/4", ""])
def test_what_is_no_look_is_refused(text):
    with pytest.raises(InputError, match="2/4"):
        Look.parse(text)


def study(items):
    random = np.random.default_rng(3)
    z = random.standard_normal(90)
    votes = (z[:, None] + random.standard_normal((90, 5)) > 0)[:items]
    item, who = (axis.ravel() for axis in np.indices(votes.shape))
    names = tuple(f"i{i}" for i in range(items))
    table = Annotations(
        kind="binary", items=names, classes=("no", "yes"), item=item, annotator=who,
        annotators=tuple("abcde"), label=votes.ravel() * 1,
    )  # fmt: skip
    scores = z + random.standard_normal((2, 90))
    return [Predictions(n, names, s[:items]) for n, s in zip("xy", scores, strict=True)], table


def test_intervals_of_a_look_have_its_level_and_it_is_said_and_known():
    how = Settings(look="1/2", replicates=20)
    first = evaluate(*study(60), metrics=["auroc"], settings=how)
    assert first.level == pytest.approx(look_level(0.95, Look(1, 2)))
    assert [note.code for note in first.notices if "look" in note.code] == ["look"]
    second = evaluate(
        *study(90),
        metrics=["auroc"],
        settings=replace(how, look="2/2", looks=first.looks),
    )
    assert [look.items for look in second.looks] == [60, 90]
    assert second.level == pytest.approx(look_level(0.95, Look(2, 2, 90), first.looks))
    again = evaluate(
        *study(90), metrics=["auroc"], settings=replace(how, look=None, looks=first.looks)
    )
    assert again.level == 0.95
    assert "repeated_look" in [note.code for note in again.notices]


def leaderboard(t):
    """Three independent models of known variance, the first ahead of the others by t errors."""
    zero = np.zeros((3, 3))
    return TwoWay(
        np.array([t * np.sqrt(2), 0.0, 0.0]), np.eye(3), zero, zero, zero,
        np.full((3, 3), np.inf), 0.0, 0.0, Population(annotators=False),
    )  # fmt: skip


def test_a_first_look_parts_a_leaderboard_by_tails_that_draws_do_not_reach():
    level = look_level(0.95, Look(1, 4))
    near, far = (family(leaderboard(t), level=level) for t in (4.4, 4.9))
    assert not near.better.any() and far.better.sum() == 2  # 3 pairs: 4.57
    assert far.critical == pytest.approx(bound(1 - (1 - level) / 3), rel=1e-6)
    np.testing.assert_allclose(simultaneous_widths(leaderboard(0.0), level), far.critical)
    usual = family(leaderboard(4.9), level=0.95)  # where draws reach, they decide
    assert usual.critical < bound(1 - 0.05 / 3)
    assert usual.p[0, 1] == pytest.approx(1 / 20_001)

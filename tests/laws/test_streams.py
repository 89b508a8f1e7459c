"""Random streams are independent: of purposes, seeds, replicates, methods and names.

Counts of one unit are compared over replicates: two streams that share a key are equal, and
correlated ones stand out from the correlations that chance gives, below 6 / sqrt(replicates).
"""

from itertools import combinations

import numpy as np
import pytest

from equipoise.inference.resampling import Resampling
from tests.strategies import names

TIMES, UNITS = 4000, 12
PURPOSES = ("items", "panel", "votes/", "votes/other", "influence", "seeds of a", "seeds of b",
            "half panels")  # fmt: skip


def plan(seed=0):
    return Resampling(
        kind="items x panel",
        items=names(UNITS),
        replicates=TIMES,
        seed=seed,
        annotators=UNITS,
    )


def correlated(one, other):
    """The largest correlation of a unit's counts in one stream with those in the other."""
    both = np.concatenate([one, other]).astype(float)
    return np.abs(np.corrcoef(both)[: len(one), len(one) :]).max()


def counts(purpose, seed=0):
    return plan(seed)._draw(purpose, UNITS, 0, TIMES)


def test_keys_of_purposes_and_seeds_are_their_own():
    keys = {int(plan(seed).key(one)) for one in PURPOSES for seed in range(20)}
    assert len(keys) == 20 * len(PURPOSES)


@pytest.mark.parametrize(("one", "other"), list(combinations(PURPOSES[:4], 2)))
def test_purposes_are_independent(one, other):
    assert correlated(counts(one), counts(other)) < 6 / TIMES**0.5


def test_items_and_annotators_of_one_plan_are_independent():
    made = plan()
    drawn = made.item_counts(0, TIMES), made.annotator_counts(0, TIMES)
    assert correlated(*drawn) < 6 / TIMES**0.5


@pytest.mark.parametrize("seed", [1, 2, 2**32])
def test_seeds_are_independent(seed):
    assert correlated(counts("items"), counts("items", seed)) < 6 / TIMES**0.5


def test_replicates_are_independent():
    made = plan().item_counts(0, TIMES)
    for lag in (1, 2, 64, 128):
        assert correlated(made[:, lag:], made[:, :-lag]) < 6 / (TIMES - lag) ** 0.5


def test_units_are_drawn_as_often_as_chance_has_it():
    made = plan().item_counts(0, TIMES).astype(float)
    assert np.allclose(made.mean(axis=1), 1, atol=6 / TIMES**0.5)
    between = np.corrcoef(made) - np.eye(UNITS)
    off = between[~np.eye(UNITS, dtype=bool)]
    assert np.allclose(off, -1 / (UNITS - 1), atol=6 / TIMES**0.5)


def test_draws_do_not_depend_on_how_many_replicates_there_are():
    assert np.array_equal(plan().item_counts(0, 300)[:, 100:], plan().item_counts(100, 300))

"""Extremes: huge and tiny concentrations, lost ties, short chains, misfitting laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from equipoise import Annotations, InputError
from equipoise.truth import (
    Chain,
    annotator_bootstrap,
    dawid_skene,
    dirichlet,
    inverse_rank,
    majority_vote,
    mean_vote,
    normal,
    plackett_luce,
)
from equipoise.truth.agreement import reading_agreement
from equipoise.truth.annotation_checks import cautions
from equipoise.truth.certainty import annotation_certainty, mass_certainty
from equipoise.types import Dirichlet, Grouping


def votes(label, **columns):
    """Votes on one item."""
    label = np.asarray(label)
    return Annotations(
        kind="nominal", items=("a",), classes=("x", "y", "z"),
        item=np.zeros(len(label), int), label=label, **columns,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "certainty"),
    [([2600, 400], 1), ([2500, 2500], 0.5), ([4000, 1000], 1), ([10**8, 10**8], 0.5)],
)
def test_many_votes_leave_a_chance(counts, certainty):
    made = dirichlet(Annotations.from_counts(np.array([counts])))
    assert made.certainty[0] == pytest.approx(certainty, abs=1e-6)


@given(
    st.lists(st.floats(-9, 8), min_size=1, max_size=5),
    st.integers(0, 3),
    st.floats(-9, 3),
)
@settings(max_examples=60, deadline=None)
def test_top_chances_of_any_shapes_are_chances(powers, others, power):
    shapes = 10.0 ** np.array(powers)
    rest = np.array([others * 10.0**power])
    entry, spare = Dirichlet(shapes, rest).top(np.array([0, len(shapes)]), np.array([others]))
    assert entry.min() >= 0 and spare.min() >= 0
    assert entry.sum() + spare.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(entry[np.argsort(shapes)]) >= -1e-6).all()


def test_two_shapes_are_a_beta_distribution():
    from scipy.stats import beta

    for a, b in ((0.003, 0.002), (1e-7, 3e-7), (2.5, 0.5), (60.0, 55.0), (2601, 2501)):
        law = Dirichlet(np.array([a, b]), np.zeros(1))
        entry, _ = law.top(np.array([0, 2]), np.zeros(1, dtype=int))
        assert entry[0] == pytest.approx(beta(a, b).sf(0.5), abs=1e-9)


def test_tiny_concentrations_draw_corners():
    made = dirichlet(votes([0, 0, 1]), reliability=1e-4, prior=0).drawn(4000, seed=0)
    first = made.mass[:, 0]
    assert first.mean() == pytest.approx(2 / 3, abs=0.03)
    assert first.var() == pytest.approx(2 / 9 / (1 + 3e-4), abs=0.01)
    assert_allclose(dirichlet(votes([0, 0, 1], weight=np.full(3, 0.01)), prior=0).certainty,
                    2 / 3, atol=1e-3)  # fmt: skip


def test_ties_of_summed_fractions_are_ties():
    readings = [[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]]
    table = Annotations(
        kind="ranking", items=("case",), classes=tuple("wxyz"), item=np.zeros(16, int),
        label=np.concatenate(readings), rank=np.tile(np.arange(4), 4),
        reading=np.repeat(np.arange(4), 4),
    )  # fmt: skip
    assert annotation_certainty(inverse_rank(table), j=2).value[0] == pytest.approx(1 / 6)


def test_a_majority_by_rounding_is_none():
    made = majority_vote(votes([0, 0, 1], weight=np.array([0.1, 0.2, 0.3])))
    assert made.mean.tolist() == [[0.5, 0.5, 0.0]] and len(made.notices) == 1
    clear = majority_vote(votes([0, 0, 1], weight=np.array([0.1, 0.2, 0.300001])))
    assert clear.mean.tolist() == [[0.0, 1.0, 0.0]] and not clear.notices


def test_groups_of_ratings_need_draws():
    ratings = Annotations(
        kind="interval", items=("a", "b"), item=np.array([0, 0, 1, 1]),
        value=np.array([1.0, 2.0, 2.0, 4.0]),
    )  # fmt: skip
    made = normal(ratings, threshold=2.0)
    same = Grouping.of({name: name for name in made.classes})
    with pytest.raises(InputError, match="make some"):
        mass_certainty(made, same)
    drawn = mass_certainty(made.drawn(4000, seed=0), same).value
    assert_allclose(drawn, made.certainty, atol=0.03)


def test_ratings_that_pile_up_at_the_threshold_are_told():
    random = np.random.default_rng(0)
    value = np.where(random.random(300) < 0.7, 0.0, random.random(300) * 100)
    ratings = Annotations(
        kind="interval", items=tuple(map(str, range(60))), item=np.repeat(np.arange(60), 5),
        value=value,
    )  # fmt: skip
    assert any("pile up" in str(one) for one in normal(ratings, threshold=0.0).notices)
    spread = Annotations(
        kind="interval", items=ratings.items, item=ratings.item,
        value=random.normal(np.repeat(random.normal(0, 3, 60), 5), 1),
    )  # fmt: skip
    assert not any("pile up" in str(one) for one in normal(spread, threshold=0.0).notices)


def test_short_chains_say_so():
    tied = Annotations(
        kind="ranking", items=("case",), classes=tuple("abcdefghij"), item=np.zeros(8, int),
        label=np.arange(8), rank=np.zeros(8, int), reading=np.zeros(8, int),
    )  # fmt: skip
    made = plackett_luce(tied, reliability=10, chain=Chain(draws=60, burn_in=0))
    assert made.notices


def test_gold_does_not_hide_that_annotators_disagree():
    gold = Annotations(
        kind="binary", items=tuple("abcdef"), classes=("n", "y"), annotators=("p", "q", "r"),
        item=np.repeat(np.arange(6), 3), annotator=np.tile([0, 1, 2], 6),
        label=np.tile([0, 0, 1], 6), is_gold=np.tile([True, False, False], 6),
    )  # fmt: skip
    said = " ".join(map(str, cautions(gold)))
    assert "No item has two votes" not in said and "unanimous" not in said


def test_counts_are_never_written_out():
    huge = Annotations(
        kind="binary", items=("a", "b"), classes=("n", "y"), annotators=("p", "q"),
        item=np.array([0, 1, 0, 1]), annotator=np.array([0, 0, 1, 1]),
        label=np.array([1, 0, 1, 0]), count=np.array([10**13, 2, 3, 4]),
        is_gold=np.array([False, True, False, False]),
    )  # fmt: skip
    assert cautions(huge)
    assert dawid_skene(huge).mean[0, 1] > 0.5


@pytest.mark.parametrize(
    "ask",
    [
        lambda: plackett_luce(votes([0]), prior=None),
        lambda: plackett_luce(votes([0]), chain=Chain(draws=2.5)),
        lambda: plackett_luce(votes([0]), reliability=1e-4, prior=1e-4),
        lambda: dirichlet(votes([0])).drawn(0, seed=0),
        lambda: dirichlet(votes([0])).drawn(3, seed=-1),
        lambda: annotator_bootstrap(mean_vote, votes([0]), draws=2.5),
        lambda: Annotations(
            kind="interval", items=("a",), item=np.zeros(1, int), value=np.ones(1)
        ).at_least("abc"),
        lambda: mean_vote(
            Annotations(
                kind="ranking", items=("a",), classes=("x", "y"), item=np.zeros(2, int),
                label=np.arange(2), rank=np.zeros(2, int), reading=np.zeros(2, int),
                weight=np.array([1.0, 9.0]),
            )
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_four_parts(ask):
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
        ask()


def test_light_readings_do_not_win_by_rounding():
    table = votes([0, 1, 1], weight=np.array([1.0, 1e-10, 1e-10]))
    assert reading_agreement(table).value[0] == 0


def test_gaps_between_ranks_are_no_places():
    def ranked(*ranks):
        return Annotations(
            kind="ranking", items=("case",), classes=("x", "y", "z"), item=np.zeros(5, int),
            label=np.array([0, 1, 2, 2, 0]), rank=np.array(ranks),
            reading=np.array([0, 0, 0, 1, 1]),
        )  # fmt: skip

    dense = inverse_rank(ranked(0, 1, 2, 0, 1)).mean
    assert_allclose(dense, [[0.45, 0.15, 0.4]])
    assert np.array_equal(inverse_rank(ranked(0, 3, 7, 0, 5)).mean, dense)

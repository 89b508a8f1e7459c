"""Plans: the same seed gives the same draws whatever the chunk, with the right distribution."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

from equipoise.inference.resampling import KINDS, Resampling, normalised, resample
from equipoise.types import Annotations, InputError, Plausibilities
from tests.strategies import names


def plan(kind="items", items=5, **more):
    return Resampling(kind=kind, items=names(items), **{"replicates": 64, "seed": 3, **more})


def votes(item, annotator=None, **more):
    """Yes/no votes; annotators by code, or anonymous."""
    item = np.asarray(item)
    who = {}
    if annotator is not None:
        who = {
            "annotator": np.asarray(annotator),
            "annotators": names(max(annotator) + 1, "reader"),
        }
    label = np.arange(len(item)) % 2
    return Annotations(
        kind="binary", items=names(int(item.max()) + 1), classes=("no", "yes"),
        item=item, label=label, **who, **more,
    )  # fmt: skip


PANEL = votes(np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4))
CROWD = votes(np.repeat(np.arange(4), 3))
DRAWS = Plausibilities.dense(
    np.full((6, 4, 2), 0.5), items=names(4), classes=("no", "yes"), method="even"
)
SINGLE = Plausibilities.dense(
    np.full((4, 2), 0.5), items=names(4), classes=("no", "yes"), method="even"
)


@pytest.mark.parametrize("group", [None, np.array([0, 1, 0, 2, 1])])
def test_the_chunk_never_changes_a_draw(group):
    one = plan(group=group, annotators=7)
    for draw in (one.item_counts, one.annotator_counts, one.draw_numbers):
        parts = [draw(0, 10), draw(10, 11), draw(11, 64)]
        assert_array_equal(draw(0, 64), np.concatenate(parts, axis=-1))
    assert_array_equal(one.item_counts(0, 64), plan(group=group).item_counts(0, 64))


def test_more_replicates_begin_with_the_same_ones():
    assert_array_equal(
        plan(replicates=8).item_counts(0, 8), plan(replicates=99).item_counts(0, 8)
    )


def test_seed_and_purpose_change_the_draws():
    draws = [plan(items=9, seed=seed).item_counts(0, 64) for seed in (0, 1, 2)]
    draws.append(plan(items=9, annotators=9).annotator_counts(0, 64))
    for a in range(len(draws)):
        for b in range(a):
            assert (draws[a] != draws[b]).any()


def test_every_replicate_draws_as_many_items_as_there_are():
    counts = plan(items=300).item_counts(0, 64)
    assert counts.dtype == np.uint8 and counts.shape == (300, 64)
    assert_array_equal(counts.sum(axis=0), 300)


@pytest.mark.parametrize("items", [2, 5, 40])
def test_counts_are_multinomial(items):
    replicates = 40_000
    counts = plan(items=items, replicates=replicates).item_counts(0, replicates).astype(float)
    assert_allclose(counts.mean(axis=1), 1, atol=5 / replicates**0.5)
    covariance = np.cov(counts)
    expected = np.eye(items) - 1 / items
    assert_allclose(covariance, expected, atol=8 / replicates**0.5)
    drawn = counts.sum(axis=1)
    statistic = ((drawn - replicates) ** 2 / replicates).sum()
    assert statistic < chi2.ppf(1 - 1e-4, items - 1)


def test_successive_draws_are_independent():
    first = plan(items=2, replicates=4000).item_counts(0, 4000)[0].astype(float) - 1
    assert abs(np.mean(first[1:] * first[:-1])) < 4 * 0.5 / 4000**0.5


def test_groups_move_as_a_whole():
    group = np.array([2, 0, 1, 0, 2, 2])
    counts = plan(items=6, group=group).item_counts(0, 64)
    units = np.stack([counts[group == g][0] for g in range(3)])
    for g in range(3):
        assert (counts[group == g] == units[g]).all()
    assert_array_equal(units.sum(axis=0), 3)


def test_a_group_without_items_is_not_drawn():
    counts = plan(items=4, group=np.array([0, 0, 2, 2])).item_counts(0, 64)
    assert_array_equal(counts[[0, 2]].sum(axis=0), 2)


def test_kinds_that_keep_the_items_count_each_once():
    for kind in ("votes", "panel", "posterior"):
        assert_array_equal(plan(kind).item_counts(0, 9), 1)


def test_posterior_draws_are_taken_in_turn():
    assert_array_equal(plan("posterior", draws=3).draw_numbers(2, 7), [2, 0, 1, 2, 0])


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_draws(kind):
    one = plan(kind)
    assert one.over_items == ("items" in kind)
    parts = [part for part in ("votes", "panel", "posterior") if part in kind]
    assert one.truth == (parts[0] if parts else None)


def test_fingerprint_knows_everything_that_decides_the_draws():
    same = plan(group=np.array([0, 0, 1, 1, 2]), reason="why not")
    changes = [
        {"kind": "votes"}, {"items": 6}, {"seed": 4}, {"replicates": 65},
        {"group": np.array([0, 0, 1, 1, 2])}, {"annotators": 4}, {"draws": 2},
    ]  # fmt: skip
    marks = {plan(**change).fingerprint for change in changes} | {plan().fingerprint}
    assert len(marks) == len(changes) + 1
    assert same.fingerprint == plan(group=np.array([0, 0, 1, 1, 2])).fingerprint


@pytest.mark.parametrize("number", [np.int64(3), np.int32(3)])
def test_numpy_integers_are_seeds_and_numbers_too(number):
    assert plan(seed=number).fingerprint == plan(seed=3).fingerprint
    assert plan(replicates=number).fingerprint == plan(replicates=3).fingerprint


SPLIT = np.repeat(np.arange(8), 3)
DEFAULTS = {
    "panel": (PANEL, "items x panel"),
    "anonymous": (CROWD, "items"),
    "draws": (DRAWS, "items x posterior"),
    "one distribution": (SINGLE, "items"),
    "one anonymous vote": (votes(np.arange(4)), "items"),
    "one annotator": (votes(np.arange(4), [0, 0, 0, 0]), "items"),
    "everybody once": (votes([0, 0, 1, 1], [0, 1, 2, 3]), "items"),
    "half of the votes by one": (votes([0, 1, 0, 1], [0, 0, 1, 2]), "items x panel"),
    "everybody once, one vote each": (votes(np.arange(3), [0, 1, 2]), "items"),
    "counts": (votes(np.arange(4), count=np.array([3, 2, 2, 5])), "items"),
    "tasks with items of their own": (
        votes(SPLIT, task=SPLIT // 2, tasks=("a", "b", "c", "d")),
        "items",
    ),
}


@pytest.mark.parametrize(("truth", "kind"), DEFAULTS.values(), ids=DEFAULTS)
def test_default_kind(truth, kind):
    chosen = resample(truth)
    assert chosen.kind == kind and chosen.items == truth.items
    assert chosen.reason.startswith(kind) and chosen.reason.endswith(".")


def test_the_plan_knows_annotators_groups_and_draws():
    grouped = votes(np.arange(4), [0, 1, 0, 1], group=np.array([0, 0, 1, 1]), groups=("a", "b"))
    one = resample(grouped, "items", replicates=10, seed=5)
    assert (one.annotators, one.replicates, one.seed) == (2, 10, 5)
    assert_array_equal(one.group, [0, 0, 1, 1])
    assert not one.group.flags.writeable
    assert resample(DRAWS).draws == 6


REFUSED = {
    "panel of the anonymous": lambda: resample(CROWD, "panel"),
    "items and panel of the anonymous": lambda: resample(CROWD, "items x panel"),
    "panel of one": lambda: resample(votes(np.arange(4), [0, 0, 0, 0]), "panel"),
    "votes of single votes": lambda: resample(votes(np.arange(4)), "votes"),
    "items and votes of single votes": lambda: resample(votes(np.arange(4)), "items x votes"),
    "posterior of annotations": lambda: resample(PANEL, "posterior"),
    "votes of plausibilities": lambda: resample(DRAWS, "votes"),
    "panel of plausibilities": lambda: resample(DRAWS, "items x panel"),
    "unknown": lambda: resample(PANEL, "pannel"),
    "unknown in a plan": lambda: plan("everything"),
    "no replicates": lambda: plan(replicates=0),
    "fewer than none": lambda: resample(PANEL, replicates=-1),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_kinds_that_do_not_fit_are_refused_in_four_parts(call):
    with pytest.raises(InputError) as caught:
        call()
    assert all((caught.value.where, caught.value.got, caught.value.expected, caught.value.do))


@pytest.mark.parametrize(
    "text", ["items-x-panel", "items*panel", "ITEMS X PANEL", "items x panel"]
)
def test_kinds_are_read_however_they_are_spelt(text):
    assert normalised(text) == "items x panel"


def test_groups_given_by_name_stay_with_their_items_however_a_table_is_read():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(5)
    rows = [f"scan-{number}" for number in random.permutation(60)] + ["zebra", "ant"]
    people = [f"p{row // 3}" for row in range(len(rows))]
    frame = pandas.DataFrame({"item": rows, "ana": 1, "bo": np.arange(len(rows)) % 2})
    table = Annotations.from_dataframe(frame, layout="wide")
    assert table.items != tuple(rows)
    whose = dict(zip(rows, people, strict=True))
    for group in (whose, pandas.Series(whose).sample(frac=1, random_state=1)):
        counts = resample(table, "items", replicates=50, group=group).item_counts(0, 50)
        drawn = {}
        for item, own in zip(table.items, counts, strict=True):
            assert_array_equal(drawn.setdefault(whose[item], own), own)
        assert len({own.tobytes() for own in drawn.values()}) > 15


def test_groups_given_by_name_must_cover_every_item():
    with pytest.raises(InputError, match="no group for"):
        resample(PANEL, "items", group={PANEL.items[0]: "a", PANEL.items[1]: "b"})
    with pytest.raises(InputError, match="in the order of the items of the truth"):
        resample(PANEL, "items", group=["a", "b"])


@pytest.mark.parametrize("voters", [(0, 1, 3), (0, 1, 2, 4, 5, 6, 7, 8, 9)])
def test_those_who_voted_are_drawn_and_nobody_else(voters):
    """As many as voted, of names that stand in any order; all panels, or random ones."""
    names, who = tuple("badcfehgji"), np.tile(voters, 4)
    votes = Annotations(
        kind="binary", items=tuple("wxyz"), classes=("no", "yes"), annotators=names,
        item=np.repeat(np.arange(4), len(voters)), annotator=who, label=who % 2,
    )  # fmt: skip
    counts = resample(votes, "panel", replicates=300).annotator_counts(0, 300)
    assert np.flatnonzero(counts.any(axis=1)).tolist() == list(voters)
    assert (counts.sum(axis=0) == len(voters)).all()

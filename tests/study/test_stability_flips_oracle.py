"""Flips against exhaustive search: every rival, ties, averages of tasks, every kind of move."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.study.analyses.flip_search import UNITS
from equipoise.types import Annotations, Predictions
from tests.analysed import flips
from tests.oracles import flips as oracle
from tests.strategies import names

HARD = ["auroc", "average_precision", "brier_score"]
SUMS = ["brier_score"]


def drawn(seed, *, tasks=1, items=7, panel=3, models=4, tied=0):
    """Votes with gaps and rounded scores, per task; the last `tied` models copy the first."""
    random = np.random.default_rng(seed)
    votes, scores = [], []
    for _ in range(tasks):
        truth = random.random(items)
        said = (random.random((items, panel)) < truth[:, None]).astype(float)
        said[random.random((items, panel)) < 0.15] = np.nan
        said[0], said[1] = 1, 0
        alone = np.isnan(said).all(axis=1)
        said[alone, 0] = 1
        noise = random.normal(0, 0.3, (models, items))
        given = np.clip(np.round(truth + noise, 1), 0.0, 1.0)
        for copy in range(tied):
            given[models - 1 - copy] = given[0]
        votes.append(said)
        scores.append(given)
    return votes, scores


def as_given(votes, scores):
    """The same as annotations and predictions."""
    tasks = names(len(votes), "task") if len(votes) > 1 else ("",)
    rows = [
        (t, i, j, int(one[i, j]))
        for t, one in enumerate(votes)
        for i, j in zip(*np.nonzero(~np.isnan(one)), strict=True)
    ]
    t, i, j, label = np.array(rows).T
    size, panel = votes[0].shape
    truth = Annotations(
        kind="binary", items=names(size), classes=("no", "yes"),
        annotators=names(panel, "reader"), item=i, annotator=j, label=label,
        **({"tasks": tasks, "task": t} if len(votes) > 1 else {}),
    )  # fmt: skip
    predictions = [
        Predictions(f"model-{m}", names(size), one, task=task)
        for task, given in zip(tasks, scores, strict=True)
        for m, one in enumerate(given)
    ]
    return predictions, truth


def part(flip, votes, scores):
    """The tasks that a flip is about."""
    if len(votes) == 1 or flip.task == "macro average":
        return votes, scores
    at = names(len(votes), "task").index(flip.task)
    return [votes[at]], [scores[at]]


def set_of(flip, votes):
    """Members as moves of the oracle."""
    tasks = names(len(votes), "task")
    items, readers = names(len(votes[0])), names(votes[0].shape[1], "reader")
    own = (
        {flip.task: 0}
        if flip.task != "macro average"
        else {one: t for t, one in enumerate(tasks)}
    )
    found = []
    for one in flip.members:
        place = [own[one.within], items.index(one.item)]
        found.append((*place, readers.index(one.annotator)) if one.annotator else tuple(place))
    return found


def check(flip, votes, scores, metric, unit, labels="soft"):
    """Compare one flip with all sets of up to three moves; return its size by the oracle."""
    votes, scores = part(flip, votes, scores)
    full = oracle.goodness(votes, scores, metric, labels)
    first = oracle.leaders(full)
    assert flip.leaders == tuple(f"model-{m}" for m in first)
    if len(first) == len(full):
        assert flip.idle == "all level"
        return 0
    size = oracle.smallest(votes, scores, metric, unit=unit, labels=labels)
    assert (len(flip.members) or 4) >= size
    assert len(flip.members) == size or size == 4 or not flip.exact
    if metric in SUMS and len(first) == 1 and (len(votes) == 1 or unit == UNITS[1]):
        assert flip.exact
    if flip.members:
        after = oracle.goodness(
            oracle.moved(votes, set_of(flip, votes), unit), scores, metric, labels
        )
        b = int(flip.b.split("-")[1])
        assert b not in first and after[b] == pytest.approx(np.delete(after, first).max())
        assert_allclose(flip.lead_after, after[first].max() - after[b], atol=1e-9)
        assert_allclose(flip.lead, full[first].max() - full[b], atol=1e-9)
        assert flip.verified and flip.place == int((full > full[b] + 1e-12).sum()) + 1
    return size


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("metric", list(oracle.METRICS))
@pytest.mark.parametrize("seed", range(5))
def test_the_smallest_set_over_all_rivals_is_that_of_exhaustive_search(seed, metric, unit):
    votes, scores = drawn(seed, items=7 if unit == "items" else 5)
    (flip,) = flips(*as_given(votes, scores), metric=metric, unit=unit).tasks
    check(flip, votes, scores, metric, unit)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("metric", ["auroc", "average_precision"])
@pytest.mark.parametrize("seed", range(4))
def test_level_leaders_must_all_be_overtaken(seed, metric, unit):
    votes, scores = drawn(seed + 20, items=6 if unit == "items" else 5, tied=1)
    best = np.argmax(oracle.goodness(votes, scores, metric))
    scores[0][[0, best]] = scores[0][[best, 0]]
    scores[0][-1] = scores[0][0]
    (flip,) = flips(*as_given(votes, scores), metric=metric, unit=unit).tasks
    assert {"model-0", "model-3"} <= set(flip.leaders)
    check(flip, votes, scores, metric, unit)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("metric", ["auroc", "brier_score"])
@pytest.mark.parametrize("seed", range(3))
def test_sets_for_the_average_take_moves_from_any_task(seed, metric, unit):
    votes, scores = drawn(
        seed + 40, tasks=2, items=5 if unit == "items" else 4, panel=2, models=3
    )
    done = flips(*as_given(votes, scores), metric=metric, unit=unit)
    assert [one.task for one in done.tasks] == ["macro average", *names(2, "task")]
    for flip in done.tasks:
        check(flip, votes, scores, metric, unit)
    assert done.tasks[0].number == sum(one.number for one in done.tasks[1:])


@pytest.mark.parametrize("ties", ["half", "negative", "drop"])
@pytest.mark.parametrize("metric", HARD)
@pytest.mark.parametrize("seed", range(4))
def test_hard_labels_agree_with_exhaustive_search(seed, metric, ties):
    votes, scores = drawn(seed + 60, items=8)
    asked = {"metric": metric, "labels": "hard", "ties": ties}
    (flip,) = flips(*as_given(votes, scores), **asked).tasks
    check(flip, votes, scores, metric, "items", ties)


def test_the_cases_above_are_not_all_of_one_sort():
    sizes, places, level = set(), set(), 0
    for seed in range(40):
        votes, scores = drawn(seed, items=7)
        (flip,) = flips(*as_given(votes, scores)).tasks
        sizes.add(check(flip, votes, scores, "auroc", "items"))
        places.add(flip.place)
        level += len(flip.leaders) > 1
    assert {1, 2, 3} <= sizes and {2, 3} <= places and level


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("metric", list(oracle.METRICS))
def test_sets_are_seldom_larger_than_the_smallest(metric, unit):
    larger = total = 0
    for seed in range(12):
        votes, scores = drawn(seed + 80, items=7 if unit == "items" else 5)
        (flip,) = flips(*as_given(votes, scores), metric=metric, unit=unit).tasks
        size = check(flip, votes, scores, metric, unit)
        total += 0 < size < 4
        larger += 0 < size < (len(flip.members) or 4)
    assert total >= 5 and larger <= total // 2

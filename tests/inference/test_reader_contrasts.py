"""Models next to readers: a slow twin, derivatives, laws of order, and studies drawn anew."""

import numpy as np
import pytest
from benchmarks._reader_panels import PANELS, Panel, contrasts, draw, mean_gain, readers_of
from numpy.testing import assert_allclose

from equipoise.inference.intervals import TwoWay, simultaneous_widths
from equipoise.inference.reader_contrasts import (
    Readings,
    compare_readers,
    competitor_design,
    decision_gains,
    information_weights,
    matched_gains,
    truth_design,
)
from equipoise.inference.spread import Population
from tests.oracles import reader_contrasts as slow

RANDOM = np.random.default_rng(17)


def little(items=24, readers=4, groups=None, seed=3, models=2):
    """A few votes with gaps, and decisions of two models."""
    random = np.random.default_rng(seed)
    truth = random.random(items) < 0.5
    item, reader = np.nonzero(random.random((items, readers)) < 0.75)
    right = random.random(len(item)) < 0.6 + 0.1 * reader
    answer = (truth[item] == right) * 1.0
    unit = np.arange(items) if groups is None else np.arange(items) % groups
    called = np.where(random.random((models, items)) < 0.8, truth, ~truth) * 1.0
    return item, reader, answer, unit, called


def compared(study, readers=4, order=None):
    """The same by the code under test, votes in some order."""
    item, reader, answer, unit, called = study
    rows = np.arange(len(item)) if order is None else order
    item, reader, answer = item[rows], reader[rows], answer[rows]
    readings = Readings.of_votes(item, reader, unit[item], np.ones(len(item)), answer[:, None])
    gains = []
    for r in range(readers):
        own = readings.reader == r
        parts = decision_gains(
            called[:, readings.item[own]], readings.answer[own, 0], readings.truth[own, 0]
        )
        gains.append(None if parts is None else parts[0])
    return readings, gains


@pytest.mark.parametrize("groups", [None, 7])
@pytest.mark.parametrize("schools", [None, [0, 1, 0, 2]])
def test_the_parts_of_the_variance_are_those_of_the_definition(groups, schools):
    study = little(groups=groups)
    item, reader, answer, unit, called = study
    school = None if schools is None else np.array(schools)
    done = compare_readers([compared(study)], 2, group=school)
    votes = list(zip(item.tolist(), reader.tolist(), answer.tolist(), strict=True))
    for m in range(2):
        twin = slow.compare(votes, unit, called[m], done.weight, schools)
        assert_allclose(done.gain[m], twin["gain"], atol=1e-12)
        assert_allclose(done.these.values[m], twin["mean"], atol=1e-12)
        spread, alone = done.like_these.of(m), done.these.of(m)
        assert_allclose(alone.items, twin["items"], rtol=1e-9)
        assert_allclose(spread.annotators, twin["readers"], rtol=1e-9)
        assert_allclose(spread.cells, twin["cells"], rtol=1e-9)
        assert_allclose(spread.draws, twin["truth"], rtol=1e-6, atol=1e-15)
        if done.like_these.population.annotators:
            whole = twin["items"] + twin["truth"] + max(twin["readers"] - twin["cells"], 0)
            assert_allclose(spread.variance, whole, rtol=1e-6)


def test_some_twin_has_readers_that_matter_as_makers_of_the_truth():
    """So that the comparison above is not one of zeros."""
    parts = [compare_readers([compared(little(seed=s))], 2).like_these for s in range(12)]
    assert sum(part.of(0).draws > 0 for part in parts) > 2
    for seed in range(12):
        if parts[seed].of(0).draws > 0:
            item, reader, answer, unit, called = little(seed=seed)
            votes = list(zip(item.tolist(), reader.tolist(), answer.tolist(), strict=True))
            weight = compare_readers([compared(little(seed=seed))], 2).weight
            twin = slow.compare(votes, unit, called[0], weight)
            assert_allclose(parts[seed].of(0).draws, twin["truth"], rtol=1e-6)


def test_weights_are_paule_and_mandels():
    random = np.random.default_rng(8)
    scale = np.array([0.02, 0.03, 0.05, 0.4])
    half = random.normal(size=(4, 4)) * 0.1
    covariance = half @ half.T
    apart = np.array([[0.4, -0.2, 0.1, 0.3]])
    weight = information_weights(apart, covariance, scale)
    common = (np.diag(covariance) / scale**2).sum() / (1 / scale).sum()
    between = 1 / (weight / weight[0]) * 1.0
    # w_r = 1 / (tau2 + common scale_r) up to a factor: two readers give both
    ratio = weight[0] / weight[3]
    tau = common * (scale[3] - ratio * scale[0]) / (ratio - 1)
    assert tau > 0 and (between >= 1).all()
    left, same = slow.excess(tau, apart[0], covariance, scale)
    assert left == pytest.approx(0, abs=1e-6)
    assert_allclose(weight, same, atol=1e-9)
    alike = information_weights(apart * 0, covariance, scale)
    assert_allclose(alike, (1 / scale) / (1 / scale).sum())
    none = information_weights(apart, covariance, np.array([0.02, np.inf, 0.05, 0.4]))
    assert none[1] == 0 and none.sum() == pytest.approx(1)


@pytest.mark.parametrize("measure", ["balanced", "matched"])
def test_influences_are_derivatives(measure):
    random = np.random.default_rng(5)
    truth, answer = random.random(300), (random.random(300) < 0.4) * 1.0
    scores = np.stack([truth + random.normal(0, 0.4, 300), random.random(300)])

    def gains(truth):
        if measure == "matched":
            return matched_gains(scores, answer, truth)
        return decision_gains((scores > 0.5) * 1.0, answer, truth)[0]

    whole = gains(truth)
    assert_allclose(whole.influence.sum(axis=1), 0, atol=0.02)
    drawn = []
    for _ in range(300):
        rows = random.integers(0, 300, 300)
        if measure == "matched":
            drawn.append(matched_gains(scores[:, rows], answer[rows], truth[rows]).gain)
        else:
            called = (scores[:, rows] > 0.5) * 1.0
            drawn.append(decision_gains(called, answer[rows], truth[rows])[0].gain)
    spread = np.sqrt((whole.influence**2).sum(axis=1))
    assert_allclose(spread, np.std(drawn, axis=0), rtol=0.2)
    if measure == "balanced":
        for item in (3, 40):
            moved = truth + 1e-6 * (np.arange(300) == item)
            slope = (gains(moved).gain - whole.gain) / 1e-6
            assert_allclose(whole.by_truth[:, item, 0], slope, atol=1e-5)


def test_sides_add_up_and_equal_a_loop():
    random = np.random.default_rng(6)
    truth, answer = random.random(50), (random.random(50) < 0.4) * 1.0
    called = (random.random((3, 50)) < 0.5) * 1.0
    both, sens, spec = decision_gains(called, answer, truth)
    assert_allclose(both.gain, (sens.gain + spec.gain) / 2, atol=1e-15)
    for m in range(3):
        wanted = slow.balanced(truth, called[m]) - slow.balanced(truth, answer)
        assert_allclose(both.gain[m], wanted, atol=1e-12)
    assert_allclose(both.value, slow.balanced(truth, answer), atol=1e-12)


def test_scores_are_compared_at_the_readers_own_false_positives():
    truth = np.array([1.0, 1, 1, 0, 0, 0])
    scores = np.array([[0.9, 0.6, 0.3, 0.6, 0.5, 0.1]])
    answer = np.array([1.0, 0, 1, 0, 0, 0])  # no false alarm: (0 + 1/2) 3 / 4 of a negative
    found = matched_gains(scores, answer, truth)
    assert_allclose(found.gain, (1 + 0.375) / 3 - 2 / 3)  # from (0, 1) to (1, 2) it rises
    rising = matched_gains(np.exp(scores), answer, truth)
    assert found.gain == rising.gain  # only the order counts
    one = matched_gains(scores, np.array([1.0, 0, 1, 1, 0, 0]), truth)
    assert_allclose(one.gain, 2 / 3 - 2 / 3)  # 1.5 x 3 / 4 = 1.125 negatives


def test_empty_classes_compare_nobody():
    nothing = np.zeros(5)
    assert decision_gains(np.ones((1, 5)), nothing, nothing) is None
    assert matched_gains(np.ones((1, 5)), nothing, nothing + 1) is None
    readings, _ = compared(little())
    assert compare_readers([(readings, [None] * 4)], 2) is None
    assert competitor_design(np.array([1.0, 0, 0])).df_annotators == 0
    assert truth_design(readings, np.array([1.0, 0, 0, 0])).df_annotators > 0


def test_rows_readers_and_models_may_stand_in_any_order():
    study = little(items=60, groups=15, models=3)
    item, reader, answer, unit, called = study
    done = compare_readers([compared(study)], 3)
    random = np.random.default_rng(2)
    people, models = random.permutation(4), random.permutation(3)
    other = item, np.argsort(people)[reader], answer, unit, called[models]
    same = compare_readers([compared(other, order=random.permutation(len(item)))], 3)
    assert_allclose(same.weight, done.weight[people], atol=1e-12)
    assert_allclose(same.gain, done.gain[models][:, people], atol=1e-12)
    for whom in ("these", "like_these"):
        cells = [getattr(found, whom) for found in (done, same)]
        assert_allclose(cells[1].values, cells[0].values[models], atol=1e-12)
        widths = [simultaneous_widths(cell) for cell in cells]
        assert_allclose(widths[1], widths[0][models], rtol=1e-9)


def test_a_reader_with_few_reads_cannot_move_the_mean():
    random = np.random.default_rng(4)
    panel = Panel("", 400, 6)
    readings, scores = draw(random, panel, readers_of(random, panel))
    rows = np.flatnonzero((readings.reader < 5) | (readings.item < 12))
    means, gains = [], []
    for _ in range(20):
        answer = readings.answer.copy()
        last = readings.reader == 5
        answer[last] = random.random((last.sum(), 1)) < answer[last] * 0.7 + 0.15
        few = Readings.of_votes(
            readings.item[rows], readings.reader[rows], readings.item[rows],
            readings.weight[rows], answer[rows],
        )  # fmt: skip
        done = contrasts(few, scores, 6, "balanced")
        means.append(done.these.values[0])
        gains.append(done.gain[0, 5])
        assert done.weight[5] < done.weight[:5].min()
    assert np.std(means) < np.std(gains) / 8


def test_tasks_share_units_and_readers():
    """The same task twice is known no better than once."""
    readings, gains = compared(little(items=60))
    once = compare_readers([(readings, gains)], 2)
    twice = compare_readers([(readings, gains)] * 2, 2)
    for whom in ("these", "like_these"):
        for m in range(2):
            first, second = (getattr(done, whom).of(m) for done in (once, twice))
            assert_allclose(second.half_width(), first.half_width(), rtol=1e-9)


def test_a_gain_over_one_reader_rests_on_the_units_that_reader_read():
    readings, gains = compared(little(groups=7))
    done = compare_readers([(readings, gains)], 2)
    for m, reader in np.ndindex(done.gain.shape):
        spread, mine = done.spread[m][reader], readings.reader == reader
        moved = np.bincount(readings.unit[mine], gains[reader].influence[m])
        reads = len(np.unique(readings.unit[mine]))
        square = float((moved**2).sum())
        excess = reads * (moved**4).sum() / square**2 - 1
        assert_allclose(spread.items, reads / (reads - 1) * square)
        assert_allclose(spread.df_items, min(reads - 1, 2 * reads / excess))
        assert_allclose(spread.floor, 1 / (reads + 1) ** 2)


def test_intervals_at_once_are_wider_and_those_of_one_model_are_its_own():
    zero = np.zeros((3, 3))
    cell = TwoWay(
        np.array([0.1, 0.2, 0.3]), np.diag([1.0, 1.0, 1.0]), zero, zero, zero, zero + 200, 0.0,
        0.0, Population(annotators=False),
    )  # fmt: skip
    widths = simultaneous_widths(cell)
    alone = cell.of(0).half_width()
    assert 1.18 * alone < widths[0] < 1.26 * alone  # 2.41 instead of 1.97
    assert_allclose(widths, widths[0])
    assert simultaneous_widths(cell.subset([1]))[0] == alone
    copies = TwoWay(
        cell.values, zero + 1, zero, zero, zero, zero + 200, 0.0, 0.0,
        Population(annotators=False),
    )  # fmt: skip
    assert_allclose(simultaneous_widths(copies), alone, rtol=0.03)


# ---- studies drawn anew ---------------------------------------------------------------------


def drawn(panel, measure, studies, *, who=None, key=51):
    """Contrasts of some studies; the readers are the same where they are given."""
    for seed in range(studies):
        random = np.random.default_rng([key, seed])
        people = readers_of(random, panel) if who is None else who
        readings, scores = draw(random, panel, people)
        yield contrasts(readings, scores, panel.readers, measure)


@pytest.mark.parametrize("panel", [PANELS[0], PANELS[2], PANELS[3]], ids=lambda p: p.name)
def test_intervals_cover_means_over_readers_like_these(panel):
    true = mean_gain(panel, "balanced", panels=16)
    inside, variance, values = [], [], []
    for done in drawn(panel, "balanced", 32 if panel.items < 1000 else 12):
        spread, value = done.like_these.of(0), done.these.values[0]
        inside.append(abs(value - true) < spread.half_width())
        variance.append(spread.variance)
        values.append(value)
    assert np.mean(inside) > 0.85
    assert 0.5 < np.median(variance) / np.var(values) < 3


def test_items_alone_are_what_these_readers_vary_by():
    panel = PANELS[0]
    who = readers_of(np.random.default_rng(1), panel)
    done = list(drawn(panel, "balanced", 60, who=who))
    spread = np.var([one.these.values[0] for one in done])
    assert 0.6 < np.mean([one.these.of(0).variance for one in done]) / spread < 1.5
    assert np.mean([one.like_these.of(0).variance for one in done]) > 1.3 * spread


def test_the_leader_of_six_equal_models_is_not_claimed_for():
    panel = PANELS[0]
    true = mean_gain(panel, "balanced", panels=16)
    above = {"alone": 0, "at once": 0}
    for done in drawn(panel, "balanced", 60):
        best = int(done.these.values.argmax())
        lead = done.these.values[best] - true
        above["alone"] += lead > done.these.of(best).half_width()
        above["at once"] += lead > simultaneous_widths(done.like_these)[best]
    assert above["at once"] <= 4 < above["alone"]

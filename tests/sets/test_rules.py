"""Rules of prediction sets: golden values, slow twins, laws, errors, and what they promise."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise import InputError
from equipoise.sets import (
    Calibration,
    calibrate,
    calibrate_p_values,
    combine_p_values,
    conformal_threshold,
    conformity,
    drawn_labels,
    expected_conformity,
    p_values,
    smallest_sets,
)
from equipoise.sets.coverage import Coverage
from equipoise.sets.rules import SetSample
from equipoise.study.study import Study
from equipoise.types import Annotations, Grouping, Plausibilities, Predictions
from tests.oracles import sets as slow
from tests.sets.worlds import CLASSES, World

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "conformal.json").read_text(encoding="utf-8")
)
MAJORITY, VOTES = (Calibration(), True), (Calibration(), False)
BOUND = (Calibration(guarantee="two_way"), False)
SCORES = ("probability", "aps", "raps")
thirds = st.integers(1, 6).map(lambda k: k / 6)


def chances(items, classes=4):
    """Probabilities with many ties."""
    rows = st.lists(st.integers(0, 4), min_size=classes, max_size=classes).filter(any)
    return st.lists(rows, min_size=items, max_size=items).map(
        lambda table: np.array(table) / np.array(table).sum(axis=1, keepdims=True)
    )


# ---- golden values ---------------------------------------------------------------------------


def test_thresholds_are_those_of_the_reference_at_the_midpoint():
    scores = np.array(GOLDEN["scores"])[np.arange(10), GOLDEN["labels"]]
    for alpha, value in GOLDEN["threshold"].items():
        found = conformal_threshold(scores, alpha=float(alpha), midpoint=True)
        assert found == pytest.approx(value, abs=1e-12)
        exact = conformal_threshold(scores, alpha=float(alpha))
        assert exact == slow.split_threshold(scores.tolist(), float(alpha)) <= found


def test_thresholds_of_drawn_labels_are_those_of_the_reference():
    drawn = np.linspace(0.01, 1.0, 40)  # four labels for each of ten items
    weights = np.full(40, 0.25)
    found = conformal_threshold(drawn, weights, alpha=0.2, step=0.25, midpoint=True)
    assert found == pytest.approx(GOLDEN["mc_quantile"], abs=1e-12)


def test_p_values_and_their_combinations_are_those_of_the_reference():
    scores = np.array(GOLDEN["scores"])[np.arange(10), GOLDEN["labels"]]
    found = p_values(scores, np.array(GOLDEN["test_scores"]))
    assert found == pytest.approx(np.array(GOLDEN["p_values"]), abs=1e-12)
    three = np.array([[0.01, 0.04], [0.2, 0.3], [0.5, 0.9]])
    for method, value in GOLDEN["combine"].items():
        assert combine_p_values(three, method) == pytest.approx(np.array(value), abs=1e-12)
        assert combine_p_values(three.T, method, axis=1) == pytest.approx(value, abs=1e-12)


def test_the_empirical_distribution_is_that_of_the_reference():
    held, new = np.array([0.2, 0.3, 0.5, 0.7, 0.9]), np.array([0.1, 0.5, 0.8, 0.95])
    assert p_values(held, new, plus_one=False) == pytest.approx(GOLDEN["ecdf"], abs=1e-12)


def test_expected_conformity_is_that_of_the_reference():
    plausible = np.array([[0.5, 0.5, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]])
    found = expected_conformity(np.array(GOLDEN["scores"][:3]), plausible)
    assert found == pytest.approx(np.array(GOLDEN["expected_conformity"]), abs=1e-12)


# ---- slow twins ------------------------------------------------------------------------------


@given(chances(5), st.sampled_from(SCORES))
def test_scores_equal_their_definition(chance, score):
    expected = [slow.scores(row, score) for row in chance.tolist()]
    assert conformity(chance, score) == pytest.approx(np.array(expected), abs=1e-9)


@given(chances(4), thirds.filter(lambda level: level < 1))
def test_smallest_sets_equal_their_definition(mass, level):
    expected = [slow.smallest_set(row, level) for row in mass.tolist()]
    assert smallest_sets(mass, level).tolist() == expected


@given(
    chances(12), chances(12), st.sampled_from([0.1, 0.2, 0.25, 0.5]), st.sampled_from([1, 3])
)
def test_thresholds_equal_their_definition(scores, weights, alpha, block):
    found = conformal_threshold(scores, weights, alpha=alpha, block=block)
    pairs = [*zip(scores.ravel().tolist(), weights.ravel().tolist(), strict=True)]
    assert found == slow.threshold(pairs, alpha, block)


@given(st.lists(st.integers(0, 9), min_size=4, max_size=30), st.sampled_from([0.2, 0.3, 0.5]))
def test_one_label_per_item_is_split_conformal_prediction(scores, alpha):
    found = conformal_threshold(np.array(scores, float), alpha=alpha)
    assert found == slow.split_threshold([float(s) for s in scores], alpha)


@given(chances(6), chances(6), chances(2))
def test_p_values_equal_their_definition(scores, weights, new):
    pairs = [*zip(scores.ravel().tolist(), weights.ravel().tolist(), strict=True)]
    expected = [[slow.p_value(pairs, s) for s in row] for row in new.tolist()]
    assert p_values(scores, new, weights) == pytest.approx(np.array(expected), abs=1e-9)


@settings(max_examples=20)
@given(chances(7), st.integers(0, 2**28 - 1))
def test_coverage_of_strata_equals_its_definition(labels, bits):
    member = np.array([(bits >> k) & 1 for k in range(28)], dtype=bool).reshape(7, 4)
    code = np.arange(4)[None] % 2
    found = Coverage.of_sets(labels, member).within(code, 2).values
    for place in (0, 1):
        inside = np.broadcast_to(code == place, labels.shape)
        if labels[inside].any():
            expected = slow.coverage(labels.tolist(), member.tolist(), inside.tolist())
            assert found[place] == pytest.approx(expected)
        else:
            assert np.isnan(found[place])


def sample_of(votes, model):
    return SetSample.of(Study.of(model, votes, metrics=["brier_score"]))


def test_the_variance_of_coverage_is_that_of_accuracy_where_sets_hold_one_class():
    votes, model = World(5).study(3, 120)
    sample = sample_of(votes, model)
    top = model.values == model.values.max(axis=1, keepdims=True)
    covered = Coverage.of_sets(sample.labels(0), top)
    spread = covered.cell(sample.shared, 0).of(0)
    evaluation = Study.of(model, votes, metrics=["accuracy"]).evaluation
    accuracy = evaluation.two_way("accuracy").of(0)
    assert covered.values[0] == pytest.approx(evaluation.estimate("net", "accuracy").value)
    assert spread.items == pytest.approx(accuracy.items)
    assert spread.annotators == pytest.approx(accuracy.annotators)
    assert spread.cells == pytest.approx(accuracy.cells)
    hard = Coverage.of_sets(sample.labels(0, hard=True), top)
    by_majority = evaluation.two_way("accuracy", labels="hard").of(0)
    assert hard.cell(sample.shared, 0, "hard").of(0).annotators == pytest.approx(
        by_majority.annotators
    )


def test_chunks_of_thresholds_change_nothing(monkeypatch):
    votes, model = World(4, per_item=3).study(4, 60)
    sample = sample_of(votes, model)
    at = np.array([0.05, 0.1, 0.2, 0.4])
    covered = Coverage.of_thresholds(sample.labels(0), model.values, at)
    whole = covered.cell(sample.shared, 0)
    monkeypatch.setattr("equipoise.sets.coverage.CHUNK", 1)
    parts = covered.cell(sample.shared, 0)
    for name in ("items", "annotators", "cells"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), abs=1e-15)


def test_a_yes_no_question_is_one_of_two_classes():
    random = np.random.default_rng(5)
    chance = random.random(80)
    label = (random.random((80, 4)) < chance[:, None]).astype(int)
    item, who = (axis.ravel() for axis in np.indices(label.shape))
    facts = {
        "items": tuple(f"s{k}" for k in range(80)), "annotators": tuple("wxyz"),
        "item": item, "annotator": who, "label": label.ravel(), "classes": ("no", "yes"),
    }  # fmt: skip
    yes_no = Annotations(kind="binary", **facts)
    score = Predictions("net", yes_no.items, chance)
    both = Predictions(
        "net", yes_no.items, np.stack([1 - chance, chance], axis=1), ("no", "yes")
    )
    rules = [
        calibrate(model, yes_no, alpha=0.2, guarantee="two_way") for model in (score, both)
    ]
    assert rules[0].threshold == rules[1].threshold > 0
    assert rules[0].classes == ("no", "yes")
    assert rules[0].sets(score).names == rules[1].sets(both).names


# ---- laws ------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("guarantee", ["average", "two_way"])
def test_sets_shrink_as_alpha_grows(score, guarantee):
    votes, model = World(5).study(0, 120)
    rules = [
        calibrate(model, votes, alpha=alpha, score=score, guarantee=guarantee)
        for alpha in (0.05, 0.1, 0.2, 0.4)
    ]
    sets = [rule.sets(model).member for rule in rules]
    assert all((more >= fewer).all() for more, fewer in pairwise(sets))
    assert len({rule.threshold for rule in rules}) > 2


@pytest.mark.parametrize("guarantee", ["average", "two_way"])
def test_the_order_of_items_classes_and_readers_changes_nothing(guarantee):
    votes, model = World(5).study(1, 80)
    rule = calibrate(model, votes, alpha=0.1, guarantee=guarantee, draws=3)
    rows, columns = np.random.default_rng(0).permutation(80), np.array([3, 0, 5, 1, 4, 2])
    turned = Predictions(
        "net",
        tuple(model.items[i] for i in rows),
        model.values[np.ix_(rows, columns)],
        tuple(CLASSES[k] for k in columns),
    )
    order = np.random.default_rng(1).permutation(len(votes))
    place = np.argsort(columns)
    shuffled = Annotations(
        kind="nominal",
        items=votes.items,
        classes=turned.classes,
        annotators=votes.annotators,
        item=votes.item[order],
        annotator=votes.annotator[order],
        label=place[votes.label[order]],
    )
    same = calibrate(turned, shuffled, alpha=0.1, guarantee=guarantee, draws=3)
    assert same.threshold == pytest.approx(rule.threshold, abs=1e-12)


@given(chances(9, 3), st.permutations(range(3)))
def test_classes_that_tie_are_in_sets_together(chance, order):
    for score in SCORES:
        found = conformity(chance, score)
        turned = conformity(chance[:, order], score)
        assert turned == pytest.approx(found[:, order], abs=1e-12)
        for row, values in zip(chance, found, strict=True):
            assert all(len({values[k] for k in np.flatnonzero(row == p)}) == 1 for p in row)


def test_tests_and_thresholds_make_the_same_sets():
    votes, model = World(5).study(2, 90)
    labels = {votes.items[i]: CLASSES[int(votes.label[votes.item == i][0])] for i in range(90)}
    for alpha in (0.05, 0.1, 0.3):
        rule = calibrate(model, labels, alpha=alpha)
        tests = calibrate_p_values(model, labels, alpha=alpha, combine="mean")
        assert (rule.sets(model).member == tests.sets(model).member).all()


def test_shares_of_votes_are_the_limit_of_drawn_labels():
    votes, model = World(7).study(5, 150)
    limit = calibrate(model, votes, alpha=0.1).threshold
    drawn = [calibrate(model, votes, alpha=0.1, draws=400, seed=s).threshold for s in range(4)]
    few = [calibrate(model, votes, alpha=0.1, draws=1, seed=s).threshold for s in range(4)]
    assert max(abs(t - limit) for t in drawn) < 0.1 * max(abs(t - limit) for t in few) + 1e-3
    same = calibrate(model, votes, alpha=0.1, draws=400, seed=0).threshold
    assert same == drawn[0]


def test_drawn_labels_follow_shares_and_names():
    shares = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    names = ("x", "y"), ("a", "b", "c")
    drawn = drawn_labels(shares, 6000, 0, names)
    assert np.bincount(drawn[:, 0]) / 6000 == pytest.approx(shares[0], abs=0.02)
    assert not drawn[:, 1].any()
    turned = drawn_labels(shares[::-1], 6000, 0, (("y", "x"), names[1]))
    assert (turned[:, ::-1] == drawn).all()


def test_groups_of_items_are_one_unit():
    votes, model = World(5, group=5).study(0, 200)
    free = Annotations(
        kind="nominal", items=votes.items, classes=CLASSES, annotators=votes.annotators,
        item=votes.item, annotator=votes.annotator, label=votes.label,
    )  # fmt: skip
    alone, grouped = (calibrate(model, table, alpha=0.1).threshold for table in (free, votes))
    assert grouped < alone
    with pytest.raises(InputError, match=r"in groups of up to 5.*at least 495 items"):
        calibrate(model, votes, alpha=0.01)


# ---- strata ----------------------------------------------------------------------------------


def test_thresholds_by_class_group_and_kind_of_item():
    votes, model = World(5).study(0, 240)
    by_class = calibrate(model, votes, alpha=0.2, by="class")
    assert by_class.strata == CLASSES and len(set(by_class.thresholds)) == 6
    risk = Grouping.of(dict(zip(CLASSES, ["low"] * 4 + ["high"] * 2, strict=True)))
    rule = calibrate(model, votes, alpha=0.2, by=risk)
    labels = sample_of(votes, model).labels(0)
    for place, columns in ((0, slice(0, 4)), (1, slice(4, 6))):
        scores, weights = model.values[:, columns], labels[:, columns]
        assert rule.thresholds[place] == conformal_threshold(scores, weights, alpha=0.2)
    sites = {item: "north" if k % 3 else "south" for k, item in enumerate(votes.items)}
    of_items = calibrate(model, votes, alpha=0.2, by=sites)
    assert of_items.strata == ("north", "south")
    new = Predictions("net", ("x", "y"), model.values[:2], CLASSES)
    found = of_items.sets(new, {"x": "north", "y": "south"}).member
    assert (found == (new.values >= of_items.thresholds[:, None])).all()
    with pytest.raises(InputError, match="thresholds of 2 strata"):
        _ = of_items.threshold


def test_what_nobody_said_has_no_threshold():
    votes, model = World(5).study(0, 60)
    some = Annotations(
        kind="nominal", items=votes.items, classes=CLASSES, annotators=votes.annotators,
        item=votes.item, annotator=votes.annotator, label=np.minimum(votes.label, 3),
    )  # fmt: skip
    with pytest.raises(InputError, match=r"classes 'e', 'f': never voted for") as error:
        calibrate(model, some, alpha=0.1, by="class")
    assert "leave by out" in str(error.value)
    assert calibrate(model, some, alpha=0.1).threshold > 0


def test_strata_with_little_to_go_by_hold_all_classes_and_say_so():
    votes, model = World(5).study(0, 60)
    sites = {item: "north" if k > 2 else "south" for k, item in enumerate(votes.items)}
    rule = calibrate(model, votes, alpha=0.1, by=sites)
    assert rule.thresholds[1] == -np.inf < rule.thresholds[0]
    assert "'south'" in str(next(note for note in rule.notices if note.code == "all_classes"))
    assert set(rule.sets(model).sizes[:3]) == {6}


# ---- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, float("nan"), "0.1", None])
def test_alpha_is_between_0_and_1(alpha):
    votes, model = World(5).study(0, 40)
    with pytest.raises(InputError, match="expected a number between 0 and 1"):
        calibrate(model, votes, alpha=alpha)


def test_fewer_items_than_one_over_alpha_are_refused():
    votes, model = World(5).study(0, 40)
    with pytest.raises(
        InputError, match=r"40 items and alpha 0.02, expected at least 49 items"
    ):
        calibrate(model, votes, alpha=0.02)
    assert calibrate(model, votes, alpha=0.025).threshold > -np.inf


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"score": "lac"}, "'lac'.*probability"), ({"guarantee": "all"}, "'all'.*average"),
        ({"by": "risk"}, "'risk'.*class"), ({"draws": -1}, "-1"), ({"level": 0.4}, "0.4"),
        ({"midpoint": True, "guarantee": "two_way"}, "leave midpoint out"),
        ({"strata": "class"}, "strata.*by"),
    ],
)  # fmt: skip
def test_words_that_mean_nothing_are_refused(how, message):
    votes, model = World(5).study(0, 40)
    with pytest.raises(InputError, match=message):
        calibrate(model, votes, alpha=0.1, **how)


def test_new_items_without_a_group_are_refused():
    votes, model = World(5).study(0, 60)
    rule = calibrate(model, votes, alpha=0.2, by=dict.fromkeys(votes.items, "north"))
    new = Predictions("net", ("x",), model.values[:1], CLASSES)
    with pytest.raises(InputError, match="no group for 'x'"):
        rule.sets(new)
    with pytest.raises(InputError, match="south"):
        rule.sets(new, {"x": "south"})


def test_inputs_are_not_changed_and_rules_cannot_be():
    votes, model = World(5).study(0, 60)
    before = model.values.copy(), votes.label.copy()
    rule = calibrate(model, votes, alpha=0.1, guarantee="two_way")
    assert (model.values == before[0]).all() and (votes.label == before[1]).all()
    with pytest.raises(AttributeError):
        rule.items = 3
    with pytest.raises(ValueError, match="read-only"):
        rule.thresholds[0] = 0.0


# ---- what they promise -----------------------------------------------------------------------


def test_few_readers_are_told_that_every_reader_is_too_much():
    votes, model = World(5).study(0, 60)
    (note,) = (
        n for n in calibrate(model, votes, alpha=0.1).notices if n.code == "every_reader"
    )
    assert "fewer than ten (5 here)" in str(note)
    votes, model = World(10).study(0, 60)
    assert "every_reader" not in [n.code for n in calibrate(model, votes, alpha=0.1).notices]


@pytest.mark.parametrize(
    ("world", "majority"),
    [
        (World(5), 0.86), (World(12), 0.82), (World(20, per_item=3), 0.88),
        (World(5, group=5), 0.88),
    ],
)  # fmt: skip
def test_sets_hold_what_new_readers_say(world, majority):
    """Forty studies of each design; the full table is `python -m benchmarks sets`."""
    by_rule = world.outcomes(40, [MAJORITY, VOTES, BOUND])
    coverage, size = by_rule[..., 0], by_rule[..., 1].mean(axis=1)
    assert coverage[0].mean() < majority and (coverage[0] < 0.9).mean() > 0.8
    assert 0.895 < coverage[1].mean() < 0.945
    assert (coverage[2] < 0.9).mean() <= 0.1
    assert size[0] < size[1] < size[2] < 5.2


def test_plausibilities_with_draws_widen_the_bound():
    votes, model = World(6).study(0, 200)
    shares = sample_of(votes, model).labels(0)
    random = np.random.default_rng(0)
    draws = np.stack([random.dirichlet(0.3 + 3 * row, size=30) for row in shares], axis=1)
    many = Plausibilities.dense(draws, items=votes.items, classes=CLASSES, method="by hand")
    mean = Plausibilities.dense(
        draws.mean(axis=0)[None], items=votes.items, classes=CLASSES, method="by hand"
    )
    how = {"alpha": 0.1, "guarantee": "two_way"}
    assert calibrate(model, many, **how).threshold <= calibrate(model, mean, **how).threshold
    assert calibrate(model, many, alpha=0.1).threshold == pytest.approx(
        calibrate(model, mean, alpha=0.1).threshold
    )
    sample = sample_of(many, model)
    covered = Coverage.of_sets(sample.labels(0), model.values > 0.1)
    by_draw = [(draw * (model.values > 0.1)).sum(axis=1).mean() for draw in draws]
    assert covered.cell(sample.shared, 0).draws[0, 0] == pytest.approx(np.var(by_draw, ddof=1))


def test_the_promise_of_combined_p_values():
    """Dependent draws: the empirical distribution holds, Fisher's rule need not."""
    world = World(6)
    chance, said = world.population(1500)
    new = Predictions("net", tuple(f"n{k}" for k in range(1500)), chance, CLASSES)
    held = {}
    for combine in ("ecdf", "bonferroni", "mean"):
        found = []
        for seed in range(8):
            votes, model = world.study(seed, 200)
            rule = calibrate_p_values(
                model, votes, alpha=0.1, combine=combine, draws=20, seed=seed
            )
            found.append((said * rule.sets(new).member).sum(axis=1).mean())
        held[combine] = np.mean(found)
    assert held["ecdf"] > 0.88 and held["bonferroni"] > 0.95 and held["mean"] > 0.8

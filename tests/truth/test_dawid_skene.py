"""Dawid-Skene against golden values, its own bound, and data with known truth."""

import csv
import json
import os
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise import Annotations, InputError, evaluate, read_annotations
from equipoise.truth import Fit, Smoothing, annotator_bootstrap, dawid_skene, mean_vote
from equipoise.types import Predictions

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/dawid_skene.json").read_text())
PLAIN = Smoothing(0, 0)


@pytest.fixture
def tiny():
    votes = np.array(GOLDEN["tiny_6x3"]["votes_item_annotator_label"])
    return Annotations(
        kind="binary", items=tuple("abcdef"), classes=("0", "1"), annotators=tuple("xyz"),
        item=votes[:, 0], annotator=votes[:, 1], label=votes[:, 2],
    )  # fmt: skip


def real(name, **how):
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds votes/")
    path = Path(os.environ["EQUIPOISE_DATA"]) / "votes" / name
    return path, read_annotations(path, **how)


def test_the_example_of_dawid_and_skene():
    golden = GOLDEN["anesthesia"]
    _, votes = real("anesthesia.csv", kind="ordinal", classes=["1", "2", "3", "4"])
    made = dawid_skene(votes, smoothing=PLAIN, fit=Fit(1e-13, 5000))
    assert made.diagnostics["trace"][-1] == pytest.approx(golden["log_likelihood"], abs=1e-7)
    assert_allclose(made.diagnostics["class_prior"], golden["class_prior"], atol=1e-7)
    assert_allclose(made.skills.confusion[0], golden["confusion_annotator1"], atol=1e-7)
    for item, row in golden["posterior_rows_item_1based"].items():
        assert_allclose(made.mean[made.items.index(item)], row, atol=1e-7)


@pytest.mark.parametrize("steps", [1, 5, 20])
def test_step_by_step(tiny, steps):
    expected = GOLDEN["tiny_6x3"][f"posterior_class1_after_{steps}_plain_em_iterations"]
    made = dawid_skene(tiny, smoothing=PLAIN, fit=Fit(0, steps))
    assert_allclose(made.mean[:, 1], expected, atol=1e-8)
    assert made.notices  # it had no chance to converge, and says so


@pytest.mark.parametrize("variant", ["full", "one_coin"])
@pytest.mark.parametrize("smoothing", [Smoothing(), PLAIN, Smoothing(2, 0)])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_never_falls(variant, smoothing, seed):
    random = np.random.default_rng(seed)
    truth, rows = random.integers(0, 3, 40), np.arange(160)
    right = random.random(160) < 0.6
    votes = Annotations(
        kind="nominal", items=tuple(map(str, range(40))), classes=tuple("abc"),
        annotators=tuple("vwxyz"), item=rows % 40, annotator=random.integers(0, 5, 160),
        label=np.where(right, truth[rows % 40], random.integers(0, 3, 160)),
        weight=random.integers(1, 3, 160).astype(float),
    )  # fmt: skip
    made = dawid_skene(votes, variant=variant, smoothing=smoothing)
    steps = np.diff(made.diagnostics["trace"])
    assert (steps >= -1e-8).all()
    assert made.diagnostics["converged"]


def test_the_accuracy_of_an_annotator_weighs_classes_by_how_common_they_are():
    """Right on every common item and on no rare one: the share of items that are common."""
    label = np.array([0] * 36 + [1] * 4)
    said = np.stack([label, label, label, np.zeros(40, dtype=int)])
    votes = Annotations(
        kind="binary", items=tuple(map(str, range(40))), classes=("common", "rare"),
        annotators=tuple("wxyz"), item=np.tile(np.arange(40), 4),
        annotator=np.repeat(np.arange(4), 40), label=said.ravel(),
    )  # fmt: skip
    made = dawid_skene(votes, smoothing=PLAIN)
    assert_allclose(made.skills.value, [1, 1, 1, 0.9], atol=1e-6)


def test_a_leaning_crowd_is_read_better_than_by_its_majority():
    path, votes = real("bluebirds.csv")
    with path.open() as file:
        known = {row["item"]: int(row["truth"]) for row in csv.DictReader(file)}
    truth = np.array([known[item] for item in votes.items])
    fitted, share = dawid_skene(votes).mean[:, 1], mean_vote(votes).mean[:, 1]
    assert ((fitted > 0.5) == truth).mean() == pytest.approx(0.90, abs=0.01)
    assert ((share > 0.5) == truth).mean() == pytest.approx(0.76, abs=0.01)

    def loss(chance):
        return -np.log(np.clip(np.where(truth, chance, 1 - chance), 1e-9, 1)).mean()

    many = annotator_bootstrap(dawid_skene, votes, draws=40, seed=0)
    assert many.draws == 40
    assert loss(many.mean[:, 1]) < loss(fitted)


def test_gold_settles_its_item_and_teaches_about_annotators(tiny):
    rows = {"item": np.append(tiny.item, 5), "annotator": np.append(tiny.annotator, 0)}
    known = Annotations(
        kind="binary", items=tiny.items, classes=tiny.classes, annotators=tiny.annotators,
        label=np.append(tiny.label, 0), **rows,
        is_gold=np.append(np.zeros(len(tiny), bool), True),
    )  # fmt: skip
    made = dawid_skene(known)
    assert_allclose(made.mean[5], [1, 0])
    assert (np.diff(made.diagnostics["trace"]) >= -1e-9).all()
    before, after = dawid_skene(tiny).skills.value, made.skills.value
    assert (before != after).any()


def test_classes_that_nothing_tells_apart_stay_alike():
    """Rounding once chose 1 or 2 for every item, by the order of classes."""
    item, label = np.array([2, 0, 2, 1, 0, 0, 1, 0]), np.array([1, 2, 0, 2, 0, 3, 3, 1])
    who = np.array([0, 1, 1, 2, 0, 1, 2, 2])

    def fitted(new, rows=slice(None), people=(0, 1, 2)):
        votes = Annotations(
            kind="nominal", items=tuple("abc"), classes=tuple("stuv"), annotators=tuple("xyz"),
            item=item[rows], annotator=np.array(people)[who][rows],
            label=np.array(new)[label][rows],
        )  # fmt: skip
        return dawid_skene(votes).mean[:, new]

    plain = fitted([0, 1, 2, 3])
    assert_allclose(plain[:, 2], plain[:, 3], atol=1e-12)  # y and z say 2 where they say 3
    for new in permutations(range(4)):
        assert_array_equal(fitted(list(new)), plain)
    for people in permutations(range(3)):
        assert_array_equal(fitted([0, 1, 2, 3], slice(None, None, -1), people), plain)


def test_weights_are_repetitions(tiny):
    twice = Annotations(
        kind="binary", items=tiny.items, classes=tiny.classes, annotators=tiny.annotators,
        item=np.tile(tiny.item, 2), annotator=np.tile(tiny.annotator, 2),
        label=np.tile(tiny.label, 2),
    )  # fmt: skip
    heavy = Annotations(
        kind="binary", items=tiny.items, classes=tiny.classes, annotators=tiny.annotators,
        item=tiny.item, annotator=tiny.annotator, label=tiny.label,
        weight=np.full(len(tiny), 2.0),
    )  # fmt: skip
    assert_allclose(dawid_skene(twice).mean, dawid_skene(heavy).mean, atol=1e-9)


def test_what_it_cannot_take_is_refused_with_a_reason(tiny):
    with pytest.raises(InputError, match=r"anonymous votes .*, expected annotators with ids; "):
        dawid_skene(tiny.anonymous())
    with pytest.raises(InputError, match=r"kind ranking, expected single labels; "):
        ranking = Annotations(
            kind="ranking", items=("a",), classes=("x", "y"), annotators=("r",),
            item=np.zeros(2, int), annotator=np.zeros(2, int), label=np.array([0, 1]),
            rank=np.array([0, 1]), reading=np.zeros(2, int),
        )  # fmt: skip
        dawid_skene(ranking)
    with pytest.raises(InputError, match="expected pseudo-counts of at least 0"):
        dawid_skene(tiny, smoothing=Smoothing(-1))
    with pytest.raises(InputError, match="did you mean 'one_coin'"):
        dawid_skene(tiny, variant="onecoin")


def test_bootstrap_draws_are_seeded_and_feed_an_evaluation(tiny):
    model = partial(dawid_skene, variant="one_coin")
    first, again = (annotator_bootstrap(model, tiny, draws=8, seed=2) for _ in range(2))
    assert (first.mass == again.mass).all()
    other = annotator_bootstrap(model, tiny, draws=8, seed=3)
    assert (first.mass != other.mass).any()
    scores = Predictions("m", tiny.items, np.arange(6.0))
    done = evaluate(scores, first, metrics=["auroc"])
    assert done.plan.kind == "items x posterior"

"""Choosing a model: what fits, held-out votes, where models differ, and what to beware of."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from equipoise import Annotations, InputError, Plausibilities
from equipoise.truth import Chain, dirichlet
from equipoise.truth.annotation_checks import cautions
from equipoise.truth.choosing import (
    companions,
    contested,
    decisions,
    disagreement,
    fitted,
    held_out,
    model,
    recommended,
    suitable,
    verdict,
)


def crowd(skills, items=120, seed=0, **more):
    """Yes/no votes of annotators with the given chances of being right."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, items)
    right = random.random((len(skills), items)) < np.array(skills)[:, None]
    annotator, item = (axis.ravel() for axis in np.indices(right.shape))
    return truth, Annotations(
        kind="binary", items=tuple(f"i{i}" for i in range(items)), classes=("no", "yes"),
        annotators=tuple(f"r{a}" for a in range(len(skills))), item=item, annotator=annotator,
        label=np.where(right, truth, 1 - truth).ravel(), **more,
    )  # fmt: skip


def test_models_are_offered_by_kind():
    _, votes = crowd([0.8, 0.7, 0.9])
    assert recommended(votes)[0] == "dirichlet"
    assert recommended(votes.anonymous())[0] == "dirichlet"
    assert "dawid_skene" not in suitable(votes.anonymous())
    readings = Annotations.from_rankings([[[[0], [1]]]], classes=["a", "b", "c"])
    assert recommended(readings)[0] == "plackett_luce"
    ratings = Annotations(kind="interval", items=("a",), item=np.array([0]), value=np.ones(1))
    assert recommended(ratings) == ("normal", "normal, because the annotations are ratings.")
    assert companions(votes) == ("dawid_skene", "mean_vote")
    graded = replace(votes, kind="ordinal")
    assert companions(graded) == ("dawid_skene", "dawid_skene_ordinal", "mean_vote")
    _, many = crowd([0.8] * 6)
    assert companions(many) == ("dawid_skene", "glad", "mean_vote")
    assert companions(readings) == ("inverse_rank",)
    assert companions(votes.anonymous()) == ("mean_vote",)
    assert companions(ratings) == ()


def test_weights_and_gold_of_rankings_narrow_the_choice():
    readings = Annotations.from_rankings([[[[0], [1]]]], classes=["a", "b", "c"])
    heavy = replace(readings, weight=np.full(2, 1.5))
    assert recommended(heavy)[0] == "probabilistic_inverse_rank"
    known = replace(readings, is_gold=np.ones(2, bool))
    assert recommended(known)[0] == "dirichlet"
    assert "inverse_rank" not in suitable(known)
    fitted(heavy, suitable(heavy), "")
    fitted(known, suitable(known), "")


def test_confusion_matrices_that_do_not_fit_are_not_recommended():
    _, votes = crowd([0.8, 0.7, 0.9], items=4)
    wide = replace(votes, kind="nominal", classes=tuple(f"k{k}" for k in range(6000)))
    assert "dawid_skene" not in suitable(wide)
    assert any("Odd annotators are not looked for" in str(one) for one in cautions(wide))


def test_settings_reach_the_models_that_have_them_and_no_other():
    _, votes = crowd([0.8, 0.7, 0.9], items=6)
    sure = model("dirichlet", votes, reliability=5)(votes)
    assert sure.parameters["reliability"] == 5
    with pytest.raises(InputError, match="glad, reliability: 5, expected nothing: it has no"):
        model("glad", votes, reliability=5)
    with pytest.raises(InputError, match="takes classes, not ratings; leave it out"):
        model("dirichlet", votes, threshold=0.5)
    with pytest.raises(InputError, match="did you mean 'dirichlet'"):
        model("dirichlt", votes)
    readings = Annotations.from_rankings([[[[0], [1]]]], classes=["a", "b", "c"])
    assert (
        model("plackett_luce", readings, chain=Chain(seed=8))(readings).parameters["seed"] == 8
    )
    scale = Annotations(
        kind="interval", items=("a",), item=np.array([0, 0]), value=np.array([-1.0, 4.0])
    )
    with pytest.raises(InputError, match=r"-1 to 4; say .* threshold=1.5 is midway"):
        model("normal", scale)


def test_priors_reach_the_models_that_have_them():
    _, votes = crowd([0.8, 0.7, 0.9], items=6)
    assert model("dirichlet", votes, prior="0.5")(votes).parameters["prior"] == 0.5
    readings = Annotations.from_rankings([[[[0], [1]]]], classes=["a", "b", "c"])
    drawn = model("plackett_luce", readings, prior="notebook")(readings)
    assert drawn.parameters["prior"] == "notebook"
    name = "probabilistic_inverse_rank"
    inverse = model(name, readings, prior="full ties")(readings)
    assert inverse.parameters["prior"] == "full ties"
    with pytest.raises(InputError, match=r"prior: .* leave it out for the default"):
        model(name, readings, prior=0.5)
    with pytest.raises(InputError, match="prior: 'iid', expected empirical, uniform"):
        model("dirichlet", readings, prior="iid")(readings)
    with pytest.raises(InputError, match="mean_vote, prior: 1, expected nothing"):
        model("mean_vote", votes, prior=1)


def test_models_are_not_given_what_they_cannot_take():
    _, votes = crowd([0.8, 0.7, 0.9], items=6)
    readings = Annotations.from_rankings([[[[0], [1]]]], classes=["a", "b", "c"])
    ratings = Annotations(kind="interval", items=("a",), item=np.array([0]), value=np.ones(1))
    with pytest.raises(InputError, match="normal: binary labels, expected ratings"):
        model("normal", votes)
    with pytest.raises(InputError, match=r"normal: rankings, .* choose plackett_luce$"):
        model("normal", readings, threshold=1)
    for name in ("dawid_skene", "dawid_skene_ordinal", "glad"):
        with pytest.raises(InputError, match=f"{name}: rankings, .* choose plackett_luce"):
            model(name, readings)
        with pytest.raises(InputError, match=f"{name}: ratings, .* choose normal"):
            model(name, ratings)


def test_held_out_votes_prefer_the_model_that_made_them():
    _, skilled = crowd([0.95, 0.9, 0.6, 0.55, 0.5, 0.1])
    scores = held_out(skilled, ["dawid_skene", "dirichlet", "majority_vote"])
    assert scores["dawid_skene"] > scores["dirichlet"] > scores["majority_vote"]
    assert scores["majority_vote"] == -np.inf
    assert held_out(skilled, ["dirichlet"]) == held_out(skilled, ["dirichlet"])
    assert held_out(skilled, ["dirichlet"], seed=1) != held_out(skilled, ["dirichlet"])


def test_a_held_out_vote_by_hand():
    votes = Annotations(
        kind="binary", items=("a",), classes=("no", "yes"), annotators=("x", "y"),
        item=np.array([0, 0]), annotator=np.array([0, 1]), label=np.array([1, 1]),
    )  # fmt: skip
    expected = np.log(2 / 3)  # one yes is left: Dirichlet(1, 2)
    uniform = {"dirichlet": partial(dirichlet, prior="uniform")}
    assert held_out(votes, uniform, folds=2)["dirichlet"] == pytest.approx(expected)


def test_disagreement_is_the_largest_total_variation():
    _, votes = crowd([0.9, 0.6, 0.6])
    fits = fitted(votes, ["mean_vote", "majority_vote"], "")
    gap = np.abs(fits["mean_vote"].mean - fits["majority_vote"].mean).sum(axis=1) / 2
    assert np.allclose(disagreement(fits), gap)
    assert (disagreement({"one": fits["mean_vote"]}) == 0).all()


def test_items_decided_differently_are_counted_and_named():
    def by_hand(values):
        return Plausibilities.dense(
            np.array(values), items=("a", "b", "c"), classes=("no", "yes"), method="by hand"
        )

    fits = {
        "first": by_hand([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]),
        "second": by_hand([[0.4, 0.6], [0.9, 0.1], [0.4, 0.6]]),
    }
    (pair,) = decisions(fits)
    assert pair == ("first", "second", 2, pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert contested(fits) == ["b", "a"]  # the tie agrees with both classes
    (said,) = verdict(fits)
    text = "first and second decide 2 of 3 items differently. Look first at 'b' and 'a'."
    assert text in str(said)
    assert verdict({"first": fits["first"]}) == []
    alone = {name: fit.subset(np.array([1])) for name, fit in fits.items()}
    assert "decide 1 of 1 item differently" in str(verdict(alone)[0])


def test_a_held_out_vote_of_glad_is_a_sigmoid():
    _, votes = crowd([0.95, 0.9, 0.6, 0.55, 0.5, 0.1], items=200)
    scores = held_out(votes, ["glad", "dirichlet"])
    assert scores["glad"] > scores["dirichlet"]
    assert scores["glad"] > np.log(0.5)


def test_gold_is_never_held_out_and_counts_count():
    _, votes = crowd([0.9, 0.8, 0.7], items=20)
    rows = votes.annotator == 0
    known = replace(votes, is_gold=rows)
    score = held_out(known, ["mean_vote"])["mean_vote"]
    truth = votes.label[rows]
    wrong = (votes.label[~rows] != truth[votes.item[~rows]]).any()
    assert wrong
    assert score == -np.inf  # settled by gold, so a wrong vote is impossible
    twice = replace(votes, count=np.full(len(votes), 2))
    assert held_out(twice, ["dawid_skene"])["dawid_skene"] < 0
    with pytest.raises(InputError, match="1 folds, expected at least 2"):
        held_out(votes, ["dirichlet"], folds=1)


def test_odd_annotators_are_named():
    _, votes = crowd([0.9, 0.9, 0.85, 0.5, 0.05], items=600)
    label = votes.label.copy()
    label[votes.annotator == 2] = 1
    said = " ".join(map(str, cautions(replace(votes, label=label))))
    assert "1 annotator always gives the same answer: 'r2'" in said
    assert "hardly tells the classes apart: 'r3'" in said
    assert "tends to turn the classes around: 'r4'" in said


def codes(annotations):
    return {one.code for one in cautions(annotations)}


def test_degenerate_data_are_cautioned():
    truth, votes = crowd([0.8, 0.9, 0.7])
    assert not {"disconnected", "unanimous"} & codes(votes)
    same = replace(votes, label=truth[votes.item])
    assert "unanimous" in codes(same)
    keep = (votes.annotator == 0) == (votes.item < 60)
    apart = replace(
        votes, item=votes.item[keep], annotator=votes.annotator[keep], label=votes.label[keep]
    )
    assert any("2 groups that share no item" in str(one) for one in cautions(apart))
    assert any("single annotator, who is never" in str(one) for one in cautions(apart))
    one = Annotations(
        kind="binary", items=("a", "b"), classes=("no", "yes"), annotators=("x",),
        item=np.array([0, 1]), annotator=np.zeros(2, int), label=np.array([0, 1]),
    )  # fmt: skip
    assert "one_annotator" in codes(one)


def test_symmetric_and_lonely_data_are_cautioned():
    _, guesses = crowd([0.5, 0.5, 0.5, 0.5], items=400)
    assert any("hardly more than by chance" in str(one) for one in cautions(guesses))
    _, votes = crowd([0.8, 0.9, 0.7])
    assert "symmetric" not in codes(votes)
    lone = votes.annotator == votes.item % 3
    alone = replace(
        votes, item=votes.item[lone], annotator=votes.annotator[lone], label=votes.label[lone]
    )
    assert any("No item has two votes" in str(one) for one in cautions(alone))


def test_ratings_are_cautioned_too():
    def rated(item, value, **more):
        return Annotations(
            kind="interval", items=("a", "b"), item=np.array(item),
            value=np.array(value, float), **more,
        )  # fmt: skip

    assert cautions(rated([0, 0, 1], [1, 200, 3])) == []
    assert "do not scatter" in str(cautions(rated([0, 0, 1], [1, 1, 3]))[0])
    assert "No item has two ratings" in str(cautions(rated([0, 1], [1, 1]))[0])
    one = rated([0, 0, 1], [1, 2, 3], annotators=("x",), annotator=np.zeros(3, int))
    assert "only one annotator" in str(cautions(one)[0])

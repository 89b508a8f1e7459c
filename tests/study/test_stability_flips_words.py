"""Flips in words: who could overtake whom, also where nobody can or scores are infinite."""

import os
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from equipoise.study import MACRO
from equipoise.study.analyses.flip_search import UNITS
from equipoise.types import Predictions
from tests.analysed import flips
from tests.oracles import flips as oracle
from tests.oracles.bootstrap import annotations
from tests.strategies import names
from tests.study.test_stability_flips_oracle import as_given, drawn

real = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ, reason="needs the CheXpert files (EQUIPOISE_DATA)"
)

ITEMS = 10
RANDOM = np.random.default_rng(5)
VOTES = np.repeat((np.arange(ITEMS) % 2)[:, None], 3, axis=1) * 1.0
VOTES[0] = [1, 1, 0]
SURE = np.clip(VOTES[:, 1], 0.02, 0.98)
SURE[0] = 1.0  # one vote against it makes the score infinite
MILD = [np.clip(VOTES.mean(axis=1) + RANDOM.normal(0, 0.1, ITEMS), 0.1, 0.9) for _ in range(2)]


def models(scores):
    return [Predictions(f"model-{m}", names(len(s)), s) for m, s in enumerate(scores)]


def third_overtakes():
    """Leader, a second that is a little worse, and a third with one great mistake."""
    votes = np.repeat((np.arange(60) % 2)[:, None], 3, axis=1).astype(float)
    leader = votes[:, 0] + np.linspace(0, 0.4, 60)
    leader[0] = 1.1  # a negative among the positives
    second = leader.copy()
    second[[2, 4, 6]] = 1.05  # three more
    third = votes[:, 0] + np.linspace(0, 0.4, 60)
    third[59] = -1.0  # a positive below all
    return annotations(votes), models([leader, second, third])


def test_a_rival_ranked_third_is_found_when_it_needs_least():
    truth, given = third_overtakes()
    (flip,) = flips(given, truth).tasks
    values = oracle.goodness(
        [truth.label.reshape(60, 3).astype(float)],
        [np.stack([one.aligned(truth.items) for one in given])],
        "auroc",
    )
    assert list(np.argsort(-values)) == [0, 1, 2]
    assert (flip.b, flip.place, len(flip.members)) == ("model-2", 3, 1)
    assert flip.members[0].item == truth.items[59] and flip.exact
    (alone,) = flips(given[:2], truth, most=3).tasks
    assert len(alone.members) != 1


def test_one_model_has_nobody_to_overtake_it():
    truth, given = third_overtakes()
    done = flips(given[:1], truth)
    assert done.finding == "There is only one model: nobody can overtake it."
    (row,) = done.rows()
    assert (row["a"], row["b"], row["size"], row["idle"]) == (
        "model-0",
        None,
        None,
        "one model",
    )


@pytest.mark.parametrize("number", [2, 3, 6])
def test_models_that_are_all_level_are_said_to_be(number):
    truth, given = third_overtakes()
    scores = given[0].aligned(truth.items)
    done = flips(models([scores] * number), truth)
    last = "model-1" if number == 2 else "model-2" if number == 3 else "2 more"
    assert f" and {last} are tied at the top already by soft AUROC" in done.finding
    assert "no set" not in done.finding and "nothing was searched" in done.finding
    assert done.tasks[0].idle == "all level" and not done.tasks[0].exact


def test_an_undefined_metric_is_no_robust_lead():
    votes = np.ones((5, 2))
    done = flips(models(np.random.default_rng(0).random((2, 5))), annotations(votes))
    assert done.finding == "Soft AUROC is undefined: nothing was searched."
    assert done.tasks[0].idle == "undefined" and done.tasks[0].leaders == ()


def test_what_was_not_searched_is_said():
    votes = np.array([[1, 0, 1]] * 20 + [[0, 0, 1]] * 20, dtype=float)
    share = votes.mean(axis=1)
    good = share + np.random.default_rng(0).normal(0, 0.1, 40)
    done = flips(models([good, -good]), annotations(votes), metric="average_precision", most=3)
    assert "no set of up to 3 items was found whose absence" in done.finding
    assert done.finding.endswith("ahead of model-0; larger ones were not searched.")
    few = flips(models([share[::10], -share[::10]]), annotations(votes[::10]), most=50)
    assert "larger ones" not in few.finding and "up to 4 items" in few.finding


def test_level_leaders_are_named_together():
    truth, given = third_overtakes()
    scores = [one.aligned(truth.items) for one in given]
    twin = scores[0].copy()
    twin[[3, 5]] = twin[[5, 3]]  # two positives change places: level, but not the same
    done = flips(models([scores[0], twin, *scores[1:]]), truth, unit="changed votes")
    (flip,) = done.tasks
    assert flip.leaders == ("model-0", "model-1") and flip.a == "model-0 and model-1"
    assert "ahead of model-0 and model-1, which are tied" in done.finding
    assert "are tied at the top by soft AUROC" in str(done.notices[-1])


@pytest.mark.parametrize("unit", UNITS)
def test_the_average_of_tasks_leads_and_its_parts_name_their_task(unit):
    votes, scores = drawn(3, tasks=3, items=12, panel=3, models=3)
    done = flips(*as_given(votes, scores), unit=unit)
    assert [one.task for one in done.tasks] == [MACRO, *names(3, "task")]
    assert "(macro average)" in done.finding.split(". ")[0]
    assert {row["within"] for row in done.member_rows()} <= set(names(3, "task"))
    (one,) = flips(*as_given(votes, scores), unit=unit, task="task-1").tasks
    assert one == next(flip for flip in done.tasks if flip.task == "task-1")


@real
def test_no_rival_of_the_leaderboard_needs_less():
    from equipoise.datasets.chexpert import load_chexpert

    study = load_chexpert()
    done = flips(study.predictions, study.annotations, unit="changed votes")
    assert done.tasks[0].task == MACRO and all(one.verified for one in done.tasks)
    edema = next(one for one in done.tasks if one.task == "Edema")
    assert edema.leaders == ("drnet", "ihil", "sensexdr") and edema.place == 5
    assert len(edema.members) == 12
    for flip in done.tasks[1:]:
        own = [one for one in study.predictions if one.task == flip.task]
        for rival in sorted({one.model for one in own} - set(flip.leaders)):
            kept = [one for one in own if one.model in {*flip.leaders, rival}]
            (alone,) = flips(
                kept, study.annotations, unit="changed votes", task=flip.task, most=12
            ).tasks
            assert not alone.members or len(alone.members) >= len(flip.members)


def test_votes_of_known_truth_are_never_moved():
    votes, scores = drawn(1, tasks=2, items=10, panel=1, models=3)
    given, truth = as_given(votes, scores)
    known = replace(truth, is_gold=truth.task == 0)
    done = flips(given, known, unit="changed votes")
    assert [one.idle for one in done.tasks] == ["", "no votes", ""]
    assert {one.within for one in done.tasks[0].members} == {"task-1"}
    alone = flips(given, known, unit="changed votes", task="task-0")
    assert alone.finding == "There are no votes to move for task-0: nothing was searched."


def score(votes, scores, keep):
    share, keep = votes.mean(axis=1), list(keep)
    with np.errstate(divide="ignore"):
        right = np.where(share > 0, share * -np.log(scores), 0)
        wrong = np.where(share < 1, (1 - share) * -np.log1p(-scores), 0)
    return float((right + wrong)[keep].mean())


def test_a_rival_with_an_infinite_score_overtakes_without_that_item():
    scores = [*MILD, SURE]
    done = flips(models(scores), annotations(VOTES), metric="log_score")
    assert np.isinf(score(VOTES, SURE, range(ITEMS)))
    least = next(
        size for size in range(1, ITEMS)
        for gone in combinations(range(ITEMS), size)
        if np.argmin([score(VOTES, s, set(range(ITEMS)) - set(gone)) for s in scores])
        != np.argmin([score(VOTES, s, range(ITEMS)) for s in scores])
    )  # fmt: skip
    assert least == 1
    assert "leaving out 1 of 10 items" in done.finding


@pytest.mark.parametrize("unit", UNITS)
def test_no_search_with_infinite_scores_warns(unit):
    truth, how = annotations(VOTES), {"metric": "log_score", "unit": unit}
    wrong = 1 - np.round(VOTES[:, 1])
    for scores in ([*MILD, SURE], [*MILD, wrong], [SURE, wrong, MILD[0]], [wrong, wrong]):
        done = flips(models(scores), truth, **how)
        assert "nan" not in done.finding and "inf" not in done.finding
    level = flips(models([wrong, wrong, wrong]), truth, **how)
    assert "tied at the top" in level.finding

"""Weights, counts, gold, repeated votes and confidences: honoured, or refused with a reason.

One table over all models. "twice": a vote of weight 2 is the vote given twice. "settled": a
gold row makes its class certain. "refused": an error of four parts.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import Annotations, InputError
from equipoise.truth import (
    CATALOGUE,
    Chain,
    GladFit,
    annotator_bootstrap,
    dawid_skene,
    glad,
    mean_vote,
    normal,
    plackett_luce,
)
from equipoise.types import COLUMNS

NAMES = {"items": tuple("abcdef"), "annotators": tuple("wxyz")}


def crowd(kind="binary", classes=("no", "yes")):
    """Six items, four annotators, a few votes missing."""
    random = np.random.default_rng(4)
    item, annotator = (axis.ravel() for axis in np.indices((6, 4)))
    truth = np.arange(6) % len(classes)
    wrong = random.random(24) < 0.25
    label = np.where(wrong, (truth[item] + 1) % len(classes), truth[item])
    keep = np.arange(24) % 7 != 5
    return Annotations(
        kind=kind, classes=classes, item=item[keep], annotator=annotator[keep],
        label=label[keep], **NAMES,
    )  # fmt: skip


def readings():
    """Two items, each read by three annotators: partial rankings with a tie."""
    blocks = [
        (0, 0, [[0], [1, 2]]), (0, 1, [[1], [0]]), (0, 2, [[0]]),
        (1, 0, [[2], [0]]), (1, 1, [[2], [1], [0]]), (1, 3, [[1]]),
    ]  # fmt: skip
    rows = [
        (i, a, k, place, number)
        for number, (i, a, reading) in enumerate(blocks)
        for place, block in enumerate(reading)
        for k in block
    ]
    item, annotator, label, rank, reading = np.array(rows).T
    return Annotations(
        kind="ranking", classes=("p", "q", "r", "s"), items=("a", "b"),
        annotators=NAMES["annotators"], item=item, annotator=annotator, label=label, rank=rank,
        reading=reading,
    )  # fmt: skip


def ratings():
    votes = crowd()
    value = votes.item * 1.0 + np.sin(np.arange(len(votes)))
    return replace(votes, kind="interval", classes=(), label=None, value=value)


MODELS = {
    **CATALOGUE,
    "normal": partial(normal, threshold=2.5),
    "annotator_bootstrap": partial(annotator_bootstrap, mean_vote, draws=10),
}
TABLES = {
    "dawid_skene_ordinal": partial(crowd, "ordinal", ("0", "1", "2")),
    "inverse_rank": readings, "probabilistic_inverse_rank": readings,
    "plackett_luce": readings, "plackett_luce_ml": readings, "normal": ratings,
}  # fmt: skip
GOLD_REFUSED = (
    "inverse_rank",
    "probabilistic_inverse_rank",
    "plackett_luce",
    "plackett_luce_ml",
    "normal",
)
every_model = pytest.mark.parametrize("name", MODELS)


def table_for(name):
    return TABLES.get(name, crowd)()


def rows_of(table, first):
    """Rows of the vote, or of the whole reading, that row `first` belongs to."""
    if table.reading is None:
        return np.array([first])
    return np.flatnonzero(table.reading == table.reading[first])


def repeated(table, rows):
    """The same table with some rows once more, a reading as a new reading."""
    columns = {
        name: np.append(getattr(table, name), getattr(table, name)[rows])
        for name in COLUMNS
        if name != "group" and getattr(table, name) is not None
    }
    if table.reading is not None:
        columns["reading"][len(table) :] = table.reading.max() + 1
    return replace(table, **columns)


def close(name, one, other):
    tolerance = 0.05 if name == "plackett_luce" else 1e-4 if name == "glad" else 1e-8
    assert one.items == other.items
    assert_allclose(one.mean, other.mean, atol=tolerance)


@every_model
@pytest.mark.parametrize("column", ["weight", "count"])
def test_a_vote_of_weight_two_is_the_vote_twice(name, column):
    table = table_for(name)
    rows = rows_of(table, 3)
    twice = MODELS[name](repeated(table, rows))
    numbers = np.ones(len(table), dtype=int if column == "count" else float)
    numbers[rows] = 2
    close(name, MODELS[name](replace(table, **{column: numbers})), twice)
    plain = MODELS[name](table)
    changed = not np.allclose(plain.mean, twice.mean, atol=1e-6)
    assert changed or name == "majority_vote", "a repeated vote counts"


def test_a_repeated_vote_can_make_a_majority():
    votes = Annotations(
        kind="binary", items=("a",), classes=("no", "yes"), item=np.zeros(2, int),
        label=np.array([0, 1]), weight=np.array([1.0, 2.0]),
    )  # fmt: skip
    assert_allclose(MODELS["majority_vote"](votes).mean, [[0, 1]])


def with_gold(table, label=1):
    """The first item known to be of a class that its votes speak against."""
    rows = repeated(table, np.array([0]))
    gold = np.arange(len(rows)) == len(table)
    changed = {}
    if rows.label is not None:
        codes = rows.label.copy()
        codes[-1] = label
        changed["label"] = codes
    if rows.rank is not None:
        ranks = rows.rank.copy()
        ranks[-1] = 0
        changed["rank"] = ranks
    return replace(rows, is_gold=gold, **changed)


@every_model
def test_gold_settles_its_item_or_is_refused(name):
    table = with_gold(table_for(name))
    if name in GOLD_REFUSED:
        with pytest.raises(InputError, match="gold rows") as refused:
            MODELS[name](table)
        assert all(
            (refused.value.where, refused.value.got, refused.value.expected, refused.value.do)
        )
        return
    made = MODELS[name](table)
    assert_allclose(made.mean[0], np.eye(len(made.classes))[1], atol=1e-12)
    assert made.certainty[0] == pytest.approx(1)
    if made.law is not None:
        assert_allclose(made.drawn(20, seed=1).mean[0], made.mean[0], atol=1e-12)


@pytest.mark.parametrize("name", ["inverse_rank", "probabilistic_inverse_rank"])
def test_inverse_ranks_of_plain_votes_take_gold(name):
    assert_allclose(MODELS[name](with_gold(crowd())).mean[0], [0, 1])


def test_the_notebook_prior_spares_gold_items():
    made = CATALOGUE["probabilistic_inverse_rank"](with_gold(crowd()), prior="notebook")
    assert_allclose(made.mean[0], [0, 1])
    assert made.mean[2].min() > 0


def test_gold_that_names_several_classes_is_refused():
    table = readings()
    gold = table.reading == 0
    tied = replace(table, is_gold=gold, rank=np.where(gold, 0, table.rank))
    with pytest.raises(InputError, match="gold rows that name several classes, expected one"):
        CATALOGUE["dirichlet"](tied)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_gold_of_another_task_changes_nothing(name):
    table = table_for(name)
    both = with_gold(table)
    task = both.is_gold.astype(int)
    apart = replace(both, tasks=("this", "other"), task=task)
    close(name, MODELS[name](apart, task="this"), MODELS[name](table))


@pytest.mark.parametrize("name", sorted(MODELS))
def test_confidences_are_said_not_to_be_used(name):
    table = table_for(name)
    made = MODELS[name](replace(table, confidence=np.full(len(table), 0.5)))
    said = [str(one) for one in made.notices if one.code == "unused_confidences"]
    assert len(said) == 1
    assert said[0].endswith("; turn them into weights to use them.")
    close(name, made, MODELS[name](table))
    assert not [one for one in MODELS[name](table).notices if "Confidences" in str(one)]


def test_the_bootstrap_takes_rankings_and_tasks_that_few_annotators_saw():
    drawn = annotator_bootstrap(CATALOGUE["inverse_rank"], readings(), draws=6)
    assert drawn.draws == 6
    votes = crowd()
    task = np.where(votes.annotator < 2, 0, 1)
    apart = replace(votes, tasks=("t", "u"), task=task)
    made = annotator_bootstrap(mean_vote, apart, draws=20, task="t")
    assert made.task == "t"
    with pytest.raises(InputError, match="0 annotators with ids, expected at least"):
        annotator_bootstrap(mean_vote, votes.anonymous())


def test_the_bootstrap_says_when_refits_do_not_converge():
    from equipoise.truth import Fit

    short = partial(dawid_skene, fit=Fit(most=1))
    made = annotator_bootstrap(short, crowd(), draws=5)
    assert "5 of 5 refits did not converge." in map(str, made.notices)


def test_seeds_are_recorded_by_every_model_that_draws():
    assert plackett_luce(readings(), chain=Chain(draws=20, seed=7)).parameters["seed"] == 7
    assert plackett_luce(readings(), chain=Chain(draws=20)).parameters["seed"] == 0
    assert annotator_bootstrap(mean_vote, crowd(), draws=2).parameters["seed"] == 0
    made = glad(crowd(), inference="gibbs", fit=GladFit(draws=50, burn_in=10, seed=3))
    assert made.parameters["fit"]["seed"] == 3

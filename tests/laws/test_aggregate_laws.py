"""Laws that every aggregation model obeys, on small worlds full of ties."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from equipoise import Annotations
from equipoise.truth import (
    CATALOGUE,
    Chain,
    GladFit,
    NormalPrior,
    annotator_bootstrap,
    glad,
    mean_vote,
    normal,
    plackett_luce,
)
from equipoise.types import COLUMNS

RANKED = ("inverse_rank", "probabilistic_inverse_rank", "plackett_luce", "plackett_luce_ml")
COUNTS = ("mean_vote", "majority_vote", "dirichlet", *RANKED[:2])
CLIMBS = ("dawid_skene", "dawid_skene_ordinal", "glad", "plackett_luce_ml")
MODELS = {
    **CATALOGUE,
    "normal": partial(normal, threshold=0.5, prior=NormalPrior(mean=0.5)),
    "annotator_bootstrap": partial(annotator_bootstrap, mean_vote, draws=5),
}
# Where relabelling classes does not only permute the result, and why.
ORDERED = {
    "dawid_skene_ordinal": "grades have an order; reversing them is tested by itself",
    "normal": "below and at least are not exchangeable",
    "plackett_luce": "another order of classes draws other numbers",
}
# Where a class that all votes of an item name need not win: others may be commoner by far.
PRIORS = ("dawid_skene", "dawid_skene_ordinal", "glad", "normal")
NAMED = {"annotator_bootstrap": "annotators are drawn by their place in the table"}
every_model = pytest.mark.parametrize("name", MODELS)


def tolerance(name):
    """Exact for sums; where a climb stops may move by its tolerance; draws by chance."""
    return {"plackett_luce": 0.25}.get(name, 1e-4 if name in CLIMBS else 1e-9)


@st.composite
def votes(draw, kind, classes):
    """Votes of a few annotators on a few items; every item has one, everybody votes."""
    items, people = draw(st.integers(1, 4)), draw(st.integers(2, 4))
    item, annotator = (axis.ravel() for axis in np.indices((items, people)))
    size = items * people
    label = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=size, max_size=size)))
    keep = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    keep |= item % people == annotator
    keep |= item == 0
    names = {
        "items": tuple(f"i{i}" for i in range(items)),
        "annotators": tuple(f"r{a}" for a in range(people)),
        "item": item[keep], "annotator": annotator[keep],
    }  # fmt: skip
    if kind == "interval":
        return Annotations(kind=kind, value=label[keep] / 2.0, **names)
    named = tuple(f"k{k}" for k in range(classes))
    return Annotations(kind=kind, classes=named, label=label[keep], **names)


@st.composite
def readings(draw, classes=4):
    """Partial rankings with ties, of a few annotators."""
    items, people = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    rows = []
    for number in range(items * people):
        order = draw(st.permutations(range(classes)))[: draw(st.integers(1, classes))]
        steps = draw(st.lists(st.integers(0, 1), min_size=len(order), max_size=len(order)))
        ranks = np.cumsum([0, *steps[1:]])
        rows += [
            (number % items, number // items, k, r, number)
            for k, r in zip(order, ranks, strict=True)
        ]
    item, annotator, label, rank, reading = np.array(rows).T
    return Annotations(
        kind="ranking", items=tuple(f"i{i}" for i in range(items)),
        classes=tuple(f"k{k}" for k in range(classes)), label=label, rank=rank,
        annotators=tuple(f"r{a}" for a in range(people)), item=item, annotator=annotator,
        reading=reading,
    )  # fmt: skip


def world(name):
    """What a model is given."""
    if name in RANKED:
        return readings()
    kind = {"dawid_skene_ordinal": "ordinal", "normal": "interval"}.get(name, "nominal")
    if name in ("glad", "majority_vote"):
        kind = "binary"
    return votes(kind, 2 if kind == "binary" else 3)


def agree(name, one, other):
    """Whether two fits to the same data in another guise say the same.

    Data that look the same with two classes exchanged have mirror optima of the same height,
    between which rounding decides; then only the height and the certainties must agree.
    """
    close = np.allclose(one.mean, other.mean, rtol=0, atol=tolerance(name))
    if not close and name.startswith("dawid_skene"):
        heights = [made.diagnostics["trace"][-1] for made in (one, other)]
        assert_allclose(*heights, atol=1e-4)
        assert_allclose(one.certainty, other.certainty, atol=1e-2)
        return
    assert_allclose(one.mean, other.mean, rtol=0, atol=tolerance(name))


def taken(table, order):
    """The rows in another order."""
    rows = {
        column: getattr(table, column)[order]
        for column in COLUMNS
        if column != "group" and getattr(table, column) is not None
    }
    return replace(table, **rows)


def shuffled(data, number):
    """Numbers in another order."""
    return np.array(data.draw(st.permutations(range(number))))


def masses_are_distributions(_name, _table, made, _data):
    assert (made.mean >= 0).all()
    assert_allclose(made.mean.sum(axis=1), 1, atol=1e-9)
    assert (made.certainty <= 1 + 1e-9).all()
    assert (made.certainty >= 1 / len(made.classes) - 1e-9).all()
    for number in range(min(made.draws, 3)):
        assert_allclose(made.draw(number).sum(axis=1), 1, atol=1e-9)


def the_order_of_rows_changes_nothing(name, table, made, data):
    again = MODELS[name](taken(table, shuffled(data, len(table))))
    assert made.items == again.items
    agree(name, made, again)


def permuting_items_permutes_the_result(name, table, made, data):
    place = shuffled(data, len(table.items))
    names = tuple(table.items[int(np.flatnonzero(place == i)[0])] for i in range(len(place)))
    moved = MODELS[name](replace(table, items=names, item=place[table.item]))
    back = np.array([moved.items.index(item) for item in made.items])
    agree(name, moved.subset(back), made)


def renaming_annotators_changes_nothing(name, table, made, data):
    if name in NAMED:
        return
    place = shuffled(data, len(table.annotators))
    names = tuple(f"new {a}" for a in range(len(place)))
    again = MODELS[name](replace(table, annotators=names, annotator=place[table.annotator]))
    assert made.items == again.items
    agree(name, made, again)
    if made.skills is not None:
        assert_allclose(again.skills.value[place], made.skills.value, atol=1e-3)


def relabelling_classes_permutes_the_result(name, table, made, data):
    if name in ORDERED:
        return
    place = shuffled(data, len(table.classes))
    moved = MODELS[name](replace(table, label=place[table.label]))
    assert_allclose(moved.mean[:, place], made.mean, atol=tolerance(name))


@every_model
@settings(max_examples=25)
@given(st.data())
def test_every_law_holds_of_one_fit(name, data):
    """A table is fitted once, and once more in each other guise."""
    table = data.draw(world(name))
    made = MODELS[name](table)
    for law in (
        masses_are_distributions,
        the_order_of_rows_changes_nothing,
        permuting_items_permutes_the_result,
        renaming_annotators_changes_nothing,
        relabelling_classes_permutes_the_result,
    ):
        law(name, table, made, data)


@settings(max_examples=25)
@given(votes("ordinal", 3))
def test_reversing_the_scale_reverses_the_grades(table):
    fit = CATALOGUE["dawid_skene_ordinal"]
    turned = fit(replace(table, label=2 - table.label))
    assert_allclose(turned.mean[:, ::-1], fit(table).mean, atol=1e-4)


@pytest.mark.parametrize("name", PRIORS[:3])
def test_unanimous_items_get_their_class_in_models_with_priors(name):
    kind = {"glad": "binary", "dawid_skene_ordinal": "ordinal"}.get(name, "nominal")
    classes = 2 if kind == "binary" else 3
    item, annotator = (axis.ravel() for axis in np.indices((18, 4)))
    table = Annotations(
        kind=kind, items=tuple(f"i{i}" for i in range(18)), annotators=tuple("wxyz"),
        classes=tuple("abc"[:classes]), item=item, annotator=annotator, label=item % classes,
    )  # fmt: skip
    made = MODELS[name](table)
    assert (made.mean.argmax(axis=1) == np.arange(18) % classes).all()
    assert (made.mean.max(axis=1) > 0.9).all()


@pytest.mark.parametrize("name", sorted(set(MODELS) - set(PRIORS)))
@settings(max_examples=25)
@given(st.data())
def test_unanimous_items_get_their_class(name, data):
    table = data.draw(world(name))
    classes = len(table.classes)
    truth = np.array([data.draw(st.integers(0, classes - 1)) for _ in table.items])
    first = np.ones(len(table), bool) if table.rank is None else _firsts(table)
    plain = taken(table, np.flatnonzero(first))
    changed = {"label": truth[plain.item]}
    made = MODELS[name](replace(plain, **changed))
    own = made.mean[np.arange(len(truth)), truth]
    assert (own >= made.mean.max(axis=1) - 1e-9).all()


def _firsts(table):
    """One row per reading."""
    return np.isin(np.arange(len(table)), np.unique(table.reading, return_index=True)[1])


@pytest.mark.parametrize("name", COUNTS)
@settings(max_examples=25)
@given(votes("nominal", 3), st.data())
def test_one_more_vote_never_lowers_its_class(name, table, data):
    row = data.draw(st.integers(0, len(table) - 1))
    more = taken(table, np.append(np.arange(len(table)), row))
    item, label = table.item[row], table.label[row]
    before, after = CATALOGUE[name](table).mean, CATALOGUE[name](more).mean
    assert after[item, label] >= before[item, label] - 1e-12


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads():
    table = Annotations.from_rankings(
        [[[[0], [1, 2]], [[1]]], [[[2], [0]], [[2]], [[1, 3]]]] * 4, classes=[0, 1, 2, 3]
    )
    runs = [
        plackett_luce(table, chain=Chain(draws=50, seed=seed, workers=workers))
        for seed, workers in ((1, 1), (1, 2), (2, 1))
    ]
    assert runs[0].mass.tobytes() == runs[1].mass.tobytes()
    assert runs[0].mass.tobytes() != runs[2].mass.tobytes()
    assert [one.parameters["seed"] for one in runs] == [1, 1, 2]


def test_chains_bootstraps_and_laws_repeat_themselves():
    random = np.random.default_rng(0)
    item, annotator = (axis.ravel() for axis in np.indices((8, 4)))
    table = Annotations(
        kind="binary", items=tuple("abcdefgh"), classes=("no", "yes"), item=item,
        annotators=tuple("wxyz"), annotator=annotator, label=random.integers(0, 2, 32),
    )  # fmt: skip

    def bytes_of(seed):
        chain = glad(table, inference="gibbs", fit=GladFit(draws=40, burn_in=20, seed=seed))
        panels = annotator_bootstrap(mean_vote, table, draws=5, seed=seed)
        drawn = CATALOGUE["dirichlet"](table).drawn(5, seed=seed)
        return [one.mass.tobytes() for one in (chain, panels, drawn)]

    assert bytes_of(3) == bytes_of(3)
    assert all(a != b for a, b in zip(bytes_of(3), bytes_of(4), strict=True))

"""Laws that every aggregation model of the catalogue obeys, and draws that match their law."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from equipoise import Annotations, InputError
from equipoise.truth import CATALOGUE, dirichlet, majority_vote, mean_vote
from equipoise.types import Categorical, Dirichlet

OTHERS = ("dawid_skene_ordinal", "glad")  # for grades, and for yes/no votes
NOMINAL = {name: one for name, one in CATALOGUE.items() if name not in OTHERS}


@st.composite
def votes(draw):
    items, classes, rows = (
        draw(st.integers(1, 4)),
        draw(st.integers(2, 5)),
        draw(st.integers(1, 12)),
    )
    item = np.array(draw(st.lists(st.integers(0, items - 1), min_size=rows, max_size=rows)))
    label = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows)))
    who = np.array(draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows)))
    return Annotations(
        kind="nominal", items=tuple(map(str, range(items))), item=item, label=label,
        classes=tuple(f"c{k}" for k in range(classes)), annotators=("x", "y", "z"),
        annotator=who,
    )  # fmt: skip


def relabelled(table, rows, label):
    """Rows in some order, with other labels."""
    return Annotations(
        kind="nominal", items=table.items, classes=table.classes, item=table.item[rows],
        label=label[rows], annotators=table.annotators, annotator=table.annotator[rows],
    )  # fmt: skip


@pytest.mark.parametrize("name", NOMINAL)
@given(table=votes(), order=st.randoms())
def test_every_item_with_votes_gets_a_distribution_whatever_the_names_and_the_order(
    name, table, order
):
    model = NOMINAL[name]
    made = model(table)
    assert set(made.items) == {table.items[i] for i in np.unique(table.item)}
    assert_allclose(made.mean.sum(axis=1), 1)
    assert (made.certainty > 0).all()
    assert (made.certainty <= 1 + 1e-9).all()
    assert (made.entropy >= -1e-12).all()
    if name == "plackett_luce":  # whose draws are by chance
        return
    new, rows = list(range(len(table.classes))), list(range(len(table)))
    order.shuffle(new)
    order.shuffle(rows)
    renamed = model(relabelled(table, slice(None), np.array(new)[table.label]))
    assert_allclose(renamed.mean[:, new], made.mean, atol=1e-6)
    assert_allclose(model(relabelled(table, rows, table.label)).mean, made.mean, atol=1e-6)


@given(table=votes())
def test_mean_vote_counts_by_hand(table):
    made = mean_vote(table)
    for row, name in zip(made.mean, made.items, strict=True):
        own = table.label[table.item == table.items.index(name)]
        assert_allclose(row, np.bincount(own, minlength=len(table.classes)) / len(own))


@given(table=votes(), prior=st.sampled_from([0.1, 1.0, 3.0]))
def test_dirichlet_mean_and_draws_agree_with_numpy(table, prior):
    made = dirichlet(table, prior=prior, reliability=2.0)
    shares, sizes = mean_vote(table).mean, np.bincount(table.item, minlength=len(table.items))
    alpha = 2.0 * shares * sizes[sizes > 0][:, None] + prior
    assert_allclose(made.mean, alpha / alpha.sum(axis=1, keepdims=True))
    assert_allclose(made.top()[0].sum() + made.top()[1].sum(), len(made.items), atol=1e-9)


def test_draws_follow_their_law_and_their_seed():
    table = Annotations(
        kind="nominal", items=("a", "b"), classes=("x", "y", "z"),
        item=np.array([0, 0, 0, 1]), label=np.array([0, 0, 1, 2]),
    )  # fmt: skip
    made = dirichlet(table, prior="uniform")
    many = made.drawn(8_000, seed=1)  # of chances: standard error 0.0056
    assert many.draws == 8_000
    assert_allclose(many.mean, made.mean, atol=0.01)
    top = np.stack([many.draw(number).argmax(axis=1) for number in range(8_000)], axis=1)
    exact = dict(zip(zip([0, 0, 1], made.label, strict=True), made.top()[0], strict=True))
    for (item, label), chance in exact.items():
        assert (top[item] == label).mean() == pytest.approx(chance, abs=0.017)
    again = made.drawn(5, seed=3)
    assert (again.mass == made.drawn(5, seed=3).mass).all()
    assert (again.mass != made.drawn(5, seed=4).mass).any()


def test_labels_are_drawn_one_class_at_a_time():
    law = Categorical(np.array([0.2, 0.5, 1.0]), np.array([0.3, 0.0]))
    made = [law.draw(np.array([0, 2, 3]), (0, number)) for number in range(8_000)]
    mass, rest = (np.stack(part) for part in zip(*made, strict=True))
    assert set(np.unique(mass)) <= {0.0, 1.0}
    assert_allclose(mass.mean(axis=0), [0.2, 0.5, 1.0], atol=0.017)
    assert_allclose(rest.mean(axis=0), [0.3, 0.0], atol=0.017)
    assert_allclose(mass[:, :2].sum(axis=1) + rest[:, 0], 1)


def test_the_rest_is_shared_by_the_classes_that_nobody_mentions():
    law = Dirichlet(np.array([2.0]), np.array([3.0]))
    entry, rest = law.top(np.array([0, 1]), np.array([3]))
    full = Dirichlet(np.array([2.0, 1, 1, 1]), np.zeros(1))
    expected, _ = full.top(np.array([0, 4]), np.zeros(1, int))
    assert_allclose(entry, expected[:1], atol=1e-12)
    assert_allclose(rest, expected[1:].sum(), atol=1e-12)


def test_a_majority_is_shared_by_ties_and_says_so():
    rows = {"kind": "binary", "items": ("a", "b"), "classes": ("no", "yes")}
    table = Annotations(**rows, item=np.array([0, 0, 1, 1, 1]), label=np.array([0, 1, 1, 1, 0]))
    made = majority_vote(table)
    assert_allclose(made.mean, [[0.5, 0.5], [0, 1]])
    (said,) = map(str, made.notices)
    assert said == "1 items have several classes with most votes, which share them."


@pytest.mark.parametrize("how", [{"reliability": 0}, {"prior": -1}])
def test_impossible_parameters_are_refused(how):
    table = Annotations(
        kind="nominal",
        items=("a",),
        classes=("x", "y"),
        item=np.array([0]),
        label=np.array([0]),
    )
    with pytest.raises(InputError, match=r", expected .*; "):
        dirichlet(table, **how)

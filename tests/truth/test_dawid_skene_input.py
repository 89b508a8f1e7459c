"""Dawid-Skene, plain, one-coin and ordinal: what columns do, and what must not matter."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from equipoise import Annotations, InputError
from equipoise.truth import Fit, Smoothing, dawid_skene, dawid_skene_ordinal
from equipoise.types import worded

MODELS = {
    "Dawid-Skene": dawid_skene,
    "one-coin": partial(dawid_skene, variant="one_coin"),
    "ordinal Dawid-Skene": dawid_skene_ordinal,
}
STEPS = Fit(0, 8)  # a fixed number: when to stop must not hang on the last digit
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def table(item, annotator, label, **columns):
    """Grades of as many items, annotators and classes as the codes name, at least two."""
    names = [tuple(f"{kind}{n}" for n in range(max(2, max(codes) + 1)))
             for kind, codes in (("i", item), ("a", annotator), ("c", label))]  # fmt: skip
    return Annotations(
        kind="ordinal", items=names[0], annotators=names[1], classes=names[2],
        item=np.array(item), annotator=np.array(annotator), label=np.array(label), **columns,
    )  # fmt: skip


def crowd(items=25, people=4, classes=3, seed=0, **columns):
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, items)
    item, who = np.repeat(np.arange(items), people), np.tile(np.arange(people), items)
    right = random.random(len(item)) < 0.7
    label = np.where(right, truth[item], random.integers(0, classes, len(item)))
    label[:classes] = np.arange(classes)
    return table(item, who, label, **columns)


@st.composite
def votes(draw, items=6, people=4, classes=3):
    number = draw(st.integers(1, 25))
    codes = [
        draw(st.lists(st.integers(0, top - 1), min_size=number, max_size=number))
        for top in (items, people, classes)
    ]
    weight = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=number, max_size=number))
    return Annotations(
        kind="nominal", items=tuple("abcdef"), annotators=tuple("wxyz"), classes=tuple("klm"),
        item=np.array(codes[0]), annotator=np.array(codes[1]), label=np.array(codes[2]),
        weight=np.array(weight),
    )  # fmt: skip


def renamed(names, order):
    """Names such that code order[n] has the name that n had."""
    new = [""] * len(names)
    for old, place in enumerate(order):
        new[place] = names[old]
    return tuple(new)


@settings(max_examples=60, deadline=None)
@given(
    data=votes(),
    orders=st.tuples(*(st.permutations(range(n)) for n in (6, 4, 3))),
    variant=st.sampled_from(["full", "one_coin"]),
)
def test_names_do_not_matter(data, orders, variant):
    item, who, label = (np.array(order) for order in orders)
    other = replace(
        data, items=renamed(data.items, item), item=item[data.item],
        annotators=renamed(data.annotators, who), annotator=who[data.annotator],
        classes=renamed(data.classes, label), label=label[data.label],
    )  # fmt: skip
    one, two = (dawid_skene(each, variant=variant, fit=STEPS) for each in (data, other))
    assert set(one.items) == set(two.items)
    row = [two.items.index(name) for name in one.items]
    assert_allclose(two.mean[row][:, label], one.mean, atol=1e-10)
    assert_allclose(two.skills.value[who], one.skills.value, atol=1e-10)
    assert_allclose(
        two.skills.confusion[who][:, label][:, :, label], one.skills.confusion, atol=1e-10
    )
    steps = [np.array(made.diagnostics["trace"]) for made in (one, two)]
    assert steps[0][-1] == pytest.approx(steps[1][-1], abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(data=votes(), seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(data, seed):
    order = np.random.default_rng(seed).permutation(len(data))
    mixed = replace(
        data, item=data.item[order], annotator=data.annotator[order],
        label=data.label[order], weight=data.weight[order],
    )  # fmt: skip
    assert_allclose(
        dawid_skene(mixed, fit=STEPS).mean, dawid_skene(data, fit=STEPS).mean, atol=1e-10
    )


@settings(max_examples=15, deadline=None)
@given(data=votes())
def test_the_bound_never_falls_whatever_the_votes(data):
    for model in MODELS.values():
        made = model(replace(data, kind="ordinal"))
        assert (np.diff(made.diagnostics["trace"]) >= -1e-8).all()


@every_model
def test_weights_counts_and_repetitions_are_the_same(model):
    once = crowd()
    times = np.random.default_rng(1).integers(1, 4, len(once))
    repeated = replace(
        once, item=np.repeat(once.item, times), annotator=np.repeat(once.annotator, times),
        label=np.repeat(once.label, times),
    )  # fmt: skip
    expected = model(repeated, fit=STEPS)
    for columns in (
        {"weight": times.astype(float)}, {"count": times},
        {"weight": times / 2, "count": np.full(len(once), 2)},
    ):  # fmt: skip
        made = model(replace(once, **columns), fit=STEPS)
        assert_allclose(made.mean, expected.mean, atol=1e-10)
        assert_allclose(made.skills.value, expected.skills.value, atol=1e-10)
    assert np.abs(model(once, fit=STEPS).mean - expected.mean).max() > 0.01


@every_model
def test_gold_is_fixed_and_contradictions_are_refused(model):
    base = crowd()
    item, label = np.append(base.item, [3, 3]), np.append(base.label, [2, 2])
    gold = np.append(np.zeros(len(base), bool), [True, True])
    known = replace(base, item=item, annotator=np.append(base.annotator, [0, 1]), label=label,
                    is_gold=gold)  # fmt: skip
    made = model(known)
    assert (made.mean[3] == [0, 0, 1]).all()
    other = replace(known, annotator=np.append(base.annotator, [2, 3]))
    assert_allclose(model(other).mean, made.mean, atol=1e-12)  # who wrote gold down is no vote
    against = replace(known, label=np.append(base.label, [2, 1]))
    with pytest.raises(InputError, match=r"contradict each other, expected one .*; correct"):
        model(against)
    nothing = replace(base, is_gold=np.zeros(len(base), bool))
    assert (model(nothing).mean == model(base).mean).all()


@pytest.mark.parametrize("name", ["Dawid-Skene", "ordinal Dawid-Skene"])
def test_confidences_are_not_used_and_the_user_is_told(name):
    base = crowd()
    sure = replace(base, confidence=np.linspace(0, 1, len(base)))
    said = f"Confidences are not used by {name}; turn them into weights to use them."
    more, usual = MODELS[name](sure), MODELS[name](base)
    assert worded(more.notices) == [said, *worded(usual.notices)]
    assert (more.mean == usual.mean).all()
    early = MODELS[name](sure, fit=Fit(0, 1))
    assert [said in str(early.notices[0]), early.notices[-1].code] == [True, "not_converged"]


@every_model
def test_kinds_that_make_no_sense_are_refused(model):
    base = crowd()
    with pytest.raises(InputError, match=r"exchangeable slots, expected .*; a model of ann"):
        model(base.anonymous())
    for kind, columns in (
        ("ranking", {"rank": np.zeros(len(base), int), "reading": np.arange(len(base))}),
        ("interval", {"label": None, "value": np.zeros(len(base))}),
    ):
        with pytest.raises(InputError, match=rf"kind {kind}.*, expected .*; "):
            model(replace(base, kind=kind, **columns))
    with pytest.raises(InputError, match="task 'b': no votes, expected at least one; check"):
        model(replace(base, tasks=("a", "b"), task=np.zeros(len(base), int)), task="b")
    for stop in (Fit(-1.0), Fit(np.nan), Fit(1e-9, 0)):
        with pytest.raises(InputError, match=r", expected .*; "):
            model(base, fit=stop)


@pytest.mark.parametrize("wrong", [Smoothing(np.nan), Smoothing(1, np.inf), Smoothing(0, -1)])
def test_pseudo_counts_must_be_numbers(wrong):
    with pytest.raises(InputError, match=r"expected pseudo-counts of at least 0.*; leave them"):
        dawid_skene(crowd(), smoothing=wrong)


@every_model
def test_more_classes_than_fit_are_refused_before_anything_is_made(model, monkeypatch):
    many = replace(crowd(), classes=tuple(map(str, range(9000))))  # 4 * 9000^2 * 8 bytes
    monkeypatch.setattr("equipoise.truth.blocks.check_gold", None)
    with pytest.raises(InputError, match=r"tables of 2.4 GiB, expected at most 2 GiB; declare"):
        model(many)
    monkeypatch.setattr("equipoise.truth.blocks.ROOM", 599)
    with pytest.raises(InputError, match=r"expected at most .* GiB; declare only"):
        model(crowd())


@every_model
def test_items_without_votes_are_left_out_and_silent_annotators_stay(model):
    base = crowd()
    more = replace(base, items=(*base.items, "nobody"), annotators=(*base.annotators, "silent"))
    made = model(more, fit=STEPS)
    assert made.items == base.items
    assert_allclose(made.mean, model(base, fit=STEPS).mean, atol=1e-12)
    assert made.skills.annotators[-1] == "silent"
    assert np.isfinite(made.skills.value).all()


@every_model
@pytest.mark.parametrize(
    "item, annotator, label",
    [([0], [0], [0]), ([0], [0], [1]), ([0, 0], [0, 1], [0, 1]), ([0, 1, 1], [0] * 3, [1] * 3)],
    ids=["one vote", "one vote for the last", "a tie", "one annotator, one class used"],
)  # fmt: skip
def test_tiny_data(model, item, annotator, label):
    made = model(table(item, annotator, label))
    assert np.isfinite(made.mean).all()
    assert_allclose(made.mean.sum(axis=1), 1)
    assert made.diagnostics["converged"]
    if len(set(label)) == 1:
        assert (made.mean.argmax(axis=1) == label[0]).all()
    else:
        assert_allclose(made.mean[0], 0.5, atol=1e-6)


@pytest.mark.parametrize("variant", ["full", "one_coin"])
def test_one_class_declared(variant):
    only = Annotations(
        kind="nominal", items=("a",), annotators=("x",), classes=("k",), item=np.zeros(2, int),
        annotator=np.zeros(2, int), label=np.zeros(2, int),
    )  # fmt: skip
    made = dawid_skene(only, variant=variant)
    assert (made.mean == 1).all()
    assert (made.skills.confusion == 1).all()


@every_model
def test_annotators_who_always_say_the_same_tell_nothing(model):
    base = crowd(items=60, seed=3)
    constant = np.where(base.annotator == 3, 0, base.label)
    without = base.annotator != 3
    rest = replace(base, item=base.item[without], annotator=base.annotator[without],
                   label=base.label[without])  # fmt: skip
    made, other = model(replace(base, label=constant)), model(rest)
    if model is not MODELS["one-coin"]:  # one accuracy cannot say that an answer is empty
        same = made.mean.argmax(axis=1) == other.mean.argmax(axis=1)
        assert same.mean() > 0.9
    assert made.skills.value.argmin() == 3
    alone = model(table([0, 1, 2], [0, 0, 0], [1, 1, 1]))
    assert (alone.mean.argmax(axis=1) == 1).all()


@every_model
def test_running_out_of_steps_is_said(model):
    base = crowd()
    early, late = model(base, fit=Fit(0, 2)), model(base)
    assert not early.diagnostics["converged"]
    assert early.diagnostics["iterations"] == len(early.diagnostics["trace"]) == 2
    assert "did not converge" in str(early.notices[-1])
    assert late.diagnostics["converged"]
    assert "not_converged" not in [one.code for one in late.notices]


@every_model
def test_enormous_weights_are_finite(model):
    base = crowd()
    weight = np.ones(len(base))
    weight[::7] = 1e90
    made = model(replace(base, weight=weight), fit=Fit(1e-9, 50))
    assert np.isfinite(made.mean).all()
    assert np.isfinite(made.skills.confusion).all()


@every_model
def test_inputs_are_not_changed_and_nothing_is_random(model):
    base = crowd()
    before = [base.item.copy(), base.annotator.copy(), base.label.copy()]
    first, again = model(base), model(base)
    assert (first.mass == again.mass).all()
    for kept, now in zip(before, (base.item, base.annotator, base.label), strict=True):
        assert (kept == now).all()

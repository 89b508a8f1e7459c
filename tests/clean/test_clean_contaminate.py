"""What is planted is what the truths say, and nothing else changes."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from equipoise.clean.collection import Collection, split_pair
from equipoise.clean.encoders import GreyPixels
from equipoise.clean.images import ArrayImages
from equipoise.clean.planting import (
    ALTERATIONS,
    MADE_UP,
    Alteration,
    Copies,
    Flips,
    OffTopic,
    alter,
    contaminate,
)
from equipoise.types import InputError

SIZE, CLASSES = 80, ("a", "b", "c")


def embeddings(**more):
    rng = np.random.default_rng(1)
    labels = np.arange(SIZE) % 3
    rows = rng.normal(size=(SIZE, 6)) + 3 * np.eye(6)[labels]
    return Collection(
        items=tuple(f"item {n}" for n in range(SIZE)), embeddings=rows, labels=labels,
        classes=CLASSES, split=("train", "train", "train", "test") * (SIZE // 4), **more,
    )  # fmt: skip


def pictures(size=SIZE, side=24):
    rng = np.random.default_rng(2)
    rough = rng.integers(0, 256, (size, 4, 4, 3), np.uint8)
    return Collection(
        items=tuple(f"item {n}" for n in range(size)),
        images=ArrayImages(rough.repeat(side // 4, axis=1).repeat(side // 4, axis=2)),
        labels=np.arange(size) % 3,
        classes=CLASSES,
    )


def truth(study, task):
    votes = study.truths[task]
    assert votes.is_gold.all() and len(votes.items) == len(votes.item)
    return dict(zip(votes.items, (votes.label == 1).tolist(), strict=True))


def all_three(data, seed=3, **more):
    return contaminate(
        data, off_topic=OffTopic(share=0.1), copies=Copies(share=0.2, largest=4),
        flips=Flips(share=0.15, verified=0.3), seed=seed, **more,
    )  # fmt: skip


def originals(study, data):
    return [n for n, name in enumerate(study.collection.items) if name in set(data.items)]


@pytest.mark.parametrize("make", [embeddings, pictures])
def test_truths_say_what_was_planted(make):
    data = make()
    study = all_three(data)
    names = study.collection.items
    planted = [name for name in names if name not in data.items]
    strange = {name for name, yes in truth(study, "off_topic").items() if yes}
    assert strange == {name for name in planted if "off-topic" in name} and len(strange) == 8
    assert set(truth(study, "off_topic")) == set(names)
    assert len(planted) == len(names) - SIZE and set(data.items) < set(names)
    assert names[:SIZE] != data.items  # in a random order
    assert (
        study.simulated.startswith("8 off-topic items, ") and "wrong labels" in study.simulated
    )
    wrong = truth(study, "label_errors")
    assert set(wrong) == set(names) - strange and sum(wrong.values()) == round(
        0.15 * len(wrong)
    )


@pytest.mark.parametrize("make", [embeddings, pictures])
def test_what_was_there_stays_as_it_was(make):
    data = make()
    study = all_three(data)
    wrong, place = truth(study, "label_errors"), {n: i for i, n in enumerate(data.items)}
    for here in originals(study, data):
        name = study.collection.items[here]
        was = place[name]
        same = study.collection.labels[here] == data.labels[was]
        assert same != wrong[name]
        if data.images is None:
            assert (study.collection.embeddings[here] == data.embeddings[was]).all()
            assert study.collection.split[here] == data.split[was]
        else:
            assert (study.collection.images.rgb(here) == data.images.rgb(was)).all()
            assert study.collection.images.digest(here) == data.images.digest(was)


def test_pairs_are_closed_and_negatives_lie_between_groups():
    data = embeddings()
    study = contaminate(data, copies=Copies(share=0.3, largest=4, hard=2, random=2.0), seed=5)
    judged = truth(study, "near_duplicates")
    yes = {frozenset(split_pair(name)) for name, one in judged.items() if one}
    no = {frozenset(split_pair(name)) for name, one in judged.items() if not one}
    linked: dict = {}
    for pair in yes:
        for name in pair:
            linked.setdefault(name, {name}).update(pair)
    groups = {frozenset(one) for one in linked.values()}
    assert sum(len(one) for one in groups) == len(linked)  # apart from each other
    assert yes == {frozenset(two) for one in groups for two in combinations(one, 2)}
    assert all(len([n for n in one if n in data.items]) == 1 for one in groups)
    assert len(groups) == 24 and {len(one) for one in groups} == {2, 3, 4}
    assert not yes & no and not any(pair <= one for pair in no for one in groups)
    assert len(no) > 2 * len(yes)


def test_hard_negatives_are_the_nearest_outside_the_group():
    data = embeddings()
    study = contaminate(data, copies=Copies(share=0.1, largest=2, hard=2, random=0.0), seed=5)
    judged = truth(study, "near_duplicates")
    rows = study.collection.embeddings
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    distance = (1 - unit @ unit.T) / 2
    partner = {}
    for name, one in judged.items():
        if one:
            a, b = split_pair(name)
            partner[a], partner[b] = b, a
    names = study.collection.items
    expected = set()
    for name in partner:
        here = names.index(name)
        order = [names[n] for n in np.argsort(distance[here], kind="stable") if n != here]
        expected |= {
            frozenset((name, other)) for other in [o for o in order if o != partner[name]][:2]
        }
    assert {frozenset(split_pair(n)) for n, one in judged.items() if not one} == expected


def test_pairs_that_are_the_same_and_were_not_planted_are_not_judged():
    rows = np.repeat(np.random.default_rng(0).normal(size=(20, 4)), 2, axis=0)  # twins
    data = Collection(items=tuple(map(str, range(40))), embeddings=rows)
    study = contaminate(data, copies=Copies(share=0.5, largest=2, hard=3, random=20.0))
    place = {name: n for n, name in enumerate(study.collection.items)}
    for name, one in truth(study, "near_duplicates").items():
        a, b = (study.collection.embeddings[place[part]] for part in split_pair(name))
        assert one or not np.allclose(a, b)


def test_copies_of_embeddings_are_as_far_as_they_should_be():
    data = embeddings()
    strengths = (Alteration("noise", 0.2), Alteration("noise", 0.7))
    study = contaminate(data, copies=Copies(share=0.2, largest=2, alterations=strengths))
    rows, names = study.collection.embeddings, study.collection.items
    reach = np.linalg.norm(data.embeddings - data.embeddings.mean(axis=0), axis=1)
    for name, one in truth(study, "near_duplicates").items():
        if one:
            copy, original = sorted(split_pair(name), key=lambda part: part in data.items)
            step = np.linalg.norm(rows[names.index(copy)] - rows[names.index(original)])
            share = step / reach[data.items.index(original)]
            assert share == pytest.approx((0.2, 0.7)[int(copy.split("-")[2]) % 2])


def test_insertions_of_embeddings_are_as_far_out_as_they_should_be():
    data = embeddings()
    study = contaminate(data, off_topic=OffTopic(share=0.2))
    centre = data.embeddings.mean(axis=0)
    reach = np.linalg.norm(data.embeddings - centre, axis=1)
    for name, one in truth(study, "off_topic").items():
        if one:
            row = study.collection.embeddings[study.collection.items.index(name)]
            out = np.linalg.norm(row - centre) / 1.5
            assert np.abs(reach - out).min() < 1e-9


def test_off_topic_items_may_come_from_elsewhere():
    other = pictures(30, 40)
    study = contaminate(pictures(), off_topic=OffTopic(share=0.1, source=other))
    data = study.collection
    known = {other.images.digest(n) for n in range(30)}
    strange = [name for name, one in truth(study, "off_topic").items() if one]
    digests = [data.images.digest(data.items.index(name)) for name in strange]
    assert len(set(digests)) == 8 and set(digests) <= known
    assert data.images.rgb(data.items.index(strange[0])).shape == (40, 40, 3)
    few = other.subset(np.arange(2))
    for data, bad in ((pictures(), few), (pictures(), embeddings()), (embeddings(), other)):
        with pytest.raises(InputError, match="off-topic, source"):
            contaminate(data, off_topic=OffTopic(share=0.1, source=bad))


# labels


def moves(study, data):
    place = {name: n for n, name in enumerate(data.items)}
    wrong = truth(study, "label_errors")
    return [
        (int(data.labels[place[name]]), int(study.collection.labels[here]))
        for here, name in enumerate(study.collection.items)
        if wrong.get(name)
    ]


def test_symmetric_flips_go_to_every_other_class():
    data = embeddings()
    seen = Counter(
        pair
        for seed in range(8)
        for pair in moves(contaminate(data, flips=Flips(share=0.5), seed=seed), data)
    )
    assert len(seen) == 6 and all(a != b for a, b in seen) and sum(seen.values()) == 320
    assert min(seen.values()) > 30


def test_feature_dependent_flips_go_to_the_nearest_other_class_and_prefer_the_near():
    data = embeddings()
    unit = data.embeddings / np.linalg.norm(data.embeddings, axis=1, keepdims=True)
    distance = (1 - unit @ unit.T) / 2
    distance[data.labels[:, None] == data.labels] = np.inf
    nearest, far = distance.argmin(axis=1), distance.min(axis=1)
    hit = np.zeros(SIZE)
    for seed in range(30):
        study = contaminate(data, flips=Flips(share=0.2, kind="feature"), seed=seed)
        wrong = truth(study, "label_errors")
        for here, name in enumerate(study.collection.items):
            if wrong[name]:
                was = data.items.index(name)
                assert study.collection.labels[here] == data.labels[nearest[was]]
                hit[was] += 1
    half = np.argsort(far)
    assert hit[half[: SIZE // 2]].sum() > 1.3 * hit[half[SIZE // 2 :]].sum()


def test_verified_labels_are_right_ones():
    data = embeddings()
    study = contaminate(data, flips=Flips(share=0.4, verified=0.5), seed=1)
    known, labels = study.collection.known, study.collection.labels
    wrong = np.array([truth(study, "label_errors")[name] for name in study.collection.items])
    assert (known >= 0).sum() == round(0.5 * (~wrong).sum())
    assert (known[known >= 0] == labels[known >= 0]).all() and not wrong[known >= 0].any()
    assert contaminate(data, flips=Flips()).collection.known is None


def test_items_without_label_keep_none():
    labels = np.arange(SIZE) % 3
    labels[::4] = -1
    from dataclasses import replace

    study = contaminate(replace(embeddings(), labels=labels), flips=Flips(share=0.5))
    assert (study.collection.labels == -1).sum() == 20
    assert len(truth(study, "label_errors")) == 60


# pictures


@pytest.mark.parametrize("kind", ALTERATIONS)
def test_alterations_change_more_with_strength_and_are_the_same_for_a_seed(kind):
    rng = np.random.default_rng(0)
    smooth = np.cumsum(np.cumsum(rng.normal(size=(48, 40, 3)), 0), 1)
    pixels = np.clip(128 + smooth, 0, 255).astype(np.uint8)
    before = pixels.copy()
    made = {}
    for strength in (0.2, 1.0) if kind != "mirror" else (1.0,):
        how = Alteration(kind, strength)
        one, two = (alter(pixels, how, np.random.default_rng(7)) for _ in range(2))
        assert one.dtype == np.uint8 and one.ndim == 3 and (one == two).all()
        assert one.shape != pixels.shape or (one != pixels).any()
        made[strength] = one
    assert (pixels == before).all()
    if kind in ("crop", "resize"):
        assert made[1.0].size < made[0.2].size < pixels.size
    elif kind != "mirror":
        change = [np.abs(made[s].astype(float) - pixels).mean() for s in (0.2, 1.0)]
        assert change[0] < change[1]
    else:
        assert (made[1.0][:, ::-1] == pixels).all()


@pytest.mark.parametrize("kind", MADE_UP)
@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (40, 25)])
def test_made_up_pictures_have_the_shape_asked_for(kind, shape):
    one, two = (MADE_UP[kind](shape, np.random.default_rng(1)) for _ in range(2))
    assert one.shape == (*shape, 3) and one.dtype == np.uint8 and (one == two).all()
    assert kind != "blank" or len(np.unique(one.reshape(-1, 3), axis=0)) == 1


def test_planted_pictures_are_embedded_by_the_encoder_and_others_not_again():
    from dataclasses import replace

    plain = pictures()
    encoder = GreyPixels()
    data = replace(plain, embeddings=encoder.encode(plain.images, range(SIZE)))
    study = all_three(data, encoder=encoder)
    expected = encoder.encode(study.collection.images, range(len(study.collection)))
    assert (study.collection.embeddings == expected).all()
    assert (all_three(plain, encoder=encoder).collection.embeddings == expected).all()
    assert all_three(plain).collection.embeddings is None
    with pytest.raises(InputError, match="give the encoder"):
        all_three(data)
    with pytest.raises(InputError, match="64 features"):
        all_three(data, encoder=GreyPixels(8))


def test_digests_tell_altered_pictures_apart():
    study = all_three(pictures())
    digests = [study.collection.images.digest(n) for n in range(len(study.collection))]
    assert len(set(digests)) == len(digests)
    again = all_three(pictures(), seed=4)
    planted = [n for n, name in enumerate(again.collection.items) if "planted" in name]
    assert not {again.collection.images.digest(n) for n in planted} & set(digests)


# the whole


@pytest.mark.parametrize("make", [embeddings, pictures])
def test_the_same_seed_gives_the_same_study_and_another_seed_another(make):
    one, two, other = all_three(make()), all_three(make()), all_three(make(), seed=4)
    assert one.collection.items == two.collection.items != other.collection.items
    for task in one.truths:
        assert truth(one, task) == truth(two, task)
        assert truth(one, task) != truth(other, task)
    if one.collection.embeddings is not None:
        assert (one.collection.embeddings == two.collection.embeddings).all()
    else:
        for place in range(0, len(one.collection), 7):
            assert (one.collection.images.rgb(place) == two.collection.images.rgb(place)).all()


def test_names_never_clash_and_planting_twice_works():
    data = embeddings()
    once = contaminate(data, off_topic=OffTopic(), copies=Copies())
    twice = contaminate(once.collection, off_topic=OffTopic(), copies=Copies())
    new = set(twice.collection.items) - set(once.collection.items)
    assert len(new) == len(twice.collection) - len(once.collection)
    assert all(name.startswith("+planted-") for name in new)


def test_copies_leak_between_parts():
    study = contaminate(embeddings(), copies=Copies(share=0.5))
    part = dict(zip(study.collection.items, study.collection.split, strict=True))
    yes = [split_pair(name) for name, one in truth(study, "near_duplicates").items() if one]
    assert {"train", "test"} == set(part.values())
    assert any(part[a] != part[b] for a, b in yes)


def test_tasks_without_a_plan_are_left_out_and_bad_plans_refused():
    data = embeddings()
    assert set(contaminate(data, flips=Flips()).truths) == {"label_errors"}
    with pytest.raises(InputError, match="nothing to plant"):
        contaminate(data)
    for bad in (
        lambda: OffTopic(share=0),
        lambda: Copies(largest=1),
        lambda: Flips(kind="random"),
        lambda: Alteration("jpeg", 1.5),
        lambda: Alteration("mirror", 0.5),
        lambda: contaminate(data, copies=Copies(alterations=(Alteration("jpeg"),))),
        lambda: contaminate(pictures(3), off_topic=OffTopic()),
        lambda: contaminate(Collection(items=tuple("abcd")), off_topic=OffTopic()),
        lambda: contaminate(
            Collection(items=tuple("abcd"), embeddings=np.eye(4)), flips=Flips()
        ),
    ):
        with pytest.raises(InputError):
            bad()

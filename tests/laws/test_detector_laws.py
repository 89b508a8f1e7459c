"""Laws that every detector of the catalogue keeps."""

import random
from dataclasses import FrozenInstanceError, replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from equipoise import InputError
from equipoise.clean import DETECTORS, TASKS, Collection, Detector, Pairs, detectors, pair_name
from equipoise.clean import detector as detector_module
from equipoise.clean.detectors.outliers import OUTLIERS, arguments
from equipoise.clean.images import ArrayImages
from equipoise.types.findings import ENTRIES

ITEMS, CLASSES, FEATURES = 60, 3, 6
OUTLIER, COPY, ORIGINAL, FLIPPED = 11, 23, 5, 30
QUICK = {  # networks that train for long are trained for a moment
    "autoencoder": {"epochs": 8},
    "vae": {"epochs": 8},
    "deep_svdd": {"epochs": 8},
    "deep_isolation_forest": {"networks": 10},
}
QUICKER = tuple(
    one.with_settings(**QUICK[one.name]) if one.name in QUICK else one for one in DETECTORS
)
every_detector = pytest.mark.parametrize("detector", QUICKER, ids=lambda one: one.name)


def collection(*, unlabelled=()):
    """Three clouds with one outlier, one copy and one wrong label."""
    chance = np.random.default_rng(5)
    labels = np.arange(ITEMS) % CLASSES
    centres = 4 * np.eye(CLASSES, FEATURES)
    rows = centres[labels] + chance.normal(scale=0.5, size=(ITEMS, FEATURES))
    rows[OUTLIER] = -30
    blocks = chance.integers(0, 255, size=(ITEMS, 6, 6, 3))
    images = np.repeat(np.repeat(blocks, 6, axis=1), 6, axis=2).astype(np.uint8)
    rows[COPY], images[COPY] = rows[ORIGINAL], images[ORIGINAL]
    known = np.full(ITEMS, -1)
    known[40:52] = labels[40:52]
    given = labels.copy()
    given[FLIPPED] = (given[FLIPPED] + 1) % CLASSES
    given[list(unlabelled)] = -1
    return Collection(
        items=tuple(f"scan-{number}" for number in range(ITEMS)),
        embeddings=rows,
        images=ArrayImages(images),
        labels=given,
        classes=("a", "b", "c"),
        known=known,
    )


DATA = collection()


def by_name(made):
    return dict(zip(made.items, made.values.tolist(), strict=True))


def seeded_globally():
    """The state of every shared source of random numbers, and the threads of torch."""
    import torch
    from sklearn.utils import check_random_state

    shared = check_random_state(None).get_state()
    return (
        random.getstate(),
        shared[1].tobytes(),
        shared[2:],
        torch.random.get_rng_state().numpy().tobytes(),
        torch.get_num_threads(),
    )


def test_every_detector_of_a_file_is_in_the_catalogue():
    home = Path(detectors.__file__).parent
    files = {f"{detectors.__name__}.{one.stem}" for one in home.glob("[!_]*.py")}
    rows = [
        row
        for file in files
        for table in vars(import_module(file)).values()
        if isinstance(table, tuple) and table and isinstance(table[0], Detector)
        for row in table
    ]
    assert {row.name for row in rows} == {row.name for row in DETECTORS}
    assert len(rows) == len(DETECTORS)


@every_detector
def test_facts_are_stated(detector):
    assert detector.task in TASKS and detector.title and detector.needs
    assert set(detector.references) <= set(ENTRIES) and detector.references
    assert detector.settings == detector.hyper
    assert [one.name for one in DETECTORS].count(detector.name) == 1
    with pytest.raises((FrozenInstanceError, AttributeError)):
        detector.name = "other"


def other_than(value):
    """Another value of the same kind."""
    if isinstance(value, int):
        return value + 2
    return {tuple: (7,), str: "mean", float: 0.25}[type(value)]


@pytest.mark.parametrize("detector", OUTLIERS, ids=lambda one: one.name)
def test_every_hyper_parameter_of_a_row_reaches_pyod(detector):
    rows = np.ones((400, 3))
    usual = arguments(detector, rows, 0)
    for name, value in detector.settings.items():
        changed = detector.with_settings(**{name: other_than(value)})
        assert arguments(changed, rows, 0) != usual


@every_detector
def test_hyper_parameters_that_cannot_be_are_refused_by_name(detector):
    for name, value in detector.settings.items():
        assert detector.with_settings(**{name: value}) == detector
        if not isinstance(value, tuple):
            with pytest.raises(InputError) as refused:
                detector.with_settings(**{name: -1})
            assert refused.value.where == f"detector {detector.name}, {name}"
    with pytest.raises(InputError, match="hyper-parameter"):
        detector.with_settings(nothing=1)


@every_detector
def test_one_finite_score_per_item_or_pair(detector):
    made = detector.score(DATA, seed=3)
    assert made.model == detector.name and made.task == detector.task
    assert np.isfinite(made.values).all()
    if detector.bounded:
        assert made.values.min() >= 0 and made.values.max() <= 1
    if detector.task == "near_duplicates":
        names = {pair_name(a, b) for a in DATA.items for b in DATA.items if a < b}
        assert set(made.items) <= names and len(made.items) >= ITEMS / 2
    else:
        assert made.items == DATA.items


@every_detector
def test_what_was_planted_ranks_near_the_top(detector):
    made = detector.score(DATA, seed=3)
    planted = {
        "off_topic": DATA.items[OUTLIER],
        "near_duplicates": pair_name(DATA.items[ORIGINAL], DATA.items[COPY]),
        "label_errors": DATA.items[FLIPPED],
    }[detector.task]
    higher = made.values > by_name(made)[planted]
    assert higher.sum() <= (0 if detector.task == "near_duplicates" else 2)


@every_detector
def test_the_same_seed_gives_the_same_bytes_and_leaves_chance_alone(detector):
    before = seeded_globally()
    first = detector.score(DATA, seed=7).values.tobytes()
    assert seeded_globally() == before
    random.random()
    assert detector.score(DATA, seed=7).values.tobytes() == first


@every_detector
def test_chance_has_a_part_only_where_it_is_said(detector):
    one, two = (detector.score(DATA, seed=seed).values for seed in (1, 2))
    assert (one.tobytes() == two.tobytes()) != detector.seeded


@every_detector
def test_the_order_of_the_items_does_not_matter(detector):
    order = np.random.default_rng(1).permutation(ITEMS)
    one, two = by_name(detector.score(DATA, seed=3)), by_name(
        detector.score(DATA.subset(order), seed=3)
    )  # fmt: skip
    assert set(one) == set(two)
    assert [two[name] for name in one] == pytest.approx([*one.values()], abs=1e-6)


@every_detector
def test_inputs_are_left_alone(detector):
    before = DATA.embeddings.tobytes(), DATA.labels.tobytes(), DATA.images.array.tobytes()
    detector.score(DATA, seed=3)
    after = DATA.embeddings.tobytes(), DATA.labels.tobytes(), DATA.images.array.tobytes()
    assert after == before


@every_detector
def test_what_is_missing_is_named(detector, monkeypatch):
    for need in detector.needs:
        lacking = replace(DATA, **{need: None})
        with pytest.raises(InputError) as refused:
            detector.score(lacking)
        assert f"detector {detector.name}" in str(refused.value)
        assert detector_module.NEEDED[need][1] in str(refused.value)
    if detector.packages:
        monkeypatch.setattr(detector_module, "find_spec", lambda _name: None)
        with pytest.raises(InputError, match=r"pip install \"equipoise\["):
            detector.score(DATA)


@every_detector
def test_items_without_a_label_are_left_out_of_label_errors(detector):
    if detector.task != "label_errors":
        pytest.skip("looks at no labels")
    unlabelled = (2, 17, 33)
    made = detector.score(collection(unlabelled=unlabelled), seed=3)
    gone = {DATA.items[place] for place in unlabelled}
    assert set(made.items) == set(DATA.items) - gone
    assert np.isfinite(made.values).all()


@every_detector
def test_a_class_with_one_member_and_identical_items_have_scores(detector):
    labels = np.array(DATA.labels)
    labels[0] = 3
    alike = np.array(DATA.embeddings)
    alike[20:] = alike[20]
    one = replace(DATA, labels=labels, classes=("a", "b", "c", "d"), embeddings=alike)
    assert np.isfinite(detector.score(one, seed=3).values).all()
    same = replace(one, embeddings=np.ones((ITEMS, 4)))
    assert np.isfinite(detector.score(same, seed=3).values).all()


@every_detector
def test_pairs_that_are_given_are_scored_in_their_order(detector):
    if detector.task != "near_duplicates":
        pytest.skip("scores items")
    pairs = Pairs(np.array([40, ORIGINAL, 2]), np.array([9, COPY, 7]))
    made = detector.score(replace(DATA, pairs=pairs))
    assert made.items == pairs.names(DATA.items)
    assert made.values.argmax() == 1


@every_detector
def test_progress_is_told_and_never_goes_beyond_its_total(detector):
    told = []
    detector.score(DATA, seed=99, progress=lambda done, total: told.append((done, total)))
    assert told and all(0 <= done <= total for done, total in told)
    assert told[-1][0] == told[-1][1]

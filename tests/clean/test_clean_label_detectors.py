"""Detectors of label errors against slow twins, and their rules for odd data."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from equipoise import InputError
from equipoise.clean import Collection
from equipoise.clean.detectors import label_errors as _out_of_sample
from equipoise.clean.detectors.label_errors import (
    RANKINGS,
    _folds,
    confident_joint,
    held_out,
    margin,
    out_of_sample,
    self_confidence,
)
from tests.clean_sample import catalogued
from tests.oracles import detectors as slow

CLASSES = ("a", "b", "c", "d")
CONFIDENT = catalogued("confident_learning_self_confidence")
BHN = catalogued("bhn")


def collection(seed, items=40, **more):
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 3, items)
    rows = chance.normal(size=(items, 5)) + 2 * np.eye(3, 5)[labels]
    flip = chance.random(items) < 0.2
    labels = np.where(flip, (labels + 1) % 3, labels)
    names = tuple(f"{number:03}" for number in chance.permutation(items))
    return Collection(items=names, embeddings=rows, labels=labels, classes=CLASSES, **more)


def probabilities(seed, items=50):
    chance = np.random.default_rng(seed)
    return chance.dirichlet(np.ones(4), items), chance.integers(0, 3, items)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_noise_rank_and_neighbours_are_their_definitions(seed):
    data = collection(seed)
    found = catalogued("noise_rank", bandwidth=0.7).score(data).values
    slowly = slow.noise_rank(data.embeddings, data.labels, 0.7)
    assert found == pytest.approx(slowly, rel=1e-4, abs=1e-4)
    found = catalogued("knn_disagreement", k=7).score(data).values
    assert found == pytest.approx(slow.knn_disagreement(data.embeddings, data.labels, 7))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_the_confident_joint_comes_first(seed):
    chances, labels = probabilities(seed)
    off = np.array(slow.confident_joint(chances, labels))
    found = confident_joint(chances, labels)
    half = margin(chances, labels)
    assert (found >= 0.5).tolist() == off.tolist()
    assert found == pytest.approx((off + half) / 2)


def test_the_confident_joint_is_that_of_cleanlab():
    count = pytest.importorskip("cleanlab.count")
    for seed in range(5):
        chances, labels = probabilities(seed, items=300)
        chances = chances[:, :3] / chances[:, :3].sum(axis=1, keepdims=True)
        joint = count.compute_confident_joint(labels, chances, calibrate=False)
        found = confident_joint(chances, labels)
        assert (found >= 0.5).sum() == joint.sum() - np.trace(joint)


def test_self_confidence_and_margin_by_hand():
    chances, labels = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), np.array([0, 1])
    own = self_confidence(chances, labels)
    assert own == pytest.approx([0.3, 0.7])
    assert margin(chances, labels) == pytest.approx([0.25, 0.65])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=40), st.integers(2, 6))
def test_every_class_is_spread_over_the_folds(labels, folds):
    labels = np.array(labels)
    fold = _folds(labels, folds, 0)
    for code in np.unique(labels):
        sizes = np.bincount(fold[labels == code], minlength=folds)
        assert sizes.max() - sizes.min() <= 1
    assert np.ptp(np.bincount(fold, minlength=folds)) <= 1


def test_nobody_is_predicted_by_what_saw_its_label():
    """A label that changes leaves the item's own probabilities as they were."""
    data = collection(3)
    labels = np.array(data.labels)
    how = CONFIDENT.hyper
    for places, predict in held_out(data.embeddings, labels, how, 4):
        apart = np.setdiff1d(np.arange(len(labels)), places)
        direct = _out_of_sample._trained_classifier(
            data.embeddings[apart], labels[apart], how, 4, 2
        )
        assert predict(data.embeddings[places]) == pytest.approx(
            direct(data.embeddings[places])
        )


def test_a_class_with_one_member_never_supports_its_label():
    labels = np.array(collection(1).labels)
    labels[4] = 3
    data = replace(collection(1), labels=labels)
    found = CONFIDENT.score(data).values
    assert found[4] == 1 and found.max() == 1 and (found == 1).sum() == 1


def test_three_rankings_share_one_fit(monkeypatch):
    data, calls = collection(8), []
    trained = _out_of_sample._trained_classifier
    monkeypatch.setattr(
        _out_of_sample, "_trained_classifier", lambda *words: calls.append(1) or trained(*words)
    )
    for ranking in RANKINGS:
        catalogued(f"confident_learning_{ranking}").score(data, seed=12345)
    assert len(calls) == 5
    CONFIDENT.score(data, seed=12346)
    other = replace(data, labels=(np.array(data.labels) + 1) % 3)
    CONFIDENT.score(other, seed=12345)
    assert len(calls) == 15


def test_kept_results_cannot_be_changed():
    data, how = collection(9), CONFIDENT.hyper
    first = out_of_sample(data.embeddings, data.labels, how, 0)
    with pytest.raises(ValueError, match="read-only"):
        first[:] = 0
    assert first.sum() == pytest.approx(len(data))


def test_adaboost_is_another_classifier():
    data = collection(2)
    one = CONFIDENT.with_settings(classifier="adaboost", stumps=5).score(data).values
    assert not np.allclose(one, CONFIDENT.score(data).values)
    with pytest.raises(InputError, match="classifier"):
        CONFIDENT.with_settings(classifier="adabost")


@pytest.mark.parametrize("name", ["confident_learning_joint", "bhn"])
def test_one_class_is_refused(name):
    known = np.full(40, -1)
    known[:5] = 0
    data = replace(collection(1), labels=np.zeros(40, dtype=int), known=known)
    with pytest.raises(InputError, match="at least two classes"):
        catalogued(name).score(data)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_fine_is_alignment_and_a_mixture_with_one_variance(seed):
    data = collection(seed, items=90)
    aligned = slow.alignment(data.embeddings, data.labels)
    found = catalogued("fine").score(data).values
    for code in range(3):
        rows = data.labels == code
        order = np.argsort(aligned[rows])
        assert (np.diff(found[rows][order]) <= 1e-6).all()
        mixture = GaussianMixture(
            2, covariance_type="tied", tol=1e-10, max_iter=5000, reg_covar=1e-12,
            means_init=[[aligned[rows].min()], [aligned[rows].max()]],
            weights_init=[0.5, 0.5],
            precisions_init=[[1 / aligned[rows].var()]],
        ).fit(aligned[rows, None])  # fmt: skip
        noisy = mixture.predict_proba(aligned[rows, None])[:, mixture.means_.argmin()]
        ours = 1 / (1 + np.exp(-np.clip(found[rows], -700, 700)))
        assert ours == pytest.approx(noisy, abs=0.02)


def test_fine_says_nothing_of_tiny_classes():
    labels = np.array(collection(1).labels)
    labels[:3] = 3
    found = catalogued("fine").score(replace(collection(1), labels=labels)).values
    assert (found[:3] == 0).all() and (found[3:] != 0).all()


def test_bhn_is_a_conformal_p_value_per_fold():
    known = np.full(40, -1)
    data = collection(6)
    known[10:22] = (data.labels[10:22] + np.arange(12)) % 3  # some labels are known wrong
    data = replace(data, known=known)
    ordered = data.subset(np.argsort(data.items))
    found = dict(zip(data.items, BHN.score(data, seed=2).values.tolist(), strict=True))
    rows, labels, right = ordered.embeddings, ordered.labels, ordered.known
    unsure, clean = np.flatnonzero(right == -1), np.flatnonzero(right != -1)
    of_known = np.zeros(len(clean))
    for places, predict in held_out(rows[unsure], labels[unsure], CONFIDENT.hyper, 2):
        here = unsure[places]
        nulls = 1 - predict(rows[clean])[np.arange(len(clean)), right[clean]]
        tested = 1 - predict(rows[here])[np.arange(len(here)), labels[here]]
        assert [found[ordered.items[i]] for i in here] == pytest.approx(
            slow.conformal(nulls, tested)
        )
        again = 1 - predict(rows[clean])[np.arange(len(clean)), labels[clean]]
        of_known += [
            slow.conformal(np.delete(nulls, i), [value])[0] for i, value in enumerate(again)
        ]
    assert [found[ordered.items[i]] for i in clean] == pytest.approx(of_known / 5)


def test_bhn_needs_known_labels_and_others():
    data = collection(6)
    with pytest.raises(InputError, match="no label that is known"):
        BHN.score(replace(data, known=np.full(40, -1)))
    with pytest.raises(InputError, match="every label known"):
        BHN.score(replace(data, known=data.labels))

"""A table of votes gives what `evaluate` gives of the same votes by name."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import Annotations, InputError, Predictions, evaluate
from equipoise.study.table import table_uncertainty

METRICS = ("auroc", "average_precision")
PARTS = ("values", "items", "annotators", "cells", "draws", "df_items")


def study(items, people, seed, missing=0.0):
    """Votes with -1 where there is none, and scores of three models."""
    random = np.random.default_rng(seed)
    evidence = random.normal(size=items)
    lean = 0.4 * random.normal(size=people)
    votes = (evidence[:, None] + lean + random.normal(size=(items, people)) > 0.8).astype(int)
    none = random.random(votes.shape) < missing
    none[np.arange(items), random.integers(0, people, items)] = False
    scores = evidence + random.normal(size=(3, items))
    scores[1] = scores[1].round(1)
    return np.where(none, -1, votes).astype(np.int8), scores


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize(("items", "people"), [(150, 5), (6000, 3), (150, 1)])
def test_same_as_evaluate(items, people, missing):
    votes, scores = study(items, people, seed=people, missing=missing)
    found = table_uncertainty(votes, scores, metrics=METRICS)
    item, person = np.nonzero(votes >= 0)
    names = tuple(f"i{i:05d}" for i in range(items))
    annotations = Annotations(
        kind="binary", items=names, classes=("no", "yes"), item=item, annotator=person,
        annotators=tuple(f"r{r}" for r in range(people)), label=votes[item, person].astype(int),
    )  # fmt: skip
    models = [Predictions(f"m{m}", names, one) for m, one in enumerate(scores)]
    done = evaluate(models, annotations, metrics=METRICS, resampling="influence")
    for metric in METRICS:
        expected = done.two_way(metric, labels="soft")
        for part in PARTS:
            wanted = getattr(expected, part)
            scale = np.abs(wanted).max()
            assert_allclose(
                getattr(found[metric], part), wanted, rtol=1e-10, atol=1e-12 * scale
            )
        assert found[metric].df_annotators == pytest.approx(expected.df_annotators, rel=1e-10)
        assert found[metric].floor == pytest.approx(expected.floor, rel=1e-12)
        assert found[metric].population == expected.population
        for m in range(len(scores)):
            estimate = done.estimate(f"m{m}", metric)
            interval = found[metric].of(m).interval(estimate.value, bounds=(0.0, 1.0))
            assert interval == pytest.approx(estimate.interval(), rel=1e-9)


@pytest.mark.parametrize("people", [1, 4])
def test_a_column_without_votes_is_nobody(people):
    votes, scores = study(80, people, seed=1, missing=0.3)
    wider = np.insert(votes, people // 2, -1, axis=1)
    for metric, one in table_uncertainty(votes, scores).items():
        other = table_uncertainty(wider, scores)[metric]
        for part in (*PARTS, "df_annotators", "floor"):
            assert_allclose(getattr(other, part), getattr(one, part), rtol=1e-12)
        assert other.population == one.population


def test_an_item_without_votes_is_named():
    with pytest.raises(InputError, match="item 1"):
        table_uncertainty(np.array([[1, 0], [-1, -1]], np.int8), [0.1, 0.2])


@pytest.mark.parametrize(
    "votes", [np.array([1, 0]), np.array([[2, 0], [1, 1]]), np.array([[0.5, 1], [1, 0]])]
)
def test_what_is_no_table_is_refused(votes):
    with pytest.raises(InputError, match="votes"):
        table_uncertainty(votes, [0.1, 0.2])


@pytest.mark.parametrize("scores", [[0.1], [0.1, np.nan], [[[0.1, 0.2]]]])
def test_scores_that_do_not_fit_are_refused(scores):
    with pytest.raises(InputError, match="y_scores"):
        table_uncertainty(np.array([[1, 0], [0, 1]], np.int8), scores)


def test_metrics_without_derivatives_are_refused():
    with pytest.raises(InputError, match="no derivatives"):
        table_uncertainty(np.array([[1, 0], [0, 1]]), [0.1, 0.2], metrics=["precision_at_1"])

"""Results and metrics can be pickled, copied and made in other processes."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_array_equal

from equipoise import evaluate
from equipoise.datasets.demo import reading_study
from equipoise.metrics import CATALOGUE, named

CLASSES = ("W", "N1", "N2")


def twin(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_a_metric_comes_back_with_its_parameters_and_classes(name):
    metric = CATALOGUE[name]()
    for before in (metric, metric.among(CLASSES)):
        after = twin(before)
        assert (after.name, after.bound, after.column) == (
            before.name,
            before.bound,
            before.column,
        )


def test_a_bound_metric_scores_the_same():
    labels = np.eye(3)[[0, 1, 2, 2, 1]]
    scores = np.random.default_rng(3).dirichlet(np.ones(3), 5)
    for name in ("f1:positive=N2", "auroc", "brier_score", "cohen_kappa"):
        metric = named(name).among(CLASSES)
        assert twin(metric)(labels, scores) == metric(labels, scores)


def test_a_metric_of_the_users_own_comes_back_if_its_functions_do():
    own = replace(named("accuracy"), name="ours", title="Ours", prepare=np.abs, reduce=np.add)
    own = replace(own, reduce_all=None, influence=None, finish=np.negative, per_item=None)
    own = replace(own, denominator=None, bind=None)
    back = twin(own)
    assert all(getattr(back, f.name) == getattr(own, f.name) for f in fields(own))


@pytest.fixture(scope="module")
def result():
    readings, scores = reading_study()
    return evaluate(scores[:2], readings, metrics=["auroc", "f1"])


@pytest.mark.parametrize("again", [twin, copy.copy, copy.deepcopy])
def test_an_evaluation_comes_back_whole(result, again):
    other = again(result)
    assert other._repr_html_() == result._repr_html_()
    assert_array_equal(other.replicates, result.replicates)


def test_an_evaluation_can_be_made_in_another_process(result):
    readings, scores = reading_study()
    call = delayed(evaluate)(scores[:2], readings, metrics=["auroc", "f1"])
    (other,) = Parallel(n_jobs=2)([call])
    assert_array_equal(other.replicates, result.replicates)

"""Out-of-sample probabilities: what a classifier says of items that it was not trained on.

Items are split into folds, each class spread over them as evenly as it goes; each fold is
predicted by a classifier that was trained on the others. A class that is not in the training
folds has probability 0 there: a class with one member never supports its own label, so its
member ranks as suspicious, which is all that the data say of it. Features are standardised on
the training folds; for the logistic regression they are divided by the square root of their
number besides, so that one strength of the penalty suits few features and many.

One fit serves all detectors that ask for the same: the last results are kept by the content of
embeddings and labels. In what a benchmark says of costs the fit counts for each of them.
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar, Literal, get_args

import numpy as np

from equipoise.clean.collection import Collection
from equipoise.clean.detector import (
    SEEDS,
    Detector,
    Need,
    Progress,
    Task,
    back_in_place,
    name_order,
    tell,
)
from equipoise.scale.cells import digest, spared
from equipoise.types.arrays import Floats, InputError, Ints, choice, frozen

Classifier = Literal["logistic_regression", "adaboost"]
Predict = Callable[[Floats], Floats]  # features (items, features) to (items, classes)
CLASSIFIERS: tuple[Classifier, ...] = get_args(Classifier)
_KEPT = 4
_results: OrderedDict[tuple[object, ...], tuple[Floats, float]] = OrderedDict()  # and seconds


@dataclass(frozen=True)
class CrossValidation:
    """How items are held out, and what predicts them.

    Attributes
    ----------
    classifier
        ``logistic_regression``, or ``adaboost`` as in CleanPatrick.
    folds
        Number of folds; as many as items where there are fewer.
    strength, steps
        Of the logistic regression: inverse strength of its penalty, and steps at most.
    stumps
        Of AdaBoost.
    """

    classifier: Classifier = "logistic_regression"
    folds: int = 5
    strength: float = 1.0
    steps: int = 100
    stumps: int = 50

    def __post_init__(self) -> None:
        choice("cross-validation, classifier", self.classifier, CLASSIFIERS)
        if self.folds < 2:
            raise InputError(
                "cross-validation, folds", f"{self.folds}", "at least 2", "give more folds"
            )


@dataclass(frozen=True)
class CrossValidated(CrossValidation, Detector):
    """A detector of label errors that asks a classifier about items it was not trained on."""

    task: ClassVar[Task] = "label_errors"
    needs: ClassVar[tuple[Need, ...]] = ("embeddings", "labels")
    packages: ClassVar[tuple[str, ...]] = ("sklearn",)
    seeded: ClassVar[bool] = True
    bounded: ClassVar[bool] = True


def out_of_sample(
    data: Collection, how: CrossValidation, seed: int, *, progress: Progress | None = None
) -> Floats:
    """Probabilities of every class for every item, all of them labelled, (items, classes)."""
    assert data.embeddings is not None and data.labels is not None
    order = name_order(data.items)
    rows, labels = data.embeddings[order], data.labels[order]
    asked = (how.classifier, how.folds, how.strength, how.steps, how.stumps, seed)
    key = (digest([rows, labels]), len(data.classes), asked)
    if key not in _results:
        start = perf_counter()
        made = np.zeros((len(rows), len(data.classes)))
        for places, predict in held_out(rows, labels, how, seed, progress=progress):
            made[places, : labels.max() + 1] = predict(rows[places])
        _results[key] = frozen(made), perf_counter() - start
        while len(_results) > _KEPT:
            _results.popitem(last=False)
    else:
        spared(_results[key][1])
        tell(progress, how.folds, how.folds)
    _results.move_to_end(key)
    return back_in_place(_results[key][0], order)


def held_out(
    rows: Floats,
    labels: Ints,
    how: CrossValidation,
    seed: int,
    *,
    progress: Progress | None = None,
) -> Iterator[tuple[Ints, Predict]]:
    """The items of each fold, and a function that predicts as if they had no labels.

    Probabilities are those of the classes 0 to the largest label.
    """
    if len(np.unique(labels)) < 2:
        raise InputError(
            "labels", "one class", "at least two classes", "label errors need a choice"
        )
    fold = _folds(labels, how.folds, seed)
    total = int(fold.max()) + 1
    for number in range(total):
        tell(progress, number, total)
        apart = fold == number
        trained = _trained(rows[~apart], labels[~apart], how, seed, labels.max())
        yield np.flatnonzero(apart), trained
    tell(progress, total, total)


def _folds(labels: Ints, folds: int, seed: int) -> Ints:
    """The fold of every item: members of a class in random order, one fold after the other."""
    chance = np.random.default_rng(seed)
    order = np.lexsort((chance.random(len(labels)), labels))
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % min(folds, len(labels))
    return fold


def _trained(
    rows: Floats, labels: Ints, how: CrossValidation, seed: int, largest: int
) -> Predict:
    """A classifier on standardised features, on one thread."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    centre = rows.mean(axis=0)
    spread = rows.std(axis=0)
    spread[spread == 0] = 1
    model = AdaBoostClassifier(n_estimators=how.stumps, random_state=seed % SEEDS)
    if how.classifier == "logistic_regression":
        model = LogisticRegression(C=how.strength, max_iter=how.steps)
        spread = spread * np.sqrt(rows.shape[1], dtype=spread.dtype)

    def standardised(features: Floats) -> Floats:
        return np.asarray((features - centre) / spread)

    classes = np.unique(labels)
    if len(classes) > 1:
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(standardised(rows), labels)

    def predict(features: Floats) -> Floats:
        made = np.zeros((len(features), int(largest) + 1))
        with threadpool_limits(limits=1):
            made[:, classes] = (
                model.predict_proba(standardised(features)) if len(classes) > 1 else 1.0
            )
        return made

    return predict

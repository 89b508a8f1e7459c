r"""Label errors by a classifier: confident learning and BHN.

**Out of sample** means: by a classifier that was not trained on the item. Items are split into
folds, each class spread over them as evenly as it goes; each fold is predicted by a classifier
that was trained on the others. A class that is not in the training folds has probability 0
there: a class with one member never supports its own label, so its member ranks as suspicious,
which is all that the data say of it. Features are standardised on the training folds; for the
logistic regression they are divided by the square root of their number besides, so that one
strength of the penalty suits few features and many.

One fit serves all detectors that ask for the same: the last results are kept by the content of
embeddings and labels. In what a benchmark says of costs the fit counts for each of them.

**Confident learning**: how little a classifier that never saw an item believes in its label.
With :math:`\hat p` out of sample and :math:`y_i` the label, the three rankings are

.. math:: \text{self-confidence:} \quad s_i = 1 - \hat p(y_i \mid x_i)

.. math:: \text{normalised margin:} \quad m_i = \tfrac12 \bigl(1
          + \max_{j \ne y_i} \hat p(j \mid x_i) - \hat p(y_i \mid x_i)\bigr)

.. math:: \text{confident joint:} \quad s_i = \tfrac12 (o_i + m_i)

The confident joint: the threshold of a class is the mean probability of the class among the
items that carry it,

.. math:: t_j = \operatorname{mean}_{i : y_i = j} \hat p(j \mid x_i)

An item is confidently of the likeliest class j with :math:`\hat p(j \mid x_i) \ge t_j`; the
joint counts items by label and by that class, and what is off its diagonal, :math:`o_i = 1`, is
a label issue. The published method names a set; ours is a ranking with that set first, both
parts in the order of the margin, so that hardly any two items tie. Every item of the set scores
at least 1/2 and every other item at most 1/2. Classes without a member have no threshold and
are nobody's class.

**BHN**: how extreme a label looks beside labels that are known to be right. A classifier is
trained on the items whose label is not known to be right; the nonconformity of an item with a
label is one minus its probability, out of sample. Against the n items whose label is known, a
conformal p-value tests the hypothesis that a label is right:

.. math:: p_i = \frac{1 + \#\{c : a_c \ge a_i\}}{n + 1}, \qquad a = 1 - \hat p(y \mid x)

The Benjamini-Hochberg procedure rejects the smallest p-values, so that items are ranked by
them. P-values come in n + 1 steps; within a step items stand by their own nonconformity:

.. math:: s_i = 1 - p_i + \frac{a_i}{n + 1}

Our reading where the paper is silent: probabilities come from k folds of the items that are
not known, each tested against the known ones as seen by the very same classifier; an item
that is known is tested against the other known ones, with the mean over all classifiers; one
p-value for all classes.
"""

import warnings
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar, Literal, get_args

import numpy as np

from equipoise.clean.collection import MISSING, Collection
from equipoise.clean.detector import (
    SEEDS,
    Detector,
    Need,
    Progress,
    back_in_place,
    labelled_items,
    name_order,
    tell,
)
from equipoise.scale.cells import digest, spared
from equipoise.types.arrays import Floats, InputError, Ints, choice, frozen
from equipoise.types.predictions import Predictions

Classifier = Literal["logistic_regression", "adaboost"]
Predict = Callable[[Floats], Floats]  # features (items, features) to (items, classes)
CLASSIFIERS: tuple[Classifier, ...] = get_args(Classifier)
_KEPT = 4
_results: OrderedDict[tuple[object, ...], tuple[Floats, float]] = OrderedDict()  # and seconds


@dataclass(frozen=True)
class CrossValidated(Detector):
    """A detector of label errors that asks a classifier about items it was not trained on.

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

    task = "label_errors"
    needs: ClassVar[tuple[Need, ...]] = ("embeddings", "labels")
    packages = ("sklearn",)
    seeded = True
    bounded = True
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


def out_of_sample(
    data: Collection, how: CrossValidated, seed: int, *, progress: Progress | None = None
) -> Floats:
    """Probabilities of every class for every item, all of them labelled, (items, classes)."""
    assert data.embeddings is not None and data.labels is not None
    order = name_order(data.items)
    rows, labels = data.embeddings[order], data.labels[order]
    settings = (how.classifier, how.folds, how.strength, how.steps, how.stumps, seed)
    key = (digest([rows, labels]), len(data.classes), settings)
    if key not in _results:
        start = perf_counter()
        probabilities = np.zeros((len(rows), len(data.classes)))
        for places, predict in held_out(rows, labels, how, seed, progress=progress):
            probabilities[places, : labels.max() + 1] = predict(rows[places])
        _results[key] = frozen(probabilities), perf_counter() - start
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
    how: CrossValidated,
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
        trained = _trained_classifier(rows[~apart], labels[~apart], how, seed, labels.max())
        yield np.flatnonzero(apart), trained
    tell(progress, total, total)


def _folds(labels: Ints, folds: int, seed: int) -> Ints:
    """The fold of every item: members of a class in random order, one fold after the other."""
    chance = np.random.default_rng(seed)
    order = np.lexsort((chance.random(len(labels)), labels))
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % min(folds, len(labels))
    return fold


def _trained_classifier(
    rows: Floats, labels: Ints, how: CrossValidated, seed: int, largest: int
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
        probabilities = np.zeros((len(features), int(largest) + 1))
        with threadpool_limits(limits=1):
            probabilities[:, classes] = (
                model.predict_proba(standardised(features)) if len(classes) > 1 else 1.0
            )
        return probabilities

    return predict


@dataclass(frozen=True)
class _ConfidentLearning(CrossValidated):
    """Labels against out-of-sample probabilities, from one fit that all rankings share."""

    references = ("northcutt2021",)

    @abstractmethod
    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """Scores in [0, 1] from probabilities (items, classes) and labels (items,)."""

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """How little the classifier believes in the label of each item that has one."""
        self.check(data)
        seen = labelled_items(data)
        assert seen.labels is not None
        chances = out_of_sample(seen, self, seed, progress=progress)
        return self.of_items(seen.items, self.suspicion(chances, seen.labels))


def _probability_of_label(probabilities: Floats, labels: Ints) -> Floats:
    """The probability of the label that each item has, shape (items,)."""
    return np.asarray(probabilities[np.arange(len(labels)), labels])


@dataclass(frozen=True)
class ConfidentLearningSelfConfidence(_ConfidentLearning):
    """One minus the out-of-sample probability of the label."""

    name = "confident_learning_self_confidence"
    title = "Confident learning, self-confidence"

    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """One minus the probability of the label."""
        return 1 - _probability_of_label(probabilities, labels)


@dataclass(frozen=True)
class ConfidentLearningMargin(_ConfidentLearning):
    """The best other label's probability less that of the label, put into [0, 1]."""

    name = "confident_learning_margin"
    title = "Confident learning, normalised margin"

    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """The margin, turned round."""
        others = probabilities.copy()
        others[np.arange(len(labels)), labels] = -np.inf
        return np.asarray(
            (1 + others.max(axis=1) - _probability_of_label(probabilities, labels)) / 2
        )


@dataclass(frozen=True)
class ConfidentLearningJoint(ConfidentLearningMargin):
    """Items off the diagonal of the confident joint first."""

    name = "confident_learning_joint"
    title = "Confident learning, confident joint"

    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """Half a point for being off the diagonal, half for the margin."""
        of_label = _probability_of_label(probabilities, labels)
        members = np.bincount(labels, minlength=probabilities.shape[1])
        sums = np.bincount(labels, weights=of_label, minlength=probabilities.shape[1])
        least = np.where(members > 0, sums / np.maximum(members, 1), np.inf)
        sure = np.where(probabilities >= least, probabilities, -1.0)
        off = (sure.max(axis=1) >= 0) & (sure.argmax(axis=1) != labels)
        return np.asarray((off + super().suspicion(probabilities, labels)) / 2)


@dataclass(frozen=True)
class Bhn(CrossValidated):
    """Conformal p-values against a clean subset."""

    name = "bhn"
    title = "BHN"
    needs = ("embeddings", "labels", "known")
    references = ("yu2023",)

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """One minus the p-value, for every item that has a label."""
        self.check(data)
        seen = labelled_items(data)
        sorted_ = data.subset(name_order(data.items))
        assert sorted_.labels is not None and sorted_.known is not None
        if not (sorted_.known != MISSING).any():
            raise InputError(
                f"detector {self.name}",
                "no label that is known to be right",
                "some",
                "mark some labels as known",
            )
        if not ((sorted_.known == MISSING) & (sorted_.labels != MISSING)).any():
            raise InputError(
                f"detector {self.name}",
                "every label known",
                "labels to be tested",
                "mark only some labels as known",
            )
        values = self._conformal_scores(sorted_, seed, progress)
        by_name = dict(zip(sorted_.items, values.tolist(), strict=True))
        return self.of_items(seen.items, np.array([by_name[name] for name in seen.items]))

    def _conformal_scores(
        self, data: Collection, seed: int, progress: Progress | None
    ) -> Floats:
        """Scores of all items, nan for those without a label."""
        assert data.embeddings is not None and data.labels is not None
        assert data.known is not None
        rows, labels, verified = data.embeddings, data.labels, data.known
        unsure = np.flatnonzero((verified == MISSING) & (labels != MISSING))
        clean = np.flatnonzero(verified != MISSING)
        both = clean[labels[clean] != MISSING]
        scores = np.full(len(labels), np.nan)
        scores[both], parts = 0.0, 0
        folds = held_out(rows[unsure], labels[unsure], self, seed, progress=progress)
        for places, predict in folds:
            apart = unsure[places]
            null = np.sort(_nonconformity(predict(rows[clean]), verified[clean]))
            here = _nonconformity(predict(rows[apart]), labels[apart])
            scores[apart] = (np.searchsorted(null, here) + here) / (len(null) + 1)
            again = _nonconformity(predict(rows[both]), labels[both])
            itself = _nonconformity(predict(rows[both]), verified[both]) < again
            scores[both] += (np.searchsorted(null, again) - itself + again) / len(null)
            parts += 1
        scores[both] /= parts
        return scores


def _nonconformity(probabilities: Floats, labels: Ints) -> Floats:
    """One minus the probability of a label; 1 for classes that the classifier never saw."""
    seen = labels < probabilities.shape[1]
    places = np.flatnonzero(seen)
    scores = np.ones(len(labels))
    scores[places] -= probabilities[places, labels[places]]
    return scores

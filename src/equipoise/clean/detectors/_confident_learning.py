"""What the detectors of confident learning share: one cross-validated fit of one classifier."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.arrays import Floats, Ints
from equipoise.clean.collection import Collection
from equipoise.clean.detector import Detector, Need, Progress, Task, labelled
from equipoise.clean.detectors._out_of_sample import (
    Classifier,
    CrossValidation,
    out_of_sample,
)
from equipoise.predictions import Predictions


@dataclass(frozen=True)
class ConfidentLearning(Detector):
    """Confident learning: labels against out-of-sample probabilities.

    Attributes
    ----------
    classifier
        ``logistic_regression``, or ``adaboost`` as in CleanPatrick.
    folds
        Of the cross-validation.
    strength, steps
        Of the logistic regression: inverse strength of its penalty, and steps at most.
    stumps
        Of AdaBoost.
    """

    task: ClassVar[Task] = "label_errors"
    needs: ClassVar[tuple[Need, ...]] = ("embeddings", "labels")
    packages: ClassVar[tuple[str, ...]] = ("sklearn",)
    seeded: ClassVar[bool] = True
    bounded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("northcutt2021",)
    classifier: Classifier = "logistic_regression"
    folds: int = 5
    strength: float = 1.0
    steps: int = 100
    stumps: int = 50

    def __post_init__(self) -> None:
        self._validation(0)

    def _validation(self, seed: int) -> CrossValidation:
        return CrossValidation(
            self.classifier, self.folds, self.strength, self.steps, self.stumps, seed
        )

    @abstractmethod
    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """Scores in [0, 1] from probabilities (items, classes) and labels (items,)."""

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """How little the classifier believes in the label of each item that has one."""
        self.check(data)
        seen = labelled(data)
        assert seen.labels is not None
        chances = out_of_sample(seen, self._validation(seed), progress=progress)
        return self.of_items(seen.items, self.suspicion(chances, seen.labels))


def of_label(probabilities: Floats, labels: Ints) -> Floats:
    """The probability of the label that each item has, shape (items,)."""
    return np.asarray(probabilities[np.arange(len(labels)), labels])


def of_best_other(probabilities: Floats, labels: Ints) -> Floats:
    """The largest probability of another class, shape (items,)."""
    others = probabilities.copy()
    others[np.arange(len(labels)), labels] = -np.inf
    return np.asarray(others.max(axis=1))

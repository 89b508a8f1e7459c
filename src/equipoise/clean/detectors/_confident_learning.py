"""What the detectors of confident learning share: one cross-validated fit of one classifier."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.arrays import Floats, Ints
from equipoise.clean.collection import Collection
from equipoise.clean.detector import Progress, labelled
from equipoise.clean.detectors._out_of_sample import CrossValidated, out_of_sample
from equipoise.predictions import Predictions


@dataclass(frozen=True)
class ConfidentLearning(CrossValidated):
    """Confident learning: labels against out-of-sample probabilities."""

    references: ClassVar[tuple[str, ...]] = ("northcutt2021",)

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
        chances = out_of_sample(seen, self.validation(seed), progress=progress)
        return self.of_items(seen.items, self.suspicion(chances, seen.labels))


def of_label(probabilities: Floats, labels: Ints) -> Floats:
    """The probability of the label that each item has, shape (items,)."""
    return np.asarray(probabilities[np.arange(len(labels)), labels])


def of_best_other(probabilities: Floats, labels: Ints) -> Floats:
    """The largest probability of another class, shape (items,)."""
    others = probabilities.copy()
    others[np.arange(len(labels)), labels] = -np.inf
    return np.asarray(others.max(axis=1))

r"""Confident learning: how little a classifier that never saw an item believes in its label.

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
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.clean.collection import Collection
from equipoise.clean.detector import Progress, labelled
from equipoise.clean.detectors._out_of_sample import CrossValidated, out_of_sample
from equipoise.types.arrays import Floats, Ints
from equipoise.types.predictions import Predictions


@dataclass(frozen=True)
class _ConfidentLearning(CrossValidated):
    """Labels against out-of-sample probabilities, from one fit that all rankings share."""

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
        chances = out_of_sample(seen, self, seed, progress=progress)
        return self.of_items(seen.items, self.suspicion(chances, seen.labels))


def _of_label(probabilities: Floats, labels: Ints) -> Floats:
    """The probability of the label that each item has, shape (items,)."""
    return np.asarray(probabilities[np.arange(len(labels)), labels])


@dataclass(frozen=True)
class ConfidentLearningSelfConfidence(_ConfidentLearning):
    """One minus the out-of-sample probability of the label."""

    name: ClassVar[str] = "confident_learning_self_confidence"
    title: ClassVar[str] = "Confident learning, self-confidence"

    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """One minus the probability of the label."""
        return 1 - _of_label(probabilities, labels)


@dataclass(frozen=True)
class ConfidentLearningMargin(_ConfidentLearning):
    """The best other label's probability less that of the label, put into [0, 1]."""

    name: ClassVar[str] = "confident_learning_margin"
    title: ClassVar[str] = "Confident learning, normalised margin"

    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """The margin, turned round."""
        others = probabilities.copy()
        others[np.arange(len(labels)), labels] = -np.inf
        return np.asarray((1 + others.max(axis=1) - _of_label(probabilities, labels)) / 2)


@dataclass(frozen=True)
class ConfidentLearningJoint(ConfidentLearningMargin):
    """Items off the diagonal of the confident joint first."""

    name: ClassVar[str] = "confident_learning_joint"
    title: ClassVar[str] = "Confident learning, confident joint"

    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """Half a point for being off the diagonal, half for the margin."""
        own = _of_label(probabilities, labels)
        members = np.bincount(labels, minlength=probabilities.shape[1])
        sums = np.bincount(labels, weights=own, minlength=probabilities.shape[1])
        least = np.where(members > 0, sums / np.maximum(members, 1), np.inf)
        sure = np.where(probabilities >= least, probabilities, -1.0)
        off = (sure.max(axis=1) >= 0) & (sure.argmax(axis=1) != labels)
        return np.asarray((off + super().suspicion(probabilities, labels)) / 2)

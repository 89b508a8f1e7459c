r"""Confident learning by self-confidence: how improbable the label of an item is.

.. math:: s_i = 1 - \hat p(y_i \mid x_i)

with :math:`\hat p` out of sample.
"""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.arrays import Floats, Ints
from equipoise.clean.detectors._confident_learning import ConfidentLearning, of_label


@dataclass(frozen=True)
class ConfidentLearningSelfConfidence(ConfidentLearning):
    """One minus the out-of-sample probability of the label."""

    name: ClassVar[str] = "confident_learning_self_confidence"
    title: ClassVar[str] = "Confident learning, self-confidence"

    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """One minus the probability of the label."""
        return 1 - of_label(probabilities, labels)

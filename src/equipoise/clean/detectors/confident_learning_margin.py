r"""Confident learning by normalised margin: how much likelier another label is.

.. math:: s_i = \tfrac12 \bigl(1 + \max_{j \ne y_i} \hat p(j \mid x_i)
          - \hat p(y_i \mid x_i)\bigr)

with :math:`\hat p` out of sample.
"""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.arrays import Floats, Ints
from equipoise.clean.detectors._confident_learning import (
    ConfidentLearning,
    of_best_other,
    of_label,
)


@dataclass(frozen=True)
class ConfidentLearningMargin(ConfidentLearning):
    """The best other label's probability less that of the label, put into [0, 1]."""

    name: ClassVar[str] = "confident_learning_margin"
    title: ClassVar[str] = "Confident learning, normalised margin"

    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """The margin, turned round."""
        other, own = of_best_other(probabilities, labels), of_label(probabilities, labels)
        return (1 + other - own) / 2

r"""Confident learning by the confident joint: first what it counts as mislabelled, by margin.

The threshold of a class is the mean probability of the class among the items that carry it,

.. math:: t_j = \operatorname{mean}_{i : y_i = j} \hat p(j \mid x_i)

An item is confidently of the likeliest class j with :math:`\hat p(j \mid x_i) \ge t_j`; the
confident joint counts items by label and by that class, and what is off its diagonal,
:math:`o_i = 1`, is a label issue. The published method names a set; ours is a ranking with that
set first, both parts in the order of the normalised margin :math:`m_i` (0 to 1, high is
suspicious, as in `confident_learning_margin`), so that hardly any two items tie:

.. math:: s_i = \tfrac12 (o_i + m_i)

Every item of the set scores at least 1/2 and every other item at most 1/2. Classes without a
member have no threshold and are nobody's class.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.arrays import Floats, Ints
from equipoise.clean.detectors._confident_learning import (
    ConfidentLearning,
    of_best_other,
    of_label,
)


@dataclass(frozen=True)
class ConfidentLearningJoint(ConfidentLearning):
    """Items off the diagonal of the confident joint first."""

    name: ClassVar[str] = "confident_learning_joint"
    title: ClassVar[str] = "Confident learning, confident joint"

    def suspicion(self, probabilities: Floats, labels: Ints) -> Floats:
        """Half a point for being off the diagonal, half for the margin."""
        other, own = of_best_other(probabilities, labels), of_label(probabilities, labels)
        members = np.bincount(labels, minlength=probabilities.shape[1])
        sums = np.bincount(labels, weights=own, minlength=probabilities.shape[1])
        least = np.where(members > 0, sums / np.maximum(members, 1), np.inf)
        sure = np.where(probabilities >= least, probabilities, -1.0)
        off = (sure.max(axis=1) >= 0) & (sure.argmax(axis=1) != labels)
        return np.asarray((off + (1 + other - own) / 2) / 2)

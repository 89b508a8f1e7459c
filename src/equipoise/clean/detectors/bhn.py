r"""BHN: how extreme a label looks beside labels that are known to be right.

A classifier is trained on the items whose label is not known to be right; the nonconformity
of an item with a label is one minus its probability, out of sample. Against the n items whose
label is known, a conformal p-value tests the hypothesis that a label is right:

.. math:: p_i = \frac{1 + \#\{c : a_c \ge a_i\}}{n + 1}, \qquad a = 1 - \hat p(y \mid x)

The Benjamini-Hochberg procedure rejects the smallest p-values, so that items are ranked by
them. P-values come in n + 1 steps; within a step items stand by their own nonconformity:

.. math:: s_i = 1 - p_i + \frac{a_i}{n + 1}

Our reading where the paper is silent: probabilities come from k folds of the items that are
not known, each tested against the known ones as seen by the very same classifier; an item
that is known is tested against the other known ones, with the mean over all classifiers; one
p-value for all classes.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.clean.collection import MISSING, Collection
from equipoise.clean.detector import Need, Progress, labelled, name_order
from equipoise.clean.detectors._out_of_sample import CrossValidated, held_out
from equipoise.types.arrays import Floats, InputError, Ints
from equipoise.types.predictions import Predictions


@dataclass(frozen=True)
class Bhn(CrossValidated):
    """Conformal p-values against a clean subset."""

    name: ClassVar[str] = "bhn"
    title: ClassVar[str] = "BHN"
    needs: ClassVar[tuple[Need, ...]] = ("embeddings", "labels", "known")
    references: ClassVar[tuple[str, ...]] = ("yu2023",)

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """One minus the p-value, for every item that has a label."""
        self.check(data)
        seen = labelled(data)
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
        values = self._tested(sorted_, seed, progress)
        by_name = dict(zip(sorted_.items, values.tolist(), strict=True))
        return self.of_items(seen.items, np.array([by_name[one] for one in seen.items]))

    def _tested(self, data: Collection, seed: int, progress: Progress | None) -> Floats:
        """Scores of all items, nan for those without a label."""
        assert data.embeddings is not None and data.labels is not None
        assert data.known is not None
        rows, labels, known = data.embeddings, data.labels, data.known
        unsure = np.flatnonzero((known == MISSING) & (labels != MISSING))
        clean = np.flatnonzero(known != MISSING)
        both = clean[labels[clean] != MISSING]
        made = np.full(len(labels), np.nan)
        made[both], parts = 0.0, 0
        folds = held_out(rows[unsure], labels[unsure], self, seed, progress=progress)
        for places, predict in folds:
            apart = unsure[places]
            null = np.sort(_nonconformity(predict(rows[clean]), known[clean]))
            here = _nonconformity(predict(rows[apart]), labels[apart])
            made[apart] = (np.searchsorted(null, here) + here) / (len(null) + 1)
            again = _nonconformity(predict(rows[both]), labels[both])
            itself = _nonconformity(predict(rows[both]), known[both]) < again
            made[both] += (np.searchsorted(null, again) - itself + again) / len(null)
            parts += 1
        made[both] /= parts
        return made


def _nonconformity(probabilities: Floats, labels: Ints) -> Floats:
    """One minus the probability of a label; 1 for classes that the classifier never saw."""
    seen = labels < probabilities.shape[1]
    places = np.flatnonzero(seen)
    made = np.ones(len(labels))
    made[places] -= probabilities[places, labels[places]]
    return made

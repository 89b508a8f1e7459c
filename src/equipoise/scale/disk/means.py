"""Metrics that are means over items of a score, linear in the share of votes for the class."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from equipoise.metrics import Metric, named
from equipoise.scale.disk.scores import DiskStudy
from equipoise.types.arrays import Floats, InputError

MEANS = ("accuracy", "brier_score", "log_score")


class Moved(NamedTuple):
    """How models' values move with the items of a partition.

    By the weight of items and by their shares, both (models, items).
    """

    items: Floats
    slopes: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """Mean metrics of the models of a study."""

    study: DiskStudy
    metrics: tuple[str, ...]

    def of(self, number: int, scores: Floats, share: Floats) -> dict[str, Moved]:
        """Score of every item of a partition and its slope by the share, not yet divided.

        Parameters
        ----------
        number
            Of the partition.
        scores
            Of every model, shape (models, items).
        share
            Of the votes of each item for the class, shape (items,).
        """
        if self.metrics:
            self._check(number, scores)
        return {name: _linear(named(name), scores, share) for name in self.metrics}

    def _check(self, number: int, scores: Floats) -> None:
        odd = np.argwhere((scores < 0) | (scores > 1))
        if not len(odd):
            return
        model, item = odd[0].tolist()
        name = self.study.votes.reader.item_names(number)[item].as_py()
        raise InputError(
            f"{self.study.scores.folder.name}, item {name!r}",
            f"a score of {scores[model, item]:g} by {self.study.scores.models[model]}",
            f"a probability in [0, 1] for {', '.join(self.metrics)}",
            "give probabilities, or choose auroc or average_precision",
        )


def _linear(metric: Metric, scores: Floats, share: Floats) -> Moved:
    """Scores and slopes; an infinite loss counts only where somebody voted so."""
    assert metric.per_item is not None
    found, slopes = np.empty_like(scores), np.empty_like(scores)
    for m, score in enumerate(scores):
        predicted = np.stack([1 - score, score], axis=1)
        no, yes = (
            metric.per_item(np.broadcast_to(row, predicted.shape), predicted)
            for row in np.eye(2)
        )
        with np.errstate(invalid="ignore"):
            slope, mixed = yes - no, (1 - share) * no + share * yes
        slopes[m] = np.where(np.isfinite(slope), slope, 0.0)
        found[m] = np.where(share == 0, no, np.where(share == 1, yes, mixed))
    return Moved(found, slopes)

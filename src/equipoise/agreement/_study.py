"""Study: the annotations of one task, and how their agreement is to be measured."""

from dataclasses import dataclass

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, Ints
from equipoise.resampling import Resampling


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What is asked about the agreement on one task.

    Attributes
    ----------
    annotations, task
        Whose agreement, on which question.
    rows
        Which rows are opinions.
    level, weights
        Level of alpha, and weights of Cohen's kappa.
    plan
        Which items each replicate takes.
    """

    annotations: Annotations
    task: str
    rows: Ints | slice
    level: str
    weights: str
    plan: Resampling

    @property
    def ranked(self) -> bool:
        """Whether the annotations are rankings."""
        return self.annotations.rank is not None

    @property
    def first(self) -> Ints:
        """One row of every vote or reading, positions in the annotations."""
        every = np.arange(len(self.annotations))[self.rows]
        if self.annotations.reading is None:
            return every
        return every[np.unique(self.annotations.reading[every], return_index=True)[1]]

    @property
    def times(self) -> Floats:
        """How many votes each of them stands for."""
        count = self.annotations.count
        return np.ones(len(self.first)) if count is None else count[self.first].astype(float)

    @property
    def items(self) -> int:
        """Items with at least one vote."""
        return len(np.unique(self.annotations.item[self.rows]))

    @property
    def votes(self) -> int:
        """Votes or readings."""
        return int(self.times.sum())

    @property
    def by_item(self) -> Floats:
        """Votes of each item, shape (items,)."""
        table = self.annotations
        return np.bincount(table.item[self.first], self.times, len(table.items)).astype(float)

    @property
    def by_annotator(self) -> Floats:
        """Votes of each annotator, shape (annotators,); empty for anonymous votes."""
        table = self.annotations
        if table.annotators is None or table.annotator is None:
            return np.zeros(0)
        who = table.annotator[self.first]
        return np.bincount(who, self.times, len(table.annotators)).astype(float)

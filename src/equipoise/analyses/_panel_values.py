"""Panel values: every model on the labels of many panels, a few panels at a time."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses.scoring import StudyScorer, TaskScorer, mean_over_tasks
from equipoise.arrays import Floats
from equipoise.evaluation.redraw import PanelDraw

ROOM = 2**23  # cells of labels held at a time


def panel_values(
    found: StudyScorer, laid: Sequence[PanelDraw], members: NDArray[np.uint8]
) -> tuple[Floats, float]:
    """Values (models, panels), averaged over tasks, and the mean share of items with a vote.

    Parameters
    ----------
    laid
        Who voted for what, task by task.
    members
        Who belongs to which panel, (annotators, panels).
    """
    parts, seen = [], []
    for subject, panel in zip(found.subjects, laid, strict=True):
        pieces = [panel.shares(some) for some in _columns(members, subject)]
        parts.append(np.concatenate([subject.scored(*one) for one in pieces], axis=1))
        seen.append(float(np.mean([present.mean() for _, present in pieces])))
    return mean_over_tasks(parts), float(np.mean(seen))


def _columns(members: NDArray[np.uint8], subject: TaskScorer) -> Iterator[NDArray[np.uint8]]:
    """A few panels at a time."""
    width = max(1, ROOM // (len(subject.question.items) * len(subject.question.classes)))
    return (members[:, first : first + width] for first in range(0, members.shape[1], width))

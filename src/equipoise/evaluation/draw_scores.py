"""Draw scores: metrics that meet every draw of the possible truths, item by item.

The soft value is the mean over draws. The hard value takes the mean plausibility as the one
truth, as if the experts' doubt were settled.
"""

from dataclasses import replace
from threading import Lock
from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats, InputError, Ints
from equipoise.evaluation.alignment import Aligned
from equipoise.evaluation.engine import chunk_width
from equipoise.evaluation.questions import Question
from equipoise.metrics import Block, Metric
from equipoise.metrics._draws import draw_error
from equipoise.plausibilities import Plausibilities
from equipoise.posteriors import Posterior
from equipoise.resampling import Resampling


class DrawTruth(NamedTuple):
    """The truth of a task as metrics of draws meet it: their mean, and all of them."""

    settled: Plausibilities
    possible: Plausibilities


class Remembered:
    """A law that works out once which classes are on top, for all models and metrics."""

    def __init__(self, law: Posterior) -> None:
        self.law, self.name = law, law.name
        self._lock = Lock()
        self._top: tuple[Floats, Floats] | None = None

    def mean(self, start: Ints) -> tuple[Floats, Floats]:
        """As the law."""
        return self.law.mean(start)

    def draw(self, start: Ints, draws: int, seed: int) -> tuple[Floats, Floats]:
        """As the law."""
        return self.law.draw(start, draws, seed)

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """As the law, of which there is one for one set of items."""
        with self._lock:
            if self._top is None:
                self._top = self.law.top(start, others)
            return self._top

    def subset(self, entries: Ints, items: Ints) -> Posterior:
        """As the law, with nothing remembered."""
        return self.law.subset(entries, items)


def draw_truth(question: Question, metric: Metric) -> DrawTruth:
    """Make ready what the metrics of draws of a task share, or say why there are no draws."""
    plausible = question.plausible
    if plausible is None:
        raise InputError(
            f"metric {metric.name}", "votes", "plausibilities: a model of the truth with draws",
            "choose a model (--truth auto, --truth dirichlet), in Python "
            "dirichlet(annotations).drawn(1000, seed=0) or plackett_luce(annotations)",
        )  # fmt: skip
    if plausible.law is not None and plausible.draws == 1:
        raise InputError(
            f"metric {metric.name}", f"plausibilities by {plausible.method} with their mean "
            "alone", "draws", "make some: .drawn(1000, seed=0)",
        )  # fmt: skip
    settled = plausible.averaged()
    if plausible.law is not None:
        plausible = replace(plausible, law=Remembered(plausible.law))
    return DrawTruth(settled, plausible)


def draw_scores(
    aligned: Aligned, truth: DrawTruth, metric: Metric, model: str, plan: Resampling
) -> tuple[Floats, Floats, float]:
    """Values by hard and soft labels (2,), replicates (2, replicates), Monte Carlo error."""
    question = aligned.question
    assert metric.score_draws is not None
    prepared = metric.prepare(aligned.distributions(model))
    tables = [metric.score_draws(prepared, one) for one in truth]
    values, replicates = np.empty(2), np.empty((2, plan.replicates))
    once = Block((), np.ones((len(question.items), 1), dtype=np.uint8))
    for label, table in enumerate(tables):
        values[label] = metric.finish(metric.reduce(table, once))[0]
    width = chunk_width(len(question.items), 4)
    for first in range(0, plan.replicates, width):
        counts = plan.item_counts(first, first + width)[question.place]
        room = replicates[:, first : first + width]
        for label, table in enumerate(tables):
            numbers = None
            if label and plan.truth == "posterior":
                numbers = plan.draw_numbers(first, first + width, truth.possible.draws)
            sums = metric.reduce(table, Block((), counts, numbers))
            room[label] = metric.finish(sums)[: room.shape[1]]
    return values, replicates, draw_error(tables[1])

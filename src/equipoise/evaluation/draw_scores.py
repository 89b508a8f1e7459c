"""Draw scores: metrics that meet every draw of the possible truths, item by item.

The soft value is the mean over draws. The hard value takes the mean plausibility as the one
truth, as if the experts' doubt were settled.
"""

import numpy as np

from equipoise.arrays import Floats, InputError
from equipoise.evaluation.alignment import Aligned
from equipoise.evaluation.engine import chunk_width
from equipoise.metrics import Block, Metric
from equipoise.metrics._draws import draw_error
from equipoise.resampling import Resampling


def draw_scores(
    aligned: Aligned, metric: Metric, model: str, plan: Resampling
) -> tuple[Floats, Floats, float]:
    """Values by hard and soft labels (2,), replicates (2, replicates), Monte Carlo error."""
    question = aligned.question
    plausible = question.plausible
    if plausible is None or metric.meet is None:
        raise InputError(
            f"metric {metric.name}", "votes", "plausibilities: a model of the truth with draws",
            "aggregate first (--truth dirichlet, or plackett_luce(...) in Python)",
        )  # fmt: skip
    if plausible.law is not None and plausible.draws == 1:
        raise InputError(
            f"metric {metric.name}", f"plausibilities by {plausible.method} with their mean "
            "alone", "draws", "make some: .drawn(1000, seed=0)",
        )  # fmt: skip
    prepared = metric.prepare(aligned.distributions(model))
    tables = [metric.meet(prepared, one) for one in (plausible.averaged(), plausible)]
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
                numbers = plan.draw_numbers(first, first + width, plausible.draws)
            sums = metric.reduce(table, Block((), counts, numbers))
            room[label] = metric.finish(sums)[: room.shape[1]]
    return values, replicates, draw_error(tables[1])

"""Resampling: plans over the items of all tasks, and replicates as they were drawn.

Ranks and orders are read from replicates before their spread was widened, so that ties stay
ties.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from equipoise.analyses.options import ResamplingOptions
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, wrong_type
from equipoise.estimate import wilson
from equipoise.evaluation import MACRO, Evaluation
from equipoise.evaluation.result import narrowed
from equipoise.plausibilities import Plausibilities
from equipoise.resampling import Resampling, resample

Truths = Annotations | Plausibilities | Sequence[Plausibilities]


def plan_for(truth: Truths, kind: str | None, options: ResamplingOptions) -> Resampling:
    """One plan over the items of all tasks; without a kind, what fits the truth."""
    first = _first(truth)
    parts = [truth] if isinstance(truth, Annotations | Plausibilities) else list(truth)
    items = tuple(dict.fromkeys(name for part in parts for name in part.items))
    plan = resample(first, kind, replicates=options.replicates, seed=options.seed)
    return replace(plan, items=items)


def _first(truth: Truths) -> Annotations | Plausibilities:
    if isinstance(truth, Annotations | Plausibilities):
        return truth
    expected, do = "annotations, or plausibilities, one per task", "read annotations first"
    if isinstance(truth, str) or not isinstance(truth, Sequence):
        raise wrong_type("truth", truth, expected, do)
    if not truth:
        raise InputError("truth", "nothing", expected, do)
    for part in truth:
        if not isinstance(part, Plausibilities):
            raise wrong_type("truth", part, expected, do)
    return truth[0]


def as_drawn(done: Evaluation) -> Floats:
    """Replicates before their spread was widened, (tasks, metrics, labels, models, replicates).

    Where the value of any model is undefined, so are the replicates of all: models are
    compared on the same tasks or not at all.
    """
    factors = done.widening or (1.0,) * len(done.tasks)
    whole = len(done.tasks) - (done.tasks[-1] == MACRO)
    parts = [narrowed(done.replicates[t], factors[t], done.plan.weights) for t in range(whole)]
    tasks = np.stack(parts)
    lost = np.asarray(np.isnan(done.values).any(axis=-1))[..., None, None]
    if whole < len(done.tasks):
        use = np.broadcast_to(~lost[:whole], tasks.shape)
        number = np.maximum(use.sum(axis=0), 1)
        macro = np.where(use, tasks, 0.0).sum(axis=0) / number
        tasks = np.concatenate([tasks, macro[None]])
    return np.asarray(np.where(lost, np.nan, tasks))


def simulation_interval(share: float, number: int, level: float) -> tuple[float, float]:
    """How far a share of replicates can be off because their number is finite: Wilson's.

    Examples
    --------
    >>> simulation_interval(0.5, 1000, 0.95)
    (0.469, 0.531)
    """
    if not number or np.isnan(share):
        return float("nan"), float("nan")
    return wilson(share * number, number, level)

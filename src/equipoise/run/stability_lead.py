"""Lead: who is first in the question that a page puts in front, and by how much.

The question is the last task that has a value (the average, where there are several), the first
metric and the labels asked for. Models that share the best value lead together. Intervals,
ranks and chances speak for other items and other annotators where these have names, the noise
of votes counted once (`equipoise.analyses.joined`); votes that are anonymous are drawn with
their items.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from equipoise.arrays import Floats
from equipoise.evaluation import Evaluation, Row, Settings
from equipoise.ranks import goodness
from equipoise.run.stability_case import Case, Facts


def lead_facts(case: Case) -> Facts:
    """The leaderboard in front, its leaders, and their lead over the next.

    Has ``leaders`` and ``others`` from the best to the worst, ``rows`` with a row per model,
    ``lead`` (the first leader minus the first other, or None), ``separated`` (others whose
    difference to the first leader has an interval without zero) and ``spread`` (how the noise
    of votes counts in the intervals; empty where items alone are drawn).
    """
    done, labels, metric = spoken_for(case), case.how.labels, case.evaluation.metrics[0].name
    rows = [one for one in done.table() if one.labels == labels]
    tasks = [one.task for one in rows if not math.isnan(one.value)]
    task = done.tasks[-1] if not tasks or done.tasks[-1] in tasks else tasks[-1]
    own = [one for one in rows if one.task == task]
    shares = done.rank_probabilities(metric, labels=labels, task=task)
    board = [
        {
            **one._asdict(),
            "rank_low": rank_end(shares[m], (1 - done.level) / 2),
            "rank_high": rank_end(shares[m], (1 + done.level) / 2),
        }
        for m, one in enumerate(own)
    ]
    gaps = {one.b: one for one in done.to_best(metric, labels=labels, task=task)}
    leaders, others = _order(own, done.metrics[0].better)
    gap = gaps.get(others[0]) if leaders and others else None
    return {
        "task": task, "metric": metric, "labels": labels, "kind": done.plan.kind,
        "spread": _spread(done),
        "leaders": leaders, "others": others,
        "lead": None if gap is None else gap._asdict(),
        "separated": [name for name in others if name in gaps and _apart(gaps[name])],
        "rows": board,
    }  # fmt: skip


def spoken_for(case: Case) -> Evaluation:
    """The first metric under redrawn items, and annotators where they have names."""
    from equipoise.analyses.joined import items_and_annotators
    from equipoise.analyses.redrawing import ResamplingOptions

    how = case.how
    settings = Settings(level=how.level, on_missing=how.on_missing)
    told = ResamplingOptions(replicates=how.replicates, seed=how.seed, settings=settings)
    return items_and_annotators(case.predictions, case.annotations, how.metrics[:1], told)


def _spread(done: Evaluation) -> str:
    """How the noise of votes counts where items and annotators are drawn together."""
    from equipoise.analyses.rank_words import JOINT, WIDE

    if done.plan.kind not in JOINT:
        return ""
    return (
        "erring on the wide side" if WIDE in done.notices else "the noise of votes counted once"
    )


def _order(rows: Sequence[Row], better: str) -> tuple[list[str], list[str]]:
    """Models that share the best value, and the others from the best to the worst.

    A model without a value is among neither, and nobody leads where all are infinitely bad.
    """
    known = [one for one in rows if not math.isnan(one.value)]
    good = goodness(np.array([one.value for one in known], dtype=np.float64), better)
    order = np.argsort(-good, kind="stable")
    best = good.max() if len(good) and good.max() > -math.inf else math.nan
    leaders = [known[m].model for m in order if good[m] == best]
    return leaders, [known[m].model for m in order if good[m] != best]


def rank_end(shares: Floats, chance: float) -> float:
    """The rank that a model holds or betters with a chance; nan where ranks are undefined.

    Examples
    --------
    >>> rank_end(np.array([0.5, 0.48, 0.02]), 0.975), rank_end(np.array([np.nan]), 0.5)
    (2.0, nan)
    """
    if np.isnan(shares).any():
        return math.nan
    return float(np.searchsorted(np.cumsum(shares), chance - 1e-9) + 1)


def _apart(gap: Any) -> bool:
    """Whether the interval of a difference excludes zero."""
    return bool(gap.low > 0 or gap.high < 0)

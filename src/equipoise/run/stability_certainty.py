r"""Certainty: does the order of the models hold on the items whose truth is clear?

The certainty of an item is the chance that the class that leads it really is the most plausible
one, by independent :math:`\mathrm{Dirichlet}(r \cdot \text{votes} + 1)` distributions at a
reliability :math:`r` of 1. For every cut-off c only items with a certainty of at least c count;
cut-offs are certainties that occur, so that equally certain items stay together. Intervals
redraw items; the change against all items is paired, replicate by replicate. Shares of
uncertain items are also told at other reliabilities.
"""

from typing import Any

import numpy as np

from equipoise.aggregate import dirichlet
from equipoise.analyses.certainty import SURE, sorted_points
from equipoise.analyses.cuts import cut
from equipoise.analyses.options import as_options
from equipoise.analyses.scoring import StudyScorer, study
from equipoise.annotations import Annotations
from equipoise.arrays import Floats
from equipoise.evaluation import MACRO
from equipoise.run.clear_cases import Told
from equipoise.run.stability_case import Case, Facts

RELIABILITIES = (1.0, 3.0, 10.0)
MANY = 200_000  # items times classes of all tasks, beyond which only the first is looked at
STEPS = 8  # cut-offs at most, besides that of clear items
FINE = 9  # decimals to which certainties must differ


def certainty_facts(case: Case) -> Facts:
    """Sorted certainties, and the first metric as the least certain items are left out."""
    found = study(case.predictions, case.annotations, as_options(case.single))
    sure = [certainties(case.annotations, one.question, 1.0) for one in found.subjects]
    pooled = np.concatenate(sure)
    steps = cutoffs(pooled)
    kept = [one >= np.array(steps)[:, None] for one in sure]
    items = np.sum([one.sum(axis=1) for one in kept], axis=0)
    told = Told(found, cut(found, kept), steps, items, float((pooled < SURE).mean()))
    return {
        "finding": told.finding(),
        "rows": told.rows(),
        "notices": (*found.notices, *told.notices()),
        "task": found.task, "metric": found.metric.name, "labels": found.asked.labels,
        "models": found.models, "sure": SURE, "cutoffs": steps, "reliability": 1.0,
        **_sorted(case.annotations, found),
    }  # fmt: skip


def certainties(annotations: Annotations, question: Any, reliability: float) -> Floats:
    """Certainty of the items of a question, shape (items,)."""
    made = dirichlet(annotations, reliability=reliability, task=question.task)
    place = {name: number for number, name in enumerate(made.items)}
    return np.round(made.certainty[[place[name] for name in question.items]], FINE)


def cutoffs(certainty: Floats) -> tuple[float, ...]:
    """Certainties to cut at, rising: all that occur, or of many those at even shares.

    The first keeps every item; the smallest that makes an item clear is among them.

    Examples
    --------
    >>> cutoffs(np.array([0.5, 0.5, 0.9, 1.0]))
    (0.5, 0.9, 1.0)
    >>> [round(one, 2) for one in cutoffs(np.linspace(0.5, 1.0, 1001))]
    [0.5, 0.56, 0.62, 0.69, 0.75, 0.81, 0.88, 0.94, 0.99]
    """
    levels = np.unique(certainty)
    if len(levels) > STEPS:
        shares = np.arange(STEPS) / STEPS
        some = np.sort(certainty)[(shares * len(certainty)).astype(np.intp)]
        levels = np.unique(np.append(some, levels[levels >= SURE][:1]))
    return tuple(float(one) for one in levels)


def _sorted(annotations: Annotations, found: StudyScorer) -> Facts:
    """Lines of all items together, and shares of uncertain items task by task."""
    questions = [one.question for one in found.subjects]
    size = sum(len(one.items) for one in questions) * len(annotations.classes)
    curves, shares = [], []
    for reliability in RELIABILITIES if size <= MANY else RELIABILITIES[:1]:
        each = {one.task: certainties(annotations, one, reliability) for one in questions}
        pooled = np.concatenate(list(each.values()))
        if len(each) > 1:
            each[MACRO] = pooled
        curves.append({"reliability": reliability, **_summary(pooled),
                       "points": sorted_points(pooled)})  # fmt: skip
        shares += [
            {"task": "all tasks together" if task == MACRO else task,
             "reliability": reliability, **_summary(own)}
            for task, own in each.items()
        ]  # fmt: skip
    return {"curves": curves, "shares": shares}


def _summary(certainty: Floats) -> Facts:
    """How many items there are, how certain on average, and how many are uncertain."""
    below = int((certainty < SURE).sum())
    return {
        "items": len(certainty), "mean": float(certainty.mean()), "below": below,
        "share_below": below / len(certainty),
    }  # fmt: skip

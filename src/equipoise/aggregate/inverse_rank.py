r"""Inverse rank: a class in the i-th block of a reading counts 1/i.

.. math:: \mathrm{IRN}_{ik} \propto \sum_{\text{readings}} \sum_b \frac{1}{b}\,
    \frac{[k \in \text{block } b]}{|\text{block } b|^{t}}

``ties="split"`` (t = 1, default) shares 1/b over the block, as the paper's equation 3;
``ties="full"`` (t = 0) gives every class of the block the whole 1/b, as the public code does
and as the published figures were made. Readings are summed, then normalised. A plain vote is a
reading of length one, so on votes this is the mean vote.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> reading = Annotations(kind="ranking", items=("a",), classes=("x", "y", "z"),
...     item=np.zeros(3, int), label=np.array([0, 1, 2]), rank=np.array([0, 1, 1]),
...     reading=np.zeros(3, int))
>>> inverse_rank(reading).mean
array([[0.667, 0.167, 0.167]])
"""

import numpy as np

from equipoise.aggregate._entries import rank_entries, unused_confidence
from equipoise.aggregate._model import CLASSES, AggregationModel
from equipoise.annotations import Annotations
from equipoise.arrays import choice
from equipoise.plausibilities import Plausibilities

_TIES = ("split", "full")


def inverse_rank(
    annotations: Annotations, *, ties: str = "split", task: str = ""
) -> Plausibilities:
    """Normalised inverse ranks; one draw."""
    choice("inverse_rank, ties", ties, _TIES)
    votes = rank_entries(annotations, task, share_ties=ties == "split")
    item = np.repeat(np.arange(len(votes.items)), np.diff(votes.start))
    return Plausibilities(
        items=votes.items,
        classes=votes.classes,
        start=votes.start,
        label=votes.label,
        mass=(votes.votes / votes.total[item])[None],
        rest=np.zeros((1, len(votes.items))),
        method=f"inverse rank (ties {ties})",
        model="inverse_rank",
        task=task,
        parameters={"ties": ties},
        ordered=votes.ordered,
        notices=unused_confidence(annotations, "inverse rank"),
    )


MODEL = AggregationModel(
    name="inverse_rank",
    title="inverse rank",
    description="a class in the i-th place of a reading counts 1/i",
    fit=inverse_rank,
    kinds=CLASSES,
    suits=("ranking",),
    rank=13,
    gold=False,
    references=("stutz2025",),
)

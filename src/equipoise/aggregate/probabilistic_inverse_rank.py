r"""Probabilistic inverse rank: a Dirichlet around the normalised inverse ranks.

.. math:: \lambda_i \sim \mathrm{Dirichlet}(\gamma \cdot \mathrm{IRN}_i + \alpha)

Inverse ranks are normalised before they are scaled, so the reliability :math:`\gamma` does not
grow with the number of readings. The paper has no prior; with ``prior=0`` (default) classes
that nobody mentions stay impossible. ``preset="notebook"`` is what the public notebook does:
ties in full and 0.01 for every class, which at 419 classes and :math:`\gamma` = 10 is 29 % of
the mass on classes that nobody mentioned.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> votes = Annotations(kind="nominal", items=("a",), classes=("x", "y"),
...     item=np.array([0, 0]), label=np.array([0, 1]))
>>> probabilistic_inverse_rank(votes, reliability=10).certainty
array([0.5])
"""

import numpy as np

from equipoise.aggregate._entries import (
    dirichlet_posterior,
    from_posterior,
    rank_entries,
    settled,
    unused_confidence,
)
from equipoise.aggregate._model import CLASSES, AggregationModel, Prior, Reliability
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, choice
from equipoise.plausibilities import Plausibilities

PRESETS = {"paper": ("split", 0.0), "full ties": ("full", 0.0), "notebook": ("full", 0.01)}


def probabilistic_inverse_rank(
    annotations: Annotations,
    *,
    reliability: float = 20.0,
    preset: str = "paper",
    task: str = "",
) -> Plausibilities:
    """Dirichlet plausibilities around inverse ranks.

    Parameters
    ----------
    reliability
        The factor gamma; published 10, 20, 30, 50, 100.
    preset
        ``paper`` (ties split, no prior), ``full ties`` (ties full, no prior), ``notebook``
        (ties full, prior 0.01 for every class: as the published figures).
    """
    choice("probabilistic_inverse_rank, preset", preset, tuple(PRESETS))
    if not 0 < reliability < np.inf:
        raise InputError(
            "probabilistic_inverse_rank",
            f"reliability {reliability:g}",
            "a positive, finite number",
            "20 is the default",
        )
    ties, prior = PRESETS[preset]
    votes = rank_entries(annotations, task, share_ties=ties == "split")
    share = votes.votes / np.repeat(votes.total, np.diff(votes.start))
    known = settled(annotations, votes, task)
    return from_posterior(
        votes,
        dirichlet_posterior(reliability * share, prior, votes, known),
        method=f"probabilistic inverse rank (reliability {reliability:g}, {preset})",
        model="probabilistic_inverse_rank",
        task=task,
        parameters={"reliability": reliability, "preset": preset},
        rest_shape=prior,
        notices=unused_confidence(annotations, "probabilistic inverse rank"),
    )


MODEL = AggregationModel(
    name="probabilistic_inverse_rank",
    title="probabilistic inverse rank",
    description="inverse ranks, and how uncertain they are",
    fit=probabilistic_inverse_rank,
    kinds=CLASSES,
    suits=("ranking",),
    rank=12,
    because="the annotations are rankings with weights",
    gold=False,
    reliability=Reliability(20.0, (10.0, 20.0, 30.0, 50.0, 100.0)),
    prior=Prior(
        expected="paper, full ties or notebook",
        help="`paper` (default), `full ties` or `notebook`",
        words=tuple(PRESETS),
        numbers=False,
        keyword="preset",
    ),
    references=("stutz2025",),
)

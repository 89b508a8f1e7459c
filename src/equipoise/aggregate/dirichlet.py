r"""Dirichlet: votes as counts, uncertainty from how few there are.

.. math:: \lambda_i \sim \mathrm{Dirichlet}(r \cdot \text{votes}_i + \alpha)

The reliability r says how much a vote is worth, the prior :math:`\alpha` what every class has
without votes. Weights and counts add to the votes; a gold row settles its item: its class has
all the mass in every draw. The probability that a class is on top is exact, by quadrature: see
`equipoise.posteriors`. Draws are made on demand.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a",), classes=("no", "yes"),
...     item=np.array([0]), label=np.array([1]))
>>> dirichlet(votes).certainty
array([0.75])
"""

import numpy as np

from equipoise.aggregate._entries import (
    dirichlet_posterior,
    entries,
    from_posterior,
    settled,
    unused_confidence,
)
from equipoise.aggregate._model import CLASSES, AggregationModel, Prior, Reliability
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.plausibilities import Plausibilities


def dirichlet(
    annotations: Annotations, *, reliability: float = 1.0, prior: float = 1.0, task: str = ""
) -> Plausibilities:
    """Independent Dirichlet posteriors; the mean as one draw, more on demand."""
    if not (0 < reliability < np.inf and 0 <= prior < np.inf):
        raise InputError(
            "dirichlet",
            f"reliability {reliability:g}, prior {prior:g}",
            "a positive reliability and a prior of at least 0, finite",
            "leave both at 1",
        )
    votes = entries(annotations, task)
    known = settled(annotations, votes, task)
    return from_posterior(
        votes,
        dirichlet_posterior(reliability * votes.votes, prior, votes, known),
        method=f"Dirichlet (reliability {reliability:g}, prior {prior:g})",
        model="dirichlet",
        task=task,
        parameters={"reliability": reliability, "prior": prior},
        rest_shape=prior,
        notices=unused_confidence(annotations, "Dirichlet"),
    )


MODEL = AggregationModel(
    name="dirichlet",
    title="Dirichlet",
    description="the share of votes, and how uncertain so few votes leave it",
    fit=dirichlet,
    kinds=CLASSES,
    suits=CLASSES,
    rank=30,
    reliability=Reliability(1.0, (1.0, 2.0, 3.0, 5.0, 10.0)),
    prior=Prior(
        expected="a number of at least 0: what every class has without votes",
        help="votes per class (default 1)",
    ),
    decides_as="mean_vote",
    references=("stutz2025",),
)

r"""Dirichlet: votes as counts, uncertainty from how few there are.

.. math:: \lambda_i \sim \mathrm{Dirichlet}(r \cdot \text{votes}_i + \alpha)

The reliability r says how much a vote is worth, the prior :math:`\alpha` what every class has
without votes. The chance that a class is on top is exact, by quadrature: see `equipoise.laws`.
Draws are made on demand.

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

from equipoise.aggregate._entries import entries
from equipoise.aggregate._made import by_law
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.laws import Dirichlet
from equipoise.plausibilities import Plausibilities


def dirichlet(
    annotations: Annotations, *, reliability: float = 1.0, prior: float = 1.0, task: str = ""
) -> Plausibilities:
    """Independent Dirichlet posteriors; the mean as one draw, more on demand."""
    if not (reliability > 0 and prior >= 0):
        raise InputError(
            "dirichlet", f"reliability {reliability:g}, prior {prior:g}",
            "a positive reliability and a prior of at least 0", "1 and 1 are the default",
        )  # fmt: skip
    found = entries(annotations, task)
    unvoted = len(found.classes) - np.diff(found.start)
    law = Dirichlet(reliability * found.votes + prior, prior * unvoted)
    return by_law(
        found,
        law,
        method=f"Dirichlet (reliability {reliability:g}, prior {prior:g})",
        task=task,
        parameters={"reliability": reliability, "prior": prior},
        rest_shape=prior,
    )

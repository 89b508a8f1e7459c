"""Aggregation: from annotations to plausibilities. One file per model.

The command line, the documentation and the laws in the tests read `CATALOGUE`.
"""

from collections.abc import Callable, Mapping

from equipoise.aggregate.annotator_bootstrap import annotator_bootstrap
from equipoise.aggregate.dawid_skene import Fit, Smoothing, dawid_skene
from equipoise.aggregate.dirichlet import dirichlet
from equipoise.aggregate.inverse_rank import inverse_rank
from equipoise.aggregate.majority_vote import majority_vote
from equipoise.aggregate.mean_vote import mean_vote
from equipoise.aggregate.plackett_luce import Chain, plackett_luce
from equipoise.aggregate.probabilistic_inverse_rank import probabilistic_inverse_rank
from equipoise.plausibilities import Plausibilities

CATALOGUE: Mapping[str, Callable[..., Plausibilities]] = {
    "mean_vote": mean_vote,
    "majority_vote": majority_vote,
    "dirichlet": dirichlet,
    "dawid_skene": dawid_skene,
    "inverse_rank": inverse_rank,
    "probabilistic_inverse_rank": probabilistic_inverse_rank,
    "plackett_luce": plackett_luce,
}

__all__ = [
    "CATALOGUE",
    "Chain",
    "Fit",
    "Smoothing",
    "annotator_bootstrap",
    "dawid_skene",
    "dirichlet",
    "inverse_rank",
    "majority_vote",
    "mean_vote",
    "plackett_luce",
    "probabilistic_inverse_rank",
]

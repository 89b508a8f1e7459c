"""Aggregation: from annotations to plausibilities. One file per model.

The command line, the documentation and the laws in the tests read `CATALOGUE`. Two are not in
it because they need more than annotations: `normal` a threshold, `annotator_bootstrap` a model.
"""

from collections.abc import Callable, Mapping

from equipoise.aggregate._glad_fit import GladFit, GladPrior
from equipoise.aggregate._glad_svi import GladSvi
from equipoise.aggregate.annotator_bootstrap import annotator_bootstrap
from equipoise.aggregate.dawid_skene import Fit, Smoothing, dawid_skene
from equipoise.aggregate.dawid_skene_ordinal import dawid_skene_ordinal
from equipoise.aggregate.dirichlet import dirichlet
from equipoise.aggregate.glad import glad
from equipoise.aggregate.inverse_rank import inverse_rank
from equipoise.aggregate.majority_vote import majority_vote
from equipoise.aggregate.mean_vote import mean_vote
from equipoise.aggregate.normal import Moments, NormalPrior, normal, normal_of_moments
from equipoise.aggregate.plackett_luce import Chain, plackett_luce
from equipoise.aggregate.plackett_luce_ml import plackett_luce_ml
from equipoise.aggregate.probabilistic_inverse_rank import probabilistic_inverse_rank
from equipoise.plausibilities import Plausibilities

CATALOGUE: Mapping[str, Callable[..., Plausibilities]] = {
    "mean_vote": mean_vote,
    "majority_vote": majority_vote,
    "dirichlet": dirichlet,
    "dawid_skene": dawid_skene,
    "dawid_skene_ordinal": dawid_skene_ordinal,
    "glad": glad,
    "inverse_rank": inverse_rank,
    "probabilistic_inverse_rank": probabilistic_inverse_rank,
    "plackett_luce": plackett_luce,
    "plackett_luce_ml": plackett_luce_ml,
}

__all__ = [
    "CATALOGUE",
    "Chain",
    "Fit",
    "GladFit",
    "GladPrior",
    "GladSvi",
    "Moments",
    "NormalPrior",
    "Smoothing",
    "annotator_bootstrap",
    "dawid_skene",
    "dawid_skene_ordinal",
    "dirichlet",
    "glad",
    "inverse_rank",
    "majority_vote",
    "mean_vote",
    "normal",
    "normal_of_moments",
    "plackett_luce",
    "plackett_luce_ml",
    "probabilistic_inverse_rank",
]

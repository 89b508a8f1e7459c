"""From annotations to plausibilities: models of the truth, certainty, agreement, choosing.

Aggregation models are functions of annotations, one file per family; `MODELS` has a record of
each and `CATALOGUE` the functions (`catalogue`). `annotator_bootstrap` refits any of them,
`annotation_certainty` says how certain the top class is, `agreement_table` how far annotators
agree, and `suitable`, `recommended` and `model` help to choose.
"""

from equipoise.truth.ability import GladFit, GladPrior, glad
from equipoise.truth.agreement import (
    AgreementTable,
    agreement_table,
    cohen_kappa,
    cohen_kappa_pairs,
    fleiss_kappa,
    krippendorff_alpha,
    krippendorff_alpha_of_moments,
    percent_agreement,
    reading_agreement,
)
from equipoise.truth.annotation_checks import cautions, remarks
from equipoise.truth.bootstrap import annotator_bootstrap
from equipoise.truth.catalogue import CATALOGUE, MODELS, model_title
from equipoise.truth.certainty import (
    Certainty,
    annotation_certainty,
    group_certainty,
    mass_certainty,
)
from equipoise.truth.choosing import (
    companions,
    contested,
    decisions,
    disagreement,
    fitted,
    held_out,
    model,
    recommended,
    suitable,
)
from equipoise.truth.confusion import Fit, Smoothing, dawid_skene, dawid_skene_ordinal
from equipoise.truth.counts import (
    dirichlet,
    inverse_rank,
    majority_vote,
    mean_vote,
    probabilistic_inverse_rank,
)
from equipoise.truth.model import AggregationModel, Prior, Reliability
from equipoise.truth.ranking_chains import Chain, plackett_luce, plackett_luce_ml
from equipoise.truth.ratings import Moments, NormalPrior, normal, normal_of_moments

__all__ = [
    "CATALOGUE",
    "MODELS",
    "AggregationModel",
    "AgreementTable",
    "Certainty",
    "Chain",
    "Fit",
    "GladFit",
    "GladPrior",
    "Moments",
    "NormalPrior",
    "Prior",
    "Reliability",
    "Smoothing",
    "agreement_table",
    "annotation_certainty",
    "annotator_bootstrap",
    "cautions",
    "cohen_kappa",
    "cohen_kappa_pairs",
    "companions",
    "contested",
    "dawid_skene",
    "dawid_skene_ordinal",
    "decisions",
    "dirichlet",
    "disagreement",
    "fitted",
    "fleiss_kappa",
    "glad",
    "group_certainty",
    "held_out",
    "inverse_rank",
    "krippendorff_alpha",
    "krippendorff_alpha_of_moments",
    "majority_vote",
    "mass_certainty",
    "mean_vote",
    "model",
    "model_title",
    "normal",
    "normal_of_moments",
    "percent_agreement",
    "plackett_luce",
    "plackett_luce_ml",
    "probabilistic_inverse_rank",
    "reading_agreement",
    "recommended",
    "remarks",
    "suitable",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)

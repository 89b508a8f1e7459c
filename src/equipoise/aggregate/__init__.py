"""Aggregation: from annotations to plausibilities. One file per model.

`MODELS` holds a record of each, which the command line, recommendations, titles and sources
read: adding a model is adding a file and a line here. `CATALOGUE` has the functions of all that
need nothing but annotations; `normal` needs a threshold. `annotator_bootstrap` is in neither,
because it needs a model.
"""

from collections.abc import Callable, Mapping

from equipoise.aggregate._model import AggregationModel, Prior, Reliability
from equipoise.aggregate.annotator_bootstrap import annotator_bootstrap
from equipoise.aggregate.dawid_skene import MODEL as DAWID_SKENE
from equipoise.aggregate.dawid_skene import Fit, Smoothing, dawid_skene
from equipoise.aggregate.dawid_skene_ordinal import MODEL as DAWID_SKENE_ORDINAL
from equipoise.aggregate.dawid_skene_ordinal import dawid_skene_ordinal
from equipoise.aggregate.dirichlet import MODEL as DIRICHLET
from equipoise.aggregate.dirichlet import dirichlet
from equipoise.aggregate.glad import MODEL as GLAD
from equipoise.aggregate.glad import GladFit, GladPrior, GladSvi, glad
from equipoise.aggregate.inverse_rank import MODEL as INVERSE_RANK
from equipoise.aggregate.inverse_rank import inverse_rank
from equipoise.aggregate.majority_vote import MODEL as MAJORITY_VOTE
from equipoise.aggregate.majority_vote import majority_vote
from equipoise.aggregate.mean_vote import MODEL as MEAN_VOTE
from equipoise.aggregate.mean_vote import mean_vote
from equipoise.aggregate.normal import MODEL as NORMAL
from equipoise.aggregate.normal import Moments, NormalPrior, normal, normal_of_moments
from equipoise.aggregate.plackett_luce import MODEL as PLACKETT_LUCE
from equipoise.aggregate.plackett_luce import Chain, plackett_luce
from equipoise.aggregate.plackett_luce_ml import MODEL as PLACKETT_LUCE_ML
from equipoise.aggregate.plackett_luce_ml import plackett_luce_ml
from equipoise.aggregate.probabilistic_inverse_rank import MODEL as PROBABILISTIC_INVERSE_RANK
from equipoise.aggregate.probabilistic_inverse_rank import probabilistic_inverse_rank
from equipoise.plausibilities import Plausibilities

MODELS: Mapping[str, AggregationModel] = {
    model.name: model
    for model in (
        MEAN_VOTE,
        MAJORITY_VOTE,
        DIRICHLET,
        DAWID_SKENE,
        DAWID_SKENE_ORDINAL,
        GLAD,
        INVERSE_RANK,
        PROBABILISTIC_INVERSE_RANK,
        PLACKETT_LUCE,
        PLACKETT_LUCE_ML,
        NORMAL,
    )
}
CATALOGUE: Mapping[str, Callable[..., Plausibilities]] = {
    name: model.fit for name, model in MODELS.items() if not model.threshold
}


def model_title(name: str) -> str:
    """Title of an aggregation model, with underscores as blanks where it has none.

    Examples
    --------
    >>> model_title("dawid_skene"), model_title("my_model")
    ('Dawid-Skene', 'my model')
    """
    return MODELS[name].title if name in MODELS else name.replace("_", " ")


__all__ = [
    "CATALOGUE",
    "MODELS",
    "AggregationModel",
    "Chain",
    "Fit",
    "GladFit",
    "GladPrior",
    "GladSvi",
    "Moments",
    "NormalPrior",
    "Prior",
    "Reliability",
    "Smoothing",
    "annotator_bootstrap",
    "dawid_skene",
    "dawid_skene_ordinal",
    "dirichlet",
    "glad",
    "inverse_rank",
    "majority_vote",
    "mean_vote",
    "model_title",
    "normal",
    "normal_of_moments",
    "plackett_luce",
    "plackett_luce_ml",
    "probabilistic_inverse_rank",
]

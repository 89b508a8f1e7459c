"""Aggregation: from annotations to plausibilities. One file per family of models.

`MODELS` holds a record of each, which the command line, recommendations, titles and sources
read: adding a model is adding its function and record, to a family or in a file of its own, and
a line here. `CATALOGUE` has the functions of all that need nothing but annotations; `normal`
needs a threshold. `annotator_bootstrap` is in neither, because it needs a model.
"""

from collections.abc import Callable, Mapping

from equipoise.truth import counts
from equipoise.truth.annotator_bootstrap import annotator_bootstrap as annotator_bootstrap
from equipoise.truth.counts import dirichlet as dirichlet
from equipoise.truth.counts import inverse_rank as inverse_rank
from equipoise.truth.counts import majority_vote as majority_vote
from equipoise.truth.counts import mean_vote as mean_vote
from equipoise.truth.counts import probabilistic_inverse_rank as probabilistic_inverse_rank
from equipoise.truth.dawid_skene import MODELS as DAWID_SKENE
from equipoise.truth.dawid_skene import Fit as Fit
from equipoise.truth.dawid_skene import Smoothing as Smoothing
from equipoise.truth.dawid_skene import dawid_skene as dawid_skene
from equipoise.truth.dawid_skene import dawid_skene_ordinal as dawid_skene_ordinal
from equipoise.truth.glad import MODEL as GLAD
from equipoise.truth.glad import GladFit as GladFit
from equipoise.truth.glad import GladPrior as GladPrior
from equipoise.truth.glad import glad as glad
from equipoise.truth.model import AggregationModel as AggregationModel
from equipoise.truth.model import Prior as Prior
from equipoise.truth.model import Reliability as Reliability
from equipoise.truth.normal import MODEL as NORMAL
from equipoise.truth.normal import Moments as Moments
from equipoise.truth.normal import NormalPrior as NormalPrior
from equipoise.truth.normal import normal as normal
from equipoise.truth.normal import normal_of_moments as normal_of_moments
from equipoise.truth.plackett_luce import MODEL as PLACKETT_LUCE
from equipoise.truth.plackett_luce import Chain as Chain
from equipoise.truth.plackett_luce import plackett_luce as plackett_luce
from equipoise.truth.plackett_luce_ml import MODEL as PLACKETT_LUCE_ML
from equipoise.truth.plackett_luce_ml import plackett_luce_ml as plackett_luce_ml
from equipoise.types.plausibilities import Plausibilities

_VOTES, _RANKS = counts.MODELS[:3], counts.MODELS[3:]
MODELS: Mapping[str, AggregationModel] = {
    model.name: model
    for model in (*_VOTES, *DAWID_SKENE, GLAD, *_RANKS, PLACKETT_LUCE, PLACKETT_LUCE_ML, NORMAL)
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

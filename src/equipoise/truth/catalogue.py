"""All aggregation models: a record of each, which every surface reads.

Adding a model is adding its function and record, to a family or in a file of its own, and a
line here. `CATALOGUE` has the functions of all that need nothing but annotations; `normal`
needs a threshold. `annotator_bootstrap` is in neither, because it needs a model.
"""

from collections.abc import Callable, Mapping

from equipoise.truth import ability, confusion, counts, ranking_chains, ratings
from equipoise.truth.model import AggregationModel
from equipoise.types import Plausibilities, refusing_wrong_types

MODELS: Mapping[str, AggregationModel] = {
    model.name: model
    for model in (
        *counts.MODELS[:3],
        *confusion.MODELS,
        ability.MODEL,
        *counts.MODELS[3:],
        *ranking_chains.MODELS,
        ratings.MODEL,
    )
}
CATALOGUE: Mapping[str, Callable[..., Plausibilities]] = {
    name: model.fit for name, model in MODELS.items() if not model.threshold
}


@refusing_wrong_types
def model_title(name: str) -> str:
    """Title of an aggregation model, with underscores as blanks where it has none.

    Examples
    --------
    >>> model_title("dawid_skene"), model_title("my_model")
    ('Dawid-Skene', 'my model')
    """
    return MODELS[name].title if name in MODELS else name.replace("_", " ")

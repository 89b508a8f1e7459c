"""Models of one task, read as scores of the positive class."""

from typing import TYPE_CHECKING, Any

from equipoise.arrays import InputError, listed
from equipoise.cli._inputs import spread
from equipoise.cli._options import column_map

if TYPE_CHECKING:
    from equipoise.predictions import Predictions


def read_models(options: dict[str, Any], task: str | None) -> "tuple[Predictions, ...]":
    """Read the models; of several tasks the one that was asked for."""
    from equipoise.cli._chances import positive_scores
    from equipoise.cli.study import OF_SCORES
    from equipoise.io import read_predictions
    from equipoise.predictions import Predictions

    paths = spread(options["predictions"])
    if not paths:
        return ()
    columns = column_map(options["prediction_columns"], "--prediction-columns")
    try:
        every = read_predictions(paths, layout=options["prediction_layout"], columns=columns)
    except InputError as error:
        raise error.renamed(OF_SCORES) from None
    tasks = list(dict.fromkeys(one.task for one in every))
    if len(tasks) > 1 and task not in tasks:
        raise InputError(
            "--predictions", f"{len(tasks)} tasks ({listed(tasks)})", "one",
            "choose it with --task NAME",
        )  # fmt: skip
    own = [one for one in every if len(tasks) == 1 or one.task == task]
    return tuple(
        Predictions(one.model, one.items, positive_scores(one, options["positive"]))
        for one in own
    )

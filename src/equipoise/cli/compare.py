"""equipoise compare: two models of a study, side by side."""

from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli._reading import (
    AtLeast,
    Classes,
    Columns,
    Exchangeable,
    Kind,
    Layout,
    OnMissing,
    Positive,
    PredictionColumns,
    PredictionLayout,
    Repeats,
)
from equipoise.cli._screen import output, print_json, progress, say
from equipoise.cli._stability_options import (
    DOUBT,
    AsJson,
    Given,
    Level,
    Metrics,
    Replicates,
    Scores,
    Seed,
    Votes,
    check,
    given,
    in_options,
)


def compare(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="[RUN] A B",
            help="The two models, after the folder of an evaluation if there is one; "
            "else give -a and -p.",
        ),
    ],
    annotations: Votes = None,
    predictions: Scores = None,
    metric: Metrics = None,
    most: Annotated[
        int,
        typer.Option(min=1, rich_help_panel=DOUBT, help="Size at which searches end."),
    ] = 50,
    resample: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=DOUBT,
            help="What is drawn anew, as in `evaluate`; by default what the run did, or what "
            "fits the annotations.",
        ),
    ] = None,
    replicates: Replicates = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
    kind: Kind = None,
    classes: Classes = None,
    positive: Positive = None,
    at_least: AtLeast = None,
    exchangeable: Exchangeable = False,
    columns: Columns = None,
    prediction_columns: PredictionColumns = None,
    layout: Layout = "auto",
    prediction_layout: PredictionLayout = "auto",
    repeats: Repeats = "keep",
    on_missing: OnMissing = "error",
    as_json: AsJson = False,
) -> None:
    """Which of two models is better, how sure is that, and what would turn it round?

    Paired differences for every task and metric, by hard and soft labels, with intervals and
    the chance that the first is better; the fewest items or votes that would turn the order
    round; and how either stands among the experts.

    Example: equipoise compare resnet vit -a votes.csv -p scores.csv

    Example: equipoise compare run resnet vit
    """
    options = dict(locals())
    run, pair = _named(models)
    check(options)
    with in_options(), progress("reading") as tell:
        study = given(run, options)
        tell(1, 1)
    facts = _facts(pair, study, options)
    how = facts["settings"]
    say(f"Resampling: {how['reason']}", how["scope"])
    said = dict.fromkeys((*study.notices, *study.annotations.notices, *facts["notices"]))
    say(*(f"Note: {one}" for one in said))
    if as_json:
        print_json(facts)
    else:
        from equipoise.cli._compare_screen import show

        show(output(), facts)


def _named(words: list[str]) -> tuple[Path | None, tuple[str, str]]:
    """The folder, if one is named, and the two models."""
    if len(words) not in (2, 3):
        message = f"got {len(words)} names, expected two models, or a folder and two models"
        raise typer.BadParameter(message, param_hint="[RUN] A B")
    run = Path(words[0]) if len(words) == 3 else None
    return run, (words[-2], words[-1])


def _facts(pair: tuple[str, str], study: Given, options: dict[str, Any]) -> dict[str, Any]:
    from equipoise.run.compare import compare_facts
    from equipoise.run.stability import StabilityHow

    names = ("replicates", "seed", "level", "on_missing", "most")
    with in_options(), progress("comparing") as tell:
        how = StabilityHow(
            metrics=study.metrics, progress=tell, **{name: options[name] for name in names}
        )
        kind = options["resample"] or study.resample
        return compare_facts(pair, study.predictions, study.annotations, how, kind)

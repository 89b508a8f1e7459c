"""equipoise compare: two models, side by side on the same items."""

from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli._dataset import Dataset
from equipoise.cli._options import checked
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
from equipoise.cli._screen import note, output, print_json, progress, say
from equipoise.cli._stability_options import (
    DOUBT,
    RESULT,
    AsJson,
    Given,
    Level,
    Metrics,
    Most,
    Overwrite,
    Replicates,
    Scores,
    Seed,
    Votes,
    check,
)

MARK = "compare.json"


def compare(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="[RUN] A B",
            help="Two models, after the folder of their evaluation if there is one; else give "
            "-a and -p, or --dataset. Of two evaluations: `RUN_A A RUN_B B`, without A and B "
            "where each has one model.",
        ),
    ],
    annotations: Votes = None,
    predictions: Scores = None,
    dataset: Dataset = None,
    metric: Metrics = None,
    most: Most = 50,
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
    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Folder for compare.json, tables (CSV, Markdown, LaTeX), methods.md and "
            "references.bib.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Which of two models is better, how sure is that, and what would turn it round?

    Paired differences for every task and metric, by hard and soft labels, with intervals and
    the chance that the first is better; the fewest items or votes that would turn the order
    round; and how either stands among the experts. Models of two evaluations are compared if
    both were judged on the same items and votes.

    Example: equipoise compare resnet vit -a votes.csv -p scores.csv

    Example: equipoise compare run resnet vit --metric auroc,brier_score

    Example: equipoise compare old-run resnet new-run resnet --out comparison
    """
    options = dict(locals())
    from equipoise.cli._compare_pair import named, paired
    from equipoise.resampling import normalised

    check(options)
    if resample is not None:
        checked("--resample", normalised, resample)
    asked = named(models, options)
    if out is not None:
        from equipoise.run.text_folder import check_folder

        check_folder(out, (MARK,), overwrite=overwrite)
    with progress("reading") as tell:
        pair, study = paired(asked, options)
        tell(1, 1)
    facts = _facts(pair, study, options)
    how = facts["settings"]
    say(f"Resampling: {how['reason']}", how["scope"])
    note(facts["notices"])
    if out is not None:
        _write(out, facts, study)
    if as_json:
        print_json(facts)
    else:
        from equipoise.cli._compare_screen import show

        show(output(), facts)


def _facts(pair: tuple[str, str], study: Given, options: dict[str, Any]) -> dict[str, Any]:
    from equipoise.run.compare import compare_facts
    from equipoise.run.stability import StabilityHow

    names = ("replicates", "seed", "level", "most")
    with progress("comparing") as tell:
        how = StabilityHow(
            metrics=study.metrics,
            on_missing=study.on_missing,
            progress=tell,
            **{name: options[name] for name in names},
        )
        kind = options["resample"] or study.resample
        facts = compare_facts(pair, study.predictions, study.annotations, how, kind)
    if study.resample and options["resample"] is None:
        facts["settings"]["reason"] = f"{facts['settings']['resample']}, as in the evaluation."
    facts["notices"] = [*study.notices, *study.annotations.notices, *facts["notices"]]
    return facts


def _write(folder: Path, facts: dict[str, Any], study: Given) -> None:
    """Make every text, then write the folder in one go."""
    from equipoise.cli._findings_folder import write_findings
    from equipoise.export import stability_texts
    from equipoise.export.tables import table_texts

    known = {"dataset": dict(study.dataset)} if study.dataset else {}
    texts = stability_texts({**known, **facts})
    for name in ("values", "differences"):
        texts |= table_texts(name, facts[name])
    write_findings(folder, MARK, texts, {**known, "inputs": list(study.inputs), **facts})

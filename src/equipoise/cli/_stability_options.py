"""Options that `stability`, `compare`, `plan`, `threshold` and `audit` share, and the study.

The first three take two files, a public data set, or the folder of an evaluation: its record
names the files, which are then looked for and must not have changed.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from equipoise.arrays import InputError
from equipoise.cli._dataset import check_dataset, dataset_facts, input_rows
from equipoise.cli._inputs import read, spread
from equipoise.cli._options import check_choices, checked, words
from equipoise.cli._reading import FILES

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.predictions import Predictions

DOUBT, RESULT = "Uncertainty", "Result"

Votes = Annotated[
    Path | None,
    typer.Option("--annotations", "-a", rich_help_panel=FILES, help="Who said what."),
]
Scores = Annotated[
    list[Path] | None,
    typer.Option(
        "--predictions",
        "-p",
        rich_help_panel=FILES,
        help="What each model scored.",
    ),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        "--metric", rich_help_panel=RESULT,
        help="Metrics, comma-separated; analyses of a single one take the first. Default: "
        "those of the evaluation, or auroc.",
    ),
]  # fmt: skip
Replicates = Annotated[
    int, typer.Option(min=2, rich_help_panel=DOUBT, help="Number of resamples.")
]
Seed = Annotated[int, typer.Option(min=0, rich_help_panel=DOUBT, help="Same seed, same bytes.")]
Level = Annotated[
    float, typer.Option(min=0.5, max=0.999, rich_help_panel=DOUBT, help="Interval level.")
]
Most = Annotated[
    int, typer.Option(min=1, rich_help_panel=DOUBT, help="Size at which searches end.")
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", rich_help_panel=RESULT, help="Replace an earlier one there."),
]
Title = Annotated[str | None, typer.Option(rich_help_panel=RESULT, help="Heading of the page.")]
AsJson = Annotated[
    bool,
    typer.Option("--json", rich_help_panel=RESULT, help="Print everything as JSON."),
]


class Given(NamedTuple):
    """What was read.

    Attributes
    ----------
    annotations, predictions
        The study.
    metrics
        Names of the metrics asked for, those of the evaluation, or auroc.
    inputs
        Role, name, hash and size of every file.
    name
        Name of the study: the title of its evaluation, its data set or its file.
    notices
        What the user should know, one sentence each.
    resample
        What the evaluation drew anew, if the study comes from one.
    dataset
        What is known of the data set, where it is a public one.
    on_missing
        What becomes of items that one side lacks: as asked, or as in the evaluation.
    """

    annotations: "Annotations"
    predictions: "tuple[Predictions, ...]"
    metrics: list[str]
    inputs: tuple[dict[str, Any], ...]
    name: str
    notices: tuple[str, ...]
    resample: str | None = None
    dataset: Mapping[str, Any] = MappingProxyType({})
    on_missing: str = "error"


def check(options: dict[str, Any]) -> list[str]:
    """Check words before anything is read; returns the metrics that were named."""
    from equipoise.evaluation.alignment import ON_MISSING
    from equipoise.metrics import named
    from equipoise.read.options import ANNOTATION_LAYOUTS, KINDS, PREDICTION_LAYOUTS, REPEATS

    known: dict[str, tuple[str, ...]] = {
        "kind": KINDS,
        "layout": ANNOTATION_LAYOUTS,
        "prediction_layout": PREDICTION_LAYOUTS,
        "repeats": REPEATS,
        "on_missing": ON_MISSING,
    }
    check_choices(options, known)
    if options["dataset"] is not None:
        check_dataset(options)
    return [checked("--metric", named, word).name for word in words(options["metric"])]


def given(run: Path | None, options: dict[str, Any]) -> Given:
    """Read the study that files, a data set or the folder of an evaluation name."""
    metrics, told = check(options), dict(options)
    header: Mapping[str, Any] = {}
    said: tuple[str, ...] = ()
    if run is not None:
        told, header, said = _from_run(run, options)
        metrics = metrics or [one["name"] for one in header["metrics"]]
    if told["dataset"] is None and not (told["annotations"] and told["predictions"]):
        raise InputError(
            "nothing to read", "no RUN, no --dataset, or not both -a and -p", "a study",
            "give -a votes.csv -p scores.csv, --dataset NAME, or the folder that evaluate "
            "--out wrote",
        )  # fmt: skip
    told["predictions"] = spread(told["predictions"])
    metrics = metrics or ["auroc"]
    table, models = read({**told, "truth": "votes", "metrics": ",".join(metrics)})
    return Given(
        table, tuple(models), metrics, input_rows(told, options.get("out")),
        _name(run, header, told), said, _drawn(header) if header else None,
        dataset_facts(told), told["on_missing"],
    )  # fmt: skip


def _from_run(
    run: Path, options: dict[str, Any]
) -> tuple[dict[str, Any], Mapping[str, Any], tuple[str, ...]]:
    """Fill options in from a run, which has its own data."""
    from equipoise.cli._stability_run import reopened

    if options["dataset"] is not None:
        message = "got a folder too, which has its own data; leave out one of the two"
        raise typer.BadParameter(message, param_hint="--dataset")
    told, header, said = reopened(run, options)
    if told["dataset"] is not None:
        check_dataset(told)
    return told, header, said


def _name(run: Path | None, header: Mapping[str, Any], told: dict[str, Any]) -> str:
    """What a study is called: by its own title, else by its folder, data set or file."""
    from equipoise.cli._provenance import TITLE

    if run is not None and not str(header["title"]).endswith(TITLE):
        return str(header["title"])
    if run is not None:
        return (run if run.is_dir() else run.parent).resolve().name
    return str(told["dataset"] or told["annotations"].name)


def _drawn(header: Mapping[str, Any]) -> str | None:
    """What an evaluation of votes drew anew; draws of a model do not carry over."""
    kind = str(header["settings"]["resample"])
    return None if kind.endswith("posterior") or kind == "influence" else kind

"""Options that `stability` and `compare` share, and what is read because of them.

Both take two files, or the folder of an evaluation: its record names the files, which are then
looked for beside the folder, in it and here, and must not have changed.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from equipoise.arrays import InputError
from equipoise.cli._hints import ASKING, spoken
from equipoise.cli._inputs import read, spread
from equipoise.cli._options import checked, words
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
    title
        Name of the study.
    notices
        What the user should know, one sentence each.
    resample
        What the evaluation drew anew, if the study comes from one.
    """

    annotations: "Annotations"
    predictions: "tuple[Predictions, ...]"
    metrics: list[str]
    inputs: tuple[dict[str, Any], ...]
    title: str
    notices: tuple[str, ...]
    resample: str | None = None


@contextmanager
def in_options() -> Iterator[None]:
    """Let refusals speak of options: these verbs have --positive and --at-least."""
    try:
        yield
    except InputError as error:
        raise spoken(error, ASKING) from None


def check(options: dict[str, Any]) -> list[str]:
    """Check words before anything is read; returns the metrics that were named."""
    from equipoise.arrays import choice
    from equipoise.coding.options import ANNOTATION_LAYOUTS, KINDS, PREDICTION_LAYOUTS, REPEATS
    from equipoise.evaluation.alignment import ON_MISSING
    from equipoise.metrics import named

    known: dict[str, tuple[str, ...]] = {
        "kind": KINDS,
        "layout": ANNOTATION_LAYOUTS,
        "prediction_layout": PREDICTION_LAYOUTS,
        "repeats": REPEATS,
        "on_missing": ON_MISSING,
    }
    for name, allowed in known.items():
        if options[name] is not None:
            flag = "--" + name.replace("_", "-")
            checked(flag, partial(choice, flag, known=allowed), options[name])
    return [checked("--metric", named, word).name for word in words(options["metric"])]


def given(run: Path | None, options: dict[str, Any]) -> Given:
    """Read the study that was named by two files, or by the folder of an evaluation."""
    from equipoise.cli._stability_run import reopened
    from equipoise.run import hashed

    metrics, told, title = check(options), dict(options), ""
    said: tuple[str, ...] = ()
    drawn: str | None = None
    if run is not None:
        told, header, said = reopened(run, options)
        metrics = metrics or [one["name"] for one in header["metrics"]]
        title = header["title"]
        drawn = _drawn(header)
    if told["annotations"] is None or not told["predictions"]:
        raise InputError(
            "nothing to read", "no RUN, or not both -a and -p", "a study",
            "give -a votes.csv -p scores.csv, or the folder that evaluate --out wrote",
        )  # fmt: skip
    told["predictions"] = spread(told["predictions"])
    table, models = read({**told, "truth": "votes"})
    inputs = hashed("annotations", [told["annotations"]])
    inputs += hashed("predictions", told["predictions"])
    title = title or told["annotations"].stem
    return Given(table, tuple(models), metrics or ["auroc"], inputs, title, said, drawn)


def _drawn(header: Mapping[str, Any]) -> str | None:
    """What an evaluation of votes drew anew; draws of a model do not carry over."""
    kind = str(header["settings"]["resample"])
    return None if kind.endswith("posterior") or kind == "influence" else kind

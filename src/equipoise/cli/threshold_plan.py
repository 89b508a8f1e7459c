"""equipoise threshold-plan: which items to send to experts to set a threshold."""

from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli._chances import File, Model, Task, Truth, check_truth, read_chances
from equipoise.cli._reading import (
    AtLeast,
    Classes,
    Columns,
    Exchangeable,
    Kind,
    Layout,
    Positive,
    Repeats,
)
from equipoise.cli._screen import output, print_json, progress, say
from equipoise.cli._stability_options import in_options

SAMPLE, RESULT = "Sample", "Result"

Bins = Annotated[
    int, typer.Option(min=1, rich_help_panel=SAMPLE, help="Bins of as equal size as possible.")
]
PerBin = Annotated[
    int, typer.Option(min=1, rich_help_panel=SAMPLE, help="Items drawn from each bin.")
]


def threshold_plan(
    file: File,
    bins: Bins = 20,
    per_bin: PerBin = 20,
    seed: Annotated[
        int, typer.Option(min=0, rich_help_panel=SAMPLE, help="Same seed, same items.")
    ] = 0,
    truth: Truth = None,
    reliability: Annotated[
        float | None,
        typer.Option(
            rich_help_panel="Where the probabilities come from",
            help="How much a vote is worth to models that take it; see `aggregate --help`.",
        ),
    ] = None,
    model: Model = None,
    task: Task = None,
    kind: Kind = None,
    classes: Classes = None,
    positive: Positive = None,
    at_least: AtLeast = None,
    exchangeable: Exchangeable = False,
    columns: Columns = None,
    layout: Layout = "auto",
    repeats: Repeats = "keep",
    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="File for the items, ending in .csv: item, bin, probability, and an empty "
            "column `label` for the expert.",
        ),
    ] = None,
    blind: Annotated[
        bool,
        typer.Option(
            "--blind",
            rich_help_panel=RESULT,
            help="Leave bin and probability out and shuffle the items, so that nothing tells "
            "the expert what is expected.",
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", rich_help_panel=RESULT, help="Replace that file.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", rich_help_panel=RESULT, help="Print everything as JSON.")
    ] = False,
) -> None:
    """Which items should experts see, so that they can set a threshold?

    Orders items by probability, cuts them into bins of equal size and draws as many from
    each, so that all probabilities are seen. Each expert fills the empty column of a copy;
    `equipoise threshold` takes the copies back in and needs the same FILE and the same
    options as here.

    Example: equipoise threshold-plan votes.csv --truth dawid_skene --out plan.csv

    Example: equipoise threshold-plan scores.csv --model resnet --bins 10 --blind --out plan.csv
    """
    options = dict(locals())
    from equipoise.cli._truth_page import check_target
    from equipoise.stability.thresholds import sampling_plan

    check_truth(options)
    check_target("--out", out, (".csv",))
    _refuse_lost(out, overwrite=overwrite)
    with in_options(), progress("reading") as tell:
        found = read_chances(file, options)
        chances = found.chances
        sample = sampling_plan(chances.values, chances.items, bins, per_bin, seed)
        tell(1, 1)
    say(*(f"Note: {one}" for one in (*found.notices, *sample.notices)))
    if out is not None:
        sample.write(out, blind=blind, overwrite=overwrite)
        say(f"Wrote {out}: {len(sample.items):,} items; fill in the column label")
    if as_json:
        print_json(
            {
                "finding": sample.finding, "chances": chances.words, "seed": seed,
                "bins": sample.bin_rows(), "items": sample.rows(),
                "notices": [*found.notices, *sample.notices],
            }
        )  # fmt: skip
    else:
        from equipoise.cli._threshold_screen import show_plan

        show_plan(output(), sample)


def _refuse_lost(out: Path | None, **how: Any) -> None:
    """Refuse to write over a file, before anything is read."""
    from equipoise.arrays import InputError

    if out is not None and out.exists() and not how["overwrite"]:
        raise InputError(
            f"--out {out}", "is there already", "a new file",
            "name another file, or allow overwriting (--overwrite)",
        )  # fmt: skip

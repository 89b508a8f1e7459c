"""equipoise threshold-plan: which items to send to experts to set a threshold."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from equipoise.cli._screen import note, output, print_json, progress, say
from equipoise.cli._stability_options import RESULT, AsJson

if TYPE_CHECKING:
    from equipoise.analyses.thresholds import ExpertSample

SAMPLE = "Sample"

Bins = Annotated[
    int | None,
    typer.Option(
        min=1, rich_help_panel=SAMPLE, help="Bins of as equal size as possible. Default: 20."
    ),
]
PerBin = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=SAMPLE, help="Items drawn from each bin. Default: 20."),
]


def threshold_plan(
    file: File,
    bins: Bins = None,
    per_bin: PerBin = None,
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
            help="File for the items, ending in .csv: items in random order, and an empty "
            "column `label` for the expert. Bins, probabilities and options go into a second "
            "file beside it, the key, which experts should not see: plan.csv, plan.key.json.",
        ),
    ] = None,
    shown: Annotated[
        bool,
        typer.Option(
            "--open",
            rich_help_panel=RESULT,
            help="One file and no key: items bin by bin, with bin and probability, which tell "
            "the expert what is expected.",
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", rich_help_panel=RESULT, help="Replace these files.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Which items should experts see, so that they can set a threshold?

    Orders items by probability, cuts them into bins of equal size and draws as many from
    each, so that all probabilities are seen. Each expert fills the empty column of a copy of
    the plan, which is blind; `equipoise threshold FILE --plan plan.key.json` takes the copies
    back in and knows the options from the key.

    Example: equipoise threshold-plan votes.csv --truth dawid_skene --out plan.csv

    Example: equipoise threshold-plan scores.csv --model resnet --bins 10 --out plan.csv
    """
    from equipoise.cli._plan_key import SIZE

    options = dict(locals())
    options |= {name: options[name] or usual for name, usual in SIZE.items()}
    from equipoise.analyses.thresholds import sampling_plan
    from equipoise.cli.targets import check_target

    check_truth(options)
    check_target("--out", out, (".csv",))
    _refuse_lost(options)
    with progress("reading") as tell:
        found = read_chances(file, options)
        chances = found.chances
        size = (options["bins"], options["per_bin"], seed)
        sample = sampling_plan(chances.values, chances.items, *size)
        tell(1, 1)
    note((*found.notices, *sample.notices))
    if out is not None:
        _write(out, sample, options, found.task or None)
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


def _refuse_lost(options: dict[str, Any]) -> None:
    """Refuse to write over a file, before anything is read."""
    from equipoise.arrays import InputError
    from equipoise.cli._plan_key import key_of

    out = options["out"]
    if out is None or options["overwrite"]:
        return
    for path in (out,) if options["shown"] else (out, key_of(out)):
        if path.exists():
            raise InputError(
                f"--out {path}", "is there already", "a new file",
                "name another file, or allow overwriting (--overwrite)",
            )  # fmt: skip


def _write(
    out: Path, sample: "ExpertSample", options: dict[str, Any], task: str | None
) -> None:
    """Write plan and key, and say what each is for."""
    from equipoise.cli._plan_key import key_of, key_text, write_plan

    key = None if options["shown"] else key_text(sample, options, task)
    write_plan(out, sample, task, key)
    say(f"Wrote {out}: {len(sample.items):,} items; experts fill in the column label")
    if key is not None:
        say(f"Wrote {key_of(out)}: bins and probabilities, for threshold --plan; keep it from "
            "the experts")  # fmt: skip

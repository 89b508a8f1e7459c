"""equipoise threshold-plan: which items to send to experts to set a threshold."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.arrays import InputError
from equipoise.cli._plan_key import BINS, PER_BIN, SampleSize, key_of, key_text, write_plan
from equipoise.cli._results import present
from equipoise.cli._screen import progress, say
from equipoise.cli.options import RESULT, AsJson, OutputOptions, command
from equipoise.cli.probabilities import ProbabilitySource, read_probabilities
from equipoise.numbers import count

if TYPE_CHECKING:
    from equipoise.analyses.thresholds import ExpertSample

SAMPLE = "Sample"

BinCount = Annotated[
    int | None,
    typer.Option(
        min=1, rich_help_panel=SAMPLE, help="Bins of as equal size as possible. Default: 20."
    ),
]
ItemsPerBin = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=SAMPLE, help="Items drawn from each bin. Default: 20."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """How the sample is drawn."""

    bins: BinCount = None
    per_bin: ItemsPerBin = None
    seed: Annotated[
        int, typer.Option(min=0, rich_help_panel=SAMPLE, help="Same seed, same items.")
    ] = 0

    def size(self) -> SampleSize:
        """Bins and items of each, the usual ones where none were named."""
        return SampleSize(self.bins or BINS, self.per_bin or PER_BIN, self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """Where the items go."""

    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="File for the items, ending in .csv: items in random order, and an empty "
            "column `label` for the expert. Bins, probabilities and options go into a second "
            "file beside it, the key, which experts should not see: plan.csv, plan.key.json.",
        ),
    ] = None
    shown: Annotated[
        bool,
        typer.Option(
            "--open",
            rich_help_panel=RESULT,
            help="One file and no key: items bin by bin, with bin and probability, which tell "
            "the expert what is expected.",
        ),
    ] = False
    overwrite: Annotated[
        bool, typer.Option("--overwrite", rich_help_panel=RESULT, help="Replace these files.")
    ] = False
    as_json: AsJson = False

    def check(self) -> None:
        """Refuse a file that cannot be written, or that would be lost, before reading."""
        from equipoise.cli.targets import check_target

        check_target("--out", self.out, (".csv",))
        if self.out is None or self.overwrite:
            return
        for path in (self.out,) if self.shown else (self.out, key_of(self.out)):
            if path.exists():
                raise InputError(
                    f"--out {path}",
                    "is there already",
                    "a new file",
                    "name another file, or allow overwriting (--overwrite)",
                )


@command
def threshold_plan(source: ProbabilitySource, drawn: SampleOptions, output: PlanFile) -> None:
    """Which items should experts see, so that they can set a threshold?

    Orders items by probability, cuts them into bins of equal size and draws as many from
    each, so that all probabilities are seen. Each expert fills the empty column of a copy of
    the plan, which is blind; `equipoise threshold FILE --plan plan.key.json` takes the copies
    back in and knows the options from the key.

    Example: equipoise threshold-plan votes.csv --truth dawid_skene --out plan.csv

    Example: equipoise threshold-plan scores.csv --model resnet --bins 10 --out plan.csv
    """
    from equipoise.analyses.thresholds import sampling_plan
    from equipoise.findings import Report

    output.check()
    size = drawn.size()
    with progress("reading") as tell:
        read = read_probabilities(source)
        known = read.probabilities
        sample = sampling_plan(known.values, known.items, *size)
        tell(1, 1)
    report = Report(
        title="Which items should experts see?",
        scope=f"Probabilities: {known.source}.",
        findings=(replace(sample.report(), title="Items for the experts"),),
        settings=tuple((name, str(value)) for name, value in size._asdict().items()),
        notices=read.notices,
    )
    if output.out is not None:
        _write(
            output,
            sample,
            None if output.shown else key_text(sample, source, size, read.task),
            read.task,
        )
    present(report, OutputOptions(as_json=output.as_json), "")


def _write(output: PlanFile, sample: "ExpertSample", key: str | None, task: str | None) -> None:
    """Write plan and key, and say what each is for."""
    assert output.out is not None
    write_plan(output.out, sample, task, key)
    items = count(len(sample.items))
    say(f"Wrote {output.out}: {items} items; experts fill in the column label")
    if key is not None:
        say(
            f"Wrote {key_of(output.out)}: bins and probabilities, for threshold --plan; keep "
            "it from the experts"
        )

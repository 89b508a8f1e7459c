"""equipoise stability: does the ranking survive other items, annotators, votes and choices?"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.analyses.catalogue import ANALYSES
from equipoise.cli._results import deliver
from equipoise.cli._screen import progress
from equipoise.cli.options import (
    FILES,
    RESULT,
    MetricNames,
    OutputOptions,
    ReadingOptions,
    ResamplingOptions,
    SearchLimit,
    StudyFiles,
    check_choice,
    command,
    metric_names,
    words,
)
from equipoise.cli.study import CliStudy, read_study

if TYPE_CHECKING:
    from equipoise.findings import Report

MARK = "stability.json"
NAMES = tuple(ANALYSES)


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityOptions:
    """Which analyses, and by what."""

    attributes: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=FILES,
            help="What is known of the items: a table with `item` and a column for each of "
            "sex, age, site, ...; adds subgroups.",
        ),
    ] = None
    metric: MetricNames = None
    labels: Annotated[
        str,
        typer.Option(
            rich_help_panel=RESULT,
            help="`soft` (mean vote) or `hard` (most votes) for analyses that take one.",
        ),
    ] = "soft"
    only: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=RESULT,
            help=f"Analyses, comma-separated: {', '.join(f'`{one}`' for one in NAMES)}. "
            "Default: all that the data allow.",
        ),
    ] = None
    most: SearchLimit = 50

    def __post_init__(self) -> None:
        """Refuse unknown words, and options of analyses that are left out."""
        check_choice("labels", self.labels, ("hard", "soft"))
        metric_names(self.metric)
        chosen = words(self.only)
        if self.only is not None and not chosen:
            message = f"got {self.only!r}, expected analyses, for example ranking,flips"
            raise typer.BadParameter(message, param_hint="--only")
        for name in chosen:
            check_choice("only", name, NAMES)
        if self.attributes is not None and chosen and "subgroups" not in chosen:
            raise typer.BadParameter(
                "belongs to subgroups, which --only leaves out", param_hint="--attributes"
            )


@command
def stability(
    files: StudyFiles,
    asked: StabilityOptions,
    resampling: ResamplingOptions,
    reading: ReadingOptions,
    results: OutputOptions,
) -> None:
    """Does the ranking survive other items, other annotators, other votes, other choices?

    Resamples the data in every way they allow, leaves annotators out, looks for the fewest
    items or votes that would put the second model first, sets the models among the experts, and
    repeats the evaluation under other aggregation models. What the data do not allow is said.

    Example: equipoise stability -a votes.csv -p scores.csv --out stability

    Example: equipoise stability run --only ranking,flips

    Example: equipoise stability --dataset chexpert --out stability
    """
    results.check_folder(MARK, "report.html")
    with progress("reading") as tell:
        study = read_study(
            files,
            reading,
            metric_names(asked.metric),
            out=results.out,
            also={"attributes": asked.attributes},
        )
        tell(1, 1)
    report = _report(study, asked, resampling)
    title = results.title or f"How stable is the ranking? ({study.name})"
    deliver(replace(report, title=title), study, results, MARK)


def _report(
    study: CliStudy, asked: StabilityOptions, resampling: ResamplingOptions
) -> "Report":
    """Everything that was asked, under a bar."""
    from equipoise.analyses.run_study import analyse_study
    from equipoise.analyses.study import StudyOptions
    from equipoise.analyses.subgroups import read_attributes

    path = asked.attributes
    with progress("analyses") as tell:
        options = StudyOptions(
            metrics=study.metrics,
            on_missing=study.on_missing,
            ties=study.ties,
            only=words(asked.only),
            attributes=None if path is None else read_attributes(path),
            progress=tell,
            labels=asked.labels,
            replicates=resampling.replicates,
            seed=resampling.seed,
            level=resampling.level,
            most=asked.most,
        )
        return analyse_study(study.predictions, study.annotations, options)

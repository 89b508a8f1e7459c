"""equipoise agreement: how far annotators agree, beyond chance, and who differs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from equipoise.cli._screen import output, print_json, progress, say
from equipoise.cli.on_disk import DiskOptions, agreement_on_disk
from equipoise.cli.options import (
    RESULT,
    UNCERTAINTY,
    AsJson,
    VoteFile,
    VoteReading,
    check_choice,
    command,
    panel,
)
from equipoise.cli.study import read_votes
from equipoise.cli.targets import check_target
from equipoise.types.annotations import Annotations
from equipoise.types.notices import as_notices, worded
from equipoise.types.numbers import count

if TYPE_CHECKING:
    from equipoise.truth.agreement import AgreementTable
    from equipoise.types.findings import Report

_drawn = panel(
    UNCERTAINTY,
    replicates="Resamples of items (or groups) for the intervals.",
    seed="Seed of the resamples.",
)
_result = panel(
    RESULT,
    task="Which question; all of them if left out.",
    level="How far apart two labels are for Krippendorff's alpha: `nominal` (same or "
    "not), `ordinal` (by rank), `interval` (squared difference) or `ratio` (relative "
    "to a true zero); by default what the kind of labels says.",
    weights="How much a disagreement counts for Cohen's kappa: `none` (all alike), "
    "`linear` or `quadratic` (by the steps between grades).",
    page="File for a page with a heatmap, ending in .html.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementOptions:
    """Which coefficients, of which task, from how many resamples, and where they go."""

    task: Annotated[str | None, _result("task")] = None
    level: Annotated[str | None, _result("level")] = None
    weights: Annotated[str, _result("weights")] = "none"
    replicates: Annotated[int, _drawn("replicates", min=1)] = 1000
    seed: Annotated[int, _drawn("seed", min=0)] = 0
    page: Annotated[Path | None, _result("page")] = None
    as_json: AsJson = False

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        from equipoise.truth.agreement.coefficients import LEVELS, WEIGHTS

        check_choice("level", self.level, LEVELS)
        check_choice("weights", self.weights, WEIGHTS)
        check_target("--page", self.page, (".html", ".htm"))


@command(heavy="maps")
def agreement(
    file: VoteFile, asked: AgreementOptions, reading: VoteReading, disk: DiskOptions
) -> None:
    """Measure how far annotators agree beyond chance, and who differs from whom.

    0 is what chance would give, 1 is perfect. Krippendorff's alpha takes any number of
    annotators and missing votes; below 0.667 one label should not be treated as the truth.
    Fleiss' kappa and the mean of Cohen's kappas are read on the scale of Landis and Koch.
    Intervals (95 %) resample items, or whole groups of them.

    Example: equipoise agreement votes.csv --page agreement.html
    """
    from equipoise.report.terminal import show

    if disk.chosen(file.annotations):
        agreement_on_disk(file.annotations, asked, reading)
        return
    table = read_votes(file.annotations, file.dataset, reading)
    found = _summaries(table, asked)
    report = _report(table, found, asked, f"{file.name}: how far do annotators agree?")
    say(*(f"Note: {one}" for one in worded(report.all_notices, command=True)))
    if asked.page is not None:
        from equipoise.read.writing import write_text
        from equipoise.report.page import render

        write_text(asked.page, render(report))
        say(f"Wrote {asked.page}")
    if asked.as_json:
        about = {"replicates": asked.replicates, "seed": asked.seed}
        tasks = [one.as_json() for one in found]
        print_json({**about, "notices": worded(report.notices), "tasks": tasks})
        return
    show(output(), report)
    if len(found) > 1:
        output().print("--task shows annotators and pairs of one task.")


def _summaries(table: Annotations, asked: AgreementOptions) -> "list[AgreementTable]":
    """The agreement on one task, or on all, under a bar."""
    from equipoise.truth.agreement.table import AgreementHow, agreement_table

    tasks = table.tasks if asked.task is None else (asked.task,)
    how: AgreementHow = {
        "level": asked.level,
        "weights": asked.weights,
        "replicates": asked.replicates,
        "seed": asked.seed,
    }
    found = []
    with progress("agreement") as tell:
        for done, task in enumerate(tasks, start=1):
            found.append(agreement_table(table, task=task, **how))
            tell(done, len(tasks))
    return found


def _report(
    table: Annotations, found: "list[AgreementTable]", asked: AgreementOptions, title: str
) -> "Report":
    from equipoise.truth.agreement import agreement_findings
    from equipoise.truth.agreement.report import TERMS
    from equipoise.types.findings import Report

    first = found[0]
    known = first.known
    if len(found) > 1:
        known = (count(len(found), "task"), count(max(one.items for one in found), "item"))
    return Report(
        title=title,
        findings=agreement_findings(found),
        known=known,
        terms=TERMS,
        task=first.task if len(found) == 1 else "",
        notices=as_notices(table.notices),
        settings=(
            ("Intervals", first.scope),
            ("Level of alpha", first.level),
            ("Weights of kappa", first.weights),
            ("Resamples", count(asked.replicates)),
            ("Seed", str(asked.seed)),
        ),
    )

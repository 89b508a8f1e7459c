"""equipoise agreement: how far annotators agree, beyond chance, and who differs."""

from dataclasses import replace

from equipoise.cli.command import verb
from equipoise.cli.options import OF_QUESTION, Options
from equipoise.cli.results import check_target
from equipoise.cli.screen import note, output, print_json, progress, say
from equipoise.cli.study import (
    VOTE_FILES,
    ask,
    check_reading,
    check_vote_files,
    read_votes,
    stays_on_disk,
    study_name,
    with_gold_file,
)
from equipoise.read.writing import write_text
from equipoise.report.page import render
from equipoise.report.terminal import show
from equipoise.study.analyses.readers import arms_finding
from equipoise.truth.agreement import AgreementTable, agreement_findings, agreement_table
from equipoise.truth.agreement.report import TERMS
from equipoise.types import Annotations, Report, as_notices, count, worded

REPLICATES = 1000


@verb(
    *("annotations", "dataset", "on_disk", "task", "alpha_level", "weights"),
    *OF_QUESTION,
    *("gold", "annotators", "replicates", "seed", "page", "as_json"),
    arguments=("annotations",),
    texts={
        "annotations": VOTE_FILES,
        "task": "Which question; all of them if left out.",
        "replicates": "Resamples of items (or groups) for their intervals. Default: 1,000.",
        "seed": "Seed of the resamples.",
        "page": "File for a page with a heatmap, ending in .html.",
    },
    heavy="maps",
)
def agreement(options: Options) -> None:
    """Measure how far annotators agree beyond chance, and who differs from whom.

    0 is what chance would give, 1 is perfect. Krippendorff's alpha takes any number of
    annotators and missing votes; below 0.667 one label should not be treated as the truth.
    Fleiss' kappa and the mean of Cohen's kappas are read on the scale of Landis and Koch.
    Intervals (95 %) are for items (or whole groups of them) and annotators like these; with
    --annotators fixed for items alone. Readers with and without aid (a column arm, or files
    named aided and unaided) are compared by the reference standard that --gold names: in what
    they find, and in the time it takes them.

    Example: equipoise agreement votes.csv --page agreement.html

    Example: equipoise agreement aided.csv unaided.csv --gold pathology.csv
    """
    check_vote_files(options)
    check_reading(options)
    check_target("--page", options.page, (".html", ".htm"))
    if stays_on_disk(options, options.annotations):
        from equipoise.cli.on_disk import agreement_on_disk

        agreement_on_disk(options)
        return
    options = replace(options, replicates=options.replicates or REPLICATES)
    options = with_gold_file(options)
    table = ask(read_votes(options).with_gold(options.gold), options)
    tables = _summaries(table, options)
    report = _report(
        table, tables, options, f"{study_name(options)}: how far do annotators agree?"
    )
    note(report.all_notices)
    if options.page is not None:
        write_text(options.page, render(report))
        say(f"Wrote {options.page}")
    if options.as_json:
        about = {"replicates": options.replicates, "seed": options.seed}
        tasks = [one.as_json() for one in tables]
        print_json({**about, "notices": worded(report.notices), "tasks": tasks})
        return
    show(output(), report)
    if len(tables) > 1:
        output().print("--task shows annotators and pairs of one task.")


def _summaries(table: Annotations, options: Options) -> list[AgreementTable]:
    """The agreement on one task, or on all, under a bar."""
    tasks = table.tasks if options.task is None else (options.task,)
    tables = []
    with progress("agreement") as tell:
        for done, task in enumerate(tasks, start=1):
            agreement = agreement_table(
                table,
                task=task,
                level=options.alpha_level,
                weights=options.weights,
                replicates=options.replicates or REPLICATES,
                seed=options.seed,
            )
            fixed = options.annotators == "fixed"
            tables.append(agreement.for_these_annotators() if fixed else agreement)
            tell(done, len(tasks))
    return tables


def _report(
    table: Annotations, tables: list[AgreementTable], options: Options, title: str
) -> Report:

    first = tables[0]
    facts = first.known
    if len(tables) > 1:
        facts = (count(len(tables), "task"), count(max(part.items for part in tables), "item"))
    by_arm = arms_finding(table)
    return Report(
        title=title,
        findings=(*agreement_findings(tables), *([by_arm] if by_arm else [])),
        known=facts,
        terms=TERMS,
        task=first.task if len(tables) == 1 else "",
        notices=as_notices(table.notices),
        settings=(
            ("Intervals", first.scope),
            ("Level of alpha", first.level),
            ("Weights of kappa", first.weights),
            ("Resamples", count(options.replicates or REPLICATES)),
            ("Seed", str(options.seed)),
        ),
    )

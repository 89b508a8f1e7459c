"""equipoise demo: the whole way from readings to the page, offline."""

from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli._screen import print_json, progress, say


def demo(
    out: Annotated[
        Path, typer.Option(help="Folder for the two input files, the run and the page.")
    ] = Path("equipoise-demo"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulated readers.")] = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier demo in that folder.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the leaderboard as JSON, full precision.")
    ] = False,
) -> None:
    """Run a whole reading study on bundled data and open the doors to your own.

    Real tumours (Wisconsin breast cancer data), real classifiers trained on the spot, and a
    panel of eight SIMULATED readers of different skill and leaning. Writes the two input
    files, the run and the page.
    """
    from equipoise.cli._screen import stages
    from equipoise.cli.evaluate import show_run
    from equipoise.cli.report import run_json
    from equipoise.cli.targets import check_folder
    from equipoise.datasets.demo import SIMULATED, write_study
    from equipoise.read.annotations import read_annotations
    from equipoise.read.predictions import read_predictions
    from equipoise.report.answer import AnswerOptions, answer_report
    from equipoise.report.run import Provenance, hashed, prepared, question, record
    from equipoise.study import Settings, Study
    from equipoise.study.analyses.catalogue import ANALYSES
    from equipoise.study.study import report_replicates
    from equipoise.types.words import Nouns

    check_folder("--out", out)
    prepared(out, overwrite=overwrite)
    with progress("training seven classifiers"):
        votes, scores = write_study(out, seed)
    readings = read_annotations(votes).against("malignant")
    how = Settings(replicates=report_replicates(len(readings.items)))
    study = Study.of(read_predictions(scores), readings, settings=how)
    quick = tuple(name for name, one in ANALYSES.items() if one.quick)
    with stages(len(quick) + 3) as stage:
        study = study.telling(stage("scoring"))
        nouns = Nouns("tumour", "reader")
        report = answer_report(
            study, AnswerOptions(analyses=quick, nouns=nouns, command=True), stage
        )
    provenance = Provenance(
        title="Demo: seven classifiers, eight simulated readers",
        inputs=hashed("annotations", [votes]) + hashed("predictions", [scores]),
        simulated=SIMULATED,
        question=question(positive="malignant"),
    )
    run = record(study.evaluation, provenance, report)
    run.save(out, overwrite=overwrite)
    if as_json:
        say(SIMULATED)
        print_json(run_json(run))
    else:
        show_run(run, out=out)
    say(
        "The same by hand, and for your own two files:",
        f"  equipoise evaluate --annotations {votes} --positive malignant "
        f"--predictions {scores} --out my-run",
    )

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
    from equipoise.cli.report import show_run, write_page
    from equipoise.cli.targets import check_folder
    from equipoise.demo import SIMULATED, write_study
    from equipoise.evaluation import Settings, evaluate
    from equipoise.io import read_annotations, read_predictions
    from equipoise.run import Provenance, hashed, prepared, question, record

    check_folder("--out", out)
    prepared(out, overwrite=overwrite)
    with progress("training seven classifiers"):
        votes, scores = write_study(out, seed)
    readings = read_annotations(votes).against("malignant")
    with progress("scoring") as tell:
        result = evaluate(read_predictions(scores), readings, settings=Settings(progress=tell))
    provenance = Provenance(
        title="Demo: seven classifiers, eight simulated readers",
        inputs=hashed("annotations", [votes]) + hashed("predictions", [scores]),
        annotators=readings.annotators or (),
        simulated=SIMULATED,
        question=question(positive="malignant"),
    )
    run = record(result, provenance)
    run.save(out, overwrite=overwrite)
    write_page(run, out / "report.html")
    if as_json:
        print_json([row._asdict() for row in result.table()])
    else:
        show_run(run)
    say(SIMULATED, result.population.scope, f"Resampling: {result.plan.reason}")
    say(
        "The same by hand, and for your own two files:",
        f"  equipoise evaluate --annotations {votes} --positive malignant "
        f"--predictions {scores} --out my-run",
    )

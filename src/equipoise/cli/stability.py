"""equipoise stability: the former name of `evaluate --full`."""

from dataclasses import replace

from equipoise.cli._groups import GroupOptions
from equipoise.cli._screen import say
from equipoise.cli.asked import Asked, EvaluateOptions, RunOutput
from equipoise.cli.evaluate import run_evaluation
from equipoise.cli.options import ReadingOptions, StudyFiles, command
from equipoise.cli.truth import TruthOptions


@command(heavy="maps")
def stability(
    files: StudyFiles,
    scoring: EvaluateOptions,
    model: TruthOptions,
    groups: GroupOptions,
    reading: ReadingOptions,
    results: RunOutput,
) -> None:
    """The former name of `equipoise evaluate --full`.

    Example: equipoise evaluate -a votes.csv -p scores.csv --full --out run
    """
    say("stability is now evaluate --full; the former name works for one more version.")
    full = scoring.full or scoring.analyses is None
    run_evaluation(
        Asked(
            files=files,
            scoring=replace(scoring, full=full),
            truth=model,
            groups=groups,
            reading=reading,
            results=results,
        )
    )

"""equipoise stability: the former name of `evaluate --full`."""

from dataclasses import replace

from equipoise.cli._screen import say
from equipoise.cli.asked import Asked
from equipoise.cli.evaluate import run_evaluation
from equipoise.cli.options import command


@command(heavy="maps")
def stability(asked: Asked) -> None:
    """The former name of `equipoise evaluate --full`.

    Example: equipoise evaluate -a votes.csv -p scores.csv --full --out run
    """
    say("stability is now evaluate --full; the former name works for one more version.")
    full = asked.scoring.full or asked.scoring.analyses is None
    run_evaluation(replace(asked, scoring=replace(asked.scoring, full=full)))

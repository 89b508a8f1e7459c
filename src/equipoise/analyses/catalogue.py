"""Catalogue: the only list of analyses.

An analysis takes a `Study` and returns a `Finding`. The command line, its help, the page, the
text files, the methods and the laws in the tests read `ANALYSES`; adding an analysis is adding
a file and a line here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from equipoise.analyses import (
    certainty,
    choices,
    components,
    critical_difference,
    leave_one_out,
    ranking,
    vote_cutoffs,
)
from equipoise.analyses.study import Study
from equipoise.findings import Finding


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis.

    Attributes
    ----------
    name
        What it is called on the command line; also the key of its finding.
    title
        The question that it answers, as a heading.
    run
        Makes its finding; raises `InputError` where the data do not allow it.
    needs
        What the data must have, in words, for help and documentation.
    """

    name: str
    title: str
    run: Callable[[Study], Finding]
    needs: str = ""


_IN_ORDER = (
    Analysis("ranking", ranking.TITLE, ranking.analyse),
    Analysis("components", components.TITLE, components.analyse),
    Analysis("certainty", certainty.TITLE, certainty.analyse),
    Analysis("leave_one_out", leave_one_out.TITLE, leave_one_out.analyse, "named annotators"),
    Analysis("vote_cutoffs", vote_cutoffs.TITLE, vote_cutoffs.analyse),
    Analysis("choices", choices.TITLE, choices.analyse),
    Analysis(
        "critical_difference",
        critical_difference.TITLE,
        critical_difference.analyse,
        "at least three tasks",
    ),
)
ANALYSES: Mapping[str, Analysis] = {analysis.name: analysis for analysis in _IN_ORDER}

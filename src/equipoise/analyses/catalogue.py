"""Catalogue: the only list of analyses.

An analysis is a module with a ``TITLE``, the question that it answers, and a function
``analyse(study)`` that returns a `Finding`. The command line, its help, the page, the text
files, the methods and the laws in the tests read `ANALYSES`; adding an analysis is adding a
file and a line here. Modules are loaded when they are needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from equipoise.arrays import InputError

if TYPE_CHECKING:
    from equipoise.analyses.study import Study
    from equipoise.findings import Finding


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis.

    Attributes
    ----------
    name
        What it is called on the command line; also the key of its finding.
    module
        Where it is, as one would import it.
    needs
        What the data must have, in words, for help and documentation.
    quick
        Whether it costs next to nothing, so that every evaluation has it.
    """

    name: str
    module: str
    needs: str = ""
    quick: bool = False

    @property
    def title(self) -> str:
        """The question that it answers, as a heading."""
        return str(import_module(self.module).TITLE)

    def run(self, study: "Study") -> "Finding":
        """Make its finding; raises `InputError` where the data do not allow it."""
        analyse: Callable[[Study], Finding] = import_module(self.module).analyse
        return analyse(study)

    def attempt(self, study: "Study") -> "Finding":
        """Make its finding, or one that says why the data do not allow it."""
        from equipoise.findings import left_out

        try:
            with np.errstate(invalid="ignore"):  # of two infinite values: undefined
                return self.run(study)
        except InputError as error:
            return left_out(self.name, self.title, error)


_IN_ORDER = (
    Analysis("ranking", "equipoise.analyses.ranking", "at least two models"),
    Analysis("flips", "equipoise.analyses.flips", "at least two models"),
    Analysis("components", "equipoise.analyses.components", quick=True),
    Analysis("certainty", "equipoise.analyses.certainty"),
    Analysis("calibration", "equipoise.analyses.calibration", "probabilities", quick=True),
    Analysis("leave_one_out", "equipoise.analyses.leave_one_out", "named annotators"),
    Analysis("panel_size", "equipoise.analyses.panel_size"),
    Analysis("annotators", "equipoise.analyses.annotators", "named annotators"),
    Analysis("pairs", "equipoise.analyses.annotator_map", "named annotators"),
    Analysis("experts", "equipoise.analyses.experts", "at least three named annotators"),
    Analysis("readers", "equipoise.analyses.readers", "at least two named annotators"),
    Analysis("curves", "equipoise.analyses.curves", "scores of a yes/no question", quick=True),
    Analysis("net_benefit", "equipoise.analyses.net_benefit", "probabilities of yes or no"),
    Analysis("gold", "equipoise.analyses.gold", "gold labels and annotators' votes"),
    Analysis("vote_cutoffs", "equipoise.analyses.vote_cutoffs"),
    Analysis("choices", "equipoise.analyses.choices"),
    Analysis("threshold_sweep", "equipoise.analyses.threshold_sweep", "yes or no"),
    Analysis("subgroups", "equipoise.analyses.subgroups", "attributes of the items"),
)
ANALYSES: Mapping[str, Analysis] = {analysis.name: analysis for analysis in _IN_ORDER}

"""Catalogue: the only list of analyses.

An analysis is a module with a ``TITLE``, the question that it answers, and a function
``analyse(study)`` that returns a `Finding`; a module with a second analysis names its heading
and function here. Or it is a module with a ``QUESTION``, of which variants of the study are
scored (`equipoise.study.questions`). The command line, its help, the page, the text files, the
methods and the laws in the tests read `ANALYSES`; adding an analysis is adding a file and a
line here. Modules are loaded when they are needed.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from equipoise.types import InputError, Names, immutable

if TYPE_CHECKING:
    from equipoise.study.study import Study
    from equipoise.types import Finding

OF_JUDGES = ("levels", "savings")  # of systems' outputs that people rated
JUDGED = ("ratings", "preferences")  # by annotators


@immutable
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
    of_outputs
        For which judgements of systems' outputs it is, too.
    of_predictions
        Whether it is about models that predict labels of items.
    of_amounts
        Whether it is also about predictions of ratings, which are no classes.
    heading, function
        What the title and the function are called in the module.
    """

    name: str
    module: str
    needs: str = ""
    quick: bool = False
    of_outputs: Names = ()
    of_predictions: bool = True
    of_amounts: bool = True
    heading: str = "TITLE"
    function: str = "analyse"

    @property
    def title(self) -> str:
        """The question that it answers, as a heading."""
        module = import_module(self.module)
        return str(module.QUESTION.title if self.is_question else getattr(module, self.heading))

    @property
    def is_question(self) -> bool:
        """Whether it asks if the verdict depends on something."""
        return not hasattr(import_module(self.module), self.function)

    def is_about(self, study: "Study") -> bool:
        """Whether it is about what was said in a study."""
        if self.name in OF_JUDGES and (study.votes is None or study.votes.systems is None):
            return False
        if study.judged:
            return study.judged in self.of_outputs
        return self.of_predictions and (self.of_amounts or not study.rated)

    def run(self, study: "Study") -> "Finding":
        """Make its finding; raises `InputError` where the data do not allow it."""
        if self.is_question:
            from equipoise.study.questions import answer_study, question_of

            return answer_study(question_of(self.module), study).finding()
        analyse: Callable[[Study], Finding] = getattr(import_module(self.module), self.function)
        return analyse(study)

    def attempt(self, study: "Study") -> "Finding":
        """Make its finding, or one that says why the data do not allow it."""
        from equipoise.types import left_out, out_of_memory

        if not self.is_about(study):
            got = f"{study.judged} of systems' outputs" if study.judged else "ratings"
            error = InputError(f"analysis {self.name}", got, "labels of items", "leave it out")
            return left_out(self.name, self.title, error)
        try:
            with np.errstate(invalid="ignore"):  # of two infinite values: undefined
                return self.run(study)
        except InputError as error:
            return left_out(self.name, self.title, error)
        except MemoryError as error:
            return left_out(self.name, self.title, out_of_memory(self.name, error))
        except Exception as error:
            return failed(self.name, self.title, error)


def failed(key: str, title: str, error: Exception) -> "Finding":
    """A finding that an error of the program has stopped, in place of the whole report."""
    from equipoise.types import Finding

    what = " ".join(f"{type(error).__name__}: {error}".split())
    sentence = (
        f"Stopped by an error of equipoise ({what}). All other results stand. Please report it."
    )
    return Finding(key=key, title=title, sentence=sentence, left_out=True)


_IN_ORDER = (
    Analysis("ranking", "equipoise.study.analyses.ranking", "at least two models"),
    Analysis(
        "strengths",
        "equipoise.study.analyses.strengths",
        "preferences between outputs of systems",
        quick=True,
        of_outputs=("preferences",),
        of_predictions=False,
    ),
    Analysis(
        "levels", "equipoise.study.analyses.judges", "judges of systems' outputs", quick=True
    ),
    Analysis(
        "savings",
        "equipoise.study.analyses.judges",
        "judges of systems' outputs",
        quick=True,
        heading="SAVINGS_TITLE",
        function="analyse_savings",
    ),
    Analysis("flips", "equipoise.study.analyses.fragility", "at least two models"),
    Analysis("components", "equipoise.study.analyses.components", quick=True),
    Analysis("certainty", "equipoise.study.questions.certainty"),
    Analysis(
        "calibration",
        "equipoise.study.analyses.calibration_curves",
        "probabilities",
        quick=True,
        of_amounts=False,
    ),
    Analysis(
        "retained",
        "equipoise.study.analyses.retained",
        "probabilities of at least three grades",
        of_amounts=False,
    ),
    Analysis(
        "leave_one_out",
        "equipoise.study.questions.leave_one_out",
        "named annotators",
        of_outputs=JUDGED,
    ),
    Analysis("alone", "equipoise.study.questions.alone", "named annotators", of_outputs=JUDGED),
    Analysis(
        "half_panels",
        "equipoise.study.questions.half_panels",
        "at least four named annotators",
        of_outputs=JUDGED,
    ),
    Analysis("annotators", "equipoise.study.analyses.annotators", "named annotators"),
    Analysis(
        "pairs",
        "equipoise.study.analyses.annotators",
        "named annotators",
        heading="MAP_TITLE",
        function="analyse_pairs",
    ),
    Analysis(
        "readers",
        "equipoise.study.analyses.readers",
        "at least two named annotators, or gold labels and annotators' votes",
    ),
    Analysis(
        "curves",
        "equipoise.study.analyses.operating_curves",
        "scores of a yes/no question",
        quick=True,
        of_amounts=False,
    ),
    Analysis(
        "net_benefit",
        "equipoise.study.analyses.operating_curves",
        "probabilities of yes or no",
        heading="NET_BENEFIT_TITLE",
        function="analyse_net_benefit",
        of_amounts=False,
    ),
    Analysis("contested", "equipoise.study.questions.contested", of_outputs=JUDGED),
    Analysis("vote_cutoffs", "equipoise.study.questions.vote_cutoffs", of_amounts=False),
    Analysis("choices", "equipoise.study.questions.choices"),
    Analysis("reliability", "equipoise.study.questions.reliability"),
    Analysis(
        "threshold_sweep",
        "equipoise.study.questions.label_rules",
        "yes or no",
        of_amounts=False,
    ),
    Analysis("truths", "equipoise.study.questions.truths", "a standard beside votes"),
    Analysis("sets", "equipoise.sets.evaluation", "probabilities", of_amounts=False),
    Analysis(
        "subgroups",
        "equipoise.study.questions.subgroups",
        "attributes of the items",
        of_outputs=(*JUDGED, "results"),
    ),
)
ANALYSES: Mapping[str, Analysis] = {analysis.name: analysis for analysis in _IN_ORDER}

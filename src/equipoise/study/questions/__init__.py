"""Questions: does the verdict depend on one annotator, few votes, the unclear cases, ...?

One small file per question, each with a `QUESTION` (`equipoise.study.questions.answers`),
listed in `equipoise.study.analyses.catalogue`. The command line and the page ask them of a
study; in Python, `ask` does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from equipoise.metrics import Metric
from equipoise.study.questions.answers import Answer as Answer
from equipoise.study.questions.answers import Question as Question
from equipoise.study.questions.answers import Variant as Variant
from equipoise.study.questions.answers import answer as answer
from equipoise.study.study import Settings, Study
from equipoise.study.variants import Contest as Contest
from equipoise.types import Annotations, Predictions, choice, wrong_type

if TYPE_CHECKING:
    from equipoise.read.attributes import Attributes


def ask(
    question: str | Question,
    predictions: Predictions | Iterable[Predictions] | Any,
    truth: Annotations | Any,
    *,
    metrics: Sequence[str | Metric] | None = None,
    attributes: "Attributes | None" = None,
    settings: Settings | None = None,
) -> Answer:
    """Ask whether the verdict on some models depends on something.

    Parameters
    ----------
    question
        Its name, such as ``leave_one_out``, ``vote_cutoffs``, ``certainty``, ``subgroups`` or
        ``choices``, or a question of one's own.
    predictions, truth, metrics, settings
        As in `evaluate`; the verdict is by the first metric, against soft labels.
    attributes
        What is known of the items beside their labels, for ``subgroups``.

    Examples
    --------
    >>> from equipoise.datasets.demo import reading_study
    >>> readings, scores = reading_study()
    >>> ask("leave_one_out", scores, readings, metrics=["auroc"])
    Answer(leave_one_out, 8 variants: No, but less is known in 4 of 8)
    """
    from equipoise.study.analyses.catalogue import ANALYSES

    if isinstance(question, str):
        names = tuple(name for name, one in ANALYSES.items() if one.is_question)
        question = question_of(ANALYSES[choice("question", question, names)].module)
    study = Study.of(
        predictions, truth, metrics=metrics, resampling="influence", settings=settings
    )
    return answer_study(question, replace(study, attributes=attributes))


def question_of(module: str) -> Question:
    """The question of a module of the catalogue."""
    question = import_module(module).QUESTION
    if not isinstance(question, Question):
        raise wrong_type(module, question, "a Question", "name it QUESTION")
    return question


def answer_study(question: Question, study: Study) -> Answer:
    """Ask it of a study; progress is told as the study tells it."""
    found = answer(question, Contest.of(study), progress=study.tell)
    if study.attributes is None or question.key != "subgroups":
        return found
    return replace(found, notices=(*study.attributes.notices, *found.notices))

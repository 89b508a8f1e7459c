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
from equipoise.study.arguments import reader_metrics
from equipoise.study.questions.answers import Answer as Answer
from equipoise.study.questions.answers import Question as Question
from equipoise.study.questions.answers import Variant as Variant
from equipoise.study.questions.answers import answer as answer
from equipoise.study.study import Settings, Study
from equipoise.study.thresholds import with_thresholds
from equipoise.study.variants import Contest as Contest
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import choice, wrong_type
from equipoise.types.predictions import Predictions

if TYPE_CHECKING:
    from equipoise.read.attributes import Attributes

OVERALL = ("cohen_kappa", "quadratic_weighted_kappa", "mcc", "f1", "accuracy")
ABOUT_CUTS = ("thresholds", "threshold_assumed", "cross_fitted", "tuning_split")


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
        Its name, such as ``leave_one_out``, ``vote_cutoffs``, ``certainty``, ``subgroups``,
        ``choices`` or ``readers``, or a question of one's own.
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
    study = deciding(study) if question.decides else study
    found = answer(question, Contest.of(study), progress=study.tell)
    notices = [one for one in study.notices if question.decides and one.code in ABOUT_CUTS]
    if study.attributes is not None and question.key == "subgroups":
        notices += study.attributes.notices
    return replace(found, notices=(*notices, *found.notices))


def deciding(study: Study) -> Study:
    """The same by metrics of decisions: those that were asked for, or the usual ones."""
    metrics = [one for one in study.metrics if one.decides and one.labels != "draws"]
    if metrics:
        return study.with_metrics(_overall_first(metrics))
    first = study.truths[0]
    several = len(first.classes) > 1
    usual = reader_metrics(several=several, ordered=several and first.ordered)
    view = with_thresholds(study.with_metrics(usual), study.thresholds)
    return view.with_metrics(_overall_first(view.metrics))


def _overall_first(metrics: Sequence[Metric]) -> tuple[Metric, ...]:
    """Metrics with the one in front that weighs all errors best."""
    first = next((one for name in OVERALL for one in metrics if one.name == name), metrics[0])
    return (first, *(one for one in metrics if one is not first))

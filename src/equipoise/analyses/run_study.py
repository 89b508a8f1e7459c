"""Running a study: every analysis that the data allow, as one report.

Nothing is left out silently: an analysis that the data do not allow is a finding with the
reason. If none of those asked for is possible, the first reason is raised.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from equipoise.analyses.catalogue import ANALYSES, Analysis
from equipoise.analyses.methods import (
    SOURCES,
    StudyData,
    computed,
    intervals_sentence,
    labels_sentence,
    study_report,
)
from equipoise.analyses.study import Progress, Study, StudyOptions
from equipoise.analyses.verdict import Lead, find_lead, verdict
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, choice
from equipoise.evaluation import MACRO, evaluate
from equipoise.evaluation.thresholds import cut_study
from equipoise.findings import Finding, Report, left_out
from equipoise.numbers import count
from equipoise.predictions import Predictions

TITLE = "How far can the result be trusted?"
PARTS = 100  # steps of progress per analysis


def analyse_study(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    options: StudyOptions | None = None,
) -> Report:
    """Everything about the stability of an evaluation.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say.
    options
        What is asked; by default everything that the data allow.

    Examples
    --------
    >>> from equipoise.demo import reading_study
    >>> readings, scores = reading_study()
    >>> options = StudyOptions(metrics=["auroc"], only=["vote_cutoffs"], replicates=20)
    >>> [finding.key for finding in analyse_study(scores, readings, options).findings]
    ['verdict', 'vote_cutoffs']
    """
    asked = options or StudyOptions()
    for name in asked.only:
        choice("stability, only", name, tuple(ANALYSES))
    study = _prepared(predictions, annotations, asked)
    chosen = [one for name, one in ANALYSES.items() if not asked.only or name in asked.only]
    findings, refused = [], []
    for place, analysis in enumerate(chosen):
        tell = _within(asked.progress, place, len(chosen))
        finding, error = attempt(analysis, study.telling(tell))
        findings.append(finding)
        refused += [error] if error is not None else []
        tell(1, 1)
    if len(refused) == len(chosen):
        raise refused[0]
    return _report(study, find_lead(study), findings)


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def attempt(analysis: Analysis, study: Study) -> tuple[Finding, InputError | None]:
    """What an analysis finds, or the reason why there is nothing."""
    try:
        return analysis.run(study), None
    except InputError as error:
        return left_out(analysis.name, analysis.title, error), error


def _prepared(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    asked: StudyOptions,
) -> Study:
    models = (predictions,) if isinstance(predictions, Predictions) else tuple(predictions)
    evaluation = evaluate(
        models,
        annotations,
        metrics=asked.metrics,
        resampling=asked.plan(annotations),
        settings=replace(asked.settings, thresholds=asked.thresholds),
    )
    cut = cut_study(models, annotations, evaluation.metrics, asked.thresholds)
    assert isinstance(cut.truth, Annotations)
    return Study(tuple(cut.predictions), cut.truth, asked, evaluation, lambda *_: None)


def _within(progress: Progress | None, place: int, every: int) -> Progress:
    """Progress of one analysis as a part of all."""

    def tell(done: int, whole: int) -> None:
        if progress is not None:
            progress(place * PARTS + PARTS * done // max(whole, 1), every * PARTS)

    return tell


def _report(study: Study, lead: Lead, findings: list[Finding]) -> Report:
    asked, evaluation, base = study.options, study.evaluation, study_report(study)
    models, data = evaluation.models, StudyData.of(evaluation, study.annotations)
    tasks = [task for task in evaluation.tasks if task != MACRO]
    what = f"examined the stability of a comparison of {len(models)} models"
    if len(models) == 1:
        what = f"examined the scores of one model ({models[0]})"
    others = (
        "Intervals of what else was looked at are, unless said otherwise, percentile intervals "
        f"of {count(study.replicates)} resamples of items, paired between models "
        "[@efron1993]."
    )
    several = count(len(tasks), "task") if len(tasks) > 1 else ""
    by_name = {finding.key: finding for finding in findings}
    return replace(
        base,
        title=TITLE,
        scope=evaluation.population.scope,
        findings=(verdict(study, lead, by_name), *findings),
        known=(count(len(models), "model"), several, *base.known),
        methods=(
            data.sentence(what, evaluation.tasks, evaluation.metrics),
            labels_sentence(study.annotations, evaluation.metrics, asked),
            data.groups_sentence(),
            f"{intervals_sentence(evaluation)} {others}",
            computed(),
        ),
        references=(*base.references, *SOURCES, "efron1993"),
    )

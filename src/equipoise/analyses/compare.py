"""Compare: everything that speaks for one of two models, as one report.

Paired differences by hard and soft labels with the intervals of `evaluate`, the fewest items or
votes that would turn each task round, and how either stands among the experts. The two are
compared as a pair that was chosen in advance: among more models, a pair that was picked because
it stands out is judged by `evaluate`, all pairs at once.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from equipoise.analyses.catalogue import ANALYSES
from equipoise.analyses.methods import (
    SOURCES,
    StudyData,
    computed,
    intervals_sentence,
    labels_sentence,
    study_report,
)
from equipoise.analyses.run_study import attempt
from equipoise.analyses.study import Study, StudyOptions
from equipoise.analyses.verdict import scores_table
from equipoise.analyses.words import QUESTION, RESAMPLED, score_title, with_titles
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, listed, nearest, short_repr
from equipoise.evaluation import LABELS, Evaluation, evaluate
from equipoise.evaluation.result import Difference
from equipoise.findings import Column, Finding, Report, Table
from equipoise.numbers import number, p_value
from equipoise.predictions import Predictions

GROUNDS = ("flips", "experts")  # analyses that a comparison adds
LOWER = " Of metrics of which less is better, a difference below 0 speaks for the first."
COLUMNS = (
    *QUESTION,
    Column("value", "difference", "change", ("low", "high")),
    Column("p", "p", "p"),
    Column("p_better", "better in (share of resamples)", "resample_share"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The first of two models minus the second.

    Attributes
    ----------
    a, b
        Names of the two models.
    labels
        Which labels stand in front.
    evaluation
        Both models.
    among
        How many models there are to choose two from.
    """

    a: str
    b: str
    labels: str
    evaluation: Evaluation
    among: int = 2

    __repr__ = short_repr

    def differences(self) -> list[Difference]:
        """First minus second, for every task, metric and kind of labels."""
        done, names = self.evaluation, [metric.name for metric in self.evaluation.metrics]
        return [
            gap
            for task, metric, labels in product(done.tasks, names, LABELS)
            for gap in done.differences(metric, labels=labels, task=task)
        ]

    def rows(self) -> list[dict[str, Any]]:
        """One row per task, metric and kind of labels."""
        better = {metric.name: metric.better for metric in self.evaluation.metrics}
        return [gap._asdict() | {"better": better[gap.metric]} for gap in self.differences()]

    @property
    def finding(self) -> str:
        """The last task by the first metric, in one sentence."""
        done, metric = self.evaluation, self.evaluation.metrics[0]
        front = (done.tasks[-1], metric.name, self.labels)
        gap = next(gap for gap in self.differences() if gap[:3] == front)
        what = score_title(metric.name, self.labels, gap.task)
        if math.isnan(gap.value):
            return f"The difference by {what} is undefined."
        if gap.value == 0:
            return f"By {what} {self.a} and {self.b} are tied."
        ahead = (gap.value > 0) == (metric.better == "higher")
        first, second = (self.a, self.b) if ahead else (self.b, self.a)
        sign, whom = 1 if gap.value > 0 else -1, done.population
        low, high = sorted((sign * gap.low, sign * gap.high))
        higher = "higher" if metric.better == "higher" else "better"
        verb = "is better" if gap.separated else f"scores {higher}"
        text = f"By {what} {first} {verb} than {second} by {number(abs(gap.value))}"
        if math.isnan(low):
            return f"{text}; how sure that is, is undefined."
        ends = f"interval {number(low)} to {number(high)}, p {p_value(gap.p)}"
        if not whom.decides:
            return (
                f"{text} ({ends}, for these annotators); annotators are too few for a verdict "
                "on annotators like these."
            )
        alone = ", as a single pair" * (self.among > 2)
        apart = "" if gap.separated else "not separated, "
        return f"{text} ({ends}): {apart}for {whom.whom}{alone}."

    def report(self) -> Finding:
        """The finding for every surface."""
        done, rows = self.evaluation, self.rows()
        metrics = [metric.name for metric in done.metrics]
        lower = any(metric.better == "lower" for metric in done.metrics)
        kind, a, b = done.plan.kind, self.a, self.b
        legend = (
            f"Brackets and p: of this difference by itself, for {done.population.whom}. Share: "
            f"of the resamples of {RESAMPLED[kind]} in which {a} is better than {b}, ties half."
        )
        differences = Table(
            name="differences",
            caption=f"{a} minus {b}",
            columns=with_titles(COLUMNS, metrics),
            rows=rows,
            legend=legend + LOWER * lower,
            open=True,
        )
        values = scores_table("Both models by task, metric and labels", done)
        title, tables = f"{a} against {b}", (differences, values)
        return Finding(key="comparison", title=title, sentence=self.finding, tables=tables)


def compare_models(
    pair: tuple[str, str],
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    options: StudyOptions | None = None,
    kind: str | None = None,
) -> Report:
    """Compare two models of a study.

    Parameters
    ----------
    pair
        Names of the two models: differences are the first minus the second.
    options
        What is asked.
    kind
        What is resampled for shares, as in `resample`; by default what fits the annotations.

    Examples
    --------
    >>> from equipoise.demo import reading_study
    >>> readings, scores = reading_study()
    >>> options = StudyOptions(metrics=["auroc"], replicates=50, most=5)
    >>> pair = ("decision tree", "random forest")
    >>> report = compare_models(pair, scores, readings, options)
    >>> [round(row["value"], 3) for row in report.findings[0].tables[0].rows]
    [-0.058, -0.046]
    """
    asked = options or StudyOptions()
    given = [predictions] if isinstance(predictions, Predictions) else list(predictions)
    models = _two(pair, given)
    evaluation = evaluate(
        models,
        annotations,
        metrics=asked.metrics,
        resampling=asked.plan(annotations, kind),
        settings=asked.settings,
    )
    chosen = [ANALYSES[name] for name in GROUNDS if name in ANALYSES]
    tell = asked.progress or (lambda *_: None)
    tell(1, len(chosen) + 1)
    quiet = replace(asked, progress=None)
    study = Study(models, annotations, quiet, evaluation, lambda *_: None)
    among = len({one.model for one in given})
    findings = [Comparison(*pair, asked.labels, evaluation, among).report()]
    for step, analysis in enumerate(chosen, 2):
        findings.append(attempt(analysis, study)[0])
        tell(step, len(chosen) + 1)
    return _report(study, findings)


def _report(study: Study, findings: Sequence[Finding]) -> Report:
    asked, evaluation, base = study.options, study.evaluation, study_report(study)
    plan, data = evaluation.plan, StudyData.of(evaluation, study.annotations)
    a, b = evaluation.models
    what = f"compared {a} with {b}, 2 models,"
    return replace(
        base,
        title=f"{a} against {b}",
        scope=evaluation.population.scope,
        findings=tuple(findings),
        settings=(("Resampled", plan.kind), ("Because", plan.reason), *base.settings),
        methods=(
            data.sentence(what, evaluation.tasks, evaluation.metrics),
            labels_sentence(study.annotations, evaluation.metrics, asked),
            data.groups_sentence(),
            intervals_sentence(evaluation),
            computed(),
        ),
        references=(*base.references, *SOURCES),
    )


def _two(pair: tuple[str, str], given: Sequence[Predictions]) -> tuple[Predictions, ...]:
    """Predictions of the two models, the first before the second."""
    known = list(dict.fromkeys(one.model for one in given))
    for name in pair:
        if name not in known:
            known_names = f"one of {listed(known, most=8)}"
            raise InputError("compare, model", f"{name!r}", known_names, nearest(name, known))
    if pair[0] == pair[1]:
        raise InputError("compare", f"{pair[0]!r} twice", "two models", "name another one")
    return tuple(one for name in pair for one in given if one.model == name)

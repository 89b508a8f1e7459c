"""Evaluation of uncertainty: methods and their scores on the six tasks, with intervals.

Every question of `equipoise.uq.tasks` is one shared evaluation (`equipoise.evaluate`) in which
the competitors are a method's scores (PU, AU, EU, and its own, if it has one) or, for
calibration, its mean prediction. Labels are tasks; images are resampled by patient; runs with
different seeds are one competitor (`Evaluation.across_seeds`). The truth is taken as gold, so
that intervals speak for other images and other seeds.

All scores are reported. Which of them a method is judged by is chosen on the validation images;
where these have no such truth it is PU, fixed beforehand. The best score on the test images
would favour methods with more scores.

Examples
--------
>>> rng = np.random.default_rng(0)
>>> truth = rng.random((400, 2)) < 0.4
>>> def members(noise):
...     logits = 3 * truth - 1.5 + rng.normal(size=(400, 2)) * 2
...     return 1 / (1 + np.exp(-logits - noise * rng.normal(size=(5, 400, 2))))
>>> result = evaluate_uncertainty({"ensemble": members(1), "dropout": members(0.3)}, truth)
>>> [row.task for row in result.table() if row.chosen and row.method == "dropout"][:2]
['errors', 'abstention']
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equipoise import resample
from equipoise.study import Evaluation, Settings, evaluate
from equipoise.types import (
    Names,
    Notice,
    Notices,
    Predictions,
    Progress,
    choice,
    immutable,
    joined,
    notice,
    require_number,
    short_repr,
)
from equipoise.uq.decomposition import DECOMPOSITIONS, IMAGE_LEVEL, Beta
from equipoise.uq.disentanglement import Contrast, correlations, parts_rows
from equipoise.uq.predictions import (
    MethodRuns,
    Outputs,
    Prediction,
    Run,
    other_images,
    part_labels,
)
from equipoise.uq.tasks import (
    BINNING,
    SCALE,
    LabelQuestion,
    Question,
    UncertaintyTask,
    ask,
    label_values,
    scores_of,
    six_tasks,
    uncertain_images,
)
from equipoise.uq.training.corruptions import macro

if TYPE_CHECKING:
    from equipoise.types import Report

USUAL = "PU"  # the score where none can be chosen
REPLICATES = 200  # drawn from the covariance, for shares of resamples alone
ONE_MEMBER = (
    "{methods:listed}: a single member, so that EU is 0 and AU equals PU; both are left out."
)
UNDEFINED = "Task {number}, {title}, is undefined: {reason}."
LEFT_OUT = "Task {number}: undefined for {labels:names}, left out of the macro average."
WEAK = (
    "Task 1: {names:listed} lower the validation AUROC by less than the {goal:percent} that "
    "was aimed at."
)
LACKING = "{files:listed}: no predictions of the part {part}, which is left out for all."
BLANK = "{labels:names}: blank on every test image, and in no task."
PRESET = (
    "Task {number}: validation images cannot choose a score for {whom}; PU is used, fixed "
    "beforehand."
)
RESTS_ON = "Task 2 rests on the {images:count} test images that have an uncertain label."


@immutable
class Scoring:
    """How scores of uncertainty are made and judged.

    Attributes
    ----------
    level
        Level of the intervals.
    image
        How one score per image is made of those of its labels: mean, max or sum.
    decomposition
        ``information`` or ``reverse_mi``; see `equipoise.uq.decomposition`.
    binning
        Bins of calibration: equally wide (``width``) or equally full (``mass``).
    seed
        Of the noise of the null of correlations.
    classes
        Names of the labels; empty for numbers.
    progress
        Called as ``progress(done, all)``.
    """

    level: float = 0.95
    image: str = "mean"
    decomposition: str = "information"
    binning: str = "width"
    seed: int = 0
    classes: Names = ()
    progress: Progress | None = None

    def __post_init__(self) -> None:
        choice("image", self.image, tuple(IMAGE_LEVEL))
        choice("decomposition", self.decomposition, DECOMPOSITIONS)
        choice("binning", self.binning, BINNING)
        require_number("level", self.level, above=0, below=1, do="0.95 is usual")


class TaskRow(NamedTuple):
    """A method's score on a task by one metric.

    `chosen` says whether the method is judged by this score; `best` whether no other method's
    is surely better (of chosen scores alone); `labels` and `left_out` how many labels are in
    the macro average, and how many are undefined.
    """

    task: str
    method: str
    architecture: str
    score: str
    metric: str
    value: float
    low: float
    high: float
    chosen: bool
    best: bool
    labels: int
    left_out: int


@immutable(eq=False)
class Contest:
    """One question: the shared evaluation of an architecture, and who competes in it.

    `names` holds the competitors by method and score.
    """

    question: Question
    evaluation: Evaluation
    names: Mapping[tuple[str, str], str]

    __repr__ = short_repr

    def left_out(self, metric: str) -> Names:
        """Labels on which a metric is undefined for some competitor."""
        labels, done = self.question.labels, self.evaluation
        k = [scored.name for scored in done.metrics].index(metric)
        odd = np.flatnonzero(np.isnan(done.values[: len(labels), k, 1]).any(axis=-1))
        return tuple(labels[place].label for place in odd)


Contests = Mapping[tuple[str, str], Contest]  # by architecture and question


@immutable(eq=False, kw_only=True)
class UncertaintyEvaluation:
    """What `evaluate_uncertainty` returns.

    Attributes
    ----------
    tasks
        The six.
    contests
        Shared evaluations by architecture and question; a question without truth has none.
    chosen
        The score that a method is judged by, by architecture, task and method.
    preset
        Methods by the task on which validation images could not choose their score.
    parts, correlations
        EU against AU, and correlations with their null; see their types.
    scoring, study
        How scores were made and judged, and of what.
    notices
        What the reader should know.
    """

    tasks: tuple[UncertaintyTask, ...]
    study: MethodRuns
    scoring: Scoring
    contests: Contests
    chosen: Mapping[tuple[str, str, str], str]
    preset: Mapping[str, Names]
    parts: tuple[Contrast, ...]
    correlations: tuple[Contrast, ...]
    notices: Notices

    __repr__ = short_repr

    def table(self) -> list[TaskRow]:
        """Every task, architecture, method, score and metric."""
        return self._table

    @cached_property
    def _table(self) -> list[TaskRow]:
        return [
            row
            for task in self.tasks
            for architecture in self.study.architectures
            for row in self._task_rows(task, architecture)
        ]

    def judged(self, task: UncertaintyTask, architecture: str) -> Evaluation | None:
        """The contest of a task between methods, each with the score it is judged by.

        All pairs of methods in all tasks and architectures are one family.
        """
        contest = self.contests.get((architecture, task.question))
        if contest is None:
            return None
        methods = dict.fromkeys(method for method, _ in contest.names)
        names = [
            contest.names[method, self.chosen.get((architecture, task.key, method), "")]
            for method in methods
        ]
        together = sum(
            (architecture, task.question) in self.contests
            for task in self.tasks
            for architecture in self.study.architectures
        )
        return replace(contest.evaluation.subset(names), together=together)

    def _task_rows(self, task: UncertaintyTask, architecture: str) -> Iterable[TaskRow]:
        contest = self.contests.get((architecture, task.question))
        judged = self.judged(task, architecture)
        if contest is None or judged is None:
            return
        for metric in task.metrics:
            best = dict(zip(judged.models, judged.family(metric).best, strict=True))
            left = contest.left_out(metric)
            for (method, score), name in contest.names.items():
                estimate = contest.evaluation.estimate(name, metric)
                scale = SCALE.get(metric, 1.0)
                low, high = (scale * end for end in estimate.interval(self.scoring.level))
                yield TaskRow(
                    task.key,
                    method,
                    architecture,
                    score,
                    metric,
                    scale * estimate.value,
                    low,
                    high,
                    name in best,
                    bool(best.get(name, False)) and not math.isnan(estimate.value),
                    len(contest.question.labels) - len(left),
                    len(left) + len(contest.question.blank),
                )

    @property
    def verdict(self) -> str:
        """The answer, as far as the intervals support one."""
        return str(self.report().card)

    def report(self) -> "Report":
        """Everything, for the terminal, the page and the files."""
        from equipoise.uq.report import evaluation_report

        return evaluation_report(self)


# ---- arrays ----------------------------------------------------------------------------------


def evaluate_uncertainty(
    probs: Any,
    labels: Any,
    *,
    ood: Any = None,
    validation: tuple[Any, Any] | None = None,
    groups: Sequence[Any] | None = None,
    **scoring: Any,
) -> UncertaintyEvaluation:
    """Which method's uncertainty is good for what?

    Parameters
    ----------
    probs
        What a method says of the images: probabilities (members, items, classes) or (items,
        classes), `Beta`, or `Prediction` with a score of its own; by method, a mapping. A list
        holds runs of one method with different seeds.
    labels
        1, 0, -1 (uncertain) or nan (blank), (items, classes).
    ood
        What the same methods say of other images; as many as `probs` are the same images
        transformed, and are resampled with them.
    validation
        Probabilities and labels of validation images, on which scores are chosen.
    groups
        Patient of each image, or what else images are resampled by.
    scoring
        The fields of `Scoring`, such as ``level=0.9`` or ``image="max"``.
    """
    how = Scoring(**scoring)
    test = part_labels(labels, groups=groups)
    labels_of, predictions = {"test": test}, {"test": probs}
    if validation is not None:
        predictions["val"], labels_of["val"] = validation[0], part_labels(validation[1])
    if ood is not None:
        predictions["ood"] = ood
    outputs: dict[tuple[str, str], dict[str, Outputs]] = {}
    for part, predictions_of in predictions.items():
        for method, seed, output in _by_run(predictions_of, how):
            outputs.setdefault((method, seed), {})[part] = output
            if part == "ood":
                labels_of.setdefault("ood", other_images(len(output.mean), test, "other"))
    runs = tuple(Run(method, "", seed, parts) for (method, seed), parts in outputs.items())
    assert test.labels is not None
    names = how.classes or tuple(f"label {k + 1}" for k in range(test.labels.shape[1]))
    return evaluate_study(MethodRuns(names, labels_of, runs, how.image), how)


def _by_run(predictions: Any, how: Scoring) -> list[tuple[str, str, Outputs]]:
    """Method, seed and outputs of everything that was given."""
    methods = predictions if isinstance(predictions, Mapping) else {"model": predictions}
    outputs = []
    for name, runs in methods.items():
        several = isinstance(runs, list | tuple) and all(
            isinstance(run, Prediction | Beta | np.ndarray) for run in runs
        )
        for seed, run in enumerate(runs if several else [runs]):
            prediction = run if isinstance(run, Prediction) else Prediction(run)
            output = Outputs.of(prediction, how.decomposition, f"predictions of {name!r}")
            outputs.append((str(name), str(seed) if several else "", output))
    return outputs


# ---- the study -------------------------------------------------------------------------------


def evaluate_study(study: MethodRuns, scoring: Scoring | None = None) -> UncertaintyEvaluation:
    """Evaluate every run of a study; see `evaluate_uncertainty`."""
    how = scoring or Scoring()
    tasks = six_tasks(how.binning)
    questions = {task.question: ask(task.question, study) for task in tasks}
    pairs = [(a, q) for a in study.architectures for q in questions.values() if q.labels]
    contests = {}
    for done, (architecture, question) in enumerate(pairs, 1):
        metrics = [m for task in tasks if task.question == question.name for m in task.metrics]
        contest = _contest(study, architecture, question, metrics, how)
        contests[architecture, question.name] = contest
        if how.progress is not None:
            how.progress(done, len(pairs))
    chosen, preset = _choices(study, tasks, questions)
    return UncertaintyEvaluation(
        tasks=tasks,
        study=study,
        scoring=how,
        contests=contests,
        chosen=chosen,
        preset=preset,
        parts=tuple(parts_rows(tasks, contests, how)),
        correlations=tuple(correlations(study, tasks, questions, how)),
        notices=tuple(_notices(study, tasks, questions, contests, preset)),
    )


def _contest(
    study: MethodRuns,
    architecture: str,
    question: Question,
    metrics: Sequence[str],
    how: Scoring,
) -> Contest:
    """All scores of all methods of an architecture, as one shared evaluation over seeds."""
    methods = study.methods(architecture)
    predictions, runs = [], {}
    names: dict[tuple[str, str], str] = {}
    for method, of_method in methods.items():
        scores = (
            scores_of(of_method[0].parts["test"]) if question.name != "calibration" else [""]
        )
        for score in scores:
            name = names.setdefault((method, score), f"{method} {score}".strip())
            runs[name] = [f"{name} #{run.seed}" for run in of_method]
            for run, model in zip(of_method, runs[name], strict=True):
                predictions += [
                    _prediction(question, run, score, model, label) for label in question.labels
                ]
    truth = question.truth()
    plan = resample(truth, "influence", replicates=REPLICATES)
    # a score that happens to rank a label perfectly is a good score, not a copied truth
    settings = Settings(level=how.level, circular="keep")
    done = evaluate(
        predictions, truth, metrics=list(metrics), resampling=plan, settings=settings
    )
    seeds = {
        tuple(run.seed for run in of_method)
        for of_method in methods.values()
        if len(of_method) > 1
    }
    done = done.across_seeds(runs, shared=len(seeds) == 1)
    return Contest(question, done, names)


def _prediction(
    question: Question, run: Run, score: str, model: str, label: LabelQuestion
) -> Predictions:
    items = question.items
    if len(label.rows) < len(items):
        items = tuple(items[k] for k in label.rows)
    return Predictions(model, items, question.values(run.parts, score, label), task=label.label)


def _choices(
    study: MethodRuns,
    tasks: Sequence[UncertaintyTask],
    questions: Mapping[str, Question],
) -> tuple[dict[tuple[str, str, str], str], dict[str, Names]]:
    """The score of every method on every task by validation images; methods without one."""
    chosen: dict[tuple[str, str, str], str] = {}
    preset: dict[str, list[str]] = {}
    for task in (task for task in tasks if task.scored and questions[task.question].labels):
        validation = ask(task.question, study, "val")
        for architecture, method, runs in study.competitors():
            scores = scores_of(runs[0].parts["test"])
            best = _best_score(validation, runs, scores, task.metrics[0])
            chosen[architecture, task.key, method] = best or USUAL
            if best is None:
                preset.setdefault(task.key, []).append(method)
    return chosen, {task: tuple(dict.fromkeys(methods)) for task, methods in preset.items()}


def _best_score(
    validation: Question, runs: Sequence[Run], scores: Sequence[str], metric: str
) -> str | None:
    """The best by the mean over labels and seeds; None where there is nothing to see."""
    if not validation.labels:
        return None
    values = [
        np.mean([macro(label_values(validation, run.parts, score, metric)) for run in runs])
        for score in scores
    ]
    return None if np.isnan(values).all() else scores[int(np.nanargmax(values))]


def _notices(
    study: MethodRuns,
    tasks: Sequence[UncertaintyTask],
    questions: Mapping[str, Question],
    contests: Contests,
    preset: Mapping[str, Names],
) -> Iterable[Notice]:
    yield from _study_notices(study, questions["correctness"].blank)
    for task in tasks:
        question = questions[task.question]
        if not question.labels:
            yield notice(
                "undefined_task",
                UNDEFINED,
                number=task.number,
                title=task.title,
                reason=question.reason,
            )
            continue
        gone = dict.fromkeys(
            label
            for (_, name), contest in contests.items()
            if name == task.question
            for label in contest.left_out(task.metrics[0])
        )
        if gone:
            yield notice("left_out_labels", LEFT_OUT, number=task.number, labels=tuple(gone))
        if task.key in preset:
            all_methods = len(preset[task.key]) == len({run.method for run in study.runs})
            whom = "any method" if all_methods else joined(preset[task.key])
            yield notice("preset_score", PRESET, number=task.number, whom=whom)
        if task.key == "uncertain":
            yield notice("uncertain_images", RESTS_ON, images=uncertain_images(question))


def _study_notices(study: MethodRuns, blank: Names) -> Iterable[Notice]:
    """What is known before a task is asked."""
    single = [run.method for run in study.runs if "EU" not in run.parts["test"].scores]
    if single:
        yield notice("one_member", ONE_MEMBER, methods=tuple(dict.fromkeys(single)))
    weak = [severity for severity in study.corruptions if not severity.reached]
    if weak:
        names = tuple(severity.corruption for severity in weak)
        yield notice("weak_corruptions", WEAK, names=names, goal=weak[0].goal)
    for part, files in study.lacking.items():
        yield notice("lacking_part", LACKING, files=files, part=part)
    if blank:
        yield notice("blank_labels", BLANK, labels=blank)

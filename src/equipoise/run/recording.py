"""Recording: turn an evaluation into the record of a run.

Nothing in it depends on when or where it was made: the same inputs and seed give the same
bytes, as long as the files lie in the same way around the folder of the run. What is shown of
predicted probabilities is recorded only where models gave class probabilities, or where a
metric that was asked for takes the scores of a yes/no question as probabilities.
"""

import hashlib
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np

from equipoise.analyses.annotators import annotator_rows as rows_of_annotators
from equipoise.analyses.truth_certainty import vote_certainty, votes_for_classes
from equipoise.arrays import Floats, PerItem
from equipoise.evaluation import LABELS, Evaluation
from equipoise.evaluation.blocks import every_class, majority
from equipoise.evaluation.truth import TaskTruth
from equipoise.findings.json import plain
from equipoise.metrics import (
    hard_labels_rule,
    item_scores,
    named,
    parsed,
    reliability_curve,
    retained_samples_curve,
    worst_items,
)
from equipoise.notices import worded
from equipoise.run.folder import Run
from equipoise.run.record import (
    AnnotatorRow,
    Bins,
    Calibration,
    CertaintyRow,
    ClassShares,
    ClassVotes,
    DatasetRecord,
    HardestRow,
    HardItem,
    InfluentialItem,
    InfluentialRow,
    InputFile,
    MetricRecord,
    PairDifference,
    Question,
    RankCorrelation,
    RankShares,
    ReliabilityRow,
    RetainedCurve,
    RetainedRow,
    RunRecord,
    RunSettings,
    Score,
    TruthModel,
    TruthRow,
    read,
)

PACKAGES = ("numpy", "numba", "scipy", "pyarrow")
TRUTH_BINS = 20
BINS = 10  # of reliability
MOST = 10  # hardest items that are named
CLASSES = 6  # classes shown per item
ROUNDING = 1e-3  # by how much probabilities may miss 1
PROPER = ("ranked_probability_score", "brier_score", "log_score")
OTHERWISE = "brier_score"
AREA = "retained_samples_area"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an evaluation comes from.

    Attributes
    ----------
    title
        Heading of the page.
    inputs
        What was read, see `hashed`.
    annotators
        Names behind the annotator codes; empty for anonymous votes.
    soft, hard
        How soft and hard labels were made; None is by the rule of the evaluation.
    simulated
        A sentence to show first when any part of the data is simulated.
    question
        How the labels were read, see `equipoise.run.record.question`.
    truth_model
        How the truth was made where it is not the votes themselves.
    dataset
        The public data set that was read in place of files.
    """

    title: str = "Evaluation"
    inputs: tuple[InputFile, ...] = ()
    annotators: tuple[str, ...] = ()
    soft: str = "mean vote"
    hard: str | None = None
    simulated: str | None = None
    question: Question = field(default_factory=Question)
    truth_model: TruthModel | None = None
    dataset: DatasetRecord | None = None


def hashed(role: str, paths: Sequence[Path], home: Path | None = None) -> tuple[InputFile, ...]:
    """Name, hash and size of the files that were read.

    Parameters
    ----------
    home
        The folder that results are written to, if they are: each row then has the ``path``
        from there to its file, so that the file is found again.
    """
    rows = []
    for path in paths:
        data = Path(path).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        way = None if home is None else route(home, path)
        rows.append(
            InputFile(role=role, name=path.name, sha256=digest, bytes=len(data), path=way)
        )
    return tuple(rows)


def route(home: Path, path: Path) -> str:
    """The way from a folder to a file, with slashes; absolute only where there is no other.

    Examples
    --------
    >>> route(Path("pages/study"), Path("data/votes.csv"))
    '../../data/votes.csv'
    """
    try:
        return Path(os.path.relpath(path, home)).as_posix()
    except ValueError:  # on another drive
        return Path(path).absolute().as_posix()


def record(evaluation: Evaluation, provenance: Provenance) -> Run:
    """Make the run of an evaluation."""
    names = [metric.name for metric in evaluation.metrics]
    where = [(task, name) for task in evaluation.tasks for name in names]
    every = list(predicted(evaluation))
    areas = [name for name in names if parsed(name)[0] == AREA]
    people = provenance.annotators
    made = RunRecord(
        title=provenance.title,
        simulated=provenance.simulated,
        equipoise=version("equipoise"),
        versions={
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
        dataset=provenance.dataset,
        inputs=provenance.inputs,
        question=provenance.question,
        truth_model=() if provenance.truth_model is None else (provenance.truth_model,),
        settings=_settings(evaluation, provenance),
        tasks=evaluation.tasks,
        models=evaluation.models,
        labels=LABELS,
        metrics=tuple(_metric(evaluation, name) for name in names),
        rows=_scores(evaluation),
        differences=tuple(
            PairDifference(**one._asdict())
            for task, name in where
            for labels in LABELS
            for one in evaluation.differences(name, labels=labels, task=task)
        ),
        rank_probabilities=tuple(
            RankShares(
                task=task,
                metric=name,
                labels=labels,
                matrix=evaluation.rank_probabilities(name, labels=labels, task=task),
            )
            for task, name in where
            for labels in LABELS
        ),
        rank_correlation=tuple(
            RankCorrelation(**evaluation.rank_correlation(name, task=task)._asdict())
            for task, name in where
        ),
        annotators=annotator_rows(evaluation.questions, people),
        truth=tuple(truth_row(one) for one in evaluation.questions),
        certainty=_certainty(evaluation, people),
        influential=_influential(evaluation),
        reliability=tuple(_reliability(one) for one in every),
        hardest=tuple(_hardest(one, names, people) for one in every),
        retained=tuple(_retained(one, name) for one in every for name in areas),
        notices=tuple(worded(evaluation.notices)),
    )
    return Run(made, evaluation.replicates.astype(np.float64, copy=False))


def _settings(evaluation: Evaluation, provenance: Provenance) -> RunSettings:
    plan = evaluation.plan
    group = None
    if evaluation.population.items and plan.group is not None:
        group = f"{int(plan.group.max()) + 1} groups of items"
    return RunSettings(
        resample=plan.kind,
        resample_reason=plan.reason,
        replicates=plan.replicates,
        seed=plan.seed,
        plan=plan.fingerprint,
        level=evaluation.level,
        interval=evaluation.interval,
        population=evaluation.population.whom,
        effective_annotators=evaluation.population.effective,
        decides=evaluation.population.decides,
        margin=evaluation.margin,
        matters=evaluation.matters,
        soft=provenance.soft,
        hard=_hard_rule(evaluation) if provenance.hard is None else provenance.hard,
        group=group,
        scope=evaluation.population.scope,
        items_redrawn=evaluation.population.items,
        all_panels_of=0 if plan.weights is None else plan.panel_size,
    )


def _hard_rule(evaluation: Evaluation) -> str:
    """How hard labels were made of votes."""
    questions, kinds = evaluation.questions, [one.labels for one in evaluation.metrics]
    classes = max(len(one.classes) for one in questions)
    return hard_labels_rule(kinds, classes=classes, ties=questions[0].ties)


def _metric(evaluation: Evaluation, name: str) -> MetricRecord:
    metric = next(one for one in evaluation.metrics if one.name == name)
    return MetricRecord(
        name=metric.name,
        title=metric.title,
        soft_title=metric.soft_title,
        better=metric.better,
        bounds=metric.bounds,
        definition=metric.definition,
        labels=metric.labels,
    )


def _scores(evaluation: Evaluation) -> tuple[Score, ...]:
    return tuple(Score(**row._asdict()) for row in evaluation.table())


def _certainty(evaluation: Evaluation, people: Sequence[str]) -> tuple[CertaintyRow, ...]:
    every = [vote_certainty(one, people) for one in evaluation.questions]
    return tuple(read(CertaintyRow, one.as_json()) for one in every if one is not None)


def _influential(evaluation: Evaluation) -> tuple[InfluentialRow, ...]:
    columns = ("soft_label", "votes", "position_a", "position_b", "influence")
    made = []
    for one in evaluation.influential:
        facts = asdict(one)
        values = zip(*(facts[name].tolist() for name in columns), strict=True)
        items = [
            InfluentialItem(item=item, **dict(zip(columns, row, strict=True)))
            for item, row in zip(one.items, values, strict=True)
        ]
        made.append(
            InfluentialRow(
                task=one.task, metric=one.metric, a=one.a, b=one.b, items=tuple(items)
            )
        )
    return tuple(made)


# ---- the truth -----------------------------------------------------------------------------


def truth_row(truth: TaskTruth) -> TruthRow:
    """Numbers about one task's truth.

    Bins of the histogram are closed on the right, so that a share of exactly one half lies
    below the majority. With several classes, ``positives_hard`` counts items with a strict
    majority, and ``mean_soft`` and the histogram speak of the largest share.
    """
    top = truth.shares.max(axis=0)
    sizes = np.zeros(len(top)) if truth.votes is None else truth.votes.sizes
    place = np.clip(np.ceil(top * TRUTH_BINS - 1e-9).astype(np.intp) - 1, 0, TRUTH_BINS - 1)
    sure = (top == 1.0) | ((top == 0.0) & (len(truth.classes) == 1))
    return TruthRow(
        task=truth.task,
        items=len(truth.items),
        from_votes=truth.votes is not None,
        votes=int(sizes.sum()),
        votes_per_item=(int(sizes.min()), float(np.median(sizes)), int(sizes.max())),
        positives_hard=int(np.stack(majority(truth.shares)).max(axis=0).sum()),
        mean_soft=float(top.mean()),
        unanimous=int(sure.sum()),
        no_majority=int(truth.tied.sum()),
        ties=truth.ties,
        single_vote=truth.single,
        classes=tuple(truth.classes),
        histogram=Bins(
            edges=tuple((np.arange(TRUTH_BINS + 1) / TRUTH_BINS).tolist()),
            counts=tuple(np.bincount(place, minlength=TRUTH_BINS).tolist()),
        ),
        gold=0 if truth.votes is None else int(truth.votes.gold.sum()),
    )


def annotator_rows(
    truths: Sequence[TaskTruth], names: Sequence[str]
) -> tuple[AnnotatorRow, ...]:
    """Votes, base rate and agreement with the others, by task and annotator."""
    return tuple(read(AnnotatorRow, plain(row)) for row in rows_of_annotators(truths, names))


# ---- predicted probabilities ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Predicted:
    """What the models predicted for one task.

    Attributes
    ----------
    truth
        The truth of the task.
    classes
        Names of all classes, also the negative one of a yes/no question.
    labels
        Soft labels, shape (items, classes).
    models
        Predicted distributions by model, each of shape (items, classes).
    """

    truth: TaskTruth
    classes: tuple[str, ...]
    labels: Floats
    models: Mapping[str, Floats]

    def item_scores(self, metric: str, model: str) -> PerItem:
        """Scores of one model, item by item."""
        return item_scores(metric, self.labels, self.models[model])


def predicted(evaluation: Evaluation) -> Iterator[Predicted]:
    """What can be read as probabilities, task by task.

    Class probabilities can, unless the truth lacks some of the classes; decisions (0 and 1
    alone) cannot. Scores of a yes/no
    question are only read so when a metric of probabilities was asked for, because then they
    were given as such.
    """
    asked = any(metric.needs == "probabilities" for metric in evaluation.metrics)
    for truth, scores in zip(evaluation.questions, evaluation.scores, strict=False):
        several = len(truth.classes) > 1
        readable = _whole if several else _inside
        scores = {model: one for model, one in scores.items() if not _plain_answers(one)}
        if scores and (asked or several) and all(map(readable, scores.values())):
            yield Predicted(
                truth,
                _class_names(truth),
                np.stack(every_class(truth.shares), axis=1),
                {model: _distribution(one) for model, one in scores.items()},
            )


def _plain_answers(scores: Floats) -> bool:
    """Whether these are decisions, which are no probabilities."""
    return bool(((scores == 0) | (scores == 1)).all())


def _inside(scores: Floats) -> bool:
    return bool(((scores >= 0) & (scores <= 1)).all())


def _whole(scores: Floats) -> bool:
    return bool((np.abs(scores.sum(axis=1) - 1) <= ROUNDING).all())


def _distribution(scores: Floats) -> Floats:
    """Distributions over all classes that add up to 1."""
    if scores.ndim == 1:
        return np.stack([1 - scores, scores], axis=1)
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def _class_names(truth: TaskTruth) -> tuple[str, ...]:
    """All classes of a task."""
    if len(truth.classes) > 1:
        return truth.classes
    both = truth.answers if truth.plausible is None else truth.plausible.classes
    return both if len(both) == 2 else (f"not {truth.classes[0]}", truth.classes[0])


def _reliability(one: Predicted) -> ReliabilityRow:
    """Bins of every model, and how far they lie from the diagonal on average.

    With two classes the second is what is predicted, else the class the model holds likeliest.
    """
    rows = []
    for model, distribution in one.models.items():
        curve = reliability_curve(one.labels, distribution, bins=BINS)
        share = curve.items / curve.items.sum()
        rows.append(
            Calibration(
                model=model,
                error=float((share * np.abs(curve.predicted - curve.observed)).sum()),
                predicted=float((share * curve.predicted).sum()),
                observed=float((share * curve.observed).sum()),
                bins=tuple(zip(*(axis.tolist() for axis in curve), strict=True)),
            )
        )
    return ReliabilityRow(
        task=one.truth.task,
        items=len(one.truth.items),
        bins=BINS,
        class_=one.classes[1] if len(one.classes) == 2 else None,
        from_votes=one.truth.votes is not None,
        models=tuple(rows),
    )


def _hardest(one: Predicted, metrics: Sequence[str], people: Sequence[str]) -> HardestRow:
    """The items on which the best model does worst, by the first proper score asked for."""
    name, means = _first_score(one, metrics)
    model = min(means, key=lambda each: means[each])
    items, metric = one.truth.items, named(name)
    return HardestRow(
        task=one.truth.task,
        metric=metric.name,
        title=metric.soft_title,
        asked=metric.name in metrics,
        model=model,
        mean=means[model],
        items_scored=len(items),
        classes=tuple(one.classes) if len(one.classes) <= CLASSES else (),
        from_votes=one.truth.votes is not None,
        items=tuple(
            _hard_item(one, model, items.index(each.item), each.score, people)
            for each in worst_items(name, one.labels, one.models[model], items, MOST)
        ),
    )


def _first_score(one: Predicted, metrics: Sequence[str]) -> tuple[str, dict[str, float]]:
    """The first proper score that some model has finite, and the mean of every model."""
    asked = [name for name in metrics if parsed(name)[0] in PROPER]
    for name in [*asked, OTHERWISE]:
        means = {model: float(np.mean(one.item_scores(name, model))) for model in one.models}
        if np.isfinite(list(means.values())).any():
            break
    return name, means


def _hard_item(
    one: Predicted, model: str, i: int, score: float, people: Sequence[str]
) -> HardItem:
    """What was predicted and what was said of one item, in the order of the classes."""
    distribution, votes = one.models[model], one.truth.votes
    weight = np.maximum(distribution[i], one.labels[i])
    shown = np.sort(np.argsort(-weight, kind="stable")[:CLASSES])
    counts: tuple[ClassVotes, ...] = ()
    if votes is not None and len(one.truth.answers) == len(one.classes):
        told = votes_for_classes(votes, one.truth.answers, people, i)
        counts = tuple(
            ClassVotes(class_=each.name, votes=each.votes, who=each.who or ()) for each in told
        )
    return HardItem(
        item=one.truth.items[i],
        score=score,
        shares=tuple(
            ClassShares(
                class_=one.classes[k],
                predicted=float(distribution[i, k]),
                observed=float(one.labels[i, k]),
            )
            for k in shown
        ),
        votes=None if votes is None else int(votes.sizes[i]),
        counts=counts,
    )


def _retained(one: Predicted, name: str) -> RetainedRow:
    """Curve of every model over the fraction of items removed."""
    how = parsed(name)[1]
    curves = {
        model: retained_samples_curve(one.labels, distribution, **how)
        for model, distribution in one.models.items()
    }
    return RetainedRow(
        task=one.truth.task,
        metric=named(name).name,
        removed=tuple(next(iter(curves.values()))[0].tolist()),
        models=tuple(
            RetainedCurve(model=model, heights=tuple(heights.tolist()))
            for model, (_, heights) in curves.items()
        ),
    )

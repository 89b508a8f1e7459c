r"""Gold: models and annotators side by side, where the truth of items is known.

Rows marked ``is_gold`` are the truth, not somebody's vote. On the items that have any, an
annotator can be scored like a model, and a model against each annotator on the items that this
annotator read:

- *yes or no*: accuracy, sensitivity and specificity of annotators, AUROC of models, and the
  gain of a model over an annotator: its sensitivity at the annotator's specificity, less the
  annotator's. Between two thresholds the ROC curve of a model is a straight line, and at a
  specificity that it reaches at several thresholds the highest sensitivity counts;
- *grades*: accuracy and quadratic weighted kappa, and the gain in the latter;
- *classes*: accuracy, and the gain in it.

Intervals resample items, whole groups where there are any: they hold for items like these and
for each annotator as a person. A share p with the variance V of its resamples has Wilson's
interval for :math:`n = \min(p (1 - p) / V, \text{items})` trials; where V is 0, such as for a
sensitivity of 1, n is the number of items or groups. So it has a width with few positives too.
The gain of shares combines their intervals with the correlation r of their resamples
(Newcombe):

.. math:: \text{low} = (a - b) - \sqrt{(a - l_a)^2 - 2 r (a - l_a)(u_b - b) + (u_b - b)^2}

Kappa and AUROC have percentile intervals.

References
----------
Newcombe, *Improved confidence intervals for the difference between binomial proportions based
on paired data*, Statistics in Medicine 1998.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> readings, scores = reading_study()
>>> settled = np.flatnonzero(readings.annotator == 0)
>>> known = replace(readings, is_gold=np.isin(np.arange(len(readings)), settled))
>>> found = gold(scores, known, replicates=50)
>>> [one.who for one in found.scores if one.kind == "annotator"][:2]
['Dr Baker', 'Dr Chen']
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.inference.estimate import Estimate, wilson
from equipoise.inference.resampling import Resampling, resample
from equipoise.metrics import named
from equipoise.study.alignment import Aligned
from equipoise.study.analyses.scoring import Given, TaskScorer, study_of, task_scorer
from equipoise.study.analyses.words import BRACKETS, as_notices
from equipoise.study.study import Study
from equipoise.study.truth import TaskTruth
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, Ints, short_repr
from equipoise.types.findings import Cell, Column, Dot, Dots, Finding, Table, columns, spanned
from equipoise.types.notices import Notice, notice
from equipoise.types.numbers import count, exact_percent, number
from equipoise.types.votes import row_weights
from equipoise.types.words import capital, joined

KEY, TITLE = "gold", "Models and annotators against adjudicated gold"
MOST = 100  # annotators that are scored, those who read most
CELLS = 2**24  # of item counts at a time
VERSUS = "versus"  # what models reach against an annotator, among the statistics of it
NAN = math.nan
HEADS = {
    "accuracy": "accuracy",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "kappa": "weighted kappa",
    "auroc": "AUROC",
}
GAINS = {
    "sensitivity": "gain in sensitivity at the annotator's specificity",
    "kappa": "gain in weighted kappa",
    "accuracy": "gain in accuracy",
}
BETTER = {
    "sensitivity": ("finds more positives than", "fewer than", "finds fewer positives than"),
    "kappa": ("grades better than", "worse than", "grades worse than"),
    "accuracy": ("is right more often than", "less often than", "is right less often than"),
}
NOTE = (
    "Only items with gold count; a vote counts as a decision. Each annotator is scored on the "
    "items that this annotator read, and so is each model in the comparison with this "
    "annotator. Intervals resample items: they hold for items like these, each comparison by "
    "itself. Where gold was adjudicated among these annotators it leans towards them."
)
METHODS = (
    "Models and annotators were scored against adjudicated gold on the items that each "
    "annotator read; intervals are Wilson's with the variance of resampled items, and "
    "differences combine them [@wilson1927; @newcombe1998]."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldScore:
    """A model or an annotator against gold; nan is undefined, or does not apply.

    Attributes
    ----------
    who, kind
        The name, and whether it is a ``model`` or an ``annotator``.
    items, positives
        How many gold items count for it, and how many of them are positive.
    """

    task: str
    who: str
    kind: str
    items: int
    positives: int = 0
    accuracy: float = NAN
    accuracy_low: float = NAN
    accuracy_high: float = NAN
    sensitivity: float = NAN
    sensitivity_low: float = NAN
    sensitivity_high: float = NAN
    specificity: float = NAN
    specificity_low: float = NAN
    specificity_high: float = NAN
    kappa: float = NAN
    kappa_low: float = NAN
    kappa_high: float = NAN
    auroc: float = NAN
    auroc_low: float = NAN
    auroc_high: float = NAN


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldGain:
    """A model less an annotator, on the items that the annotator read.

    Attributes
    ----------
    measure
        ``sensitivity`` (at the annotator's specificity), ``kappa`` or ``accuracy``.
    model_value, annotator_value
        What is compared.
    """

    task: str
    model: str
    annotator: str
    items: int
    measure: str
    model_value: float
    annotator_value: float
    gain: float
    gain_low: float
    gain_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """What `gold` returns.

    Attributes
    ----------
    scores, gains
        Models and annotators by themselves, and each model against each annotator.
    level
        Level of the intervals.
    notices
        What the user should know.
    """

    scores: tuple[GoldScore, ...]
    gains: tuple[GoldGain, ...]
    level: float
    notices: tuple[Notice, ...] = ()

    __repr__ = short_repr

    def rows(self) -> list[dict[str, Cell]]:
        """One row per task and model or annotator."""
        return [asdict(score) for score in self.scores]

    def gain_rows(self) -> list[dict[str, Cell]]:
        """One row per task, model and annotator."""
        return [asdict(gain) for gain in self.gains]

    @property
    def finding(self) -> str:
        """What came out, as a sentence per task."""
        tasks = dict.fromkeys(score.task for score in self.scores)
        return " ".join(_sentence(self, task) for task in tasks)

    def report(self) -> Finding:
        """The finding for every surface."""
        tasks = list(dict.fromkeys(score.task for score in self.scores))
        first, *more = (_sentence(self, task) for task in tasks)
        return Finding(
            key=KEY,
            title=TITLE,
            sentence=first,
            more=tuple(more),
            tables=(
                self._score_table("annotator"),
                self._score_table("model"),
                self._gain_table(),
            ),
            charts=tuple(self._chart(task) for task in tasks),
            note=NOTE,
            methods=METHODS,
            references=("wilson1927", "newcombe1998"),
            notices=self.notices,
        )

    def _score_table(self, kind: str) -> Table:
        scores = [score for score in self.scores if score.kind == kind]
        yes_no = any(gain.measure == "sensitivity" for gain in self.gains)
        statistics = [
            spanned(key, head)
            for key, head in HEADS.items()
            if any(math.isfinite(getattr(score, key)) for score in scores)
        ]
        return Table(
            name=f"gold_{kind}s",
            caption=f"{capital(kind)}s against gold",
            columns=(
                Column("task", "task"),
                Column("who", kind, "model" if kind == "model" else "text"),
                Column("items", "items", "count"),
                *(columns(positives="count") if yes_no else ()),
                *statistics,
            ),
            rows=[asdict(score) for score in scores],
            legend=BRACKETS,
        )

    def _gain_table(self) -> Table:
        heads = {gain.measure: GAINS[gain.measure] for gain in self.gains}
        return Table(
            name="gold_gains",
            caption="Models against each annotator, on the items that the annotator read",
            columns=(
                *columns(task="text", model="model", annotator="text", items="count"),
                Column("model_value", "model", "number"),
                Column("annotator_value", "annotator's", "number"),
                spanned("gain", joined(list(heads.values()), "or"), "change"),
            ),
            rows=self.gain_rows(),
        )

    def _chart(self, task: str) -> Dots:
        gains = [gain for gain in self.gains if gain.task == task]
        what = GAINS[gains[0].measure]
        place = f" ({task})" if task else ""
        return Dots(
            name="-".join(filter(None, ["gold", task])),
            caption=f"Models against each annotator{place}: {what}, with its "
            f"{exact_percent(self.level)} interval over items",
            axis=what,
            rows=[
                Dot(gain.annotator, gain.gain, gain.gain_low, gain.gain_high, model=gain.model)
                for gain in gains
            ],
            zero=True,
        )


def gold(predictions: Given, annotations: Annotations, **how: Any) -> Gold:
    """Score models and annotators against gold.

    Parameters
    ----------
    predictions, annotations
        As for `equipoise.evaluate`; the annotations have rows marked ``is_gold``.
    **how
        As for `equipoise.study.analyses.scoring.study_of`.
    """
    return gold_of(study_of(predictions, annotations, how))


def gold_of(study: Study) -> Gold:
    """The same of a study."""
    table, level = _checked(study.annotations), study.settings.level
    aligned, notices = study.aligned, study.dropped
    plan = resample(table, "items", replicates=study.plan.replicates, seed=study.seed)
    tasks = [task for task_aligned in aligned for task in _tasks(task_aligned, table)]
    if not tasks:
        raise InputError(
            KEY,
            "no annotator with a vote on an item that has gold",
            "gold labels and annotators' votes on the same items",
            "keep the annotators' own rows beside the gold rows",
        )
    scores: list[GoldScore] = []
    gains: list[GoldGain] = []
    for done, task in enumerate(tasks, 1):
        task_scores, versus = _scored(task, plan, level)
        scores += task_scores
        gains += versus
        study.tell(done, len(tasks))
    all_notices = as_notices(notices, _left_aside(tasks))
    return Gold(
        scores=tuple(scores),
        gains=tuple(gains),
        level=level,
        notices=all_notices,
    )


def analyse(study: Study) -> Finding:
    """Models and annotators of a study against gold."""
    return gold_of(study).report()


def _checked(table: Annotations) -> Annotations:
    """Annotations that have gold, annotators and classes."""
    if table.is_gold is None or not table.is_gold.any():
        do = "mark the rows that hold the truth in a column is_gold"
        raise InputError(KEY, "no gold rows", "gold labels and annotators' votes", do)
    if table.annotator is None:
        do = "give the annotators' names"
        raise InputError(KEY, "anonymous votes", "gold labels and annotators' votes", do)
    if table.kind not in ("binary", "nominal", "ordinal"):
        do = "ask a yes/no question of them"
        raise InputError(KEY, f"{table.kind} labels", "classes, grades, or yes and no", do)
    return table


# ---- one task ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """An annotator: the name, the gold items that were read, and what was said, (items, K)."""

    name: str
    rows: Ints
    said: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """A task with its gold items and those who read them."""

    aligned: Aligned
    readers: list[_Reader]
    others: int
    measures: "_YesNo | _Classes"


def _tasks(aligned: Aligned, table: Annotations) -> Iterator[_Task]:
    """The task with its gold items alone, if anybody read some."""
    votes = aligned.question.votes
    assert votes is not None
    keep = votes.gold
    if not keep.any():
        return
    question = aligned.question.subset(keep)
    on_gold = replace(
        aligned,
        question=question,
        scores={model: values[keep] for model, values in aligned.scores.items()},
    )
    readers = sorted(_readers(table, question), key=lambda reader: -len(reader.rows))
    if readers:
        measures = _YesNo(on_gold) if len(question.classes) == 1 else _Classes(on_gold)
        yield _Task(on_gold, readers[:MOST], len(readers) - MOST, measures)


def _readers(table: Annotations, question: TaskTruth) -> Iterator[_Reader]:
    """Annotators with votes of their own on gold items; several votes on one are averaged."""
    assert table.annotator is not None and table.is_gold is not None
    assert table.label is not None
    place = np.full(len(table.items), -1)
    place[question.place] = np.arange(len(question.items))
    use = table.in_task(question.task) & ~table.is_gold & (place[table.item] >= 0)
    votes = np.flatnonzero(use)
    weight = row_weights(table, votes)
    for code in np.unique(table.annotator[votes]):
        of_reader = table.annotator[votes] == code
        rows = votes[of_reader]
        mass = np.zeros((len(question.items), len(table.classes)))
        np.add.at(mass, (place[table.item[rows]], table.label[rows]), weight[of_reader])
        total = mass.sum(axis=1)
        read = np.flatnonzero(total > 0)
        names = table.annotators or ()
        yield _Reader(names[code], read, mass[read] / total[read, None])


class _YesNo:
    """Sensitivity and specificity; `compared` is the sensitivity at equal specificity."""

    measure = "sensitivity"

    def __init__(self, aligned: Aligned) -> None:
        self.truth = aligned.question.hard[0]
        self.scores = list(aligned.scores.values())
        self.scorer = task_scorer(aligned, named("auroc"), "hard")
        self.shares = list(aligned.question.shares)

    def of_reader(self, reader: _Reader, counts: NDArray[np.uint8]) -> dict[str, Floats]:
        """Accuracy, sensitivity and specificity."""
        times, yes = counts[reader.rows].astype(np.float64), self.truth[reader.rows]
        answers = reader.said[:, 1]
        right = np.where(yes == 1, answers, 1 - answers)
        return {
            "accuracy": _ratio(right @ times, times.sum(axis=0)),
            "sensitivity": _ratio((right * yes) @ times, yes @ times),
            "specificity": _ratio((right * (1 - yes)) @ times, (1 - yes) @ times),
        }

    def of_models(self, counts: NDArray[np.uint8]) -> dict[str, Floats]:
        """AUROC."""
        return {"auroc": self.scorer.scored(self.shares, counts)}

    def compared(
        self, reader: _Reader, counts: NDArray[np.uint8], values: dict[str, Floats]
    ) -> Floats:
        """Sensitivity of every model at the specificity of the annotator."""
        rows, times = reader.rows, counts[reader.rows]
        sensitivities = [
            sensitivity_at(scores[rows], self.truth[rows], times, values["specificity"])
            for scores in self.scores
        ]
        return np.stack(sensitivities)


class _Classes:
    """Accuracy, and quadratic weighted kappa where classes are grades."""

    def __init__(self, aligned: Aligned) -> None:
        question = aligned.question
        self.shares = list(question.shares)
        self.scorers: dict[str, TaskScorer] = {
            "accuracy": task_scorer(aligned, named("accuracy"), "hard")
        }
        if question.ordered:
            kappa = named("quadratic_weighted_kappa")
            self.scorers["kappa"] = task_scorer(aligned, kappa, "hard")
        self.measure = "kappa" if question.ordered else "accuracy"

    def of_reader(self, reader: _Reader, counts: NDArray[np.uint8]) -> dict[str, Floats]:
        """Accuracy, and kappa of grades."""
        answers = np.full((len(counts), reader.said.shape[1]), 1 / reader.said.shape[1])
        answers[reader.rows] = reader.said
        times = _only(counts, reader)
        return {
            name: scorer.scored(self.shares, times, [scorer.prepare(answers)])[0]
            for name, scorer in self.scorers.items()
        }

    def of_models(self, counts: NDArray[np.uint8]) -> dict[str, Floats]:
        """The same of models."""
        return {
            name: scorer.scored(self.shares, counts) for name, scorer in self.scorers.items()
        }

    def compared(
        self, reader: _Reader, counts: NDArray[np.uint8], values: dict[str, Floats]
    ) -> Floats:
        """The measure of every model on the items of the annotator."""
        del values
        return self.scorers[self.measure].scored(self.shares, _only(counts, reader))


def _only(counts: NDArray[np.uint8], reader: _Reader) -> NDArray[np.uint8]:
    """Counts of the items that an annotator read; the others do not stand in any replicate."""
    times = np.zeros_like(counts)
    times[reader.rows] = counts[reader.rows]
    return times


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)


def sensitivity_at(
    scores: Floats, truth: Floats, counts: NDArray[np.uint8], specificity: Floats
) -> Floats:
    """Sensitivity at a specificity, in each replicate.

    Parameters
    ----------
    scores, truth
        Scores, and 1 for positive items, shape (items,).
    counts
        How often each item counts, shape (items, replicates).
    specificity
        Shape (replicates,).

    Examples
    --------
    >>> once = np.ones((4, 1), dtype=np.uint8)
    >>> truth, scores = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.9, 0.8, 0.7, 0.1])
    >>> [float(sensitivity_at(scores, truth, once, np.array([s]))[0]) for s in (1.0, 0.75, 0.5)]
    [0.5, 0.5, 1.0]
    """
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.diff(scores[order], append=-np.inf) != 0)
    times = counts[order].astype(np.float64)
    start = np.zeros((1, counts.shape[1]))
    hits, alarms = (
        np.concatenate([start, np.cumsum(times * kind[order, None], axis=0)[last]])
        for kind in (truth, 1 - truth)
    )
    allowed = (1 - specificity) * alarms[-1]
    below = (alarms <= allowed + 1e-9).sum(axis=0) - 1
    above = np.minimum(below + 1, len(alarms) - 1)
    here = np.arange(counts.shape[1])
    step = alarms[above, here] - alarms[below, here]
    part = _ratio(allowed - alarms[below, here], step)
    reached = hits[below, here] + np.nan_to_num(part) * (hits[above, here] - hits[below, here])
    return np.where(np.isnan(specificity), np.nan, _ratio(reached, hits[-1]))


# ---- values and intervals ------------------------------------------------------------------


class Trials(NamedTuple):
    """How many items a share is of, and how many units (items or groups) these are."""

    items: int
    units: int


def _scored(
    task: _Task, plan: Resampling, level: float
) -> tuple[list[GoldScore], list[GoldGain]]:
    """All statistics of a task, with their intervals."""
    question, measure = task.aligned.question, task.measures.measure
    *readers, models = _drawn(task, plan)
    scores, gains = [], []
    for reader, statistics in zip(task.readers, readers, strict=True):
        versus = statistics.pop(VERSUS)
        trials = _trials(question, plan, reader.rows)
        scores.append(_score(question, (reader.name, "annotator"), statistics, trials, level))
        for model, reached in zip(task.aligned.scores, versus, strict=True):
            low, high = _gain_ends(reached, statistics[measure], trials.get(measure), level)
            gains.append(
                GoldGain(
                    task=question.task,
                    model=model,
                    annotator=reader.name,
                    items=len(reader.rows),
                    measure=measure,
                    model_value=float(reached[0]),
                    annotator_value=float(statistics[measure][0]),
                    gain=float(reached[0] - statistics[measure][0]),
                    gain_low=low,
                    gain_high=high,
                )
            )
    trials = _trials(question, plan, np.arange(len(question.items)))
    for m, model in enumerate(task.aligned.scores):
        statistics = {name: replicates[m] for name, replicates in models.items()}
        scores.append(_score(question, (model, "model"), statistics, trials, level))
    return scores, gains


def _drawn(task: _Task, plan: Resampling) -> list[dict[str, Floats]]:
    """Statistics of the data as they are, then of every replicate: the last axis."""
    place = task.aligned.question.place
    width = max(1, CELLS // len(place))
    parts = [_statistics(task, np.ones((len(place), 1), dtype=np.uint8))]
    for first in range(0, plan.replicates, width):
        counts = plan.item_counts(first, min(first + width, plan.replicates))
        parts.append(_statistics(task, counts[place]))
    return [
        {name: np.concatenate([part[name] for part in same], axis=-1) for name in same[0]}
        for same in zip(*parts, strict=True)
    ]


def _statistics(task: _Task, counts: NDArray[np.uint8]) -> list[dict[str, Floats]]:
    """Those of each annotator, with what models reach against it, and last of the models."""
    statistics = []
    for reader in task.readers:
        of_reader = task.measures.of_reader(reader, counts)
        statistics.append(
            {**of_reader, VERSUS: task.measures.compared(reader, counts, of_reader)}
        )
    return [*statistics, task.measures.of_models(counts)]


def _trials(question: TaskTruth, plan: Resampling, rows: Ints) -> dict[str, Trials]:
    """Of how many items each share is."""
    of = {"accuracy": rows}
    if len(question.classes) == 1:
        yes = question.hard[0][rows] == 1
        of |= {"sensitivity": rows[yes], "specificity": rows[~yes]}
    unit = question.place if plan.group is None else plan.group[question.place]
    return {name: Trials(len(rows), len(np.unique(unit[rows]))) for name, rows in of.items()}


def _score(
    question: TaskTruth,
    who: tuple[str, str],
    statistics: dict[str, Floats],
    trials: dict[str, Trials],
    level: float,
) -> GoldScore:
    """A model or an annotator with its statistics."""
    numbers: dict[str, float] = {}
    for name, values in statistics.items():
        if name in trials:
            low, high = _share(values, trials[name], level)
        else:
            drawn = Estimate(float(values[0]), values[1:], "", (-1.0, 1.0))
            low, high = drawn.interval(level)
        numbers |= {name: float(values[0]), f"{name}_low": low, f"{name}_high": high}
    positives = trials["sensitivity"].items if "sensitivity" in trials else 0
    return GoldScore(
        task=question.task,
        who=who[0],
        kind=who[1],
        items=trials["accuracy"].items,
        positives=positives,
        **numbers,
    )


def _share(values: Floats, trials: Trials, level: float) -> tuple[float, float]:
    """Wilson's interval for as many trials as the spread of the resamples stands for."""
    value = float(values[0])
    if math.isnan(value):
        return NAN, NAN
    spread = float(np.nanvar(values[1:])) if np.isfinite(values[1:]).any() else 0.0
    return share_interval(value, spread, trials, level)


def share_interval(
    share: float, variance: float, trials: Trials, level: float
) -> tuple[float, float]:
    """Wilson's interval of a share, for as many trials as its variance stands for."""
    binomial = share * (1 - share)
    defined = variance > 0 and binomial > 0
    number = min(binomial / variance, trials.items) if defined else float(trials.units)
    return wilson(share * number, number, level)


def _gain_ends(
    model: Floats, annotator: Floats, trials: Trials | None, level: float
) -> tuple[float, float]:
    """Ends of a paired difference: of two shares, or of anything else."""
    if trials is None or math.isnan(model[0] + annotator[0]):
        return Estimate(float(model[0] - annotator[0]), model[1:] - annotator[1:], "").interval(
            level
        )
    fine = np.isfinite(model[1:]) & np.isfinite(annotator[1:])
    both = np.stack([model[1:][fine], annotator[1:][fine]])
    varied = both.shape[1] > 1 and bool((both.std(axis=1) > 0).all())
    alike = float(np.corrcoef(both)[0, 1]) if varied else 0.0
    a, b = float(model[0]), float(annotator[0])
    (a_low, a_high), (b_low, b_high) = (
        _share(share, trials, level) for share in (model, annotator)
    )
    below = (a - a_low) ** 2 - 2 * alike * (a - a_low) * (b_high - b) + (b_high - b) ** 2
    above = (a_high - a) ** 2 - 2 * alike * (a_high - a) * (b - b_low) + (b - b_low) ** 2
    return a - b - math.sqrt(max(below, 0.0)), a - b + math.sqrt(max(above, 0.0))


# ---- words ---------------------------------------------------------------------------------


def _sentence(result: Gold, task: str) -> str:
    """What came out for one task."""
    scores = [score for score in result.scores if score.task == task]
    gains = [gain for gain in result.gains if gain.task == task]
    people = [score for score in scores if score.kind == "annotator"]
    models = [score for score in scores if score.kind == "model"]
    measure = gains[0].measure
    place = f" for {task}" if task else ""
    size = count(models[0].items, "item")
    size += f", {count(models[0].positives)} positive" if measure == "sensitivity" else ""
    values = [(float(getattr(score, measure)), score.who) for score in people]
    ordered = sorted(
        (pair for pair in values if math.isfinite(pair[0])), key=lambda pair: pair[0]
    )
    words = HEADS[measure]
    span = f"the {words} of every annotator is undefined"
    if ordered:
        (low, first), (high, last) = ordered[0], ordered[-1]
        ends = f"{number(low)} ({first}) to {number(high)} ({last})"
        span = f"annotators' {words} runs from {ends}"
        if len(ordered) == 1:
            span = f"the {words} of {first} is {number(low)}"
    sentences = [
        _standing([gain for gain in gains if gain.model == model.who]) for model in models
    ]
    return (
        f"Against adjudicated gold{place} ({size}), {span}; {'; '.join(sentences)}. "
        "It holds for items like these."
    )


def _standing(gains: Sequence[GoldGain]) -> str:
    """Where one model stands among the annotators."""
    more = sum(gain.gain_low > 0 for gain in gains)
    fewer = sum(gain.gain_high < 0 for gain in gains)
    first, everyone = gains[0], count(len(gains), "annotator")
    at = " at their specificity" if first.measure == "sensitivity" else ""
    if not more and not fewer:
        return f"{first.model} is not told apart from any of {everyone}{at}"
    ahead, behind, less = BETTER[first.measure]
    if not more:
        return f"{first.model} {less} {fewer} of {everyone}{at}"
    worse = f", {behind} {fewer}" if fewer else ""
    return f"{first.model} {ahead} {more} of {everyone}{at}{worse}"


def _left_aside(tasks: Sequence[_Task]) -> list[Notice]:
    """Annotators beyond the limit."""
    text = "{others:count} annotators who read fewer gold items are not scored against gold."
    return [
        notice("gold_readers", text, others=task.others).of(task.aligned.question.task)
        for task in tasks
        if task.others > 0
    ]

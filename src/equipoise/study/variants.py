r"""Variants of a study: the same competitors with fewer votes, fewer items or another truth.

A `Contest` is what is varied: competitors, the truth of every task, and how they are scored.
`of_votes` and `with_truth` make variants of it. All keep the codes of
items and annotators of the whole study: nothing is read or matched by name again, and values of
two variants can be subtracted with their uncertainty.

**Contributions.** A value T has a derivative by the weight of each item and by each vote.
Written on the units (items or groups) and annotators of *one* study, contributions of two
variants can be subtracted: the two-way variance of any linear contrast of values, of whatever
variants and competitors, is then that of a single value,

.. math:: \mathrm{Cov} = S S' + R R' - C C'

with S, R and C the contributions summed over units, annotators and cells of both, each already
scaled by what undoes the centring in its own variant (`equipoise.inference`). A metric without
a derivative contributes blocks of units that are left out; contrasts of such a metric speak for
other items and these votes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from equipoise.inference import (
    Design,
    Population,
    Reason,
    TwoWay,
    family,
    two_way,
)
from equipoise.inference.ballots import few_units, moved_values
from equipoise.inference.intervals import best_claims
from equipoise.inference.ranks import higher_is_better
from equipoise.inference.resampling import Resampling
from equipoise.metrics import Metric
from equipoise.study.alignment import Aligned
from equipoise.study.blocks import LABELS, hard_labels
from equipoise.study.scoring import (
    DrawScorer,
    DrawScores,
    metrics_of_tasks,
    target_population,
)
from equipoise.study.truth import TaskTruth, task_truths
from equipoise.study.uncertainty import Part, Uncertainty
from equipoise.truth.choosing import like
from equipoise.types import (
    Annotations,
    Bools,
    Claim,
    ClaimFamily,
    Estimand,
    Floats,
    InputError,
    Ints,
    Names,
    Option,
    Plausibilities,
    hint,
    immutable,
)

if TYPE_CHECKING:
    from equipoise.read.attributes import Attributes
    from equipoise.study.study import Settings, Study

BLOCKS = 100  # of units that are left out, for metrics without a derivative
WORK = 4_000_000_000  # items times competitors that the variants of a question may cost
OF_SLOPES, OF_BLOCKS = 8, 800  # how often a variant scores them, with a derivative and without
OF_DRAWS = 8  # and by a metric that meets draws, for each of them
MANY, OF_MANY = 16, 4  # classes beyond which a class costs more, and how much
MOST, FEWEST = 200, 4  # variants
QUICK = ("mean_vote", "majority_vote", "dirichlet", "probabilistic_inverse_rank", "dawid_skene")
SAME_FIT = 1e-9  # how far a truth that is fitted again may lie from itself
YES_NO = ("negative", "positive")
VOTES = hint("leave out {}, so that votes are the truth", Option("truth", python="truth"))
Fit = Callable[[Annotations], Sequence[Plausibilities]]


@immutable(eq=False, kw_only=True)
class Contest:
    """Who competes against which truth, and by what.

    Attributes
    ----------
    tasks
        The truth of every task with the scores of all competitors; items have the places
        that they have in `plan`.
    metrics
        What is computed; the verdict is by the first.
    plan
        Items of the whole study, their groups, and its annotators; nothing is drawn.
    settings
        As in `evaluate`.
    annotations, place
        The votes behind the truth, and where their items stand among those of the plan,
        -1 for items that are not scored; None without votes.
    fit
        Makes the truth from votes again; None where it is the votes, or cannot be made again.
    attributes
        What is known of the items beside their labels.
    spreads
        Whether to say how much values by all metrics spread over draws of possible truths.
    """

    tasks: tuple[Aligned, ...]
    metrics: tuple[Metric, ...]
    plan: Resampling
    settings: "Settings"
    annotations: Annotations | None = None
    place: Ints | None = None
    fit: Fit | None = None
    attributes: "Attributes | None" = None
    spreads: bool = False

    @classmethod
    def of(cls, study: "Study") -> "Contest":
        """The competitors of a study against its truth, as they were aligned."""
        tasks = study.aligned
        votes = study.votes
        contest = cls(
            tasks=tasks,
            metrics=tuple(metrics_of_tasks(study.metrics, list(tasks), study.plan)),
            plan=study.plan,
            settings=study.settings,
            annotations=votes,
            place=None if votes is None else _places(votes.items, study.plan.items),
            attributes=study.attributes,
        )
        return replace(contest, fit=contest.fit_again) if contest.modelled else contest

    @property
    def labels(self) -> str:
        """Against which labels verdicts are: ``soft`` or ``hard``."""
        return self.settings.labels

    @property
    def modelled(self) -> bool:
        """Whether the truth is a model of it, not the votes themselves."""
        return any(task.question.plausible is not None for task in self.tasks)

    @property
    def by_standard(self) -> bool:
        """Whether a reference standard is the truth of every item."""
        votes = [task.question.votes for task in self.tasks]
        return all(of_task is not None and of_task.gold.all() for of_task in votes)

    @property
    def votes(self) -> Annotations:
        """The votes; refuses a contest that has none."""
        if self.annotations is None:
            raise InputError("variants", "a truth without votes", "votes", "give annotations")
        return self.annotations

    @property
    def metric(self) -> Metric:
        """By which verdicts are."""
        return self.metrics[0]

    @property
    def competitors(self) -> Names:
        """Their names."""
        return tuple(self.tasks[0].scores)

    @property
    def items(self) -> int:
        """How many items all tasks have together."""
        return sum(len(task.question.items) for task in self.tasks)

    @cached_property
    def cell(self) -> Ints:
        """Code of task and item of every vote, shape (votes,)."""
        return self.votes.cells

    # ---- variants ----------------------------------------------------------------------------

    def of_votes(self, keep: Bools) -> "Contest":
        """Only some votes, shape (votes,), and in every task the items that still have any.

        A truth that is a model stays as it is where items keep all their votes or none, and
        is fitted again where they lose some.
        """
        if not keep.any():
            raise InputError("variants", "no votes", "some", "choose another variant")
        whole = self.votes.rows(keep).with_used_tasks()
        left = replace(self, annotations=replace(whole, notices=()))
        if not self.modelled:
            if self.votes.gold.any():  # items that lose their standard have votes again
                return left._with_questions(task_truths(left.votes), self._places_of_votes)
            return replace(left, tasks=_tasks_with_items(_tasks_of_votes(self.tasks, keep)))
        if not np.isin(self.cell[~keep], self.cell[keep]).any():
            return left._on_items_of_votes()
        if self.fit is None:
            got = "a model of the truth that cannot be fitted again to fewer votes"
            raise InputError("variants", got, "votes, or a model that can", VOTES)
        return left.with_truth(self.fit(left.votes))

    def with_votes(self, votes: Annotations) -> "Contest":
        """The same by other votes on the same items, which are the truth."""
        varied = replace(self, annotations=votes)
        return varied._with_questions(task_truths(votes), self._places_of_votes)

    def with_truth(self, truth: Sequence[Plausibilities]) -> "Contest":
        """The same against another truth of the same items, which stay in their groups.

        Where a metric meets draws, a law has as many as the truth of the study.
        """
        parts = [self._with_draws(part, place) for place, part in enumerate(truth)]
        questions = [question for part in parts for question in task_truths(part)]
        return self._with_questions(
            questions, lambda question: _places(question.items, self.plan.items)
        )

    def _with_draws(self, truth: Plausibilities, place: int) -> Plausibilities:
        met = any(metric.labels == "draws" for metric in self.metrics)
        if not met or truth.law is None or truth.draws > 1:
            return truth
        return truth.drawn(self.draws, seed=self.settings.seed + place)

    @property
    def draws(self) -> int:
        """How many draws the truth has; 1 of votes."""
        fitted = (task.question.plausible for task in self.tasks)
        return max((fit.draws for fit in fitted if fit is not None), default=1)

    def with_labels(self, labels: Sequence[Bools]) -> "Contest":
        """The same against labels that are taken as known, yes or no, of every task."""
        truths = []
        for task, yes in zip(self.tasks, labels, strict=True):
            both, items = np.stack([~yes, yes], axis=1).astype(float), task.question.items
            truth = Plausibilities.dense(both, items=items, classes=YES_NO, method="labels")
            truths.append(truth.noted(task=task.question.task))
        return self.with_truth(truths)

    def fit_again(self, votes: Annotations) -> Sequence[Plausibilities]:
        """The truth of other votes by the model of this one, which must be quick."""
        fitted = [task.question.plausible for task in self.tasks]
        names = {fit.model for fit in fitted if fit is not None}
        if len(names) > 1 or not names <= set(QUICK) or not self._is_own_fit:
            got = "a model of the truth that is not fitted again to fewer votes"
            raise InputError("variants", got, f"votes, or one of {', '.join(QUICK)}", VOTES)
        return [
            self._fit_like(fit, place, votes)
            for place, fit in enumerate(fitted)
            if fit is not None and fit.task in votes.tasks
        ]

    def _fit_like(self, fit: Plausibilities, place: int, votes: Annotations) -> Plausibilities:
        """The truth of votes by the model and settings of another, with as many draws."""
        again = replace(like(fit)(votes, task=fit.task), notices=())
        if again.law is None or again.draws == fit.draws:
            return again
        return again.drawn(fit.draws, seed=self.settings.seed + place)

    @cached_property
    def _is_own_fit(self) -> bool:
        """Whether the model with its settings gives the truth that was scored again."""
        for task in self.tasks:
            scored = task.question.plausible
            assert scored is not None
            again = like(scored)(self.votes, task=task.question.task)
            rows = _places(scored.items, again.items)
            same = (scored.classes, scored.method) == (again.classes, again.method)
            if (rows < 0).any() or not same:
                return False
            means = again.expected[rows], scored.expected
            if not np.allclose(*means, rtol=0, atol=SAME_FIT):
                return False
        return True

    def _places_of_votes(self, question: TaskTruth) -> Ints:
        assert self.place is not None
        return self.place[question.place]

    def _with_questions(
        self, questions: Sequence[TaskTruth], places: Callable[[TaskTruth], Ints]
    ) -> "Contest":
        """The competitors against other truths, on the items that they were scored on."""
        before = {task.question.task: task for task in self.tasks}
        tasks = []
        for question in questions:
            task = before.get(question.task)
            if task is None:
                continue
            row = np.full(len(self.plan.items), -1)
            row[task.question.place] = np.arange(len(task.question.items))
            place = places(question)
            rows = np.where(place >= 0, row[place], -1)
            question = replace(question, place=place, ties=self.settings.ties)
            if (rows < 0).any():
                question, rows = question.subset(rows >= 0), rows[rows >= 0]
            tasks.append(replace(_rows_of(task, rows, scores_only=True), question=question))
        return replace(self, tasks=_tasks_with_items(tasks))

    def _on_items_of_votes(self) -> "Contest":
        """The same truth on the items that the votes are about."""
        assert self.place is not None
        tasks = []
        for task in self.tasks:
            if task.question.task not in self.votes.tasks:
                continue
            rated = np.zeros(len(self.plan.items) + 1, dtype=bool)
            rated[self.place[self.votes.item[self.votes.in_task(task.question.task)]]] = True
            tasks.append(_rows_of(task, np.flatnonzero(rated[:-1][task.question.place])))
        return replace(self, tasks=_tasks_with_items(tasks))

    def scored(self) -> "Scored":
        """All competitors by all metrics, with what the verdict by the first needs."""
        for task in self.tasks:
            for metric in self.metrics:
                if len(task.question.items) < metric.min_items:
                    got = f"{len(task.question.items)} items"
                    least = f"at least {metric.min_items}"
                    raise InputError(f"metric {metric.name}", got, least, "choose a smaller k")
        return _Scorer(self).run()


def _places(names: Sequence[str], among: Sequence[str]) -> Ints:
    """Where names stand among others, -1 for those that do not."""
    if names is among or tuple(names) == tuple(among):
        return np.arange(len(names))
    place = {name: number for number, name in enumerate(among)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def _tasks_with_items(tasks: Iterable[Aligned]) -> tuple[Aligned, ...]:
    """The tasks that have items, of which there must be one."""
    left = tuple(task for task in tasks if len(task.question.items))
    if not left:
        raise InputError("variants", "no items", "at least one", "choose another variant")
    return left


def _tasks_of_votes(tasks: Iterable[Aligned], keep: Bools) -> Iterator[Aligned]:
    """Every task by some votes of the annotations alone."""
    for task in tasks:
        votes = task.question.votes
        assert votes is not None
        chosen = votes.of(keep[votes.row])
        rows = np.searchsorted(votes.items, chosen.items)
        question = task.question.of_votes(chosen)
        yield replace(_rows_of(task, rows, scores_only=True), question=question)


def _rows_of(task: Aligned, rows: Ints, *, scores_only: bool = False) -> Aligned:
    """A task on some of its items, by position."""
    all_rows = len(rows) == len(task.question.items) and bool((np.diff(rows) == 1).all())
    if all_rows:
        return task
    scores = {name: score[rows] for name, score in task.scores.items()}
    decided = {name: decision[rows] for name, decision in task.decided.items()}
    question = task.question
    if not scores_only:
        keep = np.zeros(len(question.items), dtype=bool)
        keep[rows] = True
        question = question.subset(keep)
    return Aligned(question, scores, decided)


def label_kappa(first: Contest, second: Contest) -> float:
    r"""Cohen's kappa of the hard labels of two contests, the mean over their tasks.

    .. math:: \kappa = \frac{P_o - P_e}{1 - P_e}

    on the items that both have. Classes that share an item are a label of their own.
    """
    kappas = []
    others = {task.question.task: task.question for task in second.tasks}
    for task in first.tasks:
        question, other = task.question, others.get(task.question.task)
        if other is None:
            return np.nan
        row = np.full(len(first.plan.items), -1)
        row[other.place] = np.arange(len(other.items))
        rows = row[question.place]
        both = [question.shares[:, rows >= 0], other.shares[:, rows[rows >= 0]]]
        kappas.append(_kappa(*_decided_codes(np.stack(both, axis=2), question.ties)))
    return float(np.mean(kappas))


def _decided_codes(shares: Floats, ties: str) -> tuple[Ints, Ints]:
    """Codes of hard labels of two truths, whose shares are (classes, items, 2).

    Examples
    --------
    >>> _decided_codes(np.array([[[0.5, 0.75], [0.5, 0.5]]]), "half")
    (array([0, 0]), array([1, 0]))
    """
    labels = np.stack(hard_labels(list(shares), ties))
    marks = np.packbits(np.concatenate([labels > 0, labels >= 1]), axis=0)
    _, code = np.unique(marks.reshape(len(marks), -1), axis=1, return_inverse=True)
    codes = code.reshape(labels.shape[1:])
    return codes[:, 0], codes[:, 1]


def _kappa(first: Ints, second: Ints) -> float:
    number = len(first)
    classes = 1 + int(max(first.max(initial=0), second.max(initial=0)))
    sides = [np.bincount(side, minlength=classes) for side in (first, second)]
    expected = float(sides[0] @ sides[1])
    if expected >= number**2:
        return np.nan
    return (float((first == second).sum()) * number - expected) / (number**2 - expected)


def affordable(contest: Contest) -> int:
    """How many variants of a contest are scored, to keep the time in bounds."""
    if contest.metric.labels == "draws":
        often = OF_DRAWS * contest.draws
    else:
        classes = len(contest.tasks[0].question.classes)
        often = OF_BLOCKS if contest.metric.influence is None else OF_SLOPES
        often *= classes * (OF_MANY if classes > MANY else 1)
    cost = contest.items * len(contest.competitors) * often
    return int(np.clip(WORK // max(cost, 1), FEWEST, MOST))


# ---- scores ----------------------------------------------------------------------------------


class Contributions(NamedTuple):
    """What units and votes add to the value of every competitor.

    Attributes
    ----------
    values
        Shape (competitors,).
    units
        Shape (competitors, units).
    votes
        By cell of unit and annotator, shape (competitors, cells); None where the truth is not
        made of votes by people who can be told apart, or the metric has no derivative.
    cell
        Code of each cell, unit times annotators plus annotator, rising.
    people
        Number of annotators of the study.
    design, population
        How much the design tells, and whom the value speaks for.
    drawn
        Values in every draw of the possible truths, shape (competitors, draws), of a metric
        that meets them; None of others.
    """

    values: Floats
    units: Floats
    votes: Floats | None
    cell: Ints
    people: int
    design: Design
    population: Population
    drawn: Floats | None = None


@immutable(eq=False)
class Scored:
    """Competitors of a study or of a variant.

    Attributes
    ----------
    competitors, tasks, items
        Who was scored, in which tasks the value is defined, and on how many items of them.
    table
        Values by the first metric, and what their uncertainty is made of.
    by_metric
        Values by all metrics, against hard and soft labels, (metrics, labels, competitors).
    parts
        The uncertainty taken apart, on the axes of the whole study; None once it was used.
    metric, level
        What the verdict is by, and the level of intervals.
    spreads
        Standard deviations of values against soft labels over draws of possible truths,
        (metrics, competitors); nan where the contest does not want them.
    """

    competitors: Names
    tasks: Names
    items: int
    table: TwoWay
    by_metric: Floats
    parts: Contributions | None
    metric: Metric
    level: float
    spreads: Floats

    @cached_property
    def good(self) -> Floats:
        """Values so that higher is better."""
        return higher_is_better(self.table.values, self.metric.better)

    @cached_property
    def leader(self) -> int:
        """Place of the best value."""
        return int(np.nanargmax(self.good)) if not np.isnan(self.good).all() else 0

    @property
    def of_votes(self) -> bool:
        """Whether contrasts can speak for other annotators."""
        return self.parts is not None and self.parts.votes is not None

    def claims(self, title: str, name: str, level: float) -> Iterator[Claim]:
        """What is claimed of every competitor next to the best, at the level of a family."""
        every = family(self.table, higher=self.metric.better == "higher", level=level)
        whom, group = self.table.population, ClaimFamily(name, len(self.competitors))
        estimand = Estimand(title, whom.whose(), "", "the best")
        like = Claim(estimand, whom.whom, group, 0.0, 0.0, 0.0, self.level)
        return best_claims(self.table, every, self.good, self.competitors, like)

    def best_group(
        self, *, annotators: bool = True, level: float | None = None
    ) -> frozenset[str]:
        """Who may be the best; empty where a value is undefined.

        `annotators` is whether for other annotators too, or for these votes alone.
        """
        table = self.table if annotators else self.for_these_votes
        if np.isnan(self.good).any() or not table.population.decides:
            return frozenset()
        level = level or self.level
        best = family(table, higher=self.metric.better == "higher", level=level).best
        return frozenset(
            name for name, first in zip(self.competitors, best, strict=True) if first
        )

    @cached_property
    def for_these_votes(self) -> TwoWay:
        """The same for other items and these votes."""
        whom = self.table.population
        if not whom.annotators and whom.decides:
            return self.table
        whom = replace(whom, annotators=False, reason=Reason.FIXED)
        return replace(self.table, population=whom)

    def interval(self, competitor: int) -> tuple[float, float]:
        """Of a value."""
        value = float(self.table.values[competitor])
        return self.table.of(competitor).interval(value, self.level, self.metric.bounds)

    def gap(self, first: str, second: str, *, annotators: bool = True) -> "Gap":
        """A competitor minus another, paired."""
        a, b = self.competitors.index(first), self.competitors.index(second)
        table = self.table if annotators else self.for_these_votes
        value = float(table.values[a] - table.values[b])
        width, spread = np.ptp(self.metric.bounds), table.between(a, b)
        low, high = spread.interval(value, self.level, (-width, width))
        return Gap(value, float(low), float(high), spread.p_value(value))


class Gap(NamedTuple):
    """A difference, the ends of its interval, and its p-value."""

    value: float
    low: float
    high: float
    p: float


class _Scorer(Uncertainty):
    """Competitors of one contest."""

    def __init__(self, contest: Contest) -> None:
        self.contest, tasks, plan = contest, contest.tasks, contest.plan
        prepared = [
            [
                {
                    metric.prepare: metric.prepare(task.seen(name, metric))
                    for metric in contest.metrics
                    if metric.labels != "draws"
                }
                for name in task.scores
            ]
            for task in tasks
        ]
        target = target_population(tasks, plan, contest.settings)
        super().__init__(tasks, prepared, plan, target, contest.settings.workers)
        self.drawn: dict[tuple[int, int, int], DrawScores] = {}
        if any(metric.labels == "draws" for metric in contest.metrics):
            blocks = self.block_of(self.most_blocks)
            drawing = DrawScorer.of(tasks, contest.metrics, None, blocks)
            self.drawn = {cell: drawing.score_cell(cell) for cell in drawing.cells}

    def run(self) -> Scored:
        """Values, their uncertainty, and the same on the axes of the study."""
        contest, metric = self.contest, self.contest.metric
        label = LABELS.index(contest.labels)
        by_metric = np.array([self._values(t) for t in range(len(self.aligned))])
        values = by_metric[:, 0, label]
        tasks = tuple(int(t) for t in np.flatnonzero(~np.isnan(values).any(axis=1))) or (0,)
        mean = np.asarray(values[list(tasks)].mean(axis=0))
        defined = tasks if not np.isnan(mean).any() else ()
        if metric.labels == "draws":
            parts = {t: self._part_of_draws(t, label) for t in tasks}
            table = self._table_of_draws(tasks, label, values, mean)
        else:
            parts = {t: self._part(t, metric, label, values[t]) for t in tasks}
            table = self._cell(tasks, [parts[t] for t in tasks], metric, label, mean)
        return Scored(
            competitors=contest.competitors,
            tasks=tuple(self.aligned[t].question.task for t in defined),
            items=contest.items,
            table=table,
            by_metric=by_metric[list(tasks)].mean(axis=0),
            parts=self._contributions(label, parts, mean),
            metric=metric,
            level=contest.settings.level,
            spreads=self._spreads(tasks),
        )

    def _spreads(self, tasks: tuple[int, ...]) -> Floats:
        """Standard deviations over draws, (metrics, competitors), of the average of tasks."""
        metrics, models = self.contest.metrics, range(len(self.contest.competitors))
        spreads = np.full((len(metrics), len(models)), np.nan)
        soft = LABELS.index("soft")
        for k, metric in enumerate(metrics):
            if not self.contest.spreads:
                break
            if metric.labels == "draws":
                drawn = [[self.drawn[t, k, m].drawn[soft] for m in models] for t in tasks]
                spreads[k] = np.mean(drawn, axis=0).std(axis=1, ddof=0)
                continue
            parts = [
                np.diag(self._over_draws(t, metric, soft))
                for t in tasks
                if (fit := self.aligned[t].question.plausible) is not None and fit.draws > 1
            ]
            spreads[k] = np.sqrt(np.sum([np.zeros(len(models)), *parts], axis=0)) / len(tasks)
        return spreads

    def _values(self, t: int) -> list[list[Floats]]:
        """Values of one task by every metric and kind of label."""
        question = self.aligned[t].question
        once = np.ones((len(question.items), 1), dtype=np.uint8)
        shares, models = list(question.shares), range(len(self.contest.competitors))
        return [
            [
                np.array([self.drawn[t, k, m].values[label] for m in models])
                if metric.labels == "draws"
                else self.values_with(t, metric, label, shares, once)[:, 0]
                for label in range(len(LABELS))
            ]
            for k, metric in enumerate(self.contest.metrics)
        ]

    def _part_of_draws(self, t: int, label: int) -> Part:
        """Derivatives by items of the first metric, which meets draws."""
        scores = self._scores(t)
        items = np.stack([score.items[label] for score in scores])
        return Part(items, None, np.zeros((len(scores), len(scores))), None)

    def _scores(self, t: int) -> list[DrawScores]:
        return [self.drawn[t, 0, m] for m in range(len(self.contest.competitors))]

    def _table_of_draws(
        self, tasks: tuple[int, ...], label: int, values: Floats, mean: Floats
    ) -> TwoWay:
        """Values of the first metric as `evaluate` has them, of a task or of the average."""
        by_task = [self._scores(t) for t in range(len(self.aligned))]
        without, drawn = (
            np.array([[getattr(score, name)[label] for score in row] for row in by_task])
            for name in ("without", "drawn")
        )
        several = [mean] * (len(self.aligned) > 1)
        cells = self.cells_of_draws(
            self.contest.metric, np.stack([*values, *several]), without, drawn
        )
        return cells[-1] if len(tasks) > 1 else cells[tasks[0]]

    def _contributions(
        self, label: int, parts: Mapping[int, Part], mean: Floats
    ) -> Contributions:
        tasks = tuple(parts)
        ranks = self.contest.metric.labels == "classes" and LABELS[label] == "soft"
        design, share, plan = self._design(tasks, ranks=ranks), 1 / len(tasks), self.plan
        code_of = np.arange(len(plan.items)) if plan.group is None else np.asarray(plan.group)
        leverage = self.leverage(
            parts,
            self.contest.metric,
            label,
            [code_of[task.question.place] for task in self.aligned],
        )
        number, people = 1 + int(code_of.max(initial=0)), max(plan.annotators, 1)
        units = np.zeros((len(mean), number))
        moved, cells, voted = [], [], True
        for t, part in parts.items():
            code, ballots = code_of[self.aligned[t].question.place], self.ballots[t]
            if part.jackknife is not None:
                blocks = min(BLOCKS, number)
                units[:, :blocks] += share * part.jackknife.blocks(code % blocks, blocks)
            else:
                for m, line in enumerate(part.items):
                    units[m] += share * np.bincount(code, line, number)
            voted &= ballots is not None and ballots.named and part.slopes is not None
            if voted and ballots is not None and part.slopes is not None:
                every = slice(0, len(ballots.item))
                moved.append(share * moved_values(part.slopes, ballots, every, LABELS[label]))
                cells.append(code[ballots.item] * people + ballots.annotator)
        if leverage is None:
            units *= np.sqrt(design.unit_factor)
        else:
            factor, df = few_units(leverage)
            units[:, : len(factor)] *= factor
            design = replace(design, df_units=df)
        votes: Floats | None = None
        cell: Ints = np.zeros(0, dtype=np.int64)
        if voted and design.df_annotators > 0:
            cell, sums = _sums_by_cell(cells, moved)
            votes = np.sqrt(design.annotator_factor) * sums
        drawn = None
        if self.contest.metric.labels == "draws":
            scores = [self._scores(t) for t in tasks]
            drawn = np.array([[x.drawn[label] for x in row] for row in scores]).mean(axis=0)
        return Contributions(
            values=mean,
            drawn=drawn,
            units=units,
            votes=votes,
            cell=cell,
            people=people,
            design=design,
            population=self._population(tasks, design),
        )


def _sums_by_cell(cells: Sequence[Ints], moved: Sequence[Floats]) -> tuple[Ints, Floats]:
    """Votes of one cell together: codes of cells, rising, and sums (competitors, cells)."""
    code, sums = np.concatenate(cells), np.concatenate(moved, axis=1)
    if (np.diff(code) > 0).all():
        return code, sums
    cell, place = np.unique(code, return_inverse=True)
    return cell, np.stack([np.bincount(place, line, len(cell)) for line in sums])


def contrasts(
    parts: Sequence[Contributions], weights: Floats, *, annotators: bool = True
) -> TwoWay:
    """Linear contrasts of values, each a "competitor" of one two-way table.

    Parameters
    ----------
    parts
        Evaluations of variants of one study, one after another.
    weights
        Shape (contrasts, all their competitors together).
    annotators
        Whether contrasts speak for other annotators too, where every part allows it.
    """
    values = weights @ np.concatenate([part.values for part in parts])
    units = weights @ np.concatenate([part.units for part in parts])
    units = units[:, (units != 0).any(axis=0)]  # of items that none of them holds
    counted = annotators and all(part.votes is not None for part in parts)
    votes = _vote_covariances(parts, weights) if counted else None
    design = Design(
        units=min(part.design.units for part in parts),
        annotators=parts[0].design.annotators,
        unit_factor=1.0,
        annotator_factor=1.0,
        df_units=min(part.design.df_units for part in parts),
        df_annotators=min(part.design.df_annotators for part in parts) if counted else 0.0,
    )
    whom = parts[0].population
    if not counted and whom.reason is Reason.NONE:
        whom = replace(whom, annotators=False, reason=Reason.FIXED)
    table = two_way(values, units, None, design=design, population=whom, votes=votes)
    return replace(table, draws=_draw_covariances(parts, weights))


def _draw_covariances(parts: Sequence[Contributions], weights: Floats) -> Floats:
    """Covariances of contrasts over draws of the possible truths; 0 where none are met."""
    drawn = [part.drawn for part in parts if part.drawn is not None]
    number = min((len(x.T) for x in drawn if len(x.T) > 1), default=1)
    if len(drawn) < len(parts) or number < 2:
        return np.zeros((len(weights), len(weights)))
    wide = [np.broadcast_to(x[:, :number], (len(x), number)) for x in drawn]
    return np.atleast_2d(np.cov(weights @ np.concatenate(wide)))


def _vote_covariances(parts: Sequence[Contributions], weights: Floats) -> tuple[Floats, Floats]:
    """Covariances of contrasts over annotators and over cells."""
    cell: Ints = parts[0].cell
    if any(not np.array_equal(part.cell, cell) for part in parts[1:]):
        cell = np.unique(np.concatenate([part.cell for part in parts]))
    moved = np.zeros((len(weights), len(cell)))
    first = 0
    for part in parts:
        assert part.votes is not None
        share = weights[:, first : first + len(part.values)] @ part.votes
        moved[:, np.searchsorted(cell, part.cell)] += share
        first += len(part.values)
    who = cell % parts[0].people
    people = np.stack([np.bincount(who, line, parts[0].people) for line in moved])
    return np.asarray(people @ people.T, dtype=float), np.asarray(moved @ moved.T)

"""What moves when the threshold moves: prevalence, values and ranks around a threshold.

At each threshold of an even grid, from `reach` below to `reach` above, items whose probability
is at least the threshold (under a strict grid: more than it) are positive, and every model is
scored against these hard labels. All thresholds share one plan of resampled items, whole groups
of them where groups are given, so everything is paired. A strict grid around one half moves the
rule of the majority: more than half.

References
----------
Gröger et al., *CleanPatrick: a benchmark for image data cleaning*, 2025.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.inference.estimate import Estimate
from equipoise.inference.ranks import average_ranks, higher_is_better, spearman
from equipoise.inference.resampling import Resampling
from equipoise.metrics import DEFAULT, Metric, named
from equipoise.study import Evaluation, Settings, evaluate
from equipoise.study.alignment import ON_MISSING
from equipoise.study.analyses.scoring import affordable_resamples
from equipoise.study.analyses.thresholds import checked_probabilities, steps
from equipoise.study.analyses.words import as_notices
from equipoise.study.arguments import as_metrics, as_predictions
from equipoise.study.study import Study
from equipoise.study.truth import TaskTruth
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import (
    Bools,
    Floats,
    InputError,
    Ints,
    PerItem,
    choice,
    frozen,
    require_drawn,
    require_number,
    require_whole,
    short_repr,
    wrong_type,
)
from equipoise.types.findings import (
    Cell,
    Column,
    Finding,
    Line,
    Lines,
    Row,
    Table,
    columns,
    distinct_lines,
    spanned,
)
from equipoise.types.notices import Notice, notice
from equipoise.types.numbers import chosen, count, percent
from equipoise.types.predictions import Predictions
from equipoise.types.words import ONE_CLASS, hint, joined

KEY, TITLE = "threshold_sweep", "What if a positive needed more votes?"
MAJORITY = 0.5  # to be exceeded: a tie is negative
TIE = 1e-12
SAME = 1e-9
NAMED = 3  # names in a sentence
DRAWN = 12  # models with a line; all are in the table
TASKS = 6  # tasks with a chart; all are in the tables
STRICT_NOTE = (
    "An item counts as positive when more than this share of its votes says yes; at 0.5 that "
    "is the strict majority, and a tie is negative. Labels change in steps, because a share of "
    "a few votes has few values."
)
NOTE = "An item counts as positive when its probability is at least the threshold."
SCORED = (
    "Models are scored against the labels of each threshold, all on the same resampled {unit}; "
    "intervals of values are for items like these, those of ranks the middle of the resamples."
)
LEGEND = (
    "Share of yes: of the votes that an item needs to be positive; a range where all in it "
    "give the same labels. Spearman: rank correlation with the order at the centre, when more "
    "than half is needed."
)
COLUMNS = (
    *columns(threshold="number", positives="count", prevalence="percent"),
    *columns(metric="text", model="model"),
    Column("value", "value", "number", ("low", "high")),
    spanned("rank", kind="rank"),
    Column("change", "change of rank", "change"),
    Column("spearman", "Spearman with the centre", "number"),
)
TASK = Column("task", "task")


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Which thresholds are tried, and how models are scored at each.

    Attributes
    ----------
    reach, steps
        How far to go on either side, and in how many steps.
    metrics
        Metrics or their names; their hard-label form is taken.
    replicates, seed, level
        Of the resampled items.
    progress
        Called as ``progress(done, all)`` after each threshold.
    strict
        Whether an item must exceed the threshold; else it must reach it.
    on_missing
        As in `equipoise.study.Settings`.
    group
        Which group (patient, night) each item belongs to, in the order of the items; groups
        are resampled as a whole. None: every item stands for itself.
    """

    reach: float = 0.15
    steps: int = 5
    metrics: Sequence[str | Metric] = DEFAULT
    replicates: int = 1000
    seed: int = 0
    level: float = 0.95
    progress: Callable[[int, int], None] | None = None
    strict: bool = False
    on_missing: str = "error"
    group: Sequence[str] | Ints | None = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        require_number("threshold sweep, reach", self.reach, above=0, below=1, do="try 0.15")
        require_number("threshold sweep, level", self.level, above=0, below=1, do="try 0.95")
        require_drawn("threshold sweep, steps", self.steps, least=1, do="5 are usual")
        require_drawn("threshold sweep, replicates", self.replicates, least=1, do="try 1000")
        require_whole("threshold sweep, seed", self.seed, do="try 0")
        as_metrics(self.metrics)
        choice("threshold sweep, on_missing", self.on_missing, ON_MISSING)
        if not isinstance(self.strict, bool):
            raise wrong_type("threshold sweep, strict", self.strict, "True or False", "say one")
        if self.progress is not None and not callable(self.progress):
            raise wrong_type("progress", self.progress, "a function, or None", "leave it out")
        if self.group is not None:
            object.__setattr__(self, "group", frozen(_codes(self.group)))

    def thresholds(self, centre: float) -> list[float]:
        """The grid; what lies outside of [0, 1] is left out."""
        steps = np.arange(-self.steps, self.steps + 1) * self.reach / self.steps
        return [float(centre + x) for x in steps if 0 <= centre + x <= 1]


def _codes(group: object) -> Ints:
    """Groups as numbers, refused unless they are a list of names or of whole numbers."""
    names = group.tolist() if isinstance(group, np.ndarray) else group
    if not isinstance(names, Sequence) or isinstance(names, str):
        names = [None]
    if not all(isinstance(name, str | int | np.integer) for name in names):
        expected, do = "the name of its group for every item", "leave it out"
        raise wrong_type("threshold sweep, group", group, expected, do)
    return np.unique(np.array(names), return_inverse=True)[1].astype(np.int64)


def called(values: PerItem, threshold: float, *, strict: bool = False) -> Bools:
    """Which items are positive; probabilities that differ by rounding alone are equal.

    Examples
    --------
    >>> called(np.array([0.4, 0.5, 0.6]), 0.5), called(np.array([0.5]), 0.5, strict=True)
    (array([False,  True,  True]), array([False]))
    """
    return np.asarray(values > threshold + TIE if strict else values >= threshold - TIE)


class Move(NamedTuple):
    """One model, metric and threshold.

    `rank_low` and `rank_high` hold the rank in the resamples; `change` is the change of rank
    from the centre of the grid: above 0 when the model is worse.
    """

    threshold: float
    positives: int
    prevalence: float
    metric: str
    model: str
    value: float
    low: float
    high: float
    rank: float
    rank_low: float
    rank_high: float
    change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdSweep:
    """What moves with the threshold.

    Attributes
    ----------
    centre, reach, strict
        The threshold, how far it was moved, and whether an item must exceed it.
    moves
        One line per threshold, metric and model.
    agreement
        By (threshold, metric): rank correlation (Spearman) with the order at the centre.
    notices
        What the user should know.
    groups
        How many groups of items were resampled as wholes; 0: single items were.
    """

    centre: float
    reach: float
    moves: tuple[Move, ...]
    agreement: dict[tuple[float, str], float]
    strict: bool = False
    notices: tuple[Notice, ...] = ()
    groups: int = 0

    __repr__ = short_repr

    def rows(self) -> list[dict[str, Cell]]:
        """One line per threshold, metric and model."""
        return [
            {**move._asdict(), "spearman": self.agreement[move.threshold, move.metric]}
            for move in self.moves
        ]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics; sentences are by the first."""
        return tuple(dict.fromkeys(move.metric for move in self.moves))

    def by(self, metric: str) -> list[Move]:
        """Moves by one metric."""
        return [move for move in self.moves if move.metric == metric]

    @property
    def finding(self) -> str:
        """What the sweep comes to by its first metric, as a sentence."""
        moves = self.by(self.metrics[0])
        begin, end = moves[0].prevalence, moves[-1].prevalence
        share = f"falls from {percent(begin, 1)} to {percent(end, 1)}"
        if begin == end:
            share = f"stays at {percent(begin, 1)}"
        order = _Order.of(moves).words(named(moves[0].metric).title)
        return f"{self._start()}, the share of positives {share}, and {order}."

    def _start(self) -> str:
        more = "more than " if self.strict else ""
        start = f"Around a threshold of {more}{chosen(self.centre)}"
        ends = sorted({move.threshold for move in self.moves})
        if len(ends) == 1:
            return start
        return f"{start}, from {_step(ends[0])} to {_step(ends[-1])}"

    def report(self) -> Finding:
        """The finding for every surface."""
        return _finding({"": self}, with_task=False)


class _Order(NamedTuple):
    """How the order of the models moves by one metric.

    `models` are all, `moved` those that change their rank, and `best` those that are best
    throughout, none when that changes; `seen` of `tried` thresholds have a rank to compare, and
    `anywhere` says whether ranks are defined at any of them.
    """

    models: tuple[str, ...]
    moved: tuple[str, ...]
    best: tuple[str, ...]
    seen: int
    tried: int
    anywhere: bool

    @classmethod
    def of(cls, moves: Sequence[Move]) -> "_Order":
        """Look at the moves of one metric."""
        models = tuple(dict.fromkeys(move.model for move in moves))
        defined = [move for move in moves if not math.isnan(move.change)]
        moved = {move.model for move in defined if abs(move.change) > SAME}
        tried = list(dict.fromkeys(move.threshold for move in moves))
        ranks_at = ({m.model: m.rank for m in defined if m.threshold == t} for t in tried)
        seen = [ranks for ranks in ranks_at if ranks]
        leaders = [
            {m for m in ranks if ranks[m] <= min(ranks.values()) + SAME} for ranks in seen
        ]
        steady = bool(leaders) and all(leading == leaders[0] for leading in leaders)
        return cls(
            models,
            tuple(name for name in models if name in moved),
            tuple(sorted(leaders[0])) if steady else (),
            len(seen),
            len(tried),
            any(not math.isnan(move.rank) for move in moves),
        )

    def words(self, title: str) -> str:
        """Whether the models change places."""
        if len(self.models) == 1:
            return "with one model there is no order to change"
        if not self.seen:
            where = " at the threshold itself" if self.anywhere else ""
            return f"the order by {title} is undefined{where}"
        lost = ""
        if self.seen < self.tried:
            lost = f" where it is defined ({self.seen} of {self.tried} thresholds)"
        if not self.moved:
            return f"no model changes its rank by {title}{lost}"
        verb = "changes its rank" if len(self.moved) == 1 else "change their ranks"
        best = "who is best changes"
        if self.best:
            stay = "stays" if len(self.best) == 1 else "stay"
            best = f"{joined(self.best, most=NAMED)} {stay} best"
        return f"{joined(self.moved, most=NAMED)} {verb} by {title}{lost}; {best}"


def _over_tasks(sweeps: Mapping[str, ThresholdSweep]) -> str:
    """In how many tasks the order and the best model move, by the first metric."""
    first = next(iter(sweeps.values()))
    if len(sweeps) == 1:
        return first.finding
    start, title = first._start(), named(first.metrics[0]).title
    orders = {task: _Order.of(sweep.by(sweep.metrics[0])) for task, sweep in sweeps.items()}
    if all(len(order.models) == 1 for order in orders.values()):
        return f"{start}, there is one model in every task, so no order to change."
    lost = [task for task, order in orders.items() if not order.seen]
    words = f" (it is undefined in {joined(lost, most=NAMED)})" if lost else ""
    if len(lost) == len(orders):
        return f"{start}, the order by {title} is undefined in every task."
    moved = [task for task, order in orders.items() if order.moved]
    if not moved:
        return f"{start}, the order by {title} stays the same in every task{words}."
    new = [task for task, order in orders.items() if order.moved and not order.best]
    best = "the best stays best"
    if new:
        best = f"who is best changes in {len(new)} ({joined(new, most=NAMED)})"
    whole = f"{len(moved)} of {len(orders)} tasks"
    return f"{start}, the order by {title} changes in {whole}, and {best}{words}."


def _finding(sweeps: Mapping[str, ThresholdSweep], *, with_task: bool = True) -> Finding:
    """What the sweeps of all tasks come to, together; rows name their task, or not."""
    first = next(iter(sweeps.values()))
    rows: list[Row] = [
        {**({"task": task} if with_task else {}), **row}
        for task, sweep in sweeps.items()
        for row in sweep.rows()
    ]
    in_tasks = [
        f"{task}: {sweep.finding}" if task else sweep.finding for task, sweep in sweeps.items()
    ]
    front = (TASK,) if any(sweeps) else ()
    unit = "groups of items (each as a whole)" if first.groups else "items"
    methods = "The threshold of the probability was moved"
    if first.strict:
        methods = (
            "The share of positive votes that an item must exceed to be positive was moved "
            "around one half"
        )
    all_moves = Table(
        name="threshold_sweep",
        caption="Value and rank of every model at every threshold",
        columns=(*front, *COLUMNS),
        rows=rows,
        brief=(),
    )
    notices = (
        sweep_notice.of(task)
        for task, sweep in sweeps.items()
        for sweep_notice in sweep.notices
    )
    return Finding(
        key=KEY,
        title=TITLE,
        sentence=_over_tasks(sweeps),
        more=tuple(in_tasks) if len(sweeps) > 1 else (),
        tables=(_summary(sweeps, front), all_moves),
        charts=tuple(_every_chart(sweeps)),
        note=f"{STRICT_NOTE if first.strict else NOTE} {SCORED.format(unit=unit)}",
        methods=f"{methods} [@groger2025].",
        references=("groger2025",),
        notices=tuple(dict.fromkeys(notices)),
    )


def _summary(sweeps: Mapping[str, ThresholdSweep], front: tuple[Column, ...]) -> Table:
    """Thresholds that give the same labels in one row, as people read it."""
    rows: list[Row] = []
    for task, sweep in sweeps.items():
        same: dict[int, list[Move]] = {}
        for move in sweep.by(sweep.metrics[0]):
            same.setdefault(move.positives, []).append(move)
        for positives, moves in same.items():
            low, high = moves[0].threshold, moves[-1].threshold
            span = _step(low) if low == high else f"{_step(low)} to {_step(high)}"
            near = sweep.agreement[low, sweep.metrics[0]]
            row: Row = {"task": task, "span": span, "positives": positives}
            rows.append({**row, "prevalence": moves[0].prevalence, "spearman": near})
    strict = next(iter(sweeps.values())).strict
    shown = (
        *front,
        Column("span", "share of yes above" if strict else "probability at least"),
        *columns(positives="count", prevalence="percent"),
        Column("spearman", "Spearman with the centre", "number"),
    )
    return Table(
        name="threshold_sweep_summary",
        caption="Thresholds that give the same labels",
        columns=shown,
        rows=rows,
        legend=LEGEND if strict else "",
        file=False,
    )


def _every_chart(sweeps: Mapping[str, ThresholdSweep]) -> list[Lines]:
    """Every task by the first metric, or every metric of the only task."""
    drawn = [
        (task, sweep, metric)
        for task, sweep in sweeps.items()
        for metric in sweep.metrics[: 1 if len(sweeps) > 1 else None]
    ]
    return [
        chart
        for place, (task, sweep, metric) in enumerate(drawn[:TASKS], 1)
        for chart in _charts(sweep, metric, task, "" if place == 1 else f"-{place}")
    ]


def _charts(sweep: ThresholdSweep, metric: str, task: str, tail: str) -> list[Lines]:
    """Value and rank of the models over the threshold."""
    moves, title = sweep.by(metric), named(metric).title
    steps = list(dict.fromkeys(move.threshold for move in moves))
    shares = {move.threshold: move.prevalence for move in moves}
    few = steps[:: max(1, len(steps) // 5)]
    models = list(dict.fromkeys(move.model for move in moves))
    centre = min(steps, key=lambda step: abs(step - sweep.centre))
    rank = {move.model: move.rank for move in moves if move.threshold == centre}
    order = sorted(models, key=lambda name: np.nan_to_num(rank[name], nan=len(models)))
    where = f" ({task})" if task else ""
    seen = f"of {count(len(models), 'model')} at {count(len(steps), 'threshold')}{where}."
    mark = f"{'> ' if sweep.strict else ''}{chosen(sweep.centre)}"
    ticks = [(step, _step(step)) for step in few]
    axis = "share of yes votes to be exceeded" if sweep.strict else "threshold"
    same = "+n: n more models on the same line"
    value = Lines(
        name=f"threshold-value{tail}",
        caption=f"{title} over the threshold{where}; {same}",
        alternative=f"{title} {seen}",
        x=axis,
        y=title,
        lines=_lines(moves, order[:DRAWN], "value", strict=sweep.strict),
        ticks=ticks,
        bars=[shares[step] for step in few],
        bar_title="positive items",
        marks=[(sweep.centre, mark)],
    )
    rank_chart = replace(
        value,
        name=f"threshold-rank{tail}",
        caption=f"Rank by {title} over the threshold{where}; models that tie share the mean of "
        f"their ranks; {same}",
        alternative=f"Rank by {title} {seen}",
        y=f"rank by {title}, 1 is best",
        lines=_lines(moves, order[:DRAWN], "rank", strict=sweep.strict),
        bars=(),
        bar_title="",
        y_range=(1.0, 1.0),
        downward=True,
    )
    return [value, rank_chart]


def _lines(
    moves: Sequence[Move], models: Sequence[str], key: str, *, strict: bool
) -> list[Line]:
    """Lines in steps."""
    defined = [move for move in moves if math.isfinite(getattr(move, key))]
    points_of = {
        model: [(move.threshold, getattr(move, key)) for move in defined if move.model == model]
        for model in models
    }
    return distinct_lines(
        (m, steps(points, before=not strict)) for m, points in points_of.items()
    )


def threshold_sweep(
    predictions: Predictions | Iterable[Predictions],
    probabilities: Any,
    items: Sequence[str],
    threshold: float,
    grid: Grid | None = None,
) -> ThresholdSweep:
    """Move a threshold and see what changes.

    Parameters
    ----------
    predictions
        The models to score.
    probabilities, items
        The probability of each item that the threshold is for.
    threshold
        Where to start from, for example `Threshold.value`.
    grid
        How far to go, and which metrics to take.
    """
    how = Grid() if grid is None else grid
    if not isinstance(how, Grid):
        raise wrong_type("threshold sweep, grid", grid, "a Grid", "try Grid(reach=0.1)")
    values = checked_probabilities(probabilities, items)
    if how.group is not None and len(how.group) != len(items):
        raise InputError(
            "threshold sweep, group",
            f"{len(how.group):,} groups",
            f"one for each of the {len(items):,} items",
            "align them item by item",
        )
    do = "set one with expert_threshold, or choose it"
    if not 0 <= require_number("threshold sweep, threshold", threshold, do=do) <= 1:
        raise InputError(
            "threshold sweep, threshold", f"{threshold!r}", "a number in [0, 1]", do
        )
    tried, models = how.thresholds(threshold), as_predictions(predictions)
    plan = Resampling(
        kind="items",
        items=tuple(items),
        replicates=how.replicates,
        seed=how.seed,
        group=None if how.group is None else np.asarray(how.group),
    )
    number, fewer = affordable_resamples(plan, len(items) * len(models))
    steps = _scored(models, replace(plan, replicates=number), values, tried, how)
    centre = steps[int(np.argmin(np.abs(np.array(tried) - threshold)))]
    both = list(zip(tried, steps, strict=True))
    unlike = {id(step): step for step in steps}
    moves_of = {key: _moves(threshold, step, centre.ranks) for key, step in unlike.items()}
    moves = [move._replace(threshold=t) for t, step in both for move in moves_of[id(step)]]
    first = centre.done.values[0, :, 0]
    return ThresholdSweep(
        centre=float(threshold),
        reach=how.reach,
        strict=how.strict,
        moves=tuple(moves),
        agreement={
            (t, metric.name): float(spearman(before, values_here))
            for t, step in both
            for metric, before, values_here in zip(
                step.done.metrics, first, step.done.values[0, :, 0], strict=True
            )
        },
        notices=(*fewer, *_cautions(tried, how, moves), *as_notices(centre.done.notices)),
        groups=0 if how.group is None else len(np.unique(how.group)),
    )


class _Scored(NamedTuple):
    """Every model against the labels of a threshold.

    `ranks` by hard labels are (metrics, models, 1 + replicates), the first of the data.
    """

    label: Bools
    done: Evaluation
    ranks: Floats


def _scored(
    models: list[Predictions],
    plan: Resampling,
    values: PerItem,
    tried: Sequence[float],
    how: Grid,
) -> list[_Scored]:
    """Every model against the labels of each threshold; equal labels are scored once."""
    settings = Settings(how.level, on_missing=how.on_missing, circular="keep")
    by_labels: dict[bytes, _Scored] = {}
    steps = []
    for place, threshold in enumerate(tried, 1):
        label = called(values, threshold, strict=how.strict)
        key = label.tobytes()
        if key not in by_labels:
            truth = Annotations(
                kind="binary",
                items=plan.items,
                classes=("negative", "positive"),
                item=np.arange(len(values)),
                label=label.astype(np.intp),
            )
            done = evaluate(
                models, truth, metrics=how.metrics, resampling=plan, settings=settings
            )
            first, drawn = done.values[0, :, 0, :, None], done.replicates[0, :, 0]
            values_by_metric = zip(
                np.concatenate([first, drawn], axis=-1), done.metrics, strict=True
            )
            ranks = [
                average_ranks(higher_is_better(scores, metric.better))
                for scores, metric in values_by_metric
            ]
            by_labels[key] = _Scored(label, done, np.stack(ranks))
        steps.append(by_labels[key])
        if how.progress is not None:
            how.progress(place, len(tried))
    return steps


def _moves(threshold: float, step: _Scored, before: Floats) -> list[Move]:
    """All models and metrics at one threshold with its labels."""
    done, label = step.done, step.label
    lines = {(row.metric, row.model): row for row in done.table() if row.labels == "hard"}
    here = (threshold, int(label.sum()), float(label.mean()))
    moves = []
    for k, metric in enumerate(done.metrics):
        for m, model in enumerate(done.models):
            line, place = lines[metric.name, model], step.ranks[k, m]
            rank = Estimate(float(place[0]), place[1:], "rank")
            value = (line.value, line.low, line.high, rank.value, *rank.interval(done.level))
            shift = rank.value - float(before[k, m, 0])
            moves.append(Move(*here, metric.name, model, *value, shift))
    return moves


def _cautions(tried: Sequence[float], how: Grid, moves: Sequence[Move]) -> Iterator[Notice]:
    """Say that the grid ends before it has gone all the way, or a metric is undefined."""
    if len(tried) < 2 * how.steps + 1:
        text = (
            "Thresholds are tried from {low:number} to {high:number}: a step further lies "
            "outside of 0 to 1."
        )
        yield notice("sweep_cut", text, low=tried[0], high=tried[-1])
    gone = sorted({move.threshold for move in moves if math.isnan(move.value)})
    if gone:
        text = (
            "Metrics are undefined at {where}: all items are of one class there, or too few "
            "are left."
        )
        where = f"threshold{'s' * (len(gone) > 1)} {', '.join(_step(t) for t in gone)}"
        yield notice("sweep_undefined", text, where=where)


def _step(threshold: float) -> str:
    """A threshold of a grid as it was chosen, without the noise of its sum.

    Examples
    --------
    >>> _step(0.35000000000000003), _step(0.5)
    ('0.35', '0.5')
    """
    return chosen(round(threshold, 4))


def analyse(study: Study) -> Finding:
    """How large a share of yes makes an item positive, around the majority, in every task."""
    questions = study.evaluation.questions
    if any(len(question.classes) > 1 for question in questions):
        do = hint("ask about one class: {}", ONE_CLASS)
        got = f"votes of kind {study.voted.kind}"
        raise InputError("threshold sweep", got, "yes or no", do)
    groups = study.plan.group  # by the numbers that the plan of items draws
    alone: list[str] = []
    sweeps = {}
    for done, (question, scores) in enumerate(
        zip(questions, study.evaluation.scores, strict=True), 1
    ):
        group = None if groups is None else groups[question.place]
        if group is not None and len(set(group.tolist())) == 1:
            alone.append(question.task)
        else:
            sweeps[question.task] = _swept(study, question, scores, group)
        study.tell(done, len(questions))
    if not sweeps:
        raise InputError(
            "threshold sweep",
            "a single group of scored items in every task",
            "at least two groups, which are resampled as wholes",
            "add items of other groups",
        )
    finding = _finding(sweeps)
    text = "left out of the other majorities, because all of its scored items are of one group."
    gone = [notice("sweep_one_group", text).of(task) for task in alone]
    return replace(finding, notices=(*gone, *finding.notices))


def _swept(
    study: Study, question: TaskTruth, scores: Mapping[str, Floats], group: Ints | None
) -> ThresholdSweep:
    """One task, on the items that were scored."""
    settings, items = study.settings, question.items
    grid = Grid(
        metrics=[metric.name for metric in study.evaluation.metrics],
        replicates=study.replicates,
        seed=study.seed,
        level=settings.level,
        strict=True,
        group=group,
    )
    predictions = {
        prediction.model: prediction
        for prediction in study.predictions
        if prediction.task == question.task
    }
    models = [
        Predictions(name, items, values, threshold=predictions[name].of_items(items).threshold)
        for name, values in scores.items()
    ]
    return threshold_sweep(models, question.shares[0], items, MAJORITY, grid)

"""The pilot: an evaluation of one task, and what the difference of two models is made of.

The difference is that of a metric with soft labels (mean votes), written so that it is positive
when the first model is better; its interval and its parts are those of `equipoise.evaluate`.
With V_i, V_r and V_c the parts of units, annotators and cells, n items, m votes on each and
annotators with the shares w of the votes,

    annotators = (V_r - V_c) / sum w^2,  votes = (n - 1) m V_c - annotators,
    items = n V_i - votes / m,

which on complete designs is the analysis of variance. Where items have groups, the parts of a
second evaluation without them tell what belongs to a group and what to the items in it: with u
the sum of squared shares of the groups, the excess of V_i with groups over that without, by
u - 1/n, is groups + cells / m, and that of V_c by (u - 1/n)/m is cells + annotators.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np

from equipoise.inference import Reason, Spread
from equipoise.inference.proportions import clopper_pearson
from equipoise.inference.ranks import higher_is_better
from equipoise.metrics import Metric
from equipoise.study import Settings
from equipoise.study.alignment import Aligned
from equipoise.study.arguments import as_annotations, as_metrics, as_predictions
from equipoise.study.blocks import every_class, pair
from equipoise.study.competitors import ABOUT_CUTS, ReaderTable, reader_tables
from equipoise.study.planning.power_analysis import (
    DifferenceVariances,
    PowerTarget,
)
from equipoise.study.study import Study
from equipoise.study.truth import TaskTruth
from equipoise.study.uncertainty import influence_of
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
    Notice,
    Notices,
    Option,
    Predictions,
    Progress,
    Votes,
    Whom,
    hint,
    immutable,
    joined,
    listed,
    nearest,
    number,
    wrong_type,
)

STEP = 1e-4  # of a soft label towards a class, for slopes
WIDTH = 64  # columns scored at once
BINS = "bins "  # how the family of metrics of binned probabilities begins
NOTHING = 1e-24  # variance up to which all items say the same
READERS = "the mean annotator"
LIKE_THESE = (Whom.LIKE_THESE, Whom.THESE_ITEMS)
TOLD = (  # what an evaluation says that a plan says
    *("dropped_items", "ignored_predictions", "threshold_assumed"),
    *ABOUT_CUTS,
)


@immutable(eq=False)
class Pilot:
    """Two models, one task, one metric.

    Attributes
    ----------
    study
        All models of the pilot in one task, by one metric.
    a, b
        The models; a is the better one in the pilot, unless an order was asked for.
    notices
        What the user should know.
    """

    study: Study
    a: str
    b: str
    notices: Notices = ()

    @property
    def metric(self) -> Metric:
        """What models are compared by."""
        return self.study.evaluation.metrics[0]

    @property
    def question(self) -> TaskTruth:
        """The truth of the task."""
        return self.study.evaluation.questions[0]

    @property
    def items(self) -> Names:
        """Names of the items."""
        return self.question.items

    @property
    def shares(self) -> Floats:
        """Soft labels of the scored classes, shape (classes, items)."""
        return self.question.shares

    @property
    def votes(self) -> Votes:
        """Votes on the items."""
        assert self.question.votes is not None
        return self.question.votes

    @property
    def title(self) -> str:
        """What models are compared by, in a sentence."""
        return self.metric.called("soft")

    @cached_property
    def difference(self) -> float:
        """By how much a is better than b."""
        values = self.study.evaluation.two_way(self.metric.name).values
        gap = float(values[self._place[0]] - values[self._place[1]])
        return gap if self.metric.better == "higher" else -gap

    @property
    def _place(self) -> tuple[int, int]:
        return self._models.index(self.a), self._models.index(self.b)

    @cached_property
    def spread(self) -> Spread:
        """What the uncertainty of the difference is made of, as an evaluation has it."""
        return self._spread_in(self.study)

    def _spread_in(self, study: Study) -> Spread:
        return study.evaluation.two_way(self.metric.name).between(*self._place)

    @property
    def claim(self) -> Claim:
        """What the pilot asserts of the difference, among all pairs of its models."""
        evaluation, whom = self.study.evaluation, self.spread.population
        half = self.spread.half_width(evaluation.level)
        ends = self.difference - half, self.difference + half
        if not whom.decides:
            ends = min(ends[0], 0.0), max(ends[1], 0.0)
        elif len(evaluation.models) > 2:
            ends = evaluation.family(self.metric.name).ends(*self._place, *ends)
        family = ClaimFamily(f"all pairs of models by {self.title}", len(evaluation.models))
        estimand = Estimand(self.title, whom.whose(), self.a, self.b)
        level = evaluation.level
        return Claim(estimand, whom.whom, family, self.difference, *ends, level)

    @cached_property
    def gold(self) -> Bools:
        """Items whose truth is known: their rows are no votes, shape (items,)."""
        return np.logical_or.reduceat(self.votes.annotator < 0, self.votes.start[:-1])

    @property
    def several(self) -> bool:
        """Whether some item has two votes."""
        return bool((self.votes.sizes[~self.gold] > 1).any())

    @property
    def votes_each(self) -> float:
        """Votes per item on average, items of known truth apart; 0 when there is no other."""
        voted = self.votes.sizes[~self.gold]
        return float(voted.mean()) if len(voted) else 0.0

    @cached_property
    def people(self) -> int:
        """How many annotators voted; 0 where they cannot be told apart."""
        if self.spread.population.reason not in (Reason.NONE, Reason.TOO_FEW):
            return 0
        return len(np.unique(self.votes.annotator[self.votes.annotator >= 0]))

    @cached_property
    def group_sizes(self) -> Ints:
        """How many items each group has; empty without groups of several items."""
        group = self.study.annotations.group
        size = np.bincount(np.arange(0) if group is None else group[self.question.place])
        size = size[size > 0]
        return size if len(size) < len(self.items) else np.arange(0)

    @property
    def usual(self) -> "Pilot":
        """The pair itself, or that of median variance: near copies vary less than others."""
        if self.spread.items <= NOTHING:  # the same model twice
            return self
        pairs = [replace(self, a=a, b=b) for a, b in combinations(self._models, 2)]
        median = sorted(pairs, key=lambda pair: pair.spread.variance)[len(pairs) // 2]
        return max((self, median), key=lambda pair: pair.spread.variance)

    @property
    def _models(self) -> Names:
        return self.study.evaluation.models

    @property
    def rare(self) -> float:
        """Share of the rarer class, where the metric is of a class; nan elsewhere."""
        metric, shares = self.metric, self.shares
        if len(shares) > 1 or not (metric.of_class or metric.labels == "classes"):
            return math.nan
        return float(min(shares.mean(), 1 - shares.mean()))

    @cached_property
    def components(self) -> DifferenceVariances:
        """Variances of the difference by what causes them."""
        if self.spread.items <= NOTHING:
            return DifferenceVariances(0.0)
        whole, alone = self._parts(grouped=True), self._parts(grouped=False)
        number = len(self.items)
        panel_sizes, loads = self._loads()
        people = max(whole.annotators - whole.cells, 0.0) / loads if loads else 0.0
        cells = alone.cells * (1 - 1 / number if self.people else 1.0)
        shared = mixed = 0.0  # by units, and by annotators within them
        if len(self.group_sizes):
            few = float(((self.group_sizes / number) ** 2).sum())
            shared = max(whole.items - alone.items, 0.0) / (few - 1 / number)
            excess = whole.cells * (1 - few if self.people else 1.0) - cells
            mixed = max(excess / (few - 1 / number) * panel_sizes - people, 0.0)
        votes = max(number * panel_sizes * cells - mixed - people, 0.0)
        units = len(self.group_sizes) or number
        return DifferenceVariances(
            items=max(number * alone.items - shared - votes / panel_sizes, 0.0),
            annotators=people,
            votes=votes,
            groups=max(shared - mixed / panel_sizes, 0.0),
            cells=mixed,
            tails=min(self.spread.df_items / max(units - 1, 1), 1.0),
        )

    def _loads(self) -> tuple[float, float]:
        """Votes per item (harmonic mean), and the sum of squared shares of annotators."""
        votes = self.votes
        item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
        share = votes.weight / np.add.reduceat(votes.weight, votes.start[:-1])[item]
        voted = votes.annotator >= 0
        if not voted.any():
            return 1.0, 0.0
        square = np.bincount(item[voted], share[voted] ** 2, len(votes.sizes))
        load = np.bincount(votes.annotator[voted], share[voted])
        uneven = float((load**2).sum() / load.sum() ** 2) if self.people else 0.0
        return 1 / float(square[~self.gold].mean()), uneven

    def _parts(self, *, grouped: bool) -> Spread:
        """Parts of the difference; of votes, too, where an evaluation leaves them aside."""
        grouped = grouped and len(self.group_sizes) > 0
        if self.spread.population.annotators and (grouped or not len(self.group_sizes)):
            return self.spread
        items = "random" if self.spread.population.annotators else "fixed"
        votes = self.study.annotations
        if not grouped:
            votes = replace(votes, group=None, groups=None)
        view = self.study.with_truth(votes, "influence")
        view = view.with_settings(replace(self.study.settings, items=items))
        return self._spread_in(view)

    # ---- labels other than those that were found ---------------------------------------------

    def distributions(self) -> Floats:
        """Soft labels of all classes, shape (classes, items)."""
        return np.stack(every_class(self.shares))

    @cached_property
    def _prepared(self) -> list[object]:
        evaluation = self.study.evaluation
        aligned = Aligned(
            self.question,
            evaluation.scores[0],
            evaluation.decided[0] if evaluation.decided else {},
        )
        return [self.metric.prepare(aligned.seen(m, self.metric)) for m in (self.a, self.b)]

    def difference_with(self, whole: Floats) -> float:
        """The difference with other soft labels of all classes, shape (classes, items)."""
        once = np.ones((whole.shape[1], 1), dtype=np.uint8)
        return float(self._differences(list(self._scored(whole)), once)[0])

    def effects(self, whole: Floats, progress: Progress | None = None) -> Floats:
        """Effect of a vote for each class at these labels, shape (classes, items)."""
        if self.metric.influence is None:
            return self._numeric(whole, progress)
        labels = whole if self.metric.labels == "distribution" else self._scored(whole)
        sign = 1.0 if self.metric.better == "higher" else -1.0
        derivatives = [
            influence_of(self.metric, prepared, labels).shares for prepared in self._prepared
        ]
        slope = sign * (derivatives[0] - derivatives[1])
        wide = slope[:, None] if slope.ndim == 1 else slope
        if wide.shape[1] == 1:
            wide = np.concatenate([np.zeros_like(wide), wide], axis=1)
        _tell(progress, len(self.items), len(self.items))
        return np.asarray(wide.T - (whole * wide.T).sum(axis=0))

    def _numeric(self, whole: Floats, progress: Progress | None) -> Floats:
        klass, item = np.nonzero(whole < 1)
        out = np.zeros(whole.shape)
        here = self.difference_with(whole)
        for first in range(0, len(item), WIDTH):
            part = slice(first, first + WIDTH)
            column = np.arange(len(item[part]))
            moved = [np.repeat(share[:, None], len(column), axis=1) for share in whole]
            for code, share in enumerate(moved):
                towards = (klass[part] == code) - whole[code, item[part]]
                share[item[part], column] += STEP * towards
            counts = np.ones(moved[0].shape, dtype=np.uint8)
            differences = self._differences(
                moved[1:] if len(self.shares) == 1 else moved, counts
            )
            out[klass[part], item[part]] = (differences - here) / STEP
            _tell(progress, min(first + WIDTH, len(item)), len(item))
        return out

    def _scored(self, whole: Floats) -> Floats:
        return whole[1:] if len(self.shares) == 1 else whole

    def _differences(self, shares: list[Floats], counts: np.ndarray) -> Floats:
        """First model minus second in each column, positive when the first is better."""
        metric = self.metric
        block = pair(shares, counts, whole=metric.labels == "distribution")[1]
        a, b = (metric.finish(metric.reduce(prepared, block)) for prepared in self._prepared)
        return np.asarray(a - b if metric.better == "higher" else b - a)


@immutable(eq=False)
class ValuePilot(Pilot):
    """One model by itself, whose value is to have an interval of some width."""

    @cached_property
    def difference(self) -> float:
        """The value of the model."""
        return float(self.study.evaluation.two_way(self.metric.name).values[self._place[0]])

    @property
    def _place(self) -> tuple[int, int]:
        return (self._models.index(self.a),) * 2

    def _spread_in(self, study: Study) -> Spread:
        return study.evaluation.two_way(self.metric.name).of(self._place[0])

    @property
    def usual(self) -> Pilot:
        """The pilot itself."""
        return self

    def plain_width(self, width: float) -> float:
        """Half width of the plain interval, where that of the value is so wide.

        Values between 0 and 1 have an interval on the logit scale, shares that of as many
        independent items as have the same variance.
        """
        from scipy.optimize import brentq
        from scipy.special import ndtri

        value, level = self.difference, self.study.settings.level
        half, normal = self.spread.half_width(level), float(ndtri(0.5 + level / 2))

        def too_wide(plain: float) -> float:
            if self.spread.trials is not None and 0 < value < 1 and half > 0:
                size = self.spread.share_size(half, level) * (half / plain) ** 2
                ends = clopper_pearson(value, size, level)
            else:
                same = Spread((plain / normal) ** 2)
                ends = same.interval(value, level, self.metric.bounds)
            return (ends[1] - ends[0]) / 2 - width

        return float(brentq(too_wide, width / 100, 2 * width))


@immutable(eq=False)
class ReaderPilot(Pilot):
    """A model next to the mean of the annotators, each scored without its own votes."""

    @cached_property
    def _table(self) -> ReaderTable:
        return reader_tables(self.study)[-1]

    @property
    def title(self) -> str:
        """By what the model is compared with annotators."""
        return self._table.titles[self._table.measure(self.a)]

    @cached_property
    def difference(self) -> float:
        """By how much the model is better."""
        return float(self._table.contrasts.like_these.values[self._models.index(self.a)])

    @property
    def claim(self) -> Claim:
        """What the pilot asserts, of this model alone."""
        claims = self._table.claims((self.a,))
        like_these = next(claim for (_, whom), claim in claims.items() if whom in LIKE_THESE)
        return replace(like_these, estimand=like_these.estimand._replace(against=self.b))

    def _spread_in(self, study: Study) -> Spread:
        """What annotators do to the truth of the others comes with them."""
        cell = reader_tables(study)[-1].contrasts.like_these
        spread = cell.of(self._models.index(self.a))
        if not spread.population.annotators:
            got = f"{number(spread.population.effective, 1)} effective annotators"
            do = "collect a pilot with more annotators of about equal loads"
            raise InputError("pilot, readers", got, "at least 3 that can stand for others", do)
        return replace(spread, annotators=spread.annotators + spread.draws, draws=0.0)

    @property
    def usual(self) -> Pilot:
        """The pilot itself."""
        return self

    @property
    def rare(self) -> float:
        """Share of the rarer class of yes and no."""
        share = float(self.shares[0].mean())
        return min(share, 1 - share) if len(self.shares) == 1 else math.nan

    def _loads(self) -> tuple[float, float]:
        weight = self._table.contrasts.weight
        return super()._loads()[0], float(weight @ weight)


def _pilot_study(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    metric: str | Metric,
    models: Names | None,
    aim: PowerTarget,
) -> Study:
    """The models of one task, all or the two that are named, by one metric."""
    chosen = usable_metric(*as_metrics([metric]))
    every_model, annotations = as_predictions(predictions), as_annotations(annotations)
    tasks, task = annotations.tasks, aim.task
    asked_task = tasks[0] if task is None else task
    if task is None and len(tasks) > 1:
        do = hint("choose one ({}): {}", Option("task"), ", ".join(tasks))
        raise InputError("annotations", f"{len(tasks)} tasks", "one", do)
    if asked_task not in tasks:
        raise InputError("task", f"{task!r}", "a task of these", nearest(str(task), tasks))
    mine = [prediction for prediction in every_model if prediction.task == asked_task]
    if not mine and len(tasks) == 1:
        mine = [
            replace(prediction, task=asked_task)
            for prediction in every_model
            if not prediction.task
        ]
    names = tuple(prediction.model for prediction in mine)
    for name in models or ():
        if name not in names:
            raise InputError("models", f"{name!r}", "models of these", nearest(name, names))
    if models is not None:
        mine = [prediction for prediction in mine if prediction.model in models]
    if not aim.alone and len({prediction.model for prediction in mine}) < 2:
        raise InputError("models", "a single one", "two to compare", "name two models")
    how = Settings(level=aim.level, on_missing="drop", thresholds=aim.thresholds)
    study = Study.of(mine, annotations, metrics=[chosen], resampling="influence", settings=how)
    _check(study)
    return study


def _check(study: Study) -> None:
    """Refuse pilots that are too small, and values that are undefined."""
    question, metric = study.evaluation.questions[0], study.evaluation.metrics[0]
    if len(question.items) < 3:
        got = f"{len(question.items)} items"
        raise InputError("pilot", got, "at least 3", "collect a larger pilot")
    group = study.annotations.group
    if group is not None and len(np.unique(group[question.place])) < 2:
        raise InputError(
            "pilot", "a single group", "at least two groups of items", "leave the group out"
        )
    if np.isnan(study.evaluation.two_way(metric.name).values).any():
        where, got = f"metric {metric.name}", "undefined on the pilot"
        raise InputError(where, got, "votes for every class", "collect a larger pilot")


def pilots(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    metric: str | Metric,
    models: Names | None = None,
    *,
    aim: PowerTarget | None = None,
    ranking: bool = False,
) -> list[Pilot]:
    """What a plan is about: two models, for a ranking every model with the next, or one model.

    The two are those that are named, or the two best; models that score exactly as the best are
    passed over unless they were asked for. A model by itself, or next to annotators, is the
    one that is named, or the best.
    """
    aim = aim or PowerTarget()
    named = _model_names(models, 1 if aim.alone else 2)
    if aim.alone and ranking:
        raise InputError("plan", "the whole order", "a plan of one model", "leave ranking out")
    if named is not None and ranking:
        got, do = f"{joined(named)}, and the whole order", "leave one out"
        raise InputError("models", got, "two models or the order of all", do)
    study = _pilot_study(predictions, annotations, metric, named, aim)
    compared, names = study.evaluation.metrics[0], study.evaluation.models
    good = higher_is_better(study.evaluation.two_way(compared.name).values, compared.better)
    order = np.argsort(-good, kind="stable")
    notices = [notice for notice in study.evaluation.notices if notice.code in TOLD]
    if aim.alone:
        require_finite(compared, [names[m] for m in order[:1] if np.isinf(good[m])])
        kind = ReaderPilot if aim.readers else ValuePilot
        return [kind(study, names[order[0]], READERS * aim.readers, tuple(notices))]
    if not ranking:
        below = [m for m in order[1:] if named is not None or good[m] < good[order[0]]]
        rival = (below or order[1:])[0]
        same = tuple(names[m] for m in order[1:] if m != rival and good[m] == good[order[0]])
        if same and below:
            text = "Passed over, with exactly the value of {best!r}: {same:names}."
            values = {"best": names[order[0]], "same": same}
            notices.append(Notice("passed_over", text, values=values))
        order = np.array([order[0], rival])
    require_finite(compared, [names[m] for m in order if np.isinf(good[m])])
    return [Pilot(study, names[a], names[b], tuple(notices)) for a, b in pairwise(order)]


def _model_names(models: object, number: int) -> Names | None:
    """Names of so many models; None for the best."""
    if models is None:
        return None
    several = models if isinstance(models, Sequence) and not isinstance(models, str) else ()
    names = tuple(name for name in several if isinstance(name, str))
    if len(names) != number or len(several) != number:
        words = {1: ("the name of one model in a list", "name one"),
                 2: ("the names of two models", "name two of them")}[number]  # fmt: skip
        raise wrong_type("models", models, *words)
    return names


def usable_metric(metric: Metric) -> Metric:
    """Refuse metrics whose value changes with the number of items, or without votes.

    With bins the distance in each is as large as chance makes it, which more items lessen.
    """
    why = {
        "draws of possible truths": metric.labels == "draws",
        "a fixed number k of items": metric.min_items > 1,
        "bins, whose value depends on the number of items": metric.family.startswith(BINS),
    }
    for what, refused in why.items():
        if refused:
            expected = "one that means the same for any number of items"
            do = "plan by auroc, average_precision, brier_score or another such metric"
            raise InputError(f"metric {metric.name}", f"a metric of {what}", expected, do)
    return metric


def require_finite(metric: Metric, infinite: Sequence[str]) -> None:
    """Refuse models whose value is infinite, as a log score with a probability of 0."""
    if infinite:
        raise InputError(
            f"metric {metric.name}",
            f"infinite for {listed(infinite)}",
            "finite values",
            "give no class that somebody may choose a probability of 0, or plan by another "
            "metric, as brier_score",
        )


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)

"""Competitors: every model next to every reader, in one table of contrasts.

A reader is scored on the truth made without that reader, the mean vote of the others, on the
items that it read, and every model beside it on exactly that truth and those items. Where items
have gold, that is a second truth, the reference standard, from which nobody is left out.
Values, weights and variances are those of `equipoise.inference.reader_contrasts`.

What is compared: decisions with decisions. A model decides where its predictions are decisions,
or where a cut was stated; then it is compared by balanced accuracy, with sensitivity and
specificity beside it, unless the first metric that the user named is one of decisions. A model
with scores and no stated cut is compared by its sensitivity at the reader's own false
positives; scores are never cut where nobody scored. Several classes are compared by Cohen's
kappa, grades by quadratic weighted kappa, or by the metric named: by accuracy a constant answer
would be among the best where one class is common.

Whatever predicts is a competitor: it has a row, by its decisions (judge, panel, arm of readers)
or by its scores (detector, uncertainty method), and the gain over every reader with its
influences; runs with different seeds are one row, their mean. Readers with and without aid are
laid out by `equipoise.study.reader_arms` and pooled as regulators do, in the same table.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> from equipoise.study import Study
>>> readings, scores = reading_study()
>>> table, = reader_tables(Study.of(scores[:2], readings, metrics=["auroc"]))
>>> table.claims(table.models[:1])[table.models[0], Whom.LIKE_THESE].decision
<Decision.SUPERIOR: 'superior'>
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import cycle
from typing import NamedTuple

import numpy as np

from equipoise.inference.intervals import TwoWay, simultaneous_widths
from equipoise.inference.reader_contrasts import (
    Gains,
    ReaderContrasts,
    Readings,
    compare_readers,
    decision_gains,
    kish_factor,
    matched_gains,
)
from equipoise.metrics import Influence, Metric, named
from equipoise.metrics.ratings import ends_of_scale
from equipoise.study.alignment import Aligned
from equipoise.study.arguments import default_metrics
from equipoise.study.study import Settings, Study
from equipoise.study.thresholds import with_thresholds
from equipoise.study.truth import TaskTruth
from equipoise.study.uncertainty import influence_of, scored_class_slopes
from equipoise.types import (
    Annotations,
    Claim,
    ClaimFamily,
    Estimand,
    Floats,
    InputError,
    Ints,
    Names,
    Notice,
    Notices,
    Votes,
    Whom,
    collect_votes,
    count,
    immutable,
    notice,
    short_repr,
)

OTHERS, GOLD = "others", "gold"  # truths
MATCHED, BALANCED = "matched_sensitivity", "balanced_accuracy"
SENSITIVITY, SPECIFICITY = "sensitivity", "specificity"
SIDES = (BALANCED, SENSITIVITY, SPECIFICITY)
RATED = "auroc"  # where readers rate items
TITLES = {
    MATCHED: "sensitivity at equal false positives",
    BALANCED: "balanced accuracy",
    SENSITIVITY: SENSITIVITY,
    SPECIFICITY: SPECIFICITY,
}
TRUTHS = {
    OTHERS: ("positives as the other readers call them", "answers as the other readers give"),
    GOLD: ("positives by the reference standard", "answers by the reference standard"),
}
POSSIBLE = "models that could be first, against readers"
ALL_MODELS = "all models against readers"
ARMS = "arms of readers"
ALL_TASKS = "models against readers, task by task"
ROOM, COPIES = 2**30, 3  # bytes of slopes by every vote and class, and how often they are held
MOST = 100  # readers that are compared, those with most votes
KINDS = ("binary", "nominal", "ordinal")
ABOUT_CUTS = ("thresholds", "cross_fitted", "tuning_split")


class Row(NamedTuple):
    """A competitor by a measure."""

    competitor: str
    measure: str


class ModelScores(NamedTuple):
    """What the models of one task say of its items.

    Attributes
    ----------
    rows
        A model by a measure each, those that decide first: one of every model.
    scores, called
        Of models without a stated cut, and with one, (models, items); of several classes both
        are empty.
    distributions
        For a metric, (models, items, classes).
    metric
        That metric; None where decisions are compared by balanced accuracy, or by one side.
    """

    rows: tuple[Row, ...]
    scores: Mapping[str, Floats]
    called: Mapping[str, Floats]
    distributions: Mapping[str, Floats]
    metric: Metric | None

    @property
    def measures(self) -> Names:
        """By what readers alone have a value, that of the verdict first."""
        if self.metric is not None:
            return (self.metric.name,)
        first = self.rows[0].measure
        return SIDES if first == MATCHED else (first, *(x for x in SIDES if x != first))

    @property
    def lower(self) -> str:
        """The measure of which less is better, if it is one."""
        less = self.metric is not None and self.metric.better == "lower"
        return self.metric.name if self.metric and less else ""

    @property
    def titles(self) -> Mapping[str, str]:
        """What measures are called."""
        return TITLES | ({self.metric.name: self.metric.title} if self.metric else {})

    def gains(self, votes: Readings) -> Gains | None:
        """Every row over a reader with these votes; None where that is undefined."""
        items, yes, right = votes.item, votes.answer[:, -1], votes.truth[:, -1]
        parts: list[tuple[str, Iterable[str], Gains | None]] = []
        if self.scores:
            scores = np.stack([score[items] for score in self.scores.values()])
            parts += [(MATCHED, self.scores, matched_gains(scores, yes, right))]
        if self.called:
            called = np.stack([decided[items] for decided in self.called.values()])
            by_side = decision_gains(called, yes, right) or (None,) * 3
            parts += [(side, self.called, x) for side, x in zip(SIDES, by_side, strict=True)]
        if self.metric is not None and self.distributions:
            predicted = [values[items] for values in self.distributions.values()]
            gains = _metric_gains(self.metric, predicted, votes)
            parts += [(self.metric.name, self.distributions, gains)]
        places = {
            Row(model, measure): (gains, place)
            for measure, models, gains in parts
            for place, model in enumerate(models)
            if gains is not None
        }
        if not set(self.rows) <= set(places):
            return None
        chosen = [places[row] for row in self.rows]
        value, gain, influence, by_truth = (
            np.stack([getattr(gains, name)[place] for gains, place in chosen])
            for name in Gains._fields[:4]
        )
        joint = Gains(value, gain, influence, by_truth, chosen[0][0].scale)
        return None if np.isnan(joint.gain).any() else joint

    def of_reader(self, votes: Readings) -> tuple[Floats, Floats] | None:
        """Values of a reader alone, and how each vote moves them; None where undefined."""
        if self.metric is not None:
            part = _signed(self.metric, _on_scale(self.metric, votes.answer), votes.truth)
            value, influence = np.array([part.value]), part.items[None]
            return None if np.isnan(part.value) else (value, influence)
        answer, never = votes.answer.T, np.zeros(len(votes.answer))
        over_never = decision_gains(answer, never, votes.truth[:, 0])
        if over_never is None:
            return None
        by_side = dict(zip(SIDES, over_never, strict=True))
        sides = [by_side[side] for side in self.measures]
        value = np.concatenate([side.value + side.gain for side in sides])
        return value, np.concatenate([side.influence for side in sides])


def _signed(metric: Metric, answer: Floats, truth: Floats) -> Influence:
    """Value of some answers and its derivatives, positive is better; nan where undefined."""
    yes = truth[:, -1]
    factor: Floats | float = kish_factor(np.ones(len(truth)))
    if _scale_of(metric) is not None:
        answer = answer[:, 0]
    elif metric.labels == "classes":  # influences are centred in each class
        if min(yes.sum(), (1 - yes).sum()) == 0:
            return Influence(np.nan, yes, yes)
        factor = yes * kish_factor(yes) + (1 - yes) * kish_factor(1 - yes)
        answer = answer[:, 0]
    elif truth.shape[1] == 1:
        answer, truth = (np.hstack([1 - x, x]) for x in (answer, truth))
    sign = 1.0 if metric.better == "higher" else -1.0
    part = influence_of(metric, metric.prepare(answer), truth.T)
    return Influence(sign * part.value, sign * factor * part.items, sign * part.shares)


def _scale_of(metric: Metric) -> tuple[float, float] | None:
    """The scale of ratings that a metric is bound to, if it is."""
    return None if metric.bound is None else ends_of_scale(metric.bound)


def _on_scale(metric: Metric, answer: Floats) -> Floats:
    """Ratings of a reader, which count from 0 to 1, as models say theirs."""
    ends = _scale_of(metric)
    return answer if ends is None else ends[0] + (ends[1] - ends[0]) * answer


def _metric_gains(metric: Metric, predicted: Sequence[Floats], votes: Readings) -> Gains:
    """Gains by a metric, positive where the model is better."""
    reader = _signed(metric, _on_scale(metric, votes.answer), votes.truth)
    models = [_signed(metric, values, votes.truth) for values in predicted]
    classes = votes.truth.shape[1]
    return Gains(
        np.full(len(models), reader.value),
        np.array([model.value - reader.value for model in models]),
        np.stack([model.items - reader.items for model in models]),
        np.stack(
            [scored_class_slopes(model.shares - reader.shares, classes) for model in models]
        ),
        1 / len(votes.item),
    )


@immutable(eq=False, kw_only=True)
class TaskReaders:
    """The readers of one task, or of all.

    Attributes
    ----------
    task
        Its name.
    contrasts
        Every row next to every reader; None where nobody can be compared.
    items
        How many items each reader read that another read too, or that have gold, (readers,).
    rates
        False positive rate, sensitivity and precision of each reader, (3, readers); nan for
        several classes.
    """

    task: str
    contrasts: ReaderContrasts | None
    items: Ints
    rates: Floats


@immutable(eq=False, kw_only=True)
class ReaderTable:
    """Every model next to every reader, by one truth.

    Attributes
    ----------
    truth
        ``others``: the votes of the other readers; ``gold``: the reference standard.
    models, readers
        Their names.
    rows
        A competitor by a measure each; the first are one of every competitor, arms before
        models, and make claims.
    contrasts
        On average over the tasks.
    tasks
        The readers task by task.
    titles
        What measures are called.
    yes_no
        Whether there are positives.
    settings
        Level, margin, and what counts as a sample.
    notices
        What the user should know.
    arms
        In which readers read, that without aid first; empty where they are no competitors.
    designs
        Of arms, by row: how many readers it rests on, and whether they are paired.
    lower
        The measure of which less is better: values of readers have the other sign.
    """

    truth: str
    models: Names
    readers: Names
    rows: tuple[Row, ...]
    contrasts: ReaderContrasts
    tasks: tuple[TaskReaders, ...]
    titles: Mapping[str, str]
    yes_no: bool
    settings: Settings
    notices: Notices = field(default=())
    arms: Names = ()
    designs: Sequence[tuple[int, bool]] = ()
    lower: str = ""

    __repr__ = short_repr

    @property
    def competitors(self) -> Names:
        """Arms with aid, then models, as the first rows are."""
        return (*self.arms[1:], *self.models)

    def measure(self, competitor: str) -> str:
        """By what a competitor is compared in the verdict."""
        return self.rows[self.competitors.index(competitor)].measure

    def against(self, competitor: str) -> str:
        """With whom a competitor is compared: readers, those without aid, or their arm."""
        baseline = self.arms[0] if self.arms else ""
        return baseline if competitor in self.arms else f"{baseline} readers".strip()

    def above(self, row: int) -> tuple[int, int, int]:
        """Over how many readers the estimate is above 0, and below, and how many there are."""
        gain = self.contrasts.gain[row][self.contrasts.weight > 0]
        return int((gain > 0).sum()), int((gain < 0).sum()), len(gain)

    def ranges(self, task: str) -> Mapping[str, tuple[float, float]]:
        """Lowest and highest sensitivity and specificity of the readers of a task."""
        rates = next(part.rates for part in self.tasks if part.task == task)
        sides = {SENSITIVITY: rates[1], SPECIFICITY: 1 - rates[0]}
        return {
            side: (float(np.nanmin(values)), float(np.nanmax(values)))
            for side, values in sides.items()
            if not np.isnan(values).all()
        }

    def claims(self, possible: Sequence[str]) -> Mapping[tuple[str, Whom], Claim]:
        """Claims on the mean over readers, by competitor and population, the widest last.

        Models that could be first are one family, so that the leader is claimed for no more
        than any of them; models that could not are claimed in the family of all; arms are a
        family of their own.

        Parameters
        ----------
        possible
            Models that could be the first.
        """
        inside = tuple(model for model in self.models if model in possible)
        families = ((ARMS, self.arms[1:]), (ALL_MODELS, self.models), (POSSIBLE, inside))
        return {
            (competitor, whom): claim
            for whom, cell in self._populations(self.contrasts)
            for family in families
            for competitor, claim in self._of_family(cell, family, whom).items()
        }

    def task_claims(
        self, models: Sequence[str], possible: Sequence[str], family: str = ALL_TASKS
    ) -> Mapping[tuple[str, str], Claim]:
        """Claims on models in every task, in one family of all tasks and models.

        Of readers like these, or of these readers where they are too few to stand for others;
        of a single task they are those on the mean.
        """
        claims: dict[tuple[str, str], Claim] = {}
        if len(self.tasks) == 1:
            of_mean, task = self.claims(possible), self.tasks[0].task
            return {(task, m): claim for (m, _), claim in of_mean.items() if m in models}
        for part in self.tasks:
            for whom, cell in self._populations(part.contrasts)[-1:]:
                here = self._of_family(cell, (family, models), whom, part.task)
                claims |= {(part.task, model): claim for model, claim in here.items()}
        return claims

    def _populations(self, contrasts: ReaderContrasts | None) -> list[tuple[Whom, TwoWay]]:
        """Whom something can be claimed for, the widest last."""
        cells: list[tuple[Whom, TwoWay]] = []
        if contrasts is None:
            return cells
        random, others = self.settings.items == "random", contrasts.like_these
        if random and contrasts.these is not None:
            cells.append((Whom.THESE_READERS, contrasts.these))
        if others.population.annotators:
            cells.append((Whom.LIKE_THESE if random else Whom.THESE_ITEMS, others))
        return cells

    def _of_family(
        self, cell: TwoWay, of: tuple[str, Sequence[str]], whom: Whom, task: str = ""
    ) -> dict[str, Claim]:
        """Claims that hold together; those on a task with those on all others."""
        how, (name, members), tasks = self.settings, of, len(self.tasks) if task else 1
        family, level = ClaimFamily(name, tasks * len(members)), 1 - (1 - how.level) / tasks
        places = [self.competitors.index(competitor) for competitor in members]
        if self.arms:  # by Bonferroni's levels
            level = 1 - (1 - how.level) / max(len(members), 1)
            widths = [cell.of(place).half_width(level) for place in places]
        else:
            widths = simultaneous_widths(cell.subset(places), level).tolist()
        truth, claims = TRUTHS[self.truth][not self.yes_no], {}
        for place, width in zip(places, widths, strict=True):
            row, value = self.rows[place], float(cell.values[place])
            metric = self.titles[row.measure] + (f" ({task})" if task else "")
            competitor = row.competitor
            estimand = Estimand(metric, truth, competitor, self.against(competitor))
            claims[competitor] = Claim(
                estimand, whom, family, value,
                value - width, value + width, how.level, how.margin,
            )  # fmt: skip
        return claims


def reader_tables(study: Study) -> tuple[ReaderTable, ...]:
    """Every model of a study next to its readers, by each truth that there is.

    Parameters
    ----------
    study
        Models and votes of people with names.
    """
    study = with_stated_cuts(study.everybody)
    codes = people_who_voted(study.annotations)
    _require_room(study)
    tables = []
    by_truth = {
        OTHERS: [by_others(task.question, codes) for task in study.aligned],
        GOLD: [by_gold(study.annotations, task.question, codes) for task in study.aligned],
    }
    for truth, laid in by_truth.items():
        laid = with_shared_units(study.aligned, study.annotations.group, laid)
        table = _table(study, truth, codes, laid)
        if table is not None:
            tables.append(table)
    if not tables:
        got = f"{count(len(codes), 'annotator')} without an item that can be compared"
        raise _refusal(got)
    return tuple(tables)


def _require_room(study: Study) -> None:
    """Refuse slopes by every vote and class that would not fit, before they are made."""
    size = 0
    for aligned in study.aligned:
        votes, classes = aligned.question.votes, len(aligned.question.classes)
        if votes is not None and classes > 1:
            size += COPIES * 8 * len(aligned.scores) * len(votes.annotator) * classes
    if size > ROOM:
        got, room = (f"{count(round(part / 2**20))} MiB of memory" for part in (size, ROOM))
        raise InputError(
            "readers", got, f"at most {room}", "ask about fewer classes or annotators"
        )


def with_stated_cuts(study: Study) -> Study:
    """The same where scores with a stated threshold are decisions."""
    if study.thresholds is None or study.annotations.kind != "binary":
        return study
    return with_thresholds(study.with_metrics([BALANCED]), study.thresholds)


def people_who_voted(annotations: Annotations) -> Ints:
    """Codes of the annotators of opinions; raises unless they gave labels under their names."""
    if annotations.annotators is None:
        raise _refusal("anonymous votes")
    if annotations.kind not in KINDS and annotations.scale is None:
        raise InputError(
            "readers",
            f"annotations of kind {annotations.kind}",
            "classes, grades, or yes and no",
            "ask a yes/no question of them",
        )
    assert annotations.annotator is not None
    return np.unique(annotations.annotator[~annotations.gold])


def _refusal(got: str) -> InputError:
    return InputError(
        "readers",
        got,
        "at least two annotators with ids who read the same items, or gold labels beside votes",
        "leave readers out, or name who voted",
    )


# ---- what models say -----------------------------------------------------------------------


def model_scores(study: Study, aligned: Aligned, *, rated: bool = False) -> ModelScores:
    """What the models of a task say, and by what each is compared.

    Parameters
    ----------
    study, aligned
        Models and truth, and those of a task.
    rated
        Whether readers rate items, so that everybody has a curve.
    """
    if aligned.question.rated:
        return _rating_scores(study, aligned)
    metric, several = _named_metric(study), len(aligned.question.classes) > 1
    if rated or several:
        metric = named(RATED) if rated else metric or usual_metric(aligned)
        shares = {
            model: aligned.distributions(model) if several else score[:, None]
            for model, score in aligned.scores.items()
        }
        by_metric = tuple(Row(model, metric.name) for model in shares)
        return ModelScores(by_metric, {}, {}, shares, metric)
    cut = models_with_cut(study)
    called = {
        model: aligned.decided.get(model, score)
        for model, score in aligned.scores.items()
        if model in cut
    }
    scores = {model: score for model, score in aligned.scores.items() if model not in cut}
    measure = BALANCED if metric is None else metric.name
    rows = [Row(model, measure if model in cut else MATCHED) for model in aligned.scores]
    rows += [Row(m, side) for m in called for side in SIDES[1:] if side != measure]
    metric = None if measure in TITLES else metric
    shares = {model: score[:, None] for model, score in called.items()}
    return ModelScores(tuple(rows), scores, called, shares, metric)


def _rating_scores(study: Study, aligned: Aligned) -> ModelScores:
    """What models say of items that readers rate on a scale, by the first metric of these."""
    first = study.metrics[0] if study.metrics else named("pearson")
    metric = first if first.influence is not None else named("pearson")
    metric = metric.among(aligned.question.classes)
    shares = {model: score[:, None] for model, score in aligned.scores.items()}
    rows = tuple(Row(model, metric.name) for model in shares)
    return ModelScores(rows, {}, {}, shares, metric)


def usual_metric(aligned: Aligned) -> Metric:
    """By what decisions for one of several classes, or grades, are compared."""
    grades = aligned.question.ordered
    return named("quadratic_weighted_kappa" if grades else "cohen_kappa")


def models_with_cut(study: Study) -> frozenset[str]:
    """Models that decide in every task, by themselves or by a cut that somebody stated."""
    assumed = {(row.model, row.task) for row in study.used if row.how == "assumed"}
    without = {
        model.model
        for model in study.predictions
        if not model.decides
        and (model.threshold is None or (model.model, model.task) in assumed)
    }
    return frozenset(model.model for model in study.predictions) - without


def _named_metric(study: Study) -> Metric | None:
    """The first metric, where the user named one of decisions that has derivatives."""
    names = tuple(metric.name for metric in study.metrics)
    if not names or names == default_metrics(study.truth, study.predictions):
        return None
    metric = study.metrics[0]
    if metric.decides and (metric.name in TITLES or metric.labels == "distribution"):
        return metric if metric.influence is not None else None
    return None


# ---- who says what -------------------------------------------------------------------------


def _pairs(votes: Votes, masses: Sequence[Floats], codes: Ints, items: int) -> Readings | None:
    """Each pair of item and reader once, each item as its own unit; gold is nobody's."""
    keep = votes.annotator >= 0
    item = np.repeat(np.arange(items), votes.sizes)[keep]
    reader = np.searchsorted(codes, votes.annotator[keep])
    cell, pair = np.unique(item * len(codes) + reader, return_inverse=True)
    if not len(cell):
        return None
    item, reader = np.divmod(cell, len(codes))
    weight = np.bincount(pair, votes.weight[keep], len(cell)).astype(np.float64)
    parts = [np.bincount(pair, (votes.weight * mass)[keep], len(cell)) for mass in masses]
    answer = np.stack(parts, axis=1) / weight[:, None]
    return Readings(item, reader, item, weight, answer, answer)


def by_others(question: TaskTruth, codes: Ints) -> Readings | None:
    """Readings against the votes of the others, on items without gold."""
    assert question.votes is not None
    pairs = _pairs(question.votes, question.masses, codes, len(question.items))
    if pairs is None:
        return None
    laid = Readings.of_votes(pairs.item, pairs.reader, pairs.unit, pairs.weight, pairs.answer)
    return laid if len(laid.item) else None


def by_gold(annotations: Annotations, question: TaskTruth, codes: Ints) -> Readings | None:
    """Readings against the reference standard, on items with gold."""
    assert question.votes is not None
    gold = question.votes.gold
    opinions = annotations.rows(~annotations.gold)
    if not gold.any() or not opinions.in_task(question.task).any():
        return None
    votes = collect_votes(replace(opinions, is_gold=None), question.task)
    place = np.full(len(annotations.items), -1)
    place[question.place[gold]] = np.flatnonzero(gold)
    rows = np.flatnonzero(place[votes.items] >= 0)
    if not len(rows):
        return None
    votes = votes.subset(rows)
    classes = [1] if len(question.classes) == 1 else range(len(question.classes))
    pairs = _pairs(votes, [votes.mass(code) for code in classes], codes, len(rows))
    if pairs is None:
        return None
    item = place[votes.items][pairs.item]
    return replace(pairs, item=item, unit=item, truth=question.shares.T[item])


def with_shared_units(
    aligned: Sequence[Aligned], group: Ints | None, laid: Sequence[Readings | None]
) -> list[Readings | None]:
    """The same with groups of items, or items, counted over all tasks, sorted by them.

    Parameters
    ----------
    aligned
        The tasks.
    group
        Of every item; None where items do not come in groups.
    laid
        Readings of every task, perhaps several times.
    """
    places = [
        np.zeros(0, dtype=np.int64) if part is None else task.question.place[part.item]
        for task, part in zip(cycle(aligned), laid, strict=False)
    ]
    whole = np.concatenate(places)
    unit = np.unique(whole if group is None else group[whole], return_inverse=True)[1]
    units = np.split(unit, np.cumsum([len(place) for place in places])[:-1])
    return [
        None if part is None else part.in_units(codes)
        for part, codes in zip(laid, units, strict=True)
    ]


# ---- the table -----------------------------------------------------------------------------


def _table(
    study: Study, truth: str, codes: Ints, readings: Sequence[Readings | None]
) -> ReaderTable | None:
    """Contrasts of every task, and of their average."""
    annotations, how = study.annotations, study.settings
    compared, notices = _compared(codes, readings)
    scored = [model_scores(study, aligned) for aligned in study.aligned]
    models, group = tuple(study.aligned[0].scores), annotations.annotator_group
    contrasts = partial(
        compare_readers,
        leading=len(models),
        units="items" if annotations.group is None else "groups",
        items=how.items == "random",
        annotators=how.annotators == "random",
        group=None if group is None else group[codes],
    )
    parts, tasks = [], []
    for aligned, part, scores in zip(study.aligned, readings, scored, strict=True):
        gains = [] if part is None else [(part, gains_over(part, scores, compared, len(codes)))]
        parts += gains
        tasks.append(_of_task(aligned.question, contrasts(gains), part, len(codes)))
    whole = tasks[0].contrasts if len(tasks) == 1 else contrasts(parts)
    if whole is None:
        return None
    cuts = [note for note in study.notices if note.code in ABOUT_CUTS]
    first = study.aligned[0].question
    names = annotations.annotators or ()
    return ReaderTable(
        truth=truth,
        models=models,
        readers=tuple(names[code] for code in codes),
        rows=scored[0].rows,
        contrasts=whole,
        tasks=tuple(tasks),
        titles=scored[0].titles,
        yes_no=len(first.classes) == 1 and not first.rated,
        settings=how,
        notices=(*cuts, *notices, *_few(whole, how)),
        lower=scored[0].lower,
    )


def _compared(codes: Ints, readings: Sequence[Readings | None]) -> tuple[Ints, list[Notice]]:
    """The readers with most votes, and that the others are left out."""
    read = [part.reader for part in readings if part]
    load = np.bincount(np.concatenate([codes[:0], *read]), minlength=len(codes))
    active = np.flatnonzero(load)
    order = active[np.argsort(-load[active], kind="stable")]
    if len(active) <= MOST:
        return active, []
    text = "Of {people:count} annotators the {most:count} with most votes are compared."
    return order[:MOST], [notice("readers_most", text, people=len(active), most=MOST)]


def gains_over(
    readings: Readings, scores: ModelScores, compared: Ints, readers: int
) -> list[Gains | None]:
    """What every model gains over every reader."""
    gains: list[Gains | None] = [None] * readers
    for reader in np.intersect1d(compared, readings.reader):
        gains[reader] = scores.gains(readings.of_reader(reader))
    return gains


def _of_task(
    question: TaskTruth,
    contrasts: ReaderContrasts | None,
    readings: Readings | None,
    readers: int,
) -> TaskReaders:
    """Items and rates of every reader."""
    items, rates = np.zeros(readers, dtype=np.int64), np.full((3, readers), np.nan)
    if readings is not None:
        items = np.bincount(readings.reader, minlength=readers)
        if readings.answer.shape[1] == 1 and not question.rated:
            yes, truth = readings.answer[:, 0], readings.truth[:, 0]
            hits, called, positive = (
                np.bincount(readings.reader, x, readers) for x in (yes * truth, yes, truth)
            )
            with np.errstate(invalid="ignore", divide="ignore"):
                rates = np.stack(
                    [(called - hits) / (items - positive), hits / positive, hits / called]
                )
    return TaskReaders(task=question.task, contrasts=contrasts, items=items, rates=rates)


def _few(contrasts: ReaderContrasts, how: Settings) -> Iterator[Notice]:
    """That nothing is scored of readers like these."""
    whom = contrasts.like_these.population
    if how.annotators == "random" and not whom.annotators:
        text = (
            "The design has {effective:number} effective {people}, too few to speak of "
            "{people} like these: claims are on these readers."
        )
        people = whom.people.replace("annotators", "readers")
        yield notice("few_readers", text, effective=whom.effective, people=people)

"""Competitors: every model next to every reader, in one table of contrasts.

A reader is scored on the truth made without that reader, the mean vote of the others, on the
items that it read, and every model beside it on exactly that truth and those items. Where items
have gold, that is a second truth, the reference standard, from which nobody is left out.
Values, weights and variances are those of `equipoise.inference.reader_contrasts`.

What is compared: decisions with decisions. A model decides where its predictions are decisions,
or where a cut was stated; then it is compared by balanced accuracy, with sensitivity and
specificity beside it, unless the first metric that the user named is one of decisions. A model
with scores and no stated cut is compared by its sensitivity at the reader's own false
positives; scores are never cut where nobody scored. Several classes are compared by accuracy,
grades by quadratic weighted kappa, or by the metric named.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> from equipoise.study import Study
>>> readings, scores = reading_study()
>>> table, = reader_tables(Study.of(scores[:2], readings, metrics=["auroc"]))
>>> table.claims(table.models[:1])[table.models[0], Whom.LIKE_THESE].decision
<Decision.SUPERIOR: 'superior'>
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
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
from equipoise.metrics import Metric, named
from equipoise.study.alignment import Aligned
from equipoise.study.arguments import default_metrics
from equipoise.study.study import Settings, Study
from equipoise.study.thresholds import with_thresholds
from equipoise.study.truth import TaskTruth
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
ALL_TASKS = "models against readers, task by task"
ROOM, COPIES = 2**30, 3  # bytes of slopes by every vote and class, and how often they are held
MOST = 100  # readers that are compared, those with most votes
KINDS = ("binary", "nominal", "ordinal")
ABOUT_CUTS = ("thresholds", "cross_fitted", "tuning_split")


class Row(NamedTuple):
    """A model by a measure."""

    model: str
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
        For a metric that takes classes, (models, items, classes).
    metric
        That metric; None where decisions are compared by balanced accuracy, or by one side.
    """

    rows: tuple[Row, ...]
    scores: Mapping[str, Floats]
    called: Mapping[str, Floats]
    distributions: Mapping[str, Floats]
    metric: Metric | None

    def gains(self, items: Ints, answer: Floats, truth: Floats) -> Gains | None:
        """Every row over a reader with these answers; None where that is undefined."""
        parts: dict[Row, tuple[Gains, int]] = {}
        yes, right = answer[:, -1], truth[:, -1]
        if self.scores:
            scores = np.stack([score[items] for score in self.scores.values()])
            parts |= _by_model(MATCHED, self.scores, matched_gains(scores, yes, right))
        if self.called:
            called = np.stack([decided[items] for decided in self.called.values()])
            by_measure = decision_gains(called, yes, right) or (None,) * 3
            for measure, gains in zip(
                (BALANCED, SENSITIVITY, SPECIFICITY), by_measure, strict=True
            ):
                parts |= _by_model(measure, self.called, gains)
        if self.metric is not None and self.distributions:
            predicted = [values[items] for values in self.distributions.values()]
            gains = _metric_gains(self.metric, predicted, answer, truth)
            parts |= _by_model(self.metric.name, self.distributions, gains)
        if not set(self.rows) <= set(parts):
            return None
        chosen = [parts[row] for row in self.rows]
        joint = Gains(
            np.array([gains.value[place] for gains, place in chosen]),
            np.array([gains.gain[place] for gains, place in chosen]),
            np.stack([gains.influence[place] for gains, place in chosen]),
            np.stack([gains.by_truth[place] for gains, place in chosen]),
            chosen[0][0].scale,
        )
        return None if np.isnan(joint.gain).any() else joint


def _by_model(
    measure: str, models: Mapping[str, Floats], gains: Gains | None
) -> dict[Row, tuple[Gains, int]]:
    """Where the gains of each model stand; nothing where they are undefined."""
    if gains is None:
        return {}
    return {Row(model, measure): (gains, place) for place, model in enumerate(models)}


def _metric_gains(
    metric: Metric, predicted: Sequence[Floats], answer: Floats, truth: Floats
) -> Gains:
    """Gains by a metric of classes, positive where the model is better."""
    assert metric.influence is not None
    yes_no = answer.shape[1] == 1
    if yes_no:
        answer, truth = (np.hstack([1 - x, x]) for x in (answer, truth))
    sign = 1.0 if metric.better == "higher" else -1.0
    reader = metric.influence(metric.prepare(answer), truth)
    models = [metric.influence(metric.prepare(values), truth) for values in predicted]
    slope = np.stack([sign * (model.shares - reader.shares) for model in models])
    factor = sign * kish_factor(np.ones(len(answer)))
    return Gains(
        np.full(len(models), reader.value),
        np.array([sign * (model.value - reader.value) for model in models]),
        np.stack([factor * (model.items - reader.items) for model in models]),
        slope[:, :, 1:] - slope[:, :, :1] if yes_no else slope,
        1 / len(answer),
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
        A model by a measure each; the first are one of every model, and make claims.
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

    __repr__ = short_repr

    def measure(self, model: str) -> str:
        """By what a model is compared in the verdict."""
        return self.rows[self.models.index(model)].measure

    def above(self, row: int) -> tuple[int, int, int]:
        """Over how many readers the estimate is above 0, and below, and how many there are."""
        gain = self.contrasts.gain[row][self.contrasts.weight > 0]
        return int((gain > 0).sum()), int((gain < 0).sum()), len(gain)

    def claims(self, possible: Sequence[str]) -> Mapping[tuple[str, Whom], Claim]:
        """Claims on the mean over readers, by model and population.

        Models that could be first are one family, so that the leader is claimed for no more
        than any of them; models that could not are claimed in the family of all.

        Parameters
        ----------
        possible
            Models that could be the first.
        """
        how, contrasts = self.settings, self.contrasts
        like_these = Whom.LIKE_THESE if how.items == "random" else Whom.THESE_ITEMS
        claims: dict[tuple[str, Whom], Claim] = {}
        if how.items == "random":
            claims |= self._claims(contrasts.these, Whom.THESE_READERS, possible)
        if contrasts.like_these.population.annotators:
            claims |= self._claims(contrasts.like_these, like_these, possible)
        return claims

    def ranges(self, task: str) -> Mapping[str, tuple[float, float]]:
        """Lowest and highest sensitivity and specificity of the readers of a task."""
        rates = next(part.rates for part in self.tasks if part.task == task)
        sides = {SENSITIVITY: rates[1], SPECIFICITY: 1 - rates[0]}
        return {
            side: (float(np.nanmin(values)), float(np.nanmax(values)))
            for side, values in sides.items()
            if not np.isnan(values).all()
        }

    def task_claims(
        self, models: Sequence[str], possible: Sequence[str]
    ) -> Mapping[tuple[str, str], Claim]:
        """Claims on models in every task, in one family of all tasks and models.

        Of readers like these, or of these readers where they are too few to stand for others;
        of a single task they are those on the mean.
        """
        whom = Whom.LIKE_THESE if self.settings.items == "random" else Whom.THESE_ITEMS
        if len(self.tasks) == 1:
            of_mean = self.claims(possible)
            of_task = {
                model: of_mean.get((model, whom), of_mean.get((model, Whom.THESE_READERS)))
                for model in models
            }
            return {(self.tasks[0].task, m): claim for m, claim in of_task.items() if claim}
        claims: dict[tuple[str, str], Claim] = {}
        for part in self.tasks:
            if part.contrasts is None:
                continue
            others = part.contrasts.like_these.population.annotators
            cell = part.contrasts.like_these if others else part.contrasts.these
            kind = whom if others else Whom.THESE_READERS
            here = self._of_family(cell, (ALL_TASKS, models), kind, part.task)
            claims |= {(part.task, model): claim for model, claim in here.items()}
        return claims

    def _claims(
        self, cell: TwoWay, whom: Whom, possible: Sequence[str]
    ) -> dict[tuple[str, Whom], Claim]:
        inside = tuple(model for model in self.models if model in possible)
        claims = {}
        for name, members in ((ALL_MODELS, self.models), (POSSIBLE, inside)):
            for model, claim in self._of_family(cell, (name, members), whom).items():
                claims[model, whom] = claim
        return claims

    def _of_family(
        self, cell: TwoWay, of: tuple[str, Sequence[str]], whom: Whom, task: str = ""
    ) -> dict[str, Claim]:
        """Claims that hold together; those on a task with those on all others."""
        how, (name, members), tasks = self.settings, of, len(self.tasks) if task else 1
        family, level = ClaimFamily(name, tasks * len(members)), 1 - (1 - how.level) / tasks
        places = [self.models.index(model) for model in members]
        widths = simultaneous_widths(cell.subset(places), level).tolist()
        truth, claims = TRUTHS[self.truth][not self.yes_no], {}
        for place, width in zip(places, widths, strict=True):
            row, value = self.rows[place], float(cell.values[place])
            metric = self.titles[row.measure] + (f" ({task})" if task else "")
            claims[row.model] = Claim(
                Estimand(metric, truth, row.model, "readers"), whom, family, value,
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
    annotations = study.annotations
    codes = people_who_voted(annotations)
    _require_room(study)
    cuts = [note for note in study.notices if note.code in ABOUT_CUTS]
    scored = [model_scores(study, aligned) for aligned in study.aligned]
    tables = []
    for truth, lay_out in ((OTHERS, _by_others), (GOLD, by_gold)):
        laid = [lay_out(annotations, aligned.question, codes) for aligned in study.aligned]
        laid = with_shared_units(annotations, study.aligned, laid)
        table = _table(study, truth, (codes, laid), scored)
        if table is not None:
            tables.append(replace(table, notices=(*cuts, *table.notices)))
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
    if annotations.kind not in KINDS:
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


def model_scores(study: Study, aligned: Aligned) -> ModelScores:
    """What the models of a task say, and by what each is compared."""
    metric = _named_metric(study)
    if len(aligned.question.classes) > 1:
        usual = "quadratic_weighted_kappa" if aligned.question.ordered else "accuracy"
        metric = metric or named(usual)
        shares = {model: aligned.distributions(model) for model in aligned.scores}
        by_metric = tuple(Row(model, metric.name) for model in shares)
        return ModelScores(by_metric, {}, {}, shares, metric)
    cut = models_with_cut(study)
    called = {
        model: aligned.decided.get(model, aligned.scores[model])
        for model in aligned.scores
        if model in cut
    }
    scores = {model: score for model, score in aligned.scores.items() if model not in cut}
    of_class = metric is None or metric.name in TITLES
    measure = BALANCED if metric is None else metric.name
    rows = [Row(model, measure if model in cut else MATCHED) for model in aligned.scores]
    sides = [side for side in (SENSITIVITY, SPECIFICITY) if side != measure]
    rows += [Row(model, side) for model in called for side in sides]
    shares = {} if of_class else {m: np.stack([1 - x, x], axis=1) for m, x in called.items()}
    return ModelScores(tuple(rows), scores, called, shares, None if of_class else metric)


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


def _by_others(annotations: Annotations, question: TaskTruth, codes: Ints) -> Readings | None:
    """Readings against the votes of the others, on items without gold."""
    del annotations
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
    annotations: Annotations, aligned: Sequence[Aligned], laid: Sequence[Readings | None]
) -> list[Readings | None]:
    """The same with groups of items, or items, counted over all tasks, sorted by them."""
    places = [
        np.zeros(0, dtype=np.int64) if part is None else task.question.place[part.item]
        for task, part in zip(aligned, laid, strict=True)
    ]
    group = np.concatenate(places)
    group = group if annotations.group is None else annotations.group[group]
    unit = np.unique(group, return_inverse=True)[1]
    units = np.split(unit, np.cumsum([len(place) for place in places])[:-1])
    return [
        None if part is None else part.in_units(codes)
        for part, codes in zip(laid, units, strict=True)
    ]


# ---- the table -----------------------------------------------------------------------------


def _table(
    study: Study,
    truth: str,
    laid: tuple[Ints, Sequence[Readings | None]],
    scored: Sequence[ModelScores],
) -> ReaderTable | None:
    """Contrasts of every task, and of their average."""
    codes, readings = laid
    annotations, how = study.annotations, study.settings
    compared, notices = _compared(codes, readings)
    named_units = "items" if annotations.group is None else "groups"
    models = tuple(study.aligned[0].scores)
    group = annotations.annotator_group
    group = None if group is None else group[codes]

    def contrasts(
        tasks: Sequence[tuple[Readings, list[Gains | None]]],
    ) -> ReaderContrasts | None:
        return compare_readers(
            tasks, len(models), units=named_units, items=how.items == "random",
            annotators=how.annotators == "random", group=group,
        )  # fmt: skip

    parts, tasks = [], []
    for aligned, part, scores in zip(study.aligned, readings, scored, strict=True):
        task: list[tuple[Readings, list[Gains | None]]] = []
        if part is not None:
            task = [(part, list(_gains(part, scores, compared, len(codes))))]
        parts += task
        tasks.append(_of_task(aligned.question.task, contrasts(task), part, len(codes)))
    whole = tasks[0].contrasts if len(tasks) == 1 else contrasts(parts)
    if whole is None:
        return None
    names = annotations.annotators or ()
    metrics = {scored[0].metric.name: scored[0].metric.title} if scored[0].metric else {}
    return ReaderTable(
        truth=truth,
        models=models,
        readers=tuple(names[code] for code in codes),
        rows=scored[0].rows,
        contrasts=whole,
        tasks=tuple(tasks),
        titles=TITLES | metrics,
        yes_no=len(study.aligned[0].question.classes) == 1,
        settings=how,
        notices=(*notices, *_few(whole, how)),
    )


def _compared(
    codes: Ints, readings: Sequence[Readings | None]
) -> tuple[frozenset[int], list[Notice]]:
    """The readers with most votes, and that the others are left out."""
    load = np.sum(
        [np.bincount(part.reader, minlength=len(codes)) for part in readings if part], axis=0
    ) * np.ones(len(codes))
    active = np.flatnonzero(load)
    order = active[np.argsort(-load[active], kind="stable")]
    if len(active) <= MOST:
        return frozenset(active.tolist()), []
    text = "Of {people:count} annotators the {most:count} with most votes are compared."
    more = notice("readers_most", text, people=len(active), most=MOST)
    return frozenset(order[:MOST].tolist()), [more]


def _gains(
    readings: Readings, scores: ModelScores, compared: frozenset[int], readers: int
) -> Iterator[Gains | None]:
    """What every model gains over every reader."""
    for reader in range(readers):
        votes = np.flatnonzero(readings.reader == reader)
        if reader in compared and len(votes):
            yield scores.gains(
                readings.item[votes], readings.answer[votes], readings.truth[votes]
            )
        else:
            yield None


def _of_task(
    task: str, contrasts: ReaderContrasts | None, readings: Readings | None, readers: int
) -> TaskReaders:
    """Items and rates of every reader."""
    items, rates = np.zeros(readers, dtype=np.int64), np.full((3, readers), np.nan)
    if readings is not None:
        items = np.bincount(readings.reader, minlength=readers)
        if readings.answer.shape[1] == 1:
            yes, truth = readings.answer[:, 0], readings.truth[:, 0]
            hits, called, positive = (
                np.bincount(readings.reader, x, readers) for x in (yes * truth, yes, truth)
            )
            with np.errstate(invalid="ignore", divide="ignore"):
                rates = np.stack(
                    [(called - hits) / (items - positive), hits / positive, hits / called]
                )
    return TaskReaders(task=task, contrasts=contrasts, items=items, rates=rates)


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

"""Reader studies against a reference standard: readers with and without aid, and models alone.

Every reader has a value in every arm, on the items with gold that it read there. *Arms* (aided
against unaided) are compared by readers who read in both; where fewer than two did, by readers
who read in one. A *model alone* is compared with each reader on the items of that reader, and
so with the mean reader, without aid where there are arms. Variances and degrees of freedom are
those of `equipoise.inference.reader_study`; several tasks are averaged, with readers of all.

Values are balanced accuracy of decisions, with sensitivity and specificity beside it, or the
metric of decisions that was named; AUROC where that decides and every vote has a ``confidence``
(a reader's rating is then how sure it is of yes, or of no); of several classes accuracy, of
grades quadratic weighted kappa. A model with scores and no stated cut is compared by its
sensitivity at the false positives of each reader.

The arm without aid is the one named ``unaided``, ``without ...``, ``control`` or ``baseline``,
else the first by name. Arms are one family, models that could be first another; in each the
level is Bonferroni's.

Examples
--------
>>> baseline_first(("aided", "unaided")), baseline_first(("b", "a"))
(('unaided', 'aided'), ('a', 'b'))
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.inference.reader_contrasts import Readings, decision_gains, kish_factor
from equipoise.inference.reader_study import (
    FEWEST,
    ReaderContrast,
    against_readers,
    between_arms,
)
from equipoise.metrics import Metric, named
from equipoise.study.alignment import Aligned
from equipoise.study.competitors import (
    ALL_MODELS,
    BALANCED,
    GOLD,
    MATCHED,
    POSSIBLE,
    SENSITIVITY,
    SPECIFICITY,
    TITLES,
    TRUTHS,
    ModelScores,
    Row,
    by_gold,
    model_scores,
    people_who_voted,
    with_shared_units,
    with_stated_cuts,
)
from equipoise.study.study import MRMC, Settings, Study
from equipoise.study.uncertainty import influence_of
from equipoise.types import (
    Annotations,
    Cell,
    Claim,
    ClaimFamily,
    Dot,
    Dots,
    Estimand,
    Finding,
    Floats,
    InputError,
    Ints,
    Names,
    Notice,
    Notices,
    Nouns,
    Option,
    Predictions,
    Table,
    Whom,
    capital,
    claims_in_words,
    columns,
    count,
    exact_percent,
    hint,
    immutable,
    notice,
    number,
    percent,
    spanned,
)

SIDES = (BALANCED, SENSITIVITY, SPECIFICITY)
RATED = "auroc"
NOBODY = "nobody"  # stands for models where there are none
WITHOUT_AID = ("unaided", "without", "control", "baseline")
METHODS = (
    "Readers were compared with models alone, and arms with each other, against the "
    "reference standard by the analysis of Obuchowski and Rockette [@obuchowski1995] with "
    "degrees of freedom by Hillis [@hillis2007], readers and items random."
)
NOTE = (
    "Each reader is scored against the reference standard on the items it read. Arms are "
    "compared by readers who read in both, else by readers who read in one; models alone with "
    "the mean reader on the items of each. Sensitivity and specificity are estimates alone."
)


class Compared(NamedTuple):
    """An arm or a model next to others; a claim where its measure is the first."""

    competitor: str
    measure: str
    against: str
    contrast: ReaderContrast
    claim: Claim | None


def baseline_first(arms: Sequence[str]) -> Names:
    """The arms by name, that without aid first."""
    named_so = [arm for arm in arms if arm.casefold().startswith(WITHOUT_AID)]
    return tuple(sorted(arms, key=lambda arm: (arm not in named_so, arm)))


def is_reader_study(study: Study) -> bool:
    """Whether readers are compared by arm, or somebody asked for this analysis."""
    votes = study.truth
    if not isinstance(votes, Annotations) or study.settings.inference == MRMC:
        return study.settings.inference == MRMC
    return votes.arms is not None and bool(votes.gold.any())


@immutable(eq=False)
class _Task:
    """One task: what models say, and who read what in each arm."""

    aligned: Aligned
    scores: ModelScores
    readings: Sequence[Readings | None]
    rated: bool
    units: int

    @property
    def measures(self) -> Names:
        """By what readers are compared, that of the verdict first."""
        metric = self.scores.metric
        if self.rated:
            return (RATED,)
        if metric is not None:
            return (metric.name,)
        first = self.scores.rows[0].measure
        return SIDES if first == MATCHED else (first, *(x for x in SIDES if x != first))

    @property
    def titles(self) -> Mapping[str, str]:
        """What measures are called."""
        metrics = [named(RATED)] + [self.scores.metric] * (self.scores.metric is not None)
        return TITLES | {metric.name: metric.title for metric in metrics if metric}

    @property
    def model_rows(self) -> tuple[Row, ...]:
        """A model by a measure each, those of the verdict first."""
        if not self.rated:
            return self.scores.rows
        return tuple(Row(model, RATED) for model in self.aligned.scores)

    def estimand(self, measure: str, competitor: str, against: str) -> Estimand:
        """What is compared, by whose truth."""
        truth = TRUTHS[GOLD][len(self.aligned.question.classes) > 1]
        return Estimand(self.titles[measure], truth, competitor, against)

    def of_reader(self, arm: int, reader: int) -> tuple[Floats, Floats] | None:
        """Values of a reader in an arm, (measures,), and influences, (measures, units)."""
        mine = self._votes(arm, reader)
        values = None if mine is None else self._measured(mine, mine.answer)
        return None if mine is None or values is None else self._by_unit(mine, *values)

    def of_models(self, reader: int) -> tuple[Floats, Floats] | None:
        """What every row of the models gains over a reader of the first arm."""
        mine = self._votes(0, reader)
        if mine is None:
            return None
        if not self.rated:
            gains = self.scores.gains(mine.item, mine.answer, mine.truth)
            return None if gains is None else self._by_unit(mine, gains.gain, gains.influence)
        values = self._measured(mine, mine.answer)
        models = [
            self._measured(mine, score[mine.item, None])
            for score in self.aligned.scores.values()
        ]
        if values is None:
            return None
        gains_by_model = [
            np.concatenate([model[part] - values[part] for model in models if model])
            for part in (0, 1)
        ]
        return self._by_unit(mine, *gains_by_model)

    def _votes(self, arm: int, reader: int) -> Readings | None:
        readings = self.readings[arm]
        if readings is None or not (readings.reader == reader).any():
            return None
        return readings.of(np.flatnonzero(readings.reader == reader))

    def _measured(self, mine: Readings, answer: Floats) -> tuple[Floats, Floats] | None:
        """Values of some answers, and how each vote moves them."""
        truth, metric = mine.truth, named(RATED) if self.rated else self.scores.metric
        if metric is not None:
            return _by_metric(metric, answer, truth)
        never = decision_gains(np.zeros((1, len(answer))), answer[:, -1], truth[:, -1])
        if never is None:
            return None
        by_side = dict(zip(SIDES, never, strict=True))
        chosen_sides = [by_side[name] for name in self.measures]
        value = np.array([gains.value[0] for gains in chosen_sides])
        return value, np.stack([-gains.influence[0] for gains in chosen_sides])

    def _by_unit(
        self, mine: Readings, value: Floats, influence: Floats
    ) -> tuple[Floats, Floats]:
        return value, np.stack([np.bincount(mine.unit, row, self.units) for row in influence])


def _by_metric(metric: Metric, answer: Floats, truth: Floats) -> tuple[Floats, Floats] | None:
    """Value of some answers by a metric, and how each vote moves it."""
    yes = truth[:, -1]
    factor: Floats | float = kish_factor(np.ones(len(truth)))
    if metric.name == RATED:  # influences are centred in each class
        if min(yes.sum(), (1 - yes).sum()) == 0:
            return None
        factor = yes * kish_factor(yes) + (1 - yes) * kish_factor(1 - yes)
        answer = answer[:, 0]
    elif truth.shape[1] == 1:
        answer, truth = (np.hstack([1 - x, x]) for x in (answer, truth))
    sign = 1.0 if metric.better == "higher" else -1.0
    part = influence_of(metric, metric.prepare(answer), truth.T)
    if np.isnan(part.value):
        return None
    return np.array([sign * part.value]), sign * (factor * part.items)[None, :]


@immutable(eq=False, kw_only=True)
class ReaderStudy:
    """Readers by arm, models alone, and what is claimed of them.

    Attributes
    ----------
    arms
        That without aid first; one without a name where votes have none.
    readers, measures
        Their names; the first measure decides.
    values
        Mean over tasks, (arms, readers, measures); nan where a reader has none.
    compared
        Arms first, then models alone.
    titles
        What measures are called.
    times
        Milliseconds that a reading takes, geometric mean, (arms, readers); None where votes
        have no durations.
    saved
        Logarithms of the ratio to the first arm, of every other one.
    notices
        Who was left out.
    """

    arms: Names
    readers: Names
    measures: Names
    values: Floats
    compared: tuple[Compared, ...]
    titles: Mapping[str, str]
    times: Floats | None = None
    saved: tuple[ReaderContrast, ...] = ()
    notices: Notices = ()


def reader_study(study: Study, possible: Sequence[str] = ()) -> ReaderStudy:
    """Readers by arm against the reference standard, and models alone.

    Parameters
    ----------
    study
        Models, votes of people with names, and gold.
    possible
        Models that could be first, one family; by default all.
    """
    study = with_stated_cuts(study.everybody)
    annotations = study.annotations
    if annotations.annotator_group is not None:
        got, wanted = "readers in groups", "readers who stand for others one by one"
        do = hint("leave {} out", Option("annotator_group"))
        raise InputError("reader study", got, wanted, do)
    codes, names = people_who_voted(annotations), annotations.arms or ("",)
    arms = baseline_first(names)
    tasks = _tasks(study, codes, [names.index(arm) for arm in arms])
    readers = tuple((annotations.annotators or ())[code] for code in codes)
    values, influences = _mean_over_tasks(
        [
            [task.of_reader(*place) for task in tasks]
            for place in np.ndindex(len(arms), len(codes))
        ]
    )
    shape = (len(arms), len(codes))
    values, influences = (x.reshape(*shape, *x.shape[1:]) for x in (values, influences))
    by_arm = _between_arms(study, tasks[0], arms, values, influences)
    gaps = _mean_over_tasks([[task.of_models(j) for task in tasks] for j in range(len(codes))])
    alone = _models_alone(study, tasks[0], tuple(possible), arms[0], gaps)
    times, saved = _times(annotations, codes, [names.index(arm) for arm in arms])
    return ReaderStudy(
        times=times,
        saved=saved,
        arms=arms,
        readers=readers,
        values=values,
        compared=(*by_arm, *alone),
        measures=tasks[0].measures,
        titles=tasks[0].titles,
        notices=tuple(_left_out(readers, arms, values[:, :, 0])),
    )


def _times(
    votes: Annotations, codes: Ints, order: Sequence[int]
) -> tuple[Floats | None, tuple[ReaderContrast, ...]]:
    """How long readings take in every arm, and how much longer than in the first one."""
    if votes.duration_ms is None or votes.arm is None or votes.annotator is None:
        return None, ()
    rows = np.flatnonzero(~votes.gold & (votes.duration_ms > 0))
    keys = np.stack([votes.arm[rows], votes.annotator[rows], votes.item[rows]])
    rows = rows[np.unique(keys, axis=1, return_index=True)[1]]  # one of all tasks
    unit = votes.item if votes.group is None else votes.group[votes.item]
    shape = (len(order), len(codes))
    means, influences = np.full(shape, np.nan), np.zeros((*shape, int(unit.max()) + 1))
    for place in np.ndindex(shape):
        mine = rows[
            (votes.arm[rows] == order[place[0]]) & (votes.annotator[rows] == codes[place[1]])
        ]
        if len(mine) >= FEWEST:
            logs = np.log(votes.duration_ms[mine])
            means[place] = logs.mean()
            moved = kish_factor(np.ones(len(mine))) * (logs - logs.mean()) / len(mine)
            influences[place] = np.bincount(unit[mine], moved, influences.shape[2])
    try:
        saved = [
            between_arms(means[[arm, 0]], influences[[arm, 0]]) for arm in range(1, len(order))
        ]
    except InputError:  # too few readers with durations
        return None, ()
    return np.exp(means), tuple(saved)


def arms_finding(votes: Annotations) -> Finding | None:
    """Readers by arm where there are no models; None without arms, a standard, or yes and no.

    Parameters
    ----------
    votes
        Of people with names, and gold.
    """
    if votes.arms is None or not votes.gold.any() or votes.kind != "binary":
        return None
    nobody = [Predictions(NOBODY, votes.items, np.zeros(len(votes.items)), task=task)
              for task in votes.tasks]  # fmt: skip
    how = Settings(inference=MRMC, on_missing="drop")
    sure = votes.confidence is not None and not np.isnan(votes.confidence[~votes.gold]).any()
    study = Study.of(nobody, votes, metrics=[RATED if sure else BALANCED], settings=how)
    return reader_study_finding(study, "arms", "", (), Nouns())


def _mean_over_tasks(
    parts: Sequence[Sequence[tuple[Floats, Floats] | None]],
) -> tuple[Floats, Floats]:
    """Means of values and influences over tasks by reader; nan without a value in any."""
    some = next((part for row in parts for part in row if part is not None), None)
    if some is None:
        raise InputError(
            "reader study",
            "no reader with a value against the reference standard",
            "votes on items with gold, with and without the finding",
            "mark such items with is_gold, or leave readers out",
        )
    none = np.full_like(some[0], np.nan), np.zeros_like(some[1])
    complete = [[none if part is None else part for part in row] for row in parts]
    values, influences = (
        np.array([np.mean([part[which] for part in row], axis=0) for row in complete])
        for which in (0, 1)
    )
    return values, influences


def _left_out(readers: Sequence[str], arms: Sequence[str], values: Floats) -> Iterator[Notice]:
    """Readers without a value, and those who read in one arm where others read in both."""
    has_value = ~np.isnan(values)
    both = has_value.all(axis=0)
    left = ~both if both.sum() >= FEWEST else ~has_value.any(axis=0)
    if left.any():
        names = tuple(np.array(readers)[left].tolist())
        text = (
            "Readers without a value by the reference standard are left out: {readers:listed}."
        )
        if len(arms) > 1:
            text = "Readers without a value in every arm are left out: {readers:listed}."
        yield notice("readers_left_out", text, readers=names)


def _tasks(study: Study, codes: Ints, order: Sequence[int]) -> list[_Task]:
    """Every task with the readings of every arm, in units that all share."""
    annotations, laid = study.annotations, []
    rated = _is_rated(study)
    votes = _as_ratings(annotations) if rated else annotations
    for arm in order:
        if votes.arm is not None:
            in_arm = votes.rows(votes.gold | (votes.arm == arm))
        laid += [
            by_gold(votes if votes.arm is None else in_arm, aligned.question, codes)
            for aligned in study.aligned
        ]
    laid = with_shared_units(annotations, study.aligned * len(order), laid)
    units = 1 + max((int(part.unit.max()) for part in laid if part is not None), default=0)
    whole = len(study.aligned)
    return [
        _Task(aligned, model_scores(study, aligned), laid[place::whole], rated, units)
        for place, aligned in enumerate(study.aligned)
    ]


def _is_rated(study: Study) -> bool:
    """Whether AUROC decides and every vote has a confidence."""
    votes = study.annotations
    if votes.kind != "binary" or study.metrics[0].name != RATED or votes.confidence is None:
        return False
    return not bool(np.isnan(votes.confidence[~votes.gold]).any())


def _as_ratings(votes: Annotations) -> Annotations:
    """Votes as ratings from surely no, 0, to surely yes, 1."""
    assert votes.label is not None and votes.confidence is not None
    sure = np.nan_to_num(votes.confidence) / 2
    return replace(
        votes, kind="interval", value=0.5 + np.where(votes.label == 1, sure, -sure), label=None
    )


def _between_arms(
    study: Study, task: _Task, arms: Names, values: Floats, influences: Floats
) -> Iterator[Compared]:
    """Every other arm next to that without aid."""
    family = ClaimFamily("arms of readers", len(arms) - 1)
    for arm in range(1, len(arms)):
        for place, measure in enumerate(task.measures):
            sides = [arm, 0]
            contrast = between_arms(values[sides, :, place], influences[sides, :, place])
            estimand = task.estimand(measure, arms[arm], arms[0])
            claim = _claim(study, contrast, family, estimand) if place == 0 else None
            yield Compared(arms[arm], measure, arms[0], contrast, claim)


def _models_alone(
    study: Study,
    task: _Task,
    possible: Names,
    arm: str,
    gaps: tuple[Floats, Floats],
) -> Iterator[Compared]:
    """Every model next to the mean reader of the first arm."""
    models = tuple(task.aligned.scores)
    if models == (NOBODY,):
        return
    families = {
        True: ClaimFamily(POSSIBLE, len(possible)),
        False: ClaimFamily(ALL_MODELS, len(models)),
    }
    values, influences = gaps
    use = ~np.isnan(values).any(axis=1)
    none, against = np.zeros(task.units), f"{arm} readers".strip()
    for place, row in enumerate(task.model_rows):
        of_readers = -values[use, place], -influences[use, place]
        contrast = against_readers(0.0, none, *of_readers)
        estimand = task.estimand(row.measure, row.model, against)
        family = families[row.model in possible]
        claim = _claim(study, contrast, family, estimand) if place < len(models) else None
        yield Compared(row.model, row.measure, against, contrast, claim)


def _claim(
    study: Study, contrast: ReaderContrast, family: ClaimFamily, estimand: Estimand
) -> Claim:
    """What holds in the family, by Bonferroni's levels."""
    how = study.settings
    low, high = contrast.interval(1 - (1 - how.level) / family.size)
    value = contrast.value
    return Claim(estimand, Whom.LIKE_THESE, family, value, low, high, how.level, how.margin)


# ---- words ---------------------------------------------------------------------------------


@immutable(eq=False)
class _Page:
    """A reader study with what things are called, and the model in front."""

    study: ReaderStudy
    leader: str
    nouns: Nouns

    def sentences(self) -> Iterator[str]:
        """Arms, then the first model; the rest stand in the table."""
        for row in self.study.compared:
            if row.claim is not None and row.competitor in (self.leader, *self.study.arms):
                yield f"{self._estimate(row)}. {self._claimed(row.claim)}"
        for arm, ratio in zip(self.study.arms[1:], self.study.saved, strict=False):
            yield self._saved(arm, ratio)

    def _saved(self, arm: str, ratio: ReaderContrast) -> str:
        """How much less time readings take than in the first arm, or more."""
        less = -np.expm1([ratio.value, *ratio.interval()[::-1]])
        word, sign = ("less", 1) if less[0] >= 0 else ("more", -1)
        ends = [percent(sign * share) for share in less[1:][::sign]]
        return (
            f"{capital(arm)} {self.nouns.annotators} take {percent(sign * less[0])} {word} "
            f"time a reading than {self.study.arms[0]} ones ({ends[0]} to {ends[1]})."
        )

    def _estimate(self, row: Compared) -> str:
        """How much better or worse, by which measure, and on how many readers that rests."""
        gain, people = row.contrast.value, self.nouns.annotators
        title = capital(self.study.titles[row.measure])
        apart = f"{number(abs(gain), 2)} {'higher' if gain > 0 else 'lower'} than"
        if row.competitor in self.study.arms:
            who, others = f"{row.competitor} {people}", f"that of {row.against} ones"
            design = "who read in both" if row.contrast.paired else "each in one arm"
        else:
            who, design = row.competitor, "on the items of each"
            mean = f"the mean {row.against}".removesuffix("readers") + self.nouns.annotator
            others = f"that of {mean}"
        return (
            f"{title} of {who} is {apart if gain else 'the same as'} {others}, by the "
            f"reference standard ({count(row.contrast.readers)} {people}, {design})"
        )

    def _claimed(self, claim: Claim) -> str:
        """What holds for readers and items like these."""
        like = f"{self.nouns.items} and {self.nouns.annotators} like these"
        return claims_in_words([(like, claim)], "that")

    def rows(self) -> Iterator[dict[str, Cell]]:
        """Every contrast; intervals of claims are those of their family."""
        for row in self.study.compared:
            low, high = row.contrast.interval()
            if row.claim is not None:
                low, high = row.claim.low, row.claim.high
            yield {
                "competitor": row.competitor,
                "against": row.against or self.nouns.annotators,
                "measure": self.study.titles[row.measure],
                "gain": row.contrast.value,
                "gain_low": low,
                "gain_high": high,
                "p": row.contrast.p,
                "df": row.contrast.df,
                "readers": row.contrast.readers,
                "design": "paired" if row.contrast.paired else "split plot",
                "family": row.claim.family.name if row.claim else "",
                "decision": row.claim.decision.value if row.claim else "",
            }

    def reader_rows(self) -> Iterator[dict[str, Cell]]:
        """Every reader in every arm."""
        times = self.study.times
        for arm, reader, place in np.ndindex(self.study.values.shape):
            yield {
                "reader": self.study.readers[reader],
                "arm": self.study.arms[arm],
                "measure": self.study.titles[self.study.measures[place]],
                "value": float(self.study.values[arm, reader, place]),
                "time": "" if times is None else float(times[arm, reader]),
            }

    def _by_reader(self) -> Iterator[Dot]:
        """What every reader gains in the second arm, where there are two."""
        if len(self.study.arms) == 2:
            gains = self.study.values[1, :, 0] - self.study.values[0, :, 0]
            for reader, gain in zip(self.study.readers, gains.tolist(), strict=True):
                if np.isfinite(gain):
                    yield Dot(reader, gain, gain, gain)

    def chart(self) -> Dots:
        """Every claim with its interval."""
        claims = [row.claim for row in self.study.compared if row.claim]
        return Dots(
            name="readers",
            caption="Arms and models next to readers, by the reference standard; intervals "
            "of all in a family at once",
            axis="gain",
            rows=[
                Dot(
                    claim.estimand.competitor, claim.value, claim.low, claim.high,
                    "" if claim.estimand.competitor in self.study.arms
                    else claim.estimand.competitor,
                )
                for claim in claims
            ] + list(self._by_reader()),
            zero=True,
            zero_title="as without",
            margin=claims[0].margin if claims else None,
        )  # fmt: skip


def reader_study_finding(
    study: Study, key: str, leader: str, possible: Sequence[str], nouns: Nouns
) -> Finding:
    """Readers by arm, and models alone, against the reference standard.

    Parameters
    ----------
    study
        Models, votes of people with names, and gold.
    key
        Of the finding.
    leader, possible
        The first model, and all that could be it.
    nouns
        What items and readers are called.
    """
    table = reader_study(study, possible)
    page = _Page(table, leader, nouns)
    level = exact_percent(study.settings.level)
    return Finding(
        key=key,
        title=f"Models and {nouns.annotators} against the reference standard",
        sentence=" ".join(page.sentences()),
        charts=(page.chart(),),
        tables=(
            Table(
                name="reader_study",
                caption="Arms and models next to readers",
                columns=(
                    *columns(competitor="text", against="text", measure="text"),
                    spanned("gain", kind="change"),
                    *columns(p="p", df="number", readers="count", design="text"),
                ),
                rows=list(page.rows()),
                legend=f"Brackets: {level}, of claims simultaneous in their family; p and "
                "degrees of freedom of each by itself, for items and readers like these.",
            ),
            Table(
                name="reader_values",
                caption="Readers by arm; time is the geometric mean of a reading",
                columns=columns(
                    reader="text", arm="text", measure="text", value="number", time="duration"
                ),
                rows=list(page.reader_rows()),
                brief=(),
            ),
        ),
        note=NOTE,
        methods=METHODS,
        references=("obuchowski1995", "hillis2007"),
        claims=tuple(row.claim for row in table.compared if row.claim),
        notices=(*study.annotations.notices, *study.dropped, *table.notices),
        nav="Readers",
    )

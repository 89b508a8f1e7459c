"""Reader studies against a reference standard: readers with and without aid, and models alone.

An arm is a competitor: the readers with aid, next to themselves (or to others) without. Every
reader has a value in every arm, on the items with gold that it read there. *Arms* (aided
against unaided) are compared by readers who read in both; where fewer than two did, by readers
who read in one. A *model alone* is compared with each reader on the items of that reader, and
so with the mean reader, without aid where there are arms. Variances and degrees of freedom are
those of `equipoise.inference.reader_study`; several tasks are averaged, with readers of all.

Values are balanced accuracy of decisions, with sensitivity and specificity beside it, or the
metric of decisions that was named; AUROC where that decides and every vote has a ``confidence``
(a reader's rating is then how sure it is of yes, or of no); of several classes those of
`equipoise.study.competitors`. A model with scores and no stated cut is compared by its
sensitivity at the false positives of each reader. The time of a reading is the geometric mean.

The arm without aid is the one named ``unaided``, ``without ...``, ``control`` or ``baseline``,
else the first by name. Arms are one family, models that could be first another; in each the
level is Bonferroni's.

Examples
--------
>>> baseline_first(("aided", "unaided")), baseline_first(("b", "a"))
(('unaided', 'aided'), ('a', 'b'))
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.inference.reader_contrasts import ReaderContrasts, Readings, kish_factor
from equipoise.inference.reader_study import (
    FEWEST,
    ReaderContrast,
    between_arms,
    between_readers,
    of_readers,
)
from equipoise.study.competitors import (
    BALANCED,
    GOLD,
    RATED,
    ModelScores,
    ReaderTable,
    Row,
    TaskReaders,
    by_gold,
    model_scores,
    people_who_voted,
    with_shared_units,
    with_stated_cuts,
)
from equipoise.study.study import MRMC, Settings, Study
from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Ints,
    Names,
    Notice,
    Option,
    Predictions,
    hint,
    immutable,
    notice,
)

TIME = "time of a reading (s)"
NOBODY = "nobody"  # stands for models where there are none
WITHOUT_AID = ("unaided", "without", "control", "baseline")

Part = tuple[Floats, Floats]  # values, and influences of every unit on them


class _Compared(NamedTuple):
    """A row of the table: the contrast, and values of readers and of the competitor."""

    row: Row
    contrast: ReaderContrast
    readers: Floats
    competitor: Floats
    gain: Floats


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

    scores: ModelScores
    readings: Sequence[Readings | None]
    units: int

    def of_reader(self, arm: int, reader: int) -> Part | None:
        """Values of a reader in an arm, (measures,), and influences, (measures, units)."""
        return self._by_unit(arm, reader, self.scores.of_reader)

    def of_models(self, reader: int) -> Part | None:
        """Values of a reader of the first arm, and what every row gains, (2, rows)."""

        def gains(votes: Readings) -> Part | None:
            over = self.scores.gains(votes)
            return over and (np.stack([over.value, over.gain]), over.influence)

        return self._by_unit(0, reader, gains)

    def _by_unit(
        self, arm: int, reader: int, measured: Callable[[Readings], Part | None]
    ) -> Part | None:
        readings = self.readings[arm]
        if readings is None or reader not in readings.reader:
            return None
        votes = readings.of_reader(reader)
        part = measured(votes)
        if part is None:
            return None
        return part[0], np.stack([np.bincount(votes.unit, x, self.units) for x in part[1]])


def reader_study(study: Study) -> ReaderTable:
    """Readers by arm against the reference standard, and models alone.

    Parameters
    ----------
    study
        Models, votes of people with names, and gold.
    """
    study = with_stated_cuts(study.everybody)
    annotations = study.annotations
    if annotations.annotator_group is not None:
        got, wanted = "readers in groups", "readers who stand for others one by one"
        do = hint("leave {} out", Option("annotator_group"))
        raise InputError("reader study", got, wanted, do)
    codes, names = people_who_voted(annotations), annotations.arms or ("",)
    arms, models = baseline_first(names), tuple(study.aligned[0].scores)
    order = [names.index(arm) for arm in arms]
    tasks = _tasks(study, codes, order)
    scores, shape = tasks[0].scores, (len(arms), len(codes))
    by_arm = [[task.of_reader(*place) for task in tasks] for place in np.ndindex(shape)]
    values, moved = (x.reshape(*shape, *x.shape[1:]) for x in _mean_over_tasks(by_arm))
    rows = list(_between_arms(arms, scores.measures, values, moved))
    if models == (NOBODY,):
        models = ()
    else:
        alone = [[task.of_models(reader) for task in tasks] for reader in range(len(codes))]
        rows += _models_alone(scores.rows, *_mean_over_tasks(alone))
    first = {*scores.rows[: len(models)], *(Row(arm, scores.measures[0]) for arm in arms)}
    rows.sort(key=lambda compared: compared.row not in first)
    rows += _times(annotations, codes, order, arms)
    names = annotations.annotators or ()
    people, contrasts = tuple(names[code] for code in codes), _side_by_side(rows)
    read = [np.bincount(x.reader, minlength=len(codes)) for t in tasks for x in t.readings if x]
    whole = TaskReaders(
        task="", contrasts=contrasts, items=np.max(read, axis=0), rates=np.full((3, 0), np.nan)
    )
    return ReaderTable(
        truth=GOLD,
        models=models,
        readers=people,
        rows=tuple(compared.row for compared in rows),
        contrasts=contrasts,
        tasks=(whole,),
        titles={TIME: TIME, **scores.titles},
        yes_no=len(study.aligned[0].question.classes) == 1,
        settings=study.settings,
        notices=tuple(_left_out(people, arms, values[:, :, 0])),
        arms=arms,
        lower=scores.lower,
        designs=tuple(compared.contrast[2:] for compared in rows),
    )


def arms_study(votes: Annotations) -> Study | None:
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
    metric = RATED if _all_sure(votes) else BALANCED
    return Study.of(nobody, votes, metrics=[metric], settings=how)


# ---- the rows ------------------------------------------------------------------------------


def _between_arms(
    arms: Names, measures: Names, values: Floats, moved: Floats
) -> Iterator[_Compared]:
    """Every other arm next to that without aid."""
    for arm in range(1, len(arms)):
        for place, measure in enumerate(measures):
            with_aid, without = values[arm, :, place], values[0, :, place]
            contrast = between_arms(values[[arm, 0], :, place], moved[[arm, 0], :, place])
            row = Row(arms[arm], measure)
            yield _Compared(row, contrast, without, with_aid, with_aid - without)


def _models_alone(rows: Sequence[Row], values: Floats, moved: Floats) -> Iterator[_Compared]:
    """Every model next to the mean reader of the first arm."""
    use = ~np.isnan(values).any(axis=(1, 2))
    for place, row in enumerate(rows):
        readers, gain = values[:, :, place].T
        contrast = between_readers(gain[use], moved[use, place])
        yield _Compared(row, contrast, readers, readers + gain, gain)


def _times(
    votes: Annotations, codes: Ints, order: Sequence[int], arms: Names
) -> Iterator[_Compared]:
    """How long readings take in every arm; contrasts are logarithms of the ratio to the first.

    Nothing where votes have no durations, or those of too few readers.
    """
    if votes.duration_ms is None or votes.arm is None or votes.annotator is None:
        return
    rows = np.flatnonzero(~votes.gold & (votes.duration_ms > 0))
    keys = np.stack([votes.arm[rows], votes.annotator[rows], votes.item[rows]])
    rows = rows[np.unique(keys, axis=1, return_index=True)[1]]  # one of all tasks
    unit = votes.item if votes.group is None else votes.group[votes.item]
    shape = (len(order), len(codes), 1)
    means, influences = np.full(shape, np.nan), np.zeros((*shape, int(unit.max()) + 1))
    for arm, reader, _ in np.ndindex(shape):
        alone = (votes.arm[rows] == order[arm]) & (votes.annotator[rows] == codes[reader])
        mine = rows[alone]
        if len(mine) >= FEWEST:
            logs = np.log(votes.duration_ms[mine])
            means[arm, reader] = logs.mean()
            moved = kish_factor(np.ones(len(mine))) * (logs - logs.mean()) / len(mine)
            influences[arm, reader] = np.bincount(unit[mine], moved, influences.shape[3])
    try:
        compared = list(_between_arms(arms, (TIME,), means, influences))
    except InputError:
        return
    for row in compared:
        readers, competitor = (np.exp(logs) / 1000 for logs in (row.readers, row.competitor))
        yield row._replace(readers=readers, competitor=competitor)


def _side_by_side(rows: Sequence[_Compared]) -> ReaderContrasts:
    """All contrasts, readers with one weight each."""
    readers, competitors, gains = (np.stack(x) for x in list(zip(*rows, strict=True))[2:])
    here = np.isfinite(gains).any(axis=0)
    return ReaderContrasts(
        value=readers,
        gain=gains,
        weight=here / max(here.sum(), 1),
        these=None,
        like_these=of_readers([compared.contrast for compared in rows]),
        competitor=competitors,
    )


def _left_out(readers: Sequence[str], arms: Sequence[str], values: Floats) -> Iterator[Notice]:
    """Readers without a value, and those who read in one arm where others read in both."""
    has_value = ~np.isnan(values)
    both = has_value.all(axis=0)
    left = ~both if both.sum() >= FEWEST else ~has_value.any(axis=0)
    if left.any():
        names = tuple(np.array(readers)[left].tolist())
        every = "in every arm" if len(arms) > 1 else "by the reference standard"
        text = f"Readers without a value {every} are left out: {{readers:listed}}."
        yield notice("readers_left_out", text, readers=names)


# ---- what they are made of -----------------------------------------------------------------


def _tasks(study: Study, codes: Ints, order: Sequence[int]) -> list[_Task]:
    """Every task with the readings of every arm, in units that all share."""
    votes, whole, rated = study.annotations, len(study.aligned), _is_rated(study)
    if rated:
        votes = _as_ratings(votes)
    by_arm = [
        votes if votes.arm is None else votes.rows(votes.gold | (votes.arm == arm))
        for arm in order
    ]
    laid = with_shared_units(
        study.aligned,
        votes.group,
        [by_gold(part, task.question, codes) for part in by_arm for task in study.aligned],
    )
    units = 1 + max((int(part.unit.max()) for part in laid if part is not None), default=0)
    return [
        _Task(model_scores(study, aligned, rated=rated), laid[place::whole], units)
        for place, aligned in enumerate(study.aligned)
    ]


def _mean_over_tasks(parts: Sequence[Sequence[Part | None]]) -> Part:
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
    values, influences = (
        np.array([np.mean([(part or none)[k] for part in row], axis=0) for row in parts])
        for k in (0, 1)
    )
    return values, influences


def _is_rated(study: Study) -> bool:
    """Whether AUROC decides and every vote has a confidence."""
    votes = study.annotations
    return votes.kind == "binary" and study.metrics[0].name == RATED and _all_sure(votes)


def _all_sure(votes: Annotations) -> bool:
    """Whether every vote has a confidence."""
    sure = votes.confidence
    return sure is not None and not bool(np.isnan(sure[~votes.gold]).any())


def _as_ratings(votes: Annotations) -> Annotations:
    """Votes as ratings from surely no, 0, to surely yes, 1."""
    assert votes.label is not None and votes.confidence is not None
    sure = np.nan_to_num(votes.confidence) / 2
    return replace(
        votes, kind="interval", value=0.5 + np.where(votes.label == 1, sure, -sure), label=None
    )

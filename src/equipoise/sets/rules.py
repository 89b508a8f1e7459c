r"""Rules: a threshold that is set where annotators disagree, and the sets that follow from it.

A rule promises that its sets hold **what a new reader would say of a new item** with
probability 1 - alpha. What it is calibrated on decides whether that is true: on the majority
label sets are too small, because the majority is easier to hold than a reader. Here every share
of the votes counts (or every possible truth of a model of them).

``average``
    The promise holds on average over items, readers and studies like this one; in half of the
    studies coverage is a little less.
``two_way``
    The threshold is the largest whose lower bound on coverage reaches 1 - alpha, at `level` and
    for all thresholds at once. Coverage is linear in the soft labels, so that the bound is the
    two-way one, for items and readers like these (`equipoise.inference`).

Neither is a promise for every single reader: with fewer than ten that takes sets of nearly all
classes (`docs/theory/sets.md`).

With `by` there is a threshold for every stratum (Mondrian): of classes (``"class"``), of groups
of classes such as levels of risk (a `Grouping`), or of groups of items (a mapping of items to
groups). The promise then holds in each. Groups of items in the annotations (patients) are one
unit of what is exchangeable.

Examples
--------
>>> items = tuple(f"scan-{i:02}" for i in range(40))
>>> chance = np.linspace(0.02, 0.98, 40)
>>> net = Predictions("net", items, np.stack([1 - chance, chance], axis=1), ("no", "yes"))
>>> said = {name: "yes" if i % 3 and i > 15 else "no" for i, name in enumerate(items)}
>>> rule = calibrate(net, said, alpha=0.2)
>>> round(rule.threshold, 3), rule.sets(net).names[0], rule.sets(net).names[20]
(0.438, ('no',), ('no', 'yes'))
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from equipoise.inference import Population
from equipoise.inference.intervals import simultaneous_widths
from equipoise.read.options import SHARED
from equipoise.sets.combining import (
    SUPPORTED,
    combine_p_values,
    drawn_labels,
    ranked_p_values,
)
from equipoise.sets.coverage import Coverage
from equipoise.sets.scores import (
    SCORES,
    conformal_threshold,
    conformity,
    missed_up_to,
    ranked_scores,
    require_alpha,
)
from equipoise.study import Settings, Tuning
from equipoise.study.scoring import target_population
from equipoise.study.study import Study
from equipoise.study.uncertainty import Uncertainty
from equipoise.types import (
    Annotations,
    Bools,
    Floats,
    Grouping,
    InputError,
    Ints,
    Names,
    Notice,
    Notices,
    Plausibilities,
    Predictions,
    choice,
    frozen,
    immutable,
    listed,
    notice,
    positions,
    require_keywords,
    require_number,
    require_whole,
    short_repr,
)

GUARANTEES = SHARED["guarantee"].choices
BY_CLASS = "class"
GRID = np.geomspace(0.5, 0.002, 60)  # shares that are missed, at which a bound is looked at
ENOUGH_READERS = 10  # below which nothing useful holds for every reader
By = str | Grouping | Mapping[str, str] | None


class HowSets(TypedDict, total=False):
    """What is seldom said of a calibration.

    Attributes
    ----------
    by
        ``"class"``, a `Grouping` of classes, or the group of every item: a threshold for each.
    draws, seed
        Labels drawn per item; 0, the default, is their limit, every share of the votes.
    midpoint
        Whether the threshold is the mean of two scores, as in some programs.
    level
        With which probability ``two_way`` holds, one-sided.
    """

    by: By
    draws: int
    seed: int
    midpoint: bool
    level: float


@immutable(kw_only=True)
class Calibration:
    """How thresholds are set; fields as in `calibrate` and `HowSets`."""

    alpha: float = 0.1
    score: str = "probability"
    guarantee: str = "average"
    by: By = None
    draws: int = 0
    seed: int = 0
    midpoint: bool = False
    level: float = 0.95

    def __post_init__(self) -> None:
        require_alpha(self.alpha)
        choice("prediction sets, score", self.score, SCORES)
        choice("prediction sets, guarantee", self.guarantee, GUARANTEES)
        if isinstance(self.by, str):
            choice("prediction sets, by", self.by, (BY_CLASS,))
        require_whole("prediction sets, draws", self.draws)
        require_whole("prediction sets, seed", self.seed)
        require_number("prediction sets, level", self.level, above=0.5, below=1, do="try 0.95")
        if self.midpoint and self.guarantee == "two_way":
            got, do = "midpoint and two_way", "leave midpoint out, which bounds nothing"
            raise InputError("prediction sets", got, "one of them", do)


class Strata(NamedTuple):
    """Which threshold counts where: names, and a code for every item or for every class."""

    names: Names
    code: Ints
    of_items: bool

    def rows(self, place: int) -> Any:
        """What of a table of items by classes belongs to one of them."""
        inside = self.code == place
        return (inside, slice(None)) if self.of_items else (slice(None), inside)

    def spread(self, thresholds: Floats) -> Floats:
        """The threshold of every item (items, 1) or class (classes,)."""
        wide = thresholds[self.code]
        return wide[:, None] if self.of_items else wide


@immutable(eq=False)
class PredictionSets:
    """A set of classes for every item.

    Attributes
    ----------
    items, classes
        Names.
    member
        Whether a class is in the set of an item, shape (items, classes).
    """

    items: Names
    classes: Names
    member: Bools

    __repr__ = short_repr

    @property
    def sizes(self) -> Ints:
        """Number of classes in every set, shape (items,)."""
        return np.asarray(self.member.sum(axis=1))

    @property
    def names(self) -> tuple[Names, ...]:
        """The classes of every set by name."""
        codes = (np.flatnonzero(row) for row in self.member)
        return tuple(tuple(self.classes[k] for k in row) for row in codes)


@immutable(eq=False, kw_only=True)
class SetRule:
    """Thresholds that were calibrated, and what on.

    Attributes
    ----------
    model, classes
        Whose predictions, and of which classes.
    calibration
        How the thresholds were set.
    strata, thresholds
        Names of what has a threshold of its own (one empty name where all share one), and the
        thresholds, shape (strata,); minus infinity where sets must hold all classes.
    items
        Number of items that it was calibrated on.
    population
        Whom the promise is for.
    notices
        What to know about it.
    """

    model: str
    classes: Names
    calibration: Calibration
    strata: Names
    thresholds: Floats
    items: int
    population: Population
    notices: Notices = ()

    __repr__ = short_repr

    @property
    def alpha(self) -> float:
        """Probability to miss."""
        return self.calibration.alpha

    @property
    def threshold(self) -> float:
        """The one threshold; refuses rules that have several."""
        if len(self.thresholds) > 1:
            got = f"thresholds of {len(self.strata)} strata"
            do = "take .thresholds, which stand in the order of .strata"
            raise InputError("set rule, threshold", got, "a rule with one threshold", do)
        return float(self.thresholds[0])

    def sets(
        self, predictions: Predictions, groups: Mapping[str, str] | None = None
    ) -> PredictionSets:
        """The sets of new predictions.

        Parameters
        ----------
        predictions
            Probabilities of the same classes.
        groups
            The group of every item, where the rule is by groups of items.
        """
        chance = _probabilities(predictions, self.classes)
        by = self.calibration.by
        if isinstance(by, Mapping):
            by = by if groups is None else groups
        strata = strata_of(by, predictions.items, self.classes, self.strata)
        return PredictionSets(
            predictions.items, self.classes, frozen(self.member(chance, strata))
        )

    def member(self, chance: Floats, strata: Strata) -> Bools:
        """Whether classes are in the sets of probabilities (items, classes)."""
        scores = conformity(chance, self.calibration.score)
        return np.asarray(scores >= strata.spread(self.thresholds))


def calibrate(
    predictions: Predictions,
    truth: Annotations | Plausibilities | Mapping[str, str],
    *,
    alpha: float,
    score: str = "probability",
    guarantee: str = "average",
    **how: Unpack[HowSets],
) -> SetRule:
    """Set the threshold from which on a class is in the set of an item.

    Parameters
    ----------
    predictions
        Probabilities of one model, on items that it was not trained on.
    truth
        Votes, plausibilities (with draws, for ``two_way``), or the label of every item.
    alpha
        Probability to miss what a new reader says: 0.1 for sets that hold 90 % of answers.
    score
        ``probability``, ``aps`` or ``raps``, see `equipoise.sets.scores`.
    guarantee
        ``average``, or ``two_way`` for a lower bound.
    **how
        ``by``, ``draws``, ``seed``, ``midpoint`` and ``level``, see `HowSets`.

    Examples
    --------
    >>> votes = Annotations.from_counts(np.array([[4, 1], [2, 3], [0, 5], [5, 0]] * 10))
    >>> chance = np.tile([[0.7, 0.3], [0.5, 0.5], [0.2, 0.8], [0.9, 0.1]], (10, 1))
    >>> model = Predictions("net", votes.items, chance, votes.classes)
    >>> [calibrate(model, votes, alpha=alpha).threshold for alpha in (0.1, 0.05)]
    [0.5, 0.3]
    >>> calibrate(model, votes, alpha=0.01)
    Traceback (most recent call last):
    ...
    equipoise.InputError: prediction sets: 40 items and alpha 0.01, expected at least 99 ...
    """
    require_keywords(how, tuple(HowSets.__annotations__))
    calibration = Calibration(alpha=alpha, score=score, guarantee=guarantee, **how)
    return _sample_of(predictions, truth).rule(0, predictions.model, calibration)


@immutable(eq=False, kw_only=True)
class PValueRule:
    """Sets by p-values, see `equipoise.sets.combining`.

    Attributes
    ----------
    model, classes, calibration
        As of a `SetRule`.
    combine
        How the p-values of several draws become one.
    scores
        For every draw the scores of what was said, rising, and the sum of weights up to each.
    held
        Of ``ecdf``: the same of mean p-values on the other half of the items.
    """

    model: str
    classes: Names
    calibration: Calibration
    combine: str
    scores: tuple[tuple[Floats, Floats], ...]
    held: tuple[Floats, Floats] | None = None

    __repr__ = short_repr

    def p_values(self, predictions: Predictions) -> Floats:
        """P-value of every class of new predictions, shape (items, classes)."""
        chance = _probabilities(predictions, self.classes)
        return self.of_scores(conformity(chance, self.calibration.score))

    def of_scores(self, new: Floats) -> Floats:
        """The same of scores."""
        drawn = np.stack([ranked_p_values(*part, new) for part in self.scores])
        method = "mean" if self.combine == "ecdf" else self.combine
        p = combine_p_values(drawn, method)
        return p if self.held is None else ranked_p_values(*self.held, p)

    def sets(self, predictions: Predictions) -> PredictionSets:
        """The sets of new predictions: classes with a p-value above alpha."""
        member = self.p_values(predictions) > self.calibration.alpha
        return PredictionSets(predictions.items, self.classes, frozen(member))


def calibrate_p_values(
    predictions: Predictions,
    truth: Annotations | Plausibilities | Mapping[str, str],
    *,
    alpha: float,
    score: str = "probability",
    combine: str = "ecdf",
    **how: Unpack[HowSets],
) -> PValueRule:
    """Sets by p-values: Monte Carlo conformal prediction, draw by draw.

    Parameters
    ----------
    predictions, truth, alpha, score
        As of `calibrate`.
    combine
        ``ecdf``, which holds whatever the dependence of draws, ``bonferroni``, ``fisher``,
        ``stouffer``, ``inverse_fisher``, ``tippett`` or ``mean``.
    **how
        ``draws`` and ``seed``; without draws every share of the votes counts, which leaves one
        p-value.

    Examples
    --------
    >>> votes = Annotations.from_counts(np.array([[4, 1], [2, 3], [0, 5], [5, 0]] * 10))
    >>> chance = np.tile([[0.7, 0.3], [0.5, 0.5], [0.2, 0.8], [0.9, 0.1]], (10, 1))
    >>> model = Predictions("net", votes.items, chance, votes.classes)
    >>> rule = calibrate_p_values(model, votes, alpha=0.1, combine="mean")
    >>> rule.p_values(model)[0].round(2)
    array([0.51, 0.07])
    """
    require_keywords(how, ("draws", "seed"))
    choice("prediction sets, combine", combine, SUPPORTED)
    calibration = Calibration(alpha=alpha, score=score, **how)
    sample = _sample_of(predictions, truth)
    task = sample.study.aligned[0]
    scores = conformity(task.distributions(predictions.model), score)
    labels, items = sample.labels(0), task.question.items
    sample.refuse_too_few(calibration, 0)
    half = np.zeros(len(items), dtype=bool)
    if combine == "ecdf":
        half = Tuning(fraction=0.5, seed=calibration.seed).fold_of(items) == 1
    parts = [labels[~half]]
    if calibration.draws:
        names = items, sample.classes(0)
        drawn = drawn_labels(labels, calibration.draws, calibration.seed, names)[:, ~half]
        parts = [np.eye(labels.shape[1])[codes] for codes in drawn]
    rule = PValueRule(
        model=predictions.model,
        classes=sample.classes(0),
        calibration=calibration,
        combine=combine,
        scores=tuple(ranked_scores(scores[~half], part) for part in parts),
    )
    if combine != "ecdf":
        return rule
    return replace(rule, held=ranked_scores(rule.of_scores(scores[half]), labels[half]))


def _sample_of(
    predictions: Predictions, truth: Annotations | Plausibilities | Mapping[str, str]
) -> "SetSample":
    """One model and a truth, checked."""
    if isinstance(truth, Mapping):
        truth = _labelled(predictions, truth)
    settings = Settings(on_missing="drop", labels="soft")
    return SetSample.of(
        Study.of(predictions, truth, metrics=["brier_score"], settings=settings)
    )


def _labelled(predictions: Predictions, labels: Mapping[str, str]) -> Annotations:
    """Labels by item as votes that nobody cast."""
    classes = predictions.classes or tuple(sorted(set(labels.values())))
    return Annotations(
        kind="nominal" if predictions.classes else "binary",
        items=tuple(labels),
        classes=classes,
        item=np.arange(len(labels)),
        label=positions([*labels.values()], classes, where="labels"),
    )


def _probabilities(predictions: Predictions, classes: Names) -> Floats:
    """Probabilities of all classes, shape (items, classes); scores are those of the second."""
    if predictions.classes:
        return predictions.aligned(predictions.items, classes)
    if len(classes) != 2:
        do = "give class probabilities"
        raise InputError(predictions.where, "one score per item", f"{len(classes)} classes", do)
    return np.stack([1 - predictions.values, predictions.values], axis=1)


def strata_of(by: By, items: Names, classes: Names, names: Names | None = None) -> Strata:
    """What has a threshold of its own.

    Parameters
    ----------
    names
        Those that there are already, of a rule; None where they are made here.
    """
    if by is None:
        return Strata(("",), np.zeros(len(classes), dtype=np.int64), of_items=False)
    if isinstance(by, str):
        return Strata(classes, np.arange(len(classes)), of_items=False)
    if isinstance(by, Grouping):
        return Strata(by.groups, by.codes(classes), of_items=False)
    missing = [name for name in items if name not in by]
    if missing:
        got = f"no group for {listed(missing)}"
        raise InputError("prediction sets, groups", got, "a group for every item", "add them")
    group = [by[name] for name in items]
    names = tuple(sorted(set(group))) if names is None else names
    return Strata(
        names, positions(group, names, where="prediction sets, groups"), of_items=True
    )


@immutable(eq=False)
class SetSample:
    """Items to calibrate on: the tasks of a study, ready for thresholds and their bounds.

    Attributes
    ----------
    study
        Models and the truth.
    shared
        What the uncertainty of all numbers about it shares.
    """

    study: Study
    shared: Uncertainty

    @classmethod
    def of(cls, study: Study) -> "SetSample":
        """Lay out the votes of a study."""
        target = target_population(study.aligned, study.plan, study.settings)
        return cls(study, Uncertainty(study.aligned, [], study.plan, target, workers=1))

    def classes(self, t: int) -> Names:
        """Classes of a task, also the negative one of a yes/no question."""
        question = self.study.aligned[t].question
        return question.classes if len(question.classes) > 1 else question.answers

    def labels(self, t: int, *, hard: bool = False) -> Floats:
        """Soft or hard labels of all classes, shape (items, classes)."""
        question = self.study.aligned[t].question
        shares = (question.hard if hard else question.shares).T
        return shares if shares.shape[1] > 1 else np.hstack([1 - shares, shares])

    def largest_unit(self, t: int, inside: Any = slice(None)) -> float:
        """The largest number of items that one unit has."""
        return float(np.bincount(self.shared.unit[t][inside]).max(initial=1))

    def rule(self, t: int, model: str, how: Calibration, *, hard: bool = False) -> SetRule:
        """The rule of one model in one task; on hard labels, as others do."""
        task = self.study.aligned[t]
        classes, chance = self.classes(t), task.distributions(model)
        scores, weights = conformity(chance, how.score), self.labels(t, hard=hard)
        step = 1.0
        if how.draws:
            names = task.question.items, classes
            drawn = drawn_labels(weights, how.draws, how.seed, names)
            step = 1.0 / how.draws
            weights = step * (drawn[:, :, None] == np.arange(len(classes))).sum(axis=0)
        strata = strata_of(how.by, task.question.items, classes)
        self._refuse(how, strata, weights)
        values, small = [], []
        for place, name in enumerate(strata.names):
            rows = strata.rows(place)
            block = self.largest_unit(t, rows[0])
            threshold = conformal_threshold(
                scores[rows],
                weights[rows],
                alpha=how.alpha,
                block=block,
                step=step,
                midpoint=how.midpoint,
            )
            if how.guarantee == "two_way":
                bound = _bounded_threshold(self, t, scores, (strata, place), how)
                threshold = min(threshold, bound)
            small += [name] * (threshold == -np.inf)
            values.append(threshold)
        self.refuse_too_few(how, t)
        whom = self.shared.population(t)
        return SetRule(
            model=model,
            classes=classes,
            calibration=how,
            strata=strata.names,
            thresholds=frozen(np.array(values)),
            items=len(task.question.items),
            population=whom,
            notices=(*self.study.notices, *self._notices(t, how, small)),
        )

    def _refuse(self, how: Calibration, strata: Strata, weights: Floats) -> None:
        """Refuse strata of classes that nobody ever voted for."""
        if strata.of_items or len(strata.names) == 1:
            return
        never = [
            name
            for place, name in enumerate(strata.names)
            if not weights[strata.rows(place)].any()
        ]
        if never:
            what = "classes" if how.by == BY_CLASS else "groups of classes"
            raise InputError(
                f"prediction sets, {what} {listed(never)}",
                "never voted for",
                "votes for each that is to have a threshold of its own",
                "leave by out, or put classes into groups (by=Grouping.of(...))",
            )

    def refuse_too_few(self, how: Calibration, t: int) -> None:
        """Refuse a calibration on fewer items than 1/alpha, whose sets hold everything."""
        number, block = len(self.study.aligned[t].question.items), self.largest_unit(t)
        least = int(np.ceil(block * (1 / how.alpha - 1) - 1e-9))
        if how.by is None and number < least:
            inside = "" if block == 1 else f" (in groups of up to {block:g})"
            raise InputError(
                "prediction sets",
                f"{number:,} items{inside} and alpha {how.alpha:g}",
                f"at least {least:,} items, or every set holds all classes",
                "calibrate on more items, or allow more misses",
            )

    def _notices(self, t: int, how: Calibration, small: Sequence[str]) -> Iterator[Notice]:
        if small and how.by is not None:
            text = (
                "Too little was said of {names} for a threshold at alpha {alpha}: sets "
                "hold all classes there."
            )
            yield notice("all_classes", text, names=listed(small), alpha=f"{how.alpha:g}")
        elif small:
            text = "No lower bound on coverage reaches {least:percent}: sets hold all classes."
            yield notice("all_classes", text, least=1 - how.alpha)
        votes = self.study.aligned[t].question.votes
        readers = 0 if votes is None else len(set(votes.annotator[votes.annotator >= 0]))
        if self.shared.target.named and 0 < readers < ENOUGH_READERS:
            yield every_reader(readers)


def every_reader(readers: int) -> Notice:
    """That a promise for every reader is useless with few of them."""
    text = (
        "The promise is on average over readers. One for every reader is useless with fewer "
        "than ten ({readers:count} here): its sets hold nearly all classes."
    )
    return notice("every_reader", text, readers=readers)


def _bounded_threshold(
    sample: SetSample, t: int, scores: Floats, stratum: tuple[Strata, int], how: Calibration
) -> float:
    """The largest threshold whose simultaneous lower bound on coverage reaches 1 - alpha."""
    strata, place = stratum
    rows, weights = strata.rows(place), sample.labels(t)
    ranked, mass = ranked_scores(scores[rows], weights[rows])
    whole = float(mass[-1])
    thresholds = np.unique([missed_up_to(ranked, mass, share * whole) for share in GRID])
    inside = np.full(scores.shape, -1)
    inside[rows] = 0
    covered = Coverage.of_thresholds(weights, scores, thresholds).within(inside, 1)
    cell = covered.cell(sample.shared, t)
    lower = covered.values - simultaneous_widths(cell, 2 * how.level - 1)
    enough = np.flatnonzero(lower >= 1 - how.alpha)
    return float(thresholds[enough[-1]]) if len(enough) else -np.inf

"""Evaluate again with the audited items added, as they are and as what they stand for.

Three versions of the truth: ``before`` (the items of the benchmark), ``added`` (audited items
count like any other) and ``reweighed`` (each audited item counts by the inverse of its sampling
probability N/n, as an importance weight in the metric, so that the items stand for the whole
pools). Intervals redraw the items of the benchmark and those of every pool separately, or whole
groups of items where the annotations have groups; all versions and models share the draws, so
that changes are paired. An item that is drawn twice is two items, each of its weight.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise import metrics as catalogue
from equipoise.analyses._audited import Audited
from equipoise.analyses._revalued import Reevaluation, Revalued
from equipoise.annotations import Annotations
from equipoise.arrays import (
    Bools,
    Floats,
    InputError,
    Ints,
    PerItem,
    listed,
    require_unique,
    wrong_type,
)
from equipoise.estimate import Estimate
from equipoise.evaluation.blocks import majority
from equipoise.evaluation.given import given_annotations, given_predictions
from equipoise.evaluation.questions import Question, questions
from equipoise.metrics import named, parsed
from equipoise.predictions import Predictions

VERSIONS = ("before", "added", "reweighed")


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """What is redrawn on its own: the benchmark, or a pool.

    Attributes
    ----------
    name
        What it is called in messages.
    rows
        Its items among all.
    unit
        Which unit each of them is redrawn with: its group, or itself.
    size
        How many items it stands for; None for the benchmark, which stands for itself.
    """

    name: str
    rows: Ints
    unit: Ints
    size: int | None

    def __post_init__(self) -> None:
        if self.units == 1 and len(self.rows) > 1:
            raise InputError(
                f"audit, groups of {self.name}", f"all {len(self.rows)} items in one group",
                "at least two groups", "leave the groups out, also where they are the pools",
            )  # fmt: skip

    @property
    def units(self) -> int:
        """How many units there are to draw from."""
        return int(self.unit.max()) + 1

    def redrawn(self, random: np.random.Generator) -> Ints:
        """How often each item stands in a replicate."""
        even = np.full(self.units, 1 / self.units)
        return np.asarray(random.multinomial(self.units, even)[self.unit])

    def worth(self, drawn: int) -> float:
        """How many items each of so many drawn ones stands for."""
        return 1.0 if self.size is None else self.size / drawn


def reevaluate(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    audited: Audited,
    *,
    metric: str = "auroc",
) -> Reevaluation:
    """Score models before and after audited items are added.

    Parameters
    ----------
    predictions
        Models that scored the items of the benchmark and the audited ones.
    annotations
        The benchmark: a yes/no question.
    audited
        What the audit found, and which pools its items stand for.
    metric
        Any metric of scores that takes weights.
    """
    if not isinstance(audited, Audited):
        raise wrong_type("audit", audited, "an Audited", "give Audited(votes, pool, sizes)")
    if not isinstance(metric, str):
        raise wrong_type("metric", metric, "the name of one metric", "try 'auroc'")
    old, new = _question(annotations, "annotations"), _question(audited.votes, "audit")
    _check(old, new, audited)
    given = _models(predictions)
    items = (*old.items, *new.items)
    label = np.concatenate([_label(old, audited.labels), _label(new, audited.labels)])
    strata = _strata((old, new), annotations, audited)
    score = _metric(metric)
    values = {one.model: _scores(one, items, old.classes) for one in given}
    found = _values(score, (label, values), strata, audited)
    return Reevaluation(
        metric, audited.labels, tuple(_lines(found, list(values), audited, metric)),
        (len(old.items), len(new.items), sum(one.size or 0 for one in strata)),
        groups=0 if annotations.group is None else strata[0].units,
    )  # fmt: skip


def _models(predictions: Predictions | Iterable[Predictions]) -> list[Predictions]:
    """The models, each there once."""
    given = given_predictions(predictions)
    if not given:
        raise InputError("predictions", "none", "at least one model", "give its scores")
    where = "predictions, models"
    require_unique([one.model for one in given], where=where, do="keep one of each name")
    return given


Score = Callable[[PerItem, PerItem, PerItem], float]


def _metric(text: str) -> Score:
    """The plain function of a metric, with its parameters and weights."""
    made = named(text)
    name, given = parsed(text)
    plain = getattr(catalogue, name, None)
    if made.labels == "draws" or plain is None:
        raise InputError(
            f"metric {text}", "a metric of draws", "a metric of scores that takes weights",
            "choose auroc, average_precision or another such metric",
        )  # fmt: skip
    if "weights" not in inspect.signature(plain).parameters:
        raise InputError(
            f"metric {text}", "a metric that takes no weights",
            "one that does: audited items count by how many they stand for",
            "choose auroc, average_precision, brier_score or another such metric",
        )  # fmt: skip

    def score(label: PerItem, value: PerItem, weight: PerItem) -> float:
        if made.labels == "distribution":
            whole = [np.stack([1 - one, one], 1) for one in (label, value)]
            return float(plain(*whole, weights=weight, **given))
        return float(plain(label, value, weights=weight, **given))

    return score


def _strata(
    questions: tuple[Question, Question], annotations: Annotations, audited: Audited
) -> list[Stratum]:
    """The benchmark and every pool, each with its items and groups."""
    old, new = questions
    place = {name: np.flatnonzero(own) for name, own in _pools(new, audited)}
    whole = np.arange(len(old.items))
    made = [Stratum("the benchmark", whole, _groups(annotations, old, whole), None)]
    for name, rows in place.items():
        groups = _groups(audited.votes, new, rows)
        made.append(Stratum(f"pool {name!r}", len(whole) + rows, groups, audited.sizes[name]))
    return made


def _pools(new: Question, audited: Audited) -> list[tuple[str, Bools]]:
    """Which audited items each pool has."""
    names = np.array([audited.pool[name] for name in new.items])
    return [(str(one), names == one) for one in np.unique(names)]


def _groups(annotations: Annotations, question: Question, rows: Ints) -> Ints:
    """Which unit each of these items is redrawn with: its group, or itself."""
    if annotations.group is None:
        return np.arange(len(rows))
    codes = annotations.group[question.place[rows]]
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _values(
    score: Score,
    task: tuple[PerItem, dict[str, PerItem]],
    strata: Sequence[Stratum],
    audited: Audited,
) -> Floats:
    """Values of shape (versions, models, 1 + replicates); the first is the data as they are."""
    label, models = task
    random = np.random.default_rng(audited.seed)
    out = np.empty((3, len(models), audited.replicates + 1))
    for number in range(audited.replicates + 1):
        counts = np.ones(len(label), dtype=np.int64)
        for one in strata if number else ():
            counts[one.rows] = one.redrawn(random)
        for version, rows, weight in _versions(counts, strata):
            out[version, :, number] = [
                score(label[rows], one[rows], weight) for one in models.values()
            ]
        if audited.progress is not None:
            audited.progress(number + 1, audited.replicates + 1)
    return out


def _versions(counts: Ints, strata: Sequence[Stratum]) -> Iterator[tuple[int, Ints, PerItem]]:
    """Every version: its number, its items one by one, and how much each of them counts.

    An item that was drawn c times stands there c times: copies are items, not weights.
    """
    drawn = np.repeat(np.arange(len(counts)), counts)
    old = drawn[drawn < len(strata[0].rows)]
    worth = np.ones(len(counts))
    for one in strata[1:]:
        worth[one.rows] = one.worth(int(counts[one.rows].sum()))
    yield 0, old, np.ones(len(old))
    yield 1, drawn, np.ones(len(drawn))
    yield 2, drawn, worth[drawn]


def _lines(
    found: Floats, models: Sequence[str], audited: Audited, metric: str
) -> list[Revalued]:
    bounds = named(metric).bounds
    lines = []
    for version, name in enumerate(VERSIONS):
        for m, model in enumerate(models):
            now, before = (
                Estimate(float(found[v, m, 0]), found[v, m, 1:], "audit", bounds)
                for v in (version, 0)
            )
            change = now - before
            ends = (*now.interval(audited.level), change.value, *change.interval(audited.level))
            lines.append(Revalued(name, model, now.value, *ends))
    return lines


def _question(annotations: Annotations, where: str) -> Question:
    asked = questions(given_annotations(annotations))
    if len(asked) > 1 or len(asked[0].classes) > 1:
        raise InputError(
            where, f"{len(asked)} tasks, classes {annotations.classes}", "one yes/no question",
            "ask about one class: --positive CLASS, in Python Annotations.against",
        )  # fmt: skip
    return asked[0]


def _scores(one: Predictions, items: Sequence[str], classes: tuple[str, ...]) -> PerItem:
    """Scores of the positive class."""
    return one.aligned(items, classes)[:, 0] if one.classes else one.aligned(items)


def _label(question: Question, labels: str) -> PerItem:
    return majority(question.shares)[0] if labels == "hard" else question.shares[0]


def _check(old: Question, new: Question, audited: Audited) -> None:
    """Refuse audits that overlap the benchmark, or whose pools are not known."""
    if old.classes != new.classes:
        raise InputError(
            "audit", f"positive class {new.classes[0]!r}", f"{old.classes[0]!r}, as before",
            "use the same words for both",
        )  # fmt: skip
    both = sorted(set(old.items) & set(new.items))
    if both:
        raise InputError(
            "audit", f"{len(both)} items of the benchmark ({listed(both)})",
            "items that were not retrieved", "leave them out of the audit",
        )  # fmt: skip
    lost = [name for name in new.items if name not in audited.pool]
    if lost:
        raise InputError(
            "audit, pool", f"no pool for {listed(lost)}", "a pool for every audited item",
            "say which pool each is from",
        )  # fmt: skip
    used = [audited.pool[name] for name in new.items]
    small = sorted({one for one in used if audited.sizes.get(one, 0) < used.count(one)})
    if small:
        raise InputError(
            "audit, sizes", f"no size, or less than was audited, for {listed(small)}",
            "the number of items in each pool", "correct the sizes",
        )  # fmt: skip

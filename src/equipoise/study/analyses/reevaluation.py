"""Evaluate again with the audited items added, as they are and as what they stand for.

Three versions of the truth: ``before`` (the items of the benchmark), ``added`` (audited items
count like any other) and ``reweighed`` (each audited item counts by the inverse of its sampling
probability N/n, as an importance weight in the metric, so that the items stand for the whole
pools). Intervals resample the items of the benchmark and those of every pool separately, or
whole groups of items where the annotations have groups; all versions and models share the
draws, so that changes are paired. An item that is drawn twice is two items, each of its weight.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from equipoise import metrics as catalogue
from equipoise.inference.estimate import Estimate
from equipoise.inference.ranks import average_ranks, higher_is_better
from equipoise.metrics import named, parsed
from equipoise.study.arguments import as_predictions
from equipoise.study.blocks import majority
from equipoise.study.truth import TaskTruth, yes_no_truth
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    PerItem,
    choice,
    listed,
    require_drawn,
    require_number,
    require_unique,
    require_whole,
    short_repr,
    wrong_type,
)
from equipoise.types.findings import Cell, Column, Dot, Dots, Finding, Table, columns
from equipoise.types.numbers import change, count, estimate, exact_percent
from equipoise.types.predictions import Predictions

ITEMS = ("before", "audited", "stand_for")
VERSIONS = ("before", "added", "reweighed")
LEGEND = (
    "Before: the benchmark alone. Added: audited items count like any other. Reweighed: each "
    "audited item counts for as many items of its pool as it stands for. Change: from the "
    "value before. Brackets: intervals."
)
NOTE = (
    "Before: the items of the benchmark. Added: audited items count like any other. Reweighed: "
    "each audited item counts for as many as it stands for, the size of its pool over the "
    "number audited. {} of the benchmark and items of every pool are resampled separately, the "
    "same for all versions and models, so that changes are paired."
)


@dataclass(frozen=True, slots=True)
class Audited:
    """Labels of audited items, and how the metric is taken.

    Attributes
    ----------
    votes
        Votes on the audited items, none of them in the benchmark. Where they have groups
        (patients, nights), these are resampled as a whole, pool by pool.
    pool
        Which pool each audited item is from.
    sizes
        How many items each pool has.
    labels
        ``hard`` (strict majority) or ``soft`` (mean vote).
    replicates, seed, level
        Of the resampled items.
    progress
        Called as ``progress(done, all)``.
    """

    votes: Annotations
    pool: Mapping[str, str]
    sizes: Mapping[str, int]
    labels: str = "hard"
    replicates: int = 500
    seed: int = 0
    level: float = 0.95
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.votes, Annotations):
            do = "read them with read_annotations"
            raise wrong_type("audit, votes", self.votes, "annotations with their votes", do)
        self._check_pools()
        choice("audit, labels", self.labels, ("hard", "soft"))
        require_drawn("audit, replicates", self.replicates, least=1, do="500 are usual")
        require_whole("audit, seed", self.seed, do="try 0")
        require_number("audit, level", self.level, above=0, below=1, do="try 0.95")
        if self.progress is not None and not callable(self.progress):
            raise wrong_type("progress", self.progress, "a function, or None", "leave it out")

    def _check_pools(self) -> None:
        """Refuse pools and sizes that are not named by words."""
        item, size = "the name of its pool for every audited item", "the size of every pool"
        for where, names, expected, do in (
            ("audit, pool", self.pool, item, "give {item: pool}"),
            ("audit, sizes", self.sizes, size, "give {pool: number of items}"),
        ):
            if not isinstance(names, Mapping) or not all(isinstance(x, str) for x in names):
                raise wrong_type(where, names, expected, do)
        for name, pool in self.pool.items():
            if not isinstance(pool, str):
                raise wrong_type(f"audit, pool of {name!r}", pool, "a name", "give a text")
        for name, number in self.sizes.items():
            require_whole(
                f"audit, size of pool {name!r}", number, least=1, do="count its items"
            )


class Revalued(NamedTuple):
    """One model in one version of the truth; `change` is from the value before."""

    version: str
    model: str
    value: float
    low: float
    high: float
    change: float
    change_low: float
    change_high: float


@dataclass(frozen=True, slots=True)
class Reevaluation:
    """Values before and after an audit.

    Attributes
    ----------
    metric, labels
        What was scored.
    lines
        One line per version and model.
    items
        Items in the benchmark, audited items, and items they stand for.
    groups
        How many groups of the benchmark's items were resampled as wholes; 0: single items were.
    replicates, seed, level
        Of the resampled items, and of the intervals.
    """

    metric: str
    labels: str
    lines: tuple[Revalued, ...]
    items: tuple[int, int, int]
    groups: int = 0

    replicates: int = 0
    seed: int = 0
    level: float = 0.95

    __repr__ = short_repr

    def rows(self) -> list[dict[str, Cell]]:
        """One line per version and model."""
        return [dict(one._asdict()) for one in self.lines]

    @property
    def finding(self) -> str:
        """What the audit changes, as a sentence."""
        last, title = self._of("reweighed"), named(self.metric).title
        _, audited, whole = map(count, self.items)
        start = f"With the {audited} audited items standing for {whole}, "
        known = [one for one in last if not math.isnan(one.change)]
        if not known:
            return f"{start}the change of {title} is undefined.{self._order()}"
        most = max(known, key=lambda one: abs(one.change))
        whom = "" if len(last) == 1 else f" most for {most.model}:"
        shift = estimate(most.change, most.change_low, most.change_high, change)
        return f"{start}{title} changes{whom} by {shift}.{self._order()}"

    def _of(self, version: str) -> list[Revalued]:
        return [one for one in self.lines if one.version == version]

    def report(self) -> Finding:
        """The finding for every surface; its figure and rows are those of one metric."""
        known = named(self.metric)
        title = f"{known.title}{', lower is better' if known.better == 'lower' else ''}"
        rows = [{"metric": self.metric, "labels": self.labels, **row} for row in self.rows()]
        unit = f"{count(self.groups)} whole groups of items" if self.groups else "Items"
        dots = [
            Dot(one.model, *one[5:], one.model, remark=change(one.change))
            for one in self._of("reweighed")
        ]
        return Finding(
            key="reevaluation",
            metric=self.metric,
            title="Does that change the models?",
            sentence=self.finding,
            tables=(
                Table(
                    name="reevaluation",
                    caption=f"{title} before and after the audit",
                    columns=(
                        *(*columns("model", "model"), *columns("text", "version")),
                        Column("value", title, "number", ("low", "high")),
                        Column("change", "change", "change", ("change_low", "change_high")),
                    ),
                    rows=rows,
                    legend=LEGEND,
                ),
                Table(
                    name="items",
                    caption="Items that models are scored on",
                    columns=(
                        Column("before", "in the benchmark", "count"),
                        Column("audited", "audited", "count"),
                        Column("stand_for", "which stand for", "count"),
                        Column("groups", "groups resampled as wholes", "count"),
                    ),
                    rows=[{**dict(zip(ITEMS, self.items, strict=True)), "groups": self.groups}],
                    file=False,
                ),
            ),
            charts=(
                Dots(
                    name="audit",
                    caption=f"Change of {title} with the audited items reweighed, and its "
                    f"{exact_percent(self.level)} interval",
                    axis=f"change of {title}",
                    rows=dots,
                    zero=True,
                ),
            ),
            note=NOTE.format(unit),
            methods=self._methods(),
            references=(*known.references, "efron1993"),
        )

    def _methods(self) -> str:
        """How models were scored again, for a paper."""
        models = len({one.model for one in self.lines})
        verb = "was" if models == 1 else "were"
        unit = "groups of items" if self.groups else "items"
        return (
            f"{count(models, 'model')} {verb} scored again by {named(self.metric).title} "
            f"({self.labels} labels) with the audited items added, as they are and weighed by "
            f"the inverse of their probability to be audited; {exact_percent(self.level)} "
            f"percentile intervals come from {count(self.replicates)} bootstrap resamples of "
            f"the {unit} of the benchmark and of the items of each pool, paired between "
            f"versions and models (seed {self.seed}) [@efron1993]."
        )

    def _order(self) -> str:
        """Say whether the order of the models holds; ties are ties."""
        ranks, better = [], named(self.metric).better
        for version in ("before", "reweighed"):
            values = np.array([one.value for one in self._of(version)])
            ranks.append(average_ranks(higher_is_better(values, better)))
        if len(ranks[0]) == 1:
            return ""
        if np.isnan(ranks).any():
            return " The order of models is undefined."
        same = "stays" if (ranks[0] == ranks[1]).all() else "changes"
        return f" The order of models {same}."


@dataclass(frozen=True, slots=True, eq=False)
class _Stratum:
    """What is resampled on its own: the benchmark, or a pool.

    Attributes
    ----------
    name
        What it is called in messages.
    rows
        Its items among all.
    unit
        Which unit each of them is resampled with: its group, or itself.
    size
        How many items it stands for; None for the benchmark, which stands for itself.
    """

    name: str
    rows: Ints
    unit: Ints
    size: int | None

    def __post_init__(self) -> None:
        if self.units == 1 and len(self.rows) > 1:
            got = f"all {len(self.rows)} items in one group"
            do = "leave the groups out, also where they are the pools"
            raise InputError(f"audit, groups of {self.name}", got, "at least two groups", do)

    @property
    def units(self) -> int:
        """How many units there are to draw from."""
        return int(self.unit.max()) + 1

    def resampled(self, random: np.random.Generator) -> Ints:
        """How often each item stands in a replicate."""
        even = np.full(self.units, 1 / self.units)
        return np.asarray(random.multinomial(self.units, even)[self.unit])


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
    old, new = yes_no_truth(annotations, "annotations"), yes_no_truth(audited.votes, "audit")
    _check(old, new, audited)
    models = as_predictions(predictions)
    if not models:
        raise InputError("predictions", "none", "at least one model", "give its scores")
    where = "predictions, models"
    require_unique([one.model for one in models], where=where, do="keep one of each name")
    items = (*old.items, *new.items)
    hard = audited.labels == "hard"
    labels = [majority(one.shares)[0] if hard else one.shares[0] for one in (old, new)]
    strata = _strata((old, new), annotations, audited)
    score = _metric(metric)
    values = [
        one.aligned(items, old.classes)[:, 0] if one.classes else one.aligned(items)
        for one in models
    ]
    found = _values(score, np.concatenate(labels), values, strata, audited)
    return Reevaluation(
        metric,
        audited.labels,
        tuple(_lines(found, [one.model for one in models], audited, metric)),
        (len(old.items), len(new.items), sum(one.size or 0 for one in strata)),
        groups=0 if annotations.group is None else strata[0].units,
        replicates=audited.replicates,
        seed=audited.seed,
        level=audited.level,
    )


Score = Callable[[PerItem, PerItem, PerItem], float]


def _metric(text: str) -> Score:
    """The plain function of a metric, with its parameters and weights."""
    made = named(text)
    name, given = parsed(text)
    plain = getattr(catalogue, name, None)
    if made.labels == "draws" or plain is None:
        do = "choose auroc, average_precision or another such metric"
        expected = "a metric of scores that takes weights"
        raise InputError(f"metric {text}", "a metric of draws", expected, do)
    if "weights" not in inspect.signature(plain).parameters:
        expected = "one that does: audited items count by how many they stand for"
        do = "choose auroc, average_precision, brier_score or another such metric"
        raise InputError(f"metric {text}", "a metric that takes no weights", expected, do)

    def score(label: PerItem, value: PerItem, weight: PerItem) -> float:
        if made.labels == "distribution":
            whole = [np.stack([1 - one, one], 1) for one in (label, value)]
            return float(plain(*whole, weights=weight, **given))
        return float(plain(label, value, weights=weight, **given))

    return score


def _strata(
    questions: tuple[TaskTruth, TaskTruth], annotations: Annotations, audited: Audited
) -> list[_Stratum]:
    """The benchmark and every pool, each with its items and groups."""
    old, new = questions
    names = np.array([audited.pool[name] for name in new.items])
    whole = np.arange(len(old.items))
    made = [_Stratum("the benchmark", whole, _groups(annotations, old, whole), None)]
    for name in map(str, np.unique(names)):
        rows = np.flatnonzero(names == name)
        groups = _groups(audited.votes, new, rows)
        made.append(_Stratum(f"pool {name!r}", len(whole) + rows, groups, audited.sizes[name]))
    return made


def _groups(annotations: Annotations, question: TaskTruth, rows: Ints) -> Ints:
    """Which unit each of these items is resampled with: its group, or itself."""
    if annotations.group is None:
        return np.arange(len(rows))
    codes = annotations.group[question.place[rows]]
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _values(
    score: Score,
    label: PerItem,
    models: Sequence[PerItem],
    strata: Sequence[_Stratum],
    audited: Audited,
) -> Floats:
    """Values of shape (versions, models, 1 + replicates); the first is the data as they are.

    An item that was drawn c times stands there c times: copies are items, not weights.
    """
    random = np.random.default_rng(audited.seed)
    out = np.empty((len(VERSIONS), len(models), audited.replicates + 1))
    counts, worth = np.ones(len(label), dtype=np.int64), np.ones(len(label))
    for number in range(audited.replicates + 1):
        for one in strata:
            if number:
                counts[one.rows] = one.resampled(random)
            if one.size is not None:  # a pool: each drawn item stands for several
                worth[one.rows] = one.size / int(counts[one.rows].sum())
        drawn = np.repeat(np.arange(len(label)), counts)
        old, alike = drawn[drawn < len(strata[0].rows)], np.ones(len(drawn))
        versions = ((old, alike[: len(old)]), (drawn, alike), (drawn, worth[drawn]))
        for version, (rows, weight) in enumerate(versions):
            out[version, :, number] = [score(label[rows], one[rows], weight) for one in models]
        if audited.progress is not None:
            audited.progress(number + 1, audited.replicates + 1)
    return out


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


def _check(old: TaskTruth, new: TaskTruth, audited: Audited) -> None:
    """Refuse audits that overlap the benchmark, or whose pools are not known."""
    if old.classes != new.classes:
        got, expected = f"positive class {new.classes[0]!r}", f"{old.classes[0]!r}, as before"
        raise InputError("audit", got, expected, "use the same words for both")
    both = sorted(set(old.items) & set(new.items))
    if both:
        got = f"{len(both)} items of the benchmark ({listed(both)})"
        do = "leave them out of the audit"
        raise InputError("audit", got, "items that were not retrieved", do)
    lost = [name for name in new.items if name not in audited.pool]
    if lost:
        expected, do = "a pool for every audited item", "say which pool each is from"
        raise InputError("audit, pool", f"no pool for {listed(lost)}", expected, do)
    used = [audited.pool[name] for name in new.items]
    small = sorted({one for one in used if audited.sizes.get(one, 0) < used.count(one)})
    if small:
        got = f"no size, or less than was audited, for {listed(small)}"
        expected = "the number of items in each pool"
        raise InputError("audit, sizes", got, expected, "correct the sizes")

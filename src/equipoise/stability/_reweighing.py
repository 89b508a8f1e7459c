"""Evaluate again with the audited items added, as they are and as what they stand for.

Three versions of the truth: ``before`` (the items of the benchmark), ``added`` (audited items
count like any other) and ``reweighed`` (each audited item counts by the inverse of its sampling
probability N/n, as an importance weight in the metric, so that the items stand for the whole
pools). Intervals redraw the items of the benchmark and those of every pool separately; all
versions and models share the draws, so that changes are paired.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise import metrics as catalogue
from equipoise.annotations import Annotations
from equipoise.arrays import (
    Floats,
    InputError,
    Ints,
    PerItem,
    choice,
    listed,
    require_number,
    require_unique,
    require_whole,
    wrong_type,
)
from equipoise.estimate import Estimate
from equipoise.evaluation.blocks import majority
from equipoise.evaluation.given import given_annotations, given_predictions
from equipoise.evaluation.questions import Question, questions
from equipoise.metrics import named
from equipoise.metrics._names import parsed
from equipoise.predictions import Predictions
from equipoise.stability._revalued import Reevaluation, Revalued

VERSIONS = ("before", "added", "reweighed")


@dataclass(frozen=True, slots=True)
class Audited:
    """Labels of audited items, and how the metric is taken.

    Attributes
    ----------
    votes
        Votes on the audited items, none of them in the benchmark.
    pool
        Which pool each audited item is from.
    sizes
        How many items each pool has.
    labels
        ``hard`` (strict majority) or ``soft`` (mean vote).
    replicates, seed, level
        Of the redrawn items.
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
        choice("audit, labels", self.labels, ("hard", "soft"))
        require_whole("audit, replicates", self.replicates, least=1, do="500 are usual")
        require_whole("audit, seed", self.seed, do="try 0")
        require_number("audit, level", self.level, above=0, below=1, do="try 0.95")
        for name, size in self.sizes.items():
            require_whole(f"audit, size of pool {name!r}", size, least=1, do="count its items")


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
    old, new = _question(annotations, "annotations"), _question(audited.votes, "audit")
    _check(old, new, audited)
    given = _models(predictions)
    items = (*old.items, *new.items)
    label = np.concatenate([_label(old, audited.labels), _label(new, audited.labels)])
    pools, stratum = np.unique([audited.pool[name] for name in new.items], return_inverse=True)
    drawn = np.bincount(stratum)
    worth = np.array([audited.sizes[str(name)] for name in pools]) / drawn
    number = len(old.items)
    strata = np.concatenate([np.zeros(number, dtype=np.intp), stratum + 1])
    weights = np.ones((3, len(items)))
    weights[0, number:] = 0
    weights[2, number:] = worth[stratum]
    score = _metric(metric)
    values = {one.model: _scores(one, items, old.classes) for one in given}
    found = _values(score, (label, values), weights, strata, audited)
    total = round(float(weights[2, number:].sum()))
    return Reevaluation(
        metric, audited.labels, tuple(_lines(found, list(values), audited, metric)),
        (number, len(new.items), total),
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
        kept = weight > 0
        if made.labels == "distribution":
            whole = [np.stack([1 - one[kept], one[kept]], 1) for one in (label, value)]
            return float(plain(*whole, weights=weight[kept], **given))
        return float(plain(label[kept], value[kept], weights=weight[kept], **given))

    return score


def _values(
    score: Score,
    task: tuple[PerItem, dict[str, PerItem]],
    weights: Floats,
    strata: Ints,
    audited: Audited,
) -> Floats:
    """Values of shape (versions, models, 1 + replicates); the first is the data as they are."""
    label, models = task
    random = np.random.default_rng(audited.seed)
    rows = [np.flatnonzero(strata == one) for one in range(int(strata.max()) + 1)]
    out = np.empty((3, len(models), audited.replicates + 1))
    for number in range(audited.replicates + 1):
        counts = np.ones(len(label))
        for one in rows if number else ():
            counts[one] = random.multinomial(len(one), np.full(len(one), 1 / len(one)))
        for version in range(3):
            weight = weights[version] * counts
            out[version, :, number] = [score(label, one, weight) for one in models.values()]
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

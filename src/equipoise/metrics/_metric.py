"""Metric: pure functions and the facts that the tables, the page and the laws need.

A metric factors like a linear solver. ``prepare`` does what needs only the prediction (a
sort), ``reduce`` makes a few sums in one linear pass over all replicates of a block, and
``finish`` turns sums into values. Metrics of the same `family` share the reduction, so AUROC
and average precision of one model cost one pass.

What a block holds depends on `labels`: the mass of each scored class (``classes``), whole
distributions over all classes (``distribution``), or nothing but which draw of the possible
truths each replicate takes (``draws``): such a metric has a fourth function,
``score_draws``, which scores the prediction in every draw once.

A plain call checks what it is handed here, too; weights are of two kinds, importance weights
and `Copies`.

The sort that every ranking metric prepares, and the sums it takes down the sorted items.

Two ways to the same sums: numpy for one call with any kind of weight, the compiled pass for
blocks of replicates. The names of the sums are those of `equipoise.kernels.ranking`. Curves are
read off the cumulative masses down the distinct thresholds.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from functools import cached_property, wraps
from inspect import Parameter, Signature, signature
from typing import Any, Literal, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from equipoise.types import (
    Floats,
    InputError,
    Ints,
    ItemsByReplicates,
    Names,
    Option,
    PerItem,
    PerReplicate,
    hint,
    immutable,
    ratio,
    require_finite,
    require_simplex,
    require_whole,
)


@immutable
class Copies:
    """Frequency weights: item i stands for ``counts[i]`` identical items.

    The result equals the metric on the expanded arrays. An array given as `weights` without
    this wrapper holds importance weights, as scikit-learn's ``sample_weight``; with soft
    labels the two differ, because copies of an item can be paired with each other.
    """

    counts: Any


@immutable
class Weights:
    """Checked weights: what an item counts, and what it counts against itself."""

    weight: PerItem
    self_weight: PerItem
    copies: bool


def checked_weights(weights: Any, items: int) -> Weights:
    """Read `weights` of a plain call: None, an array, or `Copies`."""
    if weights is None:
        return Weights(np.ones(items), np.ones(items), copies=True)
    copies = isinstance(weights, Copies)
    array = _numbers(weights.counts if copies else weights, "weights")
    if array.shape != (items,):
        raise InputError(
            "weights", f"shape {array.shape}", f"({items},)", "give one weight per item"
        )
    require_finite(array, where="weights")
    if (array < 0).any() or (copies and (array != np.floor(array)).any()):
        what = "whole numbers of at least 0" if copies else "numbers of at least 0"
        raise InputError("weights", f"{array.min():g} among them", what, "correct them")
    return Weights(array, array if copies else array**2, copies)


def checked_k(k: int) -> int:
    """Return k if it is a whole number of at least 1."""
    return require_whole("k", k, least=1, do="say how many to look at")


def checked_labels(y_true: Any, y_score: Any) -> tuple[Floats, Floats]:
    """Return labels and scores as float arrays, (items,) or (items, classes) both.

    One label per item with class scores is read as class codes 0, 1, ..., K-1.
    """
    scores = _numbers(y_score, "y_score")
    labels = _numbers(y_true, "y_true")
    if scores.ndim not in (1, 2) or labels.ndim not in (1, 2) or len(scores) != len(labels):
        raise InputError(
            "y_true and y_score",
            f"shapes {labels.shape} and {scores.shape}",
            "(items,) and (items,), or (items, classes) both",
            "align them item by item",
        )
    if not len(scores):
        raise InputError("y_score", "no items", "at least one", "check the input")
    require_finite(scores, where="y_score")
    require_finite(labels, where="y_true")
    if scores.ndim == 1:
        return _binary(labels), scores
    return _distributions(labels, scores.shape[1]), scores


def checked_scores(y_true: Any, y_score: Any, *, do: str) -> tuple[Floats, Floats]:
    """The same of one class, both (items,); with class scores `do` says what to do."""
    labels, scores = checked_labels(y_true, y_score)
    if scores.ndim == 2:
        got = f"{scores.shape[1]} classes"
        raise InputError("y_score", got, "one score per item", do)
    return labels, scores


def _numbers(values: Any, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            name, "values that are not numbers", "an array of numbers", "encode them first"
        ) from None


def _binary(labels: Floats) -> Floats:
    if labels.ndim != 1:
        raise InputError(
            "y_true",
            f"shape {labels.shape}",
            "one label per item for one score per item",
            "take the column of the positive class",
        )
    outside = (labels < 0) | (labels > 1)
    if outside.any():
        spot = int(np.flatnonzero(outside)[0])
        raise InputError(
            f"y_true, item {spot}",
            f"label {labels[spot]:g}",
            "a number in [0, 1]",
            "give 0, 1 or the share of positive votes",
        )
    return labels


def _distributions(labels: Floats, classes: int) -> Floats:
    if labels.ndim == 2:
        if labels.shape[1] != classes:
            raise InputError(
                "y_true",
                f"{labels.shape[1]} classes",
                f"{classes}, as in y_score",
                "align them",
            )
        require_simplex(labels, where="y_true")
        return labels
    codes = labels.astype(np.intp)
    if (codes != labels).any() or codes.min() < 0 or codes.max() >= classes:
        raise InputError(
            "y_true",
            f"labels from {labels.min():g} to {labels.max():g}",
            f"class codes 0 to {classes - 1}",
            "encode classes by their column in y_score",
        )
    return np.eye(classes)[codes]


class Order(NamedTuple):
    """Items by falling score, and where runs of equal scores end.

    Attributes
    ----------
    items
        Positions of the items, best first, shape (items,).
    last
        1 for an item alone, 2 for the last of a tied run, 0 inside a run, shape (items,).
    """

    items: NDArray[np.int32]
    last: NDArray[np.uint8]


@immutable(eq=False)
class Truth:
    """Positive mass of every item for one class: fixed, or different in each replicate.

    Attributes
    ----------
    rows
        Shape (items,), or (items, replicates) when the truth itself is resampled; with a
        `pattern`, patterns in place of items.
    sure
        For resampled truth, shape (rows,): 0 or 1 where all replicates say so, else 2.
    pattern
        Which row an item has, shape (items,), where items with the same votes share one.

    Examples
    --------
    >>> Truth(np.array([[0.0, 0.5], [1.0, 1.0]]), pattern=np.array([1, 0, 1])).positive
    array([[1. , 1. ],
           [0. , 0.5],
           [1. , 1. ]])
    """

    rows: Floats
    sure: NDArray[np.uint8] | None = None
    pattern: NDArray[np.int32] | None = None

    @cached_property
    def positive(self) -> Floats:
        """Mass of every item, shape (items,) or (items, replicates)."""
        return self.rows if self.pattern is None else self.rows[self.pattern]


class Block(NamedTuple):
    """What a run of replicates is scored against: one truth per class, counts per item.

    `numbers` says which draw of the possible truths each replicate takes; None means all.
    """

    classes: tuple[Truth, ...]
    counts: NDArray[np.uint8]
    numbers: Ints | None = None


def fixed_block(labels: Floats, counts: NDArray[np.uint8] | None = None) -> Block:
    """Fixed labels (items, classes); without counts every item counts once."""
    if counts is None:
        counts = np.ones((len(labels), 1), dtype=np.uint8)
    return Block(tuple(Truth(np.ascontiguousarray(column)) for column in labels.T), counts)


class Influence(NamedTuple):
    """A value and its derivatives.

    Attributes
    ----------
    value
        The metric.
    items
        By the weight of every item, shape (items,); they sum to 0.
    shares
        By the share of each class among an item's votes: (items,) of one class against the
        rest, (items, classes) of whole distributions.
    """

    value: float
    items: PerItem
    shares: Floats


class Topic:
    """Headings under which lists of metrics show those of the catalogue; others may be new."""

    ORDER = "Order of items, for scores and probabilities"
    DECISIONS = "Decisions"
    ONE_CLASS = "Decisions, one class against the rest"
    POINTS = "Operating points and benefit"
    PROPER = "Proper scores of probabilities"
    GRADES = "Grades in a known order"
    DISTANCE = "Distance from the distribution of votes, and its uncertainty"
    CALIBRATION = "Calibration"
    RETAINED = "Leaving doubtful items to experts"
    JUDGED = "What people say of systems' outputs"
    RATINGS = "Numbers against mean ratings"
    TRUTH = hint("Under a model of the truth, with {}", Option("truth", python="draws"))


Prepared = Any  # what a metric's own `prepare` makes; ranking metrics make a tuple of Order
Labels = Literal["classes", "distribution", "draws"]


@immutable
class Metric:
    """Facts and functions of one metric with its parameters set.

    Attributes
    ----------
    name, title, soft_title
        Name on the command line and in tables; titles with hard and with soft labels.
    definition, plain
        What is computed, as a sentence for the page; and what that means, in plain words.
    better, bounds, ordered, needs
        Direction, smallest and largest value, whether the order of classes matters, and
        what a prediction must be.
    family
        Metrics of one family share `prepare` and `reduce`.
    prepare, reduce, finish
        ``prepare(scores)`` sorts, ``reduce(prepared, block)`` returns sums whose last axis
        is replicates, ``finish(sums)`` returns one value per replicate.
    reduce_all
        ``reduce_all(prepared, blocks)`` returns what `reduce` does of each block, sooner than
        one after another; None where nothing is gained.
    labels
        What the truth of a block is; see above.
    score_draws
        For ``draws``: ``score_draws(prepared, plausibilities)`` scores every item in every
        draw.
    influence
        ``influence(order, positive)`` of one class, or ``influence(prepared, distribution)``
        with (items, classes), returns the value and its derivatives by items and by the
        shares of classes; None where there are none.
    per_item
        For a mean over items: ``per_item(y_true, probabilities)`` scores every one of them.
    curve
        ``curve(y_true, probabilities)`` returns the two axes of the curve under which it is
        the area.
    average
        How classes are averaged: macro, or weighted by their mass.
    min_items
        Fewest items it is defined for.
    trials
        For a share among a fixed number of items: that number, on which a share that did not
        vary rests.
    topic
        The heading under which lists of metrics show it.
    decides, proper
        Whether it looks only at the class that a model decides for; whether nobody scores
        better than by saying what they believe.
    infinite
        Where a bound is infinite, what makes a value infinite.
    denominator
        For a share of items: ``denominator(prepared, distribution)``, what every item counts.
    of_class
        Whether it is of items of a class or of several, however rare, and not of all items.
    bind, column
        ``bind(classes)`` makes the same metric for the scored classes of a question; None
        where it does not depend on them. Then the column that it looks at, None for several.
    bound
        The classes that it was made for, if `among` made it for some.
    references
        Keys of its sources in the bibliography.
    """

    name: str
    title: str
    soft_title: str
    definition: str
    family: str
    prepare: Callable[[Floats], Prepared]
    reduce: Callable[[Prepared, Block], Floats]
    finish: Callable[[Floats], PerReplicate]
    better: Literal["higher", "lower"] = "higher"
    bounds: tuple[float, float] = (0.0, 1.0)
    needs: Literal["scores", "probabilities"] = "scores"
    ordered: bool = False
    reduce_all: Callable[[Prepared, Sequence[Block]], list[Floats]] | None = None
    labels: Labels = "classes"
    score_draws: Callable[[Prepared, Any], Any] | None = None
    influence: Callable[[Any, Floats], Influence] | None = None
    per_item: Callable[[Any, Any], PerItem] | None = None
    curve: Callable[[Any, Any], tuple[Floats, Floats]] | None = None
    average: str = "macro"
    min_items: int = 1
    trials: int | None = None
    topic: str = ""
    decides: bool = False
    proper: bool = False
    infinite: str = ""
    denominator: Callable[[Any, Floats], PerItem] | None = None
    of_class: bool = False
    bind: "Callable[[Names], Metric] | None" = None
    column: int | None = None
    references: Names = ()
    plain: str = ""
    bound: Names | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """By its name in the catalogue, so that it can be made again in another process."""
        known = self.name, self.bound, self.soft_title
        if _of_name(*known) is not None:
            return _of_name, known
        return Metric, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        return f"Metric({self.name!r})"

    def called(self, labels: str = "soft") -> str:
        """What it is called in a sentence; by a standard soft and hard labels are the same."""
        plain = labels == "soft" or self.soft_title == self.title
        return self.soft_title if plain else f"{labels} {self.title}"

    def by_standard(self) -> "Metric":
        """The same where a reference standard is the truth, against which nothing is soft."""
        return replace(self, soft_title=self.title, plain="")

    def reduce_each(self, prepared: Prepared, blocks: Sequence[Block]) -> list[Floats]:
        """Sums of several blocks, in one go where the metric knows how."""
        if self.reduce_all is not None:
            return self.reduce_all(prepared, blocks)
        return [self.reduce(prepared, block) for block in blocks]

    def among(self, classes: Sequence[str]) -> "Metric":
        """The metric for a question: its scored classes, or the positive one of yes and no.

        Examples
        --------
        >>> from equipoise.metrics import named
        >>> named("f1:positive=N3").among(["W", "N1", "N2", "N3", "REM"]).column
        3
        """
        if self.bind is None:
            return self
        bound = replace(self.bind(tuple(classes)), bound=tuple(classes))
        return bound.by_standard() if self.soft_title == self.title else bound

    def score(
        self, truth: Floats, prepared: Prepared, counts: ItemsByReplicates
    ) -> PerReplicate:
        """Value in each replicate.

        Parameters
        ----------
        truth
            Positive mass (items,), or class masses (items, classes); a metric of whole
            distributions takes (items, classes) only.
        prepared
            What `prepare` returned for the prediction.
        counts
            Shape (items, replicates): how often each item stands in each replicate.
        """
        columns = truth[:, None] if truth.ndim == 1 else truth
        return self.finish(self.reduce(prepared, fixed_block(columns, counts)))

    def __call__(self, truth: Floats, prediction: Floats) -> float:
        """Score one prediction against one truth, every item counting once."""
        once = np.ones((len(truth), 1), dtype=np.uint8)
        return float(self.score(truth, self.prepare(prediction), once)[0])


def _of_name(name: str, bound: Names | None, soft_title: str) -> Metric | None:
    """The metric of the catalogue, for the classes that it was bound to; None of a guest."""
    from equipoise.metrics import named

    try:
        metric = named(name)
    except InputError:
        return None
    metric = metric if bound is None else metric.among(bound)
    return metric if metric.soft_title == soft_title else metric.by_standard()


def plain_value(metric: Metric, checked: tuple[Floats, Floats], weights: Any = None) -> float:
    """Value of a plain call: checked labels and predictions, weights as they were handed in."""
    labels, predicted = checked
    weight: Any = checked_weights(weights, len(labels)).weight[:, None]
    return float(metric.score(labels, metric.prepare(predicted), weight)[0])


class PlainMetric(Protocol):
    """A metric as a function of labels and predictions; `metric` makes it for the engine."""

    __name__: str
    metric: Callable[..., Metric]

    def __call__(self, *data: Any, **parameters: Any) -> float:
        """Value for labels, a prediction and parameters."""
        ...


def plain(
    value: Callable[..., float], *data: str, weights: bool = False
) -> Callable[[Callable[..., Metric]], PlainMetric]:
    """Turn what makes a metric, given its parameters, into a plain function that has them too.

    Parameters
    ----------
    value
        ``value(metric, labels, prediction, weights=...)`` of one call.
    data
        What the function calls labels and prediction.
    weights
        Whether items may have weights.
    """
    two = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in data]
    last = [Parameter("weights", Parameter.KEYWORD_ONLY, default=None)] * weights

    def plain_of(make: Callable[..., Metric]) -> PlainMetric:
        more = signature(make).parameters.values()
        form = Signature([*two, *more, *last], return_annotation=float)

        @wraps(make)
        def call(*arguments: Any, **keywords: Any) -> float:
            chosen = form.bind(*arguments, **keywords).arguments
            both = [chosen.pop(name) for name in data]
            how = {"weights": chosen.pop("weights")} if "weights" in chosen else {}
            return value(make(**chosen), *both, **how)

        vars(call).update(__signature__=form, metric=make)
        return cast(PlainMetric, call)

    return plain_of


def average_classes(values: Floats, mass: Floats, average: str) -> PerReplicate:
    """Average one-vs-rest values over classes; both (classes, replicates).

    ``macro`` weighs classes alike, ``weighted`` by their mass. A class whose value is
    undefined makes the average undefined.
    """
    if average == "macro":
        return np.asarray(values.mean(axis=0))
    with np.errstate(invalid="ignore"):
        return np.asarray((values * mass).sum(axis=0) / mass.sum(axis=0))


AVERAGES: Sequence[str] = ("macro", "weighted")


def parameters(name: str, defaults: dict[str, Any], values: dict[str, Any]) -> str:
    """Name a metric with only the parameters that differ from the default.

    Examples
    --------
    >>> parameters("auroc", {"form": "pairs"}, {"form": "strict"})
    'auroc:form=strict'
    """
    changed = [f"{key}={values[key]}" for key in defaults if values[key] != defaults[key]]
    return ":".join([name, *changed])


def hard_labels_rule(kinds: Iterable[str], *, classes: int, ties: str = "half") -> str:
    """How hard labels are made of votes, for metrics of some kinds of labels.

    Parameters
    ----------
    kinds
        What the metrics look at: ``classes``, ``distribution`` or ``draws``.
    classes
        Number of scored classes: one for a yes/no question.
    ties
        What becomes of ties: half, negative or drop.

    Examples
    --------
    >>> hard_labels_rule(["classes"], classes=1)
    'majority, a tie counts 1/2'
    >>> hard_labels_rule(["distribution"], classes=5)
    'the class with most votes, shared by classes with equally many'
    """
    if classes == 1:
        return {
            "half": "majority, a tie counts 1/2",
            "negative": "strict majority, a tie is negative",
            "drop": "majority, tied items left out",
        }[ties]
    if ties == "drop":
        return "the class with most votes, items with several such classes left out"
    looked_at, rules = set(kinds), []
    if "classes" in looked_at and ties == "negative":
        rules.append("for each class, whether more than half of the votes are for it")
    if not rules or looked_at - {"classes"}:
        whole = " (for metrics of whole distributions)" if rules else ""
        rules.append(f"the class with most votes, shared by classes with equally many{whole}")
    return ", and ".join(rules)


_MANY = 5_000  # items from which on a radix sort is faster


class Sums(NamedTuple):
    """N, U, A, D, P and Q of one truth: see `equipoise.kernels.ranking`."""

    number: Floats
    mass: Floats
    pairs: Floats
    same_item: Floats
    printed: Floats
    extra: Floats


def sort_items(scores: Floats) -> Order:
    """Sort by falling score, stably, and mark runs of equal scores.

    Examples
    --------
    >>> sort_items(np.array([0.1, 0.7, 0.7]))
    Order(items=array([1, 2, 0], dtype=int32), last=array([0, 2, 1], dtype=uint8))
    """
    if len(scores) >= _MANY:
        from equipoise.kernels.ranking import falling

        return Order(*falling(np.ascontiguousarray(scores, dtype=np.float64)))
    items = np.argsort(-scores, kind="stable").astype(np.int32)
    ranked = scores[items]
    same = ranked[1:] == ranked[:-1]
    after, before = np.append(same, False), np.insert(same, 0, False)
    last = np.where(after, 0, np.where(before, 2, 1)).astype(np.uint8)
    return Order(items, last)


def prepare(scores: Floats) -> tuple[Order, ...]:
    """Sort scores (items,), or each column of class scores (items, classes)."""
    columns = scores[:, None] if scores.ndim == 1 else scores
    return tuple(sort_items(column) for column in columns.T)


def reduce(prepared: tuple[Order, ...], block: Block) -> Floats:
    """Sums of every class in every replicate, shape (classes, SUMS, replicates)."""
    return reduce_all(prepared, (block,))[0]


def reduce_all(prepared: tuple[Order, ...], blocks: Sequence[Block]) -> list[Floats]:
    """The same of several blocks; those with the same counts share one walk down the items."""
    if any(block.counts is not blocks[0].counts for block in blocks):
        return [reduce(prepared, block) for block in blocks]
    of_classes = [
        _sums(order, truths, blocks[0].counts)
        for order, truths in zip(
            prepared, zip(*(block.classes for block in blocks), strict=True), strict=True
        )
    ]
    return [np.stack([sums[b] for sums in of_classes]) for b in range(len(blocks))]


def _sums(order: Order, truths: Sequence[Truth], counts: NDArray[np.uint8]) -> Floats:
    """Sums of some truths, shape (truths, SUMS, replicates)."""
    from equipoise.kernels.ranking import TILE, counter, ranking_sums

    first, width = truths[0], counts.shape[1]
    same = [t.pattern is first.pattern and t.rows.shape == first.rows.shape for t in truths]
    if not all(same):
        return np.concatenate([_sums(order, [truth], counts) for truth in truths])
    rows = np.stack([truth.rows.reshape(len(truth.rows), -1) for truth in truths], axis=1)
    sure = np.full(rows.shape[:2] if rows.shape[2] > 1 else (0, len(truths)), 2, np.uint8)
    for column, truth in zip(sure.T, truths, strict=True):
        if len(column) and truth.sure is not None:
            column[:] = truth.sure
    pattern = np.empty(0, np.int32) if first.pattern is None else first.pattern
    parts = []
    for begin in range(0, width, TILE):
        tile = slice(begin, begin + TILE)
        some = rows if rows.shape[2] == 1 else np.ascontiguousarray(rows[..., tile])
        times = np.ascontiguousarray(counts[:, tile])
        parts.append(ranking_sums(*order, (pattern, some, sure), times, counter(len(times))))
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)


def run_starts(order: Order) -> Ints:
    """Where each run of equal scores begins in the sorted order."""
    ends = np.flatnonzero(order.last)
    return np.concatenate(([0], ends[:-1] + 1))


class Runs(NamedTuple):
    """Items in an order, and where runs of equal ones begin: (items,) and (runs,)."""

    order: Ints
    start: Ints

    @classmethod
    def of(cls, falling: PerItem) -> "Runs":
        """The highest first."""
        order = np.argsort(-falling, kind="stable")
        placed = falling[order]
        return cls(order, np.flatnonzero(np.append(True, placed[1:] != placed[:-1])))

    @property
    def sizes(self) -> Ints:
        """How many items every run has, (runs,)."""
        return np.diff(np.append(self.start, len(self.order)))

    def sums(self, values: Floats) -> Floats:
        """Sums of (items, ...) over every run, (runs, ...)."""
        return np.add.reduceat(values[self.order], self.start, axis=0)

    def spread(self, per_run: PerItem) -> PerItem:
        """Every item has what its run has."""
        out = np.empty(len(self.order))
        out[self.order] = np.repeat(per_run, self.sizes)
        return out


def plain_sums(order: Order, positive: PerItem, weight: PerItem, self_weight: PerItem) -> Sums:
    """Sums for one truth with any weights.

    ``self_weight`` weighs an item against itself: the count c for copies of an item, the
    square w^2 for importance weights.
    """
    start = run_starts(order)
    p, w = positive[order.items], weight[order.items]
    d = self_weight[order.items] * p * (1 - p)
    number, mass = np.add.reduceat(w, start), np.add.reduceat(w * p, start)
    same_item = np.add.reduceat(d, start)
    above, seen = np.cumsum(mass), np.cumsum(number)
    inverse = ratio(1.0, seen, 0.0)
    return Sums(
        number=seen[-1],
        mass=above[-1],
        pairs=((number - mass) * (above - mass / 2)).sum(),
        same_item=same_item.sum(),
        printed=(mass * above * inverse).sum(),
        extra=(same_item * inverse).sum(),
    )


def tied_share(order: Order) -> float:
    """Share of items whose score another item has too."""
    return float((order.last != 1).mean())


def repeat_truth(positive: Floats, width: int) -> Floats:
    """Repeat a fixed truth over the replicates of a block, shape (items, replicates)."""
    if positive.ndim == 2:
        return positive
    return np.ascontiguousarray(np.broadcast_to(positive[:, None], (len(positive), width)))

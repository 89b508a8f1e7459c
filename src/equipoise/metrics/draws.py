r"""Draws: metrics of possible truths, which plausibilities hold as draws.

:math:`\lambda_i` is a possible truth of item i, a distribution over classes,
:math:`Y_k(\lambda_i)` its k most plausible classes and :math:`C_k(x_i)` the model's k best.
Classes with equal scores (to 12 decimals) share the last places: all ways to fill them are
equally likely, so that no result depends on the order of classes. By hard labels the one truth
is the mean of the draws.

`topk_accuracy`: how surely the model's first k hold the truth,

.. math:: \frac1n \sum_i P\big(\arg\max_c \lambda_{ic} \in C_k(x_i)\big)

Ties in :math:`\lambda` count by the share of tie-breaks that agree. Where the law of the draws
is known the probability is exact, without Monte Carlo error.

`set_accuracy`: how surely the model's first k are the k most plausible classes, as sets,

.. math:: \frac1n \sum_i P\big(Y_k(\lambda_i) = C_k(x_i)\big)

If b classes are tied for the last q places, each of the C(b, q) ways to fill them is equally
likely.

`overlap`: the share of the k most plausible classes that a model finds,

.. math:: \frac1n \sum_i \mathrm{E}\,\frac{|Y_k(\lambda_i) \cap C_k(x_i)|}{k}

If b classes are tied for the last q places, each of them counts q/b: the expectation over all
ways to break the tie. `average_overlap` is the mean of the overlaps at 1 to k, so that the
first places count most,

.. math:: \frac1n \sum_i \frac1k \sum_{j=1}^k
    \mathrm{E}\,\frac{|Y_j(\lambda_i) \cap C_j(x_i)|}{j}

`kendall_tau`: does a model order the mentioned classes as they are plausible?

.. math:: \tau_b = \frac{\sum_{a<b} \operatorname{sign}(s_a - s_b)
    \operatorname{sign}(\lambda_a - \lambda_b)}{\sqrt{T_s\, T_\lambda}}

over the pairs of classes that somebody mentioned for the item, with the number of pairs that
are not tied in the model's scores (:math:`T_s`) and in the possible truth
(:math:`T_\lambda`). It is 1 for the same order, -1 for the reverse, about 0 for chance.
Undefined (nan) with fewer than two mentioned classes, or when all of them are tied on one side.

`spearman_footrule`: how far from its place does a model put a class?

.. math:: 1 - \frac{\sum_c |R_c(s) - R_c(\lambda)|}{\lfloor m^2 / 2 \rfloor}

over the m classes that somebody mentioned for the item, ranked among themselves by the model's
scores (R(s)) and by a possible truth (R(:math:`\lambda`)); tied classes take the mean of their
ranks. The denominator is the distance of an order from its reverse, the largest there is, so 1
means the same order (with the same ties) and 0 the reverse; independent orders have
:math:`1 - (m^2 - 1) / (3 \lfloor m^2 / 2 \rfloor)` on average, about 1/3. Undefined (nan) with
fewer than two mentioned classes. Items and draws where an order is undefined are left out of
the mean; the cost of both grows with the square of the number of mentioned classes.

Such a metric scores a prediction in every draw once, which gives one number per item and draw;
a replicate then takes the mean over its items, and over all draws or the one it was dealt. A
second table of weights makes conditional metrics: cases count by how often they are of the kind
asked about (`conditioned`). All take the plausibilities of every item and class probabilities
(items, classes) in their order.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.
Webber, Moffat and Zobel (2010), *A similarity measure for indefinite rankings*.
Kendall (1945), *The treatment of ties in ranking problems*.
Diaconis and Graham (1977), *Spearman's footrule as a measure of disarray*.

Examples
--------
>>> def truth(*draws):
...     return Plausibilities.dense(np.array(draws)[:, None], items=("scan",),
...         classes=("naevus", "melanoma", "wart"), method="by hand")
>>> tied = truth([0.5, 0.3, 0.2], [0.4, 0.4, 0.2])
>>> topk_accuracy(tied, [[0.1, 0.6, 0.3]]), topk_accuracy(tied, [[0.3, 0.6, 0.1]], 2)
(0.25, 1.0)
>>> two = truth([0.5, 0.3, 0.2], [0.4, 0.3, 0.3])
>>> set_accuracy(two, [[0.3, 0.6, 0.1]], 2), overlap(two, [[0.3, 0.6, 0.1]], 2)
(0.75, 0.875)
>>> average_overlap(two, [[0.6, 0.3, 0.1]], 2)
0.9375
>>> swapped = truth([0.5, 0.3, 0.2], [0.3, 0.5, 0.2])
>>> kendall_tau(swapped, [[0.6, 0.3, 0.1]]), spearman_footrule(swapped, [[0.6, 0.3, 0.1]])
(0.667, 0.75)
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from equipoise.metrics._metric import (
    Block,
    Metric,
    Prepared,
    Topic,
    checked_k,
    parameters,
    plain,
)
from equipoise.types import (
    Floats,
    Grouping,
    InputError,
    Ints,
    PerItem,
    PerReplicate,
    Plausibilities,
    effective_size,
    group_chance,
    ratio,
    require_finite,
)

_EQUAL = 12  # decimals to which scores must differ to stand apart


def plain_draws(metric: Metric, plausibilities: Any, probabilities: Any) -> float:
    """Value of a metric of draws for one plain call, every item counting once."""
    assert metric.score_draws is not None
    met: _DrawScores = metric.score_draws(
        metric.prepare(probabilities), _checked_truth(metric.name, plausibilities)
    )
    once = np.ones((len(met.value), 1), dtype=np.uint8)
    return float(metric.finish(metric.reduce(met, Block((), once)))[0])


of_possible_truths = plain(plain_draws, "plausibilities", "probabilities")


@of_possible_truths
def topk_accuracy(k: int = 1) -> Metric:
    """Mean probability that the most plausible class is among the model's first k."""
    first = "the model's first." if k == 1 else f"among the model's first {k}."
    text = f"Chance that the most plausible class is {first}"
    return _metric_of_first("topk_accuracy", k, f"top-{k} accuracy", text, _score_first)


@of_possible_truths
def set_accuracy(k: int = 3) -> Metric:
    """Mean probability that the k most plausible classes are the model's first k."""
    text = f"Chance that the {k} most plausible classes are the model's first {k}."
    return _metric_of_first("set_accuracy", k, f"top-{k} set accuracy", text, _score_sets)


@of_possible_truths
def overlap(k: int = 3) -> Metric:
    """Mean share of the k most plausible classes that are among the model's first k."""
    text = f"Share of the {k} most plausible classes among the model's first {k}."
    score = partial(_score_overlap, spans=[(k, k, 1 / checked_k(k))])
    return _metric_of_first("overlap", k, f"overlap@{k}", text, score)


@of_possible_truths
def average_overlap(k: int = 3) -> Metric:
    """Mean over j = 1..k of the overlap at j."""
    text = (
        f"Mean over j = 1 to {k} of the share of the j most plausible classes among the "
        "model's first j."
    )
    spans = [(j, j, 1 / (j * k)) for j in range(1, checked_k(k) + 1)]
    score = partial(_score_overlap, spans=spans)
    return _metric_of_first("average_overlap", k, f"average overlap@{k}", text, score)


@of_possible_truths
def kendall_tau() -> Metric:
    """Mean tau-b between a model's scores and the possible truths of the mentioned classes."""
    text = (
        "Kendall's tau-b between the model's scores and the plausibilities of the classes "
        "mentioned for an item; items with fewer than two are left out."
    )
    score = partial(_score_order, tau=True)
    metric = _draw_metric("kendall_tau", "Kendall tau", text, _class_scores, score)
    return replace(metric, bounds=(-1.0, 1.0))


@of_possible_truths
def spearman_footrule() -> Metric:
    """Mean footrule similarity of a model's order and the possible orders."""
    text = (
        "1 minus the normalised footrule distance between the model's order and that of the "
        "plausibilities, over the classes mentioned for an item."
    )
    score = partial(_score_order, tau=False)
    return _draw_metric("spearman_footrule", "Spearman footrule", text, _class_scores, score)


def _draw_metric(
    name: str,
    title: str,
    definition: str,
    prepare: Callable[[Any], Prepared],
    score: Callable[[Any, Plausibilities], "_DrawScores"],
) -> Metric:
    """A metric of possible truths."""
    return Metric(
        name=name,
        title=title,
        soft_title=f"uncertainty-adjusted {title}",
        definition=definition,
        family=name,
        prepare=prepare,
        reduce=_reduce,
        finish=_finish,
        needs="probabilities",
        labels="draws",
        score_draws=score,
        per_item=partial(_scores_of_items, name, prepare, score),
        topic=Topic.TRUTH,
    )


def _metric_of_first(
    name: str,
    k: int,
    title: str,
    definition: str,
    score: Callable[["First", Plausibilities], "_DrawScores"],
) -> Metric:
    """A metric of a model's first k classes."""
    checked_k(k)
    metric = _draw_metric(name, title, definition, partial(_first_classes, k=k), score)
    usual = {"k": 1 if name == "topk_accuracy" else 3}
    return replace(
        metric,
        name=parameters(name, usual, {"k": k}),
        family=f"{name} {k}",
        references=("stutz2025",),
    )


class _DrawScores(NamedTuple):
    """Scores of a prediction in every draw.

    Attributes
    ----------
    value
        Score of each item in each draw, shape (items, draws); nan where undefined.
    weight
        What each counts, the same shape; None means that all count alike.
    mean
        Mean of `value` over draws, shape (items,), where it is known exactly; None where the
        mean over these draws is all there is.
    """

    value: Floats
    weight: Floats | None = None
    mean: PerItem | None = None


def _reduce(prepared: Prepared, block: Block) -> Floats:
    """Sums of weighted scores and of weights, (2, replicates), of a `_DrawScores`."""
    met: _DrawScores = prepared
    counts = block.counts.astype(np.float64)
    if block.numbers is None:
        return np.stack([part @ counts for part in _item_sums(met)])
    weight = None if met.weight is None else met.weight[:, block.numbers]
    chosen = _DrawScores(met.value[:, block.numbers], weight)
    return np.stack([np.einsum("ir,ir->r", part, counts) for part in _weighed(chosen)])


def _finish(sums: Floats) -> PerReplicate:
    """Weighted mean; nan where nothing counts."""
    total, weight = sums
    return ratio(total, weight)


def item_influence(met: _DrawScores) -> PerItem:
    """Derivative of the value by the weight of every item, shape (items,)."""
    total, weight = _item_sums(met)
    if not weight.sum() > 0:
        return np.full(len(total), np.nan)
    return np.asarray((total - weight * total.sum() / weight.sum()) / weight.sum())


def draw_error(met: _DrawScores, *, chained: bool = False) -> float:
    """Monte Carlo standard error of the mean over items and draws; 0 where exact.

    The variance of the mean is that of the metric over draws, by their number, or for draws of
    chains by as many independent ones as they are worth.
    """
    if met.mean is not None or met.value.shape[1] < 2:
        return 0.0
    total, weight = (part.sum(axis=0) for part in _weighed(met))
    if not weight.sum() > 0:
        return float("nan")
    value = total.sum() / weight.sum()
    spread = (total - value * weight) / weight.mean()
    draws = float(len(spread))
    if chained:
        draws = min(draws, float(effective_size(spread[:, None])[0]))
    return float(np.sqrt((spread**2).sum() / (len(spread) - 1) / draws))


def _scores_of_items(
    name: str,
    prepare: Callable[[Any], Prepared],
    score: Callable[[Any, Plausibilities], "_DrawScores"],
    plausibilities: Any,
    probabilities: Any,
) -> PerItem:
    """Value of every item for one plain call, shape (items,); nan where undefined."""
    met = score(prepare(probabilities), _checked_truth(name, plausibilities))
    if met.mean is not None:
        return met.mean
    return _finish(np.stack([part.mean(axis=1) for part in _weighed(met)]))


def _checked_truth(name: str, plausibilities: Any) -> Plausibilities:
    if not isinstance(plausibilities, Plausibilities):
        raise InputError(
            name,
            f"a {type(plausibilities).__name__} as the truth",
            "Plausibilities",
            "make them with a model of equipoise.truth, or Plausibilities.dense(...)",
        )
    return plausibilities


def _item_sums(met: _DrawScores) -> tuple[Floats, Floats]:
    """Weighted score and weight of every item, means over draws."""
    if met.mean is None:
        value, weight = (part.mean(axis=1) for part in _weighed(met))
        return value, weight
    defined = ~np.isnan(met.mean)
    return np.where(defined, met.mean, 0.0), defined.astype(np.float64)


def _weighed(met: _DrawScores) -> tuple[Floats, Floats]:
    """Weighted scores and weights; undefined scores count nothing."""
    defined = ~np.isnan(met.value)
    weight = (
        defined.astype(np.float64) if met.weight is None else np.where(defined, met.weight, 0)
    )
    return np.where(defined, met.value, 0.0) * weight, weight


class First(NamedTuple):
    """A model's first k classes of every item.

    Attributes
    ----------
    scores
        Scores of all classes, shape (items, classes).
    best
        The k largest scores, largest first, shape (items, k).
    tied
        How many classes have the score of the k-th, shape (items,).
    """

    scores: Floats
    best: Floats
    tied: Ints

    @property
    def k(self) -> int:
        """How many classes."""
        return int(self.best.shape[1])

    def places(self, plausibilities: Plausibilities) -> tuple[Ints, Ints]:
        """Of each entry's class how many are ahead (up to k), and how many have its score.

        The second is right for classes among the first k, or tied for their last place.
        """
        _require_fit(self.scores.shape, plausibilities)
        item = plausibilities.entry_items
        score = self.scores[item, plausibilities.label]
        ahead, alike = np.zeros((2, len(item)), dtype=np.intp)
        for best in self.best.T:
            ahead += best[item] > score
            alike += best[item] == score
        last = score == self.best[item, -1]
        return ahead, np.where(last, self.tied[item], np.maximum(alike, 1))


def _class_scores(probabilities: Any) -> Floats:
    """Return scores of all classes, (items, classes), or say what is wrong with them."""
    try:
        scores = np.ascontiguousarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "probabilities",
            "values that are not numbers",
            "an array of numbers (items, classes)",
            "encode them first",
        ) from None
    if scores.ndim != 2 or 0 in scores.shape:
        raise InputError(
            "probabilities",
            f"shape {scores.shape}",
            "(items, classes), at least one of each",
            "give one row per item and one column per class of the plausibilities",
        )
    require_finite(scores, where="probabilities")
    return scores


def _first_classes(probabilities: Any, k: int) -> First:
    """A model's first k classes of every item.

    Examples
    --------
    >>> _first_classes([[0.2, 0.4, 0.4], [0.5, 0.3, 0.2]], 1)[1:]
    (array([[0.4],
           [0.5]]), array([2, 1]))
    """
    scores = np.round(_class_scores(probabilities), _EQUAL)
    classes = scores.shape[1]
    if k > classes:
        raise InputError("k", f"{k}", f"at most the {classes} classes", "choose a smaller k")
    best = -np.sort(np.partition(-scores, k - 1, axis=1)[:, :k], axis=1)
    return First(scores, best, (scores == best[:, -1:]).sum(axis=1))


def _require_fit(shape: tuple[int, ...], plausibilities: Plausibilities) -> None:
    """Raise unless a prediction is about these items and classes."""
    full = (len(plausibilities.items), len(plausibilities.classes))
    if shape != full:
        raise InputError(
            "probabilities",
            f"shape {shape}",
            f"{full}",
            "align them with the items and classes of the plausibilities",
        )


def _members(model: First, plausibilities: Plausibilities, ranks: Sequence[int]) -> Floats:
    """Share by which each entry's class is among the model's first, shape (ranks, entries).

    Examples
    --------
    >>> truth = Plausibilities.dense(np.array([[0.5, 0.3, 0.2]]), items=("scan",),
    ...     classes=("a", "b", "c"), method="by hand")
    >>> _members(_first_classes([[0.2, 0.4, 0.4]], 2), truth, [1, 2])
    array([[0. , 0.5, 0.5],
           [0. , 1. , 1. ]])
    """
    ahead, alike = model.places(plausibilities)
    left = np.asarray(ranks)[:, None] - ahead
    return np.clip(left / alike, 0.0, 1.0)


def _score_overlap(
    model: First, plausibilities: Plausibilities, spans: Sequence[tuple[int, int, float]]
) -> _DrawScores:
    """Weighted sum of expected overlaps in every draw.

    A span (j, k, w) adds w times the number of the j most plausible classes that are among the
    model's first k.
    """
    from equipoise.kernels.tops import overlaps

    value = np.empty((len(plausibilities.items), plausibilities.draws))
    places, ranks, weights = (np.array(part) for part in zip(*spans, strict=True))
    member = _members(model, plausibilities, ranks.tolist())
    overlaps(plausibilities.packed, member, (places, ranks, weights.astype(float)), value)
    return _DrawScores(value)


def _score_first(model: First, plausibilities: Plausibilities) -> _DrawScores:
    value = _score_overlap(model, plausibilities, [(1, model.k, 1.0)]).value
    if plausibilities.law is None:
        return _DrawScores(value)
    entry, rest = plausibilities.top()
    item, (member,) = plausibilities.entry_items, _members(model, plausibilities, [model.k])
    of_class = np.bincount(item, entry * member, len(rest))
    named = np.bincount(item, member, len(rest))
    share = (model.k - named) / np.maximum(plausibilities.others, 1)  # of unmentioned classes
    return _DrawScores(value, mean=np.clip(of_class + rest * share, 0.0, 1.0))


def _score_sets(model: First, plausibilities: Plausibilities) -> _DrawScores:
    from equipoise.kernels.tops import matches

    value = np.empty((len(plausibilities.items), plausibilities.draws))
    (member,) = _members(model, plausibilities, [model.k])
    sides = np.stack([member >= 1, (member > 0) & (member < 1)]).astype(np.float64)
    places = model.k - (model.best > model.best[:, -1:]).sum(axis=1)
    open_ = model.tied > places
    tied = np.stack([model.tied, places], axis=1) * open_[:, None]
    matches(plausibilities.packed, sides, tied, model.k, value)
    return _DrawScores(value)


def _score_order(scores: Floats, plausibilities: Plausibilities, *, tau: bool) -> _DrawScores:
    """Score a model's scores by the order of the mentioned classes: tau-b or footrule."""
    from equipoise.kernels.tops import similarities

    _require_fit(scores.shape, plausibilities)
    score = scores[plausibilities.entry_items, plausibilities.label]
    value = np.empty((len(plausibilities.items), plausibilities.draws))
    start, mass = plausibilities.packed[:2]
    similarities(start, score, mass, tau, value)
    return _DrawScores(value)


def conditioned(metric: Metric, grouping: Grouping, group: str) -> Metric:
    r"""The metric on cases weighted by the probability that their class is in a group.

    Which cases belong to the group, such as high risk, is as uncertain as the truth. So every
    case counts by its probability of belonging: in each draw the weight :math:`h_i` is 1 where
    the most plausible class is in the group, else 0, and

    .. math:: \frac{\sum_i E[v_i\,h_i]}{\sum_i E[h_i]}

    with :math:`v_i` the metric's score of the case in the same draw. Where classes tie, or
    nobody mentioned the most plausible one, both are probabilities within the draw, and are
    multiplied.

    Parameters
    ----------
    metric
        A metric of possible truths, such as ``named("topk_accuracy:k=3")``.
    grouping, group
        Groups of the classes, and the one asked about.

    Examples
    --------
    >>> values = np.array([[[0.5, 0.3, 0.2]], [[0.3, 0.5, 0.2]], [[0.2, 0.1, 0.7]]])
    >>> truth = Plausibilities.dense(values, items=("scan",),
    ...     classes=("naevus", "melanoma", "wart"), method="by hand")
    >>> risk = Grouping.of({"naevus": "low", "melanoma": "high", "wart": "low"}, name="risk")
    >>> low = conditioned(topk_accuracy.metric(), risk, "low")
    >>> low.name, plain_draws(low, truth, [[0.6, 0.3, 0.1]])
    ('topk_accuracy|risk=low', 0.5)
    """
    grouping.code(group)
    unweighed = metric.score_draws
    if metric.labels != "draws" or unweighed is None:
        raise InputError(
            f"metric {metric.name}, within {group!r}",
            "a metric of labels",
            "a metric of possible truths: topk_accuracy, set_accuracy, overlap, ...",
            "choose one of these, or coarsen truth and predictions to the groups",
        )

    def weighed(prepared: Prepared, plausibilities: Plausibilities) -> _DrawScores:
        met: _DrawScores = unweighed(prepared, plausibilities)
        weight = group_chance(plausibilities, grouping, group)
        return _DrawScores(met.value, weight if met.weight is None else weight * met.weight)

    where = f"{grouping.name}={group}"
    words = f"where {grouping.name} is {group}"
    return replace(
        metric,
        name=f"{metric.name}|{where}",
        title=f"{metric.title} {words}",
        soft_title=f"{metric.soft_title} {words}",
        definition=f"{metric.definition} Cases count by the chance that the {grouping.name} of "
        f"their most plausible class is {group}.",
        family=f"{metric.family}|{where}",
        score_draws=weighed,
    )

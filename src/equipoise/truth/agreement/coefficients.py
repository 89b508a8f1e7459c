r"""Coefficients of agreement, each a function of how often every item is counted.

Gold rows are no opinions, weights make no vote more than one, and items with fewer than two
votes have nobody to agree with: all are left aside. Intervals resample items or whole groups;
with a single one to draw from they are undefined, as is a coefficient of votes that are all
the same. A million votes and a thousand resamples cost a few sparse products, whose bits do
not depend on threads.

**Krippendorff's alpha**, with :math:`n_{uc}` votes for value c among the :math:`m_u` of item u

.. math:: \alpha = 1 - (n - 1)\,
    \frac{\sum_u \frac{1}{m_u - 1} \sum_{c, k} n_{uc}\, n_{uk}\, \delta^2_{ck}}
         {\sum_{c, k} n_c\, n_k\, \delta^2_{ck}}

and :math:`\delta^2` = [c ≠ k] (``nominal``), (c - k)² (``interval``), ((c - k)/(c + k))²
(``ratio``) or the squared distance of mean ranks (``ordinal``). Any number of annotators and
missing votes; votes that somebody repeats all count. Never below -1. At ``interval`` only
number, mean and squares of each item's ratings are needed, and nothing cancels.

**Fleiss' kappa** :math:`(\bar P - P_e) / (1 - P_e)` has :math:`P_u = \sum_c n_{uc} (n_{uc} -
1) / m_u (m_u - 1)`, in which items count alike, and :math:`P_e = \sum_c (n_c / n)^2`, in which
votes do. With unequal :math:`m_u` it has no least value, and alpha is the better choice.
**Percent agreement** is :math:`\bar P`, not corrected for chance.

**Cohen's kappa** of two annotators on the items both rated, in the order of declared classes,

.. math:: \kappa = 1 - \frac{\sum_{kl} w_{kl}\, P_{kl}}
    {\sum_{kl} w_{kl}\, P_{k\cdot} P_{\cdot l}}, \quad
    \bar\kappa = \frac{\sum_{a<b} n_{ab}\, \kappa_{ab}}{\sum_{a<b} n_{ab}}

with w = [k ≠ l] (``none``), |k - l| (``linear``) or (k - l)² (``quadratic``); votes that one
annotator repeats on an item share it. The mean weighs defined pairs by the items they share.

Agreement for items and annotators like these: alpha, Fleiss' kappa and percent agreement.

All three are :math:`1 - D / E`. With :math:`p_i` the shares of the m votes on item i,
:math:`a_i` its weight (m for alpha, 1 for the others, scaled to a sum of 1) and
:math:`\delta` how far two labels are apart,

.. math:: D = \sum_i a_i d_i, \quad d_i = \tfrac{m}{m - 1} p_i' \delta p_i, \qquad
    E = c \, q' \delta q, \quad q = \sum_i b_i p_i

with b = m of n votes in all, c = n/(n - 1) for alpha and 1 for kappa, and E = 1 for percent
agreement. The weight of an item and a vote for label y move the coefficient by

.. math:: g_i = - a_i \frac{d_i - D}{E} + 2 c \frac{D}{E^2} b_i (p_i' \delta q - q' \delta q),
    \qquad h_i(y) = - \tfrac{2 m}{m - 1} \frac{a_i (\delta p_i)_y}{E}
    + 2 c \frac{D}{E^2} b_i (\delta q)_y

from which the two-way variance follows as for metrics (`equipoise.inference`). The distances
of ordinal alpha, which hang on ranks, are taken as they are.

References
----------
Krippendorff (2004), *Content analysis*, chapter 11. Fleiss (1971), *Measuring nominal scale
agreement among many raters*. Cohen (1960), *A coefficient of agreement for nominal scales*;
Cohen (1968), *Weighted kappa*. Landis and Koch (1977), *The measurement of observer agreement*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1, 2, 2]),
...     annotator=np.array([0, 1, 0, 1, 0, 1]), label=np.array([1, 1, 0, 0, 1, 0]))
>>> krippendorff_alpha(votes).value, fleiss_kappa(votes).value, percent_agreement(votes).value
(0.444, 0.333, 0.667)
>>> cohen_kappa(votes, ("ana", "bo")).value
0.4
>>> from equipoise.truth.agreement.coefficients import collect
>>> from equipoise.inference.resampling import resample
>>> from equipoise.types import Annotations
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     annotators=("ana", "bo", "cy"), item=np.repeat([0, 1, 2], 3),
...     annotator=np.tile([0, 1, 2], 3), label=np.array([1, 1, 0, 0, 0, 0, 1, 1, 1]))
>>> cell = crossed_coefficient(collect(votes), "alpha", "nominal", resample(votes, "items"))
>>> cell.values.round(3)
array([0.6])
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equipoise.inference.ballots import Ballots, Layout
from equipoise.inference.estimate import Estimate
from equipoise.inference.intervals import TwoWay, population_of, two_way
from equipoise.inference.resampling import Resampling, resample
from equipoise.types import (
    UNDEFINED,
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    Option,
    choice,
    hint,
    immutable,
    nearest,
    ratio,
    refusing_wrong_types,
    vote_counts,
)

if TYPE_CHECKING:
    from equipoise.truth.ratings import Moments

LEVELS = ("nominal", "ordinal", "interval", "ratio")
WEIGHTS = ("none", "linear", "quadratic")
TENTATIVE = 0.667
SCALE = {"almost perfect": 0.8, "substantial": 0.6, "moderate": 0.4, "fair": 0.2, "slight": 0.0}
MOST_VALUES = 2000  # for ratios, which compare every pair of values
MOST_BYTES = 2 * 2**30
EXACT = 64 * np.finfo(float).eps  # ratings that differ by less, relative to them, are equal
CELLS, WIDTH = 2**22, 256  # numbers held at a time, and replicates at a time, at most
Compute = Callable[[Floats], Floats]  # from counts (items, replicates) to (replicates,)


def landis_koch(value: float) -> str:
    """Word of Landis and Koch for a kappa, a convention without a theory behind it."""
    lowest = UNDEFINED if value != value else "poor" if value < 0 else "slight"
    return next((word for word, least in SCALE.items() if value > least), lowest)


def krippendorff_words(value: float) -> str:
    """What Krippendorff would conclude from an alpha."""
    if value != value:
        return UNDEFINED
    if value < TENTATIVE:
        return "below 0.667: too low to treat one label as the truth"
    tentative = "enough for tentative conclusions (0.667 to 0.8)"
    return tentative if value < 0.8 else "reliable (at least 0.8)"


# ---- votes of one task ---------------------------------------------------------------------
@immutable(eq=False)
class TaskVotes:
    """Who (None for anonymous votes) gave which value to which item how many times.

    `value` are the codes as numbers, or codes where they are names; `numeric` tells which, and
    `ordered` whether they have an order.
    """

    item: Ints
    code: Ints
    times: Floats
    who: Ints | None
    items: int
    value: Floats
    numeric: bool
    ordered: bool

    def counts(self, rows: Any = slice(None)) -> Any:
        """How often each value was given to each item, sparse (items, values)."""
        from scipy.sparse import csr_matrix

        entries = (self.times[rows].astype(float), (self.item[rows], self.code[rows]))
        return csr_matrix(entries, shape=(self.items, len(self.value)))  # which adds repeats


def opinions(annotations: Annotations, task: str) -> Ints | slice:
    """Rows of one task that are not gold; all of them as a slice, which copies nothing."""
    chosen = annotations.opinions(task)
    if not chosen.any():
        where = f"agreement, task {task!r}" if task else "agreement"
        got = "no votes" if annotations.is_gold is None else "no votes besides gold rows"
        raise InputError(where, got, "at least one", "check the file")
    return slice(None) if chosen.all() else np.flatnonzero(chosen)


def collect(annotations: Annotations, task: str = "") -> TaskVotes:
    """Votes of one task; values that are numbers stand by size, grades as declared."""
    if annotations.rank is not None:
        against = Option("positive", python="against()")
        do = hint("use reading_agreement for rankings, or ask about one class with {}", against)
        raise InputError("agreement", "rankings", "one label or rating per vote", do)
    rows = opinions(annotations, task)
    if annotations.value is not None:
        value, code = np.unique(annotations.value[rows], return_inverse=True)
        numeric = True
    else:
        assert annotations.label is not None
        value = _numbers(annotations.classes)
        code = annotations.label[rows].astype(np.int64)
        numeric = bool(np.isfinite(value).all())
        if numeric and annotations.kind != "ordinal":
            value, place = np.sort(value), np.argsort(np.argsort(value, kind="stable"))
            code = place[code]
    return TaskVotes(
        item=annotations.item[rows],
        code=code,
        times=vote_counts(annotations, rows),
        who=None if annotations.annotator is None else annotations.annotator[rows],
        items=len(annotations.items),
        value=value if numeric else np.arange(len(annotations.classes), dtype=float),
        numeric=numeric,
        ordered=numeric or annotations.kind == "ordinal" or len(value) <= 2,
    )


def _numbers(classes: Sequence[str]) -> Floats:
    """Classes as numbers; all nan where some are none."""
    try:
        return np.array([float(name) for name in classes])
    except ValueError:
        return np.full(len(classes), np.nan)


# ---- from counts of items to an estimate ---------------------------------------------------
def over_items(
    compute: Compute,
    used: Floats | Bools,
    plan: Resampling,
    *,
    low: float = -1.0,
    width: int = 1,
) -> Estimate:
    """Value and replicates of ``compute(counts)``, which holds `width` numbers for each."""
    value = float(compute(np.ones((len(used), 1)))[0])
    replicates = np.full(plan.replicates, np.nan)
    step = min(WIDTH, max(1, CELLS // max(len(used), width)))
    for first in range(0, plan.replicates if several(used, plan) else 0, step):
        last = min(first + step, plan.replicates)
        replicates[first:last] = compute(plan.item_counts(first, last).astype(float))
    return Estimate(value, replicates, plan.fingerprint, (low, 1.0))


def several(used: Floats | Bools, plan: Resampling) -> bool:
    """Whether there is more than one item or group to draw from."""
    items = np.flatnonzero(used)
    return len(items if plan.group is None else np.unique(plan.group[items])) > 1


def plan_for(annotations: Annotations, plan: Resampling | None) -> Resampling:
    """Check the plan, or make the default: 1,000 resamples of items, seed 0."""
    if plan is None:
        return resample(annotations, "items", replicates=1000)
    if plan.items != annotations.items or plan.kind != "items":
        got = f"a plan of {plan.kind} for {len(plan.items):,} items"
        expected = f"a plan of items for these {len(annotations.items):,}"
        do = "make it with resample(annotations, 'items')"
        raise InputError("agreement, plan", got, expected, do)
    return plan


def mean_over_items(value: Floats, plan: Resampling) -> Estimate:
    """Mean of one value per item, none below 0; items whose value is nan play no part."""
    defined = np.isfinite(value)
    sums = _sums(np.where(defined, value, 0.0), defined)
    return over_items(lambda counts: ratio(*(sums @ counts)), defined, plan, low=0.0)


def _sums(*vectors: Floats | Bools) -> Any:
    """Vectors over items as one sparse table, (vectors, items)."""
    from scipy.sparse import csr_matrix

    return csr_matrix(np.stack(vectors).astype(float))


def _per_item(table: Any) -> Floats:
    return np.asarray(table.sum(axis=1)).ravel()


def pairable(count: Any) -> tuple[Any, Floats]:
    """Votes by item and value without items that have fewer than two, and votes by item."""
    from scipy.sparse import diags

    votes = _per_item(count)
    return (diags((votes >= 2).astype(float)) @ count).tocsr(), votes * (votes >= 2)


# ---- any number of annotators --------------------------------------------------------------
@refusing_wrong_types
def krippendorff_alpha(
    annotations: Annotations,
    *,
    level: str | None = None,
    task: str = "",
    plan: Resampling | None = None,
) -> Estimate:
    """Krippendorff's alpha with replicates over items.

    Parameters
    ----------
    level
        ``nominal``, ``ordinal``, ``interval`` or ``ratio``; by default what the kind of the
        annotations says.
    plan
        Which items each replicate takes; by default 1,000 resamples, of whole groups where
        items have groups.
    """
    chosen = choice(
        "krippendorff_alpha, level", level or default_level(annotations.kind), LEVELS
    )
    votes = collect(annotations, task)
    _check_level(chosen, votes.value, numeric=votes.numeric, ordered=votes.ordered)
    count, number = pairable(votes.counts())
    width = 1 if chosen == "interval" else len(votes.value)
    compute = alpha_of(count, votes.value, chosen)
    return over_items(compute, number, plan_for(annotations, plan), width=width)


def default_level(kind: str) -> str:
    """Level of measurement that the kind of annotations says."""
    return kind if kind in LEVELS else "nominal"


def _check_level(level: str, value: Floats, *, numeric: bool, ordered: bool) -> None:
    """Refuse a level that the values cannot be measured at."""
    got = ""
    if level == "ordinal" and not ordered:
        got, expected = "classes that are names without an order", "grades or numbers"
        do = "declare the kind ordinal and the classes lowest first"
    elif level in ("interval", "ratio") and not numeric and len(value) > 2:
        got, expected, do = "values that are names", "numbers", "choose nominal or ordinal"
    elif level == "ratio" and (not numeric or (value < 0).any()):
        got, expected = (
            "values that are names or negative numbers",
            "numbers of at least 0 with a true zero",
        )
        do = "choose ordinal or interval"
    elif level == "ratio" and len(value) > MOST_VALUES:
        got, expected = f"{len(value):,} different values", f"at most {MOST_VALUES:,}"
        do = "choose interval, or round the ratings"
    if got:
        raise InputError(f"krippendorff_alpha, level {level}", got, expected, do)


def alpha_of(count: Any, value: Floats, level: str) -> Compute:
    """The function from counts of items to alpha, of votes by item and value."""
    votes, across = _per_item(count), count.T.tocsr()
    rest = np.maximum(votes - 1, 1.0)
    if level == "interval":
        value = value - value[len(value) // 2]  # keeps large ratings exact
        mean = _per_item(count.multiply(value)) / np.maximum(votes, 1.0)
        row = np.repeat(np.arange(len(votes)), np.diff(count.indptr))
        away = count.data * (value[count.indices] - mean[row]) ** 2
        return _alpha_of_moments(votes, mean, np.bincount(row, away, len(votes)).astype(float))
    if level == "ordinal":

        def ordinal(counts: Floats) -> Floats:
            total = across @ counts
            number = total.sum(axis=0)
            place = np.cumsum(total, axis=0) - total / 2 - number / 2  # mean ranks, centred
            first, second = count @ place, count @ place**2
            apart = np.maximum(votes[:, None] * second - first**2, 0.0) * (2 / rest)[:, None]
            chance = 2 * number * (total * place**2).sum(axis=0)
            return _alpha((apart * counts).sum(axis=0), chance, number)

        return ordinal
    if level == "nominal":
        distance = None
        apart = votes**2 - _per_item(count.multiply(count))
    else:
        distance = relative(value[:, None], value[None, :])
        blocks = (count[at : at + 1024] for at in range(0, len(votes), 1024))
        apart = np.concatenate([_per_item(b.multiply(b @ distance)) for b in blocks])
    observed = _sums(apart / rest)

    def compute(counts: Floats) -> Floats:
        total = across @ counts
        number = total.sum(axis=0)
        if distance is None:
            chance = number**2 - (total**2).sum(axis=0)
        else:
            chance = (total * (distance @ total)).sum(axis=0)
        return _alpha((observed @ counts)[0], chance, number)

    return compute


def _alpha(observed: Floats, expected: Floats, votes: Floats) -> Floats:
    return 1 - ratio((votes - 1) * observed, expected)


def relative(first: Floats, second: Floats) -> Floats:
    """How far values with a true zero are apart, relative to their sum."""
    gap, both = first - second, first + second
    return ratio(gap, both, 0.0) ** 2


def _alpha_of_moments(number: Floats, mean: Floats, squares: Floats) -> Compute:
    """Interval alpha of number, mean and squares around it of each item's ratings."""
    lean = (number > 0) * (mean - (number @ mean) / max(number.sum(), 1.0))
    apart = 2 * number * squares / np.maximum(number - 1, 1.0)
    sums = _sums(number, number * lean, squares + number * lean**2, apart)
    least = (EXACT * np.abs(mean).max(initial=0.0)) ** 2

    def compute(counts: Floats) -> Floats:
        total, shift, whole, observed = sums @ counts
        spread = whole - shift**2 / np.maximum(total, 1.0)
        defined = spread > np.maximum(1e-12 * whole, least * total)
        return 1 - ratio((total - 1) * observed, 2 * total * spread, defined=defined)

    return compute


@refusing_wrong_types
def krippendorff_alpha_of_moments(
    moments: "Moments", *, replicates: int = 1000, seed: int = 0
) -> Estimate:
    """Interval alpha of moments of ratings, with replicates over items.

    `equipoise.scale.disk.rating_moments` returns such moments. Weights would be parts of
    ratings there, and are refused.
    """
    odd = np.flatnonzero(np.abs(moments.number - np.round(moments.number)) > 1e-9)
    if len(odd):
        where = f"krippendorff_alpha_of_moments, item {moments.items[odd[0]]!r}"
        do = "leave the column of weights out: a rating is an opinion or it is not"
        raise InputError(where, f"{moments.number[odd[0]]:g} ratings", "whole ratings", do)
    plan = Resampling(kind="items", items=moments.items, replicates=replicates, seed=seed)
    use = moments.number >= 2
    number, mean, squares = (
        np.where(use, part, 0.0) for part in (moments.number, moments.mean, moments.squares)
    )
    return over_items(_alpha_of_moments(number, mean, squares), use, plan)


def class_values(classes: Sequence[str], kind: str, level: str | None) -> tuple[str, Floats]:
    """Level at which classes are measured, checked, and the classes as numbers."""
    chosen = choice("krippendorff_alpha, level", level or default_level(kind), LEVELS)
    value = _numbers(classes)
    rising = kind != "ordinal" or bool((np.diff(value) > 0).all())  # grades are as declared
    numeric = rising and bool(np.isfinite(value).all())
    value = value if numeric else np.arange(len(classes), dtype=float)
    ordered = numeric or kind == "ordinal" or len(classes) <= 2
    _check_level(chosen, value, numeric=numeric, ordered=ordered)
    return chosen, value


def alpha_of_coincidences(pairs: Floats, level: str, value: Floats) -> Floats:
    """Alpha of tables (..., values, values) of pairs of votes, each 1 / (votes - 1).

    Examples
    --------
    >>> alpha_of_coincidences(np.array([[2.0, 1.0], [1.0, 2.0]]), "nominal", np.arange(2.0))
    array(0.444)
    """
    rising = np.argsort(value, kind="stable")
    pairs, value = pairs[..., rising, :][..., rising], value[rising]
    total = pairs.sum(axis=-1)
    number = total.sum(axis=-1)
    place = np.broadcast_to(value, total.shape)
    if level == "ordinal":
        place = np.cumsum(total, axis=-1) - total / 2 - number[..., None] / 2
    row, column = place[..., :, None], place[..., None, :]
    distance: Floats = (row - column) ** 2
    if level == "nominal":
        distance = 1 - np.eye(len(value))
    elif level == "ratio":
        distance = relative(row, column)
    expected = (total[..., :, None] * total[..., None, :] * distance).sum(axis=(-2, -1))
    return np.asarray(_alpha((pairs * distance).sum(axis=(-2, -1)), expected, number))


def _pair_agreement(count: Any, votes: Floats) -> Floats:
    """Share of pairs of votes on each item that agree; nan below two votes."""
    same = _per_item(count.multiply(count)) - votes
    return ratio(same, votes * (votes - 1))


@refusing_wrong_types
def percent_agreement(
    annotations: Annotations, *, task: str = "", plan: Resampling | None = None
) -> Estimate:
    """Mean share of agreeing pairs of votes per item, with replicates over items."""
    share = _pair_agreement(*pairable(collect(annotations, task).counts()))
    return mean_over_items(share, plan_for(annotations, plan))


@refusing_wrong_types
def fleiss_kappa(
    annotations: Annotations, *, task: str = "", plan: Resampling | None = None
) -> Estimate:
    """Fleiss' kappa with replicates over items."""
    count, votes = pairable(collect(annotations, task).counts())
    share, across = _pair_agreement(count, votes), count.T.tocsr()
    sums = _sums(np.nan_to_num(share), votes > 0)

    def compute(counts: Floats) -> Floats:
        total = across @ counts
        chance = ((total / np.maximum(total.sum(axis=0), 1.0)) ** 2).sum(axis=0)
        seen, number = sums @ counts
        defined = (number > 0) & (chance < 1 - 1e-12)
        return ratio(seen / np.maximum(number, 1.0) - chance, 1 - chance, defined=defined)

    low = -1.0 if len(np.unique(votes[votes > 0])) < 2 else -np.inf
    plan = plan_for(annotations, plan)
    return over_items(compute, votes, plan, low=low, width=count.shape[1])


# ---- pairs of annotators -------------------------------------------------------------------
class Pairs(NamedTuple):
    """Cohen's kappa of all pairs, and how many items both rated (annotators, annotators).

    Kappa is nan where undefined and on the diagonal.
    """

    annotators: Names
    kappa: Floats
    items: Floats

    @property
    def mean(self) -> float:
        """Mean kappa of the pairs, weighted by the items they share."""
        return float(_mean(np.triu(self.items, 1), self.kappa, (0, 1)))

    @property
    def mean_of_each(self) -> Floats:
        """The same for the pairs of each annotator, shape (annotators,)."""
        return _mean(self.items, self.kappa, 1)


def shares(annotations: Annotations, task: str = "") -> list[Any]:
    """By class, what part of an annotator's votes on an item is for it (annotators, items)."""
    from scipy.sparse import csr_matrix

    if annotations.annotators is None or annotations.annotator is None:
        got, expected = "anonymous votes or exchangeable slots", "annotators with ids"
        do = "choose krippendorff_alpha or fleiss_kappa: they do not ask who voted"
        raise InputError("cohen_kappa", got, expected, do)
    if annotations.label is None or annotations.rank is not None:
        level = Option("level", "interval")
        ratings = hint("choose krippendorff_alpha with {} for ratings", level)
        got = f"annotations of kind {annotations.kind}"
        raise InputError("cohen_kappa", got, "single labels", ratings)
    rows = opinions(annotations, task)
    who, item, label = (
        part[rows] for part in (annotations.annotator, annotations.item, annotations.label)
    )
    times = vote_counts(annotations, rows)
    share = times / same_key(who.astype(np.int64) * len(annotations.items) + item, times)
    shape = (len(annotations.annotators), len(annotations.items))
    chosen = [label == k for k in range(len(annotations.classes))]
    return [csr_matrix((share[k], (who[k], item[k])), shape=shape) for k in chosen]


def same_key(key: Any, number: Floats) -> Floats:
    """Sum of the rows that have the same key, shape (rows,)."""
    code = np.unique(key, return_inverse=True)[1]
    return np.asarray(np.bincount(code, number)[code], dtype=np.float64)


@refusing_wrong_types
def cohen_kappa(
    annotations: Annotations,
    pair: tuple[str, str],
    *,
    weights: str = "none",
    task: str = "",
    plan: Resampling | None = None,
) -> Estimate:
    """Kappa of two annotators, with replicates over the items.

    Parameters
    ----------
    pair
        Names of the two annotators.
    weights
        ``none``, ``linear`` or ``quadratic``.
    """
    _require_order(annotations, weights)
    by_class, names = shares(annotations, task), annotations.annotators or ()
    two = "two annotators"
    if len(pair) != 2:
        raise InputError("cohen_kappa, pair", f"{len(pair)} names", two, "name two")
    for name in pair:
        if name not in names:
            do = nearest(name, names)
            raise InputError("cohen_kappa", f"annotator {name!r}", "a known one", do)
    if pair[0] == pair[1]:
        raise InputError("cohen_kappa", f"annotator {pair[0]!r} twice", two, "name another")
    both = [names.index(name) for name in pair]
    return mean_kappa([table[both] for table in by_class], plan_for(annotations, plan), weights)


@refusing_wrong_types
def cohen_kappa_pairs(
    annotations: Annotations, *, weights: str = "none", task: str = ""
) -> Pairs:
    """Kappa of every pair of annotators."""
    _require_order(annotations, weights)
    return pairs_of(shares(annotations, task), annotations.annotators or (), weights)


def _require_order(annotations: Annotations, weights: str) -> None:
    """Refuse distances between classes that have no order."""
    if weights != "none" and annotations.kind == "nominal" and len(annotations.classes) > 2:
        grades = Option("classes", ("lowest", "...", "highest"))
        text = "read them with {} and {}, or leave weights at none"
        where, expected = f"cohen_kappa, weights {weights}", "grades in a known order"
        do = hint(text, Option("kind", "ordinal"), grades)
        raise InputError(where, "classes without an order", expected, do)


def pairs_of(by_class: Sequence[Any], names: Names, weights: str) -> Pairs:
    """Kappa of every pair of the annotators whose shares are given: two products per class."""
    size, people = len(by_class), len(names)
    distance = _distances(size, weights)
    if 8 * people**2 * (size + 5) > MOST_BYTES:
        got = f"{people:,} annotators and {size:,} classes"
        room = f"tables of at most {MOST_BYTES / 2**30:g} GB"
        do = "choose the annotators with most votes, or Krippendorff's alpha"
        raise InputError("cohen_kappa", got, room, do)
    rated = sum(by_class[1:], by_class[0]).sign()
    totals = np.stack([(table @ rated.T).toarray() for table in by_class])  # of the first
    far = [_weighted(row, by_class) for row in distance]
    seen = sum((table @ away.T).toarray() for table, away in zip(by_class, far, strict=True))
    chance = sum(totals[k] * np.tensordot(distance[k], totals, axes=1).T for k in range(size))
    number = totals.sum(axis=0)
    kappa = _kappa(seen * number, chance, number)
    kappa = (kappa + kappa.T) / 2  # the same but for rounding
    np.fill_diagonal(kappa, np.nan)
    return Pairs(names, kappa, np.round(number, 9))


def mean_kappa(by_class: Sequence[Any], plan: Resampling, weights: str) -> Estimate:
    """Mean kappa of all pairs of the annotators whose shares are given, with replicates."""
    distance = _distances(len(by_class), weights)
    rated = sum(by_class[1:], by_class[0]).sign()
    met = (rated @ rated.T).tocoo()
    first, second = (side[met.row < met.col] for side in (met.row, met.col))
    both = rated[first].multiply(rated[second]).tocsr()
    heads, tails = (
        [table[a].multiply(rated[b]).tocsr() for table in by_class]
        for a, b in ((first, second), (second, first))
    )
    far = [_weighted(row, tails) for row in distance]
    apart = sum(table.multiply(away) for table, away in zip(heads, far, strict=True)).tocsr()

    def compute(counts: Floats) -> Floats:
        number = both @ counts
        first_sums, second_sums = (
            np.array([part @ counts for part in side]) for side in (heads, tails)
        )
        chance = (first_sums * np.tensordot(distance, second_sums, axes=1)).sum(axis=0)
        return _mean(number, _kappa((apart @ counts) * number, chance, number), 0)

    used = np.asarray(both.sum(axis=0)).ravel()
    return over_items(compute, used, plan, width=4 * len(heads) * len(first))


def _distances(classes: int, weights: str) -> Floats:
    """Distance of every two classes."""
    choice("cohen_kappa, weights", weights, WEIGHTS)
    gap = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes))).astype(np.float64)
    return {"none": (gap > 0).astype(np.float64), "linear": gap, "quadratic": gap**2}[weights]


def _weighted(weights: Floats, tables: Sequence[Any]) -> Any:
    """Weighted sum of sparse tables."""
    parts = (w * table for w, table in zip(weights, tables, strict=True) if w)
    return sum(parts, 0 * tables[0])


def _kappa(seen: Floats, chance: Floats, number: Floats) -> Floats:
    """One minus seen over chance disagreement; both are sums over pairs of items."""
    return 1 - ratio(seen, chance, defined=chance > 1e-12 * np.maximum(number, 1.0) ** 2)


def _mean(weight: Floats, values: Floats, axis: Any) -> Floats:
    """Weighted mean over the values that are defined; nan where none is."""
    weights = np.where(np.isnan(values), 0.0, weight)
    return ratio((weights * np.nan_to_num(values)).sum(axis=axis), weights.sum(axis=axis))


def crossed_coefficient(
    votes: TaskVotes,
    coefficient: str,
    level: str,
    plan: Resampling,
) -> TwoWay:
    """A coefficient with what its uncertainty is made of.

    Parameters
    ----------
    votes
        Of one task.
    coefficient
        ``alpha``, ``fleiss`` or ``percent``.
    level
        Level of measurement; kappa and percent agreement are nominal.
    plan
        In which groups items and annotators come.
    """
    unit = np.arange(votes.items) if plan.group is None else plan.group
    count = votes.counts()
    number = np.asarray(count.sum(axis=1)).ravel()
    items = np.flatnonzero(number >= 2)
    place = np.full(votes.items, -1)
    place[items] = np.arange(len(items))
    size = number[items]
    shares = count[items].multiply(1 / size[:, None]).tocsr()
    left, right = _gaps(votes, count[items], level)
    weight = size / size.sum() if coefficient == "alpha" else np.full(len(size), 1 / len(size))
    chance = size / size.sum()
    seen, rare = _ends(coefficient, size)
    met = shares @ right  # what a label meets on its item, and among all
    common = chance @ met
    apart = size / (size - 1) * np.asarray(shares.multiply(met @ left.T).sum(axis=1)).ravel()
    far = np.asarray(shares @ (left @ common)).ravel()
    observed, expected = float(weight @ apart), seen + rare * float(chance @ far)
    slope = rare * observed / expected**2
    influence = -weight * (apart - observed) / expected
    influence += 2 * slope * chance * (far - chance @ far)
    keep = place[votes.item] >= 0
    item, code = place[votes.item[keep]], votes.code[keep]
    by_vote = -(2 * weight * size / (size - 1))[item] * (left[code] * met[item]).sum(axis=1)
    by_vote = by_vote / expected + 2 * slope * chance[item] * (left[code] @ common)
    ballots = _ballots(votes, keep, item, by_vote, unit[items]).of_groups(plan.annotator_group)
    covariances = Layout([ballots]).annotator_and_cell_covariances(
        [np.ones((1, len(items), 1))], "soft"
    )
    named = votes.who is not None
    population = population_of(
        ballots.design, named=named, units="items" if plan.group is None else "groups of items"
    )
    return two_way(
        np.array([1 - observed / expected]), influence[None], ballots.unit,
        design=ballots.design, population=population, votes=covariances,
    )  # fmt: skip


def _ends(coefficient: str, size: Floats) -> tuple[float, float]:
    """What is expected without chance, and how much chance counts."""
    if coefficient == "percent":
        return 1.0, 0.0
    whole = float(size.sum())
    return 0.0, whole / (whole - 1) if coefficient == "alpha" else 1.0


def _gaps(votes: TaskVotes, count: Any, level: str) -> tuple[Floats, Floats]:
    """How far any two values are apart, as a product of two tables (values, parts)."""
    value = votes.value
    if level == "interval":
        value = value - value[len(value) // 2]
        unity = np.ones(len(value))
        return np.stack([value**2, -2 * value, unity], 1), np.stack([unity, value, value**2], 1)
    same = np.eye(len(value))
    if level == "nominal":
        return 1 - same, same
    if level == "ratio":
        return relative(value[:, None], value[None, :]), same
    total = np.asarray(count.sum(axis=0)).ravel()
    rank = np.cumsum(total) - total / 2
    return (rank[:, None] - rank) ** 2, same


def _ballots(votes: TaskVotes, keep: Any, item: Ints, by_vote: Floats, unit: Ints) -> Ballots:
    """Votes whose deviation is what each moves the coefficient by."""
    order = np.argsort(unit[item], kind="stable")
    item, by_vote, times = item[order], by_vote[order], votes.times[keep][order]
    total = np.bincount(item, times)
    mean = np.bincount(item, times * by_vote) / total
    who = np.zeros(len(item), dtype=np.int64) if votes.who is None else votes.who[keep][order]
    return Ballots(
        unit=np.unique(unit, return_inverse=True)[1],
        item=item,
        annotator=who,
        share=times / total[item],
        mass=by_vote[:, None],
        labels=mean[:, None],
        harden=lambda labels: labels,
        named=votes.who is not None,
    )

r"""Counts: votes or inverse ranks summed per item and class, and plausibilities made of them.

`mean_vote`: the share of votes per class, the soft label of the ranking metrics. It is a point:
it does not say how few votes there were. Draws on demand are labels with these probabilities,

.. math:: \lambda_{ik} = \frac{\sum_{v \in i} w_v [\text{vote } v = k]}{\sum_{v \in i} w_v}

`majority_vote`: the class with most votes, as the hard labels of an evaluation; classes with
equally many share it, and a notice counts such items,

.. math:: \lambda_{ik} \propto [\text{share}_{ik} = \max_l \text{share}_{il}]

`dirichlet`: votes as counts, uncertainty from how few there are. The reliability r says how
much a vote counts, the prior :math:`\alpha` what every class has without votes: by default its
base rate and concentration come from the votes of all items, see below. The probability
that a class is on top is exact, by quadrature: see `types.posteriors`. Draws are made on
demand,

.. math:: \lambda_i \sim \mathrm{Dirichlet}(r \cdot \text{votes}_i + \alpha)

Any prior moves the mean of an item towards the base rate whatever a model says of the item, so
scores against that mean are pulled to chance: with five votes a soft AUROC of 0.74 becomes
0.67, by the empirical prior as by the uniform one. `equipoise.evaluate` therefore scores
against the votes' own shares where the prior is empirical (`Dirichlet.centred`); a prior that
was asked for is used as it is.

`inverse_rank`: a class in the i-th block of a reading counts 1/i. ``ties="split"`` (t = 1,
default) shares 1/b over the block, as the paper's equation 3; ``ties="full"`` (t = 0) gives
every class of the block the whole 1/b, as the public code does and as the published figures
were made. Readings are summed, then normalised. A plain vote is a reading of length one, so on
votes this is the mean vote,

.. math:: \mathrm{IRN}_{ik} \propto \sum_{\text{readings}} \sum_b \frac{1}{b}\,
    \frac{[k \in \text{block } b]}{|\text{block } b|^{t}}

`probabilistic_inverse_rank`: a Dirichlet around the normalised inverse ranks. They are
normalised before they are scaled, so the reliability :math:`\gamma` does not grow with the
number of readings. The paper has no prior; with ``prior=0`` (default) classes that nobody
mentions stay impossible. ``prior="notebook"`` is what the public notebook does: ties in full
and 0.01 for every class, which at 419 classes and :math:`\gamma` = 10 is 29 % of the mass on
classes that nobody mentioned,

.. math:: \lambda_i \sim \mathrm{Dirichlet}(\gamma \cdot \mathrm{IRN}_i + \alpha)

**The prior of votes.** ``"empirical"`` takes both the base rate :math:`\pi` of the classes and
the concentration s, how many votes the base rate counts as, from the votes of all items: they
maximise the Dirichlet-multinomial likelihood

.. math:: \prod_i \frac{\Gamma(s)}{\Gamma(s + n_i)}
    \prod_k \frac{\Gamma(s \pi_k + c_{ik})}{\Gamma(s \pi_k)}

with votes :math:`c_{ik}` and their sum :math:`n_i`, times a weak log-normal prior of s (median
1, log deviation 1). That decides where votes cannot: with one vote per item s is 1, and a
handful of items cannot make it huge. The base rate is then smoothed by one vote, spread evenly,
so that no class is impossible. The likelihood needs only how often each number of votes occurs
for each class, so that a step costs the same for a thousand items and for a million. Items of
known truth are left out.

With more than 32 classes, or very many items and classes, the base rate is even over the
classes and s alone is estimated.

``"uniform"`` is 1 for every class, and a number is that for every class.

Weights and counts add to the votes; tied first choices of a ranking share one vote; a gold row
settles its item: its class has all the mass in every draw. The sums are in the sparse form that
plausibilities have.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> def votes(*labels, classes=("no", "yes"), kind="binary"):
...     item = np.array([i for i, of_item in enumerate(labels) for _ in of_item])
...     return Annotations(kind=kind, items=("a", "b")[: len(labels)], classes=classes,
...         item=item, label=np.concatenate(labels))
>>> mean_vote(votes([1, 0, 1])).mean
array([[0.333, 0.667]])
>>> majority_vote(votes([1, 0], [1])).mean
array([[0.5, 0.5],
       [0. , 1. ]])
>>> dirichlet(votes([1]), prior="uniform").certainty
array([0.75])
>>> dirichlet(votes([1, 1, 1], [0, 1])).method
'Dirichlet (reliability 1, empirical prior: base rate 0.70, concentration 1.3)'
>>> reading = Annotations(kind="ranking", items=("a",), classes=("x", "y", "z"),
...     item=np.zeros(3, int), label=np.array([0, 1, 2]), rank=np.array([0, 1, 1]),
...     reading=np.zeros(3, int))
>>> inverse_rank(reading).mean
array([[0.667, 0.167, 0.167]])
>>> probabilistic_inverse_rank(votes([0, 1], kind="nominal"), reliability=10).certainty
array([0.5])
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.truth.model import (
    CLASSES,
    AggregationModel,
    Prior,
    Reliability,
    unused_confidence,
)
from equipoise.types import (
    AT_LEAST,
    Annotations,
    Bools,
    Categorical,
    Dirichlet,
    Floats,
    InputError,
    Ints,
    Names,
    Notices,
    Option,
    Plausibilities,
    Posterior,
    check_gold,
    choice,
    collect_votes,
    dense_blocks,
    gold_items,
    hint,
    immutable,
    listed,
    notice,
    refusing_wrong_types,
    row_weights,
)
from equipoise.types import number as shown

PRIORS = ("empirical", "uniform")
MOST_CLASSES = 32  # with a base rate of their own
MOST_CELLS = 20_000_000  # pairs of item and class that may all be stored
_STEPS = 200
_HALVES = 40
_DENSE = 8  # pairs of item and class for each vote up to which all pairs are counted
MOST_RELIABILITY = 1e8  # beyond which posteriors are not exact any more
_PRESETS = {"paper": ("split", 0.0), "full ties": ("full", 0.0), "notebook": ("full", 0.01)}


@refusing_wrong_types
def mean_vote(annotations: Annotations, *, task: str = "") -> Plausibilities:
    """Share of votes per class; one draw."""
    votes = entries(annotations, task)
    share = Categorical(votes.shares, np.zeros(len(votes.items)))
    return _from_posterior(
        votes,
        share,
        method="mean vote",
        model="mean_vote",
        task=task,
        notices=unused_confidence(annotations, "mean vote"),
    )


@refusing_wrong_types
def majority_vote(annotations: Annotations, *, task: str = "") -> Plausibilities:
    """Hard labels as plausibilities; one draw."""
    votes = entries(annotations, task)
    item = np.repeat(np.arange(len(votes.items)), np.diff(votes.start))
    most = np.maximum.reduceat(votes.shares, votes.start[:-1])
    leading = votes.shares >= most[item] - 1e-12
    number = np.bincount(item, leading)
    ties = int((number > 1).sum())
    text = "{items:count} items have several classes with most votes, which share them."
    tied = (notice("tied_classes", text, items=ties),) if ties else ()
    return _from_posterior(
        votes,
        Categorical(leading / number[item], np.zeros(len(votes.items))),
        method="majority vote",
        model="majority_vote",
        task=task,
        notices=(*tied, *unused_confidence(annotations, "majority vote")),
    )


@refusing_wrong_types
def dirichlet(
    annotations: Annotations,
    *,
    reliability: float = 1.0,
    prior: str | float = "empirical",
    task: str = "",
) -> Plausibilities:
    """Independent Dirichlet posteriors; the mean as one draw, more on demand.

    Parameters
    ----------
    reliability
        How much a vote counts.
    prior
        ``"empirical"``: base rate and concentration from the votes; ``"uniform"``: 1 for every
        class; or a number for every class.
    """
    votes = entries(annotations, task)
    is_gold = _gold_items(annotations, votes, task)
    fine = isinstance(prior, str) or 0 <= prior < np.inf
    if not (0 < reliability <= MOST_RELIABILITY and fine):
        raise InputError(
            "dirichlet",
            f"reliability {reliability:g}, prior {prior}",
            f"a reliability above 0, up to {MOST_RELIABILITY:g}, and a finite prior from 0",
            "leave both at their defaults",
        )
    chosen = given_prior(prior, len(votes.classes))
    if chosen is None:
        voted = np.repeat(~is_gold, np.diff(votes.start))
        label, weight, total = votes.label[voted], votes.votes[voted], votes.total[~is_gold]
        chosen = estimated_prior(label, weight, total, len(votes.classes))
    if not chosen.even and len(votes.classes) > 2:
        votes = votes.every_class()
    estimated = {"base_rate": chosen.base_rate.tolist(), "concentration": chosen.concentration}
    return _from_posterior(
        votes,
        _dirichlet_posterior(reliability * votes.votes, chosen, votes, is_gold),
        method=f"Dirichlet (reliability {reliability:g}, {chosen.words})",
        model="dirichlet",
        task=task,
        parameters={
            "reliability": reliability,
            "prior": prior,
            **(estimated if chosen.empirical else {}),
        },
        rest_shape=float(chosen.shapes[0]) if chosen.even else None,
        notices=unused_confidence(annotations, "Dirichlet"),
    )


@refusing_wrong_types
def inverse_rank(
    annotations: Annotations, *, ties: str = "split", task: str = ""
) -> Plausibilities:
    """Normalised inverse ranks; one draw."""
    choice("inverse_rank, ties", ties, ("split", "full"))
    votes = _rank_entries(annotations, task, share_ties=ties == "split")
    share = Categorical(votes.shares, np.zeros(len(votes.items)))
    return _from_posterior(
        votes,
        share,
        law=None,
        method=f"inverse rank (ties {ties})",
        model="inverse_rank",
        task=task,
        parameters={"ties": ties},
        notices=unused_confidence(annotations, "inverse rank"),
    )


@refusing_wrong_types
def probabilistic_inverse_rank(
    annotations: Annotations,
    *,
    reliability: float = 20.0,
    prior: str = "paper",
    task: str = "",
) -> Plausibilities:
    """Dirichlet plausibilities around inverse ranks.

    Parameters
    ----------
    reliability
        The factor gamma; published 10, 20, 30, 50, 100.
    prior
        ``paper`` (ties split, no prior), ``full ties`` (ties full, no prior), ``notebook``
        (ties full, prior 0.01 for every class: as the published figures).
    """
    choice("probabilistic_inverse_rank, prior", prior, tuple(_PRESETS))
    if not 0 < reliability <= MOST_RELIABILITY:
        raise InputError(
            "probabilistic_inverse_rank",
            f"reliability {reliability:g}",
            f"a positive number up to {MOST_RELIABILITY:g}",
            "20 is the default",
        )
    ties, pseudo = _PRESETS[prior]
    shapes = np.full(len(annotations.classes), pseudo)
    vote_prior = VotePrior(shapes, f"prior {pseudo:g}")
    votes = _rank_entries(annotations, task, share_ties=ties == "split")
    is_gold = _gold_items(annotations, votes, task)
    return _from_posterior(
        votes,
        _dirichlet_posterior(reliability * votes.shares, vote_prior, votes, is_gold),
        method=f"probabilistic inverse rank (reliability {reliability:g}, {prior})",
        model="probabilistic_inverse_rank",
        task=task,
        parameters={"reliability": reliability, "prior": prior},
        rest_shape=pseudo,
        notices=unused_confidence(annotations, "probabilistic inverse rank"),
    )


class Entries(NamedTuple):
    """Summed votes of one task.

    Attributes
    ----------
    items, classes
        Names of the items that have votes, and of all classes.
    start, label
        The voted classes of item i are ``label[start[i]:start[i + 1]]``.
    votes
        Weight of the votes for each of them, shape (entries,).
    total
        Weight of all votes of an item, shape (items,).
    ordered
        Whether the classes are grades.
    """

    items: Names
    classes: Names
    start: Ints
    label: Ints
    votes: Floats
    total: Floats
    ordered: bool = False

    @property
    def shares(self) -> Floats:
        """Share of an item's weight that each entry has, shape (entries,)."""
        return self.votes / np.repeat(self.total, np.diff(self.start))

    def every_class(self) -> "Entries":
        """The same with an entry for every class of every item, also those without votes."""
        items, size = len(self.items), len(self.classes)
        item = np.repeat(np.arange(items), np.diff(self.start))
        full = np.zeros(items * size)
        full[item * size + self.label] = self.votes
        label = np.tile(np.arange(size), items)
        return self._replace(start=np.arange(0, len(full) + 1, size), label=label, votes=full)


def entries(annotations: Annotations, task: str = "") -> Entries:
    """Sum the votes of one task.

    Examples
    --------
    >>> votes = Annotations(kind="nominal", items=("a",), classes=("x", "y", "z"),
    ...     item=np.array([0, 0, 0]), label=np.array([2, 0, 2]))
    >>> entries(votes).votes
    array([1., 2.])
    """
    if annotations.kind == "interval":
        raise InputError(
            "annotations of kind interval",
            "ratings",
            "classes",
            hint(
                "choose {}, or turn ratings into a yes/no question with {}",
                Option("model", "normal", python="the model 'normal'"),
                AT_LEAST,
            ),
        )
    if annotations.reading is not None:
        votes = collect_votes(annotations, task, apart=False)
        item = np.repeat(votes.items, votes.sizes)[votes.vote]
        return _summed(annotations, item, votes.label, votes.share * votes.weight[votes.vote])
    rows = annotations.in_task(task)
    if annotations.is_gold is not None:
        check_gold(annotations, task)
        rows &= annotations.is_gold | ~gold_items(annotations, task)[annotations.item]
    place = np.flatnonzero(rows)
    if not len(place):
        raise InputError(f"annotations, task {task!r}", "no votes", "at least one", "check it")
    assert annotations.label is not None
    weight = row_weights(annotations, place)
    if annotations.weight is not None:  # sums that the order of rows cannot turn
        order = np.argsort(weight, kind="stable")
        place, weight = place[order], weight[order]
    return _summed(annotations, annotations.item[place], annotations.label[place], weight)


def _summed(annotations: Annotations, item: Ints, label: Ints, weight: Floats) -> Entries:
    """Add up weights by item and class."""
    classes, voted = len(annotations.classes), np.bincount(item) > 0
    items = np.flatnonzero(voted)
    key = (np.cumsum(voted) - 1)[item] * classes + label
    if len(items) * classes <= _DENSE * len(key):
        votes: Any = np.bincount(key, weight)
        pair = np.flatnonzero(votes)
        votes = votes[pair]
    else:
        pair, code = np.unique(key, return_inverse=True)
        votes = np.bincount(code, weight)
    place = pair // classes
    return Entries(
        items=tuple(map(annotations.items.__getitem__, items.tolist())),
        classes=annotations.classes,
        start=np.searchsorted(place, np.arange(len(items) + 1)),
        label=pair % classes,
        votes=votes,
        total=np.bincount(place, votes, len(items)).astype(np.float64),
        ordered=annotations.kind == "ordinal",
    )


def _rank_entries(annotations: Annotations, task: str, *, share_ties: bool) -> Entries:
    """Sum 1 / block number over readings, the block's share split over it or not."""
    if annotations.rank is None or annotations.reading is None or annotations.label is None:
        return entries(annotations, task)
    rows = np.flatnonzero(annotations.in_task(task))
    if annotations.gold[rows].any():
        raise InputError(
            "inverse rank",
            "gold rows among rankings",
            "readings only: a known truth has no ranks",
            "leave gold rows out, or choose dirichlet or mean_vote, which take first choices",
        )
    if not len(rows):
        raise InputError(
            f"annotations, task {task!r}", "no readings", "at least one", "check it"
        )
    block = dense_blocks(annotations, rows)
    tied = np.ones(len(rows))
    if share_ties:
        key = annotations.reading[rows].astype(np.int64) * (int(block.max()) + 1) + block
        code = np.unique(key, return_inverse=True)[1]
        tied = np.bincount(code)[code].astype(np.float64)
    weight = row_weights(annotations, rows)
    value = weight / ((block + 1) * tied)
    return _summed(annotations, annotations.item[rows], annotations.label[rows], value)


def _from_posterior(
    votes: Entries, posterior: Posterior, *, notices: Notices, **facts: Any
) -> Plausibilities:
    """Plausibilities of the voted classes with this posterior; its mean as their one draw."""
    mass, rest = posterior.mean(votes.start)
    return Plausibilities(
        items=votes.items,
        classes=votes.classes,
        start=votes.start,
        label=votes.label,
        mass=mass[None],
        rest=rest[None],
        ordered=votes.ordered,
        notices=notices,
        **{"law": posterior, **facts},
    )


def _dirichlet_posterior(
    weight: Floats, prior: "VotePrior", votes: Entries, is_gold: Bools
) -> Dirichlet:
    """Dirichlet of votes plus a prior for every class; known items have one class alone."""
    voted = np.diff(votes.start)
    of_gold = np.repeat(is_gold, voted)
    item = np.repeat(np.arange(len(is_gold)), voted)
    shape = np.where(of_gold, 0.0, prior.shapes[votes.label])
    rest = prior.concentration - np.bincount(item, shape, len(is_gold))
    if prior.even:  # exactly 0 where every class has votes
        rest = prior.shapes[0] * (len(votes.classes) - voted)
    rest = np.where(
        is_gold, 0.0, np.maximum(np.where(voted < len(votes.classes), rest, 0.0), 0)
    )
    total = np.where(of_gold & (weight > 0), 1.0, np.where(of_gold, 0.0, weight + shape))
    return Dirichlet(total, rest, shape if prior.empirical else None)


def _gold_items(annotations: Annotations, votes: Entries, task: str) -> Bools:
    """Which items gold rows settle, shape (items,); they must name one class."""
    if annotations.is_gold is None:
        return np.zeros(len(votes.items), dtype=bool)
    rows = annotations.in_task(task) & annotations.gold
    names = {annotations.items[i] for i in np.unique(annotations.item[rows])}
    is_gold = np.array([item in names for item in votes.items], dtype=bool)
    several = is_gold & (np.diff(votes.start) > 1)
    if several.any():
        raise InputError(
            f"annotations, items {listed([votes.items[i] for i in np.flatnonzero(several)])}",
            "gold rows that name several classes",
            "one known truth per item",
            "correct them or clear is_gold",
        )
    return is_gold


# ---- the prior of votes --------------------------------------------------------------------


@immutable(eq=False)
class VotePrior:
    """A prior of votes.

    Attributes
    ----------
    shapes
        What each class has without votes, shape (classes,).
    words
        Its name where it is shown.
    empirical
        Whether it was estimated.
    """

    shapes: Floats
    words: str
    empirical: bool = False

    @property
    def even(self) -> bool:
        """Whether all classes have the same."""
        return bool((self.shapes == self.shapes[0]).all())

    @property
    def concentration(self) -> float:
        """What all classes have together."""
        return float(self.shapes.sum())

    @property
    def base_rate(self) -> Floats:
        """Share of each class, shape (classes,)."""
        return self.shapes / (self.concentration or 1.0)


def given_prior(prior: str | float, classes: int) -> VotePrior | None:
    """A prior that was given as a number or as uniform; None where it is to be estimated."""
    if isinstance(prior, str) and prior not in PRIORS:
        expected = f"{', '.join(PRIORS)} or a number of at least 0"
        raise InputError("dirichlet, prior", f"{prior!r}", expected, "empirical is the default")
    if prior == "empirical":
        return None
    shape = 1.0 if isinstance(prior, str) else float(prior)
    return VotePrior(np.full(classes, shape), f"prior {shape:g}")


def estimated_prior(label: Ints, votes: Floats, total: Floats, classes: int) -> VotePrior:
    """Base rate and concentration of the votes of all items.

    Parameters
    ----------
    label, votes
        Class and weight of every pair of item and class that has votes, shape (pairs,).
    total
        Weight of all votes of each item, shape (items,).

    Examples
    --------
    >>> made = estimated_prior(np.array([0, 1]), np.ones(2), np.ones(2), 2)
    >>> made.words
    'empirical prior: base rate 0.50, concentration 1.0, one vote per item'
    """
    if not len(votes):  # every item is known
        return VotePrior(
            np.full(classes, 1 / classes), "empirical prior: no votes", empirical=True
        )
    even = classes > MOST_CLASSES or len(total) * classes > MOST_CELLS
    labels = np.zeros_like(label) if even else label
    return prior_of_tally(VoteTally.of(labels, votes, total, classes))


def posterior_mean(counts: Ints, reliability: float, prior: VotePrior) -> Floats:
    """Mean of the Dirichlet posterior of counts (items, classes); shares where prior is 0."""
    shapes = reliability * counts + prior.shapes
    return np.asarray(shapes / shapes.sum(axis=1, keepdims=True))


def prior_of_tally(tally: "VoteTally") -> VotePrior:
    """Base rate and concentration, given how often each number of votes occurs."""
    classes, votes = tally.classes, float(tally.votes @ tally.times)
    items = float(tally.items.sum())
    even = classes > MOST_CLASSES or items * classes > MOST_CELLS
    if even:
        pooled = np.zeros_like(tally.label)
        strength = _even_strength(replace(tally, label=pooled), classes)
        rate = np.full(classes, 1 / classes)
    else:
        shapes = _fitted(tally)
        strength = float(shapes.sum())
        rate = (votes * shapes / strength + 1 / classes) / (votes + 1)
    alone = float(tally.times.sum()) == items and bool((tally.total <= 1).all())
    words = _words(rate, strength, even=even) + (", one vote per item" if alone else "")
    return VotePrior(strength * rate, words, empirical=True)


def _words(rate: Floats, strength: float, *, even: bool) -> str:
    many = shown(strength, 1 if strength >= 0.1 else 2)
    if even:
        return f"empirical prior: concentration {many}, even over {len(rate)} classes"
    if len(rate) == 2:
        return f"empirical prior: base rate {shown(rate[1], 2)}, concentration {many}"
    ends = f"{shown(rate.min(), 2)} to {shown(rate.max(), 2)}"
    return f"empirical prior: base rates {ends}, concentration {many}"


@immutable(eq=False)
class VoteTally:
    """How often each number of votes occurs: of all classes together, and of each class.

    Attributes
    ----------
    total, items
        Numbers of votes that items have, and how many items have each.
    label, votes, times
        Class, number of its votes on an item, and how many items have that.
    classes
        How many classes there are.
    """

    total: Floats
    items: Floats
    label: Ints
    votes: Floats
    times: Floats
    classes: int

    @classmethod
    def of(cls, label: Ints, votes: Floats, total: Floats, classes: int) -> "VoteTally":
        """Count distinct numbers, so that sums run over few of them."""
        items, times = np.ones(len(total)), np.ones(len(votes))
        return cls.merged([cls(total, items, label, votes, times, classes)])

    @classmethod
    def merged(cls, tallies: "Sequence[VoteTally]") -> "VoteTally":
        """Tally of several blocks of items."""
        total, items, label, votes, times = (
            np.concatenate([getattr(tally, name) for tally in tallies])
            for name in ("total", "items", "label", "votes", "times")
        )
        sizes, size = np.unique(total, return_inverse=True)
        values, code = np.unique(votes, return_inverse=True)
        pairs, pair = np.unique(label * len(values) + code, return_inverse=True)
        labels, code = pairs // len(values), pairs % len(values)
        many = np.bincount(size, items).astype(float)
        often = np.bincount(pair, times).astype(float)
        return cls(sizes, many, labels, values[code], often, tallies[0].classes)

    def likelihood(self, shapes: Floats) -> float:
        """Log-likelihood of a shape per class, but for a constant."""
        from scipy.special import gammaln

        whole, shape = shapes.sum(), shapes[self.label]
        below = self.items @ (gammaln(whole) - gammaln(whole + self.total))
        return float(below + self.times @ (gammaln(shape + self.votes) - gammaln(shape)))

    def slopes(self, shapes: Floats) -> tuple[Floats, Floats, float]:
        """First derivatives, second ones of each class apart, and the part that all share."""
        from scipy.special import digamma, polygamma

        whole, shape = shapes.sum(), shapes[self.label]
        shared = self.items @ (digamma(whole) - digamma(whole + self.total))
        first = self.times * (digamma(shape + self.votes) - digamma(shape))
        second = self.times * (polygamma(1, shape + self.votes) - polygamma(1, shape))
        bend = self.items @ (polygamma(1, whole) - polygamma(1, whole + self.total))
        size = len(shapes)
        return (
            shared + np.bincount(self.label, first, size),
            np.asarray(np.bincount(self.label, second, size), dtype=np.float64),
            float(bend),
        )


def _fitted(tally: VoteTally) -> Floats:
    """Shapes of the classes, 0 for those without votes; Newton's method in their logarithms."""
    votes = np.bincount(tally.label, tally.votes * tally.times, tally.classes)
    voted = np.flatnonzero(votes)
    place = np.zeros(tally.classes, dtype=np.intp)
    place[voted] = np.arange(len(voted))
    voted_tally = VoteTally(
        tally.total, tally.items, place[tally.label], tally.votes, tally.times, len(voted)
    )
    log = np.log(votes[voted] / votes.sum())
    height = _height(voted_tally, log)
    for _ in range(_STEPS):
        step = _newton(voted_tally, log)
        for _ in range(_HALVES):
            reached = _height(voted_tally, log + step)
            if reached >= height:
                break
            step = step / 2
        else:
            break
        log, height = log + step, reached
        if np.abs(step).max() < 1e-11:
            break
    shapes = np.zeros(tally.classes)
    shapes[voted] = np.exp(log)
    return shapes


def _height(tally: VoteTally, log: Floats) -> float:
    """Log-likelihood plus the log prior of the concentration."""
    shapes = np.exp(log)
    return float(tally.likelihood(shapes) - 0.5 * np.log(shapes.sum()) ** 2)


def _newton(tally: VoteTally, log: Floats) -> Floats:
    """A step uphill: Newton's where the function bends down, else along the slope."""
    shapes = np.exp(log)
    slope, apart, shared = tally.slopes(shapes)
    part, far = shapes / shapes.sum(), np.log(shapes.sum())
    first = shapes * slope - far * part
    bend = shared * np.outer(shapes, shapes) - (1 - far) * np.outer(part, part)
    bend += np.diag(shapes**2 * apart + first)
    values, axes = np.linalg.eigh(-bend)
    safe = np.maximum(np.abs(values), 1e-9 * max(1.0, float(np.abs(values).max())))
    step = axes @ ((axes.T @ first) / safe)
    return np.asarray(step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300)))


def _even_strength(tally: VoteTally, classes: int) -> float:
    """Concentration where all classes have the same base rate."""
    from scipy.optimize import minimize_scalar

    even = np.array([1 / classes])

    def depth(log: float) -> float:
        from scipy.special import gammaln

        whole = np.exp(log)
        shape = whole * even[tally.label]
        below = tally.items @ (gammaln(whole) - gammaln(whole + tally.total))
        inside = tally.times @ (gammaln(shape + tally.votes) - gammaln(shape))
        return float(0.5 * log**2 - below - inside)

    minimum = minimize_scalar(
        depth, bounds=(-12, 12), method="bounded", options={"xatol": 1e-10}
    )
    return float(np.exp(minimum.x))


MODELS = (
    AggregationModel(
        name="mean_vote",
        title="mean vote",
        description="the share of votes per class",
        fit=mean_vote,
        kinds=CLASSES,
        suits=CLASSES,
        rank=31,
    ),
    AggregationModel(
        name="majority_vote",
        title="majority vote",
        description="the class that more than half of the votes name",
        fit=majority_vote,
        kinds=CLASSES,
        suits=CLASSES,
        rank=32,
        same_draws=True,
        decides_as="mean_vote",
    ),
    AggregationModel(
        name="dirichlet",
        title="Dirichlet",
        description="the share of votes, and how uncertain so few votes leave it",
        fit=dirichlet,
        kinds=CLASSES,
        suits=CLASSES,
        rank=15,
        because="it takes votes as they are, and how few they are into account",
        companions=("dawid_skene", "dawid_skene_ordinal", "glad", "mean_vote"),
        reliability=Reliability(1.0, (1.0, 2.0, 3.0, 5.0, 10.0)),
        prior=Prior(
            expected="empirical, uniform, or what every class has without votes, at least 0",
            help="`empirical` (default: base rate and concentration from the votes), `uniform` "
            "or votes per class",
            words=PRIORS,
        ),
        limit="mean_vote",
        references=("stutz2025",),
    ),
    AggregationModel(
        name="inverse_rank",
        title="inverse rank",
        description="a class in the i-th place of a reading counts 1/i",
        fit=inverse_rank,
        kinds=CLASSES,
        suits=("ranking",),
        rank=13,
        gold=False,
        references=("stutz2025",),
    ),
    AggregationModel(
        name="probabilistic_inverse_rank",
        title="probabilistic inverse rank",
        description="inverse ranks, and how uncertain they are",
        fit=probabilistic_inverse_rank,
        kinds=CLASSES,
        suits=("ranking",),
        rank=12,
        because="the annotations are rankings with weights",
        gold=False,
        reliability=Reliability(20.0, (10.0, 20.0, 30.0, 50.0, 100.0)),
        prior=Prior(
            expected="paper, full ties or notebook",
            help="`paper` (default), `full ties` or `notebook`",
            words=tuple(_PRESETS),
            numbers=False,
        ),
        limit="inverse_rank",
        references=("stutz2025",),
    ),
)

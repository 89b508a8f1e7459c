r"""Which items to send for one more vote, so that the order of the models becomes surer.

**What all voters would say.** The share :math:`q_i` of all possible voters behind the soft
label of item i is not known. It follows a Dirichlet law: the m votes of the item, and s
imagined ones beforehand that are shared out over the classes as the soft labels of all items
are on average, :math:`\pi`. So neither their number nor their direction depends on how many
classes there are. Two votes on one item then differ with :math:`s/(s + 1)` times the
probability of two votes on two items, which gives s from the votes of the pilot:

.. math:: \frac{s}{s + 1} = \frac{\sum_i D_i + \frac23 D}{(n + 1) D}, \quad
    D_i = \frac{m}{m - 1} \Bigl(1 - \sum_k p_{ik}^2\Bigr), \quad D = 1 - \sum_k \pi_k^2,

over the n items with several votes, and one imagined item more at s = 2, which is what remains
when no item has two. Without that item s is (1 - alpha)/alpha for Krippendorff's alpha. Items
of known truth are certain, and tell nothing about votes.

**One more vote.** The total of the law is :math:`A = m + s`, its mean :math:`\tilde p_i`. The
difference of two models among all voters is expected to be that at :math:`\tilde p`, and
depends on item i there with slope :math:`h_{ik}` towards class k. The part of its variance
that is due to the item is

.. math:: V_i = \frac{\sum_k \tilde p_{ik} h_{ik}^2}{A + 1}

(for a yes/no question slope squared times :math:`\tilde p (1 - \tilde p)/(A + 1)`), and one
more vote is expected to take :math:`g_i = V_i / (A + 1)` of it away: for two models this is the
expected gain. It moves the difference by mean votes by
:math:`s_i = \sum_k (\tilde p_{ik} - p_{ik}) h_{ik} / (m + 1)` on average, and
:math:`r_i = (A + 1)/(m + 1)` times as far as the expected one.

**Whether the order is wrong.** Among all possible voters the difference D of two models is
normal with mean :math:`\tilde d` and variance V. The order is read from mean votes: now from
the difference d of the pilot, after the votes from S, which is normal around
:math:`\mu = d + \sum_i s_i` with variance :math:`\sum_i r_i^2 g_i` and the covariance
:math:`\sum_i r_i g_i` with D. The order is wrong where the two have different signs:

.. math:: \Phi(-\tilde d / \sqrt V) \text{ now}, \quad
    2 T(h, a_h) + 2 T(k, a_k) + [hk < 0] \text{ then},

with :math:`h = \mu / \sigma_S`, :math:`k = \tilde d / \sqrt V`, their correlation :math:`\rho`,
:math:`a_h = (k/h - \rho)/\sqrt{1 - \rho^2}`, :math:`a_k` likewise, and Owen's function T.

**The whole order.** Models stand in the order of the pilot, best first; pair j is model j and
the next one. With :math:`V_j = \sum_i V_{ij}` and :math:`z_j = \tilde d_j / \sqrt{V_j}`, the
order of the pair holds among all possible voters with probability :math:`P_j = \Phi(z_j)`. The
uncertainty about the ranking is

.. math:: U = \sum_j 2 P_j (1 - P_j),

the expected number of neighbouring pairs that two resamples of what all voters would say put in
different order. A vote on item i moves the expected difference by a random amount of mean 0,
whose variance is exactly :math:`g_{ij}`, and with it :math:`P_j`. Its expected gain is the fall
of the uncertainty, to first order in :math:`g`:

.. math:: \text{gain}_i = 2 \sum_j \varphi(z_j)^2 \, g_{ij} / V_j .

The probability that the order is wrong, :math:`\Phi(-z_j)`, would not do in place of it: its
expectation stays the same under any vote that cannot turn the order round, so that single votes
gain nothing. Many together do. To first order gains add up, so the items with the largest gains
are the best batch. In a large batch they overlap: a pair may be settled before all votes that
were meant for it are in. Send the items in parts, and ask again after each.
"""

import csv
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from equipoise.annotations import Annotations
from equipoise.arrays import (
    Floats,
    InputError,
    Ints,
    PerItem,
    frozen,
    listed,
    require_whole,
    wrong_type,
)
from equipoise.evaluation.arguments import as_predictions
from equipoise.findings import Cell, Dot, Dots, Finding, Table, columns, rows_of
from equipoise.metrics import Metric, titled
from equipoise.notices import Notice
from equipoise.numbers import count, percent, significant
from equipoise.planning._pilot import Pilot, Progress, neighbours, pilot, require_finite
from equipoise.predictions import Predictions
from equipoise.read.files import replaced
from equipoise.wording import joined

USUAL = 2 / 3  # s/(s + 1) of the imagined item
MOST = 0.95  # of s/(s + 1), where votes on one item differ as much as any
TIE = 1e-12  # difference up to which models are tied
NOISE = 1e-20  # variance below which a difference does not move with the votes
RISE = 5e-4  # of a probability, which shows in the digits that are told
DIGITS = 9  # to which gains must differ to stand in order
TINY = 1e-300  # in place of a mean of exactly 0, whose side does not matter
NOBODY: Ints = np.arange(0)
DRAWN = 12  # items in the figure
KNOWN = ("votes so far", "soft label", "expected gain")
LAW_NOTE = (
    "What all voters would say of an item follows a Dirichlet law: its votes, and imagined "
    "ones beforehand, as many as fit how often votes on one item differ (two where no item has "
    "two votes), and shared out as the labels of all items are on average. How likely the "
    "order is wrong follows from that law, which knows nothing of what the models say of an "
    "item; models that are good and much alike are in the wrong order somewhat more often. "
)
PAIR_GAIN = (
    "Expected gain: by how much one more vote on the item is expected to lower the variance of "
    "the difference, in squared units of the metric. Gains add up, so the items with the "
    "largest make the best batch."
)
RANKING_GAIN = (
    "Expected gain: the fall, by one more vote on the item, of the number of pairs of "
    "neighbours that two resamples of what all voters would say put in different order. To "
    "first order gains add up; in a large batch they overlap, so send the items in parts and "
    "plan again."
)


def _vote_shares(two: Pilot) -> tuple[Floats, PerItem, float]:
    """What all possible voters would say of each item: Dirichlet laws fitted to a pilot.

    Returns expected shares, shape (classes, items); how many equal votes the weighted votes of
    each item are worth, shape (items,); and how many votes are imagined besides, from how often
    votes on one item differ.
    """
    whole, start, weight = two.distributions(), two.votes.start[:-1], two.votes.weight
    worth = np.add.reduceat(weight, start) ** 2 / np.add.reduceat(weight**2, start)
    voted = whole[:, ~two.gold]
    usual = (voted.sum(axis=1) + 1 / len(whole)) / (voted.shape[1] + 1)
    several = worth[~two.gold] > 1 + 1e-9
    number = worth[~two.gold][several]
    apart = (1 - (voted[:, several] ** 2).sum(axis=0)) * number / (number - 1)
    differ = 1 - float((usual**2).sum())
    share = min((float(apart.sum()) / differ + USUAL) / (len(number) + 1), MOST)
    imagined = share / (1 - share)
    mean = (whole * worth + imagined * usual[:, None]) / (worth + imagined)
    return np.where(two.gold, whole, mean), np.asarray(worth), imagined


class MisorderingRisk(NamedTuple):
    """Differences of pairs of models, each of shape (pairs,).

    Attributes
    ----------
    found
        By mean votes in the pilot, of the model that is ahead there; 0 for tied ones.
    expected, variance
        Mean and variance among all possible voters, given the votes.
    seen, moved, shared
        By mean votes after the new votes: mean, variance, and covariance with the former.
    """

    found: Floats
    expected: Floats
    variance: Floats
    seen: Floats
    moved: Floats
    shared: Floats

    def standardised(self) -> Floats:
        """Expected differences in standard errors; infinite, or 0, without any."""
        sure = np.where(self.expected == 0, 0.0, np.copysign(np.inf, self.expected))
        error = np.sqrt(self.variance)
        return np.divide(self.expected, error, out=sure, where=error > 0)

    def wrong_now(self) -> Floats:
        """Probability that the order of the pilot is wrong; one half for tied models."""
        from scipy.special import ndtr

        return np.where(self.found == 0, 0.5, ndtr(-self.standardised()))

    def wrong_then(self) -> Floats:
        """Probability that the order by mean votes is wrong after the new votes."""
        known = (self.variance > 0) & (self.moved > 0)
        spread = np.sqrt(np.where(known, self.variance, 1.0))
        reach = np.sqrt(np.where(known, self.moved, 1.0))
        both = np.where(known, self.shared, 0.0) / (spread * reach)
        then = opposite_signs(self.seen / reach, self.expected / spread, both)
        return np.where(known, then, self.wrong_now())


def opposite_signs(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """Probability that two normal numbers of variance 1 with these means differ in sign.

    Examples
    --------
    >>> opposite_signs(np.array([0.0, 5.0]), np.array([0.0, 0.0]), np.array([0.5, 0.0]))
    array([0.333, 0.5  ])
    """
    from scipy.special import owens_t

    h, k = (np.where(one == 0, TINY, one) for one in (first, second))
    rest = np.sqrt(np.maximum(1 - correlation**2, TINY))
    with np.errstate(over="ignore"):
        tails = owens_t(h, (k / h - correlation) / rest) + owens_t(
            k, (h / k - correlation) / rest
        )
    return np.asarray(np.clip(2 * tails + (np.sign(h) != np.sign(k)), 0.0, 1.0))


def _check_keywords(
    where: str, number: int, how: Mapping[str, Any], known: Sequence[str]
) -> None:
    """Check how many items are asked for, and the further keywords."""
    require_whole(f"{where}, number", number, least=1)
    unknown = sorted(set(how) - set(known))
    if unknown:
        raise InputError(where, f"{listed(unknown)}", joined(known, "or"), "correct it")
    require_whole(f"{where}, seed", how.get("seed", 0), do="try 0")
    progress = how.get("progress")
    if progress is not None and not callable(progress):
        raise wrong_type(f"{where}, progress", progress, "a function", "leave it out")


class _NextVote(NamedTuple):
    """What one more vote on each item does to the difference of two models.

    Attributes
    ----------
    expected
        The difference expected among all possible voters, given the votes so far.
    part, gain
        Part of each item in its variance, and what one more vote is expected to take away.
    shift
        By how much that vote is expected to move the difference by mean votes.
    stretch
        How much further it moves that than the expected difference.
    imagined
        Votes that are imagined on every item besides its own.
    """

    expected: float
    part: PerItem
    gain: PerItem
    shift: PerItem
    stretch: PerItem
    imagined: float


def _one_more_vote(two: Pilot, progress: Progress | None) -> _NextVote:
    """Look one vote ahead on every item."""
    whole, (mean, number, imagined) = two.distributions(), _vote_shares(two)
    total = number + imagined
    with np.errstate(invalid="ignore"):
        there = two.with_labels(mean)
    worse = {math.inf: [two.b], -math.inf: [two.a]}.get(there.difference, [two.a, two.b])
    require_finite(two.metric, worse if not math.isfinite(there.difference) else ())
    slope = there.effects(np.ones(whole.shape, dtype=bool), progress)
    centre = (mean * slope).sum(axis=0)
    part = (mean * (slope - centre) ** 2).sum(axis=0) / (total + 1)
    part = np.where(two.gold | (part.sum() <= NOISE), 0.0, part)
    shift = ((mean - whole) * slope).sum(axis=0) / (number + 1)
    return _NextVote(
        expected=there.difference if abs(there.difference) > TIE else 0.0,
        part=part,
        gain=part / (total + 1),
        shift=np.where(part > 0, shift, 0.0),
        stretch=(total + 1) / (number + 1),
        imagined=imagined,
    )


def _misordering_risk(
    pairs: Sequence[Pilot], votes: Sequence[_NextVote], chosen: Ints
) -> MisorderingRisk:
    """Differences of pairs of models now, and after one more vote on each chosen item."""
    found = np.array([two.difference if two.difference > TIE else 0.0 for two in pairs])
    gain, shift = (
        np.stack([getattr(vote, name)[chosen] for vote in votes]) for name in ("gain", "shift")
    )
    stretch = votes[0].stretch[chosen]
    expected, variance = ([one.expected for one in votes], [one.part.sum() for one in votes])
    seen = (found + shift.sum(axis=1), gain @ stretch**2, gain @ stretch)
    return MisorderingRisk(*map(frozen, (found, np.array(expected), np.array(variance), *seen)))


def _pair_notices(
    pairs: Sequence[Pilot], risk: MisorderingRisk, *, ranking: bool
) -> Iterator[Notice]:
    """Neighbours that no vote can put in an order, and pairs more likely wrong than right."""
    tied = (risk.found == 0) & (risk.variance == 0)
    turned = (risk.found > 0) & (risk.expected < 0)
    same = [f"{two.a} and {two.b}" for two, alike in zip(pairs, tied, strict=True) if alike]
    odd = [f"{two.a} ahead of {two.b}" for two, one in zip(pairs, turned, strict=True) if one]
    if same and ranking:
        text = "Tied, and no vote changes that: {pairs}."
        yield Notice("tied", text, values={"pairs": "; ".join(same)})
    if odd:
        yield Notice(
            "order_turns",
            "The votes of the pilot put {pairs}. But few votes on an item say little, and with "
            "the imagined votes on each item the order turns round: it is more likely wrong "
            "than right.",
            values={"pairs": "; ".join(odd)},
        )


def _largest(gain: PerItem, number: int, seed: int) -> Ints:
    """Items of largest gain, best first; those of equal gain in random order, of none not.

    Examples
    --------
    >>> _largest(np.array([0.1, 0.4, 0.0, 0.3]), number=4, seed=0)
    array([1, 3, 0])
    """
    shuffle = np.random.default_rng(seed).permutation(len(gain))
    size = np.round(gain[shuffle] / max(gain.max(), 1e-300), DIGITS)
    order = np.argsort(-size, kind="stable")[:number]
    return np.asarray(shuffle[order[size[order] > 0]])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _NamedItems(ABC):
    """Items worth another vote, best first: what both lists have.

    Attributes
    ----------
    metric
        What models are compared by.
    outlook
        Difference of each model to the next in the pilot, among all voters, and after the
        votes.
    pilot_items, asked, imagined
        How many items the pilot has, how many were to be named, and how many votes are
        imagined on each item besides its own.
    items, votes, soft_label, gain
        Names, votes so far, soft labels (of the positive class, or the largest), and what one
        more vote is expected to bring.
    task
        Which question, where one was named.
    notices
        What the user should know.
    """

    metric: str
    outlook: MisorderingRisk
    pilot_items: int
    asked: int
    imagined: float
    items: tuple[str, ...]
    votes: Ints
    soft_label: PerItem
    gain: PerItem
    task: str = ""
    notices: tuple[Notice, ...] = ()

    GAIN: ClassVar[str]
    METHODS: ClassVar[str]

    def __post_init__(self) -> None:
        for name in ("votes", "soft_label", "gain"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def _more(self) -> dict[str, NDArray[np.generic]]:
        """Further columns."""
        return {}

    def rows(self) -> list[dict[str, Cell]]:
        """One line per item."""
        ranks = np.arange(1, len(self.items) + 1)
        known = zip(KNOWN, (self.votes, self.soft_label, self.gain), strict=True)
        return rows_of({}, {"item": self.items}, {**dict(known), "rank": ranks, **self._more()})

    def sheet(self) -> list[dict[str, Cell]]:
        """The items as lines to fill in, which can be read as votes when they are.

        The rank is left to the order of the lines: a column of that name would be read as
        ranks.
        """
        task = {"task": self.task} if self.task else {}
        lines: list[dict[str, Cell]] = []
        for row in self.rows():
            more = {name: one for name, one in row.items() if name not in ("item", "rank")}
            lines.append({"item": row["item"], **task, "annotator": "", "label": "", **more})
        return lines

    def write(self, path: str | Path) -> None:
        """Write the items as a CSV to fill in: empty columns annotator and label.

        Filled in, it is read as votes by `equipoise.read_annotations`; lines without a label
        are left out.
        """
        if not isinstance(path, str | Path):
            raise wrong_type("next items", path, "the name of a file", "try 'next.csv'")
        task = ["task"] if self.task else []
        heads = ["item", *task, "annotator", "label", *KNOWN, *self._more()]
        text = io.StringIO()
        lines = csv.DictWriter(text, heads, lineterminator="\n")
        lines.writeheader()
        lines.writerows(self.sheet())
        with replaced(path) as file:
            file.write(text.getvalue().encode())

    def _batch(self) -> str:
        """Name the items of the list, and say why they may be fewer than asked for."""
        number = len(self.items)
        if 1 < number == self.pilot_items:
            return f"each of the {count(number)} items of the pilot"
        items = f"each of these {count(number)} items" if number > 1 else "this item"
        few = f" (a vote on any other tells nothing, though {count(self.asked)} were asked for)"
        return items + (few if number < self.asked else "")

    @property
    @abstractmethod
    def finding(self) -> str:
        """What the list is good for, as a sentence."""

    def report(self) -> Finding:
        """The finding for every surface."""
        whole = Finding(
            key="next",
            title="Which votes come next?",
            sentence=self.finding,
            note=LAW_NOTE + self.GAIN,
            notices=self.notices,
        )
        if not self.items:
            return whole
        most = float(self.gain.max())
        dots = [
            Dot(item, float(each) / most, remark=significant(float(each)))
            for item, each in zip(self.items[:DRAWN], self.gain, strict=False)
        ]
        table = Table(
            name="plan_next",
            caption="Items worth one more vote, those that tell most first",
            columns=(
                *columns("text", "item"),
                *columns("count", "votes so far"),
                *columns("number", "soft label"),
                *columns("figures", "expected gain"),
                *columns("text", *self._more()),
            ),
            rows=self.sheet(),
            legend=self.GAIN,
        )
        chart = Dots(
            name="plan-next",
            caption="Expected gain of one more vote, as a share of the largest; first "
            f"{len(dots)} of {count(len(self.items), 'item')} named",
            axis="share of the largest gain",
            rows=dots,
            zero=True,
        )
        methods = (
            f"Items for further annotation were ranked by {self.METHODS} through one more "
            "vote, with a Dirichlet law for the shares of each item: its votes, and "
            f"{significant(self.imagined)} imagined ones (by how often votes on one item of "
            "the pilot differ), shared out as its mean labels [@owen1956]."
        )
        return replace(
            whole, tables=(table,), charts=(chart,), methods=methods, references=("owen1956",)
        )


def _risen(now: float, then: float) -> str:
    """Why new votes may leave an order less sure than it is."""
    if then <= now + RISE:
        return ""
    return " It rises because single votes may turn the order of close models round by chance."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NextItems(_NamedItems):
    """Items worth another vote for the order of two models, best first.

    Attributes
    ----------
    a, b
        Which two models; a is ahead in the pilot unless they are tied.
    gain
        Expected reduction of the variance of the difference by one more vote.
    """

    a: str
    b: str

    GAIN: ClassVar[str] = PAIR_GAIN
    METHODS: ClassVar[str] = "the expected fall of the variance of the difference"

    @property
    def difference(self) -> float:
        """By how much a is better than b by the mean votes of the pilot."""
        return float(self.outlook.found[0])

    @property
    def expected(self) -> float:
        """The same among all possible voters, as expected; below 0 where b is ahead."""
        return float(self.outlook.expected[0])

    @property
    def variance(self) -> float:
        """Variance of the latter that votes leave."""
        return float(self.outlook.variance[0])

    def wrong_order(self) -> tuple[float, float]:
        """Probability that mean votes put the two models in the wrong order: now, and then.

        The right order is that on the items of the pilot if everybody had voted on them; then
        is after one more vote on each of the items.
        """
        return float(self.outlook.wrong_now()[0]), float(self.outlook.wrong_then()[0])

    @property
    def finding(self) -> str:
        """What the list is good for, as a sentence."""
        if not self.items:
            return (
                f"No vote on any item changes what tells {self.a} from {self.b} by "
                f"{titled(self.metric)}."
            )
        now, then = (percent(chance, 1) for chance in self.wrong_order())
        goes = f"stays at {now}" if now == then else f"goes from {now} to {then}"
        share = float(self.gain.sum()) / self.variance
        return (
            f"One more vote on {self._batch()} is expected to remove {percent(share, 1)} of "
            f"the variance that votes leave in the difference of {self.a} and {self.b}. The "
            "probability that too few votes have put the two in the wrong order on the "
            f"{count(self.pilot_items)} items of the pilot {goes}."
            f"{_risen(*self.wrong_order())}"
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NextForRanking(_NamedItems):
    """Items worth another vote when the whole order matters, best first.

    Attributes
    ----------
    models
        All models, best first.
    gain
        Expected fall, by one more vote, of the number of neighbours that two resamples of what
        all voters would say put in different order.
    lowered
        By how much one more vote on each item is expected to lower the variance of each
        difference, shape (pairs, items).
    """

    models: tuple[str, ...]
    lowered: Floats

    GAIN: ClassVar[str] = RANKING_GAIN
    METHODS: ClassVar[str] = (
        "the expected fall of the number of neighbouring models that two resamples of all "
        "voters' shares put in different order"
    )

    def __post_init__(self) -> None:
        _NamedItems.__post_init__(self)
        object.__setattr__(self, "lowered", frozen(self.lowered))

    def _more(self) -> dict[str, NDArray[np.generic]]:
        """The pair that each item tells most about."""
        pairs = np.array([f"{a} / {b}" for a, b in pairwise(self.models)], dtype=object)
        most = (_weights(self.outlook)[:, None] * self.lowered).argmax(axis=0)
        return {"tells most about": np.array(pairs[most], dtype=np.str_)}

    @property
    def difference(self) -> Floats:
        """Of each model to the next by the mean votes of the pilot, shape (pairs,)."""
        return self.outlook.found

    @property
    def expected(self) -> Floats:
        """The same among all possible voters, as expected; below 0 where the next is ahead."""
        return self.outlook.expected

    @property
    def variance(self) -> Floats:
        """Variance of the latter that votes leave, shape (pairs,)."""
        return self.outlook.variance

    def doubt(self) -> float:
        """Neighbouring pairs that two resamples put in different order, expected now."""
        from scipy.special import ndtr

        right = ndtr(self.outlook.standardised())
        return float((2 * right * (1 - right))[self.variance > 0].sum())

    def wrong_pairs(self) -> tuple[float, float]:
        """Neighbouring pairs in the wrong order, expected now and after one vote on each."""
        known = self.variance > 0
        now, then = self.outlook.wrong_now(), self.outlook.wrong_then()
        return float(now[known].sum()), float(then[known].sum())

    @property
    def finding(self) -> str:
        """What the list is good for, as a sentence."""
        if not self.items:
            return (
                "No vote on any item changes what tells neighbouring models apart by "
                f"{titled(self.metric)}."
            )
        share = float(self.gain.sum()) / self.doubt()
        now, then = (significant(one) for one in self.wrong_pairs())
        total = int(((self.variance > 0) | (self.difference > 0)).sum())
        still = "still " if now == then else ""
        return (
            f"One more vote on {self._batch()} is expected to remove {percent(share, 1)} of "
            "the uncertainty about who is ahead of whom. If everybody voted on all items of "
            f"the pilot, on average {now} of {count(total, 'pair of neighbours')} would change "
            f"places; after these votes {still}{then}.{_risen(*self.wrong_pairs())}"
        )


class RankingKeywords(TypedDict, total=False):
    """Further keywords of `next_for_ranking`: the task, the seed, and progress."""

    task: str | None
    seed: int
    progress: Progress | None


class ItemKeywords(RankingKeywords, total=False):
    """Further keywords of `next_items`: and which models."""

    models: tuple[str, str] | None


def next_items(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    metric: str | Metric = "auroc",
    number: int = 50,
    **how: Unpack[ItemKeywords],
) -> NextItems:
    """Rank items by what one more vote on each is expected to bring.

    Parameters
    ----------
    predictions, annotations, metric
        As for `plan_size`.
    number
        How many items to name.
    **how
        `models` (by default the two best), `task`, `seed` (items of equal gain stand in
        random order), `progress`.

    Examples
    --------
    >>> votes = Annotations.from_counts(np.array([[2, 0], [1, 1], [0, 2], [2, 0], [0, 2]]))
    >>> a = Predictions("a", votes.items, np.array([0.1, 0.5, 0.9, 0.2, 0.8]))
    >>> b = Predictions("b", votes.items, np.array([0.1, 0.9, 0.5, 0.2, 0.4]))
    >>> next_items([a, b], votes.against("1"), number=2).items
    ('1', '2')
    """
    _check_keywords("next items", number, how, ("models", "task", "seed", "progress"))
    two = pilot(predictions, annotations, metric, how.get("models"), how.get("task"))
    vote = _one_more_vote(two, how.get("progress"))
    chosen = _largest(vote.gain, number, how.get("seed", 0))
    risk = _misordering_risk([two], [vote], chosen)
    told = (*two.notices, *_pair_notices([two], risk, ranking=False))
    own = _named_items(two, vote.gain, chosen, number, how.get("task"))
    return NextItems(
        a=two.a, b=two.b, outlook=risk, imagined=vote.imagined, notices=told, **own
    )


def _named_items(
    two: Pilot, gain: PerItem, chosen: Ints, number: int, task: str | None
) -> dict[str, Any]:
    """What both lists say of the chosen items."""
    label = two.shares[0] if len(two.shares) == 1 else two.shares.max(axis=0)
    return {
        "metric": two.metric.name,
        "pilot_items": len(two.items),
        "asked": number,
        "items": tuple(two.items[i] for i in chosen),
        "votes": two.votes.sizes[chosen],
        "soft_label": label[chosen],
        "gain": gain[chosen],
        "task": task or "",
    }


def next_for_ranking(
    predictions: Iterable[Predictions],
    annotations: Annotations,
    metric: str | Metric = "auroc",
    number: int = 50,
    **how: Unpack[RankingKeywords],
) -> NextForRanking:
    """Rank items by what one more vote on each is expected to bring for the whole order.

    Parameters
    ----------
    predictions, annotations, metric
        As for `plan_ranking`.
    number
        How many items to name.
    **how
        `task`, `seed` (items of equal gain stand in random order), `progress`.

    Examples
    --------
    >>> votes = Annotations.from_counts(np.array([[2, 0], [1, 1], [0, 2], [2, 0], [0, 2]]))
    >>> scores = {"a": [0.1, 0.5, 0.9, 0.2, 0.8], "b": [0.1, 0.9, 0.5, 0.2, 0.4]}
    >>> two = [Predictions(name, votes.items, np.array(s)) for name, s in scores.items()]
    >>> next_for_ranking(two, votes.against("1"), number=2).items
    ('1', '2')
    """
    _check_keywords("next for ranking", number, how, ("task", "seed", "progress"))
    progress, pairs, votes = how.get("progress"), list[Pilot](), list[_NextVote]()
    each = neighbours(as_predictions(predictions), annotations, metric, how.get("task"))
    for done, (two, whole) in enumerate(each, 1):
        pairs.append(two)
        votes.append(_one_more_vote(two, None))
        if progress is not None:
            progress(done, whole)
    first, lowered = pairs[0], np.stack([one.gain for one in votes])
    gain = _weights(_misordering_risk(pairs, votes, NOBODY)) @ lowered
    chosen = _largest(gain, number, how.get("seed", 0))
    risk = _misordering_risk(pairs, votes, chosen)
    return NextForRanking(
        models=(first.a, *(two.b for two in pairs)),
        outlook=risk,
        imagined=votes[0].imagined,
        lowered=lowered[:, chosen],
        notices=(*first.notices, *_pair_notices(pairs, risk, ranking=True)),
        **_named_items(first, gain, chosen, number, how.get("task")),
    )


def _weights(risk: MisorderingRisk) -> Floats:
    """What lowering each variance by one lowers the uncertainty, shape (pairs,)."""
    known = risk.variance > 0
    safe = np.where(known, risk.variance, 1.0)
    density = np.exp(-(risk.expected**2) / (2 * safe)) / math.sqrt(2 * math.pi)
    return np.where(known, 2 * density**2 / safe, 0.0)

r"""Which items to send for one more vote, so that the order of the models becomes surer.

**What all voters would say.** The share :math:`q_i` of all possible voters behind the soft
label of item i is not known. It is Dirichlet: the m votes of the item, and s imagined ones
beforehand that are shared out over the classes as the soft labels of all items are on average,
:math:`\pi`. So neither their number nor their direction depends on how many classes there are.
Two votes on one item then differ with :math:`s/(s + 1)` times the
probability of two votes on two items, which gives s from the votes of the pilot:

.. math:: \frac{s}{s + 1} = \frac{\sum_i D_i + \frac23 D}{(n + 1) D}, \quad
    D_i = \frac{m}{m - 1} \Bigl(1 - \sum_k p_{ik}^2\Bigr), \quad D = 1 - \sum_k \pi_k^2,

over the n items with several votes, and one imagined item more at s = 2, which is what remains
when no item has two. Without that item s is (1 - alpha)/alpha for Krippendorff's alpha. Items
of known truth are certain, and tell nothing about votes.

**One more vote.** Its total is :math:`A = m + s`, its mean :math:`\tilde p_i`. The
difference of two models depends on item i there with slope :math:`h_{ik}` towards class k. The
part of its variance that is due to the votes on the item is

.. math:: V_i = \frac{\sum_k \tilde p_{ik} h_{ik}^2}{A + 1}

(for a yes/no question slope squared times :math:`\tilde p (1 - \tilde p)/(A + 1)`), and one
more vote is expected to take :math:`g_i = V_i / (A + 1)` of it away: for two models this is the
expected gain. The variance of the difference for items and annotators like these (two-way, as
`equipoise.evaluate` has it) falls by the sum of the gains; what items and the habits of
annotators leave stays.

**The whole order.** Models stand in the order of the pilot, best first; pair j is model j and
the next one, with the difference :math:`d_j` and its two-way variance :math:`W_j`. With
:math:`z_j = d_j / \sqrt{W_j}` and :math:`P_j = \Phi(z_j)` the uncertainty about the ranking is

.. math:: U = \sum_j 2 P_j (1 - P_j),

the expected number of neighbouring pairs that two studies like this put in different order. The
expected gain of a vote is its fall, to first order in :math:`g`:

.. math:: \text{gain}_i = 2 \sum_j \varphi(z_j)^2 \, g_{ij} / W_j .

Close pairs count most, settled ones nothing. To first order gains add up, so the items with the
largest gains are the best batch. In a large batch they overlap: send the items in parts, and
ask again after each.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.metrics import Metric, titled
from equipoise.read.writing import replaced
from equipoise.study.analyses.scoring import freeze
from equipoise.study.planning.pilot import Pilot, pilots, require_finite
from equipoise.study.planning.power_analysis import power_target
from equipoise.study.planning.size import SizePlan
from equipoise.types import (
    Annotations,
    Cell,
    Dot,
    Dots,
    Finding,
    Floats,
    Ints,
    Names,
    Notices,
    PerItem,
    Predictions,
    Progress,
    Table,
    columns,
    count,
    csv_text,
    immutable,
    percent,
    require_keywords,
    require_whole,
    rows_of,
    short_repr,
    significant,
    wrong_type,
)

USUAL = 2 / 3  # s/(s + 1) of the imagined item
MOST = 0.95  # of s/(s + 1), where votes on one item differ as much as any
NOISE = 1e-20  # variance below which a difference does not move with the votes
DIGITS = 9  # to which gains must differ to stand in order
DRAWN = 12  # items in the figure
KNOWN = ("votes so far", "soft label", "expected gain")
LAW_NOTE = (
    "What all voters would say of an item follows a Dirichlet distribution: its votes, and "
    "imagined ones beforehand, as many as fit how often votes on one item differ (two where no "
    "item has two votes), and shared out as the labels of all items are on average. More votes "
    "lower neither what the choice of items leaves nor the habits of annotators. "
)
PAIR_GAIN = (
    "Expected gain: by how much one more vote on the item is expected to lower the variance of "
    "the difference, in squared units of the metric. Gains add up, so the items with the "
    "largest make the best batch."
)
RANKING_GAIN = (
    "Expected gain: the fall, by one more vote on the item, of the number of pairs of "
    "neighbours that two studies like this put in different order. To first order gains add "
    "up; in a large batch they overlap, so send the items in parts and plan again."
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


class _NextVote(NamedTuple):
    """What one more vote on each item does to the difference of two models.

    Attributes
    ----------
    part, gain
        Part of each item in its variance, and what one more vote is expected to take away.
    imagined
        Votes that are imagined on every item besides its own.
    """

    part: PerItem
    gain: PerItem
    imagined: float


def _one_more_vote(two: Pilot, progress: Progress | None) -> _NextVote:
    """Look one vote ahead on every item."""
    mean, number, imagined = _vote_shares(two)
    total = number + imagined
    with np.errstate(invalid="ignore"):
        there = two.difference_with(mean)
    worse = {math.inf: [two.b], -math.inf: [two.a]}.get(there, [two.a, two.b])
    require_finite(two.metric, worse if not math.isfinite(there) else ())
    slope = two.effects(mean, progress)
    part = (mean * slope**2).sum(axis=0) / (total + 1)
    part = np.where(two.gold | (part.sum() <= NOISE), 0.0, part)
    return _NextVote(part, part / (total + 1), imagined)


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


@immutable(eq=False, kw_only=True)
class NextItems:
    """Items worth another vote, best first: for the order of two models, or of all.

    Attributes
    ----------
    metric, models, ranks
        What models are compared by, which, best first (two that are tied as they were named),
        and whether the order of all matters or the difference of the two.
    difference, variance
        Of each model to the next: in the pilot, and its variance for items and annotators
        like these, both of shape (pairs,).
    part
        Part of that variance that is due to single votes, shape (pairs,).
    pilot_items, asked, imagined
        How many items the pilot has, how many were to be named, and how many votes are
        imagined on each item besides its own.
    items, votes, soft_label, gain
        Names, votes so far, soft labels (of the positive class, or the largest), and what one
        more vote is expected to bring: by how much it lowers the variance of the difference, or
        the number of neighbours that two studies like this put in different order.
    lowered
        By how much one more vote on each item is expected to lower the variance of each
        difference, shape (pairs, items).
    task
        Which question, where one was named.
    notices
        What the user should know.
    """

    metric: str
    models: Names
    ranks: bool
    difference: Floats
    variance: Floats
    part: Floats
    pilot_items: int
    asked: int
    imagined: float
    items: Names
    votes: Ints
    soft_label: PerItem
    gain: PerItem
    lowered: Floats
    task: str = ""
    notices: Notices = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        freeze(self)

    def _more(self) -> dict[str, NDArray[np.generic]]:
        """The pair that each item tells most about, where there are several to choose from."""
        if not self.ranks:
            return {}
        pairs = np.array([f"{a} / {b}" for a, b in pairwise(self.models)], dtype=object)
        most = (_weights(self.difference, self.variance)[:, None] * self.lowered).argmax(axis=0)
        return {"tells most about": np.array(pairs[most], dtype=np.str_)}

    def rows(self) -> list[dict[str, Cell]]:
        """One line per item."""
        ranks = np.arange(1, len(self.items) + 1)
        facts = zip(KNOWN, (self.votes, self.soft_label, self.gain), strict=True)
        return rows_of({}, {"item": self.items}, {**dict(facts), "rank": ranks, **self._more()})

    @property
    def heads(self) -> list[str]:
        """Columns of the lines to fill in."""
        task = ["task"] if self.task else []
        return ["item", *task, "annotator", "label", *KNOWN, *self._more()]

    def sheet(self) -> list[dict[str, Cell]]:
        """The items as lines to fill in, which can be read as votes when they are.

        The rank is left to the order of the lines: a column of that name would be read as
        ranks.
        """
        task = {"task": self.task} if self.task else {}
        lines: list[dict[str, Cell]] = []
        for row in self.rows():
            more = {name: value for name, value in row.items() if name not in ("item", "rank")}
            lines.append({"item": row["item"], **task, "annotator": "", "label": "", **more})
        return lines

    def write(self, path: str | Path) -> None:
        """Write the items as a CSV to fill in: empty columns annotator and label.

        Filled in, it is read as votes by `equipoise.read_annotations`; lines without a label
        are left out.
        """
        write_next((self,), path)

    def _batch(self) -> str:
        """Name the items of the list, and say why they may be fewer than asked for."""
        number = len(self.items)
        if 1 < number == self.pilot_items:
            return f"each of the {count(number)} items of the pilot"
        items = f"each of these {count(number)} items" if number > 1 else "this item"
        few = f" (a vote on any other tells nothing, though {count(self.asked)} were asked for)"
        return items + (few if number < self.asked else "")

    def standard_error(self) -> tuple[float, float]:
        """Of the first difference for items and annotators like these: now, and after."""
        now = float(self.variance[0])
        return math.sqrt(now), math.sqrt(max(now - float(self.lowered[0].sum()), 0.0))

    def uncertainty(self) -> float:
        """Neighbouring pairs that two studies like this put in different order, expected."""
        from scipy.special import ndtr

        varies = self.variance > 0
        right = ndtr(self.difference[varies] / np.sqrt(self.variance[varies]))
        return float((2 * right * (1 - right)).sum())

    @property
    def finding(self) -> str:
        """What the list is good for, as a sentence."""
        a, b = self.models[:2]
        if not self.items:
            apart = "neighbouring models apart" if self.ranks else f"{a} from {b}"
            return f"No vote on any item changes what tells {apart} by {titled(self.metric)}."
        start = f"One more vote on {self._batch()} is expected to remove"
        if self.ranks:
            now = self.uncertainty()
            share = percent(float(self.gain.sum()) / now, 1)
            pairs = count(int((self.variance > 0).sum()), "pair of neighbours")
            return (
                f"{start} {share} of the uncertainty about who is ahead of whom: another study "
                f"like this would put {significant(now)} of {pairs} in another order."
            )
        before, after = (significant(error) for error in self.standard_error())
        goes = f"stays at {before}" if before == after else f"goes from {before} to {after}"
        share = percent(float(self.gain.sum()) / float(self.part[0]), 1)
        return (
            f"{start} {share} of what single votes leave in the variance of the difference of "
            f"{a} and {b}; its standard error for items and annotators like these {goes}."
        )

    def report(self) -> Finding:
        """The finding for every surface."""
        gain_note = RANKING_GAIN if self.ranks else PAIR_GAIN
        whole = Finding(
            key="next",
            title="Which votes come next?",
            sentence=self.finding,
            note=LAW_NOTE + gain_note,
            notices=self.notices,
        )
        if not self.items:
            return whole
        most = float(self.gain.max())
        dots = [
            Dot(item, float(gain) / most, remark=significant(float(gain)))
            for item, gain in zip(self.items[:DRAWN], self.gain, strict=False)
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
            legend=gain_note,
        )
        chart = Dots(
            name="plan-next",
            caption="Expected gain of one more vote, as a share of the largest; first "
            f"{len(dots)} of {count(len(self.items), 'item')} named",
            axis="share of the largest gain",
            rows=dots,
            zero=True,
        )
        falls = "variance of the difference"
        if self.ranks:
            falls = (
                "number of neighbouring models that two studies like this put in different "
                "order"
            )
        methods = (
            f"Items for further annotation were ranked by the expected fall of the {falls} "
            "through one more "
            "vote, with a Dirichlet distribution for the shares of each item: its votes, and "
            f"{significant(self.imagined)} imagined ones (by how often votes on one item of "
            "the pilot differ), shared out as its mean labels."
        )
        return replace(whole, tables=(table,), charts=(chart,), methods=methods)


def next_items(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    metric: str | Metric = "auroc",
    number: int = 50,
    *,
    models: tuple[str, str] | None = None,
    ranking: bool = False,
    **how: Any,
) -> NextItems:
    """Rank items by what one more vote on each is expected to bring.

    Parameters
    ----------
    predictions, annotations, metric, models, ranking
        As for `plan_size`.
    number
        How many items to name.
    **how
        `task`, `seed` (items of equal gain stand in random order), `progress`.

    Examples
    --------
    >>> votes = Annotations.from_counts(np.array([[2, 0], [1, 1], [0, 2], [2, 0], [0, 2]]))
    >>> a = Predictions("a", votes.items, np.array([0.1, 0.5, 0.9, 0.2, 0.8]))
    >>> b = Predictions("b", votes.items, np.array([0.1, 0.9, 0.5, 0.2, 0.4]))
    >>> next_items([a, b], votes.against("1"), number=2).items
    ('1', '2')
    >>> next_items([a, b], votes.against("1"), number=2, ranking=True).items
    ('1', '2')
    """
    require_keywords(how, ("task", "seed", "progress"))
    require_whole("next items, number", number, least=1)
    aim, votes = power_target(how), []
    progress = aim.progress
    pairs = pilots(predictions, annotations, metric, models, aim=aim, ranking=ranking)
    for done, two in enumerate(pairs, 1):
        votes.append(_one_more_vote(two, None if ranking else progress))
        if ranking and progress is not None:
            progress(done, len(pairs))
    apart, variance = np.array([two.difference for two in pairs]), _variances(pairs)
    lowered = np.stack([vote.gain for vote in votes])
    gain = _weights(apart, variance) @ lowered if ranking else lowered[0]
    chosen, two = _largest(gain, number, aim.seed), pairs[0]
    label = two.shares[0] if len(two.shares) == 1 else two.shares.max(axis=0)
    return NextItems(
        metric=two.metric.name,
        models=(two.a, *(pair.b for pair in pairs)),
        ranks=ranking,
        difference=apart,
        variance=variance,
        part=np.array([vote.part.sum() for vote in votes]),
        pilot_items=len(two.items),
        asked=number,
        imagined=votes[0].imagined,
        items=tuple(two.items[i] for i in chosen),
        votes=two.votes.sizes[chosen],
        soft_label=label[chosen],
        gain=gain[chosen],
        lowered=lowered[:, chosen],
        task=aim.task or "",
        notices=two.notices,
    )


def _variances(pairs: Sequence[Pilot]) -> Floats:
    """Two-way variance of every difference; 0 where models say the same."""
    variances = np.array([pair.spread.variance for pair in pairs])
    same = np.array([pair.spread.items <= NOISE for pair in pairs])
    return np.where(same, 0.0, variances)


def _weights(difference: Floats, variance: Floats) -> Floats:
    """What lowering each variance by one lowers the uncertainty, shape (pairs,)."""
    varies = variance > 0
    safe = np.where(varies, variance, 1.0)
    density = np.exp(-(difference**2) / (2 * safe)) / math.sqrt(2 * math.pi)
    return np.where(varies, 2 * density**2 / safe, 0.0)


STATES = {
    "planned": "planned",
    "tied": "models are tied",
    "no spread": "no spread",
    "not plannable": "open in this pilot: give a difference",
    "out of reach": "out of reach",
}


@immutable
class TaskPlan:
    """The plan for one task, and the votes that come next, where they were asked for."""

    task: str
    planned: SizePlan
    wanted: NextItems | None = None

    def row(self) -> dict[str, Cell]:
        """The hardest pair, what the recommended design takes, and how far that is known."""
        hard, best = self.planned.hardest, self.planned.recommended
        row: dict[str, Cell] = {
            "task": self.task,
            "a": hard.a,
            "b": hard.b,
            "difference": hard.difference,
            "low": hard.low,
            "high": hard.high,
            "planned_for": hard.resolved,
            "annotators": None if best is None else best.annotators,
            "items_per_group": None if best is None else best.shape.per_unit,
            "groups": None if best is None else best.groups,
            "items": None if best is None else best.items,
            "votes": None if best is None else best.votes,
            "cost": None if best is None else best.cost,
            "state": STATES["planned" if best is not None else hard.state],
        }
        return row


def write_next(lists: Sequence[NextItems], path: str | Path) -> None:
    """Write the items that come next, of all tasks, as one CSV to fill in."""
    if not isinstance(path, str | Path):
        raise wrong_type("next items", path, "the name of a file", "try 'next.csv'")
    heads = dict.fromkeys(head for wanted in lists for head in wanted.heads)
    rows = ([row.get(name) for name in heads] for wanted in lists for row in wanted.sheet())
    with replaced(path) as file:
        file.write(csv_text(list(heads), rows).encode())

r"""Which items to send for one more vote, so that the whole order of the models becomes surer.

Models stand in the order of the pilot, best first. Pair j is model j and the next one. The
difference :math:`\tilde d_j` that is expected among all possible voters, the part
:math:`V_{ij}` of its variance that the votes of item i leave, and
:math:`g_{ij} = V_{ij} / (A_i + 1)`, by which one more vote on the item is expected to lower it,
are those of `equipoise.planning.next_items`. With :math:`V_j = \sum_i V_{ij}` and
:math:`z_j = \tilde d_j / \sqrt{V_j}`, the order of the pair holds among all possible voters
with chance :math:`P_j = \Phi(z_j)`. The doubt about the ranking is

.. math:: U = \sum_j 2 P_j (1 - P_j),

the expected number of neighbouring pairs that two redraws of what all voters would say put in
different order. A vote on item i moves the expected difference by a random amount of mean 0,
whose variance is exactly :math:`g_{ij}`, and with it :math:`P_j`. Its expected gain is the fall
of the doubt, to first order in :math:`g`:

.. math:: \text{gain}_i = 2 \sum_j \varphi(z_j)^2 \, g_{ij} / V_j .

The chance that the order is wrong, :math:`\Phi(-z_j)`, would not do in place of the doubt: its
expectation stays the same under any vote that cannot turn the order round, so that single votes
gain nothing. Many together do; `equipoise.planning._outlook` has the chance after a batch.

To first order gains add up, so the items with the largest gains are the best batch. In a large
batch they overlap: a pair may be settled before all votes that were meant for it are in. Send
the items in parts, and ask again after each.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, Ints, PerItem, frozen
from equipoise.evaluation.given import given_predictions
from equipoise.metrics import Metric, titled
from equipoise.planning._next_vote import (
    Vote,
    batch,
    check_choice,
    largest,
    one_more_vote,
    outlook,
    risen,
    sheet,
    soft_labels,
    turned_round,
    write_items,
)
from equipoise.planning._outlook import Outlook
from equipoise.planning._pilot import Pilot, Progress, pilot
from equipoise.predictions import Predictions

COLUMNS = ("item", "votes so far", "soft label", "expected gain", "tells most about", "rank")
NOBODY: Ints = np.arange(0)


class RankingChoice(TypedDict, total=False):
    """Further keywords of `next_for_ranking`: the task, the seed, and progress."""

    task: str | None
    seed: int
    progress: Progress | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NextForRanking:
    """Items worth another vote when the whole order matters, best first.

    Attributes
    ----------
    metric, models
        What the models are ranked by, and all of them, best first.
    outlook
        Difference of each model to the next in the pilot, among all voters, and after the
        votes.
    pilot_items, asked, imagined
        How many items the pilot has, how many were to be named, and how many votes are
        imagined on each item besides its own.
    items, votes, soft_label, gain
        Names, votes so far, soft labels (of the positive class, or the largest) and expected
        fall of the doubt about the ranking by one more vote.
    lowered
        By how much that vote is expected to lower each variance, shape (pairs, items).
    task
        Which question, where one was named.
    notices
        What the user should know.
    """

    metric: str
    models: tuple[str, ...]
    outlook: Outlook
    pilot_items: int
    asked: int
    imagined: float
    items: tuple[str, ...]
    votes: Ints
    soft_label: PerItem
    gain: PerItem
    lowered: Floats
    task: str = ""
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("votes", "soft_label", "gain", "lowered"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def rows(self) -> list[dict[str, Any]]:
        """One line per item."""
        pairs = [f"{a} / {b}" for a, b in pairwise(self.models)]
        most = (_weights(self.outlook)[:, None] * self.lowered).argmax(axis=0)
        about = [pairs[j] for j in most]
        columns = zip(self.items, self.votes, self.soft_label, self.gain, about, strict=True)
        return [
            dict(zip(COLUMNS, (item, int(m), float(p), float(g), pair, rank), strict=True))
            for rank, (item, m, p, g, pair) in enumerate(columns, 1)
        ]

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
        """Neighbouring pairs that two redraws put in different order, expected now."""
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
        these = batch(len(self.items), self.asked, self.pilot_items)
        return (
            f"One more vote on {these} is expected to remove {share:.1%} of the doubt about "
            f"who is ahead of whom. {self._wrong()}{risen(*self.wrong_pairs())}"
        )

    def _wrong(self) -> str:
        """How many pairs would change places if all voters were asked, now and then."""
        now, then = (f"{one:.2g}" for one in self.wrong_pairs())
        total = int(((self.variance > 0) | (self.difference > 0)).sum())
        pairs = f"{total:,} neighbouring pairs" if total > 1 else "1 neighbouring pair"
        still = "still " if now == then else ""
        return (
            f"If everybody voted on all items of the pilot, on average {now} of {pairs} would "
            f"change places; after these votes {still}{then}."
        )

    def write(self, path: str | Path) -> None:
        """Write the items as a CSV to fill in: empty columns annotator and label.

        Filled in, it is read as votes by `equipoise.read_annotations`; lines without a label
        are left out.
        """
        rows = [{**row, "task": self.task} for row in self.rows()]
        write_items("next for ranking", path, rows, sheet(COLUMNS, self.task))


def next_for_ranking(
    predictions: Iterable[Predictions],
    annotations: Annotations,
    metric: str | Metric = "auroc",
    number: int = 50,
    **how: Unpack[RankingChoice],
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
    check_choice("next for ranking", number, how, ("task", "seed", "progress"))
    pairs, votes = _neighbours(predictions, annotations, metric, how)
    first, lowered = pairs[0], np.stack([one.gain for one in votes])
    gain = _weights(outlook(pairs, votes, NOBODY)) @ lowered
    chosen = largest(gain, number, how.get("seed", 0))
    seen = outlook(pairs, votes, chosen)
    names = [(two.a, two.b) for two in pairs]
    return NextForRanking(
        metric=first.metric.name, models=(first.a, *(b for _, b in names)), outlook=seen,
        pilot_items=len(first.items), asked=number, imagined=votes[0].imagined,
        items=tuple(first.items[i] for i in chosen),
        votes=first.votes.sizes[chosen], soft_label=soft_labels(first)[chosen],
        gain=gain[chosen], lowered=lowered[:, chosen],
        task=how.get("task") or "",
        notices=(*first.notices, *_alike(names, seen), *turned_round(names, seen)),
    )  # fmt: skip


def _neighbours(
    predictions: Iterable[Predictions], annotations: Annotations, metric: str | Metric,
    how: RankingChoice,
) -> tuple[list[Pilot], list[Vote]]:  # fmt: skip
    """Every model with the next, and what one more vote does to their difference."""
    given = given_predictions(predictions)
    task, progress = how.get("task"), how.get("progress")
    two_best = pilot(given, annotations, metric, None, task)
    names = list(pairwise(two_best.order))
    pairs, found = [], []
    for done, both in enumerate(names, 1):
        two = pilot(given, annotations, two_best.metric, both, task)
        pairs.append(two)
        found.append(one_more_vote(two, None))
        if progress is not None:
            progress(done, len(names))
    return pairs, found


def _alike(names: list[tuple[str, str]], seen: Outlook) -> list[str]:
    """Neighbours that no vote can put in an order."""
    level = (seen.found == 0) & (seen.variance == 0)
    same = [f"{a} and {b}" for (a, b), alike in zip(names, level, strict=True) if alike]
    return [f"Level, and no vote changes that: {'; '.join(same)}."] if same else []


def _weights(seen: Outlook) -> Floats:
    """What lowering each variance by one lowers the doubt, shape (pairs,)."""
    known = seen.variance > 0
    safe = np.where(known, seen.variance, 1.0)
    density = np.exp(-(seen.expected**2) / (2 * safe)) / math.sqrt(2 * math.pi)
    return np.where(known, 2 * density**2 / safe, 0.0)

r"""Which items to send for one more vote, so that the whole order of the models becomes surer.

Models stand in the order of the pilot, best first. Pair j is model j and the next one: the
difference :math:`d_j`, the part :math:`V_{ij}` of its variance that the votes of item i leave,
and :math:`g_{ij} = V_{ij} / (A_i + 1)`, by which one more vote on the item is expected to lower
it, are those of `equipoise.planning.next_items`. With :math:`V_j = \sum_i V_{ij}` and
:math:`z_j = d_j / \sqrt{V_j}`, the order of the pair holds among all possible voters with
chance :math:`P_j = \Phi(z_j)`. The doubt about the ranking is

.. math:: U = \sum_j 2 P_j (1 - P_j),

the expected number of neighbouring pairs that two redraws of what all voters would say put in
different order. A vote on item i moves the expected difference by a random amount of mean 0,
whose variance is exactly :math:`g_{ij}`, and with it :math:`P_j`. Its expected gain is the fall
of the doubt, to first order in :math:`g`:

.. math:: \text{gain}_i = 2 \sum_j \varphi(z_j)^2 \, g_{ij} / V_j .

The chance that the order is wrong, :math:`\Phi(-z_j)`, would not do in place of the doubt: its
expectation stays the same under any vote that cannot turn the order round, so that single votes
gain nothing. Many together do. After a batch with :math:`G_j = \sum_i g_{ij}` the expected
difference is normal around :math:`d_j` with variance :math:`G_j`, and the order found then is
wrong with chance

.. math:: 2 \, T\bigl(z_j, \sqrt{V_j / G_j - 1}\bigr), \quad T \text{ Owen's function},

which falls from :math:`\Phi(-z_j)` without votes to 0 when nothing is left in doubt.

To first order gains add up, so the items with the largest gains are the best batch. In a large
batch they overlap: a pair may be settled before all votes that were meant for it are in. Send
the items in parts, and ask again after each.
"""

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

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
from equipoise.evaluation.given import given_predictions
from equipoise.io.files import replaced
from equipoise.metrics import Metric, titled
from equipoise.planning._pilot import Pilot, Progress, pilot
from equipoise.planning.next_items import _gains
from equipoise.predictions import Predictions

COLUMNS = ("item", "votes so far", "soft label", "expected gain", "tells most about", "rank")
TIE = 1e-12  # difference up to which models are level
NOISE = 1e-20  # variance below which a difference does not move with the votes
DIGITS = 9  # to which gains must differ to stand in order


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
    difference, variance
        Of each model to the next, and what votes leave of its variance, shape (pairs,).
    items, votes, soft_label, gain
        Names, votes so far, soft labels (of the positive class, or the largest) and expected
        fall of the doubt about the ranking by one more vote.
    lowered
        By how much that vote is expected to lower each variance, shape (pairs, items).
    notices
        What the user should know.
    """

    metric: str
    models: tuple[str, ...]
    difference: Floats
    variance: Floats
    items: tuple[str, ...]
    votes: Ints
    soft_label: PerItem
    gain: PerItem
    lowered: Floats
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("difference", "variance", "votes", "soft_label", "gain", "lowered"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def rows(self) -> list[dict[str, Any]]:
        """One line per item, in the columns of the CSV."""
        weight = _weights(self.difference, self.variance)
        pairs = [f"{a} / {b}" for a, b in pairwise(self.models)]
        most = (weight[:, None] * self.lowered).argmax(axis=0)
        about = [pairs[j] if gain > 0 else "" for j, gain in zip(most, self.gain, strict=True)]
        columns = zip(self.items, self.votes, self.soft_label, self.gain, about, strict=True)
        return [
            dict(zip(COLUMNS, (item, int(m), float(p), float(g), pair, rank), strict=True))
            for rank, (item, m, p, g, pair) in enumerate(columns, 1)
        ]

    def doubt(self) -> float:
        """Neighbouring pairs that two redraws put in different order, expected now."""
        right = _phi(_standardised(self.difference, self.variance))
        return float((2 * right * (1 - right))[self.variance > 0].sum())

    def wrong_pairs(self) -> tuple[float, float]:
        """Neighbouring pairs in the wrong order, expected now and after one vote on each."""
        from scipy.special import owens_t

        z = _standardised(self.difference, self.variance)
        known = self.variance > 0
        total = np.minimum(self.lowered.sum(axis=1), self.variance)
        ratio = np.divide(self.variance, total, out=np.full(len(z), np.inf), where=total > 0)
        then = 2 * owens_t(z, np.sqrt(ratio - 1))
        return float(_phi(-z)[known].sum()), float(np.asarray(then)[known].sum())

    @property
    def finding(self) -> str:
        """What the list is good for, as a sentence."""
        if not self.gain.any():
            return (
                "No vote on any item changes what tells neighbouring models apart by "
                f"{titled(self.metric)}."
            )
        now, then = self.wrong_pairs()
        total = int(((self.variance > 0) | (self.difference > 0)).sum())
        pairs = f"{total:,} pairs" if total > 1 else "1 pair"
        number, share = len(self.items), float(self.gain.sum()) / self.doubt()
        each = f"each of these {number:,} items" if number > 1 else "this item"
        few = f"{then:.2g}" == f"{now:.2g}"
        goes = "and so few votes hardly change that" if few else f"{then:.2g} after the votes"
        return (
            f"One more vote on {each} is expected to remove {share:.1%} of the doubt about who "
            f"is ahead of whom. Of {pairs} of neighbours, {now:.2g} are expected to be in the "
            f"wrong order for want of votes on the items of the pilot, {goes}."
        )

    def write(self, path: str | Path) -> None:
        """Write the items as a CSV to annotate, in one step."""
        if not isinstance(path, str | Path):
            raise wrong_type("next for ranking", path, "the name of a file", "try 'next.csv'")
        text = io.StringIO()
        lines = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        lines.writeheader()
        lines.writerows(self.rows())
        with replaced(path) as file:
            file.write(text.getvalue().encode())


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
    require_whole("next for ranking, number", number, least=1)
    seed = require_whole("next for ranking, seed", how.get("seed", 0), do="try 0")
    if how.get("progress") is not None and not callable(how.get("progress")):
        raise wrong_type(
            "next for ranking, progress", how.get("progress"), "a function", "leave it out"
        )
    unknown = sorted(set(how) - {"task", "seed", "progress"})
    if unknown:
        raise InputError(
            "next for ranking", f"{listed(unknown)}", "task, seed or progress", "correct it"
        )
    pairs, parts, lowered = _neighbours(predictions, annotations, metric, how)
    first = pairs[0]
    gap, variance = np.array([two.difference for two in pairs]), parts.sum(axis=1)
    gap, variance = np.where(gap > TIE, gap, 0.0), np.where(variance > NOISE, variance, 0.0)
    gain = _weights(gap, variance) @ lowered
    shuffle = np.random.default_rng(seed).permutation(len(gain))
    size = np.round(gain[shuffle] / max(gain.max(), 1e-300), DIGITS)
    chosen = shuffle[np.argsort(-size, kind="stable")][:number]
    label = first.shares[0] if len(first.shares) == 1 else first.shares.max(axis=0)
    return NextForRanking(
        metric=first.metric.name, models=(first.a, *(two.b for two in pairs)),
        difference=gap, variance=variance, items=tuple(first.items[i] for i in chosen),
        votes=first.votes.sizes[chosen], soft_label=label[chosen], gain=gain[chosen],
        lowered=lowered[:, chosen], notices=(*first.notices, *_alike(pairs, gap, variance)),
    )  # fmt: skip


def _neighbours(
    predictions: Iterable[Predictions], annotations: Annotations, metric: str | Metric,
    how: RankingChoice,
) -> tuple[list[Pilot], Floats, Floats]:  # fmt: skip
    """Every model with the next, parts of their variances, and what a vote takes away."""
    given = given_predictions(predictions)
    task, progress = how.get("task"), how.get("progress")
    two_best = pilot(given, annotations, metric, None, task)
    names = list(pairwise(two_best.order))
    pairs, found = [], []
    for done, both in enumerate(names, 1):
        two = pilot(given, annotations, two_best.metric, both, task)
        pairs.append(two)
        found.append(_gains(two, None))
        if progress is not None:
            progress(done, len(names))
    parts, lowered = (np.stack(one) for one in zip(*found, strict=True))
    return pairs, parts, lowered


def _alike(pairs: list[Pilot], gap: Floats, variance: Floats) -> list[str]:
    """Neighbours that no vote can put in an order."""
    same = [
        f"{two.a} and {two.b}"
        for two, d, v in zip(pairs, gap, variance, strict=True)
        if d == 0 and v == 0
    ]
    if not same:
        return []
    return [f"Level, and no vote changes that: {'; '.join(same)}."]


def _standardised(difference: Floats, variance: Floats) -> Floats:
    """Differences in standard errors; infinite, or 0, without any."""
    sure = np.where(difference > 0, np.inf, 0.0)
    error = np.sqrt(variance)
    return np.divide(difference, error, out=sure, where=error > 0)


def _phi(z: Floats) -> Floats:
    """Normal distribution function."""
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


def _weights(difference: Floats, variance: Floats) -> Floats:
    """What lowering each variance by one lowers the doubt, shape (pairs,)."""
    known = variance > 0
    safe = np.where(known, variance, 1.0)
    density = np.exp(-(difference**2) / (2 * safe)) / math.sqrt(2 * math.pi)
    return np.where(known, 2 * density**2 / safe, 0.0)

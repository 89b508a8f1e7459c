r"""Which items to send for one more vote, so that the order of two models becomes surer.

The difference of the models depends on the soft label of item i with slope h_ik towards class
k. What is not known is the share of all possible voters behind that label. After m votes, and
one imagined vote for each of the K classes beforehand, it follows a Dirichlet law with
:math:`\alpha_k = 1 + \text{votes for } k`, of total :math:`A = m + K` and mean
:math:`\tilde p`. The part of the variance of the difference that is due to the item is

.. math:: V_i = \frac{\sum_k \tilde p_k (h_{ik} - \bar h_i)^2}{A + 1},
    \quad \bar h_i = \sum_k \tilde p_k h_{ik}

(for a yes/no question slope squared times :math:`\tilde p (1 - \tilde p)/(m + 3)`), and one
more vote is expected to take :math:`V_i / (A + 1)` of it away: this is the expected gain.
"""

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
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
from equipoise.io.files import replaced
from equipoise.metrics import Metric, titled
from equipoise.planning._pilot import Pilot, Progress, pilot
from equipoise.predictions import Predictions

COLUMNS = ("item", "votes so far", "soft label", "expected gain", "rank")


class Choice(TypedDict, total=False):
    """Further keywords of `next_items`: which models and task, the seed, and progress."""

    models: tuple[str, str] | None
    task: str | None
    seed: int
    progress: Progress | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NextItems:
    """Items worth another vote, best first.

    Attributes
    ----------
    metric, a, b, difference
        Which two models, and by how much a is better than b.
    pilot_items
        How many items the pilot has.
    items, votes, soft_label, gain
        Names, votes so far, soft labels (of the positive class, or the largest) and expected
        reduction of the variance of the difference by one more vote.
    variance
        Of the difference, as far as votes are at fault, now.
    notices
        What the user should know.
    """

    metric: str
    a: str
    b: str
    difference: float
    pilot_items: int
    items: tuple[str, ...]
    votes: Ints
    soft_label: PerItem
    gain: PerItem
    variance: float
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("votes", "soft_label", "gain"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def rows(self) -> list[dict[str, Any]]:
        """One line per item, in the columns of the CSV."""
        columns = zip(self.items, self.votes, self.soft_label, self.gain, strict=True)
        return [
            dict(zip(COLUMNS, (item, int(m), float(p), float(g), rank), strict=True))
            for rank, (item, m, p, g) in enumerate(columns, 1)
        ]

    def wrong_order(self) -> tuple[float, float]:
        """Chance that votes put the two models in the wrong order: now, and after the votes.

        The order is that on the items of the pilot if everybody had voted on them. After the
        votes the difference itself is another, which the chance is averaged over.
        """
        from scipy.special import owens_t

        if self.variance <= 0:
            return (0.5, 0.5) if self.difference == 0 else (0.0, 0.0)
        gone = min(float(self.gain.sum()), self.variance)
        far = self.difference / math.sqrt(self.variance)
        now = NormalDist().cdf(-far)
        if gone <= 0:
            return now, now
        return now, 2 * float(owens_t(far, math.sqrt(self.variance / gone - 1)))

    @property
    def finding(self) -> str:
        """What the list is good for, as a sentence."""
        if not self.gain.any():
            return (
                f"No vote on any item changes what tells {self.a} from {self.b} by "
                f"{titled(self.metric)}."
            )
        now, then = (_percent(chance) for chance in self.wrong_order())
        goes = f"stays at {now}" if now == then else f"goes from {now} to {then}"
        share = float(self.gain.sum()) / self.variance
        return (
            f"One more vote on each of these {len(self.items):,} items is expected to remove "
            f"{share:.1%} of the variance that votes leave in the difference of {self.a} and "
            f"{self.b}. The chance that too few votes have put the two in the wrong order on "
            f"the {self.pilot_items:,} items of the pilot {goes}."
        )

    def write(self, path: str | Path) -> None:
        """Write the items as a CSV to annotate."""
        if not isinstance(path, str | Path):
            raise wrong_type("next items", path, "the name of a file", "try 'next.csv'")
        text = io.StringIO()
        lines = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        lines.writeheader()
        lines.writerows(self.rows())
        with replaced(path) as file:
            file.write(text.getvalue().encode())


def _percent(share: float) -> str:
    """A chance in percent that is 0 only when it is exactly that."""
    return "less than 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def next_items(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    metric: str | Metric = "auroc",
    number: int = 50,
    **how: Unpack[Choice],
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
    require_whole("next items, number", number, least=1)
    unknown = sorted(set(how) - {"models", "task", "seed", "progress"})
    if unknown:
        raise InputError(
            "next items", f"{listed(unknown)}", "models, task, seed or progress", "correct it"
        )
    require_whole("next items, seed", how.get("seed", 0), do="try 0")
    progress = how.get("progress")
    if progress is not None and not callable(progress):
        raise wrong_type("next items, progress", progress, "a function", "leave it out")
    two = pilot(predictions, annotations, metric, how.get("models"), how.get("task"))
    part, gain = _gains(two, progress)
    shuffle = np.random.default_rng(how.get("seed", 0)).permutation(len(gain))
    order = shuffle[
        np.argsort(-np.round(gain[shuffle] / max(gain.max(), 1e-300), 9), kind="stable")
    ]
    chosen = order[:number]
    label = two.shares[0] if len(two.shares) == 1 else two.shares.max(axis=0)
    return NextItems(
        metric=two.metric.name, a=two.a, b=two.b, difference=two.difference,
        pilot_items=len(two.items), items=tuple(two.items[i] for i in chosen),
        votes=two.votes.sizes[chosen],
        soft_label=label[chosen], gain=gain[chosen], variance=float(part.sum()),
        notices=two.notices,
    )  # fmt: skip


def _gains(two: Pilot, progress: Progress | None) -> tuple[PerItem, PerItem]:
    """Each item's part of the variance, and what one more vote takes away of it."""
    whole = two.distributions()
    slope = two.effects(np.ones(whole.shape, dtype=bool), progress)
    number = _worth(two)
    total = number + len(whole)
    mean = (whole * number + 1) / total
    centre = (mean * slope).sum(axis=0)
    part = (mean * (slope - centre) ** 2).sum(axis=0) / (total + 1)
    gold = np.add.reduceat(two.votes.annotator < 0, two.votes.start[:-1]) > 0
    part = np.where(gold, 0.0, part)
    return part, part / (total + 1)


def _worth(two: Pilot) -> Floats:
    """How many equal votes the weighted votes of each item are worth."""
    start, weight = two.votes.start[:-1], two.votes.weight
    total = np.add.reduceat(weight, start)
    return np.asarray(total**2 / np.add.reduceat(weight**2, start))

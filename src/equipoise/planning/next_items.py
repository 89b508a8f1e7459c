r"""Which items to send for one more vote, so that the order of two models becomes surer.

What is not known is the share :math:`q_i` of all possible voters behind the soft label of item
i. It follows a Dirichlet law: the m votes of the item, and s imagined ones beforehand, of which
`equipoise.planning._law` says how many and for what. Its total is :math:`A = m + s`, its mean
:math:`\tilde p_i`. The difference of the models among all voters is expected to be that at
:math:`\tilde p`, and depends on item i there with slope :math:`h_{ik}` towards class k. The
part of its variance that is due to the item is

.. math:: V_i = \frac{\sum_k \tilde p_{ik} h_{ik}^2}{A + 1}

(for a yes/no question slope squared times :math:`\tilde p (1 - \tilde p)/(A + 1)`), and one
more vote is expected to take :math:`g_i = V_i / (A + 1)` of it away: this is the expected gain.

The order of the pilot is that by mean votes, with :math:`p_i` and not :math:`\tilde p_i`. How
likely it is wrong, now and after the votes, follows from the law; see
`equipoise.planning._outlook`, where one more vote moves the difference by mean votes by
:math:`s_i = \sum_k (\tilde p_{ik} - p_{ik}) h_{ik} / (m + 1)` on average, and
:math:`r_i = (A + 1)/(m + 1)` times as far as the expected one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from equipoise.annotations import Annotations
from equipoise.arrays import Ints, PerItem, frozen
from equipoise.metrics import Metric, titled
from equipoise.planning._next_vote import (
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
from equipoise.planning._pilot import Progress, pilot
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
    metric, a, b
        Which two models; a is ahead in the pilot unless they are level.
    outlook
        Their difference in the pilot, among all voters, and after the votes.
    pilot_items, asked, imagined
        How many items the pilot has, how many were to be named, and how many votes are
        imagined on each item besides its own.
    items, votes, soft_label, gain
        Names, votes so far, soft labels (of the positive class, or the largest) and expected
        reduction of the variance of the difference by one more vote.
    task
        Which question, where one was named.
    notices
        What the user should know.
    """

    metric: str
    a: str
    b: str
    outlook: Outlook
    pilot_items: int
    asked: int
    imagined: float
    items: tuple[str, ...]
    votes: Ints
    soft_label: PerItem
    gain: PerItem
    task: str = ""
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("votes", "soft_label", "gain"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def rows(self) -> list[dict[str, Any]]:
        """One line per item."""
        columns = zip(self.items, self.votes, self.soft_label, self.gain, strict=True)
        return [
            dict(zip(COLUMNS, (item, int(m), float(p), float(g), rank), strict=True))
            for rank, (item, m, p, g) in enumerate(columns, 1)
        ]

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
        """Chance that mean votes put the two models in the wrong order: now, and then.

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
        now, then = (_percent(chance) for chance in self.wrong_order())
        goes = f"stays at {now}" if now == then else f"goes from {now} to {then}"
        share = float(self.gain.sum()) / self.variance
        these = batch(len(self.items), self.asked, self.pilot_items)
        return (
            f"One more vote on {these} is expected to remove {share:.1%} of the variance that "
            f"votes leave in the difference of {self.a} and {self.b}. The chance that "
            "too few votes have put the two in the wrong order on the "
            f"{self.pilot_items:,} items of the pilot {goes}.{risen(*self.wrong_order())}"
        )

    def write(self, path: str | Path) -> None:
        """Write the items as a CSV to fill in: empty columns annotator and label.

        Filled in, it is read as votes by `equipoise.read_annotations`; lines without a label
        are left out.
        """
        rows = [{**row, "task": self.task} for row in self.rows()]
        write_items("next items", path, rows, sheet(COLUMNS, self.task))


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
    check_choice("next items", number, how, ("models", "task", "seed", "progress"))
    two = pilot(predictions, annotations, metric, how.get("models"), how.get("task"))
    vote = one_more_vote(two, how.get("progress"))
    chosen = largest(vote.gain, number, how.get("seed", 0))
    seen = outlook([two], [vote], chosen)
    return NextItems(
        metric=two.metric.name, a=two.a, b=two.b, outlook=seen,
        pilot_items=len(two.items), asked=number, imagined=vote.imagined,
        items=tuple(two.items[i] for i in chosen), votes=two.votes.sizes[chosen],
        soft_label=soft_labels(two)[chosen], gain=vote.gain[chosen],
        task=how.get("task") or "",
        notices=(*two.notices, *turned_round([(two.a, two.b)], seen)),
    )  # fmt: skip

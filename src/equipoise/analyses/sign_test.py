"""The published sign test on replicates, for those who must reproduce it, and why not to.

It asks in how many replicates the soft order stays nearer to its own than the hard one, and
compares wins with losses by the binomial law with chance one half, as if replicates were data.
"""

from typing import NamedTuple

from equipoise.analyses.ranking import RankStability, tally
from equipoise.arrays import choice, wrong_type
from equipoise.ranks import sign_test as binomial_tail

WARNING = (
    "This p-value is no evidence: it treats replicates, which are made by the computer, as if "
    "they were data, so it shrinks with the number of replicates and can be made as small as "
    "one likes."
)


class SignTest(NamedTuple):
    """The published sign test on replicates, with the reason why it is not evidence."""

    kind: str
    task: str
    metric: str
    wins: int
    losses: int
    ties: int
    p_value: float
    warning: str


def sign_test(
    stability: RankStability, metric: str, *, kind: str, task: str | None = None
) -> SignTest:
    """The published binomial sign test: is the soft order nearer to its own more often?

    It is here to reproduce a published table; the result says why it is not evidence.

    Parameters
    ----------
    task
        By default the only one, or the macro average.
    """
    if not isinstance(stability, RankStability):
        raise wrong_type(
            "sign test", stability, "the result of rank_stability", "call rank_stability first"
        )
    place = (
        stability.kinds.index(choice("sign test, kind", kind, stability.kinds)),
        -1 if task is None
        else stability.tasks.index(choice("sign test, task", task, stability.tasks)),
        stability.metrics.index(choice("sign test, metric", metric, stability.metrics)),
    )  # fmt: skip
    wins, ties, losses = tally(stability.spearman[place])
    tail = binomial_tail(wins, losses)
    name = stability.tasks[place[1]]
    return SignTest(kind, name, metric, wins, losses, ties, tail, WARNING)

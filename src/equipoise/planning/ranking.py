"""How large a study must be to find the whole order of several models, from a pilot.

The order of k models is k - 1 pairs of neighbours. With the chances p_j of the pairs, see
`equipoise.planning.size`, all are told apart with a chance of at least 1 - sum of (1 - p_j).
For each number of votes on an item the plan is the smallest number of items for which that is
the chance asked for: easy pairs use little of what may fail, the closest one nearly all of it.
Pairs that no size can be planned for are named, and left aside.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Unpack

from equipoise.annotations import Annotations
from equipoise.evaluation.given import given_predictions
from equipoise.metrics import Metric
from equipoise.planning._aim import Aim, Aims, aimed
from equipoise.planning._pilot import Pilot, pilot
from equipoise.planning._ranking_words import ranking_finding, ranking_notices
from equipoise.planning._together import items_doubt, items_needed, least_chance, weakest
from equipoise.planning.size import Size, checked, sized
from equipoise.predictions import Predictions


class RankingDesign(NamedTuple):
    """One design that finds the whole order with the chance asked for.

    `power` is the least chance that all pairs are told apart; a and b are the pair that is
    hardest to tell apart, and `pair_power` is its chance. `simulated` is the share of simulated
    studies that resolve that pair, and stands beside `pair_power`; nan where it was not
    simulated. `cost` is nan without prices.
    """

    votes_per_item: int
    items: int
    items_error: float
    votes: int
    cost: float
    a: str
    b: str
    power: float
    pair_power: float
    simulated: float
    monte_carlo_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingPlan:
    """How many items and votes find the order of several models.

    Attributes
    ----------
    aim
        What was asked, of all pairs together.
    pairs
        Every model against the next, best first, each with what it needs alone for the chance
        asked for.
    designs
        One per number of votes per item; empty when no pair can be planned for.
    notices
        What the user should know.
    """

    aim: Aim
    pairs: tuple[Size, ...]
    designs: tuple[RankingDesign, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """All models, best first."""
        return (self.pairs[0].a, *(one.b for one in self.pairs))

    @property
    def planned(self) -> tuple[Size, ...]:
        """The pairs that a size can be planned for."""
        return tuple(one for one in self.pairs if one.designs)

    @property
    def recommended(self) -> RankingDesign | None:
        """The cheapest design; without prices the one nearest to the votes of the pilot."""
        if not self.designs:
            return None
        if not math.isnan(self.designs[0].cost):
            return min(self.designs, key=lambda one: one.cost)
        usual = self.pairs[0].pilot_votes
        return min(self.designs, key=lambda one: abs(one.votes_per_item - usual))

    def power(self, items: float, votes: float) -> float:
        """Least chance that a study of this size tells all planned pairs apart."""
        return least_chance(self.planned, items, votes)

    def rows(self) -> list[dict[str, Any]]:
        """The designs, one per line."""
        return [one._asdict() for one in self.designs]

    @property
    def finding(self) -> str:
        """What the plan comes to, as a sentence."""
        return ranking_finding(self)


def plan_ranking(
    predictions: Iterable[Predictions],
    annotations: Annotations,
    *,
    metric: str | Metric = "auroc",
    **how: Unpack[Aims],
) -> RankingPlan:
    """Plan for the whole order: every model against the next, best first.

    Parameters
    ----------
    predictions, annotations, metric
        As for `plan_size`.
    **how
        As for `plan_size`; the power is that of all pairs together. Of each design only the
        pair that is hardest to tell apart is simulated.

    Examples
    --------
    >>> from equipoise.demo import reading_study
    >>> readings, scores = reading_study()
    >>> plan = plan_ranking(scores, readings, simulations=0)
    >>> len(plan.models) - len(plan.pairs), plan.designs[0].power >= 0.8
    (1, True)
    """
    aim = aimed(how)
    given = given_predictions(predictions)
    first = pilot(given, annotations, metric, None, aim.task)
    alone = replace(aim, simulations=0)
    pilots = [
        pilot(given, annotations, first.metric, both, aim.task)
        for both in pairwise(first.order)
    ]
    plan = RankingPlan(aim=aim, pairs=tuple(sized(two, alone) for two in pilots))
    plan = replace(plan, designs=_designs(plan, pilots))
    return replace(plan, notices=ranking_notices(plan))


def _designs(plan: RankingPlan, pilots: Sequence[Pilot]) -> tuple[RankingDesign, ...]:
    """One design per number of votes that every pair can be planned with."""
    if not plan.planned:
        return ()
    known = [{one.votes_per_item for one in size.designs} for size in plan.planned]
    votes = sorted(set.intersection(*known))
    made = []
    for done, number in enumerate(votes, 1):
        made.append(_design(plan, pilots, number))
        if plan.aim.progress is not None and plan.aim.simulations:
            plan.aim.progress(done, len(votes))
    return tuple(made)


def _design(plan: RankingPlan, pilots: Sequence[Pilot], votes: int) -> RankingDesign:
    """The fewest items for so many votes each; the hardest pair is checked by simulation."""
    aim, pairs = plan.aim, plan.planned
    items = items_needed(pairs, votes, aim.power)
    hard = weakest(pairs, items, votes)
    two = next(one for one in pilots if (one.a, one.b) == (hard.a, hard.b))
    share, error = checked(replace(hard, aim=aim), two, items, votes)
    return RankingDesign(
        votes, items, items * items_doubt(pairs, items, votes), items * votes,
        aim.cost(items, votes), hard.a, hard.b, plan.power(items, votes),
        hard.power(items, votes), share, error,
    )  # fmt: skip

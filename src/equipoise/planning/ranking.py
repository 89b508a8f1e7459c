"""How large a study must be to find the whole order of several models, from a pilot.

The order of k models is k - 1 pairs of neighbours. If pair j is told apart with probability
p_j, see `equipoise.planning.size`, all are with a probability of at least

    1 - sum over j of (1 - p_j),

whatever hangs together. More items and more votes raise every p_j, so the smallest study that
reaches a power is found by doubling and halving: easy pairs use little of what may fail, the
closest one nearly all of it. Pairs that no size can be planned for are named, and left aside.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

from equipoise.annotations import Annotations
from equipoise.evaluation.arguments import as_predictions
from equipoise.findings import Cell, Finding
from equipoise.metrics import Metric, titled
from equipoise.notices import Notice
from equipoise.numbers import count, exact_percent
from equipoise.planning._pilot import Pilot, neighbours
from equipoise.planning.size import (
    SHARED,
    Size,
    cheapest,
    designs_for,
    nearest_to_pilot,
    plan_pair,
    simulated,
    simulation_notices,
    size_words,
)
from equipoise.planning.target import NORMAL, PowerKeywords, PowerTarget, power_target
from equipoise.predictions import Predictions
from equipoise.wording import Option

FEWEST = 3  # items of a study
MOST_VOTES = 2**40  # on an item; what needs more is not reached by votes
ROUNDING = 1e-12  # of a probability
FAR = 20  # times the pilot
NAMED = 3  # pairs that a sentence names


class RankingDesign(NamedTuple):
    """One design that finds the whole order with the power asked for.

    `power` is the least probability that all pairs are told apart; a and b are the pair that is
    hardest to tell apart, and `pair_power` is its own. `simulated` is the share of simulated
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
        Every model against the next, best first, each with what it needs alone for the power
        asked for.
    designs
        One per number of votes per item; empty when no pair can be planned for.
    notices
        What the user should know.
    """

    aim: PowerTarget
    pairs: tuple[Size, ...]
    designs: tuple[RankingDesign, ...] = ()
    notices: tuple[Notice, ...] = ()

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
        usual = nearest_to_pilot(self.designs, self.pairs[0].pilot_votes)
        return cheapest(self.designs) or usual

    @property
    def ranks(self) -> bool:
        """Whether there are more than two models."""
        return len(self.pairs) > 1

    @property
    def hardest(self) -> Size:
        """The pair that is hardest to tell apart; without a plan, one that cannot be."""
        best = self.recommended
        if best is None:
            return min(self.pairs, key=lambda one: one.difference)
        return next(one for one in self.pairs if (one.a, one.b) == (best.a, best.b))

    def power(self, items: float, votes: float) -> float:
        """Least probability that a study of this size tells all planned pairs apart."""
        return max(0.0, 1 - sum(1 - one.power(items, votes) for one in self.planned))

    def items_needed(self, votes: int, power: float | None = None) -> int:
        """Fewest items that tell all planned pairs apart with the power asked for."""
        least = (self.aim.power if power is None else power) - ROUNDING
        return _smallest(lambda items: self.power(items, votes) >= least, FEWEST)

    def votes_needed(self, items: int) -> float:
        """Fewest votes on each of so many items; infinite when votes cannot do it."""
        if any(math.isnan(one.spread.votes) for one in self.planned):
            return math.nan
        least = self.aim.power - ROUNDING
        if any(self.power(items, most) < least for most in (math.inf, MOST_VOTES)):
            return math.inf
        return _smallest(lambda votes: self.power(items, votes) >= least, 1)

    def rows(self) -> list[dict[str, Cell]]:
        """The designs, one per line."""
        return [dict(one._asdict()) for one in self.designs]

    @property
    def finding(self) -> str:
        """What the plan comes to, as a sentence."""
        if len(self.pairs) == 1:
            return self.pairs[0].finding
        why = {
            "tied": "No study can be planned for the whole order: {} are tied in the pilot.",
            "no spread": "No size can be planned for {}: every item of the pilot says the same "
            "about them.",
        }
        sentences = []
        for state, text in why.items():
            lost = [f"{one.a} and {one.b}" for one in self.pairs if one.state == state]
            more = len(lost) - NAMED
            rest = f"; and {more:,} more pair{'s' * (more > 1)}" if more > 0 else ""
            if lost:
                sentences.append(text.format("; ".join(lost[:NAMED]) + rest))
        best, few = self.recommended, len(self.planned)
        if best is None:
            return " ".join(sentences)
        what = f"the whole order of {len(self.models)} models"
        if few < len(self.pairs):
            left = count(few, "pair of neighbours").removeprefix("1 ")
            what = f"the order of the other {left}"
        price = f" (the cheapest of these designs: {count(best.cost)})"
        return " ".join(
            [
                *sentences,
                f"To find {what} by {titled(self.pairs[0].metric)} with a probability of at "
                f"least {exact_percent(self.aim.power)}, collect {size_words(best)}"
                f"{'' if math.isnan(best.cost) else price}; the pair that is hardest to tell "
                f"apart is {best.a} and {best.b}.",
            ]
        )

    def reports(self) -> tuple[Finding, ...]:
        """Everything that the plan says: size, power, designs, uncertainty, every pair."""
        from equipoise.planning._findings import plan_findings

        return plan_findings(self)


def of_pair(size: Size) -> RankingPlan:
    """A plan for two models as the plan of a ranking of two."""
    designs = [
        RankingDesign(**one._asdict(), a=size.a, b=size.b, pair_power=one.power)
        for one in sorted(size.designs)
    ]
    return RankingPlan(
        aim=size.aim, pairs=(size,), designs=tuple(designs), notices=size.notices
    )


def plan_ranking(
    predictions: Iterable[Predictions],
    annotations: Annotations,
    *,
    metric: str | Metric = "auroc",
    **how: Unpack[PowerKeywords],
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
    target = power_target(how)
    models, alone = as_predictions(predictions), replace(target, simulations=0)
    pilots = [two for two, _ in neighbours(models, annotations, metric, target.task)]
    plan = RankingPlan(aim=target, pairs=tuple(plan_pair(two, alone) for two in pilots))
    plan = replace(plan, designs=_designs(plan, pilots))
    return replace(plan, notices=_notices(plan))


def _designs(plan: RankingPlan, pilots: Sequence[Pilot]) -> tuple[RankingDesign, ...]:
    """One design per number of votes that every pair can be planned with."""
    if not plan.planned:
        return ()
    known = [{one.votes_per_item for one in size.designs} for size in plan.planned]
    votes = sorted(set.intersection(*known))
    return tuple(designs_for(plan.aim, votes, lambda each: _design(plan, pilots, each)))


def _design(plan: RankingPlan, pilots: Sequence[Pilot], votes: int) -> RankingDesign:
    """The fewest items for so many votes each; the hardest pair is checked by simulation."""
    target, pairs = plan.aim, plan.planned
    items = plan.items_needed(votes)
    hard = _weakest(pairs, items, votes)
    two = next(one for one in pilots if (one.a, one.b) == (hard.a, hard.b))
    return RankingDesign(
        *(votes, items, items * _relative_error(pairs, items, votes), items * votes),
        *(target.cost(items, votes), hard.a, hard.b),
        *(plan.power(items, votes), hard.power(items, votes)),
        *simulated(replace(hard, aim=target), two, items, votes),
    )


def _weakest(pairs: Sequence[Size], items: float, votes: float) -> Size:
    """The pair that a study is least likely to tell apart."""
    return min(pairs, key=lambda one: one.power(items, votes))


def _relative_error(pairs: Sequence[Size], items: int, votes: int) -> float:
    """Standard error of the items needed, relative to them, as spreads are estimated.

    Each pair counts by how much the power hangs on its spread, and the errors of pairs that
    share items and votes are taken to go the same way, so that it is rather too large.
    """
    slopes = []  # changes of the power for a pair with the logarithm of its standard error
    for one in pairs:
        error = one.standard_error(items, votes)
        reach = one.resolved / error if error else 0.0
        slopes.append(NORMAL.pdf(reach - one.aim.z) * reach)
    whole, parts = sum(slopes), zip(pairs, slopes, strict=True)
    if not whole > 0:
        return _weakest(pairs, items, votes).spread.relative_error(votes)
    return sum(one.spread.relative_error(votes) * part for one, part in parts if part) / whole


def _smallest(enough: Callable[[int], bool], least: int) -> int:
    """Smallest whole number that is enough, where all above it are, too.

    Examples
    --------
    >>> _smallest(lambda number: number >= 1000, 3), _smallest(lambda number: True, 3)
    (1000, 3)
    """
    high = least
    while not enough(high):
        high *= 2
    low = max(least - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _notices(plan: RankingPlan) -> tuple[Notice, ...]:
    """Every notice once, with the pairs it is about where it is not about all."""
    about: dict[tuple[str, str], tuple[Notice, list[str]]] = {}
    for one in plan.pairs:
        for notice in one.notices:
            shared = SHARED.get(notice.code) if plan.ranks else None
            same = Notice(notice.code, shared) if shared else notice
            about.setdefault((same.code, str(same)), (same, []))[1].append(one.pair)
    merged = [
        notice if len(pairs) == len(plan.pairs) else notice.of(*pairs)
        for notice, pairs in about.values()
    ]
    merged += simulation_notices(plan.designs, plan.aim.simulations)
    least = min((one.items for one in plan.designs), default=0)
    far = plan.ranks and least > FAR * plan.pairs[0].pilot_items
    if far and plan.aim.difference is None:
        far_text = (
            "The order asks for more than {times:count} times the items of the pilot, because "
            "some neighbours hardly differ: say which difference matters ({option}), and every "
            "pair is planned as if it were that far apart."
        )
        option = Option("difference")
        merged.append(
            Notice("hardly_differ", far_text, values={"times": FAR, "option": option})
        )
    return tuple(merged)

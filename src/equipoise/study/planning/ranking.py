"""How large a study must be to find the whole order of several models, from a pilot.

The order of k models is k - 1 pairs of neighbours. If pair j is told apart with probability
p_j, see `equipoise.study.planning.size`, all are with a probability of at least

    1 - sum over j of (1 - p_j),

whatever hangs together. More items and more votes raise every p_j, so the smallest study that
reaches a power is found by doubling and halving: easy pairs use little of what may fail, the
closest one nearly all of it. Pairs that no size can be planned for are named, and left aside.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

from equipoise.metrics import Metric, titled
from equipoise.study.arguments import as_predictions
from equipoise.study.planning._pilot import neighbours
from equipoise.study.planning._power import Shape
from equipoise.study.planning.size import (
    DIFFERENCE,
    SHARED,
    Size,
    cheapest,
    design_size,
    nearest_to_pilot,
    plan_pair,
    reason,
    simulated,
    simulation_notices,
    size_words,
    with_designs,
)
from equipoise.study.planning.target import PowerKeywords, PowerTarget, power_target
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import short_repr
from equipoise.types.findings import Cell, Finding
from equipoise.types.notices import Notice
from equipoise.types.numbers import count, exact_percent
from equipoise.types.predictions import Predictions
from equipoise.types.words import hint

FAR = 20  # times the pilot
NAMED = 3  # pairs that a sentence names


class RankingDesign(NamedTuple):
    """One design that finds the whole order with the power asked for.

    `power` is the least probability that all pairs are told apart; a and b are the pair that is
    hardest to tell apart, and `pair_power` is its own. `simulated` is the share of simulated
    studies that resolve that pair, and stands beside `pair_power`; nan where it was not
    simulated. `cost` is nan without prices.
    """

    annotators: int
    votes_per_item: int
    groups: int
    items: int
    votes: int
    cost: float
    a: str
    b: str
    power: float
    pair_power: float
    simulated: float
    monte_carlo_error: float

    @property
    def shape(self) -> Shape:
        """The design without its size."""
        return Shape(self.annotators, self.votes_per_item, self.items // max(self.groups, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingPlan:
    """How many items and annotators find the order of several models.

    Attributes
    ----------
    aim
        What was asked, of all pairs together.
    pairs
        Every model against the next, best first, each with what it needs alone for the power
        asked for.
    designs
        One per number of annotators that can reach it; empty when no pair can be planned for.
    notices
        What the user should know.
    """

    aim: PowerTarget
    pairs: tuple[Size, ...]
    designs: tuple[RankingDesign, ...] = ()
    notices: tuple[Notice, ...] = ()

    __repr__ = short_repr

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
        """The cheapest design; without prices the one nearest to the pilot."""
        if not self.designs:
            return None
        return cheapest(self.designs) or nearest_to_pilot(self.designs, self.pairs[0])

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

    def power(self, units: float, shape: Shape) -> float:
        """Least probability that a study of this size tells all planned pairs apart."""
        return max(0.0, 1 - sum(1 - one.power(units, shape) for one in self.planned))

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
            "not plannable": "Not plannable from this pilot: {} are not surely apart in it.",
            "out of reach": "Out of reach with these annotators: {}.",
        }
        sentences = []
        for state, text in why.items():
            lost = [f"{one.a} and {one.b}" for one in self.pairs if one.state == state]
            more = len(lost) - NAMED
            rest = f"; and {more:,} more pair{'s' * (more > 1)}" if more > 0 else ""
            if lost:
                sentences.append(text.format("; ".join(lost[:NAMED]) + rest))
        sentences += self._beyond()
        best, few = self.recommended, len(self.planned)
        if self.open:
            sentences.append(
                hint("Give the smallest difference that matters ({}).", DIFFERENCE)
            )
        if best is None:
            return _joined(sentences)
        what = f"the whole order of {len(self.models)} models"
        if few < len(self.pairs):
            left = count(few, "pair of neighbours").removeprefix("1 ")
            what = f"the order of the other {left}"
        return _joined(
            [
                *sentences,
                hint(
                    "{}{}; the pair that is hardest to tell apart is {} and {}.",
                    f"To find {what} by {titled(self.pairs[0].metric)} with a probability of "
                    f"at least {exact_percent(self.aim.power)}, collect {size_words(best)}",
                    reason(self.designs, best, self.aim),
                    *(best.a, best.b),
                ),
            ]
        )

    def _beyond(self) -> list[str]:
        """What the pair that is furthest out of reach takes with more annotators."""
        lost = [one for one in self.pairs if one.state == "out of reach"]
        known = [(made.votes, one) for one in lost if (made := one.beyond()) is not None]
        if not known:
            return []
        hard = max(known, key=lambda pair: pair[0])[1]
        return [f"{hard.a} and {hard.b} alone: {hard.beyond_words()[0].lower()}"
                f"{hard.beyond_words()[1:]}"]  # fmt: skip

    @property
    def open(self) -> bool:
        """Whether the pilot left some pair open."""
        return any(one.state == "not plannable" for one in self.pairs)

    def reports(self) -> tuple[Finding, ...]:
        """Everything that the plan says: size, power, designs, uncertainty, every pair."""
        from equipoise.study.planning._findings import plan_findings

        return plan_findings(self)


def _joined(sentences: list[str]) -> str:
    return hint(" ".join(["{}"] * len(sentences)), *sentences)


def of_pair(size: Size) -> RankingPlan:
    """A plan for two models as the plan of a ranking of two."""
    designs = [
        RankingDesign(**one._asdict(), a=size.a, b=size.b, pair_power=one.power)
        for one in size.designs
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
    >>> from equipoise.datasets.demo import reading_study
    >>> readings, scores = reading_study()
    >>> plan = plan_ranking(scores, readings, simulations=0)
    >>> len(plan.models) - len(plan.pairs), plan.designs[0].power >= 0.8
    (1, True)
    """
    target = power_target(how)
    models = as_predictions(predictions)
    alone = replace(target, simulations=0, progress=None)
    pilots = neighbours(models, annotations, metric, task=target.task, level=target.level)
    plan = RankingPlan(aim=target, pairs=tuple(plan_pair(two, alone) for two in pilots))
    if plan.planned:
        plan = with_designs(plan, plan.planned[0].shapes(), _design)
    return replace(plan, notices=_notices(plan))


def _design(plan: RankingPlan, shape: Shape) -> RankingDesign | None:
    """The fewest units of a shape; the hardest pair is checked by simulation."""
    size = design_size(plan, shape, grouped=bool(plan.pairs[0].group_size))
    if size is None:
        return None
    units = size[2]
    hard = min(plan.planned, key=lambda one: one.power(units, shape))
    return RankingDesign(
        *(*size, hard.a, hard.b, plan.power(units, shape), hard.power(units, shape)),
        *simulated(replace(hard, aim=plan.aim), units, shape),
    )


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
        merged.append(
            Notice("hardly_differ", far_text, values={"times": FAR, "option": DIFFERENCE})
        )
    return tuple(merged)

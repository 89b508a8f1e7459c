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
from itertools import pairwise
from typing import NamedTuple, Unpack

from equipoise.annotations import Annotations
from equipoise.evaluation.given import given_predictions
from equipoise.findings import Cell, Column, Dot, Dots, Finding, Table
from equipoise.metrics import Metric, titled
from equipoise.notices import Notice
from equipoise.numbers import change, count, exact_percent
from equipoise.planning._findings import plan_findings, scaled
from equipoise.planning._pilot import Pilot, pilot
from equipoise.planning.size import (
    NORMAL,
    SHARED,
    Size,
    plan_pair,
    simulated,
    simulation_notices,
)
from equipoise.planning.target import PowerKeywords, PowerTarget, power_target
from equipoise.predictions import Predictions
from equipoise.wording import Option

FEWEST = 3  # items of a study
MOST_VOTES = 2**40  # on an item; what needs more is not reached by votes
ROUNDING = 1e-12  # of a probability
FAR = 20  # times the pilot
NAMED = 3  # pairs that a sentence names
PAIRS = 20  # pairs of a figure; all are in the table
SPREAD_OUT = 30  # times the smallest, from which on logarithms are drawn
PAIRS_NOTE = (
    "Neighbours are compared in the order of the pilot. Items alone are those that tell one "
    "pair apart with the power asked for; to tell all apart with that power takes more, "
    "because none may be missed. The order of neighbours in the pilot may itself be wrong "
    "where an interval holds 0."
)
PAIRS_LEGEND = (
    "Items alone: what the pair needs by itself for the power asked for, with the votes per "
    "item of the plan. Power in the study: that of the pair in this plan."
)


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
        if not math.isnan(self.designs[0].cost):
            return min(self.designs, key=lambda one: one.cost)
        usual = self.pairs[0].pilot_votes
        return min(self.designs, key=lambda one: abs(one.votes_per_item - usual))

    @property
    def hardest(self) -> Size:
        """The pair that is hardest to tell apart; without a plan, one that cannot be."""
        best = self.recommended
        if best is None:
            return min(self.pairs, key=lambda one: one.difference)
        return next(one for one in self.pairs if (one.a, one.b) == (best.a, best.b))

    def power(self, items: float, votes: float) -> float:
        """Least probability that a study of this size tells all planned pairs apart."""
        return _joint_power(self.planned, items, votes)

    def items_needed(self, votes: int, power: float | None = None) -> int:
        """Fewest items that tell all planned pairs apart with the power asked for."""
        return items_needed(self.planned, votes, self.aim.power if power is None else power)

    def votes_needed(self, items: int) -> float:
        """Fewest votes on each of so many items; infinite when votes cannot do it."""
        pairs, power = self.planned, self.aim.power
        if any(math.isnan(one.spread.votes) for one in pairs):
            return math.nan
        for most in (math.inf, MOST_VOTES):
            if _joint_power(pairs, items, most) < power - ROUNDING:
                return math.inf
        return _smallest(lambda votes: _joint_power(pairs, items, votes) >= power - ROUNDING, 1)

    def rows(self) -> list[dict[str, Cell]]:
        """The designs, one per line."""
        return [dict(one._asdict()) for one in self.designs]

    @property
    def finding(self) -> str:
        """What the plan comes to, as a sentence."""
        if len(self.pairs) == 1:
            return self.pairs[0].finding
        tied = [f"{one.a} and {one.b}" for one in self.pairs if one.state == "tied"]
        flat = [f"{one.a} and {one.b}" for one in self.pairs if one.state == "no spread"]
        sentences = []
        if tied:
            sentences.append(
                f"No study can be planned for the whole order: {_few(tied)} are tied in the "
                "pilot."
            )
        if flat:
            sentences.append(
                f"No size can be planned for {_few(flat)}: every item of the pilot says the "
                "same about them."
            )
        best = self.recommended
        return " ".join([*sentences, *([] if best is None else [self._collect(best)])])

    def _collect(self, best: RankingDesign) -> str:
        """Say what to collect, for all pairs or for those that are left."""
        few = len(self.planned)
        what = (
            f"the whole order of {len(self.models)} models"
            if few == len(self.pairs)
            else f"the order of the other {_neighbours(few)}"
        )
        price = (
            ""
            if math.isnan(best.cost)
            else f" (the cheapest of these designs: {count(best.cost)})"
        )
        return (
            f"To find {what} by {titled(self.pairs[0].metric)} with a probability of at least "
            f"{exact_percent(self.aim.power)}, collect {count(best.items, 'item')} with "
            f"{count(best.votes_per_item, 'vote')} each{price}; the pair that is hardest to "
            f"tell apart is {best.a} and {best.b}."
        )

    def reports(self) -> tuple[Finding, ...]:
        """Everything that the plan says: size, power, designs, uncertainty, every pair."""
        more = (_pairs_finding(self),) if len(self.pairs) > 1 else ()
        return (*plan_findings(self), *more)


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
    models = given_predictions(predictions)
    first = pilot(models, annotations, metric, None, target.task)
    alone = replace(target, simulations=0)
    pilots = [
        pilot(models, annotations, first.metric, both, target.task)
        for both in pairwise(first.order)
    ]
    plan = RankingPlan(aim=target, pairs=tuple(plan_pair(two, alone) for two in pilots))
    plan = replace(plan, designs=_designs(plan, pilots))
    return replace(plan, notices=_notices(plan))


def _designs(plan: RankingPlan, pilots: Sequence[Pilot]) -> tuple[RankingDesign, ...]:
    """One design per number of votes that every pair can be planned with."""
    if not plan.planned:
        return ()
    known = [{one.votes_per_item for one in size.designs} for size in plan.planned]
    votes = sorted(set.intersection(*known))
    made = []
    for done, each in enumerate(votes, 1):
        made.append(_design(plan, pilots, each))
        if plan.aim.progress is not None and plan.aim.simulations:
            plan.aim.progress(done, len(votes))
    return tuple(made)


def _design(plan: RankingPlan, pilots: Sequence[Pilot], votes: int) -> RankingDesign:
    """The fewest items for so many votes each; the hardest pair is checked by simulation."""
    target, pairs = plan.aim, plan.planned
    items = plan.items_needed(votes)
    hard = _weakest(pairs, items, votes)
    two = next(one for one in pilots if (one.a, one.b) == (hard.a, hard.b))
    share, error = simulated(replace(hard, aim=target), two, items, votes)
    return RankingDesign(
        votes_per_item=votes,
        items=items,
        items_error=items * _relative_error(pairs, items, votes),
        votes=items * votes,
        cost=target.cost(items, votes),
        a=hard.a,
        b=hard.b,
        power=plan.power(items, votes),
        pair_power=hard.power(items, votes),
        simulated=share,
        monte_carlo_error=error,
    )


def _joint_power(pairs: Sequence[Size], items: float, votes: float) -> float:
    """Least probability that every pair is told apart; nan where not known."""
    return max(0.0, 1 - sum(1 - one.power(items, votes) for one in pairs))


def items_needed(pairs: Sequence[Size], votes: int, power: float) -> int:
    """Fewest items that with so many votes on each tell all pairs apart with a power."""
    return _smallest(
        lambda items: _joint_power(pairs, items, votes) >= power - ROUNDING, FEWEST
    )


def _weakest(pairs: Sequence[Size], items: float, votes: float) -> Size:
    """The pair that a study is least likely to tell apart."""
    return min(pairs, key=lambda one: one.power(items, votes))


def _relative_error(pairs: Sequence[Size], items: int, votes: int) -> float:
    """Standard error of the items needed, relative to them, as spreads are estimated.

    Each pair counts by how much the power hangs on its spread, and the errors of pairs that
    share items and votes are taken to go the same way, so that it is rather too large.
    """
    slopes = [_slope(one, items, votes) for one in pairs]
    if not sum(slopes) > 0:
        return _weakest(pairs, items, votes).spread.relative_error(votes)
    parts = zip(pairs, slopes, strict=True)
    return sum(one.spread.relative_error(votes) * part for one, part in parts if part) / sum(
        slopes
    )


def _slope(one: Size, items: int, votes: int) -> float:
    """Change of the power for a pair with the logarithm of its standard error."""
    error = one.standard_error(items, votes)
    if error == 0:
        return 0.0
    reach = one.resolved / error
    return NORMAL.pdf(reach - NORMAL.inv_cdf(0.5 + one.aim.level / 2)) * reach


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


def _neighbours(pairs: int) -> str:
    return count(pairs, "pair of neighbours").removeprefix("1 ")


def _few(names: Sequence[str]) -> str:
    """Name a few pairs, and say how many more there are."""
    shown = "; ".join(names[:NAMED])
    more = len(names) - NAMED
    return shown if more <= 0 else f"{shown}; and {more:,} more pair{'s' * (more > 1)}"


def _notices(plan: RankingPlan) -> tuple[Notice, ...]:
    """Every notice once, with the pairs it is about where it is not about all."""
    pairs: dict[tuple[str, ...], list[str]] = {}
    first: dict[tuple[str, ...], Notice] = {}
    for one in plan.pairs:
        for notice in one.notices:
            shared = SHARED.get(notice.code) if len(plan.pairs) > 1 else None
            same = Notice(notice.code, shared) if shared else notice
            key = (same.code, str(same))
            first.setdefault(key, same)
            pairs.setdefault(key, []).append(f"{one.a} / {one.b}")
    merged = [
        first[key] if len(about) == len(plan.pairs) else first[key].of(*about)
        for key, about in pairs.items()
    ]
    return (*merged, *simulation_notices(plan.designs, plan.aim.simulations), *_far(plan))


def _far(plan: RankingPlan) -> list[Notice]:
    """Neighbours that hardly differ ask for more than anybody will collect."""
    least = min((one.items for one in plan.designs), default=0)
    few = len(plan.pairs) == 1 or least <= FAR * plan.pairs[0].pilot_items
    if few or plan.aim.difference is not None:
        return []
    return [
        Notice(
            "hardly_differ",
            "The order asks for more than {times:count} times the items of the pilot, because "
            "some neighbours hardly differ: say which difference matters ({option}), and every "
            "pair is planned as if it were that far apart.",
            values={"times": FAR, "option": Option("difference")},
        )
    ]


def _pairs_finding(plan: RankingPlan) -> Finding:
    """Neighbours of a ranking: what each pair needs alone, and its power in the whole study."""
    rows = [_pair_needs(one, plan.recommended) for one in plan.pairs]
    few = f", first {PAIRS} of {len(rows)}" if len(rows) > PAIRS else ""
    differences = [
        Dot(
            f"{one.a} / {one.b}",
            one.difference,
            one.low,
            one.high,
            remark=change(one.difference),
        )
        for one in plan.pairs[:PAIRS]
    ]
    return Finding(
        key="pairs",
        title="What does each pair of models need?",
        sentence=_pairs_sentence(plan, rows),
        tables=(
            Table(
                name="plan_pairs",
                caption="What each pair of neighbours needs",
                columns=(
                    Column("a", "better", "model"),
                    Column("b", "than", "model"),
                    Column("difference", "in the pilot by", "change", ("low", "high")),
                    Column("resolved", "planned for", "change", brief=False),
                    Column("items", "items alone", "count"),
                    Column("items_error", "± standard error", "count", brief=False),
                    Column("power_in_pilot", "power of the pilot", "percent", brief=False),
                    Column("power_in_study", "power in the study", "percent"),
                    Column("state", "state"),
                ),
                rows=[one._asdict() for one in rows],
                legend=PAIRS_LEGEND,
            ),
        ),
        charts=(
            *_needed_chart(rows[:PAIRS], few),
            Dots(
                name="plan-pair-differences",
                caption="Difference of neighbours in the pilot, with its "
                f"{exact_percent(plan.aim.level)} interval{few}",
                axis=f"difference in {titled(plan.pairs[0].metric)}",
                rows=differences,
                zero=True,
            ),
        ),
        note=PAIRS_NOTE,
    )


class _Pair(NamedTuple):
    """What one pair needs alone, and its power in the planned study."""

    a: str
    b: str
    difference: float
    low: float
    high: float
    resolved: float
    state: str
    votes_per_item: int | None
    items: int | None
    items_error: float | None
    power_in_pilot: float | None
    power_in_study: float | None
    items_deviation: float
    votes_deviation: float
    annotators_error: float


def _pair_needs(one: Size, best: RankingDesign | None) -> _Pair:
    """Look at one pair."""
    row = _Pair(
        *(one.a, one.b, one.difference, one.low, one.high, one.resolved, one.state),
        *(None, None, None, None, None),
        *(one.spread.items, one.spread.votes, one.spread.panel),
    )
    if best is None or not one.designs:
        return row
    votes = best.votes_per_item
    design = next(each for each in one.designs if each.votes_per_item == votes)
    return row._replace(
        votes_per_item=votes,
        items=design.items,
        items_error=design.items_error,
        power_in_pilot=one.power_with(one.spread.pilot),
        power_in_study=one.power(best.items, votes),
    )


def _pairs_sentence(plan: RankingPlan, rows: Sequence[_Pair]) -> str:
    """Which pair needs most, which least, what all need, and which cannot be planned."""
    planned = sorted((one.items, f"{one.a} / {one.b}") for one in rows if one.items is not None)
    left = len(rows) - len(planned)
    rest = f"No size can be planned for {count(left, 'pair')}." if left else ""
    best = plan.recommended
    if best is None:
        return rest
    (least, easy), (most, hard) = planned[0], planned[-1]
    votes = count(best.votes_per_item, "vote")
    sentence = f"With {votes} per item {hard} alone needs {count(most, 'item')}"
    if len(planned) > 1:
        whole = count(best.items, "item")
        sentence += f", {easy} {count(least, 'item')}; all together {whole}"
    return f"{sentence}. {rest}".rstrip()


def _needed_chart(rows: Sequence[_Pair], few: str) -> tuple[Dots, ...]:
    """Items that each pair needs; as powers of ten where they are far apart."""
    known = [float(one.items) for one in rows if one.items is not None]
    if not known:
        return ()
    far = max(known) > SPREAD_OUT * min(known)
    unit, words = scaled(known)
    dots = []
    for one in rows:
        place, remark = math.nan, "no plan"
        if one.items is not None:
            place = math.log10(one.items) if far else one.items / unit
            remark = count(one.items)
        dots.append(Dot(f"{one.a} / {one.b}", place, remark=remark))
    return (
        Dots(
            name="plan-pairs",
            caption=f"Items that each pair of neighbours needs alone{few}",
            axis="items, as a power of ten" if far else f"items{words}",
            rows=dots,
            zero=not far,
        ),
    )

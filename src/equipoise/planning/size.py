"""How large a study must be to tell two models apart, from a pilot.

A study with n items and m votes on each has the standard error
sqrt((items^2 + votes^2 / m) / n), see `equipoise.planning._precision`. Its interval lies above
0 with probability

    power = Phi(difference / standard error - z),   z = Phi^-1((1 + level) / 2),

so that n = (z + Phi^-1(power))^2 (items^2 + votes^2 / m) / difference^2 items are needed. Every
such number is checked by simulated studies, which draw items and votes from the pilot; votes
are drawn without replacement: designs with more votes than the pilot has rest on the formula.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar, Unpack

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.findings import Cell, Finding
from equipoise.metrics import Metric, titled
from equipoise.notices import Notice
from equipoise.numbers import count, exact_percent, interval, number, significant
from equipoise.planning._pilot import Pilot, pilot, votes_each, with_single_votes
from equipoise.planning._precision import Spread, can_simulate, simulated_power, spread
from equipoise.planning.target import NORMAL, PowerKeywords, PowerTarget, power_target
from equipoise.predictions import Predictions
from equipoise.wording import Hint, Option, hint

if TYPE_CHECKING:
    from equipoise.planning.ranking import RankingDesign, RankingPlan

MOST = 20_000  # items of a simulated study
TIED = 1e-12  # difference up to which models are tied
NEW_PEOPLE = "The plan counts votes as independent, as from ever new people."
LIMIT = (
    "With these people alone that is too much to resolve the difference, whatever the number "
    "of items: ask others, too."
)
TRUST = (
    "Designs are planned as if it stayed the same, so trust only those with about as many "
    "votes per item as the pilot."
)
SHARED: dict[str, str] = {  # what is said of several pairs at once, without their numbers
    "open_difference": "The pilot itself leaves open whether there is a difference, because "
    "its interval holds 0. If it is 0, no study resolves it; half the difference needs four "
    "times as many items.",
    "leaning_people_limit": "The annotators lean in ways that more items do not even out. "
    f"{NEW_PEOPLE} {LIMIT}",
    "leaning_people": "The annotators lean in ways that more items do not even out. "
    f"{NEW_PEOPLE}",
    "depends_on_votes": "By this metric the difference itself depends on the votes per item. "
    f"{TRUST}",
}


class Design(NamedTuple):
    """One design that reaches the power asked for.

    `items_error` is the standard error of `items` that comes from estimating the spread from a
    small pilot; the uncertainty about the difference itself comes on top.
    `simulated` is the share of simulated studies that resolve the difference, with its Monte
    Carlo error; nan where the pilot has too few votes for that, or items are too many. `cost`
    is nan without prices.
    """

    votes_per_item: int
    items: int
    items_error: float
    votes: int
    cost: float
    power: float
    simulated: float
    monte_carlo_error: float

    @property
    def pair_power(self) -> float:
        """Power for the pair that was simulated, which is the only one."""
        return self.power


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many items and votes tell two models apart.

    Attributes
    ----------
    metric, a, b
        Which difference: by how much a is better than b.
    difference, low, high
        In the pilot, with its interval.
    resolved
        The difference that the plan is made for.
    pilot_items, pilot_votes
        Items in the pilot, and votes per item on average, items of known truth apart.
    spread
        Standard deviations by items, votes and people.
    aim
        What was asked.
    designs
        One per number of votes per item; empty when the difference is 0.
    notices
        What the user should know.
    """

    metric: str
    a: str
    b: str
    difference: float
    low: float
    high: float
    resolved: float
    pilot_items: int
    pilot_votes: float
    spread: Spread
    aim: PowerTarget
    designs: tuple[Design, ...]
    notices: tuple[Notice, ...]

    def standard_error(self, items: float, votes: float) -> float:
        """Of the difference, with so many items and votes on each; nan where not known."""
        if math.isnan(self.spread.votes):
            return self.spread.items / math.sqrt(items) if votes == 1 else math.nan
        return math.hypot(self.spread.items, self.spread.votes / math.sqrt(votes)) / math.sqrt(
            items
        )

    def power(self, items: float, votes: float) -> float:
        """Probability that the interval lies above 0."""
        return self.power_with(self.standard_error(items, votes))

    def power_with(self, error: float) -> float:
        """The same for a standard error."""
        if error == 0:
            return float(self.resolved > 0)
        return NORMAL.cdf(self.resolved / error - self.aim.z)

    def votes_needed(self, items: int) -> float:
        """Votes per item that so many items need; infinite when votes cannot do it."""
        if self.resolved <= 0:
            return math.inf
        if math.isnan(self.spread.votes):
            return math.nan
        room = items * (self.resolved / self.aim.reach) ** 2 - self.spread.items**2
        if self.spread.votes == 0:
            return 1.0 if room >= 0 else math.inf
        return max(1.0, math.ceil(self.spread.votes**2 / room - 1e-9)) if room > 0 else math.inf

    @property
    def cheapest(self) -> Design | None:
        """The design that costs least; None without prices."""
        return cheapest(self.designs)

    @property
    def pair(self) -> str:
        """Names of the two models, for tables and figures."""
        return f"{self.a} / {self.b}"

    def rows(self) -> list[dict[str, Cell]]:
        """The designs, one per line."""
        return [dict(one._asdict()) for one in self.designs]

    def grid(self) -> list[dict[str, Cell]]:
        """Power for numbers of items, by votes per item, and the votes each needs."""
        return power_grid(self, self.sizes())

    def sizes(self) -> tuple[int, ...]:
        """Numbers of items to look at: those asked for, or multiples of the pilot."""
        usual = tuple(max(3, round(self.pilot_items * k)) for k in (0.5, 1, 2, 4, 8))
        return self.aim.items or usual

    @property
    def finding(self) -> str:
        """What the plan comes to, as a sentence."""
        if self.state == "no spread":
            return (
                f"Every item of the pilot says the same about {self.a} and {self.b}: its "
                "spread is 0, and no size can be planned from it."
            )
        if self.state == "tied":
            return (
                f"No number of items or votes tells {self.a} from {self.b} by "
                f"{titled(self.metric)}: their difference in the pilot is 0."
            )
        best = self.cheapest or nearest_to_pilot(self.designs, self.pilot_votes)
        text = (
            f"To find that {{}} is better than {{}} by {number(self.resolved)} in "
            f"{titled(self.metric)} with a probability of {exact_percent(self.aim.power)}, "
            f"collect {size_words(best)}{{}}."
        )
        return hint(text, self.a, self.b, self._reason(best))

    @property
    def state(self) -> str:
        """Whether a size is ``planned``, or why none is: ``tied`` or ``no spread``."""
        if self.designs:
            return "planned"
        return "no spread" if self.difference > TIED else "tied"

    def reports(self) -> tuple[Finding, ...]:
        """Everything that the plan says: size, power, designs, sources of uncertainty."""
        from equipoise.planning.ranking import of_pair

        return of_pair(self).reports()

    def _reason(self, best: Design) -> Hint:
        """Why this design of all."""
        if self.cheapest is not None:
            return hint(f" (the cheapest of these designs: {count(best.cost)})")
        if len(self.designs) == 1:
            return hint("")
        if self.pilot_votes == 0:
            return hint(
                " (every truth of the pilot is known, so it cannot tell what more votes bring)"
            )
        why = f"of these designs the nearest to the {count(self.pilot_votes)} of the pilot"
        if abs(best.votes_per_item - self.pilot_votes) < 0.05:
            why = "as many votes per item as in the pilot"
        fewest = min(self.designs, key=lambda one: one.votes)
        other = f"fewest votes in all: {size_words(fewest)}"
        if fewest is best:
            other = "the fewest votes in all"
        return hint(
            f" ({why}; {other}; {{}} and {{}} would decide)",
            Option("price_item", value=True, python="the prices of an item"),
            Option("price_vote", value=True, python="of a vote"),
        )


def plan_size(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    *,
    metric: str | Metric = "auroc",
    models: tuple[str, str] | None = None,
    **how: Unpack[PowerKeywords],
) -> Size:
    """Plan how many items and votes are needed to tell two models apart.

    Parameters
    ----------
    predictions, annotations
        The pilot. Predictions of items that nobody annotated are left aside.
    metric
        Any metric that means the same for any number of items, with soft labels.
    models
        The two models; by default the two best of the pilot.
    **how
        The fields of `equipoise.planning.target.PowerTarget`: power, level, votes, items,
        difference, price_item, price_vote, simulations, seed, task, progress.

    Examples
    --------
    >>> random = np.random.default_rng(1)
    >>> share = random.random(60)
    >>> votes = Annotations.from_counts(np.stack([5 - (k := random.binomial(5, share)), k], 1))
    >>> good, poor = share + random.normal(0, 0.2, 60), share + random.normal(0, 0.6, 60)
    >>> pair = Predictions("good", votes.items, good), Predictions("poor", votes.items, poor)
    >>> plan_size(pair, votes.against("1"), simulations=0).designs[2].votes_per_item
    3
    """
    target = power_target(how)
    return plan_pair(pilot(predictions, annotations, metric, models, target.task), target)


def plan_pair(two: Pilot, target: PowerTarget) -> Size:
    """Plan for the two models of a pilot."""
    _require_possible(two.metric, target.difference)
    parts = spread(two, target.progress)
    half = target.z * math.hypot(parts.pilot, parts.panel)
    wanted = two.difference if target.difference is None else target.difference
    plan = Size(
        metric=two.metric.name,
        a=two.a,
        b=two.b,
        difference=two.difference,
        low=two.difference - half,
        high=two.difference + half,
        resolved=wanted,
        pilot_items=len(two.items),
        pilot_votes=votes_each(two),
        spread=parts,
        aim=target,
        designs=(),
        notices=two.notices,
    )
    if wanted > TIED and parts.pilot > 0:
        votes = (1,) if math.isnan(parts.votes) else target.votes  # more are not understood
        designs = designs_for(target, votes, lambda each: _design(plan, two, each))
        plan = replace(plan, designs=tuple(designs))
    return replace(plan, notices=(*two.notices, *_notices(plan, two)))


def _require_possible(metric: Metric, difference: float | None) -> None:
    """Refuse a difference that no two models can have."""
    low, high = metric.bounds
    if difference is not None and difference > high - low:
        raise InputError(
            "plan, difference",
            f"{difference:g}",
            f"at most {high - low:g}, because {metric.title} lies between {low:g} and {high:g}",
            "say how much better a model must be to matter",
        )


Made = TypeVar("Made")


def designs_for(
    target: PowerTarget, votes: Sequence[int], design: Callable[[int], Made]
) -> Iterator[Made]:
    """One design per number of votes; simulating them takes long enough to be told."""
    for done, each in enumerate(votes, 1):
        yield design(each)
        if target.progress is not None and target.simulations:
            target.progress(done, len(votes))


def _design(plan: Size, two: Pilot, votes: int) -> Design:
    """The fewest items for so many votes each, checked by simulation."""
    ideal = (plan.aim.reach / plan.resolved * plan.standard_error(1, votes)) ** 2
    items = max(3, math.ceil(ideal - 1e-9))
    return Design(
        *(votes, items, items * plan.spread.relative_error(votes), items * votes),
        *(plan.aim.cost(items, votes), plan.power(items, votes)),
        *simulated(plan, two, items, votes),
    )


def simulated(plan: Size, two: Pilot, items: int, votes: int) -> tuple[float, float]:
    """Simulated power of a design with its error; nan where it cannot be simulated."""
    target = plan.aim
    if not target.simulations or items > MOST or not can_simulate(two, votes):
        return math.nan, math.nan
    return simulated_power(two, items, votes, target, shift=plan.resolved - plan.difference)


AnyDesign = TypeVar("AnyDesign", Design, "RankingDesign")


def cheapest(designs: Sequence[AnyDesign]) -> AnyDesign | None:
    """The design that costs least; None without prices."""
    known = [one for one in designs if not math.isnan(one.cost)]
    return min(known, key=lambda one: one.cost) if known else None


def nearest_to_pilot(designs: Sequence[AnyDesign], votes: float) -> AnyDesign:
    """The design nearest to the votes of the pilot."""
    return min(designs, key=lambda one: abs(one.votes_per_item - votes))


def power_grid(plan: "Size | RankingPlan", sizes: Sequence[int]) -> list[dict[str, Cell]]:
    """Power for numbers of items, by votes per item, and the votes each needs."""
    votes, lines = [one.votes_per_item for one in plan.designs], list[dict[str, Cell]]()
    for items in sizes:
        powers = {f"power_{each}": plan.power(items, each) for each in votes}
        lines.append({"items": items, **powers, "votes_needed": plan.votes_needed(items)})
    return lines


def size_words(one: "Design | RankingDesign") -> str:
    """A design in words."""
    return f"{count(one.items, 'item')} with {count(one.votes_per_item, 'vote')} each"


def listed_votes(votes: Sequence[int]) -> str:
    """Numbers of votes in words.

    Examples
    --------
    >>> listed_votes([1]), listed_votes([1, 3])
    ('1 vote', '1, 3 votes')
    """
    return ", ".join(map(str, votes)) + (" vote" if votes == [1] else " votes")


def _notices(plan: Size, two: Pilot) -> Iterator[Notice]:
    """Everything that limits what the plan can promise."""
    open_difference = plan.aim.difference is None and plan.low <= 0
    if plan.resolved > TIED and open_difference:
        yield Notice(
            "open_difference",
            "The pilot itself leaves open whether there is a difference: {value:number} with "
            "an interval of {ends}. If it is 0, no study resolves it; if it is smaller than in "
            "the pilot, more items are needed (half the difference needs four times as many).",
            values={"value": plan.difference, "ends": interval(plan.low, plan.high)},
        )
    if math.isnan(plan.spread.votes):
        yield Notice(
            "single_votes",
            "No item of the pilot has two votes, so nobody can say what a second vote on an "
            "item brings: only designs with one vote per item are planned.",
        )
    elif plan.designs:
        yield _value_of_votes(plan)
    if plan.designs:
        yield from _people_and_votes(plan, two)
        yield from simulation_notices(plan.designs, plan.aim.simulations)


def _value_of_votes(plan: Size) -> Notice:
    """What votes alone can do on the items of the pilot."""
    if plan.spread.items == 0:
        return Notice(
            "votes_explain_all",
            "The votes of the pilot explain all of its spread, so nothing can be said about "
            "what items add: designs with many votes on few items are too optimistic. Collect "
            "a larger pilot before trusting them.",
        )
    items, needed = plan.pilot_items, plan.votes_needed(plan.pilot_items)
    if math.isinf(needed):
        return Notice(
            "votes_not_enough",
            "Votes alone cannot resolve it: with the {items:count} items of the pilot the "
            "items themselves vary too much, however many votes each has. More items are "
            "needed.",
            values={"items": items},
        )
    text = "The {items:count} items of the pilot would do with {votes:count} votes each."
    if needed > plan.pilot_votes:
        text = "With the {items:count} items of the pilot, {votes:count} votes each would do."
    return Notice("votes_enough", text, values={"items": items, "votes": needed})


def _people_and_votes(plan: Size, two: Pilot) -> Iterator[Notice]:
    """Known truths, people who lean one way, and a difference that depends on the votes."""
    known, leaning = int(two.gold.sum()), plan.spread.panel
    if known:
        which = "all" if known == plan.pilot_items else count(known)
        yield Notice(
            "known_truths",
            "The truth of {which} of the {items:count} items of the pilot is known. The plan "
            "takes it that the same share of the items of the study comes with a known truth, "
            "which is worth any number of votes.",
            values={"which": which, "items": plan.pilot_items},
        )
    if leaning > 0.1 * plan.spread.pilot:
        too_much = plan.power_with(leaning) < plan.aim.power
        people = len(np.unique(two.votes.annotator[two.votes.annotator >= 0]))
        reach = significant(plan.resolved / leaning)
        yield Notice(
            "leaning_people_limit" if too_much else "leaning_people",
            "The {people:count} annotators lean in ways that more items do not even out: a "
            "standard error of {error} stays ({reach} of them make the difference). "
            f"{NEW_PEOPLE}{f' {LIMIT}' if too_much else ''}",
            values={"people": people, "error": significant(leaning), "reach": reach},
        )
    single = None if plan.aim.difference is not None else with_single_votes(two)
    if single is not None:
        metric = titled(plan.metric)
        yield Notice(
            "depends_on_votes",
            "By {metric} the difference itself depends on the votes per item: with a single "
            "vote on each item of the pilot it is {single:number} and not {whole:number}. "
            f"{TRUST}",
            values={"metric": metric, "single": single, "whole": plan.difference},
        )


def simulation_notices(
    designs: "Sequence[Design | RankingDesign]", simulations: int
) -> Iterator[Notice]:
    """Where simulated studies do not bear the formula out, or were not run."""
    off = [
        one.votes_per_item
        for one in designs
        if abs(one.simulated - one.pair_power) > 3 * one.monte_carlo_error + 0.03
    ]
    if off:
        yield Notice(
            "simulation_differs",
            "Simulated studies do not bear out the formula for {votes} per item: trust the "
            "simulated probability, and take more items where it is lower.",
            values={"votes": listed_votes(off)},
        )
    if simulations and any(math.isnan(one.simulated) for one in designs):
        yield Notice(
            "not_simulated",
            "Designs with more votes per item than the pilot has, or more than {most:count} "
            "items, rest on the formula alone: they could not be simulated.",
            values={"most": MOST},
        )

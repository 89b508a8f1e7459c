"""How large a study must be to tell two models apart, from a pilot.

A study with n items and m votes on each has the standard error
sqrt((items^2 + votes^2 / m) / n), see `equipoise.planning._spread`. Its interval lies above 0
with chance

    power = Phi(difference / standard error - z),   z = Phi^-1((1 + level) / 2),

so that n = (z + Phi^-1(power))^2 (items^2 + votes^2 / m) / difference^2 items are needed. Every
such number is checked by simulated studies, which draw items and votes from the pilot; votes
are drawn without replacement: designs with more votes than the pilot has rest on the formula.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, NamedTuple, Unpack

from equipoise.annotations import Annotations
from equipoise.metrics import Metric
from equipoise.planning._aim import Aim, Aims, aimed
from equipoise.planning._pilot import Pilot, pilot, votes_each
from equipoise.planning._question import require_possible
from equipoise.planning._simulation import can_simulate, simulated_power
from equipoise.planning._spread import Spread, spread
from equipoise.planning._words import said, size_notices
from equipoise.predictions import Predictions

MOST = 20_000  # items of a simulated study
NORMAL = NormalDist()


class Design(NamedTuple):
    """One design that reaches the power asked for.

    `items_error` is the standard error of `items` that comes from estimating the spread from a
    small pilot; the doubt about the difference itself comes on top.
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
    aim: Aim
    designs: tuple[Design, ...]
    notices: tuple[str, ...]

    def standard_error(self, items: float, votes: float) -> float:
        """Of the difference, with so many items and votes on each; nan where not known."""
        if math.isnan(self.spread.votes):
            return self.spread.items / math.sqrt(items) if votes == 1 else math.nan
        return math.hypot(self.spread.items, self.spread.votes / math.sqrt(votes)) / math.sqrt(
            items
        )

    def power(self, items: float, votes: float) -> float:
        """Chance that the interval lies above 0."""
        return self.power_with(self.standard_error(items, votes))

    def power_with(self, error: float) -> float:
        """The same for a standard error."""
        if error == 0:
            return float(self.resolved > 0)
        return NORMAL.cdf(self.resolved / error - _z(self.aim.level))

    def votes_needed(self, items: int) -> float:
        """Votes per item that so many items need; infinite when votes cannot do it."""
        reach = _z(self.aim.level) + NORMAL.inv_cdf(self.aim.power)
        if self.resolved <= 0:
            return math.inf
        if math.isnan(self.spread.votes):
            return math.nan
        room = items * (self.resolved / reach) ** 2 - self.spread.items**2
        if self.spread.votes == 0:
            return 1.0 if room >= 0 else math.inf
        return max(1.0, math.ceil(self.spread.votes**2 / room - 1e-9)) if room > 0 else math.inf

    @property
    def cheapest(self) -> Design | None:
        """The design that costs least; None without prices."""
        known = [one for one in self.designs if not math.isnan(one.cost)]
        return min(known, key=lambda one: one.cost) if known else None

    def rows(self) -> list[dict[str, Any]]:
        """The designs, one per line."""
        return [one._asdict() for one in self.designs]

    def grid(self) -> list[dict[str, Any]]:
        """Power for numbers of items, by votes per item, and the votes each needs."""
        return [
            {
                "items": number,
                **{f"power_{m}": self.power(number, m) for m in self._known_votes()},
                "votes_needed": self.votes_needed(number),
            }
            for number in self.sizes()
        ]

    def sizes(self) -> tuple[int, ...]:
        """Numbers of items to look at: those asked for, or multiples of the pilot."""
        usual = tuple(max(3, round(self.pilot_items * k)) for k in (0.5, 1, 2, 4, 8))
        return self.aim.items or usual

    @property
    def finding(self) -> str:
        """What the plan comes to, as a sentence."""
        return said(self)

    def _known_votes(self) -> tuple[int, ...]:
        return tuple(one.votes_per_item for one in self.designs)


def plan_size(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    *,
    metric: str | Metric = "auroc",
    models: tuple[str, str] | None = None,
    **how: Unpack[Aims],
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
        The fields of `equipoise.planning._aim.Aim`: power, level, votes, items, difference,
        price_item, price_vote, simulations, seed, task, progress.

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
    aim = aimed(how)
    return sized(pilot(predictions, annotations, metric, models, aim.task), aim)


def sized(two: Pilot, aim: Aim) -> Size:
    """Plan for the two models of a pilot."""
    require_possible(two.metric, aim.difference)
    parts = spread(two, aim.progress)
    half = _z(aim.level) * math.hypot(parts.pilot, parts.panel)
    wanted = two.difference if aim.difference is None else aim.difference
    plan = Size(
        metric=two.metric.name, a=two.a, b=two.b, difference=two.difference,
        low=two.difference - half, high=two.difference + half, resolved=wanted,
        pilot_items=len(two.items), pilot_votes=votes_each(two),
        spread=parts, aim=aim, designs=(), notices=two.notices,
    )  # fmt: skip
    if wanted > 1e-12 and parts.pilot > 0:
        plan = replace(plan, designs=_designs(plan, two))
    return replace(plan, notices=(*two.notices, *size_notices(plan, two)))


def _designs(plan: Size, two: Pilot) -> tuple[Design, ...]:
    """One design per number of votes; one vote alone where more are not understood."""
    usual = (1,) if math.isnan(plan.spread.votes) else plan.aim.votes
    made = []
    for done, votes in enumerate(usual, 1):
        made.append(_design(plan, two, votes))
        if plan.aim.progress is not None and plan.aim.simulations:
            plan.aim.progress(done, len(usual))
    return tuple(made)


def _design(plan: Size, two: Pilot, votes: int) -> Design:
    """The fewest items for so many votes each, checked by simulation."""
    aim = plan.aim
    reach = _z(aim.level) + NORMAL.inv_cdf(aim.power)
    ideal = (reach / plan.resolved * plan.standard_error(1, votes)) ** 2
    items = max(3, math.ceil(ideal - 1e-9))
    return Design(
        votes, items, items * plan.spread.doubt(votes), items * votes,
        aim.cost(items, votes), plan.power(items, votes), *checked(plan, two, items, votes),
    )  # fmt: skip


def checked(plan: Size, two: Pilot, items: int, votes: int) -> tuple[float, float]:
    """Simulated chance of a design with its error; nan where it cannot be simulated."""
    aim = plan.aim
    if not aim.simulations or items > MOST or not can_simulate(two, votes):
        return math.nan, math.nan
    return simulated_power(
        two, (items, votes), plan.resolved - plan.difference, aim.level,
        (aim.simulations, aim.seed),
    )  # fmt: skip


def _z(level: float) -> float:
    return NORMAL.inv_cdf(0.5 + level / 2)

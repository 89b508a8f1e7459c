"""How large a study must be to tell models apart, from a pilot: items and annotators.

For every number of annotators (and votes per item, and items per group) the fewest units are
sought with which the interval of the study lies above 0 with the power asked for; see
`planning.power_analysis`. Annotators leave an error that items do not lessen, so that below
some number of them no study does. Every design is checked by simulated studies. A pilot that
has not found a difference says nothing about how large it is, and must be told one.

The order of k models is k - 1 pairs of neighbours. If pair j is told apart with probability
p_j, all are with a probability of at least

    1 - sum over j of (1 - p_j),

whatever hangs together. More items and more votes raise every p_j, so the smallest study that
reaches a power is found by doubling and halving: easy pairs use little of what may fail, the
closest one nearly all of it. Pairs that no size can be planned for are named, and left aside.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from equipoise.inference import Reason
from equipoise.metrics import Metric
from equipoise.scale.engine import current
from equipoise.study.cautions import is_plug_in
from equipoise.study.planning.pilot import Pilot, ValuePilot, pilots
from equipoise.study.planning.power_analysis import (
    LEAST,
    VOTES,
    DifferenceVariances,
    PowerTarget,
    Shape,
    can_simulate,
    narrow,
    power,
    power_target,
    simulated_power,
)
from equipoise.types import (
    Annotations,
    Cell,
    Claim,
    Decision,
    Finding,
    InputError,
    Names,
    Notice,
    Notices,
    Option,
    Predictions,
    count,
    exact_percent,
    hint,
    immutable,
    interval,
    number,
    short_repr,
)

FEWEST = 30, 8  # items and groups of a study, below which nothing here is close
EVENTS = 10  # expected items of the rarer class, below which nothing here is close
OPEN = 0.1, 0.9  # quantiles of what the pilot leaves open of the variance
MOST = 10_000_000  # units; what needs more is out of reach
PEOPLE = 5_000  # annotators beyond which nobody looks
TIED = 1e-12  # difference up to which models are tied
FEW = 6  # annotators of a pilot, below which what they add is roughly known at best
DIFFERENCE = Option("difference")
OF_PAIR = ("a", "b", "pair_power")  # what a design for two models need not say


class Design(NamedTuple):
    """One design that reaches the power asked for.

    `annotators` is 0 where nobody knows who votes. `groups` is the number of items where items
    have no groups. `cost` is nan without prices. `power` is the least probability that all
    pairs are told apart; a and b are the pair that is hardest to tell apart, or the only one,
    and `pair_power` is its own. `events` is how many items of the rarer class to expect, nan
    where no class is rare. `power_low` and `power_high` are the power where the variance of the
    pilot lies at the ends of what it leaves open. `simulated` is the share of simulated studies
    that resolve that pair, with its Monte Carlo error; nan where none were simulated.
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
    events: float = math.nan
    power_low: float = math.nan
    power_high: float = math.nan
    simulated: float = math.nan
    monte_carlo_error: float = math.nan

    @property
    def shape(self) -> Shape:
        """The design without its size."""
        return Shape(self.annotators, self.votes_per_item, self.items // max(self.groups, 1))


@immutable(kw_only=True)
class PairPlan:
    """How many items and annotators tell two models apart, or know one well enough.

    Attributes
    ----------
    metric, title, a, b
        Which difference: by how much a is better than b; without b the value of a.
    difference, low, high
        In the pilot, with its interval.
    claim
        What the pilot asserts of it, among all its models.
    decided
        Whether the pilot itself found it; true where the plan was given a difference instead.
    pilot_items, pilot_votes, pilot_annotators, group_size
        Items in the pilot, votes per item on average (items of known truth apart), annotators
        (0 where they are not known), and items of a group (0 without groups).
    several
        Whether some item has two votes, so that one can say what more of them bring.
    components, df
        Variances by items, annotators and votes, and how well they are known: the degrees of
        freedom of the pilot.
    rare
        Share of the rarer class, where the metric is of a class; nan elsewhere. A study without
        any has found nothing.
    aim
        What was asked.
    designs
        One per number of annotators that can reach the power.
    notices
        What the user should know.
    reach
        Where a width is the aim: the half width of the plain interval that is narrow enough.
    """

    metric: str
    title: str
    a: str
    b: str
    difference: float
    low: float
    high: float
    claim: Claim
    decided: bool
    pilot_items: int
    pilot_votes: float
    pilot_annotators: int
    group_size: float
    several: bool
    components: DifferenceVariances
    aim: PowerTarget
    df: float = math.inf
    rare: float = math.nan
    designs: tuple[Design, ...] = ()
    notices: Notices = ()
    reach: float = math.nan

    __repr__ = short_repr

    @property
    def resolved(self) -> float:
        """The difference that the plan is made for."""
        if self.aim.difference is not None:
            return self.aim.difference
        return 0.0 if self.aim.margin is not None else self.difference

    @property
    def effect(self) -> float:
        """How far that is from what must be excluded: 0, or minus the margin; or the reach."""
        if self.aim.width is not None:
            return self.reach
        return self.resolved + (self.aim.margin or 0.0)

    @property
    def assumed(self) -> bool:
        """Whether the plan rests on a difference that was given."""
        return any(
            x is not None for x in (self.aim.difference, self.aim.margin, self.aim.width)
        )

    @property
    def state(self) -> str:
        """Whether a size is ``planned``, or why none is."""
        if self.designs:
            return "planned"
        if self.standard_error(self.pilot_units, self.pilot_shape) <= TIED:
            return "no spread" if self.difference > TIED or self.aim.alone else "tied"
        if not self.assumed and not self.decided:
            return "tied" if self.difference <= TIED else "not plannable"
        return "out of reach"

    @property
    def pilot_shape(self) -> Shape:
        """The design of the pilot."""
        votes = max(round(self.pilot_votes), 0)
        people = max(self.pilot_annotators, LEAST) if self.pilot_annotators else 0
        return Shape(people, votes, max(round(self.group_size), 1))

    @property
    def pilot_units(self) -> float:
        """Groups of the pilot, or items."""
        return self.pilot_items / self.group_size if self.group_size else self.pilot_items

    def shapes(self) -> list[Shape]:
        """Designs to look at, but for their number of units."""
        aim, usual = self.aim, max(round(self.group_size), 1)
        per_unit: Sequence[int] = (1,)
        if self.group_size:
            per_unit = aim.items_per_group or sorted({max(1, round(usual / 10)), usual})
        if not self.pilot_votes:
            panels = [(0, 0)]
        elif not self.several:
            panels = [(0, 1)]
        elif not self.pilot_annotators:
            panels = [(0, votes) for votes in aim.votes or VOTES]
        else:
            votes = round(self.pilot_votes)
            every = (votes,) if votes < self.pilot_annotators else (PEOPLE,)  # all of them
            panels = [
                (people, votes)
                for people in aim.annotators
                for votes in sorted({min(number, people) for number in aim.votes or every})
            ]
        return [Shape(*panel, items) for panel in panels for items in per_unit]

    def standard_error(self, units: float, shape: Shape) -> float:
        """Of the difference in a study of this size."""
        return self.components.spread(units, shape).standard_error

    def power(self, units: float, shape: Shape) -> float:
        """Probability that the interval of such a study is as the aim says."""
        expected = self.components.spread(units, shape)
        reached = power if self.aim.width is None else narrow
        return reached(expected, self.effect, self.aim.level) * self.any_event(units, shape)

    def any_event(self, units: float, shape: Shape) -> float:
        """Probability of a study with items of both classes."""
        return 1.0 if math.isnan(self.rare) else 1 - (1 - self.rare) ** (units * shape.per_unit)

    def open_power(self, units: float, shape: Shape) -> tuple[float, float]:
        """The power over what the pilot leaves open of the variance."""
        from scipy.special import chdtri

        low, high = (
            replace(self, components=self.components.times(factor)).power(units, shape)
            for factor in (self.df / float(chdtri(self.df, 1 - end)) for end in OPEN)
        )
        return low, high

    def least_annotators(self) -> int | None:
        """Fewest annotators with whom some number of items is enough; None if there is none."""
        enough = self.aim.power
        limit = math.inf if self.components.annotators > 0 else 1e12
        return smallest(
            lambda people: self.power(limit, Shape(people, people)) >= enough, LEAST, PEOPLE
        )

    @property
    def pair(self) -> str:
        """Names of the two models, for tables and figures."""
        return f"{self.a} / {self.b}" if self.b else self.a

    @property
    def who(self) -> str:
        """The same in a sentence."""
        return f"{self.a} and {self.b}" if self.b else self.a

    @property
    def finding(self) -> str:
        """What the plan comes to, as a sentence."""
        title, state = self.title, self.state
        if state == "no spread":
            return (
                f"Every item of the pilot says the same about {self.who}: its "
                "spread is 0, and no size can be planned from it."
            )
        if state == "tied":
            return (
                f"No number of items or annotators tells {self.a} from {self.b} by {title}: "
                "their difference in the pilot is 0."
            )
        if state == "not plannable":
            ends = interval(self.low, self.high)
            why = (
                f"Not plannable from this pilot: {self.a} scores better than {self.b} by "
                f"{number(self.difference)} in {title}, but {self._open(ends)}, so that "
                "nobody knows how large a difference there is to find."
            )
            return hint("{} Give the smallest one that matters ({}).", why, DIFFERENCE)
        best = recommended(self.designs, self)
        chance = exact_percent(self.aim.power)
        if best is None:
            return f"{self._goal()} with a probability of {chance}: {self.limit()}".rstrip()
        what = f"{self._goal()} with a probability of {chance}, collect {size_words(best)}"
        why = reason(self.designs, best, self.aim)
        return hint("{}{}.{}", what, why, f" {self.limit()}".rstrip())

    def _open(self, ends: str) -> str:
        if 0 < self.pilot_annotators < LEAST:
            return f"{count(self.pilot_annotators, 'annotator')} cannot stand for others"
        if self.low > 0:
            return "among all models of the pilot the two are not surely apart"
        return f"its interval {ends} includes 0"

    def _goal(self) -> str:
        title, by = self.title, number(self.resolved)
        if self.aim.width is not None:
            level, width = exact_percent(self.aim.level), number(self.aim.width)
            return f"For a {level} interval of {title} of {self.a} of at most ±{width}"
        if self.aim.margin is None:
            return f"To find that {self.a} is better than {self.b} by {by} in {title}"
        worse = f"by {number(self.aim.margin)} or more in {title}"
        truly = "the two are equal" if not self.resolved else f"it is better by {by}"
        return f"To find that {self.a} is not worse than {self.b} {worse} if {truly},"

    def limit(self) -> str:
        """Below which number of annotators no number of items is enough, as a sentence."""
        if not self.pilot_annotators or not self.components.annotators > 0:
            return ""
        least = self.least_annotators()
        if least is None:
            return f"no number of items reaches it, even with {count(PEOPLE)} annotators."
        if least <= LEAST:
            return "" if self.designs else f"it takes more than {count(MOST)} items."
        few = f"with fewer than {count(least)} annotators no number of items reaches it."
        return few if not self.designs else few[0].upper() + few[1:]


def plan_size(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    *,
    metric: str | Metric = "auroc",
    models: Names | None = None,
    ranking: bool = False,
    **how: Any,
) -> "SizePlan":
    """Plan how many items and annotators are needed to tell models apart.

    With ``width`` the plan is for the interval of one model's value, with ``readers`` for one
    model next to the mean annotator.

    Parameters
    ----------
    predictions, annotations
        The pilot. Predictions of items that nobody annotated are left aside.
    metric
        Any metric that means the same for any number of items, with soft labels.
    models
        The two models; by default the two best of the pilot. Or the one model.
    ranking
        Plan for the whole order instead: every model against the next, best first. The power is
        then that of all pairs together, and of each design the pair that is hardest to tell
        apart is simulated.
    **how
        The fields of `planning.power.PowerTarget`: power, level, annotators, votes,
        items_per_group, difference, margin, readers, width, thresholds, price_item,
        price_vote, price_annotator, simulations, seed, task, progress.

    Examples
    --------
    >>> from equipoise.datasets.demo import reading_study
    >>> readings, scores = reading_study()
    >>> plan = plan_size(scores, readings, difference=0.005, simulations=0)
    >>> [design.annotators for design in plan.designs]
    [3, 5, 8, 12, 20]
    >>> order = plan_size(scores, readings, ranking=True, simulations=0)
    >>> len(order.models) - len(order.pairs), order.designs[0].power >= 0.8
    (1, True)
    """
    target = power_target(how)
    looked_at = pilots(predictions, annotations, metric, models, aim=target, ranking=ranking)
    if (
        target.margin is not None and models is not None and not target.alone
    ):  # the first is not worse
        looked_at = [replace(two, a=models[0], b=models[1]) for two in looked_at]
    quiet = replace(target, progress=None)
    plan = SizePlan(aim=target, pairs=tuple(_plan_pair(two, quiet) for two in looked_at))
    if plan.planned:
        plan = replace(plan, designs=_designs(plan))
    return replace(plan, notices=_notices(plan))


def _plan_pair(two: Pilot, target: PowerTarget) -> PairPlan:
    """Plan for the two models of a pilot alone."""
    low, high = two.metric.bounds
    for name, most in (("difference", 1), ("margin", 1), ("width", 0.5)):
        value = getattr(target, name)
        if value is not None and value > most * (high - low):
            why = f"because {two.metric.title} lies between {low:g} and {high:g}"
            got, expected = f"{value:g}", f"at most {most * (high - low):g}, {why}"
            do = "say how much better, or worse, a model must be to matter"
            do = "say how far the interval may reach to either side" if name == "width" else do
            raise InputError(f"plan, {name}", got, expected, do)
    half = two.spread.half_width(target.level)
    ends = two.difference - half, two.difference + half
    reach, assumed = math.nan, target.difference is not None or target.margin is not None
    if isinstance(two, ValuePilot) and target.width is not None:
        ends = two.spread.interval(two.difference, target.level, two.metric.bounds)
        reach = two.plain_width(target.width)
    sizes, varies = two.group_sizes, two.usual if target.difference else two
    pair = PairPlan(
        metric=two.metric.name,
        title=two.title,
        a=two.a,
        b=two.b,
        difference=two.difference,
        low=ends[0],
        high=ends[1],
        reach=reach,
        claim=two.claim,
        decided=assumed or two.claim.decision is Decision.SUPERIOR,
        pilot_items=len(two.items),
        pilot_votes=two.votes_each,
        pilot_annotators=two.people,
        group_size=float(sizes.mean()) if len(sizes) else 0.0,
        several=two.several,
        components=varies.components,
        df=varies.spread.df,
        rare=two.rare,
        aim=target,
    )
    if pair.state == "out of reach":  # and not why there is nothing to plan for
        pair = replace(pair, designs=_designs_of((pair,), pair.shapes()))
    return replace(pair, notices=(*two.notices, *_pair_notices(pair, two)))


def _designs(plan: "SizePlan") -> tuple[Design, ...]:
    """A design of every shape that has one for all pairs; simulating them takes long.

    They are made on the engine in use, maybe by other processes.
    """
    designs = plan.planned[0].designs
    if plan.ranks:
        designs = _designs_of(plan.planned, plan.planned[0].shapes())
    progress = plan.aim.progress if plan.aim.simulations else None
    simulated = current().map(partial(_simulated, plan.planned), designs, progress=progress)
    return tuple(simulated)


def _designs_of(pairs: Sequence[PairPlan], shapes: Sequence[Shape]) -> tuple[Design, ...]:
    every_design = current().map(partial(_design, pairs), shapes)
    return tuple(design for design in every_design if design is not None)


def _design(pairs: Sequence[PairPlan], shape: Shape) -> Design | None:
    """The fewest units of a shape that reach the power; None where no number does."""
    aim, grouped = pairs[0].aim, bool(pairs[0].group_size)
    enough = aim.power - 1e-12
    rare = pairs[0].rare
    least = 0 if math.isnan(rare) else math.ceil(EVENTS / rare / shape.per_unit)
    units = smallest(
        lambda number: power_of_all(pairs, number, shape) >= enough,
        max(FEWEST[grouped], least),
        MOST,
    )
    if units is None:
        return None
    hard = min(pairs, key=lambda pair: pair.power(units, shape))
    items, people = units * shape.per_unit, shape.annotators
    votes = items * shape.votes
    return Design(
        annotators=people,
        votes_per_item=shape.votes,
        groups=units,
        items=items,
        votes=votes,
        cost=aim.cost(items, votes, people),
        a=hard.a,
        b=hard.b,
        power=power_of_all(pairs, units, shape),
        pair_power=hard.power(units, shape),
        events=rare * items,
        **dict(zip(("power_low", "power_high"), hard.open_power(units, shape), strict=True)),
    )


def power_of_all(pairs: Sequence[PairPlan], units: float, shape: Shape) -> float:
    """Least probability that a study of this size tells all pairs apart."""
    return max(0.0, 1 - sum(1 - pair.power(units, shape) for pair in pairs))


def _simulated(pairs: Sequence[PairPlan], design: Design) -> Design:
    """The design with the simulated power of its hardest pair, where it is simulated."""
    aim, units = pairs[0].aim, design.groups
    if not aim.simulations or not can_simulate(units, design.shape, aim.simulations):
        return design
    hard = next(pair for pair in pairs if (pair.a, pair.b) == (design.a, design.b))
    share, error = simulated_power(hard.components, units, design.shape, hard.effect, aim)
    share *= hard.any_event(units, design.shape)
    return design._replace(simulated=share, monte_carlo_error=error)


def smallest(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """Smallest whole number that is enough, where all above it are, too.

    Examples
    --------
    >>> smallest(lambda n: n >= 1000, 3, 5000), smallest(lambda n: n >= 9000, 3, 5000)
    (1000, None)
    """
    if not enough(most):
        return None
    high = least
    while high < most and not enough(high):
        high = min(2 * high, most)
    low = max(least - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def recommended(designs: Sequence[Design], plan: PairPlan) -> Design | None:
    """The cheapest design; without prices that nearest to the pilot, None without designs.

    Near in annotators, votes and groups, each as a factor.
    """

    def away(design: Design) -> float:
        numbers = zip(design.shape, plan.pilot_shape, strict=True)
        return sum(abs(math.log(max(x, 1) / max(y, 1))) for x, y in numbers)

    priced = plan.aim.price_item is not None
    return min(designs, key=_cost if priced else away, default=None)


def _cost(design: Design) -> float:
    return design.cost


def reason(designs: Sequence[Design], best: Design, aim: PowerTarget) -> str:
    """Why this design of all."""
    if len(designs) == 1:
        return ""
    if aim.price_item is not None:
        return f" (the cheapest of these designs: {count(best.cost)})"
    fewest = min(designs, key=lambda design: design.votes)
    other = f"fewest votes in all: {size_words(fewest)}"
    if fewest is best:
        other = "the fewest votes in all"
    return hint(
        f" (nearest to the pilot; {other}; {{}} and {{}} would decide)",
        Option("price_item", value=True, python="the prices of an item"),
        Option("price_vote", value=True, python="of a vote"),
    )


def size_words(design: Design) -> str:
    """A design in words.

    Examples
    --------
    >>> size_words(Design(8, 8, 500, 500, 4000, 0.0, "a", "b", 0.8, 0.8, 0.8, 0.0))
    '500 items read by 8 annotators each'
    """
    items = count(design.items, "item")
    if design.groups != design.items:
        items = f"{count(design.groups, 'group')} of {count(design.shape.per_unit, 'item')}"
    return f"{items} {panel_words(design.shape)}"


def panel_words(shape: Shape) -> str:
    """Who votes on an item, in words."""
    if not shape.votes:
        return "with a known truth each"
    if not shape.annotators:
        return f"with {count(shape.votes, 'vote')} each"
    if shape.votes < shape.annotators:
        return f"read by {shape.votes} of {count(shape.annotators, 'annotator')} each"
    return f"read by {count(shape.annotators, 'annotator')} each"


def _pair_notices(plan: PairPlan, two: Pilot) -> Iterator[Notice]:
    """Everything that limits what the plan can promise."""
    reason_why = two.spread.population.reason
    if reason_why is Reason.ANONYMOUS and plan.several:
        yield Notice(
            "annotators_unknown",
            "Nobody knows who voted, so habits of annotators cannot be seen: the plan holds "
            "for ever new people, and a study with a few annotators has less power.",
        )
    if plan.pilot_votes and not plan.several:
        yield Notice(
            "single_votes",
            "No item of the pilot has two votes, so nobody can say what a second vote, or "
            "another annotator, brings: only designs with one vote per item are planned.",
        )
    if 0 < plan.pilot_annotators < FEW and plan.designs:
        yield Notice(
            "few_annotators",
            "What annotators add was estimated from {people:count} of them, and is roughly "
            "known at best: plan again once more have voted.",
            values={"people": plan.pilot_annotators},
        )
    gold_items = int(two.gold.sum())
    if gold_items and plan.designs:
        which = "all" if gold_items == plan.pilot_items else count(gold_items)
        yield Notice(
            "known_truths",
            "The truth of {which} of the {items:count} items of the pilot is known. The plan "
            "takes it that the same share of the items of the study comes with a known truth.",
            values={"which": which, "items": plan.pilot_items},
        )
    if is_plug_in(two.metric) and plan.designs and not plan.assumed:
        yield Notice(
            "depends_on_votes",
            "By {metric} the difference itself depends on the votes per item: trust only "
            "designs with about as many votes per item as the pilot.",
            values={"metric": plan.title},
        )


def _simulation_notices(designs: Sequence[Design], simulations: int) -> Iterator[Notice]:
    """Where simulated studies do not bear the formula out, or were not run."""
    off = [
        design for design in designs
        if design.simulated < design.pair_power - 3 * design.monte_carlo_error - 0.03
    ]  # fmt: skip
    if off:
        yield Notice(
            "simulation_differs",
            "Simulated studies find less than was promised for {designs}: take more items.",
            values={"designs": "; ".join(size_words(design) for design in off)},
        )
    if simulations and any(math.isnan(design.simulated) for design in designs):
        yield Notice(
            "not_simulated", "Some designs are too large to be simulated with so many studies."
        )


FAR = 20  # times the pilot
NAMED = 3  # pairs that a sentence names


@immutable(kw_only=True)
class SizePlan:
    """How many items and annotators tell two models apart, or find the order of several.

    Attributes
    ----------
    aim
        What was asked, of all pairs together.
    pairs
        Every model against the next, best first, each with what it needs alone for the power
        asked for; a single one of two models.
    designs
        One per number of annotators that can reach it; empty when no pair can be planned for.
    notices
        What the user should know.
    """

    aim: PowerTarget
    pairs: tuple[PairPlan, ...]
    designs: tuple[Design, ...] = ()
    notices: Notices = ()

    __repr__ = short_repr

    @property
    def models(self) -> Names:
        """All models, best first."""
        return (self.pairs[0].a, *(pair.b for pair in self.pairs if not self.aim.alone))

    @property
    def planned(self) -> tuple[PairPlan, ...]:
        """The pairs that a size can be planned for."""
        return tuple(pair for pair in self.pairs if pair.designs)

    @property
    def recommended(self) -> Design | None:
        """The cheapest design; without prices the one nearest to the pilot."""
        return recommended(self.designs, self.pairs[0])

    @property
    def ranks(self) -> bool:
        """Whether there are more than two models."""
        return len(self.pairs) > 1

    @property
    def hardest(self) -> PairPlan:
        """The pair that is hardest to tell apart; without a plan, one that cannot be."""
        best = self.recommended
        if best is None:
            return min(self.pairs, key=lambda pair: pair.difference)
        return next(pair for pair in self.pairs if (pair.a, pair.b) == (best.a, best.b))

    def power(self, units: float, shape: Shape) -> float:
        """Least probability that a study of this size tells all planned pairs apart."""
        return power_of_all(self.planned, units, shape)

    def rows(self) -> list[dict[str, Cell]]:
        """The designs, one per line; those of a ranking have their hardest pair."""
        rows = [design._asdict() for design in self.designs]
        hidden = () if self.ranks else OF_PAIR
        return [{key: row[key] for key in row if key not in hidden} for row in rows]

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
            lost = [f"{pair.a} and {pair.b}" for pair in self.pairs if pair.state == state]
            more = len(lost) - NAMED
            rest = f"; and {more:,} more pair{'s' * (more > 1)}" if more > 0 else ""
            if lost:
                sentences.append(text.format("; ".join(lost[:NAMED]) + rest))
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
                    f"To find {what} by {self.pairs[0].title} with a probability of "
                    f"at least {exact_percent(self.aim.power)}, collect {size_words(best)}",
                    reason(self.designs, best, self.aim),
                    *(best.a, best.b),
                ),
            ]
        )

    @property
    def open(self) -> bool:
        """Whether the pilot left some pair open."""
        return any(pair.state == "not plannable" for pair in self.pairs)

    def reports(self) -> tuple[Finding, ...]:
        """Everything that the plan says: size, power, designs, every pair."""
        from equipoise.study.planning.findings import plan_findings

        return plan_findings(self)


def _joined(sentences: list[str]) -> str:
    return hint(" ".join(["{}"] * len(sentences)), *sentences)


def _notices(plan: SizePlan) -> Notices:
    """Every notice once, with the pairs it is about where it is not about all."""
    about: dict[str, tuple[Notice, list[str]]] = {}
    for pair in plan.pairs:
        for notice in pair.notices:
            about.setdefault(str(notice), (notice, []))[1].append(pair.pair)
    merged = [
        notice if len(pairs) == len(plan.pairs) else notice.of(*pairs)
        for notice, pairs in about.values()
    ]
    merged += _simulation_notices(plan.designs, plan.aim.simulations)
    least = min((design.items for design in plan.designs), default=0)
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

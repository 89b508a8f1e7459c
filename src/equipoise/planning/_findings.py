"""What a plan says of its size, power, designs, sources of uncertainty and pairs, as findings.

A plan for two models is the plan of a ranking with one pair. Of several pairs the power is the
least probability that all are told apart, as in the plan itself, so that curves, contours and
designs meet.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from equipoise.arrays import InputError, wrong_type
from equipoise.findings import (
    Cell,
    Column,
    Dot,
    Dots,
    Finding,
    Line,
    Lines,
    Report,
    Table,
    columns,
)
from equipoise.metrics import named, titled
from equipoise.numbers import (
    change,
    count,
    estimate,
    exact_percent,
    number,
    percent,
    significant,
)
from equipoise.planning.next_votes import NextForRanking, NextItems
from equipoise.planning.ranking import RankingDesign, RankingPlan, of_pair
from equipoise.planning.size import Size, listed_votes, power_grid, size_words
from equipoise.wording import capital

STEPS = 25  # numbers of items along a curve
OTHER = (0.5, 0.95)  # powers drawn beside the one asked for
OF_PAIR = ("a", "b", "pair_power")  # what a design for two models need not say
PAIRS = 20  # pairs of a figure; all are in the table
SPREAD_OUT = 30  # times the smallest, from which on logarithms are drawn
SOURCES = {"items": "the items", "votes": "single votes", "annotators": "who votes"}
VOTES, ITEMS = columns("count", "votes_per_item", "items")
(POWER,) = columns("percent", "power")
VERDICT_NOTE = (
    "The difference is that of the metric with soft labels (the mean vote), positive when the "
    "first model is better. The interval of the pilot includes what these annotators add."
)
PLANNED_NOTE = (
    " The planned interval is what to expect if the difference is the one that the plan is "
    "made for; a real study will find it to the left or to the right of that. The plan counts "
    "votes as from ever new people."
)
PICKED_NOTE = (
    " A difference taken from a pilot tends to be too large when the pair was picked by it: "
    "name the smallest one that matters instead, if there is one."
)
POWER_NOTE = (
    "The probability that the interval of the study lies above 0, if the difference is the one "
    "that the plan is made for: Φ(difference / standard error − z), with standard error "
    "√((items² + votes²/m)/n) for n items with m votes each; both parts are the pilot's."
)
JOINT_NOTE = (
    " For the ranking it is the least probability that all pairs of neighbours are told apart: "
    "1 minus the sum of the probabilities to miss one. Pairs without a plan are left aside."
)
DESIGNS_NOTE = (
    "Their standard error comes from estimating the two spreads from the pilot; the "
    "uncertainty about the difference itself comes on top. The simulated power is the share of "
    "studies, drawn from the items and votes of the pilot, whose interval lies above 0, with "
    "its Monte Carlo error; designs with more votes than the pilot has cannot be simulated."
)
PAIR_ITEMS = "Items needed: (z + Φ⁻¹(power))² (items² + votes²/m) / difference². "
RANKING_ITEMS = (
    "Items needed: the fewest with which 1 minus the sum of the probabilities to miss a pair "
    "is the power asked for; the hardest pair, the one most likely missed, takes most of what "
    "may fail, and only it is simulated. "
)
SOURCES_NOTE = (
    "Standard errors of the difference by source; their squares add up, and shares are of that "
    "sum. Items: other items like these would say something else. Votes: other votes on the "
    "same items. Annotators: what people who lean one way on all items add beyond their single "
    "votes; more items do not lessen it, and it stays if the same people vote. It is 0 where "
    "annotators are not known, and where no leaning was found."
)
GRID_LEGEND = "Votes needed: on each of so many items, for the power that was asked for."
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


def plan_findings(plan: RankingPlan) -> tuple[Finding, ...]:
    """Size, power, designs, sources, and every pair; what was not planned is left out."""
    best = plan.recommended
    planned = () if best is None else (_power(plan, best), _designs(plan, best))
    return (_verdict(plan), *planned, _sources(plan), *([_pairs(plan)] if plan.ranks else []))


def _votes_on_each(votes: float) -> str:
    """Write a number of votes on each item; none where all truths are known.

    Examples
    --------
    >>> _votes_on_each(1), _votes_on_each(3), _votes_on_each(0)
    ('1 vote', '3 votes', 'a known truth')
    """
    return count(votes, "vote") if votes > 0 else "a known truth"


def _pilot_size(plan: RankingPlan, join: str) -> str:
    """Items of the pilot and votes on each."""
    first = plan.pairs[0]
    return f"{count(first.pilot_items, 'item')}{join} {_votes_on_each(first.pilot_votes)} each"


def _of_pair(plan: RankingPlan) -> str:
    """Which pair is shown, and why it is this one of a ranking."""
    why = "the pair that is hardest to tell apart" if plan.designs else "no plan for any pair"
    return plan.hardest.pair + f" ({why})" * plan.ranks


def _verdict(plan: RankingPlan) -> Finding:
    """How many items and votes, and the interval that they are to give."""
    intervals, hard = _intervals(plan), plan.hardest
    title, best = titled(hard.metric), plan.recommended
    first, pilot = plan.pairs[0], _pilot_size(plan, " with")
    found = f"{len(plan.models)} models by {title}"
    if not plan.ranks:
        by = estimate(first.difference, first.low, first.high)
        found = f"{first.a} is better than {first.b} by {by} in {title}"
    expected = ", and what to expect of the planned study" if best else ""
    picked = best is not None and plan.aim.difference is None
    table = Table(
        name="plan_intervals",
        caption=f"Difference of {_of_pair(plan)} in {title} and its interval",
        columns=(
            *(Column("study", "study"), ITEMS, VOTES),
            Column("value", "difference", "change", ("low", "high")),
        ),
        rows=[one._asdict() for one in intervals],
    )
    chart = Dots(
        name="plan-interval",
        caption=f"Difference of {_of_pair(plan)} in {title}, with its "
        f"{exact_percent(plan.aim.level)} interval in the pilot{expected}",
        axis=f"difference in {title}; right of 0: {hard.a} is better",
        rows=[Dot(one.study, *one[3:], remark=change(one.value)) for one in intervals],
        zero=True,
    )
    return Finding(
        key="verdict",
        title="How many items and votes?",
        sentence=plan.finding,
        more=(f"Pilot: {found}, on {pilot}.",),
        tables=(table,),
        charts=(chart,),
        note=VERDICT_NOTE + PLANNED_NOTE * bool(best) + PICKED_NOTE * picked,
        methods=_methods(plan),
        references=("roe1997", "efron1993"),
        notices=plan.notices,
    )


class _Interval(NamedTuple):
    """The difference in one study, with its interval."""

    study: str
    items: int
    votes_per_item: float
    value: float
    low: float
    high: float


def _intervals(plan: RankingPlan) -> list[_Interval]:
    """The difference in the pilot, and the interval that the study is to find."""
    one, best = plan.hardest, plan.recommended
    size = (one.pilot_items, one.pilot_votes)
    pilot = _Interval("pilot", *size, one.difference, one.low, one.high)
    if best is None:
        return [pilot]
    size, goal = (best.items, best.votes_per_item), one.resolved
    half = plan.aim.z * one.standard_error(*size)
    return [pilot, _Interval("planned", *size, goal, goal - half, goal + half)]


def _methods(plan: RankingPlan) -> str:
    """How the study was planned, for a paper."""
    first, target, best = plan.pairs[0], plan.aim, plan.recommended
    what = f"the difference of {first.a} and {first.b}"
    reached = f"with a probability of {exact_percent(target.power)}"
    if plan.ranks:
        what = f"the order of {len(plan.models)} models"
        reached = (
            "for all pairs of neighbours together with a probability of at least "
            f"{exact_percent(target.power)} (1 minus the sum of the probabilities to miss one)"
        )
    split = "was estimated by the jackknife over items"
    if first.pilot_votes > 0 and math.isnan(plan.hardest.spread.votes):
        split += "; without two votes on any item, what single votes add was not told apart"
    elif first.pilot_votes > 0:
        split = (
            "was split into what items and what single votes add, estimated by the jackknife "
            "over items and from the votes of one item against each other; what leaning "
            "annotators add was estimated apart"
        )
    found = plan.finding
    if best is not None:
        difference = "the difference found in the pilot"
        if target.difference is not None:
            difference = f"a difference of {number(target.difference)}"
        lost = [f"{one.a} and {one.b}" for one in plan.pairs if not one.designs]
        rest = f" No size could be planned for {'; '.join(lost)}." if lost else ""
        found = (
            f"The size was chosen so that the {exact_percent(target.level)} interval of "
            f"{difference} lies above 0 {reached}, by the normal approximation; this takes "
            f"{size_words(best)}.{rest}"
        )
    done = [one.votes_per_item for one in plan.designs if not math.isnan(one.simulated)]
    if done:
        which = " for the pair hardest to tell apart" if plan.ranks else ""
        found += (
            f" Designs with {listed_votes(done)} per item were checked{which} by "
            f"{count(target.simulations)} studies simulated from the items and votes of the "
            f"pilot (seed {target.seed})."
        )
    return (
        f"We planned a study of {what} by {titled(first.metric)} (labels: the mean vote)"
        f"{f' for {target.task}' if target.task else ''} from a pilot of "
        f"{_pilot_size(plan, ' with')}. The variance of the paired difference {split} "
        f"[@efron1993; @roe1997]. {found}"
    )


def _power(plan: RankingPlan, best: RankingDesign) -> Finding:
    """Power against the number of items, by votes on an item."""
    event = "Probability of resolving the difference"
    if plan.ranks:  # of several pairs it is the least
        event = "Least probability of finding the order of all neighbours"
    votes, rows = [one.votes_per_item for one in plan.designs], _power_rows(plan)
    heads = [Column(f"power_{each}", _votes_on_each(each), "percent") for each in votes]
    return Finding(
        key="power",
        title="What could a larger or smaller study do?",
        sentence=_power_sentence(plan, best),
        tables=(
            Table(
                name="plan_grid",
                caption=f"{event}, by items and votes on each",
                columns=(ITEMS, *heads, *columns("count", "votes_needed")),
                rows=power_grid(plan, plan.pairs[0].sizes()),
                legend=GRID_LEGEND,
            ),
            Table(
                name="plan_power",
                caption=f"{event}, along the curves",
                columns=(VOTES, ITEMS, POWER),
                rows=rows,
                brief=(),
            ),
        ),
        charts=(_power_chart(plan, rows, event),),
        note=POWER_NOTE + JOINT_NOTE * plan.ranks,
    )


def _power_chart(plan: RankingPlan, rows: Sequence[Mapping[str, float]], event: str) -> Lines:
    """A line for some numbers of votes on an item, and one through all designs."""
    last = len(plan.designs) - 1
    best = plan.designs.index(plan.recommended) if plan.recommended else 0
    some = [plan.designs[place].votes_per_item for place in sorted({0, best, last // 2, last})]
    planned = sorted((float(one.items), one.power) for one in plan.designs)
    lines = [Line(f"{exact_percent(plan.aim.power)} asked for", planned, dashed=True)]
    for votes in some:
        own = [row for row in rows if row["votes_per_item"] == votes]
        points = [(float(row["items"]), row["power"]) for row in own]
        lines.append(Line(_votes_on_each(votes), points, dots=False))
    return Lines(
        name="plan-power",
        caption=f"{event} by items (logarithmic axis) and votes on an item; dots: the designs "
        "below; upright line: items of the pilot",
        x="items in the study",
        y="power",
        lines=lines,
        marks=((float(plan.pairs[0].pilot_items), "pilot"),),
        y_range=(0.0, 1.0),
        logarithmic=True,
    )


def _power_sentence(plan: RankingPlan, best: RankingDesign) -> str:
    """What a study of the size of the pilot could do, and what is needed."""
    now = max(0.0, 1 - sum(1 - one.power_with(one.spread.pilot) for one in plan.planned))
    least = "at least " * plan.ranks
    reached = f"the power is {least}{_share(now)}" if now else "no probability can be promised"
    return (
        f"With as many items and votes as the pilot ({_pilot_size(plan, ',')}) {reached}; "
        f"{size_words(best)} give {least}{_share(best.power)}."
    )


def _share(power: float) -> str:
    """A probability that is said to be reached, so never with a sign of more or less."""
    digits = next((k for k in (0, 1, 2, 3) if percent(power, k)[0] not in "<>"), 4)
    return percent(power, digits)


def _power_rows(plan: RankingPlan) -> list[dict[str, float]]:
    """Power over numbers of items, on both sides of every design and of the pilot."""
    sizes = [*(one.items for one in plan.designs), plan.pairs[0].pilot_items]
    low, high = max(3, min(sizes) / 3), max(max(sizes) * 1.5, 6)
    ratio = (high / low) ** (1 / (STEPS - 1))
    items = dict.fromkeys(round(low * ratio**step) for step in range(STEPS))
    return [
        {"votes_per_item": votes, "items": each, "power": plan.power(each, votes)}
        for votes in (one.votes_per_item for one in plan.designs)
        for each in items
    ]


def _designs(plan: RankingPlan, best: RankingDesign) -> Finding:
    """Designs that reach the power asked for: fewer items with more votes, or the reverse."""
    keys = [key for key in best._asdict() if plan.ranks or key not in OF_PAIR]
    power = exact_percent(plan.aim.power)
    contours = _contour_rows(plan)
    return Finding(
        key="designs",
        title="More items, or more votes on each?",
        sentence=_designs_sentence(plan, best),
        tables=(
            Table(
                name="plan_designs",
                caption=f"Studies with a power of {'at least ' * plan.ranks}{power}",
                columns=_design_columns(plan),
                rows=[{key: row[key] for key in keys} for row in plan.rows()],
            ),
            Table(
                name="plan_contours",
                caption="Items that each number of votes needs, for several powers",
                columns=(POWER, VOTES, ITEMS),
                rows=contours,
                brief=(),
            ),
        ),
        charts=_design_charts(plan, contours),
        note=(RANKING_ITEMS if plan.ranks else PAIR_ITEMS) + DESIGNS_NOTE,
    )


def _design_columns(plan: RankingPlan) -> list[Column]:
    """Columns of the designs; those of a ranking have their hardest pair."""
    heads = [
        VOTES,
        Column("items", "items needed", "count"),
        Column("items_error", "± standard error", "count"),
        Column("votes", "votes in all", "count"),
        *(columns("count", "cost") if plan.aim.price_item is not None else ()),
        Column("power", "power, at least" if plan.ranks else "power by formula", "percent"),
    ]
    if plan.ranks:
        heads += [Column("a", "hardest pair", "model"), Column("b", "and", "model")]
        heads.append(Column("pair_power", "its power", "percent"))
    if any(not math.isnan(one.simulated) for one in plan.designs):
        heads += columns("percent", "simulated")
        heads.append(Column("monte_carlo_error", "± Monte Carlo error", "percent"))
    return heads


def _designs_sentence(plan: RankingPlan, best: RankingDesign) -> str:
    """Which design is cheapest, or what more votes trade for items."""
    rows, size = plan.designs, size_words(best)
    if len(rows) == 1:
        return f"One design was looked at: {size}, {count(best.votes, 'vote')} in all."
    if plan.aim.price_item is not None:
        dear = max(rows, key=lambda one: one.cost)
        return (
            f"The cheapest of {len(rows)} designs is {size}, at {count(best.cost)}; the "
            f"dearest is {size_words(dear)}, at {count(dear.cost)}."
        )

    def moves(what: str, before: float, after: float) -> str:
        if before == after:
            return f"leaves {what} at {count(before)}"
        verb = "lowers" if after < before else "raises"
        return f"{verb} {what} from {count(before)} to {count(after)}"

    few, many = rows[0], rows[-1]
    return (
        f"Going from {count(few.votes_per_item, 'vote')} per item to {many.votes_per_item} "
        f"{moves('the items needed', few.items, many.items)} and "
        f"{moves('the votes in all', few.votes, many.votes)}."
    )


def _contour_rows(plan: RankingPlan) -> list[dict[str, float]]:
    """Items that each number of votes needs, for several powers."""
    known = [one.votes_per_item for one in plan.designs]
    votes = sorted({*range(1, min(known[-1], 10) + 1), *known}) if known != [1] else [1]
    asked = plan.aim.power
    return [
        {"power": power, "votes_per_item": each, "items": plan.items_needed(each, power)}
        for power in sorted({asked, *(one for one in OTHER if abs(one - asked) > 0.02)})
        for each in votes
    ]


def _scaled(values: Sequence[float]) -> tuple[float, str]:
    """Units in which large numbers fit beside an axis, with their name.

    Examples
    --------
    >>> _scaled([300.0, 20_000.0]), _scaled([3e5]), _scaled([2e9])
    ((1.0, ''), (1000.0, ', in thousands'), (1000000.0, ', in millions'))
    """
    most = max((one for one in values if math.isfinite(one)), default=0.0)
    if most >= 1e8:
        return 1e6, ", in millions"
    return (1e3, ", in thousands") if most >= 1e5 else (1.0, "")


def _design_charts(
    plan: RankingPlan, contours: Sequence[Mapping[str, float]]
) -> tuple[Lines, ...]:
    """Items needed, and the cost or the votes in all, over votes per item."""
    charts, x, priced = [], "votes on each item", plan.aim.price_item is not None
    asked = exact_percent(plan.aim.power)
    if len({row["votes_per_item"] for row in contours}) > 1:
        unit, words = _scaled([row["items"] for row in contours])
        lines: dict[float, list[tuple[float, float]]] = {}
        for row in contours:
            point = (row["votes_per_item"], row["items"] / unit)
            lines.setdefault(row["power"], []).append(point)
        charts.append(
            Lines(
                name="plan-items",
                caption="Items that each number of votes per item needs, for several powers",
                x=x,
                y=f"items needed{words}",
                lines=[Line(f"power {percent(one)}", points) for one, points in lines.items()],
            )
        )
    if len(plan.designs) > 1:
        totals = [one.cost if priced else float(one.votes) for one in plan.designs]
        unit, words = _scaled(totals)
        votes = [float(one.votes_per_item) for one in plan.designs]
        points = [(each, total / unit) for each, total in zip(votes, totals, strict=True)]
        what = "cost" if priced else "votes in all"
        charts.append(
            Lines(
                name="plan-cost" if priced else "plan-votes",
                caption=f"{capital(what)} at a power of {asked}",
                x=x,
                y=f"{what}{words}",
                lines=[Line(f"power {asked}", points)],
            )
        )
    return tuple(charts)


class _Source(NamedTuple):
    """A source of uncertainty: standard errors, and shares of the variance."""

    source: str
    pilot: float
    pilot_share: float
    planned: float
    planned_share: float


def _sources(plan: RankingPlan) -> Finding:
    """Where the uncertainty comes from: what items, votes and people add."""
    sources, best, first = _source_errors(plan), plan.recommended, plan.pairs[0]
    charts = [_source_chart(plan, "pilot", first.pilot_items, first.pilot_votes)]
    if best is not None:
        charts.append(_source_chart(plan, "planned", best.items, best.votes_per_item))
    heads = [Column("source", "source")]
    for study in ("pilot", "planned")[: len(charts)]:
        heads += columns("figures", study)
        heads.append(Column(f"{study}_share", "share of its variance", "percent"))
    table = Table(
        name="plan_components",
        caption=f"Standard error of the difference of {_of_pair(plan)} by source",
        columns=heads,
        rows=[one._asdict() for one in sources],
        brief=(),
    )
    return Finding(
        key="uncertainty",
        title="Where does the uncertainty come from?",
        sentence=_sources_sentence(plan, sources),
        tables=(table,),
        charts=tuple(charts) if any(one.pilot > 0 for one in sources) else (),
        note=SOURCES_NOTE,
    )


def _source_chart(plan: RankingPlan, study: str, items: int, votes: float) -> Dots:
    """Standard errors by source in one study."""
    together = math.isnan(plan.hardest.spread.votes)
    dots = []
    for one in _source_errors(plan):
        name = "items and votes" if one.source == "items" and together else one.source
        error, share = one[1:3] if study == "pilot" else one[3:5]
        if math.isfinite(error):
            dots.append(Dot(name, error, remark=f"{significant(error)} ({percent(share)})"))
    return Dots(
        name=f"plan-uncertainty-{study}",
        caption=f"Standard error of the difference of {_of_pair(plan)} by its source, {study}: "
        f"{count(items, 'item')}, {_votes_on_each(votes)} each; in brackets: share of the "
        "variance",
        axis="standard error",
        rows=dots,
        zero=True,
    )


def _source_errors(plan: RankingPlan) -> list[_Source]:
    """Standard errors by source, in the pilot and in the study; shares are of variances.

    Without two votes on any item, items stand for items and their votes together.
    """
    one, best = plan.hardest, plan.recommended
    spread, items = one.spread, one.spread.items / math.sqrt(one.pilot_items)
    votes = math.sqrt(max(spread.pilot**2 - items**2, 0.0))
    if math.isnan(spread.votes):
        items, votes = spread.pilot, math.nan
    pilot, planned = (items, votes, spread.panel), (math.nan,) * 3
    if best is not None:
        root = math.sqrt(best.items)
        single = spread.votes / root / math.sqrt(best.votes_per_item)
        planned = (spread.items / root, single, spread.panel)

    def shares(errors: Sequence[float]) -> list[float]:
        whole = sum(error**2 for error in errors if not math.isnan(error))
        return [error**2 / whole if whole > 0 else math.nan for error in errors]

    return list(map(_Source, SOURCES, pilot, shares(pilot), planned, shares(planned)))


def _sources_sentence(plan: RankingPlan, sources: Sequence[_Source]) -> str:
    """Where the uncertainty of the pilot comes from, and what would lessen it."""
    share = {one.source: one.pilot_share for one in sources}
    pair = f"{plan.hardest.a} and {plan.hardest.b}"
    if all(math.isnan(part) for part in share.values()):
        return f"Every item of the pilot says the same about {pair}: no uncertainty to divide."
    if math.isnan(share["votes"]):
        return (
            "No item of the pilot has two votes, so what items and what single votes add to "
            f"the uncertainty about {pair} cannot be told apart."
        )
    most = max(share, key=lambda name: share[name])
    limit = "at most" if most == "items" else "up to"
    cure = f"more votes on the same items could remove {limit} {percent(share['votes'])} of it"
    if most == "annotators":
        cure = "neither more items nor more votes of the same people lessen that; "
        cure += "other people do"
    return (
        f"Most of the uncertainty about {pair} in the pilot comes from {SOURCES[most]} "
        f"({percent(share[most])} of the variance): {cure}."
    )


def _pair_row(one: Size, best: RankingDesign | None) -> dict[str, Cell]:
    """What one pair needs alone, and its power in the planned study."""
    names = ("a", "b", "difference", "low", "high", "resolved", "state")
    needs = ("votes_per_item", "items", "items_error", "power_in_pilot", "power_in_study")
    row: dict[str, Cell] = {name: getattr(one, name) for name in names}
    row |= dict.fromkeys(needs)
    if best is not None and one.designs:
        votes = best.votes_per_item
        design = next(each for each in one.designs if each.votes_per_item == votes)
        powers = one.power_with(one.spread.pilot), one.power(best.items, votes)
        row |= zip(needs, (votes, design.items, design.items_error, *powers), strict=True)
    spread = {"items_deviation": one.spread.items, "votes_deviation": one.spread.votes}
    return row | spread | {"annotators_error": one.spread.panel}


def _pairs(plan: RankingPlan) -> Finding:
    """Neighbours of a ranking: what each pair needs alone, and its power in the whole study."""
    rows = [_pair_row(one, plan.recommended) for one in plan.pairs]
    named_rows = zip(plan.pairs, rows, strict=True)
    needed = {p.pair: row["items"] for p, row in named_rows if isinstance(row["items"], int)}
    few = f", first {PAIRS} of {len(rows)}" if len(rows) > PAIRS else ""
    dots = [
        Dot(one.pair, one.difference, one.low, one.high, remark=change(one.difference))
        for one in plan.pairs[:PAIRS]
    ]
    table = Table(
        name="plan_pairs",
        caption="What each pair of neighbours needs",
        columns=(
            *(Column("a", "better", "model"), Column("b", "than", "model")),
            Column("difference", "in the pilot by", "change", ("low", "high")),
            Column("resolved", "planned for", "change", brief=False),
            Column("items", "items alone", "count"),
            Column("items_error", "± standard error", "count", brief=False),
            Column("power_in_pilot", "power of the pilot", "percent", brief=False),
            Column("power_in_study", "power in the study", "percent"),
            Column("state", "state"),
        ),
        rows=rows,
        legend=PAIRS_LEGEND,
    )
    chart = Dots(
        name="plan-pair-differences",
        caption="Difference of neighbours in the pilot, with its "
        f"{exact_percent(plan.aim.level)} interval{few}",
        axis=f"difference in {titled(plan.pairs[0].metric)}",
        rows=dots,
        zero=True,
    )
    return Finding(
        key="pairs",
        title="What does each pair of models need?",
        sentence=_pairs_sentence(plan, needed),
        tables=(table,),
        charts=(*_needed_chart(plan, needed, few), chart),
        note=PAIRS_NOTE,
    )


def _pairs_sentence(plan: RankingPlan, needed: Mapping[str, int]) -> str:
    """Which pair needs most, which least, what all need, and which cannot be planned."""
    planned = sorted((items, pair) for pair, items in needed.items())
    left = len(plan.pairs) - len(planned)
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


def _needed_chart(plan: RankingPlan, needed: Mapping[str, int], few: str) -> list[Dots]:
    """Items that each pair needs; as powers of ten where they are far apart."""
    pairs = [one.pair for one in plan.pairs[:PAIRS]]
    known = {pair: float(needed[pair]) for pair in pairs if pair in needed}
    if not known:
        return []
    far = max(known.values()) > SPREAD_OUT * min(known.values())
    unit, words = _scaled(list(known.values()))
    dots = [
        Dot(
            pair,
            math.log10(known[pair]) if far else known[pair] / unit,
            remark=count(known[pair]),
        )
        if pair in known
        else Dot(pair, math.nan, remark="no plan")
        for pair in pairs
    ]
    return [
        Dots(
            name="plan-pairs",
            caption=f"Items that each pair of neighbours needs alone{few}",
            axis="items, as a power of ten" if far else f"items{words}",
            rows=dots,
            zero=not far,
        )
    ]


def plan_report(
    planned: Size | RankingPlan, wanted: NextItems | NextForRanking | None = None
) -> Report:
    """Everything about a plan, and about the votes that come next.

    Parameters
    ----------
    planned
        What `plan_size` or `plan_ranking` found.
    wanted
        What `next_items` or `next_for_ranking` found, if asked.

    Examples
    --------
    >>> from equipoise.demo import reading_study
    >>> from equipoise.planning import plan_size
    >>> readings, scores = reading_study()
    >>> report = plan_report(plan_size(scores, readings, simulations=0))
    >>> [one.key for one in report.findings]
    ['verdict', 'power', 'designs', 'uncertainty']
    """
    if not isinstance(planned, Size | RankingPlan):
        raise wrong_type("plan", planned, "a plan", "give what plan_size or plan_ranking found")
    plan = of_pair(planned) if isinstance(planned, Size) else planned
    first, target, title = plan.pairs[0], plan.aim, titled(plan.pairs[0].metric)
    prices = {"Price of an item": target.price_item, "Price of a vote": target.price_vote}
    goal = "that of the pilot" if target.difference is None else number(target.difference)
    settings = {
        "Metric": first.metric,
        "Goal": "ranking" if plan.ranks else "pair",
        "Power asked for": exact_percent(target.power),
        "Difference": goal,
        "Level of the interval": exact_percent(target.level),
        "Simulated studies": count(target.simulations),
        "Seed": str(target.seed),
        **{what: count(price) for what, price in prices.items() if price is not None},
    }
    try:
        metric = [named(first.metric)]
    except InputError:  # one of the caller's own has but its name
        metric = []
    size, task = f"pilot: {_pilot_size(plan, ',')}", [target.task] if target.task else []
    return Report(
        title="How large must the study be?",
        findings=(*plan_findings(plan), *([] if wanted is None else [wanted.report()])),
        models=plan.models,
        known=(count(len(plan.models), "model"), title, *task, size),
        terms=tuple((one.title, one.definition) for one in metric),
        settings=tuple(settings.items()),
        references=tuple(key for one in metric for key in one.references),
    )

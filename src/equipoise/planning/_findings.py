"""What a plan says of its size, power, designs and sources of uncertainty, as findings.

A plan for two models is the plan of a ranking with one pair. Of several pairs the power is the
least probability that all are told apart, as in the plan itself, so that curves, contours and
designs meet.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from equipoise.arrays import InputError, wrong_type
from equipoise.findings import Column, Dot, Dots, Finding, Line, Lines, Report, Row, Table
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
from equipoise.wording import capital

if TYPE_CHECKING:
    from equipoise.planning.next_votes import NextForRanking, NextItems
    from equipoise.planning.ranking import RankingDesign, RankingPlan
    from equipoise.planning.size import Size

NORMAL = NormalDist()
STEPS = 25  # numbers of items along a curve
OTHER = (0.5, 0.95)  # powers drawn beside the one asked for
OF_PAIR = ("a", "b", "pair_power")  # what a design for two models need not say
SOURCES = {"items": "the items", "votes": "single votes", "annotators": "who votes"}
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


def plan_findings(plan: "RankingPlan") -> tuple[Finding, ...]:
    """Size, power, designs and sources of uncertainty; what was not planned is left out."""
    findings = [_verdict(plan)]
    if plan.recommended is not None:
        findings += [_power(plan, plan.recommended), _designs(plan, plan.recommended)]
    return (*findings, _sources(plan))


def _ranks(plan: "RankingPlan") -> bool:
    return len(plan.pairs) > 1


def _votes_on_each(votes: float) -> str:
    """Write a number of votes on each item; none where all truths are known.

    Examples
    --------
    >>> _votes_on_each(1), _votes_on_each(3), _votes_on_each(0)
    ('1 vote', '3 votes', 'a known truth')
    """
    return count(votes, "vote") if votes > 0 else "a known truth"


def _pair(one: "Size") -> str:
    return f"{one.a} / {one.b}"


def _of_pair(plan: "RankingPlan") -> str:
    """Which pair is shown, and why it is this one of a ranking."""
    if not _ranks(plan):
        return _pair(plan.hardest)
    why = (
        "the pair that is hardest to tell apart" if plan.recommended else "no plan for any pair"
    )
    return f"{_pair(plan.hardest)} ({why})"


def _verdict(plan: "RankingPlan") -> Finding:
    """How many items and votes, and the interval that they are to give."""
    intervals, hard = _intervals(plan), plan.hardest
    title, best = titled(hard.metric), plan.recommended
    expected = ", and what to expect of the planned study" if best else ""
    picked = best is not None and plan.aim.difference is None
    dots = [
        Dot(one.study, one.value, one.low, one.high, remark=change(one.value))
        for one in intervals
    ]
    return Finding(
        key="verdict",
        title="How many items and votes?",
        sentence=plan.finding,
        more=(_pilot_sentence(plan),),
        tables=(
            Table(
                name="plan_intervals",
                caption=f"Difference of {_of_pair(plan)} in {title} and its interval",
                columns=(
                    Column("study", "study"),
                    Column("items", "items", "count"),
                    Column("votes_per_item", "votes per item", "count"),
                    Column("value", "difference", "change", ("low", "high")),
                ),
                rows=[one._asdict() for one in intervals],
            ),
        ),
        charts=(
            Dots(
                name="plan-interval",
                caption=f"Difference of {_of_pair(plan)} in {title}, with its "
                f"{exact_percent(plan.aim.level)} interval in the pilot{expected}",
                axis=f"difference in {title}; right of 0: {hard.a} is better",
                rows=dots,
                zero=True,
            ),
        ),
        note=VERDICT_NOTE + PLANNED_NOTE * bool(best) + PICKED_NOTE * picked,
        methods=_methods(plan),
        references=("roe1997", "efron1993"),
        notices=plan.notices,
    )


def _pilot_sentence(plan: "RankingPlan") -> str:
    """What the pilot found."""
    first = plan.pairs[0]
    size = f"{count(first.pilot_items, 'item')} with {_votes_on_each(first.pilot_votes)} each"
    if _ranks(plan):
        return f"Pilot: {len(plan.models)} models by {titled(first.metric)}, on {size}."
    return (
        f"Pilot: {first.a} is better than {first.b} by "
        f"{estimate(first.difference, first.low, first.high)} in {titled(first.metric)}, on "
        f"{size}."
    )


class _Interval(NamedTuple):
    """The difference in one study, with its interval."""

    study: str
    items: int
    votes_per_item: float
    value: float
    low: float
    high: float


def _intervals(plan: "RankingPlan") -> list[_Interval]:
    """The difference in the pilot, and the interval that the study is to find."""
    one, best = plan.hardest, plan.recommended
    pilot = _Interval(
        "pilot", one.pilot_items, one.pilot_votes, one.difference, one.low, one.high
    )
    if best is None:
        return [pilot]
    size = (best.items, best.votes_per_item)
    half = NORMAL.inv_cdf(0.5 + plan.aim.level / 2) * one.standard_error(*size)
    low, high = one.resolved - half, one.resolved + half
    return [pilot, _Interval("planned", *size, one.resolved, low, high)]


def _methods(plan: "RankingPlan") -> str:
    """How the study was planned, for a paper."""
    first = plan.pairs[0]
    what = (
        f"the order of {len(plan.models)} models"
        if _ranks(plan)
        else f"the difference of {first.a} and {first.b}"
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
    task = f" for {plan.aim.task}" if plan.aim.task else ""
    return (
        f"We planned a study of {what} by {titled(first.metric)} (labels: the mean vote){task} "
        f"from a pilot of {count(first.pilot_items, 'item')} with "
        f"{_votes_on_each(first.pilot_votes)} each. The variance of the paired difference "
        f"{split} [@efron1993; @roe1997]. {_size_methods(plan)}{_simulation_methods(plan)}"
    )


def _size_methods(plan: "RankingPlan") -> str:
    """What was asked, and what came out."""
    target, best = plan.aim, plan.recommended
    if best is None:
        return plan.finding
    difference = (
        "the difference found in the pilot"
        if target.difference is None
        else f"a difference of {number(target.difference)}"
    )
    reached = (
        "for all pairs of neighbours together with a probability of at least "
        f"{exact_percent(target.power)} (1 minus the sum of the probabilities to miss one)"
        if _ranks(plan)
        else f"with a probability of {exact_percent(target.power)}"
    )
    lost = [f"{one.a} and {one.b}" for one in plan.pairs if not one.designs]
    rest = f" No size could be planned for {'; '.join(lost)}." if lost else ""
    return (
        f"The size was chosen so that the {exact_percent(target.level)} interval of "
        f"{difference} lies above 0 {reached}, by the normal approximation; this takes "
        f"{count(best.items, 'item')} with {count(best.votes_per_item, 'vote')} each.{rest}"
    )


def _simulation_methods(plan: "RankingPlan") -> str:
    """How designs were checked, if they were."""
    done = [one.votes_per_item for one in plan.designs if not math.isnan(one.simulated)]
    if not done:
        return ""
    votes = ", ".join(map(str, done)) + (" vote" if done == [1] else " votes")
    which = " for the pair hardest to tell apart" if _ranks(plan) else ""
    return (
        f" Designs with {votes} per item were checked{which} by "
        f"{count(plan.aim.simulations)} studies simulated from the items and votes of the "
        f"pilot (seed {plan.aim.seed})."
    )


def _event(plan: "RankingPlan") -> str:
    """What the power of a study is a probability of; for several pairs it is the least."""
    if _ranks(plan):
        return "least probability of finding the order of all neighbours"
    return "probability of resolving the difference"


def _power(plan: "RankingPlan", best: "RankingDesign") -> Finding:
    """Power against the number of items, by votes on an item."""
    rows = _power_rows(plan)
    columns = [
        Column(f"power_{one.votes_per_item}", _votes_on_each(one.votes_per_item), "percent")
        for one in plan.designs
    ]
    return Finding(
        key="power",
        title="What could a larger or smaller study do?",
        sentence=_power_sentence(plan, best),
        tables=(
            Table(
                name="plan_grid",
                caption=f"{capital(_event(plan))}, by items and votes on each",
                columns=(
                    Column("items", "items", "count"),
                    *columns,
                    Column("votes_needed", "votes needed", "count"),
                ),
                rows=_grid_rows(plan),
                legend=GRID_LEGEND,
            ),
            Table(
                name="plan_power",
                caption=f"{capital(_event(plan))}, along the curves",
                columns=(
                    Column("votes_per_item", "votes per item", "count"),
                    Column("items", "items", "count"),
                    Column("power", "power", "percent"),
                ),
                rows=rows,
                brief=(),
            ),
        ),
        charts=(_power_chart(plan, rows),),
        note=POWER_NOTE + JOINT_NOTE * _ranks(plan),
    )


def _power_chart(plan: "RankingPlan", rows: Sequence[Mapping[str, float]]) -> Lines:
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
        caption=f"{capital(_event(plan))} by items (logarithmic axis) and votes on an item; "
        "dots: the designs below; upright line: items of the pilot",
        x="items in the study",
        y="power",
        lines=lines,
        marks=((float(plan.pairs[0].pilot_items), "pilot"),),
        y_range=(0.0, 1.0),
        logarithmic=True,
    )


def _power_sentence(plan: "RankingPlan", best: "RankingDesign") -> str:
    """What a study of the size of the pilot could do, and what is needed."""
    now = max(0.0, 1 - sum(1 - one.power_with(one.spread.pilot) for one in plan.planned))
    first, least = plan.pairs[0], "at least " * _ranks(plan)
    reached = (
        "no probability can be promised" if now == 0 else f"the power is {least}{_share(now)}"
    )
    return (
        f"With as many items and votes as the pilot ({count(first.pilot_items, 'item')}, "
        f"{_votes_on_each(first.pilot_votes)} each) {reached}; {count(best.items, 'item')} "
        f"with {count(best.votes_per_item, 'vote')} each give {least}{_share(best.power)}."
    )


def _share(power: float) -> str:
    """A probability that is said to be reached, so never with a sign of more or less."""
    digits = next((k for k in (0, 1, 2, 3) if percent(power, k)[0] not in "<>"), 4)
    return percent(power, digits)


def _power_rows(plan: "RankingPlan") -> list[dict[str, float]]:
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


def _grid_rows(plan: "RankingPlan") -> list[Row]:
    """Power for some numbers of items by votes per item, and the votes that each needs."""
    votes = [one.votes_per_item for one in plan.designs]
    return [
        {
            "items": items,
            **{f"power_{each}": plan.power(items, each) for each in votes},
            "votes_needed": plan.votes_needed(items),
        }
        for items in plan.pairs[0].sizes()
    ]


def _designs(plan: "RankingPlan", best: "RankingDesign") -> Finding:
    """Designs that reach the power asked for: fewer items with more votes, or the reverse."""
    priced = plan.aim.price_item is not None
    least = "at least " * _ranks(plan)
    keys = [key for key in best._asdict() if _ranks(plan) or key not in OF_PAIR]
    rows = [{key: row[key] for key in keys} for row in plan.rows()]
    contours = _contour_rows(plan)
    return Finding(
        key="designs",
        title="More items, or more votes on each?",
        sentence=_designs_sentence(plan, best),
        tables=(
            Table(
                name="plan_designs",
                caption=f"Studies with a power of {least}{exact_percent(plan.aim.power)}",
                columns=_design_columns(plan),
                rows=rows,
            ),
            Table(
                name="plan_contours",
                caption="Items that each number of votes needs, for several powers",
                columns=(
                    Column("power", "power", "percent"),
                    Column("votes_per_item", "votes per item", "count"),
                    Column("items", "items", "count"),
                ),
                rows=contours,
                brief=(),
            ),
        ),
        charts=(*_contour_chart(contours), *_total_chart(plan, priced=priced)),
        note=(RANKING_ITEMS if _ranks(plan) else PAIR_ITEMS) + DESIGNS_NOTE,
    )


def _design_columns(plan: "RankingPlan") -> tuple[Column, ...]:
    """Columns of the designs; those of a ranking have their hardest pair."""
    columns = [
        Column("votes_per_item", "votes per item", "count"),
        Column("items", "items needed", "count"),
        Column("items_error", "± standard error", "count"),
        Column("votes", "votes in all", "count"),
    ]
    if plan.aim.price_item is not None:
        columns.append(Column("cost", "cost", "count"))
    if _ranks(plan):
        columns += [
            Column("power", "power, at least", "percent"),
            Column("a", "hardest pair", "model"),
            Column("b", "and", "model"),
            Column("pair_power", "its power", "percent"),
        ]
    else:
        columns.append(Column("power", "power by formula", "percent"))
    if any(not math.isnan(one.simulated) for one in plan.designs):
        columns += [
            Column("simulated", "simulated", "percent"),
            Column("monte_carlo_error", "± Monte Carlo error", "percent"),
        ]
    return tuple(columns)


def _designs_sentence(plan: "RankingPlan", best: "RankingDesign") -> str:
    """Which design is cheapest, or what more votes trade for items."""
    rows = plan.designs
    size = f"{count(best.items, 'item')} with {count(best.votes_per_item, 'vote')} each"
    if len(rows) == 1:
        return f"One design was looked at: {size}, {count(best.votes, 'vote')} in all."
    if plan.aim.price_item is not None:
        dear = max(rows, key=lambda one: one.cost)
        return (
            f"The cheapest of {len(rows)} designs is {size}, at {count(best.cost)}; the "
            f"dearest is {count(dear.items, 'item')} with "
            f"{count(dear.votes_per_item, 'vote')} each, at {count(dear.cost)}."
        )
    few, many = rows[0], rows[-1]
    return (
        f"Going from {count(few.votes_per_item, 'vote')} per item to {many.votes_per_item} "
        f"{_moves('the items needed', few.items, many.items)} and "
        f"{_moves('the votes in all', few.votes, many.votes)}."
    )


def _moves(what: str, before: float, after: float) -> str:
    if before == after:
        return f"leaves {what} at {count(before)}"
    verb = "lowers" if after < before else "raises"
    return f"{verb} {what} from {count(before)} to {count(after)}"


def _contour_rows(plan: "RankingPlan") -> list[dict[str, float]]:
    """Items that each number of votes needs, for several powers."""
    known = [one.votes_per_item for one in plan.designs]
    votes = sorted({*range(1, min(known[-1], 10) + 1), *known}) if known != [1] else [1]
    asked = plan.aim.power
    return [
        {
            "power": power,
            "votes_per_item": each,
            "items": plan.items_needed(each, power),
        }
        for power in sorted({asked, *(one for one in OTHER if abs(one - asked) > 0.02)})
        for each in votes
    ]


def scaled(values: Sequence[float]) -> tuple[float, str]:
    """Units in which large numbers fit beside an axis, with their name.

    Examples
    --------
    >>> scaled([300.0, 20_000.0]), scaled([3e5]), scaled([2e9])
    ((1.0, ''), (1000.0, ', in thousands'), (1000000.0, ', in millions'))
    """
    most = max((one for one in values if math.isfinite(one)), default=0.0)
    if most >= 1e8:
        return 1e6, ", in millions"
    return (1e3, ", in thousands") if most >= 1e5 else (1.0, "")


def _contour_chart(rows: Sequence[Mapping[str, float]]) -> tuple[Lines, ...]:
    """Items needed over votes per item, a line for each power."""
    if len({row["votes_per_item"] for row in rows}) < 2:
        return ()
    unit, words = scaled([row["items"] for row in rows])
    lines = [
        Line(
            f"power {percent(power)}",
            [
                (row["votes_per_item"], row["items"] / unit)
                for row in rows
                if row["power"] == power
            ],
        )
        for power in dict.fromkeys(row["power"] for row in rows)
    ]
    return (
        Lines(
            name="plan-items",
            caption="Items that each number of votes per item needs, for several powers",
            x="votes on each item",
            y=f"items needed{words}",
            lines=lines,
        ),
    )


def _total_chart(plan: "RankingPlan", *, priced: bool) -> tuple[Lines, ...]:
    """The cost, or the votes in all, over votes per item."""
    if len(plan.designs) < 2:
        return ()
    totals = [one.cost if priced else float(one.votes) for one in plan.designs]
    unit, words = scaled(totals)
    points = [
        (float(one.votes_per_item), total / unit)
        for one, total in zip(plan.designs, totals, strict=True)
    ]
    what = "cost" if priced else "votes in all"
    return (
        Lines(
            name="plan-cost" if priced else "plan-votes",
            caption=f"{capital(what)} at a power of {exact_percent(plan.aim.power)}",
            x="votes on each item",
            y=f"{what}{words}",
            lines=[Line(f"power {exact_percent(plan.aim.power)}", points)],
        ),
    )


class _Source(NamedTuple):
    """A source of uncertainty: standard errors, and shares of the variance."""

    source: str
    pilot: float
    pilot_share: float
    planned: float
    planned_share: float


def _sources(plan: "RankingPlan") -> Finding:
    """Where the uncertainty comes from: what items, votes and people add."""
    sources, best, first = _source_errors(plan), plan.recommended, plan.pairs[0]
    charts = [_source_chart(plan, "pilot", first.pilot_items, first.pilot_votes)]
    columns = [
        Column("source", "source"),
        Column("pilot", "pilot", "figures"),
        Column("pilot_share", "share of its variance", "percent"),
    ]
    if best is not None:
        charts.append(_source_chart(plan, "planned", best.items, best.votes_per_item))
        columns += [
            Column("planned", "planned", "figures"),
            Column("planned_share", "share of its variance", "percent"),
        ]
    return Finding(
        key="uncertainty",
        title="Where does the uncertainty come from?",
        sentence=_sources_sentence(plan, sources),
        tables=(
            Table(
                name="plan_components",
                caption=f"Standard error of the difference of {_of_pair(plan)} by source",
                columns=columns,
                rows=[one._asdict() for one in sources],
                brief=(),
            ),
        ),
        charts=tuple(charts) if any(one.pilot > 0 for one in sources) else (),
        note=SOURCES_NOTE,
    )


def _source_chart(plan: "RankingPlan", study: str, items: int, votes: float) -> Dots:
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


def _source_errors(plan: "RankingPlan") -> list[_Source]:
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
    columns = zip(SOURCES, pilot, _shares(pilot), planned, _shares(planned), strict=True)
    return [_Source(*column) for column in columns]


def _shares(errors: Sequence[float]) -> list[float]:
    """Shares of the variance; nan where there is none."""
    whole = sum(error**2 for error in errors if not math.isnan(error))
    return [error**2 / whole if whole > 0 else math.nan for error in errors]


def _sources_sentence(plan: "RankingPlan", sources: Sequence[_Source]) -> str:
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
    votes = f"{percent(share['votes'])} of it"
    cure = {
        "items": f"more votes on the same items could remove at most {votes}",
        "votes": f"more votes on the same items could remove up to {votes}",
        "annotators": "neither more items nor more votes of the same people lessen that; "
        "other people do",
    }
    return (
        f"Most of the uncertainty about {pair} in the pilot comes from {SOURCES[most]} "
        f"({percent(share[most])} of the variance): {cure[most]}."
    )


def plan_report(
    planned: "Size | RankingPlan", wanted: "NextItems | NextForRanking | None" = None
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
    from equipoise.planning.ranking import RankingPlan, of_pair
    from equipoise.planning.size import Size

    if not isinstance(planned, Size | RankingPlan):
        raise wrong_type("plan", planned, "a plan", "give what plan_size or plan_ranking found")
    plan = of_pair(planned) if isinstance(planned, Size) else planned
    first, target = plan.pairs[0], plan.aim
    pilot = f"{count(first.pilot_items, 'item')}, {_votes_on_each(first.pilot_votes)} each"
    prices = [
        (f"Price of {what}", count(price))
        for what, price in (("an item", target.price_item), ("a vote", target.price_vote))
        if price is not None
    ]
    metric, terms = _metric(first.metric)
    return Report(
        title="How large must the study be?",
        findings=(*planned.reports(), *([] if wanted is None else [wanted.report()])),
        models=plan.models,
        known=(
            count(len(plan.models), "model"),
            titled(first.metric),
            *([target.task] if target.task else []),
            f"pilot: {pilot}",
        ),
        terms=terms,
        settings=(
            ("Metric", first.metric),
            ("Goal", "ranking" if _ranks(plan) else "pair"),
            ("Power asked for", exact_percent(target.power)),
            (
                "Difference",
                "that of the pilot" if target.difference is None else number(target.difference),
            ),
            ("Level of the interval", exact_percent(target.level)),
            ("Simulated studies", count(target.simulations)),
            ("Seed", str(target.seed)),
            *prices,
        ),
        references=metric,
    )


def _metric(name: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Sources and definition of a metric; one of the caller's own has but its name."""
    try:
        known = named(name)
    except InputError:
        return (), ()
    return known.references, ((known.title, known.definition),)

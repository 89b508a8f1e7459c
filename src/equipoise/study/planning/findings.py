"""What a plan says of its size, designs, power and pairs, as findings.

A plan for two models is the plan of a ranking with one pair. Of several pairs the power is the
least probability that all are told apart, as in the plan itself, so that curves and designs
meet. Plans for several tasks have a row
each, and each stands under its name.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from equipoise.metrics import named
from equipoise.study.planning.next_votes import NextItems, TaskPlan
from equipoise.study.planning.power_analysis import Shape
from equipoise.study.planning.size import (
    DIFFERENCE,
    Design,
    PairPlan,
    SizePlan,
    panel_words,
    size_words,
)
from equipoise.types import (
    Cell,
    Column,
    Decision,
    Dot,
    Dots,
    Finding,
    InputError,
    Line,
    Lines,
    Report,
    Table,
    capital,
    change,
    columns,
    count,
    estimate,
    exact_percent,
    hint,
    left_out,
    number,
    percent,
    rows_of,
    wrong_type,
)

SIZES = (0.25, 0.5, 1, 2, 4, 8, 16)  # times the pilot, along curves
CURVES = 5  # designs that are drawn
SOURCES = {
    "groups": "which groups of items",
    "items": "which items",
    "annotators": "who annotates",
    "votes": "single votes",
}
CURES = {
    "annotators": "neither more items nor more votes of the same people lessen that; other "
    "people do",
    "votes": "more votes on the same items, or more items, lessen that",
}
CURE = "more votes on the same items do not lessen that; more items do"
ITEMS, ANNOTATORS = columns("count", "items", "annotators")
VERDICT_NOTE = (
    "The difference is that of the metric with soft labels (the mean vote), positive when the "
    "first model is better; its interval is that of an evaluation of the pilot, for items and "
    "annotators like these."
)
VALUE_NOTE = "The interval of the pilot is that of an evaluation; the study's is the plain one."
PLANNED_NOTE = (
    " The planned interval is what to expect if the difference is the one that the plan is "
    "made for; a real study will find it to the left or to the right of that."
)
POWER_NOTE = (
    "The probability that the interval of the study (two-way t) lies above 0, or minus the "
    "margin, if the difference is the one that the plan is made for; for a width, that it is "
    "no wider. Its variance is items/n + annotators/A + votes/(n m) for n items, A annotators "
    "and m votes on each item; all three are the pilot's. Few annotators give wide "
    "intervals: they have A − 1 degrees of freedom."
)
JOINT_NOTE = (
    " For the ranking it is the least probability that all pairs of neighbours are told apart: "
    "1 minus the sum of the probabilities to miss one. Pairs without a plan are left aside."
)
DESIGNS_NOTE = (
    "The fewest items with which the power is reached. Simulated: the share of studies, with "
    "effects of items, annotators and votes drawn from the components of the pilot and tested "
    "like any other study, whose interval lies above 0; beside it its Monte Carlo error. What "
    "annotators add is known the worse, the fewer the pilot had: brackets hold the power where "
    "the variance lies at the 10% and 90% ends of what the pilot leaves open. A study without "
    "an item of the rarer class has found nothing; ten are expected at least."
)
PAIRS_NOTE = (
    "Neighbours are compared in the order of the pilot, all at once. Items alone are those "
    "that tell one pair apart with the power asked for; to tell all apart with that power "
    "takes more, because none may be missed."
)


def plan_findings(plan: SizePlan) -> tuple[Finding, ...]:
    """Size, designs, power, and every pair; what was not planned is left out."""
    best = plan.recommended
    planned = () if best is None else (_designs(plan, best), _power(plan, best))
    return (_verdict(plan), *planned, *([_pairs(plan)] if plan.ranks else []))


def _pilot_size(plan: SizePlan) -> str:
    """Items of the pilot and who voted on them."""
    pair = plan.pairs[0]
    items = count(pair.pilot_items, "item")
    if pair.group_size:
        items += f" in {count(round(pair.pilot_units), 'group')}"
    if not pair.pilot_votes:
        return f"{items} with a known truth each"
    votes = f"{items} with {count(pair.pilot_votes, 'vote')} each"
    if not pair.pilot_annotators:
        return votes
    return f"{votes} by {count(pair.pilot_annotators, 'annotator')}"


def _of_pair(plan: SizePlan) -> str:
    """Which pair is shown, and why it is this one of a ranking."""
    why = "the pair that is hardest to tell apart" if plan.designs else "no plan for any pair"
    return plan.hardest.pair + f" ({why})" * plan.ranks


def _verdict(plan: SizePlan) -> Finding:
    """How many items and annotators, and the interval that they are to give."""
    intervals, hard = _intervals(plan), plan.hardest
    title, best, first = hard.title, plan.recommended, plan.pairs[0]
    value = plan.aim.width is not None
    what = f"{capital(title)} of {first.a}" if value else (
        f"Difference of {_of_pair(plan)} in {title}"
    )  # fmt: skip
    axis = title if value else f"difference in {title}; right of 0: {hard.a} is better"
    pilot_result = f"{len(plan.models)} models by {title}" if plan.ranks else _in_pilot(first)
    write = number if value else change
    expected = ", and what to expect of the planned study" if best else ""
    table = Table(
        name="plan_intervals",
        caption=f"{what} and its interval",
        columns=(
            *(Column("study", "study"), ITEMS, ANNOTATORS),
            *columns("count", "votes_per_item"),
            Column("value", title, "number", ("low", "high"))
            if value
            else Column("value", "difference", "change", ("low", "high")),
        ),
        rows=intervals,
    )
    chart = Dots(
        name="plan-interval",
        caption=f"{what}, with its {exact_percent(plan.aim.level)} interval in the pilot"
        f"{expected}",
        axis=axis,
        rows=[
            Dot(row["study"], row["value"], row["low"], row["high"], remark=write(row["value"]))
            for row in intervals
        ],
        zero=not value,
    )
    return Finding(
        key="verdict",
        title="How many items and annotators?",
        sentence=plan.finding,
        more=(f"Pilot: {pilot_result}, on {_pilot_size(plan)}.", _source_words(plan)),
        tables=(table,),
        charts=(chart,),
        note=(VALUE_NOTE if value else VERDICT_NOTE) + PLANNED_NOTE * bool(best and not value),
        methods=_methods(plan),
        references=("roe1997", "owen2007"),
        notices=plan.notices,
        claims=tuple(pair.claim for pair in plan.pairs if pair.claim.estimand.against),
    )


def _in_pilot(pair: PairPlan) -> str:
    """What the pilot says of the models, or of the one, and for whom."""
    claim = pair.claim
    by, whose, whom = _with_ends(pair), claim.estimand.truth, claim.population
    if not claim.estimand.against:
        return f"{pair.title} of {pair.a} against {whose} is {by} for {whom}"
    better = "better" if pair.difference >= 0 else "worse"
    shown = "which is not shown" if claim.decision is Decision.NOT_SHOWN else "shown"
    return (
        f"{pair.a} scores {better} than {pair.b} by {by} in {pair.title} against {whose}, "
        f"{shown} for {whom}"
    )


def _with_ends(pair: PairPlan) -> str:
    """Size of a difference, or the value, with its interval."""
    if pair.difference < 0:
        return estimate(-pair.difference, -pair.high, -pair.low)
    return estimate(pair.difference, pair.low, pair.high)


def _intervals(plan: SizePlan) -> list[dict[str, Any]]:
    """The difference in the pilot, and the interval that the study is to find."""
    pair, best = plan.hardest, plan.recommended
    keys = ("study", "items", "annotators", "votes_per_item", "value", "low", "high")
    size = ("pilot", pair.pilot_items, pair.pilot_annotators, pair.pilot_votes)
    rows: list[tuple[Any, ...]] = [(*size, pair.difference, pair.low, pair.high)]
    if best is not None:
        goal = pair.resolved
        half = pair.components.spread(best.groups, best.shape).half_width(plan.aim.level)
        size = ("planned", best.items, best.annotators, best.votes_per_item)
        rows.append((*size, goal, goal - half, goal + half))
    return [dict(zip(keys, row, strict=True)) for row in rows]


def _methods(plan: SizePlan) -> str:
    """How the study was planned, for a paper."""
    first, target, best = plan.pairs[0], plan.aim, plan.recommended
    what = f"the difference of {first.a} and {first.b}"
    if target.width is not None:
        what = f"the value of {first.a}"
    reached = f"with a probability of {exact_percent(target.power)}"
    if plan.ranks:
        what = f"the order of {len(plan.models)} models"
        reached = (
            "for all pairs of neighbours together with a probability of at least "
            f"{exact_percent(target.power)} (1 minus the sum of the probabilities to miss one)"
        )
    text = plan.finding
    if best is not None:
        difference = "the difference found in the pilot"
        if target.difference is not None:
            difference = f"a difference of {number(target.difference)}"
        bound = "above 0" if target.margin is None else f"above −{number(target.margin)}"
        if target.width is not None:
            difference, bound = "the value", f"within ±{number(target.width)} of it"
        lost = [f"{pair.a} and {pair.b}" for pair in plan.pairs if not pair.designs]
        rest = f" No size could be planned for {'; '.join(lost)}." if lost else ""
        text = (
            f"The size was chosen so that the {exact_percent(target.level)} interval of "
            f"{difference} lies {bound} {reached}; this takes {size_words(best)}.{rest}"
        )
    if any(not math.isnan(design.simulated) for design in plan.designs):
        which = " for the pair hardest to tell apart" if plan.ranks else ""
        text += (
            f" Designs were checked{which} by {count(target.simulations)} studies each, "
            f"simulated from these components (seed {target.seed})."
        )
    return (
        f"We planned a study of {what} by {first.title} (labels: the mean vote)"
        f"{f' for {target.task}' if target.task else ''} from a pilot of {_pilot_size(plan)}. "
        f"The variance of the {'value' if target.width else 'paired difference'} was split "
        "into what items, annotators and single votes add (two-way, items and annotators "
        "random) [@owen2007; @roe1997]. "
        f"{text}"
    )


def _designs(plan: SizePlan, best: Design) -> Finding:
    """Designs that reach the power asked for, and numbers of annotators that do not."""
    power = exact_percent(plan.aim.power)
    reached = {design.shape for design in plan.designs}
    lost = [shape for shape in plan.planned[0].shapes() if shape not in reached]
    few = "; ".join(_shape_words(shape) for shape in lost)
    unit = "groups" if plan.pairs[0].group_size else "items"
    rows = plan.rows()
    if plan.pairs[0].group_size:
        per_unit = [design.shape.per_unit for design in plan.designs]
        rows = [{**row, "items_per_group": k} for row, k in zip(rows, per_unit, strict=True)]
    more = (f"No number of {unit} is enough for: {few}.",) if lost else ()
    return Finding(
        key="designs",
        title="Items or annotators?",
        sentence=_designs_sentence(plan, best),
        more=more,
        tables=(
            Table(
                name="plan_designs",
                caption=f"Studies with a power of {'at least ' * plan.ranks}{power}",
                columns=_design_columns(plan),
                rows=rows,
            ),
        ),
        note=DESIGNS_NOTE,
    )


def size_columns(plan: SizePlan, *, people: bool, votes: Sequence[Column] = ()) -> list[Column]:
    """How large a design is: who votes, in how many groups, items and votes, and the cost."""
    groups = [*columns("count", "items_per_group"), Column("groups", "groups needed", "count")]
    return [
        *([ANNOTATORS] if people else []),
        *votes,
        *(groups if plan.pairs[0].group_size else []),
        Column("items", "items needed", "count"),
        Column("votes", "votes in all", "count"),
        *(columns("count", "cost") if plan.aim.price_item is not None else []),
    ]


def _design_columns(plan: SizePlan) -> list[Column]:
    """Columns of the designs; those of a ranking have their hardest pair."""
    people = bool(plan.pairs[0].pilot_annotators)
    heads = size_columns(plan, people=people, votes=columns("count", "votes_per_item"))
    if any(not math.isnan(design.events) for design in plan.designs):
        heads.append(Column("events", "of the rarer class", "count"))
    ends = ("power_low", "power_high")
    if plan.ranks:
        heads.append(Column("power", "power, at least", "percent"))
        heads += [Column("a", "hardest pair", "model"), Column("b", "and", "model")]
        heads.append(Column("pair_power", "its power", "percent", ends))
    else:
        heads.append(Column("power", "power promised", "percent", ends))
    if any(not math.isnan(design.simulated) for design in plan.designs):
        heads += columns("percent", "simulated")
        heads.append(Column("monte_carlo_error", "± Monte Carlo error", "percent"))
    return heads


def _designs_sentence(plan: SizePlan, best: Design) -> str:
    """Which design is cheapest, or what more annotators trade for items."""
    size = size_words(best)
    rows = [design for design in plan.designs if design.shape.per_unit == best.shape.per_unit]
    if len(plan.designs) == 1:
        return f"One design reaches it: {size}, {count(best.votes, 'vote')} in all."
    if plan.aim.price_item is not None:
        dear = max(plan.designs, key=lambda design: design.cost)
        return (
            f"The cheapest of {len(plan.designs)} designs is {size}, at {count(best.cost)}; "
            f"the dearest is {size_words(dear)}, at {count(dear.cost)}."
        )
    few, many = rows[0], rows[-1]
    if few is many:
        return f"The nearest to the pilot is {size}, {count(best.votes, 'vote')} in all."
    unit = "groups" if plan.pairs[0].group_size else "items"
    lowers = f"lowers the {unit} needed from {count(few.groups)} to {count(many.groups)}"
    if few.groups <= many.groups:
        lowers = f"leaves the {unit} needed at {count(many.groups)}"
    return (
        f"Going from {_shape_words(few.shape)} to {_shape_words(many.shape)} "
        f"{lowers}; that takes {count(many.votes, 'vote')} in all, not {count(few.votes)}."
    )


def _shape_words(shape: Shape) -> str:
    """Items, or groups of them, and who votes on each."""
    units = f"groups of {count(shape.per_unit, 'item')}" if shape.per_unit > 1 else "items"
    return f"{units} {panel_words(shape)}"


def _power(plan: SizePlan, best: Design) -> Finding:
    """Power against the number of items, by annotators."""
    event = "Probability of resolving the difference"
    if plan.aim.width is not None:
        event = "Probability of so narrow an interval"
    if plan.ranks:  # of several pairs it is the least
        event = "Least probability of finding the order of all neighbours"
    shapes = _some_shapes(plan)
    sizes = [max(round(plan.pairs[0].pilot_units * size), 3) for size in SIZES]
    items = [size * shapes[0].per_unit for size in sizes]
    powers = [[plan.power(size, shape) for size in sizes] for shape in shapes]
    heads = [Column(f"power_{n}", _head(shape), "percent") for n, shape in enumerate(shapes)]
    lines = [
        Line(_head(shape), list(zip(map(float, items), power, strict=True)), dots=False)
        for shape, power in zip(shapes, powers, strict=True)
    ]
    columns_of = dict(zip((head.key for head in heads), powers, strict=True))
    now = plan.power(plan.pairs[0].pilot_units, plan.pairs[0].pilot_shape)
    least = "at least " * plan.ranks
    reached = f"has a power of {least}{_share(now)}" if now else "promises nothing"
    chart = Lines(
        name="plan-power",
        caption=f"{event} by items (logarithmic axis); upright line: items of the pilot",
        x="items in the study",
        y="power",
        lines=lines,
        marks=((float(plan.pairs[0].pilot_items), "pilot"),),
        y_range=(0.0, 1.0),
        logarithmic=True,
    )
    table = Table(
        name="plan_grid",
        caption=f"{event}, by items",
        columns=(ITEMS, *heads),
        rows=rows_of({}, {"items": items}, columns_of),
    )
    return Finding(
        key="power",
        title="What could a larger or smaller study do?",
        sentence=f"A study like the pilot ({_pilot_size(plan)}) {reached}; {size_words(best)} "
        f"give {least}{_share(best.power)}.",
        tables=(table,),
        charts=(chart,),
        note=POWER_NOTE + JOINT_NOTE * plan.ranks,
    )


def _some_shapes(plan: SizePlan) -> list[Shape]:
    """Designs to draw, those of the groups of the pilot."""
    usual = plan.pairs[0].pilot_shape.per_unit
    shapes = plan.planned[0].shapes()
    return ([shape for shape in shapes if shape.per_unit == usual] or shapes)[:CURVES]


def _head(shape: Shape) -> str:
    return (
        panel_words(shape).removeprefix("read by ").removeprefix("with ").removesuffix(" each")
    )


def _share(power: float) -> str:
    """A probability that is said to be reached, so never with a sign of more or less."""
    digits = next((k for k in (0, 1, 2, 3) if percent(power, k)[0] not in "<>"), 4)
    return percent(power, digits)


def _source_shares(pair: PairPlan) -> dict[str, float]:
    """What groups, items, annotators and votes are of the variance in the pilot."""
    parts, units, shape = pair.components, pair.pilot_units, pair.pilot_shape
    noise = parts.cells + parts.votes / shape.per_unit
    variances = {
        "groups": parts.groups / units,
        "items": parts.items / shape.per_unit / units,
        "annotators": parts.annotators / shape.annotators if shape.annotators else 0.0,
        "votes": noise / units / max(shape.votes, 1),
    }
    whole = sum(variances.values())
    return {name: part / whole for name, part in variances.items()} if whole > 0 else {}


def _source_words(plan: SizePlan) -> str:
    """Where the uncertainty of the pilot comes from, and what would lessen it."""
    share, pair = _source_shares(plan.hardest), plan.hardest.who
    if not share:
        return f"Every item of the pilot says the same about {pair}: no uncertainty to divide."
    if plan.pairs[0].pilot_votes and not plan.pairs[0].several:
        return (
            "No item of the pilot has two votes, so what items, annotators and single votes "
            f"add to the uncertainty about {pair} cannot be told apart."
        )
    most = max(share, key=lambda name: share[name])
    return (
        f"The pilot puts the largest part of the uncertainty about {pair} on {SOURCES[most]} "
        f"({percent(share[most])} of the variance): {CURES.get(most, CURE)}."
    )


def _pair_row(pair: PairPlan, best: Design | None) -> dict[str, Cell]:
    """What one pair needs alone, and its power in the planned study."""
    names = ("a", "b", "difference", "low", "high", "resolved", "state")
    row: dict[str, Cell] = {name: getattr(pair, name) for name in names}
    row |= dict.fromkeys(("items", "power_in_study"))
    if best is not None and pair.designs:
        alone = next((design for design in pair.designs if design.shape == best.shape), None)
        row["items"] = None if alone is None else alone.items
        row["power_in_study"] = pair.power(best.groups, best.shape)
    return row


PAIR_STATES = {"not plannable": "open in this pilot: give a difference"}


def _pairs(plan: SizePlan) -> Finding:
    """Neighbours of a ranking: what each pair needs alone, and its power in the whole study."""
    rows = [_pair_row(pair, plan.recommended) for pair in plan.pairs]
    named_rows = zip(plan.pairs, rows, strict=True)
    needed = {p.pair: row["items"] for p, row in named_rows if isinstance(row["items"], int)}
    table = Table(
        name="plan_pairs",
        caption="What each pair of neighbours needs",
        columns=(
            *(Column("a", "pair", "model"), Column("b", "and", "model")),
            Column("difference", "difference in the pilot", "change", ("low", "high")),
            Column("resolved", "planned for", "change", brief=False),
            Column("items", "items alone", "count"),
            Column("power_in_study", "power in the study", "percent"),
            Column("state", "state", words=PAIR_STATES),
        ),
        rows=rows,
        legend="Difference: the first less the second. Items alone: what the pair needs by "
        "itself for the power asked for, with the annotators of the plan. Power in "
        "the study: that of the pair in this plan.",
    )
    return Finding(
        key="pairs",
        title="What does each pair of models need?",
        sentence=_pairs_sentence(plan, needed),
        tables=(table,),
        note=PAIRS_NOTE,
    )


def _pairs_sentence(plan: SizePlan, needed: Mapping[str, int]) -> str:
    """Which pair needs most, which least, what all need, and which cannot be planned."""
    planned = sorted((items, pair) for pair, items in needed.items())
    left = len(plan.pairs) - len(plan.planned)
    rest = f"No size can be planned for {count(left, 'pair')}." if left else ""
    if plan.open:
        open_ = sum(pair.state == "not plannable" for pair in plan.pairs)
        who = f"{open_} of them are" if open_ < left else "it is" if left == 1 else "they are"
        rest = hint(
            "{}: {} not surely apart in the pilot. Give the smallest difference that matters "
            "({}).",
            *(rest.removesuffix("."), who, DIFFERENCE),
        )
    best = plan.recommended
    if best is None or not planned:
        return rest or "The pairs can only be told apart together."
    (least, easy), (most, hard) = planned[0], planned[-1]
    sentence = f"Items {panel_words(best.shape)}: {hard} alone needs {count(most, 'item')}"
    if len(planned) > 1:
        whole = count(best.items, "item")
        sentence += f", {easy} {count(least, 'item')}; all together {whole}"
    return hint("{}. {}", sentence, rest) if rest else f"{sentence}."


def plan_report(plan: SizePlan, wanted: NextItems | None = None) -> Report:
    """Everything about a plan, and about the votes that come next.

    Parameters
    ----------
    plan
        What `plan_size` found.
    wanted
        What `next_items` found, if asked.

    Examples
    --------
    >>> from equipoise.datasets.demo import reading_study
    >>> from equipoise.study.planning import plan_size
    >>> readings, scores = reading_study()
    >>> report = plan_report(plan_size(scores, readings, difference=0.01, simulations=0))
    >>> [finding.key for finding in report.findings]
    ['verdict', 'designs', 'power']
    """
    if not isinstance(plan, SizePlan):
        raise wrong_type("plan", plan, "a plan", "give what plan_size found")
    first, target, title = plan.pairs[0], plan.aim, plan.pairs[0].title
    prices = {
        "Price of an item": target.price_item,
        "Price of a vote": target.price_vote,
        "Price of an annotator": target.price_annotator or None,
        "Margin": target.margin,
        "Half width": target.width,
    }
    goal = "that of the pilot" if not first.assumed else number(first.resolved)
    kind = "ranking" if plan.ranks else "pair"
    if target.alone:
        kind = "annotators" if target.readers else "interval"
    settings = {
        "Metric": first.metric,
        "Goal": kind,
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
    task = [target.task] if target.task else []
    return Report(
        title="How large must the study be?",
        findings=(*plan_findings(plan), *([] if wanted is None else [wanted.report()])),
        models=plan.models,
        known=(count(len(plan.models), "model"), title, *task, f"pilot: {_pilot_size(plan)}"),
        terms=tuple((scored.title, scored.definition) for scored in metric),
        settings=tuple(settings.items()),
        references=tuple(key for scored in metric for key in scored.references),
    ).with_families()


TITLE = "Which task needs most?"


def tasks_plan_report(
    plans: Sequence[TaskPlan], failed: Mapping[str, InputError] | None = None
) -> Report:
    """Everything about the plans for some tasks; of one alone it is that of `plan_report`.

    Parameters
    ----------
    failed
        Why there is no plan for other tasks.
    """
    reports = [plan_report(plan.planned, plan.wanted) for plan in plans]
    missing = [
        left_out("plan", f"Plan for {task}", error) for task, error in (failed or {}).items()
    ]
    if len(plans) == 1 and not missing:
        return reports[0]
    findings = [
        _of_task(finding, plan.task)
        for plan, report in zip(plans, reports, strict=True)
        for finding in report.findings
    ]
    models = tuple(dict.fromkeys(name for report in reports for name in report.models))
    first = reports[0]
    return replace(
        first,
        findings=(_overview(plans), *findings, *missing),
        models=models,
        known=(count(len(plans), "task"), count(len(models), "model"), first.known[1]),
    )


def _of_task(finding: Finding, task: str) -> Finding:
    """A finding under the name of its task, which its notices say too."""
    notices = tuple(notice.of(task) for notice in finding.notices)
    return replace(finding.under(task=task), notices=notices)


def _overview(plans: Sequence[TaskPlan]) -> Finding:
    """Which task needs the largest study, and every task in a table."""
    first = plans[0].planned
    named = any(plan.planned.pairs[0].pilot_annotators for plan in plans)
    heads = [
        Column("task", "task"),
        Column("a", "hardest pair" if first.ranks else "pair", "model"),
        Column("b", "and", "model"),
        Column("difference", "difference in the pilot", "change", ("low", "high")),
        *size_columns(first, people=named),
        Column("state", "state"),
    ]
    table = Table(
        name="plan_tasks",
        caption=f"What each task needs for a power of {exact_percent(first.aim.power)}",
        columns=heads,
        rows=[plan.row() for plan in plans],
        legend="Each task by itself, in the design that is cheapest, or else nearest to the "
        "pilot; the same items can serve all tasks.",
        open=True,
    )
    return Finding(key="tasks", title=TITLE, sentence=_sentence(plans), tables=(table,))


def _sentence(plans: Sequence[TaskPlan]) -> str:
    planned = [(plan, best) for plan in plans if (best := plan.planned.recommended) is not None]
    lost = len(plans) - len(planned)
    rest = f" No size can be planned for {count(lost)} of {count(len(plans), 'task')}."
    if not planned:
        return f"No size can be planned for any of {count(len(plans), 'task')}."
    priced = not math.isnan(planned[0][1].cost)
    most, design = max(planned, key=lambda pair: pair[1].cost if priced else pair[1].votes)
    at = f", at {count(design.cost)}" if priced else f", {count(design.votes, 'vote')} in all"
    return f"{most.task} needs most: {size_words(design)}{at}.{rest if lost else ''}"

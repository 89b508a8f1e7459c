"""Predicted probabilities: calibration, what is left without the worst items, hardest items.

Only runs whose models gave probabilities have these findings. What belongs to one task is shown
with it; for the average over tasks there is one row per task.
"""

import math
from collections.abc import Sequence

from equipoise.findings import Case, Cases, Cell, Column, Finding, Line, Lines, Row, Table
from equipoise.numbers import EXACT, UNDEFINED, count, number, percent
from equipoise.run.findings.panels import SOFT, Panel, RunView, listing
from equipoise.run.record import (
    Calibration,
    ClassShares,
    ClassVotes,
    HardestRow,
    HardItem,
    ReliabilityRow,
    RetainedRow,
)
from equipoise.wording import capital

DRAWN = 12  # models with a line; all are in the table
SEEN = 0.005  # smaller shares are not written
NAMED = 8  # classes whose votes are written out
RELIABILITY_NOTE = (
    "Predictions are sorted into ten equally wide bins; with more than two classes it is the "
    "largest probability of each item. A dot is a bin: across, the mean probability that the "
    "model gave; up, the share that agrees; on the diagonal the two are the same. The error is "
    "the distance of a bin from the diagonal, averaged over items (the expected calibration "
    "error with ten bins and soft labels; the metric of that name may use others). Where "
    "annotators disagree a model that says so is rewarded. Bins with few items scatter by "
    "chance."
)
RETAINED_NOTE = (
    "Items are sorted by a score of their own against the soft labels, for each model by "
    "itself, and the worst are set aside step by step. The labels are used for this, so it is "
    "no way to select items beforehand. The area is the mean height of a line. Items of equal "
    "score leave together, by equal shares."
)
HARDEST_NOTE = (
    "Items with the worst score of the model against the soft labels: the first proper score "
    "among the metrics, or else the Brier score. A disputed item scores badly whatever a model "
    "says of it. The bar is what was said of the item; marks under it are the probability that "
    "the model gives the class that leads there. A wrong model and wrong votes look the same "
    "here: look at the item."
)


def prediction_findings(view: RunView) -> list[Finding]:
    """All that is said of predicted probabilities, section by section."""
    record = view.record
    made = [_reliability(view, row) for row in record.reliability]
    made += [_calibration_by_task(view)] if len(record.reliability) > 1 else []
    made += [_retained(view, row) for row in record.retained]
    made += [_retained_by_task(view)] if len(record.tasks) > 1 and record.retained else []
    made += [_hardest(view, row) for row in record.hardest]
    return made + ([_hardest_by_task(view)] if len(record.hardest) > 1 else [])


# ---- calibration ---------------------------------------------------------------------------


def _reliability(view: RunView, row: ReliabilityRow) -> Finding:
    """Whether a probability of 70% means that 70% of the votes agree."""
    models = ordered(row)
    few = f", {DRAWN} of {count(len(models), 'model')}" if len(models) > DRAWN else ""
    chart = Lines(
        name="reliability",
        caption=f"Best calibrated first{few}; dashed: what is said is what is seen",
        alternative=f"Reliability of {count(len(models[:DRAWN]), 'model')}.",
        x=_what(row),
        y=_share(row),
        lines=[
            Line(name=one.model, points=[(p, o) for p, o, _ in one.bins], model=one.model)
            for one in models[:DRAWN]
        ],
        diagonal=True,
        x_range=(0.0, 1.0),
        y_range=(0.0, 1.0),
    )
    return Finding(
        key="reliability",
        title="Do probabilities mean what they say",
        sentence=calibration_words(row),
        tables=_calibration_tables(view, row),
        charts=(chart,),
        note=RELIABILITY_NOTE,
        task=row.task,
        brief=False,
    )


def _calibration_tables(view: RunView, row: ReliabilityRow) -> tuple[Table, Table]:
    """Calibration of every model, and the bins of those that are drawn."""
    models = ordered(row)
    summary = Table(
        name="calibration",
        caption=f"Calibration in {row.bins} bins",
        columns=(
            Column("model", "model", "model"),
            *view.task_columns,
            Column("error", "calibration error", "number"),
            Column("predicted", "mean prediction", "percent"),
            Column("observed", _share(row), "percent"),
            Column("bins", "bins with items", "count"),
        ),
        rows=[
            {
                "task": row.task,
                "model": one.model,
                "error": one.error,
                "predicted": one.predicted,
                "observed": one.observed,
                "bins": len(one.bins),
            }
            for one in models
        ],
    )
    bins = Table(
        name="reliability_bins",
        caption="Bins",
        columns=(
            Column("model", "model", "model"),
            *view.task_columns,
            Column("predicted", "mean prediction", "percent"),
            Column("observed", _share(row), "percent"),
            Column("items", "items", "count"),
        ),
        rows=[
            {"task": row.task, "model": one.model, "predicted": p, "observed": o, "items": n}
            for one in models[:DRAWN]
            for p, o, n in one.bins
        ],
    )
    return summary, bins


def ordered(row: ReliabilityRow) -> list[Calibration]:
    """Models from the best to the worst calibrated; equal ones as they stand."""
    return sorted(row.models, key=lambda one: round(one.error, 12))


def _what(row: ReliabilityRow) -> str:
    if row.class_ is None:
        return "probability that the model gives its answer"
    return f"predicted probability of {row.class_}"


def _share(row: ReliabilityRow) -> str:
    """Name what probabilities are compared with."""
    if row.from_votes:
        return "share of votes that agree" if row.class_ is None else "share of votes for it"
    return "plausibility of the answer" if row.class_ is None else "plausibility of it"


def _points(error: float) -> str:
    """Write a distance between two shares.

    Examples
    --------
    >>> _points(0.0351), _points(0.01)
    ('3.5 percentage points', '1.0 percentage points')
    """
    return f"{number(100 * error, 1)} percentage points"


def calibration_words(row: ReliabilityRow) -> str:
    """Say who is best calibrated, who is furthest off, and on which side."""
    models = ordered(row)
    best = [one.model for one in models if one.error <= models[0].error + EXACT]
    name, alone = listing(best), len(best) == 1
    said = f"{name} {'is' if alone else 'are'} best calibrated: " if len(models) > 1 else ""
    if row.class_ is None:
        who = "it gives its" if alone else "they give their"
        said += f"{'the' if said else f'{name}: the'} probability {who} answers"
    else:
        who = ("its" if alone else "their") if said else f"{name}: the"
        said += f"{who} predicted probability of {row.class_}"
    off = _points(models[0].error)
    said += f" is off by {off} on average from the {_share(row)}."
    if len(best) == len(models):
        return f"{said}{_side(models[0], row)}"
    worst = models[-1]
    far = f"{listing([worst.model])} is furthest off, by {_points(worst.error)}."
    return f"{said} {far}{_side(worst, row)}"


def _side(one: Calibration, row: ReliabilityRow) -> str:
    """Say whether a model is too sure or not sure enough, where most of its error is that."""
    gap = one.predicted - one.observed
    if abs(gap) < one.error / 2 or abs(gap) <= EXACT:
        return ""
    if row.class_ is None:
        how = "too sure" if gap > 0 else "not sure enough"
    else:
        how = "too high" if gap > 0 else "too low"
    share = percent(one.observed)
    if not row.from_votes:
        observed = f"the plausibility is {share}"
    elif row.class_ is None:
        observed = f"{share} of the votes agree"
    else:
        observed = f"{share} of the votes are for it"
    return f" On the whole it is {how}: it says {percent(one.predicted)}, and {observed}."


def _calibration_by_task(view: RunView) -> Finding:
    rows: list[Row] = []
    for row in view.record.reliability:
        models = ordered(row)
        ends = [f"{one.model} ({number(one.error)})" for one in (models[0], models[-1])]
        rows.append({"task": row.task, "best": ends[0], "worst": ends[1]})
    table = Table(
        name="calibration_by_task",
        caption="Calibration by task",
        columns=(
            Column("task", "task"),
            Column("best", "best calibrated (error)"),
            Column("worst", "furthest off (error)"),
        ),
        rows=rows,
        open=True,
        file=False,
    )
    return Finding(
        key="reliability",
        title="Do probabilities mean what they say",
        sentence="Calibration is a matter of one task; choose a task for its figure.",
        tables=(table,),
        task=view.record.tasks[-1],
        brief=False,
    )


# ---- retained samples ----------------------------------------------------------------------


def _panel(view: RunView, row: RetainedRow) -> Panel:
    metric = next(one for one in view.record.metrics if one.name == row.metric)
    return Panel(view, row.task, metric)


def _height_title(panel: Panel) -> str:
    """Name what is recomputed on the items that are left."""
    return panel.title(SOFT).removeprefix("retained-samples ")


def _heights(row: RetainedRow, model: str) -> tuple[float, ...]:
    return next(one.heights for one in row.models if one.model == model)


def _retained(view: RunView, row: RetainedRow) -> Finding:
    """How good a model is on what is left when its worst items are set aside."""
    panel = _panel(view, row)
    title, total = _height_title(panel), len(panel.order)
    few = f", best {DRAWN} of {total} models" if total > DRAWN else ""
    chart = Lines(
        name="retained",
        caption=f"{capital(title)} on the items that are left{few}",
        alternative=(
            f"{title} of {count(min(total, DRAWN), 'model')} while up to "
            f"{percent(row.removed[-1])} of the items are set aside."
        ),
        x="share of items set aside",
        y=title,
        lines=[
            Line(
                name=model,
                points=list(zip(row.removed, _heights(row, model), strict=True)),
                model=model,
                dots=False,
            )
            for model in panel.order[:DRAWN]
        ],
    )
    last = len(row.removed) - 1
    some = sorted({0, last // 4, last // 2, 3 * last // 4, last})
    columns = [
        Column("model", "model", "model"),
        Column("value", f"area, {view.level} interval", "number", ("low", "high")),
        *(Column(f"height_{i}", f"without {percent(row.removed[i])}", "number") for i in some),
    ]
    rows: list[Row] = []
    for model in panel.order:
        score, heights = panel.score(SOFT, model), _heights(row, model)
        own: dict[str, Cell] = {"task": row.task, "metric": row.metric, "model": model}
        own |= {"value": score.value, "low": score.low, "high": score.high}
        rows.append(own | {f"height_{i}": heights[i] for i in some})
    table = Table(
        name=f"retained_{row.metric}" if len(view.record.metrics) > 1 else "retained",
        caption=f"{title}: area and heights",
        columns=columns,
        rows=rows,
        file=False,
    )
    return Finding(
        key="retained",
        title="Without the worst items",
        sentence=retained_words(panel, row),
        tables=(table,),
        charts=(chart,),
        note=RETAINED_NOTE,
        task=row.task,
        brief=False,
    )


def retained_words(panel: Panel, row: RetainedRow) -> str:
    """Say whose curve is best on average, how sure that is, and how much its worst items do."""
    found, title = panel.verdict(SOFT), _height_title(panel)
    if not found.best:
        return f"The mean {title} over the cuts is undefined for every model."
    name, way = listing(found.best), "highest" if panel.sign > 0 else "lowest"
    have = "has" if len(found.best) == 1 else "have"
    value = number(panel.score(SOFT, found.best[0]).value)
    said = f"{panel.opening}{name} {have} the {way} {title} on average over the cuts ({value})"
    if found.close:
        said += f", but the data do not separate it from {listing(found.close, 3)}"
    first, *_, last = _heights(row, found.best[0])
    if math.isnan(first) or math.isnan(last):
        return f"{said}. Its change from the first to the last cut is undefined."
    whose = "its" if len(found.best) == 1 else f"that of {found.best[0]}"
    start, end = number(first), number(last)
    move = "stays at" if start == end else "rises to" if last > first else "falls to"
    return (
        f"{said}. Without the {percent(row.removed[-1])} of the items on which it does worst, "
        f"{whose} score {move} {end}{'' if start == end else f' from {start}'}."
    )


def _retained_by_task(view: RunView) -> Finding:
    rows: list[Row] = []
    for row in view.record.retained:
        panel = _panel(view, row)
        best = panel.verdict(SOFT).best
        area = panel.score(SOFT, best[0]).value if best else math.nan
        name = listing(best, 2) if best else UNDEFINED
        rows.append(
            {"task": row.task, "what": _height_title(panel), "best": name, "area": area}
        )
    table = Table(
        name="retained_by_task",
        caption="Retained samples by task",
        columns=(
            Column("task", "task"),
            Column("what", "on the items that are left"),
            Column("best", "best on average"),
            Column("area", "area", "number"),
        ),
        rows=rows,
        open=True,
        file=False,
    )
    return Finding(
        key="retained",
        title="Without the worst items",
        sentence="Curves belong to one task; choose a task for its figure.",
        tables=(table,),
        task=view.record.tasks[-1],
        brief=False,
    )


# ---- hardest items -------------------------------------------------------------------------


def _said_by(row: HardestRow) -> str:
    return "votes" if row.from_votes else "truth"


def _hardest(view: RunView, row: HardestRow) -> Finding:
    """Where the best model is furthest from what was said."""
    items = row.items
    words = f"The {count(len(items), 'item')}" if len(items) != 1 else "The item"
    chart = Cases(
        name="hardest",
        caption=(
            f"{words} with the worst {row.title} of {row.model}: what the {_said_by(row)} say"
        ),
        alternative=(
            f"Predictions of {row.model} beside the {_said_by(row)} for "
            f"{count(len(items), 'item')}."
        ),
        classes=row.classes,
        rows=[
            Case(
                name=one.item,
                shares=_all_shares(row, one),
                marks=((row.model, leading(one, "observed").predicted),),
                remark=f"score {number(one.score)}",
            )
            for one in items
        ],
        axis="probability that the model gives the leading class",
    )
    table = Table(
        name="hardest_items",
        caption=(
            f"Hardest items (mean {number(row.mean)} over {count(row.items_scored, 'item')})"
        ),
        columns=(
            Column("item", "item"),
            *view.task_columns,
            Column("score", row.title, "number"),
            Column("predicted", "predicted"),
            Column("said", _said_by(row)),
        ),
        rows=[
            {
                "task": row.task,
                "metric": row.metric,
                "model": row.model,
                "item": one.item,
                "score": one.score,
                "predicted": _class_words(one, "predicted"),
                "said": vote_words(one.counts) or _class_words(one, "observed"),
            }
            for one in items
        ],
    )
    return Finding(
        key="hardest",
        title="Hardest items",
        sentence=hardest_words(view, row),
        tables=(table,) if items else (),
        charts=(chart,) if items else (),
        note=HARDEST_NOTE,
        task=row.task,
        brief=False,
    )


def _all_shares(row: HardestRow, one: HardItem) -> list[float]:
    """Shares of all classes in their order, or of those that are shown."""
    known = {part.class_: part.observed for part in one.shares}
    return [known.get(name, 0.0) for name in row.classes] or list(known.values())


def leading(one: HardItem, side: str) -> ClassShares:
    """The class with the largest share on one side."""
    return max(one.shares, key=lambda part: float(getattr(part, side)))


def _class_words(one: HardItem, side: str) -> str:
    """Write the classes of one side, the largest share first."""
    parts = sorted(one.shares, key=lambda part: -float(getattr(part, side)))
    return ", ".join(
        f"{part.class_}: {percent(getattr(part, side))}"
        for part in parts
        if getattr(part, side) >= SEEN
    )


def vote_words(counts: Sequence[ClassVotes]) -> str:
    """Say how many voted for which class, and who where that is known.

    Examples
    --------
    >>> vote_words([ClassVotes(class_="a", votes=2.0, who=("x", "y")),
    ...             ClassVotes(class_="b", votes=1.0)])
    'a: 2 (x, y); b: 1'
    """
    said = [
        f"{one.class_}: {count(one.votes)}" + (f" ({', '.join(one.who)})" if one.who else "")
        for one in counts[:NAMED]
    ]
    left = len(counts) - len(said)
    more = [f"{left} other class{'es' if left > 1 else ''}"] if left else []
    return "; ".join([*said, *more])


def _missed(one: HardItem) -> bool:
    """Whether another class has more votes than the one the model holds likeliest."""
    most = leading(one, "observed").observed
    return leading(one, "predicted").observed < most - EXACT


def hardest_words(view: RunView, row: HardestRow) -> str:
    """Say what the model makes of the hardest item, and how often it misses the leader."""
    items = row.items
    if not items:
        return f"No item has a defined {row.title}."
    top, side = items[0], _said_by(row)
    guess, truth = leading(top, "predicted"), leading(top, "observed")
    if _missed(top):
        how = (
            f"it says class {guess.class_} ({percent(guess.predicted)}), the {side} "
            f"say{'' if row.from_votes else 's'} class {truth.class_} "
            f"({percent(truth.observed)})"
        )
    else:
        how = (
            f"it gives class {guess.class_} {percent(guess.predicted)}, the {side} "
            f"{percent(guess.observed)}"
        )
    wrong, mass = sum(_missed(one) for one in items), "votes" if row.from_votes else "mass"
    best = (
        f", the model with the best {row.title} by soft labels" if len(view.models) > 1 else ""
    )
    return (
        f"Item {top.item} is the hardest for {row.model}{best}: {how}. On {count(wrong)} of "
        f"{'this' if len(items) == 1 else 'these'} {count(len(items), 'item')} the first "
        f"choice of the model is not the class with most {mass}."
    )


def _hardest_by_task(view: RunView) -> Finding:
    rows: list[Row] = [
        {
            "task": row.task,
            "item": one.item,
            "model": row.model,
            "score": f"{number(one.score)} ({row.title})",
        }
        for row in view.record.hardest
        for one in row.items[:1]
    ]
    table = Table(
        name="hardest_by_task",
        caption="Hardest items",
        columns=(
            Column("task", "task"),
            Column("item", "item"),
            Column("model", "model", "model"),
            Column("score", "score"),
        ),
        rows=rows,
        open=True,
        file=False,
    )
    return Finding(
        key="hardest",
        title="Hardest items",
        sentence="The hardest item of every task; choose a task for more.",
        tables=(table,),
        task=view.record.tasks[-1],
        brief=False,
    )

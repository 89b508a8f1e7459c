"""Models among experts: dots over the range of the people who set the truth."""

import math
from collections.abc import Sequence

from equipoise.report.markup import Html, join
from equipoise.report.numerals import apart, count, finite, number, percent, signed
from equipoise.report.numerals import signed_interval as span
from equipoise.report.stability_charts import (
    NAMES,
    Dot,
    Line,
    Plot,
    Points,
    Rows,
    curves,
    dot_rows,
)
from equipoise.report.stability_rows import Cast, Entry, Part, chosen, digits_of, value, written
from equipoise.report.tables import row, table

PEOPLE = 24  # experts in the figure, the first and last of them
NOTE = (
    "Every expert is scored against the mean vote of the other experts, as if the expert were "
    "a model; models are scored on the same items against the same labels. The shaded range "
    "goes from the lowest to the highest expert. Lines of experts are intervals over items; "
    "those of models are intervals of the paired difference to the average expert. "
    "What one held-out expert said is another truth than the mean of several: a model's value "
    "against it, the line beside the curve, is not its value among the experts. "
    "A model is worth k experts when it agrees with a held-out expert as well as the mean vote "
    "of k others does, over {groups}; its interval redraws items and keeps these experts. "
    "The curve may fall: by accuracy two experts decide no better than one, as they can only "
    "tie where they differ. Numbers of experts who do no better than fewer do are passed over, "
    "and the worth is read between the others. (?) marks a worth above one expert that is not "
    "shown to be more than one, because the difference to the average expert may be zero, the "
    "model beats a colleague in fewer than half of the pairs, or the interval of its worth "
    "begins at one or fewer. "
    "That a model agrees better than a colleague is counted over pairs of experts; its "
    "interval allows for the items and for how few experts there are, so that it is wide even "
    "where all pairs agree."
)
EVERY = "all groups of k"
DRAWN = "groups of k drawn at random, which the intervals allow for"
CURVE = "mean vote of k experts"
FALLING = "mean vote of every number of experts, those who do no better than fewer too"
LEADERS = 4  # models with a name where names would stand too close


def part(entry: Entry, cast: Cast) -> Part:
    """The section on experts as competitors."""
    rows = chosen(entry["rows"])
    sign = cast.sign(rows)
    ordered = sorted(rows, key=lambda one: -sign * value(one, "value"))
    people = [one for one in ordered if one["kind"] == "expert"]
    models = [one for one in ordered if one["kind"] == "model"]
    drawings = {
        "experts": _among(people, models, cast),
        "experts-crowd": _crowd(entry, models, cast),
    }
    few = f", {PEOPLE} of {len(people)} experts" if len(people) > PEOPLE else ""
    mark = "" if _worth(entry, models) is None else "; upright line: worth of the best model"
    doubted = any(_unsure(one) for one in models)
    unsure = "; (?): not shown to be worth more than one expert" if doubted else ""
    return Part(
        str(entry["finding"]),
        f"Agreement with the other experts by {cast.title(rows)}; shaded: the experts{few}. "
        "Beside it, by the same metric, agreement with one held-out expert: shaded curve, the "
        "mean vote of k others; lines, the models, each worth the k at which its line meets "
        f"the curve{mark}{unsure}",
        {name: one for name, one in drawings.items() if one is not None},
        _table(people, models, cast),
        NOTE.format(groups=EVERY if entry.get("every_group", True) else DRAWN),
    )  # fmt: skip


def _among(people: Sequence[Entry], models: Sequence[Entry], cast: Cast) -> Html | None:
    """Draw models, then experts, the best first, over the range of the experts."""
    values = [value(one, "value") for one in people if finite(value(one, "value"))]
    shown = [*people[: PEOPLE // 2], *people[max(PEOPLE // 2, len(people) - PEOPLE // 2) :]]
    names = apart(tuple(str(one["who"]) for one in people), 16)
    dots = [_model(one, cast) for one in models if str(one["who"]) in cast.models]
    dots += [
        Dot(str(one["who"]), names[str(one["who"])], value(one, "value"), value(one, "low"),
            value(one, "high"), "expert", "someone")
        for one in shown
    ]  # fmt: skip
    band = (min(values), max(values)) if values else None
    said = f"{len(models)} models next to {count(len(people), 'expert')}."
    title = cast.title(people or models)
    return dot_rows(Rows("agreement with the other experts", title, said, band=band), dots)


def _worth(entry: Entry, models: Sequence[Entry]) -> float | None:
    """What the best model is worth, if it lies within the numbers of experts."""
    sizes = entry.get("sizes", ())
    worth = value(models[0], "worth") if models else math.nan
    return worth if sizes and finite(worth) and sizes[0] <= worth <= sizes[-1] else None


def _crowd(entry: Entry, models: Sequence[Entry], cast: Cast) -> Html | None:
    """Draw how well the mean vote of k experts, and models, agree with another expert."""
    sizes = entry.get("sizes", ())
    columns = [entry.get(name, ()) for name in ("crowd", "crowd_low", "crowd_high")]
    rows = [
        {"k": k, "value": middle, "low": low, "high": high}
        for k, middle, low, high in zip(sizes, *columns, strict=True)
        if finite(value({"k": middle}, "k"))
    ]
    points = tuple((value(one, "k"), value(one, "value")) for one in rows)
    band = tuple((value(one, "k"), value(one, "low"), value(one, "high")) for one in rows)
    if len(points) < 2:
        return None
    rising = _rising(points, cast.sign(models))
    lines = [Line(CURVE, "mean of k", "tinted", rising, band=band)]
    if len(rising) < len(points):
        lines.append(Line(FALLING, "every k", "someone", points))
    best = [str(one["who"]) for one in models if str(one["who"]) in cast.models]
    visible = (max(y for _, y in points) - min(y for _, y in points)) / 100
    lines += [_level(entry, name, cast, visible) for name in best]
    said = (
        f"Agreement of the mean vote of 1 to {sizes[-1]} experts, and of "
        f"{count(len(best), 'model')}, with another expert."
    )
    ticks = tuple((float(size), f"{size}") for size in sizes[:: max(1, len(sizes) // 8)])
    plot = Plot(
        "agreement with one held-out expert", "number of experts, k", said, ticks,
        here=_worth(entry, models), lead=(CURVE, FALLING, *best[:LEADERS]),
    )  # fmt: skip
    return curves(plot, lines)


def _rising(points: Points, sign: int) -> Points:
    """Points that are better than all before them: the curve from which worth is read.

    Examples
    --------
    >>> _rising(((1.0, 0.79), (2.0, 0.77), (3.0, 0.82)), 1)
    ((1.0, 0.79), (3.0, 0.82))
    """
    kept = list(points[:1])
    for x, y in points[1:]:
        if sign * (y - kept[-1][1]) > 0:
            kept.append((x, y))
    return tuple(kept)


def _level(entry: Entry, model: str, cast: Cast, visible: float) -> Line:
    """A model against the held-out expert, on the items of groups of each size."""
    place = [str(one) for one in entry["models"]].index(model)
    points = [
        (float(size), value({"y": row[place]}, "y"))
        for size, row in zip(entry["sizes"], entry["held_out"], strict=True)
    ]
    known = [(x, y) for x, y in points if finite(y)]
    if known and max(y for _, y in known) - min(y for _, y in known) <= visible:
        known = [known[0], known[-1]]
    return Line(model, cast.short(model, NAMES), cast.class_(model), tuple(known))


def _model(one: Entry, cast: Cast) -> Dot:
    """A model's value; its line is the interval of the difference to the average expert."""
    name, middle = str(one["who"]), value(one, "value")
    low, high = (
        middle + value(one, end) - value(one, "gap") for end in ("gap_low", "gap_high")
    )
    said = str(one["worth_words"]).removeprefix("the mean of ") + _unsure(one)
    return Dot(name, cast.short(name, 16), middle, low, high, said, cast.class_(name))


def _unsure(one: Entry) -> str:
    """A mark where a worth above one expert is not shown to be more than one."""
    return " (?)" if one.get("worth_doubts") else ""


def _of(models: Sequence[Entry]) -> str:
    """Of how many pairs the shares are, where all are of the same number."""
    number = {int(one["pairs"]) for one in models}
    return f", of {count(number.pop(), 'pair')}" if len(number) == 1 else ""


def _table(people: Sequence[Entry], models: Sequence[Entry], cast: Cast) -> Html:
    """List models and experts."""
    digits = digits_of(people)
    lines = [
        cast.row(
            str(one["who"]),
            [
                number(value(one, "value"), digits),
                written(one, ("held_out", "held_out_low", "held_out_high"), digits),
                f"{signed(value(one, 'gap'), digits)} "
                + span(value(one, "gap_low"), value(one, "gap_high"), digits),
                f"{percent(value(one, 'superior'))} ({percent(value(one, 'superior_low'))} to "
                f"{percent(value(one, 'superior_high'))})",
                f"{one['worth_words']} ({one['worth_range']}){_unsure(one)}",
            ],
        )
        for one in models
        if str(one["who"]) in cast.models
    ]
    heads = [
        "Model",
        "against the others",
        "against one expert",
        "minus average expert",
        f"agrees better than a colleague{_of(models)}",
        "worth",
    ]
    others = [
        row(str(one["who"]), [count(value(one, "items")),
            written(one, ("value", "low", "high"), digits)])
        for one in people
    ]  # fmt: skip
    return join([
        table("Models next to experts", heads, lines),
        table("Experts", ["Expert", "items", "against the others"], others),
    ])  # fmt: skip

"""Models among experts: dots over the range of the people who set the truth."""

import math
from collections.abc import Sequence

from equipoise.report.markup import Html, join
from equipoise.report.numerals import apart, count, finite, number, percent, signed
from equipoise.report.numerals import signed_interval as span
from equipoise.report.stability_charts import Dot, Line, Plot, Rows, curves, dot_rows
from equipoise.report.stability_rows import Cast, Entry, Part, chosen, digits_of, value, written
from equipoise.report.tables import row, table

PEOPLE = 24  # experts in the figure, the first and last of them
NOTE = (
    "Every expert is scored against the mean vote of the other experts, as if the expert were "
    "a model; models are scored on the same items against the same labels. The shaded range "
    "goes from the lowest to the highest expert. Lines of experts are intervals over items; "
    "those of models are intervals of the paired difference to the average expert. "
    "A model is worth k experts when it agrees with a held-out expert as well as the mean vote "
    "of k others does, over {groups}; its interval redraws items and keeps these experts. "
    "That a model agrees better than a colleague is counted over pairs of experts; its "
    "interval allows for the items and for how few experts there are, so that it is wide even "
    "where all pairs agree."
)
EVERY = "all groups of k"
DRAWN = "groups of k drawn at random, which the intervals allow for"


def part(entry: Entry, cast: Cast) -> Part:
    """The section on experts as competitors."""
    rows = chosen(entry["rows"])
    sign = cast.sign(rows)
    ordered = sorted(rows, key=lambda one: -sign * value(one, "value"))
    people = [one for one in ordered if one["kind"] == "expert"]
    models = [one for one in ordered if one["kind"] == "model"]
    drawings = {"experts": _among(people, models, cast), "experts-crowd": _crowd(entry, models)}
    few = f", {PEOPLE} of {len(people)} experts" if len(people) > PEOPLE else ""
    mark = "" if _worth(entry, models) is None else "; upright line: the best model"
    return Part(
        str(entry["finding"]),
        f"Agreement with the other experts by {cast.title(rows)}; shaded: the experts{few}. "
        f"Beside it: the mean vote of k experts against another{mark}",
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


def _crowd(entry: Entry, models: Sequence[Entry]) -> Html | None:
    """Draw how well the mean vote of k experts agrees with another expert."""
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
    line = Line("mean vote of k experts", "mean of k", "tinted", points, band=band)
    said = f"Agreement of the mean vote of 1 to {len(sizes)} experts with another expert."
    ticks = tuple((float(size), f"{size}") for size in sizes[:: max(1, len(sizes) // 8)])
    plot = Plot(
        "k experts against another expert", "number of experts, k", said, ticks,
        here=_worth(entry, models),
    )  # fmt: skip
    return curves(plot, [line])


def _model(one: Entry, cast: Cast) -> Dot:
    """A model's value; its line is the interval of the difference to the average expert."""
    name, middle = str(one["who"]), value(one, "value")
    low, high = (
        middle + value(one, end) - value(one, "gap") for end in ("gap_low", "gap_high")
    )
    said = str(one["worth_words"]).removeprefix("the mean of ")
    return Dot(name, cast.short(name, 16), middle, low, high, said, cast.class_(name))


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
                f"{signed(value(one, 'gap'), digits)} "
                + span(value(one, "gap_low"), value(one, "gap_high"), digits),
                f"{percent(value(one, 'superior'))} ({percent(value(one, 'superior_low'))} to "
                f"{percent(value(one, 'superior_high'))})",
                f"{one['worth_words']} ({one['worth_range']})",
            ],
        )
        for one in models
        if str(one["who"]) in cast.models
    ]
    heads = [
        "Model",
        "value",
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
        table("Experts against the other experts", ["Expert", "items", "value"], others),
    ])  # fmt: skip

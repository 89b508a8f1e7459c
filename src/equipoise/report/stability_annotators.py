"""Leaving annotators out: what one person's absence changes.

A column per annotator, a row per model, all on one scale; two annotators in a drawing,
those whose absence moves most first.
"""

from collections.abc import Sequence

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import apart, count, finite, listing, number, shorten, signed
from equipoise.report.numerals import signed_interval as span
from equipoise.report.stability_charts import headed
from equipoise.report.stability_rows import (
    Cast,
    Entry,
    Part,
    by,
    chosen,
    digits_of,
    several,
    value,
)
from equipoise.report.svg import (
    NARROW,
    Scale,
    across,
    down,
    drawing,
    group,
    inside,
    model_names,
    parted,
    path,
    text,
    titled,
)
from equipoise.report.tables import row, table

LABEL, LINE, TOP = 112.0, 17.0, 46.0
COLUMNS, SHEETS, OPEN = 2, 8, 2  # annotators in a drawing, drawings, and those not folded
NOTE = (
    "Every model is scored again without the votes of one annotator; the shift is the new "
    "value minus that with all. Lines are intervals of the shift, from redrawn items, paired "
    "with the whole panel. A line that crosses the upright one may be chance."
)


def part(entry: Entry, cast: Cast) -> Part:
    """The section on leaving annotators out."""
    rows = chosen(entry["rows"])
    people = _moving(rows)
    sheets = [people[n : n + COLUMNS] for n in range(0, len(people), COLUMNS)]
    drawings = {
        f"leave-one-out-{n}": _lattice(sheet, rows, cast)
        for n, sheet in enumerate(sheets, start=1)
    }
    every = len(several(rows, "without"))
    few = f", the {len(people)} of {every} annotators" if every > len(people) else ""
    folded = [shorten(str(who), 24) for who in people[OPEN * COLUMNS :]]
    return Part(
        str(entry["finding"]),
        f"Shift of {cast.title(rows)} without one annotator, a column each{few}; those who "
        "move most come first",
        {name: one for name, one in drawings.items() if one is not None},
        _shifts(rows, cast), NOTE,
        first=OPEN, others=f"Without {listing(folded, SHEETS * COLUMNS)}",
    )  # fmt: skip


def _moving(rows: Sequence[Entry]) -> list[str]:
    """Annotators whose absence moves most, the first of them first."""
    far = {
        who: max((abs(value(one, "shift")) for one in own if finite(value(one, "shift"))),
                 default=0.0)
        for who, own in by(rows, "without").items()
    }  # fmt: skip
    return sorted(far, key=lambda who: -far[who])[: COLUMNS * SHEETS]


def _lattice(people: Sequence[str], rows: Sequence[Entry], cast: Cast) -> Html | None:
    """Draw a column per annotator and a row per model, all on one scale."""
    ends = [value(one, key) for one in rows for key in ("shift", "low", "high")]
    known = [0.0, *(end for end in ends if finite(end))]
    if not max(known) > min(known):
        return None
    models = _ordered(rows, cast)
    wide = (NARROW - LABEL) / COLUMNS
    shown = apart(tuple(several(rows, "without")), 19)
    bottom = TOP + LINE * len(models)
    heights = [TOP + LINE * (place + 0.5) for place in range(len(models))]
    parts = [
        headed("shift without each annotator"),
        group([model_names(cast.models, models, LINE, 13)], x=LABEL - 6, y=TOP, class_="n e"),
    ]
    for column, who in enumerate(people):
        left = LABEL + column * wide
        scale = Scale(min(known), max(known), left + 10, left + wide - 14)
        parts.append(titled(who, shown[who], x=left + wide / 2, y=TOP - 8, class_="c a"))
        parts.append(path("g", *(across(left + 2, y, wide - 8) for y in heights)))
        parts.append(element("rect", x=left + 2, y=TOP, width=wide - 8, height=bottom - TOP,
                             class_="frame-line"))  # fmt: skip
        parts += _ticks(scale, bottom)
        own = {one["model"]: one for one in rows if one["without"] == who}
        parts += [
            _shift(own[model], scale, y, cast) for model, y in zip(models, heights, strict=True)
        ]
    said = f"Shift of {len(models)} models without each of {count(len(people), 'annotator')}."
    return drawing((NARROW, bottom + 22), said, *parts)


def _ticks(scale: Scale, bottom: float) -> list[Html]:
    """Draw zero and round shifts, the same in every column."""
    ticks = parted(scale, 3, _signed)
    return [
        path("g", *(down(scale(x), TOP, bottom - TOP) for x in ticks)),
        path("zero", down(scale(0.0), TOP, bottom - TOP)),
        *(text(inside(scale(x), _signed(x)), bottom + 15, _signed(x), "c a") for x in ticks),
    ]


def _signed(shift: float) -> str:
    """Write a round shift."""
    return f"{shift:+.3g}".replace("-", "−") if shift else "0"


def _ordered(rows: Sequence[Entry], cast: Cast) -> list[str]:
    """Models by their rank with all annotators."""
    place = {str(one["model"]): value(one, "full_rank") for one in rows}
    known = [model for model in cast.models if model in place]
    return sorted(known, key=lambda model: (not finite(place[model]), place[model]))


def _shift(one: Entry, scale: Scale, y: float, cast: Cast) -> Html:
    """Draw one shift with its interval."""
    middle, low, high = (value(one, key) for key in ("shift", "low", "high"))
    parts = []
    if finite(low) and finite(high):
        parts.append(path("w", across(scale(low), y, scale(high) - scale(low))))
    if finite(middle):
        parts.append(path("o small", across(scale(middle), y)))
    return element("g", *parts, class_=cast.class_(str(one["model"])))


def _shifts(rows: Sequence[Entry], cast: Cast) -> Html:
    """List every shift; a second table says what each annotator's absence does to the order."""
    digits = digits_of(rows)
    people = by(rows, "without")
    lines = []
    for model in _ordered(rows, cast):
        own = [one for one in rows if one["model"] == model]
        lines.append(
            cast.row(
                model,
                [
                    f"{signed(value(one, 'shift'), digits)} "
                    + span(value(one, "low"), value(one, "high"), digits)
                    for one in own
                ],
            )
        )
    who = [
        row(str(name), [count(value(own[0], "votes")), *(
            number(value(own[0], key)) for key in ("spearman", "kendall_tau_b", "kappa"))])
        for name, own in people.items()
    ]  # fmt: skip
    heads = ["Without", "votes", "Spearman", "tau-b", "kappa of the labels"]
    return join([
        table(f"Shift of {cast.title(rows)}", ["Model", *(str(p) for p in people)], lines),
        table("Order of models and labels without an annotator, against all", heads, who),
    ])  # fmt: skip

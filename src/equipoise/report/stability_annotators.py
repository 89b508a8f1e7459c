"""Leaving annotators out: what one person's absence changes.

A column per annotator, a row per model, all on one scale.
"""

from collections.abc import Sequence

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import apart, count, finite, number, signed
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
    at,
    down,
    drawing,
    group,
    model_names,
    path,
    text,
)
from equipoise.report.tables import row, table

LABEL, LINE = 112.0, 20.0
COLUMNS, SHEETS = 8, 2  # annotators beside each other, and drawings of them
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
        f"leave-one-out-{n}": _lattice([r for r in rows if r["without"] in sheet], rows, cast)
        for n, sheet in enumerate(sheets, start=1)
    }
    every = len(several(rows, "without"))
    few = (
        f", the {len(people)} of {every} annotators that move most"
        if every > len(people)
        else ""
    )
    return Part(
        str(entry["finding"]),
        f"Shift of {cast.title(rows)} without one annotator, a column each{few}",
        {name: one for name, one in drawings.items() if one is not None},
        _shifts(rows, cast), NOTE,
    )  # fmt: skip


def _moving(rows: Sequence[Entry]) -> list[str]:
    """Annotators in their order; of many, those whose absence moves most."""
    far = {
        who: max((abs(value(one, "shift")) for one in own if finite(value(one, "shift"))),
                 default=0.0)
        for who, own in by(rows, "without").items()
    }  # fmt: skip
    most = set(sorted(far, key=lambda who: -far[who])[: COLUMNS * SHEETS])
    return [who for who in far if who in most]


def _lattice(rows: Sequence[Entry], every: Sequence[Entry], cast: Cast) -> Html | None:
    """Draw a column per annotator and a row per model, all on one scale."""
    ends = [abs(value(one, key)) for one in every for key in ("shift", "low", "high")]
    reach = max((end for end in ends if finite(end)), default=0.0)
    if not reach:
        return None
    people = several(rows, "without")
    models = _ordered(every, cast)
    wide = (NARROW - LABEL) / max(len(people), 4)
    shown = apart(tuple(several(every, "without")), 13)
    top = 34 + 4.2 * max(len(shown[who]) for who in people)
    bottom = top + LINE * len(models)
    parts = [
        group([model_names(cast.models, models, LINE, 13)], x=LABEL - 6, y=top, class_="n e")
    ]
    for column, who in enumerate(people):
        left = LABEL + column * wide
        scale = Scale(-reach, reach, left + 3, left + wide - 3)
        turned = f"translate({at(left + wide / 2, top - 8)}) rotate(40)"
        parts.append(element("text", shown[who], transform=turned, class_="e a"))
        parts.append(path("g", *(down(scale(x), top, bottom - top) for x in (-reach, reach))))
        parts.append(path("zero", down(scale(0.0), top, bottom - top)))
        own = {one["model"]: one for one in rows if one["without"] == who}
        parts += [
            _shift(own[model], scale, top + LINE * (place + 0.5), cast)
            for place, model in enumerate(models)
        ]
    parts.append(headed("shift without each annotator"))
    wording = f"each column spans {signed(-reach)} to {signed(reach)}"
    parts.append(text(LABEL, bottom + 18, wording, "a"))
    said = f"Shift of {len(models)} models without each of {count(len(people), 'annotator')}."
    return drawing((NARROW, bottom + 28), said, *parts)


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

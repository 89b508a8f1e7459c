"""Choices of aggregation: what another model of the votes would make of the comparison."""

from collections import Counter
from collections.abc import Sequence

from equipoise.report.markup import Html, join
from equipoise.report.numerals import finite, number, percent, rank
from equipoise.report.stability_charts import NAMES, Line, Plot, curves
from equipoise.report.stability_rows import (
    SHARED,
    Cast,
    Entry,
    Part,
    by,
    chosen,
    digits_of,
    value,
    written,
)
from equipoise.report.tables import row, table

DRAWN = 12
NOTE = (
    "Every aggregation turns the same votes into another truth, and the models are scored "
    "against each of them. A conclusion that depends on the choice is no property of the "
    "models. Reliability is what one vote counts, where an aggregation has it."
)
ORDER = (
    " The rank correlation (Spearman's) compares the order of the models with that under "
    "{reference}: 1 is the same order, 0 no relation, −1 the reverse."
)


def _choice(one: Entry) -> str:
    """Name a choice.

    Examples
    --------
    >>> _choice({"aggregation": "dirichlet", "reliability": 0.5})
    'dirichlet 0.5'
    """
    worth = value(one, "reliability")
    name = str(one["aggregation"]).replace("_", " ")
    return f"{name} {worth:g}" if finite(worth) else name


def part(entry: Entry, cast: Cast) -> Part:
    """The section on choices of aggregation."""
    rows = chosen(entry["rows"])
    drawings = {"choices-value": _lines(rows, cast, "value"),
                "choices-rank": _lines(rows, cast, "rank")}  # fmt: skip
    changes, told = chosen(entry.get("changes", ())), chosen(entry.get("conclusions", ()))
    return Part(
        str(entry["finding"]),
        f"{cast.title(rows)}, minus the mean of the models, and rank under every aggregation; "
        f"{SHARED}",
        {name: one for name, one in drawings.items() if one is not None},
        join([_values(rows, cast), _changes(changes), _conclusions(told)]),
        NOTE + ORDER.format(reference=_reference(changes)),
    )  # fmt: skip


def _lines(rows: Sequence[Entry], cast: Cast, key: str) -> Html | None:
    """Draw a line per model over the choices; values as differences to the mean of all."""
    names = list(dict.fromkeys(_choice(one) for one in rows))
    place = {name: float(n) for n, name in enumerate(names)}
    first = {str(one["model"]): value(one, "rank") for one in rows if _choice(one) == names[0]}
    middle = {name: _mean(rows, name) if key == "value" else 0.0 for name in names}
    lines = []
    for model in sorted(first, key=lambda name: first[name])[:DRAWN]:
        points = tuple(
            (place[_choice(one)], value(one, key) - middle[_choice(one)])
            for one in rows
            if one["model"] == model and finite(value(one, key) - middle[_choice(one)])
        )
        lines.append(Line(model, cast.short(model, NAMES), cast.class_(model), points))
    title = cast.title(rows)
    head = f"{title}: minus the mean" if key == "value" else "rank, 1 is best"
    said = f"{head} of {len(lines)} models under {len(names)} aggregations."
    ticks = tuple((x, name) for name, x in place.items())
    plot = Plot(head, "", said, ticks, slanted=True, down=key == "rank")
    return curves(plot, lines)


def _mean(rows: Sequence[Entry], name: str) -> float:
    """Mean value of the models under one choice."""
    own = [value(one, "value") for one in rows if _choice(one) == name]
    return sum(own) / len(own)


def _values(rows: Sequence[Entry], cast: Cast) -> Html:
    """List value and rank of every model under every choice."""
    names = list(dict.fromkeys(_choice(one) for one in rows))
    digits = digits_of(rows)
    lines = []
    for model, own in by(rows, "model").items():
        cells = [
            f"{written(one, ('value', 'low', 'high'), digits)}, "
            f"rank {rank(value(one, 'rank'))}, best in {percent(value(one, 'p_best'))}"
            for one in own
        ]
        lines.append(cast.row(str(model), cells))
    return table(f"{cast.title(rows)} by aggregation", ["Model", *names], lines)


def _changes(rows: Sequence[Entry]) -> Html:
    """List what each choice does to the order."""
    lines = [
        row(
            _choice(one),
            [
                number(value(one, "spearman"), 2),
                str(one["moved"]),
                _moved(one),
            ],
        )
        for one in rows
    ]
    against = _reference(rows)
    heads = ["Aggregation", f"rank correlation with {against}", "models that move", "most"]
    return table(f"Order of the models, compared with {against}", heads, lines)


def _reference(rows: Sequence[Entry]) -> str:
    """Name the choice that the others are compared with.

    Examples
    --------
    >>> _reference([{"reference": "mean vote"}]), _reference([])
    ('mean vote', 'the first')
    """
    return str(rows[0].get("reference", "the first")) if rows else "the first"


def _moved(one: Entry) -> str:
    """Name the model that moves most, and by how many ranks.

    Examples
    --------
    >>> _moved({"most_moved": "net", "by_ranks": -2.0})
    'net (−2)'
    """
    ranks = value(one, "by_ranks")
    if not finite(ranks):
        return "undefined"
    return f"{one['most_moved']} ({f'{ranks:+g}'.replace('-', '−')})" if ranks else "none"


def _conclusions(rows: Sequence[Entry]) -> Html:
    """Count what becomes of the comparisons of two models."""
    told = Counter(str(one["verdict"]) for one in rows)
    lines = [row(verdict, [f"{times} of {len(rows)}"]) for verdict, times in told.most_common()]
    return table("Comparisons of two models", ["Verdict", "pairs"], lines)

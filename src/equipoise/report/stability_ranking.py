"""Order of the models: how far it survives when data are drawn anew, by what is drawn.

One dot per kind of redrawing, for both rank correlations; heatmaps of the ranks under the kind
that leaves the order steadiest and under the one that shakes it most.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

from equipoise.report.heatmap import STEPS, WRITTEN
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import finite, number, percent, signed, signed_interval
from equipoise.report.palette import DARK_INK_FROM
from equipoise.report.stability_charts import Dot, Rows, dot_rows, headed
from equipoise.report.stability_rows import (
    Cast,
    Entry,
    Part,
    by,
    chosen,
    redrawn,
    value,
    written,
)
from equipoise.report.svg import NARROW, cells, drawing, group, lattice, model_names
from equipoise.report.tables import row, table

LABEL, TOP = 122.0, 34.0
DRAWN = 24  # models in a heatmap; all are in the table
MEASURES = {
    "spearman": ("Spearman's rank correlation", "spearman_low", "spearman_high"),
    "kendall_tau_b": ("Kendall's tau-b", "kendall_low", "kendall_high"),
}
NOTE = (
    "Each kind draws something anew: the items, the votes on each item, the annotators "
    "(panel), or several at once. In every redraw the models are put in order again and the "
    "order is "
    "compared with the original one: 1 is the same order, 0 no relation, −1 the reverse. "
    "Dots are means over redraws; lines hold the middle of the redraws, so they do not shrink "
    "with more redraws. A model's share of being best counts the redraws in which it is first; "
    "models that tie for first share that redraw evenly. Soft minus hard: by how much nearer "
    "the order by soft labels stays to its own original order than the order by hard labels "
    "does to its own, on average over redraws. Items redrawn together with votes or annotators "
    "err on the wide side, because redrawn items already bring the noise of their votes along; "
    "the leaderboard in front counts that noise once."
)


def part(entry: Entry, cast: Cast) -> Part:
    """The section on the order of the models."""
    rows = chosen(entry["rows"])
    models = chosen(entry.get("model_rows", ()))
    drawings = {f"ranking-{key.replace('_', '-')}": _kinds(rows, key) for key in MEASURES}
    for kind in _extremes(rows):
        ours = [one for one in models if one["kind"] == kind]
        drawings[f"ranks-{_file(kind)}"] = _heatmap(ours, kind, cast)
    return Part(
        str(entry["finding"]),
        f"Agreement of redrawn orders with the original, by {cast.title(rows)}; share of "
        "redraws in which each model takes each rank",
        {name: one for name, one in drawings.items() if one is not None},
        join([_numbers(entry["rows"], rows, cast), _best(models, cast)]), NOTE,
        empty=len(cast.models) < 2,
    )  # fmt: skip


def _file(kind: str) -> str:
    """A kind as a part of a file's name."""
    return kind.replace(" ", "-")


def _kinds(rows: Sequence[Entry], key: str) -> Html | None:
    """Draw one rank correlation by kind."""
    title, low, high = MEASURES[key]
    dots = [
        Dot(
            redrawn(one["kind"]), redrawn(one["kind"]),
            value(one, key), value(one, low), value(one, high),
            written(one, (key, low, high), 2),
        )
        for one in rows
    ]  # fmt: skip
    said = f"{title} of redrawn orders with the original, {len(dots)} kinds of redrawing."
    return dot_rows(Rows(title, "1 = same order", said, ends=(1.0,)), dots)


def _extremes(rows: Sequence[Entry]) -> list[str]:
    """The kinds that leave the order steadiest and least steady."""
    known = sorted(
        (one for one in rows if finite(value(one, "spearman"))),
        key=lambda one: -value(one, "spearman"),
    )
    return list(dict.fromkeys(str(one["kind"]) for one in [*known[:1], *known[-1:]]))


def _shares(rows: Sequence[Entry], cast: Cast) -> Mapping[str, list[float]]:
    """Rank probabilities by model, the best first."""
    known = {
        str(one["model"]): [float(share) for share in one["rank_probabilities"]]
        for one in rows
        if all(share is not None for share in one["rank_probabilities"])
    }
    worth = {str(one["model"]): cast.sign(rows) * value(one, "value") for one in rows}
    return {model: known[model] for model in sorted(known, key=lambda name: -worth[name])}


def _heatmap(rows: Sequence[Entry], kind: str, cast: Cast) -> Html | None:
    """Draw how often each model takes each rank under one kind."""
    shares = _shares(rows, cast)
    total = len(shares)
    if not 2 <= total <= DRAWN:
        return None
    wide = 2.0 * max(6, min(20, (NARROW - LABEL) // (2 * total)))
    high, words = 22.0, redrawn(kind)
    shaded: dict[int, list[tuple[float, float]]] = defaultdict(list)
    written = []
    for place, line in enumerate(shares.values()):
        for column, share in enumerate(line):
            if share >= 0.005:
                corner = column * wide, (place + 0.5) * high
                shaded[bisect_right(STEPS, share)].append(corner)
        written.append(_written(line, wide, (place + 0.5) * high + 4))
    heads = [element("text", str(n + 1), x=(n + 0.5) * wide) for n in range(total)]
    body = [
        lattice((cells(c, wide, f"q{q}") for q, c in sorted(shaded.items())), wide, high),
        group(heads, y=-6, class_="c a"),
        group([model_names(cast.models, list(shares), high, 14)], x=-6, class_="n e"),
        *(written if wide >= 24 else []),
    ]
    said = f"Heatmap: how often each of {total} models takes each rank, {words} redrawn."
    head = headed(f"ranks, % of redraws of {words}")
    size = max(NARROW, LABEL + total * wide), TOP + total * high + 4
    return drawing(
        size, said, head, group(body, x=LABEL, y=TOP),
        class_="big" if size[0] > NARROW else "",
    )  # fmt: skip


def _written(shares: Sequence[float], wide: float, y: float) -> Html:
    """Write the percentages that matter into their cells."""
    words = [
        element(
            "text", percent(share).rstrip("%"), x=(column + 0.5) * wide,
            class_="i" if share >= STEPS[DARK_INK_FROM - 1] else None,
        )
        for column, share in enumerate(shares)
        if share >= WRITTEN
    ]  # fmt: skip
    return group(words, y=y, class_="num")


def _numbers(every: Sequence[Entry], rows: Sequence[Entry], cast: Cast) -> Html:
    """List both correlations of soft and of hard labels."""
    wanted = {(one["kind"], one["task"], one["metric"]) for one in rows}
    ours = [one for one in every if (one["kind"], one["task"], one["metric"]) in wanted]
    lines = [
        row(
            redrawn(one["kind"]),
            [
                str(one["labels"]),
                *(
                    written(one, (key, low, high), 3)
                    for key, (_, low, high) in MEASURES.items()
                ),
                str(one["most_often_best"] or "undefined"),
                percent(value(one, "p_best")),
                f"{signed(value(one, 'soft_gain'))} "
                + signed_interval(value(one, "gain_low"), value(one, "gain_high")),
            ],
        )
        for one in ours
    ]
    heads = ["Redrawn", "labels", "Spearman", "tau-b", "most often best", "share of redraws",
             "Spearman, soft minus hard"]  # fmt: skip
    return table(f"Stability of the order by {cast.title(rows)}", heads, lines)


def _best(models: Sequence[Entry], cast: Cast) -> Html:
    """List how often each model is best, by kind."""
    kinds = list(by(models, "kind"))
    lines = []
    for model, own in by(models, "model").items():
        chances = {one["kind"]: percent(value(one, "p_best")) for one in own}
        lines.append(
            cast.row(model, [number(value(own[0], "value")), *(chances[k] for k in kinds)])
        )
    heads = ["Model", "value", *map(redrawn, kinds)]
    return table(
        "Percent of redraws in which a model is best, by what is redrawn", heads, lines
    )

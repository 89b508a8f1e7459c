"""What `equipoise aggregate` shows: plain rows for JSON, the same rows as tables."""

from typing import TYPE_CHECKING, Any, NamedTuple

from equipoise.cli._screen import output

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.plausibilities import Plausibilities

MOST = 20  # annotators shown in the terminal; JSON has all


class Fits(NamedTuple):
    """What was fitted: the chosen model's name, all models, and their held-out scores."""

    name: str
    task: str
    models: dict[str, "Plausibilities"]
    scores: dict[str, float]

    @property
    def made(self) -> "Plausibilities":
        """Plausibilities by the chosen model."""
        return self.models[self.name]


def facts(table: "Annotations", fits: Fits) -> dict[str, Any]:
    """Everything there is to show, as plain rows."""
    made = fits.made
    sure = made.certainty
    return {
        "mean_certainty": float(sure.mean()),
        "items_below_0.99": int((sure < 0.99).sum()),
        "items": _items(fits),
        "skill": None if made.skills is None else made.skills.meaning,
        "annotators": _annotators(table, made),
        "comparison": _comparison(fits),
        "decisions": _decisions(fits),
        "skill_ranks": _skill_ranks(table, fits),
    }


def _items(fits: Fits) -> list[dict[str, Any]]:
    import numpy as np

    from equipoise.choosing import disagreement

    made = fits.made
    certainty, entropy, mean = made.certainty, made.entropy, made.mean
    apart = disagreement(fits.models)
    return [
        {
            "item": item,
            "certainty": float(certainty[i]),
            "entropy": float(entropy[i]),
            "disagreement": float(apart[i]) if len(fits.models) > 1 else None,
            "plausibility": {
                made.classes[k]: float(mean[i, k]) for k in np.flatnonzero(mean[i] > 0)
            },
        }
        for i, item in enumerate(made.items)
    ]


def _comparison(fits: Fits) -> list[dict[str, Any]]:
    """A row per model; a log-likelihood of minus infinity is the word -inf."""
    from equipoise.choosing import differ

    rows = []
    for name, one in fits.models.items():
        score = fits.scores.get(name)
        rows.append(
            {
                "model": name,
                "held_out_log_likelihood": "-inf" if score == float("-inf") else score,
                "mean_certainty": float(one.certainty.mean()),
                "other_top_class": int(differ(one, fits.made).sum()),
            }
        )
    return rows


def _decisions(fits: Fits) -> list[dict[str, Any]]:
    from equipoise.choosing import decisions

    return [
        {"models": f"{one.first}, {one.second}", "items": one.items, "share": one.share}
        for one in decisions(fits.models)
    ]


def _skill_ranks(table: "Annotations", fits: Fits) -> list[dict[str, Any]]:
    """Rank correlations of skills, and who moves most: name, rank here, rank there."""
    from equipoise.choosing import skill_ranks
    from equipoise.choosing.cautions import FEW, vote_table

    if sum(one.skills is not None for one in fits.models.values()) < 2:
        return []
    judged = vote_table(table, fits.task).sum(axis=1) >= FEW
    return [
        {
            "models": f"{one.first}, {one.second}",
            "annotators": one.annotators,
            "rank_correlation": one.spearman,
            "move_most": [
                {"annotator": name, "ranks": [here, there]} for name, here, there in one.moved
            ],
        }
        for one in skill_ranks(fits.models, judged if judged.sum() > 2 else None)
    ]


def _annotators(table: "Annotations", made: "Plausibilities") -> list[dict[str, Any]]:
    from equipoise.evaluation.questions import questions
    from equipoise.run.describe import annotator_rows

    if table.annotators is None:
        return []
    if table.kind == "interval":
        return _raters(table, made.task)
    asked = [one for one in questions(table) if one.task == made.task]
    rows = annotator_rows(asked, table.annotators)
    skills = made.skills
    if skills is None:
        return rows
    found: dict[str, dict[str, float]] = {name: {} for name in skills.annotators}
    for title, values in (("skill", skills.value), ("low", skills.low), ("high", skills.high)):
        if values is not None:
            for name, value in zip(skills.annotators, values.tolist(), strict=True):
                found[name][title] = value
    return [{**row, **found[row["annotator"]]} for row in rows]


def _raters(table: "Annotations", task: str) -> list[dict[str, Any]]:
    """Number and mean of everybody's ratings, and how far they lie from those of all."""
    import numpy as np

    rows = np.flatnonzero(table.in_task(task))
    assert table.annotator is not None and table.value is not None
    who, item, value = table.annotator[rows], table.item[rows], table.value[rows]
    level = np.bincount(item, value) / np.maximum(np.bincount(item), 1)
    size = np.bincount(who)
    mean, lean = (
        np.bincount(who, one) / np.maximum(size, 1) for one in (value, value - level[item])
    )
    names = table.annotators or ()
    return [
        {
            "annotator": names[a],
            "votes": int(size[a]),
            "mean_rating": float(mean[a]),
            "above_the_item_mean": float(lean[a]),
        }
        for a in np.flatnonzero(size)
    ]


def show(made: "Plausibilities", rows: dict[str, Any]) -> None:
    """Print the facts as tables."""
    screen = output()
    screen.print(
        f"{made.method}: {len(rows['items']):,} items, mean certainty "
        f"{rows['mean_certainty']:.3f}, {rows['items_below_0.99']:,} items below 0.99."
    )
    worst = sorted(rows["items"], key=lambda row: row["certainty"])[:10]
    _print("Most ambiguous items", [_short(row) for row in worst])
    people = sorted(rows["annotators"], key=lambda row: -row["votes"])
    title = f"Annotators (skill: {rows['skill']})" if rows["skill"] else "Annotators"
    title += f", the {MOST} with most votes" if len(people) > MOST else ""
    if people:
        _print(title, people[:MOST])
    if len(rows["comparison"]) > 1:
        _print("Models", rows["comparison"])
        apart = [row for row in rows["decisions"] if row["items"]]
        if apart:
            _print("Items decided differently", apart)
        else:
            screen.print("All models decide every item alike.")
    if rows["skill_ranks"]:
        ranks = [{**row, "move_most": _moves(row["move_most"])} for row in rows["skill_ranks"]]
        _print("How models rank annotators", ranks)


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """An item on one line: its three most plausible classes."""
    best = sorted(row["plausibility"].items(), key=lambda pair: -pair[1])[:3]
    shown = [f"{name}: {share:.2f}" for name, share in best if share >= 0.005]
    kept = {name: row[name] for name in ("item", "certainty", "disagreement")}
    return {**kept, "plausible_classes": ", ".join(shown)}


def _moves(people: list[dict[str, Any]]) -> str:
    moves = [
        f"{one['annotator']} ({one['ranks'][0]:g} to {one['ranks'][1]:g})" for one in people
    ]
    return ", ".join(moves) if moves else "nobody"


def _print(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows under a heading, without columns that nothing is known of."""
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    names = [
        name
        for name in rows[0]
        if name != "task"
        and any(row[name] is not None and row[name] == row[name] for row in rows)
    ]
    for name in names:
        number = any(isinstance(row[name], int | float) for row in rows)
        table.add_column(name.replace("_", " "), justify="right" if number else "left")
    for row in rows:
        table.add_row(*(_cell(row[name], escape) for name in names))
    screen = output()
    screen.print(f"[italic]{escape(title)}[/italic]")
    screen.print(table)


def _cell(value: Any, escape: Any) -> str:
    """A value in words: undefined is said, not shown as nan."""
    if value is None or value != value:
        return "undefined"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if isinstance(value, float) else str(escape(str(value)))

"""What `equipoise aggregate` shows in a terminal: tables, and what their columns are."""

from typing import TYPE_CHECKING, Any

from equipoise.cli._screen import output
from equipoise.cli._truth_rows import FOLDS

if TYPE_CHECKING:
    from equipoise.plausibilities import Plausibilities

MOST = 20  # annotators shown in the terminal; JSON has all

LEGEND = {
    "models_apart": "largest distance (total variation) between the plausibilities of any two "
    "models, 0 the same to 1 nothing in common; it says nothing about annotators",
    "agreement": "share of the others' votes on the same items that say the same",
    "held_out_log_likelihood": "mean log chance of votes that the model had not seen, in nats "
    f"per vote, {FOLDS} folds; higher is better, -inf: a vote it had ruled out",
    "mean_certainty": "not comparable between models, since their certainties answer "
    "different questions; left out for models that know no doubt",
    "rank_correlation": "Spearman's, of the skills of the annotators in the two models; 1 is "
    "the same order",
    "above_the_item_mean": "how far the annotator's ratings lie above those of all on the same "
    "items, on average",
}
SKILLS = {
    "accuracy": "chance of naming the true class, by the model; guessing evenly among "
    "{classes} classes has {chance:.2f}",
    "ability": "0 is guessing, below 0 the classes are turned around",
}


def show(made: "Plausibilities", rows: dict[str, Any]) -> None:
    """Print the facts as tables."""
    screen = output()
    screen.print(_headline(made, rows))
    worst = sorted(rows["items"], key=lambda row: (row["certainty"], -row["entropy"]))[:10]
    _print("Most ambiguous items", [_short(row) for row in worst], legend(made, rows))
    people = sorted(rows["annotators"], key=lambda row: -row["votes"])
    title = f"Annotators (skill: {rows['skill']})" if rows["skill"] else "Annotators"
    title += f", the {MOST} with most votes" if len(people) > MOST else ""
    if people:
        _print(title, people[:MOST], legend(made, rows))
    if len(rows["comparison"]) > 1:
        _print("Models", rows["comparison"], legend(made, rows))
        apart = [row for row in rows["decisions"] if row["items"]]
        if apart:
            _print("Items decided differently", apart, {})
        else:
            screen.print("All models decide every item alike.")
    if rows["skill_ranks"]:
        ranks = [{**row, "move_most": _moves(row["move_most"])} for row in rows["skill_ranks"]]
        _print("How models rank annotators", ranks, legend(made, rows))


def _headline(made: "Plausibilities", rows: dict[str, Any]) -> str:
    """The result in one line."""
    size, below = len(rows["items"]), rows["items_below_0.99"]
    start = f"{made.method}: {_items(size)}"
    if rows["mean_certainty"] is None:
        return f"{start}, certainty is a {rows['certainty_is']}."
    return (
        f"{start}, mean certainty {rows['mean_certainty']:.3f} ({rows['certainty_is']}), "
        f"{_items(below)} below 0.99."
    )


def _items(number: int) -> str:
    return f"{number:,} item" if number == 1 else f"{number:,} items"


def legend(made: "Plausibilities", rows: dict[str, Any]) -> dict[str, str]:
    """What each column is, in one line."""
    from equipoise.run.meaning import meaning

    first = rows["comparison"][0]["model"]
    own = {
        "certainty": _inside(meaning(made).sentence),
        "other_top_class": f"items whose most plausible class is another than by {first}",
    }
    if len(made.classes) == 2:
        own["base_rate"] = f"share of the annotator's votes for {made.classes[1]!r}"
    if rows["skill"] in SKILLS:
        size = len(made.classes)
        own["skill"] = SKILLS[rows["skill"]].format(classes=size, chance=1 / size)
    return {**LEGEND, **own}


def _inside(sentence: str) -> str:
    """A sentence after a colon."""
    return sentence[0].lower() + sentence[1:].removesuffix(".")


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """An item on one line: its three most plausible classes."""
    best = sorted(row["plausibility"].items(), key=lambda pair: -pair[1])[:3]
    shown = [f"{name}: {share:.2f}" for name, share in best if share >= 0.005]
    kept = {name: row[name] for name in ("item", "certainty", "models_apart")}
    return {**kept, "plausible_classes": ", ".join(shown)}


def _moves(people: list[dict[str, Any]]) -> str:
    moves = [
        f"{one['annotator']} ({one['ranks'][0]:g} to {one['ranks'][1]:g})" for one in people
    ]
    return ", ".join(moves) if moves else "nobody"


def _print(title: str, rows: list[dict[str, Any]], told: dict[str, str]) -> None:
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
    for name in names:
        if name in told:
            line = f"  {name.replace('_', ' ')}: {told[name]}."
            screen.print(f"[dim]{escape(line)}[/dim]", soft_wrap=True)


def _cell(value: Any, escape: Any) -> str:
    """A value in words: nothing is a dash, and undefined is said, not shown as nan."""
    if value is None:
        return "-"
    if value != value:
        return "undefined"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if isinstance(value, float) else str(escape(str(value)))

"""equipoise plan: from a pilot to the study that settles it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli._inputs import read, spread
from equipoise.cli._options import checked, words
from equipoise.cli._reading import (
    AtLeast,
    Classes,
    Columns,
    Exchangeable,
    Kind,
    Layout,
    Positive,
    PredictionColumns,
    PredictionLayout,
    Repeats,
)
from equipoise.cli._screen import output, print_json, progress, say

if TYPE_CHECKING:
    from equipoise.planning import NextItems, Size

FILES, MEANING, GOAL, RESULT = "Files", "What the labels mean", "What to plan for", "Result"


def plan(
    annotations: Annotated[
        Path,
        typer.Option(
            "--annotations",
            "-a",
            rich_help_panel=FILES,
            help="Votes of the pilot; see `evaluate --help`. A few hundred items with two or "
            "more votes each make a good pilot.",
        ),
    ],
    predictions: Annotated[
        list[Path],
        typer.Option(
            "--predictions",
            "-p",
            rich_help_panel=FILES,
            help="What each model scored; items that nobody annotated are left aside. Repeat "
            "for several files, or name a folder.",
        ),
    ],
    metric: Annotated[
        str,
        typer.Option(
            rich_help_panel=GOAL,
            help="The metric to decide by, with soft labels: `auroc`, `average_precision`, "
            "`brier_score`, ...; not P@k, which changes its meaning with the number of items.",
        ),
    ] = "auroc",
    models: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=GOAL, help="The two models: `A,B`. Default: the two best."
        ),
    ] = None,
    power: Annotated[
        float,
        typer.Option(
            min=0.05,
            max=0.999,
            rich_help_panel=GOAL,
            help="Chance that the study must have of resolving the difference.",
        ),
    ] = 0.8,
    level: Annotated[
        float,
        typer.Option(
            min=0.5,
            max=0.999,
            rich_help_panel=GOAL,
            help="Level of the interval that must lie above 0.",
        ),
    ] = 0.95,
    difference: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=GOAL,
            help="The smallest difference that matters. Default: the pilot's, which tends to "
            "be too large when the two best were picked by it.",
        ),
    ] = None,
    votes_per_item: Annotated[
        str, typer.Option(rich_help_panel=GOAL, help="Designs to look at, comma-separated.")
    ] = "1,2,3,5,8",
    price_item: Annotated[
        float | None,
        typer.Option(rich_help_panel=GOAL, help="What one more item costs, without votes."),
    ] = None,
    price_vote: Annotated[
        float | None, typer.Option(rich_help_panel=GOAL, help="What one vote costs.")
    ] = None,
    simulations: Annotated[
        int,
        typer.Option(
            min=0,
            rich_help_panel=GOAL,
            help="Studies drawn from the pilot to check each design; 0 for the formula alone.",
        ),
    ] = 400,
    number: Annotated[
        int,
        typer.Option(
            "--next",
            min=0,
            rich_help_panel=RESULT,
            help="How many items to name for one more vote each.",
        ),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(rich_help_panel=RESULT, help="File for those items, ending in .csv."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, rich_help_panel=RESULT, help="Same seed, same bytes.")
    ] = 0,
    as_json: Annotated[
        bool,
        typer.Option("--json", rich_help_panel=RESULT, help="Print everything as JSON."),
    ] = False,
    task: Annotated[
        str | None,
        typer.Option(rich_help_panel=MEANING, help="Which question, when there are several."),
    ] = None,
    kind: Kind = None,
    classes: Classes = None,
    positive: Positive = None,
    at_least: AtLeast = None,
    exchangeable: Exchangeable = False,
    columns: Columns = None,
    prediction_columns: PredictionColumns = None,
    layout: Layout = "auto",
    prediction_layout: PredictionLayout = "auto",
    repeats: Repeats = "keep",
) -> None:
    """How many items, how many votes on each, and which votes next?

    From a pilot, splits the doubt about two models into what items and what votes leave, says
    how large a study must be to resolve their difference with a given chance, and checks that
    by studies simulated from the pilot. With `--next`, names the items on which one more vote
    tells most.

    Example: equipoise plan -a votes.csv -p scores.csv --price-item 1 --price-vote 0.2
    """
    options = dict(locals())
    from equipoise.planning import next_items, plan_size

    chosen = _usage(options)
    options["predictions"] = spread(predictions)
    table, given = read({**options, "truth": "votes"})
    with progress("planning") as tell:
        size = plan_size(
            given, table, metric=chosen["metric"], models=chosen["models"], power=power,
            level=level, votes=chosen["votes"], difference=difference, price_item=price_item,
            price_vote=price_vote, simulations=simulations, seed=seed, task=task, progress=tell,
        )  # fmt: skip
        wanted = None
        if number:
            wanted = next_items(
                given, table, chosen["metric"], number,
                models=(size.a, size.b), task=task, seed=seed, progress=tell,
            )  # fmt: skip
    say(*(f"Note: {one}" for one in (*table.notices, *size.notices)))
    if wanted is not None and out is not None:
        wanted.write(out)
        say(f"Wrote {out}")
    _show(size, wanted, as_json=as_json)


def _usage(options: dict[str, Any]) -> dict[str, Any]:
    """Check words before anything is read."""
    from functools import partial

    from equipoise.arrays import choice
    from equipoise.coding.options import ANNOTATION_LAYOUTS, KINDS, PREDICTION_LAYOUTS, REPEATS
    from equipoise.metrics import named

    known = {
        "kind": KINDS,
        "layout": ANNOTATION_LAYOUTS,
        "prediction_layout": PREDICTION_LAYOUTS,
        "repeats": REPEATS,
    }
    for name, allowed in known.items():
        if options[name] is not None:
            flag = "--" + name.replace("_", "-")
            checked(flag, partial(choice, flag, known=allowed), options[name])
    checked("--metric", named, options["metric"])
    return {
        "metric": options["metric"],
        "models": _two(options["models"]),
        "votes": _numbers(options["votes_per_item"]),
        "out": _file(options["out"], options["number"]),
    }


def _two(text: str | None) -> tuple[str, str] | None:
    names = words(text)
    if text is not None and len(names) != 2:
        message = f"got {text!r}, expected two models, for example resnet,vit"
        raise typer.BadParameter(message, param_hint="--models")
    return (names[0], names[1]) if names else None


def _numbers(text: str) -> tuple[int, ...]:
    found = words(text)
    if not found or not all(one.isdigit() and int(one) > 0 for one in found):
        message = f"got {text!r}, expected whole numbers of at least 1, for example 1,2,3,5"
        raise typer.BadParameter(message, param_hint="--votes-per-item")
    return tuple(dict.fromkeys(int(one) for one in found))


def _file(path: Path | None, number: int) -> Path | None:
    if path is not None and (path.suffix.lower() != ".csv" or not number):
        message = f"got {path.name!r}, expected a file ending in .csv, together with --next"
        raise typer.BadParameter(message, param_hint="--out")
    return path


def _show(size: "Size", wanted: "NextItems | None", *, as_json: bool) -> None:
    from equipoise.cli._plan_screen import facts, show

    if as_json:
        print_json(facts(size, wanted))
    else:
        show(output(), size, wanted)

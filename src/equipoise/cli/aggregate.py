"""equipoise aggregate: from who said what to what is plausibly true."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli._inputs import read_votes
from equipoise.cli._options import checked
from equipoise.cli._screen import output, print_json, progress, say

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.plausibilities import Plausibilities


MOST = 20  # annotators shown in the terminal; JSON has all


def aggregate(
    annotations: Annotated[Path, typer.Argument(help="Who said what; see `evaluate --help`.")],
    model: Annotated[
        str,
        typer.Option(
            help="`auto`, or one of `mean_vote`, `majority_vote`, `dirichlet`, `dawid_skene`, "
            "`dawid_skene_ordinal`, `glad`, `inverse_rank`, `probabilistic_inverse_rank`, "
            "`plackett_luce`, `plackett_luce_ml`."
        ),
    ] = "auto",
    compare: Annotated[
        bool,
        typer.Option(
            "--compare", help="Fit every suitable model: held-out votes, and where they differ."
        ),
    ] = False,
    task: Annotated[
        str | None, typer.Option(help="Which question; needed when there are several.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="Kind of labels; inferred if left out.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="All classes, comma-separated; grades lowest first.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Other names, OURS=THEIRS: `item=Study`.")
    ] = None,
    layout: Annotated[str, typer.Option(help="As in `evaluate`.")] = "auto",
    repeats: Annotated[
        str, typer.Option(help="Several votes on one item: `keep`, `last` or `error`.")
    ] = "keep",
    exchangeable: Annotated[
        bool, typer.Option("--exchangeable", help="Annotators are arbitrary slots.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="File for the plausibilities, ending in .npz.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Infer what is plausibly true of every item, how certain that is, and who to trust.

    Prints the most ambiguous items and the annotators; `--compare` fits several models side by
    side; `--out` keeps the plausibilities for `equipoise.read_plausibilities`.

    Example: equipoise aggregate votes.csv --compare
    """
    options = dict(locals())
    from equipoise.choosing import cautions, fitted, held_out, recommended, suitable

    _check_words(options)
    table = read_votes(options)
    question = _task(table, task)
    name, reason = recommended(table) if model == "auto" else (model, f"{model} was asked for.")
    names = list(dict.fromkeys([name, *(suitable(table) if compare else ())]))
    with progress("fitting"):
        fits = fitted(table, names, question)
        scores = held_out(table, names, task=question) if compare and _votes(table) else {}
    made = fits[name]
    notes = [*table.notices, *cautions(table, question), *made.notices]
    say(f"Model: {reason}", *(f"Note: {one}" for one in notes))
    if out is not None:
        from equipoise.io import write_plausibilities

        write_plausibilities(made, out)
        say(f"Wrote {out}")
    facts = _facts(table, made, fits, scores)
    if as_json:
        print_json({"model": name, "method": made.method, **facts, "notices": notes})
    else:
        _show(made, facts)


def _check_words(options: dict[str, Any]) -> None:
    """Refuse wrong words before anything is read."""
    from equipoise.aggregate import CATALOGUE
    from equipoise.arrays import choice
    from equipoise.coding.options import ANNOTATION_LAYOUTS, KINDS, REPEATS

    known: dict[str, tuple[str, ...]] = {
        "model": ("auto", *CATALOGUE),
        "kind": KINDS,
        "layout": ANNOTATION_LAYOUTS,
        "repeats": REPEATS,
    }
    for name, allowed in known.items():
        if options[name] is not None:
            checked(f"--{name}", partial(choice, f"--{name}", known=allowed), options[name])


def _task(table: "Annotations", task: str | None) -> str:
    from equipoise.arrays import InputError, listed

    if task is None and len(table.tasks) > 1:
        raise InputError(
            "annotations", f"{len(table.tasks)} tasks ({listed(table.tasks)})", "one",
            "choose one with --task",
        )  # fmt: skip
    return table.tasks[0] if task is None else task


def _votes(table: "Annotations") -> bool:
    """Whether held-out votes can be scored."""
    return table.annotator is not None and table.rank is None and table.label is not None


def _facts(
    table: "Annotations",
    made: "Plausibilities",
    fits: dict[str, "Plausibilities"],
    scores: dict[str, float],
) -> dict[str, Any]:
    """Items, annotators and comparison as plain rows."""
    import numpy as np

    from equipoise.choosing import disagreement

    certainty, entropy, mean = made.certainty, made.entropy, made.mean
    apart = disagreement(fits)
    items = [
        {
            "item": item,
            "certainty": float(certainty[i]),
            "entropy": float(entropy[i]),
            "disagreement": float(apart[i]),
            "plausibility": {
                made.classes[k]: float(mean[i, k]) for k in np.flatnonzero(mean[i] > 0)
            },
        }
        for i, item in enumerate(made.items)
    ]
    tops = {name: one.mean.argmax(axis=1) for name, one in fits.items()}
    comparison = [
        {
            "model": name,
            "held_out_log_likelihood": scores.get(name),
            "mean_certainty": float(one.certainty.mean()),
            "other_top_class": int((tops[name] != mean.argmax(axis=1)).sum()),
        }
        for name, one in fits.items()
    ]
    return {"items": items, "annotators": _annotators(table, made), "comparison": comparison}


def _annotators(table: "Annotations", made: "Plausibilities") -> list[dict[str, Any]]:
    from equipoise.evaluation.questions import questions
    from equipoise.run.describe import annotator_rows

    if table.annotators is None:
        return []
    asked = [one for one in questions(table) if one.task == made.task]
    skill = {} if made.skills is None else dict(
        zip(made.skills.annotators, made.skills.value.tolist(), strict=True)
    )  # fmt: skip
    rows = annotator_rows(asked, table.annotators)
    return [{**row, "skill": skill.get(row["annotator"])} for row in rows]


def _show(made: "Plausibilities", facts: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    screen = output()
    sure = [row["certainty"] for row in facts["items"]]
    screen.print(
        f"{made.method}: {len(sure):,} items, mean certainty {sum(sure) / len(sure):.3f}, "
        f"{sum(one < 0.99 for one in sure):,} items below 0.99."
    )
    table = Table(title="Most ambiguous items", title_justify="left")
    for name in ("item", "certainty", "plausible classes"):
        table.add_column(name)
    for row in sorted(facts["items"], key=lambda row: row["certainty"])[:10]:
        best = sorted(row["plausibility"].items(), key=lambda pair: -pair[1])[:3]
        shown = ", ".join(f"{escape(name)} {share:.2f}" for name, share in best)
        table.add_row(escape(row["item"]), f"{row['certainty']:.3f}", shown)
    screen.print(table)
    for title, key in (("Annotators", "annotators"), ("Models", "comparison")):
        rows = facts[key]
        if key == "annotators":
            rows = sorted(rows, key=lambda row: -row["votes"])
            title = title if len(rows) <= MOST else f"{title}, the {MOST} with most votes"
        if len(rows) > (0 if key == "annotators" else 1):
            screen.print(_table(title, rows[:MOST]))


def _table(title: str, rows: list[dict[str, Any]]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    names = [
        name
        for name in rows[0]
        if name != "task"
        and any(row[name] is not None and row[name] == row[name] for row in rows)
    ]
    for name in names:
        table.add_column(name.replace("_", " "))
    for row in rows:
        cells = [row[name] for name in names]
        table.add_row(*(_cell(one, escape) for one in cells))
    return table


def _cell(value: Any, escape: Any) -> str:
    """A value in words: undefined is said, not shown as nan."""
    if value is None or value != value:
        return "undefined"
    return f"{value:.3f}" if isinstance(value, float) else str(escape(str(value)))

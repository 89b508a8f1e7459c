"""equipoise aggregate: from who said what to what is plausibly true."""

from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli._inputs import read_votes
from equipoise.cli._options import checked
from equipoise.cli._screen import print_json, progress, say
from equipoise.cli._truth_page import check_page, write_page
from equipoise.cli._truth_screen import Fits, facts, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from equipoise.annotations import Annotations
    from equipoise.choosing import Model
    from equipoise.plausibilities import Plausibilities

FOLDS = 5


def aggregate(
    annotations: Annotated[Path, typer.Argument(help="Who said what; see `evaluate --help`.")],
    model: Annotated[
        str,
        typer.Option(
            help="`auto`, or one of `mean_vote`, `majority_vote`, `dirichlet`, `dawid_skene`, "
            "`dawid_skene_ordinal`, `glad`, `inverse_rank`, `probabilistic_inverse_rank`, "
            "`plackett_luce`, `plackett_luce_ml`; `normal` for ratings."
        ),
    ] = "auto",
    compare: Annotated[
        bool,
        typer.Option(
            "--compare", help="Fit every suitable model: held-out votes, and where they differ."
        ),
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="Where ratings (`--kind interval`) become 'at least'."),
    ] = None,
    reliability: Annotated[
        float | None,
        typer.Option(
            help="How much a vote is worth: `dirichlet`, `probabilistic_inverse_rank`, "
            "`plackett_luce`."
        ),
    ] = None,
    bootstrap: Annotated[
        int,
        typer.Option(min=0, help="Refit the model to so many panels of redrawn annotators."),
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything that is drawn.")] = 0,
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
    page: Annotated[
        Path | None, typer.Option(help="File for a page about the truth, ending in .html.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Infer what is plausibly true of every item, how certain that is, and who to trust.

    Prints the most ambiguous items, the annotators, and where models decide differently;
    `--compare` fits every suitable model and scores held-out votes; `--out` keeps the
    plausibilities for `equipoise.read_plausibilities`.

    Example: equipoise aggregate votes.csv --compare
    """
    options = dict(locals())
    from equipoise.choosing import recommended

    _check_words(options)
    check_page(page)
    table = read_votes(options)
    question = _task(table, task)
    name, reason = recommended(table) if model == "auto" else (model, f"{model} was asked for.")
    fits = _fitted(table, Fits(name, question, {}, {}), options)
    notes = _notes(table, fits, options)
    say(f"Model: {reason}", *(f"Note: {one}" for one in notes))
    if out is not None:
        from equipoise.io import write_plausibilities

        write_plausibilities(fits.made, out)
        say(f"Wrote {out}")
    if page is not None:
        write_page(page, table, fits.made, (annotations.stem, reason, notes))
        say(f"Wrote {page}")
    rows = facts(table, fits)
    if as_json:
        told = {"model": name, "reason": reason, "method": fits.made.method, "seed": seed}
        told["parameters"] = fits.made.parameters
        print_json({**told, **rows, "notices": notes})
    else:
        show(fits.made, rows)


def _fitted(table: "Annotations", asked: Fits, options: dict[str, Any]) -> Fits:
    """Fit the chosen model and those beside it, and score held-out votes, under a bar."""
    from equipoise.aggregate import annotator_bootstrap
    from equipoise.choosing import Settings, companions, fitted, held_out, model, suitable

    own = Settings(options["threshold"], options["reliability"], options["seed"])
    models = {asked.name: model(asked.name, table, own)}
    beside = companions(table) if options["model"] == "auto" else ()
    for name in suitable(table) if options["compare"] else beside:
        models.setdefault(name, model(name, table, Settings(own.threshold, seed=own.seed)))
    scored = options["compare"] and _votes(table)
    draws = options["bootstrap"]
    total = len(models) + draws + (FOLDS * len(models) if scored else 0)
    with progress("fitting") as tell:
        plain = _ticking(models, tell, total)
        chosen = plain[asked.name]
        if draws:
            chosen = partial(annotator_bootstrap, chosen, draws=draws, seed=own.seed)
        fits = fitted(table, {**plain, asked.name: chosen}, asked.task)
        if scored:
            scores = held_out(table, plain, folds=FOLDS, seed=own.seed, task=asked.task)
            return asked._replace(models=fits, scores=scores)
    return asked._replace(models=fits)


def _ticking(
    models: dict[str, "Model"], tell: "Callable[[int, int], None]", total: int
) -> dict[str, "Model"]:
    """The same models, moving the bar after every fit."""
    done = count(1)

    def ticked(fit: "Model") -> "Model":
        def run(*args: Any, **how: Any) -> "Plausibilities":
            made = fit(*args, **how)
            tell(next(done), total)
            return made

        return run

    return {name: ticked(fit) for name, fit in models.items()}


def _notes(table: "Annotations", fits: Fits, options: dict[str, Any]) -> list[str]:
    """What the data, the fit and the comparison say that the user should know."""
    from equipoise.choosing import cautions, verdict

    known = fits.models.get("dawid_skene")
    notes = [*table.notices, *cautions(table, fits.task, fit=known), *fits.made.notices]
    notes += verdict(fits.models)
    if options["compare"] and not fits.scores:
        what = {"interval": "of ratings", "ranking": "of rankings"}.get(
            table.kind, "of anonymous votes"
        )
        notes.append(
            f"The likelihood {what} is not held out: it needs single labels of known "
            "annotators. Compare certainties and decisions instead."
        )
    if float("-inf") in fits.scores.values():
        notes.append(
            "A held-out log-likelihood of -inf: a held-out vote got chance 0, because the "
            "model had ruled its class out."
        )
    return notes


def _check_words(options: dict[str, Any]) -> None:
    """Refuse wrong words before anything is read."""
    from equipoise.aggregate import CATALOGUE
    from equipoise.arrays import choice
    from equipoise.coding.options import ANNOTATION_LAYOUTS, KINDS, REPEATS

    known: dict[str, tuple[str, ...]] = {
        "model": ("auto", *CATALOGUE, "normal"),
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

"""equipoise aggregate: from who said what to what is plausibly true."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.arrays import InputError
from equipoise.cli._catalogue import model_help, prior_help, reliability_help
from equipoise.cli._screen import output, print_json, progress, say
from equipoise.cli.options import (
    MEANING,
    RESULT,
    QuestionReading,
    VoteFile,
    check_choice,
    command,
)
from equipoise.cli.study import ask, dataset_facts, published_files, read_votes, table_files
from equipoise.cli.targets import check_target
from equipoise.wording import Option, hint

if TYPE_CHECKING:
    from equipoise.analyses.truth import FittedModels
    from equipoise.annotations import Annotations
    from equipoise.choosing import Model
    from equipoise.plausibilities import Plausibilities

_model = partial(typer.Option, rich_help_panel="Model")
_result = partial(typer.Option, rich_help_panel=RESULT)


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateOptions:
    """Which model, how it is set up, which task, and where the result goes."""

    model: Annotated[str, _model(help=model_help())] = "auto"
    compare: Annotated[
        bool,
        _model(
            "--compare", help="Fit every suitable model: held-out votes, and where they differ."
        ),
    ] = False
    threshold: Annotated[
        float | None,
        _model(help="Where ratings (`--kind interval`) become 'at least'; `normal` needs it."),
    ] = None
    reliability: Annotated[float | None, _model(help=reliability_help())] = None
    prior: Annotated[str | None, _model(help=prior_help())] = None
    bootstrap: Annotated[
        int,
        _model(
            min=0,
            help="Refit the model to so many panels of resampled annotators; a certainty is "
            "then the share of panels that name the same class. 0: none.",
        ),
    ] = 0
    seed: Annotated[int, _model(min=0, help="Seed of everything that is drawn.")] = 0
    task: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=MEANING, help="Which question; needed when there are several."
        ),
    ] = None
    out: Annotated[
        Path | None, _result(help="File for the plausibilities, ending in .npz.")
    ] = None
    page: Annotated[
        Path | None, _result(help="File for a page about the truth, ending in .html.")
    ] = None
    as_json: Annotated[
        bool,
        _result(
            "--json",
            help="Print everything as JSON. Items have the classes with a mass of their own, "
            "and `others` for all the rest together; a log-likelihood of minus infinity is "
            'the text "-inf", undefined is null.',
        ),
    ] = False

    def __post_init__(self) -> None:
        """Refuse unknown words, and files that could not be written."""
        from equipoise.aggregate import MODELS

        check_choice("model", self.model, ("auto", *MODELS))
        check_target("--out", self.out, (".npz",))
        check_target("--page", self.page, (".html", ".htm"))


@command
def aggregate(file: VoteFile, asked: AggregateOptions, reading: QuestionReading) -> None:
    """Infer what is plausibly true of every item, how certain that is, and who to trust.

    Prints the most ambiguous items, the annotators, and where models decide differently;
    `--compare` fits every suitable model and scores held-out votes; `--out` keeps the
    plausibilities for `equipoise.read_plausibilities`.

    Example: equipoise aggregate votes.csv --compare
    """
    from equipoise.analyses.truth import truth_json, truth_notices, truth_report
    from equipoise.findings.screen import show
    from equipoise.notices import worded

    table = ask(read_votes(file.annotations, file.dataset, reading), reading)
    fits = fit(table, _task(table, asked.task), asked)
    notes = worded(truth_notices(table, fits), command=True)
    say(f"Model: {fits.reason}", *(f"Note: {one}" for one in notes))
    if asked.out is not None:
        from equipoise.io import write_plausibilities

        write_plausibilities(fits.chosen, asked.out)
        say(f"Wrote {asked.out}")
    title = f"{file.name}: what is plausibly true?"
    if asked.page is not None:
        from equipoise.folders import write_text
        from equipoise.page import render

        shown = fits if fits.compared else replace(fits, models={fits.name: fits.chosen})
        with progress("page"):
            text = render(truth_report(table, shown, title=title))
        write_text(asked.page, text)
        say(f"Wrote {asked.page}")
    if asked.as_json:
        about = {"model": fits.name, "reason": fits.reason, "method": fits.chosen.method}
        made_with = _made_with(file, asked, reading)
        print_json({**made_with, **about, **truth_json(table, fits), "notices": notes})
        return
    show(output(), truth_report(table, fits, title=title, close_up=False))


def fit(table: "Annotations", task: str, asked: AggregateOptions) -> "FittedModels":
    """Fit the chosen model and those beside it, and score held-out votes, under a bar."""
    from equipoise.aggregate import annotator_bootstrap
    from equipoise.analyses.truth import FittedModels
    from equipoise.choosing import fitted, held_out, recommended
    from equipoise.choosing.comparing import FOLDS

    name, reason = asked.model, f"{asked.model} was asked for."
    if name == "auto":
        name, reason = recommended(table)
    if asked.bootstrap and table.annotator is None:
        do = (
            "leave --bootstrap out (dirichlet has its own uncertainty), or give an annotator "
            "column"
        )
        expected = "votes of annotators with names, to draw anew"
        raise InputError("--bootstrap", "anonymous votes", expected, do)
    models = _models(table, name, asked)
    single = table.annotator is not None and table.rank is None and table.label is not None
    scored = asked.compare and single
    total = len(models) + asked.bootstrap + (FOLDS * len(models) if scored else 0)
    scores: dict[str, float] = {}
    with progress("fitting") as tell:
        done = count(1)

        def ticking(fit: "Model") -> "Model":
            def run(*args: Any, **how: Any) -> "Plausibilities":
                made = fit(*args, **how)
                tell(next(done), total)
                return made

            return run

        plain = {own: ticking(fit) for own, fit in models.items()}
        chosen = plain[name]
        if asked.bootstrap:
            draws = asked.bootstrap
            chosen = partial(annotator_bootstrap, chosen, draws=draws, seed=asked.seed)
        fits = fitted(table, {**plain, name: chosen}, task)
        if scored:
            scores = held_out(table, plain, seed=asked.seed, task=task)
    return FittedModels(
        name=name, reason=reason, task=task, models=fits, scores=scores, compared=asked.compare
    )


def _models(table: "Annotations", own: str, asked: AggregateOptions) -> dict[str, "Model"]:
    """The models to fit, set up; settings other than the threshold are for the chosen one."""
    from equipoise.choosing import Settings, companions, model, suitable

    told = Settings(asked.threshold, asked.reliability, asked.seed, asked.prior)
    others = Settings(asked.threshold, seed=asked.seed)
    models = {own: model(own, table, told)}
    beside = companions(table) if asked.model == "auto" else ()
    for name in suitable(table) if asked.compare else beside:
        models.setdefault(name, model(name, table, others))
    return models


def _made_with(
    file: VoteFile, asked: AggregateOptions, reading: QuestionReading
) -> dict[str, object]:
    """What the result was made with: version, input, seed and question."""
    from equipoise import __version__
    from equipoise.run import hashed

    if file.dataset is not None:
        rows = published_files(file.dataset)
    else:
        rows = hashed("annotations", table_files(file.annotations))
    files = [{"name": one.name, "sha256": one.sha256} for one in rows]
    source = dataset_facts(file.dataset)
    return {
        "version": __version__,
        **({"dataset": source} if source else {}),
        **({"input": files[0]} if len(files) == 1 and not source else {"inputs": files}),
        "seed": asked.seed,
        "positive": reading.positive,
        "at_least": reading.at_least,
        "task": asked.task,
    }


def _task(table: "Annotations", task: str | None) -> str:
    """The task that was asked for, or the only one."""
    from equipoise.arrays import listed, nearest

    if task is None and len(table.tasks) > 1:
        got = f"{len(table.tasks)} tasks ({listed(table.tasks)})"
        raise InputError("annotations", got, "one", "choose one with --task")
    if task is None or task in table.tasks:
        return table.tasks[0] if task is None else task
    expected, do = f"one of {listed(table.tasks, most=8)}", nearest(task, table.tasks)
    if table.tasks == ("",):
        column = Option("columns", {"task": "COLUMN"})
        expected = "none: there is only one, and it has no name"
        do = hint("leave --task out, or name the column of tasks: {}", column)
    raise InputError(f"--task {task}", "no such task", expected, do)

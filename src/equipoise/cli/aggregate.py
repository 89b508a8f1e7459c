"""equipoise aggregate: from who said what to what is plausibly true, of every task."""

from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from equipoise import __version__
from equipoise.cli.command import verb
from equipoise.cli.options import OF_QUESTION, Options, check_choice, misused
from equipoise.cli.reopened import table_files
from equipoise.cli.results import check_report_folder, check_target
from equipoise.cli.screen import note, output, print_json, progress, say
from equipoise.cli.study import (
    VOTE_FILES,
    ask,
    check_reading,
    check_vote_files,
    dataset_facts,
    published_files,
    read_votes,
    stays_on_disk,
    study_name,
)
from equipoise.cli.truth import chain, refuse_unused_chain
from equipoise.read.plausibilities import write_plausibilities
from equipoise.read.writing import write_text
from equipoise.report.page import render, write_report
from equipoise.report.run import hash_inputs
from equipoise.report.terminal import show
from equipoise.report.text import write_table
from equipoise.study.analyses.truth_items import consensus_rows
from equipoise.study.analyses.truth_report import (
    FittedModels,
    aggregates_against_gold,
    tasks_report,
    truth_json,
    truth_notices,
)
from equipoise.truth import MODELS, annotator_bootstrap
from equipoise.truth.choosing import (
    FOLDS,
    Model,
    companions,
    fitted,
    held_out,
    model,
    recommended,
    suitable,
)
from equipoise.types import (
    Annotations,
    InputError,
    Names,
    Option,
    Plausibilities,
    hint,
    listed,
    nearest,
    worded,
)

MARK = "truth.json"


@verb(
    *("annotations", "dataset", "on_disk", "tasks"),
    *OF_QUESTION,
    *("model", "compare", "rating_threshold", "reliability", "prior"),
    *("draws", "burn_in", "bootstrap", "seed"),
    *("out", "overwrite", "page", "as_json"),
    arguments=("annotations",),
    rare=("draws", "burn_in"),
    texts={
        "annotations": VOTE_FILES,
        "draws": "Draws of each chain (plackett_luce). Default: 1,000.",
        "seed": "Seed of everything that is drawn.",
        "out": "File for consensus, certainty and votes of every item, ending in .csv or "
        ".parquet; for the plausibilities of one task, ending in .npz; or a folder for all "
        "of this, tables, figures and report.html.",
        "overwrite": "Replace an earlier one in that folder.",
        "page": "File for a page about the truth, ending in .html.",
        "as_json": "Print everything as JSON. Items have the classes with a mass of their own, "
        "and `others` for all the rest together; a log-likelihood of minus infinity is "
        'the text "-inf", undefined is null.',
    },
    heavy="maps",
)
def aggregate(options: Options) -> None:
    """Infer what is plausibly true of every item, how certain that is, and who to trust.

    Prints the most ambiguous items, the annotators, and where models decide differently; of
    several tasks a row for each. `--compare` fits every suitable model and scores held-out
    votes. Where items have gold, models and majority vote are scored against it. `--out`
    keeps the consensus (.csv, .parquet), the plausibilities for `read_plausibilities` (.npz),
    or both and more in a folder.

    Example: equipoise aggregate votes.csv --compare

    Example: equipoise aggregate votes.csv --out consensus.csv
    """
    folder = _checked_folder(options)
    if stays_on_disk(options, options.annotations):
        from equipoise.cli.on_disk import aggregate_on_disk

        aggregate_on_disk(options)
        return
    check_report_folder(replace(options, out=folder), MARK)
    table = ask(read_votes(options), options)
    tasks = _tasks(table, options)
    fits = [fit(table, task, options) for task in tasks]
    title = f"{study_name(options)}: what is plausibly true?"
    brief = tasks_report(table, fits, title=title)
    say(*dict.fromkeys(f"Model: {one.reason}" for one in fits))
    note(brief.notices)
    _write(table, fits, replace(options, title=title), folder)
    if options.as_json:
        facts = [_facts(table, one) for one in fits]
        alone = {**facts[0], "notices": worded(truth_notices(table, fits[0]), command=True)}
        made_with = _made_with(options)
        print_json({**made_with, **(alone if len(facts) == 1 else {"tasks": facts})})
        return
    if len(fits) == 1:
        show(output(), brief)
        return
    show(output(), replace(brief, task=""))
    output().print("--task shows items, annotators and models of one task.")


def _checked_folder(options: Options) -> Path | None:
    """The folder to write, unless it is a file; refuses what could not be written."""
    check_vote_files(options)
    check_choice("model", options.model, ("auto", *MODELS))
    folder = None if options.out is None or options.out.suffix else options.out
    if folder is None:
        check_target("--out", options.out, (".csv", ".parquet", ".npz"))
    if options.overwrite and folder is None:
        raise misused("belongs to --out FOLDER", "overwrite")
    check_target("--page", options.page, (".html", ".htm"))
    check_reading(options)
    return folder


def _facts(table: Annotations, fits: FittedModels) -> dict[str, object]:
    """Everything about one task, for people who asked for JSON."""
    about = {"model": fits.name, "reason": fits.reason, "method": fits.chosen.method}
    return {"task": fits.task, **about, **truth_json(table, fits)}


def _write(
    table: Annotations, fits: list[FittedModels], options: Options, folder: Path | None
) -> None:
    """Write the files that were asked for."""
    if options.out is not None and folder is None:
        if options.out.suffix.lower() == ".npz":
            write_plausibilities(fits[0].chosen, options.out)
        else:
            _write_consensus(table, fits, options.out)
        say(f"Wrote {options.out}")
    if folder is None and options.page is None:
        return

    shown = [
        fit if fit.compared else replace(fit, models={fit.name: fit.chosen}) for fit in fits
    ]
    with progress("page"):
        whole = tasks_report(table, shown, title=options.title or "")
        text = "" if options.page is None else render(whole)
        if folder is not None:
            write_report(folder, MARK, whole, facts={"tasks": [fit.task for fit in fits]})
    if options.page is not None:
        write_text(options.page, text)
        say(f"Wrote {options.page}")
    if folder is not None:
        _write_consensus(table, fits, folder / "tables" / "consensus.parquet")
        names = _file_names([fit.task for fit in fits])
        for name, fit in zip(names, fits, strict=True):
            write_plausibilities(fit.chosen, folder / name)
        listed = ", ".join([MARK, "report.html", "tables/consensus.csv and .parquet", *names])
        say(f"Wrote {folder}: {listed}")


def _write_consensus(table: Annotations, fits: list[FittedModels], path: Path) -> None:
    """Consensus, certainty and votes of every item of every task."""
    rows = [row for fit in fits for row in consensus_rows(table, fit.chosen)]
    write_table(rows, path)


def _file_names(tasks: list[str]) -> list[str]:
    """Names of the files of plausibilities, one per task.

    Examples
    --------
    >>> _file_names([""]), _file_names(["Lung opacity", "Lung/opacity"])
    (['truth.npz'], ['truth-lung-opacity.npz', 'truth-lung-opacity-2.npz'])
    """
    words = [
        "".join(letter.lower() if letter.isalnum() else " " for letter in task)
        for task in tasks
    ]
    stems = ["-".join(["truth", *name.split()]) for name in words]
    again = [stems[:place].count(stem) for place, stem in enumerate(stems)]
    return [f"{s}-{n + 1}.npz" if n else f"{s}.npz" for s, n in zip(stems, again, strict=True)]


def fit(table: Annotations, task: str, options: Options) -> FittedModels:
    """Fit the chosen model and those beside it, and score held-out votes, under a bar."""
    name, reason = options.model, f"{options.model} was asked for."
    if name == "auto":
        name, reason = recommended(table)
    if options.bootstrap and table.annotator is None:
        do = (
            "leave --bootstrap out (dirichlet has its own uncertainty), or give an annotator "
            "column"
        )
        expected = "votes of annotators with names, to draw anew"
        raise InputError("--bootstrap", "anonymous votes", expected, do)
    models = _models(table, name, options)
    single = table.annotator is not None and table.rank is None and table.label is not None
    scored = options.compare and single
    total = len(models) + options.bootstrap + (FOLDS * len(models) if scored else 0)
    scores: dict[str, float] = {}
    with progress(f"fitting {task}".strip()) as tell:
        done = count(1)

        def ticking(fit: Model) -> Model:
            def run(*args: Any, **how: Any) -> Plausibilities:
                truth = fit(*args, **how)
                tell(next(done), total)
                return truth

            return run

        plain = {label: ticking(fit) for label, fit in models.items()}
        chosen = plain[name]
        if options.bootstrap:
            draws = options.bootstrap
            chosen = partial(annotator_bootstrap, chosen, draws=draws, seed=options.seed)
        fits = fitted(table, {**plain, name: chosen}, task)
        if scored:
            scores = held_out(table, plain, seed=options.seed, task=task)
        gold = aggregates_against_gold(table, plain, task)
    return FittedModels(
        name=name,
        reason=reason,
        task=task,
        models=fits,
        scores=scores,
        compared=options.compare,
        gold=gold,
    )


def _models(table: Annotations, own: str, options: Options) -> dict[str, Model]:
    """The models to fit, set up; settings other than the threshold are for the chosen one."""
    refuse_unused_chain(options, own, ("draws", "burn_in"))
    chosen = model(
        own,
        table,
        threshold=options.rating_threshold,
        reliability=options.reliability,
        prior=options.prior,
        chain=chain(options, options.seed),
    )
    models = {own: chosen}
    beside = companions(table) if options.model == "auto" else ()
    for name in suitable(table) if options.compare else beside:
        if name not in models:
            how = chain(options, options.seed)
            models[name] = model(name, table, threshold=options.rating_threshold, chain=how)
    return models


def _made_with(options: Options) -> dict[str, object]:
    """What the result was made with: version, input, seed and question."""
    if options.dataset is not None:
        rows = published_files(options.dataset)
    else:
        rows = hash_inputs("annotations", table_files(options.annotations))
    files = [{"name": row.name, "sha256": row.sha256} for row in rows]
    source = dataset_facts(options.dataset)
    return {
        "version": __version__,
        **({"dataset": source} if source else {}),
        **({"input": files[0]} if len(files) == 1 and not source else {"inputs": files}),
        "seed": options.seed,
        "positive": options.positive,
        "at_least": options.at_least,
        "task": options.tasks[0]
        if options.tasks and len(options.tasks) == 1
        else options.tasks,
    }


def _tasks(table: Annotations, options: Options) -> Names:
    """The tasks that were asked for, or all."""
    chosen = tuple(dict.fromkeys(options.tasks or table.tasks))
    for task in chosen:
        if task in table.tasks:
            continue
        expected, do = f"one of {listed(table.tasks, most=8)}", nearest(task, table.tasks)
        if table.tasks == ("",):
            column = Option("columns", {"task": "COLUMN"})
            expected = "none: there is only one, and it has no name"
            do = hint("leave --task out, or name the column of tasks: {}", column)
        raise InputError(f"--task {task}", "no such task", expected, do)
    if len(chosen) > 1 and options.out is not None and options.out.suffix.lower() == ".npz":
        got = f"{len(chosen)} tasks ({listed(chosen)})"
        do = "name a folder or a .csv file, or choose one with --task"
        raise InputError(f"--out {options.out}", got, "one task in an .npz file", do)
    return chosen

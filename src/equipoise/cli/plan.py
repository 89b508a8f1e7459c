"""equipoise plan: from a pilot to the study that settles it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.cli.command import verb
from equipoise.cli.help import metric_names
from equipoise.cli.options import (
    OF_FOLDER,
    OF_QUESTION,
    OF_SCORES,
    OF_STUDY,
    Options,
    misused,
    words,
)
from equipoise.cli.results import check_report_folder, deliver
from equipoise.cli.screen import output, progress, say
from equipoise.cli.study import FilesRead, check_reading, read_study
from equipoise.study import Thresholds
from equipoise.study.planning import (
    NextItems,
    SizePlan,
    TaskPlan,
    next_items,
    plan_size,
    tasks_plan_report,
    write_next,
)
from equipoise.types import InputError, Progress

MARK = "plan.json"
TABLE = ".csv"
LEAST = 3  # annotators, below which nobody can say what others like them would find
FILL_IN = "a table to fill in (columns annotator and label); filled in, give it as votes (-a)"
OTHER = (".txt", ".tsv", ".json", ".html", ".xlsx", ".parquet")  # no names of folders
OF_GOAL = (
    *("power", "level", "difference", "margin", "price_item", "price_vote"),
    *("price_annotator", "simulations"),
)


@verb(
    *OF_STUDY,
    *("metrics", "tasks", "models", "ranking", "panel_sizes", "votes_per_item"),
    *("items_per_group", "seed", "next_items", "against_annotators", "half_width", "threshold"),
    *OF_GOAL,
    *OF_QUESTION,
    *OF_SCORES,
    *OF_FOLDER,
    arguments=("study",),
    texts={
        "metrics": "The metric to decide by, with soft labels: `auroc`, `average_precision`, "
        "`brier_score`, ...; not P@k, which changes its meaning with the number of items. "
        "Default: the first of the evaluation, or auroc.",
        "level": "Level of the interval that must lie above 0.",
        "margin": "How much worse the first model may be: plan to show that it is not (models "
        "are taken as equal unless a difference is given).",
        "out": "Folder for plan.json, tables (CSV, Markdown, LaTeX), figures (SVG), "
        "methods.md, references.bib and report.html; or a .csv for the items of --next.",
    },
    heavy="maps",
)
def plan(options: Options) -> None:
    """How many items, how many annotators, and which votes next?

    From a pilot (a few hundred items read by five or more annotators make a good one), splits
    the uncertainty about two models into what items, annotators and single votes leave, says
    how many items each number of annotators needs to resolve their difference with a given
    probability, and checks that by simulated studies. A pilot that has not found a difference
    cannot say how large it is: give `--difference`. With `--next`, names the items on which
    one more vote tells most. Of several tasks each has its own plan, and a row that compares
    them.

    Example: equipoise plan run --difference 0.02 --price-item 1 --price-vote 0.2

    Example: equipoise plan run --models resnet,vit --next 20 --out next.csv

    Example: equipoise plan run --ranking --difference 0.02 --out plan
    """
    folder = _checked_folder(options)
    check_report_folder(replace(options, out=folder), MARK)
    with progress("reading"):
        study = read_study(options, metric_names(options.metrics), matched=False, out=folder)
    plans, failed = _every_task(study, options)
    report = replace(
        tasks_plan_report(plans, failed), title=f"How large must the study be? ({study.name})"
    )
    deliver(report, study, replace(options, out=folder), MARK)
    if len(plans) > 1 and not options.as_json:
        output().print("--task shows designs, power and uncertainty of one task.")
    named = any(task_plan.wanted is not None and task_plan.wanted.items for task_plan in plans)
    if named and folder is not None:
        say(f"{folder}/tables/plan_next.csv: {FILL_IN}")
    elif options.next_items and options.out is not None and folder is None:
        write_next([plan.wanted for plan in plans if plan.wanted is not None], options.out)
        say(f"Wrote {options.out}: {FILL_IN}")


def _checked_folder(options: Options) -> Path | None:
    """The folder to write, unless it is a table; refuses what is no goal and no place."""
    check_reading(options)
    if len(metric_names(options.metrics)) > 1:
        raise misused(f"got {options.metrics!r}, expected one metric to decide by", "metrics")
    if options.ranking and options.models:
        raise misused("is about the whole order; leave out --models", "ranking")
    if options.next_items and (options.against_annotators or options.half_width is not None):
        raise misused("is about two models, or their order", "next_items")
    _model_names(options)
    _designs(options)
    path = options.out
    folder = None if path is None or path.suffix.lower() == TABLE else path
    if path is not None and path.suffix.lower() in OTHER:
        why = f"got {path.name!r}, expected a folder, or a file ending in .csv"
        raise misused(why, "out")
    if path is not None and folder is None and not options.next_items:
        raise misused("a .csv is for the items of --next; add it, or name a folder", "out")
    for name in ("overwrite", "title"):
        if getattr(options, name) and folder is None:
            raise misused("belongs to --out FOLDER", name)
    return folder


def _model_names(options: Options) -> tuple[str, ...] | None:
    """The two models, or the one, if they are named."""
    names = words(options.models)
    alone = options.against_annotators or options.half_width is not None
    if options.models is not None and len(names) != 2 - alone:
        expected = "one model" if alone else "two models, for example resnet,vit"
        raise misused(f"got {options.models!r}, expected {expected}", "models")
    return tuple(names) or None


def _designs(options: Options) -> dict[str, tuple[int, ...]]:
    """Annotators, votes per item and items per group to look at."""
    rows = {
        "annotators": "panel_sizes",
        "votes": "votes_per_item",
        "items_per_group": "items_per_group",
    }
    designs = {}
    for keyword, name in rows.items():
        text: str | None = getattr(options, name)
        numbers, least = words(text), LEAST if keyword == "annotators" else 1
        good = all(number.isdigit() and int(number) >= least for number in numbers)
        if text is not None and not (numbers and good):
            message = f"got {text!r}, expected whole numbers of at least {least}"
            raise misused(f"{message}, for example 3,5,8", name)
        designs[keyword] = tuple(map(int, numbers))
    return designs


def _every_task(
    study: FilesRead, options: Options
) -> tuple[list[TaskPlan], dict[str, InputError]]:
    """A plan for every task that was asked for; why there is none where the pilot fails.

    Without a name all annotated tasks are planned; a plan for one alone fails as it does.
    """
    tasks: list[str | None] = [*(options.tasks or study.study.voted.tasks)]
    if len(tasks) == 1:
        tasks = [options.tasks[0] if options.tasks else None]
    plans: list[TaskPlan] = []
    failed: dict[str, InputError] = {}
    for task in dict.fromkeys(tasks):
        with progress(f"planning {task or ''}".strip()) as tell:
            try:
                size, wanted = _planned(study, options, task, tell)
            except InputError as error:
                if len(tasks) == 1 or task not in study.study.voted.tasks:
                    raise
                failed[task] = error
                continue
        plans.append(TaskPlan(task or "", size, wanted))
    if not plans:
        raise next(iter(failed.values()))
    return plans, failed


def _planned(
    study: FilesRead,
    options: Options,
    task: str | None,
    tell: Progress,
) -> tuple[SizePlan, NextItems | None]:
    """Size of the study, for two models or the whole order, and the items that come next."""
    predictions, votes = study.study.predictions, study.study.voted
    metric = study.study.metrics[0].name
    how: dict[str, Any] = {"task": task, "seed": options.seed, "progress": tell}
    order, goal = options.ranking, {name: getattr(options, name) for name in OF_GOAL}
    goal |= _designs(options)
    goal |= {"readers": options.against_annotators, "width": options.half_width}
    if options.threshold:
        goal["thresholds"] = Thresholds.parse(options.threshold)
    size = plan_size(
        predictions,
        votes,
        metric=metric,
        models=_model_names(options),
        ranking=order,
        **goal,
        **how,
    )
    number = options.next_items
    if not number:
        return size, None
    pair = None if order else (size.pairs[0].a, size.pairs[0].b)
    return size, next_items(
        predictions, votes, metric, number, models=pair, ranking=order, **how
    )

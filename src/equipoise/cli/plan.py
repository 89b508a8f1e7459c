"""equipoise plan: from a pilot to the study that settles it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from equipoise.cli._results import deliver
from equipoise.cli._screen import output as console
from equipoise.cli._screen import progress, say
from equipoise.cli.options import (
    RESULT,
    OutputOptions,
    StudyFiles,
    StudyReading,
    TaskNames,
    command,
    metric_names,
    misused,
    panel,
    words,
)
from equipoise.types.arrays import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from equipoise.cli.study import CliStudy
    from equipoise.study.planning import NextForRanking, NextItems, RankingPlan, Size, TaskPlan

MARK = "plan.json"
TABLE = ".csv"
LEAST = 3  # annotators, below which nobody can say what others like them would find
FILL_IN = "a table to fill in (columns annotator and label); filled in, give it as votes (-a)"
OTHER = (".txt", ".tsv", ".json", ".html", ".xlsx", ".parquet")  # no names of folders
_goal = panel(
    "What to plan for",
    metric="The metric to decide by, with soft labels: `auroc`, `average_precision`, "
    "`brier_score`, ...; not P@k, which changes its meaning with the number of items. "
    "Default: the first of the evaluation, or auroc.",
    models="The two models: `A,B`. Default: the two best.",
    ranking="Plan for the whole order: every model against the next.",
    power="Probability with which the study must resolve the difference.",
    level="Level of the interval that must lie above 0.",
    difference="The smallest difference that matters. Default: the pilot's, if the pilot has "
    "found one for items and annotators like these.",
    margin="How much worse the first model may be: plan to show that it is not (models are "
    "taken as equal unless a difference is given).",
    annotators="Numbers of annotators to look at, comma-separated.",
    votes_per_item="Votes per item to look at, comma-separated. Default: all annotators vote "
    "on every item; without names of annotators 1,2,3,5,8.",
    items_per_group="Where items have groups (patients, nights): items of each to look at. "
    "Default: as in the pilot, and a tenth of that.",
    price_item="What one more item costs, without votes.",
    price_vote="What one vote costs.",
    price_annotator="What one more annotator costs, before any vote.",
    simulations="Studies simulated to check each design; 0 for none.",
)
_result = panel(
    RESULT,
    seed="Same seed, same bytes.",
    next_items="How many items to name for one more vote each; so many of every task.",
    out="Folder for plan.json, tables (CSV, Markdown, LaTeX), figures (SVG), methods.md, "
    "references.bib and report.html; or a .csv for the items of --next.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanGoal:
    """What a study is planned for."""

    metric: Annotated[str | None, _goal("metric")] = None
    models: Annotated[str | None, _goal("models")] = None
    ranking: Annotated[bool, _goal("ranking", "--ranking")] = False
    power: Annotated[float, _goal("power", min=0.05, max=0.999)] = 0.8
    level: Annotated[float, _goal("level", min=0.5, max=0.999)] = 0.95
    difference: Annotated[float | None, _goal("difference")] = None
    margin: Annotated[float | None, _goal("margin")] = None
    annotators: Annotated[str, _goal("annotators")] = "3,5,8,12,20"
    votes_per_item: Annotated[str | None, _goal("votes_per_item")] = None
    items_per_group: Annotated[str | None, _goal("items_per_group")] = None
    price_item: Annotated[float | None, _goal("price_item")] = None
    price_vote: Annotated[float | None, _goal("price_vote")] = None
    price_annotator: Annotated[float, _goal("price_annotator", min=0)] = 0.0
    simulations: Annotated[int, _goal("simulations", min=0)] = 400
    seed: Annotated[int, _result("seed", min=0)] = 0
    task: TaskNames = None

    def __post_init__(self) -> None:
        """Refuse words that are no goal."""
        if len(metric_names(self.metric)) > 1:
            raise misused(f"got {self.metric!r}, expected one metric to decide by", "metric")
        if self.ranking and self.models:
            raise misused("is about the whole order; leave out --models", "ranking")
        self.pair()
        self.designs()

    def pair(self) -> tuple[str, str] | None:
        """The two models, if they are named."""
        names = words(self.models)
        if self.models is not None and len(names) != 2:
            message = f"got {self.models!r}, expected two models, for example resnet,vit"
            raise misused(message, "models")
        return (names[0], names[1]) if names else None

    def designs(self) -> dict[str, tuple[int, ...]]:
        """Annotators, votes per item and items per group to look at."""
        given = {
            "annotators": self.annotators,
            "votes_per_item": self.votes_per_item,
            "items_per_group": self.items_per_group,
        }
        found = {}
        for name, text in given.items():
            numbers, least = words(text), LEAST if name == "annotators" else 1
            good = all(one.isdigit() and int(one) >= least for one in numbers)
            if text is not None and not (numbers and good):
                message = f"got {text!r}, expected whole numbers of at least {least}"
                raise misused(f"{message}, for example 3,5,8", name)
            found[name.removesuffix("_per_item")] = tuple(int(one) for one in numbers)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanOutput(OutputOptions):
    """Where a plan goes: a folder, or a table of the items that come next."""

    next_items: Annotated[int, _result("next_items", "--next", min=0)] = 0
    out: Annotated[Path | None, _result("out")] = None

    def __post_init__(self) -> None:
        """Refuse names that are neither a folder nor a table."""
        path = self.out
        if path is not None and path.suffix.lower() in OTHER:
            why = f"got {path.name!r}, expected a folder, or a file ending in .csv"
            raise misused(why, "out")
        if path is not None and self.folder is None and not self.next_items:
            raise misused("a .csv is for the items of --next; add it, or name a folder", "out")
        for name in ("overwrite", "title"):
            if getattr(self, name) and self.folder is None:
                raise misused("belongs to --out FOLDER", name)

    @property
    def folder(self) -> Path | None:
        """The folder to write, unless it is a table."""
        return None if self.out is None or self.out.suffix.lower() == TABLE else self.out


@command(heavy="maps")
def plan(
    files: StudyFiles, goal: _PlanGoal, output: _PlanOutput, reading: StudyReading
) -> None:
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
    from equipoise.cli.study import read_study
    from equipoise.read.writing import check_folder
    from equipoise.study.planning import tasks_plan_report, write_next

    folder = output.folder
    if folder is not None:
        check_folder(folder, (MARK, "report.html"), overwrite=output.overwrite)
    with progress("reading"):
        study = read_study(files, reading, metric_names(goal.metric), out=folder)
    plans, failed = _every_task(study, goal, output.next_items)
    report = replace(
        tasks_plan_report(plans, failed), title=f"How large must the study be? ({study.name})"
    )
    deliver(report, study, replace(output, out=folder), MARK)
    if len(plans) > 1 and not output.as_json:
        console().print("--task shows designs, power and uncertainty of one task.")
    named = any(one.wanted is not None and one.wanted.items for one in plans)
    if named and folder is not None:
        say(f"{folder}/tables/plan_next.csv: {FILL_IN}")
    elif output.next_items and output.out is not None and folder is None:
        write_next(plans, output.out)
        say(f"Wrote {output.out}: {FILL_IN}")


def _every_task(
    study: "CliStudy", goal: _PlanGoal, number: int
) -> "tuple[list[TaskPlan], dict[str, InputError]]":
    """A plan for every task that was asked for; why there is none where the pilot fails.

    Without a name all annotated tasks are planned; a plan for one alone fails as it does.
    """
    from equipoise.study.planning import TaskPlan

    tasks: list[str | None] = [*(goal.task or study.annotations.tasks)]
    if len(tasks) == 1:
        tasks = [goal.task[0] if goal.task else None]
    plans: list[TaskPlan] = []
    failed: dict[str, InputError] = {}
    for task in dict.fromkeys(tasks):
        with progress(f"planning {task or ''}".strip()) as tell:
            try:
                found, wanted = _planned(study, goal, task, (number, tell))
            except InputError as error:
                if len(tasks) == 1 or task not in study.annotations.tasks:
                    raise
                failed[task] = error
                continue
        plans.append(TaskPlan(task or "", found, wanted))
    if not plans:
        raise next(iter(failed.values()))
    return plans, failed


def _planned(
    study: "CliStudy",
    goal: _PlanGoal,
    task: str | None,
    following: "tuple[int, Callable[[int, int], None]]",
) -> "tuple[Size | RankingPlan, NextItems | NextForRanking | None]":
    """Size of the study, for two models or the whole order, and the items that come next."""
    from equipoise.study.planning import next_for_ranking, next_items, plan_ranking, plan_size

    data, metric = (study.predictions, study.annotations), study.metrics[0]
    own = ["power", "level", "difference", "margin", "price_item", "price_vote"]
    own += ["price_annotator", "simulations"]
    number, tell = following
    more: dict[str, Any] = {"task": task, "seed": goal.seed, "progress": tell}
    how = {**goal.designs(), **{name: getattr(goal, name) for name in own}, **more}
    if goal.ranking:
        order = plan_ranking(*data, metric=metric, **how)
        return order, next_for_ranking(*data, metric, number, **more) if number else None
    size = plan_size(*data, metric=metric, models=goal.pair(), **how)
    pair = (size.a, size.b)
    return size, next_items(*data, metric, number, models=pair, **more) if number else None

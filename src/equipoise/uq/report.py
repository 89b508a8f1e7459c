"""Report on uncertainty: which method for which purpose, as findings for every surface.

Says only what the intervals support: a method is recommended for a purpose where no other is
surely better; that a score works at all where its interval excludes chance; that the epistemic
part is the better one where the paired difference excludes 0.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from equipoise.findings import (
    Card,
    Column,
    Dot,
    Dots,
    Finding,
    Report,
    Standing,
    Standings,
    Table,
)
from equipoise.metrics import named
from equipoise.numbers import count, estimate, exact_percent, number
from equipoise.uq.curves import cost_findings, curve_findings
from equipoise.uq.disentanglement import (
    MOST,
    correlation_findings,
    correlation_sentence,
    parts_findings,
    parts_sentence,
)
from equipoise.uq.evaluate import (
    TaskRow,
    UncertaintyEvaluation,
    UncertaintyOptions,
    evaluate_study,
)
from equipoise.uq.saved import Files, find_files, read_study
from equipoise.uq.tasks import UncertaintyTask
from equipoise.wording import capital, joined

CHANCE = {"auroc": 0.5, "error_detection_auroc": 0.5}
TERMS = (
    ("PU", "Total uncertainty: entropy of the mean probability."),
    ("AU", "Aleatoric uncertainty: mean entropy of the members, the part that all share."),
    ("EU", "Epistemic uncertainty: PU less AU, what the members disagree about."),
    ("Own", "A score that a method makes itself, such as its predicted loss."),
    ("AUAC", "Mean accuracy on what is left as the least sure are left to a reader."),
    ("AURC", "The same of errors; E-AURC is what is more than the best order would leave."),
    ("ECE, MCE", "Mean and largest gap between probability and frequency over bins."),
    ("Best group", "Methods than which no other is surely better, all pairs at once."),
    ("Null", "The correlation that noise of one size on every logit would give."),
)
NOTE = (
    "Every score stands in the table. A method is judged by the score that was best on "
    "validation images; the best on test images would favour methods with more scores."
)


def uncertainty_report(
    source: Path | Files, options: UncertaintyOptions | None = None
) -> Report:
    """The report on saved predictions: a folder that a benchmark wrote, or files one by one."""
    how = options or UncertaintyOptions()
    files = find_files(source) if isinstance(source, Path) else source
    study = read_study(files, decomposition=how.decomposition, image=how.image)
    return evaluation_report(evaluate_study(study, how))


def evaluation_report(result: UncertaintyEvaluation) -> Report:
    """Everything an evaluation of uncertainty says."""
    study, how = result.study, result.options
    methods = tuple(dict.fromkeys(run.method for run in study.runs))
    findings = (
        _standings(result),
        *_task_findings(result),
        *parts_findings(result.tasks, result.parts),
        *correlation_findings(result.tasks, result.correlations),
        *curve_findings(result.coverage, result.reliability),
        *cost_findings(result.costs),
        _score_finding(result),
    )
    seeds = {run.seed for run in study.runs}
    patients = study.labels["test"].groups
    return Report(
        title="Which uncertainty can be trusted?",
        findings=findings,
        models=methods,
        card=_card(result),
        known=(
            count(len(methods), "method"),
            count(len(study.architectures), "architecture")
            if len(study.architectures) > 1
            else "",
            count(len(seeds), "seed") if len(seeds) > 1 else "",
            count(len(study.classes), "label"),
            count(len(study.labels["test"].items), "image"),
        ),
        terms=TERMS,
        settings=(
            ("Intervals", f"{exact_percent(how.level)}, over {_whom(result)}"),
            ("Images resampled by", "patient" if patients is not None else "image"),
            ("Image-level score", f"{how.image} over labels"),
            ("Decomposition", how.decomposition.replace("_", " ")),
            ("Bins", "15, equally " + ("wide" if how.binning == "width" else "full")),
            ("Seed of the null", str(how.seed)),
        ),
        notices=result.notices,
        methods=(_methods_sentence(result),),
        references=("baur2025", "depeweg2018", "geifman2019", "traub2024", "guo2017"),
    )


def _methods_sentence(result: UncertaintyEvaluation) -> str:
    return (
        "Uncertainty was decomposed into total, aleatoric and epistemic parts in nats "
        "[@depeweg2018] and judged on six tasks [@baur2025]; abstention by the area under the "
        "accuracy-coverage curve and by (excess) AURC [@geifman2019; @traub2024], calibration "
        "by ECE and MCE over 15 bins [@guo2017]. Image-level scores are the "
        f"{result.options.image} over labels. The score of each method was chosen on "
        "validation images."
    )


def _whom(result: UncertaintyEvaluation) -> str:
    several = any(len(runs) > 1 for a in result.study.architectures
                  for runs in result.study.methods(a).values())  # fmt: skip
    units = "patients" if result.study.labels["test"].groups is not None else "images"
    return f"{units} and seeds like these" if several else f"{units} like these"


# ---- what to use -----------------------------------------------------------------------------


def _judged_rows(
    result: UncertaintyEvaluation, task: UncertaintyTask, architecture: str
) -> list[TaskRow]:
    """A task's headline metric, of the scores that methods are judged by; best first."""
    found = [
        row
        for row in result.table()
        if row.task == task.key and row.architecture == architecture
        and row.metric == task.metrics[0] and row.chosen
    ]  # fmt: skip
    higher = named(task.metrics[0]).better == "higher"
    known = [row for row in found if not math.isnan(row.value)]
    return sorted(known, key=lambda row: -row.value if higher else row.value)


def recommendation(result: UncertaintyEvaluation) -> list[str]:
    """What to use for what, a sentence per task and architecture."""
    said = []
    for task in result.tasks:
        for architecture in result.study.architectures:
            rows = _judged_rows(result, task, architecture)
            if rows:
                said.append(_advice(task, rows, architecture))
    return said


def _advice(task: UncertaintyTask, rows: Sequence[TaskRow], architecture: str) -> str:
    """Who is in the best group, and whether that beats chance."""
    best, lead = [row.method for row in rows if row.best], rows[0]
    where = f" ({architecture})" if architecture else ""
    title = named(lead.metric).title
    top = f"{_called(lead)}, {title} {estimate(lead.value, lead.low, lead.high)}"
    if len(rows) == 1:
        said = f"{top}"
    elif len(best) == len(rows):
        said = f"no method can be told from the others; first is {top}"
    elif len(best) == 1:
        said = f"{top}, surely better than all others"
    else:
        said = (
            f"{joined(best, most=MOST)} cannot be told apart and lead the rest; first is {top}"
        )
    chance = CHANCE.get(lead.metric)
    if chance is not None and not lead.low > chance:
        said += "; not shown to do better than chance"
    return f"{capital(task.title)}{where}: {said}."


def _called(row: TaskRow) -> str:
    return f"{row.method} by {row.score}" if row.score else row.method


def _card(result: UncertaintyEvaluation) -> Card:
    """The methods that are in the best group most often, and what EU and AU mean."""
    wins: dict[tuple[str, str], int] = {}
    tasks: dict[str, int] = {}
    for architecture in result.study.architectures:
        for task in result.tasks:
            rows = _judged_rows(result, task, architecture)
            tasks[architecture] = tasks.get(architecture, 0) + bool(rows)
            for row in rows:
                wins[architecture, row.method] = (
                    wins.get((architecture, row.method), 0) + row.best
                )
    answer = _leaders(wins, tasks)
    single = len({method for _, method in wins}) < 2
    return Card(
        answer=_alone(result) if single else answer,
        lede=parts_sentence(result.parts) or correlation_sentence(result.correlations),
        holds_for=f"{_whom(result)}, with labels taken as the truth",
        settled_by=""
        if single
        else "more patients; all pairs of methods hold together (max-t)",
        caveat=_caveat(result),
    )


def _leaders(wins: Mapping[tuple[str, str], int], tasks: Mapping[str, int]) -> str:
    """Who is in the best group on most tasks, by architecture."""
    said = []
    for architecture, total in tasks.items():
        own = {method: won for (arch, method), won in wins.items() if arch == architecture}
        most = max(own.values(), default=0)
        first = [method for method, won in own.items() if won == most]
        names = joined(first) if len(first) <= MOST else f"{len(first)} of {len(own)} methods"
        where = f"{architecture}: " if architecture else ""
        every = "all" if most == total else f"{most} of"
        verb = "is" if len(first) == 1 else "are"
        said.append(f"{where}{names} {verb} in the best group on {every} {total} tasks")
    return f"{capital('; '.join(said)) if '' in tasks else '; '.join(said)}."


def _alone(result: UncertaintyEvaluation) -> str:
    said = recommendation(result)
    return said[0] if said else "No task can be judged with these labels."


def _caveat(result: UncertaintyEvaluation) -> str:
    members = {run.parts["test"].members for run in result.study.runs} - {0, 1}
    if len(members) > 1:
        low, high = min(members), max(members)
        return (
            f"Methods have {low} to {high} members; fewer see less of the epistemic part "
            "(about 1/M of it is missing)."
        )
    sizes = [len(runs) for a in result.study.architectures
             for runs in result.study.methods(a).values()]  # fmt: skip
    if len(set(sizes)) == 1 and sizes[0] == 1:
        return "One seed of each method: what other seeds would change is in no interval."
    return ""


# ---- the six tasks ---------------------------------------------------------------------------


def _standings(result: UncertaintyEvaluation) -> Finding:
    charts = []
    for architecture in result.study.architectures:
        first = architecture == result.study.architectures[0]
        name = "standings" if first else f"standings-{architecture}"
        charts.append(_board(result, architecture, name))
    return Finding(
        key="standings",
        title="What is each method's uncertainty good for?",
        sentence="",
        charts=tuple(charts),
        note=NOTE,
        nav="Six tasks",
    )


def _board(result: UncertaintyEvaluation, architecture: str, name: str) -> Standings:
    """Methods by tasks, coloured by best group; the most often in it first."""
    by_task = [
        (task, {row.method: row for row in _judged_rows(result, task, architecture)})
        for task in result.tasks
    ]
    by_task = [one for one in by_task if one[1]]
    methods = list(result.study.methods(architecture))
    won = {m: sum(m in rows and rows[m].best for _, rows in by_task) for m in methods}
    methods.sort(key=lambda method: -won[method])
    cells = [[_standing(task, rows, method) for task, rows in by_task] for method in methods]
    lead = by_task[0][1] if by_task else {}
    where = f" with {architecture}" if architecture else ""
    return Standings(
        name=name,
        caption=f"Methods by tasks{where}: AUROC of tasks 1 to 3, accuracy of task 4, gaps of "
        "5 and 6 (lower is better); filled: in the best group",
        metric=f"Tasks{where}",
        columns=[f"{task.number} {task.title}" for task, _ in by_task],
        models=methods,
        cells=cells,
        intervals=[
            (lead[m].low, lead[m].high) if m in lead else (math.nan, math.nan) for m in methods
        ],
        known_to=[_typical(rows.values()) for _, rows in by_task],
        foot=(("better", [_direction(task) for task, _ in by_task]),),
    )


def _direction(task: UncertaintyTask) -> str:
    return "high" if named(task.metrics[0]).better == "higher" else "low"


def _standing(task: UncertaintyTask, rows: Mapping[str, TaskRow], method: str) -> Standing:
    if method not in rows:
        return Standing(math.nan, inside=True, judged=False)
    row = rows[method]
    ends = [one.value for one in rows.values()]
    top = max(ends) if named(task.metrics[0]).better == "higher" else min(ends)
    return Standing(row.value, inside=row.best, best=row.value == top, judged=len(rows) > 1)


def _typical(rows: Iterable[TaskRow]) -> float:
    halves = [(row.high - row.low) / 2 for row in rows if math.isfinite(row.high - row.low)]
    return float(np.median(halves)) if halves else math.nan


def _task_findings(result: UncertaintyEvaluation) -> Iterable[Finding]:
    """One finding per task, of which the reader chooses one."""
    for task in result.tasks:
        charts = []
        for architecture in result.study.architectures:
            rows = _judged_rows(result, task, architecture)
            if rows:
                charts.append(_forest(task, rows, architecture))
        if not charts:
            continue
        own = [row for row in result.table() if row.task == task.key]
        yield Finding(
            key="tasks",
            title="Task by task",
            sentence=" ".join(
                _advice(task, rows, architecture)
                for architecture in result.study.architectures
                if (rows := _judged_rows(result, task, architecture))
            ),
            charts=tuple(charts),
            tables=(_score_table(f"task-{task.key}", f"Task {task.number}, all scores", own),),
            note=f"{task.asks} {_task_note(own)}",
            brief=False,
            nav="Tasks",
        ).under(task=f"{task.number} {task.title}")


def _task_note(rows: Sequence[TaskRow]) -> str:
    first = rows[0]
    out = f"; {count(first.left_out, 'label')} left out" if first.left_out else ""
    over = (
        "" if first.labels < 2 else f"Macro average over {count(first.labels, 'label')}{out}. "
    )
    return f"{over}Hollow: below the best group."


def _forest(task: UncertaintyTask, rows: Sequence[TaskRow], architecture: str) -> Dots:
    title = named(task.metrics[0]).title
    where = f", {architecture}" if architecture else ""
    return Dots(
        name=f"{task.key}{'-' if architecture else ''}{architecture}",
        caption=f"{title} by method{where}; {_direction(task)} is better",
        axis=title,
        rows=[
            Dot(
                row.method,
                row.value,
                row.low,
                row.high,
                model=row.method,
                remark=f"{row.score} {number(row.value)}".strip(),
                hollow=not row.best and len(rows) > 1,
            )
            for row in rows
        ],
        reference=CHANCE.get(task.metrics[0]),
    )


# ---- curves, costs, everything ---------------------------------------------------------------


def _score_finding(result: UncertaintyEvaluation) -> Finding:
    rows = result.table()
    return Finding(
        key="scores",
        title="Every score of every method on every task",
        sentence="PU, AU, EU and own scores, by every metric.",
        tables=(_score_table("scores", "All scores", rows, download=True),),
        note=NOTE,
        evidence=True,
        brief=False,
    )


def _score_table(
    name: str, caption: str, rows: Sequence[TaskRow], *, download: bool = False
) -> Table:
    words = {row.metric: named(row.metric).title for row in rows}
    words |= {one: f"{words[one]} (steps)" for one in words if "steps" in one}
    return Table(
        name=name,
        caption=caption,
        columns=(
            Column("task", "task"),
            Column("method", "method", "model"),
            Column("architecture", "architecture"),
            Column("score", "score"),
            Column("metric", "metric", words=words),
            Column("value", "value", "number", ("low", "high")),
            Column("chosen", "judged by"),
            Column("best", "best group"),
        ),
        rows=[row._asdict() for row in rows],
        brief=(),
        download=download,
    )

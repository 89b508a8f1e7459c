"""Report on uncertainty: which method for which purpose, as findings for every surface.

Says only what the intervals support: a method is recommended for a purpose where no other is
surely better; that a score works at all where its interval excludes chance; that the epistemic
part is the better one where the paired difference excludes 0.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np

from equipoise.inference import TwoWay
from equipoise.metrics import named
from equipoise.types import (
    Card,
    Claim,
    ClaimFamily,
    Column,
    Dot,
    Dots,
    Finding,
    Report,
    Standing,
    Standings,
    Table,
    capital,
    count,
    estimate,
    exact_percent,
    joined,
    number,
    percent,
)
from equipoise.uq.curves import (
    WHO,
    Ends,
    by_architecture,
    corruption_findings,
    cost_findings,
    curve_findings,
)
from equipoise.uq.disentanglement import (
    MOST,
    correlation_findings,
    correlation_sentence,
    parts_findings,
    parts_sentence,
)
from equipoise.uq.evaluate import (
    Scoring,
    TaskRow,
    UncertaintyEvaluation,
    evaluate_study,
)
from equipoise.uq.predictions import find_files, read_study
from equipoise.uq.tasks import UncertaintyTask

CHANCE = {"auroc": 0.5, "error_detection_auroc": 0.5}
TERMS = (
    ("PU", "Total uncertainty: entropy of the mean probability."),
    ("AU", "Aleatoric uncertainty: mean entropy of the members, the part that all share."),
    ("EU", "Epistemic uncertainty: PU less AU, what the members disagree about."),
    ("Own", "A score that a method makes itself, such as its predicted loss."),
    ("AUAC", "Mean accuracy on what is left as the least sure are left to a reader."),
    ("AURC", "The same of errors; E-AURC is what is more than the best order would leave."),
    ("ECE, MCE", "Mean and largest gap between probability and frequency over bins."),
    (
        "Best group",
        "Methods than which no other is surely better, all pairs in all tasks at once.",
    ),
    ("Null", "The correlation that noise of one size on every logit would give."),
)
NOTHING = "No task can be judged with these labels"


def uncertainty_report(source: Path | Sequence[Path], scoring: Scoring | None = None) -> Report:
    """The report on saved predictions: a benchmark's folder, or files with the labels last."""
    how = scoring or Scoring()
    files = find_files(source) if isinstance(source, Path) else source
    study = read_study(files, decomposition=how.decomposition, image=how.image)
    return evaluation_report(evaluate_study(study, how))


def evaluation_report(result: UncertaintyEvaluation) -> Report:
    """Everything an evaluation of uncertainty says."""
    study, how = result.study, result.scoring
    methods = tuple(dict.fromkeys(run.method for run in study.runs))
    findings = (
        _standings(result),
        *_task_findings(result),
        *parts_findings(result.tasks, result.parts),
        *correlation_findings(result.tasks, result.correlations),
        *curve_findings(result, _ends(result)),
        *corruption_findings(study.corruptions),
        *cost_findings(study),
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
            ("Intervals", f"{exact_percent(how.level)}, over {_population(result)}"),
            ("Images resampled by", "patient" if patients is not None else "image"),
            ("Image-level score", f"{how.image} over labels"),
            ("Decomposition", how.decomposition.replace("_", " ")),
            ("Bins", "15, equally " + ("wide" if how.binning == "width" else "full")),
            ("Seed of the null", str(how.seed)),
        ),
        notices=result.notices,
        methods=(
            "Uncertainty was decomposed into total, aleatoric and epistemic parts in nats "
            "[@depeweg2018] and judged on six tasks [@baur2025]; abstention by the area under "
            "the accuracy-coverage curve and by (excess) AURC [@geifman2019; @traub2024], "
            "calibration by ECE and MCE over 15 bins [@guo2017]. Image-level scores are the "
            f"{how.image} over labels. {_choice_sentence(result)}.",
        ),
        references=("baur2025", "depeweg2018", "geifman2019", "traub2024", "guo2017"),
    ).with_families()


def _choice_sentence(result: UncertaintyEvaluation) -> str:
    """How the score that a method is judged by was found, task by task."""
    tasks = [task for task in result.tasks if task.key in dict.fromkeys(
             key for _, key, _ in result.chosen)]  # fmt: skip
    fixed = [str(task.number) for task in tasks if task.key in result.preset]
    if len(fixed) == len(tasks):
        return "Every method is judged by PU, fixed beforehand"
    sentence = "A method is judged by the score that was best on validation images"
    if fixed:
        noun = "task" if len(fixed) == 1 else "tasks"
        sentence += (
            f", by PU, fixed beforehand, where these said nothing ({noun} {joined(fixed)})"
        )
    return sentence


def _population(result: UncertaintyEvaluation) -> str:
    several = any(len(runs) > 1 for _, _, runs in result.study.competitors())
    units = "patients" if result.study.labels["test"].groups is not None else "images"
    return f"{units} and seeds like these" if several else f"{units} like these"


# ---- what to use -----------------------------------------------------------------------------


def _judged_rows(
    result: UncertaintyEvaluation, task: UncertaintyTask
) -> dict[str, list[TaskRow]]:
    """A task's headline metric, of the scores that methods are judged by; best first.

    By architecture, of those on which the task can be judged.
    """
    sign = -1 if task.metric.better == "higher" else 1
    judged = [
        row
        for row in result.table()
        if (row.task, row.metric) == (task.key, task.metrics[0])
        and row.chosen
        and not math.isnan(row.value)
    ]
    judged.sort(key=lambda row: sign * row.value)
    by_architecture = {
        a: [row for row in judged if row.architecture == a] for a in result.study.architectures
    }
    return {architecture: rows for architecture, rows in by_architecture.items() if rows}


def _ends(result: UncertaintyEvaluation) -> Ends:
    """The first and the last method of every task and architecture."""
    return {
        (task.key, architecture): tuple(dict.fromkeys([rows[0].method, rows[-1].method]))
        for task in result.tasks
        for architecture, rows in _judged_rows(result, task).items()
    }


def _recommendations(result: UncertaintyEvaluation) -> list[str]:
    """What to use for what, a sentence per task and architecture."""
    return [
        _advice(task, rows, architecture)
        for task in result.tasks
        for architecture, rows in _judged_rows(result, task).items()
    ]


def _advice(task: UncertaintyTask, rows: Sequence[TaskRow], architecture: str) -> str:
    """Who is first, who is not shown to be worse, and whether that beats chance."""
    lead, peers = rows[0], [row.method for row in rows[1:] if row.best]
    where = f" ({architecture})" if architecture else ""
    title, name = named(lead.metric).title, _method_and_score(lead)
    value = f"{title} {estimate(lead.value, lead.low, lead.high)}"
    if not _beats_chance(rows):
        who = "it" if len(rows) == 1 else "any method"
        clause = f"{name}{'' if len(rows) == 1 else ' is first'}, {value}"
        clause += f"; not shown that {who} does better than chance"
    elif len(rows) == 1:
        clause = f"{name}, {value}"
    elif len(peers) == len(rows) - 1:
        clause = f"no method is shown to be worse than another; first is {name}, {value}"
    elif peers:
        clause = f"{name} is first, {value}"
        clause += f"; not shown to be worse: {joined(peers, most=MOST)}"
    else:
        clause = f"{name} is first, {value}, alone in the best group"
    return f"{capital(task.title)}{where}: {clause}."


def _beats_chance(rows: Sequence[TaskRow]) -> bool:
    """Whether some method is surely better than chance, where there is such a thing."""
    chance = CHANCE.get(rows[0].metric)
    return chance is None or any(row.low > chance for row in rows)


def _tells_apart(rows: Sequence[TaskRow]) -> bool:
    """Whether a task tells methods apart: one beats chance, and one is surely behind."""
    return bool(rows) and _beats_chance(rows) and not all(row.best for row in rows)


def _method_and_score(row: TaskRow) -> str:
    return f"{row.method} by {row.score}" if row.score else row.method


def _card(result: UncertaintyEvaluation) -> Card:
    """Who is first where tasks tell methods apart, and what EU and AU mean."""
    single = len({run.method for run in result.study.runs}) < 2
    if single:
        answer = [*_recommendations(result), f"{NOTHING}."][0]
    else:
        sentences = [
            _leaders(result, architecture) for architecture in result.study.architectures
        ]
        answer = f"{'; '.join(dict.fromkeys(sentences))}."
    return Card(
        answer=answer,
        lede=parts_sentence(result.parts) or correlation_sentence(result.correlations),
        holds_for=f"{_population(result)}, with labels taken as the truth",
        settled_by="" if single else _settled_by(result),
        caveat=_caveat(result),
        claims=tuple(_claims(result)),
    )


def _claims(result: UncertaintyEvaluation) -> Iterator[Claim]:
    """What is claimed of every method on every task, all pairs in all tasks at once."""
    claims = [
        claim.about(f"{task.title} {architecture}".strip())
        for task, architecture in product(result.tasks, result.study.architectures)
        if (judged := result.judged(task, architecture)) is not None
        for claim in judged.claims(task.metrics[0])
    ]
    family = ClaimFamily("all pairs of methods in all tasks", len(claims))
    for claim in claims:
        yield replace(claim, family=family)


def _leaders(result: UncertaintyEvaluation, architecture: str) -> str:
    """Who is in the best group of every task that tells methods apart; names as they are."""
    by_task = [_judged_rows(result, task).get(architecture, []) for task in result.tasks]
    total = sum(bool(rows) for rows in by_task)
    if not total:
        return NOTHING
    where = f"{architecture}: " if architecture else ""
    telling = [rows for rows in by_task if _tells_apart(rows)]
    if not telling:
        return f"{where}{'no' if where else 'No'} task of {total} tells the methods apart"
    groups = [{row.method for row in rows if row.best} for rows in telling]
    lead = [row.method for row in telling[0] if all(row.method in group for group in groups)]
    names = joined(lead, most=MOST) if lead else "no method" if where else "No method"
    number = len(telling)
    which = {1: "the one task", 2: "both tasks"}.get(number, f"all {number} tasks")
    return (
        f"{where}{names} {'are' if len(lead) > 1 else 'is'} in the best group of {which} "
        f"(of {total}) that {'tell' if number > 1 else 'tells'} methods apart"
    )


def _settled_by(result: UncertaintyEvaluation) -> str:
    """More of what the pairs that are not told apart vary most over: patients or seeds."""
    units = "patients" if result.study.labels["test"].groups is not None else "images"
    shares, several = [], False
    for architecture in result.study.architectures:
        for task in result.tasks:
            judged = result.judged(task, architecture)
            if judged is None:
                continue
            cell = judged.two_way(task.metrics[0])
            several |= cell.seeds is not None
            shares += _seed_shares(cell, judged.family(task.metrics[0]).best.tolist())
    if not shares:
        return ""
    share = float(np.mean(shares))
    what = "seeds" if share > 0.5 else units
    clause = f"more {what}"
    if several:
        part = percent(max(share, 1 - share))
        clause += f", which make {part} of the variance between methods in the best groups"
    return f"{clause}; all pairs of methods in all tasks hold together (max-t)"


def _seed_shares(cell: TwoWay, best: Sequence[bool]) -> list[float]:
    """What seeds make of the variance of every difference within the best group."""
    inside = [place for place, is_best in enumerate(best) if is_best]
    shares = []
    for a, b in combinations(inside, 2):
        spread = cell.between(a, b)
        whole = spread.items + spread.seeds
        if whole > 0:  # also leaves out what is undefined
            shares.append(spread.seeds / whole)
    return shares


def _caveat(result: UncertaintyEvaluation) -> str:
    members = {run.parts["test"].members for run in result.study.runs} - {0, 1}
    if len(members) > 1:
        low, high = min(members), max(members)
        return (
            f"Methods have {low} to {high} members; fewer see less of the epistemic part "
            "(about 1/M of it is missing)."
        )
    if all(len(runs) == 1 for _, _, runs in result.study.competitors()):
        return "One seed of each method: what other seeds would change is in no interval."
    return ""


# ---- the six tasks ---------------------------------------------------------------------------


def _standings(result: UncertaintyEvaluation) -> Finding:
    charts = []
    judged = dict.fromkeys(architecture for architecture, _ in result.contests)
    for architecture in judged:
        first = architecture == result.study.architectures[0]
        name = "standings" if first else f"standings-{architecture}"
        charts.append(_board(result, architecture, name))
    return Finding(
        key="standings",
        title="What is each method's uncertainty good for?",
        sentence="",
        charts=tuple(charts),
        note=f"{_choice_sentence(result)}; the best on test images would favour methods with "
        "more scores.",
        nav="Six tasks",
    )


def _board(result: UncertaintyEvaluation, architecture: str, name: str) -> Standings:
    """Methods by tasks, coloured by best group; those most often in it on top."""
    by_task = [
        (task, {row.method: row for row in rows[architecture]})
        for task in result.tasks
        if architecture in (rows := _judged_rows(result, task))
    ]
    methods = list(result.study.methods(architecture))
    telling = [list(rows.values()) for _, rows in by_task if _tells_apart(list(rows.values()))]
    inside = Counter(row.method for rows in telling for row in rows if row.best)
    methods.sort(key=lambda method: -inside[method])
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
        bold="best",
    )


def _direction(task: UncertaintyTask) -> str:
    return "high" if task.metric.better == "higher" else "low"


def _standing(task: UncertaintyTask, rows: Mapping[str, TaskRow], method: str) -> Standing:
    if method not in rows:
        return Standing(math.nan, inside=True, judged=False)
    row = rows[method]
    ends = [other.value for other in rows.values()]
    top = max(ends) if task.metric.better == "higher" else min(ends)
    return Standing(row.value, inside=row.best, best=row.value == top, judged=len(rows) > 1)


def _typical(rows: Iterable[TaskRow]) -> float:
    halves = [(row.high - row.low) / 2 for row in rows if math.isfinite(row.high - row.low)]
    return float(np.median(halves)) if halves else math.nan


def _task_findings(result: UncertaintyEvaluation) -> Iterable[Finding]:
    """One finding per task, of which the reader chooses one."""
    for task in result.tasks:
        judged = _judged_rows(result, task)
        if not judged:
            continue
        of_task = [row for row in result.table() if row.task == task.key]
        title = task.metric.title
        chart = Dots(
            name=task.key,
            caption=f"{title} by method{{}}; {_direction(task)} is better",
            axis=title,
            rows=(),
            reference=CHANCE.get(task.metrics[0]),
        )
        yield Finding(
            key="tasks",
            title="Task by task",
            sentence=" ".join(
                _advice(task, rows, architecture) for architecture, rows in judged.items()
            ),
            charts=by_architecture(
                chart,
                [row for rows in judged.values() for row in rows],
                lambda _, rows: {"rows": _score_dots(rows)},
            ),
            tables=(
                _score_table(f"task-{task.key}", f"Task {task.number}, all scores", of_task),
            ),
            note=f"{task.asks} {_task_note(of_task)}",
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


def _score_dots(rows: Sequence[TaskRow]) -> list[Dot]:
    return [
        Dot(row.method, row.value, row.low, row.high, model=row.method,
            remark=f"{row.score} {number(row.value)}".strip(),
            hollow=not row.best and len(rows) > 1)
        for row in rows
    ]  # fmt: skip


def _score_table(name: str, caption: str, rows: Sequence[TaskRow]) -> Table:
    words = {row.metric: named(row.metric).title for row in rows}
    words |= {metric: f"{words[metric]} (steps)" for metric in words if "steps" in metric}
    return Table(
        name=name,
        caption=caption,
        columns=(
            Column("task", "task"),
            *WHO,
            Column("score", "score"),
            Column("metric", "metric", words=words),
            Column("value", "value", "number", ("low", "high")),
            Column("chosen", "judged by"),
            Column("best", "best group"),
        ),
        rows=[{**row._asdict(), "best": row.best if row.chosen else ""} for row in rows],
        brief=(),
        download=True,
    )

"""Verdict: who leads, how sure that is, what would overturn it, and the leaderboard.

The question is the last task that has a value (the average, where there are several), the first
metric and the labels asked for. Models that share the best value lead together. Everything is
read from the study's evaluation, so that a study says what `evaluate` says: intervals are
two-way t, each of one number by itself; ranks, and who is separated from whom, hold for all
pairs of models at once. Without such a separation a model "scores higher"; with it, it "is
better", for the population that the data speak for.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from equipoise.analyses.study import Study
from equipoise.analyses.words import (
    QUESTION,
    RESAMPLED,
    level_text,
    score_title,
    with_titles,
)
from equipoise.arrays import short_repr
from equipoise.evaluation import Evaluation
from equipoise.evaluation import Row as Score
from equipoise.evaluation.result import Difference
from equipoise.findings import Cell, Column, Finding, Table
from equipoise.inference import Population
from equipoise.metrics import Metric, titled
from equipoise.numbers import change, count, estimate, number, resample_share
from equipoise.ranks import higher_is_better
from equipoise.wording import capital, joined

TITLE = "In short"
NAMED = 3  # models that a sentence names
SOURCES = {
    "items": "which items were chosen",
    "annotators": "who the annotators are",
    "votes": "how annotators happened to vote",
}
MOVES = dict.fromkeys(("items", "groups", "votes"), "leaving out")
BEST_IN = Column("p_best", "best in (share of resamples)", "resample_share")
SCORE_COLUMNS = (
    *QUESTION,
    Column("model", "model", "model"),
    Column("value", "value", "number", ("low", "high")),
    Column("rank", "rank", "rank", ("rank_low", "rank_high")),
    BEST_IN,
)


class _Question(TypedDict):
    """Which labels and task are looked at."""

    labels: str
    task: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lead:
    """Who is first in the question that a page puts in front, and by how much.

    Attributes
    ----------
    task, metric, labels, level
        The question, and the level of the intervals.
    kind, population
        What was resampled for shares, and whom intervals and separations speak for.
    scores
        One score per model, with the ranks that the data allow.
    leaders, others
        Models that share the best value, and the others from the best to the worst.
    gap
        The first leader minus the first other; None where there is none.
    separated
        Others than which every leader is surely better, all pairs of models at once.
    """

    task: str
    metric: Metric
    labels: str
    level: float
    kind: str
    population: Population
    scores: tuple[Score, ...]
    leaders: tuple[str, ...]
    others: tuple[str, ...]
    gap: Difference | None
    separated: tuple[str, ...]

    __repr__ = short_repr

    def rows(self) -> list[dict[str, Any]]:
        """One row per model, the best first."""
        order = [*self.leaders, *self.others]
        place = {name: position for position, name in enumerate(order)}
        every = [score._asdict() for score in self.scores]
        return sorted(every, key=lambda row: place.get(row["model"], len(order)))

    @property
    def _what(self) -> str:
        return score_title(self.metric.name, self.labels, self.task)

    @property
    def finding(self) -> str:
        """Who leads, and by how much."""
        leaders, others, what = self.leaders, self.others, self._what
        scores = {score.model: score for score in self.scores}
        if not leaders:
            some = "a finite value" if others else "a value"
            return f"No model has {some} of {what}, so there is no order to judge."
        best = scores[leaders[0]]
        first = estimate(best.value, best.low, best.high)
        if len(scores) == 1:
            return f"{leaders[0]}: {what} {first}. There is no other model to compare it to."
        every = len(leaders) == len(scores)
        whole = "Both models" if len(leaders) == 2 else f"All {len(leaders)} models"
        names = whole if every else joined(leaders, most=NAMED)
        missing = len(scores) - len(leaders) - len(others)
        none = f" {count(missing, 'model')} without a value." if missing and others else ""
        return f"{names} {self._verb()} by {what}: {first}.{self._ahead()}{none}"

    def _verb(self) -> str:
        """What may be said of the first: it is better only where that is sure."""
        several = len(self.leaders) > 1
        if several:
            return "share the first place"
        if not self.others:
            return "is the only model with a value"
        if len(self.separated) == len(self.others):
            rest = self.others[0] if len(self.others) == 1 else "every other model"
            return f"is better than {rest}, for {self.population.whom},"
        top = "higher" if self.metric.better == "higher" else "better"
        if len(self.others) == 1:
            return f"scores {top} than {self.others[0]}"
        return f"scores {'highest' if top == 'higher' else 'best'}"

    def _ahead(self) -> str:
        """How far the next model is behind, and whether that is more than chance."""
        if self.gap is None or not math.isfinite(self.gap.value):
            return ""
        sign = 1 if self.metric.better == "higher" else -1
        low, high = sorted((sign * self.gap.low, sign * self.gap.high))
        who = "They are" if len(self.leaders) > 1 else "It is"
        text = f" {who} {number(sign * self.gap.value)} ahead of {self.others[0]}"
        if math.isnan(low + high):
            return f"{text}; the interval of that cannot be computed."
        ends = f"{level_text(self.level)} interval {change(low)} to {change(high)}"
        if not self.population.decides:
            return (
                f"{text} ({ends}, for these annotators); annotators are too few for a verdict "
                "on annotators like these."
            )
        if self.others[0] in self.separated:
            return f"{text} ({ends})."
        alone = (
            "apart as a single pair, but not among all pairs" if low > 0 else "not separated"
        )
        return f"{text} ({ends}): {alone}, for {self.population.whom}."

    def sure(self) -> str:
        """How often the leader is best, and than whom it is better."""
        best = {one.model: one.p_best for one in self.scores if math.isfinite(one.p_best)}
        if len(best) < 2 or not self.leaders:
            return ""
        first = self.leaders[0]
        second = max((name for name in best if name != first), key=lambda name: best[name])
        text = (
            f"{first} is best in {resample_share(best[first])} of the resamples of "
            f"{RESAMPLED[self.kind]}, {second} in {resample_share(best[second])}."
        )
        if 0 < len(self.separated) < len(self.others):
            are = "They are" if len(self.leaders) > 1 else "It is"
            text += (
                f" {are} better than {count(len(self.separated))} of the "
                f"{count(len(self.others), 'other')}, for {self.population.whom}, all pairs "
                "at once."
            )
        return text

    def board(self) -> Table:
        """The leaderboard: value, possible ranks and share of resamples in which it is best."""
        columns = (
            Column("model", "model", "model"),
            Column("value", titled(self.metric.name, self.labels), "number", ("low", "high")),
            Column("rank", "rank, possible", "rank", ("rank_low", "rank_high")),
            BEST_IN,
        )
        several = len(self.scores) > 1
        ranks = (
            "; possible ranks of all models at once; shares of resamples of "
            f"{RESAMPLED[self.kind]}"
        )
        return Table(
            name="leaderboard",
            caption=f"{capital(self._what)}, {self.metric.better} is better; "
            f"{level_text(self.level)} intervals of single values, for {self.population.whom}"
            f"{ranks if several else ''}",
            columns=columns if several else columns[:2],
            rows=self.rows(),
            open=True,
        )


def find_lead(study: Study) -> Lead:
    """The leaderboard in front of a study, its leaders, and their lead over the next."""
    return lead_of(study.evaluation, study.options.labels)


def lead_of(done: Evaluation, labels: str) -> Lead:
    """The leaderboard in front of an evaluation, its leaders, and their lead over the next."""
    metric = done.metrics[0]
    every = [score for score in done.table() if score.labels == labels]
    scores = [score for score in every if score.metric == metric.name]
    tasks = [score.task for score in scores if not math.isnan(score.value)]
    task = done.tasks[-1] if not tasks or done.tasks[-1] in tasks else tasks[-1]
    own = tuple(score for score in scores if score.task == task)
    question: _Question = {"labels": labels, "task": task}
    gaps = {gap.b: gap for gap in done.to_best(metric.name, **question)}
    leaders, others = _order(own, metric.better)
    better = done.family(metric.name, **question).better
    place = {name: position for position, name in enumerate(done.models)}
    first = [place[name] for name in leaders]
    return Lead(
        task=task,
        metric=metric,
        labels=labels,
        level=done.level,
        kind=done.plan.kind,
        population=done.two_way(metric.name, **question).population,
        scores=own,
        leaders=leaders,
        others=others,
        gap=gaps.get(others[0]) if leaders and others else None,
        separated=tuple(n for n in others if first and better[first, place[n]].all()),
    )


def verdict(study: Study, lead: Lead, findings: Mapping[str, Finding]) -> Finding:
    """The verdict in a sentence or two, its grounds, and the leaderboard.

    Parameters
    ----------
    findings
        What the analyses found, by name; those of flips and components are grounds.
    """
    grounds = [lead.sure()]
    if lead.leaders and lead.others:
        grounds += [
            _overturned(_rows(findings, "flips"), lead.task),
            _hangs_on(_rows(findings, "components"), lead),
        ]
    tables = [lead.board()]
    if len(study.evaluation.tasks) * len(study.evaluation.metrics) > 1:
        tables.append(_best_everywhere(study))
    every = "Every model by task, metric and labels; intervals of single values"
    tables.append(scores_table(every, study.evaluation))
    return Finding(
        key="verdict",
        title=TITLE,
        sentence=lead.finding,
        more=tuple(text for text in grounds if text),
        tables=tuple(tables),
    )


def scores_table(caption: str, evaluation: Evaluation) -> Table:
    """All values of an evaluation, for files and the page."""
    columns = with_titles(SCORE_COLUMNS, [metric.name for metric in evaluation.metrics])
    rows = [score._asdict() for score in evaluation.table()]
    return Table(name="values", caption=caption, columns=columns, rows=rows, brief=())


def _rows(findings: Mapping[str, Finding], name: str) -> Sequence[Mapping[str, Any]]:
    """Rows of an analysis, as its result has them; none where it was not done."""
    tables = findings[name].tables if name in findings else ()
    return next((table.rows for table in tables if table.name == name), ())


def _overturned(every: Sequence[Mapping[str, Any]], task: str) -> str:
    """Which smallest set of items or votes changes who is first; rows are those of flips."""
    rows = [row for row in every if not row["idle"]]
    here = [row for row in rows if row["task"] == task]
    known = [row for row in here or rows if row["size"]]
    if not rows:
        return ""
    if not known:
        most = max(int(row["tried_up_to"]) for row in rows)
        return f"No set of up to {most} items or votes was found that puts another model first."
    row = min(known, key=lambda row: (row["size"], row["share"]))
    where = "" if here or not row["task"] else f"in {row['task']}, "
    bound = "" if row["exact"] else "at most "
    noun = {"items": "item", "groups": "group of items"}.get(row["unit"], "vote")
    return capital(
        f"{where}{MOVES.get(row['unit'], 'changing')} {bound}{count(row['size'])} of "
        f"{count(row['number'], noun)} puts {row['b']} ahead of {row['a']}."
    )


def _hangs_on(rows: Sequence[Mapping[str, Any]], lead: Lead) -> str:
    """Which source moves the difference of the two best models most; rows of components."""
    models = {score.model for score in lead.scores}
    here = [r for r in rows if r["task"] == lead.task and math.isfinite(r["variance"])]
    pairs = [r for r in here if r["result"] not in models and r["source"] in SOURCES]
    most = max(pairs, key=lambda row: row["variance"], default=None)
    if most is None or not most["variance"] > 0:
        return ""
    reaching = [row for row in pairs if row is most or not row["high"] < most["low"]]
    names = joined([SOURCES[row["source"]] for row in reaching])
    overlap = " (their intervals overlap)" if len(reaching) > 1 else ""
    return f"It hangs most on {names}{overlap}."


def _best_everywhere(study: Study) -> Table:
    """Who leads in every task and by every metric."""
    labels, rows = study.options.labels, []
    cells: dict[tuple[str, str], list[Score]] = {}
    for score in study.evaluation.table():
        if score.labels == labels:
            cells.setdefault((score.task, score.metric), []).append(score)
    better = {metric.name: metric.better for metric in study.evaluation.metrics}
    for (task, metric), scores in cells.items():
        leaders, _ = _order(scores, better[metric])
        best = next((score._asdict() for score in scores if score.model in leaders[:1]), {})
        row: dict[str, Cell] = {
            "task": task,
            "metric": titled(metric, *[labels] * bool(leaders)),
        }
        row["best"] = leaders or ("undefined",)
        keys = ("value", "low", "high", "p_best")
        rows.append(row | {key: best.get(key, math.nan) for key in keys})
    return Table(
        name="best_by_task",
        caption=f"Best model by task and metric, {labels} labels",
        columns=(
            *QUESTION[:2],
            Column("best", "best", "names"),
            Column("value", "value", "number", ("low", "high")),
            BEST_IN,
        ),
        rows=rows,
        brief=(),
        file=False,
    )


def _order(scores: Sequence[Score], better: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Models that share the best value, and the others from the best to the worst.

    A model without a value is among neither, and nobody leads where all are infinitely bad.
    """
    known = [score for score in scores if not math.isnan(score.value)]
    good = higher_is_better(
        np.array([score.value for score in known], dtype=np.float64), better
    )
    order = np.argsort(-good, kind="stable")
    best = good.max() if len(good) and good.max() > -math.inf else math.nan
    leaders = tuple(known[m].model for m in order if good[m] == best)
    return leaders, tuple(known[m].model for m in order if good[m] != best)

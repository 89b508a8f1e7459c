r"""Verdict: who leads, how sure that is, what would overturn it, and the leaderboard.

The question is the last task that has a value (the average, where there are several), the first
metric and the labels asked for. Models that share the best value lead together. Intervals,
ranks and probabilities speak for other items, and for other annotators where these have names;
votes that are anonymous are drawn with their items.

Replicates that draw items and annotators together vary too much: resampled items bring the
noise of their votes along, and resampled annotators bring it once more. Their spread around
their mean is therefore made that of the parts,

.. math:: V = V_{\text{items}} + V_{\text{panel}} - V_{\text{votes}},

no less than either of the first two. What moves all models together (their mean) and what
moves them apart (the differences to it) have a factor each, so that duplicates stay duplicates
and differences, ranks and probabilities follow from the same replicates. Where the parts are
unknown, replicates stay as drawn, on the wide side.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.analyses.options import ResamplingOptions
from equipoise.analyses.resampling import WIDE, evaluate_resampled, possible_kinds, voting
from equipoise.analyses.study import Study
from equipoise.analyses.words import (
    QUESTION,
    RESAMPLED,
    as_notices,
    level_text,
    score_title,
    with_titles,
)
from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats, InputError
from equipoise.evaluation import Evaluation
from equipoise.evaluation import Row as Score
from equipoise.evaluation.result import Difference, widened
from equipoise.findings import Cell, Column, Finding, Table
from equipoise.metrics import Metric, titled
from equipoise.notices import Notice
from equipoise.numbers import change, count, estimate, number, resample_share
from equipoise.predictions import Predictions
from equipoise.ranks import higher_is_better
from equipoise.wording import capital, joined

TITLE = "In short"
KIND = "items x panel"
PARTS = ("items", "panel", "votes")
NAMED = 3  # models that a sentence names
SOURCES = {
    "items": "which items were chosen",
    "annotators": "who the annotators are",
    "votes": "how annotators happened to vote",
}
MOVES = dict.fromkeys(("items", "groups", "votes"), "leaving out")
SCORE_COLUMNS = (
    *QUESTION,
    Column("model", "model", "model"),
    Column("value", "value", "number", ("low", "high")),
    Column("rank", "rank", "rank"),
    Column("p_best", "share of resamples", "resample_share"),
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lead:
    """Who is first in the question that a page puts in front, and by how much.

    Attributes
    ----------
    task, metric, labels, level
        The question, and the level of the intervals.
    kind, wide
        What was resampled, and whether that errs on the wide side.
    scores, rank_ends
        One score per model, and the ranks that hold it with the probability of the level.
    leaders, others
        Models that share the best value, and the others from the best to the worst.
    gap
        The first leader minus the first other; None where there is none.
    separated
        Others whose difference to the first leader has an interval without zero.
    notices
        What the user should know.
    """

    task: str
    metric: Metric
    labels: str
    level: float
    kind: str
    wide: bool
    scores: tuple[Score, ...]
    rank_ends: tuple[tuple[float, float], ...]
    leaders: tuple[str, ...]
    others: tuple[str, ...]
    gap: Difference | None
    separated: tuple[str, ...]
    notices: tuple[Notice, ...] = ()

    @property
    def spread(self) -> str:
        """How the noise of votes counts where items and annotators are drawn together."""
        if self.kind != KIND:
            return ""
        return "erring on the wide side" if self.wide else "the noise of votes counted once"

    def rows(self) -> list[dict[str, Any]]:
        """One row per model, the best first."""
        order = [*self.leaders, *self.others]
        place = {name: position for position, name in enumerate(order)}
        every = [
            {**score._asdict(), "rank_low": low, "rank_high": high}
            for score, (low, high) in zip(self.scores, self.rank_ends, strict=True)
        ]
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
        verb = "share the first place" if len(leaders) > 1 else "leads"
        if not others and len(leaders) == 1:
            verb = "is the only model with a value"
        missing = len(scores) - len(leaders) - len(others)
        none = f" {count(missing, 'model')} without a value." if missing and others else ""
        return f"{names} {verb} by {what}: {first}.{self._ahead()}{none}"

    def _ahead(self) -> str:
        """How far the next model is behind, and whether other items could turn that round."""
        if self.gap is None or not math.isfinite(self.gap.value):
            return ""
        sign = 1 if self.metric.better == "higher" else -1
        low, high = sorted((sign * self.gap.low, sign * self.gap.high))
        who = "They are" if len(self.leaders) > 1 else "It is"
        text = f" {who} {number(sign * self.gap.value)} ahead of {self.others[0]}"
        if math.isnan(low + high):
            return f"{text}; too few resamples can be scored for an interval."
        ends = f"interval {change(low)} to {change(high)} with other {RESAMPLED[self.kind]}"
        noise = "" if low > 0 else ", which may be chance"
        return f"{text}{noise} ({level_text(self.level)} {ends})."

    def sure(self) -> str:
        """How often the leader stays best, and who else may be."""
        best = {one.model: one.p_best for one in self.scores if math.isfinite(one.p_best)}
        if len(best) < 2 or not self.leaders:
            return ""
        first = self.leaders[0]
        second = max((name for name in best if name != first), key=lambda name: best[name])
        drawn = RESAMPLED[self.kind]
        scored = next(score for score in self.scores if score.model == first)
        some = "" if math.isfinite(scored.low) else " that can be scored"
        most, next_most = resample_share(best[first]), resample_share(best[second])
        text = f"{first} is best in {most} of the resamples of {drawn}{some}"
        text += f", {second} in {next_most}."
        if self.separated and len(self.leaders) == 1:
            text += (
                f" With other {drawn} its lead over {count(len(self.separated))} of the "
                f"{count(len(self.others), 'other')} is clear, each taken by itself."
            )
        return text

    def board(self) -> Table:
        """The leaderboard: value, rank and probability to be best."""
        columns = (
            Column("model", "model", "model"),
            Column("value", titled(self.metric.name, self.labels), "number", ("low", "high")),
            Column("rank", "rank", "rank", ("rank_low", "rank_high")),
            Column("p_best", "share of resamples", "resample_share"),
        )
        spread = f", {self.spread}" if self.spread else ""
        return Table(
            name="leaderboard",
            caption=f"{capital(self._what)}, {self.metric.better} is better; "
            f"{level_text(self.level)} intervals, {RESAMPLED[self.kind]} resampled{spread}",
            columns=columns if len(self.scores) > 1 else columns[:2],
            rows=self.rows(),
            open=True,
        )


def find_lead(study: Study) -> Lead:
    """The leaderboard in front, its leaders, and their lead over the next."""
    asked = study.options
    options = ResamplingOptions(**study.resampled | {"progress": None})
    given = study.predictions, study.annotations
    done, wide, notices = two_way_bootstrap(*given, asked.metrics[:1], options)
    metric, labels = done.metrics[0], asked.labels
    scores = [score for score in done.table() if score.labels == labels]
    tasks = [score.task for score in scores if not math.isnan(score.value)]
    task = done.tasks[-1] if not tasks or done.tasks[-1] in tasks else tasks[-1]
    own = tuple(score for score in scores if score.task == task)
    shares = done.rank_probabilities(metric.name, labels=labels, task=task)
    gaps = {gap.b: gap for gap in done.to_best(metric.name, labels=labels, task=task)}
    apart = [name for name, gap in gaps.items() if gap.low > 0 or gap.high < 0]
    leaders, others = _order(own, metric.better)
    tails = (1 - done.level) / 2, (1 + done.level) / 2
    return Lead(
        task=task,
        metric=metric,
        labels=labels,
        level=done.level,
        kind=done.plan.kind,
        wide=wide,
        scores=own,
        rank_ends=tuple((_rank_end(one, tails[0]), _rank_end(one, tails[1])) for one in shares),
        leaders=leaders,
        others=others,
        gap=gaps.get(others[0]) if leaders and others else None,
        separated=tuple(name for name in others if name in apart),
        notices=notices,
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
    every = "Every model by task, metric and labels; items resampled"
    tables.append(scores_table(every, study.evaluation))
    return Finding(
        key="verdict",
        title=TITLE,
        sentence=lead.finding,
        more=tuple(text for text in grounds if text),
        tables=tuple(tables),
        notices=lead.notices,
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
            Column("p_best", "share of resamples of items", "resample_share"),
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


def _rank_end(shares: Floats, probability: float) -> float:
    """The rank that a model holds or betters with a probability; nan where undefined.

    Examples
    --------
    >>> _rank_end(np.array([0.5, 0.48, 0.02]), 0.975), _rank_end(np.array([np.nan]), 0.5)
    (2.0, nan)
    """
    if np.isnan(shares).any():
        return math.nan
    return float(np.searchsorted(np.cumsum(shares), probability - 1e-9) + 1)


class TwoWay(NamedTuple):
    """An evaluation that speaks for other items and annotators; `wide` where it errs so."""

    evaluation: Evaluation
    wide: bool
    notices: tuple[Notice, ...]


def two_way_bootstrap(
    predictions: Sequence[Predictions],
    annotations: Annotations,
    metrics: Sequence[str | Metric],
    options: ResamplingOptions,
) -> TwoWay:
    """The evaluation that speaks for other items, and for other annotators who have names.

    Votes that are anonymous are items' own: then items alone are drawn, with their votes.
    """
    truth, aside = voting(predictions, annotations, options.settings.on_missing)
    plans, _ = possible_kinds(truth, None)
    kind = next((kind for kind in (KIND, "items") if kind in plans), "")
    if not kind:
        got, do = (
            "items that cannot be resampled",
            "leave the group column out, or give more data",
        )
        raise InputError("stability", got, "at least two groups of items", do)
    kinds = [kind, *(part for part in PARTS if kind == KIND and part in plans)]
    done = {
        kind: evaluate_resampled(
            predictions, truth, metrics=metrics, kind=kind, options=options
        )
        for kind in kinds
    }
    joint, exact = done[kind], set(PARTS) <= set(done)
    wide = kind == KIND and not exact
    notices = as_notices(aside, [WIDE] if wide else [], joint.notices)
    if not exact:
        return TwoWay(joint, wide, notices)
    drawn = {kind: evaluation.replicates for kind, evaluation in done.items()}
    replicates = np.empty_like(joint.replicates)
    for cell in np.ndindex(joint.values.shape[:-1]):
        own = {kind: each[cell] for kind, each in drawn.items()}
        replicates[cell] = _rescaled(own, np.isfinite(joint.values[cell]))
    return TwoWay(replace(joint, replicates=replicates), wide, notices)


def _rescaled(drawn: Mapping[str, Floats], known: Bools) -> Floats:
    """Joint replicates of all models, (models, replicates), with the variance of the parts.

    Parameters
    ----------
    drawn
        Replicates by kind: of ``items x panel``, items, panel and votes.
    known
        Which models have a finite value, shape (models,); others stay as they are.
    """
    found = np.array(drawn[KIND])
    fine = np.isfinite(found[known]).all(axis=0)
    if not known.any() or not fine.any():
        return found
    halves = {}
    for kind, each in drawn.items():
        own = each[known]
        halves[kind] = _halves(own[:, np.isfinite(own).all(axis=0)])
    moved = [widened(half, _factor(halves, n)) for n, half in enumerate(halves[KIND])]
    found[np.ix_(known, fine)] = moved[0] + moved[1]
    return found


def _halves(each: Floats) -> tuple[Floats, Floats]:
    """What moves all models together, and what moves them apart."""
    together = each.mean(axis=0, keepdims=True)
    return together, each - together


def _factor(halves: Mapping[str, tuple[Floats, Floats]], half: int) -> float:
    """Factor of one half; 1 where a variance, summed over models, is unknown or 0."""
    spread = dict.fromkeys(halves, math.nan)
    for kind, each in halves.items():
        if each[half].shape[1] > 1:
            spread[kind] = float(each[half].var(axis=1, ddof=1).sum())
    votes, joint = spread["votes"], spread[KIND]
    parts = max(spread["items"], votes) + max(spread["panel"], votes) - votes
    known = np.isfinite(list(spread.values())).all() and joint > 0
    return math.sqrt(parts / joint) if known else 1.0

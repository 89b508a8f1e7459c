"""Methods: what was looked at and how, in the words of a paper, for the report of a study.

Analyses say their own part; here is what they share: the data, the labels, the groups of items
and the intervals.

Two models side by side, paired, in every task, metric and kind of labels, are compared as a
pair that was chosen in advance: among more models, a pair that was picked because it stands out
is judged all pairs at once.
"""

import math
from collections.abc import Sequence
from importlib.metadata import version
from itertools import product
from typing import Any

import numpy as np

from equipoise.inference.spread import Judgement
from equipoise.metrics import Metric, hard_labels_rule
from equipoise.study import LABELS, MACRO, Evaluation
from equipoise.study.analyses.words import (
    QUESTION,
    RESAMPLED,
    as_notices,
    score_title,
    with_titles,
)
from equipoise.study.result import Difference
from equipoise.study.study import Settings, Study
from equipoise.types import (
    EXACT,
    Annotations,
    Column,
    Dot,
    Dots,
    Finding,
    Names,
    Report,
    Table,
    chosen,
    cite,
    count,
    distance,
    exact_percent,
    immutable,
    number,
    p_value,
    short_repr,
)

_OF_VALUES = {
    **dict.fromkeys(("two-way", "mrmc"), ("owen2007", "cameron2011")),
    "per_reader_truth": ("obuchowski1995", "hillis2007"),
}
_OF_PAIRS = ("romano2005", "mogstad2024")


@immutable(kw_only=True)
class DataSummary:
    """How much was looked at: what was scored, and how many items were left out."""

    items: int
    left_out: int
    votes: int
    annotators: int
    groups: int
    scored_groups: int

    @classmethod
    def of(cls, evaluation: Evaluation, annotations: Annotations) -> "DataSummary":
        """Count items, votes, people who are named, and groups."""
        scored = np.unique(
            np.concatenate([question.place for question in evaluation.questions])
        )
        votes = [question.votes for question in evaluation.questions if question.votes]
        people = {
            int(code) for task_votes in votes for code in np.unique(task_votes.annotator)
        } - {-1}
        group = annotations.group
        return cls(
            items=len(scored),
            left_out=len(annotations.items) - len(scored),
            votes=sum(int(task_votes.sizes.sum()) for task_votes in votes),
            annotators=0 if annotations.annotators is None else len(people),
            groups=0 if group is None else len(np.unique(group)),
            scored_groups=0 if group is None else len(np.unique(group[scored])),
        )

    def sentence(self, what: str, tasks: Sequence[str], metrics: Sequence[Metric]) -> str:
        """Begin the methods: what was done on how much data, by which metrics."""
        single = [task for task in tasks if task != MACRO]
        more = f" ({count(self.left_out)} more had no votes or not the scores of every model)"
        people = f" of {count(self.annotators)} annotators" if self.annotators else ""
        titles = [f"{metric.title}{cite(*metric.references)}" for metric in metrics]
        first = "; analyses of a single metric take the first" if len(titles) > 1 else ""
        return (
            f"We {what} on {count(self.items)} items{more * bool(self.left_out)}"
            f"{f' and {len(single)} tasks' * (len(single) > 1)} with {count(self.votes)} votes"
            f"{people}, by {', '.join(titles)}{first}."
        )

    def groups_sentence(self) -> str:
        """Groups are drawn as wholes wherever items are drawn; nothing without groups."""
        if not self.groups:
            return ""
        some = f", {count(self.scored_groups)} of them with scored items"
        return (
            f"Items belong to {count(self.groups)} groups, which were resampled as wholes"
            f"{some * (self.scored_groups < self.groups)}."
        )


def study_report(study: Study) -> Report:
    """What every report of a study begins with: models, settings, notices and sources."""
    settings, evaluation = study.settings, study.evaluation
    references = (key for metric in evaluation.metrics for key in metric.references)
    return Report(
        title="",
        findings=(),
        models=evaluation.models,
        settings=(
            ("Labels", settings.labels),
            ("Resamples", count(study.replicates)),
            ("Level of the intervals", exact_percent(settings.level)),
            ("Seed", str(study.seed)),
        ),
        notices=as_notices(evaluation.notices),
        references=tuple(dict.fromkeys(references)),
    )


def labels_sentence(
    annotations: Annotations, metrics: Sequence[Metric], settings: Settings
) -> str:
    """How labels are made of votes."""
    classes = 1 if annotations.kind == "binary" else len(annotations.classes)
    kinds = [metric.labels for metric in metrics]
    hard = hard_labels_rule(kinds, classes=classes, ties=settings.ties)
    needed = f"Where one kind is needed, it is {settings.labels}."
    return f"Soft labels: mean vote; hard labels: {hard}. {needed}"


def interval_sources(evaluation: Evaluation) -> Names:
    """Where intervals and the separation of models come from."""
    return (*_OF_VALUES[evaluation.inference], *_OF_PAIRS)


def intervals_sentence(evaluation: Evaluation, *, sources: bool = True) -> str:
    """How intervals are made and models separated, and where shares of resamples come from."""
    plan = evaluation.plan
    both = (_OF_VALUES[evaluation.inference], _OF_PAIRS)
    values, pairs = (cite(*keys) if sources else "" for keys in both)
    return (
        f"{exact_percent(evaluation.level)} intervals of values and of paired differences are "
        f"{evaluation.interval}, for {evaluation.population.whom}{values}, each of one "
        "number by itself; models are separated, and ranks possible, by step-down max-t over "
        f"all pairs{pairs}. Shares of resamples are from {count(plan.replicates)} "
        f"resamples of {RESAMPLED[plan.kind]} (seed {plan.seed})."
    )


def computed() -> str:
    """With which version."""
    return f"Computed with equipoise {version('equipoise')}."


LOWER = " Of metrics of which less is better, a difference below 0 speaks for the first."
PAIR_COLUMNS = (
    *QUESTION,
    Column("value", "difference", "change", ("low", "high")),
    Column("p", "p", "p"),
    Column("p_better", "better in (share of resamples)", "resample_share"),
)


@immutable(eq=False)
class Comparison:
    """The first of two models minus the second.

    Attributes
    ----------
    a, b
        Names of the two models.
    labels
        Which labels stand in front.
    evaluation
        Both models.
    among
        How many models there are to choose two from.
    """

    a: str
    b: str
    labels: str
    evaluation: Evaluation
    among: int = 2

    __repr__ = short_repr

    def differences(self) -> list[Difference]:
        """First minus second, for every task, metric and kind of labels."""
        done, names = self.evaluation, [metric.name for metric in self.evaluation.metrics]
        return [
            gap
            for task, metric, labels in product(done.tasks, names, LABELS)
            for gap in done.differences(metric, labels=labels, task=task)
        ]

    def rows(self) -> list[dict[str, Any]]:
        """One row per task, metric and kind of labels."""
        better = {metric.name: metric.better for metric in self.evaluation.metrics}
        return [gap._asdict() | {"better": better[gap.metric]} for gap in self.differences()]

    @property
    def finding(self) -> str:
        """The last task by the first metric, in one sentence."""
        done, metric = self.evaluation, self.evaluation.metrics[0]
        front = (done.tasks[-1], metric.name, self.labels)
        gap = next(gap for gap in self.differences() if gap[:3] == front)
        what = score_title(metric, self.labels, gap.task)
        if math.isnan(gap.value):
            return f"The difference by {what} is undefined."
        if abs(gap.value) < EXACT:
            return f"By {what} {self.a} and {self.b} are tied."
        ahead = (gap.value > 0) == (metric.better == "higher")
        first, second = (self.a, self.b) if ahead else (self.b, self.a)
        sign, whom = 1 if gap.value > 0 else -1, done.population
        low, high = sorted((sign * gap.low, sign * gap.high))
        higher = "higher" if metric.better == "higher" else "better"
        verb = "is better" if gap.separated else f"scores {higher}"
        text = f"By {what} {first} {verb} than {second} by {distance(gap.value)}"
        if math.isnan(low):
            return f"{text}; how sure that is, is undefined."
        ends = f"interval {number(low)} to {number(high)}, p {p_value(gap.p)}"
        if not whom.decides:
            return (
                f"{text} ({ends}, for these annotators); {whom.people} are too few for a "
                f"verdict on {whom.people} like these."
            )
        alone = ", as a single pair" * (self.among > 2)
        apart = "" if gap.separated else "not separated, "
        return f"{text} ({ends}): {apart}for {whom.whom}{alone}.{self._by_margin(gap)}"

    def _by_margin(self, gap: Difference) -> str:
        """What the margin makes of the pair; nothing without one."""
        margin = self.evaluation.margin
        if margin is None or not gap.judgement:
            return ""
        if gap.judgement == gap.reverse == "equivalent":
            return f" They are equivalent by the margin of {chosen(margin)}."
        if gap.judgement == gap.reverse == Judgement.BY_TWO_TESTS.value:
            one_sided = number(100 * (1 - self.evaluation.level), 0)
            return (
                f" By two one-sided tests at {one_sided} % they are equivalent by the margin "
                f"of {chosen(margin)}; neither is shown to be non-inferior."
            )
        judged = f"{gap.judgement} to"
        if gap.judgement == "undecided":
            judged = "neither shown to be better nor no worse than"
        return f" By the margin of {chosen(margin)} {self.a} is {judged} {self.b}."

    def report(self) -> Finding:
        """The finding for every surface."""
        done, rows = self.evaluation, self.rows()
        metrics = [metric.name for metric in done.metrics]
        lower = any(metric.better == "lower" for metric in done.metrics)
        kind, a, b = done.plan.kind, self.a, self.b
        legend = (
            f"Brackets and p: of this difference by itself, for {done.population.whom}. Share: "
            f"of the resamples of {RESAMPLED[kind]} in which {a} is better than {b}, ties half."
        )
        differences = Table(
            name="pair",
            caption=f"{a} minus {b}",
            columns=with_titles(PAIR_COLUMNS, metrics),
            rows=rows,
            legend=legend + LOWER * lower,
            open=True,
        )
        return Finding(
            key="comparison",
            title=f"{a} against {b}",
            sentence=self.finding,
            tables=(differences,),
            charts=(self._chart(),),
        )

    def _chart(self) -> Dots:
        """The difference in every task, by the first metric."""
        metric = self.evaluation.metrics[0]
        rows = [
            Dot(gap.task if gap.task != MACRO else "mean", gap.value, gap.low, gap.high)
            for gap in self.differences()
            if (gap.metric, gap.labels) == (metric.name, self.labels)
        ]
        what = score_title(metric, self.labels)
        return Dots(
            name="pair",
            caption=f"{self.a} minus {self.b}, {what}, {metric.better} is better; each "
            "interval of one difference",
            axis=what,
            rows=rows,
            zero=True,
            zero_title="no difference",
        )

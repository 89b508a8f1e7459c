"""Compare: two models side by side, paired, in every task, metric and kind of labels.

The two are compared as a pair that was chosen in advance: among more models, a pair that was
picked because it stands out is judged all pairs at once.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

from equipoise.study import LABELS, MACRO, Evaluation
from equipoise.study.analyses.words import QUESTION, RESAMPLED, score_title, with_titles
from equipoise.study.result import Difference
from equipoise.types.arrays import short_repr
from equipoise.types.findings import Column, Dot, Dots, Finding, Table
from equipoise.types.numbers import EXACT, chosen, distance, number, p_value

LOWER = " Of metrics of which less is better, a difference below 0 speaks for the first."
COLUMNS = (
    *QUESTION,
    Column("value", "difference", "change", ("low", "high")),
    Column("p", "p", "p"),
    Column("p_better", "better in (share of resamples)", "resample_share"),
)


@dataclass(frozen=True, slots=True, eq=False)
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
        what = score_title(metric.name, self.labels, gap.task)
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
                f"{text} ({ends}, for these annotators); annotators are too few for a verdict "
                "on annotators like these."
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
            columns=with_titles(COLUMNS, metrics),
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
        what = score_title(metric.name, self.labels)
        return Dots(
            name="pair",
            caption=f"{self.a} minus {self.b}, {what}, {metric.better} is better; each "
            "interval of one difference",
            axis=what,
            rows=rows,
            zero=True,
            zero_title="no difference",
        )

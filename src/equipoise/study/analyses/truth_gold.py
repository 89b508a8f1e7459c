r"""Aggregates against gold: which model of the votes finds what is known to be true?

On the items of a task that have gold and votes, every aggregation model is fitted to the votes
alone, as if there were no gold, and its plausibilities are scored like the probabilities of a
model: accuracy (the most plausible class; ties share), log score and Brier score. Majority vote
is always among them. Intervals are over items, or groups of items, against this gold; an
accuracy p of variance V has Wilson's, for :math:`\min(p (1 - p) / V, n)` trials of n items.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from equipoise.study import Difference, Evaluation, evaluate
from equipoise.study.analyses.gold import Trials, share_interval
from equipoise.truth.choosing import Model, fitted
from equipoise.truth.choosing.models import by_name
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import short_repr
from equipoise.types.findings import Cell, Column, Dot, Dots, Finding, Table, spanned
from equipoise.types.notices import Notice, notice
from equipoise.types.numbers import change, count, estimate, exact_percent, interval
from equipoise.types.predictions import Predictions

KEY, TITLE = "gold", "Which model finds the known truth?"
MAJORITY = "majority_vote"
METRICS = ("accuracy", "log_score", "brier_score")
KINDS = ("binary", "nominal", "ordinal")
NOTE = (
    "The models were fitted once more without the gold, to the votes alone, and their "
    "plausibilities scored on the items that have gold. Where gold was adjudicated among these "
    "annotators it leans towards them. A log score is infinite where a model had ruled the "
    "gold class out."
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GoldAggregates:
    """What `aggregates_against_gold` returns.

    Attributes
    ----------
    task
        Which question.
    evaluation
        The aggregation models, scored as models against gold.
    """

    task: str
    evaluation: Evaluation

    __repr__ = short_repr

    @property
    def items(self) -> int:
        """How many items have gold and votes."""
        return len(self.evaluation.questions[0].items)

    @property
    def best(self) -> str:
        """The model with the highest accuracy, the first of several."""
        values = self.evaluation.two_way("accuracy").values
        return self.evaluation.models[int(np.nanargmax(values))]

    def rows(self) -> list[dict[str, Cell]]:
        """One row per aggregation model: accuracy, log score and Brier score with ends."""
        found: dict[str, dict[str, Cell]] = {}
        for row in self.evaluation.table():
            if row.labels != "soft":
                continue
            own = found.setdefault(row.model, {"model": row.model, "items": self.items})
            low, high = row.low, row.high
            if row.metric == "accuracy":
                trials = Trials(self.items, self.items)
                level, variance = self.evaluation.level, row.standard_error**2
                low, high = share_interval(row.value, variance, trials, level)
            own |= {row.metric: row.value, f"{row.metric}_low": low, f"{row.metric}_high": high}
        for one in self.against_majority():
            gain = {"gain": one.value, "gain_low": one.low, "gain_high": one.high}
            found[one.a] |= gain
        return sorted(found.values(), key=lambda row: -float(str(row["accuracy"])))

    def against_majority(self) -> list[Difference]:
        """Accuracy of every other model less that of majority vote, paired."""
        every = self.evaluation.differences("accuracy")
        return [_turned(one) for one in every if MAJORITY in (one.a, one.b)]

    @property
    def finding(self) -> str:
        """Who is right most often, and whether majority vote is surely behind."""
        rows = {str(row["model"]): row for row in self.rows()}
        task = f"{self.task}: of" if self.task else "Of"
        start = f"{task} {count(self.items, 'item')} with gold"
        said = {name: estimate(*_numbers(row, "accuracy")) for name, row in rows.items()}
        own = said[self.best]
        if len(rows) == 1:
            return f"{start}, majority_vote is right in {own}."
        gains = [one for one in self.against_majority() if one.value > 0]
        if not gains:
            return f"{start}, no model is right more often than majority_vote, {own}."
        gain = max(gains, key=lambda one: one.value)
        ends = interval(gain.low, gain.high, change)
        sure = "surely more" if gain.separated else "not surely more"
        return (
            f"{start}, {gain.a} is right most often, {said[gain.a]}; that is "
            f"{change(gain.value)} {ends} against majority_vote, {sure}."
        )

    def report(self) -> Finding:
        """The finding for every surface."""
        rows = self.rows()
        gain = spanned("gain", "accuracy against majority vote", "change")
        table = Table(
            name="aggregates_gold",
            caption="Aggregation models against gold",
            columns=(
                Column("model", "model"),
                *map(spanned, METRICS),
                *([gain] if len(rows) > 1 else []),
            ),
            rows=[{"gain": 0.0, **row} for row in rows],
            legend=f"Brackets: {exact_percent(self.evaluation.level)} interval for "
            f"{self.evaluation.population.whom}; log score and Brier score: lower is better.",
            open=True,
        )
        chart = Dots(
            name="aggregates-gold",
            caption="Accuracy of aggregation models against gold",
            axis="accuracy",
            rows=[Dot(str(row["model"]), *_numbers(row, "accuracy")) for row in rows],
        )
        return Finding(
            key=KEY,
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=(chart,) if len(rows) > 1 else (),
            note=NOTE,
        )


def _turned(one: Difference) -> Difference:
    """The difference of a model to majority vote, whichever stood first."""
    if one.b == MAJORITY:
        return one
    turned = one._replace(a=one.b, b=one.a, p_better=1 - one.p_better)
    return turned._replace(value=-one.value, low=-one.high, high=-one.low)


def _numbers(row: Mapping[str, Cell], name: str) -> tuple[float, float, float]:
    value, low, high = (float(str(row[f"{name}{end}"])) for end in ("", "_low", "_high"))
    return value, low, high


def aggregates_against_gold(
    annotations: Annotations, models: Mapping[str, Model], task: str
) -> GoldAggregates | Notice | None:
    """Score aggregation models on the items with gold; None where the task has none.

    Parameters
    ----------
    models
        Models by name, set up as they were fitted.

    Returns
    -------
    GoldAggregates | Notice | None
        A notice where there is gold, but nothing to score against it.

    Examples
    --------
    >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("0", "1"),
    ...     item=np.array([0, 0, 0, 1, 1]), label=np.array([1, 1, 1, 0, 1]),
    ...     is_gold=np.array([True, False, False, True, False]))
    >>> aggregates_against_gold(votes, {}, "").rows()[0]["accuracy"]
    0.5
    """
    here, gold = annotations.in_task(task), annotations.is_gold
    if gold is None or not (here & gold).any() or annotations.kind not in KINDS:
        return None
    known, voted = here & gold, annotations.rows(here & ~gold)
    both = np.intersect1d(annotations.item[known], voted.item)
    if not len(both):
        text = "Items with gold have no votes, so aggregation models are not scored against it."
        return notice("gold_without_votes", text)
    every = {**models, **({} if MAJORITY in models else by_name([MAJORITY]))}
    fits = fitted(replace(voted, is_gold=None), every, task)
    settled = annotations.rows(known & np.isin(annotations.item, both))
    truth = replace(settled, annotators=None, annotator=None, notices=())
    names = {annotations.items[i] for i in both}
    given = []
    for name, one in fits.items():
        own = one.subset(np.flatnonzero([item in names for item in one.items]))
        given.append(Predictions(name, own.items, own.mean, classes=one.classes, task=one.task))
    one_task = replace(truth, tasks=(task,), task=None)
    done = evaluate(given, one_task, metrics=METRICS, resampling="influence")
    return GoldAggregates(task=task, evaluation=done)

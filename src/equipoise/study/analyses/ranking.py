r"""Rank stability: how far the order of models survives when the data are drawn anew.

Items and annotators are resampled together, as `evaluate` does by default (items alone where
votes are anonymous). In replicate r the models' values give an order; its agreement with the
order of the values on the data as they are is

.. math:: \rho_r = \mathrm{Spearman}(\theta, \theta^*_r), \qquad
    \tau_r = \text{Kendall's } \tau_b(\theta, \theta^*_r)

and the mean over replicates is the stability. Its interval holds the middle of the replicates:
it says how different single resamples are, and does not shrink with their number. Ties are
ties. Only those replicates count in
which both the hard and the soft order are defined.

Shares of resamples describe resamples, and are no probabilities of the truth. What holds for
items and annotators like these are the possible ranks of every model and the pairs that are
separated, all models at once (`equipoise.inference.intervals`).
"""

from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from typing import Any

import numpy as np

from equipoise.inference.estimate import Estimate
from equipoise.inference.ranks import kendall_tau_b, spearman
from equipoise.study import LABELS, Evaluation
from equipoise.study.analyses.scoring import freeze
from equipoise.study.analyses.words import (
    IN_FILES,
    ORDER,
    RESAMPLED,
    as_notices,
    ends_of,
    score_title,
    with_titles,
)
from equipoise.study.study import Study
from equipoise.types import (
    Column,
    Finding,
    Floats,
    Heat,
    InputError,
    Notice,
    Notices,
    Table,
    immutable,
    joined,
    number,
    percent,
    resample_share,
    short_repr,
)

TITLE = "Does the order of the models hold?"
NAMED = 4  # models that a sentence names
SHARED_FIRST = Notice(
    "shared_first",
    "A model's share of being best counts the resamples in which it is first; models that tie "
    "for first share that resample evenly.",
)
NOTE = (
    "In every resample the models are put in order again and the order is compared with the "
    "original one: 1 is the same order, 0 no relation, −1 the reverse. Brackets hold the "
    "middle of the resamples, so they do not shrink with more resamples. A model's share of "
    "being best counts the resamples in which it is first; those that tie for first share that "
    "resample evenly. Shares are no probabilities of the truth: that of the model that leads "
    "is too high, because it leads. Possible ranks are those that the data allow, for all "
    "models at once."
)
LEGEND = (
    f"Spearman, Kendall's tau-b: mean {ORDER}. Brackets: the middle of the resamples. Shares: "
    "of the resamples."
)
COLUMNS = (
    *IN_FILES,
    Column("spearman", "Spearman", "number", ("spearman_low", "spearman_high")),
    Column("kendall_tau_b", "Kendall's tau-b", "number", ("kendall_low", "kendall_high")),
    Column("most_often_best", "best most often", "model"),
    Column("p_best", "in", "resample_share"),
    Column("runner_up", "runner-up", "model"),
    Column("p_runner_up", "in", "resample_share"),
    Column("possibly_best", "possibly best", "names"),
)


@immutable(eq=False, kw_only=True)
class RankStability:
    """What `rank_stability` returns, over tasks, metrics and labels (hard, then soft).

    Attributes
    ----------
    evaluation
        Whose order it is, and on whose resamples.
    front
        Which labels stand in front.
    spearman, kendall
        Agreement of each replicate's order with that of the values, shape (tasks, metrics,
        labels, replicates); nan where an order is undefined.
    ranks
        How often each model holds each rank, shape (tasks, metrics, labels, models, ranks);
        the first is the share of resamples in which it is best.
    """

    evaluation: Evaluation
    front: str
    spearman: Floats
    kendall: Floats
    ranks: Floats

    __repr__ = short_repr

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def notices(self) -> Notices:
        """What the user should know."""
        return as_notices([SHARED_FIRST], self.evaluation.notices)

    @property
    def _place(self) -> tuple[int, int, int]:
        """What stands in front: the last task by the first metric."""
        return len(self.evaluation.tasks) - 1, 0, LABELS.index(self.front)

    @property
    def _what(self) -> str:
        """The same in words."""
        done = self.evaluation
        return score_title(done.metrics[0], self.front, done.tasks[-1])

    def rows(self) -> list[dict[str, Any]]:
        """One row per task, metric and labels: how stable the order is."""
        return [self._row(*cell) for cell in np.ndindex(self.spearman.shape[:3])]

    def _row(self, t: int, k: int, label: int) -> dict[str, Any]:
        done, cell = self.evaluation, (t, k, label)
        task, metric, labels = done.tasks[t], done.metrics[k].name, LABELS[label]
        share = self.ranks[cell][:, 0]
        first, second = np.argsort(-np.round(share, 12), kind="stable")[:2]
        defined = not np.isnan(share).any()
        possible = done.family(metric, labels=labels, task=task).ranks
        return {
            "task": task,
            "metric": metric,
            "labels": labels,
            **ends_of("spearman", *self._mean(self.spearman[cell])),
            **ends_of("kendall_tau_b", *self._mean(self.kendall[cell]), stem="kendall"),
            "undefined": float(np.isnan(self.spearman[cell]).mean()),
            "most_often_best": done.models[first] if defined else None,
            "p_best": float(share[first]),
            "runner_up": done.models[second] if defined else None,
            "p_runner_up": float(share[second]),
            "possibly_best": tuple(
                model for model, (low, _) in zip(done.models, possible, strict=True) if low == 1
            ),
        }

    def _mean(self, replicates: Floats) -> tuple[float, tuple[float, float]]:
        """Mean of the defined replicates, and the middle of all."""
        defined = replicates[~np.isnan(replicates)]
        value = float(defined.mean()) if len(defined) else np.nan
        estimate = Estimate(value, replicates, "", (-1.0, 1.0))
        return value, estimate.interval(self.evaluation.level)

    @property
    def finding(self) -> str:
        """Tell in one sentence how stable the order of the last task is."""
        row, models = self._row(*self._place), len(self.evaluation.models)
        if not isnan(row["spearman"]):
            return self._order_sentence(row)
        values = np.round(self.evaluation.values[self._place], 12)
        if len(set(values.tolist())) == 1:
            return f"The {models} models are tied by {self._what}: there is no order."
        return f"The order of the models by {self._what} is undefined."

    def _order_sentence(self, row: Mapping[str, Any]) -> str:
        low, high = row["spearman_low"], row["spearman_high"]
        middle = f" ({number(low, 2)} to {number(high, 2)})" if isfinite(low + high) else ""
        lost = f"; in {percent(row['undefined'])} of the resamples there is no order"
        return (
            f"When {RESAMPLED[self.evaluation.plan.kind]} are resampled, the order of "
            f"{len(self.evaluation.models)} models by {self._what} agrees with the original at "
            f"a rank correlation of {number(row['spearman'], 2)} on average{middle}, and "
            f"{_leaders(row)}{lost if row['undefined'] else ''}. "
            f"{self._possibly_best(row['possibly_best'])}"
        )

    def _possibly_best(self, best: Sequence[str]) -> str:
        """Who may be the best, for items and annotators like these."""
        models, whom = self.evaluation.models, self.evaluation.population
        if not whom.decides:
            return "Annotators are too few to say who may be best for annotators like these."
        if len(best) == len(models):
            group = "any of them may be the best"
        elif len(best) > NAMED:
            group = f"{len(best)} of {len(models)} may be the best"
        else:
            group = f"{joined(best)} {'is the best' if len(best) == 1 else 'may be the best'}"
        return f"For {whom.whom}, {group}."

    def report(self) -> Finding:
        """The finding for every surface."""
        table = Table(
            name="ranking",
            caption=f"Stability of the order by {self._what}",
            columns=with_titles(COLUMNS, [metric.name for metric in self.evaluation.metrics]),
            rows=self.rows(),
            brief=[self._row(*self._place)],
            legend=LEGEND,
        )
        return Finding(
            key="ranking",
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=(ranks_chart(self.evaluation, self.ranks[self._place]),),
            note=NOTE,
            methods="Rank stability is the mean rank correlation (Spearman, Kendall's tau-b) "
            "between the order of the models and the order on resamples of "
            f"{RESAMPLED[self.evaluation.plan.kind]} [@lionetti2025; @efron1993]; possible "
            "ranks are from all pairs at once [@mogstad2024].",
            references=("lionetti2025", "efron1993", "mogstad2024"),
            notices=self.notices,
            claims=self.evaluation.claims(self.evaluation.metrics[0].name, labels=self.front),
        )


def ranks_chart(done: Evaluation, ranks: Floats) -> Heat:
    """Shares of resamples in which each model holds each rank, (models, ranks)."""
    order = np.argsort(ranks @ np.arange(len(done.models)), kind="stable")
    return Heat(
        name="ranks",
        caption=f"Share of resamples of {RESAMPLED[done.plan.kind]} in which a model takes "
        "each rank",
        rows=[done.models[m] for m in order],
        columns=[str(place + 1) for place in range(len(done.models))],
        values=np.asarray(ranks[order], dtype=np.float64),
        row_models=True,
        x="rank",
    )


def rank_stability(done: Evaluation, labels: str = "soft") -> RankStability:
    """How stable the order of models is when the data are drawn anew.

    Parameters
    ----------
    done
        The evaluation, with its resamples.
    labels
        Which labels, ``soft`` or ``hard``, stand in front.
    """
    if len(done.models) < 2:
        raise InputError("rank stability", "fewer than two models", "at least two", "add some")
    undefined = np.isnan(done.values)[..., None].any(axis=-2, keepdims=True)
    drawn = np.where(undefined, np.nan, done.replicates)
    first, values = np.moveaxis(drawn, -2, 0), np.moveaxis(done.values, -1, 0)[..., None]
    correlations = {}
    for name, correlation in (("spearman", spearman), ("kendall", kendall_tau_b)):
        per_replicate = correlation(values, first)
        lost = np.isnan(per_replicate).any(axis=2, keepdims=True)
        correlations[name] = np.where(
            lost & ~lost.all(axis=-1, keepdims=True), np.nan, per_replicate
        )
    cells = np.ndindex(done.values.shape[:3])
    ranks = [
        done.rank_probabilities(done.metrics[k].name, labels=LABELS[label], task=done.tasks[t])
        for t, k, label in cells
    ]
    return RankStability(
        evaluation=done,
        front=labels,
        ranks=np.reshape(ranks, (*done.values.shape, len(done.models))),
        **correlations,
    )


def analyse(study: Study) -> Finding:
    """How stable the order of the models of a study is."""
    return rank_stability(study.evaluation, study.settings.labels).report()


def _leaders(row: Mapping[str, Any]) -> str:
    """Who is best most often, and who comes next.

    Examples
    --------
    >>> _leaders({"most_often_best": "a", "p_best": 0.4, "runner_up": "b", "p_runner_up": 0.4})
    'a and b are best equally often, in 40% of the resamples each'
    """
    first, second = row["most_often_best"], row["runner_up"]
    most, next_most = resample_share(row["p_best"]), resample_share(row["p_runner_up"])
    if round(row["p_best"] - row["p_runner_up"], 12) == 0:
        return f"{first} and {second} are best equally often, in {most} of the resamples each"
    return (
        f"{first} is best in {most} of the resamples, followed by {second} with {next_most} "
        "(ties for first are shared)"
    )

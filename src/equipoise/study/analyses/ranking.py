r"""Rank stability: how far the order of models survives when the data are drawn anew.

Items and annotators are resampled together, as `evaluate` does by default (items alone where
votes are anonymous). In replicate r the models' values give an order; its agreement with the
order of the values on the data as they are is

.. math:: \rho_r = \mathrm{Spearman}(\theta, \theta^*_r), \qquad
    \tau_r = \text{Kendall's } \tau_b(\theta, \theta^*_r)

and the mean over replicates is the stability. Its interval holds the middle of the replicates:
it says how different single resamples are, and does not shrink with their number. Ties are
ties. Replicates are taken as drawn, before their spread is widened, and only those count in
which both the hard and the soft order are defined.

Shares of resamples describe resamples, and are no probabilities of the truth. What holds for
items and annotators like these are the possible ranks of every model and the pairs that are
separated, all models at once (`equipoise.inference.intervals`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any

import numpy as np

from equipoise.inference import Population
from equipoise.inference.estimate import Estimate, wilson
from equipoise.inference.ranks import kendall_tau_b, spearman
from equipoise.metrics import DEFAULT
from equipoise.study import LABELS, Difference, Evaluation
from equipoise.study.analyses.scoring import Given, freeze, study_of
from equipoise.study.analyses.words import (
    IN_FILES,
    IN_FULL,
    ORDER,
    QUESTION,
    RESAMPLED,
    as_notices,
    ends_of,
    score_title,
    with_titles,
)
from equipoise.study.arguments import Truths
from equipoise.study.study import Study
from equipoise.types.arrays import Floats, InputError, short_repr
from equipoise.types.findings import Chart, Column, Dot, Dots, Finding, Heat, Table, columns
from equipoise.types.notices import Notice
from equipoise.types.numbers import number, percent, resample_share
from equipoise.types.words import joined

TITLE = "Does the order of the models hold?"
NAMED = 4  # models that a sentence names
SHARED_FIRST = Notice(
    "shared_first",
    "A model's share of being best counts the resamples in which it is first; models that tie "
    "for first share that resample evenly.",
)
NOTE = (
    "In every resample the models are put in order again and the order is compared with the "
    "original one: 1 is the same order, 0 no relation, −1 the reverse. Dots are means over "
    "resamples; lines hold the middle of the resamples, so they do not shrink with more "
    "resamples. A model's share of being best counts the resamples in which it is first; those "
    "that tie for first share that resample evenly. Shares are no probabilities of the truth: "
    "that of the model that leads is too high, because it leads. Possible ranks are those that "
    "the data allow, for all models at once."
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
MODEL_COLUMNS = (
    *QUESTION,
    *columns(model="model", value="number"),
    Column("rank", "rank, possible", "rank", ("rank_low", "rank_high")),
    Column("p_best", "best in", "resample_share"),
)
PAIR_COLUMNS = (
    *QUESTION,
    Column("a", "model", "model"),
    Column("b", "against", "model"),
    Column("difference", "difference", "change", ("low", "high")),
    Column("p_adjusted", "p, all pairs at once", "p"),
    Column("separated", "separated"),
    Column("p_a_beats_b", "better in", "resample_share"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class RankStability:
    """What `rank_stability` returns, over tasks, metrics and labels (hard, then soft).

    Attributes
    ----------
    tasks, metrics, models
        Names along the axes.
    kind, population
        What was resampled, and whom possible ranks and separations speak for.
    values, value_ranks, possible
        Value and rank of each model, shape (tasks, metrics, labels, models), and the lowest
        and highest rank that the data allow, (..., models, 2); nan where undefined.
    spearman, kendall
        Agreement of each replicate's order with that of the values, shape (tasks, metrics,
        labels, replicates); nan where an order is undefined.
    ranks
        How often each model holds each rank, shape (tasks, metrics, labels, models, ranks);
        the first is the share of resamples in which it is best.
    pairs
        Paired differences of all models.
    counted
        Replicates in which every model is defined, shape (tasks, metrics, labels).
    level, notices
        Level of the intervals, and what the user should know.
    """

    tasks: tuple[str, ...]
    metrics: tuple[str, ...]
    models: tuple[str, ...]
    kind: str
    population: Population
    values: Floats
    value_ranks: Floats
    possible: Floats
    spearman: Floats
    kendall: Floats
    ranks: Floats
    pairs: tuple[Difference, ...]
    counted: Floats
    level: float = 0.95
    notices: tuple[Notice, ...] = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        freeze(self)

    def cells(self) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
        """Every task, metric and kind of labels: its place, and what its rows begin with."""
        axes = (self.tasks, self.metrics, LABELS)
        for t, k, label in np.ndindex(*map(len, axes)):
            names = {"task": self.tasks[t], "metric": self.metrics[k], "labels": LABELS[label]}
            yield (t, k, label), names

    def _in_front(self, rows: Sequence[dict[str, Any]], labels: str) -> list[dict[str, Any]]:
        """Rows of what stands in front: the last task by the first metric."""
        front = (self.tasks[-1], self.metrics[0], labels)
        return [row for row in rows if (row["task"], row["metric"], row["labels"]) == front]

    def _what(self, labels: str) -> str:
        """The same in words."""
        return score_title(self.metrics[0], labels, self.tasks[-1])

    def rows(self) -> list[dict[str, Any]]:
        """One row per task, metric and labels: how stable the order is."""
        return [
            names
            | ends_of("spearman", *self._mean(self.spearman[cell]))
            | ends_of("kendall_tau_b", *self._mean(self.kendall[cell]), stem="kendall")
            | {"undefined": float(np.isnan(self.spearman[cell]).mean())}
            | self._best(cell)
            for cell, names in self.cells()
        ]

    def model_rows(self) -> list[dict[str, Any]]:
        """One row per model: value, possible ranks, and how often it holds each rank.

        The interval of the share counts the error of the simulation alone.
        """
        rows = []
        for cell, names in self.cells():
            for m, model in enumerate(self.models):
                shares = [float(share) for share in self.ranks[cell][m]]
                off = _simulation_interval(shares[0], int(self.counted[cell]), self.level)
                rank, possible = float(self.value_ranks[cell][m]), self.possible[cell][m]
                rows.append(
                    names
                    | {"model": model, "value": float(self.values[cell][m])}
                    | ends_of("rank", rank, possible.tolist())
                    | ends_of("p_best", shares[0], off)
                    | {"rank_shares": shares}
                )
        return rows

    def pair_rows(self) -> list[dict[str, Any]]:
        """One row per pair of models: the difference, and how often the first is better."""
        keys = ("task", "metric", "labels", "a", "b", "low", "high", "p", "p_adjusted")
        return [
            {key: getattr(gap, key) for key in keys}
            | {"difference": gap.value, "separated": gap.separated}
            | {"p_a_beats_b": gap.p_better}
            for gap in self.pairs
        ]

    def said(self, labels: str = "soft") -> str:
        """Tell in one sentence how stable the order of the last task is."""
        (row,), what = self._in_front(self.rows(), labels), self._what(labels)
        if not isnan(row["spearman"]):
            return self._order_sentence(row, what)
        values = np.round(self.values[-1, 0, LABELS.index(labels)], 12)
        if len(set(values.tolist())) == 1:
            return f"The {len(self.models)} models are tied by {what}: there is no order."
        return f"The order of the models by {what} is undefined."

    finding = property(said)

    def _order_sentence(self, row: Mapping[str, Any], what: str) -> str:
        low, high = row["spearman_low"], row["spearman_high"]
        middle = f" ({number(low, 2)} to {number(high, 2)})" if isfinite(low + high) else ""
        lost = f"; in {percent(row['undefined'])} of the resamples there is no order"
        return (
            f"When {RESAMPLED[self.kind]} are resampled, the order of {len(self.models)} "
            f"models by {what} agrees with the original at a rank correlation of "
            f"{number(row['spearman'], 2)} on average{middle}, and {_leaders(row)}"
            f"{lost if row['undefined'] else ''}. {self._possibly_best(row['possibly_best'])}"
        )

    def _possibly_best(self, best: Sequence[str]) -> str:
        """Who may be the best, for items and annotators like these."""
        if not self.population.decides:
            return "Annotators are too few to say who may be best for annotators like these."
        if len(best) == len(self.models):
            group = "any of them may be the best"
        elif len(best) > NAMED:
            group = f"{len(best)} of {len(self.models)} may be the best"
        else:
            group = f"{joined(best)} {'is the best' if len(best) == 1 else 'may be the best'}"
        return f"For {self.population.whom}, {group}."

    def report(self, labels: str = "soft") -> Finding:
        """The finding for every surface; `labels` stand in front."""
        rows, models = self.rows(), self.model_rows()
        front: dict[str, Any] = {
            "rows": rows,
            "brief": self._in_front(rows, labels),
            "legend": LEGEND,
        }
        near: dict[str, Any] = {"rows": models, "brief": self._in_front(models, labels)}
        stable = f"Stability of the order by {self._what(labels)}"
        best = "Possible ranks of all models at once, and shares of resamples"
        beaten = (
            "Differences with single intervals, and whether they hold among all pairs; shares "
            "of resamples in which the first is better, ties half"
        )
        pairs: dict[str, Any] = {"rows": self.pair_rows(), "brief": ()}
        tables = tuple(
            Table(name=name, caption=caption, columns=with_titles(heads, self.metrics), **parts)
            for name, caption, heads, parts in (
                ("ranking", stable, COLUMNS, front),
                ("ranking_model", best, MODEL_COLUMNS, near),
                ("ranking_pair", beaten, PAIR_COLUMNS, pairs),
            )
        )
        return Finding(
            key="ranking",
            title=TITLE,
            sentence=self.said(labels),
            tables=tables,
            charts=self._charts(labels),
            note=NOTE,
            methods="Rank stability is the mean rank correlation (Spearman, Kendall's tau-b) "
            "between the order of the models and the order on resamples of "
            f"{IN_FULL[self.kind]} [@lionetti2025; @efron1993]; possible ranks are from all "
            "pairs at once [@mogstad2024].",
            references=("lionetti2025", "efron1993", "mogstad2024"),
            notices=self.notices,
        )

    def _charts(self, labels: str) -> tuple[Chart, ...]:
        """Rank correlations, possible ranks, and shares of ranks."""
        (row,) = self._in_front(self.rows(), labels)
        correlations = Dots(
            name="ranking-correlation",
            caption="Rank correlation of resampled orders with the original",
            axis="1 = same order",
            rows=[
                Dot("Spearman", row["spearman"], row["spearman_low"], row["spearman_high"]),
                Dot(
                    "Kendall's tau-b",
                    row["kendall_tau_b"],
                    row["kendall_low"],
                    row["kendall_high"],
                ),
            ],
            reference=1.0,
        )
        cell = (len(self.tasks) - 1, 0, LABELS.index(labels))
        order = np.argsort(self.ranks[cell] @ np.arange(len(self.models)), kind="stable")
        heat = Heat(
            name="ranks",
            caption=f"Share of resamples of {RESAMPLED[self.kind]} in which a model takes each "
            "rank",
            rows=[self.models[m] for m in order],
            columns=[str(place + 1) for place in range(len(self.models))],
            values=np.asarray(self.ranks[cell][order], dtype=np.float64),
            row_models=True,
            x="rank",
        )
        return correlations, heat

    def _best(self, cell: tuple[int, ...]) -> dict[str, Any]:
        """The two that are best most often, with their shares, and who may be the best."""
        share = self.ranks[cell][:, 0]
        first, second = np.argsort(-np.round(share, 12), kind="stable")[:2]
        defined = not np.isnan(share).any()
        may = np.flatnonzero(self.possible[cell][:, 0] == 1)
        return {
            "most_often_best": self.models[first] if defined else None,
            "p_best": float(share[first]),
            "runner_up": self.models[second] if defined else None,
            "p_runner_up": float(share[second]),
            "possibly_best": tuple(self.models[m] for m in may),
        }

    def _mean(self, replicates: Floats) -> tuple[float, tuple[float, float]]:
        """Mean of the defined replicates, and the middle of all."""
        defined = replicates[~np.isnan(replicates)]
        value = float(defined.mean()) if len(defined) else np.nan
        return value, Estimate(value, replicates, "", (-1.0, 1.0)).interval(self.level)


def rank_stability(predictions: Given, annotations: Truths, **how: Any) -> RankStability:
    """How stable the order of models is when the data are drawn anew.

    Parameters
    ----------
    predictions, annotations
        As for `evaluate`.
    **how
        As for `equipoise.study.analyses.scoring.study_of`; ``kind`` is by default what fits the
        annotations.
    """
    study = study_of(predictions, annotations, {"metrics": DEFAULT, **how})
    return _stability_of(study.evaluation)


def _stability_of(done: Evaluation) -> RankStability:
    """The same of an evaluation that was done."""
    if len(done.models) < 2:
        raise InputError("rank stability", "fewer than two models", "at least two", "add some")
    drawn, shape = as_drawn(done), done.values.shape
    first, values = np.moveaxis(drawn, -2, 0), np.moveaxis(done.values, -1, 0)[..., None]
    correlations = {}
    for name, correlation in (("spearman", spearman), ("kendall", kendall_tau_b)):
        per_replicate = correlation(values, first)
        lost = np.isnan(per_replicate).any(axis=2, keepdims=True)
        correlations[name] = np.where(
            lost & ~lost.all(axis=-1, keepdims=True), np.nan, per_replicate
        )
    ranks = np.empty((*shape, shape[-1]))
    pairs: list[Difference] = []
    for t, k, label in np.ndindex(*shape[:-1]):
        metric, task, labels = done.metrics[k].name, done.tasks[t], LABELS[label]
        ranks[t, k, label] = done.rank_probabilities(metric, labels=labels, task=task)
        pairs += done.differences(metric, labels=labels, task=task)
    table = done.table()
    possible = np.array([(row.rank_low, row.rank_high) for row in table])
    counted = (~np.isnan(drawn).any(axis=-2)).sum(axis=-1).astype(np.float64)
    return RankStability(
        kind=done.plan.kind,
        population=done.population,
        tasks=done.tasks,
        metrics=tuple(metric.name for metric in done.metrics),
        models=done.models,
        values=done.values,
        value_ranks=np.array([row.rank for row in table]).reshape(shape),
        possible=possible.reshape(*shape, 2),
        ranks=ranks,
        pairs=tuple(pairs),
        counted=counted,
        level=done.level,
        notices=as_notices([SHARED_FIRST], done.notices),
        **correlations,
    )


def as_drawn(done: Evaluation) -> Floats:
    """Replicates as drawn, shape (tasks, metrics, labels, models, replicates)."""
    cells = np.ndindex(*done.values.shape[:-1])
    return np.array([done.drawn(*cell) for cell in cells]).reshape(done.replicates.shape)


def _simulation_interval(share: float, number: int, level: float) -> tuple[float, float]:
    """How far a share of replicates can be off because their number is finite: Wilson's.

    Examples
    --------
    >>> _simulation_interval(0.5, 1000, 0.95)
    (0.469, 0.531)
    """
    if not number or np.isnan(share):
        return float("nan"), float("nan")
    return wilson(share * number, number, level)


def analyse(study: Study) -> Finding:
    """How stable the order of the models of a study is."""
    return _stability_of(study.evaluation).report(study.settings.labels)


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

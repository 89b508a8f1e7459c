r"""Rank stability: how far the order of models survives when the data are drawn anew.

One evaluation per kind of resampling that the data allow, all with the same seed. In replicate
r the models' values give an order; its agreement with the order of the values on the data as
they are is

.. math:: \rho_r = \mathrm{Spearman}(\theta, \theta^*_r), \qquad
    \tau_r = \text{Kendall's } \tau_b(\theta, \theta^*_r)

and the mean over replicates is the stability. Its interval holds the middle of the replicates:
it says how different single resamples are, and does not shrink with their number. Ties are
ties.
Replicates are taken as drawn, before their spread is widened, and only those count in which
both the hard and the soft order are defined.

In front stand items and annotators where annotators are named, and items, with their votes,
where they are not. Kinds that draw items together with votes or annotators err on the wide
side: resampled items already bring the noise of their votes along, and it is drawn once more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any, Unpack

import numpy as np

from equipoise.analyses.options import ResamplingKeywords, ResamplingOptions, checked_options
from equipoise.analyses.resampling import (
    JOINT,
    WIDE,
    Truths,
    as_drawn,
    evaluate_resampled,
    possible_kinds,
    simulation_interval,
    voting,
)
from equipoise.analyses.result import GridResult
from equipoise.analyses.study import Study
from equipoise.analyses.words import (
    IN_FILES,
    IN_FULL,
    ORDER,
    QUESTION,
    RESAMPLED,
    as_notices,
)
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, wrong_type
from equipoise.estimate import Estimate
from equipoise.evaluation import LABELS, Evaluation
from equipoise.evaluation.arguments import as_metrics, as_predictions
from equipoise.findings import Chart, Column, Dot, Dots, Finding, Heat
from equipoise.metrics import DEFAULT, Metric
from equipoise.notices import Notice
from equipoise.numbers import number, percent, resample_share
from equipoise.plausibilities import Plausibilities
from equipoise.predictions import Predictions
from equipoise.ranks import beats, higher_is_better, kendall_tau_b, rank_probabilities, spearman

TITLE = "Does the order of the models hold?"
Triple = tuple[float, float, float]  # a number and the ends of its interval
FRONT = ("items x panel", "items", "panel", "votes", "posterior", "items x votes")
SHARED_FIRST = Notice(
    "shared_first",
    "A model's share of being best counts the resamples in which it is first; models that tie "
    "for first share that resample evenly.",
)
NOTE = (
    "Each kind resamples something: the items, the votes on each item, the annotators (panel), "
    "or several at once. In every resample the models are put in order again and the order is "
    "compared with the original one: 1 is the same order, 0 no relation, −1 the reverse. Dots "
    "are means over resamples; lines hold the middle of the resamples, so they do not shrink "
    "with more resamples. A model's share of being best counts the resamples in which it is "
    "first; models that tie for first share that resample evenly. Items resampled together "
    "with votes or annotators err on the wide side, because resampled items already bring the "
    "noise of their votes along; the leaderboard in front counts that noise once."
)
METHODS = (
    "Rank stability is the mean rank correlation (Spearman, Kendall's tau-b) between the order "
    "of the models and the order on resampled data [@lionetti2025; @efron1993]. Resampled were"
    ", each in a bootstrap of its own: "
)
LEGEND = (
    f"Spearman, Kendall's tau-b: mean {ORDER}. Brackets: the middle of the resamples. Shares: "
    "of the resamples of that kind. Joint resamples (x) err on the wide side."
)
COLUMNS = (
    Column("kind", "resampled"),
    *IN_FILES,
    Column("spearman", "Spearman", "number", ("spearman_low", "spearman_high")),
    Column("kendall_tau_b", "Kendall's tau-b", "number", ("kendall_low", "kendall_high")),
    Column("most_often_best", "best most often", "model"),
    Column("p_best", "in", "resample_share"),
    Column("runner_up", "runner-up", "model"),
    Column("p_runner_up", "in", "resample_share"),
)
MODEL_COLUMNS = (
    Column("kind", "resampled"),
    *QUESTION,
    Column("model", "model", "model"),
    Column("value", "value", "number"),
    Column("p_best", "share of resamples", "resample_share"),
)
PAIR_COLUMNS = (
    *MODEL_COLUMNS[:4],
    Column("a", "model", "model"),
    Column("b", "against", "model"),
    Column("p_a_beats_b", "P(better)", "resample_share"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class RankStability(GridResult):
    """What `rank_stability` returns.

    Attributes
    ----------
    kinds
        What was resampled, along the first axis.
    values
        Shape (kinds, tasks, metrics, labels, models); the truth, and with it the value, can
        differ between kinds when plausibilities are given.
    spearman, kendall
        Agreement of each replicate's order with that of the values, shape (kinds, tasks,
        metrics, labels, replicates); nan where an order is undefined.
    ranks
        How often each model holds each rank, shape (kinds, tasks, metrics, labels, models,
        ranks); the first rank is the share of resamples in which a model is best.
    beats
        How often one model beats another, ties half, shape (..., models, models).
    counted
        Replicates in which every model is defined, shape (kinds, tasks, metrics, labels).
    level
        Level of the intervals.
    """

    kinds: tuple[str, ...]
    values: Floats
    spearman: Floats
    kendall: Floats
    ranks: Floats
    beats: Floats
    counted: Floats
    level: float = 0.95

    def rows(self) -> list[dict[str, Any]]:
        """One row per kind, task, metric and labels: how stable the order is."""
        found = []
        for cell, names in self._cells():
            found.append(
                names
                | _with_ends("spearman", self._mean(self.spearman[cell]))
                | _with_ends("kendall_tau_b", self._mean(self.kendall[cell]), "kendall")
                | {"undefined": float(np.isnan(self.spearman[cell]).mean())}
                | self._best(cell)
            )
        return found

    def model_rows(self) -> list[dict[str, Any]]:
        """One row per model: its value, and how often it is best and holds each rank.

        The interval of the share in which it is best counts the error of the simulation alone.
        """
        found = []
        for cell, names in self._cells():
            for m, model in enumerate(self.models):
                shares = [float(share) for share in self.ranks[cell][m]]
                ends = simulation_interval(shares[0], int(self.counted[cell]), self.level)
                value = {"model": model, "value": float(self.values[cell][m])}
                best = _with_ends("p_best", (shares[0], *ends))
                found.append(names | value | best | {"rank_probabilities": shares})
        return found

    def pair_rows(self) -> list[dict[str, Any]]:
        """One row per pair of models: how often the first beats the second, ties half."""
        return [
            {**names, "a": a, "b": b, "p_a_beats_b": float(self.beats[cell][i, j])}
            for cell, names in self._cells()
            for i, a in enumerate(self.models)
            for j, b in enumerate(self.models)
            if i < j
        ]

    def said(self, labels: str = "soft") -> str:
        """Tell in one sentence how stable the order of the last task is."""
        front, what = self.in_front(self.rows(), labels), self.what(labels)
        known = [row for row in front if not isnan(row["spearman"])]
        if known:
            place = {kind: position for position, kind in enumerate(FRONT)}
            row = min(known, key=lambda row: place.get(row["kind"], len(FRONT)))
            return _order_sentence(row, len(self.models), what)
        values = np.round(self.values[0, -1, 0, LABELS.index(labels)], 12)
        if len(set(values.tolist())) == 1:
            return f"The {len(self.models)} models are tied by {what}: there is no order."
        return f"The order of the models by {what} is undefined."

    finding = property(said)

    def report(self, labels: str = "soft") -> Finding:
        """The finding for every surface; `labels` stand in front."""
        rows, models = self.rows(), self.model_rows()
        front = {"rows": rows, "brief": self.in_front(rows, labels), "legend": LEGEND}
        near = {"rows": models, "brief": self.in_front(models, labels)}
        stable = f"Stability of the order by {self.what(labels)}"
        best = "Share of resamples in which a model is best, by what is resampled"
        beaten = "Share of resamples in which one model beats another, ties half"
        tables = (
            self.table("ranking", stable, COLUMNS, **front),
            self.table("ranking_model", best, MODEL_COLUMNS, **near),
            self.table("ranking_pair", beaten, PAIR_COLUMNS, rows=self.pair_rows()),
        )
        joint = " Joint resamples err on the wide side." * bool(set(self.kinds) & set(JOINT))
        kinds = "; ".join(IN_FULL[kind] for kind in self.kinds)
        return Finding(
            key="ranking",
            title=TITLE,
            sentence=self.said(labels),
            tables=tables,
            charts=self._charts(labels),
            note=NOTE,
            methods=f"{METHODS}{kinds}.{joint}",
            references=("lionetti2025", "efron1993"),
            notices=self.notices,
        )

    def _charts(self, labels: str) -> tuple[Chart, ...]:
        """Rank correlations by kind; ranks under the steadiest and the shakiest kind."""
        rows, charts = self.in_front(self.rows(), labels), list[Chart]()
        for key, title, stem in (
            ("spearman", "Spearman's rank correlation", "spearman"),
            ("kendall_tau_b", "Kendall's tau-b", "kendall"),
        ):
            ends = [(row[f"{stem}_low"], row[f"{stem}_high"]) for row in rows]
            dots = [
                Dot(RESAMPLED[row["kind"]], row[key], *both)
                for row, both in zip(rows, ends, strict=True)
            ]
            charts.append(
                Dots(
                    name=f"ranking-{key.replace('_', '-')}",
                    caption=f"{title} of resampled orders with the original",
                    axis="1 = same order",
                    rows=dots,
                    reference=1.0,
                )
            )
        known = [row for row in rows if not isnan(row["spearman"])]
        known.sort(key=lambda row: -row["spearman"])
        kinds = dict.fromkeys(row["kind"] for row in [*known[:1], *known[-1:]])
        return (*charts, *(self._rank_heat(kind, labels) for kind in kinds))

    def _rank_heat(self, kind: str, labels: str) -> Heat:
        cell = (self.kinds.index(kind), len(self.tasks) - 1, 0, LABELS.index(labels))
        places = self.ranks[cell] @ np.arange(len(self.models))
        order = np.argsort(places, kind="stable")
        return Heat(
            name=f"ranks-{kind.replace(' ', '-')}",
            caption=f"Share of resamples of {RESAMPLED[kind]} in which a model takes each rank",
            rows=[self.models[m] for m in order],
            columns=[str(place + 1) for place in range(len(self.models))],
            values=np.asarray(self.ranks[cell][order], dtype=np.float64),
            row_models=True,
            x="rank",
        )

    def _best(self, cell: tuple[int, ...]) -> dict[str, Any]:
        """The two models that are best most often, each with its share."""
        share = self.ranks[cell][:, 0]
        first = np.argsort(-np.round(share, 12), kind="stable")[:2]
        known = not np.isnan(share).any()
        best = [(self.models[m], float(share[m])) if known else (None, np.nan) for m in first]
        keys = ("most_often_best", "p_best"), ("runner_up", "p_runner_up")
        return {
            k: v for pair in zip(keys, best, strict=True) for k, v in zip(*pair, strict=True)
        }

    def _cells(self) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
        axes = (self.kinds, self.tasks, self.metrics, LABELS)
        for cell in np.ndindex(self.spearman.shape[:-1]):
            names = (axis[place] for axis, place in zip(axes, cell, strict=True))
            yield cell, dict(zip(("kind", "task", "metric", "labels"), names, strict=True))

    def _mean(self, replicates: Floats) -> Triple:
        """Mean of the defined replicates, and the middle of all."""
        known = replicates[~np.isnan(replicates)]
        value = float(known.mean()) if len(known) else np.nan
        ends = Estimate(value, replicates, "", (-1.0, 1.0)).interval(self.level)
        return value, *ends


def rank_stability(
    predictions: Predictions | Iterable[Predictions],
    annotations: Truths,
    *,
    metrics: Sequence[str | Metric] = DEFAULT,
    kinds: Sequence[str] | None = None,
    plausibilities: Sequence[Plausibilities] = (),
    **how: Unpack[ResamplingKeywords],
) -> RankStability:
    """How stable the order of models is under each kind of resampling.

    Parameters
    ----------
    predictions, annotations, metrics
        As for `evaluate`.
    kinds
        Kinds of resampling; by default all that the data allow, influence apart.
    plausibilities
        One per task, which add the kinds with posterior.
    **how
        ``replicates``, ``seed``, ``settings`` and ``progress`` as in `ResamplingOptions`.
    """
    told, drawn = checked_options(ResamplingOptions, how), plausibilities
    if not isinstance(drawn, Sequence) or not all(isinstance(p, Plausibilities) for p in drawn):
        expected, do = (
            "a list of plausibilities, one per task",
            "aggregate the annotations first",
        )
        raise wrong_type("plausibilities", drawn, expected, do)
    given, chosen = as_predictions(predictions), as_metrics(metrics)
    if len({one.model for one in given}) < 2:
        raise InputError("rank stability", "fewer than two models", "at least two", "add some")
    truths: Truths = annotations
    aside: tuple[Notice, ...] = ()
    if isinstance(annotations, Annotations):
        truths, aside = voting(given, annotations, told.settings.on_missing)
    plans, notices = possible_kinds(truths, kinds, plausibilities)
    done = []
    for kind, truth in plans.items():
        done.append(evaluate_resampled(given, truth, metrics=chosen, kind=kind, options=told))
        told.tell(len(done), len(plans))
    cells = [_stability(one) for one in done]
    arrays = {name: np.stack([one[name] for one in cells]) for name in cells[0]}
    notes = [SHARED_FIRST, *([WIDE] if set(plans) & set(JOINT) else [])]
    return RankStability(
        kinds=tuple(plans),
        tasks=done[0].tasks,
        metrics=tuple(one.name for one in done[0].metrics),
        models=done[0].models,
        values=np.stack([one.values for one in done]),
        **arrays,
        level=told.settings.level,
        notices=as_notices(aside, notices, notes, *(one.notices for one in done)),
    )


def analyse(study: Study) -> Finding:
    """How stable the order of the models of a study is."""
    asked = study.options
    result = rank_stability(
        study.predictions, study.annotations, metrics=asked.metrics, **study.resampled
    )
    return result.report(asked.labels)


def _order_sentence(row: Mapping[str, Any], models: int, what: str) -> str:
    """How stable the order of the models by something is under one kind, in one sentence."""
    wide = " (which errs on the wide side)" if row["kind"] in JOINT else ""
    low, high = row["spearman_low"], row["spearman_high"]
    middle = f" ({number(low, 2)} to {number(high, 2)})" if isfinite(low + high) else ""
    lost = f"; in {percent(row['undefined'])} of the resamples there is no order"
    return (
        f"When {RESAMPLED[row['kind']]} are resampled{wide}, the order of {models} models by "
        f"{what} agrees with the original at a rank correlation of "
        f"{number(row['spearman'], 2)} on average{middle}, and {_leaders(row)}"
        f"{lost if row['undefined'] else ''}."
    )


def _leaders(row: Mapping[str, Any]) -> str:
    """Who is best most often, and who comes next.

    Examples
    --------
    >>> _leaders({"most_often_best": "a", "p_best": 0.4, "runner_up": "b", "p_runner_up": 0.4})
    'a and b are best equally often, in 40% of the resamples each'
    """
    first, second = row["most_often_best"], row["runner_up"]
    most, next_most = (resample_share(row[key]) for key in ("p_best", "p_runner_up"))
    if round(row["p_best"] - row["p_runner_up"], 12) == 0:
        return f"{first} and {second} are best equally often, in {most} of the resamples each"
    return (
        f"{first} is best in {most} of the resamples, followed by {second} with {next_most} "
        "(ties for first are shared)"
    )


def _with_ends(key: str, value: Triple, stem: str = "") -> dict[str, Any]:
    """A number and the ends of its interval, which may have a shorter name."""
    stem = stem or key
    return dict(zip((key, f"{stem}_low", f"{stem}_high"), value, strict=True))


def _stability(done: Evaluation) -> dict[str, Floats]:
    """Correlations of all replicates at once, then ranks and wins, cell by cell."""
    drawn, shape = as_drawn(done), done.values.shape
    first, values = np.moveaxis(drawn, -2, 0), np.moveaxis(done.values, -1, 0)[..., None]
    found = {}
    for name, correlation in (("spearman", spearman), ("kendall", kendall_tau_b)):
        each = correlation(values, first)
        lost = np.isnan(each).any(axis=2, keepdims=True)
        found[name] = np.where(lost & ~lost.all(axis=-1, keepdims=True), np.nan, each)
    ranks, wins = (np.empty((*shape, shape[-1])) for _ in range(2))
    for cell in np.ndindex(*shape[:-1]):
        good = higher_is_better(drawn[cell], done.metrics[cell[1]].better)
        ranks[cell], wins[cell] = rank_probabilities(good), beats(good)
    counted = (~np.isnan(drawn).any(axis=-2)).sum(axis=-1).astype(np.float64)
    return found | {"ranks": ranks, "beats": wins, "counted": counted}

r"""Rank stability: how far the order of models survives when the data are drawn anew.

One evaluation per kind of resampling that the data allow, all with the same seed. In replicate
r the models' values give an order; its agreement with the order of the values on the data as
they are is

.. math:: \rho_r = \mathrm{Spearman}(\theta, \theta^*_r), \qquad
    \tau_r = \text{Kendall's } \tau_b(\theta, \theta^*_r)

and the mean over replicates is the stability. Its interval holds the middle of the replicates:
it says how different single redraws are, and does not shrink with their number. Ties are ties.
Replicates are taken as drawn, before their spread is widened, and only those count in which
both the hard and the soft order are defined.

Kinds that draw items together with votes or annotators err on the wide side
(`equipoise.analyses.rank_words`).

The win rate of soft over ordinary metrics is the share of replicates whose soft order stays
nearer to its own than the hard one, ties half; the gain is the mean difference of correlations.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from equipoise.analyses.rank_words import in_front, order_said, rank_notes
from equipoise.analyses.redrawing import (
    ResamplingKeywords,
    ResamplingOptions,
    Truths,
    as_drawn,
    options,
    redrawable,
    redrawn,
    simulation_interval,
    voting,
)
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, frozen, wrong_type
from equipoise.estimate import Estimate
from equipoise.evaluation import LABELS, Evaluation
from equipoise.evaluation.given import given_metrics, given_predictions
from equipoise.metrics import DEFAULT, Metric, titled
from equipoise.plausibilities import Plausibilities
from equipoise.predictions import Predictions
from equipoise.ranks import beats, goodness, kendall_tau_b, rank_probabilities, spearman


class StabilityHow(ResamplingKeywords, total=False):
    """Keywords of `rank_stability`."""

    plausibilities: Sequence[Plausibilities]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stability(ResamplingOptions):
    plausibilities: Sequence[Plausibilities] = ()

    def __post_init__(self) -> None:
        ResamplingOptions.__post_init__(self)
        known = isinstance(self.plausibilities, Sequence)
        if not known or not all(isinstance(one, Plausibilities) for one in self.plausibilities):
            raise wrong_type(
                "plausibilities", self.plausibilities, "a list of plausibilities, one per task",
                "aggregate the annotations first",
            )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RankStability:
    """What `rank_stability` returns.

    Attributes
    ----------
    kinds, tasks, metrics, models
        Names along the axes; labels are hard, then soft.
    values
        Shape (kinds, tasks, metrics, labels, models); the truth, and with it the value, can
        differ between kinds when plausibilities are given.
    spearman, kendall
        Agreement of each replicate's order with that of the values, shape (kinds, tasks,
        metrics, labels, replicates); nan where an order is undefined.
    ranks
        How often each model holds each rank, shape (kinds, tasks, metrics, labels, models,
        ranks); the first rank is P(best).
    beats
        How often one model beats another, ties half, shape (..., models, models).
    counted
        Replicates in which every model is defined, shape (kinds, tasks, metrics, labels).
    level
        Level of the intervals.
    notices
        What the user should know, one sentence each.
    """

    kinds: tuple[str, ...]
    tasks: tuple[str, ...]
    metrics: tuple[str, ...]
    models: tuple[str, ...]
    values: Floats
    spearman: Floats
    kendall: Floats
    ranks: Floats
    beats: Floats
    counted: Floats
    level: float = 0.95
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("values", "spearman", "kendall", "ranks", "beats", "counted"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def rows(self) -> list[dict[str, Any]]:
        """One row per kind, task, metric and labels: how stable the order is."""
        found = []
        for cell, names in self._cells():
            rho, tau = self._mean(self.spearman[cell]), self._mean(self.kendall[cell])
            best = self._best(cell)
            wins, gain = self._compared(cell[:3])
            found.append({
                **names, "spearman": rho[0], "spearman_low": rho[1], "spearman_high": rho[2],
                "kendall_tau_b": tau[0], "kendall_low": tau[1], "kendall_high": tau[2],
                "undefined": float(np.isnan(self.spearman[cell]).mean()),
                "most_often_best": best[0][0], "p_best": best[0][1],
                "runner_up": best[1][0], "p_runner_up": best[1][1],
                "soft_win_rate": wins[0], "win_low": wins[1], "win_high": wins[2],
                "soft_gain": gain[0], "gain_low": gain[1], "gain_high": gain[2],
            })  # fmt: skip
        return found

    def model_rows(self) -> list[dict[str, Any]]:
        """One row per model: its value, P(best) and how often it holds each rank.

        The interval of P(best) counts the chance of the simulation alone.
        """
        found = []
        for cell, names in self._cells():
            number = int(self.counted[cell])
            for m, model in enumerate(self.models):
                shares = [float(share) for share in self.ranks[cell][m]]
                low, high = simulation_interval(shares[0], number, self.level)
                found.append({
                    **names, "model": model, "value": float(self.values[cell][m]),
                    "p_best": shares[0], "p_best_low": low, "p_best_high": high,
                    "rank_probabilities": shares,
                })  # fmt: skip
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
        cell = (self.tasks[-1], self.metrics[0], labels)
        rows = [r for r in self.rows() if (r["task"], r["metric"], r["labels"]) == cell]
        what = titled(cell[1], labels) + (f" ({cell[0]})" if cell[0] else "")
        row = in_front(rows)
        if row is None:
            return self._no_order(labels, what)
        return order_said(row, len(self.models), what)

    def _no_order(self, labels: str, what: str) -> str:
        """Say why there is no order whose stability could be told."""
        values = np.round(self.values[0, -1, 0, LABELS.index(labels)], 12)
        if len(set(values.tolist())) == 1:
            return f"The {len(self.models)} models are level by {what}: there is no order."
        return f"The order of the models by {what} is undefined."

    finding = property(said)

    def _best(self, cell: tuple[int, ...]) -> list[tuple[str | None, float]]:
        """The two models that are best most often, with their shares."""
        share = self.ranks[cell][:, 0]
        if np.isnan(share).any():
            return [(None, np.nan)] * 2
        first = np.argsort(-np.round(share, 12), kind="stable")[:2]
        return [(self.models[m], float(share[m])) for m in first]

    def _cells(self) -> Iterator[tuple[tuple[int, ...], dict[str, str]]]:
        axes = (self.kinds, self.tasks, self.metrics, LABELS)
        for cell in np.ndindex(self.spearman.shape[:-1]):
            names = (axis[place] for axis, place in zip(axes, cell, strict=True))
            yield cell, dict(zip(("kind", "task", "metric", "labels"), names, strict=True))

    def _mean(self, replicates: Floats, reach: float = 1.0) -> tuple[float, float, float]:
        """Mean of the defined replicates, and the middle of all."""
        known = replicates[~np.isnan(replicates)]
        value = float(known.mean()) if len(known) else np.nan
        ends = Estimate(value, replicates, "", (-reach, reach)).interval(self.level)
        return value, *ends

    def _compared(self, cell: tuple[int, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Win rate of soft over hard with its simulation error, and the gain."""
        wins, ties, losses = tally(self.spearman[cell])
        number = wins + ties + losses
        rate = (wins + ties / 2) / number if number else float("nan")
        gain = np.diff(self.spearman[cell], axis=0)[0]
        return (rate, *simulation_interval(rate, number, self.level)), self._mean(gain, 2.0)


def rank_stability(
    predictions: Predictions | Iterable[Predictions],
    annotations: Truths,
    *,
    metrics: Sequence[str | Metric] = DEFAULT,
    kinds: Sequence[str] | None = None,
    **how: Unpack[StabilityHow],
) -> RankStability:
    """How stable the order of models is under each kind of resampling.

    Parameters
    ----------
    predictions, annotations, metrics
        As for `evaluate`.
    kinds
        Kinds of resampling; by default all that the data allow, influence apart.
    **how
        ``replicates``, ``seed``, ``settings`` and ``progress`` as in `ResamplingOptions`;
        ``plausibilities``, one per task, add the kinds with posterior.
    """
    told = options(_Stability, how)
    given, chosen = given_predictions(predictions), given_metrics(metrics)
    if len({one.model for one in given}) < 2:
        raise InputError("rank stability", "fewer than two models", "at least two", "add some")
    truths: Truths = annotations
    aside: tuple[str, ...] = ()
    if isinstance(annotations, Annotations):
        truths, aside = voting(given, annotations, told.settings.on_missing)
    plans, notices = redrawable(truths, kinds, told.plausibilities)
    done = []
    for kind, truth in plans.items():
        done.append(redrawn(given, truth, metrics=chosen, kind=kind, told=told))
        told.tell(len(done), len(plans))
    cells = [_stability(one) for one in done]
    arrays = {name: np.stack([one[name] for one in cells]) for name in cells[0]}
    said = [*notices, *rank_notes(tuple(plans))]
    said += [note for one in done for note in one.notices]
    return RankStability(
        kinds=tuple(plans),
        tasks=done[0].tasks,
        metrics=tuple(one.name for one in done[0].metrics),
        models=done[0].models,
        values=np.stack([one.values for one in done]),
        **arrays,
        level=told.settings.level,
        notices=tuple(dict.fromkeys((*aside, *said))),
    )


def tally(both: Floats) -> tuple[int, int, int]:
    """Replicates in which the second row is larger, level and smaller, both defined.

    Examples
    --------
    >>> tally(np.array([[0.5, 0.5, np.nan], [0.6, 0.5, 1.0]]))
    (1, 1, 0)
    """
    gap = np.round(both[1] - both[0], 12)
    return int((gap > 0).sum()), int((gap == 0).sum()), int((gap < 0).sum())


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
        good = goodness(drawn[cell], done.metrics[cell[1]].better)
        ranks[cell], wins[cell] = rank_probabilities(good), beats(good)
    counted = (~np.isnan(drawn).any(axis=-2)).sum(axis=-1).astype(np.float64)
    return found | {"ranks": ranks, "beats": wins, "counted": counted}

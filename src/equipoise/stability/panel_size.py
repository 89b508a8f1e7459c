r"""Panel size: how estimate and uncertainty change with the number of annotators.

Panels of m = 2, ..., M annotators are drawn without replacement from the M there are, and every
model is scored on the labels of each. The mean over panels shows how the value moves with m;

.. math:: \bar v(m) \approx a + b / m

is fitted to it, so that a is the value with ever more annotators *like these*: the assumption
is that the people are exchangeable and that the effect of noise in the labels falls as 1/m,
which holds for smooth metrics to first order. Panels drawn from M people vary less than fresh
ones, by the factor 1 - m/M of sampling without replacement; the half-widths here undo it, and
with v the fitted variance of one annotator the half-width with m is :math:`z \sqrt{v / m}`.

The interval of a is the jackknife over annotators. For anonymous votes at most m votes of each
item are drawn instead, and the interval of a resamples items. The rank correlation is with the
order by the whole panel, so that it is 1 for m = M by construction.

Examples
--------
>>> from equipoise.demo import reading_study
>>> readings, scores = reading_study()
>>> curve = panel_size(scores, readings, replicates=50)
>>> curve.sizes
array([2, 3, 4, 5, 6, 7, 8])
>>> bool(curve.spearman[-1] == 1.0)
True
"""

from dataclasses import dataclass
from math import ceil
from typing import Any, Unpack

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.ranks import goodness, spearman
from equipoise.stability._asked import How, asked
from equipoise.stability._curves import fitted, half_widths, limit_ends, quantile
from equipoise.stability._subject import Given, Study, freeze, mean_over_tasks, shown, study
from equipoise.stability._subsets import Paths, fewer_votes, smaller_panels

CLOSE = 0.95  # rank correlation from which on an order counts as found again


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PanelSize:
    """Every model by the number of annotators (or votes per item).

    Attributes
    ----------
    task, metric, labels, models, level
        What was scored, and the level of the intervals.
    unit
        ``annotators``, or ``votes per item`` when votes are anonymous.
    sizes, subsets, coverage
        How many, how many panels were drawn, and the mean share of items that keep a vote.
    mean, spread
        Mean and standard deviation over the panels drawn, shape (sizes, models).
    half_width
        Half-width of the interval for a fresh panel of that size, shape (sizes, models).
    spearman, spearman_low
        Rank correlation with the whole panel: mean and lower 2.5 % over panels, (sizes,).
    limit, limit_low, limit_high, slope
        The fitted a with its interval, and b, shape (models,).
    variance
        Fitted variance of one annotator, shape (models,).
    notices
        What the user should know, one sentence each.
    """

    task: str
    metric: str
    labels: str
    models: tuple[str, ...]
    level: float
    unit: str
    sizes: Ints
    subsets: Ints
    coverage: Floats
    mean: Floats
    spread: Floats
    half_width: Floats
    spearman: Floats
    spearman_low: Floats
    limit: Floats
    limit_low: Floats
    limit_high: Floats
    slope: Floats
    variance: Floats
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    def predicted(self, size: int) -> Floats:
        """Value of each model expected with this many annotators, shape (models,)."""
        return np.asarray(self.limit + self.slope / _whole(size))

    def predicted_half_width(self, size: int) -> Floats:
        """Half-width of each model's interval with this many annotators, shape (models,)."""
        return np.asarray(quantile(self.level) * np.sqrt(self.variance / _whole(size)))

    def enough_for_width(self, half_width: float) -> int | None:
        """Fewest annotators for which every model's half-width is small enough.

        Beyond the panel it is an extrapolation; None when the variance is undefined.
        """
        if not half_width > 0:
            raise InputError(
                "panel size, half_width", f"{half_width}", "a positive number", "try 0.02"
            )
        worst = float(self.variance.max())
        if np.isnan(worst):
            return None
        return max(2, ceil(round(worst * (quantile(self.level) / half_width) ** 2, 9)))

    def enough_for_order(self, correlation: float = CLOSE) -> int | None:
        """Fewest annotators whose order of models correlates as much with the whole panel's.

        None when there is no order to compare, or no size reaches it.
        """
        if not -1 <= correlation <= 1:
            raise InputError(
                "panel size, correlation", f"{correlation}", "a number in [-1, 1]", "try 0.95"
            )
        reached = np.flatnonzero(self.spearman >= correlation - 1e-12)
        return int(self.sizes[reached[0]]) if len(reached) else None

    @property
    def finding(self) -> str:
        """What came out, as a sentence."""
        most = int(self.sizes[-1])
        width = float(self.half_width[-1].max())
        said = (
            f"With {most} {self.unit} the half-width of {self.metric} that is due to "
            f"{'them' if self.unit == 'annotators' else 'the votes'} is at most {shown(width)}"
        )
        if np.isnan(width):
            return f"{self.metric} is undefined for some size of the panel."
        enough = self.enough_for_order()
        if enough is None:
            return f"{said}."
        if enough == most:
            return (
                f"{said}; no smaller panel gives the order of the {len(self.models)} models "
                f"with a mean rank correlation of at least {CLOSE:g} to that of all."
            )
        return (
            f"{said}; {enough} {self.unit} give the order of the {len(self.models)} models "
            f"with a mean rank correlation of at least {CLOSE:g} to that of all."
        )

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict per size and model."""
        return [
            {
                "task": self.task,
                "metric": self.metric,
                "labels": self.labels,
                "unit": self.unit,
                "size": int(size),
                "subsets": int(self.subsets[s]),
                "coverage": float(self.coverage[s]),
                "model": model,
                "mean": float(self.mean[s, m]),
                "spread": float(self.spread[s, m]),
                "half_width": float(self.half_width[s, m]),
                "fitted": float(self.limit[m] + self.slope[m] / size),
                "spearman": float(self.spearman[s]),
                "spearman_low": float(self.spearman_low[s]),
                "limit": float(self.limit[m]),
                "limit_low": float(self.limit_low[m]),
                "limit_high": float(self.limit_high[m]),
            }
            for s, size in enumerate(self.sizes)
            for m, model in enumerate(self.models)
        ]


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def panel_size(predictions: Given, annotations: Annotations, **how: Unpack[How]) -> PanelSize:
    """Score every model on the labels of smaller panels, and extrapolate to larger ones.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say; at least three annotators, or three votes per item.
    **how
        See `equipoise.stability._asked.Asked`; replicates are subsets per size.
    """
    found = study(predictions, annotations, asked(how))
    paths, unit = _paths(found, annotations)
    mean = np.stack([one.mean(axis=1) for one in paths.values])
    spread = np.stack([one.std(axis=1) for one in paths.values])
    variance, half = half_widths(paths, spread, found.asked.level)
    order, low = _order(found, paths)
    limit, slope = fitted(paths.sizes, mean)
    ends = limit_ends(paths, limit, found)
    return PanelSize(
        task=found.task,
        metric=found.metric.name,
        labels=found.asked.labels,
        models=found.models,
        level=found.asked.level,
        unit=unit,
        sizes=paths.sizes,
        subsets=np.array([one.shape[1] for one in paths.values]),
        coverage=paths.coverage,
        mean=mean,
        spread=spread,
        half_width=half,
        spearman=order,
        spearman_low=low,
        limit=limit,
        limit_low=ends[0],
        limit_high=ends[1],
        slope=slope,
        variance=variance,
        notices=(*found.notices, *_cautions(paths)),
    )


def _paths(found: Study, annotations: Annotations) -> tuple[Paths, str]:
    votes = [one.question.votes for one in found.subjects]
    if annotations.annotators is not None:
        people = len(annotations.annotators)
        load = sum(
            np.bincount(one.annotator[one.annotator >= 0], minlength=people)
            for one in votes
            if one is not None
        )
        active = np.flatnonzero(load)
        if len(active) >= 3:
            return smaller_panels(found, active, people), "annotators"
        got = f"{len(active)} annotators"
    else:
        sizes = np.concatenate([one.sizes for one in votes if one is not None])
        most = int(np.median(sizes))
        if most >= 3:
            return fewer_votes(found, most), "votes per item"
        got = f"anonymous votes, {most} on a typical item"
    raise InputError(
        "panel_size", got, "at least three annotators, or three votes per item",
        "ask more annotators",
    )  # fmt: skip


def _cautions(paths: Paths) -> list[str]:
    if paths.coverage[0] > 0.95:
        return []
    return [
        f"Panels of {paths.sizes[0]} reach {paths.coverage[0]:.0%} of the items on average: "
        "for small panels the spread is also that of the items they happen to rate."
    ]


def _order(found: Study, paths: Paths) -> tuple[Floats, Floats]:
    """Rank correlation with the whole panel: mean and lower end over subsets, (sizes,)."""
    if len(found.models) < 2:
        nothing = np.full(len(paths.sizes), np.nan)
        return nothing, nothing
    full = goodness(mean_over_tasks([one.full() for one in found.subjects]), "higher")
    near = [
        np.atleast_1d(spearman(one, np.broadcast_to(full[:, None], one.shape)))
        for one in paths.values
    ]
    return np.array([one.mean() for one in near]), np.array(
        [np.quantile(one, 0.025) for one in near]
    )


def _whole(size: int) -> int:
    if not isinstance(size, int | np.integer) or size < 1:
        raise InputError("panel size", f"{size}", "a whole number of at least 1", "try 10")
    return int(size)

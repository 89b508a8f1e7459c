"""Thresholds set by experts, as plain facts for tables, figures and JSON.

The threshold with its interval, how many items it makes positive, and what models are worth as
it moves. Where the experts' labels set no threshold, what would follow from it says so.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equipoise.analyses.threshold_sweep import Grid, called, threshold_sweep
from equipoise.analyses.thresholds import ExpertSample, Rule, Threshold, expert_threshold
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, Ints, PerItem
from equipoise.metrics import DEFAULT, Metric, named
from equipoise.predictions import Predictions
from equipoise.run.record import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

Facts = dict[str, Any]
FINE = 31  # points of the curve of prevalence
NONE = "The experts' labels set no threshold that could be moved."


class Chances(NamedTuple):
    """The probability of every item.

    Attributes
    ----------
    items, values
        Names and probabilities.
    words, model
        Where the probabilities come from, and the model of votes.
    group
        Which group (patient, night) each item belongs to, where that is known.
    """

    items: tuple[str, ...]
    values: PerItem
    words: str
    model: str = ""
    group: Ints | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdHow:
    """What is asked about a threshold.

    Attributes
    ----------
    rule
        How it is set; replicates, seed and level also hold for the models.
    reach, steps
        How far it is moved on either side, and in how many steps.
    metrics
        Metrics of the models, or their names.
    on_missing
        As in `equipoise.evaluation.Settings`.
    progress
        Called as ``progress(done, all)``.
    """

    rule: Rule = field(default_factory=Rule)
    reach: float = 0.15
    steps: int = 5
    metrics: Sequence[str | Metric] = DEFAULT
    on_missing: str = "error"
    progress: Callable[[int, int], None] | None = None

    def grid(self, group: Ints | None) -> Grid:
        """The same for a sweep of items that belong to these groups."""
        how = self.rule
        return Grid(
            self.reach, self.steps, self.metrics, how.replicates, how.seed, how.level,
            self.progress, on_missing=self.on_missing, group=group,
        )  # fmt: skip


def threshold_facts(
    chances: Chances,
    sample: ExpertSample,
    votes: Annotations,
    predictions: Sequence[Predictions] = (),
    how: ThresholdHow | None = None,
) -> Facts:
    """Everything about a threshold that experts set, ready for JSON.

    Parameters
    ----------
    chances
        The probability of every item.
    sample
        What was sent to the experts.
    votes
        What they said.
    predictions
        Models to score against the labels of each threshold; none leaves that out.

    Examples
    --------
    >>> from equipoise.analyses.thresholds import sampling_plan
    >>> items = tuple(f"i{k}" for k in range(40))
    >>> chances = Chances(items, np.linspace(0, 1, 40), "a model's")
    >>> sample = sampling_plan(chances.values, items, bins=4, per_bin=10)
    >>> votes = Annotations(kind="binary", items=sample.items, classes=("no", "yes"),
    ...     annotators=("x", "y"), item=np.repeat(np.arange(40), 2),
    ...     annotator=np.tile([0, 1], 40), label=np.repeat(sample.bin > 1, 2).astype(int))
    >>> facts = threshold_facts(chances, sample, votes)
    >>> facts["threshold"]["value"], facts["prevalence"]["value"]
    (0.628, 0.375)
    """
    told = how or ThresholdHow()
    grid = told.grid(chances.group)
    found = expert_threshold(sample, votes, told.rule)
    facts: Facts = {
        "schema": 1,
        "equipoise": version("equipoise"),
        "chances": chances.words,
        "truth_model": chances.model,
        "settings": _settings(told),
        "data": {
            "items": len(chances.items),
            "sampled": len(sample.items),
            "labelled": int(found.bin_items.sum()),
            "bins": len(sample.bin_mean),
            "experts": found.experts,
            "votes": len(votes),
        },
        "sample": {"bins": len(sample.bin_mean), "seed": sample.seed},
        "threshold": _threshold(found),
        "prevalence": _prevalence(found, chances, grid),
        "models": list(dict.fromkeys(one.model for one in predictions)),
        "metrics": _metrics(told.metrics) if predictions else [],
        "notices": [*sample.notices, *found.notices],
    }
    if predictions:
        facts["sweep"] = _sweep(found, chances, predictions, grid)
    facts["finding"] = f"{facts['threshold']['finding']} {facts['prevalence']['finding']}"
    return dict(plain(facts))


def _settings(told: ThresholdHow) -> Facts:
    rule = told.rule
    return {
        "rule": rule.name, "margin": rule.margin, "share": rule.share, "redraw": rule.redraw,
        "replicates": rule.replicates, "seed": rule.seed, "level": rule.level,
        "reach": told.reach, "steps": told.steps, "on_missing": told.on_missing,
    }  # fmt: skip


def _metrics(metrics: Sequence[str | Metric]) -> list[Facts]:
    names = ("name", "title", "soft_title", "better", "bounds", "definition")
    made = [named(one) if isinstance(one, str) else one for one in metrics]
    return [{name: getattr(one, name) for name in names} for one in made]


def _threshold(found: Threshold) -> Facts:
    low, high = found.interval
    return {
        "finding": found.finding, "value": found.value, "low": low, "high": high,
        "stays": found.stays, "bin": found.bin_number, "intervals": found.intervals(),
        "rows": found.rows(), "chosen": found.chosen(),
        "fit": [{"probability": x, "share": y}
                for x, y in zip(found.fit_at, found.fit_share, strict=True)],
    }  # fmt: skip


def _prevalence(found: Threshold, chances: Chances, grid: Grid) -> Facts:
    """How many items are positive at the threshold, at its ends, and around it."""
    if math.isnan(found.value):
        return {
            "finding": "No item can be called positive or negative by it.",
            "left_out": NONE,
        }
    spots = [found.value, *found.interval]
    here, late, soon = (_positives(chances, spot) for spot in spots)
    ends = sorted(one["prevalence"] for one in (soon, late))
    known = not any(math.isnan(one) for one in ends)
    words = f" [{ends[0]:.1%}, {ends[1]:.1%}]" if known else ""
    ends_at = [one for one in spots if not math.isnan(one)]
    start = max(0.0, min(*ends_at, found.value - grid.reach))
    stop = min(1.0, max(*ends_at, found.value + grid.reach))
    fine = sorted({*np.linspace(start, stop, FINE).tolist(), *ends_at})
    return {
        "finding": (
            f"At this threshold {here['positives']:,} of {len(chances.items):,} items are "
            f"positive ({here['prevalence']:.1%}{words})."
        ),
        "value": here["prevalence"], "positives": here["positives"],
        "low": ends[0] if known else math.nan, "high": ends[1] if known else math.nan,
        "centre": found.value, "rows": [_positives(chances, spot) for spot in fine],
    }  # fmt: skip


def _positives(chances: Chances, threshold: float) -> "Mapping[str, Any]":
    """Items at or above a threshold; undefined where there is none."""
    if math.isnan(threshold):
        return {"threshold": threshold, "positives": 0, "prevalence": math.nan}
    above = int(np.sum(called(chances.values, threshold)))
    share = above / len(chances.items)
    return {"threshold": threshold, "positives": above, "prevalence": share}


def _sweep(
    found: Threshold, chances: Chances, predictions: Sequence[Predictions], grid: Grid
) -> Facts:
    """What models are worth as the threshold moves, or the reason why nothing is known."""
    if math.isnan(found.value):
        return {"left_out": NONE}
    try:
        moved = threshold_sweep(predictions, chances.values, chances.items, found.value, grid)
    except InputError as error:
        raise InputError(
            f"models, {error.where}", error.got, error.expected, error.do
        ) from None
    agreement = [
        {"threshold": t, "metric": metric, "spearman": value}
        for (t, metric), value in moved.agreement.items()
    ]
    return {
        "finding": moved.finding, "rows": moved.rows(), "notices": moved.notices,
        "agreement": agreement, "centre": moved.centre, "strict": moved.strict,
        "groups": moved.groups,
    }  # fmt: skip

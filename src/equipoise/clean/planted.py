"""Planted problems: would the rankings find what is known to be wrong?

A sample of the collection gets foreign images, altered copies and changed labels from
`equipoise.clean.contaminate`; the same detectors rank it, and the shared evaluation scores the
rankings against what was planted. Planted problems are often easier than real ones and of other
kinds, and what was wrong before and was not left out counts against a ranking, so this says
whether a ranking works on such data, not how many real problems it finds.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from equipoise.clean.collection import Collection
from equipoise.clean.contaminate import Copies, Flips, OffTopic, contaminate
from equipoise.clean.detector import Detector, Progress, Task
from equipoise.study import evaluate
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError
from equipoise.types.predictions import Predictions

if TYPE_CHECKING:
    from equipoise.clean.encoders import Encoder
    from equipoise.clean.study import CleanStudy

LEAST = 20  # items below which nothing is planted
SAMPLE = 2_000  # items of which a copy is made
SHARE, FEWEST, MOST = 0.05, 5, 100  # planted problems of a kind: share of the items, and ends
REACH = 1.2  # how far down the list is looked, in numbers of planted problems
METRICS = ("auroc", "average_precision")


@dataclass(frozen=True, slots=True)
class PlantedMetric:
    """One number of a ranking of planted problems, with its interval."""

    metric: str
    title: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """How a detector ranked planted problems.

    Attributes
    ----------
    planted, found, within
        How many there were, and how many of them are among the first `within` of the list.
    metrics
        What the shared evaluation says.
    """

    task: Task
    detector: str
    planted: int
    found: int
    within: int
    metrics: tuple[PlantedMetric, ...]


def planted_check(
    data: Collection,
    detectors: Sequence[Detector],
    encoder: "Encoder | None",
    seed: int,
    stage: Callable[[str], Progress],
) -> tuple[tuple[Planted, ...], str]:
    """Plant problems into a copy and rank it; the reason where nothing was planted.

    Parameters
    ----------
    data
        A collection without what is in doubt.
    """
    size = len(data)
    if size < LEAST:
        return (), f"problems are planted into {LEAST} images or more; got {size}"
    try:
        stage("planting problems")
        study = _planted(data, {one.task for one in detectors}, encoder, seed)
    except InputError as error:
        return (), f"{error.got}; it takes {error.expected}"
    made, reason = [], "nothing could be planted"
    for one in detectors:
        if one.task in study.truths:
            tell = stage(f"checking {one.title}")
            try:
                made.append(_ranked(one, study, seed, tell))
            except InputError as error:  # of a copy that does not suit the detector
                reason = f"{error.got}; it takes {error.expected}"
    return tuple(made), "" if made else reason


def _planted(
    data: Collection, tasks: set[Task], encoder: "Encoder | None", seed: int
) -> "CleanStudy":
    """A sample of the collection with problems in it."""
    data = replace(data, pairs=None, split=())
    if len(data) > SAMPLE:
        random = np.random.default_rng(seed)
        data = data.subset(np.sort(random.choice(len(data), SAMPLE, replace=False)))
    if encoder is None and data.embeddings is not None:
        data = replace(data, images=None)
    share = min(max(FEWEST, round(SHARE * len(data))), MOST) / len(data)
    return contaminate(
        data,
        off_topic=OffTopic(share=share) if "off_topic" in tasks else None,
        copies=Copies(share=share, largest=2) if "near_duplicates" in tasks else None,
        flips=Flips(share=share) if "label_errors" in tasks else None,
        encoder=encoder,
        seed=seed,
    )


def _ranked(one: Detector, study: "CleanStudy", seed: int, tell: Progress) -> Planted:
    """What one detector makes of the planted problems."""
    truth = study.truths[one.task]
    judged = one.score(study.seen(one.task), seed=seed, progress=tell)
    assert truth.label is not None
    bad = {truth.items[i] for i in truth.item[truth.label == 1]}
    within = math.ceil(REACH * len(bad))
    names = [*METRICS, f"precision_at_{len(bad)}"]
    scored = evaluate(_of_truth(judged, truth), truth, metrics=names)
    titles = {metric.name: metric.title for metric in scored.metrics}
    rows = [row for row in scored.table() if row.labels == "hard"]
    whole = judged
    if one.task == "near_duplicates":  # among all pairs, not only those that were judged
        whole = one.score(study.collection, seed=seed, progress=tell)
    return Planted(
        task=one.task,
        detector=one.name,
        planted=len(bad),
        found=round(_expected(whole, bad, within)),
        within=within,
        metrics=tuple(
            PlantedMetric(row.metric, titles[row.metric], row.value, row.low, row.high)
            for row in rows
        ),
    )


def _of_truth(judged: Predictions, truth: Annotations) -> Predictions:
    """Scores of what was judged, under its task; items without a label may have none."""
    scored = set(judged.items)
    kept = judged.of_items([name for name in truth.items if name in scored])
    return replace(kept, task=truth.tasks[0])


def _expected(ranked: Predictions, bad: set[str], within: int) -> float:
    """How many of the bad are among the first; those that tie at the end count by share."""
    values = np.asarray(ranked.values, dtype=float)
    is_bad = np.array([name in bad for name in ranked.items])
    if len(values) <= within:
        return float(is_bad.sum())
    edge = np.sort(values)[-within]
    above, level = values > edge, values == edge
    share = (within - above.sum()) / level.sum()
    return float(is_bad[above].sum() + share * is_bad[level].sum())

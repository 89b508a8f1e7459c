"""Eight radiologists and ten models: what the resampled panel and the redrawn votes say."""

import csv
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from equipoise.inference.resampling import resample
from equipoise.study import Settings, evaluate
from equipoise.types import Annotations, Predictions

FOLDER = Path(os.environ.get("EQUIPOISE_DATA", "")) / "chexpert"
FINDINGS = ("Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Pleural Effusion")
pytestmark = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ or not FOLDER.is_dir(),
    reason="needs the folder chexpert in EQUIPOISE_DATA",
)


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return {
            row["Study"]: [float(row[name]) for name in FINDINGS]
            for row in csv.DictReader(file)
        }


@cache
def world():
    """Votes of all readers on five findings, and the predictions of all models."""
    readers = [rows(path) for path in sorted((FOLDER / "radiologists").glob("*.csv"))]
    items = tuple(readers[0])
    label = np.array([[reader[item] for item in items] for reader in readers]).astype(int)
    annotator, item, task = (x.ravel() for x in np.indices(label.shape))
    truth = Annotations(
        kind="binary", items=items, classes=("absent", "present"), tasks=FINDINGS,
        annotators=tuple(f"bc{k}" for k in range(len(readers))), item=item, task=task,
        annotator=annotator, label=label.ravel(),
    )  # fmt: skip
    models = []
    for path in sorted((FOLDER / "predictions").glob("*.csv")):
        scores, name = rows(path), path.stem.removesuffix("_predictions")
        models += [
            Predictions(
                name, tuple(scores), np.array([v[t] for v in scores.values()]), task=finding
            )
            for t, finding in enumerate(FINDINGS)
        ]
    return truth, models


@cache
def evaluated(kind):
    truth, models = world()
    plan = resample(truth, kind, replicates=600)
    former = Settings(ties="negative")  # as the published tables
    return evaluate(models, truth, metrics=["auroc"], resampling=plan, settings=former)


def test_items_and_the_panel_are_resampled_by_default():
    assert resample(world()[0]).kind == "items x panel"


def test_a_redrawn_panel_says_more_than_redrawn_votes():
    panel, votes = (
        evaluated(kind).replicates[:5, 0, 1].std(axis=-1) for kind in ("panel", "votes")
    )
    ratio = panel / votes
    assert 1.0 < ratio.min() < 1.6
    assert 4.5 < ratio.max() < 7.0


def test_redrawn_votes_of_a_majority_exclude_its_own_value():
    estimate = evaluated("votes").estimate(
        "hieupham", "auroc", labels="hard", task="Pleural Effusion"
    )
    low, high = estimate.resampled()
    assert estimate.value == pytest.approx(0.980, abs=5e-4)
    assert (low, high) == pytest.approx((0.951, 0.974), abs=3e-3)
    assert high < estimate.value and estimate.shift < -0.01
    low, high = estimate.interval()  # that of items and annotators like these holds it
    assert low < estimate.value < high


def test_identical_public_models_share_their_rank():
    chances = evaluated("panel").rank_probabilities("auroc", labels="soft", task="Edema")
    names = evaluated("panel").models
    same = [names.index(name) for name in ("drnet", "ihil", "sensexdr")]
    assert np.allclose(chances[same], chances[same[0]])

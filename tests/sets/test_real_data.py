"""Prediction sets on public data: votes of CIFAR-10H held out, and diagnoses of skin cases."""

import os
from pathlib import Path

import numpy as np
import pytest

from equipoise.datasets import LOADERS
from equipoise.sets import Calibration
from equipoise.sets.rules import SetSample
from equipoise.study.study import Study
from equipoise.types import Annotations, Plausibilities, Predictions

FOLDER = Path(os.environ.get("EQUIPOISE_DATA", ""))


def needs(name):
    there = "EQUIPOISE_DATA" in os.environ and (FOLDER / name).is_dir()
    reason = f"set EQUIPOISE_DATA to a folder that holds {name}/"
    return pytest.mark.skipif(not there, reason=reason)


@needs("cifar10h")
def test_sets_hold_votes_of_cifar10h_that_were_held_out():
    """Two votes an image are the model, twenty calibrate it, the others are looked at."""
    table = LOADERS["cifar10h"]().annotations
    counts = np.zeros((len(table.items), 10), dtype=np.int64)
    counts[table.item, table.label] = table.count
    random = np.random.default_rng(0)
    of_model = random.multivariate_hypergeometric
    first = np.stack([of_model(row, 2) for row in counts])
    left = counts - first
    known = np.stack([of_model(row, 20) for row in left])
    held_out = left - known
    usual = first.T @ first / first.sum(axis=0)[:, None]  # what is said beside a class
    chance = 0.9 * first / 2 + 0.1 * (first @ usual / 4 + 0.025) / (
        (first @ usual / 4 + 0.025).sum(axis=1, keepdims=True)
    )
    items, classes = table.items, table.classes
    model = Predictions("net", items, chance / chance.sum(axis=1, keepdims=True), classes)
    half = np.arange(len(items)) < 5000
    item, label = np.nonzero(known * half[:, None])
    votes = Annotations(
        kind="nominal", items=items[:5000], classes=classes, item=item, label=label,
        count=known[item, label],
    )  # fmt: skip
    part = model.of_items(items[:5000])
    sample = SetSample.of(Study.of(part, votes, metrics=["brier_score"]))
    new = held_out[~half] / held_out[~half].sum(axis=1, keepdims=True)
    for alpha in (0.02, 0.03):
        held = [
            (new * (model.values[~half] >= sample.rule(0, "net", how, hard=hard).threshold))
            .sum(axis=1)
            .mean()
            for how, hard in (
                (Calibration(alpha=alpha), True),
                (Calibration(alpha=alpha), False),
                (Calibration(alpha=alpha, guarantee="two_way"), False),
            )
        ]
        assert held[0] < held[1] <= held[2]
        assert held[1] == pytest.approx(1 - alpha, abs=0.006)
        assert held[2] >= 1 - alpha - 0.002


@needs("dermatology_ddx")
def test_sets_on_the_majority_of_dermatologists_fall_short_of_readers():
    """One reading a case is the model, inverse ranks of the others are plausible.

    At a nominal coverage of 72 % sets on the top class hold about ten points less of what is
    plausible, as published (with a model that is not public); sets on all of it hold what they
    promise.
    """
    table = LOADERS["dermatology_ddx"]().annotations
    items, classes = table.items, table.classes
    reading_item = np.zeros(int(table.reading.max()) + 1, dtype=np.int64)
    reading_item[table.reading] = table.item
    order = np.argsort(reading_item, kind="stable")
    place = np.arange(len(order)) - np.searchsorted(reading_item[order], reading_item[order])
    role = np.empty(len(order), dtype=np.int64)
    role[order] = place
    of_row = role[table.reading]
    base = np.bincount(table.label, minlength=len(classes)) + 0.5
    said = np.zeros((len(items), len(classes)))
    model_rows = of_row == 0
    weight = 1 / (1.0 + table.rank[model_rows])
    np.add.at(said, (table.item[model_rows], table.label[model_rows]), weight)
    chance = 0.75 * said / said.sum(axis=1, keepdims=True) + 0.25 * base / base.sum()
    model = Predictions("reader", items, chance / chance.sum(axis=1, keepdims=True), classes)
    others = np.zeros_like(said)
    weight = 1 / (1.0 + table.rank[~model_rows])
    np.add.at(others, (table.item[~model_rows], table.label[~model_rows]), weight)
    there = np.random.default_rng(0).permutation(np.flatnonzero(others.sum(axis=1) > 0))
    plausible = others[there] / others[there].sum(axis=1, keepdims=True)
    names, half = tuple(items[k] for k in there), len(there) // 2
    truth = Plausibilities.dense(
        plausible[None, :half], items=names[:half], classes=classes, method="inverse ranks"
    )
    sample = SetSample.of(
        Study.of(model.of_items(names[:half]), truth, metrics=["brier_score"])
    )
    how, new = Calibration(alpha=0.28), model.of_items(names[half:]).values
    held = [
        (plausible[half:] * (new >= sample.rule(0, "reader", how, hard=hard).threshold))
        .sum(axis=1)
        .mean()
        for hard in (True, False)
    ]
    assert 0.07 < 0.72 - held[0] < 0.16
    assert held[1] == pytest.approx(0.72, abs=0.025)

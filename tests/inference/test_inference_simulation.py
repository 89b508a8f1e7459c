"""Studies drawn anew, items and annotators: variances are right, and equal models stay tied.

The full study is ``python -m benchmarks inference``. Seeds are fixed. The true variance of n
studies is known to sqrt(2 / n) of itself, 6% here; margins are two to three of that, and a lost
part of the variance, a quarter or more, turns them red.
"""

from functools import cache

import numpy as np
from benchmarks._readers import EQUAL, Design, seeds, study

from equipoise import Settings, evaluate, resample

STUDIES = 500


@cache
def studies_of(design, metric):
    """Both models of every study."""
    pair = (0, EQUAL // 2)
    return [evaluated(design, seed, metric, pair) for seed in seeds(design, STUDIES)]


def evaluated(design, seed, metric, models):
    annotations, predictions = study(design, seed)
    return evaluate(
        [predictions[m] for m in models],
        annotations,
        metrics=[metric],
        resampling=resample(annotations, "influence", replicates=2),
        settings=Settings(workers=1),
    )


def calibration(design, metric, labels="soft"):
    """Estimated over true variance, of a value and of a difference; annotators over cells."""
    values, errors, parts = [], [], []
    for found in studies_of(design, metric):
        cell = found.two_way(metric, labels=labels)
        values.append([cell.values[0], cell.values[0] - cell.values[1]])
        errors.append([cell.of(0).variance, cell.between(0, 1).variance])
        parts.append([cell.annotators[0, 0], cell.cells[0, 0]])
    people, noise = np.mean(parts, axis=0)
    return np.mean(errors, axis=0) / np.var(values, axis=0, ddof=1), people / noise


def test_annotators_with_leanings_are_counted_and_their_noise_once():
    for labels in ("hard", "soft"):  # of the same studies
        ratio, _ = calibration(Design("leanings", 120, 5), "auroc", labels)
        assert (ratio > 0.85).all() and (ratio < 1.27).all(), labels


def test_annotators_who_differ_by_chance_alone_add_nothing():
    ratio, people = calibration(Design("chance alone", 60, 8, differ=0.0), "accuracy")
    assert (ratio > 0.85).all() and (ratio < 1.15).all()
    assert 0.9 < people < 1.1


def test_few_groups_have_their_centring_undone():
    design = Design("few groups", 60, 5, groups=3, differ=0.0)
    ratio, _ = calibration(design, "accuracy")
    assert (ratio > 0.9).all() and (ratio < 1.3).all()


def test_equal_models_are_seldom_apart():
    design = Design("equal models", 150, 6)
    pair, leaderboard = [], []
    for n, seed in enumerate(seeds(design, 200)):
        models = range(EQUAL) if n % 2 else (0, EQUAL // 2)
        found = evaluated(design, seed, "auroc", models)
        cell = found.two_way("auroc")
        other = len(cell.values) // 2
        gap = float(cell.values[0] - cell.values[other])
        pair.append(cell.between(0, other).p_value(gap) < 0.05)
        if n % 2:
            leaderboard.append(found.family("auroc").better.any())
    assert np.mean(pair) < 0.09  # 0.05, and 2.6 standard errors of 200 studies
    assert np.mean(leaderboard) < 0.1  # 0.05, and 2.3 of 100

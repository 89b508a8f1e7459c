"""Retained-samples areas at the size of Galdran's Eyepacs: 53,576 items, five grades, 3 models.

Six metrics (three scores, kappa and cost) through the public `evaluate` with its default
resamples; and the pass of equipoise.kernels.retained beside the same sums in NumPy, one
replicate after another.
"""

import numpy as np

from benchmarks._clock import heading, line, processor
from equipoise import Annotations, Predictions, evaluate
from equipoise.metrics.selective import Retained, _cut_tables, _Line

ITEMS, GRADES, REPLICATES = 53_576, 5, 24
METRICS = [f"retained_samples_area:score={s}:metric={m}" for s in ("rps", "sa_rps", "brier")
           for m in ("qwk", "cost")]  # fmt: skip


def graded(spread):
    """Labels as of retinas, and probabilities that fall with the distance in grades."""
    random = np.random.default_rng(0)
    codes = np.arange(GRADES)
    label = random.choice(codes, ITEMS, p=[0.74, 0.07, 0.15, 0.02, 0.02])
    score = -spread * np.abs(codes - label[:, None]) + random.normal(size=(ITEMS, GRADES))
    return label, np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)


def numpy_tables(labels, decided, counts, removed):
    """The tables of one replicate of distinct scores, the best item first."""
    high = np.cumsum(counts)
    left = (1 - removed) * high[-1]
    size = np.where(counts > 0, counts, 1)
    share = np.clip((left[:, None] - high + counts) / size, 0, 1) * counts
    return np.einsum("pi,ik,id->kdp", share, labels, decided, optimize=True)


def main():
    """Time both."""
    heading(f"Retained samples: {ITEMS:,} items, {GRADES} grades, 3 models, 6 metrics")
    names, classes = tuple(map(str, range(ITEMS))), tuple(map(str, range(GRADES)))
    label, chance = graded(1.2)
    truth = Annotations(
        kind="ordinal", items=names, classes=classes, item=np.arange(ITEMS), label=label
    )
    models = [
        Predictions(f"spread {spread}", names, graded(spread)[1], classes=classes)
        for spread in (1.2, 0.9, 0.6)
    ]
    seconds = processor(lambda: evaluate(models, truth, metrics=METRICS))
    print(f"   evaluate: {seconds:.3g} s of processor time (goal 10 s)")
    way = Retained()
    placed = _Line.of(np.eye(GRADES)[label].T, way.prepare(chance))
    counts = np.random.default_rng(1).poisson(1, (ITEMS, REPLICATES)).astype(np.uint8)
    kernel = processor(lambda: _cut_tables(placed, counts, way.removed)) / REPLICATES
    sorted_counts = counts[placed.order].astype(float)
    plain = processor(
        lambda: numpy_tables(placed.labels, placed.decided, sorted_counts[:, 0], way.removed)
    )
    line("a replicate", kernel, plain, "5 times")

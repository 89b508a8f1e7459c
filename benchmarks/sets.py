"""Prediction sets: how often they hold what new readers say, by what they are calibrated on.

Studies are drawn from `tests.sets.worlds`: six classes, 300 items, readers with leanings, a
model that is rather good. Coverage is that of new readers on 4,000 new items. ``--studies 80``
says how many are drawn; then the sets of a data set of 419 classes, for time and memory.
"""

import resource
import sys
import time

import numpy as np
from tests.sets.worlds import World

from equipoise.sets import Calibration, SetsWanted, sets_finding
from equipoise.study.study import Study
from equipoise.types import Annotations, Predictions

RULES = (
    ("majority label", (Calibration(), True)),
    ("votes", (Calibration(), False)),
    ("votes, lower bound", (Calibration(guarantee="two_way"), False)),
)
WORLDS = (
    ("5 readers", World(5)),
    ("12 readers", World(12)),
    ("3 of 20 readers", World(20, per_item=3)),
    ("5 readers, groups of 5 items", World(5, group=5)),
    ("12 readers, groups of 5 items", World(12, group=5)),
)


def main() -> None:
    """Print coverage, how often it is below .87 and .90, and the size of sets."""
    studies = int(sys.argv[sys.argv.index("--studies") + 1]) if "--studies" in sys.argv else 80
    print(f"prediction sets, nominal .90, {studies} studies of 300 items")
    for name, world in WORLDS:
        outcomes = world.outcomes(studies, [rule for _, rule in RULES])
        for (rule, _), found in zip(RULES, outcomes, strict=True):
            coverage, size = found.T
            print(
                f"   {name:30} {rule:20} {coverage.mean():.3f} / "
                f"{(coverage < 0.87).mean():.2f} / {(coverage < 0.9).mean():.2f} / "
                f"{size.mean():.1f}"
            )
    _many_classes()


def _many_classes(items: int = 2000, classes: int = 419, models: int = 5) -> None:
    """Time and memory of the whole finding."""
    random = np.random.default_rng(0)
    truth = random.dirichlet(np.full(classes, 0.02), size=items)
    label = np.stack([random.multinomial(1, row, size=5).argmax(axis=1) for row in truth])
    names, every = tuple(f"i{k}" for k in range(items)), tuple(f"c{k}" for k in range(classes))
    votes = Annotations(
        kind="nominal", items=names, classes=every, annotators=tuple("abcde"),
        item=np.repeat(np.arange(items), 5), annotator=np.tile(np.arange(5), items),
        label=label.ravel(),
    )  # fmt: skip
    chances = [0.9 * truth + 0.1 / classes for _ in range(models)]
    nets = [Predictions(f"net {k}", names, chance, every) for k, chance in enumerate(chances)]
    study = Study.of(nets, votes, metrics=["brier_score"])
    start = time.perf_counter()
    sets_finding(study, SetsWanted())
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"   {models} models, {items:,} items x {classes} classes: {took:.1f} s, {peak:.2f} GB"
    )


if __name__ == "__main__":
    main()

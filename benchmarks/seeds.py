"""Do intervals hold for methods that are run with several seeds?

Items, annotators and seeds are drawn anew. A run sees skill * z_i + blur * noise_i + jitter *
noise_is of the latent z_i, where the skill differs between seeds and the last noise is that of
the run alone. ``--quick`` (or EQUIPOISE_QUICK=1) takes a tenth of the studies.
"""

import os
import sys
from typing import Any

import numpy as np

from benchmarks._clock import heading
from equipoise import Annotations, Predictions, Settings, evaluate, resample

STUDIES, ITEMS, PEOPLE = 2000, 300, 6
SKILL, BLUR = 0.9, 0.8


def study(random: Any, seeds: int, moved: float, jitter: float) -> Any:
    """Votes, and runs of two equally good methods and of one without chance."""
    z = random.standard_normal(ITEMS)
    lean = 0.5 * random.standard_normal(PEOPLE)
    seen = z[:, None] + lean + 0.8 * random.standard_normal((ITEMS, PEOPLE))
    at, who = (axis.ravel() for axis in np.indices((ITEMS, PEOPLE)))
    names = tuple(f"i{i}" for i in range(ITEMS))
    votes = Annotations(
        kind="binary", items=names, classes=("no", "yes"),
        annotators=tuple(f"r{r}" for r in range(PEOPLE)),
        item=at, annotator=who, label=(seen > 0.5).astype(np.int64).ravel(),
    )  # fmt: skip
    runs = []
    for method in "ab":
        own = BLUR * random.standard_normal(ITEMS)
        for s in range(seeds):
            skill = SKILL + moved * random.standard_normal()
            noise = jitter * random.standard_normal(ITEMS)
            runs.append(Predictions(f"{method}#{s}", names, skill * z + own + noise))
    fixed = SKILL * z + BLUR * random.standard_normal(ITEMS)
    return votes, [*runs, Predictions("fixed", names, fixed)]


def results(studies: int, seeds: int, moved: float, jitter: float, first: int = 0) -> Any:
    """Of every study: value of a and of a - b, each with both ends, and what ignores seeds."""
    found = []
    for number in range(studies):
        random = np.random.default_rng([first, seeds, number])
        votes, runs = study(random, seeds, moved, jitter)
        done = evaluate(
            runs, votes, metrics=["auroc"],
            resampling=resample(votes, "influence", replicates=2), settings=Settings(workers=1),
        )  # fmt: skip
        several = {name: [f"{name}#{s}" for s in range(seeds)] for name in "ab"}
        cell = done.across_seeds(several).two_way("auroc")
        value, gap = float(cell.values[0]), float(cell.values[0] - cell.values[1])
        alone, both = cell.of(0), cell.between(0, 1)
        plain = done.two_way("auroc").between(0, seeds)
        one = float(done.two_way("auroc").values[0] - done.two_way("auroc").values[seeds])
        found.append([value, *alone.interval(value, bounds=(0.0, 1.0)), gap,
                      *both.interval(gap), one, *plain.interval(one)])  # fmt: skip
    return np.array(found)


def coverage(found: Any) -> tuple[float, float, float]:
    """How often intervals hold the truth: of a value, a difference, and one without seeds."""
    right = found[:, 0].mean()
    value = ((found[:, 1] <= right) & (right <= found[:, 2])).mean()
    gap = ((found[:, 4] <= 0) & (found[:, 5] >= 0)).mean()
    plain = ((found[:, 7] <= 0) & (found[:, 8] >= 0)).mean()
    return float(value), float(gap), float(plain)


def main() -> None:
    """Coverage by the number of seeds and by how much seeds matter."""
    quick = "--quick" in sys.argv or os.environ.get("EQUIPOISE_QUICK")
    studies = STUDIES // 10 if quick else STUDIES
    heading(f"Methods with several seeds: coverage of 95 % intervals, {studies} studies each")
    print(
        f"{'seeds':>5} {'skill':>6} {'noise':>6} {'value':>7} {'difference':>11} {'one run':>8}"
    )
    for moved, jitter in ((0.0, 0.0), (0.0, 0.5), (0.1, 0.2), (0.3, 0.2)):
        for seeds in (3, 5):
            value, gap, plain = coverage(results(studies, seeds, moved, jitter))
            print(f"{seeds:>5} {moved:>6} {jitter:>6} {value:>7.3f} {gap:>11.3f} {plain:>8.3f}")


if __name__ == "__main__":
    main()

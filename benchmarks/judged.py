"""Judged outputs: coverage and false separations, and speed beside evalica.

Generator: quality of system s on item i is its mean plus what the item and the pair have of
their own; annotator r adds a severity of its own to every system; a rating adds noise, a
preference a logistic draw and a band of ties. Truth is the mean over endlessly many items and
annotators. `python -m benchmarks judged` prints coverage of differences between two systems at
95 %, how often any of equal systems are told apart, and the time of strengths beside evalica's.
"""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from equipoise.inference import family
from equipoise.study import Settings, Study
from equipoise.study.analyses.strengths import fit_strengths, strengths_of_study

SYSTEMS, ITEMS, RATERS = 5, 80, 10
OWN, SEVERE = 0.7, 0.3  # of items and systems together, of annotators and systems


class Cell(NamedTuple):
    """What was measured of one design."""

    design: str
    coverage: float
    separated: float
    studies: int

    @property
    def error(self) -> float:
        """Monte Carlo error of the coverage, of independent studies."""
        return math.sqrt(0.95 * 0.05 / self.studies)


def rated(random: np.random.Generator, *, each: int = RATERS) -> pa.Table:
    """A study of ratings by so many of the annotators an item; all systems are equal."""
    item_effect = random.normal(0, 1, (ITEMS, 1)) + random.normal(0, OWN, (ITEMS, SYSTEMS))
    severity = random.normal(0, SEVERE, (RATERS, SYSTEMS)) + random.normal(0, 1, (RATERS, 1))
    rows = []
    for i in range(ITEMS):
        for r in random.choice(RATERS, each, replace=False):
            values = item_effect[i] + severity[r] + random.normal(0, 1, SYSTEMS)
            rows += [(f"i{i}", f"s{s}", f"r{r}", v) for s, v in enumerate(values)]
    return _table(rows, "item system annotator rating")


def preferred(random: np.random.Generator, *, pairs: int = 4, each: int = 3) -> pa.Table:
    """A study of preferences, some pairs of every item by some of the annotators."""
    own = random.normal(0, OWN, (ITEMS, SYSTEMS))
    severity = random.normal(0, SEVERE, (RATERS, SYSTEMS))
    rows = []
    for i in range(ITEMS):
        for _ in range(pairs):
            a, b = random.choice(SYSTEMS, 2, replace=False)
            for r in random.choice(RATERS, each, replace=False):
                lead = own[i, a] + severity[r, a] - own[i, b] - severity[r, b]
                lead += random.logistic()
                side = "tie" if abs(lead) < 0.3 else "a" if lead > 0 else "b"
                rows.append((f"i{i}", f"s{a}", f"s{b}", f"r{r}", side))
    return _table(rows, "item system_a system_b annotator preference")


def _table(rows: list[tuple[object, ...]], names: str) -> pa.Table:
    return pa.table(dict(zip(names.split(), map(list, zip(*rows, strict=True)), strict=True)))


Cells = Callable[[Study], object]
DESIGNS = {
    "ratings by all annotators": (rated, {}, False),
    "ratings by 3 of 10": (rated, {"each": 3}, False),
    "ratings by 1 of 10": (rated, {"each": 1}, False),
    "win rates": (preferred, {}, False),
    "strengths": (preferred, {}, True),
}


def measure(design: str, studies: int, seed: int = 0) -> Cell:
    """Coverage of the difference of two equal systems, and how often any pair is separated."""
    make, keywords, strong = DESIGNS[design]
    inside = apart = 0.0
    for k in range(studies):
        random = np.random.default_rng([seed, k])
        study = Study.of(make(random, **keywords), settings=Settings(replicates=10))
        cell = strengths_of_study(study)[0] if strong else study.evaluation.cells[0][0][1]
        pairs = [(a, b) for a in range(SYSTEMS) for b in range(a)]
        hits = 0
        for a, b in pairs:
            gap = float(cell.values[a] - cell.values[b])
            low, high = cell.between(a, b).interval(gap)
            hits += low <= 0 <= high
        inside += hits / len(pairs)
        apart += bool(family(cell).better.any())
    return Cell(design, inside / studies, apart / studies, studies)


def speed(comparisons: int = 27_300, systems: int = 100) -> dict[str, float]:
    """Seconds of strengths here and, where it is installed, of evalica."""
    random = np.random.default_rng(0)
    first, second = random.integers(0, systems, comparisons), np.empty(comparisons, int)
    second[:] = (first + random.integers(1, systems, comparisons)) % systems
    strength = np.linspace(1, -1, systems)
    won = (strength[first] - strength[second] + random.logistic(size=comparisons) > 0) * 1.0
    start = time.perf_counter()
    fit_strengths(first, second, won, systems)
    times = {"equipoise": time.perf_counter() - start}
    try:
        import evalica
    except ImportError:
        return times
    sides = [evalica.Winner.X if w else evalica.Winner.Y for w in won]
    start = time.perf_counter()
    evalica.bradley_terry(first.tolist(), second.tolist(), sides)
    return {**times, "evalica": time.perf_counter() - start}


def main(studies: int = 300) -> None:
    """Print both tables."""
    print("design | coverage of differences | any of five equal systems apart | studies")
    for design in DESIGNS:
        cell = measure(design, studies)
        print(
            f"{cell.design} | {cell.coverage:.3f} | {cell.separated:.3f} | {studies} "
            f"(Monte Carlo error {cell.error:.3f})"
        )
    for name, seconds in speed().items():
        print(f"strengths of 27,300 comparisons, {name}: {seconds:.4f} s")


if __name__ == "__main__":
    main()

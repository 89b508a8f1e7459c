"""Time reading a million votes from CSV against pandas.read_csv + factorize.

Run: ``python benchmarks/read_votes.py``. A file of 100,000 items, 500 annotators and a
million votes is made in a temporary folder; each reader runs several times in this
process, on one core where the system allows, and the best time counts.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pyarrow.csv

import equipoise
from equipoise.read.annotations import read_annotations

VOTES, ITEMS, ANNOTATORS, CLASSES = 1_000_000, 100_000, 500, 10


def make(path: Path) -> None:
    random = np.random.default_rng(0)
    columns = {
        "item": [f"scan-{code:06d}" for code in random.integers(0, ITEMS, VOTES)],
        "annotator": [f"reader-{code:03d}" for code in random.integers(0, ANNOTATORS, VOTES)],
        "label": [f"class-{code}" for code in random.integers(0, CLASSES, VOTES)],
    }
    pyarrow.csv.write_csv(pyarrow.table(columns), path)


def with_pandas(path: Path) -> int:
    frame = pandas.read_csv(path, dtype=str)
    for name in ("item", "annotator", "label"):
        pandas.factorize(frame[name])
    return len(frame)


def best(reader: Callable[[Path], object], path: Path, *, times: int = 5) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        reader(path)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        make(path)
        print(
            f"equipoise {equipoise.__version__}, pyarrow {pyarrow.__version__}, "
            f"pandas {pandas.__version__}, numpy {np.__version__}"
        )
        print(f"{VOTES:,} votes, {path.stat().st_size / 1e6:.1f} MB of CSV, one core")
        ours, theirs = best(read_annotations, path), best(with_pandas, path)
        print(f"read_annotations                {ours:7.3f} s (best of 5)")
        print(f"pandas.read_csv + factorize     {theirs:7.3f} s (best of 5)")
        print(f"ratio pandas / read_annotations {theirs / ours:7.2f}")


if __name__ == "__main__":
    main()

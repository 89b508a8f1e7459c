"""Engines: the same bytes from each, what starting costs, and scaling at one and two workers.

Strong scaling: the same resamples on 1 and 2 workers. Weak scaling: so many per worker. Times
are those of the wall, measured one after another in this run; sizes are those of the installed
packages with what only they need.
"""

import hashlib
import time
from importlib.metadata import distribution
from importlib.util import find_spec
from typing import Any

import numpy as np

from equipoise.scale.engine import Engine, current, using

SIZE, PARTS = 1200, 16
PACKAGES = {
    "local": (),
    "processes": ("joblib", "cloudpickle"),
    "dask": ("dask", "distributed", "tornado", "msgpack", "zict", "tblib", "partd"),
    "ray": ("ray",),
}


class _Work:
    """Some hundred milliseconds of linear algebra with a seed."""

    def __init__(self) -> None:
        self.data = np.random.default_rng(0).random((SIZE, SIZE))

    def part(self, seed: int) -> Any:
        weights = np.random.default_rng(seed).random((SIZE, 16))
        for _ in range(60):
            weights = self.data @ weights
            weights /= np.linalg.norm(weights)
        return weights


def _nothing(_: int) -> None:
    return None


def _megabytes(kind: str) -> float:
    total = 0
    for name in PACKAGES[kind]:
        for file in distribution(name).files or ():
            path = file.locate()
            total += path.stat().st_size if path.exists() else 0
    return total / 1e6


def _timed(engine: Engine, parts: int) -> tuple[str, float]:
    start = time.perf_counter()
    found = engine.map(_Work().part, range(parts), done=_taken)
    seconds = time.perf_counter() - start
    return hashlib.sha256(np.array(found).tobytes()).hexdigest()[:12], seconds


def _taken(place: int, value: object) -> None:
    del place, value


def main() -> None:
    kinds = ["local", "processes", "dask", "ray"]
    kinds = [one for one in kinds if not PACKAGES[one] or find_spec(PACKAGES[one][0])]
    print("engine     workers  start s  strong s   weak s  SHA-256       installed MB")
    for kind in kinds:
        for workers in (1, 2):
            with using(Engine(kind, workers)):
                start = time.perf_counter()
                current().map(_nothing, range(workers), done=_taken)
                begun = time.perf_counter() - start
                digest, strong = _timed(current(), PARTS)
                _, weak = _timed(current(), PARTS // 2 * workers)
            print(
                f"{kind:10} {workers:7} {begun:8.2f} {strong:9.2f} {weak:8.2f}  {digest}  "
                f"{_megabytes(kind):6.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

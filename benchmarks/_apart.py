"""Something measured in a process of its own: wall and processor seconds, and peak memory."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Cost(NamedTuple):
    """What one run took, and what it printed as its result."""

    wall: float
    processor: float
    gigabytes: float
    found: Any

    def __str__(self) -> str:
        return (
            f"{self.wall:.2f} s, {self.processor:.2f} s of processor time, "
            f"{self.gigabytes:.2f} GB"
        )


def apart(module: str, *words: str) -> Cost:
    """Run ``python -m module words``, which ends with `report`."""
    run = subprocess.run(
        [sys.executable, "-m", module, *words], stdout=subprocess.PIPE, text=True, check=True
    )
    return Cost(*json.loads(run.stdout.splitlines()[-1]))


def report(function: Callable[[], Any]) -> None:
    """Measure a function in this process, and print it for `apart`."""
    wall, processor = time.perf_counter(), time.process_time()
    found = function()
    spent = [time.perf_counter() - wall, time.process_time() - processor]
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps([*spent, most, found]))

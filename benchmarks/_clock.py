"""Timing: the best of a few runs in processor or wall time, and one way of printing."""

import platform
import time
from collections.abc import Callable
from typing import Any


def best(function: Callable[[], Any], *, times: int = 3) -> float:
    """Shortest wall time of a few runs, after one to warm up."""
    function()
    return min(once(function) for _ in range(times))


def once(function: Callable[[], Any]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def processor(function: Callable[[], Any], *, times: int = 1) -> float:
    """Shortest processor time of a few runs, after one to warm up.

    Other work on the machine moves it less than wall time.
    """
    function()
    found = []
    for _ in range(times):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return min(found)


def heading(title: str) -> None:
    """Print what is measured, and on what."""
    machine = platform.processor() or platform.machine()
    print(f"\n## {title}\n   {machine}, Python {platform.python_version()}")


def line(name: str, seconds: float, peer: float, goal: str = "") -> None:
    """Print ours, the peer's and the ratio."""
    aim = f" (goal {goal})" if goal else ""
    print(f"   {name}: {seconds:.4g} s, peer {peer:.4g} s, {peer / seconds:,.1f} times{aim}")

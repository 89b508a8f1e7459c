"""Cleaning: which images do not belong, which are there twice, and which labels are wrong.

A detector scores the items (or pairs) of a `Collection`; what comes out are `Predictions`.
`benchmark` compares detectors on a `CleanStudy`, one of `STUDIES` or one of your own; these
names load when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from equipoise.clean.collection import Collection, ImageSource, Pairs, pair_name, split_pair
from equipoise.clean.detector import TASKS, Detector, load_detector
from equipoise.clean.detectors import DETECTORS

if TYPE_CHECKING:
    from equipoise.clean.comparison import BenchmarkOptions, CleanBenchmark, benchmark
    from equipoise.clean.studies import STUDIES
    from equipoise.clean.study import CleanStudy

__all__ = [
    "DETECTORS",
    "STUDIES",
    "TASKS",
    "BenchmarkOptions",
    "CleanBenchmark",
    "CleanStudy",
    "Collection",
    "Detector",
    "ImageSource",
    "Pairs",
    "benchmark",
    "load_detector",
    "pair_name",
    "split_pair",
]
_LATER = {
    **dict.fromkeys(("BenchmarkOptions", "CleanBenchmark", "benchmark"), "comparison"),
    "CleanStudy": "study",
    "STUDIES": "studies",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name not in _LATER:
        message = f"module 'equipoise.clean' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"equipoise.clean.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted({*globals(), *_LATER})

"""Cleaning: which images do not belong, which are there twice, and which labels are wrong.

A detector scores the items (or pairs) of a `Collection`; what comes out are `Predictions`.
`benchmark` compares detectors on a `CleanStudy`, one of `STUDIES` or one of your own; these
names load when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from equipoise.clean.collection import TASKS, Collection, ImageSource
from equipoise.clean.detector import Detector, load_detector
from equipoise.clean.detectors import DETECTORS
from equipoise.clean.pairs import Pairs, pair_name, split_pair

if TYPE_CHECKING:
    from equipoise.clean.collection import CleanStudy
    from equipoise.clean.detector_benchmark import BenchmarkOptions, CleanBenchmark, benchmark
    from equipoise.clean.studies import STUDIES

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
    **dict.fromkeys(("BenchmarkOptions", "CleanBenchmark", "benchmark"), "detector_benchmark"),
    "CleanStudy": "collection",
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

"""Cleaning: which images do not belong, which are there twice, and which labels are wrong.

A detector scores the items (or pairs) of a `Collection`; what comes out are `Predictions`.
A `Benchmark` compares detectors on a `JudgedCollection`, one of `STUDIES` or one of your own;
`scan` looks through a collection, and `contaminate` plants problems into it. These names load
when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from equipoise.clean.collection import (
    TASKS,
    Collection,
    ImageSource,
    JudgedCollection,
    Pairs,
    pair_name,
    split_pair,
)
from equipoise.clean.detector import Detector, load_detector
from equipoise.clean.detectors import DETECTORS

if TYPE_CHECKING:
    from equipoise.clean.detector_benchmark import Benchmark, BenchmarkResult
    from equipoise.clean.planting import contaminate
    from equipoise.clean.scanning import scan
    from equipoise.clean.studies import STUDIES

__all__ = [
    "DETECTORS",
    "STUDIES",
    "TASKS",
    "Benchmark",
    "BenchmarkResult",
    "Collection",
    "Detector",
    "ImageSource",
    "JudgedCollection",
    "Pairs",
    "contaminate",
    "load_detector",
    "pair_name",
    "scan",
    "split_pair",
]
_LATER = {
    "Benchmark": "detector_benchmark",
    "BenchmarkResult": "detector_benchmark",
    "STUDIES": "studies",
    "contaminate": "planting",
    "scan": "scanning",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name not in _LATER:
        message = f"module 'equipoise.clean' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"equipoise.clean.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)

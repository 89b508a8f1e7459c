"""Evaluate models when the experts disagree.

Importing this loads numpy and nothing heavier; everything else comes in on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from equipoise.inference.estimate import Estimate
from equipoise.inference.resampling import Resampling, resample
from equipoise.types import Annotations, InputError, Plausibilities, Predictions

if TYPE_CHECKING:
    from equipoise.read.annotations import read_annotations
    from equipoise.read.canonical import read_study, write_study
    from equipoise.read.plausibilities import read_plausibilities, write_plausibilities
    from equipoise.read.predictions import read_predictions
    from equipoise.report.run import Run
    from equipoise.study import Evaluation, Settings, evaluate

__version__ = "0.1.0"
__all__ = [
    "Annotations",
    "Estimate",
    "Evaluation",
    "InputError",
    "Plausibilities",
    "Predictions",
    "Resampling",
    "Run",
    "Settings",
    "evaluate",
    "read_annotations",
    "read_plausibilities",
    "read_predictions",
    "read_study",
    "resample",
    "write_plausibilities",
    "write_study",
]
_ROOMS = ("clean", "datasets", "inference", "metrics", "sets", "study", "truth", "uq")
_LATER = {
    **{name: f"equipoise.{name}" for name in _ROOMS},
    **dict.fromkeys(("Evaluation", "Settings", "evaluate"), "equipoise.study"),
    **dict.fromkeys(("read_study", "write_study"), "equipoise.read.canonical"),
    **dict.fromkeys(
        ("read_plausibilities", "write_plausibilities"), "equipoise.read.plausibilities"
    ),
    "read_annotations": "equipoise.read.annotations",
    "read_predictions": "equipoise.read.predictions",
    "Run": "equipoise.report.run",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name not in _LATER:
        message = f"module 'equipoise' has no attribute {name!r}"
        raise AttributeError(message)
    module = import_module(_LATER[name])
    return module if module.__name__.endswith(f".{name}") else getattr(module, name)


def __dir__() -> list[str]:
    """The public names, and the rooms that have public names of their own."""
    return sorted([*__all__, *_ROOMS, "__version__"])

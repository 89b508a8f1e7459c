"""Evaluate models when the experts disagree.

Importing this loads numpy and nothing heavier; everything else comes in on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.estimate import Estimate
from equipoise.plausibilities import Plausibilities
from equipoise.predictions import Predictions
from equipoise.resampling import Resampling, resample

if TYPE_CHECKING:
    from equipoise.evaluation import Evaluation, Settings, evaluate
    from equipoise.io import (
        read_annotations,
        read_plausibilities,
        read_predictions,
        read_study,
        stream_ratings,
        stream_votes,
        write_annotations,
        write_plausibilities,
        write_study,
    )
    from equipoise.run import Run

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
    "stream_ratings",
    "stream_votes",
    "write_annotations",
    "write_plausibilities",
    "write_study",
]
_MODULES = (
    *("aggregate", "agreement", "certainty", "datasets", "export", "io", "metrics"),
    *("planning", "stability"),
)
_LATER = {
    **{name: f"equipoise.{name}" for name in _MODULES},
    **dict.fromkeys(("Evaluation", "Settings", "evaluate"), "equipoise.evaluation"),
    **{
        name: "equipoise.io"
        for name in __all__
        if name.startswith(("read_", "stream_", "write_"))
    },
    "Run": "equipoise.run",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name not in _LATER:
        message = f"module 'equipoise' has no attribute {name!r}"
        raise AttributeError(message)
    module = import_module(_LATER[name])
    return module if module.__name__.endswith(f".{name}") else getattr(module, name)


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted({*globals(), *_LATER})

"""Uncertainty of multi-label image classifiers: methods, their training, their evaluation.

Evaluation takes arrays, or files that training wrote, and needs no torch:
`equipoise.uq.decompose`, `equipoise.uq.evaluate_uncertainty`. Names are looked up when they are
first asked for, so that training needs numpy and torch alone.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equipoise.uq.decomposition import Beta, Decomposition, decompose
    from equipoise.uq.evaluate import Scoring, UncertaintyEvaluation, evaluate_uncertainty
    from equipoise.uq.predictions import Prediction
    from equipoise.uq.report import uncertainty_report

__all__ = [
    "Beta",
    "Decomposition",
    "Prediction",
    "Scoring",
    "UncertaintyEvaluation",
    "decompose",
    "evaluate_uncertainty",
    "uncertainty_report",
]
_HOMES = {
    **dict.fromkeys(("Beta", "Decomposition", "decompose"), "decomposition"),
    **dict.fromkeys(("Scoring", "UncertaintyEvaluation", "evaluate_uncertainty"), "evaluate"),
    "Prediction": "predictions",
    "uncertainty_report": "report",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    from importlib import import_module

    if name not in _HOMES:
        message = f"module 'equipoise.uq' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"equipoise.uq.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)

"""Metrics for hard and soft labels. One file each; the catalogue is the list of them.

The tables, the command line, the page and the laws in the tests all read `CATALOGUE`: adding a
metric is adding a file and a line here.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from equipoise.arrays import InputError, nearest
from equipoise.metrics import accuracy as _accuracy
from equipoise.metrics import auroc as _auroc
from equipoise.metrics import average_precision as _average_precision
from equipoise.metrics import brier_score as _brier_score
from equipoise.metrics import entropy_correlation as _entropy_correlation
from equipoise.metrics import expected_calibration_error as _expected_calibration_error
from equipoise.metrics import jensen_shannon as _jensen_shannon
from equipoise.metrics import maximum_calibration_error as _maximum_calibration_error
from equipoise.metrics import precision_at_k as _precision_at_k
from equipoise.metrics import recall_at_k as _recall_at_k
from equipoise.metrics import total_variation as _total_variation
from equipoise.metrics._arguments import Copies
from equipoise.metrics._covariance import clustered, influence_covariance
from equipoise.metrics._metric import Block, Metric, Order, Prepared, Truth
from equipoise.metrics._ranking import tied_share
from equipoise.metrics.accuracy import accuracy
from equipoise.metrics.auroc import auroc, auroc_one_vs_one, auroc_per_class
from equipoise.metrics.average_precision import average_precision
from equipoise.metrics.brier_score import brier_score, brier_score_per_item
from equipoise.metrics.entropy_correlation import entropy_correlation
from equipoise.metrics.expected_calibration_error import expected_calibration_error
from equipoise.metrics.jensen_shannon import jensen_shannon, jensen_shannon_per_item
from equipoise.metrics.maximum_calibration_error import maximum_calibration_error
from equipoise.metrics.precision_at_k import precision_at_k
from equipoise.metrics.precision_recall_curve import precision_recall_curve
from equipoise.metrics.recall_at_k import recall_at_k
from equipoise.metrics.reliability_curve import Reliability, reliability_curve
from equipoise.metrics.roc_curve import roc_curve
from equipoise.metrics.total_variation import total_variation, total_variation_per_item

CATALOGUE: Mapping[str, Callable[..., Metric]] = {
    "auroc": _auroc.metric,
    "average_precision": _average_precision.metric,
    "precision_at_k": _precision_at_k.metric,
    "recall_at_k": _recall_at_k.metric,
    "accuracy": _accuracy.metric,
    "brier_score": _brier_score.metric,
    "expected_calibration_error": _expected_calibration_error.metric,
    "maximum_calibration_error": _maximum_calibration_error.metric,
    "total_variation": _total_variation.metric,
    "jensen_shannon": _jensen_shannon.metric,
    "entropy_correlation": _entropy_correlation.metric,
}
CURVES = ("roc_curve", "precision_recall_curve")
DEFAULT = ("auroc", "average_precision")

__all__ = [
    "CATALOGUE",
    "CURVES",
    "DEFAULT",
    "Block",
    "Copies",
    "Metric",
    "Order",
    "Prepared",
    "Reliability",
    "Truth",
    "accuracy",
    "auroc",
    "auroc_one_vs_one",
    "auroc_per_class",
    "average_precision",
    "brier_score",
    "brier_score_per_item",
    "clustered",
    "entropy_correlation",
    "expected_calibration_error",
    "influence_covariance",
    "jensen_shannon",
    "jensen_shannon_per_item",
    "maximum_calibration_error",
    "named",
    "precision_at_k",
    "precision_recall_curve",
    "recall_at_k",
    "reliability_curve",
    "roc_curve",
    "tied_share",
    "total_variation",
    "total_variation_per_item",
]


def named(text: str) -> Metric:
    """Make a metric from its name, with parameters after colons.

    Examples
    --------
    >>> named("auroc:form=strict").name
    'auroc:form=strict'
    >>> named("precision_at_50").title
    'P@50'
    """
    name, *words = text.strip().split(":")
    given: dict[str, Any] = {}
    at = re.fullmatch(r"(precision|recall)_at_(\d+)", name)
    if at:
        name, given["k"] = f"{at[1]}_at_k", int(at[2])
    if name not in CATALOGUE:
        known = [re.sub("_at_k$", "_at_100", one) for one in CATALOGUE]
        raise InputError("metric", f"{text!r}", "a known metric", nearest(name, known))
    for word in words:
        key, _, value = word.partition("=")
        given[key] = int(value) if value.isdigit() else value
    try:
        return CATALOGUE[name](**given)
    except TypeError:
        raise InputError(
            f"metric {text!r}", f"parameters {', '.join(given)}",
            "parameters that this metric has", f"see the documentation of {name}",
        ) from None  # fmt: skip

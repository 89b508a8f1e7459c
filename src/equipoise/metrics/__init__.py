"""Metrics for hard and soft labels. One file each; the catalogue is the list of them.

The tables, the command line, the page and the laws in the tests all read `CATALOGUE`: adding a
metric is adding a file and a line here.
"""

import re
from collections.abc import Callable, Mapping

from equipoise.arrays import InputError, nearest
from equipoise.metrics import accuracy as _accuracy
from equipoise.metrics import auroc as _auroc
from equipoise.metrics import average_overlap as _average_overlap
from equipoise.metrics import average_precision as _average_precision
from equipoise.metrics import brier_score as _brier_score
from equipoise.metrics import entropy_correlation as _entropy_correlation
from equipoise.metrics import expected_calibration_error as _expected_calibration_error
from equipoise.metrics import expected_cost as _expected_cost
from equipoise.metrics import jensen_shannon as _jensen_shannon
from equipoise.metrics import kendall_tau as _kendall_tau
from equipoise.metrics import log_score as _log_score
from equipoise.metrics import maximum_calibration_error as _maximum_calibration_error
from equipoise.metrics import mean_absolute_error as _mean_absolute_error
from equipoise.metrics import normalised_expected_cost as _normalised_expected_cost
from equipoise.metrics import overlap as _overlap
from equipoise.metrics import precision_at_k as _precision_at_k
from equipoise.metrics import quadratic_weighted_kappa as _quadratic_weighted_kappa
from equipoise.metrics import ranked_probability_score as _ranked_probability_score
from equipoise.metrics import recall_at_k as _recall_at_k
from equipoise.metrics import retained_samples_area as _retained_samples_area
from equipoise.metrics import set_accuracy as _set_accuracy
from equipoise.metrics import spearman_footrule as _spearman_footrule
from equipoise.metrics import squared_absolute_rps as _squared_absolute_rps
from equipoise.metrics import topk_accuracy as _topk_accuracy
from equipoise.metrics import total_variation as _total_variation
from equipoise.metrics._arguments import Copies
from equipoise.metrics._conditioned import conditioned
from equipoise.metrics._covariance import clustered, influence_covariance
from equipoise.metrics._item_scores import ItemScore, item_scores, worst_items
from equipoise.metrics._metric import Block, Metric, Order, Prepared, Truth
from equipoise.metrics._names import parsed
from equipoise.metrics._ranking import tied_share
from equipoise.metrics.accuracy import accuracy, accuracy_per_item
from equipoise.metrics.auroc import auroc, auroc_one_vs_one, auroc_per_class
from equipoise.metrics.average_overlap import average_overlap, average_overlap_per_item
from equipoise.metrics.average_precision import average_precision
from equipoise.metrics.brier_score import brier_score, brier_score_per_item
from equipoise.metrics.entropy_correlation import entropy_correlation
from equipoise.metrics.expected_calibration_error import expected_calibration_error
from equipoise.metrics.expected_cost import expected_cost, expected_cost_per_item
from equipoise.metrics.jensen_shannon import jensen_shannon, jensen_shannon_per_item
from equipoise.metrics.kendall_tau import kendall_tau, kendall_tau_per_item
from equipoise.metrics.log_score import log_score, log_score_per_item
from equipoise.metrics.maximum_calibration_error import maximum_calibration_error
from equipoise.metrics.mean_absolute_error import (
    mean_absolute_error,
    mean_absolute_error_per_item,
)
from equipoise.metrics.normalised_expected_cost import normalised_expected_cost
from equipoise.metrics.overlap import overlap, overlap_per_item
from equipoise.metrics.precision_at_k import precision_at_k
from equipoise.metrics.precision_recall_curve import precision_recall_curve
from equipoise.metrics.quadratic_weighted_kappa import quadratic_weighted_kappa
from equipoise.metrics.ranked_probability_score import (
    ranked_probability_score,
    ranked_probability_score_per_item,
)
from equipoise.metrics.recall_at_k import recall_at_k
from equipoise.metrics.reliability_curve import Reliability, reliability_curve
from equipoise.metrics.retained_samples_area import retained_samples_area
from equipoise.metrics.retained_samples_curve import retained_samples_curve
from equipoise.metrics.roc_curve import roc_curve
from equipoise.metrics.set_accuracy import set_accuracy, set_accuracy_per_item
from equipoise.metrics.spearman_footrule import spearman_footrule, spearman_footrule_per_item
from equipoise.metrics.squared_absolute_rps import (
    squared_absolute_rps,
    squared_absolute_rps_per_item,
)
from equipoise.metrics.topk_accuracy import topk_accuracy, topk_accuracy_per_item
from equipoise.metrics.total_variation import total_variation, total_variation_per_item

CATALOGUE: Mapping[str, Callable[..., Metric]] = {
    "auroc": _auroc.metric,
    "average_precision": _average_precision.metric,
    "precision_at_k": _precision_at_k.metric,
    "recall_at_k": _recall_at_k.metric,
    "accuracy": _accuracy.metric,
    "brier_score": _brier_score.metric,
    "ranked_probability_score": _ranked_probability_score.metric,
    "squared_absolute_rps": _squared_absolute_rps.metric,
    "log_score": _log_score.metric,
    "quadratic_weighted_kappa": _quadratic_weighted_kappa.metric,
    "expected_cost": _expected_cost.metric,
    "normalised_expected_cost": _normalised_expected_cost.metric,
    "mean_absolute_error": _mean_absolute_error.metric,
    "retained_samples_area": _retained_samples_area.metric,
    "expected_calibration_error": _expected_calibration_error.metric,
    "maximum_calibration_error": _maximum_calibration_error.metric,
    "total_variation": _total_variation.metric,
    "jensen_shannon": _jensen_shannon.metric,
    "entropy_correlation": _entropy_correlation.metric,
    "topk_accuracy": _topk_accuracy.metric,
    "set_accuracy": _set_accuracy.metric,
    "overlap": _overlap.metric,
    "average_overlap": _average_overlap.metric,
    "kendall_tau": _kendall_tau.metric,
    "spearman_footrule": _spearman_footrule.metric,
}
CURVES = (
    "roc_curve",
    "precision_recall_curve",
    "retained_samples_curve",
    "reliability_curve",
)
DEFAULT = ("auroc", "average_precision")

__all__ = [
    "CATALOGUE",
    "CURVES",
    "DEFAULT",
    "Block",
    "Copies",
    "ItemScore",
    "Metric",
    "Order",
    "Prepared",
    "Reliability",
    "Truth",
    "accuracy",
    "accuracy_per_item",
    "auroc",
    "auroc_one_vs_one",
    "auroc_per_class",
    "average_overlap",
    "average_overlap_per_item",
    "average_precision",
    "brier_score",
    "brier_score_per_item",
    "clustered",
    "conditioned",
    "entropy_correlation",
    "expected_calibration_error",
    "expected_cost",
    "expected_cost_per_item",
    "influence_covariance",
    "item_scores",
    "jensen_shannon",
    "jensen_shannon_per_item",
    "kendall_tau",
    "kendall_tau_per_item",
    "log_score",
    "log_score_per_item",
    "maximum_calibration_error",
    "mean_absolute_error",
    "mean_absolute_error_per_item",
    "named",
    "normalised_expected_cost",
    "overlap",
    "overlap_per_item",
    "precision_at_k",
    "precision_recall_curve",
    "quadratic_weighted_kappa",
    "ranked_probability_score",
    "ranked_probability_score_per_item",
    "recall_at_k",
    "reliability_curve",
    "retained_samples_area",
    "retained_samples_curve",
    "roc_curve",
    "set_accuracy",
    "set_accuracy_per_item",
    "spearman_footrule",
    "spearman_footrule_per_item",
    "squared_absolute_rps",
    "squared_absolute_rps_per_item",
    "tied_share",
    "titled",
    "topk_accuracy",
    "topk_accuracy_per_item",
    "total_variation",
    "total_variation_per_item",
    "worst_items",
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
    name, given = parsed(text)
    if name not in CATALOGUE:
        known = [re.sub("_at_k$", "_at_100", one) for one in CATALOGUE]
        raise InputError("metric", f"{text!r}", "a known metric", nearest(name, known))
    try:
        return CATALOGUE[name](**given)
    except TypeError:
        raise InputError(
            f"metric {text!r}", f"parameters {', '.join(given)}",
            "parameters that this metric has", f"see the documentation of {name}",
        ) from None  # fmt: skip


def titled(name: str, labels: str = "soft") -> str:
    """What a metric is called in a sentence; a metric of the caller's own by its name.

    Examples
    --------
    >>> titled("auroc"), titled("auroc", "hard"), titled("my_metric")
    ('soft AUROC', 'hard AUROC', 'soft my_metric')
    """
    try:
        known = named(name)
    except InputError:
        return f"{labels} {name}"
    return known.soft_title if labels == "soft" else f"{labels} {known.title}"

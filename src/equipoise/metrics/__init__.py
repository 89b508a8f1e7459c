"""Metrics for hard and soft labels. One file each; the catalogue is the list of them.

The tables, the command line, the page and the laws in the tests all read `CATALOGUE`: adding a
metric is adding a file and a line there.
"""

from equipoise.metrics._arguments import Copies
from equipoise.metrics._catalogue import (
    CATALOGUE,
    CURVES,
    DEFAULT,
    ItemScore,
    by_topic,
    item_scores,
    named,
    parsed,
    require_known,
    title,
    titled,
    typed,
    worst_items,
)
from equipoise.metrics._draws import conditioned
from equipoise.metrics._metric import (
    Block,
    Metric,
    Order,
    Prepared,
    Truth,
    clustered,
    hard_labels_rule,
    influence_covariance,
)
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
    "by_topic",
    "clustered",
    "conditioned",
    "entropy_correlation",
    "expected_calibration_error",
    "expected_cost",
    "expected_cost_per_item",
    "hard_labels_rule",
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
    "parsed",
    "precision_at_k",
    "precision_recall_curve",
    "quadratic_weighted_kappa",
    "ranked_probability_score",
    "ranked_probability_score_per_item",
    "recall_at_k",
    "reliability_curve",
    "require_known",
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
    "title",
    "titled",
    "topk_accuracy",
    "topk_accuracy_per_item",
    "total_variation",
    "total_variation_per_item",
    "typed",
    "worst_items",
]

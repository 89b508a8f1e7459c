"""Metrics for hard and soft labels. One file per family; the catalogue is the list of them.

The tables, the command line, the page and the laws in the tests all read `CATALOGUE`: adding a
metric is adding a function, to a family or in a file of its own, and a line here. A name is a
word with parameters after colons, as ``expected_cost:cost=linear``; the number k of precision
and recall is part of the word, as ``precision_at_50``.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from equipoise.metrics._metric import (
    Block,
    Copies,
    Influence,
    Metric,
    Order,
    Prepared,
    Truth,
    hard_labels_rule,
    tied_share,
)
from equipoise.metrics.calibration import (
    Reliability,
    expected_calibration_error,
    maximum_calibration_error,
    reliability_curve,
)
from equipoise.metrics.confusion import (
    balanced_accuracy,
    cohen_kappa,
    confusion_matrix,
    f1,
    mcc,
    npv,
    ppv,
    sensitivity,
    soft_agreement,
    specificity,
)
from equipoise.metrics.correlations import (
    absolute_error,
    concordance,
    kendall_tau_b,
    pairwise_accuracy,
    pearson,
    r_squared,
    rmse,
    spearman,
)
from equipoise.metrics.decisions import (
    accuracy,
    expected_cost,
    mean_absolute_error,
    normalised_expected_cost,
    quadratic_weighted_kappa,
)
from equipoise.metrics.distributions import (
    brier_score,
    entropy_correlation,
    jensen_shannon,
    log_score,
    ranked_probability_score,
    squared_absolute_rps,
    total_variation,
)
from equipoise.metrics.draws import (
    average_overlap,
    conditioned,
    kendall_tau,
    overlap,
    set_accuracy,
    spearman_footrule,
    topk_accuracy,
)
from equipoise.metrics.operating_points import (
    DecisionCurve,
    decision_curve,
    net_benefit,
    precision_at_k,
    precision_at_k_metric,
    precision_recall_curve,
    recall_at_k,
    recall_at_k_metric,
    roc_curve,
    sensitivity_at_specificity,
    specificity_at_sensitivity,
)
from equipoise.metrics.ranking import (
    auroc,
    auroc_across_readers,
    auroc_metric,
    auroc_one_vs_one,
    auroc_per_class,
    average_precision,
    average_precision_metric,
)
from equipoise.metrics.ratings import (
    mean_rating,
    mean_rating_metric,
    mean_score,
    mean_score_metric,
    win_rate,
    win_rate_metric,
)
from equipoise.metrics.selective import (
    accuracy_coverage_area,
    accuracy_coverage_curve,
    error_detection_auroc,
    excess_risk_coverage_area,
    retained_samples_area,
    retained_samples_curve,
    risk_coverage_area,
)
from equipoise.types import (
    Hint,
    InputError,
    Option,
    PerItem,
    hint,
    joined,
    listed,
    nearest,
    quoted,
)

__all__ = [
    "CATALOGUE",
    "CURVES",
    "DEFAULT",
    "Block",
    "Copies",
    "DecisionCurve",
    "Influence",
    "Metric",
    "Order",
    "Prepared",
    "Reliability",
    "Truth",
    "absolute_error",
    "accuracy",
    "accuracy_coverage_area",
    "accuracy_coverage_curve",
    "auroc",
    "auroc_across_readers",
    "auroc_one_vs_one",
    "auroc_per_class",
    "average_overlap",
    "average_precision",
    "balanced_accuracy",
    "brier_score",
    "by_topic",
    "cohen_kappa",
    "concordance",
    "conditioned",
    "confusion_matrix",
    "decision_curve",
    "entropy_correlation",
    "error_detection_auroc",
    "excess_risk_coverage_area",
    "expected_calibration_error",
    "expected_cost",
    "f1",
    "hard_labels_rule",
    "item_scores",
    "jensen_shannon",
    "kendall_tau",
    "kendall_tau_b",
    "log_score",
    "maximum_calibration_error",
    "mcc",
    "mean_absolute_error",
    "mean_rating",
    "mean_score",
    "named",
    "net_benefit",
    "normalised_expected_cost",
    "npv",
    "overlap",
    "pairwise_accuracy",
    "parsed",
    "pearson",
    "ppv",
    "precision_at_k",
    "precision_recall_curve",
    "quadratic_weighted_kappa",
    "r_squared",
    "ranked_probability_score",
    "recall_at_k",
    "reliability_curve",
    "require_known",
    "retained_samples_area",
    "retained_samples_curve",
    "risk_coverage_area",
    "rmse",
    "roc_curve",
    "sensitivity",
    "sensitivity_at_specificity",
    "set_accuracy",
    "soft_agreement",
    "spearman",
    "spearman_footrule",
    "specificity",
    "specificity_at_sensitivity",
    "squared_absolute_rps",
    "tied_share",
    "title",
    "titled",
    "topk_accuracy",
    "total_variation",
    "typed",
    "win_rate",
]

CATALOGUE: Mapping[str, Callable[..., Metric]] = {
    "auroc": auroc_metric,
    "average_precision": average_precision_metric,
    "precision_at_k": precision_at_k_metric,
    "recall_at_k": recall_at_k_metric,
    "mean_rating": mean_rating_metric,
    "mean_score": mean_score_metric,
    "win_rate": win_rate_metric,
    **{
        metric.__name__: metric.metric
        for metric in (
            accuracy,
            balanced_accuracy,
            cohen_kappa,
            mcc,
            soft_agreement,
            expected_cost,
            normalised_expected_cost,
            mean_absolute_error,
            quadratic_weighted_kappa,
            sensitivity,
            specificity,
            ppv,
            npv,
            f1,
            sensitivity_at_specificity,
            specificity_at_sensitivity,
            net_benefit,
            brier_score,
            log_score,
            ranked_probability_score,
            squared_absolute_rps,
            total_variation,
            jensen_shannon,
            entropy_correlation,
            expected_calibration_error,
            maximum_calibration_error,
            retained_samples_area,
            error_detection_auroc,
            accuracy_coverage_area,
            risk_coverage_area,
            excess_risk_coverage_area,
            topk_accuracy,
            set_accuracy,
            overlap,
            average_overlap,
            kendall_tau,
            spearman_footrule,
            pearson,
            spearman,
            kendall_tau_b,
            concordance,
            rmse,
            absolute_error,
            r_squared,
            pairwise_accuracy,
        )
    },
}
CURVES = (
    "roc_curve",
    "precision_recall_curve",
    "decision_curve",
    "retained_samples_curve",
    "accuracy_coverage_curve",
    "reliability_curve",
)
DEFAULT = ("auroc", "average_precision")


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """Split a metric's name from its parameters.

    Examples
    --------
    >>> parsed("expected_cost:cost=linear")
    ('expected_cost', {'cost': 'linear'})
    >>> parsed("precision_at_50")
    ('precision_at_k', {'k': 50})
    """
    name, *words = text.strip().split(":")
    values: dict[str, Any] = {}
    at = re.fullmatch(r"(precision|recall)_at_([0-9]{1,18})", name)
    if at:
        name, values["k"] = f"{at[1]}_at_k", int(at[2])
    for word in words:
        key, _, value = word.partition("=")
        if key in values:
            raise InputError(
                f"metric {quoted(text)}",
                f"{key} twice, {values[key]} and {quoted(value)}",
                "each parameter once",
                "leave one of them out",
            )
        values[key] = _value(value)
    return name, values


def named(text: str) -> Metric:
    """Make a metric from its name, with parameters after colons.

    Examples
    --------
    >>> named("auroc:form=strict").name
    'auroc:form=strict'
    >>> named("precision_at_50").title
    'P@50'
    """
    name, values = parsed(text)
    if name not in CATALOGUE:
        names = [typed(metric) for metric in CATALOGUE]
        raise InputError("metric", f"{text!r}", "a known metric", nearest(name, names))
    try:
        return CATALOGUE[name](**values)
    except TypeError:
        raise InputError(
            f"metric {text!r}",
            f"parameters {', '.join(values)}",
            "parameters that this metric has",
            f"see the documentation of {name}",
        ) from None


def titled(name: str, labels: str = "soft") -> str:
    """What a metric is called in a sentence; a metric of the caller's own by its name.

    Examples
    --------
    >>> titled("auroc"), titled("auroc", "hard"), titled("my_metric")
    ('soft AUROC', 'hard AUROC', 'soft my_metric')
    """
    try:
        metric = named(name)
    except InputError:
        return f"{labels} {name}"
    return metric.called(labels)


def typed(name: str) -> str:
    """A name of the catalogue as it can be typed: k is a number.

    Examples
    --------
    >>> typed("recall_at_k"), typed("auroc")
    ('recall_at_100', 'auroc')
    """
    return re.sub("_at_k$", "_at_100", name)


def by_topic() -> dict[str, list[Metric]]:
    """Every metric of the catalogue in its default form, under the heading of its topic.

    Examples
    --------
    >>> [metric.name for metric in by_topic()["Calibration"]]
    ['expected_calibration_error', 'maximum_calibration_error']
    """
    topics: dict[str, list[Metric]] = {}
    for make in CATALOGUE.values():
        metric = make()
        topics.setdefault(metric.topic, []).append(metric)
    return topics


def title(name: str) -> str:
    """Title of a metric; a name that is none stays as it is.

    Examples
    --------
    >>> title("auroc"), title("brier_score"), title("certainty")
    ('AUROC', 'Brier score', 'certainty')
    """
    try:
        return named(name).title
    except InputError:
        return name


def require_known(text: str, catalogue: Mapping[str, Callable[..., Any]] = CATALOGUE) -> None:
    """Refuse a name that is not in the catalogue, and parameters that its metric lacks.

    Examples
    --------
    >>> def brier_score(*, scale: str = "one") -> None: ...
    >>> require_known("brier", {"brier_score": brier_score})
    Traceback (most recent call last):
    ...
    equipoise.InputError: metric: 'brier', expected a known metric; did you mean ...
    >>> require_known("brier_score:k=1", {"brier_score": brier_score})
    Traceback (most recent call last):
    ...
    equipoise.InputError: metric 'brier_score:k=1': 'k', expected 'scale'; ...
    """
    name, values = parsed(text)
    if name not in catalogue:
        raise InputError("metric", repr(text), "a known metric", _meant(name, list(catalogue)))
    has = list(inspect.signature(catalogue[name]).parameters)
    unknown = [key for key in values if key not in has]
    if unknown:
        expected = listed(has, most=8) if has else "no parameters"
        raise InputError(
            f"metric {text!r}",
            listed(unknown),
            expected,
            f"write {name}:{has[0]}=VALUE" if has else f"write {name}",
        )


def _meant(name: str, names: list[str]) -> Hint:
    """Names that are near, by spelling or by what they hold, and where all of them are."""
    shown = [typed(candidate) for candidate in names]
    near = get_close_matches(name, shown, n=3)
    near += [
        candidate
        for candidate in shown
        if len(name) > 2 and name in candidate and candidate not in near
    ]
    pointer = hint(
        "{} lists all", Option("list_metrics", value=True, python="metrics.CATALOGUE")
    )
    if not near:
        return pointer
    return hint(
        "did you mean {}? {}",
        joined([repr(candidate) for candidate in near[:3]], "or"),
        pointer,
    )


def _value(text: str) -> int | float | str:
    """A whole number, a number with a point, or the word itself."""
    if re.fullmatch("[0-9]{1,18}", text):
        return int(text)
    return float(text) if re.fullmatch(r"\d*\.\d+", text) else text


def item_scores(name: str, y_true: Any, probabilities: Any) -> PerItem:
    """Score of every item by a metric that is a mean over items, shape (items,).

    Parameters
    ----------
    name
        Name of the metric with its parameters, such as ``expected_cost:cost=linear``.
    y_true, probabilities
        As the metric takes them: metrics of possible truths take plausibilities for labels.

    Examples
    --------
    >>> item_scores("ranked_probability_score", [0, 2], [[0, 1, 0], [0.5, 0, 0.5]])
    array([0.5 , 0.25])
    """
    means = [candidate for candidate, make in CATALOGUE.items() if make().per_item is not None]
    word = parsed(name)[0]
    if word not in means:
        expected = "a metric that is a mean over items"
        raise InputError("item scores", f"{name!r}", expected, nearest(word, means))
    score = named(name).per_item
    assert score is not None
    return score(y_true, probabilities)


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)

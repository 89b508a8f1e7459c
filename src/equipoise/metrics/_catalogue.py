"""The catalogue of metrics, and what is done with a metric by its name.

A name is a word with parameters after colons, as ``expected_cost:cost=linear``; the number k of
precision and recall is part of the word, as ``precision_at_50``.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from equipoise.arrays import InputError, PerItem, listed, nearest
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
from equipoise.metrics._metric import Metric

CATALOGUE: Mapping[str, Callable[..., Metric]] = {
    "auroc": _auroc.metric,
    "average_precision": _average_precision.metric,
    "precision_at_k": _precision_at_k.metric,
    "recall_at_k": _recall_at_k.metric,
    "accuracy": _accuracy.metric,
    "expected_cost": _expected_cost.metric,
    "normalised_expected_cost": _normalised_expected_cost.metric,
    "mean_absolute_error": _mean_absolute_error.metric,
    "quadratic_weighted_kappa": _quadratic_weighted_kappa.metric,
    "brier_score": _brier_score.metric,
    "log_score": _log_score.metric,
    "ranked_probability_score": _ranked_probability_score.metric,
    "squared_absolute_rps": _squared_absolute_rps.metric,
    "total_variation": _total_variation.metric,
    "jensen_shannon": _jensen_shannon.metric,
    "entropy_correlation": _entropy_correlation.metric,
    "expected_calibration_error": _expected_calibration_error.metric,
    "maximum_calibration_error": _maximum_calibration_error.metric,
    "retained_samples_area": _retained_samples_area.metric,
    "topk_accuracy": _topk_accuracy.metric,
    "set_accuracy": _set_accuracy.metric,
    "overlap": _overlap.metric,
    "average_overlap": _average_overlap.metric,
    "kendall_tau": _kendall_tau.metric,
    "spearman_footrule": _spearman_footrule.metric,
}
CURVES = ("roc_curve", "precision_recall_curve", "retained_samples_curve", "reliability_curve")
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
    given: dict[str, Any] = {}
    at = re.fullmatch(r"(precision|recall)_at_(\d+)", name)
    if at:
        name, given["k"] = f"{at[1]}_at_k", int(at[2])
    for word in words:
        key, _, value = word.partition("=")
        given[key] = _value(value)
    return name, given


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
        known = [typed(one) for one in CATALOGUE]
        raise InputError("metric", f"{text!r}", "a known metric", nearest(name, known))
    try:
        return CATALOGUE[name](**given)
    except TypeError:
        raise InputError(
            f"metric {text!r}",
            f"parameters {', '.join(given)}",
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
        known = named(name)
    except InputError:
        return f"{labels} {name}"
    return known.soft_title if labels == "soft" else f"{labels} {known.title}"


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
    equipoise.arrays.InputError: metric: 'brier', expected a known metric; did you mean ...
    >>> require_known("brier_score:k=1", {"brier_score": brier_score})
    Traceback (most recent call last):
    ...
    equipoise.arrays.InputError: metric 'brier_score:k=1': 'k', expected 'scale'; ...
    """
    name, given = parsed(text)
    if name not in catalogue:
        raise InputError("metric", repr(text), "a known metric", _meant(name, list(catalogue)))
    has = list(inspect.signature(catalogue[name]).parameters)
    unknown = [key for key in given if key not in has]
    if unknown:
        every = listed(has, most=8) if has else "no parameters"
        raise InputError(
            f"metric {text!r}",
            listed(unknown),
            every,
            f"write {name}:{has[0]}=VALUE" if has else f"write {name}",
        )


def _meant(name: str, known: list[str]) -> str:
    """Names that are near, by spelling or by what they hold, and where all of them are."""
    shown = [typed(one) for one in known]
    near = get_close_matches(name, shown, n=3)
    near += [one for one in shown if len(name) > 2 and name in one and one not in near]
    all_of_them = "--list-metrics lists all"
    if not near:
        return all_of_them
    return f"did you mean {' or '.join(map(repr, near[:3]))}? {all_of_them}"


def _value(text: str) -> int | float | str:
    """A whole number, a number with a point, or the word itself."""
    if text.isdecimal() and text.isascii():
        return int(text)
    return float(text) if re.fullmatch(r"\d*\.\d+", text) else text


class ItemScore(NamedTuple):
    """One item and its score."""

    item: str
    score: float


def item_scores(name: str, y_true: Any, probabilities: Any) -> PerItem:
    """Score of every item by a metric that is a mean over items, shape (items,).

    Parameters
    ----------
    name
        Name of the metric with its parameters, such as ``expected_cost:cost=linear``.
    y_true, probabilities
        As the metric takes them.

    Examples
    --------
    >>> item_scores("ranked_probability_score", [0, 2], [[0, 1, 0], [0.5, 0, 0.5]])
    array([0.5 , 0.25])
    """
    score = _per_item(name).per_item
    assert score is not None
    return score(y_true, probabilities)


def _per_item(name: str) -> Metric:
    """A metric that is a mean over items, by its name."""
    means = [one for one, make in CATALOGUE.items() if make().per_item is not None]
    word = parsed(name)[0]
    if word not in means:
        expected = "a metric that is a mean over items"
        raise InputError("item scores", f"{name!r}", expected, nearest(word, means))
    return named(name)


def worst_items(
    name: str, y_true: Any, probabilities: Any, items: Sequence[str], most: int = 10
) -> list[ItemScore]:
    """Items on which a model does worst, the worst first, equal ones by name.

    Scores that agree to 12 decimals are equal; undefined ones are left out.

    Examples
    --------
    >>> worst_items("brier_score", [0, 1, 1], [0.1, 0.2, 0.9], ["a", "b", "c"], most=1)
    [ItemScore(item='b', score=1.28)]
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InputError(
            "worst items, most", f"{most!r}", "a whole number of at least 1", "say how many"
        )
    scores = item_scores(name, y_true, probabilities)
    if len(items) != len(scores):
        raise InputError(
            "worst items", f"{len(items)} names", f"{len(scores)}, one per item", "align them"
        )
    badness = np.round(-scores if _per_item(name).better == "higher" else scores, 12)
    known = [i for i, undefined in enumerate(np.isnan(scores)) if not undefined]
    ranked = sorted(known, key=lambda i: (-badness[i], str(items[i])))
    return [ItemScore(str(items[i]), float(scores[i])) for i in ranked[:most]]

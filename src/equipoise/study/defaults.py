"""Defaults: the metrics that fit what models say, where nobody names any.

===============================  ===============================================================
prediction                       metrics
===============================  ===============================================================
decisions (0 and 1, class names) accuracy, Cohen's kappa (quadratic weighted for grades), F1
scores, yes or no                AUROC, average precision
probabilities of classes         accuracy, Cohen's kappa, AUROC
probabilities of grades          quadratic weighted kappa, accuracy, ranked probability score
rankings under a model of truth  top-1 and top-3 accuracy
===============================  ===============================================================

Decisions never get AUROC: a single point has no curve. Where some models decide and others give
scores, all are compared by their decisions.
"""

from collections.abc import Iterable, Sequence

from equipoise.types.annotations import Annotations
from equipoise.types.plausibilities import Plausibilities
from equipoise.types.predictions import Predictions

KAPPA, GRADES = "cohen_kappa", "quadratic_weighted_kappa"
PLENTY = 3  # classes from which the first three are worth a look


def default_metrics(
    truth: Annotations | Plausibilities | Sequence[Plausibilities],
    predictions: Predictions | Iterable[Predictions],
) -> tuple[str, ...]:
    """Names of the metrics that fit, the main one first.

    Examples
    --------
    >>> import numpy as np
    >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("no", "yes"),
    ...     item=np.array([0, 1]), label=np.array([1, 0]))
    >>> default_metrics(votes, Predictions("resnet", ("a", "b"), np.array([0.9, 0.2])))
    ('auroc', 'average_precision')
    >>> default_metrics(votes, Predictions("rule", ("a", "b"), np.array([1.0, 0.0])))[0]
    'accuracy'
    """
    given = [predictions] if isinstance(predictions, Predictions) else list(predictions)
    first = next(iter(truth), None) if isinstance(truth, list | tuple) else truth
    if not isinstance(first, Annotations | Plausibilities):
        return ("auroc",)  # refused later, for want of a truth
    several, ordered = len(first.classes) > 2, False
    if isinstance(first, Annotations):
        several |= first.kind == "nominal"
        ordered = several and first.kind == "ordinal"
    else:
        ordered = several and first.ordered
        if several and not ordered and first.draws > 1:
            more = ("topk_accuracy:k=3",) if len(first.classes) > PLENTY else ()
            return ("topk_accuracy", *more)
    if any(one.decides for one in given):
        return _decision_metrics(ordered=ordered)
    if ordered:
        return (GRADES, "accuracy", "ranked_probability_score")
    if several:
        return ("accuracy", KAPPA, "auroc")
    return ("auroc", "average_precision")


def _decision_metrics(*, ordered: bool) -> tuple[str, ...]:
    """Names of the metrics that fit decisions, the main one first."""
    return ("accuracy", GRADES if ordered else KAPPA, "f1")


def reader_metrics(*, several: bool, ordered: bool) -> tuple[str, ...]:
    """By what readers are compared with models where no metric of decisions was asked for."""
    if several:
        return _decision_metrics(ordered=ordered)
    return ("accuracy", KAPPA, "sensitivity", "specificity")

"""What is asked of a pilot: one task, two models, and a metric that can be planned for."""

from collections.abc import Sequence

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, listed, nearest, wrong_type
from equipoise.metrics import Metric

BINS = "bins "  # how the family of metrics of binned probabilities begins


def two_names(models: object) -> tuple[str, str] | None:
    """Names of two models; None for the two best."""
    if models is None:
        return None
    given = models if isinstance(models, Sequence) and not isinstance(models, str) else ()
    names = [one for one in given if isinstance(one, str)]
    if len(names) != 2 or len(given) != 2:
        raise wrong_type("models", models, "the names of two models", "name two of them")
    return names[0], names[1]


def one_task(annotations: Annotations, task: str | None) -> str:
    """The task asked for, or the only one."""
    if task is None and len(annotations.tasks) > 1:
        raise InputError(
            "annotations", f"{len(annotations.tasks)} tasks", "one",
            f"choose one (task, --task): {', '.join(annotations.tasks)}",
        )  # fmt: skip
    if task is not None and task not in annotations.tasks:
        known = annotations.tasks
        raise InputError("task", f"{task!r}", "a task of these", nearest(str(task), known))
    return annotations.tasks[0] if task is None else task


def usable_metric(metric: Metric) -> Metric:
    """Refuse metrics whose value changes with the number of items, or without votes.

    With bins the distance in each is as large as chance makes it, which more items lessen.
    """
    why = {
        "draws of possible truths": metric.labels == "draws",
        "a fixed number k of items": metric.min_items > 1,
        "bins, whose value depends on the number of items": metric.family.startswith(BINS),
    }
    for what, found in why.items():
        if found:
            raise InputError(
                f"metric {metric.name}", f"a metric of {what}",
                "one that means the same for any number of items",
                "plan by auroc, average_precision, brier_score or another such metric",
            )  # fmt: skip
    return metric


def require_defined(metric: Metric, values: Floats) -> None:
    """Refuse a pilot on which a model has no value."""
    if np.isnan(values).any():
        raise InputError(
            f"metric {metric.name}", "undefined on the pilot", "votes for every class",
            "collect a larger pilot",
        )  # fmt: skip


def require_finite(metric: Metric, infinite: Sequence[str]) -> None:
    """Refuse models whose value is infinite, as a log score with a probability of 0."""
    if infinite:
        raise InputError(
            f"metric {metric.name}", f"infinite for {listed(infinite)}", "finite values",
            "give no class that somebody may choose a probability of 0, or plan by another "
            "metric, as brier_score",
        )  # fmt: skip


def require_possible(metric: Metric, difference: float | None) -> None:
    """Refuse a difference that no two models can have."""
    low, high = metric.bounds
    if difference is not None and difference > high - low:
        raise InputError(
            "plan, difference", f"{difference:g}",
            f"at most {high - low:g}, because {metric.title} lies between {low:g} and {high:g}",
            "say how much better a model must be to matter",
        )  # fmt: skip

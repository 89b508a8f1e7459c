"""What is asked of a pilot: one task, two models, and a metric that can be planned for."""

from collections.abc import Sequence

from equipoise.annotations import Annotations
from equipoise.arrays import InputError, nearest, wrong_type
from equipoise.metrics import Metric


def two_names(models: object) -> tuple[str, str] | None:
    """Names of two models; None for the two best."""
    if models is None:
        return None
    listed = models if isinstance(models, Sequence) and not isinstance(models, str) else ()
    names = [one for one in listed if isinstance(one, str)]
    if len(names) != 2 or len(listed) != 2:
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
    """Refuse metrics whose meaning changes with the number of items, or without votes."""
    if metric.labels == "draws" or metric.least > 1:
        why = "draws of possible truths" if metric.labels == "draws" else "a fixed number k"
        raise InputError(
            f"metric {metric.name}", f"a metric of {why}",
            "one that means the same for any number of items",
            "plan by auroc, average_precision, brier_score or another such metric",
        )  # fmt: skip
    return metric

"""What `equipoise evaluate` says about metrics: the whole catalogue by family."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from equipoise.arrays import InputError

if TYPE_CHECKING:
    from equipoise.metrics import Metric

FAMILIES = {
    "Order of items, for scores and probabilities": (
        "auroc",
        "average_precision",
        "precision_at_k",
        "recall_at_k",
    ),
    "Decisions": (
        "accuracy",
        "expected_cost",
        "normalised_expected_cost",
        "mean_absolute_error",
        "quadratic_weighted_kappa",
    ),
    "Proper scores of probabilities": ("brier_score", "log_score"),
    "Grades in a known order": ("ranked_probability_score", "squared_absolute_rps"),
    "Distance from the distribution of votes, and its doubt": (
        "total_variation",
        "jensen_shannon",
        "entropy_correlation",
    ),
    "Calibration": ("expected_calibration_error", "maximum_calibration_error"),
    "Leaving doubtful items to experts": ("retained_samples_area",),
    "Under a model of the truth, with --truth": (
        "topk_accuracy",
        "set_accuracy",
        "overlap",
        "average_overlap",
        "kendall_tau",
        "spearman_footrule",
    ),
}


def metrics_help() -> str:
    """The help of `--metrics`: one line per family."""
    lines = [
        "Comma-separated; parameters after colons, as `auroc:form=strict` or "
        "`topk_accuracy:k=3`. `--list-metrics` says what each is.",
        *(
            f"* {family}: {', '.join(f'`{_shown(name)}`' for name in names)}."
            for family, names in FAMILIES.items()
        ),
    ]
    return "\n\n".join(lines)


def list_metrics(asked: bool) -> None:
    """Print every metric with its definition, and stop."""
    if not asked:
        return
    from equipoise.cli._screen import output
    from equipoise.metrics import named

    console = output()
    for family, names in FAMILIES.items():
        console.print(f"[bold]{family}[/bold]")
        for name in names:
            metric = named(_shown(name))
            better = "higher is better" if metric.better == "higher" else "lower is better"
            console.print(f"  {metric.name}: {metric.definition} ({better})", markup=False)
    raise typer.Exit


def metric_of(word: str) -> "Metric":
    """The metric of a name, or a refusal that says which names and parameters there are."""
    from equipoise.metrics import CATALOGUE, named
    from equipoise.metrics._catalogue import require_known

    require_known(word, CATALOGUE)
    return named(word)


def check_k(metrics: "Sequence[Metric]", classes: int) -> None:
    """Refuse metrics of the first k classes where there are fewer; 0: not known."""
    from equipoise.metrics import parsed

    for metric in metrics:
        k = parsed(metric.name)[1].get("k", 1)
        if metric.labels == "draws" and 0 < classes < k:
            raise InputError(
                f"metric {metric.name!r}", f"k={k}", f"at most the {classes} classes",
                f"choose k={classes} or less",
            )  # fmt: skip


def _shown(name: str) -> str:
    """A name that can be typed: k is a number."""
    return name.replace("_at_k", "_at_100")

"""Catalogues in the help: every metric by topic, every aggregation model with its settings.

Texts that name all of them are made when they are read; `EVERY_METRIC` and the like stand for
them till then.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from equipoise.types.arrays import InputError
from equipoise.types.words import in_command

if TYPE_CHECKING:
    from equipoise.metrics import Metric


EVERY_METRIC, EVERY_MODEL = "(metrics)", "(models)"
RELIABILITIES, PRIORS = "(reliabilities)", "(priors)"


def help_text(said: str) -> str:
    """A text of the help, or the one that it stands for.

    Examples
    --------
    >>> help_text("How many bins."), help_text(EVERY_MODEL)[:24]
    ('How many bins.', '`auto`, or one of these.')
    """
    return _TEXTS[said]() if said in _TEXTS else said


def _metrics_help() -> str:
    """The help of `--metrics`: one line per topic."""
    from equipoise.metrics import by_topic

    lines = [
        "Comma-separated; parameters after colons, as `auroc:form=strict`, `f1:positive=N3` or "
        "`topk_accuracy:k=3`. `--list-metrics` says what each is.",
        *(
            f"* {in_command(topic)}: {', '.join(f'`{metric.name}`' for metric in metrics)}."
            for topic, metrics in by_topic().items()
        ),
    ]
    return "\n\n".join(lines)


def list_metrics(asked: bool) -> None:
    """Print every metric with its definition, and stop."""
    if not asked:
        return
    from equipoise.cli._screen import output
    from equipoise.metrics import by_topic

    console = output()
    for topic, metrics in by_topic().items():
        console.print(f"[bold]{in_command(topic)}[/bold]")
        for metric in metrics:
            better = "higher is better" if metric.better == "higher" else "lower is better"
            console.print(f"  {metric.name}: {metric.definition} ({better})", markup=False)
    raise typer.Exit


def metric_of(word: str) -> "Metric":
    """The metric of a name, or a refusal that says which names and parameters there are."""
    from equipoise.metrics import named, require_known

    require_known(word)
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


def _model_help() -> str:
    """The help of `--model`: every model, with what it does."""
    from equipoise.truth import MODELS

    lines = [f"* `{name}`: {model.description}." for name, model in MODELS.items()]
    return "\n\n".join(["`auto`, or one of these.", *lines])


def _reliability_help() -> str:
    """The help of `--reliability`: the models that have one, and their defaults."""
    from equipoise.truth import MODELS

    with_one = [(name, one.reliability) for name, one in MODELS.items() if one.reliability]
    known = [f"`{name}` (default {own.default:g})" for name, own in with_one]
    return f"How much a vote or reading is worth: {', '.join(known)}."


def _prior_help() -> str:
    """The help of `--prior`: the models that have one, and what they take."""
    from equipoise.truth import MODELS

    known = [f"`{name}` {one.prior.help}" for name, one in MODELS.items() if one.prior]
    return f"What is believed without votes: {', '.join(known)}."


_TEXTS: Mapping[str, Callable[[], str]] = {
    EVERY_METRIC: _metrics_help,
    EVERY_MODEL: _model_help,
    RELIABILITIES: _reliability_help,
    PRIORS: _prior_help,
}

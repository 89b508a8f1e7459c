"""Catalogues in the help, and the manual of the command line.

Texts that name every metric, analysis or aggregation model are made when they are read;
`EVERY_METRIC` and the like stand for them till then. ``make docs`` writes the manual from the
commands themselves: ``python -m equipoise.cli.help``.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from equipoise.cli.options import (
    EVERY_ANALYSIS,
    EVERY_METRIC,
    EVERY_MODEL,
    PRIORS,
    RELIABILITIES,
    as_usage,
    check_choice,
    misused,
    words,
)
from equipoise.types import InputError, Names, in_command

if TYPE_CHECKING:
    from equipoise.metrics import Metric


def help_text(text: str) -> str:
    """A text of the help, or the one that it stands for.

    Examples
    --------
    >>> help_text("How many bins."), help_text(EVERY_MODEL)[:24]
    ('How many bins.', '`auto`, or one of these.')
    """
    return _TEXTS[text]() if text in _TEXTS else text


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


def list_metrics() -> None:
    """Print every metric with its definition."""
    from equipoise.cli.screen import output
    from equipoise.metrics import by_topic

    console = output()
    for topic, metrics in by_topic().items():
        console.print(f"[bold]{in_command(topic)}[/bold]")
        for metric in metrics:
            better = "higher is better" if metric.better == "higher" else "lower is better"
            console.print(f"  {metric.name}: {metric.definition} ({better})", markup=False)


def metric_names(text: str | None) -> list[str]:
    """Metrics by their full names; refuses an empty list and unknown ones.

    Examples
    --------
    >>> metric_names("auroc, brier_score"), metric_names(None)
    (['auroc', 'brier_score'], [])
    """
    from equipoise.metrics import named, require_known

    if text is None:
        return []
    names = words(text)
    if not names:
        message = "got nothing, expected at least one metric, for example auroc"
        raise misused(message, "metrics")
    with as_usage("metrics"):
        for name in names:
            require_known(name)
        return [named(name).name for name in names]


def analysis_names(text: str | None) -> Names:
    """Analyses by name, or `all`, `none`, or the `quick` ones, which are usual."""
    from equipoise.study.analyses.catalogue import ANALYSES

    quick = tuple(name for name, analysis in ANALYSES.items() if analysis.quick)
    several = {None: quick, "quick": quick, "all": tuple(ANALYSES), "none": ()}
    if text in several:
        return several[text]
    for name in words(text):
        check_choice("analyses", name, (*ANALYSES, "quick", "all", "none"))
    return tuple(words(text))


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

    with_one = [
        (name, model.reliability) for name, model in MODELS.items() if model.reliability
    ]
    entries = [f"`{name}` (default {setting.default:g})" for name, setting in with_one]
    return f"How much a vote or reading is worth: {', '.join(entries)}."


def _prior_help() -> str:
    """The help of `--prior`: the models that have one, and what they take."""
    from equipoise.truth import MODELS

    entries = [f"`{name}` {model.prior.help}" for name, model in MODELS.items() if model.prior]
    return f"What is believed without votes: {', '.join(entries)}."


def _analyses_help() -> str:
    """The help of `--analyses`: every analysis."""
    from equipoise.study.analyses.catalogue import ANALYSES

    return f"Add some, comma-separated: {', '.join(f'`{name}`' for name in ANALYSES)}."


_TEXTS: Mapping[str, Callable[[], str]] = {
    EVERY_METRIC: _metrics_help,
    EVERY_ANALYSIS: _analyses_help,
    EVERY_MODEL: _model_help,
    RELIABILITIES: _reliability_help,
    PRIORS: _prior_help,
}


# ---- the manual ----------------------------------------------------------------------------


def manual() -> str:
    """All verbs with their options, as Markdown."""
    parts = [
        "# Command line",
        "",
        "Written by `make docs` from the commands; `equipoise VERB --help-all` shows the same.",
        "Results go to standard output, messages and progress to standard error. Exit codes: 0 "
        "done, 1 the input was refused, 2 wrong usage, 130 interrupted.",
    ]
    from equipoise.cli.verbs import verbs

    group = verbs()
    for name, command in _verbs(group):
        parts += ["", f"## equipoise {name}", "", inspect.cleandoc(command.help or ""), ""]
        shown = [param for param in command.params if param.name not in ("help", "help_all")]
        rare = [param for param in shown if getattr(param, "hidden", False)]
        parts += ["| option | default | meaning |", "|---|---|---|"]
        parts += [_row(param) for param in shown if param not in rare]
        if rare:
            parts += ["", "Rare options, which `--help-all` shows, too:", ""]
            parts += ["| option | default | meaning |", "|---|---|---|"]
            parts += [_row(param) for param in rare]
    return "\n".join(parts) + "\n"


def _verbs(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every verb that is shown, those of groups with the name of the group."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _verbs(command, f"{before}{name} ")
        elif not command.hidden:
            yield f"{before}{name}", command


def _row(param: Any) -> str:
    name = (
        ", ".join(param.opts) if param.param_type_name == "option" else str(param.name).upper()
    )
    shown = param.default is not None and param.default is not False
    default = f"`{param.default}`" if shown else ""
    meaning = " ".join(help_text(param.help or "").split()).replace("|", "\\|")
    return f"| `{name}` | {'required' if param.required else default} | {meaning} |"


if __name__ == "__main__":
    print(manual(), end="")

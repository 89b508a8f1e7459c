"""Where an evaluation on the command line comes from, for its record."""

from typing import TYPE_CHECKING, Any

from equipoise.cli._dataset import dataset_facts, input_rows, study_name
from equipoise.cli._options import class_names, column_map
from equipoise.cli.truth import Truth

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.evaluation import Evaluation
    from equipoise.run import Run

TITLE = "which model is better?"
ASKED = (
    "positive",
    "at_least",
    "kind",
    "exchangeable",
    "layout",
    "prediction_layout",
    "repeats",
    "on_missing",
    "truth",
    "by_group",
    "within",
)


def recorded(
    result: "Evaluation", table: "Annotations", made: Truth, options: dict[str, Any]
) -> "Run":
    """Make the run with everything that was asked."""
    from equipoise.run.agreement import with_agreement
    from equipoise.run.record import Provenance, record

    question = {name: options[name] for name in ASKED if _told(name, options)}
    question["read as"] = f"{table.kind}: {', '.join(table.classes)}"
    if options["classes"] is not None:
        question["classes"] = class_names(options["classes"])
    for name in ("columns", "prediction_columns"):
        question[name] = column_map(options[name], f"--{name.replace('_', '-')}")
    labels: dict[str, str] = {}
    if made.parts:
        labels["soft"] = f"mean of the truth by {made.words}"
        labels["hard"] = "its class with more than half of that mean, or with most of it"
    run = record(
        result,
        Provenance(
            title=options["title"] or f"{study_name(options)}: {TITLE}",
            inputs=input_rows(options, options["out"]),
            annotators=table.annotators or (),
            question=question,
            truth_model=dict(made.facts),
            dataset=dataset_facts(options),
            **labels,
        ),
    )
    return with_agreement(run, table)


def _told(name: str, options: dict[str, Any]) -> bool:
    """Whether an option is part of the record: those of models only where there is one."""
    usual = {"truth": "votes", "prediction_layout": "auto"}
    if name in usual:
        return bool(options[name] != usual[name])
    return name not in ("by_group", "within") or bool(options[name])

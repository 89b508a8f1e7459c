"""Where an evaluation on the command line comes from, for its record."""

from typing import TYPE_CHECKING, Any

from equipoise.cli._options import column_map
from equipoise.cli._truth import Truth

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.evaluation import Evaluation
    from equipoise.run import Run

ASKED = (
    "positive",
    "at_least",
    "kind",
    "exchangeable",
    "layout",
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
    from equipoise.run import Provenance, hashed, record
    from equipoise.run.agreement import with_agreement

    inputs = hashed("annotations", [options["annotations"]])
    inputs += hashed("predictions", options["predictions"])
    if options["groups"] is not None:
        inputs += hashed("groups", [options["groups"]])
    question = {name: options[name] for name in ASKED if _told(name, options)}
    question["read as"] = f"{table.kind}: {', '.join(table.classes)}"
    for name in ("columns", "prediction_columns"):
        question[name] = column_map(options[name], f"--{name.replace('_', '-')}")
    labels: dict[str, str] = {}
    if made.parts:
        labels["soft"] = f"mean of the truth by {made.words}"
        labels["hard"] = "its class with more than half of that mean, or with most of it"
    run = record(
        result,
        Provenance(
            title=options["title"] or f"{options['annotations'].stem}: which model is better?",
            inputs=inputs,
            annotators=table.annotators or (),
            question=question,
            truth_model=made.facts,
            **labels,
        ),
    )
    return with_agreement(run, table)


def _told(name: str, options: dict[str, Any]) -> bool:
    """Whether an option is part of the record: those of models only where there is one."""
    if name == "truth":
        return bool(options["truth"] != "votes")
    return name not in ("by_group", "within") or bool(options[name])

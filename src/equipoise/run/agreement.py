"""Agreement in a run: what `equipoise.agreement` says of each task."""

from dataclasses import replace

from equipoise.agreement import AgreementTable, agreement_summaries
from equipoise.annotations import Annotations
from equipoise.run.folder import Run
from equipoise.run.record import AgreementRow, read


def agreement_facts(table: AgreementTable) -> dict[str, object]:
    """Everything about the agreement on one task, ready for JSON."""
    return table.as_json()


def with_agreement(run: Run, annotations: Annotations) -> Run:
    """Add the agreement on every task that has one to a run."""
    rows = tuple(read(AgreementRow, one.as_json()) for one in agreement_summaries(annotations))
    return Run(replace(run.record, agreement=rows), run.replicates) if rows else run

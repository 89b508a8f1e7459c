"""Agreement in a run: what `equipoise.agreement` says of each task, ready for JSON."""

from equipoise.agreement import AgreementTable, agreement_summaries
from equipoise.annotations import Annotations
from equipoise.run.folder import Run


def agreement_facts(table: AgreementTable) -> dict[str, object]:
    """Everything about the agreement on one task, ready for JSON."""
    return table.summary().as_json()


def with_agreement(run: Run, annotations: Annotations) -> Run:
    """Add the agreement on every task that has one to a run."""
    summaries = agreement_summaries(annotations)
    if not summaries:
        return run
    facts = [one.as_json() for one in summaries]
    return Run({**run.header, "agreement": facts}, run.replicates)

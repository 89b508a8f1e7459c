"""Agreement in a run: what `equipoise.agreement` says of each task."""

from dataclasses import replace

from equipoise.agreement import agreement_summaries
from equipoise.annotations import Annotations
from equipoise.run.folder import Run
from equipoise.run.record import AgreementRow, read


def with_agreement(run: Run, annotations: Annotations) -> Run:
    """Add the agreement on every task that has one to a run."""
    rows = tuple(read(AgreementRow, one.as_json()) for one in agreement_summaries(annotations))
    return Run(replace(run.record, agreement=rows), run.replicates) if rows else run

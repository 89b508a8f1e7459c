"""Run: the folder that the command line, the page and the review app share."""

from equipoise.report.run.folder import PAGE, Run, prepared
from equipoise.report.run.record import SCHEMA, RunRecord, question
from equipoise.report.run.recording import Provenance, hashed, record

__all__ = [
    "PAGE",
    "SCHEMA",
    "Provenance",
    "Run",
    "RunRecord",
    "hashed",
    "prepared",
    "question",
    "record",
]

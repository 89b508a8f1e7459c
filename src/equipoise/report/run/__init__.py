"""Run: the folder that the command line, the page and the review app share."""

from equipoise.report.run.folder import PAGE, Run, prepare_folder
from equipoise.report.run.record import SCHEMA, RunRecord, question
from equipoise.report.run.recording import Provenance, hash_inputs, record

__all__ = [
    "PAGE",
    "SCHEMA",
    "Provenance",
    "Run",
    "RunRecord",
    "hash_inputs",
    "prepare_folder",
    "question",
    "record",
]

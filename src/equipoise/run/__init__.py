"""Run: the folder that the command line, the page and the review app share."""

from equipoise.run.folder import PAGE, SCHEMA, Run, prepared
from equipoise.run.record import Provenance, hashed, record

__all__ = ["PAGE", "SCHEMA", "Provenance", "Run", "hashed", "prepared", "record"]

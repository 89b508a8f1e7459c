"""Run: the folder that the command line, the page and the review app share."""

from equipoise.run.folder import SCHEMA, Run
from equipoise.run.record import Provenance, hashed, record

__all__ = ["SCHEMA", "Provenance", "Run", "hashed", "record"]

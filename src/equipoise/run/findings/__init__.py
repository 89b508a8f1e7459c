"""Findings of a run: what an evaluation says, section by section, as data."""

from equipoise.run.findings.report import evaluation_report, terminal_report

__all__ = ["evaluation_report", "terminal_report"]

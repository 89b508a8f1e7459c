"""Report: pages that are not yet made of findings; see `equipoise.page`."""

from equipoise.report.truth_page import TruthPage, render_truth

__all__ = ["TruthPage", "render_truth"]

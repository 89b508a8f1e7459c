"""Report: a run, or an aggregation, as one self-contained HTML page.

`render` takes anything that looks like a run (`RunLike`) and returns the page as text;
`render_truth` does the same for what `equipoise.run.certainty.truth_facts` found about an
aggregation. A page makes no request, needs no script, and is the same for the same input.
"""

from equipoise.report.page import render
from equipoise.report.truth_page import TruthPage, render_truth
from equipoise.report.view import RunLike

__all__ = ["RunLike", "TruthPage", "render", "render_truth"]

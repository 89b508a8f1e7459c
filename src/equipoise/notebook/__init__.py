"""Notebook: an evaluation as a notebook shows it: a card with a table, figures, and the page.

Everything here renders what `equipoise.evaluate` returns. `Evaluation` reaches it by methods of
its own (``result.verdict``, ``result.plot.forest()``, ``result.report("page.html")``), which
import this package when they are called, so that the engine knows no renderer.

Examples
--------
>>> from equipoise import evaluate
>>> from equipoise.demo import reading_study
>>> readings, scores = reading_study()
>>> evaluate(scores, readings, metrics=["auroc"]).plot.forest()
Figure('How far below the best model, whichever it is. ...
"""

from equipoise.notebook.card import notebook_html, write_page
from equipoise.notebook.figures import Figure, Plots

__all__ = ["Figure", "Plots", "notebook_html", "write_page"]

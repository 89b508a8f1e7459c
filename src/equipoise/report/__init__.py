"""Report: a run as one self-contained HTML page.

`render` takes anything that looks like a run (`RunLike`) and returns the page as text. A page
makes no request, needs no script, and is the same for the same input.
"""

from equipoise.report.page import render
from equipoise.report.view import RunLike

__all__ = ["RunLike", "render"]

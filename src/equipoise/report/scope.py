"""Scope: what the result speaks for.

Where items are not redrawn, intervals and ranks hold for the items at hand, and every
sentence that ranks models says so.
"""

from equipoise.report.view import Panel, View

REDRAWN = {
    "panel": "redrawn annotators",
    "votes": "redrawn votes",
    "posterior": "redrawn truths",
}
FIXED = "Items are held fixed: the result speaks for these items, not for others like them."


def fixed(view: View) -> bool:
    """Whether the run says that its items are not redrawn."""
    return view.header["settings"].get("items_redrawn") is False


def scope_words(view: View) -> str:
    """Say what the result speaks for; old runs do not say."""
    said = str(view.header["settings"].get("scope") or "")
    return said or (FIXED if fixed(view) else "")


def opening(panel: Panel) -> str:
    """Open a sentence that ranks models, where it holds for the items at hand."""
    return "On these items, " if fixed(panel.view) else ""


def over(panel: Panel) -> str:
    """Say over what a share of resamples is taken, where that is not items."""
    if not fixed(panel.view):
        return ""
    what = REDRAWN.get(str(panel.view.header["settings"]["resample"]))
    return f" (over {what})" if what else ""

"""Leaderboard: hard next to soft, with interval, rank and the probability of being best."""

from equipoise.report.markup import Html, element
from equipoise.report.numerals import UNDEFINED, percent

BARS = 20  # widths a bar can have


def bar(share: float | None, lack: str = UNDEFINED) -> Html:
    """Draw a probability as a bar behind its number, or write why there is none."""
    if share is None:
        return element("td", lack)
    return element("td", percent(share), class_=f"bar w{round(share * BARS)}")

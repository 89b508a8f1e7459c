"""Gaps: where an interval is undefined because too many resamples are.

A resample is undefined when, for instance, it draws no positive item. An interval is given
only while the undefined resamples could not reach into it.
"""

from equipoise.report.numerals import percent
from equipoise.report.score import Score
from equipoise.report.view import Panel


def missing(score: Score) -> bool:
    """Whether undefined resamples keep a defined score from having an interval."""
    if score.value is None or not score.undefined_share:
        return False
    return score.low is None or score.high is None


def gaps(panel: Panel) -> list[str]:
    """Say for which models no interval can be computed, and why."""
    said = []
    for labels in panel.view.labels:
        scores = {model: panel.score(labels, model) for model in panel.order}
        found = {m: s.undefined_share or 0.0 for m, s in scores.items() if missing(s)}
        if found:
            some = "up to " if min(found.values()) < max(found.values()) else ""
            share = f"{some}{percent(max(found.values()), 1)} of resamples"
            which = "its interval" if len(found) == 1 else "their intervals"
            said.append(
                f"With {labels} labels {share} are undefined for "
                f"{panel.view.listing(list(found))}, so {which} cannot be computed."
            )
    return said

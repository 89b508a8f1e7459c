"""Gaps: where a score is infinite, or an interval undefined because too many resamples are.

A resample is undefined when, for instance, it draws no positive item. An interval is given
only while the undefined resamples could not reach into it. A log score is infinite when a model
rules out what was said of an item.
"""

from equipoise.report.numerals import finite, percent
from equipoise.report.score import Score
from equipoise.report.view import Panel


def missing(score: Score) -> bool:
    """Whether undefined resamples keep a defined score from having an interval."""
    if score.value is None or not score.undefined_share:
        return False
    return score.low is None or score.high is None


def gaps(panel: Panel) -> list[str]:
    """Say for which models no interval can be computed, and why."""
    said = [
        f"With {labels} labels nothing is redrawn, so there are no intervals; resampling "
        "items x posterior gives some."
        for labels in panel.view.labels
        if panel.unmoved(labels)
    ]
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


def endless(panel: Panel) -> list[str]:
    """Say which scores are infinite, why, and what that means for the ranks."""
    found: dict[tuple[str, ...], list[str]] = {}
    for labels in panel.view.labels:
        scores = {model: panel.score(labels, model).value for model in panel.order}
        which = tuple(m for m, x in scores.items() if x is not None and not finite(x))
        if which:
            found.setdefault(tuple(sorted(which)), []).append(labels)
    return [_endless(panel, models, " and ".join(names)) for models, names in found.items()]


def _endless(panel: Panel, models: tuple[str, ...], labels: str) -> str:
    """Say it of some models under some labels."""
    one = len(models) == 1
    why = ""
    if str(panel.facts["name"]).startswith("log_score"):
        gives = "it gives" if one else "they give"
        why = f": {gives} probability 0 to what the labels say of at least one item"
    last = f" {'It ranks' if one else 'They rank'} last."
    return (
        f"With {labels} labels the {panel.facts['title']} of {panel.view.listing(models)} is "
        f"infinite (∞){why}.{'' if len(models) == len(panel.view.models) else last}"
    )

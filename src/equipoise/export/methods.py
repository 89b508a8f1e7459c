"""Methods: a paragraph for a paper that says what was run, from the record of the run."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.export.references import cite, cite_names

REDRAWN = {
    "items": "items",
    "votes": "the votes of each item",
    "panel": "the annotators, the same draw for all items",
    "posterior": "the possible truths of the aggregation model",
    "items x votes": "items and the votes of each",
    "items x panel": "items and annotators",
    "items x posterior": "items and possible truths of the aggregation model",
}
WIDENED = {
    "votes": (
        " The mean of m votes drawn from m votes varies too little, so the spread of the "
        "resamples around their mean was widened by sqrt(m/(m - 1)), with m the votes of an "
        "item; ranks and wins were counted before that."
    ),
    "panel": (
        " A panel of m annotators drawn from m varies too little, so the spread of the "
        "resamples around their mean was widened by sqrt(m/(m - 1)), with m the effective "
        "number of annotators; ranks and wins were counted before that."
    ),
}


def metric_list(metrics: Sequence[Mapping[str, Any]]) -> str:
    """Titles of metrics, each with its sources."""
    return ", ".join(f"{one['title']}{cite_names([one['name']])}" for one in metrics)


def interval_words(how: Mapping[str, Any]) -> str:
    """Where intervals come from, with what was redrawn."""
    level = f"{100 * how['level']:g} % intervals"
    kind = how["resample"]
    if kind == "influence":
        source = cite_names(["influence"])
        return f"{level} are normal, from influence functions of the items{source}."
    what = REDRAWN.get(kind, kind)
    whole = f" ({how['group']}, drawn as wholes)" if how.get("group") else ""
    source = cite_names(kind.split(" x ")) or cite("efron1993")
    return (
        f"{level} ({how['interval']}) come from {how['replicates']:,} bootstrap resamples of "
        f"{what}{whole}{source}.{WIDENED.get(kind, '')}"
    )

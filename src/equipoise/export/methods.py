"""Methods: a paragraph for a paper that says what was run, from the record of the run."""

from collections.abc import Mapping
from typing import Any

from equipoise.arrays import listed
from equipoise.evaluation import MACRO

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


def methods_paragraph(header: Mapping[str, Any]) -> str:
    """Say in the words of a methods section how the run was made.

    ``header`` is what ``run.json`` holds. Only what was run is said.
    """
    how = header["settings"]
    models = header["models"]
    tasks = [one for one in header["tasks"] if one != MACRO]
    metrics = [one["title"] for one in header["metrics"]]
    sizes = header.get("truth") or [{}]
    items = max((one.get("items", 0) for one in sizes), default=0)
    votes = sum(one.get("votes", 0) for one in sizes)
    readers = {one["annotator"] for one in header.get("annotators", ())}
    parts = [
        f"We compared {len(models)} models ({listed(models, most=8)}) on {items:,} items"
        + (f" and {len(tasks)} tasks" if len(tasks) > 1 else "")
        + (f" with {votes:,} votes" if votes else "")
        + (f" of {len(readers)} annotators" if readers else "")
        + f" by {', '.join(metrics)}.",
        _labels(header),
        _interval(how),
        "Differences between models are paired: all models are scored on the same resamples.",
        f"Computed with equipoise {header['equipoise']} (seed {how['seed']}).",
    ]
    return " ".join(part for part in parts if part)


def _labels(header: Mapping[str, Any]) -> str:
    model = header.get("truth_model")
    if model:
        return f"The truth was inferred from the annotations by {model.get('method', model)}."
    how = header["settings"]
    return f"Soft labels: {how['soft']}; hard labels: {how['hard']}."


def _interval(how: Mapping[str, Any]) -> str:
    level = f"{100 * how['level']:g} % intervals"
    if how["resample"] == "influence":
        return f"{level} are normal, from influence functions of the items."
    what = REDRAWN.get(how["resample"], how["resample"])
    whole = f" ({how['group']}, drawn as wholes)" if how.get("group") else ""
    return (
        f"{level} ({how['interval']}) come from {how['replicates']:,} bootstrap resamples of "
        f"{what}{whole}.{WIDENED.get(how['resample'], '')}"
    )

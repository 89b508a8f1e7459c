"""Methods: a paragraph for a paper that says what was run, from the record of the run."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.evaluation import MACRO
from equipoise.export.references import cite, cite_data, cite_names
from equipoise.export.titles import hard_words, model_title

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
    sizes = header.get("truth") or [{}]
    items = max((one.get("items", 0) for one in sizes), default=0)
    votes = sum(one.get("votes", 0) for one in sizes)
    readers = {one["annotator"] for one in header.get("annotators", ())}
    parts = [
        f"We {_models(models)} on {items:,} items"
        + (f" and {len(tasks)} tasks" if len(tasks) > 1 else "")
        + (f" with {votes:,} votes" if votes else "")
        + (f" of {len(readers)} annotators" if readers else "")
        + f" by {metric_list(header['metrics'])}.",
        cite_data(header),
        _labels(header),
        interval_words(how),
        _paired(header),
        _agreement(header),
        f"Computed with equipoise {header['equipoise']} (seed {how['seed']}).",
    ]
    return " ".join(part for part in parts if part)


def metric_list(metrics: Sequence[Mapping[str, Any]]) -> str:
    """Titles of metrics, each with its sources."""
    return ", ".join(f"{one['title']}{cite_names([one['name']])}" for one in metrics)


def _models(names: Sequence[str]) -> str:
    """What was done with the models, the first eight by name."""
    if len(names) == 1:
        return f"scored one model ({names[0]})"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"compared {len(names)} models ({', '.join(names[:8])}{more})"


def _labels(header: Mapping[str, Any]) -> str:
    model = header.get("truth_model")
    if model:
        name = str(model.get("method", ""))
        return f"The truth was inferred from the annotations by {model_title(name)}" + (
            f"{cite_names([name])}."
        )
    how = header["settings"]
    classes = max(len(one.get("classes", "1")) for one in header.get("truth") or [{}])
    kinds = [one.get("labels", "classes") for one in header["metrics"]]
    hard = how["hard"] if classes == 1 else hard_words(kinds, classes=classes)
    return f"Soft labels: {how['soft']}; hard labels: {hard}."


def _paired(header: Mapping[str, Any]) -> str:
    if len(header["models"]) < 2 or header["settings"]["resample"] == "influence":
        return ""
    return "Differences between models are paired: all models are scored on the same resamples."


def _agreement(header: Mapping[str, Any]) -> str:
    if not any(one["coefficients"] for one in header.get("agreement", ())):
        return ""
    return (
        f"Agreement of the annotators was measured by coefficients{cite_names(['agreement'])}."
    )


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

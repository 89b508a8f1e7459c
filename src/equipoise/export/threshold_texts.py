"""Threshold texts: the tables, methods and references of a threshold that experts set."""

from collections.abc import Mapping
from typing import Any

from equipoise.export.references import bibtex
from equipoise.export.tables import table_texts

Facts = Mapping[str, Any]
RULES = {
    "rise": (
        "the mean probability of the first bin, from below, whose share of positives and that "
        "of every bin above it exceed the mean share of the bins below by more than {margin:g}"
    ),
    "isotonic": (
        "the smallest sampled probability at which an isotonic fit of the experts' labels "
        "reaches {share:g}"
    ),
}

REDRAWN = {
    "experts": "experts",
    "items": "items within their bins",
    "experts x items": "experts and of items within their bins",
}


def threshold_texts(facts: Facts) -> dict[str, str]:
    """Text of every table, of the methods and of the references, by the path of the file.

    Parameters
    ----------
    facts
        What `equipoise.run.thresholds.threshold_facts` returns.
    """
    texts = table_texts("bins", facts["threshold"]["rows"])
    texts |= table_texts("thresholds", facts["threshold"]["chosen"])
    texts |= table_texts("intervals", facts["threshold"]["intervals"])
    if "rows" in facts["prevalence"]:
        texts |= table_texts("prevalence", facts["prevalence"]["rows"])
    if "rows" in facts.get("sweep", {}):
        texts |= table_texts("models", facts["sweep"]["rows"])
        texts |= table_texts("rank_correlation", facts["sweep"]["agreement"])
    texts["methods.md"] = threshold_methods(facts) + "\n"
    used = ["thresholds", facts["truth_model"], *(one["name"] for one in facts["metrics"])]
    used.append("items")
    texts["references.bib"] = bibtex([*used, "shares"])
    return texts


def threshold_methods(facts: Facts) -> str:
    """Say in the words of a methods section how the threshold was set."""
    how, data, found = facts["settings"], facts["data"], facts["threshold"]
    rule = RULES[how["rule"]].format(margin=how["margin"], share=how["share"])
    level = f"{100 * how['level']:g} %"
    who = f"{data['experts']} experts" if data["experts"] else "experts"
    parts = [
        f"We ordered {data['items']:,} items by probability ({facts['chances']}), cut them "
        f"into {data['bins']} bins of equal size and drew items from each at random (seed "
        f"{facts['sample']['seed']}); {who} "
        f"labelled {data['labelled']:,} of them, by majority, a tie being negative.",
        f"The threshold is {rule}.",
    ]
    parts.append(_value(found, how))
    if "rows" in facts.get("sweep", {}):
        titles = ", ".join(one["title"] for one in facts["metrics"])
        unit = "groups of items" if facts["sweep"]["groups"] else "items"
        parts.append(
            f"We scored {len(facts['models'])} models by {titles} against the labels of "
            f"thresholds up to {how['reach']:g} below and above, with {level} percentile "
            f"intervals over redrawn {unit}, the same for all thresholds and models."
        )
    parts.append(f"Computed with equipoise {facts['equipoise']}.")
    return " ".join(parts)


def _value(found: Facts, how: Facts) -> str:
    """The threshold with its interval."""
    if found["value"] is None:
        return "The experts' labels set no threshold."
    redrawn = REDRAWN[how["redraw"]]
    drawn = f"{how['replicates']:,} bootstrap resamples of {redrawn} (seed {how['seed']})"
    if found["low"] is None or found["high"] is None:
        return f"It was {found['value']:.3f}; too many of {drawn} set none for an interval."
    return (
        f"It was {found['value']:.3f} ({100 * how['level']:g} % percentile interval "
        f"{found['low']:.3f} to {found['high']:.3f}, from {drawn})."
    )

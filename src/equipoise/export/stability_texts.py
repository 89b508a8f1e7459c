"""Stability texts: the tables, methods and references of an analysis of stability.

Only what was run is said, and only its sources are cited.
"""

from collections.abc import Mapping
from typing import Any

from equipoise.evaluation import MACRO
from equipoise.export.references import bibtex
from equipoise.export.tables import table_texts

Facts = Mapping[str, Any]
MORE = {
    "ranking": ("model_rows", "pair_rows", "sign_test"),
    "flips": ("members",),
    "choices": ("changes", "conclusions"),
    "threshold_sweep": ("agreement",),
    "certainty": ("shares",),
}
SAID = {
    "ranking": (
        "Rank stability is the mean rank correlation (Spearman, Kendall's tau-b) between the "
        "order of the models and the order on redrawn data, by kind of redraw ({kinds})."
    ),
    "flips": (
        "We searched for the fewest items or votes whose removal or change puts another model "
        "ahead of the best, trying every model as the rival: all single changes, then greedy "
        "steps with a proof of minimality where one is known; every set found was verified by "
        "scoring anew."
    ),
    "leave_one_out": (
        "All models were scored again without each annotator in turn, the 100 with most votes "
        "where there are more."
    ),
    "vote_cutoffs": "All models were scored again on items with at least k votes.",
    "panel_size": (
        "All models were scored again on the labels of smaller panels, and their orders "
        "compared between separate panels; beyond half of the panel the rank correlation is "
        "extrapolated by the Spearman-Brown formula."
    ),
    "experts": (
        "Each expert was scored against the mean vote of the others, and the models on the "
        "same items against the same labels. A model is worth as many experts as it takes for "
        "their mean vote to agree with another expert as well as the model does, over "
        "{groups}. The share of pairs of experts in which a model agrees better than the "
        "colleague has Wilson's interval for no more comparisons than there are experts."
    ),
    "critical_difference": (
        "Average ranks over tasks were compared by Friedman's test and Nemenyi's critical "
        "difference; tasks on the same items are not independent."
    ),
    "choices": (
        "The evaluation was repeated under {choices} choices of aggregation model and "
        "reliability, and the orders of the models compared with that under {reference}."
    ),
    "components": (
        "The variance of each result was split into what items, annotators or votes, and the "
        "choice of aggregation model contribute."
    ),
    "subgroups": (
        "Groups of items were compared with {rest}, p-values adjusted by Holm's method "
        "quantity by quantity, each comparison counted once."
    ),
    "threshold_sweep": (
        "The share of positive votes that an item must exceed to be positive was moved around "
        "one half."
    ),
    "certainty": (
        "All models were scored again on the items of at least some certainty, the chance by a "
        "Dirichlet distribution over the votes that the leading class is the most plausible."
    ),
}


def stability_texts(facts: Facts) -> dict[str, str]:
    """Text of every table, of the methods and of the references, by the path of the file.

    Parameters
    ----------
    facts
        What `equipoise.run.stability.stability_facts` returns.
    """
    texts: dict[str, str] = {}
    done = [name for name in SAID if "rows" in facts.get(name, {})]
    for name in done:
        for part, rows in _tables(name, facts[name]).items():
            texts |= table_texts(part, rows)
    texts["methods.md"] = stability_methods(facts) + "\n"
    used = [one["name"] for one in facts["metrics"]]
    fitted = {
        str(row.get("aggregation", "")) for row in facts.get("choices", {}).get("rows", ())
    }
    texts["references.bib"] = bibtex([*used, *done, *sorted(fitted)])
    return texts


def stability_methods(facts: Facts) -> str:
    """Say in the words of a methods section what was looked at."""
    how, data = facts["settings"], facts["data"]
    tasks = [one for one in facts["tasks"] if one != MACRO]
    titles = ", ".join(one["title"] for one in facts["metrics"])
    parts = [
        f"We examined the stability of a comparison of {len(facts['models'])} models on "
        f"{data['items']:,} items"
        + (f" and {len(tasks)} tasks" if len(tasks) > 1 else "")
        + f" with {data['votes']:,} votes"
        + (f" of {data['annotators']:,} annotators" if data["annotators"] else "")
        + f", by {titles}"
        + ("; analyses of a single metric take the first" if len(facts["metrics"]) > 1 else "")
        + ". Soft labels are the mean vote, hard labels the strict majority; where one kind is "
        f"needed, it is {how['labels']}."
    ]
    parts += [_said(name, facts[name]) for name in SAID if "rows" in facts.get(name, {})]
    parts.append(
        f"Intervals have a level of {100 * how['level']:g} %; unless said otherwise they are "
        f"percentile intervals of {how['replicates']:,} resamples (their spread widened by "
        "sqrt(m/(m - 1)) where the panel or votes alone are drawn, m their number), paired "
        f"between models (seed {how['seed']}); those "
        "of variance components are chi-square, those of the limit of large panels jackknife "
        "with Student's quantile. "
        f"Computed with equipoise {facts['equipoise']}."
    )
    return " ".join(parts)


def _said(name: str, found: Facts) -> str:
    kinds = ", ".join(found.get("kinds", ()))
    every = found.get("every_group", True)
    return SAID[name].format(
        kinds=kinds, choices=len(found.get("choices", ())),
        reference=found.get("reference", "the first"),
        groups="all groups of experts" if every else "groups of experts drawn at random",
        rest="the largest group" if found.get("against") == "largest" else "the rest",
    )  # fmt: skip


def _tables(name: str, found: Facts) -> dict[str, Any]:
    """The rows of every table of one analysis, by name."""
    if name == "experts":
        rows = found["rows"]
        people = [row for row in rows if row["kind"] == "expert"]
        models = [row for row in rows if row["kind"] == "model"]
        return {"experts": people, "models_among_experts": models}
    if name == "choices":
        found = {key: _worded(found[key]) for key in ("rows", "changes", "conclusions")}
    extra = {
        f"{name}_{part.removesuffix('_rows')}": found[part]
        for part in MORE.get(name, ())
        if found.get(part)
    }
    return {name: found["rows"], **extra}


def _worded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A model without a reliability has none: blank, not undefined."""
    return [
        row | {"reliability": ""} if row.get("reliability", 1) is None else row for row in rows
    ]

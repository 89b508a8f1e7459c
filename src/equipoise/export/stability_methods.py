"""Stability methods: what was looked at, in the words of a methods section with its sources.

An analysis that showed nothing (no cut-off leaves items out, no order of one model) is not
described, nor is a step that it did not need.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from equipoise.evaluation import MACRO
from equipoise.export.methods import REDRAWN, interval_words, metric_list
from equipoise.export.references import cite, cite_data, cite_names
from equipoise.export.titles import hard_words, model_title

Facts = Mapping[str, Any]
ALONE = {"votes", "panel"}  # redraws whose spread is widened
MOVES = {
    "items": "items to leave out",
    "votes": "votes to leave out",
    "changed votes": "votes to change",
}


def stability_methods(facts: Facts) -> str:
    """Say in the words of a methods section what was looked at."""
    parts = [_opening(facts), cite_data(facts), _labels(facts), _groups(facts)]
    parts += [
        tell(facts[name], facts) for name, tell in SAID.items() if "rows" in facts.get(name, {})
    ]
    parts += [_map(facts), _intervals(facts), f"Computed with equipoise {facts['equipoise']}."]
    return " ".join(part for part in parts if part)


def _opening(facts: Facts) -> str:
    data, models = facts["data"], facts["models"]
    tasks = [one for one in facts["tasks"] if one != MACRO]
    what = f"examined the stability of a comparison of {len(models)} models"
    if len(models) == 1:
        what = f"examined the scores of one model ({models[0]})"
    if "differences" in facts:
        what = f"compared {facts['a']} with {facts['b']}, 2 models,"
    left = data.get("items_left_out", 0)
    without = f" ({left:,} more had no votes or not the scores of every model)" if left else ""
    many = len(facts["metrics"]) > 1 and any(name in facts for name in SAID)
    return (
        f"We {what} on {data['items']:,} items{without}"
        + (f" and {len(tasks)} tasks" if len(tasks) > 1 else "")
        + f" with {data['votes']:,} votes"
        + (f" of {data['annotators']:,} annotators" if data["annotators"] else "")
        + f", by {metric_list(facts['metrics'])}"
        + ("; analyses of a single metric take the first." if many else ".")
    )


def _labels(facts: Facts) -> str:
    kinds = [one.get("labels", "classes") for one in facts["metrics"]]
    binary = facts["data"]["kind"] == "binary"
    hard = hard_words(kinds, classes=1 if binary else len(facts["data"]["classes"]))
    return (
        f"Soft labels: mean vote; hard labels: {hard}. Where one kind is needed, it is "
        f"{facts['settings']['labels']}."
    )


def _groups(facts: Facts) -> str:
    """Groups are drawn as wholes wherever items are drawn."""
    groups = facts["data"].get("groups", 0)
    drawn = str(facts["settings"].get("resample", "items"))
    if not groups or "items" not in drawn.split(" x "):
        return ""
    scored = facts["data"].get("groups_scored", groups)
    some = f", {scored:,} of them with scored items" if scored < groups else ""
    return f"Items belong to {groups:,} groups, which were redrawn as wholes{some}."


def _ranking(found: Facts, facts: Facts) -> str:
    if len(facts["models"]) < 2:
        return ""
    kinds = "; ".join(REDRAWN.get(kind, kind) for kind in found["kinds"])
    said = (
        "Rank stability is the mean rank correlation (Spearman, Kendall's tau-b) between the "
        f"order of the models and the order on redrawn data{cite_names(['ranking'])}. Redrawn "
        f"were, each in a bootstrap of its own: {kinds}."
    )
    if any(kind in ("items x votes", "items x panel") for kind in found["kinds"]):
        said += " Joint redraws err on the wide side."
    if found.get("sign_test"):
        source = cite("lionetti2025")
        said += f" The sign test on replicates is as published{source}, and no evidence."
    return said


def _flips(found: Facts, _: Facts) -> str:
    searched = [row for row in found["rows"] if not row["idle"]]
    units = list(dict.fromkeys(MOVES[row["unit"]] for row in searched))
    if not units:
        return ""
    verified = any(row["size"] is not None for row in searched)
    return (
        f"We searched for the fewest {_or(units)} that put another model ahead of the best, "
        f"trying every other model as the rival{cite_names(['flips'])}: all single changes, "
        "then greedy steps, with a proof of minimality where one is known"
        + ("; every set found was verified by scoring anew." if verified else ".")
    )


def _scored(facts: Facts) -> str:
    one = len(facts["models"]) == 1
    return "The model was scored again" if one else "All models were scored again"


def _leave_one_out(found: Facts, facts: Facts) -> str:
    number = len(found["annotators"])
    few = number < facts["data"]["annotators"]
    which = f" of the {number} with most votes" if few else ""
    said = f"{_scored(facts)} without each annotator{which} in turn{cite('groger2025')}"
    if any(one is not None for one in found["kappa"]):
        said += (
            ", and the labels of the others compared with those of all by Cohen's kappa"
            f"{cite('cohen1960')}"
        )
    return f"{said}."


def _vote_cutoffs(found: Facts, facts: Facts) -> str:
    kept = [
        row for row in found["rows"] if 0 < row["coverage"] < 1 and row["value"] is not None
    ]
    numbers = [str(one) for one in dict.fromkeys(row["votes"] for row in kept)]
    if not numbers:
        return ""
    source = cite_names(["vote_cutoffs"])
    plural = "vote" if numbers == ["1"] else "votes"
    known = " or a known truth" if found.get("known") else ""
    return f"{_scored(facts)} on items with at least {_or(numbers)} {plural}{known}{source}."


def _panel_size(found: Facts, facts: Facts) -> str:
    panels = found["unit"] == "annotators"
    what = "smaller panels" if panels else "fewer votes per item"
    said = f"{_scored(facts)} on the labels of {what}"
    if any(one is not None for one in found["separate"]):
        said += ", and the orders by separate parts of the votes compared by rank correlation"
    orders = "rank correlation" in found["finding"]
    if orders and "extrapolated" in found["finding"]:
        source = cite("spearman1910", "brown1910")
        said += f", extrapolated to larger ones by the Spearman-Brown formula{source}"
        if found.get("separate_low") is not None:
            said += " with the range of a jackknife interval"
    if any(one is not None for one in found["limit_low"]):
        said += (
            "; the limit for ever larger ones has a jackknife interval with Student's quantile"
            f"{cite('efron1993')}"
        )
    return f"{said}."


def _experts(found: Facts, _: Facts) -> str:
    groups = "all groups of experts" if found["every_group"] else "random groups of experts"
    said = (
        "Each expert was scored against the labels of the others, and the models on the same "
        "items against the same labels. A model is worth as many experts as it takes for their "
        f"mean vote to agree with another expert as well as the model does, over {groups}."
    )
    if any(row.get("superior") is not None for row in found["rows"]):
        said += (
            " The share of pairs of experts in which a model agrees better than the colleague "
            "has Wilson's interval for no more comparisons than there are experts"
            f"{cite('wilson1927')}."
        )
    return said


def _critical_difference(found: Facts, _: Facts) -> str:
    shared = "; the tasks share items and are not independent"
    return (
        "Average ranks over tasks were compared by Friedman's test and Nemenyi's critical "
        f"difference{cite_names(['critical_difference'])}"
        f"{shared if 'share items' in found['finding'] else ''}."
    )


def _choices(found: Facts, facts: Facts) -> str:
    models = list(dict.fromkeys(str(row["aggregation"]) for row in found["rows"]))
    named = ", ".join(f"{model_title(one)}{cite_names([one])}" for one in models)
    return (
        f"The evaluation was repeated under {len(found['choices'])} choices of aggregation "
        f"model and reliability ({named})"
        + (
            f", and the orders of the models compared with that under {found['reference']}."
            if len(facts["models"]) > 1
            else "."
        )
    )


def _components(found: Facts, _: Facts) -> str:
    every = list(dict.fromkeys(str(row["source"]) for row in found["rows"]))
    sources = [one for one in every if one not in ("total", "model choice")]
    drawn = [f"redrawn {one}" for one in sources if one != "votes"]
    chosen = "model choice" in every
    beside = " Beside them stands the variance between aggregation models." if chosen else ""
    said = f"The variance of each result was split into what {_and(sources)} contribute"
    if "total" in every:
        said += f", the variance of redrawn votes taken off that of {_and(drawn)}"
    return (
        f"{said}, with chi-square intervals, for sums with Satterthwaite's degrees of freedom"
        f"{cite('satterthwaite1946')}.{beside}"
    )


def _subgroups(found: Facts, _: Facts) -> str:
    rest = "the largest group" if found.get("against") == "largest" else "the rest"
    said = f"Groups of items were compared with {rest}"
    if any(row.get("p_holm") is not None for row in found["rows"]):
        said += (
            ", with p-values from shuffling which items belong to them, "
            f"adjusted by Holm's method{cite('holm1979')} quantity by quantity, "
            "each comparison counted once"
        )
    if any(row["quantity"] == "agreement" for row in found["rows"]):
        said += f"; agreement is Krippendorff's alpha{cite('krippendorff2004')}"
    return f"{said}."


def _threshold_sweep(_: Facts, __: Facts) -> str:
    return (
        "The share of positive votes that an item must exceed to be positive was moved around "
        f"one half{cite_names(['threshold_sweep'])}."
    )


def _certainty(_: Facts, facts: Facts) -> str:
    return (
        f"{_scored(facts)} on the items of at least some certainty, the chance by a "
        "Dirichlet distribution over the votes that the leading class is the most plausible"
        f"{cite_names(['certainty'])}."
    )


def _map(facts: Facts) -> str:
    """How annotators are placed on their map, where there is one."""
    if not facts.get("pairs"):
        return ""
    return f"Pairs of annotators were compared by Cohen's kappa{cite('cohen1960')}."


def _intervals(facts: Facts) -> str:
    """How intervals are made, and which redraw they stand for."""
    how = facts["settings"]
    if "differences" in facts:
        made = interval_words({**how, "interval": "percentile", "group": ""})
        experts = "rows" in facts.get("experts", {})
        other = " Intervals of the comparison with experts are from resamples of items."
        return (
            f"{made} Differences are paired on the same resamples (seed {how['seed']})."
            f"{other if experts and how['resample'] != 'items' else ''}"
        )
    lead = facts.get("lead", {})
    drawn = REDRAWN.get(lead.get("kind"), "items")
    first = f"; those of the leaderboard are from redraws of {drawn}" if lead else ""
    first += f", {lead['spread']}" if lead.get("spread") else ""
    said = (
        f"Intervals have a level of {100 * how['level']:g} %; unless said otherwise they are "
        f"percentile intervals of {how['replicates']:,} resamples of items, paired between "
        f"models (seed {how['seed']}){cite('efron1993')}{first}."
    )
    kinds = {str(lead.get("kind")), *facts.get("ranking", {}).get("kinds", ())}
    if kinds & ALONE:
        said += (
            " Where the panel or votes alone are drawn, their spread is widened by "
            "sqrt(m/(m - 1)), m their number."
        )
    return said


def _or(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _and(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


SAID: Mapping[str, Callable[[Facts, Facts], str]] = {
    "ranking": _ranking,
    "flips": _flips,
    "leave_one_out": _leave_one_out,
    "vote_cutoffs": _vote_cutoffs,
    "panel_size": _panel_size,
    "experts": _experts,
    "critical_difference": _critical_difference,
    "choices": _choices,
    "components": _components,
    "subgroups": _subgroups,
    "threshold_sweep": _threshold_sweep,
    "certainty": _certainty,
}

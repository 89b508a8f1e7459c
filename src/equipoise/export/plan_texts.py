"""Plan texts: the tables, methods and references of a plan, from its facts.

Only what was run is said, and only its sources are cited.
"""

from collections.abc import Mapping
from typing import Any

from equipoise.export.references import bibtex
from equipoise.export.tables import table_texts

Facts = Mapping[str, Any]
TABLES = ("designs", "power", "grid", "contours", "components", "intervals")


def plan_texts(facts: Facts) -> dict[str, str]:
    """Text of every table, of the methods and of the references, by the path of the file.

    Parameters
    ----------
    facts
        What `equipoise.run.planning.plan_facts` returns.
    """
    texts: dict[str, str] = {}
    for name in TABLES:
        if facts[name]:
            texts |= table_texts(f"plan_{name}", facts[name])
    if facts["goal"] == "ranking":
        texts |= table_texts("plan_pairs", facts["pairs"])
    found = facts["next"]
    if found is not None and found["rows"]:
        texts |= table_texts("plan_next", [_to_fill_in(one, facts) for one in found["rows"]])
    texts["methods.md"] = plan_methods(facts) + "\n"
    used = [facts["metric"]["name"], "items", "plan"]
    listed = found is not None and found["rows"]
    texts["references.bib"] = bibtex([*used, *(["next_votes"] if listed else [])])
    return texts


def _to_fill_in(row: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """An item with room for a vote; filled in, the CSV file is read as votes.

    The rank is left to the order of the lines: a column of that name would be read as ranks.
    """
    task = facts["settings"]["task"]
    first = {"item": row["item"], **({"task": task} if task else {})}
    more = {name: one for name, one in row.items() if name not in ("item", "rank")}
    return {**first, "annotator": "", "label": "", **more}


def plan_methods(facts: Facts) -> str:
    """Say in the words of a methods section how the study was planned."""
    parts = [_pilot(facts), _size(facts), *_checked(facts), *_next(facts)]
    parts.append(f"Computed with equipoise {facts['equipoise']}.")
    return " ".join(parts)


def _pilot(facts: Facts) -> str:
    """The data, and how the variance was split."""
    pilot, task = facts["pilot"], facts["settings"]["task"]
    what = (
        f"the order of {len(facts['models'])} models"
        if facts["goal"] == "ranking"
        else f"the difference of {facts['hardest']['a']} and {facts['hardest']['b']}"
    )
    known = facts["components"][1]["pilot"] is not None
    split = (
        "was split into what items and what single votes add, estimated by the jackknife over "
        "items and from the votes of one item against each other; what leaning annotators add "
        "was estimated apart"
        if known and pilot["votes_per_item"] > 0
        else "was estimated by the jackknife over items"
        if pilot["votes_per_item"] == 0
        else "was estimated by the jackknife over items; without two votes on any item, what "
        "single votes add was not told apart"
    )
    each = f"{pilot['votes_per_item']:.3g} vote{'' if pilot['votes_per_item'] == 1 else 's'}"
    each = "a known truth" if pilot["votes_per_item"] == 0 else each
    title = facts["metric"]["title"]
    return (
        f"We planned a study of {what} by {title} with soft labels (the mean vote)"
        f"{f' for {task}' if task else ''} from a pilot of {pilot['items']:,} items with "
        f"{each} each. The variance of the paired difference {split}."
    )


def _size(facts: Facts) -> str:
    """What was asked, and what came out."""
    how, best = facts["settings"], facts["recommended"]
    if best is None:
        return str(facts["finding"])
    given = how["difference"]
    level, power = f"{100 * how['level']:g} %", f"{100 * how['power']:g} %"
    plural = "s" if best["votes_per_item"] > 1 else ""
    aim = "the difference found in the pilot" if given is None else f"a difference of {given:g}"
    each = (
        f"for all pairs of neighbours together with a chance of at least {power} (1 minus the "
        "sum of the chances to miss one)"
        if facts["goal"] == "ranking"
        else f"with a chance of {power}"
    )
    few = [f"{one['a']} and {one['b']}" for one in facts["pairs"] if one["state"] != "planned"]
    rest = f" No size could be planned for {'; '.join(few)}." if few else ""
    return (
        f"The size was chosen so that the {level} interval of {aim} lies above 0 {each}, by "
        f"the normal approximation; this takes {best['items']:,} items with "
        f"{best['votes_per_item']} vote{plural} each.{rest}"
    )


def _checked(facts: Facts) -> list[str]:
    """How designs were checked, if they were."""
    how = facts["settings"]
    done = [one for one in facts["designs"] if one["simulated"] is not None]
    if not done:
        return []
    numbers = [one["votes_per_item"] for one in done]
    votes = ", ".join(map(str, numbers)) + (" vote" if numbers == [1] else " votes")
    which = " for the pair hardest to tell apart" if facts["goal"] == "ranking" else ""
    return [
        f"Designs with {votes} per item were checked{which} by {how['simulations']:,} studies "
        f"simulated from the items and votes of the pilot (seed {how['seed']})."
    ]


def _next(facts: Facts) -> list[str]:
    """How the items to annotate next were chosen, if they were."""
    found = facts["next"]
    if found is None or not found["rows"]:
        return []
    several = facts["components"][1]["pilot"] is not None
    fit = " (by how often votes on one item of the pilot differ)" if several else ""
    by = (
        "the expected fall of the variance of the difference"
        if found["goal"] == "pair"
        else "the expected fall of the number of neighbouring models that two redraws of all "
        "voters' shares put in different order"
    )
    return [
        f"Items for further annotation were ranked by {by} through one more vote, with a "
        f"Dirichlet law for the shares of each item: its votes, and {found['imagined']:.2g} "
        f"imagined ones{fit}, shared out as its mean labels."
    ]

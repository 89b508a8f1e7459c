"""Audit texts: the tables, methods and references of an audit of a retrieval."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.export.references import bibtex
from equipoise.export.tables import table_texts

Facts = Mapping[str, Any]
FEW = 5  # positives of a pool below which Wilson's lower end is in doubt


def audit_texts(facts: Facts) -> dict[str, str]:
    """Text of every table, of the methods and of the references, by the path of the file.

    Parameters
    ----------
    facts
        What `equipoise.run.audit.audit_facts` returns.
    """
    found = facts["audit"]
    whole = [
        {"quantity": "missed", **found["missed"]},
        {"quantity": "recall", **found["recall"]},
    ]
    texts = table_texts("pools", found["rows"]) | table_texts("retrieval", whole)
    used = ["thresholds"]
    if facts.get("reevaluation"):
        texts |= table_texts("reevaluation", facts["reevaluation"]["rows"])
        used += [*(one["name"] for one in facts["metrics"]), "items"]
    texts["methods.md"] = audit_methods(facts) + "\n"
    texts["references.bib"] = bibtex([*used, "shares"])
    return texts


def _counted(rows: Sequence[Facts]) -> list[str]:
    """How many positives the audit rests on, and how many items were tied."""
    positives, audited, ties = (
        sum(one[name] for one in rows) for name in ("positives", "audited", "ties")
    )
    said = [f"{positives:,} of {audited:,} audited items were positive."]
    rare = [one for one in rows if 0 < one["positives"] < FEW and one["audited"] < one["size"]]
    if rare:
        said.append(
            f"Where so few are ({', '.join(str(one['pool']) for one in rare)}), the lower end "
            "of the interval is too high too often."
        )
    if ties:
        said.append(f"{ties:,} had no strict majority of votes and count as negative.")
    return said


def audit_methods(facts: Facts) -> str:
    """Say in the words of a methods section how the audit was made."""
    how, found = facts["settings"], facts["audit"]
    level = f"{100 * how['level']:g} %"
    pools = len(found["rows"])
    audited = sum(one["audited"] for one in found["rows"])
    size = sum(one["size"] for one in found["rows"])
    finite = " with a finite-population correction" if how["finite"] else ""
    parts = [
        f"The retrieval found {found['found']:,} positives. To estimate what it missed, "
        f"{audited:,} of {size:,} items that it left out were drawn at random from {pools} "
        f"pool{'s' * (pools > 1)} and labelled. Shares of positives have {level} Wilson "
        f"intervals{finite}."
    ]
    parts += _counted(found["rows"])
    again = facts.get("reevaluation")
    if again:
        titles = ", ".join(one["title"] for one in facts["metrics"])
        unit = "groups of items" if again["groups"] else "items"
        parts.append(
            f"{len(facts['models'])} models were scored again by {titles} ({how['labels']} "
            "labels) with the audited items added, as they are and weighed by the inverse of "
            f"their chance to be audited; {level} percentile intervals come from "
            f"{how['replicates']:,} bootstrap resamples of the {unit} of the benchmark and of "
            f"the items of each pool, paired between versions and models (seed {how['seed']})."
        )
    parts.append(f"Computed with equipoise {facts['equipoise']}.")
    return " ".join(parts)

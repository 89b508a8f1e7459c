"""Audit texts: the tables, methods and references of an audit of a retrieval."""

from collections.abc import Mapping
from typing import Any

from equipoise.export.references import ENTRIES, bibtex, references
from equipoise.export.tables import table_texts

Facts = Mapping[str, Any]


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
    more = "" if "wilson" in references(used) else f"\n{ENTRIES['wilson']}\n"
    texts["references.bib"] = bibtex(used) + more
    return texts


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
    again = facts.get("reevaluation")
    if again:
        titles = ", ".join(one["title"] for one in facts["metrics"])
        parts.append(
            f"{len(facts['models'])} models were scored again by {titles} ({how['labels']} "
            "labels) with the audited items added, as they are and weighed by the inverse of "
            f"their chance to be audited; {level} percentile intervals come from "
            f"{how['replicates']:,} bootstrap resamples of the items of the benchmark and of "
            f"each pool, paired between versions and models (seed {how['seed']})."
        )
    parts.append(f"Computed with equipoise {facts['equipoise']}.")
    return " ".join(parts)

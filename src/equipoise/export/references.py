"""References: the sources of what was actually run, as citations and as BibTeX.

Every metric, aggregation model, resampling and analysis names the keys it rests on. In a text a
source is cited as ``[@key]``.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from equipoise.aggregate import MODELS
from equipoise.arrays import InputError
from equipoise.datasets import CATALOGUE as DATASETS
from equipoise.findings.bibliography import ENTRIES, cite
from equipoise.findings.bibliography import bibtex as entries
from equipoise.metrics import named

__all__ = [
    "ENTRIES",
    "SOURCES",
    "bibtex",
    "bibtex_of",
    "cite",
    "cite_data",
    "cite_names",
    "references",
]

CITED = re.compile(r"\[@[\w; @]+\]")

SOURCES: Mapping[str, tuple[str, ...]] = {
    "certainty": ("stutz2025",),
    "votes": ("lionetti2025", "efron1993"),
    "panel": ("lionetti2025", "efron1993"),
    "items": ("efron1993",),
    "influence": ("delong1988",),
    "agreement": ("krippendorff2004", "cohen1960"),
    "thresholds": ("groger2025",),
    "shares": ("wilson1927",),
    "plan": ("roe1997",),
    "next_votes": ("owen1956",),
    "ranking": ("lionetti2025", "efron1993"),
    "flips": ("broderick2020",),
    "leave_one_out": ("groger2025", "cohen1960"),
    "vote_cutoffs": ("groger2025",),
    "critical_difference": ("demsar2006",),
    "subgroups": ("krippendorff2004", "holm1979"),
    "threshold_sweep": ("groger2025",),
}


def references(used: Iterable[str]) -> list[str]:
    """Keys of the sources of what was used, each once, in the order of first use.

    Names may carry parameters (``auroc:form=strict``) and numbers (``precision_at_100``); what
    has no source of its own adds nothing.

    Examples
    --------
    >>> references(["auroc:form=strict", "precision_at_100", "items"])
    ['lionetti2025', 'wilson1927', 'efron1993']
    """
    return list(dict.fromkeys(key for name in used for key in _sources(name)))


def _sources(name: str) -> tuple[str, ...]:
    """Sources of a metric, an aggregation model or an analysis."""
    if name in MODELS:
        return MODELS[name].references
    if name in SOURCES:
        return SOURCES[name]
    try:
        return named(name).references
    except InputError:
        return ()


def bibtex(used: Iterable[str]) -> str:
    """BibTeX entries of the sources of what was used."""
    return entries(references(used))


def bibtex_of(text: str) -> str:
    """BibTeX entries of exactly the sources that a text cites.

    Examples
    --------
    >>> bibtex_of("Shares have Wilson's interval [@wilson1927].").split(",")[0]
    '@article{wilson1927'
    """
    found = re.findall(r"@(\w+)", " ".join(CITED.findall(text)))
    return entries(key for key in dict.fromkeys(found) if key in ENTRIES)


def cite_names(used: Iterable[str]) -> str:
    """Sources of metrics, models and analyses by their names."""
    return cite(*references(used))


def cite_data(facts: Mapping[str, Any]) -> str:
    """A sentence on a public data set of the catalogue; nothing for files."""
    known = facts.get("dataset") or {}
    source = DATASETS.get(str(known.get("name")))
    if source is None:
        return ""
    title = str(known.get("title") or known["name"])
    return f"The data are the public set {known['name']} ({title}){cite(*source.references)}."

"""References: the sources of what was actually run, as citations and as BibTeX.

Every metric, aggregation model, resampling and analysis names the keys it rests on. In a text a
source is cited as ``[@key]``.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from equipoise.export.bibliography import ENTRIES

CITED = re.compile(r"\[@[\w; @]+\]")

SOURCES: Mapping[str, tuple[str, ...]] = {
    "auroc": ("lionetti2025",),
    "average_precision": ("lionetti2025",),
    "precision_at": ("lionetti2025", "wilson1927"),
    "recall_at": ("lionetti2025",),
    "auroc:multiclass=ovo": ("hand2001",),
    "ranked_probability_score": ("galdran2023",),
    "squared_absolute_rps": ("galdran2023",),
    "retained_samples_area": ("galdran2023",),
    "expected_cost": ("galdran2023",),
    "normalised_expected_cost": ("galdran2023",),
    "quadratic_weighted_kappa": ("cohen1960", "galdran2023"),
    "brier_score": ("brier1950",),
    "expected_calibration_error": ("guo2017",),
    "maximum_calibration_error": ("guo2017",),
    "topk_accuracy": ("stutz2025",),
    "set_accuracy": ("stutz2025",),
    "overlap": ("stutz2025",),
    "average_overlap": ("stutz2025",),
    "dawid_skene": ("dawid1979",),
    "dawid_skene_ordinal": ("dawid1979",),
    "glad": ("whitehill2009", "groger2025"),
    "plackett_luce": ("caron2012", "stutz2025"),
    "plackett_luce_ml": ("caron2012",),
    "inverse_rank": ("stutz2025",),
    "probabilistic_inverse_rank": ("stutz2025",),
    "dirichlet": ("stutz2025",),
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

OF_DATA: Mapping[str, tuple[str, ...]] = {
    "chexpert": ("irvin2019", "rajpurkar2021"),
    "cifar10h": ("peterson2019",),
    "dermatology_ddx": ("stutz2025", "stutz2023"),
    "sleep_dodh": ("guillot2020",),
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
    keys: list[str] = []
    for name in used:
        plain = name.split(":")[0]
        near = plain.rsplit("_", 1)[0] if plain.rsplit("_", 1)[-1].isdigit() else plain
        for key in (*SOURCES.get(name, ()), *SOURCES.get(near, ())):
            if key not in keys:
                keys.append(key)
    return keys


def bibtex(used: Iterable[str]) -> str:
    """BibTeX entries of the sources of what was used."""
    return _entries(references(used))


def bibtex_of(text: str) -> str:
    """BibTeX entries of exactly the sources that a text cites.

    Examples
    --------
    >>> bibtex_of("Shares have Wilson's interval [@wilson1927].").split(",")[0]
    '@article{wilson1927'
    """
    found = re.findall(r"@(\w+)", " ".join(CITED.findall(text)))
    return _entries(key for key in dict.fromkeys(found) if key in ENTRIES)


def cite(*keys: str) -> str:
    """Sources at the end of a sentence; nothing where there is none.

    Examples
    --------
    >>> cite("dawid1979", "whitehill2009"), cite()
    (' [@dawid1979; @whitehill2009]', '')
    """
    return f" [{'; '.join(f'@{key}' for key in keys)}]" if keys else ""


def cite_names(used: Iterable[str]) -> str:
    """Sources of metrics, models and analyses by their names."""
    return cite(*references(used))


def cite_data(facts: Mapping[str, Any]) -> str:
    """A sentence on a public data set of the catalogue; nothing for files."""
    known = facts.get("dataset") or {}
    keys = OF_DATA.get(str(known.get("name")), ())
    if not keys:
        return ""
    title = str(known.get("title") or known["name"])
    return f"The data are the public set {known['name']} ({title}){cite(*keys)}."


def _entries(keys: Iterable[str]) -> str:
    return "\n\n".join(ENTRIES[key] for key in keys) + "\n"

"""Checklist: what CLAIM, STARD-AI and TRIPOD+AI ask of a study, as far as a run answers it.

A row per thing that a reader of the paper asks for, with its numbers in the editions that the
heads of the columns name. What a run knows is filled in from its findings, terms and notices;
the rest is marked as for the authors to write. Nothing is worked out here.

References
----------
CLAIM: Tejani et al., *Radiology: Artificial Intelligence* 2024. STARD-AI: Sounderajah et al.,
*Nature Medicine* 2025. TRIPOD+AI: Collins et al., *BMJ* 2024.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from equipoise.types import Cell, Column, Report, Table, worded

OPEN = "for the authors to write"
Fill = Callable[[Report], Iterable[str]]


class Asked(NamedTuple):
    """One thing that is asked for, where, and what answers it."""

    what: str
    claim: str
    stard: str
    tripod: str
    fill: Fill = lambda _: ()


def _said(*keys: str) -> Fill:
    """Sentences of findings."""
    return lambda report: (
        finding.sentence
        for finding in report.findings
        if finding.key in keys and not finding.left_out
    )


def _terms(*words: str) -> Fill:
    """What words mean in this run."""
    return lambda report: (text for word, text in report.terms if word in words)


def _noted(*codes: str) -> Fill:
    """Notices of some codes."""
    return lambda report: worded(note for note in report.all_notices if note.code in codes)


def _shown(name: str) -> Fill:
    """Which file holds a table."""
    return lambda report: (
        f"See tables/{name}.csv."
        for finding in report.findings
        for table in finding.tables
        if table.name == name and table.rows
    )


def _seen(report: Report) -> Iterable[str]:
    """How much was looked at."""
    known = ", ".join(part for part in report.known if part)
    return [f"{known[:1].upper()}{known[1:]}.", report.scope]


def _measures(report: Report) -> Iterable[str]:
    own = {"Intervals", "Scope", "Resampling", "Labels", "Families"}
    names = [word for word, _ in report.terms if word not in own]
    if any(finding.key == "stated_cuts" and finding.tables for finding in report.findings):
        names.append("at the stated cuts sensitivity, specificity, PPV and NPV")
    return [f"{', '.join(names)}."] if names else []


def _depends(report: Report) -> Iterable[str]:
    return (
        f"{finding.title} {finding.verdict}."
        for finding in report.findings
        if finding.verdict and not finding.left_out and finding.key != "subgroups"
    )


def _all(*fills: Fill) -> Fill:
    return lambda report: (text for fill in fills for text in fill(report))


ASKED = (
    Asked("Setting, dates, eligibility, source of the data", "7, 8", "7 to 11", "5, 6"),
    Asked(
        "Definition of the truth", "14", "16a", "8a",
        _all(_terms("Labels"), _noted("gold_truth", "some_gold"), _said("truths")),
    ),
    Asked("Why this reference standard", "15", "16b", "8a"),
    Asked("Annotators and their qualification", "16, 17", "12", "8b", _shown("people")),
    Asked("Tools and instructions of annotation", "17", "12", "8b"),
    Asked("Blinding of annotators", "", "17b", "8c"),
    Asked("Variability between annotators", "18", "21", "8b", _said("agreement")),
    Asked("Variability within annotators", "18", "21", "8b", _noted("within_readers")),
    Asked("How the number of items was chosen", "21", "22", "10"),
    Asked("Flow of items", "35", "24", "20a", _seen),
    Asked(
        "Missing and left out", "12", "19, 20", "11",
        _noted("dropped_items", "subgroups_missing", "phases_left_out", "blank_labels",
               "repeats_dropped", "readers_left_out", "without_gold", "ignored_predictions"),
    ),
    Asked("Characteristics of items", "36", "25", "20b", _shown("stated_cuts_groups")),
    Asked(
        "Thresholds and how they were chosen", "22", "15c", "15",
        _noted("thresholds", "cross_fitted", "tuning_split", "threshold_assumed"),
    ),
    Asked("Measures of performance", "28", "18", "12e", _measures),
    Asked("Uncertainty", "29", "18", "12e", _terms("Intervals", "Scope")),
    Asked(
        "Performance with intervals", "37, 38", "31", "23a",
        _all(lambda report: [report.card.answer, report.card.lede] if report.card else [],
             _shown("values")),
    ),
    Asked(
        "Counts at the thresholds", "37", "30", "23a",
        _all(_said("stated_cuts"), _shown("stated_cuts")),
    ),
    Asked("Comparison with readers", "37", "18, 31", "23a", _said("readers")),
    Asked("Calibration", "37", "", "12e, 23a", _said("calibration")),
    Asked("Subgroups and fairness", "30", "21, 23", "14, 23a", _said("subgroups")),
    Asked("Robustness", "30", "21", "12e", _depends),
    Asked("Failures", "39", "23", "", _said("disputed", "confusion")),
    Asked("Registration, protocol, funding, ethics", "34, 42 to 44", "6, 36 to 40", "17, 18"),
)  # fmt: skip


def reporting_items(report: Report) -> Table:
    """The table of what is asked for, with what the run answers."""
    rows: list[dict[str, Cell]] = []
    for asked in ASKED:
        answer = " ".join(dict.fromkeys(filter(None, map(str, asked.fill(report)))))
        state = "from the run" if answer else OPEN
        numbers = {"claim": asked.claim, "stard": asked.stard, "tripod": asked.tripod}
        rows.append({"what": asked.what, **numbers, "state": state, "answer": answer})
    return Table(
        name="checklist",
        caption="What CLAIM, STARD-AI and TRIPOD+AI ask for, as far as this run answers it",
        columns=(
            Column("what", "what"),
            Column("claim", "CLAIM 2024"),
            Column("stard", "STARD-AI 2025"),
            Column("tripod", "TRIPOD+AI 2024"),
            Column("state", "state"),
            Column("answer", "answer"),
        ),
        rows=rows,
    )

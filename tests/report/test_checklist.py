"""What reporting guidelines ask for is filled from the run, and the rest is marked."""

from dataclasses import replace

import pyarrow as pa

from equipoise.read.attributes import Attributes
from equipoise.report.answer import analyse_study
from equipoise.report.checklist import ASKED, OPEN, reporting_items
from equipoise.report.text import texts
from equipoise.types import Finding
from tests.study.test_stated_cuts import gold_study

FILLED = {
    "Definition of the truth": "by the reference standard",
    "Variability between annotators": "agreement beyond chance",
    "Flow of items": "160 items",
    "Thresholds and how they were chosen": "0.500 for all",
    "Measures of performance": "AUROC",
    "Uncertainty": "95%",
    "Performance with intervals": "net",
    "Counts at the thresholds": "At its cut",
    "Comparison with readers": "Balanced accuracy of net",
    "Subgroups and fairness": "groups of items",
    "Characteristics of items": "tables/stated_cuts_groups.csv",
    "Annotators and their qualification": "tables/people.csv",
}
WRITTEN = ("Why this reference standard", "Tools and instructions of annotation",
           "Blinding of annotators", "Registration, protocol, funding, ethics")  # fmt: skip


def study_report():
    study, _, _ = gold_study()
    sites = pa.table({"item": list(study.items), "site": ["n", "s"] * 80})
    people = pa.table(
        {"annotator": [f"reader {k}" for k in range(3)], "years": ["9", "3", "5"]}
    )
    view = replace(
        study,
        attributes=Attributes.from_dataframe(sites),
        annotator_attributes=Attributes.from_dataframe(people, of="annotator"),
    )
    return analyse_study(view, only=["calibration", "subgroups"])


def test_rows_are_filled_from_the_run_or_marked():
    report = study_report()
    rows = {row["what"]: row for row in reporting_items(report).rows}
    assert len(rows) == len(ASKED)
    for what, words in FILLED.items():
        assert rows[what]["state"] == "from the run", what
        assert words in rows[what]["answer"], (what, rows[what]["answer"])
    for what in WRITTEN:
        assert (rows[what]["state"], rows[what]["answer"]) == (OPEN, "")


def test_numbers_are_those_of_the_editions_that_the_heads_name():
    table = reporting_items(study_report())
    heads = {column.key: column.head for column in table.columns}
    assert (heads["claim"], heads["stard"], heads["tripod"]) == (
        "CLAIM 2024", "STARD-AI 2025", "TRIPOD+AI 2024",
    )  # fmt: skip
    numbers = {row["what"]: (row["claim"], row["stard"], row["tripod"]) for row in table.rows}
    assert numbers["Flow of items"] == ("35", "24", "20a")
    assert numbers["Definition of the truth"] == ("14", "16a", "8a")
    assert numbers["Counts at the thresholds"] == ("37", "30", "23a")
    assert numbers["How the number of items was chosen"] == ("21", "22", "10")


def test_why_an_analysis_was_not_possible_fills_no_row():
    report = study_report()
    missing = Finding(key="calibration", title="x", sentence="No scores.", left_out=True)
    kept = [part for part in report.findings if part.key != "calibration"]
    table = reporting_items(replace(report, findings=(*kept, missing)))
    (row,) = [row for row in table.rows if row["what"] == "Calibration"]
    assert (row["state"], row["answer"]) == (OPEN, "")


def test_an_export_has_the_checklist_and_who_the_annotators_are():
    files = texts(study_report())
    assert {f"tables/checklist.{end}" for end in ("csv", "md", "tex")} <= files.keys()
    lines = files["tables/people.csv"].splitlines()
    assert lines == ["annotator,years", "reader 0,9", "reader 1,3", "reader 2,5"]
    for row in reporting_items(study_report()).rows:
        if row["answer"].startswith("See "):
            assert row["answer"].removeprefix("See ").removesuffix(".") in files

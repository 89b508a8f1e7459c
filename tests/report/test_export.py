"""Tables, methods and references say what was run, and nothing breaks them."""

import csv
from io import StringIO

import numpy as np

import equipoise
from equipoise import datasets, metrics
from equipoise.report.text import as_csv, as_latex, as_markdown, methods
from equipoise.truth import MODELS
from equipoise.types import Column, Table
from equipoise.types.findings import ENTRIES

HOSTILE = 'a|b & c_d% "q"\n{x}\\y,~^#$'
ROWS = [
    {"model": HOSTILE, "value": 1 / 3, "items": 7},
    {"model": "plain", "value": float("nan"), "items": 8},
]
TABLE = Table(
    name="t",
    caption="Scores",
    columns=(
        Column("model", "model"),
        Column("value", "value", "number"),
        Column("items", "items", "count"),
    ),
    rows=ROWS,
)


def test_csv_is_exact_and_reads_back():
    read = list(csv.DictReader(StringIO(as_csv(ROWS))))
    assert read[0]["model"] == HOSTILE
    assert float(read[0]["value"]) == 1 / 3
    assert read[1]["value"] == ""
    assert as_csv([]) == "\n"


def test_markdown_keeps_its_columns():
    lines = as_markdown(TABLE).splitlines()
    assert len(lines) == 4
    assert all(line.replace("\\|", "").count("|") == 4 for line in lines)
    assert "undefined" in lines[3] and "0.333" in lines[2]


def test_latex_escapes_everything():
    text = as_latex(TABLE).splitlines()[5]
    for letter in "&_%#$":
        assert f"\\{letter}" in text
    assert text.count("&") - text.count("\\&") == 2
    assert text.endswith(r"\\")


def test_every_source_is_an_entry_and_every_name_is_known():
    records = [make() for make in metrics.CATALOGUE.values()]
    records += [*MODELS.values(), *datasets.CATALOGUE.values()]
    used = {key for one in records for key in one.references}
    assert used <= set(ENTRIES)
    for text in ENTRIES.values():
        assert text.count("{") == text.count("}") and text.startswith("@")


def test_the_paragraph_says_what_was_run():
    from tests.analysed import analysed

    votes = equipoise.Annotations(
        kind="binary", items=tuple("abcd"), classes=("no", "yes"), annotators=("x", "y"),
        item=np.repeat(np.arange(4), 2), annotator=np.tile([0, 1], 4),
        label=np.array([0, 0, 0, 1, 1, 1, 1, 0]),
    )  # fmt: skip
    models = [
        equipoise.Predictions(name, votes.items, np.array([0.1, 0.4, 0.9, 0.3]) + k / 10)
        for k, name in enumerate(("cnn", "vit"))
    ]
    asked = {"metrics": ["auroc"], "replicates": 50, "seed": 3, "only": ["components"]}
    text = methods(analysed(models, votes, **asked))
    for part in ("2 models", "4 items", "8 votes", "AUROC", "50 resamples", "seed 3",
                 "items like these and these annotators", "two-way t",
                 "95% intervals"):  # fmt: skip
        assert part in text

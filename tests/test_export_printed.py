"""Printed tables: few columns, intervals in one cell, nothing lost without a word."""

import csv
from io import StringIO

from equipoise.export import table_texts
from equipoise.export.printed import printed


def test_an_interval_is_one_cell_and_what_is_left_out_is_said():
    rows = [
        {"model": f"m{n}", "metric": "auroc", "value": 0.86, "low": 0.85, "high": 0.8712,
         "rank": 1.5, "rank_low": 1.0, "rank_high": 2.0, "verified": n, "a": 1, "b": 2, "c": n,
         "d": n, "e": n, "f": n, "g": n}
        for n in range(2)
    ]  # fmt: skip
    texts = table_texts("t", rows)
    assert "| 0.860 [0.850, 0.871] | 1.5 [1, 2] |" in texts["tables/t.md"]
    assert r"0.860 [0.850, 0.871] & 1.5 [1, 2]" in texts["tables/t.tex"]
    for ending in (".md", ".tex"):
        assert "In every row: metric AUROC" in texts[f"tables/t{ending}"]
    assert next(csv.reader(StringIO(texts["tables/t.csv"]))) == list(rows[0])
    short = printed(rows, str)
    shown = {*short.rows[0], *short.same, *short.left_out}
    assert {name for name in rows[0] if not name.endswith(("low", "high"))} == shown


def test_what_is_undefined_or_endless_stays_said():
    rows = [
        {"model": "a", "value": None, "low": None, "high": None, "rank": None},
        {"model": "b", "value": "inf", "low": 0.5, "high": "inf", "rank": 1.0},
        {"model": "c", "value": 0.7, "low": None, "high": 0.9, "rank": 2.0},
    ]
    cells = [[*row.values()] for row in printed(rows, str).rows]
    assert cells == [
        ["a", "undefined", "undefined"], ["b", "inf [0.5, inf]", "1"], ["c", "0.7", "2"]
    ]  # fmt: skip


def test_few_columns_are_left_as_they_are():
    rows = [
        {"task": "x", "model": "a", "value": 1.0},
        {"task": "x", "model": "b", "value": 2.0},
    ]
    assert printed(rows, str) == (rows, {}, [])
    assert printed([], str) == ([], {}, [])


def test_a_hostile_name_cannot_leave_its_comment():
    rows = [{"task": "x\n\\input{y}", **{f"c{n}": n + m for n in range(9)}} for m in range(2)]
    text = table_texts("t", rows)["tables/t.tex"]
    assert "\n\\input" not in text


def test_a_long_table_breaks_over_pages():
    rows = [{"n": n} for n in range(60)]
    text = table_texts("t", rows)["tables/t.tex"]
    assert r"\begin{longtable}{r}" in text
    assert r"\end{longtable}" in text
    assert r"\begin{tabular}{r}" in table_texts("t", rows[:5])["tables/t.tex"]

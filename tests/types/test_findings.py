"""Renderers: whatever a finding holds, every surface shows it, and names do no harm."""

import csv
import dataclasses
import io
import json
import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console

from equipoise.report.page import figures, render, report_files, write_report
from equipoise.report.terminal import show
from equipoise.report.text import texts
from equipoise.types import (
    Column,
    Finding,
    Notice,
    Option,
    Report,
    Table,
    as_json,
    cell,
    hint,
    plain,
    worded,
)
from tests.findings_sample import HOSTILE, NAN, PLAIN, charts, report, table

every_naming = pytest.mark.parametrize("models", [PLAIN, HOSTILE], ids=["plain", "hostile"])


def screen(made, **how):
    text = io.StringIO()
    show(Console(file=text, width=200, force_terminal=False), made, **how)
    return text.getvalue()


class Elements(HTMLParser):
    """Counts elements and gathers what a reader sees."""

    def __init__(self):
        super().__init__()
        self.tags, self.words, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)


def parsed(made):
    page = Elements()
    page.feed(render(made))
    return page


@every_naming
def test_every_surface_renders_everything(models):
    made = report(models)
    page = parsed(made)
    drawn = len(charts(models))
    assert page.tags.count("figure") == drawn == len(figures(made))
    files = texts(made)
    assert {"tables/scores.csv", "tables/scores.md", "tables/scores.tex", "methods.md"} < set(
        files
    )
    assert "first this." in files["methods.md"].lower()
    assert files["references.bib"].startswith("@article{wilson1927")
    assert json.loads(json.dumps(as_json(made)))["findings"][-1]["left_out"]
    words = screen(made)
    assert "Not looked at, and why" in words
    assert "leads." in words


@every_naming
def test_names_are_shown_and_do_nothing(models):
    made = report(models)
    page = parsed(made)
    shown = " ".join(page.words)
    assert page.tags.count("script") == 1
    assert not {"img", "a b"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "http" not in render(made).replace("http-equiv", "")
    for name in models:
        assert any(name[:6].replace("\x1b", "�") in one for one in [shown])
    for text in figures(made).values():
        ET.fromstring(text)
    assert "\x1b" not in screen(made) + render(made)
    rows = list(csv.DictReader(io.StringIO(texts(made)["tables/scores.csv"])))
    assert not [v for row in rows for v in row.values() if v.startswith(("=", "+", "@"))]
    assert [row["model"].lstrip("'") for row in rows[: len(models)]] == list(models)
    if models is HOSTILE:
        assert "[bold red]rich[/bold red]" in screen(made)
        assert "<script>" not in texts(made)["tables/scores.md"]


def test_undefined_is_the_word_everywhere():
    made = report()
    files = texts(made)
    for text in (files["tables/scores.md"], files["tables/scores.tex"], screen(made)):
        assert "undefined" in text
        assert "nan" not in text.lower().split()
    assert "undefined" in render(made)
    assert as_json(made)["findings"][0]["rows"][-1]["value"] is None


def test_one_number_is_written_alike_on_every_surface():
    made = report()
    files = texts(made)
    for text in (files["tables/scores.md"], screen(made), render(made)):
        assert "&gt;99%" in text or ">99%" in text
        assert "−0.000050" in text
        assert "1,200" in text
    assert "$-$0.000050" in files["tables/scores.tex"]
    assert "-5e-05" in files["tables/scores.csv"]


def test_a_reader_chooses_task_and_metric_without_a_script():
    page = render(report())
    assert page.count("<article") == 4
    assert ".choice:has(.t1:checked)>[data-t]:not([data-t='1']){display:none}" in page
    assert page.index("macro average") < page.index("Edema")


def test_a_terminal_shows_the_task_in_front_and_all_when_asked():
    made = report()
    assert screen(made).count("resnet leads.") == 2
    assert screen(made, verbose=True).count("resnet leads.") == 4


def test_tables_of_one_name_become_one_file():
    first, second = (
        Finding(key="a", title="A", sentence="s", tables=(table(PLAIN),), task=task)
        for task in "xy"
    )
    files = texts(Report(title="t", findings=(first, second)))
    assert len(files["tables/scores.csv"].splitlines()) == 1 + 2 * (len(PLAIN) + 1)


def test_charts_with_nothing_to_draw_are_left_out():
    empty = [chart for chart in charts(PLAIN) if chart.name in ("dots", "ranks")]
    blank = [
        dataclasses.replace(chart, **{"rows" if chart.name == "dots" else "lines": []})
        for chart in empty
    ]
    made = Report(title="t", models=PLAIN, findings=(
        Finding(key="a", title="A", sentence="s", charts=tuple(blank)),))  # fmt: skip
    assert figures(made) == {}
    assert "<figure" not in render(made)


def test_long_tables_are_cut_on_the_page_and_said_to_be():
    rows = [{"item": f"i{n}"} for n in range(400)]
    long = Table(name="t", caption="Items", columns=[Column("item", "Item")], rows=rows)
    finding = Finding(key="a", title="A", sentence="s", tables=(long,))
    made = Report(title="t", findings=(finding,))
    assert "the first 300 of 400 rows" in render(made)
    assert "... and 388 more rows" in screen(made)
    front = replace(finding, tables=(replace(long, brief=rows[-2:]),))
    page = render(replace(made, findings=(front,)))
    assert "the 2 in front, of 400 rows" in page and "i399" in page and "i17" not in page


def test_the_same_report_gives_the_same_bytes():
    assert report_files(report()) == report_files(report())


def test_a_folder_is_written_whole(tmp_path):
    names = write_report(tmp_path / "out", "stability.json", report(), facts={"schema": 1})
    there = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*")}
    assert there == set(names)
    assert json.loads((tmp_path / "out" / "stability.json").read_text())["files"] == names


@pytest.mark.parametrize("kind", ["text", "model", "names"])
@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "undefined"), (math.nan, "undefined"), (True, "yes"), (False, "no"), (0.5, "0.5"),
     (0, "0"), ("", ""), (("a", "b"), "a, b")],
)  # fmt: skip
def test_what_stands_among_words_is_a_word(kind, value, text):
    assert cell({"who": value}, Column("who", "who", kind)) == text


def test_a_cell_may_say_why_there_is_no_number():
    column = Column("value", "value", "number", ("low", "high"))
    assert cell({"value": "no items"}, column) == "no items"
    assert cell({"value": 0.5, "low": NAN, "high": 1.0}, column) == "0.500"


def test_notices_are_merged_by_code_and_never_by_their_words():
    text = "{items:count} of {all:count} items are odd; try {advice}."
    advice = hint("{}", Option("at_least"))
    first = Notice("odd", text, ("a",), {"items": 3, "all": 9, "advice": advice})
    second = Notice("odd", text, ("at_least",), {"items": 4, "all": 9, "advice": advice})
    assert worded([first, second], command=True) == [
        "3 to 4 of 9 items are odd; try --at-least VALUE (a 3, at_least 4)."
    ]
    other = Notice("odd", text, ("b",), {"items": 4, "all": 8, "advice": advice})
    assert len(worded([first, other])) == 2


def test_plain_values_for_json():
    assert plain({"a": (1, float("inf"), NAN)}) == {"a": [1, "inf", None]}

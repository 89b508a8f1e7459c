"""Findings of whole studies: every one can be read, drawn and cited, whatever the names are."""

import os
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer

from equipoise.cli import app
from equipoise.report.page import figures, render
from equipoise.report.text import texts
from equipoise.types import cell
from tests.report_stability_sample import STUDIES, found, report_of, sample

SPACE = "{http://www.w3.org/2000/svg}"
SOME = pytest.mark.parametrize("name", STUDIES)


@SOME
def test_every_finding_can_be_read_and_cited(name):
    for finding in sample(name).findings:
        assert finding.title
        if finding.left_out:
            continue
        for table in finding.tables:
            keys = {key for row in table.rows for key in row}
            for column in table.columns:
                assert not table.rows or column.key in keys, (table.name, column.key)
                assert all(cell(row, column) is not None for row in table.rows[:20])
        cited = set(re.findall(r"@(\w+)", finding.methods))
        assert cited == set(finding.references), finding.key


@SOME
def test_figures_are_xml_with_their_own_style(name):
    for text_ in figures(sample(name)).values():
        tree = ElementTree.fromstring(text_)
        assert tree.tag == f"{SPACE}svg"
        assert tree.get("aria-label")
        assert "var(" not in text_


def test_ranks_and_correlations_are_those_of_the_result():
    finding = found(sample("stability"), "ranking")
    table = finding.tables[0]
    assert {row["task"] for row in table.brief} == {"macro average"}
    assert {row["labels"] for row in table.brief} == {"soft"}
    (heat,) = finding.charts
    assert heat.values.sum(axis=1) == pytest.approx(1)
    means = heat.values @ range(3)
    assert list(means) == sorted(means)


def test_of_many_annotators_those_that_move_most_are_drawn():
    finding = found(sample("stability of a crowd"), "leave_one_out")
    (dots,) = finding.charts
    sizes = [abs(dot.value) for dot in dots.rows]
    assert len(sizes) == 20 and sizes == sorted(sizes, reverse=True)
    far = max(abs(row["change"]) for row in finding.tables[0].rows)
    assert sizes[0] == far


def test_long_names_are_shortened_in_figures():
    for made in figures(sample("stability of a crowd")).values():
        for one in ElementTree.fromstring(made).iter(f"{SPACE}text"):
            words = "".join(one.itertext()).replace(one.findtext(f"{SPACE}title", ""), "")
            assert len(words) < 70


def test_the_gallery_asks_for_options_that_exist():
    gallery = Path(__file__).parents[2] / "docs" / "gallery.md"
    asked = re.findall(r"^    equipoise (\w+) (.*)$", gallery.read_text("utf-8"), re.MULTILINE)
    verbs = typer.main.get_command(app).commands
    assert {verb for verb, _ in asked} == {"evaluate", "aggregate", "clean", "uq"}
    for verb, rest in asked:
        own = verbs[verb]
        own = own.commands[rest.split()[0]] if hasattr(own, "commands") else own
        known = {name for option in own.params for name in option.opts}
        used = {word for word in shlex.split(rest) if word.startswith("-")}
        assert used <= known, verb


def test_the_page_of_chexpert_is_small():
    if not (Path(os.environ.get("EQUIPOISE_DATA", "missing")) / "chexpert").exists():
        pytest.skip("the CheXpert files are not in EQUIPOISE_DATA")
    from equipoise.datasets.chexpert import load_chexpert

    study = load_chexpert()
    report = report_of(study.predictions, study.annotations, replicates=10, most=2)
    assert len(render(report).encode()) < 1_000_000
    assert texts(report)["methods.md"]

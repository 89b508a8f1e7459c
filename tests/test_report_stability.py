"""Pages on stability: what they claim is what the findings say, whatever the names are."""

import os
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer

from equipoise.analyses.catalogue import ANALYSES
from equipoise.cli import app
from equipoise.findings import cell
from equipoise.findings.text import texts
from equipoise.page import figures, render
from tests.report_stability_sample import STUDIES, found, report_of, sample

SPACE = "{http://www.w3.org/2000/svg}"
SOME = pytest.mark.parametrize("name", STUDIES)


class Reader(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.words.append(data)


def shown(page):
    """All words of a page in a row."""
    return " ".join(" ".join(Reader(page).words).split())


def section(page, anchor):
    """Words of one section or fold; of the first also those of the card."""
    part = re.search(rf" id={anchor}[ >](.*?)</(section|details)>", page, re.S)[1]
    return shown(f"<section {part}")


def clean(words):
    return " ".join(re.sub("[\x00\u202e]", "\ufffd", words).split())


@SOME
def test_the_page_is_the_same_every_time_and_small(name):
    report = sample(name)
    page = render(report)
    assert render(report) == page
    assert page.count("<section") == page.count("</section>")
    assert len(page.encode()) < 600_000


@SOME
def test_every_analysis_has_its_finding_or_the_reason_why_not(name):
    report = sample(name)
    page = render(report)
    for finding in report.findings:
        anchor = "left-out" if finding.left_out else finding.key
        first = finding is report.findings[0]
        words = section(page, anchor) + (shown(page) if first else "")
        assert clean(finding.sentence) in words, finding.key
        assert finding.title in words
    for one in set(ANALYSES) - {finding.key for finding in report.findings}:
        assert f"<section id={one} " not in page


def test_the_whole_study_has_all_findings_and_figures():
    report = sample("stability")
    assert [one.key for one in report.findings if one.key in ANALYSES] == list(ANALYSES)
    scores = {"calibration"}  # of models whose scores are no probabilities
    assert {one.key for one in report.findings if one.left_out} <= scores
    drawn = figures(report)
    wanted = {
        "ranking-correlation", "ranks", "leave-one-out", "leave-one-out-shifts",
        "choices-value", "choices-rank", "components-value",
        "components-difference", "certainty", "certainty-models", "certainty-ranks",
    }  # fmt: skip
    assert wanted <= set(drawn)
    assert "vote-cutoffs" in figures(sample("stability of anonymous votes"))


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


@SOME
def test_nothing_is_asked_for_and_no_name_becomes_markup(name):
    page = render(sample(name))
    read = Reader(page)
    assert not {"img", "iframe", "object", "b"} & set(read.tags)
    assert read.tags.count("script") == 1
    links = [one for _, key, one in read.attributes if key in {"href", "src"}]
    assert all(one == "data:," or one.startswith("#") for one in links)
    assert not [key for _, key, _ in read.attributes if key.startswith("on")]
    assert "\x00" not in page and "\u202e" not in page


def test_ranks_and_correlations_are_those_of_the_result():
    finding = found(sample("stability"), "ranking")
    table = finding.tables[0]
    assert {row["task"] for row in table.brief} == {"macro average"}
    assert {row["labels"] for row in table.brief} == {"soft"}
    correlations, heat = finding.charts
    (row,) = table.brief
    assert [dot.value for dot in correlations.rows] == [row["spearman"], row["kendall_tau_b"]]
    assert heat.values.sum(axis=1) == pytest.approx(1)
    means = heat.values @ range(3)
    assert list(means) == sorted(means)


def test_of_many_annotators_those_that_move_most_are_drawn():
    finding = found(sample("stability of a crowd"), "leave_one_out")
    dots, heat = finding.charts
    sizes = [abs(dot.value) for dot in dots.rows]
    assert len(sizes) == 20 and sizes == sorted(sizes, reverse=True)
    assert list(heat.columns) == [dot.label for dot in dots.rows]
    far = max(abs(row["shift"]) for row in finding.tables[0].rows)
    assert sizes[0] == far


def test_choices_are_drawn_as_differences_to_the_mean():
    finding = found(sample("stability"), "choices")
    value, ranks = finding.charts
    for place in range(len(value.ticks)):
        assert sum(line.points[place][1] for line in value.lines) == pytest.approx(0)
    assert ranks.downward
    assert len(finding.tables[0].brief) == len(value.ticks)


def test_long_names_are_shortened_in_figures():
    for made in figures(sample("stability of a crowd")).values():
        for one in ElementTree.fromstring(made).iter(f"{SPACE}text"):
            words = "".join(one.itertext()).replace(one.findtext(f"{SPACE}title", ""), "")
            assert len(words) < 70


def test_the_gallery_asks_for_options_that_exist():
    gallery = Path(__file__).parent.parent / "docs" / "gallery.md"
    asked = re.findall(r"^    equipoise (\w+) (.*)$", gallery.read_text("utf-8"), re.MULTILINE)
    verbs = typer.main.get_command(app).commands
    assert {verb for verb, _ in asked} == {"evaluate", "aggregate", "stability"}
    for verb, rest in asked:
        known = {name for option in verbs[verb].params for name in option.opts}
        used = {word for word in shlex.split(rest) if word.startswith("-")}
        assert used <= known, verb


def test_the_page_of_chexpert_is_small():
    if not (Path(os.environ.get("EQUIPOISE_DATA", "missing")) / "chexpert").exists():
        pytest.skip("the CheXpert files are not in EQUIPOISE_DATA")
    from equipoise.datasets.chexpert import chexpert

    study = chexpert()
    report = report_of(study.predictions, study.annotations, replicates=10, most=2)
    assert len(render(report).encode()) < 600_000
    assert texts(report)["methods.md"]

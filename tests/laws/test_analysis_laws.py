"""Laws of every analysis in the catalogue, on small studies of every sort.

An analysis renders on every surface or is left out with a reason; its sentence says what its
rows say; what is undefined is called so; names do no harm; what is cited is in the
bibliography; and the same study gives the same bytes.
"""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pyarrow
import pytest
from rich.console import Console

from equipoise import Annotations, Predictions
from equipoise.read import codec
from equipoise.read.attributes import Attributes
from equipoise.report.page import figures, render, report_files
from equipoise.report.terminal import answer_lines, show
from equipoise.report.text import texts
from equipoise.study.analyses.catalogue import ANALYSES, OF_JUDGES
from equipoise.types import Report, as_json, cell, numbers
from equipoise.types.findings import ENTRIES
from tests.findings_sample import HOSTILE
from tests.report_stability_sample import anonymous, attributes, report_of, study, with_gold

BAD = (*HOSTILE, "-2+3", "@SUM(1)", "a\nb\tc", "]]>&amp;<!--", "$x_1^2$ \\input{x}", "\x00nul")
WORDS = ("text", "model", "names")


def plain():
    """Three tasks, three models, named annotators and attributes of the items."""
    scores, votes = study(items=40)
    votes = with_gold(votes)
    return report_of(scores, votes, attributes=attributes(votes))


def bad_names(names, start):
    """As many names that try to be markup, each once."""
    return tuple(f"{BAD[(start + i) % len(BAD)]} {i}" for i in range(len(names)))


def hostile():
    """The same with names of everything that try to be markup."""
    scores, votes = study(items=40)
    votes = with_gold(votes)
    models, tasks = sorted({one.model for one in scores}), bad_names(votes.tasks, 6)
    items = bad_names(votes.items, 0)
    bad = replace(votes, items=items, annotators=bad_names(votes.annotators, 3), tasks=tasks)
    renamed = [
        Predictions(BAD[models.index(one.model)], items, one.values,
                    task=tasks[votes.tasks.index(one.task)])
        for one in scores
    ]  # fmt: skip
    table = {"item": list(items)}
    for column, level in (("=1+1 <b>site</b>", BAD[0]), (BAD[4], BAD[8])):
        table[column] = [level if n % 2 else BAD[3] for n in range(len(items))]
    known = Attributes.from_dataframe(pyarrow.table(table))
    return report_of(renamed, bad, attributes=known)


def undefined():
    """A model that says the same of everything, and a task on which all say no."""
    scores, votes = study(items=30, tasks=("lung", "heart"))
    label = np.where(votes.task == 1, 0, votes.label)
    scores[0] = replace(scores[0], values=np.zeros(30))
    return report_of(scores, replace(votes, label=label))


def one_model():
    """A single model on a single task, with a name that tries to be markup."""
    scores, votes = study(models=1, items=40, tasks=("",))
    return report_of([replace(scores[0], model=BAD[0])], votes)


def grades():
    """Three classes, models that give probabilities, scored by another metric."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 40)
    item, who = (grid.ravel() for grid in np.mgrid[0:40, 0:4])
    label = np.where(rng.random(160) < 0.25, rng.integers(0, 3, 160), truth[item])
    votes = Annotations(
        kind="ordinal", classes=("mild", "grave", "worst"), item=item, annotator=who,
        label=label, items=tuple(f"eye {i}" for i in range(40)), annotators=tuple("ABCD"),
    )  # fmt: skip
    near = [np.exp(-np.abs(truth[:, None] - np.arange(3)) / width) for width in (0.6, 0.9)]
    scores = [
        Predictions(f"net {m}", votes.items, p / p.sum(axis=1, keepdims=True), votes.classes)
        for m, p in enumerate(near)
    ]
    return report_of(scores, votes, metrics=["ranked_probability_score", "accuracy"])


STUDIES = {
    one.__name__: one for one in (plain, hostile, anonymous, undefined, one_model, grades)
}
sample = cache(lambda name: STUDIES[name]())
OF_LABELS = [
    key for key, one in ANALYSES.items() if one.of_predictions and key not in OF_JUDGES
]
every_analysis = pytest.mark.parametrize("key", OF_LABELS)
every_study = pytest.mark.parametrize("name", STUDIES)


@cache
def only(name, key):
    """The report of a study with the finding of one analysis alone."""
    whole = sample(name)
    some = tuple(one for one in whole.findings if one.key == key)
    return replace(whole, card=None, findings=some)


@cache
def screen(name, key):
    """What a terminal shows to those who want everything."""
    text = io.StringIO()
    console = Console(file=text, width=400, force_terminal=False)
    show(console, only(name, key), verbose=True)
    return text.getvalue()


class Page(HTMLParser):
    """The elements, attributes and words of a page."""

    def __init__(self, report):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.text = render(report)
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        if self.tags[-1:] not in (["style"], ["script"]):
            self.words.append(data)


page = cache(lambda name, key: Page(only(name, key)))
files = cache(lambda name, key: texts(only(name, key)))
drawings = cache(lambda name, key: figures(only(name, key)))


BESIDE = ("readers", "truths", "subgroups")  # which stand beside the verdict


def squeezed(words):
    """Words without the letters that a surface may change or break."""
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f\ufffd]+", "", words)


def test_the_studies_reach_every_analysis():
    keys = [one.key for one in sample("plain").findings]
    later = [key for key in OF_LABELS if key not in BESIDE]
    assert keys[-len(later) :] == later and set(keys) >= {*BESIDE}
    left_out = [one.key for one in sample("plain").findings if one.left_out]
    assert left_out == ["retained"]  # which is about grades


@every_study
@every_analysis
def test_it_is_on_every_surface_or_left_out_with_a_reason(name, key):
    report = only(name, key)
    (finding,) = report.findings
    assert finding.title == ANALYSES[key].title and finding.sentence.endswith(".")
    said = squeezed("".join(page(name, key).words))
    folded = finding.verdict and finding.evidence  # a row of "Does the verdict depend on …?"
    heading = f"… {finding.about}?" if folded else finding.title
    assert squeezed(heading) in said and squeezed(finding.sentence) in said
    assert squeezed(finding.verdict) in said
    assert squeezed(finding.title) in squeezed(screen(name, key))
    held = json.loads(json.dumps(as_json(report), allow_nan=False))["findings"][0]
    if finding.left_out:
        assert held["left_out"] == finding.sentence
        assert not finding.tables and not finding.charts and not finding.methods
        return
    assert held["finding"] == finding.sentence
    assert len(held["rows"]) == len(finding.tables[0].rows) > 0
    written_files, drawn = files(name, key), drawings(name, key)
    for table in finding.tables:
        if table.file:
            rows = list(csv.DictReader(io.StringIO(written_files[f"tables/{table.name}.csv"])))
            assert len(rows) == len(table.rows), table.name
            for ending in ("md", "tex"):
                assert written_files[f"tables/{table.name}.{ending}"].count("\n") >= len(rows)
    assert len(drawn) == page(name, key).tags.count("figure")
    for text in drawn.values():
        assert ElementTree.fromstring(text).tag.endswith("svg")
    assert all(len(one) > 20 for one in (finding.note, finding.methods) if one)


# What the sentence says is what the rows say

TOKEN = re.compile(r"(?<![\w.,])[<>]?\d[\d,]*(?:\.\d+)?%|(?<![\w.])\d[\d,]*\.\d+")


def flat(value):
    """Numbers of a cell; those in its words as they are written."""
    if isinstance(value, str):
        return TOKEN.findall(value)
    return (
        [one for part in value for one in flat(part)]
        if isinstance(value, Sequence)
        else [value]
    )


def written(rows):
    """Every way in which the numbers of rows may be written, without their signs."""
    ways = set()
    for value in {one for row in rows for part in row.values() for one in flat(part)}:
        if isinstance(value, str) or value is None:
            ways.add(value)
            continue
        size = abs(float(value))
        ways |= {numbers.number(size, digits) for digits in (1, 2, 3)}
        ways |= {numbers.percent(size), numbers.percent(size, 1), numbers.exact_percent(size)}
        ways |= {numbers.p_value(size), numbers.rank(size), numbers.significant(size)}
        ways |= {numbers.count(size), f"{numbers.significant(100 * size)}%"}
    return ways


def told_apart(finding):
    """Numbers that a sentence may say though no row holds them, each with its reason."""
    if finding.key == "certainty":  # where items begin to be clear; a cut-off is rounded down
        return [0.99, *(float(row["variant"]) for row in finding.tables[0].rows)]
    if finding.key == "truths":  # the value in the study, from which rows hold the change
        return [row["value"] - row["change"] for row in finding.tables[0].rows]
    return []


def unsupported(finding, more=()):
    """Decimal numbers and percentages of the sentences that no row holds."""
    rows = [row for table in finding.tables for row in table.rows]
    known = written([*rows, *more, {"apart": told_apart(finding)}])
    said = " ".join((finding.sentence, *finding.more))
    return [one for one in TOKEN.findall(said) if one not in known]


@pytest.mark.parametrize(
    "name", [one for one in STUDIES if one not in ("hostile", "one_model")]
)
@every_analysis
def test_its_sentence_says_what_its_rows_say(name, key):
    (finding,) = only(name, key).findings
    if not finding.left_out:
        settings = [{label: value} for label, value in sample(name).settings]
        assert unsupported(finding, settings) == []


def test_a_sentence_that_says_another_number_is_caught():
    finding = only("plain", "leave_one_out").findings[0]
    wrong = finding.sentence.replace("0.0", "0.9")
    assert wrong != finding.sentence and unsupported(replace(finding, sentence=wrong))


# Undefined is a word


@every_study
@every_analysis
def test_undefined_is_a_word(name, key):
    report = only(name, key)
    surfaces = [screen(name, key), " ".join(page(name, key).words)]
    every = files(name, key) | drawings(name, key)
    surfaces += [text for path, text in every.items() if not path.endswith(".csv")]
    for text in surfaces:
        assert not re.search(r"(?<![\w<])([nN]a[nN]|None|inf)(?!\w)", text)
    for table in (one for finding in report.findings for one in finding.tables):
        for column in (one for one in table.columns if one.kind not in WORDS):
            assert all(cell(row, column).strip() for row in table.rows), column.key


def test_what_is_undefined_is_there_to_be_shown():
    shown = [key for key in ANALYSES if "undefined" in screen("undefined", key)]
    assert {"ranking", "components", "choices"} <= set(shown)


# Names do no harm


@every_study
@every_analysis
def test_names_do_no_harm(name, key):
    read = page(name, key)
    assert not {"img", "b", "iframe", "object", "a b"} & set(read.tags)
    assert read.tags.count("script") == 1
    assert not [one for one, _ in read.attributes if one.startswith("on")]
    for text in drawings(name, key).values():
        tags = {one.tag.rpartition("}")[2] for one in ElementTree.fromstring(text).iter()}
        assert not {"script", "img", "b", "foreignObject"} & tags
    control = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
    assert not control.search(screen(name, key)) and not control.search(read.text)
    for path, text in files(name, key).items():
        if path.endswith(".csv"):
            cells = [one for row in csv.reader(io.StringIO(text)) for one in row]
            formulas = [one for one in cells if one.startswith(tuple("=+-@\t\r"))]
            assert not [one for one in formulas if not number(one)]
        elif path.endswith(".md"):
            assert not control.search(text) and "<script" not in text and "<img" not in text
            assert len({columns(line) for line in text.splitlines()}) == 1, path
        elif path.endswith(".tex"):
            assert not control.search(text)
            assert balanced(text) and len(set(ampersands(text))) == 1, path


def number(text):
    """Whether a cell that begins with a sign is a number."""
    return re.fullmatch(r"-?(\d+(\.\d+)?(e-?\d+)?|inf)", text) is not None


def columns(line):
    """How many cells a line of a Markdown table has."""
    return len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))


def ampersands(text):
    """How many cells each row of a LaTeX table has."""
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    return [len(re.findall(r"(?<!\\)&", row)) for row in rows]


def balanced(text):
    """Whether braces and dollars of a LaTeX table come in pairs."""
    bare = re.sub(r"\\[\\{}$]", "", text)
    return bare.count("{") == bare.count("}") and bare.count("$") % 2 == 0


# What a run folder keeps


def printed(report, *, verbose):
    """What a terminal shows of a report."""
    text = io.StringIO()
    show(Console(file=text, width=100, force_terminal=False), report, verbose=verbose)
    return text.getvalue()


@every_study
def test_a_report_that_was_stored_says_the_same(name):
    first = sample(name)
    kept = json.dumps(codec.encode(first), allow_nan=False)
    again = codec.read(Report, json.loads(kept))
    assert codec.encode(again) == json.loads(kept)
    for verbose in (False, True):
        assert printed(again, verbose=verbose) == printed(first, verbose=verbose)
    lines = [[one.plain for one in answer_lines(made, 100)] for made in (first, again)]
    assert lines[0] == lines[1]
    assert figures(again) == figures(first) and texts(again) == texts(first)
    assert as_json(again) == json.loads(json.dumps(as_json(first)))


# Sources and bytes


@every_study
@every_analysis
def test_what_is_cited_is_in_the_bibliography_and_nothing_else(name, key):
    report = only(name, key)
    (finding,) = report.findings
    assert set(re.findall(r"@(\w+)", finding.methods)) == set(finding.references)
    assert set(finding.references) <= set(ENTRIES)
    whole = texts(replace(report, methods=(), references=()))
    assert set(re.findall(r"@(\w+)", whole["methods.md"])) == set(
        re.findall(r"^@\w+\{(\w+),", whole["references.bib"], re.MULTILINE)
    )


@every_study
def test_methods_and_bibliography_of_a_study_agree(name):
    files = texts(sample(name))
    assert set(re.findall(r"[\[ ]@(\w+)", files["methods.md"])) == set(
        re.findall(r"^@\w+\{(\w+),", files["references.bib"], re.MULTILINE)
    )


@pytest.mark.parametrize("name", ["plain", "anonymous"])
def test_the_same_study_gives_the_same_bytes(name):
    first, second = sample(name), STUDIES[name]()
    assert report_files(first) == report_files(second)
    assert json.dumps(as_json(first)) == json.dumps(as_json(second))

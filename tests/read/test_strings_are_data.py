"""Names, labels and classes are data on every surface: nothing computes, runs or obeys them."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from equipoise import Annotations, InputError, read_annotations
from equipoise.read.canonical import read_study, write_study
from equipoise.read.delimited import read_delimited
from equipoise.read.files import Content
from equipoise.report.text import as_csv, as_latex, as_markdown, methods
from equipoise.study.analyses.thresholds import sampling_plan
from equipoise.study.planning import next_items
from equipoise.types import (
    Notice,
    Predictions,
    Table,
    columns,
    csv_text,
    listed,
    nearest,
    printable,
    shortened,
    unguarded,
    worded,
)
from equipoise.types.arrays import LONGEST_MESSAGE
from equipoise.types.notices import LONGEST
from equipoise.types.words import fitted, guarded
from tests.cli_sample import caller
from tests.hostile.generators import (
    ESCAPES,
    FORMULAS,
    LATEX,
    MARKUP,
    ODD_NAMES,
    SPELLINGS,
    cases,
    names,
)

STARTS = tuple("=+-@\t\r")
NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TRICKY = ("=1+1", "'=1+1", "''=1", "+A1", "-A1", "@x", "-0.5", "'-0.5", "a", "'tis", "=", "-")


def computed(text):
    """Cells of CSV text that a spreadsheet would compute."""
    cells = [one for row in csv.reader(io.StringIO(text)) for one in row]
    return [one for one in cells if one.startswith(STARTS) and not NUMBER.fullmatch(one)]


# ---- spreadsheets --------------------------------------------------------------------------


@cases(8)
@given(names())
def test_no_text_is_computed_and_every_text_reads_back(name):
    cell = guarded(name)
    assert unguarded(cell) == name
    assert not cell.startswith(STARTS) or NUMBER.fullmatch(cell)
    assert len({guarded(one) for one in (name, f"'{name}", f"''{name}")}) == 3


@pytest.mark.parametrize("name", TRICKY)
def test_the_table_reader_takes_the_mark_away(name):
    text = csv_text([name, "item"], [[name, "x"], ["plain", "y"]])
    assert not computed(text)
    table = read_delimited(Content("t.csv", "t", ".csv", text.encode()))
    assert list(table.columns) == [name, "item"]
    assert table.columns[name].to_pylist() == [name, "plain"]


@pytest.mark.parametrize(
    "text", [" =1+1", "\u3000=1", "\uff1d1+1", "-1+cmd()", "+1@x", "-1-1", "1e3=", "--1"]
)
def test_what_only_begins_as_a_number_or_with_a_blank_is_guarded(text):
    cell = guarded(text)
    assert cell == (text if text.startswith("1") else f"'{text}")
    assert unguarded(cell) == text


def test_numbers_stay_numbers():
    assert as_csv([{"change": -0.5, "count": -3, "share": 1e-9}]) == (
        "change,count,share\n-0.5,-3,1e-09\n"
    )
    assert csv_text(["x"], [["-0.5"], ["+1e3"], ["-x"]]) == "x\n-0.5\n+1e3\n'-x\n"


def votes(names=TRICKY):
    rows = [(item, who, str(n % 2)) for n, item in enumerate(names) for who in names[:3]]
    columns = zip(*rows, strict=True)
    table = dict(zip(("item", "annotator", "label"), columns, strict=True))
    return Annotations.from_dataframe(pa.table(table))


def model(name="=cmd()", items=TRICKY):
    return Predictions(name, tuple(items), np.linspace(-0.5, 1, len(items)))


def test_a_study_in_one_file_is_guarded_and_comes_back(tmp_path):
    path, table = tmp_path / "study.csv", votes()
    write_study(path, table, [model()])
    text = path.read_text("utf-8")
    assert not computed("".join(text.splitlines(keepends=True)[2:]))
    again, (scores,) = read_study(path)
    assert (again.items, again.annotators) == (table.items, table.annotators)
    assert (scores.model, scores.items) == ("=cmd()", TRICKY)
    assert np.array_equal(scores.values, model().values)
    assert read_annotations(path).items == table.items


def test_the_sheets_for_experts_are_guarded_and_their_answers_come_back(tmp_path):
    """Filled in and given back, every item has the name that it had."""
    plan = sampling_plan(np.linspace(0, 1, len(TRICKY)), TRICKY, 2, 6)
    (tmp_path / "sample.csv").write_text(plan.text(), "utf-8")
    rows = [(item, who, str((n * 5 + r * 3) % 7 % 2)) for n, item in enumerate(TRICKY)
            for r, who in enumerate(TRICKY[:4])]  # fmt: skip
    columns = zip(*rows, strict=True)
    table = pa.table(dict(zip(("item", "annotator", "label"), columns, strict=True)))
    both = [model(), Predictions("@b", TRICKY, np.linspace(0, 1, len(TRICKY)) ** 2 % 0.3)]
    next_items(both, Annotations.from_dataframe(table), number=4).write(tmp_path / "next.csv")
    for name in ("sample.csv", "next.csv"):
        path = tmp_path / name
        text = path.read_text("utf-8")
        assert not computed(text), name
        rows = list(csv.DictReader(io.StringIO(text)))
        for place, row in enumerate(rows):
            row |= {"label": str(place % 2), "annotator": "=me"}
        held = io.StringIO()
        lines = csv.DictWriter(held, rows[0])
        lines.writeheader()
        lines.writerows(rows)
        path.write_text(held.getvalue(), "utf-8")
        back = read_annotations(path)
        assert set(back.items) <= set(TRICKY) and len(back.items) == len(rows) > 3
        assert back.annotators == ("=me",)


# ---- Markdown, LaTeX -----------------------------------------------------------------------


def scores_of(name):
    shown = columns(model="text", auroc="number")
    return Table(name="t", caption="", columns=shown, rows=[{"model": name, "auroc": 0.5}])


@pytest.mark.parametrize("name", [*filter(None, ODD_NAMES)], ids=lambda name: ascii(name[:12]))
def test_a_markdown_table_keeps_its_shape_and_holds_no_markup(name):
    text = as_markdown(scores_of(name))
    lines = text.splitlines()
    assert len(lines) == 3 and not CONTROL.search(text)
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", lines[2])) == 3
    cell = lines[2].split(" | 0.500 |")[0].removeprefix("| ")
    bare = re.sub(r"\\[\\|*`\[$~_]|&(lt|gt|amp);", "", cell)
    assert not re.search(r"[<>|*`\[$~&\\]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", bare)


@pytest.mark.parametrize("name", [*filter(None, ODD_NAMES)], ids=lambda name: ascii(name[:12]))
def test_a_latex_table_runs_no_command_of_a_name(name):
    text = as_latex(scores_of(name))
    line = next(one for one in text.splitlines() if one.endswith(r"& 0.500 \\"))
    cell = line.removesuffix(r"& 0.500 \\")
    known = r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater|ldots)\{\}"
    bare = re.sub(known + r"|\\[&%$#_{}]|\$(-|\\le|\\infty)\$", "", cell)
    assert not re.search(r"[\\&%$#_{}~^]", bare) and not CONTROL.search(text)


def test_methods_hold_no_link_and_no_tag():
    from tests.findings_sample import report

    evil = "[x](javascript:1) <img src=x> \x1b[31m"
    text = methods(replace(report(), methods=(f"{evil} was used.",)))
    assert "[x]" in text
    assert "](" not in text and "<" not in text and not CONTROL.search(text)


# ---- terminals -----------------------------------------------------------------------------


def odd_study(folder):
    """Votes and scores whose every name is odd, in Parquet, which can hold all of them."""
    odd = (*ESCAPES[:4], *FORMULAS[:2], *MARKUP[:4], *LATEX[:2])
    items = [f"{n} {name}" for n, name in enumerate(odd)]
    rows = [
        (item, f"{r}{odd[r]}", "01"[(n * 7 + r * 3) % 5 < 2])
        for n, item in enumerate(items)
        for r in range(4)
    ]
    columns = dict(zip(("item", "annotator", "label"), zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table({**columns, "\x1b[1m": ["q"] * len(rows)}), folder / "v.parquet")
    scores = {f"m{k}{odd[k]}": np.arange(len(items)) * (k + 3) % 7 / 7 for k in range(3)}
    pq.write_table(pa.table({"item": items, **scores}), folder / "p.parquet")


@pytest.mark.parametrize(
    "words",
    [
        ("check", "v.parquet"),
        ("agreement", "v.parquet", "--replicates", "20"),
        ("aggregate", "v.parquet"),
        ("evaluate", "-a", "v.parquet", "-p", "p.parquet", "--replicates", "20", "--full"),
        ("plan", "-a", "v.parquet", "-p", "p.parquet", "--simulations", "0"),
        ("evaluate", "-a", "v.parquet", "-p", "v.parquet"),
    ],
    ids=lambda words: " ".join(words[:2] + words[3:5]),
)
def test_a_terminal_obeys_no_name(tmp_path, monkeypatch, capsys, words):
    odd_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    code, out, error = caller(monkeypatch, capsys)(*words)
    assert code in (0, 1), error
    assert not CONTROL.search(out) and not CONTROL.search(error)
    assert "Traceback" not in error


# ---- length --------------------------------------------------------------------------------

HUGE = ("x" * 3_000_000, "ab " * 1_000_000, "\x1b[31m" * 100_000, "ß" * 50_000)


@pytest.mark.parametrize("name", HUGE, ids=["word", "words", "escapes", "letters"])
def test_no_message_is_longer_than_a_few_lines(name):
    many = [f"{name}{n}" for n in range(40)]
    for parts in ((name, "b", "c", "d"), ("a", name, name, "d"), (name, name, name, name)):
        error = InputError(*parts)
        for said in (str(error), error.in_command()):
            assert len(said) <= LONGEST_MESSAGE and not CONTROL.search(said)
            assert said.count(": ") >= 1 and ", expected " in said and "; " in said
    said = InputError(listed(many), f"{name!r}", nearest(name, many), "d")
    assert len(str(said)) <= LONGEST_MESSAGE
    odd = Notice("odd", "{names:names} and {more:listed} are odd: {name}.", tuple(many), {
        "names": tuple(many), "more": tuple(many), "name": name,
    })  # fmt: skip
    counted = [Notice("n", "{n:count} odd.", (one,), {"n": n}) for n, one in enumerate(many)]
    for said in (*worded([odd]), *worded(counted)):
        assert len(said) <= LONGEST


@pytest.mark.parametrize(
    "column", ["item", "annotator", "label", "timestamp", "weight", "rank"]
)
def test_readers_quote_shortly(column):
    for name in ("x" * 100_000, "\x1b]0;" * 20_000):
        cells = {"item": "a", "annotator": "b", "label": "c", column: name}
        for table in (
            pa.table({k: [v, v] for k, v in cells.items()}),
            pa.table({name: [1], "b": [2]}),
        ):
            for read in (Annotations.from_dataframe, Predictions.from_dataframe):
                try:
                    said = [str(one) for one in getattr(read(table), "notices", ())]
                except InputError as error:
                    said = [str(error)]
                assert all(len(one) <= LONGEST for one in said)


def test_what_fits_is_left_alone():
    assert fitted(["a" * 10, "b" * 20], 30) == ["a" * 10, "b" * 20]
    for most in range(20, 60):
        cut = fitted(["a" * 40, "b" * 5, "c" * 90], most)
        assert sum(map(len, cut)) <= most and cut[1] == "b" * 5
    assert len(shortened("x" * 100, 20)) == 20


@pytest.mark.parametrize("name", [*ESCAPES, *SPELLINGS])
def test_printable_text_is_left_alone(name):
    shown = printable(name)
    assert len(shown) == len(name) and not CONTROL.search(shown)
    assert shown == name or CONTROL.search(name)

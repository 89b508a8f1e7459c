"""The page: decided from the top, said once, and nothing drawn that says nothing."""

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from equipoise.report.page import figures, render
from equipoise.report.page.charts import draw
from equipoise.report.page.document import table_html
from equipoise.report.page.figure import ModelStyles, Plot
from equipoise.report.page.svg import Label, breakable, element, fitted
from equipoise.report.text import as_csv
from equipoise.types import (
    Column,
    Dot,
    Dots,
    Heat,
    Line,
    Lines,
    Point,
    Standing,
    Standings,
    Strip,
    Strips,
    Table,
)
from tests.page_sample import SAMPLES, chexpert, study, without_card

NAN = float("nan")
STYLES = ModelStyles(("a", "b", "c"), "a", frozenset("c"))
every_sample = pytest.mark.parametrize("name", SAMPLES)


class Reader(HTMLParser):
    """Elements with their attributes, and what a reader sees."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements and self.elements[-1][0] not in ("style", "script"):
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def page():
    return render(chexpert())


def test_the_answer_comes_first_then_sections_then_evidence(page):
    read = Reader(page)
    sections = [one["id"] for one in read.all("section")]
    assert sections == ["answer", "standings", "models", "experts", "readers", "disputed",
                        "evidence"]  # fmt: skip
    links = [one["href"] for one in read.all("a") if one["href"].startswith("#")]
    assert links[1:] == [f"#{one}" for one in sections]
    h1 = re.findall(r"<h1[^>]*>(.*?)</h1>", page)
    assert h1 == ["Nine of ten models cannot be told apart; desmond falls behind."]
    chips = re.search(r"<ul class=chips.*?</ul>", page)[0]
    assert chips.count("class=out") == 1 and "▾ desmond" in chips
    assert page.index("Holds for") < page.index("What would settle it") < page.index(">Caveat<")


def test_headings_are_findings_and_evidence_is_closed_with_its_sentence(page):
    assert "<h2 id=models-title>Six models are shown to be within 0.01 of the best" in page
    evidence = page[page.index("<section id=evidence") :]
    folds = re.findall(r"<details id=(\S+)><summary><h3>(.*?)</h3><span>(.*?)</span>", evidence)
    assert {"stability", "left-out", "method", "notices", "references", "settings"} <= {
        one for one, *_ in folds
    }
    assert all(title and sentence for _, title, sentence in folds)
    assert "<details open" not in evidence


def test_a_finding_without_a_sentence_is_headed_by_its_title():
    report = chexpert()
    first = replace(report.findings[0], title="Five models stay", sentence="")
    page = render(replace(report, findings=(first, *report.findings[1:])))
    assert "<h2 id=standings-title>Five models stay</h2>" in page
    assert "<p class=finding></p>" not in page and "<h2 id=standings-title></h2>" not in page


def test_two_narrow_forests_stand_side_by_side(page):
    (pair,) = re.findall(r"<div class=two>(.*?</section>)</div>", page, re.S)
    assert re.findall(r"<section id=(\w+)", pair) == ["models", "experts"]


def test_findings_of_several_tasks_are_one_fold_with_a_choice(page):
    fold = re.search(r"<details id=by_task>.*?</details>", page, re.S)[0]
    assert fold.count("<article") == fold.count("type=radio") == 3
    assert fold.count("checked") == 1


@every_sample
@pytest.mark.parametrize("card", [True, False])
def test_a_sentence_is_said_once(name, card):
    report = SAMPLES[name]()
    report = report if card else without_card(report)
    read = "".join(Reader(render(report)).words)
    for finding in report.findings:
        if finding.key != "by_task":
            assert read.count(finding.sentence.removesuffix(".")) == 1, finding.key


def test_without_a_card_the_first_sentence_is_the_answer():
    report = without_card(chexpert())
    page = render(report)
    card = re.search(r"<section id=answer.*?</section>", page, re.S)[0]
    assert report.findings[0].sentence in unescape(card)
    assert "Simulated." in card and "Some files." in card
    assert "<section id=stability " in page and ">Method</a>" in page


@every_sample
def test_the_same_report_gives_the_same_bytes_and_names_do_nothing(name):
    report = SAMPLES[name]()
    page = render(report)
    assert page == render(SAMPLES[name]())
    read = Reader(page)
    tags = [tag for tag, _ in read.elements]
    assert tags.count("script") == 1 and not {"img", "b", "iframe"} & set(tags)
    attributes = {key for _, every in read.elements for key in every}
    assert not {key for key in attributes if key.startswith("on") or key == "style"}
    links = [one["href"] for one in [*read.all("a"), *read.all("link")]]
    assert all(one.startswith(("#", "data:")) for one in links)
    for text in figures(report).values():
        tree = ET.fromstring(text)
        assert tree.get("aria-label") and "var(" not in text and "ge" not in text.split()
        assert not [one for one in tree.iter() if one.tag.endswith(("script", "img"))]


def test_names_are_whole_where_there_is_room():
    name = "a-network-with-a-name-of-forty-letters-v12"
    report = study((name, "b", "c"))
    words = Reader(render(report)).words
    assert words.count(name) > 8
    assert not [one for one in words if "…" in one and "network" in one]


def test_a_table_can_be_taken_along(page):
    (link,) = [one for one in Reader(page).all("a") if "download" in one]
    assert link["download"] == "disputed.csv"
    held = base64.b64decode(link["href"].split("base64,")[1]).decode()
    table = next(f for f in chexpert().findings if f.key == "disputed").tables[0]
    assert held == as_csv(table.rows)


def test_every_chart_is_a_file_but_the_worklist():
    report = chexpert()
    charts = [chart for one in report.findings for chart in one.charts]
    assert len(figures(report)) == len(charts) - 1


# ---- what charts draw ----------------------------------------------------------------------


def lines(*points, **how):
    names = "abcdefgh"
    made = [Line(n, p, n) for n, p in zip(names, points, strict=False)]
    return Lines(name="l", caption="c", x="x", y="y", lines=made, **how)


EMPTY = {
    "one dot": Dots(name="d", caption="c", axis="x", rows=[Dot("a", 0.5, model="a")]),
    "equal dots": Dots(name="d", caption="c", axis="x", rows=[Dot(n, 0.5) for n in "ab"]),
    "undefined dots": Dots(name="d", caption="c", axis="x", rows=[Dot("a", NAN)], zero=True),
    "lines of one place": lines([(1.0, 0.5)], [(1.0, 0.7)]),
    "a map of two": Lines(name="s", caption="c", x="", y="", square=True,
                            points=[Point("a", 0, 0), Point("b", 1, 1)]),
    "one point": Lines(name="s", caption="c", x="", y="", points=[Point("a", 0, 0)] * 3),
    "one cell": Heat(name="h", caption="c", rows=["a"], columns=["b", "c"],
                     values=np.array([[0.5, NAN]])),
    "no models": Standings(name="s", caption="c", metric="m", columns=["x"], models=[],
                           cells=[], intervals=[], known_to=[]),
}  # fmt: skip


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_is_drawn_that_says_nothing(name):
    assert draw(EMPTY[name], STYLES) is None


def labels(figure):
    plots = [one for row in figure.rows for one in row.cells if isinstance(one, Plot)]
    return [label.words for plot in plots for label in plot.labels]


def test_curves_that_coincide_are_one_with_all_names():
    same = [(0.0, 0.1), (1.0, 0.2)]
    made = draw(lines(same, same, [(0.0, 0.3), (1.0, 0.4)]), STYLES)
    assert made.html().count("<polyline") == 2
    assert {"a", "b", "c"} <= set(labels(made))


def test_the_leader_is_blue_and_those_below_are_dashed():
    made = draw(lines(*([(0.0, k / 9), (1.0, k / 8)] for k in range(3))), STYLES).html()
    assert [made.count(f'"curve {tone}"') for tone in ("main", "pale", "out")] == [1, 1, 1]
    two = draw(lines(*([(0.0, k / 9), (1.0, k / 8)] for k in range(2))), STYLES).html()
    assert [two.count(f'"curve {tone}"') for tone in ("main", "b")] == [1, 1]


def test_an_axis_does_not_run_far_beyond_the_data():
    made = draw(
        lines([(1.0, 0.2), (5.0, 0.3)], [(1.0, 0.4), (5.0, 0.5)], x_range=(0, 100)), STYLES
    )
    assert "100" not in labels(made)


def test_two_models_in_one_row_are_told_apart_by_colour_fill_and_name():
    rows = [Dot(who, value, model=model) for who in ("r1", "r2")
            for model, value in (("a", 0.1), ("c", 0.2))]  # fmt: skip
    made = draw(Dots(name="d", caption="c", axis="x", rows=rows), STYLES)
    assert made.key == (("dot", "a"), ("dot b", "c"))
    assert made.html().count('class="d b"') == 2
    three = draw(Dots(name="d", caption="c", axis="x", rows=[*rows, Dot("r2", 0.3, model="b")]),
                 STYLES)  # fmt: skip
    assert three.key == () and '"d b"' not in three.html()


@pytest.mark.parametrize("margin", [0.01, -0.01])
def test_the_margin_lies_on_the_side_of_the_values(margin):
    rows = [Dot("a", 0.0, -0.005, 0.0, "a"), Dot("c", -0.02, -0.03, -0.01, "c", hollow=True)]
    chart = Dots(name="d", caption="c", axis="", rows=rows, zero=True, margin=margin)
    made = draw(chart, STYLES)
    assert "margin 0.01" in labels(made) and made.html().count("class=margin") == 2
    assert made.rows[-1].cells[-1].text.startswith("▾ ")


def test_cells_that_stand_out_are_bold_or_have_a_mark_where_there_is_no_room():
    for total, text in ((3, "+0.100"), (20, "●")):
        values = np.full((total, total), 0.1)
        chart = Heat(name="h", caption="c", rows=[f"r{n}" for n in range(total)], values=values,
                     columns=[f"c{n}" for n in range(total)], scale="signed",
                     strong=np.eye(total) > 0, strong_title="apart")  # fmt: skip
        made = draw(chart, STYLES)
        strong = [(cell.text, cell.strong) for cell in made.rows[0][1]]
        assert strong[0] == (text, True) and not any(bold for _, bold in strong[1:])
        assert made.key[-1] == ("", "bold: apart" if total == 3 else "●: apart")


def test_heat_maps_have_their_scale():
    values = np.array([[0.01, 0.2], [0.6, 0.19]])
    share = Heat(name="h", caption="c", rows="ab", columns="cd", values=values)
    assert [tone for tone, _ in draw(share, STYLES).key] == ["h0", "h1", "h2", "h3", "h4"]
    cells = [one.text for _, row, _ in draw(share, STYLES).rows for one in row]
    assert cells == ["", "20", "60", "19"]
    signed = draw(replace(share, values=values - 0.1, scale="signed"), STYLES)
    assert signed.key[0] == ("b3", "−0.500") and signed.key[-1] == ("a3", "+0.500")


def box(label, wide):
    """Left, top, right and bottom on a drawing of a width, in pixels."""
    at = label.x / 100 * wide
    left, top, right, bottom = label.reach
    return at + left, top, at + right, bottom


def test_labels_never_touch_at_any_width():
    wanted = [Label(f"no {n}", x, 10) for n, x in enumerate((0, 100, 50, 25, 75, 49))]
    shown = fitted(wanted, over=20)
    assert len(shown) >= 5 and any(one.least for one in shown)
    for wide in range(60, 1200, 7):
        boxes = sorted(box(one, wide) for one in shown if one.least <= wide)
        assert all(a[2] <= b[0] for a, b in pairwise(boxes)), wide


# ---- tables, names and ranges ---------------------------------------------------------------

COLUMNS = (Column("model", "model", "model"), Column("x", "x", "number"),
           Column("y", "y", "number"))  # fmt: skip


def numbers_table(values, **more):
    rows = [{"model": f"m{n}", "x": x, "y": NAN} for n, x in enumerate(values)]
    return Table(name="t", caption="Numbers", columns=COLUMNS, rows=rows, **more)


def test_columns_and_rows_without_a_number_are_left_out():
    made = table_html(numbers_table([0.1, NAN, 0.3]))
    assert made.count("<tr>") == 3 and "undefined" not in made and ">y" not in made
    assert "Numbers (1 without a number left out)" in made
    nothing = table_html(numbers_table([NAN, NAN]))
    assert nothing.count("<tr>") == 3 and nothing.count("undefined") == 4


def test_a_long_table_shows_whole_rows_those_in_front_first_and_the_rest_on_request():
    columns = COLUMNS[:2]
    table = replace(numbers_table([n / 100 for n in range(40)]), columns=columns)
    made = table_html(replace(table, brief=[table.rows[37]]))
    seen, later = made.split("<tbody class=later>")
    assert seen.count("<tr>") == 21 and later.count("<tr>") == 20
    assert seen.index(">m37<") < seen.index(">m0<") < seen.index(">m1<")
    assert "Show all 40 rows" in made and "type=checkbox" in made
    in_order = table_html(replace(table, brief=[table.rows[3]]))
    assert in_order.index(">m0<") < in_order.index(">m3<")
    assert "checkbox" not in table_html(replace(table, rows=table.rows[:25]))


def test_rows_to_which_columns_do_not_apply_are_a_table_of_their_own():
    columns = (Column("what", "what"), Column("item", "item"), Column("who", "who"))
    rows = [
        {"what": "items", "item": "a", "who": None},
        {"what": "votes", "item": "b", "who": "c"},
    ]
    made = table_html(Table(name="t", caption="Sets", columns=columns, rows=rows))
    assert made.count("<table") == 2 and "undefined" not in made
    assert "Sets: items" in made and "Sets: votes" in made


def test_names_break_at_separators_alone_and_options_never():
    assert breakable("model_22") == "model_<wbr>22" and breakable("A") == "A"
    assert breakable("resnet-50") == "resnet-<wbr>50" and breakable("a<b_c") == "a&lt;b_<wbr>c"
    assert "<span class=whole>--margin</span>)" in element("p", "so (--margin)")
    assert "whole" not in element("p", "a -- b, x--y")


@pytest.mark.parametrize("rates", [(0.33, 0.38), (0.97, 0.99), (0.01, 0.03), (0.1, 0.9)])
def test_both_ends_of_the_rates_are_written_and_stay_inside(rates):
    named = [(f"r{n}", rate) for n, rate in enumerate(rates)]
    row = Strip("", [(1.0, 0.0, False)], "no", "yes", "", (0.5, 0.4, 0.6), named)
    made = draw(Strips(name="s", caption="s", votes_title="v", alpha_title="a",
                       rates_title="r", rows=[row]), STYLES)  # fmt: skip
    (label,) = made.rows[1].cells[-1].labels
    assert label.words == " to ".join(f"{round(100 * rate)}%" for rate in rates)
    for wide in (120, 150, 240):
        left, _, right, _ = box(label, wide)
        assert left >= -1 and right <= wide + 1


@pytest.mark.parametrize("judged", [True, False])
def test_without_a_verdict_standings_have_neither_fill_nor_arrow(judged):
    cells = [[Standing(0.9, best=True, judged=judged)],
             [Standing(0.8, inside=False, judged=judged)]]  # fmt: skip
    made = draw(
        Standings(name="s", caption="s", metric="m", columns=["c"], models=["a", "b"],
                  cells=cells, intervals=[(0.8, 1.0), (0.7, 0.9)], known_to=[0.1]), STYLES
    ).html()  # fmt: skip
    assert ("▾" in made) == ("filled" in made) == ("sw tint" in made) == judged
    assert ('class="in first"' in made) == judged and "bold: highest" in made


def test_axes_hold_single_points_and_name_them_where_there_is_room():
    line = Line("a", [(0.4, 0.5), (0.6, 0.6)], model="a")
    made = draw(
        Lines(
            name="l",
            caption="l",
            x="x",
            y="y",
            lines=[line],
            points=[Point("dr_far", 0.1, 0.95), Point("gone", NAN, 0.5)],
        ),
        STYLES,
    )
    plot = made.rows[0].cells[1]
    assert "dr_far" in [one.words for one in plot.labels] and "gone" not in plot.html()
    low = [float(x) for x in re.findall(r"cx=([\d.]+)%", plot.html())]
    assert min(low) == pytest.approx(2.0)


def test_an_upper_bound_is_rounded_outward():
    from equipoise.types import cell

    assert cell({"b": 0.0132}, Column("b", "at most", "bound")) == "0.014"

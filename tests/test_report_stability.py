"""The page on stability: what it claims is what the facts say, whatever the names are."""

import base64
import dataclasses
import hashlib
import html
import json
import math
import os
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from equipoise.cli import app
from equipoise.report.markup import Html
from equipoise.report.numerals import number, percent, signed
from equipoise.report.stability_charts import Dot, Line, Plot, Rows, curves, dot_rows
from equipoise.report.stability_map import placed
from equipoise.report.stability_page import (
    ANALYSES,
    StabilityPage,
    figures,
    render_stability,
)
from equipoise.report.stability_rows import cast_of, chosen
from equipoise.report.stability_svg import standalone
from equipoise.report.svg import drawing, text
from equipoise.report.threshold_curve import prevalence_curve
from tests.report_stability_sample import BAD, STUDIES, facts_of, sample

SPACE = "{http://www.w3.org/2000/svg}"
ASKED = {
    "threshold", "centre", "reliability", "coverage", "prevalence", "level", "certainty",
    "curves", "shares", "sure",
}  # fmt: skip
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
    """Words of one section."""
    part = page.split(f"<section id={anchor} ")[1].split("</section>")[0]
    return shown(f"<section {part}")


def changed(facts, new):
    """The same facts with another thing in the place of every broken number."""
    if isinstance(facts, dict):
        kept = {k for k, one in facts.items() if k in ASKED and not isinstance(one, dict)}
        return {k: one if k in kept else changed(one, new) for k, one in facts.items()}
    if isinstance(facts, list):
        return [changed(one, new) for one in facts]
    return new if isinstance(facts, float) else facts


def undefined(facts, new):
    kept = {key: facts[key] for key in ("settings", "data", "metrics")}
    return changed(facts, new) | kept


@SOME
def test_the_page_is_the_same_every_time_and_from_json(name):
    facts = sample(name)
    page = render_stability(facts)
    assert render_stability(json.loads(json.dumps(facts, allow_nan=False))) == page
    assert page.count("<section") == page.count("</section>")
    assert len(page.encode()) < 400_000


@SOME
def test_every_analysis_has_its_finding_or_the_reason_why_not(name):
    facts = sample(name)
    page = render_stability(facts)
    asked = [one for one in ANALYSES if one in facts]
    assert len(asked) > 3
    reasons = section(page, "left-out") if "<section id=left-out " in page else ""
    for one in asked:
        entry, about = facts[one], ANALYSES[one]
        said = entry.get("left_out") or entry.get("finding") or "agree"
        clean = " ".join(re.sub("[\x00\u202e]", "\ufffd", said).split())
        shows = f"<section id={about.anchor} " in page
        assert clean in (section(page, about.anchor) if shows else reasons), one
        assert not (shows and "left_out" in entry)
        assert (about.title in reasons) != shows, one
    for one in set(ANALYSES) - set(asked):
        assert f"<section id={ANALYSES[one].anchor} " not in page
        assert ANALYSES[one].title not in page


@SOME
def test_a_section_has_a_finding_a_figure_numbers_and_a_note(name):
    page = render_stability(sample(name))
    without = {"verdict", "left-out", "method"}
    found = set(re.findall(r"<section id=([\w-]+) ", page)) - without
    assert found
    for anchor in found:
        part = page.split(f"<section id={anchor} ")[1].split("</section>")[0]
        for mark in ("<p class=finding>", "<figure>", "<table", "<p class=note>"):
            assert mark in part, (anchor, mark)


def test_the_whole_study_has_all_sections_and_figures():
    facts = sample("stability")
    assert set(ANALYSES) <= set(facts)
    assert [one for one in facts.values() if isinstance(one, dict) and "left_out" in one] == []
    drawn = figures(facts)
    wanted = {
        "ranking-spearman", "ranking-kendall-tau-b", "leave-one-out-1", "panel-size",
        "panel-width", "threshold-value", "threshold-rank", "experts", "experts-crowd",
        "critical-difference-auroc", "choices-value", "choices-rank", "components-value",
        "components-difference", "subgroups-entropy", "subgroups-agreement",
        "subgroups-metric", "annotator-map", "certainty", "certainty-models",
        "certainty-ranks",
    }  # fmt: skip
    assert wanted <= set(drawn)
    assert "vote-cutoffs" in figures(sample("stability of anonymous votes"))
    assert render_stability(facts).count("<svg") == len(drawn)


@SOME
def test_figures_are_xml_with_their_own_style(name):
    for text_ in figures(sample(name)).values():
        tree = ElementTree.fromstring(text_)
        assert tree.tag == f"{SPACE}svg"
        assert tree.get("role") == "img"
        assert tree.get("aria-label")
        assert "var(" not in text_
        assert "http" not in text_.replace("http://www.w3.org/2000/svg", "")
        inside = {one.tag.removeprefix(SPACE) for one in tree.iter()}
        assert inside <= {"svg", "style", "g", "path", "rect", "text", "title"}


def test_a_figure_keeps_its_colours_and_its_sizes():
    made = standalone(drawing((50, 20), "x", Html("<g class=m3><path class=d d=M1,1h0 /></g>")))
    assert ".m3 .d{stroke:#a884a7}" in made
    assert re.search(r"^\.d\{stroke-width:9;", made, re.MULTILINE)
    assert 'width="70" height="40"' in made
    assert "￿" not in standalone(drawing((9, 9), "x￿", text(1, 1, "y￿")))


@SOME
def test_nothing_is_asked_for_and_no_name_becomes_markup(name):
    page = render_stability(sample(name), StabilityPage(BAD, BAD, (BAD,), BAD))
    read = Reader(page)
    assert not {"img", "iframe", "object", "b"} & set(read.tags)
    assert read.tags.count("script") == 1
    links = [one for _, key, one in read.attributes if key in {"href", "src"}]
    assert all(one == "data:," or one.startswith("#") for one in links)
    assert not [key for _, key, _ in read.attributes if key.startswith("on")]
    assert not [key for _, key, _ in read.attributes if key == "style"]
    assert "\x00" not in page
    assert "\u202e" not in page
    anchors = {one for _, key, one in read.attributes if key == "id"}
    assert {one[1:] for one in links if one.startswith("#")} <= anchors
    assert len(anchors) == sum(key == "id" for _, key, _ in read.attributes)


def test_the_policy_allows_this_style_and_script_alone():
    page = render_stability(sample("stability"))
    rules = html.unescape(re.search(r'Content-Security-Policy content="([^"]+)"', page)[1])
    for tag in ("style", "script"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in rules


def test_ranks_and_correlations_are_those_of_the_facts():
    facts = sample("stability")
    words = section(render_stability(facts), "ranking")
    rows = chosen(facts["ranking"]["rows"])
    assert {one["task"] for one in rows} == {facts["tasks"][-1]}
    assert {one["labels"] for one in rows} == {"soft"}
    for one in rows:
        assert f"{one['spearman']:.2f} [".replace("-", "−") in words
        assert f"{one['kendall_tau_b']:.3f} [".replace("-", "−") in words
    least = min(rows, key=lambda one: one["spearman"])["kind"]
    tree = ElementTree.fromstring(figures(facts)[f"ranks-{least.replace(' ', '-')}"])
    written = sorted(one.text for one in tree.iter(f"{SPACE}text") if one.text.isdigit())
    shares = [
        share
        for one in chosen(facts["ranking"]["model_rows"])
        if one["kind"] == least
        for share in one["rank_probabilities"]
    ]
    cells = [percent(share).rstrip("%") for share in shares if share >= 0.05]
    assert written == sorted([*cells, "1", "2", "3"])


def test_the_order_of_a_heatmap_is_by_value():
    facts = sample("stability")
    tree = ElementTree.fromstring(next(
        text_ for name, text_ in figures(facts).items() if name.startswith("ranks-")
    ))  # fmt: skip
    names = [one.text for one in tree.iter(f"{SPACE}text") if one.text.startswith("model")]
    rows = {one["model"]: one["value"] for one in chosen(facts["ranking"]["model_rows"])}
    assert names == sorted(rows, key=lambda model: -rows[model])


def test_shifts_and_experts_are_in_the_tables():
    facts = sample("stability")
    page = render_stability(facts)
    words = section(page, "annotators")
    far = max((one["shift"] for one in facts["leave_one_out"]["rows"]), key=abs)
    assert any(f"{signed(far, digits)} [" in words for digits in (2, 3, 4, 5))
    words = section(page, "experts")
    for one in facts["experts"]["rows"]:
        assert one["who"] in words
        if one["kind"] == "model":
            assert one["worth_words"] in words


def test_of_many_annotators_those_that_move_most_are_drawn():
    facts = sample("stability of a crowd")
    rows = facts["leave_one_out"]["rows"]
    far = {}
    for one in rows:
        far[one["without"]] = max(far.get(one["without"], 0), abs(one["shift"]))
    drawn = [one for one in figures(facts) if one.startswith("leave-one-out")]
    assert drawn == [f"leave-one-out-{n}" for n in range(1, 9)]
    page = render_stability(facts)
    assert f"the 16 of {len(far)} annotators" in section(page, "annotators")
    most = sorted(far, key=lambda who: -far[who])
    names = re.findall(r"(reader \d+)", figures(facts)["leave-one-out-1"])
    assert set(names) == {who.split("a-name")[0] for who in most[:2]}
    part = page.split("<section id=annotators ")[1].split("</section>")[0]
    opened, folded = part.split("<details class=kept>", 1)
    assert (opened.count("<svg"), folded.count("<svg")) == (2, 6)


def test_extrapolated_panels_follow_the_fit():
    facts = sample("stability")
    entry = facts["panel_size"]
    tree = ElementTree.fromstring(figures(facts)["panel-size"])
    dashed = [one for one in tree.iter(f"{SPACE}path") if one.get("class") == "cv far"]
    assert len(dashed) == len(facts["models"])
    last = entry["sizes"][-1]
    for path_ in dashed:
        assert path_.get("d").count("L") == len(
            {last + max(1, last * step // 4) for step in range(1, 5)}
        )
    ticks = {one.text for one in tree.iter(f"{SPACE}text")}
    assert str(2 * last) in ticks or str(2 * last - 1) in ticks


def test_a_dot_lies_where_its_value_is():
    made = dot_rows(
        Rows("head", "title", "said", ends=(0.0, 1.0)),
        [Dot("a", "a", 0.25, 0.0, 1.0), Dot("b", "b", 0.75, math.nan, math.nan)],
    )
    (first, second) = re.findall(r"<path class=d d=M([\d.]+),([\d.]+)h0", made)
    (line,) = re.findall(r"<path class=w d=M([\d.]+),[\d.]+h([\d.]+)", made)
    start, length = (float(one) for one in line)
    assert float(first[0]) == pytest.approx(start + length / 4, abs=0.2)
    assert float(second[0]) == pytest.approx(start + 3 * length / 4, abs=0.2)
    assert float(first[1]) < float(second[1])
    assert dot_rows(Rows("h", "t", "s"), [Dot("a", "a", math.nan, math.inf, math.nan)]) is None


def test_ranks_go_down_and_values_go_up():
    plot = Plot("h", "t", "s", ((0.0, "a"), (1.0, "b")))
    line = Line("m", "m", "m0", ((0.0, 1.0), (1.0, 2.0)))
    for down, way in ((False, 1), (True, -1)):
        made = curves(Plot("h", "t", "s", plot.ticks, down=down), [line])
        ends = re.search(r"<path class=cv d=M[\d.]+,([\d.]+)L[\d.]+,([\d.]+)", made)
        first, last = (float(one) for one in ends.groups())
        assert way * (first - last) > 0
    assert curves(plot, [Line("m", "m", "m0", ())]) is None


def test_models_hang_from_their_average_rank():
    facts = sample("stability")
    entry = facts["critical_difference"]
    tree = ElementTree.fromstring(figures(facts)["critical-difference-auroc"])
    hung = {}
    for one in tree.iter(f"{SPACE}g"):
        words = one.find(f"{SPACE}text")
        if words is not None and one.get("class", "").startswith("m"):
            x = re.match(r"M([\d.]+),", one.find(f"{SPACE}path").get("d"))[1]
            hung[words.find(f"{SPACE}title").text] = float(x)
    total = len(facts["models"])
    for one in entry["rows"]:
        share = (one["average_rank"] - 1) / (total - 1)
        assert hung[one["model"]] == pytest.approx(124 + share * (316 - 124), abs=0.1)
    bars = [one for one in tree.iter(f"{SPACE}path") if one.get("class") == "sep"]
    assert len(bars) == len(entry["cliques"])


def test_sizes_of_flips_are_bounds_unless_all_smaller_sets_were_tried():
    facts = sample("stability")
    words = section(render_stability(facts), "flips")
    found = [one for one in facts["flips"]["rows"] if one["size"]]
    assert found
    for one in found:
        bound = "" if one["smallest"] else "≤ "
        assert f"{bound}{one['size']} ({percent(one['share'], 1)}): {one['b']}" in words
    for one in facts["flips"]["rows"]:
        assert one["size"] or f"none up to {one['tried_up_to']}" in words


def test_groups_are_shown_with_their_corrected_p_values_and_small_ones_counted():
    facts = sample("stability")
    words = section(render_stability(facts), "subgroups")
    assert "Groups that are too small to be measured" in words
    assert "rare = rare" in words
    for one in facts["subgroups"]["rows"]:
        assert f"{one['column']} = {one['level']}" in words
    assert "p (Holm)" in words


def test_choices_are_drawn_as_differences_to_the_mean():
    facts = sample("stability")
    page = render_stability(facts)
    words = section(page, "choices")
    for one in chosen(facts["choices"]["rows"]):
        digits = {number(one["value"], places) for places in (2, 3, 4, 5)}
        assert any(f"{written} [" in words for written in digits)
    told = chosen(facts["choices"]["conclusions"])
    for verdict in {one["verdict"] for one in told}:
        times = sum(one["verdict"] == verdict for one in told)
        assert f"{verdict} {times} of {len(told)}" in words


@pytest.mark.parametrize("new", [None, "inf", "-inf"])
def test_what_is_undefined_is_said_and_not_drawn(new):
    facts = undefined(sample("stability"), new)
    page = render_stability(facts)
    assert ("undefined" if new is None else "∞") in section(page, "annotators")
    assert "nan" not in re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)
    for made in figures(facts).values():
        assert not re.search(r"[\"',(](nan|-?inf)", made)


def test_a_page_without_any_analysis_still_says_how_it_was_made():
    facts = {k: one for k, one in sample("stability").items() if k not in ANALYSES}
    page = render_stability(facts)
    assert 'href="#method"' in page or "href=#method" in page
    assert figures(facts) == {}


def test_notices_are_told_once_with_what_they_are_about():
    facts = sample("stability")
    page = render_stability(facts, StabilityPage(notices=("first", "first")))
    words = section(page, "method")
    assert page.count("<li>first") == 1
    for one in facts["critical_difference"]["notices"]:
        assert " ".join(one.split()) in words
    assert facts["metrics"][0]["definition"].split(".")[0] in words


def test_long_names_are_shortened_and_stay_apart():
    facts = sample("stability of a crowd")
    cast = cast_of(facts)
    short = {cast.short(model, 15) for model in cast.models}
    assert len(short) == len(cast.models) == 13
    for made in figures(facts).values():
        heads = list(ElementTree.fromstring(made).iter(f"{SPACE}text"))
        for one in heads:
            assert (
                len("".join(one.itertext()).replace(one.findtext(f"{SPACE}title", ""), "")) < 70
            )


@given(arrays(np.float64, (5, 2), elements=st.floats(-0.25, 0.25)))
def test_the_map_keeps_distances_of_the_plane(points):
    far = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    plane, held = placed((1 - far).tolist())
    again = np.hypot(*(plane[:, None] - plane[None]).transpose(2, 0, 1))
    assert np.allclose(again, far, atol=1e-6)
    assert held > 0.999


def test_a_pair_without_a_kappa_gets_the_mean_distance():
    plane, _ = placed([[None, 0.5, None], [0.5, None, 0.5], [None, 0.5, None]])
    far = [math.dist(plane[a], plane[b]) for a, b in ((0, 1), (1, 2), (0, 2))]
    assert far == pytest.approx([0.5, 0.5, 0.5])


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
    facts = facts_of(study.predictions, study.annotations, replicates=10, most=2)
    assert len(render_stability(facts).encode()) < 300_000


def test_ranks_start_at_one_and_values_of_steps_are_drawn_in_steps():
    plot = Plot("h", "t", "a", ((0.0, "0"), (1.0, "1")), down=True, held="from")
    shared = Line("net", "net", "m0", ((0.0, 2.0), (1.0, 4.0)))
    made = curves(plot, [shared])
    ticks = re.findall(r'<text[^>]*class="e a">([\d.]+)', made)
    assert ticks == ["1", "2", "3", "4"]
    (line,) = re.findall(r"<path class=cv d=(M[^ >]+)", made)
    assert re.fullmatch(r"M[\d.,]+H[\d.]+V[\d.]+", line)
    (upto,) = re.findall(
        r"<path class=cv d=(M[^ >]+)", curves(dataclasses.replace(plot, held="until"), [shared])
    )
    assert re.fullmatch(r"M[\d.,]+V[\d.]+H[\d.]+", upto)


def test_the_first_task_of_a_sweep_is_open_and_the_others_are_folded_once():
    page = render_stability(sample("stability"))
    part = page.split("<section id=threshold ")[1].split("</section>")[0]
    opened, folded = part.split("<details class=kept>", 1)
    assert opened.count("<svg") == 2
    inside, after = folded.split("</details>", 1)
    assert inside.count("<svg") == 4 and "<svg" not in after
    assert "tie share the mean of their ranks" in opened


def test_an_interval_that_is_one_place_is_still_shaded_and_shares_fall_in_steps():
    spot = {"value": 0.3, "low": 0.3, "high": 0.3}
    rows = [{"threshold": 0.1 * n, "prevalence": 0.5 - 0.1 * n} for n in range(1, 5)]
    made = prevalence_curve({"rows": rows, "centre": 0.3}, spot)
    (wide,) = re.findall(r"<rect [^>]*width=([\d.]+)", made)
    assert float(wide) >= 9
    (line,) = re.findall(r"<path class=cv d=(M[^ >]+)", made)
    assert re.fullmatch(r"M[\d.,]+(V[\d.]+H[\d.]+){3}", line)

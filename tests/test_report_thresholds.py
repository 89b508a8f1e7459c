"""Pages of thresholds and audits: what they claim, and how they behave in a browser."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from equipoise.report.audit_page import audit_figures, render_audit
from equipoise.report.findings_page import About
from equipoise.report.threshold_page import render_threshold, threshold_figures

from tests.report_stability_sample import BAD, LONG
from tests.test_report_browser import CHROMIUM, CONTRAST, FLAGS
from tests.test_report_stability import Reader, section
from tests.threshold_study import AUDITS, THRESHOLDS, known

SPACE = "{http://www.w3.org/2000/svg}"
every = pytest.mark.parametrize("name", [*THRESHOLDS, *AUDITS])


def page_of(name, about=None):
    render = render_threshold if name in THRESHOLDS else render_audit
    return render(known(name), about or About(name))


def figures_of(name):
    return (threshold_figures if name in THRESHOLDS else audit_figures)(known(name))


@every
def test_the_page_is_the_same_every_time_and_from_json(name):
    facts = known(name)
    render = render_threshold if name in THRESHOLDS else render_audit
    page = render(facts, About(name))
    assert render(json.loads(json.dumps(facts, allow_nan=False)), About(name)) == page
    assert page.count("<section") == page.count("</section>")
    assert len(page.encode()) < 200_000


@every
def test_nothing_is_asked_for_and_no_name_becomes_markup(name):
    read = Reader(page_of(name, About(BAD, BAD, (BAD,))))
    assert not {"img", "iframe", "object", "b"} & set(read.tags)
    assert read.tags.count("script") == 1
    links = [one for _, key, one in read.attributes if key in {"href", "src"}]
    assert all(one == "data:," or one.startswith("#") for one in links)
    anchors = {one for _, key, one in read.attributes if key == "id"}
    assert {one[1:] for one in links if one.startswith("#")} <= anchors
    assert not [key for _, key, _ in read.attributes if key.startswith("on") or key == "style"]


@every
def test_figures_are_xml_that_says_what_it_shows(name):
    made = figures_of(name)
    assert made
    for text in made.values():
        tree = ElementTree.fromstring(text)
        assert tree.get("role") == "img" and tree.get("aria-label")
        assert "var(" not in text and not re.search(r"[\"',(](nan|-?inf)", text)


def test_the_threshold_is_in_the_words_the_figure_and_the_tables():
    facts = known("threshold")
    page, found = page_of("threshold"), facts["threshold"]
    words = section(page, "threshold")
    assert found["finding"] in words
    assert f"threshold {found['value']:.3f}" in words
    for row in found["rows"]:
        assert f"{row['mean probability']:.3g} {row['items']} {row['positives']}" in words
    assert facts["prevalence"]["finding"] in section(page, "prevalence")
    assert facts["sweep"]["finding"] in section(page, "models")
    tree = ElementTree.fromstring(figures_of("threshold")["threshold-bins"])
    dots = [one for one in tree.iter(f"{SPACE}g") if one.get("class") == "tinted"]
    assert len(dots) == len(found["rows"]) + 1  # and one in the key
    assert {"threshold-value", "threshold-value-2"} <= set(figures_of("threshold"))


def test_every_interval_of_the_threshold_is_named():
    facts = known("threshold")
    words = section(page_of("threshold"), "threshold")
    for row in facts["threshold"]["intervals"]:
        assert f"{row['interval']} [{row['low']:.3f}, {row['high']:.3f}]" in words
    assert "over experts (as published)" in words and "over experts and items" in words
    assert "redraws experts, and items within their bins" in words


def test_groups_that_are_redrawn_are_said():
    facts = known("threshold") | {"sweep": known("threshold")["sweep"] | {"groups": 12}}
    words = section(render_threshold(facts, About("x")), "models")
    assert "on the same redrawn groups of items (each as a whole)" in words
    assert "on the same redrawn items" in section(page_of("threshold"), "models")
    audit = known("audit")
    again = audit | {"reevaluation": audit["reevaluation"] | {"groups": 12}}
    said = section(render_audit(again, About("x")), "models")
    assert "12 whole groups of items of the benchmark" in said
    assert "Items of the benchmark" in section(page_of("audit"), "models")


def test_without_a_threshold_nothing_that_follows_is_claimed():
    facts = known("threshold that nobody set")
    page = page_of("threshold that nobody set")
    assert facts["threshold"]["value"] is None
    assert "set no threshold" in section(page, "threshold")
    for anchor in ("prevalence", "models"):
        assert "Left out: The experts' labels set no threshold" in section(page, anchor)
    assert set(figures_of("threshold that nobody set")) == {"threshold-bins"}


def test_a_page_without_models_has_no_section_on_them():
    assert "<section id=models" not in page_of("threshold by an isotonic fit")
    assert "<section id=models" not in page_of("audit of numbers")
    assert "isotonic regression" in section(
        page_of("threshold by an isotonic fit"), "threshold"
    )


def test_an_audit_shows_every_pool_and_both_ends():
    facts = known("audit")
    words = section(page_of("audit"), "missed")
    assert facts["audit"]["finding"] in words
    for row in facts["audit"]["rows"]:
        assert f"{row['positives']} of {row['audited']}" in words
    again = section(page_of("audit"), "models")
    for sentence in facts["reevaluation"]["findings"]:
        assert sentence in again
    assert "lower is better" in again


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("pages")
    for name in (*THRESHOLDS, *AUDITS):
        text = page_of(name, About(f"{name}{BAD}", LONG, (BAD, LONG)))
        (made / f"{name}.html").write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="the page is tried in a browser only where playwright is"
    )
    if not Path(CHROMIUM).exists():
        pytest.skip(f"the page is tried in a browser only where {CHROMIUM} is")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser, folder):
    contexts = []

    def open_page(name, width=1280, **how):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **how))
        page = contexts[-1].new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("request", lambda request: page.heard.append(request.url))
        page.goto((folder / f"{name}.html").as_uri())
        for fold in page.query_selector_all("details"):
            fold.evaluate("fold => (fold.open = true)")
        return page

    yield open_page
    for context in contexts:
        context.close()


@every
def test_the_page_is_silent_and_fits_a_telephone(visit, folder, name):
    page = visit(name, width=390)
    page.mouse.wheel(0, 4000)
    page.wait_for_timeout(50)
    assert page.heard == [(folder / f"{name}.html").as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@every
@pytest.mark.parametrize("width", [1280, 390])
def test_words_of_a_figure_stay_on_it(visit, name, width):
    cut = """all => all.filter(words => {
      const own = words.getBoundingClientRect();
      const frame = words.ownerSVGElement.getBoundingClientRect();
      return own.left < frame.left - 2 || own.right > frame.right + 2
        || own.top < frame.top - 2 || own.bottom > frame.bottom + 2;
    }).map(words => words.textContent)"""
    assert visit(name, width=width).eval_on_selector_all("svg text", cut) == []


@pytest.mark.parametrize("name", ["threshold", "audit", "threshold that nobody set"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_reaches_aa(visit, scheme, name):
    seen, faults = visit(name, color_scheme=scheme).evaluate(CONTRAST)
    assert seen > 60 and faults == []


@pytest.mark.parametrize(("name", "first"), [("threshold", "#threshold"), ("audit", "#missed")])
def test_the_page_is_whole_without_a_script_and_reached_by_the_keyboard(visit, name, first):
    page = visit(name, java_script_enabled=False)
    shown = "all => all.every(part => part.checkVisibility() && part.clientHeight > 60)"
    assert page.eval_on_selector_all("section", shown)
    page = visit(name)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == first


def test_the_table_of_a_sweep_that_is_cut_has_the_threshold_and_the_ends():
    facts = known("threshold")
    sweep = facts["sweep"]
    rows = [row for row in sweep["rows"] if row["threshold"] < sweep["centre"] + 0.04]
    cut = facts | {"sweep": sweep | {"rows": rows}}
    words = section(render_threshold(cut, About("x")), "models")
    for spot in (rows[0]["threshold"], sweep["centre"], rows[-1]["threshold"]):
        assert f"≥ {spot:.2f}" in words

"""The gallery in a browser: keys, marks that stay, votes that come back, nothing fetched."""

import base64
from dataclasses import replace

import pytest

from equipoise.read.annotations import read_annotations
from equipoise.report.page import render
from equipoise.types import Gallery
from tests import page_sample
from tests.page_gallery_sample import DOT, ODD, report, write
from tests.report.test_report_browser import (  # noqa: F401  (a fixture)
    CHROMIUM,
    CONTRAST,
    FAULTS,
    WIDTHS,
    browser,
)

pytest.importorskip("playwright.sync_api", reason="pages are tried in a browser by playwright")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no {CHROMIUM}")
FOCUS = "document.activeElement.dataset.item"
MARKS = (
    "all => all.filter(one => one.dataset.mark)"
    ".map(one => [one.dataset.item, one.dataset.mark])"
)


@pytest.fixture
def page(browser):  # noqa: F811
    context = browser.new_context(viewport={"width": 1280, "height": 844})
    made = context.new_page()
    made.heard = []
    made.on("console", lambda message: made.heard.append(message.text))
    made.on("pageerror", lambda error: made.heard.append(str(error)))
    made.on("request", lambda request: made.heard.append(request.url[:60]))
    yield made
    context.close()


@pytest.fixture
def opened(page, tmp_path):
    page.goto(write(tmp_path, "page.html", report()).as_uri())
    return page


def downloaded(page, tmp_path):
    with page.expect_download() as caught:
        page.click("#near_duplicates .get-votes")
    path = tmp_path / caught.value.suggested_filename
    caught.value.save_as(path)
    return path


def test_pages_without_a_gallery_do_not_hold_its_style_or_script():
    text = render(page_sample.SAMPLES["two models"]())
    assert ".shots" not in text and "equipoise:marks" not in text
    assert "img-src data:; style-src" in text


def test_arrows_move_and_open_what_is_folded(opened):
    opened.focus("#off_topic .shot")
    assert opened.evaluate(FOCUS) == ODD
    opened.keyboard.press("ArrowRight")
    assert opened.evaluate(FOCUS) == "constructor"
    tops = "all => all.map(one => Math.round(one.getBoundingClientRect().top))"
    rows = opened.eval_on_selector_all("#off_topic li:not(.later) .shot", tops)
    wide = rows.index(next(top for top in rows if top != rows[0]))
    opened.keyboard.press("ArrowDown")
    assert opened.evaluate(FOCUS) == f"images/scan_{1 + wide:03}.png"
    opened.keyboard.press("ArrowUp")
    opened.keyboard.press("ArrowLeft")
    opened.keyboard.press("ArrowLeft")
    assert opened.evaluate(FOCUS) == ODD
    assert not opened.is_visible("#off_topic .later .shot")
    opened.keyboard.press("End")
    assert opened.evaluate(FOCUS) == "images/scan_029.png"
    assert opened.is_visible("#off_topic .later .shot")
    assert opened.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_keys_work_before_anything_has_the_focus(opened):
    opened.keyboard.press("n")
    opened.keyboard.press("y")
    wanted = [[ODD, "no"], ["constructor", "yes"]]
    assert opened.eval_on_selector_all(".shot", MARKS) == wanted
    assert opened.evaluate(FOCUS) == "images/scan_002.png"


SCROLL = "one => one.scrollIntoView({behavior: 'instant'})"


def test_the_first_key_goes_to_the_gallery_in_view_and_judges_nothing_unseen(opened):
    first = "images/scan_002.png | images/scan_006.png"
    opened.set_viewport_size({"width": 1280, "height": 400})
    opened.eval_on_selector("#near_duplicates .gallery", SCROLL)
    opened.keyboard.press("ArrowRight")
    assert opened.evaluate(FOCUS) == first
    opened.check("#off_topic .folding input")
    opened.evaluate("document.activeElement.blur()")
    opened.eval_on_selector("#off_topic li:last-child .shot", SCROLL)
    opened.keyboard.press("Control+y")
    opened.keyboard.press("y")
    assert opened.eval_on_selector_all(".shot", MARKS) == []
    assert opened.evaluate(FOCUS) == ODD
    opened.keyboard.press("y")
    assert opened.eval_on_selector_all(".shot", MARKS) == [[ODD, "yes"]]


def test_marks_are_made_undone_and_stay_after_a_reload(opened):
    assert opened.text_content("#off_topic .told").startswith("0 of 30 judged")
    assert opened.is_disabled("#off_topic .get-votes")
    opened.focus("#off_topic .shot")
    opened.keyboard.press("y")
    opened.keyboard.press("n")
    assert opened.evaluate(FOCUS) == "images/scan_002.png"
    opened.keyboard.press("Y")
    opened.keyboard.press("u")
    assert opened.evaluate(FOCUS) == "images/scan_002.png"
    wanted = [[ODD, "yes"], ["constructor", "no"]]
    assert opened.eval_on_selector_all("#off_topic .shot", MARKS) == wanted
    opened.reload()
    assert opened.eval_on_selector_all("#off_topic .shot", MARKS) == wanted
    assert opened.text_content("#off_topic .told") == "2 of 30 judged: problem 1, fine 1."
    pressed = "#off_topic .shot >> nth=0 >> button[aria-pressed=true]"
    assert opened.text_content(pressed) == "problem"


def test_a_button_marks_and_unmarks_and_other_keys_do_nothing(opened):
    opened.click("#near_duplicates .shot >> nth=1 >> text=fine")
    assert len(opened.eval_on_selector_all("#near_duplicates .shot", MARKS)) == 1
    opened.keyboard.press("Control+y")
    opened.keyboard.press("x")
    opened.click("#near_duplicates .shot >> nth=1 >> text=fine")
    assert opened.eval_on_selector_all(".shot", MARKS) == []


def test_the_name_is_typed_without_marking(opened):
    opened.fill("#off_topic .who", "any nurse")
    assert opened.input_value("#near_duplicates .who") == "any nurse"
    assert opened.eval_on_selector_all(".shot", MARKS) == []


def test_votes_are_read_back_with_names_and_tasks(opened, tmp_path):
    opened.fill("#off_topic .who", 'Dr. "A", B')
    opened.focus("#off_topic .shot")
    for key in "yny":
        opened.keyboard.press(key)
    opened.focus("#near_duplicates .shot")
    opened.keyboard.press("y")
    votes = read_annotations(downloaded(opened, tmp_path))
    assert votes.tasks == ("off_topic", "near_duplicates")
    assert votes.annotators == ('Dr. "A", B',) and votes.kind == "binary"
    said = {
        (votes.tasks[t], votes.items[i]): votes.classes[k]
        for t, i, k in zip(votes.task, votes.item, votes.label, strict=True)
    }
    assert said == {
        ("off_topic", ODD): "yes",
        ("off_topic", "constructor"): "no",
        ("off_topic", "images/scan_002.png"): "yes",
        ("near_duplicates", "images/scan_002.png | images/scan_006.png"): "yes",
    }
    assert all(not one.startswith("http") for one in opened.heard)


def test_marks_of_another_run_are_not_shown(opened, tmp_path):
    opened.focus("#off_topic .shot")
    opened.keyboard.press("y")
    opened.goto(write(tmp_path, "other.html", report(run="another")).as_uri())
    assert opened.eval_on_selector_all(".shot", MARKS) == []


def test_a_browser_that_keeps_nothing_says_so_and_still_hands_out_votes(page, tmp_path):
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }})"
    )
    page.goto(write(tmp_path, "page.html", report()).as_uri())
    assert "download them before you leave" in page.text_content("#off_topic .told")
    page.focus("#off_topic .shot")
    page.keyboard.press("y")
    assert downloaded(page, tmp_path).read_text().count("\n") == 2


def test_pictures_are_inside_or_beside_and_nothing_else_is_asked_for(page, tmp_path):
    loaded = "all => all.every(one => one.complete && one.naturalWidth > 0)"
    (tmp_path / "thumbnails").mkdir()
    (tmp_path / "thumbnails/dot.gif").write_bytes(base64.b64decode(DOT.partition(",")[2]))
    for source in (DOT, "thumbnails/dot.gif"):
        file = write(tmp_path, "page.html", report(source=source))
        page.goto(file.as_uri())
        page.evaluate(
            "() => Promise.all([...document.images].map(one => {"
            "one.loading = 'eager'; return one.decode(); }))"
        )
        assert page.eval_on_selector_all("img", loaded), source
    file = write(tmp_path, "page.html", report(source="https://example.org/a.png"))
    with page.expect_console_message(lambda one: "Content Security Policy" in one.text):
        page.goto(file.as_uri())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_fit_and_reach_aa(opened, scheme):
    opened.emulate_media(color_scheme=scheme)
    opened.focus("#off_topic .shot")
    opened.keyboard.press("y")
    opened.keyboard.press("n")
    assert opened.evaluate(CONTRAST)[1] == []
    for width in WIDTHS:
        opened.set_viewport_size({"width": width, "height": 844})
        assert opened.evaluate(FAULTS) == [], width


def test_without_a_script_the_pictures_are_there_and_the_keys_are_not(browser, tmp_path):  # noqa: F811
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(write(tmp_path, "page.html", report()).as_uri())
    assert plain.locator("#off_topic img").count() == 30
    assert not plain.is_visible("#off_topic .bar") and not plain.is_visible(".marks >> nth=0")
    context.close()


def test_only_one_suspect_of_a_gallery_is_a_stop_of_the_tab_key(opened):
    stops = "all => all.filter(one => one.tabIndex === 0).length"
    assert opened.eval_on_selector_all("#off_topic .shot, #off_topic .marks button", stops) == 3
    assert opened.eval_on_selector_all("img", "all => all.every(one => one.alt)")


def test_an_empty_gallery_is_not_drawn():
    whole = report()
    (chart,) = whole.findings[0].charts
    assert isinstance(chart, Gallery)
    empty = replace(whole.findings[0], charts=(replace(chart, rows=()),))
    assert "class=shots" not in render(replace(whole, findings=(empty,)))

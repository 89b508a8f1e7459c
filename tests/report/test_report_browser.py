"""The page in a browser: silent, reachable, legible, with nothing over anything else."""

import base64
import csv
import io
import re
from pathlib import Path

import pytest

from equipoise.report.page import figures, render
from tests.findings_sample import HOSTILE, report
from tests.page_sample import SAMPLES, without_card

CHROMIUM = Path("/usr/bin/chromium")
playwright = pytest.importorskip(
    "playwright.sync_api", reason="the page is tried in a browser only where playwright is"
)
pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists(), reason=f"the page is tried in a browser only where {CHROMIUM} is"
)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
OBEYED = "window.ran = (window.ran || 0) + 1"
EVIL = (
    f"<script>{OBEYED}</script>",
    f'"><img src=x onerror="{OBEYED}">',
    f"</script><svg onload='{OBEYED}'>",
    f"javascript:{OBEYED}",
    f"' onmouseover='{OBEYED}' x='",
    f"</style></title></textarea><iframe srcdoc='<script>parent.{OBEYED}</script>'>",
    "=HYPERLINK(1)",
    "\x1b[31m\u202eevil\u2066",
)
PAGES = {
    **SAMPLES,
    "evil names": lambda: report(EVIL),
    "no card": lambda: without_card(SAMPLES["two models"]()),
    "every chart": lambda: report(HOSTILE),
}
WIDTHS = (1280, 768, 390, 320)
OPEN = "all => all.forEach(one => (one.open = true))"
# Boxes of all words that are shown, cut to the frame that scrolls them; pairs that intersect,
# words beyond the sides of the window, and words that do not fit their element.
FAULTS = """() => {
  const faults = [], boxes = [], wide = document.documentElement.clientWidth;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, own = node.parentElement;
    if (!node.textContent.trim() || !own.checkVisibility()) continue;
    if (own.closest("script, style, title, header, .skip, .tall thead")) continue;
    const frame = own.closest(".scroll")?.getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      let [left, right, top, bottom] = [box.left, box.right, box.top + 2, box.bottom - 2];
      if (frame) {
        left = Math.max(left, frame.left);
        right = Math.min(right, frame.right);
        top = Math.max(top, frame.top + (own.closest(".tall") ? 30 : 0));
        bottom = Math.min(bottom, frame.bottom);
        if (left >= right || top >= bottom) continue;
      }
      const words = node.textContent.trim().slice(0, 40);
      boxes.push({ left, right, top, bottom, words, own });
      if (left < -0.5 || right > wide + 0.5) faults.push(`beyond: ${words}`);
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  boxes.forEach((a, at) => {
    for (let next = at + 1; next < boxes.length && boxes[next].top < a.bottom; next++) {
      const b = boxes[next];
      if (a.own === b.own) continue;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 1) faults.push(`over: ${a.words} | ${b.words}`);
    }
  });
  for (const one of document.querySelectorAll("td, th, summary span, li, .name, .num, p, dd")) {
    if (!one.checkVisibility() || one.querySelector("svg")) continue;
    if (getComputedStyle(one).display === "inline") continue;
    if (one.clientWidth && one.scrollWidth > one.clientWidth + 1) {
      faults.push(`cut: ${one.textContent.slice(0, 40)}`);
    }
  }
  if (document.documentElement.scrollWidth > wide) faults.push("the page scrolls sideways");
  return faults;
}"""
CONTRAST = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((v) => {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let up = node; up; up = up.parentElement) {
      const colour = getComputedStyle(up).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faults = [];
  let seen = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !node.checkVisibility()) continue;
    if (node.closest("script, title, .skip")) continue;
    const style = getComputedStyle(node);
    const ink = node.ownerSVGElement ? style.fill : style.color;
    const [low, high] = [light(ink), light(ground(node))].sort((a, b) => a - b);
    seen += 1;
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) faults.push(`${node.textContent} ${ratio}`);
  }
  return [seen, faults];
}"""
REACHABLE = """() => [
  ...document.querySelectorAll("a[href], button, summary, input, [tabindex='0']")]
  .filter((node) => node.checkVisibility() && (node.type !== "radio" || node.checked))
  .map((node, at) => (node.dataset.stop = at))"""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def visit(browser, folder):
    contexts = []

    def open_page(name, **how):
        file = folder / f"{name}.html"
        if not file.exists():
            file.write_text(render(PAGES[name]()), encoding="utf-8")
        how.setdefault("viewport", {"width": 1280, "height": 844})
        contexts.append(browser.new_context(**how))
        page = contexts[-1].new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("request", lambda request: page.heard.append(request.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def height(page):
    return page.evaluate("document.documentElement.scrollHeight")


@pytest.mark.parametrize("name", PAGES)
def test_no_words_lie_over_others_stick_out_or_are_cut(visit, folder, name):
    page = visit(name)
    for state in ("closed", "open"):
        if state == "open":
            page.eval_on_selector_all("details", OPEN)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate(FAULTS) == [], (state, width)
    assert page.heard == [(folder / f"{name}.html").as_uri()]


@pytest.mark.parametrize("name", ["chexpert", "every chart"])
def test_numbers_under_an_axis_do_not_touch_in_a_broad_font(visit, name):
    """Machines without the usual fonts write in DejaVu Sans, with a much broader minus."""
    page = visit(name, bypass_csp=True)
    page.add_style_tag(content="*{font-family:'DejaVu Sans',Verdana,sans-serif !important}")
    page.eval_on_selector_all("details", OPEN)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        over = [one for one in page.evaluate(FAULTS) if one.startswith("over")]
        assert over == [], width


def test_words_that_lie_over_others_are_noticed(visit):
    page = visit("two models")
    assert page.evaluate(FAULTS) == []
    ticks = "all => all.forEach(one => one.setAttribute('x', '50%'))"
    page.eval_on_selector_all(".dots .head text", ticks)
    assert any(one.startswith("over") for one in page.evaluate(FAULTS))
    page.eval_on_selector_all(".dots .head text", ticks.replace("50%", "900%"))
    assert any(one.startswith("beyond") for one in page.evaluate(FAULTS))


def test_the_card_ends_above_the_fold_and_the_page_is_short(visit):
    page = visit("chexpert")
    card = "document.querySelector('.card').getBoundingClientRect().bottom"
    for width, fold, whole in ((1280, 800, 4_000), (390, 844, 7_000)):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(card) < fold
        assert height(page) < whole
    page.eval_on_selector_all(".worklist details", OPEN)
    page.eval_on_selector_all(".columns details:nth-child(-n+2)", OPEN)
    assert height(page) < 7_000
    page.set_viewport_size({"width": 1280, "height": 844})
    assert height(page) < 4_000


def test_everything_is_reached_with_the_tab_key_and_shows_focus(visit):
    page = visit("chexpert")
    page.eval_on_selector_all("details", OPEN)
    page.wait_for_timeout(50)
    wanted = set(page.evaluate(REACHABLE))
    reached = set()
    for press in range(len(wanted) + 6):
        page.keyboard.press("Tab")
        stop, outline, skip = page.evaluate(
            "() => { const at = document.activeElement;"
            "const shown = at.type === 'radio' ? at.nextElementSibling : at;"
            "return [at.dataset.stop, getComputedStyle(shown).outlineStyle, at.className]; }"
        )
        if press == 0:
            assert skip == "skip"
        if stop is not None:
            assert outline != "none", stop
            reached.add(int(stop))
    assert len(wanted) > 30 and wanted <= reached


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_reaches_aa(visit, scheme):
    page = visit("chexpert", color_scheme=scheme)
    page.eval_on_selector_all("details", OPEN)
    seen, faults = page.evaluate(CONTRAST)
    assert seen > 500 and faults == []


@pytest.mark.parametrize("script", [True, False])
def test_one_task_is_shown_at_a_time_and_folds_open_without_a_script(visit, script):
    page = visit("chexpert", java_script_enabled=script)
    assert page.locator("#theme").is_visible() is script
    page.click("#by_task summary")
    shown = "all => all.filter(one => one.checkVisibility()).map(one => one.dataset.t)"
    assert page.eval_on_selector_all("#by_task article", shown) == ["0"]
    page.click("#by_task label >> nth=2")
    assert page.eval_on_selector_all("#by_task article", shown) == ["2"]


def test_the_theme_can_be_chosen_and_paper_is_light_and_open(visit):
    page = visit("chexpert", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(18, 21, 23)"
    page.click("#theme")
    assert page.evaluate(ground) == "rgb(251, 251, 249)"
    page.click("#theme")
    page.emulate_media(media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    assert page.locator("header").is_hidden()
    tall = "all => Math.min(...all.map(one => one.getBoundingClientRect().height))"
    assert page.eval_on_selector_all("#evidence details .body", tall) > 10
    hidden = "all => all.filter(one => !one.checkVisibility()).length"
    assert page.eval_on_selector_all("#by_task article", hidden) == 0


def test_the_navigation_stays_and_says_where_the_reader_is(visit):
    page = visit("chexpert")
    page.click("nav a[href='#readers']")
    page.wait_for_selector("nav a[href='#readers'][aria-current]")
    assert page.locator("header").bounding_box()["y"] == 0
    assert page.locator("#readers h2").bounding_box()["y"] > 44


def test_pointing_at_a_model_marks_it_everywhere(visit):
    page = visit("chexpert")
    page.hover(".chips li >> nth=3")
    marked = "all => all.map(one => one.dataset.m)"
    lit = page.eval_on_selector_all(".lit", marked)
    assert len(lit) > 10 and set(lit) == {"3"}


def test_a_link_into_the_evidence_opens_it(visit, folder):
    page = visit("chexpert")
    page.goto((folder / "chexpert.html").as_uri() + "#stability")
    page.wait_for_selector("#stability[open]")


def test_a_figure_is_a_file_that_a_browser_shows(visit, folder):
    page = visit("chexpert")
    inside = """all => all.filter(one => {
      const own = one.getBoundingClientRect();
      return own.left < 0 || own.right > 761;
    }).map(one => one.textContent)"""
    for name, text in figures(PAGES["chexpert"]()).items():
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")
        page.goto((folder / f"{name}.svg").as_uri())
        assert page.evaluate("document.documentElement.tagName") == "svg"
        assert page.evaluate(
            "document.documentElement.getBoundingClientRect().width"
        ) == pytest.approx(760, abs=1)
        assert page.eval_on_selector_all("text", inside) == []


def test_names_are_shown_and_never_run(visit):
    """Names that are markup, scripts, formulas and escapes: pointed at, opened, downloaded."""
    page = visit("evil names")
    page.eval_on_selector_all("details", OPEN)
    for node in page.query_selector_all("a, button, summary, td, th")[:150]:
        if node.is_visible():
            node.dispatch_event("mouseover")
    assert page.evaluate("window.ran") is None
    assert all(one.startswith("file:") for one in page.heard)
    assert page.evaluate("document.scripts.length") == 1
    assert not page.query_selector_all("iframe, object, embed, img[src='x']")
    assert not page.query_selector_all("a[href^='javascript:']")
    words = page.evaluate("document.body.textContent")
    assert EVIL[0] in words and EVIL[1] in words
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", words)


def test_the_table_to_download_holds_no_formula(visit):
    page = visit("markup")
    links = page.eval_on_selector_all("a[href^='data:text/csv']", "all => all.map(a => a.href)")
    assert links
    for link in links:
        text = base64.b64decode(link.partition("base64,")[2]).decode()
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        odd = [cell for cell in cells if cell.startswith(tuple("=+-@\t\r"))]
        assert all(re.fullmatch(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", cell) for cell in odd)

"""The page of an agreement in a browser: silent, reachable, legible."""

import pytest

from equipoise.report.agreement_page import AgreementPage, render_agreement
from tests.report_truth_sample import BAD
from tests.test_agreement_page import LONG, PAGES
from tests.test_report_browser import CHROMIUM, CONTRAST, REACHABLE, browser

__all__ = ["browser"]
pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists(), reason=f"the page is tried in a browser only where {CHROMIUM} is"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("agreement")
    for name, make in PAGES.items():
        page = render_agreement(make(), AgreementPage(f"{name}{BAD}", (BAD, LONG)))
        (made / f"{name}.html").write_text(page, encoding="utf-8")
    return made


@pytest.fixture
def visit(browser, folder):
    contexts = []

    def open_page(name, **how):
        how.setdefault("viewport", {"width": 1280, "height": 900})
        contexts.append(browser.new_context(**how))
        page = contexts[-1].new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("request", lambda request: page.heard.append(request.url))
        page.goto((folder / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_telephone_shows_it_without_sideways_scrolling(visit, folder, name):
    page = visit(name, viewport={"width": 390, "height": 844})
    for fold in page.query_selector_all("details"):
        fold.evaluate("fold => (fold.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.heard == [(folder / f"{name}.html").as_uri()]
    assert page.locator("img, b").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["few", "hostile", "tasks"])
def test_all_text_reaches_aa(visit, name, scheme):
    page = visit(name, color_scheme=scheme)
    for fold in page.query_selector_all("details"):
        fold.evaluate("fold => (fold.open = true)")
    seen, faults = page.evaluate(CONTRAST)
    assert seen > 100
    assert faults == []


def test_numbers_in_cells_stand_out_from_their_colour(visit):
    ratio = """() => {
      const light = (colour) => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((v) => {
          v /= 255;
          return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const cells = [...document.querySelectorAll("svg g[stroke-width] > g > path")];
      return [...document.querySelectorAll(".num text")].map((word) => {
        const box = word.getBoundingClientRect();
        const middle = [box.x + box.width / 2, box.y + box.height / 2];
        const under = cells.find((cell) => {
          const at = cell.getBoundingClientRect();
          return at.left <= middle[0] && middle[0] <= at.right
            && Math.abs(at.top + at.height / 2 - middle[1]) < 8;
        });
        const [low, high] = [getComputedStyle(word).fill, getComputedStyle(under).stroke]
          .map(light).sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
      });
    }"""
    for scheme in ("light", "dark"):
        found = visit("few", color_scheme=scheme).evaluate(ratio)
        assert len(found) == 8 * 7
        assert min(found) >= 4.5


def test_everything_is_reached_with_the_tab_key(visit):
    page = visit("few")
    wanted, reached = set(page.evaluate(REACHABLE)), set()
    for _ in range(len(wanted) + 10):
        page.keyboard.press("Tab")
        stop = page.evaluate("document.activeElement.dataset.stop")
        reached |= {int(stop)} if stop is not None else set()
    assert len(wanted) > 5 and wanted <= reached

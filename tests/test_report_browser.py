"""The page in a browser: silent, reachable, legible, and useful without a script."""

import dataclasses
from pathlib import Path

import pytest

from equipoise.aggregate import Chain, dawid_skene, dirichlet, plackett_luce
from equipoise.analyses.truth import FittedModels, truth_report
from equipoise.page import figures
from equipoise.page import render as render_report
from tests.report_distributions_sample import sample_runs
from tests.report_sample import Shape, render, sample
from tests.report_stability_sample import STUDIES, report_of, study
from tests.report_stability_sample import sample as stability
from tests.report_truth_sample import BAD, rankings, votes
from tests.test_planning_findings import report_of as plan_of
from tests.threshold_study import THRESHOLDS
from tests.threshold_study import known as threshold_known

CHROMIUM = Path("/usr/bin/chromium")
playwright = pytest.importorskip(
    "playwright.sync_api", reason="the page is tried in a browser only where playwright is"
)
pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists(), reason=f"the page is tried in a browser only where {CHROMIUM} is"
)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SINGLE = Shape(tasks=("",), undefined=None)
RUNS = {
    "sample": Shape(),
    "one": dataclasses.replace(SINGLE, models=("m" * 300,)),
    "forty": dataclasses.replace(
        SINGLE, models=tuple(f"model-{n:02d}" for n in range(40)), replicates=50
    ),
    "crowd": dataclasses.replace(SINGLE, annotators=300),
}
WIDE = "MixedWoMMWNetworkMMMMWWWW"
PLANNED = ("pair", "ranking", "ranking of the long", "ranking of the hostile")
OTHERS = ("names of broad letters", *THRESHOLDS, *(f"plan of a {name}" for name in PLANNED))
LONG = "a-differential-diagnosis-with-a-name-that-never-ends-" * 3
TRUTHS = {
    "truth of votes": (lambda: votes(people=30, items=40), dirichlet),
    "truth of a crowd": (lambda: votes(people=260, items=30), dawid_skene),
    "truth of rankings": (
        lambda: rankings([f"{LONG}{k}" for k in range(5)]),
        lambda table: plackett_luce(table, chain=Chain(draws=120)),
    ),
}
PROBABILITIES = ("grades", "many classes", "yes or no", "two tasks", "one model")
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
    if (node.closest("script, title, .num, .skip")) continue;
    const style = getComputedStyle(node);
    const ink = node.ownerSVGElement ? style.fill : style.color;
    const [low, high] = [light(ink), light(ground(node))].sort((a, b) => a - b);
    seen += 1;
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) faults.push(`${node.className.baseVal ?? node.className} ${ratio}`);
  }
  return [seen, faults];
}"""
REACHABLE = """() => {
  const all = [...document.querySelectorAll("a[href], button, summary, input, [tabindex='0']")];
  return all
    .filter((node) => node.checkVisibility() && (node.type !== "radio" || node.checked))
    .map((node, at) => (node.dataset.stop = at));
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("pages")
    for name, shape in RUNS.items():
        (made / f"{name}.html").write_text(render(sample(shape)), encoding="utf-8")
    for name, run in sample_runs().items():
        (made / f"{name}.html").write_text(render(run), encoding="utf-8")
    for name, (make, model) in TRUTHS.items():
        table = make()
        fits = FittedModels(
            name="model", reason=BAD, task="", models={"model": model(table)}, scores={}
        )
        page = render_report(truth_report(table, fits, title=f"{name}{BAD}"))
        (made / f"{name}.html").write_text(page, encoding="utf-8")
    for name in STUDIES:
        report = dataclasses.replace(
            stability(name), title=f"{name}{BAD}", scope=LONG, banner=BAD
        )
        (made / f"{name}.html").write_text(render_report(report), encoding="utf-8")
    scores, truth = study()
    broad = [dataclasses.replace(one, model=f"{WIDE}{one.model[-1]}") for one in scores]
    page = render_report(report_of(broad, truth))
    (made / "names of broad letters.html").write_text(page, encoding="utf-8")
    for name in THRESHOLDS:
        page = render_report(threshold_known(name))
        (made / f"{name}.html").write_text(page, encoding="utf-8")
    for name in PLANNED:
        (made / f"plan of a {name}.html").write_text(render_report(plan_of(name)))
    for name, drawn in figures(stability("stability")).items():
        (made / f"{name}.svg").write_text(drawn, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser, folder):
    contexts = []

    def open_page(name="sample", **how):
        how.setdefault("viewport", {"width": 1280, "height": 900})
        contexts.append(browser.new_context(**how))
        page = contexts[-1].new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("request", lambda request: page.heard.append(request.url))
        page.goto((folder / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def choose(page, ident):
    page.click(f"label[for={ident}]")


@pytest.mark.parametrize("name", [*RUNS, *TRUTHS, *STUDIES, *PROBABILITIES])
def test_the_page_is_silent_and_asks_for_nothing(visit, folder, name):
    page = visit(name)
    page.mouse.wheel(0, 4000)
    page.wait_for_timeout(50)
    assert page.heard == [(folder / f"{name}.html").as_uri()]


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("name", [*RUNS, *TRUTHS, *STUDIES, *PROBABILITIES])
def test_no_sideways_scrolling_on_a_telephone(visit, name, script):
    phone = {"width": 390, "height": 844}
    page = visit(name, viewport=phone, java_script_enabled=script)
    for ident in ("tall", "kall"):
        if page.locator(f"#{ident}").count():
            choose(page, ident)
    for fold in page.query_selector_all("details"):
        fold.evaluate("fold => (fold.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(
    ("name", "least"),
    [("sample", 40), ("grades", 30), ("truth of votes", 15), ("stability", 20)],
)
def test_everything_is_reached_with_the_tab_key_and_shows_focus(visit, name, least):
    page = visit(name)
    wanted = set(page.evaluate(REACHABLE))
    reached = set()
    for _ in range(len(wanted) + 10):
        page.keyboard.press("Tab")
        stop, outline = page.evaluate(
            "() => { const at = document.activeElement;"
            "const shown = at.type === 'radio' ? at.nextElementSibling : at;"
            "return [at.dataset.stop, getComputedStyle(shown).outlineStyle]; }"
        )
        if stop is not None:
            assert outline != "none", stop
            reached.add(int(stop))
    assert len(wanted) > least
    assert wanted <= reached


def test_the_skip_link_comes_first(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#verdict"


@pytest.mark.parametrize(
    ("name", "least"),
    [("sample", 500), ("grades", 300), ("truth of votes", 200), ("stability", 600)],
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_reaches_aa(visit, scheme, name, least):
    page = visit(name, color_scheme=scheme)
    for fold in page.query_selector_all("details"):
        fold.evaluate("fold => (fold.open = true)")
    seen, faults = page.evaluate(CONTRAST)
    assert seen > least
    assert faults == []


@pytest.mark.parametrize("script", [True, False])
def test_one_task_and_metric_are_shown_at_a_time(visit, script):
    page = visit(java_script_enabled=script)
    shown = (
        "all => all.filter(a => a.checkVisibility())"
        ".map(a => (a.dataset.t ?? '') + '/' + (a.dataset.k ?? ''))"
    )
    assert set(page.eval_on_selector_all("article", shown)) == {"0/0", "0/", "/0"}
    choose(page, "t3")
    choose(page, "k1")
    assert set(page.eval_on_selector_all("article", shown)) == {"3/1", "3/", "/1"}
    choose(page, "tall")
    every = page.eval_on_selector_all("article", shown)
    assert {one.split("/")[0] for one in every} == {"", *"012345"}
    assert {one.split("/")[1] for one in every} == {"", "1"}


def test_the_choice_is_kept_in_the_address(visit):
    page = visit()
    choose(page, "t2")
    address = page.url
    assert address.endswith("#show=t2,k0")
    page.goto("about:blank")
    page.goto(address)
    assert page.is_checked("#t2")


def test_the_leaderboard_sorts_and_keeps_undefined_last(visit):
    page = visit()
    column = "rows => rows.map(row => parseFloat(row.cells[1].textContent))"
    board = "[data-t='0'][data-k='0'] .board"
    head = page.locator(f"{board} .sort").nth(1)
    for way, turn in (("descending", -1), ("ascending", 1)):
        head.click()
        values = page.eval_on_selector_all(f"{board} tbody tr", column)
        assert values == sorted(values, key=lambda value: turn * value)
        assert page.locator(f"{board} th[aria-sort={way}]").count() == 1


def test_an_infinite_score_sorts_as_the_largest(visit):
    page = visit("grades")
    choose(page, "k1")
    cells = "rows => rows.map(row => row.cells[4].textContent)"
    board = "[data-k='1'] .board"
    head = page.locator(f"{board} .sort").nth(4)
    head.click()
    assert page.eval_on_selector_all(f"{board} tbody tr", cells)[0].startswith("∞")
    head.click()
    shown = page.eval_on_selector_all(f"{board} tbody tr", cells)
    assert shown[-1].startswith("∞")
    finite = [float(cell.split()[0].rstrip("†")) for cell in shown[:-1]]
    assert finite == sorted(finite)
    assert page.locator(f"{board} th[aria-sort=ascending]").count() == 1


@pytest.mark.parametrize("name", PROBABILITIES)
def test_probabilities_are_shown_without_a_script(visit, name):
    page = visit(name, java_script_enabled=False)
    if name == "two tasks":
        choose(page, "t1")
    for anchor in ("reliability", "hardest"):
        assert page.locator(f"#{anchor} .finding:visible").count() == 1
        assert page.locator(f"#{anchor} svg:visible").first.bounding_box()["width"] > 150


def test_a_model_is_highlighted_everywhere(visit):
    page = visit()
    page.locator("[data-t='0'][data-k='0'] .board .pin").first.focus()
    page.keyboard.press("Enter")
    model = page.evaluate("document.documentElement.dataset.on")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    faded = f"#forest [data-t='0'][data-k='0'] svg g[class^=m]:not(.{model})"
    opacity = "all => all.map(mark => getComputedStyle(mark).opacity)"
    assert set(page.eval_on_selector_all(faded, opacity)) == {"0.15"}
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.on") is None


def test_the_triangle_says_every_pair(visit):
    page = visit()
    here = "#differences [data-t='0'][data-k='0'] svg .num title"
    titles = page.eval_on_selector_all(here, "all => all.map(one => one.textContent)")
    assert len(titles) == 2 * 45
    assert all(" over " in one and "[" in one for one in titles)


def test_the_theme_can_be_chosen_and_paper_stays_light(visit):
    page = visit(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(21, 25, 28)"
    page.click(".theme")
    assert page.evaluate(ground) == "rgb(251, 251, 249)"
    page.click(".theme")
    page.emulate_media(media="print")
    assert page.evaluate(ground) == "rgb(251, 251, 249)"


@pytest.mark.parametrize("name", TRUTHS)
def test_a_page_of_the_truth_is_whole_without_a_script(visit, name):
    page = visit(name, java_script_enabled=False)
    shown = "all => all.every(part => part.checkVisibility() && part.clientHeight > 60)"
    assert page.eval_on_selector_all("section", shown)
    assert page.locator("svg").count() > 3
    assert page.locator("img, b").count() == 0


def test_the_truth_is_reached_by_the_skip_link_and_its_theme_chosen(visit):
    page = visit("truth of votes", color_scheme="dark")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#certainty"
    ground = "getComputedStyle(document.body).backgroundColor"
    page.click(".theme")
    assert page.evaluate(ground) == "rgb(251, 251, 249)"


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_on_stability_is_whole_without_a_script(visit, name):
    page = visit(name, java_script_enabled=False)
    shown = "all => all.every(part => part.checkVisibility() && part.clientHeight > 60)"
    assert page.eval_on_selector_all("section", shown)
    assert page.locator("svg").count() > 5
    assert page.locator("img, b").count() == 0


def opened(page):
    """Show every task and metric, and all that is folded."""
    for ident in ("tall", "kall"):
        if page.locator(f"#{ident}").count():
            choose(page, ident)
    page.eval_on_selector_all("details", "all => all.forEach(one => (one.open = true))")
    return page


@pytest.mark.parametrize("width", [1280, 390, 320])
@pytest.mark.parametrize("name", [*RUNS, *TRUTHS, *STUDIES, *PROBABILITIES, *OTHERS])
def test_words_of_a_figure_stay_on_it(visit, name, width):
    page = opened(visit(name, viewport={"width": width, "height": 900}))
    cut = """all => all.filter(words => {
      const own = words.getBoundingClientRect();
      const frame = words.ownerSVGElement.getBoundingClientRect();
      return own.left < frame.left - 1 || own.right > frame.right + 1
        || own.top < frame.top - 1 || own.bottom > frame.bottom + 1;
    }).map(words => words.textContent)"""
    assert page.eval_on_selector_all("svg text", cut) == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", OTHERS)
def test_numbers_under_an_axis_do_not_touch(visit, name, width):
    page = opened(visit(name, viewport={"width": width, "height": 900}))
    touching = """all => all.flatMap(svg => {
      const words = [...svg.querySelectorAll("text.c.a, .c.a text")].map(one =>
        [one.getBoundingClientRect(), one.textContent]);
      return words.flatMap(([a, x], i) => words.slice(i + 1)
        .filter(([b]) => a.width && b.width && Math.abs(a.top - b.top) < 4
          && a.left < b.right + 1 && b.left < a.right + 1)
        .map(([, y]) => `${x} | ${y}`));
    })"""
    assert page.eval_on_selector_all("svg", touching) == []


def test_a_figure_of_stability_is_a_file_that_a_browser_shows(visit, folder):
    page = visit("stability")
    for file in sorted(folder.glob("*.svg")):
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.tagName") == "svg"
        assert page.evaluate("document.documentElement.getBoundingClientRect().width") > 300
    assert page.locator("parsererror").count() == 0


def test_stability_prints_its_figures_and_is_reached_by_the_skip_link(visit):
    page = visit("stability")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#verdict"
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator("#ranking svg").first.is_visible()


def test_a_model_of_the_front_table_is_highlighted_in_all_figures_by_keyboard(visit):
    page = visit("stability")
    name = page.locator(".board .pin").first
    name.focus()
    page.keyboard.press("Enter")
    assert name.get_attribute("aria-pressed") == "true"
    chosen = page.locator(".board tbody tr").first.get_attribute("class").split()[0]
    dim = "part => getComputedStyle(part).opacity"
    others = page.locator(f"svg g[class^=m]:not(.{chosen})")
    assert others.count() > 5
    assert float(others.first.evaluate(dim)) < 0.5
    assert float(page.locator(f"svg g.{chosen}").first.evaluate(dim)) == 1


@pytest.mark.parametrize("name", STUDIES)
def test_a_caption_of_a_wide_table_wraps_on_a_telephone(visit, name):
    page = visit(name, viewport={"width": 390, "height": 900})
    page.eval_on_selector_all("details", "all => all.forEach(one => (one.open = true))")
    wide = "all => all.map(one => one.getBoundingClientRect().right).filter(x => x > 390)"
    assert page.locator("caption span").count() > 3
    assert page.eval_on_selector_all("caption span", wide) == []


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("name", [*RUNS, *PROBABILITIES, *STUDIES])
def test_the_tables_that_matter_are_whole_on_a_telephone(visit, name, script):
    page = visit(name, viewport={"width": 390, "height": 900}, java_script_enabled=script)
    over = """all => all.filter(one => one.checkVisibility()).filter(one => {
      const own = one.getBoundingClientRect();
      return own.left < -1 || own.right > 390;
    }).map(one => one.textContent)"""
    cells = ":is(.board, .glance, .front) :is(th, td, caption span), .radios label"
    assert page.locator(cells).count() > 3
    assert page.eval_on_selector_all(cells, over) == []


def test_on_a_telephone_soft_labels_stand_under_hard_ones(visit):
    page = visit(viewport={"width": 390, "height": 900})
    row = page.locator("[data-t='0'][data-k='0'] .board tbody tr").first
    boxes = [row.locator("td").nth(place).bounding_box() for place in (0, 2, 3, 5)]
    hard, best, soft, soft_best = boxes
    assert hard["x"] == soft["x"] and best["x"] == soft_best["x"]
    assert hard["y"] < soft["y"]
    named = "cell => getComputedStyle(cell, '::before').content"
    heads = [row.locator("td").nth(n).evaluate(named) for n in (0, 3)]
    assert heads == ['"hard labels"', '"soft labels"']


def test_what_scrolls_sideways_has_a_shade_at_its_edge(visit):
    page = visit(viewport={"width": 390, "height": 900})
    shade = "all => all.map(one => getComputedStyle(one).backgroundAttachment)"
    found = set(page.eval_on_selector_all(".scroll, .frame", shade))
    assert found == {"local, local, scroll, scroll"}


@pytest.mark.parametrize("name", ["stability", "threshold", "plan of a pair"])
def test_notes_on_method_are_folded_and_paper_shows_them(visit, name):
    page = visit(name, java_script_enabled=False)
    notes = page.locator("section details .note")
    assert notes.count() > 1
    tall = "all => all.map(one => one.getBoundingClientRect().height)"
    shown = "all => all.filter(one => one.checkVisibility()).length"
    assert page.eval_on_selector_all("details.kept .note", shown) == 0
    page.emulate_media(media="print")
    assert page.eval_on_selector_all("details.kept .note", shown) == notes.count()
    assert min(page.eval_on_selector_all("details.kept .note", tall)) > 10

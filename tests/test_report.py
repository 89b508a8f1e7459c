"""The page as text: complete, small, the same every time, and harmless whatever it is given."""

import dataclasses
import hashlib
import html
import json
import re
from base64 import b64encode
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.arrays import InputError
from equipoise.page.markup import element, escape
from tests.report_sample import (
    HOSTILE,
    METRICS,
    MODELS,
    Shape,
    changed,
    opened,
    render,
    sample,
    section,
)

SECTIONS = (
    "verdict", "leaderboard", "forest", "ranks", "probabilities", "differences", "annotators",
    "labels", "items", "method",
)  # fmt: skip

SINGLE = Shape(tasks=("",), undefined=None)
MANY = tuple(f"model-{number:02d}" for number in range(40))
SHAPES = {
    "sample": Shape(),
    "one model": dataclasses.replace(SINGLE, models=("resnet",)),
    "two models": dataclasses.replace(SINGLE, models=("resnet", "vit"), metrics=METRICS[:1]),
    "forty models": dataclasses.replace(SINGLE, models=MANY),
    "anonymous": dataclasses.replace(SINGLE, annotators=0),
    "a crowd": dataclasses.replace(SINGLE, annotators=300),
    "hard only": dataclasses.replace(SINGLE, labels=("hard",)),
    "several classes": dataclasses.replace(SINGLE, classes=("cat", "dog", "owl")),
    "several classes, a crowd": dataclasses.replace(SINGLE, classes=("a", "b"), annotators=90),
    "items redrawn": dataclasses.replace(SINGLE, items_redrawn=True),
    "all undefined": Shape(tasks=("edema",), undefined="edema"),
}


class Reader(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def page():
    return render(sample())


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_makes_a_page_with_all_sections(name):
    run = sample(SHAPES[name])
    text = render(run)
    read = Reader(text)
    ids = [value for tag, key, value in read.attributes if key == "id" and tag == "section"]
    traced = run.record.influential
    assert ids == [one for one in SECTIONS if one != "items" or traced]
    assert not re.search(r"(?<![\w&;])(nan|None|NaN|inf)(?![\w])", " ".join(read.words[2:-3]))
    assert len(text.encode()) < 680_000


def test_sizes(page):
    assert len(page.encode()) < 680_000
    assert len(render(sample(Shape(metrics=METRICS[:1]))).encode()) < 360_000


def test_the_same_run_gives_the_same_bytes(page):
    assert render(sample()) == page
    again = opened(json.loads(json.dumps(sample().header)), sample().replicates)
    assert render(again) == page


def test_inputs_are_not_changed():
    run = sample(SINGLE)
    before = json.dumps(run.header), run.replicates.tobytes()
    render(run)
    assert (json.dumps(run.header), run.replicates.tobytes()) == before


def test_the_page_asks_for_nothing(page):
    read = Reader(page)
    links = [v for _, key, v in read.attributes if key in {"href", "src", "action", "srcset"}]
    assert links
    assert all(link.startswith("#") or link == "data:," for link in links)
    assert "url(" not in page
    assert "@import" not in page
    assert not {"img", "iframe", "object", "embed", "base"} & set(read.tags)


def test_the_policy_allows_exactly_the_script_and_the_style(page):
    policy = next(
        v for t, k, v in Reader(page).attributes if t == "meta" and "default-src" in v
    )
    for name in ("script", "style"):
        (inside,) = re.findall(rf"<{name}>(.*?)</{name}>", page, flags=re.S)
        digest = b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_hostile_names_are_shown_and_do_nothing(page):
    assert html.escape(HOSTILE, quote=True) in page
    assert "<b>" not in page
    assert page.count("<script") == 1
    assert "&lt;script&gt;" in page


def test_hostile_text_everywhere_adds_no_element():
    plain, bad = sample(SINGLE), "\"'><img src=x onerror=alert(1)><!--\x00\u202e"
    header = json.loads(json.dumps(plain.header).replace("jfaboy", "J" * len(bad)))
    header = json.loads(json.dumps(header).replace("J" * len(bad), json.dumps(bad)[1:-1]))
    header["title"] = header["simulated"] = bad
    header["notices"] = [bad]
    header["settings"] = {**header["settings"], "resample_reason": bad, "group": bad}
    header["settings"] |= {"items_redrawn": True, "scope": bad}
    header["question"] = {bad: bad, "positive": [bad], "columns": {bad: bad}}
    header["inputs"] = [{**given, "name": bad, "sha256": bad} for given in header["inputs"]]
    for part, key in (("annotators", "annotator"), ("truth", "task")):
        header[part] = [{**entry, key: bad} for entry in header[part]]
    header["tasks"] = [bad]
    for part in ("rows", "differences", "rank_probabilities", "rank_correlation"):
        header[part] = [{**entry, "task": bad} for entry in header[part]]
    read = Reader(render(opened(header, plain.replicates)))
    assert not {"img", "b"} & set(read.tags)
    assert read.tags.count("script") == 1
    assert not [key for _, key, _ in read.attributes if key.startswith("on")]


@given(text=st.text(st.characters(exclude_categories=[])), name=st.text("'\"<>&= /`"))
def test_text_never_becomes_markup(text, name):
    read = Reader(element("p", text, title=name + text))
    assert read.tags == ["p"]
    assert len(read.attributes) == 1
    escape(text).encode("utf-8")


def test_long_names_are_shortened_with_the_whole_in_the_title(page):
    long = MODELS[-1]
    assert f"<title>{long}</title>" in page
    assert f"title={long}" in page
    assert "…" in page


def test_a_page_of_a_simulation_says_so_first():
    run = changed(sample(SINGLE), simulated="Readers are simulated.")
    text = render(run)
    assert text.index("Readers are simulated.") < text.index("id=verdict")
    assert "class=banner" not in render(sample(SINGLE))


def test_method_repeats_settings_and_hashes(page):
    header = sample().header
    for word in (
        header["settings"]["plan"],
        "seed 0",
        *(g["sha256"] for g in header["inputs"]),
    ):
        assert word in page
    for notice in header["notices"]:
        assert html.escape(notice) in page
    assert html.escape(header["settings"]["resample_reason"]) in page


def test_every_drawing_has_a_text_alternative_and_a_table(page):
    read = Reader(page)
    drawings = read.tags.count("svg")
    named = [v for tag, key, v in read.attributes if tag == "svg" and key == "aria-label"]
    assert drawings == len(named) > 100
    assert all(len(name) > 10 for name in named)
    elsewhere = section(page, "forest")  # the leaderboard is its table
    for article in page.replace(elsewhere, "").split("<article")[1:]:
        article = article.split("</article>")[0]
        if "<svg" in article and "headline" not in article:
            assert "<table" in article


def test_the_leaderboard_shows_the_numbers_of_the_run(page):
    for row in sample().record.rows:
        if not np.isnan(row.value):
            assert f"{row.value:.3f}" in page
            assert f"[{row.low:.3f}, {row.high:.3f}]" in page


def test_undefined_is_written_out():
    text = render(sample(SHAPES["all undefined"]))
    board = text.split("class=board")[1].split("</table>")[0]
    assert len(re.findall(r"<td[^>]*>undefined", board)) == 7 * len(MODELS)
    assert not re.search(r"<td[^>]*>0(?!\.)", board)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"schema": 3}, "run.json, schema: 3, expected 1 to 2"),
        ({"models": ["a"]}, "replicates: shape"),
    ],
)
def test_a_run_that_does_not_fit_is_refused(header, message):
    with pytest.raises(InputError, match=re.escape(message)):
        render(changed(sample(SINGLE), **header))


def test_a_part_that_is_missing_is_named():
    run = sample(SINGLE)
    header = {key: value for key, value in run.header.items() if key != "differences"}
    with pytest.raises(InputError, match=r"key 'differences': absent"):
        render(opened(header, run.replicates))


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), holes=st.floats(0, 0.5))
def test_undefined_replicates_and_rows_never_break_the_page(seed, holes):
    run = sample(dataclasses.replace(SINGLE, models=MODELS[:4], replicates=40, seed=seed))
    random = np.random.default_rng(seed)
    replicates = np.where(random.random(run.replicates.shape) < holes, np.nan, run.replicates)
    header = json.loads(json.dumps(run.header))
    for part in ("rows", "differences", "rank_correlation", "annotators"):
        for entry in header[part]:
            for key in entry:
                if isinstance(entry[key], float) and random.random() < holes:
                    entry[key] = None
    read = Reader(render(opened(header, replicates)))
    assert read.tags.count("section") == len(SECTIONS)
